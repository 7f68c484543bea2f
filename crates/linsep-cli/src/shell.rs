//! `linsep completions` and `linsep man`: what shells and `man` know about the command, made from its own flags.

use crate::exit::Ending;
use crate::output::{check_directory, print};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use linsep::artifact::write_atomic;
use linsep::error::nearest;
use linsep::{Error, Result};
use std::path::PathBuf;

/// Print what makes a shell complete the names of commands and flags.
#[derive(Args)]
#[command(after_help = "\
Examples:
  linsep completions bash > ~/.local/share/bash-completion/completions/linsep
  linsep completions zsh > ~/.zfunc/_linsep
  linsep completions fish > ~/.config/fish/completions/linsep.fish")]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

/// Print a manual page, or write all of them.
#[derive(Args)]
#[command(after_help = "\
Examples:
  linsep man | man -l -
  linsep man fit | man -l -
  linsep man -o ~/.local/share/man/man1")]
pub struct ManArguments {
    /// The command whose page to print; without one, that of linsep itself
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    command: Option<String>,

    /// Write the pages of all commands into this directory
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Prints a script of completions.
pub fn complete(arguments: &CompletionsArguments) -> Result<Ending> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::Arguments::command(), "linsep", &mut script);
    print(&String::from_utf8_lossy(&script), Ending::Done)
}

/// Prints or writes manual pages.
pub fn man(arguments: &ManArguments) -> Result<Ending> {
    let mut all = crate::Arguments::command();
    all.build();
    let commands: Vec<&clap::Command> = all.get_subcommands().filter(|c| c.get_name() != "help").collect();
    let Some(directory) = &arguments.output else {
        let chosen = match arguments.command.as_deref() {
            None => &all,
            Some(name) => commands.iter().copied().find(|c| c.get_name() == name).ok_or_else(|| {
                let error = Error::usage(format!("there is no command `{name}`"));
                match nearest(name, commands.iter().map(|c| c.get_name())).first() {
                    Some(meant) => error.help(format!("did you mean `{meant}`?")),
                    None => error.help("linsep --help lists them"),
                }
            })?,
        };
        return print(&String::from_utf8_lossy(&page(chosen)?), Ending::Done);
    };
    check_directory(&directory.join("linsep.1"))?;
    for command in std::iter::once(&all).chain(commands) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let text = page(command)?;
        write_atomic(&directory.join(format!("{name}.1")), |out| out.write_all(&text))?;
    }
    Ok(Ending::Done)
}

fn page(command: &clap::Command) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    Man::new(command.clone()).render(&mut text).map_err(|e| Error::io("the manual page", &e))?;
    Ok(text)
}

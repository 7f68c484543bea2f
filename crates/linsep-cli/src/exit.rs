//! How a run ends: the one place where answers and errors become exit codes.

use crate::page;
use crate::signals;
use crate::voice;
use linsep::{Error, ErrorKind};
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;

/// How a subcommand ended when nothing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Done.
    Done,
    /// The answer is no.
    No,
    /// Fitted, but the tolerance was not reached.
    NotConverged,
    /// Whoever read the output stopped reading.
    ReaderGone,
}

impl Ending {
    /// Of two steps, the ending that is not as wished.
    pub fn or_worse(self, other: Ending) -> Ending {
        if self == Ending::Done { other } else { self }
    }
}

/// Whether `--json` is asked for: then standard error holds an error as JSON or nothing.
pub fn is_for_programs() -> bool {
    std::env::args_os().take_while(|a| a != "--").any(|a| a == "--json")
}

/// The exit code, with the error said on standard error: in words, or for programs under `--json`.
pub fn report(result: Result<Ending, Error>, json: bool) -> ExitCode {
    ExitCode::from(match result {
        Ok(Ending::Done | Ending::ReaderGone) => 0,
        Ok(Ending::No) => 1,
        Ok(Ending::NotConverged) => 3,
        // Where standard error is closed there is nobody to tell.
        Err(error) if error.kind() == ErrorKind::Interrupted && signals::cancelled() => {
            let _ = writeln!(std::io::stderr(), "interrupted: nothing was written");
            130
        }
        // What nobody interrupted ran out of time, before there was even a model that misses the tolerance.
        Err(error) if error.kind() == ErrorKind::Interrupted => {
            let message = "the time limit passed before there was a first result: nothing was written";
            let _ = writeln!(std::io::stderr(), "error: {message}\n  help: allow more with --time-limit");
            3
        }
        Err(error) if json => {
            let _ = writeln!(std::io::stderr(), "{}", error_json(&error));
            2
        }
        Err(error) => {
            let _ = writeln!(
                std::io::stderr(),
                "{}",
                page::wrapped_error(&format!("error: {}", error.said(&voice::Command)))
            );
            2
        }
    })
}

/// What the arguments are refused for, or the help or version that they ask for.
pub fn refuse(error: &clap::Error, json: bool) -> ExitCode {
    match json && error.use_stderr() {
        true => report(Err(usage(error)), true),
        false => error.exit(),
    }
}

/// An error for programs, on one line.
fn error_json(error: &Error) -> Value {
    let (said, place) = (error.said(&voice::Command), error.place());
    json!({"error": {
        "kind": error.kind().name(),
        "what": said.what,
        "place": {"file": place.file, "line": place.line, "row": place.row, "column": place.column},
        "remedy": said.remedies,
    }})
}

/// What the parser of the arguments says: the fact, its tips, and where the help is.
fn usage(error: &clap::Error) -> Error {
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n").map(|p| p.split_whitespace().collect::<Vec<_>>().join(" "));
    let fact = paragraphs.next().unwrap_or_default();
    let remedies = paragraphs.filter(|p| !p.is_empty() && !p.starts_with("Usage:"));
    remedies.fold(Error::usage(fact.trim_start_matches("error: ")), |error, remedy| {
        error.help(remedy.trim_start_matches("tip: "))
    })
}

//! Text to standard output, where a reader that went away is no error.

use crate::exit::Ending;
use linsep::artifact::behind_links;
use linsep::{Error, Place, Result};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Refuses a path into a directory that is not there, before any work is done for it.
pub fn check_directory(path: &Path) -> Result<()> {
    let target = behind_links(path).map_err(|e| Error::io(path.display().to_string(), &e))?;
    match target.parent() {
        Some(directory) if !directory.as_os_str().is_empty() && !directory.is_dir() => {
            let message = format!("there is no directory `{}` to write to", directory.display());
            Err(Error::usage(message).at(Place::file(path.display().to_string())).help("make it first"))
        }
        _ => Ok(()),
    }
}

/// Refuses an output that is the same file as one of the inputs: what that holds would be gone. `-` is standard input
/// and output.
pub fn refuse_inputs<'a>(output: &Path, mut inputs: impl Iterator<Item = &'a Path>) -> Result<()> {
    if output == Path::new("-") {
        return Ok(());
    }
    match inputs.find(|input| is_same_file(input, output)) {
        Some(input) => Err(Error::usage(format!("`{}` is the input: it would be overwritten", input.display()))
            .help("choose another name for the output")),
        None => Ok(()),
    }
}

/// Whether two paths lead to the same ordinary file, also by links; an input of `-` is what standard input reads.
#[cfg(unix)]
pub fn is_same_file(input: &Path, output: &Path) -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let about = match input == Path::new("-") {
        true => std::io::stdin().as_fd().try_clone_to_owned().and_then(|fd| std::fs::File::from(fd).metadata()),
        false => std::fs::metadata(input),
    };
    match (about, std::fs::metadata(output)) {
        (Ok(a), Ok(b)) => a.is_file() && a.dev() == b.dev() && a.ino() == b.ino(),
        _ => false,
    }
}

/// Whether two paths lead to the same file.
#[cfg(not(unix))]
pub fn is_same_file(input: &Path, output: &Path) -> bool {
    matches!((input.canonicalize(), output.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Prints text and ends as told, or quietly if nobody reads.
pub fn print(text: &str, ending: Ending) -> Result<Ending> {
    let mut out = std::io::stdout().lock();
    ended(out.write_all(text.as_bytes()).and_then(|()| out.flush()), ending)
}

/// Prints JSON with indentation.
pub fn print_json(value: &serde_json::Value, ending: Ending) -> Result<Ending> {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
    text.push('\n');
    print(&text, ending)
}

/// How writing to standard output ended.
pub fn ended(result: std::io::Result<()>, ending: Ending) -> Result<Ending> {
    match result {
        Ok(()) => Ok(ending),
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(Ending::ReaderGone),
        Err(e) => Err(Error::io("standard output", &e)),
    }
}

/// A CSV cell, quoted where it must be.
pub fn quoted(cell: &str) -> String {
    if cell.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}

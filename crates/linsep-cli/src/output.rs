//! Text to standard output, where a reader that went away is no error.

use crate::exit::Ending;
use linsep::{Error, Place, Result};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Refuses a path into a directory that is not there, before any work is done for it.
pub fn check_directory(path: &Path) -> Result<()> {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() && !directory.is_dir() => {
            let message = format!("there is no directory `{}` to write to", directory.display());
            Err(Error::usage(message).at(Place::file(path.display().to_string())).help("make it first"))
        }
        _ => Ok(()),
    }
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

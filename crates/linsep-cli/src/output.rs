//! Text to standard output, where a reader that went away is no error.

use crate::exit::Ending;
use linsep::{Error, Result};
use std::io::{ErrorKind, Write};

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

//! How a run ends: the one place where answers and errors become exit codes.

use crate::signals;
use crate::voice;
use linsep::{Error, ErrorKind};
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

/// The exit code, with the error said on standard error.
pub fn report(result: Result<Ending, Error>) -> ExitCode {
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
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {}", error.said(&voice::Command));
            2
        }
    })
}

//! How a run ends: the one place where answers and errors become exit codes.

use linsep::{Error, ErrorKind};
use std::io::Write;
use std::process::ExitCode;

/// What is said after Ctrl-C.
pub const INTERRUPTED: &str = "interrupted: nothing was written";

/// How a subcommand ended when nothing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Done.
    Done,
    /// The answer is no.
    No,
    /// Fitted, but the tolerance was not reached.
    NotConverged,
    /// Stopped by the user.
    Interrupted,
    /// Whoever read the output stopped reading.
    ReaderGone,
}

/// The exit code, with the error said on standard error.
pub fn report(result: Result<Ending, Error>) -> ExitCode {
    ExitCode::from(match result {
        Ok(Ending::Done | Ending::ReaderGone) => 0,
        Ok(Ending::No) => 1,
        Ok(Ending::NotConverged) => 3,
        Ok(Ending::Interrupted) => 130,
        // Where standard error is closed there is nobody to tell.
        Err(error) if error.kind() == ErrorKind::Interrupted => {
            let _ = writeln!(std::io::stderr(), "{INTERRUPTED}");
            130
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            2
        }
    })
}

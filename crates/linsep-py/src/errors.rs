//! The library's errors as Python's exceptions.

use crate::voice;
use linsep::error::{Error, ErrorKind};
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{PyErr, create_exception};
use std::any::Any;

create_exception!(
    linsep,
    LinsepError,
    PyValueError,
    "Something that cannot be done with these data or settings; `help` says what can."
);
create_exception!(linsep, NoOptimumError, LinsepError, "The objective has no minimum; the message is the proof.");
create_exception!(linsep, NotSeparableError, LinsepError, "No plane separates the classes; the message is the proof.");

/// An exception in Python's words.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let said = error.said(&voice::Python);
    let whole = said.to_string();
    match error.kind() {
        ErrorKind::NotFound => PyFileNotFoundError::new_err(whole),
        ErrorKind::Io => PyOSError::new_err(whole),
        _ => {
            let raised = LinsepError::new_err(whole);
            // An exception that cannot carry its help is still the exception.
            let _ = raised.value(py).setattr("help", said.help());
            raised
        }
    }
}

/// A defect of ours: never an abort, never a panic that the caller cannot catch.
pub(crate) fn defect(panic: &(dyn Any + Send)) -> PyErr {
    let words = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    PyRuntimeError::new_err(format!("this is a defect of linsep, please report it: {}", words.unwrap_or("unknown")))
}

/// The crates that decode Arrow panic on some damaged tables, and the library turns that into an error: nobody needs to
/// read of the panic, too. The hook is that of this module, whose copy of Rust's runtime no other has.
pub(crate) fn silence_decoders() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !linsep::read::is_decoding() {
            tell(panic);
        }
    }));
}

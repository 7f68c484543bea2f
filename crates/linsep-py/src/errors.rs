//! The library's errors as Python's exceptions.

use crate::voice;
use linsep::certify::SeparationKind;
use linsep::error::{Error, ErrorKind};
use linsep::separate::NoOptimum;
use numpy::{PyArray1, PyArrayMethods};
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
create_exception!(
    linsep,
    NoOptimumError,
    LinsepError,
    "The objective has no minimum. The message is the proof, and so are `direction` (a row of weights for each score) with \
     its `intercept`, along which it falls for ever; `columns`, whose coefficients diverge; `rows` on the boundary of that \
     direction; `kind` of the separation; `classes` that it is about."
);
create_exception!(
    linsep,
    NotSeparableError,
    LinsepError,
    "No plane separates the classes. The message is the proof, and so are `rows` that overlap among themselves, and \
     `witness`, the weights on rows that prove it."
);

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

/// A proof that an objective has no minimum, with what it says as data: columns by name, or by number where they have none.
pub(crate) fn no_optimum(
    py: Python<'_>,
    text: String,
    proof: &NoOptimum,
    (features, named): (&[String], bool),
    classes: &[String],
) -> PyErr {
    let raised = NoOptimumError::new_err(text);
    let attach = || -> PyResult<()> {
        let value = raised.value(py);
        let flat: Vec<f64> = proof.direction.concat();
        let shape = [proof.direction.len(), proof.direction.first().map_or(0, Vec::len)];
        value.setattr("direction", PyArray1::from_vec(py, flat).reshape(shape)?)?;
        value.setattr("intercept", PyArray1::from_vec(py, proof.intercept.clone()))?;
        let columns = proof.columns.as_ref().unwrap_or(&proof.largest);
        match named {
            true => value.setattr("columns", columns.iter().map(|j| features[*j].clone()).collect::<Vec<String>>())?,
            false => value.setattr("columns", columns.clone())?,
        }
        value.setattr("rows", PyArray1::from_iter(py, proof.boundary.iter().map(|row| *row as i64)))?;
        value.setattr("classes", classes.to_vec())?;
        let kind = match proof.kind {
            SeparationKind::Complete => "complete",
            SeparationKind::Quasi => "quasi-complete",
        };
        value.setattr("kind", kind)
    };
    // An exception that cannot carry its proof is still the exception.
    let _ = attach();
    raised
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

//! Why a fit gave no model.

use crate::error::{Error, ErrorKind};
use crate::workflow::TableRefusal;
use std::fmt;

/// Why a fit gave no model: something is wrong with what was asked or given, or there is a proof that no model exists.
///
/// The second is an answer. Maximum likelihood does not exist where a plane separates the classes, and a hard margin does
/// not exist where none does; [`FitError::NoModel`] holds the proof. Whoever only wants a model uses `?`, also in functions
/// that return [`crate::Error`], whose kind is then [`ErrorKind::NoModel`].
///
/// ```
/// use linsep::prelude::*;
/// let (x, y) = ([[1.0], [2.0], [3.0], [4.0]], [false, false, true, true]);
/// match LogisticRegression::new().no_penalty().fit(&x, &y) {
///     Ok(_) => unreachable!("a plane at 2.5 separates the classes"),
///     Err(FitError::NoModel(proof)) => assert!(proof.to_string().contains("completely separable")),
///     Err(error) => return Err(error),
/// }
/// # Ok::<(), FitError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum FitError {
    /// What was asked or given is wrong, or the work was cancelled.
    Invalid(Error),
    /// There is no model, and this proves it.
    NoModel(Box<TableRefusal>),
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FitError::Invalid(error) => error.fmt(f),
            FitError::NoModel(proof) => proof.fmt(f),
        }
    }
}

impl std::error::Error for FitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            FitError::Invalid(error) => error.source(),
            FitError::NoModel(_) => None,
        }
    }
}

impl From<Error> for FitError {
    fn from(error: Error) -> FitError {
        FitError::Invalid(error)
    }
}

/// For functions that return [`crate::Result`]: a proof becomes its words.
impl From<FitError> for Error {
    fn from(error: FitError) -> Error {
        match error {
            FitError::Invalid(error) => error,
            FitError::NoModel(proof) => Error::new(ErrorKind::NoModel, proof.to_string()),
        }
    }
}

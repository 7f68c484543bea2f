//! Rows in several places: the answers of a place, and fits that ask all of them.

use crate::errors::LinsepError;
use crate::input::{Features, doubles};
use crate::labels::codes;
use crate::model::Model;
use crate::pool::{Manner, run};
use crate::settings::method;
use linsep::design::LabelledRows;
use linsep::error::{Error, Result};
use linsep::partitions::{AskParts, answer};
use linsep::workflow::{FitOptions, PartitionedModel, PartitionedRows, fit_partitions as fit};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, PoisonError};

/// The answer of some rows to a message of `fit_partitions`.
#[pyfunction]
#[pyo3(signature = (x, y_codes, n_classes, message, sample_weight=None, n_threads=0))]
pub(crate) fn answer_part<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    y_codes: &Bound<'py, PyAny>,
    n_classes: usize,
    message: &[u8],
    sample_weight: Option<&Bound<'py, PyAny>>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let labels = codes(y_codes, n_classes)?;
    let weights = doubles(sample_weight)?;
    let features = Features::of(x)?;
    // SAFETY: as in `fit`.
    let lent = unsafe { features.lend() }?;
    let design = lent.as_design();
    let rows = design.shape().rows;
    if labels.len() != rows || weights.as_ref().is_some_and(|w| w.len() != rows) {
        return Err(LinsepError::new_err(format!("{rows} rows, {} labels: one for each", labels.len())));
    }
    let found = run(py, &Manner::threads(n_threads), |watch| {
        answer(LabelledRows { design, labels: &labels, weights: weights.as_deref() }, message, watch)
    })?;
    Ok(PyBytes::new(py, &found))
}

/// Fits a risk minimiser to rows in several places. `ask` is called with a message and returns the answers of all places that
/// have rows, in their order. Returns the model, and how often it was called.
#[pyfunction]
#[pyo3(signature = (ask, settings, classes, cols, *, input_names=None, target_is_text=true, zero_weight=0, init=None,
    multiclass=None, time_limit=None, seed=0, callback=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn fit_partitions(
    py: Python<'_>,
    ask: Py<PyAny>,
    settings: &str,
    classes: Vec<String>,
    cols: usize,
    input_names: Option<Vec<String>>,
    target_is_text: bool,
    zero_weight: usize,
    init: Option<&Model>,
    multiclass: Option<&str>,
    time_limit: Option<f64>,
    seed: u64,
    callback: Option<Py<PyAny>>,
) -> PyResult<(Model, usize)> {
    let mut options = FitOptions::new("y", method("risk", settings)?);
    options.seed = seed;
    options.multiclass = crate::fit::multiclass(multiclass, None, None)?;
    options.init = init.map(|model| Box::new(model.inner().clone()));
    let parts = PythonParts { ask, raised: Mutex::new(None) };
    let names = input_names.unwrap_or_default();
    let manner = Manner { threads: 1, time_limit, callback, waits: true };
    let fitted = run(py, &manner, |watch| {
        let rows =
            PartitionedRows { parts: &parts, names, cols, classes, labels_are_text: target_is_text, zero_weight };
        // An exception is raised as it is, not as what the library makes of it.
        match (fit(rows, &options, watch), parts.raised()) {
            (Err(_), Some(exception)) => Ok(Err(exception)),
            (found, _) => found.map(Ok),
        }
    })?;
    let PartitionedModel { model, round_trips } = fitted?;
    Ok((Model::new(model), round_trips))
}

/// Places that a function of Python reaches.
struct PythonParts {
    ask: Py<PyAny>,
    raised: Mutex<Option<PyErr>>,
}

impl PythonParts {
    fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl AskParts for PythonParts {
    fn ask(&self, message: &[u8]) -> Result<Vec<Vec<u8>>> {
        let answers = Python::attach(|py| -> PyResult<Vec<Vec<u8>>> {
            let answers = self.ask.call1(py, (PyBytes::new(py, message),))?;
            answers.bind(py).try_iter()?.map(|answer| Ok(answer?.cast::<PyBytes>()?.as_bytes().to_vec())).collect()
        });
        answers.map_err(|exception| {
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(exception);
            Error::data("the partitions could not be asked")
        })
    }
}

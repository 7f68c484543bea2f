//! Fits of rows that arrive in parts.

use crate::errors::{LinsepError, raise};
use crate::input::{Features, doubles};
use crate::labels::labels;
use crate::model::Model;
use crate::pool::{Manner, run};
use crate::settings::method;
use linsep::workflow::{FitOptions, RunningFit};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::sync::Mutex;

/// Sums over rows that arrive in parts; changed by `add` alone.
#[pyclass(frozen, module = "linsep._core")]
pub(crate) struct Running {
    state: Mutex<RunningFit>,
    /// What it was made with, for pickles.
    made: Made,
}

#[derive(Clone)]
struct Made {
    method: String,
    settings: String,
    classes: Vec<String>,
    cols: usize,
    input_names: Option<Vec<String>>,
    target_is_text: bool,
}

impl Running {
    fn locked(&self) -> PyResult<std::sync::MutexGuard<'_, RunningFit>> {
        self.state.lock().map_err(|_| LinsepError::new_err("an earlier call on these sums failed in the middle"))
    }
}

#[pymethods]
impl Running {
    #[new]
    #[pyo3(signature = (method, settings, classes, cols, input_names=None, target_is_text=true, state=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        py: Python<'_>,
        method: &str,
        settings: &str,
        classes: Vec<String>,
        cols: usize,
        input_names: Option<Vec<String>>,
        target_is_text: bool,
        state: Option<&[u8]>,
    ) -> PyResult<Running> {
        let options = FitOptions::new("y", crate::settings::method(method, settings)?);
        let names = input_names.clone().unwrap_or_default();
        let fresh = RunningFit::new(&options, names, cols, classes.clone(), target_is_text);
        let found = match state {
            Some(bytes) => fresh.and_then(|f| f.at(bytes)),
            None => fresh,
        };
        let made = Made {
            method: method.to_owned(),
            settings: settings.to_owned(),
            classes,
            cols,
            input_names,
            target_is_text,
        };
        Ok(Running { state: Mutex::new(found.map_err(|e| raise(py, &e))?), made })
    }

    /// Adds rows.
    #[pyo3(signature = (x, y_codes, sample_weight=None, n_threads=0))]
    fn add(
        &self,
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        y_codes: &Bound<'_, PyAny>,
        sample_weight: Option<&Bound<'_, PyAny>>,
        n_threads: usize,
    ) -> PyResult<()> {
        let labels = labels(y_codes, self.made.classes.clone())?;
        let weights = doubles(sample_weight)?;
        let features = Features::of(x)?;
        // SAFETY: as in `fit`.
        let lent = unsafe { features.lend() }?;
        // A copy, so that rows that are refused leave no trace.
        let mut next = self.locked()?.clone();
        let design = lent.as_design();
        run(py, &Manner::threads(n_threads), |watch| next.add(design, &labels, weights.as_deref(), watch))?;
        *self.locked()? = next;
        Ok(())
    }

    /// Adds rows that were summed elsewhere, by sums made with the same arguments.
    fn merge(&self, py: Python<'_>, other: &Running) -> PyResult<()> {
        let part = other.locked()?.clone();
        let mut next = self.locked()?.clone();
        next.merge(&part).map_err(|e| raise(py, &e))?;
        *self.locked()? = next;
        Ok(())
    }

    /// The model of all rows so far, by settings that may have changed since.
    #[pyo3(signature = (settings, seed=0))]
    fn model(&self, py: Python<'_>, settings: &str, seed: u64) -> PyResult<Model> {
        let mut options = FitOptions::new("y", method(&self.made.method, settings)?);
        options.seed = seed;
        let state = self.locked()?.clone();
        run(py, &Manner::threads(0), |watch| state.model(&options, watch)).map(Model::new)
    }

    #[getter]
    fn rows(&self) -> PyResult<usize> {
        Ok(self.locked()?.rows())
    }

    /// Weights of the classes.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_slice(py, self.locked()?.weights()))
    }

    /// Totals of columns, class by class; `None` where pairs of columns are summed.
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let found = self.locked()?.totals();
        let shape = [self.made.classes.len(), self.made.cols];
        found.map(|totals| PyArray1::from_vec(py, totals).reshape(shape)).transpose()
    }

    /// Variances of the columns over all rows; `None` where pairs of columns are summed.
    fn overall_variances<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        Ok(self.locked()?.overall_variances().map(|found| PyArray1::from_vec(py, found)))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        let this = slf.get();
        let made = this.made.clone();
        let state = PyBytes::new(py, &this.locked()?.to_bytes());
        let arguments =
            (made.method, made.settings, made.classes, made.cols, made.input_names, made.target_is_text, state);
        Ok((slf.get_type().into_any(), arguments.into_pyobject(py)?))
    }
}

/// The model of naive Bayes of counts: weights of the classes, and how often each level of each column occurs in them.
#[pyfunction]
#[pyo3(signature = (settings, classes, names, levels, weights, counts, rows, *, target_is_text=true))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn fit_levels(
    py: Python<'_>,
    settings: &str,
    classes: Vec<String>,
    names: Vec<String>,
    levels: Vec<Vec<String>>,
    weights: PyReadonlyArray1<'_, f64>,
    counts: PyReadonlyArray2<'_, f64>,
    rows: usize,
    target_is_text: bool,
) -> PyResult<Model> {
    let options = FitOptions::new("y", method("naive-bayes", settings)?);
    let columns = names.into_iter().zip(levels).collect();
    let sums = (weights.as_slice()?.to_vec(), counts.as_slice()?.to_vec(), rows);
    run(py, &Manner::threads(0), |watch| {
        RunningFit::of_levels(&options, columns, classes, target_is_text, sums)?.model(&options, watch)
    })
    .map(Model::new)
}

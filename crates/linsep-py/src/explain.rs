//! What each column adds to the scores of each row.

use crate::errors::LinsepError;
use crate::input::Features;
use crate::model::Model;
use crate::pool::{Manner, run};
use linsep::workflow::{ExplanationBase, explain_design};
use numpy::{PyArray1, PyArray3, PyArrayMethods};
use pyo3::prelude::*;

/// Names of the columns and of the scores, the part of each score that no column adds, contributions (row, score, column), and what that part is.
type Contributions<'py> =
    (Vec<String>, Vec<String>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray3<f64>>, &'static str);

/// Explains every row; those that miss a cell have NaN.
#[pyfunction]
#[pyo3(signature = (model, x, n_threads=0))]
pub(crate) fn explain<'py>(model: &Model, x: &Bound<'py, PyAny>, n_threads: usize) -> PyResult<Contributions<'py>> {
    let py = x.py();
    let model = model.inner();
    if !model.offsets.is_empty() {
        return Err(LinsepError::new_err("the model has offsets, which arrays do not carry: use the command"));
    }
    let manner = Manner::threads(n_threads);
    let features = Features::of(x)?;
    let (prepared, lent, rows);
    let (design, places) = match &features {
        Features::Table(table) => {
            let wanted = vec![true; table.n_rows()];
            prepared = run(py, &manner, |_| model.recipe.apply(table, &wanted))?;
            rows = table.n_rows();
            (prepared.design.as_design(), Some(&prepared.rows))
        }
        features => {
            // SAFETY: as in `fit`.
            lent = unsafe { features.lend() }?;
            rows = lent.as_design().shape().rows;
            (lent.as_design(), None)
        }
    };
    let found = run(py, &manner, |watch| explain_design(model, design, watch))?;
    let (scores, width) = (found.intercept.len(), found.names.len());
    let each = scores * width;
    let values = match places.filter(|places| places.len() != rows) {
        None => found.values,
        Some(places) => {
            let mut all = vec![f64::NAN; rows * each];
            for (at, row) in places.iter().enumerate() {
                all[row * each..(row + 1) * each].copy_from_slice(&found.values[at * each..(at + 1) * each]);
            }
            all
        }
    };
    let base = match found.base {
        ExplanationBase::Centre => "centre",
        ExplanationBase::Zero => "zero",
        ExplanationBase::Priors => "priors",
        ExplanationBase::Kernel => "kernel",
    };
    let values = PyArray1::from_vec(py, values).reshape([rows, scores, width])?;
    Ok((found.names, model.score_names(), PyArray1::from_vec(py, found.intercept), values, base))
}

//! Rows drawn from known classes.

use crate::errors::raise;
use linsep::sample::{OwnRows, Simulation, generator_at};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;

/// Rows of kinds that do not say how many there are, as of the command.
const ROWS: u64 = 1000;

type Drawn<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<i64>>, String);

/// Features, classes by number, and the truth as JSON, of what such a file describes; `own` are the features of logistic and plane
/// labels.
#[pyfunction]
#[pyo3(signature = (parameters, rows=None, seed=0, own=None, own_names=None))]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    parameters: &str,
    rows: Option<u64>,
    seed: u64,
    own: Option<PyReadonlyArray2<'py, f64>>,
    own_names: Option<Vec<String>>,
) -> PyResult<Drawn<'py>> {
    let own = own.map(|x| {
        let view = x.as_array();
        let numbered = || (1..=view.ncols()).map(|j| format!("x{j}")).collect();
        OwnRows {
            name: "x".to_owned(),
            features: own_names.unwrap_or_else(numbered),
            values: view.iter().copied().collect(),
        }
    });
    let listed_own = own.as_ref().map(|own| own.len() as u64);
    let made = || -> linsep::Result<_> {
        let again = generator_at(parameters.as_bytes(), "the parameters", rows.is_some(), own)?;
        let count = rows.or(again.listed).or(listed_own).unwrap_or(ROWS);
        let simulation = Simulation::new(again.generator, count, seed)?;
        let truth = simulation.truth()?;
        Ok((simulation.draw(), truth.parameters.features.len(), count, truth.to_json()?))
    };
    let ((values, classes), cols, count, truth) = made().map_err(|e| raise(py, &e))?;
    let codes: Vec<i64> = classes.iter().map(|c| i64::from(c.0)).collect();
    let features = PyArray1::from_vec(py, values).reshape([count as usize, cols])?;
    Ok((features, PyArray1::from_vec(py, codes), truth))
}

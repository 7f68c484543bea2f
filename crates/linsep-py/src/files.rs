//! Models that do not come of a fit: from files, of several labels together, or stated.

use crate::errors::raise;
use crate::model::Model;
use linsep::artifact::{self, MultiLabel, Saved};
use linsep::decide::Decision;
use linsep::model::{GivenRule, GivenSettings};
use linsep::workflow::given_model;
use pyo3::prelude::*;
use std::path::Path;

/// The model of a file, or those of its labels if it has several.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: &str) -> PyResult<Vec<Model>> {
    let saved = py.detach(|| Saved::load(Path::new(path))).map_err(|e| raise(py, &e))?;
    Ok(match saved {
        Saved::One(model) => vec![Model::new(*model)],
        Saved::Several(labels) => labels.models.into_iter().map(Model::new).collect(),
    })
}

/// Writes the models of several labels, which have these names, into one file.
#[pyfunction]
pub(crate) fn save_labels(py: Python<'_>, models: Vec<(String, Bound<'_, Model>)>, path: &str) -> PyResult<()> {
    let named = |(target, model): &(String, Bound<'_, Model>)| artifact::Model {
        target: target.clone(),
        ..model.get().inner().clone()
    };
    let labels = MultiLabel { models: models.iter().map(named).collect() };
    py.detach(|| labels.save(Path::new(path))).map_err(|e| raise(py, &e))
}

/// A model of planes that are stated: scores `w·x + w₀`, one for two classes, else one for each.
#[pyfunction]
#[pyo3(signature = (weights, intercept, classes, names, *, log_odds, target_is_text))]
pub(crate) fn stated(
    py: Python<'_>,
    weights: Vec<Vec<f64>>,
    intercept: Vec<f64>,
    classes: Vec<String>,
    names: Vec<String>,
    log_odds: bool,
    target_is_text: bool,
) -> PyResult<Model> {
    let rule = GivenRule::Planes { weights, intercept, log_odds };
    let given = GivenSettings { features: names, classes, rule };
    let model = given_model(given, "y", Decision::default()).map_err(|e| raise(py, &e))?;
    Ok(Model::new(artifact::Model { target_is_text, ..model }))
}

//! Models that do not come of a fit: from files, of several labels together, stated, or others in a detail.

use crate::errors::{LinsepError, raise};
use crate::model::Model;
use linsep::artifact::{self, MultiLabel, Saved};
use linsep::decide::Decision;
use linsep::design::UnknownLevel;
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

/// The same model, to which an unknown level is none of the known ones instead of an error.
#[pyfunction]
pub(crate) fn forgiving(model: &Model) -> Model {
    let mut inner = model.inner().clone();
    if inner.recipe.unknown == UnknownLevel::Error {
        inner.recipe.unknown = UnknownLevel::Zero;
    }
    Model::new(inner)
}

/// The same model with what its labels are to the caller: one word for all of them, or one for each.
#[pyfunction]
pub(crate) fn with_label_types(model: &Model, types: Vec<String>) -> PyResult<Model> {
    if types.len() > 1 && types.len() != model.inner().classes.len() {
        return Err(LinsepError::new_err("there must be one type for all labels, or one for each class"));
    }
    Ok(Model::new(artifact::Model { label_types: types, ..model.inner().clone() }))
}

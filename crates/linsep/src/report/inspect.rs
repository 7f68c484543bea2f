//! A model laid open, for machines and for people.

use super::decision::decision_json;
use super::summary::summary;
use super::text::{clip, grid, short};
use crate::artifact::Model;
use crate::discriminant::Linear;
use crate::error::{Error, Result};
use serde_json::{Value, json};

/// The machine interface of a model: `model`, `classes`, `features`, `weights` (one row per discriminant, in the units
/// of the input columns), `intercept`, `objective`, `certificate`, and what else is known.
pub fn inspect_json(model: &Model) -> Result<Value> {
    let to_value = |e: serde_json::Error| Error::model(format!("the model cannot be shown: {e}"));
    let weights =
        model.discriminant.as_linear().map(|l| (0..l.n_scores()).map(|k| l.weights_of(k)).collect::<Vec<_>>());
    Ok(json!({
        "model": model.method.name(),
        "classes": model.classes,
        "features": model.recipe.features(),
        "weights": weights,
        "intercept": model.discriminant.as_linear().map(Linear::intercept),
        "objective": model.objective.value,
        "formula": model.objective.formula,
        "lambda": model.objective.lambda,
        "certificate": serde_json::to_value(&model.certificate).map_err(to_value)?,
        "decision": decision_json(&model.decision, &model.classes),
        "outcome": serde_json::to_value(model.outcome).map_err(to_value)?,
        "constant_columns": model.recipe.constant_columns(),
        "target": model.target,
        "settings": serde_json::to_value(&model.method).map_err(to_value)?,
        "notes": model.notes.iter().map(|n| n.describe(&|j| model.recipe.feature(j))).collect::<Vec<_>>(),
        "training": serde_json::to_value(&model.training).map_err(to_value)?,
        "cross_validation": serde_json::to_value(&model.cross_validation).map_err(to_value)?,
        "computation": serde_json::to_value(&model.computation).map_err(to_value)?,
        "provenance": serde_json::to_value(&model.provenance).map_err(to_value)?,
    }))
}

/// The summary of the fit and every weight, in the units of the input columns.
pub fn inspect_text(model: &Model) -> String {
    let mut out = summary(model, true);
    let Some(linear) = model.discriminant.as_linear() else { return out };
    let scores = linear.n_scores();
    let heading = |k: usize| match scores {
        1 => format!("log-odds of {}", clip(&model.classes[1], 20)),
        _ => clip(&model.classes[k], 14),
    };
    let mut rows = vec![std::iter::once(String::new()).chain((0..scores).map(heading)).collect::<Vec<String>>()];
    for j in 0..linear.n_cols() {
        let weights = (0..scores).map(|k| short(linear.weights_of(k)[j]));
        rows.push(std::iter::once(clip(&model.recipe.feature(j), 40)).chain(weights).collect());
    }
    let intercept = linear.intercept();
    rows.push(std::iter::once("(intercept)".to_owned()).chain(intercept.iter().map(|b| short(*b))).collect());
    out.push_str("\n  all weights, per unit of the input columns\n");
    out.push_str(&grid(&rows, 2));
    out
}

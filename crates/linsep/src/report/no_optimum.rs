//! Why a fit has no optimum, for programs.

use crate::certify::SeparationKind;
use crate::separate::NoOptimum;
use serde_json::{Value, json};

/// Rows as programs read them, from 1.
pub(super) fn rows_json(rows: &[usize]) -> Value {
    rows.iter().map(|row| json!(row + 1)).collect()
}

/// Why there is no optimum, in the words of [`super::separability_json`].
pub fn no_optimum_json(proof: &NoOptimum, features: &[String], classes: &[String]) -> Value {
    let mut columns = proof.columns.clone();
    columns.sort_unstable();
    let mut diverging: Vec<&str> = columns.iter().map(|j| features[*j].as_str()).collect();
    if proof.intercept_diverges {
        diverging.push("(intercept)");
    }
    json!({
        "model": null,
        "outcome": match proof.of_likelihood {
            true => "maximum_likelihood_does_not_exist",
            false => "no_minimum",
        },
        "separation": match proof.kind {
            SeparationKind::Complete => "complete",
            SeparationKind::Quasi => "quasi",
        },
        "verdict": match proof.kind {
            SeparationKind::Complete => "complete",
            SeparationKind::Quasi => "quasi-complete",
        },
        "route": proof.route.name(),
        "classes": classes,
        "features": features,
        "direction": proof.direction,
        "intercept": proof.intercept,
        "diverging": diverging,
        "strict_rows": proof.strict_rows,
        "boundary_rows": rows_json(&proof.boundary),
    })
}

//! Why a fit has no model, for people and for programs.

use super::hard_margin::{no_kernel_margin_text, no_margin_text};
use super::perceptron::not_separable_text;
use super::separability_json::{rows_json, separability_json};
use super::summary::no_optimum_text;
use crate::certify::SeparationKind;
use crate::separate::NoOptimum;
use crate::words::{Plain, Voice};
use crate::workflow::TableRefusal;
use serde_json::{Value, json};
use std::fmt;

/// The proof in words; which of several two-class fits it is about is not said.
pub fn refusal_text(refusal: &TableRefusal, voice: &dyn Voice) -> String {
    match refusal {
        TableRefusal::NoOptimum { proof, features, classes, .. } => no_optimum_text(proof, features, classes, voice),
        // Only a perceptron counts epochs.
        TableRefusal::NotSeparable { proof, answer: Some(answer), .. } if proof.epochs == 0 => {
            no_margin_text(proof, answer, voice)
        }
        TableRefusal::NotSeparable { proof, .. } if proof.margin_at_most.is_some() => {
            no_kernel_margin_text(proof, voice)
        }
        TableRefusal::NotSeparable { proof, used, .. } => not_separable_text(proof, *used, voice),
    }
}

/// The proof in the library's own voice, with the two-class fit that it is about.
impl fmt::Display for TableRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(part) = self.part() {
            write!(f, "{part}: ")?;
        }
        f.write_str(refusal_text(self, &Plain).trim_end())
    }
}

/// The same for programs.
pub fn refusal_json(refusal: &TableRefusal) -> Value {
    let mut value = match refusal {
        TableRefusal::NoOptimum { proof, features, classes, .. } => no_optimum_json(proof, features, classes),
        TableRefusal::NotSeparable { proof, used, answer, .. } => {
            let mut value = json!({
                "model": null,
                "outcome": "not_separable",
                "rows": used,
                "overlapping_rows": proof.rows.len(),
                "mistakes": proof.mistakes,
                "epochs": proof.epochs,
            });
            if let Some(margin) = proof.margin_at_most {
                value["margin_at_most"] = json!(margin);
            }
            if let Some(answer) = answer {
                value["separability"] = separability_json(answer);
            }
            value
        }
    };
    if let Some(part) = refusal.part() {
        value["part"] = json!(part);
    }
    value
}

/// Why there is no optimum, in the words of [`separability_json`].
pub(super) fn no_optimum_json(proof: &NoOptimum, features: &[String], classes: &[String]) -> Value {
    let diverging = proof.columns.as_ref().map(|columns| {
        let mut columns = columns.clone();
        columns.sort_unstable();
        let intercept = proof.intercept_diverges.then_some("(intercept)");
        columns.iter().map(|j| features[*j].as_str()).chain(intercept).collect::<Vec<&str>>()
    });
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

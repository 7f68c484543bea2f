//! The hard margin in words.

use super::text::short;
use crate::artifact::Model;
use crate::certify::Certificate;
use crate::design::Standardize;
use crate::model::{HardMargin, NotSeparable};

pub(super) fn headline(method: &HardMargin) -> String {
    let columns = match method.standardize {
        Standardize::Yes => "distances of standardised columns",
        Standardize::No => "distances of the columns as they are",
    };
    format!("Hard margin support vector machine: {columns}, free intercept")
}

/// Both margins and what they are related to.
pub(super) fn margin_text(model: &Model) -> Option<String> {
    let Certificate::Margin { margin, hull_distance, .. } = &model.certificate else { return None };
    let multipliers = model.support_vectors.as_ref()?;
    let sum = crate::numeric::sum(multipliers.multipliers.iter().map(|(_, alpha)| *alpha));
    Some(format!(
        "geometric γ = 1/‖w‖ = {}, functional 1; the hulls are {} apart; Σα = ‖w‖² = 1/γ² = {}",
        short(*margin),
        short(*hull_distance),
        short(sum)
    ))
}

/// What the certificate proves.
pub(super) fn certificate_text(margin: f64, hull_distance: f64, relative_gap: f64) -> String {
    format!(
        "every row is at least γ = {} from the plane, on its side; two points of the hulls are {} apart, so no plane has \
         more than half of that (relative gap {relative_gap:.1e})",
        short(margin),
        short(hull_distance)
    )
}

/// Why there is no hard margin, where two rows are the same.
pub(super) fn twins_text(proof: &NotSeparable) -> Option<String> {
    match (&proof.rows[..], &proof.certificate) {
        ([first, second], None) => Some(format!(
            "Proof: rows {} and {} are the same in every column and of different classes.",
            first + 1,
            second + 1
        )),
        _ => None,
    }
}

/// What else there is.
pub(super) const REMEDY: &str = "No model was written. `linsep separable` names the rows that stand in the way; --model svm lets rows lie within the \
     margin at a price.";

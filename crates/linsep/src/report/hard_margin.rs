//! The hard margin in words.

use super::digits::significant;
use super::separability_text;
use super::text::short;
use crate::artifact::Model;
use crate::certify::Certificate;
use crate::design::Standardize;
use crate::error::Place;
use crate::model::{HardMarginSettings, NotSeparable};
use crate::numeric::{bound_text, printed_above, printed_below};
use crate::words::Voice;
use crate::workflow::TableSeparability;

pub(super) fn headline(method: &HardMarginSettings) -> String {
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
    // Enough of them that rounding in the safe direction is not seen as another margin.
    let digits = |x: f64| significant(x, 8);
    format!(
        "every row is at least γ = {} from the plane, on its side; two points of the hulls are {} apart, so no plane has \
         more than half of that (relative gap {})",
        printed_below(margin, digits),
        printed_above(hull_distance, digits),
        bound_text(relative_gap)
    )
}

/// Why there is no hard margin: the verdict of separability with its witness.
pub(super) fn no_margin_text(proof: &NotSeparable, found: &TableSeparability, voice: &dyn Voice) -> String {
    let mut out = "No plane separates the classes: there is no hard margin.\n\n".to_owned();
    out.push_str(&separability_text(found, voice));
    // Two rows alone share a point only where they are the same.
    if let [first, second] = proof.rows[..] {
        let row = |row: usize| match found.place(row) {
            Some(Place { line: Some(line), .. }) => format!("{line}"),
            _ => format!("{}", row + voice.first()),
        };
        let what = if found.place(first).is_some_and(|p| p.line.is_some()) { "lines" } else { "rows" };
        out.push_str(&format!(
            "  {what} {} and {} are the same in every column and of different classes\n",
            row(first),
            row(second)
        ));
    }
    if let Some(sentence) = voice.nothing_written() {
        out.push_str(&format!("  {sentence}\n"));
    }
    out
}

//! The hard margin in words.

use super::digits::significant;
use super::separability_text;
use super::text::{short, thousands, wrap};
use crate::artifact::Model;
use crate::certify::Certificate;
use crate::design::Standardize;
use crate::error::Place;
use crate::model::{HardMarginSettings, NotSeparable};
use crate::numeric::{bound_text, printed_above, printed_below};
use crate::words::{Setting, Voice, words};
use crate::workflow::TableSeparability;

/// Columns of text, as of the perceptron's.
const LINE: usize = 84;

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

/// Why no plane in the feature space of a kernel was found: two rows that are the same, or hulls that nearly touch.
pub(super) fn no_kernel_margin_text(proof: &NotSeparable, voice: &dyn Voice) -> String {
    let mut out = "No plane in the feature space of the kernel separates the classes".to_owned();
    let why = match (&proof.rows[..], proof.margin_at_most) {
        ([first, second], Some(0.0)) => {
            let (first, second) = (first + voice.first(), second + voice.first());
            out.push_str(".\n");
            format!(
                "Proof: rows {first} and {second} are the same and of different classes, which no kernel tells apart."
            )
        }
        (rows, margin) => {
            let margin = margin.unwrap_or(f64::INFINITY);
            out.push_str(&format!(" by more than {}.\n", bound_text(margin)));
            format!(
                "Proof: mixtures of {} rows, one of each class, are at most {} apart there.",
                thousands(rows.len() as f64),
                bound_text(2.0 * margin)
            )
        }
    };
    let remedy = words![Setting::Model.is("svm"), " with ", Setting::C, " lets rows be on the wrong side, at a price."];
    let nothing = voice.nothing_written().map(str::to_owned);
    let ending: Vec<String> = nothing.into_iter().chain(remedy.said(voice)).collect();
    for text in [why, ending.join(" ")] {
        for line in wrap(&text, LINE) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out
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

//! Several labels of a row, judged together.

use super::Estimate;
use super::interval::{Moments, wilson};
use super::probability::mean_loss;
use crate::error::{Error, Result};

/// How separate predictors of several labels do together.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct LabelFigures {
    /// Rows of which every label is known and predicted.
    pub rows: usize,
    /// Share of these rows that have all labels right.
    pub subset_accuracy: Estimate,
    /// Mean share of the labels that are wrong.
    pub hamming_loss: Estimate,
}

/// Judges rows by the labels that are wrong; weight k counts as k copies of a row.
///
/// ```
/// use linsep::evaluate::evaluate_labels;
/// // Two labels of four rows: one wrong label in the second row, both wrong in the last.
/// let wrong = [vec![false, true, false, true], vec![false, false, false, true]];
/// let figures = evaluate_labels(&wrong, None)?;
/// assert_eq!((figures.subset_accuracy.value, figures.hamming_loss.value), (0.5, 0.375));
/// # Ok::<(), linsep::Error>(())
/// ```
///
/// # Errors
/// Without labels or rows, and where lengths disagree.
pub fn evaluate_labels(wrong: &[Vec<bool>], weights: Option<&[f64]>) -> Result<LabelFigures> {
    let rows = wrong.first().map_or(0, Vec::len);
    if rows == 0 || wrong.iter().any(|w| w.len() != rows) || weights.is_some_and(|w| w.len() != rows) {
        return Err(Error::data("there are no rows of which every label is known and predicted"));
    }
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let mut moments = Moments::new();
    let (mut right, mut total) = (0.0, 0.0);
    for i in 0..rows {
        let bad = wrong.iter().filter(|w| w[i]).count();
        moments.add(bad as f64 / wrong.len() as f64, weight(i));
        right += if bad == 0 { weight(i) } else { 0.0 };
        total += weight(i);
    }
    if !(total > 0.0) {
        return Err(Error::data("all weights are zero"));
    }
    let method = "share of the rows with all labels right; Wilson score interval";
    let subset_accuracy = Estimate::new(right / total, Some(wilson(right, total)), method).needs_two(total);
    let hamming_loss = mean_loss(&moments, (0.0, 1.0), "mean share of wrong labels", total);
    Ok(LabelFigures { rows, subset_accuracy, hamming_loss })
}

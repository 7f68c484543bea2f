//! How far free intercepts may be from the optimum's, given how far the scores are.
//!
//! The best intercept does not rise with any score and moves with a common shift of all of them: scores that are off by at
//! most η move it by at most η. With several classes, suppose that the shifts of the intercepts, sorted, had a gap above 2η:
//! the odds of the classes above the gap would rise on every row, and their totals could not stay what they are. So
//! neighbours in that order are at most 2η apart, and all of them 2η(K−1).

use super::{DualPointOf, EVALUATION, Enclosed, GapRows, SlopeSums};
use crate::error::Result;
use crate::numeric::rounding_bound;
use crate::objective::{Loss, RowSizes};

/// Roundings of a slope beside those of its sum: 16 of a probability, those of shift and weight, and as many to spare.
const PER_SLOPE: usize = 64;
/// Distances tried, each four times the one before: from rounding, 1e-16, to 4²⁴ = 3e14 times as far.
const TRIED: i32 = 24;
/// Distances below this share of what scores may move anyway are not of interest.
const NEARER: f64 = 0.25;

/// A bound for weights that are `distance` from the optimum's at most; `None` where none was found.
pub(super) fn distance<R: GapRows>(
    risk: &R,
    rows: &R::SizedRows,
    dual: &DualPointOf<R>,
    intercept: &[f64],
    sizes: &RowSizes,
    distance: f64,
) -> Result<Option<f64>> {
    let moved = distance * sizes.longest_row;
    let apart = (moved + sizes.largest_error) * EVALUATION;
    let (scores, classes) = (risk.loss().n_scores(), risk.loss().n_classes());
    let found = match scores {
        1 => one_intercept(risk, rows, sizes.largest_score, apart)?.map(|found| found + apart),
        _ => {
            // A common shift changes nothing; by convention the best intercepts have mean zero.
            let common = intercept.iter().sum::<f64>() / classes as f64;
            let common = if risk.loss().shift_invariant() { common.abs() } else { 0.0 };
            risk.loss().intercept_error(dual).map(|error| error + 2.0 * (classes - 1) as f64 * apart + common)
        }
    };
    Ok(found.map(|found| found * EVALUATION).filter(|found| found.is_finite()))
}

/// How far the best intercepts for the computed scores may be from the stored one. The loss is convex in the intercept, so
/// none is beyond a positive slope above or a negative slope below. Distances much below `about` are not resolved.
fn one_intercept<R: GapRows>(risk: &R, rows: &R::SizedRows, size: f64, about: f64) -> Result<Option<f64>> {
    let least = (NEARER * about).max(4.0 * f64::EPSILON * size).max(f64::MIN_POSITIVE);
    let within = |side: f64| -> Result<Option<f64>> {
        let tried: Vec<f64> = (0..TRIED).map(|k| least * 4f64.powi(k)).collect();
        for some in tried.chunks(risk.slopes_at_once().max(1)) {
            let shifts: Vec<f64> = some.iter().map(|t| side * t).collect();
            let slopes = risk.slopes(rows, &shifts)?;
            let beyond = |s: &SlopeSums| side * s.slope.value() > rounding_bound(PER_SLOPE) * s.size * 1.01;
            if let Some((t, _)) = some.iter().zip(&slopes).find(|(_, slope)| beyond(slope)) {
                return Ok(Some(*t));
            }
        }
        Ok(None)
    };
    let Some(above) = within(1.0)? else { return Ok(None) };
    let Some(below) = within(-1.0)? else { return Ok(None) };
    // The computed shift of a score is off by a rounding.
    Ok(Some(above.max(below) + 2.0 * f64::EPSILON * size))
}

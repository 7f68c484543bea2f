//! How far free intercepts may be from the optimum's, given how far the scores are.
//!
//! The best intercept does not rise with any score and moves with a common shift of all of them: scores that are off by at
//! most η move it by at most η. With several classes, suppose that the shifts of the intercepts, sorted, had a gap above 2η:
//! the odds of the classes above the gap would rise on every row, and their totals could not stay what they are. So
//! neighbours in that order are at most 2η apart, and all of them 2η(K−1).

use super::{EVALUATION, Enclosed, ROWS, ScoredRows};
use crate::numeric::{CompensatedSum, rounding_bound};
use crate::objective::{Penalty, Risk};
use rayon::prelude::*;

/// Roundings of a slope beside those of its sum: 16 of a probability, those of shift and weight, and as many to spare.
const PER_SLOPE: usize = 64;
/// Distances tried, each four times the one before: from rounding, 1e-16, to 4²⁴ = 3e14 times as far.
const TRIED: i32 = 24;
/// Distances below this share of what scores may move anyway are not of interest.
const NEARER: f64 = 0.25;

/// A bound for weights that move no score by more than `moved`; `None` where none was found.
pub(super) fn distance<L: Enclosed, P: Penalty>(
    risk: &Risk<'_, L, P>,
    rows: &ScoredRows<'_>,
    dual: &L::DualPoint,
    intercept: &[f64],
    moved: f64,
) -> Option<f64> {
    let rounding = rows.errors.iter().copied().fold(0.0, f64::max);
    let apart = (moved + rounding) * EVALUATION;
    let (scores, classes) = (risk.loss().n_scores(), risk.loss().n_classes());
    let found = match scores {
        1 => one_intercept(risk, rows, apart)? + apart,
        _ => {
            // A common shift changes nothing; by convention the best intercepts have mean zero.
            let common = intercept.iter().sum::<f64>() / classes as f64;
            let common = if risk.loss().shift_invariant() { common.abs() } else { 0.0 };
            risk.loss().intercept_error(dual)? + 2.0 * (classes - 1) as f64 * apart + common
        }
    };
    (found * EVALUATION).is_finite().then_some(found * EVALUATION)
}

/// How far the best intercepts for the computed scores may be from the stored one. The loss is convex in the intercept, so
/// none is beyond a positive slope above or a negative slope below. Distances much below `about` are not resolved.
fn one_intercept<L: Enclosed, P: Penalty>(risk: &Risk<'_, L, P>, rows: &ScoredRows<'_>, about: f64) -> Option<f64> {
    let size = rows.scores.iter().fold(0.0f64, |m, z| m.max(z.abs()));
    let least = (NEARER * about).max(4.0 * f64::EPSILON * size).max(f64::MIN_POSITIVE);
    let within = |side: f64| {
        (0..TRIED).map(|k| least * 4f64.powi(k)).find(|t| {
            let (slope, rounding) = slope_at(risk, rows, side * t);
            side * slope > rounding
        })
    };
    // The computed shift of a score is off by a rounding.
    Some(within(1.0)?.max(within(-1.0)?) + 2.0 * f64::EPSILON * size)
}

/// `Σ s ∂ℓ/∂z` at scores shifted by a number, and a bound on its rounding.
fn slope_at<L: Enclosed, P: Penalty>(risk: &Risk<'_, L, P>, rows: &ScoredRows<'_>, shift: f64) -> (f64, f64) {
    let of_block = |block: usize| {
        let range = block * ROWS..((block + 1) * ROWS).min(rows.len());
        let shifted: Vec<f64> = rows.scores[range.clone()].iter().map(|z| z + shift).collect();
        let mut slopes = vec![0.0; shifted.len()];
        let weights = rows.weights.map(|w| &w[range.clone()]);
        risk.loss().block(&rows.labels[range], &shifted, weights, &mut slopes, None);
        let (mut sum, mut sizes) = (CompensatedSum::default(), 0.0);
        for slope in slopes {
            sum.add(slope);
            sizes += slope.abs();
        }
        (sum, sizes)
    };
    let blocks: Vec<(CompensatedSum, f64)> = (0..rows.len().div_ceil(ROWS)).into_par_iter().map(of_block).collect();
    let (mut sum, mut sizes) = (CompensatedSum::default(), 0.0);
    for (of_block, size) in blocks {
        sum.merge(of_block);
        sizes += size;
    }
    (sum.value(), rounding_bound(PER_SLOPE) * sizes * 1.01)
}

//! What the fit says of every row: probability, residuals, leverage, influence.

use super::likelihood::{LogLikelihood, residual_of};
use super::maximum::Maximum;
use crate::error::Result;
use crate::numeric::normal_quantile;
use crate::watch::Watch;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The values of one row. A row that counts several times has those of one copy.
#[derive(Debug, Clone, PartialEq)]
pub struct RowInfluence {
    /// The row (from 0) of the table.
    pub row: usize,
    /// The probability of each class.
    pub probabilities: Vec<f64>,
    /// The sign of `y − p` times `√(−2 log p(y))`; of several classes without a sign.
    pub deviance: f64,
    /// `(y − p)/√(p(1 − p))`, of two classes.
    pub pearson: Option<f64>,
    /// Normal if the model is true: `Φ⁻¹(u)` with u uniform between the probability of less than y and that of at most y.
    pub quantile: f64,
    /// `h = p(1−p) xᵀ (XᵀWX)⁻¹ x`, of two classes.
    pub leverage: Option<f64>,
    /// Cook's distance: how far all coefficients move without the row, of two classes.
    pub cook: Option<f64>,
    /// `w = p(1−p)`, the weight of the row in iteratively reweighted least squares at the maximum, of two classes.
    pub working_weight: Option<f64>,
    /// `η − offset + (y−p)/w`, the response of these least squares, whose solution is the maximum again; of two classes.
    pub working_response: Option<f64>,
}

/// The values of all rows.
pub(super) fn row_influences(
    likelihood: &LogLikelihood<'_>,
    maximum: &Maximum,
    seed: u64,
    watch: &Watch,
) -> Result<Vec<RowInfluence>> {
    let scores = likelihood.scores();
    let two = scores == 1;
    let parameters = likelihood.size() as f64;
    // Probabilities of the classes, log p(y), the score of two classes and ‖Ax‖².
    let width = scores + 4;
    let values = likelihood.each_row(width, watch, |row, x, out| {
        let (p, rest) = out.split_at_mut(scores + 1);
        let z = likelihood.row_scores(&maximum.point, row, x);
        rest[0] = likelihood.row_probabilities(&z, row, p);
        (rest[1], rest[2]) = if two { (z[0], maximum.metric.square(x)) } else { (f64::NAN, f64::NAN) };
    })?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let codes = likelihood.training().labels.codes();
    let found = values.chunks_exact(width).enumerate().map(|(row, v)| {
        let y = codes[row].index();
        let (probabilities, log_own, z, square) = (v[..=scores].to_vec(), v[scores + 1], v[scores + 2], v[scores + 3]);
        let drawn: f64 = random.random();
        let size = (-2.0 * log_own).max(0.0).sqrt();
        // (1 − p)/p is e⁻ᶻ, and p/(1 − p) is eᶻ.
        let pearson = two.then(|| if y == 1 { (-0.5 * z).exp() } else { -(0.5 * z).exp() });
        let leverage = two.then(|| probabilities[0] * probabilities[1] * square);
        // The residual squared, over p(1 − p), times the leverage: one of the three may be beyond the range of numbers.
        let cook = leverage.map(|h| {
            let moved = residual_of(&probabilities, y, y);
            moved * square * moved / (parameters * (1.0 - h) * (1.0 - h))
        });
        // (y − p)/(p(1 − p)) is 1/p = 1 + e⁻ᶻ of the second class and −(1 + eᶻ) of the first.
        let ahead = if y == 1 { 1.0 + (-z).exp() } else { -(1.0 + z.exp()) };
        RowInfluence {
            row,
            working_weight: two.then(|| probabilities[0] * probabilities[1]),
            working_response: two.then(|| z - likelihood.offset(row) + ahead),
            deviance: if two && y == 0 { -size } else { size },
            pearson,
            quantile: quantile_residual(&probabilities, y, drawn),
            leverage,
            cook,
            probabilities,
        }
    });
    Ok(found.collect())
}

/// `Φ⁻¹(u)` with u a share `drawn` of the way from the probability of classes before y to that of classes up to y, by the
/// nearer tail.
fn quantile_residual(p: &[f64], y: usize, drawn: f64) -> f64 {
    let below = p[..y].iter().sum::<f64>() + drawn * p[y];
    let above = p[y + 1..].iter().sum::<f64>() + (1.0 - drawn) * p[y];
    // Zero where exponentials underflow.
    let within = |tail: f64| tail.clamp(f64::MIN_POSITIVE, 0.5);
    if below <= above { normal_quantile(within(below)) } else { -normal_quantile(within(above)) }
}

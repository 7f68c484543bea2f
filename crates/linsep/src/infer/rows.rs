//! What the fit says of every row: probability, residuals, leverage, influence.

use super::covariance::leverage;
use super::likelihood::LogLikelihood;
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
}

/// The values of all rows.
pub(super) fn row_influences(
    likelihood: &LogLikelihood<'_>,
    maximum: &Maximum,
    seed: u64,
    watch: &Watch,
) -> Result<Vec<RowInfluence>> {
    let scores = likelihood.scores();
    let inverse = maximum.metric.inverse();
    let two = scores == 1;
    let parameters = likelihood.size() as f64;
    // Probabilities of the classes but the first, log p(y), leverage.
    let width = scores + 2;
    let values = likelihood.each_row(width, watch, |row, x, out| {
        let (p, rest) = out.split_at_mut(scores);
        rest[0] = likelihood.row_probabilities(&maximum.point, row, x, p);
        rest[1] = if two { leverage(&inverse, x, p[0] * (1.0 - p[0])) } else { f64::NAN };
    })?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let codes = likelihood.training().labels.codes();
    let found = values.chunks_exact(width).enumerate().map(|(row, v)| {
        let y = codes[row].index();
        let (others, log_own, h) = (&v[..scores], v[scores], v[scores + 1]);
        let first = (1.0 - others.iter().sum::<f64>()).max(0.0);
        let probabilities: Vec<f64> = std::iter::once(first).chain(others.iter().copied()).collect();
        let below: f64 = probabilities[..y].iter().sum();
        let drawn: f64 = random.random();
        let place = below + drawn * probabilities[y];
        let size = (-2.0 * log_own).max(0.0).sqrt();
        let pearson = two.then(|| {
            let (p, q) = (others[0], 1.0 - others[0]);
            if y == 1 { (q / p).sqrt() } else { -(p / q).sqrt() }
        });
        RowInfluence {
            row,
            deviance: if two && y == 0 { -size } else { size },
            pearson,
            quantile: normal_quantile(place.clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0)),
            leverage: two.then_some(h),
            cook: pearson.map(|r| r * r * h / (parameters * (1.0 - h) * (1.0 - h))),
            probabilities,
        }
    });
    Ok(found.collect())
}

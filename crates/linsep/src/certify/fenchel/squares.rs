//! Least squares: `θ = r − m` with the residuals r of the computed scores and their exact weighted mean m, so `Σsθ = 0`;
//! `FY = ½ Σ (z − t − θ)²`.

use super::{DualTask, Enclosed, ImbalanceSums, RowTerms, ScoredRows};
use crate::error::Result;
use crate::numeric::{CompensatedSum, UNIT, rounding_bound};
use crate::objective::{Loss, Squared};
use serde::{Deserialize, Serialize};

/// The mean residual of every score.
#[derive(Serialize, Deserialize)]
pub struct MeanResiduals {
    mean: Vec<f64>,
    /// How far it may be from the exact mean.
    error: Vec<f64>,
    /// Where columns are without a penalty: the mean of ½(θ − r)², r the residual.
    gain: f64,
}

impl Enclosed for Squared {
    type DualPoint = MeanResiduals;

    fn smoothness(&self) -> Option<f64> {
        Some(1.0)
    }

    fn n_imbalances(&self) -> usize {
        2 * self.n_scores() + 1
    }

    fn add_imbalance(&self, rows: &ScoredRows<'_>, row: usize, s: f64, sums: &mut [CompensatedSum]) {
        let k = self.n_scores();
        for c in 0..k {
            let residual = rows.scores[row * k + c] - self.target(rows.labels[row], c);
            sums[c].add(s * residual);
            sums[k + c].add(s * residual.abs());
        }
        sums[2 * k].add(s);
    }

    fn feasible(
        &self,
        task: &DualTask,
        sums_at: &mut dyn FnMut(&[f64]) -> Result<ImbalanceSums>,
    ) -> Result<std::result::Result<MeanResiduals, String>> {
        let k = self.n_scores();
        if !task.balanced || task.partly_best.is_some() {
            let gain = task.partly_best.map_or(0.0, |best| best.gain);
            return Ok(Ok(MeanResiduals { mean: vec![0.0; k], error: vec![0.0; k], gain }));
        }
        let sums = sums_at(&[])?.values();
        let error = |c: usize| rounding_bound(16) * sums[k + c] / sums[2 * k];
        Ok(Ok(MeanResiduals {
            mean: sums[..k].iter().map(|s| s / sums[2 * k]).collect(),
            error: (0..k).map(error).collect(),
            gain: 0.0,
        }))
    }

    /// `½(a + b)² ≤ a² + b²` of what the rows and the columns without a penalty are off.
    fn mean_term(&self, dual: &MeanResiduals) -> f64 {
        2.0 * dual.gain
    }

    fn mean_error(&self, dual: &MeanResiduals) -> f64 {
        (2.0 * dual.gain).sqrt()
    }

    fn theta(&self, rows: &ScoredRows<'_>, dual: &MeanResiduals, row: usize, theta: &mut [f64], error: &mut [f64]) {
        let k = self.n_scores();
        for c in 0..k {
            let residual = rows.scores[row * k + c] - self.target(rows.labels[row], c);
            theta[c] = residual - dual.mean[c];
            error[c] = dual.error[c] + 2.0 * UNIT * (residual.abs() + dual.mean[c].abs());
        }
    }

    fn terms(&self, rows: &ScoredRows<'_>, dual: &MeanResiduals, shrink: f64, row: usize) -> RowTerms {
        let k = self.n_scores();
        let (mut fenchel_young, mut loss_error) = (0.0, 0.0);
        for c in 0..k {
            let residual = rows.scores[row * k + c] - self.target(rows.labels[row], c);
            let error = rows.errors[row] + 2.0 * UNIT * (residual.abs() + dual.mean[c].abs());
            // z − t − κθ = (1−κ)r + κm, and the errors of z and m.
            let off = ((1.0 - shrink) * residual + shrink * dual.mean[c]).abs() + error + dual.error[c];
            fenchel_young += if dual.gain > 0.0 { off * off } else { 0.5 * off * off };
            loss_error += error * (residual.abs() + error);
        }
        RowTerms { fenchel_young, loss_error }
    }
}

//! `ℓ(y, z) = ½ Σ_k (z_k − t_k)²`, t the targets of the class.

use super::{Conjugate, CurvedLoss, Dual, DualPoint, DualRecipe, Loss, ScoredBlock};
use crate::numeric::CompensatedSum;
use crate::table::Class;

/// Least squares on class targets: one score and two targets for two classes, one-hot targets for more.
///
/// ```
/// use linsep::objective::{Loss, Squared};
/// use linsep::table::Class;
/// let mut residual = [0.0];
/// assert_eq!(Squared::two_classes([-1.0, 1.0]).block(&[Class(1)], &[3.0], None, &mut residual, None), 2.0);
/// assert_eq!(residual, [2.0]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Squared {
    classes: usize,
    targets: [f64; 2],
}

impl Squared {
    /// The targets of the first and the second class.
    pub fn two_classes(targets: [f64; 2]) -> Squared {
        Squared { classes: 2, targets }
    }

    /// A score per class that is 1 for its own rows and 0 for the others.
    pub fn one_hot(classes: usize) -> Squared {
        Squared { classes, targets: [0.0, 1.0] }
    }

    /// What a score should be for a class.
    #[inline]
    pub(crate) fn target(&self, class: Class, score: usize) -> f64 {
        if self.classes == 2 { self.targets[class.index()] } else { self.targets[usize::from(class.index() == score)] }
    }
}

impl Loss for Squared {
    fn n_scores(&self) -> usize {
        if self.classes == 2 { 1 } else { self.classes }
    }

    fn n_classes(&self) -> usize {
        self.classes
    }

    fn block(
        &self,
        labels: &[Class],
        scores: &[f64],
        weights: Option<&[f64]>,
        residual: &mut [f64],
        curvature: Option<&mut [f64]>,
    ) -> f64 {
        let k = self.n_scores();
        let mut total = 0.0;
        for (i, (z, r)) in scores.chunks_exact(k).zip(residual.chunks_exact_mut(k)).enumerate() {
            let s = weights.map_or(1.0, |w| w[i]);
            for c in 0..k {
                let error = z[c] - self.target(labels[i], c);
                total += if s == 0.0 { 0.0 } else { 0.5 * s * error * error };
                r[c] = s * error;
            }
        }
        if let Some(curvature) = curvature {
            for (i, out) in curvature.chunks_exact_mut(k * (k + 1) / 2).enumerate() {
                out.fill(0.0);
                (0..k).for_each(|c| out[c * (c + 1) / 2 + c] = weights.map_or(1.0, |w| w[i]));
            }
        }
        total
    }

    fn best_constant(&self, totals: &[f64]) -> Vec<f64> {
        let all: f64 = totals.iter().sum();
        let mean = |c: usize| {
            let targets = totals.iter().enumerate().map(|(class, t)| t * self.target(Class(class as u32), c));
            targets.sum::<f64>() / all
        };
        (0..self.n_scores()).map(mean).collect()
    }
}

impl CurvedLoss for Squared {
    fn curvature_bound(&self) -> f64 {
        1.0
    }

    /// There is no third derivative.
    fn self_concordant(&self) -> bool {
        true
    }

    fn is_quadratic(&self) -> bool {
        true
    }
}

impl Dual for Squared {
    fn dual_value(&self, class: Class, theta: &[f64]) -> f64 {
        theta.iter().enumerate().map(|(c, t)| -t * (0.5 * t + self.target(class, c))).sum()
    }
}

impl Conjugate for Squared {
    fn n_balance_sums(&self) -> usize {
        self.n_scores() + 1
    }

    /// `Σs(z − t)` of every score, and Σs.
    fn add_balance(&self, rows: ScoredBlock<'_>, sums: &mut [CompensatedSum]) {
        let k = self.n_scores();
        for i in 0..rows.labels.len() {
            (0..k).for_each(|c| sums[c].add(rows.weight(i) * self.error(&rows, i, c)));
            sums[k].add(rows.weight(i));
        }
    }

    /// `θ = z − t`, less its mean where `Σsθ` must vanish.
    fn dual_recipe(&self, balance: &[f64], balanced: bool) -> DualRecipe {
        let k = self.n_scores();
        DualRecipe::Shift(match balanced {
            true => balance[..k].iter().map(|s| s / balance[k]).collect(),
            false => vec![0.0; k],
        })
    }

    fn n_dual_sums(&self) -> usize {
        self.n_scores() + 2
    }

    fn add_dual(&self, rows: ScoredBlock<'_>, recipe: &DualRecipe, shrink: f64, sums: &mut [CompensatedSum]) {
        let (k, DualRecipe::Shift(means)) = (self.n_scores(), recipe) else { return };
        for i in 0..rows.labels.len() {
            for c in 0..k {
                let theta = shrink * (self.error(&rows, i, c) - means[c]);
                sums[c].add(rows.weight(i) * theta);
                sums[k].add(rows.weight(i) * -theta * (0.5 * theta + self.target(rows.labels[i], c)));
                if let Some(o) = rows.offsets {
                    sums[k + 1].add(rows.weight(i) * theta * o[i * k + c]);
                }
            }
        }
    }

    fn dual_point(&self, recipe: DualRecipe, _shrink: f64, _balance: &[f64], dual: &[f64]) -> DualPoint {
        let k = self.n_scores();
        DualPoint { entropy: dual[k], offset_term: dual[k + 1], recipe, total: dual[..k].to_vec() }
    }
}

impl Squared {
    fn error(&self, rows: &ScoredBlock<'_>, row: usize, score: usize) -> f64 {
        rows.scores[row * self.n_scores() + score] - self.target(rows.labels[row], score)
    }
}

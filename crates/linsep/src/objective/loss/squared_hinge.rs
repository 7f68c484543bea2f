//! `ℓ(y, z) = max(0, 1 − yz)²`, y = +1 for the second class and −1 for the first.

use super::{Conjugate, CurvedLoss, Dual, DualPoint, DualRecipe, Loss, MarginLoss, ScoredBlock, balancing, sign};
use crate::numeric::{CompensatedSum, vectorised};
use crate::table::Class;

/// The squared hinge: once differentiable, its second derivative jumps from 2 to 0 at the margin.
///
/// ```
/// use linsep::objective::{Loss, SquaredHinge};
/// use linsep::table::Class;
/// let mut slope = [0.0, 0.0];
/// assert_eq!(SquaredHinge.block(&[Class(1), Class(0)], &[0.5, -2.0], None, &mut slope, None), 0.25);
/// assert_eq!(slope, [-1.0, 0.0]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct SquaredHinge;

impl Loss for SquaredHinge {
    fn n_scores(&self) -> usize {
        1
    }

    fn n_classes(&self) -> usize {
        2
    }

    fn block(
        &self,
        labels: &[Class],
        scores: &[f64],
        weights: Option<&[f64]>,
        residual: &mut [f64],
        curvature: Option<&mut [f64]>,
    ) -> f64 {
        slopes(labels, scores, residual);
        let mut total = 0.0;
        if let Some(curvature) = curvature {
            curvature.iter_mut().zip(&*residual).for_each(|(c, r)| *c = if *r == 0.0 { 0.0 } else { 2.0 });
            if let Some(weights) = weights {
                curvature.iter_mut().zip(weights).for_each(|(c, s)| *c *= s);
            }
        }
        match weights {
            None => residual.iter().for_each(|r| total += 0.25 * r * r),
            Some(weights) => residual.iter_mut().zip(weights).for_each(|(r, s)| {
                total += if *s == 0.0 { 0.0 } else { 0.25 * s * *r * *r };
                *r *= s;
            }),
        }
        total
    }

    fn best_constant(&self, totals: &[f64]) -> Vec<f64> {
        vec![(totals[1] - totals[0]) / (totals[1] + totals[0])]
    }
}

vectorised! {
    /// `∂ℓ/∂z = −2y max(0, 1 − yz)`.
    fn slopes(labels: &[Class], scores: &[f64], slope: &mut [f64]) {
        for ((slope, class), z) in slope.iter_mut().zip(labels).zip(scores) {
            let y = f64::from(class.0).mul_add(2.0, -1.0);
            *slope = -2.0 * y * (1.0 - y * z).max(0.0);
        }
    }
}

impl CurvedLoss for SquaredHinge {
    fn curvature_bound(&self) -> f64 {
        2.0
    }
}

impl Dual for SquaredHinge {
    /// `u − u²/4` for `θ = −yu`, `u ≥ 0`.
    fn dual_value(&self, class: Class, theta: &[f64]) -> f64 {
        let u = -sign(class) * theta[0];
        if u >= 0.0 { u - 0.25 * u * u } else { f64::NEG_INFINITY }
    }
}

impl Conjugate for SquaredHinge {
    fn n_balance_sums(&self) -> usize {
        6
    }

    /// Σsu, Σsu² and Σsuo of either class, `u = 2 max(0, 1 − yz)`: the dual value is a polynomial in the scales.
    fn add_balance(&self, rows: ScoredBlock<'_>, sums: &mut [CompensatedSum]) {
        for (i, label) in rows.labels.iter().enumerate() {
            let u = 2.0 * (1.0 - sign(*label) * rows.scores[i]).max(0.0);
            let (s, class) = (rows.weight(i), label.index());
            sums[class].add(s * u);
            sums[2 + class].add(s * u * u);
            if let Some(o) = rows.offsets {
                sums[4 + class].add(s * u * o[i]);
            }
        }
    }

    /// The u of the heavier class are scaled towards zero.
    fn dual_recipe(&self, balance: &[f64], balanced: bool) -> DualRecipe {
        DualRecipe::ScaleClasses(balancing(balance[0], balance[1], balanced))
    }

    fn n_dual_sums(&self) -> usize {
        0
    }

    fn add_dual(&self, _rows: ScoredBlock<'_>, _recipe: &DualRecipe, _shrink: f64, _sums: &mut [CompensatedSum]) {}

    fn dual_point(&self, recipe: DualRecipe, shrink: f64, balance: &[f64], _dual: &[f64]) -> DualPoint {
        let scale = recipe.class_scales(shrink);
        let entropy = |class: usize| scale[class] * (balance[class] - 0.25 * scale[class] * balance[2 + class]);
        DualPoint {
            entropy: entropy(0) + entropy(1),
            offset_term: scale[0] * balance[4] - scale[1] * balance[5],
            recipe,
            total: vec![scale[0] * balance[0] - scale[1] * balance[1]],
        }
    }
}

impl MarginLoss for SquaredHinge {
    fn largest_multiplier(&self) -> f64 {
        f64::INFINITY
    }

    fn dual_curvature(&self) -> f64 {
        0.5
    }

    #[inline]
    fn at_margin(&self, margin: f64) -> f64 {
        (1.0 - margin).max(0.0).powi(2)
    }

    #[inline]
    fn slope_at(&self, slack: f64) -> f64 {
        2.0 * slack.max(0.0)
    }
}

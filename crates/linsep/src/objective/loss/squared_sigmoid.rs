//! `ℓ(y, z) = ½(σ(z) − t)²`, t = 1 for the second class and 0 for the first.

use super::{CurvedLoss, DescentLoss, Loss};
use crate::numeric::logistic_terms;
use crate::table::Class;

/// Squared error of a sigmoid output. It is not convex, so it has no conjugate and no solver for convex risks takes it.
///
/// With `p = σ(z)`, `q = 1−p`: `ℓ′ = (p−t)pq`, `ℓ″ = (pq)² + (p−t)pq(q−p)`; the second term is left out in the
/// Gauss–Newton form, which is never negative.
#[derive(Debug, Clone, Copy)]
pub struct SquaredSigmoid {
    /// Whether the curvature is that of Gauss and Newton.
    pub gauss_newton: bool,
}

impl Loss for SquaredSigmoid {
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
        let mut total = 0.0;
        let mut curvature = curvature;
        for (i, class) in labels.iter().enumerate() {
            let s = weights.map_or(1.0, |w| w[i]);
            let terms = logistic_terms(scores[i]);
            let (p, q) = (terms.p, terms.q);
            // p − t without cancellation.
            let error = if class.0 == 1 { -q } else { p };
            total += if s == 0.0 { 0.0 } else { 0.5 * s * error * error };
            residual[i] = s * error * p * q;
            if let Some(curvature) = &mut curvature {
                let second = if self.gauss_newton { 0.0 } else { error * p * q * (q - p) };
                curvature[i] = s * (p * q * p * q + second);
            }
        }
        total
    }

    fn best_constant(&self, totals: &[f64]) -> Vec<f64> {
        vec![totals[1].ln() - totals[0].ln()]
    }
}

impl CurvedLoss for SquaredSigmoid {
    /// Above max (pq)² + max |(p−t)pq(q−p)| = 1/16 + 0.0923.
    fn curvature_bound(&self) -> f64 {
        0.16
    }
}

impl DescentLoss for SquaredSigmoid {
    /// (pq)² at zero, the largest that the Gauss–Newton part can be.
    fn typical_curvature(&self) -> f64 {
        0.0625
    }

    fn with_positive_curvature(&self, positive: bool) -> SquaredSigmoid {
        SquaredSigmoid { gauss_newton: positive }
    }
}

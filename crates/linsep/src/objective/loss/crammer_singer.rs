//! `ℓ(y, z) = max_k (1{k≠y} + z_k − z_y)`, the hinge of several classes (Crammer and Singer, JMLR 2, 2001).

use super::{Dual, Loss};
use crate::table::Class;

/// Probabilities of a row may miss a sum of one by this: rounding of as many terms as classes.
const BALANCED: f64 = 1e-12;

/// The hinge of several classes: how far the own score is from leading all others by one. It has no derivative where two
/// classes share the lead, so its proofs need multipliers.
///
/// ```
/// use linsep::objective::{CrammerSinger, Dual, Loss};
/// use linsep::table::Class;
/// let loss = CrammerSinger::new(3);
/// let mut slope = [0.0; 3];
/// assert_eq!(loss.block(&[Class(0)], &[0.5, 0.0, 0.25], None, &mut slope, None), 0.75);
/// assert_eq!(slope, [-1.0, 0.0, 1.0]);
/// assert_eq!(loss.dual_value(Class(0), &[-0.5, 0.25, 0.25]), 0.5);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CrammerSinger {
    classes: usize,
}

impl CrammerSinger {
    /// For so many classes.
    pub fn new(classes: usize) -> CrammerSinger {
        CrammerSinger { classes }
    }
}

impl Loss for CrammerSinger {
    fn n_scores(&self) -> usize {
        self.classes
    }

    fn n_classes(&self) -> usize {
        self.classes
    }

    /// The residual is a subgradient: that of the first class in the lead, the own one before all others.
    fn block(
        &self,
        labels: &[Class],
        scores: &[f64],
        weights: Option<&[f64]>,
        residual: &mut [f64],
        curvature: Option<&mut [f64]>,
    ) -> f64 {
        let k = self.classes;
        residual.fill(0.0);
        let mut total = 0.0;
        for (i, class) in labels.iter().enumerate() {
            let (z, y, s) = (&scores[i * k..(i + 1) * k], class.index(), weights.map_or(1.0, |w| w[i]));
            if s == 0.0 {
                continue;
            }
            let (mut lead, mut loss) = (y, 0.0);
            for (j, score) in z.iter().enumerate().filter(|(j, _)| *j != y) {
                let behind = 1.0 + score - z[y];
                if behind > loss {
                    (lead, loss) = (j, behind);
                }
            }
            if lead != y {
                residual[i * k + lead] = s;
                residual[i * k + y] = -s;
            }
            total += s * loss;
        }
        if let Some(curvature) = curvature {
            curvature.fill(0.0);
        }
        total
    }

    fn shift_invariant(&self) -> bool {
        true
    }

    /// A class with more than half of the weight leads by one; otherwise no constant scores beat zero.
    fn best_constant(&self, totals: &[f64]) -> Vec<f64> {
        let all: f64 = totals.iter().sum();
        totals.iter().map(|t| f64::from(u8::from(2.0 * t > all))).collect()
    }
}

impl Dual for CrammerSinger {
    /// `Σ_{k≠y} p_k` for `θ = p − e_y` with probabilities p.
    fn dual_value(&self, class: Class, theta: &[f64]) -> f64 {
        let y = class.index();
        let others: f64 = theta.iter().enumerate().filter(|(k, _)| *k != y).map(|(_, t)| t).sum();
        let positive = theta.iter().enumerate().all(|(k, t)| if k == y { *t >= -1.0 } else { *t >= 0.0 });
        // Probabilities sum to one but for rounding.
        match positive && theta[y] <= 0.0 && (others + theta[y]).abs() <= BALANCED {
            true => others,
            false => f64::NEG_INFINITY,
        }
    }
}

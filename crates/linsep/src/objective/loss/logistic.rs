//! `ℓ(y, z) = log(1+e^{−yz})`, y = +1 for the second class and −1 for the first.

use super::{Conjugate, CurvedLoss, DualPoint, DualRecipe, Loss, complement_entropy_term, entropy_term};
use crate::numeric::{CompensatedSum, logistic_terms, vectorised};
use crate::table::Class;

/// The two-class logistic loss: one score, the log-odds of the second class.
///
/// ```
/// use linsep::objective::{Logistic, Loss};
/// use linsep::table::Class;
/// let mut residual = [0.0];
/// let value = Logistic.block(&[Class(1)], &[0.0], None, &mut residual, None);
/// assert!((value - 2f64.ln()).abs() < 1e-15);
/// assert_eq!(residual, [-0.5]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Logistic;

impl Loss for Logistic {
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
        let mut values = [0.0; 256];
        let mut unused = [0.0; 256];
        let mut total = 0.0;
        let mut curvature = curvature;
        for start in (0..labels.len()).step_by(256) {
            let range = start..(start + 256).min(labels.len());
            let n = range.len();
            let second = match &mut curvature {
                Some(c) => &mut c[range.clone()],
                None => &mut unused[..n],
            };
            terms(
                &labels[range.clone()],
                &scores[range.clone()],
                &mut values[..n],
                &mut residual[range.clone()],
                second,
            );
            match weights {
                None => total += values[..n].iter().sum::<f64>(),
                Some(weights) => {
                    for (i, s) in weights[range.clone()].iter().enumerate() {
                        total += if *s == 0.0 { 0.0 } else { s * values[i] };
                        residual[start + i] *= s;
                        second[i] *= s;
                    }
                }
            }
        }
        total
    }

    fn best_constant(&self, totals: &[f64]) -> Vec<f64> {
        vec![totals[1].ln() - totals[0].ln()]
    }
}

vectorised! {
    /// Loss, first and second derivative of every row.
    fn terms(labels: &[Class], scores: &[f64], loss: &mut [f64], first: &mut [f64], second: &mut [f64]) {
        let n = labels.len();
        let (scores, loss, first, second) = (&scores[..n], &mut loss[..n], &mut first[..n], &mut second[..n]);
        for i in 0..n {
            let sign = f64::from(labels[i].0).mul_add(2.0, -1.0);
            let t = logistic_terms(-sign * scores[i]);
            loss[i] = t.softplus;
            first[i] = -sign * t.p;
            second[i] = t.p * t.q;
        }
    }
}

impl CurvedLoss for Logistic {}

impl Conjugate for Logistic {
    /// `θ = −y u`, `u = σ(−yz)`, `−ℓ*(θ) = −u log u − (1−u) log(1−u)`; to make `Σsθ` vanish the u of the heavier class
    /// are scaled towards zero.
    fn dual_point(
        &self,
        labels: &[Class],
        scores: &[f64],
        weights: Option<&[f64]>,
        offsets: Option<&[f64]>,
        balanced: bool,
    ) -> DualPoint {
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let mut u = vec![0.0; labels.len()];
        let mut side = [CompensatedSum::default(); 2];
        for (i, class) in labels.iter().enumerate() {
            let z = if class.0 == 1 { scores[i] } else { -scores[i] };
            u[i] = logistic_terms(-z).p;
            side[class.index()].add(weight(i) * u[i]);
        }
        let (low, high) = (side[0].value(), side[1].value());
        let scale = match balanced {
            true if high > low => [1.0, low / high],
            true if low > high => [high / low, 1.0],
            _ => [1.0, 1.0],
        };
        let (mut entropy, mut offset_term) = (CompensatedSum::default(), CompensatedSum::default());
        for (i, class) in labels.iter().enumerate() {
            let c = scale[class.index()];
            let v = c * u[i];
            // 1 − cu = (1−u) + (1−c)u keeps the digits of 1−u.
            let z = if class.0 == 1 { scores[i] } else { -scores[i] };
            let rest = logistic_terms(z).p + (1.0 - c) * u[i];
            let smaller = v.min(rest);
            entropy.add(weight(i) * (entropy_term(smaller) + complement_entropy_term(smaller)));
            if let Some(o) = offsets {
                let sign = if class.0 == 1 { 1.0 } else { -1.0 };
                offset_term.add(-sign * weight(i) * v * o[i]);
            }
        }
        DualPoint {
            entropy: entropy.value(),
            offset_term: offset_term.value(),
            recipe: DualRecipe::ScaleClasses(scale.to_vec()),
            total: vec![scale[0] * low - scale[1] * high],
        }
    }
}

//! `ℓ(y, z) = log(1+e^{−yz})`, y = +1 for the second class and −1 for the first.

use super::{
    Conjugate, CurvedLoss, Dual, DualPoint, DualRecipe, Loss, ScoredBlock, balancing, complement_entropy_term,
    entropy_term, sign,
};
use crate::numeric::{CompensatedSum, exp, ln, logistic_terms, vectorised};
use crate::table::Class;

/// Rows evaluated together: three arrays of 2 KB stay in a first-level cache. Chosen (bench/constants.md); sums depend
/// on it in their last bits.
const BLOCK: usize = 256;
/// Below ln of the largest double, 709.8.
const LARGEST_EXPONENT: f64 = 700.0;
/// Below this `ln(1+t)` is taken as t, which is off by at most t²/2 = 5e-15. Chosen, not measured: only estimates use
/// it.
const SERIES: f64 = 1e-7;

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

    fn steepest(&self) -> Option<f64> {
        Some(1.0)
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
        let mut values = [0.0; BLOCK];
        let mut unused = [0.0; BLOCK];
        let mut total = 0.0;
        let mut curvature = curvature;
        for start in (0..labels.len()).step_by(BLOCK) {
            let range = start..(start + BLOCK).min(labels.len());
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
                None => total += sum_in_lanes(&values[..n]),
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

/// A sum in eight lanes: an eighth of the roundings in a row.
fn sum_in_lanes(values: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let chunks = values.chunks_exact(8);
    let rest: f64 = chunks.remainder().iter().sum();
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, v)| *lane += v);
    }
    lanes.iter().sum::<f64>() + rest
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

impl CurvedLoss for Logistic {
    fn curvature_bound(&self) -> f64 {
        0.25
    }

    fn self_concordant(&self) -> bool {
        true
    }
}

impl Dual for Logistic {
    fn dual_value(&self, class: Class, theta: &[f64]) -> f64 {
        match -sign(class) * theta[0] {
            u if (0.0..0.5).contains(&u) => entropy_term(u) + complement_entropy_term(u),
            u if (0.5..=1.0).contains(&u) => entropy_term(1.0 - u) + complement_entropy_term(1.0 - u),
            _ => f64::NEG_INFINITY,
        }
    }
}

impl Conjugate for Logistic {
    fn n_balance_sums(&self) -> usize {
        2
    }

    /// `Σsu` of either class, `u = σ(−yz)`.
    fn add_balance(&self, rows: ScoredBlock<'_>, sums: &mut [CompensatedSum]) {
        let mut u = vec![0.0; rows.labels.len()];
        slopes(rows.labels, rows.scores, &mut u);
        for (i, u) in u.iter().enumerate() {
            sums[rows.labels[i].index()].add(rows.weight(i) * u);
        }
    }

    /// `θ = −y u`; to make `Σsθ` vanish the u of the heavier class are scaled towards zero.
    fn dual_recipe(&self, balance: &[f64], balanced: bool) -> DualRecipe {
        DualRecipe::ScaleClasses(balancing(balance[0], balance[1], balanced))
    }

    fn n_dual_sums(&self) -> usize {
        2
    }

    /// `−ℓ*(θ) = −u log u − (1−u) log(1−u)`.
    fn add_dual(&self, rows: ScoredBlock<'_>, recipe: &DualRecipe, shrink: f64, sums: &mut [CompensatedSum]) {
        let (n, scale) = (rows.labels.len(), recipe.class_scales(shrink));
        let (mut u, mut entropy) = (vec![0.0; n], vec![0.0; n]);
        scaled_entropies(rows.labels, rows.scores, &scale, &mut u, &mut entropy);
        for i in 0..n {
            let (s, class) = (rows.weight(i), rows.labels[i]);
            sums[0].add(s * entropy[i]);
            if let Some(o) = rows.offsets {
                sums[1].add(-sign(class) * s * scale[class.index()] * u[i] * o[i]);
            }
        }
    }

    fn dual_point(&self, recipe: DualRecipe, shrink: f64, balance: &[f64], dual: &[f64]) -> DualPoint {
        let scale = recipe.class_scales(shrink);
        let total = vec![scale[0] * balance[0] - scale[1] * balance[1]];
        DualPoint { entropy: dual[0], offset_term: dual[1], recipe, total }
    }
}

vectorised! {
    /// `u = σ(−yz)`.
    fn slopes(labels: &[Class], scores: &[f64], u: &mut [f64]) {
        for ((u, class), z) in u.iter_mut().zip(labels).zip(scores) {
            let sign = f64::from(class.0).mul_add(2.0, -1.0);
            *u = logistic_terms(-sign * z).p;
        }
    }

    /// u and `−v log v − (1−v) log(1−v)` for `v = c_y u`.
    ///
    /// With the margin `m = yz`: `−log u = softplus(m)`, `−log(1−u) = softplus(−m)`, and
    /// `1−v = (1−u)(1+t)`, `t = (1−c)e⁻ᵐ`. Where t is tiny, `log(1+t) ≤ t` gives the last term a lower bound that is
    /// off by less than t²/2, and a lower bound is what a dual value may be replaced by; up to one, `log(1+t)` is
    /// `log(w)·t/(w−1)` at the rounded `w = 1+t`, which keeps its digits; beyond, `1−v` is not near one.
    fn scaled_entropies(labels: &[Class], scores: &[f64], scale: &[f64; 2], u: &mut [f64], entropy: &mut [f64]) {
        let n = labels.len();
        let (scores, u, entropy) = (&scores[..n], &mut u[..n], &mut entropy[..n]);
        // With c = 0 the term that log c belongs to is zero.
        let log = |c: f64| if c > 0.0 { c.ln() } else { 0.0 };
        let logs = [log(scale[0]), log(scale[1])];
        for i in 0..n {
            let second = f64::from(labels[i].0);
            let sign = second.mul_add(2.0, -1.0);
            let c = second.mul_add(scale[1] - scale[0], scale[0]);
            let log_c = second.mul_add(logs[1] - logs[0], logs[0]);
            let m = sign * scores[i];
            let terms = logistic_terms(m);
            let (minus_log_u, minus_log_rest) = (terms.softplus, terms.softplus_negative);
            // Beyond e⁷⁰⁰ nothing depends on it, and zero times infinity would be no number.
            let t = (1.0 - c) * exp((-m).min(LARGEST_EXPONENT));
            let rest = (1.0 - c).mul_add(terms.q, terms.p);
            u[i] = terms.q;
            let first = if terms.q > 0.0 { c * terms.q * (minus_log_u - log_c) } else { 0.0 };
            let w = if t <= 1.0 { 1.0 + t } else { rest };
            let log = ln(w);
            let last = match t {
                t if t <= SERIES => rest * (minus_log_rest - t),
                t if t <= 1.0 => rest * (minus_log_rest - log * t / (w - 1.0)),
                _ => -rest * log,
            };
            entropy[i] = first + last;
        }
    }
}

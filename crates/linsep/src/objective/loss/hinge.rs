//! `ℓ(y, z) = max(0, 1 − yz)`, y = +1 for the second class and −1 for the first.

use super::{Dual, Loss, MarginLoss, sign};
use crate::table::Class;

/// Rounding of a sum of weights relative to their total: about 500 units, so that a slope of zero is seen as one.
const ROUNDING: f64 = 1e-13;

/// The hinge of the support vector machine. It has no derivative at the margin, so smooth solvers do not take it and its
/// proofs need multipliers.
///
/// ```
/// use linsep::objective::{Dual, Hinge, Loss};
/// use linsep::table::Class;
/// let mut slope = [0.0, 0.0];
/// assert_eq!(Hinge.block(&[Class(1), Class(0)], &[0.25, -2.0], None, &mut slope, None), 0.75);
/// assert_eq!(slope, [-1.0, 0.0]);
/// assert_eq!(Hinge.dual_value(Class(1), &[-0.5]), 0.5);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Hinge;

impl Loss for Hinge {
    fn n_scores(&self) -> usize {
        1
    }

    fn n_classes(&self) -> usize {
        2
    }

    /// The residual is a subgradient: zero at the margin.
    fn block(
        &self,
        labels: &[Class],
        scores: &[f64],
        weights: Option<&[f64]>,
        residual: &mut [f64],
        curvature: Option<&mut [f64]>,
    ) -> f64 {
        let mut total = 0.0;
        for (i, class) in labels.iter().enumerate() {
            let (y, s) = (sign(*class), weights.map_or(1.0, |w| w[i]));
            let slack = 1.0 - y * scores[i];
            residual[i] = if slack > 0.0 { -s * y } else { 0.0 };
            total += if s == 0.0 { 0.0 } else { s * slack.max(0.0) };
        }
        if let Some(curvature) = curvature {
            curvature.fill(0.0);
        }
        total
    }

    fn best_constant(&self, totals: &[f64]) -> Vec<f64> {
        vec![match totals[1].total_cmp(&totals[0]) {
            std::cmp::Ordering::Less => -1.0,
            std::cmp::Ordering::Equal => 0.0,
            std::cmp::Ordering::Greater => 1.0,
        }]
    }
}

impl Dual for Hinge {
    /// u for `θ = −yu`, `0 ≤ u ≤ 1`.
    fn dual_value(&self, class: Class, theta: &[f64]) -> f64 {
        let u = -sign(class) * theta[0];
        if (0.0..=1.0).contains(&u) { u } else { f64::NEG_INFINITY }
    }
}

impl MarginLoss for Hinge {
    fn largest_multiplier(&self) -> f64 {
        1.0
    }

    fn dual_curvature(&self) -> f64 {
        0.0
    }

    #[inline]
    fn at_margin(&self, margin: f64) -> f64 {
        (1.0 - margin).max(0.0)
    }

    #[inline]
    fn slope_at(&self, slack: f64) -> f64 {
        f64::from(u8::from(slack > 0.0))
    }
}

/// All shifts b that minimise `Σ s max(0, 1 − y(z + b))`, as an interval, for rows `(y, z, s)`.
///
/// The slope starts at minus the weight of the rows of y = 1 and rises by s at the kink `y − z` of every row: the minimum is
/// a weighted quantile of the kinks, and an interval where the slope vanishes between two.
pub(crate) fn least_hinge_shifts(rows: impl Iterator<Item = (f64, f64, f64)>) -> (f64, f64) {
    let (mut kinks, mut goal, mut total) = (Vec::new(), 0.0, 0.0);
    for (y, z, s) in rows.filter(|(.., s)| *s > 0.0) {
        kinks.push((y - z, s));
        goal += if y > 0.0 { s } else { 0.0 };
        total += s;
    }
    kinks.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let rounding = ROUNDING * total;
    let mut passed = 0.0;
    for (at, (kink, weight)) in kinks.iter().enumerate() {
        passed += weight;
        if passed > goal + rounding {
            return (*kink, *kink);
        }
        if passed >= goal - rounding {
            return (*kink, kinks.get(at + 1).map_or(*kink, |next| next.0));
        }
    }
    (0.0, 0.0)
}

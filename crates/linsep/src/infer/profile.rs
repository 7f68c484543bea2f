//! Profile likelihood limits: where twice the log-likelihood, maximised over everything else, has fallen by a quantile.
//!
//! The limit of `c = aᵀθ` solves `ℓ(θ) = ℓ̂ − q/2` together with `∇ℓ ∥ a`. Both are solved at once (Venzon and Moolgavkar,
//! Applied Statistics 37, 1988): with V the inverse of the information, `P = V − Va aᵀV/aᵀVa` moves everything else and
//! In the metric of the maximum all limits advance in one pass; a limit whose likelihood is not nearly quadratic gets the
//! information at its own point.

use super::firth::crossing;
use super::likelihood::LogLikelihood;
use super::maximum::{InformationMetric, Maximum};
use super::restricted::{RestrictedGoal, Restriction, restricted_maxima};
use crate::error::Result;
use crate::linalg::dot;
use crate::watch::Watch;
use std::sync::Arc;

/// A limit has settled when its last step is below this share of a standard error. The step after it would be its square
/// or, in the metric of the maximum, some per cent of it.
const STEP: f64 = 1e-9;
/// What twice the likelihood may still gain by the other coefficients.
const GAIN: f64 = 1e-11;
/// Joint steps before a limit is searched by restricted maxima instead. Chosen (bench/constants.md): some eight
/// suffice.
const JOINT_STEPS: usize = 30;
/// Joint steps in the metric of the maximum; then a limit gets its own. Chosen (bench/constants.md): only passes depend
/// on it.
const SHARED_STEPS: usize = 3;
/// The longest joint step in standard errors: the quadratic model is not trusted further.
const LONGEST: f64 = 1.5;

/// A linear function of the coefficients.
pub(super) type Functional = Vec<f64>;

/// A limit in progress.
struct Limit<'f> {
    functional: &'f [f64],
    /// 1 for the upper, −1 for the lower limit.
    side: f64,
    point: Vec<f64>,
    metric: Arc<InformationMetric>,
    steps: usize,
    settled: bool,
    failed: bool,
}

/// Lower and upper limits of each functional: the values at which the likelihood ratio statistic is `quantile`.
pub(super) fn profile_limits(
    likelihood: &LogLikelihood<'_>,
    free: &Maximum,
    functionals: &[Functional],
    quantile: f64,
    watch: &Watch,
) -> Result<Vec<(f64, f64)>> {
    let target = free.value - 0.5 * quantile;
    let mut limits = Vec::with_capacity(2 * functionals.len());
    for functional in functionals {
        let moved = free.metric.solve(functional);
        let spread = free.metric.square(functional).sqrt();
        for side in [-1.0, 1.0] {
            let start = |(p, m): (&f64, &f64)| p + side * quantile.sqrt() * m / spread;
            limits.push(Limit {
                functional,
                side,
                point: free.point.iter().zip(&moved).map(start).collect(),
                metric: free.metric.clone(),
                steps: 0,
                settled: false,
                failed: false,
            });
        }
    }
    loop {
        let mut active: Vec<&mut Limit<'_>> = limits.iter_mut().filter(|l| !l.settled && !l.failed).collect();
        if active.is_empty() {
            break;
        }
        let (mut own, mut shared): (Vec<_>, Vec<_>) = active.iter_mut().partition(|l| l.steps >= SHARED_STEPS);
        let points: Vec<&[f64]> = shared.iter().map(|l| &l.point[..]).collect();
        let there = likelihood.at(&points, watch)?;
        for (limit, at) in shared.iter_mut().zip(there) {
            limit.advance(at.value, &at.gradient, target);
        }
        for limit in &mut own {
            let mut at = likelihood.with_information(&limit.point, watch)?;
            match at.information.take().map(|i| InformationMetric::at(likelihood, &limit.point, &i, watch)) {
                Some(Ok(metric)) => limit.metric = Arc::new(metric),
                // So far out that the information is singular up to rounding.
                _ => limit.failed = true,
            }
            limit.advance(at.value, &at.gradient, target);
        }
    }
    let mut found = Vec::with_capacity(functionals.len());
    for pair in limits.chunks_exact(2) {
        let mut ends = [0.0; 2];
        for (end, limit) in ends.iter_mut().zip(pair) {
            *end = match limit.settled {
                true => dot(limit.functional, &limit.point),
                false => searched(likelihood, free, limit, target, watch)?,
            };
        }
        found.push((ends[0], ends[1]));
    }
    Ok(found)
}

impl Limit<'_> {
    fn advance(&mut self, value: f64, gradient: &[f64], target: f64) {
        self.steps += 1;
        // With V = AᵀA, P is the projection beside Aa, between A and its transpose.
        let (direction, whitened) = (self.metric.whiten(self.functional), self.metric.whiten(gradient));
        let variance = dot(&direction, &direction);
        let slope = dot(&whitened, &direction) / variance;
        let beside: Vec<f64> = whitened.iter().zip(&direction).map(|(g, d)| g - slope * d).collect();
        // P g, and the gain of likelihood that it promises.
        let (other, moved) = (self.metric.unwhiten(&beside), self.metric.unwhiten(&direction));
        let gain = dot(&beside, &beside);
        let above = value + 0.5 * gain - target;
        // ½κh² − s h − above = 0 for the step h of c, κ = 1/variance; outwards the likelihood falls.
        let outward = -self.side * slope;
        let inside = outward * outward + 2.0 * above / variance;
        let spread = variance.sqrt();
        let h = match outward > 0.0 && inside > 0.0 {
            true => 2.0 * above / (inside.sqrt() + outward),
            // The quadratic model does not reach the value: a bounded step towards it.
            false => LONGEST * spread * above.signum(),
        };
        let h = h.clamp(-LONGEST * spread, LONGEST * spread);
        if !h.is_finite() || !gain.is_finite() || self.steps > JOINT_STEPS {
            self.failed = true;
            return;
        }
        // The step of the other coefficients is bounded likewise.
        let share = (LONGEST * LONGEST / gain.max(f64::MIN_POSITIVE)).sqrt().min(1.0);
        for ((p, o), m) in self.point.iter_mut().zip(&other).zip(&moved) {
            *p += share * o + self.side * h * m / variance;
        }
        self.settled = h.abs() <= STEP * spread && gain <= GAIN;
    }
}

/// The limit by restricted maxima alone: slower but globally convergent, since the profile is concave.
fn searched(
    likelihood: &LogLikelihood<'_>,
    free: &Maximum,
    limit: &Limit<'_>,
    target: f64,
    watch: &Watch,
) -> Result<f64> {
    let estimate = dot(limit.functional, &free.point);
    let spread = free.metric.square(limit.functional).sqrt();
    let profile = |value: f64| -> Result<f64> {
        let restriction = Restriction { rows: vec![limit.functional.to_vec()], values: vec![value] };
        Ok(restricted_maxima(likelihood, free, &[restriction], RestrictedGoal::Points, watch)?[0].value)
    };
    crossing(&profile, (estimate, free.value), limit.side * spread, target)
}

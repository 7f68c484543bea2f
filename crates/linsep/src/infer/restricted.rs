//! Maxima of the likelihood under linear restrictions, many at a time.
//!
//! A restricted maximum is found from the free one by chord (simplified Newton) steps in the metric of the information
//! there, which needs no further factorisation: near the free maximum, where tests are decided, the information hardly
//! changes, and all restricted points advance in one pass. Where that is slow a point gets its own information.

use super::likelihood::{Evaluated, LogLikelihood};
use super::maximum::{CLOSE, InformationMetric, Maximum, SETTLED, SINGULAR, STEPS, lost, rounding, taken};
use super::span::JointSpan;
use crate::error::{Error, Result};
use crate::linalg::{Factor, Square, dot, factor};
use crate::watch::Watch;
use std::sync::Arc;

/// Error that twice the log-likelihood at a restricted maximum may keep, as a share of its fall: digits beyond any that are
/// read.
const SHARE_OF_FALL: f64 = 1e-10;
/// A step in the metric of another point that leaves more than this share of the decrement is slow. Chosen, not measured:
/// only the number of passes depends on it.
const SLOW: f64 = 0.05;
/// A step is short that is expected to raise twice the log-likelihood by no more than this, a thirtieth of a standard error.
const SHORT: f64 = 1e-3;

/// Linear restrictions `R θ = r`, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Restriction {
    /// The rows of R.
    pub rows: Vec<Vec<f64>>,
    /// r.
    pub values: Vec<f64>,
}

impl Restriction {
    /// The number of restrictions.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// `R θ − r`.
    pub fn excess(&self, point: &[f64]) -> Vec<f64> {
        self.rows.iter().zip(&self.values).map(|(row, value)| dot(row, point) - value).collect()
    }
}

/// Orthonormal vectors that are orthogonal to some, and with them span everything.
fn orthogonal_complement(rows: &[Vec<f64>], n: usize) -> Vec<Vec<f64>> {
    /// What is left of a vector that depends on the others is rounding below this.
    const DEPENDENT: f64 = 1e-7;
    let mut all: Vec<Vec<f64>> = Vec::with_capacity(n);
    let unit = |j: usize| (0..n).map(|i| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
    let mut taken = 0;
    for (at, mut v) in rows.iter().cloned().chain((0..n).map(unit)).enumerate() {
        if all.len() == n {
            break;
        }
        let length = dot(&v, &v).sqrt();
        // Gram–Schmidt, twice.
        for _ in 0..2 {
            for q in &all {
                let along = dot(q, &v);
                v.iter_mut().zip(q).for_each(|(v, q)| *v -= along * q);
            }
        }
        let left = dot(&v, &v).sqrt();
        if left > DEPENDENT * length {
            v.iter_mut().for_each(|v| *v /= left);
            all.push(v);
            taken += usize::from(at < rows.len());
        }
    }
    all.split_off(taken)
}

/// What of restricted maxima is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RestrictedGoal {
    /// The likelihood there, whose error is of second order in that of the point.
    Values,
    /// The point itself.
    Points,
}

/// A maximum under restrictions.
#[derive(Debug, Clone)]
pub(super) struct RestrictedMaximum {
    pub point: Vec<f64>,
    pub value: f64,
}

/// A metric under a restriction: steps that keep `R θ`.
pub(super) struct Restrained<'r> {
    restriction: &'r Restriction,
    metric: Arc<InformationMetric>,
    /// Of the rows of R.
    rows: JointSpan,
    /// Of the rows of R times the A of the metric: what is orthogonal to it keeps `R θ`.
    whitened: JointSpan,
    /// An orthonormal basis of what the restrictions leave free, and the factor of the information in it.
    within: Option<(Vec<Vec<f64>>, Factor)>,
}

impl<'r> Restrained<'r> {
    pub fn new(restriction: &'r Restriction, metric: Arc<InformationMetric>) -> Result<Restrained<'r>> {
        let twice = || {
            Error::usage("the restrictions of a test say the same thing twice, or contradict each other")
                .help("leave one of them out")
        };
        let rows = JointSpan::of(&restriction.rows).ok_or_else(twice)?;
        let whitened: Vec<Vec<f64>> = restriction.rows.iter().map(|row| metric.whiten(row)).collect();
        let whitened = JointSpan::of(&whitened).ok_or_else(twice)?;
        Ok(Restrained { restriction, metric, rows, whitened, within: None })
    }

    /// With steps in what the restrictions leave free: where the metric is long along a restriction, steps in it that are cut
    /// back to the restriction cancel.
    fn stepping_within(mut self, information: &Square) -> Restrained<'r> {
        let basis = orthogonal_complement(&self.restriction.rows, information.n());
        let moved: Vec<Vec<f64>> = basis.iter().map(|z| information.multiply(z)).collect();
        let within = factor(&Square::from_lower(basis.len(), |i, j| dot(&basis[i], &moved[j])), SINGULAR);
        // Of columns that nearly coincide the metric knows more than the information does.
        if within.aliased().is_empty() && within.smallest_pivot() >= CLOSE {
            self.within = Some((basis, within));
        }
        self
    }

    /// The point nearest in the metric that satisfies the restrictions.
    pub fn nearest(&self, point: &[f64]) -> Vec<f64> {
        let away = self.whitened.vector(&self.whitened.coordinates(&self.restriction.excess(point)), point.len());
        let mut nearest: Vec<f64> = point.iter().zip(self.metric.unwhiten(&away)).map(|(p, a)| p - a).collect();
        // No step moves what rounding left of the excess, twice large numbers that cancel: it is taken off here.
        for _ in 0..2 {
            let left = self.rows.coordinates(&self.restriction.excess(&nearest));
            let away = self.rows.vector(&left, point.len());
            nearest.iter_mut().zip(&away).for_each(|(p, a)| *p -= a);
        }
        nearest
    }

    /// `(Rθ − r)ᵀ (R V Rᵀ)⁻¹ (Rθ − r)`: Wald's statistic.
    pub fn distance(&self, point: &[f64]) -> f64 {
        self.whitened.distance(&self.restriction.excess(point))
    }

    /// The Newton step within the restrictions, and its decrement squared.
    ///
    /// At the maximum the gradient is `Rᵀμ`, with multipliers that may be a billion times what is left of it beside them: that
    /// part moves nothing and is taken off first, so that nothing cancels.
    pub fn step(&self, gradient: &[f64]) -> (Vec<f64>, f64) {
        let mut rest = gradient.to_vec();
        self.rows.take_off(&mut rest);
        if let Some((basis, within)) = &self.within {
            let free: Vec<f64> = basis.iter().map(|z| dot(z, &rest)).collect();
            let lengths = within.solve(&free);
            let mut step = vec![0.0; rest.len()];
            for (length, z) in lengths.iter().zip(basis) {
                step.iter_mut().zip(z).for_each(|(s, z)| *s += length * z);
            }
            return (step, dot(&lengths, &free));
        }
        let mut white = self.metric.whiten(&rest);
        self.whitened.take_off(&mut white);
        let mut step = self.metric.unwhiten(&white);
        self.rows.take_off(&mut step);
        (step, dot(&white, &white))
    }
}

/// A restricted maximum in progress.
struct Moving<'r> {
    restrained: Restrained<'r>,
    point: Vec<f64>,
    /// The start of the last step, the value there, the step and the fraction of it taken.
    before: Option<(Vec<f64>, f64, Vec<f64>, f64)>,
    decrement: f64,
    /// The share of the decrement that the last step left; at first Wald's statistic, of which the step to the restriction
    /// left the first decrement.
    left: f64,
    /// Whether the last step but one was fast.
    was_fast: bool,
    slow: bool,
    /// Whether the metric is that of the point where the last step began.
    renewed: bool,
    found: Option<RestrictedMaximum>,
}

/// The maxima under each of the restrictions, in passes for all of them together.
pub(super) fn restricted_maxima(
    likelihood: &LogLikelihood<'_>,
    free: &Maximum,
    restrictions: &[Restriction],
    wanted: RestrictedGoal,
    watch: &Watch,
) -> Result<Vec<RestrictedMaximum>> {
    let mut moving = Vec::with_capacity(restrictions.len());
    for restriction in restrictions {
        let restrained = Restrained::new(restriction, free.metric.clone())?;
        let point = restrained.nearest(&free.point);
        moving.push(Moving {
            point,
            before: None,
            decrement: f64::INFINITY,
            left: restrained.distance(&free.point).recip(),
            restrained,
            was_fast: false,
            slow: false,
            renewed: false,
            found: None,
        });
    }
    for _ in 0..STEPS {
        let mut active: Vec<&mut Moving<'_>> = moving.iter_mut().filter(|m| m.found.is_none()).collect();
        if active.is_empty() {
            break;
        }
        let points: Vec<&[f64]> = active.iter().map(|m| &m.point[..]).collect();
        let there = likelihood.at(&points, watch)?;
        for (one, at) in active.iter_mut().zip(there) {
            one.advance(at, (free.value, wanted));
        }
        for one in active.iter_mut().filter(|m| m.slow && m.found.is_none()) {
            one.renew(likelihood, watch)?;
        }
    }
    moving.into_iter().map(|m| m.found.ok_or_else(lost)).collect()
}

impl Moving<'_> {
    /// The next point, by what the likelihood is at this one, and what its free maximum.
    fn advance(&mut self, at: Evaluated, (top, wanted): (f64, RestrictedGoal)) {
        if let Some((from, value, step, share)) = &mut self.before
            && (!at.value.is_finite() || at.value < *value - rounding(*value))
            && *share > 1e-9
        {
            // The step overshot: half of it, and the information is renewed next time.
            *share *= 0.5;
            self.point = from.iter().zip(step.iter()).map(|(p, s)| p + *share * s).collect();
            self.slow = !self.renewed;
            return;
        }
        let (step, decrement) = self.restrained.step(&at.gradient);
        let next: Vec<f64> = self.point.iter().zip(&step).map(|(p, s)| p + s).collect();
        // The rate of the last step predicts the decrement after the next one, which saves an evaluation. A single fast step
        // says nothing: where rows of large weight became certain on the way, the metric is too short in what is left.
        let is_fast = decrement >= 0.0 && decrement <= SLOW * self.decrement;
        let left = match self.decrement.is_finite() {
            true => decrement / self.decrement,
            false => decrement * self.left,
        };
        let before = std::mem::replace(&mut self.left, left);
        let was_fast = std::mem::replace(&mut self.was_fast, is_fast);
        let settled = self.decrement <= SHORT && decrement.abs() <= SETTLED;
        let predicted = match wanted {
            RestrictedGoal::Points => decrement * left <= SETTLED,
            // The metric differs from that of the point by about the root of what its steps leave, and so does the
            // decrement from the gain.
            RestrictedGoal::Values => {
                let error = decrement * left.max(before).sqrt();
                error <= SETTLED.max(SHARE_OF_FALL * 2.0 * (top - at.value))
            }
        };
        if settled || (is_fast && was_fast && predicted) {
            self.found = Some(RestrictedMaximum { point: next, value: at.value + 0.5 * decrement });
            return;
        }
        self.slow = !is_fast;
        self.decrement = decrement.abs();
        let from = std::mem::replace(&mut self.point, next);
        self.before = Some((from, at.value, step, 1.0));
        self.renewed = false;
    }

    /// Recomputes the information at the current point.
    fn renew(&mut self, likelihood: &LogLikelihood<'_>, watch: &Watch) -> Result<()> {
        let Some((from, ..)) = &self.before else { return Ok(()) };
        let mut found = likelihood.with_information(from, watch)?;
        let information = taken(&mut found)?;
        let metric = InformationMetric::at(likelihood, from, &information, watch)?;
        let restrained = Restrained::new(self.restrained.restriction, Arc::new(metric))?;
        self.restrained = restrained.stepping_within(&information);
        let (step, _) = self.restrained.step(&found.gradient);
        self.point = from.iter().zip(&step).map(|(p, s)| p + s).collect();
        self.before = Some((from.clone(), found.value, step, 1.0));
        (self.slow, self.renewed, self.was_fast) = (false, true, false);
        Ok(())
    }
}

//! Gradient descent, for `min F(W,b)` with a ridge, or without a penalty where the caller proves what was found.
//!
//! `v ← v − η ∇F`. With a fixed step, `η = 0.95/λ̂`: λ̂ is the largest eigenvalue of `c X̃ᵀSX̃/Σs + λI`, c the largest
//! curvature of the loss, estimated from below by power iteration, and any `η < 2/λ_max` converges. With a line search
//! every step starts at twice the last one and is halved until F falls by Armijo's rule, on cached scores. With a given
//! step it is the textbook's rule, which may be too long: then F need not fall, and the descent ends where numbers do.
//!
//! Nocedal and Wright, *Numerical Optimization*, 3.1.

use crate::error::Result;
use crate::objective::{Coef, Conjugate, Detail, Intercept, Penalty, Risk};
use crate::solve::smooth::Descent;
use crate::solve::{PerceptronSteps, Solved, Solver, Stop};
use crate::watch::Watch;

/// Share of the step 1/λ̂: power iteration approaches the largest eigenvalue from below, and descent needs a step below
/// 2/λ̂.
const SAFE_STEP: f64 = 0.95;
/// Relative rounding of the objective: about 5 units.
const OBJECTIVE_ROUNDING: f64 = 1e-15;
/// Power iterations at most. Chosen, out of reach of bench/constants.md: with the last estimate the step may be too
/// long, and the descent then says that it stalled.
const POWER_ROUNDS: usize = 100;
/// Power iterations at least: an early standstill may be that of a smaller eigenvalue. Chosen, out of reach of
/// bench/constants.md.
const POWER_LEAST: usize = 10;
/// Relative change at which the estimate of the largest eigenvalue has settled; [`POWER_MARGIN`] covers the rest.
const POWER_SETTLED: f64 = 1e-4;
/// The estimate is from below; this raises it. Chosen, out of reach of bench/constants.md.
const POWER_MARGIN: f64 = 1.02;

/// How long a step is.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum StepRule {
    /// As long as a line search finds it.
    #[default]
    LineSearch,
    /// The reciprocal of the largest curvature.
    Fixed,
    /// This number, times what it is to be multiplied by from step to step.
    Given(f64, PerceptronSteps),
}

/// Gradient descent.
#[derive(Debug, Clone)]
pub struct GradientDescent {
    /// Stop when the relative gap is at most this.
    pub tolerance: f64,
    /// Stop after this many steps.
    pub max_iterations: usize,
    /// How long a step is.
    pub rule: StepRule,
}

impl<L: Conjugate + Clone> Solver<Risk<'_, L>> for GradientDescent {
    type Scores = Vec<f64>;

    fn solve(&self, risk: &Risk<'_, L>, start: Option<&Coef>, watch: &Watch) -> Result<Solved> {
        let mut descent = Descent::with_or_without_penalty("gradient-descent", risk, start, watch)?;
        let ended = match &self.rule {
            StepRule::Fixed => self.fixed(&mut descent),
            StepRule::Given(step, steps) => self.given(&mut descent, *step, steps),
            StepRule::LineSearch => self.searched(&mut descent),
        };
        descent.finish(ended)
    }
}

impl GradientDescent {
    fn fixed<L: Conjugate + Clone>(&self, descent: &mut Descent<'_, Risk<'_, L>>) -> Result<Stop> {
        let step = SAFE_STEP / largest_curvature(descent)?;
        loop {
            if let Some(stop) = descent.stops(self.tolerance, self.max_iterations)? {
                return Ok(stop);
            }
            let trial = descent.point.coef.moved(-step, &descent.point.gradient);
            let next = descent.risk.at(&trial, Detail::Gradient, descent.watch)?;
            descent.passes += 1;
            descent.accept(next, step);
        }
    }

    fn given<L: Conjugate + Clone>(
        &self,
        descent: &mut Descent<'_, Risk<'_, L>>,
        first: f64,
        steps: &PerceptronSteps,
    ) -> Result<Stop> {
        for t in 1.. {
            let step = first * steps.along_gradient(t);
            descent.is_patient();
            if let Some(stop) = descent.stops(self.tolerance, self.max_iterations)? {
                return Ok(stop);
            }
            let trial = descent.point.coef.moved(-step, &descent.point.gradient);
            let next = descent.risk.at(&trial, Detail::Gradient, descent.watch)?;
            descent.passes += 1;
            if !(next.objective.is_finite() && next.gradient.dot(&next.gradient).is_finite()) {
                // The steps diverged: the last finite point is the answer.
                return Ok(Stop::PrecisionLimit);
            }
            descent.accept(next, step);
        }
        Ok(Stop::IterationLimit)
    }

    fn searched<L: Conjugate + Clone>(&self, descent: &mut Descent<'_, Risk<'_, L>>) -> Result<Stop> {
        let mut step = 1.0;
        loop {
            if let Some(stop) = descent.stops(self.tolerance, self.max_iterations)? {
                return Ok(stop);
            }
            let (risk, point) = (descent.risk, &descent.point);
            let norm = point.gradient.dot(&point.gradient);
            let line = risk.along(&point.gradient, descent.watch)?;
            let rounding = OBJECTIVE_ROUNDING * point.objective.abs();
            step *= 2.0;
            while risk.on_line(point, &line, -step) > point.objective - 0.5 * step * norm + rounding {
                step *= 0.5;
                if step * norm.sqrt() < f64::MIN_POSITIVE {
                    return Ok(Stop::PrecisionLimit);
                }
            }
            let next = risk.at(&point.coef.moved(-step, &point.gradient), Detail::Gradient, descent.watch)?;
            descent.passes += 2;
            descent.accept(next, step);
        }
    }
}

/// λ̂ of the module's text.
pub(super) fn largest_curvature<L: Conjugate + Clone>(descent: &mut Descent<'_, Risk<'_, L>>) -> Result<f64> {
    let (risk, watch) = (descent.risk, descent.watch);
    let (k, cols) = (risk.loss().n_scores(), risk.n_cols());
    let bound = risk.loss().curvature_bound() / risk.total_weight();
    // A start with parts along all directions: no two coefficients alike.
    let mut v = Coef::zeros(k, cols);
    v.as_mut_slice().iter_mut().enumerate().for_each(|(i, v)| *v = 1.0 + 0.1 * ((i * 7919) % 101) as f64 / 101.0);
    let mut value = 0.0;
    for round in 0..POWER_ROUNDS {
        let length = v.dot(&v).sqrt();
        let unit = Coef::zeros(k, cols).moved(length.recip(), &v);
        let line = risk.along(&unit, watch)?;
        let mut scores = line.scores().to_vec();
        if let Some(weights) = risk.sample().weights {
            scores.chunks_exact_mut(k).zip(weights).for_each(|(z, s)| z.iter_mut().for_each(|z| *z *= s));
        }
        let (sums, totals) = risk.weighted_sums(&scores, watch)?;
        descent.passes += 2;
        v = Coef::zeros(k, cols);
        for (i, (v, s)) in v.weights_mut().iter_mut().zip(&sums).enumerate() {
            *v = bound * s + risk.penalty().ridge_of(i % cols) * unit.weights()[i];
        }
        if risk.intercept() != Intercept::None {
            let ridge = if risk.intercept() == Intercept::Penalised { risk.penalty().ridge() } else { 0.0 };
            let intercepts = v.intercept_mut().iter_mut().zip(&totals).zip(unit.intercept());
            intercepts.for_each(|((v, t), u)| *v = bound * t + ridge * u);
        }
        let next = unit.dot(&v);
        // An early standstill may be that of a smaller eigenvalue.
        if round >= POWER_LEAST && (next - value).abs() <= POWER_SETTLED * next {
            return Ok(POWER_MARGIN * next);
        }
        value = next;
    }
    Ok(POWER_MARGIN * value)
}

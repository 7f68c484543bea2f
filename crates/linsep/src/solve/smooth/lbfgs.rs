//! Limited-memory BFGS, for `min F(W,b)` with a ridge.
//!
//! The direction is `−B∇F`, B built from the last m pairs of steps and gradient changes on top of the inverse diagonal of
//! the first Hessian, so that columns on very different scales need no extra iterations. Step 1 is tried by a pass that
//! also gives the next gradient; where it fails, Armijo's rule and the curvature condition are searched for on cached
//! scores.
//!
//! Liu and Nocedal 1989; Nocedal and Wright, *Numerical Optimization*, 7.2.

use super::descent::Descent;
use crate::error::Result;
use crate::objective::line_search::DECREASE;
use crate::objective::{Coef, Detail, Point, Ridge, Smooth};
use crate::solve::{Solved, Solver, Stop};
use crate::watch::Watch;
use std::collections::VecDeque;

/// Limited-memory BFGS.
#[derive(Debug, Clone, Copy)]
pub struct Lbfgs {
    /// Stop when the relative gap is at most this.
    pub tolerance: f64,
    /// Stop after this many iterations.
    pub max_iterations: usize,
    /// Pairs kept.
    pub memory: usize,
}

impl Default for Lbfgs {
    fn default() -> Lbfgs {
        Lbfgs { tolerance: 1e-8, max_iterations: 1000, memory: 10 }
    }
}

/// Wolfe's curvature condition, with the usual constant for quasi-Newton directions (Nocedal and Wright 2006, section 3.1).
const CURVATURE: f64 = 0.9;
/// A pair whose cosine is below this has no curvature up to rounding: about 50 units.
const NO_CURVATURE: f64 = 1e-14;
/// Relative rounding of the objective: about 5 units.
const OBJECTIVE_ROUNDING: f64 = 1e-15;
/// Doublings and bisections at most: more than the 53 bits of a double.
const BISECTIONS: usize = 60;
/// Relative length of the difference that estimates a slope: of the order of the fourth root of the unit roundoff.
const AHEAD: f64 = 1e-4;

impl<P: Smooth<Penalty = Ridge>> Solver<P> for Lbfgs {
    type Scores = P::Scores;

    fn solve(&self, risk: &P, start: Option<&Coef>, watch: &Watch) -> Result<Solved<P::Scores>> {
        let mut descent = Descent::new("lbfgs", risk, start, watch)?;
        let ended = self.iterate(&mut descent);
        descent.finish(ended)
    }
}

impl Lbfgs {
    fn iterate<P: Smooth>(&self, descent: &mut Descent<'_, P>) -> Result<Stop> {
        let mut memory = Memory::new(self.memory, descent)?;
        loop {
            if let Some(stop) = descent.stops(self.tolerance, self.max_iterations)? {
                return Ok(stop);
            }
            let mut direction = memory.direction(&descent.point.gradient);
            if descent.point.gradient.dot(&direction) >= 0.0 {
                memory.pairs.clear();
                direction = memory.direction(&descent.point.gradient);
            }
            let Some((next, step)) = search(descent, &direction)? else {
                if memory.pairs.is_empty() {
                    return Ok(Stop::PrecisionLimit);
                }
                memory.pairs.clear();
                continue;
            };
            memory.remember(&descent.point, &next);
            descent.accept(next, step);
        }
    }
}

/// The pairs, newest last, and the inverse diagonal below them.
struct Memory {
    limit: usize,
    pairs: VecDeque<CurvaturePair>,
    inverse: Coef,
}

struct CurvaturePair {
    step: Coef,
    change: Coef,
    /// `1/step·change`.
    rho: f64,
}

impl Memory {
    fn new<P: Smooth>(limit: usize, descent: &mut Descent<'_, P>) -> Result<Memory> {
        let mut inverse = descent.risk.hessian_diagonal(&descent.point, descent.watch)?;
        descent.passes += 1;
        inverse.as_mut_slice().iter_mut().for_each(|d| *d = if *d > 0.0 { d.recip() } else { 0.0 });
        Ok(Memory { limit: limit.max(1), pairs: VecDeque::new(), inverse })
    }

    /// The two loops.
    fn direction(&self, gradient: &Coef) -> Coef {
        let mut q = gradient.clone();
        let mut alphas = Vec::with_capacity(self.pairs.len());
        for pair in self.pairs.iter().rev() {
            let alpha = pair.rho * pair.step.dot(&q);
            q.add_scaled(-alpha, &pair.change);
            alphas.push(alpha);
        }
        let size = self.pairs.back().map_or(1.0, |pair| {
            let change = pair.change.as_slice().iter().zip(self.inverse.as_slice());
            (pair.rho * change.map(|(y, d)| y * d * y).sum::<f64>()).recip()
        });
        q.as_mut_slice().iter_mut().zip(self.inverse.as_slice()).for_each(|(q, d)| *q *= d * size);
        for (pair, alpha) in self.pairs.iter().zip(alphas.iter().rev()) {
            let beta = pair.rho * pair.change.dot(&q);
            q.add_scaled(alpha - beta, &pair.step);
        }
        q.as_mut_slice().iter_mut().for_each(|q| *q = -*q);
        q
    }

    fn remember<S>(&mut self, from: &Point<S>, to: &Point<S>) {
        let step = to.coef.moved(-1.0, &from.coef);
        let change = to.gradient.moved(-1.0, &from.gradient);
        let product = step.dot(&change);
        // A pair without curvature, up to rounding, would spoil the others.
        if product > NO_CURVATURE * (step.dot(&step) * change.dot(&change)).sqrt() {
            if self.pairs.len() == self.limit {
                self.pairs.pop_front();
            }
            self.pairs.push_back(CurvaturePair { step, change, rho: product.recip() });
        }
    }
}

/// The next point and the step to it; `None` where no step lowers the objective.
fn search<P: Smooth>(descent: &mut Descent<'_, P>, direction: &Coef) -> Result<Option<(Point<P::Scores>, f64)>> {
    let (risk, watch) = (descent.risk, descent.watch);
    let slope = descent.point.gradient.dot(direction);
    let objective = descent.point.objective;
    let rounding = OBJECTIVE_ROUNDING * objective.abs();
    let enough = |value: f64, step: f64| value <= objective + DECREASE * step * slope + rounding;
    let whole = risk.at(&descent.point.coef.moved(1.0, direction), Detail::Gradient, watch)?;
    descent.passes += 1;
    if enough(whole.objective, 1.0) && whole.gradient.dot(direction) >= CURVATURE * slope {
        return Ok(Some((whole, 1.0)));
    }
    let line = risk.along(direction, watch)?;
    descent.passes += 1;
    let (mut low, mut high, mut step) = (0.0, f64::INFINITY, 1.0f64);
    let mut decreases = None;
    for _ in 0..BISECTIONS {
        // The slope by a difference: far from precise, but it only decides whether to go on.
        let ahead = AHEAD * step;
        let values = risk.on_line(&descent.point, &line, &[step, step + ahead])?;
        if enough(values[0], step) {
            decreases = Some(step);
            if (values[1] - values[0]) / ahead >= CURVATURE * slope {
                break;
            }
            low = step;
        } else {
            high = step;
        }
        step = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * step };
    }
    let Some(step) = decreases else { return Ok(None) };
    let next = risk.at(&descent.point.coef.moved(step, direction), Detail::Gradient, watch)?;
    descent.passes += 1;
    Ok(Some((next, step)))
}

//! Gradient descent on a quadratic.
//!
//! `v ← v − η (H v − g)` with `η = 0.95/λ̂`, λ̂ the largest eigenvalue of H by power iteration. λ̂ is at most λ_max, and the
//! iteration converges for any `η < 2/λ_max`, so an estimate short by a few percent does no harm. From zero it ends at
//! the solution of least length where there are many.

use crate::certify::{Certificate, quadratic_gap};
use crate::linalg::{Factor, Square, dot};
use crate::objective::QuadraticObjective;
use crate::solve::Stop;
use crate::watch::{Progress, Watch};

/// Gradient descent with a fixed step, on a quadratic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuadraticDescent {
    /// Stop when the relative gap is at most this.
    pub tolerance: f64,
    /// Stop after this many steps.
    pub max_iterations: usize,
}

/// Where descent ended.
#[derive(Debug, Clone)]
pub struct DescentEnd {
    /// One vector per score.
    pub solutions: Vec<Vec<f64>>,
    /// Why it stopped.
    pub stop: Stop,
    /// Steps taken.
    pub iterations: usize,
}

/// Steps without a smaller gap after which only rounding moves. Chosen (bench/constants.md): smaller values may end the
/// descent early.
const PATIENCE: usize = 100;
/// Share of the step 1/λ̂: power iteration approaches the largest eigenvalue from below, and descent needs a step below
/// 2/λ̂.
const SAFE_STEP: f64 = 0.95;
/// Power iterations at most. Chosen (bench/constants.md): the last estimate is used.
const POWER_ROUNDS: usize = 200;
/// Relative change at which the estimate of the largest eigenvalue has settled; [`SAFE_STEP`] covers the rest.
const POWER_SETTLED: f64 = 1e-6;

impl QuadraticDescent {
    /// Descends from `start`, where the objective is `at_start`; `factor` is that of the Hessian, for the certificate
    /// only.
    pub fn solve(
        &self,
        problem: &QuadraticObjective,
        factor: &Factor,
        start: Vec<Vec<f64>>,
        at_start: f64,
        watch: &Watch,
    ) -> DescentEnd {
        let step = SAFE_STEP / largest_eigenvalue(&problem.hessian).max(f64::MIN_POSITIVE);
        let (mut point, base) = (start.clone(), change(problem, &start));
        let (mut best, mut smallest, mut since) = (start, f64::INFINITY, 0);
        let mut iteration = 0;
        loop {
            let gap = quadratic_gap(problem, factor, &point, at_start, at_start);
            let Certificate::Quadratic { gap, relative_gap, .. } = gap else {
                return DescentEnd { solutions: best, stop: Stop::PrecisionLimit, iterations: iteration };
            };
            since += 1;
            if gap < smallest {
                (smallest, since) = (gap, 0);
                best.clone_from(&point);
            }
            let stop = if relative_gap <= self.tolerance {
                Some(Stop::Converged)
            } else if since > PATIENCE {
                Some(Stop::PrecisionLimit)
            } else if iteration == self.max_iterations {
                Some(Stop::IterationLimit)
            } else {
                watch.halted().map(|halt| Stop::halted(Some(halt)))
            };
            if let Some(stop) = stop {
                return DescentEnd { solutions: best, stop, iterations: iteration };
            }
            for (score, v) in point.iter_mut().enumerate() {
                let gradient = problem.gradient(score, v);
                v.iter_mut().zip(&gradient).for_each(|(v, g)| *v -= step * g);
            }
            iteration += 1;
            watch.report(Progress::Iteration {
                solver: "gradient-descent",
                iteration,
                objective: at_start + change(problem, &point) - base,
                relative_gap: Some(relative_gap),
            });
        }
    }
}

/// `Σ_t ½ vᵀHv − g·v`.
fn change(problem: &QuadraticObjective, point: &[Vec<f64>]) -> f64 {
    let one = |(score, v): (usize, &Vec<f64>)| {
        let terms = problem.gradient(score, v).into_iter().zip(v.iter().zip(&problem.linear[score]));
        0.5 * terms.map(|(r, (v, g))| v * (r - g)).sum::<f64>()
    };
    point.iter().enumerate().map(one).sum()
}

/// The largest eigenvalue of a positive semidefinite matrix, from below, by power iteration.
fn largest_eigenvalue(h: &Square) -> f64 {
    // No start without a part along the eigenvector sought is likely: the diagonal, plus different small parts.
    let mut v: Vec<f64> = h.diagonal().iter().enumerate().map(|(i, d)| d * (1.0 + 0.1 / (i + 1) as f64)).collect();
    let mut value = 0.0;
    for _ in 0..POWER_ROUNDS {
        let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length == 0.0 || !length.is_finite() {
            break;
        }
        v.iter_mut().for_each(|x| *x /= length);
        let product = h.multiply(&v);
        let next = dot(&v, &product);
        v = product;
        if (next - value).abs() <= POWER_SETTLED * next {
            return next;
        }
        value = next;
    }
    value
}

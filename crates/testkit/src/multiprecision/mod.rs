//! The multiprecision twin: the problems of risk minimisers, solved slowly in 400 bits on the doubles that the library saw.
//!
//! Centre, scale, λ, weights and offsets are taken as the exact doubles that a model stores; `x̂ = (x − c)/σ` and everything
//! after it is 400-bit arithmetic with exponents that do not run out. A claim of the library is then compared with the
//! truth without any tolerance. The twin need not be optimal to refute one: any point at all whose objective is lower than
//! a claim allows is a counterexample.
//!
//! - [`Real`]: the numbers, with exp and log;
//! - [`Problem`]: an objective as the library states it, and its value at the stored model;
//! - [`minimise`]: Newton's method on orthants for smooth losses, an interior point method for hinges;
//! - [`refute`]: every claim of a certificate against what the twin found.

mod claims;
mod elementary;
mod interior;
mod loss;
mod newton;
mod problem;
mod real;
mod solve;

pub use claims::{Claim, Refuted, refute};
pub use loss::Loss;
pub use problem::Problem;
pub use real::Real;
pub use solve::symmetric_solve;

/// The best point that the twin found.
#[derive(Debug, Clone)]
pub struct Optimum {
    /// Weights and intercepts in the order of [`Problem`].
    pub point: Vec<Real>,
    /// F there.
    pub objective: Real,
    /// How far F may be from the optimum, by the Newton decrement or by complementarity; tiny where it converged.
    pub residual: Real,
    /// Whether the residual is below 1e-50 of the objective.
    pub converged: bool,
    /// Unknowns whose value the problem does not determine.
    pub undetermined: Vec<usize>,
    /// Iterations taken.
    pub iterations: usize,
}

/// Minimises a problem from a start, which may be anything finite.
pub fn minimise(problem: &Problem, start: &[Real], max_iterations: usize) -> Optimum {
    match problem.loss() {
        Loss::Hinge | Loss::CrammerSinger => interior::minimise(problem, start, max_iterations),
        _ => newton::minimise(problem, start, max_iterations),
    }
}

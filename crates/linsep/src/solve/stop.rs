//! Why a solver stopped, which is an answer, and what it returns.

use crate::certify::{Certificate, Separation};
use crate::error::Result;
use crate::linalg::Alias;
use crate::objective::{Coef, Loss, Penalty, Point, Risk};
use crate::watch::{Halt, Progress, Watch};

/// Why a solver stopped.
#[must_use]
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// The certificate reached the tolerance.
    Converged,
    /// The iteration limit came first.
    IterationLimit,
    /// The time limit came first.
    TimeLimit,
    /// The caller cancelled.
    Interrupted,
    /// Rounding allows no further decrease, short of the tolerance.
    PrecisionLimit,
    /// Without a penalty the optimum does not exist: here is the direction.
    Separated(Box<Separation>),
}

impl Stop {
    pub(super) fn halted(halt: Option<Halt>) -> Stop {
        match halt {
            Some(Halt::Deadline) => Stop::TimeLimit,
            _ => Stop::Interrupted,
        }
    }
}

/// Tells the observer where a solver is.
pub(super) fn report_point<S>(watch: &Watch, solver: &str, iteration: usize, point: &Point<S>, step: f64) {
    watch.report(Progress::Point {
        solver,
        iteration,
        objective: point.objective,
        gradient: point.gradient.dot(&point.gradient).sqrt(),
        step,
        coefficients: point.coef.as_slice(),
    });
}

/// One iteration, for the trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Objective after the iteration.
    pub objective: f64,
    /// Relative bound on the suboptimality, where it was computed.
    pub relative_gap: Option<f64>,
    /// Step length taken.
    pub step: f64,
}

/// What a solver returns: the point, why it stopped, its proof and its trace.
#[derive(Debug, Clone)]
pub struct Solved<S = Vec<f64>> {
    /// The last point.
    pub point: Point<S>,
    /// Why it stopped.
    pub stop: Stop,
    /// The bound at that point.
    pub certificate: Certificate,
    /// One entry per iteration.
    pub trace: Vec<Step>,
    /// Passes over the full features.
    pub passes: usize,
    /// Columns that are linear combinations of others: without a penalty they were left out.
    pub aliased: Vec<Alias>,
}

/// What a solver of a support vector machine returns: also the multipliers, which the coefficients do not determine.
#[derive(Debug, Clone)]
pub struct MarginSolved {
    /// Where.
    pub coef: Coef,
    /// F.
    pub objective: f64,
    /// One multiplier a row, feasible for the dual problem.
    pub multipliers: Vec<f64>,
    /// The intercepts that are as good for these weights, where the intercept is free; the middle was taken.
    pub intercepts: Option<(f64, f64)>,
    /// Why it stopped.
    pub stop: Stop,
    /// The gap between the two.
    pub certificate: Certificate,
    /// One entry per iteration.
    pub trace: Vec<Step>,
    /// Passes over the full features.
    pub passes: usize,
}

impl MarginSolved {
    /// Nothing found yet.
    pub(super) fn at_zero<L: Loss, P: Penalty>(risk: &Risk<'_, L, P>) -> MarginSolved {
        MarginSolved {
            coef: risk.start(),
            objective: risk.null_objective(),
            multipliers: vec![0.0; risk.sample().labels.len()],
            intercepts: None,
            stop: Stop::Interrupted,
            certificate: Certificate::Absent { reason: "stopped before anything was proved".into() },
            trace: Vec::new(),
            passes: 0,
        }
    }

    /// Takes over what was found if its gap is the best so far; returns the gap.
    pub(super) fn offer(
        &mut self,
        coef: Coef,
        objective: f64,
        multipliers: Vec<f64>,
        intercepts: Option<(f64, f64)>,
        certificate: Certificate,
    ) -> Option<f64> {
        let found = certificate.relative_gap();
        if let Some(last) = self.trace.last_mut() {
            (last.objective, last.relative_gap) = (objective, found);
        }
        let before = self.certificate.relative_gap();
        if before.is_none() || found.is_some_and(|found| before.is_some_and(|before| found <= before)) {
            (self.coef, self.objective, self.certificate) = (coef, objective, certificate);
            (self.multipliers, self.intercepts) = (multipliers, intercepts);
        }
        found
    }
}

/// A solver for problems `P`; what it needs of the problem are the bounds of its impl.
///
/// Newton's method needs curvature, so a loss without it does not compile:
///
/// ```compile_fail
/// use linsep::objective::{Hinge, Risk};
/// use linsep::solve::{Newton, Solver};
/// fn fit(risk: &Risk<'_, Hinge>) {
///     let _ = Newton::default().solve(risk, None, &Default::default());
/// }
/// ```
///
/// With a loss that has it, or with a solver that needs none, the same compiles:
///
/// ```
/// use linsep::objective::{Hinge, Risk, SquaredHinge};
/// use linsep::solve::{InteriorPoint, Newton, Solver};
/// fn fit(risk: &Risk<'_, SquaredHinge>, other: &Risk<'_, Hinge>) {
///     let _ = Newton::default().solve(risk, None, &Default::default());
///     let _ = InteriorPoint { tolerance: 1e-8, max_iterations: 100 }.solve(other, &Default::default());
/// }
/// ```
pub trait Solver<P: ?Sized> {
    /// The scores of the last point, or what stands for them where the rows are elsewhere.
    type Scores;

    /// Runs from `start` (or a start of the solver's own) until the certificate, a limit or the watch stops it.
    fn solve(&self, problem: &P, start: Option<&Coef>, watch: &Watch) -> Result<Solved<Self::Scores>>;
}

//! What the first-order methods share: a point, its trace and the certificate that stops them.

use super::forecast::gap_forecast;
use crate::certify::{Certificate, duality_gap};
use crate::error::{Error, ErrorKind, Result};
use crate::objective::{Coef, Detail, Penalty, Point, Smooth};
use crate::solve::stop::report_point;
use crate::solve::{Solved, Step, Stop};
use crate::watch::{Progress, Watch};
use crate::words::{Setting, words};

/// Iterations without a lower objective or gradient after which only rounding moves. Chosen (bench/constants.md): a
/// smaller value may end a first-order method early as `PrecisionLimit`.
const PATIENCE: usize = 20;

/// A descent under way.
pub(in crate::solve) struct Descent<'r, P: Smooth> {
    pub(in crate::solve) risk: &'r P,
    pub(in crate::solve) watch: &'r Watch,
    pub(in crate::solve) point: Point<P::Scores>,
    pub(in crate::solve) passes: usize,
    trace: Vec<Step>,
    certificate: Option<Certificate>,
    solver: &'static str,
    reference: f64,
    /// The smallest objective and gradient so far, and iterations since one of them fell.
    best: (f64, f64),
    since: usize,
}

impl<'r, P: Smooth> Descent<'r, P> {
    /// At the start; without a penalty there is no proof for these methods.
    pub(in crate::solve) fn new(
        solver: &'static str,
        risk: &'r P,
        start: Option<&Coef>,
        watch: &'r Watch,
    ) -> Result<Self> {
        if risk.penalty().is_none() {
            return Err(Error::usage(format!("{solver} cannot prove that the optimum exists without a penalty"))
                .help(words!["use ", Setting::Solver.is("newton")])
                .help("use a ridge penalty"));
        }
        Descent::with_or_without_penalty(solver, risk, start, watch)
    }

    /// The same for methods whose caller proves what they found by other means where there is no penalty.
    pub(in crate::solve) fn with_or_without_penalty(
        solver: &'static str,
        risk: &'r P,
        start: Option<&Coef>,
        watch: &'r Watch,
    ) -> Result<Self> {
        let start = start.cloned().unwrap_or_else(|| risk.start());
        let point = risk.at(&start, Detail::Gradient, watch)?;
        let best = (point.objective, point.gradient.dot(&point.gradient));
        report_point(watch, solver, 0, &point, 0.0);
        Ok(Descent {
            risk,
            watch,
            point,
            passes: 1,
            trace: Vec::new(),
            certificate: None,
            solver,
            reference: risk.null_objective(),
            best,
            since: 0,
        })
    }

    /// Whether to stop: proved good enough, out of iterations, or stuck.
    pub(in crate::solve) fn stops(&mut self, tolerance: f64, max_iterations: usize) -> Result<Option<Stop>> {
        let scale = self.reference.max(self.point.objective.abs());
        let mut gap = None;
        if self.risk.penalty().is_none() {
            // Only a reason to stop: what was reached the caller proves or not.
            if self.point.gradient.dot(&self.point.gradient).sqrt() <= tolerance * scale {
                return Ok(Some(Stop::Converged));
            }
        } else if gap_forecast(self.risk, &self.point) <= 2.0 * tolerance * scale {
            let certificate = duality_gap(self.risk, &self.point, self.watch)?;
            gap = certificate.relative_gap();
            self.certificate = Some(certificate);
        }
        if let Some(last) = self.trace.last_mut() {
            last.relative_gap = gap;
        }
        self.watch.report(Progress::Iteration {
            solver: self.solver,
            iteration: self.trace.len(),
            objective: self.point.objective,
            relative_gap: gap,
        });
        if gap.is_some_and(|gap| gap <= tolerance) {
            return Ok(Some(Stop::Converged));
        }
        if self.trace.len() >= max_iterations {
            return Ok(Some(Stop::IterationLimit));
        }
        Ok((self.since > PATIENCE).then_some(Stop::PrecisionLimit))
    }

    /// Whether only rounding moves is not asked any more: the steps are the user's, and may well rise for a while.
    pub(in crate::solve) fn is_patient(&mut self) {
        self.since = 0;
    }

    /// Moves on.
    pub(in crate::solve) fn accept(&mut self, next: Point<P::Scores>, step: f64) {
        let norm = next.gradient.dot(&next.gradient);
        self.since += 1;
        if next.objective < self.best.0 || norm < self.best.1 {
            self.best = (self.best.0.min(next.objective), self.best.1.min(norm));
            self.since = 0;
        }
        self.point = next;
        self.certificate = None;
        self.trace.push(Step { objective: self.point.objective, relative_gap: None, step });
        report_point(self.watch, self.solver, self.trace.len(), &self.point, step);
    }

    /// The result; a halt of the watch is an answer, too.
    pub(in crate::solve) fn finish(mut self, ended: Result<Stop>) -> Result<Solved<P::Scores>> {
        let stop = match ended {
            Ok(stop) => stop,
            Err(error) if error.kind() == ErrorKind::Interrupted => Stop::halted(self.watch.halted()),
            Err(error) => return Err(error),
        };
        let certificate = match self.certificate.take() {
            Some(certificate) => certificate,
            None if self.risk.penalty().is_none() => {
                Certificate::Absent { reason: "without a penalty these steps prove nothing by themselves".into() }
            }
            None => duality_gap(self.risk, &self.point, &Watch::default())?,
        };
        let Descent { point, trace, passes, .. } = self;
        Ok(Solved { point, stop, certificate, trace, passes, aliased: Vec::new() })
    }
}

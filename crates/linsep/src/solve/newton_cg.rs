//! Truncated Newton, for `min F(W,b)` with a ridge and more coefficients than a Hessian can be formed for.
//!
//! `H d ≈ −∇F` by conjugate gradients with a Jacobi preconditioner, stopped at `‖r‖ ≤ min(0.1, √‖∇F‖/‖∇F₀‖)·‖∇F‖` in the
//! preconditioner's norm (superlinear convergence: Dembo, Eisenstat and Steihaug 1982); Armijo steps on cached scores.

use super::{Solved, Solver, Step, Stop};
use crate::certify::{Certificate, duality_gap};
use crate::error::{Error, ErrorKind, Result};
use crate::objective::{Coef, Conjugate, Detail, Penalty, Point, Risk};
use crate::watch::{Progress, Watch};

/// Truncated Newton by conjugate gradients.
#[derive(Debug, Clone, Copy)]
pub struct NewtonCg {
    /// Stop when the relative gap is at most this.
    pub tolerance: f64,
    /// Stop after this many outer iterations.
    pub max_iterations: usize,
}

/// Conjugate gradient steps per outer iteration at most.
const INNER_LIMIT: usize = 250;

struct Run<'r, 'd, L> {
    risk: &'r Risk<'d, L>,
    watch: &'r Watch,
    point: Point,
    certificate: Option<Certificate>,
    trace: Vec<Step>,
    passes: usize,
    first_norm: f64,
}

impl<L: Conjugate> Solver<Risk<'_, L>> for NewtonCg {
    fn solve(&self, risk: &Risk<'_, L>, start: Option<&Coef>, watch: &Watch) -> Result<Solved> {
        if risk.penalty().is_none() {
            return Err(Error::usage(format!(
                "without a penalty {} coefficients are too many for the proof that the optimum exists",
                risk.loss().n_scores() * (risk.n_cols() + 1)
            ))
            .help("use a ridge penalty, or fewer columns"));
        }
        let start = start.cloned().unwrap_or_else(|| risk.start());
        let point = risk.at(&start, Detail::Gradient, watch)?;
        let first_norm = point.gradient.dot(&point.gradient).sqrt();
        let mut run = Run { risk, watch, point, certificate: None, trace: Vec::new(), passes: 1, first_norm };
        let stop = match run.iterate(self) {
            Ok(stop) => stop,
            Err(error) if error.kind() == ErrorKind::Interrupted => Stop::halted(watch.halted()),
            Err(error) => return Err(error),
        };
        let certificate = match run.certificate.take() {
            Some(certificate) => certificate,
            None => duality_gap(risk, &run.point, &Watch::default())?,
        };
        let Run { point, trace, passes, .. } = run;
        Ok(Solved { point, stop, certificate, trace, passes, aliased: Vec::new() })
    }
}

impl<L: Conjugate> Run<'_, '_, L> {
    fn iterate(&mut self, limits: &NewtonCg) -> Result<Stop> {
        loop {
            let certificate = duality_gap(self.risk, &self.point, self.watch)?;
            let gap = certificate.relative_gap();
            self.certificate = Some(certificate);
            if let Some(last) = self.trace.last_mut() {
                last.relative_gap = gap;
            }
            self.watch.report(Progress::Iteration {
                solver: "newton-cg",
                iteration: self.trace.len(),
                objective: self.point.objective,
                relative_gap: gap,
            });
            if gap.is_some_and(|gap| gap <= limits.tolerance) {
                return Ok(Stop::Converged);
            }
            if self.trace.len() >= limits.max_iterations {
                return Ok(Stop::IterationLimit);
            }
            let direction = self.direction()?;
            if !self.advance(&direction)? {
                return Ok(Stop::PrecisionLimit);
            }
        }
    }

    /// Preconditioned conjugate gradients on `H d = −∇F`.
    fn direction(&mut self) -> Result<Coef> {
        let diagonal = self.risk.hessian_diagonal(&self.point, self.watch)?;
        self.passes += 1;
        let (k, cols) = (self.point.coef.n_scores(), self.point.coef.n_cols());
        let precondition = |r: &Coef| {
            let values = r.as_slice().iter().zip(diagonal.as_slice()).map(|(r, d)| r / d.max(f64::MIN_POSITIVE));
            Coef::from_vec(values.collect(), k, cols)
        };
        let mut direction = Coef::zeros(k, cols);
        let mut residual = direction.moved(-1.0, &self.point.gradient);
        let mut scaled = precondition(&residual);
        let mut search = scaled.clone();
        let mut rho = residual.dot(&scaled);
        let relative = (self.point.gradient.dot(&self.point.gradient).sqrt() / self.first_norm).sqrt().min(0.1);
        let goal = relative * relative * rho;
        for _ in 0..INNER_LIMIT {
            let product = self.risk.hess_vec(&self.point, &search, self.watch)?;
            self.passes += 1;
            let curvature = search.dot(&product);
            if curvature.is_nan() || curvature <= 0.0 {
                break;
            }
            let step = rho / curvature;
            direction = direction.moved(step, &search);
            residual = residual.moved(-step, &product);
            scaled = precondition(&residual);
            let next = residual.dot(&scaled);
            if next <= goal {
                break;
            }
            search = scaled.moved(next / rho, &search);
            rho = next;
        }
        Ok(direction)
    }

    fn advance(&mut self, direction: &Coef) -> Result<bool> {
        let slope = self.point.gradient.dot(direction);
        let line = self.risk.along(direction, self.watch)?;
        self.passes += 1;
        let rounding = 1e-14 * self.point.objective.abs();
        let mut step = 1.0;
        while self.risk.on_line(&self.point, &line, step) > self.point.objective + 1e-4 * step * slope + rounding {
            step *= 0.5;
            if step < 1e-10 {
                return Ok(false);
            }
        }
        let next = self.risk.at(&self.point.coef.moved(step, direction), Detail::Gradient, self.watch)?;
        self.passes += 1;
        let stuck = next.coef == self.point.coef
            || (next.objective >= self.point.objective
                && next.gradient.dot(&next.gradient) >= self.point.gradient.dot(&self.point.gradient));
        if stuck {
            return Ok(false);
        }
        self.point = next;
        self.certificate = None;
        self.trace.push(Step { objective: self.point.objective, relative_gap: None, step });
        Ok(true)
    }
}

//! Truncated Newton in a trust region, for `min F(W,b)` with a ridge and more coefficients than a Hessian can be formed for.
//!
//! `H d ≈ −∇F` by conjugate gradients with a preconditioner M, stopped at
//! `‖r‖ ≤ min(0.1, √(‖∇F‖/‖∇F₀‖))·‖∇F‖` in the norm of M⁻¹ (superlinear convergence: Dembo, Eisenstat and Steihaug 1982) or
//! where `‖d‖_M` reaches the radius (Steihaug 1983; Toint 1981). The radius follows the quality of the quadratic model.
//!
//! Nocedal and Wright, *Numerical Optimization*, 4.1 and 7.1.

mod precondition;

use super::forecast::gap_forecast;
use super::part::RowPart;
use crate::certify::{Certificate, duality_gap};
use crate::error::{Error, ErrorKind, Result};
use crate::objective::{Coef, Conjugate, Detail, Loss, Penalty, Point, Ridge, Risk, Smooth, first_accepted};
use crate::solve::{Solved, Solver, Step, Stop};
use crate::watch::{Progress, Watch};
use precondition::Preconditioner;

/// Truncated Newton by conjugate gradients.
#[derive(Debug, Clone, Copy)]
pub struct NewtonCg {
    /// Stop when the relative gap is at most this.
    pub tolerance: f64,
    /// Stop after this many outer iterations.
    pub max_iterations: usize,
}

/// Conjugate gradient steps per outer iteration at most. Chosen (bench/constants.md): a truncated step is still a
/// descent step.
const INNER_LIMIT: usize = 250;
/// A step is taken where the objective falls by at least this share of the prediction: Armijo's constant, see
/// `line_search`.
const WORTHWHILE: f64 = 1e-4;
/// Ratio of actual to predicted decrease above which the trust region grows (Nocedal and Wright 2006, section 4.1).
const GOOD: f64 = 0.75;
/// More conjugate gradient steps than this are worth a new preconditioner. Chosen (bench/constants.md): only the time
/// depends on it.
const SLOW: usize = 6;
/// A relative change of the objective by this much makes a preconditioner stale. Chosen (bench/constants.md).
const STALE: f64 = 0.02;
/// From so many rows on, a part of them gives the start. Chosen (bench/constants.md): only the time depends on it.
const MANY_ROWS: usize = 16_384;
/// The start is solved on one row in so many, most of the way at an eighth of the cost. Chosen, out of reach of
/// bench/constants.md.
const PART: usize = 8;
/// Precision of the start: beyond it the sample differs from the rows. Chosen, not measured.
const ROUGH: NewtonCg = NewtonCg { tolerance: 3e-3, max_iterations: 20 };
/// Forcing term: the residual of a Newton system relative to the gradient is at most this. Chosen (bench/constants.md).
const FORCING: f64 = 0.1;
/// Share of the residual that the tolerance allows, to which the last system is solved. Chosen (bench/constants.md).
const NEEDED: f64 = 0.2;
/// Relative rounding of the objective: about 50 units.
const OBJECTIVE_ROUNDING: f64 = 1e-14;
/// A decrease this many times the rounding is resolved by the objective; below it the gradient decides.
const RESOLVED: f64 = 1e3;
/// Below this a step no longer changes the coefficients by more than rounding.
const SHORTEST: f64 = 1e-12;

struct NewtonCgRun<'r, P: Smooth> {
    risk: &'r P,
    watch: &'r Watch,
    point: Point<P::Scores>,
    preconditioner: Preconditioner,
    /// The radius in the norm of the preconditioner; none before the first step.
    radius: f64,
    certificate: Option<Certificate>,
    trace: Vec<Step>,
    passes: usize,
    first_norm: Option<f64>,
    reference: f64,
    /// Conjugate gradient steps of the last direction.
    inner: usize,
    /// The objective where the preconditioner was made.
    refreshed_at: f64,
}

/// A step, what the model foretells of it, and its length.
struct Trial {
    direction: Coef,
    decrease: f64,
    length: f64,
    at_boundary: bool,
}

impl<P: Smooth<Penalty = Ridge>> Solver<P> for NewtonCg {
    type Scores = P::Scores;

    fn solve(&self, risk: &P, start: Option<&Coef>, watch: &Watch) -> Result<Solved<P::Scores>> {
        if risk.penalty().is_none() {
            return Err(Error::usage(format!(
                "without a penalty {} coefficients are too many for the proof that the optimum exists",
                risk.loss().n_scores() * (risk.n_cols() + 1)
            ))
            .help("use a ridge penalty")
            .help("use fewer columns"));
        }
        let start = match (start, risk.rows_here()) {
            (Some(start), _) => start.clone(),
            (None, Some(rows)) => self.start_on_some_rows(rows, watch)?,
            (None, None) => risk.start(),
        };
        let point = risk.at(&start, Detail::Gradient, watch)?;
        let mut run = NewtonCgRun {
            risk,
            watch,
            preconditioner: Preconditioner::at(risk, &point, watch)?,
            refreshed_at: point.objective,
            point,
            radius: f64::INFINITY,
            certificate: None,
            trace: Vec::new(),
            passes: 2,
            first_norm: None,
            reference: risk.null_objective(),
            inner: 0,
        };
        let stop = match run.iterate(self) {
            Ok(stop) => stop,
            Err(error) if error.kind() == ErrorKind::Interrupted => Stop::halted(watch.halted()),
            Err(error) => return Err(error),
        };
        let certificate = match run.certificate.take() {
            Some(certificate) => certificate,
            None => duality_gap(risk, &run.point, &Watch::default())?,
        };
        let NewtonCgRun { point, trace, passes, .. } = run;
        Ok(Solved { point, stop, certificate, trace, passes, aliased: Vec::new() })
    }
}

impl NewtonCg {
    /// The solution on every eighth of many dense rows, roughly: most of the way at an eighth of the cost.
    fn start_on_some_rows<L: Conjugate + Clone>(&self, risk: &Risk<'_, L>, watch: &Watch) -> Result<Coef> {
        let (n, k) = (risk.sample().labels.len(), risk.loss().n_scores());
        if n < MANY_ROWS || risk.is_sparse() {
            return Ok(risk.start());
        }
        let rows: Vec<usize> = (0..n).step_by(PART).collect();
        let part = RowPart::of(risk.sample(), k, &rows)?;
        let some = part.risk(risk.sample(), risk.loss().clone(), risk.penalty().clone(), risk.intercept());
        if some.class_totals().contains(&0.0) {
            return Ok(risk.start());
        }
        Ok(ROUGH.solve(&some, Some(&some.start()), watch)?.point.coef)
    }
}

impl<P: Smooth<Penalty = Ridge>> NewtonCgRun<'_, P> {
    fn iterate(&mut self, limits: &NewtonCg) -> Result<Stop> {
        loop {
            if self.certified(limits.tolerance)? {
                return Ok(Stop::Converged);
            }
            if self.trace.len() >= limits.max_iterations {
                return Ok(Stop::IterationLimit);
            }
            let trial = self.direction(limits.tolerance)?;
            if !self.advance(&trial)? {
                return Ok(Stop::PrecisionLimit);
            }
            self.refresh()?;
        }
    }

    /// A new preconditioner where the old one was slow and the curvature has changed since.
    fn refresh(&mut self) -> Result<()> {
        let changed = (self.refreshed_at - self.point.objective).abs() > STALE * self.point.objective.abs();
        if (self.inner > SLOW && changed) || !self.preconditioner.is_factored() {
            self.preconditioner = Preconditioner::at(self.risk, &self.point, self.watch)?;
            self.refreshed_at = self.point.objective;
            self.passes += 1;
        }
        Ok(())
    }

    fn certified(&mut self, tolerance: f64) -> Result<bool> {
        let scale = self.reference.max(self.point.objective.abs());
        let mut gap = None;
        if gap_forecast(self.risk, &self.point) <= 2.0 * tolerance * scale {
            let certificate = duality_gap(self.risk, &self.point, self.watch)?;
            gap = certificate.relative_gap();
            self.certificate = Some(certificate);
        }
        if let Some(last) = self.trace.last_mut() {
            last.relative_gap = gap;
        }
        self.watch.report(Progress::Iteration {
            solver: "newton-cg",
            iteration: self.trace.len(),
            objective: self.point.objective,
            relative_gap: gap,
        });
        Ok(gap.is_some_and(|gap| gap <= tolerance))
    }

    /// Preconditioned conjugate gradients on `H d = −∇F` inside the trust region.
    fn direction(&mut self, tolerance: f64) -> Result<Trial> {
        let (k, cols) = (self.point.coef.n_scores(), self.point.coef.n_cols());
        let mut direction = Coef::zeros(k, cols);
        let mut residual = direction.moved(-1.0, &self.point.gradient);
        let mut scaled = self.precondition(&residual);
        let mut search = scaled.clone();
        let mut rho = residual.dot(&scaled);
        let first = *self.first_norm.get_or_insert(rho.sqrt());
        if self.radius.is_infinite() {
            self.radius = rho.sqrt();
        }
        // No further than the tolerance needs: the decrease still to come is about ρ/2.
        let scale = self.reference.max(self.point.objective.abs());
        let needed = NEEDED * (tolerance * scale / rho).sqrt();
        let relative = (rho.sqrt() / first).sqrt().min(FORCING).max(needed.min(FORCING));
        let goal = relative * relative * rho;
        // ‖d‖², d·p and ‖p‖² in the norm of M, by recurrence.
        let (mut dd, mut dp, mut pp) = (0.0, 0.0, rho);
        let (mut decrease, mut at_boundary) = (0.0, false);
        self.inner = 0;
        for _ in 0..INNER_LIMIT {
            self.inner += 1;
            let product = self.risk.hess_vec(&self.point, &search, self.watch)?;
            self.passes += 1;
            let curvature = search.dot(&product);
            if curvature.is_nan() {
                break;
            }
            let mut step = if curvature > 0.0 { rho / curvature } else { f64::INFINITY };
            if dd + step * (2.0 * dp + step * pp) >= self.radius * self.radius {
                let rest = (self.radius * self.radius - dd).max(0.0);
                step = ((dp * dp + pp * rest).sqrt() - dp) / pp;
                at_boundary = true;
            }
            direction.add_scaled(step, &search);
            decrease += step * (rho - 0.5 * step * curvature);
            dd += step * (2.0 * dp + step * pp);
            if at_boundary {
                break;
            }
            residual.add_scaled(-step, &product);
            scaled = self.precondition(&residual);
            let next = residual.dot(&scaled);
            if next <= goal {
                break;
            }
            let ratio = next / rho;
            search = scaled.moved(ratio, &search);
            dp = ratio * (dp + step * pp);
            pp = next + ratio * ratio * pp;
            rho = next;
        }
        Ok(Trial { direction, decrease, length: dd.max(0.0).sqrt(), at_boundary })
    }

    /// A common shift of all scores costs penalty and changes no loss, so no direction needs one.
    fn precondition(&self, residual: &Coef) -> Coef {
        let mut projected = residual.clone();
        self.risk.centre_scores(&mut projected);
        let mut scaled = self.preconditioner.solve(&projected);
        self.risk.centre_scores(&mut scaled);
        scaled
    }

    /// Takes the step, or where the model was wrong as much of it as a search on cached scores finds worthwhile; false where
    /// nothing is.
    fn advance(&mut self, trial: &Trial) -> Result<bool> {
        let (risk, objective) = (self.risk, self.point.objective);
        let rounding = OBJECTIVE_ROUNDING * objective.abs();
        let mut step = 1.0;
        let mut next = risk.at(&self.point.coef.moved(1.0, &trial.direction), Detail::Gradient, self.watch)?;
        self.passes += 1;
        let quality = (objective - next.objective) / trial.decrease;
        // Near the optimum the decrease drowns in rounding; there the gradient decides.
        let by_gradient = trial.decrease < RESOLVED * rounding
            && next.objective < objective + rounding
            && next.gradient.dot(&next.gradient) < 0.25 * self.point.gradient.dot(&self.point.gradient);
        if quality > GOOD && trial.at_boundary {
            self.radius = 4.0 * trial.length;
        }
        if !(quality >= WORTHWHILE || by_gradient) {
            if trial.decrease.is_nan() || trial.decrease < rounding {
                return Ok(false);
            }
            let line = risk.along(&trial.direction, self.watch)?;
            let halves = std::iter::successors(Some(1.0), |s| Some(0.5 * s)).take_while(|s| *s >= SHORTEST);
            let worthwhile = |step: f64, value: f64| !(value > objective - WORTHWHILE * step * trial.decrease);
            match first_accepted(risk, &self.point, &line, halves, worthwhile)? {
                Some(found) => step = found,
                None => return Ok(false),
            }
            next = risk.at(&self.point.coef.moved(step, &trial.direction), Detail::Gradient, self.watch)?;
            self.passes += 2;
            self.radius = step.max(0.25) * trial.length;
        }
        if next.coef == self.point.coef {
            return Ok(false);
        }
        self.point = next;
        self.certificate = None;
        self.trace.push(Step { objective: self.point.objective, relative_gap: None, step });
        Ok(true)
    }
}

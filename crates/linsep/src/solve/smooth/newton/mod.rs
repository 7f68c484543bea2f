//! Damped Newton with a Cholesky factor, for `min F(W,b)` with moderately many coefficients.
//!
//! `H d = −∇F`, step 1 where it decreases F enough (Armijo 1e-4); else, with a penalty, H is damped, and without one the
//! step is halved on cached scores. Undamped this is iteratively reweighted least squares. Four economies, none of which touches the answer because the certificate
//! judges it:
//! - the start is the solution on every m-th row;
//! - a step short enough that H hardly changes reuses the factor (a chord step), saving the products;
//! - where steps shorten slowly because a few rows move far, those rows are kept exact (see `far_rows`);
//! - the gap is evaluated only when `‖∇F‖²/2λ`, its value for a balanced dual point, says it may suffice.
//!
//! Without a penalty nearly collinear columns make H singular to working precision long before rounding hides them: then the
//! same iteration runs on orthonormal combinations of the columns (see `collinear`), and its last steps go on until the
//! decrement is a small part of a standard error.
//!
//! Boyd and Vandenberghe, *Convex Optimization*, 9.5; Kelley, *Solving Nonlinear Equations with Newton's Method*, 2.3.

mod collinear;
mod damping;
mod far_rows;
mod separation;
mod settled;
mod start;

use super::forecast::gap_forecast;
use crate::certify::{Certificate, CurvatureRows, Separation, StoredScores, duality_gap, self_concordance_bound};
use crate::error::{ErrorKind, Result};
use crate::linalg::{Alias, Factor, Square, factor};
use crate::objective::line_search::DECREASE;
use crate::objective::{Coef, Detail, Intercept, Penalty, Point, Ridge, Smooth};
use crate::solve::stop::report_point;
use crate::solve::{Solved, Solver, Step, Stop};
use crate::watch::{Progress, Watch};
use damping::FIRST_DAMPING;
use separation::Looks;

/// On the unit-diagonal scale, a pivot below this may be rounding of a Gram matrix: a combination of earlier columns.
const SUSPECT_PIVOT: f64 = 1e-11;
/// Up to so many columns, collinear ones are named under a penalty, by one more factor. Chosen, not measured.
const NAMED_COLUMNS: usize = 500;
/// Pivots on the unit-diagonal scale below this are rounding: about 5 units.
const ROUNDING_PIVOT: f64 = 1e-15;
/// Steps beyond the tolerance for the sake of printed digits: from 1e-8 quadratic convergence needs two at most.
const LAST_STEPS: usize = 3;
/// Newton decrement below which the Hessian changes by a tenth or so over the step: scores move by about 2ν.
const CHORD_DECREMENT: f64 = 0.05;
/// Relative rounding of the objective, with room for many rows: about 500 units.
const ROUNDING: f64 = 1e-13;
/// A decrease this many times the rounding is resolved by the objective; below it the gradient decides.
const RESOLVED: f64 = 1e3;
/// Quadratic convergence lowers the decrement by far more than to this share of the last one.
const SLOW: f64 = 0.1;
/// Contraction by a full step after which a chord step is expected to contract too. Chosen (bench/constants.md).
const CHORDS_PAY: f64 = 0.02;

/// Damped Newton.
#[derive(Debug, Clone, Copy)]
pub struct Newton {
    /// Stop when the relative gap is at most this.
    pub tolerance: f64,
    /// Stop after this many iterations.
    pub max_iterations: usize,
}

impl Default for Newton {
    fn default() -> Newton {
        Newton { tolerance: 1e-8, max_iterations: 100 }
    }
}

impl<P: Smooth<Penalty = Ridge> + CurvatureRows> Solver<P> for Newton {
    type Scores = P::Scores;

    fn solve(&self, risk: &P, start: Option<&Coef>, watch: &Watch) -> Result<Solved<P::Scores>> {
        let mut solved = self.solve_unproved(risk, start, watch)?;
        if risk.penalty().is_none() && !matches!(solved.stop, Stop::Separated(_)) {
            let bound = self_concordance_bound(risk, &solved.point.coef, StoredScores::AsFitted, &Watch::default())?;
            solved.certificate = match bound.aliased.iter().all(|alias| alias.exact) {
                true => bound.certificate,
                // Proved for the model without them, which is another risk.
                false => Certificate::Absent { reason: "columns were left out that may not be combinations".into() },
            };
            solved.stop = self.judged(solved.stop, &solved.certificate);
            if let Some(last) = solved.trace.last_mut() {
                last.relative_gap = solved.certificate.relative_gap();
            }
        }
        Ok(solved)
    }
}

impl Newton {
    /// The same without the bound of a risk that has no penalty.
    pub(crate) fn solve_unproved<P: Smooth<Penalty = Ridge>>(
        &self,
        risk: &P,
        start: Option<&Coef>,
        watch: &Watch,
    ) -> Result<Solved<P::Scores>> {
        self.solve_looking(risk, start, Looks::Patiently, watch)
    }

    fn solve_looking<P: Smooth<Penalty = Ridge>>(
        &self,
        risk: &P,
        start: Option<&Coef>,
        looks: Looks,
        watch: &Watch,
    ) -> Result<Solved<P::Scores>> {
        let mut start = match (start, risk.rows_here()) {
            (Some(start), _) => start.clone(),
            (None, Some(rows)) => match start::subsample_start(rows, watch)? {
                Some(start) => start,
                None => risk.start(),
            },
            (None, None) => risk.start(),
        };
        risk.centre_scores(&mut start);
        let mut run = NewtonRun::new(risk, &start, watch)?;
        if let (true, Some(rows)) = (run.is_suspect(), risk.rows_here())
            && !run.leave_out_exact_combinations(rows)?
        {
            return self.solve_in_basis(risk, rows, looks, watch);
        }
        run.looks = looks;
        self.run(run, watch)
    }

    /// What a claim to have converged is worth once the bound is known.
    pub(crate) fn judged(&self, stop: Stop, certificate: &Certificate) -> Stop {
        let reached = certificate.relative_gap().is_some_and(|gap| gap <= self.tolerance);
        if stop == Stop::Converged && !reached { Stop::PrecisionLimit } else { stop }
    }

    fn run<P: Smooth<Penalty = Ridge>>(&self, mut run: NewtonRun<'_, P>, watch: &Watch) -> Result<Solved<P::Scores>> {
        report_point(watch, "newton", 0, &run.point, 0.0);
        let stop = match run.iterate(self) {
            Ok(stop) => stop,
            Err(error) if error.kind() == ErrorKind::Interrupted => Stop::halted(watch.halted()),
            Err(error) => return Err(error),
        };
        run.finish(stop)
    }
}

struct NewtonRun<'r, P: Smooth> {
    risk: &'r P,
    watch: &'r Watch,
    point: Point<P::Scores>,
    /// The Hessian last computed, kept under a penalty.
    hessian: Option<Square>,
    /// The first one without a penalty, where pivots leave columns in doubt.
    suspect: Option<Square>,
    factor: Factor,
    /// Whether the factor is of the Hessian at `point`.
    fresh: bool,
    /// Whether the factor is of a damped Hessian, because at `point` the plain one is singular to working precision.
    damped: bool,
    /// The coefficients that the features determine.
    unknowns: Vec<usize>,
    /// Diagonal of the first Hessian: the units of the damping.
    diagonal: Vec<f64>,
    aliased: Vec<Alias>,
    reference: f64,
    trace: Vec<Step>,
    passes: usize,
    /// Steps in a row that hardly lowered the decrement: the mark of data without an optimum.
    slow: usize,
    /// Whether reusing the factor has paid so far.
    chords_pay: bool,
    /// Whether the last look for rows that move far found some, and not too many.
    far_steps_pay: bool,
    /// Under a penalty, μ of the factored `H + μ diag(H)`: above zero while Newton's steps are too long.
    damping: f64,
    /// The damping that follows after none.
    restart_damping: f64,
    certificate: Option<Certificate>,
    /// Steps taken for the sake of the digits alone.
    last_steps: usize,
    /// Quasi-complete separation found, and at which iteration.
    separation: Option<(Separation, usize)>,
    /// How directions of separation are looked for.
    looks: Looks,
}

impl<'r, P: Smooth<Penalty = Ridge>> NewtonRun<'r, P> {
    fn new(risk: &'r P, start: &Coef, watch: &'r Watch) -> Result<Self> {
        let mut point = risk.at(start, Detail::Hessian, watch)?;
        let hessian = point.hessian.take().unwrap_or_else(|| Square::zeros(0));
        let first = factor(&hessian, if risk.penalty().is_none() { SUSPECT_PIVOT } else { ROUNDING_PIVOT });
        let unknowns = match risk.penalty().is_none() {
            true => {
                (0..hessian.n() - if risk.intercept() == Intercept::None { point.coef.n_scores() } else { 0 }).collect()
            }
            false => first.kept().to_vec(),
        };
        let mut run = NewtonRun {
            risk,
            watch,
            point,
            damped: false,
            diagonal: hessian.diagonal(),
            unknowns,
            suspect: None,
            hessian: Some(hessian),
            factor: first,
            fresh: true,
            aliased: Vec::new(),
            reference: risk.null_objective(),
            trace: Vec::new(),
            passes: 1,
            slow: 0,
            chords_pay: true,
            far_steps_pay: true,
            damping: 0.0,
            restart_damping: FIRST_DAMPING,
            certificate: None,
            last_steps: 0,
            separation: None,
            looks: Looks::Patiently,
        };
        if risk.penalty().is_none() {
            run.suspect = run.hessian.take().filter(|_| run.is_suspect());
        }
        Ok(run)
    }

    fn iterate(&mut self, limits: &Newton) -> Result<Stop> {
        loop {
            let direction = self.direction();
            let decrement = (-self.point.gradient.dot(&direction)).max(0.0);
            let near = self.near(decrement, &direction, limits.tolerance)?;
            if near && (self.is_settled(decrement, limits.tolerance) || self.trace.len() >= limits.max_iterations)
                || self.certified(decrement, limits.tolerance)?
            {
                let enough = self.has_digits(limits.tolerance) || self.trace.len() >= limits.max_iterations;
                if near || enough || self.last_steps >= LAST_STEPS || !self.advance(&direction, decrement)? {
                    return Ok(Stop::Converged);
                }
                self.last_steps += 1;
                continue;
            }
            if self.slow >= 2
                && let Some(found) = self.separated(&direction)?
            {
                return Ok(found);
            }
            if self.trace.len() >= limits.max_iterations {
                return self.given_up(&direction, Stop::IterationLimit);
            }
            if self.is_in_doubt() {
                return Ok(Stop::IterationLimit);
            }
            let direction = self.far_step(direction)?;
            let decrement = (-self.point.gradient.dot(&direction)).max(0.0);
            if !self.advance(&direction, decrement)? {
                if self.damp_more() {
                    continue;
                }
                if near {
                    return Ok(Stop::Converged);
                }
                if self.fresh {
                    return self.given_up(&direction, Stop::PrecisionLimit);
                }
                self.refresh(self.watch)?;
            }
        }
    }

    /// Under a penalty, a better direction where the last steps hardly helped.
    fn far_step(&mut self, newton: Coef) -> Result<Coef> {
        let wanted = self.far_steps_pay && self.slow >= 1 && self.fresh && self.damping == 0.0;
        let here = self.risk.rows_here().zip(self.risk.point_here(&self.point));
        let (Some(hessian), Some((rows, point))) = (self.hessian.as_ref().filter(|_| wanted), here) else {
            return Ok(newton);
        };
        let better = far_rows::step(rows, point, hessian, &newton, self.watch)?;
        self.passes += 1;
        self.far_steps_pay = better.is_some();
        Ok(match better {
            Some(mut better) if self.point.gradient.dot(&better) < 0.0 => {
                self.risk.centre_scores(&mut better);
                better
            }
            _ => newton,
        })
    }

    fn direction(&self) -> Coef {
        let step = self.factor.solve(self.point.gradient.as_slice());
        let (k, cols) = (self.point.coef.n_scores(), self.point.coef.n_cols());
        let mut direction = Coef::from_vec(step.into_iter().map(|s| -s).collect(), k, cols);
        // Damping may leave the subspace of the solution; the projection leaves the loss alone and lowers the penalty.
        self.risk.centre_scores(&mut direction);
        direction
    }

    /// Whether the features leave columns, or rounding leaves curvature, in doubt.
    fn is_suspect(&self) -> bool {
        self.risk.penalty().is_none() && self.factor.kept() != self.unknowns
    }

    /// Under a penalty, whether the current point is proved good enough. `decrement` is ν².
    fn certified(&mut self, decrement: f64, tolerance: f64) -> Result<bool> {
        if self.risk.penalty().is_none() {
            return Ok(false);
        }
        let scale = self.reference.max(self.point.objective.abs());
        let unpenalised = if self.risk.penalty().factors().is_some() { 0.5 * decrement } else { 0.0 };
        if gap_forecast(self.risk, &self.point).max(unpenalised) > 2.0 * tolerance * scale {
            return Ok(false);
        }
        let certificate = duality_gap(self.risk, &self.point, self.watch)?;
        let reached = certificate.relative_gap().is_some_and(|gap| gap <= tolerance);
        self.certificate = Some(certificate);
        Ok(reached)
    }

    /// Takes a step; false where none decreases the objective.
    fn advance(&mut self, direction: &Coef, decrement: f64) -> Result<bool> {
        let chord = self.chords_pay && self.damping == 0.0 && decrement.sqrt() < CHORD_DECREMENT;
        let detail = if chord { Detail::Gradient } else { Detail::Hessian };
        let trial = self.point.coef.moved(1.0, direction);
        if trial == self.point.coef {
            return Ok(false);
        }
        let mut next = self.risk.at(&trial, detail, self.watch)?;
        self.passes += 1;
        let mut step = 1.0;
        // Near the optimum the decrease drowns in rounding; there the gradient decides (alone, or two points a rounding
        // apart could take turns).
        let rounding = ROUNDING * self.point.objective.abs().max(f64::MIN_POSITIVE);
        let new_decrement = self.inverse_norm(&next);
        let enough = decrement >= rounding && self.point.objective - next.objective >= DECREASE * decrement;
        let by_gradient = decrement < RESOLVED * rounding
            && next.objective <= self.point.objective + rounding
            && new_decrement < 0.25 * decrement;
        if !(enough || by_gradient) {
            if decrement < rounding || self.hessian.is_some() {
                return Ok(false);
            }
            match self.backtrack(direction, decrement)? {
                Some(shorter) => step = shorter,
                None => return Ok(false),
            }
            next = self.risk.at(&self.point.coef.moved(step, direction), Detail::Hessian, self.watch)?;
            self.passes += 1;
        }
        let crawls = self.damped || self.inverse_norm(&next) > SLOW * decrement;
        self.slow = if crawls { self.slow + 1 } else { 0 };
        let contraction_was_poor = chord && new_decrement > SLOW * decrement;
        self.chords_pay = if chord { !contraction_was_poor } else { new_decrement < CHORDS_PAY * decrement };
        self.adjust_damping(direction, decrement, self.point.objective - next.objective);
        let hessian = next.hessian.take();
        self.point = next;
        self.certificate = None;
        self.trace.push(Step { objective: self.point.objective, relative_gap: None, step });
        report_point(self.watch, "newton", self.trace.len(), &self.point, step);
        self.watch.report(Progress::Iteration {
            solver: "newton",
            iteration: self.trace.len(),
            objective: self.point.objective,
            relative_gap: None,
        });
        match hessian {
            Some(hessian) => self.refactor(hessian),
            None => self.fresh = false,
        }
        if contraction_was_poor {
            self.refresh(self.watch)?;
        }
        Ok(true)
    }

    /// ν² of another point by the current factor.
    fn inverse_norm(&self, point: &Point<P::Scores>) -> f64 {
        let solved = self.factor.solve(point.gradient.as_slice());
        solved.iter().zip(point.gradient.as_slice()).map(|(s, g)| s * g).sum::<f64>().max(0.0)
    }

    /// The Hessian at the current point, by a pass of its own.
    fn refresh(&mut self, watch: &Watch) -> Result<()> {
        let mut point = self.risk.at(&self.point.coef, Detail::Hessian, watch)?;
        self.passes += 1;
        if let Some(hessian) = point.hessian.take() {
            self.refactor(hessian);
        }
        Ok(())
    }

    /// Columns that are combinations of others stay out. Where rows saturate so far that others are lost to rounding as
    /// well, `‖∇F‖·D` is added, D the diagonal of the first Hessian and the norm its dual one: steps of length at most
    /// one in those units, so that the iteration goes on (Li, Fukushima, Qi and Yamashita 2004).
    fn refactor(&mut self, mut hessian: Square) {
        if !self.risk.penalty().is_none() {
            for (j, largest) in self.diagonal.iter_mut().enumerate() {
                *largest = largest.max(hessian.get(j, j));
            }
        }
        if self.risk.penalty().is_none() {
            hessian.keep_only(&self.unknowns);
        }
        self.factor = if self.damping > 0.0 {
            let mut longer = hessian.clone();
            (0..hessian.n()).for_each(|j| *longer.at(j, j) += self.damping * self.diagonal[j]);
            factor(&longer, ROUNDING_PIVOT)
        } else {
            factor(&hessian, ROUNDING_PIVOT)
        };
        self.damped = self.factor.kept() != self.unknowns && self.risk.penalty().is_none();
        if self.damped {
            let gradient = self.point.gradient.as_slice();
            let terms = self.unknowns.iter().filter(|j| self.diagonal[**j] > 0.0);
            let norm = terms.map(|j| gradient[*j] * gradient[*j] / self.diagonal[*j]).sum::<f64>().sqrt();
            for j in &self.unknowns {
                *hessian.at(*j, *j) += norm * self.diagonal[*j];
            }
            self.factor = factor(&hessian, ROUNDING_PIVOT);
        }
        self.hessian = (!self.risk.penalty().is_none()).then_some(hessian);
        self.fresh = true;
    }

    fn finish(mut self, stop: Stop) -> Result<Solved<P::Scores>> {
        let certificate = match (self.certificate.take(), &stop) {
            (Some(certificate), _) => certificate,
            (None, _) if !self.risk.penalty().is_none() => duality_gap(self.risk, &self.point, &Watch::default())?,
            (None, Stop::Separated(_)) => Certificate::Absent { reason: "maximum likelihood does not exist".into() },
            (None, _) => Certificate::Absent { reason: "nothing was proved".into() },
        };
        if let Some(last) = self.trace.last_mut() {
            last.relative_gap = certificate.relative_gap();
        }
        if !self.risk.penalty().is_none() {
            self.aliased = self.collinear_columns()?;
        }
        Ok(Solved {
            point: self.point,
            stop,
            certificate,
            trace: self.trace,
            passes: self.passes,
            aliased: self.aliased,
        })
    }
}

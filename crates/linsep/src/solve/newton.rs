//! Damped Newton with a Cholesky factor, for `min F(W,b)` with moderately many coefficients.
//!
//! `H d = −∇F`, step 1 where it decreases F enough (Armijo 1e-4), else halved on cached scores. Undamped this is
//! iteratively reweighted least squares. Three economies, none of which touches the answer because the certificate
//! judges it:
//! - the start is the solution on every m-th row;
//! - a step short enough that H hardly changes reuses the factor (a chord step), saving the products;
//! - the gap is evaluated only when `‖∇F‖²/2λ`, its value for a balanced dual point, says it may suffice.
//!
//! Boyd and Vandenberghe, *Convex Optimization*, 9.5; Kelley, *Solving Nonlinear Equations with Newton's Method*, 2.3.

use super::separate;
use super::{Solved, Solver, Step, Stop};
use crate::certify::{Certificate, duality_gap, self_concordance_bound};
use crate::design::gather;
use crate::error::{ErrorKind, Result};
use crate::linalg::{Alias, Factor, factor};
use crate::objective::{Coef, Conjugate, Detail, Penalty, Point, Risk, Sample};
use crate::watch::{Progress, Watch};

/// On the unit-diagonal scale, a pivot below this makes a column a combination of earlier ones: a residual of 1e-6 of
/// its length, about what products of doubles can tell.
const ALIAS_TOLERANCE: f64 = 1e-12;
/// Pivots below this are rounding.
const ROUNDING_PIVOT: f64 = 1e-15;
/// Newton decrement below which the Hessian changes by a tenth or so over the step: scores move by about 2ν.
const CHORD_DECREMENT: f64 = 0.05;

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

impl<L: Conjugate + Clone> Solver<Risk<'_, L>> for Newton {
    fn solve(&self, risk: &Risk<'_, L>, start: Option<&Coef>, watch: &Watch) -> Result<Solved> {
        let start = match start {
            Some(start) => start.clone(),
            None => match subsample_start(risk, watch)? {
                Some(start) => start,
                None => risk.start(),
            },
        };
        let mut run = Run::new(risk, &start, watch)?;
        let stop = match run.iterate(self) {
            Ok(stop) => stop,
            Err(error) if error.kind() == ErrorKind::Interrupted => Stop::halted(watch.halted()),
            Err(error) => return Err(error),
        };
        run.finish(stop)
    }
}

struct Run<'r, 'd, L> {
    risk: &'r Risk<'d, L>,
    watch: &'r Watch,
    point: Point,
    factor: Factor,
    /// Whether the factor is of the Hessian at `point`.
    fresh: bool,
    aliased: Vec<Alias>,
    reference: f64,
    trace: Vec<Step>,
    passes: usize,
    /// Full steps in a row that hardly lowered the decrement: the mark of data without an optimum.
    slow: usize,
    /// Whether reusing the factor has paid so far.
    chords_pay: bool,
    certificate: Option<Certificate>,
}

impl<'r, 'd, L: Conjugate + Clone> Run<'r, 'd, L> {
    fn new(risk: &'r Risk<'d, L>, start: &Coef, watch: &'r Watch) -> Result<Self> {
        let mut point = risk.at(start, Detail::Hessian, watch)?;
        let hessian = point.hessian.take().unwrap_or_else(|| crate::linalg::Square::zeros(0));
        let tolerance = if risk.penalty() == Penalty::None { ALIAS_TOLERANCE } else { ROUNDING_PIVOT };
        let first = factor(&hessian, tolerance);
        let aliased = if risk.penalty() == Penalty::None { named_aliases(risk, &first) } else { Vec::new() };
        Ok(Run {
            risk,
            watch,
            point,
            factor: first,
            fresh: true,
            aliased,
            reference: risk.null_objective(),
            trace: Vec::new(),
            passes: 1,
            slow: 0,
            chords_pay: true,
            certificate: None,
        })
    }

    fn iterate(&mut self, limits: &Newton) -> Result<Stop> {
        loop {
            let direction = self.direction();
            let decrement = (-self.point.gradient.dot(&direction)).max(0.0);
            if self.certified(decrement, limits.tolerance)? {
                return Ok(Stop::Converged);
            }
            if self.slow >= 2
                && self.risk.penalty() == Penalty::None
                && let Some(found) = separate::find(self.risk, &self.point.coef, &direction, self.watch)?
            {
                return Ok(Stop::Separated(Box::new(found)));
            }
            if self.trace.len() >= limits.max_iterations {
                return Ok(Stop::IterationLimit);
            }
            if !self.advance(&direction, decrement)? {
                if self.fresh {
                    return Ok(Stop::PrecisionLimit);
                }
                self.refresh(self.watch)?;
            }
        }
    }

    fn direction(&self) -> Coef {
        let step = self.factor.solve(self.point.gradient.as_slice());
        let (k, cols) = (self.point.coef.n_scores(), self.point.coef.n_cols());
        Coef::from_vec(step.into_iter().map(|s| -s).collect(), k, cols)
    }

    /// Whether the current point is proved good enough. `decrement` is ν².
    fn certified(&mut self, decrement: f64, tolerance: f64) -> Result<bool> {
        let scale = self.reference.max(self.point.objective.abs());
        let certificate = match self.risk.penalty() {
            Penalty::Ridge { lambda } => {
                let gradient: f64 = self.point.gradient.as_slice().iter().map(|g| g * g).sum();
                if gradient / (2.0 * lambda) > 2.0 * tolerance * scale {
                    return Ok(false);
                }
                duality_gap(self.risk, &self.point, self.watch)?
            }
            Penalty::None => {
                if 0.5 * decrement > 0.9 * tolerance * scale {
                    return Ok(false);
                }
                if !self.fresh {
                    self.refresh(self.watch)?;
                }
                self_concordance_bound(self.risk, &self.point, &self.factor, self.watch)?
            }
        };
        let reached = certificate.relative_gap().is_some_and(|gap| gap <= tolerance);
        self.certificate = Some(certificate);
        Ok(reached)
    }

    /// Takes a step; false where none decreases the objective.
    fn advance(&mut self, direction: &Coef, decrement: f64) -> Result<bool> {
        let chord = self.chords_pay && decrement.sqrt() < CHORD_DECREMENT;
        let detail = if chord { Detail::Gradient } else { Detail::Hessian };
        let trial = self.point.coef.moved(1.0, direction);
        let mut next = self.risk.at(&trial, detail, self.watch)?;
        self.passes += 1;
        let mut step = 1.0;
        // Near the optimum the decrease drowns in rounding; there the gradient decides.
        let rounding = 1e-13 * self.point.objective.abs().max(f64::MIN_POSITIVE);
        let new_decrement = self.inverse_norm(&next);
        let enough = self.point.objective - next.objective >= 1e-4 * decrement;
        let by_gradient = decrement < 1e3 * rounding
            && next.objective <= self.point.objective + rounding
            && new_decrement < 0.25 * decrement;
        if !(enough || by_gradient) {
            if decrement < rounding {
                return Ok(false);
            }
            match self.backtrack(direction, decrement)? {
                Some(shorter) => step = shorter,
                None => return Ok(false),
            }
            next = self.risk.at(&self.point.coef.moved(step, direction), Detail::Hessian, self.watch)?;
            self.passes += 1;
        }
        self.slow = if step == 1.0 && new_decrement > 0.1 * decrement { self.slow + 1 } else { 0 };
        let contraction_was_poor = chord && new_decrement > 0.1 * decrement;
        self.chords_pay = if chord { !contraction_was_poor } else { new_decrement < 0.02 * decrement };
        let hessian = next.hessian.take();
        self.point = next;
        self.certificate = None;
        self.trace.push(Step { objective: self.point.objective, relative_gap: None, step });
        self.watch.report(Progress::Iteration {
            solver: "newton",
            iteration: self.trace.len(),
            objective: self.point.objective,
            relative_gap: None,
        });
        match hessian {
            Some(hessian) => self.refactor(&hessian),
            None => self.fresh = false,
        }
        if contraction_was_poor {
            self.refresh(self.watch)?;
        }
        Ok(true)
    }

    /// ν² of another point by the current factor.
    fn inverse_norm(&self, point: &Point) -> f64 {
        let solved = self.factor.solve(point.gradient.as_slice());
        solved.iter().zip(point.gradient.as_slice()).map(|(s, g)| s * g).sum::<f64>().max(0.0)
    }

    fn backtrack(&mut self, direction: &Coef, decrement: f64) -> Result<Option<f64>> {
        let line = self.risk.along(direction, self.watch)?;
        self.passes += 1;
        let mut step = 0.5;
        while step > 1e-10 {
            if self.risk.on_line(&self.point, &line, step) <= self.point.objective - 1e-4 * step * decrement {
                return Ok(Some(step));
            }
            step *= 0.5;
        }
        Ok(None)
    }

    /// The Hessian at the current point, by a pass of its own.
    fn refresh(&mut self, watch: &Watch) -> Result<()> {
        let mut point = self.risk.at(&self.point.coef, Detail::Hessian, watch)?;
        self.passes += 1;
        if let Some(hessian) = point.hessian.take() {
            self.refactor(&hessian);
        }
        Ok(())
    }

    /// Columns aliased at the start stay out; later pivots are small where rows saturate, not by collinearity.
    fn refactor(&mut self, hessian: &crate::linalg::Square) {
        let mut hessian = hessian.clone();
        if self.risk.penalty() == Penalty::None {
            let kept: Vec<usize> = self.factor.kept().to_vec();
            let out = (0..hessian.n()).filter(|j| kept.binary_search(j).is_err()).collect::<Vec<_>>();
            for j in out {
                (0..j).for_each(|i| *hessian.at(j, i) = 0.0);
                (j..hessian.n()).for_each(|i| *hessian.at(i, j) = 0.0);
            }
        }
        self.factor = factor(&hessian, ROUNDING_PIVOT);
        self.fresh = true;
    }

    fn finish(mut self, stop: Stop) -> Result<Solved> {
        let calm = Watch::default();
        let certificate = match (self.certificate.take(), self.risk.penalty()) {
            (Some(certificate), _) => certificate,
            (None, Penalty::Ridge { .. }) => duality_gap(self.risk, &self.point, &calm)?,
            (None, Penalty::None) => match &stop {
                Stop::Separated(_) => Certificate::Absent { reason: "maximum likelihood does not exist".into() },
                _ => {
                    if !self.fresh {
                        self.refresh(&calm)?;
                    }
                    self_concordance_bound(self.risk, &self.point, &self.factor, &calm)?
                }
            },
        };
        if let Some(last) = self.trace.last_mut() {
            last.relative_gap = certificate.relative_gap();
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

/// Aliases among the columns of the first score; the same columns are aliased in every score.
fn named_aliases<L: Conjugate>(risk: &Risk<'_, L>, factor: &Factor) -> Vec<Alias> {
    let cols = risk.n_cols();
    let first_score = |alias: &&Alias| alias.column < cols;
    let within = |alias: &Alias| Alias {
        column: alias.column,
        combination: alias.combination.iter().copied().filter(|(j, _)| *j < cols).collect(),
    };
    factor.aliased().iter().filter(first_score).map(within).collect()
}

/// The solution on evenly spaced rows: close enough to save most passes over all of them. `None` where the data is too
/// small for it to pay, or where the sample misses a class.
fn subsample_start<L: Conjugate + Clone>(risk: &Risk<'_, L>, watch: &Watch) -> Result<Option<Coef>> {
    let sample = risk.sample();
    let n = sample.labels.len();
    let unknowns = risk.loss().n_scores() * (risk.n_cols() + 1);
    let wanted = (n / 16).max(40 * unknowns).max(4096);
    if wanted > n / 4 {
        return Ok(None);
    }
    let rows: Vec<usize> = (0..wanted).map(|i| i * n / wanted).collect();
    let k = risk.loss().n_scores();
    let labels: Vec<_> = rows.iter().map(|r| sample.labels[*r]).collect();
    let weights: Option<Vec<f64>> = sample.weights.map(|w| rows.iter().map(|r| w[*r]).collect());
    let offsets: Option<Vec<f64>> =
        sample.offsets.map(|o| rows.iter().flat_map(|r| o[r * k..(r + 1) * k].iter().copied()).collect());
    let mut totals = vec![0.0; risk.loss().n_classes()];
    for (i, class) in labels.iter().enumerate() {
        totals[class.index()] += weights.as_ref().map_or(1.0, |w| w[i]);
    }
    if totals.contains(&0.0) {
        return Ok(None);
    }
    let design = gather(sample.design, &rows)?;
    let part = Sample {
        design: design.as_design(),
        units: sample.units,
        labels: &labels,
        weights: weights.as_deref(),
        offsets: offsets.as_deref(),
    };
    let small = Risk::new(part, risk.loss().clone(), risk.penalty(), risk.intercept());
    let quick = Newton { tolerance: 1e-3, max_iterations: 12 };
    let mut run = Run::new(&small, &small.start(), watch)?;
    let stop = run.iterate(&quick)?;
    Ok(match stop {
        Stop::Converged => Some(run.point.coef),
        _ => None,
    })
}

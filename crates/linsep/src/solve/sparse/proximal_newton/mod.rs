//! Proximal Newton with coordinate descent on a working set, for `min F(W,b)` with a lasso or an elastic net.
//!
//! Each step minimises `∇f·d + ½dᵀHd + Ω(w+d)`, f the loss with its ridge part, by coordinate descent: in the Gram matrix
//! where that is the smaller one, else on residuals by the columns. Step 1 where it decreases F enough, else a shorter one
//! on cached scores. The Hessian of a point nearby is used again as long as steps shrink fast.
//!
//! Where columns are many, only those of a working set take part: the weights that are not zero, columns without a penalty,
//! and the columns that violate `|∇ⱼf| ≤ λαfⱼ` most. It grows until the duality gap of the whole risk is small enough; along
//! a path the sequential strong rule chooses the first one. Whatever was left out wrongly violates the condition and comes
//! back. Columns of a working set are copied out, unless they are sparse and so many that all were copied at the start: then
//! the set is a list of places, columns that cannot have a weight are put aside first (`candidates.rs`), and the first steps
//! are rough (`rough.rs`).
//!
//! Lee, Sun and Saunders 2014 (proximal Newton); Friedman, Hastie and Tibshirani 2010 (coordinate descent); Tibshirani et
//! al. 2012 (strong rules); Massias, Gramfort and Salmon 2018 (working sets by violation).

mod candidates;
mod centre;
mod face;
mod forecast;
mod gram;
mod hessians;
mod matrix;
mod residual;
mod rough;
mod run;
mod stepwise;

use crate::certify::{Certificate, duality_gap};
use crate::design::{Columns, SparseColumns, WithColumns};
use crate::error::{ErrorKind, Result};
use crate::objective::{Coef, Conjugate, Detail, ElasticNet, Intercept, Penalty, Point, Restricted, Risk};
use crate::solve::{Solved, Solver, Step, Stop};
use crate::watch::Watch;
use candidates::candidates;
use centre::centre;
use forecast::{forecast, violation};
use gram::GramModel;
use matrix::matrix_repaid;
use run::{ModelCurvature, ProximalRun};
use std::sync::Arc;

/// Up to so many coefficients there is no working set: all columns take part. Chosen (bench/constants.md): only time
/// depends on it.
const WHOLE: usize = 300;
/// After the rough steps, columns whose gradient exceeds this share of the lasso join as well. Chosen
/// (bench/constants.md).
const NEAR: f64 = 0.95;
/// Columns that join the working set at a time, unless it has more already. Against 256, 32 takes 0.30 to 0.58 of the time on
/// dense tables of 500 to 2,000 columns (speech; products of sonar and of wdbc), and the same on text and along paths.
const JOINING: usize = 32;
/// The sequential strong rule is of use while λ falls by less than this factor: at 2 its threshold 2 − ratio is zero.
/// Chosen (bench/constants.md).
const SEQUENTIAL: f64 = 1.5;
/// Precision of the problem on the working set relative to the gap of all columns. Chosen (bench/constants.md).
const INSIDE: f64 = 0.02;
/// The last working set is solved to this share of the tolerance, so that the proof meets it. Chosen
/// (bench/constants.md).
const INSIDE_LAST: f64 = 0.3;
/// While columns still join, no more precision than this is asked for. Chosen (bench/constants.md).
const INSIDE_FIRST: f64 = 1e-2;
/// Below this share of the tolerance more precision on the working set does not help: rounding.
const HOPELESS: f64 = 1e-3;
/// A working set is kept while it has no more than twice the columns wanted, and so many: it costs a copy. Chosen
/// (bench/constants.md).
const SPARE: usize = 256;
/// Proximal Newton.
///
/// ```
/// use linsep::design::{LabelledRows, DenseMatrix, Units};
/// use linsep::objective::{ElasticNet, Intercept, Logistic, Risk, Sample};
/// use linsep::solve::{ProximalNewton, Solver};
/// use linsep::table::Class;
/// let x = DenseMatrix::new(vec![1.0, 0.2, 2.0, -0.1, 2.5, 0.3, 4.0, 0.1], 2)?;
/// let labels = [Class(0), Class(1), Class(0), Class(1)];
/// let units = Units::identity(2);
/// let sample = Sample::new(LabelledRows::new(&x, &labels), &units);
/// let risk = Risk::new(sample, Logistic, ElasticNet::lasso(0.1), Intercept::Free);
/// let solved = ProximalNewton::default().solve(&risk, None, &Default::default())?;
/// assert!(solved.certificate.relative_gap().unwrap() <= 1e-8);
/// assert_eq!(solved.point.coef.weights_of(0)[1], 0.0);
/// # Ok::<(), linsep::Error>(())
/// ```
///
/// It is for penalties with a kink; Newton's method is for those without and does not take one:
///
/// ```compile_fail
/// use linsep::objective::{ElasticNet, Logistic, Risk};
/// use linsep::solve::{Newton, Solver};
/// fn fit(risk: &Risk<'_, Logistic, ElasticNet>) {
///     let _ = Newton::default().solve(risk, None, &Default::default());
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ProximalNewton {
    /// Stop when the relative gap is at most this.
    pub tolerance: f64,
    /// Stop after this many iterations.
    pub max_iterations: usize,
}

impl Default for ProximalNewton {
    fn default() -> ProximalNewton {
        ProximalNewton { tolerance: 1e-8, max_iterations: 200 }
    }
}

/// What a solution leaves for the next one along a path: its penalty, its working set and its Hessian.
pub struct Previous {
    penalty: ElasticNet,
    working: Option<Working>,
    model: Option<GramModel>,
    /// The copy of the columns of wide rows.
    columns: Option<Arc<SparseColumns>>,
}

/// The working set, and its columns one by one where they are needed.
struct Working {
    restricted: Restricted,
    columns: Option<Columns>,
}

impl<L: Conjugate + Clone> Solver<Risk<'_, L, ElasticNet>> for ProximalNewton {
    type Scores = Vec<f64>;

    fn solve(&self, risk: &Risk<'_, L, ElasticNet>, start: Option<&Coef>, watch: &Watch) -> Result<Solved> {
        let columns = risk.copied_columns()?;
        on_columns(risk, columns.as_ref(), |risk| match candidates(risk, start) {
            Some(chosen) => self.solve_on(risk, chosen, start, watch),
            None => {
                let start = start.cloned().unwrap_or_else(|| risk.start());
                let point = risk.at(&start, Detail::Gradient, watch)?;
                Ok(self.solve_from(risk, point, None, watch)?.0)
            }
        })
    }
}

impl ProximalNewton {
    /// Solves a risk that differs from the last one in the size of its penalty alone, from the solution of that or from a
    /// guess ahead of it, whichever is better.
    pub fn solve_next<L: Conjugate + Clone>(
        &self,
        risk: &Risk<'_, L, ElasticNet>,
        solution: &Point,
        ahead: Option<Coef>,
        previous: Previous,
        watch: &Watch,
    ) -> Result<(Solved, Previous)> {
        let columns = previous.columns.clone();
        on_columns(risk, columns.as_ref(), |risk| {
            let mut point = risk.repenalised(solution, &previous.penalty);
            if let Some(ahead) = ahead {
                match risk.at(&ahead, Detail::Gradient, watch) {
                    Ok(guess) if guess.objective < point.objective => point = guess,
                    Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
                    // Who is interrupted finds out in the solver, and keeps what there is.
                    _ => {}
                }
            }
            self.solve_from(risk, point, Some(previous), watch)
        })
    }

    /// Solves the first risk of a path.
    pub fn solve_first<L: Conjugate + Clone>(
        &self,
        risk: &Risk<'_, L, ElasticNet>,
        watch: &Watch,
    ) -> Result<(Solved, Previous)> {
        let columns = risk.copied_columns()?;
        let (solved, mut previous) = on_columns(risk, columns.as_ref(), |risk| {
            let point = risk.at(&risk.start(), Detail::Gradient, watch)?;
            self.solve_from(risk, point, None, watch)
        })?;
        previous.columns = columns;
        Ok((solved, previous))
    }

    fn solve_from<L: Conjugate + Clone>(
        &self,
        risk: &Risk<'_, L, ElasticNet>,
        point: Point,
        mut previous: Option<Previous>,
        watch: &Watch,
    ) -> Result<(Solved, Previous)> {
        if let Some(previous) = &mut previous {
            previous.change_ridge(risk);
        }
        let mut search = WorkingSetSearch {
            risk,
            watch,
            point,
            trace: Vec::new(),
            passes: 1,
            certificate: None,
            last_decrease: f64::INFINITY,
        };
        let (ended, next) = if risk.loss().n_scores() * (risk.n_cols() + 1) <= WHOLE {
            let model = previous.and_then(|p| p.model);
            let (ended, model) = search.on_all_columns(self, model);
            (ended, Previous { model, ..Previous::none(risk.penalty()) })
        } else {
            let mut next = previous.unwrap_or_else(|| Previous::none(risk.penalty()));
            let ended = search.on_working_sets(self, &mut next);
            next.penalty = risk.penalty().clone();
            (ended, next)
        };
        Ok((search.finish(ended)?, next))
    }
}

/// Does some work on a risk by its columns, where there is a copy of them.
fn on_columns<L: Conjugate + Clone, T>(
    risk: &Risk<'_, L, ElasticNet>,
    columns: Option<&Arc<SparseColumns>>,
    work: impl FnOnce(&Risk<'_, L, ElasticNet>) -> T,
) -> T {
    match columns {
        Some(columns) => {
            let design = WithColumns::new(risk.sample().design, columns.clone());
            work(&risk.on(&design))
        }
        None => work(risk),
    }
}

impl Previous {
    fn none(penalty: &ElasticNet) -> Previous {
        Previous { penalty: penalty.clone(), working: None, model: None, columns: None }
    }

    /// The Hessian with the ridge part of another penalty.
    fn change_ridge<L: Conjugate + Clone>(&mut self, risk: &Risk<'_, L, ElasticNet>) {
        let columns = self.working.as_ref().map(|w| &w.restricted.columns);
        let (k, cols) = (risk.loss().n_scores(), columns.map_or(risk.n_cols(), Vec::len));
        let Some(model) = self.model.as_mut() else { return };
        for i in 0..k * cols {
            let column = columns.map_or(i % cols, |c| c[i % cols]);
            model.add_diagonal(i, risk.penalty().ridge_of(column) - self.penalty.ridge_of(column));
        }
        if risk.intercept() == Intercept::Penalised {
            let difference = risk.penalty().ridge() - self.penalty.ridge();
            (k * cols..k * (cols + 1)).for_each(|i| model.add_diagonal(i, difference));
        }
    }
}

/// A solution under way, in all columns.
struct WorkingSetSearch<'r, 'd, L> {
    risk: &'r Risk<'d, L, ElasticNet>,
    watch: &'r Watch,
    point: Point,
    trace: Vec<Step>,
    passes: usize,
    certificate: Option<Certificate>,
    /// Of the objective, by the last rough step.
    last_decrease: f64,
}

impl<L: Conjugate + Clone> WorkingSetSearch<'_, '_, L> {
    fn on_all_columns(
        &mut self,
        limits: &ProximalNewton,
        model: Option<GramModel>,
    ) -> (Result<Stop>, Option<GramModel>) {
        let mut run = ProximalRun::new(self.risk, self.point.clone(), model, ModelCurvature::Gram, self.watch);
        let ended = run.iterate(limits);
        let model;
        let passes;
        (self.point, model, self.certificate, self.trace, passes) = run.into_parts();
        self.passes += passes;
        (ended, model)
    }

    fn on_working_sets(&mut self, limits: &ProximalNewton, kept: &mut Previous) -> Result<Stop> {
        let (risk, watch) = (self.risk, self.watch);
        let scale = risk.null_objective().max(self.point.objective.abs());
        // The sequential strong rule: a condition that holds by more than the penalty fell will hold again.
        let ratio = kept.penalty.lambda() / risk.penalty().lambda();
        let sequential = ratio > 1.0 && ratio < SEQUENTIAL;
        let mut threshold = if sequential { 2.0 - ratio } else { 1.0 };
        if kept.working.is_none() && risk.sample().design.by_columns().is_some() {
            if self.roughly(limits, kept)? {
                return self.stepwise(limits, kept, scale);
            }
            threshold = threshold.min(NEAR);
        }
        let mut joining = self.violators(&[], threshold, usize::MAX);
        if !sequential {
            joining.truncate(JOINING.max(self.support().len()));
        }
        if risk.sample().design.by_columns().is_some() && risk.loss().n_scores() == 1 {
            self.choose(kept, &joining)?;
            let repaid = match &kept.working {
                Some(w) => matrix_repaid(self.risk, &w.restricted)?,
                None => true,
            };
            if !repaid {
                return self.stepwise(limits, kept, scale);
            }
        }
        loop {
            let relative = forecast(risk, &self.point) / scale;
            if relative <= 2.0 * limits.tolerance {
                let certificate = duality_gap(risk, &self.point, watch)?;
                let gap = certificate.relative_gap();
                self.certificate = Some(certificate);
                if gap.is_some_and(|gap| gap <= limits.tolerance) {
                    return Ok(Stop::Converged);
                }
            }
            if self.trace.len() >= limits.max_iterations {
                return Ok(Stop::IterationLimit);
            }
            let precise = (INSIDE * relative).min(INSIDE_LAST * limits.tolerance);
            let tolerance =
                if joining.is_empty() { precise } else { (INSIDE * relative).min(precise.max(INSIDE_FIRST)) };
            if tolerance < HOPELESS * limits.tolerance {
                return Ok(Stop::PrecisionLimit);
            }
            self.choose(kept, &joining)?;
            let inner = ProximalNewton { tolerance, max_iterations: limits.max_iterations - self.trace.len() };
            let stop = self.solve_inside(&inner, kept)?;
            let inside = kept.working.as_ref().map_or(&[][..], |w| &w.restricted.columns);
            joining = self.violators(inside, 1.0, JOINING.max(self.support().len()));
            match stop {
                Stop::Converged => {}
                Stop::PrecisionLimit if !joining.is_empty() => {}
                stop => return Ok(stop),
            }
        }
    }

    /// Makes the working set hold the support, the columns without a penalty and those that join.
    fn choose(&self, kept: &mut Previous, joining: &[usize]) -> Result<()> {
        let mut wanted = self.support();
        wanted.extend(self.risk.penalty().free_columns());
        wanted.extend(joining);
        let current = kept.working.as_ref().map_or(&[][..], |w| &w.restricted.columns);
        wanted.sort_unstable();
        wanted.dedup();
        let holds_all = wanted.iter().all(|j| current.binary_search(j).is_ok());
        if holds_all && kept.working.is_some() && current.len() <= 2 * wanted.len() + SPARE {
            return Ok(());
        }
        if !holds_all && !self.trace.is_empty() {
            // Within one solution the set only grows, so that it comes to an end.
            wanted.extend(current);
            wanted.sort_unstable();
            wanted.dedup();
        }
        kept.model = None;
        let restricted = Restricted::of(self.risk.sample(), wanted, self.watch)?;
        kept.working = Some(Working { restricted, columns: None });
        Ok(())
    }

    /// Solves on the working set and moves the point there.
    fn solve_inside(&mut self, limits: &ProximalNewton, kept: &mut Previous) -> Result<Stop> {
        let (risk, watch) = (self.risk, self.watch);
        let Some(working) = kept.working.as_mut() else { return Ok(Stop::PrecisionLimit) };
        let restricted = &working.restricted;
        let sub = restricted.risk(risk)?;
        let gram = matrix_repaid(self.risk, restricted)?;
        if !gram && working.columns.is_none() {
            working.columns = Some(Columns::new(restricted.design(), sub.sample().units, watch)?);
        }
        let curvature = match &working.columns {
            Some(columns) if !gram => ModelCurvature::Columns(columns),
            _ => ModelCurvature::Gram,
        };
        let mut run = ProximalRun::new(&sub, restricted.gather_point(&self.point), kept.model.take(), curvature, watch);
        let ended = run.iterate(limits);
        let (point, model, _, trace, _) = run.into_parts();
        self.trace.extend(trace);
        kept.model = model;
        let halted = matches!(&ended, Err(error) if error.kind() == ErrorKind::Interrupted);
        let calm = Watch::default();
        self.move_to(restricted, point, if halted { &calm } else { watch })?;
        ended
    }

    /// Moves to a point of some columns.
    fn move_to(&mut self, restricted: &Restricted, point: Point, watch: &Watch) -> Result<()> {
        let coef = restricted.scatter(&point.coef, self.risk.n_cols());
        self.point = self.risk.at_known(coef, point.scores, watch)?;
        self.passes += 1;
        self.certificate = None;
        Ok(())
    }

    /// Columns with a weight that is not zero.
    fn support(&self) -> Vec<usize> {
        let (coef, cols) = (&self.point.coef, self.risk.n_cols());
        (0..cols).filter(|j| (0..coef.n_scores()).any(|c| coef.weights_of(c)[*j] != 0.0)).collect()
    }

    /// Columns of zero weights outside a set, which rises, where the gradient exceeds that share of the lasso: the most by
    /// ratio, the largest first.
    fn violators(&self, inside: &[usize], threshold: f64, most: usize) -> Vec<usize> {
        let (gradient, cols, penalty) = (&self.point.gradient, self.risk.n_cols(), self.risk.penalty());
        let mut largest = vec![0.0f64; cols];
        for c in 0..gradient.n_scores() {
            largest.iter_mut().zip(gradient.weights_of(c)).for_each(|(l, g)| *l = l.max(g.abs()));
        }
        let mut found: Vec<(f64, usize)> = (0..cols)
            .filter(|j| largest[*j] > threshold * penalty.lasso_of(*j) && penalty.factor(*j) > 0.0)
            .filter(|j| inside.binary_search(j).is_err())
            .map(|j| (largest[j] / penalty.lasso_of(j), j))
            .collect();
        found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found.truncate(most);
        found.into_iter().map(|(_, j)| j).collect()
    }

    fn finish(self, ended: Result<Stop>) -> Result<Solved> {
        let stop = match ended {
            Ok(stop) => stop,
            Err(error) if error.kind() == ErrorKind::Interrupted => Stop::halted(self.watch.halted()),
            Err(error) => return Err(error),
        };
        let certificate = match self.certificate {
            Some(certificate) => certificate,
            None => duality_gap(self.risk, &self.point, &Watch::default())?,
        };
        let WorkingSetSearch { point, trace, passes, .. } = self;
        Ok(Solved { point, stop, certificate, trace, passes, aliased: Vec::new() })
    }
}

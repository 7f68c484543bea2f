//! Interior point method, for hinge loss with a ridge and few enough columns that a Gram matrix of them can be formed.
//!
//! With `c = s/S`, slacks ξ (margin too small) and t (larger than needed) and multipliers u and v = 1 − u:
//!
//! `min λ/2 wᵀfw + Σ cξ` subject to `y z + ξ − t = 1`, `ξ, t ≥ 0`; optimal where `λfw = Σ c u y x̂`, `Σ c u y = 0` (free
//! intercept), `u t = 0` and `v ξ = 0`.
//!
//! Newton's method on these equations with `u t = v ξ = μ → 0` comes to systems `λf + X̃ᵀ diag(c/θ) X̃`, `θ = ξ/v + t/u`:
//! one weighted Gram matrix an iteration, like logistic regression, and no more iterations for any intercept, condition
//! or accuracy (Ferris and Munson 2002). Steps are Mehrotra's (1992): one solve to see how far μ can fall, another
//! with that μ and the second-order terms. Slacks satisfy their equation at all times; the dual equation's residual
//! shrinks with every step.

use super::margin_intercept::best_intercepts;
use crate::certify::{feasible_multipliers, multiplier_gap};
use crate::error::{Error, ErrorKind, Result};
use crate::linalg::{Factor, factor};
use crate::objective::{Coef, Hinge, Intercept, Penalty, Risk};
use crate::solve::MarginSolved;
use crate::solve::{Step, Stop};
use crate::table::Class;
use crate::watch::{Progress, Watch};
use crate::words::{Setting, words};
use rayon::prelude::*;

/// Interior point method for the hinge.
#[derive(Debug, Clone, Copy)]
pub struct InteriorPoint {
    /// Stop when the relative gap is at most this.
    pub tolerance: f64,
    /// Stop after this many iterations.
    pub max_iterations: usize,
}

/// How far towards the boundary a step goes at least (Nocedal and Wright 2006, section 14.2, have [0.9, 1)). Chosen
/// (bench/constants.md): only the number of iterations depends on it.
const STAY_INSIDE: f64 = 0.995;
/// On the unit-diagonal scale, about the unit roundoff; columns below it keep their weight for the iteration.
const ROUNDING_PIVOT: f64 = 1e-16;
/// By complementary slackness one of two numbers vanishes: the one that is smaller by this factor. Chosen
/// (bench/constants.md): the multipliers are then proved feasible, and a wrong decision costs an iteration.
const DECIDED: f64 = 1e-4;
/// Steps this short are limited by rounding. Chosen (bench/constants.md).
const SHORT_STEP: f64 = 1e-3;
/// Short steps in a row that end the iteration. Chosen (bench/constants.md).
const PATIENCE: usize = 3;

/// One row inside the feasible region, and the change to its next place.
#[derive(Debug, Clone, Copy, Default)]
struct InteriorRow {
    /// c; rows of weight zero have none and do not move.
    share: f64,
    y: f64,
    u: f64,
    v: f64,
    slack: f64,
    excess: f64,
    /// Affine changes of u, slack and excess: what the corrector takes into account.
    affine: [f64; 3],
    change: [f64; 3],
    /// 1/u, 1/v and 1/θ: divisions would take half the time of an iteration.
    inverse: [f64; 3],
}

impl InteriorRow {
    /// The right-hand sides `a` of `tΔu + uΔt` and `e` of `−ξΔu + vΔξ`.
    fn goals(&self, mu: Option<f64>) -> (f64, f64) {
        let [u, slack, excess] = self.affine;
        match mu {
            None => (-self.u * self.excess, -self.v * self.slack),
            Some(mu) => (mu - self.u * self.excess - u * excess, mu - self.v * self.slack + u * slack),
        }
    }

    /// Once an iteration, before anything else.
    fn invert(&mut self) {
        let (u, v) = (self.u.recip(), self.v.recip());
        self.inverse = [u, v, (self.slack * v + self.excess * u).recip()];
        self.affine = [0.0; 3];
    }

    /// `(a/u − e/v)/θ`, what u changes by where the margin stays.
    fn pull(&self, mu: Option<f64>) -> f64 {
        let (a, e) = self.goals(mu);
        let [u, v, theta] = self.inverse;
        (a * u - e * v) * theta
    }

    /// The changes for a change of the margin.
    fn changes(&self, margin: f64, mu: Option<f64>) -> [f64; 3] {
        let (a, e) = self.goals(mu);
        let [by_u, by_v, theta] = self.inverse;
        let u = (a * by_u - e * by_v - margin) * theta;
        [u, (e + self.slack * u) * by_v, (a - self.excess * u) * by_u]
    }

    /// The largest share of one of the four numbers that the whole change would take away.
    fn loss_of_change(&self) -> f64 {
        let [u, slack, excess] = self.change;
        let mut largest = (-u * self.inverse[0]).max(u * self.inverse[1]);
        for (value, change) in [(self.slack, slack), (self.excess, excess)] {
            if -change > largest * value {
                largest = -change / value;
            }
        }
        largest
    }

    /// u, at its bound where the row is about to be there: of u and t, and of v and ξ, one vanishes.
    fn multiplier(&self) -> f64 {
        match self {
            InteriorRow { share: 0.0, .. } => 0.0,
            _ if self.u < DECIDED * self.excess.min(1.0) => 0.0,
            _ if self.v < DECIDED * self.slack.min(1.0) => 1.0,
            _ => self.u,
        }
    }

    /// `c(ut + vξ)` after a step.
    fn products(&self, change: [f64; 3], step: f64) -> f64 {
        let [u, slack, excess] = change.map(|c| step * c);
        self.share * ((self.u + u) * (self.excess + excess) + (self.v - u) * (self.slack + slack))
    }
}

struct InteriorRun<'r, 'd> {
    risk: &'r Risk<'d, Hinge>,
    watch: &'r Watch,
    rows: Vec<InteriorRow>,
    coef: Coef,
    best: MarginSolved,
    short_steps: usize,
}

impl InteriorPoint {
    /// Runs until the certificate, a limit or the watch stops it.
    pub fn solve(&self, risk: &Risk<'_, Hinge>, watch: &Watch) -> Result<MarginSolved> {
        if risk.penalty().is_none() || !risk.penalty().free_columns().is_empty() {
            return Err(Error::usage("the interior point method proves nothing about columns without a penalty")
                .help(words!["use ", Setting::Loss.is("squared-hinge"), " with ", Setting::Solver.is("newton")]));
        }
        let mut run = InteriorRun::new(risk, watch);
        let stop = match run.iterate(self) {
            Ok(stop) => stop,
            Err(error) if error.kind() == ErrorKind::Interrupted => Stop::halted(watch.halted()),
            Err(error) => return Err(error),
        };
        if stop != Stop::Converged {
            run.certify(&Watch::default())?;
        }
        Ok(MarginSolved { stop, ..run.best })
    }
}

impl<'r, 'd> InteriorRun<'r, 'd> {
    fn new(risk: &'r Risk<'d, Hinge>, watch: &'r Watch) -> InteriorRun<'r, 'd> {
        let sample = risk.sample();
        let coef = risk.start();
        let row = |i: usize| {
            let share = sample.weights.map_or(1.0, |w| w[i]) / risk.total_weight();
            let y = if sample.labels[i] == Class(1) { 1.0 } else { -1.0 };
            let missing = 1.0 - y * (coef.intercept()[0] + sample.offsets.map_or(0.0, |o| o[i]));
            let (slack, excess) = (missing.max(0.0) + 1.0, (-missing).max(0.0) + 1.0);
            InteriorRow { share, y, u: 0.5, v: 0.5, slack, excess, ..InteriorRow::default() }
        };
        let rows: Vec<InteriorRow> = (0..sample.labels.len()).map(row).collect();
        InteriorRun { risk, watch, coef, best: MarginSolved::at_zero(risk), rows, short_steps: 0 }
    }

    fn iterate(&mut self, limits: &InteriorPoint) -> Result<Stop> {
        loop {
            let values: Vec<f64> = self.rows.par_iter().map(|r| r.share * r.u * r.y).collect();
            let (sums, totals) = self.risk.weighted_sums(&values, self.watch)?;
            self.best.passes += 1;
            let residual = self.dual_residual(&sums, totals[0]);
            let gap = self.gap_forecast(&sums, totals[0]);
            let mut proved = None;
            if gap <= 2.0 * limits.tolerance || self.best.trace.len() >= limits.max_iterations {
                proved = self.certify(self.watch)?;
            }
            self.watch.report(Progress::Iteration {
                solver: "interior-point",
                iteration: self.best.trace.len(),
                objective: self.best.trace.last().map_or(self.best.objective, |s| s.objective),
                relative_gap: proved,
            });
            if proved.is_some_and(|gap| gap <= limits.tolerance) {
                return Ok(Stop::Converged);
            }
            if self.best.trace.len() >= limits.max_iterations {
                return Ok(Stop::IterationLimit);
            }
            let Some(step) = self.advance(&residual)? else { return Ok(Stop::PrecisionLimit) };
            self.short_steps = if step < SHORT_STEP { self.short_steps + 1 } else { 0 };
            if self.short_steps >= PATIENCE {
                return Ok(Stop::PrecisionLimit);
            }
        }
    }

    /// `Σ c u y x̃ − λ f w`.
    fn dual_residual(&self, sums: &[f64], total: f64) -> Coef {
        let penalty = self.risk.penalty();
        let mut residual = Coef::zeros(1, sums.len());
        let weights = residual.weights_mut().iter_mut().zip(sums).zip(self.coef.weights());
        weights.enumerate().for_each(|(j, ((r, s), w))| *r = s - penalty.ridge_of(j) * w);
        let b = self.coef.intercept()[0];
        residual.intercept_mut()[0] = match self.risk.intercept() {
            Intercept::None => 0.0,
            Intercept::Free => total,
            Intercept::Penalised => total - penalty.ridge() * b,
        };
        residual
    }

    /// The relative gap, but for the constraint of a free intercept: costs no pass.
    fn gap_forecast(&self, sums: &[f64], total: f64) -> f64 {
        let (penalty, offsets) = (self.risk.penalty(), self.risk.sample().offsets);
        let primal: f64 = self.rows.iter().map(|r| r.share * (r.slack - r.excess).max(0.0)).sum();
        let entropy: f64 = self.rows.iter().map(|r| r.share * r.u).sum();
        let known: f64 =
            offsets.map_or(0.0, |o| self.rows.iter().zip(o).map(|(r, o)| r.share * r.u * r.y * o).sum::<f64>());
        let mut conjugate: f64 = sums.iter().enumerate().map(|(j, s)| 0.5 * s * s / penalty.ridge_of(j)).sum();
        if self.risk.intercept() == Intercept::Penalised {
            conjugate += 0.5 * total * total / penalty.ridge();
        }
        let primal = primal + self.risk.penalty_at(&self.coef);
        (primal - entropy + known + conjugate).abs() / primal.max(self.risk.null_objective())
    }

    /// Proves the gap where the iterate is, with the best intercept for its weights; keeps it if it is the best so far.
    fn certify(&mut self, watch: &Watch) -> Result<Option<f64>> {
        let mut coef = self.coef.clone();
        let mut intercepts = None;
        if self.risk.intercept() == Intercept::Free {
            let interval = best_intercepts(self.risk, &coef, watch)?;
            coef.intercept_mut()[0] = 0.5 * (interval.0 + interval.1);
            intercepts = Some(interval);
            self.best.passes += 1;
        }
        let multipliers: Vec<f64> = self.rows.iter().map(InteriorRow::multiplier).collect();
        let multipliers = feasible_multipliers(self.risk, &multipliers);
        let (objective, certificate) = multiplier_gap(self.risk, &coef, &multipliers, watch)?;
        self.best.passes += 2;
        Ok(self.best.offer(coef, objective, multipliers, intercepts, certificate))
    }

    /// Predictor, corrector, step; `None` where the products are so small that directions are no numbers any more.
    fn advance(&mut self, residual: &Coef) -> Result<Option<f64>> {
        self.rows.par_iter_mut().for_each(InteriorRow::invert);
        let curvature: Vec<f64> = self.rows.par_iter().map(|r| r.share * r.inverse[2]).collect();
        let gram = self.risk.weighted_gram(&curvature, self.watch)?;
        self.best.passes += 1;
        let factor = factor(&self.risk.penalised(gram), ROUNDING_PIVOT);
        let mu = 0.5 * self.rows.iter().map(|r| r.products([0.0; 3], 0.0)).sum::<f64>();
        self.direction(&factor, residual, None)?;
        let reach = self.reach().min(1.0);
        let affine = 0.5 * self.rows.iter().map(|r| r.products(r.change, reach)).sum::<f64>();
        self.rows.par_iter_mut().for_each(|r| r.affine = r.change);
        let direction = self.direction(&factor, residual, Some(mu * (affine / mu).powi(3)))?;
        let step = (STAY_INSIDE.max(1.0 - mu) * self.reach()).min(1.0);
        let sound = |row: &InteriorRow| row.change.iter().all(|c| c.is_finite());
        if !(step > 0.0) || direction.as_slice().iter().any(|d| !d.is_finite()) || !self.rows.iter().all(sound) {
            return Ok(None);
        }
        self.coef.add_scaled(step, &direction);
        self.rows.par_iter_mut().for_each(|r| {
            let [u, slack, excess] = r.change.map(|c| step * c);
            r.u += u;
            r.v -= u;
            r.slack += slack;
            r.excess += excess;
        });
        let objective = self.risk.penalty_at(&self.coef)
            + self.rows.iter().map(|r| r.share * (r.slack - r.excess).max(0.0)).sum::<f64>();
        self.best.trace.push(Step { objective, relative_gap: None, step });
        Ok(Some(step))
    }

    /// Solves for the coefficients, and gives every row its change.
    fn direction(&mut self, factor: &Factor, residual: &Coef, mu: Option<f64>) -> Result<Coef> {
        let values: Vec<f64> = self.rows.par_iter().map(|r| r.share * r.y * r.pull(mu)).collect();
        let (sums, totals) = self.risk.weighted_sums(&values, self.watch)?;
        let mut right = Coef::from_vec(sums.into_iter().chain(totals).collect(), 1, residual.n_cols());
        right.add_scaled(1.0, residual);
        if self.risk.intercept() == Intercept::None {
            right.intercept_mut()[0] = 0.0;
        }
        let direction = Coef::from_vec(factor.solve(right.as_slice()), 1, residual.n_cols());
        let line = self.risk.along(&direction, self.watch)?;
        self.best.passes += 2;
        self.rows.par_iter_mut().zip(line.scores()).for_each(|(r, z)| {
            r.change = if r.share > 0.0 { r.changes(r.y * z, mu) } else { [0.0; 3] };
        });
        Ok(direction)
    }

    /// The longest step that keeps all numbers positive.
    fn reach(&self) -> f64 {
        self.rows.par_iter().map(InteriorRow::loss_of_change).reduce(|| f64::MIN_POSITIVE, f64::max).recip()
    }
}

//! Stochastic gradient descent with averaging, for `min F(W,b)` with a ridge, or without a penalty where the caller proves what was
//! found.
//!
//! A step takes B drawn rows: `w ← (w − η_t ĝ)/(1 + η_t λ)`, `η_t = η₀/(1 + λη₀t)`, ĝ the mean of their gradients; the
//! penalty acts by its proximal map, which no step makes unstable. What is returned is the average of all w_t with weights
//! t² (Lacoste-Julien, Schmidt and Bach 2012 have t; Shamir and Zhang 2013 any power): it forgets the start and evens out
//! the draws. `w = αv`, so that shrinking costs nothing, and the average is `(A v − e)/Σρ` with `A = Σ ρ_tα_t` and
//! `e = Σ A_{t−1}·(change of v at t)`, so that averaging costs as much as the entries of the row.
//!
//! Without a penalty the steps are `η₀/(1 + η₀t/n)`, so that they still become shorter. The user may have other steps, and rows in
//! their order, each once an epoch, in place of drawn ones.
//!
//! It comes close quickly and then slows down: the error falls like 1/t at best. After every epoch the duality gap of the
//! average is computed, where there is a penalty, and only that says that it is good enough.

use super::drawn_rows::{DrawnRows, Weights};
use super::gradient_descent::largest_curvature;
use crate::design::Tile;
use crate::error::{Error, Result};
use crate::objective::{Coef, Conjugate, Detail, Intercept, Loss, Penalty, Risk};
use crate::solve::smooth::Descent;
use crate::solve::{PerceptronSteps, Solved, Solver, Stop};
use crate::table::Class;
use crate::watch::Watch;
use crate::words::{Setting, words};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Stochastic gradient descent.
#[derive(Debug, Clone)]
pub struct StochasticGradient {
    /// Stop when the relative gap of the average is at most this.
    pub tolerance: f64,
    /// Stop after this many epochs: as many draws as there are rows.
    pub max_epochs: usize,
    /// Rows of a step.
    pub batch: usize,
    /// η₀; `None` is the reciprocal of the largest curvature of a step.
    pub step: Option<f64>,
    /// How the steps change, where not by the formula above.
    pub steps: PerceptronSteps,
    /// Whether rows come in their order, and not drawn.
    pub in_order: bool,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for StochasticGradient {
    fn default() -> StochasticGradient {
        StochasticGradient {
            tolerance: 1e-3,
            max_epochs: 100,
            batch: 1,
            step: None,
            steps: PerceptronSteps::Constant,
            in_order: false,
            seed: 0,
        }
    }
}

impl<L: Conjugate + Clone> Solver<Risk<'_, L>> for StochasticGradient {
    type Scores = Vec<f64>;

    fn solve(&self, risk: &Risk<'_, L>, start: Option<&Coef>, watch: &Watch) -> Result<Solved> {
        let mut descent = Descent::with_or_without_penalty("sgd", risk, start, watch)?;
        let ended = self.iterate(&mut descent);
        descent.finish(ended)
    }
}

impl StochasticGradient {
    fn iterate<L: Conjugate + Clone>(&self, descent: &mut Descent<'_, Risk<'_, L>>) -> Result<Stop> {
        let (risk, watch) = (descent.risk, descent.watch);
        let mut tile = Tile::default();
        let rows = DrawnRows::new(risk, &mut tile, watch)?;
        let first = match self.step {
            Some(step) => step,
            None => self.first_step(&rows, descent)?,
        };
        let decay = if risk.penalty().is_none() { (rows.len() as f64).recip() } else { risk.penalty().ridge() };
        let rule = StochasticRule {
            first,
            decay,
            batch: self.batch,
            steps: self.steps.clone(),
            in_order: self.in_order,
            seed: self.seed,
        };
        let mut run = StochasticRun::new(risk, &rows, &descent.point.coef, rule);
        loop {
            match descent.stops(self.tolerance, self.max_epochs)? {
                // The draws may need many epochs to a lower objective.
                None | Some(Stop::PrecisionLimit) => {}
                Some(stop) => return Ok(stop),
            }
            if !run.epoch(watch)? {
                return Ok(Stop::halted(watch.halted()));
            }
            let mut average = run.average()?;
            risk.centre_scores(&mut average);
            let point = risk.at(&average, Detail::Gradient, watch)?;
            descent.passes += 2;
            descent.accept(point, run.step());
        }
    }

    /// `1/(λ + L)`: L is `2cN̄` for one row, and with more rows comes down to the curvature of the whole.
    fn first_step<L: Conjugate + Clone>(
        &self,
        rows: &DrawnRows<'_>,
        descent: &mut Descent<'_, Risk<'_, L>>,
    ) -> Result<f64> {
        let risk = descent.risk;
        let one = 2.0 * risk.loss().curvature_bound() * rows.mean_square();
        let ridge = risk.penalty().ridge();
        if self.batch <= 1 || risk.penalty().factors().is_some() {
            return Ok((one + ridge).recip());
        }
        let share = (self.batch as f64).recip();
        let whole = largest_curvature(descent)?.min(one + ridge);
        Ok((share * one + (1.0 - share) * whole + ridge).recip())
    }
}

/// How a run of steps goes.
pub(super) struct StochasticRule {
    /// η₀.
    pub(super) first: f64,
    /// What λ is in the formula of the steps.
    pub(super) decay: f64,
    /// Rows of a step.
    pub(super) batch: usize,
    /// How steps change where not by that formula.
    pub(super) steps: PerceptronSteps,
    /// Whether rows come in their order.
    pub(super) in_order: bool,
    /// Seed of the draws.
    pub(super) seed: u64,
}

/// A run of steps and their average.
pub(super) struct StochasticRun<'r, 'd, L, P> {
    risk: &'r Risk<'d, L, P>,
    rows: &'r DrawnRows<'d>,
    random: ChaCha8Rng,
    rule: StochasticRule,
    t: usize,
    /// The next row, where they come in their order.
    next: usize,
    /// v, and α with w = αv.
    weights: Weights,
    alpha: f64,
    intercept: Vec<f64>,
    /// e, A, Σρ and Σρb.
    early: Weights,
    mass: f64,
    total: f64,
    intercept_sum: Vec<f64>,
}

impl<'r, 'd, L: Loss, P: Penalty> StochasticRun<'r, 'd, L, P> {
    pub(super) fn new(risk: &'r Risk<'d, L, P>, rows: &'r DrawnRows<'d>, start: &Coef, rule: StochasticRule) -> Self {
        StochasticRun {
            risk,
            rows,
            random: ChaCha8Rng::seed_from_u64(rule.seed),
            rule: StochasticRule { batch: rule.batch.max(1), ..rule },
            t: 0,
            next: 0,
            weights: rows.weights(start),
            alpha: 1.0,
            intercept: start.intercept().to_vec(),
            early: rows.zero(),
            mass: 0.0,
            total: 0.0,
            intercept_sum: vec![0.0; start.n_scores()],
        }
    }

    /// η_t.
    pub(super) fn step(&self) -> f64 {
        let StochasticRule { first, decay, steps, .. } = &self.rule;
        match steps.is_constant() {
            true => first / (1.0 + decay * first * self.t as f64),
            false => first * steps.along_gradient(self.t + 1),
        }
    }

    /// As many draws as there are rows; false where the watch halts.
    pub(super) fn epoch(&mut self, watch: &Watch) -> Result<bool> {
        let batch = self.rule.batch;
        let steps = self.rows.len().div_ceil(batch);
        let poll = (self.rows.poll() / batch).max(1);
        let mut drawn = vec![(0, 0.0); batch];
        let mut deltas = vec![0.0; batch * self.intercept.len()];
        for at in 0..steps {
            if at % poll == 0 && watch.halted().is_some() {
                return Ok(false);
            }
            self.advance(&mut drawn, &mut deltas);
        }
        Ok(true)
    }

    fn advance(&mut self, drawn: &mut [(usize, f64)], deltas: &mut [f64]) {
        let k = self.intercept.len();
        let ridge = self.risk.penalty().ridge();
        let eta = self.step();
        // All rows of a step are judged by the same weights.
        for (row, delta) in drawn.iter_mut().zip(deltas.chunks_exact_mut(k)) {
            *row = match self.rule.in_order {
                true => self.rows.in_order(self.next),
                false => self.rows.draw(&mut self.random),
            };
            self.next += 1;
            derivative(self.risk, self.rows, (&self.weights, self.alpha), &self.intercept, row.0, delta);
            delta.iter_mut().for_each(|d| *d *= -eta * row.1 / self.rule.batch as f64);
        }
        for ((row, _), delta) in drawn.iter().zip(deltas.chunks_exact_mut(k)) {
            if self.risk.intercept() != Intercept::None {
                self.intercept.iter_mut().zip(&*delta).for_each(|(b, d)| *b += d);
            }
            delta.iter_mut().for_each(|d| *d /= self.alpha);
            self.rows.add(&mut self.weights, *row, delta);
            delta.iter_mut().for_each(|d| *d *= self.mass);
            self.rows.add(&mut self.early, *row, delta);
        }
        self.alpha /= 1.0 + eta * ridge;
        if self.risk.intercept() == Intercept::Penalised {
            self.intercept.iter_mut().for_each(|b| *b /= 1.0 + eta * ridge);
        }
        self.t += 1;
        let share = (self.t as f64).powi(2);
        self.mass += share * self.alpha;
        self.total += share;
        self.intercept_sum.iter_mut().zip(&self.intercept).for_each(|(sum, b)| *sum += share * b);
    }

    /// The average; an error where a step was so long that there is none.
    pub(super) fn average(&self) -> Result<Coef> {
        let intercept: Vec<f64> = self.intercept_sum.iter().map(|b| b / self.total).collect();
        let weights = self.weights.combined(self.mass / self.total, &self.early, -self.total.recip());
        let coef = self.rows.coef(&weights, &intercept);
        match coef.as_slice().iter().all(|c| c.is_finite()) {
            true => Ok(coef),
            false => Err(Error::usage(format!(
                "the step {} is too long: the coefficients grow without end",
                self.rule.first
            ))
            .help(words!["choose a shorter one with ", Setting::Step])
            .help("leave it out")),
        }
    }
}

/// `∂ℓ/∂z` of a row at `w = αv` and some intercepts.
fn derivative<L: Loss, P: Penalty>(
    risk: &Risk<'_, L, P>,
    rows: &DrawnRows<'_>,
    (weights, alpha): (&Weights, f64),
    intercept: &[f64],
    row: usize,
    out: &mut [f64],
) {
    let mut z = [0.0; 8];
    let mut many = Vec::new();
    let z = match intercept.len() {
        k @ 0..=8 => &mut z[..k],
        k => {
            many.resize(k, 0.0);
            &mut many[..]
        }
    };
    rows.scores(weights, row, z);
    z.iter_mut().zip(intercept).for_each(|(z, b)| *z = alpha * *z + b);
    derivative_at(risk, row, z, out);
}

/// `∂ℓ/∂z` of a row at its scores without offsets, which are added.
pub(super) fn derivative_at<L: Loss, P: Penalty>(risk: &Risk<'_, L, P>, row: usize, z: &mut [f64], out: &mut [f64]) {
    let k = z.len();
    if let Some(offsets) = risk.sample().offsets {
        z.iter_mut().zip(&offsets[row * k..]).for_each(|(z, o)| *z += o);
    }
    let label: Class = risk.sample().labels[row];
    risk.loss().block(&[label], z, None, out, None);
}

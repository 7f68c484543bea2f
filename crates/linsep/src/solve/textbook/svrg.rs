//! Stochastic gradients with reduced variance (SVRG), for `min F(W,b)` with a ridge.
//!
//! An epoch starts at w̃ with the gradient g̃ of the loss there, and takes m steps by drawn rows,
//! `w ← (w − η(g_i(w) − g_i(w̃) + g̃))/(1 + ηλ)`: where w and w̃ are close to the optimum the two row gradients cancel, so
//! the step need not shrink and the error falls by a factor per epoch. The last w is the next w̃. If F rose the
//! epoch is taken back and the step halved.
//!
//! `w = αv + βg̃`: shrinking and the step by g̃ cost two numbers, and the scores of g̃ are known from one pass, so a step
//! costs the entries of its row.
//!
//! Johnson and Zhang 2013; Xiao and Zhang 2014 with the proximal map and drawing by curvature.

use super::drawn_rows::DrawnRows;
use super::stochastic::derivative_at;
use crate::design::Tile;
use crate::error::Result;
use crate::objective::{Coef, Conjugate, Detail, Intercept, Penalty, Point, Risk};
use crate::solve::smooth::Descent;
use crate::solve::{Solved, Solver, Stop};
use crate::watch::Watch;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// SVRG.
#[derive(Debug, Clone, Copy)]
pub struct Svrg {
    /// Stop when the relative gap is at most this.
    pub tolerance: f64,
    /// Stop after this many epochs.
    pub max_epochs: usize,
    /// η; `None` is the reciprocal of the largest curvature of a step. It is halved where F rises.
    pub step: Option<f64>,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for Svrg {
    fn default() -> Svrg {
        Svrg { tolerance: 1e-8, max_epochs: 1000, step: None, seed: 0 }
    }
}

/// Draws per row and epoch: 2n for convex problems is what Johnson and Zhang (2013) use.
const DRAWS: usize = 2;
/// An epoch shrinks its start by `e⁻ᵐ`; from m = 20 (2e-9) on further draws are wasted.
const FORGOTTEN: f64 = 20.0;
/// Halvings of the step in a row after which none helps: by 1e-12.
const HALVINGS: usize = 40;
/// Relative rounding of the objective, with room for many rows: about 500 units.
const OBJECTIVE_ROUNDING: f64 = 1e-13;

impl<L: Conjugate + Clone> Solver<Risk<'_, L>> for Svrg {
    type Scores = Vec<f64>;

    fn solve(&self, risk: &Risk<'_, L>, start: Option<&Coef>, watch: &Watch) -> Result<Solved> {
        let mut descent = Descent::new("svrg", risk, start, watch)?;
        let ended = self.iterate(&mut descent);
        descent.finish(ended)
    }
}

impl Svrg {
    fn iterate<L: Conjugate + Clone>(&self, descent: &mut Descent<'_, Risk<'_, L>>) -> Result<Stop> {
        let (risk, watch) = (descent.risk, descent.watch);
        let mut tile = Tile::default();
        let rows = DrawnRows::new(risk, &mut tile, watch)?;
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let largest = 2.0 * risk.loss().curvature_bound() * rows.mean_square() + risk.penalty().ridge();
        let mut step = self.step.unwrap_or(largest.recip());
        let mut halvings = 0;
        loop {
            if let Some(stop) = descent.stops(self.tolerance, self.max_epochs)? {
                return Ok(stop);
            }
            let Some(mut trial) = epoch(risk, &rows, &descent.point, step, &mut random, watch)? else {
                return Ok(Stop::halted(watch.halted()));
            };
            descent.passes += DRAWS + 1;
            risk.centre_scores(&mut trial);
            let finite = trial.as_slice().iter().all(|c| c.is_finite());
            let next = if finite { Some(risk.at(&trial, Detail::Gradient, watch)?) } else { None };
            let rounding = OBJECTIVE_ROUNDING * descent.point.objective.abs();
            match next.filter(|next| next.objective <= descent.point.objective + rounding) {
                Some(next) => {
                    descent.passes += 1;
                    descent.accept(next, step);
                    halvings = 0;
                }
                None if halvings < HALVINGS => {
                    step *= 0.5;
                    halvings += 1;
                }
                None => return Ok(Stop::PrecisionLimit),
            }
        }
    }
}

/// The end of an epoch from a point; `None` where the watch halts.
fn epoch<L: Conjugate + Clone>(
    risk: &Risk<'_, L>,
    rows: &DrawnRows<'_>,
    from: &Point,
    step: f64,
    random: &mut ChaCha8Rng,
    watch: &Watch,
) -> Result<Option<Coef>> {
    let (k, ridge) = (from.coef.n_scores(), risk.penalty().ridge());
    let direction = loss_direction(risk, from);
    let along = risk.along(&direction, watch)?;
    let mut weights = rows.weights(&from.coef);
    let mut intercept = from.coef.intercept().to_vec();
    let slope = intercept_slope(risk, from);
    let (mut alpha, mut beta) = (1.0, 0.0);
    let (mut z, mut now, mut before) = (vec![0.0; k], vec![0.0; k], vec![0.0; k]);
    let (fitted, penalised) = (risk.intercept() != Intercept::None, risk.intercept() == Intercept::Penalised);
    let draws = (DRAWS * rows.len()).min((FORGOTTEN / (step * ridge)).ceil() as usize).max(1);
    for at in 0..draws {
        if at % rows.poll() == 0 && watch.halted().is_some() {
            return Ok(None);
        }
        let (row, counts) = rows.draw(random);
        rows.scores(&weights, row, &mut z);
        let moved = along.scores()[row * k..].iter().zip(&intercept);
        z.iter_mut().zip(moved).for_each(|(z, (d, b))| *z = alpha * *z + beta * d + b);
        derivative_at(risk, row, &mut z, &mut now);
        let label = risk.sample().labels[row];
        risk.loss().block(&[label], &from.scores[row * k..(row + 1) * k], None, &mut before, None);
        for c in 0..k {
            let change = counts * (now[c] - before[c]);
            if fitted {
                intercept[c] -= step * (change + slope[c]);
            }
            now[c] = -step * change / alpha;
        }
        rows.add(&mut weights, row, &now);
        alpha /= 1.0 + step * ridge;
        beta = (beta - step) / (1.0 + step * ridge);
        if penalised {
            intercept.iter_mut().for_each(|b| *b /= 1.0 + step * ridge);
        }
    }
    let mut coef = rows.coef(&weights, &intercept);
    coef.weights_mut().iter_mut().zip(direction.weights()).for_each(|(w, d)| *w = alpha * *w + beta * d);
    Ok(Some(coef))
}

/// g̃ in the metric of the steps: the gradient without its penalty, over the factors of the columns; no intercepts.
fn loss_direction<L: Conjugate + Clone>(risk: &Risk<'_, L>, point: &Point) -> Coef {
    let cols = risk.n_cols();
    let mut direction = Coef::zeros(point.coef.n_scores(), cols);
    let parts = point.gradient.weights().iter().zip(point.coef.weights());
    for (i, (d, (g, w))) in direction.weights_mut().iter_mut().zip(parts).enumerate() {
        *d = g / risk.penalty().factor(i % cols) - risk.penalty().ridge() * w;
    }
    direction
}

/// The intercepts' part of g̃.
fn intercept_slope<L: Conjugate + Clone>(risk: &Risk<'_, L>, point: &Point) -> Vec<f64> {
    let ridge = if risk.intercept() == Intercept::Penalised { risk.penalty().ridge() } else { 0.0 };
    let parts = point.gradient.intercept().iter().zip(point.coef.intercept());
    parts.map(|(g, b)| g - ridge * b).collect()
}

//! Dual coordinate descent with shrinking, for support vector machines with more columns than a Gram matrix has room for.
//!
//! In units of λ the dual problem is `min ½‖Σ αyx̂‖² − Σ α(1 − yo) + Σ cα²/(2C)`, `0 ≤ α ≤ C·limit`, with `C = s/(λS)`,
//! `α = Cu` and the c and limit of the loss. One α after the other is minimised over, in a new random order every round,
//! while `w = Σ αyx̂` is kept up to date: a visit costs two products with one row. Multipliers at a bound whose gradient
//! says that they stay there are left out until the others have settled (Hsieh, Chang, Lin, Keerthi and Sundararajan
//! 2008, algorithms 1 and 3).
//!
//! A penalised intercept is a weight of a column of ones. A free one adds `Σ αy = 0`, which single coordinates cannot
//! keep. It is found by the method of multipliers: with a penalty `ρ/2 (Σ αy)²` and an estimate b of the intercept the
//! problem is the penalised one again, and `b ← b + ρ Σ αy` once its gap is smaller than what `Σ αy ≠ 0` costs
//! (Rockafellar 1976: a proximal point method on b, solved inexactly).
//!
//! Every visit yields the row's part of the gap, `Cℓ(yz) + α(yz − 1) + cα²/(2C)`, so the sum over a round says when a proof
//! is worth its passes.

mod crammer_singer;

pub use crammer_singer::SequentialDual;

use super::margin_intercept::best_intercepts;
use crate::certify::{feasible_multipliers, multiplier_gap};
use crate::design::Tile;
use crate::error::{Error, ErrorKind, Result};
use crate::objective::DualRows;
use crate::objective::{Coef, Intercept, MarginLoss, Penalty, Risk};
use crate::solve::MarginSolved;
use crate::solve::{Step, Stop};
use crate::table::Class;
use crate::watch::{Progress, Watch};
use crate::words::{Setting, words};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Dual coordinate descent.
#[derive(Debug, Clone, Copy)]
pub struct DualCoordinateDescent {
    /// Stop when the relative gap is at most this.
    pub tolerance: f64,
    /// Stop after this many rounds.
    pub max_iterations: usize,
}

/// The estimate of the free intercept moves when the gap of its problem is this share of the imbalance; raised from
/// 0.25 without a record of the times. Chosen, out of reach of bench/constants.md: only the time depends on it.
const PROXIMAL_SHARE: f64 = 0.5;
/// Projected gradients whose range is below this are rounding: about 5 units, since scores are of order one on the
/// margin.
const ROUNDING: f64 = 1e-15;
/// Where the estimated gap is reached and the proved one is not, the goal falls by this factor. Chosen, out of reach of
/// bench/constants.md: it weighs proofs that fail against rounds that are not needed.
const SOONER: f64 = 0.25;

/// One multiplier and what its row says.
struct Multiplier {
    y: f64,
    alpha: f64,
    limit: f64,
    /// c/C.
    curvature: f64,
    /// C.
    capacity: f64,
    offset: f64,
}

/// What a round saw: the range of the projected gradients and the sum of the gaps, before its changes.
struct DualRound {
    low: f64,
    high: f64,
    gap: f64,
}

struct DualRun<'r, 'd, L> {
    risk: &'r Risk<'d, L>,
    watch: &'r Watch,
    rows: DualRows<'r>,
    multipliers: Vec<Multiplier>,
    /// `Σ αyx` of the stored parts of the rows.
    weights: Vec<f64>,
    /// `Σ αy` and `Σ αyκ`.
    total: f64,
    kappa_total: f64,
    /// The dual objective in units of λ, from below.
    dual: f64,
    /// ρ, and the estimate of a free intercept.
    rho: f64,
    intercept: f64,
    /// Rows in the order of the round; those from `active` on are left out.
    order: Vec<u32>,
    active: usize,
    random: ChaCha8Rng,
    best: MarginSolved,
    /// The scale of a relative gap in units of λ.
    scale: f64,
}

impl DualCoordinateDescent {
    /// Runs until the certificate, a limit or the watch stops it.
    pub fn solve<L: MarginLoss>(&self, risk: &Risk<'_, L>, watch: &Watch) -> Result<MarginSolved> {
        if risk.penalty().is_none() || !risk.penalty().free_columns().is_empty() {
            return Err(Error::usage("dual coordinate descent needs a penalty on every column").help(words![
                "use ",
                Setting::Loss.is("squared-hinge"),
                " with ",
                Setting::Solver.is("newton")
            ]));
        }
        let mut tile = Tile::default();
        let mut run = DualRun::new(risk, watch, &mut tile)?;
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

impl<'r, 'd, L: MarginLoss> DualRun<'r, 'd, L> {
    fn new(risk: &'r Risk<'d, L>, watch: &'r Watch, tile: &'r mut Tile) -> Result<DualRun<'r, 'd, L>> {
        let rows = DualRows::new(risk, tile, watch)?;
        let sample = risk.sample();
        let ridge = risk.penalty().ridge();
        let multiplier = |i: &usize| {
            let capacity = sample.weights.map_or(1.0, |w| w[*i]) / (ridge * risk.total_weight());
            Multiplier {
                y: if sample.labels[*i] == Class(1) { 1.0 } else { -1.0 },
                alpha: 0.0,
                limit: capacity * risk.loss().largest_multiplier(),
                curvature: risk.loss().dual_curvature() / capacity,
                capacity,
                offset: sample.offsets.map_or(0.0, |o| o[*i]),
            }
        };
        let rho = match risk.intercept() {
            Intercept::None => 0.0,
            Intercept::Penalised => 1.0,
            // As long as an average row: the constraint weighs as much as a feature.
            Intercept::Free => (rows.squares.iter().sum::<f64>() / rows.len() as f64).max(f64::MIN_POSITIVE),
        };
        Ok(DualRun {
            risk,
            watch,
            multipliers: rows.places.iter().map(multiplier).collect(),
            weights: vec![0.0; rows.width],
            total: 0.0,
            kappa_total: 0.0,
            dual: 0.0,
            rho,
            intercept: 0.0,
            order: (0..rows.len() as u32).collect(),
            active: rows.len(),
            random: ChaCha8Rng::seed_from_u64(0),
            best: MarginSolved::at_zero(risk),
            scale: risk.null_objective() / ridge,
            rows,
        })
    }

    fn iterate(&mut self, limits: &DualCoordinateDescent) -> Result<Stop> {
        let free = self.risk.intercept() == Intercept::Free;
        let unbounded = (f64::NEG_INFINITY, f64::INFINITY);
        let (mut bounds, mut goal) = (unbounded, 0.5 * limits.tolerance);
        loop {
            if let Some(halt) = self.watch.halted() {
                return Ok(Stop::halted(Some(halt)));
            }
            if self.best.trace.len() >= limits.max_iterations {
                return Ok(Stop::IterationLimit);
            }
            let whole = self.active == self.rows.len();
            let round = self.round(bounds);
            let imbalance = if free { self.total.abs() * (1.0 + self.free_intercept().abs()) } else { 0.0 };
            let gap = (round.gap + imbalance) / self.scale;
            let objective = self.dual * self.risk.penalty().ridge();
            self.best.trace.push(Step { objective, relative_gap: None, step: 1.0 });
            self.watch.report(Progress::Iteration {
                solver: "dual-cd",
                iteration: self.best.trace.len(),
                objective,
                relative_gap: Some(gap),
            });
            let settled = whole && round.low <= round.high && round.high - round.low <= ROUNDING;
            let at_rest = !free || self.rho * self.total.abs() <= ROUNDING;
            (self.active, bounds) = match () {
                () if gap <= goal || (settled && !free) => {
                    if whole {
                        if self.certify(self.watch)?.is_some_and(|gap| gap <= limits.tolerance) {
                            return Ok(Stop::Converged);
                        }
                        if (settled && at_rest) || goal < f64::MIN_POSITIVE {
                            return Ok(Stop::PrecisionLimit);
                        }
                        goal *= SOONER;
                        if free {
                            self.intercept += self.rho * self.total;
                        }
                    }
                    (self.rows.len(), unbounded)
                }
                () if free && (round.gap <= PROXIMAL_SHARE * imbalance || settled) => {
                    if settled && at_rest {
                        return Ok(Stop::PrecisionLimit);
                    }
                    self.intercept += self.rho * self.total;
                    (self.rows.len(), unbounded)
                }
                // All were left out, on gradients of a moment ago.
                () if self.active == 0 => (self.rows.len(), unbounded),
                () => {
                    let low = if round.low < 0.0 { round.low } else { f64::NEG_INFINITY };
                    let high = if round.high > 0.0 { round.high } else { f64::INFINITY };
                    (self.active, (low, high))
                }
            };
        }
    }

    /// Visits the active multipliers once; those at a bound with a gradient beyond the given range are left out.
    fn round(&mut self, (low, high): (f64, f64)) -> DualRound {
        let mut seen = DualRound { low: f64::INFINITY, high: f64::NEG_INFINITY, gap: 0.0 };
        self.order[..self.active].shuffle(&mut self.random);
        let mut at = 0;
        while at < self.active {
            let i = self.order[at] as usize;
            let margin = self.margin(i);
            let Multiplier { alpha, limit, curvature, capacity, .. } = self.multipliers[i];
            let gradient = margin - 1.0 + curvature * alpha;
            seen.gap += capacity * self.risk.loss().at_margin(margin)
                + alpha * (margin - 1.0)
                + 0.5 * curvature * alpha * alpha;
            if (alpha == 0.0 && gradient > high) || (alpha == limit && gradient < low) {
                self.active -= 1;
                self.order.swap(at, self.active);
                continue;
            }
            at += 1;
            let projected = match alpha {
                0.0 => gradient.min(0.0),
                a if a == limit => gradient.max(0.0),
                _ => gradient,
            };
            seen.low = seen.low.min(projected);
            seen.high = seen.high.max(projected);
            if projected != 0.0 {
                let second = self.rows.squares[i] + self.rho + curvature;
                // A row of zeros has no second derivative: the division sends it to the bound its gradient points at.
                let next = (alpha - gradient / second).clamp(0.0, limit);
                self.dual -= (next - alpha) * (gradient + 0.5 * second * (next - alpha));
                self.set(i, next);
            }
        }
        seen
    }

    /// `y z` of a row.
    #[inline]
    fn margin(&self, i: usize) -> f64 {
        let m = &self.multipliers[i];
        let kappa = self.rows.kappa.get(i).copied().unwrap_or(0.0);
        let constant = self.total * (self.rows.centre_square + self.rho - kappa) - self.kappa_total;
        m.y * (self.rows.dot(i, &self.weights) + constant + self.intercept + m.offset) + m.alpha * self.rows.own[i]
    }

    #[inline]
    fn set(&mut self, i: usize, alpha: f64) {
        let m = &mut self.multipliers[i];
        let change = m.y * (alpha - m.alpha);
        m.alpha = alpha;
        self.total += change;
        self.kappa_total += change * self.rows.kappa.get(i).copied().unwrap_or(0.0);
        self.rows.add(i, change, &mut self.weights);
    }

    fn free_intercept(&self) -> f64 {
        self.intercept + self.rho * self.total
    }

    /// Proves the gap of the multipliers and the weights they stand for; keeps them if they are the best so far.
    fn certify(&mut self, watch: &Watch) -> Result<Option<f64>> {
        let (risk, sample) = (self.risk, self.risk.sample());
        let mut multipliers = vec![0.0; sample.labels.len()];
        for (i, m) in self.rows.places.iter().zip(&self.multipliers) {
            multipliers[*i] = m.alpha / m.capacity;
        }
        // The weights are those of the multipliers as they are: balancing them first would only move the weights away.
        let value = |i: usize| match sample.labels[i] {
            Class(1) => multipliers[i] * sample.weights.map_or(1.0, |w| w[i]),
            _ => -multipliers[i] * sample.weights.map_or(1.0, |w| w[i]),
        };
        let values: Vec<f64> = (0..multipliers.len()).map(value).collect();
        let (sums, totals) = risk.weighted_sums(&values, watch)?;
        let total = risk.total_weight();
        let weights = sums.iter().enumerate().map(|(j, s)| s / (total * risk.penalty().ridge_of(j)));
        let intercept = match risk.intercept() {
            Intercept::None => 0.0,
            Intercept::Penalised => totals[0] / (total * risk.penalty().ridge()),
            Intercept::Free => self.free_intercept(),
        };
        let mut coef = Coef::from_vec(weights.chain([intercept]).collect(), 1, sums.len());
        // The squared hinge has one best intercept, to which the estimate converges.
        let mut intercepts = None;
        if risk.intercept() == Intercept::Free && risk.loss().dual_curvature() == 0.0 {
            let interval = best_intercepts(risk, &coef, watch)?;
            coef.intercept_mut()[0] = 0.5 * (interval.0 + interval.1);
            intercepts = Some(interval);
            self.best.passes += 1;
        }
        let multipliers = feasible_multipliers(risk, &multipliers);
        let (objective, certificate) = multiplier_gap(risk, &coef, &multipliers, watch)?;
        self.best.passes += 3;
        Ok(self.best.offer(coef, objective, multipliers, intercepts, certificate))
    }
}

//! The perceptron of the textbooks: from any start, with steps that change, by one row or by the sum or the mean of all rows on
//! the wrong side.
//!
//! `θ ← θ + α_k d`, d being `y x̃` of a row, or `Σ_M s y x̃` over the rows M on the wrong side, or that over `Σ_M s`. From a start
//! other than zero, or with steps that change, the bound `R²‖θ*‖²/γ²` on the updates of the other rules does not hold, and for the sum
//! of many rows it does not either. With `α_k = θ*·d/‖d‖²` an update brings θ nearer to θ*, by at least γ²/R² in the square.

use super::rows::PerceptronSums;
use super::{FollowedUpdate, MistakeDriven, Order, SignedRows};
use crate::error::Result;
use crate::objective::Coef;
use crate::solve::Stop;
use crate::watch::{Progress, Watch};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

/// What a perceptron is moved by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerceptronMove {
    /// One row.
    Row,
    /// The mean of all rows on the wrong side.
    Mean,
    /// Their sum.
    Sum,
}

/// How the steps of a perceptron, or along gradients, change; the first of them is η.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PerceptronSteps {
    /// η at every update.
    #[default]
    Constant,
    /// η/t at update t.
    Harmonic,
    /// η/√t.
    Root,
    /// η times these, one after the other; the last from then on.
    Listed(Vec<f64>),
    /// `θ*·d/‖d‖²` with the plane θ* of the widest margin (rows that separate only).
    Best,
}

impl PerceptronSteps {
    /// Whether all steps are η.
    pub fn is_constant(&self) -> bool {
        *self == PerceptronSteps::Constant
    }

    /// The step t = 1, 2 … along a gradient, as a multiple of η.
    pub(in crate::solve) fn along_gradient(&self, t: usize) -> f64 {
        self.at(t, || 1.0)
    }

    /// The step of update t = 1, 2 … as a multiple of η; `best` is what it is by the best plane.
    pub(in crate::solve) fn at(&self, t: usize, best: impl FnOnce() -> f64) -> f64 {
        match self {
            PerceptronSteps::Constant => 1.0,
            PerceptronSteps::Harmonic => 1.0 / t as f64,
            PerceptronSteps::Root => 1.0 / (t as f64).sqrt(),
            PerceptronSteps::Listed(steps) => steps.get(t - 1).or(steps.last()).copied().unwrap_or(1.0),
            PerceptronSteps::Best => best(),
        }
    }
}

/// What is run.
pub struct SteppedRule {
    /// What θ is moved by.
    pub by: PerceptronMove,
    /// η.
    pub step: f64,
    /// How it changes.
    pub steps: PerceptronSteps,
    /// Where θ starts; zero unless given.
    pub start: Option<Coef>,
    /// θ* of [`PerceptronSteps::Best`].
    pub best: Option<Coef>,
    /// The order of rows one at a time.
    pub order: Order,
    /// Its seed.
    pub seed: u64,
}

/// A perceptron with any start and steps.
pub struct SteppedPerceptron<'r, 'd> {
    rows: &'r SignedRows<'d>,
    rule: SteppedRule,
    visits: Vec<usize>,
    random: ChaCha8Rng,
    sums: PerceptronSums,
    updates: usize,
    epochs: usize,
}

impl<'r, 'd> SteppedPerceptron<'r, 'd> {
    /// At the start.
    pub fn new(rows: &'r SignedRows<'d>, rule: SteppedRule) -> SteppedPerceptron<'r, 'd> {
        let sums = rule.start.as_ref().map_or_else(|| rows.zero(), |start| rows.sums_of(start));
        let random = ChaCha8Rng::seed_from_u64(rule.seed);
        SteppedPerceptron { rows, visits: rows.counted().to_vec(), random, sums, rule, updates: 0, epochs: 0 }
    }

    /// Moves θ by a direction; `row` is the one it is of.
    fn update(&mut self, direction: &PerceptronSums, row: Option<usize>, watch: &Watch) {
        self.updates += 1;
        let best = || {
            let d = self.rows.coef(direction);
            let square = d.dot(&d);
            match &self.rule.best {
                Some(best) if square > 0.0 => best.dot(&d) / square,
                _ => 1.0,
            }
        };
        let step = match self.rule.steps {
            // By itself as long as it has to be.
            PerceptronSteps::Best => best(),
            _ => self.rule.step * self.rule.steps.at(self.updates, best),
        };
        let before = row.map(|row| self.rows.margin(&self.sums, row));
        self.sums.add_scaled(step, direction);
        let moved = FollowedUpdate { update: self.updates, row, step, before };
        super::report_update(watch, self.rows, &self.sums, &moved);
    }

    /// One pass row by row; how many rows moved θ.
    fn by_rows(&mut self, watch: &Watch) -> Option<usize> {
        if self.rule.order == Order::Shuffled {
            self.visits.shuffle(&mut self.random);
        }
        let (before, poll) = (self.updates, self.rows.poll());
        for at in 0..self.visits.len() {
            if at % poll == 0 && watch.halted().is_some() {
                return None;
            }
            let row = self.visits[at];
            if !self.rows.is_right(&self.sums, row) {
                let mut direction = self.rows.zero();
                self.rows.add(&mut direction, row, 1.0);
                self.update(&direction, Some(row), watch);
            }
        }
        Some(self.updates - before)
    }

    /// One update by all rows on the wrong side; how many there are.
    fn by_all(&mut self, watch: &Watch) -> Option<usize> {
        if watch.halted().is_some() {
            return None;
        }
        let mut direction = self.rows.zero();
        let (mut weight, mut wrong) = (0.0, 0);
        for row in self.visits.iter().filter(|row| !self.rows.is_right(&self.sums, **row)) {
            self.rows.add(&mut direction, *row, self.rows.weight(*row));
            weight += self.rows.weight(*row);
            wrong += 1;
        }
        if wrong > 0 {
            if self.rule.by == PerceptronMove::Mean {
                direction = self.rows.zero().minus(&direction, -weight);
            }
            self.update(&direction, None, watch);
        }
        Some(wrong)
    }
}

impl MistakeDriven for SteppedPerceptron<'_, '_> {
    fn run(&mut self, epochs: usize, watch: &Watch) -> Result<Stop> {
        if self.updates == 0 {
            let start = FollowedUpdate { update: 0, row: None, step: 0.0, before: None };
            super::report_update(watch, self.rows, &self.sums, &start);
        }
        while self.epochs < epochs {
            let moved = match self.rule.by {
                PerceptronMove::Row => self.by_rows(watch),
                PerceptronMove::Mean | PerceptronMove::Sum => self.by_all(watch),
            };
            let Some(moved) = moved else { return Ok(Stop::halted(watch.halted())) };
            self.epochs += 1;
            if moved == 0 {
                return Ok(Stop::Converged);
            }
            watch.report(Progress::Iteration {
                solver: "perceptron",
                iteration: self.epochs,
                objective: moved as f64 / self.visits.len().max(1) as f64,
                relative_gap: None,
            });
        }
        Ok(Stop::IterationLimit)
    }

    fn coef(&self) -> Coef {
        self.rows.coef(&self.sums)
    }

    fn mistakes(&self) -> usize {
        self.updates
    }

    fn epochs(&self) -> usize {
        self.epochs
    }
}

//! The pocket algorithm: the online rule on rows drawn with replacement, and the best θ so far in the pocket.
//!
//! Best is the longest run of rows drawn in a row and found right, or the fewest training errors (Gallant 1990, his
//! ratchet). Errors are counted of a θ whose run has become longer than that of the one in the pocket; since a count is a
//! pass over the rows, there are at most [`COUNTS`] per epoch on average, and one for every run that is a record.
//!
//! The θ at hand is considered when its run ends, *and when the algorithm ends*: one that makes no mistakes has no end of
//! its run, and would otherwise never get into the pocket. If it makes no training error it is kept however short its run.
//!
//! A row is drawn with probability in proportion to its weight, so that weight k is the row k times. In the order of the rows
//! they are visited one after the other, and weights only say whether.

use super::rows::PerceptronSums;
use super::{MistakeDriven, Order, SignedRows};
use crate::error::Result;
use crate::objective::Coef;
use crate::solve::Stop;
use crate::watch::{Progress, Watch};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

/// Counts of the errors per epoch, on average: each is a pass over the rows. Chosen, out of reach of
/// bench/constants.md; it weighs time against how often a better plane is noticed.
const COUNTS: usize = 4;

/// What makes one θ better than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PocketRule {
    /// A longer run of right rows.
    Run,
    /// Fewer training errors, counted where the run is longer.
    #[default]
    Errors,
}

/// The pocket algorithm.
pub struct PocketPerceptron<'r, 'd> {
    rows: &'r SignedRows<'d>,
    rule: PocketRule,
    /// Running sums of the weights, unless all are equal.
    cumulative: Option<Vec<f64>>,
    order: Order,
    random: ChaCha8Rng,
    sums: PerceptronSums,
    run: usize,
    /// The longest run that has ended.
    longest: usize,
    /// Whether the errors of `sums` have been counted.
    counted: bool,
    counts: usize,
    pocket: Pocket,
    draws: usize,
    mistakes: usize,
}

struct Pocket {
    sums: PerceptronSums,
    run: usize,
    /// Infinite where they have not been counted.
    errors: f64,
}

impl<'r, 'd> PocketPerceptron<'r, 'd> {
    /// At θ = 0, which is in the pocket too.
    pub fn new(rows: &'r SignedRows<'d>, rule: PocketRule, seed: u64) -> PocketPerceptron<'r, 'd> {
        let weights = || rows.counted().iter().map(|i| rows.weight(*i));
        let first = weights().next();
        let equal = weights().all(|w| Some(w) == first);
        let cumulative = || {
            let mut sum = 0.0;
            let add = |w: f64| {
                sum += w;
                sum
            };
            weights().map(add).collect()
        };
        PocketPerceptron {
            rows,
            rule,
            cumulative: (!equal).then(cumulative),
            order: Order::Shuffled,
            random: ChaCha8Rng::seed_from_u64(seed),
            sums: rows.zero(),
            run: 0,
            longest: 0,
            counted: false,
            counts: 0,
            pocket: Pocket { sums: rows.zero(), run: 0, errors: f64::INFINITY },
            draws: 0,
            mistakes: 0,
        }
    }

    /// The same with rows in their order, instead of drawn ones.
    pub fn in_order(mut self, order: Order) -> PocketPerceptron<'r, 'd> {
        self.order = order;
        self
    }

    fn draw(&mut self) -> usize {
        let rows = self.rows.counted();
        if self.order == Order::Given {
            return rows[self.draws % rows.len()];
        }
        let at = match &self.cumulative {
            None => self.random.random_range(0..rows.len()),
            Some(sums) => {
                let point = self.random.random::<f64>() * sums[sums.len() - 1];
                sums.partition_point(|s| *s <= point).min(rows.len() - 1)
            }
        };
        rows[at]
    }

    fn visit(&mut self, row: usize) {
        self.draws += 1;
        if self.rows.is_right(&self.sums, row) {
            self.run += 1;
            if self.rule == PocketRule::Errors && !self.counted && self.is_worth_a_count() {
                self.count();
            }
            return;
        }
        if self.rule == PocketRule::Run && self.run > self.pocket.run {
            self.keep(f64::INFINITY);
        }
        self.longest = self.longest.max(self.run);
        self.rows.add(&mut self.sums, row, 1.0);
        self.mistakes += 1;
        (self.run, self.counted) = (0, false);
    }

    fn is_worth_a_count(&self) -> bool {
        let affordable = self.counts * self.rows.counted().len() <= COUNTS * self.draws;
        self.run > self.longest || (self.run > self.pocket.run && affordable)
    }

    fn keep(&mut self, errors: f64) {
        self.pocket = Pocket { sums: self.sums.clone(), run: self.run, errors };
    }

    /// Counts the errors of θ and keeps it if they are fewer than those of the pocket, or none at all.
    fn count(&mut self) {
        let errors = self.rows.errors(&self.sums);
        (self.counted, self.counts) = (true, self.counts + 1);
        if errors == 0.0 || (self.rule == PocketRule::Errors && errors < self.pocket.errors) {
            self.keep(errors);
        }
    }

    /// The θ at hand, considered at the end; whether one without errors has been found.
    fn end(&mut self) -> bool {
        if self.rule == PocketRule::Run && (self.run > self.pocket.run || self.pocket.run == 0) {
            self.keep(f64::INFINITY);
        }
        self.count();
        self.pocket.errors == 0.0
    }
}

impl MistakeDriven for PocketPerceptron<'_, '_> {
    fn run(&mut self, epochs: usize, watch: &Watch) -> Result<Stop> {
        let (poll, n) = (self.rows.poll(), self.rows.counted().len());
        let limit = epochs.saturating_mul(n);
        while self.draws < limit {
            if self.draws.is_multiple_of(poll)
                && let Some(halt) = watch.halted()
            {
                return Ok(if self.end() { Stop::Converged } else { Stop::halted(Some(halt)) });
            }
            let row = self.draw();
            self.visit(row);
            // As many right in a row as there are rows: perhaps all are.
            if self.run > 0 && self.run.is_multiple_of(n) {
                self.count();
            }
            if self.pocket.errors == 0.0 {
                return Ok(Stop::Converged);
            }
            if self.draws.is_multiple_of(n) {
                watch.report(Progress::Iteration {
                    solver: "pocket",
                    iteration: self.draws / n,
                    objective: self.pocket.run as f64,
                    relative_gap: None,
                });
            }
        }
        Ok(if self.end() { Stop::Converged } else { Stop::IterationLimit })
    }

    fn coef(&self) -> Coef {
        self.rows.coef(&self.pocket.sums)
    }

    fn mistakes(&self) -> usize {
        self.mistakes
    }

    fn epochs(&self) -> usize {
        self.draws.div_ceil(self.rows.counted().len().max(1))
    }
}

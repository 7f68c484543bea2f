//! Rosenblatt's rule, row by row: `θ ← θ + y x̃` where `y θ·x̃ ≤ 0`; the average of all θ on demand.
//!
//! The average over the steps t = 1 … T of θ after step t is `θ_T − (1/T) Σ (t−1) y x̃` over the updates, because one made
//! at step t is in `T − (t−1)` of them: so a step that changes nothing costs nothing.
//!
//! The weight of a row says only whether it is visited (not if it is zero): a longer step by a heavy row would void the bound
//! on the mistakes.

use super::rows::PerceptronSums;
use super::{FollowedUpdate, MistakeDriven, Order, SignedRows};
use crate::error::Result;
use crate::objective::Coef;
use crate::solve::Stop;
use crate::watch::{Progress, Watch};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The online perceptron, plain or averaged.
///
/// ```
/// use linsep::design::{LabelledRows, DenseMatrix, Tile, Units};
/// use linsep::solve::{MistakeDriven, OnlinePerceptron, Order, SignedRows, Stop};
/// use linsep::table::Class;
/// let x = DenseMatrix::new(vec![-1.0, 2.0], 1)?;
/// let (units, mut tile, watch) = (Units::identity(1), Tile::default(), Default::default());
/// let rows = SignedRows::new(LabelledRows::new(&x, &[Class(0), Class(1)]), &units, true, &mut tile, &watch)?;
/// let mut perceptron = OnlinePerceptron::new(&rows, Order::Given, 0);
/// assert_eq!(perceptron.run(100, &watch)?, Stop::Converged);
/// // Row 1 at θ = 0 moves θ to (1, −1); row 2 is then right, and so is row 1.
/// assert_eq!((perceptron.coef().as_slice(), perceptron.mistakes()), (&[1.0, -1.0][..], 1));
/// # Ok::<(), linsep::Error>(())
/// ```
pub struct OnlinePerceptron<'r, 'd> {
    rows: &'r SignedRows<'d>,
    visits: Vec<usize>,
    order: Order,
    random: ChaCha8Rng,
    sums: PerceptronSums,
    /// `Σ (t−1) y x̃` where the average is wanted.
    early: Option<PerceptronSums>,
    steps: usize,
    mistakes: usize,
    epochs: usize,
}

impl<'r, 'd> OnlinePerceptron<'r, 'd> {
    /// At θ = 0.
    pub fn new(rows: &'r SignedRows<'d>, order: Order, seed: u64) -> OnlinePerceptron<'r, 'd> {
        OnlinePerceptron {
            rows,
            visits: rows.counted().to_vec(),
            order,
            random: ChaCha8Rng::seed_from_u64(seed),
            sums: rows.zero(),
            early: None,
            steps: 0,
            mistakes: 0,
            epochs: 0,
        }
    }

    /// The same run, returning the average of θ over all steps.
    pub fn averaged(mut self) -> OnlinePerceptron<'r, 'd> {
        self.early = Some(self.rows.zero());
        self
    }

    fn visit(&mut self, row: usize, watch: &Watch) {
        if !self.rows.is_right(&self.sums, row) {
            let before = watch.follows().then(|| self.rows.margin(&self.sums, row));
            self.rows.add(&mut self.sums, row, 1.0);
            let moved = FollowedUpdate { update: self.mistakes + 1, row: Some(row), step: 1.0, before };
            super::report_update(watch, self.rows, &self.sums, &moved);
            if let Some(early) = &mut self.early {
                self.rows.add(early, row, self.steps as f64);
            }
            self.mistakes += 1;
        }
        self.steps += 1;
    }
}

impl MistakeDriven for OnlinePerceptron<'_, '_> {
    fn run(&mut self, epochs: usize, watch: &Watch) -> Result<Stop> {
        let poll = self.rows.poll();
        if self.steps == 0 {
            let start = FollowedUpdate { update: 0, row: None, step: 0.0, before: None };
            super::report_update(watch, self.rows, &self.sums, &start);
        }
        while self.epochs < epochs {
            if self.order == Order::Shuffled {
                self.visits.shuffle(&mut self.random);
            }
            let before = self.mistakes;
            for at in 0..self.visits.len() {
                if at % poll == 0
                    && let Some(halt) = watch.halted()
                {
                    return Ok(Stop::halted(Some(halt)));
                }
                self.visit(self.visits[at], watch);
            }
            self.epochs += 1;
            let mistakes = self.mistakes - before;
            if mistakes == 0 {
                return Ok(Stop::Converged);
            }
            watch.report(Progress::Iteration {
                solver: "perceptron",
                iteration: self.epochs,
                objective: mistakes as f64 / self.visits.len() as f64,
                relative_gap: None,
            });
        }
        Ok(Stop::IterationLimit)
    }

    fn coef(&self) -> Coef {
        match &self.early {
            Some(early) if self.steps > 0 => self.rows.coef(&self.sums.minus(early, self.steps as f64)),
            _ => self.rows.coef(&self.sums),
        }
    }

    fn mistakes(&self) -> usize {
        self.mistakes
    }

    fn epochs(&self) -> usize {
        self.epochs
    }
}

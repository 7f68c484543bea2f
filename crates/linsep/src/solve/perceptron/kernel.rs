//! Rosenblatt's rule in a feature space: a row on the wrong side, `y g(x) ≤ 0` with `g = Σ α y K(x_i, ·)`, is counted once
//! more, `α ← α + 1`. With the kernel `x·y + 1` that is the online perceptron with an intercept, step by step.

use super::Order;
use crate::kernel::{Kernel, KernelRows, TargetRows, kernel_rows};
use crate::solve::Stop;
use crate::watch::{Progress, Watch};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

/// Scores updated by one task: fixed blocks. Chosen, out of reach of bench/constants.md: only the time depends on it.
const PIECE: usize = 1024;

/// The online perceptron with a kernel.
///
/// ```
/// use linsep::design::{DenseMatrix, Units};
/// use linsep::kernel::{Kernel, KernelRows};
/// use linsep::solve::{KernelPerceptronRun, Order, Stop};
/// // Exclusive or, which no plane separates.
/// let x = DenseMatrix::new(vec![0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0], 2)?;
/// let (watch, signs) = (Default::default(), [-1.0, -1.0, 1.0, 1.0]);
/// let rows = KernelRows::new(&x, &Units::identity(2), &watch)?;
/// let squared = Kernel::Polynomial { gamma: 1.0, coef0: 1.0, degree: 2 };
/// let mut run = KernelPerceptronRun::new(&squared, &rows, &signs, vec![0, 1, 2, 3], Order::Given, 0);
/// assert_eq!(run.run(100, &watch), Stop::Converged);
/// assert!(run.scores().iter().zip(&signs).all(|(g, y)| g * y > 0.0));
/// # Ok::<(), linsep::Error>(())
/// ```
pub struct KernelPerceptronRun<'a> {
    kernel: &'a Kernel,
    rows: &'a KernelRows,
    signs: &'a [f64],
    targets: Vec<TargetRows<f64>>,
    visits: Vec<usize>,
    order: Order,
    random: ChaCha8Rng,
    counts: Vec<u64>,
    scores: Vec<f64>,
    mistakes: usize,
    epochs: usize,
}

impl<'a> KernelPerceptronRun<'a> {
    /// At α = 0, to visit the given rows.
    pub fn new(
        kernel: &'a Kernel,
        rows: &'a KernelRows,
        signs: &'a [f64],
        visits: Vec<usize>,
        order: Order,
        seed: u64,
    ) -> KernelPerceptronRun<'a> {
        let all: Vec<usize> = (0..rows.len()).collect();
        KernelPerceptronRun {
            kernel,
            rows,
            signs,
            targets: all.chunks(PIECE).map(|ids| TargetRows::new(kernel, rows, ids)).collect(),
            visits,
            order,
            random: ChaCha8Rng::seed_from_u64(seed),
            counts: vec![0; rows.len()],
            scores: vec![0.0; rows.len()],
            mistakes: 0,
            epochs: 0,
        }
    }

    /// Goes on until `epochs` epochs are done in all, or an epoch passes without a mistake, or the watch halts.
    pub fn run(&mut self, epochs: usize, watch: &Watch) -> Stop {
        while self.epochs < epochs {
            if self.order == Order::Shuffled {
                self.visits.shuffle(&mut self.random);
            }
            let before = self.mistakes;
            for at in 0..self.visits.len() {
                let row = self.visits[at];
                if self.signs[row] * self.scores[row] > 0.0 {
                    continue;
                }
                if let Some(halt) = watch.halted() {
                    return Stop::halted(Some(halt));
                }
                self.count(row);
            }
            self.epochs += 1;
            let mistakes = self.mistakes - before;
            if mistakes == 0 {
                return Stop::Converged;
            }
            watch.report(Progress::Iteration {
                solver: "kernel perceptron",
                iteration: self.epochs,
                objective: mistakes as f64 / self.visits.len() as f64,
                relative_gap: None,
            });
        }
        Stop::IterationLimit
    }

    /// Counts a mistake and moves the scores of all rows.
    fn count(&mut self, row: usize) {
        self.counts[row] += 1;
        self.mistakes += 1;
        let (kernel, rows, sign) = (self.kernel, self.rows, self.signs[row]);
        self.scores.par_chunks_mut(PIECE).zip(&self.targets).for_each(|(scores, targets)| {
            let mut values = vec![0.0; targets.padded()];
            kernel_rows(kernel, rows, &[row], targets, &mut [&mut values]);
            scores.iter_mut().zip(&values).for_each(|(g, k)| *g = sign.mul_add(*k, *g));
        });
    }

    /// α: how often each row was a mistake.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// g of every row.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Mistakes so far.
    pub fn mistakes(&self) -> usize {
        self.mistakes
    }

    /// Epochs done.
    pub fn epochs(&self) -> usize {
        self.epochs
    }
}

//! The rows that still matter, and rounds over them: choose a working set, solve it pair by pair, move the gradient.

use super::cache::RowCache;
use super::pairs::WorkingPairs;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, KernelRows, Real, TargetRows, kernel_table};
use crate::watch::Watch;
use crate::words::{Setting, words};
use rayon::prelude::*;

/// Rows of the gradient updated by one task. Chosen (bench/constants.md): only the time depends on it.
const PIECE: usize = 2048;
/// The largest working set: its kernel values, 512² singles, take one megabyte, about a second-level cache. Raised from
/// 256 without a record of the times.
const WORKING: usize = 512;
/// The smallest working set; see [`PART`].
const LEAST: usize = 64;
/// Of few rows a working set takes this part: on 700 rows a table of 512 was most of the work. Smaller sets for few
/// rows took letter by pairs from 2.4 to 4.5 times as fast as SVC (bench/README.md); other shares were not recorded.
const PART: usize = 8;
/// A working set is solved to this share of its violation; raised from 0.1 without a record of the times. Chosen
/// (bench/constants.md): only the time depends on it.
const SHARE: f64 = 0.3;
/// Pairs optimised within a working set at most, for each of its rows. Chosen (bench/constants.md).
const PAIRS: usize = 16;
/// Rounds between two tests which rows can be left out (shrinking). Chosen (bench/constants.md).
const SHRINK: usize = 8;
/// Rows are left out only where they are at least this share: the cache has to be copied. Chosen (bench/constants.md).
const WORTH: f64 = 0.15;

/// How rounds ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounds {
    /// No pair violates by more than was asked.
    Reached,
    /// As many pairs were moved as were allowed.
    Limit,
    /// The watch says stop.
    Halted,
    /// No pair moves any more.
    Stuck,
}

/// The problem as rounds see it.
#[derive(Clone, Copy)]
pub(super) struct SmoProblem<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) rows: &'a KernelRows,
    pub(super) diagonal: &'a [f64],
    /// Bounds of β = αy.
    pub(super) low: &'a [f64],
    pub(super) high: &'a [f64],
    /// Whether the β must balance; otherwise a row of zeros does.
    pub(super) has_intercept: bool,
}

/// β, its bounds and f = Kβ − y of the active rows.
pub(super) struct Active<'a, T> {
    problem: SmoProblem<'a>,
    pub(super) ids: Vec<usize>,
    pub(super) beta: Vec<f64>,
    pub(super) f: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    /// β of all rows; behind `beta` for the active ones.
    settled: Vec<f64>,
    targets: TargetRows<T>,
    pub(super) cache: RowCache<T>,
    previous: Vec<usize>,
    rounds: usize,
}

impl<'a, T: Real> Active<'a, T> {
    /// Some rows, with β and f of all rows.
    pub(super) fn new(
        problem: SmoProblem<'a>,
        ids: Vec<usize>,
        (beta, f): (&[f64], &[f64]),
        bytes: usize,
    ) -> Result<Active<'a, T>> {
        let targets = TargetRows::<T>::new(problem.kernel, problem.rows, &ids);
        let cache = RowCache::new(bytes, ids.len(), targets.padded());
        if cache.slots() < 2 {
            let needed = 2 * targets.padded() * std::mem::size_of::<T>();
            return Err(Error::usage(format!("a cache of {bytes} bytes does not hold two kernel rows")).help(words![
                "give ",
                Setting::Cache,
                format!(" at least {needed} bytes")
            ]));
        }
        let of = |values: &[f64]| ids.iter().map(|i| values[*i]).collect::<Vec<f64>>();
        let (low, high) = (of(problem.low), of(problem.high));
        let (settled, beta, f) = (beta.to_vec(), of(beta), of(f));
        Ok(Active { problem, beta, f, settled, low, high, targets, cache, previous: Vec::new(), rounds: 0, ids })
    }

    /// Whether β of an active row may rise, and whether it may fall.
    fn free(&self, i: usize) -> (bool, bool) {
        (self.beta[i] < self.high[i], self.beta[i] > self.low[i])
    }

    /// The smallest f among rows that may rise and the largest among those that may fall.
    pub(super) fn extremes(&self) -> (f64, f64) {
        extremes(&self.beta, &self.f, (&self.low, &self.high), self.problem.has_intercept)
    }

    /// Rounds until no pair violates by more than `goal`, or `most` pairs were moved; returns also their number.
    pub(super) fn run(&mut self, goal: f64, most: usize, watch: &Watch) -> (Rounds, usize) {
        let mut moved = 0;
        loop {
            let (smallest, largest) = self.extremes();
            if !(largest - smallest > goal) {
                return (Rounds::Reached, moved);
            }
            if watch.halted().is_some() {
                return (Rounds::Halted, moved);
            }
            if moved >= most {
                return (Rounds::Limit, moved);
            }
            self.rounds += 1;
            if self.rounds.is_multiple_of(SHRINK) {
                self.shrink(smallest, largest);
            }
            let working = self.choose(smallest, largest);
            let done = self.solve(&working, goal, most - moved);
            if done == 0 {
                return (Rounds::Stuck, moved);
            }
            moved += done;
            self.previous = working;
        }
    }

    /// The rows that violate most, half of them by being too low and half too high, and then those of the last time.
    fn choose(&self, smallest: f64, largest: f64) -> Vec<usize> {
        // Of few rows fewer, whose table costs little beside the rows of those that move.
        let share = (self.settled.len() / PART).clamp(LEAST, WORKING);
        let size = share.min(self.cache.slots() / 2 * 2).min(self.ids.len());
        let (mut up, mut down) = (Vec::new(), Vec::new());
        for (i, f) in self.f.iter().enumerate() {
            let (rise, fall) = self.free(i);
            if rise && *f < largest {
                up.push((*f, i));
            }
            if fall && *f > smallest {
                down.push((-*f, i));
            }
        }
        let mut taken = vec![false; self.ids.len()];
        let mut working = Vec::with_capacity(size);
        let mut take = |from: &mut Vec<(f64, usize)>, count: usize| {
            let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
            // Some of the first may be taken already.
            let looked = (2 * count).min(from.len());
            if looked < from.len() {
                from.select_nth_unstable_by(looked, order);
                from.truncate(looked);
            }
            from.sort_unstable_by(order);
            let mut room = count;
            for (_, i) in from.iter() {
                if room > 0 && !taken[*i] {
                    taken[*i] = true;
                    working.push(*i);
                    room -= 1;
                }
            }
        };
        take(&mut up, size / 2);
        take(&mut down, size - size / 2);
        for i in &self.previous {
            if working.len() < size && !taken[*i] {
                taken[*i] = true;
                working.push(*i);
            }
        }
        working.sort_unstable();
        working
    }

    /// Solves a working set and moves f of all active rows.
    fn solve(&mut self, working: &[usize], goal: f64, most: usize) -> usize {
        let SmoProblem { kernel, rows, diagonal, has_intercept, .. } = self.problem;
        let count = working.len();
        let mut pairs = WorkingPairs::new(if has_intercept { count } else { count + 1 });
        let stride = pairs.stride();
        let global: Vec<usize> = working.iter().map(|w| self.ids[*w]).collect();
        kernel_table::<T>(kernel, rows, &global, stride, &mut pairs.kernel[..count * stride]);
        if !has_intercept {
            // The row of zeros, which balances the others and costs nothing.
            (pairs.low[count], pairs.high[count]) = (f64::NEG_INFINITY, f64::INFINITY);
            pairs.diagonal[count] = 0.0;
        }
        for (at, w) in working.iter().enumerate() {
            pairs.f[at] = self.f[*w];
            pairs.beta[at] = self.beta[*w];
            (pairs.low[at], pairs.high[at]) = (self.low[*w], self.high[*w]);
            pairs.diagonal[at] = diagonal[self.ids[*w]];
        }
        let done = pairs.solve(0.5 * goal, SHARE, most.min(PAIRS * working.len()));
        // Only rows that moved need their kernel rows.
        let moved: Vec<usize> = (0..working.len()).filter(|at| pairs.beta[*at] != self.beta[working[*at]]).collect();
        let places: Vec<usize> = moved.iter().map(|at| working[*at]).collect();
        self.cache.ensure(&places, (kernel, rows, &self.ids), &self.targets);
        let mut moves: Vec<(f64, &[T])> = Vec::with_capacity(moved.len());
        for at in moved {
            let w = working[at];
            moves.push((pairs.beta[at] - self.beta[w], self.cache.row(w)));
            self.beta[w] = pairs.beta[at];
        }
        self.f.par_chunks_mut(PIECE).enumerate().for_each(|(p, f)| {
            let columns = p * PIECE..p * PIECE + f.len();
            for four in moves.chunks(4) {
                // Fewer than four are filled up with none of the last.
                let at = |k: usize| &four[k.min(four.len() - 1)].1[columns.clone()];
                let factor = |k: usize| four.get(k).map_or(0.0, |m| m.0);
                T::add_rows(f, [0, 1, 2, 3].map(factor), [0, 1, 2, 3].map(at));
            }
        });
        done
    }

    /// Lets rows go that are at a bound and far on the right side of it.
    fn shrink(&mut self, smallest: f64, largest: f64) {
        let matters = |i: usize| match self.free(i) {
            (true, true) => true,
            (true, false) => self.f[i] <= largest,
            (false, true) => self.f[i] >= smallest,
            (false, false) => false,
        };
        let kept: Vec<usize> = (0..self.ids.len()).filter(|i| matters(*i)).collect();
        if kept.len() < 2 || kept.len() as f64 > (1.0 - WORTH) * self.ids.len() as f64 {
            return;
        }
        self.keep(&kept);
    }

    fn keep(&mut self, kept: &[usize]) {
        self.settle();
        let mut place = vec![usize::MAX; self.ids.len()];
        kept.iter().enumerate().for_each(|(new, old)| place[*old] = new);
        self.previous = self.previous.iter().map(|i| place[*i]).filter(|i| *i != usize::MAX).collect();
        for values in [&mut self.beta, &mut self.f, &mut self.low, &mut self.high] {
            *values = kept.iter().map(|i| values[*i]).collect();
        }
        self.ids = kept.iter().map(|i| self.ids[*i]).collect();
        self.targets = TargetRows::new(self.problem.kernel, self.problem.rows, &self.ids);
        self.cache.shrink(kept, self.targets.padded());
    }

    /// β of all rows.
    pub(super) fn settle(&mut self) -> &[f64] {
        self.ids.iter().zip(&self.beta).for_each(|(i, b)| self.settled[*i] = *b);
        &self.settled
    }

    /// Takes over f of all rows, and rows that matter again.
    pub(super) fn resume(&mut self, f: &[f64], added: &[usize]) -> Result<()> {
        if !added.is_empty() {
            let SmoProblem { kernel, rows, low, high, .. } = self.problem;
            let before = self.ids.len();
            self.ids.extend_from_slice(added);
            self.beta.extend(added.iter().map(|i| self.settled[*i]));
            self.low.extend(added.iter().map(|i| low[*i]));
            self.high.extend(added.iter().map(|i| high[*i]));
            self.targets = TargetRows::new(kernel, rows, &self.ids);
            let fresh = TargetRows::<T>::new(kernel, rows, added);
            if added.len() > 2 * before {
                // Most of what is kept would have to be computed anew.
                let computed = self.cache.computed;
                self.cache = RowCache::new(self.cache.bytes(), self.ids.len(), self.targets.padded());
                self.cache.computed = computed;
            } else {
                self.cache.extend((kernel, rows, &self.ids), &fresh, self.targets.padded());
            }
            if self.cache.slots() < 2 {
                return Err(Error::usage("the cache does not hold two kernel rows").help(words![
                    "give ",
                    Setting::Cache,
                    " more"
                ]));
            }
        }
        self.f = self.ids.iter().map(|i| f[*i]).collect();
        Ok(())
    }
}

/// The smallest f among rows that may rise and the largest among those that may fall.
pub(super) fn extremes(beta: &[f64], f: &[f64], (low, high): (&[f64], &[f64]), has_intercept: bool) -> (f64, f64) {
    let (mut smallest, mut largest) = match has_intercept {
        true => (f64::INFINITY, f64::NEG_INFINITY),
        // The row of zeros may rise and fall.
        false => (0.0, 0.0),
    };
    for i in 0..f.len() {
        if beta[i] < high[i] && f[i] < smallest {
            smallest = f[i];
        }
        if beta[i] > low[i] && f[i] > largest {
            largest = f[i];
        }
    }
    (smallest, largest)
}

//! The statistics as bytes, for a file or another machine.

use super::{ClassColumns, Run, Sums, Support};
use crate::error::{Error, Result};

impl ClassColumns {
    /// The statistics as little-endian words: the shape, the runs, then weights and sums.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut words: Vec<[u8; 8]> =
            Vec::with_capacity(3 + 6 * self.runs.len() + 2 * self.first.len() + self.second.len());
        for size in [self.weights.len(), self.runs.len(), usize::from(!self.second.is_empty())] {
            words.push((size as u64).to_le_bytes());
        }
        for run in &self.runs {
            let sums = match run.sums {
                Sums::Total => 0u64,
                Sums::Moments => 1,
                Sums::Logarithms => 2,
            };
            let sizes = [run.columns.start as u64, run.columns.end as u64, sums, u64::from(run.support.whole)];
            words.extend(sizes.map(u64::to_le_bytes));
            words.extend([run.support.low, run.support.high].map(f64::to_le_bytes));
        }
        let numbers = self.weights.iter().chain(&self.first).chain(&self.tails).chain(&self.second);
        words.extend(numbers.map(|v| v.to_le_bytes()));
        words.concat()
    }

    /// The statistics back from [`ClassColumns::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<ClassColumns> {
        let bad = || Error::data("these bytes are not statistics of columns");
        let words: Vec<[u8; 8]> = bytes.chunks_exact(8).filter_map(|w| w.try_into().ok()).collect();
        let [classes, runs, seconds, words @ ..] = &words[..] else { return Err(bad()) };
        let [classes, runs, seconds] = [classes, runs, seconds].map(|w| u64::from_le_bytes(*w));
        if !bytes.len().is_multiple_of(8) || seconds > 1 || u128::from(runs) * 6 > words.len() as u128 {
            return Err(bad());
        }
        let (described, numbers) = words.split_at(6 * runs as usize);
        let runs = described.chunks_exact(6).map(run).collect::<Option<Vec<Run>>>().ok_or_else(bad)?;
        let cols = super::check_runs(&runs).map_err(|_| bad())?;
        let needs_second = runs.iter().any(|r| r.sums != Sums::Total);
        let expected = u128::from(classes)
            * (1 + cols as u128 * (1 + u128::from(seconds) + u128::from(super::has_moments(&runs))));
        if numbers.len() as u128 != expected || needs_second != (seconds == 1 && classes > 0 && cols > 0) {
            return Err(bad());
        }
        let classes = classes as usize;
        let mut numbers = numbers.iter().map(|w| f64::from_le_bytes(*w));
        let weights: Vec<f64> = numbers.by_ref().take(classes).collect();
        let first: Vec<f64> = numbers.by_ref().take(classes * cols).collect();
        let tails = if super::has_moments(&runs) { classes * cols } else { 0 };
        let tails: Vec<f64> = numbers.by_ref().take(tails).collect();
        let second: Vec<f64> = numbers.collect();
        // Impossible values are refused here: later they would only show as a meaningless fit.
        let finite = weights.iter().chain(&first).chain(&tails).chain(&second).all(|v| v.is_finite());
        let statistics = ClassColumns { runs, cols, weights, first, tails, second };
        if !finite || statistics.weights.iter().any(|w| *w < 0.0) || !statistics.is_possible() {
            return Err(bad());
        }
        Ok(statistics)
    }

    /// Whether squared deviations and totals have the signs that rows can give them.
    fn is_possible(&self) -> bool {
        let possible = |run: &Run, at: usize| match run.sums {
            Sums::Moments => self.second[at] >= 0.0,
            Sums::Total | Sums::Logarithms => run.support.low < 0.0 || self.first[at] >= 0.0,
        };
        let of_class =
            |k: usize| self.runs.iter().all(|run| run.columns.clone().all(|j| possible(run, k * self.cols + j)));
        (0..self.weights.len()).all(of_class)
    }
}

fn run(words: &[[u8; 8]]) -> Option<Run> {
    let size = |i: usize| usize::try_from(u64::from_le_bytes(words[i])).ok();
    let number = |i: usize| f64::from_le_bytes(words[i]);
    let sums = match size(2)? {
        0 => Sums::Total,
        1 => Sums::Moments,
        2 => Sums::Logarithms,
        _ => return None,
    };
    let support = Support { low: number(4), high: number(5), whole: size(3)? == 1 };
    Some(Run { columns: size(0)?..size(1)?, sums, support })
}

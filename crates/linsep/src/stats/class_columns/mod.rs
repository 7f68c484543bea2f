//! Sums of single columns within classes, in one pass: what methods need that take columns to be independent.

mod bytes;
mod gather;
mod support;

pub use support::Support;

use super::tail::{difference, moved};
use crate::design::Design;
use crate::error::{Error, Result};
use crate::table::Labels;
use crate::watch::Watch;
use std::ops::Range;

/// A class is empty where subtraction leaves a weight below this fraction of the former one: rounding.
const GONE: f64 = 1e-12;

/// What is summed of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sums {
    /// `Σ s·x`.
    Total,
    /// The mean and `Σ s·(x−mean)²`.
    Moments,
    /// `Σ s·x` and `Σ s·ln x`.
    Logarithms,
}

/// Consecutive columns that are treated alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The columns.
    pub columns: Range<usize>,
    /// What is summed.
    pub sums: Sums,
    /// What they may hold; anything else is refused with its place.
    pub support: Support,
}

/// Weight of every class, and sums of every column within it.
///
/// Statistics of disjoint rows merge, and rows that are gone can be taken out again: totals and logarithms add, moments
/// combine as in Chan, Golub and LeVeque (1983). What comes out is what all rows together give, up to rounding.
///
/// ```
/// use linsep::design::DenseMatrix;
/// use linsep::stats::{ClassColumns, Run, Sums, Support};
/// use linsep::table::Labels;
/// let x = DenseMatrix::new(vec![0.0, 2.0, 10.0, 14.0], 1)?;
/// let y = Labels::from_names(["a", "a", "b", "b"]);
/// let runs = [Run { columns: 0..1, sums: Sums::Moments, support: Support::REAL }];
/// let all = ClassColumns::of(&x, &y, None, &runs, &Default::default())?;
/// assert_eq!((all.mean(1, 0), all.squares(1, 0)), (12.0, 8.0));
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ClassColumns {
    runs: Vec<Run>,
    cols: usize,
    weights: Vec<f64>,
    /// Class by class: totals, or means for [`Sums::Moments`].
    first: Vec<f64>,
    /// What the doubles of means cannot hold; empty where no column has moments.
    tails: Vec<f64>,
    /// Class by class: squared deviations or logarithms; empty where no column has either.
    second: Vec<f64>,
}

impl ClassColumns {
    /// The statistics of no rows; the runs must cover all columns from 0 on without gaps.
    pub fn empty(classes: usize, runs: &[Run]) -> Result<ClassColumns> {
        let cols = check_runs(runs)?;
        let second = if runs.iter().all(|r| r.sums == Sums::Total) { 0 } else { classes * cols };
        let (weights, first) = (vec![0.0; classes], vec![0.0; classes * cols]);
        let tails = vec![0.0; if has_moments(runs) { classes * cols } else { 0 }];
        Ok(ClassColumns { runs: runs.to_vec(), cols, weights, first, tails, second: vec![0.0; second] })
    }

    /// From totals that were counted elsewhere, class by class, of columns whose totals are all that is kept.
    pub fn of_totals(runs: &[Run], weights: Vec<f64>, totals: Vec<f64>) -> Result<ClassColumns> {
        let cols = check_runs(runs)?;
        let sizes = weights.len().checked_mul(cols) == Some(totals.len());
        let numbers = weights.iter().chain(&totals).all(|v| v.is_finite() && *v >= 0.0);
        if !sizes || !numbers || runs.iter().any(|r| r.sums != Sums::Total) {
            return Err(Error::usage("totals of columns are finite numbers from 0, one for each class and column"));
        }
        Ok(ClassColumns { runs: runs.to_vec(), cols, weights, first: totals, tails: Vec::new(), second: Vec::new() })
    }

    /// The statistics of a labelled design, weighted where weights are given; rows of weight zero do not count.
    ///
    /// Rows are shifted by a reference near their own class before they are squared, so that columns like 1e9 + N(0,1)
    /// keep their variance, sparse ones as well. A value outside its column's support
    /// is an error that names column and row.
    pub fn of(
        design: &dyn Design,
        labels: &Labels,
        weights: Option<&[f64]>,
        runs: &[Run],
        watch: &Watch,
    ) -> Result<ClassColumns> {
        if check_runs(runs)? != design.shape().cols {
            return Err(Error::usage("the runs do not cover the columns of the design"));
        }
        gather::gather(design, labels, weights, runs, watch)
    }

    /// Adds rows of the same columns and classes.
    pub fn update(
        &mut self,
        design: &dyn Design,
        labels: &Labels,
        weights: Option<&[f64]>,
        watch: &Watch,
    ) -> Result<()> {
        self.merge(&ClassColumns::of(design, labels, weights, &self.runs, watch)?)
    }

    /// What is summed of which columns.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.cols
    }

    /// Total weights of all classes.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// `Σ s·x` of a column whose total is kept.
    #[inline]
    pub fn total(&self, class: usize, column: usize) -> f64 {
        self.first[class * self.cols + column]
    }

    /// `Σ s·x` of all columns of a class, where totals are kept.
    pub fn totals(&self, class: usize) -> &[f64] {
        &self.first[class * self.cols..(class + 1) * self.cols]
    }

    /// The mean of a column whose moments are kept.
    #[inline]
    pub fn mean(&self, class: usize, column: usize) -> f64 {
        self.first[class * self.cols + column]
    }

    /// `Σ s·(x−mean)²` of a column whose moments are kept.
    #[inline]
    pub fn squares(&self, class: usize, column: usize) -> f64 {
        self.second[class * self.cols + column]
    }

    /// `Σ s·ln x` of a column whose logarithms are kept.
    #[inline]
    pub fn logarithms(&self, class: usize, column: usize) -> f64 {
        self.second[class * self.cols + column]
    }

    /// Weights, then totals or means, what doubles of means cannot hold, and squared deviations or logarithms (none where no
    /// column has them), class by class.
    pub(crate) fn numbers(&self) -> [&[f64]; 4] {
        [&self.weights, &self.first, &self.tails, &self.second]
    }

    /// The same statistics with room for more classes, which have no rows yet.
    pub fn with_classes(mut self, classes: usize) -> Result<ClassColumns> {
        if classes < self.weights.len() {
            let message = format!("statistics of {} classes cannot be cut to {classes}", self.weights.len());
            return Err(Error::usage(message));
        }
        self.first.resize(classes * self.cols, 0.0);
        for some in [&mut self.tails, &mut self.second].into_iter().filter(|some| !some.is_empty()) {
            some.resize(classes * self.cols, 0.0);
        }
        self.weights.resize(classes, 0.0);
        Ok(self)
    }

    /// Adds the statistics of other rows of the same columns and classes.
    pub fn merge(&mut self, other: &ClassColumns) -> Result<()> {
        self.check_like(other)?;
        for k in 0..self.weights.len() {
            let (a, b) = (self.weights[k], other.weights[k]);
            if b == 0.0 {
                continue;
            }
            let share = b / (a + b);
            for run in &other.runs {
                for at in run.columns.clone().map(|j| k * self.cols + j) {
                    match run.sums {
                        Sums::Total => self.first[at] += other.first[at],
                        Sums::Logarithms => {
                            self.first[at] += other.first[at];
                            self.second[at] += other.second[at];
                        }
                        Sums::Moments if a == 0.0 => {
                            (self.first[at], self.tails[at]) = other.whole_mean(at);
                            self.second[at] = other.second[at];
                        }
                        Sums::Moments => {
                            let delta = difference(other.whole_mean(at), self.whole_mean(at));
                            (self.first[at], self.tails[at]) = moved(self.whole_mean(at), share * delta);
                            self.second[at] += other.second[at] + a * share * delta * delta;
                        }
                    }
                }
            }
            self.weights[k] = a + b;
        }
        Ok(())
    }

    /// Removes rows: the inverse of [`ClassColumns::merge`], up to rounding. Refused where a class would be left with a
    /// negative weight.
    pub fn remove(&mut self, other: &ClassColumns) -> Result<()> {
        self.check_like(other)?;
        // Sums of weights that are not whole may differ by rounding.
        let negligible = |k: usize| GONE * self.weights[k];
        if let Some(k) = (0..self.weights.len()).find(|k| other.weights[*k] - self.weights[*k] > negligible(*k)) {
            let message = format!(
                "class {} has the weight {}, so {} cannot be taken out",
                k + 1,
                self.weights[k],
                other.weights[k]
            );
            return Err(Error::data(message).help("remove only rows that were added"));
        }
        for k in 0..self.weights.len() {
            let (all, b) = (self.weights[k], other.weights[k]);
            if b == 0.0 {
                continue;
            }
            let left = all - b;
            let gone = left <= GONE * all;
            self.weights[k] = if gone { 0.0 } else { left };
            for run in &other.runs {
                // A sum of values that are not negative must not become negative by rounding.
                let floor = if run.support.low >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
                for at in run.columns.clone().map(|j| k * self.cols + j) {
                    match run.sums {
                        _ if gone => {
                            self.first[at] = 0.0;
                            for some in [&mut self.tails, &mut self.second].into_iter().filter(|some| !some.is_empty())
                            {
                                some[at] = 0.0;
                            }
                        }
                        Sums::Total => self.first[at] = (self.first[at] - other.first[at]).max(floor),
                        Sums::Logarithms => {
                            self.first[at] = (self.first[at] - other.first[at]).max(floor);
                            self.second[at] -= other.second[at];
                        }
                        Sums::Moments => {
                            let back = difference(self.whole_mean(at), other.whole_mean(at)) * (b / left);
                            let mean = moved(self.whole_mean(at), back);
                            let delta = difference(other.whole_mean(at), mean);
                            let squares = self.second[at] - other.second[at] - left * (b / all) * delta * delta;
                            (self.first[at], self.tails[at]) = mean;
                            self.second[at] = squares.max(0.0);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// A mean in two doubles.
    fn whole_mean(&self, at: usize) -> (f64, f64) {
        (self.first[at], self.tails[at])
    }

    fn check_like(&self, other: &ClassColumns) -> Result<()> {
        if self.runs != other.runs || self.weights.len() != other.weights.len() {
            return Err(Error::usage("statistics of different columns or classes do not belong together")
                .help("make room for a new class with `with_classes` first"));
        }
        Ok(())
    }
}

/// Whether means are kept of any column.
fn has_moments(runs: &[Run]) -> bool {
    runs.iter().any(|r| r.sums == Sums::Moments)
}

/// The number of columns that the runs cover.
fn check_runs(runs: &[Run]) -> Result<usize> {
    let mut end = 0;
    for run in runs {
        if run.columns.start != end || run.columns.end <= end {
            return Err(Error::usage("runs of columns must follow each other without gaps"));
        }
        end = run.columns.end;
    }
    Ok(end)
}

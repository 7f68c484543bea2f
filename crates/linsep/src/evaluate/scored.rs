//! What is judged, and whether it can be.

use crate::decide::Decision;
use crate::error::{Error, Place, Result};
use crate::table::{Class, Table};

/// How far the probabilities of a row may be from summing to one: singles, or decimals of six digits.
const SUM_TOLERANCE: f64 = 1e-5;

/// True and predicted classes, with what else is known of each row.
#[derive(Debug, Clone, Copy)]
pub struct Scored<'a> {
    /// Class names, at least two, all different.
    pub classes: &'a [String],
    /// The true class of each row.
    pub truth: &'a [Class],
    /// The class each row was given; `None` where it was rejected or undetermined.
    pub predicted: &'a [Option<Class>],
    /// The decision that gave the classes, where its costs or rejections are to be judged, too.
    pub decision: Option<&'a Decision>,
    /// `probabilities[row * classes.len() + class]`; each row sums to one.
    pub probabilities: Option<&'a [f64]>,
    /// `−ln p(true class)` of each row, as [`crate::decide::losses`] finds it from scores; used for the log loss instead
    /// of the probabilities, which are zero in floating point where the loss is beyond 745.
    pub losses: Option<&'a [f64]>,
    /// Frequency weights: weight k is k copies of the row.
    pub weights: Option<&'a [f64]>,
    /// Where the rows came from, so that a row can be named as its reader knows it; else it is named by its number here.
    pub origin: Option<RowsOf<'a>>,
}

/// Rows of a table: the table and the number in it of each judged row.
#[derive(Debug, Clone, Copy)]
pub struct RowsOf<'a> {
    /// The table as it was read.
    pub table: &'a Table,
    /// The table's row of each judged row, from 0.
    pub rows: &'a [usize],
}

impl Scored<'_> {
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[row])
    }

    pub(super) fn total_weight(&self) -> f64 {
        self.weights.map_or(self.truth.len() as f64, |w| w.iter().sum())
    }

    /// `−ln p(true class)` of each row, from the losses where they are given, else from the probabilities.
    pub(super) fn row_losses(&self) -> Option<Vec<f64>> {
        let n_classes = self.classes.len();
        // A probability a rounding above one would make the loss negative.
        let of = |p: &[f64]| -> Vec<f64> {
            (0..self.truth.len()).map(|r| -p[r * n_classes + self.truth[r].index()].min(1.0).ln()).collect()
        };
        self.losses.map(<[f64]>::to_vec).or_else(|| self.probabilities.map(of))
    }

    /// Whether rows may be without a class.
    pub(super) fn leaves_open(&self) -> bool {
        self.decision.is_some_and(Decision::may_leave_open)
    }

    /// The row as the user knows it.
    pub(super) fn place(&self, row: usize) -> Place {
        match self.origin {
            Some(origin) => origin.table.place(origin.rows[row]),
            None => Place::default().row(row as u64 + 1),
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        self.check_lengths()?;
        self.check_classes()?;
        self.decision.map_or(Ok(()), |d| d.check(self.classes.len(), true))?;
        self.check_weights()?;
        self.check_probabilities()?;
        self.check_losses()
    }

    fn check_lengths(&self) -> Result<()> {
        let rows = self.truth.len();
        let expect = |what: &str, found: usize, expected: usize| match found == expected {
            true => Ok(()),
            false => Err(Error::usage(format!("{found} {what} for {rows} rows; {expected} expected"))),
        };
        if rows == 0 {
            return Err(Error::data("there are no rows to evaluate"));
        }
        expect("predictions", self.predicted.len(), rows)?;
        self.losses.map_or(Ok(()), |l| expect("losses", l.len(), rows))?;
        self.check_origin()?;
        self.weights.map_or(Ok(()), |w| expect("weights", w.len(), rows))?;
        self.probabilities.map_or(Ok(()), |p| expect("probabilities", p.len(), rows * self.classes.len()))
    }

    fn check_origin(&self) -> Result<()> {
        let Some(RowsOf { table, rows }) = self.origin else { return Ok(()) };
        if rows.len() != self.truth.len() {
            return Err(Error::usage(format!("{} places for {} rows", rows.len(), self.truth.len())));
        }
        match rows.iter().find(|row| **row >= table.n_rows()) {
            Some(row) => Err(Error::usage(format!("row {row} is outside a table of {} rows", table.n_rows()))),
            None => Ok(()),
        }
    }

    fn check_classes(&self) -> Result<()> {
        if self.classes.len() < 2 {
            return Err(Error::data("evaluation needs at least two classes"));
        }
        let mut names: Vec<&String> = self.classes.iter().collect();
        names.sort();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::data(format!("two classes are named `{}`", pair[0])));
        }
        for (row, (truth, predicted)) in self.truth.iter().zip(self.predicted).enumerate() {
            let given = std::iter::once(truth).chain(predicted);
            if let Some(class) = given.into_iter().find(|c| c.index() >= self.classes.len()) {
                let message = format!("class number {} of {} has no name", class.index(), self.classes.len());
                return Err(Error::data(message).at(self.place(row)));
            }
            if predicted.is_none() && !self.leaves_open() {
                return Err(Error::usage("there is no prediction, and no decision that rejects").at(self.place(row)));
            }
        }
        Ok(())
    }

    fn check_weights(&self) -> Result<()> {
        let Some(weights) = self.weights else { return Ok(()) };
        if let Some((row, weight)) = weights.iter().enumerate().find(|(_, w)| !(w.is_finite() && **w >= 0.0)) {
            return Err(Error::data(format!("{weight} is not a weight"))
                .at(self.place(row))
                .help("weights count copies of a row: finite and not negative"));
        }
        let total = self.total_weight();
        if total == 0.0 {
            return Err(Error::data("all weights are zero"));
        }
        if total.is_infinite() {
            return Err(Error::data("the sum of the weights is infinite"));
        }
        Ok(())
    }

    fn check_probabilities(&self) -> Result<()> {
        let Some(probabilities) = self.probabilities else { return Ok(()) };
        for (row, p) in probabilities.chunks_exact(self.classes.len()).enumerate() {
            if let Some(class) = p.iter().position(|p| !(0.0..=1.0).contains(p)) {
                let message = format!("{} is not a probability (class `{}`)", p[class], self.classes[class]);
                return Err(Error::data(message).at(self.place(row)));
            }
            let sum: f64 = p.iter().sum();
            if (sum - 1.0).abs() > SUM_TOLERANCE {
                return Err(Error::data(format!("the probabilities sum to {sum}, not to 1")).at(self.place(row)));
            }
        }
        Ok(())
    }

    /// A loss may be infinite, which the log loss says; it is never negative.
    fn check_losses(&self) -> Result<()> {
        let Some(losses) = self.losses else { return Ok(()) };
        // Written so that NaN is refused, too.
        match losses.iter().position(|loss| !(*loss >= 0.0)) {
            Some(row) => Err(Error::data(format!("{} is not a loss", losses[row]))
                .at(self.place(row))
                .help("a loss is −ln of a probability: zero or more")),
            None => Ok(()),
        }
    }
}

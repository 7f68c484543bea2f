//! Rows with their classes, weights and offsets: what every method learns from, checked once.

use super::{ColumnOrigin, ColumnSummary, Design, LabelledRows};
use crate::error::{Error, Result};
use crate::table::Labels;
use crate::words::{Span, words};

/// Known parts of the scores: one column (two classes) or one per class, row by row.
#[derive(Debug, Clone, Copy)]
pub struct Offsets<'a> {
    /// 1, or the number of classes.
    pub columns: usize,
    /// Row by row.
    pub values: &'a [f64],
}

/// Features, labels, weights and offsets.
#[derive(Clone, Copy)]
pub struct Training<'a> {
    /// The features.
    pub design: &'a dyn Design,
    /// The class of every row.
    pub labels: &'a Labels,
    /// Frequencies; `None` counts every row once.
    pub weights: Option<&'a [f64]>,
    /// Known parts of the scores.
    pub offsets: Option<Offsets<'a>>,
    /// Which matrix columns belong together, and their names; columns not listed stand for themselves.
    pub origins: &'a [ColumnOrigin],
    /// The printed unit of every column, see [`crate::design::Recipe::printed_units`]; empty where nothing is known.
    pub printed: &'a [f64],
    /// Of rows that are part of others: the columns of all, from which a kernel takes its units and γ; `None` for these
    /// rows. Parts then have one kernel, and share their support rows.
    pub columns: Option<&'a ColumnSummary>,
    /// Of rows that a model of several places was fitted to: how many each of them had. Proofs then add up as they did; empty
    /// for rows in one place.
    pub partitions: &'a [usize],
}

/// Positive weights: their products with squares of values of up to 1e150 do not overflow, and those with columns in units
/// of one do not underflow.
const WEIGHTS: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

impl<'a> Training<'a> {
    /// Unweighted rows.
    pub fn new(design: &'a dyn Design, labels: &'a Labels) -> Training<'a> {
        Training {
            design,
            labels,
            weights: None,
            offsets: None,
            origins: &[],
            printed: &[],
            columns: None,
            partitions: &[],
        }
    }

    /// The same rows, weighted.
    pub fn weighted(self, weights: &'a [f64]) -> Training<'a> {
        Training { weights: Some(weights), ..self }
    }

    /// The same rows with offsets.
    pub fn with_offsets(self, columns: usize, values: &'a [f64]) -> Training<'a> {
        Training { offsets: Some(Offsets { columns, values }), ..self }
    }

    /// The same rows, with the origins of the columns.
    pub fn with_origins(self, origins: &'a [ColumnOrigin]) -> Training<'a> {
        Training { origins, ..self }
    }

    /// The same rows, with the printed units of the columns.
    pub fn with_printed_units(self, printed: &'a [f64]) -> Training<'a> {
        Training { printed, ..self }
    }

    /// What solvers and proofs read of the rows.
    pub fn rows(&self) -> LabelledRows<'a> {
        LabelledRows { design: self.design, labels: self.labels.codes(), weights: self.weights }
    }

    /// Σs.
    pub fn total_weight(&self) -> f64 {
        self.rows().total_weight()
    }

    /// Lengths, weights, offsets and classes.
    pub fn check(&self) -> Result<()> {
        let rows = self.design.shape().rows;
        if self.labels.len() != rows {
            return Err(Error::data(format!("{} labels for {rows} rows", self.labels.len())));
        }
        if rows == 0 {
            return Err(Error::data("there are no rows to learn from"));
        }
        self.check_weights(rows)?;
        self.check_offsets(rows)?;
        if self.labels.n_classes() < 2 {
            let name = self.labels.names().first().map_or("", String::as_str);
            return Err(Error::data(format!("only one class, `{name}`, is present"))
                .help("a classifier needs rows of at least two classes"));
        }
        let totals = self.labels.totals(self.weights);
        if let Some(empty) = totals.iter().position(|t| *t == 0.0) {
            return Err(Error::data(format!("class `{}` has no rows of positive weight", self.labels.names()[empty]))
                .help("give it rows")
                .help("leave the class out"));
        }
        Ok(())
    }

    fn check_weights(&self, rows: usize) -> Result<()> {
        let Some(weights) = self.weights else { return Ok(()) };
        if weights.len() != rows {
            return Err(Error::data(format!("{} weights for {rows} rows", weights.len())));
        }
        if let Some(i) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
            return Err(Error::data(words!["the weight of ", Span::Row(i), format!(" is {}", weights[i])])
                .help("weights are frequencies: finite and not negative"));
        }
        if let Some(i) = weights.iter().position(|w| *w > 0.0 && !WEIGHTS.contains(w)) {
            let (least, most) = (WEIGHTS.start(), WEIGHTS.end());
            return Err(Error::data(words!["the weight of ", Span::Row(i), format!(" is {:e}", weights[i])])
                .help(format!(
                    "give all weights other units: between {least:e} and {most:e} their sums keep all digits"
                ))
                .help("leave the row out"));
        }
        if weights.iter().all(|w| *w == 0.0) {
            return Err(Error::data("all weights are zero").help("at least two rows need a positive weight"));
        }
        Ok(())
    }

    fn check_offsets(&self, rows: usize) -> Result<()> {
        let Some(offsets) = self.offsets else { return Ok(()) };
        let classes = self.labels.n_classes();
        let fits = offsets.columns == classes || (offsets.columns == 1 && classes == 2);
        if !fits {
            let plural = if offsets.columns == 1 { "" } else { "s" };
            let message = format!("{} offset column{plural} for {classes} classes", offsets.columns);
            return Err(Error::usage(message).help("give one offset per class, or a single one for two classes"));
        }
        if offsets.values.len() != rows * offsets.columns {
            return Err(Error::data(format!("{} offsets for {rows} rows", offsets.values.len())));
        }
        if let Some(i) = offsets.values.iter().position(|o| !o.is_finite()) {
            let row = Span::Row(i / offsets.columns);
            return Err(Error::data(words!["the offset of ", row, format!(" is {}", offsets.values[i])]));
        }
        Ok(())
    }
}

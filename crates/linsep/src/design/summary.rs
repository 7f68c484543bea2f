//! Means, variances and ranges of columns, in one pass.

use super::tiny::LARGEST;
use super::{Design, Pass, Rows, Standardize, Units, is_sparse};
use crate::error::{Error, Result};
use crate::numeric::vectorised;
use crate::watch::Watch;
use crate::words::{Span, words};
use serde::{Deserialize, Serialize};

/// Squared mean over variance of a sparse column above which its centring, done in sums, leaves fewer than about six
/// digits.
const FAR: f64 = 1e10;

/// Weighted mean, variance and range of every column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnSummary {
    /// Σs.
    pub total_weight: f64,
    /// Weighted means.
    pub mean: Vec<f64>,
    /// Weighted variances with divisor Σs.
    pub variance: Vec<f64>,
    /// Smallest value of each column.
    pub min: Vec<f64>,
    /// Largest value of each column.
    pub max: Vec<f64>,
}

impl ColumnSummary {
    /// Columns with one value only.
    pub fn constant(&self) -> Vec<usize> {
        (0..self.mean.len()).filter(|j| self.min[*j] == self.max[*j]).collect()
    }

    /// Centre at the mean; scale to variance one where asked, leaving constant columns unscaled.
    pub fn units(&self, standardize: Standardize) -> Units {
        let scale = |j: usize| match standardize {
            Standardize::Yes if self.min[j] < self.max[j] && self.variance[j] > 0.0 => self.variance[j].sqrt(),
            _ => 1.0,
        };
        // The mean of a constant column may be off by rounding; its value is the exact centre.
        let centre = |j: usize| if self.min[j] == self.max[j] { self.min[j] } else { self.mean[j] };
        Units::new((0..self.mean.len()).map(centre).collect(), (0..self.mean.len()).map(scale).collect())
    }
}

struct SummaryPartial {
    weight: f64,
    /// Σs(x−reference), Σs(x−reference)².
    first: Vec<f64>,
    second: Vec<f64>,
    min: Vec<f64>,
    max: Vec<f64>,
}

impl SummaryPartial {
    fn new(cols: usize) -> SummaryPartial {
        SummaryPartial {
            weight: 0.0,
            first: vec![0.0; cols],
            second: vec![0.0; cols],
            min: vec![f64::INFINITY; cols],
            max: vec![f64::NEG_INFINITY; cols],
        }
    }

    fn merge(&mut self, other: SummaryPartial) {
        self.weight += other.weight;
        for j in 0..self.first.len() {
            self.first[j] += other.first[j];
            self.second[j] += other.second[j];
            self.min[j] = self.min[j].min(other.min[j]);
            self.max[j] = self.max[j].max(other.max[j]);
        }
    }
}

vectorised! {
    fn summarise_dense(sum: &mut SummaryPartial, rows: &[f64], weights: Option<&[f64]>) {
        let SummaryPartial { weight, first, second, min, max } = sum;
        let cols = first.len();
        let (second, min, max) = (&mut second[..cols], &mut min[..cols], &mut max[..cols]);
        for (i, x) in rows.chunks_exact(cols.max(1)).enumerate() {
            let s = weights.map_or(1.0, |w| w[i]);
            if s == 0.0 {
                continue;
            }
            *weight += s;
            let x = &x[..cols];
            for j in 0..cols {
                let v = x[j];
                first[j] = v.mul_add(s, first[j]);
                second[j] = (v * s).mul_add(v, second[j]);
                min[j] = if v < min[j] { v } else { min[j] };
                max[j] = if v > max[j] { v } else { max[j] };
            }
        }
    }
}

/// One pass for means, variances and ranges; rows of weight zero do not count.
///
/// Dense columns are shifted by their first row, so that 1e9 + N(0,1) keeps its variance; sparse ones are summed as
/// they are. Fails, naming column and row, where a value is not finite or too large to be squared in sums.
pub fn summarise(design: &dyn Design, weights: Option<&[f64]>, watch: &Watch) -> Result<ColumnSummary> {
    let (summary, sparse) = summarise_any(design, weights, watch)?;
    let ColumnSummary { mean, variance, min, max, .. } = &summary;
    if sparse && let Some(j) = (0..mean.len()).find(|j| min[*j] < max[*j] && mean[*j].powi(2) > FAR * variance[*j]) {
        let what = words!["sparse ", Span::Column(j), format!(" is {:e} give or take very little", mean[j])];
        return Err(Error::data(what).help("subtract the common value from the column").help("leave it out"));
    }
    Ok(summary)
}

/// The same, also of sparse columns whose variance is lost beside their mean, and whether columns are sparse: for checks of
/// fits that take columns as they are.
pub fn summarise_any(design: &dyn Design, weights: Option<&[f64]>, watch: &Watch) -> Result<(ColumnSummary, bool)> {
    let shape = design.shape();
    let reference = first_row(design, weights)?;
    let units = Units::new(reference.clone(), vec![1.0; shape.cols]);
    let pass = Pass::new(design, &units);
    let part = |range: &std::ops::Range<usize>| weights.map(|w| &w[range.clone()]);
    let total = pass.reduce(
        watch,
        (0, &mut []),
        || (SummaryPartial::new(shape.cols), vec![0.0f64; if is_sparse(design) { shape.cols } else { 0 }]),
        |(sum, present), range, rows, _| {
            match rows {
                Rows::Dense(values) => summarise_dense(sum, values, part(&range)),
                Rows::Csr(rows) => {
                    for i in 0..rows.len() {
                        let s = weights.map_or(1.0, |w| w[range.start + i]);
                        if s == 0.0 {
                            continue;
                        }
                        sum.weight += s;
                        let (columns, values) = rows.row(i);
                        for (c, v) in columns.iter().zip(values) {
                            let j = *c as usize;
                            present[j] += 1.0;
                            sum.first[j] += s * v;
                            sum.second[j] += s * v * v;
                            sum.min[j] = sum.min[j].min(*v);
                            sum.max[j] = sum.max[j].max(*v);
                        }
                    }
                }
            }
            Ok(())
        },
        |(a, present), (b, more)| {
            a.merge(b);
            present.iter_mut().zip(&more).for_each(|(p, m)| *p += m);
        },
    )?;
    let (mut sum, present) = total;
    if !present.is_empty() {
        let counted = weights.map_or(shape.rows, |w| w.iter().filter(|s| **s != 0.0).count()) as f64;
        for (j, stored) in present.iter().enumerate() {
            if *stored < counted {
                // Some rows hold an implicit zero.
                sum.min[j] = sum.min[j].min(0.0);
                sum.max[j] = sum.max[j].max(0.0);
            }
        }
    }
    let n = sum.weight;
    let mean: Vec<f64> = reference.iter().zip(&sum.first).map(|(r, f)| r + f / n).collect();
    // The square of a sum may leave the range of doubles where its share of the weight does not.
    let share = |f: f64| if (f * f).is_normal() { f * f / n } else { f * (f / n) };
    let variance: Vec<f64> = sum.first.iter().zip(&sum.second).map(|(f, q)| ((q - share(*f)) / n).max(0.0)).collect();
    if let Some(j) = (0..shape.cols).find(|j| !sum.second[*j].is_finite() || !mean[*j].is_finite()) {
        return Err(bad_column(design, weights, j)?);
    }
    let min = sum.min.iter().zip(&reference).map(|(m, r)| m + r).collect();
    let max = sum.max.iter().zip(&reference).map(|(m, r)| m + r).collect();
    Ok((ColumnSummary { total_weight: n, mean, variance, min, max }, !present.is_empty()))
}

/// The least weight of a row that a mean is near to: rows of much less move it little, however far from it they are.
pub(crate) fn telling_weight(weights: impl Iterator<Item = f64>) -> f64 {
    // A sixteenth, so that frequencies of ordinary tables all count.
    (weights.fold(0.0, f64::max) / 16.0).max(f64::MIN_POSITIVE)
}

/// The first row of a dense design that counts; zeros for a sparse one.
fn first_row(design: &dyn Design, weights: Option<&[f64]>) -> Result<Vec<f64>> {
    let shape = design.shape();
    let first = weights.map_or(0, |w| {
        let least = telling_weight(w.iter().copied());
        w.iter().position(|s| *s >= least).unwrap_or(0)
    });
    if shape.rows == 0 || is_sparse(design) {
        return Ok(vec![0.0; shape.cols]);
    }
    let mut values = Vec::new();
    let identity = Units::identity(shape.cols);
    match design.block(first..first + 1, &mut super::Tile::default())? {
        super::Block::F64(dense) => dense.load(&identity, &mut values),
        super::Block::F32(dense) => dense.load(&identity, &mut values),
        super::Block::Csr(_) => {}
    }
    // A first row that is itself not finite would hide the place of the fault.
    values.iter_mut().for_each(|v| *v = if v.is_finite() { *v } else { 0.0 });
    Ok(values)
}

/// Names the first value of a column that is not finite, or else too large to be squared.
fn bad_column(design: &dyn Design, weights: Option<&[f64]>, column: usize) -> Result<Error> {
    let worst = find_value(design, weights, column, |v| !v.is_finite())?;
    if let Some((row, value)) = worst {
        return Ok(Error::data(words![Span::Column(column), " of ", Span::Row(row), format!(" is {value}")])
            .help("remove the row")
            .help("mark the cell as missing"));
    }
    let large = find_value(design, weights, column, |v| v.abs() > LARGEST)?;
    let what = match large {
        Some((row, value)) => words![
            Span::Column(column),
            format!(" holds {value:e} in "),
            Span::Row(row),
            format!(": beyond {LARGEST:e} sums of squares overflow")
        ],
        None => words!["sums of squares of ", Span::Column(column), ", times the weights, overflow"],
    };
    Ok(Error::data(what).help("rescale the column").help("leave it out"))
}

fn find_value(
    design: &dyn Design,
    weights: Option<&[f64]>,
    column: usize,
    wanted: impl Fn(f64) -> bool,
) -> Result<Option<(usize, f64)>> {
    let mut tile = super::Tile::default();
    for row in 0..design.shape().rows {
        if weights.is_some_and(|w| w[row] == 0.0) {
            continue;
        }
        let value = match design.block(row..row + 1, &mut tile)? {
            super::Block::F64(dense) => dense.values[column],
            super::Block::F32(dense) => f64::from(dense.values[column]),
            super::Block::Csr(rows) => {
                let (columns, values) = rows.row(0);
                columns.binary_search(&(column as u32)).map_or(0.0, |at| values[at])
            }
        };
        if wanted(value) {
            return Ok(Some((row, value)));
        }
    }
    Ok(None)
}

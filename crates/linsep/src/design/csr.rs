//! Compressed sparse rows.

use super::{Block, Design, Shape, Tile};
use crate::error::{Error, Result};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// Rows given to one task at least: results do not depend on it. Chosen (bench/constants.md).
const ROWS: usize = 512;
/// Bins of columns whose entries are counted. Chosen (bench/constants.md): only the balance of the ranges depends on
/// it.
const BINS: usize = 16_384;
/// One row in so many is counted, which suffices for ranges of about as many entries.
const EVERY: usize = 16;

/// Some consecutive sparse rows; column indices strictly increase within a row.
#[derive(Debug, Clone, Copy)]
pub struct CsrRows<'a> {
    /// Row `i` occupies `starts[i]..starts[i + 1]` of the two arrays below, after subtracting `starts[0]`.
    pub starts: &'a [usize],
    /// Column of each entry.
    pub indices: &'a [u32],
    /// Value of each entry.
    pub values: &'a [f64],
    /// Number of columns.
    pub cols: usize,
}

impl<'a> CsrRows<'a> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of stored entries.
    pub fn entries(&self) -> usize {
        self.starts[self.starts.len() - 1] - self.starts[0]
    }

    /// Columns and values of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> (&'a [u32], &'a [f64]) {
        let range = self.starts[i] - self.starts[0]..self.starts[i + 1] - self.starts[0];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// The one value of each row's entries (1 of a row without any), where they are alike in every row: words present in
    /// a text, indicators, also with rows of length one.
    pub fn values_by_row(&self) -> Option<Vec<f64>> {
        let alike = |i: usize| {
            let (_, values) = self.row(i);
            let first = values.first().copied().unwrap_or(1.0);
            values.iter().all(|v| *v == first).then_some(first)
        };
        (0..self.len()).into_par_iter().with_min_len(ROWS).map(alike).collect()
    }
}

/// Ranges of columns with about as many entries each, by every sixteenth row.
pub fn column_ranges(rows: &CsrRows<'_>, pieces: usize) -> Vec<Range<usize>> {
    let cols = rows.cols;
    let bin = cols.div_ceil(BINS).max(1);
    let mut counts = vec![1usize; cols.div_ceil(bin)];
    for i in (0..rows.len()).step_by(EVERY) {
        rows.row(i).0.iter().for_each(|c| counts[*c as usize / bin] += 1);
    }
    let total: usize = counts.iter().sum();
    let (mut ranges, mut start, mut seen) = (Vec::new(), 0, 0);
    for (at, count) in counts.iter().enumerate() {
        seen += count;
        let end = ((at + 1) * bin).min(cols);
        if seen * pieces >= total * (ranges.len() + 1) || end == cols {
            ranges.push(start..end);
            start = end;
        }
    }
    ranges
}

/// A sparse matrix in memory by compressed rows, owned or borrowed: nothing is copied for a caller that holds one.
#[derive(Debug, Clone, PartialEq)]
pub struct CsrMatrix<'a> {
    starts: Cow<'a, [usize]>,
    indices: Cow<'a, [u32]>,
    values: Cow<'a, [f64]>,
    cols: usize,
}

impl<'a> CsrMatrix<'a> {
    /// All values row by row, zeros included.
    pub(crate) fn spread(&self) -> Vec<f64> {
        let mut values = vec![0.0; (self.starts.len() - 1) * self.cols];
        for (row, range) in values.chunks_exact_mut(self.cols.max(1)).zip(self.starts.windows(2)) {
            let entries = self.indices[range[0]..range[1]].iter().zip(&self.values[range[0]..range[1]]);
            entries.for_each(|(c, v)| row[*c as usize] = *v);
        }
        values
    }

    /// A matrix from its three arrays, checked.
    ///
    /// ```
    /// use linsep::design::CsrMatrix;
    /// // [[0, 5, 0], [7, 0, 0]]
    /// assert!(CsrMatrix::new(vec![0, 1, 2], vec![1, 0], vec![5.0, 7.0], 3).is_ok());
    /// assert!(CsrMatrix::new(vec![0, 1, 2], vec![1, 3], vec![5.0, 7.0], 3).is_err());
    /// ```
    pub fn new(
        starts: impl Into<Cow<'a, [usize]>>,
        indices: impl Into<Cow<'a, [u32]>>,
        values: impl Into<Cow<'a, [f64]>>,
        cols: usize,
    ) -> Result<CsrMatrix<'a>> {
        let (starts, indices, values) = (starts.into(), indices.into(), values.into());
        let entries = indices.len();
        let bounded = starts.first() == Some(&0) && starts.last() == Some(&entries) && values.len() == entries;
        if !bounded || starts.windows(2).any(|w| w[0] > w[1]) {
            return Err(Error::usage("the row starts of a sparse matrix must rise from 0 to the number of entries"));
        }
        for (row, w) in starts.windows(2).enumerate() {
            let columns = &indices[w[0]..w[1]];
            if columns.windows(2).any(|c| c[0] >= c[1]) {
                return Err(Error::usage(format!("the columns of sparse row {} do not strictly increase", row + 1)));
            }
            if columns.last().is_some_and(|c| *c as usize >= cols) {
                return Err(Error::usage(format!("sparse row {} has an entry beyond column {cols}", row + 1)));
            }
        }
        Ok(CsrMatrix { starts, indices, values, cols })
    }
}

impl Design for CsrMatrix<'_> {
    fn shape(&self) -> Shape {
        Shape { rows: self.starts.len() - 1, cols: self.cols }
    }

    fn block<'a>(&'a self, rows: Range<usize>, _tile: &'a mut Tile) -> Result<Block<'a>> {
        let entries = self.starts[rows.start]..self.starts[rows.end];
        Ok(Block::Csr(CsrRows {
            starts: &self.starts[rows.start..=rows.end],
            indices: &self.indices[entries.clone()],
            values: &self.values[entries],
            cols: self.cols,
        }))
    }

    fn lends(&self) -> bool {
        true
    }
}

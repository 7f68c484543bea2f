//! All columns of sparse rows: the one extra copy of the data.

use super::ColumnEntries;
use super::transpose::{by_range, columns_of, short_ranges};
use crate::design::{CsrRows, Shape, column_ranges};
use crate::error::{Error, Result};
use crate::linalg::add_gathered;
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// Ranges of columns that are copied on their own, which then fit a cache; lowered from 256 so that fewer streams are
/// written, without a record of the times. Of 20news the copy takes 0.06 s (bench/README.md).
const RANGES: usize = 64;
/// Entries of a range at least. Chosen (bench/constants.md).
const ENTRIES: usize = 1024;
/// The place of a column without entries: no table has so many columns.
pub(super) const ABSENT: u32 = u32::MAX;

/// The columns of sparse rows, as stored.
///
/// Rows whose entries are all alike (words present in a text, indicators, also where rows have length one) are kept as
/// one number a row and the places of their entries: a third of the memory.
///
/// ```
/// use linsep::design::{CsrRows, SparseColumns};
/// // [[0, 5, 0], [7, 2, 0]]
/// let x = CsrRows { starts: &[0, 1, 3], indices: &[1, 0, 1], values: &[5.0, 7.0, 2.0], cols: 3 };
/// let columns = SparseColumns::new(&x)?;
/// assert_eq!(columns.transposed(&[1.0, 10.0]), [70.0, 25.0, 0.0]);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug)]
pub struct SparseColumns {
    shape: Shape,
    /// What every entry of a row is, where entries are alike.
    row_value: Option<Vec<f64>>,
    ranges: Vec<ColumnRange>,
}

/// A range of columns, those of one length together: so the processor foresees where each ends.
#[derive(Debug)]
pub(crate) struct ColumnRange {
    pub(super) range: Range<usize>,
    /// The original index of each column, those without entries left out.
    pub(super) index: Vec<u32>,
    /// Where each column of the range is.
    pub(super) place: Vec<u32>,
    /// Where each starts, and the end.
    pub(super) starts: Vec<u32>,
    pub(super) rows: Vec<u32>,
    /// Empty where the entries of a row are alike.
    pub(super) values: Vec<f64>,
    /// So many columns, the first, have at least two entries.
    pub(super) shared: usize,
}

/// Where a column is: its range, and its place there.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryPlace {
    range: u32,
    at: u32,
}

impl SparseColumns {
    /// Copies the columns of some rows.
    pub fn new(x: &CsrRows<'_>) -> Result<SparseColumns> {
        if x.len() > u32::MAX as usize {
            return Err(Error::data(format!("{} sparse rows are too many for columns in memory", x.len())));
        }
        let row_value = x.values_by_row();
        let ranges = short_ranges(column_ranges(x, (x.indices.len() / ENTRIES).clamp(1, RANGES)));
        let buckets = by_range(x, row_value.is_none(), &ranges);
        let copied = buckets.into_par_iter().zip(&ranges).map(|(bucket, range)| columns_of(bucket, range));
        Ok(SparseColumns { shape: Shape { rows: x.len(), cols: x.cols }, row_value, ranges: copied.collect() })
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// What every entry of a row is, where entries are alike: columns then have rows only.
    pub fn row_value(&self) -> Option<&[f64]> {
        self.row_value.as_deref()
    }

    /// `Xᵀ v`.
    pub fn transposed(&self, v: &[f64]) -> Vec<f64> {
        let v = self.times_row_value(v);
        self.map(|column| column.dot(&v))
    }

    /// `Xᵀ V`, or with the squares of all entries, for k numbers a row: k numbers a column, all columns of the first before
    /// those of the second.
    pub(super) fn transposed_rows(&self, values: &[f64], k: usize, squared: bool) -> Vec<f64> {
        let cols = self.shape.cols;
        let scaled: Option<Vec<f64>> = self.row_value.as_ref().map(|of_row| {
            let of_row = of_row.iter().map(|r| if squared { r * r } else { *r });
            values.chunks_exact(k.max(1)).zip(of_row).flat_map(|(v, r)| v.iter().map(move |v| v * r)).collect()
        });
        let values = scaled.as_deref().unwrap_or(values);
        // Room for the intercepts, as in `map`.
        let mut out = vec![0.0; k * (cols + 1)];
        out.truncate(k * cols);
        let mut parts: Vec<(&ColumnRange, Vec<&mut [f64]>)> =
            self.ranges.iter().map(|range| (range, Vec::with_capacity(k))).collect();
        for mut rest in out.chunks_mut(cols.max(1)) {
            for (range, slices) in &mut parts {
                let (now, later) = rest.split_at_mut(range.range.len());
                slices.push(now);
                rest = later;
            }
        }
        parts.into_par_iter().for_each(|(range, mut slices)| {
            let (mut sums, mut squares) = (vec![0.0; k], Vec::new());
            for (at, column) in range.index.iter().enumerate() {
                sums.fill(0.0);
                let (rows, mut entries) = range.column(at).sparse_parts();
                if squared {
                    squares.clear();
                    squares.extend(entries.iter().map(|x| x * x));
                    entries = &squares;
                }
                add_gathered(rows, entries, values, &mut sums);
                let place = *column as usize - range.range.start;
                slices.iter_mut().zip(&sums).for_each(|(slice, s)| slice[place] = *s);
            }
        });
        out
    }

    /// A number for every column, zero for those without entries.
    pub(super) fn map(&self, of: impl Fn(ColumnEntries<'_>) -> f64 + Sync) -> Vec<f64> {
        // Room for one more: whoever adds an intercept need not copy the rest.
        let mut out = vec![0.0; self.shape.cols + 1];
        out.truncate(self.shape.cols);
        let (mut ranges, mut rest) = (Vec::new(), &mut out[..]);
        for range in &self.ranges {
            let (now, later) = rest.split_at_mut(range.range.len());
            ranges.push((range, now));
            rest = later;
        }
        ranges.into_par_iter().for_each(|(range, out)| {
            for (at, column) in range.index.iter().enumerate() {
                out[*column as usize - range.range.start] = of(range.column(at));
            }
        });
        out
    }

    /// The ranges, rising.
    pub(crate) fn ranges(&self) -> &[ColumnRange] {
        &self.ranges
    }

    /// A vector by rows times what entries are, where columns have rows only.
    pub(crate) fn times_row_value<'v>(&self, v: &'v [f64]) -> Cow<'v, [f64]> {
        match &self.row_value {
            Some(of_row) => v.iter().zip(of_row).map(|(v, r)| v * r).collect(),
            None => Cow::Borrowed(v),
        }
    }

    /// Where a column is.
    pub(super) fn place(&self, column: usize) -> EntryPlace {
        let range = self.ranges.partition_point(|range| range.range.end <= column);
        let at = self.ranges[range].place[column - self.ranges[range].range.start];
        EntryPlace { range: range as u32, at }
    }

    /// The column at a place.
    #[inline]
    pub(super) fn at(&self, place: EntryPlace) -> ColumnEntries<'_> {
        match place.at {
            ABSENT => ColumnEntries::Present(&[]),
            at => self.ranges[place.range as usize].column(at as usize),
        }
    }
}

impl ColumnRange {
    /// The original index of each column that has entries, the longest first.
    pub(crate) fn index(&self) -> &[u32] {
        &self.index
    }

    /// So many columns, the first, have at least two entries.
    pub(crate) fn shared(&self) -> usize {
        self.shared
    }

    /// A column by its place.
    #[inline]
    pub(crate) fn column(&self, at: usize) -> ColumnEntries<'_> {
        let entries = self.starts[at] as usize..self.starts[at + 1] as usize;
        match self.values.is_empty() {
            true => ColumnEntries::Present(&self.rows[entries]),
            false => ColumnEntries::Sparse(&self.rows[entries.clone()], &self.values[entries]),
        }
    }

    /// The rows and values of some columns one after the other; no values where the entries of a row are alike.
    pub(crate) fn entries(&self, columns: Range<usize>) -> (&[u32], &[f64]) {
        let entries = self.starts[columns.start] as usize..self.starts[columns.end] as usize;
        let values = if self.values.is_empty() { &[][..] } else { &self.values[entries.clone()] };
        (&self.rows[entries], values)
    }

    /// The first column with so many entries or fewer, of those with at least two.
    pub(crate) fn first_of(&self, length: u32) -> usize {
        let (mut low, mut high) = (0, self.shared);
        while low < high {
            let middle = (low + high) / 2;
            if self.starts[middle + 1] - self.starts[middle] > length { low = middle + 1 } else { high = middle }
        }
        low
    }
}

//! Designs that can be read by their columns: all of them beside the rows, or some in place of them.

use super::ColumnEntries;
use super::sparse::{EntryPlace, SparseColumns};
use crate::design::{Block, CsrRows, Design, Shape, Tile};
use crate::error::Result;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Columns whose products one task computes: results do not depend on it. Chosen (bench/constants.md).
const TOGETHER: usize = 32;
/// Groups of columns summed in parallel at most. Chosen (bench/constants.md).
const GROUPS: usize = 4;
/// Entries for each row that repay a group, whose sums have to be added. Chosen (bench/constants.md).
const ENTRIES_A_ROW: usize = 4;

/// Rows with a copy of their columns beside them.
pub struct WithColumns<'a> {
    rows: &'a dyn Design,
    columns: Arc<SparseColumns>,
}

/// Some of the columns of a copy, none of them copied again.
///
/// ```
/// use linsep::design::{CsrRows, Design, SomeColumns, SparseColumns};
/// let x = CsrRows { starts: &[0, 1, 3], indices: &[1, 0, 1], values: &[5.0, 7.0, 2.0], cols: 3 };
/// let some = SomeColumns::new(SparseColumns::new(&x)?.into(), &[1, 2]);
/// assert_eq!((some.shape().rows, some.shape().cols), (2, 2));
/// assert_eq!(some.view().combine(&[(0, 10.0)]), [50.0, 20.0]);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SomeColumns {
    columns: Arc<SparseColumns>,
    places: Vec<EntryPlace>,
}

/// The columns of a design.
#[derive(Clone, Copy)]
pub struct ColumnView<'a> {
    columns: &'a Arc<SparseColumns>,
    /// Those of them that count, in order; `None` is all.
    places: Option<&'a [EntryPlace]>,
}

impl<'a> WithColumns<'a> {
    /// Rows and their columns; both must be of the same matrix.
    pub fn new(rows: &'a dyn Design, columns: Arc<SparseColumns>) -> WithColumns<'a> {
        WithColumns { rows, columns }
    }
}

impl Design for WithColumns<'_> {
    fn shape(&self) -> Shape {
        self.rows.shape()
    }

    fn block<'a>(&'a self, rows: Range<usize>, tile: &'a mut Tile) -> Result<Block<'a>> {
        self.rows.block(rows, tile)
    }

    fn lends(&self) -> bool {
        self.rows.lends()
    }

    fn by_columns(&self) -> Option<ColumnView<'_>> {
        Some(ColumnView { columns: &self.columns, places: None })
    }
}

impl SomeColumns {
    /// The given columns, rising.
    pub fn new(columns: Arc<SparseColumns>, chosen: &[usize]) -> SomeColumns {
        let places = chosen.iter().map(|j| columns.place(*j)).collect();
        SomeColumns { columns, places }
    }

    /// Their face.
    pub fn view(&self) -> ColumnView<'_> {
        ColumnView { columns: &self.columns, places: Some(&self.places) }
    }

    /// One of them.
    #[inline]
    pub fn column(&self, j: usize) -> ColumnEntries<'_> {
        self.columns.at(self.places[j])
    }
}

impl Design for SomeColumns {
    fn shape(&self) -> Shape {
        Shape { rows: self.columns.shape().rows, cols: self.places.len() }
    }

    /// Rows are put together from the columns; methods that ask for many should read columns instead.
    fn block<'a>(&'a self, rows: Range<usize>, tile: &'a mut Tile) -> Result<Block<'a>> {
        let (first, last) = (rows.start as u32, rows.end as u32);
        let inside = |j: usize| {
            let (all, values) = self.column(j).sparse_parts();
            let from = all.partition_point(|i| *i < first);
            let to = from + all[from..].partition_point(|i| *i < last);
            (&all[from..to], if values.is_empty() { values } else { &values[from..to] })
        };
        tile.starts.clear();
        tile.starts.resize(rows.len() + 2, 0);
        let parts: Vec<(&[u32], &[f64])> = (0..self.places.len()).map(inside).collect();
        // Counts stand two places on, so that sums of them are where the next entry of a row goes, one place on.
        parts.iter().flat_map(|(rows, _)| *rows).for_each(|i| tile.starts[(i - first) as usize + 2] += 1);
        (2..tile.starts.len()).for_each(|i| tile.starts[i] += tile.starts[i - 1]);
        let entries = tile.starts.last().copied().unwrap_or(0);
        tile.indices.resize(entries, 0);
        tile.values.resize(entries, 0.0);
        for (j, (rows, values)) in parts.iter().enumerate() {
            for (e, i) in rows.iter().enumerate() {
                let place = &mut tile.starts[(i - first) as usize + 1];
                tile.indices[*place] = j as u32;
                tile.values[*place] = match self.columns.row_value() {
                    Some(of_row) => of_row[*i as usize],
                    None => values[e],
                };
                *place += 1;
            }
        }
        tile.starts.pop();
        let cols = self.places.len();
        Ok(Block::Csr(CsrRows { starts: &tile.starts, indices: &tile.indices, values: &tile.values, cols }))
    }

    fn by_columns(&self) -> Option<ColumnView<'_>> {
        Some(self.view())
    }
}

impl<'a> ColumnView<'a> {
    /// The same columns, held.
    pub fn to_owned(self) -> SomeColumns {
        match self.places {
            Some(places) => SomeColumns { columns: self.columns.clone(), places: places.to_vec() },
            None => SomeColumns::new(self.columns.clone(), &(0..self.n_cols()).collect::<Vec<_>>()),
        }
    }

    /// Some of these columns, rising.
    pub fn choose(&self, chosen: &[usize]) -> SomeColumns {
        let columns = self.columns.clone();
        match self.places {
            Some(places) => SomeColumns { columns, places: chosen.iter().map(|j| places[*j]).collect() },
            None => SomeColumns::new(columns, chosen),
        }
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.places.map_or(self.columns.shape().cols, <[EntryPlace]>::len)
    }

    /// What every entry of a row is, where entries are alike.
    pub fn row_value(&self) -> Option<&'a [f64]> {
        self.columns.row_value()
    }

    /// One column.
    pub fn column(&self, j: usize) -> ColumnEntries<'a> {
        self.columns.at(self.places.map_or_else(|| self.columns.place(j), |places| places[j]))
    }

    /// Entries of all columns together.
    pub fn stored_values(&self) -> usize {
        (0..self.n_cols()).map(|j| self.column(j).sparse_parts().0.len()).sum()
    }

    /// `Xᵀ v`.
    pub fn transposed(&self, v: &[f64]) -> Vec<f64> {
        let Some(places) = self.places else { return self.columns.transposed(v) };
        let v = self.columns.times_row_value(v);
        let mut out = vec![0.0; places.len()];
        let parts = out.par_chunks_mut(TOGETHER).zip(places.par_chunks(TOGETHER));
        parts.for_each(|(out, places)| {
            out.iter_mut().zip(places).for_each(|(o, place)| *o = self.columns.at(*place).dot(&v));
        });
        out
    }

    /// `Xᵀ V` for k numbers a row: k numbers a column, all columns of the first before those of the second.
    pub fn transposed_rows(&self, values: &[f64], k: usize) -> Vec<f64> {
        if self.places.is_none() {
            return self.columns.transposed_rows(values, k, false);
        }
        let of_one = |c: usize| -> Vec<f64> { values.iter().skip(c).step_by(k.max(1)).copied().collect() };
        (0..k).flat_map(|c| self.transposed(&of_one(c))).collect()
    }

    /// `Σᵢ vᵢₖ xᵢⱼ²` for k numbers a row, ordered as [`ColumnView::transposed_rows`]; `None` of some columns only.
    pub(crate) fn squares(&self, values: &[f64], k: usize) -> Option<Vec<f64>> {
        self.places.is_none().then(|| self.columns.transposed_rows(values, k, true))
    }

    /// `Σᵢ vᵢ|xᵢⱼ|` per column, for values v ≥ 0.
    pub fn absolute_sums(&self, v: &[f64]) -> Vec<f64> {
        let v: Vec<f64> = match self.row_value() {
            Some(of_row) => v.iter().zip(of_row).map(|(v, r)| v * r.abs()).collect(),
            None => v.to_vec(),
        };
        let sum = |column: ColumnEntries<'_>| match column {
            ColumnEntries::Present(_) => column.dot(&v),
            _ => {
                let mut sum = 0.0;
                column.for_each(|i, x| sum += v[i] * x.abs());
                sum
            }
        };
        match self.places {
            Some(places) => places.iter().map(|place| sum(self.columns.at(*place))).collect(),
            None => self.columns.map(sum),
        }
    }

    /// `Σ wⱼ xⱼ` over some columns and their weights.
    pub fn combine(&self, weights: &[(usize, f64)]) -> Vec<f64> {
        let n = self.columns.shape().rows;
        let entries: usize = weights.iter().map(|(j, _)| self.column(*j).sparse_parts().0.len()).sum();
        // As many groups as their entries repay: a function of the data, never of the threads.
        let groups = (entries / (ENTRIES_A_ROW * n.max(1))).clamp(1, GROUPS);
        let partials: Vec<Vec<f64>> = weights
            .par_chunks(weights.len().div_ceil(groups).max(1))
            .map(|group| {
                let mut out = vec![0.0; n];
                group.iter().for_each(|(j, w)| self.column(*j).add_to(*w, &mut out));
                out
            })
            .collect();
        let mut partials = partials.into_iter();
        let mut out = partials.next().unwrap_or_else(|| vec![0.0; n]);
        partials.for_each(|partial| out.iter_mut().zip(partial).for_each(|(o, p)| *o += p));
        if let Some(of_row) = self.row_value() {
            out.iter_mut().zip(of_row).for_each(|(o, r)| *o *= r);
        }
        out
    }
}

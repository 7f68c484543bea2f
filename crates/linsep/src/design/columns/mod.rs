//! The columns of a design in memory, for methods that visit them one by one.

mod by_rows;
mod some;
mod sparse;
#[cfg(test)]
mod tests;
mod transpose;

pub(crate) use by_rows::RowParts;
pub use some::{ColumnView, SomeColumns, WithColumns};
pub(crate) use sparse::ColumnRange;
pub use sparse::SparseColumns;

use super::{Block, Design, InMemory, Tile, Units};
use crate::error::Result;
use crate::watch::Watch;
use std::sync::Arc;

/// Rows asked for at a time: results do not depend on it.
const ROWS: usize = 1 << 16;

/// All columns of a design: dense ones in given units, sparse ones as stored. The one extra copy of the data.
///
/// A sparse column in units is `(x − centre)·inverse_scale`; it would not be sparse, so whoever uses it keeps the share of
/// the centre in a scalar.
///
/// ```
/// use linsep::design::{ColumnEntries, Columns, DenseMatrix, Units};
/// let x = DenseMatrix::new(vec![1.0, 2.0, 3.0, 4.0], 2)?;
/// let columns = Columns::new(&x, &Units::identity(2), &Default::default())?;
/// let ColumnEntries::Dense(second) = columns.column(1) else { panic!("a dense matrix has dense columns") };
/// assert_eq!(second, [2.0, 4.0]);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Columns {
    kind: EntryKind,
}

#[derive(Debug, Clone)]
enum EntryKind {
    Dense { rows: usize, values: Vec<f64> },
    Sparse(SomeColumns),
}

/// One column.
#[derive(Debug, Clone, Copy)]
pub enum ColumnEntries<'a> {
    /// A value for every row, in units.
    Dense(&'a [f64]),
    /// Rising rows and their values, as stored.
    Sparse(&'a [u32], &'a [f64]),
    /// Rising rows, where all entries of a row are alike: what they are is kept once a row.
    Present(&'a [u32]),
}

impl Columns {
    /// Copies a design column by column, unless it has its columns already.
    pub fn new(design: &dyn Design, units: &Units, watch: &Watch) -> Result<Columns> {
        let shape = design.shape();
        if let Some(view) = design.by_columns() {
            return Ok(Columns { kind: EntryKind::Sparse(view.to_owned()) });
        }
        let mut tile = Tile::default();
        let kind = match InMemory::new(design, units, &mut tile, watch)? {
            InMemory::Dense { values, cols } => {
                let mut by_column = vec![0.0; values.len()];
                for (i, row) in values.chunks_exact(cols.max(1)).enumerate() {
                    row.iter().enumerate().for_each(|(j, x)| by_column[j * shape.rows + i] = *x);
                }
                EntryKind::Dense { rows: shape.rows, values: by_column }
            }
            InMemory::Sparse(rows) => {
                let all: Vec<usize> = (0..shape.cols).collect();
                EntryKind::Sparse(SomeColumns::new(Arc::new(SparseColumns::new(&rows)?), &all))
            }
        };
        Ok(Columns { kind })
    }

    /// Whether columns are sparse, and so not in units.
    pub fn is_sparse(&self) -> bool {
        matches!(self.kind, EntryKind::Sparse(_))
    }

    /// What every entry of a row is, where entries are alike and columns have rows only.
    pub fn row_value(&self) -> Option<&[f64]> {
        match &self.kind {
            EntryKind::Dense { .. } => None,
            EntryKind::Sparse(some) => some.view().row_value(),
        }
    }

    /// One column.
    #[inline]
    pub fn column(&self, j: usize) -> ColumnEntries<'_> {
        match &self.kind {
            EntryKind::Dense { rows, values } => ColumnEntries::Dense(&values[j * rows..(j + 1) * rows]),
            EntryKind::Sparse(some) => some.column(j),
        }
    }
}

impl<'a> ColumnEntries<'a> {
    /// The product with a vector, which holds what entries are where the column has rows only.
    #[inline]
    pub fn dot(&self, v: &[f64]) -> f64 {
        // Four sums, because an addition waits for the one before; the rest has its own, so that none leaves a register.
        let (mut a, mut b, mut c, mut d, mut tail) = (0.0, 0.0, 0.0, 0.0, 0.0);
        match *self {
            ColumnEntries::Dense(values) => {
                let (fours, rest) = values.as_chunks::<4>();
                let (v, last) = v.as_chunks::<4>();
                for (x, v) in fours.iter().zip(v) {
                    a += x[0] * v[0];
                    b += x[1] * v[1];
                    c += x[2] * v[2];
                    d += x[3] * v[3];
                }
                rest.iter().zip(last).for_each(|(x, v)| tail += x * v);
            }
            ColumnEntries::Sparse(rows, values) => {
                let (fours, rest) = rows.as_chunks::<4>();
                let (values, last) = values.as_chunks::<4>();
                for ([i, j, k, l], x) in fours.iter().zip(values) {
                    a += x[0] * v[*i as usize];
                    b += x[1] * v[*j as usize];
                    c += x[2] * v[*k as usize];
                    d += x[3] * v[*l as usize];
                }
                rest.iter().zip(last).for_each(|(i, x)| tail += x * v[*i as usize]);
            }
            ColumnEntries::Present(rows) => {
                let (fours, rest) = rows.as_chunks::<4>();
                for [i, j, k, l] in fours {
                    a += v[*i as usize];
                    b += v[*j as usize];
                    c += v[*k as usize];
                    d += v[*l as usize];
                }
                rest.iter().for_each(|i| tail += v[*i as usize]);
            }
        }
        (a + b) + (c + d) + tail
    }

    /// Adds a multiple of the column to a vector, without what entries are where the column has rows only.
    #[inline]
    pub fn add_to(&self, factor: f64, out: &mut [f64]) {
        match *self {
            ColumnEntries::Dense(values) => out.iter_mut().zip(values).for_each(|(o, x)| *o += x * factor),
            ColumnEntries::Sparse(rows, values) => {
                rows.iter().zip(values).for_each(|(i, x)| out[*i as usize] += x * factor)
            }
            ColumnEntries::Present(rows) => rows.iter().for_each(|i| out[*i as usize] += factor),
        }
    }

    /// Every entry with its row; 1 where the column has rows only.
    #[inline(always)]
    pub fn for_each(&self, mut visit: impl FnMut(usize, f64)) {
        match *self {
            ColumnEntries::Dense(values) => values.iter().enumerate().for_each(|(i, x)| visit(i, *x)),
            ColumnEntries::Sparse(rows, values) => rows.iter().zip(values).for_each(|(i, x)| visit(*i as usize, *x)),
            ColumnEntries::Present(rows) => rows.iter().for_each(|i| visit(*i as usize, 1.0)),
        }
    }

    /// The rows of a sparse column, and its values where it has them.
    pub(crate) fn sparse_parts(&self) -> (&'a [u32], &'a [f64]) {
        match *self {
            ColumnEntries::Dense(_) => (&[], &[]),
            ColumnEntries::Sparse(rows, values) => (rows, values),
            ColumnEntries::Present(rows) => (rows, &[]),
        }
    }
}

/// Values that a design holds: all of a dense one, the stored ones of a sparse one.
pub fn stored_values(design: &dyn Design) -> Result<usize> {
    if let Some(view) = design.by_columns() {
        return Ok(view.stored_values());
    }
    let shape = design.shape();
    let mut tile = Tile::default();
    let mut count = 0;
    for start in (0..shape.rows).step_by(ROWS) {
        // Only sparse rows are asked for; the first empty block tells.
        match design.block(start..start, &mut tile)? {
            Block::F64(_) | Block::F32(_) => return Ok(shape.rows * shape.cols),
            Block::Csr(_) => {}
        }
        if let Block::Csr(rows) = design.block(start..(start + ROWS).min(shape.rows), &mut tile)? {
            count += rows.indices.len();
        }
    }
    Ok(count)
}

//! Rows in memory, in the units of a kernel.

use super::Kernel;
use super::panels::add_squares;
use crate::design::{CsrRows, Design, InMemory, Tile, Units};
use crate::error::{Error, Result};
use crate::watch::Watch;
use crate::words::{Setting, Span, words};
use serde::{Deserialize, Serialize};

/// Sparse rows with at least one entry in so many columns are faster as dense ones. Chosen, out of reach of
/// bench/constants.md.
const DENSE_ENOUGH: usize = 16;
/// Numbers that sparse rows may become as dense ones: half a gigabyte.
const MOST_DENSE: usize = 1 << 26;

/// Rows, dense or sparse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "layout", rename_all = "lowercase")]
pub enum StoredRows {
    /// Row after row.
    Dense {
        /// Values per row.
        cols: usize,
        /// The values.
        values: Vec<f64>,
    },
    /// Compressed rows.
    Sparse {
        /// Number of columns.
        cols: usize,
        /// Row i occupies `starts[i]..starts[i+1]`.
        starts: Vec<usize>,
        /// Columns of the entries.
        indices: Vec<u32>,
        /// The entries.
        values: Vec<f64>,
    },
}

impl StoredRows {
    /// No rows, dense.
    pub fn dense(cols: usize) -> StoredRows {
        StoredRows::Dense { cols, values: Vec::new() }
    }

    /// No rows, sparse.
    pub fn sparse(cols: usize) -> StoredRows {
        StoredRows::Sparse { cols, starts: vec![0], indices: Vec::new(), values: Vec::new() }
    }

    /// All rows of sparse ones.
    pub fn of_csr(rows: &CsrRows<'_>) -> StoredRows {
        let first = rows.starts[0];
        StoredRows::Sparse {
            cols: rows.cols,
            starts: rows.starts.iter().map(|s| s - first).collect(),
            indices: rows.indices.to_vec(),
            values: rows.values.to_vec(),
        }
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        match self {
            StoredRows::Dense { cols, .. } | StoredRows::Sparse { cols, .. } => *cols,
        }
    }

    /// Whether the rows are sparse.
    pub fn is_sparse(&self) -> bool {
        matches!(self, StoredRows::Sparse { .. })
    }

    /// Appends row `i` of others of the same layout and width; a dense row becomes sparse among sparse ones, and the other
    /// way round.
    pub fn push_from(&mut self, others: &StoredRows, i: usize) {
        match (self, others) {
            (StoredRows::Dense { cols, values }, StoredRows::Dense { values: from, .. }) => {
                values.extend_from_slice(&from[i * *cols..(i + 1) * *cols]);
            }
            (StoredRows::Dense { cols, values }, StoredRows::Sparse { starts, indices, values: from, .. }) => {
                let at = values.len();
                values.resize(at + *cols, 0.0);
                let entries = starts[i]..starts[i + 1];
                indices[entries.clone()].iter().zip(&from[entries]).for_each(|(c, v)| values[at + *c as usize] = *v);
            }
            (
                StoredRows::Sparse { starts, indices, values, .. },
                StoredRows::Sparse { starts: s, indices: c, values: v, .. },
            ) => {
                indices.extend_from_slice(&c[s[i]..s[i + 1]]);
                values.extend_from_slice(&v[s[i]..s[i + 1]]);
                starts.push(indices.len());
            }
            (StoredRows::Sparse { cols, starts, indices, values }, StoredRows::Dense { values: from, .. }) => {
                for (j, v) in from[i * *cols..(i + 1) * *cols].iter().enumerate().filter(|(_, v)| **v != 0.0) {
                    indices.push(j as u32);
                    values.push(*v);
                }
                starts.push(indices.len());
            }
        }
    }

    /// Whether sizes fit together for so many rows and all numbers are finite: what a file could get wrong.
    pub(crate) fn is_whole(&self, rows: usize) -> bool {
        match self {
            StoredRows::Dense { cols, values } => values.len() == rows * cols && values.iter().all(|v| v.is_finite()),
            StoredRows::Sparse { cols, starts, indices, values } => {
                let bounded = starts.len() == rows + 1
                    && starts.first() == Some(&0)
                    && starts.last() == Some(&indices.len())
                    && indices.len() == values.len()
                    && starts.windows(2).all(|w| w[0] <= w[1]);
                let rising = |w: &[usize]| indices[w[0]..w[1]].windows(2).all(|c| c[0] < c[1]);
                bounded
                    && starts.windows(2).all(rising)
                    && indices.iter().all(|c| (*c as usize) < *cols)
                    && values.iter().all(|v| v.is_finite())
            }
        }
    }
}

/// Rows `x̂ = (x − c)/s` that a kernel looks at.
///
/// Sparse rows with many columns are only scaled; what the centre adds to a product is kept beside them:
/// `x̂·ŷ = x·y/s² − m(x) − m(y) + C` with `m(x) = Σ x c/s²` and `C = Σ c²/s²`.
#[derive(Debug, Clone)]
pub struct KernelRows {
    rows: usize,
    stored: StoredRows,
    /// m, row by row; empty for dense rows.
    centre_parts: Vec<f64>,
    /// C.
    centre_square: f64,
}

impl KernelRows {
    /// All rows of a design.
    pub fn new(design: &dyn Design, units: &Units, watch: &Watch) -> Result<KernelRows> {
        let mut tile = Tile::default();
        let shape = design.shape();
        // Only rows as they came are ever lent; all others are in the tile, which is theirs.
        let lent = match InMemory::new(design, units, &mut tile, watch)? {
            InMemory::Sparse(sparse) => {
                return Ok(KernelRows::of_stored(&StoredRows::of_csr(&sparse), shape.rows, units));
            }
            InMemory::Dense { values, .. } => units.is_identity().then(|| values.to_vec()),
        };
        let stored = StoredRows::Dense { cols: shape.cols, values: lent.unwrap_or(tile.values) };
        Ok(KernelRows { rows: shape.rows, stored, centre_parts: Vec::new(), centre_square: 0.0 })
    }

    /// Rows as they are stored, seen in given units.
    pub fn of_stored(stored: &StoredRows, rows: usize, units: &Units) -> KernelRows {
        let dense = match stored {
            StoredRows::Dense { .. } => true,
            StoredRows::Sparse { cols, indices, .. } => worth_dense(rows, *cols, indices.len()),
        };
        KernelRows::in_layout(stored, rows, units, dense)
    }

    /// Other rows in the layout of these, so that products can be taken.
    pub fn and(&self, stored: &StoredRows, rows: usize, units: &Units) -> KernelRows {
        KernelRows::in_layout(stored, rows, units, !self.stored.is_sparse())
    }

    /// A table of kernel values, whose columns are in no units.
    pub fn table(design: &dyn Design, watch: &Watch) -> Result<KernelRows> {
        let shape = design.shape();
        let units = Units::identity(shape.cols);
        let mut tile = Tile::default();
        let stored = match InMemory::new(design, &units, &mut tile, watch)? {
            InMemory::Sparse(sparse) => StoredRows::of_csr(&sparse),
            InMemory::Dense { values, cols } => StoredRows::Dense { cols, values: values.to_vec() },
        };
        Ok(KernelRows::in_layout(&stored, shape.rows, &units, true))
    }

    fn in_layout(stored: &StoredRows, rows: usize, units: &Units, dense: bool) -> KernelRows {
        let (centre, inverse) = (units.centre(), units.inverse_scale());
        let cols = stored.cols();
        let mut copy = if dense { StoredRows::dense(cols) } else { StoredRows::sparse(cols) };
        (0..rows).for_each(|i| copy.push_from(stored, i));
        match &mut copy {
            StoredRows::Dense { values, .. } => {
                for x in values.chunks_exact_mut(cols.max(1)) {
                    for ((x, c), s) in x.iter_mut().zip(centre).zip(inverse) {
                        *x = (*x - c) * s;
                    }
                }
                KernelRows { rows, stored: copy, centre_parts: Vec::new(), centre_square: 0.0 }
            }
            StoredRows::Sparse { starts, indices, values, .. } => {
                indices.iter().zip(values.iter_mut()).for_each(|(c, v)| *v *= inverse[*c as usize]);
                let part = |i: usize| {
                    let entries = starts[i]..starts[i + 1];
                    let pairs = indices[entries.clone()].iter().zip(&values[entries]);
                    pairs.map(|(c, v)| v * centre[*c as usize] * inverse[*c as usize]).sum::<f64>()
                };
                let centre_parts = (0..rows).map(part).collect();
                let squares = centre.iter().zip(inverse).map(|(c, s)| (c * s) * (c * s));
                KernelRows { rows, stored: copy, centre_parts, centre_square: crate::numeric::sum(squares) }
            }
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.stored.cols()
    }

    /// One value of a row.
    pub fn entry(&self, row: usize, col: usize) -> f64 {
        match &self.stored {
            StoredRows::Dense { cols, values } => values[row * cols + col],
            StoredRows::Sparse { starts, indices, values, .. } => {
                let entries = starts[row]..starts[row + 1];
                let at = indices[entries.clone()].binary_search(&(col as u32));
                at.map_or(0.0, |at| values[entries.start + at])
            }
        }
    }

    /// Columns and values of a row, those of a sparse row that are there.
    pub(super) fn each_entry(&self, row: usize, mut visit: impl FnMut(usize, f64)) {
        match &self.stored {
            StoredRows::Dense { cols, values } => {
                values[row * cols..(row + 1) * cols].iter().enumerate().for_each(|(j, v)| visit(j, *v));
            }
            StoredRows::Sparse { starts, indices, values, .. } => {
                (starts[row]..starts[row + 1]).for_each(|e| visit(indices[e] as usize, values[e]));
            }
        }
    }

    /// The rows in the units of the kernel.
    pub(super) fn stored(&self) -> &StoredRows {
        &self.stored
    }

    /// What the centre adds to the product of a row, and of all.
    pub(super) fn centre_part(&self, i: usize) -> f64 {
        self.centre_parts.get(i).copied().unwrap_or(0.0)
    }

    /// C.
    pub(super) fn centre_square(&self) -> f64 {
        self.centre_square
    }

    /// `x̂·x̂` of a row (of the scaled row itself, where sparse rows are seen by a kernel that a shift does not change).
    pub(super) fn square(&self, i: usize) -> f64 {
        let chain = |values: &[f64]| {
            let mut square = 0.0;
            add_squares(values, &mut square);
            square
        };
        match &self.stored {
            StoredRows::Dense { cols, values } => chain(&values[i * cols..(i + 1) * cols]),
            StoredRows::Sparse { starts, values, .. } => chain(&values[starts[i]..starts[i + 1]]),
        }
    }

    /// The largest squared length of a row, as it is stored.
    pub(crate) fn largest_square(&self) -> f64 {
        (0..self.rows).map(|i| self.square(i)).fold(0.0, f64::max)
    }

    /// K of every row with itself.
    ///
    /// # Errors
    /// Where one is not finite, with the row.
    pub fn diagonal(&self, kernel: &Kernel) -> Result<Vec<f64>> {
        let itself = |i: usize| match (kernel, &self.stored) {
            (Kernel::Precomputed, StoredRows::Dense { cols, values }) => values[i * cols + i],
            _ => kernel.of_itself(self.square(i) - 2.0 * self.centre_part(i) + self.centre_square),
        };
        let diagonal: Vec<f64> = (0..self.rows).map(itself).collect();
        match diagonal.iter().position(|k| !k.is_finite()) {
            None => Ok(diagonal),
            Some(i) => Err(Error::data(words![
                format!("the {} kernel overflows: its value of ", kernel.name()),
                Span::Row(i),
                format!(" with itself is {}", diagonal[i]),
            ])
            .help(words!["take a smaller ", Setting::Gamma, ", ", Setting::Coef0, " or ", Setting::Degree])
            .help("standardise the columns")),
        }
    }
}

/// Whether sparse rows are better filled up.
fn worth_dense(rows: usize, cols: usize, entries: usize) -> bool {
    rows.saturating_mul(cols) <= MOST_DENSE && rows.saturating_mul(cols) <= DENSE_ENOUGH * (entries + rows)
}

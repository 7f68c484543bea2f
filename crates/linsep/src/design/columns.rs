//! The columns of a design in memory, for methods that visit them one by one.

use super::{Block, Design, InMemory, Tile, Units};
use crate::error::{Error, Result};
use crate::watch::Watch;

/// All columns of a design: dense ones in given units, sparse ones as stored. The one extra copy of the data.
///
/// A sparse column in units is `(x − centre)·inverse_scale`; it would not be sparse, so whoever uses it keeps the share of
/// the centre in a scalar.
///
/// ```
/// use linsep::design::{Column, Columns, DenseMatrix, Units};
/// let x = DenseMatrix::new(vec![1.0, 2.0, 3.0, 4.0], 2)?;
/// let columns = Columns::new(&x, &Units::identity(2), &Default::default())?;
/// let Column::Dense(second) = columns.column(1) else { panic!("a dense matrix has dense columns") };
/// assert_eq!(second, [2.0, 4.0]);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Columns {
    rows: usize,
    values: Vec<f64>,
    /// Of sparse columns: where each starts, and the row of every value.
    sparse: Option<(Vec<usize>, Vec<u32>)>,
}

/// One column.
#[derive(Debug, Clone, Copy)]
pub enum Column<'a> {
    /// A value for every row, in units.
    Dense(&'a [f64]),
    /// Rising rows and their values, as stored.
    Sparse(&'a [u32], &'a [f64]),
}

impl Columns {
    /// Copies a design column by column.
    pub fn new(design: &dyn Design, units: &Units, watch: &Watch) -> Result<Columns> {
        let shape = design.shape();
        let mut tile = Tile::default();
        match InMemory::new(design, units, &mut tile, watch)? {
            InMemory::Dense { values, cols } => {
                let mut by_column = vec![0.0; values.len()];
                for (i, row) in values.chunks_exact(cols.max(1)).enumerate() {
                    row.iter().enumerate().for_each(|(j, x)| by_column[j * shape.rows + i] = *x);
                }
                Ok(Columns { rows: shape.rows, values: by_column, sparse: None })
            }
            InMemory::Sparse(matrix) => {
                if shape.rows > u32::MAX as usize {
                    return Err(Error::data(format!("{} sparse rows are too many for columns in memory", shape.rows)));
                }
                let mut starts = vec![0; shape.cols + 1];
                matrix.indices.iter().for_each(|j| starts[*j as usize + 1] += 1);
                (0..shape.cols).for_each(|j| starts[j + 1] += starts[j]);
                let mut next = starts.clone();
                let (mut rows, mut values) = (vec![0; matrix.indices.len()], vec![0.0; matrix.indices.len()]);
                for i in 0..matrix.len() {
                    let (columns, entries) = matrix.row(i);
                    for (j, v) in columns.iter().zip(entries) {
                        let at = &mut next[*j as usize];
                        (rows[*at], values[*at]) = (i as u32, *v);
                        *at += 1;
                    }
                }
                Ok(Columns { rows: shape.rows, values, sparse: Some((starts, rows)) })
            }
        }
    }

    /// Whether columns are sparse, and so not in units.
    pub fn is_sparse(&self) -> bool {
        self.sparse.is_some()
    }

    /// One column.
    #[inline]
    pub fn column(&self, j: usize) -> Column<'_> {
        match &self.sparse {
            None => Column::Dense(&self.values[j * self.rows..(j + 1) * self.rows]),
            Some((starts, rows)) => {
                let range = starts[j]..starts[j + 1];
                Column::Sparse(&rows[range.clone()], &self.values[range])
            }
        }
    }
}

/// Values that a design holds: all of a dense one, the stored ones of a sparse one.
pub fn stored_values(design: &dyn Design) -> Result<usize> {
    let shape = design.shape();
    let mut tile = Tile::default();
    let mut count = 0;
    for start in (0..shape.rows).step_by(1 << 16) {
        // Only sparse rows are asked for; the first empty block tells.
        match design.block(start..start, &mut tile)? {
            Block::F64(_) | Block::F32(_) => return Ok(shape.rows * shape.cols),
            Block::Csr(_) => {}
        }
        if let Block::Csr(rows) = design.block(start..(start + (1 << 16)).min(shape.rows), &mut tile)? {
            count += rows.indices.len();
        }
    }
    Ok(count)
}

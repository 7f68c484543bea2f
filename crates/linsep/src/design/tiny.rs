//! Columns so small that the squares of their numbers underflow: refused where they can still be named.

use super::{Block, Design, Tile};
use crate::error::{Error, Result};
use crate::table::{Cells, Table};
use crate::words::{Span, words};

/// Above this, the square of a value overflows in sums over many rows: 1e300 times 1e8 rows. Refused where it can still
/// be named.
pub(super) const LARGEST: f64 = 1e150;
/// Below this in every row a column has a variance of about 1e-302 at most, and what is divided by it overflows. The
/// counterpart of [`LARGEST`].
const SMALLEST: f64 = 1e-151;
/// Rows read between two polls of the watch: results do not depend on it.
const ROWS: usize = 256;

/// Whether a column is lost in rounding, from what its rows have shown so far.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Size {
    /// No row has been seen.
    Unknown,
    /// Every row had this number, which is small.
    Constant(f64),
    /// The rows differ, and all are small.
    Tiny,
    /// A row is large enough.
    Usable,
}

impl Size {
    fn with(self, value: f64) -> Size {
        match self {
            // A missing cell decides nothing.
            _ if value.is_nan() => self,
            Size::Usable => Size::Usable,
            _ if value.abs() >= SMALLEST => Size::Usable,
            Size::Unknown => Size::Constant(value),
            Size::Constant(before) if before == value => self,
            Size::Constant(_) | Size::Tiny => Size::Tiny,
        }
    }
}

/// Refuses number columns of a table whose wanted rows differ, but all lie so close to zero that squares underflow.
pub(super) fn check_table(table: &Table, columns: impl Iterator<Item = usize>, wanted: &[bool]) -> Result<()> {
    for column in columns {
        let mut size = Size::Unknown;
        for (c, chunk) in table.chunks().iter().enumerate() {
            // Integers are zero or large enough: the first of them, or the first ordinary number, decides.
            let Cells::F64(values) = &chunk.cells[column] else {
                size = Size::Usable;
                break;
            };
            let wanted = &wanted[table.chunk_start(c)..];
            let mut rows = values.iter().zip(wanted).filter(|(_, wanted)| **wanted);
            size = rows.try_fold(size, |size, (v, _)| settled(size.with(*v))).unwrap_or(Size::Usable);
            if size == Size::Usable {
                break;
            }
        }
        if size == Size::Tiny {
            return Err(too_small(Span::NamedColumn(table.columns()[column].name.clone())));
        }
    }
    Ok(())
}

/// `None` once the size is known, to stop early.
fn settled(size: Size) -> Option<Size> {
    (size != Size::Usable).then_some(size)
}

/// The same for all columns of a matrix. Most columns are settled by the first rows, and only the others are looked at
/// further.
pub fn check_small_columns(design: &dyn Design) -> Result<()> {
    let shape = design.shape();
    let mut tile = Tile::default();
    let mut sizes = vec![Size::Unknown; shape.cols];
    let mut open: Vec<usize> = (0..shape.cols).collect();
    for first in (0..shape.rows).step_by(ROWS) {
        let rows = first..(first + ROWS).min(shape.rows);
        match design.block(rows, &mut tile)? {
            // The smallest single-precision number is far above it.
            Block::F32(_) => return Ok(()),
            Block::F64(dense) => {
                for row in dense.values.chunks_exact(shape.cols.max(1)) {
                    open.iter().for_each(|j| sizes[*j] = sizes[*j].with(row[*j]));
                }
                open.retain(|j| sizes[*j] != Size::Usable);
                if open.is_empty() {
                    return Ok(());
                }
            }
            Block::Csr(csr) => {
                for i in 0..csr.len() {
                    let (columns, values) = csr.row(i);
                    columns.iter().zip(values).for_each(|(j, v)| {
                        let size = &mut sizes[*j as usize];
                        // Other rows hold zeros, so that a small entry that is not zero makes a difference.
                        *size = if *v == 0.0 { *size } else { size.with(*v).with(0.0) };
                    });
                }
            }
        }
    }
    match sizes.iter().position(|size| *size == Size::Tiny) {
        Some(j) => Err(too_small(Span::Column(j))),
        None => Ok(()),
    }
}

fn too_small(column: Span) -> Error {
    let why = format!(" is too small: the squares of its numbers, all below {SMALLEST:e}, underflow");
    Error::data(words![column, why]).help("rescale the column")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{CsrMatrix, DenseMatrix};

    #[test]
    fn only_columns_that_vary_and_never_grow_are_too_small() {
        let columns = [1.0, 0.0, 1e-200, 1e-300, 1e-200, 2.0, 1e-10, 0.0, 1e-200, -1e-300, 0.5, 2.0];
        for (j, tiny) in [false, false, false, true, false, false].into_iter().enumerate() {
            let one = DenseMatrix::new(vec![columns[j], columns[6 + j]], 1).expect("two rows");
            assert_eq!(check_small_columns(&one).is_err(), tiny, "column {j}");
        }
    }

    #[test]
    fn the_first_such_column_is_named_whether_dense_or_sparse() {
        let dense = DenseMatrix::new(vec![1.0, 1e-170, 3.0, 2e-170], 2).expect("two rows");
        let sparse = CsrMatrix::new(vec![0, 2, 3], vec![0, 1, 0], vec![1.0, 1e-170, 3.0], 2).expect("two rows");
        for error in
            [check_small_columns(&dense).expect_err("dense"), check_small_columns(&sparse).expect_err("sparse")]
        {
            assert!(error.message().starts_with("column 2 is too small"), "{error}");
            assert_eq!(error.help_text().as_deref(), Some("rescale the column"));
        }
    }
}

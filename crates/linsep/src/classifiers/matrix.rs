//! Numbers by rows, lent or owned.

use crate::error::{Error, Result};
use std::borrow::Cow;
use std::ops::Index;
use std::slice::ChunksExact;

/// A matrix of `rows × columns` numbers, row after row, borrowed from the caller or owned.
///
/// What methods learn from and predict, and the form of the scores and probabilities that they give. Singles (`f32`) are
/// used as they are; nothing is copied.
///
/// ```
/// use linsep::prelude::*;
/// let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let x = Matrix::new(&values, 3, 2)?;
/// assert_eq!(x.row(1), [3.0, 4.0]);
/// assert_eq!(x[(2, 0)], 5.0);
/// assert!(Matrix::new(&values, 4, 2).is_err());
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix<'a, T: Clone = f64> {
    values: Cow<'a, [T]>,
    rows: usize,
    columns: usize,
}

impl<'a, T: Clone> Matrix<'a, T> {
    /// A matrix from its rows, one after the other.
    ///
    /// # Errors
    /// Where there are not `rows × columns` values, and where rows have no columns.
    pub fn new(values: impl Into<Cow<'a, [T]>>, rows: usize, columns: usize) -> Result<Matrix<'a, T>> {
        let values = values.into();
        if rows.checked_mul(columns) != Some(values.len()) || (columns == 0 && rows > 0) {
            let count = values.len();
            return Err(Error::usage(format!("{count} values do not fill {rows} rows of {columns} columns")));
        }
        Ok(Matrix { values, rows, columns })
    }

    /// Numbers that are known to fill their rows.
    pub(super) fn of_rows(values: Vec<T>, columns: usize) -> Matrix<'static, T> {
        let rows = values.len().checked_div(columns).unwrap_or(0);
        Matrix { values: Cow::Owned(values), rows, columns }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One row.
    ///
    /// # Panics
    /// If there is no such row, as a slice does.
    pub fn row(&self, row: usize) -> &[T] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// The rows, one after the other.
    pub fn iter(&self) -> ChunksExact<'_, T> {
        // Without columns there are no values, and any length of a chunk gives no rows.
        self.values.chunks_exact(self.columns.max(1))
    }

    /// All values, row after row.
    pub fn as_slice(&self) -> &[T] {
        &self.values
    }

    /// All values, row after row.
    pub fn into_vec(self) -> Vec<T> {
        self.values.into_owned()
    }
}

/// By row and column.
impl<T: Clone> Index<(usize, usize)> for Matrix<'_, T> {
    type Output = T;

    fn index(&self, (row, column): (usize, usize)) -> &T {
        &self.row(row)[column]
    }
}

impl<'m, T: Clone> IntoIterator for &'m Matrix<'_, T> {
    type Item = &'m [T];
    type IntoIter = ChunksExact<'m, T>;

    fn into_iter(self) -> ChunksExact<'m, T> {
        self.iter()
    }
}

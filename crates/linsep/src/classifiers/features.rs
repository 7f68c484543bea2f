//! What may be given as features.

use super::Matrix;
use crate::design::{CsrMatrix, DenseMatrix, Design};
use crate::error::{Error, Result};
use crate::words::{Span, words};

/// Rows of features, as a caller holds them: a [`Matrix`], a [`CsrMatrix`], arrays of rows such as `[[f64; 3]]` and
/// `Vec<[f32; 3]>`, and `Vec<Vec<f64>>`, the only form that is copied.
///
/// ```
/// use linsep::prelude::*;
/// let y = ["a", "a", "b", "b"];
/// let rows = [[0.0, 1.0], [1.0, 0.5], [4.0, 3.0], [5.0, 3.5]];
/// let model = LogisticRegression::new().ridge(0.1).fit(&rows, &y)?;
/// // The same rows in another form: [[4, 3]] by compressed rows.
/// let sparse = CsrMatrix::new(vec![0, 2], vec![0, 1], vec![4.0, 3.0], 2)?;
/// assert_eq!(model.predict(&sparse)?, ["b"]);
/// assert_eq!(model.predict(&vec![vec![4.0, 3.0]])?, ["b"]);
/// # Ok::<(), linsep::FitError>(())
/// ```
pub trait Features {
    /// The rows as methods read them.
    ///
    /// # Errors
    /// Where the rows are not equally long.
    fn lend(&self) -> Result<LentFeatures<'_>>;
}

/// Features in one of the forms that methods read.
#[non_exhaustive]
pub enum LentFeatures<'a> {
    /// Rows of doubles.
    F64(DenseMatrix<'a, f64>),
    /// Rows of singles.
    F32(DenseMatrix<'a, f32>),
    /// Any other matrix, such as a sparse one.
    Design(&'a dyn Design),
}

impl LentFeatures<'_> {
    /// The matrix.
    pub fn as_design(&self) -> &dyn Design {
        match self {
            LentFeatures::F64(matrix) => matrix,
            LentFeatures::F32(matrix) => matrix,
            LentFeatures::Design(design) => *design,
        }
    }
}

impl<T: Features + ?Sized> Features for &T {
    fn lend(&self) -> Result<LentFeatures<'_>> {
        (**self).lend()
    }
}

impl Features for CsrMatrix<'_> {
    fn lend(&self) -> Result<LentFeatures<'_>> {
        Ok(LentFeatures::Design(self))
    }
}

macro_rules! features_of {
    ($float:ty, $variant:ident) => {
        impl Features for Matrix<'_, $float> {
            fn lend(&self) -> Result<LentFeatures<'_>> {
                Ok(LentFeatures::$variant(DenseMatrix::new(self.as_slice(), self.columns())?))
            }
        }

        impl Features for DenseMatrix<'_, $float> {
            fn lend(&self) -> Result<LentFeatures<'_>> {
                Ok(LentFeatures::Design(self))
            }
        }

        impl<const D: usize> Features for [[$float; D]] {
            fn lend(&self) -> Result<LentFeatures<'_>> {
                Ok(LentFeatures::$variant(DenseMatrix::new(self.as_flattened(), D)?))
            }
        }

        impl<const D: usize, const N: usize> Features for [[$float; D]; N] {
            fn lend(&self) -> Result<LentFeatures<'_>> {
                self[..].lend()
            }
        }

        impl<const D: usize> Features for Vec<[$float; D]> {
            fn lend(&self) -> Result<LentFeatures<'_>> {
                self[..].lend()
            }
        }

        impl Features for [Vec<$float>] {
            fn lend(&self) -> Result<LentFeatures<'_>> {
                let columns = self.first().map_or(0, Vec::len);
                if let Some(row) = self.iter().position(|row| row.len() != columns) {
                    return Err(Error::data(words![
                        Span::Row(row),
                        format!(" has {} columns, and the first has {columns}", self[row].len())
                    ]));
                }
                Ok(LentFeatures::$variant(DenseMatrix::new(self.concat(), columns)?))
            }
        }

        impl Features for Vec<Vec<$float>> {
            fn lend(&self) -> Result<LentFeatures<'_>> {
                self[..].lend()
            }
        }
    };
}

features_of!(f64, F64);
features_of!(f32, F32);

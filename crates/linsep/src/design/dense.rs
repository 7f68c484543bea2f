//! Dense rows, owned or borrowed.

use super::{Block, Design, Shape, Tile, Units};
use crate::error::{Error, Result};
use crate::numeric::vectorised;
use std::borrow::Cow;
use std::ops::Range;

/// Row-major rows of `cols` values.
#[derive(Debug, Clone, Copy)]
pub struct Dense<'a, T> {
    /// The values, row after row.
    pub values: &'a [T],
    /// Values per row.
    pub cols: usize,
}

vectorised! {
    fn load_f64(values: &[f64], centre: &[f64], inverse: &[f64], out: &mut [f64]) {
        load(values, centre, inverse, out);
    }

    fn load_f32(values: &[f32], centre: &[f64], inverse: &[f64], out: &mut [f64]) {
        load(values, centre, inverse, out);
    }
}

#[inline(always)]
fn load<T: Copy + Into<f64>>(values: &[T], centre: &[f64], inverse: &[f64], out: &mut [f64]) {
    let cols = centre.len().max(1);
    for (x, z) in values.chunks_exact(cols).zip(out.chunks_exact_mut(cols)) {
        for (((z, x), c), s) in z.iter_mut().zip(x).zip(centre).zip(inverse) {
            *z = ((*x).into() - c) * s;
        }
    }
}

/// A row-major matrix in memory, owned or borrowed: nothing is copied for a caller that holds one.
///
/// ```
/// use linsep::design::{DenseMatrix, Design};
/// let x = DenseMatrix::new(&[1.0, 2.0, 3.0, 4.0][..], 2)?;
/// assert_eq!(x.shape().rows, 2);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DenseMatrix<'a, T: Clone> {
    values: Cow<'a, [T]>,
    cols: usize,
    rows: usize,
}

impl<'a, T: Clone> DenseMatrix<'a, T> {
    /// A matrix with `cols` columns from its rows, one after the other.
    pub fn new(values: impl Into<Cow<'a, [T]>>, cols: usize) -> Result<Self> {
        let values = values.into();
        let rows = values.len().checked_div(cols).unwrap_or(0);
        if rows * cols != values.len() {
            return Err(Error::usage(format!("{} values do not fill rows of {cols} columns", values.len())));
        }
        Ok(DenseMatrix { values, cols, rows })
    }

    /// The values, row after row.
    pub fn values(&self) -> &[T] {
        &self.values
    }
}

macro_rules! dense_design {
    ($float:ty, $variant:ident, $load:ident) => {
        impl Dense<'_, $float> {
            /// The rows in the given units, as doubles, into `out`.
            pub fn load(&self, units: &Units, out: &mut Vec<f64>) {
                out.resize(self.values.len(), 0.0);
                $load(self.values, units.centre(), units.inverse_scale(), out);
            }
        }

        impl Design for DenseMatrix<'_, $float> {
            fn shape(&self) -> Shape {
                Shape { rows: self.rows, cols: self.cols }
            }

            fn block<'a>(&'a self, rows: Range<usize>, _tile: &'a mut Tile) -> Result<Block<'a>> {
                let values = &self.values[rows.start * self.cols..rows.end * self.cols];
                Ok(Block::$variant(Dense { values, cols: self.cols }))
            }

            fn lends(&self) -> bool {
                true
            }
        }
    };
}

dense_design!(f64, F64, load_f64);
dense_design!(f32, F32, load_f32);

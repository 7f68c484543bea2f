//! Few rows of many columns, by their coordinates in the space that they span.

use super::turned::block_in_units;
use super::{DenseMatrix, Design, Tile, Units};
use crate::error::Result;
use crate::linalg::{multiply_rows, orthonormal_factor, weighted_rows_sum};

/// An orthonormal basis Q of the space that the rows x̂ of a design span, in its units, and the rows in it, `Qᵀx̂`: as many
/// coordinates as rows. A penalty on `‖w‖²` leaves the optimum in that space, `w = Qu` with `‖w‖ = ‖u‖`.
///
/// ```
/// use linsep::design::{DenseMatrix, RowSpace, Units};
/// let x = DenseMatrix::new(vec![3.0, 0.0, 4.0, 0.0, 2.0, 0.0], 3)?;
/// let space = RowSpace::of(&x, &Units::identity(3))?;
/// let w = space.to_columns(&space.of_columns(&[6.0, 5.0, 8.0], 1), 1);
/// assert!(w.iter().zip([6.0, 5.0, 8.0]).all(|(w, x)| (w - x).abs() < 1e-14));
/// assert!((space.rows().values()[0].abs() - 5.0).abs() < 1e-14);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RowSpace {
    /// The vectors of Q one after the other, each with all columns.
    basis: Vec<f64>,
    rows: DenseMatrix<'static, f64>,
    cols: usize,
}

impl RowSpace {
    /// The space of no more rows than columns, by a QR factorisation of the transposed rows.
    pub fn of(design: &dyn Design, units: &Units) -> Result<RowSpace> {
        let shape = design.shape();
        let (mut tile, mut values) = (Tile::default(), Vec::new());
        block_in_units(design, units, 0..shape.rows, &mut tile, &mut values)?;
        // Rows one after the other are the columns of the transposed matrix, and so are those of its triangle.
        let (basis, triangle) = orthonormal_factor(shape.cols, shape.rows, &mut values);
        Ok(RowSpace { basis, rows: DenseMatrix::new(triangle, shape.rows)?, cols: shape.cols })
    }

    /// The rows by their coordinates.
    pub fn rows(&self) -> &DenseMatrix<'static, f64> {
        &self.rows
    }

    /// `Qu` for the weights u of so many scores, one score after the other.
    pub fn to_columns(&self, weights: &[f64], scores: usize) -> Vec<f64> {
        let n = self.rows.shape().rows;
        let by_vector: Vec<f64> = (0..n * scores).map(|at| weights[at % scores * n + at / scores]).collect();
        let mut out = vec![0.0; scores * self.cols];
        weighted_rows_sum(&self.basis, &by_vector, self.cols, scores, &mut out);
        out
    }

    /// `Qᵀw` for the weights w of so many scores, one score after the other.
    pub fn of_columns(&self, weights: &[f64], scores: usize) -> Vec<f64> {
        let n = self.rows.shape().rows;
        let mut by_vector = vec![0.0; n * scores];
        multiply_rows(&self.basis, weights, self.cols, scores, &mut by_vector);
        (0..n * scores).map(|at| by_vector[at % n * scores + at / n]).collect()
    }
}

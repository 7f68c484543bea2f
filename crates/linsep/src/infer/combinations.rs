//! Combinations of columns that nearly coincide, in which products of rows keep their digits.

use crate::linalg::dot;

/// The lower triangular A of combinations of the columns, the same for every score, in which the information of the first
/// score is about the identity. Coefficients θ of the columns are `Aᵀ` times those of the combinations, so a function `f·θ`
/// is `Af` there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Combinations {
    pub width: usize,
    /// Row by row.
    pub rows: Vec<f64>,
}

impl Combinations {
    /// `A b`, score by score.
    pub fn of(&self, b: &[f64]) -> Vec<f64> {
        let rows = || self.rows.chunks_exact(self.width);
        b.chunks_exact(self.width).flat_map(|b| rows().map(move |row| dot(row, b))).collect()
    }

    /// `Aᵀ b`, score by score.
    pub fn transposed(&self, b: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; b.len()];
        for (out, b) in out.chunks_exact_mut(self.width).zip(b.chunks_exact(self.width)) {
            for (row, b) in self.rows.chunks_exact(self.width).zip(b) {
                out.iter_mut().zip(row).for_each(|(o, a)| *o += a * b);
            }
        }
        out
    }

    /// `log det A`.
    pub fn log_determinant(&self) -> f64 {
        (0..self.width).map(|i| self.rows[i * self.width + i].ln()).sum()
    }
}

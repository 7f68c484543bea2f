//! Scores of a block of rows, dense or sparse.

use super::Coef;
use crate::design::{Rows, Units};
use crate::linalg::{add_gathered, multiply_rows};
use rayon::prelude::*;

/// Columns whose weights are turned from score by score to column by column at a time: of 52 scores they take 200 kB.
/// Chosen (bench/constants.md); results do not depend on it.
const TURNED: usize = 512;

/// Coefficients ready for both kinds of rows.
pub(super) struct Scorer {
    /// In the pass's units, for dense tiles.
    weights: Vec<f64>,
    intercept: Vec<f64>,
    /// Per stored value and column-major by column (`k` values a column), for sparse rows.
    raw: Vec<f64>,
    raw_intercept: Vec<f64>,
    cols: usize,
}

impl Scorer {
    pub(super) fn new(coef: &Coef, units: &Units, sparse: bool) -> Scorer {
        let (k, cols) = (coef.n_scores(), coef.n_cols());
        let (mut raw, mut raw_intercept) = (Vec::new(), Vec::new());
        if sparse {
            raw_intercept = coef.intercept().to_vec();
            let is_copy = k == 1 && units.is_identity();
            raw = if is_copy { coef.weights().to_vec() } else { vec![0.0; k * cols] };
            if !is_copy {
                let (centre, inverse) = (units.centre(), units.inverse_scale());
                // Some columns at a time, so that what is written across stays in a cache.
                raw.par_chunks_mut(TURNED * k).enumerate().for_each(|(block, raw)| {
                    let columns = block * TURNED..block * TURNED + raw.len() / k;
                    for c in 0..k {
                        let weights = &coef.weights_of(c)[columns.clone()];
                        let scaled = weights.iter().zip(&inverse[columns.clone()]).map(|(w, i)| w * i);
                        raw.iter_mut().skip(c).step_by(k).zip(scaled).for_each(|(r, w)| *r = w);
                    }
                });
                for (j, centre) in centre.iter().enumerate().filter(|(_, c)| **c != 0.0) {
                    let raw = &raw[j * k..(j + 1) * k];
                    raw_intercept.iter_mut().zip(raw).for_each(|(b, w)| *b -= centre * w);
                }
            }
        }
        let weights = if sparse { Vec::new() } else { coef.weights().to_vec() };
        Scorer { weights, intercept: coef.intercept().to_vec(), raw, raw_intercept, cols }
    }

    /// The one score of a sparse row, with the sum of the sizes of its terms added to `size`, and Σx² of the row.
    pub(super) fn sized(&self, columns: &[u32], values: &[f64], size: &mut f64) -> (f64, f64) {
        let (mut sum, mut length) = (0.0, 0.0);
        for (c, v) in columns.iter().zip(values) {
            let product = v * self.raw[*c as usize];
            sum += product;
            *size += product.abs();
            length += v * v;
        }
        (self.raw_intercept[0] + sum, length)
    }

    /// Scores of a block without offsets, row by row.
    pub(super) fn scores(&self, rows: &Rows<'_>, out: &mut [f64]) {
        let k = self.intercept.len();
        match rows {
            Rows::Dense(values) => {
                multiply_rows(values, &self.weights, self.cols, k, out);
                for z in out.chunks_exact_mut(k) {
                    z.iter_mut().zip(&self.intercept).for_each(|(z, b)| *z += b);
                }
            }
            Rows::Csr(rows) if k == 1 => {
                for (i, z) in out.iter_mut().enumerate() {
                    let (columns, values) = rows.row(i);
                    let products = columns.iter().zip(values).map(|(c, v)| v * self.raw[*c as usize]);
                    *z = self.raw_intercept[0] + products.sum::<f64>();
                }
            }
            Rows::Csr(rows) => {
                for (i, z) in out.chunks_exact_mut(k).enumerate() {
                    z.copy_from_slice(&self.raw_intercept);
                    let (columns, values) = rows.row(i);
                    add_gathered(columns, values, &self.raw, z);
                }
            }
        }
    }
}

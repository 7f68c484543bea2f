//! Whether a quadratic model is kept as a matrix.

use crate::design::stored_values;
use crate::error::Result;
use crate::objective::{Loss, Penalty, Restricted, Risk};

/// With more coefficients the Gram matrix is not formed: 2,000² doubles are 32 MB. Chosen (bench/constants.md).
pub(super) const GRAM_LIMIT: usize = 2_000;
/// Operations of sweeps in the matrix for each of its entries, beside those of its pairs of entries. Chosen
/// (bench/constants.md).
const MATRIX: f64 = 12.0;
/// Sweeps by columns that a matrix repays, in stored values each. Chosen (bench/constants.md): only the time depends on
/// it.
const REPAID: f64 = 100.0;

/// Whether the matrix of some columns is worth its cost.
pub(super) fn matrix_repaid<L: Loss, P: Penalty>(risk: &Risk<'_, L, P>, restricted: &Restricted) -> Result<bool> {
    let scores = risk.loss().n_scores();
    let unknowns = scores * (restricted.columns.len() + 1);
    // A sweep in the matrix costs its size, one by the columns their stored values. Of sparse rows the matrix is
    // merged from many parts, which few values a column do not repay.
    let shape = restricted.design().shape();
    let stored = stored_values(restricted.design())?;
    let sparse = stored < shape.rows * shape.cols;
    let size = if sparse { 8 * unknowns * unknowns } else { unknowns * unknowns / 4 };
    let repaid = match restricted.design().by_columns() {
        // By columns a matrix costs the pairs of entries in a row, and nothing is merged; tens of sweeps repay it.
        Some(_) if scores == 1 => {
            let pairs = stored as f64 * stored as f64 / (2.0 * shape.rows.max(1) as f64);
            pairs + MATRIX * (unknowns * unknowns) as f64 <= REPAID * stored as f64
        }
        _ => stored * scores >= size,
    };
    Ok(unknowns <= GRAM_LIMIT && repaid)
}

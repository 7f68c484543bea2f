//! Which coefficients the boundary determines, of rows with many columns.
//!
//! Coefficient j of maximum likelihood keeps a limit iff `e_j` is in the row space of the boundary rows B, the ones of the
//! intercept included. `P = Bᵀ(BBᵀ)⁺B` projects onto it, so that is where `P_jj = 1`, and `BBᵀ` is as small as the boundary.

use super::Case;
use crate::error::Result;
use crate::linalg::{Square, factor};
use std::collections::BTreeMap;

/// Of more rows on the boundary it is not asked.
const MOST_BOUNDARY: usize = 300;
/// On the unit-diagonal scale, pivots of rows that are combinations of others.
const DEPENDENT: f64 = 1e-11;
/// What `1 − P_jj` may be by rounding.
const ROUNDING: f64 = 1e-7;

impl Case<'_> {
    /// Columns without a limit, and whether the intercept is; none are named for several classes, nor for a boundary of many
    /// rows.
    pub(super) fn not_determined(&self, boundary: &[usize]) -> Result<(Vec<usize>, bool)> {
        if self.classes != 2 || boundary.len() > MOST_BOUNDARY {
            return Ok((Vec::new(), false));
        }
        let rows = self.entries_of(boundary)?;
        let mut by_column: BTreeMap<usize, Vec<(usize, f64)>> = BTreeMap::new();
        for (i, row) in rows.iter().enumerate() {
            row.iter().for_each(|(j, x)| by_column.entry(*j).or_default().push((i, *x)));
        }
        // Whether a coefficient has a limit does not depend on the unit of its column.
        for column in by_column.values_mut() {
            let largest = column.iter().fold(0.0f64, |m, (_, x)| m.max(x.abs()));
            column.iter_mut().filter(|_| largest > 0.0).for_each(|(_, x)| *x /= largest);
        }
        let mut products = Square::from_lower(rows.len(), |_, _| 1.0);
        for column in by_column.values() {
            for (i, x) in column {
                column.iter().filter(|(other, _)| other <= i).for_each(|(other, z)| *products.at(*i, *other) += x * z);
            }
        }
        let factor = factor(&products, DEPENDENT);
        let is_determined = |b: &[f64]| {
            let share: f64 = factor.solve(b).iter().zip(b).map(|(s, b)| s * b).sum();
            share >= 1.0 - ROUNDING
        };
        let mut determined = vec![false; self.design.shape().cols];
        for (j, column) in &by_column {
            let mut b = vec![0.0; rows.len()];
            column.iter().for_each(|(i, x)| b[*i] = *x);
            determined[*j] = is_determined(&b);
        }
        let columns = (0..determined.len()).filter(|j| !determined[*j]).collect();
        Ok((columns, rows.is_empty() || !is_determined(&vec![1.0; rows.len()])))
    }
}

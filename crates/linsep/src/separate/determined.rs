//! Coefficients that a boundary of few constraints determines, among many columns.
//!
//! A coefficient keeps a limit in maximum likelihood exactly if its unit vector is in the space that the vectors `(e_y − e_k)⊗x̃` of
//! the boundary span, B. `P = Bᵀ(BBᵀ)⁺B` projects onto it, so that is where `P_jj = 1`, and `BBᵀ` is as small as the boundary.

use super::{Case, QuasiComplete};
use crate::certify::others;
use crate::error::Result;
use crate::linalg::{Square, factor};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// On the unit-diagonal scale, pivots below this belong to vectors that are combinations of others: rounding of a Gram
/// matrix.
const DEPENDENT: f64 = 1e-11;
/// What `1 − P_jj` of a determined coefficient may be by rounding: 1e-16 over [`DEPENDENT`] is 1e-5 at worst; raised
/// from 1e-9 after a review. Chosen, not measured: only names of columns depend on it.
const ROUNDING: f64 = 1e-7;

impl Case<'_> {
    /// Names the columns without a limit, as far as that can be asked: constraints are open on the boundary.
    pub(super) fn name_diverging(&self, verdict: &mut QuasiComplete, open: &[bool]) -> Result<()> {
        let cols = self.design.shape().cols;
        let boundary: Vec<usize> = (0..open.len()).filter(|c| open[*c]).collect();
        verdict.collinear = self.empty_columns()?;
        (verdict.columns, verdict.intercept_diverges) = (None, false);
        if boundary.len() > super::plan::MOST_NAMED {
            return Ok(());
        }
        // By coefficient: the intercept of a score is past its last column.
        let mut by_coefficient: BTreeMap<(usize, usize), Vec<(usize, f64)>> = BTreeMap::new();
        for (i, c) in boundary.iter().enumerate() {
            for (score, sign) in self.ends_of(*c) {
                for (j, x) in self.entries_of(&[c / (self.classes - 1)])?.remove(0) {
                    by_coefficient.entry((score, j)).or_default().push((i, sign * x));
                }
                by_coefficient.entry((score, cols)).or_default().push((i, sign));
            }
        }
        // Whether a coefficient has a limit does not depend on the unit of its column.
        for column in by_coefficient.values_mut() {
            let largest = column.iter().fold(0.0f64, |m, (_, x)| m.max(x.abs()));
            column.iter_mut().filter(|_| largest > 0.0).for_each(|(_, x)| *x /= largest);
        }
        let mut products = Square::zeros(boundary.len());
        for column in by_coefficient.values() {
            for (i, x) in column {
                column.iter().filter(|(other, _)| other <= i).for_each(|(other, z)| *products.at(*i, *other) += x * z);
            }
        }
        let factor = factor(&products, DEPENDENT);
        let unit = |i: usize| (0..boundary.len()).map(|k| f64::from(u8::from(k == i))).collect::<Vec<f64>>();
        let inverse: Vec<Vec<f64>> = (0..boundary.len()).into_par_iter().map(|i| factor.solve(&unit(i))).collect();
        let share = |column: &[(usize, f64)]| -> f64 {
            column.iter().map(|(i, x)| x * column.iter().map(|(k, z)| inverse[*i][*k] * z).sum::<f64>()).sum()
        };
        // One score for each class but the first, and for two classes one.
        let mut determined = vec![0usize; cols + 1];
        for ((_, j), column) in &by_coefficient {
            determined[*j] += usize::from(share(column) >= 1.0 - ROUNDING);
        }
        let diverges = |j: &usize| determined[*j] < self.classes - 1;
        verdict.intercept_diverges = diverges(&cols);
        let named = (0..cols).filter(|j| diverges(j) && verdict.collinear.binary_search(j).is_err());
        verdict.columns = Some(named.collect());
        Ok(())
    }

    /// `e_y − e_k` on the scores that are free: all but that of the first class.
    pub(super) fn ends_of(&self, constraint: usize) -> impl Iterator<Item = (usize, f64)> {
        let per_row = self.classes - 1;
        let own = self.labels[constraint / per_row].index();
        let other = others(self.classes, own).nth(constraint % per_row).unwrap_or(own);
        [(own, 1.0), (other, -1.0)].into_iter().filter(|(k, _)| *k > 0).map(|(k, sign)| (k - 1, sign))
    }

    /// Columns that are zero in all rows.
    fn empty_columns(&self) -> Result<Vec<usize>> {
        let mut empty = vec![true; self.design.shape().cols];
        for row in 0..self.labels.len() {
            let entries = self.entries_of(&[row])?;
            entries[0].iter().filter(|(_, v)| *v != 0.0).for_each(|(j, _)| empty[*j] = false);
        }
        Ok((0..empty.len()).filter(|j| empty[*j]).collect())
    }
}

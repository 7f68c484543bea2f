//! The boundary of sparse rows with many columns, in rational arithmetic: few constraints, however many columns there are.
//!
//! The direction is changed in the columns of the boundary's rows so that it vanishes there exactly, and its sign is then
//! taken on every row. Whether a constraint of the boundary can be strict depends on the boundary's rows alone, in a largest
//! set of independent columns: the others are combinations of these.

use super::{Case, plan};
use crate::certify::{MendedDirection, WholeRows, independent_columns, others};
use crate::design::{DenseMatrix, LabelledRows};
use crate::error::Result;
use crate::separate::solve_whole_cone;
use crate::table::Class;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Constraints on the boundary for which elimination in integers is tried: the numbers grow with each pivot. Chosen
/// (bench/constants.md): `Effort` limits the time, and larger boundaries are left to a verified solve.
const MOST_BOUNDARY: usize = 200;

/// The rows of a boundary.
struct BoundaryRows {
    constraints: Vec<usize>,
    rows: Vec<usize>,
    /// Columns that they have entries in.
    used: Vec<usize>,
    entries: Vec<Vec<(usize, f64)>>,
}

impl Case<'_> {
    /// Whether a direction near the one given (weights and intercept of every class but the first) vanishes exactly on the
    /// open constraints and is strict elsewhere, and no direction is strict on an open constraint.
    pub(super) fn boundary_is_proved(&self, scores: &[(Vec<f64>, f64)], open: &[bool]) -> Result<bool> {
        let constraints: Vec<usize> = (0..open.len()).filter(|c| open[*c]).collect();
        if constraints.len() > MOST_BOUNDARY {
            return Ok(false);
        }
        let mut rows: Vec<usize> = constraints.iter().map(|c| c / (self.classes - 1)).collect();
        rows.dedup();
        let entries = self.entries_of(&rows)?;
        let used: BTreeSet<usize> = entries.iter().flatten().filter(|(_, x)| *x != 0.0).map(|(j, _)| *j).collect();
        let boundary = BoundaryRows { constraints, rows, used: used.into_iter().collect(), entries };
        Ok(self.cannot_be_left(&boundary, open)? && self.vanishes_on(&boundary, scores, open)?)
    }

    /// Whether some positive weights α on the open constraints satisfy `Σ αa = 0`.
    fn cannot_be_left(&self, boundary: &BoundaryRows, open: &[bool]) -> Result<bool> {
        let dense = |columns: &[usize]| -> Vec<f64> {
            let mut out = vec![0.0; boundary.rows.len() * columns.len()];
            for (i, row) in boundary.entries.iter().enumerate() {
                for (j, x) in row {
                    if let Ok(at) = columns.binary_search(j) {
                        out[i * columns.len() + at] += x;
                    }
                }
            }
            out
        };
        let Some(pivots) = independent_columns(&dense(&boundary.used), boundary.used.len(), self.effort()) else {
            return Ok(false);
        };
        let mut columns: Vec<usize> = pivots.iter().map(|at| boundary.used[*at]).collect();
        if columns.is_empty() {
            // All rows are empty: any column stands for their zeros.
            columns.push(0);
        }
        let matrix = DenseMatrix::new(dense(&columns), columns.len())?;
        let labels: Vec<Class> = boundary.rows.iter().map(|row| self.rows.labels[*row]).collect();
        let Some(numbers) = WholeRows::new(LabelledRows::new(&matrix, &labels), self.classes, None, plan::MOST_BITS)?
        else {
            return Ok(false);
        };
        let per_row = self.classes - 1;
        let asked: Vec<bool> =
            boundary.rows.iter().flat_map(|row| &open[row * per_row..(row + 1) * per_row]).copied().collect();
        let found = solve_whole_cone(&numbers, &asked, self.effort());
        Ok(found.is_some_and(|found| found.open == asked && numbers.holds(&found, &asked)))
    }

    /// `e_y − e_k` on the scores that are free: all but that of the first class.
    fn ends_of(&self, constraint: usize) -> impl Iterator<Item = (usize, f64)> {
        let per_row = self.classes - 1;
        let own = self.rows.labels[constraint / per_row].index();
        let other = others(self.classes, own).nth(constraint % per_row).unwrap_or(own);
        [(own, 1.0), (other, -1.0)].into_iter().filter(|(k, _)| *k > 0).map(|(k, sign)| (k - 1, sign))
    }

    fn vanishes_on(&self, boundary: &BoundaryRows, scores: &[(Vec<f64>, f64)], open: &[bool]) -> Result<bool> {
        let (per_row, used) = (self.classes - 1, &boundary.used);
        let width = used.len() + 1;
        let mut given = Vec::with_capacity(scores.len() * width);
        for (weights, intercept) in scores {
            given.extend(used.iter().map(|j| weights[*j]).chain([*intercept]));
        }
        // The entries of a constraint in the coordinates that may change, and its products with the other coordinates.
        let parts = |c: usize, entries: &[(usize, f64)]| {
            let (mut changed, mut elsewhere) = (Vec::new(), Vec::new());
            for (score, sign) in self.ends_of(c) {
                changed.push((score * width + used.len(), sign));
                for (j, x) in entries {
                    match used.binary_search(j) {
                        Ok(at) => changed.push((score * width + at, sign * x)),
                        Err(_) => elsewhere.push((scores[score].0[*j], sign * x)),
                    }
                }
            }
            (changed, elsewhere)
        };
        let mut vectors = vec![0.0; boundary.constraints.len() * given.len()];
        for (c, vector) in boundary.constraints.iter().zip(vectors.chunks_exact_mut(given.len())) {
            let Ok(at) = boundary.rows.binary_search(&(c / per_row)) else { return Ok(false) };
            parts(*c, &boundary.entries[at]).0.into_iter().for_each(|(place, x)| vector[place] += x);
        }
        let Some(direction) = MendedDirection::new(&given, &vectors, self.effort()) else { return Ok(false) };
        let as_it_should = |row: usize| -> Result<bool> {
            let entries = self.entries_of(&[row])?.remove(0);
            Ok((row * per_row..(row + 1) * per_row).all(|c| {
                let (changed, elsewhere) = parts(c, &entries);
                direction.sign(&changed, elsewhere.into_iter()) == i32::from(!open[c])
            }))
        };
        let signs: Vec<bool> = (0..self.rows.labels.len()).into_par_iter().map(as_it_should).collect::<Result<_>>()?;
        Ok(!signs.contains(&false))
    }
}

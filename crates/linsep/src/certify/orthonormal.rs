//! A basis of the columns in which they are orthonormal under the weights of the rows.
//!
//! A Gram matrix squares the condition number and loses what is below 1e-8 of a column's length; a QR factorisation of the
//! rows keeps it down to about 1e-14. In `q = Bᵀx̂ + m` with `Σ s q̃q̃ᵀ = S·I` a Hessian is as well conditioned as its rows
//! allow, however nearly collinear the columns are.

use super::exact::exactly_dependent;
use crate::design::{Pass, Rows, TurnedRows, spread};
use crate::error::Result;
use crate::linalg::{Alias, in_order_qr, triangular_factor};
use crate::numeric::Merge;
use crate::objective::{Coef, Intercept, Loss, Penalty, Risk, RiskFrame};
use crate::watch::Watch;

/// Rows gathered at least before they are reduced by a QR step. Chosen, out of reach of bench/constants.md: only the
/// time and last bits depend on it.
const REDUCE_AT: usize = 512;
/// Coefficients of a relation below this share of the largest are left out of its words.
const NAMED: f64 = 1e-6;

/// The new columns `q = Bᵀx̂ + m`, and the columns that have no part in them.
#[derive(Debug, Clone, PartialEq)]
pub struct OrthonormalBasis {
    /// Columns that take part, rising.
    pub columns: Vec<usize>,
    /// `Bᵀ` row by row, a row of all columns for each new one.
    pub matrix: Vec<f64>,
    /// m.
    pub shift: Vec<f64>,
    /// Columns left out: combinations of others, proved or within rounding.
    pub aliased: Vec<Alias>,
}

impl OrthonormalBasis {
    /// The basis of the rows of positive weight, all in memory, by one pass.
    pub fn of<L: Loss, P: Penalty>(risk: &Risk<'_, L, P>, watch: &Watch) -> Result<OrthonormalBasis> {
        OrthonormalBasis::of_triangle(risk, RowTriangle::of(risk, watch)?, |column, combination, independent| {
            is_exact_combination(risk, column, combination, independent, watch)
        })
    }

    /// The basis of the rows of positive weight that a triangle was made of. Where the risk has a penalty, its curvature
    /// counts as rows. `is_combination(column, combination, independent)` proves relations of the columns left out, in the
    /// units of the fit, where so many columns (and the intercept) are independent.
    pub fn of_triangle<R: RiskFrame>(
        risk: &R,
        mut sum: RowTriangle,
        is_combination: impl Fn(usize, &[(usize, f64)], usize) -> Result<bool>,
    ) -> Result<OrthonormalBasis> {
        let (cols, width) = (risk.n_cols(), sum.width);
        let first = usize::from(risk.intercept() != Intercept::None);
        let total = risk.total_weight();
        for j in (0..cols).filter(|j| risk.penalty().ridge_of(*j) > 0.0) {
            let mut row = vec![0.0; width];
            row[first + j] = (total * risk.penalty().ridge_of(j)).sqrt();
            sum.pending.extend(row);
        }
        sum.reduce();
        let qr = in_order_qr(width, width, sum.r);
        let m = qr.kept.len();
        let scale = total.sqrt();
        // The intercept, where there is one, is the first column and always kept.
        let with_shift = usize::from(first == 1 && qr.kept.first() == Some(&0));
        let columns: Vec<usize> = qr.kept[with_shift..].iter().map(|j| j - first).collect();
        let mut matrix = vec![0.0; columns.len() * cols];
        let mut shift = vec![0.0; columns.len()];
        for new in 0..columns.len() {
            let of_new = &qr.inverse[(new + with_shift) * m..(new + with_shift + 1) * m];
            if with_shift == 1 {
                shift[new] = scale * of_new[0];
            }
            for (old, j) in columns.iter().enumerate() {
                matrix[new * cols + j] = scale * of_new[old + with_shift];
            }
        }
        let aliased = prove(qr.aliased, first, width, is_combination)?;
        Ok(OrthonormalBasis { columns, matrix, shift, aliased })
    }

    /// The rows in this basis.
    pub fn rows<'a, L: Loss, P: Penalty>(&self, risk: &Risk<'a, L, P>) -> TurnedRows<'a> {
        TurnedRows::new(risk.sample().design, risk.sample().units, self.matrix.clone(), self.shift.clone())
    }

    /// Coefficients of the new columns as coefficients of the old: `w = Bc`, `b = b′ + m·c`.
    pub fn to_columns(&self, coef: &Coef, cols: usize) -> Coef {
        let (k, m) = (coef.n_scores(), self.shift.len());
        let mut out = Coef::zeros(k, cols);
        for score in 0..k {
            let c = &coef.weights_of(score)[..m];
            let weights = &mut out.weights_mut()[score * cols..(score + 1) * cols];
            for (c, row) in c.iter().zip(self.matrix.chunks_exact(cols.max(1))) {
                weights.iter_mut().zip(row).for_each(|(w, b)| *w += b * c);
            }
            out.intercept_mut()[score] =
                coef.intercept()[score] + c.iter().zip(&self.shift).map(|(c, m)| c * m).sum::<f64>();
        }
        out
    }
}

/// Proves a relation of columns in integer arithmetic, in the units of the columns.
pub(super) fn is_exact_combination<L: Loss, P: Penalty>(
    risk: &Risk<'_, L, P>,
    column: usize,
    combination: &[(usize, f64)],
    independent: usize,
    watch: &Watch,
) -> Result<bool> {
    let sample = risk.sample();
    let counted = sample.weights.map_or(sample.labels.len(), |w| w.iter().filter(|s| **s > 0.0).count());
    // As many independent columns as rows: every further one is a combination of them.
    if independent >= counted {
        return Ok(true);
    }
    let inverse = sample.units.inverse_scale();
    let in_columns: Vec<(usize, f64)> =
        combination.iter().map(|(j, a)| (*j, a * inverse[*j] / inverse[column])).collect();
    let centre = (risk.intercept() == Intercept::None).then(|| sample.units.centre());
    exactly_dependent(sample.design, sample.weights, column, &in_columns, centre, watch)
}

/// The relations of the columns left out of so many, and which of them are proved.
fn prove(
    aliased: Vec<Alias>,
    first: usize,
    width: usize,
    is_combination: impl Fn(usize, &[(usize, f64)], usize) -> Result<bool>,
) -> Result<Vec<Alias>> {
    let kept = width - aliased.len();
    let mut proved = Vec::with_capacity(aliased.len());
    for alias in aliased.into_iter().filter(|alias| alias.column >= first) {
        let column = alias.column - first;
        let combination: Vec<(usize, f64)> =
            alias.combination.iter().filter(|(j, _)| *j >= first).map(|(j, a)| (j - first, *a)).collect();
        let exact = is_combination(column, &combination, kept)?;
        let largest = combination.iter().fold(0.0f64, |m, (_, a)| m.max(a.abs()));
        let named = combination.into_iter().filter(|(_, a)| a.abs() > NAMED * largest).collect();
        proved.push(Alias { column, combination: named, exact });
    }
    Ok(proved)
}

/// The triangular factor of some rows, and rows still to be folded into it.
#[derive(Debug, Clone)]
pub struct RowTriangle {
    width: usize,
    /// Column-major; empty before the first reduction.
    r: Vec<f64>,
    /// Row-major.
    pending: Vec<f64>,
}

impl Merge for RowTriangle {
    fn merge(&mut self, mut other: RowTriangle) {
        other.reduce();
        self.pending.extend(other.rows());
        self.reduce();
    }
}

impl RowTriangle {
    /// That of the rows of positive weight, the intercept their first column where there is one, by one pass.
    pub fn of<L: Loss, P: Penalty>(risk: &Risk<'_, L, P>, watch: &Watch) -> Result<RowTriangle> {
        let (sample, cols) = (risk.sample(), risk.n_cols());
        let first = usize::from(risk.intercept() != Intercept::None);
        let width = cols + first;
        let pass = Pass::new(sample.design, sample.units).partials_of(3 * width * width);
        pass.reduce(
            watch,
            (0, &mut []),
            || RowTriangle { width, r: Vec::new(), pending: Vec::new() },
            |sum, range, rows, _| {
                let mut room = Vec::new();
                let values: &[f64] = match &rows {
                    Rows::Dense(values) => values,
                    Rows::Csr(sparse) => {
                        spread(sparse, sample.units, &mut room);
                        &room
                    }
                };
                for (at, i) in range.enumerate() {
                    let root = sample.weights.map_or(1.0, |w| w[i].sqrt());
                    if root > 0.0 {
                        sum.pending.extend((0..first).map(|_| root));
                        sum.pending.extend(values[at * cols..(at + 1) * cols].iter().map(|x| root * x));
                    }
                }
                if sum.pending.len() >= width * REDUCE_AT.max(2 * width) {
                    sum.reduce();
                }
                Ok(())
            },
            RowTriangle::merge,
        )
    }

    /// The rows of the factor.
    fn rows(&self) -> Vec<f64> {
        let n = self.width;
        if self.r.is_empty() { Vec::new() } else { (0..n * n).map(|at| self.r[at % n * n + at / n]).collect() }
    }

    fn reduce(&mut self) {
        let n = self.width;
        if self.pending.is_empty() && !self.r.is_empty() {
            return;
        }
        let mut rows = self.rows();
        rows.append(&mut self.pending);
        let count = rows.len().checked_div(n).unwrap_or(0);
        let mut columns: Vec<f64> = (0..n * count).map(|at| rows[at % count * n + at / count]).collect();
        self.r = triangular_factor(count, n, &mut columns);
    }
}

//! T with `TᵀHT ≈ I`, and how nearly.

use super::curvature_rows::{CurvatureRows, HessianSum};
use super::quadratic_part::QuadraticPart;
use crate::certify::OrthonormalBasis;
use crate::error::Result;
use crate::linalg::{Alias, factor};
use crate::numeric::rounding_bound;
use crate::objective::{Coef, Intercept, Loss, RiskFrame};
use crate::watch::Watch;

/// On the unit-diagonal scale, pivots of H below this are left to an orthogonal factorisation, as in Newton's method.
const SUSPECT_PIVOT: f64 = 1e-11;
/// Pivots on the unit-diagonal scale below this are rounding: about 5 units.
const ROUNDING_PIVOT: f64 = 1e-15;
/// The frame of the plain columns is used while `‖TᵀHT − I‖` is proved below this; otherwise orthonormal combinations
/// are, which cost a QR of the rows. Chosen (bench/constants.md): it loosens bounds by at most 1/√(1−0.1).
const CLOSE: f64 = 0.1;
/// Diagonals below this would lose digits to underflow in products.
const NO_UNDERFLOW: f64 = 1e-280;

/// The columns in which H is formed.
pub(super) enum RowBasis {
    /// The columns of the fit, in its units.
    Plain,
    /// Orthonormal combinations of them.
    Turned(OrthonormalBasis),
}

/// T, in the columns of the fit or in the orthonormal combinations that rows were last turned into.
pub struct WhitenedFrame {
    pub(super) basis: RowBasis,
    /// Tᵀ row by row: one row for each of [`WhitenedFrame::rank`] directions, a column for each coefficient of the basis.
    pub(super) transposed: Vec<f64>,
    /// Coefficients of the basis, ordered as [`Coef`].
    pub(super) width: usize,
    /// A bound on `‖TᵀH̄T − I‖`, H̄ the Hessian of the rows of the basis at the computed scores.
    pub(super) deviation: f64,
    /// The quadratic part of the objective, in the columns of the fit.
    pub(super) quadratic: QuadraticPart,
}

impl WhitenedFrame {
    /// The frame of a point; `None` where H is singular to working precision in the columns and, if `may_turn`, also in
    /// orthonormal combinations of them.
    pub(super) fn of<R: CurvatureRows>(
        risk: &R,
        rows: &mut R::EnclosedRows,
        may_turn: bool,
        watch: &Watch,
    ) -> Result<Option<WhitenedFrame>> {
        let total = risk.total_weight();
        if let Some(mut sum) = risk.curvature(rows, total, watch)? {
            let quadratic = QuadraticPart::of(risk, &sum.hessian);
            quadratic.add_to(&mut sum.hessian);
            let found = WhitenedFrame::from_hessian(risk, RowBasis::Plain, sum, SUSPECT_PIVOT, quadratic);
            if let Some(frame) = found.filter(|frame| frame.deviation < CLOSE) {
                return Ok(Some(frame));
            }
        }
        if !may_turn || risk.loss().shift_invariant() || risk.intercept() == Intercept::Penalised {
            return Ok(None);
        }
        let Some(triangle) = risk.triangle(watch)? else { return Ok(None) };
        let is_combination = |column: usize, combination: &[(usize, f64)], independent: usize| {
            risk.is_combination(column, combination, independent, watch)
        };
        let basis = OrthonormalBasis::of_triangle(risk, triangle, is_combination)?;
        let mut sum = risk.turned_curvature(rows, &basis, total, watch)?;
        let quadratic = QuadraticPart::ridge_only(risk);
        quadratic.add_turned(&mut sum.hessian, &basis.matrix, risk.n_cols());
        Ok(WhitenedFrame::from_hessian(risk, RowBasis::Turned(basis), sum, ROUNDING_PIVOT, quadratic))
    }

    fn from_hessian<R: RiskFrame>(
        risk: &R,
        basis: RowBasis,
        HessianSum { mut hessian, rows }: HessianSum,
        tolerance: f64,
        quadratic: QuadraticPart,
    ) -> Option<WhitenedFrame> {
        let (k, width) = (risk.loss().n_scores(), hessian.n());
        let weights = width - k;
        let unknowns: Vec<usize> = if risk.intercept() == Intercept::None { 0..weights } else { 0..width }.collect();
        hessian.keep_only(&unknowns);
        let factor = factor(&hessian, tolerance);
        // Below this curvatures may have been flushed to zero.
        if factor.kept() != unknowns || unknowns.iter().any(|j| !(hessian.get(*j, *j) > NO_UNDERFLOW)) {
            return None;
        }
        let all = factor.whitening();
        let transposed: Vec<f64> =
            unknowns.iter().flat_map(|j| all[j * width..(j + 1) * width].iter().copied()).collect();
        let m = unknowns.len();
        let product = hessian.congruence(&transposed);
        let distance: f64 = (0..m * m).map(|at| (product[at] - f64::from(u8::from(at / m == at % m))).powi(2)).sum();
        // |Ĥ_ab − H̄_ab| ≤ γ√(H_aa H_bb), whatever the order of the sums, and the same for the products with T.
        let lengths: f64 =
            unknowns.iter().map(|a| hessian.get(*a, *a).sqrt() * column_length(&transposed, width, *a)).sum();
        let roundings = rounding_bound(rows + k + 48) + rounding_bound(4 * m + 16);
        let deviation = distance.sqrt() * (1.0 + rounding_bound(m * m + 8)) + roundings * lengths * lengths * 1.01;
        Some(WhitenedFrame { basis, transposed, width, deviation, quadratic })
    }

    /// Number of directions.
    pub fn rank(&self) -> usize {
        self.transposed.len() / self.width.max(1)
    }

    /// Whether T is in another basis than the columns of the fit.
    pub fn is_turned(&self) -> bool {
        matches!(self.basis, RowBasis::Turned(_))
    }

    /// Columns that have no part in the basis.
    pub(super) fn aliased(&self) -> &[Alias] {
        match &self.basis {
            RowBasis::Plain => &[],
            RowBasis::Turned(basis) => &basis.aliased,
        }
    }

    /// `‖T_a·‖` of a coefficient of the basis, rounded up.
    pub(super) fn length(&self, coefficient: usize) -> f64 {
        column_length(&self.transposed, self.width, coefficient)
    }

    /// T in the coefficients of the fit: a row of [`WhitenedFrame::rank`] numbers for each, ordered as [`Coef`], and what
    /// rounding may have moved each row by.
    pub(super) fn in_columns(&self, k: usize, cols: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
        let m = self.rank();
        let column = |a: usize| (0..m).map(|b| self.transposed[b * self.width + a]).collect::<Vec<f64>>();
        match &self.basis {
            RowBasis::Plain => ((0..self.width).map(column).collect(), vec![0.0; self.width]),
            RowBasis::Turned(basis) => {
                let r = basis.shift.len();
                let rounding = rounding_bound(r + 4);
                let mut errors = vec![0.0; k * (cols + 1)];
                let mut rows = vec![vec![0.0; m]; k * (cols + 1)];
                for score in 0..k {
                    let intercept = k * cols + score;
                    rows[intercept] = column(k * r + score);
                    errors[intercept] = rounding * self.length(k * r + score);
                    for new in 0..r {
                        let (of_new, length) = (column(score * r + new), self.length(score * r + new));
                        let mut add = |to: usize, by: f64| {
                            if by != 0.0 {
                                rows[to].iter_mut().zip(&of_new).for_each(|(t, n)| *t += by * n);
                                errors[to] += rounding * by.abs() * length;
                            }
                        };
                        for j in 0..cols {
                            add(score * cols + j, basis.matrix[new * cols + j]);
                        }
                        add(intercept, basis.shift[new]);
                    }
                }
                (rows, errors)
            }
        }
    }

    /// Whether a column left out of the basis has a weight though it must have none: it is zero, or not proved to be a
    /// combination of others.
    pub(super) fn weighs_left_out(&self, coef: &Coef) -> bool {
        let must_be_zero = self.aliased().iter().filter(|alias| !alias.exact || alias.combination.is_empty());
        { must_be_zero }.any(|alias| (0..coef.n_scores()).any(|c| coef.weights_of(c)[alias.column] != 0.0))
    }
}

pub(super) fn column_length(rows: &[f64], width: usize, column: usize) -> f64 {
    let squares: f64 = rows.chunks_exact(width.max(1)).map(|row| row[column] * row[column]).sum();
    squares.sqrt() * (1.0 + rounding_bound(rows.len() / width.max(1) + 4))
}

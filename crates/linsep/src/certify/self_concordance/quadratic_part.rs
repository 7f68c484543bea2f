//! The part of an objective that is quadratic in the coefficients: a ridge, and what holds scores that nothing else holds;
//! and the slope of a lasso, which is the same as long as no weight changes its sign.

use crate::linalg::Square;
use crate::numeric::rounding_bound;
use crate::objective::{Coef, Intercept, Loss, Penalty, RiskFrame};

/// `½Σ λ_a w_a² + ½Σ_j κ_j (Σ_c w_cj)²`, coefficients as in [`Coef`].
///
/// The second sum is there where a common shift of all scores changes nothing: columns (and a free intercept) without a
/// penalty. It leaves the minimum as it is, since some minimiser has `Σ_c w_cj = 0`, and makes the minimiser unique.
pub(super) struct QuadraticPart {
    scores: usize,
    cols: usize,
    /// λ of every coefficient.
    ridge: Vec<f64>,
    /// κ of every column and, last, of the intercepts.
    shift: Vec<f64>,
    /// What multiplies `|w|`, of every coefficient.
    lasso: Vec<f64>,
}

impl QuadraticPart {
    /// For a risk whose loss has this Hessian.
    pub(super) fn of<R: RiskFrame>(risk: &R, hessian: &Square) -> QuadraticPart {
        let mut part = QuadraticPart::ridge_only(risk);
        if risk.loss().shift_invariant() {
            let (k, cols) = (part.scores, part.cols);
            let free = |j: usize| match (j == cols, risk.intercept()) {
                (true, intercept) => intercept == Intercept::Free,
                (false, _) => risk.penalty().ridge_of(j) == 0.0,
            };
            let at = |c: usize, j: usize| if j == cols { k * cols + c } else { c * cols + j };
            for j in (0..=cols).filter(|j| free(*j)) {
                part.shift[j] = (0..k).map(|c| hessian.get(at(c, j), at(c, j))).sum::<f64>() / k as f64;
            }
        }
        part
    }

    /// The penalty alone.
    pub(super) fn ridge_only<R: RiskFrame>(risk: &R) -> QuadraticPart {
        let (k, cols) = (risk.loss().n_scores(), risk.n_cols());
        let of_intercept = if risk.intercept() == Intercept::Penalised { risk.penalty().ridge() } else { 0.0 };
        let of = |a: usize| if a < k * cols { risk.penalty().ridge_of(a % cols) } else { of_intercept };
        let kink = if risk.intercept() == Intercept::Penalised { risk.penalty().lasso() } else { 0.0 };
        let lasso = |a: usize| if a < k * cols { risk.penalty().lasso_of(a % cols) } else { kink };
        QuadraticPart {
            scores: k,
            cols,
            ridge: (0..k * (cols + 1)).map(of).collect(),
            shift: vec![0.0; cols + 1],
            lasso: (0..k * (cols + 1)).map(lasso).collect(),
        }
    }

    fn index(&self, score: usize, column: usize) -> usize {
        if column == self.cols { self.scores * self.cols + score } else { score * self.cols + column }
    }

    pub(super) fn add_to(&self, hessian: &mut Square) {
        for (a, ridge) in self.ridge.iter().enumerate() {
            *hessian.at(a, a) += ridge;
        }
        for (j, kappa) in self.shift.iter().enumerate().filter(|(_, kappa)| **kappa > 0.0) {
            for c in 0..self.scores {
                (c..self.scores).for_each(|d| *hessian.at(self.index(d, j), self.index(c, j)) += kappa);
            }
        }
    }

    /// Adds `Bᵀ diag(λ) B` to every score's block of a Hessian in the new columns, `Bᵀ` row by row.
    pub(super) fn add_turned(&self, hessian: &mut Square, matrix: &[f64], cols: usize) {
        if self.ridge.iter().all(|l| *l == 0.0) {
            return;
        }
        let r = matrix.len().checked_div(cols).unwrap_or(0);
        for a in 0..r {
            for b in 0..=a {
                let terms = (0..cols).map(|j| self.ridge[j] * matrix[a * cols + j] * matrix[b * cols + j]);
                let entry: f64 = terms.sum();
                (0..self.scores).for_each(|c| *hessian.at(c * r + a, c * r + b) += entry);
            }
        }
    }

    /// Whether a coefficient is where a lasso has no derivative.
    pub(super) fn has_kink(&self, coef: &Coef) -> bool {
        coef.as_slice().iter().zip(&self.lasso).any(|(w, l)| *w == 0.0 && *l > 0.0)
    }

    /// The gradient, and a bound on the rounding of each entry.
    pub(super) fn gradient(&self, coef: &Coef) -> (Vec<f64>, Vec<f64>) {
        let w = coef.as_slice();
        let mut gradient: Vec<f64> = w.iter().zip(&self.ridge).map(|(w, l)| l * w).collect();
        let mut sizes: Vec<f64> = gradient.iter().zip(&self.lasso).map(|(g, l)| g.abs() + l).collect();
        for ((g, w), lasso) in gradient.iter_mut().zip(w).zip(&self.lasso) {
            *g += if *w == 0.0 { 0.0 } else { lasso * w.signum() };
        }
        for (j, kappa) in self.shift.iter().enumerate().filter(|(_, kappa)| **kappa > 0.0) {
            let of = |c: usize| w[self.index(c, j)];
            let sum: f64 = (0..self.scores).map(of).sum();
            let size: f64 = (0..self.scores).map(|c| of(c).abs()).sum();
            for c in 0..self.scores {
                gradient[self.index(c, j)] += kappa * sum;
                sizes[self.index(c, j)] += kappa * size;
            }
        }
        let rounding = rounding_bound(self.scores + 12);
        (gradient, sizes.into_iter().map(|s| rounding * s).collect())
    }
}

//! Parts of the dual value that do not depend on how its point was found: the scaling that makes it feasible for a lasso,
//! and the conjugate of the penalty.

use crate::objective::{Intercept, Penalty, RiskFrame};
use rayon::prelude::*;

/// Columns summed in one block: fixed, so that sums do not depend on the threads. Chosen (bench/constants.md).
const PART: usize = 1 << 16;

/// A lower bound on the optimum, up to its `allowance` for rounding.
pub(super) struct DualBound {
    /// The dual value D.
    pub(super) value: f64,
    /// By how much rounding in the constraints may have raised it.
    pub(super) allowance: f64,
}

/// The largest scaling of θ, at most 1, that is feasible for a lasso: `|X_jᵀsθ|/S ≤ λαf_j` for all j.
pub(super) fn feasible_shrink<P: RiskFrame>(risk: &P, sums: &[f64], totals: &[f64]) -> f64 {
    let (cols, total) = (risk.n_cols(), risk.total_weight());
    let allowed = |column: usize, sum: f64| match risk.penalty().lasso_of(column) * total {
        // Most columns are far from their limit; they need no division.
        limit if limit < sum.abs() && risk.penalty().factor(column) > 0.0 => limit / sum.abs(),
        _ => 1.0,
    };
    let of_score = |sums: &[f64]| sums.iter().enumerate().map(|(j, s)| allowed(j, *s)).fold(1.0, f64::min);
    let weights = sums.chunks(cols.max(1)).map(of_score).fold(1.0, f64::min);
    match risk.intercept() {
        Intercept::Penalised => totals.iter().map(|t| risk.penalty().lasso() * total / t.abs()).fold(weights, f64::min),
        Intercept::Free | Intercept::None => weights,
    }
}

/// `(λΩ)*(−Xᵀsθ/S)` for `Xᵀsθ = shrink · sums`; `totals` are shrunk already.
pub(super) fn penalty_conjugate<P: RiskFrame>(risk: &P, sums: &[f64], totals: &[f64], shrink: f64) -> f64 {
    let (cols, total, penalty) = (risk.n_cols(), risk.total_weight(), risk.penalty());
    let term = |v: f64, ridge: f64, lasso: f64| match (v.abs() - lasso).max(0.0) {
        // Without a ridge the conjugate is an indicator: its constraint holds up to rounding, so the term is zero.
        excess if ridge > 0.0 => excess * excess / (2.0 * ridge),
        _ => 0.0,
    };
    // Score by score: finding the column by an integer remainder per entry would cost more than the terms.
    let of_score = |sums: &[f64]| {
        let of_part = |(part, sums): (usize, &[f64])| {
            let terms = sums.iter().enumerate().map(|(at, s)| (part * PART + at, s));
            terms.map(|(j, s)| term(shrink * s / total, penalty.ridge_of(j), penalty.lasso_of(j))).sum::<f64>()
        };
        sums.par_chunks(PART).enumerate().map(of_part).collect::<Vec<f64>>().iter().sum::<f64>()
    };
    // Without a ridge all terms are zero.
    let weights: f64 = if penalty.ridge() > 0.0 { sums.chunks(cols.max(1)).map(of_score).sum() } else { 0.0 };
    let intercepts = match risk.intercept() {
        Intercept::Penalised => totals.iter().map(|t| term(t / total, penalty.ridge(), penalty.lasso())).sum(),
        Intercept::Free | Intercept::None => 0.0,
    };
    weights + intercepts
}

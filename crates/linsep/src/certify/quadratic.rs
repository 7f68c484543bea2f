//! The exact distance of a quadratic objective from its minimum.

use super::Certificate;
use crate::linalg::Factor;
use crate::objective::QuadraticObjective;

/// `F − F* = ½ Σ_t r_tᵀ H⁻¹ r_t` with the gradients `r_t = H v_t − g_t`, on the columns that `factor` keeps: the others
/// are combinations of these and lower nothing further.
///
/// Rounding is allowed for by adding to every entry of r the error bound of its sum of products.
pub fn quadratic_gap(
    problem: &QuadraticObjective,
    factor: &Factor,
    solutions: &[Vec<f64>],
    objective: f64,
    at_zero: f64,
) -> Certificate {
    let n = problem.hessian.n();
    let lost = (n + 2) as f64 * f64::EPSILON;
    let mut gap = 0.0;
    for (score, v) in solutions.iter().enumerate() {
        let mut r = problem.gradient(score, v);
        for (i, r) in r.iter_mut().enumerate() {
            let size: f64 = (0..n).map(|j| (problem.hessian.get(i, j) * v[j]).abs()).sum::<f64>();
            *r += lost * (size + problem.linear[score][i].abs()) * if *r < 0.0 { -1.0 } else { 1.0 };
        }
        gap += 0.5 * factor.solve(&r).iter().zip(&r).map(|(x, r)| x * r).sum::<f64>();
    }
    let scale = objective.abs().max(at_zero);
    let relative_gap = if scale > 0.0 { gap / scale } else { gap };
    if !gap.is_finite() {
        return Certificate::Absent { reason: "the gradient overflows".into() };
    }
    Certificate::Quadratic { objective, gap, relative_gap, errors: None }
}

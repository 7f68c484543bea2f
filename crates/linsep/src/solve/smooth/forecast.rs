//! Whether it is worth looking at the gap.

use crate::objective::{Penalty, Point, Smooth};

/// `Σ g_j²/2λ_j` over what is penalised: the gap at a dual point that needs no correction. Far above the tolerance, the
/// gap itself need not be computed.
pub(super) fn gap_forecast<P: Smooth>(risk: &P, point: &Point<P::Scores>) -> f64 {
    let (gradient, penalty, cols) = (&point.gradient, risk.penalty(), risk.n_cols());
    let term = |(i, g): (usize, &f64)| match penalty.ridge_of(i % cols) {
        ridge if ridge > 0.0 => g * g / ridge,
        _ => 0.0,
    };
    let weights = gradient.weights().iter().enumerate().map(term).sum::<f64>();
    let intercepts = match penalty.factors() {
        Some(_) => 0.0,
        None => gradient.intercept().iter().map(|g| g * g).sum::<f64>() / penalty.lambda(),
    };
    0.5 * (weights + intercepts)
}

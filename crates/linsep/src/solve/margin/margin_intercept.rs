//! The best intercept of a hinge loss for given weights.

use crate::error::Result;
use crate::objective::{Coef, Loss, Penalty, Risk, least_hinge_shifts};
use crate::table::Class;
use crate::watch::Watch;

/// All intercepts that are best for the weights of some coefficients.
pub(super) fn best_intercepts<L: Loss, P: Penalty>(
    risk: &Risk<'_, L, P>,
    coef: &Coef,
    watch: &Watch,
) -> Result<(f64, f64)> {
    let mut coef = coef.clone();
    coef.intercept_mut()[0] = 0.0;
    let mut scores = risk.along(&coef, watch)?.scores().to_vec();
    let sample = risk.sample();
    if let Some(offsets) = sample.offsets {
        scores.iter_mut().zip(offsets).for_each(|(z, o)| *z += o);
    }
    Ok(best_shifts(sample.labels, &scores, sample.weights))
}

/// All b that minimise `Σ sᵢ max(0, 1 − yᵢ(zᵢ + b))`, as an interval.
fn best_shifts(labels: &[Class], scores: &[f64], weights: Option<&[f64]>) -> (f64, f64) {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let sign = |i: usize| if labels[i] == Class(1) { 1.0 } else { -1.0 };
    least_hinge_shifts((0..labels.len()).map(|i| (sign(i), scores[i], weight(i))))
}

#[cfg(test)]
mod tests {
    use super::best_shifts;
    use crate::table::Class;

    #[test]
    fn a_kink_or_the_interval_between_two() {
        let labels = [Class(0), Class(0), Class(1)];
        // Kinks at −1 − z and 1 − z.
        assert_eq!(best_shifts(&labels, &[-2.0, -3.0, 1.0], None), (0.0, 1.0));
        assert_eq!(best_shifts(&labels[1..], &[-3.0, 1.0], None), (0.0, 2.0));
        assert_eq!(best_shifts(&labels, &[-0.5, -3.0, 1.0], Some(&[1.0, 1.0, 1.5])), (0.0, 0.0));
        assert_eq!(best_shifts(&labels, &[-2.0, 7.0, 1.0], Some(&[1.0, 0.0, 2.0])), (0.0, 1.0));
    }
}

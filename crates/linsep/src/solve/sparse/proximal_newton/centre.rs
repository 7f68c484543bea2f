//! Scores that a loss sees only by their differences.

use crate::objective::{Coef, Loss, Penalty, RiskFrame};

/// Where a common shift of all scores changes no loss, the shift of every column that the penalty likes best: for a lasso
/// the median over the scores becomes zero, and stays exactly so.
pub(super) fn centre<R: RiskFrame>(risk: &R, coef: &mut Coef) {
    if !risk.loss().shift_invariant() {
        return;
    }
    let (k, cols) = (coef.n_scores(), coef.n_cols());
    let mut weights = vec![0.0; k];
    for j in 0..cols {
        (0..k).for_each(|c| weights[c] = coef.weights_of(c)[j]);
        let shift = best_shift(&weights, risk.penalty().ridge_of(j), risk.penalty().lasso_of(j));
        if shift != 0.0 {
            (0..k).for_each(|c| coef.weights_mut()[c * cols + j] -= shift);
        }
    }
}

/// `argmin_m Σ_k ridge/2 (w_k − m)² + lasso |w_k − m|`; zero where it is among the minimisers.
fn best_shift(weights: &[f64], ridge: f64, lasso: f64) -> f64 {
    if weights.iter().all(|w| *w == 0.0) {
        return 0.0;
    }
    let (n, sum) = (weights.len() as f64, weights.iter().sum::<f64>());
    if lasso == 0.0 {
        return sum / n;
    }
    let below = |m: f64| weights.iter().filter(|w| **w < m).count() as f64;
    let above = |m: f64| weights.iter().filter(|w| **w > m).count() as f64;
    // The interval of slopes at m.
    let slopes = |m: f64| {
        let (smooth, kinks) = (ridge * (n * m - sum), n - below(m) - above(m));
        let middle = smooth + lasso * (below(m) - above(m));
        (middle - lasso * kinks, middle + lasso * kinks)
    };
    let holds = |m: f64| slopes(m).0 <= 0.0 && slopes(m).1 >= 0.0;
    if holds(0.0) {
        return 0.0;
    }
    let mut sorted = weights.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    if let Some(at) = sorted.iter().find(|w| holds(**w)) {
        return *at;
    }
    // Between two weights, where only the ridge bends.
    let left = sorted.iter().filter(|w| slopes(**w).1 < 0.0).count() as f64;
    (sum - lasso / ridge * (2.0 * left - n)) / n
}

#[cfg(test)]
mod tests {
    use super::best_shift;

    #[test]
    fn the_shift_is_a_minimiser() {
        let cases: [&[f64]; 6] =
            [&[1.0, 2.0, 4.0], &[-1.0, 2.0], &[1.0, 2.0, 3.0, 7.0], &[0.5, 0.5, -3.0], &[-4.0, -2.0, -1.0], &[5.0]];
        for weights in cases {
            for (ridge, lasso) in [(0.0, 1.0), (1.0, 0.0), (1.0, 0.3), (0.1, 2.0), (3.0, 0.01)] {
                let value = |m: f64| -> f64 {
                    weights.iter().map(|w| 0.5 * ridge * (w - m) * (w - m) + lasso * (w - m).abs()).sum()
                };
                let best = best_shift(weights, ridge, lasso);
                let tried = (-800..=800).map(|i| f64::from(i) * 0.01).map(value).fold(f64::INFINITY, f64::min);
                assert!(value(best) <= tried + 1e-12, "{weights:?} {ridge} {lasso}: {best}");
            }
        }
    }

    #[test]
    fn zero_stays_where_it_may() {
        assert_eq!(best_shift(&[-1.0, 0.0, 2.0], 0.0, 1.0), 0.0);
        assert_eq!(best_shift(&[-1.0, 2.0], 0.0, 1.0), 0.0);
    }
}

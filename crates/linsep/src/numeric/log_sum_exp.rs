//! Softmax and its logarithm.

use super::{exp, vectorised};

/// What a K-class likelihood needs of one row besides its probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SoftmaxRow {
    /// The largest score.
    pub max: f64,
    /// `log Σ exp(z_k − max)`, accurate also when it is tiny.
    pub log_sum: f64,
}

vectorised! {
/// Replaces each row of `k` scores by its softmax and returns `max` and `log Σ exp(z − max)` per row in `rows`.
///
/// The largest term is left out of the sum and enters through `ln_1p`, so that the loss of a row that is almost
/// certain keeps its relative accuracy instead of rounding to zero.
///
/// ```
/// use linsep::numeric::{SoftmaxRow, softmax_rows};
/// let mut z = [0.0, 0.0, 1000.0, 0.0];
/// let mut rows = [SoftmaxRow { max: 0.0, log_sum: 0.0 }; 2];
/// softmax_rows(2, &mut z, &mut rows);
/// assert_eq!(z, [0.5, 0.5, 1.0, 0.0]);
/// assert_eq!(rows[0].log_sum, std::f64::consts::LN_2);
/// ```
pub fn softmax_rows(k: usize, scores: &mut [f64], rows: &mut [SoftmaxRow]) {
        for (z, row) in scores.chunks_exact_mut(k).zip(rows.iter_mut()) {
            row.max = z.iter().fold(f64::NEG_INFINITY, |a, b| if *b > a { *b } else { a });
            z.iter_mut().for_each(|v| *v -= row.max);
        }
        scores.iter_mut().for_each(|v| *v = exp(*v));
        for (z, row) in scores.chunks_exact_mut(k).zip(rows.iter_mut()) {
            let total: f64 = z.iter().sum();
            // At least one term is exactly one: the largest.
            let rest = if total > 1.5 { total - 1.0 } else { rest_of_sum(z) };
            row.log_sum = rest.ln_1p();
            let scale = 1.0 / total;
            z.iter_mut().for_each(|v| *v *= scale);
        }
}
}

/// The sum of all terms but one that equals one.
#[inline(always)]
fn rest_of_sum(terms: &[f64]) -> f64 {
    let mut left_out = false;
    let mut rest = 0.0;
    for &t in terms {
        if t == 1.0 && !left_out {
            left_out = true;
        } else {
            rest += t;
        }
    }
    rest
}

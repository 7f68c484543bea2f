//! Losses of several divisions of the same rows into training and test: their mean, and whether it is zero.
//!
//! The fits of two divisions share training rows, so that their losses are correlated and the usual variance of a mean is far too
//! small. Nadeau and Bengio (Machine Learning 52, 2003) replace `s²/J` by `s² (1/J + n_test/n_train)`, which is what remains when
//! the correlation is taken to be `n_test/(n_test+n_train)`; Bouckaert and Frank (2004) use it for repeated folds.

use super::LEVEL;
use crate::numeric::{student_quantile, student_two_sided_ln};

/// The mean of `J` losses, or of differences of losses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResampledMean {
    /// `Σx/J`.
    pub mean: f64,
    /// `√(s² (1/J + n_test/n_train))`; `None` of one value.
    pub standard_error: Option<f64>,
    /// By the t law of `J − 1` degrees of freedom, at 95 %; `None` of one value.
    pub interval: Option<(f64, f64)>,
    /// Logarithm of the two-sided p value of the mean being zero; `None` of one value. Values that are all zero give 0 (p = 1),
    /// others that are all equal minus infinity.
    pub ln_p: Option<f64>,
}

/// Mean, corrected interval and test of values that count by the weight of their rows; `ratio` is `n_test/n_train`. Of equal
/// weights it is the test of Nadeau and Bengio.
///
/// ```
/// use linsep::evaluate::resampled_mean;
/// let found = resampled_mean(&[0.10, 0.14, 0.12], &[1.0; 3], 0.5);
/// assert!((found.mean - 0.12).abs() < 1e-15);
/// // s = 0.02, and 0.02 √(1/3 + 1/2) is what an uncorrected 0.02 √(1/3) makes too small.
/// assert!((found.standard_error.unwrap() - 0.02 * (5.0_f64 / 6.0).sqrt()).abs() < 1e-15);
/// ```
pub fn resampled_mean(values: &[f64], weights: &[f64], ratio: f64) -> ResampledMean {
    let (count, total) = (values.len() as f64, weights.iter().sum::<f64>());
    let mean = values.iter().zip(weights).map(|(v, w)| w / total * v).sum::<f64>();
    if values.len() < 2 {
        return ResampledMean { mean, standard_error: None, interval: None, ln_p: None };
    }
    let equal = values.iter().all(|v| *v == values[0]);
    // What rounding of the mean adds to equal values is no spread.
    let mean = if equal { values[0] } else { mean };
    let squares = values.iter().zip(weights).map(|(v, w)| w / total * (v - mean).powi(2)).sum::<f64>();
    let spread = squares * count / (count - 1.0);
    let error = if equal { 0.0 } else { (spread * (1.0 / count + ratio)).sqrt() };
    let half = student_quantile(0.5 + LEVEL / 2.0, count - 1.0) * error;
    let ln_p = match (mean == 0.0, error == 0.0) {
        (true, _) => 0.0,
        (false, true) => f64::NEG_INFINITY,
        (false, false) => student_two_sided_ln(mean / error, count - 1.0),
    };
    ResampledMean { mean, standard_error: Some(error), interval: Some((mean - half, mean + half)), ln_p: Some(ln_p) }
}

/// Which of several hypotheses Holm's procedure rejects at a family-wise level.
///
/// ```
/// use linsep::evaluate::holm;
/// // 0.001 is below 0.05/3; 0.03 is above 0.05/2, and ends it.
/// assert_eq!(holm(&[0.03, 0.001, 0.04], 0.05), [false, true, false]);
/// ```
pub fn holm(p: &[f64], level: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]).then(a.cmp(b)));
    let mut rejected = vec![false; p.len()];
    for (done, at) in order.into_iter().enumerate() {
        if p[at] > level / (p.len() - done) as f64 {
            break;
        }
        rejected[at] = true;
    }
    rejected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_is_students_with_a_larger_variance() {
        let values = [0.02, 0.05, -0.01, 0.04, 0.03];
        let plain = resampled_mean(&values, &[3.0; 5], 0.0);
        let corrected = resampled_mean(&values, &[3.0; 5], 0.25);
        // With θ = atan(t/2) and t = 2.525…, four degrees of freedom give 1 − sin θ (1 + cos² θ/2).
        assert!((plain.ln_p.unwrap().exp() - 0.064_985_910_342_120_53).abs() < 1e-12, "{}", plain.ln_p.unwrap().exp());
        // 1/5 + 1/4 = 9/4 of 1/5.
        let ratio = corrected.standard_error.unwrap() / plain.standard_error.unwrap();
        assert!((ratio - 1.5).abs() < 1e-14, "{ratio}");
        assert!(corrected.ln_p > plain.ln_p);
        let (low, high) = corrected.interval.unwrap();
        assert!(low < corrected.mean && corrected.mean < high);
    }

    #[test]
    fn equal_values_are_an_exact_answer() {
        assert_eq!(resampled_mean(&[0.0; 5], &[1.0; 5], 0.25).ln_p, Some(0.0));
        let same = resampled_mean(&[0.1; 7], &[2.0; 7], 0.25);
        assert_eq!((same.mean, same.standard_error, same.ln_p), (0.1, Some(0.0), Some(f64::NEG_INFINITY)));
        assert_eq!(resampled_mean(&[0.3], &[1.0], 0.25).interval, None);
    }

    #[test]
    fn values_count_by_their_rows() {
        // One wrong row of 67 against one of 66: as many of all rows.
        let differences = [1.0 / 67.0, -1.0 / 66.0, 0.0];
        let found = resampled_mean(&differences, &[67.0, 66.0, 66.0], 0.5);
        assert!(found.mean.abs() < 1e-17 && found.ln_p.unwrap() > -1e-12, "{found:?}");
    }

    #[test]
    fn holm_stops_at_the_first_that_is_too_large() {
        // 0.001 ≤ 0.05/3, 0.03 > 0.05/2: the third is never asked.
        assert_eq!(holm(&[0.03, 0.001, 0.04], 0.05), [false, true, false]);
        assert_eq!(holm(&[0.02, 0.001, 0.04], 0.05), [true, true, true]);
        assert!(holm(&[], 0.05).is_empty());
    }
}

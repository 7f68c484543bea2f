//! From scores to classes and probabilities.

use crate::numeric::{SoftmaxRow, logistic_terms, softmax_rows};
use crate::table::Class;
use serde::{Deserialize, Serialize};

/// How scores become a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision {
    /// The largest score; at an exact tie the class that comes first.
    #[default]
    ArgMax,
}

/// The class of each row: one score decides between two classes by its sign, K scores by the largest; at an exact tie
/// the class that comes first.
///
/// ```
/// use linsep::{decide::classes, table::Class};
/// assert_eq!(classes(&[0.0, 1.5], 2), [Class(0), Class(1)]);
/// assert_eq!(classes(&[1.0, 3.0, 3.0], 3), [Class(1)]);
/// ```
pub fn classes(scores: &[f64], n_classes: usize) -> Vec<Class> {
    if n_classes == 2 {
        return scores.iter().map(|z| Class(u32::from(*z > 0.0))).collect();
    }
    let largest = |row: &[f64]| {
        let mut best = 0;
        for k in 1..row.len() {
            if row[k] > row[best] {
                best = k;
            }
        }
        Class(best as u32)
    };
    scores.chunks_exact(n_classes).map(largest).collect()
}

/// Class probabilities, row by row, of scores that are log-odds (two classes) or log-probabilities up to a constant.
///
/// ```
/// let p = linsep::decide::probabilities(&[0.0], 2);
/// assert_eq!(p, [0.5, 0.5]);
/// ```
pub fn probabilities(scores: &[f64], n_classes: usize) -> Vec<f64> {
    if n_classes == 2 {
        let pair = |z: &f64| {
            let terms = logistic_terms(*z);
            [terms.q, terms.p]
        };
        return scores.iter().flat_map(pair).collect();
    }
    let mut p = scores.to_vec();
    let mut rows = vec![SoftmaxRow { max: 0.0, log_sum: 0.0 }; scores.len() / n_classes];
    softmax_rows(n_classes, &mut p, &mut rows);
    p
}

//! From scores to classes, probabilities and losses.
//!
//! [`Decision`] is what a model stores: arg max, a threshold or costs, and whether to reject; or a [`Scheme`], where the
//! scores are those of two-class fits. [`classes`] and [`predict`] are arg max alone, the default, and fast.
//! [`Calibration`] makes log-odds of scores that are none, [`prior_shift`] moves log-odds to other shares of the classes; a
//! decision comes after both. [`Conformal`] gives every row a set of classes instead, which holds its class as often as was
//! asked for.

mod calibration;
mod conformal;
mod costs;
mod priors;
mod reach;
mod rule;
mod scheme;
mod tie;

pub use calibration::Coupled;
pub use calibration::{Calibration, CalibrationKind, Coupling};
pub use conformal::{Conformal, ConformalOptions};
pub use rule::{Decision, Rule};
pub use scheme::{Scheme, Ties, Vote};
pub use tie::Tie;

// For the other stages, the command, the extension and the tests: nothing is promised about these.
#[doc(hidden)]
pub use self::{
    calibration::{HeldOut, TwoSides, pool_adjacent_violators},
    conformal::{Strangeness, rows_needed, sets_within},
    priors::{check_priors, prior_shift, shift_scores},
    scheme::pair_position,
};

use crate::design::Design;
use crate::discriminant::Discriminant;
use crate::error::Result;
use crate::numeric::{SoftmaxRow, logistic_terms, softmax_rows, vectorised};
use crate::table::Class;
use crate::watch::Watch;

/// The class of each row: one score decides between two classes by its sign, K scores by the largest; at an exact tie
/// the class that comes first.
///
/// ```
/// use linsep::{decide::classes, table::Class};
/// assert_eq!(classes(&[0.0, 1.5], 2), [Class(0), Class(1)]);
/// assert_eq!(classes(&[1.0, 3.0, 3.0], 3), [Class(1)]);
/// ```
#[doc(hidden)]
pub fn classes(scores: &[f64], n_classes: usize) -> Vec<Class> {
    let n_scores = if n_classes == 2 { 1 } else { n_classes };
    let mut out = vec![Class(0); scores.len() / n_scores];
    decide_block(scores, n_scores, &mut out);
    out
}

/// The class of every row of a design, without keeping the scores.
#[doc(hidden)]
pub fn predict(discriminant: &Discriminant, design: &dyn Design, watch: &Watch) -> Result<Vec<Class>> {
    let mut out = vec![Class(0); design.shape().rows];
    let n_scores = discriminant.n_scores();
    discriminant.each_block(design, watch, 1, &mut out, |scores, out| decide_block(scores, n_scores, out))?;
    Ok(out)
}

fn decide_block(scores: &[f64], n_scores: usize, out: &mut [Class]) {
    if n_scores == 1 {
        out.iter_mut().zip(scores).for_each(|(class, z)| *class = Class(u32::from(*z > 0.0)));
        return;
    }
    for (row, class) in scores.chunks_exact(n_scores).zip(out) {
        let (mut best, mut largest) = (0, row[0]);
        for (k, z) in row.iter().enumerate().skip(1) {
            if *z > largest {
                (best, largest) = (k as u32, *z);
            }
        }
        *class = Class(best);
    }
}

/// Class probabilities, row by row, of scores that are log-odds (two classes) or log-probabilities up to a constant.
///
/// ```
/// let p = linsep::decide::probabilities(&[0.0], 2);
/// assert_eq!(p, [0.5, 0.5]);
/// ```
#[doc(hidden)]
pub fn probabilities(scores: &[f64], n_classes: usize) -> Vec<f64> {
    let rows = scores.len() / if n_classes == 2 { 1 } else { n_classes };
    let mut out = vec![0.0; rows * n_classes];
    probabilities_into(scores, n_classes, &mut out);
    out
}

/// The same probabilities in room that the caller has, `n_classes` numbers per row.
#[doc(hidden)]
pub fn probabilities_into(scores: &[f64], n_classes: usize, out: &mut [f64]) {
    if n_classes == 2 {
        return logistic_pairs(scores, out);
    }
    out.copy_from_slice(scores);
    let mut rows = vec![SoftmaxRow { max: 0.0, log_sum: 0.0 }; scores.len() / n_classes];
    softmax_rows(n_classes, out, &mut rows);
}

vectorised! {
    fn logistic_pairs(scores: &[f64], out: &mut [f64]) {
        for (z, pair) in scores.iter().zip(out.chunks_exact_mut(2)) {
            let terms = logistic_terms(*z);
            pair[0] = terms.q;
            pair[1] = terms.p;
        }
    }
}

/// `−ln p(true class)` of each row, from the same scores as [`probabilities`]: finite wherever the scores are, also where
/// the probability is too small for a number.
///
/// ```
/// use linsep::{decide::losses, table::Class};
/// assert_eq!(losses(&[-2000.0], &[Class(1)], 2), [2000.0]);
/// assert_eq!(losses(&[0.0, 0.0, -9e9], &[Class(0)], 3), [std::f64::consts::LN_2]);
/// ```
#[doc(hidden)]
pub fn losses(scores: &[f64], truth: &[Class], n_classes: usize) -> Vec<f64> {
    if n_classes == 2 {
        let loss = |(z, class): (&f64, &Class)| {
            let terms = logistic_terms(*z);
            if class.index() == 0 { terms.softplus } else { terms.softplus_negative }
        };
        return scores.iter().zip(truth).map(loss).collect();
    }
    let mut terms = scores.to_vec();
    let mut rows = vec![SoftmaxRow { max: 0.0, log_sum: 0.0 }; truth.len()];
    softmax_rows(n_classes, &mut terms, &mut rows);
    let own = scores.chunks_exact(n_classes).zip(truth).map(|(z, class)| z[class.index()]);
    rows.iter().zip(own).map(|(row, own)| (row.max - own) + row.log_sum).collect()
}

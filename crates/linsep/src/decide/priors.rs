//! Posterior probabilities under other priors than those of the training rows.
//!
//! Where the class-conditional distributions stay the same and only the priors change from π̃ to π (label shift), every
//! posterior probability is multiplied by `π_k/π̃_k` and renormalised: log-odds and log-probabilities are shifted (M.
//! Saerens, P. Latinne and C. Decaestecker, Neural Computation 14, 2002).

use crate::error::{Error, Result};
use crate::words::{Setting, words};

/// Priors may miss a sum of one by this, as in `model::priors`.
const SUM: f64 = 1e-9;

/// Whether these are priors of the classes, all above 0 and with the sum one.
pub fn check_priors(priors: &[f64], classes: &[String]) -> Result<()> {
    if priors.len() != classes.len() {
        return Err(Error::usage(format!("{} true priors for {} classes", priors.len(), classes.len()))
            .help(format!("one for each of: {}", classes.join(", "))));
    }
    let sum: f64 = priors.iter().sum();
    // Written so that NaN is refused, too.
    if !priors.iter().all(|p| *p > 0.0) || !((sum - 1.0).abs() <= SUM) {
        return Err(Error::usage(format!("the true priors must be positive and sum to one; they sum to {sum}"))
            .help(words!["for example ", Setting::TruePriors.is("a=0.2,b=0.8")]));
    }
    Ok(())
}

/// What is added to the one score of two classes, or to the score of each class.
///
/// ```
/// use linsep::decide::prior_shift;
/// // Learned from as many sick as healthy; one in a hundred is sick.
/// let shift = prior_shift(&[0.5, 0.5], &[0.99, 0.01]);
/// assert!((shift[0] - (0.01f64 / 0.99).ln()).abs() < 1e-15);
/// assert_eq!(prior_shift(&[0.2, 0.3, 0.5], &[0.2, 0.3, 0.5]), [0.0; 3]);
/// ```
pub fn prior_shift(learned: &[f64], actual: &[f64]) -> Vec<f64> {
    let logs: Vec<f64> = learned.iter().zip(actual).map(|(from, to)| (to / from).ln()).collect();
    match logs[..] {
        [first, last] => vec![last - first],
        _ => logs,
    }
}

/// Adds the shifts to the scores of every row.
pub fn shift_scores(scores: &mut [f64], shift: &[f64]) {
    for row in scores.chunks_exact_mut(shift.len().max(1)) {
        row.iter_mut().zip(shift).for_each(|(z, s)| *z += s);
    }
}

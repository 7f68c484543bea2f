//! Means in two doubles.
//!
//! The scatter of rows is about their exact mean, which a double rounds by its last digit: for timestamps that is more than a
//! later merge may be wrong by, since it squares differences of means. So each mean keeps what its double cannot hold.

use crate::numeric::two_sum;

/// A mean and its tail after a step.
pub(super) fn moved((mean, tail): (f64, f64), step: f64) -> (f64, f64) {
    let (high, low) = two_sum(mean, step);
    let (high, low) = two_sum(high, low + tail);
    // Of an infinite sum there is no tail; whoever checks the mean finds it.
    (high, if high.is_finite() { low } else { 0.0 })
}

/// How far one mean is from another.
pub(super) fn difference(a: (f64, f64), b: (f64, f64)) -> f64 {
    let (high, low) = two_sum(a.0, -b.0);
    high + (low + (a.1 - b.1))
}

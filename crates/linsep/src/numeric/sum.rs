//! Compensated summation (Kahan, Neumaier).

use serde::{Deserialize, Serialize};

/// A running sum with Neumaier's compensation: the error is a few ulp of the result plus `n·ε²` of `Σ|x|`.
///
/// ```
/// let s = linsep::numeric::sum([1e100, 1.0, -1e100]);
/// assert_eq!(s, 1.0);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CompensatedSum {
    high: f64,
    low: f64,
}

impl CompensatedSum {
    /// Adds a term.
    #[inline(always)]
    pub fn add(&mut self, x: f64) {
        let t = self.high + x;
        let lost = if self.high.abs() >= x.abs() { (self.high - t) + x } else { (x - t) + self.high };
        self.low += lost;
        self.high = t;
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: CompensatedSum) {
        self.add(other.high);
        self.low += other.low;
    }

    /// The sum.
    pub fn value(self) -> f64 {
        // An infinite high part has a NaN compensation; the infinity is the answer.
        if self.low.is_finite() { self.high + self.low } else { self.high }
    }
}

/// A sum as a double and what that cannot hold (Knuth): `a + b = sum + rest` exactly unless it overflows.
#[inline(always)]
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let back = sum - a;
    (sum, (a - (sum - back)) + (b - back))
}

/// Sums over one part of something, to which those over another part can be added: in a fixed order of the parts, for the
/// same bits.
pub trait Merge {
    /// Adds what another part came to.
    fn merge(&mut self, other: Self);
}

impl Merge for CompensatedSum {
    fn merge(&mut self, other: CompensatedSum) {
        CompensatedSum::merge(self, other);
    }
}

impl<T: Merge> Merge for Vec<T> {
    fn merge(&mut self, other: Vec<T>) {
        self.iter_mut().zip(other).for_each(|(a, b)| a.merge(b));
    }
}

/// The compensated sum of some numbers.
pub fn sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    let mut total = CompensatedSum::default();
    terms.into_iter().for_each(|x| total.add(x));
    total.value()
}

//! The logistic function with its logarithm and complement: what cancels apart is returned together.

use super::exp;

/// `log(1+e)` for e in 0..=1 to full relative accuracy, without branches.
///
/// `log(1+e) = 2 artanh(e/(2+e))` and the argument is at most 1/3, so 17 terms of the odd series
/// leave `3⁻³⁵/35 ≈ 6e-19` relative.
#[inline(always)]
fn log1p_unit(e: f64) -> f64 {
    let s = e / (2.0 + e);
    let t = s * s;
    let mut p = 1.0 / 35.0;
    for odd in [33.0, 31.0, 29.0, 27.0, 25.0, 23.0, 21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0f64] {
        p = t.mul_add(p, odd.recip());
    }
    2.0 * s * p
}

/// What a two-class likelihood needs at a score: nothing in it is computed as a difference of nearly equal numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogisticTerms {
    /// `log(1+eᶻ)`, which is `−log(1−σ(z))`.
    pub softplus: f64,
    /// `log(1+e⁻ᶻ)`, which is `−log σ(z)`.
    pub softplus_negative: f64,
    /// `σ(z) = 1/(1+e⁻ᶻ)`.
    pub p: f64,
    /// `1−σ(z)`, accurate where σ(z) is nearly 1.
    pub q: f64,
}

/// `log(1+e^{±z})`, `σ(z)` and `1−σ(z)` to a few ulp each, for all z.
///
/// ```
/// let t = linsep::numeric::logistic_terms(40.0);
/// assert_eq!(t.softplus, 40.0);
/// assert!((t.q / 4.248354255291589e-18 - 1.0).abs() < 1e-14);
/// ```
#[inline(always)]
pub fn logistic_terms(z: f64) -> LogisticTerms {
    let e = exp(-z.abs());
    let large = 1.0 / (1.0 + e);
    let small = e * large;
    let positive = z >= 0.0;
    let log = log1p_unit(e);
    LogisticTerms {
        softplus: z.max(0.0) + log,
        softplus_negative: (-z).max(0.0) + log,
        p: if positive { large } else { small },
        q: if positive { small } else { large },
    }
}

/// `σ(z) = 1/(1+e⁻ᶻ)`.
#[inline(always)]
pub fn logistic(z: f64) -> f64 {
    logistic_terms(z).p
}

/// `log(1+eᶻ)`.
#[inline(always)]
pub fn softplus(z: f64) -> f64 {
    logistic_terms(z).softplus
}

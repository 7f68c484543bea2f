//! The distribution function of the standard normal.

use super::exp;
use super::stirling::HALF_LN_TWO_PI;

/// Below this the power series is used, above it the continued fraction: both converge to a double in some dozens of
/// terms.
const SERIES: f64 = 1.4;
/// The tail is below the least double from about 38.5 on.
const FARTHEST: f64 = 40.0;
/// The square overflows from here on.
const FARTHEST_SQUARE: f64 = 1.34e154;

/// `Φ(x)`, the probability that a standard normal variable is at most x, to about 1e-15 of itself in both tails: 0 below
/// −38.6, 1 above 8.3, NaN for NaN.
///
/// Near zero `½ + φ(x) Σ x²ⁿ⁺¹/(2n+1)!!`, whose terms are all of one sign (Abramowitz and Stegun 26.2.11). From 1.4 on the
/// tail `φ(x)/(x + 1/(x + 2/(x + 3/(x + …))))` (26.2.14), because there the difference from ½ would lose digits.
///
/// ```
/// use linsep::numeric::normal_cdf;
/// assert_eq!(normal_cdf(0.0), 0.5);
/// assert!((normal_cdf(-20.0) / 2.753_624_118_606_233_7e-89 - 1.0).abs() < 1e-14);
/// ```
pub fn normal_cdf(x: f64) -> f64 {
    let size = x.abs();
    if size < SERIES {
        return (bell(x) * odd_series(x)) + 0.5;
    }
    // The smallest subnormal number is passed before 39.
    let tail = if size > FARTHEST { 0.0 } else { bell(x) * tail_over_bell(size) };
    match x {
        x if x.is_nan() => x,
        x if x < 0.0 => tail,
        _ => 1.0 - tail,
    }
}

/// `ln P(|Z| ≥ |z|)` of a standard normal variable: the natural logarithm of a two-sided p-value, to 1e-15 of itself or of
/// p, for every |z| up to 1e154, where z² overflows; −∞ beyond, NaN for NaN.
///
/// ```
/// use linsep::numeric::normal_two_sided_ln;
/// assert!((normal_two_sided_ln(1.959963984540054) - 0.05f64.ln()).abs() < 1e-14);
/// assert!((normal_two_sided_ln(-1e6) + 5e11).abs() < 20.0);
/// ```
pub fn normal_two_sided_ln(z: f64) -> f64 {
    let size = z.abs();
    if size < SERIES {
        return (-2.0 * bell(size) * odd_series(size)).ln_1p();
    }
    if size > FARTHEST_SQUARE {
        return f64::NEG_INFINITY;
    }
    -0.5 * size * size + (2.0 * tail_over_bell(size)).ln() - HALF_LN_TWO_PI
}

/// The upper tail of the standard normal at some x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalTail {
    /// `ln(1 − Φ(x))`.
    pub ln: f64,
    /// `h = φ(x)/(1 − Φ(x))`.
    pub hazard: f64,
    /// `h − x`, which is positive; for large x the difference would have no digits.
    pub excess: f64,
}

/// [`NormalTail`] at x, every number to about 1e-14 of itself (the logarithm where it is not near zero to 1e-15): for large x by
/// the continued fraction `h = x + 1/(x + 2/(x + 3/(x + …)))`. Below −38 the hazard is zero.
///
/// ```
/// use linsep::numeric::normal_tail;
/// let at = normal_tail(0.0);
/// assert_eq!(at.ln, -(2f64.ln()));
/// assert!((at.hazard - (2.0 / std::f64::consts::PI).sqrt()).abs() < 1e-15);
/// // h − x = 1/x − 2/x³ + …
/// assert!((normal_tail(1e8).excess / 1e-8 - 1.0).abs() < 1e-14);
/// ```
pub fn normal_tail(x: f64) -> NormalTail {
    if x >= SERIES {
        let excess = excess_of_tail(x);
        let hazard = x + excess;
        return NormalTail { ln: -0.5 * x * x - hazard.ln() - HALF_LN_TWO_PI, hazard, excess };
    }
    let bell = if x < -FARTHEST { 0.0 } else { bell(x) };
    let (tail, ln) = match x > -SERIES {
        true => {
            let tail = 0.5 - bell * odd_series(x);
            (tail, tail.ln())
        }
        false => {
            let other = if bell > 0.0 { bell * tail_over_bell(-x) } else { 0.0 };
            (1.0 - other, (-other).ln_1p())
        }
    };
    NormalTail { ln, hazard: bell / tail, excess: bell / tail - x }
}

/// `1/(x + 2/(x + 3/(x + …)))` for x ≥ 1.4.
fn excess_of_tail(x: f64) -> f64 {
    let terms = 24 + (400.0 / (x * x)) as u32;
    (2..=terms).rev().fold(x, |below, k| x + f64::from(k) / below).recip()
}

/// `φ(x) = e^{−x²/2}/√(2π)` for |x| ≤ 40. x is split so that the square of its leading part is exact; the rounding error of
/// x² would be amplified by the exponential.
fn bell(x: f64) -> f64 {
    let few_digits = (x * 16.0).round() / 16.0;
    let rest = 0.5 * (x - few_digits) * (x + few_digits);
    exp(-0.5 * few_digits * few_digits) * exp(-rest) * 0.398_942_280_401_432_7
}

/// `Σ x²ⁿ⁺¹/(2n+1)!!`; 30 terms leave less than 1e-20 of the sum for |x| < 1.4.
fn odd_series(x: f64) -> f64 {
    let square = x * x;
    (1..30).rev().fold(1.0, |sum, n| 1.0 + sum * square / f64::from(2 * n + 1)) * x
}

/// `(1 − Φ(x))/φ(x)` for x ≥ 1.4 from the end of the fraction backwards; the terms suffice for a double.
fn tail_over_bell(x: f64) -> f64 {
    let terms = 24 + (400.0 / (x * x)) as u32;
    (1..=terms).rev().fold(x, |below, k| x + f64::from(k) / below).recip()
}

#[cfg(test)]
mod tests {
    use super::normal_cdf;

    #[test]
    fn the_pieces_meet_and_the_ends_saturate() {
        for join in [-1.4, 1.4, 40.0, -40.0] {
            let (below, above) = (normal_cdf(join * (1.0 - 1e-15)), normal_cdf(join * (1.0 + 1e-15)));
            assert!((below - above).abs() <= 1e-14 * below.max(above), "{join}: {below} {above}");
        }
        assert_eq!([f64::NEG_INFINITY, -1e300, 1e300, f64::INFINITY].map(normal_cdf), [0.0, 0.0, 1.0, 1.0]);
        assert!(normal_cdf(f64::NAN).is_nan());
    }

    #[test]
    fn both_sides_add_to_one() {
        for k in 0..400 {
            let x = f64::from(k) * 0.0173;
            assert!((normal_cdf(x) + normal_cdf(-x) - 1.0).abs() < 3e-16, "{x}");
        }
    }
}

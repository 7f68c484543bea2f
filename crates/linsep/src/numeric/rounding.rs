//! How far rounding may take a computed value from the exact one.

/// The unit roundoff: a rounded result is within this share of the exact one (subnormal results apart).
pub const UNIT: f64 = 0.5 * f64::EPSILON;

/// `γ_n = nu/(1−nu)`: a sum or a product of n roundings is within this share of the sum of the sizes of its terms, in
/// whatever order they were added and with or without fused products (Higham, *Accuracy and Stability of Numerical
/// Algorithms*, lemma 3.1). Infinite where `nu` is not below one half.
///
/// ```
/// use linsep::numeric::{UNIT, rounding_bound};
/// assert!(rounding_bound(10) >= 10.0 * UNIT && rounding_bound(10) < 11.0 * UNIT);
/// assert_eq!(rounding_bound(usize::MAX), f64::INFINITY);
/// ```
pub fn rounding_bound(n: usize) -> f64 {
    let share = n as f64 * UNIT;
    // Twice the share's own roundings is far below the last factor.
    if share < 0.5 { share / (1.0 - share) * (1.0 + 8.0 * UNIT) } else { f64::INFINITY }
}

/// Shares by which a positive number is moved until what is printed of it is on the right side of it: one of them is a unit
/// of the last digit, however many digits are printed.
const SHARES: [f64; 26] = [
    0.0, 1e-15, 1e-8, 2e-8, 5e-8, 1e-7, 2e-7, 5e-7, 1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3,
    5e-3, 1e-2, 5e-2, 0.1, 0.2, 0.3, 0.5,
];

/// An upper bound as text: what is printed is not below it.
///
/// ```
/// use linsep::numeric::printed_above;
/// assert_eq!(printed_above(9.938e-7, |x| format!("{x:.1e}")), "1.0e-6");
/// assert_eq!(printed_above(0.5, |x| format!("{x:.1e}")), "5.0e-1");
/// ```
pub fn printed_above(bound: f64, format: impl Fn(f64) -> String) -> String {
    let candidates = SHARES.iter().map(|share| format(bound * (1.0 + share)));
    { candidates }.find(|text| text.parse::<f64>().is_ok_and(|x| x >= bound)).unwrap_or_else(|| format(bound))
}

/// A lower bound as text: what is printed is not above it.
///
/// ```
/// use linsep::numeric::printed_below;
/// assert_eq!(printed_below(0.123_456, |x| format!("{x:.4}")), "0.1234");
/// ```
pub fn printed_below(bound: f64, format: impl Fn(f64) -> String) -> String {
    let candidates = SHARES.iter().map(|share| format(bound * (1.0 - share)));
    { candidates }.find(|text| text.parse::<f64>().is_ok_and(|x| x <= bound)).unwrap_or_else(|| format(bound))
}

/// The usual text of an upper bound: two digits, rounded up.
pub fn bound_text(bound: f64) -> String {
    printed_above(bound, |x| format!("{x:.1e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_printed_on_their_side() {
        let mut x = 1.000_37e-300;
        while x < 1e300 {
            let (up, down) = (bound_text(x), printed_below(x, |x| format!("{x:.3e}")));
            let (up, down): (f64, f64) = (up.parse().unwrap(), down.parse().unwrap());
            assert!(x <= up && up <= 1.2 * x, "{x:e} and {up:e}");
            assert!(down <= x && x <= 1.002 * down, "{x:e} and {down:e}");
            x *= 1.377;
        }
        assert_eq!(bound_text(0.0), "0.0e0");
        assert_eq!(bound_text(f64::INFINITY), "inf");
    }
}

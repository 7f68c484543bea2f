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

//! The exponential, without branches so that loops over it vectorise.

/// 1.5·2⁵²: adding it rounds to the nearest integer and leaves that integer in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts: `k·LN2_HIGH` is exact for |k| < 2¹¹.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
/// `ln 2 − LN2_HIGH`.
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// No result of [`exp`] in the normal range, and none of [`exp_falling`] above −708, differs from `eˣ` by more than this
/// share of it, eight units of rounding u = 2⁻⁵³. A bound by proof, of the roundings below, not by sampling:
///
/// * r: both products are fused, k·LN2_HIGH is exact and |r| < ½, so two roundings of at most 2⁻⁵⁵ each; LN2_LOW is off by
///   less than 2⁻⁸⁶, times |k| < 2¹¹. Together less than 0.51u, which is the relative error that it gives eʳ.
/// * The polynomial left out: `|r|ⁿ⁺¹/(n+1)! · 1/(1−|r|/(n+2))` with |r| ≤ 0.3466, over eʳ ≥ 0.707: 2.2u for degree 12, 0.05u
///   for degree 13.
/// * Horner's rule with fused steps: the error of step i is at most `u(|pᵢ| + |cᵢ|) + |r|·(that of step i+1)`, where only
///   coefficients from 1/3! on are rounded: `u(eʳ + |r|·|eʳ−1|/|r| + …)` is below 1.8u of eʳ.
/// * Factors 2ᵏ are exact.
pub const EXP_ERROR: f64 = 4.0 * f64::EPSILON;
/// Beyond the arguments whose result is 0 (−745.2) and infinite (709.8); within them k stays below 2¹¹.
const CLAMP: (f64, f64) = (-760.0, 720.0);
/// Just above ln of the least normal double, −708.4.
const LEAST: f64 = -708.0;

/// `eˣ` to within 2 ulp for all finite x: 0 below −745.2, `+∞` above 709.79, NaN for NaN.
///
/// `x = k·ln 2 + r` with `|r| ≤ ½ ln 2`; the Taylor polynomial of degree 13 has a truncation error below 5e-18 there.
/// The factor 2ᵏ is applied in two halves so that subnormal results come out rounded instead of flushed.
///
/// ```
/// assert!((linsep::numeric::exp(1.0) - std::f64::consts::E).abs() < 1e-15);
/// ```
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let clamped = x.clamp(CLAMP.0, CLAMP.1);
    let k = clamped.mul_add(std::f64::consts::LOG2_E, ROUND) - ROUND;
    let r = k.mul_add(-LN2_HIGH, clamped);
    let r = k.mul_add(-LN2_LOW, r);
    // Inverse factorials 1/13! … 1/2!.
    let mut p = 1.605_904_383_682_161_3e-10;
    for c in [
        2.087_675_698_786_81e-9,
        2.505_210_838_544_172e-8,
        2.755_731_922_398_589_3e-7,
        2.755_731_922_398_589e-6,
        2.480_158_730_158_73e-5,
        1.984_126_984_126_984e-4,
        1.388_888_888_888_889e-3,
        8.333_333_333_333_333e-3,
        4.166_666_666_666_666_4e-2,
        1.666_666_666_666_666_6e-1,
        0.5,
        1.0,
        1.0,
    ] {
        p = r.mul_add(p, c);
    }
    let half = k.mul_add(0.5, ROUND) - ROUND;
    p * power_of_two(half) * power_of_two(k - half)
}

/// `eˣ` for x ≤ 0 to within 2 ulp, three quarters of the work of [`exp`]: below −708 it stays at e⁻⁷⁰⁸ ≈ 3e-308, which is
/// zero beside anything that it is added to, so that one factor 2ᵏ is enough.
///
/// The Taylor polynomial of degree 12 has a truncation error below 2e-16 of the result.
///
/// ```
/// assert!((linsep::numeric::exp_falling(-1.0) - (-1.0f64).exp()).abs() < 1e-16);
/// assert!(linsep::numeric::exp_falling(-1e9) < 1e-300);
/// ```
#[inline(always)]
pub fn exp_falling(x: f64) -> f64 {
    let clamped = if x > LEAST { x } else { LEAST };
    let k = clamped.mul_add(std::f64::consts::LOG2_E, ROUND) - ROUND;
    let r = k.mul_add(-LN2_HIGH, clamped);
    let r = k.mul_add(-LN2_LOW, r);
    // Inverse factorials 1/12! … 1/2!.
    let mut p = 2.087_675_698_786_81e-9;
    for c in [
        2.505_210_838_544_172e-8,
        2.755_731_922_398_589_3e-7,
        2.755_731_922_398_589e-6,
        2.480_158_730_158_73e-5,
        1.984_126_984_126_984e-4,
        1.388_888_888_888_889e-3,
        8.333_333_333_333_333e-3,
        4.166_666_666_666_666_4e-2,
        1.666_666_666_666_666_6e-1,
        0.5,
        1.0,
        1.0,
    ] {
        p = r.mul_add(p, c);
    }
    p * power_of_two(k)
}

/// 2ᵏ for an integer |k| ≤ 1022 held in a float.
#[inline(always)]
fn power_of_two(k: f64) -> f64 {
    f64::from_bits(((k + ROUND).to_bits() << 52).wrapping_add(1023 << 52))
}

#[cfg(test)]
mod tests {
    use super::{exp, exp_falling};

    #[test]
    fn agrees_with_the_standard_library_over_the_whole_range() {
        let mut x = -744.0;
        while x < 709.7 {
            let (ours, theirs) = (exp(x), f64::exp(x));
            assert!((ours - theirs).abs() <= 4.0 * f64::EPSILON * theirs + 5e-324, "{x}: {ours} {theirs}");
            if x <= 0.0 && x > -708.0 {
                assert!((exp_falling(x) - theirs).abs() <= 4.0 * f64::EPSILON * theirs, "{x}: {}", exp_falling(x));
            }
            x += 0.0371;
        }
        assert_eq!(exp_falling(0.0), 1.0);
        assert!(exp_falling(f64::NEG_INFINITY) < 1e-300);
    }

    #[test]
    fn the_ends_saturate_and_nan_passes() {
        assert_eq!(exp(-800.0), 0.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp(710.0), f64::INFINITY);
        assert_eq!(exp(f64::INFINITY), f64::INFINITY);
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(f64::NAN).is_nan());
        assert!(exp(-745.0) > 0.0);
    }
}

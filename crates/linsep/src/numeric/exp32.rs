//! The exponential in single precision, without branches so that loops over it vectorise.

/// 1.5·2²³: adding it rounds to the nearest integer and leaves that integer in the low bits.
const ROUND: f32 = 12_582_912.0;
/// ln 2 in two parts: `k·LN2_HIGH` is exact for |k| < 2⁹.
const LN2_HIGH: f32 = 0.693_359_4;
/// `ln 2 − LN2_HIGH`.
const LN2_LOW: f32 = -2.121_944_4e-4;
/// Just inside ln of the least normal single, −87.34, and of the largest, 88.7.
const CLAMP: (f32, f32) = (-87.3, 88.0);

/// `eˣ` in single precision to within 2 ulp for −87 ≤ x ≤ 88; 0 below −87.3 (no subnormal results), at most 2¹²⁷ above.
///
/// `x = k·ln 2 + r` with `|r| ≤ ½ ln 2`; the Taylor polynomial of degree 7 has a relative truncation error below 6e-9 there.
///
/// ```
/// assert!((linsep::numeric::exp32(1.0) - std::f32::consts::E).abs() < 3e-7);
/// ```
#[inline(always)]
pub fn exp32(x: f32) -> f32 {
    let clamped = x.clamp(CLAMP.0, CLAMP.1);
    let k = clamped.mul_add(std::f32::consts::LOG2_E, ROUND) - ROUND;
    let r = k.mul_add(-LN2_HIGH, clamped);
    let r = k.mul_add(-LN2_LOW, r);
    // Inverse factorials 1/7! … 1/2!.
    let mut p = 1.984_127e-4f32;
    for c in [1.388_888_9e-3, 8.333_334e-3, 4.166_666_8e-2, 0.166_666_67, 0.5, 1.0, 1.0] {
        p = r.mul_add(p, c);
    }
    let scaled = p * f32::from_bits(((k + ROUND).to_bits() << 23).wrapping_add(127 << 23));
    if x < CLAMP.0 { 0.0 } else { scaled }
}

#[cfg(test)]
mod tests {
    use super::exp32;

    #[test]
    fn agrees_with_double_precision() {
        let mut x = -87.0f32;
        while x < 88.0 {
            let (ours, theirs) = (f64::from(exp32(x)), f64::from(x).exp());
            assert!((ours - theirs).abs() <= 3.0 * f64::from(f32::EPSILON) * theirs, "{x}: {ours} {theirs}");
            x += 0.0173;
        }
        assert_eq!(exp32(0.0), 1.0);
        assert_eq!(exp32(-88.0), 0.0);
        assert_eq!(exp32(f32::NEG_INFINITY), 0.0);
    }
}

//! The natural logarithm, without branches so that loops over it vectorise.

/// ln 2 in two parts: `k·LN2_HIGH` is exact for |k| < 2¹¹.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
/// `ln 2 − LN2_HIGH`.
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// 2⁵²: in the low bits of `2⁵² + k` stands the integer k.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// `ln x` to within 2 ulp for normal x > 0; anything else is the standard library's business.
///
/// `x = 2ᵏ·m` with m from √½ to √2, and `ln m = 2 artanh s` with `s = (m−1)/(m+1)`, |s| ≤ 0.172: eleven terms of the odd
/// series leave 1e-18 relative.
///
/// ```
/// assert!((linsep::numeric::ln(10.0) - std::f64::consts::LN_10).abs() < 1e-15);
/// ```
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    // Moves the cut between exponents from 1 to √½.
    const SHIFT: u64 = 0x3fe6_a09e_667f_3bcd;
    let offset = x.to_bits().wrapping_sub(SHIFT);
    let mantissa = (offset & 0x000f_ffff_ffff_ffff).wrapping_add(SHIFT);
    // The exponent, moved into the non-negative range and turned into a float without a conversion instruction.
    let biased = (offset >> 52).wrapping_add(1024) & 0xfff;
    let k = f64::from_bits(WHOLE.to_bits() | biased) - WHOLE - 1024.0;
    let k = if k >= 2048.0 { k - 4096.0 } else { k };
    let m = f64::from_bits(mantissa);
    let s = (m - 1.0) / (m + 1.0);
    let t = s * s;
    let mut p = 1.0 / 23.0;
    for odd in [21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0f64] {
        p = t.mul_add(p, odd.recip());
    }
    let series = 2.0 * s * t * p;
    k.mul_add(LN2_HIGH, 2.0 * s + k.mul_add(LN2_LOW, series))
}

#[cfg(test)]
mod tests {
    use super::ln;

    #[test]
    fn agrees_with_the_standard_library() {
        let mut x = 1e-300;
        while x < 1e300 {
            let (ours, theirs) = (ln(x), f64::ln(x));
            assert!((ours - theirs).abs() <= 2.0 * f64::EPSILON * theirs.abs(), "{x:e}: {ours} {theirs}");
            x *= 1.000_37;
        }
        for i in -1000..1000 {
            let x = 1.0 + f64::from(i) * 1e-9;
            assert!((ln(x) - f64::ln(x)).abs() <= 2.0 * f64::EPSILON * f64::ln(x).abs(), "{x}");
        }
        assert_eq!(ln(1.0), 0.0);
    }
}

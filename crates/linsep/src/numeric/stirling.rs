//! Stirling's formula, its error, and the deviance: what densities of large shape are made of without cancellation.

use super::differences::ln_minus_line;
use super::ln_gamma;

/// Where the asymptotic series starts, as in `ln_gamma`.
const SERIES: f64 = 10.0;
/// Below this share, and above its inverse, `a ln(a/m) + m − a` loses less than three bits as it is written.
const NEAR: f64 = 0.5;
/// `½ ln 2π`.
pub(super) const HALF_LN_TWO_PI: f64 = 0.918_938_533_204_672_7;

/// `δ(a) = ln Γ(a+1) − [(a+½) ln a − a + ½ ln 2π]` for a > 0.
///
/// To an ulp from 10 on (Abramowitz and Stegun 6.1.41); below, an absolute error of 1e-14, which is what the logarithm of a
/// probability needs.
pub(super) fn stirling_error(a: f64) -> f64 {
    if a < SERIES {
        return ln_gamma(a) - ((a - 0.5) * a.ln() - a + HALF_LN_TWO_PI);
    }
    let inverse = a.recip();
    let square = inverse * inverse;
    [1.0 / 156.0, -691.0 / 360_360.0, 1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0]
        .iter()
        .fold(0.0, |sum, c| sum * square + c)
        * inverse
}

/// `a ln(a/m) + m − a ≥ 0`, the deviance of a from a mean m (C. Loader, "Fast and accurate computation of binomial
/// probabilities", 2000), to a few ulp.
///
/// `excess` is `m − a` and `ln_share` is `ln(m/a)`; each is to be right to a few ulp of itself, so that a caller who knows
/// the difference exactly loses nothing where m is near a.
pub(super) fn deviance(a: f64, excess: f64, ln_share: f64) -> f64 {
    let relative = excess / a;
    match (-NEAR..=NEAR.recip()).contains(&relative) {
        true => -a * ln_minus_line(relative),
        false => excess - a * ln_share,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_stirling_is_what_recursion_says() {
        // δ(a) − δ(a+1) = (a+½) ln(1+1/a) − 1, which the two sides of the join must satisfy.
        for a in [0.3f64, 1.0, 5.5, 9.0, 9.5, 9.999, 10.0, 12.0, 40.0] {
            let step = (a + 0.5) * (1.0 / a).ln_1p() - 1.0;
            assert!((stirling_error(a) - stirling_error(a + 1.0) - step).abs() < 2e-14, "{a}");
        }
    }

    #[test]
    fn the_deviance_near_and_far() {
        // From the series u²/2 − u³/3 + u⁴/4 at u = 1e-6.
        let near = deviance(1e8, 100.0, 1e-6f64.ln_1p());
        assert!((near / (1e8 * (0.5e-12 - 1e-18 / 3.0 + 0.25e-24)) - 1.0).abs() < 1e-14);
        for (a, m) in [(3.0, 1.4999), (3.0, 1.5001), (3.0, 8.999), (3.0, 9.001), (2.0, 2e9), (5.0, 1e-9)] {
            let plain: f64 = a * f64::ln(a / m) + m - a;
            assert!((deviance(a, m - a, (m / a).ln()) / plain - 1.0).abs() < 1e-14, "{a} {m}");
        }
    }
}

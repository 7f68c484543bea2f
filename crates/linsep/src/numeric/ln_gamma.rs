//! The logarithm of the gamma function.

/// Where the asymptotic series starts, as in `digamma`.
const SERIES: f64 = 10.0;

/// `log Γ(x)` for x > 0: a few ulp for x ≥ 10, an absolute error below 1e-14 under it (where it passes through zero, at 1
/// and 2); ∞ at 0 and ∞, NaN below.
///
/// Stirling's series (Abramowitz and Stegun 6.1.41) from 10 on, where seven terms leave 3e-17; smaller arguments are
/// carried there by `Γ(x+1) = x Γ(x)`.
///
/// ```
/// assert!((linsep::numeric::ln_gamma(5.0) - 24f64.ln()).abs() < 1e-14);
/// ```
pub fn ln_gamma(x: f64) -> f64 {
    if !(x > 0.0) || x.is_infinite() {
        return if x >= 0.0 { f64::INFINITY } else { f64::NAN };
    }
    let (mut shifted, mut product) = (x, 1.0);
    while shifted < SERIES {
        product *= shifted;
        shifted += 1.0;
    }
    let inverse = shifted.recip();
    let square = inverse * inverse;
    let series = [1.0 / 156.0, -691.0 / 360_360.0, 1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0]
        .iter()
        .fold(0.0, |sum, c| sum * square + c);
    let half_log_two_pi = 0.918_938_533_204_672_7;
    (shifted - 0.5) * shifted.ln() - shifted + half_log_two_pi + series * inverse - product.ln()
}

#[cfg(test)]
mod tests {
    use super::ln_gamma;

    #[test]
    fn factorials_and_a_half() {
        let mut log_factorial = 0.0;
        for n in 1..200 {
            let x = f64::from(n);
            assert!((ln_gamma(x) - log_factorial).abs() <= 1e-14 * log_factorial.max(1.0), "{n}");
            log_factorial += x.ln();
        }
        assert!((ln_gamma(0.5) - 0.5 * std::f64::consts::PI.ln()).abs() < 1e-14);
    }

    #[test]
    fn the_ends() {
        assert_eq!([ln_gamma(0.0), ln_gamma(f64::INFINITY)], [f64::INFINITY; 2]);
        assert!(ln_gamma(-1.5).is_nan() && ln_gamma(f64::NAN).is_nan());
        assert!((ln_gamma(1e-300) - 300.0 * std::f64::consts::LN_10).abs() < 1e-10);
    }
}

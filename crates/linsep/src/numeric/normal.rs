//! The standard normal distribution.

/// `Φ⁻¹(p)`, the number below which a standard normal variable lies with probability p.
///
/// Wichura's algorithm AS 241 (Applied Statistics 37, 1988, routine PPND16): a rational function of degree 7 in
/// `(p − ½)²` where |p − ½| ≤ 0.425, otherwise in `√(−log min(p, 1−p))`, split at 5, which is p = e⁻²⁵. Accurate to a
/// few units in the last place for every double strictly between 0 and 1; −∞ at 0, ∞ at 1, NaN outside.
///
/// `1 − p` is exact for p ≥ ½, so the two tails mirror each other bit for bit.
///
/// ```
/// use linsep::numeric::normal_quantile;
/// assert_eq!(normal_quantile(0.5), 0.0);
/// assert!((normal_quantile(0.975) - 1.959963984540054).abs() < 1e-15);
/// ```
pub fn normal_quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        return q * horner(&CENTRE.0, r) / horner(&CENTRE.1, r);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    if tail == 0.0 {
        return f64::INFINITY.copysign(q);
    }
    let r = (-tail.ln()).sqrt();
    let size = match r <= 5.0 {
        true => horner(&NEAR.0, r - 1.6) / horner(&NEAR.1, r - 1.6),
        false => horner(&FAR.0, r - 5.0) / horner(&FAR.1, r - 5.0),
    };
    size.copysign(q)
}

/// Coefficients from the highest power down, numerator and denominator.
type Rational = ([f64; 8], [f64; 8]);

/// Coefficients for |q| ≤ 0.425 (Wichura 1988, AS 241, PPND16).
const CENTRE: Rational = (
    [
        2.5090809287301226727e3,
        3.3430575583588128105e4,
        6.7265770927008700853e4,
        4.5921953931549871457e4,
        1.3731693765509461125e4,
        1.9715909503065514427e3,
        1.3314166789178437745e2,
        3.3871328727963666080,
    ],
    [
        5.2264952788528545610e3,
        2.8729085735721942674e4,
        3.9307895800092710610e4,
        2.1213794301586595867e4,
        5.3941960214247511077e3,
        6.8718700749205790830e2,
        4.2313330701600911252e1,
        1.0,
    ],
);

/// Coefficients up to r = 5, of the same algorithm.
const NEAR: Rational = (
    [
        7.74545014278341407640e-4,
        2.27238449892691845833e-2,
        2.41780725177450611770e-1,
        1.27045825245236838258,
        3.64784832476320460504,
        5.76949722146069140550,
        4.63033784615654529590,
        1.42343711074968357734,
    ],
    [
        1.05075007164441684324e-9,
        5.47593808499534494600e-4,
        1.51986665636164571966e-2,
        1.48103976427480074590e-1,
        6.89767334985100004550e-1,
        1.67638483018380384940,
        2.05319162663775882187,
        1.0,
    ],
);

/// Coefficients beyond r = 5.
const FAR: Rational = (
    [
        2.01033439929228813265e-7,
        2.71155556874348757815e-5,
        1.24266094738807843860e-3,
        2.65321895265761230930e-2,
        2.96560571828504891230e-1,
        1.78482653991729133580,
        5.46378491116411436990,
        6.65790464350110377720,
    ],
    [
        2.04426310338993978564e-15,
        1.42151175831644588870e-7,
        1.84631831751005468180e-5,
        7.86869131145613259100e-4,
        1.48753612908506148525e-2,
        1.36929880922735805310e-1,
        5.99832206555887937690e-1,
        1.0,
    ],
);

fn horner(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * x + c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_beyond() {
        assert_eq!((normal_quantile(0.0), normal_quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert!([-0.1, 1.1, f64::NAN].iter().all(|p| normal_quantile(*p).is_nan()));
    }

    #[test]
    fn tails_mirror_each_other() {
        for k in 1..1000 {
            let p = f64::from(k) / 1024.0;
            assert_eq!(normal_quantile(p), -normal_quantile(1.0 - p), "{p}");
        }
    }

    #[test]
    fn rises_across_the_joins() {
        // The joins of the three pieces: ½ ± 0.425 and e⁻²⁵.
        for join in [0.075, 0.925, (-25.0f64).exp()] {
            let around: Vec<f64> = (-50..=50).map(|k| normal_quantile(join * (1.0 + 1e-13 * f64::from(k)))).collect();
            assert!(around.windows(2).all(|w| w[0] <= w[1] + 1e-15 * w[0].abs()), "{join}: {around:?}");
        }
    }
}

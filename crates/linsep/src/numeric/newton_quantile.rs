//! Quantiles of distributions whose tails are known as logarithms.

use super::incomplete_gamma::Tails;

/// Steps before giving up; from the mean, ten are the most that was needed on the golden grid.
const STEPS: usize = 100;
/// A step below this share of the point ends the search: what is left is its square.
const SETTLED: f64 = 1e-9;

/// Where the distribution function is p, 0 < p < 1, in the variable of `tails` (in which the density is log-concave), by
/// Newton's method on the logarithm of the smaller tail.
///
/// That logarithm is concave, so a step from anywhere lands on the side of small probability, and all further ones climb
/// to the quantile from there: no bracket is needed. `outwards` shortens steps to the right towards an upper tail, for
/// a variable in which that tail falls so fast that they would pass the quantile by far.
pub(super) fn quantile_from(p: f64, start: f64, outwards: impl Fn(f64) -> f64, tails: impl Fn(f64) -> Tails) -> f64 {
    let mut w = start;
    for _ in 0..STEPS {
        let at = tails(w);
        // One minus p is exact where it is used.
        let (target, tail, sign) = if p <= 0.5 { (p.ln(), at.lower, 1.0) } else { ((1.0 - p).ln(), at.upper, -1.0) };
        let step = sign * (target - tail) * (tail - at.density).exp();
        w += if p > 0.5 && step > 0.0 { outwards(step) } else { step };
        if !(step.abs() > SETTLED * w.abs().max(1.0)) {
            break;
        }
    }
    w
}

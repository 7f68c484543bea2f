//! The gamma distribution of scale one: both tails, as logarithms.

use super::differences::{exp_minus_line, ln_one_minus_exp};
use super::ln_gamma;
use super::stirling::{HALF_LN_TWO_PI, deviance, stirling_error};
use super::tail_integral::{fall_by_one, tail_integral};

/// From this shape on the density is written by Stirling's formula; below, its terms are too small to cancel.
const LARGE_SHAPE: f64 = 10.0;
/// Up to this shape `ln Γ(1+a)` is summed as a series, so that it keeps its relative accuracy near zero.
const SMALL_SHAPE: f64 = 0.25;

/// The two tails of a distribution on a line at one point, and its density in the variable that quantiles are sought in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tails {
    /// `ln P(X ≤ x)`.
    pub lower: f64,
    /// `ln P(X ≥ x)`.
    pub upper: f64,
    /// Logarithm of the density of `ln X` (gamma) or of the log-odds of X (beta).
    pub density: f64,
}

impl Tails {
    /// From the logarithm of the lower tail.
    pub fn of_lower(lower: f64, density: f64) -> Tails {
        let lower = lower.min(0.0);
        Tails { lower, upper: ln_one_minus_exp(lower), density }
    }

    /// From the logarithm of the upper tail.
    pub fn of_upper(upper: f64, density: f64) -> Tails {
        let upper = upper.min(0.0);
        Tails { lower: ln_one_minus_exp(upper), upper, density }
    }
}

/// The tails of the gamma distribution of shape a > 0 at x < ∞, given with its logarithm: x may have underflowed to zero.
///
/// In `w = ln x` the density `xᵃ e⁻ˣ/Γ(a)` is log-concave and has no singularity, whatever the shape. The smaller tail is the
/// density times `∫ e^{E(τ)} dτ`, with `E = (x−a)τ − x(e^{−τ} − 1 + τ)` to the left and `E = (a−x)τ − x(e^τ − 1 − τ)` to the
/// right, sums of numbers of one sign.
pub(super) fn gamma_tails(a: f64, x: f64, ln_x: f64) -> Tails {
    let density = ln_density(a, x, ln_x);
    if a < 1.0 && x < 1.0 {
        return small_tails(a, x, ln_x, density);
    }
    let slope = x - a;
    let scale = fall_by_one(slope, x);
    if slope <= 0.0 {
        let mass = tail_integral(scale, |t| slope * t - x * exp_minus_line(-t));
        Tails::of_lower(density + mass.ln(), density)
    } else {
        let mass = tail_integral(scale, |t| -slope * t - x * exp_minus_line(t));
        Tails::of_upper(density + mass.ln(), density)
    }
}

/// `ln(xᵃ e⁻ˣ/Γ(a))`.
fn ln_density(a: f64, x: f64, ln_x: f64) -> f64 {
    match a < LARGE_SHAPE {
        true => a * ln_x - x - ln_gamma(a),
        false => 0.5 * a.ln() - HALF_LN_TWO_PI - stirling_error(a) - deviance(a, x - a, ln_x - a.ln()),
    }
}

/// Both tails for a, x < 1, where the upper one can be as small as the shape.
///
/// `P = e^v (1 − s)` with `v = a ln x − ln Γ(1+a)` and `s = −a Σ (−x)ⁿ/(n!(a+n))`, n ≥ 1, hence `1 − P = −(e^v − 1) + e^v s`
/// without the difference from one (W. Gautschi, ACM TOMS 5, 1979).
fn small_tails(a: f64, x: f64, ln_x: f64, density: f64) -> Tails {
    let power = a * ln_x - ln_gamma_of_one_plus(a);
    let (mut term, mut sum) = (1.0, 0.0);
    // x < 1, so the last term is below 1/20!.
    for n in (1..=20).map(f64::from) {
        term *= -x / n;
        sum -= a * term / (a + n);
    }
    let upper = power.exp() * sum - power.exp_m1();
    Tails { lower: (power + (-sum).ln_1p()).min(0.0), upper: upper.ln().min(0.0), density }
}

/// `ln Γ(1+a)` for 0 < a < 1, to 1e-15 of itself for small a: `−ln(1+a) + (1−γ)a + Σ (ζ(k)−1)(−a)ᵏ/k` (Abramowitz and
/// Stegun 6.1.33).
fn ln_gamma_of_one_plus(a: f64) -> f64 {
    if a > SMALL_SHAPE {
        return ln_gamma(1.0 + a);
    }
    /// `(ζ(k) − 1)/k` follows from these, k from 18 down to 2; the next term is below 1e-18 of the sum at a = ¼.
    const ZETA_MINUS_ONE: [f64; 17] = [
        3.817293264999840e-6,
        7.637197637899763e-6,
        1.528225940865187e-5,
        3.058823630702049e-5,
        6.124813505870483e-5,
        1.2271334757848915e-4,
        2.460865533080483e-4,
        4.941886041194646e-4,
        9.945751278180853e-4,
        2.0083928260822143e-3,
        4.077356197944339e-3,
        8.349277381922827e-3,
        1.7343061984449140e-2,
        3.6927755143369926e-2,
        8.232323371113819e-2,
        2.0205690315959428e-1,
        6.449340668482264e-1,
    ];
    let one_minus_euler = 0.422_784_335_098_467_1;
    let (series, _) = ZETA_MINUS_ONE.iter().fold((0.0, 18.0), |(sum, k), zeta: &f64| (sum * -a + zeta / k, k - 1.0));
    one_minus_euler * a - a.ln_1p() + series * a * a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_one_is_the_exponential() {
        for x in [1e-9f64, 1e-3, 0.3, 0.999, 1.001, 2.0, 40.0, 700.0, 1e6] {
            let tails = gamma_tails(1.0, x, x.ln());
            assert!((tails.upper + x).abs() <= 1e-14 * x.max(1.0), "{x}: {tails:?}");
            assert!((tails.lower - (-(-x).exp_m1()).ln()).abs() < 1e-14, "{x}: {tails:?}");
        }
    }

    #[test]
    fn the_next_shape_adds_the_density() {
        // P(a, x) = P(a+1, x) + xᵃ e⁻ˣ/Γ(a+1), across all the pieces.
        for a in [0.01f64, 0.2, 0.3, 0.7, 0.999, 1.0, 5.0, 9.2, 9.99, 30.0, 1e3] {
            for ratio in [0.2, 0.8, 0.99, 1.0, 1.01, 1.3, 1.8] {
                let x = a * ratio;
                if a == 1e3 && !(0.5..1.5).contains(&ratio) {
                    continue; // The tails are no doubles.
                }
                let (tails, next) = (gamma_tails(a, x, x.ln()), gamma_tails(a + 1.0, x, x.ln()));
                let density = (tails.density - a.ln()).exp();
                let sum = next.lower.exp() + density;
                assert!((tails.lower.exp() / sum - 1.0).abs() < 3e-14, "{a} {x}: {tails:?} {next:?}");
                let sum = tails.upper.exp() + density;
                assert!((next.upper.exp() / sum - 1.0).abs() < 3e-14, "{a} {x}: {tails:?} {next:?}");
            }
        }
    }

    #[test]
    fn a_vanishing_shape_leaves_an_exponential_integral() {
        // Q(a, x)/a → E₁(x); E₁(0.5) by Abramowitz and Stegun, table 5.1.
        let shape = 1e-200;
        let value = gamma_tails(shape, 0.5, 0.5f64.ln()).upper - shape.ln();
        assert!((value.exp() - 0.559_773_594_8).abs() < 1e-10, "{value}");
    }

    #[test]
    fn the_series_meets_the_gamma_function() {
        for a in [1e-3, 0.1, 0.25] {
            assert!((ln_gamma_of_one_plus(a) - ln_gamma(1.0 + a)).abs() < 1e-14, "{a}");
        }
    }
}

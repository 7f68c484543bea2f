//! What the shape of a gamma distribution is found from.

/// Where the asymptotic series starts: seven terms leave less than 1e-16 of the result from here on.
const SERIES: f64 = 10.0;

/// `ln x − ψ(x)` and its derivative `1/x − ψ′(x)` for x > 0, ψ the digamma function.
///
/// For large x the two terms of each are almost equal; their asymptotic series (Abramowitz and Stegun 6.3.18, 6.4.12)
/// begin with what is left, so both keep their relative accuracy. Smaller arguments are carried up by
/// `ψ(x+1) = ψ(x) + 1/x`.
///
/// ```
/// let (value, _) = linsep::numeric::ln_minus_digamma(1.0);
/// assert!((value - 0.577_215_664_901_532_9).abs() < 1e-15); // Euler's constant is −ψ(1)
/// ```
pub fn ln_minus_digamma(x: f64) -> (f64, f64) {
    let (mut shifted, mut value, mut slope) = (x, 0.0, 0.0);
    while shifted < SERIES {
        let inverse = shifted.recip();
        value += inverse;
        slope -= inverse * inverse;
        shifted += 1.0;
    }
    if shifted > x {
        value += (x / shifted).ln();
        slope += x.recip() - shifted.recip();
    }
    let inverse = shifted.recip();
    let square = inverse * inverse;
    let polynomial = |terms: [f64; 7]| terms.iter().fold(0.0, |sum, c| sum * square + c);
    // B₂ₙ/(2n) with alternating signs, and the derivative of each term.
    let series =
        polynomial([1.0 / 12.0, -691.0 / 32_760.0, 1.0 / 132.0, -1.0 / 240.0, 1.0 / 252.0, -1.0 / 120.0, 1.0 / 12.0]);
    let derivative =
        polynomial([-7.0 / 6.0, 691.0 / 2730.0, -5.0 / 66.0, 1.0 / 30.0, -1.0 / 42.0, 1.0 / 30.0, -1.0 / 6.0]);
    value += 0.5 * inverse + series * square;
    slope += -0.5 * square + derivative * square * inverse;
    (value, slope)
}

#[cfg(test)]
mod tests {
    use super::ln_minus_digamma;

    #[test]
    fn known_values_and_the_recurrence() {
        // ψ(½) = −γ − 2 ln 2, ψ′(1) = π²/6.
        let euler = 0.577_215_664_901_532_9;
        let half = 0.5f64.ln() + euler + 2.0 * std::f64::consts::LN_2;
        assert!((ln_minus_digamma(0.5).0 - half).abs() < 1e-15);
        assert!((ln_minus_digamma(1.0).1 - (1.0 - std::f64::consts::PI.powi(2) / 6.0)).abs() < 1e-15);
        for x in [1e-3, 0.3, 2.7, 9.99, 10.0, 55.0, 1e4, 1e9] {
            let (a, b) = (ln_minus_digamma(x).0, ln_minus_digamma(x + 1.0).0);
            // (ln(x+1) − ψ(x+1)) − (ln x − ψ(x)) = ln(1 + 1/x) − 1/x.
            let step = (1.0 / x).ln_1p() - 1.0 / x;
            assert!((b - a - step).abs() <= 4e-15 * a, "{x}: {}", b - a - step);
        }
    }

    #[test]
    fn the_slope_is_the_derivative() {
        for x in [0.05, 0.7, 3.0, 9.5, 12.0, 300.0] {
            let h = 1e-5 * x;
            let difference = (ln_minus_digamma(x + h).0 - ln_minus_digamma(x - h).0) / (2.0 * h);
            let slope = ln_minus_digamma(x).1;
            assert!((difference - slope).abs() <= 1e-8 * slope.abs(), "{x}: {difference} {slope}");
        }
    }

    #[test]
    fn no_digits_are_lost_far_out() {
        assert!((ln_minus_digamma(1e12).0 - 5e-13).abs() < 1e-24);
    }
}

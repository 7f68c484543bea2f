//! Differences of elementary functions from the first terms of their series, without the cancellation.

/// Where the series of `e^x − 1 − x` is used; beyond it the plain difference loses less than three bits.
const EXP_SERIES: f64 = 0.4;
/// Where the series of `ln(1+x) − x` is used; there `|x/(2+x)| ≤ 1/3`, and beyond it the difference loses two bits.
const LN_SERIES: f64 = 0.5;

/// `e^x − 1 − x`, to a few ulp.
pub(super) fn exp_minus_line(x: f64) -> f64 {
    if x.abs() > EXP_SERIES {
        return x.exp_m1() - x;
    }
    // Σ xᵏ/k! from k = 2 on; the term of k = 16 is below 1e-19 of the first.
    (3..=16).rev().fold(1.0, |sum, k| 1.0 + sum * x / f64::from(k)) * 0.5 * x * x
}

/// `ln(1+x) − x` for x > −1, to a few ulp.
///
/// `ln(1+x) = 2 artanh r` with `r = x/(2+x)`, and `2r − x = −rx`, so the linear terms are gone before anything is added
/// (as in R's `log1pmx`, M. Morse and I. Smith).
pub(super) fn ln_minus_line(x: f64) -> f64 {
    if x.abs() > LN_SERIES {
        return x.ln_1p() - x;
    }
    let r = x / (2.0 + x);
    let square = r * r;
    // 2r³/3 + 2r⁵/5 + …; r² ≤ 1/9, so 17 terms leave 1e-17.
    let series = (0..17).rev().fold(0.0, |sum, k| sum * square + 2.0 / f64::from(2 * k + 3));
    r * (square * series - x)
}

/// `ln(1 − e^x)` for x ≤ 0 (Mächler, "Accurately computing log(1 − exp(−|a|))", 2012): whichever of the two forms does not
/// cancel.
pub(super) fn ln_one_minus_exp(x: f64) -> f64 {
    match x > -std::f64::consts::LN_2 {
        true => (-x.exp_m1()).ln(),
        false => (-x.exp()).ln_1p(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Terms of one sign, or alternating and small: summed from the small end.
    fn twin(x: f64, coefficient: impl Fn(i32) -> f64) -> f64 {
        (2..60).rev().map(|k| coefficient(k) * x.powi(k)).sum()
    }

    #[test]
    fn both_sides_of_the_joins_match_the_series() {
        for x in [-0.45, -0.41, -0.399, -0.1, -1e-3, -1e-9, 1e-200, 1e-9, 1e-3, 0.1, 0.399, 0.401, 0.45] {
            let factorial = |k: i32| (1..=k).map(f64::from).product::<f64>();
            let exact = twin(x, |k| 1.0 / factorial(k));
            assert!((exp_minus_line(x) - exact).abs() <= 2e-15 * exact, "{x}");
            let exact = twin(x, |k| if k % 2 == 0 { -1.0 } else { 1.0 } / f64::from(k));
            assert!((ln_minus_line(x) - exact).abs() <= 3e-15 * exact.abs(), "{x}");
        }
    }

    #[test]
    fn the_logarithm_of_a_complement() {
        assert_eq!(ln_one_minus_exp(0.0), f64::NEG_INFINITY);
        assert_eq!(ln_one_minus_exp(f64::NEG_INFINITY), 0.0);
        assert!((ln_one_minus_exp(-1e-20) - 1e-20f64.ln()).abs() < 1e-14);
        assert!((ln_one_minus_exp(-50.0) / -(-50f64).exp() - 1.0).abs() < 1e-14);
        assert!((ln_one_minus_exp(0.25f64.ln()) - 0.75f64.ln()).abs() < 1e-16);
    }
}

//! Limits on a mean that hold for every number of rows, not only for many: the formulas.
//!
//! Each holds with probability at least 1 − δ over the draw of the rows, for one statement chosen before they are looked at.
//! Limits on a mean of losses between 0 and `range` may exceed it; they say nothing then.

use crate::numeric::{beta_quantile, beta_upper_quantile};

/// Error of the quantiles of the beta distribution as a share of their distance from 0 or 1, as their tests have it: ends are
/// moved outwards by it and the last place, so that they are limits and not numbers near them.
const QUANTILE_ERROR: f64 = 1e-13;

/// The interval of Clopper and Pearson for a probability, after `successes` in `trials`: it misses the truth on either side
/// with probability at most δ/2 (Biometrika 26, 1934). Without trials `(0, 1)`.
///
/// ```
/// let (low, high) = linsep::evaluate::clopper_pearson(8, 10, 0.05);
/// assert!((low - 0.4439045).abs() < 1e-7 && (high - 0.9747893).abs() < 1e-7);
/// ```
pub fn clopper_pearson(successes: u64, trials: u64, delta: f64) -> (f64, f64) {
    let successes = successes.min(trials);
    let lower = match successes {
        0 => 0.0,
        k => {
            let found = beta_quantile(0.5 * delta, k as f64, (trials - k) as f64 + 1.0);
            (found - QUANTILE_ERROR * found.min(1.0 - found)).next_down().max(0.0)
        }
    };
    (lower, clopper_pearson_upper(successes, trials, 0.5 * delta))
}

/// The upper limit of Clopper and Pearson: the truth exceeds it with probability at most δ.
///
/// ```
/// // None of 100: the "rule of three", 3/n.
/// assert!((linsep::evaluate::clopper_pearson_upper(0, 100, 0.05) - 0.0295).abs() < 1e-4);
/// ```
pub fn clopper_pearson_upper(successes: u64, trials: u64, delta: f64) -> f64 {
    match successes >= trials {
        true => 1.0,
        false => {
            let found = beta_upper_quantile(delta, successes as f64 + 1.0, (trials - successes) as f64);
            (found + QUANTILE_ERROR * found.min(1.0 - found)).next_up().min(1.0)
        }
    }
}

/// `mean + range √(ln(1/δ)/(2m))` (W. Hoeffding, JASA 58, 1963).
pub fn hoeffding_upper(mean: f64, range: f64, rows: f64, delta: f64) -> f64 {
    mean + range * ((1.0 / delta).ln() / (2.0 * rows)).sqrt()
}

/// `mean + √(2 V ln(2/δ)/m) + 7 range ln(2/δ)/(3(m−1))`, V the sample variance with divisor m − 1 (A. Maurer and M. Pontil,
/// COLT 2009, theorem 4); infinite for a single row.
pub fn empirical_bernstein_upper(mean: f64, variance: f64, range: f64, rows: f64, delta: f64) -> f64 {
    if rows <= 1.0 {
        return f64::INFINITY;
    }
    let log = (2.0 / delta).ln();
    mean + (2.0 * variance * log / rows).sqrt() + 7.0 * range * log / (3.0 * (rows - 1.0))
}

/// What a margin bound takes as given, all of it chosen before the rows were seen.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct MarginPremises {
    /// ρ, the margin that a row must have to count as right.
    pub margin: f64,
    /// Λ ≥ ‖(w, b)‖.
    pub norm: f64,
    /// R ≥ ‖(x, 1)‖ for every row that can occur.
    pub radius: f64,
}

/// `R̂_ρ + 2ΛR/(ρ√n) + √(ln(1/δ)/(2n))`, R̂_ρ the share of training rows with a margin below ρ: a bound on the error of new
/// rows (Mohri, Rostamizadeh and Talwalkar, "Foundations of Machine Learning", corollary 5.11).
pub fn margin_upper(share: f64, terms: &MarginPremises, rows: f64, delta: f64) -> f64 {
    let complexity = 2.0 * terms.norm * terms.radius / (terms.margin * rows.sqrt());
    hoeffding_upper(share, 1.0, rows, delta) + complexity
}

/// `M/n + √(2 ln(1/δ)/n)`: the mean error of the n planes of one pass of an online method that makes M mistakes in it
/// (N. Cesa-Bianchi, A. Conconi and C. Gentile, IEEE Trans. Inf. Theory 50, 2004).
pub fn online_upper(mistakes: f64, rows: f64, delta: f64) -> f64 {
    mistakes / rows + (2.0 * (1.0 / delta).ln() / rows).sqrt()
}

/// A bound on the error above the Bayes error of a decision by the largest probability, from the mean squared error of the
/// probabilities against the labels.
///
/// `P(ĝ ≠ y) − P(g* ≠ y) ≤ √2 E‖m̂ − m‖ ≤ √(2 E‖m̂ − m‖²) ≤ √(2 E‖m̂ − e_y‖²)`: the last step adds the variance of the labels, so
/// the bound stays above zero where labels are noisy. With two classes, of which `brier` counts one, this is 2√Brier.
///
/// ```
/// assert_eq!(linsep::evaluate::excess_risk_bound(0.0625, 2), 0.5);
/// ```
pub fn excess_risk_bound(brier: f64, n_classes: usize) -> f64 {
    match n_classes {
        2 => 2.0 * brier.sqrt(),
        _ => (2.0 * brier).sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `P(Bin(n, p) ≤ k)` by its sum.
    fn binomial_cdf(k: u64, n: u64, p: f64) -> f64 {
        let mut term = (1.0 - p).powi(n as i32);
        let mut sum = term;
        for j in 0..k {
            term *= (n - j) as f64 / (j + 1) as f64 * p / (1.0 - p);
            sum += term;
        }
        sum
    }

    #[test]
    fn clopper_pearson_of_scipy() {
        // scipy 1.17.1: beta.ppf(0.025, k, n-k+1), beta.ppf(0.975, k+1, n-k).
        for (k, n, low, high) in [
            (0, 10, 0.0, 0.3084971078187607),
            (1, 29, 0.000872646883579922, 0.1776442954887229),
            (15, 148, 0.05784401008344857, 0.161650490349479),
            (10, 10, 0.6915028921812392, 1.0),
        ] {
            let (l, h) = clopper_pearson(k, n, 0.05);
            assert!((l - low).abs() <= 1e-12 * low && (h / high - 1.0).abs() < 1e-12, "{k} of {n}: {l} {h}");
        }
        // mpmath, 100 digits: 12,345 of 1,000,000 at 99 %.
        let (low, high) = clopper_pearson(12_345, 1_000_000, 0.01);
        assert!((low / 0.012062397109951802 - 1.0).abs() < 1e-12 && (high / 0.01263225338084484 - 1.0).abs() < 1e-12);
        assert_eq!(clopper_pearson(0, 0, 0.05), (0.0, 1.0));
        assert_eq!(clopper_pearson(9, 4, 0.05).1, 1.0);
    }

    /// Two of three: the upper limit p has `P(Bin(3, p) ≤ 2) = 1 − p³`, which is known without rounding of p itself.
    #[test]
    fn ends_are_not_short_by_a_last_place() {
        for delta in [1e-12, 1e-9, 1e-3, 0.1] {
            let (low, high) = clopper_pearson(2, 3, delta);
            let away = 1.0 - high;
            assert!(3.0 * away - 3.0 * away * away + away.powi(3) <= 0.5 * delta, "{delta}: {high}");
            assert!(low * low * (3.0 - 2.0 * low) <= 0.5 * delta, "{delta}: {low}");
        }
    }

    #[test]
    fn the_ends_solve_their_equations() {
        for (k, n) in [(1, 7), (3, 40), (39, 40), (20, 200)] {
            for delta in [0.01, 0.2] {
                let (low, high) = clopper_pearson(k, n, delta);
                assert!((binomial_cdf(k, n, high) / (0.5 * delta) - 1.0).abs() < 1e-11, "{k} {n}");
                assert!((1.0 - binomial_cdf(k - 1, n, low) - 0.5 * delta).abs() < 1e-12, "{k} {n}");
                let upper = clopper_pearson_upper(k, n, delta);
                assert!((binomial_cdf(k, n, upper) / delta - 1.0).abs() < 1e-11, "{k} {n}");
            }
        }
    }

    /// Of δ so small that 1 − δ is one, too: none of n is below `1 − δ^(1/n)`.
    #[test]
    fn limits_of_tiny_deltas() {
        for (n, delta) in [(10, 1e-20f64), (3, 3e-16), (1000, 1e-12), (40, 1e-300)] {
            let truth = -(delta.ln() / n as f64).exp_m1();
            let upper = clopper_pearson_upper(0, n, delta);
            assert!((upper / truth - 1.0).abs() < 1e-12, "{n} {delta:e}: {upper} {truth}");
            let both = clopper_pearson(0, n, 2.0 * delta).1;
            assert!((both / truth - 1.0).abs() < 1e-12, "{n} {delta:e}: {both} {truth}");
        }
    }

    /// The probability that a limit is below the truth, over all outcomes of m rows: exact, no simulation. `limits` has one
    /// for every number of mistakes.
    fn misses(truth: f64, limits: &[f64]) -> f64 {
        let rows = limits.len() as u64 - 1;
        let mass = |k: u64| binomial_cdf(k, rows, truth) - if k == 0 { 0.0 } else { binomial_cdf(k - 1, rows, truth) };
        (0..=rows).filter(|k| limits[*k as usize] < truth).map(mass).sum()
    }

    #[test]
    fn every_limit_misses_at_most_as_often_as_it_says() {
        let delta = 0.1;
        let mut worst: f64 = 0.0;
        for rows in [5u64, 23, 80] {
            let m = rows as f64;
            let limits = |of: &dyn Fn(u64) -> f64| -> Vec<f64> { (0..=rows).map(of).collect() };
            let exact = limits(&|k| clopper_pearson_upper(k, rows, delta));
            let two_sided = limits(&|k| clopper_pearson(k, rows, delta).1);
            let hoeffding = limits(&|k| hoeffding_upper(k as f64 / m, 1.0, m, delta));
            let bernstein = limits(&|k| {
                let variance = k as f64 * (rows - k) as f64 / (m * (m - 1.0));
                empirical_bernstein_upper(k as f64 / m, variance, 1.0, m, delta)
            });
            for step in 1..60 {
                let truth = f64::from(step) / 60.0;
                worst = worst.max(misses(truth, &exact));
                assert!(misses(truth, &exact) <= delta + 1e-12, "Clopper-Pearson {rows} {truth}");
                assert!(misses(truth, &two_sided) <= 0.5 * delta + 1e-12, "two-sided {rows} {truth}");
                assert!(misses(truth, &hoeffding) <= delta, "Hoeffding {rows} {truth}");
                assert!(misses(truth, &bernstein) <= delta, "Bernstein {rows} {truth}");
            }
        }
        // The exact one comes near what it may miss; a limit that never missed would pass the rest of this test.
        assert!(worst > 0.8 * delta, "{worst}");
    }

    #[test]
    fn few_mistakes_make_bernstein_the_narrower_one() {
        let (m, delta) = (1e5, 0.05);
        let rare = empirical_bernstein_upper(1e-4, 1e-4 * (1.0 - 1e-4), 1.0, m, delta);
        assert!(rare < hoeffding_upper(1e-4, 1.0, m, delta) && rare > 1e-4);
        assert!(empirical_bernstein_upper(0.5, 0.25, 1.0, m, delta) > hoeffding_upper(0.5, 1.0, m, delta));
        assert_eq!(empirical_bernstein_upper(0.0, 0.0, 1.0, 1.0, delta), f64::INFINITY);
    }

    #[test]
    fn by_hand() {
        let e = std::f64::consts::E;
        assert!((hoeffding_upper(0.25, 2.0, 50.0, 1.0 / e) - 0.45).abs() < 1e-15);
        assert!((empirical_bernstein_upper(0.1, 0.02, 1.0, 100.0, 2.0 / e) - (0.12 + 7.0 / 297.0)).abs() < 1e-15);
        let terms = MarginPremises { margin: 0.5, norm: 2.0, radius: 3.0 };
        assert!((margin_upper(0.1, &terms, 400.0, 1.0 / e) - (0.1 + 1.2 + (1.0 / 800f64).sqrt())).abs() < 1e-15);
        assert!((online_upper(12.0, 200.0, 1.0 / e) - (0.06 + 0.1)).abs() < 1e-15);
        assert_eq!(excess_risk_bound(0.08, 3), 0.4);
    }
}

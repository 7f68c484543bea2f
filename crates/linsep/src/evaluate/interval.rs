//! Intervals at 95 %: the ways from a count, a mean or several estimates to a low and a high end.

/// The probability with which every interval here covers the truth, approximately: the usual one.
pub const LEVEL: f64 = 0.95;

/// The 0.975 quantile of the standard normal law.
const Z: f64 = 1.959963984540054;

/// Differences below this are rounding, not variation: the values compared are of size one or relative, and
/// real differences are at least one over the number of rows.
const ROUNDING: f64 = 1e-12;

/// The Wilson score interval of a proportion: all `q` with `|p − q| ≤ z √(q (1 − q) / n)`.
///
/// It stays inside `[0, 1]` and has positive width at 0 and at 1 (E. B. Wilson, JASA 22, 1927). `trials` may be a sum of
/// weights. Without trials nothing is known: `(0, 1)`.
///
/// ```
/// let (low, high) = linsep::evaluate::wilson(8.0, 10.0);
/// assert!((low - 0.4902).abs() < 5e-5 && (high - 0.9433).abs() < 5e-5);
/// assert_eq!(linsep::evaluate::wilson(0.0, 0.0), (0.0, 1.0));
/// ```
pub fn wilson(successes: f64, trials: f64) -> (f64, f64) {
    // Written so that NaN counts as "no trials".
    if !(trials > 0.0 && trials.is_finite() && successes.is_finite()) {
        return (0.0, 1.0);
    }
    let p = (successes / trials).clamp(0.0, 1.0);
    let pull = Z * Z / trials;
    let centre = (p + pull / 2.0) / (1.0 + pull);
    let half = (p * (1.0 - p) * pull + pull * pull / 4.0).sqrt() / (1.0 + pull);
    // At p = 0 and p = 1 one end is p itself; rounding must not put it inside.
    ((centre - half).clamp(0.0, p), (centre + half).clamp(p, 1.0))
}

/// An interval for a number in `(0, 1)` with a known standard error, symmetric on the logit scale.
pub(super) fn logit(value: f64, standard_error: f64) -> (f64, f64) {
    let slope = value * (1.0 - value);
    if slope <= 0.0 {
        return ((value - Z * standard_error).max(0.0), (value + Z * standard_error).min(1.0));
    }
    let centre = (value / (1.0 - value)).ln();
    let half = Z * standard_error / slope;
    let back = |x: f64| 1.0 / (1.0 + (-x).exp());
    (back(centre - half).min(value), back(centre + half).max(value))
}

/// One term of a weighted sum of uncorrelated estimates, with its own interval.
#[derive(Debug, Clone, Copy)]
pub(super) struct IntervalPart {
    /// Its factor in the sum, positive.
    pub share: f64,
    pub value: f64,
    pub interval: (f64, f64),
}

/// The sum of the parts and its interval: the distances to the low ends add up in squares, so do those to the high ends.
///
/// This is the "method of variance estimates recovery" (Zou and Donner, Statistics in Medicine 27, 2008). It keeps the
/// skewness of the parts, cannot leave the range that they span, and one part alone keeps its interval.
pub(super) fn combine(parts: &[IntervalPart]) -> (f64, (f64, f64)) {
    let (mut value, mut below, mut above) = (0.0, 0.0, 0.0);
    for part in parts {
        value += part.share * part.value;
        below += (part.share * (part.value - part.interval.0)).powi(2);
        above += (part.share * (part.interval.1 - part.value)).powi(2);
    }
    (value, (value - below.sqrt(), value + above.sqrt()))
}

/// Running mean and spread of weighted numbers (D. H. D. West, CACM 22, 1979); weight k counts as k copies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moments {
    weight: f64,
    mean: f64,
    squares: f64,
    least: f64,
    most: f64,
}

impl Moments {
    pub fn new() -> Moments {
        Moments { weight: 0.0, mean: 0.0, squares: 0.0, least: f64::INFINITY, most: f64::NEG_INFINITY }
    }

    /// Adds a finite number; weight zero is no copy at all.
    pub fn add(&mut self, x: f64, weight: f64) {
        if weight == 0.0 {
            return;
        }
        self.weight += weight;
        let from_old = x - self.mean;
        self.mean += from_old * (weight / self.weight);
        self.squares += weight * from_old * (x - self.mean);
        self.least = self.least.min(x);
        self.most = self.most.max(x);
    }

    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// `Σ w (x − mean)² / (n − 1)`; zero for a single copy.
    pub fn variance(&self) -> f64 {
        if self.weight > 1.0 { (self.squares / (self.weight - 1.0)).max(0.0) } else { 0.0 }
    }

    /// Whether all numbers were the same, so that their spread says nothing about the next one.
    pub fn is_constant(&self) -> bool {
        self.most - self.least <= ROUNDING * self.most.abs().max(self.least.abs())
    }

    /// `mean ± z s / √n` with `s² = Σ w (x − mean)² / (n − 1)`, inside the possible `range`.
    pub fn interval(&self, range: (f64, f64)) -> (f64, f64) {
        let half = Z * (self.squares / (self.weight - 1.0) / self.weight).sqrt();
        ((self.mean - half).max(range.0), (self.mean + half).min(range.1))
    }
}

/// Whether numbers of size one between `least` and `most` differ by no more than rounding.
pub(super) fn is_rounding(least: f64, most: f64) -> bool {
    most - least <= ROUNDING
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}");
    }

    #[test]
    fn wilson_matches_published_values() {
        // The last four: R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3; all agree with scipy 1.17.
        for (x, n, low, high) in [
            (8.0, 10.0, 0.4902, 0.9433),
            (10.0, 10.0, 0.7225, 1.0),
            (81.0, 263.0, 0.2553, 0.3662),
            (15.0, 148.0, 0.0624, 0.1605),
            (0.0, 20.0, 0.0, 0.1611),
            (1.0, 29.0, 0.0061, 0.1718),
        ] {
            let (l, h) = wilson(x, n);
            near(l, low, 5e-5);
            near(h, high, 5e-5);
        }
    }

    #[test]
    fn wilson_ends_solve_their_equation() {
        for (x, n) in [(3.0, 7.0), (0.5, 4.0), (999.0, 1000.0)] {
            let p: f64 = x / n;
            let (low, high) = wilson(x, n);
            for q in [low, high] {
                near((p - q).abs(), Z * (q * (1.0 - q) / n).sqrt(), 1e-14);
            }
        }
    }

    #[test]
    fn wilson_survives_nonsense() {
        assert_eq!(wilson(f64::NAN, 3.0), (0.0, 1.0));
        assert_eq!(wilson(1.0, -1.0), (0.0, 1.0));
        assert_eq!(wilson(9.0, 3.0).1, 1.0);
    }

    #[test]
    fn one_part_keeps_its_interval() {
        let interval = wilson(4.0, 9.0);
        let (value, ends) = combine(&[IntervalPart { share: 1.0, value: 4.0 / 9.0, interval }]);
        near(value, 4.0 / 9.0, 0.0);
        near(ends.0, interval.0, 1e-15);
        near(ends.1, interval.1, 1e-15);
    }

    #[test]
    fn logit_is_symmetric_under_reflection() {
        let (low, high) = logit(0.9, 0.04);
        let (low_mirror, high_mirror) = logit(0.1, 0.04);
        near(low, 1.0 - high_mirror, 1e-15);
        near(high, 1.0 - low_mirror, 1e-15);
        near(low, 1.0 / (1.0 + (-(9f64.ln() - Z * 0.04 / 0.09)).exp()), 1e-15);
    }

    #[test]
    fn moments_of_one_to_four() {
        let mut moments = Moments::new();
        [1.0, 2.0, 3.0, 4.0].iter().for_each(|x| moments.add(*x, 1.0));
        near(moments.mean(), 2.5, 0.0);
        let half = Z * (5.0f64 / 3.0 / 4.0).sqrt();
        near(moments.interval((0.0, 9.0)).0, 2.5 - half, 1e-15);
        near(moments.interval((0.0, 3.0)).1, 3.0, 0.0);
        assert!(!moments.is_constant());
    }
}

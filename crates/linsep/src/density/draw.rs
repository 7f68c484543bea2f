//! Random numbers of the families, from one seeded generator. The same seed and stream give the same numbers in every
//! run.

use crate::numeric::ln_gamma;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Means and trials beyond this are refused: logarithms of factorials, about 2e10 there, keep five digits of a
/// difference only.
pub(super) const LARGEST_COUNT: f64 = 1e9;

/// A seeded source of random numbers.
///
/// ```
/// use linsep::density::Draws;
/// let (mut a, mut b) = (Draws::new(7, 0), Draws::new(7, 0));
/// assert_eq!(a.normal(), b.normal());
/// assert_ne!(Draws::new(7, 1).uniform(), Draws::new(7, 0).uniform());
/// ```
pub struct Draws {
    generator: ChaCha8Rng,
    /// The polar method makes two normal numbers at a time.
    spare: Option<f64>,
}

impl Draws {
    /// Streams of one seed are independent of each other: one for each block of rows.
    pub fn new(seed: u64, stream: u64) -> Draws {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Draws { generator, spare: None }
    }

    /// Uniform in (0, 1): never 0, so that it has a logarithm.
    pub fn uniform(&mut self) -> f64 {
        loop {
            let u = self.generator.random::<f64>();
            if u > 0.0 {
                return u;
            }
        }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.generator.random::<u64>()
    }

    /// True with probability p.
    pub fn chance(&mut self, p: f64) -> bool {
        // A uniform number below 1 is below p = 1; none is below 0.
        self.uniform() < p
    }

    /// Which of some classes, by their cumulative probabilities.
    pub fn index(&mut self, cumulative: &[f64]) -> usize {
        let u = self.uniform();
        cumulative.iter().position(|c| u < *c).unwrap_or(cumulative.len() - 1)
    }

    /// Standard normal, by the polar method (Marsaglia and Bray 1964).
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let stretch = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(y * stretch);
                return x * stretch;
            }
        }
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// Failures before the first success of probability p > 0.
    pub fn geometric(&mut self, p: f64) -> f64 {
        // P(⌊E/−log(1−p)⌋ ≥ k) = (1−p)ᵏ.
        if p >= 1.0 { 0.0 } else { (self.exponential() / -f64::ln_1p(-p)).floor() }
    }

    /// Gamma with rate 1 (Marsaglia and Tsang 2000).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            // Their section 6: G(a) = G(a+1) U^{1/a}.
            let boost = self.uniform().ln() / shape;
            return self.gamma(shape + 1.0) * boost.exp();
        }
        let d = shape - 1.0 / 3.0;
        let c = (9.0 * d).sqrt().recip();
        loop {
            let z = self.normal();
            let v = (1.0 + c * z).powi(3);
            if v > 0.0 && self.uniform().ln() < 0.5 * z * z + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    /// Poisson: by counting arrivals for small means, by transformed rejection for others (Hörmann 1993, PTRS).
    pub fn poisson(&mut self, mean: f64) -> f64 {
        if mean < 10.0 {
            let (limit, mut product, mut count) = ((-mean).exp(), self.uniform(), 0.0);
            while product > limit {
                product *= self.uniform();
                count += 1.0;
            }
            return count;
        }
        let b = 0.931 + 2.53 * mean.sqrt();
        let a = -0.059 + 0.02483 * b;
        let log_inverse_alpha = (1.1239 + 1.1328 / (b - 3.4)).ln();
        let accepted_at_once = 0.9277 - 3.6224 / (b - 2.0);
        let log_mean = mean.ln();
        loop {
            let (u, v) = (self.uniform() - 0.5, self.uniform());
            let edge = 0.5 - u.abs();
            let k = ((2.0 * a / edge + b) * u + mean + 0.43).floor();
            if edge >= 0.07 && v <= accepted_at_once {
                return k;
            }
            if k < 0.0 || (edge < 0.013 && v > edge) {
                continue;
            }
            let envelope = v.ln() + log_inverse_alpha - (a / (edge * edge) + b).ln();
            if envelope <= k * log_mean - mean - ln_gamma(k + 1.0) {
                return k;
            }
        }
    }

    /// Binomial: by skipping from success to success where few are expected, by transformed rejection otherwise
    /// (Hörmann 1993, BTRS).
    pub fn binomial(&mut self, trials: f64, p: f64) -> f64 {
        if p > 0.5 {
            return trials - self.binomial(trials, 1.0 - p);
        }
        if trials * p < 10.0 {
            if p <= 0.0 {
                return 0.0;
            }
            let (mut left, mut count) = (trials, 0.0);
            loop {
                left -= self.geometric(p) + 1.0;
                if left < 0.0 {
                    return count;
                }
                count += 1.0;
            }
        }
        let spread = (trials * p * (1.0 - p)).sqrt();
        let b = 1.15 + 2.53 * spread;
        let a = -0.0873 + 0.0248 * b + 0.01 * p;
        let alpha = (2.83 + 5.1 / b) * spread;
        let accepted_at_once = 0.92 - 4.2 / b;
        let log_odds = (p / (1.0 - p)).ln();
        let mode = ((trials + 1.0) * p).floor();
        let at_mode = ln_gamma(mode + 1.0) + ln_gamma(trials - mode + 1.0);
        loop {
            let (v, u) = (self.uniform(), self.uniform() - 0.5);
            let edge = 0.5 - u.abs();
            let k = ((2.0 * a / edge + b) * u + trials * p + 0.5).floor();
            if !(0.0..=trials).contains(&k) {
                continue;
            }
            if edge >= 0.07 && v <= accepted_at_once {
                return k;
            }
            let envelope = (v * alpha / (a / (edge * edge) + b)).ln();
            if envelope <= at_mode - ln_gamma(k + 1.0) - ln_gamma(trials - k + 1.0) + (k - mode) * log_odds {
                return k;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// z-scores of the mean and variance of many draws, by the true mean, variance and fourth central moment.
    fn check(name: &str, mut draw: impl FnMut(&mut Draws) -> f64, mean: f64, variance: f64, fourth: f64) {
        let n = 200_000;
        let mut draws = Draws::new(11, 3);
        let values: Vec<f64> = (0..n).map(|_| draw(&mut draws)).collect();
        let count = n as f64;
        let z_mean = (values.iter().sum::<f64>() / count - mean) / (variance / count).sqrt();
        let spread = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
        let z_variance = (spread - variance) / ((fourth - variance * variance) / count).sqrt();
        assert!(z_mean.abs() < 4.0 && z_variance.abs() < 4.0, "{name}: {z_mean} {z_variance}");
    }

    #[test]
    fn moments_of_every_family() {
        check("uniform", |d| d.uniform(), 0.5, 1.0 / 12.0, 1.0 / 80.0);
        check("normal", |d| d.normal(), 0.0, 1.0, 3.0);
        check("exponential", |d| d.exponential(), 1.0, 1.0, 9.0);
        for p in [0.02, 0.5, 0.97] {
            let q = 1.0 - p;
            check("geometric", |d| d.geometric(p), q / p, q / (p * p), q * (p * p + 9.0 * q) / p.powi(4));
        }
        for shape in [0.3, 1.0, 2.5, 80.0] {
            check("gamma", |d| d.gamma(shape), shape, shape, 3.0 * shape * shape + 6.0 * shape);
        }
        for mean in [0.3, 4.0, 9.9, 10.1, 60.0, 1e5] {
            check("poisson", |d| d.poisson(mean), mean, mean, mean + 3.0 * mean * mean);
        }
        for (n, p) in [(5.0, 0.2), (30.0, 0.9), (40.0, 0.26), (1000.0, 0.5), (1e5, 0.003), (1e6, 0.8)] {
            let v: f64 = n * p * (1.0 - p);
            check("binomial", |d| d.binomial(n, p), n * p, v, v * (1.0 + 3.0 * (n - 2.0) * p * (1.0 - p)));
        }
    }

    /// Pearson's statistic of counts by value against their probabilities, the tail pooled.
    fn chi_squared(name: &str, mut draw: impl FnMut(&mut Draws) -> f64, first: f64, shares: &[f64]) {
        let n = 100_000;
        let mut draws = Draws::new(5, 0);
        let mut counts = vec![0.0; shares.len() + 1];
        for _ in 0..n {
            let at = draw(&mut draws) - first;
            counts[if at >= 0.0 && (at as usize) < shares.len() { at as usize } else { shares.len() }] += 1.0;
        }
        let rest = 1.0 - shares.iter().sum::<f64>();
        let term = |(c, p): (&f64, f64)| (c - f64::from(n) * p).powi(2) / (f64::from(n) * p);
        let statistic: f64 = counts.iter().zip(shares.iter().copied().chain([rest])).map(term).sum();
        let freedom = shares.len() as f64;
        assert!(statistic < freedom + 4.5 * (2.0 * freedom).sqrt(), "{name}: {statistic} on {freedom}");
    }

    #[test]
    fn whole_numbers_have_their_probabilities() {
        for mean in [3.0, 25.0f64] {
            let first = (mean - 2.5 * mean.sqrt()).floor().max(0.0);
            let share = |i: i32| {
                let k = first + f64::from(i);
                (k * mean.ln() - mean - ln_gamma(k + 1.0)).exp()
            };
            let shares: Vec<f64> = (0..(5.0 * mean.sqrt()) as i32).map(share).collect();
            chi_squared("poisson", |d| d.poisson(mean), first, &shares);
        }
        for (n, p) in [(12.0, 0.3), (60.0, 0.35), (100.0, 0.8f64)] {
            let sd = (n * p * (1.0 - p)).sqrt();
            let first = (n * p - 2.5 * sd).floor().max(0.0);
            let share = |i: i32| {
                let k = first + f64::from(i);
                let choose = ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0);
                (choose + k * p.ln() + (n - k) * f64::ln_1p(-p)).exp()
            };
            let shares: Vec<f64> = (0..(5.0 * sd) as i32).map(share).collect();
            chi_squared("binomial", |d| d.binomial(n, p), first, &shares);
        }
    }

    #[test]
    fn certain_draws_are_certain() {
        let mut d = Draws::new(0, 0);
        assert_eq!(
            (d.poisson(0.0), d.binomial(7.0, 0.0), d.binomial(7.0, 1.0), d.geometric(1.0)),
            (0.0, 0.0, 7.0, 0.0)
        );
        assert!(!d.chance(0.0) && d.chance(1.0));
    }
}

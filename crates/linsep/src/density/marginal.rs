//! The families of single columns: their log densities, and rows drawn from them.

use super::{Draws, Family, Marginal};
use crate::numeric::ln_gamma;

/// `x log p`, zero for x = 0 whatever p.
fn times_log(x: f64, log_p: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x * log_p }
}

/// Whether a cell is a count.
fn is_count(x: f64) -> bool {
    x >= 0.0 && x.fract() == 0.0 && x.is_finite()
}

impl Marginal {
    /// The log density of its columns in a row, for class k; −∞ outside the support. A multinomial is taken given its
    /// total, about which it says nothing.
    pub(super) fn log_density(&self, row: &[f64], k: usize) -> f64 {
        let x = row[self.columns[0]];
        let within = |inside: bool, value: f64| if inside { value } else { f64::NEG_INFINITY };
        match &self.family {
            // A factor that all classes share cancels in the posterior.
            Family::Constant { .. } => 0.0,
            Family::Gaussian { mean, variance } => {
                -0.5 * ((x - mean[k]).powi(2) / variance[k] + (2.0 * std::f64::consts::PI * variance[k]).ln())
            }
            Family::Bernoulli { p } if x == 1.0 => p[k].ln(),
            Family::Bernoulli { p } => within(x == 0.0, (-p[k]).ln_1p()),
            Family::Poisson { rate } => within(is_count(x), times_log(x, rate[k].ln()) - rate[k] - ln_gamma(x + 1.0)),
            Family::Exponential { rate } => within(x >= 0.0, rate[k].ln() - rate[k] * x),
            Family::Geometric { p } => within(is_count(x), p[k].ln() + times_log(x, (-p[k]).ln_1p())),
            Family::Gamma { shape, rate } => {
                let (a, b) = (shape[k], rate[k]);
                within(x >= 0.0, a * b.ln() - ln_gamma(a) + times_log(a - 1.0, x.ln()) - b * x)
            }
            Family::Binomial { trials, p } => {
                let n = *trials as f64;
                let choose = ln_gamma(n + 1.0) - ln_gamma(x + 1.0) - ln_gamma(n - x + 1.0);
                let value = choose + times_log(x, p[k].ln()) + times_log(n - x, (-p[k]).ln_1p());
                within(is_count(x) && x <= n, value)
            }
            Family::Categorical { shares } => {
                let ones = self.columns.iter().filter(|c| row[**c] == 1.0).count();
                let zeros = self.columns.iter().filter(|c| row[**c] == 0.0).count();
                let at = self.columns.iter().position(|c| row[*c] == 1.0).unwrap_or(0);
                within(ones == 1 && ones + zeros == self.columns.len(), shares[k][at].ln())
            }
            Family::Multinomial { shares, .. } => {
                let counts = || self.columns.iter().map(|c| row[*c]);
                let total: f64 = counts().sum();
                let terms = counts().zip(&shares[k]).map(|(x, p)| times_log(x, p.ln()) - ln_gamma(x + 1.0));
                // Frequencies of words need not be whole; log Γ carries the formula over.
                let inside = counts().all(|x| x >= 0.0 && x.is_finite());
                within(inside, ln_gamma(total + 1.0) + terms.sum::<f64>())
            }
        }
    }

    /// Fills its columns of a row of class k.
    pub(super) fn draw(&self, k: usize, draws: &mut Draws, row: &mut [f64]) {
        let x = match &self.family {
            Family::Constant { value } => *value,
            Family::Gaussian { mean, variance } => mean[k] + variance[k].sqrt() * draws.normal(),
            Family::Bernoulli { p } => f64::from(u8::from(draws.chance(p[k]))),
            Family::Poisson { rate } => draws.poisson(rate[k]),
            Family::Exponential { rate } => draws.exponential() / rate[k],
            Family::Geometric { p } => draws.geometric(p[k]),
            Family::Gamma { shape, rate } => draws.gamma(shape[k]) / rate[k],
            Family::Binomial { trials, p } => draws.binomial(*trials as f64, p[k]),
            Family::Categorical { shares } => {
                let mut u = draws.uniform();
                let passed = |p: &f64| {
                    u -= p;
                    u < 0.0
                };
                // Rounding may leave the draw beyond the last cumulative share: then it is the last level of positive
                // probability.
                let last = shares[k].iter().rposition(|p| *p > 0.0).unwrap_or(0);
                let chosen = shares[k].iter().position(passed).unwrap_or(last);
                self.columns.iter().enumerate().for_each(|(l, c)| row[*c] = f64::from(u8::from(l == chosen)));
                return;
            }
            Family::Multinomial { shares, mean_total } => {
                // Counts of a Poisson total are independent Poisson counts.
                for (column, share) in self.columns.iter().zip(&shares[k]) {
                    row[*column] = draws.poisson(mean_total[k] * share);
                }
                return;
            }
        };
        row[self.columns[0]] = x;
    }
}

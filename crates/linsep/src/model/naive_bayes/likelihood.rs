//! The mean negative log-likelihood at the estimates, from the statistics.

use super::FamilyChoice;
use super::estimate::{CHUNK, Estimates, runs_within};
use crate::numeric::{CompensatedSum, ln, ln_gamma, vectorised};
use rayon::prelude::*;

impl Estimates<'_> {
    /// `−Σ s log[π_y p(x|y)]/Σs`, without the factors of p that have no parameter.
    pub(super) fn objective(&self) -> f64 {
        let (weights, cols) = (self.statistics.weights(), self.statistics.n_cols());
        let total: f64 = weights.iter().sum();
        let mut sum = CompensatedSum::default();
        weights.iter().zip(&self.priors).for_each(|(n, p)| sum.add(-n * p.ln()));
        let chunks: Vec<CompensatedSum> = (0..cols.div_ceil(CHUNK))
            .into_par_iter()
            .map(|c| self.chunk(c * CHUNK..((c + 1) * CHUNK).min(cols)))
            .collect();
        chunks.into_iter().for_each(|c| sum.merge(c));
        sum.value() / total
    }

    fn chunk(&self, range: std::ops::Range<usize>) -> CompensatedSum {
        let cols = self.statistics.n_cols();
        let mut sum = CompensatedSum::default();
        for run in runs_within(self.layout, &range) {
            for k in 0..self.names.len() {
                if matches!(run.family, FamilyChoice::Multinomial | FamilyChoice::Categorical) {
                    let shares = &self.first[k * cols..(k + 1) * cols][run.columns.clone()];
                    let mut found = 0.0;
                    weighted_logs(&self.statistics.totals(k)[run.columns.clone()], shares, &mut found);
                    sum.add(-found);
                    continue;
                }
                for j in run.columns.clone().filter(|j| self.constant.binary_search(j).is_err()) {
                    sum.add(-self.log_likelihood(run.family, k, j));
                }
            }
        }
        sum
    }

    /// `Σ s log p(x|k)` of one column over the rows of a class.
    fn log_likelihood(&self, family: FamilyChoice, k: usize, j: usize) -> f64 {
        let (statistics, at) = (self.statistics, k * self.statistics.n_cols() + j);
        let (n, a) = (statistics.weights()[k], self.first[at]);
        let b = self.second.get(at).copied().unwrap_or(0.0);
        match family {
            FamilyChoice::Gaussian | FamilyChoice::GaussianShared => {
                -0.5 * (n * (2.0 * std::f64::consts::PI * b).ln() + statistics.squares(k, j) / b)
            }
            FamilyChoice::Bernoulli => successes(statistics.total(k, j), n, a, b),
            FamilyChoice::Binomial(trials) => successes(statistics.total(k, j), n * f64::from(trials), a, b),
            FamilyChoice::Poisson => statistics.total(k, j) * a.ln() - n * a,
            FamilyChoice::Exponential => -n * a.ln() - statistics.total(k, j) / a,
            // x·ln(1−p) + ln p with p = 1/(1+mean).
            FamilyChoice::Geometric => -statistics.total(k, j) * a.recip().ln_1p() - n * a.ln_1p(),
            FamilyChoice::Gamma => {
                n * (a * b.ln() - ln_gamma(a)) + (a - 1.0) * statistics.logarithms(k, j) - b * statistics.total(k, j)
            }
            // Summed run by run.
            FamilyChoice::Multinomial | FamilyChoice::Categorical => 0.0,
        }
    }
}

fn successes(hits: f64, trials: f64, p: f64, q: f64) -> f64 {
    hits * p.ln() + (trials - hits) * q.ln()
}

vectorised! {
    /// `Σ count·ln(share)`; a share of zero has a count of zero and adds nothing.
    fn weighted_logs(counts: &[f64], shares: &[f64], out: &mut f64) {
        let mut lanes = [0.0f64; 8];
        let ((counts, counts_left), (shares, shares_left)) = (counts.as_chunks::<8>(), shares.as_chunks::<8>());
        for (counts, shares) in counts.iter().zip(shares) {
            for ((lane, n), p) in lanes.iter_mut().zip(counts).zip(shares) {
                *lane = n.mul_add(ln(*p), *lane);
            }
        }
        for ((lane, n), p) in lanes.iter_mut().zip(counts_left).zip(shares_left) {
            *lane = n.mul_add(ln(*p), *lane);
        }
        *out = lanes.iter().sum();
    }
}

//! The Bayes error: that of the best possible rule.
//!
//! Two Gaussian classes with one covariance: `P_e = π₁Φ(−D/2 − L/D) + π₀Φ(−D/2 + L/D)` with D the Mahalanobis distance of
//! the means and `L = log π₁/π₀`. Otherwise `1 − E max_k P(k | x)`, the mean over drawn rows.

use super::check::numbered;
use super::gaussian::FactoredCovariance;
use super::{Covariance, DRAW_BLOCK, Densities, Density, Draws, Family, Gaussian, Likelihood, Marginal, Sampler};
use crate::error::Result;
use crate::linalg::{Square, factor};
use crate::numeric::{CompensatedSum, normal_cdf};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The Bayes error and how it was found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BayesError {
    /// The probability that the best rule is wrong.
    pub value: f64,
    /// How it was found.
    #[serde(flatten)]
    pub method: ErrorMethod,
}

/// How a Bayes error was found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case")]
pub enum ErrorMethod {
    /// A formula.
    ClosedForm,
    /// The mean over rows drawn with a seed.
    MonteCarlo {
        /// Rows drawn.
        draws: u64,
        /// Standard error of the mean.
        standard_error: f64,
        /// The seed.
        seed: u64,
    },
}

/// Multiplications that a Monte Carlo estimate may take: a fraction of a second. Chosen, out of reach of
/// bench/constants.md; its standard error is stated with it.
const WORK: usize = 200_000_000;
/// Draws allowed whatever they cost: a standard error of at most 0.016.
const FEWEST_DRAWS: usize = 1024;
/// Draws at most: a standard error of at most 0.0016.
const MOST_DRAWS: usize = 100 * 1024;

/// Streams of the rows drawn here start at 2⁶³, apart from those of data drawn with the same seed.
pub(super) const ERROR_STREAMS: u64 = 1 << 63;
/// A logarithm or a draw costs as much as this many multiplications. Chosen, out of reach of bench/constants.md.
const PER_DRAW: usize = 16;
/// On the unit-diagonal scale, pivots of the products of mean differences below this are combinations of others.
const DEPENDENT: f64 = 1e-12;

impl Densities {
    /// The Bayes error: in closed form for two Gaussian classes with one covariance, otherwise over rows drawn with the
    /// seed, as many as take a fraction of a second. Multinomial totals are drawn alike for all classes, as the rule ignores
    /// them.
    ///
    /// ```
    /// use linsep::density::{Covariance, Densities, Density, ErrorMethod, Gaussian};
    /// let gaussian = Gaussian { means: vec![vec![0.0], vec![2.0]], covariance: Covariance::Spherical(1.0) };
    /// let classes = Densities { priors: vec![0.5, 0.5], density: Density::Gaussian(gaussian) };
    /// let error = classes.bayes_error(0)?;
    /// assert!((error.value - 0.15865525393145707).abs() < 1e-15); // Φ(−1)
    /// assert_eq!(error.method, ErrorMethod::ClosedForm);
    /// # Ok::<(), linsep::Error>(())
    /// ```
    pub fn bayes_error(&self, seed: u64) -> Result<BayesError> {
        // Refuses what is no density before anything is computed from it.
        Likelihood::new(self)?;
        if let (Some(distance), [first, second]) = (self.two_gaussians_distance()?, &self.priors[..]) {
            let value = two_gaussians(*first, *second, distance);
            return Ok(BayesError { value, method: ErrorMethod::ClosedForm });
        }
        let (reduced, draws) = self.drawn_problem()?;
        reduced.as_ref().unwrap_or(self).bayes_error_by_draws(draws, seed)
    }

    /// The classes in the space that their means span, where they share a covariance, and how many rows to draw.
    pub(super) fn drawn_problem(&self) -> Result<(Option<Densities>, usize)> {
        let reduced = self.contrast_gram()?.map(|gram| self.reduced(&gram));
        let problem = reduced.as_ref().unwrap_or(self);
        let cols = problem.n_features();
        let per_row = match &problem.density {
            Density::Gaussian(Gaussian { covariance: Covariance::Own(_), .. }) => cols * cols,
            // A logarithm or a draw is worth some multiplications.
            _ => PER_DRAW * cols,
        };
        let draws = (WORK / (per_row * self.n_classes()).max(1)).clamp(FEWEST_DRAWS, MOST_DRAWS);
        Ok((reduced, draws.next_multiple_of(DRAW_BLOCK)))
    }

    /// The Mahalanobis distance of the means of two Gaussian classes that share a covariance.
    pub(super) fn two_gaussians_distance(&self) -> Result<Option<f64>> {
        Ok(self.contrast_gram()?.filter(|_| self.n_classes() == 2).map(|gram| gram.get(0, 0).sqrt()))
    }

    /// `1 − E max_k P(k | x)` over a given number of drawn rows, whether or not there is a formula.
    pub fn bayes_error_by_draws(&self, draws: usize, seed: u64) -> Result<BayesError> {
        let sampler = Sampler::new(&self.with_one_total())?;
        let likelihood = Likelihood::new(self)?;
        let draws = draws.max(2);
        let blocks: Vec<(CompensatedSum, CompensatedSum)> = (0..draws.div_ceil(DRAW_BLOCK))
            .into_par_iter()
            .map(|block| {
                let count = DRAW_BLOCK.min(draws - block * DRAW_BLOCK);
                let mut rows = vec![0.0; count * sampler.cols()];
                sampler.draw_rows(&mut Draws::new(seed, ERROR_STREAMS + block as u64), &mut rows, |_| ());
                let (mut sum, mut squares) = (CompensatedSum::default(), CompensatedSum::default());
                for error in likelihood.conditional_errors(&rows, count) {
                    sum.add(error);
                    squares.add(error * error);
                }
                (sum, squares)
            })
            .collect();
        let (mut sum, mut squares) = (CompensatedSum::default(), CompensatedSum::default());
        for (s, q) in blocks {
            sum.merge(s);
            squares.merge(q);
        }
        let n = draws as f64;
        let value = sum.value() / n;
        let variance = ((squares.value() / n - value * value) * n / (n - 1.0)).max(0.0);
        let standard_error = (variance / n).sqrt();
        Ok(BayesError { value, method: ErrorMethod::MonteCarlo { draws: draws as u64, standard_error, seed } })
    }

    /// `(μ_i−μ_0)ᵀΣ⁻¹(μ_j−μ_0)` for i, j ≥ 1 where Gaussian classes share a covariance: the error depends on these and the
    /// priors only.
    fn contrast_gram(&self) -> Result<Option<Square>> {
        let (means, solved): (Vec<Vec<f64>>, Vec<Vec<f64>>) = match &self.density {
            Density::Gaussian(gaussian) => {
                let factored = FactoredCovariance::new(gaussian, &numbered(self.n_classes()))?;
                let solved: Option<_> = (1..self.n_classes()).map(|k| factored.whitened_difference(k, 0)).collect();
                let Some(solved) = solved else { return Ok(None) };
                (gaussian.means.clone(), solved)
            }
            Density::Independent { marginals } => match one_variance(marginals, self.n_classes()) {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        let difference = |k: usize| means[k].iter().zip(&means[0]).map(|(a, b)| a - b);
        let entry = |i: usize, j: usize| difference(i + 1).zip(&solved[j]).map(|(d, s)| d * s).sum::<f64>();
        Ok(Some(Square::from_lower(self.n_classes() - 1, entry)))
    }

    /// The same classes in the space their means span, in which Σ is the identity: at most K − 1 columns, however many
    /// there were.
    fn reduced(&self, gram: &Square) -> Densities {
        // G = C Cᵀ: row j of C has the distances of mean j + 1 from the first.
        let factor = factor(gram, DEPENDENT);
        let rank = factor.rank().max(1);
        let mut means = vec![vec![0.0; rank]; self.n_classes()];
        let mut column = vec![0.0; gram.n()];
        for r in 0..factor.rank() {
            let unit: Vec<f64> = (0..factor.rank()).map(|i| f64::from(u8::from(i == r))).collect();
            factor.multiply_lower(&unit, &mut column);
            column.iter().enumerate().for_each(|(j, c)| means[j + 1][r] = *c);
        }
        let density = Density::Gaussian(Gaussian { means, covariance: Covariance::Spherical(1.0) });
        Densities { priors: self.priors.clone(), density }
    }

    /// The same classes with multinomial totals that carry no information about them.
    pub(super) fn with_one_total(&self) -> Densities {
        let mut alike = self.clone();
        if let Density::Independent { marginals } = &mut alike.density {
            for marginal in marginals {
                if let Family::Multinomial { mean_total, .. } = &mut marginal.family {
                    let average = self.priors.iter().zip(mean_total.iter()).map(|(p, t)| p * t).sum();
                    mean_total.fill(average);
                }
            }
        }
        alike
    }
}

/// The error of two Gaussians at distance D.
fn two_gaussians(first: f64, second: f64, distance: f64) -> f64 {
    if distance == 0.0 {
        return first.min(second);
    }
    let shift = (second.ln() - first.ln()) / distance;
    second * normal_cdf(-0.5 * distance - shift) + first * normal_cdf(-0.5 * distance + shift)
}

/// One vector for each class.
type Vectors = Vec<Vec<f64>>;

/// Means and `Σ⁻¹(μ_k−μ_0)` where every column is Gaussian with a variance that the classes share.
fn one_variance(marginals: &[Marginal], classes: usize) -> Option<(Vectors, Vectors)> {
    let mut means = vec![Vec::new(); classes];
    let mut solved = vec![Vec::new(); classes - 1];
    for marginal in marginals {
        let (mean, variance) = match &marginal.family {
            Family::Gaussian { mean, variance } => (mean, variance),
            Family::Constant { .. } => continue,
            _ => return None,
        };
        if variance.iter().any(|v| *v != variance[0]) {
            return None;
        }
        for (k, mean_k) in mean.iter().enumerate() {
            means[k].push(*mean_k);
            if k > 0 {
                solved[k - 1].push((mean_k - mean[0]) / variance[0]);
            }
        }
    }
    Some((means, solved))
}

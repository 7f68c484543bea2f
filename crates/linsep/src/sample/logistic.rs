//! The logistic model: a row first, then its class, `y ~ Bernoulli(σ(w·x + w₀))`.

use super::{FeatureLaw, Generator, Truth, check_cols, check_correlation};
use crate::density::{BayesError, DRAW_BLOCK, Draws, ErrorMethod, LinearForm, default_classes};
use crate::error::{Error, Result};
use crate::numeric::{CompensatedSum, logistic_terms};
use crate::table::Class;

/// Features of some law, and labels from the logistic model.
pub struct LogisticLabels {
    weights: Vec<f64>,
    intercept: f64,
    law: FeatureLaw,
    /// Of normal features the lower factor of the correlation matrix: below the diagonal a column has one number throughout.
    diagonal: Vec<f64>,
    below: Vec<f64>,
}

/// Draws for the Bayes error: a standard error of at most 0.0008. Only the score matters, so a row is one normal
/// number where features are normal.
const ERROR_DRAWS: usize = 400 * DRAW_BLOCK;

impl LogisticLabels {
    /// Refuses a correlation or an interval that is not possible.
    ///
    /// ```
    /// use linsep::sample::{FeatureLaw, LogisticLabels, Simulation};
    /// let labels = LogisticLabels::new(vec![1.0], -5.0, FeatureLaw::Uniform(0.0, 10.0))?;
    /// let (x, _) = Simulation::new(Box::new(labels), 100, 0)?.draw();
    /// assert!(x.iter().all(|x| (0.0..10.0).contains(x)));
    /// # Ok::<(), linsep::Error>(())
    /// ```
    pub fn new(weights: Vec<f64>, intercept: f64, law: FeatureLaw) -> Result<LogisticLabels> {
        check_cols(weights.len())?;
        let correlation = match law {
            FeatureLaw::Normal(correlation) => correlation,
            FeatureLaw::Uniform(low, high) if low < high && (high - low).is_finite() => 0.0,
            FeatureLaw::Uniform(low, high) => {
                return Err(Error::usage(format!("there are no numbers between {low} and {high}"))
                    .help("give the smaller one first"));
            }
        };
        check_correlation(correlation, weights.len())?;
        if !weights.iter().chain([&intercept]).all(|w| w.is_finite()) {
            return Err(Error::usage("weights and intercept must be finite"));
        }
        // Cholesky of (1−ρ)I + ρ11ᵀ: column j is l_j on the diagonal and m_j below.
        let (mut diagonal, mut below, mut used) = (Vec::new(), Vec::new(), 0.0);
        for _ in 0..weights.len() {
            let pivot: f64 = f64::sqrt(1.0 - used);
            let entry = (correlation - used) / pivot;
            diagonal.push(pivot);
            below.push(entry);
            used += entry * entry;
        }
        Ok(LogisticLabels { weights, intercept, law, diagonal, below })
    }

    fn score(&self, row: &[f64]) -> f64 {
        self.intercept + row.iter().zip(&self.weights).map(|(x, w)| x * w).sum::<f64>()
    }

    /// `E min(σ(z), 1−σ(z))` of the score z, which is normal where the features are.
    fn bayes_error(&self, seed: u64) -> BayesError {
        let sum: f64 = self.weights.iter().sum();
        let squares: f64 = self.weights.iter().map(|w| w * w).sum();
        let score = |draws: &mut Draws| match self.law {
            FeatureLaw::Normal(correlation) => {
                let sd = ((1.0 - correlation) * squares + correlation * sum * sum).max(0.0).sqrt();
                self.intercept + sd * draws.normal()
            }
            FeatureLaw::Uniform(low, high) => {
                let terms = self.weights.iter().map(|w| w * (low + (high - low) * draws.uniform()));
                self.intercept + terms.sum::<f64>()
            }
        };
        // The stream after all that data may use.
        let mut draws = Draws::new(seed, u64::MAX);
        let (mut total, mut total_squares) = (CompensatedSum::default(), CompensatedSum::default());
        for _ in 0..ERROR_DRAWS {
            let error = logistic_terms(score(&mut draws).abs()).q;
            total.add(error);
            total_squares.add(error * error);
        }
        let n = ERROR_DRAWS as f64;
        let value = total.value() / n;
        let standard_error = ((total_squares.value() / n - value * value).max(0.0) / (n - 1.0)).sqrt();
        BayesError { value, method: ErrorMethod::MonteCarlo { draws: ERROR_DRAWS as u64, standard_error, seed } }
    }
}

impl Generator for LogisticLabels {
    fn kind(&self) -> &str {
        "logistic"
    }

    fn cols(&self) -> usize {
        self.weights.len()
    }

    fn classes(&self) -> Vec<String> {
        default_classes(2)
    }

    fn fill(&self, _first: u64, draws: &mut Draws, values: &mut [f64], classes: &mut [Class]) {
        for (row, class) in values.chunks_exact_mut(self.cols()).zip(classes) {
            match self.law {
                FeatureLaw::Normal(_) => {
                    let mut common = 0.0;
                    for ((x, l), m) in row.iter_mut().zip(&self.diagonal).zip(&self.below) {
                        let z = draws.normal();
                        *x = common + l * z;
                        common += m * z;
                    }
                }
                FeatureLaw::Uniform(low, high) => {
                    row.iter_mut().for_each(|x| *x = low + (high - low) * draws.uniform());
                }
            }
            *class = Class(u32::from(draws.chance(logistic_terms(self.score(row)).p)));
        }
    }

    fn truth(&self, seed: u64) -> Result<Truth> {
        let rule = LinearForm { weights: vec![self.weights.clone()], intercept: vec![self.intercept] };
        let truth = Truth {
            bayes_error: Some(self.bayes_error(seed)),
            feature_correlation: match self.law {
                FeatureLaw::Normal(correlation) => Some(correlation),
                _ => None,
            },
            feature_law: match self.law {
                FeatureLaw::Normal(_) => None,
                law => Some(law),
            },
            ..Truth::default()
        };
        Ok(truth.with_rule(Some(rule)))
    }
}

//! The logistic model: a row first, then its class, `y ~ Bernoulli(σ(w·x + w₀))`.

use super::classes::class_at;
use super::ideal::{Expected, Means};
use super::law::Features;
use super::{FeatureLaw, Generator, OwnRows, Truth};
use crate::density::{DRAW_BLOCK, Draws, LinearForm, default_classes};
use crate::error::{Error, Result};
use crate::numeric::logistic_terms;
use crate::table::Class;

/// Features of some law, and labels from the logistic model.
pub struct LogisticLabels {
    weights: Vec<f64>,
    intercept: f64,
    features: Features,
    counts: Option<Vec<u64>>,
}

/// Draws for the Bayes error: a standard error of at most 0.0008. Only the score matters, so a row is one normal
/// number where features are normal.
const ERROR_DRAWS: usize = 400 * DRAW_BLOCK;
/// Rows of a fixed class are drawn until one is of it: below this probability that would take too long. Chosen; nothing else
/// depends on it.
const RAREST: f64 = 1e-3;

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
        let features = Features::new(law, weights.len())?;
        check_plane(&weights, intercept)?;
        Ok(LogisticLabels { weights, intercept, features, counts: None })
    }

    /// The same at the rows of a table.
    pub fn at_rows(weights: Vec<f64>, intercept: f64, own: OwnRows) -> Result<LogisticLabels> {
        check_plane(&weights, intercept)?;
        check_width(&weights, &own)?;
        Ok(LogisticLabels { weights, intercept, features: Features::of_rows(own)?, counts: None })
    }

    /// The same with so many rows of each class, one class after the other. Among such rows the log-odds have another
    /// intercept: `w₀ + log n₁/n₀ − log P(1)/P(0)`.
    pub fn with_counts(self, counts: Vec<u64>) -> Result<LogisticLabels> {
        if counts.len() != 2 || counts.contains(&0) {
            return Err(Error::usage("the logistic model has two classes").help("give two counts above zero"));
        }
        if self.features.own().is_some() {
            return Err(Error::usage("rows of a table have the classes that they are drawn to have")
                .help("leave the counts out"));
        }
        let share = self.expected(0).share.value();
        if !(share.min(1.0 - share) > RAREST) {
            return Err(Error::usage(format!(
                "a class of probability {:.1e} is too rare for a fixed number of its rows",
                share.min(1.0 - share)
            ))
            .help("choose another intercept, or leave the counts out"));
        }
        Ok(LogisticLabels { counts: Some(counts), ..self })
    }

    fn score(&self, row: &[f64]) -> f64 {
        score(&self.weights, self.intercept, row)
    }

    /// Means over the score z, which is normal where the features are, or over the rows of a table.
    fn expected(&self, seed: u64) -> LogisticMeans {
        let mut means = LogisticMeans::default();
        if let Some(own) = self.features.own() {
            own.values.chunks_exact(self.weights.len()).for_each(|row| means.add(self.score(row)));
            return means;
        }
        let sum: f64 = self.weights.iter().sum();
        let squares: f64 = self.weights.iter().map(|w| w * w).sum();
        // The stream after all that data may use.
        let mut draws = Draws::new(seed, u64::MAX);
        let mut row = vec![0.0; self.weights.len()];
        for _ in 0..ERROR_DRAWS {
            means.add(match self.features.law() {
                FeatureLaw::Normal(correlation) => {
                    let sd = ((1.0 - correlation) * squares + correlation * sum * sum).max(0.0).sqrt();
                    self.intercept + sd * draws.normal()
                }
                FeatureLaw::Uniform(low, high) => {
                    let terms = self.weights.iter().map(|w| w * (low + (high - low) * draws.uniform()));
                    self.intercept + terms.sum::<f64>()
                }
                _ => {
                    self.features.fill(0, &mut draws, &mut row);
                    self.score(&row)
                }
            });
        }
        means
    }
}

/// Means over rows: the error of the best rule, the probability of the second class, and the losses of the true probabilities.
#[derive(Default)]
struct LogisticMeans {
    error: Means,
    share: Means,
    squared_error: Means,
    cross_entropy: Means,
}

impl LogisticMeans {
    fn add(&mut self, z: f64) {
        let terms = logistic_terms(z.abs());
        // H(p) = log(1 + e^−|z|) + |z|(1 − p).
        let entropy = f64::ln_1p((-z.abs()).exp()) + if terms.q > 0.0 { z.abs() * terms.q } else { 0.0 };
        self.error.add(terms.q);
        self.share.add(logistic_terms(z).p);
        self.squared_error.add(terms.p * terms.q);
        self.cross_entropy.add(entropy);
    }
}

/// Weights and intercept that are numbers.
pub(super) fn check_plane(weights: &[f64], intercept: f64) -> Result<()> {
    match weights.iter().chain([&intercept]).all(|w| w.is_finite()) {
        true => Ok(()),
        false => Err(Error::usage("weights and intercept must be finite")),
    }
}

/// A weight for every column of a table.
pub(super) fn check_width(weights: &[f64], own: &OwnRows) -> Result<()> {
    let (given, cols) = (weights.len(), own.features.len());
    match given == cols {
        true => Ok(()),
        false => Err(Error::usage(format!("{given} weights for the {cols} columns of `{}`", own.name))
            .help(format!("give one for every column: {}", own.features.join(", ")))),
    }
}

/// `w₀ + w·x`.
pub(super) fn score(weights: &[f64], intercept: f64, row: &[f64]) -> f64 {
    intercept + row.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>()
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

    fn features(&self) -> Vec<String> {
        self.features.names().to_vec()
    }

    fn fill(&self, first: u64, draws: &mut Draws, values: &mut [f64], classes: &mut [Class]) {
        for (i, (row, class)) in values.chunks_exact_mut(self.cols()).zip(classes).enumerate() {
            let number = first + i as u64;
            let fixed = self.counts.as_deref().and_then(|counts| class_at(counts, number));
            loop {
                self.features.fill(number, draws, row);
                *class = Class(u32::from(draws.chance(logistic_terms(self.score(row)).p)));
                if fixed.is_none_or(|wanted| wanted == *class) {
                    break;
                }
            }
        }
    }

    fn truth(&self, seed: u64) -> Result<Truth> {
        let rule = LinearForm { weights: vec![self.weights.clone()], intercept: vec![self.intercept] };
        let means = self.expected(seed);
        let of = match self.features.own() {
            Some(_) => Expected::Exact,
            None => Expected::Drawn(seed),
        };
        let law = self.features.law();
        let shifted = self.counts.as_ref().map(|counts| {
            let share = means.share.value();
            self.intercept + (counts[1] as f64 / counts[0] as f64).ln() - (share / (1.0 - share)).ln()
        });
        let truth = Truth {
            // With fixed counts the shares of the classes are others, and so are the errors.
            bayes_error: self.counts.is_none().then(|| of.result(&means.error)),
            ideal_squared_error: self.counts.is_none().then(|| of.result(&means.squared_error)),
            ideal_cross_entropy: self.counts.is_none().then(|| of.result(&means.cross_entropy)),
            feature_correlation: match law {
                FeatureLaw::Normal(correlation) => Some(*correlation),
                _ => None,
            },
            feature_law: match law {
                FeatureLaw::Normal(_) => None,
                law => Some(law.clone()),
            },
            counts: self.counts.clone(),
            sample_intercept: shifted,
            ..Truth::default()
        };
        Ok(truth.with_rule(Some(rule)))
    }
}

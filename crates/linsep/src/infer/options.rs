//! What is asked of inference.

use crate::design::Training;
use crate::error::{Error, Result};
use crate::options::options;
use crate::words::{Setting, words};
use serde::{Deserialize, Serialize};

/// How the intervals of coefficients are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IntervalKind {
    /// Estimate ± a quantile times the standard error.
    #[default]
    Wald,
    /// All values that the likelihood ratio test does not reject.
    Profile,
}

/// Where standard errors come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CovarianceKind {
    /// The inverse of the information: right if the model is.
    #[default]
    Model,
    /// The sandwich with `(y−p)²`.
    Hc0,
    /// The same times `n/(n−k)`.
    Hc1,
    /// With `(y−p)²/(1−h)`, h the leverage.
    Hc2,
    /// With `(y−p)²/(1−h)²`.
    Hc3,
    /// Sums within clusters of rows, times `G/(G−1)`.
    Cluster,
}

impl CovarianceKind {
    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            CovarianceKind::Model => "model",
            CovarianceKind::Hc0 => "hc0",
            CovarianceKind::Hc1 => "hc1",
            CovarianceKind::Hc2 => "hc2",
            CovarianceKind::Hc3 => "hc3",
            CovarianceKind::Cluster => "cluster",
        }
    }
}

/// What is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EstimatorKind {
    /// Maximum likelihood.
    #[default]
    Likelihood,
    /// The maximum of `ℓ + ½ log det I` (Firth 1993): finite also where rows are separated.
    Firth,
    /// The same estimates, as those of reduced mean bias: with Wald tests and intervals.
    #[serde(rename = "mean bias reduced")]
    MeanReduced,
    /// Estimates that are above and below the truth about equally often, with Wald tests and intervals.
    #[serde(rename = "median bias reduced")]
    MedianReduced,
}

impl EstimatorKind {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            EstimatorKind::Likelihood => "maximum likelihood",
            EstimatorKind::Firth => "firth",
            EstimatorKind::MeanReduced => "mean bias reduced",
            EstimatorKind::MedianReduced => "median bias reduced",
        }
    }
}

/// Which p values of coefficients are corrected for their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Adjustment {
    /// Holm: the chance of any false rejection.
    Holm,
    /// Benjamini and Hochberg: the share of false rejections.
    Bh,
}

options! {
/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct InferenceOptions {
    /// The share of samples in which an interval covers the truth.
    pub level: f64,
    /// How intervals are made.
    pub interval: IntervalKind,
    /// Where standard errors come from.
    pub covariance: CovarianceKind,
    /// What is estimated.
    pub estimator: EstimatorKind,
    /// Hypotheses: `age`, `age, bmi`, `age - 2*bmi = 0`.
    pub tests: Vec<String>,
    /// Correction of p values.
    pub adjust: Option<Adjustment>,
    /// Whether there is an intercept.
    pub intercept: bool,
    /// Values of every row: fitted probabilities, residuals, leverages.
    pub rows: bool,
    /// Average marginal effects.
    pub effects: bool,
    /// Condition indices of the columns.
    pub collinearity: bool,
    /// Seed of quantile residuals.
    pub seed: u64,
}
}

impl Default for InferenceOptions {
    fn default() -> InferenceOptions {
        InferenceOptions {
            level: 0.95,
            interval: IntervalKind::default(),
            covariance: CovarianceKind::default(),
            estimator: EstimatorKind::default(),
            tests: Vec::new(),
            adjust: None,
            intercept: true,
            rows: false,
            effects: false,
            collinearity: false,
            seed: 0,
        }
    }
}

/// A level is between 0 and 1.
pub(crate) fn check_level(level: f64) -> Result<()> {
    match level > 0.0 && level < 1.0 {
        true => Ok(()),
        false => Err(Error::usage(words![Setting::Level.is(level.to_string()), " is not between 0 and 1"])
            .help("0.95 covers the truth in 95 of 100 samples")),
    }
}

impl InferenceOptions {
    pub(super) fn check(&self) -> Result<()> {
        check_level(self.level)?;
        let robust = self.covariance != CovarianceKind::Model;
        if robust && self.interval == IntervalKind::Profile {
            return Err(Error::usage(
                "a profile interval rests on the likelihood, which a robust covariance does not trust",
            )
            .help(words!["leave ", Setting::Covariance, " out"])
            .help(words!["use ", Setting::Interval.is("wald")]));
        }
        if robust && self.estimator == EstimatorKind::Firth {
            return Err(Error::usage("there is no robust covariance of Firth's estimates").help(words![
                "leave ",
                Setting::Covariance,
                " out"
            ]));
        }
        Ok(())
    }
}

/// Whole numbers, and no more rows than can be told apart from one more: beyond 2⁵³ a number of rows is not a whole number.
pub(super) fn check_frequencies(training: &Training<'_>) -> Result<()> {
    if training.weights.is_some_and(|w| w.iter().any(|s| s.fract() != 0.0)) {
        return Err(Error::data("weights that are not whole numbers are not frequencies: there is no number of rows")
            .help("write a row of weight k as k rows, or leave the weights out"));
    }
    let total = training.total_weight();
    if !(total < (1u64 << f64::MANTISSA_DIGITS) as f64) {
        return Err(Error::data(format!("weights that add up to {total:.1e} are no numbers of rows"))
            .help("give smaller weights: they are frequencies"));
    }
    Ok(())
}

//! Flags that say what known classes look like: of `simulate`, and of `study`.

use clap::Args;
use linsep::sample::{
    Classes, FeatureLaw, Generator, LogisticLabels, bernoulli_classes, gaussian_classes, generator_of, poisson_classes,
};
use linsep::{Error, Result};
use std::path::Path;

/// More columns than this make a covariance or a line of text that nobody wants by accident.
const MOST_COLUMNS: usize = 10_000;
/// More classes than this are a mistake.
const MOST_CLASSES: usize = 1000;

/// What the classes look like.
#[derive(Args)]
pub struct KnownClasses {
    /// Number of classes (default: 2)
    #[arg(long, value_name = "K", help_heading = "Classes")]
    pub classes: Option<usize>,

    /// Number of features (default: 2)
    #[arg(long, visible_alias = "dim", value_name = "D", help_heading = "Classes")]
    pub features: Option<usize>,

    /// Prior probabilities of the classes (default: equal)
    #[arg(long, value_name = "P", value_delimiter = ',', help_heading = "Classes")]
    pub priors: Option<Vec<f64>>,

    /// Distance between neighbouring classes (default: 2)
    #[arg(long, value_name = "D", allow_negative_numbers = true, help_heading = "Classes")]
    pub distance: Option<f64>,

    /// Correlation of every two features (default: 0)
    #[arg(long, value_name = "R", allow_negative_numbers = true, help_heading = "Classes")]
    pub correlation: Option<f64>,

    /// Weights of the plane (default: equal, of length 2 for logistic and 1 for separable)
    #[arg(long, value_name = "W", value_delimiter = ',', allow_negative_numbers = true, help_heading = "Classes")]
    pub weights: Option<Vec<f64>>,

    /// Intercept of the plane (default: 0)
    #[arg(long, value_name = "B", allow_negative_numbers = true, help_heading = "Classes")]
    pub intercept: Option<f64>,
}

impl KnownClasses {
    /// Columns of a row.
    pub fn cols(&self) -> Result<usize> {
        match self.features.unwrap_or(2) {
            cols if cols > MOST_COLUMNS => {
                Err(Error::usage(format!("{cols} features")).help(format!("choose at most {MOST_COLUMNS}")))
            }
            cols => Ok(cols),
        }
    }

    fn apart(&self) -> f64 {
        self.distance.unwrap_or(2.0)
    }

    /// Gaussian classes that share a covariance.
    pub fn gaussian(&self, priors: Vec<f64>) -> Result<Classes> {
        gaussian_classes(priors, self.cols()?, self.apart(), self.correlation.unwrap_or(0.0))
    }

    /// Independent Poisson counts.
    pub fn poisson(&self, priors: Vec<f64>) -> Result<Classes> {
        poisson_classes(priors, self.cols()?, self.apart())
    }

    /// Independent zeros and ones.
    pub fn bernoulli(&self, priors: Vec<f64>) -> Result<Classes> {
        bernoulli_classes(priors, self.cols()?, self.apart())
    }

    /// Gaussian features, labels from the logistic model.
    pub fn logistic(&self) -> Result<LogisticLabels> {
        let (weights, intercept) = self.plane(2.0)?;
        LogisticLabels::new(weights, intercept, FeatureLaw::Normal(self.correlation.unwrap_or(0.0)))
    }

    /// Priors of the classes, equal unless they are given.
    pub fn class_priors(&self) -> Result<Vec<f64>> {
        match (&self.priors, self.classes) {
            (Some(priors), Some(classes)) if priors.len() != classes => {
                Err(Error::usage(format!("{} priors for {classes} classes", priors.len()))
                    .help("give one for every class")
                    .help("leave out --classes"))
            }
            (Some(priors), _) => Ok(priors.clone()),
            (None, classes) => match classes.unwrap_or(2) {
                k @ 2..=MOST_CLASSES => Ok(vec![1.0 / k as f64; k]),
                k => Err(Error::usage(format!("--classes {k}")).help(format!("choose from 2 to {MOST_CLASSES}"))),
            },
        }
    }

    /// Weights and intercept, or equal weights of a length.
    pub fn plane(&self, length: f64) -> Result<(Vec<f64>, f64)> {
        self.plane_of(length, self.features.or(self.weights.as_ref().map(Vec::len)).unwrap_or(2))
    }

    /// The same for so many columns.
    pub fn plane_of(&self, length: f64, cols: usize) -> Result<(Vec<f64>, f64)> {
        let weights = match &self.weights {
            Some(weights) if weights.len() != cols => {
                return Err(Error::usage(format!("{} weights for {cols} features", weights.len()))
                    .help("give one for every feature")
                    .help("leave out --features"));
            }
            Some(weights) => weights.clone(),
            None => vec![length / (cols as f64).sqrt(); cols],
        };
        Ok((weights, self.intercept.unwrap_or(0.0)))
    }
}

/// What a file of parameters, or the truth beside other rows, says is to be drawn.
pub fn generator_of_file(path: &Path) -> Result<Box<dyn Generator>> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|e| Error::io(&name, &e))?;
    Ok(generator_of(&bytes, &name, true)?.generator)
}

//! A class by its prior, then a row of that class.
//!
//! The ready-made classes lie on a line. Neighbours are `distance` apart: for Gaussian classes that is the Mahalanobis
//! distance of their means, for counts and zeros and ones the same after the transformation that makes their variance
//! nearly constant (twice the square root, twice the arcsine of the square root).

use super::{Generator, Truth, check_cols, check_correlation, equal_correlation};
use crate::density::{
    Covariance, Densities, Density, Draws, Family, Gaussian, Marginal, Sampler, default_classes, default_features,
};
use crate::error::{Error, Result};
use crate::table::Class;
use crate::words::{Setting, words};
use std::f64::consts::FRAC_PI_4;

/// Priors may miss a sum of one by this, as in `density::check`.
const SUM: f64 = 1e-9;

/// Rows of classes with given densities.
pub struct Classes {
    kind: String,
    densities: Densities,
    classes: Vec<String>,
    features: Vec<String>,
    sampler: Sampler,
    /// How many rows of each class come first, one class after the other; rows beyond are drawn by the priors.
    counts: Option<Vec<u64>>,
}

impl Classes {
    /// Refuses densities that are none, and names that do not fit them.
    pub fn new(kind: &str, densities: Densities, classes: Vec<String>, features: Vec<String>) -> Result<Classes> {
        let sampler = Sampler::new(&densities)?;
        if classes.len() != densities.n_classes() || features.len() != densities.n_features() {
            return Err(Error::data("the names of classes and features do not fit the densities"));
        }
        Ok(Classes { kind: kind.to_owned(), densities, classes, features, sampler, counts: None })
    }

    /// The same with so many rows of each class, in the order of the classes; the priors are then their shares.
    ///
    /// ```
    /// use linsep::sample::{Simulation, gaussian_classes};
    /// let classes = gaussian_classes(vec![0.5, 0.5], 2, 2.0, 0.0)?.with_counts(vec![25, 75])?;
    /// let (_, labels) = Simulation::new(Box::new(classes), 100, 0)?.draw();
    /// assert_eq!(labels.iter().filter(|c| c.0 == 1).count(), 75);
    /// # Ok::<(), linsep::Error>(())
    /// ```
    pub fn with_counts(self, counts: Vec<u64>) -> Result<Classes> {
        if counts.len() != self.classes.len() {
            return Err(Error::usage(format!("{} counts for {} classes", counts.len(), self.classes.len()))
                .help("give one for every class"));
        }
        if counts.contains(&0) {
            return Err(Error::usage("a class without rows").help("give every class at least one"));
        }
        let total = counts.iter().sum::<u64>() as f64;
        let priors = counts.iter().map(|n| *n as f64 / total).collect();
        let densities = Densities { priors, density: self.densities.density };
        let classes = Classes::new(&self.kind, densities, self.classes, self.features)?;
        Ok(Classes { counts: Some(counts), ..classes })
    }

    fn unnamed(kind: &str, densities: Densities) -> Result<Classes> {
        let (classes, features) = (default_classes(densities.n_classes()), default_features(densities.n_features()));
        Classes::new(kind, densities, classes, features)
    }

    /// What the classes look like.
    pub fn densities(&self) -> &Densities {
        &self.densities
    }
}

impl Generator for Classes {
    fn kind(&self) -> &str {
        &self.kind
    }

    fn cols(&self) -> usize {
        self.sampler.cols()
    }

    fn classes(&self) -> Vec<String> {
        self.classes.clone()
    }

    fn features(&self) -> Vec<String> {
        self.features.clone()
    }

    fn fill(&self, first: u64, draws: &mut Draws, values: &mut [f64], classes: &mut [Class]) {
        if let Some(counts) = &self.counts {
            for (i, (row, slot)) in values.chunks_exact_mut(self.cols()).zip(classes).enumerate() {
                *slot = match class_at(counts, first + i as u64) {
                    Some(class) => {
                        self.sampler.draw_row_of(class.index(), draws, row);
                        class
                    }
                    None => Class(self.sampler.draw(draws, row) as u32),
                };
            }
            return;
        }
        let mut next = classes.iter_mut();
        self.sampler.draw_rows(draws, values, |class| {
            if let Some(slot) = next.next() {
                *slot = Class(class as u32);
            }
        });
    }

    fn truth(&self, seed: u64) -> Result<Truth> {
        Ok(Truth { counts: self.counts.clone(), ..Truth::of(&self.densities, seed)? })
    }
}

/// The class of a row where classes come one after the other; `None` beyond all of them.
pub(super) fn class_at(counts: &[u64], row: u64) -> Option<Class> {
    let ends = counts.iter().scan(0, |end, n| {
        *end += n;
        Some(*end)
    });
    ends.into_iter().position(|end| row < end).map(|k| Class(k as u32))
}

/// Positions of the classes on their line, in distances from the first.
fn check_line(priors: &[f64], cols: usize, distance: f64) -> Result<()> {
    check_cols(cols)?;
    if !(distance >= 0.0 && distance.is_finite()) {
        return Err(Error::usage(format!("classes cannot be {distance} apart")).help(words![
            "choose ",
            Setting::Distance,
            " from 0"
        ]));
    }
    let sum: f64 = priors.iter().sum();
    if priors.len() < 2 {
        return Err(Error::usage(format!("{} classes", priors.len())).help("there are at least two"));
    }
    if !priors.iter().all(|p| *p > 0.0) || !((sum - 1.0).abs() <= SUM) {
        return Err(Error::usage(format!("the priors must be positive and sum to one; they sum to {sum}"))
            .help(words!["for example ", Setting::Priors.is("0.2,0.8")]));
    }
    Ok(())
}

/// Gaussian classes with unit variances and one correlation between every two columns, their means along (1, …, 1).
pub fn gaussian_classes(priors: Vec<f64>, cols: usize, distance: f64, correlation: f64) -> Result<Classes> {
    check_line(&priors, cols, distance)?;
    check_correlation(correlation, cols)?;
    // (1, …, 1) has squared length d/(1 + (d−1)ρ) in the metric of Σ⁻¹.
    let d = cols as f64;
    let step = distance * ((1.0 + (d - 1.0) * correlation) / d).sqrt();
    let middle = (priors.len() as f64 - 1.0) / 2.0;
    let means = (0..priors.len()).map(|k| vec![(k as f64 - middle) * step; cols]).collect();
    let covariance = Covariance::Shared(equal_correlation(correlation, cols));
    Classes::unnamed("gaussian", Densities { priors, density: Density::Gaussian(Gaussian { means, covariance }) })
}

/// Independent Poisson counts: mean 1 in the first class, larger in each that follows.
pub fn poisson_classes(priors: Vec<f64>, cols: usize, distance: f64) -> Result<Classes> {
    check_line(&priors, cols, distance)?;
    let step = distance / (2.0 * (cols as f64).sqrt());
    let rate: Vec<f64> = (0..priors.len()).map(|k| (1.0 + k as f64 * step).powi(2)).collect();
    let marginal = |j: usize| Marginal { columns: vec![j], family: Family::Poisson { rate: rate.clone() } };
    let density = Density::Independent { marginals: (0..cols).map(marginal).collect() };
    Classes::unnamed("poisson", Densities { priors, density })
}

/// Independent zeros and ones, their probabilities symmetric about ½.
pub fn bernoulli_classes(priors: Vec<f64>, cols: usize, distance: f64) -> Result<Classes> {
    check_line(&priors, cols, distance)?;
    let step = distance / (2.0 * (cols as f64).sqrt());
    let middle = (priors.len() as f64 - 1.0) / 2.0;
    if middle * step >= FRAC_PI_4 {
        let furthest = FRAC_PI_4 / middle * 2.0 * (cols as f64).sqrt();
        let (classes, message) = (priors.len(), format!("with {cols} columns of zeros and ones"));
        return Err(Error::usage(format!("{classes} classes cannot be {distance} apart {message}"))
            .help(words!["choose ", Setting::Distance, format!(" below {furthest:.3}")])
            .help("choose more columns"));
    }
    let p: Vec<f64> = (0..priors.len()).map(|k| (FRAC_PI_4 + (k as f64 - middle) * step).sin().powi(2)).collect();
    let marginal = |j: usize| Marginal { columns: vec![j], family: Family::Bernoulli { p: p.clone() } };
    let density = Density::Independent { marginals: (0..cols).map(marginal).collect() };
    Classes::unnamed("bernoulli", Densities { priors, density })
}

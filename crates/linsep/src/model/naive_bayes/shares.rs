//! The parts of naive Bayes scores that belong to single columns, found again from the densities of a model.

use super::FamilyChoice;
use super::score::log_ratio;
use crate::density::{Densities, Density, Family};

/// The constant that each column adds to each score, score by score, so that what is left of an intercept is the log-odds
/// of the priors (two classes) or the logarithm of a prior. `centre` is that of the discriminants. `None` where the densities
/// are not of columns that are independent.
pub(crate) fn column_constants(densities: &Densities, centre: &[f64]) -> Option<Vec<f64>> {
    let Density::Independent { marginals } = &densities.density else { return None };
    let (classes, cols) = (densities.n_classes(), centre.len());
    let scores = if classes == 2 { 1 } else { classes };
    let mut constants = vec![0.0; scores * cols];
    for marginal in marginals {
        // Shares of levels and of counts have no constants.
        let Some((family, parameters)) = of_ratio(&marginal.family, classes) else { continue };
        let column = *marginal.columns.first().filter(|c| **c < cols)?;
        // As the scores have it: the first of two classes, or the average class, a Gaussian one about the centre.
        let average = |of: fn(&(f64, f64)) -> f64| {
            let first = of(&parameters[0]);
            first + parameters.iter().map(|p| of(p) - first).sum::<f64>() / classes as f64
        };
        let reference = match classes {
            2 => parameters[0],
            _ if family.is_gaussian() => (centre[column], average(|p| p.1)),
            _ => (average(|p| p.0), average(|p| p.1)),
        };
        for score in 0..scores {
            let own = parameters[if classes == 2 { 1 } else { score }];
            constants[score * cols + column] = log_ratio(family, own, reference, centre[column]).constant;
        }
    }
    constants.iter().all(|c| c.is_finite()).then_some(constants)
}

/// A family of single columns with the parameters of its classes, as [`log_ratio`] takes them.
fn of_ratio(family: &Family, classes: usize) -> Option<(FamilyChoice, Vec<(f64, f64)>)> {
    let with = |first: &[f64], second: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> {
        first.iter().enumerate().take(classes).map(|(k, p)| (*p, second(k))).collect()
    };
    let inverse = |values: &[f64]| values.iter().map(|v| v.recip()).collect::<Vec<f64>>();
    let shared = |variance: &[f64]| variance.iter().all(|v| *v == variance[0]);
    let found = match family {
        Family::Gaussian { mean, variance } if shared(variance) => {
            (FamilyChoice::GaussianShared, with(mean, &|k| variance[k]))
        }
        Family::Gaussian { mean, variance } => (FamilyChoice::Gaussian, with(mean, &|k| variance[k])),
        Family::Bernoulli { p } => (FamilyChoice::Bernoulli, with(p, &|k| 1.0 - p[k])),
        Family::Binomial { trials, p } => {
            (FamilyChoice::Binomial(u32::try_from(*trials).ok()?), with(p, &|k| 1.0 - p[k]))
        }
        Family::Poisson { rate } => (FamilyChoice::Poisson, with(rate, &|_| 0.0)),
        Family::Exponential { rate } => (FamilyChoice::Exponential, with(&inverse(rate), &|_| 0.0)),
        // The mean of failures before a success is (1 − p)/p.
        Family::Geometric { p } => {
            (FamilyChoice::Geometric, with(&p.iter().map(|p| (1.0 - p) / p).collect::<Vec<f64>>(), &|_| 0.0))
        }
        Family::Gamma { shape, rate } => (FamilyChoice::Gamma, with(shape, &|k| rate[k])),
        Family::Constant { .. } | Family::Categorical { .. } | Family::Multinomial { .. } => return None,
    };
    (found.1.len() == classes).then_some(found)
}

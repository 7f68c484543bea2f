//! Prior probabilities of the classes: given, or the observed shares.

use super::Method;
use crate::error::{Error, Result};
use crate::words::{Setting, words};

/// Priors may miss a sum of one by this: decimals printed with ten digits.
const SUM: f64 = 1e-9;

/// The priors in the order of the classes; given ones must be positive and sum to one.
pub(super) fn priors(given: Option<&[f64]>, weights: &[f64], names: &[String]) -> Result<Vec<f64>> {
    let Some(priors) = given else {
        let total: f64 = weights.iter().sum();
        return Ok(weights.iter().map(|w| w / total).collect());
    };
    let sum: f64 = priors.iter().sum();
    if priors.len() != weights.len() {
        return Err(Error::usage(format!("{} priors for {} classes", priors.len(), weights.len()))
            .help(format!("one for each of: {}", names.join(", "))));
    }
    if priors.iter().any(|p| p.is_nan() || *p <= 0.0) || (sum - 1.0).abs() > SUM {
        return Err(Error::usage(format!("the priors must be positive and sum to one; they sum to {sum}"))
            .help(words!["for example ", Setting::Priors.is("a=0.2,b=0.8")]));
    }
    Ok(priors.to_vec())
}

impl Method {
    /// The priors that a fit goes by: given ones, else the shares of these weights of the classes.
    pub fn learned_priors(&self, weights: &[f64]) -> Vec<f64> {
        if let Method::Given(rule) = self {
            return rule.priors();
        }
        let given = match self {
            Method::Gaussian(m) => m.priors.as_ref().or(m.known.as_ref().and_then(|k| k.priors.as_ref())),
            Method::NaiveBayes(m) => m.priors.as_ref(),
            _ => None,
        };
        let total: f64 = weights.iter().sum();
        given.cloned().unwrap_or_else(|| weights.iter().map(|w| w / total).collect())
    }
}

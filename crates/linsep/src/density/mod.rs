//! What each class looks like: prior probabilities and class-conditional distributions, whether given, fitted or true.
//!
//! [`Densities`] are the parameters. [`Likelihood`] evaluates them, [`Sampler`] draws rows from them,
//! [`Densities::bayes_error`] is the error of the best rule, and [`Parameters`] is how a file names them.

mod bayes_error;
mod check;
mod draw;
mod gaussian;
mod ideal_losses;
mod likelihood;
mod linear;
mod marginal;
mod parameters;
mod prepared;
mod sampler;

pub use bayes_error::{BayesError, ErrorMethod};
pub use parameters::Parameters;

// For the other stages, the command, the extension and the tests: nothing is promised about these.
#[doc(hidden)]
pub use self::{
    draw::Draws,
    ideal_losses::IdealLosses,
    likelihood::Likelihood,
    linear::LinearForm,
    parameters::{default_classes, default_features},
    sampler::{DRAW_BLOCK, Sampler},
};

pub(crate) use ideal_losses::losses_of;

use crate::role::{Role, Roles};
use serde::{Deserialize, Serialize};

/// The prior and the distribution of every class; a closed list, because it is part of a model file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Densities {
    /// Prior probabilities, in the order of the classes.
    pub priors: Vec<f64>,
    /// The rows of a class.
    pub density: Density,
}

impl Densities {
    /// Priors and parameters are estimated, or copied from what was given.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::All(Role::Claim);
}

/// Class-conditional distributions of one family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Density {
    /// `N(μ_k, Σ_k)`.
    Gaussian(Gaussian),
    /// Columns (or groups of them) that are independent within a class.
    Independent {
        /// Every column in one of them.
        marginals: Vec<Marginal>,
    },
}

/// Gaussian classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gaussian {
    /// The mean of each class.
    pub means: Vec<Vec<f64>>,
    /// The covariance, or one for each class.
    pub covariance: Covariance,
}

/// How the covariances of the classes relate; matrices row by row, both triangles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Covariance {
    /// `σ²I` for all classes.
    Spherical(f64),
    /// One matrix for all classes.
    Shared(Vec<Vec<f64>>),
    /// A matrix for each class.
    Own(Vec<Vec<Vec<f64>>>),
}

/// The distribution of some columns, independent of the others within a class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Marginal {
    /// The matrix columns: one, the indicators of a text column, or all columns of a multinomial.
    pub columns: Vec<usize>,
    /// Family and parameters, each in the order of the classes.
    #[serde(flatten)]
    pub family: Family,
}

/// A family with its parameters, each in the order of the classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "family", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Family {
    /// The same value in all classes and rows.
    Constant {
        /// The value.
        value: f64,
    },
    /// `N(mean, variance)`.
    Gaussian {
        /// Means.
        mean: Vec<f64>,
        /// Variances; all equal where the classes share one.
        variance: Vec<f64>,
    },
    /// 1 with probability p, else 0.
    Bernoulli {
        /// Probabilities of 1.
        p: Vec<f64>,
    },
    /// Counts with the given mean.
    Poisson {
        /// Means.
        rate: Vec<f64>,
    },
    /// Waiting times with density `rate·e^(−rate·x)`.
    Exponential {
        /// Reciprocal means.
        rate: Vec<f64>,
    },
    /// Failures before the first success, `p(1−p)ˣ` for x = 0, 1, 2 …
    Geometric {
        /// Probabilities of success.
        p: Vec<f64>,
    },
    /// Density proportional to `x^(shape−1) e^(−rate·x)`.
    Gamma {
        /// Shapes.
        shape: Vec<f64>,
        /// Rates: shape over mean.
        rate: Vec<f64>,
    },
    /// Successes in a fixed number of trials.
    Binomial {
        /// Number of trials.
        trials: u64,
        /// Probabilities of success.
        p: Vec<f64>,
    },
    /// One of several levels, coded by an indicator each.
    Categorical {
        /// Probabilities of the levels, class by class.
        shares: Vec<Vec<f64>>,
    },
    /// Counts of several kinds of thing that share a total.
    Multinomial {
        /// Probabilities of the kinds, class by class.
        shares: Vec<Vec<f64>>,
        /// Mean total of a row, class by class: only sampling needs it, as the mean of a Poisson total.
        mean_total: Vec<f64>,
    },
}

#[cfg(test)]
mod tests;

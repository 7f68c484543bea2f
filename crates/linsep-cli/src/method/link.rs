//! Other links than the logistic one.

use super::MethodArguments;
use clap::ValueEnum;
use linsep::model::{LinkRegression, Method};
use linsep::objective::{Intercept, Link};
use linsep::{Error, Result};

/// How the score of two classes becomes a probability.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum LinkName {
    /// σ(z) = 1/(1 + exp(−z))
    Logit,
    /// Φ(z), the normal distribution function
    Probit,
    /// 1 − exp(−exp z), the complementary log-log
    Cloglog,
    /// ½ + atan(z)/π
    Cauchit,
}

impl LinkName {
    /// The link, where it is not the logistic one.
    pub(super) fn link(self) -> Option<Link> {
        match self {
            LinkName::Logit => None,
            LinkName::Probit => Some(Link::Probit),
            LinkName::Cloglog => Some(Link::Cloglog),
            LinkName::Cauchit => Some(Link::Cauchit),
        }
    }
}

impl MethodArguments {
    /// The link that was asked for, where it is not the logistic one.
    pub(super) fn other_link(&self) -> Option<Link> {
        self.link.and_then(LinkName::link)
    }

    pub(super) fn link_regression(&self, link: Link) -> Result<Method> {
        let strays = [
            ("--solver", self.solver.is_some()),
            ("--penalty-factors", !self.penalty_factors.is_empty()),
            ("--softmax", self.softmax.is_some()),
            ("--batch", self.batch.is_some()),
            ("--step", self.perceptron.step.is_some()),
            ("--order", self.perceptron.order.is_some()),
        ];
        if let Some((flag, _)) = strays.iter().find(|(_, given)| *given) {
            return Err(Error::usage(format!("{flag} does not belong to --link {}", link.name()))
                .help("leave one of them out: only the logistic loss has it"));
        }
        let defaults = LinkRegression::new(link);
        Ok(Method::Link(LinkRegression {
            penalty: self.ridge_or(defaults.penalty)?,
            intercept: self.intercept.map_or(defaults.intercept, Intercept::from),
            standardize: self.standardize(),
            tolerance: self.tol.unwrap_or(defaults.tolerance),
            max_iterations: self.max_iter.unwrap_or(defaults.max_iterations),
            ..defaults
        }))
    }
}

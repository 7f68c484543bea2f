//! Methods with and without an intercept.

use super::Method;
use crate::error::{Error, Result};
use crate::objective::Intercept;
use crate::words::{Setting, words};

impl Method {
    /// What becomes of the intercept, for the methods that choose.
    fn intercept_choice(&mut self) -> Option<&mut Intercept> {
        match self {
            Method::Risk(m) => Some(&mut m.intercept),
            Method::LeastSquares(m) => Some(&mut m.intercept),
            Method::Sigmoid(m) => Some(&mut m.intercept),
            Method::Link(m) => Some(&mut m.intercept),
            Method::Perceptron(m) => Some(&mut m.intercept),
            Method::KernelSvm(m) => Some(&mut m.intercept),
            Method::Gaussian(_)
            | Method::Given(_)
            | Method::HardMargin(_)
            | Method::KernelPerceptron(_)
            | Method::NaiveBayes(_) => None,
        }
    }

    /// Whether there is an intercept.
    pub(crate) fn has_intercept(&self) -> bool {
        self.clone().intercept_choice().is_none_or(|intercept| *intercept != Intercept::None)
    }

    /// The same method without an intercept; an error for those that need one.
    pub(crate) fn without_intercept(mut self) -> Result<Method> {
        let Some(intercept) = self.intercept_choice() else {
            return Err(Error::usage(format!(
                "the formula leaves the intercept out, and the method {} has one",
                self.name()
            ))
            .help("leave 0 + or - 1 out of the formula")
            .help(words!["choose ", Setting::Model.is("logistic")]));
        };
        *intercept = Intercept::None;
        Ok(self)
    }
}

//! Probit, complementary log-log and cauchit regression.

use super::estimator::builder;
use super::setters::{intercept_setters, no_penalty_setter, ridge_setters, standardize_setter, tolerance_setter};
use crate::model::{Link, LinkRegression, Method};

builder! {
    /// Regression of two classes whose probability is another function of the score than the logistic one: `Φ(z)` unless
    /// another link is chosen. Of more classes each is fitted against the rest.
    ///
    /// ```
    /// use linsep::model::Link;
    /// use linsep::prelude::*;
    /// let x = [[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]];
    /// let y = [0, 0, 1, 0, 1, 1];
    /// let model = LinkedRegression::new().link(Link::Cloglog).no_penalty().fit(&x, &y)?;
    /// assert!((model.predict_proba(&x)?.row(0)[1] - 1.0 / 3.0).abs() < 1e-6);
    /// assert!(model.certificate().relative_gap().unwrap() <= 1e-8);
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct LinkedRegression(LinkRegression);
    LinkRegression::new(Link::Probit), |settings| (Method::Link(settings.clone()), 0)
}

ridge_setters!(LinkedRegression);
no_penalty_setter!(LinkedRegression);
standardize_setter!(LinkedRegression);
intercept_setters!(LinkedRegression);
tolerance_setter!(LinkedRegression);

impl LinkedRegression {
    /// How a score becomes a probability.
    pub fn link(mut self, link: Link) -> LinkedRegression {
        self.settings.link = link;
        self
    }

    /// Stop a descent after so many iterations.
    pub fn max_iterations(mut self, most: usize) -> LinkedRegression {
        self.settings.max_iterations = most;
        self
    }
}

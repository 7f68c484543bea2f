//! Logistic and softmax regression.

use super::estimator::builder;
use super::setters::{
    intercept_setters, lasso_setters, no_penalty_setter, ridge_setters, standardize_setter, tolerance_setter,
};
use crate::model::{Algorithm, Method, RiskMinimizer};
use crate::objective::SoftmaxForm;

builder! {
    /// Logistic regression of two classes, softmax regression of more: scores whose logistic function or softmax are
    /// probabilities, by the smallest `Σ sᵢ ℓ(yᵢ, xᵢW + b)/Σs` plus a penalty.
    ///
    /// The usual penalty is a ridge with λ = 1/Σs on standardised columns, the `C = 1` of other tools.
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let x = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.5], [0.5, 2.0], [2.2, 1.0]];
    /// let y = ["a", "a", "b", "b", "a", "c"];
    /// let model = LogisticRegression::new().ridge(0.01).tolerance(1e-10).fit(&x, &y)?;
    /// assert!(model.certificate().relative_gap().unwrap() <= 1e-10);
    /// let p = model.predict_proba(&x)?;
    /// assert!((p.row(0).iter().sum::<f64>() - 1.0).abs() < 1e-15);
    /// assert_eq!(model.classes(), ["a", "b", "c"]);
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct LogisticRegression(RiskMinimizer);
    RiskMinimizer::default(), |settings| (Method::Risk(settings.clone()), settings.stochastic.seed)
}

ridge_setters!(LogisticRegression);
lasso_setters!(LogisticRegression);
no_penalty_setter!(LogisticRegression);
standardize_setter!(LogisticRegression);
intercept_setters!(LogisticRegression);
tolerance_setter!(LogisticRegression);

impl LogisticRegression {
    /// The algorithm; by the loss, the penalty and the size of the problem unless this says otherwise.
    pub fn solver(mut self, solver: Algorithm) -> LogisticRegression {
        self.settings.algorithm = solver;
        self
    }

    /// Stop after so many iterations; what suits the algorithm unless this says otherwise.
    pub fn max_iterations(mut self, most: usize) -> LogisticRegression {
        self.settings.max_iterations = Some(most);
        self
    }

    /// Factors of the penalty, one for every column; 0 leaves a column without a penalty.
    pub fn penalty_factors(mut self, factors: impl Into<Vec<f64>>) -> LogisticRegression {
        self.settings.factors = factors.into();
        self
    }

    /// Of more than two classes the first has the score zero, as in tables of coefficients; otherwise all scores are free.
    pub fn reference_class(mut self) -> LogisticRegression {
        self.settings.form = SoftmaxForm::Reference;
        self
    }

    /// The seed of a stochastic solver.
    pub fn seed(mut self, seed: u64) -> LogisticRegression {
        self.settings.stochastic.seed = seed;
        self
    }

    /// Rows in a step of stochastic gradient descent.
    pub fn batch(mut self, rows: usize) -> LogisticRegression {
        self.settings.stochastic.batch = rows;
        self
    }
}

//! Least squares on class targets, and on the outputs of a sigmoid.

use super::estimator::builder;
use super::setters::{
    intercept_setters, lasso_setters, no_penalty_setter, ridge_setters, seed_setter, standardize_setter,
    tolerance_setter,
};
use crate::model::{LeastSquaresSettings, LeastSquaresSolver, Method, SigmoidLeastSquares, Targets};
use crate::solve::SigmoidAlgorithm;

builder! {
    /// Least squares on class targets: −1 and 1 for two classes, one-hot for more. Without a penalty unless one is asked for;
    /// the two-class direction is then that of [`Lda`](super::Lda).
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let x = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]];
    /// let y = ["a", "a", "a", "b", "b", "b"];
    /// let model = LeastSquares::new().fit(&x, &y)?;
    /// assert!(model.certificate().relative_gap().unwrap() < 1e-12);
    /// assert_eq!(LeastSquares::new().ridge(0.1).fit(&x, &y)?.predict(&x)?, y);
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct LeastSquares(LeastSquaresSettings);
    LeastSquaresSettings::default(), |settings| (settings.clone().into_method(), 0)
}

ridge_setters!(LeastSquares);
lasso_setters!(LeastSquares);
standardize_setter!(LeastSquares);
intercept_setters!(LeastSquares);
tolerance_setter!(LeastSquares);

impl LeastSquares {
    /// No penalty, which is the default.
    pub fn no_penalty(mut self) -> LeastSquares {
        self.settings.penalty = LeastSquaresSettings::default().penalty;
        self
    }

    /// What the scores of two classes are fitted to.
    pub fn targets(mut self, targets: Targets) -> LeastSquares {
        self.settings.targets = targets;
        self
    }

    /// How the equations are solved.
    pub fn solver(mut self, solver: LeastSquaresSolver) -> LeastSquares {
        self.settings.solver = solver;
        self
    }
}

builder! {
    /// Squared error of sigmoid outputs, `½(σ(z) − t)²`: a risk that is not convex, from several starts. Its certificate is
    /// about a local minimum.
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let x = [[0.0], [1.0], [2.0], [1.5], [6.0], [7.0]];
    /// let model = SigmoidRegression::new().ridge(0.01).fit(&x, &[0, 0, 0, 1, 1, 1])?;
    /// assert!(matches!(model.certificate(), Certificate::Local { .. }));
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct SigmoidRegression(SigmoidLeastSquares);
    SigmoidLeastSquares::default(), |settings| (Method::Sigmoid(settings.clone()), settings.seed)
}

ridge_setters!(SigmoidRegression);
no_penalty_setter!(SigmoidRegression);
standardize_setter!(SigmoidRegression);
intercept_setters!(SigmoidRegression);
seed_setter!(SigmoidRegression);

impl SigmoidRegression {
    /// How a minimum is descended to.
    pub fn solver(mut self, solver: SigmoidAlgorithm) -> SigmoidRegression {
        self.settings.algorithm = solver;
        self
    }

    /// A local minimum has a gradient of at most this, in scales that fit the columns.
    pub fn tolerance(mut self, gradient: f64) -> SigmoidRegression {
        self.settings.tolerance = gradient;
        self
    }

    /// Rows of a step by drawn rows.
    pub fn batch(mut self, rows: usize) -> SigmoidRegression {
        self.settings.batch = rows;
        self
    }

    /// The step of gradient descent from zero, along the gradient of the mean loss, or the first by drawn rows.
    pub fn step(mut self, length: f64) -> SigmoidRegression {
        self.settings.step = Some(length);
        self
    }

    /// Random starts beside zero, least squares and logistic regression.
    pub fn restarts(mut self, starts: usize) -> SigmoidRegression {
        self.settings.restarts = starts;
        self
    }

    /// Stop a descent after so many iterations.
    pub fn max_iterations(mut self, most: usize) -> SigmoidRegression {
        self.settings.max_iterations = Some(most);
        self
    }
}

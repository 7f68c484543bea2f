//! Linear support vector machines, soft and hard.

use super::estimator::builder;
use super::setters::{intercept_setters, lasso_setters, ridge_setters, standardize_setter, tolerance_setter};
use crate::model::{Algorithm, HardMarginSettings, LossChoice, Method, RiskMinimizer};
use crate::workflow::Approach;

builder! {
    /// The linear support vector machine: `Σ sᵢ max(0, 1 − yᵢ(w·xᵢ + b))/Σs` plus a ridge. More than two classes are fits of
    /// each against the rest, unless [`crammer_singer`](LinearSvm::crammer_singer) asks for one of all.
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let x = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.5], [0.5, 2.0]];
    /// let model = LinearSvm::new().cost(1.0).fit(&x, &[0, 0, 1, 1, 0])?;
    /// assert_eq!(model.predict(&x)?, [0, 0, 1, 1, 0]);
    /// let rows = model.model().support_vectors.as_ref().unwrap();
    /// assert!(rows.multipliers.iter().all(|(_, alpha)| *alpha > 0.0));
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct LinearSvm(RiskMinimizer);
    RiskMinimizer { loss: LossChoice::Hinge, ..RiskMinimizer::default() },
    |settings| (Method::Risk(settings.clone()), settings.stochastic.seed)
}

ridge_setters!(LinearSvm);
lasso_setters!(LinearSvm);
standardize_setter!(LinearSvm);
intercept_setters!(LinearSvm);
tolerance_setter!(LinearSvm);

impl LinearSvm {
    /// The square of the hinge, which is smooth; the lasso needs it.
    pub fn squared_hinge(mut self) -> LinearSvm {
        self.settings.loss = LossChoice::SquaredHinge;
        self
    }

    /// One machine of all classes after Crammer and Singer, in place of one for each class against the rest.
    pub fn crammer_singer(self) -> LinearSvm {
        self.multiclass(Approach::Joint)
    }

    /// The algorithm; by the loss, the penalty and the size of the problem unless this says otherwise.
    pub fn solver(mut self, solver: Algorithm) -> LinearSvm {
        self.settings.algorithm = solver;
        self
    }

    /// Stop after so many iterations; what suits the algorithm unless this says otherwise.
    pub fn max_iterations(mut self, most: usize) -> LinearSvm {
        self.settings.max_iterations = Some(most);
        self
    }
}

builder! {
    /// The hard margin: of all planes that separate two classes the one furthest from their rows. Where none separates them,
    /// the answer is [`NoModel`](super::FitError::NoModel), with the proof. More than two classes are fits of pairs.
    ///
    /// Distances are those of the columns as they are, unless they are standardised.
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let x = [[0.0, 0.0], [1.0, 0.0], [4.0, 0.0], [5.0, 1.0]];
    /// let model = HardMargin::new().fit(&x, &["left", "left", "right", "right"])?;
    /// let Certificate::Margin { margin, .. } = model.certificate() else { panic!("it is about a margin") };
    /// assert!((margin - 1.5).abs() < 1e-7);
    /// assert!(matches!(HardMargin::new().fit(&x, &[0, 1, 0, 1]), Err(FitError::NoModel(_))));
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct HardMargin(HardMarginSettings);
    HardMarginSettings::default(), |settings| (Method::HardMargin(settings.clone()), 0)
}

standardize_setter!(HardMargin);
tolerance_setter!(HardMargin);

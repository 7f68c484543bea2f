//! Machines that see rows through a kernel.

use super::estimator::builder;
use super::setters::{intercept_setters, ridge_setters, seed_setter, standardize_setter, tolerance_setter};
use crate::model::{KernelChoice, KernelPerceptronSettings, KernelSvmSettings, Method, PenaltyChoice};
use crate::solve::Order;

builder! {
    /// The support vector machine with a kernel, `exp(−γ‖x−y‖²)` on standardised columns unless another is chosen. More than
    /// two classes are fits of pairs.
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let x = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]];
    /// let model = KernelSvm::new().rbf(1.0).cost(10.0).fit(&x, &["same", "same", "other", "other"])?;
    /// assert_eq!(model.predict(&x)?, ["same", "same", "other", "other"]);
    /// assert!(model.certificate().relative_gap().unwrap() <= 1e-6);
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct KernelSvm(KernelSvmSettings);
    KernelSvmSettings::default(), |settings| (Method::KernelSvm(settings.clone()), 0)
}

ridge_setters!(KernelSvm);
intercept_setters!(KernelSvm);
standardize_setter!(KernelSvm);
tolerance_setter!(KernelSvm);

impl KernelSvm {
    /// The hard margin: every row must be on its side, and of all planes of the feature space that do this the widest is found. Where
    /// none does, the answer is a bound on how wide one could be.
    ///
    /// ```
    /// use linsep::certify::Certificate;
    /// use linsep::prelude::*;
    /// let x = [[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]];
    /// let xor = KernelSvm::new().polynomial(2, 1.0).hard_margin().no_intercept().fit(&x, &[0, 0, 1, 1])?;
    /// let Certificate::Margin { margin, .. } = xor.certificate() else { panic!("it is about a margin") };
    /// assert!((margin - 1.0).abs() < 0.5 && xor.predict(&x)? == [0, 0, 1, 1]);
    /// # Ok::<(), FitError>(())
    /// ```
    pub fn hard_margin(mut self) -> KernelSvm {
        self.settings.penalty = PenaltyChoice::None;
        self
    }

    /// Bytes for kernel values; 200 MB unless this says otherwise.
    pub fn cache(mut self, bytes: usize) -> KernelSvm {
        self.settings.cache = bytes;
        self
    }

    /// Stop after so many pairs of rows.
    pub fn max_iterations(mut self, pairs: usize) -> KernelSvm {
        self.settings.max_iterations = Some(pairs);
        self
    }
}

builder! {
    /// The perceptron with a kernel: the score is a sum over the rows on which it made mistakes. More than two classes are fits
    /// of pairs.
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let x = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]];
    /// let model = KernelPerceptron::new().polynomial(2, 1.0).fit(&x, &[1, 1, 2, 2])?;
    /// assert_eq!(model.predict(&x)?, [1, 1, 2, 2]);
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct KernelPerceptron(KernelPerceptronSettings);
    KernelPerceptronSettings::default(), |settings| (Method::KernelPerceptron(settings.clone()), settings.seed)
}

standardize_setter!(KernelPerceptron);
seed_setter!(KernelPerceptron);

impl KernelPerceptron {
    /// Visits the rows as they come, and not in a random order.
    pub fn given_order(mut self) -> KernelPerceptron {
        self.settings.order = Order::Given;
        self
    }

    /// Stop after so many epochs.
    pub fn max_epochs(mut self, most: usize) -> KernelPerceptron {
        self.settings.max_epochs = most;
        self
    }
}

macro_rules! kernel_setters {
    ($name:ident) => {
        impl $name {
            /// Any kernel; γ may be left to the data.
            pub fn kernel(mut self, kernel: KernelChoice) -> $name {
                self.settings.kernel = kernel;
                self
            }

            /// `exp(−γ‖x−y‖²)` with this γ.
            pub fn rbf(self, gamma: f64) -> $name {
                self.kernel(KernelChoice::Rbf { gamma: Some(gamma) })
            }

            /// `(γ x·y + c)^degree`, γ left to the data.
            pub fn polynomial(self, degree: u32, c: f64) -> $name {
                self.kernel(KernelChoice::Polynomial { gamma: None, coef0: c, degree })
            }

            /// `x·y`.
            pub fn linear(self) -> $name {
                self.kernel(KernelChoice::Linear)
            }

            /// Column j is the kernel value with training row j.
            pub fn precomputed(self) -> $name {
                self.kernel(KernelChoice::Precomputed)
            }
        }
    };
}

kernel_setters!(KernelSvm);
kernel_setters!(KernelPerceptron);

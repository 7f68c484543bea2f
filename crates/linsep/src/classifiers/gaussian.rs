//! Gaussian classes.

use super::estimator::builder;
use super::setters::{priors_setter, standardize_setter};
use crate::model::{CovarianceShape, Divisor, GaussianBayes, Known, Method, Shrinkage};

builder! {
    /// Linear discriminant analysis: Gaussian classes with one covariance, whose scores are linear.
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let model = Lda::new().fit(&[[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]], &["a", "a", "a", "b", "b", "b"])?;
    /// let g = model.linear().unwrap();
    /// assert_eq!((g.weights_of(0)[0], g.intercept()[0]), (5.0, -17.5));      // the boundary is midway, at 3.5
    /// assert!(matches!(model.certificate(), Certificate::ClosedForm { relative_residual, .. } if *relative_residual < 1e-15));
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct Lda(GaussianBayes);
    GaussianBayes::lda(), |settings| (Method::Gaussian(settings.clone()), 0)
}

builder! {
    /// Quadratic discriminant analysis: Gaussian classes with a covariance each.
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let x = [[0.0], [1.0], [-1.0], [0.5], [5.0], [9.0], [-7.0], [-4.0]];
    /// let model = Qda::new().fit(&x, &[0, 0, 0, 0, 1, 1, 1, 1])?;
    /// assert_eq!(model.predict(&[[0.2], [8.0], [-8.0]])?, [0, 1, 1]);        // one class within the other
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct Qda(GaussianBayes);
    GaussianBayes::qda(), |settings| (Method::Gaussian(settings.clone()), 0)
}

builder! {
    /// Gaussian classes with the covariance `σ²I` of the columns as they are: the class of the nearest mean, up to priors.
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let x = [[0.0, 1.0], [1.0, 0.0], [4.0, 3.0], [5.0, 4.0]];
    /// let model = SphericalGaussian::new().fit(&x, &['n', 'n', 'f', 'f'])?;
    /// assert_eq!(model.predict(&[[4.0, 4.0]])?, ['f']);
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct SphericalGaussian(GaussianBayes);
    GaussianBayes::new(CovarianceShape::Spherical), |settings| (Method::Gaussian(settings.clone()), 0)
}

macro_rules! gaussian_setters {
    ($name:ident) => {
        priors_setter!($name);
        standardize_setter!($name);

        impl $name {
            /// Shrinks covariances by this share towards a multiple of the identity: `(1−a)Σ + a·tr(Σ)/d·I`.
            pub fn shrinkage(mut self, share: f64) -> $name {
                self.settings.shrinkage = Shrinkage::Fixed(share);
                self
            }

            /// Shrinks covariances by the share of Ledoit and Wolf (2004).
            pub fn ledoit_wolf(mut self) -> $name {
                self.settings.shrinkage = Shrinkage::LedoitWolf;
                self
            }

            /// Covariances of maximum likelihood, which divide by the number of rows; they are unbiased otherwise.
            pub fn maximum_likelihood(mut self) -> $name {
                self.settings.divisor = Divisor::Mle;
                self
            }

            /// Means, covariances and priors that are given instead of estimated, and the prior of the means.
            pub fn known(mut self, parameters: Known) -> $name {
                self.settings.known = Some(parameters);
                self
            }
        }
    };
}

gaussian_setters!(Lda);
gaussian_setters!(Qda);
gaussian_setters!(SphericalGaussian);

//! Classifiers for arrays in memory: a builder for every method, one trait for what a fit can be asked.
//!
//! ```
//! use linsep::prelude::*;
//! let x = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.5], [0.5, 2.0]];
//! let model = LogisticRegression::new().ridge(0.1).fit(&x, &["a", "a", "b", "b", "a"])?;
//! assert_eq!(model.predict(&[[3.0, 3.0]])?, ["b"]);
//! println!("F − F* ≤ {:e}", model.certificate().gap().unwrap());
//! # Ok::<(), linsep::FitError>(())
//! ```
//!
//! Every builder is an [`Estimator`]: it takes [`Features`] (a [`Matrix`], arrays of rows, or compressed sparse rows) and
//! [`Label`]s of any type, runs the engine that the command and Python run ([`crate::workflow::fit_arrays`]), and returns
//! a [`Trained`] model, which is a [`Classifier`]. Where there is no model, [`FitError`] has the proof.

mod classifier;
mod estimator;
mod features;
mod fit_error;
mod gaussian;
mod kernel;
mod label;
mod least_squares;
mod linear_svm;
mod linked;
mod logistic;
mod matrix;
mod naive_bayes;
mod perceptron;
mod setters;
mod trained;

pub use classifier::Classifier;
pub use estimator::Estimator;
pub use features::{Features, LentFeatures};
pub use fit_error::FitError;
pub use gaussian::{Lda, Qda, SphericalGaussian};
pub use kernel::{KernelPerceptron, KernelSvm};
pub use label::Label;
pub use least_squares::{LeastSquares, SigmoidRegression};
pub use linear_svm::{HardMargin, LinearSvm};
pub use linked::LinkedRegression;
pub use logistic::LogisticRegression;
pub use matrix::Matrix;
pub use naive_bayes::{
    BernoulliNb, BinomialNb, ExponentialNb, GammaNb, GaussianNb, GeometricNb, MixedNb, MultinomialNb, PoissonNb,
};
pub use perceptron::Perceptron;
pub use trained::Trained;

//! What a program needs to fit, use and check classifiers: `use linsep::prelude::*;`.

pub use crate::certify::Certificate;
pub use crate::classifiers::{
    BernoulliNb, BinomialNb, Classifier, Estimator, ExponentialNb, Features, FitError, GammaNb, GaussianNb,
    GeometricNb, HardMargin, KernelPerceptron, KernelSvm, Label, Lda, LeastSquares, LinearSvm, LinkedRegression,
    LogisticRegression, Matrix, MixedNb, MultinomialNb, Perceptron, PoissonNb, Qda, SigmoidRegression,
    SphericalGaussian, Trained,
};
pub use crate::design::CsrMatrix;
pub use crate::model::Outcome;

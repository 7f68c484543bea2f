//! Inference: what the estimates of a logistic model say about the population, where theory holds; where it does not, why,
//! and what still does.
//!
//! Binary and multinomial maximum likelihood by its information, its robust covariances and its likelihood ratios; Firth's
//! penalised likelihood of two classes, which also separated rows have.

mod bands;
mod covariance;
mod effects;
mod firth;
mod hypothesis;
mod hypothesis_tests;
mod inference;
mod likelihood;
mod marginal;
mod maximum;
mod options;
mod profile;
mod rows;
mod run;
mod separated;
mod statistics;
mod subject;
mod term_tests;

pub use bands::{BandKind, ProbabilityInterval};
pub use hypothesis_tests::{Ellipsoid, HypothesisTest, Tested};
pub use inference::{Coefficient, Inference, InferenceFit, SeparatedInference, infer};
pub use marginal::MarginalEffect;
pub use options::{Adjustment, CovarianceKind, EstimatorKind, InferenceOptions, IntervalKind};
pub use rows::RowInfluence;
pub use statistics::FitStatistics;
pub use subject::{ModelTerm, Subject};
pub use term_tests::{TermInflation, TermTest, TestKind};

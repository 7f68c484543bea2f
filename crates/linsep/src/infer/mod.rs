//! Inference: what the estimates of a logistic model say about the population, where theory holds; where it does not, why,
//! and what still does.
//!
//! Binary and multinomial maximum likelihood by its information, its robust covariances and its likelihood ratios; Firth's
//! penalised likelihood of two classes, which also separated rows have. Beside it what Gaussian classes and least squares have: means,
//! shares, covariances and t and F tests that are exact for Gaussian classes with one covariance.

mod bands;
mod bias_reduced;
mod bootstrap;
mod collinearity;
mod covariance;
mod effects;
mod firth;
mod gaussian;
mod hypothesis;
mod hypothesis_tests;
mod inference;
mod information_root;
mod least_squares;
mod likelihood;
mod marginal;
mod maximum;
mod mean_tests;
mod options;
mod profile;
mod restricted;
mod reweighted;
mod rows;
mod run;
mod separated;
mod span;
mod statistics;
mod subject;
mod term_tests;

pub use bands::{BandKind, ProbabilityInterval};
pub use bootstrap::BootstrapLine;
pub(crate) use bootstrap::check_replicates;
pub use collinearity::{Collinearity, ConditionIndex};
pub use gaussian::{ClassInference, ColumnTest, GaussianInference, IntervalEstimate, MeanLine};
pub use hypothesis_tests::{Ellipsoid, HypothesisTest, Tested};
pub use inference::{Coefficient, Inference, InferenceFit, SeparatedInference};
pub use least_squares::{SquaresInference, SquaresLine, SquaresTest};
pub use marginal::MarginalEffect;
pub use mean_tests::{BoxTest, MeanStatistic, MeanTest};
pub(crate) use options::check_level;
pub use options::{Adjustment, CovarianceKind, EstimatorKind, InferenceOptions, IntervalKind};
pub(crate) use reweighted::{ReweightedRidge, RidgeFit, RowWeights};
pub use rows::RowInfluence;
pub use statistics::FitStatistics;
pub(crate) use subject::ModelTerm;
pub use term_tests::{TermInflation, TermTest, TestKind};

// For the other stages, the command, the extension and the tests: nothing is promised about these.
#[doc(hidden)]
pub use self::{gaussian::infer_gaussian, inference::infer, least_squares::infer_least_squares, subject::Subject};

pub use crate::linalg::Square;

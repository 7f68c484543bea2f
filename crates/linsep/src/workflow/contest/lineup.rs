//! The methods that are compared, from the simplest to the most flexible, each with the settings that are tried.

use super::super::options::FitOptions;
use super::super::tune::Candidate;
use crate::model::{
    GaussianBayes, KernelChoice, KernelSvmSettings, Lambdas, LeastSquaresSettings, LossChoice, Method, NaiveBayes,
    PenaltyChoice, PerceptronSettings, PerceptronVariant, RiskMinimizer, Shrinkage,
};

/// A method by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ContestMethod {
    /// The class with the most rows; probabilities are the shares of the classes.
    Majority,
    /// Logistic regression on the one matrix column whose class means differ most for their spread.
    SingleColumn,
    /// Gaussian classes with covariance `σ²I`: the nearest mean.
    Spherical,
    /// Naive Bayes.
    NaiveBayes,
    /// Gaussian classes with one covariance.
    Lda,
    /// Least squares on class targets, with a ridge.
    LeastSquares,
    /// Logistic regression with a lasso.
    LogisticLasso,
    /// Logistic regression with a ridge.
    Logistic,
    /// The linear support vector machine.
    Svm,
    /// The averaged perceptron.
    AveragedPerceptron,
    /// Gaussian classes with a covariance each.
    Qda,
    /// The support vector machine with a Gaussian kernel.
    SvmRbf,
}

use ContestMethod as C;

/// Columns of the matrix up to which methods with a matrix of their squares are compared. Chosen: a fit at 1000 columns takes
/// about a second, and there are dozens of them; more is a question to ask of one method, not of all.
const MOST_COLUMNS: usize = 1_000;
/// Rows up to which a kernel is compared: chosen for the same reason, its matrix having a column for each.
const MOST_KERNEL_ROWS: usize = 5_000;
/// Sizes along a path: chosen; four to a power of ten of the usual four, between which losses hardly differ.
const SIZES: usize = 16;
/// Classes from which on the path of a lasso ends at a thousandth of its largest size, and the ratio: chosen. With 60 classes of 10
/// rows a path down to the usual 1e-4 takes 23 s, down to 1e-3 one second, and smaller penalties than that only fit single rows.
const MANY_CLASSES: (usize, f64) = (20, 1e-3);
/// Costs of the support vector machines, around the default of 1: chosen, a power of ten apart.
const COSTS: [f64; 4] = [0.01, 0.1, 1.0, 10.0];
/// Ridges of least squares on standardised columns, whose eigenvalues are around 1: chosen in powers of ten below it.
const RIDGES: [f64; 3] = [1.0, 0.1, 0.01];
/// Shrinkage of covariances of single classes where neither none nor the estimated one will do: half-way, chosen.
const HALF: f64 = 0.5;

impl ContestMethod {
    /// All of them, the simplest first: of methods that tie, the first is taken.
    pub const ALL: [ContestMethod; 12] = [
        C::Majority,
        C::SingleColumn,
        C::Spherical,
        C::NaiveBayes,
        C::Lda,
        C::LeastSquares,
        C::LogisticLasso,
        C::Logistic,
        C::Svm,
        C::AveragedPerceptron,
        C::Qda,
        C::SvmRbf,
    ];

    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            C::Majority => "majority",
            C::SingleColumn => "single-column",
            C::Spherical => "spherical",
            C::NaiveBayes => "naive-bayes",
            C::Lda => "lda",
            C::LeastSquares => "least-squares",
            C::LogisticLasso => "logistic-lasso",
            C::Logistic => "logistic",
            C::Svm => "svm",
            C::AveragedPerceptron => "averaged-perceptron",
            C::Qda => "qda",
            C::SvmRbf => "svm-rbf",
        }
    }

    /// Its name in a sentence.
    pub fn spoken(self) -> &'static str {
        match self {
            C::Majority => "the majority class",
            C::SingleColumn => "a single column",
            C::Spherical => "the nearest mean",
            C::NaiveBayes => "naive Bayes",
            C::Lda => "LDA",
            C::LeastSquares => "least squares",
            C::LogisticLasso => "logistic regression with a lasso",
            C::Logistic => "logistic regression",
            C::Svm => "the SVM",
            C::AveragedPerceptron => "the averaged perceptron",
            C::Qda => "QDA",
            C::SvmRbf => "the SVM with a Gaussian kernel",
        }
    }

    /// Whether it is there to be beaten.
    pub fn is_baseline(self) -> bool {
        matches!(self, C::Majority | C::SingleColumn)
    }

    /// Why it does not suit a matrix of so many rows and columns; `None` where it does.
    pub(super) fn unsuited(self, rows: usize, columns: usize) -> Option<String> {
        match self {
            C::Lda | C::Qda | C::LeastSquares if columns > MOST_COLUMNS => Some(format!(
                "its matrix of {columns} by {columns} is too large to fit dozens of times (at most {MOST_COLUMNS})"
            )),
            C::SvmRbf if rows > MOST_KERNEL_ROWS => Some(format!(
                "its kernel matrix of {rows} by {rows} is too large to fit dozens of times (at most {MOST_KERNEL_ROWS})"
            )),
            _ => None,
        }
    }

    /// Its settings to try for so many classes, on what `base` says of columns and weights; `sparse` columns are taken as they are.
    pub(super) fn candidates(self, base: &FitOptions, sparse: bool, classes: usize) -> Vec<Candidate> {
        let one = |method: Method, settings: Vec<(String, String)>, path: Option<Lambdas>| {
            let method = if sparse { method.on_columns_as_they_are() } else { method };
            Candidate { settings, options: FitOptions { method, ..base.clone() }, path }
        };
        let named = |name: &str, value: String| vec![(name.to_owned(), value)];
        let gaussian = |gaussian: GaussianBayes, amounts: &[Shrinkage]| {
            let of = |shrinkage: &Shrinkage| {
                let text = match shrinkage {
                    Shrinkage::None => "none".to_owned(),
                    Shrinkage::LedoitWolf => "auto".to_owned(),
                    Shrinkage::Fixed(amount) => amount.to_string(),
                };
                let method = GaussianBayes { shrinkage: *shrinkage, ..gaussian.clone() };
                one(Method::Gaussian(method), named("shrinkage", text), None)
            };
            amounts.iter().map(of).collect()
        };
        let path = |penalty: PenaltyChoice| {
            let method = RiskMinimizer { penalty, ..RiskMinimizer::default() };
            let ratio = (penalty.is_sparse() && classes >= MANY_CLASSES.0).then_some(MANY_CLASSES.1);
            vec![one(Method::Risk(method), Vec::new(), Some(Lambdas::Spaced { count: SIZES, ratio }))]
        };
        match self {
            C::Majority | C::SingleColumn => vec![one(Method::Risk(RiskMinimizer::default()), Vec::new(), None)],
            C::Spherical => {
                let spherical = GaussianBayes::new(crate::model::CovarianceShape::Spherical);
                // The nearest mean by columns as they are is that of the one with the largest numbers.
                let scaled = GaussianBayes { standardize: crate::design::Standardize::Yes, ..spherical };
                vec![one(Method::Gaussian(scaled), Vec::new(), None)]
            }
            C::NaiveBayes => {
                let of = |variance_smoothing: f64| {
                    let method = NaiveBayes { variance_smoothing, ..NaiveBayes::default() };
                    one(Method::NaiveBayes(method), named("variance-smoothing", variance_smoothing.to_string()), None)
                };
                // A column that is constant within a class has a density only where its variance is smoothed.
                [0.0, RIDGES[2]].map(of).into()
            }
            C::Lda => gaussian(GaussianBayes::lda(), &[Shrinkage::None, Shrinkage::LedoitWolf]),
            C::Qda => gaussian(
                GaussianBayes::new(crate::model::CovarianceShape::Own),
                &[Shrinkage::None, Shrinkage::LedoitWolf, Shrinkage::Fixed(HALF)],
            ),
            C::LeastSquares => {
                let of = |lambda: f64| {
                    let method = LeastSquaresSettings { penalty: PenaltyChoice::Ridge(lambda), ..Default::default() };
                    one(Method::LeastSquares(method), named("penalty", format!("ridge:{lambda}")), None)
                };
                RIDGES.map(of).into()
            }
            C::Logistic => path(PenaltyChoice::RidgeOne),
            C::LogisticLasso => path(PenaltyChoice::ElasticNet { l1_ratio: 1.0, lambda: None, cost: None }),
            C::Svm => {
                let of = |cost: f64| {
                    let (loss, penalty) = (LossChoice::Hinge, PenaltyChoice::RidgeCost(cost));
                    let method = RiskMinimizer { loss, penalty, ..RiskMinimizer::default() };
                    one(Method::Risk(method), named("C", cost.to_string()), None)
                };
                COSTS.map(of).into()
            }
            C::AveragedPerceptron => {
                let method = PerceptronSettings::new(PerceptronVariant::Averaged);
                vec![one(Method::Perceptron(PerceptronSettings { seed: base.seed, ..method }), Vec::new(), None)]
            }
            C::SvmRbf => {
                let of = |cost: f64| {
                    let (kernel, penalty) = (KernelChoice::Rbf { gamma: None }, PenaltyChoice::RidgeCost(cost));
                    let method = KernelSvmSettings { kernel, penalty, ..KernelSvmSettings::default() };
                    one(Method::KernelSvm(method), named("C", cost.to_string()), None)
                };
                // Below one, a Gaussian kernel hardly differs from no fit at all.
                COSTS[2..].iter().copied().map(of).collect()
            }
        }
    }
}

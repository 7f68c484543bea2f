//! One recipe per method: statistics, or loss + penalty + solver, giving a discriminant.

mod class_weights;
mod fit;
mod gaussian;
mod given;
mod hard_margin;
mod intercept;
mod kernel_choice;
mod kernel_hard_margin;
mod kernel_perceptron;
mod kernel_proof;
mod kernel_svm;
mod least_squares;
mod link;
mod naive_bayes;
mod not_separable;
mod note;
mod perceptron;
mod printed;
mod priors;
mod relations;
mod restated;
mod risk;
mod sigmoid;
mod split;

pub use class_weights::{ClassWeighting, ClassWeights};
pub use fit::{Fit, Refusal};
pub use gaussian::{CovarianceShape, Divisor, GaussianBayes, Known, MeanPrior, Shrinkage};
pub use given::{GivenRule, GivenSettings};
pub use hard_margin::HardMarginSettings;
pub use kernel_choice::KernelChoice;
pub use kernel_perceptron::KernelPerceptronSettings;
pub use kernel_svm::KernelSvmSettings;
pub use least_squares::{LeastSquaresSettings, LeastSquaresSolver, Targets};
pub use link::LinkRegression;

pub(crate) use naive_bayes::column_constants;
pub use naive_bayes::{FamilyChoice, Layout, NaiveBayes, SmoothedBy};
pub use not_separable::NotSeparable;
pub(crate) use note::UNSTEADY;
pub use note::{Note, Separability};
pub use perceptron::{PerceptronSettings, PerceptronVariant};
pub(crate) use restated::Stated;
pub use risk::{
    Algorithm, Lambdas, LossChoice, PathPoint, PenaltyChoice, RegularisationPath, RiskMinimizer, Stochastic,
};
pub use sigmoid::SigmoidLeastSquares;
pub use split::{FittedPart, Part, Split, SplitFit};
pub(crate) use split::{RefusedPart, of_part, worst_certificate};

// For the other stages, the command, the extension and the tests: nothing is promised about these.
#[doc(hidden)]
pub use self::printed::last_digit;

use crate::certify::Certificate;
use crate::density::Densities;
use crate::design::{Coding, Recipe, Standardize, Training, Units};
use crate::discriminant::{Discriminant, Linear};
use crate::error::{Error, Result};
pub use crate::objective::{Intercept, Link, SoftmaxForm};
use crate::role::{Role, Roles};
pub use crate::separate::NoOptimum;
pub use crate::solve::{Order, SigmoidAlgorithm};
use crate::watch::Watch;
use serde::{Deserialize, Serialize};

/// A method and its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Method {
    /// Gaussian classes: spherical, with one covariance (LDA) or with their own (QDA).
    Gaussian(GaussianBayes),
    /// A rule that is stated, not fitted.
    Given(GivenSettings),
    /// The widest margin between two classes that a plane separates.
    #[serde(rename = "hard-margin")]
    HardMargin(HardMarginSettings),
    /// The perceptron with a kernel.
    #[serde(rename = "kernel-perceptron")]
    KernelPerceptron(KernelPerceptronSettings),
    /// A support vector machine with a kernel.
    #[serde(rename = "kernel-svm")]
    KernelSvm(KernelSvmSettings),
    /// Least squares on class targets.
    #[serde(rename = "least-squares")]
    LeastSquares(LeastSquaresSettings),
    /// Probit, complementary log-log or cauchit regression of two classes.
    Link(LinkRegression),
    /// Naive Bayes: columns that are independent within a class.
    #[serde(rename = "naive-bayes")]
    NaiveBayes(NaiveBayes),
    /// The perceptron and its kin: pocket and averaged.
    Perceptron(PerceptronSettings),
    /// A loss and a penalty: logistic regression, softmax, linear support vector machines.
    Risk(RiskMinimizer),
    /// Squared error of sigmoid outputs.
    #[serde(rename = "sigmoid-ls")]
    Sigmoid(SigmoidLeastSquares),
}

/// A fitted model, before it is tied to a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The discriminants, in the units of the design's columns.
    pub discriminant: Discriminant,
    /// Units in which the method worked.
    pub units: Units,
    /// What was minimised or solved, and its value.
    pub objective: Objective,
    /// The proof.
    pub certificate: Certificate,
    /// Whether the tolerance was reached.
    pub outcome: Outcome,
    /// What the user should know.
    pub notes: Vec<Note>,
    /// How the solution was computed.
    pub computation: Computation,
    /// Of a generative method: what it takes the classes to look like, in the units of the design's columns.
    pub density: Option<Densities>,
    /// Of a support vector machine: the multiplier α of every row, with `w = Σ α y x̂` for factors of one; of several classes
    /// at once `w_k = Σ (1{y=k} Σ_j α_j − α_k) x̂`.
    pub multipliers: Option<Multipliers>,
}

/// The multipliers of a support vector machine, which the weights do not determine.
#[derive(Debug, Clone, PartialEq)]
pub struct Multipliers {
    /// α of every training row; of several classes at once (Crammer–Singer) one for every class of every row, zero for
    /// its own.
    pub alpha: Vec<f64>,
    /// Rows with α strictly between its bounds: they lie on the margin.
    pub free: usize,
    /// Rows with α at its upper bound: they lie within the margin or on the wrong side.
    pub bounded: usize,
}

/// The objective in symbols and its value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    /// In symbols, complete.
    pub formula: String,
    /// At the solution.
    pub value: f64,
    /// λ of the ridge penalty, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lambda: Option<f64>,
}

impl Objective {
    /// The symbols and λ follow from the method and the rows.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::Fields(&[
        ("formula", Roles::All(Role::Derived)),
        ("value", Roles::All(Role::Claim)),
        ("lambda", Roles::All(Role::Derived)),
    ]);
}

/// How a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The certificate meets the tolerance (or the form is closed).
    Converged,
    /// The iteration limit came first.
    IterationLimit,
    /// The time limit came first.
    TimeLimit,
    /// The caller cancelled.
    Interrupted,
    /// Rounding allows no further decrease, short of the tolerance.
    PrecisionLimit,
}

impl Outcome {
    /// The outcome after the proof: converged if and only if its bound is within the tolerance.
    pub(crate) fn proved(self, certificate: &Certificate, tolerance: f64) -> Outcome {
        certificate.meets(tolerance).map_or(self, |met| self.judged(met, !met))
    }

    /// Converged where a proof reaches the tolerance, and not where it misses it. An interrupt is reported as such, however
    /// far the fit had come.
    fn judged(self, reached: bool, missed: bool) -> Outcome {
        match self {
            Outcome::TimeLimit | Outcome::Interrupted => self,
            _ if reached => Outcome::Converged,
            Outcome::Converged if missed => Outcome::PrecisionLimit,
            other => other,
        }
    }
}

/// Solver, iterations and passes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Computation {
    /// Which algorithm.
    pub solver: String,
    /// Why that one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// Iterations.
    pub iterations: usize,
    /// Passes over the features.
    pub passes: usize,
}

impl Computation {
    /// Only a second fit can tell.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::All(Role::History);
}

impl Method {
    /// Which method, and everything it was told.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::All(Role::Setting);

    /// Names of the methods whose models say what the classes look like ([`Fitted::density`]), unless they are very wide.
    pub const GENERATIVE: [&'static str; 4] = ["lda", "qda", "spherical", "naive-bayes"];

    /// The name of the method on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Method::Gaussian(m) => m.name(),
            Method::Given(_) => "given",
            Method::HardMargin(_) => "hard-margin",
            Method::KernelPerceptron(_) => "kernel-perceptron",
            Method::KernelSvm(m) if m.is_hard() => "hard-margin",
            Method::KernelSvm(_) => "svm",
            Method::LeastSquares(_) => "least-squares",
            Method::Link(m) => m.link.name(),
            Method::NaiveBayes(_) => "naive-bayes",
            Method::Perceptron(m) => m.name(),
            Method::Risk(m) => m.name(),
            Method::Sigmoid(_) => "sigmoid-ls",
        }
    }

    /// Whether the method looks at rows through a kernel.
    pub fn has_kernel(&self) -> bool {
        matches!(self, Method::KernelSvm(_) | Method::KernelPerceptron(_))
    }

    /// Whether its columns are values of a kernel at the training rows.
    pub fn has_kernel_table(&self) -> bool {
        let kernel = match self {
            Method::KernelSvm(m) => &m.kernel,
            Method::KernelPerceptron(m) => &m.kernel,
            _ => return false,
        };
        *kernel == KernelChoice::Precomputed
    }

    /// How the method wants text columns coded.
    pub fn coding(&self) -> Coding {
        match self {
            Method::Gaussian(_) => Coding::DropReference,
            Method::LeastSquares(m) if m.penalty == PenaltyChoice::None => Coding::DropReference,
            Method::LeastSquares(_) => Coding::AllLevels,
            Method::Risk(m) if m.penalty == PenaltyChoice::None => Coding::DropReference,
            Method::Sigmoid(m) if m.penalty == PenaltyChoice::None => Coding::DropReference,
            Method::Link(m) if m.penalty == PenaltyChoice::None => Coding::DropReference,
            Method::Risk(_)
            | Method::Sigmoid(_)
            | Method::Link(_)
            | Method::NaiveBayes(_)
            | Method::Perceptron(_)
            | Method::Given(_)
            | Method::HardMargin(_)
            | Method::KernelSvm(_)
            | Method::KernelPerceptron(_) => Coding::AllLevels,
        }
    }

    /// Whether the method standardises.
    pub fn standardize(&self) -> Standardize {
        match self {
            Method::Gaussian(m) => m.standardize,
            Method::Given(_) => Standardize::No,
            Method::HardMargin(m) => m.standardize,
            Method::KernelPerceptron(m) => m.standardize(),
            Method::KernelSvm(m) => m.standardize(),
            Method::LeastSquares(m) => m.standardize,
            Method::Link(m) => m.standardize,
            Method::NaiveBayes(_) => Standardize::No,
            Method::Perceptron(m) => m.standardize,
            Method::Risk(m) => m.standardize,
            Method::Sigmoid(m) => m.standardize,
        }
    }

    /// The same method on columns as they are, which is how sparse columns are taken unless somebody asks: standardising
    /// makes the rarest of them weigh most (of texts by tf-idf 88.9 % were classified rightly in cross-validation, and 85.9 %
    /// with standardised columns), and fits of texts took three to four times as long.
    pub fn on_columns_as_they_are(mut self) -> Method {
        match &mut self {
            Method::Gaussian(m) => m.standardize = Standardize::No,
            Method::HardMargin(m) => m.standardize = Standardize::No,
            Method::KernelPerceptron(m) => m.standardize = Standardize::No,
            Method::KernelSvm(m) => m.standardize = Standardize::No,
            Method::LeastSquares(m) => m.standardize = Standardize::No,
            Method::Link(m) => m.standardize = Standardize::No,
            Method::NaiveBayes(_) | Method::Given(_) => {}
            Method::Perceptron(m) => m.standardize = Standardize::No,
            Method::Risk(m) => m.standardize = Standardize::No,
            Method::Sigmoid(m) => m.standardize = Standardize::No,
        }
        self
    }

    /// The same method with what it says of columns and classes by name put in their order.
    pub fn aligned(&self, recipe: &Recipe, classes: &[String]) -> Result<Method> {
        match self {
            Method::Gaussian(method) if method.known.is_some() => {
                Ok(Method::Gaussian(method.aligned(&recipe.features(), classes)?))
            }
            Method::Risk(method) => Ok(Method::Risk(method.aligned(recipe)?)),
            method => Ok(method.clone()),
        }
    }

    /// Whether the scores are log-odds or log-probabilities, so that they have probabilities.
    pub fn has_probabilities(&self) -> bool {
        match self {
            Method::Gaussian(_) | Method::NaiveBayes(_) | Method::Sigmoid(_) | Method::Link(_) => true,
            Method::Risk(method) => method.loss == LossChoice::Logistic,
            Method::Given(method) => method.has_probabilities(),
            Method::HardMargin(_) | Method::LeastSquares(_) | Method::Perceptron(_) => false,
            Method::KernelSvm(_) | Method::KernelPerceptron(_) => false,
        }
    }

    /// How a score becomes a probability, where that is not by the logistic function.
    pub fn link(&self) -> Option<Link> {
        if let Method::Link(method) = self { Some(method.link) } else { None }
    }

    /// Fits the method.
    ///
    /// ```
    /// use linsep::design::DenseMatrix;
    /// use linsep::model::{Fit, GaussianBayes, Method};
    /// use linsep::design::{Training};
    /// use linsep::table::Labels;
    /// let x = DenseMatrix::new(vec![0.0, 1.0, 2.0, 5.0, 6.0, 7.0], 1)?;
    /// let y = Labels::from_names(["a", "a", "a", "b", "b", "b"]);
    /// let fit = Method::Gaussian(GaussianBayes::lda()).fit(&Training::new(&x, &y), &Default::default())?;
    /// let Fit::Model(model) = fit else { panic!("LDA always has a solution here") };
    /// let w = model.discriminant.as_linear().unwrap();
    /// assert_eq!(w.weights_of(0), [5.0]);          // Σ = 1, μ₁ − μ₀ = 5
    /// assert_eq!(w.intercept(), [-17.5]);          // the boundary is midway, at 3.5
    /// # Ok::<(), linsep::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn fit(&self, training: &Training<'_>, watch: &Watch) -> Result<Fit> {
        self.fit_from(training, None, watch)
    }

    /// The same as a warm start from known discriminants, for iterative methods.
    ///
    /// # Errors
    /// Where the method, or the solver that it takes, has no use for a start.
    #[doc(hidden)]
    pub fn fit_from(&self, training: &Training<'_>, start: Option<&Linear>, watch: &Watch) -> Result<Fit> {
        training.check()?;
        if start.is_some() && !self.takes_start() {
            return Err(Error::usage(format!("{} has no use for a start", self.name()))
                .help("a start is for methods that minimise step by step, as logistic"));
        }
        let mut fit = match self {
            Method::Gaussian(method) => method.fit(training, watch),
            Method::Given(method) => method.fit(training),
            Method::HardMargin(method) => method.fit(training, watch),
            Method::KernelPerceptron(method) => method.fit(training, watch),
            Method::KernelSvm(method) => method.fit(training, watch),
            Method::LeastSquares(method) => method.fit(training, watch),
            Method::Link(method) => method.fit_from(training, start, watch),
            Method::NaiveBayes(method) => method.fit(training, watch),
            Method::Perceptron(method) => method.fit(training, start, watch),
            Method::Risk(method) => method.fit_from(training, start, watch),
            Method::Sigmoid(method) => method.fit_from(training, start, watch),
        }?;
        if let Fit::Model(fitted) = &mut fit {
            fitted.outcome = self.settled(fitted.outcome, &fitted.certificate);
        }
        Ok(fit)
    }

    /// Whether the method can be warm-started from given weights.
    pub fn takes_start(&self) -> bool {
        match self {
            Method::Perceptron(method) => method.takes_start(),
            method => matches!(method, Method::Risk(_) | Method::Sigmoid(_) | Method::Link(_)),
        }
    }

    /// Recomputes the certificate of a support vector machine from its discriminant, its multipliers (one per row) and the
    /// data; other methods have none.
    #[doc(hidden)]
    pub fn certify_multipliers(
        &self,
        training: &Training<'_>,
        discriminant: &Discriminant,
        units: &Units,
        alpha: &[f64],
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        training.check()?;
        match self {
            Method::HardMargin(method) => method.certify_multipliers(training, discriminant, units, alpha, watch),
            Method::KernelSvm(method) => method.certify_multipliers(training, discriminant, units, alpha, watch),
            Method::Risk(method) => method.certify_multipliers(training, discriminant, units, alpha, watch),
            _ => Err(Error::model(format!("a model by {} has no multipliers", self.name()))),
        }
    }

    /// Recomputes the certificate of given discriminants from the data, independently of how they were found.
    #[doc(hidden)]
    pub fn certify(
        &self,
        training: &Training<'_>,
        discriminant: &Discriminant,
        units: &Units,
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        training.check()?;
        match self {
            Method::Gaussian(method) => method.certify(training, discriminant, watch),
            Method::Given(_) => Err(Error::model("a given rule claims nothing about any rows")),
            Method::HardMargin(_) => Err(Error::model("the multipliers of a hard margin model are missing")),
            Method::KernelPerceptron(method) => method.certify(training, discriminant, units, watch),
            Method::KernelSvm(_) => Err(Error::model("a kernel machine cannot be checked without its multipliers")),
            Method::LeastSquares(method) => method.certify(training, discriminant, watch),
            Method::Link(method) => method.certify(training, discriminant, units, watch),
            Method::NaiveBayes(method) => method.certify(training, discriminant, watch),
            Method::Perceptron(method) => method.certify(training, discriminant, units, watch),
            Method::Risk(method) => method.certify(training, discriminant, units, watch),
            Method::Sigmoid(method) => method.certify(training, discriminant, units, watch),
        }
    }
}

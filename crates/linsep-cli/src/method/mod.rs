//! The flags that choose a method, and the method they choose.

mod generative;
mod kernel;
mod link;
mod parse;
mod risk;
mod sigmoid;

pub use parse::{class_names, penalty, priors};

use crate::perceptron::PerceptronArguments;
use clap::{Args, ValueEnum};
use kernel::KernelArguments;
use linsep::artifact::Model;
use linsep::design::Standardize;
use linsep::model::{CovarianceShape, HardMarginSettings, Method, PerceptronVariant};
use linsep::objective::Intercept;
use linsep::table::Table;
use linsep::{Error, Result};
use std::path::{Path, PathBuf};

/// What to fit; every flag names the methods it belongs to in [`MethodArguments::given`].
#[derive(Args)]
pub struct MethodArguments {
    /// Method
    #[arg(long, short, value_enum, default_value = "logistic", value_name = "METHOD", help_heading = "Method")]
    model: MethodName,

    /// Scale columns to mean 0 and variance 1, so that a penalty treats them alike (default: yes; sparse input,
    /// spherical and hard-margin: no)
    #[arg(long, value_enum, value_name = "YES|NO", help_heading = "Method")]
    standardize: Option<YesNo>,

    /// ridge (λ = 1/Σs; the default of logistic and svm), ridge:λ, lasso:λ, elastic-net:α:λ or none (the default of
    /// least squares); fit and tune choose λ by five folds of ridge:cv, lasso:cv and elastic-net:α:cv
    #[arg(long, value_name = "PENALTY", help_heading = "Method")]
    penalty: Option<String>,

    /// Multiply the penalty of single columns: 0 leaves one without a penalty
    #[arg(long, value_name = "COLUMN=F", value_delimiter = ',', help_heading = "Method")]
    penalty_factors: Vec<String>,

    /// How the score of two classes becomes a probability: logit (default), probit, cloglog or cauchit
    #[arg(long, value_enum, value_name = "LINK", help_heading = "Method")]
    link: Option<link::LinkName>,

    /// Loss of a support vector machine (default: hinge)
    #[arg(long, value_enum, value_name = "LOSS", help_heading = "Method")]
    loss: Option<LossName>,

    /// Intercept of logistic, svm and least squares (default: free)
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Method")]
    intercept: Option<InterceptName>,

    /// Softmax with a score for every class (default), or with a reference class, the first unless --reference-class says another
    #[arg(long, value_enum, value_name = "FORM", help_heading = "Method")]
    softmax: Option<SoftmaxName>,

    /// Targets of least squares for two classes: −1 and 1 (default), or 0 and 1
    #[arg(long, value_enum, value_name = "TARGETS", help_heading = "Method")]
    targets: Option<TargetsName>,

    /// Divisor of Gaussian covariances and variances: unbiased (less one per mean; default) or mle
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Method")]
    covariance: Option<DivisorName>,

    /// Shrinkage of Gaussian covariances: none, auto (Ledoit–Wolf) or a number from 0 to 1
    #[arg(long, value_name = "AMOUNT", help_heading = "Method")]
    shrinkage: Option<String>,

    /// Prior probabilities of the classes, as class=share pairs (default: the observed shares)
    #[arg(long, value_name = "CLASS=P", value_delimiter = ',', help_heading = "Method")]
    priors: Vec<String>,

    /// JSON file of Gaussian parameters that are known, or of a prior of the means; the rest is estimated. Of --model given: of
    /// the classes or the plane, as simulate writes it
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    parameters: Option<PathBuf>,

    /// Naive Bayes family of number columns (default: gaussian), and column=FAMILY for single columns
    #[arg(long, value_name = "FAMILY", value_delimiter = ',', help_heading = "Method")]
    family: Vec<String>,

    /// Naive Bayes: rows added to the counts, shares and means of every class (default: 1)
    #[arg(long, value_name = "A", help_heading = "Method")]
    smoothing: Option<f64>,

    /// Naive Bayes: share of a column's overall variance added to its Gaussian variances (default: 0)
    #[arg(long, value_name = "V", help_heading = "Method")]
    variance_smoothing: Option<f64>,

    /// Algorithm; which ones can do it depends on loss and penalty (see docs/command.md)
    #[arg(long, value_enum, value_name = "SOLVER", help_heading = "Method")]
    solver: Option<SolverName>,

    /// Rows of a step of --solver sgd (default: 1)
    #[arg(long, value_name = "ROWS", help_heading = "Method")]
    batch: Option<usize>,

    /// Random starts of sigmoid-ls, beside three that are always tried (default: 5)
    #[arg(long, value_name = "N", help_heading = "Method")]
    restarts: Option<usize>,

    /// Stop when the relative gap is proved to be at most this (default: 1e-8; with --kernel 1e-6; hard-margin: of the margin)
    #[arg(long, value_name = "TOL", help_heading = "Method")]
    tol: Option<f64>,

    /// Stop after this many iterations, with exit code 3 (the default depends on the solver), or after this many epochs
    /// (default: perceptron 1000, by batch 10000; pocket and averaged-perceptron 100)
    #[arg(long, value_name = "N", help_heading = "Method")]
    max_iter: Option<usize>,

    #[command(flatten)]
    perceptron: PerceptronArguments,

    #[command(flatten)]
    kernel: KernelArguments,
}

/// Methods by name.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodName {
    /// Logistic regression; softmax for more than two classes
    Logistic,
    /// The same as logistic
    Softmax,
    /// Linear discriminant analysis: Gaussian classes with one covariance
    Lda,
    /// Quadratic discriminant analysis: Gaussian classes with a covariance each
    Qda,
    /// Gaussian classes with covariance σ²I
    Spherical,
    /// Naive Bayes: columns independent within a class, each of its own family
    NaiveBayes,
    /// Least squares on class targets; ridge with a penalty
    LeastSquares,
    /// Least squares on the outputs of a sigmoid: two classes, not convex
    SigmoidLs,
    /// Support vector machine: linear, or with --kernel
    Svm,
    /// The widest margin between two classes, or the proof that no plane separates them
    HardMargin,
    /// The perceptron: a plane that separates two classes, or the proof that there is none
    Perceptron,
    /// The best plane that a perceptron meets, also where the classes overlap
    Pocket,
    /// The average of all planes that a perceptron goes through
    AveragedPerceptron,
    /// The perceptron with a kernel: two classes
    KernelPerceptron,
    /// A plane or classes that are given (--plane, --parameters): nothing is fitted, and no FILE is read
    Given,
}

use MethodName::{
    AveragedPerceptron as Averaged, Given, HardMargin as Hard, KernelPerceptron as Kernel, Lda,
    LeastSquares as Squares, Logistic, NaiveBayes as Naive, Perceptron, Pocket, Qda, SigmoidLs as Sigmoid, Softmax,
    Spherical, Svm,
};

#[derive(Clone, Copy, ValueEnum)]
enum YesNo {
    Yes,
    No,
}

#[derive(Clone, Copy, ValueEnum)]
enum InterceptName {
    /// Fitted, not penalised
    Free,
    /// Zero
    None,
    /// Penalised like a weight
    Penalised,
}

#[derive(Clone, Copy, ValueEnum)]
enum SoftmaxName {
    /// A score for every class
    Symmetric,
    /// The first class has score zero
    Reference,
}

#[derive(Clone, Copy, ValueEnum)]
enum LossName {
    /// max(0, 1 − y·z)
    Hinge,
    /// max(0, 1 − y·z)²
    SquaredHinge,
}

#[derive(Clone, Copy, ValueEnum)]
enum TargetsName {
    /// −1 and 1
    PlusMinus,
    /// 0 and 1
    ZeroOne,
}

#[derive(Clone, Copy, ValueEnum)]
enum DivisorName {
    /// Σs−K; n_k−1 where classes have their own
    Unbiased,
    /// Σs; n_k where classes have their own
    Mle,
}

#[derive(Clone, Copy, ValueEnum)]
enum SolverName {
    /// By the number of coefficients, or by the pivots
    Auto,
    /// Newton with a Cholesky factor
    Newton,
    /// Truncated Newton by conjugate gradients
    NewtonCg,
    /// Newton in the space of the rows: sparse rows of many columns
    RowNewton,
    /// Gauss–Newton with damping (sigmoid-ls)
    GaussNewton,
    /// Limited-memory BFGS
    Lbfgs,
    /// A Cholesky factor of the normal equations
    Cholesky,
    /// QR with column pivoting
    Qr,
    /// Gradient descent with a line search (least squares: on the normal equations)
    GradientDescent,
    /// Gradient descent with one fixed step
    FixedStep,
    /// Proximal Newton by coordinate descent, for lasso and elastic net
    ProximalNewton,
    /// Interior point method (hinge)
    InteriorPoint,
    /// Dual coordinate descent (support vector machines)
    DualCd,
    /// Stochastic gradients with reduced variance
    Svrg,
    /// Stochastic gradient descent with averaging
    Sgd,
}

impl From<InterceptName> for Intercept {
    fn from(name: InterceptName) -> Intercept {
        match name {
            InterceptName::Free => Intercept::Free,
            InterceptName::None => Intercept::None,
            InterceptName::Penalised => Intercept::Penalised,
        }
    }
}

impl MethodArguments {
    /// The file of known parameters, where there is one.
    pub fn file(&self) -> Option<&Path> {
        self.parameters.as_deref()
    }

    /// The method as far as it is known before the table is read; `offset` says whether offsets are wanted.
    pub fn method(&self, offset: bool, seed: u64) -> Result<Method> {
        self.refuse_foreign_flags(offset)?;
        let family = |variant| {
            let intercept = self.intercept.map(Intercept::from);
            self.perceptron.method(variant, self.standardize(), intercept, self.max_iter, seed)
        };
        match self.model {
            Svm | Hard if self.kernel.is_given() => self.kernel_svm(),
            Logistic | Softmax => match self.other_link() {
                Some(link) => self.link_regression(link),
                None => self.risk(seed),
            },
            Svm => self.risk(seed),
            Squares if !self.has_closed_form()? => self.risk(seed),
            Squares if self.takes_steps() => self.risk_by_steps(seed),
            Lda => self.gaussian(CovarianceShape::Shared),
            Qda => self.gaussian(CovarianceShape::Own),
            Spherical => self.gaussian(CovarianceShape::Spherical),
            Naive => self.naive_bayes(),
            Squares => self.least_squares(),
            Sigmoid => self.sigmoid(seed),
            Hard => Ok(self.hard_margin()),
            Perceptron => family(self.perceptron.plain()),
            Pocket => family(self.perceptron.pocket()),
            Averaged => family(PerceptronVariant::Averaged),
            Kernel => self.kernel_perceptron(seed),
            Given => {
                Err(Error::usage("--model given is for fit: it learns from no table").help("choose another method"))
            }
        }
    }

    /// What the table decides where no flag does: sparse columns are taken as they are.
    pub fn on_table(&self, method: Method, table: &Table) -> Method {
        match self.standardize {
            None if table.sparse_width() > 0 => method.on_columns_as_they_are(),
            _ => method,
        }
    }

    /// The same, and what is given by class name: the order of the classes is known once the table is read.
    pub fn with_classes(&self, method: Method, table: &Table, target: &str, positive: Option<&str>) -> Result<Method> {
        let method = self.on_table(method, table);
        if self.priors.is_empty() {
            return Ok(method);
        }
        self.with_class_names(method, &class_names(table, target, positive)?)
    }

    /// What is given by class name, of known classes.
    pub fn with_class_names(&self, mut method: Method, names: &[String]) -> Result<Method> {
        if self.priors.is_empty() {
            return Ok(method);
        }
        let given = Some(priors("--priors", &self.priors, names)?);
        match &mut method {
            Method::Gaussian(gaussian) => gaussian.priors = given,
            Method::NaiveBayes(bayes) => bayes.priors = given,
            _ => {}
        }
        Ok(method)
    }

    /// Why columns were not standardised, where no flag says it.
    pub fn says_of_columns(&self, model: &Model) -> Option<&'static str> {
        let sparse = self.standardize.is_none() && model.recipe.sparse_width > 0;
        // Naive Bayes and the widest plane take any columns as they are.
        let scales = !matches!(model.method, Method::NaiveBayes(_) | Method::HardMargin(_));
        (sparse && scales).then_some("as they are, because they are sparse; --standardize yes scales them")
    }

    /// Whether softmax is to have a reference class.
    pub fn has_reference(&self) -> bool {
        matches!(self.softmax, Some(SoftmaxName::Reference))
    }

    /// Whether priors were given.
    pub fn has_priors(&self) -> bool {
        !self.priors.is_empty()
    }

    fn standardize(&self) -> Standardize {
        match self.standardize {
            None | Some(YesNo::Yes) => Standardize::Yes,
            Some(YesNo::No) => Standardize::No,
        }
    }

    /// Distances are those of the columns as they are unless asked otherwise: that is what a margin is in the textbooks.
    fn hard_margin(&self) -> Method {
        let defaults = HardMarginSettings::default();
        let standardize = if self.standardize.is_some() { self.standardize() } else { defaults.standardize };
        Method::HardMargin(HardMarginSettings { standardize, tolerance: self.tol.unwrap_or(defaults.tolerance) })
    }

    /// Every flag of some methods only: whether it was given, and the methods it belongs to.
    fn given(&self, offset: bool) -> Vec<(&'static str, bool, &'static [MethodName])> {
        vec![
            ("--offset", offset, &[Logistic, Softmax, Svm, Sigmoid]),
            (
                "--standardize",
                self.standardize.is_some(),
                &[
                    Logistic, Softmax, Svm, Hard, Lda, Qda, Spherical, Squares, Sigmoid, Perceptron, Pocket, Averaged,
                    Kernel,
                ],
            ),
            ("--penalty", self.penalty.is_some(), &[Logistic, Softmax, Svm, Squares, Sigmoid]),
            ("--penalty-factors", !self.penalty_factors.is_empty(), &[Logistic, Softmax, Svm, Squares]),
            ("--link", self.link.is_some(), &[Logistic, Softmax]),
            ("--loss", self.loss.is_some(), &[Svm]),
            (
                "--intercept",
                self.intercept.is_some(),
                match self.kernel.is_given() {
                    // Only with a kernel can the plane of a hard margin be one through the origin.
                    true => &[Logistic, Softmax, Svm, Hard, Squares, Sigmoid, Perceptron, Pocket, Averaged],
                    false => &[Logistic, Softmax, Svm, Squares, Sigmoid, Perceptron, Pocket, Averaged],
                },
            ),
            ("--softmax", self.softmax.is_some(), &[Logistic, Softmax]),
            ("--solver", self.solver.is_some(), &[Logistic, Softmax, Svm, Squares, Sigmoid]),
            ("--tol", self.tol.is_some(), &[Logistic, Softmax, Svm, Hard, Squares, Sigmoid]),
            (
                "--max-iter",
                self.max_iter.is_some(),
                &[Logistic, Softmax, Svm, Squares, Sigmoid, Perceptron, Pocket, Averaged, Kernel],
            ),
            ("--restarts", self.restarts.is_some(), &[Sigmoid]),
            ("--targets", self.targets.is_some(), &[Squares]),
            ("--covariance", self.covariance.is_some(), &[Lda, Qda, Spherical, Naive]),
            ("--shrinkage", self.shrinkage.is_some(), &[Lda, Qda]),
            ("--priors", !self.priors.is_empty(), &[Lda, Qda, Spherical, Naive]),
            ("--parameters", self.parameters.is_some(), &[Lda, Qda, Spherical, Given]),
            ("--family", !self.family.is_empty(), &[Naive]),
            ("--smoothing", self.smoothing.is_some(), &[Naive]),
            ("--variance-smoothing", self.variance_smoothing.is_some(), &[Naive]),
            ("--update", self.perceptron.update.is_some(), &[Perceptron]),
            ("--pocket", self.perceptron.pocket.is_some(), &[Pocket]),
            (
                "--step",
                self.perceptron.step.is_some(),
                &[Logistic, Softmax, Svm, Squares, Sigmoid, Perceptron, Pocket, Averaged],
            ),
            ("--batch", self.batch.is_some(), &[Logistic, Softmax, Svm, Squares, Sigmoid]),
            (
                "--order",
                self.perceptron.order.is_some(),
                &[Logistic, Softmax, Svm, Squares, Perceptron, Pocket, Averaged, Kernel],
            ),
            ("--kernel", self.kernel.is_given(), &[Svm, Hard, Kernel]),
            ("--C", self.kernel.cost.is_some(), &[Logistic, Softmax, Svm]),
        ]
    }

    /// A flag of another method would be ignored; say so instead.
    fn refuse_foreign_flags(&self, offset: bool) -> Result<()> {
        if self.perceptron.order.is_some() && self.perceptron.is_batch() {
            return Err(Error::usage("--order is for rows one at a time, and --update batch and sum take all at once")
                .help("leave one of them out"));
        }
        self.kernel.refuse_strays(self.model == Kernel)?;
        let foreign = |(_, given, methods): &(_, bool, &[MethodName])| *given && !methods.contains(&self.model);
        match self.given(offset).into_iter().find(foreign) {
            None => Ok(()),
            Some((flag, _, methods)) => {
                // Softmax is another name of logistic.
                let different = methods.iter().filter(|m| **m != Softmax);
                let others: Vec<String> = different.map(|m| format!("--model {}", name(*m))).collect();
                Err(Error::usage(format!("{flag} does not belong to --model {}", name(self.model)))
                    .help(format!("leave it out, or choose {}", others.join(" or "))))
            }
        }
    }
}

/// The name on the command line.
fn name(method: MethodName) -> String {
    method.to_possible_value().map(|v| v.get_name().to_owned()).unwrap_or_default()
}

/// A solver that the method does not have.
fn foreign_solver(solver: SolverName, method: &str, own: &str) -> Error {
    let solver = solver.to_possible_value().map(|v| v.get_name().to_owned()).unwrap_or_default();
    Error::usage(format!("--solver {solver} does not belong to --model {method}")).help(format!("use {own}"))
}

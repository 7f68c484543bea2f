//! The flags that choose a method, and the method they choose.

use crate::perceptron::PerceptronArguments;
use clap::{Args, ValueEnum};
use linsep::design::Standardize;
use linsep::model::{
    Algorithm, Divisor, FamilyChoice, GaussianBayes, Known, LeastSquares, LeastSquaresSolver, LogisticRegression,
    Method, NaiveBayes, PenaltyChoice, PerceptronVariant, Shape, Shrinkage, Targets,
};
use linsep::objective::{Intercept, SoftmaxForm};
use linsep::table::{Labels, Table};
use linsep::{Error, Result};
use std::path::{Path, PathBuf};

/// What to fit; every flag names the methods it belongs to in [`MethodArguments::given`].
#[derive(Args)]
pub struct MethodArguments {
    /// Method
    #[arg(long, short, value_enum, default_value = "logistic", value_name = "METHOD", help_heading = "Method")]
    model: MethodName,

    /// Scale columns to mean 0 and variance 1, so that a penalty treats them alike
    #[arg(long, value_enum, default_value = "yes", value_name = "YES|NO", help_heading = "Method")]
    standardize: YesNo,

    /// Penalty of logistic regression (default: ridge) and least squares (default: none): ridge (λ = 1/Σs), ridge:λ or none
    #[arg(long, value_name = "PENALTY", help_heading = "Method")]
    penalty: Option<String>,

    /// Intercept of logistic regression and least squares (default: free)
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Method")]
    intercept: Option<InterceptName>,

    /// Softmax with a score for every class (default), or with the first class as reference
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

    /// JSON file of Gaussian parameters that are known, or of a prior of the means; the rest is estimated
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

    /// Algorithm of logistic regression (auto, newton, newton-cg) and least squares (auto, cholesky, qr, gradient-descent)
    #[arg(long, value_enum, value_name = "SOLVER", help_heading = "Method")]
    solver: Option<SolverName>,

    /// Stop when the relative gap is proved to be at most this (default: 1e-8)
    #[arg(long, value_name = "TOL", help_heading = "Method")]
    tol: Option<f64>,

    /// Stop after this many iterations, with exit code 3 (default: 100; gradient descent: 10000), or after this many epochs
    /// (default: perceptron 1000, by batch 10000; pocket and averaged-perceptron 100)
    #[arg(long, value_name = "N", help_heading = "Method")]
    max_iter: Option<usize>,

    #[command(flatten)]
    perceptron: PerceptronArguments,
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
    /// The perceptron: a plane that separates two classes, or the proof that there is none
    Perceptron,
    /// The best plane that a perceptron meets, also where the classes overlap
    Pocket,
    /// The average of all planes that a perceptron goes through
    AveragedPerceptron,
}

use MethodName::{
    AveragedPerceptron as Averaged, Lda, LeastSquares as Squares, Logistic, NaiveBayes as Naive, Perceptron, Pocket,
    Qda, Softmax, Spherical,
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
    /// A Cholesky factor of the normal equations
    Cholesky,
    /// QR with column pivoting
    Qr,
    /// Gradient descent on the normal equations
    GradientDescent,
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
    /// The method as far as it is known before the table is read; `offset` says whether offsets are wanted.
    pub fn method(&self, offset: bool, seed: u64) -> Result<Method> {
        self.refuse_foreign_flags(offset)?;
        let family = |variant| {
            let intercept = self.intercept.map(Intercept::from);
            Ok(self.perceptron.method(variant, self.standardize(), intercept, self.max_iter, seed))
        };
        match self.model {
            Logistic | Softmax => self.logistic(),
            Lda => self.gaussian(Shape::Shared),
            Qda => self.gaussian(Shape::Own),
            Spherical => self.gaussian(Shape::Spherical),
            Naive => self.naive_bayes(),
            Squares => self.least_squares(),
            Perceptron => family(self.perceptron.plain()),
            Pocket => family(self.perceptron.pocket()),
            Averaged => family(PerceptronVariant::Averaged),
        }
    }

    /// Adds what is given by class name: the order of the classes is known once the table is read.
    pub fn with_classes(
        &self,
        mut method: Method,
        table: &Table,
        target: &str,
        positive: Option<&str>,
    ) -> Result<Method> {
        if self.priors.is_empty() {
            return Ok(method);
        }
        let given = Some(priors(&self.priors, &class_names(table, target, positive)?)?);
        match &mut method {
            Method::Gaussian(gaussian) => gaussian.priors = given,
            Method::NaiveBayes(bayes) => bayes.priors = given,
            _ => {}
        }
        Ok(method)
    }

    fn standardize(&self) -> Standardize {
        match self.standardize {
            YesNo::Yes => Standardize::Yes,
            YesNo::No => Standardize::No,
        }
    }

    fn divisor(&self) -> Divisor {
        match self.covariance {
            Some(DivisorName::Mle) => Divisor::Mle,
            _ => Divisor::Unbiased,
        }
    }

    fn naive_bayes(&self) -> Result<Method> {
        let mut method = NaiveBayes { divisor: self.divisor(), ..NaiveBayes::default() };
        let mut given = false;
        for choice in &self.family {
            match choice.rsplit_once('=') {
                Some((column, family)) => method.overrides.push((column.to_owned(), family.parse::<FamilyChoice>()?)),
                None if given => {
                    return Err(Error::usage("--family names two families for all columns of numbers")
                        .help("give single columns their own as column=FAMILY"));
                }
                None => {
                    method.numbers = choice.parse::<FamilyChoice>()?;
                    given = true;
                }
            }
        }
        method.smoothing = self.smoothing.unwrap_or(method.smoothing);
        method.variance_smoothing = self.variance_smoothing.unwrap_or(method.variance_smoothing);
        Ok(Method::NaiveBayes(method))
    }

    fn gaussian(&self, shape: Shape) -> Result<Method> {
        let known = self.parameters.as_deref().map(parameters).transpose()?;
        Ok(Method::Gaussian(GaussianBayes {
            divisor: self.divisor(),
            shrinkage: self.shrinkage.as_deref().map_or(Ok(Shrinkage::None), shrinkage)?,
            priors: None,
            known,
            standardize: self.standardize(),
            ..GaussianBayes::new(shape)
        }))
    }

    fn logistic(&self) -> Result<Method> {
        let defaults = LogisticRegression::default();
        Ok(Method::Logistic(LogisticRegression {
            penalty: self.penalty.as_deref().map_or(Ok(defaults.penalty), penalty)?,
            intercept: self.intercept.map_or(defaults.intercept, Intercept::from),
            form: match self.softmax {
                None | Some(SoftmaxName::Symmetric) => SoftmaxForm::Symmetric,
                Some(SoftmaxName::Reference) => SoftmaxForm::Reference,
            },
            standardize: self.standardize(),
            algorithm: match self.solver {
                None | Some(SolverName::Auto) => Algorithm::Auto,
                Some(SolverName::Newton) => Algorithm::Newton,
                Some(SolverName::NewtonCg) => Algorithm::NewtonCg,
                Some(other) => return Err(foreign_solver(other, "logistic", "auto, newton or newton-cg")),
            },
            tolerance: self.tol.unwrap_or(defaults.tolerance),
            max_iterations: self.max_iter.unwrap_or(defaults.max_iterations),
        }))
    }

    fn least_squares(&self) -> Result<Method> {
        let defaults = LeastSquares::default();
        let solver = match self.solver {
            None | Some(SolverName::Auto) => LeastSquaresSolver::Auto,
            Some(SolverName::Cholesky) => LeastSquaresSolver::Cholesky,
            Some(SolverName::Qr) => LeastSquaresSolver::Qr,
            Some(SolverName::GradientDescent) => LeastSquaresSolver::GradientDescent,
            Some(other) => {
                return Err(foreign_solver(other, "least-squares", "auto, cholesky, qr or gradient-descent"));
            }
        };
        for (flag, given) in [("--tol", self.tol.is_some()), ("--max-iter", self.max_iter.is_some())] {
            if given && solver != LeastSquaresSolver::GradientDescent {
                return Err(Error::usage(format!("{flag} is for iterations, and least squares has a closed form"))
                    .help("leave it out, or choose --solver gradient-descent"));
            }
        }
        Ok(Method::LeastSquares(LeastSquares {
            targets: match self.targets {
                None => Targets::Auto,
                Some(TargetsName::PlusMinus) => Targets::PlusMinus,
                Some(TargetsName::ZeroOne) => Targets::ZeroOne,
            },
            penalty: self.penalty.as_deref().map_or(Ok(defaults.penalty), penalty)?,
            intercept: self.intercept.map_or(defaults.intercept, Intercept::from),
            standardize: self.standardize(),
            solver,
            tolerance: self.tol.unwrap_or(defaults.tolerance),
            max_iterations: self.max_iter.unwrap_or(defaults.max_iterations),
            ..defaults
        }))
    }

    /// Every flag of some methods only: whether it was given, and the methods it belongs to.
    fn given(&self, offset: bool) -> Vec<(&'static str, bool, &'static [MethodName])> {
        vec![
            ("--offset", offset, &[Logistic, Softmax]),
            ("--penalty", self.penalty.is_some(), &[Logistic, Softmax, Squares]),
            ("--intercept", self.intercept.is_some(), &[Logistic, Softmax, Squares, Perceptron, Pocket, Averaged]),
            ("--softmax", self.softmax.is_some(), &[Logistic, Softmax]),
            ("--solver", self.solver.is_some(), &[Logistic, Softmax, Squares]),
            ("--tol", self.tol.is_some(), &[Logistic, Softmax, Squares]),
            ("--max-iter", self.max_iter.is_some(), &[Logistic, Softmax, Squares, Perceptron, Pocket, Averaged]),
            ("--targets", self.targets.is_some(), &[Squares]),
            ("--covariance", self.covariance.is_some(), &[Lda, Qda, Spherical, Naive]),
            ("--shrinkage", self.shrinkage.is_some(), &[Lda, Qda]),
            ("--priors", !self.priors.is_empty(), &[Lda, Qda, Spherical, Naive]),
            ("--parameters", self.parameters.is_some(), &[Lda, Qda, Spherical]),
            ("--family", !self.family.is_empty(), &[Naive]),
            ("--smoothing", self.smoothing.is_some(), &[Naive]),
            ("--variance-smoothing", self.variance_smoothing.is_some(), &[Naive]),
            ("--update", self.perceptron.update.is_some(), &[Perceptron]),
            ("--pocket", self.perceptron.pocket.is_some(), &[Pocket]),
            ("--step", self.perceptron.step.is_some(), &[Perceptron, Pocket, Averaged]),
            ("--order", self.perceptron.order.is_some(), &[Perceptron, Averaged]),
        ]
    }

    /// A flag of another method would be ignored; say so instead.
    fn refuse_foreign_flags(&self, offset: bool) -> Result<()> {
        if self.perceptron.order.is_some() && self.perceptron.is_batch() {
            return Err(Error::usage("--order is for rows one at a time, and --update batch takes all at once")
                .help("leave one of them out"));
        }
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

fn penalty(text: &str) -> Result<PenaltyChoice> {
    let (name, amount) = text.split_once(':').map_or((text, None), |(n, a)| (n, Some(a)));
    match (name, amount) {
        ("none", None) => Ok(PenaltyChoice::None),
        ("ridge", None | Some("auto")) => Ok(PenaltyChoice::RidgeOne),
        ("ridge", Some(amount)) => match amount.parse::<f64>() {
            Ok(lambda) if lambda > 0.0 && lambda.is_finite() => Ok(PenaltyChoice::Ridge(lambda)),
            _ => Err(Error::usage(format!("`{amount}` is not a positive ridge penalty"))
                .help("for example --penalty ridge:0.1")),
        },
        _ => Err(Error::usage(format!("`{text}` is not a penalty")).help("use ridge, ridge:0.1 or none")),
    }
}

fn shrinkage(text: &str) -> Result<Shrinkage> {
    match text {
        "none" => Ok(Shrinkage::None),
        "auto" => Ok(Shrinkage::LedoitWolf),
        number => {
            match number.parse::<f64>() {
                Ok(a) if (0.0..=1.0).contains(&a) => Ok(Shrinkage::Fixed(a)),
                _ => Err(Error::usage(format!("`{number}` is not a shrinkage"))
                    .help("use none, auto or a number from 0 to 1")),
            }
        }
    }
}

fn parameters(path: &Path) -> Result<Known> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|e| Error::io(&name, &e))?;
    Known::from_json(&bytes, &name)
}

/// Class names in the order the model will have.
pub fn class_names(table: &Table, target: &str, positive: Option<&str>) -> Result<Vec<String>> {
    let (_, mut names) = Labels::from_column(table, table.column(target)?);
    if let Some(positive) = positive {
        names.retain(|n| n != positive);
        names.push(positive.to_owned());
    }
    Ok(names)
}

/// `class=share` pairs in the order of the classes.
fn priors(pairs: &[String], names: &[String]) -> Result<Vec<f64>> {
    let mut shares = vec![None; names.len()];
    for pair in pairs {
        let parsed = pair.rsplit_once('=').and_then(|(class, p)| Some((class, p.parse::<f64>().ok()?)));
        let Some((class, share)) = parsed else {
            return Err(Error::usage(format!("`{pair}` is not a prior")).help("write --priors a=0.2,b=0.8"));
        };
        match names.iter().position(|n| n == class) {
            Some(k) => shares[k] = Some(share),
            None => {
                return Err(Error::usage(format!("there is no class `{class}`"))
                    .help(format!("the classes are: {}", names.join(", "))));
            }
        }
    }
    let missing: Vec<&str> = names.iter().zip(&shares).filter(|(_, s)| s.is_none()).map(|(n, _)| n.as_str()).collect();
    if !missing.is_empty() {
        return Err(
            Error::usage(format!("no prior for class `{}`", missing.join("`, `"))).help("give one for every class")
        );
    }
    Ok(shares.into_iter().flatten().collect())
}

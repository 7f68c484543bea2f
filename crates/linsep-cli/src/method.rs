//! The flags that choose a method, and the method they choose.

use clap::{Args, ValueEnum};
use linsep::design::Standardize;
use linsep::model::{
    Algorithm, Divisor, GaussianBayes, Known, LogisticRegression, Method, PenaltyChoice, Shape, Shrinkage,
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

    /// Penalty of logistic regression: ridge (λ = 1/Σs), ridge:λ or none (maximum likelihood)
    #[arg(long, value_name = "PENALTY", help_heading = "Method")]
    penalty: Option<String>,

    /// Intercept of logistic regression (default: free)
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Method")]
    intercept: Option<InterceptName>,

    /// Softmax with a score for every class (default), or with the first class as reference
    #[arg(long, value_enum, value_name = "FORM", help_heading = "Method")]
    softmax: Option<SoftmaxName>,

    /// Divisor of Gaussian covariances: unbiased (Σs−K, or n_k−1 for qda; default) or mle (Σs, n_k)
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Method")]
    covariance: Option<DivisorName>,

    /// Shrinkage of Gaussian covariances: none, auto (Ledoit–Wolf) or a number from 0 to 1
    #[arg(long, value_name = "AMOUNT", help_heading = "Method")]
    shrinkage: Option<String>,

    /// Prior probabilities of Gaussian classes, as class=share pairs (default: the observed shares)
    #[arg(long, value_name = "CLASS=P", value_delimiter = ',', help_heading = "Method")]
    priors: Vec<String>,

    /// JSON file of Gaussian parameters that are known, or of a prior of the means; the rest is estimated
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    parameters: Option<PathBuf>,

    /// Algorithm of logistic regression (default: auto)
    #[arg(long, value_enum, value_name = "SOLVER", help_heading = "Method")]
    solver: Option<SolverName>,

    /// Stop when the relative gap is proved to be at most this (default: 1e-8)
    #[arg(long, value_name = "TOL", help_heading = "Method")]
    tol: Option<f64>,

    /// Stop after this many iterations, with exit code 3 (default: 100)
    #[arg(long, value_name = "N", help_heading = "Method")]
    max_iter: Option<usize>,
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
}

use MethodName::{Lda, Logistic, Qda, Softmax, Spherical};

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
enum DivisorName {
    /// Σs−K, or n_k−1 for qda
    Unbiased,
    /// Σs, or n_k for qda
    Mle,
}

#[derive(Clone, Copy, ValueEnum)]
enum SolverName {
    /// By the number of coefficients
    Auto,
    /// Newton with a Cholesky factor
    Newton,
    /// Truncated Newton by conjugate gradients
    NewtonCg,
}

impl MethodArguments {
    /// The method as far as it is known before the table is read; `offset` says whether offsets are wanted.
    pub fn method(&self, offset: bool) -> Result<Method> {
        self.refuse_foreign_flags(offset)?;
        match self.model {
            Logistic | Softmax => self.logistic(),
            Lda => self.gaussian(Shape::Shared),
            Qda => self.gaussian(Shape::Own),
            Spherical => self.gaussian(Shape::Spherical),
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
        if let Method::Gaussian(gaussian) = &mut method
            && !self.priors.is_empty()
        {
            gaussian.priors = Some(priors(&self.priors, &class_names(table, target, positive)?)?);
        }
        Ok(method)
    }

    fn standardize(&self) -> Standardize {
        match self.standardize {
            YesNo::Yes => Standardize::Yes,
            YesNo::No => Standardize::No,
        }
    }

    fn gaussian(&self, shape: Shape) -> Result<Method> {
        let known = self.parameters.as_deref().map(parameters).transpose()?;
        Ok(Method::Gaussian(GaussianBayes {
            divisor: match self.covariance {
                Some(DivisorName::Mle) => Divisor::Mle,
                _ => Divisor::Unbiased,
            },
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
            intercept: match self.intercept {
                None | Some(InterceptName::Free) => Intercept::Free,
                Some(InterceptName::None) => Intercept::None,
                Some(InterceptName::Penalised) => Intercept::Penalised,
            },
            form: match self.softmax {
                None | Some(SoftmaxName::Symmetric) => SoftmaxForm::Symmetric,
                Some(SoftmaxName::Reference) => SoftmaxForm::Reference,
            },
            standardize: self.standardize(),
            algorithm: match self.solver {
                None | Some(SolverName::Auto) => Algorithm::Auto,
                Some(SolverName::Newton) => Algorithm::Newton,
                Some(SolverName::NewtonCg) => Algorithm::NewtonCg,
            },
            tolerance: self.tol.unwrap_or(defaults.tolerance),
            max_iterations: self.max_iter.unwrap_or(defaults.max_iterations),
        }))
    }

    /// Every flag of some methods only: whether it was given, and the methods it belongs to.
    fn given(&self, offset: bool) -> Vec<(&'static str, bool, &'static [MethodName])> {
        vec![
            ("--offset", offset, &[Logistic, Softmax]),
            ("--penalty", self.penalty.is_some(), &[Logistic, Softmax]),
            ("--intercept", self.intercept.is_some(), &[Logistic, Softmax]),
            ("--softmax", self.softmax.is_some(), &[Logistic, Softmax]),
            ("--solver", self.solver.is_some(), &[Logistic, Softmax]),
            ("--tol", self.tol.is_some(), &[Logistic, Softmax]),
            ("--max-iter", self.max_iter.is_some(), &[Logistic, Softmax]),
            ("--covariance", self.covariance.is_some(), &[Lda, Qda, Spherical]),
            ("--shrinkage", self.shrinkage.is_some(), &[Lda, Qda]),
            ("--priors", !self.priors.is_empty(), &[Lda, Qda, Spherical]),
            ("--parameters", self.parameters.is_some(), &[Lda, Qda, Spherical]),
        ]
    }

    /// A flag of another method would be ignored; say so instead.
    fn refuse_foreign_flags(&self, offset: bool) -> Result<()> {
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

//! The voice of the Python package: settings are keywords and classes, rows and columns are counted from 0.

use linsep::words::{Setting, Voice};

/// How Python speaks.
pub(crate) struct Python;

impl Voice for Python {
    fn setting(&self, setting: Setting, value: Option<&str>) -> Option<String> {
        match (setting, value) {
            (Setting::Model, Some(method)) => class(method).map(str::to_owned),
            (Setting::Penalty, Some("none")) => Some("C=inf".into()),
            (Setting::Penalty, Some("ridge")) => Some("l1_ratio=0".into()),
            (Setting::Penalty, Some("ridge:λ")) => Some("a positive lam".into()),
            (Setting::Penalty, Some(_)) => Some("a finite C".into()),
            (Setting::Multiclass, Some("one-vs-one")) => Some("OneVsOneClassifier".into()),
            (Setting::Multiclass, Some("one-vs-rest")) => Some("OneVsRestClassifier".into()),
            (Setting::Multiclass, Some("linear-machine")) => Some("multi_class=\"ovr\"".into()),
            (Setting::Kernel, Some("none")) => Some("LinearSVC".into()),
            (Setting::Intercept, Some("free")) => Some("fit_intercept=True".into()),
            (Setting::Intercept, Some("none")) => Some("fit_intercept=False".into()),
            (Setting::Loss, Some(loss)) => Some(format!("loss=\"{}\"", loss.replace('-', "_"))),
            (Setting::Families, None) => Some("family (families=)".into()),
            (Setting::Families, Some("gaussian-shared")) => Some("GaussianNB(shared=True)".into()),
            (Setting::Priors, Some(_)) => Some("priors=[0.2, 0.8]".into()),
            (Setting::TruePriors, Some(_)) => Some("true_priors={\"a\": 0.2, \"b\": 0.8}".into()),
            (Setting::Reference, Some(_)) => Some("reference={\"region\": \"west\"}".into()),
            (Setting::Standardize, Some("yes")) => Some("standardize=True".into()),
            (Setting::Exact, None) => Some("exact=True".into()),
            (setting, None) => keyword(setting).map(|(name, _)| name.to_owned()),
            (setting, Some(value)) => keyword(setting).map(|(name, text)| match text {
                Value::Text => format!("{name}=\"{value}\""),
                Value::Number => format!("{name}={value}"),
            }),
        }
    }

    fn first(&self) -> usize {
        0
    }
}

/// What the value of a keyword is.
enum Value {
    Text,
    Number,
}

/// The keyword of a setting; `None` where the package does not have it.
fn keyword(setting: Setting) -> Option<(&'static str, Value)> {
    Some(match setting {
        Setting::Basis => ("basis", Value::Text),
        Setting::BasisColumns => ("basis_columns", Value::Text),
        Setting::Batch => ("batch_size", Value::Number),
        Setting::C => ("C", Value::Number),
        Setting::Cache => ("cache_size", Value::Number),
        Setting::Calibrate => ("calibration", Value::Text),
        Setting::CalibrateFolds => ("calibration_folds", Value::Number),
        Setting::Coef0 => ("coef0", Value::Number),
        Setting::Conformal => ("conformal", Value::Number),
        Setting::ConformalBy => ("conformal_by", Value::Text),
        Setting::ConformalShare => ("conformal_share", Value::Number),
        Setting::Covariance => ("covariance", Value::Text),
        Setting::Degree => ("degree", Value::Number),
        Setting::Exact => ("exact", Value::Number),
        Setting::Families => ("families", Value::Text),
        Setting::Formula => ("formula", Value::Text),
        Setting::Firth => ("firth=True", Value::Number),
        Setting::Gamma => ("gamma", Value::Number),
        Setting::Init => ("warm_start", Value::Number),
        Setting::Inspect => ("certificate_ and model_.describe()", Value::Text),
        Setting::Intercept => ("fit_intercept", Value::Text),
        Setting::Interval => ("interval", Value::Text),
        Setting::Json => ("details", Value::Text),
        Setting::Kernel => ("kernel", Value::Text),
        Setting::LambdaValues => ("lambdas", Value::Number),
        Setting::Level => ("level", Value::Number),
        Setting::Levels => ("max_levels", Value::Number),
        Setting::Loss => ("loss", Value::Text),
        Setting::Missing => ("missing", Value::Text),
        Setting::Model => ("estimator", Value::Text),
        Setting::Penalty => ("C", Value::Number),
        Setting::Priors => ("priors", Value::Number),
        Setting::Reference => ("reference", Value::Text),
        Setting::ScoreThreshold => ("score_threshold", Value::Number),
        Setting::Shrinkage => ("shrinkage", Value::Text),
        Setting::Smoothing => ("alpha", Value::Number),
        Setting::Solver => ("solver", Value::Text),
        Setting::Standardize => ("standardize", Value::Number),
        Setting::Step => ("eta0", Value::Number),
        Setting::Targets => ("targets", Value::Text),
        Setting::Tie => ("tie", Value::Text),
        Setting::Ties => ("ties", Value::Text),
        Setting::Tolerance => ("tol", Value::Number),
        Setting::Transform => ("transformation", Value::Text),
        Setting::TransformColumns => ("transformation_columns", Value::Text),
        Setting::TruePriors => ("true_priors", Value::Number),
        Setting::Unknown => ("unknown", Value::Text),
        Setting::VarianceSmoothing => ("var_smoothing", Value::Number),
        Setting::Vote => ("vote", Value::Text),
        // Of the command alone: how files are read, columns chosen, classes fitted together and rows drawn.
        Setting::Comment
        | Setting::CrossValidation
        | Setting::Date
        | Setting::Decimal
        | Setting::Distance
        | Setting::Drop
        | Setting::Encoding
        | Setting::Features
        | Setting::Header
        | Setting::IndexFrom
        | Setting::Margin
        | Setting::Multiclass
        | Setting::NaValues
        | Setting::Number
        | Setting::KeepStatistics
        | Setting::Projection
        | Setting::Rows
        | Setting::Sheet
        | Setting::Memory
        | Setting::Scratch
        | Setting::Skip
        | Setting::TextColumns
        | Setting::Thousands
        | Setting::TrueOf
        | Setting::With => return None,
    })
}

/// The estimator of a method.
fn class(method: &str) -> Option<&'static str> {
    Some(match method {
        "averaged-perceptron" => "Perceptron(variant=\"averaged\")",
        "hard-margin" => "HardMarginSVC",
        "kernel-perceptron" => "KernelPerceptron",
        "lda" => "LinearDiscriminantAnalysis",
        "least-squares" => "LeastSquaresClassifier",
        "logistic" => "LogisticRegression",
        "probit" => "LinkRegression",
        "sigmoid-ls" => "SigmoidLeastSquares",
        "naive-bayes" => "MixedNB",
        "perceptron" => "Perceptron",
        "pocket" => "PocketPerceptron",
        "qda" => "QuadraticDiscriminantAnalysis",
        "spherical" => "GaussianBayes(covariance=\"spherical\")",
        "svm" => "LinearSVC",
        _ => return None,
    })
}

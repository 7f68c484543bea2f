//! The first line of a summary: what was fitted, with its settings.

use super::text::{short, thousands};
use super::{hard_margin, perceptron};
use crate::artifact::Model;
use crate::design::Standardize;
use crate::model::{
    CovarianceShape, Divisor, GaussianBayes, KernelChoice, LeastSquaresSettings, LossChoice, Method, NaiveBayes,
    PenaltyChoice, RiskMinimizer, Shrinkage, SmoothedBy, Targets,
};
use crate::objective::{Intercept, Link, SoftmaxForm};

pub(super) fn headline(model: &Model) -> String {
    match &model.method {
        Method::Gaussian(gaussian) => gaussian_headline(gaussian, fitted_classes(model)),
        Method::Given(method) => super::given::headline(method),
        Method::HardMargin(method) => hard_margin::headline(method),
        Method::KernelSvm(method) if method.is_hard() => format!(
            "Hard margin support vector machine, {} kernel{}: {}, {}",
            kernel_name(&method.kernel),
            gamma_text(&method.kernel, model),
            columns_text(model.method.standardize()),
            if method.intercept == Intercept::Free { "free intercept" } else { "no intercept" }
        ),
        Method::KernelSvm(method) => format!(
            "Support vector machine, {} kernel{}: {}",
            kernel_name(&method.kernel),
            gamma_text(&method.kernel, model),
            settings((method.penalty, "no penalty"), model.method.standardize(), method.intercept, model)
        ),
        Method::KernelPerceptron(method) => format!(
            "Kernel perceptron, {} kernel{}: {}",
            kernel_name(&method.kernel),
            gamma_text(&method.kernel, model),
            columns_text(model.method.standardize())
        ),
        Method::LeastSquares(least_squares) => least_squares_headline(least_squares, model),
        Method::Link(method) => format!(
            "{} regression: {}",
            match method.link {
                Link::Cloglog => "Complementary log-log",
                Link::Cauchit => "Cauchit",
                _ => "Probit",
            },
            settings((method.penalty, "no penalty"), method.standardize, method.intercept, model)
        ),
        Method::Risk(method) => risk_headline(method, model),
        Method::NaiveBayes(bayes) => naive_bayes_headline(bayes, model),
        Method::Perceptron(method) => perceptron::headline(method),
        Method::Sigmoid(method) => format!(
            "Least squares on sigmoid outputs: {}",
            settings((method.penalty, "no penalty"), method.standardize, method.intercept, model)
        ),
    }
}

/// Classes that a fit has seen: of parts two.
fn fitted_classes(model: &Model) -> usize {
    if model.parts.is_empty() { model.classes.len() } else { 2 }
}

fn gaussian_headline(gaussian: &GaussianBayes, classes: usize) -> String {
    let known = gaussian.known.as_ref();
    let divisor = match gaussian.divisor {
        _ if known.is_some_and(|k| k.covariance.is_some()) => "given",
        Divisor::Unbiased => "unbiased",
        Divisor::Mle => "maximum likelihood",
    };
    let (name, covariance) = match gaussian.shape {
        CovarianceShape::Spherical if gaussian.is_scaled() => {
            ("Gaussian classes with covariance σ²I of standardised columns", "variance")
        }
        CovarianceShape::Spherical => ("Gaussian classes with covariance σ²I", "variance"),
        CovarianceShape::Shared => ("Linear discriminant analysis", "covariance"),
        CovarianceShape::Own => ("Quadratic discriminant analysis", "covariances"),
    };
    let shrinkage = match gaussian.shrinkage {
        Shrinkage::None => String::new(),
        Shrinkage::Fixed(a) => format!(", shrinkage {a}"),
        Shrinkage::LedoitWolf => ", Ledoit–Wolf shrinkage".into(),
    };
    let given = gaussian.priors.is_some() || known.is_some_and(|k| k.priors.is_some());
    let priors = if given { "given priors" } else { "observed priors" };
    format!("{name}, {classes} classes: {divisor} {covariance}{shrinkage}, {priors}")
}

fn naive_bayes_headline(bayes: &NaiveBayes, model: &Model) -> String {
    let layout = bayes.layout(&model.recipe.origins(), model.recipe.n_features());
    let families = layout.map(|l| l.families()).unwrap_or_default();
    let names: Vec<String> =
        families.iter().map(|(family, n)| format!("{family} ({})", thousands(*n as f64))).collect();
    let gaussian = |family: &str| family.starts_with("gaussian");
    let mut settings = Vec::new();
    if families.iter().any(|(family, _)| gaussian(&family.to_string())) {
        settings.push(match bayes.divisor {
            Divisor::Unbiased => "unbiased variances".to_owned(),
            Divisor::Mle => "maximum likelihood variances".to_owned(),
        });
        if bayes.variance_smoothing > 0.0 {
            let of = match bayes.smoothed_by {
                SmoothedBy::Own => "",
                SmoothedBy::Largest => " of the largest variance",
            };
            settings.push(format!("variance smoothing {}{of}", short(bayes.variance_smoothing)));
        }
    }
    if families.iter().any(|(family, _)| !gaussian(&family.to_string())) {
        settings.push(format!("smoothing {}", bayes.smoothing));
    }
    settings.push(if bayes.priors.is_some() { "given priors".into() } else { "observed priors".into() });
    format!("Naive Bayes, {} classes: {}; {}", fitted_classes(model), names.join(", "), settings.join(", "))
}

fn risk_headline(method: &RiskMinimizer, model: &Model) -> String {
    let name = match (method.loss, fitted_classes(model), method.form) {
        (LossChoice::Logistic, 2, _) => "Logistic regression".to_owned(),
        (LossChoice::Logistic, k, SoftmaxForm::Symmetric) => format!("Softmax regression, {k} classes"),
        (LossChoice::Logistic, k, SoftmaxForm::Reference) => {
            format!("Softmax regression, {k} classes, reference `{}`", model.classes[0])
        }
        (LossChoice::Hinge, k, _) if k > 2 => {
            format!("Linear support vector machine of Crammer and Singer, {k} classes")
        }
        (LossChoice::Hinge, ..) => "Linear support vector machine, hinge loss".to_owned(),
        (LossChoice::SquaredHinge, ..) => "Linear support vector machine, squared hinge loss".to_owned(),
        (LossChoice::Squared, 2, _) => "Least squares on ±1".to_owned(),
        (LossChoice::Squared, k, _) => format!("Least squares on one-hot targets, {k} classes"),
    };
    let none = if method.loss == LossChoice::Logistic { "maximum likelihood (no penalty)" } else { "no penalty" };
    format!("{name}: {}", settings((method.penalty, none), method.standardize, method.intercept, model))
}

/// Penalty, columns and intercept of a risk minimiser.
fn settings(penalty: (PenaltyChoice, &str), standardize: Standardize, intercept: Intercept, model: &Model) -> String {
    let lambda = model.objective.lambda.map(short).unwrap_or_default();
    let penalty = match penalty {
        (PenaltyChoice::None, none) => none.to_owned(),
        // Pairs of classes have their own number of rows.
        (PenaltyChoice::RidgeOne, _) if model.objective.lambda.is_none() => "ridge λ = 1/Σs".to_owned(),
        (PenaltyChoice::RidgeOne, _) => format!("ridge λ = {lambda} (1/Σs)"),
        (PenaltyChoice::Ridge(_), _) => format!("ridge λ = {lambda}"),
        (PenaltyChoice::RidgeCost(cost), _) => format!("C = {cost}, ridge λ = {lambda}"),
        (PenaltyChoice::ElasticNet { l1_ratio, lambda: given, cost }, _) => {
            let name = match l1_ratio {
                1.0 => "lasso".to_owned(),
                share => format!("elastic net, α = {}", short(share)),
            };
            let price = cost.map_or(String::new(), |cost| format!("C = {cost}, "));
            match (given, model.objective.lambda) {
                (None, None) if cost.is_some() => format!("{price}{name}"),
                (None, Some(_)) if cost.is_some() => format!("{price}{name}, λ = {lambda}"),
                (None, None) => format!("{name}, λ = 1/Σs"),
                (None, Some(_)) => format!("{name}, λ = {lambda} (1/Σs)"),
                (Some(_), _) => format!("{name}, λ = {lambda}"),
            }
        }
    };
    let columns = columns_text(standardize);
    let intercept = match intercept {
        Intercept::Free => "free intercept",
        Intercept::None => "no intercept",
        Intercept::Penalised => "penalised intercept",
    };
    format!("{penalty}, {columns}, {intercept}")
}

fn columns_text(standardize: Standardize) -> &'static str {
    match standardize {
        Standardize::Yes => "standardised columns",
        Standardize::No => "columns as they are",
    }
}

fn kernel_name(kernel: &KernelChoice) -> &'static str {
    // Which γ it is does not matter for the name.
    kernel.with_gamma(1.0).map_or("unknown", |k| k.name())
}

/// γ, and where it comes from.
fn gamma_text(kernel: &KernelChoice, model: &Model) -> String {
    let gamma = model.discriminant.as_kernel().and_then(|k| k.kernel().gamma());
    match (gamma, kernel.learns_gamma()) {
        (Some(gamma), true) => format!(" with γ = {} (1/(columns · variance))", short(gamma)),
        (Some(gamma), false) => format!(" with γ = {}", short(gamma)),
        (None, _) => String::new(),
    }
}

fn least_squares_headline(method: &LeastSquaresSettings, model: &Model) -> String {
    let name = match (fitted_classes(model), method.targets) {
        (2, Targets::ZeroOne) => "Least squares on 0 and 1".to_owned(),
        (2, _) => "Least squares on ±1".to_owned(),
        (k, _) => format!("Least squares on one-hot targets, {k} classes"),
    };
    let penalty = (method.penalty, "no penalty");
    format!("{name}: {}", settings(penalty, method.standardize, method.intercept, model))
}

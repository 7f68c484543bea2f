//! Methods as the model file spells them: a name, and settings laid over the method's own.

use crate::errors::LinsepError;
use linsep::model::{
    GaussianBayes, HardMarginSettings, KernelPerceptronSettings, KernelSvmSettings, LeastSquaresSettings, Link,
    LinkRegression, Method, NaiveBayes, PerceptronSettings, RiskMinimizer, SigmoidLeastSquares,
};
use pyo3::prelude::*;
use serde_json::{Map, Value};

fn named(name: &str) -> Option<Method> {
    Some(match name {
        "gaussian" => Method::Gaussian(GaussianBayes::lda()),
        "hard-margin" => Method::HardMargin(HardMarginSettings::default()),
        "kernel-perceptron" => Method::KernelPerceptron(KernelPerceptronSettings::default()),
        "kernel-svm" => Method::KernelSvm(KernelSvmSettings::default()),
        "link" => Method::Link(LinkRegression::new(Link::Probit)),
        "least-squares" => Method::LeastSquares(LeastSquaresSettings::default()),
        "naive-bayes" => Method::NaiveBayes(NaiveBayes::default()),
        "perceptron" => Method::Perceptron(PerceptronSettings::default()),
        "risk" => Method::Risk(RiskMinimizer::default()),
        "sigmoid-ls" => Method::Sigmoid(SigmoidLeastSquares::default()),
        _ => return None,
    })
}

fn settings_of(name: &str) -> PyResult<Map<String, Value>> {
    let method = named(name).ok_or_else(|| LinsepError::new_err(format!("there is no method `{name}`")))?;
    match serde_json::to_value(&method) {
        Ok(Value::Object(settings)) => Ok(settings),
        _ => Err(LinsepError::new_err(format!("the settings of `{name}` cannot be written"))),
    }
}

/// The default settings of a method as JSON.
#[pyfunction]
pub(crate) fn defaults(method: &str) -> PyResult<String> {
    Ok(Value::Object(settings_of(method)?).to_string())
}

/// A method with these settings; a setting that it does not have is an error. Options that are left out of a model file
/// when they are not set are settings, too.
pub(crate) fn method(name: &str, settings: &str) -> PyResult<Method> {
    let wrong = |what: String| LinsepError::new_err(format!("settings of `{name}`: {what}"));
    let given: Map<String, Value> = serde_json::from_str(settings).map_err(|e| wrong(e.to_string()))?;
    let mut all = settings_of(name)?;
    const LEFT_OUT: [&str; 8] =
        ["factors", "stochastic", "known", "smoothed_by", "intercept", "batch", "step", "steps"];
    for (key, value) in given {
        if !all.contains_key(&key) && !LEFT_OUT.contains(&key.as_str()) {
            return Err(wrong(format!("there is no setting `{key}`")));
        }
        all.insert(key, value);
    }
    serde_json::from_value(Value::Object(all)).map_err(|e| wrong(e.to_string()))
}

//! Fits, paths and verdicts.

use crate::errors::{LinsepError, NotSeparableError, no_optimum, raise};
use crate::input::{Features, doubles};
use crate::labels::labels;
use crate::model::Model;
use crate::policies::Policies;
use crate::pool::{Manner, run};
use crate::settings::method;
use crate::table::{free_name, with_labels, with_weights};
use crate::voice;
use linsep::decide::{ConformalOptions, Ties, Vote};
use linsep::design::{Formula, Missing};
use linsep::model::{ClassWeights, Lambdas, Outcome};
use linsep::report::{refusal_text, separability_json, separability_text};
use linsep::separate::SeparabilityOptions;
use linsep::workflow::{
    Approach, Arrays, FitOptions, Multiclass, PathFit, Scope, SeparableOptions, TableFit, TableRefusal,
    TableSeparability, fit_arrays, fit_table, path_arrays, separable_arrays, separable_table,
};
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// One of several words.
pub(crate) fn word<T: Copy>(what: &str, said: Option<&str>, words: &[(&str, T)]) -> PyResult<Option<T>> {
    let Some(said) = said else { return Ok(None) };
    match words.iter().find(|(name, _)| *name == said) {
        Some((_, value)) => Ok(Some(*value)),
        None => {
            let known: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
            Err(LinsepError::new_err(format!("{what} is {said:?}; it may be {}", known.join(", "))))
        }
    }
}

pub(crate) fn multiclass(approach: Option<&str>, vote: Option<&str>, ties: Option<&str>) -> PyResult<Multiclass> {
    let approaches = [Approach::Joint, Approach::OneVsOne, Approach::OneVsRest, Approach::LinearMachine];
    Ok(Multiclass {
        approach: word("multiclass", approach, &approaches.map(|a| (a.name(), a)))?,
        vote: word(
            "vote",
            vote,
            &[("majority", Vote::Majority), ("unanimity", Vote::Unanimity), ("scores", Vote::Scores)],
        )?,
        ties: word(
            "ties",
            ties,
            &[("undetermined", Ties::Undetermined), ("scores", Ties::Scores), ("first", Ties::First)],
        )?,
    })
}

/// Weights of the classes: `"balanced"`, or one factor per class.
pub(crate) fn class_weights(said: Option<&Bound<'_, PyAny>>, classes: &[String]) -> PyResult<Option<ClassWeights>> {
    let Some(said) = said else { return Ok(None) };
    if let Ok(word) = said.extract::<String>() {
        return match word.as_str() {
            "balanced" => Ok(Some(ClassWeights::Balanced)),
            _ => Err(LinsepError::new_err(format!("class_weight is {word:?}; it may be \"balanced\" or a dictionary"))),
        };
    }
    let factors: Vec<f64> = said.extract()?;
    if factors.len() != classes.len() {
        return Err(LinsepError::new_err(format!("{} class weights for {} classes", factors.len(), classes.len())));
    }
    Ok(Some(ClassWeights::Given(classes.iter().cloned().zip(factors).collect())))
}

/// What to do with rows that miss a cell.
pub(crate) fn missing_policy(missing: &str) -> PyResult<Missing> {
    let policies = [
        ("error", Missing::Error),
        ("drop", Missing::Drop),
        ("mean", Missing::Mean),
        ("indicator", Missing::Indicator),
    ];
    Ok(word("missing", Some(missing), &policies)?.unwrap_or(Missing::Error))
}

/// Dense columns without names are `x0`, `x1`, … in a model file, so that the command can find them in a table.
pub(crate) fn column_names(given: Option<Vec<String>>, features: &Features<'_>, cols: usize) -> Vec<String> {
    match (given, features) {
        (Some(names), _) => names,
        (None, Features::Csr { .. }) => Vec::new(),
        (None, _) => (0..cols).map(|j| format!("x{j}")).collect(),
    }
}

/// The column that a formula predicts; `None` where it has no left side.
#[pyfunction]
pub(crate) fn formula_target(py: Python<'_>, formula: &str) -> PyResult<Option<String>> {
    let read = Formula::parse(formula).map_err(|e| raise(py, &e))?;
    Ok(read.target().map(str::to_owned))
}

/// Fits a method and returns its model.
#[pyfunction]
#[pyo3(signature = (x, y_codes, classes, method, settings, *, target="y", target_is_text, input_names=None,
    sample_weight=None, class_weight=None, multiclass=None, vote=None, ties=None, missing="error", formula=None, init=None, random_start=None,
    n_threads=0, time_limit=None, seed=0, callback=None, conformal=None, policies=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn fit(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    y_codes: &Bound<'_, PyAny>,
    classes: Vec<String>,
    method: &str,
    settings: &str,
    target: &str,
    target_is_text: bool,
    input_names: Option<Vec<String>>,
    sample_weight: Option<&Bound<'_, PyAny>>,
    class_weight: Option<&Bound<'_, PyAny>>,
    multiclass: Option<&str>,
    vote: Option<&str>,
    ties: Option<&str>,
    missing: &str,
    formula: Option<&str>,
    init: Option<&Model>,
    random_start: Option<f64>,
    n_threads: usize,
    time_limit: Option<f64>,
    seed: u64,
    callback: Option<Py<PyAny>>,
    conformal: Option<(f64, bool, f64)>,
    policies: Option<&Bound<'_, PyDict>>,
) -> PyResult<Model> {
    let mut options = FitOptions::new(target, crate::settings::method(method, settings)?);
    options.class_weights = class_weights(class_weight, &classes)?;
    options.multiclass = self::multiclass(multiclass, vote, ties)?;
    options.init = init.map(|m| Box::new(m.inner().clone()));
    options.random_start = random_start;
    options.seed = seed;
    options.conformal = conformal.map(|(level, by_class, share)| ConformalOptions { level, by_class, share });
    options.recipe.missing = missing_policy(missing)?;
    if let Some(text) = formula {
        options.recipe.formula = Some(Formula::parse(text).map_err(|e| raise(py, &e))?);
        options = options.settled().map_err(|e| raise(py, &e))?;
    }
    let labels = labels(y_codes, classes)?;
    let weights = doubles(sample_weight)?;
    let features = Features::of(x)?;
    let manner = Manner { threads: n_threads, time_limit, callback, waits: false };
    if let Some(policies) = policies {
        Policies(policies).settle(&mut options, labels.names())?;
    }
    // Columns of a matrix without names are known by their number.
    let named = input_names.is_some() || matches!(features, Features::Table(_));
    let fitted = match features {
        Features::Table(table) => {
            options.target = free_name(&table, target);
            let mut table = with_labels(*table, &options.target, &labels, target_is_text)?;
            if let Some(weights) = &weights {
                let name = free_name(&table, "sample_weight");
                table = with_weights(table, &name, weights)?;
                options.weights = Some(name);
            }
            run(py, &manner, |watch| fit_table(table, &options, watch))?
        }
        features => {
            // SAFETY: whoever writes to the array during the fit changes what is fitted, as with any array library.
            let lent = unsafe { features.lend() }?;
            let names = column_names(input_names, &features, lent.as_design().shape().cols);
            let arrays = Arrays {
                design: lent.as_design(),
                names,
                labels,
                labels_are_text: target_is_text,
                weights: weights.as_deref(),
            };
            run(py, &manner, |watch| fit_arrays(arrays, &options, watch))?
        }
    };
    match fitted {
        TableFit::Model(model) => Ok(Model::new(*model)),
        TableFit::Refused(refusal) => Err(refused(py, &refusal, named)),
    }
}

/// A proof that there is no model as an exception that carries it.
fn refused(py: Python<'_>, refusal: &TableRefusal, named: bool) -> PyErr {
    let text = refusal_text(refusal, &voice::Python);
    let text = match refusal.part() {
        Some(part) => format!("{part}: {}", text.trim_end()),
        None => text.trim_end().to_owned(),
    };
    match refusal {
        TableRefusal::NoOptimum { proof, features, classes, .. } => {
            no_optimum(py, text, proof, (features, named), classes)
        }
        TableRefusal::NotSeparable { proof, answer, .. } => {
            let raised = NotSeparableError::new_err(text);
            let rows = PyArray1::from_iter(py, proof.rows.iter().map(|row| *row as i64));
            // An exception that cannot carry its proof is still the exception.
            let _ = raised.value(py).setattr("rows", rows);
            if let Some(Ok(witness)) = answer.as_ref().map(|answer| witness_of(py, answer)) {
                let _ = raised.value(py).setattr("witness", witness);
            }
            raised
        }
        _ => LinsepError::new_err(text),
    }
}

/// The weights on rows that prove a verdict, as `linsep.separability` gives them.
fn witness_of<'py>(py: Python<'py>, answer: &TableSeparability) -> PyResult<Bound<'py, PyAny>> {
    let details = py.import("json")?.call_method1("loads", (separability_json(answer).to_string(),))?;
    let details = py.import("linsep.separable")?.call_method1("from_zero", (details,))?;
    details.call_method1("get", ("witness",))
}

/// Solves a risk minimiser for many λ.
#[pyfunction]
#[pyo3(signature = (x, y_codes, classes, settings, *, lambdas=None, n_lambdas=100, ratio=None, input_names=None,
    sample_weight=None, n_threads=0, time_limit=None, callback=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn path<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    y_codes: &Bound<'py, PyAny>,
    classes: Vec<String>,
    settings: &str,
    lambdas: Option<Vec<f64>>,
    n_lambdas: usize,
    ratio: Option<f64>,
    input_names: Option<Vec<String>>,
    sample_weight: Option<&Bound<'py, PyAny>>,
    n_threads: usize,
    time_limit: Option<f64>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = FitOptions::new("y", method("risk", settings)?);
    let lambdas = match lambdas {
        Some(given) => Lambdas::Given(given),
        None => Lambdas::Spaced { count: n_lambdas, ratio },
    };
    let labels = labels(y_codes, classes)?;
    let weights = doubles(sample_weight)?;
    let features = Features::of(x)?;
    // SAFETY: as in `fit`.
    let lent = unsafe { features.lend() }?;
    let named = input_names.is_some();
    let names = column_names(input_names, &features, lent.as_design().shape().cols);
    let arrays = Arrays { design: lent.as_design(), names, labels, labels_are_text: true, weights: weights.as_deref() };
    let manner = Manner { threads: n_threads, time_limit, callback, waits: false };
    let path = match run(py, &manner, |watch| path_arrays(arrays, &options, &lambdas, watch))? {
        PathFit::Model(found) => found.path,
        PathFit::Refused(refusal) => return Err(refused(py, &refusal, named)),
    };
    let points = &path.points;
    let scores = points.first().map_or(0, |p| p.linear.n_scores());
    let cols = points.first().map_or(0, |p| p.linear.n_cols());
    let column = |number: &dyn Fn(&linsep::model::PathPoint) -> f64| {
        PyArray1::from_vec(py, points.iter().map(number).collect::<Vec<f64>>())
    };
    let weights: Vec<f64> =
        points.iter().flat_map(|p| (0..scores).flat_map(|k| p.linear.weights_of(k).iter().copied())).collect();
    let coefs: Bound<'py, PyArray3<f64>> = PyArray1::from_vec(py, weights).reshape([points.len(), scores, cols])?;
    let intercepts: Vec<f64> = points.iter().flat_map(|p| p.linear.intercept()).collect();
    let intercepts: Bound<'py, PyArray2<f64>> = PyArray1::from_vec(py, intercepts).reshape([points.len(), scores])?;
    let found = PyDict::new(py);
    found.set_item("lambdas", column(&|p| p.lambda))?;
    found.set_item("coefs", coefs)?;
    found.set_item("intercepts", intercepts)?;
    found.set_item("objective", column(&|p| p.objective))?;
    found.set_item("loss", column(&|p| p.loss))?;
    found.set_item("deviance_ratio", column(&|p| p.deviance_ratio.unwrap_or(f64::NAN)))?;
    found.set_item("gap", column(&|p| p.certificate.relative_gap().unwrap_or(f64::NAN)))?;
    found.set_item("nonzero", PyArray1::from_vec(py, points.iter().map(|p| p.nonzero as i64).collect::<Vec<i64>>()))?;
    let converged: Vec<bool> = points.iter().map(|p| p.outcome == Outcome::Converged).collect();
    found.set_item("converged", PyArray1::from_vec(py, converged))?;
    found.set_item("lambda_max", path.lambda_max)?;
    found.set_item("lambda_max_error", path.lambda_max_error)?;
    found.set_item("formula", &path.formula)?;
    Ok(found)
}

/// Whether planes separate the classes: in words, and as JSON.
#[pyfunction]
#[pyo3(signature = (x, y_codes, classes, *, scope=None, exact=false, tol=None, margin_tol=None, input_names=None,
    sample_weight=None, n_threads=0, time_limit=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn separability(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    y_codes: &Bound<'_, PyAny>,
    classes: Vec<String>,
    scope: Option<&str>,
    exact: bool,
    tol: Option<f64>,
    margin_tol: Option<f64>,
    input_names: Option<Vec<String>>,
    sample_weight: Option<&Bound<'_, PyAny>>,
    n_threads: usize,
    time_limit: Option<f64>,
) -> PyResult<(String, String)> {
    let mut options = SeparableOptions::new("y");
    let scopes = [("joint", Scope::Joint), ("pairs", Scope::Pairs), ("rest", Scope::Rest), ("all", Scope::All)];
    options.scope = word("scope", scope, &scopes)?;
    let plain = SeparabilityOptions::default();
    options.options = SeparabilityOptions {
        exact,
        tolerance: tol.unwrap_or(plain.tolerance),
        margin_tolerance: margin_tol.or(plain.margin_tolerance),
    };
    let labels = labels(y_codes, classes)?;
    let weights = doubles(sample_weight)?;
    let manner = Manner { threads: n_threads, time_limit, ..Manner::default() };
    let found = match Features::of(x)? {
        Features::Table(table) => {
            options.target = free_name(&table, "y");
            let mut table = with_labels(*table, &options.target, &labels, true)?;
            if let Some(weights) = &weights {
                let name = free_name(&table, "sample_weight");
                table = with_weights(table, &name, weights)?;
                options.weights = Some(name);
            }
            run(py, &manner, |watch| separable_table(table, &options, watch))?
        }
        features => {
            // SAFETY: as in `fit`.
            let lent = unsafe { features.lend() }?;
            let names = column_names(input_names, &features, lent.as_design().shape().cols);
            let arrays =
                Arrays { design: lent.as_design(), names, labels, labels_are_text: true, weights: weights.as_deref() };
            run(py, &manner, |watch| separable_arrays(arrays, &options, watch))?
        }
    };
    Ok((separability_text(&found, &voice::Python), separability_json(&found).to_string()))
}

//! Standard errors, tests and intervals.

use crate::errors::{LinsepError, no_optimum, raise};
use crate::fit::{column_names, missing_policy, word};
use crate::input::{Features, doubles};
use crate::labels::labels;
use crate::pool::{Manner, run};
use crate::table::{free_name, with_labels, with_weights};
use crate::voice;
use linsep::design::Formula;
use linsep::infer::{Adjustment, CovarianceKind, EstimatorKind, IntervalKind};
use linsep::model::Fit;
use linsep::report::{inference_json, inference_text};
use linsep::workflow::{Arrays, InferOptions, infer_arrays, infer_table};
use numpy::{PyArray2, PyArrayMethods};
use pyo3::prelude::*;

/// What the rows say, one array of eight columns a row: see `linsep.infer`.
type Answer<'py> = (String, String, Option<Bound<'py, PyArray2<f64>>>);

/// Inference of maximum likelihood: its text, its JSON and, where they are asked for, the values of every row.
#[pyfunction]
#[pyo3(signature = (x, y_codes, classes, *, level=0.95, interval="wald", covariance="model", clusters=None, firth=false,
    tests=vec![], adjust=None, fit_intercept=true, effects=false, rows=false, missing="error", formula=None, target="y",
    target_is_text=true, input_names=None, sample_weight=None, n_threads=0, seed=0, time_limit=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn infer<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    y_codes: &Bound<'py, PyAny>,
    classes: Vec<String>,
    level: f64,
    interval: &str,
    covariance: &str,
    clusters: Option<Vec<usize>>,
    firth: bool,
    tests: Vec<String>,
    adjust: Option<&str>,
    fit_intercept: bool,
    effects: bool,
    rows: bool,
    missing: &str,
    formula: Option<&str>,
    target: &str,
    target_is_text: bool,
    input_names: Option<Vec<String>>,
    sample_weight: Option<&Bound<'py, PyAny>>,
    n_threads: usize,
    seed: u64,
    time_limit: Option<f64>,
) -> PyResult<Answer<'py>> {
    let mut options = InferOptions::new(target);
    options.recipe.missing = missing_policy(missing)?;
    let mut fit_intercept = fit_intercept;
    if let Some(text) = formula {
        let read = Formula::parse(text).map_err(|e| raise(py, &e))?;
        fit_intercept &= read.has_intercept();
        options.recipe.formula = Some(if fit_intercept { read } else { read.without_intercept() });
    }
    options.clusters = clusters;
    let asked = &mut options.inference;
    asked.level = level;
    let intervals = [("wald", IntervalKind::Wald), ("profile", IntervalKind::Profile)];
    asked.interval = word("interval", Some(interval), &intervals)?.unwrap_or_default();
    let kinds = [
        CovarianceKind::Model,
        CovarianceKind::Hc0,
        CovarianceKind::Hc1,
        CovarianceKind::Hc2,
        CovarianceKind::Hc3,
        CovarianceKind::Cluster,
    ];
    asked.covariance = word("covariance", Some(covariance), &kinds.map(|k| (k.name(), k)))?.unwrap_or_default();
    asked.estimator = if firth { EstimatorKind::Firth } else { EstimatorKind::Likelihood };
    asked.tests = tests;
    asked.adjust = word("adjust", adjust, &[("holm", Adjustment::Holm), ("bh", Adjustment::Bh)])?;
    asked.intercept = fit_intercept;
    asked.effects = effects;
    asked.rows = rows;
    asked.seed = seed;
    let labels = labels(y_codes, classes)?;
    let weights = doubles(sample_weight)?;
    let features = Features::of(x)?;
    let manner = Manner { threads: n_threads, time_limit, ..Manner::default() };
    let named = input_names.is_some() || matches!(features, Features::Table(_));
    let found = match features {
        Features::Table(table) => {
            options.target = free_name(&table, target);
            let mut table = with_labels(*table, &options.target, &labels, target_is_text)?;
            if let Some(weights) = &weights {
                let name = free_name(&table, "sample_weight");
                table = with_weights(table, &name, weights)?;
                options.weights = Some(name);
            }
            run(py, &manner, |watch| infer_table(table, &options, watch))?
        }
        features => {
            // SAFETY: as in `fit`.
            let lent = unsafe { features.lend() }?;
            let names = column_names(input_names, &features, lent.as_design().shape().cols);
            options.weights = weights.as_ref().map(|_| "sample_weight".to_owned());
            let arrays = Arrays {
                design: lent.as_design(),
                names,
                labels,
                labels_are_text: target_is_text,
                weights: weights.as_deref(),
            };
            run(py, &manner, |watch| infer_arrays(arrays, &options, watch))?
        }
    };
    let text = inference_text(&found, &voice::Python);
    match &found.answer {
        Fit::Refused(separated) => {
            let features = (&separated.features[..], named);
            Err(no_optimum(py, text.trim_end().to_owned(), &separated.proof, features, &separated.classes))
        }
        Fit::Model(inference) => {
            let values = rows.then(|| {
                let each = 8 + inference.classes.len();
                let flat: Vec<f64> = inference
                    .rows
                    .iter()
                    .flat_map(|row| {
                        let known = [row.pearson, row.leverage, row.cook, row.working_weight, row.working_response]
                            .map(|v| v.unwrap_or(f64::NAN));
                        let mut line = vec![row.row as f64, row.deviance, known[0], row.quantile];
                        line.extend(&known[1..]);
                        line.extend(&row.probabilities);
                        line
                    })
                    .collect();
                numpy::PyArray1::from_vec(py, flat).reshape([inference.rows.len(), each])
            });
            let values = values.transpose().map_err(|e| LinsepError::new_err(e.to_string()))?;
            Ok((text, inference_json(&found).to_string(), values))
        }
    }
}

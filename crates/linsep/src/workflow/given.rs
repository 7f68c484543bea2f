//! A stated rule to a model: no table is read.

use crate::artifact::{Model, Provenance, TrainingSummary};
use crate::decide::Decision;
use crate::density::{Parameters, default_classes, default_features};
use crate::design::Recipe;
use crate::error::{Error, Place, Result};
use crate::model::{Fitted, GivenRule, GivenSettings, Method};
use crate::table::Reading;
use serde::Deserialize;

/// What a file of a plane holds; other fields are ignored.
#[derive(Deserialize)]
struct PlaneFile {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    classes: Vec<String>,
    #[serde(default)]
    features: Vec<String>,
    weights: Vec<Vec<f64>>,
    intercept: Vec<f64>,
}

/// The rule that a file states: the distributions of classes, or else `weights` and `intercept`, as in the truth beside
/// simulated rows. Weights of the logistic model are log-odds.
pub fn given_from_json(bytes: &[u8], name: &str) -> Result<GivenSettings> {
    let at = |e: Error| e.at(Place::file(name));
    let value: serde_json::Value =
        serde_json::from_slice(bytes).map_err(|e| at(Error::format(format!("this is no JSON object: {e}"))))?;
    let has = |field: &str| value.get(field).is_some_and(|v| !v.is_null());
    if has("means") || has("marginals") {
        let parameters = Parameters::from_json(bytes, name)?;
        let rule = GivenRule::Classes(parameters.densities()?);
        return Ok(GivenSettings { features: parameters.features, classes: parameters.classes, rule });
    }
    let file: PlaneFile = serde_json::from_value(value).map_err(|e| {
        at(Error::format(format!("this states no rule: {e}"))
            .help("it has `weights` with a row for each score and as many `intercept`, or `means` or `marginals`"))
    })?;
    let classes = if file.weights.len() == 1 { 2 } else { file.weights.len() };
    let columns = file.weights.first().map_or(0, Vec::len);
    let or = |names: Vec<String>, others: Vec<String>| if names.is_empty() { others } else { names };
    Ok(GivenSettings {
        features: or(file.features, default_features(columns)),
        classes: or(file.classes, default_classes(classes)),
        rule: GivenRule::Planes { weights: file.weights, intercept: file.intercept, log_odds: file.kind == "logistic" },
    })
}

/// The model of a given rule, for tables whose column of classes has this name.
///
/// ```
/// use linsep::model::{GivenRule, GivenSettings};
/// use linsep::workflow::given_model;
/// let plane = GivenRule::Planes { weights: vec![vec![1.0]], intercept: vec![-0.5], log_odds: true };
/// let classes = ["no", "yes"].map(str::to_owned).to_vec();
/// let model = given_model(GivenSettings { features: vec!["x".into()], classes, rule: plane }, "class", Default::default())?;
/// assert!(model.has_probabilities());
/// # Ok::<(), linsep::Error>(())
/// ```
///
/// # Errors
/// Of a rule that is none, and of a decision that does not fit it.
pub fn given_model(given: GivenSettings, target: &str, decision: Decision) -> Result<Model> {
    let Fitted { discriminant, units, objective, certificate, outcome, notes, computation, density, .. } =
        given.fitted()?;
    decision.check(given.classes.len(), given.has_probabilities())?;
    let classes = given.classes.clone();
    let training = TrainingSummary {
        rows: 0,
        used: 0,
        total_weight: 0.0,
        missing_target: 0,
        zero_weight: 0,
        held_back: 0,
        missing: Vec::new(),
        filled: None,
        class_weights: vec![0.0; classes.len()],
        accuracy: None,
        rejected: None,
        undetermined: None,
    };
    Ok(Model {
        target: target.to_owned(),
        // As a table would be read: numbers where all of them are.
        target_is_text: classes.iter().any(|c| c.parse::<f64>().is_err()),
        weights: None,
        class_weights: None,
        offsets: Vec::new(),
        classes,
        reading: Reading::default(),
        recipe: Recipe::numbers(given.features.clone()),
        units,
        discriminant,
        density,
        support_vectors: None,
        parts: Vec::new(),
        calibration: None,
        true_priors: None,
        decision,
        conformal: None,
        objective,
        certificate,
        outcome,
        notes,
        computation,
        training,
        cross_validation: None,
        label_types: Vec::new(),
        tuning: None,
        statistics: None,
        provenance: Provenance {
            version: env!("CARGO_PKG_VERSION").into(),
            certificates: Provenance::CERTIFICATES,
            fingerprint: String::new(),
            seed: 0,
            started: false,
            updates: Vec::new(),
            partitions: Vec::new(),
        },
        method: Method::Given(given),
    })
}

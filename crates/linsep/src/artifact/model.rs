//! What a model file holds.

use super::{CrossFitted, KeptStatistics, ModelPart, Provenance, SupportVectors, TuningRecord};
use crate::certify::Certificate;
use crate::decide::{Conformal, Decision};
use crate::density::Densities;
use crate::design::{Recipe, Units};
use crate::discriminant::Discriminant;
use crate::evaluate::Metric;
use crate::model::{ClassWeighting, Computation, Method, Note, Objective, Outcome};
use crate::read::Expected;
use crate::role::{Role, Roles};
use crate::table::Reading;
use serde::{Deserialize, Serialize};

/// A fitted model with everything needed to use, explain and verify it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// The method and its settings.
    pub method: Method,
    /// Name of the target column.
    pub target: String,
    /// Whether the target was read as text: `01` is then not `1`.
    pub target_is_text: bool,
    /// Name of the weight column, where one was used.
    pub weights: Option<String>,
    /// Weights of the classes, where some were used.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub class_weights: Option<ClassWeighting>,
    /// Names of the offset columns.
    pub offsets: Vec<String>,
    /// Class names, in the order of the scores.
    pub classes: Vec<String>,
    /// What labels are to the program that fitted the model, which gives them back as such: `bool`, `int8` and the like, one
    /// word for all classes or one for each. Empty for text and numbers as tables have them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub label_types: Vec<String>,
    /// How the table was read, where that was not the plain way.
    #[serde(skip_serializing_if = "Reading::is_plain", default)]
    pub reading: Reading,
    /// How columns become a matrix.
    pub recipe: Recipe,
    /// Units in which the method worked.
    pub units: Units,
    /// The discriminants.
    pub discriminant: Discriminant,
    /// What a generative method takes the classes to look like.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub density: Option<Densities>,
    /// Of a support vector machine: its support vectors, without which optimality cannot be checked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub support_vectors: Option<SupportVectors>,
    /// Of several classes by two-class fits: the fits, in the order of the scores.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub parts: Vec<ModelPart>,
    /// From the scores of the discriminants to log-odds, where they were calibrated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub calibration: Option<CrossFitted>,
    /// The shares of the classes where the model is used, where they were said not to be those it learned from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub true_priors: Option<Vec<f64>>,
    /// How scores become a class.
    pub decision: Decision,
    /// How they become a set of classes, where rows were held back for that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub conformal: Option<Conformal>,
    /// What was minimised, and its value.
    pub objective: Objective,
    /// The proof.
    pub certificate: Certificate,
    /// Whether the tolerance was reached.
    pub outcome: Outcome,
    /// What the user should know.
    pub notes: Vec<Note>,
    /// Solver, iterations, passes.
    pub computation: Computation,
    /// The training rows.
    pub training: TrainingSummary,
    /// Out-of-fold performance, where it was asked for.
    pub cross_validation: Option<CrossValidation>,
    /// The search that chose the settings, where there was one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tuning: Option<TuningRecord>,
    /// Sums over the rows, where they were kept so that rows can be added and taken away.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub statistics: Option<KeptStatistics>,
    /// Where the model came from.
    pub provenance: Provenance,
}

impl Model {
    /// What each leaf of the file is to whoever verifies it.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::Fields(&[
        ("method", Method::ROLES),
        ("target", Roles::All(Role::Setting)),
        ("target_is_text", Roles::All(Role::Claim)),
        ("weights", Roles::All(Role::Setting)),
        ("class_weights", ClassWeighting::ROLES),
        ("offsets", Roles::All(Role::Setting)),
        ("classes", Roles::All(Role::Claim)),
        ("label_types", Roles::All(Role::Setting)),
        ("reading", Reading::ROLES),
        ("recipe", Recipe::ROLES),
        ("units", Units::ROLES),
        ("discriminant", Discriminant::ROLES),
        ("density", Densities::ROLES),
        ("support_vectors", SupportVectors::ROLES),
        ("parts", ModelPart::ROLES),
        ("calibration", CrossFitted::ROLES),
        ("true_priors", Roles::All(Role::Setting)),
        ("decision", Decision::ROLES),
        ("conformal", Conformal::ROLES),
        ("objective", Objective::ROLES),
        ("certificate", Certificate::ROLES),
        ("outcome", Roles::All(Role::Claim)),
        ("notes", Note::ROLES),
        ("computation", Computation::ROLES),
        ("training", TrainingSummary::ROLES),
        ("cross_validation", CrossValidation::ROLES),
        ("tuning", TuningRecord::ROLES),
        ("statistics", KeptStatistics::ROLES),
        ("provenance", Provenance::ROLES),
    ]);

    /// The kind of every column the model uses, for reading new data.
    pub fn expected(&self) -> Vec<(String, Expected)> {
        let mut expected = self.recipe.expected();
        if self.target_is_text {
            expected.push((self.target.clone(), Expected::Text));
        }
        expected
    }
}

/// Counts over the training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingSummary {
    /// Rows in the table.
    pub rows: usize,
    /// Rows used.
    pub used: usize,
    /// Σs over the rows used, class weights included.
    pub total_weight: f64,
    /// Rows dropped because their label is missing.
    pub missing_target: usize,
    /// Rows left out because their weight is zero.
    pub zero_weight: usize,
    /// Rows that the fit did not see, held back for sets of classes.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub held_back: usize,
    /// Missing cells per column among the rows with a label and a weight.
    pub missing: Vec<(String, usize)>,
    /// Cells per column that were filled in, where any was; files from before they were counted do not say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub filled: Option<Vec<(String, usize)>>,
    /// Total weight of each class, without class weights.
    pub class_weights: Vec<f64>,
    /// Weighted accuracy on the rows used, as far as they were decided; `None` if none was.
    pub accuracy: Option<f64>,
    /// Share of their weight that was rejected; `None` if the decision never rejects.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rejected: Option<f64>,
    /// Share of their weight that was undetermined; `None` if two-class fits cannot contradict each other here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undetermined: Option<f64>,
}

impl TrainingSummary {
    /// All of it is counted again.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::All(Role::Claim);
}

/// Out-of-fold performance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrossValidation {
    /// Number of folds.
    pub folds: usize,
    /// Accuracy over all out-of-fold rows that were decided; `None` if none was.
    pub accuracy: Option<f64>,
    /// Share of the out-of-fold rows that was rejected; `None` if the decision never rejects.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rejected: Option<f64>,
    /// Share of the out-of-fold rows that was undetermined; `None` if two-class fits cannot contradict each other here.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undetermined: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// How the interval was computed.
    pub method: String,
    /// Out-of-fold log loss, where it is finite.
    pub log_loss: Option<f64>,
    /// Accuracy per fold, folds without a decided row left out.
    pub per_fold: Vec<f64>,
}

impl CrossValidation {
    /// Every figure takes a fit for each fold.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::Fields(&[
        ("folds", Roles::All(Role::Setting)),
        ("accuracy", Roles::All(Role::History)),
        ("rejected", Roles::All(Role::History)),
        ("undetermined", Roles::All(Role::History)),
        ("interval", Roles::All(Role::History)),
        ("method", Roles::All(Role::History)),
        ("log_loss", Roles::All(Role::History)),
        ("per_fold", Roles::All(Role::History)),
    ]);

    /// From an evaluation of out-of-fold predictions.
    pub fn new(folds: usize, evaluation: &crate::evaluate::Evaluation, per_fold: Vec<f64>) -> CrossValidation {
        let accuracy = &evaluation.accuracy;
        let method = accuracy.estimate().map(|e| e.method.as_str()).or(accuracy.reason());
        CrossValidation {
            folds,
            accuracy: accuracy.value(),
            rejected: evaluation.rejected.as_ref().map(|r| r.value),
            undetermined: evaluation.undetermined.as_ref().map(|u| u.value),
            interval: accuracy.interval(),
            method: method.unwrap_or_default().to_owned(),
            log_loss: evaluation.log_loss.as_ref().and_then(Metric::value),
            per_fold,
        }
    }
}

fn is_zero(value: &usize) -> bool {
    *value == 0
}

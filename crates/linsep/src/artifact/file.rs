//! What a model file holds, and how it is read and written.

use super::{CrossFitted, ModelPart, write_atomic};
use crate::certify::Certificate;
use crate::decide::{Decision, check_priors};
use crate::density::Densities;
use crate::design::{Recipe, Units};
use crate::discriminant::Discriminant;
use crate::error::{Error, Place, Result};
use crate::evaluate::Metric;
use crate::model::{ClassWeighting, Computation, Method, Multipliers, Note, Objective, Outcome};
use crate::read::Expected;
use crate::role::{Role, Roles};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::path::Path;

const FORMAT: &str = "linsep-model";
/// The version of the file format.
const VERSION: u64 = 1;

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
    /// Where the model came from.
    pub provenance: Provenance,
}

impl Model {
    /// What each leaf of the file is to whoever verifies it.
    pub const ROLES: Roles = Roles::Fields(&[
        ("method", Method::ROLES),
        ("target", Roles::All(Role::Setting)),
        ("target_is_text", Roles::All(Role::Claim)),
        ("weights", Roles::All(Role::Setting)),
        ("class_weights", ClassWeighting::ROLES),
        ("offsets", Roles::All(Role::Setting)),
        ("classes", Roles::All(Role::Claim)),
        ("recipe", Recipe::ROLES),
        ("units", Units::ROLES),
        ("discriminant", Discriminant::ROLES),
        ("density", Densities::ROLES),
        ("support_vectors", SupportVectors::ROLES),
        ("parts", ModelPart::ROLES),
        ("calibration", CrossFitted::ROLES),
        ("true_priors", Roles::All(Role::Setting)),
        ("decision", Decision::ROLES),
        ("objective", Objective::ROLES),
        ("certificate", Certificate::ROLES),
        ("outcome", Roles::All(Role::Claim)),
        ("notes", Note::ROLES),
        ("computation", Computation::ROLES),
        ("training", TrainingSummary::ROLES),
        ("cross_validation", CrossValidation::ROLES),
        ("provenance", Provenance::ROLES),
    ]);
}

/// The rows that hold up a support vector machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SupportVectors {
    /// Rows with α strictly between its bounds: they lie on the margin.
    pub free: usize,
    /// Rows with α at its upper bound: they lie within the margin or on the wrong side.
    pub bounded: usize,
    /// `(row, α)` with α > 0, rows numbered from 1 as in the training table, those that were dropped counted as well.
    pub multipliers: Vec<(usize, f64)>,
    /// Of several classes at once: the class that each multiplier speaks against, from 0; a row may then have several.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub against: Vec<u32>,
}

impl SupportVectors {
    /// The multipliers are the dual half of the point; the counts follow from them.
    pub const ROLES: Roles = Roles::Fields(&[
        ("free", Roles::All(Role::Derived)),
        ("bounded", Roles::All(Role::Derived)),
        ("multipliers", Roles::All(Role::Claim)),
        ("against", Roles::All(Role::Claim)),
    ]);

    /// The multipliers of the rows that have one; `rows` holds the table row of each.
    pub fn of(multipliers: &Multipliers, rows: &[usize]) -> SupportVectors {
        let per_row = multipliers.alpha.len() / rows.len().max(1);
        let positive = multipliers.alpha.iter().enumerate().filter(|(_, alpha)| **alpha > 0.0);
        SupportVectors {
            free: multipliers.free,
            bounded: multipliers.bounded,
            multipliers: positive.clone().map(|(at, alpha)| (rows[at / per_row] + 1, *alpha)).collect(),
            against: if per_row > 1 { positive.map(|(at, _)| (at % per_row) as u32).collect() } else { Vec::new() },
        }
    }

    /// How many rows have a multiplier.
    pub fn n_rows(&self) -> usize {
        let mut rows: Vec<usize> = self.multipliers.iter().map(|(row, _)| *row).collect();
        rows.dedup();
        rows.len()
    }

    /// Rows that rise, all of a table of so many, with finite multipliers.
    fn are_rows_of(&self, rows: usize) -> bool {
        let within = |(row, alpha): &(usize, f64)| (1..=rows).contains(row) && alpha.is_finite();
        let joint = !self.against.is_empty();
        let key = |i: usize| (self.multipliers[i].0, if joint { self.against[i] } else { 0 });
        (!joint || self.against.len() == self.multipliers.len())
            && (1..self.multipliers.len()).all(|i| key(i - 1) < key(i))
            && self.multipliers.iter().all(within)
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
    /// Missing cells per column among the rows with a label and a weight.
    pub missing: Vec<(String, usize)>,
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

/// Where a model came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of linsep.
    pub version: String,
    /// Edition of the arithmetic of the certificates; files from before it was written are of the first.
    #[serde(default = "first_edition")]
    pub certificates: u32,
    /// Fingerprint of the typed cells of the training table, in hexadecimal; empty for arrays in memory, which have none.
    pub fingerprint: String,
    /// The seed of everything random.
    pub seed: u64,
    /// Whether the fit started at the coefficients of another model, which are not kept.
    #[serde(skip_serializing_if = "is_false", default)]
    pub started: bool,
}

fn first_edition() -> u32 {
    1
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Provenance {
    /// The edition of the certificates that this version computes: one more whenever a file that was right would state other
    /// numbers than are recomputed.
    pub const CERTIFICATES: u32 = 2;

    /// The seed is one more setting; which version wrote the file nobody can tell afterwards.
    pub const ROLES: Roles = Roles::Fields(&[
        ("version", Roles::All(Role::Setting)),
        ("certificates", Roles::All(Role::Setting)),
        ("fingerprint", Roles::All(Role::Claim)),
        ("seed", Roles::All(Role::Setting)),
        ("started", Roles::All(Role::Setting)),
    ]);

    /// Whether a table with this fingerprint may be the training table: arrays in memory leave none.
    pub fn is_of(&self, fingerprint: &str) -> bool {
        self.fingerprint.is_empty() || self.fingerprint == fingerprint
    }
}

#[derive(Serialize)]
struct Envelope<'a> {
    format: &'a str,
    version: u64,
    checksum: String,
    model: &'a Value,
}

impl Model {
    /// The file's bytes.
    pub fn to_json(&self) -> Result<String> {
        let internal = |e: serde_json::Error| Error::model(format!("the model cannot be written: {e}"));
        let body = serde_json::to_value(self).map_err(internal)?;
        // A number that is not finite has no JSON: what could not be read again is not written.
        Model::deserialize(&body).map_err(|_| {
            Error::model("the model cannot be written: one of its numbers is not finite").help("rescale the columns")
        })?;
        let checksum = checksum(&body);
        let envelope = Envelope { format: FORMAT, version: VERSION, checksum, model: &body };
        let mut text = serde_json::to_string(&envelope).map_err(internal)?;
        text.push('\n');
        Ok(text)
    }

    /// A model from a file's bytes, refused unless version and checksum hold.
    pub fn from_json(bytes: &[u8], name: &str) -> Result<Model> {
        let place = || Place::file(name);
        let broken = |e: serde_json::Error| {
            Error::model(format!("this is not a complete model file: {e}"))
                .at(place())
                .help("it may be truncated; fit the model again or restore the file")
        };
        let mut envelope: Value = serde_json::from_slice(bytes).map_err(broken)?;
        if envelope.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(Error::model("this JSON is not a linsep model").at(place()));
        }
        match envelope.get("version").and_then(Value::as_u64) {
            Some(VERSION) => {}
            other => {
                let found = other.map_or("none".to_owned(), |v| v.to_string());
                return Err(Error::model(format!(
                    "model version {found} is not known; this linsep reads version {VERSION}"
                ))
                .at(place())
                .help("use the linsep that wrote it")
                .help("fit the model again"));
            }
        }
        let body = envelope["model"].take();
        if envelope.get("checksum").and_then(Value::as_str) != Some(&checksum(&body)) {
            return Err(Error::model("the checksum does not match: the file was edited or damaged")
                .at(place())
                .help("fit the model again or restore the file"));
        }
        let model: Model = serde_json::from_value(body).map_err(broken)?;
        model.check().map_err(|e| e.at(place()))?;
        Ok(model)
    }

    /// The kind of every column the model uses, for reading new data.
    pub fn expected(&self) -> Vec<(String, Expected)> {
        let mut expected = self.recipe.expected();
        if self.target_is_text {
            expected.push((self.target.clone(), Expected::Text));
        }
        expected
    }

    /// Sizes agree, whatever a checksum says.
    fn check(&self) -> Result<()> {
        if !self.recipe.is_whole() {
            return Err(Error::model("the recipe of the model cannot be used"));
        }
        let features = self.recipe.n_features();
        let scores = self.n_scores();
        let g = &self.discriminant;
        let fits = g.is_whole() && g.n_cols() == features && g.n_scores() == scores;
        let units = self.units.centre().len() == features
            && self.units.scale().len() == features
            && self.units.scale().iter().all(|s| *s > 0.0 && s.is_finite());
        let positive = |f: &f64| *f > 0.0 && f.is_finite();
        let weighted = |w: &ClassWeighting| w.factors.len() == self.classes.len() && w.factors.iter().all(positive);
        if self.classes.len() < 2 || !fits || !units || !self.class_weights.as_ref().is_none_or(weighted) {
            return Err(Error::model("the parts of the model do not fit together"));
        }
        let of_parts = self.parts.iter().filter_map(|p| p.support_vectors.as_ref());
        if !self.support_vectors.iter().chain(of_parts).all(|s| s.are_rows_of(self.training.rows)) {
            return Err(Error::model("the support vectors are not rows of the training table"));
        }
        if !super::parts::fit_together(self, features) {
            return Err(Error::model("the two-class fits of the model are not those of its classes"));
        }
        let calibrated = |c: &CrossFitted| self.has_the_scores_of(&c.map);
        let priors = |p: &Vec<f64>| self.has_probabilities() && check_priors(p, &self.classes).is_ok();
        if !self.calibration.as_ref().is_none_or(calibrated) || !self.true_priors.as_ref().is_none_or(priors) {
            return Err(Error::model("the model's way from scores to probabilities cannot be used"));
        }
        let decision = self.decision.check(self.classes.len(), self.has_probabilities());
        decision.map_err(|e| Error::model(e.what().clone()).in_context("the model's decision does not fit it"))
    }

    /// Writes the model, compressed where the name ends in `.zst`, in one step.
    pub fn save(&self, path: &Path) -> Result<()> {
        write_file(path, &self.to_json()?)
    }

    /// Reads a model; a zstandard file is recognised by its first bytes.
    pub fn load(path: &Path) -> Result<Model> {
        Model::from_json(&read_file(path)?, &path.display().to_string())
    }
}

/// Writes text, compressed where the name ends in `.zst`, in one step.
pub(super) fn write_file(path: &Path, text: &str) -> Result<()> {
    let packed = path.extension().is_some_and(|e| e == "zst").then(|| compressed(text, path)).transpose()?;
    write_atomic(path, |out: &mut dyn Write| out.write_all(packed.as_deref().unwrap_or(text.as_bytes())))
}

#[cfg(feature = "compression")]
fn compressed(text: &str, path: &Path) -> Result<Vec<u8>> {
    zstd::encode_all(text.as_bytes(), 3).map_err(|e| Error::io(path.display().to_string(), &e))
}

#[cfg(not(feature = "compression"))]
fn compressed(_: &str, path: &Path) -> Result<Vec<u8>> {
    Err(Error::usage("this build of the library cannot write zstandard files: it was made without them")
        .at(Place::file(path.display().to_string()))
        .help("give the file another name"))
}

/// The bytes of a file; a zstandard file is recognised by its first bytes.
pub(super) fn read_file(path: &Path) -> Result<Vec<u8>> {
    let name = path.display().to_string();
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map_err(|e| Error::io(&name, &e))?;
    Ok(super::unpack::unpack(&bytes, &name)?.into_owned())
}

/// SHA-256 of the canonical form: compact JSON with sorted keys.
fn checksum(body: &Value) -> String {
    // `Value` keeps its keys sorted, so its compact text is canonical.
    let digest = Sha256::digest(body.to_string().as_bytes());
    let hex: String = digest.iter().map(|b| format!("{b:02x}")).collect();
    format!("sha256:{hex}")
}

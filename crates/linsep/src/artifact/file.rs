//! How a model file is read and written, and what is checked of it.

use super::scores::fit_together;
use super::{CrossFitted, Model, write_atomic};
use crate::decide::check_priors;
use crate::error::{Error, Place, Result};
use crate::model::ClassWeighting;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io::{Read, Write};
use std::path::Path;

const FORMAT: &str = "linsep-model";
/// The version of the file format.
const VERSION: u64 = 1;

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

    /// Sizes agree, whatever a checksum says.
    fn check(&self) -> Result<()> {
        if !self.recipe.is_whole() || !self.reading.is_whole() {
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
        if !fit_together(self, features) {
            return Err(Error::model("the two-class fits of the model are not those of its classes"));
        }
        let calibrated = |c: &CrossFitted| self.has_the_scores_of(&c.map);
        let priors = |p: &Vec<f64>| self.has_probabilities() && check_priors(p, &self.classes).is_ok();
        if !self.calibration.as_ref().is_none_or(calibrated) || !self.true_priors.as_ref().is_none_or(priors) {
            return Err(Error::model("the model's way from scores to probabilities cannot be used"));
        }
        if !self.conformal.as_ref().is_none_or(|c| c.is_whole(self.classes.len())) {
            return Err(Error::model("the sets of classes of the model cannot be used"));
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

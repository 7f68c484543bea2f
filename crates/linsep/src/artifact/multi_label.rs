//! Several yes/no labels: one model each, kept in one file.

use super::Model;
use super::file::{read_file, write_file};
use crate::error::{Error, Place, Result};
use serde_json::{Value, json};
use std::path::Path;

const FORMAT: &str = "linsep-labels";
/// The version of the file format.
const VERSION: u64 = 1;

/// Separate predictors of several labels, each of two classes.
#[derive(Debug, Clone, PartialEq)]
pub struct MultiLabel {
    /// One model a label, in the order in which the labels were named.
    pub models: Vec<Model>,
}

/// What a model file holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Saved {
    /// The model of one target.
    One(Box<Model>),
    /// Those of several labels.
    Several(MultiLabel),
}

impl MultiLabel {
    /// The file's bytes: every model with its own version and checksum.
    pub fn to_json(&self) -> Result<String> {
        let internal = |e: serde_json::Error| Error::model(format!("the models cannot be written: {e}"));
        let one = |model: &Model| serde_json::from_str::<Value>(&model.to_json()?).map_err(internal);
        let models = self.models.iter().map(one).collect::<Result<Vec<Value>>>()?;
        let mut text = serde_json::to_string(&json!({"format": FORMAT, "version": VERSION, "models": models}))
            .map_err(internal)?;
        text.push('\n');
        Ok(text)
    }

    /// Writes the models, compressed where the name ends in `.zst`, in one step.
    pub fn save(&self, path: &Path) -> Result<()> {
        write_file(path, &self.to_json()?)
    }
}

impl Saved {
    /// One model or several from a file's bytes, refused unless versions and checksums hold.
    pub fn from_json(bytes: &[u8], name: &str) -> Result<Saved> {
        let file: Option<Value> = serde_json::from_slice(bytes).ok();
        let Some(file) = file.filter(|f| f.get("format").and_then(Value::as_str) == Some(FORMAT)) else {
            return Ok(Saved::One(Box::new(Model::from_json(bytes, name)?)));
        };
        let broken =
            |what: &str| Error::model(what).at(Place::file(name)).help("fit the models again or restore the file");
        if file.get("version").and_then(Value::as_u64) != Some(VERSION) {
            return Err(broken("the version of this file of labels is not known"));
        }
        let models = file.get("models").and_then(Value::as_array).filter(|m| !m.is_empty());
        let models = models.ok_or_else(|| broken("this file of labels has no models"))?;
        let one = |model: &Value| Model::from_json(model.to_string().as_bytes(), name);
        let models = models.iter().map(one).collect::<Result<Vec<Model>>>()?;
        match models.iter().find(|m| m.classes.len() != 2) {
            Some(model) => Err(broken(&format!("the label `{}` is not one of two classes", model.target))),
            None => Ok(Saved::Several(MultiLabel { models })),
        }
    }

    /// One model or several from a file's bytes, compressed or not.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Saved> {
        Saved::from_json(&super::unpack::unpack(bytes, name)?, name)
    }

    /// Reads a model file; a zstandard file is recognised by its first bytes.
    pub fn load(path: &Path) -> Result<Saved> {
        Saved::from_json(&read_file(path)?, &path.display().to_string())
    }
}

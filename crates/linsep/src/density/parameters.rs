//! Densities as a file of named parameters: what `simulate` writes beside its data and reads back.

use super::{Covariance, Densities, Density, Gaussian, Marginal};
use crate::error::{Error, Place, Result};
use serde::{Deserialize, Serialize};

/// The parameters of the classes by name; other fields of a file are ignored.
///
/// ```
/// use linsep::density::Parameters;
/// let text = r#"{ "classes": ["a", "b"], "means": [[0, 0], [1, 1]], "variance": 2.5 }"#;
/// let parameters = Parameters::from_json(text.as_bytes(), "known.json")?;
/// assert_eq!(parameters.priors, Some(vec![0.5, 0.5]));
/// assert_eq!(parameters.features, ["x1", "x2"]);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// Class names; `0`, `1` … unless given.
    #[serde(default)]
    pub classes: Vec<String>,
    /// Column names; `x1`, `x2` … unless given.
    #[serde(default)]
    pub features: Vec<String>,
    /// Prior probabilities; equal unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priors: Option<Vec<f64>>,
    /// The mean of each class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub means: Option<Vec<Vec<f64>>>,
    /// One covariance for all classes, row by row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covariance: Option<Vec<Vec<f64>>>,
    /// A covariance for each class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covariances: Option<Vec<Vec<Vec<f64>>>>,
    /// One variance for all columns and classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variance: Option<f64>,
    /// Independent columns instead of Gaussian classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marginals: Option<Vec<Marginal>>,
}

/// Class names where none are given: `0`, `1` …
pub fn default_classes(classes: usize) -> Vec<String> {
    (0..classes).map(|k| k.to_string()).collect()
}

/// Column names where none are given: `x1`, `x2` …
pub fn default_features(cols: usize) -> Vec<String> {
    (1..=cols).map(|j| format!("x{j}")).collect()
}

impl Parameters {
    /// The parameters of given densities.
    pub fn of(densities: &Densities, classes: &[String], features: &[String]) -> Parameters {
        let mut parameters = Parameters {
            classes: classes.to_vec(),
            features: features.to_vec(),
            priors: Some(densities.priors.clone()),
            ..Parameters::default()
        };
        match &densities.density {
            Density::Independent { marginals } => parameters.marginals = Some(marginals.clone()),
            Density::Gaussian(gaussian) => {
                parameters.means = Some(gaussian.means.clone());
                match &gaussian.covariance {
                    Covariance::Spherical(variance) => parameters.variance = Some(*variance),
                    Covariance::Shared(matrix) => parameters.covariance = Some(matrix.clone()),
                    Covariance::Own(matrices) => parameters.covariances = Some(matrices.clone()),
                }
            }
        }
        parameters
    }

    /// Reads and checks a file's bytes; names and priors that are not given are filled in.
    pub fn from_json(bytes: &[u8], name: &str) -> Result<Parameters> {
        let mut parameters: Parameters = serde_json::from_slice(bytes).map_err(|e| {
            Error::format(format!("this is no file of parameters: {e}"))
                .at(Place::file(name))
                .help("it is a JSON object with classes, features, priors, means and covariance, for example")
        })?;
        parameters.complete().and_then(|()| parameters.densities().map(drop)).map_err(|e| e.at(Place::file(name)))?;
        Ok(parameters)
    }

    /// The densities, checked.
    pub fn densities(&self) -> Result<Densities> {
        let Some(priors) = self.priors.clone() else { return Err(Error::data("there are no priors")) };
        let densities = Densities { priors, density: self.density()? };
        densities.check(&self.classes)?;
        if densities.n_features() != self.features.len() {
            let (given, cols) = (self.features.len(), densities.n_features());
            return Err(Error::data(format!("{given} names of features for {cols} columns"))
                .help("give one for every column")
                .help("leave `features` out"));
        }
        Ok(densities)
    }

    fn density(&self) -> Result<Density> {
        let given: Vec<&str> = [
            ("covariance", self.covariance.is_some()),
            ("covariances", self.covariances.is_some()),
            ("variance", self.variance.is_some()),
            ("marginals", self.marginals.is_some()),
        ]
        .iter()
        .filter(|(_, given)| *given)
        .map(|(name, _)| *name)
        .collect();
        let covariance = match (&self.means, &given[..]) {
            (None, ["marginals"]) => {
                return Ok(Density::Independent { marginals: self.marginals.clone().unwrap_or_default() });
            }
            (Some(_), ["covariance"]) => self.covariance.clone().map(Covariance::Shared),
            (Some(_), ["covariances"]) => self.covariances.clone().map(Covariance::Own),
            (Some(_), ["variance"]) => self.variance.map(Covariance::Spherical),
            _ => None,
        };
        match (self.means.clone(), covariance) {
            (Some(means), Some(covariance)) => Ok(Density::Gaussian(Gaussian { means, covariance })),
            (None, _) => Err(Error::data("there are no means of Gaussian classes and no marginals of other ones")
                .help("give `means` with `covariance`, `covariances` or `variance`, or `marginals` alone")),
            (Some(_), None) => {
                let found = if given.is_empty() { "nothing".to_owned() } else { given.join(" and ") };
                Err(Error::data(format!("besides the means there is {found}"))
                    .help("give one of `covariance` (shared), `covariances` (one for each class) and `variance`"))
            }
        }
    }

    fn complete(&mut self) -> Result<()> {
        let density = self.density()?;
        let known = match &density {
            Density::Gaussian(gaussian) => Some(gaussian.means.len()),
            Density::Independent { .. } => None,
        };
        let named = (!self.classes.is_empty()).then_some(self.classes.len());
        let classes = named.or(self.priors.as_ref().map(Vec::len)).or(known);
        let Some(classes) = classes else {
            return Err(Error::data("how many classes are there?").help("give `classes` or `priors`"));
        };
        if self.classes.is_empty() {
            self.classes = default_classes(classes);
        }
        let priors = self.priors.get_or_insert_with(|| vec![1.0 / classes as f64; classes]);
        if self.features.is_empty() {
            let densities = Densities { priors: priors.clone(), density };
            self.features = default_features(densities.n_features());
        }
        for (what, names) in [("class", &self.classes), ("feature", &self.features)] {
            let mut sorted = names.clone();
            sorted.sort();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(Error::data(format!("two times the {what} `{}`", pair[0])).help("names must differ"));
            }
        }
        Ok(())
    }
}

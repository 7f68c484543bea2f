//! Parameters that are given instead of estimated, and the prior of the means.

use super::CovarianceShape;
use crate::density::Covariance;
use crate::error::{Error, Place, Result};
use crate::linalg::{Square, factor};
use crate::model::Note;
use crate::words::{Setting, words};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Given parameters; what is absent is estimated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// Names of the matrix columns, in the order of the parameters.
    pub features: Vec<String>,
    /// Names of the classes, in the order of the parameters.
    pub classes: Vec<String>,
    /// Prior probabilities.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub priors: Option<Vec<f64>>,
    /// Mean of each class.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub means: Option<Vec<Vec<f64>>>,
    /// The covariance, or one for each class.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub covariance: Option<Covariance>,
    /// Prior of the means, which are then posterior means.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mean_prior: Option<MeanPrior>,
}

/// `μ_k ~ N(mean, covariance)` before the data; the posterior mean of n rows with mean x̄ is
/// `x̄ + (Σ/n)(Σ_θ + Σ/n)⁻¹(μ_θ − x̄)`, Σ being the covariance of the class, given or estimated about x̄.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeanPrior {
    /// μ_θ: one for all classes, or one for each.
    pub means: Vec<Vec<f64>>,
    /// Σ_θ, row by row.
    pub covariance: Vec<Vec<f64>>,
}

impl MeanPrior {
    /// `Σ̃ = Σ_θ(Σ_θ + Σ/n)⁻¹Σ/n`: the covariance of the mean of a class after n rows whose covariance is Σ. `None` of other
    /// sizes, and where the sum is singular.
    ///
    /// ```
    /// use linsep::model::MeanPrior;
    /// let prior = MeanPrior { means: vec![vec![0.0]], covariance: vec![vec![1.0]] };
    /// // Three rows of variance 3 weigh as much as the prior.
    /// let after = prior.posterior_covariance(&[vec![3.0]], 3.0).unwrap();
    /// assert!((after[0][0] - 0.5).abs() < 1e-15);
    /// ```
    pub fn posterior_covariance(&self, covariance: &[Vec<f64>], rows: f64) -> Option<Vec<Vec<f64>>> {
        let d = self.covariance.len();
        if covariance.len() != d || covariance.iter().chain(&self.covariance).any(|row| row.len() != d) {
            return None;
        }
        let share = |i: usize, j: usize| covariance[i][j] / rows;
        let total = factor(&Square::from_lower(d, |i, j| self.covariance[i][j] + share(i, j)), SINGULAR);
        if total.rank() < d {
            return None;
        }
        let solved: Vec<Vec<f64>> =
            (0..d).map(|j| total.solve(&(0..d).map(|i| share(i, j)).collect::<Vec<f64>>())).collect();
        let entry = |i: usize, j: usize| -> f64 { self.covariance[i].iter().zip(&solved[j]).map(|(a, b)| a * b).sum() };
        Some((0..d).map(|i| (0..d).map(|j| 0.5 * (entry(i, j) + entry(j, i))).collect()).collect())
    }

    pub(super) fn mean_of(&self, class: usize) -> &[f64] {
        &self.means[class.min(self.means.len() - 1)]
    }
}

/// The keys of a parameter file.
#[derive(Deserialize)]
struct File {
    features: Vec<String>,
    classes: Vec<String>,
    priors: Option<Vec<f64>>,
    means: Option<Vec<Vec<f64>>>,
    variance: Option<f64>,
    covariance: Option<Vec<Vec<f64>>>,
    covariances: Option<Vec<Vec<Vec<f64>>>>,
    mean_prior: Option<PriorFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriorFile {
    mean: Option<Vec<f64>>,
    means: Option<Vec<Vec<f64>>>,
    covariance: Vec<Vec<f64>>,
}

/// What a parameter file may say.
const KEYS: [&str; 8] =
    ["features", "classes", "priors", "means", "variance", "covariance", "covariances", "mean_prior"];
/// What the truth beside simulated data says beyond that.
const TRUTH_KEYS: [&str; 10] = [
    "kind",
    "seed",
    "rows",
    "weights",
    "intercept",
    "bayes_error",
    "density",
    "counts",
    "ideal_squared_error",
    "ideal_cross_entropy",
];
/// Entries of a given covariance and of its transpose may differ by this share: decimals printed with ten digits.
const ASYMMETRY: f64 = 1e-9;
/// On the unit-diagonal scale, a pivot below this is rounding of a singular matrix: about 50 units.
const SINGULAR: f64 = 1e-14;

impl Known {
    /// Parameters from a JSON file: `features` and `classes` by name, and any of `priors`, `means`, `variance` (σ²),
    /// `covariance` (shared), `covariances` (one for each class) and `mean_prior` (`mean` or `means`, `covariance`).
    ///
    /// ```
    /// let file = br#"{"features": ["x"], "classes": ["a", "b"], "means": [[0.0], [2.0]], "covariance": [[1.0]]}"#;
    /// let known = linsep::model::Known::from_json(file, "parameters.json")?;
    /// assert_eq!(known.means.unwrap()[1], [2.0]);
    /// # Ok::<(), linsep::Error>(())
    /// ```
    pub fn from_json(bytes: &[u8], name: &str) -> Result<Known> {
        let place = || Place::file(name);
        let broken = |e: serde_json::Error| {
            Error::data(format!("this is not a parameter file: {e}"))
                .at(place())
                .help("it is one JSON object with features, classes and any of priors, means, variance, covariance, covariances, mean_prior")
        };
        let value: Value = serde_json::from_slice(bytes).map_err(broken)?;
        let keys = value.as_object().map(|o| o.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
        if let Some(key) = keys.iter().find(|k| !KEYS.contains(&k.as_str()) && !TRUTH_KEYS.contains(&k.as_str())) {
            return Err(Error::data(format!("`{key}` is not a parameter"))
                .at(place())
                .help(format!("the parameters are {}", KEYS.join(", "))));
        }
        let file: File = serde_json::from_value(value).map_err(broken)?;
        let covariance = match (file.variance, file.covariance, file.covariances) {
            (None, None, None) => None,
            (Some(variance), None, None) => Some(Covariance::Spherical(variance)),
            (None, Some(matrix), None) => Some(Covariance::Shared(matrix)),
            (None, None, Some(matrices)) => Some(Covariance::Own(matrices)),
            _ => {
                return Err(Error::data("variance, covariance and covariances exclude each other")
                    .at(place())
                    .help("keep the one that is meant"));
            }
        };
        let mean_prior = match file.mean_prior {
            None => None,
            Some(PriorFile { mean: Some(mean), means: None, covariance }) => {
                Some(MeanPrior { means: vec![mean], covariance })
            }
            Some(PriorFile { mean: None, means: Some(means), covariance }) => Some(MeanPrior { means, covariance }),
            Some(_) => return Err(Error::data("a mean_prior has either mean or means").at(place())),
        };
        let known = Known {
            features: file.features,
            classes: file.classes,
            priors: file.priors,
            means: file.means,
            covariance,
            mean_prior,
        };
        known.check().map_err(|e| e.at(place()))?;
        Ok(known)
    }

    /// Sizes, finite numbers and positive definite matrices.
    pub fn check(&self) -> Result<()> {
        let (d, k) = (self.features.len(), self.classes.len());
        let size = |what: &str, found: usize, expected: usize| match found == expected {
            true => Ok(()),
            false => Err(Error::data(format!("{what}: {found} where {expected} are expected"))),
        };
        if let Some(priors) = &self.priors {
            size("priors", priors.len(), k)?;
        }
        let vectors = |what: &str, vectors: &[Vec<f64>]| {
            for (row, vector) in vectors.iter().enumerate() {
                size(&format!("{what}, entry {}", row + 1), vector.len(), d)?;
                if let Some(j) = vector.iter().position(|v| !v.is_finite()) {
                    return Err(Error::data(format!(
                        "{what}, entry {}: {} is not a number to use",
                        row + 1,
                        vector[j]
                    )));
                }
            }
            Ok(())
        };
        if let Some(means) = &self.means {
            size("means", means.len(), k)?;
            vectors("means", means)?;
        }
        match &self.covariance {
            None => {}
            Some(Covariance::Spherical(variance)) if *variance > 0.0 && variance.is_finite() => {}
            Some(Covariance::Spherical(variance)) => {
                return Err(Error::data(format!("variance: {variance} is not positive")));
            }
            Some(Covariance::Shared(matrix)) => check_matrix("covariance", matrix, &self.features)?,
            Some(Covariance::Own(matrices)) => {
                size("covariances", matrices.len(), k)?;
                for (class, matrix) in self.classes.iter().zip(matrices) {
                    check_matrix(&format!("covariance of class `{class}`"), matrix, &self.features)?;
                }
            }
        }
        if let Some(prior) = &self.mean_prior {
            if prior.means.len() != 1 {
                size("means of mean_prior", prior.means.len(), k)?;
            }
            vectors("mean_prior", &prior.means)?;
            check_matrix("covariance of mean_prior", &prior.covariance, &self.features)?;
            if self.means.is_some() {
                return Err(Error::data("means and mean_prior exclude each other: a given mean needs no prior"));
            }
        }
        Ok(())
    }

    /// The same parameters in another order of columns and classes.
    pub(super) fn aligned(&self, features: &[String], classes: &[String]) -> Result<Known> {
        self.check()?;
        let order = |what: &str, wanted: &[String], have: &[String]| -> Result<Vec<usize>> {
            let place = |name: &String| {
                have.iter().position(|h| h == name).ok_or_else(|| {
                    Error::data(format!("the parameters do not have the {what} `{name}`")).help(words![
                        format!("theirs are: {}; choose columns with ", have.join(", ")),
                        Setting::Features
                    ])
                })
            };
            if let Some(extra) = have.iter().find(|h| !wanted.contains(h)) {
                return Err(Error::data(format!("the parameters have the {what} `{extra}`, which the data does not"))
                    .help(format!("the data has: {}", wanted.join(", "))));
            }
            wanted.iter().map(place).collect()
        };
        let (columns, rows) = (order("feature", features, &self.features)?, order("class", classes, &self.classes)?);
        let vector = |v: &Vec<f64>| columns.iter().map(|j| v[*j]).collect::<Vec<f64>>();
        let matrix = |m: &Vec<Vec<f64>>| columns.iter().map(|i| vector(&m[*i])).collect::<Vec<_>>();
        Ok(Known {
            features: features.to_vec(),
            classes: classes.to_vec(),
            priors: self.priors.as_ref().map(|p| rows.iter().map(|k| p[*k]).collect()),
            means: self.means.as_ref().map(|m| rows.iter().map(|k| vector(&m[*k])).collect()),
            covariance: self.covariance.as_ref().map(|c| match c {
                Covariance::Spherical(variance) => Covariance::Spherical(*variance),
                Covariance::Shared(m) => Covariance::Shared(matrix(m)),
                Covariance::Own(m) => Covariance::Own(rows.iter().map(|k| matrix(&m[*k])).collect()),
            }),
            mean_prior: self.mean_prior.as_ref().map(|p| MeanPrior {
                means: match p.means.len() {
                    1 => vec![vector(&p.means[0])],
                    _ => rows.iter().map(|k| vector(&p.means[*k])).collect(),
                },
                covariance: matrix(&p.covariance),
            }),
        })
    }

    /// Given covariances of a shape, in the units of the columns.
    pub(super) fn matrices(
        given: &Covariance,
        shape: CovarianceShape,
        cols: usize,
        classes: usize,
    ) -> Result<Vec<Square>> {
        let square = |m: &Vec<Vec<f64>>| Square::from_lower(cols, |i, j| m[i][j]);
        let fits = |m: &Vec<Vec<f64>>| m.len() == cols && m.iter().all(|row| row.len() == cols);
        match (given, shape) {
            (Covariance::Spherical(variance), CovarianceShape::Spherical) => {
                Ok(vec![Square::from_lower(cols, |i, j| if i == j { *variance } else { 0.0 })])
            }
            (Covariance::Shared(matrix), CovarianceShape::Shared) if fits(matrix) => Ok(vec![square(matrix)]),
            (Covariance::Own(matrices), CovarianceShape::Own)
                if matrices.len() == classes && matrices.iter().all(fits) =>
            {
                Ok(matrices.iter().map(square).collect())
            }
            (given, _) => {
                let (what, model) = match given {
                    Covariance::Spherical(_) => ("one variance", "spherical"),
                    Covariance::Shared(_) => ("one covariance", "lda"),
                    Covariance::Own(_) => ("a covariance for each class", "qda"),
                };
                Err(Error::usage(format!("the parameters give {what}, which this model does not use"))
                    .help(words!["choose ", Setting::Model.is(model)]))
            }
        }
    }

    /// What is given, in words for the summary.
    pub(super) fn notes(&self) -> Vec<Note> {
        let given = [
            ("priors", self.priors.is_some()),
            ("means", self.means.is_some()),
            ("covariance", self.covariance.is_some()),
        ];
        let what: Vec<String> = given.iter().filter(|(_, g)| *g).map(|(w, _)| (*w).to_owned()).collect();
        let given = (!what.is_empty()).then_some(Note::Given { what });
        let plugged_in = if self.covariance.is_some() { "given" } else { "estimated" };
        let prior = self.mean_prior.as_ref().map(|_| Note::PosteriorMeans { plugged_in: plugged_in.to_owned() });
        given.into_iter().chain(prior).collect()
    }
}

/// A symmetric positive definite matrix of the right size.
fn check_matrix(what: &str, matrix: &[Vec<f64>], features: &[String]) -> Result<()> {
    let d = features.len();
    if matrix.len() != d || matrix.iter().any(|row| row.len() != d) {
        return Err(Error::data(format!("{what}: the matrix is not {d} × {d}")).help("one row for each feature"));
    }
    for i in 0..d {
        for j in 0..d {
            let (a, b) = (matrix[i][j], matrix[j][i]);
            if !a.is_finite() || (a - b).abs() > ASYMMETRY * (a.abs() + b.abs()) {
                let (i, j) = (&features[i], &features[j]);
                return Err(Error::data(format!("{what}: the entries for `{i}`, `{j}` are {a} and {b}"))
                    .help("a covariance is symmetric"));
            }
        }
    }
    let factor = factor(&Square::from_lower(d, |i, j| matrix[i][j]), SINGULAR);
    match factor.aliased().first() {
        None => Ok(()),
        Some(alias) => {
            Err(Error::data(format!("{what}: the matrix is not positive definite, see `{}`", features[alias.column]))
                .help("every variance must be positive, and no column a combination of others"))
        }
    }
}

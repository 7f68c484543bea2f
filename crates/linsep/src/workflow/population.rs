//! One population without classes: its mean and covariance, estimated, and the posterior of the mean.

use crate::density::Parameters;
use crate::error::{Error, Place, Result};
use crate::linalg::{Square, factor};
use crate::model::{Divisor, MeanPrior};
use crate::numeric::sum;
use crate::table::{Kind, Table};
use serde::Deserialize;
use serde_json::{Value, json};

/// On the unit-diagonal scale, a pivot below this is rounding of a singular matrix, as in `model::gaussian::known`.
const SINGULAR: f64 = 1e-14;

/// What is known of a population before its rows are seen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PopulationKnown {
    /// Names of the columns of what follows.
    pub features: Vec<String>,
    /// The covariance, where it is known.
    pub covariance: Option<Vec<Vec<f64>>>,
    /// The prior of the mean.
    pub mean_prior: Option<(Vec<f64>, Vec<Vec<f64>>)>,
}

#[derive(Deserialize)]
struct KnownFile {
    features: Vec<String>,
    covariance: Option<Vec<Vec<f64>>>,
    mean_prior: Option<PriorOfMean>,
}

#[derive(Deserialize)]
struct PriorOfMean {
    mean: Vec<f64>,
    covariance: Vec<Vec<f64>>,
}

impl PopulationKnown {
    /// From a JSON file: `features`, and any of `covariance` and `mean_prior` (`mean`, `covariance`).
    pub fn from_json(bytes: &[u8], name: &str) -> Result<PopulationKnown> {
        let place = || Place::file(name);
        let file: KnownFile = serde_json::from_slice(bytes).map_err(|e| {
            Error::format(format!("this is no file of parameters: {e}"))
                .at(place())
                .help("it is a JSON object with features and any of covariance and mean_prior (mean, covariance)")
        })?;
        let known = PopulationKnown {
            covariance: file.covariance,
            mean_prior: file.mean_prior.map(|prior| (prior.mean, prior.covariance)),
            features: file.features,
        };
        known.check().map_err(|e| e.at(place()))?;
        Ok(known)
    }

    fn check(&self) -> Result<()> {
        let d = self.features.len();
        let matrix = |what: &str, matrix: &[Vec<f64>]| {
            let sized = matrix.len() == d && matrix.iter().all(|row| row.len() == d);
            let symmetric = || (0..d).all(|i| (0..d).all(|j| matrix[i][j].is_finite() && matrix[i][j] == matrix[j][i]));
            let definite = || factor(&Square::from_lower(d, |i, j| matrix[i][j]), SINGULAR).rank() == d;
            match sized && symmetric() && definite() {
                true => Ok(()),
                false => Err(Error::data(format!("{what} is no positive definite matrix of {d} rows and columns"))),
            }
        };
        if let Some(covariance) = &self.covariance {
            matrix("`covariance`", covariance)?;
        }
        if let Some((mean, covariance)) = &self.mean_prior {
            matrix("`covariance` of `mean_prior`", covariance)?;
            if mean.len() != d || !mean.iter().all(|m| m.is_finite()) {
                return Err(Error::data(format!("`mean` of `mean_prior` is not {d} numbers")));
            }
        }
        Ok(())
    }

    /// The same in the order of other names.
    fn aligned(&self, features: &[String]) -> Result<PopulationKnown> {
        let place = |name: &String| {
            self.features.iter().position(|f| f == name).ok_or_else(|| {
                Error::data(format!("the parameters do not have the feature `{name}`"))
                    .help(format!("theirs are: {}", self.features.join(", ")))
            })
        };
        let order = features.iter().map(place).collect::<Result<Vec<usize>>>()?;
        let matrix = |m: &Vec<Vec<f64>>| order.iter().map(|i| order.iter().map(|j| m[*i][*j]).collect()).collect();
        Ok(PopulationKnown {
            features: features.to_vec(),
            covariance: self.covariance.as_ref().map(matrix),
            mean_prior: self
                .mean_prior
                .as_ref()
                .map(|(mean, covariance)| (order.iter().map(|i| mean[*i]).collect(), matrix(covariance))),
        })
    }
}

/// What rows of one population say of it.
#[derive(Debug, Clone, PartialEq)]
pub struct PopulationEstimate {
    /// Names of the columns.
    pub features: Vec<String>,
    /// Rows in the table.
    pub rows: usize,
    /// Rows without a missing cell, which count.
    pub used: usize,
    /// The mean of the rows.
    pub mean: Vec<f64>,
    /// The covariance, as it was given or with the divisor asked for; `None` of one row with the divisor n − 1.
    pub covariance: Option<Vec<Vec<f64>>>,
    /// Whether it was given.
    pub known: bool,
    /// Standard errors of the means, `√(Σ_jj/n)`.
    pub errors: Option<Vec<f64>>,
    /// Mean and covariance of the mean after the rows, where it has a prior.
    pub posterior: Option<(Vec<f64>, Vec<Vec<f64>>)>,
}

/// Estimates the mean and the covariance of the rows of a table, all columns of which are of one population.
///
/// ```
/// use linsep::model::Divisor;
/// use linsep::read::{ReadOptions, read_bytes};
/// use linsep::workflow::estimate_population;
/// let table = read_bytes(b"x\n1\n2\n6\n", "rows.csv", &ReadOptions::default())?;
/// let found = estimate_population(&table, None, Divisor::Unbiased, None)?;
/// assert_eq!((found.mean, found.covariance), (vec![3.0], Some(vec![vec![7.0]])));
/// # Ok::<(), linsep::Error>(())
/// ```
///
/// # Errors
/// Columns that are not there or not numbers, no rows without a missing cell, parameters of other columns.
pub fn estimate_population(
    table: &Table,
    features: Option<&[String]>,
    divisor: Divisor,
    known: Option<&PopulationKnown>,
) -> Result<PopulationEstimate> {
    let columns: Vec<usize> = match features {
        Some(names) => names.iter().map(|name| table.column(name)).collect::<Result<_>>()?,
        None => (0..table.columns().len()).collect(),
    };
    if let Some(column) = columns.iter().map(|c| &table.columns()[*c]).find(|c| !matches!(c.kind, Kind::Number)) {
        return Err(Error::data(format!("`{}` is not a column of numbers", column.name))
            .help("choose the columns of numbers, or say which of two kinds of rows you mean by a target"));
    }
    let names: Vec<String> = columns.iter().map(|c| table.columns()[*c].name.clone()).collect();
    let known = known.map(|known| known.aligned(&names)).transpose()?.unwrap_or_default();
    let values: Vec<Vec<f64>> = (0..table.n_rows())
        .map(|row| columns.iter().map(|c| table.number(row, *c)).collect::<Vec<f64>>())
        .filter(|row| row.iter().all(|v| v.is_finite()))
        .collect();
    if values.is_empty() || names.is_empty() {
        return Err(Error::data("there is no row without a missing cell").help("nothing can be estimated from none"));
    }
    let (n, d) = (values.len() as f64, names.len());
    // Twice: what rounding leaves of the first mean the second removes.
    let mut mean: Vec<f64> = (0..d).map(|j| sum(values.iter().map(|row| row[j] / n))).collect();
    for (j, m) in mean.iter_mut().enumerate() {
        *m += sum(values.iter().map(|row| row[j] - *m)) / n;
    }
    let by = match divisor {
        Divisor::Unbiased => n - 1.0,
        Divisor::Mle => n,
    };
    let entry = |i: usize, j: usize| sum(values.iter().map(|row| (row[i] - mean[i]) * (row[j] - mean[j]))) / by;
    let is_known = known.covariance.is_some();
    let covariance = known.covariance.or_else(|| (by > 0.0).then(|| Square::from_lower(d, entry).to_rows()));
    let errors = covariance.as_ref().map(|c| (0..d).map(|j| (c[j][j] / n).sqrt()).collect());
    let posterior = match (known.mean_prior, &covariance) {
        (Some((prior_mean, prior)), Some(covariance)) => Some(posterior(&mean, covariance, n, &prior_mean, prior)?),
        (Some(_), None) => return Err(Error::data("one row has no covariance to weigh the prior against")),
        (None, _) => None,
    };
    Ok(PopulationEstimate {
        features: names,
        rows: table.n_rows(),
        used: values.len(),
        mean,
        covariance,
        known: is_known,
        errors,
        posterior,
    })
}

/// `x̄ + (Σ/n)(Σ_θ + Σ/n)⁻¹(μ_θ − x̄)` and `Σ_θ(Σ_θ + Σ/n)⁻¹Σ/n`.
fn posterior(
    mean: &[f64],
    covariance: &[Vec<f64>],
    n: f64,
    prior_mean: &[f64],
    prior: Vec<Vec<f64>>,
) -> Result<(Vec<f64>, Vec<Vec<f64>>)> {
    let total = factor(&Square::from_lower(mean.len(), |i, j| prior[i][j] + covariance[i][j] / n), SINGULAR);
    let away: Vec<f64> = prior_mean.iter().zip(mean).map(|(p, m)| p - m).collect();
    let solved = total.solve(&away);
    let moved = |i: usize| covariance[i].iter().zip(&solved).map(|(c, s)| c / n * s).sum::<f64>();
    let shifted = (0..mean.len()).map(|i| mean[i] + moved(i)).collect();
    let prior = MeanPrior { means: vec![prior_mean.to_vec()], covariance: prior };
    match prior.posterior_covariance(covariance, n) {
        Some(after) => Ok((shifted, after)),
        None => Err(Error::data("the prior and the covariance of the rows are singular together")),
    }
}

impl PopulationEstimate {
    /// Every number beside that of a truth file: name, truth, estimate.
    pub fn beside(&self, bytes: &[u8], name: &str) -> Result<Vec<(String, f64, f64)>> {
        let at = |e: Error| e.at(Place::file(name));
        let truth: Parameters = serde_json::from_slice(bytes)
            .map_err(|e| at(Error::format(format!("this is no truth of simulated rows: {e}"))))?;
        let Some([mean]) = truth.means.as_deref() else {
            return Err(at(
                Error::usage("the truth is not of one population").help("simulate population writes such a file")
            ));
        };
        let d = self.features.len();
        let of = |name: &String| truth.features.iter().position(|f| f == name);
        let order = self.features.iter().map(of).collect::<Option<Vec<usize>>>().filter(|o| o.len() == mean.len());
        let Some(order) = order else {
            return Err(at(Error::usage(format!(
                "the truth is of {}, and these rows have {}",
                truth.features.join(", "),
                self.features.join(", ")
            ))));
        };
        let variance = truth.variance.unwrap_or(0.0);
        let true_entry = |i: usize, j: usize| match &truth.covariance {
            Some(matrix) => matrix[order[i]][order[j]],
            None if i == j => variance,
            None => 0.0,
        };
        let f = &self.features;
        let mut found: Vec<(String, f64, f64)> =
            (0..d).map(|j| (format!("mean of {}", f[j]), mean[order[j]], self.mean[j])).collect();
        if let Some(covariance) = &self.covariance {
            for (i, row) in covariance.iter().enumerate() {
                for (j, entry) in row.iter().enumerate().take(i + 1) {
                    let what = match i == j {
                        true => format!("variance of {}", f[i]),
                        false => format!("covariance of {}, {}", f[j], f[i]),
                    };
                    found.push((what, true_entry(i, j), *entry));
                }
            }
        }
        Ok(found)
    }

    /// All of it for programs.
    pub fn to_json(&self) -> Value {
        json!({
            "features": self.features,
            "rows": self.rows,
            "used": self.used,
            "mean": self.mean,
            "covariance": self.covariance,
            "covariance_known": self.known,
            "standard_errors": self.errors,
            "posterior_mean": self.posterior.as_ref().map(|p| &p.0),
            "posterior_covariance": self.posterior.as_ref().map(|p| &p.1),
        })
    }
}

//! How the features of a row come about where its class is drawn afterwards.

use super::{check_cols, check_correlation};
use crate::density::{Draws, default_features};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Shares may miss a sum of one by this, as in `density::check`.
const SUM: f64 = 1e-9;

/// How the features of a row come about, before its class is drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FeatureLaw {
    /// Standard normal, any two columns with this correlation.
    Normal(f64),
    /// Independent, uniform between two numbers.
    Uniform(f64, f64),
    /// A part is drawn by its share, then every column independently from its normal distribution.
    Mixture(Vec<NormalPart>),
    /// Those of a table with this name, row by row, and from the first again after the last.
    Rows(String),
}

/// A part of a mixture: all columns are normal with this mean and standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NormalPart {
    /// How often it is drawn.
    pub share: f64,
    /// The mean of every column.
    pub mean: f64,
    /// The standard deviation of every column.
    pub deviation: f64,
}

/// The rows of a table, to be labelled.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnRows {
    /// The name of the table.
    pub name: String,
    /// Names of the columns.
    pub features: Vec<String>,
    /// Row by row.
    pub values: Vec<f64>,
}

impl OwnRows {
    /// How many rows.
    pub fn len(&self) -> usize {
        self.values.len() / self.features.len().max(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A law made ready to be drawn from.
pub struct Features {
    law: FeatureLaw,
    names: Vec<String>,
    /// Of normal features the lower factor of the correlation matrix: below the diagonal a column has one number throughout.
    diagonal: Vec<f64>,
    below: Vec<f64>,
    /// Of a mixture the shares up to each part.
    upto: Vec<f64>,
    own: Option<OwnRows>,
}

impl Features {
    /// Refuses a correlation, an interval or a mixture that is not possible.
    pub fn new(law: FeatureLaw, cols: usize) -> Result<Features> {
        check_cols(cols)?;
        let (mut correlation, mut upto) = (0.0, Vec::new());
        match &law {
            FeatureLaw::Normal(given) => correlation = *given,
            FeatureLaw::Uniform(low, high) if low < high && (high - low).is_finite() => {}
            FeatureLaw::Uniform(low, high) => {
                return Err(Error::usage(format!("there are no numbers between {low} and {high}"))
                    .help("give the smaller one first"));
            }
            FeatureLaw::Mixture(parts) => upto = shares(parts)?,
            FeatureLaw::Rows(name) => {
                return Err(Error::data(format!("the features were those of the table `{name}`, which is not here"))
                    .help("give that table, or another one, as the features"));
            }
        }
        check_correlation(correlation, cols)?;
        // Cholesky of (1−ρ)I + ρ11ᵀ: column j is l_j on the diagonal and m_j below.
        let (mut diagonal, mut below, mut used) = (Vec::new(), Vec::new(), 0.0);
        for _ in 0..cols {
            let pivot: f64 = f64::sqrt(1.0 - used);
            let entry = (correlation - used) / pivot;
            diagonal.push(pivot);
            below.push(entry);
            used += entry * entry;
        }
        Ok(Features { law, names: default_features(cols), diagonal, below, upto, own: None })
    }

    /// The rows of a table, in their order.
    pub fn of_rows(own: OwnRows) -> Result<Features> {
        check_cols(own.features.len())?;
        if own.is_empty() {
            return Err(Error::data(format!("`{}` has no rows", own.name)).help("give at least one row of features"));
        }
        let (law, names) = (FeatureLaw::Rows(own.name.clone()), own.features.clone());
        Ok(Features { law, names, diagonal: Vec::new(), below: Vec::new(), upto: Vec::new(), own: Some(own) })
    }

    /// The law.
    pub fn law(&self) -> &FeatureLaw {
        &self.law
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The rows of a table, where that is what they are.
    pub fn own(&self) -> Option<&OwnRows> {
        self.own.as_ref()
    }

    /// Fills the row with this number.
    pub fn fill(&self, number: u64, draws: &mut Draws, row: &mut [f64]) {
        match (&self.law, &self.own) {
            (FeatureLaw::Normal(_), _) => {
                let mut common = 0.0;
                for ((x, l), m) in row.iter_mut().zip(&self.diagonal).zip(&self.below) {
                    let z = draws.normal();
                    *x = common + l * z;
                    common += m * z;
                }
            }
            (FeatureLaw::Uniform(low, high), _) => {
                row.iter_mut().for_each(|x| *x = low + (high - low) * draws.uniform());
            }
            (FeatureLaw::Mixture(parts), _) => {
                let part = parts[draws.index(&self.upto)];
                row.iter_mut().for_each(|x| *x = part.mean + part.deviation * draws.normal());
            }
            (FeatureLaw::Rows(_), Some(own)) => {
                let at = (number % own.len() as u64) as usize * row.len();
                row.copy_from_slice(&own.values[at..at + row.len()]);
            }
            // `new` refuses rows of a table that is not here.
            (FeatureLaw::Rows(_), None) => row.fill(0.0),
        }
    }
}

/// The shares up to each part.
fn shares(parts: &[NormalPart]) -> Result<Vec<f64>> {
    let good = |p: &NormalPart| p.share > 0.0 && p.deviation > 0.0 && p.deviation.is_finite() && p.mean.is_finite();
    if parts.is_empty() || !parts.iter().all(good) {
        return Err(Error::usage("a part of a mixture has a positive share, a mean and a positive standard deviation"));
    }
    let total: f64 = parts.iter().map(|p| p.share).sum();
    if !((total - 1.0).abs() <= SUM) {
        return Err(Error::usage(format!("the shares of a mixture must sum to one; they sum to {total}")));
    }
    Ok(parts
        .iter()
        .scan(0.0, |upto, part| {
            *upto += part.share;
            Some(*upto)
        })
        .collect())
}

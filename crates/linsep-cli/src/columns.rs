//! The flags that say what the columns of a table are for.

use crate::predict::UnknownName;
use clap::{Args, ValueEnum};
use linsep::design::{Basis, DEFAULT_KNOTS, Formula, Missing, QuantileOutput, RecipeOptions, Transform, UnknownLevel};
use linsep::table::Table;
use linsep::workflow::FitOptions;
use linsep::{Error, Result};
use std::time::Duration;

/// Which columns are features, and what becomes of them; which are weights and offsets.
#[derive(Args)]
pub struct ColumnArguments {
    /// The model written down, in place of --target and --features: 'y ~ a * b + log(c) + ns(d, 4)'
    #[arg(long, value_name = "FORMULA", help_heading = "Columns")]
    formula: Option<String>,

    /// Code a text column against this level: COLUMN=LEVEL
    #[arg(long, value_name = "COLUMN=LEVEL", value_delimiter = ',', help_heading = "Columns")]
    reference: Vec<String>,

    /// Use these columns only
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help_heading = "Columns")]
    features: Option<Vec<String>>,

    /// Leave these columns out
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help_heading = "Columns")]
    drop: Vec<String>,

    /// Column of row weights (frequencies)
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    weights: Option<String>,

    /// Columns added to the scores: one for two classes, else one per class in class order
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', help_heading = "Columns")]
    pub offset: Vec<String>,

    /// Of two classes, the one whose log-odds are reported (default: the last)
    #[arg(long, value_name = "CLASS", help_heading = "Columns")]
    pub positive: Option<String>,

    /// What to do with rows that miss a cell
    #[arg(long, value_enum, default_value = "drop", value_name = "POLICY", help_heading = "Columns")]
    missing: MissingName,

    /// What predictions do with a level that was not seen in training
    #[arg(long, value_enum, default_value = "error", value_name = "POLICY", help_heading = "Columns")]
    unknown: UnknownName,

    /// Most levels a text column may have
    #[arg(long, default_value_t = 100, value_name = "N", help_heading = "Columns")]
    max_levels: usize,

    /// Replace numbers by their rank among the training rows (0 to 1), or by the normal score of it
    #[arg(long, value_enum, value_name = "TRANSFORM", help_heading = "Columns")]
    transform: Option<TransformName>,

    /// Transform these columns only (default: all number columns)
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', requires = "transform", help_heading = "Columns")]
    transform_columns: Option<Vec<String>>,

    /// Most quantiles that ranks are read off at, from 2 on (default: 1000, or the number of rows)
    #[arg(long, value_name = "N", requires = "transform", help_heading = "Columns")]
    quantiles: Option<usize>,

    /// Add products of columns: products (age*bmi), quadratic (also age^2) or poly:D (up to D factors)
    #[arg(long, value_name = "BASIS", help_heading = "Columns")]
    basis: Option<String>,

    /// Multiply these columns only (default: all)
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', requires = "basis", help_heading = "Columns")]
    basis_columns: Option<Vec<String>>,
}

#[derive(Clone, Copy, ValueEnum)]
enum MissingName {
    /// Leave the row out
    Drop,
    /// Fill in the training mean (for text: the shares of the levels)
    Mean,
    /// Fill in, and add a column that tells missing cells from others: missing(age); for text a level of its own
    Indicator,
    /// Refuse
    Error,
}

#[derive(Clone, Copy, ValueEnum)]
enum TransformName {
    /// The share of the training rows below, from 0 to 1
    Quantile,
    /// The normal score of that share
    QuantileNormal,
}

impl ColumnArguments {
    /// What to do with the features.
    pub fn recipe(&self) -> Result<RecipeOptions> {
        Ok(RecipeOptions {
            features: self.features.clone(),
            exclude: self.drop.clone(),
            missing: match self.missing {
                MissingName::Drop => Missing::Drop,
                MissingName::Mean => Missing::Mean,
                MissingName::Indicator => Missing::Indicator,
                MissingName::Error => Missing::Error,
            },
            unknown: UnknownLevel::from(self.unknown),
            max_levels: self.max_levels,
            transform: self.transform.map_or(Ok(Transform::None), |name| transform(name, self.quantiles))?,
            transform_columns: self.transform_columns.clone(),
            basis_columns: self.basis_columns.clone(),
            basis: self.basis.as_deref().map_or(Ok(Basis::None), basis)?,
            formula: self.formula()?,
            references: self.reference.iter().map(|text| reference(text)).collect::<Result<_>>()?,
            ..RecipeOptions::default()
        })
    }

    /// The formula, if one is given.
    pub fn formula(&self) -> Result<Option<Formula>> {
        self.formula.as_deref().map(Formula::parse).transpose()
    }

    /// The column to predict: that of the formula, or the one that is named.
    pub fn target(&self, given: Option<&str>, table: &Table) -> Result<String> {
        let formula = self.formula()?;
        match (formula.as_ref().and_then(Formula::target), given) {
            (Some(target), Some(given)) if target != given => {
                Err(Error::usage(format!("the formula predicts `{target}`, and --target says `{given}`"))
                    .help("leave --target out"))
            }
            (Some(target), _) => Ok(target.to_owned()),
            (None, given) => target_of(given, table),
        }
    }

    /// The column to predict as far as it is named before the table is read.
    pub fn named_target(&self, given: Option<&str>) -> Result<Option<String>> {
        let formula = self.formula()?;
        Ok(formula.as_ref().and_then(Formula::target).or(given).map(str::to_owned))
    }

    /// Whether a column may be a feature.
    pub fn uses(&self, column: &str) -> bool {
        let named = |names: &[String]| names.iter().any(|name| name == column);
        let apart = self.weights.as_deref() == Some(column) || named(&self.offset) || named(&self.drop);
        !apart && self.features.as_ref().is_none_or(|features| named(features))
    }

    /// The column of weights.
    pub fn weights(&self) -> Option<String> {
        self.weights.clone()
    }

    /// Weights, offsets and the positive class.
    pub fn roles(&self, options: &mut FitOptions) {
        options.positive = self.positive.clone();
        options.weights = self.weights.clone();
        options.offsets = self.offset.clone();
    }
}

/// The column to predict; the label of a LIBSVM file where none is named.
fn target_of(given: Option<&str>, table: &Table) -> Result<String> {
    match given {
        Some(target) => Ok(target.to_owned()),
        None if crate::labels::has_label_lists(table) => {
            let first = table.columns().first().map_or("label=1", |c| c.name.as_str());
            Err(Error::usage("the rows have several labels, and one is to be predicted here")
                .help(format!("name it: --target {first}")))
        }
        None if table.sparse_width() > 0 => Ok("label".to_owned()),
        None => {
            let names: Vec<&str> = table.columns().iter().map(|c| c.name.as_str()).take(12).collect();
            Err(Error::usage("which column is to be predicted?")
                .help(format!("name it with --target; the columns are: {}", names.join(", "))))
        }
    }
}

/// A column and the level that it is coded against.
fn reference(text: &str) -> Result<(String, String)> {
    match text.split_once('=') {
        Some((column, level)) if !column.is_empty() && !level.is_empty() => Ok((column.to_owned(), level.to_owned())),
        _ => Err(Error::usage(format!("`{text}` is not a reference level")).help("write --reference region=west")),
    }
}

/// A time limit.
pub fn seconds(limit: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(limit)
        .map_err(|_| Error::usage(format!("`{limit}` is not a number of seconds")).help("for example --time-limit 60"))
}

fn transform(name: TransformName, quantiles: Option<usize>) -> Result<Transform> {
    let output = match name {
        TransformName::Quantile => QuantileOutput::Uniform,
        TransformName::QuantileNormal => QuantileOutput::Normal,
    };
    match quantiles.unwrap_or(DEFAULT_KNOTS) {
        few @ 0..=1 => Err(Error::usage(format!("--quantiles {few}"))
            .help("choose at least 2, the smallest and the largest number of a column")),
        knots => Ok(Transform::Quantile { output, knots }),
    }
}

fn basis(text: &str) -> Result<Basis> {
    match (text, text.strip_prefix("poly:").map(str::parse)) {
        ("none", _) => Ok(Basis::None),
        ("products", _) => Ok(Basis::Products),
        ("quadratic", _) => Ok(Basis::Quadratic),
        (_, Some(Ok(degree))) => Basis::polynomial(degree),
        _ => Err(Error::usage(format!("`{text}` is not a basis")).help("use none, products, quadratic or poly:3")),
    }
}

//! What was learned from the training rows about turning columns into numbers.

use crate::error::{Error, Result};
use crate::read::Expected;
use crate::table::{Kind, Table};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What to do with rows that miss a needed cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// Leave the row out (and predict nothing for it).
    #[default]
    Drop,
    /// Replace the cell by the training mean of its matrix column (for text: the training shares of the levels).
    Mean,
    /// Refuse.
    Error,
}

/// What to do with a level that training has not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownLevel {
    /// Refuse, naming the place.
    #[default]
    Error,
    /// Treat the cell as missing.
    Missing,
    /// Set all indicators of the column to zero.
    Zero,
}

/// How a text column becomes indicators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// One indicator per level: right under a penalty.
    AllLevels,
    /// One per level but the first, which is the reference: needed where nothing else makes the solution unique.
    DropReference,
}

/// How one table column becomes matrix columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// The number itself.
    Number {
        /// What stands in for a missing cell under [`Missing::Mean`].
        #[serde(skip_serializing_if = "Option::is_none", default)]
        mean: Option<f64>,
    },
    /// One indicator per level.
    Levels {
        /// Levels seen in training, in byte order.
        levels: Vec<String>,
        /// The level without an indicator.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reference: Option<String>,
        /// What stands in for a missing cell under [`Missing::Mean`]: the share of each level.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        shares: Option<Vec<f64>>,
    },
}

/// A table column and how it is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecipeColumn {
    /// Name in the table.
    pub name: String,
    /// How it becomes matrix columns.
    pub encoding: Encoding,
}

impl RecipeColumn {
    /// Number of matrix columns it becomes.
    pub fn width(&self) -> usize {
        match &self.encoding {
            Encoding::Number { .. } => 1,
            Encoding::Levels { levels, reference, .. } => levels.len() - usize::from(reference.is_some()),
        }
    }
}

/// The matrix columns that one table column became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Name of the table column; for unnamed columns their 1-based index.
    pub name: String,
    /// The matrix columns.
    pub columns: Range<usize>,
    /// Whether they are the indicators of the levels of a text column.
    pub levels: bool,
}

/// Everything needed to turn a table with the same columns into the same matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// The columns used, in the order of the matrix.
    pub columns: Vec<RecipeColumn>,
    /// Width of the unnamed sparse part; 0 where there is none.
    pub sparse_width: usize,
    /// What happens to rows with missing cells.
    pub missing: Missing,
    /// What happens to levels not seen in training.
    pub unknown: UnknownLevel,
}

/// A model keeps several numbers per column, used or not.
const MOST_COLUMNS: usize = 1 << 26;

/// What the user wants of a recipe.
#[derive(Debug, Clone)]
pub struct RecipeOptions {
    /// Use these columns only, in the table's order; `None` is all but the excluded ones.
    pub features: Option<Vec<String>>,
    /// Columns not to use: target, weights, offsets and what the user drops.
    pub exclude: Vec<String>,
    /// What happens to rows with missing cells.
    pub missing: Missing,
    /// What happens to levels not seen in training.
    pub unknown: UnknownLevel,
    /// How text columns become indicators.
    pub coding: Coding,
    /// Most levels a text column may have.
    pub max_levels: usize,
}

impl Default for RecipeOptions {
    fn default() -> RecipeOptions {
        RecipeOptions {
            features: None,
            exclude: Vec::new(),
            missing: Missing::default(),
            unknown: UnknownLevel::default(),
            coding: Coding::AllLevels,
            max_levels: 100,
        }
    }
}

/// Learns a recipe from the rows with a positive frequency: zero for rows without a label, one where nothing is
/// weighted.
///
/// ```
/// use linsep::design::{RecipeOptions, fit_recipe};
/// use linsep::read::{ReadOptions, read_bytes};
/// let table = read_bytes(b"x,kind\n1,a\n2,b\n3,a\n", "demo.csv", &ReadOptions::default())?;
/// let recipe = fit_recipe(&table, &vec![1.0; 3], &RecipeOptions::default())?;
/// assert_eq!(recipe.features(), ["x", "kind=a", "kind=b"]);
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn fit_recipe(table: &Table, frequency: &[f64], options: &RecipeOptions) -> Result<Recipe> {
    let usable: Vec<bool> = frequency.iter().map(|f| *f > 0.0).collect();
    let chosen = choose_columns(table, options)?;
    let keep = match options.missing {
        Missing::Drop => super::matching::rows_without_missing(table, &chosen, &usable),
        Missing::Mean | Missing::Error => usable,
    };
    if table.sparse_width() > MOST_COLUMNS {
        let message =
            format!("the largest index is {}: more columns than {MOST_COLUMNS} do not fit", table.sparse_width());
        return Err(Error::data(message).help("renumber the columns from 1"));
    }
    let counted: Vec<f64> = frequency.iter().zip(&keep).map(|(f, k)| if *k { *f } else { 0.0 }).collect();
    let columns = chosen.into_iter().map(|c| learn_column(table, c, &counted, options)).collect::<Result<Vec<_>>>()?;
    if columns.is_empty() && table.sparse_width() == 0 {
        return Err(Error::data("no column is left to classify with")
            .help("name the columns to use with --features, or drop fewer"));
    }
    if table.sparse_width() == 0 && columns.iter().all(|c| c.width() == 0) {
        return Err(Error::data("no column is left to classify with: each has the same text in every row")
            .help("use columns that differ between rows"));
    }
    Ok(Recipe { columns, sparse_width: table.sparse_width(), missing: options.missing, unknown: options.unknown })
}

fn choose_columns(table: &Table, options: &RecipeOptions) -> Result<Vec<usize>> {
    for name in &options.exclude {
        table.column(name)?;
    }
    let wanted: Option<Vec<usize>> = match &options.features {
        Some(names) => Some(names.iter().map(|n| table.column(n)).collect::<Result<_>>()?),
        None => None,
    };
    let is_used = |c: &usize| match &wanted {
        Some(wanted) => wanted.contains(c),
        None => !options.exclude.contains(&table.columns()[*c].name),
    };
    if let Some(wanted) = &wanted
        && let Some(both) = wanted.iter().find(|c| options.exclude.contains(&table.columns()[**c].name))
    {
        let name = &table.columns()[*both].name;
        return Err(Error::usage(format!(
            "column `{name}` cannot be a feature: it is the target, a weight, an offset or dropped"
        ))
        .help("take it out of --features"));
    }
    Ok((0..table.columns().len()).filter(is_used).collect())
}

fn learn_column(table: &Table, column: usize, counted: &[f64], options: &RecipeOptions) -> Result<RecipeColumn> {
    let info = &table.columns()[column];
    let encoding = match &info.kind {
        Kind::Number => {
            let mean = (options.missing == Missing::Mean).then(|| column_mean(table, column, counted)).transpose()?;
            Encoding::Number { mean }
        }
        Kind::Text { levels } => learn_levels(table, column, levels, counted, options)?,
    };
    Ok(RecipeColumn { name: info.name.clone(), encoding })
}

/// Mean of the cells that are present, shifted by the first so that a large offset costs no digits.
fn column_mean(table: &Table, column: usize, counted: &[f64]) -> Result<f64> {
    let (mut shift, mut sum, mut count) = (0.0, 0.0, 0.0);
    for (c, chunk) in table.chunks().iter().enumerate() {
        let start = table.chunk_start(c);
        chunk.cells[column].for_each(|i, v| {
            let f = counted[start + i];
            if f > 0.0 && !v.is_nan() {
                if count == 0.0 {
                    shift = v;
                }
                sum += f * (v - shift);
                count += f;
            }
        });
    }
    if count == 0.0 {
        let name = &table.columns()[column].name;
        return Err(Error::data(format!("column `{name}` is missing in every row"))
            .help(format!("leave it out: --drop {name}")));
    }
    Ok(shift + sum / count)
}

fn learn_levels(
    table: &Table,
    column: usize,
    levels: &[String],
    counted: &[f64],
    options: &RecipeOptions,
) -> Result<Encoding> {
    let name = &table.columns()[column].name;
    let mut counts = vec![0.0; levels.len()];
    for (c, chunk) in table.chunks().iter().enumerate() {
        let start = table.chunk_start(c);
        chunk.cells[column].for_each(|i, v| {
            if !v.is_nan() {
                counts[v as usize] += counted[start + i];
            }
        });
    }
    let seen: Vec<usize> = (0..levels.len()).filter(|l| counts[*l] > 0.0).collect();
    if seen.is_empty() {
        return Err(Error::data(format!("column `{name}` is missing in every row"))
            .help(format!("leave it out: --drop {name}")));
    }
    if seen.len() > options.max_levels {
        let message = format!("text column `{name}` has {} levels, more than {}", seen.len(), options.max_levels);
        return Err(Error::data(message)
            .help(format!("leave it out with --drop {name}, or allow more with --max-levels {}", seen.len())));
    }
    let total: f64 = counts.iter().sum();
    let shares = (options.missing == Missing::Mean).then(|| seen.iter().map(|l| counts[*l] / total).collect());
    let levels: Vec<String> = seen.iter().map(|l| levels[*l].clone()).collect();
    let reference = (options.coding == Coding::DropReference).then(|| levels[0].clone());
    Ok(Encoding::Levels { levels, reference, shares })
}

impl Recipe {
    /// A recipe for a matrix that is used as it is: `cols` unnamed columns.
    pub fn unnamed(cols: usize) -> Recipe {
        Recipe { columns: Vec::new(), sparse_width: cols, missing: Missing::Error, unknown: UnknownLevel::Error }
    }

    /// Number of matrix columns.
    pub fn n_features(&self) -> usize {
        self.columns.iter().map(RecipeColumn::width).sum::<usize>() + self.sparse_width
    }

    /// Name of one matrix column: the column, `column=level`, or the 1-based index of an unnamed one.
    pub fn feature(&self, index: usize) -> String {
        let mut left = index;
        for column in &self.columns {
            if left < column.width() {
                return match &column.encoding {
                    Encoding::Number { .. } => column.name.clone(),
                    Encoding::Levels { levels, reference, .. } => {
                        format!("{}={}", column.name, levels[left + usize::from(reference.is_some())])
                    }
                };
            }
            left -= column.width();
        }
        (left + 1).to_string()
    }

    /// Which of [`Recipe::columns`] a matrix column comes from; unnamed ones count on behind them.
    pub fn source(&self, index: usize) -> usize {
        let mut end = 0;
        for (at, column) in self.columns.iter().enumerate() {
            end += column.width();
            if index < end {
                return at;
            }
        }
        self.columns.len() + index - end
    }

    /// The matrix columns of every table column in use, unnamed ones not listed.
    pub fn origins(&self) -> Vec<Origin> {
        let mut start = 0;
        let origin = |c: &RecipeColumn| {
            let columns = start..start + c.width();
            start = columns.end;
            Origin { name: c.name.clone(), columns, levels: matches!(c.encoding, Encoding::Levels { .. }) }
        };
        self.columns.iter().map(origin).collect()
    }

    /// Names of all matrix columns.
    pub fn features(&self) -> Vec<String> {
        (0..self.n_features()).map(|j| self.feature(j)).collect()
    }

    /// The kind of every column, for reading new data.
    pub fn expected(&self) -> Vec<(String, Expected)> {
        let kind = |c: &RecipeColumn| match c.encoding {
            Encoding::Number { .. } => Expected::Number,
            Encoding::Levels { .. } => Expected::Text,
        };
        self.columns.iter().map(|c| (c.name.clone(), kind(c))).collect()
    }

    /// Text columns with one level, which is their reference: constant, and without a matrix column.
    pub fn constant_columns(&self) -> Vec<&str> {
        self.columns.iter().filter(|c| c.width() == 0).map(|c| c.name.as_str()).collect()
    }

    /// The reference levels that have no column of their own, as `column=level`.
    pub fn references(&self) -> Vec<String> {
        let reference = |c: &RecipeColumn| match &c.encoding {
            Encoding::Levels { reference: Some(r), .. } => Some(format!("{}={r}", c.name)),
            _ => None,
        };
        self.columns.iter().filter_map(reference).collect()
    }
}

//! What was learned from the training rows about turning columns into numbers.

use super::basis::{Basis, Groups, count_features};
use super::encoding::{Encoding, RecipeColumn};
use super::formula::{Formula, FormulaColumns, FormulaRecipe};
use super::quantile::Transform;
use crate::options::options;
use crate::read::Expected;
use crate::role::{Role, Roles};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Default of the most levels of a text column, each of which becomes a column. Chosen (bench/constants.md): more is
/// refused with the flag that allows it.
const MOST_LEVELS: usize = 100;

/// What to do with rows that miss a needed cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// Leave the row out (and predict nothing for it).
    #[default]
    Drop,
    /// Replace the cell by the training mean of its column (for text: the training shares of the levels), before it is
    /// transformed or multiplied.
    Mean,
    /// The same for numbers, and a column more for every column whose cells training rows miss: 1 where the cell is missing,
    /// else 0. A missing cell of a text column is then a level of its own.
    Indicator,
    /// Refuse.
    Error,
}

impl Missing {
    /// Whether rows that miss cells are used.
    pub fn fills_in(self) -> bool {
        matches!(self, Missing::Mean | Missing::Indicator)
    }
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

/// The matrix columns that one table column became, or the products of certain table columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnOrigin {
    /// Name of the table column, or the columns of a product (`island*sex`, `age^2`); for unnamed columns their 1-based
    /// index.
    pub name: String,
    /// The matrix columns.
    pub columns: Range<usize>,
    /// Whether they are the indicators of the levels of a text column, or of the combined levels of several.
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
    /// Products of the columns that join them in the matrix.
    #[serde(skip_serializing_if = "Basis::is_none", default)]
    pub basis: Basis,
    /// The table columns that take part in products; `None` is all.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub basis_columns: Option<Vec<String>>,
    /// A formula that makes the matrix of the columns, whose text is then coded as indicators of all levels.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub formula: Option<FormulaRecipe>,
}

options! {
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
    /// The transform of number columns.
    pub transform: Transform,
    /// Transform these columns only; `None` is all number columns.
    pub transform_columns: Option<Vec<String>>,
    /// Products of columns that join them.
    pub basis: Basis,
    /// Multiply these columns only; `None` is all.
    pub basis_columns: Option<Vec<String>>,
    /// A formula that says which columns are used and how; nothing but missing cells and unknown levels is then said elsewhere.
    pub formula: Option<Formula>,
    /// Levels without an indicator, by their columns, whatever the coding.
    pub references: Vec<(String, String)>,
}
}

impl Default for RecipeOptions {
    fn default() -> RecipeOptions {
        RecipeOptions {
            features: None,
            exclude: Vec::new(),
            missing: Missing::default(),
            unknown: UnknownLevel::default(),
            coding: Coding::AllLevels,
            max_levels: MOST_LEVELS,
            transform: Transform::None,
            transform_columns: None,
            basis: Basis::None,
            basis_columns: None,
            formula: None,
            references: Vec::new(),
        }
    }
}

impl Recipe {
    /// Columns and what becomes of their cells are chosen.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::Fields(&[
        ("columns", RecipeColumn::ROLES),
        ("sparse_width", Roles::All(Role::Claim)),
        ("missing", Roles::All(Role::Setting)),
        ("unknown", Roles::All(Role::Setting)),
        ("basis", Roles::All(Role::Setting)),
        ("basis_columns", Roles::All(Role::Setting)),
        ("formula", FormulaRecipe::ROLES),
    ]);

    /// A recipe for a matrix that is used as it is: `cols` unnamed columns.
    pub fn unnamed(cols: usize) -> Recipe {
        Recipe {
            columns: Vec::new(),
            sparse_width: cols,
            missing: Missing::Error,
            unknown: UnknownLevel::Error,
            basis: Basis::None,
            basis_columns: None,
            formula: None,
        }
    }

    /// A recipe for columns of numbers that are used as they are.
    pub fn numbers(names: Vec<String>) -> Recipe {
        let column = |name| RecipeColumn { name, encoding: Encoding::Number { mean: None, printed: None } };
        Recipe {
            columns: names.into_iter().map(column).collect(),
            sparse_width: 0,
            missing: Missing::Drop,
            ..Recipe::unnamed(0)
        }
    }

    /// The columns of the table, without the indicators of missing cells behind them.
    pub fn table_columns(&self) -> impl Iterator<Item = &RecipeColumn> {
        self.columns.iter().filter(|c| !c.is_missing_indicator())
    }

    /// Whether a table column takes part in products.
    fn is_factor(&self, name: &str) -> bool {
        self.basis_columns.as_ref().is_none_or(|chosen| chosen.iter().any(|c| c == name))
    }

    /// The matrix columns of the named part, grouped by the table columns they are made of.
    pub(super) fn groups(&self) -> Groups<'_> {
        Groups::new(&self.columns, self.basis, |name| self.is_factor(name))
    }

    /// The matrix columns of the formula, where there is one.
    pub(super) fn formula_columns(&self) -> Option<&Arc<FormulaColumns>> {
        self.formula.as_ref().and_then(|formula| formula.columns(&self.columns))
    }

    /// Number of matrix columns.
    pub fn n_features(&self) -> usize {
        if let Some(formula) = self.formula_columns() {
            return formula.width();
        }
        let named = count_features(&self.columns, self.basis, |name| self.is_factor(name));
        usize::try_from(named).unwrap_or(usize::MAX).saturating_add(self.sparse_width)
    }

    /// Name of one matrix column: the column, `column=level`, a product of such (`age^2*bmi`), or the 1-based index of
    /// an unnamed one. For several names [`Recipe::namer`] is faster, for all of them [`Recipe::features`].
    pub fn feature(&self, index: usize) -> String {
        self.namer()(index)
    }

    /// Names single matrix columns as [`Recipe::feature`] does; what takes time in proportion to all columns is done once.
    pub fn namer(&self) -> impl Fn(usize) -> String + '_ {
        let groups = self.groups();
        let formula = self.formula_columns();
        move |index| match groups.group_of(index) {
            _ if formula.is_some() => formula.map_or_else(String::new, |f| f.feature(index)),
            Some(group) => groups.feature(group, index - groups.all()[group].range.start),
            None => (index - groups.width() + 1).to_string(),
        }
    }

    /// Which of [`Recipe::origins`] a matrix column belongs to; unnamed ones count on behind them.
    pub fn source(&self, index: usize) -> usize {
        if let Some(formula) = self.formula_columns() {
            return formula.term_of(index);
        }
        let groups = self.groups();
        groups.group_of(index).unwrap_or_else(|| groups.all().len() + index - groups.width())
    }

    /// The matrix columns of every table column in use, then those of every product of columns; unnamed ones are not
    /// listed. Those of every term of a formula.
    pub fn origins(&self) -> Vec<ColumnOrigin> {
        if let Some(formula) = self.formula_columns() {
            let origin = |(name, columns, levels): (&str, Range<usize>, bool)| ColumnOrigin {
                name: name.to_owned(),
                columns,
                levels,
            };
            return formula.origins().map(origin).collect();
        }
        let groups = self.groups();
        let is_text = |column: usize| matches!(self.columns[column].encoding, Encoding::Levels { .. });
        let origin = |(at, group): (usize, &super::basis::Group)| {
            let factors = groups.factors(at);
            let name = |(column, power): &(usize, u32)| match power {
                1 => self.columns[*column].title(),
                _ => format!("{}^{power}", self.columns[*column].name),
            };
            ColumnOrigin {
                name: factors.iter().map(name).collect::<Vec<_>>().join("*"),
                columns: group.range.clone(),
                levels: factors.iter().all(|(column, _)| is_text(*column)),
            }
        };
        groups.all().iter().enumerate().map(origin).collect()
    }

    /// The table columns (by their place in the recipe) and powers that each of [`Recipe::origins`] is made of.
    /// Of a formula: its variables.
    pub fn origin_factors(&self) -> Vec<Vec<(usize, u32)>> {
        if let Some(formula) = self.formula_columns() {
            return formula.term_variables().map(|term| term.iter().map(|v| (*v, 1)).collect()).collect();
        }
        let groups = self.groups();
        (0..groups.all().len()).map(|at| groups.factors(at).to_vec()).collect()
    }

    /// The two matrix columns that each product is made of, in the order of the products behind the columns; `None` where numbers
    /// are transformed, products have more factors, or columns have no names.
    pub fn column_products(&self) -> Option<Vec<(usize, usize)>> {
        let products = self.formula.is_none() && self.basis.degree() <= 2;
        let simple = products && self.transform() == Transform::None && self.sparse_width == 0;
        simple.then(|| self.groups().products().iter().map(super::basis::Product::factors).collect())
    }

    /// Text columns with the level that has no indicator.
    pub fn reference_levels(&self) -> Vec<(String, String)> {
        if let Some(formula) = self.formula_columns() {
            return formula.references();
        }
        let of = |c: &RecipeColumn| match &c.encoding {
            Encoding::Levels { reference: Some(level), .. } => Some((c.name.clone(), level.clone())),
            _ => None,
        };
        self.columns.iter().filter_map(of).collect()
    }

    /// The printed unit of every matrix column: zero for whole numbers and for those as fine as doubles are, for
    /// indicators, transformed columns, products and unnamed ones, whose rounding is not their own.
    pub fn printed_units(&self) -> Vec<f64> {
        let unit = |column: usize| match self.columns[column].encoding {
            Encoding::Number { printed, .. } => printed.unwrap_or(0.0),
            _ => 0.0,
        };
        if let Some(formula) = self.formula_columns() {
            let mut units = vec![0.0; formula.width()];
            formula.plain_columns().for_each(|(at, column)| units[at] = unit(column));
            return units;
        }
        let groups = self.groups();
        let mut units = vec![0.0; groups.width() + self.sparse_width];
        for (at, group) in groups.all().iter().enumerate() {
            if let [(column, 1)] = groups.factors(at)[..] {
                units[group.range.clone()].fill(unit(column));
            }
        }
        units
    }

    /// Names of all matrix columns.
    pub fn features(&self) -> Vec<String> {
        if let Some(formula) = self.formula_columns() {
            return (0..formula.width()).map(|j| formula.feature(j)).collect();
        }
        let groups = self.groups();
        let mut names = Vec::with_capacity(groups.width() + self.sparse_width);
        for (at, group) in groups.all().iter().enumerate() {
            names.extend((0..group.range.len()).map(|offset| groups.feature(at, offset)));
        }
        names.extend((1..=self.sparse_width).map(|index| index.to_string()));
        names
    }

    /// Whether every matrix column is a number of the table as it is or an indicator, so that a weight is an effect per
    /// unit of the input column. Otherwise it is one per unit of the feature.
    pub fn is_linear(&self) -> bool {
        let plain = self.formula.is_none() || self.formula_columns().is_some_and(|f| f.is_plain());
        plain && self.basis.is_none() && self.transform() == Transform::None
    }

    /// Whether every feature is a column as it is, or a level of one, that can be moved without another feature.
    pub fn moves_apart(&self) -> bool {
        match &self.formula {
            Some(_) => self.formula_columns().is_some_and(|f| f.moves_apart()),
            None => true,
        }
    }

    /// The transform of the columns in [`Recipe::transformed_columns`].
    pub fn transform(&self) -> Transform {
        let transformed = self.columns.iter().filter_map(|c| match &c.encoding {
            Encoding::Quantile { knots, output, .. } => Some((knots.len(), *output)),
            _ => None,
        });
        // A column has fewer knots only where it has fewer cells, so the most is what was asked for, or as good as it.
        match transformed.max_by_key(|(knots, _)| *knots) {
            Some((knots, output)) => Transform::Quantile { output, knots },
            None => Transform::None,
        }
    }

    /// Number columns that are transformed.
    pub fn transformed_columns(&self) -> Vec<&str> {
        let is_transformed = |c: &&RecipeColumn| matches!(c.encoding, Encoding::Quantile { .. });
        self.columns.iter().filter(is_transformed).map(|c| c.name.as_str()).collect()
    }

    /// The options under which the same rows give this recipe again.
    pub fn options(&self, coding: Coding) -> RecipeOptions {
        let formula = self.formula.as_ref().and_then(FormulaRecipe::formula);
        let names = || self.table_columns().map(|c| c.name.clone()).collect();
        RecipeOptions {
            features: formula.is_none().then(names),
            exclude: Vec::new(),
            missing: self.missing,
            unknown: self.unknown,
            coding,
            max_levels: usize::MAX,
            transform: self.transform(),
            transform_columns: Some(self.transformed_columns().into_iter().map(str::to_owned).collect()),
            basis: self.basis,
            basis_columns: self.basis_columns.clone(),
            references: if formula.is_none() { self.reference_levels() } else { Vec::new() },
            formula,
        }
    }

    /// The recipe as training rows meet it: functions of a formula must be defined at all of them, whatever predictions do.
    pub(crate) fn training(&self) -> Recipe {
        let unknown = if self.formula.is_some() { UnknownLevel::Error } else { self.unknown };
        Recipe { unknown, ..self.clone() }
    }

    /// Whether every part can be used, wherever the recipe came from.
    pub fn is_whole(&self) -> bool {
        let whole = |c: &RecipeColumn| match &c.encoding {
            Encoding::Number { printed, .. } => printed.is_none_or(|unit| unit.is_finite() && unit > 0.0),
            Encoding::Missing => self.formula.is_none() && self.table_columns().any(|own| own.name == c.name),
            Encoding::Quantile { knots, .. } => {
                !knots.is_empty() && knots.iter().all(|k| k.is_finite()) && knots.windows(2).all(|w| w[0] <= w[1])
            }
            Encoding::Levels { levels, reference, shares } => {
                reference.as_ref().is_none_or(|r| levels.contains(r))
                    && (reference.is_none() || self.formula.is_none())
                    && shares.as_ref().is_none_or(|s| s.len() == levels.len())
            }
        };
        let basis = self.basis.is_none() || self.sparse_width == 0;
        let degree = (1..=super::basis::MOST_DEGREE).contains(&self.basis.degree());
        let formula = self.formula.is_none()
            || (self.basis.is_none() && self.sparse_width == 0 && self.formula_columns().is_some());
        self.columns.iter().all(whole) && basis && degree && formula
    }

    /// The kind of every column, for reading new data.
    pub fn expected(&self) -> Vec<(String, Expected)> {
        let kind = |c: &RecipeColumn| match c.encoding {
            Encoding::Levels { .. } => Expected::Text,
            _ => Expected::Number,
        };
        self.table_columns().map(|c| (c.name.clone(), kind(c))).collect()
    }

    /// Text columns with one level, which is their reference: constant, and without a matrix column.
    pub fn constant_columns(&self) -> Vec<&str> {
        let one_level = |c: &&RecipeColumn| match &c.encoding {
            Encoding::Levels { levels, .. } => self.formula.is_some() && levels.len() == 1,
            _ => false,
        };
        self.columns.iter().filter(|c| c.width() == 0 || one_level(c)).map(|c| c.name.as_str()).collect()
    }

    /// The reference levels that have no column of their own, as `column=level`.
    pub fn references(&self) -> Vec<String> {
        self.reference_levels().into_iter().map(|(column, level)| format!("{column}={level}")).collect()
    }
}

//! How a table column becomes matrix columns.

use super::quantile::QuantileOutput;
use crate::role::{Role, Roles};
use serde::{Deserialize, Serialize};

/// How one table column becomes matrix columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// The number itself.
    Number {
        /// What stands in for a missing cell under [`super::Missing::Mean`].
        #[serde(skip_serializing_if = "Option::is_none", default)]
        mean: Option<f64>,
        /// How finely the numbers were written, see [`crate::table::Table::printed_unit`].
        #[serde(skip_serializing_if = "Option::is_none", default)]
        printed: Option<f64>,
    },
    /// The number's place among the training rows, see [`super::Transform`].
    Quantile {
        /// Quantiles of the training cells at evenly spaced levels, ascending.
        knots: Vec<f64>,
        /// What the levels become.
        output: QuantileOutput,
        /// What stands in for a missing cell under [`super::Missing::Mean`] and is then transformed: the mean of the training
        /// cells that are present, which alone make the knots.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        mean: Option<f64>,
    },
    /// Whether the cell is missing: 1 or 0. It stands behind the columns, as one of its own with the same name, under
    /// [`super::Missing::Indicator`] where training rows miss the cell.
    Missing,
    /// One indicator per level.
    Levels {
        /// Levels seen in training, in byte order.
        levels: Vec<String>,
        /// The level without an indicator.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reference: Option<String>,
        /// What stands in for a missing cell under [`super::Missing::Mean`]: the share of each level. Without it all
        /// indicators are zero.
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
    /// Which column is a choice, what was learned of it is not; all kinds of encodings in one table.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::Fields(&[
        ("name", Roles::All(Role::Setting)),
        (
            "encoding",
            Roles::Fields(&[
                ("number", Roles::Fields(&[("mean", Roles::All(Role::Claim)), ("printed", Roles::All(Role::Claim))])),
                (
                    "quantile",
                    Roles::Fields(&[
                        ("knots", Roles::All(Role::Claim)),
                        ("output", Roles::All(Role::Setting)),
                        ("mean", Roles::All(Role::Claim)),
                    ]),
                ),
                (
                    "levels",
                    Roles::Fields(&[
                        ("levels", Roles::All(Role::Claim)),
                        ("reference", Roles::All(Role::Derived)),
                        ("shares", Roles::All(Role::Claim)),
                    ]),
                ),
            ]),
        ),
    ]);

    /// The same column, as of an array: nothing is known of printed digits.
    pub(crate) fn forget_printed(&mut self) {
        if let Encoding::Number { printed, .. } = &mut self.encoding {
            *printed = None;
        }
    }

    /// The place of the level without an indicator.
    pub(super) fn reference_place(&self) -> Option<usize> {
        self.encoding.reference_place()
    }

    /// Whether it tells missing cells of another one from those that are there.
    pub fn is_missing_indicator(&self) -> bool {
        self.encoding == Encoding::Missing
    }

    /// What it is called among the columns: its name, or `missing(name)`.
    pub fn title(&self) -> String {
        match self.encoding {
            Encoding::Missing => format!("missing({})", self.name),
            _ => self.name.clone(),
        }
    }

    /// Number of matrix columns it becomes.
    pub fn width(&self) -> usize {
        match &self.encoding {
            Encoding::Number { .. } | Encoding::Quantile { .. } | Encoding::Missing => 1,
            Encoding::Levels { levels, reference, .. } => levels.len() - usize::from(reference.is_some()),
        }
    }
}

impl Encoding {
    /// The place of the level without an indicator.
    pub(super) fn reference_place(&self) -> Option<usize> {
        match self {
            Encoding::Levels { levels, reference: Some(reference), .. } => levels.iter().position(|l| l == reference),
            _ => None,
        }
    }
}

/// The level of an indicator, by the place of the level that has none.
pub(super) fn level_of_indicator(indicator: usize, reference: Option<usize>) -> usize {
    indicator + usize::from(reference.is_some_and(|r| indicator >= r))
}

/// The indicator of a level; `None` for the reference.
pub(super) fn indicator_of_level(level: usize, reference: Option<usize>) -> Option<usize> {
    match reference {
        Some(r) if r == level => None,
        Some(r) => Some(level - usize::from(level > r)),
        None => Some(level),
    }
}

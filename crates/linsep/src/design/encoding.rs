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
    /// One indicator per level.
    Levels {
        /// Levels seen in training, in byte order.
        levels: Vec<String>,
        /// The level without an indicator.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reference: Option<String>,
        /// What stands in for a missing cell under [`super::Missing::Mean`]: the share of each level.
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

    /// Number of matrix columns it becomes.
    pub fn width(&self) -> usize {
        match &self.encoding {
            Encoding::Number { .. } | Encoding::Quantile { .. } => 1,
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

//! The support vectors of a model.

use crate::model::Multipliers;
use crate::role::{Role, Roles};
use serde::{Deserialize, Serialize};

/// The rows that hold up a support vector machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SupportVectors {
    /// Rows with α strictly between its bounds: they lie on the margin.
    pub free: usize,
    /// Rows with α at its upper bound: they lie within the margin or on the wrong side.
    pub bounded: usize,
    /// `(row, α)` with α > 0, rows numbered from 1 as in the training table, those that were dropped counted as well.
    pub multipliers: Vec<(usize, f64)>,
    /// Of several classes at once: the class that each multiplier speaks against, from 0; a row may then have several.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub against: Vec<u32>,
}

impl SupportVectors {
    /// The multipliers are the dual half of the point; the counts follow from them.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::Fields(&[
        ("free", Roles::All(Role::Derived)),
        ("bounded", Roles::All(Role::Derived)),
        ("multipliers", Roles::All(Role::Claim)),
        ("against", Roles::All(Role::Claim)),
    ]);

    /// The multipliers of the rows that have one; `rows` holds the table row of each.
    pub fn of(multipliers: &Multipliers, rows: &[usize]) -> SupportVectors {
        let per_row = multipliers.alpha.len() / rows.len().max(1);
        let positive = multipliers.alpha.iter().enumerate().filter(|(_, alpha)| **alpha > 0.0);
        SupportVectors {
            free: multipliers.free,
            bounded: multipliers.bounded,
            multipliers: positive.clone().map(|(at, alpha)| (rows[at / per_row] + 1, *alpha)).collect(),
            against: if per_row > 1 { positive.map(|(at, _)| (at % per_row) as u32).collect() } else { Vec::new() },
        }
    }

    /// How many rows have a multiplier.
    pub fn n_rows(&self) -> usize {
        let mut rows: Vec<usize> = self.multipliers.iter().map(|(row, _)| *row).collect();
        rows.dedup();
        rows.len()
    }

    /// Rows that rise, all of a table of so many, with finite multipliers.
    pub(super) fn are_rows_of(&self, rows: usize) -> bool {
        let within = |(row, alpha): &(usize, f64)| (1..=rows).contains(row) && alpha.is_finite();
        let joint = !self.against.is_empty();
        let key = |i: usize| (self.multipliers[i].0, if joint { self.against[i] } else { 0 });
        (!joint || self.against.len() == self.multipliers.len())
            && (1..self.multipliers.len()).all(|i| key(i - 1) < key(i))
            && self.multipliers.iter().all(within)
    }
}

//! Where a model came from.

use crate::role::{Role, Roles};
use serde::{Deserialize, Serialize};

/// Where a model came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of linsep.
    pub version: String,
    /// Edition of the arithmetic of the certificates; files from before it was written are of the first.
    #[serde(default = "first_edition")]
    pub certificates: u32,
    /// Fingerprint of the typed cells of the training table, in hexadecimal; empty for arrays in memory, which have none.
    pub fingerprint: String,
    /// The seed of everything random.
    pub seed: u64,
    /// Whether the fit started at the coefficients of another model, which are not kept.
    #[serde(skip_serializing_if = "is_false", default)]
    pub started: bool,
    /// The tables whose rows were added and taken away, in their order, of a model that was updated by its statistics.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub updates: Vec<RowsRecord>,
    /// Rows in use of each place, in their order, of a model that was fitted to rows in several places: its sums were merged in
    /// this way.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub partitions: Vec<usize>,
}

/// Rows that a model has seen or has been made to forget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowsRecord {
    /// Whether they were taken away.
    #[serde(skip_serializing_if = "is_false", default)]
    pub removed: bool,
    /// How many.
    pub rows: usize,
    /// Fingerprint of their table.
    pub fingerprint: String,
}

fn first_edition() -> u32 {
    1
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Provenance {
    /// The edition of the certificates that this version computes: one more whenever a file that was right would state other
    /// numbers than are recomputed.
    pub const CERTIFICATES: u32 = 3;

    /// The seed is one more setting; which version wrote the file nobody can tell afterwards.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::Fields(&[
        ("version", Roles::All(Role::Setting)),
        ("certificates", Roles::All(Role::Setting)),
        ("fingerprint", Roles::All(Role::Claim)),
        ("seed", Roles::All(Role::Setting)),
        ("started", Roles::All(Role::Setting)),
        ("updates", Roles::All(Role::History)),
        ("partitions", Roles::All(Role::History)),
    ]);

    /// Whether the model was made of statistics that rows were added to or taken away from.
    pub fn is_updated(&self) -> bool {
        !self.updates.is_empty()
    }

    /// Whether a table with this fingerprint may be the training table: arrays in memory leave none.
    pub fn is_of(&self, fingerprint: &str) -> bool {
        self.fingerprint.is_empty() || self.fingerprint == fingerprint
    }
}

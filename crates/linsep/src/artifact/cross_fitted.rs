//! The calibration of a model.

use crate::decide::Calibration;
use crate::role::{Role, Roles};
use serde::{Deserialize, Serialize};

/// A calibration learned from scores of rows that were held out of the fits that gave them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrossFitted {
    /// From scores to log-odds.
    pub map: Calibration,
    /// Number of folds.
    pub folds: usize,
}

impl CrossFitted {
    /// The map is learned anew on the folds.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::Fields(&[
        (
            "map",
            Roles::Fields(&[
                ("kind", Roles::All(Role::Setting)),
                ("slope", Roles::All(Role::Claim)),
                ("intercept", Roles::All(Role::Claim)),
                ("knots", Roles::All(Role::Claim)),
                ("temperature", Roles::All(Role::Claim)),
                ("coupling", Roles::All(Role::Derived)),
                ("maps", Roles::All(Role::Claim)),
            ]),
        ),
        ("folds", Roles::All(Role::Setting)),
    ]);
}

//! The units a column is seen in: `ẑ = (x − centre)/scale`, learned from the training rows.

use crate::role::{Role, Roles};
use serde::{Deserialize, Serialize, Serializer};
use std::sync::Arc;

/// Whether columns are standardised before fitting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standardize {
    /// Mean zero and variance one (divisor Σs), the penalty acting in those units.
    Yes,
    /// As they are.
    No,
}

/// A centre and a scale per column; a clone shares them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "StoredUnits")]
pub struct Units {
    centre: Arc<Vec<f64>>,
    scale: Arc<Vec<f64>>,
    inverse_scale: Arc<Vec<f64>>,
    identity: bool,
}

#[derive(Deserialize)]
struct StoredUnits {
    centre: Vec<f64>,
    scale: Vec<f64>,
}

#[derive(Serialize)]
struct LentUnits<'a> {
    centre: &'a [f64],
    scale: &'a [f64],
}

impl Serialize for Units {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        LentUnits { centre: &self.centre, scale: &self.scale }.serialize(serializer)
    }
}

impl From<StoredUnits> for Units {
    fn from(stored: StoredUnits) -> Units {
        Units::new(stored.centre, stored.scale)
    }
}

impl Units {
    /// Means and scales of the rows.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::All(Role::Claim);

    /// Units from centres and positive scales.
    pub fn new(centre: Vec<f64>, scale: Vec<f64>) -> Units {
        let identity = centre.iter().all(|c| *c == 0.0) && scale.iter().all(|s| *s == 1.0);
        let scale = Arc::new(scale);
        let inverse_scale =
            if identity { scale.clone() } else { scale.iter().map(|s| s.recip()).collect::<Vec<_>>().into() };
        Units { centre: centre.into(), scale, inverse_scale, identity }
    }

    /// The columns unchanged.
    pub fn identity(cols: usize) -> Units {
        let ones = Arc::new(vec![1.0; cols]);
        Units { centre: vec![0.0; cols].into(), scale: ones.clone(), inverse_scale: ones, identity: true }
    }

    /// The same scales without a centre: what a plane through the origin is fitted in.
    pub fn about_zero(&self) -> Units {
        Units::new(vec![0.0; self.centre.len()], self.scale.to_vec())
    }

    /// Whether the columns are seen as they are.
    pub fn is_identity(&self) -> bool {
        self.identity
    }

    /// What is subtracted, per column.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// What is divided by, per column.
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// Reciprocal of the scale, per column.
    pub fn inverse_scale(&self) -> &[f64] {
        &self.inverse_scale
    }
}

//! Penalties on the weights.

use serde::{Deserialize, Serialize};

/// What is added to the mean loss; the weights are those of the standardised columns where columns are standardised.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Penalty {
    /// Nothing: maximum likelihood.
    None,
    /// `λ/2 ‖W‖²`.
    Ridge {
        /// λ, on the scale of the mean loss: `C` of other tools is `1/(λ Σs)`.
        lambda: f64,
    },
}

impl Penalty {
    /// λ of the quadratic part; 0 without one.
    pub fn ridge(self) -> f64 {
        match self {
            Penalty::None => 0.0,
            Penalty::Ridge { lambda } => lambda,
        }
    }

    /// The penalty at some weights.
    pub fn value(self, weights: &[f64]) -> f64 {
        0.5 * self.ridge() * weights.iter().map(|w| w * w).sum::<f64>()
    }
}

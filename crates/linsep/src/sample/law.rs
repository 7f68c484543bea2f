//! How the features of a row come about where its class is drawn afterwards.

use serde::{Deserialize, Serialize};

/// How the features of a row come about, before its class is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FeatureLaw {
    /// Standard normal, any two columns with this correlation.
    Normal(f64),
    /// Independent, uniform between two numbers.
    Uniform(f64, f64),
}

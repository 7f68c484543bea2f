//! What a search over settings tried, and what it chose.

use crate::role::{Role, Roles};
use serde::{Deserialize, Serialize};

/// A search over settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TuningRecord {
    /// What was compared: a loss.
    pub metric: String,
    /// Which of the sizes of a penalty was taken.
    pub rule: String,
    /// Number of folds.
    pub folds: usize,
    /// How often the rows were dealt out anew.
    pub repeats: usize,
    /// The column that says which rows belong together, or come first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dealt_by: Option<String>,
    /// Whether every row was a fold by itself; losses of single rows are not kept.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub leave_one_out: bool,
    /// Seed of the folds.
    pub seed: u64,
    /// The trial that was taken.
    pub best: usize,
    /// Everything that was tried, in order.
    pub trials: Vec<TrialRecord>,
    /// The search as a whole, judged by folds that it never saw.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nested: Option<TrialRecord>,
}

/// Settings that were tried in every fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Names and values.
    pub settings: Vec<(String, String)>,
    /// Mean loss over the folds, each of which counts by its rows; `None` where a fold could not be fitted.
    pub mean: Option<f64>,
    /// Its standard error over the folds; `None` of one fold.
    pub standard_error: Option<f64>,
    /// The loss in each fold.
    pub folds: Vec<f64>,
}

impl TuningRecord {
    /// Every figure takes a fit for each fold.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::All(Role::History);
}

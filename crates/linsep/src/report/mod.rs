//! Fits and evaluations in words and tables of text; the caller decides where they go.

mod classical;
mod conformal;
mod consequences;
mod decision;
mod digits;
mod evaluation;
mod further;
mod geometry;
mod guarantee;
mod hard_margin;
mod headline;
mod inference;
mod inference_json;
mod inspect;
mod parts;
mod perceptron;
mod probability;
mod refusal;
mod resampling;
mod separability;
mod separability_json;
mod split;
mod study;
mod summary;
mod support;
mod text;
mod verification;

pub use classical::{classical_json, classical_text};
pub use evaluation::{evaluation_json, evaluation_text, labels_json, labels_text};
pub use further::{
    against_json, against_text, details_json, details_text, losses_json, losses_text, thresholds_json, thresholds_text,
};
pub use geometry::{decision_note, geometry_json, geometry_text, measured_text};
pub use guarantee::{guarantee_json, guarantee_text};
pub use inference::inference_text;
pub use inference_json::{TableFormat, inference_json, inference_rows, inference_table, probability_rows};
pub use inspect::{bayes_error_text, inspect_json, inspect_text};
pub use refusal::{refusal_json, refusal_text};
pub use resampling::{bootstrap_json, bootstrap_text, permutation_json, permutation_text};
pub use separability::separability_text;
pub use separability_json::separability_json;
pub use split::{split_json, split_text};
pub use study::{study_json, study_text};
pub use summary::{fit_summary, fit_summary_on_columns};
pub use support::{support_json, support_text};
pub use verification::verification_text;

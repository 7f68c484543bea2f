//! Fits and evaluations in words and tables of text; the caller decides where they go.

mod classical;
mod conformal;
mod consequences;
mod contest;
mod decision;
mod description;
mod digits;
mod estimates;
mod evaluation;
mod explanation;
mod features;
mod further;
mod geometry;
mod given;
mod guarantee;
mod hard_margin;
mod headline;
mod inference;
mod inference_json;
mod inspect;
mod parts;
mod perceptron;
mod population;
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
mod truth;
mod tuning;
mod verification;
mod warnings;
mod weights;
mod window;

pub use classical::classical_text;
pub use contest::contest_text;
pub use description::description_text;
pub use evaluation::{evaluation_text, labels_text};
pub use explanation::explanation_text;
pub use geometry::geometry_text;
pub use guarantee::guarantee_text;
pub use inference::inference_text;
pub use inspect::inspect_text;
pub use population::population_text;
pub use refusal::refusal_text;
pub use resampling::{bootstrap_text, permutation_text};
pub use separability::separability_text;
pub use split::split_text;
pub use study::study_text;
pub use summary::fit_summary;
pub use support::support_text;
pub use truth::{risk_text, truth_text};
pub use tuning::tuning_text;
pub use verification::verification_text;

// For the other stages, the command, the extension and the tests: nothing is promised about these.
#[doc(hidden)]
pub use self::{
    classical::classical_json,
    contest::{contest_finding, contest_json},
    description::description_json,
    evaluation::{evaluation_json, labels_json},
    explanation::explained_name,
    features::filled_text,
    further::{
        against_json, against_text, details_json, details_text, losses_json, losses_text, thresholds_json,
        thresholds_text,
    },
    geometry::{decision_note, geometry_json, measured_text},
    guarantee::guarantee_json,
    inference_json::{TableFormat, inference_json, inference_rows, inference_table, probability_rows},
    inspect::{bayes_error_text, ideal_losses_text, inspect_json, inspect_top_text, short_number},
    refusal::refusal_json,
    resampling::{bootstrap_json, permutation_json},
    separability_json::separability_json,
    split::split_json,
    study::study_json,
    summary::fit_summary_on_columns,
    support::support_json,
    truth::{risk_json, truth_json},
    tuning::tuning_json,
    window::{Window, regions_json, regions_text, window_json, window_text},
};

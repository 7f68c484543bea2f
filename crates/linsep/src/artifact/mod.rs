//! The model file: one JSON document with a version and a checksum. Data, never code.

mod atomic;
mod cross_fitted;
mod file;
mod model;
mod multi_label;
mod parts;
mod probability;
mod provenance;
mod scores;
mod statistics;
mod support_vectors;
mod tuning;
mod unpack;

pub use cross_fitted::CrossFitted;
pub use model::{CrossValidation, Model, TrainingSummary};
pub use multi_label::{MultiLabel, Saved};
pub use parts::ModelPart;
pub use provenance::{Provenance, RowsRecord};
pub(crate) use statistics::{FeatureOrigin, are_whole_totals};
pub use statistics::{KeptStatistics, KeptSums};
pub use support_vectors::SupportVectors;
pub use tuning::{TrialRecord, TuningRecord};

// For the other stages, the command, the extension and the tests: nothing is promised about these.
#[doc(hidden)]
pub use self::atomic::{Abandoned, abandon_writes, behind_links, write_atomic};

//! The model file: one JSON document with a version and a checksum. Data, never code.

mod atomic;
mod file;
mod multi_label;
mod parts;
mod probability;
mod unpack;

pub use atomic::{Abandoned, abandon_writes, behind_links, write_atomic};
pub use file::{CrossValidation, Model, Provenance, SupportVectors, TrainingSummary};
pub use multi_label::{MultiLabel, Saved};
pub use parts::ModelPart;
pub use probability::CrossFitted;

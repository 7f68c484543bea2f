//! The model file: one JSON document with a version and a checksum. Data, never code.

mod atomic;
mod file;
mod probability;

pub use atomic::write_atomic;
pub use file::{CrossValidation, Model, Provenance, SupportVectors, TrainingSummary};
pub use probability::CrossFitted;

//! The whole pipeline for tables: what the command and the Python package call.

mod calibrate;
mod cross_validate;
mod fit;
mod folds;
mod geometry;
mod path;
mod places;
mod predict;
mod rows;
mod simulate;
mod start;
mod support;
mod verify;

pub use calibrate::CalibrationOptions;
pub use fit::{FitOptions, TableFit, fit_table};
pub use geometry::{GeometryOptions, TableGeometry, geometry_of, geometry_table};
pub use path::{TablePath, path_table};
pub use predict::{Judged, Predictions, evaluate_table, predict_table};
pub use simulate::model_classes;
pub use support::{SupportRow, support_table};
pub use verify::{Check, Verification, verify_table};

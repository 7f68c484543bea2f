//! Linear classifiers with proofs.

pub mod certify;
pub mod design;
pub mod discriminant;
pub mod error;
pub mod evaluate;
pub mod linalg;
pub mod model;
pub mod numeric;
pub mod objective;
pub mod read;
pub mod solve;
pub mod stats;
pub mod table;
pub mod watch;

pub use error::{Error, ErrorKind, Place, Result};

//! Linear classifiers with proofs.

pub mod design;
pub mod error;
pub mod linalg;
pub mod numeric;
pub mod read;
pub mod stats;
pub mod table;
pub mod watch;

pub use error::{Error, ErrorKind, Place, Result};

//! Linear classifiers with proofs.

pub mod error;
pub mod evaluate;
pub mod read;
pub mod table;
pub mod watch;

pub use error::{Error, ErrorKind, Place, Result};

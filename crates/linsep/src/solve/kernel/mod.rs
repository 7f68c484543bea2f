//! Machines with a kernel.

mod smo;

pub use smo::{KernelSolved, Smo};

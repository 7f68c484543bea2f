//! Algorithms, one file each: the problem and the reference above the code. Every solver stops on [`crate::certify`].

mod newton;
mod newton_cg;
mod part;
mod separate;
mod stop;

pub use newton::Newton;
pub use newton_cg::NewtonCg;
pub use stop::{Solved, Solver, Step, Stop};

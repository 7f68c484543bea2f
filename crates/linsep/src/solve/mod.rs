//! Algorithms, one file each: the problem and the reference above the code. Every solver stops on [`crate::certify`].

mod gradient_descent;
mod newton;
mod newton_cg;
mod part;
mod separate;
mod stop;

pub use gradient_descent::{Descent, GradientDescent};
pub use newton::Newton;
pub use newton_cg::NewtonCg;
pub use stop::{Solved, Solver, Step, Stop};

//! Algorithms, one file each: the problem and the reference above the code. Every solver stops on [`crate::certify`].

mod gradient_descent;
mod newton;
mod newton_cg;
mod part;
mod perceptron;
mod separate;
mod stop;

pub use gradient_descent::{Descent, GradientDescent};
pub use newton::Newton;
pub use newton_cg::NewtonCg;
pub use perceptron::{
    BatchPerceptron, MistakeDriven, OnlinePerceptron, Order, PocketPerceptron, PocketRule, SignedRows,
};
pub use stop::{Solved, Solver, Step, Stop};

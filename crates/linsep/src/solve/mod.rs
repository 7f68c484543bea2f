//! Algorithms, one file each: the problem and the reference above the code. Every solver stops on [`crate::certify`].

mod descent;
mod drawn_rows;
mod dual_coordinate;
mod forecast;
mod gradient_descent;
mod interior_point;
mod lbfgs;
mod margin_intercept;
mod newton;
mod newton_cg;
mod part;
mod perceptron;
mod proximal_newton;
mod quadratic_descent;
mod row_newton;
mod sigmoid;
mod smo;
mod softmax_limit;
mod stochastic;
mod stop;
mod svrg;

pub use dual_coordinate::{DualCoordinateDescent, SequentialDual};
pub use gradient_descent::{GradientDescent, StepRule};
pub use interior_point::InteriorPoint;
pub use lbfgs::Lbfgs;
pub use newton::Newton;
pub use newton_cg::NewtonCg;
pub use perceptron::{
    BatchPerceptron, KernelPerceptronRun, MistakeDriven, OnlinePerceptron, Order, PocketPerceptron, PocketRule,
    SignedRows,
};
pub use proximal_newton::{Previous, ProximalNewton};
pub use quadratic_descent::{DescentEnd, QuadraticDescent};
pub use row_newton::RowNewton;
pub use sigmoid::{SigmoidAlgorithm, SigmoidDescent, SigmoidEnd};
pub use smo::{KernelSolved, Smo};
pub use softmax_limit::SoftmaxLimit;
pub use stochastic::StochasticGradient;
pub use stop::{MarginSolved, Solved, Solver, Step, Stop};
pub use svrg::Svrg;

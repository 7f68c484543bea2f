//! Algorithms by the problem they solve; the problem and the reference stand above the code. Every solver of a convex
//! problem stops on [`crate::certify`].

mod kernel;
mod margin;
mod perceptron;
mod smooth;
mod sparse;
mod stop;
mod textbook;

pub use kernel::{KernelSolved, Smo};
pub use margin::{DualCoordinateDescent, InteriorPoint, SequentialDual, SoftmaxLimit};
pub use perceptron::{
    BatchPerceptron, KernelPerceptronRun, MistakeDriven, OnlinePerceptron, Order, PerceptronMove, PerceptronSteps,
    PocketPerceptron, PocketRule, SignedRows, SteppedPerceptron, SteppedRule,
};
pub(crate) use smooth::SpannedRows;
pub use smooth::{Lbfgs, Newton, NewtonCg, RowNewton};
pub use sparse::{Previous, ProximalNewton};
pub use stop::{MarginSolved, Solved, Solver, Step, Stop};
pub use textbook::{
    DescentEnd, GradientDescent, QuadraticDescent, SigmoidAlgorithm, SigmoidDescent, SigmoidEnd, StepRule,
    StochasticGradient, Svrg,
};

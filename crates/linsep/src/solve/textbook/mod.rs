//! What courses teach and the choice by `auto` never takes: gradient descent with a fixed or searched step, stochastic
//! gradients plain and with reduced variance, and the squared error of sigmoid outputs, which is not convex. They are here
//! to be run, watched and compared; other solvers are faster on every table that was measured.

mod drawn_rows;
mod gradient_descent;
mod quadratic_descent;
mod sigmoid;
mod stochastic;
mod svrg;

pub use gradient_descent::{GradientDescent, StepRule};
pub use quadratic_descent::{DescentEnd, QuadraticDescent};
pub use sigmoid::{SigmoidAlgorithm, SigmoidDescent, SigmoidEnd};
pub use stochastic::StochasticGradient;
pub use svrg::Svrg;

//! Hinge losses and the machine of several classes: what is minimised has kinks, and multipliers of rows solve it.

mod dual_coordinate;
mod interior_point;
mod margin_intercept;
mod softmax_limit;

pub use dual_coordinate::{DualCoordinateDescent, SequentialDual};
pub use interior_point::InteriorPoint;
pub use softmax_limit::SoftmaxLimit;

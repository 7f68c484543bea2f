//! What is minimised: losses and penalties, one file each, composed by [`Risk`], which fixes the scale.

mod coef;
mod loss;
mod penalty;
mod quadratic;
mod risk;
mod rows;

pub use coef::Coef;
pub use loss::{Conjugate, CurvedLoss, DualPoint, DualRecipe, Logistic, Loss, Softmax, SoftmaxForm};
pub use penalty::Penalty;
pub use quadratic::Quadratic;
pub use risk::{Detail, Intercept, Line, Point, Risk, Sample};

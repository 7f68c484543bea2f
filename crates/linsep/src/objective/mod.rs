//! What is minimised: losses and penalties, one file each, composed by [`Risk`], which fixes the scale.

mod coef;
mod column_gram;
mod dual_rows;
mod frame;
pub(crate) mod line_search;
mod loss;
mod penalty;
mod quadratic;
mod restricted;
mod risk;
mod rows;
mod sample;
mod scorer;
mod smooth;

pub use coef::Coef;
pub(crate) use dual_rows::DualRows;
pub use frame::{Intercept, RiskFrame};
pub(crate) use loss::least_hinge_shifts;
pub use loss::{
    Conjugate, CrammerSinger, CurvedLoss, DescentLoss, Dual, DualPoint, DualRecipe, Hinge, LINK_ERROR, Link, LinkLoss,
    Logistic, Loss, MarginLoss, ScoredBlock, Softmax, SoftmaxForm, Squared, SquaredHinge, SquaredSigmoid,
    dual_point_of,
};
pub use penalty::{ElasticNet, Penalty, Ridge, soft_threshold};
pub use quadratic::QuadraticObjective;
pub(crate) use restricted::Restricted;
pub use risk::{Detail, Line, Point, Risk, RowSizes};
pub use sample::Sample;
pub use smooth::Smooth;
pub(crate) use smooth::first_accepted;

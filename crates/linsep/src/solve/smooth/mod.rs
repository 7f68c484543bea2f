//! `min F(W,b)` where loss and penalty are smooth: second order with a factor, with conjugate gradients or in the space
//! of the rows, and limited memory.

mod descent;
mod forecast;
mod lbfgs;
mod newton;
mod newton_cg;
mod part;
mod row_newton;

pub(in crate::solve) use descent::Descent;
pub use lbfgs::Lbfgs;
pub use newton::Newton;
pub use newton_cg::NewtonCg;
pub use row_newton::RowNewton;
pub(crate) use row_newton::SpannedRows;

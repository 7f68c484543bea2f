//! `min F(W,b)` with a lasso part in the penalty.

mod proximal_newton;

pub use proximal_newton::{Previous, ProximalNewton};

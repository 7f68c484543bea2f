//! Dense linear algebra: faer behind a thin face, always sequential inside (its own threads change bits).

mod cholesky;
mod dot;
mod downdate;
mod eigen;
mod gathered;
mod gram;
mod in_order;
mod jacobi;
mod narrow;
mod qr;
mod row_root;
mod square;

pub use cholesky::{Alias, Factor, factor};
pub(crate) use dot::dot;
pub use downdate::downdate;
pub use eigen::Eigen;
pub(crate) use gathered::add_gathered;
pub use gram::{multiply_rows, multiply_rows_about, weighted_rows_sum};
pub use in_order::{InOrderQr, in_order_qr};
pub use narrow::quadratic_rows;
pub use qr::{PivotedQr, gram_of_columns, orthonormal_factor, pivoted_qr, triangular_factor};
pub use row_root::RowRoot;
pub use square::{Square, gram_update};

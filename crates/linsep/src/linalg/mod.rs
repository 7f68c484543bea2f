//! Dense linear algebra: faer behind a thin face, always sequential inside (its own threads change bits).

mod cholesky;
mod eigen;
mod gram;
mod narrow;
mod square;

pub use cholesky::{Alias, Factor, factor};
pub use eigen::Eigen;
pub use gram::{gram_update, multiply_rows, multiply_rows_about, weighted_rows_sum};
pub use square::Square;

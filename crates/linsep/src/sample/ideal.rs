//! Means over drawn rows, with their standard errors.

use crate::density::{BayesError, ErrorMethod};
use crate::numeric::CompensatedSum;

/// A mean in the making.
#[derive(Default)]
pub(super) struct Means {
    sum: CompensatedSum,
    squares: CompensatedSum,
    count: u64,
}

impl Means {
    pub(super) fn add(&mut self, value: f64) {
        self.sum.add(value);
        self.squares.add(value * value);
        self.count += 1;
    }

    /// The mean.
    pub(super) fn value(&self) -> f64 {
        self.sum.value() / self.count as f64
    }
}

/// What a mean is of.
#[derive(Clone, Copy)]
pub(super) enum Expected {
    /// All rows that there are.
    Exact,
    /// Rows drawn with a seed.
    Drawn(u64),
}

impl Expected {
    /// The mean, and how it was found.
    pub(super) fn result(self, means: &Means) -> BayesError {
        let (n, value) = (means.count as f64, means.value());
        let method = match self {
            Expected::Exact => ErrorMethod::ClosedForm,
            Expected::Drawn(seed) => {
                let variance = (means.squares.value() / n - value * value).max(0.0);
                ErrorMethod::MonteCarlo { draws: means.count, standard_error: (variance / (n - 1.0)).sqrt(), seed }
            }
        };
        BayesError { value, method }
    }
}

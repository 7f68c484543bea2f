//! `λ/2 Σ_j f_j ‖W_j‖²`.

use super::{Penalty, checked};
use crate::error::Result;
use std::sync::Arc;

/// The ridge penalty; with λ = 0 there is none.
///
/// ```
/// use linsep::objective::{Penalty, Ridge};
/// assert_eq!(Ridge::new(0.5).value(&[1.0, -2.0], 2), 1.25);
/// assert!(Ridge::none().is_none());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Ridge {
    lambda: f64,
    factors: Option<Arc<[f64]>>,
}

impl Ridge {
    /// λ on the scale of the mean loss: `C` of other tools is `1/(λ Σs)`.
    pub fn new(lambda: f64) -> Ridge {
        Ridge { lambda, factors: None }
    }

    /// Maximum likelihood, or whatever the loss alone asks for.
    pub fn none() -> Ridge {
        Ridge::new(0.0)
    }

    /// With a factor per column.
    pub fn with_factors(self, factors: &[f64]) -> Result<Ridge> {
        Ok(Ridge { factors: checked(factors)?, ..self })
    }
}

impl Penalty for Ridge {
    fn lambda(&self) -> f64 {
        self.lambda
    }

    fn ridge(&self) -> f64 {
        self.lambda
    }

    fn lasso(&self) -> f64 {
        0.0
    }

    fn factors(&self) -> Option<&[f64]> {
        self.factors.as_deref()
    }

    fn with_lambda(&self, lambda: f64) -> Ridge {
        Ridge { lambda, factors: self.factors.clone() }
    }
}

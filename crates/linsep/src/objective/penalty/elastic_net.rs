//! `λ Σ_j f_j [ (1−α)/2 ‖W_j‖² + α ‖W_j‖₁ ]`.

use super::{Penalty, checked};
use crate::error::{Error, Result};
use std::sync::Arc;

/// The elastic net; α = 1 is the lasso.
///
/// ```
/// use linsep::objective::{ElasticNet, Penalty};
/// assert_eq!(ElasticNet::lasso(0.5).value(&[1.0, -2.0], 2), 1.5);
/// assert_eq!(ElasticNet::lasso(0.5).prox(0, 2.0, 1.0), 1.5);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ElasticNet {
    lambda: f64,
    l1_ratio: f64,
    factors: Option<Arc<[f64]>>,
}

impl ElasticNet {
    /// λ on the scale of the mean loss, and α, the share of the lasso.
    pub fn new(lambda: f64, l1_ratio: f64) -> Result<ElasticNet> {
        if !(0.0..=1.0).contains(&l1_ratio) {
            return Err(Error::usage(format!("the share {l1_ratio} of the lasso is not a number from 0 to 1")));
        }
        Ok(ElasticNet { lambda, l1_ratio, factors: None })
    }

    /// The lasso alone.
    pub fn lasso(lambda: f64) -> ElasticNet {
        ElasticNet { lambda, l1_ratio: 1.0, factors: None }
    }

    /// With a factor per column.
    pub fn with_factors(self, factors: &[f64]) -> Result<ElasticNet> {
        Ok(ElasticNet { factors: checked(factors)?, ..self })
    }

    /// α.
    pub fn l1_ratio(&self) -> f64 {
        self.l1_ratio
    }
}

impl Penalty for ElasticNet {
    fn lambda(&self) -> f64 {
        self.lambda
    }

    fn ridge(&self) -> f64 {
        self.lambda * (1.0 - self.l1_ratio)
    }

    fn lasso(&self) -> f64 {
        self.lambda * self.l1_ratio
    }

    fn factors(&self) -> Option<&[f64]> {
        self.factors.as_deref()
    }

    fn with_lambda(&self, lambda: f64) -> ElasticNet {
        ElasticNet { lambda, ..self.clone() }
    }
}

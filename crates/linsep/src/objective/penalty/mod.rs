//! Penalties on the weights, one file each.
//!
//! `Ω(W) = Σ_j f_j [ r/2 ‖W_j‖² + l ‖W_j‖₁ ]` over the columns j, with a ridge part r, a lasso part l and a factor per
//! column. The weights are those of the standardised columns where columns are standardised.

mod elastic_net;
mod ridge;

pub use elastic_net::ElasticNet;
pub use ridge::Ridge;

use crate::error::{Error, Result};
use crate::words::{Span, words};
use std::sync::Arc;

/// A separable penalty: a multiple of `½w²` and one of `|w|` for every weight.
pub trait Penalty: Sync + Clone {
    /// λ, the size of the whole; 0 without a penalty.
    fn lambda(&self) -> f64;

    /// What multiplies `½w²` in a column of factor one.
    fn ridge(&self) -> f64;

    /// What multiplies `|w|` in a column of factor one.
    fn lasso(&self) -> f64;

    /// The factors of the columns, one for all of them where absent.
    fn factors(&self) -> Option<&[f64]>;

    /// The same penalty of another size.
    fn with_lambda(&self, lambda: f64) -> Self;

    /// Whether nothing is penalised.
    fn is_none(&self) -> bool {
        self.lambda() == 0.0
    }

    /// The factor of a column.
    fn factor(&self, column: usize) -> f64 {
        self.factors().map_or(1.0, |f| f[column])
    }

    /// What multiplies `½w²` for the weights of a column.
    fn ridge_of(&self, column: usize) -> f64 {
        self.ridge() * self.factor(column)
    }

    /// What multiplies `|w|` for the weights of a column.
    fn lasso_of(&self, column: usize) -> f64 {
        self.lasso() * self.factor(column)
    }

    /// Columns that a penalty leaves out: their weights are as free as an intercept.
    fn free_columns(&self) -> Vec<usize> {
        let factors = self.factors().unwrap_or(&[]);
        (0..factors.len()).filter(|j| factors[*j] == 0.0).collect()
    }

    /// The penalty at the weights of some scores, score by score.
    fn value(&self, weights: &[f64], cols: usize) -> f64 {
        if self.is_none() || cols == 0 {
            return 0.0;
        }
        let (ridge, lasso) = (self.ridge(), self.lasso());
        let of_score = |weights: &[f64]| match self.factors() {
            Some(factors) => {
                let terms = weights.iter().zip(factors);
                terms.map(|(w, f)| f * (0.5 * ridge * w * w + lasso * w.abs())).sum::<f64>()
            }
            None if lasso == 0.0 => 0.5 * ridge * weights.iter().map(|w| w * w).sum::<f64>(),
            None => weights.iter().map(|w| 0.5 * ridge * w * w + lasso * w.abs()).sum(),
        };
        weights.chunks_exact(cols).map(of_score).sum()
    }

    /// `argmin_v ½(v − w)² + step·Ω(v)` for one weight of a column.
    fn prox(&self, column: usize, w: f64, step: f64) -> f64 {
        soft_threshold(w, step * self.lasso_of(column)) / (1.0 + step * self.ridge_of(column))
    }

    /// How far a gradient of the loss is from the negative subdifferential of the penalty at one weight of a column:
    /// zero at a minimiser.
    fn violation(&self, column: usize, w: f64, gradient: f64) -> f64 {
        let (slope, lasso) = (gradient + self.ridge_of(column) * w, self.lasso_of(column));
        match w {
            w if w > 0.0 => (slope + lasso).abs(),
            w if w < 0.0 => (slope - lasso).abs(),
            _ => (slope.abs() - lasso).max(0.0),
        }
    }
}

/// `sign(w) max(|w| − t, 0)`.
#[inline]
pub fn soft_threshold(w: f64, t: f64) -> f64 {
    if w > t {
        w - t
    } else if w < -t {
        w + t
    } else {
        0.0
    }
}

/// Factors that are all one are none.
fn checked(factors: &[f64]) -> Result<Option<Arc<[f64]>>> {
    if let Some(j) = factors.iter().position(|f| !(*f >= 0.0 && f.is_finite())) {
        return Err(Error::usage(words![
            format!("the penalty factor {} of ", factors[j]),
            Span::Column(j),
            " is not a number from 0 up",
        ]));
    }
    Ok(if factors.iter().all(|f| *f == 1.0) { None } else { Some(factors.into()) })
}

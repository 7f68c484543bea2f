//! Functions of a row whose largest value names the class.

mod blocks;
mod linear;
mod quadratic;

pub use linear::Linear;
pub use quadratic::Quadratic;

use crate::design::Design;
use crate::error::Result;
use crate::watch::Watch;
use serde::{Deserialize, Serialize};

/// The discriminants of a fitted model; a closed list, because it is what a model file may hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Discriminant {
    /// `g(x) = W x + w₀`.
    Linear(Linear),
    /// `g_k(x) = c_k − ½‖A_k(x − μ_k)‖²`.
    Quadratic(Quadratic),
}

impl Discriminant {
    /// Number of scores: one for two classes, else one per class.
    pub fn n_scores(&self) -> usize {
        match self {
            Discriminant::Linear(linear) => linear.n_scores(),
            Discriminant::Quadratic(quadratic) => quadratic.n_scores(),
        }
    }

    /// Scores of every row of a design.
    pub fn scores(&self, design: &dyn Design, watch: &Watch) -> Result<Vec<f64>> {
        match self {
            Discriminant::Linear(linear) => linear.scores(design, watch),
            Discriminant::Quadratic(quadratic) => quadratic.scores(design, watch),
        }
    }

    /// `width` values per row of a design, made from the scores of a block of rows at a time by `finish`.
    pub fn each_block<T: Send>(
        &self,
        design: &dyn Design,
        watch: &Watch,
        width: usize,
        out: &mut [T],
        finish: impl Fn(&[f64], &mut [T]) + Sync,
    ) -> Result<()> {
        match self {
            Discriminant::Linear(linear) => linear.each_block(design, watch, width, out, finish),
            Discriminant::Quadratic(quadratic) => quadratic.each_block(design, watch, width, out, finish),
        }
    }

    /// The linear form, where there is one.
    pub fn as_linear(&self) -> Option<&Linear> {
        match self {
            Discriminant::Linear(linear) => Some(linear),
            Discriminant::Quadratic(_) => None,
        }
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        match self {
            Discriminant::Linear(linear) => linear.n_cols(),
            Discriminant::Quadratic(quadratic) => quadratic.n_cols(),
        }
    }

    /// Whether sizes fit together and all numbers are finite: what a file could get wrong.
    pub(crate) fn is_whole(&self) -> bool {
        match self {
            Discriminant::Linear(linear) => linear.is_whole(),
            Discriminant::Quadratic(quadratic) => quadratic.is_whole(),
        }
    }
}

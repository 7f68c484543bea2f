//! Which coefficients a risk without a penalty determines: a property of the features alone.

use crate::error::Result;
use crate::linalg::{Alias, factor};
use crate::objective::{CurvedLoss, Intercept, Risk};
use crate::watch::Watch;

/// On the unit-diagonal scale, a pivot below this makes a column a combination of earlier ones: a residual of 1e-6 of
/// its length, about what a Gram matrix of doubles resolves.
const ALIAS_TOLERANCE: f64 = 1e-12;

/// The coefficients that the features determine, and the columns that are combinations of earlier ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Independent {
    /// Indices into [`crate::objective::Coef`], rising.
    pub unknowns: Vec<usize>,
    /// Columns left out, in every score.
    pub aliased: Vec<Alias>,
}

/// By the Gram of the rows of positive weight, `Σ x̃x̃ᵀ`: unlike a Hessian it cannot lose a column because rows are
/// saturated at some point.
pub fn independent_coefficients<L: CurvedLoss>(risk: &Risk<'_, L>, watch: &Watch) -> Result<Independent> {
    let sample = risk.sample();
    let (k, cols) = (risk.loss().n_scores(), risk.n_cols());
    let pairs = k * (k + 1) / 2;
    // The Gram of the first score only: the others have the same.
    let mut curvature = vec![0.0; sample.labels.len() * pairs];
    for (i, c) in curvature.chunks_exact_mut(pairs).enumerate() {
        c[0] = f64::from(u8::from(sample.weights.is_none_or(|w| w[i] > 0.0)));
    }
    let mut gram = risk.weighted_gram(&curvature, watch)?;
    if risk.intercept() == Intercept::None {
        for at in k * cols..gram.n() {
            (0..at).for_each(|i| *gram.at(at, i) = 0.0);
            *gram.at(at, at) = 0.0;
        }
    }
    let first = factor(&gram, ALIAS_TOLERANCE);
    let in_score = |score: usize| {
        let weights = first.kept().iter().filter(|j| **j < cols).map(move |j| score * cols + j);
        weights.collect::<Vec<usize>>()
    };
    let mut unknowns: Vec<usize> = (0..k).flat_map(in_score).collect();
    if first.kept().contains(&(k * cols)) {
        unknowns.extend(k * cols..k * (cols + 1));
    }
    let aliased = first.aliased().iter().filter(|alias| alias.column < cols).cloned().collect();
    Ok(Independent { unknowns, aliased })
}

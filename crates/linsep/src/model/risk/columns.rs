//! Between the units of a fit and the columns of the data.

use super::{LossChoice, RiskMinimizer};
use crate::design::Training;
use crate::design::Units;
use crate::discriminant::Linear;
use crate::error::Result;
use crate::objective::{Coef, Intercept, Sample, SoftmaxForm};

impl RiskMinimizer {
    /// All K scores of a K-class model: the reference class has zeros; the symmetric form sums to zero over the classes,
    /// which minimises a ridge and leaves every loss unchanged.
    pub(super) fn canonical(&self, coef: Coef, classes: usize) -> Coef {
        if classes == 2 {
            return coef;
        }
        let cols = coef.n_cols();
        let fixed = classes - coef.n_scores();
        let mut full = Coef::zeros(classes, cols);
        full.weights_mut()[fixed * cols..].copy_from_slice(coef.weights());
        full.intercept_mut()[fixed..].copy_from_slice(coef.intercept());
        if self.loss == LossChoice::Logistic && self.form == SoftmaxForm::Symmetric && !self.penalty.is_sparse() {
            for j in 0..cols {
                let mean = (0..classes).map(|k| full.weights_of(k)[j]).sum::<f64>() / classes as f64;
                (0..classes).for_each(|k| full.weights_mut()[k * cols + j] -= mean);
            }
            // A penalised intercept has its own optimum; only a free one may be shifted.
            if self.intercept == Intercept::Free {
                let mean = full.intercept().iter().sum::<f64>() / classes as f64;
                full.intercept_mut().iter_mut().for_each(|b| *b -= mean);
            }
        }
        full
    }
}

pub(in crate::model) fn sample<'a>(
    training: &Training<'a>,
    units: &'a Units,
    offsets: Option<&'a [f64]>,
) -> Sample<'a> {
    Sample { rows: training.rows(), units, offsets }
}

/// Offsets per free score: differences to the first class where that class has no score of its own.
pub(in crate::model) fn score_offsets(training: &Training<'_>, scores: usize) -> Option<Vec<f64>> {
    let offsets = training.offsets?;
    if offsets.columns == scores {
        return Some(offsets.values.to_vec());
    }
    let differences = offsets.values.chunks_exact(offsets.columns).flat_map(|o| o[1..].iter().map(|v| v - o[0]));
    Some(differences.collect())
}

/// Coefficients of the fit's units to discriminants of the columns.
pub(in crate::model) fn to_columns(coef: Coef, units: &Units) -> Result<Linear> {
    let intercept = coef.intercept().to_vec();
    if units.is_identity() {
        // Zeroed memory from the allocator is free, unlike a copy of zeros.
        let centre = vec![0.0; coef.n_cols()];
        return Linear::new(coef.into_weights(), centre, intercept);
    }
    let in_columns = |k: usize| coef.weights_of(k).iter().zip(units.scale()).map(|(w, s)| w / s);
    let mut weights = Vec::with_capacity(coef.weights().len());
    (0..coef.n_scores()).for_each(|k| weights.extend(in_columns(k)));
    Linear::new(weights, units.centre().to_vec(), intercept)
}

/// The reverse of [`to_columns`], in the parametrisation with `scores` free scores.
pub(in crate::model) fn from_columns(linear: &Linear, units: &Units, scores: usize) -> Coef {
    let cols = linear.n_cols();
    let all = linear.n_scores();
    if scores == all && units.is_identity() && linear.centre() == units.centre() {
        let mut coef = Vec::with_capacity(scores * (cols + 1));
        (0..scores).for_each(|c| coef.extend_from_slice(linear.weights_of(c)));
        coef.extend_from_slice(linear.intercept_at_centre());
        return Coef::from_vec(coef, scores, cols);
    }
    let mut coef = Coef::zeros(scores, cols);
    let moved = |k: usize| {
        let terms = linear.weights_of(k).iter().zip(units.centre().iter().zip(linear.centre()));
        linear.intercept_at_centre()[k] + crate::numeric::sum(terms.map(|(w, (to, from))| w * (to - from)))
    };
    for c in 0..scores {
        // With one score fewer than classes, scores are differences to the first.
        let k = c + all - scores;
        let base = (all > scores).then_some(0);
        for j in 0..cols {
            let w = linear.weights_of(k)[j] - base.map_or(0.0, |b| linear.weights_of(b)[j]);
            coef.weights_mut()[c * cols + j] = w * units.scale()[j];
        }
        coef.intercept_mut()[c] = moved(k) - base.map_or(0.0, &moved);
    }
    coef
}

/// A known start in the parametrisation of the fit.
pub(in crate::model) fn start(linear: &Linear, units: &Units, scores: usize, intercept: Intercept) -> Coef {
    let mut coef = from_columns(linear, units, scores);
    if intercept == Intercept::None {
        coef.intercept_mut().fill(0.0);
    }
    coef
}

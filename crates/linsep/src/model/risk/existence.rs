//! Whether the columns without a penalty leave an optimum.
//!
//! Weights of factor zero are held by the data alone, like those of maximum likelihood: where their columns, with a free
//! intercept, separate the classes, the risk has no minimiser whatever the penalty of the others.

use super::columns::{sample, score_offsets};
use super::separated::proved_no_optimum;
use super::{LossChoice, RiskMinimizer};
use crate::design::{Units, select};
use crate::error::Result;
use crate::model::{NoOptimum, Training};
use crate::objective::{Conjugate, Intercept, Logistic, Ridge, Risk, Sample, Softmax, SoftmaxForm};
use crate::solve::{Newton, Stop};
use crate::watch::Watch;

/// Enough to see whether the free columns separate; nothing else is taken from it.
const QUICK: Newton = Newton { tolerance: 1e-6, max_iterations: 100 };

impl RiskMinimizer {
    /// The direction along which the unpenalised weights diverge, where there is one.
    pub(super) fn free_columns_separate(
        &self,
        training: &Training<'_>,
        units: &Units,
        watch: &Watch,
    ) -> Result<Option<NoOptimum>> {
        let free: Vec<usize> = (0..self.factors.len()).filter(|j| self.factors[*j] == 0.0).collect();
        // Squared losses grow along every direction that changes a score for the worse: they always have a minimiser.
        if free.is_empty() || self.loss != LossChoice::Logistic || self.penalty == super::PenaltyChoice::None {
            return Ok(None);
        }
        let classes = training.labels.n_classes();
        match classes {
            2 => self.separation(training, units, &free, Logistic, watch),
            // The reference form has the same minimum and one score fewer that could drift.
            _ => self.separation(training, units, &free, Softmax::new(classes, SoftmaxForm::Reference), watch),
        }
    }

    fn separation<L: Conjugate + Clone>(
        &self,
        training: &Training<'_>,
        units: &Units,
        free: &[usize],
        loss: L,
        watch: &Watch,
    ) -> Result<Option<NoOptimum>> {
        let (k, cols) = (loss.n_scores(), training.design.shape().cols);
        let some = |values: &[f64]| free.iter().map(|j| values[*j]).collect();
        let design = select(training.design, free, watch)?;
        let free_units = Units::new(some(units.centre()), some(units.scale()));
        let offsets = score_offsets(training, k);
        let rows = Sample { design: design.as_design(), ..sample(training, &free_units, offsets.as_deref()) };
        let intercept = match self.intercept {
            Intercept::Free => Intercept::Free,
            Intercept::None | Intercept::Penalised => Intercept::None,
        };
        let risk = Risk::new(rows, loss, Ridge::none(), intercept);
        let solved = QUICK.solve_unproved(&risk, None, watch)?;
        let Stop::Separated(found) = solved.stop else { return Ok(None) };
        let of_free = Training { design: design.as_design(), origins: &[], printed: &[], start: None, ..*training };
        let Some(mut proof) = proved_no_optimum(&of_free, &free_units, intercept, &found, watch)? else {
            return Ok(None);
        };
        for weights in &mut proof.direction {
            let mut all = vec![0.0; cols];
            free.iter().zip(&*weights).for_each(|(j, w)| all[*j] = *w);
            *weights = all;
        }
        proof.columns.iter_mut().for_each(|j| *j = free[*j]);
        Ok(Some(proof))
    }
}

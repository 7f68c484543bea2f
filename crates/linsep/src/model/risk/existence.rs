//! Whether an optimum exists in the columns without a penalty.
//!
//! Only the data bound weights of factor zero, like those of maximum likelihood: where their columns, with a free intercept,
//! separate the classes, the risk has no minimiser whatever the penalty of the others.

use super::{LossChoice, RiskMinimizer};
use crate::design::Training;
use crate::design::{Units, select};
use crate::error::Result;
use crate::objective::Intercept;
use crate::separate::{NoOptimum, proved_no_optimum};
use crate::watch::Watch;

impl RiskMinimizer {
    /// The direction along which the unpenalised weights diverge, where there is one.
    pub(super) fn free_columns_separate(
        &self,
        training: &Training<'_>,
        units: &Units,
        watch: &Watch,
    ) -> Result<Option<NoOptimum>> {
        let free: Vec<usize> = (0..self.factors.len()).filter(|j| self.factors[*j] == 0.0).collect();
        // Squared losses and hinges attain their infimum: there is always a minimiser.
        if free.is_empty() || self.loss != LossChoice::Logistic || self.penalty == super::PenaltyChoice::None {
            return Ok(None);
        }
        let cols = training.design.shape().cols;
        let some = |values: &[f64]| free.iter().map(|j| values[*j]).collect();
        let design = select(training.design, &free, watch)?;
        let free_units = Units::new(some(units.centre()), some(units.scale()));
        let intercept = match self.intercept {
            Intercept::Free => Intercept::Free,
            Intercept::None | Intercept::Penalised => Intercept::None,
        };
        let of_free = Training { design: design.as_design(), origins: &[], printed: &[], ..*training };
        let Some(mut proof) = proved_no_optimum(&of_free, &free_units, intercept, None, watch)? else {
            return Ok(None);
        };
        for weights in &mut proof.direction {
            let mut all = vec![0.0; cols];
            free.iter().zip(&*weights).for_each(|(j, w)| all[*j] = *w);
            *weights = all;
        }
        proof.columns.iter_mut().flatten().chain(&mut proof.largest).for_each(|j| *j = free[*j]);
        Ok(Some(proof))
    }
}

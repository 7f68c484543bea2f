//! The first steps, far from the optimum: one rough step for every choice of columns.
//!
//! While the set of columns still changes a lot, an exact solution on any of them is work for nothing. Where the gradient
//! of all columns is cheap (by a copy of them), it is taken after every step, and a step is a few sweeps.

use super::matrix::GRAM_LIMIT;
use super::run::LONG;
use super::{ModelCurvature, Previous, ProximalNewton, ProximalRun, Working, WorkingSetSearch};
use crate::design::Columns;
use crate::error::Result;
use crate::objective::Conjugate;
use crate::watch::Watch;

/// Columns that may join at a time, unless there are more already. On 20news there are four rough steps of six
/// (bench/README.md). Chosen (bench/constants.md): only the time depends on it.
const JOINING: usize = 128;
/// Of the columns in use, the share that may still want to join when the rough steps end, if the last one lowered the
/// objective by no more than [`SHORT`]. Chosen (bench/constants.md).
const FEW: f64 = 1.0 / 16.0;
/// See [`FEW`]. Chosen (bench/constants.md).
const SHORT: f64 = 0.02;

impl<L: Conjugate + Clone> WorkingSetSearch<'_, '_, L> {
    /// Steps until they are no longer long, or hardly any column wants to join. True where columns are too many for a matrix:
    /// what follows is no dearer then, and does not move rows as far as rough steps may.
    pub(super) fn roughly(&mut self, limits: &ProximalNewton, kept: &mut Previous) -> Result<bool> {
        let mut many = false;
        while self.trace.len() < limits.max_iterations {
            let inside = kept.working.as_ref().map_or(&[][..], |w| &w.restricted.columns);
            let mut joining = self.violators(inside, 1.0, usize::MAX);
            let (support, before) = (self.support().len(), self.point.objective);
            let few = joining.len() as f64 <= FEW * support as f64;
            let share = self.last_decrease / before.abs();
            if share <= LONG || few && share <= SHORT || support + joining.len() == 0 {
                break;
            }
            joining.truncate(JOINING.max(support));
            many = self.risk.loss().n_scores() == 1 && support + joining.len() > GRAM_LIMIT;
            if many {
                break;
            }
            self.choose(kept, &joining)?;
            if !self.step(kept)? {
                break;
            }
            self.last_decrease = before - self.point.objective;
        }
        // What follows solves on the columns in use and those close to it alone.
        kept.working = None;
        kept.model = None;
        Ok(many)
    }

    /// One rough step on the working set; false where there is none.
    fn step(&mut self, kept: &mut Previous) -> Result<bool> {
        let (risk, watch) = (self.risk, self.watch);
        let Some(Working { restricted, .. }) = &kept.working else { return Ok(false) };
        let sub = restricted.risk(risk)?;
        let columns = Columns::new(restricted.design(), sub.sample().units, watch)?;
        let mut run = ProximalRun::new(
            &sub,
            restricted.gather_point(&self.point),
            None,
            ModelCurvature::Columns(&columns),
            watch,
        );
        let moved = run.step_roughly(&columns)?;
        let (point, _, _, trace, _) = run.into_parts();
        self.trace.extend(trace);
        // Whoever is interrupted keeps the step.
        self.move_to(restricted, point, &Watch::default())?;
        Ok(moved)
    }
}

//! What Newton's method does when there may be no optimum.

use super::{Newton, NewtonRun};
use crate::certify::{Separation, SeparationKind};
use crate::error::Result;
use crate::objective::{Coef, Penalty, Ridge, Risk, Sample, Smooth};
use crate::separate::recession;
use crate::solve::Stop;

/// Iterations after quasi-complete separation was found in which it may still turn out to be complete: rows of little
/// weight are separated later, by the logarithm of the ratio of the weights (25 steps: e^25). Chosen, not measured.
const PATIENCE: usize = 25;

impl<P: Smooth<Penalty = Ridge>> NewtonRun<'_, P> {
    /// Looks for a separating direction; one that is only quasi-complete is kept while the rows on its boundary may
    /// still be drawn apart.
    pub(super) fn separated(&mut self, direction: &Coef) -> Result<Option<Stop>> {
        if !self.looks || !self.risk.penalty().is_none() {
            return Ok(None);
        }
        let Some(rows) = self.risk.rows_here() else { return Ok(None) };
        let now = self.trace.len();
        if let Some(found) = recession::find(rows, &self.point.coef, direction, self.watch)? {
            if found.kind == SeparationKind::Complete {
                return Ok(Some(Stop::Separated(Box::new(found))));
            }
            let since = self.separation.take().map_or(now, |(_, since)| since);
            self.separation = Some((found, since));
        }
        match &self.separation {
            Some((_, since)) if now >= since + PATIENCE => self.settled(),
            _ => Ok(None),
        }
    }

    /// The best separation found, looked for also without weights and offsets unless it is complete already.
    fn settled(&mut self) -> Result<Option<Stop>> {
        let mut best = self.separation.take().map(|(found, _)| found);
        if let Some(other) = self.separated_as_plain_rows()?
            && best.as_ref().is_none_or(|best| recession::rank(&other) > recession::rank(best))
        {
            best = Some(other);
        }
        Ok(best.map(|found| Stop::Separated(Box::new(found))))
    }

    /// The end of the iterations without a proof of optimality: perhaps there is none because there is no optimum.
    pub(super) fn given_up(&mut self, direction: &Coef, stop: Stop) -> Result<Stop> {
        if !self.looks || !self.risk.penalty().is_none() {
            return Ok(stop);
        }
        if let Some(found) = self.separated(direction)? {
            return Ok(found);
        }
        Ok(self.settled()?.unwrap_or(stop))
    }

    /// Whether an optimum exists depends neither on the weights of the rows (as long as they are positive) nor on
    /// offsets; without them the direction is found sooner, in particular where the weights differ by decades.
    fn separated_as_plain_rows(&self) -> Result<Option<Separation>> {
        let Some(rows) = self.risk.rows_here() else { return Ok(None) };
        let sample = rows.sample();
        let counted: Option<Vec<f64>> =
            sample.weights.map(|w| w.iter().map(|s| f64::from(u8::from(*s > 0.0))).collect());
        if counted.as_deref() == sample.weights && sample.offsets.is_none() {
            return Ok(None);
        }
        let plain = Sample { rows: sample.weighted(counted.as_deref()), offsets: None, ..*sample };
        let plain = Risk::new(plain, self.risk.loss().clone(), Ridge::none(), self.risk.intercept());
        let mut run = NewtonRun::new(&plain, &plain.start(), self.watch)?;
        Ok(match run.iterate(&Newton::default())? {
            Stop::Separated(found) => Some(*found),
            _ => None,
        })
    }
}

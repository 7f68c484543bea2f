//! What Newton's method does when there may be no optimum.

use super::{Newton, NewtonRun};
use crate::certify::{Separation, SeparationKind};
use crate::error::Result;
use crate::objective::{Coef, Penalty, Ridge, Risk, Sample, Smooth};
use crate::separate::recession;
use crate::solve::{Solved, Stop};
use crate::watch::Watch;

/// Iterations after quasi-complete separation was found in which it may still turn out to be complete: rows of little
/// weight are separated later, by the logarithm of the ratio of the weights (25 steps: e^25). Chosen, not measured.
const PATIENCE: usize = 25;
/// Steps in a row that hardly lower the decrement after which the question is left to those who can decide it: along a
/// direction of recession each of them lowers the loss by a factor e, so by now by three thousand. Chosen
/// (bench/constants.md): only the time depends on it.
const CRAWLS: usize = 8;

/// How directions of separation are looked for where steps crawl without a penalty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looks {
    /// Not at all.
    Never,
    /// At every step, and beyond the first one found, since it may turn out to be complete.
    Patiently,
    /// Less and less often, up to the first one, or until steps have crawled for long.
    UntilInDoubt,
    /// Not at all, but steps that have crawled for long are the end.
    OnlyDoubts,
}

impl Newton {
    /// Solves for callers who prove the point that they store and can decide whether an optimum exists: at the first
    /// direction of separation, and where steps crawl as if there were one, it is left to them. The second is an iteration limit
    /// before the limit.
    pub(crate) fn solve_unless_in_doubt<P: Smooth<Penalty = Ridge>>(
        &self,
        risk: &P,
        start: Option<&Coef>,
        watch: &Watch,
    ) -> Result<Solved<P::Scores>> {
        self.solve_looking(risk, start, Looks::UntilInDoubt, watch)
    }

    /// The same for classes that are not to be taken for separated, because that was not confirmed.
    pub(crate) fn solve_overlapping<P: Smooth<Penalty = Ridge>>(
        &self,
        risk: &P,
        watch: &Watch,
    ) -> Result<Solved<P::Scores>> {
        self.solve_looking(risk, None, Looks::Never, watch)
    }
}

impl<P: Smooth<Penalty = Ridge>> NewtonRun<'_, P> {
    /// Looks for a separating direction; one that is only quasi-complete is kept while the rows on its boundary may
    /// still be drawn apart.
    pub(super) fn separated(&mut self, direction: &Coef) -> Result<Option<Stop>> {
        let skips = match self.looks {
            Looks::Never | Looks::OnlyDoubts => true,
            Looks::Patiently => false,
            // A look takes several passes: twice as many steps lie between it and the next.
            Looks::UntilInDoubt => !self.slow.is_power_of_two(),
        };
        if skips || !self.risk.penalty().is_none() {
            return Ok(None);
        }
        let Some(rows) = self.risk.rows_here() else { return Ok(None) };
        let now = self.trace.len();
        if let Some(found) = recession::find(rows, &self.point.coef, direction, self.watch)? {
            if found.kind == SeparationKind::Complete || self.looks == Looks::UntilInDoubt {
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

    /// Whether steps have crawled for so long that another method should decide whether there is an optimum.
    pub(super) fn is_in_doubt(&self) -> bool {
        matches!(self.looks, Looks::UntilInDoubt | Looks::OnlyDoubts)
            && self.risk.penalty().is_none()
            && self.risk.rows_here().is_some()
            && self.slow >= CRAWLS
    }

    /// The end of the iterations without a proof of optimality: perhaps there is none because there is no optimum.
    pub(super) fn given_up(&mut self, direction: &Coef, stop: Stop) -> Result<Stop> {
        if matches!(self.looks, Looks::Never | Looks::OnlyDoubts) || !self.risk.penalty().is_none() {
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

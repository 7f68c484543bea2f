//! Many columns with a weight: one step for every choice of columns, down to the last.
//!
//! Where a matrix of the columns costs too much, coordinate descent alone takes thousands of sweeps for an exact solution on
//! any set of them, and the set is not the last one anyway. So the gradient of all columns, which is cheap by a copy of them,
//! is taken after every step, and a step solves its model on a few faces only (`face.rs`).
//!
//! Rows that are almost certain have next to no curvature, and the minimiser of the model moves their scores much further
//! than the model holds: words of a few such rows get weights of a thousand. So curvatures are those of scores that are
//! nearer to zero by a reach, which follows the quality of the steps as a trust region does; at a reach of zero a step is
//! Newton's.

use super::{
    JOINING, ModelCurvature, NEAR, Previous, ProximalNewton, ProximalRun, Stop, Working, WorkingSetSearch, forecast,
    violation,
};
use crate::certify::duality_gap;
use crate::design::Columns;
use crate::error::Result;
use crate::objective::Conjugate;
use crate::watch::Watch;

/// The first reach, in scores; from 4 the same texts take as many steps. See [`LESS`].
const FIRST_REACH: f64 = 2.0;
/// A step whose decrease is more than [`GOOD`] of the foretold one divides the reach by this. On texts made of topics (25,000
/// rows, 4,066 columns with a weight) there are 13 steps to a gap of 1e-2 with 1.4, and 19 with 2.
const LESS: f64 = 1.4;
/// A step that had to be shortened, or whose decrease is less than [`POOR`] of the foretold one, multiplies it by this,
/// from [`SOME`] on. Chosen, out of reach of bench/constants.md.
const MORE: f64 = 2.0;
/// See [`MORE`]. Chosen, out of reach of bench/constants.md.
const SOME: f64 = 0.5;
/// A smaller reach changes curvatures by 2 % and is left out.
const NONE: f64 = 0.02;
/// The usual bounds of a trust region (Nocedal and Wright 2006, section 4.1).
const GOOD: f64 = 0.75;
/// See [`GOOD`].
const POOR: f64 = 0.25;
/// Systems on faces are solved to the root of the share of the first violation that is left, within these bounds: the rule of
/// superlinear convergence. With 0.5 throughout, texts of topics stop to make progress.
const FORCING: (f64, f64) = (0.1, 0.3);

impl<L: Conjugate + Clone> WorkingSetSearch<'_, '_, L> {
    /// Steps until the gap of the whole risk is proved to be small enough.
    pub(super) fn stepwise(&mut self, limits: &ProximalNewton, kept: &mut Previous, scale: f64) -> Result<Stop> {
        let first = violation(self.risk, &self.point);
        let mut reach = FIRST_REACH;
        loop {
            if forecast(self.risk, &self.point) <= 2.0 * limits.tolerance * scale {
                let certificate = duality_gap(self.risk, &self.point, self.watch)?;
                let gap = certificate.relative_gap();
                self.certificate = Some(certificate);
                if gap.is_some_and(|gap| gap <= limits.tolerance) {
                    return Ok(Stop::Converged);
                }
            }
            if self.trace.len() >= limits.max_iterations {
                return Ok(Stop::IterationLimit);
            }
            let mut joining = self.violators(&[], NEAR, usize::MAX);
            joining.truncate(JOINING.max(2 * self.support().len()));
            kept.working = None;
            self.choose(kept, &joining)?;
            let Some(Working { restricted, .. }) = &kept.working else { return Ok(Stop::PrecisionLimit) };
            let sub = restricted.risk(self.risk)?;
            let columns = Columns::new(restricted.design(), sub.sample().units, self.watch)?;
            let gathered = restricted.gather_point(&self.point);
            let precision = (violation(self.risk, &self.point) / first).sqrt().clamp(FORCING.0, FORCING.1);
            let mut run = ProximalRun::new(&sub, gathered, None, ModelCurvature::Columns(&columns), self.watch);
            let taken = run.step_on_faces(&columns, reach, precision)?;
            let (point, _, _, trace, _) = run.into_parts();
            self.trace.extend(trace);
            // Whoever is interrupted keeps the step.
            self.move_to(restricted, point, &Watch::default())?;
            reach = match taken {
                None if reach == 0.0 => return Ok(Stop::PrecisionLimit),
                // Nothing but rounding is left of a step with too much curvature.
                None => 0.0,
                Some((step, ratio)) if step < 1.0 || ratio < POOR => (MORE * reach).max(SOME),
                Some((_, ratio)) if ratio > GOOD && reach < LESS * NONE => 0.0,
                Some((_, ratio)) if ratio > GOOD => reach / LESS,
                Some(_) => reach,
            };
        }
    }
}

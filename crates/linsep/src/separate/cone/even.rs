//! A direction whose strict constraints have slacks well above the tolerance.
//!
//! A sum of directions can have slacks too small for the tolerance to tell from zero. Among the directions that vanish on
//! the boundary, Newton's method on `Σ log(1 + e^{−a·v})` over the settled constraints raises the smallest slack: the
//! boundary has a large penalty weight in the Hessian, and a projection removes what is left of it from the steps.

use super::{ConeRun, SUSPECT_PIVOT, cleaned};
use crate::certify::cone_slacks;
use crate::error::{ErrorKind, Result};
use crate::linalg::factor;
use crate::numeric::{logistic, softplus, sum};
use crate::objective::{Coef, Loss};

/// The smallest slack that suffices, relative to the largest: well above the 1e-9 by which slacks are told from zero
/// (`SeparabilityOptions::tolerance`). Chosen (bench/constants.md): it decides whether a direction is improved, not the
/// verdict.
const EVEN: f64 = 1e-5;
/// Newton steps at most. Chosen, out of reach of bench/constants.md: the best direction so far is kept.
const STEPS: usize = 40;
/// Weight of boundary constraints in the Hessian relative to the largest of the others: what a step moves on the
/// boundary is then about 1e-6 of the rest, which the projection removes. Chosen, out of reach of bench/constants.md.
const HEAVY: f64 = 1e6;
/// Pivots on the unit-diagonal scale below this are rounding: about 50 units.
const ROUNDING_PIVOT: f64 = 1e-14;

impl<L: Loss> ConeRun<'_, '_, L> {
    /// Raises the smallest slack of the direction found, where that is needed and possible.
    pub(super) fn even_out(&mut self) -> Result<()> {
        let Some((direction, slacks)) = self.total.clone() else { return Ok(()) };
        if self.evenness(&slacks) >= EVEN {
            return Ok(());
        }
        match self.more_even(direction, slacks) {
            // An interrupt leaves the direction as it was.
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            other => other,
        }
    }

    fn more_even(&mut self, direction: Coef, slacks: Vec<f64>) -> Result<()> {
        let size = self.largest(&slacks);
        let mut best = (self.evenness(&slacks), direction.clone(), slacks.clone());
        let (mut v, mut at) = (Coef::zeros(direction.n_scores(), direction.n_cols()), slacks);
        v.add_scaled(size.recip(), &direction);
        at.iter_mut().for_each(|s| *s /= size);
        let ones: Vec<f64> = self.open.iter().map(|open| f64::from(u8::from(*open))).collect();
        let boundary = self.gram(&ones)?;
        let of_boundary = factor(&boundary, SUSPECT_PIVOT);
        for _ in 0..STEPS {
            if best.0 >= EVEN || self.watch.halted().is_some() {
                break;
            }
            let p = self.of_settled(&at, |s| logistic(-s), 0.0);
            let h = self.of_settled(&at, |s| logistic(-s) * logistic(s), 0.0);
            let heavy = HEAVY * h.iter().fold(0.0f64, |m, h| m.max(*h));
            let hessian = self.gram(&self.of_settled(&at, |s| logistic(-s) * logistic(s), heavy))?;
            let solved = factor(&hessian, ROUNDING_PIVOT).solve(self.sums(&p)?.as_slice());
            let step = Coef::from_vec(solved, v.n_scores(), v.n_cols());
            let step = cleaned(&cleaned(&step, &boundary, &of_boundary), &boundary, &of_boundary);
            let of_step = cone_slacks(self.risk, &step, self.watch)?;
            let value = |length: f64| {
                let moved = at.iter().zip(&of_step).zip(self.settled()).filter(|(_, settled)| *settled);
                sum(moved.map(|((s, d), _)| softplus(-(s + length * d))))
            };
            let before = value(0.0);
            let Some(length) = [1.0, 0.5, 0.25, 0.125, 0.0625].into_iter().find(|l| value(*l) < before) else { break };
            v.add_scaled(length, &step);
            at.iter_mut().zip(&of_step).for_each(|(s, d)| *s += length * d);
            let evenness = self.evenness(&at);
            if evenness > best.0 {
                best = (evenness, v.clone(), at.clone());
            }
        }
        let (_, direction, slacks) = best;
        self.total = Some((direction, slacks));
        Ok(())
    }

    /// `f` of the slacks of settled constraints, and a constant for the open ones.
    fn of_settled(&self, slacks: &[f64], f: impl Fn(f64) -> f64, of_open: f64) -> Vec<f64> {
        let of = |((s, settled), open): ((&f64, bool), &bool)| match (settled, open) {
            (true, _) => f(*s),
            (_, true) => of_open,
            _ => 0.0,
        };
        slacks.iter().zip(self.settled()).zip(&self.open).map(of).collect()
    }

    fn largest(&self, slacks: &[f64]) -> f64 {
        let asked = slacks.iter().zip(self.asked).filter(|(_, asked)| **asked);
        asked.fold(f64::MIN_POSITIVE, |m, (s, _)| m.max(s.abs()))
    }

    /// The smallest slack of a settled constraint, relative to the largest of the constraints asked.
    fn evenness(&self, slacks: &[f64]) -> f64 {
        let settled = slacks.iter().zip(self.settled()).filter(|(_, settled)| *settled).map(|(s, _)| *s);
        settled.fold(f64::INFINITY, f64::min) / self.largest(slacks)
    }
}

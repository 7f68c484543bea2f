//! Directions and weights of the system `a_c·v ≥ 0`, one constraint c per row and other class: which constraints can be met
//! strictly together, and a proof that the others cannot.
//!
//! Newton's method minimises `Σ log(1 + e^{−a_c·v})` over the constraints still open. It ends in one of two ways.
//! - The step d is short, `(1−p)a·d < 1` with `p = 1/(1+e^{a·v})`: then `α = p(1 − (1−p)a·d)` is positive, and `Σ αa = 0`
//!   because `Hd = Σ pa`. These weights prove that no direction meets any open constraint strictly (Stiemke).
//! - The iterate, the step or a combination of both meets every open constraint, some strictly. These are settled: a small
//!   multiple of later directions, added to this one, leaves them strict. The search continues on the rest.
//!
//! So the constraints left at the end are the boundary I₀ of *every* separating direction, and those settled are strict in
//! the one that is returned. Columns in which all of one class lie on one side of all of the other are directions themselves
//! and are tried first: a rare level of one class would cost Newton an iteration per unit of its score.

mod basic;
mod even;
mod newton;
mod screen;
mod whole;

pub(crate) use basic::{basic_solution, independent_vectors};
pub(crate) use whole::{WholeMember, solve_whole_cone, whole_common_point, whole_member};

use crate::certify::{cone_gram, cone_slacks, cone_values};
use crate::error::{ErrorKind, Result};
use crate::linalg::{Factor, Square, factor};
use crate::objective::{Coef, Intercept, Loss, Risk};
use crate::watch::Watch;
use newton::ConeFound;

/// On the unit-diagonal scale, pivots below this belong to columns that are combinations of others. A Gram matrix
/// carries rounding of some thousand units; the same limit as in Newton's method.
const SUSPECT_PIVOT: f64 = 1e-11;
/// A limit against endless loops: every level settles at least one constraint or ends the search.
const MOST_LEVELS: usize = 1_000;
/// Rounds in which single columns are tried before Newton's method. Chosen (bench/constants.md): only the time depends
/// on it.
const MOST_SCREENS: usize = 20;

/// The decision on every constraint.
#[derive(Debug, Clone)]
pub(crate) struct ConeSolved {
    /// Meets every constraint that was asked, those not open strictly; `None` where none is settled.
    pub(crate) direction: Option<Coef>,
    /// The constraints, of those asked, that no direction meets strictly.
    pub(crate) open: Vec<bool>,
    /// Positive on the open constraints and zero on the others, `Σ αa = 0`.
    pub(crate) alpha: Option<Vec<f64>>,
    /// Where Newton's method ended.
    pub(crate) iterate: Coef,
    /// Newton iterations.
    pub(crate) iterations: usize,
    /// Why it is not decided which constraints are open.
    pub(crate) undecided: Option<&'static str>,
}

/// Decides the system of a risk whose rows all count; `tolerance` tells zero slack from others, relative to the largest.
pub(crate) fn solve_cone<L: Loss>(
    risk: &Risk<'_, L>,
    start: Option<Coef>,
    tolerance: f64,
    watch: &Watch,
) -> Result<ConeSolved> {
    let constraints = risk.sample().labels.len() * (risk.loss().n_classes() - 1);
    solve_part_of_cone(risk, &vec![true; constraints], start, tolerance, watch)
}

/// Decides some of the constraints; the others are ignored.
pub(crate) fn solve_part_of_cone<L: Loss>(
    risk: &Risk<'_, L>,
    asked: &[bool],
    start: Option<Coef>,
    tolerance: f64,
    watch: &Watch,
) -> Result<ConeSolved> {
    let mut run = ConeRun::new(risk, asked, start, tolerance, watch)?;
    match run.iterate() {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::Interrupted => run.undecided = Some("stopped"),
        Err(error) => return Err(error),
    }
    Ok(ConeSolved {
        direction: run.total.map(|(direction, _)| direction),
        open: run.open,
        alpha: run.alpha,
        iterate: run.v,
        iterations: run.iterations,
        undecided: run.undecided,
    })
}

struct ConeRun<'r, 'd, L> {
    risk: &'r Risk<'d, L>,
    watch: &'r Watch,
    tolerance: f64,
    asked: &'r [bool],
    open: Vec<bool>,
    v: Coef,
    /// Slacks of v.
    slacks: Vec<f64>,
    /// The direction so far and its slacks.
    total: Option<(Coef, Vec<f64>)>,
    alpha: Option<Vec<f64>>,
    iterations: usize,
    undecided: Option<&'static str>,
}

impl<'r, 'd, L: Loss> ConeRun<'r, 'd, L> {
    fn new(
        risk: &'r Risk<'d, L>,
        asked: &'r [bool],
        start: Option<Coef>,
        tolerance: f64,
        watch: &'r Watch,
    ) -> Result<ConeRun<'r, 'd, L>> {
        let zero = Coef::zeros(risk.loss().n_scores(), risk.n_cols());
        let (v, slacks) = match start {
            Some(v) => {
                let slacks = cone_slacks(risk, &v, watch)?;
                (v, slacks)
            }
            None => (zero, vec![0.0; asked.len()]),
        };
        Ok(ConeRun {
            risk,
            watch,
            tolerance,
            asked,
            open: asked.to_vec(),
            v,
            slacks,
            total: None,
            alpha: None,
            iterations: 0,
            undecided: None,
        })
    }

    fn iterate(&mut self) -> Result<()> {
        for level in 0..MOST_LEVELS {
            if !self.open.contains(&true) {
                return Ok(());
            }
            if level < MOST_SCREENS
                && self.has_intercept()
                && let Some((direction, slacks)) = self.screen()?
            {
                self.settle(direction, slacks);
                continue;
            }
            match self.newton()? {
                ConeFound::Direction(direction, slacks) => self.settle(direction, slacks),
                ConeFound::Overlap(alpha) => {
                    self.alpha = Some(alpha);
                    self.clean()?;
                    return self.even_out();
                }
                ConeFound::Nothing(reason) => {
                    self.undecided = Some(reason);
                    return Ok(());
                }
            }
        }
        self.undecided = Some("too many rounds");
        Ok(())
    }

    /// The largest slack of the open constraints.
    fn size(&self, slacks: &[f64]) -> f64 {
        slacks.iter().zip(&self.open).filter(|(_, open)| **open).fold(0.0f64, |m, (s, _)| m.max(s.abs()))
    }

    /// Whether a direction meets every open constraint, some strictly.
    fn separates(&self, slacks: &[f64]) -> bool {
        let size = self.size(slacks);
        let open = || slacks.iter().zip(&self.open).filter(|(_, open)| **open).map(|(s, _)| *s);
        size > 0.0
            && size.is_finite()
            && open().all(|s| s >= -self.tolerance * size)
            && open().any(|s| s > self.tolerance * size)
    }

    /// Adds a direction to the total, in a multiple small enough that settled constraints stay strict, and closes what it
    /// meets strictly.
    fn settle(&mut self, direction: Coef, slacks: Vec<f64>) {
        let size = self.size(&slacks);
        let mut step = size.recip();
        if let Some((_, total)) = &self.total {
            for ((before, slack), settled) in total.iter().zip(&slacks).zip(self.settled()) {
                if settled && *slack < 0.0 {
                    step = step.min(-0.5 * before / slack);
                }
            }
        }
        let (total, of_total) =
            self.total.get_or_insert_with(|| (Coef::zeros(direction.n_scores(), direction.n_cols()), Vec::new()));
        of_total.resize(slacks.len(), 0.0);
        total.add_scaled(step, &direction);
        of_total.iter_mut().zip(&slacks).for_each(|(t, s)| *t += step * s);
        for (open, slack) in self.open.iter_mut().zip(&slacks) {
            *open &= *slack <= self.tolerance * size;
        }
    }

    /// Which constraints a direction has settled, of those that were asked.
    fn settled(&self) -> impl Iterator<Item = bool> {
        self.asked.iter().zip(&self.open).map(|(asked, open)| *asked && !open)
    }

    /// Removes the rounding error of the direction on the boundary, by projection.
    fn clean(&mut self) -> Result<()> {
        let Some((direction, _)) = self.total.take() else { return Ok(()) };
        let weights: Vec<f64> = self.open.iter().map(|open| f64::from(u8::from(*open))).collect();
        let gram = self.gram(&weights)?;
        let factor = factor(&gram, SUSPECT_PIVOT);
        let direction = cleaned(&cleaned(&direction, &gram, &factor), &gram, &factor);
        let slacks = cone_slacks(self.risk, &direction, self.watch)?;
        self.total = Some((direction, slacks));
        Ok(())
    }

    fn has_intercept(&self) -> bool {
        self.risk.intercept() != Intercept::None
    }

    /// `Σ w aaᵀ`, without the intercept where there is none.
    fn gram(&self, weights: &[f64]) -> Result<Square> {
        let mut gram = cone_gram(self.risk, weights, self.watch)?;
        if !self.has_intercept() {
            let of_columns: Vec<usize> = (0..self.v.weights().len()).collect();
            gram.keep_only(&of_columns);
        }
        Ok(gram)
    }

    /// `Σ w a`.
    fn sums(&self, weights: &[f64]) -> Result<Coef> {
        let (sums, mut totals) = self.risk.weighted_sums(&cone_values(self.risk, weights), self.watch)?;
        if !self.has_intercept() {
            totals.fill(0.0);
        }
        Ok(Coef::from_vec(sums.into_iter().chain(totals).collect(), self.v.n_scores(), self.v.n_cols()))
    }
}

/// `v − G⁺Gv`.
fn cleaned(v: &Coef, gram: &Square, factor: &Factor) -> Coef {
    let correction = factor.solve(&gram.multiply(v.as_slice()));
    v.moved(-1.0, &Coef::from_vec(correction, v.n_scores(), v.n_cols()))
}

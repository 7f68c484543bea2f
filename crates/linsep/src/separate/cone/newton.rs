//! Newton's method on the open constraints, until it finds weights or a direction.

use super::{ConeRun, SUSPECT_PIVOT, cleaned};
use crate::certify::cone_slacks;
use crate::error::Result;
use crate::linalg::{Factor, Square, factor};
use crate::numeric::{logistic, softplus, sum};
use crate::objective::line_search::{DECREASE, SHORTEST_STEP};
use crate::objective::{Coef, Loss};
use crate::watch::Progress;
use rayon::prelude::*;

/// Newton steps at most; then the verdict is left to exact arithmetic or undecided. Chosen (bench/constants.md).
const ITERATIONS: usize = 200;
/// Constraints summed in one block: fixed, so that sums do not depend on the number of threads. Chosen
/// (bench/constants.md).
const BLOCK: usize = 8192;
/// Pivots on the unit-diagonal scale below this are rounding: about 5 units.
const ROUNDING_PIVOT: f64 = 1e-15;
/// What `(1−p)a·d` must stay below: in exact arithmetic 1 suffices, and the rest leaves room for rounding.
const PROVEN: f64 = 0.9;
/// Iterative refinements of the weights against the rounding of their equation; raised from 4 for ill-conditioned rows,
/// and more are not needed where each halves the residual.
const CORRECTIONS: usize = 12;
/// The smallest weights tried: p underflows to zero for rows far out, so it is raised, first to little beside a sum of
/// weights of order one, then to less than any rounding. Chosen, not measured: the balance that results is checked.
const FLOORS: [f64; 3] = [1e-12, 1e-20, 1e-100];
/// Weights have converged when a refinement changes none by more than this, relative. Chosen (bench/constants.md): it
/// only ends the refinement, and the proof of overlap computes its own bound.
const SETTLED: f64 = 1e-7;
/// Where rounding ends the refinement, weights are accepted if the last change was below this; the proof is separate.
const STANDS: f64 = 1e-2;
/// Relative to the largest slack of a step, which constraints may belong to the boundary: first what rounding leaves of
/// zero, then more. Chosen, not measured; all three are tried, and the direction that settles most is taken.
const NEAR_BOUNDARY: [f64; 3] = [1e-8, 1e-6, 1e-4];
/// Newton's method converges quadratically to an optimum; a decrement above this share of the last one says there may
/// be none.
const SLOW_DECREMENT: f64 = 0.1;
/// Constraints given to one task at least, so that a task takes longer than its start. Chosen (bench/constants.md).
const FEW_ROWS: usize = 4096;
/// Relative rounding of the sum of positive terms: about 5 units.
const SUM_ROUNDING: f64 = 1e-15;
/// A decrement below this share of the sum is the square of rounding: no step has an effect any more.
const NO_DECREMENT: f64 = 1e-20;
/// On the unit-diagonal scale, pivots of the Gram matrix of the boundary below this are dependent. Coarser than
/// [`SUSPECT_PIVOT`], since the boundary itself was chosen up to rounding. Chosen (bench/constants.md): candidates are
/// checked.
const BOUNDARY_PIVOT: f64 = 1e-10;
/// Slacks below this share of the largest are zero up to rounding.
const ZERO_SLACK: f64 = 1e-10;

/// What Newton's method ended with.
pub(super) enum ConeFound {
    /// A direction that meets every open constraint, some strictly, and its slacks.
    Direction(Coef, Vec<f64>),
    /// Positive weights of the open constraints.
    Overlap(Vec<f64>),
    Nothing(&'static str),
}

/// The Hessian factored on the coefficients that the open constraints determine.
struct ConeCurvature {
    factor: Factor,
    damped: bool,
}

impl<L: Loss> ConeRun<'_, '_, L> {
    pub(super) fn newton(&mut self) -> Result<ConeFound> {
        let ones: Vec<f64> = self.open.iter().map(|open| f64::from(u8::from(*open))).collect();
        let count = ones.iter().sum::<f64>();
        let base = self.gram(&ones)?;
        let unknowns = factor(&base, SUSPECT_PIVOT).kept().to_vec();
        let diagonal: Vec<f64> = base.diagonal().iter().map(|d| d / count).collect();
        let (mut last, mut slow) = (f64::INFINITY, 0);
        for round in 0..ITERATIONS {
            let p = self.of_open(|s| logistic(-s));
            let h = self.of_open(|s| logistic(-s) * logistic(s));
            let gradient = self.sums(&p)?;
            let curvature = self.curvature(&h, &unknowns, (&gradient, &diagonal, count))?;
            let step = self.solved(&curvature, &gradient);
            let of_step = cone_slacks(self.risk, &step, self.watch)?;
            self.iterations += 1;
            let open = self.open.iter();
            let longest = open.zip(&p).zip(&of_step).filter(|((open, _), _)| **open);
            let longest = longest.map(|((_, p), s)| (1.0 - p) * s).fold(0.0f64, f64::max);
            if !curvature.damped
                && longest < PROVEN
                && let Some(alpha) = self.weights(&p, &h, &of_step, &curvature)?
            {
                return Ok(ConeFound::Overlap(alpha));
            }
            if round > 0 && self.is_strict(&self.slacks) {
                return Ok(ConeFound::Direction(self.v.clone(), self.slacks.clone()));
            }
            if self.separates(&of_step) {
                return Ok(ConeFound::Direction(step, of_step));
            }
            let decrement = gradient.dot(&step).max(0.0);
            slow = if curvature.damped || decrement > SLOW_DECREMENT * last { slow + 1 } else { 0 };
            last = decrement;
            if slow >= 2
                && slow % 2 == 0
                && let Some((direction, slacks)) = self.combined_directions(&step, &of_step)?
            {
                return Ok(ConeFound::Direction(direction, slacks));
            }
            let Some(length) = self.line_search(&of_step, decrement) else {
                return Ok(match self.combined_directions(&step, &of_step)? {
                    Some((direction, slacks)) => ConeFound::Direction(direction, slacks),
                    None => ConeFound::Nothing("rounding hides on which side of the boundary the last rows are"),
                });
            };
            self.v.add_scaled(length, &step);
            self.slacks.par_iter_mut().zip(&of_step).for_each(|(s, d)| *s += length * d);
            self.watch.report(Progress::Iteration {
                solver: "separability",
                iteration: self.iterations,
                objective: decrement,
                relative_gap: None,
            });
        }
        Ok(ConeFound::Nothing("the iteration limit was reached"))
    }

    /// A function of the slack of every open constraint; zero on the others.
    fn of_open(&self, f: impl Fn(f64) -> f64 + Sync) -> Vec<f64> {
        let slacks = self.slacks.par_iter().with_min_len(FEW_ROWS);
        slacks.zip(&self.open).map(|(s, open)| if *open { f(*s) } else { 0.0 }).collect()
    }

    fn is_strict(&self, slacks: &[f64]) -> bool {
        let size = self.size(slacks);
        let open = slacks.iter().zip(&self.open).filter(|(_, open)| **open);
        size > 0.0 && size.is_finite() && { open }.all(|(s, _)| *s > self.tolerance * size)
    }

    /// Where rows saturate so far that coefficients are lost to rounding, `‖g‖·D` is added to H, D the diagonal of the
    /// features and the norm its dual one: steps of length at most one in those units, so that the iteration goes on (Li,
    /// Fukushima, Qi and Yamashita 2004).
    fn curvature(
        &self,
        h: &[f64],
        unknowns: &[usize],
        (gradient, diagonal, count): (&Coef, &[f64], f64),
    ) -> Result<ConeCurvature> {
        let mut hessian: Square = self.gram(h)?;
        hessian.keep_only(unknowns);
        let plain = factor(&hessian, ROUNDING_PIVOT);
        if plain.kept() == unknowns {
            return Ok(ConeCurvature { factor: plain, damped: false });
        }
        let g = gradient.as_slice();
        let terms = unknowns.iter().filter(|j| diagonal[**j] > 0.0);
        let norm = terms.map(|j| g[*j] * g[*j] / (diagonal[*j] * count * count)).sum::<f64>().sqrt();
        for j in unknowns {
            *hessian.at(*j, *j) += norm * diagonal[*j] * count;
        }
        Ok(ConeCurvature { factor: factor(&hessian, ROUNDING_PIVOT), damped: true })
    }

    fn solved(&self, curvature: &ConeCurvature, right: &Coef) -> Coef {
        Coef::from_vec(curvature.factor.solve(right.as_slice()), right.n_scores(), right.n_cols())
    }

    /// `p − h a·d`, made to satisfy `Σ αa = 0` to rounding; `None` where they are not all positive.
    fn weights(&self, p: &[f64], h: &[f64], of_step: &[f64], curvature: &ConeCurvature) -> Result<Option<Vec<f64>>> {
        let moved = |weights: &[f64], by: &[f64]| -> Vec<f64> {
            weights.iter().zip(h).zip(by).map(|((w, h), s)| w - h * s).collect()
        };
        let plain = moved(p, of_step);
        // Weights of rows far from the boundary may underflow. They may be raised: the correction shifts the other weights.
        for floor in FLOORS {
            let raised = plain.iter().zip(&self.open).map(|(a, open)| if *open { a.max(floor) } else { 0.0 }).collect();
            if let Some(alpha) = self.balanced(raised, h, curvature)? {
                return Ok(Some(alpha));
            }
        }
        Ok(None)
    }

    /// Positive weights corrected until `Σ αa = 0` holds to rounding; `None` where some would not stay positive.
    fn balanced(&self, mut alpha: Vec<f64>, h: &[f64], curvature: &ConeCurvature) -> Result<Option<Vec<f64>>> {
        let mut last = f64::INFINITY;
        for _ in 0..CORRECTIONS {
            let residual = self.sums(&alpha)?;
            let by = cone_slacks(self.risk, &self.solved(curvature, &residual), self.watch)?;
            // The relative change of a weight by the correction: if it is small, the remaining corrections are smaller.
            let terms = alpha.iter().zip(h).zip(&by).zip(&self.open).filter(|(_, open)| **open);
            let change = terms.map(|(((a, h), s), _)| if *a > 0.0 { (h * s).abs() / a } else { f64::INFINITY });
            let change = change.fold(0.0f64, f64::max);
            if !(change < PROVEN) {
                return Ok(None);
            }
            // Refinement has stagnated at rounding level; a small last change suffices.
            if change > 0.5 * last {
                return Ok((change < STANDS).then_some(alpha));
            }
            alpha.iter_mut().zip(h).zip(&by).for_each(|((a, h), s)| *a -= h * s);
            if change <= SETTLED {
                return Ok(Some(alpha));
            }
            last = change;
        }
        Ok((last < STANDS).then_some(alpha))
    }

    /// A step with sufficient decrease. With r the largest slack of the step, length `ln(1+r)/r` suffices if H is exact (Sun
    /// and Tran-Dinh 2019, (24)), so backtracking need not go much below it.
    fn line_search(&self, of_step: &[f64], decrement: f64) -> Option<f64> {
        let at = |length: f64| {
            let of_block = |((slacks, step), open): ((&[f64], &[f64]), &[bool])| -> f64 {
                let moved = slacks.iter().zip(step).zip(open).filter(|(_, open)| **open);
                moved.map(|((s, d), _)| softplus(-(s + length * d))).sum()
            };
            let blocks = self.slacks.par_chunks(BLOCK).zip(of_step.par_chunks(BLOCK)).zip(self.open.par_chunks(BLOCK));
            sum(blocks.map(of_block).collect::<Vec<f64>>())
        };
        let now = at(0.0);
        let range = self.size(of_step);
        let floor = SHORTEST_STEP * (range.ln_1p() / range).min(1.0);
        let mut length = 1.0;
        while length > floor {
            // An increase within the rounding error of the sum is not an increase.
            if at(length) <= now - DECREASE * length * decrement + SUM_ROUNDING * now {
                return (decrement > NO_DECREMENT * now).then_some(length);
            }
            length *= 0.5;
        }
        None
    }

    /// The iterate and the step, projected to vanish on the boundary, and combined as `v + m·d` with an m ≥ 0 at which no
    /// open constraint is violated. Of several directions the one that settles most constraints.
    fn combined_directions(&self, step: &Coef, of_step: &[f64]) -> Result<Option<(Coef, Vec<f64>)>> {
        let size = self.size(of_step);
        let mut best: Option<(usize, Coef, Vec<f64>)> = None;
        let mut last = None;
        for near in NEAR_BOUNDARY {
            let on_it = |(s, open): (&f64, &bool)| f64::from(u8::from(*open && s.abs() <= near * size));
            let boundary: Vec<f64> = of_step.iter().zip(&self.open).map(on_it).collect();
            // A wider tolerance with the same boundary gives the same candidates.
            if last.as_ref() == Some(&boundary) {
                continue;
            }
            let gram = self.gram(&boundary)?;
            let of_boundary = factor(&gram, BOUNDARY_PIVOT);
            let clean = |v: &Coef| cleaned(&cleaned(v, &gram, &of_boundary), &gram, &of_boundary);
            let (v, d) = (clean(&self.v), clean(step));
            let (of_v, of_d) = (cone_slacks(self.risk, &v, self.watch)?, cone_slacks(self.risk, &d, self.watch)?);
            let mut candidates = vec![v.clone(), d.clone()];
            candidates.extend(self.mixture(&of_v, &of_d).map(|m| v.moved(m, &d)));
            for candidate in candidates {
                let slacks = cone_slacks(self.risk, &candidate, self.watch)?;
                if self.separates(&slacks) {
                    let size = self.size(&slacks);
                    let strict =
                        slacks.iter().zip(&self.open).filter(|(s, open)| **open && **s > self.tolerance * size);
                    let strict = strict.count();
                    if best.as_ref().is_none_or(|(most, ..)| strict > *most) {
                        best = Some((strict, candidate, slacks));
                    }
                }
            }
            last = Some(boundary);
        }
        Ok(best.map(|(_, direction, slacks)| (direction, slacks)))
    }

    /// An m ≥ 0 at which `v + m·d` violates no open constraint; `None` if there is none.
    fn mixture(&self, of_v: &[f64], of_d: &[f64]) -> Option<f64> {
        let (v_size, d_size) = (self.size(of_v), self.size(of_d));
        let (mut low, mut high) = (0.0f64, f64::INFINITY);
        for ((v, d), _) in of_v.iter().zip(of_d).zip(&self.open).filter(|(_, open)| **open) {
            // A constraint with zero slack in both, up to rounding, is on the boundary and bounds m on neither side.
            if v.abs() <= ZERO_SLACK * v_size && d.abs() <= ZERO_SLACK * d_size {
                continue;
            }
            if *d > ZERO_SLACK * d_size {
                low = low.max(-v / d);
            } else if *d < -ZERO_SLACK * d_size {
                high = high.min(-v / d);
            } else if *v < 0.0 {
                return None;
            }
        }
        if low > high {
            return None;
        }
        // Twice the lower bound on m, plus enough for the step to contribute, within the upper bound.
        let wanted = 2.0 * low + v_size / d_size.max(f64::MIN_POSITIVE);
        let m = if wanted < high { wanted } else { 0.5 * (low + high) };
        m.is_finite().then_some(m)
    }
}

//! Finds a direction of recession when the maximum likelihood iterates diverge.
//!
//! On separated data Newton's iterates w grow and its steps d converge to a direction with `y d·x̃ ≥ 0` for the rows that
//! are not saturated; neither vanishes exactly on the rows of the boundary (I₀), where the slacks of the step are almost
//! zero. So both are projected by `v ← v − G⁺Gv` with G the Gram matrix of the constraints of I₀, and combined as `w + m·d`
//! with an m ≥ 0 at which no constraint is violated, if there is one. The witness is then checked by
//! [`crate::certify::check_direction`]; nothing here is trusted unchecked.

use crate::certify::{Separation, SeparationKind, check_direction, slacks};
use crate::error::Result;
use crate::linalg::{Factor, Square, factor};
use crate::objective::{Coef, CurvedLoss, Risk};
use crate::watch::Watch;

/// Relative to the largest slack of a step, what may belong to I₀: first what rounding leaves of zero, then more (only
/// 1e-4 before 8e31908). Chosen, not measured; every candidate is checked by [`check_direction`].
const NEAR_BOUNDARY: [f64; 3] = [1e-8, 1e-6, 1e-4];
/// On the unit-diagonal scale, pivots of the Gram matrix of I₀ below this are dependent, as in `cone::newton`. Chosen
/// (bench/constants.md): candidates are checked.
const BOUNDARY_PIVOT: f64 = 1e-10;
/// Slacks below this share of the largest are zero up to rounding, as in `cone::newton`.
const ZERO_SLACK: f64 = 1e-10;

/// Tries the iterate and the step as they are, then projected and combined. Of several quasi-complete directions the one
/// with the most rows strictly on their side is returned.
pub(crate) fn find<L: CurvedLoss>(
    risk: &Risk<'_, L>,
    iterate: &Coef,
    step: &Coef,
    watch: &Watch,
) -> Result<Option<Separation>> {
    let mut best: Option<Separation> = None;
    let mut consider = |found: Option<Separation>| {
        if let Some(found) = found
            && best.as_ref().is_none_or(|b| rank(&found) > rank(b))
        {
            best = Some(found);
        }
    };
    consider(check_direction(risk, iterate, watch)?);
    consider(check_direction(risk, step, watch)?);
    let of_step = slacks(risk, step, watch)?;
    let mut last = None;
    for near in NEAR_BOUNDARY {
        let constraints = boundary(risk, &of_step, near);
        // A wider tolerance with the same boundary gives the same candidate.
        if last.as_ref() != Some(&constraints) {
            let gram = risk.weighted_gram(&constraints, watch)?;
            let factor = factor(&gram, BOUNDARY_PIVOT);
            let clean = |v: &Coef| cleaned(&cleaned(v, &gram, &factor), &gram, &factor);
            if let Some(candidate) = combined(risk, &clean(iterate), &clean(step), watch)? {
                consider(check_direction(risk, &candidate, watch)?);
            }
        }
        last = Some(constraints);
    }
    Ok(best)
}

/// Complete before quasi-complete, more strict rows before fewer.
pub(crate) fn rank(found: &Separation) -> (bool, usize) {
    (found.kind == SeparationKind::Complete, found.strict_constraints)
}

/// The constraints on which a step has almost no slack: per row `Σ (e_own − e_other)(e_own − e_other)ᵀ`, packed.
fn boundary<L: CurvedLoss>(risk: &Risk<'_, L>, of_step: &[Vec<f64>], near: f64) -> Vec<f64> {
    let counted = |i: usize| risk.sample().weights.is_none_or(|w| w[i] > 0.0);
    let used = of_step.iter().enumerate().filter(|(i, _)| counted(*i));
    let largest = used.flat_map(|(_, row)| row).fold(0.0f64, |m, s| m.max(s.abs()));
    let (k, classes) = (risk.loss().n_scores(), risk.loss().n_classes());
    let fixed = classes - k;
    let pairs = k * (k + 1) / 2;
    let mut constraints = vec![0.0; of_step.len() * pairs];
    for (i, row) in of_step.iter().enumerate().filter(|(i, _)| counted(*i)) {
        let packed = &mut constraints[i * pairs..(i + 1) * pairs];
        let own = risk.sample().labels[i].index();
        let others = (0..classes).filter(|c| *c != own);
        for (other, slack) in others.zip(row) {
            if slack.abs() <= near * largest {
                add_outer_of_difference(packed, own, other, fixed);
            }
        }
    }
    constraints
}

/// `v − G⁺Gv`, twice: the second projection removes the rounding error that a large v leaves.
fn cleaned(v: &Coef, gram: &Square, factor: &Factor) -> Coef {
    let correction = factor.solve(&gram.multiply(v.as_slice()));
    v.moved(-1.0, &Coef::from_vec(correction, v.n_scores(), v.n_cols()))
}

/// `w + m·d` for an m ≥ 0 that violates no constraint; `None` if there is none.
fn combined<L: CurvedLoss>(risk: &Risk<'_, L>, iterate: &Coef, step: &Coef, watch: &Watch) -> Result<Option<Coef>> {
    let (of_iterate, of_step) = (slacks(risk, iterate, watch)?, slacks(risk, step, watch)?);
    let counted = |i: usize| risk.sample().weights.is_none_or(|w| w[i] > 0.0);
    let pairs = of_iterate.iter().zip(&of_step).enumerate().filter(|(i, _)| counted(*i));
    let pairs: Vec<(f64, f64)> = pairs.flat_map(|(_, (w, d))| w.iter().copied().zip(d.iter().copied())).collect();
    let size = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0f64, |m, v| m.max(v.abs()));
    let (w_size, d_size) = (size(&mut pairs.iter().map(|p| p.0)), size(&mut pairs.iter().map(|p| p.1)));
    let (mut low, mut high) = (0.0f64, f64::INFINITY);
    for (w, d) in pairs {
        // A constraint with zero slack in both, up to rounding, is on the boundary and bounds m on neither side.
        if w.abs() <= ZERO_SLACK * w_size && d.abs() <= ZERO_SLACK * d_size {
            continue;
        }
        if d > ZERO_SLACK * d_size {
            low = low.max(-w / d);
        } else if d < -ZERO_SLACK * d_size {
            high = high.min(-w / d);
        } else if w < 0.0 {
            return Ok(None);
        }
    }
    if low > high {
        return Ok(None);
    }
    // Twice the lower bound on m, plus enough for the step to contribute, within the upper bound.
    let wanted = 2.0 * low + w_size / d_size.max(f64::MIN_POSITIVE);
    let m = if wanted < high { wanted } else { 0.5 * (low + high) };
    Ok(m.is_finite().then(|| iterate.moved(m, step)))
}

/// Adds `(e_own − e_other)(e_own − e_other)ᵀ` to a packed matrix over the free scores.
fn add_outer_of_difference(packed: &mut [f64], own: usize, other: usize, fixed: usize) {
    let at = |a: usize, b: usize| a.max(b) * (a.max(b) + 1) / 2 + a.min(b);
    let free = |class: usize| class.checked_sub(fixed);
    match (free(own), free(other)) {
        (Some(a), Some(b)) => {
            packed[at(a, a)] += 1.0;
            packed[at(b, b)] += 1.0;
            packed[at(a, b)] -= 1.0;
        }
        (Some(a), None) | (None, Some(a)) => packed[at(a, a)] += 1.0,
        (None, None) => {}
    }
}

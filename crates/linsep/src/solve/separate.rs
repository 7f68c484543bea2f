//! Finds a direction of recession when maximum likelihood runs away.
//!
//! On separated data Newton's iterates grow and its steps turn into a direction v with `y v·x̃ ≥ 0` for every row, up to
//! what the rows on the boundary still contribute. Such a candidate is cleaned by removing what it does on the rows
//! where it does almost nothing (I₀): `v ← v − G⁺Gv` with G the Gram of their constraints. The witness is then checked
//! by [`crate::certify::check_direction`]; nothing here is believed unchecked.

use crate::certify::{Separation, check_direction, slacks};
use crate::error::Result;
use crate::linalg::factor;
use crate::objective::{Coef, CurvedLoss, Risk};
use crate::watch::Watch;

/// Relative to the largest slack, what may belong to I₀.
const NEAR_BOUNDARY: f64 = 1e-4;

/// Tries the iterate and the step, each as it is and cleaned.
pub(super) fn find<L: CurvedLoss>(
    risk: &Risk<'_, L>,
    iterate: &Coef,
    step: &Coef,
    watch: &Watch,
) -> Result<Option<Separation>> {
    for candidate in [iterate, step] {
        if let Some(found) = check_direction(risk, candidate, watch)? {
            return Ok(Some(found));
        }
    }
    for candidate in [step, iterate] {
        if let Some(cleaned) = clean(risk, candidate, watch)?
            && let Some(found) = check_direction(risk, &cleaned, watch)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn clean<L: CurvedLoss>(risk: &Risk<'_, L>, direction: &Coef, watch: &Watch) -> Result<Option<Coef>> {
    let slacks = slacks(risk, direction, watch)?;
    let largest = slacks.iter().flatten().fold(0.0f64, |m, s| m.max(s.abs()));
    // A candidate with a clear violation is no candidate.
    if !largest.is_finite() || slacks.iter().flatten().any(|s| *s < -NEAR_BOUNDARY * largest) {
        return Ok(None);
    }
    let (k, classes) = (risk.loss().n_scores(), risk.loss().n_classes());
    let fixed = classes - k;
    let pairs = k * (k + 1) / 2;
    let mut constraints = vec![0.0; slacks.len() * pairs];
    for (i, row) in slacks.iter().enumerate() {
        let packed = &mut constraints[i * pairs..(i + 1) * pairs];
        let own = risk.sample().labels[i].index();
        let others: Vec<usize> = if k == 1 { vec![1 - own] } else { (0..classes).filter(|c| *c != own).collect() };
        for (other, slack) in others.iter().zip(row) {
            if *slack <= NEAR_BOUNDARY * largest {
                add_outer_of_difference(packed, own, *other, fixed);
            }
        }
    }
    let gram = risk.weighted_gram(&constraints, watch)?;
    let reached = gram.multiply(direction.as_slice());
    let correction = factor(&gram, 1e-10).solve(&reached);
    let values = direction.as_slice().iter().zip(&correction).map(|(v, c)| v - c).collect();
    Ok(Some(Coef::from_vec(values, direction.n_scores(), direction.n_cols())))
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

//! Where Newton's method starts.

use super::Newton;
use crate::error::Result;
use crate::objective::{Coef, Conjugate, Penalty, Risk};
use crate::solve::Stop;
use crate::solve::part::RowPart;
use crate::watch::Watch;

/// The solution on evenly spaced rows: close enough to save most passes over all of them. `None` where the data is too
/// small for it to pay, or where the sample misses a class.
pub(super) fn subsample_start<L: Conjugate + Clone>(risk: &Risk<'_, L>, watch: &Watch) -> Result<Option<Coef>> {
    let sample = risk.sample();
    let n = sample.labels.len();
    let unknowns = risk.loss().n_scores() * (risk.n_cols() + 1);
    let wanted = (n / 16).max(40 * unknowns).max(4096);
    if wanted > n / 4 {
        return Ok(None);
    }
    let rows: Vec<usize> = (0..wanted).map(|i| i * n / wanted).collect();
    let part = RowPart::of(sample, risk.loss().n_scores(), &rows)?;
    let small = part.risk(sample, risk.loss().clone(), risk.penalty().clone(), risk.intercept());
    if small.class_totals().contains(&0.0) {
        return Ok(None);
    }
    let quick = Newton { tolerance: 1e-3, max_iterations: 40 };
    let solved = quick.solve_unproved(&small, Some(&small.start()), watch)?;
    Ok(match solved.stop {
        Stop::Converged => Some(solved.point.coef),
        Stop::IterationLimit if !risk.penalty().is_none() => Some(solved.point.coef),
        _ => None,
    })
}

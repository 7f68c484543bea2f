//! Where Newton's method starts.

use super::{Looks, Newton};
use crate::error::Result;
use crate::objective::{Coef, Conjugate, Penalty, Risk};
use crate::solve::Stop;
use crate::solve::smooth::part::RowPart;
use crate::watch::Watch;

/// A sixteenth of the rows gives the start: with it logistic-dense takes three passes (bench/README.md). Chosen
/// (bench/constants.md) against other shares: only the time depends on it.
const SHARE: usize = 16;
/// Rows per unknown at least, so that the sample determines the coefficients to a fraction of their size. Chosen
/// (bench/constants.md).
const PER_UNKNOWN: usize = 40;
/// Fewer rows than this are solved as fast without a start. Chosen (bench/constants.md).
const FEWEST: usize = 4096;
/// The sample has at most one row in so many, or it costs more than it saves. Chosen (bench/constants.md).
const LARGEST: usize = 4;
/// The sample differs from the rows by more than this tolerance, so more precision is wasted. Chosen, not measured.
const QUICK: Newton = Newton { tolerance: 1e-3, max_iterations: 40 };

/// The solution on evenly spaced rows: close enough to save most passes over all of them. `None` where the data is too
/// small for it to pay, or where the sample misses a class.
pub(super) fn subsample_start<L: Conjugate + Clone>(risk: &Risk<'_, L>, watch: &Watch) -> Result<Option<Coef>> {
    let sample = risk.sample();
    let n = sample.labels.len();
    let unknowns = risk.loss().n_scores() * (risk.n_cols() + 1);
    let wanted = (n / SHARE).max(PER_UNKNOWN * unknowns).max(FEWEST);
    if wanted > n / LARGEST {
        return Ok(None);
    }
    let rows: Vec<usize> = (0..wanted).map(|i| i * n / wanted).collect();
    let part = RowPart::of(sample, risk.loss().n_scores(), &rows)?;
    let small = part.risk(sample, risk.loss().clone(), risk.penalty().clone(), risk.intercept());
    if small.class_totals().contains(&0.0) {
        return Ok(None);
    }
    // Rows that are separated among few need not be among all: nobody asks for their direction.
    let solved = QUICK.solve_looking(&small, Some(&small.start()), Looks::OnlyDoubts, watch)?;
    Ok(match solved.stop {
        Stop::Converged => Some(solved.point.coef),
        Stop::IterationLimit if !risk.penalty().is_none() => Some(solved.point.coef),
        _ => None,
    })
}

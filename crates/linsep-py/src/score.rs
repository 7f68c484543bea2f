//! From the scores of rows to what Python asks of them.

use linsep::artifact;
use linsep::decide;
use linsep::design::Design;
use linsep::error::Error;
use linsep::table::Class;
use linsep::watch::Watch;
use numpy::{PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::sync::OnceLock;

/// Up to so many numbers, a prediction is made here and now, without other threads.
const SMALL: usize = 1 << 14;

/// The classes of a few dense rows by a linear model whose largest score decides; `None` for anything else, and for
/// features that are no numbers.
pub(crate) fn few_rows(model: &artifact::Model, x: &Bound<'_, PyAny>) -> Option<Vec<Class>> {
    let array = x.cast::<PyArray2<f64>>().ok()?;
    let linear = model.discriminant.as_linear()?;
    let (rows, cols, k) = (array.shape()[0], array.shape()[1], linear.n_scores());
    if rows == 0 || rows * cols.max(k) > SMALL || cols != linear.n_cols() || !array.is_c_contiguous() {
        return None;
    }
    // SAFETY: read while attached, and nothing else runs meanwhile.
    let values = unsafe { array.as_slice() }.ok()?;
    let mut scores = vec![0.0; rows * k];
    linear.dense(values, &mut scores);
    scores.iter().all(|z| z.is_finite()).then(|| decide::classes(&scores, model.classes.len()))
}

/// Fills `width` numbers per row from the scores of blocks of rows.
pub(crate) fn scored<T: Send>(
    model: &artifact::Model,
    design: &dyn Design,
    width: usize,
    out: &mut [T],
    watch: &Watch,
    finish: &(impl Fn(&artifact::Model, &[f64], &mut [T]) -> linsep::Result<()> + Sync),
) -> linsep::Result<()> {
    if !model.offsets.is_empty() {
        return Err(Error::usage("this model adds offset columns to its scores, which a matrix does not have")
            .help("predict from a table"));
    }
    let failed: OnceLock<Error> = OnceLock::new();
    model.discriminant.each_block(design, watch, width, out, |scores, out| {
        let ok = match scores.iter().all(|z| z.is_finite()) {
            true => finish(model, scores, out),
            false => Err(not_finite(scores)),
        };
        if let Err(error) = ok {
            let _ = failed.set(error);
        }
    })?;
    failed.into_inner().map_or(Ok(()), Err)
}

/// Scores that are no numbers come of features that are none.
fn not_finite(scores: &[f64]) -> Error {
    let what = if scores.iter().any(|z| z.is_nan()) { "NaN" } else { "infinity or a value too large" };
    Error::data(format!("Input X contains {what}.")).help("fill the missing cells in, or leave their rows out")
}

/// The class of every row, −1 where there is none.
pub(crate) fn codes(model: &artifact::Model, scores: &[f64], out: &mut [i64]) -> linsep::Result<()> {
    let decided = model.decision.classes(&model.deciding_scores(scores.to_vec()), model.classes.len())?;
    out.iter_mut().zip(decided).for_each(|(code, class)| *code = class.map_or(-1, |c| c.index() as i64));
    Ok(())
}

/// Every class's part in the decision: its score, or its votes and, to tell apart classes with as many, a sum of scores that
/// weighs less than half a vote.
pub(crate) fn class_scores(model: &artifact::Model, scores: &[f64], out: &mut [f64]) -> linsep::Result<()> {
    let classes = model.classes.len();
    let parts = model.score_parts();
    if let (Some(link), true) = (model.method.link(), parts.is_empty()) {
        // Whose sign decides.
        out.iter_mut().zip(scores).for_each(|(out, z)| *out = link.log_odds(*z));
        return Ok(());
    }
    if parts.iter().all(|p| p.against.is_none()) {
        out.copy_from_slice(scores);
        return Ok(());
    }
    for (z, out) in scores.chunks_exact(parts.len()).zip(out.chunks_exact_mut(classes)) {
        let (mut votes, mut sums) = (vec![0.0; classes], vec![0.0; classes]);
        for (part, z) in parts.iter().zip(z) {
            let Some(other) = part.against else { continue };
            let (own, other) = (part.class.index(), other.index());
            votes[if *z > 0.0 { own } else { other }] += 1.0;
            sums[own] += z;
            sums[other] -= z;
        }
        for (k, out) in out.iter_mut().enumerate() {
            *out = votes[k] + sums[k] / (3.0 * (sums[k].abs() + 1.0));
        }
    }
    Ok(())
}

pub(crate) fn probabilities(model: &artifact::Model, scores: &[f64], out: &mut [f64]) -> linsep::Result<()> {
    if model.calibration.is_none() && model.true_priors.is_none() && model.method.link().is_none() {
        decide::probabilities_into(scores, model.classes.len(), out);
    } else {
        decide::probabilities_into(&model.deciding_scores(scores.to_vec()), model.classes.len(), out);
    }
    Ok(())
}

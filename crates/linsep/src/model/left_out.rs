//! Every row scored by the fit to all the others, without fitting again.

use crate::design::{Design, Pass, Rows, Units};
use crate::error::Result;
use crate::watch::Watch;

/// A row without which less than this share of its own direction is left decides about a column alone: the formula divides by
/// that share, so that it keeps twelve digits at least, and whether the column can still be used is for a fit to say. Chosen.
pub(super) const LEFT: f64 = 1e-3;

/// Scores of rows by fits that did not see them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowsLeftOut {
    /// Row by row, as the discriminant of the fit without that row gives them.
    pub(crate) scores: Vec<f64>,
    /// Rows that the formula cannot leave out, rising; their scores are not numbers. A fit without them has to be made.
    pub(crate) open: Vec<usize>,
}

/// Asks `score` about every row, in given units and in whole; it returns false where the formula does not hold.
pub(super) fn for_rows(
    design: &dyn Design,
    units: &Units,
    scores: usize,
    watch: &Watch,
    score: impl Fn(usize, &[f64], &mut [f64]) -> bool + Sync,
) -> Result<RowsLeftOut> {
    let shape = design.shape();
    let mut out = vec![f64::NAN; shape.rows * scores];
    let one = |open: &mut Vec<usize>, row: usize, values: &[f64], out: &mut [f64]| {
        if !score(row, values, out) || out.iter().any(|z| !z.is_finite()) {
            out.fill(f64::NAN);
            open.push(row);
        }
    };
    let open = Pass::new(design, units).reduce(
        watch,
        (scores, &mut out),
        Vec::new,
        |open: &mut Vec<usize>, range, rows, out| {
            match rows {
                Rows::Dense(values) => {
                    let rows = values.chunks_exact(shape.cols.max(1)).zip(out.chunks_exact_mut(scores)).zip(range);
                    rows.for_each(|((values, out), row)| one(open, row, values, out));
                }
                Rows::Csr(sparse) => {
                    let zero: Vec<f64> =
                        units.centre().iter().zip(units.scale()).map(|(centre, scale)| -centre / scale).collect();
                    for ((at, row), out) in range.enumerate().zip(out.chunks_exact_mut(scores)) {
                        let mut values = zero.clone();
                        let (columns, entries) = sparse.row(at);
                        let scaled = |(c, v): (&u32, &f64)| (*c as usize, v / units.scale()[*c as usize]);
                        columns.iter().zip(entries).map(scaled).for_each(|(c, v)| values[c] += v);
                        one(open, row, &values, out);
                    }
                }
            }
            Ok(())
        },
        |open, more| open.extend(more),
    )?;
    Ok(RowsLeftOut { scores: out, open })
}

//! Scores of stored coefficients and how far rounding may have moved them.

use crate::design::{Pass, Rows, TurnedRows, Units, spread};
use crate::error::Result;
use crate::linalg::multiply_rows;
use crate::numeric::rounding_bound;
use crate::objective::{Coef, Loss, Penalty, Risk};
use crate::watch::Watch;

/// Scores with offsets of rows in memory, row by row, each with a bound on its distance from the real number it stands for.
pub struct ScoresWithErrors<'a> {
    pub(super) values: Vec<f64>,
    pub(super) errors: Vec<f64>,
    /// The rows in another basis, where they were turned into one.
    pub(super) turned: Option<TurnedBasis<'a>>,
}

/// Rows in orthonormal combinations of their columns.
pub(super) struct TurnedBasis<'a> {
    pub(super) rows: TurnedRows<'a>,
    pub(super) units: Units,
    /// How far rounding may have moved each row, in length.
    pub(super) row_errors: Vec<f64>,
}

/// What underflow may add to a sum of so many products.
fn tiny(terms: usize) -> f64 {
    (terms + 4) as f64 * 2.0 * f64::from_bits(1)
}

/// One pass. The real score is `Σ ŵ(x−c)σ⁻¹ + b + o` with the doubles of the data; an entry in units has two roundings, a
/// coefficient that was stored in the units of its column (perhaps as one of a difference) at most four, so that with
/// those of the sum, in any order, `|error| ≤ γ_{d+12}(|b| + |o| + Σ|ŵx̂|)` (Higham 2002, section 3.1).
pub(super) fn scores_with_errors<'a, L: Loss, P: Penalty>(
    risk: &Risk<'a, L, P>,
    coef: &Coef,
    watch: &Watch,
) -> Result<ScoresWithErrors<'a>> {
    let (sample, k, cols) = (risk.sample(), coef.n_scores(), coef.n_cols());
    let sizes: Vec<f64> = coef.weights().iter().map(|w| w.abs()).collect();
    let rounding = rounding_bound(cols + 12) * (1.0 + rounding_bound(cols + 12));
    let mut both = vec![0.0; sample.labels.len() * 2 * k];
    Pass::new(sample.design, sample.units).partials_of(1).reduce(
        watch,
        (2 * k, &mut both),
        || (Vec::new(), Vec::new(), Vec::new()),
        |(room, z, size), range, mut rows, out| {
            let values: &mut [f64] = match &mut rows {
                Rows::Dense(values) => values,
                Rows::Csr(sparse) => {
                    spread(sparse, sample.units, room);
                    room
                }
            };
            z.resize(range.len() * k, 0.0);
            size.resize(range.len() * k, 0.0);
            multiply_rows(values, coef.weights(), cols, k, z);
            values.iter_mut().for_each(|x| *x = x.abs());
            multiply_rows(values, &sizes, cols, k, size);
            for (at, (out, i)) in out.chunks_exact_mut(2 * k).zip(range).enumerate() {
                for c in 0..k {
                    let (b, o) = (coef.intercept()[c], sample.offsets.map_or(0.0, |o| o[i * k + c]));
                    out[c] = z[at * k + c] + b + o;
                    out[k + c] = rounding * (size[at * k + c] + b.abs() + o.abs()) + tiny(cols);
                }
            }
            Ok(())
        },
        |_, _| (),
    )?;
    let part = |from: usize| both.chunks_exact(2 * k).flat_map(|row| row[from..from + k].iter().copied()).collect();
    Ok(ScoresWithErrors { values: part(0), errors: part(k), turned: None })
}

//! Scores, with proved bounds on what rounding did to them.

use super::Risk;
use crate::design::Rows;
use crate::error::Result;
use crate::numeric::{rounding_bound, vectorised};
use crate::objective::rows::{GradientSums, Scorer};
use crate::objective::{Coef, Loss, Penalty};
use crate::watch::Watch;

/// Roundings of a score beside those of its sum: units (difference, reciprocal, product), the weight in them, the
/// intercept, the offset, and some to spare for the evaluation of the bound itself.
const PER_SCORE: usize = 12;
/// The same of an entry of `Σ r x̂/S`: weight, units, merging of partial sums, division.
const PER_SUM: usize = 24;

/// The scores of all rows at some coefficients, and how far rounding may have taken them, and sums over rows, from their
/// values in exact arithmetic. Exact are the stored numbers: features, centres, scales, weights, offsets.
pub(crate) struct SizedScores {
    /// With offsets, row by row.
    pub(crate) scores: Vec<f64>,
    /// Per row: none of its scores is further than this from the exact one.
    pub(crate) errors: Vec<f64>,
    /// An upper bound on `√(Σ s x̂²/S)` of every column.
    pub(crate) column_sizes: Vec<f64>,
    /// [`Risk::weighted_sums`] of values r over S is within this times `√(Σ r²/(s S))` times the size of the column.
    pub(crate) sum_rounding: f64,
}

/// What the rows of a leaf add up to.
type Squares = Vec<f64>;

impl<L: Loss, P: Penalty> Risk<'_, L, P> {
    /// One pass for scores and their errors.
    pub(crate) fn sized_scores(&self, coef: &Coef, watch: &Watch) -> Result<SizedScores> {
        let (k, cols, n) = (self.loss.n_scores(), self.n_cols(), self.sample.labels.len());
        let (units, sparse) = (self.sample.units, self.sparse);
        let scorer = Scorer::new(coef, units, sparse);
        // The largest weight of a column over the scores bounds them all.
        let largest = |j: usize| (0..k).map(|c| coef.weights_of(c)[j].abs()).fold(0.0, f64::max);
        let mut sizes: Vec<f64> = (0..cols).map(largest).collect();
        let mut constant = coef.intercept().iter().fold(0.0f64, |m, b| m.max(b.abs()));
        let mut roundings = PER_SCORE;
        if sparse {
            sizes.iter_mut().zip(units.inverse_scale()).for_each(|(w, inverse)| *w *= inverse);
            let centred = units.centre().iter().zip(&sizes).map(|(c, w)| (c * w).abs()).sum::<f64>();
            if centred > 0.0 {
                constant += centred;
                roundings += cols;
            }
        }
        // Products that underflow lose at most half of the smallest double, times a weight.
        let heaviest = sizes.iter().fold(1.0f64, |m, w| m.max(*w));
        let lost = f64::MIN_POSITIVE * f64::EPSILON * (cols + 4) as f64 * (1.0 + heaviest);
        let mut out = vec![0.0; n * (k + 1)];
        let pass = self.pass().partials_of(cols.saturating_mul(16));
        let squares = pass.reduce(
            watch,
            (k + 1, &mut out),
            || vec![0.0; cols],
            |squares: &mut Squares, range, rows, out| {
                let m = range.len();
                let (mut scores, mut size) = (vec![0.0; m * k], vec![0.0; m]);
                scorer.scores(&rows, &mut scores);
                let weights = Self::part(self.sample.weights, &range, 1);
                // Terms of every row's scores.
                let mut terms = vec![cols; m];
                match &rows {
                    Rows::Dense(values) => {
                        absolute_products(values, &sizes, &mut size);
                        add_squares(values, weights, squares);
                    }
                    Rows::Csr(rows) => {
                        for i in 0..m {
                            let s = weights.map_or(1.0, |w| w[i]);
                            let (columns, values) = rows.row(i);
                            terms[i] = columns.len();
                            for (c, v) in columns.iter().zip(values) {
                                size[i] += (v * sizes[*c as usize]).abs();
                                squares[*c as usize] += s * v * v;
                            }
                        }
                    }
                }
                let offsets = Self::part(self.sample.offsets, &range, k);
                for i in 0..m {
                    let (z, out) = (&scores[i * k..][..k], &mut out[i * (k + 1)..][..k + 1]);
                    let mut largest = 0.0f64;
                    for c in 0..k {
                        let offset = offsets.map_or(0.0, |o| o[i * k + c]);
                        out[c] = z[c] + offset;
                        largest = largest.max(offset.abs());
                    }
                    out[k] = rounding_bound(terms[i] + roundings) * (constant + size[i] + largest) + lost;
                }
                Ok(())
            },
            |a, b| a.iter_mut().zip(b).for_each(|(a, b)| *a += b),
        )?;
        let total = self.total_weight;
        let about = 1.0 + rounding_bound(n + PER_SUM);
        let column_sizes = (0..cols).map(|j| {
            // Squares that underflow are of values below the root of the smallest double.
            let stored = (squares[j] / total).sqrt() * about + 1e-160;
            let (inverse, centre) = (units.inverse_scale()[j], units.centre()[j].abs());
            if sparse { (stored + centre) * inverse * about } else { stored }
        });
        let longest = if GradientSums::wide(self.sample.design)? { n } else { self.pass().longest_sum().min(n) };
        let mut scores = Vec::with_capacity(n * k);
        let mut errors = Vec::with_capacity(n);
        for row in out.chunks_exact(k + 1) {
            scores.extend_from_slice(&row[..k]);
            errors.push(row[k]);
        }
        Ok(SizedScores {
            scores,
            errors,
            column_sizes: column_sizes.collect(),
            sum_rounding: rounding_bound(longest + PER_SUM),
        })
    }
}

vectorised! {
    /// `Σ_j |x_j| w_j` of every row, for `w ≥ 0`.
    fn absolute_products(rows: &[f64], w: &[f64], out: &mut [f64]) {
        let cols = w.len();
        for (x, out) in rows.chunks_exact(cols.max(1)).zip(out) {
            let mut lanes = [0.0; 8];
            let (whole, rest) = (cols / 8 * 8, cols % 8);
            for (x, w) in x[..whole].chunks_exact(8).zip(w[..whole].chunks_exact(8)) {
                for lane in 0..8 {
                    lanes[lane] = x[lane].abs().mul_add(w[lane], lanes[lane]);
                }
            }
            for j in whole..whole + rest {
                lanes[j - whole] = x[j].abs().mul_add(w[j], lanes[j - whole]);
            }
            *out = lanes.iter().sum();
        }
    }

    /// `Σ s x²` of every column.
    fn add_squares(rows: &[f64], weights: Option<&[f64]>, squares: &mut [f64]) {
        let cols = squares.len();
        for (i, x) in rows.chunks_exact(cols.max(1)).enumerate() {
            let s = weights.map_or(1.0, |w| w[i]);
            // A row without weight may hold anything, even what is not a number.
            if s == 0.0 {
                continue;
            }
            for (sum, x) in squares.iter_mut().zip(x) {
                *sum = (x * s).mul_add(*x, *sum);
            }
        }
    }
}

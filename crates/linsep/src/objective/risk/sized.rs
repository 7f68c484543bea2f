//! Scores, with proved bounds on what rounding did to them.

use super::Risk;
use crate::design::Rows;
use crate::error::Result;
use crate::numeric::{Merge, rounding_bound, vectorised};
use crate::objective::rows::GradientSums;
use crate::objective::scorer::Scorer;
use crate::objective::{Coef, Loss, Penalty};
use crate::watch::Watch;
use serde::{Deserialize, Serialize};

/// Roundings of a score beside those of its sum: units (difference, reciprocal, product), the weight in them, the
/// intercept, the offset, and some to spare for the evaluation of the bound itself.
const PER_SCORE: usize = 12;
/// Roundings of an entry of `Σ r x̂/S` beside those of its sum: weight, units, merging of partial sums, division.
const PER_SUM: usize = 24;
/// Squares that underflow are of values below the root of the least double, 2e-162.
const UNDERFLOWN: f64 = 1e-160;

/// The scores of all rows at some coefficients, and how far rounding may have taken them, and sums over rows, from their
/// values in exact arithmetic. Exact are the stored numbers: features, centres, scales, weights, offsets.
pub(crate) struct SizedScores {
    /// With offsets, row by row.
    pub(crate) scores: Vec<f64>,
    /// Per row: none of its scores is further than this from the exact one.
    pub(crate) errors: Vec<f64>,
    /// What all of them have in common.
    pub(crate) sizes: RowSizes,
}

/// Upper bounds on the sizes of some rows, of their columns, and of their scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowSizes {
    /// On ‖x̂‖ of every row that counts.
    pub longest_row: f64,
    /// On `√(Σ s x̂²/S)` of every column, S that of all rows; empty where only all of them together were asked for.
    pub column_sizes: Vec<f64>,
    /// On the length of these sizes.
    pub all_sizes: f64,
    /// On the error of a score.
    pub largest_error: f64,
    /// On the size of a score.
    pub largest_score: f64,
}

impl Merge for RowSizes {
    fn merge(&mut self, other: RowSizes) {
        match self.column_sizes.len() == other.column_sizes.len() {
            true => self.column_sizes.iter_mut().zip(other.column_sizes).for_each(|(a, b)| *a = length_of_two(*a, b)),
            // Sparse rows know the sizes of their columns without being asked, dense ones do not.
            false => self.column_sizes.clear(),
        }
        self.all_sizes = length_of_two(self.all_sizes, other.all_sizes);
        self.longest_row = self.longest_row.max(other.longest_row);
        self.largest_error = self.largest_error.max(other.largest_error);
        self.largest_score = self.largest_score.max(other.largest_score);
    }
}

/// `√(a² + b²)` of sizes, rounded up, without underflow.
fn length_of_two(a: f64, b: f64) -> f64 {
    let (low, high) = (a.min(b), a.max(b));
    match (a + b).is_finite() && low > 0.0 {
        true => high * (1.0 + (low / high) * (low / high)).sqrt() * (1.0 + rounding_bound(8)),
        // What is not a number must not be lost in a maximum.
        false => a + b,
    }
}

/// What the rows of a leaf add up to: Σ s x² of every column, and in units that of all and the largest of a row.
struct Squares {
    columns: Vec<f64>,
    /// Σ s x̂² of all rows and columns.
    all: f64,
    longest: f64,
}

impl<L: Loss, P: Penalty> Risk<'_, L, P> {
    /// One pass for scores and their errors, with the sizes of all columns where they are asked for one by one; `total` is
    /// S of all rows, also of those that are elsewhere.
    pub(crate) fn sized_scores(&self, coef: &Coef, by_column: bool, total: f64, watch: &Watch) -> Result<SizedScores> {
        let (k, cols, n) = (self.loss.n_scores(), self.n_cols(), self.sample.labels.len());
        let (units, sparse) = (self.sample.units, self.sparse);
        let inverse = units.inverse_scale();
        // Sparse rows are not in units, which a centre does not move into a sum of all columns.
        let by_column = by_column || (sparse && !units.is_identity());
        let kept = if by_column { cols } else { 0 };
        // The weights themselves are the sizes then, and looked at once.
        let fused = k == 1 && sparse && !by_column;
        let scorer = Scorer::new(coef, units, sparse);
        // The largest weight of a column over the scores bounds them all.
        let largest = |j: usize| (0..k).map(|c| coef.weights_of(c)[j].abs()).fold(0.0, f64::max);
        let mut sizes: Vec<f64> = if fused { Vec::new() } else { (0..cols).map(largest).collect() };
        let mut constant = coef.intercept().iter().fold(0.0f64, |m, b| m.max(b.abs()));
        let mut roundings = PER_SCORE;
        if sparse && !fused {
            sizes.iter_mut().zip(units.inverse_scale()).for_each(|(w, inverse)| *w *= inverse);
            let centred = units.centre().iter().zip(&sizes).map(|(c, w)| (c * w).abs()).sum::<f64>();
            if centred > 0.0 {
                constant += centred;
                roundings += cols;
            }
        }
        // Products that underflow lose at most half of the smallest double, times a weight.
        let heaviest = if fused { coef.weights() } else { &sizes[..] }.iter().fold(1.0f64, |m, w| m.max(w.abs()));
        let lost = f64::MIN_POSITIVE * f64::EPSILON * (cols + 4) as f64 * (1.0 + heaviest);
        let mut out = vec![0.0; n * (k + 1)];
        let pass = self.pass().partials_of(kept.saturating_mul(16).max(1));
        let squares = pass.reduce(
            watch,
            (k + 1, &mut out),
            || Squares { columns: vec![0.0; kept], all: 0.0, longest: 0.0 },
            |squares: &mut Squares, range, rows, out| {
                let m = range.len();
                let (mut scores, mut size) = (vec![0.0; m * k], vec![0.0; m]);
                if !fused {
                    scorer.scores(&rows, &mut scores);
                }
                let weights = Self::part(self.sample.weights, &range, 1);
                // Terms of every row's scores.
                let mut terms = vec![cols; m];
                match &rows {
                    Rows::Dense(values) => {
                        absolute_products(values, &sizes, &mut size);
                        add_squares(values, cols, weights, &mut squares.columns);
                        row_squares(values, cols, weights, &mut squares.all, &mut squares.longest);
                    }
                    // One look at each weight does for the score, its size and the length of the row.
                    Rows::Csr(rows) if fused => {
                        for i in 0..m {
                            let s = weights.map_or(1.0, |w| w[i]);
                            let (columns, values) = rows.row(i);
                            terms[i] = columns.len();
                            let (score, length) = scorer.sized(columns, values, &mut size[i]);
                            scores[i] = score;
                            if s > 0.0 {
                                squares.all += s * length;
                                squares.longest = squares.longest.max(length);
                            }
                        }
                    }
                    Rows::Csr(rows) => {
                        for i in 0..m {
                            let s = weights.map_or(1.0, |w| w[i]);
                            let (columns, values) = rows.row(i);
                            terms[i] = columns.len();
                            let mut length = 0.0;
                            for (c, v) in columns.iter().zip(values) {
                                size[i] += (v * sizes[*c as usize]).abs();
                                if by_column {
                                    squares.columns[*c as usize] += s * v * v;
                                }
                                length += (v * inverse[*c as usize]) * (v * inverse[*c as usize]);
                            }
                            if s > 0.0 {
                                squares.all += s * length;
                                squares.longest = squares.longest.max(length);
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
            |a, b| {
                a.columns.iter_mut().zip(b.columns).for_each(|(a, b)| *a += b);
                a.all += b.all;
                a.longest = a.longest.max(b.longest);
            },
        )?;
        // The part of these rows in the size of a column of ones.
        let share = (self.total_weight / total).sqrt();
        let about = 1.0 + rounding_bound(n + PER_SUM);
        let column_sizes: Vec<f64> = (0..kept)
            .map(|j| {
                // Squares that underflow are of values below the root of the smallest double.
                let stored = (squares.columns[j] / total).sqrt() * about + UNDERFLOWN;
                let (inverse, centre) = (units.inverse_scale()[j], units.centre()[j].abs() * share);
                if sparse { (stored + centre) * inverse * about } else { stored }
            })
            .collect();
        let all_sizes = match by_column {
            true => column_sizes.iter().map(|s| s * s).sum::<f64>().sqrt() * (1.0 + rounding_bound(cols + PER_SUM)),
            false => (squares.all / total).sqrt() * about * (1.0 + rounding_bound(cols + PER_SUM)) + UNDERFLOWN,
        };
        let mut longest_row = squares.longest.sqrt() + UNDERFLOWN;
        if sparse {
            let centre = units.centre().iter().zip(inverse).map(|(c, i)| (c * i) * (c * i)).sum::<f64>();
            longest_row += centre.sqrt();
        }
        let mut scores = Vec::with_capacity(n * k);
        let mut errors = Vec::with_capacity(n);
        for row in out.chunks_exact(k + 1) {
            scores.extend_from_slice(&row[..k]);
            errors.push(row[k]);
        }
        let sizes = RowSizes {
            longest_row: longest_row * (1.0 + rounding_bound(cols + PER_SUM)),
            column_sizes,
            all_sizes,
            largest_error: errors.iter().copied().fold(0.0, f64::max),
            largest_score: scores.iter().fold(0.0f64, |m, z| m.max(z.abs())),
        };
        Ok(SizedScores { scores, errors, sizes })
    }

    /// Roundings in sequence of an entry of [`Risk::weighted_sums`]: those of values r over S are within the bound of so
    /// many times `√(Σ r²/(s S))` times the size of the column.
    pub(crate) fn sum_roundings(&self) -> Result<usize> {
        let n = self.sample.labels.len();
        let longest = if GradientSums::wide(self.sample.design)? { n } else { self.pass().longest_sum().min(n) };
        Ok(longest + PER_SUM)
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

    /// Adds `s x²` of every column, where there is room for it.
    fn add_squares(rows: &[f64], cols: usize, weights: Option<&[f64]>, squares: &mut [f64]) {
        if squares.is_empty() {
            return;
        }
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

    /// Adds `s Σx²` of every row, and keeps the largest `Σx²`.
    fn row_squares(rows: &[f64], cols: usize, weights: Option<&[f64]>, all: &mut f64, longest: &mut f64) {
        for (i, x) in rows.chunks_exact(cols.max(1)).enumerate() {
            let s = weights.map_or(1.0, |w| w[i]);
            if s == 0.0 {
                continue;
            }
            let mut lanes = [0.0; 8];
            let chunks = x.chunks_exact(8);
            let rest = chunks.remainder().iter().map(|x| x * x).sum::<f64>();
            for x in chunks {
                for lane in 0..8 {
                    lanes[lane] = x[lane].mul_add(x[lane], lanes[lane]);
                }
            }
            let length = lanes.iter().sum::<f64>() + rest;
            *all += s * length;
            *longest = longest.max(length);
        }
    }
}

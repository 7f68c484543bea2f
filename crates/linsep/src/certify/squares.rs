//! The distance of a least-squares fit from its optimum, rounding included.
//!
//! `F = Σ_t [Σ s ½ρ² / S + ½ Σ_j p_j v_j²]` with `ρ = v·x̃ − τ`, `x̃` the columns about the stored centre (and a one), is
//! quadratic: `F − F* = ½ ‖∇F‖²_{H⁻¹}`. For any matrix T, whoever computed it, with `‖TᵀHT − I‖ ≤ ε < 1`:
//!
//! `F − F* ≤ ½ ‖Tᵀ∇F‖²/(1−ε)` and `|v_j − v*_j| ≤ ‖T_j·‖ ‖Tᵀ∇F‖/(1−ε)`;
//!
//! ε < 1 also proves that H is regular, so that the optimum is unique. Both norms are bounded from one pass over the rows:
//! u = 2⁻⁵³, `γ_k = ku/(1−ku)`, sums of any order and with or without fused products (Higham 2002, chapters 3 and 4). With
//! `q = Tᵀx̃` of each row, |·| the root mean square over the rows, `κ_k = Σ_j |T_jk||x̃_j|` and `κ = ‖κ_·‖`:
//!
//! - the computed q is off by at most `γ_{m+2}κ_k` in the root mean square (Minkowski), the computed residual by
//!   `e = γ_{m+4}(Σ|v_j||x̃_j| + |τ|)`, which moves `Tᵀ∇F` by at most `√(1+ε)·e`;
//! - a Gram of rows is off by `γ_{2n+10}` of the product of the lengths of its columns, a sum of products likewise.
//!
//! Where T is moderate the Gram of x̃ itself is taken and T applied to it, at a loss of `γκ²`; where columns nearly
//! coincide each row is multiplied by T first, at a loss of `γκ`.

use super::{Certificate, CoefficientErrors};
use crate::design::{Design, Pass, Rows, Tile, Units};
use crate::error::Result;
use crate::linalg::{Square, gram_update, multiply_rows, weighted_rows_sum};
use crate::numeric::{CompensatedSum, UNIT, rounding_bound};
use crate::stats::whole_row;
use crate::table::Class;
use crate::watch::Watch;

/// Targets and penalties; the scores of the rows are `intercept + Σ weight·(x − centre)`.
pub struct SquaredTask<'a> {
    /// The features.
    pub design: &'a dyn Design,
    /// The class of every row.
    pub codes: &'a [Class],
    /// Frequencies of the rows.
    pub weights: Option<&'a [f64]>,
    /// The target of each class, score by score.
    pub targets: &'a [Vec<f64>],
    /// Penalty of each weight, `p/2·w²` in the units of its column.
    pub penalties: Vec<f64>,
    /// Penalty of the intercept; `None` where there is no intercept.
    pub intercept_penalty: Option<f64>,
    /// F at zero weights, for the relative gap.
    pub at_zero: f64,
}

/// Coefficients as a model stores them.
pub struct SquaredPoint<'a> {
    /// All weights of the first score, then of the second.
    pub weights: &'a [f64],
    /// What is taken off the columns.
    pub centre: &'a [f64],
    /// One per score; it may be off by a unit in the last place.
    pub intercept: &'a [f64],
}

/// `Tᵀ`, row by row, for the columns in use and, as the last one, the intercept if there is one.
pub struct Whitening<'a> {
    /// The columns in use, rising.
    pub columns: &'a [usize],
    /// Square, in the units of the columns.
    pub rows: &'a [f64],
    /// Whether rows are multiplied by T before their Gram matrix is formed.
    pub first: bool,
}

/// A certificate, and a Newton step from the point.
pub struct SquaredProof {
    /// F, computed row by row.
    pub objective: f64,
    /// [`Certificate::Quadratic`], or why there is none.
    pub certificate: Certificate,
    /// The Newton step, to be subtracted from the unknowns in use, score by score.
    pub step: Vec<Vec<f64>>,
    /// Whether the gradient exceeds its rounding error, so that the step improves the point.
    pub improvable: bool,
}

/// What underflow may add to a sum: far more than the least double times the number of its terms.
const TINY: f64 = 1e-290;
/// Relative error of an objective that its ten printed digits would show.
const VISIBLE: f64 = 1e-11;
/// More than the rounding of the bounds' own arithmetic: sums of up to 2000² positive terms, 4e6 units of 1.1e-16.
const UP: f64 = 1.0 + 1e-8;

fn norm(v: impl IntoIterator<Item = f64>) -> f64 {
    v.into_iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// What a pass over the rows gathers.
struct SquaresSums {
    gram: Square,
    /// Score by score.
    gradient: Vec<f64>,
    squares: Vec<f64>,
    /// `Σ s x̃_j²`.
    lengths: Vec<f64>,
    total: f64,
}

/// The unknowns of the columns in use in units of powers of two, which cost no rounding.
struct ScaledTargets<'a> {
    task: &'a SquaredTask<'a>,
    columns: &'a [usize],
    units: Units,
    /// The unknowns, score by score.
    unknowns: Vec<f64>,
    penalties: Vec<f64>,
    /// Tᵀ.
    whitening: Vec<f64>,
    first: bool,
    m: usize,
}

/// Bounds `F − F*` at a point and its distance from the optimum, among the models that use the same columns.
pub fn squares_gap(
    task: &SquaredTask<'_>,
    point: &SquaredPoint<'_>,
    whitening: &Whitening<'_>,
    watch: &Watch,
) -> Result<SquaredProof> {
    let scaled = ScaledTargets::new(task, point, whitening);
    let sums = scaled.pass(watch)?;
    let (mut proof, uncertain) = scaled.proof(&sums, point);
    // Where large weights cancel, residuals in doubles have too few digits for the objective that is stated.
    if uncertain > VISIBLE * proof.objective {
        let penalty = (0..task.targets.len()).map(|s| 0.5 * scaled.penalty(s)).sum::<f64>();
        proof.objective = 0.5 * mean_square(task, point, sums.total)? + penalty;
        if let Certificate::Quadratic { objective, .. } = &mut proof.certificate {
            *objective = proof.objective;
        }
    }
    Ok(proof)
}

/// `Σ s ρ² / S` of all scores, the residuals as exact sums but for terms of the square of a unit.
fn mean_square(task: &SquaredTask<'_>, point: &SquaredPoint<'_>, total: f64) -> Result<f64> {
    let (cols, rows) = (point.centre.len(), task.codes.len());
    let identity = Units::identity(cols);
    let (mut tile, mut values) = (Tile::default(), Vec::new());
    let mut sum = CompensatedSum::default();
    for row in (0..rows).filter(|row| task.weights.is_none_or(|w| w[*row] > 0.0)) {
        let values = whole_row(task.design.block(row..row + 1, &mut tile)?, &identity, &mut values);
        for (score, weights) in point.weights.chunks_exact(cols.max(1)).enumerate() {
            let mut residual = CompensatedSum::default();
            residual.add(point.intercept[score]);
            residual.add(-task.targets[score][task.codes[row].index()]);
            for ((x, c), w) in values.iter().zip(point.centre).zip(weights).filter(|(_, w)| **w != 0.0) {
                let difference = x - c;
                // What rounding took from it (Knuth), and from the product.
                let back = difference - x;
                let lost = (x - (difference - back)) - (c + back);
                let product = w * difference;
                residual.add(product);
                residual.add(w.mul_add(difference, -product));
                residual.add(w * lost);
            }
            let residual = residual.value();
            sum.add(task.weights.map_or(1.0, |w| w[row]) * residual * residual);
        }
    }
    Ok(sum.value() / total)
}

impl<'a> ScaledTargets<'a> {
    fn new(task: &'a SquaredTask<'a>, point: &SquaredPoint<'_>, whitening: &Whitening<'a>) -> ScaledTargets<'a> {
        let (columns, cols) = (whitening.columns, point.centre.len());
        let has_intercept = task.intercept_penalty.is_some();
        let m = columns.len() + usize::from(has_intercept);
        // Near the length of T's row for the column, which is about the inverse of the column's.
        let mut unit = vec![1.0; cols];
        for (at, j) in columns.iter().enumerate() {
            unit[*j] = power_of_two(norm((0..m).map(|k| whitening.rows[k * m + at])).recip());
        }
        let unit_of = |at: usize| columns.get(at).map_or(1.0, |j| unit[*j]);
        let scores = task.targets.len();
        let unknown = |score: usize, at: usize| match columns.get(at) {
            Some(j) => point.weights[score * cols + j] * unit[*j],
            None => point.intercept[score],
        };
        let penalty = |at: usize| match columns.get(at) {
            Some(j) => task.penalties[*j] / (unit[*j] * unit[*j]),
            None => task.intercept_penalty.unwrap_or(0.0),
        };
        ScaledTargets {
            columns,
            unknowns: (0..scores).flat_map(|s| (0..m).map(move |at| (s, at))).map(|(s, at)| unknown(s, at)).collect(),
            penalties: (0..m).map(penalty).collect(),
            whitening: (0..m * m).map(|at| whitening.rows[at] * unit_of(at % m)).collect(),
            units: Units::new(point.centre.to_vec(), unit),
            first: whitening.first,
            task,
            m,
        }
    }

    fn pass(&self, watch: &Watch) -> Result<SquaresSums> {
        let (m, scores) = (self.m, self.task.targets.len());
        let cols = self.units.centre().len();
        let new = || SquaresSums {
            gram: Square::zeros(m),
            gradient: vec![0.0; m * scores],
            squares: vec![0.0; scores],
            lengths: vec![0.0; m],
            total: 0.0,
        };
        Pass::new(self.task.design, &self.units).partials_of(m * m + cols).reduce(
            watch,
            (0, &mut []),
            new,
            |sum, range, rows, _| {
                let values = match rows {
                    Rows::Dense(values) => self.in_use(values, cols),
                    Rows::Csr(rows) => {
                        let mut values = vec![0.0; rows.len() * cols];
                        for (i, row) in values.chunks_exact_mut(cols.max(1)).enumerate() {
                            let (columns, entries) = rows.row(i);
                            columns.iter().zip(entries).for_each(|(c, v)| row[*c as usize] = *v);
                            let units = self.units.centre().iter().zip(self.units.inverse_scale());
                            row.iter_mut().zip(units).for_each(|(x, (c, s))| *x = (*x - c) * s);
                        }
                        self.in_use(&values, cols)
                    }
                };
                let weights = self.task.weights.map(|w| &w[range.clone()]);
                self.add(sum, &values, &self.task.codes[range], weights);
                Ok(())
            },
            |a, b| {
                a.gram.add(&b.gram);
                let add = |a: &mut [f64], b: &[f64]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                add(&mut a.gradient, &b.gradient);
                add(&mut a.squares, &b.squares);
                add(&mut a.lengths, &b.lengths);
                a.total += b.total;
            },
        )
    }

    /// The columns in use of some rows, and ones.
    fn in_use(&self, rows: &[f64], cols: usize) -> Vec<f64> {
        let mut out = Vec::with_capacity(rows.len() / cols.max(1) * self.m);
        for row in rows.chunks_exact(cols.max(1)) {
            out.extend(self.columns.iter().map(|j| row[*j]));
            out.extend((self.columns.len()..self.m).map(|_| 1.0));
        }
        out
    }

    fn add(&self, sum: &mut SquaresSums, rows: &[f64], codes: &[Class], weights: Option<&[f64]>) {
        let (m, scores) = (self.m, self.task.targets.len());
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let mut residuals = vec![0.0; codes.len() * scores];
        multiply_rows(rows, &self.unknowns, m, scores, &mut residuals);
        for (i, row) in residuals.chunks_exact_mut(scores).enumerate() {
            sum.total += weight(i);
            for (score, r) in row.iter_mut().enumerate() {
                *r -= self.task.targets[score][codes[i].index()];
                sum.squares[score] += weight(i) * *r * *r;
                *r *= weight(i);
            }
        }
        for (i, row) in rows.chunks_exact(m.max(1)).enumerate() {
            sum.lengths.iter_mut().zip(row).for_each(|(l, x)| *l += weight(i) * x * x);
        }
        let turned = self.first.then(|| {
            let mut turned = vec![0.0; rows.len()];
            multiply_rows(rows, &self.whitening, m, m, &mut turned);
            turned
        });
        let q = turned.as_deref().unwrap_or(rows);
        weighted_rows_sum(q, &residuals, m, scores, &mut sum.gradient);
        match weights {
            None => gram_update(&mut sum.gram, q, q),
            Some(weights) => {
                let rows = q.chunks_exact(m.max(1)).zip(weights);
                let left: Vec<f64> = rows.flat_map(|(q, s)| q.iter().map(move |x| s * x)).collect();
                gram_update(&mut sum.gram, &left, q);
            }
        }
    }

    /// The proof, and by how much the objective may be off.
    fn proof(&self, sums: &SquaresSums, point: &SquaredPoint<'_>) -> (SquaredProof, f64) {
        let (m, n, scores) = (self.m, self.task.codes.len(), self.task.targets.len());
        let row = |k: usize| &self.whitening[k * m..(k + 1) * m];
        let up = UP * (1.0 + rounding_bound(2 * n + 10));
        let lengths: Vec<f64> = sums.lengths.iter().map(|l| (l / sums.total).sqrt() * up).collect();
        let through = |sizes: &[f64]| norm((0..m).map(|k| row(k).iter().zip(sizes).map(|(t, l)| (t * l).abs()).sum()));
        let kappa = through(&lengths);
        // TᵀHT and how far it is from the identity at most.
        let (product, rounding, size) = self.product(sums, &lengths, kappa, n);
        let off = norm((0..m * m).map(|at| product[at] - f64::from(u8::from(at / m == at % m))));
        let epsilon = (off + rounding) * UP;
        let objective = (0..scores).map(|s| 0.5 * (sums.squares[s] / sums.total + self.penalty(s))).sum::<f64>();
        if !(epsilon < 0.5 && objective.is_finite()) {
            let reason = "the columns in use are too nearly dependent for double precision to prove that they are not";
            let certificate = Certificate::Absent { reason: reason.into() };
            return (SquaredProof { objective, certificate, step: Vec::new(), improvable: false }, 0.0);
        }
        // F* is not negative, so F bounds the gap, too: computed F and what its residuals may have lost.
        let (mut gap, mut value, mut uncertain) = (0.0, 0.0, 0.0);
        let (mut step, mut improvable) = (Vec::new(), false);
        let mut errors = CoefficientErrors { weights: vec![0.0; point.weights.len()], intercept: vec![0.0; scores] };
        let cols = point.centre.len();
        for score in 0..scores {
            let unknowns = &self.unknowns[score * m..(score + 1) * m];
            let penalised: Vec<f64> = unknowns.iter().zip(&self.penalties).map(|(v, p)| p * v).collect();
            let mean: Vec<f64> = sums.gradient[score * m..(score + 1) * m].iter().map(|g| g / sums.total).collect();
            let apply = |v: &[f64], k: usize| row(k).iter().zip(v).map(|(t, g)| t * g).sum::<f64>();
            let gradient: Vec<f64> = (0..m)
                .map(|k| match self.first {
                    true => mean[k] + apply(&penalised, k),
                    false => row(k).iter().zip(mean.iter().zip(&penalised)).map(|(t, (g, p))| t * (g + p)).sum(),
                })
                .collect();
            let residual = (sums.squares[score] / sums.total).sqrt() * up;
            let target = self.task.targets[score].iter().fold(0.0f64, |most, t| most.max(t.abs()));
            let scores_off = rounding_bound(m + 4)
                * (unknowns.iter().zip(&lengths).map(|(v, l)| (v * l).abs()).sum::<f64>() + target + residual)
                + TINY;
            uncertain += (residual + 0.5 * scores_off) * scores_off;
            value += 0.5 * ((residual + scores_off).powi(2) + self.penalty(score)) * up;
            // Of the sums: relative to the rows that were summed, and of what T makes of them.
            let lost = match self.first {
                true => {
                    (rounding_bound(m + 2) * kappa + rounding_bound(2 * n + 10) * size) * residual
                        + rounding_bound(m + 6) * through(&penalised)
                }
                false => rounding_bound(2 * n + m + 20) * (kappa * residual + through(&penalised)),
            };
            let lost = ((1.0 + epsilon).sqrt() * scores_off
                + lost
                + rounding_bound(4) * norm(gradient.iter().copied())
                + TINY)
                * UP;
            let found = norm(gradient.iter().copied());
            let length = (found + lost) * UP;
            gap += 0.5 * length * length / (1.0 - epsilon) * UP;
            improvable |= found > 2.0 * lost;
            let spread: Vec<f64> = (0..m).map(|j| norm((0..m).map(|k| row(k)[j])) * UP).collect();
            for (at, spread) in spread.iter().enumerate() {
                let error = spread * length / (1.0 - epsilon) * UP;
                match self.columns.get(at) {
                    Some(j) => errors.weights[score * cols + j] = error / self.units.scale()[*j],
                    None => errors.intercept[score] = (error + 2.0 * UNIT * unknowns[at].abs()) * UP,
                }
            }
            let moved = |at: usize| (0..m).map(|k| row(k)[at] * gradient[k]).sum::<f64>();
            let unit = |at: usize| self.columns.get(at).map_or(1.0, |j| self.units.scale()[*j]);
            step.push((0..m).map(|at| moved(at) / unit(at)).collect());
        }
        gap = gap.min(value);
        let scale = objective.max(self.task.at_zero);
        let relative_gap = if scale > 0.0 { gap / scale } else { gap };
        let certificate = match gap.is_finite() {
            true => Certificate::Quadratic { objective, gap, relative_gap, errors: Some(errors) },
            false => Certificate::Absent { reason: "the gradient overflows".into() },
        };
        (SquaredProof { objective, certificate, step, improvable }, uncertain)
    }

    /// `TᵀHT` row by row, a bound on its error, and the length `√Σ q²` of the rows that were summed.
    fn product(&self, sums: &SquaresSums, lengths: &[f64], kappa: f64, n: usize) -> (Vec<f64>, f64, f64) {
        let m = self.m;
        let mut mean = sums.gram.clone();
        mean.scale(sums.total.recip());
        if self.first {
            let size = mean.diagonal().iter().sum::<f64>().sqrt() * UP;
            let mut trace = 0.0;
            for (j, p) in self.penalties.iter().enumerate().filter(|(_, p)| **p > 0.0) {
                let column: Vec<f64> = (0..m).map(|k| self.whitening[k * m + j]).collect();
                mean.add_outer(*p, &column);
                trace += p * column.iter().map(|t| t * t).sum::<f64>();
            }
            let product = (0..m * m).map(|at| mean.get(at / m, at % m)).collect();
            let turned = rounding_bound(m + 2) * kappa;
            let rounding = rounding_bound(2 * n + 10) * size * size
                + rounding_bound(m + 6) * trace
                + turned * (2.0 * size + turned)
                + TINY;
            return (product, rounding, size);
        }
        (0..m).for_each(|j| *mean.at(j, j) += self.penalties[j]);
        let roots: Vec<f64> = lengths.iter().zip(&self.penalties).map(|(l, p)| (l * l + p).sqrt() * UP).collect();
        let row = |k: usize| &self.whitening[k * m..(k + 1) * m];
        let whole: f64 =
            (0..m).map(|k| row(k).iter().zip(&roots).map(|(t, l)| (t * l).abs()).sum::<f64>().powi(2)).sum();
        (mean.congruence(&self.whitening), rounding_bound(2 * n + 2 * m + 24) * whole * UP + TINY, kappa)
    }

    fn penalty(&self, score: usize) -> f64 {
        let unknowns = &self.unknowns[score * self.m..(score + 1) * self.m];
        unknowns.iter().zip(&self.penalties).map(|(v, p)| p * v * v).sum()
    }
}

/// The power of two below a positive number; one for what has none.
fn power_of_two(value: f64) -> f64 {
    let exponent = (value.to_bits() >> 52) & 0x7ff;
    // Far from the ends of the range, so that scaled numbers stay normal.
    if value > 0.0 && (24..2023).contains(&exponent) { f64::from_bits(exponent << 52) } else { 1.0 }
}

//! The hulls of two classes and the planes between them, by plain arithmetic.
//!
//! For hull weights λ (not negative, adding up to one in each class) the points `x* = Σ λx` of the second class and `y*` of the
//! first are in their hulls; for any w, the plane midway between the nearest rows has the margin
//! `γ(w) = (min w·x − max w·y) / 2‖w‖`. Whatever λ and w: `γ(w) ≤ γ* ≤ ½‖x* − y*‖`.

use crate::design::{Block, CsrRows, LabelledRows, Pass, Rows, Tile, Units, column_ranges};
use crate::error::Result;
use crate::numeric::{CompensatedSum, sum, vectorised};
use crate::table::Class;
use crate::watch::Watch;
use rayon::prelude::*;

/// The least positive double: products below it underflow.
pub(super) const LEAST: f64 = f64::from_bits(1);

/// Ranges of columns summed in parallel: fixed, so that sums do not depend on the threads. Chosen (bench/constants.md).
const RANGES: usize = 8;

/// Points of the two hulls.
#[derive(Debug, Clone, PartialEq)]
pub struct HullPoints {
    /// The hull weights, rows rising.
    pub weights: Vec<(usize, f64)>,
    /// `x* − y*`, the point of the second class less that of the first, in the units given.
    pub difference: Vec<f64>,
    /// Its length.
    pub distance: f64,
    /// Per column, the sum of the sizes of the terms of the difference: what its rounding is measured by.
    pub sizes: Vec<f64>,
}

impl HullPoints {
    /// An upper bound on the distance of the points of these weights, rounding included.
    pub fn distance_bound(&self) -> f64 {
        // A term is a weight that was divided by a rounded total, an entry less its centre times its scale, and their
        // product; the compensated sum adds a rounding. Underflow is bounded separately.
        let off = 6.0 * f64::EPSILON * length(&self.sizes) + LEAST * (self.weights.len() + self.sizes.len()) as f64;
        (self.distance + off) * (1.0 + 8.0 * f64::EPSILON)
    }

    /// The largest entry of the difference relative to the terms it is a sum of: zero for a common point.
    pub fn relative_residual(&self) -> f64 {
        let terms = self.difference.iter().zip(&self.sizes).filter(|(_, size)| **size > 0.0);
        terms.map(|(difference, size)| difference.abs() / size).fold(0.0, f64::max)
    }
}

/// The points of given weights, which are first made to add up to one in each class; `None` where a class has none.
///
/// ```
/// use linsep::certify::hull_points;
/// use linsep::design::{DenseMatrix, LabelledRows, Units};
/// use linsep::table::Class;
/// let x = DenseMatrix::new(vec![0.0, 0.0, 2.0, 1.0, 2.0, -1.0], 2)?;
/// let rows = LabelledRows::new(&x, &[Class(0), Class(1), Class(1)]);
/// let points = hull_points(rows, &Units::identity(2), &[(0, 1.0), (1, 3.0), (2, 3.0)])?.unwrap();
/// assert_eq!((&points.difference[..], points.distance), (&[2.0, 0.0][..], 2.0));
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn hull_points(rows: LabelledRows<'_>, units: &Units, weights: &[(usize, f64)]) -> Result<Option<HullPoints>> {
    let LabelledRows { design, labels, .. } = rows;
    let total = |class: u32| sum(weights.iter().filter(|(row, _)| labels[*row].0 == class).map(|(_, w)| *w));
    let totals = [total(0), total(1)];
    if totals.iter().any(|t| !(*t > 0.0 && t.is_finite())) || weights.iter().any(|(_, w)| !(*w >= 0.0)) {
        return Ok(None);
    }
    let weights: Vec<(usize, f64)> =
        weights.iter().filter(|(_, w)| *w > 0.0).map(|(row, w)| (*row, w / totals[labels[*row].index()])).collect();
    let cols = design.shape().cols;
    let mut whole = Tile::default();
    if design.lends()
        && let Block::Csr(x) = design.block(0..labels.len(), &mut whole)?
    {
        let (difference, sizes) = sparse_difference(&x, units, labels, &weights);
        let distance = length(&difference);
        return Ok(Some(HullPoints { weights, difference, distance, sizes }));
    }
    let mut sums = vec![CompensatedSum::default(); cols];
    let mut sizes = vec![0.0; cols];
    let (mut tile, mut values) = (Tile::default(), Vec::new());
    for (row, weight) in &weights {
        let signed = if labels[*row].0 == 1 { *weight } else { -weight };
        let mut add = |j: usize, x: f64| {
            sums[j].add(signed * x);
            sizes[j] += weight * x.abs();
        };
        match design.block(*row..row + 1, &mut tile)? {
            Block::F64(dense) => dense.load(units, &mut values),
            Block::F32(dense) => dense.load(units, &mut values),
            // The centre cancels: the weights of both classes add up to one.
            Block::Csr(sparse) => {
                let (columns, entries) = sparse.row(0);
                let scaled = columns.iter().zip(entries).map(|(c, v)| (*c as usize, v));
                scaled.for_each(|(j, v)| add(j, v * units.inverse_scale()[j]));
                continue;
            }
        }
        values.iter().enumerate().for_each(|(j, x)| add(j, *x));
    }
    let difference: Vec<f64> = sums.into_iter().map(CompensatedSum::value).collect();
    let distance = length(&difference);
    Ok(Some(HullPoints { weights, difference, distance, sizes }))
}

/// The difference of the points of sparse rows and the sizes of its terms, by ranges of columns side by side. The centre
/// cancels: the weights of both classes add up to one.
fn sparse_difference(
    x: &CsrRows<'_>,
    units: &Units,
    labels: &[Class],
    weights: &[(usize, f64)],
) -> (Vec<f64>, Vec<f64>) {
    let (mut difference, mut sizes) = (vec![0.0; x.cols], vec![0.0; x.cols]);
    let mut parts = Vec::new();
    let (mut rest, mut rest_of_sizes) = (&mut difference[..], &mut sizes[..]);
    for range in column_ranges(x, RANGES) {
        let (sums, after) = rest.split_at_mut(range.len());
        let (sizes, after_sizes) = rest_of_sizes.split_at_mut(range.len());
        parts.push((range, sums, sizes));
        (rest, rest_of_sizes) = (after, after_sizes);
    }
    parts.into_par_iter().for_each(|(range, out, sizes)| {
        let mut sums = vec![CompensatedSum::default(); range.len()];
        for (row, weight) in weights {
            let signed = if labels[*row].0 == 1 { *weight } else { -weight };
            let (columns, values) = x.row(*row);
            let first = columns.partition_point(|c| (*c as usize) < range.start);
            for (c, v) in columns[first..].iter().zip(&values[first..]).take_while(|(c, _)| (**c as usize) < range.end)
            {
                let j = *c as usize - range.start;
                let value = v * units.inverse_scale()[*c as usize];
                sums[j].add(signed * value);
                sizes[j] += weight * value.abs();
            }
        }
        out.iter_mut().zip(sums).for_each(|(o, s)| *o = s.value());
    });
    (difference, sizes)
}

/// `‖v‖` without overflow of its square.
pub(crate) fn length(v: &[f64]) -> f64 {
    let largest = v.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return largest;
    }
    largest * sum(v.iter().map(|v| (v / largest).powi(2))).sqrt()
}

/// On which sides of planes with a given normal the rows of two classes lie.
#[derive(Debug, Clone, PartialEq)]
pub struct Sides {
    /// `w·x̂` of every row.
    pub scores: Vec<f64>,
    /// A lower bound on the smallest score of the second class, rounding included.
    pub low: f64,
    /// An upper bound on the largest score of the first class, rounding included.
    pub high: f64,
    /// `‖w‖`.
    pub norm: f64,
}

impl Sides {
    /// `γ(w)`, rounded down: positive only where the plane midway proves that the classes are separable, and then no row is
    /// nearer to it. The roundings of a difference, a length, a quotient and scaled coefficients are allowed for.
    pub fn margin(&self) -> f64 {
        0.5 * (self.low - self.high) / self.norm * (1.0 - 16.0 * f64::EPSILON)
    }

    /// The intercept of the plane midway.
    pub fn intercept(&self) -> f64 {
        -0.5 * (self.low + self.high)
    }
}

struct Extremes {
    low: f64,
    high: f64,
}

/// Measures all rows of positive weight along a normal.
pub fn sides(rows: LabelledRows<'_>, units: &Units, normal: &[f64], watch: &Watch) -> Result<Sides> {
    let LabelledRows { design, labels, weights } = rows;
    let cols = normal.len();
    let n = labels.len();
    // A sum of d products in any order, of numbers that were rounded three times each.
    let rounding = (cols + 8) as f64 * f64::EPSILON;
    let folded: Vec<f64> = normal.iter().zip(units.inverse_scale()).map(|(w, s)| w * s).collect();
    let moved = sum(folded.iter().zip(units.centre()).map(|(w, c)| w * c));
    let moved_size = sum(folded.iter().zip(units.centre()).map(|(w, c)| (w * c).abs()));
    let lost = (cols + 8) as f64 * LEAST;
    let mut measured = vec![0.0; 2 * n];
    let found = Pass::new(design, units).partials_of(1).reduce(
        watch,
        (2, &mut measured),
        || Extremes { low: f64::INFINITY, high: f64::NEG_INFINITY },
        |found, range, rows, out| {
            match &rows {
                Rows::Dense(values) => scores_and_sizes(values, normal, out),
                Rows::Csr(rows) => {
                    for (i, out) in out.chunks_exact_mut(2).enumerate() {
                        let (mut score, mut size) = (-moved, moved_size);
                        let (columns, entries) = rows.row(i);
                        for (c, v) in columns.iter().zip(entries) {
                            let term = v * folded[*c as usize];
                            score += term;
                            size += term.abs();
                        }
                        out.copy_from_slice(&[score, size]);
                    }
                }
            }
            for (row, out) in range.zip(out.chunks_exact(2)) {
                if weights.is_some_and(|w| w[row] == 0.0) {
                    continue;
                }
                let (score, slack) = (out[0], rounding * out[1] + lost);
                // Numbers that overflowed prove nothing.
                match labels[row].0 {
                    1 => found.low = if score.is_nan() { f64::NEG_INFINITY } else { found.low.min(score - slack) },
                    _ => found.high = if score.is_nan() { f64::INFINITY } else { found.high.max(score + slack) },
                }
            }
            Ok(())
        },
        |a, b| {
            a.low = a.low.min(b.low);
            a.high = a.high.max(b.high);
        },
    )?;
    let scores = measured.chunks_exact(2).map(|m| m[0]).collect();
    Ok(Sides { scores, low: found.low, high: found.high, norm: length(normal) })
}

vectorised! {
    /// `w·x` and `Σ|w x|` of every row.
    fn scores_and_sizes(rows: &[f64], w: &[f64], out: &mut [f64]) {
        let d = w.len();
        if d == 0 {
            out.fill(0.0);
            return;
        }
        for (x, out) in rows.chunks_exact(d).zip(out.chunks_exact_mut(2)) {
            let (mut score, mut size) = ([0.0f64; 8], [0.0f64; 8]);
            let (x_chunks, w_chunks) = (x.chunks_exact(8), w.chunks_exact(8));
            let (mut tail, mut tail_size) = (0.0, 0.0);
            for (x, w) in x_chunks.remainder().iter().zip(w_chunks.remainder()) {
                tail += x * w;
                tail_size += (x * w).abs();
            }
            for (x, w) in x_chunks.zip(w_chunks) {
                for k in 0..8 {
                    let term = x[k] * w[k];
                    score[k] += term;
                    size[k] += term.abs();
                }
            }
            out[0] = score.iter().sum::<f64>() + tail;
            out[1] = size.iter().sum::<f64>() + tail_size;
        }
    }
}

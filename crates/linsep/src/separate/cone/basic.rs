//! Few rows that carry a common point: from weights on many vectors to a basic solution.
//!
//! The vectors are `(a, 1)` with `Σ λ(a, 1) = (0, 1)`. Each vector in turn is expressed in the current basis, as in the
//! simplex method (Carathéodory): an independent one enters; for a dependent one the weights move along the dependency until
//! one of them vanishes. The remaining vectors are independent, so their weights are determined; there is at most one more
//! than the rank of the vectors.

use crate::linalg::{dot, pivoted_qr};

/// A vector is independent of the basis if its largest coordinate outside of it exceeds this. Coordinates carry
/// rounding of about 1e-16 times the condition of the basis, so bases of condition up to 1e7 are told apart. Chosen
/// (bench/constants.md): a wrong value yields no basic solution or one that the exact check refuses.
const INDEPENDENT: f64 = 1e-9;
/// Tolerance of the pivoted QR of vectors that are independent by [`INDEPENDENT`]: some hundreds of units of rounding.
const RANK: f64 = 1e-13;
/// Weights of the least squares solution below this share of the largest are zero up to rounding.
const VANISHED: f64 = 1e-12;
/// A weight further below zero than this share of the largest is not rounding. Chosen (bench/constants.md): what passes
/// is checked.
const NEGATIVE: f64 = 1e-6;

/// Row-reduction of the vectors taken so far: `E B = (I; 0)`.
struct ExchangeBasis {
    width: usize,
    /// E, row by row.
    rows: Vec<f64>,
    taken: Vec<usize>,
}

impl ExchangeBasis {
    fn new(width: usize) -> ExchangeBasis {
        let mut rows = vec![0.0; width * width];
        (0..width).for_each(|i| rows[i * width + i] = 1.0);
        ExchangeBasis { width, rows, taken: Vec::new() }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.width..(i + 1) * self.width]
    }

    /// `E a`.
    fn coordinates(&self, a: &[f64]) -> Vec<f64> {
        (0..self.width).map(|i| dot(self.row(i), a)).collect()
    }

    /// Makes the coordinates `y` of a vector the unit vector at `place`.
    fn pivot(&mut self, y: &[f64], place: usize) {
        let width = self.width;
        let pivot = y[place];
        self.rows[place * width..(place + 1) * width].iter_mut().for_each(|e| *e /= pivot);
        let taken = self.row(place).to_vec();
        for i in (0..width).filter(|i| *i != place && y[*i] != 0.0) {
            let row = &mut self.rows[i * width..(i + 1) * width];
            row.iter_mut().zip(&taken).for_each(|(e, t)| *e -= y[i] * t);
        }
    }

    fn swap(&mut self, i: usize, j: usize) {
        if i != j {
            let width = self.width;
            let (low, high) = (i.min(j), i.max(j));
            let (head, tail) = self.rows.split_at_mut(high * width);
            head[low * width..(low + 1) * width].swap_with_slice(&mut tail[..width]);
        }
    }
}

/// The vectors that remain, rising, with their weights, which add up to one; `None` where rounding gets in the way.
/// `vectors` are row-major of `width` numbers; `weights` are positive with `Σ λa = 0`.
pub(crate) fn basic_solution(vectors: &[f64], width: usize, weights: &[f64]) -> Option<Vec<(usize, f64)>> {
    let m = weights.len();
    // Columns of one scale, so that one tolerance of independence fits all.
    let largest = |j: usize| (0..m).map(|i| vectors[i * width + j].abs()).fold(0.0, f64::max);
    let scale: Vec<f64> = (0..width).map(largest).map(|l| if l > 0.0 { 1.0 / l } else { 0.0 }).collect();
    let vector = |i: usize| -> Vec<f64> {
        let a = vectors[i * width..(i + 1) * width].iter().zip(&scale).map(|(a, s)| a * s);
        a.chain([1.0]).collect()
    };
    let total: f64 = weights.iter().sum();
    let mut lambda: Vec<f64> = weights.iter().map(|w| w / total).collect();
    let mut basis = ExchangeBasis::new(width + 1);
    // The heaviest first: they are the likeliest to stay.
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|a, b| lambda[*b].total_cmp(&lambda[*a]).then(a.cmp(b)));
    for r in order {
        let y = basis.coordinates(&vector(r));
        let q = basis.taken.len();
        let outside = (q..=width).max_by(|a, b| y[*a].abs().total_cmp(&y[*b].abs()));
        if let Some(place) = outside
            && y[place].abs() > INDEPENDENT
        {
            basis.pivot(&y, place);
            basis.swap(place, q);
            basis.taken.push(r);
            continue;
        }
        // Ratio test in both directions: λ_r grows and Σ y_b λ_b falls by as much, or the other way round, until a weight
        // vanishes.
        let taken = &basis.taken;
        let up = (0..q).filter(|k| y[*k] > INDEPENDENT).map(|k| (lambda[taken[k]] / y[k], k));
        let up = { up }.min_by(|a, b| a.0.total_cmp(&b.0));
        // Growth of λ_r is bounded because the weights add up to one; if rounding hides the bound, r itself leaves.
        let Some((step, leaving)) = up else {
            (0..q).for_each(|k| lambda[taken[k]] += y[k] * lambda[r]);
            lambda[r] = 0.0;
            continue;
        };
        // Where r can leave without making another weight negative, it does: fewer changes of the basis.
        let down = (0..q).filter(|k| y[*k] < 0.0).all(|k| lambda[taken[k]] + y[k] * lambda[r] > 0.0);
        if down {
            (0..q).for_each(|k| lambda[taken[k]] += y[k] * lambda[r]);
            lambda[r] = 0.0;
            continue;
        }
        (0..q).for_each(|k| lambda[taken[k]] = (lambda[taken[k]] - step * y[k]).max(0.0));
        lambda[r] += step;
        lambda[taken[leaving]] = 0.0;
        basis.pivot(&y, leaving);
        basis.taken[leaving] = r;
    }
    let mut rows: Vec<usize> = basis.taken.iter().copied().filter(|r| lambda[*r] > 0.0).collect();
    rows.sort_unstable();
    resolved(&rows, width, vector)
}

/// Recomputes the weights of independent vectors by least squares; those that vanish are left out.
fn resolved(rows: &[usize], width: usize, vector: impl Fn(usize) -> Vec<f64>) -> Option<Vec<(usize, f64)>> {
    let mut rows = rows.to_vec();
    loop {
        let m = rows.len();
        let mut values: Vec<f64> = rows.iter().flat_map(|r| vector(*r)).collect();
        values.extend((0..=width).map(|j| f64::from(u8::from(j == width))));
        let lambda = pivoted_qr(width + 1, m, values, &vec![RANK; m]).solve(0);
        let largest = lambda.iter().fold(0.0f64, |m, l| m.max(*l));
        if !(largest > 0.0) {
            return None;
        }
        let kept: Vec<usize> = (0..m).filter(|i| lambda[*i] > VANISHED * largest).collect();
        if kept.len() == m {
            return Some(rows.into_iter().zip(lambda).collect());
        }
        if kept.is_empty() || kept.iter().any(|i| lambda[*i].is_nan()) {
            return None;
        }
        // A weight that is clearly negative is no rounding.
        if lambda.iter().any(|l| *l < -NEGATIVE * largest) {
            return None;
        }
        rows = kept.into_iter().map(|i| rows[i]).collect();
    }
}

/// Vectors that are independent of those before them, until there are `rank` of them.
pub(crate) fn independent_vectors(
    width: usize,
    rank: usize,
    mut next: impl FnMut() -> Option<(usize, Vec<f64>)>,
) -> Vec<usize> {
    let mut basis = ExchangeBasis::new(width);
    while basis.taken.len() < rank
        && let Some((number, vector)) = next()
    {
        let y = basis.coordinates(&vector);
        let q = basis.taken.len();
        let size = vector.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let outside = (q..width).max_by(|a, b| y[*a].abs().total_cmp(&y[*b].abs()));
        if let Some(place) = outside
            && y[place].abs() > INDEPENDENT * size
        {
            basis.pivot(&y, place);
            basis.swap(place, q);
            basis.taken.push(number);
        }
    }
    basis.taken
}

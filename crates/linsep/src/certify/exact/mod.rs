//! Witnesses of separability in rational arithmetic: no tolerance, no rounding.
//!
//! Doubles are exact rationals. Weights of a common point are the null vector of the basic rows; a strict plane is checked
//! row by row, in doubles where their error bound leaves the sign without doubt and exactly elsewhere; a direction with a
//! boundary is first made to vanish exactly on it; weights of all rows are first made to satisfy their equation exactly, by
//! changing those of independent rows.

mod dependence;
mod dyadic;
mod effort;
mod integer;
mod lifting;
mod mended;
mod relations;
mod residue;
mod rows;
mod span;

pub use dependence::exactly_dependent;
pub(crate) use dyadic::{Dyadic, DyadicVectors, ListedVectors};
pub use effort::Effort;
pub(crate) use effort::{cost_of_change, cost_of_product};
pub(crate) use mended::{MendedDirection, independent_columns};
pub(crate) use relations::{Relations, WholeCombination, combined_numbers, likely_basis, vectors_alone};
pub(crate) use rows::{WholeCone, WholeRows};

use super::cone::others;
use crate::design::{Block, Design, Tile};
use crate::error::Result;
use integer::{ExactSum, decode, leading, lowest_exponent, reduce, shortened, whole};
use num_bigint::{BigInt, Sign};

/// Positive whole numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeWeights(Vec<BigInt>);

impl WholeWeights {
    /// The numbers in decimal digits.
    pub fn digits(&self) -> Vec<String> {
        self.0.iter().map(BigInt::to_string).collect()
    }
}

/// Positive whole weights λ with `Σ λa = 0` exactly, for row-major vectors that have one such solution up to its size;
/// `None` where they have none, or it would take longer than is allowed.
///
/// ```
/// use linsep::certify::{Effort, exact_weights};
/// # let watch = linsep::watch::Watch::default();
/// let effort = Effort::seconds(&watch);
/// // 2·(1, 1) + 1·(−2, 1) + 3·(0, −1) = 0.
/// let weights = exact_weights(&[1.0, 1.0, -2.0, 1.0, 0.0, -1.0], 2, effort).unwrap();
/// assert_eq!(weights.digits(), ["2", "1", "3"]);
/// // Not quite, so not at all.
/// assert!(exact_weights(&[1.0, -1.0 - f64::EPSILON, -1.0, 1.0], 2, effort).is_none());
/// ```
pub fn exact_weights(vectors: &[f64], width: usize, effort: Effort<'_>) -> Option<WholeWeights> {
    let m = vectors.len().checked_div(width)?;
    let equation = |j: usize| whole(&(0..m).map(|i| vectors[i * width + j]).collect::<Vec<f64>>());
    let reduced = reduce((0..width).map(equation).collect(), m, effort)?;
    if reduced.pivots.len() + 1 != m {
        return None;
    }
    let free = (0..m).find(|i| !reduced.pivots.contains(i))?;
    let mut lambda = vec![BigInt::ZERO; m];
    lambda[free] = reduced.determinant.clone();
    for (row, pivot) in reduced.rows.iter().zip(&reduced.pivots) {
        lambda[*pivot] = -row[free].clone();
    }
    if lambda[free].sign() == Sign::Minus {
        lambda.iter_mut().for_each(|l| *l = -std::mem::take(l));
    }
    lambda.iter().all(|l| l.sign() == Sign::Plus).then(|| WholeWeights(shortened(lambda)))
}

/// The score `w·(x − c) + b`, or the difference of two scores.
#[derive(Debug, Clone, Copy)]
pub struct ExactPlane<'a> {
    /// w and b.
    pub score: (&'a [f64], f64),
    /// The score that is subtracted.
    pub less: Option<(&'a [f64], f64)>,
    /// c.
    pub centre: &'a [f64],
}

/// Whether a plane puts every row exactly and strictly on its side; `sides` are ±1, or 0 for rows that do not count.
pub fn exactly_separates(design: &dyn Design, sides: &[f64], plane: ExactPlane<'_>) -> Result<bool> {
    Ok(least_score(design, sides, plane)?.is_some())
}

/// A lower bound on the scores of all rows on their side, if these are exactly positive; infinite where no row counts.
pub(crate) fn least_score(design: &dyn Design, sides: &[f64], plane: ExactPlane<'_>) -> Result<Option<f64>> {
    let mut least = f64::INFINITY;
    let scores: Vec<(f64, (&[f64], f64))> =
        [(1.0, Some(plane.score)), (-1.0, plane.less)].into_iter().filter_map(|(sign, s)| Some((sign, s?))).collect();
    let rounding = (plane.score.0.len() + 8) as f64 * f64::EPSILON;
    let mut constant = ExactSum::new();
    let (mut about, mut about_size) = (0.0, 0.0);
    for (sign, (weights, intercept)) in &scores {
        constant.add_product(*sign, *intercept);
        about += sign * intercept;
        about_size += intercept.abs();
        for (w, c) in weights.iter().zip(plane.centre) {
            constant.add_product(-sign * w, *c);
            about -= sign * w * c;
            about_size += (w * c).abs();
        }
    }
    let mut tile = Tile::default();
    let mut entries: Vec<(usize, f64)> = Vec::new();
    for (row, side) in sides.iter().enumerate().filter(|(_, side)| **side != 0.0) {
        row_entries(design, row, &mut tile, &mut entries)?;
        let (mut score, mut size) = (about, about_size);
        for (sign, (weights, _)) in &scores {
            for (j, x) in &entries {
                score += sign * weights[*j] * x;
                size += (weights[*j] * x).abs();
            }
        }
        // Beyond the error bound, underflow included, the sign is certain.
        let doubt = rounding * (size + f64::MIN_POSITIVE);
        if size < f64::INFINITY && side * score > 4.0 * doubt {
            least = least.min(side * score - doubt);
            continue;
        }
        let mut exact = constant.clone();
        for (sign, (weights, _)) in &scores {
            entries.iter().for_each(|(j, x)| exact.add_product(sign * weights[*j], *x));
        }
        let wanted = if *side > 0.0 { Sign::Plus } else { Sign::Minus };
        if exact.sign() != wanted {
            return Ok(None);
        }
        let (m, e) = leading(&exact.value());
        // A lower bound that underflows is zero.
        let e = (e + i64::from(lowest_exponent())).clamp(-2_200, 1_023) as i32;
        let size = m.abs() * 2f64.powi(e / 2) * 2f64.powi(e - e / 2);
        least = least.min(size * (1.0 - 4.0 * f64::EPSILON));
    }
    Ok(Some(least))
}

/// The stored entries of a row as doubles.
fn row_entries(design: &dyn Design, row: usize, tile: &mut Tile, out: &mut Vec<(usize, f64)>) -> Result<()> {
    out.clear();
    match design.block(row..row + 1, tile)? {
        Block::F64(dense) => out.extend(dense.values.iter().copied().enumerate()),
        Block::F32(dense) => out.extend(dense.values.iter().map(|v| f64::from(*v)).enumerate()),
        Block::Csr(sparse) => {
            let (columns, values) = sparse.row(0);
            out.extend(columns.iter().map(|c| *c as usize).zip(values.iter().copied()));
        }
    }
    Ok(())
}

/// A direction near the one given that vanishes exactly on some vectors, `None` where that takes longer than is allowed. `independent` are vectors that span those it must vanish on.
pub fn exact_direction(direction: &[f64], independent: &[f64], effort: Effort<'_>) -> Option<WholeDirection> {
    let width = direction.len();
    let rows = independent.chunks_exact(width).map(whole).collect();
    let reduced = reduce(rows, width, effort)?;
    // Coordinates without a pivot keep their value; those with one are solved for.
    let given = whole(direction);
    let mut values: Vec<BigInt> = given.iter().map(|v| v * &reduced.determinant).collect();
    for (row, pivot) in reduced.rows.iter().zip(&reduced.pivots) {
        let mut sum = BigInt::ZERO;
        for j in (0..width).filter(|j| !reduced.pivots.contains(j)) {
            sum += &row[j] * &given[j];
        }
        values[*pivot] = -sum;
    }
    if reduced.determinant.sign() == Sign::Minus {
        values.iter_mut().for_each(|v| *v = -std::mem::take(v));
    }
    Some(WholeDirection::new(shortened(values)))
}

/// A direction by whole numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeDirection {
    values: Vec<BigInt>,
    /// The nonzero coordinates with approximate doubles, scaled by one power of two so that the largest is about one.
    about: Vec<(usize, f64)>,
}

impl WholeDirection {
    /// The exact direction of these doubles.
    pub fn of(direction: &[f64]) -> WholeDirection {
        WholeDirection::new(whole(direction))
    }

    fn new(values: Vec<BigInt>) -> WholeDirection {
        let parts: Vec<(f64, i64)> = values.iter().map(leading).collect();
        let top = parts.iter().map(|(_, e)| *e).max().unwrap_or(0);
        // Entries that would underflow are set to zero; the error bound of the product allows for it.
        let about = |(m, e): &(f64, i64)| if e - top < -1_000 { 0.0 } else { m * 2f64.powi((e - top) as i32) };
        let used = parts.iter().enumerate().filter(|(_, (m, _))| *m != 0.0);
        WholeDirection { about: used.map(|(j, part)| (j, about(part))).collect(), values }
    }

    /// The sign of its product with a vector.
    pub fn sign(&self, vector: &[f64]) -> i32 {
        let (mut product, mut size, mut largest) = (0.0, 0.0, 0.0f64);
        for (j, v) in &self.about {
            let x = vector[*j];
            product += v * x;
            size += (v * x).abs();
            largest = largest.max(x.abs());
        }
        if largest == 0.0 {
            return 0;
        }
        // Each factor has a relative error of at most 2⁻⁵² or an absolute one of 2⁻¹⁰⁰⁰; product and sum round, too. Beyond
        // this bound the sign is certain.
        let n = vector.len() as f64;
        let doubt = (2.0 * n + 16.0) * f64::EPSILON * size + n * 1e-290 * (1.0 + largest);
        if size.is_finite() && product.abs() > 4.0 * doubt {
            return if product > 0.0 { 1 } else { -1 };
        }
        let used = self.about.iter().map(|(j, _)| (&self.values[*j], decode(vector[*j])));
        let decoded: Vec<(&BigInt, (i64, i32))> = used.filter(|(_, (m, _))| *m != 0).collect();
        let least = decoded.iter().map(|(_, (_, e))| *e).min().unwrap_or(0);
        let mut sum = BigInt::ZERO;
        for (v, (m, e)) in &decoded {
            sum += (*v * BigInt::from(*m)) << (e - least) as usize;
        }
        match sum.sign() {
            Sign::Minus => -1,
            Sign::NoSign => 0,
            Sign::Plus => 1,
        }
    }
}

/// Whether positive weights α of all vectors become an exact solution of `Σ αa = 0` by changing only those of the
/// independent vectors at the given places, all staying positive. `vector` writes the entries of a vector.
pub fn exactly_balanced(
    alpha: &[f64],
    independent: &[usize],
    width: usize,
    effort: Effort<'_>,
    mut vector: impl FnMut(usize, &mut Vec<f64>) -> Result<()>,
) -> Result<bool> {
    let mut sums = vec![ExactSum::new(); width];
    let mut a = Vec::new();
    for (c, alpha) in alpha.iter().enumerate().filter(|(_, alpha)| **alpha != 0.0) {
        if !(*alpha > 0.0) {
            return Ok(false);
        }
        vector(c, &mut a)?;
        sums.iter_mut().zip(&a).for_each(|(sum, a)| sum.add_product(*alpha, *a));
    }
    let m = independent.len();
    let mut columns = Vec::with_capacity(m);
    for c in independent {
        vector(*c, &mut a)?;
        columns.push(a.clone());
    }
    // Equation j: Σ δ_b a_bj = −(sum)_j, times a power of two that makes its left side integral; the right sides then share
    // one further power of two, so that only their integers get longer.
    let least =
        |j: usize| columns.iter().map(|a| decode(a[j])).filter(|(m, _)| *m != 0).map(|(_, e)| e).min().unwrap_or(0);
    let sides: Vec<(BigInt, i64)> = (0..width)
        .map(|j| {
            let value = sums[j].value();
            let zeros = value.trailing_zeros().unwrap_or(0);
            (-(value >> zeros), zeros as i64 + i64::from(lowest_exponent()) - i64::from(least(j)))
        })
        .collect();
    let used = sides.iter().filter(|(value, _)| value.sign() != Sign::NoSign);
    let more = used.map(|(_, e)| -e).max().unwrap_or(0).max(0);
    let equation = |j: usize| {
        let least = least(j);
        let left = columns.iter().map(|a| decode(a[j]));
        let shifted = |(m, e): (i64, i32)| if m == 0 { BigInt::ZERO } else { BigInt::from(m) << (e - least) as usize };
        let right = match sides[j].0.sign() {
            Sign::NoSign => BigInt::ZERO,
            _ => &sides[j].0 << (sides[j].1 + more) as usize,
        };
        shortened(left.map(shifted).chain([right]).collect())
    };
    let Some(reduced) = reduce((0..width).map(equation).collect(), m, effort) else { return Ok(false) };
    // Equations without a pivot have a zero left side: they are consistent only if their right side is zero.
    let rank = reduced.pivots.len();
    if rank != m || reduced.rows[rank..].iter().any(|row| row[m] != BigInt::ZERO) {
        return Ok(false);
    }
    for (row, pivot) in reduced.rows.iter().zip(&reduced.pivots) {
        // α + δ = (α·D + N·2^−more)/D with α = mantissa·2^exponent.
        let (mantissa, exponent) = decode(alpha[independent[*pivot]]);
        let exponent = i64::from(exponent) + more;
        let (alpha, delta) = match exponent < 0 {
            true => (BigInt::from(mantissa) * &reduced.determinant, row[m].clone() << exponent.unsigned_abs() as usize),
            false => ((BigInt::from(mantissa) << exponent as usize) * &reduced.determinant, row[m].clone()),
        };
        if (alpha + delta).sign() != reduced.determinant.sign() {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::DenseMatrix;
    use crate::watch::Watch;

    #[test]
    fn a_plane_through_a_row_does_not_separate() -> Result<()> {
        let x = DenseMatrix::new(vec![0.1, 0.2, 0.3, 0.4], 2)?;
        let on_it = ExactPlane { score: (&[2.0, -1.0], 0.0), less: None, centre: &[0.0, 0.0] };
        // 2·0.1 − 0.2 is exactly zero in doubles, 2·0.3 − 0.4 is not.
        assert!(!exactly_separates(&x, &[-1.0, 1.0], on_it)?);
        assert!(exactly_separates(&x, &[0.0, 1.0], on_it)?);
        let beside = ExactPlane { score: (&[2.0, -1.0], -1e-300), ..on_it };
        assert!(exactly_separates(&x, &[-1.0, 1.0], beside)?);
        let twice = ExactPlane { less: Some((&[2.0, -1.0], -1e-300)), ..beside };
        assert!(!exactly_separates(&x, &[-1.0, 1.0], twice)?);
        Ok(())
    }

    #[test]
    fn weights_that_are_nearly_balanced_are_made_so() -> Result<()> {
        // Vectors (1,0), (0,1), (−1,−1), (1,1): weights 1.1, 1.1, 2.1, 1 miss by rounding.
        let vectors = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [1.0, 1.0]];
        let write = |c: usize, out: &mut Vec<f64>| {
            out.clear();
            out.extend(vectors[c]);
            Ok(())
        };
        let watch = Watch::default();
        let effort = Effort::seconds(&watch);
        assert!(exactly_balanced(&[1.1, 1.1, 2.1, 1.0], &[0, 1], 2, effort, write)?);
        // Far off, a weight would have to be negative.
        assert!(!exactly_balanced(&[1.0, 1.0, 0.5, 1.0], &[0, 1], 2, effort, write)?);
        Ok(())
    }

    #[test]
    fn a_direction_vanishes_exactly() {
        let watch = Watch::default();
        let direction =
            exact_direction(&[1.0, -0.333, 0.5], &[1.0, 3.0, 0.0], Effort::seconds(&watch)).expect("a direction");
        assert_eq!(direction.sign(&[1.0, 3.0, 0.0]), 0);
        assert_eq!(direction.sign(&[0.0, 0.0, 1.0]), 1);
    }
}

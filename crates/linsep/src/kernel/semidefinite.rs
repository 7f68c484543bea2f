//! Proofs that a table is positive semidefinite, by a Cholesky factorisation with a bound on its backward error.
//!
//! If Cholesky's method in floating point completes on A, its backward error is at most `γ_{n+1}/(1−γ_{n+1})·tr A` in norm,
//! for any order of summation (Demmel 1989; Rump, Verification of positive definiteness, BIT 46, 2006). So A is positive
//! semidefinite where it completes on A − 2cI, c being that bound; the second c covers the roundings of the diagonal and of
//! the mean of two entries that are not quite equal.
//!
//! Tables of lower rank than their number of rows have zero eigenvalues, which rounding of the entries alone moves anywhere
//! between ±nu·max K_ii. For them double-double arithmetic proves that `K + δI` is positive semidefinite with that δ.

use super::KernelRows;
use crate::numeric::{UNIT, two_sum};
use rayon::prelude::*;

/// A unit of rounding of [`DoublePair`], with room for its sloppy additions: 2⁻¹⁰⁰.
const PAIR_UNIT: f64 = 7.888_609_052_210_118e-31;
/// Columns factored together. Chosen, out of reach of bench/constants.md: only the time depends on it.
const BLOCK: usize = 48;
/// Rows up to which pairs of doubles are affordable: a factor of 1,000 rows takes about a second. Chosen, out of reach
/// of bench/constants.md.
const PAIR_ROWS: usize = 1000;
/// Rows up to which a factor in doubles is tried: 288 MB. Chosen, out of reach of bench/constants.md: of more rows no
/// kernel is proved semidefinite.
const ROWS: usize = 6000;

/// δ such that the symmetric part of a table plus δI is proved to be positive semidefinite; 0 where it is so by itself.
pub(super) fn proved_ridge(rows: &KernelRows) -> Option<f64> {
    let n = rows.len();
    if n > ROWS || rows.cols() != n {
        return None;
    }
    let entry = |i: usize, j: usize| 0.5 * rows.entry(i, j) + 0.5 * rows.entry(j, i);
    let (mut trace, mut largest) = (0.0f64, 0.0f64);
    for i in 0..n {
        let own = rows.entry(i, i);
        // The diagonal of a semidefinite table is not negative; NaN is rejected here, too.
        if !(own >= 0.0) || !own.is_finite() {
            return None;
        }
        trace += own;
        largest = largest.max(own);
    }
    let size = n as f64;
    let lost = |unit: f64| 1.01 * (unit * (size + 1.0) * trace + size * size * 1e-320);
    if completes::<f64>(n, &entry, -2.0 * lost(UNIT)) {
        return Some(0.0);
    }
    let (ridge, shift) = match n <= PAIR_ROWS {
        // Halves of two entries are added with one rounding.
        true => (size * UNIT * largest, size * UNIT * largest - 2.0 * lost(PAIR_UNIT)),
        false => (4.0 * lost(UNIT), 2.0 * lost(UNIT)),
    };
    let crooked = (0..n).any(|i| (0..i).any(|j| rows.entry(i, j) != rows.entry(j, i)));
    // The mean of two entries is rounded: a ridge that covers it is not the smallest any more.
    let (ridge, shift) = if crooked && n <= PAIR_ROWS { (2.0 * ridge, shift) } else { (ridge, shift) };
    let done = match n <= PAIR_ROWS {
        true => completes::<DoublePair>(n, &entry, shift),
        false => completes::<f64>(n, &entry, shift),
    };
    // Rounded up: the next doubles above cover what δ and the shift lost.
    (done && ridge.is_finite()).then_some(ridge * (1.0 + 8.0 * f64::EPSILON))
}

/// The arithmetic of Cholesky's method.
trait Scalar: Copy + Send + Sync {
    fn of(value: f64) -> Self;
    fn plus(self, value: f64) -> Self;
    /// `self − Σ a·b`.
    fn less_products(self, a: &[Self], b: &[Self]) -> Self;
    fn over(self, divisor: Self) -> Self;
    /// `None` unless positive.
    fn root(self) -> Option<Self>;
}

/// Whether the factor of `A + shift·I` exists in floating point; A by its lower half.
fn completes<T: Scalar>(n: usize, entry: impl Fn(usize, usize) -> f64 + Sync, shift: f64) -> bool {
    let mut lower: Vec<Vec<T>> = (0..n)
        .map(|i| (0..=i).map(|j| if i == j { T::of(entry(i, j)).plus(shift) } else { T::of(entry(i, j)) }).collect())
        .collect();
    let mut start = 0;
    while start < n {
        let end = (start + BLOCK).min(n);
        let (done, rest) = lower.split_at_mut(end);
        // The rows of the block, one after another.
        for i in start..end {
            let (before, own) = done.split_at_mut(i);
            for j in start..=i {
                let other = if j < i { &before[j][..] } else { &[] };
                if !finish(&mut own[0], other, j, i) {
                    return false;
                }
            }
        }
        // The rows below it, each by itself.
        let block = &done[start..];
        rest.par_iter_mut().for_each(|row| {
            for (j, other) in (start..end).zip(block) {
                finish(row, other, j, usize::MAX);
            }
        });
        start = end;
    }
    true
}

/// Entry j of a row from the entries before it and row j; its own diagonal where `j == own`.
fn finish<T: Scalar>(row: &mut [T], other: &[T], j: usize, own: usize) -> bool {
    let (before, rest) = row.split_at_mut(j);
    if j == own {
        let Some(root) = rest[0].less_products(before, before).root() else { return false };
        rest[0] = root;
    } else {
        rest[0] = rest[0].less_products(before, &other[..j]).over(other[j]);
    }
    true
}

impl Scalar for f64 {
    fn of(value: f64) -> f64 {
        value
    }

    fn plus(self, value: f64) -> f64 {
        self + value
    }

    fn less_products(self, a: &[f64], b: &[f64]) -> f64 {
        let mut sum = 0.0;
        product(a, b, &mut sum);
        self - sum
    }

    fn over(self, divisor: f64) -> f64 {
        self / divisor
    }

    fn root(self) -> Option<f64> {
        (self > 0.0).then(|| self.sqrt())
    }
}

crate::numeric::vectorised! {
    fn product(a: &[f64], b: &[f64], sum: &mut f64) {
        let mut sums = [0.0; 16];
        let (x, y) = (a.chunks_exact(16), b.chunks_exact(16));
        let (p, q) = (x.remainder(), y.remainder());
        for (x, y) in x.zip(y) {
            for k in 0..16 {
                sums[k] = x[k].mul_add(y[k], sums[k]);
            }
        }
        *sum = p.iter().zip(q).fold(sums.iter().sum(), |s, (x, y)| x.mul_add(*y, s));
    }

    fn pair_product(a: &[DoublePair], b: &[DoublePair], sum: &mut DoublePair) {
        let mut sums = [DoublePair::ZERO; 4];
        let (x, y) = (a.chunks_exact(4), b.chunks_exact(4));
        let (p, q) = (x.remainder(), y.remainder());
        for (x, y) in x.zip(y) {
            for k in 0..4 {
                sums[k] = sums[k].add_product(x[k], y[k]);
            }
        }
        let all = sums[0].add(sums[1]).add(sums[2].add(sums[3]));
        *sum = p.iter().zip(q).fold(all, |s, (x, y)| s.add_product(*x, *y));
    }
}

/// A number as the unevaluated sum of two doubles (Dekker 1971), with additions that guard against cancellation, so that each
/// operation has a relative error of a few 2⁻¹⁰⁴.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DoublePair {
    high: f64,
    low: f64,
}

impl DoublePair {
    pub(super) const ZERO: DoublePair = DoublePair { high: 0.0, low: 0.0 };

    #[inline(always)]
    fn normal(high: f64, low: f64) -> DoublePair {
        let sum = high + low;
        DoublePair { high: sum, low: low - (sum - high) }
    }

    #[inline(always)]
    fn add(self, other: DoublePair) -> DoublePair {
        let (s, e) = two_sum(self.high, other.high);
        let (t, f) = two_sum(self.low, other.low);
        let first = DoublePair::normal(s, e + t);
        DoublePair::normal(first.high, first.low + f)
    }

    #[inline(always)]
    fn times(self, other: DoublePair) -> DoublePair {
        let high = self.high * other.high;
        let low = self.high.mul_add(other.high, -high);
        let low = self.high.mul_add(other.low, self.low.mul_add(other.high, low));
        DoublePair::normal(high, low)
    }

    #[inline(always)]
    pub(super) fn add_product(self, a: DoublePair, b: DoublePair) -> DoublePair {
        self.add(a.times(b))
    }

    pub(super) fn exact(value: f64) -> DoublePair {
        DoublePair { high: value, low: 0.0 }
    }

    pub(super) fn value(self) -> f64 {
        self.high + self.low
    }

    fn negative(self) -> DoublePair {
        DoublePair { high: -self.high, low: -self.low }
    }
}

impl Scalar for DoublePair {
    fn of(value: f64) -> DoublePair {
        DoublePair::exact(value)
    }

    fn plus(self, value: f64) -> DoublePair {
        self.add(DoublePair::exact(value))
    }

    fn less_products(self, a: &[DoublePair], b: &[DoublePair]) -> DoublePair {
        let mut sum = DoublePair::ZERO;
        pair_product(a, b, &mut sum);
        self.add(sum.negative())
    }

    fn over(self, divisor: DoublePair) -> DoublePair {
        // Two steps of long division.
        let first = self.high / divisor.high;
        let rest = self.add(divisor.times(DoublePair::exact(first)).negative());
        let second = rest.high / divisor.high;
        let rest = rest.add(divisor.times(DoublePair::exact(second)).negative());
        DoublePair::normal(first, second).add(DoublePair::exact(rest.high / divisor.high))
    }

    fn root(self) -> Option<DoublePair> {
        if !(self.high > 0.0) {
            return None;
        }
        // Newton's step from the root of the high part doubles its digits.
        let root = self.high.sqrt();
        let rest = self.add(DoublePair::exact(root).times(DoublePair::exact(root)).negative());
        Some(DoublePair::normal(root, rest.high / (2.0 * root)))
    }
}

#[cfg(test)]
mod tests {
    use super::{DoublePair, Scalar, proved_ridge};
    use crate::design::DenseMatrix;
    use crate::kernel::KernelRows;

    fn ridge(values: Vec<f64>) -> Option<f64> {
        let n = values.len().isqrt();
        let table = DenseMatrix::new(values, n).unwrap();
        proved_ridge(&KernelRows::table(&table, &Default::default()).unwrap())
    }

    #[test]
    fn definite_dependent_and_indefinite_tables_are_told_apart() {
        assert_eq!(ridge(vec![2.0, 1.0, 1.0, 2.0]), Some(0.0));
        // Rank one: zero is an eigenvalue.
        let found = ridge(vec![1.0; 9]).unwrap();
        assert!(found > 0.0 && found <= 3.001 * 0.5 * f64::EPSILON, "{found:e}");
        // −1e-14, far below what eigenvalues in doubles resolve for many rows, but beyond the last digit of the entries.
        assert_eq!(ridge(vec![1.0, 1.0 + 1e-14, 1.0 + 1e-14, 1.0]), None);
        assert_eq!(ridge(vec![1.0, 2.0, 2.0, 1.0]), None);
        assert_eq!(ridge(vec![-1.0]), None);
        assert_eq!(ridge(vec![f64::NAN]), None);
    }

    #[test]
    fn many_rows_of_few_columns_need_the_ridge_and_get_it() {
        let n = 150;
        let x: Vec<f64> = (0..3 * n).map(|k| ((k * 7919) % 101) as f64 / 37.0 - 1.3).collect();
        let mut table = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                table[i * n + j] = (0..3).map(|k| x[3 * i + k] * x[3 * j + k]).sum();
            }
        }
        let largest = (0..n).map(|i| table[i * n + i]).fold(0.0, f64::max);
        let found = ridge(table.clone()).expect("a table of products");
        assert!(found > 0.0 && found <= 1.01 * n as f64 * 0.5 * f64::EPSILON * largest, "{found:e}");
        // An eigenvalue of −1e-11 of the largest is not rounding.
        (0..n).for_each(|i| table[i * n + i] -= 1e-11 * n as f64);
        assert_eq!(ridge(table), None);
    }

    #[test]
    fn pairs_have_twice_the_digits() {
        let third = DoublePair::exact(1.0).over(DoublePair::exact(3.0));
        let one = third.times(DoublePair::exact(3.0)).add(DoublePair::exact(-1.0));
        assert!(one.value().abs() < 1e-31, "{one:?}");
        let root = DoublePair::exact(2.0).root().unwrap();
        assert!(root.times(root).add(DoublePair::exact(-2.0)).value().abs() < 1e-30);
    }
}

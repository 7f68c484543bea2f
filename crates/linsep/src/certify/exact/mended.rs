//! A direction of many coordinates, few of which are changed so that it vanishes exactly on some vectors.

use super::Effort;
use super::integer::{ExactSum, decode, lowest_exponent, reduce, whole};
use num_bigint::{BigInt, Sign};

/// The direction times a positive integer: integers at the changed coordinates, the given doubles elsewhere.
pub(crate) struct MendedDirection {
    values: Vec<BigInt>,
    /// The values are to be multiplied by two to this power.
    exponent: i32,
    factor: BigInt,
}

impl MendedDirection {
    /// Changes the coordinates `given` so that their product with each of the vectors (row-major) is zero; `None` where that
    /// takes too long.
    pub(crate) fn new(given: &[f64], vectors: &[f64], effort: Effort<'_>) -> Option<MendedDirection> {
        let reduced = reduce(vectors.chunks_exact(given.len().max(1)).map(whole).collect(), given.len(), effort)?;
        let exponent = given.iter().map(|v| decode(*v)).filter(|(m, _)| *m != 0).map(|(_, e)| e).min().unwrap_or(0);
        let given = whole(given);
        let mut values: Vec<BigInt> = given.iter().map(|v| v * &reduced.determinant).collect();
        let free: Vec<usize> = (0..given.len()).filter(|j| !reduced.pivots.contains(j)).collect();
        for (row, pivot) in reduced.rows.iter().zip(&reduced.pivots) {
            values[*pivot] = -free.iter().map(|j| &row[*j] * &given[*j]).sum::<BigInt>();
        }
        let mut factor = reduced.determinant;
        if factor.sign() == Sign::Minus {
            values.iter_mut().for_each(|v| *v = -std::mem::take(v));
            factor = -factor;
        }
        Some(MendedDirection { values, exponent, factor })
    }

    /// The sign of the product with a vector: its entries at the changed places, and products of entries and coordinates
    /// elsewhere.
    pub(crate) fn sign(&self, changed: &[(usize, f64)], elsewhere: impl Iterator<Item = (f64, f64)>) -> i32 {
        let decoded = || changed.iter().map(|(place, x)| (*place, decode(*x))).filter(|(_, (m, _))| *m != 0);
        let least = decoded().map(|(_, (_, e))| e).min().unwrap_or(0);
        let mut inside = BigInt::ZERO;
        for (place, (m, e)) in decoded() {
            inside += (&self.values[place] * m) << (e - least) as usize;
        }
        let mut outside = ExactSum::new();
        elsewhere.for_each(|(a, b)| outside.add_product(a, b));
        // Exponents of doubles are −1074 at least, so that of the sum is the lower one.
        let shift = (least + self.exponent - lowest_exponent()) as usize;
        match ((inside << shift) + outside.value() * &self.factor).sign() {
            Sign::Minus => -1,
            Sign::NoSign => 0,
            Sign::Plus => 1,
        }
    }
}

/// A largest set of exactly independent columns of a row-major matrix; `None` where that takes too long.
pub(crate) fn independent_columns(values: &[f64], cols: usize, effort: Effort<'_>) -> Option<Vec<usize>> {
    Some(reduce(values.chunks_exact(cols.max(1)).map(whole).collect(), cols, effort)?.pivots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mended_vanishes_and_the_rest_stays() {
        // (0.1, 0.7) on (7, −1) leaves rounding; outside, 0.3 stays 0.3.
        let watch = crate::watch::Watch::default();
        let effort = Effort::seconds(&watch);
        let mended = MendedDirection::new(&[0.1, 0.7], &[7.0, -1.0], effort).expect("small");
        assert_eq!(mended.sign(&[(0, 7.0), (1, -1.0)], std::iter::empty()), 0);
        assert_eq!(mended.sign(&[(0, 7.0), (1, -1.0)], [(0.3, 1e-300)].into_iter()), 1);
        assert_eq!(mended.sign(&[(0, 1.0)], [(0.3, -1.0)].into_iter()), -1);
        assert_eq!(independent_columns(&[1.0, 2.0, 0.0, 2.0, 4.0, 1.0], 3, effort), Some(vec![0, 2]));
    }
}

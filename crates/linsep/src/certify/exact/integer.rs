//! Doubles as the exact rationals that they are.

use super::effort::{Effort, cost_of_change};
use num_bigint::{BigInt, Sign};
use rayon::prelude::*;

/// `mantissa · 2^exponent`; zero has mantissa 0.
pub(super) fn decode(x: f64) -> (i64, i32) {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let (mantissa, exponent) = match exponent {
        0 => (fraction, -1074),
        e => (fraction | (1 << 52), e - 1075),
    };
    if mantissa == 0 {
        return (0, 0);
    }
    // Odd mantissas keep the integers of whole numbers small.
    let zeros = mantissa.trailing_zeros();
    let mantissa = mantissa >> zeros;
    (if x < 0.0 { -mantissa } else { mantissa }, exponent + zeros as i32)
}

/// Integers in the proportions of some doubles: all multiplied by one power of two.
pub(super) fn whole(values: &[f64]) -> Vec<BigInt> {
    let decoded: Vec<(i64, i32)> = values.iter().map(|v| decode(*v)).collect();
    let least = decoded.iter().filter(|(m, _)| *m != 0).map(|(_, e)| *e).min().unwrap_or(0);
    decoded.iter().map(|(m, e)| if *m == 0 { BigInt::ZERO } else { BigInt::from(*m) << (e - least) as usize }).collect()
}

/// Digits of 32 bits that hold any sum of products of two doubles: products reach from 2⁻²¹⁴⁸ to 2²⁰⁴⁸.
const DIGITS: usize = 140;
/// The exponent of the lowest bit: 68 digits of 32 bits below one, which is below 2⁻²¹⁴⁸.
const LOWEST: i32 = -2176;
/// Products added before carries are propagated: each adds less than 2³² to a digit of 63 bits.
const CARRY: u32 = 1 << 30;

/// A sum of products of doubles without rounding (Kulisch).
#[derive(Clone)]
pub(super) struct ExactSum {
    digits: Vec<i64>,
    /// Additions since carries were moved up.
    pending: u32,
}

impl ExactSum {
    pub(super) fn new() -> ExactSum {
        ExactSum { digits: vec![0; DIGITS], pending: 0 }
    }

    pub(super) fn add_product(&mut self, a: f64, b: f64) {
        let ((a, e), (b, f)) = (decode(a), decode(b));
        if a == 0 || b == 0 {
            return;
        }
        let product = i128::from(a) * i128::from(b);
        let (negative, size) = (product < 0, product.unsigned_abs());
        let shift = (e + f - LOWEST) as usize;
        let (digit, offset) = (shift / 32, shift % 32);
        // Two halves, so that the shift fits.
        for (half, start) in [(size as u64, digit), ((size >> 64) as u64, digit + 2)] {
            let mut moved = u128::from(half) << offset;
            let mut at = start;
            while moved > 0 {
                let piece = (moved & 0xffff_ffff) as i64;
                self.digits[at] += if negative { -piece } else { piece };
                moved >>= 32;
                at += 1;
            }
        }
        self.pending += 1;
        if self.pending == CARRY {
            self.carry();
        }
    }

    fn carry(&mut self) {
        self.pending = 0;
        for i in 0..DIGITS - 1 {
            let up = self.digits[i] >> 32;
            self.digits[i] -= up << 32;
            self.digits[i + 1] += up;
        }
    }

    /// The sum as a whole number times `2^LOWEST`.
    pub(super) fn value(&self) -> BigInt {
        let mut total = BigInt::ZERO;
        for digit in self.digits.iter().rev() {
            total = (total << 32usize) + BigInt::from(*digit);
        }
        total
    }

    /// The sign of the sum.
    pub(super) fn sign(&self) -> Sign {
        self.value().sign()
    }
}

/// The leading 53 bits of an integer as a double between ½ and 1 in size, and the exponent that goes with it: a relative
/// error below 2⁻⁵².
pub(super) fn leading(x: &BigInt) -> (f64, i64) {
    let bits = x.bits();
    if bits == 0 {
        return (0.0, 0);
    }
    let shift = bits.saturating_sub(53);
    let top = (x.magnitude() >> shift).iter_u64_digits().next().unwrap_or(0);
    let exponent = bits - shift;
    let size = top as f64 * 2f64.powi(-(exponent as i32));
    (if x.sign() == Sign::Minus { -size } else { size }, bits as i64)
}

/// The exponent that [`ExactSum::value`] leaves out.
pub(super) const fn lowest_exponent() -> i32 {
    LOWEST
}

/// Gauss–Jordan elimination without fractions (Bareiss 1968): every pivot row ends with the same number, the returned
/// determinant, in its pivot column and zeros in the others. Columns from `unknowns` on are carried along.
pub(super) struct ReducedMatrix {
    pub(super) rows: Vec<Vec<BigInt>>,
    /// The pivot column of each of the first rows.
    pub(super) pivots: Vec<usize>,
    pub(super) determinant: BigInt,
}

/// `None` where that would take longer than is allowed.
pub(super) fn reduce(mut rows: Vec<Vec<BigInt>>, unknowns: usize, effort: Effort<'_>) -> Option<ReducedMatrix> {
    let mut pivots = Vec::new();
    let mut last = BigInt::from(1);
    let (size, mut work) = ((rows.len() * rows.first().map_or(0, Vec::len)) as f64, 0.0);
    for column in 0..unknowns {
        let at = pivots.len();
        // The pivot with the fewest bits keeps the other entries shortest.
        let candidates = (at..rows.len()).filter(|i| rows[*i][column] != BigInt::ZERO);
        let Some(chosen) = { candidates }.min_by_key(|i| rows[*i][column].bits()) else { continue };
        rows.swap(at, chosen);
        let pivot_row = rows[at].clone();
        let pivot = pivot_row[column].clone();
        work += size * cost_of_change(pivot.bits());
        if !effort.allows(work) {
            return None;
        }
        rows.par_iter_mut().enumerate().filter(|(i, _)| *i != at).for_each(|(i, row)| {
            let factor = row[column].clone();
            for (value, of_pivot) in row.iter_mut().zip(&pivot_row) {
                match of_pivot.sign() == Sign::NoSign || factor.sign() == Sign::NoSign {
                    true if value.sign() == Sign::NoSign => {}
                    true => *value = &pivot * &*value / &last,
                    false => *value = (&pivot * &*value - &factor * of_pivot) / &last,
                }
            }
            debug_assert!(row[column] == BigInt::ZERO || i < at);
        });
        last = pivot;
        pivots.push(column);
        if pivots.len() == rows.len() {
            break;
        }
    }
    Some(ReducedMatrix { rows, pivots, determinant: last })
}

/// Divides by the greatest common divisor.
pub(super) fn shortened(mut values: Vec<BigInt>) -> Vec<BigInt> {
    let divisor = values.iter().fold(BigInt::ZERO, |g, v| gcd(g, v.clone()));
    if divisor > BigInt::from(1) {
        values.iter_mut().for_each(|v| *v /= &divisor);
    }
    values
}

fn gcd(a: BigInt, b: BigInt) -> BigInt {
    let (mut a, mut b) = (BigInt::from(a.into_parts().1), BigInt::from(b.into_parts().1));
    while b != BigInt::ZERO {
        let rest = a % &b;
        a = std::mem::replace(&mut b, rest);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Watch;

    #[test]
    fn doubles_are_decoded_without_loss() {
        for x in [1.0, -3.0, 0.1, 1e300, -1e-300, f64::MIN_POSITIVE / 8.0, 5e-324, 6.0e23, f64::MAX] {
            let (m, e) = decode(x);
            assert_eq!(m as f64 * 2f64.powi(e / 2) * 2f64.powi(e - e / 2), x);
        }
        assert_eq!(decode(0.0), (0, 0));
    }

    #[test]
    fn sums_forget_nothing() {
        let mut sum = ExactSum::new();
        for (a, b) in [(1e200, 1e100), (1e-200, 1e-100), (-1e200, 1e100)] {
            sum.add_product(a, b);
        }
        assert_eq!(sum.sign(), Sign::Plus);
        sum.add_product(-1e-200, 1e-100);
        assert_eq!(sum.sign(), Sign::NoSign);
        sum.add_product(f64::MAX, f64::MAX);
        sum.add_product(-f64::MIN_POSITIVE, f64::MIN_POSITIVE);
        assert_eq!(sum.sign(), Sign::Plus);
    }

    #[test]
    fn elimination_solves_exactly() {
        let big = |rows: &[&[i64]]| rows.iter().map(|r| r.iter().map(|v| BigInt::from(*v)).collect()).collect();
        // 2x + y = 5, x + 3y = 10: x = 1, y = 3.
        let (watch, none) = (Watch::default(), Watch::default());
        none.cancel();
        let reduced = reduce(big(&[&[2, 1, 5], &[1, 3, 10]]), 2, Effort::seconds(&watch)).expect("small");
        assert_eq!(reduced.pivots, [0, 1]);
        for (row, value) in reduced.rows.iter().zip([1, 3]) {
            assert_eq!(row[2], &reduced.determinant * BigInt::from(value));
        }
        // The second row is twice the first.
        let reduced = reduce(big(&[&[1, 2, 3], &[2, 4, 6]]), 3, Effort::seconds(&watch)).expect("small");
        assert_eq!(reduced.pivots, [0]);
        assert!(reduce(big(&[&[1, 2, 3], &[2, 4, 6]]), 3, Effort::minutes(&none)).is_none());
    }
}

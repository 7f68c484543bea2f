//! Doubles, and differences of two, as the dyadic numbers that they are; vectors of them.

use super::integer::decode;
use crate::error::Result;
use num_bigint::BigInt;

/// Bits that a mantissa of 53 may be shifted by in an `i128`, sign and a carry aside.
const ROOM: i32 = 72;

/// `mantissa·2^exponent`; zero has mantissa 0 and exponent 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dyadic {
    pub(super) mantissa: i128,
    pub(super) exponent: i32,
}

impl Dyadic {
    /// The exact value of a double.
    pub(crate) fn of(x: f64) -> Dyadic {
        let (mantissa, exponent) = decode(x);
        Dyadic { mantissa: i128::from(mantissa), exponent }
    }

    /// `x − c` without rounding; `None` where the two are too far apart for that.
    pub(crate) fn difference(x: f64, c: f64) -> Option<Dyadic> {
        let (a, b) = (Dyadic::of(x), Dyadic::of(c).negated());
        if a.mantissa == 0 || b.mantissa == 0 {
            return Some(if a.mantissa == 0 { b } else { a });
        }
        let least = a.exponent.min(b.exponent);
        if a.exponent.max(b.exponent) - least > ROOM {
            return None;
        }
        let mantissa = (a.mantissa << (a.exponent - least)) + (b.mantissa << (b.exponent - least));
        let zeros = if mantissa == 0 { 0 } else { mantissa.trailing_zeros() as i32 };
        Some(Dyadic { mantissa: mantissa >> zeros, exponent: if mantissa == 0 { 0 } else { least + zeros } })
    }

    /// The negative.
    pub(crate) fn negated(self) -> Dyadic {
        Dyadic { mantissa: -self.mantissa, ..self }
    }

    /// Whether it is zero.
    pub(crate) fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// The double that it came from.
    pub(crate) fn as_double(self) -> f64 {
        let half = self.exponent / 2;
        self.mantissa as f64 * 2f64.powi(half) * 2f64.powi(self.exponent - half)
    }

    /// Whether `Σ z·x = 0` over the coordinates of x.
    pub(crate) fn is_zero_combination(z: &[BigInt], x: &[(usize, Dyadic)]) -> bool {
        let Some(least) = x.iter().map(|(_, x)| x.exponent).min() else { return true };
        let mut sum = BigInt::ZERO;
        x.iter().for_each(|(at, x)| sum += &z[*at] * x.over(least));
        sum == BigInt::ZERO
    }

    /// The integer `self / 2^exponent`, for an exponent that is not above its own.
    pub(super) fn over(self, exponent: i32) -> BigInt {
        if self.mantissa == 0 {
            BigInt::ZERO
        } else {
            BigInt::from(self.mantissa) << (self.exponent - exponent) as usize
        }
    }
}

/// Vectors of one dimension with few entries that are not zero.
pub(crate) trait DyadicVectors: Sync {
    /// The number of coordinates.
    fn dimension(&self) -> usize;

    /// The number of vectors.
    fn count(&self) -> usize;

    /// About how many entries of a vector are not zero, for the estimate of the work.
    fn entries_at_most(&self) -> usize {
        self.dimension()
    }

    /// The entries of a vector that are not zero, one for each of their coordinates.
    fn entries(&self, at: usize, out: &mut Vec<(usize, Dyadic)>) -> Result<()>;
}

/// Vectors held in memory.
pub(crate) struct ListedVectors {
    pub(crate) dimension: usize,
    pub(crate) vectors: Vec<Vec<(usize, Dyadic)>>,
}

impl DyadicVectors for ListedVectors {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn count(&self) -> usize {
        self.vectors.len()
    }

    fn entries_at_most(&self) -> usize {
        self.vectors.iter().map(Vec::len).sum::<usize>() / self.vectors.len().max(1) + 1
    }

    fn entries(&self, at: usize, out: &mut Vec<(usize, Dyadic)>) -> Result<()> {
        out.clear();
        out.extend_from_slice(&self.vectors[at]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_not_rounded() {
        let found = Dyadic::difference(1e9 + 1.0, 1e9).expect("near");
        assert_eq!(found, Dyadic::of(1.0));
        assert!(Dyadic::difference(3.5, 3.5).is_some_and(Dyadic::is_zero));
        // 1 + 2⁻⁶⁰ is no double.
        let found = Dyadic::difference(1.0, -(2f64.powi(-60))).expect("near");
        assert_eq!((found.mantissa, found.exponent), ((1 << 60) + 1, -60));
        assert_eq!(Dyadic::difference(1e300, 1e-300), None);
        assert_eq!(Dyadic::of(0.75).over(-4), BigInt::from(12));
    }
}

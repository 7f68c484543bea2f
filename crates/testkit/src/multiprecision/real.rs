//! Numbers of 400 bits.

use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;
use std::cmp::Ordering;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// Bits of a significand.
pub(super) const BITS: usize = 400;

pub(super) type Float = FBig<HalfEven, 2>;

/// A binary number of 400 bits, rounded to even; its exponent does not run out.
#[derive(Clone, PartialEq, Eq)]
pub struct Real(pub(super) Float);

impl Real {
    /// Zero.
    pub fn zero() -> Real {
        Real::from(0.0)
    }

    /// One.
    pub fn one() -> Real {
        Real::from(1.0)
    }

    /// `10^exponent`, nearly.
    pub fn power_of_ten(exponent: i32) -> Real {
        let ten = Real::from(10.0);
        let power = (0..exponent.unsigned_abs()).fold(Real::one(), |p, _| &p * &ten);
        if exponent < 0 { Real::one() / &power } else { power }
    }

    /// `2^exponent`.
    pub fn power_of_two(exponent: isize) -> Real {
        Real(Real::one().0 << exponent)
    }

    /// The nearest double.
    pub fn to_f64(&self) -> f64 {
        self.0.to_f64().value()
    }

    /// The sign as −1, 0 or 1.
    pub fn sign(&self) -> i32 {
        match self.partial_cmp(&Real::zero()) {
            Some(Ordering::Less) => -1,
            Some(Ordering::Greater) => 1,
            _ => 0,
        }
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.0.repr().is_zero()
    }

    /// The absolute value.
    pub fn abs(&self) -> Real {
        if self.sign() < 0 { -self } else { self.clone() }
    }

    /// The larger of two.
    pub fn max(self, other: Real) -> Real {
        if other > self { other } else { self }
    }

    /// The smaller of two.
    pub fn min(self, other: Real) -> Real {
        if other < self { other } else { self }
    }

    /// The square root of a number that is not negative.
    pub fn sqrt(&self) -> Real {
        if self.is_zero() {
            return Real::zero();
        }
        let context = dashu_float::Context::<HalfEven>::new(BITS);
        Real(context.sqrt(self.0.repr()).value())
    }
}

impl From<f64> for Real {
    /// Exact.
    ///
    /// # Panics
    /// If the double is not finite.
    fn from(value: f64) -> Real {
        assert!(value.is_finite(), "{value} is no number");
        let exact = Float::try_from(value).expect("finite doubles have a value");
        Real(exact.with_precision(BITS).value())
    }
}

impl PartialOrd for Real {
    fn partial_cmp(&self, other: &Real) -> Option<Ordering> {
        self.0.partial_cmp(&other.0)
    }
}

macro_rules! operation {
    ($($trait:ident $method:ident $op:tt;)*) => {$(
        impl $trait<&Real> for &Real {
            type Output = Real;
            fn $method(self, other: &Real) -> Real {
                Real(&self.0 $op &other.0)
            }
        }
        impl $trait<Real> for &Real {
            type Output = Real;
            fn $method(self, other: Real) -> Real {
                Real(&self.0 $op &other.0)
            }
        }
        impl $trait<&Real> for Real {
            type Output = Real;
            fn $method(self, other: &Real) -> Real {
                Real(&self.0 $op &other.0)
            }
        }
        impl $trait<Real> for Real {
            type Output = Real;
            fn $method(self, other: Real) -> Real {
                Real(&self.0 $op &other.0)
            }
        }
    )*};
}

operation! { Add add +; Sub sub -; Mul mul *; Div div /; }

impl AddAssign<Real> for Real {
    fn add_assign(&mut self, other: Real) {
        self.0 = &self.0 + &other.0;
    }
}

impl SubAssign<Real> for Real {
    fn sub_assign(&mut self, other: Real) {
        self.0 = &self.0 - &other.0;
    }
}

impl Neg for &Real {
    type Output = Real;
    fn neg(self) -> Real {
        Real(-self.0.clone())
    }
}

impl Neg for Real {
    type Output = Real;
    fn neg(self) -> Real {
        Real(-self.0)
    }
}

impl Sum for Real {
    fn sum<I: Iterator<Item = Real>>(values: I) -> Real {
        values.fold(Real::zero(), |sum, value| sum + value)
    }
}

impl fmt::Debug for Real {
    /// Seventeen digits, with exponents beyond those of doubles.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let near = self.to_f64();
        if self.is_zero() || (near.is_finite() && near.abs() > 1e-300) {
            return write!(f, "{near:e}");
        }
        let size = self.0.repr().exponent() + self.0.repr().digits() as isize;
        write!(f, "{}2^{size}", if self.sign() < 0 { "-" } else { "" })
    }
}

/// `Σ aᵢbᵢ`.
pub(super) fn dot(a: &[Real], b: &[Real]) -> Real {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_exact_and_sums_keep_400_bits() {
        let tiny = Real::from(f64::from_bits(1));
        assert_eq!(tiny.to_f64(), f64::from_bits(1));
        let sum = Real::from(1.0) + Real::power_of_two(-390);
        assert_eq!((sum - Real::one()).to_f64(), 2f64.powi(-390));
        assert_eq!(Real::from(1e300) * Real::from(1e300) / Real::from(1e300), Real::from(1e300));
    }

    #[test]
    fn roots_and_powers() {
        let two = Real::from(2.0);
        let root = two.sqrt();
        assert!((&root * &root - two).abs() < Real::power_of_two(-395));
        assert_eq!(Real::power_of_ten(3).to_f64(), 1000.0);
        assert!((Real::power_of_ten(-50).to_f64() - 1e-50).abs() < 1e-65);
    }
}

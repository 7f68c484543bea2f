//! Four numbers side by side, for loops whose registers have to be counted.
//!
//! The compiler does not keep the running sums of two rows and several scores in vector registers by itself: with plain arrays
//! in loops that are compiled twice the products of [`crate::linalg`] took 1.9 to 2.7 times as long (d = 20 … 784, 3 to 16
//! scores). So the registers have a type, and a loop takes that or the portable one.

/// Four numbers, and the operations of the kernels on them.
pub(crate) trait Lanes: Copy {
    /// Zeros.
    fn zero() -> Self;

    /// Four given ones.
    fn of(values: &[f64; 4]) -> Self;

    /// `self − other`.
    fn minus(self, other: Self) -> Self;

    /// `self · factor + sum`.
    fn times_plus(self, factor: Self, sum: Self) -> Self;

    /// Their sum: the first and the third, and the second and the fourth.
    fn total(self) -> f64;

    /// `a b + sum` of single numbers, rounded as those of four are.
    fn one_times_plus(a: f64, b: f64, sum: f64) -> f64;
}

/// On any machine; products are rounded before they are added.
#[derive(Clone, Copy)]
pub(crate) struct Portable([f64; 4]);

impl Lanes for Portable {
    #[inline(always)]
    fn zero() -> Portable {
        Portable([0.0; 4])
    }

    #[inline(always)]
    fn of(values: &[f64; 4]) -> Portable {
        Portable(*values)
    }

    #[inline(always)]
    fn minus(self, other: Portable) -> Portable {
        Portable(std::array::from_fn(|i| self.0[i] - other.0[i]))
    }

    #[inline(always)]
    fn times_plus(self, factor: Portable, sum: Portable) -> Portable {
        Portable(std::array::from_fn(|i| self.0[i] * factor.0[i] + sum.0[i]))
    }

    #[inline(always)]
    fn total(self) -> f64 {
        (self.0[0] + self.0[2]) + (self.0[1] + self.0[3])
    }

    #[inline(always)]
    fn one_times_plus(a: f64, b: f64, sum: f64) -> f64 {
        a * b + sum
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::Lanes;
    use std::arch::x86_64::*;

    /// A register of AVX2, with fused products. Only `vectorised!` names it, for functions compiled for these units and called
    /// where they are there; all of this is inlined into them.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(__m256d);

    impl Lanes for Avx2 {
        #[inline(always)]
        fn zero() -> Avx2 {
            // SAFETY: the machine has AVX2, see the type; so below.
            Avx2(unsafe { _mm256_setzero_pd() })
        }

        #[inline(always)]
        fn of(values: &[f64; 4]) -> Avx2 {
            // SAFETY: there are four values; any alignment will do.
            Avx2(unsafe { _mm256_loadu_pd(values.as_ptr()) })
        }

        #[inline(always)]
        fn minus(self, other: Avx2) -> Avx2 {
            // SAFETY: see above.
            Avx2(unsafe { _mm256_sub_pd(self.0, other.0) })
        }

        #[inline(always)]
        fn times_plus(self, factor: Avx2, sum: Avx2) -> Avx2 {
            // SAFETY: see above, FMA among the units.
            Avx2(unsafe { _mm256_fmadd_pd(self.0, factor.0, sum.0) })
        }

        #[inline(always)]
        fn total(self) -> f64 {
            // SAFETY: see above.
            unsafe {
                let halves = _mm_add_pd(_mm256_castpd256_pd128(self.0), _mm256_extractf128_pd(self.0, 1));
                _mm_cvtsd_f64(_mm_add_sd(halves, _mm_unpackhi_pd(halves, halves)))
            }
        }

        #[inline(always)]
        fn one_times_plus(a: f64, b: f64, sum: f64) -> f64 {
            a.mul_add(b, sum)
        }
    }
}

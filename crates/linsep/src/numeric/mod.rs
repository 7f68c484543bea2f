//! Functions of numbers, without domain words. Each is written once, here, and states its range.

mod differences;
mod digamma;
mod exp;
mod exp32;
mod incomplete_beta;
mod incomplete_gamma;
mod lanes;
mod ln;
mod ln_gamma;
mod log_sum_exp;
mod logistic;
mod memory;
mod newton_quantile;
mod normal;
mod normal_cdf;
mod rounding;
mod stirling;
mod sum;
mod tail_integral;
mod tails;
mod vector_units;

pub use digamma::ln_minus_digamma;
pub use exp::{EXP_ERROR, exp, exp_falling};
pub use exp32::exp32;
#[cfg(target_arch = "x86_64")]
pub(crate) use lanes::Avx2;
pub(crate) use lanes::{Lanes, Portable};
pub use ln::ln;
pub use ln_gamma::ln_gamma;
pub use log_sum_exp::{SoftmaxRow, softmax_rows};
pub use logistic::{LogisticTerms, logistic, logistic_terms, softplus};
pub use memory::has_room;
pub use normal::normal_quantile;
pub use normal_cdf::{NormalTail, normal_cdf, normal_tail, normal_two_sided_ln};
pub use rounding::{UNIT, bound_text, printed_above, printed_below, rounding_bound};
pub use sum::{CompensatedSum, Merge, sum, two_sum};
pub use tails::{
    beta_ln_cdf, beta_quantile, beta_upper_quantile, chi_square_ln_tail, chi_square_quantile, f_ln_tail, f_quantile,
    student_quantile, student_two_sided_ln,
};
#[cfg(target_arch = "x86_64")]
pub(crate) use vector_units::has_wide_units;
#[doc(hidden)]
pub use vector_units::{wide_units_in_use, without_wide_units};

/// Defines functions whose plain loops are compiled twice, for the baseline and for AVX2 with fused multiply-add, and
/// chosen when called by what the machine has. One build, so the same machine always takes the same branch. A function of
/// `L: Lanes` gets the vector registers by their type.
macro_rules! vectorised {
    ($($(#[$attribute:meta])* $visible:vis fn $name:ident<$lanes:ident: Lanes>($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {$(
        $(#[$attribute])*
        $visible fn $name($($argument: $type),*) {
            #[inline(always)]
            fn of_lanes<$lanes: $crate::numeric::Lanes>($($argument: $type),*) $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn wide($($argument: $type),*) {
                    of_lanes::<$crate::numeric::Avx2>($($argument),*)
                }
                if $crate::numeric::has_wide_units() {
                    // SAFETY: the two features were found on this machine.
                    return unsafe { wide($($argument),*) };
                }
            }
            of_lanes::<$crate::numeric::Portable>($($argument),*)
        }
    )*};
    ($($(#[$attribute:meta])* $visible:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {$(
        $(#[$attribute])*
        $visible fn $name($($argument: $type),*) {
            #[inline(always)]
            fn plain($($argument: $type),*) $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn wide($($argument: $type),*) {
                    plain($($argument),*)
                }
                if $crate::numeric::has_wide_units() {
                    // SAFETY: the two features were found on this machine.
                    return unsafe { wide($($argument),*) };
                }
            }
            plain($($argument),*)
        }
    )*};
}
pub(crate) use vectorised;

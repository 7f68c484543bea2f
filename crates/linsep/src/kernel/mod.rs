//! Kernels: inner products of rows in a feature space that is never formed.
//!
//! Values come in blocks, some rows against many: a packed matrix product and then a function of every entry, which is
//! what makes them cheap. Any block gives the same bits for the same pair of rows: each product is one chain of fused
//! multiply-adds over the columns in their order.

mod block;
mod definite;
mod enclosure;
mod panels;
mod plane;
mod rows;
mod semidefinite;

pub use definite::{Definiteness, NegativeCurvature};

// For the other stages, the command, the extension and the tests: nothing is promised about these.
#[doc(hidden)]
pub use self::{
    block::{KernelSum, TargetRows, kernel_rows, kernel_table},
    definite::definiteness,
    enclosure::{EnclosedValues, ProofRows},
    panels::Real,
    rows::{KernelRows, StoredRows},
};

use crate::error::{Error, Result};
use crate::numeric::{exp, exp_falling, exp32, vectorised};
use crate::words::{Setting, words};
use serde::{Deserialize, Serialize};

/// A kernel with its parameters.
///
/// ```
/// use linsep::kernel::Kernel;
/// let squared = Kernel::Polynomial { gamma: 1.0, coef0: 1.0, degree: 2 };
/// assert_eq!(squared.of_product(3.0), 16.0);
/// assert!(Kernel::Rbf { gamma: 0.0 }.check().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Kernel {
    /// `x·y`.
    Linear,
    /// `(γ x·y + c)^q`.
    Polynomial {
        /// γ.
        gamma: f64,
        /// c.
        coef0: f64,
        /// q.
        degree: u32,
    },
    /// `exp(−γ‖x−y‖²)`.
    Rbf {
        /// γ.
        gamma: f64,
    },
    /// `tanh(γ x·y + c)`, not positive semidefinite in general.
    Sigmoid {
        /// γ.
        gamma: f64,
        /// c.
        coef0: f64,
    },
    /// Column j of a row is its kernel value with training row j.
    Precomputed,
}

/// The largest degree of a polynomial: products of order ten overflow at a degree of 308, and powers beyond this say
/// nothing. Chosen, not measured.
const MOST_DEGREE: u32 = 64;

impl Kernel {
    /// The name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Kernel::Linear => "linear",
            Kernel::Polynomial { .. } => "polynomial",
            Kernel::Rbf { .. } => "rbf",
            Kernel::Sigmoid { .. } => "sigmoid",
            Kernel::Precomputed => "precomputed",
        }
    }

    /// γ, where there is one.
    pub fn gamma(&self) -> Option<f64> {
        match self {
            Kernel::Linear | Kernel::Precomputed => None,
            Kernel::Polynomial { gamma, .. } | Kernel::Rbf { gamma } | Kernel::Sigmoid { gamma, .. } => Some(*gamma),
        }
    }

    /// The kernel in symbols, with its parameters.
    pub fn formula(&self) -> String {
        let plus = |c: &f64| if *c < 0.0 { format!("− {}", -c) } else { format!("+ {c}") };
        match self {
            Kernel::Linear => "x·y".into(),
            Kernel::Polynomial { gamma, coef0, degree } => format!("({gamma} x·y {})^{degree}", plus(coef0)),
            Kernel::Rbf { gamma } => format!("exp(−{gamma}‖x−y‖²)"),
            Kernel::Sigmoid { gamma, coef0 } => format!("tanh({gamma} x·y {})", plus(coef0)),
            Kernel::Precomputed => "as given".into(),
        }
    }

    /// Parameters that make a kernel.
    pub fn check(&self) -> Result<()> {
        let gamma = self.gamma().unwrap_or(1.0);
        if !(gamma > 0.0 && gamma.is_finite()) {
            let why = if gamma == 0.0 { ": every pair of rows would look alike" } else { "" };
            return Err(Error::usage(format!("γ = {gamma} is not a positive number{why}"))
                .help(words!["for example ", Setting::Gamma.is("0.1")])
                .help("leave it out for 1/(columns × variance)"));
        }
        let coef0 = match self {
            Kernel::Polynomial { coef0, .. } | Kernel::Sigmoid { coef0, .. } => *coef0,
            _ => 0.0,
        };
        if !coef0.is_finite() {
            return Err(Error::usage(format!("the constant {coef0} of the kernel is not a number"))
                .help(words!["for example ", Setting::Coef0.is("1")]));
        }
        match self {
            Kernel::Polynomial { degree, .. } if !(1..=MOST_DEGREE).contains(degree) => {
                Err(Error::usage(format!("the degree {degree} is not between 1 and {MOST_DEGREE}"))
                    .help(words!["for example ", Setting::Degree.is("3")]))
            }
            _ => Ok(()),
        }
    }

    /// Whether every table of its values is positive semidefinite, whatever the rows.
    pub fn is_definite(&self) -> bool {
        match self {
            Kernel::Linear | Kernel::Rbf { .. } => true,
            Kernel::Polynomial { coef0, .. } => *coef0 >= 0.0,
            Kernel::Sigmoid { .. } | Kernel::Precomputed => false,
        }
    }

    /// Whether a common shift of all rows changes nothing.
    pub fn is_shift_invariant(&self) -> bool {
        matches!(self, Kernel::Rbf { .. })
    }

    /// The value for an inner product; kernels of distances see two rows of length zero.
    pub fn of_product(&self, product: f64) -> f64 {
        let mut value = [product];
        self.finish_f64(&mut value, 0.0, &[0.0]);
        value[0]
    }

    /// `K(x, x)` of a row with this squared length.
    pub fn of_itself(&self, square: f64) -> f64 {
        match self {
            Kernel::Rbf { .. } => 1.0,
            _ => self.of_product(square),
        }
    }

    /// Products to kernel values, in place: those of one row, of squared length `own`, with many.
    pub(crate) fn finish_f64(&self, values: &mut [f64], own: f64, squares: &[f64]) {
        match *self {
            Kernel::Linear | Kernel::Precomputed => {}
            Kernel::Rbf { gamma } => rbf_f64(values, own, squares, gamma),
            Kernel::Polynomial { gamma, coef0, degree } => power_f64(values, gamma, coef0, degree),
            Kernel::Sigmoid { gamma, coef0 } => tanh_f64(values, gamma, coef0),
        }
    }

    /// The same in single precision.
    pub(crate) fn finish_f32(&self, values: &mut [f32], own: f32, squares: &[f32]) {
        match *self {
            Kernel::Linear | Kernel::Precomputed => {}
            Kernel::Rbf { gamma } => rbf_f32(values, own, squares, gamma as f32),
            Kernel::Polynomial { gamma, coef0, degree } => power_f32(values, gamma, coef0, degree),
            Kernel::Sigmoid { gamma, coef0 } => tanh_f32(values, gamma, coef0),
        }
    }
}

/// `tanh z = 1 − 2/(e^{2z} + 1)`: a small absolute error everywhere, a large relative one only near zero.
#[inline(always)]
fn tanh(z: f64) -> f64 {
    1.0 - 2.0 / (exp(2.0 * z) + 1.0)
}

#[inline(always)]
fn power(base: f64, degree: u32) -> f64 {
    (1..degree).fold(base, |p, _| p * base)
}

vectorised! {
    /// Squared distances to values of the exponential kernel.
    fn rbf_of_distances(values: &mut [f64], gamma: f64) {
        values.iter_mut().for_each(|v| *v = exp_falling(-gamma * *v));
    }

    fn rbf_f64(values: &mut [f64], own: f64, squares: &[f64], gamma: f64) {
        for (v, s) in values.iter_mut().zip(squares) {
            // The same row gives exactly zero: its product with itself is its square, to the bit.
            let distance = (-2.0f64).mul_add(*v, own + s);
            *v = exp_falling(-gamma * if distance > 0.0 { distance } else { 0.0 });
        }
    }

    fn rbf_f32(values: &mut [f32], own: f32, squares: &[f32], gamma: f32) {
        for (v, s) in values.iter_mut().zip(squares) {
            let distance = (-2.0f32).mul_add(*v, own + s);
            *v = exp32(-gamma * if distance > 0.0 { distance } else { 0.0 });
        }
    }

    fn power_f64(values: &mut [f64], gamma: f64, coef0: f64, degree: u32) {
        for v in values.iter_mut() {
            *v = power(gamma.mul_add(*v, coef0), degree);
        }
    }

    fn power_f32(values: &mut [f32], gamma: f64, coef0: f64, degree: u32) {
        for v in values.iter_mut() {
            *v = power(gamma.mul_add(f64::from(*v), coef0), degree) as f32;
        }
    }

    fn tanh_f64(values: &mut [f64], gamma: f64, coef0: f64) {
        for v in values.iter_mut() {
            *v = tanh(gamma.mul_add(*v, coef0));
        }
    }

    fn tanh_f32(values: &mut [f32], gamma: f64, coef0: f64) {
        for v in values.iter_mut() {
            *v = tanh(gamma.mul_add(f64::from(*v), coef0)) as f32;
        }
    }
}

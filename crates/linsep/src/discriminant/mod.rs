//! Functions of a row whose largest value names the class.

mod additive;
mod blocks;
mod generalised;
mod kernel;
mod linear;
mod quadratic;
mod stack;

pub use generalised::{Generalised, LogTerm, Term, TermFunction};
pub use kernel::KernelExpansion;
pub(crate) use kernel::stored as stored_block;
pub use linear::Linear;
pub use quadratic::Quadratic;
pub use stack::Stack;

// For the other stages, the command, the extension and the tests: nothing is promised about these.
#[doc(hidden)]
pub use additive::{Additive, ScoreShare};

use crate::design::Design;
use crate::error::{Error, Result};
use crate::role::{Role, Roles};
use crate::watch::Watch;
use serde::{Deserialize, Serialize};

/// The discriminants of a fitted model; a closed list, because it is what a model file may hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Discriminant {
    /// `g(x) = W x + w₀`.
    Linear(Linear),
    /// `g_k(x) = c_k − ½‖A_k(x − μ_k)‖²`.
    Quadratic(Quadratic),
    /// `g(x) = Σ w·φ(x) + b` with functions of single columns.
    Generalised(Generalised),
    /// `g(x) = Σ c K(x_i, x) + b` over support rows.
    Kernel(KernelExpansion),
    /// Discriminants of two classes side by side, where they are not all linear.
    Stack(Stack),
}

impl Discriminant {
    /// The point that everything else is about: the certificate proves it, or a second fit finds it again.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::All(Role::Claim);

    /// Number of scores: one for two classes, else one per class, or one for every two-class fit.
    pub fn n_scores(&self) -> usize {
        match self {
            Discriminant::Linear(linear) => linear.n_scores(),
            Discriminant::Quadratic(quadratic) => quadratic.n_scores(),
            Discriminant::Generalised(generalised) => generalised.n_scores(),
            Discriminant::Kernel(kernel) => kernel.n_scores(),
            Discriminant::Stack(stack) => stack.n_scores(),
        }
    }

    /// Numbers other than zero that it takes to score a row: weights, intercepts, centres and factors of quadratic scores,
    /// coefficients and support rows of kernels. Centres of linear scores are a matter of rounding, and do not count.
    pub fn size(&self) -> usize {
        let nonzero = |values: &[f64]| values.iter().filter(|v| **v != 0.0).count();
        match self {
            Discriminant::Linear(linear) => {
                let weights: usize = (0..linear.n_scores()).map(|k| nonzero(linear.weights_of(k))).sum();
                weights + linear.n_scores()
            }
            Discriminant::Quadratic(quadratic) => {
                (0..quadratic.n_classes()).map(|k| nonzero(quadratic.whitening(k)) + quadratic.n_cols() + 1).sum()
            }
            Discriminant::Generalised(general) => {
                let of = |k: usize| nonzero(general.linear_of(k)) + nonzero(general.square_of(k)) + 1;
                let logarithms = general.logarithms().len() * general.n_scores();
                (0..general.n_scores()).map(of).sum::<usize>() + logarithms
            }
            Discriminant::Kernel(kernel) => {
                nonzero(kernel.coefficients()) + kernel.support_rows().len() * kernel.n_cols() + kernel.n_scores()
            }
            Discriminant::Stack(stack) => stack.parts().iter().map(Discriminant::size).sum(),
        }
    }

    /// Scores of every row of a design.
    pub fn scores(&self, design: &dyn Design, watch: &Watch) -> Result<Vec<f64>> {
        match self {
            Discriminant::Linear(linear) => linear.scores(design, watch),
            Discriminant::Quadratic(quadratic) => quadratic.scores(design, watch),
            Discriminant::Generalised(generalised) => generalised.scores(design, watch),
            Discriminant::Kernel(kernel) => kernel.scores(design, watch),
            Discriminant::Stack(stack) => stack.scores(design, watch),
        }
    }

    /// `width` values per row of a design, made from the scores of a block of rows at a time by `finish`.
    pub fn each_block<T: Send>(
        &self,
        design: &dyn Design,
        watch: &Watch,
        width: usize,
        out: &mut [T],
        finish: impl Fn(&[f64], &mut [T]) + Sync,
    ) -> Result<()> {
        match self {
            Discriminant::Linear(linear) => linear.each_block(design, watch, width, out, finish),
            Discriminant::Quadratic(quadratic) => quadratic.each_block(design, watch, width, out, finish),
            Discriminant::Generalised(generalised) => generalised.each_block(design, watch, width, out, finish),
            Discriminant::Kernel(kernel) => kernel.each_block(design, watch, width, out, finish),
            Discriminant::Stack(stack) => stack.each_block(design, watch, width, out, finish),
        }
    }

    /// The linear form, where there is one.
    pub fn as_linear(&self) -> Option<&Linear> {
        match self {
            Discriminant::Linear(linear) => Some(linear),
            Discriminant::Quadratic(_) => None,
            Discriminant::Generalised(_) | Discriminant::Kernel(_) | Discriminant::Stack(_) => None,
        }
    }

    /// The form in functions of columns, where it is not linear in the columns themselves.
    pub fn as_generalised(&self) -> Option<&Generalised> {
        match self {
            Discriminant::Linear(_) | Discriminant::Quadratic(_) | Discriminant::Kernel(_) | Discriminant::Stack(_) => {
                None
            }
            Discriminant::Generalised(generalised) => Some(generalised),
        }
    }

    /// The expansion in kernel values, where it is one.
    pub fn as_kernel(&self) -> Option<&KernelExpansion> {
        match self {
            Discriminant::Kernel(kernel) => Some(kernel),
            Discriminant::Linear(_)
            | Discriminant::Quadratic(_)
            | Discriminant::Generalised(_)
            | Discriminant::Stack(_) => None,
        }
    }

    /// The same discriminants with a number added to each score.
    ///
    /// # Errors
    /// Where there are not as many numbers as scores, or sums that are no numbers.
    pub fn plus(&self, numbers: &[f64]) -> Result<Discriminant> {
        if self.n_scores() != numbers.len() {
            return Err(Error::usage(format!("{} numbers for {} scores", numbers.len(), self.n_scores())));
        }
        Ok(match self {
            Discriminant::Linear(linear) => Discriminant::Linear(linear.plus(numbers)?),
            Discriminant::Quadratic(quadratic) => Discriminant::Quadratic(quadratic.plus(numbers)?),
            Discriminant::Generalised(generalised) => Discriminant::Generalised(generalised.plus(numbers)?),
            Discriminant::Kernel(kernel) => Discriminant::Kernel(kernel.plus(numbers)),
            Discriminant::Stack(_) => return Err(Error::usage("no numbers are added to the scores of two-class fits")),
        })
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        match self {
            Discriminant::Linear(linear) => linear.n_cols(),
            Discriminant::Quadratic(quadratic) => quadratic.n_cols(),
            Discriminant::Generalised(generalised) => generalised.n_cols(),
            Discriminant::Kernel(kernel) => kernel.n_cols(),
            Discriminant::Stack(stack) => stack.n_cols(),
        }
    }

    /// Whether sizes fit together and all numbers are finite: what a file could get wrong.
    pub(crate) fn is_whole(&self) -> bool {
        match self {
            Discriminant::Linear(linear) => linear.is_whole(),
            Discriminant::Quadratic(quadratic) => quadratic.is_whole(),
            Discriminant::Generalised(generalised) => generalised.is_whole(),
            Discriminant::Kernel(kernel) => kernel.is_whole(),
            Discriminant::Stack(stack) => stack.is_whole(),
        }
    }
}

//! The perceptron with a kernel: α counts mistakes.

use super::kernel_choice::{KernelChoice, Prepared, learn, support};
use super::kernel_svm::{signs, sums};
use super::{Computation, Fit, Fitted, Note, Objective, Outcome, Training};
use crate::certify::Certificate;
use crate::design::{Standardize, Units};
use crate::discriminant::{Discriminant, KernelExpansion};
use crate::error::{Error, Result};
use crate::kernel::{Definiteness, Kernel, KernelRows, definiteness};
use crate::solve::{KernelPerceptronRun, Order, Stop};
use crate::watch::Watch;
use serde::{Deserialize, Serialize};

/// `g = Σ α y K(x_i, ·)`, where α counts the mistakes `y g(x_i) ≤ 0` on row i; two classes.
///
/// ```
/// use linsep::design::DenseMatrix;
/// use linsep::model::{Fit, KernelPerceptron, Method, Training};
/// use linsep::table::Labels;
/// let x = DenseMatrix::new(vec![0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0], 2)?;
/// let y = Labels::from_names(["same", "same", "other", "other"]);
/// let fit = Method::KernelPerceptron(KernelPerceptron::default()).fit(&Training::new(&x, &y), &Default::default())?;
/// let Fit::Model(model) = fit else { panic!("it always gives a model") };
/// assert_eq!(model.objective.value, 0.0);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelPerceptron {
    /// The kernel.
    pub kernel: KernelChoice,
    /// The order of the rows.
    pub order: Order,
    /// Seed of the orders.
    pub seed: u64,
    /// Stop after this many epochs.
    pub max_epochs: usize,
    /// Whether the kernel looks at standardised columns.
    pub standardize: Standardize,
}

impl Default for KernelPerceptron {
    fn default() -> KernelPerceptron {
        KernelPerceptron {
            kernel: KernelChoice::default(),
            order: Order::Shuffled,
            seed: 0,
            max_epochs: 1_000,
            standardize: Standardize::Yes,
        }
    }
}

/// A machine on its training rows.
struct Measured {
    errors: f64,
    total: f64,
    certificate: Certificate,
}

impl KernelPerceptron {
    pub(super) fn standardize(&self) -> Standardize {
        match self.kernel {
            KernelChoice::Precomputed => Standardize::No,
            _ => self.standardize,
        }
    }

    pub(super) fn fit(&self, training: &Training<'_>, watch: &Watch) -> Result<Fit> {
        self.check(training)?;
        let Prepared { kernel, units, rows } = Prepared::new(&self.kernel, self.standardize, false, training, watch)?;
        let signs = signs(training);
        let visits = (0..signs.len()).filter(|i| training.weights.is_none_or(|w| w[*i] > 0.0)).collect();
        let mut run = KernelPerceptronRun::new(&kernel, &rows, &signs, visits, self.order, self.seed);
        let stop = run.run(self.max_epochs, watch);
        let ids: Vec<usize> = (0..signs.len()).filter(|i| run.counts()[*i] > 0).collect();
        let coefficients: Vec<f64> = ids.iter().map(|i| signs[*i] * run.counts()[*i] as f64).collect();
        let signed: Vec<f64> = (0..signs.len()).map(|i| signs[i] * run.counts()[i] as f64).collect();
        let stored = support(training, &kernel, &ids)?;
        let found = measure(training, &kernel, &rows, &signed, Some(run.mistakes()))?;
        let mut notes = Vec::new();
        match definiteness(&kernel, &rows) {
            Definiteness::Indefinite(evidence) => notes.push(Note::Indefinite { evidence: Some(evidence) }),
            Definiteness::Definite | Definiteness::Unknown => {}
        }
        Ok(Fit::Model(Box::new(Fitted {
            discriminant: Discriminant::Kernel(KernelExpansion::new(
                kernel,
                units.clone(),
                ids,
                stored,
                coefficients,
                vec![0.0],
            )?),
            units,
            objective: Objective {
                formula: format!(
                    "no objective: α ← α + 1 where y g(x) ≤ 0, from α = 0; g = Σ α y K(x_i, ·), K(x,y) = {}",
                    kernel.formula()
                ),
                value: found.errors / found.total,
                lambda: None,
            },
            certificate: found.certificate,
            outcome: match stop {
                Stop::Converged => Outcome::Converged,
                Stop::TimeLimit => Outcome::TimeLimit,
                Stop::Interrupted => Outcome::Interrupted,
                _ => Outcome::IterationLimit,
            },
            notes,
            computation: Computation {
                solver: match self.order {
                    Order::Shuffled => "kernel perceptron, rows in a new order every epoch".into(),
                    Order::Given => "kernel perceptron, rows in their order".into(),
                },
                reason: None,
                iterations: run.mistakes(),
                passes: run.epochs(),
            },
            density: None,
            multipliers: None,
        })))
    }

    /// The margin, or the count of errors, recomputed from the data.
    pub(super) fn certify(
        &self,
        training: &Training<'_>,
        discriminant: &Discriminant,
        units: &Units,
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        self.check(training)?;
        let expansion = discriminant.as_kernel().ok_or_else(|| Error::model("a kernel perceptron has a kernel"))?;
        let n = training.labels.len();
        let fits = expansion.n_scores() == 1
            && expansion.n_cols() == training.design.shape().cols
            && expansion.support_rows().iter().all(|r| *r < n)
            && expansion.intercept()[0] == 0.0;
        if !fits {
            return Err(Error::model("the model does not have the rows and columns of the data"));
        }
        let kernel = match self.kernel {
            KernelChoice::Precomputed => Kernel::Precomputed,
            _ => learn(&self.kernel, self.standardize, false, training, watch)?.0,
        };
        let rows = match kernel {
            Kernel::Precomputed => KernelRows::table(training.design, watch)?,
            _ => KernelRows::new(training.design, units, watch)?,
        };
        let mut signed = vec![0.0; n];
        expansion.support_rows().iter().zip(expansion.coefficients()).for_each(|(r, c)| signed[*r] = *c);
        let found = measure(training, expansion.kernel(), &rows, &signed, None)?;
        Ok((found.errors / found.total, found.certificate))
    }

    fn check(&self, training: &Training<'_>) -> Result<()> {
        self.kernel.check()?;
        let classes = training.labels.n_classes();
        if classes != 2 {
            return Err(Error::data(format!("the target has {classes} classes; the perceptron separates two"))
                .help("keep the rows of two classes, or choose --model logistic or --model lda"));
        }
        if training.offsets.is_some() {
            return Err(Error::usage("the perceptron has no offsets").help("offsets belong to --model logistic"));
        }
        if self.max_epochs == 0 {
            return Err(Error::usage("0 epochs leave α where it starts, at zero").help("allow at least one"));
        }
        Ok(())
    }
}

/// Errors of a machine and, where there are none, its margin: after at most `R²‖w‖²/γ²` mistakes a perceptron separates the
/// rows, R² the largest K(x, x).
fn measure(
    training: &Training<'_>,
    kernel: &Kernel,
    rows: &KernelRows,
    signed: &[f64],
    mistakes: Option<usize>,
) -> Result<Measured> {
    let (signs, scores) = (signs(training), sums(kernel, rows, signed));
    let weight = |i: usize| training.weights.map_or(1.0, |w| w[i]);
    let counted: Vec<usize> = (0..signs.len()).filter(|i| weight(*i) > 0.0).collect();
    let wrong = counted.iter().filter(|i| !(signs[**i] * scores[**i] > 0.0));
    let errors = crate::numeric::sum(wrong.map(|i| weight(*i)));
    let total = crate::numeric::sum(counted.iter().map(|i| weight(*i)));
    let margin = counted.iter().map(|i| signs[*i] * scores[*i]).fold(f64::INFINITY, f64::min);
    let squared = crate::numeric::sum(signed.iter().zip(&scores).filter(|(b, _)| **b != 0.0).map(|(b, g)| b * g));
    let diagonal = rows.diagonal(kernel)?;
    let radius = counted.iter().map(|i| diagonal[*i]).fold(0.0, f64::max);
    let certificate = match errors == 0.0 && squared > 0.0 {
        true => Certificate::Separates {
            margin,
            norm: squared.sqrt(),
            radius: radius.sqrt(),
            bound: radius * squared / (margin * margin),
            mistakes,
        },
        false => Certificate::Errors { errors, total },
    };
    Ok(Measured { errors, total, certificate })
}

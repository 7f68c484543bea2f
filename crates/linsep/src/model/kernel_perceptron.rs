//! The perceptron with a kernel: α counts mistakes.

use super::kernel_choice::{KernelChoice, PreparedKernel, learn, support};
use super::kernel_proof::{coefficients_on_rows, squared_length};
use super::kernel_svm::{close, signs};
use super::{Computation, Fit, Fitted, Note, Objective, Outcome};
use crate::certify::Certificate;
use crate::design::Training;
use crate::design::{Standardize, Units};
use crate::discriminant::{Discriminant, KernelExpansion};
use crate::error::{Error, Result};
use crate::kernel::{Definiteness, Kernel, KernelRows, ProofRows, definiteness};
use crate::solve::{KernelPerceptronRun, Order};
use crate::watch::Watch;
use crate::words::{Setting, words};
use serde::{Deserialize, Serialize};

/// Default epochs, as of the online perceptron.
const EPOCHS: usize = 1_000;

/// `g = Σ α y K(x_i, ·)`, where α counts the mistakes `y g(x_i) ≤ 0` on row i; two classes.
///
/// ```
/// use linsep::design::DenseMatrix;
/// use linsep::model::{Fit, KernelPerceptronSettings, Method};
/// use linsep::design::{Training};
/// use linsep::table::Labels;
/// let x = DenseMatrix::new(vec![0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0], 2)?;
/// let y = Labels::from_names(["same", "same", "other", "other"]);
/// let fit = Method::KernelPerceptron(KernelPerceptronSettings::default()).fit(&Training::new(&x, &y), &Default::default())?;
/// let Fit::Model(model) = fit else { panic!("it always gives a model") };
/// assert_eq!(model.objective.value, 0.0);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelPerceptronSettings {
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

impl Default for KernelPerceptronSettings {
    fn default() -> KernelPerceptronSettings {
        KernelPerceptronSettings {
            kernel: KernelChoice::default(),
            order: Order::Shuffled,
            seed: 0,
            max_epochs: EPOCHS,
            standardize: Standardize::Yes,
        }
    }
}

/// A machine on its training rows.
struct MeasuredKernel {
    errors: f64,
    total: f64,
    certificate: Certificate,
}

impl KernelPerceptronSettings {
    pub(super) fn standardize(&self) -> Standardize {
        match self.kernel {
            KernelChoice::Precomputed => Standardize::No,
            _ => self.standardize,
        }
    }

    pub(super) fn fit(&self, training: &Training<'_>, watch: &Watch) -> Result<Fit> {
        self.check(training)?;
        let PreparedKernel { kernel, units, rows } =
            PreparedKernel::new(&self.kernel, self.standardize, false, training, watch)?;
        let signs = signs(training);
        let visits = (0..signs.len()).filter(|i| training.weights.is_none_or(|w| w[*i] > 0.0)).collect();
        let mut run = KernelPerceptronRun::new(&kernel, &rows, &signs, visits, self.order, self.seed);
        let stop = run.run(self.max_epochs, watch);
        let ids: Vec<usize> = (0..signs.len()).filter(|i| run.counts()[*i] > 0).collect();
        let coefficients: Vec<f64> = ids.iter().map(|i| signs[*i] * run.counts()[*i] as f64).collect();
        let signed: Vec<f64> = (0..signs.len()).map(|i| signs[i] * run.counts()[i] as f64).collect();
        let stored = support(training, &kernel, &ids)?;
        let known = definiteness(&kernel, &rows);
        let mistakes = Some(run.mistakes());
        let proof = ProofRows::new(&kernel, training.design, &units, known.ridge().unwrap_or(0.0), &Watch::default())?;
        let found = measure(training, &proof, &signed, mistakes);
        let mut notes = Vec::new();
        match known {
            Definiteness::Indefinite(evidence) => notes.push(Note::Indefinite { evidence: Some(evidence) }),
            Definiteness::Definite | Definiteness::WithRidge(_) | Definiteness::Unknown => {}
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
            objective: Objective { formula: self.formula(&kernel), value: found.errors / found.total, lambda: None },
            certificate: found.certificate,
            outcome: Outcome::from(&stop),
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
        let Some(signed) = coefficients_on_rows(expansion, training, expansion.kernel(), units)? else {
            return Err(Error::model("the support rows of the model are not those rows of the data"));
        };
        if !close(expansion.kernel(), &kernel) {
            return Err(Error::model("the model's kernel is not what its settings and the data make it"));
        }
        let ridge = match kernel {
            Kernel::Precomputed => definiteness(&kernel, &KernelRows::table(training.design, watch)?).ridge(),
            _ => None,
        };
        let proof = ProofRows::new(expansion.kernel(), training.design, units, ridge.unwrap_or(0.0), watch)?;
        let found = measure(training, &proof, &signed, None);
        Ok((found.errors / found.total, found.certificate))
    }

    pub(super) fn formula(&self, kernel: &Kernel) -> String {
        format!(
            "no objective: α ← α + 1 where y g(x) ≤ 0, from α = 0; g = Σ α y K(x_i, ·), K(x,y) = {}",
            kernel.formula()
        )
    }

    fn check(&self, training: &Training<'_>) -> Result<()> {
        self.kernel.check()?;
        let classes = training.labels.n_classes();
        if classes != 2 {
            return Err(Error::data(format!("the target has {classes} classes; the perceptron separates two"))
                .help("keep the rows of two classes")
                .help(words!["choose ", Setting::Model.any(["logistic", "lda"])]));
        }
        if training.offsets.is_some() {
            return Err(Error::usage("the perceptron has no offsets")
                .help(words!["offsets belong to ", Setting::Model.is("logistic")]));
        }
        if self.max_epochs == 0 {
            return Err(Error::usage("0 epochs leave α where it starts, at zero").help("allow at least one"));
        }
        Ok(())
    }
}

/// Errors of a machine and, where there are none, its margin: after at most `R²‖w‖²/γ²` mistakes a perceptron separates the
/// rows, R² the largest K(x, x). A row is on its side only where its score is so beyond rounding; the margin is a lower
/// bound, the two lengths are upper ones.
fn measure(training: &Training<'_>, rows: &ProofRows, signed: &[f64], mistakes: Option<usize>) -> MeasuredKernel {
    let (signs, sums) = (signs(training), rows.sums(signed));
    let weight = |i: usize| training.weights.map_or(1.0, |w| w[i]);
    let counted: Vec<usize> = (0..signs.len()).filter(|i| weight(*i) > 0.0).collect();
    let ahead = |i: usize| (signs[i] * sums.values[i] - sums.errors[i]) * (1.0 - f64::EPSILON);
    let wrong = counted.iter().filter(|i| !(ahead(**i) > 0.0));
    let errors = crate::numeric::sum(wrong.map(|i| weight(*i)));
    let total = crate::numeric::sum(counted.iter().map(|i| weight(*i)));
    let margin = counted.iter().map(|i| ahead(*i)).fold(f64::INFINITY, f64::min);
    let (squared, error) = squared_length(signed, &sums.values, &sums.errors);
    let up = 1.0 + 8.0 * f64::EPSILON;
    let (norms, norm) = (rows.norms(), (squared + error).sqrt() * up);
    let radius = counted.iter().map(|i| norms[*i]).fold(0.0, f64::max) * up;
    let bound = (radius * norm / margin).powi(2) * up;
    let certificate = match errors == 0.0 && squared > error && bound.is_finite() {
        true => Certificate::Separates { margin, norm, radius, bound, widest: None, mistakes },
        false => Certificate::Errors { errors, total },
    };
    MeasuredKernel { errors, total, certificate }
}

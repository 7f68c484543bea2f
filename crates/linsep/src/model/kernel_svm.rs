//! Support vector machines with a kernel: two classes, hinge loss, ridge penalty in the feature space.

use super::kernel_choice::{KernelChoice, Prepared, learn, support};
use super::{Computation, Fit, Fitted, Multipliers, Note, Objective, Outcome, PenaltyChoice, Training};
use crate::certify::{Certificate, KernelTask, kernel_gap, kernel_violation};
use crate::design::{Standardize, Units};
use crate::discriminant::{Discriminant, KernelExpansion, Linear};
use crate::error::{Error, Result};
use crate::kernel::{Definiteness, Kernel, KernelRows, KernelSum, StoredRows, Targets, definiteness};
use crate::solve::{KernelSolved, Smo, Stop};
use crate::table::Class;
use crate::watch::{Progress, Watch};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Multipliers this close to their bound, relatively, are at it.
const AT_BOUND: f64 = 1e-12;
/// Intercepts this much apart are an interval, not rounding.
const INTERVAL: f64 = 1e-6;
/// Two hundred megabytes.
const CACHE: usize = 200 << 20;
/// Pairs after which to give up.
const ITERATIONS: usize = 100_000_000;
/// Rows scored by one task.
const PIECE: usize = 256;

/// `F(w,b) = Σ s max(0, 1 − y(w·φ(x) + b))/S + λ/2 ‖w‖²` with φ known by its kernel only.
///
/// ```
/// use linsep::design::DenseMatrix;
/// use linsep::model::{Fit, KernelSvm, Method, Training};
/// use linsep::table::Labels;
/// let x = DenseMatrix::new(vec![0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0], 2)?;
/// let y = Labels::from_names(["same", "same", "other", "other"]);
/// let fit = Method::KernelSvm(KernelSvm::default()).fit(&Training::new(&x, &y), &Default::default())?;
/// let Fit::Model(model) = fit else { panic!("a penalty always has an optimum") };
/// let scores = model.discriminant.scores(&x, &Default::default())?;
/// assert!(scores[0] > 0.0 && scores[1] > 0.0 && scores[2] < 0.0 && scores[3] < 0.0);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelSvm {
    /// The kernel.
    pub kernel: KernelChoice,
    /// A ridge.
    pub penalty: PenaltyChoice,
    /// Whether the kernel looks at standardised columns.
    pub standardize: Standardize,
    /// Stop when the relative gap is at most this; of a kernel that is not positive semidefinite, when no pair of rows
    /// violates the conditions of a stationary point by more.
    pub tolerance: f64,
    /// Stop after so many pairs of rows; `None` is very many.
    pub max_iterations: Option<usize>,
    /// Bytes for kernel rows.
    pub cache: usize,
}

impl Default for KernelSvm {
    fn default() -> KernelSvm {
        KernelSvm {
            kernel: KernelChoice::default(),
            penalty: PenaltyChoice::RidgeOne,
            standardize: Standardize::Yes,
            tolerance: 1e-6,
            max_iterations: None,
            cache: CACHE,
        }
    }
}

impl KernelSvm {
    pub(super) fn standardize(&self) -> Standardize {
        match self.kernel {
            KernelChoice::Precomputed => Standardize::No,
            _ => self.standardize,
        }
    }

    pub(super) fn fit(&self, training: &Training<'_>, watch: &Watch) -> Result<Fit> {
        self.check(training)?;
        let Prepared { kernel, units, rows } =
            Prepared::new(&self.kernel, self.standardize, self.is_centred(), training, watch)?;
        let signs = signs(training);
        let task = KernelTask { signs: &signs, weights: training.weights, lambda: self.lambda(training) };
        let mut notes = Vec::new();
        let definite = match definiteness(&kernel, &rows) {
            Definiteness::Definite => true,
            Definiteness::Indefinite(evidence) => {
                notes.push(Note::Indefinite { evidence: Some(evidence) });
                false
            }
            Definiteness::Unknown => {
                notes.push(Note::Indefinite { evidence: None });
                false
            }
        };
        watch.report(Progress::Forecast { solver: "smo", seconds: forecast(&rows) });
        let max_iterations = self.max_iterations.unwrap_or(ITERATIONS);
        let smo = Smo { tolerance: self.tolerance, max_iterations, cache: self.cache };
        let solved = smo.solve(&kernel, &rows, &task, definite, watch)?;
        let (low, high) = solved.intercepts;
        if high - low > INTERVAL * (1.0 + 0.5 * (low + high).abs()) {
            notes.push(Note::Intercepts { low, high });
        }
        let discriminant = expansion(training, &kernel, &units, &solved)?;
        Ok(Fit::Model(Box::new(Fitted {
            discriminant,
            units,
            objective: Objective { formula: self.formula(&kernel), value: solved.objective, lambda: Some(task.lambda) },
            multipliers: Some(multipliers(&task, &solved.signed)),
            certificate: solved.certificate,
            outcome: match solved.stop {
                Stop::Converged => Outcome::Converged,
                Stop::IterationLimit => Outcome::IterationLimit,
                Stop::TimeLimit => Outcome::TimeLimit,
                Stop::Interrupted => Outcome::Interrupted,
                Stop::PrecisionLimit | Stop::Separated(_) => Outcome::PrecisionLimit,
            },
            notes,
            computation: Computation {
                solver: "smo".into(),
                reason: None,
                iterations: solved.iterations,
                passes: solved.passes,
            },
            density: None,
        })))
    }

    /// The gap of a discriminant and multipliers α, recomputed from the data.
    pub(super) fn certify_multipliers(
        &self,
        training: &Training<'_>,
        discriminant: &Discriminant,
        units: &Units,
        alpha: &[f64],
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        self.check(training)?;
        if alpha.len() != training.labels.len() {
            return Err(Error::model(format!("{} multipliers for {} rows", alpha.len(), training.labels.len())));
        }
        let kernel = self.stated(training, discriminant, watch)?;
        let rows = match kernel {
            Kernel::Precomputed => KernelRows::table(training.design, watch)?,
            _ => KernelRows::new(training.design, units, watch)?,
        };
        let signs = signs(training);
        let task = KernelTask { signs: &signs, weights: training.weights, lambda: self.lambda(training) };
        let signed: Vec<f64> = alpha.iter().zip(&signs).map(|(a, y)| a * y).collect();
        let dual_scores = sums(&kernel, &rows, &signed);
        let mut scores = discriminant.scores(training.design, watch)?;
        let intercept = match discriminant {
            Discriminant::Linear(linear) => linear.intercept_at_centre()[0],
            other => other.as_kernel().map_or(0.0, |k| k.intercept()[0]),
        };
        scores.iter_mut().for_each(|z| *z -= intercept);
        let pairs = || signed.iter().zip(&dual_scores).filter(|(b, _)| **b != 0.0);
        let from_rows = || crate::numeric::sum(pairs().map(|(b, g)| b * g));
        let squared = match discriminant {
            Discriminant::Linear(linear) => {
                crate::numeric::sum(linear.weights_of(0).iter().zip(units.scale()).map(|(w, s)| (w * s) * (w * s)))
            }
            Discriminant::Kernel(expansion) => expansion.squared_length(0).unwrap_or_else(from_rows),
            _ => return Err(Error::model("a kernel machine has another kind of discriminant")),
        };
        let (objective, certificate) = kernel_gap(&task, &scores, intercept, squared, &signed, &dual_scores);
        match (definiteness(&kernel, &rows), certificate) {
            (Definiteness::Definite, certificate) => Ok((objective, certificate)),
            (_, Certificate::Absent { reason }) if reason.contains("bounds") => {
                Ok((objective, Certificate::Absent { reason }))
            }
            _ => Ok((objective, Certificate::Stationary { violation: kernel_violation(&task, &signed, &dual_scores) })),
        }
    }

    /// The kernel of a discriminant, which must be what the method and the data say.
    fn stated(&self, training: &Training<'_>, discriminant: &Discriminant, watch: &Watch) -> Result<Kernel> {
        if discriminant.n_scores() != 1 || discriminant.n_cols() != training.design.shape().cols {
            return Err(Error::model("the model does not have the classes and columns of the data"));
        }
        let learned = match self.kernel {
            KernelChoice::Precomputed => Kernel::Precomputed,
            _ => learn(&self.kernel, self.standardize, self.is_centred(), training, watch)?.0,
        };
        let kernel = match discriminant {
            Discriminant::Kernel(expansion) => *expansion.kernel(),
            _ => Kernel::Linear,
        };
        match close(&kernel, &learned) {
            true => Ok(kernel),
            false => Err(Error::model(format!(
                "the model's kernel {} is not what its settings and the data make it: {}",
                kernel.formula(),
                learned.formula()
            ))),
        }
    }

    /// Whether a common shift of the rows changes nothing: with Σαy = 0 it does not for a linear kernel.
    fn is_centred(&self) -> bool {
        self.kernel == KernelChoice::Linear
    }

    fn lambda(&self, training: &Training<'_>) -> f64 {
        self.penalty.lambda(training.total_weight())
    }

    fn check(&self, training: &Training<'_>) -> Result<()> {
        self.kernel.check()?;
        self.penalty.check()?;
        if self.penalty == PenaltyChoice::None || self.penalty.is_sparse() {
            return Err(Error::usage("a kernel machine needs a ridge penalty")
                .help("use --penalty ridge:λ or --C; a large C comes close to the hard margin"));
        }
        let lambda = self.lambda(training);
        if !(lambda > 0.0 && (lambda * training.total_weight()).recip().is_finite()) {
            return Err(Error::usage(format!("the penalty λ = {lambda} is too small for numbers"))
                .help("take a smaller --C, or a larger λ"));
        }
        if !(self.tolerance > 0.0) {
            return Err(Error::usage(format!("the tolerance {} is not positive", self.tolerance)));
        }
        if training.offsets.is_some() {
            return Err(Error::usage("a kernel machine has no offsets").help("offsets belong to --kernel none"));
        }
        if training.labels.n_classes() > 2 {
            return Err(Error::usage(format!(
                "the support vector machine separates two classes, and there are {}",
                training.labels.n_classes()
            ))
            .help("choose --multiclass one-vs-one or linear-machine"));
        }
        Ok(())
    }

    fn formula(&self, kernel: &Kernel) -> String {
        let rows = match self.standardize() {
            Standardize::Yes => ", x and y standardised",
            Standardize::No => "",
        };
        format!("Σ s·max(0, 1−y(w·φ+b)) / Σs + λ/2 ‖w‖², φ(x)·φ(y) = {}{rows}, λ from the penalty", kernel.formula())
    }
}

/// −1 for the first class, 1 for the second.
pub(super) fn signs(training: &Training<'_>) -> Vec<f64> {
    training.labels.codes().iter().map(|c| if *c == Class(1) { 1.0 } else { -1.0 }).collect()
}

/// Kernels whose parameters differ by rounding.
fn close(a: &Kernel, b: &Kernel) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
    match (a, b) {
        (Kernel::Polynomial { gamma, coef0, degree }, Kernel::Polynomial { gamma: g, coef0: c, degree: q }) => {
            near(*gamma, *g) && coef0 == c && degree == q
        }
        (Kernel::Rbf { gamma }, Kernel::Rbf { gamma: g }) => near(*gamma, *g),
        (Kernel::Sigmoid { gamma, coef0 }, Kernel::Sigmoid { gamma: g, coef0: c }) => near(*gamma, *g) && coef0 == c,
        (a, b) => a == b,
    }
}

/// `Σ_j β_j K(x_j, x_i)` for every row.
pub(super) fn sums(kernel: &Kernel, rows: &KernelRows, signed: &[f64]) -> Vec<f64> {
    let ids: Vec<usize> = (0..signed.len()).filter(|i| signed[*i] != 0.0).collect();
    let coefficients: Vec<f64> = ids.iter().map(|i| signed[*i]).collect();
    let sum = KernelSum::new(kernel, rows, ids, &coefficients, 1);
    let mut scores = vec![0.0; signed.len()];
    scores.par_chunks_mut(PIECE).enumerate().for_each(|(p, scores)| {
        let ids: Vec<usize> = (p * PIECE..p * PIECE + scores.len()).collect();
        sum.add_to(&Targets::new(kernel, rows, &ids), scores);
    });
    scores
}

/// The discriminant: weights for a linear kernel, else a sum over the support rows.
fn expansion(training: &Training<'_>, kernel: &Kernel, units: &Units, solved: &KernelSolved) -> Result<Discriminant> {
    let ids: Vec<usize> = (0..solved.signed.len()).filter(|i| solved.signed[*i] != 0.0).collect();
    let coefficients: Vec<f64> = ids.iter().map(|i| solved.signed[*i]).collect();
    let intercept = 0.5 * (solved.intercepts.0 + solved.intercepts.1);
    let stored = support(training, kernel, &ids)?;
    if *kernel != Kernel::Linear {
        let expansion = KernelExpansion::new(*kernel, units.clone(), ids, stored, coefficients, vec![intercept])?;
        return Ok(Discriminant::Kernel(expansion));
    }
    Ok(Discriminant::Linear(weights(&stored, &coefficients, units, intercept)?))
}

/// `Σ β (x − c)/s`, in the units of the columns.
fn weights(stored: &StoredRows, coefficients: &[f64], units: &Units, intercept: f64) -> Result<Linear> {
    let mut w = vec![0.0; stored.cols()];
    let total: f64 = coefficients.iter().sum();
    match stored {
        StoredRows::Dense { cols, values } => {
            for (b, x) in coefficients.iter().zip(values.chunks_exact((*cols).max(1))) {
                // About the centre, where columns far from zero keep their digits.
                w.iter_mut().zip(x).zip(units.centre()).for_each(|((w, x), c)| *w += b * (x - c));
            }
        }
        StoredRows::Sparse { starts, indices, values, .. } => {
            for (i, b) in coefficients.iter().enumerate() {
                (starts[i]..starts[i + 1]).for_each(|e| w[indices[e] as usize] += b * values[e]);
            }
            w.iter_mut().zip(units.centre()).for_each(|(w, c)| *w -= total * c);
        }
    }
    w.iter_mut().zip(units.inverse_scale()).for_each(|(w, s)| *w *= s * s);
    Linear::new(w, units.centre().to_vec(), vec![intercept])
}

fn multipliers(task: &KernelTask<'_>, signed: &[f64]) -> Multipliers {
    let bounds = task.bounds();
    let alpha: Vec<f64> = signed.iter().map(|b| b.abs()).collect();
    let support = (0..alpha.len()).filter(|i| alpha[*i] > 0.0);
    let (bounded, free): (Vec<usize>, Vec<usize>) = support.partition(|i| alpha[*i] >= bounds[*i] * (1.0 - AT_BOUND));
    Multipliers { free: free.len(), bounded: bounded.len(), alpha }
}

/// Seconds that a fit may take: a quarter of all pairs of rows, at a billion products and ten times fewer functions a
/// second and core. A guess by the order of magnitude, made before anything is known of the rows.
fn forecast(rows: &KernelRows) -> f64 {
    let pairs = 0.25 * (rows.len() as f64).powi(2);
    pairs * (rows.cols() as f64 + 10.0) / (5e9 * rayon::current_num_threads() as f64)
}

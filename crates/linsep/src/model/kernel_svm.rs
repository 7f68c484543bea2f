//! Support vector machines with a kernel: two classes, hinge loss, ridge penalty in the feature space.

use super::kernel_choice::{KernelChoice, PreparedKernel, learn, support};
use super::kernel_proof::{KernelClaim, Machine};
use super::{Computation, Fit, Fitted, Multipliers, Note, Objective, Outcome, PenaltyChoice};
use crate::certify::{Certificate, KernelTask};
use crate::design::Training;
use crate::design::{Standardize, Units};
use crate::discriminant::{Discriminant, KernelExpansion, Linear};
use crate::error::{Error, Result};
use crate::kernel::{Definiteness, Kernel, KernelRows, StoredRows, definiteness};
use crate::objective::Intercept;
use crate::solve::Smo;
use crate::table::Class;
use crate::watch::{Progress, Watch};
use crate::words::{Setting, words};
use serde::{Deserialize, Serialize};

/// Multipliers this close to their bound, relatively, are at it: bounds `s/(λS)` round a few times. The same as in
/// `risk::margin`, `restated` and `workflow::support`, which count support vectors too.
const AT_BOUND: f64 = 1e-12;
/// Best intercepts further apart than this are an interval, not rounding of scores that were found to a tolerance. The
/// same as in `risk::margin` and `restated::notes`. Chosen (bench/constants.md).
const INTERVAL: f64 = 1e-6;
/// Two hundred megabytes of kernel values unless `--cache` says otherwise, as scikit-learn's SVC has.
const CACHE: usize = 200 << 20;
/// Pairs after which to give up. Chosen (bench/constants.md): a limit against fits that would take days.
const ITERATIONS: usize = 100_000_000;
/// The same where the kernel is not positive semidefinite and pairs can move for ever; LIBSVM has as many, and a hundred for
/// each row.
const INDEFINITE_ITERATIONS: usize = 10_000_000;
/// Kernel parameters learnt from the same rows differ by less, relatively: sums in another order.
const SAME: f64 = 1e-9;
/// Share of all pairs of rows whose kernel values a fit computes. A forecast of the order of magnitude. Chosen
/// (bench/constants.md).
const PAIRS: f64 = 0.25;
/// A kernel function costs as much as this many products. Chosen (bench/constants.md).
const FUNCTION: f64 = 10.0;
/// Products per second and core in the forecast. Chosen (bench/constants.md).
const PER_SECOND: f64 = 5e9;

/// `F(w,b) = Σ s max(0, 1 − y(w·φ(x) + b))/S + λ/2 ‖w‖²` with φ known by its kernel only.
///
/// ```
/// use linsep::design::DenseMatrix;
/// use linsep::model::{Fit, KernelSvmSettings, Method};
/// use linsep::design::{Training};
/// use linsep::table::Labels;
/// let x = DenseMatrix::new(vec![0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0], 2)?;
/// let y = Labels::from_names(["same", "same", "other", "other"]);
/// let fit = Method::KernelSvm(KernelSvmSettings::default()).fit(&Training::new(&x, &y), &Default::default())?;
/// let Fit::Model(model) = fit else { panic!("a penalty always has an optimum") };
/// let scores = model.discriminant.scores(&x, &Default::default())?;
/// assert!(scores[0] > 0.0 && scores[1] > 0.0 && scores[2] < 0.0 && scores[3] < 0.0);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelSvmSettings {
    /// The kernel.
    pub kernel: KernelChoice,
    /// A ridge; none is the hard margin, the widest plane in the feature space.
    pub penalty: PenaltyChoice,
    /// Free, or none.
    #[serde(skip_serializing_if = "is_free", default)]
    pub intercept: Intercept,
    /// Whether the kernel looks at standardised columns.
    pub standardize: Standardize,
    /// Stop when the relative gap is at most this; for a kernel that is not positive semidefinite, when no pair of rows
    /// violates the KKT conditions by more.
    pub tolerance: f64,
    /// Stop after so many pairs of rows; `None` is very many.
    pub max_iterations: Option<usize>,
    /// Bytes for kernel rows.
    pub cache: usize,
}

impl Default for KernelSvmSettings {
    fn default() -> KernelSvmSettings {
        KernelSvmSettings {
            kernel: KernelChoice::default(),
            penalty: PenaltyChoice::RidgeOne,
            intercept: Intercept::Free,
            standardize: Standardize::Yes,
            tolerance: 1e-6,
            max_iterations: None,
            cache: CACHE,
        }
    }
}

impl KernelSvmSettings {
    pub(super) fn standardize(&self) -> Standardize {
        match self.kernel {
            KernelChoice::Precomputed => Standardize::No,
            _ => self.standardize,
        }
    }

    pub(super) fn fit(&self, training: &Training<'_>, watch: &Watch) -> Result<Fit> {
        self.check(training)?;
        let PreparedKernel { kernel, units, rows } = self.prepared(training, watch)?;
        let known = definiteness(&kernel, &rows);
        if self.is_hard() {
            return self.fit_hard(training, PreparedKernel { kernel, units, rows }, known.ridge(), watch);
        }
        let signs = signs(training);
        let task = self.task(&signs, training);
        let mut notes = Vec::new();
        match &known {
            Definiteness::Definite | Definiteness::WithRidge(_) => {}
            Definiteness::Indefinite(evidence) => notes.push(Note::Indefinite { evidence: Some(evidence.clone()) }),
            Definiteness::Unknown => notes.push(Note::Indefinite { evidence: None }),
        }
        watch.report(Progress::Forecast { solver: "smo", seconds: forecast(&rows) });
        let max_iterations = self.max_iterations.unwrap_or_else(|| match known.ridge().is_some() {
            true => ITERATIONS,
            false => INDEFINITE_ITERATIONS.max(100 * training.labels.len()).min(ITERATIONS),
        });
        let smo = Smo { tolerance: self.tolerance, max_iterations, cache: self.cache };
        let solved = smo.solve(&kernel, &rows, &task, known.ridge().is_some(), watch)?;
        drop(rows);
        let (low, high) = solved.intercepts;
        if high - low > INTERVAL * (1.0 + 0.5 * (low + high).abs()) {
            notes.push(Note::Intercepts { low, high });
        }
        let intercept = 0.5 * (low + high);
        let discriminant = expansion(training, &kernel, &units, (&solved.signed, intercept))?;
        // The stored numbers are proved by the code that `verify` runs, independently of the solver's own estimate; also
        // after the time limit.
        let signed = &solved.signed;
        let machine =
            Machine { kernel, discriminant: &discriminant, units: &units, signed, claim: KernelClaim::LeastObjective };
        let (objective, certificate) = machine.prove(training, &task, known.ridge(), &Watch::default())?;
        if !objective.is_finite() {
            return Err(Error::data(format!("the {} kernel overflows: the objective is {objective}", kernel.name()))
                .help("take a smaller γ, constant or degree")
                .help("standardise the columns"));
        }
        let outcome = Outcome::from(&solved.stop).proved(&certificate, self.tolerance);
        Ok(Fit::Model(Box::new(Fitted {
            discriminant,
            units,
            objective: Objective { formula: self.formula(&kernel), value: objective, lambda: Some(task.lambda) },
            multipliers: Some(multipliers(&task, &solved.signed)),
            certificate,
            outcome,
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
        let ridge = match kernel {
            Kernel::Precomputed => definiteness(&kernel, &KernelRows::table(training.design, watch)?).ridge(),
            _ => kernel.is_definite().then_some(0.0),
        };
        let signs = signs(training);
        let task = self.task(&signs, training);
        let signed: Vec<f64> = alpha.iter().zip(&signs).map(|(a, y)| a * y).collect();
        let claim = if self.is_hard() { KernelClaim::WidestMargin } else { KernelClaim::LeastObjective };
        let machine = Machine { kernel, discriminant, units, signed: &signed, claim };
        machine.prove(training, &task, ridge, watch)
    }

    /// The kernel of a discriminant, which must be the one that method and data determine.
    fn stated(&self, training: &Training<'_>, discriminant: &Discriminant, watch: &Watch) -> Result<Kernel> {
        if discriminant.n_scores() != 1 || discriminant.n_cols() != training.design.shape().cols {
            return Err(Error::model("the model does not have the classes and columns of the data"));
        }
        let learned = match self.kernel {
            KernelChoice::Precomputed => Kernel::Precomputed,
            _ => self.learnt(training, watch)?.0,
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

    /// Kernel, units and rows of a fit.
    pub(super) fn prepared(&self, training: &Training<'_>, watch: &Watch) -> Result<PreparedKernel> {
        if self.kernel == KernelChoice::Precomputed {
            return PreparedKernel::new(&self.kernel, self.standardize, false, training, watch);
        }
        let (kernel, units) = self.learnt(training, watch)?;
        let rows = KernelRows::new(training.design, &units, watch)?;
        Ok(PreparedKernel { kernel, units, rows })
    }

    /// Kernel and units as the rows determine them.
    pub(super) fn learnt(&self, training: &Training<'_>, watch: &Watch) -> Result<(Kernel, Units)> {
        let (kernel, units) = learn(&self.kernel, self.standardize, self.is_centred(), training, watch)?;
        Ok((kernel, if self.is_about_zero() { units.about_zero() } else { units }))
    }

    /// Whether a common shift of the rows changes nothing: with Σαy = 0 it does not for a linear kernel.
    pub(super) fn is_centred(&self) -> bool {
        self.kernel == KernelChoice::Linear && self.intercept == Intercept::Free
    }

    /// Whether planes pass through the origin of the columns, so that nothing may be centred.
    pub(super) fn is_about_zero(&self) -> bool {
        self.kernel == KernelChoice::Linear && self.intercept != Intercept::Free
    }

    /// Whether it is the hard margin: without a penalty every row must be on its side.
    pub(crate) fn is_hard(&self) -> bool {
        self.penalty == PenaltyChoice::None
    }

    /// The problem on some rows. A hard margin has no largest multiplier; weights only say which rows count.
    pub(super) fn task<'a>(&self, signs: &'a [f64], training: &Training<'a>) -> KernelTask<'a> {
        let lambda = if self.is_hard() { f64::MIN_POSITIVE } else { self.lambda(training) };
        KernelTask { signs, weights: training.weights, lambda, has_intercept: self.intercept == Intercept::Free }
    }

    fn lambda(&self, training: &Training<'_>) -> f64 {
        self.penalty.lambda(training.total_weight())
    }

    fn check(&self, training: &Training<'_>) -> Result<()> {
        self.kernel.check()?;
        self.penalty.check()?;
        if self.penalty.is_sparse() {
            return Err(Error::usage("a kernel machine has no lasso")
                .help(words!["use ", Setting::C])
                .help(words!["use ", Setting::Penalty.is("ridge:λ")]));
        }
        if self.intercept == Intercept::Penalised {
            return Err(Error::usage("the intercept of a kernel machine is free, or there is none")
                .help("a constant in the kernel, as of a polynomial one, is a penalised intercept"));
        }
        let lambda = self.lambda(training);
        let usable = lambda > 0.0 && (lambda * training.total_weight()).recip().is_finite();
        if !(self.is_hard() || usable) {
            return Err(Error::usage(format!("the penalty λ = {lambda} is too small for numbers"))
                .help(words!["take a smaller ", Setting::C])
                .help("take a larger penalty"));
        }
        if !(self.tolerance > 0.0) {
            return Err(Error::usage(format!("the tolerance {} is not positive", self.tolerance)));
        }
        if training.offsets.is_some() {
            return Err(Error::usage("a kernel machine has no offsets")
                .help(words!["offsets belong to ", Setting::Kernel.is("none")]));
        }
        if training.labels.n_classes() > 2 {
            return Err(Error::usage(format!(
                "the support vector machine separates two classes, and there are {}",
                training.labels.n_classes()
            ))
            .help(words!["choose ", Setting::Multiclass.any(["one-vs-one", "linear-machine"])]));
        }
        Ok(())
    }

    pub(super) fn formula(&self, kernel: &Kernel) -> String {
        let rows = match self.standardize() {
            Standardize::Yes => ", x and y standardised",
            Standardize::No => "",
        };
        let (b, kernel) = (if self.intercept == Intercept::Free { "+b" } else { "" }, kernel.formula());
        match self.is_hard() {
            true => format!("½‖w‖² subject to y(w·φ{b}) ≥ 1 for every row, φ(x)·φ(y) = {kernel}{rows}"),
            false => {
                format!("Σ s·max(0, 1−y(w·φ{b})) / Σs + λ/2 ‖w‖², φ(x)·φ(y) = {kernel}{rows}, λ from the penalty")
            }
        }
    }
}

/// Whether an intercept is what it is unless somebody asks.
fn is_free(intercept: &Intercept) -> bool {
    *intercept == Intercept::Free
}

/// −1 for the first class, 1 for the second.
pub(super) fn signs(training: &Training<'_>) -> Vec<f64> {
    training.labels.codes().iter().map(|c| if *c == Class(1) { 1.0 } else { -1.0 }).collect()
}

/// Kernels whose parameters differ by rounding.
pub(super) fn close(a: &Kernel, b: &Kernel) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= SAME * b.abs();
    match (a, b) {
        (Kernel::Polynomial { gamma, coef0, degree }, Kernel::Polynomial { gamma: g, coef0: c, degree: q }) => {
            near(*gamma, *g) && coef0 == c && degree == q
        }
        (Kernel::Rbf { gamma }, Kernel::Rbf { gamma: g }) => near(*gamma, *g),
        (Kernel::Sigmoid { gamma, coef0 }, Kernel::Sigmoid { gamma: g, coef0: c }) => near(*gamma, *g) && coef0 == c,
        (a, b) => a == b,
    }
}

/// The discriminant: weights for a linear kernel, else a sum over the support rows.
pub(super) fn expansion(
    training: &Training<'_>,
    kernel: &Kernel,
    units: &Units,
    (signed, intercept): (&[f64], f64),
) -> Result<Discriminant> {
    let ids: Vec<usize> = (0..signed.len()).filter(|i| signed[*i] != 0.0).collect();
    let coefficients: Vec<f64> = ids.iter().map(|i| signed[*i]).collect();
    let stored = support(training, kernel, &ids)?;
    if *kernel != Kernel::Linear {
        let expansion = KernelExpansion::new(*kernel, units.clone(), ids, stored, coefficients, vec![intercept])?;
        return Ok(Discriminant::Kernel(expansion));
    }
    Ok(Discriminant::Linear(weights(&stored, &coefficients, units, intercept)?))
}

/// `Σ β (x − c)/s`, in the units of the columns.
pub(super) fn weights(stored: &StoredRows, coefficients: &[f64], units: &Units, intercept: f64) -> Result<Linear> {
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

pub(super) fn multipliers(task: &KernelTask<'_>, signed: &[f64]) -> Multipliers {
    let bounds = task.bounds();
    let alpha: Vec<f64> = signed.iter().map(|b| b.abs()).collect();
    let support = (0..alpha.len()).filter(|i| alpha[*i] > 0.0);
    let (bounded, free): (Vec<usize>, Vec<usize>) = support.partition(|i| alpha[*i] >= bounds[*i] * (1.0 - AT_BOUND));
    Multipliers { free: free.len(), bounded: bounded.len(), alpha }
}

/// Seconds that a fit may take: a quarter of all pairs of rows, at a billion products and ten times fewer functions a
/// second and core. A guess by the order of magnitude, made before anything is known of the rows.
fn forecast(rows: &KernelRows) -> f64 {
    let pairs = PAIRS * (rows.len() as f64).powi(2);
    pairs * (rows.cols() as f64 + FUNCTION) / (PER_SECOND * rayon::current_num_threads() as f64)
}

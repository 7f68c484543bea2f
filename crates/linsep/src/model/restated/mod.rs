//! Everything a model states besides its point, recomputed from the method, the rows and the point: for `verify`.

mod notes;

use super::kernel_choice::{KernelChoice, support};
use super::{
    Fitted, KernelSvmSettings, LinkRegression, LossChoice, Method, Multipliers, Note, Objective, Outcome,
    PenaltyChoice, SigmoidLeastSquares,
};
use crate::certify::{Certificate, is_local_minimum};
use crate::design::Training;
use crate::design::{ColumnSummary, Units};
use crate::discriminant::{Discriminant, KernelExpansion, Linear};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::watch::Watch;
use notes::left_out;

/// Multipliers this close to their bound, relatively, are at it, as where the model was made (`risk::margin`,
/// `kernel_svm`).
const AT_BOUND: f64 = 1e-12;
/// Sums of multipliers that differ by more, relatively, were edited: rounding is far below.
const BALANCE: f64 = 1e-6;
/// The tolerance may be missed by this factor, since another machine rounds differently.
const NEARLY: f64 = 1.001;
/// Relative rounding of sums over many rows, generously.
const ROUNDING: f64 = 1e-9;
/// A point with what was said of it.
pub(crate) struct Stated<'a> {
    pub(crate) discriminant: &'a Discriminant,
    pub(crate) units: &'a Units,
    /// α of every row, where the model keeps multipliers.
    pub(crate) alpha: Option<Vec<f64>>,
    pub(crate) certificate: &'a Certificate,
    pub(crate) outcome: Outcome,
    pub(crate) notes: Vec<Note>,
    pub(crate) computation: super::Computation,
    /// Whether it is one of several two-class fits, which have a common centre.
    pub(crate) is_part: bool,
}

impl Method {
    /// A closed form, or an algorithm that minimises nothing: the result is defined by its steps, and `verify` repeats them.
    /// Steps from a start that is not kept cannot be repeated.
    pub(crate) fn is_repeated(&self) -> bool {
        match self {
            Method::Perceptron(m) => !m.started,
            method => matches!(
                method,
                Method::Gaussian(_) | Method::NaiveBayes(_) | Method::LeastSquares(_) | Method::KernelPerceptron(_)
            ),
        }
    }

    /// The tolerance of the method on the relative gap, or on the violation of the KKT conditions.
    pub fn tolerance(&self) -> Option<f64> {
        match self {
            Method::HardMargin(m) => Some(m.tolerance),
            Method::KernelSvm(m) => Some(m.tolerance),
            Method::LeastSquares(m) => Some(m.tolerance),
            Method::Risk(m) => Some(m.tolerance),
            Method::Sigmoid(m) => Some(m.tolerance),
            Method::Link(m) => Some(m.tolerance),
            Method::Gaussian(_)
            | Method::Given(_)
            | Method::NaiveBayes(_)
            | Method::Perceptron(_)
            | Method::KernelPerceptron(_) => None,
        }
    }

    /// The outcome after the certificate: converged if and only if its bound is within the tolerance; an interrupt stays
    /// one.
    pub(crate) fn settled(&self, outcome: Outcome, certificate: &Certificate) -> Outcome {
        let Some(tolerance) = self.tolerance() else { return outcome };
        // Another machine may round differently.
        let nearly = tolerance * NEARLY;
        let (reached, missed) = match (self, certificate) {
            (
                Method::Sigmoid(SigmoidLeastSquares { penalty, .. }) | Method::Link(LinkRegression { penalty, .. }),
                Certificate::Local { gradient, smallest_eigenvalue },
            ) => {
                let minimum = is_local_minimum(*gradient, *smallest_eigenvalue, *penalty != PenaltyChoice::None);
                (*gradient <= tolerance && minimum, *gradient > nearly || !minimum)
            }
            (_, bound) => match (bound.meets(tolerance), bound.meets(nearly)) {
                (Some(reached), Some(nearly)) => (reached, !nearly),
                _ => return outcome,
            },
        };
        outcome.judged(reached, missed)
    }

    /// Everything that the method would have stated for a point: units, objective, certificate, notes and counts, and the
    /// discriminant as far as it follows from other numbers. `outcome` and `computation` are as stated.
    pub(crate) fn restate(
        &self,
        training: &Training<'_>,
        stated: Stated<'_>,
        units: Units,
        summary: &ColumnSummary,
        watch: &Watch,
    ) -> Result<Fitted> {
        let Stated { discriminant, alpha, .. } = &stated;
        let (value, certificate) = match alpha {
            Some(alpha) => self.certify_multipliers(training, discriminant, stated.units, alpha, watch)?,
            None => self.certify(training, discriminant, stated.units, watch)?,
        };
        let notes = self.restated_notes(training, &stated, summary, &certificate, watch)?;
        let dropped = notes.iter().filter_map(left_out);
        let idle: Vec<usize> = self.idle_columns(stated.units, summary).into_iter().chain(dropped).collect();
        let restated = self.restated_discriminant(training, &stated, &units, &idle, watch)?;
        let (formula, lambda) = self.words(training, discriminant);
        let multipliers = stated.alpha.map(|alpha| self.counted(training, alpha));
        Ok(Fitted {
            discriminant: restated,
            units,
            objective: Objective { formula, value, lambda },
            outcome: self.settled(stated.outcome, &certificate),
            notes,
            computation: stated.computation,
            certificate: with_mistakes(self, certificate, stated.certificate),
            density: None,
            multipliers,
        })
    }

    /// The objective in symbols, and λ.
    fn words(&self, training: &Training<'_>, discriminant: &Discriminant) -> (String, Option<f64>) {
        let size =
            |penalty: PenaltyChoice| (penalty != PenaltyChoice::None).then(|| penalty.lambda(training.total_weight()));
        let kernel = discriminant.as_kernel().map_or(Kernel::Linear, |k| *k.kernel());
        match self {
            Method::Risk(m) => (m.formula(training.labels.n_classes()), size(m.penalty)),
            Method::Sigmoid(m) => (m.formula(), size(m.penalty)),
            Method::Link(m) => (m.formula(), size(m.penalty)),
            Method::LeastSquares(m) => (m.formula(training.labels.n_classes()), size(m.penalty)),
            Method::KernelSvm(m) => (m.formula(&kernel), size(m.penalty)),
            Method::HardMargin(m) => (m.formula(), None),
            Method::Perceptron(m) => (m.formula(), None),
            Method::KernelPerceptron(m) => (m.formula(&kernel), None),
            Method::Given(m) => (m.formula(), None),
            // These are always fitted again.
            Method::Gaussian(_) | Method::NaiveBayes(_) => (String::new(), None),
        }
    }

    /// Constant columns on which a weight would change no training score, and any score of other rows.
    fn idle_columns(&self, units: &Units, summary: &ColumnSummary) -> Vec<usize> {
        let is_idle = |j: &usize| match self {
            Method::HardMargin(_) => true,
            Method::Risk(_) | Method::Sigmoid(_) | Method::Link(_) | Method::LeastSquares(_) => {
                summary.min[*j] == units.centre()[*j]
            }
            _ => false,
        };
        summary.constant().into_iter().filter(is_idle).collect()
    }

    /// The discriminant with zeros where there can be no weight, about the centre of the units; of a kernel machine made
    /// again from the rows and the multipliers.
    fn restated_discriminant(
        &self,
        training: &Training<'_>,
        stated: &Stated<'_>,
        units: &Units,
        idle: &[usize],
        watch: &Watch,
    ) -> Result<Discriminant> {
        if let (Method::KernelSvm(method), Some(alpha)) = (self, &stated.alpha) {
            return method.restated(training, stated.discriminant, alpha, watch);
        }
        let Some(linear) = stated.discriminant.as_linear() else { return Ok(stated.discriminant.clone()) };
        let scores = linear.n_scores();
        let mut weights: Vec<f64> = (0..scores).flat_map(|k| linear.weights_of(k).iter().copied()).collect();
        for row in weights.chunks_exact_mut(linear.n_cols().max(1)) {
            idle.iter().for_each(|j| row[*j] = 0.0);
        }
        // The plane of a hard margin has a centre of its own, and so have two-class fits together.
        let centre = match self {
            Method::Risk(_) | Method::Sigmoid(_) | Method::Link(_) | Method::LeastSquares(_) if !stated.is_part => {
                units.centre()
            }
            _ => linear.centre(),
        };
        Ok(Discriminant::Linear(Linear::new(weights, centre.to_vec(), linear.intercept_at_centre().to_vec())?))
    }

    /// Support vectors, counted; multipliers beyond the bound of their row are clipped to it.
    fn counted(&self, training: &Training<'_>, mut alpha: Vec<f64>) -> Multipliers {
        let bound = match self {
            Method::Risk(m) if m.loss == LossChoice::Hinge => Some(m.penalty),
            Method::KernelSvm(m) => Some(m.penalty),
            _ => None,
        };
        if let Method::HardMargin(_) = self {
            balance(training, &mut alpha);
        }
        let total = training.total_weight();
        let largest = bound.map_or(f64::INFINITY, |p| (p.lambda(total) * total).recip() * (1.0 - AT_BOUND));
        let per_row = alpha.len() / training.labels.len().max(1);
        let (mut free, mut bounded) = (0, 0);
        for (i, of_row) in alpha.chunks_exact_mut(per_row.max(1)).enumerate() {
            let (s, sum) = (training.weights.map_or(1.0, |w| w[i]), of_row.iter().sum::<f64>());
            if s > 0.0 && sum > 0.0 {
                if sum >= largest * s {
                    bounded += 1
                } else {
                    free += 1
                }
                let excess = sum / (largest * s);
                if excess > 1.0 + ROUNDING {
                    of_row.iter_mut().for_each(|a| *a /= excess);
                }
            }
        }
        Multipliers { alpha, free, bounded }
    }
}

impl KernelSvmSettings {
    /// The discriminant that multipliers make, with the intercept that the model states.
    fn restated(
        &self,
        training: &Training<'_>,
        stated: &Discriminant,
        alpha: &[f64],
        watch: &Watch,
    ) -> Result<Discriminant> {
        let (kernel, units) = match self.kernel {
            KernelChoice::Precomputed => (Kernel::Precomputed, Units::identity(training.design.shape().cols)),
            _ => self.learnt(training, watch)?,
        };
        let ids: Vec<usize> = (0..alpha.len()).filter(|i| alpha[*i] != 0.0).collect();
        let signs = super::kernel_svm::signs(training);
        let coefficients: Vec<f64> = ids.iter().map(|i| signs[*i] * alpha[*i]).collect();
        let rows = support(training, &kernel, &ids)?;
        match stated {
            Discriminant::Linear(linear) => {
                let intercept = linear.intercept_at_centre()[0];
                let made = super::kernel_svm::weights(&rows, &coefficients, &units, intercept)?;
                Ok(Discriminant::Linear(made))
            }
            Discriminant::Kernel(expansion) => {
                let intercept = expansion.intercept().to_vec();
                let made = KernelExpansion::new(kernel, units, ids, rows, coefficients, intercept)?;
                Ok(Discriminant::Kernel(made))
            }
            _ => Err(Error::model("a kernel machine has another kind of discriminant")),
        }
    }
}

/// The multipliers of two hulls have equal sums; where they have not, those of the larger sum are scaled down.
fn balance(training: &Training<'_>, alpha: &mut [f64]) {
    let class = |i: usize| training.labels.codes()[i].index();
    let mut sums = [0.0f64; 2];
    (0..alpha.len()).for_each(|i| sums[class(i)] += alpha[i]);
    let less = sums[0].min(sums[1]);
    if (sums[0] - sums[1]).abs() > BALANCE * less {
        (0..alpha.len()).for_each(|i| alpha[i] *= less / sums[class(i)]);
    }
}

/// Mistakes cannot be counted afterwards: they are taken as stated where they are possible, that is neither more than the
/// bound nor fewer than the length of θ requires.
fn with_mistakes(method: &Method, found: Certificate, stated: &Certificate) -> Certificate {
    let Certificate::Separates { margin, norm, radius, bound, widest, .. } = found else { return found };
    let step = match method {
        // No bound on their updates is claimed.
        Method::Perceptron(m) if !m.is_bounded() => {
            return Certificate::Separates { margin, norm, radius, bound, widest, mistakes: None };
        }
        Method::Perceptron(m) => m.step,
        _ => 1.0,
    };
    let fewest = (norm / (step * radius)).powi(2) * (1.0 - ROUNDING);
    let mistakes = match stated {
        Certificate::Separates { mistakes: Some(n), .. } if (fewest..=bound).contains(&(*n as f64)) => Some(*n),
        _ => None,
    };
    Certificate::Separates { margin, norm, radius, bound, widest, mistakes }
}

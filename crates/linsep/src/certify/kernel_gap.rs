//! The duality gap of a kernel machine with hinge loss.
//!
//! `F(w,b) = Σ s max(0, 1 − y(w·φ + b))/S + λ/2 ‖w‖²` against `D(α) = λ[Σα − ½‖Σ α y φ‖²]` for `0 ≤ α ≤ s/(λS)` and
//! `Σ α y = 0`. Both need nothing but inner products, so scores and squared lengths are all that is asked for. They are
//! lower and upper bounds of one optimum only where the kernel is positive semidefinite.

use super::{Certificate, rounding_allowance};
use crate::numeric::CompensatedSum;
use crate::objective::least_hinge_shifts;

/// Multipliers may exceed their bound by this share: rounding of `s/(λS)`.
const BOX: f64 = 1e-9;

/// What a kernel machine was fitted to, without its rows.
#[derive(Debug, Clone, Copy)]
pub struct KernelTask<'a> {
    /// −1 or 1, row by row.
    pub signs: &'a [f64],
    /// Frequencies; `None` counts every row once.
    pub weights: Option<&'a [f64]>,
    /// λ.
    pub lambda: f64,
}

impl KernelTask<'_> {
    /// The weight of a row.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[i])
    }

    /// Σs.
    pub fn total_weight(&self) -> f64 {
        self.weights.map_or(self.signs.len() as f64, |w| crate::numeric::sum(w.iter().copied()))
    }

    /// The bound `s/(λS)` of every multiplier.
    pub fn bounds(&self) -> Vec<f64> {
        let unit = (self.lambda * self.total_weight()).recip();
        (0..self.signs.len()).map(|i| unit * self.weight(i)).collect()
    }

    /// F at zero weights and the best intercept: twice the share of the lighter class.
    pub fn null_objective(&self) -> f64 {
        let of = |sign: f64| {
            crate::numeric::sum((0..self.signs.len()).filter(|i| self.signs[*i] == sign).map(|i| self.weight(i)))
        };
        2.0 * of(1.0).min(of(-1.0)) / self.total_weight()
    }

    /// `Σ s max(0, 1 − yz)/S`.
    pub fn loss(&self, scores: &[f64], intercept: f64) -> f64 {
        // A row without weight may hold anything, even what is not a number.
        let counted = (0..scores.len()).filter(|i| self.weight(*i) > 0.0);
        let terms = counted.map(|i| self.weight(i) * (1.0 - self.signs[i] * (scores[i] + intercept)).max(0.0));
        crate::numeric::sum(terms) / self.total_weight()
    }

    /// All intercepts that are best for given scores, as an interval: where the slope of the loss in b vanishes.
    pub fn best_intercepts(&self, scores: &[f64]) -> (f64, f64) {
        least_hinge_shifts((0..scores.len()).map(|i| (self.signs[i], scores[i], self.weight(i))))
    }
}

/// How far multipliers are from the conditions of a stationary point: the largest `f = g − y` among rows whose `αy` may
/// fall, less the smallest among those where it may rise; negative or zero at a stationary point.
pub fn kernel_violation(task: &KernelTask<'_>, signed: &[f64], scores: &[f64]) -> f64 {
    let bounds = task.bounds();
    let (mut smallest, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
    for i in 0..signed.len() {
        let f = scores[i] - task.signs[i];
        let (low, high) = if task.signs[i] > 0.0 { (0.0, bounds[i]) } else { (-bounds[i], 0.0) };
        if signed[i] < high {
            smallest = smallest.min(f);
        }
        if signed[i] > low {
            largest = largest.max(f);
        }
    }
    (largest - smallest).max(0.0)
}

/// The objective of a machine with given scores, to which the intercept is added, and squared length ‖w‖², and its gap to the dual value
/// of multipliers αy whose own scores, without intercept, are `dual_scores`.
///
/// ```
/// use linsep::certify::{KernelTask, kernel_gap};
/// // Two points at ±1 and λ = 1/2: w = 1, both multipliers are 1/2.
/// let task = KernelTask { signs: &[-1.0, 1.0], weights: None, lambda: 0.5 };
/// let (objective, certificate) = kernel_gap(&task, &[-1.0, 1.0], 0.0, 1.0, &[-0.5, 0.5], &[-1.0, 1.0]);
/// assert_eq!(objective, 0.25);
/// assert!(certificate.gap().unwrap() < 1e-14);
/// ```
pub fn kernel_gap(
    task: &KernelTask<'_>,
    scores: &[f64],
    intercept: f64,
    squared_length: f64,
    signed: &[f64],
    dual_scores: &[f64],
) -> (f64, Certificate) {
    let objective = task.loss(scores, intercept) + 0.5 * task.lambda * squared_length;
    let bounds = task.bounds();
    if let Some(i) = (0..signed.len())
        .find(|i| !(signed[*i] * task.signs[*i] >= 0.0 && signed[*i].abs() <= bounds[*i] * (1.0 + BOX)))
    {
        let reason = format!("the multiplier of row {} is outside of its bounds", i + 1);
        return (objective, Certificate::Absent { reason });
    }
    let (mut linear, mut quadratic, mut balance) =
        (CompensatedSum::default(), CompensatedSum::default(), CompensatedSum::default());
    for (b, g) in signed.iter().zip(dual_scores).filter(|(b, _)| **b != 0.0) {
        linear.add(b.abs());
        quadratic.add(b * g);
        balance.add(*b);
    }
    let dual = task.lambda * (linear.value() - 0.5 * quadratic.value());
    if !(dual.is_finite() && objective.is_finite()) || dual - objective > 1e-6 * (objective.abs() + dual.abs()) {
        let reason = format!("the dual value {dual} exceeds the objective {objective}: they do not belong together");
        return (objective, Certificate::Absent { reason });
    }
    // Multipliers that miss Σαy = 0 by rounding exceed the optimum by at most that times the intercept.
    let allowance = task.lambda * (balance.value() * intercept).abs() + rounding_allowance(objective, dual);
    let gap = (objective - dual).max(0.0) + allowance;
    let certificate = Certificate::DualityGap {
        objective,
        dual,
        gap,
        relative_gap: gap / objective.abs().max(task.null_objective()),
        weight_distance: Some((2.0 * gap / task.lambda).sqrt()),
    };
    (objective, certificate)
}

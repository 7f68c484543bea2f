//! The duality gap of a kernel machine with hinge loss, rounding included.
//!
//! `F(w,b) = Σ s max(0, 1 − y(w·φ + b))/S + λ/2 ‖w‖²` against `D(α) = λ[Σα − ½‖w_α‖²]`, `w_α = Σ α y φ`, for
//! `0 ≤ α ≤ s/(λS)` and `Σ α y = 0`. With `a = αλS/s` and `m = 1 − y(w·φ + b)` their difference is a sum of terms none of which
//! is negative,
//!
//! > F − D = Σ s max((1−a)m, −am)/S + λ/2 ‖w − w_α‖²,
//!
//! so nothing cancels, and what rounding may have done to a term is a bound on that term. It bounds F − F* where the kernel
//! is positive semidefinite. F* ≥ 0 bounds it by F as well.

use super::Certificate;
use crate::numeric::{CompensatedSum, UNIT};
use crate::objective::least_hinge_shifts;

/// More than the roundings of compensated sums of non-negative terms and of the few operations on them.
const RAISE: f64 = 1.0 + 64.0 * UNIT;
/// Bounds of multipliers below this count as zero: sums of products with them would underflow.
const LEAST_BOUND: f64 = 1e-280;
/// More than what underflows on the way to a gap: a million times the least double.
const FLOOR: f64 = 1e-300;

/// Multipliers may exceed their bound by this share: far more than the rounding of `s/(λS)`; they are clipped to it.
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
    /// Whether there is a free intercept, which demands `Σ α y = 0`.
    pub has_intercept: bool,
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

    /// F at zero weights and the best intercept: twice the share of the lighter class, and 1 without an intercept.
    pub fn null_objective(&self) -> f64 {
        if !self.has_intercept {
            return 1.0;
        }
        let of = |sign: f64| {
            crate::numeric::sum((0..self.signs.len()).filter(|i| self.signs[*i] == sign).map(|i| self.weight(i)))
        };
        2.0 * of(1.0).min(of(-1.0)) / self.total_weight()
    }

    /// `Σ s max(0, 1 − yz)/S`.
    pub fn loss(&self, scores: &[f64], intercept: f64) -> f64 {
        // Rows of weight zero may hold anything, NaN included.
        let counted = (0..scores.len()).filter(|i| self.weight(*i) > 0.0);
        let terms = counted.map(|i| self.weight(i) * (1.0 - self.signs[i] * (scores[i] + intercept)).max(0.0));
        crate::numeric::sum(terms) / self.total_weight()
    }

    /// The interval of optimal intercepts for given scores: where the slope of the loss in b vanishes.
    pub fn best_intercepts(&self, scores: &[f64]) -> (f64, f64) {
        if !self.has_intercept {
            return (0.0, 0.0);
        }
        least_hinge_shifts((0..scores.len()).map(|i| (self.signs[i], scores[i], self.weight(i))))
    }
}

/// An upper bound on the violation of the KKT conditions (the maximal violating pair): the largest `z − y` among rows whose
/// `αy` may fall, less the smallest among those whose `αy` may rise, widened by the errors of the scores; not positive at a
/// stationary point. Without an intercept each row is paired with zero.
pub fn kernel_violation(task: &KernelTask<'_>, signed: &[f64], scores: &[f64], errors: Option<&[f64]>) -> f64 {
    let bounds = task.bounds();
    let (mut smallest, mut largest) = match task.has_intercept {
        true => (f64::INFINITY, f64::NEG_INFINITY),
        false => (0.0, 0.0),
    };
    for i in 0..signed.len() {
        let (f, error) = (scores[i] - task.signs[i], errors.map_or(0.0, |e| e[i]));
        let (low, high) = if task.signs[i] > 0.0 { (0.0, bounds[i]) } else { (-bounds[i], 0.0) };
        if signed[i] < high {
            smallest = smallest.min(f - error);
        }
        if signed[i] > low {
            largest = largest.max(f + error);
        }
    }
    (largest - smallest).max(0.0)
}

/// A point of the dual problem that satisfies its constraints by definition.
///
/// Given multipliers are first moved into their bounds, which are doubles below `s/(λS)`. The point is then, in ℝ,
/// `α_i = values_i·M/A_k` with the exact sum A_k of the class of the row and a double M that is at most either sum: so
/// `Σ α y = 0` is an identity, and because the factors are at most 1 nothing leaves its bounds. Without an intercept nothing
/// has to be balanced, and α is `values`.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelDualPoint {
    values: Vec<f64>,
    /// At least `1 − M/A_k` of the classes −1 and 1.
    shrunk: [f64; 2],
    /// M, or without an intercept at most Σα.
    mass: f64,
}

impl KernelDualPoint {
    /// From β = αy, whatever its sums; `Err` names a row that violates its bounds by more than rounding.
    pub fn new(task: &KernelTask<'_>, signed: &[f64]) -> Result<KernelDualPoint, usize> {
        let bounds = task.bounds();
        if let Some(i) = (0..signed.len())
            .find(|i| !(signed[*i] * task.signs[*i] >= 0.0 && signed[*i].abs() <= bounds[*i] * (1.0 + BOX)))
        {
            return Err(i);
        }
        let inside = |i: usize| {
            let bound = if bounds[i] > LEAST_BOUND { bounds[i] * (1.0 - 10.0 * UNIT) } else { 0.0 };
            signed[i].abs().min(bound)
        };
        let values: Vec<f64> = (0..signed.len()).map(inside).collect();
        if !task.has_intercept {
            let mass = crate::numeric::sum(values.iter().copied()) * (1.0 - 8.0 * UNIT);
            return Ok(KernelDualPoint { values, shrunk: [0.0; 2], mass });
        }
        let sum_of =
            |sign: f64| crate::numeric::sum((0..values.len()).filter(|i| task.signs[*i] == sign).map(|i| values[i]));
        let sums = [sum_of(-1.0), sum_of(1.0)];
        let common = sums[0].min(sums[1]) * (1.0 - 8.0 * UNIT);
        let shrunk = sums.map(|sum| if sum > 0.0 { ((sum - common) / sum + 16.0 * UNIT).min(1.0) } else { 0.0 });
        Ok(KernelDualPoint { values, shrunk, mass: common })
    }

    /// How far αy of a row may be from a coefficient.
    pub fn distance(&self, i: usize, sign: f64, coefficient: f64) -> f64 {
        let value = self.values[i];
        ((coefficient - sign * value).abs() + self.shrunk_by(sign) * value) * RAISE
    }

    /// αy before it is balanced, and how far balancing moves it at most.
    pub fn signed(&self, signs: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let slack = |(v, y): (&f64, &f64)| self.shrunk_by(*y) * v * RAISE;
        let pairs = || self.values.iter().zip(signs);
        (pairs().map(|(v, y)| v * y).collect(), pairs().map(slack).collect())
    }

    /// What the multipliers of either class sum to; without an intercept those of both sum to at least this.
    pub(super) fn mass(&self) -> f64 {
        self.mass
    }

    fn shrunk_by(&self, sign: f64) -> f64 {
        self.shrunk[usize::from(sign > 0.0)]
    }

    /// a of a row, between these.
    fn share(&self, task: &KernelTask<'_>, i: usize, total: f64) -> (f64, f64) {
        let share = self.values[i] * (task.lambda * total) / task.weight(i);
        let low = share * (1.0 - self.shrunk_by(task.signs[i])) * (1.0 - 16.0 * UNIT);
        (low, (share * (1.0 + 16.0 * UNIT)).min(1.0))
    }
}

/// A machine at the rows, with bounds on what rounding did.
#[derive(Debug, Clone, Copy)]
pub struct KernelPoint<'a> {
    /// w·φ of every row, without the intercept.
    pub scores: &'a [f64],
    /// A bound on the error of each score; `None` where none is needed, and then nothing is proved.
    pub errors: Option<&'a [f64]>,
    /// b.
    pub intercept: f64,
    /// ‖w‖², and a bound on its error.
    pub squared_length: (f64, f64),
    /// At least `‖w − w_α‖` for the dual point.
    pub distance: f64,
    /// What was added to the diagonal of a precomputed kernel to make it positive semidefinite.
    pub ridge: f64,
}

/// Sums over the rows.
#[derive(Default)]
struct Terms {
    /// Losses: as computed, at least and at most.
    loss: [CompensatedSum; 3],
    /// Terms of the gap, at most.
    gap: CompensatedSum,
}

/// The objective of a machine and its gap to a dual point.
///
/// ```
/// use linsep::certify::{KernelDualPoint, KernelPoint, KernelTask, kernel_gap};
/// // Two points at ±1 and λ = 1/2: w = 1, both multipliers are 1/2.
/// let task = KernelTask { signs: &[-1.0, 1.0], weights: None, lambda: 0.5, has_intercept: true };
/// let dual = KernelDualPoint::new(&task, &[-0.5, 0.5]).unwrap();
/// let point = KernelPoint {
///     scores: &[-1.0, 1.0],
///     errors: None,
///     intercept: 0.0,
///     squared_length: (1.0, 0.0),
///     distance: 0.0,
///     ridge: 0.0,
/// };
/// let (objective, certificate) = kernel_gap(&task, &dual, &point);
/// assert_eq!(objective, 0.25);
/// assert!(certificate.gap().unwrap() < 1e-14);
/// ```
pub fn kernel_gap(task: &KernelTask<'_>, dual: &KernelDualPoint, point: &KernelPoint<'_>) -> (f64, Certificate) {
    let total = task.total_weight();
    let mut terms = Terms::default();
    // Rows of weight zero may hold anything, NaN included.
    for i in (0..point.scores.len()).filter(|i| task.weight(*i) > 0.0) {
        let z = point.scores[i] + point.intercept;
        let m = 1.0 - task.signs[i] * z;
        let error = point.errors.map_or(0.0, |e| (e[i] + 2.0 * UNIT * (z.abs() + m.abs())) * RAISE);
        let (low, high) = dual.share(task, i, total);
        let (behind, ahead) = ((m + error).max(0.0), (error - m).max(0.0));
        let weight = task.weight(i);
        terms.loss[0].add(weight * m.max(0.0));
        terms.loss[1].add(weight * (m - error).max(0.0));
        terms.loss[2].add(weight * behind);
        terms.gap.add(weight * ((1.0 - low) * behind).max(high * ahead));
    }
    let (squared, length_error) = point.squared_length;
    let objective_of = |k: usize, squared: f64| terms.loss[k].value() / total + 0.5 * task.lambda * squared.max(0.0);
    let objective = terms.loss[0].value() / total + 0.5 * task.lambda * squared;
    let least = objective_of(1, squared - length_error) * (2.0 - RAISE);
    let most = objective_of(2, squared + length_error) * RAISE + FLOOR;
    let sum = (terms.gap.value() / total + 0.5 * task.lambda * point.distance * point.distance) * RAISE + FLOOR;
    let gap = sum.min(most);
    if !(gap.is_finite() && objective.is_finite()) {
        let reason = "kernel values or scores are too large for a bound on their rounding".to_owned();
        return (objective, Certificate::Absent { reason });
    }
    let at_zero = task.null_objective();
    if gap < least - at_zero * RAISE {
        let reason = format!(
            "a defect: the objective {objective} is further above {at_zero}, which zero weights reach, than the gap {gap} says"
        );
        return (objective, Certificate::Absent { reason });
    }
    let certificate = Certificate::DualityGap {
        objective,
        dual: ((least - gap) * if least > gap { 2.0 - RAISE } else { RAISE }).max(0.0),
        gap,
        relative_gap: gap / objective.abs().max(at_zero) * RAISE,
        weight_distance: Some((2.0 * gap / task.lambda).sqrt() * RAISE),
        ridge_added: (point.ridge > 0.0).then_some(point.ridge),
        errors: None,
        intercept_distance: None,
    };
    (objective, certificate)
}

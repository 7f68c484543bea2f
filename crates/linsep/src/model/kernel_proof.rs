//! The proof of a kernel machine, at the numbers that its model stores.

use super::kernel_choice::support;
use crate::certify::{
    Certificate, KernelDualPoint, KernelPoint, KernelTask, kernel_gap, kernel_margin, kernel_margin_at_most,
    kernel_violation,
};
use crate::design::Training;
use crate::design::Units;
use crate::discriminant::{Discriminant, KernelExpansion, Linear};
use crate::error::{Error, Result};
use crate::kernel::{EnclosedValues, Kernel, ProofRows};
use crate::watch::Watch;

const TOO_LARGE: &str = "kernel values or scores are too large for a bound on their rounding";
/// Far more than the roundings of a compensated sum of positive terms.
const ROUNDED_UP: f64 = 1.0 + 1e-12;

/// A machine and the multipliers that are to prove it.
pub(super) struct Machine<'a> {
    pub(super) kernel: Kernel,
    pub(super) discriminant: &'a Discriminant,
    pub(super) units: &'a Units,
    /// β = αy, row by row.
    pub(super) signed: &'a [f64],
    /// What is to be proved.
    pub(super) claim: KernelClaim,
}

/// What a machine and its multipliers can prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KernelClaim {
    /// The objective is the least.
    LeastObjective,
    /// The margin is the widest.
    WidestMargin,
    /// No plane has a margin above some number, which takes the place of the objective.
    NoWiderMargin,
}

impl Machine<'_> {
    /// The objective and its certificate: a gap where the kernel with `ridge` on its diagonal is positive semidefinite, else
    /// how far from stationary.
    pub(super) fn prove(
        &self,
        training: &Training<'_>,
        task: &KernelTask<'_>,
        ridge: Option<f64>,
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        let rows = ProofRows::new(&self.kernel, training.design, self.units, ridge.unwrap_or(0.0), watch)?;
        let dual = match KernelDualPoint::new(task, self.signed) {
            Ok(dual) => dual,
            Err(row) => return Ok(absent(format!("the multiplier of row {} is outside of its bounds", row + 1))),
        };
        let intercept = match self.discriminant {
            Discriminant::Linear(linear) => linear.intercept_at_centre()[0],
            Discriminant::Kernel(expansion) => expansion.intercept()[0],
            _ => 0.0,
        };
        if !task.has_intercept && intercept != 0.0 {
            return Err(Error::model("the model states that it has no intercept, but it has one"));
        }
        match self.discriminant {
            Discriminant::Linear(linear) => self.plane(linear, &rows, task, &dual),
            Discriminant::Kernel(expansion) => self.expansion(expansion, training, &rows, task, &dual, ridge),
            _ => Err(Error::model("a kernel machine has another kind of discriminant")),
        }
    }

    /// The machine of a linear kernel, which stores its weights.
    fn plane(
        &self,
        linear: &Linear,
        rows: &ProofRows,
        task: &KernelTask<'_>,
        dual: &KernelDualPoint,
    ) -> Result<(f64, Certificate)> {
        if linear.centre() != self.units.centre() {
            return Ok(absent("the plane is not about the centre of the units".to_owned()));
        }
        let weights: Vec<f64> = linear.weights_of(0).iter().zip(self.units.scale()).map(|(w, s)| w * s).collect();
        let EnclosedValues { values, errors } = rows.plane(&weights, self.units);
        let squared = crate::numeric::sum(weights.iter().map(|w| w * w));
        let (signed, slack) = dual.signed(task.signs);
        let point = KernelPoint {
            scores: &values,
            errors: Some(&errors),
            intercept: linear.intercept_at_centre()[0],
            squared_length: (squared, 8.0 * f64::EPSILON * squared),
            distance: rows.plane_distance(&weights, &signed, &slack),
            ridge: 0.0,
        };
        Ok(self.judged(task, dual, &point))
    }

    /// The gap, the margin against the hulls, or the hulls alone.
    fn judged(&self, task: &KernelTask<'_>, dual: &KernelDualPoint, point: &KernelPoint<'_>) -> (f64, Certificate) {
        match self.claim {
            KernelClaim::LeastObjective => kernel_gap(task, dual, point),
            KernelClaim::WidestMargin => kernel_margin(task, dual, point),
            KernelClaim::NoWiderMargin => {
                (kernel_margin_at_most(task, dual, point), absent("the margin is bounded".to_owned()).1)
            }
        }
    }

    fn expansion(
        &self,
        expansion: &KernelExpansion,
        training: &Training<'_>,
        rows: &ProofRows,
        task: &KernelTask<'_>,
        dual: &KernelDualPoint,
        ridge: Option<f64>,
    ) -> Result<(f64, Certificate)> {
        let Some(coefficients) = coefficients_on_rows(expansion, training, &self.kernel, self.units)? else {
            return Ok(absent("the support rows are not those rows of the data".to_owned()));
        };
        let EnclosedValues { values, errors } = rows.sums(&coefficients);
        let squared_length = squared_length(&coefficients, &values, &errors);
        let norms = rows.norms();
        let apart = |i: usize| dual.distance(i, task.signs[i], coefficients[i]) * norms[i];
        let point = KernelPoint {
            scores: &values,
            errors: Some(&errors),
            intercept: expansion.intercept()[0],
            squared_length,
            distance: crate::numeric::sum((0..coefficients.len()).map(apart)) * ROUNDED_UP,
            ridge: ridge.unwrap_or(0.0),
        };
        let (objective, certificate) = self.judged(task, dual, &point);
        if ridge.is_some() {
            return Ok((objective, certificate));
        }
        // Without convexity only the KKT conditions of the multipliers themselves can be checked.
        if coefficients != self.signed {
            return Ok((
                objective,
                Certificate::Absent { reason: "the coefficients are not the multipliers".to_owned() },
            ));
        }
        let violation = kernel_violation(task, self.signed, &values, Some(&errors));
        match violation.is_finite() && objective.is_finite() {
            true => Ok((objective, Certificate::Stationary { violation })),
            false => Ok((objective, Certificate::Absent { reason: TOO_LARGE.to_owned() })),
        }
    }
}

fn absent(reason: String) -> (f64, Certificate) {
    (f64::NAN, Certificate::Absent { reason })
}

/// ‖w‖² = Σ a·g from the sums g of a machine at the rows, and a bound on its error.
pub(super) fn squared_length(coefficients: &[f64], sums: &[f64], errors: &[f64]) -> (f64, f64) {
    let there = || (0..coefficients.len()).filter(|i| coefficients[*i] != 0.0);
    let value = crate::numeric::sum(there().map(|i| coefficients[i] * sums[i]));
    let error = |i: usize| coefficients[i].abs() * (errors[i] + 4.0 * f64::EPSILON * sums[i].abs());
    (value, 1.01 * there().map(error).sum::<f64>() + 4.0 * f64::EPSILON * value.abs())
}

/// Coefficients of an expansion, row by row of the training table; `None` unless its support rows are those rows to the bit.
pub(super) fn coefficients_on_rows(
    expansion: &KernelExpansion,
    training: &Training<'_>,
    kernel: &Kernel,
    units: &Units,
) -> Result<Option<Vec<f64>>> {
    let n = training.labels.len();
    let ids = expansion.support_rows();
    if expansion.kernel() != kernel || ids.iter().any(|i| *i >= n) {
        return Ok(None);
    }
    if *kernel != Kernel::Precomputed
        && !(expansion.is_in(units) && expansion.is_over(&support(training, kernel, ids)?))
    {
        return Ok(None);
    }
    let mut coefficients = vec![0.0; n];
    ids.iter().zip(expansion.coefficients()).for_each(|(i, c)| coefficients[*i] = *c);
    Ok(Some(coefficients))
}

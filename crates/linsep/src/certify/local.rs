//! Whether a point is a local minimum of a risk that is not convex: squared error of sigmoid outputs, the cauchit link.
//!
//! With `D_j = c Σ s x̂_j²/Σs + λf_j`, c the typical curvature of the loss (of sigmoid outputs 1/16, the largest that the
//! Gauss–Newton Hessian can have), the
//! gradient is measured by `√(Σ g_j²/D_j / F₀)`, F₀ the objective at zero weights, and the Hessian by the smallest
//! eigenvalue of `D^{−½} H D^{−½}`: neither depends on the units of the columns. H is the exact Hessian, not its
//! Gauss–Newton part alone.

use super::{Certificate, Independent, independent_coefficients};
use crate::error::Result;
use crate::linalg::{Eigen, Square};
use crate::objective::{DescentLoss, Intercept, Loss, Penalty, Point, Risk};
use crate::watch::Watch;

/// Eigenvalues below this are negative (above its opposite: positive) beyond rounding, on the scale on which the
/// Hessian is of order one: rounding of an eigenvalue is about 1e-16 times the number of columns. Chosen
/// (bench/constants.md).
pub const LOCAL_ROUNDING: f64 = 1e-9;
/// Columns whose diagonal is below this share of the largest have no effect beyond rounding.
const NO_SIZE: f64 = 1e-14;
/// Without a penalty, the gradient relative to the eigenvalue, which bounds the distance of the stationary point.
/// Chosen, out of reach of bench/constants.md.
const WITHIN_REACH: f64 = 1e-3;

/// The scales of the coefficients: D, and which of them the data determine.
#[derive(Debug, Clone)]
pub struct LocalScale {
    diagonal: Vec<f64>,
    unknowns: Vec<usize>,
    reference: f64,
}

/// Gradient and curvature at a point, in these scales.
#[derive(Debug, Clone)]
pub struct LocalCurvature {
    /// `√(Σ g²/D / F₀)`.
    pub gradient: f64,
    /// Of `D^{−½} H D^{−½}`.
    pub smallest_eigenvalue: f64,
    /// Its direction, as coefficients.
    pub direction: Vec<f64>,
}

impl LocalScale {
    /// By two passes over the features at most.
    pub fn new<L: DescentLoss>(risk: &Risk<'_, L>, watch: &Watch) -> Result<LocalScale> {
        let (cols, rows) = (risk.n_cols(), risk.sample().labels.len());
        let weights: Vec<f64> = (0..rows).map(|i| risk.sample().weights.map_or(1.0, |w| w[i])).collect();
        let gram = penalised(
            risk,
            risk.weighted_gram(&weights, watch)?,
            risk.loss().typical_curvature() / risk.total_weight(),
        );
        let diagonal = gram.diagonal();
        let largest = diagonal.iter().copied().fold(0.0, f64::max);
        let mut unknowns: Vec<usize> = (0..=cols).filter(|j| diagonal[*j] > NO_SIZE * largest).collect();
        if risk.intercept() == Intercept::None {
            unknowns.retain(|j| *j < cols);
        }
        if risk.penalty().is_none() {
            // Columns that are combinations of others leave the minimum undetermined, not absent.
            let Independent { unknowns: independent, .. } = independent_coefficients(risk, watch)?;
            unknowns.retain(|j| independent.contains(j));
        }
        Ok(LocalScale { diagonal, unknowns, reference: risk.null_objective() })
    }

    /// D.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// The coefficients that the data and the penalty determine.
    pub fn unknowns(&self) -> &[usize] {
        &self.unknowns
    }

    /// `√(Σ g²/D / F₀)` at a point.
    pub fn gradient(&self, point: &Point) -> f64 {
        let gradient = point.gradient.as_slice();
        let sum: f64 = self.unknowns.iter().map(|j| gradient[*j] * gradient[*j] / self.diagonal[*j]).sum();
        (sum / self.reference).sqrt()
    }

    /// Gradient and smallest eigenvalue at a point; `None` where the eigenvalues cannot be computed.
    pub fn curvature<L: DescentLoss>(
        &self,
        risk: &Risk<'_, L>,
        point: &Point,
        watch: &Watch,
    ) -> Result<Option<LocalCurvature>> {
        let hessian = exact_hessian(risk, point, watch)?;
        let root = |at: usize| self.diagonal[self.unknowns[at]].sqrt();
        let scaled = Square::from_lower(self.unknowns.len(), |i, j| {
            let (a, b) = (self.unknowns[i].max(self.unknowns[j]), self.unknowns[i].min(self.unknowns[j]));
            hessian.get(a, b) / (root(i) * root(j))
        });
        let Some(eigen) = Eigen::of(&scaled) else { return Ok(None) };
        let mut direction = vec![0.0; self.diagonal.len()];
        if !self.unknowns.is_empty() {
            for (at, v) in eigen.vector(0).iter().enumerate() {
                direction[self.unknowns[at]] = v / root(at);
            }
        }
        let smallest_eigenvalue = eigen.values().first().copied().unwrap_or(0.0);
        Ok(Some(LocalCurvature { gradient: self.gradient(point), smallest_eigenvalue, direction }))
    }
}

impl LocalCurvature {
    /// Whether this is what [`is_local_minimum`] asks for.
    pub fn is_minimum(&self, penalised: bool) -> bool {
        is_local_minimum(self.gradient, self.smallest_eigenvalue, penalised)
    }
}

/// Whether a gradient that is small enough belongs to a minimum, by the smallest eigenvalue there.
///
/// With a penalty it must not be negative. Without one there may be no minimum: where scores grow without bound
/// gradient and Hessian vanish together, so the gradient must also be small beside the eigenvalue, which bounds how far the
/// stationary point is.
pub fn is_local_minimum(gradient: f64, smallest_eigenvalue: f64, penalised: bool) -> bool {
    match penalised {
        true => smallest_eigenvalue >= -LOCAL_ROUNDING,
        false => smallest_eigenvalue >= LOCAL_ROUNDING && gradient <= WITHIN_REACH * smallest_eigenvalue,
    }
}

/// The certificate of a point: its gradient and its smallest eigenvalue, whatever they are.
pub fn local_minimum<L: DescentLoss>(risk: &Risk<'_, L>, point: &Point, watch: &Watch) -> Result<Certificate> {
    let scale = LocalScale::new(risk, watch)?;
    Ok(match scale.curvature(risk, point, watch)? {
        Some(found) => Certificate::Local { gradient: found.gradient, smallest_eigenvalue: found.smallest_eigenvalue },
        None => Certificate::Absent { reason: "the eigenvalues of the Hessian cannot be computed".into() },
    })
}

/// `∇²F` with both its parts, intercepts last.
pub fn exact_hessian<L: DescentLoss>(risk: &Risk<'_, L>, point: &Point, watch: &Watch) -> Result<Square> {
    hessian(risk, &risk.loss().with_positive_curvature(false), point, watch)
}

/// The Gauss–Newton part of `∇²F`, which is positive semidefinite.
pub fn gauss_newton_hessian<L: DescentLoss>(risk: &Risk<'_, L>, point: &Point, watch: &Watch) -> Result<Square> {
    hessian(risk, &risk.loss().with_positive_curvature(true), point, watch)
}

fn hessian<L: DescentLoss>(risk: &Risk<'_, L>, loss: &L, point: &Point, watch: &Watch) -> Result<Square> {
    let sample = risk.sample();
    let rows = sample.labels.len();
    let (mut residual, mut curvature) = (vec![0.0; rows], vec![0.0; rows]);
    Loss::block(loss, sample.labels, &point.scores, sample.weights, &mut residual, Some(&mut curvature));
    let positive: Vec<f64> = curvature.iter().map(|c| c.max(0.0)).collect();
    let mut gram = risk.weighted_gram(&positive, watch)?;
    if curvature.iter().any(|c| *c < 0.0) {
        // A Gram matrix takes square roots of the curvatures, so the negative ones make a second one, which is subtracted.
        let negative: Vec<f64> = curvature.iter().map(|c| (-c).max(0.0)).collect();
        let other = risk.weighted_gram(&negative, watch)?;
        gram.add_scaled(-1.0, Some(&other));
    }
    Ok(penalised(risk, gram, risk.total_weight().recip()))
}

/// A Gram times a factor, plus the curvature of the penalty.
fn penalised<L: DescentLoss>(risk: &Risk<'_, L>, mut gram: Square, factor: f64) -> Square {
    let cols = risk.n_cols();
    gram.scale(factor);
    (0..cols).for_each(|j| *gram.at(j, j) += risk.penalty().ridge_of(j));
    if risk.intercept() == Intercept::Penalised {
        *gram.at(cols, cols) += risk.penalty().ridge();
    }
    gram
}

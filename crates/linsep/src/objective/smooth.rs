//! The interface of a risk to smooth solvers and to the gap that they stop on: sums over rows, wherever the rows are.

use super::loss::dual_point_of;
use super::{Coef, Conjugate, Detail, DualPoint, Intercept, Line, Loss, Penalty, Point, Risk, RiskFrame, ScoredBlock};
use crate::error::Result;
use crate::watch::Watch;

/// `F(W,b) = Σ sᵢ ℓ(yᵢ, x̂ᵢW + b + oᵢ) / Σ sᵢ + λ Ω(W)` as a solver sees it: F, its derivatives at a point, its values along
/// a line, and the sums of a dual point. Where Ω has a lasso part, derivatives are of the rest.
///
/// Every method that names a watch is one pass over the rows, which may be in memory, on disk or on other machines.
/// Numbers of single rows (scores) stay with the rows, behind [`Smooth::Scores`] and [`Smooth::Line`]; what comes back are
/// sums, which parts of the rows can add up by themselves. [`Risk`] is the one with all rows in memory.
pub trait Smooth: RiskFrame<Loss: Conjugate + Clone> {
    /// The scores of all rows at a point, or what stands for them.
    type Scores;
    /// The scores of all rows along a direction, or what stands for them.
    type Line;

    /// Zero weights and, where the intercept is free, the best constant scores.
    fn start(&self) -> Coef;

    /// F, its gradient and, where asked for, its Hessian.
    fn at(&self, coef: &Coef, detail: Detail, watch: &Watch) -> Result<Point<Self::Scores>>;
    /// The scores of a direction.
    fn along(&self, direction: &Coef, watch: &Watch) -> Result<Self::Line>;
    /// The largest spread of a direction over the class scores of a row of positive weight.
    fn range_of(&self, line: &Self::Line) -> Result<f64>;
    /// F at `point + step · direction` for each of some steps.
    fn on_line(&self, point: &Point<Self::Scores>, line: &Self::Line, steps: &[f64]) -> Result<Vec<f64>>;
    /// How many steps [`Smooth::on_line`] is best asked for at once: one where asking costs nothing.
    fn steps_at_once(&self) -> usize {
        1
    }
    /// `∇²F(point) · direction`.
    fn hess_vec(&self, point: &Point<Self::Scores>, direction: &Coef, watch: &Watch) -> Result<Coef>;
    /// The diagonal of the Hessian.
    fn hessian_diagonal(&self, point: &Point<Self::Scores>, watch: &Watch) -> Result<Coef>;

    /// A feasible dual point near the derivatives of the loss, as far as the rows determine it.
    fn dual_point(&self, point: &Point<Self::Scores>, balanced: bool, shrink: f64) -> Result<DualPoint>;
    /// `Σ sᵢ c_{yᵢ} ∂ℓ/∂z xᵢᵀ` for a factor of each of two classes, of a point that kept one sum for both.
    fn class_scaled_sums(&self, point: &Point<Self::Scores>, scale: [f64; 2], watch: &Watch) -> Result<Vec<f64>>;
    /// `Σ sᵢ xᵢ` per class, in units.
    fn class_sums(&self, watch: &Watch) -> Result<Vec<f64>>;

    /// The risk itself where all rows are in memory: what looks at single rows (a start on some of them, searches for
    /// separation, proofs) is left out elsewhere.
    fn rows_here(&self) -> Option<&Risk<'_, Self::Loss, Self::Penalty>> {
        None
    }
    /// A point as one of [`Smooth::rows_here`].
    fn point_here<'p>(&self, _point: &'p Point<Self::Scores>) -> Option<&'p Point> {
        None
    }

    /// Removes the common shift of all scores where it changes no loss: the solution of least penalty has none.
    fn centre_scores(&self, coef: &mut Coef) {
        if self.loss().shift_invariant() {
            coef.remove_common_part();
        }
    }
}

/// The first of some steps along a line whose objective is accepted.
pub(crate) fn first_accepted<P: Smooth + ?Sized>(
    problem: &P,
    point: &Point<P::Scores>,
    line: &P::Line,
    mut steps: impl Iterator<Item = f64>,
    accept: impl Fn(f64, f64) -> bool,
) -> Result<Option<f64>> {
    loop {
        let batch: Vec<f64> = steps.by_ref().take(problem.steps_at_once().max(1)).collect();
        if batch.is_empty() {
            return Ok(None);
        }
        let values = problem.on_line(point, line, &batch)?;
        if let Some((step, _)) = batch.iter().zip(values).find(|(step, value)| accept(**step, *value)) {
            return Ok(Some(*step));
        }
    }
}

impl<L: Loss, P: Penalty> RiskFrame for Risk<'_, L, P> {
    type Loss = L;
    type Penalty = P;

    fn loss(&self) -> &L {
        Risk::loss(self)
    }

    fn penalty(&self) -> &P {
        Risk::penalty(self)
    }

    fn intercept(&self) -> Intercept {
        Risk::intercept(self)
    }

    fn n_cols(&self) -> usize {
        Risk::n_cols(self)
    }

    fn total_weight(&self) -> f64 {
        Risk::total_weight(self)
    }

    fn null_objective(&self) -> f64 {
        Risk::null_objective(self)
    }
}

impl<L: Conjugate + Clone, P: Penalty> Smooth for Risk<'_, L, P> {
    type Scores = Vec<f64>;
    type Line = Line;

    fn start(&self) -> Coef {
        Risk::start(self)
    }

    fn at(&self, coef: &Coef, detail: Detail, watch: &Watch) -> Result<Point> {
        Risk::at(self, coef, detail, watch)
    }

    fn along(&self, direction: &Coef, watch: &Watch) -> Result<Line> {
        Risk::along(self, direction, watch)
    }

    fn range_of(&self, line: &Line) -> Result<f64> {
        Ok(Risk::range_of(self, line))
    }

    fn on_line(&self, point: &Point, line: &Line, steps: &[f64]) -> Result<Vec<f64>> {
        Ok(steps.iter().map(|step| Risk::on_line(self, point, line, *step)).collect())
    }

    fn hess_vec(&self, point: &Point, direction: &Coef, watch: &Watch) -> Result<Coef> {
        Risk::hess_vec(self, point, direction, watch)
    }

    fn hessian_diagonal(&self, point: &Point, watch: &Watch) -> Result<Coef> {
        Risk::hessian_diagonal(self, point, watch)
    }

    fn dual_point(&self, point: &Point, balanced: bool, shrink: f64) -> Result<DualPoint> {
        Ok(dual_point_of(Risk::loss(self), self.scored(&point.scores), balanced, shrink))
    }

    fn class_scaled_sums(&self, point: &Point, scale: [f64; 2], watch: &Watch) -> Result<Vec<f64>> {
        let sample = self.sample();
        let mut residual = vec![0.0; sample.labels.len()];
        Risk::loss(self).block(sample.labels, &point.scores, sample.weights, &mut residual, None);
        residual.iter_mut().zip(sample.labels).for_each(|(r, class)| *r *= scale[class.index()]);
        Ok(self.weighted_sums(&residual, watch)?.0)
    }

    fn class_sums(&self, watch: &Watch) -> Result<Vec<f64>> {
        Risk::class_sums(self, watch)
    }

    fn rows_here(&self) -> Option<&Risk<'_, L, P>> {
        Some(self)
    }

    fn point_here<'p>(&self, point: &'p Point) -> Option<&'p Point> {
        Some(point)
    }
}

impl<L: Loss, P: Penalty> Risk<'_, L, P> {
    /// All rows with given scores.
    fn scored<'s>(&'s self, scores: &'s [f64]) -> ScoredBlock<'s> {
        let sample = self.sample();
        ScoredBlock { labels: sample.labels, scores, weights: sample.weights, offsets: sample.offsets }
    }
}

//! Proximal Newton on all columns of a risk.

use super::gram::GramModel;
use super::residual::{ResidualModel, Sweeps};
use super::{ProximalNewton, Step, Stop, forecast, violation};
use crate::certify::{Certificate, duality_gap};
use crate::design::Columns;
use crate::error::Result;
use crate::linalg::Square;
use crate::objective::line_search::DECREASE;
use crate::objective::{
    Coef, Conjugate, Detail, ElasticNet, Intercept, Loss, Penalty, Point, Risk, Smooth, first_accepted,
};
use crate::watch::{Progress, Watch};

/// In the matrix, the model is solved until the violation of its optimality conditions is this share of that of the
/// risk: a sweep costs little beside a pass over the rows. Chosen (bench/constants.md).
const GRAM_PRECISION: f64 = 1e-3;
/// The same by columns, where a sweep costs about a pass. Chosen, out of reach of bench/constants.md.
const RESIDUAL_PRECISION: f64 = 0.03;
/// A Hessian is used again as long as each step lowers the predicted decrease by this factor. Chosen
/// (bench/constants.md).
const CHORD: f64 = 0.05;
/// Up to so many coefficients a Hessian costs about as much as the rest of a pass. Chosen (bench/constants.md).
const CHEAP: usize = 160;
/// A step is long that lowers the objective by more than this share. Chosen (bench/constants.md): only the time depends
/// on it.
pub(super) const LONG: f64 = 2e-3;
/// A rough step solves the model to this share of the violation. Chosen (bench/constants.md).
const ROUGH_PRECISION: f64 = 0.2;
/// A rough step takes this many sweeps over the active set at most. Chosen (bench/constants.md).
const ROUGH_SWEEPS: usize = 5;
/// A step on faces ends where the model is solved to this share of the violation. Chosen, out of reach of
/// bench/constants.md.
const FACE_PRECISION: f64 = 0.1;
/// Faces of a model that one step visits at most, with one sweep over all columns before each. To a gap of 1e-2 on texts made
/// of topics (25,000 rows, 59,610 columns, 4,066 with a weight) two faces, one, and ten visit 1.9, 2.3 and more than 3.8
/// billion entries; on farm_ads with C = 10 two and one 0.88 and 0.72.
const FACES: usize = 2;
/// The model is not solved further than this share of the tolerance, which would prove no more. Chosen
/// (bench/constants.md).
const FLOOR: f64 = 0.02;
/// Gradients below this share of the largest are rounding: about half a unit.
const GRADIENT_ROUNDING: f64 = 1e-16;
/// Relative rounding of the objective, with room for many rows: about 500 units.
const ROUNDING: f64 = 1e-13;
/// A decrease this many times the rounding is resolved by the objective; below it the optimality conditions decide.
const RESOLVED: f64 = 1e3;
/// A shorter step is hidden by rounding: 33 halvings.
const SHORTEST: f64 = 1e-10;

/// How the quadratic model is kept.
pub(super) enum ModelCurvature<'c> {
    /// As a matrix, of the loss and the ridge.
    Gram,
    /// By the columns.
    Columns(&'c Columns),
}

impl<'c> ModelCurvature<'c> {
    fn columns(&self) -> Option<&'c Columns> {
        match self {
            ModelCurvature::Columns(columns) => Some(columns),
            ModelCurvature::Gram => None,
        }
    }
}

/// An iteration under way.
pub(super) struct ProximalRun<'r, P: Smooth> {
    pub(super) risk: &'r P,
    pub(super) watch: &'r Watch,
    pub(super) point: Point<P::Scores>,
    curvature: ModelCurvature<'r>,
    /// The last Hessian.
    model: Option<GramModel>,
    /// Whether it is the one at the point.
    fresh: bool,
    lasso: Vec<f64>,
    reference: f64,
    pub(super) certificate: Option<Certificate>,
    pub(super) trace: Vec<Step>,
    pub(super) passes: usize,
}

/// What a run leaves: its point, its last Hessian, its proof, its trace and its passes.
pub(super) type RunParts<S> = (Point<S>, Option<GramModel>, Option<Certificate>, Vec<Step>, usize);

impl<'r, P: Smooth<Penalty = ElasticNet>> ProximalRun<'r, P> {
    /// At a point, where there may be a Hessian of a point nearby.
    pub(super) fn new(
        risk: &'r P,
        point: Point<P::Scores>,
        nearby: Option<GramModel>,
        curvature: ModelCurvature<'r>,
        watch: &'r Watch,
    ) -> Self {
        let (k, cols, penalty) = (risk.loss().n_scores(), risk.n_cols(), risk.penalty());
        let of_intercept = if risk.intercept() == Intercept::Penalised { penalty.lasso() } else { 0.0 };
        let mut lasso: Vec<f64> = (0..k * cols).map(|i| penalty.lasso_of(i % cols)).collect();
        lasso.resize(k * (cols + 1), of_intercept);
        ProximalRun {
            risk,
            watch,
            curvature,
            model: nearby,
            fresh: false,
            lasso,
            reference: risk.null_objective(),
            certificate: None,
            trace: Vec::new(),
            passes: 0,
            point,
        }
    }

    /// Iterates until the gap of this risk is proved to be at most the tolerance.
    pub(super) fn iterate(&mut self, limits: &ProximalNewton) -> Result<Stop> {
        let mut predicted_before = f64::NEG_INFINITY;
        loop {
            if self.certified(limits.tolerance)? {
                return Ok(Stop::Converged);
            }
            if self.trace.len() >= limits.max_iterations {
                return Ok(Stop::IterationLimit);
            }
            let candidate = self.candidate(limits.tolerance)?;
            let predicted = self.predicted(&candidate);
            let crawls = predicted < CHORD * predicted_before;
            if !self.fresh && crawls {
                self.refresh()?;
                predicted_before = f64::NEG_INFINITY;
                continue;
            }
            if !self.advance(candidate, predicted, limits.tolerance)? {
                if self.fresh {
                    return Ok(Stop::PrecisionLimit);
                }
                self.refresh()?;
            }
            predicted_before = predicted;
        }
    }

    /// Whether the point is proved good enough; the proof is looked for only where it may succeed.
    fn certified(&mut self, tolerance: f64) -> Result<bool> {
        let scale = self.reference.max(self.point.objective.abs());
        if forecast(self.risk, &self.point) > 2.0 * tolerance * scale {
            return Ok(false);
        }
        let certificate = duality_gap(self.risk, &self.point, self.watch)?;
        let reached = certificate.relative_gap().is_some_and(|gap| gap <= tolerance);
        if let Some(last) = self.trace.last_mut() {
            last.relative_gap = certificate.relative_gap();
        }
        self.certificate = Some(certificate);
        Ok(reached)
    }

    /// The minimiser of the quadratic model.
    fn candidate(&mut self, tolerance: f64) -> Result<Coef> {
        let violation = violation(self.risk, &self.point);
        let largest = self.point.gradient.as_slice().iter().fold(0.0f64, |l, g| l.max(g.abs()));
        // Closer than this proves no more, or is rounding.
        let floor = (FLOOR * tolerance * self.risk.penalty().lasso().min(violation)).max(GRADIENT_ROUNDING * largest);
        let (k, cols) = (self.point.coef.n_scores(), self.point.coef.n_cols());
        let (risk, columns) = (self.risk, self.curvature.columns());
        let mut candidate = match (columns, risk.rows_here(), risk.point_here(&self.point)) {
            (Some(columns), Some(rows), Some(point)) => {
                self.fresh = true;
                let model = ResidualModel::new(rows, point, columns, 0.0);
                let target = (RESIDUAL_PRECISION * violation).max(floor);
                model.minimise(rows, &self.point.coef, target, Sweeps::default())
            }
            // In the matrix; rows elsewhere have no columns here.
            _ => {
                if self.model.is_none() {
                    self.refresh()?;
                }
                let target = (GRAM_PRECISION * violation).max(floor);
                let (w, gradient) = (self.point.coef.as_slice(), self.point.gradient.as_slice());
                let minimiser = self.model.as_ref().map(|m| m.minimise(w, gradient, &self.lasso, target));
                Coef::from_vec(minimiser.unwrap_or_default(), k, cols)
            }
        };
        super::centre(self.risk, &mut candidate);
        Ok(candidate)
    }

    /// `g·d + Σ l(|w+d| − |w|)`, the decrease that a linear model foretells: negative.
    fn predicted(&self, candidate: &Coef) -> f64 {
        let (w, v) = (self.point.coef.as_slice(), candidate.as_slice());
        let terms = w.iter().zip(v).zip(self.point.gradient.as_slice().iter().zip(&self.lasso));
        terms.map(|((w, v), (g, l))| g * (v - w) + l * (v.abs() - w.abs())).sum()
    }

    /// Takes the step; false where none decreases the objective.
    fn advance(&mut self, candidate: Coef, predicted: f64, tolerance: f64) -> Result<bool> {
        if candidate == self.point.coef || predicted >= 0.0 {
            return Ok(false);
        }
        let gram = matches!(self.curvature, ModelCurvature::Gram);
        // After a long step the Hessian is another; of few columns it costs little, unless this step is the last.
        let long = -predicted > LONG * self.point.objective.abs();
        let last = -predicted <= tolerance * self.point.objective.abs();
        let cheap = self.lasso.len() <= CHEAP && !last;
        let detail = if gram && (long || cheap) { Detail::Hessian } else { Detail::Gradient };
        let mut next = self.risk.at(&candidate, detail, self.watch)?;
        self.passes += 1;
        let mut step = 1.0;
        // Near the optimum the decrease drowns in rounding; there the optimality conditions decide.
        let rounding = ROUNDING * self.point.objective.abs().max(f64::MIN_POSITIVE);
        let enough = -predicted >= rounding && next.objective <= self.point.objective + DECREASE * predicted;
        let by_conditions = -predicted < RESOLVED * rounding
            && next.objective <= self.point.objective + rounding
            && forecast(self.risk, &next) < 0.5 * forecast(self.risk, &self.point);
        if !(enough || by_conditions) {
            if -predicted < rounding || !self.fresh {
                return Ok(false);
            }
            let direction = candidate.moved(-1.0, &self.point.coef);
            let line = self.risk.along(&direction, self.watch)?;
            self.passes += 1;
            let halved = std::iter::successors(Some(0.5), |step| Some(0.5 * step)).take_while(|step| *step >= SHORTEST);
            let lower = |step: f64, value: f64| value <= self.point.objective + DECREASE * step * predicted;
            match first_accepted(self.risk, &self.point, &line, halved, lower)? {
                Some(shorter) => step = shorter,
                None => return Ok(false),
            }
            let detail = if gram { Detail::Hessian } else { Detail::Gradient };
            next = self.risk.at(&self.point.coef.moved(step, &direction), detail, self.watch)?;
            self.passes += 1;
        }
        let hessian = next.hessian.take();
        self.fresh = false;
        if let Some(hessian) = hessian {
            self.take(&hessian);
        }
        self.point = next;
        self.certificate = None;
        self.trace.push(Step { objective: self.point.objective, relative_gap: None, step });
        self.watch.report(Progress::Iteration {
            solver: "proximal-newton",
            iteration: self.trace.len(),
            objective: self.point.objective,
            relative_gap: None,
        });
        Ok(true)
    }

    /// The Hessian that came with the point.
    pub(super) fn take_hessian(&mut self) {
        if let Some(hessian) = self.point.hessian.take() {
            self.take(&hessian);
        }
    }

    fn take(&mut self, hessian: &Square) {
        self.model = Some(GramModel::new(hessian));
        self.fresh = true;
    }

    /// The Hessian at the current point, by a pass of its own.
    fn refresh(&mut self) -> Result<()> {
        let mut point = self.risk.at(&self.point.coef, Detail::Hessian, self.watch)?;
        self.passes += 1;
        if let Some(hessian) = point.hessian.take() {
            self.take(&hessian);
        }
        Ok(())
    }

    /// The last Hessian, for a risk nearby.
    pub(super) fn into_parts(self) -> RunParts<P::Scores> {
        (self.point, self.model, self.certificate, self.trace, self.passes)
    }
}

impl<L: Conjugate + Clone> ProximalRun<'_, Risk<'_, L, ElasticNet>> {
    /// One step with a model that is solved roughly; false where none decreases the objective.
    pub(super) fn step_roughly(&mut self, columns: &Columns) -> Result<bool> {
        let target = ROUGH_PRECISION * violation(self.risk, &self.point);
        let model = ResidualModel::new(self.risk, &self.point, columns, 0.0);
        let sweeps = Sweeps { over_all: 1, over_used: ROUGH_SWEEPS, on_face: None };
        let mut candidate = model.minimise(self.risk, &self.point.coef, target, sweeps);
        super::centre(self.risk, &mut candidate);
        let predicted = self.predicted(&candidate);
        self.fresh = true;
        self.advance(candidate, predicted, 0.0)
    }

    /// One step with a model whose curvatures hold as far as `reach`, solved on its faces. Where there is a step: how long it
    /// is, and the ratio of its decrease to what the model foretells.
    pub(super) fn step_on_faces(
        &mut self,
        columns: &Columns,
        reach: f64,
        precision: f64,
    ) -> Result<Option<(f64, f64)>> {
        let target = FACE_PRECISION * violation(self.risk, &self.point);
        let model = ResidualModel::new(self.risk, &self.point, columns, reach);
        let sweeps = Sweeps { over_all: FACES, over_used: 1, on_face: Some(precision) };
        let candidate = model.minimise(self.risk, &self.point.coef, target, sweeps);
        let (predicted, before) = (self.predicted(&candidate), self.point.objective);
        self.fresh = true;
        if !self.advance(candidate, predicted, 0.0)? {
            return Ok(None);
        }
        let step = self.trace.last().map_or(1.0, |s| s.step);
        // At its minimiser a quadratic model has fallen by half of what its slope foretells.
        Ok(Some((step, (before - self.point.objective) / (-0.5 * predicted))))
    }
}

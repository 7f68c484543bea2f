//! Squared error of sigmoid outputs, `min Σ s ½(σ(z) − t)²/Σs + λ/2 Σ f_j w_j²`, which is not convex; likewise the losses of links.
//!
//! Newton and Gauss–Newton take steps `−(B + μD)⁻¹∇F` (Levenberg and Marquardt), B the exact Hessian or its part that is
//! never negative, D the scales of [`LocalScale`]; μ grows until the matrix is positive definite and the objective falls,
//! and shrinks with success. Gradient descent goes along `−D⁻¹∇F` as far as Armijo's rule allows. Where the gradient
//! vanishes and the Hessian has a negative eigenvalue, a saddle, all leave it along the eigenvector.
//!
//! Stochastic gradient descent averages its steps by drawn rows, and proves nothing.
//!
//! Nocedal and Wright, *Numerical Optimization*, 3.4, 10.3.

use super::drawn_rows::DrawnRows;
use super::stochastic::{StochasticRule, StochasticRun};
use crate::certify::{LOCAL_ROUNDING, LocalCurvature, LocalScale, exact_hessian, gauss_newton_hessian};
use crate::design::Tile;
use crate::error::{ErrorKind, Result};
use crate::linalg::factor;
use crate::objective::{Coef, DescentLoss, Detail, Penalty, Point, Risk};
use crate::solve::stop::report_point;
use crate::solve::{PerceptronSteps, Stop};
use crate::watch::{Progress, Watch};
use serde::{Deserialize, Serialize};

/// Which algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SigmoidAlgorithm {
    /// Newton with the exact Hessian.
    #[default]
    Newton,
    /// Gauss–Newton.
    GaussNewton,
    /// Gradient descent with a line search.
    GradientDescent,
    /// Stochastic gradient descent with averaging.
    Sgd,
}

/// A descent from one start.
#[derive(Debug, Clone)]
pub struct SigmoidDescent {
    /// Stop when the gradient is at most this, in the scales of [`LocalScale`].
    pub tolerance: f64,
    /// Stop after this many iterations.
    pub max_iterations: usize,
    /// The algorithm.
    pub algorithm: SigmoidAlgorithm,
    /// Seed of drawn rows.
    pub seed: u64,
    /// Rows of a step by drawn rows.
    pub batch: usize,
    /// The first step of gradient descent, along −∇F, or by drawn rows; `None` is by a line search or by the curvature.
    pub step: Option<f64>,
    /// How steps that were given change.
    pub steps: PerceptronSteps,
}

/// Where a descent ended.
#[derive(Debug, Clone)]
pub struct SigmoidEnd {
    /// The point.
    pub point: Point,
    /// [`Stop::Converged`] at a local minimum only.
    pub stop: Stop,
    /// Gradient and smallest eigenvalue there, where they could be computed.
    pub curvature: Option<LocalCurvature>,
    /// Iterations.
    pub iterations: usize,
    /// Passes over the features.
    pub passes: usize,
}

/// Pivots on the unit-diagonal scale below this are rounding: about 50 units.
const PIVOT: f64 = 1e-14;
/// The first damping, relative to the diagonal. Chosen (bench/constants.md): it adapts by powers of ten.
const FIRST: f64 = 1e-3;
/// The least damping: beside the diagonal it no longer changes a step by more than 1e-12.
const LEAST: f64 = 1e-12;
/// Saddle points left before a descent gives up. Chosen, not measured: other starts follow.
const SADDLES: usize = 20;
/// Relative rounding of the objective: about 50 units.
const OBJECTIVE_ROUNDING: f64 = 1e-14;
/// Ratio of actual to predicted decrease at which a damped step is taken. Chosen (bench/constants.md): between Armijo's
/// 1e-4 and ¼.
const ACCEPTED: f64 = 1e-3;
/// Ratio of actual to predicted decrease from which damping falls. Chosen (bench/constants.md): only the time depends
/// on it.
const GOOD: f64 = 0.25;
/// Factors by which damping falls after a good step and grows after a failed one (Marquardt 1963 has ten).
const LESS: f64 = 0.1;
/// See [`LESS`].
const MORE: f64 = 10.0;
/// Beyond this damping a step is shorter than rounding.
const LARGEST: f64 = 1e20;
/// Relative rounding of the objective on a line: about 5 units.
const LINE_ROUNDING: f64 = 1e-15;
/// A shorter step along the gradient is hidden by rounding.
const SHORTEST: f64 = 1e-18;
/// Powers of two that are tried as lengths out of a saddle, in units where the curvature is of order one. Chosen, not
/// measured.
const SADDLE_STEPS: std::ops::RangeInclusive<i32> = -20..=4;

struct SigmoidWalk<'r, 'd, L> {
    risk: &'r Risk<'d, L>,
    scale: &'r LocalScale,
    watch: &'r Watch,
    point: Point,
    iterations: usize,
    passes: usize,
    damping: f64,
    step: f64,
}

impl SigmoidDescent {
    /// Goes down from a start.
    pub fn run<L: DescentLoss>(
        &self,
        risk: &Risk<'_, L>,
        scale: &LocalScale,
        start: &Coef,
        watch: &Watch,
    ) -> Result<SigmoidEnd> {
        let point = risk.at(start, Detail::Gradient, watch)?;
        report_point(watch, "sigmoid-ls", 0, &point, 0.0);
        let mut walk = SigmoidWalk { risk, scale, watch, point, iterations: 0, passes: 1, damping: FIRST, step: 1.0 };
        let stop = match self.descend(&mut walk) {
            Ok(stop) => stop,
            Err(error) if error.kind() == ErrorKind::Interrupted => Stop::halted(watch.halted()),
            Err(error) => return Err(error),
        };
        let curvature = scale.curvature(risk, &walk.point, &Watch::default())?;
        let SigmoidWalk { point, iterations, passes, .. } = walk;
        Ok(SigmoidEnd { point, stop, curvature, iterations, passes: passes + 2 })
    }

    fn descend<L: DescentLoss>(&self, walk: &mut SigmoidWalk<'_, '_, L>) -> Result<Stop> {
        if self.algorithm == SigmoidAlgorithm::Sgd {
            return self.stochastic(walk);
        }
        let penalised = !walk.risk.penalty().is_none();
        let mut saddles = 0;
        loop {
            let gradient = walk.scale.gradient(&walk.point);
            walk.watch.report(Progress::Iteration {
                solver: "sigmoid-ls",
                iteration: walk.iterations,
                objective: walk.point.objective,
                relative_gap: None,
            });
            if gradient <= self.tolerance {
                let found = walk.scale.curvature(walk.risk, &walk.point, walk.watch)?;
                walk.passes += 2;
                match found {
                    Some(found) if found.is_minimum(penalised) => return Ok(Stop::Converged),
                    Some(found) if found.smallest_eigenvalue < -LOCAL_ROUNDING && saddles < SADDLES => {
                        saddles += 1;
                        if !walk.leave_saddle(&found.direction)? {
                            return Ok(Stop::PrecisionLimit);
                        }
                        continue;
                    }
                    // The gradient is small, but so is the Hessian: a minimum is near, or at infinity.
                    Some(found) if found.smallest_eigenvalue >= LOCAL_ROUNDING => {}
                    _ => return Ok(Stop::PrecisionLimit),
                }
            }
            if walk.iterations >= self.max_iterations {
                return Ok(Stop::IterationLimit);
            }
            let moved = match self.algorithm {
                SigmoidAlgorithm::GradientDescent => match self.step {
                    Some(step) => walk.given_step(step * self.steps.along_gradient(walk.iterations + 1))?,
                    None => walk.along_gradient()?,
                },
                algorithm => walk.damped_step(algorithm == SigmoidAlgorithm::Newton)?,
            };
            if !moved {
                return Ok(Stop::PrecisionLimit);
            }
        }
    }

    fn stochastic<L: DescentLoss>(&self, walk: &mut SigmoidWalk<'_, '_, L>) -> Result<Stop> {
        let (risk, watch) = (walk.risk, walk.watch);
        let mut tile = Tile::default();
        let rows = DrawnRows::new(risk, &mut tile, watch)?;
        let ridge = risk.penalty().ridge();
        let curved = (2.0 * risk.loss().curvature_bound() * rows.mean_square() + ridge).recip();
        // Without a penalty the steps still have to become shorter.
        let decay = ridge.max((rows.len() as f64).recip());
        let rule = StochasticRule {
            first: self.step.unwrap_or(curved),
            decay,
            batch: self.batch,
            steps: self.steps.clone(),
            in_order: false,
            seed: self.seed,
        };
        let mut run = StochasticRun::new(risk, &rows, &walk.point.coef, rule);
        while walk.iterations < self.max_iterations {
            if !run.epoch(watch)? {
                return Ok(Stop::halted(watch.halted()));
            }
            walk.point = risk.at(&run.average()?, Detail::Gradient, watch)?;
            walk.iterations += 1;
            walk.passes += 2;
            report_point(watch, "sigmoid-ls", walk.iterations, &walk.point, run.step());
            if walk.scale.gradient(&walk.point) <= self.tolerance {
                let found = walk.scale.curvature(risk, &walk.point, watch)?;
                let minimum = found.is_some_and(|found| found.is_minimum(ridge > 0.0));
                return Ok(if minimum { Stop::Converged } else { Stop::PrecisionLimit });
            }
        }
        Ok(Stop::IterationLimit)
    }
}

impl<L: DescentLoss> SigmoidWalk<'_, '_, L> {
    /// Newton's or Gauss–Newton's step with as much damping as it takes; false where none helps.
    fn damped_step(&mut self, exact: bool) -> Result<bool> {
        let hessian = match exact {
            true => exact_hessian(self.risk, &self.point, self.watch)?,
            false => gauss_newton_hessian(self.risk, &self.point, self.watch)?,
        };
        self.passes += 2;
        let (cols, unknowns) = (self.point.coef.n_cols(), self.scale.unknowns());
        let norm = self.scale.gradient(&self.point);
        loop {
            let mut damped = hessian.clone();
            damped.keep_only(unknowns);
            unknowns.iter().for_each(|j| *damped.at(*j, *j) += self.damping * self.scale.diagonal()[*j]);
            let factored = factor(&damped, PIVOT);
            if factored.kept() == unknowns {
                let step = factored.solve(self.point.gradient.as_slice());
                let direction = Coef::from_vec(step.into_iter().map(|s| -s).collect(), 1, cols);
                let expected = -self.point.gradient.dot(&direction);
                let trial = self.point.coef.moved(1.0, &direction);
                let next = self.risk.at(&trial, Detail::Gradient, self.watch)?;
                self.passes += 1;
                let fall = self.point.objective - next.objective;
                // Where the decrease drowns in rounding the gradient decides.
                let rounding = OBJECTIVE_ROUNDING * self.point.objective;
                let closer = fall >= -rounding && self.scale.gradient(&next) < 0.5 * norm;
                if fall >= ACCEPTED * expected && fall > 0.0 || closer {
                    if fall >= GOOD * expected || closer {
                        self.damping = (LESS * self.damping).max(LEAST);
                    }
                    self.point = next;
                    self.iterations += 1;
                    report_point(self.watch, "sigmoid-ls", self.iterations, &self.point, 1.0);
                    return Ok(true);
                }
            }
            self.damping *= MORE;
            if self.damping > LARGEST {
                self.damping = FIRST;
                return Ok(false);
            }
        }
    }

    /// A step of this length along −∇F, which may be too long; false where numbers end.
    fn given_step(&mut self, step: f64) -> Result<bool> {
        let next = self.risk.at(&self.point.coef.moved(-step, &self.point.gradient), Detail::Gradient, self.watch)?;
        self.passes += 1;
        if !(next.objective.is_finite() && next.gradient.dot(&next.gradient).is_finite()) {
            return Ok(false);
        }
        self.point = next;
        self.iterations += 1;
        report_point(self.watch, "sigmoid-ls", self.iterations, &self.point, step);
        Ok(true)
    }

    /// A step along `−D⁻¹∇F` by Armijo's rule; false where none helps.
    fn along_gradient(&mut self) -> Result<bool> {
        let mut direction = Coef::zeros(1, self.point.coef.n_cols());
        for j in self.scale.unknowns() {
            direction.as_mut_slice()[*j] = -self.point.gradient.as_slice()[*j] / self.scale.diagonal()[*j];
        }
        let slope = -self.point.gradient.dot(&direction);
        let line = self.risk.along(&direction, self.watch)?;
        let rounding = LINE_ROUNDING * self.point.objective;
        self.step *= 2.0;
        while self.risk.on_line(&self.point, &line, self.step)
            > self.point.objective - 0.5 * self.step * slope + rounding
        {
            self.step *= 0.5;
            if self.step < SHORTEST {
                self.step = 1.0;
                return Ok(false);
            }
        }
        self.point = self.risk.at(&self.point.coef.moved(self.step, &direction), Detail::Gradient, self.watch)?;
        self.iterations += 1;
        self.passes += 2;
        report_point(self.watch, "sigmoid-ls", self.iterations, &self.point, self.step);
        Ok(true)
    }

    /// The longest of a few steps along a direction of negative curvature, to the lower side.
    fn leave_saddle(&mut self, direction: &[f64]) -> Result<bool> {
        let direction = Coef::from_vec(direction.to_vec(), 1, self.point.coef.n_cols());
        let line = self.risk.along(&direction, self.watch)?;
        self.passes += 1;
        let lengths = SADDLE_STEPS.rev().map(|power| 2f64.powi(power));
        let at = |length: f64| (self.risk.on_line(&self.point, &line, length), length);
        let best = lengths
            .flat_map(|l| [at(l), at(-l)])
            .fold((self.point.objective, 0.0), |best, one| if one.0 < best.0 { one } else { best });
        if best.1 == 0.0 {
            return Ok(false);
        }
        self.point = self.risk.at(&self.point.coef.moved(best.1, &direction), Detail::Gradient, self.watch)?;
        self.iterations += 1;
        self.passes += 1;
        Ok(true)
    }
}

//! Newton's method in the space of the rows, for `min F(w,b)` with a ridge and sparse rows of many columns.
//!
//! The solution is a combination of the rows, `w = X̂ᵀa`, so F is a function of one number a row: with `K = X̂X̂ᵀ` the
//! scores are `Ka + b`, `‖w‖² = a·Ka`, and the gradient is `X̂ᵀg`, `g = r/Σs + λa`, r the weighted derivatives of the
//! losses. The Newton step `X̂ᵀδ` solves `(DK/Σs + λ)δ = −g`, D the curvatures, by conjugate gradients in the geometry of
//! w: an iteration costs one product with K, which reads the data once, and no vector has one number a column. A free
//! intercept is optimised out: its elimination centres D, and then `Σa = 0`, so that centred columns give the same.
//!
//! Dense rows, which are fewer, are turned into coordinates of their space instead (see `dense`).
//!
//! Keerthi and DeCoste 2005 and Chapelle 2007 solve support vector machines in the primal like this.

mod dense;
mod recycle;

use crate::certify::duality_gap;
use crate::design::RowGram;
use crate::design::{Block, Tile};
use crate::error::{Error, ErrorKind, Result};
use crate::linalg::dot;
use crate::objective::line_search::DECREASE;
use crate::objective::{Coef, Conjugate, DualRecipe, Intercept, Penalty, Point, Risk, ScoredBlock, dual_point_of};
use crate::solve::{Solved, Solver, Step, Stop};
use crate::table::Class;
use crate::watch::{Progress, Watch};
use crate::words::{Setting, words};
pub(crate) use dense::SpannedRows;
use recycle::{Recycled, WithProduct};

/// Newton in the space of the rows.
#[derive(Debug, Clone, Copy)]
pub struct RowNewton {
    /// Stop when the relative gap is at most this.
    pub tolerance: f64,
    /// Stop after this many Newton steps.
    pub max_iterations: usize,
}

/// Conjugate gradient steps per Newton step at most; 20news takes 17 in all (bench/README.md). A truncated step is
/// still a descent step.
const INNER_LIMIT: usize = 300;

/// Once the gap is within this factor of the tolerance, one Newton step may reach it and is solved precisely enough.
/// Chosen (bench/constants.md): only the number of products depends on it.
const LAST: f64 = 300.0;
/// Newton steps for the free intercept at most; convergence is quadratic.
const INTERCEPT_STEPS: usize = 20;
/// A slope below this share of its terms is rounding: about 50 units.
const INTERCEPT_SETTLED: f64 = 1e-14;
/// Steps below this share of the intercept no longer change it.
const NO_CHANGE: f64 = 1e-15;
/// Forcing term: the residual of a Newton system relative to the gradient is at most this. Chosen (bench/constants.md).
const FORCING: f64 = 0.1;
/// Share of the residual that the tolerance allows, to which the last system is solved. Chosen (bench/constants.md).
const NEEDED: f64 = 0.3;
/// Relative rounding of the objective: about 50 units.
const OBJECTIVE_ROUNDING: f64 = 1e-14;
/// A step shorter than this share of the weights changes nothing: the unit roundoff.
const STANDSTILL: f64 = 1e-16;
/// A shorter step is hidden by rounding: 33 halvings.
const SHORTEST: f64 = 1e-10;

impl RowNewton {
    /// Whether the problem is one this solver takes: every column penalised, and either few dense rows, or one score, sparse
    /// rows, and columns that are centred only where a free intercept absorbs it.
    pub fn takes<L: Conjugate + Clone>(risk: &Risk<'_, L>) -> bool {
        let sample = risk.sample();
        if RowNewton::spans(risk) {
            return true;
        }
        // Of many columns even a look at zeros takes time.
        let centred = !sample.units.is_identity() && sample.units.centre().iter().any(|c| *c != 0.0);
        risk.is_sparse()
            && sample.design.lends()
            && risk.loss().n_scores() == 1
            && !risk.penalty().is_none()
            && risk.penalty().factors().is_none()
            && (risk.intercept() == Intercept::Free || !centred)
    }

    /// Whether the rows are dense, and so few beside their columns that a basis of their space pays.
    pub fn spans<L: Conjugate + Clone>(risk: &Risk<'_, L>) -> bool {
        let penalised = !risk.penalty().is_none() && risk.penalty().factors().is_none();
        !risk.is_sparse() && penalised && dense::pays(risk.sample().labels.len(), risk.n_cols())
    }
}

impl<L: Conjugate + Clone> Solver<Risk<'_, L>> for RowNewton {
    type Scores = Vec<f64>;

    fn solve(&self, risk: &Risk<'_, L>, start: Option<&Coef>, watch: &Watch) -> Result<Solved> {
        if !RowNewton::takes(risk) {
            return Err(Error::usage(words![
                Setting::Solver.is("row-newton"),
                " is for a ridge penalty and two classes of sparse rows, or dense rows half as many as columns"
            ])
            .help(words!["use ", Setting::Solver.is("auto")]));
        }
        if RowNewton::spans(risk) {
            return dense::solve(self, risk, start, watch);
        }
        let sample = risk.sample();
        let mut tile = Tile::default();
        let Block::Csr(x) = sample.design.block(0..sample.labels.len(), &mut tile)? else {
            return Err(Error::data("a sparse matrix changed its type between two blocks"));
        };
        let gram = RowGram::new(&x, sample.units)?;
        let mut run = RowNewtonRun::new(risk, &gram, start, watch);
        let stop = match run.iterate(self) {
            Ok(stop) => stop,
            Err(error) if error.kind() == ErrorKind::Interrupted => Stop::halted(watch.halted()),
            Err(error) => return Err(error),
        };
        let calm = Watch::default();
        let point = run.point()?;
        let certificate = duality_gap(risk, &point, &calm)?;
        let reached = certificate.relative_gap().is_some_and(|gap| gap <= self.tolerance);
        // The rows gave a bound of their own; the proof is made from the coefficients.
        let stop = if stop == Stop::Converged && !reached { Stop::PrecisionLimit } else { stop };
        Ok(Solved { point, stop, certificate, trace: run.trace, passes: run.passes + 2, aliased: Vec::new() })
    }
}

struct RowNewtonRun<'r, 'd, L> {
    risk: &'r Risk<'d, L>,
    gram: &'r RowGram,
    watch: &'r Watch,
    /// a and K a.
    a: Vec<f64>,
    scores: Vec<f64>,
    intercept: f64,
    /// What earlier steps know of the Newton matrix.
    recycled: Recycled,
    trace: Vec<Step>,
    passes: usize,
}

/// The risk at a point of the rows' space.
struct LocalQuadratic {
    objective: f64,
    /// `s ∂ℓ/∂z` and `s ∂²ℓ/∂z²`.
    residual: Vec<f64>,
    curvature: Vec<f64>,
}

impl<'r, 'd, L: Conjugate + Clone> RowNewtonRun<'r, 'd, L> {
    /// From zero, or from weights that the loss's own derivatives at their scores stand for.
    fn new(risk: &'r Risk<'d, L>, gram: &'r RowGram, start: Option<&Coef>, watch: &'r Watch) -> Self {
        let n = risk.sample().labels.len();
        let intercept = start.map_or_else(|| risk.start().intercept()[0], |c| c.intercept()[0]);
        let recycled = Recycled::new(gram.entries() / n.max(1));
        let (a, scores) = (vec![0.0; n], vec![0.0; n]);
        RowNewtonRun { risk, gram, watch, a, scores, intercept, recycled, trace: Vec::new(), passes: 1 }
    }

    fn iterate(&mut self, limits: &RowNewton) -> Result<Stop> {
        let (lambda, total) = (self.risk.penalty().lambda(), self.risk.total_weight());
        let reference = self.risk.null_objective();
        let mut first_norm = None;
        loop {
            let at = self.local();
            let g: Vec<f64> = at.residual.iter().zip(&self.a).map(|(r, a)| r / total + lambda * a).collect();
            let kg = self.multiply(&g)?;
            let norm = dot(&g, &kg).max(0.0).sqrt();
            let gap = self.gap(&at, &kg) / at.objective.abs().max(reference);
            if let Some(last) = self.trace.last_mut() {
                last.relative_gap = Some(gap);
            }
            self.watch.report(Progress::Iteration {
                solver: "row-newton",
                iteration: self.trace.len(),
                objective: at.objective,
                relative_gap: Some(gap),
            });
            if gap <= limits.tolerance {
                return Ok(Stop::Converged);
            }
            if self.trace.len() >= limits.max_iterations {
                return Ok(Stop::IterationLimit);
            }
            let first = *first_norm.get_or_insert(norm);
            // The gap is about ‖X̂ᵀg‖²/2λ: where one step may reach the tolerance it is solved for that, and before it as
            // well as superlinear convergence asks for.
            let needed = (NEEDED * (limits.tolerance / gap).sqrt()).min(FORCING);
            let relative =
                if gap <= LAST * limits.tolerance { needed } else { (norm / first).sqrt().clamp(needed, FORCING) };
            let (step, scores) = self.step(&at, g, kg, relative)?;
            if !self.advance(&at, &step, &scores)? {
                return Ok(Stop::PrecisionLimit);
            }
        }
    }

    /// Loss and derivatives at the present scores, the intercept at its best where it is free.
    fn local(&mut self) -> LocalQuadratic {
        let mut at = self.evaluate(&self.scores, self.intercept);
        if self.risk.intercept() == Intercept::Free {
            for _ in 0..INTERCEPT_STEPS {
                let (slope, curvature) = (at.residual.iter().sum::<f64>(), at.curvature.iter().sum::<f64>());
                let size: f64 = at.residual.iter().map(|r| r.abs()).sum();
                if slope.abs() <= INTERCEPT_SETTLED * size || curvature <= 0.0 {
                    break;
                }
                let mut step = (-slope / curvature).clamp(-2.0, 2.0);
                let mut next = self.evaluate(&self.scores, self.intercept + step);
                while next.objective > at.objective && step.abs() > NO_CHANGE * self.intercept.abs() {
                    step *= 0.5;
                    next = self.evaluate(&self.scores, self.intercept + step);
                }
                if next.objective > at.objective {
                    break;
                }
                self.intercept += step;
                at = next;
            }
        }
        at.objective += 0.5 * self.risk.penalty().lambda() * self.squared_norm();
        at
    }

    /// `‖w‖²`, and b² where it is penalised.
    fn squared_norm(&self) -> f64 {
        dot(&self.a, &self.scores)
    }

    /// The mean loss of scores that lack offsets and a free intercept.
    fn evaluate(&self, scores: &[f64], intercept: f64) -> LocalQuadratic {
        let sample = self.risk.sample();
        let shift = if self.risk.intercept() == Intercept::Free { intercept } else { 0.0 };
        let z: Vec<f64> = match sample.offsets {
            Some(o) => scores.iter().zip(o).map(|(z, o)| z + o + shift).collect(),
            None => scores.iter().map(|z| z + shift).collect(),
        };
        let n = z.len();
        let (mut residual, mut curvature) = (vec![0.0; n], vec![0.0; n]);
        let loss = self.risk.loss().block(sample.labels, &z, sample.weights, &mut residual, Some(&mut curvature));
        LocalQuadratic { objective: loss / self.risk.total_weight(), residual, curvature }
    }

    /// `K v`, the constant column of a penalised intercept included.
    fn multiply(&mut self, v: &[f64]) -> Result<Vec<f64>> {
        if self.watch.halted().is_some() {
            return Err(Error::new(ErrorKind::Interrupted, "stopped between two products"));
        }
        self.passes += 1;
        let mut out = self.gram.multiply(v);
        if self.risk.intercept() == Intercept::Penalised {
            let sum: f64 = v.iter().sum();
            out.iter_mut().for_each(|o| *o += sum);
        }
        Ok(out)
    }

    /// The duality gap, by `‖X̂ᵀr‖² = r·Kr`, `Kr = Σs (Kg − λKa)`; classes that need balancing are scaled as the loss says.
    fn gap(&self, at: &LocalQuadratic, kg: &[f64]) -> f64 {
        let (sample, total) = (self.risk.sample(), self.risk.total_weight());
        let lambda = self.risk.penalty().lambda();
        let free = self.risk.intercept() == Intercept::Free;
        let shift = if free { self.intercept } else { 0.0 };
        let z: Vec<f64> = match sample.offsets {
            Some(o) => self.scores.iter().zip(o).map(|(z, o)| z + o + shift).collect(),
            None => self.scores.iter().map(|z| z + shift).collect(),
        };
        let dual = dual_point_of(
            self.risk.loss(),
            ScoredBlock { labels: sample.labels, scores: &z, weights: sample.weights, offsets: sample.offsets },
            free,
            1.0,
        );
        let scale = |class: Class| match &dual.recipe {
            DualRecipe::ScaleClasses(scale) => scale[class.index()],
            _ => 1.0,
        };
        let kr = kg.iter().zip(&self.scores).map(|(kg, ka)| kg - lambda * ka);
        let scaled = at.residual.iter().zip(sample.labels).map(|(r, class)| scale(*class) * r / total);
        let norm: f64 = scaled.zip(kr).map(|(r, kr)| r * kr).sum();
        let value = (dual.entropy + dual.offset_term) / total - norm.max(0.0) / (2.0 * lambda);
        (at.objective - value).max(0.0)
    }

    /// Conjugate gradients on the Newton system; the step δ and Kδ.
    fn step(&mut self, at: &LocalQuadratic, g: Vec<f64>, kg: Vec<f64>, relative: f64) -> Result<(Vec<f64>, Vec<f64>)> {
        let (lambda, total) = (self.risk.penalty().lambda(), self.risk.total_weight());
        let n = g.len();
        let weight: f64 = at.curvature.iter().sum();
        let centred = self.risk.intercept() == Intercept::Free && weight > 0.0;
        let (mut step, mut scores) = (vec![0.0; n], vec![0.0; n]);
        let mut residual = WithProduct { v: g, kv: kg };
        let mut left = dot(&residual.v, &residual.kv);
        let goal = relative * relative * left;
        let mut p = self.recycled.apply(&residual);
        let mut rho = dot(&residual.v, &p.kv);
        if !(rho > 0.0) {
            // Rounding has spoilt what was recycled.
            self.recycled.forget();
            (p, rho) = (residual.clone(), left);
        }
        for _ in 0..INNER_LIMIT {
            if left <= goal || rho <= 0.0 {
                break;
            }
            let mean = if centred { dot(&at.curvature, &p.kv) / weight } else { 0.0 };
            let applied: Vec<f64> =
                (0..n).map(|i| at.curvature[i] * (p.kv[i] - mean) / total + lambda * p.v[i]).collect();
            let curvature = dot(&applied, &p.kv);
            if curvature.is_nan() || curvature <= 0.0 {
                break;
            }
            let length = rho / curvature;
            for i in 0..n {
                step[i] -= length * p.v[i];
                scores[i] -= length * p.kv[i];
                residual.v[i] -= length * applied[i];
            }
            let product = self.multiply(&residual.v)?;
            let of_applied = residual.kv.iter().zip(&product).map(|(before, after)| (before - after) / length);
            let kv = of_applied.collect();
            self.recycled.add(&p, WithProduct { v: applied, kv });
            residual.kv = product;
            left = dot(&residual.v, &residual.kv);
            let z = self.recycled.apply(&residual);
            let next = dot(&residual.v, &z.kv);
            let ratio = next / rho;
            for i in 0..n {
                p.v[i] = z.v[i] + ratio * p.v[i];
                p.kv[i] = z.kv[i] + ratio * p.kv[i];
            }
            rho = next;
        }
        self.recycled.renew();
        Ok((step, scores))
    }

    /// A step that decreases F enough, all on scores; false where none does.
    fn advance(&mut self, at: &LocalQuadratic, step: &[f64], scores: &[f64]) -> Result<bool> {
        let (lambda, total) = (self.risk.penalty().lambda(), self.risk.total_weight());
        // The best intercept goes along with the scores.
        let weight: f64 = at.curvature.iter().sum();
        let shift = match self.risk.intercept() {
            Intercept::Free if weight > 0.0 => -dot(&at.curvature, scores) / weight,
            _ => 0.0,
        };
        let slope = dot(&at.residual, scores) / total + lambda * dot(step, &self.scores);
        let (cross, square) = (dot(&self.a, scores), dot(step, scores));
        let norm = self.squared_norm();
        let rounding = OBJECTIVE_ROUNDING * at.objective.abs();
        let mut length = 1.0;
        loop {
            let trial: Vec<f64> = self.scores.iter().zip(scores).map(|(z, d)| z + length * d).collect();
            let loss = self.evaluate(&trial, self.intercept + length * shift).objective;
            let value = loss + 0.5 * lambda * (norm + length * (2.0 * cross + length * square));
            if value <= at.objective + DECREASE * length * slope + rounding {
                if length * square.max(0.0).sqrt() <= STANDSTILL * norm.max(0.0).sqrt() {
                    return Ok(false);
                }
                self.a.iter_mut().zip(step).for_each(|(a, s)| *a += length * s);
                self.scores = trial;
                self.intercept += length * shift;
                self.trace.push(Step { objective: value, relative_gap: None, step: length });
                return Ok(true);
            }
            length *= 0.5;
            if length < SHORTEST {
                return Ok(false);
            }
        }
    }

    /// The coefficients in the units of the risk, and the risk there, computed from them alone.
    fn point(&mut self) -> Result<Point> {
        let (cols, units) = (self.risk.n_cols(), self.risk.sample().units);
        let mut values = self.gram.transposed(&self.a);
        // Columns that are not centred differ by a constant, which belongs to the intercept.
        let centred: Vec<f64> = match units.is_identity() {
            false => units.centre().iter().zip(units.inverse_scale()).map(|(c, s)| c * s).collect(),
            true => Vec::new(),
        };
        let shift: f64 = values.iter().zip(&centred).map(|(w, c)| w * c).sum();
        let mut scores = self.gram.scores(&values);
        if self.risk.intercept() == Intercept::Free {
            // The best intercept at these scores, not at those that the steps added up to: then the classes are balanced, and
            // the proof needs no sums of its own.
            self.scores.copy_from_slice(&scores);
            self.local();
        }
        let intercept = match self.risk.intercept() {
            Intercept::Free => self.intercept + shift,
            Intercept::Penalised => self.a.iter().sum(),
            Intercept::None => 0.0,
        };
        scores.iter_mut().for_each(|z| *z += intercept - shift);
        if let Some(offsets) = self.risk.sample().offsets {
            scores.iter_mut().zip(offsets).for_each(|(z, o)| *z += o);
        }
        values.push(intercept);
        self.risk.at_scores(Coef::from_vec(values, 1, cols), scores, |residual| {
            let mut sums = self.gram.transposed(residual);
            let total: f64 = residual.iter().sum();
            sums.iter_mut().zip(&centred).for_each(|(sum, c)| *sum -= c * total);
            sums
        })
    }
}

//! Least squares on targets: regression used to classify.
//!
//! `F(W,b) = Σ s ½‖t_y − (W(x−c)/σ + b)‖² / Σs + λ/2 ‖W‖²`; two classes have one score and the targets ±1 (or 0 and 1), more
//! have one-hot targets and a score each. The α of other tools' ridge classifiers is λ·Σs.
//!
//! Without a penalty the two-class direction is that of LDA; with three classes in a row the middle one may never have
//! the largest score (masking), which no number of rows cures.

mod frame;
mod system;

use super::{Computation, Fit, Fitted, Note, Objective, Outcome, PenaltyChoice, Training};
use crate::certify::{Certificate, linear_system_residual, quadratic_gap};
use crate::design::{Standardize, Units};
use crate::discriminant::{Discriminant, Linear};
use crate::error::{Error, Result};
use crate::linalg::{Alias, Factor, factor, gram_of_columns, pivoted_qr};
use crate::numeric::sum;
use crate::objective::{Intercept, Quadratic};
use crate::solve::{QuadraticDescent, Stop};
use crate::stats::{ClassMoments, ClassTriangle};
use crate::watch::Watch;
use frame::Frame;
use serde::{Deserialize, Serialize};
use system::System;

/// What the scores are fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Targets {
    /// ±1 for two classes, one-hot for more.
    #[default]
    Auto,
    /// −1 for the first of two classes, 1 for the second.
    PlusMinus,
    /// 0 and 1: the threshold is ½, and ½ is taken off the stored score, so that its sign decides; one-hot for more
    /// than two classes.
    ZeroOne,
}

/// How the equations are solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeastSquaresSolver {
    /// Cholesky where its pivots are large enough, else QR in a second pass.
    #[default]
    Auto,
    /// A Cholesky factor of the normal equations.
    Cholesky,
    /// A triangular factor of the rows, then QR with column pivoting.
    Qr,
    /// Gradient descent on the normal equations.
    GradientDescent,
}

/// Least squares on class targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeastSquares {
    /// The targets.
    pub targets: Targets,
    /// The penalty.
    pub penalty: PenaltyChoice,
    /// What becomes of the intercept.
    pub intercept: Intercept,
    /// Whether the penalty acts on standardised columns; without one it changes nothing but the rounding.
    pub standardize: Standardize,
    /// The algorithm.
    pub solver: LeastSquaresSolver,
    /// Gradient descent stops when the relative gap is at most this.
    pub tolerance: f64,
    /// Gradient descent stops after this many steps.
    pub max_iterations: usize,
    /// Largest Gram matrix that may be formed, in columns.
    pub max_columns: usize,
}

impl Default for LeastSquares {
    fn default() -> LeastSquares {
        LeastSquares {
            targets: Targets::Auto,
            penalty: PenaltyChoice::None,
            intercept: Intercept::Free,
            standardize: Standardize::Yes,
            solver: LeastSquaresSolver::Auto,
            tolerance: 1e-8,
            max_iterations: 10_000,
            max_columns: 10_000,
        }
    }
}

/// Pivots of the normal equations (diagonal one) below this make a column a combination of earlier ones.
const ALIAS_TOLERANCE: f64 = 1e-12;
/// With pivots above this the normal equations keep about ten digits of the solution.
const ENOUGH: f64 = 1e-6;
/// Columns up to which a second pass by QR is worth its time: it costs several times a Gram, on one core for the end.
const QR_LIMIT: usize = 2_000;
/// Dependent columns that are described; the rank counts them all.
const DESCRIBED: usize = 100;
const EQUATIONS: &str = "XᵀS(Xw − t) + λΣs·w = 0";

/// What a solver found.
struct Found {
    solutions: Vec<Vec<f64>>,
    certificate: Certificate,
    /// Unless a pass over the data has to tell.
    objective: Option<f64>,
    outcome: Outcome,
    notes: Vec<Note>,
    solver: String,
    iterations: usize,
    /// Passes over the data so far.
    passes: usize,
}

impl LeastSquares {
    /// Statistics in one pass, then a closed form or gradient descent on them.
    pub(super) fn fit(&self, training: &Training<'_>, watch: &Watch) -> Result<Fit> {
        self.check(training)?;
        let (frame, found) = match self.solver {
            LeastSquaresSolver::Qr => self.by_qr(training, "", watch)?,
            _ => self.by_moments(training, watch)?,
        };
        let (value, passes) = match found.objective {
            Some(value) => (value, found.passes),
            None => {
                // Not cut short by a deadline: there is a solution, and its objective belongs to it.
                let linear = frame.discriminant(&found.solutions)?;
                let loss = mean_square(training, &frame, &linear, &Watch::default())?;
                (loss + frame.penalty(&found.solutions), found.passes + 1)
            }
        };
        let fitted = self.finish(&frame, Found { passes, ..found }, value, training.labels.n_classes())?;
        Ok(Fit::Model(Box::new(fitted)))
    }

    /// Fits from statistics alone, which may have been merged, updated and reduced: by the normal equations, whatever
    /// digits they keep, or by gradient descent on them. QR needs the rows.
    ///
    /// ```
    /// use linsep::design::DenseMatrix;
    /// use linsep::model::LeastSquares;
    /// use linsep::{stats::ClassMoments, table::Labels};
    /// let y = Labels::from_names(["a", "b"]);
    /// let watch = Default::default();
    /// let mut seen = ClassMoments::of(&DenseMatrix::new(vec![-1.0, 3.0], 1)?, &y, None, &watch)?;
    /// seen.update(&DenseMatrix::new(vec![-3.0, 1.0], 1)?, &y, None, &watch)?;
    /// let model = LeastSquares::default().fit_statistics(&seen, &watch)?;
    /// assert!((model.discriminant.as_linear().unwrap().weights_of(0)[0] - 0.4).abs() < 1e-15); // Σxt/Σx² = 8/20
    /// # Ok::<(), linsep::Error>(())
    /// ```
    pub fn fit_statistics(&self, moments: &ClassMoments, watch: &Watch) -> Result<Fitted> {
        self.check_settings(moments.grand_mean().len())?;
        if self.solver == LeastSquaresSolver::Qr {
            return Err(Error::usage("QR needs the rows, not their statistics").help("use cholesky"));
        }
        if let Some(empty) = moments.weights().iter().position(|n| *n <= 0.0) {
            return Err(Error::data(format!("class {} has no rows", empty + 1)));
        }
        let frame = Frame::of_moments(self, moments)?;
        let system = System::of(&frame, moments);
        let found = self.by_system(&frame, &system, moments, watch);
        let value = frame.objective(moments, &found.solutions);
        self.finish(&frame, found, value, moments.weights().len())
    }

    fn finish(&self, frame: &Frame, found: Found, value: f64, classes: usize) -> Result<Fitted> {
        let linear = frame.discriminant(&found.solutions)?;
        let mut notes = Vec::new();
        if !frame.constant.is_empty() {
            notes.push(Note::Constant { columns: frame.constant.clone() });
        }
        notes.extend(found.notes);
        let mut certificate = found.certificate;
        if let Certificate::Quadratic { objective, gap, relative_gap, .. } = &mut certificate {
            *objective = value;
            *relative_gap = *gap / value.max(frame.at_zero());
        }
        Ok(Fitted {
            multipliers: None,
            discriminant: Discriminant::Linear(linear),
            density: None,
            units: Units::new(frame.centre.clone(), frame.scale.clone()),
            objective: Objective {
                formula: self.formula(classes),
                value,
                lambda: (frame.lambda > 0.0).then_some(frame.lambda),
            },
            certificate,
            outcome: found.outcome,
            notes,
            computation: Computation {
                solver: found.solver,
                reason: None,
                iterations: found.iterations,
                passes: found.passes,
            },
        })
    }

    /// Objective and certificate of given discriminants, recomputed from the data.
    pub(super) fn certify(
        &self,
        training: &Training<'_>,
        discriminant: &Discriminant,
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        self.check(training)?;
        let linear = discriminant.as_linear().ok_or_else(|| Error::model("a least-squares model must be linear"))?;
        let moments = ClassMoments::of(training.design, training.labels, training.weights, watch)?;
        let frame = Frame::of_moments(self, &moments)?;
        let solutions = frame.solutions(linear)?;
        let mut problem = frame.normal_equations(&moments);
        frame.penalise(&mut problem);
        let value = mean_square(training, &frame, linear, watch)? + frame.penalty(&solutions);
        if self.solver == LeastSquaresSolver::GradientDescent {
            let factor = factor(&problem.hessian, ALIAS_TOLERANCE);
            return Ok((value, quadratic_gap(&problem, &factor, &solutions, value, frame.at_zero())));
        }
        let mut certificate = residual(&frame, &problem, &solutions);
        let stray = solutions.iter().any(|v| frame.constant.iter().any(|j| v[*j] != 0.0));
        if let Certificate::ClosedForm { relative_residual, .. } = &mut certificate
            && stray
        {
            *relative_residual = 1.0;
        }
        Ok((value, certificate))
    }

    /// F at zero weights and the best intercept: what differences of objectives are measured against.
    pub(crate) fn objective_at_zero(&self, class_weights: &[f64]) -> Result<f64> {
        Ok(Frame::new(self, class_weights.to_vec(), Vec::new(), Vec::new())?.at_zero())
    }

    fn check(&self, training: &Training<'_>) -> Result<()> {
        if training.offsets.is_some() {
            return Err(Error::usage("least squares has no offsets").help("offsets belong to --model logistic"));
        }
        self.check_settings(training.design.shape().cols)
    }

    fn check_settings(&self, cols: usize) -> Result<()> {
        if cols > self.max_columns {
            let gigabytes = (cols as f64).powi(2) * 8e-9;
            return Err(Error::data(format!("least squares on {cols} columns needs a matrix of {gigabytes:.0} GB"))
                .help("use --model logistic, or fewer columns"));
        }
        self.penalty.check()?;
        if self.penalty.is_sparse() {
            return Err(Error::usage("least squares in closed form has no lasso")
                .help("minimise the squared loss as a risk (RiskMinimizer with LossChoice::Squared)"));
        }
        if self.penalty == PenaltyChoice::None && self.intercept == Intercept::Penalised {
            return Err(Error::usage("a penalised intercept needs a penalty").help("for example --penalty ridge:0.1"));
        }
        if self.tolerance.is_nan() || self.tolerance <= 0.0 {
            return Err(Error::usage(format!("the tolerance {} is not positive", self.tolerance)));
        }
        Ok(())
    }

    /// From means and scatter, unless `auto` finds that they keep too few digits.
    fn by_moments(&self, training: &Training<'_>, watch: &Watch) -> Result<(Frame, Found)> {
        let moments = ClassMoments::of(training.design, training.labels, training.weights, watch)?;
        let frame = Frame::of_moments(self, &moments)?;
        let system = System::of(&frame, &moments);
        if self.solver == LeastSquaresSolver::Auto && !system.enough && frame.cols() <= QR_LIMIT {
            let why = match system.whole {
                true => {
                    format!(" (auto: the normal equations have a pivot of {:.0e})", system.factor.smallest_pivot())
                }
                false => " (auto: the normal equations are singular)".to_owned(),
            };
            let (frame, found) = self.by_qr(training, &why, watch)?;
            return Ok((frame, Found { passes: found.passes + 1, ..found }));
        }
        let found = self.by_system(&frame, &system, &moments, watch);
        Ok((frame, found))
    }

    fn by_system(&self, frame: &Frame, system: &System, moments: &ClassMoments, watch: &Watch) -> Found {
        let System { plain, problem, factor, .. } = system;
        let mut found = match self.solver {
            LeastSquaresSolver::GradientDescent => self.by_descent(frame, problem, factor, watch),
            _ => self.by_cholesky(frame, plain, problem, factor),
        };
        found.objective = system.enough.then(|| frame.objective(moments, &found.solutions));
        found
    }

    fn by_cholesky(&self, frame: &Frame, plain: &Quadratic, problem: &Quadratic, factor: &Factor) -> Found {
        let solutions: Vec<Vec<f64>> = problem.linear.iter().map(|g| factor.solve(g)).collect();
        let auto = match self.solver {
            LeastSquaresSolver::Auto => format!(" (auto: smallest pivot {:.0e})", factor.smallest_pivot()),
            _ => String::new(),
        };
        let mut notes = frame.rank_notes(factor.rank(), factor.aliased());
        if frame.lambda > 0.0 && frame.cols() <= QR_LIMIT {
            notes.extend(frame.alias_notes(crate::linalg::factor(&plain.hessian, ALIAS_TOLERANCE).aliased(), true));
        }
        Found {
            certificate: residual(frame, problem, &solutions),
            solutions,
            objective: None,
            outcome: Outcome::Converged,
            notes,
            solver: format!("cholesky{auto}"),
            iterations: 0,
            passes: 1,
        }
    }

    fn by_descent(&self, frame: &Frame, problem: &Quadratic, factor: &Factor, watch: &Watch) -> Found {
        let solver = QuadraticDescent { tolerance: self.tolerance, max_iterations: self.max_iterations };
        let at_zero = frame.at_zero();
        let descent = solver.solve(problem, factor, frame.start(), at_zero, watch);
        let notes = frame.rank_notes(factor.rank(), &[]);
        Found {
            certificate: quadratic_gap(problem, factor, &descent.solutions, at_zero, at_zero),
            solutions: descent.solutions,
            objective: None,
            outcome: match descent.stop {
                Stop::Converged => Outcome::Converged,
                Stop::IterationLimit => Outcome::IterationLimit,
                Stop::TimeLimit => Outcome::TimeLimit,
                Stop::Interrupted => Outcome::Interrupted,
                Stop::PrecisionLimit | Stop::Separated(_) => Outcome::PrecisionLimit,
            },
            notes,
            solver: "gradient-descent".into(),
            iterations: descent.iterations,
            passes: 1,
        }
    }

    fn by_qr(&self, training: &Training<'_>, why: &str, watch: &Watch) -> Result<(Frame, Found)> {
        let triangle = ClassTriangle::of(training.design, training.labels, training.weights, watch)?;
        let frame = Frame::of_triangle(self, &triangle)?;
        let penalised = frame.lambda > 0.0;
        let n = frame.unknowns();
        let (rows, values) = frame.equations(&triangle, penalised);
        let qr = pivoted_qr(rows, n, values.clone(), &frame.rank_tolerance(penalised));
        let solutions: Vec<Vec<f64>> = (0..frame.targets.len()).map(|score| qr.solve(score)).collect();
        let gram = gram_of_columns(rows, n + frame.targets.len(), &values);
        let side = |score: usize| (0..n).map(|j| gram.get(n + score, j)).collect();
        let problem = Quadratic {
            hessian: crate::linalg::Square::from_lower(n, |i, j| gram.get(i, j)),
            linear: (0..frame.targets.len()).map(side).collect(),
        };
        let mut notes = frame.rank_notes(qr.rank(), &qr.aliased(usize::MAX));
        if penalised {
            let (rows, values) = frame.equations(&triangle, false);
            let plain = pivoted_qr(rows, n, values, &frame.rank_tolerance(false));
            notes.extend(frame.alias_notes(&plain.aliased(usize::MAX), true));
        }
        let columns = frame.cols() - frame.constant.len();
        let rank = qr.kept().iter().filter(|j| **j < frame.cols()).count();
        let found = Found {
            certificate: residual(&frame, &problem, &solutions),
            solutions,
            objective: None,
            outcome: Outcome::Converged,
            notes,
            solver: format!("qr, rank {rank} of {columns}{why}"),
            iterations: 0,
            passes: 1,
        };
        Ok((frame, found))
    }

    fn formula(&self, classes: usize) -> String {
        let loss = match (classes, self.targets) {
            (2, Targets::ZeroOne) => "½(t−z)², t = 0 or 1",
            (2, _) => "½(t−z)², t = ±1",
            _ => "½‖t−z‖², t one-hot",
        };
        let (loss, targets) = loss.split_once(", ").unwrap_or((loss, ""));
        let penalty = match (self.penalty, self.intercept) {
            (PenaltyChoice::None, _) => "",
            (_, Intercept::Penalised) => " + λ/2·(‖W‖² + ‖b‖²)",
            _ => " + λ/2·‖W‖²",
        };
        let scores = match (self.standardize, self.intercept) {
            (Standardize::Yes, Intercept::None) => "z = W·(x−mean)/sd",
            (Standardize::Yes, _) => "z = W·(x−mean)/sd + b",
            (Standardize::No, Intercept::None) => "z = W·x",
            (Standardize::No, _) => "z = W·x + b",
        };
        format!("Σ s·{loss} / Σs{penalty}, {scores}, {targets}")
    }
}

impl Frame {
    /// What an incomplete rank means for the weights.
    fn rank_notes(&self, rank: usize, aliased: &[Alias]) -> Vec<Note> {
        let columns = self.used().len();
        if rank == columns {
            return Vec::new();
        }
        let missing = columns - rank;
        let in_use = self.cols() - self.constant.len();
        let mut notes = vec![Note::Rank { rank: in_use - missing, columns: in_use }];
        notes.extend(self.alias_notes(aliased, false));
        notes
    }

    /// Dependent columns in the units of the columns.
    fn alias_notes(&self, aliased: &[Alias], shared: bool) -> Vec<Note> {
        let described = |a: &&Alias| a.column < self.cols() && self.constant.binary_search(&a.column).is_err();
        let note = |a: &Alias| {
            let column = a.column;
            let of_columns = a.combination.iter().filter(|(c, _)| *c < self.cols());
            let combination = of_columns.map(|(c, v)| (*c, v * self.scale[column] / self.scale[*c])).collect();
            if shared { Note::Shared { column, combination } } else { Note::Collinear { column, combination } }
        };
        aliased.iter().filter(described).take(DESCRIBED).map(note).collect()
    }
}

/// The residual of the normal equations in units in which their diagonal is one.
fn residual(frame: &Frame, problem: &Quadratic, solutions: &[Vec<f64>]) -> Certificate {
    let (scaled, units) = problem.unit_diagonal();
    let pairs: Vec<(Vec<f64>, Vec<f64>)> = solutions
        .iter()
        .zip(scaled.linear)
        .map(|(v, g)| (v.iter().zip(&units).map(|(v, u)| v / u).collect(), g))
        .collect();
    linear_system_residual(&scaled.hessian, &frame.used(), &pairs, EQUATIONS)
}

/// `Σ s ½‖t − z‖² / Σs`, row by row.
fn mean_square(training: &Training<'_>, frame: &Frame, linear: &Linear, watch: &Watch) -> Result<f64> {
    let scores = linear.scores(training.design, watch)?;
    let k = linear.n_scores();
    let row = |(i, z): (usize, &[f64])| {
        let s = training.weights.map_or(1.0, |w| w[i]);
        if s == 0.0 {
            return 0.0;
        }
        let class = training.labels.codes()[i].index();
        let off = |(score, z): (usize, &f64)| (frame.targets[score][class] - frame.shift - z).powi(2);
        s * z.iter().enumerate().map(off).sum::<f64>()
    };
    Ok(0.5 * sum(scores.chunks_exact(k).enumerate().map(row)) / frame.total)
}

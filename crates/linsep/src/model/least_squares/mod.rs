//! Least squares on targets: regression used to classify.
//!
//! `F(W,b) = Σ s ½‖t_y − (W(x−c)/σ + b)‖² / Σs + λ/2 ‖W‖²`; two classes have one score and the targets ±1 (or 0 and 1), more
//! have one-hot targets and a score each. The α of other tools' ridge classifiers is λ·Σs.
//!
//! Without a penalty the two-class direction is that of LDA; with three classes in a row the middle one may never have
//! the largest score (masking), which no number of rows cures.

mod frame;
mod left_out;
mod reduced;

use super::printed::with_proofs;
use super::{Computation, Fit, Fitted, LossChoice, Method, Objective, Outcome, PenaltyChoice, RiskMinimizer};
use crate::certify::{
    Certificate, SquaredPoint, SquaredProof, SquaredTask, Whitening, linear_system_residual, squares_gap,
};
use crate::design::Training;
use crate::design::{Standardize, Units};
use crate::discriminant::{Discriminant, Linear};
use crate::error::{Error, Result};
use crate::linalg::factor;
use crate::numeric::sum;
use crate::objective::{Intercept, QuadraticObjective};
use crate::solve::QuadraticDescent;
use crate::stats::ClassMoments;
use crate::watch::Watch;
use crate::words::{Setting, words};
use frame::SquaresFrame;
use reduced::ReducedSquares;
use serde::{Deserialize, Serialize};

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
#[non_exhaustive]
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
pub struct LeastSquaresSettings {
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

impl Default for LeastSquaresSettings {
    fn default() -> LeastSquaresSettings {
        LeastSquaresSettings {
            targets: Targets::Auto,
            penalty: PenaltyChoice::None,
            intercept: Intercept::Free,
            standardize: Standardize::Yes,
            solver: LeastSquaresSolver::Auto,
            tolerance: 1e-8,
            max_iterations: ITERATIONS,
            max_columns: MOST_COLUMNS,
        }
    }
}

/// Pivots of the normal equations (unit diagonal) below this make a column a combination of earlier ones, as in
/// `gaussian::problem`.
const ALIAS_TOLERANCE: f64 = 1e-12;
/// With pivots above this the normal equations keep about ten digits of the solution.
const ENOUGH: f64 = 1e-6;
/// Columns up to which a second pass by QR is made: it costs several times a Gram matrix, and its end runs on one core.
/// Chosen, not measured.
const QR_LIMIT: usize = 2_000;
/// Dependent columns that are described; the rank counts them all. A note should stay readable.
const DESCRIBED: usize = 100;
const EQUATIONS: &str = "XᵀS(Xw − t) + λΣs·w = 0";
/// Default limit of gradient descent. Chosen (bench/constants.md): it stops on its gap.
const ITERATIONS: usize = 10_000;
/// Default of the most columns: normal equations of 0.8 GB.
const MOST_COLUMNS: usize = 10_000;

/// What a solver found.
struct SquaresFound {
    solutions: Vec<Vec<f64>>,
    outcome: Outcome,
    solver: String,
    iterations: usize,
}

impl LeastSquaresSettings {
    /// Statistics in one pass, then a closed form or gradient descent on them, then the proof by a pass over the rows.
    pub(super) fn fit(&self, training: &Training<'_>, watch: &Watch) -> Result<Fit> {
        self.check(training)?;
        let mut reduced = self.reduce(training, watch)?;
        let mut found = self.solve(&reduced, watch);
        reduced.notes = with_proofs(reduced.notes, training, reduced.frame.has_intercept(), watch);
        // Without the deadline: there is a solution, and its objective and proof belong to it.
        let calm = Watch::default();
        let mut linear = reduced.frame.discriminant(&found.solutions)?;
        let mut proof = self.prove(training, &reduced, &linear, &calm)?;
        reduced.passes += 1;
        if proof.improvable && self.solver != LeastSquaresSolver::GradientDescent {
            for (v, step) in found.solutions.iter_mut().zip(&proof.step) {
                let units = |j: usize| reduced.frame.scale.get(j).copied().unwrap_or(1.0);
                reduced.kept.iter().zip(step).for_each(|(j, s)| v[*j] -= s * units(*j));
            }
            let refined = reduced.frame.discriminant(&found.solutions)?;
            let again = self.prove(training, &reduced, &refined, &calm)?;
            reduced.passes += 1;
            if again.certificate.gap() < proof.certificate.gap() {
                (linear, proof) = (refined, again);
            }
        }
        found.outcome = found.outcome.proved(&proof.certificate, self.tolerance);
        let fitted = self.finish(&reduced, found, linear, (proof.objective, proof.certificate));
        Ok(Fit::Model(Box::new(fitted)))
    }

    /// Fits from statistics alone, which may have been merged, updated and reduced: by the normal equations, whatever
    /// digits they keep, or by gradient descent on them. QR needs the rows.
    ///
    /// ```
    /// use linsep::design::DenseMatrix;
    /// use linsep::model::LeastSquaresSettings;
    /// use linsep::{stats::ClassMoments, table::Labels};
    /// let y = Labels::from_names(["a", "b"]);
    /// let watch = Default::default();
    /// let mut seen = ClassMoments::of(&DenseMatrix::new(vec![-1.0, 3.0], 1)?, &y, None, &watch)?;
    /// seen.update(&DenseMatrix::new(vec![-3.0, 1.0], 1)?, &y, None, &watch)?;
    /// let model = LeastSquaresSettings::default().fit_statistics(&seen, &watch)?;
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
        let reduced = self.by_moments(moments, &[])?;
        let found = self.solve(&reduced, watch);
        let value = reduced.frame.objective(moments, &found.solutions);
        let linear = reduced.frame.discriminant(&found.solutions)?;
        let certificate = residual(&reduced, &found.solutions);
        Ok(self.finish(&reduced, found, linear, (value, certificate)))
    }

    fn finish(
        &self,
        reduced: &ReducedSquares,
        found: SquaresFound,
        linear: Linear,
        (value, certificate): (f64, Certificate),
    ) -> Fitted {
        let frame = &reduced.frame;
        Fitted {
            multipliers: None,
            discriminant: Discriminant::Linear(linear),
            density: None,
            units: Units::new(frame.centre.clone(), frame.scale.clone()),
            objective: Objective {
                formula: self.formula(frame.classes.len()),
                value,
                lambda: (frame.lambda > 0.0).then_some(frame.lambda),
            },
            certificate,
            outcome: found.outcome,
            notes: reduced.notes.clone(),
            computation: Computation {
                solver: found.solver,
                reason: None,
                iterations: found.iterations,
                passes: reduced.passes,
            },
        }
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
        let reduced = self.reduce(training, watch)?;
        let proof = self.prove(training, &reduced, linear, watch)?;
        Ok((proof.objective, proof.certificate))
    }

    /// F at given discriminants and how far it is from the optimum, by a pass over the rows.
    fn prove(
        &self,
        training: &Training<'_>,
        reduced: &ReducedSquares,
        linear: &Linear,
        watch: &Watch,
    ) -> Result<SquaredProof> {
        let ReducedSquares { frame, kept, .. } = reduced;
        let solutions = frame.solutions(linear)?;
        let (cols, scores) = (frame.cols(), linear.n_scores());
        let columns: Vec<usize> = kept.iter().copied().filter(|j| *j < cols).collect();
        let in_use = |j: usize| columns.binary_search(&j).is_ok();
        let stray = (0..scores).any(|k| (0..cols).any(|j| linear.weights_of(k)[j] != 0.0 && !in_use(j)));
        // A free intercept absorbs a change of centre; any other is relative to the centre of the data.
        let moved = self.intercept != Intercept::Free && linear.centre() != &frame.centre[..];
        // The constant subtracted from the scores, so that zero is the threshold, is no part of the unknowns.
        let intercept: Vec<f64> = linear.intercept_at_centre().iter().map(|b| b + frame.shift).collect();
        let stray = stray || (!frame.has_intercept() && intercept.iter().any(|b| *b != 0.0));
        let absent = |reason: &str| Certificate::Absent { reason: reason.into() };
        let without = |certificate: Certificate| -> Result<SquaredProof> {
            let objective = mean_square(training, frame, linear, watch)? + frame.penalty(&solutions);
            Ok(SquaredProof { objective, certificate, step: Vec::new(), improvable: false })
        };
        if stray {
            return without(absent("a column, or an intercept, that is not in use has a weight"));
        }
        if moved {
            return without(absent("the centre is not that of the data"));
        }
        let Some(whitening) = &reduced.whitening else { return without(residual(reduced, &solutions)) };
        let m = kept.len();
        let unit = |at: usize| frame.scale.get(kept[at]).copied().unwrap_or(1.0);
        let rows: Vec<f64> = whitening.iter().enumerate().map(|(at, t)| t / unit(at % m)).collect();
        let task = SquaredTask {
            design: training.design,
            codes: training.labels.codes(),
            weights: training.weights,
            targets: &frame.targets,
            penalties: frame.scale.iter().map(|s| frame.lambda * s * s).collect(),
            intercept_penalty: frame.has_intercept().then(|| frame.intercept_penalty()),
            at_zero: frame.at_zero(),
        };
        let weights: Vec<f64> = (0..scores).flat_map(|k| linear.weights_of(k).to_vec()).collect();
        let point = SquaredPoint { weights: &weights, centre: linear.centre(), intercept: &intercept };
        squares_gap(&task, &point, &Whitening { columns: &columns, rows: &rows, first: reduced.ill }, watch)
    }

    /// F at zero weights and the best intercept: what differences of objectives are measured against.
    pub(crate) fn objective_at_zero(&self, class_weights: &[f64]) -> Result<f64> {
        Ok(SquaresFrame::new(self, class_weights.to_vec(), Vec::new(), Vec::new())?.at_zero())
    }

    fn check(&self, training: &Training<'_>) -> Result<()> {
        if training.offsets.is_some() {
            return Err(Error::usage("least squares has no offsets")
                .help(words!["offsets belong to ", Setting::Model.is("logistic")]));
        }
        self.check_settings(training.design.shape().cols)
    }

    /// Whether a penalty, with factors for single columns or not, leaves least squares its closed form.
    pub fn has_closed_form(penalty: &PenaltyChoice, has_factors: bool) -> bool {
        !penalty.is_sparse() && !has_factors
    }

    /// The single entry point of least squares: the closed form where there is one, and otherwise the same objective as a
    /// risk.
    pub fn into_method(self) -> Method {
        if LeastSquaresSettings::has_closed_form(&self.penalty, false) {
            return Method::LeastSquares(self);
        }
        Method::Risk(RiskMinimizer {
            loss: LossChoice::Squared,
            penalty: self.penalty,
            intercept: self.intercept,
            standardize: self.standardize,
            tolerance: self.tolerance,
            ..RiskMinimizer::default()
        })
    }

    fn check_settings(&self, cols: usize) -> Result<()> {
        if cols > self.max_columns {
            let gigabytes = (cols as f64).powi(2) * 8e-9;
            return Err(Error::data(format!("least squares on {cols} columns needs a matrix of {gigabytes:.0} GB"))
                .help(words!["use ", Setting::Model.is("logistic")])
                .help("use fewer columns"));
        }
        self.penalty.check()?;
        if !LeastSquaresSettings::has_closed_form(&self.penalty, false) {
            return Err(Error::usage("least squares in closed form has no lasso")
                .help("minimise the squared loss as a risk (LeastSquaresSettings::into_method)"));
        }
        if self.penalty == PenaltyChoice::None && self.intercept == Intercept::Penalised {
            return Err(Error::usage("a penalised intercept needs a penalty")
                .help(words!["for example ", Setting::Penalty.is("ridge:0.1")]));
        }
        if self.tolerance.is_nan() || self.tolerance <= 0.0 {
            return Err(Error::usage(format!("the tolerance {} is not positive", self.tolerance)));
        }
        Ok(())
    }

    fn solve(&self, reduced: &ReducedSquares, watch: &Watch) -> SquaresFound {
        if self.solver == LeastSquaresSolver::GradientDescent {
            return self.by_descent(&reduced.frame, &reduced.problem, watch);
        }
        let solver = match self.solver {
            LeastSquaresSolver::Auto if !reduced.ill => format!("cholesky (auto: {})", reduced.how),
            LeastSquaresSolver::Cholesky => "cholesky".to_owned(),
            _ if reduced.how.starts_with("qr") => reduced.how.clone(),
            _ => format!("cholesky (auto: {})", reduced.how),
        };
        SquaresFound { solutions: reduced.solutions.clone(), outcome: Outcome::Converged, solver, iterations: 0 }
    }

    fn by_descent(&self, frame: &SquaresFrame, problem: &QuadraticObjective, watch: &Watch) -> SquaresFound {
        let solver = QuadraticDescent { tolerance: self.tolerance, max_iterations: self.max_iterations };
        let factor = factor(&problem.hessian, 0.0);
        let descent = solver.solve(problem, &factor, frame.start(), frame.at_zero(), watch);
        SquaresFound {
            solutions: descent.solutions,
            outcome: Outcome::from(&descent.stop),
            solver: "gradient-descent".into(),
            iterations: descent.iterations,
        }
    }

    pub(super) fn formula(&self, classes: usize) -> String {
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
            (Standardize::Yes, Intercept::None) => "z = W·x/sd",
            (Standardize::Yes, _) => "z = W·(x−mean)/sd + b",
            (Standardize::No, Intercept::None) => "z = W·x",
            (Standardize::No, _) => "z = W·x + b",
        };
        format!("Σ s·{loss} / Σs{penalty}, {scores}, {targets}")
    }
}

/// The residual of the normal equations in units in which their diagonal is one.
fn residual(reduced: &ReducedSquares, solutions: &[Vec<f64>]) -> Certificate {
    let (scaled, units) = reduced.problem.unit_diagonal();
    let pairs: Vec<(Vec<f64>, Vec<f64>)> = solutions
        .iter()
        .zip(scaled.linear)
        .map(|(v, g)| (v.iter().zip(&units).map(|(v, u)| v / u).collect(), g))
        .collect();
    linear_system_residual(&scaled.hessian, &reduced.kept, &pairs, EQUATIONS)
}

/// `Σ s ½‖t − z‖² / Σs`, row by row.
fn mean_square(training: &Training<'_>, frame: &SquaresFrame, linear: &Linear, watch: &Watch) -> Result<f64> {
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

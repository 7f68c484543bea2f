//! Squared error of sigmoid outputs for two classes: a risk that is not convex, from several starts.
//!
//! `min Σ s ½(σ(z) − t)²/Σs + λ/2‖w‖²`, t = 1 for the second class. Where a plane separates the classes (rows on it or
//! not) and nothing is penalised, moving along its direction lowers the risk from every point: there is no minimum, not
//! even a local one. Logistic regression without a penalty finds that direction, or proves that there is none.

use super::risk::columns::{from_columns, sample, score_offsets, start, to_columns};
use super::{Computation, Fit, Fitted, Note, Objective, Outcome, PenaltyChoice, Stochastic};
use crate::certify::{Certificate, LocalScale, local_minimum};
use crate::design::Training;
use crate::design::{Standardize, Units, summarise};
use crate::discriminant::{Discriminant, Linear};
use crate::error::{Error, Result};
use crate::linalg::factor;
use crate::objective::{Coef, Detail, Intercept, Logistic, Penalty, Ridge, Risk, SquaredSigmoid};
use crate::separate::proved_no_optimum;
use crate::solve::{Newton, PerceptronSteps, SigmoidAlgorithm, SigmoidDescent, SigmoidEnd, Solver, Stop};
use crate::watch::Watch;
use crate::words::{Setting, words};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

/// Least squares on the outputs of a sigmoid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SigmoidLeastSquares {
    /// None or a ridge.
    pub penalty: PenaltyChoice,
    /// What becomes of the intercept.
    pub intercept: Intercept,
    /// Whether columns are standardised.
    pub standardize: Standardize,
    /// The algorithm.
    pub algorithm: SigmoidAlgorithm,
    /// A local minimum has a gradient of at most this, in the scales of [`LocalScale`].
    pub tolerance: f64,
    /// Stop a descent after this many iterations; `None` is what suits the algorithm.
    pub max_iterations: Option<usize>,
    /// Random starts beside zero, least squares and logistic regression.
    pub restarts: usize,
    /// Seed of the random starts and of drawn rows.
    pub seed: u64,
    /// Rows of a step by drawn rows.
    #[serde(skip_serializing_if = "is_one", default = "one")]
    pub batch: usize,
    /// The step of gradient descent along −∇F from one start, or the first by drawn rows; `None` is by a line search, or by the
    /// curvature.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<f64>,
    /// How steps that are given change.
    #[serde(skip_serializing_if = "PerceptronSteps::is_constant", default)]
    pub steps: PerceptronSteps,
}

fn one() -> usize {
    1
}

fn is_one(batch: &usize) -> bool {
    *batch == 1
}

impl Default for SigmoidLeastSquares {
    fn default() -> SigmoidLeastSquares {
        SigmoidLeastSquares {
            penalty: PenaltyChoice::RidgeOne,
            intercept: Intercept::Free,
            standardize: Standardize::Yes,
            algorithm: SigmoidAlgorithm::Newton,
            tolerance: 1e-8,
            max_iterations: None,
            restarts: 5,
            seed: 0,
            batch: 1,
            step: None,
            steps: PerceptronSteps::Constant,
        }
    }
}

/// With more columns the eigenvalues of their Hessian, needed for the certificate, take too long: a cubic time. Chosen
/// (bench/constants.md).
const MOST_COLUMNS: usize = 2_000;
/// Size of the scores of a random start: sigmoids of ±3 are 0.05 and 0.95, neither linear nor flat. Chosen
/// (bench/constants.md).
const RANDOM_SCORE: f64 = 3.0;
/// Ridge of the logistic start where the fit has none, so that it exists. Chosen, out of reach of bench/constants.md.
const START_LAMBDA: f64 = 1e-4;
/// Tolerance of the logistic start, which is only a start.
const START_TOLERANCE: f64 = 1e-4;
/// On the unit-diagonal scale, pivots below this are dependent columns, as in `certify::independent`.
const START_PIVOT: f64 = 1e-12;
/// Default iterations of Newton's method from one start; more than for convex losses, since it may pass saddles. Chosen
/// (bench/constants.md), as the next two: reaching a limit is an answer.
const NEWTON_STEPS: usize = 500;
/// Default iterations of gradient descent.
const DESCENT_STEPS: usize = 100_000;
/// Default epochs of drawn rows.
const SGD_EPOCHS: usize = 100;

type SigmoidRisk<'a> = Risk<'a, SquaredSigmoid>;

impl SigmoidLeastSquares {
    pub(super) fn fit_from(&self, training: &Training<'_>, start: Option<&Linear>, watch: &Watch) -> Result<Fit> {
        self.check(training)?;
        let summary = summarise(training.design, training.weights, watch)?;
        let units = self.units(&summary.units(self.standardize));
        // Where columns are centred, a constant one is zero in every row, and so is its best weight.
        let mut zero = summary.constant();
        zero.retain(|j| units.centre()[*j] == summary.min[*j]);
        let mut notes = Vec::new();
        if !zero.is_empty() && self.intercept != Intercept::None {
            notes.push(Note::Constant { columns: zero.clone() });
        }
        let offsets = score_offsets(training, 1);
        let risk = self.risk(training, &units, offsets.as_deref())?;
        if risk.penalty().is_none() {
            let logistic = Risk::new(*risk.sample(), Logistic, Ridge::none(), self.intercept);
            if let Stop::Separated(found) = Newton::default().solve(&logistic, None, watch)?.stop
                && let Some(mut proof) = proved_no_optimum(training, &units, self.intercept, Some(&found), watch)?
            {
                proof.of_likelihood = false;
                return Ok(proof.into());
            }
        }
        let scale = LocalScale::new(&risk, watch)?;
        let mut starts = match (self.has_given_steps(), start) {
            // A textbook's descent has one start.
            (true, None) => vec![Coef::zeros(1, risk.n_cols())],
            (true, Some(linear)) => vec![super::risk::columns::start(linear, &units, 1, self.intercept)],
            (false, start) => self.starts(&risk, &scale, start, &units, watch)?,
        };
        // No step changes the weight of a column of zeros.
        starts.iter_mut().for_each(|start| zero.iter().for_each(|j| start.weights_mut()[*j] = 0.0));
        let descent = SigmoidDescent {
            tolerance: self.tolerance,
            max_iterations: self.max_iterations.unwrap_or(self.default_iterations()),
            algorithm: self.algorithm,
            seed: self.seed,
            batch: self.batch,
            step: self.step,
            steps: self.steps.clone(),
        };
        let (mut best, mut iterations, mut passes): (Option<SigmoidEnd>, usize, usize) = (None, 0, 0);
        let tried = starts.len();
        for start in starts {
            let end = descent.run(&risk, &scale, &start, watch)?;
            (iterations, passes) = (iterations + end.iterations, passes + end.passes);
            let halted = matches!(end.stop, Stop::TimeLimit | Stop::Interrupted);
            if best.as_ref().is_none_or(|best| better(&end, best)) {
                best = Some(end);
            }
            if halted {
                break;
            }
        }
        let Some(best) = best else { return Err(Error::usage("there is no start")) };
        let (certificate, outcome) = self.verdict(&best, watch);
        Ok(Fit::Model(Box::new(Fitted {
            multipliers: None,
            discriminant: Discriminant::Linear(to_columns(best.point.coef.clone(), &units)?),
            objective: Objective {
                formula: self.formula(),
                value: best.point.objective,
                lambda: (!risk.penalty().is_none()).then(|| risk.penalty().lambda()),
            },
            units: units.clone(),
            certificate,
            outcome,
            notes,
            computation: Computation {
                solver: match tried {
                    1 => self.solver_name().to_owned(),
                    _ => format!("{}, best of {tried} starts", self.solver_name()),
                },
                reason: None,
                iterations,
                passes,
            },
            density: None,
        })))
    }

    /// Gradient and smallest eigenvalue of given discriminants, recomputed from the data.
    pub(super) fn certify(
        &self,
        training: &Training<'_>,
        discriminant: &Discriminant,
        units: &Units,
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        self.check(training)?;
        let linear = discriminant.as_linear().ok_or_else(|| Error::model("a model of one sigmoid must be linear"))?;
        if linear.n_scores() != 1 || linear.n_cols() != training.design.shape().cols {
            return Err(Error::model("the model does not have the classes and columns of the data"));
        }
        let offsets = score_offsets(training, 1);
        let risk = self.risk(training, units, offsets.as_deref())?;
        let point = risk.at(&from_columns(linear, units, 1), Detail::Gradient, watch)?;
        Ok((point.objective, local_minimum(&risk, &point, watch)?))
    }

    fn check(&self, training: &Training<'_>) -> Result<()> {
        self.penalty.check()?;
        let (classes, cols) = (training.labels.n_classes(), training.design.shape().cols);
        if classes != 2 {
            return Err(Error::data(format!("the target has {classes} classes; one sigmoid tells two apart"))
                .help(words!["choose ", Setting::Multiclass.is("linear-machine")])
                .help(words!["choose ", Setting::Model.is("logistic")]));
        }
        Stochastic { batch: self.batch, step: self.step, steps: self.steps.clone(), ..Stochastic::default() }
            .check()?;
        if self.penalty.is_sparse() {
            return Err(
                Error::usage("sigmoid-ls has no lasso").help(words!["use ", Setting::Penalty.any(["ridge", "none"])])
            );
        }
        if self.penalty == PenaltyChoice::None && self.intercept == Intercept::Penalised {
            return Err(Error::usage("a penalised intercept needs a penalty")
                .help(words!["for example ", Setting::Penalty.is("ridge:0.1")]));
        }
        if !(self.tolerance > 0.0) {
            return Err(Error::usage(format!("the tolerance {} is not positive", self.tolerance)));
        }
        if cols > MOST_COLUMNS {
            return Err(Error::usage(format!("{cols} columns are too many for the eigenvalues of their Hessian"))
                .help(words![
                    format!("sigmoid-ls takes {MOST_COLUMNS}; "),
                    Setting::Model.is("logistic"),
                    " has no such limit",
                ]));
        }
        Ok(())
    }

    /// Whether the steps are the user's, along the gradient in the columns as the fit has them.
    fn has_given_steps(&self) -> bool {
        let by_gradient = matches!(self.algorithm, SigmoidAlgorithm::GradientDescent | SigmoidAlgorithm::Sgd);
        self.step.is_some() && by_gradient
    }

    /// Centring alone needs a free intercept to absorb it; without an intercept planes pass through the origin.
    fn units(&self, learned: &Units) -> Units {
        match (self.standardize, self.intercept) {
            (Standardize::No, _) if self.has_given_steps() => Units::identity(learned.scale().len()),
            (_, Intercept::None) => learned.about_zero(),
            (Standardize::Yes, _) | (Standardize::No, Intercept::Free) => learned.clone(),
            _ => Units::identity(learned.scale().len()),
        }
    }

    fn risk<'a>(
        &self,
        training: &Training<'a>,
        units: &'a Units,
        offsets: Option<&'a [f64]>,
    ) -> Result<SigmoidRisk<'a>> {
        let penalty = self.penalty.ridge(training.total_weight(), &[])?;
        let loss = SquaredSigmoid { gauss_newton: false };
        Ok(Risk::new(sample(training, units, offsets), loss, penalty, self.intercept))
    }

    /// Zero, `4·(least squares on t − ½)`, whose scores have the slope of the sigmoid at zero, the solution of logistic
    /// regression, what the caller gives, and random ones.
    fn starts(
        &self,
        risk: &SigmoidRisk<'_>,
        scale: &LocalScale,
        from: Option<&Linear>,
        units: &Units,
        watch: &Watch,
    ) -> Result<Vec<Coef>> {
        let (cols, rows) = (risk.n_cols(), risk.sample().labels.len());
        let lambda = if risk.penalty().is_none() { START_LAMBDA } else { risk.penalty().lambda() };
        let logistic = Risk::new(*risk.sample(), Logistic, Ridge::new(lambda), self.intercept);
        let logistic =
            Newton { tolerance: START_TOLERANCE, ..Newton::default() }.solve(&logistic, None, watch)?.point.coef;
        let weight = |i: usize| risk.sample().weights.map_or(1.0, |w| w[i]);
        let weights: Vec<f64> = (0..rows).map(weight).collect();
        let targets: Vec<f64> = (0..rows).map(|i| weight(i) * (f64::from(risk.sample().labels[i].0) - 0.5)).collect();
        let mut gram = risk.weighted_gram(&weights, watch)?;
        gram.keep_only(scale.unknowns());
        let (mut sums, totals) = risk.weighted_sums(&targets, watch)?;
        sums.extend(totals);
        let mut squares = Coef::zeros(1, cols);
        let solution = factor(&gram, START_PIVOT).solve(&sums);
        for j in scale.unknowns() {
            squares.as_mut_slice()[*j] = 4.0 * solution[*j];
        }
        let mut starts = vec![risk.start(), squares, logistic];
        starts.extend(from.map(|linear| start(linear, units, 1, self.intercept)));
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        for _ in 0..self.restarts {
            let mut coef = Coef::zeros(1, cols);
            let size = RANDOM_SCORE / (scale.unknowns().len().max(1) as f64).sqrt();
            for j in scale.unknowns() {
                // Uniform with variance one, over the size of the column: D is its mean square over 16.
                let draw = (2.0 * random.random::<f64>() - 1.0) * 3f64.sqrt();
                coef.as_mut_slice()[*j] = size * draw / (4.0 * scale.diagonal()[*j].sqrt());
            }
            starts.push(coef);
        }
        // Coefficients that the data do not determine stay at zero.
        for coef in &mut starts {
            for (j, c) in coef.as_mut_slice().iter_mut().enumerate() {
                *c = if scale.unknowns().binary_search(&j).is_ok() { *c } else { 0.0 };
            }
        }
        Ok(starts)
    }

    fn verdict(&self, best: &SigmoidEnd, watch: &Watch) -> (Certificate, Outcome) {
        let certificate = match &best.curvature {
            Some(c) => Certificate::Local { gradient: c.gradient, smallest_eigenvalue: c.smallest_eigenvalue },
            None => Certificate::Absent { reason: "the eigenvalues of the Hessian cannot be computed".into() },
        };
        let outcome = match Outcome::from(&best.stop) {
            Outcome::PrecisionLimit if watch.halted().is_some() => Outcome::TimeLimit,
            outcome => outcome,
        };
        let vanishing = best.curvature.as_ref().is_some_and(|c| c.gradient <= self.tolerance);
        if outcome == Outcome::PrecisionLimit && self.penalty == PenaltyChoice::None && vanishing {
            let reason = "the scores grow without bound: no finite minimiser was found".into();
            return (Certificate::Absent { reason }, outcome);
        }
        (certificate, outcome)
    }

    fn default_iterations(&self) -> usize {
        match self.algorithm {
            SigmoidAlgorithm::Newton | SigmoidAlgorithm::GaussNewton => NEWTON_STEPS,
            SigmoidAlgorithm::GradientDescent => DESCENT_STEPS,
            SigmoidAlgorithm::Sgd => SGD_EPOCHS,
        }
    }

    fn solver_name(&self) -> &'static str {
        match self.algorithm {
            SigmoidAlgorithm::Newton => "newton",
            SigmoidAlgorithm::GaussNewton => "gauss-newton",
            SigmoidAlgorithm::GradientDescent => "gradient-descent",
            SigmoidAlgorithm::Sgd => "sgd",
        }
    }

    pub(super) fn formula(&self) -> String {
        let scores = match (self.standardize, self.intercept) {
            (Standardize::Yes, Intercept::None) => "z = W·x/sd",
            (Standardize::Yes, _) => "z = W·(x−mean)/sd + b",
            (Standardize::No, Intercept::None) => "z = W·x",
            (Standardize::No, _) => "z = W·x + b",
        };
        let penalty = match (self.penalty, self.intercept) {
            (PenaltyChoice::None, _) => "",
            (_, Intercept::Penalised) => " + λ/2·(‖W‖² + ‖b‖²)",
            _ => " + λ/2·‖W‖²",
        };
        format!("Σ s·½(σ(z)−t)² / Σs{penalty}, {scores}, t = 0 or 1")
    }
}

/// A local minimum is better than none, and of two the lower one.
fn better(end: &SigmoidEnd, best: &SigmoidEnd) -> bool {
    let (new, old) = (end.stop == Stop::Converged, best.stop == Stop::Converged);
    if new == old { end.point.objective < best.point.objective } else { new }
}

//! Risk minimisers: a loss, a penalty and a solver.

mod choose;
pub(super) mod columns;
mod existence;
mod formula;
mod likelihood;
mod margin;
mod null_model;
mod partitioned;
mod path;
mod proof;
pub(super) mod settings;
mod several;
mod support;
mod trail;

pub use path::{Lambdas, PathPoint, RegularisationPath};
pub use settings::{Algorithm, LossChoice, PenaltyChoice, Stochastic};

use super::relations::{keep_relations, only_proved_relations};
use super::{Computation, Fit, Fitted, Multipliers, Note, Objective, Outcome};
use crate::certify::Certificate;
use crate::design::Training;
use crate::design::{Recipe, Standardize, Units, WithColumns, constant_sparse_columns, summarise};
use crate::discriminant::{Discriminant, Linear};
use crate::error::{Error, Result};
use crate::linalg::Alias;
use crate::objective::{Coef, Conjugate, Intercept, Logistic, Loss, Penalty, Risk, Softmax, SoftmaxForm, Squared};
use crate::solve::{
    GradientDescent, Lbfgs, Newton, NewtonCg, ProximalNewton, RowNewton, Solved, Solver, StepRule, StochasticGradient,
    Stop, Svrg,
};
use crate::watch::Watch;
use crate::words::{Setting, words};
use choose::{Choice, ProblemSize};
use columns::{sample, score_offsets, start, to_columns};
use serde::{Deserialize, Serialize};

/// Logistic and softmax regression, linear support vector machines and penalised least squares.
///
/// ```
/// use linsep::model::{LossChoice, Method, PenaltyChoice, RiskMinimizer};
/// let logistic = Method::Risk(RiskMinimizer { penalty: PenaltyChoice::Ridge(0.1), ..RiskMinimizer::default() });
/// let svm = Method::Risk(RiskMinimizer { loss: LossChoice::SquaredHinge, ..RiskMinimizer::default() });
/// assert_eq!((logistic.name(), svm.name()), ("logistic", "svm"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RiskMinimizer {
    /// The loss.
    pub loss: LossChoice,
    /// The penalty.
    pub penalty: PenaltyChoice,
    /// Penalty factors of the matrix columns; all one where empty.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub factors: Vec<f64>,
    /// Penalty factors by the name of a column, of a level or of a text column, until the columns are known.
    #[serde(skip)]
    pub named_factors: Vec<(String, f64)>,
    /// What becomes of the intercept.
    pub intercept: Intercept,
    /// For more than two classes: which scores are free.
    pub form: SoftmaxForm,
    /// Whether the penalty acts on standardised columns.
    pub standardize: Standardize,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Batch, step and seed of a stochastic algorithm.
    #[serde(skip_serializing_if = "Stochastic::is_default", default)]
    pub stochastic: Stochastic,
    /// Stop when the relative gap is at most this.
    pub tolerance: f64,
    /// Stop after this many iterations; `None` is what suits the algorithm.
    pub max_iterations: Option<usize>,
}

impl Default for RiskMinimizer {
    fn default() -> RiskMinimizer {
        RiskMinimizer {
            loss: LossChoice::Logistic,
            penalty: PenaltyChoice::RidgeOne,
            factors: Vec::new(),
            named_factors: Vec::new(),
            intercept: Intercept::Free,
            form: SoftmaxForm::Symmetric,
            standardize: Standardize::Yes,
            algorithm: Algorithm::Auto,
            stochastic: Stochastic::default(),
            tolerance: 1e-8,
            max_iterations: None,
        }
    }
}

/// A relative gap up to which a solver that gave up has left little to do: three digits are right. With 3,000 rows of sizes
/// between e⁻⁹ and e⁹ and 20 classes newton-cg gave up at 0.4, and from there lbfgs ended higher than from its own start.
const NEARLY: f64 = 1e-3;

/// What a solver found.
struct RiskFound {
    coef: Coef,
    objective: f64,
    stop: Stop,
    certificate: Certificate,
    iterations: usize,
    passes: usize,
    aliased: Vec<Alias>,
    multipliers: Option<Multipliers>,
}

impl<S> From<Solved<S>> for RiskFound {
    fn from(solved: Solved<S>) -> RiskFound {
        let Solved { point, stop, certificate, trace, passes, aliased } = solved;
        let (coef, objective, iterations) = (point.coef, point.objective, trace.len());
        RiskFound { coef, objective, stop, certificate, iterations, passes, aliased, multipliers: None }
    }
}

impl RiskMinimizer {
    /// The name of the method on the command line.
    pub fn name(&self) -> &'static str {
        match self.loss {
            LossChoice::Logistic => "logistic",
            LossChoice::Hinge | LossChoice::SquaredHinge => "svm",
            LossChoice::Squared => "least-squares",
        }
    }

    pub(super) fn fit_from(&self, training: &Training<'_>, start: Option<&Linear>, watch: &Watch) -> Result<Fit> {
        let fit = self.solved(training, start, watch)?;
        self.proved(fit, training)
    }

    fn solved(&self, training: &Training<'_>, start: Option<&Linear>, watch: &Watch) -> Result<Fit> {
        self.check(training)?;
        let (units, constant) = self.look_at(training, watch)?;
        let mut notes = Vec::new();
        if !constant.is_empty() && self.intercept != Intercept::None {
            notes.push(Note::Constant { columns: constant });
        }
        if let Some(separated) = self.free_columns_separate(training, &units, watch)? {
            return Ok(separated.into());
        }
        let classes = training.labels.n_classes();
        match self.loss {
            LossChoice::Logistic if classes == 2 => self.fit_loss((training, start), units, Logistic, notes, watch),
            LossChoice::Logistic => {
                self.fit_loss((training, start), units, Softmax::new(classes, self.form()), notes, watch)
            }
            LossChoice::SquaredHinge => self.fit_squared_hinge((training, start), units, notes, watch),
            LossChoice::Hinge if classes > 2 => self.fit_several((training, start), units, notes, watch),
            LossChoice::Hinge => self.fit_hinge((training, start), units, notes, watch),
            LossChoice::Squared => self.fit_loss((training, start), units, squared(classes), notes, watch),
        }
    }

    /// The same method with the penalty factors in the order of the matrix columns.
    pub(super) fn aligned(&self, recipe: &Recipe) -> Result<RiskMinimizer> {
        let mut aligned = self.clone();
        if self.named_factors.is_empty() {
            return Ok(aligned);
        }
        let features = recipe.features();
        aligned.factors = vec![1.0; features.len()];
        for (name, factor) in &self.named_factors {
            if !(*factor >= 0.0 && factor.is_finite()) {
                return Err(Error::usage(format!("the penalty factor {factor} of `{name}` is not a number from 0 up"))
                    .help("0 leaves a column without a penalty, 2 penalises it twice as much"));
            }
            let level = format!("{name}=");
            let named: Vec<usize> =
                (0..features.len()).filter(|j| features[*j] == *name || features[*j].starts_with(&level)).collect();
            if named.is_empty() {
                return Err(Error::usage(format!("there is no column `{name}` for the penalty factor {factor}"))
                    .help(format!("the columns are: {}", features[..features.len().min(12)].join(", "))));
            }
            named.iter().for_each(|j| aligned.factors[*j] = *factor);
        }
        aligned.named_factors.clear();
        Ok(aligned)
    }

    fn check(&self, training: &Training<'_>) -> Result<()> {
        self.check_settings(training.labels.n_classes(), training.design.shape().cols)
    }

    fn check_settings(&self, classes: usize, cols: usize) -> Result<()> {
        self.penalty.check()?;
        self.stochastic.check()?;
        if self.tolerance.is_nan() || self.tolerance <= 0.0 {
            return Err(Error::usage(format!("the tolerance {} is not positive", self.tolerance)));
        }
        if self.penalty == PenaltyChoice::None && self.intercept == Intercept::Penalised {
            return Err(Error::usage("a penalised intercept needs a penalty"));
        }
        if !self.factors.is_empty() && self.factors.len() != cols {
            return Err(Error::usage(format!("{} penalty factors for {cols} columns", self.factors.len())));
        }
        if self.name() == "svm" {
            if self.penalty == PenaltyChoice::None {
                return Err(Error::usage("a support vector machine needs a penalty").help(words![
                    "use ",
                    Setting::Penalty.is("ridge:λ"),
                    "; a small penalty comes close to the hard margin"
                ]));
            }
            if classes > 2 && self.loss != LossChoice::Hinge {
                return Err(Error::usage(format!("the squared hinge separates two classes, and there are {classes}"))
                    .help(words!["use ", Setting::Multiclass.any(["one-vs-one", "one-vs-rest", "linear-machine"])])
                    .help(words!["use ", Setting::Loss.is("hinge")]));
            }
        }
        Ok(())
    }

    /// Without a penalty the reference form is solved: its solution is unique.
    fn form(&self) -> SoftmaxForm {
        if self.penalty == PenaltyChoice::None { SoftmaxForm::Reference } else { self.form }
    }

    /// The units of the fit, and the columns that are constant.
    ///
    /// Centring without standardising is for conditioning only, so it needs a free intercept to absorb it, and dense rows
    /// so that it costs nothing. Without an intercept planes pass through the origin of the columns, so nothing is centred.
    fn look_at(&self, training: &Training<'_>, watch: &Watch) -> Result<(Units, Vec<usize>)> {
        let (design, cols) = (training.design, training.design.shape().cols);
        if self.standardize == Standardize::No
            && let Some(constant) = constant_sparse_columns(design, training.weights, watch)?
        {
            return Ok((Units::identity(cols), constant));
        }
        let summary = summarise(design, training.weights, watch)?;
        let units = match (self.standardize, self.intercept) {
            (_, Intercept::None) => summary.units(self.standardize).about_zero(),
            // Steps that the user chose are along the gradient in the columns as they are.
            (Standardize::No, _) if self.descends() && self.stochastic.step.is_some() => Units::identity(cols),
            (Standardize::Yes, _) | (_, Intercept::Free) => summary.units(self.standardize),
            _ => Units::identity(cols),
        };
        Ok((units, summary.constant()))
    }

    fn fit_loss<L: Conjugate + Clone>(
        &self,
        (training, from): (&Training<'_>, Option<&Linear>),
        units: Units,
        loss: L,
        notes: Vec<Note>,
        watch: &Watch,
    ) -> Result<Fit> {
        let offsets = score_offsets(training, loss.n_scores());
        let rows = sample(training, &units, offsets.as_deref());
        if let Some(penalty) = self.penalty.elastic_net(training.total_weight(), &self.factors)? {
            let risk = Risk::new(rows, loss, penalty, self.intercept);
            let choice = self.choose(ProblemSize::of(training.design, risk.loss().n_scores(), false)?)?;
            let max_iterations = self.iterations(choice.algorithm);
            let solver = ProximalNewton { tolerance: self.aim(), max_iterations };
            let start = from.map(|linear| start(linear, &units, risk.loss().n_scores(), self.intercept));
            let solved = solver.solve(&risk, start.as_ref(), watch)?;
            let solved = self.with_settled_support(&risk, solved)?;
            return self.finish(&risk, solved.into(), &choice, training, &units, notes);
        }
        let penalty = self.penalty.ridge(training.total_weight(), &self.factors)?;
        let risk = Risk::new(rows, loss, penalty, self.intercept);
        let size = ProblemSize::of(training.design, risk.loss().n_scores(), RowNewton::takes(&risk))?;
        let choice = self.choose(size)?;
        let start = from.map(|linear| start(linear, &units, risk.loss().n_scores(), self.intercept));
        if risk.penalty().is_none() && self.descends() {
            let solved = self.solve(&risk, choice.algorithm, start.as_ref(), watch)?;
            return match self.descended(&risk, (training, &units), solved.into(), watch)? {
                Ok(found) => self.finish(&risk, found, &choice, training, &units, notes),
                Err(proof) => Ok(proof.into()),
            };
        }
        if risk.penalty().is_none() {
            return match self.most_likely(&risk, (training, &units), start.as_ref(), watch)? {
                Ok(found) => self.finish(&risk, found, &choice, training, &units, notes),
                Err(proof) => Ok(proof.into()),
            };
        }
        let solved = self.solve(&risk, choice.algorithm, start.as_ref(), watch)?;
        let (solved, choice) = self.carried_on(&risk, (solved, choice), start.as_ref(), watch)?;
        self.finish(&risk, solved.into(), &choice, training, &units, notes)
    }

    /// Where nobody chose the solver and newton-cg gave up, as on rows of very uneven size, lbfgs goes on: from there where little
    /// is left, and else from its own start, so that the end is never worse than without newton-cg.
    fn carried_on<L: Conjugate + Clone>(
        &self,
        risk: &Risk<'_, L>,
        (solved, choice): (Solved, Choice),
        start: Option<&Coef>,
        watch: &Watch,
    ) -> Result<(Solved, Choice)> {
        let gave_up = matches!(solved.stop, Stop::IterationLimit | Stop::PrecisionLimit)
            && solved.certificate.relative_gap().is_none_or(|gap| gap > self.tolerance);
        let free = self.algorithm == Algorithm::Auto && self.max_iterations.is_none();
        if !(gave_up && free && choice.algorithm == Algorithm::NewtonCg && watch.halted().is_none()) {
            return Ok((solved, choice));
        }
        let near = solved.certificate.relative_gap().is_some_and(|gap| gap <= NEARLY);
        let start = if near { Some(&solved.point.coef) } else { start };
        let further = self.solve(risk, Algorithm::Lbfgs, start, watch)?;
        if !(further.point.objective < solved.point.objective) {
            return Ok((solved, choice));
        }
        let passes = solved.passes + further.passes;
        let reason = Some("newton-cg made too little progress".to_owned());
        Ok((Solved { passes, ..further }, Choice { algorithm: Algorithm::Lbfgs, reason }))
    }

    fn iterations(&self, algorithm: Algorithm) -> usize {
        self.max_iterations.unwrap_or(algorithm.default_iterations())
    }

    fn solve<L: Conjugate + Clone>(
        &self,
        risk: &Risk<'_, L>,
        algorithm: Algorithm,
        start: Option<&Coef>,
        watch: &Watch,
    ) -> Result<Solved> {
        let (tolerance, max_iterations) = (self.aim(), self.iterations(algorithm));
        let Stochastic { batch, step, ref steps, in_order, seed } = self.stochastic;
        let given = step.map(|step| StepRule::Given(step, steps.clone()));
        let descent = |rule| GradientDescent { tolerance, max_iterations, rule: given.unwrap_or(rule) };
        match algorithm {
            Algorithm::Auto | Algorithm::Newton => Newton { tolerance, max_iterations }.solve(risk, start, watch),
            Algorithm::NewtonCg => {
                by_columns(risk, |risk| NewtonCg { tolerance, max_iterations }.solve(risk, start, watch))
            }
            Algorithm::RowNewton => RowNewton { tolerance, max_iterations }.solve(risk, start, watch),
            Algorithm::Lbfgs => by_columns(risk, |risk| {
                Lbfgs { tolerance, max_iterations, ..Lbfgs::default() }.solve(risk, start, watch)
            }),
            Algorithm::GradientDescent => descent(StepRule::LineSearch).solve(risk, start, watch),
            Algorithm::FixedStep => descent(StepRule::Fixed).solve(risk, start, watch),
            // The table of pairs keeps these from smooth risks; a caller who does not ask it is told.
            Algorithm::ProximalNewton | Algorithm::InteriorPoint | Algorithm::DualCd => {
                Err(Error::usage(format!("the solver {} is not for this loss and penalty", algorithm.name())))
            }
            Algorithm::Svrg => Svrg { tolerance, max_epochs: max_iterations, step, seed }.solve(risk, start, watch),
            Algorithm::Sgd => {
                let (max_epochs, steps) = (max_iterations, steps.clone());
                StochasticGradient { tolerance, max_epochs, batch, step, steps, in_order, seed }
                    .solve(risk, start, watch)
            }
        }
    }

    /// What a solver found, in the units of the columns.
    fn finish<L: Loss, P: Penalty>(
        &self,
        risk: &Risk<'_, L, P>,
        found: RiskFound,
        choice: &Choice,
        training: &Training<'_>,
        units: &Units,
        mut notes: Vec<Note>,
    ) -> Result<Fit> {
        let RiskFound { coef: found, objective, stop, certificate, iterations, passes, aliased, multipliers } = found;
        let outcome = Outcome::from(&stop);
        let penalty = risk.penalty();
        notes_of_aliases(&mut notes, aliased, units, penalty, &found);
        if !penalty.is_none() {
            keep_relations(&mut notes, training, &Watch::default())?;
        }
        if certificate.gap().is_none() {
            // Nobody has proved then what the solver says of columns.
            let origin = (self.intercept == Intercept::None).then(|| units.centre());
            only_proved_relations(&mut notes, training, origin)?;
        }
        let classes = training.labels.n_classes();
        // The canonical form leaves the loss alone and can only lower the penalty.
        let penalised = (classes > 2 && found.n_scores() == classes).then(|| risk.penalty_at(&found));
        let coef = self.canonical(found, classes);
        let value = penalised.map_or(objective, |before| objective - before + risk.penalty_at(&coef));
        Ok(Fit::Model(Box::new(Fitted {
            discriminant: Discriminant::Linear(to_columns(coef, units)?),
            objective: Objective {
                formula: self.formula(training.labels.n_classes()),
                value,
                lambda: (!penalty.is_none()).then(|| penalty.lambda()),
            },
            units: units.clone(),
            certificate,
            outcome,
            notes,
            computation: Computation {
                solver: choice.algorithm.name().into(),
                reason: choice.reason.clone(),
                iterations,
                passes,
            },
            density: None,
            multipliers,
        })))
    }
}

/// Solves with a copy of the columns beside wide sparse rows of several scores: their sums are then gathered column by
/// column, where by rows every entry would add to a place far away for each score.
fn by_columns<L: Conjugate + Clone>(
    risk: &Risk<'_, L>,
    solve: impl FnOnce(&Risk<'_, L>) -> Result<Solved>,
) -> Result<Solved> {
    match if risk.loss().n_scores() > 1 { risk.copied_columns()? } else { None } {
        Some(columns) => {
            let design = WithColumns::new(risk.sample().design, columns);
            solve(&risk.on(&design))
        }
        None => solve(risk),
    }
}

/// Least squares as a risk: ±1 for two classes, one-hot targets for more.
fn squared(classes: usize) -> Squared {
    if classes == 2 { Squared::two_classes([-1.0, 1.0]) } else { Squared::one_hot(classes) }
}

/// Columns that are combinations of others, in the units of the columns.
pub(super) fn notes_of_aliases(
    notes: &mut Vec<Note>,
    aliased: Vec<Alias>,
    units: &Units,
    penalty: &impl Penalty,
    coef: &Coef,
) {
    let constant: Vec<usize> = notes
        .iter()
        .flat_map(|n| if let Note::Constant { columns } = n { columns.clone() } else { Vec::new() })
        .collect();
    // Under an overwhelming penalty the Hessian has no digits left for the data: an empty relation says nothing.
    let said = |a: &Alias| penalty.is_none() || !a.combination.is_empty();
    notes.extend(aliased.into_iter().filter(|a| said(a) && !constant.contains(&a.column)).map(|a| {
        let column = a.column;
        let in_columns = |(c, v): &(usize, f64)| (*c, v * units.scale()[column] / units.scale()[*c]);
        let combination = a.combination.iter().map(in_columns).collect();
        // Beside penalised columns one without a penalty takes the weight of a common direction.
        let has_weight = coef.weights().iter().skip(column).step_by(units.scale().len()).any(|w| *w != 0.0);
        match (a.exact, penalty.ridge_of(column) == 0.0 && penalty.lasso_of(column) == 0.0 && !has_weight) {
            (true, true) => Note::Collinear { column, combination },
            (true, false) => Note::Shared { column, combination },
            (false, left_out) => Note::NearlyCollinear { column, combination, left_out },
        }
    }));
}

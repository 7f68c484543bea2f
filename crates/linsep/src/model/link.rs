//! Two classes whose probability is another function of the score than the logistic one: probit, complementary log-log, cauchit.
//!
//! `min −Σ s log P(y | z)/Σs + λ/2‖w‖²`. Probit and cloglog are convex: a damped Newton method finds the minimum, and curvature on a
//! ball about it proves how near it is. Cauchit is not: what is found is a local minimum. Where a plane separates the classes (rows
//! on it or not) and nothing is penalised, moving along its direction lowers every one of these losses: there is no minimum.

use super::relations::only_proved_relations;
use super::risk::columns::{from_columns, sample, score_offsets, start, to_columns};
use super::risk::notes_of_aliases;
use super::{Computation, Fit, Fitted, Note, Objective, Outcome, PenaltyChoice};
use crate::certify::{Certificate, LocalScale, curvature_ball_bound, independent_coefficients, local_minimum};
use crate::design::{Standardize, Training, Units, summarise};
use crate::discriminant::{Discriminant, Linear};
use crate::error::{Error, Result};
use crate::objective::{Coef, Detail, Intercept, Link, LinkLoss, Logistic, Penalty, Ridge, Risk};
use crate::separate::proved_no_optimum;
use crate::solve::{Newton, PerceptronSteps, SigmoidAlgorithm, SigmoidDescent, SigmoidEnd, Solver, Stop};
use crate::watch::Watch;
use crate::words::{Setting, words};
use serde::{Deserialize, Serialize};

/// Regression of two classes with a link.
///
/// ```
/// use linsep::design::{DenseMatrix, Training};
/// use linsep::model::{Fit, LinkRegression, Method, PenaltyChoice};
/// use linsep::objective::Link;
/// use linsep::table::Labels;
/// // Two of three at 0 and one of three at 1: the fitted probabilities are the shares, whatever the link.
/// let x = DenseMatrix::new(vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0], 1)?;
/// let y = Labels::from_names(["a", "a", "b", "a", "b", "b"]);
/// let method = LinkRegression { penalty: PenaltyChoice::None, ..LinkRegression::new(Link::Probit) };
/// let fit = Method::Link(method).fit(&Training::new(&x, &y), &Default::default())?;
/// let Fit::Model(model) = fit else { panic!("the classes overlap") };
/// let scores = model.discriminant.scores(&x, &Default::default())?;
/// assert!((linsep::numeric::normal_cdf(scores[0]) - 1.0 / 3.0).abs() < 1e-9);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkRegression {
    /// The link.
    pub link: Link,
    /// None or a ridge.
    pub penalty: PenaltyChoice,
    /// What becomes of the intercept.
    pub intercept: Intercept,
    /// Whether columns are standardised.
    pub standardize: Standardize,
    /// Stop when the relative gap is at most this; of cauchit the gradient in the scales of [`LocalScale`].
    pub tolerance: f64,
    /// Stop a descent after this many iterations.
    pub max_iterations: usize,
}

/// With more columns the eigenvalues of their Hessian, by which a descent tells a minimum from a saddle, take too long: a cubic time.
/// The same as of sigmoid outputs.
const MOST_COLUMNS: usize = 2_000;
/// Newton steps from one start. Chosen, not measured: reaching the limit is an answer.
const NEWTON_STEPS: usize = 500;
/// A descent of a convex loss goes on to this gradient, in the scales of [`LocalScale`]: its last steps square the error.
const FAR_ENOUGH: f64 = 1e-11;
/// Ridge and tolerance of the logistic start, which is only a start and must exist.
const START_LAMBDA: f64 = 1e-4;
/// See [`START_LAMBDA`].
const START_TOLERANCE: f64 = 1e-4;

type LinkRisk<'a> = Risk<'a, LinkLoss>;

impl LinkRegression {
    /// Standardised columns, a ridge with λ = 1/Σs, a free intercept.
    pub fn new(link: Link) -> LinkRegression {
        LinkRegression {
            link,
            penalty: PenaltyChoice::RidgeOne,
            intercept: Intercept::Free,
            standardize: Standardize::Yes,
            tolerance: 1e-8,
            max_iterations: NEWTON_STEPS,
        }
    }

    pub(super) fn fit_from(&self, training: &Training<'_>, from: Option<&Linear>, watch: &Watch) -> Result<Fit> {
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
                && let Some(proof) = proved_no_optimum(training, &units, self.intercept, Some(&found), watch)?
            {
                return Ok(proof.into());
            }
        }
        let scale = LocalScale::new(&risk, watch)?;
        let descent = SigmoidDescent {
            tolerance: if self.link.is_convex() { FAR_ENOUGH } else { self.tolerance },
            max_iterations: self.max_iterations,
            algorithm: SigmoidAlgorithm::Newton,
            seed: 0,
            batch: 1,
            step: None,
            steps: PerceptronSteps::Constant,
        };
        let mut starts = self.starts(&risk, from, &units, watch)?;
        // No step changes coefficients that the data do not determine: constant columns, and combinations of others.
        for coef in &mut starts {
            let unknown = |j: usize| scale.unknowns().binary_search(&j).is_ok();
            coef.as_mut_slice().iter_mut().enumerate().filter(|(j, _)| !unknown(*j)).for_each(|(_, c)| *c = 0.0);
            zero.iter().for_each(|j| coef.weights_mut()[*j] = 0.0);
        }
        let (mut best, mut iterations, mut passes): (Option<SigmoidEnd>, usize, usize) = (None, 0, 0);
        let tried = starts.len();
        for start in starts {
            let end = descent.run(&risk, &scale, &start, watch)?;
            (iterations, passes) = (iterations + end.iterations, passes + end.passes);
            let halted = matches!(end.stop, Stop::TimeLimit | Stop::Interrupted);
            if best.as_ref().is_none_or(|best| end.point.objective < best.point.objective) {
                best = Some(end);
            }
            if halted {
                break;
            }
        }
        let Some(best) = best else { return Err(Error::usage("there is no start")) };
        if risk.penalty().is_none() {
            // The bound proves which columns are exactly combinations of others.
            let aliased = match self.link.is_convex() {
                true => curvature_ball_bound(&risk, &best.point.coef, &Watch::default())?.aliased,
                false => independent_coefficients(&risk, watch)?.aliased,
            };
            notes_of_aliases(&mut notes, aliased, &units, risk.penalty(), &best.point.coef);
            let origin = (self.intercept == Intercept::None).then(|| units.centre());
            only_proved_relations(&mut notes, training, origin)?;
        }
        let discriminant = Discriminant::Linear(to_columns(best.point.coef.clone(), &units)?);
        // The proof is part of the answer, even after the time limit.
        let (objective, certificate) = self.certify(training, &discriminant, &units, &Watch::default())?;
        let outcome = Outcome::from(&best.stop).proved(&certificate, self.tolerance);
        Ok(Fit::Model(Box::new(Fitted {
            multipliers: None,
            discriminant,
            objective: Objective {
                formula: self.formula(),
                value: objective,
                lambda: (!risk.penalty().is_none()).then(|| risk.penalty().lambda()),
            },
            units: units.clone(),
            certificate,
            outcome,
            notes,
            computation: Computation {
                solver: if tried > 1 { format!("newton, best of {tried} starts") } else { "newton".into() },
                reason: None,
                iterations,
                passes,
            },
            density: None,
        })))
    }

    /// The bound of given discriminants, recomputed from the data; of cauchit gradient and smallest eigenvalue.
    pub(super) fn certify(
        &self,
        training: &Training<'_>,
        discriminant: &Discriminant,
        units: &Units,
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        self.check(training)?;
        let linear = discriminant.as_linear().ok_or_else(|| Error::model("a model with a link must be linear"))?;
        if linear.n_scores() != 1 || linear.n_cols() != training.design.shape().cols {
            return Err(Error::model("the model does not have the classes and columns of the data"));
        }
        let offsets = score_offsets(training, 1);
        let risk = self.risk(training, units, offsets.as_deref())?;
        let coef = from_columns(linear, units, 1);
        if self.intercept == Intercept::None && coef.intercept()[0] != 0.0 {
            return Err(Error::model("the model states that it has no intercept, but it has one"));
        }
        if self.link.is_convex() {
            let bound = curvature_ball_bound(&risk, &coef, watch)?;
            return Ok((bound.objective, bound.certificate));
        }
        let point = risk.at(&coef, Detail::Gradient, watch)?;
        Ok((point.objective, local_minimum(&risk, &point, watch)?))
    }

    fn check(&self, training: &Training<'_>) -> Result<()> {
        self.penalty.check()?;
        let (classes, cols) = (training.labels.n_classes(), training.design.shape().cols);
        if classes != 2 {
            let what = format!("the target has {classes} classes; the {} link tells two apart", self.link.name());
            return Err(Error::data(what)
                .help(words!["choose ", Setting::Multiclass.any(["linear-machine", "one-vs-one"])])
                .help("leave the link out: softmax takes them all at once"));
        }
        if self.penalty.is_sparse() {
            return Err(Error::usage(format!("the {} link has no lasso", self.link.name()))
                .help(words!["use ", Setting::Penalty.any(["ridge", "none"])]));
        }
        if self.penalty == PenaltyChoice::None && self.intercept == Intercept::Penalised {
            return Err(Error::usage("a penalised intercept needs a penalty")
                .help(words!["for example ", Setting::Penalty.is("ridge:0.1")]));
        }
        if !(self.tolerance > 0.0) {
            return Err(Error::usage(format!("the tolerance {} is not positive", self.tolerance)));
        }
        if cols > MOST_COLUMNS {
            return Err(Error::usage(format!("{cols} columns are too many for a link: it takes {MOST_COLUMNS}"))
                .help("leave the link out: the logistic loss has no such limit"));
        }
        Ok(())
    }

    /// Centring alone needs a free intercept to absorb it; without an intercept planes pass through the origin.
    fn units(&self, learned: &Units) -> Units {
        match (self.standardize, self.intercept) {
            (_, Intercept::None) => learned.about_zero(),
            (Standardize::Yes, _) | (Standardize::No, Intercept::Free) => learned.clone(),
            _ => Units::identity(learned.scale().len()),
        }
    }

    fn risk<'a>(&self, training: &Training<'a>, units: &'a Units, offsets: Option<&'a [f64]>) -> Result<LinkRisk<'a>> {
        let penalty = self.penalty.ridge(training.total_weight(), &[])?;
        Ok(Risk::new(sample(training, units, offsets), LinkLoss::new(self.link), penalty, self.intercept))
    }

    /// What the caller gives, or logistic regression in the units of the link, which have the same slope at probability one half; of
    /// cauchit also zero and twice the latter, whose tails are heavier.
    fn starts(&self, risk: &LinkRisk<'_>, from: Option<&Linear>, units: &Units, watch: &Watch) -> Result<Vec<Coef>> {
        let lambda = if risk.penalty().is_none() { START_LAMBDA } else { risk.penalty().lambda() };
        let logistic = Risk::new(*risk.sample(), Logistic, Ridge::new(lambda), self.intercept);
        let logistic =
            Newton { tolerance: START_TOLERANCE, ..Newton::default() }.solve(&logistic, None, watch)?.point.coef;
        let (slope, shift) = match self.link {
            Link::Probit => (0.25 * (2.0 * std::f64::consts::PI).sqrt(), 0.0),
            // dp/dz = ½ log 2 where p = ½, which is at z = log log 2.
            Link::Cloglog => (0.5 / std::f64::consts::LN_2, std::f64::consts::LN_2.ln()),
            Link::Cauchit => (0.25 * std::f64::consts::PI, 0.0),
        };
        let mut scaled = Coef::zeros(1, risk.n_cols()).moved(slope, &logistic);
        if self.intercept != Intercept::None {
            scaled.intercept_mut()[0] += shift;
        }
        let given = from.map(|linear| start(linear, units, 1, self.intercept));
        Ok(match (self.link.is_convex(), given) {
            (true, Some(given)) => vec![given],
            (true, None) => vec![scaled],
            (false, given) => {
                let twice = Coef::zeros(1, risk.n_cols()).moved(2.0, &scaled);
                [risk.start(), scaled, twice].into_iter().chain(given).collect()
            }
        })
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
        let p = match self.link {
            Link::Probit => "Φ(z)",
            Link::Cloglog => "1−exp(−exp z)",
            Link::Cauchit => "½+atan(z)/π",
        };
        format!("−Σ s·log p_y / Σs{penalty}, p = {p}, {scores}")
    }
}

//! The perceptron and its kin: algorithms that search for a plane, not minimisers of a risk.
//!
//! Two classes, `y = ±1`, `x̃ = (x̂, 1)` with x̂ in the units of the fit. Row weights are frequencies: they count in training
//! errors everywhere, in the steps of `batch` and in the draws of the pocket; the online rules only ask whether a weight is
//! zero, and such rows are never visited.

mod formula;
mod overlap;
mod widest;

use super::{Computation, Fit, Fitted, NotSeparable, Note, Objective, Outcome, Separability};
use crate::certify::{Certificate, Margins, margins};
use crate::design::Training;
use crate::design::{Standardize, Tile, Units, summarise};
use crate::discriminant::{Discriminant, Linear};
use crate::error::{Error, Result};
use crate::objective::{Coef, Intercept};
use crate::solve::{
    BatchPerceptron, MistakeDriven, OnlinePerceptron, Order, PerceptronMove, PerceptronSteps, PocketPerceptron,
    PocketRule, SignedRows, SteppedPerceptron, SteppedRule, Stop,
};
use crate::watch::Watch;
use crate::words::{Setting, words};
pub(super) use overlap::{OverlapVerdict, separability};
use serde::{Deserialize, Serialize};

/// Which algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PerceptronVariant {
    /// Row by row, until no row is on the wrong side.
    #[default]
    Online,
    /// All rows on the wrong side at once, by their mean.
    Batch,
    /// All rows on the wrong side at once, by their sum.
    BatchSum,
    /// Online on drawn rows, keeping the θ with the longest run of right rows.
    PocketRun,
    /// Online on drawn rows, keeping the θ with the fewest training errors.
    PocketErrors,
    /// Online, returning the average of θ over all steps.
    Averaged,
}

/// The perceptron family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PerceptronSettings {
    /// The algorithm.
    pub variant: PerceptronVariant,
    /// η, which scales θ and the scores and changes no decision.
    pub step: f64,
    /// How the steps change (online and batch).
    #[serde(default, skip_serializing_if = "PerceptronSteps::is_constant")]
    pub steps: PerceptronSteps,
    /// Whether θ starts elsewhere than at zero: where is not kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub started: bool,
    /// The order of the rows (one at a time; shuffled, a pocket draws them with replacement).
    pub order: Order,
    /// Seed of orders and draws.
    pub seed: u64,
    /// Stop after this many epochs: passes, or as many draws as there are rows.
    pub max_epochs: usize,
    /// Free or none.
    pub intercept: Intercept,
    /// Whether columns are standardised.
    pub standardize: Standardize,
}

impl Default for PerceptronSettings {
    fn default() -> PerceptronSettings {
        PerceptronSettings::new(PerceptronVariant::Online)
    }
}

/// Epochs after which a perceptron that has not stopped asks whether a plane exists. Chosen (bench/constants.md): only
/// the time depends on it.
const DOUBT: usize = 10;
/// Products in a Hessian of all columns that take about a hundredth of a second at 10 GF/s; the answer may take a
/// hundred of these. Chosen, out of reach of bench/constants.md: it decides whether variants that need no answer look
/// for one.
const CHEAP: f64 = 1e8;
/// Default epochs of the online and the batch perceptron, which stop when they have found a plane, and of the others,
/// which never do on classes that overlap. Chosen, not measured.
const EPOCHS: [usize; 3] = [1_000, 10_000, 100];

impl PerceptronSettings {
    /// A variant with its usual settings. Online and batch stop when they have found a plane, so their limit is far; the
    /// others never stop on classes that overlap.
    pub fn new(variant: PerceptronVariant) -> PerceptronSettings {
        PerceptronSettings {
            variant,
            step: 1.0,
            steps: PerceptronSteps::Constant,
            started: false,
            order: Order::Shuffled,
            seed: 0,
            max_epochs: match variant {
                PerceptronVariant::Online => EPOCHS[0],
                PerceptronVariant::Batch | PerceptronVariant::BatchSum => EPOCHS[1],
                _ => EPOCHS[2],
            },
            intercept: Intercept::Free,
            standardize: Standardize::Yes,
        }
    }

    /// The name of the method on the command line.
    pub fn name(&self) -> &'static str {
        match self.variant {
            PerceptronVariant::Online | PerceptronVariant::Batch | PerceptronVariant::BatchSum => "perceptron",
            PerceptronVariant::PocketRun | PerceptronVariant::PocketErrors => "pocket",
            PerceptronVariant::Averaged => "averaged-perceptron",
        }
    }

    /// Whether Novikoff's bound on the updates applies: one row or a mean at a time, all steps alike, from θ = 0.
    pub(super) fn is_bounded(&self) -> bool {
        self.variant != PerceptronVariant::BatchSum && self.steps.is_constant() && !self.started
    }

    /// Whether the variant can start elsewhere than at zero.
    pub(super) fn takes_start(&self) -> bool {
        self.wants_separation()
    }

    pub(super) fn fit(&self, training: &Training<'_>, start: Option<&Linear>, watch: &Watch) -> Result<Fit> {
        self.check(training)?;
        let plain = self.is_bounded() && start.is_none();
        let summary = summarise(training.design, training.weights, watch)?;
        let constant = summary.constant();
        let units = self.units(&summary.units(self.standardize));
        let working = self.working(&units, &constant);
        let intercept = self.intercept == Intercept::Free;
        let mut tile = Tile::default();
        let rows;
        let mut algorithm: Box<dyn MistakeDriven + '_> = if !plain {
            let rule = self.stepped(training, start, &working, watch)?;
            rows = SignedRows::new(training.rows(), &working, intercept, &mut tile, watch)?;
            Box::new(SteppedPerceptron::new(&rows, rule))
        } else if self.variant == PerceptronVariant::Batch {
            Box::new(BatchPerceptron::new(training.rows(), &working, intercept))
        } else {
            rows = SignedRows::new(training.rows(), &working, intercept, &mut tile, watch)?;
            match self.variant {
                PerceptronVariant::PocketRun => {
                    Box::new(PocketPerceptron::new(&rows, PocketRule::Run, self.seed).in_order(self.order))
                }
                PerceptronVariant::PocketErrors => {
                    Box::new(PocketPerceptron::new(&rows, PocketRule::Errors, self.seed).in_order(self.order))
                }
                PerceptronVariant::Averaged => Box::new(OnlinePerceptron::new(&rows, self.order, self.seed).averaged()),
                _ => Box::new(OnlinePerceptron::new(&rows, self.order, self.seed)),
            }
        };
        let judge = |watch: &Watch| match self.is_worth_asking(training) {
            true => separability(training, &units, self.intercept, watch),
            false => Ok(OverlapVerdict::Unknown { reason: "that would take longer than the fit".into() }),
        };
        let (stop, verdict) = match self.run(algorithm.as_mut(), &judge, watch)? {
            (_, Some(OverlapVerdict::Overlap { rows, witness })) if self.wants_separation() => {
                let (mistakes, epochs) = (algorithm.mistakes(), algorithm.epochs());
                return Ok(NotSeparable { rows, witness, mistakes, epochs, margin_at_most: None }.into());
            }
            other => other,
        };
        // Of runs that η only scales it is left out until here.
        let scale = if plain { self.step } else { 1.0 };
        let linear = self.to_columns(&algorithm.coef(), scale, &units, &working)?;
        let found = self.measure(training, &linear, &working, &Watch::default())?;
        let mut notes = Vec::new();
        // Unless columns are centred, a nonzero constant one acts as an intercept and keeps its weight.
        let idle = |j: &usize| self.is_centred() || summary.max[*j] == 0.0;
        let columns: Vec<usize> = constant.into_iter().filter(idle).collect();
        if !columns.is_empty() {
            notes.push(Note::Constant { columns });
        }
        match &verdict {
            Some(verdict) if found.bound().is_none() => {
                notes.push(Note::Separability { verdict: self.described(verdict, training, &working)? });
            }
            None if found.errors > 0.0 && stop == Stop::Converged && self.variant == PerceptronVariant::Averaged => {
                notes.push(Note::Separability { verdict: Separability::Passed });
            }
            _ => {}
        }
        let mut certificate = self.bounded(found.certificate(), training, &working, watch)?;
        if let Certificate::Separates { mistakes, .. } = &mut certificate {
            *mistakes = plain.then(|| algorithm.mistakes());
        }
        Ok(Fit::Model(Box::new(Fitted {
            multipliers: None,
            discriminant: Discriminant::Linear(linear),
            units,
            objective: Objective { formula: self.formula(), value: found.errors / found.total, lambda: None },
            certificate,
            outcome: self.outcome(&stop, &found, verdict.as_ref()),
            notes,
            computation: Computation {
                reason: None,
                solver: self.algorithm(),
                iterations: algorithm.mistakes(),
                passes: algorithm.epochs(),
            },
            density: None,
        })))
    }

    /// The rule of a run with its own start or steps.
    fn stepped(
        &self,
        training: &Training<'_>,
        start: Option<&Linear>,
        working: &Units,
        watch: &Watch,
    ) -> Result<SteppedRule> {
        let best = match self.steps {
            PerceptronSteps::Best => match self.widest_plane(training, working, watch)? {
                Some(best) => Some(best),
                None => {
                    return Err(Error::usage("the steps by the widest plane need one, and none was found")
                        .help("it is looked for where the classes are separable and the table is not too large")
                        .help(words!["choose other steps: ", Setting::Step.is("1")]));
                }
            },
            _ => None,
        };
        Ok(SteppedRule {
            by: match self.variant {
                PerceptronVariant::Batch => PerceptronMove::Mean,
                PerceptronVariant::BatchSum => PerceptronMove::Sum,
                _ => PerceptronMove::Row,
            },
            step: self.step,
            steps: self.steps.clone(),
            start: start.map(|start| self.in_units(start, working)).transpose()?,
            best,
            order: self.order,
            seed: self.seed,
        })
    }

    /// Runs to the end, testing separability on the way (or, where the verdict changes nothing, at the end).
    fn run(
        &self,
        algorithm: &mut (dyn MistakeDriven + '_),
        judge: &dyn Fn(&Watch) -> Result<OverlapVerdict>,
        watch: &Watch,
    ) -> Result<(Stop, Option<OverlapVerdict>)> {
        if !self.wants_separation() {
            let stop = algorithm.run(self.max_epochs, watch)?;
            let verdict = if stop == Stop::IterationLimit { Some(judge(watch)?) } else { None };
            return Ok((stop, verdict));
        }
        let stop = algorithm.run(self.max_epochs.min(DOUBT), watch)?;
        if stop != Stop::IterationLimit {
            return Ok((stop, None));
        }
        let verdict = judge(watch)?;
        match verdict {
            OverlapVerdict::Overlap { .. } => Ok((stop, Some(verdict))),
            _ => Ok((algorithm.run(self.max_epochs, watch)?, Some(verdict))),
        }
    }

    /// Where the verdict would only be a note, the test must be cheap.
    fn is_worth_asking(&self, training: &Training<'_>) -> bool {
        let shape = training.design.shape();
        self.wants_separation() || shape.rows as f64 * (shape.cols as f64 + 1.0).powi(2) <= CHEAP
    }

    /// Whether the method is to find a separating plane, or else is to give no model.
    fn wants_separation(&self) -> bool {
        matches!(self.variant, PerceptronVariant::Online | PerceptronVariant::Batch | PerceptronVariant::BatchSum)
    }

    fn outcome(&self, stop: &Stop, found: &Margins, verdict: Option<&OverlapVerdict>) -> Outcome {
        match stop {
            // Converged by the algorithm's own arithmetic, but rounding leaves the side of some row uncertain.
            Stop::Converged if self.variant != PerceptronVariant::Averaged && found.bound().is_none() => {
                Outcome::PrecisionLimit
            }
            Stop::IterationLimit if found.bound().is_some() => Outcome::Converged,
            // On overlapping classes the algorithm never stops by itself: the number of epochs is part of the method.
            Stop::IterationLimit if !self.wants_separation() => match verdict {
                Some(OverlapVerdict::Separable { .. }) => Outcome::IterationLimit,
                _ => Outcome::Converged,
            },
            Stop::Separated(_) | Stop::PrecisionLimit => Outcome::Converged,
            stop => Outcome::from(stop),
        }
    }

    /// The margin, or the count of errors, recomputed from the data.
    pub(super) fn certify(
        &self,
        training: &Training<'_>,
        discriminant: &Discriminant,
        units: &Units,
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        self.check(training)?;
        let linear = discriminant.as_linear().ok_or_else(|| Error::model("a perceptron model must be linear"))?;
        if linear.n_scores() != 1 || linear.n_cols() != training.design.shape().cols {
            return Err(Error::model("the model does not have the classes and columns of the data"));
        }
        let constant = summarise(training.design, training.weights, watch)?.constant();
        let working = self.working(units, &constant);
        let found = self.measure(training, linear, &working, watch)?;
        let certificate = self.bounded(found.certificate(), training, &working, watch)?;
        Ok((found.errors / found.total, certificate))
    }

    fn measure(&self, training: &Training<'_>, linear: &Linear, working: &Units, watch: &Watch) -> Result<Margins> {
        let theta = self.in_units(linear, working)?;
        margins(training.rows(), working, &theta, self.intercept == Intercept::Free, watch)
    }

    fn check(&self, training: &Training<'_>) -> Result<()> {
        let classes = training.labels.n_classes();
        if classes != 2 {
            return Err(Error::data(format!("the target has {classes} classes; the perceptron separates two"))
                .help(words!["choose ", Setting::Multiclass.is("one-vs-one")])
                .help(words!["choose ", Setting::Model.any(["logistic", "lda"])]));
        }
        if training.offsets.is_some() {
            return Err(Error::usage("the perceptron has no offsets")
                .help(words!["offsets belong to ", Setting::Model.is("logistic")]));
        }
        if !(self.step > 0.0 && self.step.is_finite()) {
            return Err(Error::usage(format!("the step {} is not positive", self.step))
                .help(words!["for example ", Setting::Step.is("1")]));
        }
        if !self.steps.is_constant() && !self.wants_separation() {
            return Err(Error::usage("steps that change belong to the plain perceptron").help(words![
                "choose ",
                Setting::Model.is("perceptron"),
                " or one step"
            ]));
        }
        if let PerceptronSteps::Listed(steps) = &self.steps
            && (steps.is_empty() || !steps.iter().all(|s| *s > 0.0 && s.is_finite()))
        {
            return Err(Error::usage("a list of steps has positive numbers"));
        }
        if self.max_epochs == 0 {
            return Err(Error::usage("0 epochs leave θ where it starts, at zero").help("allow at least one"));
        }
        if self.intercept == Intercept::Penalised {
            return Err(Error::usage("the perceptron has no penalty, so its intercept cannot be penalised")
                .help(words!["use ", Setting::Intercept.any(["free", "none"])]));
        }
        Ok(())
    }

    /// Columns as they are unless standardised: centring alone would change which rows are mistakes. Without an intercept
    /// planes pass through the origin.
    fn units(&self, learned: &Units) -> Units {
        match self.standardize {
            Standardize::Yes if self.is_centred() => learned.clone(),
            Standardize::Yes => learned.about_zero(),
            Standardize::No => Units::identity(learned.scale().len()),
        }
    }

    fn is_centred(&self) -> bool {
        self.standardize == Standardize::Yes && self.intercept != Intercept::None
    }

    /// The units with constant columns flattened to zero, exactly so in sparse rows too.
    fn working(&self, units: &Units, constant: &[usize]) -> Units {
        let mut scale = units.scale().to_vec();
        if self.is_centred() {
            constant.iter().for_each(|j| scale[*j] = f64::INFINITY);
        }
        Units::new(units.centre().to_vec(), scale)
    }

    /// Coefficients of the fit's units, times a step, to a discriminant of the columns.
    fn to_columns(&self, coef: &Coef, step: f64, units: &Units, working: &Units) -> Result<Linear> {
        let scaled = coef.weights().iter().zip(working.inverse_scale());
        let weights = scaled.map(|(w, s)| step * w * s).collect();
        Linear::new(weights, units.centre().to_vec(), vec![step * coef.intercept()[0]])
    }

    /// θ in the units of the fit.
    fn in_units(&self, linear: &Linear, working: &Units) -> Result<Coef> {
        let mut theta = Coef::zeros(1, linear.n_cols());
        let weights = linear.weights_of(0);
        for (j, w) in theta.weights_mut().iter_mut().enumerate() {
            let inverse = working.inverse_scale()[j];
            *w = if inverse > 0.0 { weights[j] * working.scale()[j] } else { 0.0 };
        }
        let centres = working.centre().iter().zip(linear.centre());
        let moved = crate::numeric::sum(weights.iter().zip(centres).map(|(w, (to, from))| w * (to - from)));
        let intercept = linear.intercept_at_centre()[0] + moved;
        if self.intercept == Intercept::None && intercept != 0.0 {
            return Err(Error::model("the model states that it has no intercept, but it has one"));
        }
        theta.intercept_mut()[0] = intercept;
        Ok(theta)
    }

    /// A verdict with the bound on the mistakes that the margin of its plane gives.
    fn described(&self, verdict: &OverlapVerdict, training: &Training<'_>, working: &Units) -> Result<Separability> {
        Ok(match verdict {
            OverlapVerdict::Overlap { rows, .. } => Separability::Overlap { rows: rows.len() },
            OverlapVerdict::Unknown { reason } => Separability::Unknown { reason: reason.clone() },
            OverlapVerdict::Separable { plane: None } => Separability::Separable { bound: None },
            OverlapVerdict::Separable { plane: Some(plane) } => {
                let intercept = self.intercept == Intercept::Free;
                let found = margins(training.rows(), working, plane, intercept, &Watch::default())?;
                Separability::Separable { bound: found.bound() }
            }
        })
    }
}

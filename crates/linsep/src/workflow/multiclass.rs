//! Several classes: which two-class fits are made of them, and how those decide.

use super::fit::FitOptions;
use crate::artifact::{ModelPart, SupportVectors};
use crate::decide::{Decision, Rule, Scheme, Ties, Vote, check_priors};
use crate::design::Training;
use crate::discriminant::Linear;
use crate::error::{Error, Result};
use crate::model::{Fit, FittedPart, LossChoice, Method, RefusedPart, Split, SplitFit};
use crate::watch::Watch;
use crate::words::{Setting, words};

/// How more than two classes are fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approach {
    /// All at once, as the method does it itself.
    Joint,
    /// A fit for every pair of classes, which vote.
    OneVsOne,
    /// A fit for every class against the rest; the class that is positive, if it is the only one.
    OneVsRest,
    /// The same fits; the class with the largest score.
    LinearMachine,
}

/// What a user may ask about more than two classes; what is left out is the method's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Multiclass {
    /// How they are fitted.
    pub approach: Option<Approach>,
    /// How pairs decide.
    pub vote: Option<Vote>,
    /// What becomes of contradictions.
    pub ties: Option<Ties>,
}

impl Approach {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Approach::Joint => "joint",
            Approach::OneVsOne => "one-vs-one",
            Approach::OneVsRest => "one-vs-rest",
            Approach::LinearMachine => "linear-machine",
        }
    }

    /// What a method does unless told otherwise: all at once where it can. Support vector machines are a linear machine
    /// of fits against the rest, as in LIBLINEAR; perceptrons and hard margins, which ask for separable classes, take
    /// pairs, and so do kernels, as in LIBSVM: fits of fewer rows.
    pub fn default_of(method: &Method) -> Approach {
        match method {
            Method::Risk(m) if matches!(m.loss, LossChoice::Hinge | LossChoice::SquaredHinge) => {
                Approach::LinearMachine
            }
            Method::Perceptron(_) | Method::HardMargin(_) | Method::KernelSvm(_) | Method::KernelPerceptron(_) => {
                Approach::OneVsOne
            }
            Method::Sigmoid(_) => Approach::LinearMachine,
            _ => Approach::Joint,
        }
    }
}

impl Multiclass {
    /// How so many classes are fitted by a method and decided; `None` for the method itself.
    ///
    /// # Errors
    /// Votes and ties of two classes, votes without pairs, ties where nothing can contradict.
    pub fn scheme(&self, method: &Method, n_classes: usize) -> Result<Option<Scheme>> {
        if n_classes <= 2 {
            return match self.of_votes() {
                None => Ok(None),
                Some(setting) => Err(Error::usage(words![setting, " is for more than two classes, and there are two"])
                    .help("leave it out: the sign of the one score decides")),
            };
        }
        let approach = self.approach.unwrap_or(Approach::default_of(method));
        if let Some(setting) = self.foreign_setting(approach) {
            let fitting: &[&str] = match setting {
                Setting::Vote => &["one-vs-one"],
                _ => &["one-vs-one", "one-vs-rest", "linear-machine"],
            };
            return Err(Error::usage(words![setting, format!(" does not belong to {} fits", approach.name())])
                .help(words!["choose ", Setting::Multiclass.any(fitting)])
                .help("leave it out"));
        }
        let (vote, ties) = (self.vote.unwrap_or_default(), self.ties.unwrap_or_default());
        // Equal scores are so rare that the first class is as good; contradictions are not.
        let equal = self.ties.unwrap_or(Ties::First);
        let scheme = match approach {
            Approach::Joint => return Ok(None),
            Approach::OneVsOne if vote == Vote::Scores => Scheme::OneVsOne { vote, ties: equal },
            Approach::OneVsOne => Scheme::OneVsOne { vote, ties },
            Approach::OneVsRest => Scheme::OneVsRest { ties },
            Approach::LinearMachine => Scheme::LinearMachine { ties: equal },
        };
        scheme.check(n_classes)?;
        Ok(Some(scheme))
    }

    /// The setting that asks for another way to decide than the method's own.
    fn of_votes(&self) -> Option<Setting> {
        match (self.vote, self.ties) {
            (Some(_), _) => Some(Setting::Vote),
            (None, Some(_)) => Some(Setting::Ties),
            (None, None) => None,
        }
    }

    fn foreign_setting(&self, approach: Approach) -> Option<Setting> {
        match approach {
            Approach::OneVsOne => None,
            _ if self.vote.is_some() => Some(Setting::Vote),
            Approach::Joint if self.ties.is_some() => Some(Setting::Ties),
            _ => None,
        }
    }
}

/// What is fitted and how it decides.
pub(super) struct Plan {
    pub(super) decision: Decision,
    pub(super) split: Option<Split>,
    /// Whether the scores have probabilities.
    pub(super) sure: bool,
}

impl Plan {
    /// The plan for a table, or why it cannot be, before any work is done.
    pub(super) fn of(options: &FitOptions, classes: &[String]) -> Result<Plan> {
        let scheme = options.multiclass.scheme(&options.method, classes.len())?;
        let split = scheme.map(|scheme| match scheme {
            Scheme::OneVsOne { .. } => Split::Pairs,
            _ => Split::Rest,
        });
        let coupled = split.is_some() && options.calibration.is_some();
        if coupled && let Some(setting) = options.multiclass.of_votes() {
            return Err(Error::usage(words![
                setting,
                " is about scores, and once calibrated the probabilities decide"
            ])
            .help("leave it out: the most probable class is predicted"));
        }
        if split.is_none() {
            options.calibration.map_or(Ok(()), |c| c.kind.check(classes.len()))?;
        }
        let sure = options.calibration.is_some() || (split.is_none() && options.method.has_probabilities());
        options.decision.check(classes.len(), sure)?;
        if let Some(priors) = &options.true_priors {
            if !sure {
                let method = Setting::Model.is(options.method.name());
                return Err(Error::usage(words!["true priors correct probabilities, and ", method, " has none"])
                    .help(words!["add ", Setting::Calibrate.is("platt")])
                    .help(words!["leave ", Setting::TruePriors, " out"]));
            }
            check_priors(priors, classes)?;
        }
        let decision = match scheme {
            Some(scheme) if !coupled => Decision::from(Rule::Scheme(scheme)),
            _ => options.decision.clone(),
        };
        Ok(Plan { decision, split, sure })
    }

    pub(super) fn fit(
        &self,
        method: &Method,
        training: &Training<'_>,
        start: Option<&Linear>,
        watch: &Watch,
    ) -> Result<Fit<SplitFit, RefusedPart>> {
        let Some(split) = self.split else {
            let used = training.labels.len();
            let fit = method.fit_from(training, start, watch)?.map(|whole| SplitFit { whole, parts: Vec::new() });
            return Ok(fit.map_refusal(|refusal| RefusedPart { part: None, used, refusal }));
        };
        if start.is_some() {
            return Err(Error::usage("a start is for all classes together, not for two-class fits")
                .help("leave it out, or fit all classes at once where the method can"));
        }
        split.fit(method, training, watch)
    }
}

/// A part as the model file has it; `rows` holds the table row of each matrix row.
pub(super) fn model_part(part: FittedPart, classes: &[String], rows: &[usize]) -> ModelPart {
    let name = |class: crate::table::Class| classes[class.index()].clone();
    let of_part: Vec<usize> = match &part.rows {
        Some(own) => own.iter().map(|i| rows[*i]).collect(),
        None => rows.to_vec(),
    };
    ModelPart {
        against: part.part.against.map(name),
        class: name(part.part.class),
        units: part.units,
        objective: part.objective,
        certificate: part.certificate,
        outcome: part.outcome,
        notes: part.notes,
        computation: part.computation,
        support_vectors: part.multipliers.map(|m| SupportVectors::of(&m, &of_part)),
    }
}

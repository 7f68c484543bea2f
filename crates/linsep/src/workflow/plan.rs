//! Which fits are made of the classes, and how they decide.

use super::options::FitOptions;
use crate::artifact::{ModelPart, SupportVectors};
use crate::decide::{ConformalOptions, Decision, Rule, Scheme, check_priors};
use crate::design::Training;
use crate::discriminant::Linear;
use crate::error::{Error, Result};
use crate::model::{Fit, FittedPart, KernelChoice, Method, RefusedPart, Split, SplitFit};
use crate::watch::Watch;
use crate::words::{Setting, words};

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
        options.conformal.map_or(Ok(()), |c| check_conformal(&c, options))?;
        let decision = match scheme {
            Some(scheme) if !coupled => {
                let decision = Decision { tie: options.decision.tie, ..Decision::from(Rule::Scheme(scheme)) };
                decision.check(classes.len(), sure)?;
                decision
            }
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

/// Sets of classes that hold of all rows together need their shares of the classes.
fn check_conformal(conformal: &ConformalOptions, options: &FitOptions) -> Result<()> {
    conformal.check()?;
    let kernel = match &options.method {
        Method::KernelSvm(settings) => Some(&settings.kernel),
        Method::KernelPerceptron(settings) => Some(&settings.kernel),
        _ => None,
    };
    if kernel == Some(&KernelChoice::Precomputed) {
        return Err(Error::usage(
            "a precomputed kernel has a column for every row of the fit, so that none can be held back",
        )
        .help(words!["leave out ", Setting::Conformal]));
    }
    if options.true_priors.is_some() && !conformal.by_class {
        return Err(Error::usage(words![
            "sets that hold the class of so many of all rows are for rows with the shares of the classes in the table, and ",
            Setting::TruePriors,
            " says that the rows to come have others"
        ])
        .help(words!["choose ", Setting::ConformalBy.is("class"), ": within a class the shares do not matter"])
        .help(words!["leave ", Setting::TruePriors, " out"]));
    }
    Ok(())
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

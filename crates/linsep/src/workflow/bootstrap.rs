//! Coefficients of resampled rows: how far those of a penalised fit would move with other rows.

use super::assemble::KnownOfRows;
use super::fit::{TableFit, TableRefusal, fit_source};
use super::options::{FitOptions, recipe_options};
use super::plan::Plan;
use super::replicates::{Repeated, Repetition, SomeRows};
use super::rows::read_roles;
use super::source::Source;
use super::start::start_for;
use crate::artifact::Model;
use crate::design::{Missing, Standardize, Transform};
use crate::discriminant::Linear;
use crate::error::{Error, Result};
use crate::infer::{BootstrapLine, ReweightedRidge, RidgeFit, RowWeights, check_replicates};
use crate::model::{Fit, Fitted, LossChoice, Method, Outcome, PenaltyChoice};
use crate::objective::Intercept;
use crate::options::options;
use crate::resample::{LeaveOut, bootstrap_counts};
use crate::table::{Kind, Table};
use crate::watch::Watch;
use crate::words::{Setting, Words, words};
use rayon::prelude::*;

options! {
/// What to repeat.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BootstrapOptions {
    /// How often rows are drawn again.
    pub replicates: usize,
    /// The level of the intervals.
    pub level: f64,
}
}

impl Default for BootstrapOptions {
    /// 999 replicates, so that the ends of the usual levels are whole order statistics; 95 %.
    fn default() -> BootstrapOptions {
        BootstrapOptions { replicates: 999, level: 0.95 }
    }
}

/// What was found of one coefficient.
#[derive(Debug, Clone, PartialEq)]
pub struct BootstrapCoefficient {
    /// The score that it belongs to, by name; `None` where there is one.
    pub score: Option<String>,
    /// The column, `(intercept)` for the intercept.
    pub name: String,
    /// Intervals; `None` of a penalty that selects columns.
    pub line: Option<BootstrapLine>,
    /// The coefficient by all rows.
    pub estimate: f64,
    /// Of a penalty that selects columns: share of the replicates in which it is not zero.
    pub selected: Option<f64>,
    /// The same with the sign of the estimate.
    pub same_sign: Option<f64>,
}

/// Coefficients over replicates.
#[derive(Debug, Clone, PartialEq)]
pub struct TableBootstrap {
    /// The fit to all rows.
    pub model: Box<Model>,
    /// Replicates that count.
    pub replicates: usize,
    /// The level.
    pub level: f64,
    /// The coefficients, score by score.
    pub coefficients: Vec<BootstrapCoefficient>,
    /// Replicates without an optimum, which count as −∞ and +∞.
    pub separated: usize,
    /// Replicates that lacked a class, left out.
    pub without_class: usize,
    /// Replicates that did not reach their tolerance, which count.
    pub unconverged: usize,
    /// Groups of rows that the jackknife of BCa left out; of few rows with frequencies the copies, one after the other.
    pub groups: usize,
    /// The seed.
    pub seed: u64,
}

/// A bootstrap, or the proof that the rows themselves have no model.
pub type BootstrapFit = Fit<Box<TableBootstrap>, TableRefusal>;

/// Resamples the rows of a table, fits each time, and makes intervals of the coefficients.
///
/// Rows are drawn with replacement, as many as there are; units are learned each time, the coding of text columns is that of all
/// rows. The same bits come out for any number of threads.
///
/// # Errors
/// Methods whose coefficients a bootstrap does not describe, with the reason; too few replicates for the level; a fit that fails.
pub fn bootstrap_table(
    table: Table,
    options: &FitOptions,
    asked: &BootstrapOptions,
    watch: &Watch,
) -> Result<BootstrapFit> {
    check_replicates(asked.replicates, asked.level)?;
    check_method(&options.method)?;
    check_recipe(options)?;
    let roles = read_roles(&table, options)?;
    let plan = Plan::of(options, &roles.names)?;
    let known = KnownOfRows {
        fingerprint: format!("{:016x}", table.fingerprint()),
        target_is_text: table.columns()[table.column(&options.target)?].kind != Kind::Number,
        reading: table.reading().clone(),
        cross_validation: None,
        calibration: None,
        accuracy: true,
    };
    let source = Source::of_table(table, &roles, &recipe_options(options))?;
    check_weights(&source)?;
    let model = match fit_source(&source, options, &plan, known, watch)? {
        TableFit::Model(model) => model,
        TableFit::Refused(refusal) => return Ok(Fit::Refused(refusal)),
    };
    let Some(linear) = model.discriminant.as_linear() else {
        return Err(Error::usage(words![Setting::Model.is(options.method.name()), " has no coefficients of columns"]));
    };
    let method = options.method.aligned(&source.recipe, source.labels.names())?;
    let start = match warm(&options.method, &plan) {
        true => Some(start_for(&model, &options.method, &source.recipe, source.labels.names())?),
        false => None,
    };
    let repetition = Repetition { source: &source, options, plan: &plan, method, watch };
    let quick = quick_fits(&repetition, linear)?;
    let run = BootstrapRun { repetition, start, quick };
    let drawn = run.replicates(asked.replicates, options.seed)?;
    let selects = selects(&options.method);
    let (left_out, groups) = if selects { (Vec::new(), 0) } else { run.jackknife(options.seed, &flat(linear))? };
    let coefficients = lines(&model, linear, &drawn, &left_out, (asked.level, selects));
    Ok(Fit::Model(Box::new(TableBootstrap {
        replicates: drawn.coefficients.len() + drawn.separated,
        level: asked.level,
        coefficients,
        separated: drawn.separated,
        without_class: drawn.without_class,
        unconverged: drawn.unconverged,
        groups,
        seed: options.seed,
        model,
    })))
}

/// The fits to repeat.
struct BootstrapRun<'s> {
    repetition: Repetition<'s>,
    start: Option<Linear>,
    /// Where many fits can be made together: what makes them, and their penalty.
    quick: Option<(ReweightedRidge, PenaltyChoice)>,
}

/// A replicate's coefficients, made together with others, or its fit.
enum Replicate {
    Known(Vec<f64>),
    Fitted(Repeated),
}

/// What came of the replicates.
#[derive(Default)]
struct Drawn {
    /// Coefficients of each that has some.
    coefficients: Vec<Vec<f64>>,
    separated: usize,
    without_class: usize,
    unconverged: usize,
}

impl BootstrapRun<'_> {
    fn fit(&self, rows: &[usize], counts: Option<Vec<f64>>) -> Result<Repeated> {
        let source = self.repetition.source;
        let some = SomeRows::of(source, rows, &source.labels, counts)?;
        let fit = self.repetition.fit(&some, self.start.as_ref());
        // A fault of a resample need not be a fault of all rows.
        fit.map_err(|e| e.in_context("of rows drawn again, or of all rows but some"))
    }

    /// Coefficients by weights of all rows, of the fits that can be made together.
    fn together(&self, fits: usize, weights: impl Fn(usize) -> Vec<f64> + Sync) -> Vec<Option<Vec<f64>>> {
        let Some((ridge, penalty)) = &self.quick else { return vec![None; fits] };
        let of_fit = |number: usize| {
            let weights = weights(number);
            RowWeights { lambda: penalty.lambda(weights.iter().sum()), weights }
        };
        ridge.fits(fits, of_fit, self.repetition.watch)
    }

    fn replicates(&self, replicates: usize, seed: u64) -> Result<Drawn> {
        let source = self.repetition.source;
        let all = source.rows.len();
        let counts = |replicate: usize| -> Vec<f64> {
            let counts = bootstrap_counts(all, source.weights.as_deref(), seed, replicate as u64);
            counts.into_iter().map(f64::from).collect()
        };
        let one = |(replicate, known): (usize, Option<Vec<f64>>)| {
            if let Some(coefficients) = known {
                return Ok(Replicate::Known(coefficients));
            }
            let counts = counts(replicate);
            let rows: Vec<usize> = (0..all).filter(|i| counts[*i] > 0.0).collect();
            let weights = rows.iter().map(|i| counts[*i]).collect();
            self.fit(&rows, Some(weights)).map(Replicate::Fitted)
        };
        let known = self.together(replicates, counts);
        let found = known.into_par_iter().enumerate().map(one).collect::<Result<Vec<Replicate>>>()?;
        let mut drawn = Drawn::default();
        for one in found {
            match one {
                Replicate::Known(coefficients) => drawn.coefficients.push(coefficients),
                Replicate::Fitted(Repeated::Fitted(fitted)) => {
                    drawn.unconverged += usize::from(fitted.outcome != Outcome::Converged);
                    drawn.coefficients.push(coefficients_of(&fitted)?);
                }
                Replicate::Fitted(Repeated::Separated) => drawn.separated += 1,
                Replicate::Fitted(Repeated::WithoutClass | Repeated::Overlapping) => drawn.without_class += 1,
            }
        }
        if drawn.coefficients.is_empty() {
            return Err(Error::data("no replicate has a model: rows are too few, or nearly separated")
                .help(words!["use a penalty, for example ", Setting::Penalty.is("ridge")]));
        }
        Ok(drawn)
    }

    /// The coefficients without each row in turn, or without each of some random groups, and how many groups there are. A row of
    /// frequency k is k rows, which are left out one at a time.
    fn jackknife(&self, seed: u64, estimates: &[f64]) -> Result<(Vec<WithoutGroup>, usize)> {
        let source = self.repetition.source;
        let all = source.rows.len();
        let plan = LeaveOut::of(all, source.weights.as_deref(), seed);
        let weights = |group: usize| -> Vec<f64> {
            let mut left = source.weights.as_ref().map_or_else(|| vec![1.0; all], |w| w.to_vec());
            plan.groups[group].iter().for_each(|(row, copies)| left[*row] -= copies);
            left
        };
        let one = |(group, known): (usize, Option<Vec<f64>>)| {
            if known.is_some() {
                return Ok(known);
            }
            let left = weights(group);
            let rows: Vec<usize> = (0..all).filter(|i| left[*i] > 0.0).collect();
            let weights = source.weights.as_ref().map(|_| rows.iter().map(|i| left[*i]).collect());
            Ok(match self.fit(&rows, weights)? {
                Repeated::Fitted(fitted) => Some(coefficients_of(&fitted)?),
                _ => None,
            })
        };
        let known = self.together(plan.groups.len(), weights);
        let found = known.into_par_iter().enumerate().map(one).collect::<Result<Vec<Option<Vec<f64>>>>>()?;
        // One group without an estimate leaves the BCa correction unknown.
        let whole = found.into_iter().collect::<Option<Vec<Vec<f64>>>>();
        let without = |(mut coefficients, (times, taken)): (Vec<f64>, (f64, f64))| {
            if taken != 1.0 {
                coefficients.iter_mut().zip(estimates).for_each(|(c, e)| *c = e + (*c - e) / taken);
            }
            WithoutGroup { coefficients, times }
        };
        let all_groups = plan.times.iter().map(|(times, _)| times).sum::<f64>() as usize;
        let found = whole.unwrap_or_default().into_iter().zip(plan.times).map(without).collect();
        Ok((found, all_groups))
    }
}

/// Coefficients without a group of rows.
struct WithoutGroup {
    coefficients: Vec<f64>,
    /// How many groups have them.
    times: f64,
}

/// Weights and intercept of every score.
fn coefficients_of(fitted: &Fitted) -> Result<Vec<f64>> {
    match fitted.discriminant.as_linear() {
        Some(linear) => Ok(flat(linear)),
        None => Err(Error::usage("a replicate has no coefficients of columns")),
    }
}

fn flat(linear: &Linear) -> Vec<f64> {
    let intercept = linear.intercept();
    let score = |k: usize| linear.weights_of(k).iter().copied().chain([intercept[k]]).collect::<Vec<f64>>();
    (0..linear.n_scores()).flat_map(score).collect()
}

fn lines(
    model: &Model,
    linear: &Linear,
    drawn: &Drawn,
    left_out: &[WithoutGroup],
    (level, selects): (f64, bool),
) -> Vec<BootstrapCoefficient> {
    let features = model.recipe.features();
    let scores = model.score_names();
    let width = features.len() + 1;
    let estimates = flat(linear);
    let one = |(at, estimate): (usize, &f64)| {
        let (score, column) = (at / width, at % width);
        let values = || drawn.coefficients.iter().map(|c| c[at]);
        let share =
            |hit: &dyn Fn(f64) -> bool| values().filter(|v| hit(*v)).count() as f64 / drawn.coefficients.len() as f64;
        let of_column = selects && column < features.len();
        let jackknife: Vec<(f64, f64)> = left_out.iter().map(|g| (g.coefficients[at], g.times)).collect();
        BootstrapCoefficient {
            score: (linear.n_scores() > 1).then(|| scores[score].clone()),
            name: features.get(column).cloned().unwrap_or_else(|| "(intercept)".to_owned()),
            line: (!selects)
                .then(|| BootstrapLine::new(*estimate, values().collect(), drawn.separated, &jackknife, level)),
            estimate: *estimate,
            selected: of_column.then(|| share(&|v| v != 0.0)),
            same_sign: of_column.then(|| share(&|v| v * estimate > 0.0)),
        }
    };
    estimates.iter().enumerate().map(one).collect()
}

/// Whether fits can be warm-started from the coefficients of all rows.
fn warm(method: &Method, plan: &Plan) -> bool {
    let Method::Risk(risk) = method else { return false };
    plan.split.is_none() && risk.loss == LossChoice::Logistic && matches!(risk.algorithm, crate::model::Algorithm::Auto)
}

/// What makes many fits together: logistic ones of two classes with a ridge, a free intercept and nothing else.
fn quick_fits(repetition: &Repetition<'_>, linear: &Linear) -> Result<Option<(ReweightedRidge, PenaltyChoice)>> {
    let (source, Method::Risk(risk)) = (repetition.source, &repetition.method) else { return Ok(None) };
    let is_ridge =
        matches!(risk.penalty, PenaltyChoice::RidgeOne | PenaltyChoice::Ridge(_) | PenaltyChoice::RidgeCost(_));
    let plain = warm(&repetition.method, repetition.plan)
        && source.labels.n_classes() == 2
        && source.offsets.is_none()
        && repetition.options.class_weights.is_none()
        && risk.factors.is_empty()
        && risk.intercept == Intercept::Free;
    let total = source.weights.as_ref().map_or(source.rows.len() as f64, |w| w.iter().sum());
    let lambda = risk.penalty.lambda(total);
    if !(is_ridge && plain && lambda > 0.0 && lambda.is_finite()) {
        return Ok(None);
    }
    let fit = RidgeFit {
        weights: linear.weights_of(0),
        intercept: linear.intercept()[0],
        lambda,
        standardised: risk.standardize == Standardize::Yes,
    };
    let codes = source.labels.codes();
    let ridge = ReweightedRidge::new(source.design(), codes, source.weights.as_deref(), &fit, repetition.watch)?;
    Ok(ridge.map(|ridge| (ridge, risk.penalty)))
}

/// Whether the penalty sets coefficients to zero.
fn selects(method: &Method) -> bool {
    matches!(method, Method::Risk(risk) if matches!(risk.penalty, PenaltyChoice::ElasticNet { l1_ratio, .. } if l1_ratio > 0.0))
}

/// Why a bootstrap does not describe the coefficients of a method, where it does not.
fn check_method(method: &Method) -> Result<()> {
    let no = |why: Words| {
        Err(Error::usage(why).help(words!["choose ", Setting::Model.any(["logistic", "svm", "least-squares", "lda"])]))
    };
    let own = || Setting::Model.is(method.name());
    match method {
        Method::HardMargin(_) => no(words![
            "the plane of ",
            own(),
            " rests on few rows: drawn again, half of the replicates lack one of them, and their spread is not that of new rows"
        ]),
        Method::Perceptron(_) | Method::KernelPerceptron(_) => no(words![
            "the plane of ",
            own(),
            " depends on the order of the rows and minimises nothing: there is no target that its spread would be about"
        ]),
        Method::Link(m) if !m.link.is_convex() => no(words![
            own(),
            " has several local minima, and replicates may end in others: their spread is not that of an estimate"
        ]),
        Method::Sigmoid(_) => no(words![
            own(),
            " has several local minima, and replicates may end in others: their spread is not that of an estimate"
        ]),
        Method::Given(_) => no(words!["a given rule does not depend on rows"]),
        Method::KernelSvm(_) => no(words!["a kernel machine has no coefficients of columns"]),
        _ => Ok(()),
    }
}

/// What is learned from the columns must not depend on the resample, or must be learned each time.
fn check_recipe(options: &FitOptions) -> Result<()> {
    if options.recipe.transform != Transform::None {
        return Err(Error::usage(words![
            Setting::Transform,
            " learns quantiles from all rows, which replicates would take for known"
        ])
        .help(words!["leave ", Setting::Transform, " out"]));
    }
    if options.recipe.missing.fills_in() {
        let policy = if options.recipe.missing == Missing::Mean { "mean" } else { "indicator" };
        return Err(Error::usage(words![
            Setting::Missing.is(policy),
            " learns values from all rows, which replicates would take for known"
        ])
        .help(words!["use ", Setting::Missing.is("drop")]));
    }
    Ok(())
}

fn check_weights(source: &Source<'_>) -> Result<()> {
    match source.weights.as_deref().is_some_and(|w| w.iter().any(|s| s.fract() != 0.0)) {
        true => {
            Err(Error::data("weights that are not whole numbers are not frequencies: there are no rows to draw from")
                .help("write a row of weight k as k rows, or leave the weights out"))
        }
        false => Ok(()),
    }
}

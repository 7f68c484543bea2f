//! Whether classes and columns are dependent: a permutation test, the same fit with permuted classes.

use super::options::{FitOptions, recipe_options};
use super::plan::Plan;
use super::replicates::{Repeated, Repetition, SomeRows};
use super::rows::read_roles;
use super::source::Source;
use crate::certify::Certificate;
use crate::error::{Error, Result};
use crate::model::Method;
use crate::resample::{permutation, stratified_folds};
use crate::table::{Class, Labels, Table};
use crate::watch::Watch;
use crate::words::{Setting, words};
use rayon::prelude::*;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermutationStatistic {
    /// Share of wrong predictions of rows held out in so many folds: small is good.
    HeldOutError {
        /// The folds.
        folds: usize,
    },
    /// The widest margin, zero where no plane separates: large is good.
    Margin,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct PermutationTest {
    /// What was compared.
    pub statistic: PermutationStatistic,
    /// The name of the method.
    pub method: String,
    /// Rows used.
    pub rows: usize,
    /// With the classes as they are.
    pub observed: f64,
    /// With permuted classes, in the order drawn.
    pub permuted: Vec<f64>,
    /// How many of these are as good or better.
    pub as_good: usize,
    /// `(1 + as good)/(1 + permutations)`.
    pub p: f64,
    /// The seed.
    pub seed: u64,
}

/// Tests that classes and columns are independent.
///
/// If they are, all permutations of the classes are equally likely given the rows, and so are all ranks of the observed
/// statistic: `P(p ≤ α) ≤ α` exactly, for any method and any number of rows (Phipson and Smyth 2010 on the added one). The
/// coding of the columns does not use the classes, so it is learned once, from all rows.
///
/// # Errors
/// Weighted rows, no permutations, folds that cannot be made, fits that fail.
pub fn permutation_test(
    table: Table,
    options: &FitOptions,
    (statistic, permutations): (PermutationStatistic, usize),
    watch: &Watch,
) -> Result<PermutationTest> {
    if permutations == 0 {
        return Err(Error::usage("no permutations were asked for").help("999 are usual"));
    }
    check_statistic(statistic, &options.method)?;
    let roles = read_roles(&table, options)?;
    let plan = Plan::of(options, &roles.names)?;
    let source = Source::of_table(table, &roles, &recipe_options(options))?;
    if source.weights.as_deref().is_some_and(|w| w.iter().any(|s| *s != 1.0)) {
        return Err(Error::data("rows with weights cannot change their classes with others")
            .help("write a row of weight k as k rows, or leave the weights out"));
    }
    let method = options.method.aligned(&source.recipe, source.labels.names())?;
    let repetition = Repetition { source: &source, options, plan: &plan, method, watch };
    let run = Permuted { repetition, statistic };
    let observed = run.value(&source.labels)?;
    let codes = source.labels.codes();
    let one = |replicate: usize| {
        let order = permutation(codes.len(), options.seed, replicate as u64);
        let dealt: Vec<Class> = order.iter().map(|at| codes[*at]).collect();
        run.value(&Labels::new(dealt, source.labels.names().to_vec()))
    };
    let permuted = (0..permutations).into_par_iter().map(one).collect::<Result<Vec<f64>>>()?;
    let is_as_good = |v: &&f64| match statistic {
        PermutationStatistic::HeldOutError { .. } => **v <= observed,
        PermutationStatistic::Margin => **v >= observed,
    };
    let as_good = permuted.iter().filter(is_as_good).count();
    Ok(PermutationTest {
        statistic,
        method: options.method.name().to_owned(),
        rows: source.rows.len(),
        observed,
        as_good,
        p: (1 + as_good) as f64 / (1 + permutations) as f64,
        permuted,
        seed: options.seed,
    })
}

struct Permuted<'s> {
    repetition: Repetition<'s>,
    statistic: PermutationStatistic,
}

impl Permuted<'_> {
    /// The statistic of some classes of the rows: a function of rows, classes and seed alone.
    fn value(&self, labels: &Labels) -> Result<f64> {
        match self.statistic {
            PermutationStatistic::HeldOutError { folds } => self.held_out_error(labels, folds),
            PermutationStatistic::Margin => self.margin(labels),
        }
    }

    fn held_out_error(&self, labels: &Labels, folds: usize) -> Result<f64> {
        let source = self.repetition.source;
        let classes: Vec<Option<Class>> = labels.codes().iter().map(|c| Some(*c)).collect();
        let assigned = stratified_folds(&classes, labels.names(), folds, self.repetition.options.seed)?;
        let mut wrong = 0;
        for fold in 0..folds {
            let (held, rest): (Vec<usize>, Vec<usize>) = (0..classes.len()).partition(|i| assigned[*i] == Some(fold));
            let learned = SomeRows::of(source, &rest, labels, None)?;
            let fitted = match self.repetition.fit(&learned, None)? {
                Repeated::Fitted(fitted) => fitted,
                Repeated::Separated => {
                    return Err(Error::data(
                        "without a fold the classes, as they are or dealt out anew, are separable: maximum likelihood does not \
                         exist",
                    )
                    .help(words!["use a penalty, for example ", Setting::Penalty.is("ridge")]));
                }
                Repeated::WithoutClass | Repeated::Overlapping => {
                    return Err(Error::data("without a fold there is no model").help("use fewer folds"));
                }
            };
            if held.is_empty() {
                continue;
            }
            let tested = SomeRows::of(source, &held, labels, None)?;
            let scores = tested.scores(&fitted, self.repetition.watch)?;
            let decided = self.repetition.plan.decision.classes(&scores, labels.n_classes())?;
            // A row without a class counts as wrong.
            wrong += decided.iter().zip(tested.labels().codes()).filter(|(d, truth)| **d != Some(**truth)).count();
        }
        Ok(wrong as f64 / classes.len() as f64)
    }

    fn margin(&self, labels: &Labels) -> Result<f64> {
        let all: Vec<usize> = (0..labels.len()).collect();
        let rows = SomeRows::of(self.repetition.source, &all, labels, None)?;
        Ok(match self.repetition.fit(&rows, None)? {
            Repeated::Fitted(fitted) => match fitted.certificate {
                Certificate::Margin { margin, .. } => margin,
                _ => 0.0,
            },
            _ => 0.0,
        })
    }
}

fn check_statistic(statistic: PermutationStatistic, method: &Method) -> Result<()> {
    let hard = matches!(method, Method::HardMargin(_));
    match statistic {
        PermutationStatistic::Margin if !hard => Err(Error::usage(words![
            "the margin is compared of ",
            Setting::Model.is("hard-margin"),
            ", and this is ",
            Setting::Model.is(method.name())
        ])),
        PermutationStatistic::HeldOutError { .. } if hard => Err(Error::usage(words![
            Setting::Model.is("hard-margin"),
            " has no plane for classes dealt out anew, which no plane separates: its margin is compared instead"
        ])),
        _ => Ok(()),
    }
}

//! Table to model.

use super::assemble::{KnownOfRows, Weighted, model_of};
use super::calibrate::cross_fit;
use super::conformal::{HeldBack, hold_back, sets_of_table};
use super::cross_validate::cross_validate;
use super::options::{FitOptions, recipe_options};
use super::plan::Plan;
use super::rows::{RowRoles, read_roles};
use super::scratch_rows::check_rows_stay;
use super::separable::TableSeparability;
use super::source::Source;
use super::start::{random_start, start_for};
use super::statistics::{check_keepable, statistics_of};
use crate::artifact::Model;
use crate::error::{Error, Result};
use crate::model::{Fit, Method, NoOptimum, NotSeparable, Refusal, RefusedPart, SplitFit};
use crate::table::{Kind, Table};
use crate::watch::Watch;

/// What fitting a table came to.
pub type TableFit = Fit<Box<Model>, TableRefusal>;

/// Why a table has no model, by the names of its columns and classes.
#[derive(Debug)]
#[non_exhaustive]
pub enum TableRefusal {
    /// The optimum does not exist.
    NoOptimum {
        /// The proof.
        proof: Box<NoOptimum>,
        /// Names of the matrix columns.
        features: Vec<String>,
        /// Names of the classes it is about.
        classes: Vec<String>,
        /// The two-class fit that has none, in words, where there are several.
        part: Option<String>,
    },
    /// No plane separates the classes.
    NotSeparable {
        /// The proof; its rows are rows of the table.
        proof: Box<NotSeparable>,
        /// Rows of the table that were used.
        used: usize,
        /// The two-class fit it is about, in words, where there are several.
        part: Option<String>,
        /// The verdict with its witness, of a method that asks for one.
        answer: Option<Box<TableSeparability>>,
    },
}

/// Fits a method to a table, which is consumed.
pub fn fit_table(table: Table, options: &FitOptions, watch: &Watch) -> Result<TableFit> {
    let roles = read_roles(&table, options)?;
    let plan = Plan::of(options, &roles.names)?;
    check_rows_stay(&options.method, &table)?;
    check_keepable(options, &plan)?;
    let (roles, held) = hold_back(roles, options.conformal.as_ref(), options.seed, &|row| table.place(row))?;
    let known = KnownOfRows {
        fingerprint: format!("{:016x}", table.fingerprint()),
        target_is_text: table.columns()[table.column(&options.target)?].kind != Kind::Number,
        reading: table.reading().clone(),
        cross_validation: options
            .folds
            .map(|folds| cross_validate(&table, &roles, options, &plan, folds, watch))
            .transpose()?,
        // Learned while the table exists; only the fit shows whether a failure here matters.
        calibration: options.calibration.as_ref().map(|c| cross_fit(&table, &roles, options, c, watch)),
        accuracy: true,
    };
    fit_rows_of(table, (&roles, held.as_ref()), options, (&plan, known), watch)
}

/// Fits a method to the rows of a table that are not held back, and learns sets of classes from those that are.
pub(super) fn fit_rows_of(
    table: Table,
    (roles, held): (&RowRoles, Option<&HeldBack>),
    options: &FitOptions,
    (plan, known): (&Plan, KnownOfRows),
    watch: &Watch,
) -> Result<TableFit> {
    let recipe = recipe_options(options);
    let (Some(held), Some(conformal)) = (held, options.conformal) else {
        return fit_source(&Source::of_table(table, roles, &recipe)?, options, plan, known, watch);
    };
    let source = Source::of_some_rows(&table, roles, |_| true, &recipe)?;
    let mut fit = fit_source(&source, options, plan, known, watch)?;
    if let TableFit::Model(model) = &mut fit {
        model.conformal = Some(sets_of_table(model, conformal, &table, held, watch)?);
    }
    Ok(fit)
}

/// Fits a method to rows, however they came about.
pub(super) fn fit_source(
    source: &Source<'_>,
    options: &FitOptions,
    plan: &Plan,
    known: KnownOfRows,
    watch: &Watch,
) -> Result<TableFit> {
    let classes = source.labels.names().to_vec();
    let plain = source.weights.as_deref();
    let class_weights = options.class_weights.as_ref().map(|c| c.for_rows(&source.labels, plain)).transpose()?;
    let factored = class_weights.as_ref().and_then(|factors| factors.weighted(&source.labels, plain));
    let weights = factored.as_deref().or(plain);
    let training = source.training(weights);
    let start = match (&options.init, options.random_start) {
        (Some(model), _) => Some(start_for(model, &options.method, &source.recipe, &classes)?),
        (None, Some(range)) => {
            let cols = training.design.shape().cols;
            Some(random_start(range, &options.method, (classes.len(), cols), options.seed)?)
        }
        (None, None) => None,
    };
    let mut method = options.method.aligned(&source.recipe, &classes)?;
    if let (Method::Perceptron(perceptron), Some(_)) = (&mut method, &start) {
        perceptron.started = true;
    }
    let fit = plan.fit(&method, &training, start.as_ref(), watch).map_err(|e| source.name(e))?;
    let SplitFit { whole: fitted, parts } = match fit {
        Fit::Model(fit) => fit,
        Fit::Refused(refused) => return Ok(Fit::Refused(named_refusal(refused, &options.target, source))),
    };
    if !fitted.objective.value.is_finite() {
        return Err(Error::data(
            "the objective is not a finite number: a column, or its weight, is too far from 1 in size",
        )
        .help("rescale the columns")
        .help("standardise them"));
    }
    let weighted = Weighted { classes: class_weights, total: training.total_weight() };
    let mut model = model_of(source, options, (method, plan), known, weighted, (*fitted, parts))?;
    if options.keep_statistics {
        model.statistics = Some(statistics_of(source, options)?);
    }
    Ok(TableFit::Model(Box::new(model)))
}

impl TableRefusal {
    /// The two-class fit it is about, in words, where there are several.
    pub fn part(&self) -> Option<&str> {
        match self {
            TableRefusal::NoOptimum { part, .. } | TableRefusal::NotSeparable { part, .. } => part.as_deref(),
        }
    }
}

/// A refusal in the terms of the rows it is about.
pub(super) fn named_refusal(refused: RefusedPart, target: &str, source: &Source<'_>) -> TableRefusal {
    let RefusedPart { part, used, mut refusal } = refused;
    refusal.rename_rows(&source.rows);
    let classes = source.labels.names();
    let words = part.map(|p| p.describe(classes));
    match refusal {
        Refusal::NoOptimum(proof) => TableRefusal::NoOptimum {
            proof,
            features: source.recipe.features(),
            classes: part.map_or(classes.to_vec(), |p| p.sides(classes).to_vec()),
            part: words,
        },
        Refusal::NotSeparable(mut proof) => {
            let verdict = proof.witness.take();
            let answer = verdict.map(|v| Box::new(TableSeparability::of(*v, (target, part), source, used)));
            TableRefusal::NotSeparable { proof, used, part: words, answer }
        }
    }
}

//! Table to model.

use super::assemble::{KnownOfRows, Weighted, model_of};
use super::calibrate::{CalibrationOptions, cross_fit};
use super::cross_validate::cross_validate;
use super::multiclass::{Multiclass, Plan};
use super::rows::RowRoles;
use super::separable::TableSeparability;
use super::source::Source;
use super::start::start_for;
use crate::artifact::Model;
use crate::decide::Decision;
use crate::design::Training;
use crate::design::{Origin, Prepared, Recipe, RecipeOptions};
use crate::error::{Error, Result};
use crate::model::{ClassWeights, Fit, Method, NoOptimum, NotSeparable, Refusal, RefusedPart, SplitFit};
use crate::table::{Class, Kind, Labels, Table};
use crate::watch::Watch;
use crate::words::{Setting, words};

/// A target with more distinct values is taken for a measurement.
const MANY_CLASSES: usize = 1000;
/// So is one with more values than this and fewer than [`ROWS_PER_CLASS`] rows for each. Chosen, not measured: a guard.
const SOME_CLASSES: usize = 50;
/// See [`SOME_CLASSES`].
const ROWS_PER_CLASS: usize = 4;

/// What to fit, on which columns.
#[derive(Debug, Clone)]
pub struct FitOptions {
    /// Name of the column to predict.
    pub target: String,
    /// The class to put last: of two, the one whose log-odds are reported.
    pub positive: Option<String>,
    /// Name of a column of frequencies.
    pub weights: Option<String>,
    /// Weights of whole classes, multiplied into those of their rows.
    pub class_weights: Option<ClassWeights>,
    /// Names of offset columns.
    pub offsets: Vec<String>,
    /// Columns, coding, missing values. The method chooses the coding.
    pub recipe: RecipeOptions,
    /// The method.
    pub method: Method,
    /// How scores become a class; in the order of the classes.
    pub decision: Decision,
    /// How more than two classes are fitted and decided.
    pub multiclass: Multiclass,
    /// Make log-odds of the scores by a map that is cross-fitted.
    pub calibration: Option<CalibrationOptions>,
    /// The shares of the classes where the model will be used, in the order of the classes, if they are not those it
    /// learns from.
    pub true_priors: Option<Vec<f64>>,
    /// A model at whose coefficients a risk minimiser starts.
    pub init: Option<Box<Model>>,
    /// Cross-validate with this many folds.
    pub folds: Option<usize>,
    /// Seed of everything random.
    pub seed: u64,
}

impl FitOptions {
    /// All other columns, nothing weighted, the largest score decides, no folds.
    pub fn new(target: impl Into<String>, method: Method) -> FitOptions {
        FitOptions {
            target: target.into(),
            positive: None,
            weights: None,
            class_weights: None,
            offsets: Vec::new(),
            recipe: RecipeOptions::default(),
            method,
            decision: Decision::default(),
            multiclass: Multiclass::default(),
            calibration: None,
            true_priors: None,
            init: None,
            folds: None,
            seed: 0,
        }
    }
}

/// What fitting a table came to.
pub type TableFit = Fit<Box<Model>, TableRefusal>;

/// Why a table has no model, by the names of its columns and classes.
#[derive(Debug)]
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

/// Fits a method to a table, which is used up on the way.
pub fn fit_table(table: Table, options: &FitOptions, watch: &Watch) -> Result<TableFit> {
    let roles = read_roles(&table, options)?;
    let plan = Plan::of(options, &roles.names)?;
    let known = KnownOfRows {
        fingerprint: format!("{:016x}", table.fingerprint()),
        target_is_text: table.columns()[table.column(&options.target)?].kind != Kind::Number,
        cross_validation: options
            .folds
            .map(|folds| cross_validate(&table, &roles, options, &plan, folds, watch))
            .transpose()?,
        // Learned while there is a table; whether it matters that it could not be is known after the fit.
        calibration: options.calibration.as_ref().map(|c| cross_fit(&table, &roles, options, c, watch)),
        accuracy: true,
    };
    let source = Source::of_table(table, &roles, &recipe_options(options))?;
    fit_source(&source, options, &plan, known, watch)
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
    let start = options.init.as_ref().map(|m| start_for(m, &options.method, &source.recipe, &classes)).transpose()?;
    let method = options.method.aligned(&source.recipe, &classes)?;
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
    let model = model_of(source, options, (method, plan), known, weighted, (*fitted, parts))?;
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

/// Labels, weights and offsets, with the positive class last.
pub(super) fn read_roles(table: &Table, options: &FitOptions) -> Result<RowRoles> {
    let mut roles = RowRoles::of(table, &options.target, options.weights.as_deref(), &options.offsets)?;
    if roles.names.len() < 2 {
        let message = match roles.names.first() {
            Some(name) => format!("the target `{}` has only one class, `{name}`", options.target),
            None => format!("the target `{}` is missing in every row", options.target),
        };
        return Err(Error::data(message).help("a classifier needs rows of at least two classes"));
    }
    check_class_count(table, &roles, &options.target)?;
    if let Some(positive) = &options.positive {
        let codes: Vec<Class> = roles.classes.iter().map(|c| c.unwrap_or(Class(0))).collect();
        let labels = Labels::new(codes, roles.names.clone()).with_last(positive)?;
        let present = roles.classes.iter().zip(labels.codes()).map(|(old, new)| old.map(|_| *new));
        (roles.classes, roles.names) = (present.collect(), labels.names().to_vec());
    }
    Ok(roles)
}

/// A measurement given as a target has about as many values as rows; say so before fitting thousands of classes.
fn check_class_count(table: &Table, roles: &RowRoles, target: &str) -> Result<()> {
    let labelled = roles.classes.iter().flatten().count();
    let classes = roles.names.len();
    if classes > MANY_CLASSES || (classes > SOME_CLASSES && classes * ROWS_PER_CLASS > labelled) {
        return Err(Error::data(format!("the target `{target}` has {classes} distinct values in {labelled} rows"))
            .at(table.place(0).column(target))
            .help("a target names classes; group its values, or choose another column"));
    }
    Ok(())
}

/// The user's choices with the roles taken out of the features and the coding that the method wants.
pub(super) fn recipe_options(options: &FitOptions) -> RecipeOptions {
    let mut recipe = options.recipe.clone();
    let roles = std::iter::once(&options.target).chain(&options.weights).chain(&options.offsets);
    recipe.exclude.extend(roles.cloned());
    recipe.coding = options.method.coding();
    recipe
}

/// Labels of the rows kept; a class that lost all its rows is named.
pub(super) fn labels_of(rows: &[usize], roles: &RowRoles, recipe: &Recipe) -> Result<Labels> {
    let labels = Labels::new(roles.codes(rows), roles.names.clone());
    let counts = labels.totals(None);
    if rows.is_empty() {
        return Err(Error::data("no row has all the cells that are needed")
            .help(words!["choose ", Setting::Missing.is("mean")])
            .help("drop the columns that miss cells"));
    }
    if let Some(k) = counts.iter().position(|c| *c == 0.0) {
        let of_class = |row: usize| roles.classes[row].is_some_and(|c| c.index() == k);
        if roles.weights.as_ref().is_some_and(|w| (0..w.len()).all(|row| !of_class(row) || w[row] == 0.0)) {
            return Err(Error::data(format!("class `{}` has no rows of positive weight", roles.names[k]))
                .help("give it rows")
                .help("leave the class out"));
        }
        let columns: Vec<&str> = recipe.columns.iter().map(|c| c.name.as_str()).take(8).collect();
        return Err(Error::data(format!(
            "class `{}` has no rows left: each misses a cell in one of the columns used",
            roles.names[k]
        ))
        .help(words!["choose ", Setting::Missing.is("mean")])
        .help(format!("drop columns (used: {})", columns.join(", "))));
    }
    Ok(labels)
}

pub(super) fn training<'a>(
    prepared: &'a Prepared,
    labels: &'a Labels,
    weights: Option<&'a [f64]>,
    offsets: Option<&'a (usize, Vec<f64>)>,
    origins: &'a [Origin],
) -> Training<'a> {
    let mut training = Training::new(prepared.design.as_design(), labels).with_origins(origins);
    training.weights = weights;
    match offsets {
        Some((columns, values)) => training.with_offsets(*columns, values),
        None => training,
    }
}

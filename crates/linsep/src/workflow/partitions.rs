//! Rows in several places to a model: what `linsep.dask` calls.

use super::options::FitOptions;
use super::places::with_array_names;
use super::plan::{Plan, model_part};
use super::start::start_for;
use crate::artifact::{Model, Provenance, TrainingSummary};
use crate::design::Recipe;
use crate::error::{Error, Result};
use crate::model::{Method, Part, RiskMinimizer, Split, SplitFit, of_part, parts_against_rest};
use crate::partitions::{AskParts, PartsOutline, outline_of};
use crate::table::{Class, Reading};
use crate::watch::Watch;

/// Rows that lie in several places, as far as they are known here.
pub struct PartitionedRows<'a> {
    /// Whoever reaches the places.
    pub parts: &'a dyn AskParts,
    /// Names of the columns; none for columns that are known by their number.
    pub names: Vec<String>,
    /// Number of columns.
    pub cols: usize,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Whether they are text; numbers otherwise.
    pub labels_are_text: bool,
    /// Rows of weight zero, which the places have left out.
    pub zero_weight: usize,
}

/// A model, and how often all places were asked for it.
pub struct PartitionedModel {
    /// The model.
    pub model: Model,
    /// Questions, each of which goes to all places and back.
    pub round_trips: usize,
}

/// Fits a risk minimiser to rows in several places; the certificate is computed by them, too.
///
/// # Errors
/// Where the method has to see single rows, or a place has an error of its own.
pub fn fit_partitions(rows: PartitionedRows<'_>, options: &FitOptions, watch: &Watch) -> Result<PartitionedModel> {
    let PartitionedRows { parts, names, cols, classes, labels_are_text, zero_weight } = rows;
    let Method::Risk(_) = &options.method else {
        return Err(Error::usage(format!("{} is not fitted by the gradients of its rows", options.method.name()))
            .help("naive Bayes, Gaussian classes and least squares are fitted by their sums"));
    };
    let plan = Plan::of(options, &classes)?;
    let recipe = match names.len() {
        0 => Recipe::unnamed(cols),
        n if n == cols => Recipe::numbers(names),
        n => return Err(Error::usage(format!("{n} names for {cols} columns"))),
    };
    let outline = outline_of(parts, classes.len())?;
    check(&outline, cols, &classes)?;
    let Method::Risk(method) = options.method.aligned(&recipe, &classes)? else {
        return Err(Error::usage("the method changed on its way to the rows"));
    };
    let start = options.init.as_ref().map(|model| start_for(model, &options.method, &recipe, &classes)).transpose()?;
    let (fit, round_trips) = match plan.split {
        None => {
            let (fitted, round_trips) = method
                .fit_partitions(parts, &outline, (start.as_ref(), None), watch)
                .map_err(|e| with_array_names(e, &recipe))?;
            (SplitFit { whole: Box::new(fitted), parts: Vec::new() }, round_trips)
        }
        Some(Split::Rest) => {
            against_rest(&method, parts, (&outline, &classes), watch).map_err(|e| with_array_names(e, &recipe))?
        }
        Some(Split::Pairs) => {
            return Err(Error::usage("pairs of classes are fitted where all rows are in one place")
                .help("fit each class against the rest"));
        }
    };
    // One more for the outline.
    Ok(PartitionedModel {
        model: model_of_parts((recipe, classes, labels_are_text), options, plan, (fit, outline, zero_weight)),
        round_trips: round_trips + 1,
    })
}

fn check(outline: &PartsOutline, cols: usize, classes: &[String]) -> Result<()> {
    let found = outline.summary.mean.len();
    if found != cols {
        return Err(Error::data(format!("partitions of {found} columns, where {cols} are named")));
    }
    match outline.totals.iter().position(|total| *total == 0.0) {
        Some(empty) => Err(Error::data(format!("class `{}` has no rows of positive weight", classes[empty]))
            .help("give it rows")
            .help("leave the class out")),
        None => Ok(()),
    }
}

/// Every class against the rest, one after the other.
fn against_rest(
    method: &RiskMinimizer,
    parts: &dyn AskParts,
    (outline, classes): (&PartsOutline, &[String]),
    watch: &Watch,
) -> Result<(SplitFit, usize)> {
    let mut found = Vec::with_capacity(classes.len());
    let mut all = 0;
    for k in 0..classes.len() {
        let class = Class(k as u32);
        let part = Part { against: None, class };
        let (fitted, round_trips) = method
            .fit_partitions(parts, outline, (None, Some(class)), watch)
            .map_err(|e| of_part(e, &part, classes))?;
        all += round_trips;
        found.push((part, fitted));
    }
    Ok((parts_against_rest(found)?, all))
}

fn model_of_parts(
    (recipe, classes, labels_are_text): (Recipe, Vec<String>, bool),
    options: &FitOptions,
    plan: Plan,
    (fit, outline, zero_weight): (SplitFit, PartsOutline, usize),
) -> Model {
    let SplitFit { whole: fitted, parts } = fit;
    let parts = parts.into_iter().map(|part| model_part(part, &classes, &[])).collect();
    Model {
        method: options.method.clone(),
        target: options.target.clone(),
        target_is_text: labels_are_text,
        weights: None,
        class_weights: None,
        offsets: Vec::new(),
        classes,
        label_types: Vec::new(),
        reading: Reading::default(),
        recipe,
        units: fitted.units,
        discriminant: fitted.discriminant,
        density: fitted.density,
        support_vectors: None,
        parts,
        calibration: None,
        true_priors: None,
        decision: plan.decision,
        conformal: None,
        objective: fitted.objective,
        certificate: fitted.certificate,
        outcome: fitted.outcome,
        notes: fitted.notes,
        computation: fitted.computation,
        training: TrainingSummary {
            rows: outline.rows + zero_weight,
            used: outline.rows,
            total_weight: outline.total_weight(),
            missing_target: 0,
            zero_weight,
            held_back: 0,
            missing: Vec::new(),
            filled: None,
            class_weights: outline.totals,
            accuracy: None,
            rejected: None,
            undetermined: None,
        },
        cross_validation: None,
        tuning: None,
        statistics: None,
        provenance: Provenance {
            version: env!("CARGO_PKG_VERSION").into(),
            certificates: Provenance::CERTIFICATES,
            fingerprint: String::new(),
            seed: options.seed,
            started: options.init.is_some(),
            updates: Vec::new(),
            partitions: outline.sizes,
        },
    }
}

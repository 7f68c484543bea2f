//! A whole fit without one fold, and the scores of the rows held out: recipe, units and method are learned anew.

use super::options::{FitOptions, recipe_options};
use super::plan::Plan;
use super::rows::RowRoles;
use super::source::Source;
use crate::design::{Recipe, UnknownLevel};
use crate::error::{Error, Result};
use crate::model::{Fit, Outcome, Part, Refusal, RefusedPart};
use crate::table::Table;
use crate::watch::Watch;
use crate::words::{Setting, words};

/// The rows of a fold as a fit without them sees them.
pub(super) struct HeldOutRows {
    /// Rows of the table.
    pub(super) rows: Vec<usize>,
    /// Their scores, offsets included.
    pub(super) scores: Vec<f64>,
    /// The priors of the classes in the fit, class weights included.
    pub(super) learned_priors: Vec<f64>,
    /// Whether the fit reached its tolerance.
    pub(super) converged: bool,
}

/// Fits without one fold and scores it.
pub(super) fn hold_out(
    table: &Table,
    roles: &RowRoles,
    (options, plan): (&FitOptions, &Plan),
    assigned: &[Option<usize>],
    fold: usize,
    watch: &Watch,
) -> Result<HeldOutRows> {
    let in_fold = |row: &Option<usize>| *row == Some(fold);
    let learn: Vec<bool> = assigned.iter().map(|f| f.is_some() && !in_fold(f)).collect();
    let test: Vec<bool> = assigned.iter().map(in_fold).collect();
    let source = Source::of_some_rows(table, roles, |row| learn[row], &recipe_options(options))
        .map_err(|e| in_fold_error(e, fold))?;
    let plain = source.weights.as_deref();
    let factored = match &options.class_weights {
        Some(class_weights) => class_weights.for_rows(&source.labels, plain)?.weighted(&source.labels, plain),
        None => None,
    };
    let weights = factored.as_deref().or(plain);
    let method = options.method.aligned(&source.recipe, &roles.names).map_err(|e| in_fold_error(e, fold))?;
    let named = |e: Error| in_fold_error(source.name(e), fold);
    let of = |part: Option<Part>| part.map_or(String::new(), |p| format!(" ({})", p.describe(&roles.names)));
    let fitted = match plan.fit(&method, &source.training(weights), None, watch).map_err(named)? {
        Fit::Model(fit) => fit.whole,
        Fit::Refused(RefusedPart { part, refusal: Refusal::NoOptimum(_), .. }) => {
            return Err(Error::data(format!(
                "without fold {} the classes are separable{}: maximum likelihood does not exist",
                fold + 1,
                of(part)
            ))
            .help(words!["use a penalty, for example ", Setting::Penalty.is("ridge:0.01")]));
        }
        Fit::Refused(RefusedPart { part, refusal: Refusal::NotSeparable(_), .. }) => {
            return Err(Error::data(words![
                format!("without fold {} the classes overlap{}: no plane separates them, which ", fold + 1, of(part)),
                Setting::Model.is(method.name()),
                " asks for",
            ])
            .help(words!["choose ", Setting::Model.any(["svm", "pocket", "averaged-perceptron", "logistic"])]));
        }
    };
    // A level that only held-out rows have is not an error here.
    let recipe = Recipe { unknown: UnknownLevel::Zero, ..source.recipe.clone() };
    let held_out = recipe.apply(table, &test)?;
    let mut scores = Vec::new();
    if !held_out.rows.is_empty() {
        scores = fitted.discriminant.scores(held_out.design.as_design(), watch)?;
        super::predict::add_offsets(&mut scores, roles.offsets_of(&held_out.rows).as_ref(), roles.names.len());
    }
    Ok(HeldOutRows {
        rows: held_out.rows,
        scores,
        learned_priors: method.learned_priors(&source.labels.totals(weights)),
        converged: fitted.outcome == Outcome::Converged,
    })
}

pub(super) fn in_fold_error(error: Error, fold: usize) -> Error {
    error.in_context(format!("without fold {}", fold + 1))
}

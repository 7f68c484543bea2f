//! A model and more rows to the model of all of them: by the sums that it kept, or from all rows, starting at the model.

use super::again::options_of;
use super::fit::{TableFit, fit_table};
use super::options::{FitOptions, recipe_options};
use super::rows::RowRoles;
use super::running::RunningFit;
use super::statistics::{RowsOfSums, model_of_sums};
use super::updated_rows::{UpdatedRows, natural};
use crate::artifact::Model;
use crate::design::fit_recipe;
use crate::error::{Error, Result};
use crate::model::{LossChoice, Method};
use crate::table::Table;
use crate::watch::Watch;
use crate::words::{Span, words};

/// Rows to be added to a model, or taken away from it.
#[derive(Clone, Copy)]
pub struct RowChange<'a> {
    /// The rows, with the columns of the model's table.
    pub table: &'a Table,
    /// Whether they are taken away: they must be rows that the model was fitted on.
    pub removed: bool,
}

/// Where the fit of all rows started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpdateRestart {
    /// At the model.
    Warm,
    /// Anew, because of this.
    Cold(String),
}

/// The model of the rows that a model was fitted on with rows added and taken away, of the sums that it kept: what the fit of
/// all those rows is, up to rounding.
///
/// # Errors
/// A model without sums, a table of other columns, rows that cannot be taken away, a class without rows.
pub fn update_statistics(model: &Model, changes: &[RowChange<'_>], watch: &Watch) -> Result<Model> {
    let mut state = UpdatedRows::of(model)?;
    for change in changes {
        state.change(change.table, change.removed, watch)?;
    }
    if state.classes.len() < 2 {
        let fact = match state.classes.first() {
            Some(class) => words!["only ", Span::Class(class.clone()), " has rows left"],
            None => words!["no rows are left"],
        };
        return Err(Error::data(fact).help("a classifier needs rows of at least two classes"));
    }
    let UpdatedRows { options, recipe, classes, statistics, training, fingerprint, updates, .. } = state;
    let running = RunningFit::of_kept(&options, recipe, classes, model.target_is_text, &statistics.sums)?;
    let rows = RowsOfSums { training, statistics: Some(statistics), fingerprint, updates };
    let updated = model_of_sums(&running, &options, rows, watch)?;
    // What labels are is known of the classes that the model had.
    let label_types = if updated.classes == model.classes { model.label_types.clone() } else { Vec::new() };
    Ok(Model { reading: model.reading.clone(), label_types, ..updated })
}

/// Fits all rows, those of the model included, as the model was fitted, and starts at it where it has the columns and classes
/// of all of them.
pub fn update_with_rows(model: &Model, table: Table, watch: &Watch) -> Result<(TableFit, UpdateRestart)> {
    let mut options = options_of(model);
    if natural(&model.classes) != model.classes {
        options.positive = model.classes.last().cloned();
    }
    let restart = restart_of(model, &table, &options)?;
    if restart == UpdateRestart::Warm {
        options.init = Some(Box::new(Model { tuning: None, ..model.clone() }));
    }
    let mut fit = fit_table(table, &options, watch)?;
    if let TableFit::Model(updated) = &mut fit
        && updated.classes == model.classes
    {
        updated.label_types.clone_from(&model.label_types);
    }
    Ok((fit, restart))
}

fn restart_of(model: &Model, table: &Table, options: &FitOptions) -> Result<UpdateRestart> {
    if !model.method.takes_start() {
        return Ok(UpdateRestart::Cold("the method has no starting point".into()));
    }
    // Solvers of multipliers start at those of rows, not at coefficients, and which solver it is the size of all rows decides.
    if let Method::Risk(risk) = &model.method
        && matches!(risk.loss, LossChoice::Hinge | LossChoice::SquaredHinge)
    {
        return Ok(UpdateRestart::Cold("support vectors are found anew".into()));
    }
    if !model.parts.is_empty() || model.discriminant.as_linear().is_none() {
        return Ok(UpdateRestart::Cold("the model has no single linear score to start at".into()));
    }
    let roles = RowRoles::of(table, &options.target, options.weights.as_deref(), &options.offsets)?;
    if let Some(class) = roles.names.iter().find(|name| !model.classes.contains(name)) {
        return Ok(UpdateRestart::Cold(format!("the class `{class}` is new")));
    }
    if let Some(class) = model.classes.iter().find(|name| !roles.names.contains(name)) {
        return Ok(UpdateRestart::Cold(format!("the class `{class}` has no rows")));
    }
    let learned = fit_recipe(table, &roles.frequencies(|_| true), &recipe_options(options))?;
    let (mut old, mut new) = (model.recipe.features(), learned.features());
    old.sort_unstable();
    new.sort_unstable();
    Ok(match old == new {
        true => UpdateRestart::Warm,
        false => UpdateRestart::Cold("a text column has other levels".into()),
    })
}

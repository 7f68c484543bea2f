//! A whole fit without one fold, and the scores of the rows held out: recipe, units and method are learned anew.

use super::options::{FitOptions, recipe_options};
use super::plan::Plan;
use super::rows::RowRoles;
use super::source::Source;
use crate::design::{Prepared, Recipe, Training, UnknownLevel, select};
use crate::discriminant::Discriminant;
use crate::error::{Error, Result};
use crate::model::{Fit, Method, Outcome, Refusal, RefusedPart};
use crate::table::Table;
use crate::watch::Watch;
use crate::words::{Setting, words};

/// Rows that a fit learns from, and rows that it is judged by.
#[derive(Clone)]
pub(super) struct Fold {
    /// For messages, from 0.
    pub(super) number: usize,
    /// For each row of the table, whether it is learned from.
    pub(super) learn: Vec<bool>,
    /// Whether it is held out.
    pub(super) test: Vec<bool>,
}

/// A fold with its rows prepared by what the others say: any number of methods can be fitted to them.
pub(super) struct OpenFold<'r> {
    number: usize,
    roles: &'r RowRoles,
    pub(super) source: Source<'static>,
    factored: Option<Vec<f64>>,
    held_out: Prepared,
}

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

impl Fold {
    /// The rows of one number are held out, those of another learned from; those of none are neither.
    pub(super) fn of(assigned: &[Option<usize>], number: usize) -> Fold {
        let test: Vec<bool> = assigned.iter().map(|row| *row == Some(number)).collect();
        let learn = assigned.iter().zip(&test).map(|(row, out)| row.is_some() && !out).collect();
        Fold { number, learn, test }
    }

    /// One row is held out.
    pub(super) fn without(row: usize, number: usize, roles: &RowRoles) -> Fold {
        let mut learn: Vec<bool> = roles.classes.iter().map(Option::is_some).collect();
        let mut test = vec![false; learn.len()];
        (learn[row], test[row]) = (false, true);
        Fold { number, learn, test }
    }

    /// Learns how columns become a matrix, and makes that of the rows to learn from and that of the rows held out.
    pub(super) fn open<'r>(&self, table: &Table, roles: &'r RowRoles, options: &FitOptions) -> Result<OpenFold<'r>> {
        let source = Source::of_some_rows(table, roles, |row| self.learn[row], &recipe_options(options))
            .map_err(|e| in_fold_error(e, self.number))?;
        let factored = with_class_weights(&source, options)?;
        // A level that only held-out rows have is not an error here.
        let recipe = Recipe { unknown: UnknownLevel::Zero, ..source.recipe.clone() };
        let held_out = recipe.apply(table, &self.test)?;
        Ok(OpenFold { number: self.number, roles, source, factored, held_out })
    }
}

impl OpenFold<'_> {
    /// The rows held out that have all their cells.
    pub(super) fn rows(&self) -> &[usize] {
        &self.held_out.rows
    }

    /// Weights of the rows to learn from, class weights included.
    fn weights(&self) -> Option<&[f64]> {
        self.factored.as_deref().or(self.source.weights.as_deref())
    }

    /// What a method sees of the rows to learn from.
    pub(super) fn training(&self) -> Training<'_> {
        self.source.training(self.weights())
    }

    /// A method with what it says by name in the order of this fold's columns and classes.
    pub(super) fn aligned(&self, method: &Method) -> Result<Method> {
        method.aligned(&self.source.recipe, &self.roles.names).map_err(|e| in_fold_error(e, self.number))
    }

    /// The priors of the classes that a method learns here.
    pub(super) fn learned_priors(&self, method: &Method) -> Vec<f64> {
        method.learned_priors(&self.source.labels.totals(self.weights()))
    }

    /// An error of a method, by the names of the table and the number of the fold.
    pub(super) fn name(&self, error: Error) -> Error {
        in_fold_error(self.source.name(error), self.number)
    }

    /// Scores of the rows held out, offsets included.
    pub(super) fn scores(&self, discriminant: &Discriminant, watch: &Watch) -> Result<Vec<f64>> {
        if self.held_out.rows.is_empty() {
            return Ok(Vec::new());
        }
        let mut scores = discriminant.scores(self.held_out.design.as_design(), watch)?;
        let offsets = self.roles.offsets_of(&self.held_out.rows);
        super::predict::add_offsets(&mut scores, offsets.as_ref(), self.roles.names.len());
        Ok(scores)
    }

    /// Scores of the rows held out by one of their columns alone.
    pub(super) fn scores_of_column(
        &self,
        discriminant: &Discriminant,
        column: usize,
        watch: &Watch,
    ) -> Result<Vec<f64>> {
        if self.held_out.rows.is_empty() {
            return Ok(Vec::new());
        }
        let design = select(self.held_out.design.as_design(), &[column], watch)?;
        let mut scores = discriminant.scores(design.as_design(), watch)?;
        let offsets = self.roles.offsets_of(&self.held_out.rows);
        super::predict::add_offsets(&mut scores, offsets.as_ref(), self.roles.names.len());
        Ok(scores)
    }

    /// Labels and weights of all rows.
    pub(super) fn roles(&self) -> &RowRoles {
        self.roles
    }

    /// Why a fit without the fold has no model.
    pub(super) fn refused(&self, refused: &RefusedPart, method: &Method) -> Error {
        let (number, names) = (self.number + 1, &self.roles.names);
        let of = refused.part.map_or(String::new(), |p| format!(" ({})", p.describe(names)));
        match refused.refusal {
            Refusal::NoOptimum(_) => Error::data(format!(
                "without fold {number} the classes are separable{of}: maximum likelihood does not exist"
            ))
            .help(words!["use a penalty, for example ", Setting::Penalty.is("ridge:0.01")]),
            Refusal::NotSeparable(_) => Error::data(words![
                format!("without fold {number} the classes overlap{of}: no plane separates them, which "),
                Setting::Model.is(method.name()),
                " asks for",
            ])
            .help(words!["choose ", Setting::Model.any(["svm", "pocket", "averaged-perceptron", "logistic"])]),
        }
    }
}

/// The weights of rows multiplied by those of their classes, where classes have some.
pub(super) fn with_class_weights(source: &Source<'_>, options: &FitOptions) -> Result<Option<Vec<f64>>> {
    let plain = source.weights.as_deref();
    let Some(class_weights) = &options.class_weights else { return Ok(None) };
    Ok(class_weights.for_rows(&source.labels, plain)?.weighted(&source.labels, plain))
}

/// Fits without one fold and scores it.
pub(super) fn hold_out(
    table: &Table,
    roles: &RowRoles,
    (options, plan): (&FitOptions, &Plan),
    fold: &Fold,
    watch: &Watch,
) -> Result<HeldOutRows> {
    let open = fold.open(table, roles, options)?;
    let method = open.aligned(&options.method)?;
    let fitted = match plan.fit(&method, &open.training(), None, watch).map_err(|e| open.name(e))? {
        Fit::Model(fit) => fit.whole,
        Fit::Refused(refused) => return Err(open.refused(&refused, &method)),
    };
    Ok(HeldOutRows {
        scores: open.scores(&fitted.discriminant, watch)?,
        learned_priors: open.learned_priors(&method),
        converged: fitted.outcome == Outcome::Converged,
        rows: open.held_out.rows,
    })
}

pub(super) fn in_fold_error(error: Error, fold: usize) -> Error {
    error.in_context(format!("without fold {}", fold + 1))
}

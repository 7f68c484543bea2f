//! A model as the warm start of another fit.

use crate::artifact::Model;
use crate::density::Draws;
use crate::design::Recipe;
use crate::discriminant::Linear;
use crate::error::{Error, Result};
use crate::model::Method;
use crate::words::{Setting, words};

/// The stream of random starts, apart from those of blocks of rows.
const START_STREAM: u64 = u64::MAX;

/// Weights and intercepts between ±range, drawn by the seed, in the units of the columns; zeros for a range of 0.
pub(super) fn random_start(range: f64, method: &Method, size: (usize, usize), seed: u64) -> Result<Linear> {
    check(method)?;
    if !(range >= 0.0 && range.is_finite()) {
        return Err(Error::usage(format!("{range} is not a range of weights to start at")).help("for example 0.01"));
    }
    let (classes, cols) = size;
    let scores = if classes == 2 { 1 } else { classes };
    let mut draws = Draws::new(seed, START_STREAM);
    let mut numbers = |count: usize| (0..count).map(|_| range * (2.0 * draws.uniform() - 1.0)).collect::<Vec<f64>>();
    let (weights, intercept) = (numbers(scores * cols), numbers(scores));
    Linear::new(weights, vec![0.0; cols], intercept)
}

fn check(method: &Method) -> Result<()> {
    match method.takes_start() {
        true => Ok(()),
        false => Err(Error::usage(words![Setting::Model.is(method.name()), " has no use for a start"]).help(words![
            Setting::Init,
            " belongs to methods that minimise step by step, as ",
            Setting::Model.is("logistic")
        ])),
    }
}

/// The discriminants of a model in the order of a fit's columns and classes.
pub(super) fn start_for(model: &Model, method: &Method, recipe: &Recipe, classes: &[String]) -> Result<Linear> {
    check(method)?;
    let Some(linear) = model.discriminant.as_linear() else {
        return Err(Error::usage(format!("the {} model to start from is not linear", model.method.name()))
            .help(words!["start from a linear one, as ", Setting::Model.any(["logistic", "lda"])]));
    };
    if !model.parts.is_empty() {
        return Err(Error::usage("the model to start from has a score for every two-class fit, not for every class")
            .help(words!["start from a model of ", Setting::Multiclass.is("joint")]));
    }
    let columns = places(&model.recipe.features(), &recipe.features(), "column")?;
    let order = places(&model.classes, classes, "class")?;
    let at = |values: &[f64]| columns.iter().map(|j| values[*j]).collect::<Vec<f64>>();
    let centre = at(linear.centre());
    if classes.len() == 2 {
        // One score, of the second class: where the classes are swapped its sign changes.
        let sign = if order[0] == 0 { 1.0 } else { -1.0 };
        let weights = at(linear.weights_of(0)).into_iter().map(|w| sign * w).collect();
        return Linear::new(weights, centre, vec![sign * linear.intercept_at_centre()[0]]);
    }
    let weights = order.iter().flat_map(|k| at(linear.weights_of(*k))).collect();
    Linear::new(weights, centre, order.iter().map(|k| linear.intercept_at_centre()[*k]).collect())
}

/// Where each wanted name is among those of the model; the names must be the same ones.
fn places(have: &[String], wanted: &[String], what: &str) -> Result<Vec<usize>> {
    let (in_model, in_fit) = (sorted(have), sorted(wanted));
    let help = "start from a model of the same columns and classes";
    if let Some(other) = have.iter().find(|name| find(&in_fit, name).is_none()) {
        return Err(
            Error::usage(format!("the model to start from has the {what} `{other}`, which the fit has not")).help(help)
        );
    }
    let place = |name: &String| {
        let lacks = || Error::usage(format!("the model to start from has no {what} `{name}`")).help(help);
        find(&in_model, name).ok_or_else(lacks)
    };
    wanted.iter().map(place).collect()
}

/// Names with their places, by name.
fn sorted(names: &[String]) -> Vec<(&str, usize)> {
    let mut sorted: Vec<(&str, usize)> = names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    sorted.sort_unstable();
    sorted
}

fn find(sorted: &[(&str, usize)], name: &str) -> Option<usize> {
    sorted.binary_search_by(|(other, _)| (*other).cmp(name)).ok().map(|at| sorted[at].1)
}

//! What a fit may do that its user does not expect, each with the setting that changes it.

use super::text::{percent, short};
use crate::artifact::Model;
use crate::decide::{Rule, Scheme, Ties};
use crate::words::{Setting, Words, words};

/// Share of undetermined rows from which on a way out is suggested. Chosen: below it the rows are few enough to look at.
const MANY_UNDETERMINED: f64 = 0.05;

/// The warnings of a model.
pub(super) fn warnings(model: &Model) -> Vec<Words> {
    weighted_probabilities(model).into_iter().chain(undetermined(model)).collect()
}

/// Decisions by probabilities that class weights have moved.
fn weighted_probabilities(model: &Model) -> Option<Words> {
    let by_probability =
        matches!(model.decision.rule, Rule::Threshold(_) | Rule::Cost(_)) || model.decision.reject.is_some();
    let moved = model.class_weights.is_some() && model.calibration.is_none() && model.true_priors.is_none();
    if !by_probability || !moved || !model.has_probabilities() {
        return None;
    }
    let total: f64 = model.training.class_weights.iter().sum();
    let shares = model.classes.iter().zip(&model.training.class_weights);
    let shares: Vec<String> = shares.map(|(class, n)| format!("{class}={}", short(n / total))).collect();
    // Shares of many classes are too long for a sentence.
    let value = if shares.len() <= 4 { shares.join(",") } else { "class=share,…".to_owned() };
    Some(words![
        "the probabilities are about weighted classes, and the decision goes by them: add ",
        Setting::TruePriors.is(value),
        " for the shares of the training rows, or those where the model is used",
    ])
}

/// Two-class fits that leave many rows open.
fn undetermined(model: &Model) -> Option<Words> {
    let open = model.training.undetermined.filter(|share| *share >= MANY_UNDETERMINED)?;
    let scheme = model.decision.scheme()?;
    if scheme.ties() != Ties::Undetermined || !matches!(scheme, Scheme::OneVsRest { .. } | Scheme::OneVsOne { .. }) {
        return None;
    }
    Some(words![
        format!("{} of the rows are undetermined: with ", percent(open)),
        Setting::Ties.is("scores"),
        " the largest score decides them",
    ])
}

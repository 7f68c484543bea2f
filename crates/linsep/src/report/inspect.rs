//! A model laid open, for machines and for people.

use super::conformal::conformal_json;
use super::decision::decision_json;
use super::digits::{ProvedTo, explained_marks, intercept_error, proved_short, weight_error};
use super::estimates::{estimates_json, estimates_text};
use super::parts::parts_json;
use super::probability::calibration_json;
use super::summary::summary;
use super::text::{clip, grid, short, thousands};
use super::weights::score_heading;
use crate::artifact::Model;
use crate::density::{BayesError, ErrorMethod};
use crate::discriminant::{Generalised, Linear, TermFunction};
use crate::error::{Error, Result};
use crate::evaluate::empirical_bernstein_upper;
use crate::numeric::printed_above;
use crate::words::{Setting, Voice, words};
use serde_json::{Value, json};

/// Errors expected among the drawn rows below which their mean has no standard error worth the name. Chosen: with a hundred
/// the relative error of the mean is about a tenth.
const RARE: f64 = 100.0;
/// The probability of the bound that is given instead.
const SURE: f64 = 0.95;

/// The machine interface of a model: `model`, `classes`, `features`, `weights` (one row per discriminant, per unit of
/// the features), `weight_errors` (how far each may be from the optimum's, where that is proved), `intercept`, `intercept_errors`, `terms` (where the discriminants are not linear in the features), `objective`,
/// `certificate`, `parts` (the two-class fits, where there are several), and what else is known.
pub fn inspect_json(model: &Model, voice: &dyn Voice) -> Result<Value> {
    let to_value = |e: serde_json::Error| Error::model(format!("the model cannot be shown: {e}"));
    let weights =
        model.discriminant.as_linear().map(|l| (0..l.n_scores()).map(|k| l.weights_of(k)).collect::<Vec<_>>());
    let (bayes_error, mahalanobis) = separation_of(model);
    let feature = model.recipe.namer();
    let (estimates, discriminants) = estimates_json(model);
    Ok(json!({
        "model": model.method.name(),
        "classes": model.classes,
        "features": model.recipe.features(),
        "weights": weights,
        "weight_errors": weight_errors(model),
        "intercept_errors": intercept_errors(model),
        "intercept": model.discriminant.as_linear().map(|linear| intercepts(model, linear)),
        "kernel": model.discriminant.as_kernel().map(|k| serde_json::to_value(k.kernel())).transpose().map_err(to_value)?,
        "terms": model.discriminant.as_generalised().map(|g| terms_json(g, model)),
        "objective": model.objective.value,
        "formula": model.objective.formula,
        "model_formula": model.recipe.formula.as_ref().map(|f| crate::design::formula_of(&model.target, &f.terms)),
        "lambda": model.objective.lambda,
        "certificate": serde_json::to_value(&model.certificate).map_err(to_value)?,
        "support_vectors": serde_json::to_value(&model.support_vectors).map_err(to_value)?,
        "scores": model.score_names(),
        "parts": parts_json(model, voice).map_err(to_value)?,
        "calibration": calibration_json(model),
        "estimates": estimates,
        "discriminants": discriminants,
        "learned_priors": model.has_probabilities().then(|| model.learned_priors()),
        "true_priors": model.true_priors,
        "decision": decision_json(model),
        "conformal": conformal_json(model),
        "outcome": serde_json::to_value(model.outcome).map_err(to_value)?,
        "bayes_error": serde_json::to_value(bayes_error).map_err(to_value)?,
        "mahalanobis": mahalanobis,
        "constant_columns": model.recipe.constant_columns(),
        "linear_in_columns": model.recipe.is_linear(),
        "target": model.target,
        "settings": serde_json::to_value(&model.method).map_err(to_value)?,
        "notes": model.notes.iter().map(|n| n.describe(&feature, voice)).collect::<Vec<_>>(),
        "class_weights": serde_json::to_value(&model.class_weights).map_err(to_value)?,
        "training": serde_json::to_value(&model.training).map_err(to_value)?,
        "cross_validation": serde_json::to_value(&model.cross_validation).map_err(to_value)?,
        "computation": serde_json::to_value(&model.computation).map_err(to_value)?,
        "provenance": serde_json::to_value(&model.provenance).map_err(to_value)?,
    }))
}

/// The intercepts in force: true priors shift the log-odds.
fn intercepts(model: &Model, linear: &Linear) -> Vec<f64> {
    linear.intercept().iter().zip(model.prior_shifts()).map(|(b, shift)| b + shift).collect()
}

/// How far each intercept may be from the optimum's, where that is proved of all.
fn intercept_errors(model: &Model) -> Option<Vec<f64>> {
    let linear = model.discriminant.as_linear()?;
    (0..linear.n_scores()).map(|k| intercept_error(model, k)).collect()
}

/// How far each weight may be from the optimum's, where that is proved of all.
fn weight_errors(model: &Model) -> Option<Vec<Vec<f64>>> {
    let linear = model.discriminant.as_linear()?;
    let of_score = |k: usize| (0..linear.n_cols()).map(|j| weight_error(model, k, j)).collect::<Option<Vec<f64>>>();
    (0..linear.n_scores()).map(of_score).collect()
}

/// The Bayes error of the classes as a generative model sees them, and the distances between their means where they are
/// Gaussian. Neither where the densities cannot be evaluated: own covariances that are singular.
fn separation_of(model: &Model) -> (Option<BayesError>, Option<Vec<Vec<f64>>>) {
    let Some(densities) = &model.density else { return (None, None) };
    let error = densities.bayes_error(model.provenance.seed).ok();
    (error, densities.mean_distances().ok().flatten())
}

/// The smallest expected losses of probabilities in words, with standard errors where they are means over drawn rows.
pub fn ideal_losses_text(squared_error: &BayesError, cross_entropy: &BayesError) -> String {
    let found = |loss: &BayesError| match loss.method {
        ErrorMethod::MonteCarlo { standard_error, .. } => format!("{} ± {standard_error:.1e}", short(loss.value)),
        ErrorMethod::ClosedForm => short(loss.value),
    };
    format!("squared error {}, cross entropy {}", found(squared_error), found(cross_entropy))
}

/// Four digits, as in every summary.
pub fn short_number(value: f64) -> String {
    short(value)
}

/// A Bayes error in words.
pub fn bayes_error_text(error: &BayesError) -> String {
    match error.method {
        ErrorMethod::ClosedForm => format!("{} (closed form)", short(error.value)),
        // A mean over so few errors is far from normal: rows that were not drawn may carry most of it.
        ErrorMethod::MonteCarlo { draws, standard_error, seed } if error.value * (draws as f64) < RARE => {
            let rows = draws as f64;
            let highest = empirical_bernstein_upper(error.value, standard_error.powi(2) * rows, 1.0, rows, 1.0 - SURE);
            format!(
                "below {} (with {:.0} % by {} drawn rows, seed {seed}: too rare for a standard error)",
                printed_above(highest, short),
                100.0 * SURE,
                thousands(rows)
            )
        }
        ErrorMethod::MonteCarlo { draws, standard_error, seed } => format!(
            "{} (standard error {}, by {} drawn rows, seed {seed})",
            short(error.value),
            short(standard_error),
            thousands(draws as f64)
        ),
    }
}

/// What is known of the classes of a generative model.
fn separation_text(model: &Model) -> String {
    let (error, distances) = separation_of(model);
    let mut out = String::new();
    if let Some(error) = error {
        out.push_str(&format!("\n  Bayes error if the classes are as fitted: {}\n", bayes_error_text(&error)));
    }
    if let Some(distances) = distances.filter(|d| d.len() <= MOST_CLASSES) {
        let heading = std::iter::once(String::new()).chain(model.classes.iter().map(|c| clip(c, 14))).collect();
        let row = |(class, row): (&String, &Vec<f64>)| {
            std::iter::once(clip(class, 20)).chain(row.iter().map(|d| short(*d))).collect::<Vec<String>>()
        };
        let rows: Vec<Vec<String>> =
            std::iter::once(heading).chain(model.classes.iter().zip(&distances).map(row)).collect();
        out.push_str("\n  Mahalanobis distances between the class means\n");
        out.push_str(&grid(&rows, 2));
    }
    out
}

/// Classes in the table of distances; more are in the JSON.
const MOST_CLASSES: usize = 12;

/// The summary of the fit, what is known of the classes, and every weight, per unit of its feature.
pub fn inspect_text(model: &Model, voice: &dyn Voice) -> String {
    inspect_top_text(model, None, voice)
}

/// The same with the `top` features of each score that weigh most per standard deviation; `None` is all.
pub fn inspect_top_text(model: &Model, top: Option<usize>, voice: &dyn Voice) -> String {
    let mut out = summary(model, None, (true, true), voice);
    out.push_str(&separation_text(model));
    out.push_str(&estimates_text(model));
    if let Some(generalised) = model.discriminant.as_generalised() {
        out.push_str(&terms_text(generalised, model));
    }
    let Some(linear) = model.discriminant.as_linear() else { return out };
    if let Some(top) = top.filter(|top| *top < linear.n_cols()) {
        out.push_str(&top_text(model, linear, top, voice));
        return out;
    }
    let scores = linear.n_scores();
    let mut rows = vec![headings(model, scores)];
    for (j, name) in model.recipe.features().iter().enumerate() {
        let known = |k: usize| ProvedTo::of(model, k, weight_error(model, k, j));
        let weights = (0..scores).map(|k| proved_short(linear.weights_of(k)[j], known(k)));
        rows.push(std::iter::once(clip(name, 40)).chain(weights).collect());
    }
    let intercept = intercepts(model, linear);
    let known = |k: usize| ProvedTo::of(model, k, intercept_error(model, k));
    let intercepts = intercept.iter().enumerate().map(|(k, b)| proved_short(*b, known(k)));
    rows.push(std::iter::once("(intercept)".to_owned()).chain(intercepts).collect());
    let unit = if model.recipe.is_linear() { "input columns" } else { "features" };
    out.push_str(&format!("\n  all weights, per unit of the {unit}\n"));
    let table = grid(&rows, 2);
    out.push_str(&table);
    out.push_str(explained_marks(&table));
    out
}

/// The features of each score with the largest weights per standard deviation of the feature.
fn top_text(model: &Model, linear: &Linear, top: usize, voice: &dyn Voice) -> String {
    let (name, heading) = (model.recipe.namer(), score_heading(model));
    let scale = model.units.scale();
    let intercept = intercepts(model, linear);
    let mut out = String::new();
    for k in 0..linear.n_scores() {
        let weights = linear.weights_of(k);
        let size = |j: usize| (weights[j] * scale.get(j).copied().unwrap_or(1.0)).abs();
        let mut order: Vec<usize> = (0..weights.len()).filter(|j| weights[*j] != 0.0).collect();
        let nonzero = order.len();
        order.sort_by(|a, b| size(*b).total_cmp(&size(*a)));
        let line = |j: &usize| {
            let known = ProvedTo::of(model, k, weight_error(model, k, *j));
            vec![clip(&name(*j), 40), proved_short(weights[*j], known)]
        };
        let mut rows: Vec<Vec<String>> = order.iter().take(top).map(line).collect();
        let known = ProvedTo::of(model, k, intercept_error(model, k));
        rows.push(vec!["(intercept)".to_owned(), proved_short(intercept[k], known)]);
        let all = thousands(nonzero as f64);
        let shown = top.min(nonzero);
        out.push_str(&format!(
            "\n  {}: {shown} of {all} weights that are not zero, the largest per sd first\n",
            heading(k)
        ));
        let table = grid(&rows, 2);
        out.push_str(&table);
        out.push_str(explained_marks(&table));
    }
    out.push_str(&words!["  all of them: ", Setting::Inspect, "\n"].said(voice).unwrap_or_default());
    out
}

fn headings(model: &Model, scores: usize) -> Vec<String> {
    let heading = score_heading(model);
    std::iter::once(String::new()).chain((0..scores).map(heading)).collect()
}

/// The terms of discriminants that are not linear in the columns, the constant first.
fn terms_json(generalised: &Generalised, model: &Model) -> Vec<Value> {
    let shifted = generalised.intercept_at_centre().iter().zip(model.prior_shifts());
    let constant = json!({
        "feature": null, "function": "constant", "centre": null,
        "weights": shifted.map(|(b, shift)| b + shift).collect::<Vec<f64>>(),
    });
    let feature = model.recipe.namer();
    let term = |t: crate::discriminant::Term| {
        let (function, centre) = match t.function {
            TermFunction::Deviation(c) => ("deviation", Some(c)),
            TermFunction::Square(c) => ("square", Some(c)),
            TermFunction::Logarithm => ("logarithm", None),
        };
        json!({
            "feature": feature(t.column), "function": function, "centre": centre, "weights": t.weights,
        })
    };
    std::iter::once(constant).chain(generalised.terms().into_iter().map(term)).collect()
}

fn terms_text(generalised: &Generalised, model: &Model) -> String {
    let mut rows = vec![headings(model, generalised.n_scores())];
    let feature = model.recipe.namer();
    for term in generalised.terms() {
        let name = clip(&feature(term.column), 40);
        let about = |c: f64| if c == 0.0 { name.clone() } else { format!("({name} − {})", short(c)) };
        let function = match term.function {
            TermFunction::Deviation(c) => about(c),
            TermFunction::Square(c) => format!("{}²", about(c)),
            TermFunction::Logarithm => format!("ln {name}"),
        };
        rows.push(std::iter::once(function).chain(term.weights.iter().map(|w| short(*w))).collect());
    }
    let shifted = generalised.intercept_at_centre().iter().zip(model.prior_shifts());
    let constant = shifted.map(|(b, shift)| short(b + shift));
    rows.push(std::iter::once("(constant)".to_owned()).chain(constant).collect());
    format!("\n  all terms, in the units of the input columns\n{}", grid(&rows, 2))
}

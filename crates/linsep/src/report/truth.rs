//! Estimates beside the truth that rows were drawn from.

use super::estimates::parameters_of;
use super::text::{clip, count, grid, short};
use crate::artifact::Model;
use crate::density::{BayesError, Covariance, Density, ErrorMethod};
use crate::error::{Error, Place, Result};
use crate::evaluate::{Estimate, Metric};
use crate::model::{GivenRule, GivenSettings};
use crate::numeric::printed_above;
use crate::workflow::{KnownRisk, given_from_json};
use serde_json::{Value, json};

/// Lines shown to people.
const MOST_LINES: usize = 60;

/// A number that both the model and the truth have.
struct Compared {
    name: String,
    truth: f64,
    estimate: f64,
}

/// Every parameter of a model beside that of a truth file, for programs.
pub fn truth_json(model: &Model, bytes: &[u8], name: &str) -> Result<Value> {
    let one = |c: &Compared| json!({"parameter": c.name, "truth": c.truth, "estimate": c.estimate});
    Ok(compared(model, bytes, name)?.iter().map(one).collect())
}

/// The same for people.
pub fn truth_text(model: &Model, bytes: &[u8], name: &str) -> Result<String> {
    let all = compared(model, bytes, name)?;
    let mut rows = vec![["", "truth", "estimate", "difference"].map(str::to_owned).to_vec()];
    for c in all.iter().take(MOST_LINES) {
        rows.push(vec![clip(&c.name, 48), short(c.truth), short(c.estimate), short(c.estimate - c.truth)]);
    }
    let more = all.len().saturating_sub(MOST_LINES);
    let rest = if more > 0 { format!("  … {more} more\n") } else { String::new() };
    Ok(format!("\n  beside the truth of {name}\n{}{rest}", grid(&rows, 2)))
}

/// One expected loss: its name, how it was found, and the smallest possible.
struct ExpectedLoss<'a> {
    name: &'static str,
    field: &'static str,
    found: Estimate,
    least: Option<&'a BayesError>,
}

fn expected_losses(risk: &KnownRisk) -> Vec<ExpectedLoss<'_>> {
    let (judged, truth) = (&risk.judged.judged.evaluation, &risk.truth);
    let mut all = Vec::new();
    let mut add = |name, field, found: Option<&Estimate>, least| {
        let Some(found) = found else { return };
        // Of all rows there are, a mean is no estimate.
        let found = Estimate { interval: found.interval.filter(|_| !risk.exact), ..found.clone() };
        all.push(ExpectedLoss { name, field, found, least });
    };
    let estimate = |metric: &Metric| match metric {
        Metric::Estimated(found) => Some(found.clone()),
        Metric::Undefined { .. } => None,
    };
    let error = estimate(&judged.accuracy).map(|right| Estimate {
        value: 1.0 - right.value,
        interval: right.interval.map(|(low, high)| (1.0 - high, 1.0 - low)),
        ..right
    });
    // Rows without a decision are not counted, so that no rule of all rows is a limit.
    let open = judged.rejected.is_some() || judged.undetermined.is_some();
    let name = if open { "error of the decided rows" } else { "error" };
    add(name, "error", error.as_ref(), truth.bayes_error.as_ref().filter(|_| !open));
    add("squared error of p", "squared_error", judged.brier.as_ref(), truth.ideal_squared_error.as_ref());
    let entropy = judged.log_loss.as_ref().and_then(estimate);
    add("cross entropy", "cross_entropy", entropy.as_ref(), truth.ideal_cross_entropy.as_ref());
    if let Some(losses) = &risk.judged.losses {
        add("hinge", "hinge", Some(&losses.hinge), None);
        add("squared hinge", "squared_hinge", Some(&losses.squared_hinge), None);
        add("squared", "squared", Some(&losses.squared), None);
        add("perceptron", "perceptron", Some(&losses.perceptron), None);
    }
    all
}

/// The expected losses of a model under a truth, beside the smallest possible ones.
pub fn risk_text(risk: &KnownRisk) -> String {
    let mut rows = vec![["", "expected", "95 % interval", "least possible"].map(str::to_owned).to_vec()];
    for loss in expected_losses(risk) {
        let interval = loss.found.interval.map_or("–".to_owned(), |(low, high)| format!("{low:.4} to {high:.4}"));
        let least = loss.least.map_or("–".to_owned(), |least| match least.method {
            ErrorMethod::MonteCarlo { standard_error, .. } => {
                format!("{:.4} ± {}", least.value, printed_above(standard_error, |e| format!("{e:.4}")))
            }
            ErrorMethod::ClosedForm => format!("{:.4}", least.value),
        });
        rows.push(vec![loss.name.to_owned(), format!("{:.4}", loss.found.value), interval, least]);
    }
    let over = match risk.exact {
        true => format!("all {} that there are", count(risk.rows as usize, "row")),
        false => format!("{} drawn from it", count(risk.rows as usize, "row")),
    };
    format!("\n  losses under that truth, means over {over}\n{}", grid(&rows, 2))
}

/// The same for programs.
pub fn risk_json(risk: &KnownRisk) -> Value {
    let mut value = json!({"rows": risk.rows, "exact": risk.exact});
    for loss in expected_losses(risk) {
        let least = loss.least.map(|least| least.value);
        let error = loss.least.and_then(|least| match least.method {
            ErrorMethod::MonteCarlo { standard_error, .. } => Some(standard_error),
            ErrorMethod::ClosedForm => None,
        });
        value[loss.field] = json!({
            "value": loss.found.value, "interval": loss.found.interval, "least": least, "least_standard_error": error,
        });
    }
    value
}

fn compared(model: &Model, bytes: &[u8], name: &str) -> Result<Vec<Compared>> {
    let at = |e: Error| e.at(Place::file(name));
    let truth = given_from_json(bytes, name)?;
    same_names("classes", &model.classes, &truth.classes).map_err(at)?;
    same_names("columns", &model.recipe.features(), &truth.features).map_err(at)?;
    let truths = named_numbers(&truth)?;
    let estimates = named_numbers(&stated(model, &truth)?)?;
    let value = |name: &str| estimates.iter().find(|(n, _)| n == name).map(|(_, v)| *v);
    let both: Vec<Compared> = truths
        .into_iter()
        .filter_map(|(name, truth)| Some(Compared { estimate: value(&name)?, name, truth }))
        .collect();
    match both.is_empty() {
        true => Err(at(Error::usage("the model and the truth have no parameter in common")
            .help("weights are those of a linear rule; means and rates are those of generative models"))),
        false => Ok(both),
    }
}

fn same_names(what: &str, model: &[String], truth: &[String]) -> Result<()> {
    let missing = model.iter().find(|name| !truth.contains(name)).map(|name| (name, "the truth"));
    let missing = missing.or_else(|| truth.iter().find(|name| !model.contains(name)).map(|name| (name, "the model")));
    match missing {
        None => Ok(()),
        Some((name, side)) => Err(Error::usage(format!(
            "the {what} of model and truth differ: {side} has no `{name}`"
        ))
        .help(format!("the truth has {}; the model has {}", truth.join(", "), model.join(", ")))),
    }
}

/// What the model states, in the terms of the truth: distributions where both have them, else the weights of its scores.
fn stated(model: &Model, truth: &GivenSettings) -> Result<GivenSettings> {
    let (features, classes) = (model.recipe.features(), model.classes.clone());
    if let (GivenRule::Classes(_), Some(densities)) = (&truth.rule, &model.density) {
        return Ok(GivenSettings { features, classes, rule: GivenRule::Classes(densities.clone()) });
    }
    let Some(linear) = model.discriminant.as_linear().filter(|_| model.parts.is_empty()) else {
        return Err(Error::usage("the model has neither the distributions nor the weights of the truth"));
    };
    let weights = (0..linear.n_scores()).map(|k| linear.weights_of(k).to_vec()).collect();
    let rule = GivenRule::Planes { weights, intercept: linear.intercept(), log_odds: true };
    Ok(GivenSettings { features, classes, rule })
}

/// Every number by a name that says what it is of; weights are differences to the first class by name.
fn named_numbers(given: &GivenSettings) -> Result<Vec<(String, f64)>> {
    let mut named = Vec::new();
    if let GivenRule::Classes(densities) = &given.rule {
        for (class, prior) in given.classes.iter().zip(&densities.priors) {
            named.push((format!("prior of {class}"), *prior));
        }
        match &densities.density {
            Density::Gaussian(gaussian) => {
                for (class, mean) in given.classes.iter().zip(&gaussian.means) {
                    named.extend(given.features.iter().zip(mean).map(|(f, m)| (format!("mean of {f} in {class}"), *m)));
                }
                let mut covariance = |of: String, matrix: &dyn Fn(usize, usize) -> f64| {
                    for i in 0..given.features.len() {
                        for j in 0..=i {
                            let (a, b) = (&given.features[i], &given.features[j]);
                            // The same name in whatever order the columns come.
                            let (a, b) = if a < b { (a, b) } else { (b, a) };
                            let what =
                                if i == j { format!("variance of {a}") } else { format!("covariance of {a}, {b}") };
                            named.push((format!("{what}{of}"), matrix(i, j)));
                        }
                    }
                };
                match &gaussian.covariance {
                    Covariance::Spherical(v) => covariance(String::new(), &|i, j| if i == j { *v } else { 0.0 }),
                    Covariance::Shared(rows) => covariance(String::new(), &|i, j| rows[i][j]),
                    Covariance::Own(own) => {
                        for (class, rows) in given.classes.iter().zip(own) {
                            covariance(format!(" in {class}"), &|i, j| rows[i][j]);
                        }
                    }
                }
            }
            Density::Independent { marginals } => {
                for (name, numbers) in marginals.iter().flat_map(|m| parameters_of(m, &given.features)) {
                    named.extend(given.classes.iter().zip(numbers).map(|(class, v)| (format!("{name} in {class}"), v)));
                }
            }
        }
    }
    let (discriminant, _) = given.discriminant()?;
    let Some(linear) = discriminant.as_linear() else { return Ok(named) };
    // Two classes have one score, that of the second.
    let of = |k: usize, number: &dyn Fn(usize) -> f64| match (linear.n_scores(), k) {
        (1, 0) => 0.0,
        (1, _) => number(0),
        _ => number(k),
    };
    let intercept = linear.intercept();
    let mut order: Vec<usize> = (0..given.classes.len()).collect();
    order.sort_by(|a, b| given.classes[*a].cmp(&given.classes[*b]));
    let first = order[0];
    for k in &order[1..] {
        let pair = format!("{} against {}", given.classes[*k], given.classes[first]);
        for (j, feature) in given.features.iter().enumerate() {
            let weight = |score: usize| linear.weights_of(score)[j];
            named.push((format!("weight of {feature}, {pair}"), of(*k, &weight) - of(first, &weight)));
        }
        let at_zero = |score: usize| intercept[score];
        named.push((format!("intercept, {pair}"), of(*k, &at_zero) - of(first, &at_zero)));
    }
    Ok(named)
}

//! A search over settings in words and for machines.

use super::text::{clip, count, grid, short, wrap};
use crate::artifact::{TrialRecord, TuningRecord};
use crate::error::Error;
use crate::words::Voice;
use serde_json::{Value, json};

/// Width of the page.
const PAGE: usize = 80;
/// Width of settings in a page.
const SETTINGS: usize = 40;
/// The setting that a path chooses.
const LAMBDA: &str = "lambda";
/// Trials that are listed; of more, those around the best.
const LISTED: usize = 20;

/// What was tried and what was chosen; `failures` belong to the trials without a figure, in their order.
pub fn tuning_text(record: &TuningRecord, failures: &[Error], voice: &dyn Voice) -> String {
    let metric = record.metric.replace('_', " ");
    let dealt = match &record.dealt_by {
        Some(column) => format!(" by column `{column}`"),
        None => String::new(),
    };
    let again = if record.repeats > 1 { format!(", dealt out {} times", record.repeats) } else { String::new() };
    let folds = match record.leave_one_out {
        true => format!("on {}, each left out in turn", count(record.folds, "row")),
        false => format!("in {}{dealt}{again}, seed {}", count(record.folds, "fold"), record.seed),
    };
    let mut out = format!("search over {} {folds}\n\n", count(record.trials.len(), "trial"));
    let first = if record.trials.len() <= LISTED { 0 } else { listed_from(record) };
    let listed = &record.trials[first..record.trials.len().min(first + LISTED)];
    let mut rows = vec![["settings", metric.as_str(), "std.error", ""].map(str::to_owned).to_vec()];
    for (place, trial) in listed.iter().enumerate() {
        let figure = |v: Option<f64>| v.map_or("-".to_owned(), short);
        let mark = match (first + place == record.best, trial.mean) {
            (true, _) => "chosen",
            (false, None) => "failed",
            _ => "",
        };
        rows.push(vec![
            clip(&settings_text(trial), SETTINGS),
            figure(trial.mean),
            figure(trial.standard_error),
            mark.to_owned(),
        ]);
    }
    out.push_str(&grid(&rows, 0));
    if listed.len() < record.trials.len() {
        out.push_str(&format!("{} of {} trials are shown\n", listed.len(), record.trials.len()));
    }
    out.push('\n');
    for note in notes(record, &metric, failures, voice) {
        for (i, line) in wrap(&note, PAGE - 2).iter().enumerate() {
            out.push_str(if i == 0 { "" } else { "  " });
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// The first of the trials that are listed, so that the best is among them, about in the middle.
fn listed_from(record: &TuningRecord) -> usize {
    record.best.saturating_sub(LISTED / 2).min(record.trials.len() - LISTED)
}

fn settings_text(trial: &TrialRecord) -> String {
    if trial.settings.is_empty() {
        return "as given".to_owned();
    }
    // What the caller wrote is shown as it is; a size along a path has all its digits.
    let pair = |(name, value): &(String, String)| match value.parse::<f64>() {
        Ok(number) if name == LAMBDA => format!("{name}={}", short(number)),
        _ => format!("{name}={value}"),
    };
    trial.settings.iter().map(pair).collect::<Vec<String>>().join(" ")
}

fn notes(record: &TuningRecord, metric: &str, failures: &[Error], voice: &dyn Voice) -> Vec<String> {
    let mut notes = Vec::new();
    let mean = |t: &TrialRecord| t.mean.unwrap_or(f64::INFINITY);
    let best = &record.trials[record.best];
    let least = record.trials.iter().map(mean).fold(f64::INFINITY, f64::min);
    match record.rule.as_str() {
        "one_standard_error" => notes.push(format!(
            "Chosen: the largest penalty whose mean {metric} is within one standard error of the least, {}.",
            short(least)
        )),
        _ => notes.push(format!("Chosen: the least mean {metric} of rows that the fits did not see.")),
    }
    let size = |t: &TrialRecord| t.settings.iter().find(|(name, _)| name == LAMBDA)?.1.parse::<f64>().ok();
    // Along a path sizes fall: one that is followed by none, or by a larger one, is its last.
    let next = record.trials.get(record.best + 1).and_then(size);
    if size(best).is_some_and(|last| next.is_none_or(|next| next > last)) && record.rule == "least" {
        notes.push("The smallest penalty that was tried is the best: smaller ones may be better.".to_owned());
    }
    match &record.nested {
        Some(nested) => notes.push(format!(
            "The search as a whole, judged by folds that it never saw: {metric} {}{}.",
            short(mean(nested)),
            nested.standard_error.map_or(String::new(), |e| format!(" (standard error {})", short(e)))
        )),
        None => notes.push(format!(
            "The {metric} of the chosen settings is the best of several, and so flatters them; folds around the search \
             (nested) give a fair figure."
        )),
    }
    if let Some(error) = failures.first() {
        let which = if failures.len() == 1 { "One trial" } else { "Trials" };
        notes.push(format!("{which} could not be fitted in every fold: {}", error.said(voice).what));
    }
    notes
}

/// The same for programs.
pub fn tuning_json(record: &TuningRecord) -> Value {
    let settings = |trial: &TrialRecord| -> Value {
        let value =
            |text: &String| text.parse::<f64>().ok().filter(|v| v.is_finite()).map_or(json!(text), |v| json!(v));
        trial.settings.iter().map(|(name, text)| (name.clone(), value(text))).collect::<serde_json::Map<_, _>>().into()
    };
    let trial = |trial: &TrialRecord| {
        json!({
            "settings": settings(trial),
            "mean": trial.mean,
            "se": trial.standard_error,
            "folds": trial.folds,
        })
    };
    json!({
        "best": trial(&record.trials[record.best]),
        "metric": record.metric,
        "rule": record.rule,
        "folds": record.folds,
        "repeats": record.repeats,
        "dealt_by": record.dealt_by,
        "leave_one_out": record.leave_one_out,
        "seed": record.seed,
        "trials": record.trials.iter().map(trial).collect::<Vec<Value>>(),
        "nested": record.nested.as_ref().map(|n| json!({"mean": n.mean, "se": n.standard_error, "folds": n.folds})),
    })
}

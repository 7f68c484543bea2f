//! Several yes/no labels: `fit --target a,b,c` and what is done with the file it writes.

use crate::exit::Ending;
use crate::output::{print, print_json};
use crate::sheet::Sheet;
use crate::voice;
use linsep::artifact::{Model, MultiLabel};
use linsep::design::UnknownLevel;
use linsep::model::Outcome;
use linsep::report::{evaluation_text, fit_summary, inspect_json, inspect_text, labels_json, labels_text};
use linsep::table::Table;
use linsep::watch::Watch;
use linsep::workflow::{JudgedLabels, Predictions, Verification, predict_table, refit_table, verify_table};
use linsep::{Error, Result};
use std::path::Path;

/// The labels that a target names: those between commas, unless it is the name of a column; all of sparse rows with several.
pub fn targets(given: Option<&str>, table: &Table) -> Option<Vec<String>> {
    if given.is_none() && has_label_lists(table) {
        return Some(table.columns().iter().map(|c| c.name.clone()).collect());
    }
    let given = given.filter(|g| g.contains(',') && !table.columns().iter().any(|c| c.name == *g))?;
    Some(given.split(',').map(|name| name.trim().to_owned()).collect())
}

/// Whether the rows of a LIBSVM file have several labels.
pub fn has_label_lists(table: &Table) -> bool {
    table.sparse_width() > 0 && table.columns().iter().all(|c| c.name.starts_with("label="))
}

/// Writes the models of all labels, and says what was fitted.
pub fn finish(models: MultiLabel, output: Option<&Path>, json: bool) -> Result<Ending> {
    let ended = |outcome: Outcome| models.models.iter().any(|m| m.outcome == outcome);
    if ended(Outcome::Interrupted) {
        return Err(Error::new(linsep::ErrorKind::Interrupted, "stopped before all labels were fitted"));
    }
    let converged = models.models.iter().all(|m| m.outcome == Outcome::Converged);
    let ending = if converged { Ending::Done } else { Ending::NotConverged };
    match output {
        Some(path) if path == Path::new("-") => return print(&models.to_json()?, ending),
        Some(path) => models.save(path)?,
        None => {}
    }
    if json {
        return print_json(&inspected(&models)?, ending);
    }
    let written = match output {
        Some(path) => format!("models of {} labels written to {}\n", models.models.len(), path.display()),
        None => "no model was written: add -o models.json to keep them\n".to_owned(),
    };
    print(&format!("{}{written}", each(&models, |model| fit_summary(model, &voice::Command))), ending)
}

/// What the file holds.
pub fn inspect(models: &MultiLabel, json: bool) -> Result<Ending> {
    match json {
        true => print_json(&inspected(models)?, Ending::Done),
        false => print(&each(models, |model| inspect_text(model, &voice::Command)), Ending::Done),
    }
}

fn inspected(models: &MultiLabel) -> Result<serde_json::Value> {
    let labels = models.models.iter().map(|model| inspect_json(model, &voice::Command)).collect::<Result<Vec<_>>>()?;
    Ok(serde_json::json!({"labels": labels}))
}

/// A text for every label under its name.
fn each(models: &MultiLabel, text: impl Fn(&Model) -> String) -> String {
    models.models.iter().map(|m| format!("label `{}`\n{}\n", m.target, text(m))).collect()
}

/// The verdict on every label.
pub fn verify(models: &MultiLabel, table: &Table, refit: bool, watch: &Watch) -> Result<Vec<(String, Verification)>> {
    let verify = if refit { refit_table } else { verify_table };
    let one = |model: &Model| Ok((model.target.clone(), verify(model, table, watch)?));
    models.models.iter().map(one).collect()
}

/// One column per label, with empty cells where a needed cell is missing; probabilities and scores where asked for.
pub fn predict(
    models: &MultiLabel,
    table: &Table,
    keep: &[usize],
    (proba, scores): (bool, bool),
    unknown: Option<UnknownLevel>,
    output: &str,
    watch: &Watch,
) -> Result<Ending> {
    let all = models.models.iter().map(|m| predict_table(m, table, unknown, watch)).collect::<Result<Vec<_>>>()?;
    let mut header = Vec::new();
    for model in &models.models {
        let target = &model.target;
        header.push(format!("prediction_{target}"));
        if model.decision.may_reject() {
            header.push(format!("rejected_{target}"));
        }
        if proba {
            header.extend(model.classes.iter().map(|c| format!("p_{target}_{c}")));
        }
        if scores {
            header.extend(model.score_names().iter().map(|c| format!("score_{target}_{c}")));
        }
    }
    let probabilities: Vec<Vec<f64>> = all.iter().map(|p| if proba { p.probabilities() } else { Vec::new() }).collect();
    // Labels may use other columns, so that a row may be complete for some of them only.
    let place = |predictions: &Predictions, row: usize| predictions.rows.binary_search(&row).ok();
    let rows: Vec<usize> = (0..table.n_rows()).filter(|row| all.iter().any(|p| place(p, *row).is_some())).collect();
    let sheet = Sheet { table, keep, header, rows: &rows };
    sheet.write(output, |i, line| {
        for ((model, predictions), p) in models.models.iter().zip(&all).zip(&probabilities) {
            let at = place(predictions, rows[i]);
            let class = at.and_then(|at| predictions.classes[at]);
            line.text(class.map_or("", |c| &model.classes[c.index()]));
            if model.decision.may_reject() {
                line.text(at.map_or("", |_| if class.is_none() { "yes" } else { "no" }));
            }
            if proba {
                (0..2).for_each(|k| line.optional(at.map(|at| p[at * 2 + k])));
            }
            if scores {
                line.optional(at.map(|at| predictions.scores[at]));
            }
        }
    })
}

/// Each label by itself, then all together.
pub fn evaluated(judged: &JudgedLabels, json: bool) -> Result<Ending> {
    if json {
        return print_json(&labels_json(judged)?, Ending::Done);
    }
    let mut text = String::new();
    for (label, one) in &judged.labels {
        text.push_str(&format!("label `{label}`: {}\n", evaluation_text(one)));
    }
    text.push_str(&labels_text(judged));
    print(&text, Ending::Done)
}

/// Refuses what has no meaning for several labels.
pub fn refuse(models: &MultiLabel, what: &str) -> Error {
    let labels: Vec<&str> = models.models.iter().map(|m| m.target.as_str()).collect();
    Error::usage(format!("{what} is for one target, and this file has the labels {}", labels.join(", ")))
        .help("fit the label you mean by itself: --target and its name")
}

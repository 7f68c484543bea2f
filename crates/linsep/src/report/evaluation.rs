//! How a model does, for machines and for people.

use super::text::{clip, count, grid, percent, thousands, wrap};
use crate::error::{Error, Result};
use crate::evaluate::{Confusion, Estimate, Metric, SetFigures};
use crate::workflow::{Judged, JudgedLabels};
use serde_json::{Value, json};

/// Width of the column that names the method of each interval.
const PROSE: usize = 36;

/// Classes from which on the method of an interval is not repeated.
const MANY_CLASSES: usize = 6;

/// Characters of a line of a matrix; a wider one is not readable as such.
const MATRIX: usize = 100;

/// The machine interface of an evaluation.
pub fn evaluation_json(judged: &Judged) -> Result<Value> {
    let to_value = |e: serde_json::Error| Error::model(format!("the evaluation cannot be shown: {e}"));
    let mut value = serde_json::to_value(&judged.evaluation).map_err(to_value)?;
    if let Value::Object(map) = &mut value {
        map.insert("missing_target".into(), json!(judged.missing_target));
        map.insert("incomplete_rows".into(), json!(judged.incomplete));
        map.insert("weights".into(), json!(judged.weights));
        if let Some(sets) = &judged.sets {
            map.insert("sets".into(), serde_json::to_value(sets).map_err(to_value)?);
        }
    }
    Ok(value)
}

/// The machine interface of an evaluation of several labels: every label by itself, and what they come to together.
pub fn labels_json(judged: &JudgedLabels) -> Result<Value> {
    let to_value = |e: serde_json::Error| Error::model(format!("the evaluation cannot be shown: {e}"));
    let one = |(label, judged): &(String, Judged)| Ok((label.clone(), evaluation_json(judged)?));
    let labels = judged.labels.iter().map(one).collect::<Result<serde_json::Map<String, Value>>>()?;
    let mut value = serde_json::to_value(&judged.together).map_err(to_value)?;
    value["labels"] = Value::Object(labels);
    Ok(value)
}

/// What several labels come to together.
pub fn labels_text(judged: &JudgedLabels) -> String {
    let together = &judged.together;
    let labels = judged.labels.len();
    let rows = vec![
        ["", "value", "95 % interval", "interval by"].map(str::to_owned).to_vec(),
        estimate_row("subset accuracy", &together.subset_accuracy),
        estimate_row("Hamming loss", &together.hamming_loss),
    ];
    let of = count(together.rows, "row");
    format!("{labels} labels together, on the {of} that have them all\n\n{}", grid(&with_prose(rows), 2))
}

/// Metrics with intervals, and the confusion matrix.
pub fn evaluation_text(judged: &Judged) -> String {
    let e = &judged.evaluation;
    let mut out = count(e.rows, "row");
    if judged.missing_target > 0 {
        out.push_str(&format!("; {} without a label left out", thousands(judged.missing_target as f64)));
    }
    if judged.incomplete > 0 {
        out.push_str(&format!("; {} with missing cells left out", thousands(judged.incomplete as f64)));
    }
    if let Some(weights) = &judged.weights {
        out.push_str(&format!("; weighted by `{weights}`"));
    }
    if let Some(rejected) = e.rejected.as_ref().filter(|r| r.value > 0.0) {
        let share = percent(rejected.value);
        out.push_str(&format!("; {share} rejected, and accuracy, F1 and the confusion are of the rest"));
    }
    if let Some(open) = e.undetermined.as_ref().filter(|u| u.value > 0.0) {
        let share = percent(open.value);
        out.push_str(&format!("; {share} undetermined, and accuracy, F1 and the confusion are of the rest"));
    }
    out.push_str("\n\n");
    let mut rows = vec![["", "value", "95 % interval", "interval by"].map(str::to_owned).to_vec()];
    rows.extend(e.rejected.as_ref().map(|m| estimate_row("rejected", m)));
    rows.extend(e.undetermined.as_ref().map(|m| estimate_row("undetermined", m)));
    rows.extend(e.right_of_all.as_ref().map(|m| estimate_row("right of all rows", m)));
    rows.extend(e.mean_cost.as_ref().map(|m| estimate_row("mean cost", m)));
    rows.push(metric_row("accuracy", &e.accuracy));
    rows.push(metric_row("balanced accuracy", &e.balanced_accuracy));
    rows.extend(e.log_loss.as_ref().map(|m| metric_row("log loss", m)));
    rows.extend(e.brier.as_ref().map(|m| estimate_row("Brier", m)));
    rows.extend(e.auc.as_ref().map(|m| metric_row("AUC", m)));
    for (at, (class, metric)) in e.f1.iter().enumerate() {
        let mut row = metric_row(&format!("F1 {}", clip(class, 24)), metric);
        // Of many classes the method is said once, so that each is a line.
        if e.f1.iter().count() > MANY_CLASSES && at > 0 && metric.estimate().is_some() {
            row.pop();
            row.push("as above".to_owned());
        }
        rows.push(row);
    }
    out.push_str(&grid(&with_prose(rows), 2));
    if let Some(sets) = &judged.sets {
        out.push_str(&sets_text(sets));
    }
    out.push_str(&confusion_text(&e.confusion));
    out
}

/// The whole matrix where it fits a page, else what each class was taken for.
fn confusion_text(confusion: &Confusion) -> String {
    let heading = std::iter::once(String::new()).chain(confusion.classes.iter().map(|c| clip(c, 14)));
    let mut rows = vec![heading.collect::<Vec<String>>()];
    for (class, counts) in confusion.classes.iter().zip(&confusion.counts) {
        rows.push(std::iter::once(clip(class, 24)).chain(counts.iter().map(|n| thousands(*n))).collect());
    }
    let matrix = grid(&rows, 2);
    if matrix.lines().all(|line| line.chars().count() <= MATRIX) {
        return format!("\n  confusion: rows are the truth, columns the predictions\n{matrix}");
    }
    let mut rows = vec![["", "rows", "right", "", "most often taken for"].map(str::to_owned).to_vec()];
    for (k, (class, counts)) in confusion.classes.iter().zip(&confusion.counts).enumerate() {
        let total: f64 = counts.iter().sum();
        let mut wrong: Vec<usize> = (0..counts.len()).filter(|j| *j != k && counts[*j] > 0.0).collect();
        wrong.sort_by(|a, b| counts[*b].total_cmp(&counts[*a]));
        let named = |j: &usize| format!("{} {}", clip(&confusion.classes[*j], 14), thousands(counts[*j]));
        let share = if total > 0.0 { percent(counts[k] / total) } else { String::new() };
        let taken = wrong.iter().take(2).map(named).collect::<Vec<String>>().join(", ");
        rows.push(vec![clip(class, 18), thousands(total), thousands(counts[k]), share, taken]);
    }
    format!(
        "\n  confusion: how many rows of each class were right, and what the others were taken for\n{}",
        grid(&rows, 2)
    )
}

/// How often sets hold the class of their row, of all rows and of each class, and how large they are.
fn sets_text(sets: &SetFigures) -> String {
    let of = if sets.by_class { " in every class" } else { "" };
    let mut rows = vec![vec![String::new(), "coverage".into(), "95 % interval".into(), "interval by".into()]];
    rows.push(estimate_row("all rows", &sets.coverage));
    for (class, estimate) in &sets.of_classes {
        rows.extend(estimate.as_ref().map(|e| estimate_row(&clip(class, 24), e)));
    }
    format!(
        "\n  sets of classes, promised {:.4}{of}; {:.2} classes on average, {} of one class, {} empty\n{}",
        sets.level,
        sets.mean_size,
        percent(sets.single),
        percent(sets.empty),
        grid(&with_prose(rows), 2)
    )
}

/// Rows whose last cell is prose, to the left of its place and on as many rows as it needs.
fn with_prose(rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let mut out = Vec::with_capacity(rows.len());
    for mut row in rows {
        let prose = row.pop().unwrap_or_default();
        for line in wrap(&prose, PROSE) {
            let blank = row.iter().map(|_| String::new()).collect();
            let mut cells = std::mem::replace(&mut row, blank);
            cells.push(format!("{line:<PROSE$}"));
            out.push(cells);
        }
    }
    out
}

/// What a method says of its interval, which comes after what it says of its figure.
fn of_interval(method: &str) -> String {
    method.split_once("; ").map_or(method, |(_, interval)| interval).to_owned()
}

fn estimate_row(name: &str, estimate: &Estimate) -> Vec<String> {
    let interval = estimate.interval.map_or("–".to_owned(), |(low, high)| format!("{low:.4} to {high:.4}"));
    vec![name.to_owned(), format!("{:.4}", estimate.value), interval, of_interval(&estimate.method)]
}

fn metric_row(name: &str, metric: &Metric) -> Vec<String> {
    match metric.estimate() {
        Some(estimate) => estimate_row(name, estimate),
        None => vec![name.to_owned(), "undefined".into(), "–".into(), metric.reason().unwrap_or_default().to_owned()],
    }
}

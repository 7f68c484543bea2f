//! The two-class fits of a model of several classes, in words and as a table.

use super::decision::decision_text;
use super::text::{clip, count, grid, short, thousands};
use crate::artifact::{Model, ModelPart};
use crate::certify::Certificate;
use crate::decide::{Calibration, Scheme};
use crate::model::{Method, Outcome, Split};
use crate::numeric::bound_text;
use crate::words::Voice;
use serde_json::{Value, json};

/// Parts in the table of a summary.
const SHOWN: usize = 10;

/// What was made of the classes and how they decide, in one line; `None` where they were fitted at once.
pub(super) fn multiclass_text(model: &Model) -> Option<String> {
    let (name, parts) = match model.split()? {
        Split::Pairs => ("one-vs-one", count(model.parts.len(), "pair")),
        Split::Rest => ("one-vs-rest", format!("{} classes against the rest", thousands(model.parts.len() as f64))),
    };
    let name = model.decision.scheme().map_or(name, Scheme::name);
    Some(format!("{name}: {parts}; {}", decision_text(model)))
}

/// One row per part: objective, what is proved, support vectors or errors.
pub(super) fn parts_table(model: &Model, all: bool) -> String {
    if model.parts.is_empty() {
        return String::new();
    }
    let searches = matches!(model.method, Method::Perceptron(_));
    let supported = model.parts.iter().any(|p| p.support_vectors.is_some());
    let shown = if all { model.parts.len() } else { model.parts.len().min(SHOWN) };
    let mut heading = vec![String::new(), if searches { "errors" } else { "objective" }.to_owned()];
    heading.push(proof_heading(&model.parts[0].certificate).to_owned());
    if supported {
        heading.push("support vectors".to_owned());
    }
    let maps = match model.calibration.as_ref().map(|c| &c.map) {
        Some(Calibration::Coupled(coupled)) => coupled.maps.as_slice(),
        _ => &[],
    };
    if !maps.is_empty() {
        heading.push("p = ½ at score".to_owned());
    }
    let mut rows = vec![heading];
    for (at, part) in model.parts[..shown].iter().enumerate() {
        let mut row = vec![pair(part)];
        row.push(match (&part.certificate, searches) {
            (Certificate::Errors { errors, .. }, true) => thousands(*errors),
            (_, true) => "0".to_owned(),
            _ => format!("{:.8}", part.objective.value),
        });
        row.push(format!("{}{}", proof(&part.certificate), unfinished(part.outcome)));
        if supported {
            row.push(part.support_vectors.as_ref().map_or("–".into(), |s| thousands(s.multipliers.len() as f64)));
        }
        row.extend(maps.get(at).map(|map| map.score_at(0.0).map_or("nowhere".to_owned(), short)));
        rows.push(row);
    }
    let more = match model.parts.len() - shown {
        0 => String::new(),
        n => format!("  and {} more, see inspect\n", thousands(n as f64)),
    };
    format!("\n  two-class fits\n{}{more}", grid(&rows, 2))
}

/// The two sides of a part.
fn pair(part: &ModelPart) -> String {
    match &part.against {
        Some(other) => format!("{} | {}", clip(other, 20), clip(&part.class, 20)),
        None => format!("rest | {}", clip(&part.class, 20)),
    }
}

fn proof_heading(certificate: &Certificate) -> &'static str {
    match certificate {
        Certificate::ClosedForm { .. } => "residual",
        Certificate::Local { .. } => "gradient",
        Certificate::Separates { .. } | Certificate::Errors { .. } => "margin",
        _ => "relative gap",
    }
}

fn proof(certificate: &Certificate) -> String {
    match certificate {
        Certificate::ClosedForm { relative_residual, .. } => format!("{relative_residual:.1e}"),
        Certificate::Local { gradient, .. } => format!("{gradient:.1e}"),
        Certificate::Separates { margin, .. } => short(*margin),
        Certificate::Errors { .. } => "none".to_owned(),
        Certificate::Absent { .. } => "none".to_owned(),
        bound => bound.relative_gap().map_or("none".to_owned(), bound_text),
    }
}

fn unfinished(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Converged => "",
        _ => " NOT CONVERGED",
    }
}

/// What the parts have found and not all of them have in common.
pub(super) fn part_notes(model: &Model, voice: &dyn Voice) -> Vec<String> {
    let feature = model.recipe.namer();
    let described = |part: &ModelPart| {
        let name = pair(part);
        let notes = part.notes.iter().map(|n| n.describe(&feature, voice));
        notes.map(|n| format!("{name}: {n}")).collect::<Vec<String>>()
    };
    model.parts.iter().flat_map(described).collect()
}

/// The parts for programs; null where the model has none.
pub(super) fn parts_json(model: &Model, voice: &dyn Voice) -> Result<Value, serde_json::Error> {
    if model.parts.is_empty() {
        return Ok(Value::Null);
    }
    let feature = model.recipe.namer();
    let part = |part: &ModelPart| {
        Ok(json!({
            "against": part.against,
            "class": part.class,
            "objective": part.objective.value,
            "lambda": part.objective.lambda,
            "certificate": serde_json::to_value(&part.certificate)?,
            "outcome": serde_json::to_value(part.outcome)?,
            "support_vectors": serde_json::to_value(&part.support_vectors)?,
            "computation": serde_json::to_value(&part.computation)?,
            "notes": part.notes.iter().map(|n| n.describe(&feature, voice)).collect::<Vec<_>>(),
        }))
    };
    Ok(Value::Array(model.parts.iter().map(part).collect::<Result<Vec<Value>, serde_json::Error>>()?))
}

//! What is proved of the error on new rows, for machines and for people.

use super::text::{count, grid, thousands, wrap};
use crate::error::{Error, Result};
use crate::evaluate::{BoundKind, ErrorBound};
use crate::workflow::Guaranteed;
use serde_json::{Value, json};

/// Width of the lines of prose.
const WIDTH: usize = 78;

/// The machine interface of a guarantee.
pub fn guarantee_json(found: &Guaranteed) -> Result<Value> {
    let to_value = |e: serde_json::Error| Error::model(format!("the guarantee cannot be shown: {e}"));
    let mut value = serde_json::to_value(&found.guarantee).map_err(to_value)?;
    if let Value::Object(map) = &mut value {
        map.insert("missing_target".into(), json!(found.missing_target));
        map.insert("incomplete_rows".into(), json!(found.incomplete));
        map.insert("weights".into(), json!(found.weights));
    }
    Ok(value)
}

/// The bounds, the one to take first, and what they rest on.
pub fn guarantee_text(found: &Guaranteed) -> String {
    let g = &found.guarantee;
    let mut out = format!("{} of {} test rows wrong", thousands(g.mistakes), thousands(g.rows));
    if g.open > 0.0 {
        out.push_str(&format!("; {} left open", thousands(g.open)));
    }
    if found.missing_target > 0 {
        out.push_str(&format!("; {} without a label left out", thousands(found.missing_target as f64)));
    }
    if found.incomplete > 0 {
        out.push_str(&format!("; {} with missing cells left out", count(found.incomplete, "row")));
    }
    if let Some(weights) = &found.weights {
        out.push_str(&format!("; copies counted by `{weights}`"));
    }
    out.push_str(".\n");
    if let Some(first) = g.bounds.first() {
        let sure = 1.0 - g.delta;
        let mut claim = format!("With probability {sure} the error on new rows is at most {}", upwards(first.limit));
        if let Some((low, high)) = first.interval {
            claim.push_str(&format!(" (two-sided: {} to {})", downwards(low), upwards(high)));
        }
        out.push_str(&wrap(&format!("{claim}."), WIDTH).join("\n"));
        out.push('\n');
    }
    out.push('\n');
    let mut rows = vec![["", "of", "seen", "at most"].map(str::to_owned).to_vec()];
    rows.extend(g.bounds.iter().map(row));
    out.push_str(&grid(&rows, 2));
    for bound in &g.bounds {
        let loose = bound.loose.as_ref().map_or(String::new(), |l| format!("; {l}"));
        out.push_str(&paragraph(&format!("{} ({}): {}{loose}", name(bound.kind), bound.of, bound.method)));
    }
    for left in &g.left_out {
        out.push_str(&paragraph(&format!("no {}: {}", left.what, left.reason)));
    }
    out.push_str("\n  assumed:\n");
    g.assumptions.iter().for_each(|a| out.push_str(&paragraph(a)));
    out
}

/// A paragraph with a dash, indented.
fn paragraph(text: &str) -> String {
    let lines = wrap(text, WIDTH - 4);
    lines.iter().enumerate().map(|(i, line)| format!("  {} {line}\n", if i == 0 { "-" } else { " " })).collect()
}

fn row(bound: &ErrorBound) -> Vec<String> {
    vec![
        format!("{:<22}", name(bound.kind)),
        format!("{:<28}", clipped(bound.of)),
        format!("{:.4}", bound.observed),
        upwards(bound.limit),
    ]
}

/// The long ones in few words; the notes below the table have them in full.
fn clipped(of: &str) -> &str {
    if of.chars().count() > 28 { "error in the first pass" } else { of }
}

fn name(kind: BoundKind) -> &'static str {
    match kind {
        BoundKind::ClopperPearson => "Clopper–Pearson",
        BoundKind::Hoeffding => "Hoeffding",
        BoundKind::EmpiricalBernstein => "empirical Bernstein",
        BoundKind::ExcessRisk => "excess risk",
        BoundKind::Margin => "margin",
        BoundKind::OnlineMistakes => "mistakes",
    }
}

/// Four decimals, never below the number: a printed limit is a limit, too.
fn upwards(limit: f64) -> String {
    format!("{:.4}", ((limit * 1e4).ceil() / 1e4).min(limit.max(1.0)))
}

/// Four decimals, never above.
fn downwards(limit: f64) -> String {
    format!("{:.4}", (limit * 1e4).floor() / 1e4)
}

#[cfg(test)]
mod tests {
    use super::{downwards, upwards};

    #[test]
    fn printed_limits_are_limits() {
        assert_eq!((upwards(0.12341), downwards(0.12349)), ("0.1235".to_owned(), "0.1234".to_owned()));
        assert_eq!(
            (upwards(1.0), upwards(0.99999), downwards(0.0)),
            ("1.0000".into(), "1.0000".into(), "0.0000".into())
        );
    }
}

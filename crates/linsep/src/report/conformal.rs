//! Sets of classes in words and for machines: what is promised, and what it rests on.

use super::text::{count, short, thousands};
use crate::artifact::Model;
use crate::decide::{Conformal, ConformalOptions, rows_needed};
use serde_json::{Value, json};

/// Classes whose thresholds are shown.
const SHOWN: usize = 8;

/// What is promised, the assumption, and where the sets come from.
pub(super) fn conformal_text(model: &Model, conformal: &Conformal) -> String {
    let ConformalOptions { level, by_class, share } = conformal.options;
    let of = if by_class { "new rows of every class" } else { "new rows" };
    let alike = if by_class { "exchangeable with the rows of that class" } else { "exchangeable with the rows here" };
    let rows = conformal.rows();
    let incomplete = model.training.held_back - rows;
    let left =
        if incomplete > 0 { format!(" ({} more miss cells)", thousands(incomplete as f64)) } else { String::new() };
    format!(
        "with probability {} at least the set of {of} holds their class, if they are {alike} (drawn alike, in any order); by {}{left} \
         that the fit did not see, {} of all; {}",
        short_percent(level),
        count(rows, "row"),
        short_percent(share),
        limits_text(model, conformal)
    )
}

/// A share as it was written: 90 %, 99.5 %.
fn short_percent(share: f64) -> String {
    let digits = format!("{:.6}", 100.0 * share);
    format!("{} %", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// How far a class may be from a row and still be in its set.
fn limits_text(model: &Model, conformal: &Conformal) -> String {
    let needed = thousands(rows_needed(conformal.options.level) as f64);
    let scale = if model.has_probabilities() { "log-odds" } else { "lead" };
    if !conformal.options.by_class {
        return match conformal.thresholds.first().copied().flatten() {
            Some(limit) => format!("a class is in where its {scale} are at least {}", short(0.0 - limit)),
            None => format!("these are too few, {needed} would be needed: every set is all classes"),
        }
        .replace("lead are", "lead is");
    }
    let one = |(class, limit): (&String, &Option<f64>)| match limit {
        Some(limit) => format!("{class} {}", short(0.0 - limit)),
        None => format!("{class} always (fewer than {needed} rows)"),
    };
    let shown: Vec<String> = model.classes.iter().zip(&conformal.thresholds).take(SHOWN).map(one).collect();
    let more = model.classes.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("a class is in from a {scale} of {}{more}", shown.join(", "))
}

/// The sets for programs, null without.
pub(super) fn conformal_json(model: &Model) -> Value {
    let Some(conformal) = &model.conformal else { return Value::Null };
    let n: Vec<usize> = conformal.scores.iter().map(Vec::len).collect();
    json!({
        "level": conformal.options.level,
        "by": if conformal.options.by_class { "class" } else { "rows" },
        "share": conformal.options.share,
        "rows": n,
        "thresholds": conformal.thresholds,
        "words": conformal_text(model, conformal),
    })
}

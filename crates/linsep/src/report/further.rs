//! An evaluation beyond the usual figures, for machines and for people.

use super::text::{clip, count, grid, p_text, percent, thousands, wrap};
use crate::error::{Error, Result};
use crate::evaluate::{Against, Details, Estimate, Metric, ScoreLosses, ThresholdFigures, Thresholds, WantedFigure};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Width of the lines of prose.
const WIDTH: usize = 78;

fn shown<T: Serialize>(value: &T) -> Result<Value> {
    serde_json::to_value(value).map_err(|e| Error::model(format!("the evaluation cannot be shown: {e}")))
}

/// A figure, or `{"reason": …}`.
fn or_reason<T: Serialize>(value: &std::result::Result<T, impl ToString>) -> Result<Value> {
    match value {
        Ok(value) => shown(value),
        Err(reason) => Ok(json!({ "reason": reason.to_string() })),
    }
}

/// The machine interface of the details.
pub fn details_json(details: &Details) -> Result<Value> {
    let mut map = Map::new();
    map.insert("classes".into(), shown(&details.classes.classes)?);
    map.insert("macro_f1".into(), json!(details.classes.macro_f1));
    map.insert("micro_f1".into(), json!(details.classes.micro_f1));
    let mut calibration = or_reason(&details.reliability.as_ref().map_err(|left| &left.reason))?;
    if let Ok(found) = &details.reliability {
        calibration["hosmer_lemeshow"] = or_reason(&found.hosmer_lemeshow.as_ref().map_err(|left| &left.reason))?;
    }
    map.insert("calibration".into(), calibration);
    map.insert("ranking".into(), or_reason(&details.ranking.as_ref().map_err(|left| &left.reason))?);
    Ok(Value::Object(map))
}

/// The machine interface of a threshold table.
pub fn thresholds_json(thresholds: &Thresholds) -> Result<Value> {
    shown(thresholds)
}

/// The machine interface of a comparison.
pub fn against_json(against: &Against) -> Result<Value> {
    Ok(json!({
        "rows": against.rows,
        "total_weight": against.total_weight,
        "open": against.open,
        "mcnemar": or_reason(&against.mcnemar)?,
        "accuracy": or_reason(&against.accuracy)?,
        "log_loss": or_reason(&against.log_loss)?,
        "auc": or_reason(&against.auc)?,
        "replicates": against.bootstrap.replicates,
        "seed": against.bootstrap.seed,
    }))
}

/// The machine interface of losses.
pub fn losses_json(losses: &ScoreLosses) -> Result<Value> {
    shown(losses)
}

/// Losses of the score of two classes.
pub fn losses_text(losses: &ScoreLosses) -> String {
    let mut rows = vec![["", "mean", "95 % interval"].map(str::to_owned).to_vec()];
    let all = [
        ("hinge", &losses.hinge),
        ("squared hinge", &losses.squared_hinge),
        ("squared", &losses.squared),
        ("perceptron", &losses.perceptron),
    ];
    for (name, estimate) in all {
        let interval = estimate.interval.map_or("–".to_owned(), |(low, high)| format!("{low:.4} to {high:.4}"));
        rows.push(vec![name.to_owned(), four(estimate.value), interval]);
    }
    format!("\n  losses of the score z, y = ±1\n{}", grid(&rows, 2))
}

/// Per-class figures, calibration and ranking.
pub fn details_text(details: &Details) -> String {
    let classes = &details.classes;
    let mut rows = vec![["", "rows", "precision", "recall", "F1"].map(str::to_owned).to_vec()];
    for class in &classes.classes {
        let mut row = vec![clip(&class.class, 24), thousands(class.weight)];
        row.extend([&class.precision, &class.recall, &class.f1].map(metric));
        rows.push(row);
    }
    let mut out = format!("\n  classes\n{}", grid(&rows, 2));
    let mean = |name: &str, value: Option<f64>| format!("{name} F1 {}", value.map_or("–".to_owned(), four));
    out.push_str(&format!("  {}, {}\n", mean("macro", classes.macro_f1), mean("micro", classes.micro_f1)));
    match &details.reliability {
        Err(left) => out.push_str(&note(&format!("no {}: {}", left.what, left.reason))),
        Ok(found) => {
            out.push_str(&format!("\n  calibration: {}\n", found.of));
            let mut rows = vec![["bin", "rows", "promised", "came"].map(str::to_owned).to_vec()];
            for bin in &found.bins {
                let ends = format!("{:.1} to {:.1}", bin.low, bin.high);
                rows.push(vec![ends, thousands(bin.weight), four(bin.promised), four(bin.came)]);
            }
            out.push_str(&grid(&rows, 2));
            let b = &found.brier;
            out.push_str(&note(&format!(
                "expected calibration error {} (ten bins; a number without a test)",
                four(found.expected_calibration_error)
            )));
            out.push_str(&note(&format!(
                "Brier {} = reliability {} − resolution {} + uncertainty {} + within bins {}",
                four(b.brier),
                four(b.reliability),
                four(b.resolution),
                four(b.uncertainty),
                four(b.within)
            )));
            out.push_str(&note(&match &found.hosmer_lemeshow {
                Ok(test) => format!(
                    "Hosmer–Lemeshow: {:.3} on {} degrees of freedom, p = {}",
                    test.statistic,
                    test.df,
                    p_text(test.ln_p)
                ),
                Err(left) => format!("no {}: {}", left.what, left.reason),
            }));
        }
    }
    match &details.ranking {
        Err(left) => out.push_str(&note(&format!("no {}: {}", left.what, left.reason))),
        Ok(found) => {
            out.push_str("\n  ranking\n");
            out.push_str(&note(&format!(
                "Kolmogorov–Smirnov {} at probability {}, Gini {}",
                four(found.kolmogorov_smirnov),
                four(found.at),
                four(found.gini)
            )));
            let mut rows = vec![["top", "captured", "lift"].map(str::to_owned).to_vec()];
            let lift = |l: &crate::evaluate::Lift| vec![percent(l.top), percent(l.captured), format!("{:.2}", l.lift)];
            rows.extend(found.lift.iter().map(lift));
            out.push_str(&grid(&rows, 2));
        }
    }
    out
}

/// The threshold table, and the thresholds that meet targets.
pub fn thresholds_text(thresholds: &Thresholds) -> String {
    let heading = ["threshold", "above", "recall", "precision", "specificity", "F1", "accuracy"].map(str::to_owned);
    let line = |name: String, f: &ThresholdFigures| {
        let share = |value: Option<f64>| value.map_or("–".to_owned(), four);
        let shares = [f.recall, f.precision, f.specificity, f.f1].map(share);
        let mut row = vec![name, thousands(f.above)];
        row.extend(shares);
        row.push(four(f.accuracy));
        row
    };
    let mut rows = vec![heading.to_vec()];
    rows.extend(thresholds.table.iter().map(|f| line(format!("{:.1}", f.threshold), f)));
    let mut out = format!("\n  the last class where its probability exceeds a threshold\n{}", grid(&rows, 2));
    for target in &thresholds.targets {
        let name = match target.wanted {
            WantedFigure::Recall => "recall",
            WantedFigure::Precision => "precision",
            WantedFigure::Specificity => "specificity",
        };
        out.push_str(&note(&match &target.found {
            None => format!("{name} of at least {}: no threshold has it on these rows", target.target),
            Some(f) => {
                let of = |value: Option<f64>| value.map_or("–".to_owned(), four);
                format!(
                    "{name} of at least {}: threshold {} (recall {}, precision {}, specificity {}); found on these rows, \
                     so on new ones a little worse",
                    target.target,
                    f.threshold,
                    of(f.recall),
                    of(f.precision),
                    of(f.specificity)
                )
            }
        }));
    }
    out
}

/// Two models on the same rows.
pub fn against_text(against: &Against) -> String {
    let mut out = format!("\n  against the second model, on the {} that both score\n", count(against.rows, "row"));
    if against.open > 0.0 {
        out.push_str(&note(&format!(
            "{} rows left open by one of the two are in no decision",
            thousands(against.open)
        )));
    }
    out.push_str(&note(&match &against.mcnemar {
        Ok(test) => format!(
            "McNemar: only the first is right on {}, only the second on {}; exact p = {}",
            thousands(test.only_first),
            thousands(test.only_second),
            p_text(test.ln_p)
        ),
        Err(reason) => format!("no McNemar test: {reason}"),
    }));
    let difference = |e: &Estimate| match e.interval {
        Some((low, high)) => format!("{} ({} to {})", signed(e.value), signed(low), signed(high)),
        None => signed(e.value),
    };
    for (name, found) in [("accuracy", &against.accuracy), ("log loss", &against.log_loss)] {
        out.push_str(&note(&match found {
            Ok(e) => format!("{name}, first minus second: {}; paired bootstrap, 95 %", difference(e)),
            Err(reason) => format!("no difference of {name}: {reason}"),
        }));
    }
    out.push_str(&note(&match &against.auc {
        Ok(auc) => format!(
            "AUC {} against {}: difference {}, z = {:.3}, p = {} (DeLong)",
            four(auc.first),
            four(auc.second),
            difference(&auc.difference),
            auc.z,
            p_text(auc.ln_p)
        ),
        Err(reason) => format!("no difference of AUC: {reason}"),
    }));
    out
}

fn four(value: f64) -> String {
    format!("{:.4}", value + 0.0)
}

fn signed(value: f64) -> String {
    format!("{:+.4}", value + 0.0)
}

fn metric(metric: &Metric) -> String {
    metric.value().map_or("–".to_owned(), four)
}

/// A line or more, indented.
fn note(text: &str) -> String {
    let lines = wrap(text, WIDTH - 4);
    lines.iter().enumerate().map(|(i, line)| format!("  {}{line}\n", if i == 0 { "" } else { "  " })).collect()
}

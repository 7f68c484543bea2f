//! Studies of repeated samples in words and for machines.

use super::bayes_error_text;
use super::text::{clip, count, grid, percent, short, thousands, wrap};
use crate::numeric::normal_quantile;
use crate::workflow::{Coverage, SampleMean, StudiedEstimate, StudiedSize, Study};
use serde_json::{Value, json};

/// Width of the page.
const PAGE: usize = 80;
/// Width of names in a page.
const NAME: usize = 24;
/// Parameters of a method that a page shows for each size; all of them are in the machine interface.
const SHOWN: usize = 20;

/// Tables of errors and of estimates.
pub fn study_text(study: &Study) -> String {
    let options = &study.options;
    let mut out = format!(
        "Study of {}: {}, {} classes\n  {} of each size, seed {}; errors on {} each\n",
        study.kind,
        count(study.features.len(), "feature"),
        study.classes.len(),
        count(options.samples, "sample"),
        options.seed,
        count(options.test_rows as usize, "fresh row"),
    );
    if let Some(error) = &study.bayes_error {
        out.push_str(&format!("  Bayes error {}\n", bayes_error_text(error)));
    }
    out.push_str(&error_grid(study));
    for size in &study.sizes {
        out.push_str(&estimate_grid(size));
    }
    out.push_str(&notes(study));
    out
}

fn error_grid(study: &Study) -> String {
    let optional = |v: Option<f64>| v.map_or("-".to_owned(), short);
    let mean = |v: Option<SampleMean>| optional(v.map(|m| m.mean));
    let cells = |size: &StudiedSize, fresh: Option<SampleMean>, own: Option<SampleMean>| {
        let error = fresh.and_then(|m| m.error);
        vec![clip(&size.method, NAME), thousands(size.rows as f64), mean(fresh), optional(error), mean(own)]
    };
    let heads = |what: &str| ["method", "rows", what, "std.error", "on own rows"].map(str::to_owned).to_vec();
    let mut errors = vec![heads("mean error")];
    if study.bayes_error.is_some() {
        errors[0].push("above Bayes".to_owned());
    }
    for size in &study.sizes {
        let mut row = cells(size, size.error, size.training_error);
        if let Some(bayes) = &study.bayes_error {
            row.push(optional(size.error.map(|m| m.mean - bayes.value)));
        }
        errors.push(row);
    }
    let mut out = format!("\n{}", grid(&errors, 0));
    if study.sizes.iter().any(|s| s.log_loss.is_some()) {
        let rows = study.sizes.iter().map(|s| cells(s, s.log_loss, s.training_log_loss));
        let losses: Vec<Vec<String>> = std::iter::once(heads("mean log loss")).chain(rows).collect();
        out.push_str(&format!("\n{}", grid(&losses, 0)));
    }
    out
}

fn estimate_grid(size: &StudiedSize) -> String {
    if size.estimates.is_empty() {
        return String::new();
    }
    let covers = size.estimates.iter().any(|e| e.coverage.is_some());
    let mut heads = vec!["", "truth", "bias", "its error", "std.dev", "rms error"];
    heads.extend(covers.then_some("covered"));
    let mut rows = vec![heads.into_iter().map(str::to_owned).collect::<Vec<String>>()];
    let optional = |v: Option<f64>| v.map_or("-".to_owned(), short);
    for line in size.estimates.iter().take(SHOWN) {
        let mut row = vec![clip(&line.parameter.name(), NAME)];
        row.extend([line.truth, line.bias()].map(short));
        row.extend([line.estimates.error, line.estimates.deviation].map(optional));
        row.push(short(line.root_mean_square));
        if covers {
            row.push(line.coverage.map_or("-".to_owned(), |c| percent(c.share())));
        }
        rows.push(row);
    }
    let title = format!("\nEstimates of {}, samples of {}\n", size.method, count(size.rows as usize, "row"));
    let hidden = size.estimates.len().saturating_sub(SHOWN);
    let more = if hidden > 0 { format!("  and {} more\n", thousands(hidden as f64)) } else { String::new() };
    format!("{title}{}{more}", grid(&rows, 0))
}

fn notes(study: &Study) -> String {
    let mut notes = Vec::new();
    for size in &study.sizes {
        let of = |what: String| format!("{}, {}: {what}", size.method, count(size.rows as usize, "row"));
        if size.without_class > 0 {
            notes.push(of(format!("{} lacked a class and were left out.", count(size.without_class, "sample"))));
        }
        if size.without_optimum > 0 {
            notes.push(of(format!(
                "{} had no model, because no optimum exists; what is said is about the others alone.",
                count(size.without_optimum, "sample")
            )));
        }
        if size.unconverged > 0 {
            notes.push(of(format!("{} did not reach their tolerance.", count(size.unconverged, "fit"))));
        }
    }
    let intervals = || study.sizes.iter().flat_map(|s| &s.estimates).filter_map(|e| e.coverage);
    if intervals().next().is_some() {
        let level = percent(study.options.level);
        let few = intervals().map(|c| c.intervals).min().unwrap_or(0);
        // Half the width of the limits of a coverage at the level itself.
        let spread =
            normal_quantile(0.975) * (study.options.level * (1.0 - study.options.level) / few.max(1) as f64).sqrt();
        notes.push(format!(
            "Covered: how many intervals of level {level} hold the truth; so many samples leave that uncertain by about {}.",
            percent(spread)
        ));
    }
    let mut out = String::new();
    for note in notes {
        out.push_str(if out.is_empty() { "\n" } else { "" });
        for (at, line) in wrap(&note, PAGE - 2).iter().enumerate() {
            out.push_str(&format!("{}{line}\n", if at == 0 { "" } else { "  " }));
        }
    }
    out
}

/// The machine interface.
pub fn study_json(study: &Study) -> Value {
    let options = &study.options;
    json!({
        "kind": study.kind,
        "classes": study.classes,
        "features": study.features,
        "samples": options.samples,
        "test_rows": options.test_rows,
        "seed": options.seed,
        "level": options.level,
        "interval": options.interval,
        "bayes_error": study.bayes_error,
        "sizes": study.sizes.iter().map(size_json).collect::<Vec<Value>>(),
    })
}

fn size_json(size: &StudiedSize) -> Value {
    let mean = |v: Option<SampleMean>| v.map(|m| json!({"mean": m.mean, "sd": m.deviation, "se": m.error}));
    json!({
        "method": size.method,
        "rows": size.rows,
        "fitted": size.fitted,
        "without_class": size.without_class,
        "without_optimum": size.without_optimum,
        "unconverged": size.unconverged,
        "error": mean(size.error),
        "training_error": mean(size.training_error),
        "log_loss": mean(size.log_loss),
        "training_log_loss": mean(size.training_log_loss),
        "estimates": size.estimates.iter().map(estimate_json).collect::<Vec<Value>>(),
    })
}

fn estimate_json(line: &StudiedEstimate) -> Value {
    let coverage = |c: Coverage| json!({"covered": c.covered, "intervals": c.intervals, "share": c.share(), "low": c.low, "high": c.high});
    json!({
        "name": line.parameter.name(),
        "quantity": line.parameter.quantity,
        "class": line.parameter.class,
        "features": line.parameter.features,
        "truth": line.truth,
        "mean": line.estimates.mean,
        "bias": line.bias(),
        "bias_se": line.estimates.error,
        "sd": line.estimates.deviation,
        "rmse": line.root_mean_square,
        "coverage": line.coverage.map(coverage),
    })
}

//! Bootstraps and permutation tests in words and for machines.

use super::headline::headline;
use super::text::{clip, count, grid, level_text, percent, short, thousands, wrap};
use crate::infer::BootstrapLine;
use crate::workflow::{BootstrapCoefficient, PermutationStatistic, PermutationTest, TableBootstrap};
use serde_json::{Value, json};

/// Width of the page.
const PAGE: usize = 80;
/// Width of names in a page.
const NAME: usize = 24;

fn end(value: f64) -> String {
    match value {
        f64::INFINITY => "∞".to_owned(),
        f64::NEG_INFINITY => "−∞".to_owned(),
        finite => short(finite),
    }
}

fn notes(out: &mut String, notes: &[String]) {
    out.push('\n');
    for note in notes {
        for (i, line) in wrap(note, PAGE - 2).iter().enumerate() {
            out.push_str(if i == 0 { "" } else { "  " });
            out.push_str(line);
            out.push('\n');
        }
    }
}

/// Intervals of coefficients, or how often a penalty selects each.
pub fn bootstrap_text(found: &TableBootstrap) -> String {
    let selects = found.coefficients.iter().any(|c| c.selected.is_some());
    let mut out = format!(
        "{}\n  target `{}`, {}; {} of rows drawn again, seed {}\n",
        headline(&found.model),
        found.model.target,
        count(found.model.training.used, "row"),
        count(found.replicates, "replicate"),
        found.seed
    );
    let mut scores: Vec<Option<&String>> = found.coefficients.iter().map(|c| c.score.as_ref()).collect();
    scores.dedup();
    for score in scores {
        let title = score.map_or(String::new(), |s| clip(s, NAME));
        let lines: Vec<&BootstrapCoefficient> =
            found.coefficients.iter().filter(|c| c.score.as_ref() == score).collect();
        out.push('\n');
        out.push_str(&if selects { selection_grid(title, &lines) } else { interval_grid(title, &lines) });
    }
    notes(&mut out, &bootstrap_notes(found, selects));
    out
}

fn interval_grid(title: String, lines: &[&BootstrapCoefficient]) -> String {
    let heads = ["estimate", "bias", "std.error", "low", "high", "BCa low", "BCa high"];
    let mut rows = vec![std::iter::once(title).chain(heads.map(str::to_owned)).collect::<Vec<String>>()];
    for coefficient in lines {
        let Some(line) = &coefficient.line else { continue };
        let optional = |v: Option<f64>| v.map_or("-".to_owned(), short);
        let corrected = line.bca.map_or(["-".to_owned(), "-".to_owned()], |(low, high)| [end(low), end(high)]);
        let plain = [short(line.estimate), optional(line.bias), optional(line.se)];
        let ends = [end(line.percentile.0), end(line.percentile.1)];
        let name = std::iter::once(clip(&coefficient.name, NAME));
        rows.push(name.chain(plain).chain(ends).chain(corrected).collect());
    }
    grid(&rows, 0)
}

fn selection_grid(title: String, lines: &[&BootstrapCoefficient]) -> String {
    let heads = ["estimate", "selected", "with that sign"];
    let mut rows = vec![std::iter::once(title).chain(heads.map(str::to_owned)).collect::<Vec<String>>()];
    for coefficient in lines {
        let Some(selected) = coefficient.selected else { continue };
        let sign = coefficient.same_sign.filter(|_| coefficient.estimate != 0.0);
        rows.push(vec![
            clip(&coefficient.name, NAME),
            short(coefficient.estimate),
            percent(selected),
            sign.map_or("-".to_owned(), percent),
        ]);
    }
    grid(&rows, 0)
}

fn bootstrap_notes(found: &TableBootstrap, selects: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let penalised = found.model.objective.lambda.is_some_and(|l| l > 0.0);
    if selects {
        notes.push(
            "How often the penalty selects each column. There are no intervals: where a coefficient is zero in the population, \
             replicates of a lasso do not have the distribution of its estimate."
                .to_owned(),
        );
    } else {
        notes.push(format!(
            "{} % intervals: percentile, and BCa (by a jackknife of {}).",
            level_text(found.level),
            count(found.groups, "group")
        ));
    }
    if penalised && !selects {
        notes.push(
            "They are about what this method with this penalty would give on the whole population, and not about coefficients \
             without a penalty, from which it shrinks: none of them is a test of maximum likelihood."
                .to_owned(),
        );
    }
    if found.separated > 0 {
        notes.push(format!(
            "{} had no optimum (their rows are separated) and counted as −∞ at the low and +∞ at the high ends.",
            count(found.separated, "replicate")
        ));
    }
    if found.without_class > 0 {
        notes.push(format!("{} lacked a class and were left out.", count(found.without_class, "replicate")));
    }
    if found.unconverged > 0 {
        notes.push(format!("{} did not reach their tolerance.", count(found.unconverged, "replicate")));
    }
    notes
}

fn line_json(line: &BootstrapLine) -> Value {
    let pair = |(low, high): (f64, f64)| json!([finite(low), finite(high)]);
    json!({"bias": line.bias, "se": line.se, "percentile": pair(line.percentile), "bca": line.bca.map(pair)})
}

/// JSON has no infinities; a text stands for them.
fn finite(value: f64) -> Value {
    match value {
        f64::INFINITY => json!("inf"),
        f64::NEG_INFINITY => json!("-inf"),
        v => json!(v),
    }
}

/// The machine interface of a bootstrap.
pub fn bootstrap_json(found: &TableBootstrap) -> Value {
    let one = |c: &BootstrapCoefficient| {
        let mut value = c.line.as_ref().map_or_else(|| json!({}), line_json);
        value["score"] = json!(c.score);
        value["name"] = json!(c.name);
        value["estimate"] = json!(c.estimate);
        if c.selected.is_some() {
            value["selected"] = json!(c.selected);
            value["same_sign"] = json!(c.same_sign);
        }
        value
    };
    json!({
        "model": found.model.method.name(),
        "formula": found.model.objective.formula,
        "lambda": found.model.objective.lambda,
        "target": found.model.target,
        "rows": found.model.training.used,
        "replicates": found.replicates,
        "level": found.level,
        "seed": found.seed,
        "separated": found.separated,
        "without_class": found.without_class,
        "unconverged": found.unconverged,
        "jackknife_groups": found.groups,
        "coefficients": found.coefficients.iter().map(one).collect::<Vec<Value>>(),
    })
}

/// A permutation test in words.
pub fn permutation_text(test: &PermutationTest) -> String {
    let mut sorted = test.permuted.clone();
    sorted.sort_by(f64::total_cmp);
    let at = |p: f64| short(sorted[((sorted.len() - 1) as f64 * p).round() as usize]);
    let what = match test.statistic {
        PermutationStatistic::HeldOutError { folds } => format!("error of rows held out in {folds} folds"),
        PermutationStatistic::Margin => "widest margin, 0 where no plane separates".to_owned(),
    };
    let rows = vec![
        vec![String::new(), "value".to_owned()],
        vec!["with the classes as they are".to_owned(), short(test.observed)],
        vec!["dealt out anew: smallest".to_owned(), at(0.0)],
        vec!["  middle".to_owned(), at(0.5)],
        vec!["  largest".to_owned(), at(1.0)],
    ];
    let mut out = format!(
        "Permutation test of {}: {what}\n  {}; {}, seed {}\n\n{}\np {}  ({} as good or better; (1 + {})/(1 + {}))\n",
        test.method,
        count(test.rows, "row"),
        count(test.permuted.len(), "permutation"),
        test.seed,
        grid(&rows, 0),
        short(test.p),
        thousands(test.as_good as f64),
        test.as_good,
        test.permuted.len()
    );
    notes(
        &mut out,
        &["It tests that classes and columns are independent, exactly, for any method and any number of rows, if the rows \
           are exchangeable."
            .to_owned()],
    );
    out
}

/// The machine interface of a permutation test.
pub fn permutation_json(test: &PermutationTest) -> Value {
    let (statistic, folds) = match test.statistic {
        PermutationStatistic::HeldOutError { folds } => ("held_out_error", Some(folds)),
        PermutationStatistic::Margin => ("margin", None),
    };
    json!({
        "model": test.method, "statistic": statistic, "folds": folds, "rows": test.rows, "observed": test.observed,
        "permuted": test.permuted, "as_good": test.as_good, "p": test.p, "seed": test.seed,
    })
}

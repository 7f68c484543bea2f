//! Inference for programs: JSON, and tables of coefficients as CSV, Markdown and LaTeX.

use super::inference::line_name;
use super::refusal::no_optimum_json;
use super::text::{p_text, short};
use crate::infer::{
    Adjustment, Coefficient, Collinearity, Inference, ProbabilityInterval, RowInfluence, SeparatedInference, TermTest,
    Tested,
};
use crate::model::Fit;
use crate::separate::{CoefficientLimit, CoefficientLimits};
use crate::workflow::TableInference;
use serde_json::{Map, Value, json};

/// How a table of coefficients is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated, all digits.
    Csv,
    /// A Markdown table, rounded.
    Markdown,
    /// A LaTeX `tabular`, rounded.
    Latex,
}

/// The answer as one object.
pub fn inference_json(found: &TableInference) -> Value {
    let levels: Map<String, Value> = found.references.iter().map(|(c, l)| (c.clone(), json!(l))).collect();
    match &found.answer {
        Fit::Model(inference) => {
            let s = &inference.statistics;
            let mut value = json!({
                "target": found.target,
                "classes": inference.classes,
                "reference": {"class": inference.classes[0], "levels": levels},
                "coefficients": inference.coefficients.iter().map(|c| coefficient_json(inference, c)).collect::<Vec<_>>(),
                "covariance_matrix": inference.covariance.to_rows(),
                "left_out": inference.left_out.iter().map(|j| inference.features[*j].clone()).collect::<Vec<_>>(),
                "terms": inference.terms.iter().map(term_json).collect::<Vec<_>>(),
                "tests": inference.tests.iter().map(|t| json!({
                    "hypothesis": t.hypothesis,
                    "df": t.df,
                    "likelihood_ratio": t.ratio.map(tested_json),
                    "score": t.score.map(tested_json),
                    "wald": tested_json(t.wald),
                    "ellipsoid": t.ellipsoid.as_ref().map(|e| json!({
                        "centre": e.centre,
                        "radius_squared": e.radius_squared,
                        "half_lengths": e.half_lengths,
                        "directions": e.directions,
                    })),
                })).collect::<Vec<_>>(),
                "deviance": s.deviance,
                "null_deviance": s.null_deviance,
                "log_likelihood": s.log_likelihood,
                "null_log_likelihood": s.null_log_likelihood,
                "parameters": s.parameters,
                "aic": s.aic,
                "bic": s.bic,
                "n": s.n,
                "rows": {"table": found.rows, "used": found.used, "missing_target": found.missing_target},
                "mcfadden": s.mcfadden,
                "nagelkerke": s.nagelkerke,
                "tjur": s.tjur,
                "overall": s.overall.as_ref().map(term_json),
                "level": inference.options.level,
                "interval": inference.options.interval,
                "covariance": inference.options.covariance.name(),
                "estimator": inference.options.estimator.name(),
                "clusters": inference.clusters,
                "inflation": inference.inflation.iter().map(|t| json!({
                    "name": t.name, "df": t.df, "gvif": t.gvif, "gvif_root": t.gvif.powf(0.5 / t.df as f64),
                })).collect::<Vec<_>>(),
                "certificate": inference.certificate,
            });
            if inference.corrected_intercept.is_some() {
                value["flic_intercept"] = json!(inference.corrected_intercept);
            }
            if let Some(found) = &inference.collinearity {
                value["collinearity"] = collinearity_json(inference, found);
            }
            if inference.options.effects {
                value["effects"] = json!(
                    inference
                        .effects
                        .iter()
                        .map(|e| json!({
                            "name": inference.features[e.feature],
                            "discrete": e.discrete,
                            "effect": e.effect,
                            "se": e.error,
                            "p": e.ln_p.exp(),
                            "low": e.low,
                            "high": e.high,
                        }))
                        .collect::<Vec<_>>()
                );
            }
            value
        }
        Fit::Refused(separated) => {
            let mut value = no_optimum_json(&separated.proof, &separated.features, &separated.classes);
            value["target"] = json!(found.target);
            value["reference"] = json!({"class": separated.classes[0], "levels": levels});
            value["log_likelihood"] = json!(separated.log_likelihood);
            value["terms"] = json!(separated.terms.iter().map(term_json).collect::<Vec<_>>());
            value["limits"] = json!(separated.limits.as_ref().map(|limits| limits_json(separated, limits)));
            value["one_sided"] = json!(
                separated
                    .one_sided
                    .iter()
                    .map(|(j, side, end)| json!({
                        "name": separated.features[*j],
                        "low": (*side > 0.0).then_some(*end),
                        "high": (*side < 0.0).then_some(*end),
                    }))
                    .collect::<Vec<_>>()
            );
            value["limiting_model"] = json!(separated.limiting.as_ref().map(|limiting| json!({
                "n": limiting.statistics.n,
                "coefficients": limiting.coefficients.iter().map(|c| coefficient_json(limiting, c)).collect::<Vec<_>>(),
            })));
            value
        }
    }
}

fn collinearity_json(inference: &Inference, found: &Collinearity) -> Value {
    let name = |column: &Option<usize>| column.map_or("(intercept)".to_owned(), |j| inference.features[j].clone());
    json!({
        "columns": found.columns.iter().map(name).collect::<Vec<String>>(),
        "indices": found.indices.iter().map(|i| json!({
            "index": i.index, "singular_value": i.singular_value, "variance_shares": i.shares,
        })).collect::<Vec<Value>>(),
    })
}

/// What becomes of every coefficient, class by class.
fn limits_json(separated: &SeparatedInference, limits: &CoefficientLimits) -> Vec<Value> {
    let word = |limit: CoefficientLimit| match limit {
        CoefficientLimit::Finite => "finite",
        CoefficientLimit::PlusInfinity => "+inf",
        CoefficientLimit::MinusInfinity => "-inf",
        CoefficientLimit::EitherInfinity => "either",
        CoefficientLimit::SomeInfinity => "infinite",
        CoefficientLimit::Collinear => "collinear",
    };
    let mut all = Vec::new();
    for (score, weights) in limits.weights.iter().enumerate() {
        let class = (separated.classes.len() > 2).then(|| separated.classes[score + 1].clone());
        if let Some(limit) = limits.intercepts.get(score) {
            all.push(json!({"class": class, "name": "(intercept)", "limit": word(*limit)}));
        }
        let line = |(j, limit): (usize, &CoefficientLimit)| json!({"class": class, "name": separated.features[j], "limit": word(*limit)});
        all.extend(weights.iter().enumerate().map(line));
    }
    all
}

fn log10(ln_p: f64) -> f64 {
    ln_p / std::f64::consts::LN_10
}

fn tested_json(t: Tested) -> Value {
    json!({"statistic": t.statistic, "p": t.ln_p.exp(), "log10_p": log10(t.ln_p)})
}

fn term_json(t: &TermTest) -> Value {
    json!({
        "name": t.name,
        "test": t.test.name(),
        "df": t.df,
        "statistic": t.statistic,
        "p": t.ln_p.exp(),
        "log10_p": log10(t.ln_p),
    })
}

fn coefficient_json(inference: &Inference, line: &Coefficient) -> Value {
    let class = (inference.classes.len() > 2).then(|| inference.classes[line.class].clone());
    let mut value = json!({
        "class": class,
        "name": line_name(inference, line),
        "estimate": line.estimate,
        "se": line.error,
        "z": line.z,
        "p": line.ln_p.exp(),
        "log10_p": log10(line.ln_p),
        "low": line.low,
        "high": line.high,
        "odds_ratio": line.estimate.exp(),
        "odds_low": line.low.exp(),
        "odds_high": line.high.exp(),
        "likelihood_ratio_p": line.ratio_ln_p.map(f64::exp),
    });
    if let Some(adjustment) = inference.options.adjust {
        let name = match adjustment {
            Adjustment::Holm => "p_holm",
            Adjustment::Bh => "p_bh",
        };
        value[name] = json!(line.adjusted_ln_p.map(f64::exp));
    }
    value
}

/// The coefficients as a table.
pub fn inference_table(inference: &Inference, format: TableFormat) -> String {
    let several = inference.classes.len() > 2;
    let mut heads: Vec<&str> = Vec::new();
    if several || format == TableFormat::Csv {
        heads.push("class");
    }
    heads.extend(["name", "estimate", "se", "z", "p", "low", "high", "odds_ratio", "odds_low", "odds_high"]);
    let mut rows = Vec::with_capacity(inference.coefficients.len());
    for line in &inference.coefficients {
        let numbers = [
            line.estimate,
            line.error,
            line.z,
            line.ln_p.exp(),
            line.low,
            line.high,
            line.estimate.exp(),
            line.low.exp(),
            line.high.exp(),
        ];
        let mut row = Vec::new();
        if several || format == TableFormat::Csv {
            row.push(inference.classes[line.class].clone());
        }
        row.push(line_name(inference, line));
        match format {
            TableFormat::Csv => row.extend(numbers.iter().map(f64::to_string)),
            _ => {
                let rounded = |(at, v): (usize, &f64)| if at == 3 { p_text(line.ln_p) } else { short(*v) };
                row.extend(numbers.iter().enumerate().map(rounded));
            }
        }
        rows.push(row);
    }
    written(&heads, &rows, format)
}

fn written(heads: &[&str], rows: &[Vec<String>], format: TableFormat) -> String {
    let mut out = String::new();
    match format {
        TableFormat::Csv => {
            out.push_str(&heads.join(","));
            out.push('\n');
            for row in rows {
                out.push_str(&row.iter().map(|c| quoted(c)).collect::<Vec<_>>().join(","));
                out.push('\n');
            }
        }
        TableFormat::Markdown => {
            let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
            out.push_str(&line(heads.iter().map(|h| h.replace('_', " ")).collect()));
            let names = heads.iter().position(|h| *h == "estimate").unwrap_or(0);
            out.push_str(&line((0..heads.len()).map(|c| if c < names { "---" } else { "---:" }.to_owned()).collect()));
            for row in rows {
                out.push_str(&line(row.iter().map(|c| c.replace('|', "\\|")).collect()));
            }
        }
        TableFormat::Latex => {
            let names = heads.iter().position(|h| *h == "estimate").unwrap_or(0);
            let places: String = (0..heads.len()).map(|c| if c < names { 'l' } else { 'r' }).collect();
            out.push_str(&format!("\\begin{{tabular}}{{{places}}}\n\\hline\n"));
            let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
            out.push_str(&line(heads.iter().map(|h| h.replace('_', " ")).collect()));
            out.push_str("\\hline\n");
            for row in rows {
                out.push_str(&line(row.iter().map(|c| latex(c)).collect()));
            }
            out.push_str("\\hline\n\\end{tabular}\n");
        }
    }
    out
}

/// A CSV cell.
fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

/// LaTeX text: its special characters, and minus signs and powers of ten as mathematics.
fn latex(cell: &str) -> String {
    if let Ok(number) = cell.parse::<f64>() {
        return match cell.split_once('e') {
            Some((mantissa, exponent)) => format!("${mantissa}\\times 10^{{{exponent}}}$"),
            None if number < 0.0 => format!("${cell}$"),
            None => cell.to_owned(),
        };
    }
    let mut out = String::new();
    for c in cell.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '\\' => out.push_str("\\textbackslash{}"),
            '^' => out.push_str("\\^{}"),
            '~' => out.push_str("\\~{}"),
            other => out.push(other),
        }
    }
    out
}

/// Intervals of probabilities as CSV; rows count from 1.
pub fn probability_rows(inference: &Inference, found: &[ProbabilityInterval]) -> String {
    let classes = &inference.classes;
    // Of two classes the first is the complement of the second.
    let shown: Vec<usize> = if classes.len() == 2 { vec![1] } else { (0..classes.len()).collect() };
    let heads = shown.iter().flat_map(|k| ["p", "low", "high"].map(|what| quoted(&format!("{what}({})", classes[*k]))));
    let mut out = format!("row,{}\n", heads.collect::<Vec<_>>().join(","));
    for row in found {
        let cells = shown.iter().flat_map(|k| [row.probabilities[*k], row.low[*k], row.high[*k]]);
        let cells: Vec<String> = cells.map(|v| v.to_string()).collect();
        out.push_str(&format!("{},{}\n", row.row + 1, cells.join(",")));
    }
    out
}

/// The values of every row as CSV; rows count from 1.
pub fn inference_rows(inference: &Inference) -> String {
    let mut heads = vec!["row".to_owned()];
    heads.extend(inference.classes.iter().map(|c| quoted(&format!("p({c})"))));
    let names = ["deviance", "pearson", "quantile", "leverage", "cook", "working_weight", "working_response"];
    heads.extend(names.map(str::to_owned));
    let mut out = format!("{}\n", heads.join(","));
    let optional = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
    for row_of in &inference.rows {
        let RowInfluence { row, probabilities, deviance, pearson, quantile, leverage, cook, .. } = row_of;
        let (weight, response) = (row_of.working_weight, row_of.working_response);
        let mut cells = vec![(row + 1).to_string()];
        cells.extend(probabilities.iter().map(f64::to_string));
        cells.extend([deviance.to_string(), optional(*pearson), quantile.to_string()]);
        cells.extend([optional(*leverage), optional(*cook), optional(weight), optional(response)]);
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}

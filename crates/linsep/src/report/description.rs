//! What a table holds, for people and for programs.

use super::text::{clip, count, grid, percent, short, thousands, wrap};
use crate::table::{Question, Table};
use crate::words::{Setting, Voice, words};
use crate::workflow::{Becomes, DescribedColumn, Description, RepeatedRows};
use serde_json::{Value, json};

/// Columns of each kind, classes and questions that are shown; all are in the JSON.
const SHOWN: usize = 30;
/// Pairs of columns that are shown.
const SHOWN_PAIRS: usize = 10;
/// Characters of a line of text.
const WIDTH: usize = 76;
/// A class of fewer rows is named as rare: fewer than that cannot be in each of the usual ten folds.
const RARE: usize = 10;

/// The machine interface of a description.
pub fn description_json(table: &Table, description: &Description, voice: &dyn Voice) -> Value {
    let question = |q: &Question| {
        json!({
            "code": q.code.name(),
            "setting": q.setting.said_in_full(voice),
            "example": q.example,
            "line": q.line,
            "words": q.says().said_in_full(voice),
        })
    };
    let column = |c: &DescribedColumn| {
        let figures = c.figures.map(|f| {
            json!({
                "min": f.min, "median": f.median, "max": f.max, "mean": f.mean, "deviation": f.deviation, "skew": f.skew,
            })
        });
        let frequent: Vec<Value> =
            c.frequent.iter().take(SHOWN).map(|(level, rows)| json!({"level": level, "rows": rows})).collect();
        json!({
            "name": c.name,
            "kind": if c.is_text { "text" } else { "number" },
            "becomes": c.becomes.name(),
            "missing": c.missing,
            "levels": c.levels,
            "questions": c.questions.iter().map(question).collect::<Vec<Value>>(),
            "indicators": match c.becomes { Becomes::Indicators(n) => Some(n), _ => None },
            "figures": figures,
            "frequent": frequent,
        })
    };
    let repeated = |r: &RepeatedRows| {
        let line = |row: usize| table.place(row).line;
        json!({
            "rows": r.rows,
            "example": [r.example.0 + 1, r.example.1 + 1],
            "lines": [line(r.example.0), line(r.example.1)],
        })
    };
    let target = description.target.map(|c| &description.columns[c]);
    json!({
        "rows": description.rows,
        "complete_rows": description.complete,
        "columns": description.columns.iter().map(column).collect::<Vec<Value>>(),
        "sparse": description.sparse.map(|(columns, stored)| json!({"columns": columns, "stored": stored})),
        "duplicate_rows": description.repeated.as_ref().map(repeated),
        "contradictory_rows": description.contradictory.as_ref().map(repeated),
        "correlated": description.correlated.iter().map(|p| {
            json!({"first": p.first, "second": p.second, "correlation": p.correlation})
        }).collect::<Vec<Value>>(),
        "correlations_of_rows": description.correlated_rows,
        "target": target.map(|t| &t.name),
        "classes": target.map(|t| {
            t.frequent.iter().map(|(class, rows)| json!({"class": class, "rows": rows})).collect::<Vec<Value>>()
        }),
        "looks_like_regression": target.map(|_| description.is_regression),
    })
}

/// A description in words and tables.
pub fn description_text(table: &Table, description: &Description, voice: &dyn Voice) -> String {
    let d = description;
    let mut out = format!("{}, {}", count(d.rows, "row"), count(d.columns.len(), "column"));
    if let Some((columns, stored)) = d.sparse {
        let share = stored as f64 / (columns as f64 * d.rows.max(1) as f64);
        out.push_str(&format!(
            " and {} without names ({} stored, {})",
            thousands(columns as f64),
            count(stored, "entry").replace("entrys", "entries"),
            percent(share)
        ));
    }
    let missing = d.rows - d.complete;
    match missing {
        0 => out.push_str("; no cell is missing\n"),
        n => out.push_str(&format!("; {} a cell ({})\n", misses(n), percent(n as f64 / d.rows as f64))),
    }
    let (text, numbers): (Vec<&DescribedColumn>, Vec<&DescribedColumn>) =
        d.columns.iter().filter(|c| c.becomes != Becomes::Target).partition(|c| c.is_text);
    out.push_str(&numbers_text(&numbers, voice));
    out.push_str(&levels_text(&text, voice));
    if let Some(target) = d.target.map(|c| &d.columns[c]) {
        out.push_str(&classes_text(target, d));
    }
    out.push_str(&remarks(table, d, voice));
    out
}

fn misses(rows: usize) -> String {
    if rows == 1 { "1 row misses".to_owned() } else { format!("{} rows miss", thousands(rows as f64)) }
}

fn unshown(all: usize, shown: usize, voice: &dyn Voice) -> String {
    if all <= shown {
        return String::new();
    }
    let more = format!("  … {} more", thousands((all - shown) as f64));
    let place = words![": see ", Setting::Json].said(voice).unwrap_or_default();
    format!("{more}{place}\n")
}

/// Columns of numbers, each of which becomes a column of the matrix.
fn numbers_text(columns: &[&DescribedColumn], voice: &dyn Voice) -> String {
    if columns.is_empty() {
        return String::new();
    }
    let mut rows =
        vec![["numbers", "missing", "values", "least", "median", "most", "sd", "skew"].map(str::to_owned).to_vec()];
    for column in columns.iter().take(SHOWN) {
        let mut line = vec![clip(&column.name, 24), blank_zero(column.missing)];
        match (column.becomes, column.figures) {
            (_, None) => line.push("empty".to_owned()),
            (Becomes::Constant, Some(f)) => line.extend(["1".to_owned(), short(f.min), "constant".to_owned()]),
            (_, Some(f)) => {
                let optional = |v: Option<f64>| v.map_or(String::new(), short);
                line.push(thousands(column.levels as f64));
                line.extend([short(f.min), short(f.median), short(f.max), optional(f.deviation)]);
                line.push(f.skew.map_or(String::new(), |s| format!("{s:.1}").replace("-0.0", "0.0")));
            }
        }
        rows.push(line);
    }
    format!("\n{}{}", grid(&rows, 2), unshown(columns.len(), SHOWN, voice))
}

/// Columns of text with what becomes of them.
fn levels_text(columns: &[&DescribedColumn], voice: &dyn Voice) -> String {
    if columns.is_empty() {
        return String::new();
    }
    let mut rows = vec![["text", "missing", "levels", "becomes", "most frequent"].map(str::to_owned).to_vec()];
    for column in columns.iter().take(SHOWN) {
        let becomes = match column.becomes {
            Becomes::Indicators(n) => count(n, "indicator"),
            Becomes::TooManyLevels => "refused".to_owned(),
            Becomes::Constant => "nothing".to_owned(),
            _ => "cannot be used".to_owned(),
        };
        let most = column
            .frequent
            .first()
            .map_or(String::new(), |(level, n)| format!("{} ({})", clip(level, 18), thousands(*n as f64)));
        rows.push(vec![
            clip(&column.name, 24),
            blank_zero(column.missing),
            thousands(column.levels as f64),
            becomes,
            most,
        ]);
    }
    let mut out = format!("\n{}{}", grid(&rows, 2), unshown(columns.len(), SHOWN, voice));
    if columns.iter().any(|c| c.becomes == Becomes::TooManyLevels) {
        let said = words![
            "Refused: more levels than are made indicators unasked; ",
            Setting::Levels.is("500"),
            " allows them, ",
            Setting::Drop,
            " leaves the column out."
        ];
        paragraph(&mut out, &said.said_in_full(voice));
    }
    out
}

fn blank_zero(n: usize) -> String {
    if n == 0 { String::new() } else { thousands(n as f64) }
}

/// The classes with their rows.
fn classes_text(target: &DescribedColumn, d: &Description) -> String {
    let labelled = d.rows - target.missing;
    let mut out = format!(
        "\n  target `{}`: {}",
        clip(&target.name, 40),
        count(target.levels, "class").replace("classs", "classes")
    );
    if target.missing > 0 {
        out.push_str(&format!(
            "; {} no label and would be left out",
            if target.missing == 1 {
                "1 row has".to_owned()
            } else {
                format!("{} rows have", thousands(target.missing as f64))
            }
        ));
    }
    out.push('\n');
    if d.is_regression {
        return out;
    }
    let mut rows = Vec::new();
    for (class, n) in target.frequent.iter().take(12) {
        let share = *n as f64 / labelled.max(1) as f64;
        let rare = if *n < RARE { "rare" } else { "" };
        rows.push(vec![clip(class, 30), thousands(*n as f64), percent(share), rare.to_owned()]);
    }
    out.push_str(&grid(&rows, 4));
    if target.frequent.len() > rows.len() {
        let smallest = target.frequent.last().map_or(0, |(_, n)| *n);
        let rest = target.frequent.len() - rows.len();
        out.push_str(&format!("    … {rest} more, the smallest of {}\n", count(smallest, "row")));
    }
    if let Some((_, most)) = target.frequent.first().filter(|_| labelled > 0) {
        let share = percent(*most as f64 / labelled as f64);
        paragraph(&mut out, &format!("Whoever always says the largest class is right in {share} of the rows."));
    }
    out
}

/// Repeated rows, near copies of columns, and the questions.
fn remarks(table: &Table, d: &Description, voice: &dyn Voice) -> String {
    let mut out = String::new();
    let place = |row: usize| match table.place(row).line {
        Some(line) => format!("line {line}"),
        None => format!("row {}", row + 1),
    };
    let pair = |r: &RepeatedRows| format!("{} and {}", place(r.example.0), place(r.example.1));
    if d.is_regression
        && let Some(target) = d.target.map(|c| &d.columns[c])
    {
        paragraph(
            &mut out,
            &format!(
                "The target has {} different numbers: this looks like regression. A classifier needs classes: make a column of \
             them, such as above and below a limit that matters.",
                thousands(target.levels as f64)
            ),
        );
    }
    if let Some(repeated) = &d.repeated {
        let what = if repeated.rows == 1 {
            "1 row repeats".to_owned()
        } else {
            format!("{} rows repeat", thousands(repeated.rows as f64))
        };
        paragraph(
            &mut out,
            &format!(
                "{what} an earlier one in every cell, for example {}. Copies in training and test make figures look better than they are.",
                pair(repeated)
            ),
        );
    }
    if let Some(contradictory) = &d.contradictory {
        let what = if contradictory.rows == 1 {
            "1 row has".to_owned()
        } else {
            format!("{} rows have", thousands(contradictory.rows as f64))
        };
        paragraph(
            &mut out,
            &format!(
                "{what} the cells of an earlier one and another label, for example {}: no classifier is right about both.",
                pair(contradictory)
            ),
        );
    }
    for near in d.correlated.iter().take(SHOWN_PAIRS) {
        paragraph(
            &mut out,
            &format!(
                "`{}` and `{}` are nearly the same: correlation {}.",
                clip(&near.first, 30),
                clip(&near.second, 30),
                near_one(near.correlation)
            ),
        );
    }
    if d.correlated.len() > SHOWN_PAIRS {
        paragraph(
            &mut out,
            &format!("… {} more pairs of columns are nearly the same.", d.correlated.len() - SHOWN_PAIRS),
        );
    }
    if d.correlated_rows > 0 && d.correlated_rows < d.rows {
        paragraph(
            &mut out,
            &format!("Correlations are those of the first {} rows.", thousands(d.correlated_rows as f64)),
        );
    }
    let questions: Vec<&Question> = d.columns.iter().flat_map(|c| &c.questions).collect();
    if !questions.is_empty() {
        out.push_str("\n  questions\n");
    }
    for question in questions.iter().take(SHOWN) {
        for (i, line) in wrap(&question.says().said_in_full(voice), WIDTH - 2).iter().enumerate() {
            out.push_str(&format!("  {} {line}\n", if i == 0 { "-" } else { " " }));
        }
    }
    out.push_str(&unshown(questions.len(), SHOWN, voice));
    out
}

/// A correlation near one, with the digits that tell it from one.
fn near_one(r: f64) -> String {
    let below = 1.0 - r.abs();
    if below <= f64::EPSILON * 8.0 {
        return format!("{}", r.signum());
    }
    let decimals = (1.0 - below.log10().floor()).clamp(3.0, 15.0) as usize;
    format!("{r:.decimals$}")
}

fn paragraph(out: &mut String, text: &str) {
    out.push('\n');
    for line in wrap(text, WIDTH) {
        out.push_str(&format!("  {line}\n"));
    }
}

//! What `fit` says of columns that may not be what they look like.

use crate::page;
use crate::voice;
use linsep::table::{ColumnQuestion, Table, questions};
use serde_json::{Value, json};
use std::fmt::Write;

/// Most questions that are written out. Chosen; the rest are counted.
const SHOWN: usize = 8;
/// Columns of the label.
const LABEL: usize = 15;
/// Columns of the text beside it at most.
const LINE: usize = 64;

/// The questions about the columns in use.
pub struct Questions(Vec<ColumnQuestion>);

impl Questions {
    /// What may be asked of a table before it is fitted.
    pub fn of(table: &Table, target: &str, uses: impl Fn(&str) -> bool) -> Questions {
        let all = questions(table, Some(target)).into_iter();
        Questions(all.filter(|q| q.column == target || uses(&q.column)).collect())
    }

    /// None.
    pub fn none() -> Questions {
        Questions(Vec::new())
    }

    /// A line each, with its label.
    pub fn text(&self) -> String {
        let mut out = if self.0.is_empty() { String::new() } else { "\n".to_owned() };
        for question in self.0.iter().take(SHOWN) {
            add(&mut out, &question.says().said_in_full(&voice::Command));
        }
        if self.0.len() > SHOWN {
            add(&mut out, &format!("and {} more questions about columns: --json has them", self.0.len() - SHOWN));
        }
        out
    }

    /// For programs; `None` where there is nothing to ask.
    pub fn json(&self) -> Option<Value> {
        let one = |q: &ColumnQuestion| {
            json!({
                "column": q.column,
                "code": q.code.name(),
                "setting": q.setting.said(&voice::Command),
                "example": q.example,
                "line": q.line,
                "text": q.says().said_in_full(&voice::Command),
            })
        };
        (!self.0.is_empty()).then(|| self.0.iter().map(one).collect())
    }
}

/// A text behind the label of questions, broken at spaces.
fn add(out: &mut String, text: &str) {
    let mut line = String::new();
    let mut label = "question";
    let mut end = |line: &mut String| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "  {label:<12} {line}");
        label = "";
        line.clear();
    };
    for word in text.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > (page::width() - LABEL).min(LINE) {
            end(&mut line);
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    end(&mut line);
}

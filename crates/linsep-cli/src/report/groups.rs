//! Figures by the groups of a column.

use super::Story;
use super::page::{Block, Section};
use super::rows::JudgedRows;
use linsep::evaluate::wilson;
use linsep::{Error, Result};
use std::collections::BTreeMap;

/// Most groups in a table: of more, none has rows enough to say anything.
const MOST_GROUPS: usize = 50;

/// What is counted in a group; the last of two classes is the positive one.
#[derive(Default)]
struct Counts {
    rows: usize,
    right: usize,
    decided_positive: usize,
    positive: usize,
    found: usize,
    false_alarms: usize,
}

/// A share with its Wilson interval.
fn share(count: usize, of: usize) -> String {
    if of == 0 {
        return "–".to_owned();
    }
    let (low, high) = wilson(count as f64, of as f64);
    format!("{:.3} ({low:.3} to {high:.3})", count as f64 / of as f64)
}

/// Accuracy by group, and for two classes the shares of positive decisions, found positives and false alarms.
pub fn fairness(story: &Story<'_>, by: &str) -> Result<Section> {
    let (table, model) = (story.judged, story.model);
    let column = table.column(by)?;
    let judged = JudgedRows::of(story)?;
    let mut groups: BTreeMap<String, Counts> = BTreeMap::new();
    for (at, row) in judged.rows.iter().enumerate() {
        let group = match table.number(*row, column).is_nan() {
            true => "(missing)".to_owned(),
            false => table.text(*row, column),
        };
        let counts = groups.entry(group).or_default();
        let (truth, decided) = (judged.truth[at], judged.predicted[at]);
        let positive = |class: linsep::table::Class| class.index() == 1;
        counts.rows += 1;
        counts.right += usize::from(decided == Some(truth));
        counts.positive += usize::from(positive(truth));
        counts.decided_positive += usize::from(decided.is_some_and(positive));
        counts.found += usize::from(positive(truth) && decided.is_some_and(positive));
        counts.false_alarms += usize::from(!positive(truth) && decided.is_some_and(positive));
    }
    if groups.len() > MOST_GROUPS {
        return Err(Error::usage(format!("column `{by}` has {} groups, more than {MOST_GROUPS}", groups.len()))
            .help("choose a column of few values, or make classes of it"));
    }
    let two = model.classes.len() == 2;
    let mut head: Vec<String> = [by, "rows", "accuracy"].map(str::to_owned).into();
    if two {
        let positive = &model.classes[1];
        head.extend([format!("decided {positive}"), format!("{positive} found"), format!("false {positive}")]);
    }
    let line = |(name, c): (&String, &Counts)| {
        let mut row = vec![name.clone(), c.rows.to_string(), share(c.right, c.rows)];
        if two {
            row.extend([
                share(c.decided_positive, c.rows),
                share(c.found, c.positive),
                share(c.false_alarms, c.rows - c.positive),
            ]);
        }
        row
    };
    let rows = groups.iter().map(line).collect();
    let apart = disjoint(&groups);
    let mut text = "Shares with 95 % Wilson intervals; rows count once, whatever their weight. ".to_owned();
    text.push_str(&match apart {
        Some((low, high)) => format!(
            "The accuracies of `{low}` and `{high}` differ by more than their intervals: the model is worse for `{low}`."
        ),
        None => "No two groups have accuracies whose intervals are disjoint; that does not show that they are equal.".to_owned(),
    });
    if !story.apart {
        text.push_str(" These are the rows of the fit, so that every figure is too good.");
    }
    Ok(Section {
        title: format!("By {by}"),
        blocks: vec![Block::Paragraph(text), Block::Cells { head, rows, numbers: true }],
    })
}

/// The groups of the least and the largest accuracy, if their intervals have nothing in common.
fn disjoint(groups: &BTreeMap<String, Counts>) -> Option<(&str, &str)> {
    let interval = |c: &Counts| wilson(c.right as f64, c.rows as f64);
    let least = groups.iter().min_by(|a, b| interval(a.1).1.total_cmp(&interval(b.1).1))?;
    let most = groups.iter().max_by(|a, b| interval(a.1).0.total_cmp(&interval(b.1).0))?;
    (interval(least.1).1 < interval(most.1).0).then_some((least.0.as_str(), most.0.as_str()))
}

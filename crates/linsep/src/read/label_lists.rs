//! Several labels of a row in LIBSVM files: `1,3 index:value …`, as the field's multi-label data sets are written.
//!
//! Every label becomes a column `label=1` of ones and zeros, so that the table is as any other with several yes/no labels. A row
//! may have none: its line begins with the first feature.

use super::ReadOptions;
use crate::error::{Error, Result};
use crate::table::{Aside, Cells, Chunk, Column, Kind, MISSING_TEXT, Reading, Table};
use crate::words::{Setting, words};

/// The named column of rows with one label each.
pub(super) const LABEL: &str = "label";
/// Begins the name of the column of a label.
const PREFIX: &str = "label=";
/// Most labels: each is a column and a fit of its own. Chosen; the largest common data set of a single table has some thousand.
const MOST_LABELS: usize = 10_000;

/// Whether the model that the table is for has labels of this kind.
pub(super) fn are_expected(options: &ReadOptions) -> bool {
    !options.as_read.labels.is_empty()
}

/// Whether the labels of a table are lists, and are not asked to be text.
pub(super) fn are_lists(table: &Table, options: &ReadOptions) -> bool {
    let Kind::Text { levels } = &table.columns()[0].kind else { return false };
    let listed = levels.iter().any(|level| level.contains(','));
    (listed || are_expected(options)) && !options.text.iter().any(|name| name == LABEL)
}

/// The same table with a column for every label that occurs or that a model expects.
pub(super) fn label_columns(table: Table, options: &ReadOptions) -> Result<Table> {
    let Kind::Text { levels } = &table.columns()[0].kind else { return Ok(table) };
    let lists: Vec<Vec<&str>> = levels.iter().map(|level| labels_of(level)).collect();
    if let Some(bad) = lists.iter().position(|list| list.contains(&"")) {
        let row = table.first_row_of(0, |code| code == bad).unwrap_or(0);
        return Err(Error::format(format!("`{}` has an empty label between its commas", levels[bad]))
            .at(table.place(row).column(LABEL))
            .help("write several labels as 1,3 and none by leaving them out")
            .help(words!["read such labels as classes: ", Setting::TextColumns.is(LABEL)]));
    }
    let known = options.as_read.labels.iter().map(String::as_str);
    let mut labels: Vec<&str> = lists.iter().flatten().copied().chain(known).collect();
    labels.sort_unstable_by(|a, b| number(a).total_cmp(&number(b)).then(a.cmp(b)));
    labels.dedup();
    if labels.len() > MOST_LABELS {
        return Err(Error::data(format!("the rows have {} labels, more than {MOST_LABELS}", labels.len()))
            .at(table.place(0).column(LABEL))
            .help(words!["read such labels as classes: ", Setting::TextColumns.is(LABEL)]));
    }
    let example = levels.iter().find(|level| level.contains(',')).cloned();
    let has: Vec<Vec<bool>> = labels.iter().map(|l| lists.iter().map(|list| list.contains(l)).collect()).collect();
    let columns = labels.iter().map(|l| Column { name: format!("{PREFIX}{l}"), kind: Kind::Number }).collect();
    let count = labels.len();
    let one = |chunk: &Chunk, has: &[bool]| match &chunk.cells[0] {
        Cells::Text(codes) => {
            let cell = |code: &u32| if *code == MISSING_TEXT { i8::MIN } else { i8::from(has[*code as usize]) };
            Cells::I8(codes.iter().map(cell).collect())
        }
        other => other.clone(),
    };
    let split = |chunk: &Chunk| Chunk {
        n_rows: chunk.n_rows,
        cells: has.iter().map(|has| one(chunk, has)).collect(),
        sparse: chunk.sparse.clone(),
        origin: chunk.origin.clone(),
    };
    let chunks = table.chunks().iter().map(split).collect();
    let reading = Reading { labels: labels.iter().map(|l| (*l).to_owned()).collect(), ..Reading::default() };
    let found = Table::new(columns, chunks, table.sparse_width()).with_reading(reading);
    Ok(match example {
        Some(example) => found.with_aside(Aside::LabelLists { example, count }),
        None => found,
    })
}

/// The labels of a cell; none of an empty one.
fn labels_of(cell: &str) -> Vec<&str> {
    if cell.is_empty() { Vec::new() } else { cell.split(',').collect() }
}

/// Numbers come in their order, then other labels.
fn number(label: &str) -> f64 {
    label.parse().ok().filter(|v: &f64| v.is_finite()).unwrap_or(f64::INFINITY)
}

//! Whether one column alone tells the label.

use super::{Class, Kind, Labels, Table};

/// Rows that are looked at: more would take longer and say the same. Chosen.
const LOOKED_AT: usize = 20_000;
/// Classes beyond which a label is no class. Chosen; as many levels as a text column may have unasked.
const MOST_CLASSES: usize = 100;
/// Rows that there must be outside the largest class, so that it means something to tell them. Chosen.
const FEWEST: usize = 10;
/// One in so many of those rows may be told wrong. Chosen.
const ONE_IN: usize = 100;
/// Rows for each value of a column that is looked at value by value; with fewer every column tells every label. Chosen.
const ROWS_PER_VALUE: usize = 10;

/// Some rows with their classes.
pub(super) struct ToldClasses {
    rows: Vec<(usize, Class)>,
    classes: usize,
    /// Rows outside the largest class.
    others: usize,
}

/// The labelled rows that are looked at; `None` where there is nothing to tell.
pub(super) fn told_classes(table: &Table, label: usize) -> Option<ToldClasses> {
    let (classes, names) = Labels::from_column(table, label);
    if names.len() < 2 || names.len() > MOST_CLASSES {
        return None;
    }
    let labelled: Vec<(usize, Class)> = classes.iter().enumerate().filter_map(|(i, c)| c.map(|c| (i, c))).collect();
    let step = labelled.len().div_ceil(LOOKED_AT).max(1);
    let rows: Vec<(usize, Class)> = labelled.into_iter().step_by(step).collect();
    let mut sizes = vec![0usize; names.len()];
    rows.iter().for_each(|(_, class)| sizes[class.index()] += 1);
    let others = rows.len() - sizes.iter().max()?;
    (others >= FEWEST).then_some(ToldClasses { rows, classes: names.len(), others })
}

/// The first row, where the column tells nearly every label.
pub(super) fn determines(table: &Table, column: usize, told: &ToldClasses) -> Option<usize> {
    let mut cells: Vec<(f64, Class)> = Vec::with_capacity(told.rows.len());
    for (row, class) in &told.rows {
        cells.push((table.number(*row, column), *class));
    }
    // Missing cells come last, as one more value.
    cells.sort_by(|a, b| a.0.total_cmp(&b.0));
    let values = 1 + cells.windows(2).filter(|w| w[0].0.total_cmp(&w[1].0).is_ne()).count();
    let wrong = match &table.columns()[column].kind {
        _ if values * ROWS_PER_VALUE <= cells.len() => wrong_by_value(&cells, told.classes),
        Kind::Number if told.classes == 2 => wrong_by_threshold(&cells),
        _ => return None,
    };
    (wrong * ONE_IN <= told.others).then(|| told.rows[0].0)
}

/// Rows told wrong by the most frequent class of each value.
fn wrong_by_value(cells: &[(f64, Class)], classes: usize) -> usize {
    let mut wrong = 0;
    for group in cells.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let mut sizes = vec![0usize; classes];
        group.iter().for_each(|(_, class)| sizes[class.index()] += 1);
        wrong += group.len() - sizes.iter().max().unwrap_or(&0);
    }
    wrong
}

/// Rows of two classes told wrong by the best threshold.
fn wrong_by_threshold(cells: &[(f64, Class)]) -> usize {
    let second = cells.iter().filter(|(_, class)| class.index() == 1).count();
    // Below the threshold the first class: wrong are those of the second below it and of the first above it.
    let (mut wrong, mut least) = (cells.len() - second, cells.len());
    let mut best = |wrong: usize| least = least.min(wrong).min(cells.len() - wrong);
    best(wrong);
    for group in cells.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let second = group.iter().filter(|(_, class)| class.index() == 1).count();
        wrong = wrong + second - (group.len() - second);
        best(wrong);
    }
    least
}

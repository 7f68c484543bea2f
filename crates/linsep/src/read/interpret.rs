//! Text that is something else: dates, amounts, percentages, yes and no. Decided over the distinct texts of a column, so
//! that a column costs what its levels cost.

use super::column::Numbers;
use super::infer::{FIX, as_text, shown};
use super::style::CellStyle;
use super::{Expected, ReadOptions};
use crate::error::{Error, Result};
use crate::table::{
    CellReading, Cells, ColumnReading, DateOrder, Kind, MISSING_TEXT, Mark, Moment, NumberStyle, Table, day_of_iso,
    iso_day, order_of,
};
use crate::words::{Setting, words};
use std::collections::BTreeSet;

/// Turns columns of text into numbers, where that was asked for, where a model has done so, and where a whole column is
/// unmistakable.
pub(super) fn interpret(mut table: Table, options: &ReadOptions, style: &CellStyle, is_csv: bool) -> Result<Table> {
    let mut reading = style.reading();
    reading.index_from = table.reading().index_from;
    reading.labels.clone_from(&table.reading().labels);
    let expected = options.expected.iter().filter(|(_, kind)| *kind == Expected::Text).map(|(name, _)| name);
    let texts: BTreeSet<&str> = expected.chain(&options.text).map(String::as_str).collect();
    let is_text = |name: &str| texts.contains(name);
    let names: Vec<String> = table.columns().iter().map(|c| c.name.clone()).collect();
    for (c, name) in names.iter().enumerate() {
        if !is_csv && !style.missing.is_empty() {
            forget_missing(&mut table, c, style);
        }
        let Kind::Text { levels } = &table.columns()[c].kind else {
            if options.number.contains(name) || options.as_read.of(name).is_none() {
                continue;
            }
            let message = "the table of the model had text here (dates, amounts or the like), this one has numbers";
            return Err(Error::data(message)
                .at(table.place(0).column(name))
                .help("write the cells as they were")
                .help(words!["if they are the same numbers: ", Setting::Number.is(name)]));
        };
        if is_text(name) || options.labels.contains(name) {
            continue;
        }
        let asked = options.dates.iter().find(|(n, _)| n == name).map(|(_, order)| *order);
        let found = if let Some(order) = asked {
            Some(asked_dates(levels, order, options.as_read.of(name)).map_err(|e| e.at(&table, c))?)
        } else if options.number.contains(name) {
            Some(any_number(levels, style.numbers).map_err(|e| e.at(&table, c))?)
        } else if let Some(before) = options.as_read.of(name) {
            Some(as_before(levels, before, style.numbers).map_err(|e| e.at(&table, c))?)
        } else {
            unmistakable(levels, style.numbers)
        };
        let Some((values, cells)) = found else { continue };
        to_numbers(&mut table, c, &values);
        reading.columns.extend(cells.map(|cells| ColumnReading { name: name.clone(), cells }));
    }
    let asked: Vec<String> = names.into_iter().filter(|name| is_text(name)).collect();
    Ok(table.with_reading(reading).with_asked(asked))
}

/// A number for every level, and what the levels are.
type Interpreted = (Vec<f64>, Option<CellReading>);

/// Levels that are not what was asked for.
struct BadLevel {
    levels: Vec<usize>,
    what: String,
}

impl BadLevel {
    fn at(self, table: &Table, column: usize) -> Error {
        let name = &table.columns()[column].name;
        let row = table.first_row_of(column, |level| self.levels.binary_search(&level).is_ok()).unwrap_or(0);
        let cell = table.text(row, column);
        Error::format(format!("{} {}", shown(cell.as_bytes()), self.what))
            .at(table.place(row).column(name))
            .help(FIX)
            .help(as_text(name))
    }
}

/// A value for every level, or those that have none.
fn each(levels: &[String], what: &str, value: impl Fn(&str) -> Option<f64>) -> std::result::Result<Vec<f64>, BadLevel> {
    let values: Vec<Option<f64>> = levels.iter().map(|level| value(level)).collect();
    let bad: Vec<usize> = (0..values.len()).filter(|at| values[*at].is_none()).collect();
    match bad.is_empty() {
        true => Ok(values.into_iter().flatten().collect()),
        false => Err(BadLevel { levels: bad, what: what.to_owned() }),
    }
}

fn any_number(levels: &[String], style: NumberStyle) -> std::result::Result<Interpreted, BadLevel> {
    if let Ok(values) = each(levels, "", |text| style.number(text)) {
        return Ok((values, None));
    }
    if let Some(found) = marked(levels, style) {
        return Ok(found);
    }
    if let Ok(values) = each(levels, "", boolean) {
        return Ok((values, Some(CellReading::Boolean)));
    }
    let fits = |text: &str| style.number(text).or(style.marked(text).map(|(_, value)| value));
    // Each of them is a number, but not all with the same sign: the first is named.
    each(levels, "is not a number", fits)?;
    Err(BadLevel { levels: vec![0], what: "and other cells differ in their percent or currency sign".into() })
}

/// Numbers that all have the same sign.
fn marked(levels: &[String], style: NumberStyle) -> Option<Interpreted> {
    let (first, _) = style.marked(levels.first()?)?;
    let own = |text: &str| style.marked(text).filter(|(mark, _)| *mark == first).map(|(_, value)| value);
    let values = each(levels, "", own).ok()?;
    Some((values, Some(reading_of(first))))
}

fn reading_of(mark: Mark<'_>) -> CellReading {
    match mark {
        Mark::Percent => CellReading::Percent,
        Mark::Currency(sign) => CellReading::Currency { sign: sign.to_owned() },
    }
}

/// Yes as one and no as zero, in the words of R, Python and people.
fn boolean(text: &str) -> Option<f64> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "t" | "y" | "1" => Some(1.0),
        "false" | "no" | "f" | "n" | "0" => Some(0.0),
        _ => None,
    }
}

fn unmistakable(levels: &[String], style: NumberStyle) -> Option<Interpreted> {
    if levels.is_empty() {
        return None;
    }
    if let Some(found) = marked(levels, style) {
        return Some(found);
    }
    if !style.is_plain()
        && let Ok(values) = each(levels, "", |text| style.number(text))
    {
        return Some((values, None));
    }
    let order = order_of(levels.iter().map(String::as_str)).ok()?;
    days(levels, order, None).ok()
}

fn asked_dates(
    levels: &[String],
    order: Option<DateOrder>,
    before: Option<&CellReading>,
) -> std::result::Result<Interpreted, BadLevel> {
    let first = match before {
        Some(CellReading::Date { first, .. }) => day_of_iso(first),
        _ => None,
    };
    match order.or_else(|| order_of(levels.iter().map(String::as_str)).ok()) {
        Some(order) => days(levels, order, first),
        // Not all of one order: the first that is no date in the order of the others, else the first of them all.
        None => {
            let order = DateOrder::ALL.into_iter().max_by_key(|order| {
                (levels.iter().filter(|text| Moment::read(text, *order).is_some()).count(), *order == DateOrder::Ymd)
            });
            days(levels, order.unwrap_or(DateOrder::Ymd), first)?;
            Err(BadLevel {
                levels: vec![0],
                what: "is a date whose order is open: say ymd, dmy or mdy with the column".into(),
            })
        }
    }
}

/// Days since the first of the dates, or since a given day.
fn days(levels: &[String], order: DateOrder, first: Option<i64>) -> std::result::Result<Interpreted, BadLevel> {
    let read: Vec<Option<Moment>> = levels.iter().map(|text| Moment::read(text, order)).collect();
    let without = |is_bad: &dyn Fn(&Option<Moment>) -> bool| -> Vec<usize> {
        (0..read.len()).filter(|at| is_bad(&read[*at])).collect()
    };
    let bad = without(&|m| m.is_none());
    if !bad.is_empty() {
        return Err(BadLevel { levels: bad, what: format!("is not a date ({})", order.words()) });
    }
    let zoned = without(&|m| m.is_some_and(|m| m.zoned));
    if !zoned.is_empty() && zoned.len() < levels.len() {
        return Err(BadLevel { levels: zoned, what: "has a time zone, and other dates have none".into() });
    }
    let moments: Vec<Moment> = read.into_iter().flatten().collect();
    let first = first.or_else(|| moments.iter().map(Moment::own_day).min()).unwrap_or(0);
    let values = moments.iter().map(|m| m.days_since(first)).collect();
    Ok((values, Some(CellReading::Date { order, first: iso_day(first) })))
}

/// As the model's table was read.
fn as_before(
    levels: &[String],
    before: &CellReading,
    style: NumberStyle,
) -> std::result::Result<Interpreted, BadLevel> {
    let values = match before {
        CellReading::Date { order, first } => return days(levels, *order, day_of_iso(first)),
        CellReading::Boolean => each(levels, "is neither yes nor no", boolean)?,
        CellReading::Percent => {
            let own = |text: &str| style.marked(text).filter(|(m, _)| *m == Mark::Percent).map(|(_, value)| value);
            each(levels, "is not a number with a percent sign, as it was when the model was fitted", own)?
        }
        CellReading::Currency { sign } => {
            let own = |text: &str| style.marked(text).filter(|(m, _)| *m == Mark::Currency(sign)).map(|(_, v)| v);
            each(levels, &format!("is not an amount in {sign}, as it was when the model was fitted"), own)?
        }
    };
    Ok((values, Some(before.clone())))
}

fn to_numbers(table: &mut Table, column: usize, values: &[f64]) {
    table.make_numbers(column, |cells| {
        let Cells::Text(codes) = cells else { return cells.clone() };
        let value = |code: &u32| if *code == MISSING_TEXT { f64::NAN } else { values[*code as usize] };
        let mut numbers = Numbers::with_capacity(codes.len());
        numbers.extend(&codes.iter().map(value).collect::<Vec<f64>>());
        numbers.into_cells()
    });
}

/// Makes cells missing that are words of missing; readers of text files have done so.
fn forget_missing(table: &mut Table, column: usize, style: &CellStyle) {
    match &table.columns()[column].kind {
        Kind::Text { levels } => {
            let gone: Vec<usize> =
                (0..levels.len()).filter(|l| style.missing.iter().any(|word| *word == levels[*l])).collect();
            if !gone.is_empty() {
                table.forget_levels(column, &gone);
            }
        }
        Kind::Number => {
            let gone: Vec<f64> = style.missing.iter().filter_map(|word| style.numbers.number(word)).collect();
            if gone.is_empty() {
                return;
            }
            table.make_numbers(column, |cells| {
                let mut kept = Vec::with_capacity(cells.len());
                cells.for_each(|_, v| kept.push(if gone.contains(&v) { f64::NAN } else { v }));
                let mut numbers = Numbers::with_capacity(kept.len());
                numbers.extend(&kept);
                numbers.into_cells()
            });
        }
    }
}

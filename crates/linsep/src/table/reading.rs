//! How the cells of a table were read, where that is not the plain way: what a model keeps, so that other tables are read
//! the same.

use super::{Cells, Kind, MISSING_TEXT, NumberStyle, Table};
use crate::role::{Role, Roles};
use crate::table::DateOrder;
use serde::{Deserialize, Serialize};

/// What was learned about reading, or asked for. Empty where cells are plain numbers and text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reading {
    /// The decimal sign, where it is not a point.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub decimal: Option<char>,
    /// The sign between groups of three digits.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub thousands: Option<char>,
    /// Words that stand for a missing cell, besides those that always do.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub missing: Vec<String>,
    /// What sparse indices count from, where that is not one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub index_from: Option<u32>,
    /// Labels of sparse rows that have several, each of which is a column.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub labels: Vec<String>,
    /// Columns of text that became numbers.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub columns: Vec<ColumnReading>,
}

/// A column of text that became numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnReading {
    /// Its name.
    pub name: String,
    /// What its cells are.
    pub cells: CellReading,
}

/// What cells of text are, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CellReading {
    /// Numbers with a percent sign; `12 %` is 12.
    Percent,
    /// Amounts with the sign of a currency.
    Currency {
        /// The sign.
        sign: String,
    },
    /// Yes or no; yes is 1.
    Boolean,
    /// Days since the first day of the training table.
    Date {
        /// The order of year, month and day.
        order: DateOrder,
        /// The first day, as `2024-12-31`.
        first: String,
    },
}

impl Reading {
    /// What was asked for is a choice; the rest is found again in the cells.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::Fields(&[
        ("decimal", Roles::All(Role::Setting)),
        ("thousands", Roles::All(Role::Setting)),
        ("missing", Roles::All(Role::Setting)),
        ("index_from", Roles::All(Role::Claim)),
        // Of a table that is read for a model they are columns whether or not a row has them.
        ("labels", Roles::All(Role::Setting)),
        ("columns", Roles::All(Role::Claim)),
    ]);

    /// Whether everything is read the plain way.
    pub fn is_plain(&self) -> bool {
        *self == Reading::default()
    }

    /// How numbers are written.
    pub fn style(&self) -> NumberStyle {
        NumberStyle { decimal: self.decimal.unwrap_or('.'), thousands: self.thousands }
    }

    /// What a column's cells are, where they are not plain.
    pub fn of(&self, column: &str) -> Option<&CellReading> {
        self.columns.iter().find(|c| c.name == column).map(|c| &c.cells)
    }

    /// Whether what came from a file can be used.
    pub fn is_whole(&self) -> bool {
        let date = |c: &ColumnReading| match &c.cells {
            CellReading::Date { first, .. } => super::dates::day_of_iso(first).is_some(),
            _ => true,
        };
        let style = self.style();
        NumberStyle::is_decimal(style.decimal)
            && style.thousands.is_none_or(|t| NumberStyle::is_thousands(t) && t != style.decimal)
            && self.columns.iter().all(date)
    }
}

/// What a reader did besides reading, or saw on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Aside {
    /// A first column without a name whose cells are all different: row names, left out.
    RowNames,
    /// Columns at the end without names and cells, left out.
    EmptyColumns(usize),
    /// Rows at the end without cells, left out.
    EmptyRows(usize),
    /// One sheet of several was read.
    Sheet {
        /// Its name.
        read: String,
        /// The names of the others that have cells.
        others: Vec<String>,
    },
    /// The text was not UTF-8.
    Encoding(&'static str),
    /// Sparse indices count from zero.
    FromZero,
    /// Rows have several labels, each of which is a column.
    LabelLists {
        /// Those of a row.
        example: String,
        /// How many there are.
        count: usize,
    },
    /// A number of a column is written with leading zeros.
    LeadingZeros {
        /// The column.
        column: String,
        /// The cell.
        example: String,
        /// Its line.
        line: u64,
    },
}

impl Aside {
    /// In a sentence; `None` where it is no more than an observation.
    pub fn says(&self) -> Option<String> {
        Some(match self {
            Aside::RowNames => "the first column has no name and another text in every row: row names, left out".into(),
            Aside::EmptyColumns(1) => "a column at the end without a name and without cells was left out".into(),
            Aside::EmptyColumns(n) => format!("{n} columns at the end without names and without cells were left out"),
            Aside::EmptyRows(1) => "a row at the end without cells was left out".into(),
            Aside::EmptyRows(n) => format!("{n} rows at the end without cells were left out"),
            Aside::Sheet { read, others } => {
                let shown = others.iter().take(3).map(String::as_str).collect::<Vec<_>>().join("`, `");
                let more = if others.len() > 3 { ", …" } else { "" };
                format!("sheet `{read}` of the workbook was read, not `{shown}`{more}")
            }
            Aside::Encoding(name) => format!("the file was read as {name}"),
            Aside::FromZero => "the indices of the file count from 0: index 0 is column 1 here".into(),
            Aside::LabelLists { example, count } => {
                let first = example.split(',').next().unwrap_or_default();
                format!(
                    "labels such as `{example}` are several: {count} columns of 1 and 0, among them `label={first}`"
                )
            }
            Aside::LeadingZeros { .. } => return None,
        })
    }
}

/// Beside the cells: how they were read, and what else the reader saw.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ReadingRecord {
    pub(super) reading: Reading,
    pub(super) asides: Vec<Aside>,
    /// Columns of a file whose kind was asked for, so that there is nothing to question; `None` for a table that no file
    /// was read for.
    pub(super) asked: Option<Vec<String>>,
}

impl Cells {
    /// Leaves out the cells from a row on.
    pub(crate) fn truncate(&mut self, rows: usize) {
        match self {
            Cells::I8(v) => v.to_mut().truncate(rows),
            Cells::I16(v) => v.to_mut().truncate(rows),
            Cells::I32(v) => v.to_mut().truncate(rows),
            Cells::F64(v) => v.to_mut().truncate(rows),
            Cells::Text(v) => v.to_mut().truncate(rows),
        }
    }
}

impl Table {
    /// How the cells were read, where that is not the plain way.
    pub fn reading(&self) -> &Reading {
        &self.record.reading
    }

    /// What else the reader did or saw.
    #[doc(hidden)]
    pub fn asides(&self) -> &[Aside] {
        &self.record.asides
    }

    /// Whether the kind of a column was asked for, so that there is nothing to question.
    pub(crate) fn is_asked(&self, column: &str) -> bool {
        self.record.asked.as_ref().is_none_or(|asked| asked.iter().any(|c| c == column))
    }

    /// The cell of a column of dates as ISO writes it; `None` for other columns, empty where the cell is missing.
    pub fn date_text(&self, row: usize, column: usize) -> Option<String> {
        /// Milliseconds of a day, to which times are rounded: days in a double keep about a microsecond.
        const DAY: f64 = 86_400_000.0;
        let Some(CellReading::Date { first, .. }) = self.reading().of(&self.columns()[column].name) else {
            return None;
        };
        let first = super::dates::day_of_iso(first)?;
        let days = self.number(row, column);
        if days.is_nan() {
            return Some(String::new());
        }
        let whole = days.floor();
        let thousandths = ((days - whole) * DAY).round();
        // A time just before midnight may be rounded to it.
        let (whole, thousandths) = if thousandths >= DAY { (whole + 1.0, 0) } else { (whole, thousandths as u64) };
        let date = super::dates::iso_day(first.saturating_add(whole as i64));
        let (seconds, rest) = (thousandths / 1000, thousandths % 1000);
        let time = format!("T{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        Some(match (seconds, rest) {
            (0, 0) => date,
            (_, 0) => format!("{date}{time}"),
            _ => format!("{date}{time}.{rest:03}"),
        })
    }

    /// The same table, read in this way.
    pub(crate) fn with_reading(mut self, reading: Reading) -> Table {
        self.record.reading = reading;
        self
    }

    pub(crate) fn with_aside(mut self, aside: Aside) -> Table {
        self.record.asides.push(aside);
        self
    }

    /// The same table; the kinds of these columns were asked for.
    pub(crate) fn with_asked(mut self, columns: Vec<String>) -> Table {
        self.record.asked = Some(columns);
        self
    }

    /// Puts numbers in the place of the cells of a column, chunk by chunk.
    pub(crate) fn make_numbers(&mut self, column: usize, mut numbers: impl FnMut(&Cells) -> Cells) {
        self.columns[column].kind = Kind::Number;
        for chunk in &mut self.chunks {
            chunk.cells[column] = numbers(&chunk.cells[column]);
        }
    }

    /// Makes the cells of some levels missing, and leaves these levels out.
    pub(crate) fn forget_levels(&mut self, column: usize, gone: &[usize]) {
        let Kind::Text { levels } = &mut self.columns[column].kind else { return };
        let mut codes: Vec<u32> = Vec::with_capacity(levels.len());
        let mut kept = 0;
        for level in 0..levels.len() {
            let stays = !gone.contains(&level);
            codes.push(if stays { kept } else { MISSING_TEXT });
            kept += u32::from(stays);
        }
        let mut at = 0;
        levels.retain(|_| {
            at += 1;
            !gone.contains(&(at - 1))
        });
        for chunk in &mut self.chunks {
            if let Cells::Text(own) = &mut chunk.cells[column] {
                own.to_mut()
                    .iter_mut()
                    .filter(|code| **code != MISSING_TEXT)
                    .for_each(|code| *code = codes[*code as usize]);
            }
        }
    }

    /// Leaves a column out.
    pub(crate) fn remove_column(&mut self, column: usize) {
        self.columns.remove(column);
        self.chunks.iter_mut().for_each(|chunk| drop(chunk.cells.remove(column)));
    }

    /// The first row in which a text column has one of some levels.
    pub(crate) fn first_row_of(&self, column: usize, is_one: impl Fn(usize) -> bool) -> Option<usize> {
        for (c, chunk) in self.chunks.iter().enumerate() {
            let Cells::Text(codes) = &chunk.cells[column] else { continue };
            let is_one = |code: &u32| *code != MISSING_TEXT && is_one(*code as usize);
            if let Some(i) = codes.iter().position(is_one) {
                return Some(self.starts[c] + i);
            }
        }
        None
    }
}

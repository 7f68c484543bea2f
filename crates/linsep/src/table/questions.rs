//! Columns that may not be what they look like: decimal commas read as text, codes read as numbers, identifiers, columns
//! that give the label away. Each question names the setting that answers it, a cell and its line.

use super::dates::{NoOrder, order_of};
use super::leakage::{determines, told_classes};
use super::number_style::is_any_space;
use super::style_words::{STYLES, sign_words, style_words};
use super::unread::{compact_dates, has_other_minus, is_unread_moment};
use super::{Aside, Cells, Column, DateOrder, Kind, MISSING_TEXT, Moment, NumberStyle, Table};
use crate::error::{Error, Place};
use crate::words::{Setting, Words, words};

/// Rows from which on a different value in each of them says something. Chosen; no result depends on it.
const FEW_ROWS: usize = 20;
/// Share of the cells that must look like something else for a column to be questioned. Chosen, not measured.
const QUESTIONED: (usize, usize) = (1, 2);
/// Share from which on a fit refuses the column until the question is answered. Chosen, not measured.
const REFUSED: (usize, usize) = (9, 10);

/// A question about a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnQuestion {
    /// The column.
    pub column: String,
    /// What is asked.
    pub code: QuestionCode,
    /// The setting that answers it; empty where there is none.
    pub setting: Words,
    /// A cell that shows it.
    pub example: String,
    /// The line of the cell, or its row in a format without lines.
    pub line: Option<u64>,
    place: Place,
    refused: bool,
    /// The style that cells seem to be in, where that is the question.
    style: NumberStyle,
}

/// What is asked of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuestionCode {
    /// Text that looks like numbers in another style.
    NumberStyle,
    /// Some numbers have a percent or currency sign, others none or another.
    MixedSigns,
    /// Dates whose order of day and month, or whose century, is open.
    DateOrder,
    /// Dates written in several ways.
    MixedDates,
    /// Times of day, months or dates with the names of months, which are not read; dates written as one number.
    UnreadDates,
    /// Numbers whose minus sign is a dash.
    OtherMinus,
    /// Most cells are numbers, some are not.
    MostlyNumbers,
    /// Most cells are dates, some are not.
    MostlyDates,
    /// Digits with leading zeros: codes.
    LeadingZeros,
    /// Another value in every row.
    Identifier,
    /// The column nearly determines the label.
    Leakage,
    /// Levels that differ by case or spaces only.
    Variants,
}

impl QuestionCode {
    /// A word for programs.
    pub fn name(self) -> &'static str {
        match self {
            QuestionCode::NumberStyle => "number_style",
            QuestionCode::MixedSigns => "mixed_signs",
            QuestionCode::DateOrder => "date_order",
            QuestionCode::MixedDates => "mixed_dates",
            QuestionCode::UnreadDates => "unread_dates",
            QuestionCode::OtherMinus => "other_minus",
            QuestionCode::MostlyNumbers => "mostly_numbers",
            QuestionCode::MostlyDates => "mostly_dates",
            QuestionCode::LeadingZeros => "leading_zeros",
            QuestionCode::Identifier => "identifier",
            QuestionCode::Leakage => "leakage",
            QuestionCode::Variants => "variants",
        }
    }

    fn fact(self, example: &str, style: NumberStyle) -> String {
        match self {
            QuestionCode::NumberStyle => {
                format!("cells such as `{example}` look like numbers with {}", sign_words(style))
            }
            QuestionCode::MixedSigns => {
                format!("some numbers have a percent or currency sign and others, such as `{example}`, do not")
            }
            QuestionCode::DateOrder => {
                format!("cells such as `{example}` look like dates, but not which part is the day, month and year")
            }
            QuestionCode::MixedDates => format!("dates are written in several ways, one of them as `{example}`"),
            QuestionCode::UnreadDates => format!(
                "cells such as `{example}` look like times or dates, and are not read as such: write dates as 2024-12-31, \
                 times as hours"
            ),
            QuestionCode::OtherMinus => {
                format!("cells such as `{example}` look like numbers whose minus sign is a dash: write it as -")
            }
            QuestionCode::MostlyNumbers => format!("most cells are numbers, but `{example}` is not"),
            QuestionCode::MostlyDates => format!("most cells are dates, but `{example}` is not"),
            QuestionCode::LeadingZeros => format!("cells such as `{example}` have leading zeros, as codes do"),
            QuestionCode::Identifier => {
                format!("every row has another value, such as `{example}`: an identifier tells nothing of other rows")
            }
            QuestionCode::Leakage => {
                "nearly determines the label: if it is known only after the label, it may not be used".into()
            }
            QuestionCode::Variants => format!("levels that differ by case or spaces only are different: {example}"),
        }
    }
}

impl ColumnQuestion {
    /// In one sentence.
    pub fn says(&self) -> Words {
        let place = match (self.place.line, self.place.row) {
            (Some(line), _) => format!(" (line {line})"),
            (None, Some(row)) => format!(" (row {row})"),
            (None, None) => String::new(),
        };
        let fact = self.code.fact(&self.example, self.style);
        let separator = if self.code == QuestionCode::Leakage { " " } else { ": " };
        let head = words![format!("column `{}`{separator}{fact}{place}", self.column)];
        match self.setting == Words::default() {
            true => head,
            false => self.setting.clone().after(words!["; "].after(head)),
        }
    }

    /// Whether a fit refuses the column as text until the question is answered.
    pub fn is_refused(&self) -> bool {
        self.refused
    }

    /// The error of a fit that would take the column for text.
    pub(crate) fn into_error(self) -> Error {
        let error = Error::data(self.code.fact(&self.example, self.style)).at(self.place.column(&self.column));
        let error =
            if self.setting == Words::default() { error.help("write them alike") } else { error.help(self.setting) };
        error.help(words!["keep the text with ", Setting::TextColumns.is(&self.column)])
    }
}

/// What may be wrong with the columns of a table, in their order; `target` is the column to predict.
pub fn questions(table: &Table, target: Option<&str>) -> Vec<ColumnQuestion> {
    let label = target.and_then(|name| table.columns().iter().position(|c| c.name == name));
    let classes = label.and_then(|label| told_classes(table, label));
    let mut found = Vec::new();
    for (c, column) in table.columns().iter().enumerate() {
        let is_label = Some(c) == label;
        let look = if is_label { None } else { unanswered(table, c) };
        let is_clear = look.is_none();
        found.extend(look);
        found.extend(leading_zeros(table, c));
        if let Some(row) = compact_dates(table, c, FEW_ROWS).filter(|_| !is_label && !table.is_asked(&column.name)) {
            let example = (table.text(row, c), Some(row));
            found.push(question(table, c, QuestionCode::UnreadDates, Words::default(), example));
        }
        if let Kind::Text { levels } = &column.kind {
            found.extend(variants(table, c, levels));
        }
        if is_label {
            continue;
        }
        let identifier = if is_clear { identifier(table, c) } else { None };
        let is_identifier = identifier.is_some();
        found.extend(identifier);
        if let Some(classes) = &classes
            && !is_identifier
            && let Some(row) = determines(table, c, classes)
        {
            let setting = words!["leave it out with ", Setting::Drop.is(&column.name)];
            found.push(question(table, c, QuestionCode::Leakage, setting, (table.text(row, c), Some(row))));
        }
    }
    found
}

fn question(
    table: &Table,
    column: usize,
    code: QuestionCode,
    setting: Words,
    (example, row): (String, Option<usize>),
) -> ColumnQuestion {
    let place = row.map(|row| table.place(row)).unwrap_or_default();
    let column = table.columns()[column].name.clone();
    ColumnQuestion {
        column,
        code,
        setting,
        example,
        line: place.line.or(place.row),
        place,
        refused: false,
        style: NumberStyle::default(),
    }
}

/// The question that a text column raises before it can be taken for text.
pub(crate) fn unanswered(table: &Table, column: usize) -> Option<ColumnQuestion> {
    let Kind::Text { levels } = &table.columns()[column].kind else { return None };
    if levels.is_empty() || table.is_asked(&table.columns()[column].name) {
        return None;
    }
    let look = Look { table, column, levels, counts: counts(table, column, levels.len()) };
    look.other_style()
        .or_else(|| look.signs())
        .or_else(|| look.dates())
        .or_else(|| look.minus())
        .or_else(|| look.mostly())
        .or_else(|| look.moments())
}

/// How often each level occurs.
fn counts(table: &Table, column: usize, levels: usize) -> Vec<usize> {
    let mut counts = vec![0; levels];
    for chunk in table.chunks() {
        if let Cells::Text(codes) = &chunk.cells[column] {
            codes.iter().filter(|code| **code != MISSING_TEXT).for_each(|code| counts[*code as usize] += 1);
        }
    }
    counts
}

/// A text column under suspicion.
struct Look<'a> {
    table: &'a Table,
    column: usize,
    levels: &'a [String],
    counts: Vec<usize>,
}

impl Look<'_> {
    /// Cells whose text is of a kind, and all of them.
    fn share(&self, is: impl Fn(&str) -> bool) -> (usize, usize) {
        let of = |(level, count): (&String, &usize)| if is(level) { *count } else { 0 };
        (self.levels.iter().zip(&self.counts).map(of).sum(), self.counts.iter().sum())
    }

    /// A question with the first cell of a kind as its example.
    fn ask(&self, code: QuestionCode, setting: Words, is: impl Fn(&str) -> bool) -> Option<ColumnQuestion> {
        let fitting: Vec<bool> = self.levels.iter().map(|level| is(level)).collect();
        let row = self.table.first_row_of(self.column, |level| fitting[level])?;
        let example = (self.table.text(row, self.column), Some(row));
        Some(question(self.table, self.column, code, setting, example))
    }

    fn name(&self) -> &str {
        &self.table.columns()[self.column].name
    }

    /// Numbers in a style other than that of the file.
    fn other_style(&self) -> Option<ColumnQuestion> {
        let own = self.table.reading().style();
        let reads = |style: NumberStyle, text: &str| style.number(text).is_some() || style.marked(text).is_some();
        let others: Vec<NumberStyle> = STYLES.into_iter().filter(|style| *style != own).collect();
        let mut best: Option<(usize, NumberStyle)> = None;
        for style in others {
            let (fitting, all) = self.share(|text| reads(style, text));
            // Something must be read that was not read before, and the simpler style wins.
            let anew = self.levels.iter().any(|text| reads(style, text) && !reads(own, text));
            if anew && within(fitting, all, QUESTIONED) && best.is_none_or(|(most, _)| fitting > most) {
                best = Some((fitting, style));
            }
        }
        let (fitting, style) = best?;
        let (plain, all) = self.share(|text| reads(own, text));
        if plain >= fitting {
            return None;
        }
        let is_new = |text: &str| reads(style, text) && !reads(own, text);
        let found = self.ask(QuestionCode::NumberStyle, style_words(style), is_new)?;
        Some(ColumnQuestion { refused: within(fitting, all, REFUSED), style, ..found })
    }

    /// Numbers of which some have a sign.
    fn signs(&self) -> Option<ColumnQuestion> {
        let style = self.table.reading().style();
        let marked = self.levels.iter().filter(|text| style.marked(text).is_some()).count();
        let (fitting, all) = self.share(|text| style.number(text).is_some() || style.marked(text).is_some());
        if marked == 0 || !within(fitting, all, REFUSED) {
            return None;
        }
        // The sign of the first is taken for the rule; the example is a cell without it.
        let first = self.levels.iter().find_map(|text| style.marked(text)).map(|(mark, _)| mark);
        let other = |text: &str| style.marked(text).map(|(mark, _)| mark) != first;
        let found = self.ask(QuestionCode::MixedSigns, Words::default(), other)?;
        Some(ColumnQuestion { refused: fitting == all, ..found })
    }

    fn dates(&self) -> Option<ColumnQuestion> {
        match order_of(self.levels.iter().map(String::as_str)) {
            Ok(_) | Err(NoOrder::NoDate) => None,
            Err(NoOrder::Unclear) => {
                let setting = Setting::Date.any(["dmy", "mdy"].map(|order| format!("{}={order}", self.name())));
                let found = self.ask(QuestionCode::DateOrder, words!["say which: ", setting], |_| true)?;
                Some(ColumnQuestion { refused: true, ..found })
            }
            Err(NoOrder::Several) => {
                let first = DateOrder::ALL.into_iter().find(|o| Moment::read(&self.levels[0], *o).is_some())?;
                let other = |text: &str| Moment::read(text, first).is_none();
                let found = self.ask(QuestionCode::MixedDates, Words::default(), other);
                let found = found.or_else(|| self.ask(QuestionCode::MixedDates, Words::default(), |_| true))?;
                Some(ColumnQuestion { refused: true, ..found })
            }
        }
    }

    /// Numbers, some of which have a dash for a minus.
    fn minus(&self) -> Option<ColumnQuestion> {
        let style = self.table.reading().style();
        let dashed = |text: &str| has_other_minus(text, style);
        let (fitting, all) =
            self.share(|text| dashed(text) || style.number(text).is_some() || style.marked(text).is_some());
        if !within(fitting, all, QUESTIONED) {
            return None;
        }
        let found = self.ask(QuestionCode::OtherMinus, Words::default(), dashed)?;
        Some(ColumnQuestion { refused: within(fitting, all, REFUSED), ..found })
    }

    /// Times and months, which become levels.
    fn moments(&self) -> Option<ColumnQuestion> {
        let (fitting, all) = self.share(is_unread_moment);
        let asked = || self.ask(QuestionCode::UnreadDates, Words::default(), is_unread_moment);
        if within(fitting, all, QUESTIONED) { asked() } else { None }
    }

    /// Mostly numbers or dates, with something else among them.
    fn mostly(&self) -> Option<ColumnQuestion> {
        let style = self.table.reading().style();
        let is_number = |text: &str| style.number(text).is_some() || style.marked(text).is_some();
        let is_date = |text: &str| DateOrder::ALL.iter().any(|order| Moment::read(text, *order).is_some());
        let missing = |example: &str| words!["if it means missing: ", Setting::NaValues.is(example)];
        let (fitting, all) = self.share(is_number);
        if fitting < all && within(fitting, all, QUESTIONED) {
            let found = self.ask(QuestionCode::MostlyNumbers, Words::default(), |text| !is_number(text))?;
            return Some(ColumnQuestion { setting: missing(&found.example), ..found });
        }
        let (fitting, all) = self.share(is_date);
        if fitting < all && within(fitting, all, QUESTIONED) {
            let found = self.ask(QuestionCode::MostlyDates, Words::default(), |text| !is_date(text))?;
            return Some(ColumnQuestion { setting: missing(&found.example), ..found });
        }
        None
    }
}

/// Whether `part` is at least this share of `all`, in whole numbers.
fn within(part: usize, all: usize, share: (usize, usize)) -> bool {
    part > 0 && part as u128 * share.1 as u128 >= all as u128 * share.0 as u128
}

/// Whether a text is digits of which the first is a needless zero.
pub(crate) fn has_leading_zero(text: &[u8]) -> bool {
    text.len() > 1 && text[0] == b'0' && text.iter().all(u8::is_ascii_digit)
}

fn leading_zeros(table: &Table, column: usize) -> Option<ColumnQuestion> {
    let Column { name, kind } = &table.columns()[column];
    if table.is_asked(name) {
        return None;
    }
    let as_text = words!["keep the text with ", Setting::TextColumns.is(name)];
    let seen = table.asides().iter().find_map(|aside| match aside {
        Aside::LeadingZeros { column, example, line } if column == name => Some((example.clone(), *line)),
        _ => None,
    });
    // As text the zeros are kept: nothing is lost.
    let ((example, line), Kind::Number) = (seen?, kind) else { return None };
    let found = question(table, column, QuestionCode::LeadingZeros, as_text, (example, Some(0)));
    Some(ColumnQuestion { line: Some(line), place: found.place.line(line), ..found })
}

/// Whether a column has another value in every row; numbers only where they count rows.
fn identifier(table: &Table, column: usize) -> Option<ColumnQuestion> {
    let rows = table.n_rows();
    if rows < FEW_ROWS {
        return None;
    }
    let is_one = match &table.columns()[column].kind {
        Kind::Text { levels } => levels.len() == rows,
        Kind::Number => counts_rows(table, column),
    };
    let drop = words!["leave it out with ", Setting::Drop.is(&table.columns()[column].name)];
    is_one.then(|| question(table, column, QuestionCode::Identifier, drop, (table.text(0, column), Some(0))))
}

/// Whether the cells are whole numbers, each one more than that before it.
fn counts_rows(table: &Table, column: usize) -> bool {
    let mut before: Option<f64> = None;
    table.chunks().iter().all(|chunk| {
        let cells = &chunk.cells[column];
        (0..cells.len()).all(|i| {
            let value = cells.number(i);
            let follows = before.is_none_or(|b| value == b + 1.0);
            before = Some(value);
            follows && value.fract() == 0.0
        })
    })
}

/// Two levels that differ by case or spaces only.
fn variants(table: &Table, column: usize, levels: &[String]) -> Option<ColumnQuestion> {
    let key = |level: &String| -> String {
        level.chars().filter(|c| !is_any_space(*c)).flat_map(char::to_lowercase).collect()
    };
    let mut keys: Vec<(String, usize)> = levels.iter().enumerate().map(|(at, level)| (key(level), at)).collect();
    keys.sort_unstable();
    let pair = keys.windows(2).find(|pair| pair[0].0 == pair[1].0)?;
    let (a, b) = (pair[0].1, pair[1].1);
    let example = format!("`{}` and `{}`", levels[a], levels[b]);
    let first = |level: usize| table.first_row_of(column, |other| other == level);
    let row = first(a).max(first(b));
    Some(question(table, column, QuestionCode::Variants, Words::default(), (example, row)))
}

//! Sheets of Excel workbooks (`.xlsx`, `.xlsm`): the cells as they are stored, whatever format shows them.
//!
//! The first row with a cell is the header, the sheet's own row numbers are the lines. A cell is a number, a boolean, a date,
//! text or empty; dates become text in ISO's form, so that they are read as dates in any other file are. What a program
//! could only guess is an error with its cell: merged cells, error values, formulas whose value was never computed.

use super::column::{Numbers, RawColumn, TextColumn};
use super::csv::{distinct_names, numbered_names, same_columns, without_unnamed};
use super::dictionary::Dictionary;
use super::feed::Placed;
use super::guarded::guarded;
use super::infer::{CellPlaces, InferOutcome, RawChunk, assemble};
use super::number::{Said, trim_spaces};
use super::source::{Input, halted, no_room};
use super::style::CellStyle;
use super::{ReadOptions, Wanted, wanted};
use crate::error::{Error, Place, Result, nearest};
use crate::numeric::has_room;
use crate::table::{Aside, Table, has_leading_zero};
use crate::watch::Watch;
use crate::words::{Setting, words};
use calamine::{DataRef, Dimensions, ExcelDateTime, Reader, Sheet, SheetType, SheetVisible, Xlsx, XlsxError};
use std::io::Cursor;

type Workbook = Xlsx<Cursor<Vec<u8>>>;

/// Cells between two looks at the watch and at the memory that is left. Chosen; results do not depend on it.
const STEP: usize = 1 << 16;
/// Cells of the enclosing rectangle for each that is stored, from which on a sheet is refused. Chosen: a table that is all but
/// empty is no table, and one cell far away must not fill the memory.
const RECTANGLE: usize = 1000;
/// Cells that a rectangle may have however few are stored. Chosen: 64 MB.
const FEW_CELLS: usize = 1 << 22;
/// The first serial number that is a day; below it there is a time of day only.
const FIRST_DAY: f64 = 1.0;
/// The first serial number behind 9999-12-31, the last day that spreadsheets know.
const END_OF_DAYS: f64 = 2_958_466.0;
/// Letters that number the columns of a sheet.
const LETTERS: u32 = 26;

/// A cell as it is stored; text by its code in the sheet's dictionary.
#[derive(Debug, Clone, Copy, PartialEq)]
enum SheetCell {
    Empty,
    Number(f64),
    Boolean(bool),
    Date(u32),
    Text(u32),
}

/// The rows of one sheet below its header.
struct SheetRows {
    names: Vec<String>,
    /// One-based row of the sheet that the first of them is.
    first_row: u64,
    n_rows: usize,
    columns: Vec<Vec<SheetCell>>,
    texts: Dictionary,
    name: String,
    /// Other sheets that could have been meant.
    others: Vec<String>,
}

/// Reads one sheet of every workbook; their columns must be the same.
pub(super) fn read(inputs: &[Input<'_>], options: &ReadOptions, style: &CellStyle, watch: &Watch) -> Result<Table> {
    let sheets =
        inputs.iter().map(|input| SheetRows::read(input, options, style, watch)).collect::<Result<Vec<_>>>()?;
    let names = &sheets[0].names;
    let orders =
        (0..sheets.len()).map(|f| same_columns(&sheets[f].names, names, inputs, f)).collect::<Result<Vec<_>>>()?;
    let mut wanted = wanted(names, options, inputs[0].name())?;
    if sheets.iter().all(|sheet| sheet.n_rows == 0) {
        return Err(Error::format(format!("sheet `{}` has a header but no row below it", sheets[0].name))
            .at(Place::file(&**inputs[0].name()))
            .help("the first row with a cell is taken as the header"));
    }
    loop {
        let pieces = sheets.iter().zip(&orders).enumerate().map(|(file, (sheet, order))| Placed {
            file,
            first_line: sheet.first_row,
            parsed: sheet.chunk(order, &wanted, style),
        });
        let outcome = assemble(inputs, names, &wanted, pieces.collect(), 0, style)
            .map_err(|error| error.in_context(format!("sheet `{}`", sheets[0].name)))?;
        match outcome {
            InferOutcome::Table(table) => {
                let table = without_unnamed(table, inputs, sheets[0].first_row - 1)?;
                let SheetRows { name: read, others, .. } = sheets.into_iter().next().expect("one at least");
                return Ok(match others.is_empty() {
                    true => table,
                    false => table.with_aside(Aside::Sheet { read, others }),
                });
            }
            InferOutcome::ReadAgainAsText(columns) => columns.into_iter().for_each(|c| wanted[c] = Wanted::Text),
        }
    }
}

impl SheetRows {
    fn read(input: &Input<'_>, options: &ReadOptions, style: &CellStyle, watch: &Watch) -> Result<SheetRows> {
        let bytes = input.raw()?;
        guarded(|| SheetRows::of(input, bytes, options, style, watch))
            .unwrap_or_else(|| Err(damaged(input, "it is damaged")))
    }

    fn of(
        input: &Input<'_>,
        bytes: Vec<u8>,
        options: &ReadOptions,
        style: &CellStyle,
        watch: &Watch,
    ) -> Result<SheetRows> {
        if !bytes.starts_with(b"PK") {
            return Err(Error::format("the name is that of a workbook, and what is in it is none")
                .at(Place::file(&**input.name()))
                .help("if it is text, end its name in .csv"));
        }
        let failed = |error: XlsxError| damaged(input, &error.to_string());
        let mut workbook = Workbook::new(Cursor::new(bytes)).map_err(failed)?;
        let (name, others) = chosen_sheet(&mut workbook, input, options)?;
        let merged = workbook.merge_cells_by_sheet_name(&name).map_err(failed)?;
        let sheet = OneSheet { input, name: &name, style };
        let mut texts = Dictionary::default();
        let mut cells = Vec::new();
        let mut reader = workbook.worksheet_cells_reader(&name).map_err(failed)?;
        while let Some(record) = reader.next_cell_with_formula_metadata().map_err(failed)? {
            if u64::from(record.pos.0) < options.skip {
                continue;
            }
            if record.value == DataRef::Empty && record.formula.is_some() {
                return Err(sheet
                    .at(record.pos, "is a formula whose value was never computed")
                    .help("open the workbook in a spreadsheet and save it"));
            }
            match sheet.cell(record.pos, record.value, &mut texts)? {
                SheetCell::Empty => {}
                cell => cells.push((record.pos, cell)),
            }
            if cells.len() % STEP == 0 {
                halted(watch)?;
                if !has_room(2 * size_of_val(&cells[..])) {
                    return Err(no_room(input));
                }
            }
        }
        drop(reader);
        let Some(header) = cells.iter().map(|(at, _)| at.0).min() else {
            let left = if options.skip > 0 { " below the rows that are left out" } else { "" };
            return Err(Error::format(format!("sheet `{name}` has no cells{left}"))
                .at(Place::file(&**input.name()))
                .help("name another sheet"));
        };
        sheet.refuse_merged(&merged, header, &cells, options)?;
        sheet.table(header, cells, texts, options).map(|rows| SheetRows { name: name.clone(), others, ..rows })
    }

    /// The columns at their places in the table, each of the kind that its cells are.
    fn chunk(&self, order: &[usize], wanted: &[Wanted], style: &CellStyle) -> RawChunk {
        let mut columns: Vec<Option<RawColumn>> = order.iter().map(|_| None).collect();
        for (cells, at) in self.columns.iter().zip(order) {
            columns[*at] = Some(match wanted[*at] {
                Wanted::Text => self.as_text(cells, style),
                kind => self.as_numbers(cells, kind, style).unwrap_or_else(|| self.as_text(cells, style)),
            });
        }
        let columns = columns.into_iter().flatten().collect();
        RawChunk { n_rows: self.n_rows, columns, sparse: None, places: CellPlaces::Consecutive }
    }

    /// Numbers, where every cell is one; booleans are, where there is nothing else. Of text the numbers that it says, unless
    /// one has leading zeros, as codes do.
    fn as_numbers(&self, cells: &[SheetCell], kind: Wanted, style: &CellStyle) -> Option<RawColumn> {
        let said: Vec<Option<f64>> = (0..self.texts.len())
            .map(|code| {
                let text = self.texts.get(code);
                match style.read(text) {
                    Said::Number(_) if kind == Wanted::Infer && has_leading_zero(text) => None,
                    Said::Number(value) => Some(value),
                    Said::Missing => Some(f64::NAN),
                    Said::Text => None,
                }
            })
            .collect();
        let booleans = cells.iter().filter(|cell| matches!(cell, SheetCell::Boolean(_))).count();
        let present = cells.iter().filter(|cell| **cell != SheetCell::Empty).count();
        if kind == Wanted::Infer && booleans > 0 && booleans < present {
            return None;
        }
        let mut numbers = Numbers::with_capacity(cells.len());
        for cell in cells {
            numbers.push(match cell {
                SheetCell::Empty => f64::NAN,
                SheetCell::Number(value) => *value,
                SheetCell::Boolean(value) => f64::from(u8::from(*value)),
                SheetCell::Text(code) => said[*code as usize]?,
                SheetCell::Date(_) => return None,
            });
        }
        Some(RawColumn::Number(numbers.into_cells()))
    }

    /// Every cell as it would be written in a text file of the same style.
    fn as_text(&self, cells: &[SheetCell], style: &CellStyle) -> RawColumn {
        let mut column = TextColumn::with_capacity(cells.len());
        for cell in cells {
            match cell {
                SheetCell::Empty => column.push_missing(),
                SheetCell::Number(value) => {
                    let text = value.to_string().replace('.', &style.numbers.decimal.to_string());
                    column.push(text.as_bytes());
                }
                SheetCell::Boolean(value) => column.push(if *value { b"TRUE" } else { b"FALSE" }),
                SheetCell::Date(code) | SheetCell::Text(code) => {
                    let text = self.texts.get(*code as usize);
                    if style.is_missing(text) { column.push_missing() } else { column.push(text) }
                }
            }
        }
        RawColumn::Text(column)
    }
}

/// The sheet that was asked for, or the first that is shown and has cells; and the other ones of that kind.
fn chosen_sheet(workbook: &mut Workbook, input: &Input<'_>, options: &ReadOptions) -> Result<(String, Vec<String>)> {
    let place = || Place::file(&**input.name());
    let is_sheet = |sheet: &&Sheet| sheet.typ == SheetType::WorkSheet;
    let all: Vec<String> = workbook.sheets_metadata().iter().filter(is_sheet).map(|s| s.name.clone()).collect();
    if all.is_empty() {
        return Err(Error::format("the workbook has no sheet of cells").at(place()).help("add a sheet with a table"));
    }
    if let Some(asked) = &options.sheet {
        if all.contains(asked) {
            return Ok((asked.clone(), Vec::new()));
        }
        let near = nearest(asked, all.iter().map(String::as_str));
        let help = match near.is_empty() {
            true => format!("the sheets are `{}`", all.join("`, `")),
            false => format!("did you mean `{}`?", near.join("`, `")),
        };
        return Err(Error::usage(format!("there is no sheet `{asked}`")).at(place()).help(help));
    }
    let shown = |sheet: &&Sheet| is_sheet(sheet) && sheet.visible == SheetVisible::Visible;
    let visible: Vec<String> = workbook.sheets_metadata().iter().filter(shown).map(|s| s.name.clone()).collect();
    let mut filled = Vec::new();
    for name in visible {
        let mut reader = workbook.worksheet_cells_reader(&name).map_err(|error| damaged(input, &error.to_string()))?;
        loop {
            match reader.next_cell().map_err(|error| damaged(input, &error.to_string()))? {
                None => break,
                Some(cell) if *cell.get_value() == DataRef::Empty => {}
                Some(_) => {
                    filled.push(name);
                    break;
                }
            }
        }
    }
    if filled.is_empty() {
        let sheets = if all.len() == 1 { "the sheet" } else { "every sheet" };
        return Err(Error::format(format!("{sheets} of the workbook is empty (`{}`)", all.join("`, `")))
            .at(place())
            .help("a header row must come first, with rows below it"));
    }
    let first = filled.remove(0);
    Ok((first, filled))
}

/// What cells are said about: the sheet, its name and its style.
struct OneSheet<'a> {
    input: &'a Input<'a>,
    name: &'a str,
    style: &'a CellStyle,
}

type PlacedCell = ((u32, u32), SheetCell);

impl OneSheet<'_> {
    /// An error about a cell.
    fn at(&self, at: (u32, u32), what: &str) -> Error {
        Error::format(format!("cell {} of sheet `{}` {what}", reference(at), self.name))
            .at(Place::file(&**self.input.name()).line(u64::from(at.0) + 1))
    }

    fn cell(&self, at: (u32, u32), value: DataRef<'_>, texts: &mut Dictionary) -> Result<SheetCell> {
        let mut text = |text: &str| {
            let trimmed = trim_spaces(text.as_bytes());
            if trimmed.is_empty() { SheetCell::Empty } else { SheetCell::Text(texts.code(trimmed)) }
        };
        Ok(match value {
            DataRef::Empty => SheetCell::Empty,
            DataRef::Int(value) => SheetCell::Number(value as f64),
            DataRef::Float(value) => SheetCell::Number(value),
            DataRef::Bool(value) => SheetCell::Boolean(value),
            DataRef::String(value) => text(&value),
            DataRef::SharedString(value) => text(value),
            DataRef::DateTimeIso(value) => SheetCell::Date(texts.code(value.trim().as_bytes())),
            DataRef::DurationIso(value) => text(&value),
            DataRef::DateTime(value) if value.is_duration() || value.as_f64() < FIRST_DAY => {
                SheetCell::Number(value.as_f64())
            }
            DataRef::DateTime(value) if value.as_f64() >= END_OF_DAYS => {
                return Err(self
                    .at(at, &format!("has the format of a date and holds {:e}, which is none", value.as_f64()))
                    .help("correct it")
                    .help("give the column the format of numbers"));
            }
            DataRef::DateTime(value) => SheetCell::Date(texts.code(iso(value).as_bytes())),
            DataRef::Error(error) => {
                let said = error.to_string();
                if !self.style.is_missing(said.as_bytes()) {
                    return Err(self
                        .at(at, &format!("holds the error {said}"))
                        .help("correct its formula")
                        .help("empty the cell")
                        .help(words!["take it as missing with ", Setting::NaValues.is(&said)]));
                }
                SheetCell::Empty
            }
        })
    }

    /// Merged cells have one value for several: in a header one name for several columns, below it one cell that is there and
    /// others that are not.
    fn refuse_merged(
        &self,
        merged: &[Dimensions],
        header: u32,
        cells: &[PlacedCell],
        options: &ReadOptions,
    ) -> Result<()> {
        let last = cells.iter().fold((0, 0), |last: (u32, u32), (at, _)| (last.0.max(at.0), last.1.max(at.1)));
        let reaches = |d: &&Dimensions| d.end.0 >= header && d.start.0 <= last.0 && d.start.1 <= last.1;
        let Some(found) = merged.iter().filter(reaches).min_by_key(|d| d.start) else { return Ok(()) };
        let range = format!("{}:{}", reference(found.start), reference(found.end));
        let message = format!("cells {range} of sheet `{}` are merged", self.name);
        let place = Place::file(&**self.input.name()).line(u64::from(found.start.0) + 1);
        if found.start.0 <= header && !options.no_header {
            return Err(Error::format(format!("{message}, so the header has one name for several cells"))
                .at(place)
                .help("separate them and name every column")
                .help(words!["leave out the rows above the header with ", Setting::Skip]));
        }
        let message = format!("{message}: only the first of them has a value");
        Err(Error::format(message).at(place).help("separate them and fill in every cell"))
    }

    /// The rows below the header, in columns.
    fn table(
        &self,
        header: u32,
        cells: Vec<PlacedCell>,
        texts: Dictionary,
        options: &ReadOptions,
    ) -> Result<SheetRows> {
        let left = cells.iter().map(|(at, _)| at.1).min().unwrap_or(0);
        let right = cells.iter().map(|(at, _)| at.1).max().unwrap_or(0);
        let bottom = cells.iter().map(|(at, _)| at.0).max().unwrap_or(0);
        let first = if options.no_header { header } else { header + 1 };
        let (n_rows, width) = ((bottom + 1).saturating_sub(first) as usize, (right - left + 1) as usize);
        let rectangle = n_rows.saturating_mul(width);
        if rectangle > cells.len().saturating_mul(RECTANGLE).max(FEW_CELLS) {
            let at = cells.iter().map(|(at, _)| *at).max_by_key(|at| at.0.max(at.1)).unwrap_or_default();
            return Err(self
                .at(at, &format!("is far from the others: {n_rows} rows of {width} columns, almost all empty"))
                .help("empty the cells beside the table"));
        }
        if !has_room(rectangle.saturating_mul(size_of::<SheetCell>())) {
            return Err(no_room(self.input));
        }
        let mut columns = vec![vec![SheetCell::Empty; n_rows]; width];
        let mut names = vec![String::new(); width];
        for ((row, column), cell) in cells {
            let column = (column - left) as usize;
            if row < first {
                names[column] = match cell {
                    SheetCell::Number(value) => value.to_string(),
                    SheetCell::Boolean(value) => if value { "TRUE" } else { "FALSE" }.to_owned(),
                    SheetCell::Date(code) | SheetCell::Text(code) => {
                        String::from_utf8_lossy(texts.get(code as usize)).into_owned()
                    }
                    SheetCell::Empty => String::new(),
                };
            } else {
                columns[column][(row - first) as usize] = cell;
            }
        }
        let names = match options.no_header {
            true => numbered_names(width),
            false => self.names(names, header, left)?,
        };
        let (name, others) = (String::new(), Vec::new());
        Ok(SheetRows { names, first_row: u64::from(first) + 1, n_rows, columns, texts, name, others })
    }

    /// The names of the header; one in the middle that is empty is an error with its cell.
    fn names(&self, cells: Vec<String>, header: u32, left: u32) -> Result<Vec<String>> {
        let last = cells.iter().rposition(|name| !name.is_empty()).unwrap_or(0);
        if let Some(empty) = (1..last).find(|at| cells[*at].is_empty()) {
            return Err(self
                .at((header, left + empty as u32), "is empty, so the column has no name")
                .help("name every column in the first row of the table")
                .help(words!["leave out the rows above the header with ", Setting::Skip]));
        }
        let place = |error: Error| error.in_context(format!("sheet `{}`", self.name));
        distinct_names(cells).map_err(|flaw| place(flaw.into_error(self.input.name(), u64::from(header) + 1)))
    }
}

fn damaged(input: &Input<'_>, what: &str) -> Error {
    Error::format(format!("this is not a readable workbook: {what}"))
        .at(Place::file(&**input.name()))
        .help("open it in a spreadsheet and save it again as .xlsx")
        .help("save the sheet as CSV")
}

/// A cell as spreadsheets name it: `B7`.
fn reference((row, column): (u32, u32)) -> String {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        letters.push(b'A' + ((rest - 1) % LETTERS) as u8);
        rest = (rest - 1) / LETTERS;
    }
    letters.reverse();
    format!("{}{}", String::from_utf8_lossy(&letters), u64::from(row) + 1)
}

/// A moment in ISO's form; its time is left out at midnight.
fn iso(moment: ExcelDateTime) -> String {
    let (year, month, day, hour, minute, second, milli) = moment.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    match (hour, minute, second, milli) {
        (0, 0, 0, 0) => date,
        (_, _, _, 0) => format!("{date}T{hour:02}:{minute:02}:{second:02}"),
        _ => format!("{date}T{hour:02}:{minute:02}:{second:02}.{milli:03}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_by_the_names_of_spreadsheets() {
        for (at, name) in [((0, 0), "A1"), ((6, 1), "B7"), ((0, 25), "Z1"), ((0, 26), "AA1"), ((9, 701), "ZZ10")] {
            assert_eq!(reference(at), name);
        }
        assert_eq!(reference((1_048_575, 16_383)), "XFD1048576", "the last of all");
    }

    #[test]
    fn serial_numbers_are_days() {
        use calamine::ExcelDateTimeType::DateTime;
        for (serial, text) in [
            (1.0, "1900-01-01"),
            (59.0, "1900-02-28"),
            (61.0, "1900-03-01"),
            (45657.0, "2024-12-31"),
            (45657.75, "2024-12-31T18:00:00"),
            (45657.0 + 1.0 / 86_400_000.0, "2024-12-31T00:00:00.001"),
        ] {
            assert_eq!(iso(ExcelDateTime::new(serial, DateTime, false)), text);
        }
        assert_eq!(iso(ExcelDateTime::new(44195.0, DateTime, true)), "2024-12-31", "days since 1904");
    }
}

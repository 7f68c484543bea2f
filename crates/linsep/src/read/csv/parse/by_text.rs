//! Cells and rows of CSV by their text: what the quick ways leave over.

use super::{CsvParser, Mode, Parsed};
use crate::read::feed::Flaw;
use crate::read::infer::{FIX, as_text, shown};
use crate::read::number::{Said, is_missing, leading_number, read_cell, trim_spaces};
use crate::words::{Setting, words};

/// Characters of a number with a decimal comma that is read the quick way. Chosen: sixteen digits and more; longer ones are read as well.
const LONGEST_COMMA: usize = 24;
/// Those, and zeros behind them that words of eight bytes may be read from.
const COMMA_ROOM: usize = LONGEST_COMMA + 16;

impl CsvParser<'_> {
    /// Whether the row that has just been parsed has delimiters and nothing else.
    pub(super) fn is_only_delimiters(&self, start: usize) -> bool {
        let row = &self.bytes[start..self.at - 1];
        row.strip_suffix(b"\r").unwrap_or(row).iter().all(|b| *b == self.layout.delimiter)
    }

    /// Parses one row whose cells are not read the plain way.
    pub(super) fn styled_row(&mut self) -> Parsed<()> {
        let start = self.at;
        let n = self.modes.len();
        for column in 0..n {
            self.other_cell(column, self.modes[column])?;
            let stop = self.bytes[self.at];
            let is_last = column + 1 == n;
            if (stop == self.layout.delimiter) == is_last {
                return Err(self.ragged(start));
            }
            self.at += 1 + usize::from(stop == b'\r');
        }
        self.line += 1;
        Ok(())
    }

    /// A number with a decimal comma, where that is the style and the cell is no more than digits; the position moves to what ends it.
    fn comma_number(&mut self) -> Option<f64> {
        // Between commas a comma ends a cell.
        if self.layout.delimiter == b',' || !self.layout.style.is_some_and(|style| style.is_decimal_comma()) {
            return None;
        }
        let mut plain = [0u8; COMMA_ROOM];
        let cell = &self.bytes[self.at..(self.at + LONGEST_COMMA).min(self.bytes.len())];
        let mut length = 0;
        for byte in cell {
            plain[length] = match byte {
                b'0'..=b'9' | b'-' => *byte,
                b',' => b'.',
                _ => break,
            };
            length += 1;
        }
        let (value, read) = leading_number(&plain)?;
        if read != length || !self.ends(self.at + length) {
            return None;
        }
        self.at += length;
        Some(value)
    }

    /// A cell by its text.
    pub(super) fn other_cell(&mut self, column: usize, mode: Mode) -> Parsed<()> {
        if mode != Mode::Text
            && let Some(value) = self.comma_number()
        {
            self.put_float(column, value);
            return Ok(());
        }
        let cell = self.raw_cell()?;
        let style = self.layout.style;
        if mode == Mode::Text {
            let cell = trim_spaces(&cell);
            // Whether it is a number is asked once per distinct text.
            match style.map_or_else(|| is_missing(cell), |style| style.is_missing(cell)) {
                true => self.texts[column].push_missing(),
                false => self.texts[column].push(cell),
            }
            return Ok(());
        }
        match style.map_or_else(|| read_cell(&cell), |style| style.read(&cell)) {
            Said::Number(value) => self.put_float(column, value),
            Said::Missing => self.put_missing(column),
            Said::Text if self.layout.strict[column] => {
                let name = &self.layout.names[column];
                let message = format!("{} is not a number", shown(&cell));
                return Err(Flaw::new(self.row_line, message, FIX).or(as_text(name)).column(name));
            }
            Said::Text => {
                self.met_text[column] = true;
                self.put_missing(column);
            }
        }
        Ok(())
    }

    /// The flaw of a row of the wrong length, or a flaw within it.
    #[cold]
    pub(super) fn ragged(&mut self, start: usize) -> Flaw {
        self.at = start;
        self.line = self.row_line;
        let mut cells = 1;
        loop {
            if let Err(flaw) = self.raw_cell() {
                return flaw;
            }
            if self.bytes[self.at] != self.layout.delimiter {
                break;
            }
            self.at += 1;
            cells += 1;
        }
        let unit = if cells == 1 { "cell" } else { "cells" };
        let flaw = Flaw::new(
            self.row_line,
            format!("the row has {cells} {unit}, the header has {}", self.modes.len()),
            "a cell that contains the delimiter must be in quotes; a missing cell is left empty between delimiters",
        );
        // A first line that is no header: a comment, or a title.
        match self.layout.names.first().and_then(|name| name.chars().next()) {
            Some(sign @ ('#' | '%' | '!')) => {
                flaw.or(words!["if the first line is a comment, leave it out with ", Setting::Comment.is(sign)])
            }
            _ if self.modes.len() == 1 && cells > 1 => flaw
                .or(words!["if the header is further down, leave out the lines above it with ", Setting::Skip.is(1)]),
            _ => flaw,
        }
    }
}

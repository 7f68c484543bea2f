//! One piece of CSV to columns.
//!
//! Cells go row by row into a small tile of `i32`, one run per column, that stays in the first-level cache; full runs are
//! packed into the narrowest integers. Most cells of most tables are short whole numbers, and these are read from one
//! eight-byte load. A column that meets another number is kept as floats from there on; one that meets text is marked,
//! and the piece is parsed again with its texts kept.

mod by_text;

use crate::numeric::has_room;
use crate::read::column::{MISSING_INT, Numbers, RawColumn, TextColumn, whole};
use crate::read::feed::{BytePiece, Flaw, PADDING, check_utf8};
use crate::read::infer::{CellPlaces, RawChunk};
use crate::read::number::{leading_digits, leading_number, short_decimal, word_at};
use crate::read::style::CellStyle;
use memchr::{memchr, memchr_iter};
use std::borrow::Cow;

type Parsed<T> = std::result::Result<T, Flaw>;

/// What the parser knows of the columns, in the file's order.
pub(super) struct CsvLayout<'a> {
    pub delimiter: u8,
    pub names: &'a [String],
    /// Columns whose cells are kept as text.
    pub text: Vec<bool>,
    /// Columns in which text is an error.
    pub strict: Vec<bool>,
    /// Of cells that are not read the plain way.
    pub style: Option<&'a CellStyle>,
    /// Whether blank lines are none also in a table of one column: comments were there.
    pub blank_lines: bool,
}

/// Parses a piece; `met_text` is told of columns that turned out to hold text. Also returns the number of lines,
/// and of rows at the end that are delimiters and nothing else.
pub(super) fn parse(
    piece: &BytePiece<'_>,
    mut layout: CsvLayout<'_>,
    met_text: impl Fn(usize),
) -> Parsed<(RawChunk, u64, usize)> {
    let records = piece.records();
    let utf8 = check_utf8(records);
    if !has_room(layout.names.len().saturating_mul(2 * STRIDE * size_of::<i32>())) {
        let message = format!("there is not enough memory for {} columns", layout.names.len());
        return Err(Flaw::new(0, message, "leave columns out of the file"));
    }
    let parsed = loop {
        let mut parser = CsvParser::new(piece.padded, &layout);
        let rows = parser.rows();
        let met: Vec<usize> = (0..layout.names.len()).filter(|c| parser.met_text[*c]).collect();
        if rows.is_err() || met.is_empty() {
            break rows.map(|()| parser.finish());
        }
        met.iter().for_each(|c| met_text(*c));
        met.iter().for_each(|c| layout.text[*c] = true);
    };
    match (parsed, utf8) {
        // Whichever comes first in the file.
        (Err(flaw), Err(bad)) => Err(if flaw.line < bad.line { flaw } else { bad }),
        (Ok(_), Err(flaw)) | (Err(flaw), Ok(())) => Err(flaw),
        (Ok(done), Ok(())) => Ok(done),
    }
}

/// How a column stores its cells at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Int,
    Float,
    Text,
}

/// Rows in a tile: with 55 columns it fills a first-level cache of 32 KB.
const TILE_ROWS: usize = 128;
/// Distance of the columns in a tile; not a power of two, which would put all of them into the same cache sets.
const STRIDE: usize = TILE_ROWS + 16;

struct CsvParser<'a> {
    /// The piece with its padding, and where the records end.
    bytes: &'a [u8],
    end: usize,
    at: usize,
    /// Line of the current position and of the current row.
    line: u64,
    row_line: u64,
    layout: &'a CsvLayout<'a>,
    modes: Vec<Mode>,
    numbers: Vec<Numbers>,
    texts: Vec<TextColumn>,
    met_text: Vec<bool>,
    /// See [`quick`].
    quick: Vec<bool>,
    tile: Vec<i32>,
    /// Rows in the tile.
    filled: usize,
    /// Rows before the tile.
    packed: usize,
    /// Line of every row, once they are not consecutive.
    lines: Option<Vec<u64>>,
    /// Rows at the end that are delimiters and nothing else.
    empty_rows: usize,
}

impl<'a> CsvParser<'a> {
    fn new(padded: &'a [u8], layout: &'a CsvLayout<'a>) -> CsvParser<'a> {
        let n = layout.names.len();
        let end = padded.len() - PADDING;
        // A row has a byte for each cell at least: line feeds alone, of which there may be any number, make no rows.
        let rows = memchr_iter(b'\n', &padded[..end]).count().min(end / n.max(1) + 1);
        let room = |is_text: bool| if is_text { rows } else { 0 };
        let modes: Vec<Mode> = layout.text.iter().map(|t| if *t { Mode::Text } else { Mode::Int }).collect();
        CsvParser {
            bytes: padded,
            end,
            at: 0,
            line: 0,
            row_line: 0,
            layout,
            quick: quick(&modes),
            modes,
            numbers: layout.text.iter().map(|t| Numbers::with_capacity(room(!*t))).collect(),
            texts: layout.text.iter().map(|t| TextColumn::with_capacity(room(*t))).collect(),
            met_text: vec![false; n],
            tile: vec![0; n * STRIDE],
            filled: 0,
            packed: 0,
            lines: None,
            empty_rows: 0,
        }
    }

    /// Parses all rows, or only the first of them if some turn out to hold text.
    fn rows(&mut self) -> Parsed<()> {
        while self.at < self.end {
            self.row_line = self.line;
            if (self.layout.names.len() > 1 || self.layout.blank_lines) && self.skip_blank() {
                continue;
            }
            let start = self.at;
            match self.layout.style {
                None => self.row()?,
                Some(_) => self.styled_row()?,
            }
            // Only a row that begins with the delimiter can be one of delimiters alone.
            let is_empty = self.bytes[start] == self.layout.delimiter && self.is_only_delimiters(start);
            self.empty_rows = if is_empty { self.empty_rows + 1 } else { 0 };
            self.note_line();
            self.filled += 1;
            if self.filled == TILE_ROWS {
                self.pack();
                // Text mostly shows in the first rows: better to begin again at once. Later it waits for the end, so
                // that a piece is never parsed more than a few times.
                if self.packed <= 2 * TILE_ROWS && self.met_text.contains(&true) {
                    return Ok(());
                }
            }
        }
        self.pack();
        Ok(())
    }

    /// Skips an entirely empty line.
    fn skip_blank(&mut self) -> bool {
        let length = match &self.bytes[self.at..self.end] {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return false,
        };
        self.at += length;
        self.line += 1;
        true
    }

    /// Keeps the row's line if the rows are not on consecutive lines.
    fn note_line(&mut self) {
        let row = (self.packed + self.filled) as u64;
        match &mut self.lines {
            Some(lines) => lines.push(self.row_line),
            None if self.row_line == row => {}
            None => self.lines = Some((0..row).chain([self.row_line]).collect()),
        }
    }

    /// Parses one row; the position moves behind its line feed.
    fn row(&mut self) -> Parsed<()> {
        let (bytes, delimiter) = (self.bytes, self.layout.delimiter);
        let start = self.at;
        let n = self.modes.len();
        let mut at = start;
        let mut column = 0;
        loop {
            let word = word_at(bytes, at);
            if self.quick[column]
                && let Some(digits) = four_digit_cells(word, delimiter)
            {
                for (cell, digit) in digits.into_iter().enumerate() {
                    self.tile[(column + cell) * STRIDE + self.filled] = digit;
                }
                at += 8;
                column += 4;
                continue;
            }
            let mode = self.modes[column];
            let (value, count, next) = if mode == Mode::Int { leading_digits(word) } else { (0, 0, 0) };
            if count > 0 && (next == delimiter || next == b'\n') {
                at += count;
                self.tile[column * STRIDE + self.filled] = value;
            } else if mode == Mode::Float
                && let Some((value, length, next)) = short_decimal(bytes, at)
                && (next == delimiter || next == b'\n')
            {
                at += length;
                self.numbers[column].push(value);
            } else if mode == Mode::Float
                && let Some((value, length)) = leading_number(&bytes[at..])
                && self.ends(at + length)
            {
                at += length;
                self.numbers[column].push(value);
            } else {
                self.at = at;
                self.cell(column, mode)?;
                at = self.at;
            }
            column += 1;
            // The cell ends at a delimiter, at LF or at CRLF.
            let stop = bytes[at];
            at += 1;
            if stop == delimiter {
                if column == n {
                    return Err(self.ragged(start));
                }
                continue;
            }
            at += usize::from(stop == b'\r');
            if column != n {
                return Err(self.ragged(start));
            }
            self.at = at;
            self.line += 1;
            return Ok(());
        }
    }

    fn put_float(&mut self, column: usize, value: f64) {
        if self.modes[column] == Mode::Int {
            if let Some(int) = whole(value) {
                self.tile[column * STRIDE + self.filled] = int;
                return;
            }
            // The first cell that is no whole number: the column becomes floats.
            let from = column * STRIDE;
            self.numbers[column].push_ints(&self.tile[from..from + self.filled]);
            self.numbers[column].make_float();
            self.modes[column] = Mode::Float;
            // Only the groups of four that hold this column change.
            self.quick[column.saturating_sub(3)..=column].fill(false);
        }
        self.numbers[column].push(value);
    }

    fn put_missing(&mut self, column: usize) {
        match self.modes[column] {
            Mode::Int => self.tile[column * STRIDE + self.filled] = MISSING_INT,
            Mode::Float => self.put_float(column, f64::NAN),
            Mode::Text => self.texts[column].push_missing(),
        }
    }

    /// Any cell; the position moves to what ends it.
    #[inline(never)]
    fn cell(&mut self, column: usize, mode: Mode) -> Parsed<()> {
        if mode == Mode::Int
            && let Some((value, length)) = leading_number(&self.bytes[self.at..])
            && self.ends(self.at + length)
        {
            self.at += length;
            self.put_float(column, value);
            return Ok(());
        }
        self.other_cell(column, mode)
    }

    /// Whether a cell may end here.
    #[inline(always)]
    fn ends(&self, at: usize) -> bool {
        let stop = self.bytes[at];
        stop == self.layout.delimiter || stop == b'\n' || (stop == b'\r' && self.bytes[at + 1] == b'\n')
    }

    /// The text of the cell at the position, which moves to what ends it.
    fn raw_cell(&mut self) -> Parsed<Cow<'a, [u8]>> {
        let (bytes, start) = (self.bytes, self.at);
        if bytes[start] == b'"' {
            return self.quoted_cell();
        }
        let mut at = self.next_stop(start);
        if bytes[at] == b'"' {
            return Err(Flaw::new(
                self.line,
                "there is a quote inside a cell that does not begin with one",
                "put the whole cell in quotes and double the quotes inside it; no space before the first quote",
            ));
        }
        if bytes[at] == b'\n' && at > start && bytes[at - 1] == b'\r' {
            at -= 1;
        }
        self.at = at;
        Ok(Cow::Borrowed(&bytes[start..at]))
    }

    /// The position of the next delimiter, line feed or quote; the piece ends in a line feed, so there is one.
    #[inline(always)]
    fn next_stop(&self, mut at: usize) -> usize {
        // A one in every byte.
        const ONES: u64 = 0x0101_0101_0101_0101;
        let delimiters = ONES * u64::from(self.layout.delimiter);
        // The high bit of every byte that is zero; what a borrow spoils comes after the first of them.
        let zeros = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
        while at < self.end {
            let word = word_at(self.bytes, at);
            let stops = zeros(word ^ delimiters) | zeros(word ^ (ONES * 0x0a)) | zeros(word ^ (ONES * 0x22));
            if stops != 0 {
                return at + (stops.trailing_zeros() / 8) as usize;
            }
            at += 8;
        }
        self.end - 1
    }

    fn quoted_cell(&mut self) -> Parsed<Cow<'a, [u8]>> {
        let (bytes, opened) = (self.bytes, self.line);
        let mut from = self.at + 1;
        let mut cell: Cow<'a, [u8]> = Cow::Borrowed(&[]);
        loop {
            let Some(length) = memchr(b'"', &bytes[from..self.end]) else {
                return Err(Flaw::new(opened, "a quote is opened but never closed", "close the quote that opens here"));
            };
            let part = &bytes[from..from + length];
            self.line += memchr_iter(b'\n', part).count() as u64;
            match &mut cell {
                Cow::Borrowed([]) => cell = Cow::Borrowed(part),
                more => more.to_mut().extend_from_slice(part),
            }
            from += length + 1;
            if bytes[from] != b'"' {
                break;
            }
            cell.to_mut().push(b'"');
            from += 1;
        }
        if !self.ends(from) {
            return Err(Flaw::new(
                self.line,
                "there is text after a closing quote",
                "a quoted cell ends at its closing quote; double a quote that belongs to the text",
            ));
        }
        self.at = from;
        Ok(cell)
    }

    /// Moves the tile into the columns.
    fn pack(&mut self) {
        for (column, numbers) in self.numbers.iter_mut().enumerate() {
            if self.modes[column] == Mode::Int {
                numbers.push_ints(&self.tile[column * STRIDE..][..self.filled]);
            }
        }
        self.packed += self.filled;
        self.filled = 0;
    }

    fn finish(self) -> (RawChunk, u64, usize) {
        let columns = self.modes.iter().zip(self.numbers).zip(self.texts).map(|((mode, numbers), text)| match mode {
            Mode::Text => RawColumn::Text(text),
            Mode::Int | Mode::Float => RawColumn::Number(numbers.into_cells()),
        });
        let places = self.lines.map_or(CellPlaces::Consecutive, CellPlaces::Lines);
        let chunk = RawChunk { n_rows: self.packed, columns: columns.collect(), sparse: None, places };
        (chunk, self.line, self.empty_rows)
    }
}

/// For each column whether it and the next three hold whole numbers and more columns follow: there it pays to try
/// [`four_digit_cells`].
fn quick(modes: &[Mode]) -> Vec<bool> {
    (0..modes.len()).map(|c| modes.len() > c + 4 && modes[c..c + 4].iter().all(|m| *m == Mode::Int)).collect()
}

/// Four cells of one digit, as indicator and count columns have them, in eight bytes: `0,1,0,0,`.
#[inline(always)]
fn four_digit_cells(word: u64, delimiter: u8) -> Option<[i32; 4]> {
    let delimiters = u64::from(delimiter) * 0x0100_0100_0100_0100;
    let digits = word ^ (delimiters | 0x0030_0030_0030_0030);
    // Now the delimiters are zero and the digits 0..=9; adding 0x76 sets the high bit of anything above nine.
    if (digits | (digits.wrapping_add(0x0076_0076_0076_0076))) & 0xff80_ff80_ff80_ff80 != 0 {
        return None;
    }
    Some([digits as u8, (digits >> 16) as u8, (digits >> 32) as u8, (digits >> 48) as u8].map(i32::from))
}

/// Calls `each(record, column, cell)` for the cells of padded records, up to the first flaw.
pub(super) fn for_each_cell(padded: &[u8], delimiter: u8, mut each: impl FnMut(u64, usize, &[u8])) {
    let layout =
        CsvLayout { delimiter, names: &[], text: Vec::new(), strict: Vec::new(), style: None, blank_lines: false };
    let mut parser = CsvParser::new(padded, &layout);
    let mut column = 0;
    while parser.at < parser.end {
        let line = parser.line;
        let Ok(cell) = parser.raw_cell() else { return };
        each(line, column, &cell);
        let stop = padded[parser.at];
        column = if stop == delimiter { column + 1 } else { 0 };
        parser.line += u64::from(stop != delimiter);
        parser.at += 1 + usize::from(stop == b'\r');
    }
}

/// The cells of one padded record.
pub(super) fn cells_of_record(padded: &[u8], delimiter: u8) -> Parsed<Vec<Cow<'_, [u8]>>> {
    let layout =
        CsvLayout { delimiter, names: &[], text: Vec::new(), strict: Vec::new(), style: None, blank_lines: false };
    let mut parser = CsvParser { bytes: padded, ..CsvParser::new(padded, &layout) };
    let mut cells = Vec::new();
    loop {
        // Detach the cell from the parser, which borrows the layout.
        cells.push(Cow::Owned(parser.raw_cell()?.into_owned()));
        if padded[parser.at] != delimiter {
            return Ok(cells);
        }
        parser.at += 1;
    }
}

//! LIBSVM and svmlight: `label index:value index:value … # comment`, indices strictly increasing from 1; from 0 in a file
//! that has index 0.
//!
//! The table has one named column, `label`, and the features as unnamed sparse columns. Explicit zeros are dropped.

use super::column::{Numbers, RawColumn, TextColumn};
use super::feed::{BytePiece, Feed, Flaw, PADDING, Placed, Start, check_utf8, parse_pieces};
use super::infer::{CellPlaces, FIX, InferOutcome, RawChunk, as_text, assemble, shown};
use super::label_lists::{LABEL, are_expected, are_lists, label_columns};
use super::number::{Said, leading_digits, leading_number, number, read_cell, word_at};
use super::source::Input;
use super::style::CellStyle;
use super::{ReadOptions, Wanted, wanted};
use crate::error::{Error, Place, Result};
use crate::table::{Aside, Reading, SparseRows, Table};
use crate::watch::Watch;
use memchr::memchr_iter;
use std::sync::atomic::{AtomicBool, Ordering};

type Parsed<T> = std::result::Result<T, Flaw>;

/// Reads LIBSVM inputs.
pub(super) fn read(inputs: &[Input<'_>], options: &ReadOptions, watch: &Watch, piece: usize) -> Result<Table> {
    let names = [LABEL.to_owned()];
    let mut wanted = wanted(&names, options, inputs[0].name())?;
    // One, unless zero is asked for, was met in the model's table, or is met here.
    let given = options.index_from.or(options.as_read.index_from);
    let from_zero = AtomicBool::new(given == Some(0));
    let starts = vec![Start::default(); inputs.len()];
    if are_expected(options) {
        wanted[0] = Wanted::Text;
    }
    loop {
        let met_text = AtomicBool::new(wanted[0] == Wanted::Text);
        let feed = Feed::new(inputs, &starts, false, piece);
        let pieces = parse_pieces(feed, watch, |piece: BytePiece<'_>| {
            let parse = |as_text: bool, strict: bool| {
                let base = if from_zero.load(Ordering::Relaxed) { 0 } else { 1 };
                let mut parser = LibsvmParser { base, ..LibsvmParser::new(piece.padded, as_text, strict) };
                let rows = parser.rows();
                (parser, rows)
            };
            let strict = wanted[0] == Wanted::Number;
            let (mut parser, mut rows) = parse(met_text.load(Ordering::Relaxed), strict);
            if rows.is_err() && parser.met_zero && given.is_none() {
                from_zero.store(true, Ordering::Relaxed);
                (parser, rows) = parse(met_text.load(Ordering::Relaxed), strict);
            }
            if rows.is_ok() && parser.met_text {
                met_text.store(true, Ordering::Relaxed);
                (parser, rows) = parse(true, false);
            }
            match (rows, check_utf8(piece.records())) {
                (Err(flaw), Err(bad)) => Err(if flaw.line < bad.line { flaw } else { bad }),
                (Err(flaw), Ok(())) | (Ok(()), Err(flaw)) => Err(flaw),
                (Ok(()), Ok(())) => Ok(parser.finish()),
            }
        })?;
        // Pieces that were read before index 0 was met are read again.
        let zero = from_zero.load(Ordering::Relaxed);
        if pieces.iter().any(|p| (p.parsed.2 == 0) != zero) {
            continue;
        }
        let width = pieces.iter().map(|p| p.parsed.1).max().unwrap_or(0);
        let unlabelled = pieces.iter().find_map(|p| Some((p.file, p.first_line + p.parsed.3?)));
        let pieces: Vec<Placed<RawChunk>> =
            pieces.into_iter().map(|p| Placed { file: p.file, first_line: p.first_line, parsed: p.parsed.0 }).collect();
        if pieces.iter().all(|p| p.parsed.n_rows == 0) {
            return Err(Error::format("there is no row").at(Place::file(&**inputs[0].name())));
        }
        match assemble(inputs, &names, &wanted, pieces, width, &CellStyle::default())? {
            InferOutcome::Table(table) => {
                let table = match (are_lists(&table, options), unlabelled) {
                    (true, _) => label_columns(table, options)?,
                    (false, Some((file, line))) => return Err(no_label(&inputs[file], line)),
                    (false, None) => table,
                };
                return Ok(if zero { from_zero_on(table, given.is_none()) } else { table });
            }
            InferOutcome::ReadAgainAsText(_) => wanted[0] = Wanted::Text,
        }
    }
}

/// A row without a label in a file whose rows have one.
fn no_label(input: &Input<'_>, line: u64) -> Error {
    Error::format("the row has no label")
        .at(Place::file(&**input.name()).line(line))
        .help("every row begins with its label; use `?` if it is unknown")
}

/// A table whose indices count from zero, as was found or said.
fn from_zero_on(table: Table, is_found: bool) -> Table {
    let reading = Reading { index_from: Some(0), ..table.reading().clone() };
    let table = table.with_reading(reading);
    if is_found { table.with_aside(Aside::FromZero) } else { table }
}

/// Whether the beginning of a file looks like this format: a first row of a label and `index:number` pairs.
pub(super) fn looks_like(head: &[u8]) -> bool {
    let line = head.split(|b| *b == b'\n').map(|l| l.split(|b| *b == b'#').next().unwrap_or(l)).find(|l| !l.is_empty());
    let mut tokens = line.unwrap_or(&[]).split(|b| is_space(*b)).filter(|t| !t.is_empty());
    let pair = |token: &[u8]| {
        let mut parts = token.splitn(2, |b| *b == b':');
        let index = parts.next().unwrap_or(&[]);
        (index == b"qid" || index.iter().all(u8::is_ascii_digit)) && parts.next().is_some_and(|v| number(v).is_some())
    };
    let labelled = tokens.next().is_some_and(|label| !label.contains(&b':'));
    // The last pair may be cut off by the end of `head`.
    labelled && tokens.next().is_some_and(pair) && tokens.take(8).all(pair)
}

/// A space within a line; CR too, so that CRLF ends a line.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

struct LibsvmParser<'a> {
    /// The piece with its padding, and where the records end.
    bytes: &'a [u8],
    end: usize,
    at: usize,
    line: u64,
    as_text: bool,
    strict: bool,
    met_text: bool,
    numbers: Numbers,
    texts: TextColumn,
    sparse: SparseRows,
    width: usize,
    lines: Option<Vec<u64>>,
    /// What indices count from.
    base: u32,
    /// Whether index 0 was met where they count from one.
    met_zero: bool,
    /// The first line that begins with a feature, from 0.
    unlabelled: Option<u64>,
}

impl<'a> LibsvmParser<'a> {
    fn new(padded: &'a [u8], as_text: bool, strict: bool) -> LibsvmParser<'a> {
        let end = padded.len() - PADDING;
        let rows = memchr_iter(b'\n', &padded[..end]).count();
        let entries = memchr_iter(b':', &padded[..end]).count();
        let mut starts = Vec::with_capacity(rows + 1);
        starts.push(0);
        let sparse = SparseRows { starts, indices: Vec::with_capacity(entries), values: Vec::with_capacity(entries) };
        LibsvmParser {
            bytes: padded,
            end,
            at: 0,
            line: 0,
            as_text,
            strict,
            met_text: false,
            numbers: Numbers::with_capacity(if as_text { 0 } else { rows }),
            texts: TextColumn::with_capacity(if as_text { rows } else { 0 }),
            sparse,
            width: 0,
            lines: None,
            base: 1,
            met_zero: false,
            unlabelled: None,
        }
    }

    fn rows(&mut self) -> Parsed<()> {
        while self.at < self.end {
            self.skip_spaces();
            if !self.at_row_end() {
                self.row()?;
            }
            // Comments and the line feed.
            while self.bytes[self.at] != b'\n' {
                self.at += 1;
            }
            self.at += 1;
            self.line += 1;
        }
        Ok(())
    }

    fn row(&mut self) -> Parsed<()> {
        self.label()?;
        let mut previous = 0;
        loop {
            self.skip_spaces();
            if self.at_row_end() {
                break;
            }
            let index = self.index(previous)?;
            previous = index;
            let value = self.value()?;
            if value != 0.0 {
                self.sparse.indices.push(index - 1);
                self.sparse.values.push(value);
            }
        }
        self.width = self.width.max(previous as usize);
        let row = self.sparse.starts.len() as u64 - 1;
        self.sparse.starts.push(self.sparse.values.len());
        match &mut self.lines {
            Some(lines) => lines.push(self.line),
            None if self.line == row => {}
            None => self.lines = Some((0..row).chain([self.line]).collect()),
        }
        Ok(())
    }

    fn label(&mut self) -> Parsed<()> {
        let token = self.token();
        if token.contains(&b':') {
            // Where rows have several labels, some have none; elsewhere it is an error once all is read.
            self.unlabelled.get_or_insert(self.line);
            if self.as_text {
                self.texts.push(b"")
            } else {
                self.numbers.push(f64::NAN)
            }
            return Ok(());
        }
        self.at += token.len();
        match read_cell(token) {
            Said::Missing if self.as_text => self.texts.push_missing(),
            Said::Missing => self.numbers.push(f64::NAN),
            _ if self.as_text => self.texts.push(token),
            Said::Number(value) => self.numbers.push(value),
            Said::Text if self.strict => {
                let message = format!("{} is not a number", shown(token));
                return Err(self.flaw(message, FIX).or(as_text(LABEL)).column(LABEL));
            }
            Said::Text => {
                self.met_text = true;
                self.numbers.push(f64::NAN);
            }
        }
        Ok(())
    }

    /// The index before a colon, larger than the previous one.
    fn index(&mut self, previous: u32) -> Parsed<u32> {
        let (short, count, next) = leading_digits(word_at(self.bytes, self.at));
        let index = if count > 0 && next == b':' {
            self.at += count + 1;
            short as u32
        } else {
            self.long_index()?
        };
        // Within, they count from one.
        let Some(index) = index.checked_add(1 - self.base) else {
            return Err(self.flaw(format!("index {index} is too large"), "count indices from 1"));
        };
        if index == 0 {
            self.met_zero = true;
            return Err(self.flaw("index 0", "indices count from 1"));
        }
        if index <= previous {
            let shift = 1 - self.base;
            let message = format!("index {} comes after index {}", index - shift, previous - shift.min(previous));
            return Err(self.flaw(message, "the indices of a row must strictly increase"));
        }
        Ok(index)
    }

    #[cold]
    fn long_index(&mut self) -> Parsed<u32> {
        let token = self.token();
        let Some(colon) = memchr::memchr(b':', token) else {
            let message = format!("{} is not `index:value`", shown(token));
            return Err(self.flaw(message, "write features as `index:value`, separated by spaces"));
        };
        let digits = &token[..colon];
        if digits == b"qid" {
            return Err(self.flaw(
                "`qid` is for ranking, which is not a classification problem",
                "remove the `qid:` entries to classify the rows",
            ));
        }
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            let message = format!("{} is not an index", shown(digits));
            return Err(self.flaw(message, "an index is a whole number from 1"));
        }
        let value = digits.iter().try_fold(0u32, |v, d| v.checked_mul(10)?.checked_add(u32::from(d - b'0')));
        let Some(index) = value else {
            let message = format!("index {} is too large", String::from_utf8_lossy(digits));
            return Err(self.flaw(message, format!("the largest index is {}", u32::MAX)));
        };
        self.at += colon + 1;
        Ok(index)
    }

    /// The value after a colon.
    fn value(&mut self) -> Parsed<f64> {
        let (short, count, next) = leading_digits(word_at(self.bytes, self.at));
        if count > 0 && ends(next) {
            self.at += count;
            return Ok(f64::from(short));
        }
        if let Some((value, length)) = leading_number(&self.bytes[self.at..])
            && ends(self.bytes[self.at + length])
        {
            self.at += length;
            return Ok(value);
        }
        let token = self.token();
        let Some(value) = number(token) else {
            return Err(self.flaw(format!("{} is not a number", shown(token)), "fix the value, or remove the entry"));
        };
        self.at += token.len();
        Ok(value)
    }

    /// The bytes up to the next space, comment or line end.
    fn token(&self) -> &'a [u8] {
        let rest = &self.bytes[self.at..self.end];
        &rest[..rest.iter().position(|b| ends(*b)).unwrap_or(rest.len())]
    }

    fn skip_spaces(&mut self) {
        while is_space(self.bytes[self.at]) {
            self.at += 1;
        }
    }

    fn at_row_end(&self) -> bool {
        matches!(self.bytes[self.at], b'\n' | b'#')
    }

    fn flaw(&self, message: impl Into<String>, help: impl Into<crate::words::Words>) -> Flaw {
        Flaw::new(self.line, message, help)
    }

    /// The rows, the largest index, what they count from, the first line without a label, and the number of lines.
    fn finish(self) -> ((RawChunk, usize, u32, Option<u64>), u64) {
        let column =
            if self.as_text { RawColumn::Text(self.texts) } else { RawColumn::Number(self.numbers.into_cells()) };
        let places = self.lines.map_or(CellPlaces::Consecutive, CellPlaces::Lines);
        let n_rows = self.sparse.starts.len() - 1;
        let chunk = RawChunk { n_rows, columns: vec![column], sparse: Some(self.sparse), places };
        ((chunk, self.width, self.base, self.unlabelled), self.line)
    }
}

/// Whether a token ends before this byte.
fn ends(byte: u8) -> bool {
    is_space(byte) || byte == b'\n' || byte == b'#'
}

//! JSON objects, one to a line: keys are columns in the order in which they are first seen.
//!
//! A key that is absent, or null, is a missing cell. Strings are text, numbers and booleans are numbers, and a column has
//! one type throughout unless the caller says what it is; nested values are refused.

use super::column::{Numbers, RawColumn, TextColumn};
use super::dictionary::Dictionary;
use super::feed::{BytePiece, Feed, Flaw, Parsed, Placed, Start, check_utf8, parse_until};
use super::infer::{CellPlaces, FIX, InferOutcome, RawChunk, as_text, assemble, shown, too_sparse};
use super::number::{Said, number, read_cell};
use super::source::Input;
use super::style::CellStyle;
use super::{Expected, ReadOptions, Wanted, wanted};
use crate::error::{Error, Place, Result};
use crate::table::{Cells, NameIndex, Table};
use crate::watch::Watch;
use crate::words::{Setting, words};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

const BOM: &[u8] = b"\xef\xbb\xbf";
const ONE_PER_LINE: &str = "write one JSON object per line (pandas: `orient='records', lines=True`; jq: `-c '.[]'`)";

/// Reads inputs of JSON lines; together they have the keys of all of them.
pub(super) fn read(inputs: &[Input<'_>], options: &ReadOptions, watch: &Watch, piece: usize) -> Result<Table> {
    let start = |input: &Input<'_>| {
        let skip = if input.head(3)? == BOM { 3 } else { 0 };
        Ok(Start { skip, lines: 0 })
    };
    let starts = inputs.iter().map(start).collect::<Result<Vec<_>>>()?;
    let forced = forced(options);
    let forced_names = NameIndex::new(forced.iter().map(|(name, _)| *name));
    let pieces = parse_until(Feed::new(inputs, &starts, false, piece), watch, |piece: BytePiece<'_>| {
        let mut rows = JsonRows::new(&forced, &forced_names);
        let flaw = rows.read(piece.records()).err();
        // A column of two types is an error in this piece, or in an earlier one.
        let last = flaw.is_some() || rows.columns.iter().any(|c| c.other.is_some());
        Parsed { lines: rows.line, value: (rows, flaw), last }
    })?;
    let (rows, bytes) = pieces.iter().fold((0, 0), |(r, b), p| (r + p.parsed.0.n_rows, b + p.parsed.0.bytes));
    let (mut names, mut order) = (Dictionary::default(), Vec::with_capacity(pieces.len()));
    for Placed { parsed: (rows, _), .. } in &pieces {
        order.push((0..rows.keys.len()).map(|c| names.code(rows.keys.get(c)) as usize).collect::<Vec<usize>>());
    }
    let names: Vec<String> = (0..names.len()).map(|c| String::from_utf8_lossy(names.get(c)).into_owned()).collect();
    let kinds = one_type_each(inputs, &names, &pieces, &order)?;
    if pieces.iter().all(|p| p.parsed.0.n_rows == 0) {
        return Err(Error::format("there is no row").at(Place::file(&**inputs[0].name())).help(ONE_PER_LINE));
    }
    if names.is_empty() {
        return Err(Error::format("every object is empty: there is no column").at(Place::file(&**inputs[0].name())));
    }
    too_sparse(rows, names.len(), bytes)
        .map_err(|(what, help)| Error::format(what).at(Place::file(&**inputs[0].name())).help(help))?;
    let mut wanted = wanted(&names, options, inputs[0].name())?;
    for (wanted, kind) in wanted.iter_mut().zip(kinds).filter(|(wanted, _)| **wanted == Wanted::Infer) {
        *wanted = if kind == Some(Type::Text) { Wanted::Text } else { Wanted::Number };
    }
    let in_place = |(piece, order): (Placed<(JsonRows<'_>, Option<Flaw>)>, Vec<usize>)| Placed {
        file: piece.file,
        first_line: piece.first_line,
        parsed: piece.parsed.0.finish(&order, names.len()),
    };
    let pieces = pieces.into_iter().zip(order).map(in_place).collect();
    match assemble(inputs, &names, &wanted, pieces, 0, &CellStyle::default())? {
        InferOutcome::Table(table) => Ok(table),
        InferOutcome::ReadAgainAsText(_) => unreachable!("the types decide the kinds"),
    }
}

/// Whether the beginning of a file looks like this format: its first byte that is not blank opens an object.
pub(super) fn looks_like(head: &[u8]) -> bool {
    let head = head.strip_prefix(BOM).unwrap_or(head);
    head.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{')
}

/// What the caller said of columns by name, the strongest word first.
fn forced(options: &ReadOptions) -> Vec<(&str, Wanted)> {
    let expected = options.expected.iter().map(|(name, kind)| match kind {
        Expected::Text => (name.as_str(), Wanted::Text),
        Expected::Number => (name.as_str(), Wanted::Number),
    });
    let text = options.text.iter().map(|name| (name.as_str(), Wanted::Text));
    text.chain(options.number.iter().map(|name| (name.as_str(), Wanted::Number))).chain(expected).collect()
}

/// The type of every column that is not forced. The error is the first cell of another type, or a flaw before it:
/// whichever comes first in the file, however it was cut into pieces.
fn one_type_each(
    inputs: &[Input<'_>],
    names: &[String],
    pieces: &[Placed<(JsonRows<'_>, Option<Flaw>)>],
    order: &[Vec<usize>],
) -> Result<Vec<Option<Type>>> {
    let mut kinds: Vec<Option<Type>> = vec![None; names.len()];
    for (piece, order) in pieces.iter().zip(order) {
        let (rows, flaw) = &piece.parsed;
        let mut mixed: Option<(SeenKeys, usize)> = None;
        for (column, at) in rows.columns.iter().zip(order) {
            let Some(first) = column.first else { continue };
            let kind = *kinds[*at].get_or_insert(first.kind);
            let other = if first.kind == kind { column.other } else { Some(first) };
            if let Some(seen) = other
                && mixed.is_none_or(|(least, _)| (seen.line, seen.position) < (least.line, least.position))
            {
                mixed = Some((seen, *at));
            }
        }
        let file = &**inputs[piece.file].name();
        if let Some((seen, at)) = mixed
            && flaw.as_ref().is_none_or(|flaw| seen.line < flaw.line)
        {
            let (name, before) = (&names[at], kinds[at].map_or("", Type::name));
            return Err(Error::format(format!("this is {}, but the column began with {before}", seen.kind.name()))
                .at(Place::file(file).line(piece.first_line + seen.line).column(name))
                .help("write one type")
                .help(words![
                    "read the column with `",
                    Setting::TextColumns.is(name),
                    "` or `",
                    Setting::Number.is(name),
                    "`",
                ]));
        }
        if let Some(flaw) = flaw {
            return Err(flaw.clone().into_error(file, piece.first_line));
        }
    }
    Ok(kinds)
}

/// The JSON type of a cell that is not missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Number,
    Boolean,
    Text,
}

impl Type {
    fn name(self) -> &'static str {
        match self {
            Type::Number => "a number",
            Type::Boolean => "a boolean",
            Type::Text => "a string",
        }
    }
}

/// A cell's type, its line within the piece and its position among the cells of the line.
#[derive(Debug, Clone, Copy)]
struct SeenKeys {
    kind: Type,
    line: u64,
    position: usize,
}

/// A column of a piece.
struct JsonColumn {
    wanted: Wanted,
    numbers: Numbers,
    /// The cells, once the column is known to be text; its numbers do not count then.
    texts: Option<TextColumn>,
    len: usize,
    /// The first cell that is not missing, and the first of another type than that; neither where the type is forced.
    first: Option<SeenKeys>,
    other: Option<SeenKeys>,
}

impl JsonColumn {
    /// A column first seen after `missing` rows.
    fn new(wanted: Wanted, missing: usize) -> JsonColumn {
        let mut numbers = Numbers::with_capacity(0);
        numbers.extend(&vec![f64::NAN; missing]);
        let texts = (wanted == Wanted::Text).then(|| missing_texts(missing));
        JsonColumn { wanted, numbers, texts, len: missing, first: None, other: None }
    }

    fn push_missing(&mut self) {
        match &mut self.texts {
            Some(texts) => texts.push_missing(),
            None => self.numbers.push(f64::NAN),
        }
        self.len += 1;
    }

    /// Appends a value as it was written; false for text where a number is wanted.
    fn push(&mut self, raw: &str, text: &str, seen: SeenKeys) -> bool {
        if self.wanted == Wanted::Infer {
            let first = *self.first.get_or_insert(seen);
            if first.kind != seen.kind {
                self.other.get_or_insert(seen);
                self.push_missing();
                return true;
            }
            if seen.kind == Type::Text && self.texts.is_none() {
                self.texts = Some(missing_texts(self.len));
            }
        }
        if let Some(texts) = &mut self.texts {
            texts.push(text.as_bytes());
        } else {
            let said = match seen.kind {
                Type::Number => number(raw.as_bytes()).map_or(Said::Text, Said::Number),
                Type::Boolean => Said::Number(f64::from(u8::from(raw == "true"))),
                Type::Text => read_cell(text.as_bytes()),
            };
            match said {
                Said::Number(value) => self.numbers.push(value),
                Said::Missing => self.numbers.push(f64::NAN),
                Said::Text => return false,
            }
        }
        self.len += 1;
        true
    }
}

fn missing_texts(n: usize) -> TextColumn {
    let mut texts = TextColumn::with_capacity(n);
    (0..n).for_each(|_| texts.push_missing());
    texts
}

/// The rows of a piece while it is read.
struct JsonRows<'a> {
    forced: &'a [(&'a str, Wanted)],
    forced_names: &'a NameIndex<'a>,
    /// The keys of the columns.
    keys: Dictionary,
    columns: Vec<JsonColumn>,
    n_rows: usize,
    bytes: usize,
    line: u64,
    /// Cells of the line so far.
    position: usize,
    /// The column after that of the last key: most lines have the same keys in the same order.
    next: usize,
    /// Line of every row, once they are not consecutive.
    lines: Option<Vec<u64>>,
    /// What is wrong with a line that is valid JSON.
    flaw: Option<Flaw>,
}

impl<'a> JsonRows<'a> {
    fn new(forced: &'a [(&'a str, Wanted)], forced_names: &'a NameIndex<'a>) -> JsonRows<'a> {
        JsonRows {
            forced,
            forced_names,
            keys: Dictionary::default(),
            columns: Vec::new(),
            n_rows: 0,
            bytes: 0,
            line: 0,
            position: 0,
            next: 0,
            lines: None,
            flaw: None,
        }
    }

    /// Reads lines up to the first that is flawed.
    fn read(&mut self, records: &[u8]) -> std::result::Result<(), Flaw> {
        self.bytes = records.len();
        let text = std::str::from_utf8(records).unwrap_or_else(|e| {
            let whole_lines = memchr::memrchr(b'\n', &records[..e.valid_up_to()]).map_or(0, |at| at + 1);
            std::str::from_utf8(&records[..whole_lines]).unwrap_or_default()
        });
        for line in text.lines() {
            if !line.bytes().all(|b| b.is_ascii_whitespace()) {
                self.row(line)?;
            }
            self.line += 1;
        }
        if text.len() < records.len() { check_utf8(records) } else { Ok(()) }
    }

    fn row(&mut self, line: &str) -> std::result::Result<(), Flaw> {
        match line.bytes().find(|b| !b.is_ascii_whitespace()) {
            Some(b'{') => {}
            Some(b'[') => return Err(Flaw::new(self.line, "the line is an array, not an object", ONE_PER_LINE)),
            _ => {
                let message = format!("the line is not a JSON object: {}", shown(line.as_bytes()));
                return Err(Flaw::new(self.line, message, ONE_PER_LINE));
            }
        }
        (self.position, self.next) = (0, 0);
        let mut json = serde_json::Deserializer::from_str(line);
        let read = JsonRow(self).deserialize(&mut json).and_then(|()| json.end());
        if let Err(error) = read {
            return Err(self.flaw.take().unwrap_or_else(|| invalid(&error, error.column(), self.line)));
        }
        let n = self.n_rows;
        too_sparse(n, self.columns.len(), self.bytes).map_err(|(what, help)| Flaw::new(self.line, what, help))?;
        self.columns.iter_mut().filter(|column| column.len == n).for_each(JsonColumn::push_missing);
        match &mut self.lines {
            Some(lines) => lines.push(self.line),
            None if self.line == n as u64 => {}
            None => self.lines = Some((0..n as u64).chain([self.line]).collect()),
        }
        self.n_rows += 1;
        Ok(())
    }

    /// The column of a key.
    fn column(&mut self, key: &str) -> std::result::Result<usize, Flaw> {
        let at = match self.next < self.keys.len() && self.keys.get(self.next) == key.as_bytes() {
            true => self.next,
            false => self.keys.code(key.as_bytes()) as usize,
        };
        self.next = at + 1;
        if at == self.columns.len() {
            if key.trim().is_empty() {
                return Err(Flaw::new(self.line, "a key is empty", "name every column"));
            }
            too_sparse(self.n_rows, at + 1, self.bytes).map_err(|(what, help)| Flaw::new(self.line, what, help))?;
            let wanted = self.forced_names.place(key).map_or(Wanted::Infer, |at| self.forced[at].1);
            self.columns.push(JsonColumn::new(wanted, self.n_rows));
        }
        if self.columns[at].len > self.n_rows {
            let help = "every key may occur once in an object";
            return Err(Flaw::new(self.line, "the key occurs twice in this line", help).column(key));
        }
        Ok(at)
    }

    /// One cell, as it was written.
    fn cell(&mut self, at: usize, raw: &str) -> std::result::Result<(), Flaw> {
        let name = || String::from_utf8_lossy(self.keys.get(at)).into_owned();
        let kind = match raw.bytes().next() {
            Some(b'n') => {
                self.columns[at].push_missing();
                return Ok(());
            }
            Some(nested @ (b'{' | b'[')) => {
                let what = if nested == b'{' { "an object" } else { "an array" };
                let help = "write nested values as columns of their own, or leave the key out";
                return Err(Flaw::new(self.line, format!("a cell cannot be {what}"), help).column(&name()));
            }
            Some(b't' | b'f') => Type::Boolean,
            Some(b'"') => Type::Text,
            _ => Type::Number,
        };
        let text: Cow<'_, str> = match kind {
            Type::Text if raw.contains('\\') => match serde_json::from_str(raw) {
                Ok(text) => Cow::Owned(text),
                Err(error) => return Err(invalid(&error, 0, self.line).column(&name())),
            },
            Type::Text => Cow::Borrowed(&raw[1..raw.len() - 1]),
            Type::Number | Type::Boolean => Cow::Borrowed(raw),
        };
        let seen = SeenKeys { kind, line: self.line, position: self.position };
        self.position += 1;
        if !self.columns[at].push(raw, &text, seen) {
            let (name, message) = (name(), format!("{} is not a number", shown(text.as_bytes())));
            return Err(Flaw::new(self.line, message, FIX).or(as_text(&name)).column(&name));
        }
        Ok(())
    }

    /// The rows with column `i` of the piece at place `order[i]` of `width` columns.
    fn finish(self, order: &[usize], width: usize) -> RawChunk {
        let mut columns: Vec<Option<RawColumn>> = (0..width).map(|_| None).collect();
        for (column, at) in self.columns.into_iter().zip(order) {
            columns[*at] = Some(match column.texts {
                Some(texts) => RawColumn::Text(texts),
                None => RawColumn::Number(column.numbers.into_cells()),
            });
        }
        let absent = || RawColumn::Number(Cells::I8(vec![i8::MIN; self.n_rows].into()));
        let columns = columns.into_iter().map(|column| column.unwrap_or_else(absent)).collect();
        let places = self.lines.map_or(CellPlaces::Consecutive, CellPlaces::Lines);
        RawChunk { n_rows: self.n_rows, columns, sparse: None, places }
    }
}

/// The flaw of a line that is not JSON; `byte` is zero where it is not known.
fn invalid(error: &serde_json::Error, byte: usize, line: u64) -> Flaw {
    let full = error.to_string();
    let what = full.strip_suffix(&format!(" at line {} column {}", error.line(), error.column())).unwrap_or(&full);
    let at = if byte > 0 { format!(" at byte {byte} of the line") } else { String::new() };
    let help = match error.is_eof() {
        true => ONE_PER_LINE,
        false => "fix the line; JSON has no NaN or Infinity: write null for a missing cell",
    };
    Flaw::new(line, format!("invalid JSON{at}: {what}"), help)
}

/// An object, read into the next row.
struct JsonRow<'r, 'a>(&'r mut JsonRows<'a>);

impl<'de> DeserializeSeed<'de> for JsonRow<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for JsonRow<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(at) = map.next_key_seed(Key(self.0))? {
            let value: &RawValue = map.next_value()?;
            if let Err(flaw) = self.0.cell(at, value.get()) {
                self.0.flaw = Some(flaw);
                return Err(A::Error::custom("the flaw says it"));
            }
        }
        Ok(())
    }
}

/// A key, read into its column.
struct Key<'r, 'a>(&'r mut JsonRows<'a>);

impl<'de> DeserializeSeed<'de> for Key<'_, '_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<usize, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_, '_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> std::result::Result<usize, E> {
        self.0.column(key).map_err(|flaw| {
            self.0.flaw = Some(flaw);
            E::custom("the flaw says it")
        })
    }
}

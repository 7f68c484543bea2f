//! The first record: column names and delimiter.

use super::parse::cells_of_record;
use crate::error::{Error, Place, Result};
use crate::read::ReadOptions;
use crate::read::feed::{Flaw, PADDING, PIECE, Start, check_utf8, longest_record, record_too_long};
use crate::read::number::trim_spaces;
use crate::read::source::Input;
use crate::words::{Setting, words};
use memchr::memchr2_iter;
use std::collections::HashMap;
use std::io::{BufRead, Read};
use std::sync::Arc;

const BOM: &[u8] = b"\xef\xbb\xbf";
/// Bytes read first for the header; twice as many where it does not end in them.
const FIRST: u64 = 64 << 10;

/// What the first record of a file says.
#[derive(Debug)]
pub(super) struct Header {
    pub names: Vec<String>,
    pub delimiter: u8,
    pub start: Start,
}

/// What a column without a name is called until it is known whether it is one: no name begins with a space.
pub(super) const ROW_NAMES: &str = " row names";
/// The same of columns at the end, with their number.
pub(super) const NAMELESS: &str = " column ";
/// Cells that a file without a header has names for: `column1` and so on.
const NUMBERED: &str = "column";

impl Header {
    /// Reads no more of the input than its first records, and a little.
    pub(super) fn read(input: &Input<'_>, options: &ReadOptions) -> Result<Header> {
        let file: &str = input.name();
        if let Some(delimiter) = options.delimiter
            && (!delimiter.is_ascii() || delimiter.is_ascii_alphanumeric() || b"\0\"\n\r+-.".contains(&delimiter))
        {
            return Err(Error::usage(format!("{:?} cannot delimit cells", char::from(delimiter)))
                .help("use a comma, a semicolon, a tab, a bar or a space"));
        }
        let mut start = lines_before(input, options.skip)?;
        let (mut bytes, mut length) = record_at(input, &mut start, options)?;
        // Spreadsheets say so in a first line of their own.
        let said = said_delimiter(&bytes);
        if said.is_some() {
            start = Start { skip: start.skip + length, lines: start.lines + 1 };
            (bytes, length) = record_at(input, &mut start, options)?;
        }
        if bytes.is_empty() {
            return Err(Error::format("the file is empty").at(Place::file(file)).help("a header line must come first"));
        }
        if bytes.contains(&0) {
            return Err(Error::format("the text has zero bytes, as UTF-16 without a byte order mark has")
                .at(Place::file(file).line(start.lines + 1))
                .help(words!["if it is UTF-16: ", Setting::Encoding.any(["utf-16le", "utf-16be"])]));
        }
        let lines = memchr::memchr_iter(b'\n', &bytes).count() as u64;
        if bytes.last() != Some(&b'\n') {
            bytes.push(b'\n');
        }
        let flawed = |flaw: Flaw| flaw.into_error(file, start.lines + 1);
        check_utf8(&bytes).map_err(flawed)?;
        let delimiter = options.delimiter.or(said).unwrap_or_else(|| match input.extension().as_deref() {
            Some("tsv" | "tab") => b'\t',
            _ => detect_delimiter(&bytes),
        });
        bytes.resize(bytes.len() + PADDING, 0);
        let after = Start { skip: start.skip + length, lines: start.lines + lines };
        if options.no_header {
            let cells = cells_of_record(&bytes, delimiter).map_err(flawed)?.len();
            return Ok(Header { names: numbered_names(cells), delimiter, start });
        }
        let mut names = names(&bytes, delimiter).map_err(flawed)?;
        // R's write.table has no name for the row names.
        if is_longer(input, after, delimiter, names.len() + 1)? && names[0] != ROW_NAMES {
            names.insert(0, ROW_NAMES.to_owned());
        }
        Ok(Header { names, delimiter, start: after })
    }

    /// For each column of this file its place among `names`; the columns of all files must be the same.
    pub(super) fn order(&self, names: &[String], inputs: &[Input<'_>], file: usize) -> Result<Vec<usize>> {
        same_columns(&self.names, names, inputs, file)
    }
}

/// For each name its place among the names of the first file; an error names both files and the column.
pub(in crate::read) fn same_columns(
    own: &[String],
    names: &[String],
    inputs: &[Input<'_>],
    file: usize,
) -> Result<Vec<usize>> {
    let place: HashMap<&str, usize> = names.iter().enumerate().map(|(i, n)| (n.as_str(), i)).collect();
    let (this, first) = (inputs[file].name(), inputs[0].name());
    let differ = |column: &str, message: String| {
        Error::format(message)
            .at(Place::file(&**this).column(column))
            .help("files read together must have the same columns, in any order")
    };
    let mut order = Vec::with_capacity(own.len());
    for name in own {
        match place.get(name.as_str()) {
            Some(at) => order.push(*at),
            None => return Err(differ(name, format!("this column is not in `{first}`"))),
        }
    }
    if own.len() < names.len() {
        let absent = names.iter().find(|n| !own.contains(n)).map_or("", String::as_str);
        return Err(differ(absent, format!("this column of `{first}` is not in `{this}`")));
    }
    Ok(order)
}

/// Where the table begins behind some lines.
fn lines_before(input: &Input<'_>, lines: u64) -> Result<Start> {
    let mut start = Start::default();
    if lines == 0 {
        return Ok(start);
    }
    let mut reader = std::io::BufReader::new(input.open(&Arc::default())?);
    for line in 0..lines {
        let mut skipped = Vec::new();
        let n = reader.read_until(b'\n', &mut skipped).map_err(|e| input.failed(&e))?;
        if n == 0 {
            return Err(Error::format(format!("the file has {line} lines, so none is left"))
                .at(Place::file(&**input.name()))
                .help(words!["leave fewer lines out with ", Setting::Skip]));
        }
        start = Start { skip: start.skip + n as u64, lines: start.lines + 1 };
    }
    Ok(start)
}

/// The record at a place, without a byte order mark, and its length with one. Where lines of comments were, which are blank
/// now, they are passed over.
fn record_at(input: &Input<'_>, start: &mut Start, options: &ReadOptions) -> Result<(Vec<u8>, u64)> {
    loop {
        let mut bytes = first_record(input, start.skip)?;
        let length = bytes.len() as u64;
        if start.skip == 0 && bytes.starts_with(BOM) {
            bytes.drain(..BOM.len());
        }
        let is_blank = matches!(&bytes[..], b"\n" | b"\r\n");
        if options.comment.is_none() || !is_blank {
            return Ok((bytes, length));
        }
        *start = Start { skip: start.skip + length, lines: start.lines + 1 };
    }
}

/// The delimiter of a first line `sep=;`.
fn said_delimiter(record: &[u8]) -> Option<u8> {
    let line = record.strip_suffix(b"\n").unwrap_or(record);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match line {
        [b's', b'e', b'p', b'=', delimiter] if delimiter.is_ascii_punctuation() || *delimiter == b'\t' => {
            Some(*delimiter)
        }
        _ => None,
    }
}

/// Whether the record at a place begins with a quote, as row names do, and has so many cells.
fn is_longer(input: &Input<'_>, at: Start, delimiter: u8, cells: usize) -> Result<bool> {
    let mut record = first_record(input, at.skip)?;
    if record.first() != Some(&b'"') {
        return Ok(false);
    }
    if record.last() != Some(&b'\n') {
        record.push(b'\n');
    }
    record.resize(record.len() + PADDING, 0);
    Ok(cells_of_record(&record, delimiter).is_ok_and(|found| found.len() == cells))
}

/// The bytes from a place on up to and with the line feed that ends the record there; all of them if none does.
fn first_record(input: &Input<'_>, skip: u64) -> Result<Vec<u8>> {
    let mut reader = input.open(&Arc::default())?;
    std::io::copy(&mut reader.by_ref().take(skip), &mut std::io::sink()).map_err(|e| input.failed(&e))?;
    let mut bytes = Vec::new();
    let (mut open, mut looked) = (false, 0);
    let mut goal = FIRST;
    loop {
        reader.by_ref().take(goal - bytes.len() as u64).read_to_end(&mut bytes).map_err(|e| input.failed(&e))?;
        for at in memchr2_iter(b'"', b'\n', &bytes[looked..]) {
            match bytes[looked + at] {
                b'"' => open = !open,
                _ if !open => {
                    bytes.truncate(looked + at + 1);
                    return Ok(bytes);
                }
                _ => {}
            }
        }
        looked = bytes.len();
        // Beyond the limit the parser says that a quote is left open.
        let too_long = looked > longest_record(PIECE);
        if too_long && !open {
            return Err(record_too_long(input));
        }
        if (looked as u64) < goal || too_long {
            return Ok(bytes);
        }
        goal *= 2;
    }
}

/// The most frequent of the usual delimiters outside quotes; comma if there is none.
fn detect_delimiter(record: &[u8]) -> u8 {
    let mut best = (0, b',');
    for delimiter in *b",;\t|" {
        let (mut open, mut n) = (false, 0);
        for byte in record {
            open ^= *byte == b'"';
            n += usize::from(!open && *byte == delimiter);
        }
        if n > best.0 {
            best = (n, delimiter);
        }
    }
    best.1
}

/// The names in a padded header record, distinct. A first one may be empty, and some at the end: whether there is a column is
/// seen by its cells.
fn names(padded: &[u8], delimiter: u8) -> std::result::Result<Vec<String>, Flaw> {
    let cells = cells_of_record(padded, delimiter)?;
    distinct_names(cells.iter().map(|cell| String::from_utf8_lossy(trim_spaces(cell)).into_owned()).collect())
}

/// Names that are distinct, with those of columns that may be none.
pub(in crate::read) fn distinct_names(cells: Vec<String>) -> std::result::Result<Vec<String>, Flaw> {
    let named = cells.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1);
    let mut names: Vec<String> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (at, name) in cells.into_iter().enumerate() {
        let number = at + 1;
        if name.is_empty() && named > 0 && (at == 0 || at >= named) {
            names.push(if at == 0 { ROW_NAMES.to_owned() } else { format!("{NAMELESS}{number}") });
            continue;
        }
        if name.is_empty() {
            return Err(no_name(number));
        }
        if let Some(before) = places.insert(name.clone(), number) {
            return Err(Flaw::new(
                0,
                format!("two columns have the same name: {before} and {number}"),
                "give every column its own name",
            )
            .column(&name));
        }
        names.push(name);
    }
    Ok(names)
}

/// Names of columns that have none: `column1` and so on.
pub(in crate::read) fn numbered_names(columns: usize) -> Vec<String> {
    (1..=columns).map(|c| format!("{NUMBERED}{c}")).collect()
}

/// The flaw of a column without a name.
pub(super) fn no_name(number: usize) -> Flaw {
    let help = "name every column in the header (pandas leaves the index unnamed: write with `index=False`)";
    Flaw::new(0, format!("column {number} has no name"), help)
}

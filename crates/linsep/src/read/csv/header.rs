//! The first record: column names and delimiter.

use super::parse::cells_of_record;
use crate::error::{Error, Place, Result};
use crate::read::ReadOptions;
use crate::read::feed::{Flaw, PADDING, PIECE, Start, check_utf8, longest_record, record_too_long};
use crate::read::number::trim_spaces;
use crate::read::source::Input;
use memchr::memchr2_iter;
use std::collections::HashMap;
use std::io::Read;
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

impl Header {
    /// Reads no more of the input than its first record, and a little.
    pub(super) fn read(input: &Input<'_>, options: &ReadOptions) -> Result<Header> {
        let file: &str = input.name();
        if let Some(delimiter) = options.delimiter
            && (!delimiter.is_ascii() || delimiter.is_ascii_alphanumeric() || b"\0\"\n\r+-.".contains(&delimiter))
        {
            return Err(Error::usage(format!("{:?} cannot delimit cells", char::from(delimiter)))
                .help("use a comma, a semicolon, a tab, a bar or a space"));
        }
        let mut bytes = first_record(input)?;
        let skip = bytes.len() as u64;
        if bytes.starts_with(BOM) {
            bytes.drain(..BOM.len());
        }
        if bytes.is_empty() {
            return Err(Error::format("the file is empty").at(Place::file(file)).help("a header line must come first"));
        }
        let lines = memchr::memchr_iter(b'\n', &bytes).count() as u64;
        if bytes.last() != Some(&b'\n') {
            bytes.push(b'\n');
        }
        check_utf8(&bytes).map_err(|flaw| flaw.into_error(file, 1))?;
        let delimiter = options.delimiter.unwrap_or_else(|| match input.extension().as_deref() {
            Some("tsv" | "tab") => b'\t',
            _ => detect_delimiter(&bytes),
        });
        bytes.resize(bytes.len() + PADDING, 0);
        let names = names(&bytes, delimiter).map_err(|flaw| flaw.into_error(file, 1))?;
        Ok(Header { names, delimiter, start: Start { skip, lines } })
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

/// The bytes up to and with the line feed that ends the first record; all of them if none does.
fn first_record(input: &Input<'_>) -> Result<Vec<u8>> {
    let mut reader = input.open(&Arc::default())?;
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

/// The names in a padded header record, distinct and not empty.
fn names(padded: &[u8], delimiter: u8) -> std::result::Result<Vec<String>, Flaw> {
    let mut names: Vec<String> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for cell in cells_of_record(padded, delimiter)? {
        let name = String::from_utf8_lossy(trim_spaces(&cell)).into_owned();
        let number = names.len() + 1;
        if name.is_empty() {
            return Err(Flaw::new(
                0,
                format!("column {number} has no name"),
                "name every column in the header (pandas leaves the index unnamed: write with `index=False`)",
            ));
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

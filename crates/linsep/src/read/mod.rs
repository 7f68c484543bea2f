//! Bytes to [`Table`]s: CSV and TSV, JSON lines, LIBSVM, Parquet, Arrow, NumPy arrays, Excel workbooks; plain, gzip or zstd;
//! files, standard input, memory.
//!
//! Reading is strict: a ragged row, a stray quote, a bad number or invalid UTF-8 is an error with its line, never
//! repaired. The bytes are cut into pieces of a fixed size at record ends and parsed in parallel in the current rayon
//! pool, so the table does not depend on the number of threads and the raw bytes are never held as a whole. Only a
//! stream, which cannot be read twice, is kept in memory (compressed, if that is how it came) until its table is done.
//!
//! The readers of Parquet (`parquet`), of Arrow (`arrow`) and of gzip and zstandard (`compression`) are features of the
//! package, on unless its default features are off; that of workbooks (`xlsx`) is one to be asked for. Without one of them its
//! files are recognised, and an error says what was left out.

#[cfg(not(all(feature = "arrow", feature = "compression", feature = "parquet", feature = "xlsx")))]
mod absent;
#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "arrow-arrays")]
mod arrow_columns;
#[cfg(feature = "arrow-arrays")]
mod batches;
mod column;
mod csv;
mod dictionary;
mod encoded;
mod feed;
mod guarded;
mod infer;
mod interpret;
mod label_lists;
mod libsvm;
mod ndjson;
mod npy;
mod number;
#[cfg(feature = "parquet")]
mod parquet;
mod source;
mod style;
#[cfg(feature = "compression")]
mod unpacked;
#[cfg(feature = "xlsx")]
mod xlsx;

// They compare the readers with each other, so all of them must be there.
#[cfg(all(test, feature = "arrow", feature = "parquet", feature = "compression"))]
mod tests;

#[cfg(not(all(feature = "arrow", feature = "compression", feature = "parquet", feature = "xlsx")))]
pub(crate) use absent::absent;
#[cfg(feature = "arrow-arrays")]
pub use batches::read_batches;
pub use encoded::TextEncoding;
pub use guarded::is_decoding;
#[cfg(feature = "compression")]
pub(crate) use unpacked::most_unpacked;

use crate::error::{Error, Place, Result, nearest};
use crate::options::options;
use crate::table::{Aside, CellScratch, DateOrder, NameIndex, Reading, Table};
use crate::watch::Watch;
use crate::words::{Setting, words};
use source::Input;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Bytes by which the format of a file is recognised.
const HEAD: u64 = 4096;
/// How a file of Arrow's interprocess format begins and ends.
const ARROW_MAGIC: &[u8] = b"ARROW1";
/// How ZIP archives begin, workbooks among them.
const ZIP: &[u8] = b"PK\x03\x04";
/// How files of Office before 2007 begin, and those with a password: the compound file format.
const OLD_OFFICE: &[u8] = &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

options! {
/// How to read.
///
/// ```
/// use linsep::read::{ReadOptions, read_bytes};
/// let options = ReadOptions::default().text(["zip"]);
/// let table = read_bytes(b"zip,age\n01234,40\n", "people.csv", &options)?;
/// assert_eq!(table.text(0, table.column("zip")?), "01234");
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The format; `None` decides by the file's extension (before any `.gz` or `.zst`), else by its content.
    pub format: Option<Format>,
    /// The byte between CSV cells; `None` takes the most frequent of comma, semicolon, tab and bar in the header.
    pub delimiter: Option<u8>,
    /// Columns to read as text whatever their cells look like.
    pub text: Vec<String>,
    /// Columns to read as numbers; any other cell is an error.
    pub number: Vec<String>,
    /// Kinds that a model expects: forced where the column is present, ignored where it is not.
    pub expected: Vec<(String, Expected)>,
    /// The decimal sign of text files; `None` is a point, or that of the model's table.
    pub decimal: Option<char>,
    /// The sign between groups of three digits.
    pub thousands: Option<char>,
    /// Words that stand for a missing cell, besides those that always do.
    pub missing: Vec<String>,
    /// Columns of dates, with the order of year, month and day where the cells do not tell it.
    pub dates: Vec<(String, Option<DateOrder>)>,
    /// Columns of labels, which stay text whatever they look like.
    pub labels: Vec<String>,
    /// How the table of a model was read: what is not asked for is read the same.
    pub as_read: Reading,
    /// The byte that begins lines of comments in CSV files.
    pub comment: Option<u8>,
    /// Whether CSV files begin with rows; their columns are then `column1` and so on.
    pub no_header: bool,
    /// Lines before the header of CSV files.
    pub skip: u64,
    /// The encoding of text files; `None` is UTF-8, or UTF-16 by its byte order mark.
    pub encoding: Option<TextEncoding>,
    /// What the indices of LIBSVM files count from; `None` is one, or zero where index 0 occurs.
    pub index_from: Option<u32>,
    /// The sheet of a workbook; `None` is the first that has cells.
    pub sheet: Option<String>,
    /// Where cells of CSV and Parquet files go that do not fit into the memory they may take; `None` keeps all of them there.
    pub scratch: Option<Arc<CellScratch>>,
}
}

/// The kind of column a model expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Text.
    Text,
    /// Numbers.
    Number,
}

/// A file format.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values after RFC 4180, with a header; also other delimiters, so TSV too.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// LIBSVM or svmlight sparse rows: `label index:value …`.
    Libsvm,
    /// Arrow's interprocess format: a file (also Feather, version 2) or a stream.
    Arrow,
    /// JSON objects, one to a line.
    Ndjson,
    /// An array of NumPy's.
    Npy,
    /// A sheet of an Excel workbook, `.xlsx` or `.xlsm`.
    Xlsx,
}

/// What the caller said about a column's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Infer,
    Text,
    Number,
}

/// Reads files of one format and the same columns (by name, in any order) into one table; `-` is standard input.
///
/// # Errors
/// Whatever is wrong with the first bad place: file, line and column are in the error.
pub fn read_files<P: AsRef<Path>>(paths: &[P], options: &ReadOptions, watch: &Watch) -> Result<Table> {
    let inputs = paths.iter().map(|p| Input::from_path(p.as_ref(), watch)).collect::<Result<Vec<_>>>()?;
    read_inputs(&inputs, options, watch, feed::PIECE)
}

/// Reads a stream to its end into a table. The raw bytes are held in memory until the table is done, because a column
/// may turn out to be text after its first numbers have been parsed; `name` stands for the file in errors, and its
/// extension counts as one.
///
/// # Errors
/// As [`read_files`].
pub fn read_stream(stream: impl Read + Send, name: &str, options: &ReadOptions, watch: &Watch) -> Result<Table> {
    read_inputs(&[Input::spool(stream, name, watch)?], options, watch, feed::PIECE)
}

/// Reads bytes into a table; `name` stands for the file in errors, and its extension counts as one.
///
/// ```
/// use linsep::read::{ReadOptions, read_bytes};
/// let error = read_bytes(b"a,b\n1,2\n3\n", "demo.csv", &ReadOptions::default()).unwrap_err();
/// assert_eq!(error.place().line, Some(3));
/// assert_eq!(error.message(), "the row has 1 cell, the header has 2");
/// ```
///
/// # Errors
/// As [`read_files`].
pub fn read_bytes(bytes: &[u8], name: &str, options: &ReadOptions) -> Result<Table> {
    read_inputs(&[Input::from_bytes(bytes, name)], options, &Watch::default(), feed::PIECE)
}

/// Every reader behind one door; `piece` is the size of the byte pieces, which tests make tiny.
fn read_inputs(inputs: &[Input<'_>], options: &ReadOptions, watch: &Watch, piece: usize) -> Result<Table> {
    let Some(first) = inputs.first() else {
        return Err(Error::usage("no file to read"));
    };
    let style = style::CellStyle::of(options)?;
    let mut asides = Vec::new();
    for input in inputs {
        asides.extend(input.set_text(options)?.map(Aside::Encoding));
    }
    asides.dedup();
    let format = detect(first, options)?;
    for other in &inputs[1..] {
        let found = detect(other, options)?;
        if found != format {
            let message = format!("this file is {found:?}, but `{}` is {format:?}", first.name());
            return Err(Error::format(message)
                .at(Place::file(&**other.name()))
                .help("read files of one format at a time")
                .help("name the format of all of them"));
        }
    }
    if let Some(sheet) = options.sheet.as_ref().filter(|_| format != Format::Xlsx) {
        return Err(Error::usage(format!("this file is no workbook, so it has no sheet `{sheet}`"))
            .at(Place::file(&**first.name()))
            .help(words!["leave ", Setting::Sheet, " out"]));
    }
    let table = match format {
        Format::Csv => csv::read(inputs, options, &style, watch, piece),
        Format::Libsvm => libsvm::read(inputs, options, watch, piece),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(inputs, options, watch),
        #[cfg(feature = "arrow")]
        Format::Arrow => arrow::read(inputs, options, watch),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(absent("Parquet files", first.name()).help("make a CSV file of it")),
        #[cfg(not(feature = "arrow"))]
        Format::Arrow => Err(absent("Arrow files and streams", first.name()).help("make a CSV file of it")),
        Format::Ndjson => ndjson::read(inputs, options, watch, piece),
        Format::Npy => npy::read(inputs, options, watch),
        #[cfg(feature = "xlsx")]
        Format::Xlsx => xlsx::read(inputs, options, &style, watch),
        #[cfg(not(feature = "xlsx"))]
        Format::Xlsx => Err(absent("Excel workbooks", first.name()).help("save the sheet as CSV")),
    }?;
    let table = interpret::interpret(table, options, &style, format == Format::Csv)?;
    let table = match &options.scratch {
        Some(scratch) => table.in_scratch(scratch)?,
        None => table,
    };
    Ok(asides.into_iter().fold(table, Table::with_aside))
}

/// Whether bytes begin like a file or a stream of Arrow's interprocess format.
fn looks_like_arrow(head: &[u8]) -> bool {
    head.starts_with(ARROW_MAGIC) || head.starts_with(&[0xff; 4])
}

/// The format of one input: as asked, else by magic bytes, else by extension, else by the look of the first line.
fn detect(input: &Input<'_>, options: &ReadOptions) -> Result<Format> {
    if let Some(format) = options.format {
        return Ok(format);
    }
    let head = input.head(HEAD)?;
    if head.starts_with(b"PAR1") {
        return Ok(Format::Parquet);
    }
    if looks_like_arrow(&head) {
        return Ok(Format::Arrow);
    }
    if head.starts_with(npy::MAGIC) {
        return Ok(Format::Npy);
    }
    let extension = input.extension();
    if let Some(format) = archive(&head, extension.as_deref(), input)? {
        return Ok(format);
    }
    Ok(match extension.as_deref() {
        Some("csv" | "tsv" | "tab") => Format::Csv,
        Some("parquet" | "pq") => Format::Parquet,
        Some("arrow" | "arrows" | "feather" | "ipc") => Format::Arrow,
        Some("ndjson" | "jsonl" | "json") => Format::Ndjson,
        Some("npy") => Format::Npy,
        Some("xlsx" | "xlsm") => Format::Xlsx,
        Some("svm" | "libsvm" | "svmlight") => Format::Libsvm,
        _ if ndjson::looks_like(&head) => Format::Ndjson,
        _ if libsvm::looks_like(&head) => Format::Libsvm,
        _ => Format::Csv,
    })
}

/// A workbook among the archives; an error for those that hold no table that can be read.
fn archive(head: &[u8], extension: Option<&str>, input: &Input<'_>) -> Result<Option<Format>> {
    let refused = |what: &str, help: &str| Err(Error::format(what).at(Place::file(&**input.name())).help(help));
    if head.starts_with(OLD_OFFICE) {
        let what = "this is a workbook of Excel 97 to 2003, or one with a password";
        return refused(what, "save it as .xlsx without a password");
    }
    if !head.starts_with(ZIP) {
        return Ok(None);
    }
    let names = |part: &[u8]| memchr::memmem::find(head, part).is_some();
    if names(b"opendocument") {
        return refused("this is an OpenDocument file", "save the sheet as .xlsx or as CSV");
    }
    if matches!(extension, Some("xlsx" | "xlsm")) || names(b"[Content_Types].xml") || names(b"xl/") {
        return Ok(Some(Format::Xlsx));
    }
    match extension {
        Some("npz") => refused("this is an archive of several NumPy arrays", "save one array with `numpy.save`"),
        _ => refused("this is a ZIP archive, not a table", "unpack it and name the file in it"),
    }
}

/// One [`Wanted`] per column; an unknown or contradictory name is an error.
fn wanted(names: &[String], options: &ReadOptions, file: &str) -> Result<Vec<Wanted>> {
    let mut wanted = vec![Wanted::Infer; names.len()];
    let places = NameIndex::new(names.iter().map(String::as_str));
    for (name, expected) in &options.expected {
        if let Some(index) = places.place(name) {
            wanted[index] = match expected {
                Expected::Text => Wanted::Text,
                Expected::Number => Wanted::Number,
            };
        }
    }
    // Of these the texts are kept, to be interpreted as a whole.
    for column in &options.as_read.columns {
        if let Some(index) = places.place(&column.name) {
            wanted[index] = Wanted::Text;
        }
    }
    let mut asked = vec![[false; 3]; names.len()];
    let all = (options.text.iter().map(|n| (n, 0)))
        .chain(options.number.iter().map(|n| (n, 1)))
        .chain(options.dates.iter().map(|(n, _)| (n, 2)));
    for (name, kind) in all {
        let Some(index) = places.place(name) else {
            let near = nearest(name, names.iter().map(String::as_str));
            let shown = || names.iter().take(12).map(String::as_str).collect::<Vec<_>>().join("`, `");
            let help = if near.is_empty() {
                format!("the columns are `{}`{}", shown(), if names.len() > 12 { ", …" } else { "" })
            } else {
                format!("did you mean `{}`?", near.join("`, `"))
            };
            return Err(Error::usage(format!("there is no column `{name}`")).at(Place::file(file)).help(help));
        };
        asked[index][kind] = true;
        if asked[index].iter().filter(|a| **a).count() > 1 {
            return Err(Error::usage(format!("column `{name}` cannot be read as two of text, numbers and dates")));
        }
        // A column that is asked to be numbers may turn out to be amounts, percentages or yes and no.
        wanted[index] = if kind == 1 { Wanted::Infer } else { Wanted::Text };
    }
    Ok(wanted)
}

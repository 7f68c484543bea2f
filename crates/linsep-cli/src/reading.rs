//! The flags that say how the cells and lines of a file are to be read.

use clap::Args;
use linsep::read::{ReadOptions, TextEncoding};
use linsep::table::{CellScratch, DateOrder};
use linsep::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How cells and lines are read.
#[derive(Args, Clone)]
pub struct ReadingArguments {
    /// Decimal sign of CSV files: . or ,
    #[arg(long, value_name = "SIGN", help_heading = "Reading")]
    decimal: Option<String>,

    /// Sign between groups of three digits: . , ' _ or space
    #[arg(long, value_name = "SIGN", help_heading = "Reading")]
    thousands: Option<String>,

    /// Words that stand for a missing cell, besides the empty cell, NA, N/A, n/a, #N/A, NaN, nan, null, NULL and ?
    #[arg(long, value_name = "WORD", value_delimiter = ',', help_heading = "Reading", allow_hyphen_values = true)]
    na_values: Vec<String>,

    /// Read these columns as dates, in days since the first; with the order where the cells do not tell it: day=dmy
    #[arg(long, value_name = "COLUMN[=ORDER]", value_delimiter = ',', help_heading = "Reading")]
    date: Vec<String>,

    /// Leave out lines of CSV files that begin with this character
    #[arg(long, value_name = "CHAR", help_heading = "Reading")]
    comment: Option<String>,

    /// Sheet of a workbook (default: the first that has cells)
    #[arg(long, value_name = "NAME", help_heading = "Reading")]
    sheet: Option<String>,

    /// CSV files and sheets without a header: the columns are column1, column2 and so on
    #[arg(long, help_heading = "Reading")]
    no_header: bool,

    /// Leave out the first N lines of CSV files, or rows of a sheet
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Reading")]
    skip: u64,

    /// Encoding of text files: utf-8, utf-16le, utf-16be, windows-1252 or latin1 (default: UTF-8, or UTF-16 by its byte
    /// order mark)
    #[arg(long, value_name = "NAME", help_heading = "Reading")]
    encoding: Option<String>,

    /// What the indices of LIBSVM files count from, 0 or 1 (default: 1, or 0 where index 0 occurs)
    #[arg(long, value_name = "N", help_heading = "Reading")]
    index_from: Option<u32>,

    /// Memory that the cells of a table may take, as 500MB or 2GB: what does not fit goes to scratch files, with the same result
    #[arg(long, value_name = "SIZE", help_heading = "Reading")]
    memory: Option<String>,

    /// Directory of scratch files (default: that of the first table)
    #[arg(long, value_name = "DIR", help_heading = "Reading", requires = "memory")]
    scratch: Option<PathBuf>,
}

impl ReadingArguments {
    /// Adds what the flags say.
    pub fn fill(&self, files: &[String], options: &mut ReadOptions) -> Result<()> {
        options.decimal = self.decimal.as_deref().map(|text| sign(text, "--decimal")).transpose()?;
        options.thousands = self.thousands.as_deref().map(|text| sign(text, "--thousands")).transpose()?;
        options.missing = self.na_values.clone();
        options.dates = self.date.iter().map(|text| date(text)).collect::<Result<_>>()?;
        options.comment = self.comment.as_deref().map(comment).transpose()?;
        options.no_header = self.no_header;
        options.skip = self.skip;
        options.encoding = self.encoding.as_deref().map(encoding).transpose()?;
        options.index_from = self.index_from;
        options.sheet = self.sheet.clone();
        options.scratch = self.scratch(files)?;
        if let Some(from) = self.index_from.filter(|from| *from > 1) {
            return Err(Error::usage(format!("indices cannot count from {from}")).help("use --index-from 0 or 1"));
        }
        Ok(())
    }

    /// Whether the memory of a table has a limit.
    pub fn has_limit(&self) -> bool {
        self.memory.is_some()
    }

    /// Where cells go that do not fit into memory: beside the first table unless a directory is named.
    fn scratch(&self, files: &[String]) -> Result<Option<Arc<CellScratch>>> {
        let Some(said) = &self.memory else { return Ok(None) };
        let limit = bytes(said).ok_or_else(|| {
            Error::usage(format!("`{said}` is no amount of memory")).help("for example --memory 500MB, 2GB or 1.5GiB")
        })?;
        let beside = files.first().filter(|file| *file != "-").and_then(|file| Path::new(file).parent());
        let directory = match (&self.scratch, beside) {
            (Some(directory), _) => directory.clone(),
            (None, Some(beside)) if beside.as_os_str().is_empty() => PathBuf::from("."),
            (None, Some(beside)) => beside.to_owned(),
            (None, None) => std::env::temp_dir(),
        };
        if !directory.is_dir() {
            return Err(Error::usage(format!("there is no directory `{}` for scratch files", directory.display()))
                .help("name one that exists: --scratch DIR"));
        }
        Ok(Some(Arc::new(CellScratch::new(directory, limit))))
    }
}

/// A number of bytes: 500MB, 2GB, 1.5 GiB, 100000.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let unit = match text[end..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let size = text[..end].parse::<f64>().ok()? * unit;
    (size.is_finite() && size < 1e18).then_some(size as u64)
}

fn sign(text: &str, flag: &str) -> Result<char> {
    let mut signs = if text == "space" { " " } else { text }.chars();
    match (signs.next(), signs.next()) {
        (Some(sign), None) => Ok(sign),
        _ => Err(Error::usage(format!("{flag} takes one character, not `{text}`"))
            .help("for example --decimal , --thousands .")),
    }
}

/// A column, and the order of its dates.
fn date(text: &str) -> Result<(String, Option<DateOrder>)> {
    let Some((column, order)) = text.rsplit_once('=') else { return Ok((text.to_owned(), None)) };
    match DateOrder::ALL.into_iter().find(|o| o.name() == order) {
        Some(order) => Ok((column.to_owned(), Some(order))),
        None => Err(Error::usage(format!("`{order}` is no order of year, month and day"))
            .help(format!("write --date {column}=ymd, {column}=dmy or {column}=mdy"))),
    }
}

fn comment(text: &str) -> Result<u8> {
    match text.as_bytes() {
        [byte] if byte.is_ascii_punctuation() && *byte != b'"' => Ok(*byte),
        _ => Err(Error::usage(format!("`{text}` cannot begin comments")).help("use one of # % ; ! or /")),
    }
}

fn encoding(text: &str) -> Result<TextEncoding> {
    let name = text.to_ascii_lowercase().replace('_', "-");
    let found = match name.as_str() {
        "utf8" => Some(TextEncoding::Utf8),
        "cp1252" | "windows1252" => Some(TextEncoding::Windows1252),
        "latin-1" | "iso-8859-1" => Some(TextEncoding::Latin1),
        "utf16" | "utf-16" => {
            return Err(Error::usage("`utf-16` does not say which byte of a pair comes first")
                .help("leave it out where the file has a byte order mark")
                .help("name it: --encoding utf-16le or utf-16be"));
        }
        _ => TextEncoding::ALL.into_iter().find(|e| e.name() == name),
    };
    found.ok_or_else(|| {
        Error::usage(format!("the encoding `{text}` is not known"))
            .help("use utf-8, utf-16le, utf-16be, windows-1252 or latin1")
            .help("convert the file to UTF-8")
    })
}

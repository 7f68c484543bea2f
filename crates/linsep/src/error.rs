//! One error type: what is wrong, where, and what to do about it.
//!
//! Answers such as "not converged" or "separated" are not errors; they live in
//! [`crate::solve::Stop`] and [`crate::certify::Certificate`].

use std::fmt;

/// What sort of thing went wrong; the command maps every kind to exit code 2
/// except [`ErrorKind::Interrupted`].
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// A request that cannot be carried out whatever the data: an option out of range, options that exclude each other.
    Usage,
    /// The operating system refused to read or write.
    Io,
    /// Bytes that are not what the format says: a ragged row, a bad number, invalid UTF-8.
    Format,
    /// Well-formed data that the method cannot take: one class only, an infinite value, all weights zero.
    Data,
    /// A model file that is truncated, edited, of an unknown version, or does not fit the data.
    Model,
    /// Cancelled through [`crate::watch::Watch`] before there was an answer.
    Interrupted,
}

/// Where it went wrong; any part may be absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it (`-` is standard input).
    pub file: Option<String>,
    /// 1-based line in the file.
    pub line: Option<u64>,
    /// 1-based data row, for formats without lines.
    pub row: Option<u64>,
    /// Column name.
    pub column: Option<String>,
}

impl Place {
    /// A place that is only a file.
    pub fn file(name: impl Into<String>) -> Place {
        Place { file: Some(name.into()), ..Place::default() }
    }

    /// The same place, at a 1-based line.
    pub fn line(mut self, line: u64) -> Place {
        self.line = Some(line);
        self
    }

    /// The same place, at a 1-based data row.
    pub fn row(mut self, row: u64) -> Place {
        self.row = Some(row);
        self
    }

    /// The same place, in a named column.
    pub fn column(mut self, name: impl Into<String>) -> Place {
        self.column = Some(name.into());
        self
    }

    fn is_empty(&self) -> bool {
        *self == Place::default()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        match (&self.file, self.line) {
            (Some(file), Some(line)) => parts.push(format!("{file}, line {line}")),
            (Some(file), None) => parts.push(file.clone()),
            (None, Some(line)) => parts.push(format!("line {line}")),
            (None, None) => {}
        }
        if let Some(row) = self.row {
            parts.push(format!("row {row}"));
        }
        if let Some(column) = &self.column {
            parts.push(format!("column `{column}`"));
        }
        f.write_str(&parts.join(", "))
    }
}

/// What went wrong, where, and what to do.
///
/// ```
/// use linsep::error::{Error, ErrorKind, Place};
/// let e = Error::new(ErrorKind::Format, "`abc` is not a number")
///     .at(Place::file("a.csv").line(7).column("age"))
///     .help("fix the cell, or read the column as text");
/// assert_eq!(
///     e.to_string(),
///     "a.csv, line 7, column `age`: `abc` is not a number\n  help: fix the cell, or read the column as text"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    message: String,
    place: Place,
    help: Option<String>,
}

/// The result of everything here that can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error without place or help.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { inner: Box::new(Inner { kind, message: message.into(), place: Place::default(), help: None }) }
    }

    /// [`ErrorKind::Usage`].
    pub fn usage(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Usage, message)
    }

    /// [`ErrorKind::Format`].
    pub fn format(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Format, message)
    }

    /// [`ErrorKind::Data`].
    pub fn data(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Data, message)
    }

    /// [`ErrorKind::Model`].
    pub fn model(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Model, message)
    }

    /// [`ErrorKind::Io`], naming the file.
    pub fn io(file: impl Into<String>, source: &std::io::Error) -> Error {
        let error = match source.kind() {
            std::io::ErrorKind::NotFound => {
                Error::new(ErrorKind::Io, "there is no such file").help("check its name and directory")
            }
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded | std::io::ErrorKind::FileTooLarge => {
                Error::new(ErrorKind::Io, format!("there is no room to write it: {source}"))
                    .help("make room, or write it elsewhere")
            }
            _ => Error::new(ErrorKind::Io, source.to_string()),
        };
        error.at(Place::file(file))
    }

    /// The same error with its place.
    pub fn at(mut self, place: Place) -> Error {
        self.inner.place = place;
        self
    }

    /// The same error with what to do.
    pub fn help(mut self, help: impl Into<String>) -> Error {
        self.inner.help = Some(help.into());
        self
    }

    /// What sort of error.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// Where.
    pub fn place(&self) -> &Place {
        &self.inner.place
    }

    /// The fact alone, without place and help.
    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// What to do, where something can be said.
    pub fn help_text(&self) -> Option<&str> {
        self.inner.help.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { message, place, help, .. } = &*self.inner;
        if !place.is_empty() {
            write!(f, "{place}: ")?;
        }
        f.write_str(message)?;
        if let Some(help) = help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// The names closest to `wanted`, best first: what "did you mean" offers.
///
/// ```
/// let near = linsep::error::nearest("specis", ["island", "species", "sex"]);
/// assert_eq!(near, ["species"]);
/// ```
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let lower = wanted.to_lowercase();
    let limit = 1 + wanted.chars().count() / 3;
    let mut scored: Vec<(usize, &str)> = known
        .into_iter()
        .map(|name| (edit_distance(&lower, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= limit || (lower.len() >= 3 && name.to_lowercase().contains(&lower)))
        .collect();
    scored.sort();
    scored.into_iter().map(|(_, name)| name).take(3).collect()
}

/// Levenshtein distance, one row at a time.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

//! One error type: what is wrong, where, and what to do about it.
//!
//! The fact and the remedies are [`Words`]: whoever shows an error says them in their own [`Voice`] with [`Error::said`].
//!
//! Answers such as "not converged" or "separated" are not errors; they live in
//! [`crate::solve::Stop`] and [`crate::certify::Certificate`].

use crate::words::{Plain, Voice, Words, alternatives};
use std::fmt;
use std::sync::Arc;

/// What sort of thing went wrong; the command maps every kind to exit code 2
/// except [`ErrorKind::Interrupted`].
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// A request that cannot be carried out whatever the data: an option out of range, options that exclude each other.
    Usage,
    /// There is no such file or directory.
    NotFound,
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
    /// There is no model of this data, and that is proved: an answer, given as an error to a caller who wants nothing but a
    /// model ([`crate::classifiers::FitError`] keeps the proof).
    NoModel,
}

impl ErrorKind {
    /// A word for programs.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Usage => "usage",
            ErrorKind::NotFound => "not_found",
            ErrorKind::Io => "io",
            ErrorKind::Format => "format",
            ErrorKind::Data => "data",
            ErrorKind::Model => "model",
            ErrorKind::Interrupted => "interrupted",
            ErrorKind::NoModel => "no_model",
        }
    }
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

    /// The place as a voice says it, which counts rows its own way.
    pub fn said(&self, voice: &dyn Voice) -> String {
        let mut parts: Vec<String> = Vec::new();
        match (&self.file, self.line) {
            (Some(file), Some(line)) => parts.push(format!("{file}, line {line}")),
            (Some(file), None) => parts.push(file.clone()),
            (None, Some(line)) => parts.push(format!("line {line}")),
            (None, None) => {}
        }
        if let Some(row) = self.row_said(voice) {
            parts.push(format!("row {row}"));
        }
        if let Some(column) = &self.column {
            parts.push(format!("column `{column}`"));
        }
        parts.join(", ")
    }

    /// The number of the row as a voice counts.
    pub fn row_said(&self, voice: &dyn Voice) -> Option<u64> {
        self.row.map(|row| row.saturating_sub(1) + voice.first() as u64)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said(&Plain))
    }
}

/// What went wrong, where, and what to do.
///
/// ```
/// use linsep::error::{Error, ErrorKind, Place};
/// let e = Error::new(ErrorKind::Format, "`abc` is not a number")
///     .at(Place::file("a.csv").line(7).column("age"))
///     .help("fix the cell")
///     .help("read the column as text");
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
    what: Words,
    place: Place,
    remedies: Vec<Words>,
    source: SystemError,
}

/// What the operating system said, where it was asked.
#[derive(Debug, Clone, Default)]
struct SystemError(Option<Arc<std::io::Error>>);

/// Two errors are the same where they say the same.
impl PartialEq for SystemError {
    fn eq(&self, _: &SystemError) -> bool {
        true
    }
}

impl Eq for SystemError {}

/// An error in the words of one voice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaidError {
    /// Where; empty where that is unknown.
    pub place: String,
    /// The fact.
    pub what: String,
    /// What can be done, each an alternative.
    pub remedies: Vec<String>,
}

impl SaidError {
    /// The place and the fact.
    pub fn fact(&self) -> String {
        if self.place.is_empty() { self.what.clone() } else { format!("{}: {}", self.place, self.what) }
    }

    /// The remedies in one sentence.
    pub fn help(&self) -> Option<String> {
        alternatives(&self.remedies)
    }
}

impl fmt::Display for SaidError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fact())?;
        match self.help() {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

/// The result of everything here that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error without place or help.
    pub fn new(kind: ErrorKind, what: impl Into<Words>) -> Error {
        let (what, place) = (what.into(), Place::default());
        Error { inner: Box::new(Inner { kind, what, place, remedies: Vec::new(), source: SystemError::default() }) }
    }

    /// [`ErrorKind::Usage`].
    pub fn usage(what: impl Into<Words>) -> Error {
        Error::new(ErrorKind::Usage, what)
    }

    /// [`ErrorKind::Format`].
    pub fn format(what: impl Into<Words>) -> Error {
        Error::new(ErrorKind::Format, what)
    }

    /// [`ErrorKind::Data`].
    pub fn data(what: impl Into<Words>) -> Error {
        Error::new(ErrorKind::Data, what)
    }

    /// [`ErrorKind::Model`].
    pub fn model(what: impl Into<Words>) -> Error {
        Error::new(ErrorKind::Model, what)
    }

    /// [`ErrorKind::NotFound`] or [`ErrorKind::Io`], naming the file; a copy of `source` is what
    /// [`source`](std::error::Error::source) gives.
    pub fn io(file: impl Into<String>, source: &std::io::Error) -> Error {
        let error = match source.kind() {
            std::io::ErrorKind::NotFound => {
                Error::new(ErrorKind::NotFound, "there is no such file").help("check its name and directory")
            }
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded | std::io::ErrorKind::FileTooLarge => {
                Error::new(ErrorKind::Io, format!("there is no room to write it: {source}"))
                    .help("make room")
                    .help("write it elsewhere")
            }
            std::io::ErrorKind::PermissionDenied => {
                Error::new(ErrorKind::Io, "it may not be read or written by you").help("change its permissions")
            }
            std::io::ErrorKind::IsADirectory => {
                Error::new(ErrorKind::Io, "this is a directory, not a file").help("name a file in it")
            }
            std::io::ErrorKind::NotADirectory => {
                Error::new(ErrorKind::Io, "a part of its path is a file, not a directory").help("check its name")
            }
            std::io::ErrorKind::ReadOnlyFilesystem => {
                Error::new(ErrorKind::Io, "nothing can be written there: the file system is read-only")
                    .help("write it elsewhere")
            }
            _ => Error::new(ErrorKind::Io, source.to_string()),
        };
        error.at(Place::file(file)).because(source)
    }

    /// The same error with what the operating system said as its source.
    pub(crate) fn because(mut self, source: &std::io::Error) -> Error {
        let copy = match source.raw_os_error() {
            Some(code) => std::io::Error::from_raw_os_error(code),
            None => std::io::Error::new(source.kind(), source.to_string()),
        };
        self.inner.source = SystemError(Some(Arc::new(copy)));
        self
    }

    /// The same error with its place.
    pub fn at(mut self, place: Place) -> Error {
        self.inner.place = place;
        self
    }

    /// The same error with one more thing that can be done.
    pub fn help(mut self, remedy: impl Into<Words>) -> Error {
        self.inner.remedies.push(remedy.into());
        self
    }

    /// The same error with nothing to be done yet: where a caller knows better.
    pub fn without_help(mut self) -> Error {
        self.inner.remedies.clear();
        self
    }

    /// The same error of a part of the work, which is named before the fact: "without fold 3: …".
    pub fn in_context(mut self, part: impl Into<Words>) -> Error {
        let Inner { what, .. } = &mut *self.inner;
        *what = std::mem::take(what).after(": ").after(part);
        self
    }

    /// The same error with columns by their names.
    pub fn with_columns(mut self, name: &dyn Fn(usize) -> String) -> Error {
        let Inner { what, remedies, .. } = &mut *self.inner;
        *what = what.with_columns(name);
        remedies.iter_mut().for_each(|remedy| *remedy = remedy.with_columns(name));
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
    pub fn what(&self) -> &Words {
        &self.inner.what
    }

    /// What can be done, each an alternative.
    pub fn remedies(&self) -> &[Words] {
        &self.inner.remedies
    }

    /// The fact in the library's own voice.
    pub fn message(&self) -> String {
        self.inner.what.to_string()
    }

    /// What to do in the library's own voice, where something can be said.
    pub fn help_text(&self) -> Option<String> {
        self.said(&Plain).help()
    }

    /// The error as a voice says it, without the remedies that do not exist there.
    pub fn said(&self, voice: &dyn Voice) -> SaidError {
        let Inner { what, place, remedies, .. } = &*self.inner;
        SaidError {
            place: place.said(voice),
            what: what.said_in_full(voice),
            remedies: remedies.iter().filter_map(|remedy| remedy.said(voice)).collect(),
        }
    }
}

/// In the library's own voice.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.said(&Plain).fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.inner.source.0.as_deref().map(|source| source as &(dyn std::error::Error + 'static))
    }
}

/// The names closest to `wanted`, best first: what "did you mean" offers.
///
/// ```
/// let near = linsep::error::nearest("specis", ["island", "species", "sex"]);
/// assert_eq!(near, ["species"]);
/// ```
#[doc(hidden)]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{Setting, Span};
    use std::error::Error as _;

    #[test]
    fn a_missing_file_is_a_kind_with_a_source() {
        let found = std::fs::read("no/such/file").map_err(|e| Error::io("no/such/file", &e)).expect_err("no file");
        assert_eq!(found.kind(), ErrorKind::NotFound);
        let source = found.source().and_then(|s| s.downcast_ref::<std::io::Error>()).expect("a source");
        assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
        assert!(Error::usage("no").source().is_none());
    }

    #[test]
    fn a_context_keeps_everything_else() {
        let error = Error::data(crate::words::words![Span::Column(1), " is constant"])
            .at(Place::default().row(3))
            .help(Setting::Shrinkage.is("auto"))
            .help("drop the column")
            .in_context("without fold 2");
        let said = "row 3: without fold 2: column 2 is constant\n  help: shrinkage = auto, or drop the column";
        assert_eq!(error.to_string(), said);
        let named = error.with_columns(&|j| format!("x{j}"));
        assert_eq!(named.message(), "without fold 2: column `x1` is constant");
        assert_eq!(named.clone().without_help().help_text(), None);
        assert_eq!((named.kind(), named.place().row), (ErrorKind::Data, Some(3)));
    }
}

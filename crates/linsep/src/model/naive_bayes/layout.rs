//! Which columns have which family.

use super::{FamilyChoice, NaiveBayes};
use crate::design::ColumnOrigin;
use crate::error::{Error, Result, nearest};
use crate::stats::Run;
use crate::words::{Setting, words};
use std::ops::Range;

/// The family of every matrix column, as runs; the indicators of a text column are a run of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    runs: Vec<FamilyRun>,
}

/// Consecutive columns of one family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyRun {
    /// The columns.
    pub columns: Range<usize>,
    /// Their family.
    pub family: FamilyChoice,
}

/// A table column, or unnamed columns side by side.
struct LayoutPiece<'a> {
    origin: Option<&'a ColumnOrigin>,
    run: FamilyRun,
}

impl Layout {
    /// Decides by kind of column and by the overrides: text is categorical, numbers are as the settings say.
    pub(super) fn new(settings: &NaiveBayes, origins: &[ColumnOrigin], cols: usize) -> Result<Layout> {
        let mut pieces: Vec<LayoutPiece<'_>> = Vec::new();
        let mut end = 0;
        let unnamed =
            |columns: Range<usize>| LayoutPiece { origin: None, run: FamilyRun { columns, family: settings.numbers } };
        for origin in origins {
            if origin.columns.start > end {
                pieces.push(unnamed(end..origin.columns.start));
            }
            let family = if origin.levels { FamilyChoice::Categorical } else { settings.numbers };
            pieces
                .push(LayoutPiece { origin: Some(origin), run: FamilyRun { columns: origin.columns.clone(), family } });
            end = origin.columns.end;
        }
        if end < cols {
            pieces.push(unnamed(end..cols));
        }
        for (at, (name, family)) in settings.overrides.iter().enumerate() {
            if settings.overrides[..at].iter().any(|(other, _)| other == name) {
                return Err(Error::usage(format!("column `{name}` is given two families")).help("give it one"));
            }
            choose(&mut pieces, name, *family)?;
        }
        let mut layout = Layout { runs: Vec::new() };
        for piece in pieces.into_iter().filter(|p| !p.run.columns.is_empty()) {
            check(&piece)?;
            layout.push(piece.run);
        }
        Ok(layout)
    }

    /// Joins a run to the one before where nothing tells them apart.
    fn push(&mut self, run: FamilyRun) {
        match self.runs.last_mut() {
            Some(last) if last.family == run.family && run.family != FamilyChoice::Categorical => {
                last.columns.end = run.columns.end;
            }
            _ => self.runs.push(run),
        }
    }

    /// The runs in the order of the columns.
    #[doc(hidden)]
    pub fn runs(&self) -> &[FamilyRun] {
        &self.runs
    }

    /// What the statistics must hold, for [`crate::stats::ClassColumns`].
    pub fn statistics(&self) -> Vec<Run> {
        self.runs.iter().map(|r| r.family.run(r.columns.clone())).collect()
    }

    /// Whether all log-odds are linear in the columns.
    pub fn is_linear(&self) -> bool {
        self.runs.iter().all(|r| r.family.is_linear())
    }

    /// The families in use and how many columns (of text: before they became indicators) have each, the most first.
    pub fn families(&self) -> Vec<(FamilyChoice, usize)> {
        let mut counts: Vec<(FamilyChoice, usize)> = Vec::new();
        for run in &self.runs {
            let columns = if run.family == FamilyChoice::Categorical { 1 } else { run.columns.len() };
            match counts.iter_mut().find(|(family, _)| *family == run.family) {
                Some((_, count)) => *count += columns,
                None => counts.push((run.family, columns)),
            }
        }
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }

    /// Columns of one family.
    pub(super) fn count(&self, family: FamilyChoice) -> usize {
        self.runs.iter().filter(|r| r.family == family).map(|r| r.columns.len()).sum()
    }
}

/// Gives a named column its family; unnamed ones go by their number from 1.
fn choose(pieces: &mut Vec<LayoutPiece<'_>>, name: &str, family: FamilyChoice) -> Result<()> {
    if let Some(piece) = pieces.iter_mut().find(|p| p.origin.is_some_and(|o| o.name == name)) {
        piece.run.family = family;
        return Ok(());
    }
    let mut left = name.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    for at in 0..pieces.len() {
        let Some(index) = left.filter(|_| pieces[at].origin.is_none()) else { continue };
        let run = pieces[at].run.clone();
        if index >= run.columns.len() {
            left = Some(index - run.columns.len());
            continue;
        }
        let column = run.columns.start + index;
        let cuts = [
            (run.columns.start..column, run.family),
            (column..column + 1, family),
            (column + 1..run.columns.end, run.family),
        ];
        let parts = cuts.map(|(columns, family)| LayoutPiece { origin: None, run: FamilyRun { columns, family } });
        pieces.splice(at..=at, parts);
        return Ok(());
    }
    let known: Vec<&str> = pieces.iter().filter_map(|p| p.origin.map(|o| o.name.as_str())).collect();
    let near = nearest(name, known.iter().copied());
    let help = match near.is_empty() {
        true if known.is_empty() => "columns without names go by their number, from 1".to_owned(),
        true => format!("the columns used are: {}", known.iter().take(12).copied().collect::<Vec<_>>().join(", ")),
        false => format!("did you mean `{}`?", near.join("`, `")),
    };
    Err(Error::usage(format!("there is no column `{name}` to give a family")).help(help))
}

/// Text is categorical, and nothing else is.
fn check(piece: &LayoutPiece<'_>) -> Result<()> {
    let text = piece.origin.is_some_and(|o| o.levels);
    let categorical = piece.run.family == FamilyChoice::Categorical;
    match (piece.origin, text, categorical) {
        (Some(origin), true, false) => {
            let message =
                format!("column `{}` is text, so its family is categorical, not {}", origin.name, piece.run.family);
            Err(Error::usage(message)
                .help("leave its family out")
                .help(words!["if it holds numbers, read it as such: ", Setting::Number.is(&origin.name)]))
        }
        (Some(origin), false, true) => {
            Err(Error::usage(format!("column `{}` holds numbers, which have no levels", origin.name))
                .help("leave its family out")
                .help(words!["read it as text to make it categorical: ", Setting::TextColumns.is(&origin.name)]))
        }
        (None, _, true) => Err(Error::usage("columns without names hold numbers, which have no levels").help(words![
            "choose another ",
            Setting::Families,
            ", for example bernoulli or multinomial"
        ])),
        _ => Ok(()),
    }
}

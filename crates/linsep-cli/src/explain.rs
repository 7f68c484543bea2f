//! `linsep predict --explain`: what each column adds to the scores of each row.

use crate::exit::Ending;
use crate::output::{ended, print, quoted};
use linsep::artifact::{Model, write_atomic};
use linsep::report::{explained_name, explanation_text};
use linsep::table::Table;
use linsep::watch::Watch;
use linsep::workflow::{ExplainOptions, ExplainedBy, ExplainedRow, ExplainedValue, explain_table};
use linsep::{Error, Result};
use std::io::Write;
use std::path::Path;

/// How many columns to list for each score; `None` is all.
pub fn most(text: &str) -> Result<Option<usize>> {
    match text.parse::<usize>() {
        Ok(n) if n > 0 => Ok(Some(n)),
        _ if text == "all" => Ok(None),
        _ => Err(Error::usage(format!("--explain {text} is not a number of columns"))
            .help("for example --explain 5, or --explain all")),
    }
}

/// Explains one row in words, or rows as CSV.
pub fn run(model: &Model, table: &Table, options: &ExplainOptions, output: &str, watch: &Watch) -> Result<Ending> {
    if let (Some(row), "-") = (options.row, output) {
        let mut found = None;
        let keep = |row: &ExplainedRow| {
            found = Some(row.clone());
            Ok(())
        };
        let base = explain_table(model, table, options, watch, keep)?;
        let place = table.place(row);
        let line = place.line.map_or(String::new(), |line| format!(" (line {line})"));
        let text = found.map(|r| explanation_text(model, &r, base, &format!("row {}{line}", row + 1)));
        return print(&text.unwrap_or_default(), Ending::Done);
    }
    if output == "-" {
        let mut out = std::io::BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
        return match write_rows(model, table, options, watch, &mut out) {
            Ok(()) => ended(out.flush(), Ending::Done),
            Err(Trouble::Output(error)) => ended(Err(error), Ending::Done),
            Err(Trouble::Rows(error)) => Err(error),
        };
    }
    let mut failed = None;
    let written = write_atomic(Path::new(output), |mut out| match write_rows(model, table, options, watch, &mut out) {
        Ok(()) => Ok(()),
        Err(Trouble::Output(error)) => Err(error),
        Err(Trouble::Rows(error)) => {
            failed = Some(error);
            // Only ends the writing; what went wrong is reported instead.
            Err(std::io::Error::other("the rows cannot be explained"))
        }
    });
    match failed {
        Some(error) => Err(error),
        None => written.map(|_| Ending::Done),
    }
}

/// What can go wrong while rows are explained and written.
enum Trouble {
    Rows(Error),
    Output(std::io::Error),
}

fn write_rows(
    model: &Model,
    table: &Table,
    options: &ExplainOptions,
    watch: &Watch,
    out: &mut impl Write,
) -> std::result::Result<(), Trouble> {
    out.write_all(b"row,class,feature,value,contribution\n").map_err(Trouble::Output)?;
    let names: Vec<String> = model.score_names().iter().map(|name| quoted(name)).collect();
    let mut broken = None;
    let each = |row: &ExplainedRow| {
        write_row(row, &names, out).map_err(|e| {
            let error = Error::io("the output", &e);
            broken = Some(e);
            error
        })
    };
    match (explain_table(model, table, options, watch, each), broken) {
        (_, Some(error)) => Err(Trouble::Output(error)),
        (Err(error), None) => Err(Trouble::Rows(error)),
        (Ok(_), None) => Ok(()),
    }
}

/// A line for every term of every score.
fn write_row(row: &ExplainedRow, names: &[String], out: &mut impl Write) -> std::io::Result<()> {
    for (name, score) in names.iter().zip(&row.scores) {
        for term in &score.terms {
            let feature = quoted(&explained_name(&term.by));
            let value = match &term.by {
                // The debug form is the shortest that reads back the same.
                ExplainedBy::Column { value: ExplainedValue::Number(number), .. } => format!("{number:?}"),
                ExplainedBy::Column { value: ExplainedValue::Text(text), .. } => quoted(text),
                ExplainedBy::SupportRow { kernel, .. } => format!("{kernel:?}"),
                _ => String::new(),
            };
            writeln!(out, "{},{name},{feature},{value},{:?}", row.row + 1, term.contribution)?;
        }
    }
    Ok(())
}

//! `linsep update`.

use crate::exit::Ending;
use crate::input::{InputArguments, load_model};
use crate::output::{check_directory, print, print_json, refuse_inputs};
use crate::progress::Progress;
use crate::voice;
use clap::Args;
use linsep::artifact::Model;
use linsep::model::Outcome;
use linsep::read::Expected;
use linsep::report::{fit_summary, inspect_json, refusal_json, refusal_text};
use linsep::table::Table;
use linsep::workflow::{RowChange, TableFit, UpdateRestart, update_statistics, update_with_rows};
use linsep::{Error, Result};
use std::path::{Path, PathBuf};

/// Learn from more rows, or forget some.
#[derive(Args)]
#[command(mut_arg("files", |files| files.required(false)), after_help = "\
Without --with the rows of the model are not needed: lda, qda, spherical, naive-bayes and least-squares
are functions of sums over the rows, which fit --keep-statistics keeps in the model file. The model that
comes out is that of all rows together, to rounding: rows added, rows taken away, new classes and new
levels of text columns. It states no accuracy on its rows, since it does not see them all, and leaves out
no column because of printed digits. Its fingerprint is that of the old rows followed by the new ones; once
rows were taken away it has none, and the fingerprints of all tables are listed instead. verify takes
the table of all rows.

With --with the old rows are given once more, and the fit of all of them starts at the model, with the
certificate of all rows: for every method.

Examples:
  linsep simulate gaussian --rows 200 --seed 1 -o monday.csv
  linsep simulate gaussian --rows 200 --seed 2 -o tuesday.csv
  linsep fit monday.csv --target class --model lda --keep-statistics -o lda.json
  linsep update lda.json tuesday.csv -o both.json
  linsep update both.json --remove monday.csv -o rest.json
  linsep fit monday.csv --target class -o logistic.json
  linsep update logistic.json tuesday.csv --with monday.csv -o logistic2.json")]
pub struct UpdateArguments {
    /// The model file; - is standard input
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    input: InputArguments,

    /// Take the rows of this table away; may be given several times
    #[arg(long, value_name = "FILE")]
    remove: Vec<PathBuf>,

    /// The rows that the model was fitted on: fit all of them, starting at the model; may be given several times
    #[arg(long, value_name = "FILE", conflicts_with = "remove")]
    with: Vec<String>,

    /// Where to write the new model: .json or .json.zst; - is standard output, without the summary
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print one JSON object instead of the summary
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &UpdateArguments) -> Result<Ending> {
    if arguments.input.files.is_empty() && arguments.remove.is_empty() {
        return Err(Error::usage("no rows are named")
            .help("name a FILE of rows to learn from")
            .help("name rows to take away with --remove"));
    }
    if let Some(path) = &arguments.output {
        check_directory(path)?;
        let others = arguments.remove.iter().map(PathBuf::as_path).chain(arguments.with.iter().map(Path::new));
        refuse_inputs(path, others)?;
        arguments.input.refuse_as_output(path, &[])?;
        if arguments.json && path == Path::new("-") {
            return Err(Error::usage("--json and -o - both want standard output").help("give the model a file name"));
        }
    }
    let model = load_model(&arguments.model)?;
    let progress = Progress::new(arguments.input.quiet, None);
    match arguments.with.is_empty() {
        true => by_statistics(arguments, &model, &progress),
        false => by_rows(arguments, &model, &progress),
    }
}

/// Rows are added to sums and taken away from them.
fn by_statistics(arguments: &UpdateArguments, model: &Model, progress: &Progress) -> Result<Ending> {
    // Columns are of the kind that they had, also those that are not used: they are part of the fingerprint.
    let kinds = model.statistics.iter().flat_map(|s| &s.columns);
    let expected: Vec<(String, Expected)> =
        kinds.map(|(name, text)| (name.clone(), if *text { Expected::Text } else { Expected::Number })).collect();
    let added = match arguments.input.files.is_empty() {
        true => None,
        false => Some(arguments.input.read_as(expected.clone(), model.reading.clone(), progress)?),
    };
    let read = |file: &PathBuf| arguments.input.read_other(file, expected.clone(), model.reading.clone(), progress);
    let removed = arguments.remove.iter().map(read).collect::<Result<Vec<Table>>>()?;
    let mut changes: Vec<RowChange<'_>> = added.iter().map(|table| RowChange { table, removed: false }).collect();
    changes.extend(removed.iter().map(|table| RowChange { table, removed: true }));
    let updated = update_statistics(model, &changes, &progress.watch());
    progress.finish();
    let rows =
        |removed: bool| -> usize { changes.iter().filter(|c| c.removed == removed).map(|c| c.table.n_rows()).sum() };
    let said = match (rows(false), rows(true)) {
        (1, 0) => "updated by its statistics: 1 row added".to_owned(),
        (0, 1) => "updated by its statistics: 1 row taken away".to_owned(),
        (added, 0) => format!("updated by its statistics: {added} rows added"),
        (0, gone) => format!("updated by its statistics: {gone} rows taken away"),
        (added, gone) => format!("updated by its statistics: {added} rows added, {gone} taken away"),
    };
    finish(arguments, &updated?, &said)
}

/// All rows are fitted, starting at the model.
fn by_rows(arguments: &UpdateArguments, model: &Model, progress: &Progress) -> Result<Ending> {
    let mut all = arguments.input.clone();
    all.files = arguments.with.iter().chain(&arguments.input.files).cloned().collect();
    let table = all.read(Some(model), progress)?;
    let rows = table.n_rows();
    let fitted = update_with_rows(model, table, &progress.watch());
    progress.finish();
    match fitted? {
        (TableFit::Model(updated), restart) => {
            let start = match restart {
                UpdateRestart::Warm => "starting at the model".to_owned(),
                UpdateRestart::Cold(why) => format!("from the beginning: {why}"),
            };
            finish(arguments, &updated, &format!("fitted on all {rows} rows, {start}"))
        }
        (TableFit::Refused(refusal), _) if arguments.json => print_json(&refusal_json(&refusal), Ending::No),
        (TableFit::Refused(refusal), _) => print(&refusal_text(&refusal, &voice::Command), Ending::No),
    }
}

fn finish(arguments: &UpdateArguments, model: &Model, said: &str) -> Result<Ending> {
    let ending = if model.outcome == Outcome::Converged { Ending::Done } else { Ending::NotConverged };
    match &arguments.output {
        Some(path) if path == Path::new("-") => return print(&model.to_json()?, ending),
        Some(path) => model.save(path)?,
        None => {}
    }
    if arguments.json {
        return print_json(&inspect_json(model, &voice::Command)?, ending);
    }
    let written = match &arguments.output {
        Some(path) => format!("model written to {}\n", path.display()),
        None => "no model was written: add -o model.json to keep it\n".to_owned(),
    };
    print(&format!("{}\n{said}\n{written}", fit_summary(model, &voice::Command)), ending)
}

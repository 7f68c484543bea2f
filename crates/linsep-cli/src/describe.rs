//! `linsep describe`.

use crate::exit::Ending;
use crate::input::InputArguments;
use crate::output::{print, print_json};
use crate::progress::Progress;
use crate::voice;
use clap::Args;
use linsep::Result;
use linsep::report::{description_json, description_text};
use linsep::workflow::describe_table;

/// Look at a table before anything is fitted: its columns, what each would become, and what may be wrong with them.
#[derive(Args)]
#[command(after_help = "\
Numbers: missing cells, different values, least, median, most, standard deviation, skew. Text: levels and what
becomes of them. With --target also the classes, rows that contradict each other, and columns that give the label away.
Rows that occur twice and columns with a correlation beyond 0.99 are named; questions say which flag answers them.

Examples:
  linsep describe penguins.csv
  linsep describe penguins.csv --target species --json")]
pub struct DescribeArguments {
    #[command(flatten)]
    input: InputArguments,

    /// The column to predict
    #[arg(long, short, value_name = "COLUMN")]
    target: Option<String>,

    /// Print one JSON object: columns with name, kind, becomes, missing, levels and questions, and more
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &DescribeArguments) -> Result<Ending> {
    let progress = Progress::new(arguments.input.quiet, None);
    let table = arguments.input.read_labelled(arguments.target.as_deref(), &progress)?;
    let description = describe_table(&table, arguments.target.as_deref(), &progress.watch())?;
    progress.finish();
    match arguments.json {
        true => print_json(&description_json(&table, &description, &voice::Command), Ending::Done),
        false => print(&description_text(&table, &description, &voice::Command), Ending::Done),
    }
}

//! `linsep evaluate`.

use crate::decision::DecisionArguments;
use crate::exit::Ending;
use crate::input::{InputArguments, load_saved};
use crate::labels;
use crate::output::{print, print_json};
use crate::predict::UnknownName;
use crate::progress::Progress;
use clap::Args;
use linsep::Result;
use linsep::artifact::Saved;
use linsep::report::{evaluation_json, evaluation_text};
use linsep::workflow::{evaluate_label_table, evaluate_table};
use std::path::PathBuf;

/// Compare predictions with known labels.
#[derive(Args)]
#[command(after_help = "Example:\n  linsep evaluate model.json penguins.csv --json")]
pub struct EvaluateArguments {
    /// The model file; - is standard input
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    input: InputArguments,

    /// What to do with a level that was not seen in training (default: as the model was fitted)
    #[arg(long, value_enum, value_name = "POLICY")]
    unknown: Option<UnknownName>,

    #[command(flatten)]
    decision: DecisionArguments,

    /// Print one JSON object: every metric with its 95 % interval and method
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &EvaluateArguments) -> Result<Ending> {
    let saved = load_saved(&arguments.model)?;
    let progress = Progress::new(arguments.input.quiet, None);
    let mut model = match saved {
        Saved::One(model) => model,
        Saved::Several(mut models) => {
            models.models.iter_mut().try_for_each(|m| arguments.decision.replace(m))?;
            let table = arguments.input.read_for(&models, &progress)?;
            let unknown = arguments.unknown.map(Into::into);
            let judged = evaluate_label_table(&models, &table, unknown, &progress.watch())?;
            progress.finish();
            return labels::evaluated(&judged, arguments.json);
        }
    };
    arguments.decision.replace(&mut model)?;
    let table = arguments.input.read(Some(&model), &progress)?;
    let judged = evaluate_table(&model, &table, arguments.unknown.map(Into::into), &progress.watch())?;
    progress.finish();
    match arguments.json {
        true => print_json(&evaluation_json(&judged)?, Ending::Done),
        false => print(&evaluation_text(&judged), Ending::Done),
    }
}

//! `linsep inspect`.

use crate::exit::Ending;
use crate::input::load_saved;
use crate::labels;
use crate::output::{print, print_json};
use clap::Args;
use linsep::Result;
use linsep::artifact::Saved;
use linsep::report::{inspect_json, inspect_text};
use std::path::PathBuf;

/// Show what a model file holds.
#[derive(Args)]
#[command(after_help = "Example:\n  linsep inspect model.json --json")]
pub struct InspectArguments {
    /// The model file; - is standard input
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// Print one JSON object: model, classes, features, weights, intercept, objective, certificate and more
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &InspectArguments) -> Result<Ending> {
    let model = match load_saved(&arguments.model)? {
        Saved::One(model) => model,
        Saved::Several(models) => return labels::inspect(&models, arguments.json),
    };
    match arguments.json {
        true => print_json(&inspect_json(&model)?, Ending::Done),
        false => print(&inspect_text(&model), Ending::Done),
    }
}

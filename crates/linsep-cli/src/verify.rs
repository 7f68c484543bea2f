//! `linsep verify`.

use crate::exit::Ending;
use crate::input::{InputArguments, load_model};
use crate::output::{print, print_json};
use crate::progress::Progress;
use clap::Args;
use linsep::Result;
use linsep::report::verification_text;
use linsep::workflow::verify_table;
use std::path::PathBuf;

/// Recompute everything a model claims from the data it was fitted on.
#[derive(Args)]
#[command(after_help = "Example:\n  linsep verify model.json penguins.csv\n\nExit code 1 if a claim does not hold.")]
pub struct VerifyArguments {
    /// The model file; - is standard input
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    input: InputArguments,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &VerifyArguments) -> Result<Ending> {
    let model = load_model(&arguments.model)?;
    let progress = Progress::new(arguments.input.quiet, None);
    let table = arguments.input.read(Some(&model), &progress)?;
    let verification = verify_table(&model, &table, &progress.watch())?;
    progress.finish();
    let ending = if verification.passed() { Ending::Done } else { Ending::No };
    if !arguments.json {
        return print(&verification_text(&verification), ending);
    }
    let checks = verification.checks.iter();
    let checks: Vec<_> =
        checks.map(|c| serde_json::json!({"claim": c.claim, "holds": c.holds, "found": c.found})).collect();
    let value = serde_json::json!({
        "verified": verification.passed(),
        "checks": checks,
        "objective": verification.objective,
        "certificate": serde_json::to_value(&verification.certificate).unwrap_or_default(),
    });
    print_json(&value, ending)
}

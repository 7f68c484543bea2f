//! `linsep verify`.

use crate::exit::Ending;
use crate::input::{InputArguments, load_saved};
use crate::labels;
use crate::output::{print, print_json};
use crate::progress::Progress;
use clap::Args;
use linsep::Result;
use linsep::artifact::Saved;
use linsep::report::verification_text;
use linsep::workflow::{Verification, verify_table};
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
    let saved = load_saved(&arguments.model)?;
    let progress = Progress::new(arguments.input.quiet, None);
    let model = match saved {
        Saved::One(model) => model,
        Saved::Several(models) => {
            let table = arguments.input.read_for(&models, &progress)?;
            let verdicts = labels::verify(&models, &table, &progress.watch())?;
            progress.finish();
            return finish_labels(arguments, &verdicts);
        }
    };
    let table = arguments.input.read(Some(&model), &progress)?;
    let verification = verify_table(&model, &table, &progress.watch())?;
    progress.finish();
    let ending = if verification.passed() { Ending::Done } else { Ending::No };
    match arguments.json {
        true => print_json(&json(&verification), ending),
        false => print(&verification_text(&verification), ending),
    }
}

fn json(verification: &Verification) -> serde_json::Value {
    let checks = verification.checks.iter();
    let checks: Vec<_> =
        checks.map(|c| serde_json::json!({"claim": c.claim, "holds": c.holds, "found": c.found})).collect();
    serde_json::json!({
        "verified": verification.passed(),
        "checks": checks,
        "objective": verification.objective,
        "certificate": serde_json::to_value(&verification.certificate).unwrap_or_default(),
    })
}

/// The verdicts on several labels.
fn finish_labels(arguments: &VerifyArguments, verdicts: &[(String, Verification)]) -> Result<Ending> {
    let passed = verdicts.iter().all(|(_, v)| v.passed());
    let ending = if passed { Ending::Done } else { Ending::No };
    if arguments.json {
        let labels: serde_json::Map<String, serde_json::Value> =
            verdicts.iter().map(|(label, v)| (label.clone(), json(v))).collect();
        return print_json(&serde_json::json!({"verified": passed, "labels": labels}), ending);
    }
    let text = |(label, v): &(String, Verification)| format!("label `{label}`: {}", verification_text(v));
    print(&verdicts.iter().map(text).collect::<String>(), ending)
}

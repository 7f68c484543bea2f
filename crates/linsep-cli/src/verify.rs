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
use linsep::workflow::{Verification, refit_table, verify_table};
use std::path::PathBuf;

/// Recompute everything a model claims from the data it was fitted on.
#[derive(Args)]
#[command(after_help = "\
Examples:
  linsep verify model.json penguins.csv
  linsep verify model.json penguins.csv --refit

Every leaf of a model file is a setting, which is listed, a claim, which is recomputed from the data and compared, or
derived from the rest. Closed forms and perceptrons are fitted again; of other models the point is kept and everything
that is said of it is computed anew. What only a second fit can tell (iterations, cross-validation) is named at the end
unless --refit makes one. The last line says what is proved.

Exit code 1 if a claim does not hold.")]
pub struct VerifyArguments {
    /// The model file; - is standard input
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    input: InputArguments,

    /// Fit again, with all folds, and compare every bit: on the machine and by the build that fitted the model
    #[arg(long)]
    refit: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// How to ask for what takes a second fit.
const SECOND_FIT: &str = "verify --refit fits again";

/// Runs the subcommand.
pub fn run(arguments: &VerifyArguments) -> Result<Ending> {
    let saved = load_saved(&arguments.model)?;
    let progress = Progress::new(arguments.input.quiet, None);
    let model = match saved {
        Saved::One(model) => model,
        Saved::Several(models) => {
            let table = arguments.input.read_for(&models, &progress)?;
            let verdicts = labels::verify(&models, &table, arguments.refit, &progress.watch())?;
            progress.finish();
            return finish_labels(arguments, &verdicts);
        }
    };
    let table = arguments.input.read(Some(&model), &progress)?;
    let verify = if arguments.refit { refit_table } else { verify_table };
    let verification = verify(&model, &table, &progress.watch())?;
    progress.finish();
    let ending = if verification.passed() { Ending::Done } else { Ending::No };
    match arguments.json {
        true => print_json(&json(&verification), ending),
        false => print(&verification_text(&verification, SECOND_FIT), ending),
    }
}

fn json(verification: &Verification) -> serde_json::Value {
    let checks = verification.checks.iter();
    let checks: Vec<_> =
        checks.map(|c| serde_json::json!({"claim": c.claim, "holds": c.holds, "found": c.found})).collect();
    let settings: serde_json::Map<String, serde_json::Value> =
        verification.settings.iter().map(|(path, value)| (path.clone(), value.clone().into())).collect();
    serde_json::json!({
        "verified": verification.passed(),
        "checks": checks,
        "proved": verification.proved,
        "unchecked": verification.unchecked,
        "settings": settings,
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
    let text = |(label, v): &(String, Verification)| format!("label `{label}`: {}", verification_text(v, SECOND_FIT));
    print(&verdicts.iter().map(text).collect::<String>(), ending)
}

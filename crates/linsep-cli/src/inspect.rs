//! `linsep inspect`.

use crate::exit::Ending;
use crate::input::{InputArguments, load_saved};
use crate::labels;
use crate::output::{print, print_json};
use crate::progress::Progress;
use crate::voice;
use clap::Args;
use linsep::artifact::{Model, Saved};
use linsep::report::{
    inspect_json, inspect_top_text, risk_json, risk_text, support_json, support_text, truth_json, truth_text,
};
use linsep::workflow::{risk_under_truth, support_tables};
use linsep::{Error, Result};
use std::path::PathBuf;

/// Show what a model file holds.
#[derive(Args)]
#[command(mut_arg("files", |files| files.required(false)), after_help = "\
With FILE, the table that a support vector machine was fitted on, its support vectors are shown: row, label,
multiplier α (free: the row lies on the margin; bounded: within it or beyond), slack and signed distance.

Examples:
  linsep inspect model.json --json
  linsep inspect svm.json penguins.csv --rows 50")]
pub struct InspectArguments {
    /// The model file; - is standard input
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    input: InputArguments,

    /// Support vectors to show, or all
    #[arg(long, value_name = "N|all", default_value = "20", requires = "files")]
    rows: String,

    /// Weights to show of each score, those that matter most, or all (default: all, of more than 200 features 20)
    #[arg(long, value_name = "N|all")]
    top: Option<String>,

    /// Compare what was estimated with this truth file, as simulate writes it, and state the losses expected under it
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    truth: Option<PathBuf>,

    /// Print one JSON object: model, classes, features, weights, intercept, objective, certificate and more
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &InspectArguments) -> Result<Ending> {
    let most = most(&arguments.rows, "--rows", "support vectors")?;
    let asked = arguments.top.as_deref().map(|top| self::most(top, "--top", "weights")).transpose()?;
    let model = match load_saved(&arguments.model)? {
        Saved::One(model) => model,
        Saved::Several(models) => return labels::inspect(&models, arguments.json),
    };
    let wide = model.recipe.n_features() > MANY_FEATURES;
    let top = asked.unwrap_or(wide.then_some(SHOWN_FEATURES));
    let inspect_text = |model: &Model, voice: &voice::Command| inspect_top_text(model, top, voice);
    if let Some(path) = &arguments.truth {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|e| Error::io(&name, &e))?;
        let progress = Progress::new(arguments.input.quiet, None);
        let risk = risk_under_truth(&model, &bytes, &name, &progress.watch());
        progress.finish();
        // A truth may have parameters and no rows, or rows and no parameter that the model has; with neither it is no use.
        if arguments.json {
            let mut value = inspect_json(&model, &voice::Command)?;
            let compared = truth_json(&model, &bytes, &name);
            value["truth"] = if risk.is_ok() { compared.unwrap_or_default() } else { compared? };
            value["risk"] = risk.as_ref().map(risk_json).unwrap_or_default();
            return print_json(&value, Ending::Done);
        }
        let compared = truth_text(&model, &bytes, &name);
        let beside = if risk.is_ok() { compared.unwrap_or_default() } else { compared? };
        let risk = risk.as_ref().map(risk_text).unwrap_or_default();
        return print(&format!("{}{beside}{risk}", inspect_text(&model, &voice::Command)), Ending::Done);
    }
    if arguments.input.files.is_empty() {
        return match arguments.json {
            true => print_json(&inspect_json(&model, &voice::Command)?, Ending::Done),
            false => print(&inspect_text(&model, &voice::Command), Ending::Done),
        };
    }
    let progress = Progress::new(arguments.input.quiet, None);
    let table = arguments.input.read(Some(&model), &progress)?;
    let rows = support_tables(&model, &table, &progress.watch())?;
    progress.finish();
    if arguments.json {
        let mut value = inspect_json(&model, &voice::Command)?;
        value["support_table"] = support_json(&model, &rows);
        return print_json(&value, Ending::Done);
    }
    print(
        &format!("{}{}", inspect_text(&model, &voice::Command), support_text(&model, &rows, most, &voice::Command)),
        Ending::Done,
    )
}

/// Models of more features show some of their weights unless all are asked for: two screens.
const MANY_FEATURES: usize = 200;
/// So many.
const SHOWN_FEATURES: usize = 20;

/// How many of something to show; `None` is all.
fn most(text: &str, flag: &str, what: &str) -> Result<Option<usize>> {
    match text.parse::<usize>() {
        Ok(n) if n > 0 => Ok(Some(n)),
        _ if text == "all" => Ok(None),
        _ => Err(Error::usage(format!("{flag} {text} is not a number of {what}"))
            .help(format!("for example {flag} 50, or {flag} all"))),
    }
}

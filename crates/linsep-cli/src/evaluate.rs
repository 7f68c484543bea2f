//! `linsep evaluate`.

use crate::decision::DecisionArguments;
use crate::exit::Ending;
use crate::input::{InputArguments, load_model, load_saved};
use crate::labels;
use crate::output::{print, print_json};
use crate::predict::UnknownName;
use crate::progress::Progress;
use clap::Args;
use linsep::artifact::Saved;
use linsep::evaluate::{Against, Bootstrap, WantedFigure};
use linsep::report::{
    against_json, against_text, details_json, details_text, evaluation_json, evaluation_text, losses_json, losses_text,
    thresholds_json, thresholds_text,
};
use linsep::workflow::{FurtherQuestions, JudgedFurther, compare_models, evaluate_label_table, judge_table};
use linsep::{Error, Result};
use std::path::PathBuf;

/// Compare predictions with known labels.
#[derive(Args)]
#[command(after_help = "\
Examples:
  linsep evaluate model.json penguins.csv --json
  linsep evaluate model.json penguins.csv --details
  linsep fit penguins.csv --target sex -o sex.json
  linsep evaluate sex.json penguins.csv --want recall=0.9,precision=0.95
  linsep fit penguins.csv --target sex --model lda -o lda.json
  linsep evaluate sex.json penguins.csv --against lda.json --seed 7")]
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

    /// Add precision, recall and F1 of every class, the calibration of the probabilities, and how well they rank
    #[arg(long)]
    details: bool,

    /// Add a table of thresholds, and the threshold that meets this: recall=, precision= or specificity= and a share
    #[arg(long, value_name = "FIGURE=SHARE", value_delimiter = ',')]
    want: Vec<String>,

    /// Compare with this model on the same rows: McNemar, DeLong, paired bootstrap; a decision that is asked for is that
    /// of both
    #[arg(long, value_name = "MODEL_B")]
    against: Option<PathBuf>,

    /// Replicates of the paired bootstrap
    #[arg(long, value_name = "N", default_value_t = 1999, requires = "against")]
    replicates: usize,

    /// Seed of the paired bootstrap
    #[arg(long, value_name = "N", default_value_t = 0, requires = "against")]
    seed: u64,

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
            if arguments.details || !arguments.want.is_empty() || arguments.against.is_some() {
                return Err(labels::refuse(&models, "more than the usual figures"));
            }
            models.models.iter_mut().try_for_each(|m| arguments.decision.replace(m))?;
            let table = arguments.input.read_for(&models, &progress)?;
            let unknown = arguments.unknown.map(Into::into);
            let judged = evaluate_label_table(&models, &table, unknown, &progress.watch())?;
            progress.finish();
            return labels::evaluated(&judged, arguments.json);
        }
    };
    arguments.decision.replace(&mut model)?;
    let mut other = arguments.against.as_deref().map(load_model).transpose()?;
    if let Some(other) = &mut other {
        // The decision asked for is that of both: a difference is then one of the models.
        arguments.decision.check_same_meaning(&model, other)?;
        arguments.decision.replace(other).map_err(|e| e.in_context("of the second model"))?;
    }
    let asked = FurtherQuestions {
        unknown: arguments.unknown.map(Into::into),
        details: arguments.details,
        wanted: arguments.want.iter().map(|text| wanted(text)).collect::<Result<_>>()?,
    };
    let table = arguments.input.read(Some(&model), &progress)?;
    let further = judge_table(&model, &table, &asked, &progress.watch())?;
    let bootstrap = Bootstrap { replicates: arguments.replicates, seed: arguments.seed };
    let against = match &other {
        Some(other) => Some(compare_models(&model, other, &table, asked.unknown, bootstrap, &progress.watch())?),
        None => None,
    };
    progress.finish();
    match arguments.json {
        true => print_json(&json(&further, against.as_ref())?, Ending::Done),
        false => print(&text(&further, against.as_ref()), Ending::Done),
    }
}

fn json(further: &JudgedFurther, against: Option<&Against>) -> Result<serde_json::Value> {
    let mut value = evaluation_json(&further.judged)?;
    value["of_training"] = further.of_training.into();
    if let Some(details) = &further.details {
        value["details"] = details_json(details)?;
        if let Some(losses) = &further.losses {
            value["details"]["losses"] = losses_json(losses)?;
        }
    }
    if let Some(thresholds) = &further.thresholds {
        value["thresholds"] = thresholds_json(thresholds)?;
    }
    if let Some(against) = against {
        value["against"] = against_json(against)?;
    }
    Ok(value)
}

/// Said beside the intervals of rows that the model has seen.
const ROWS_OF_THE_FIT: &str = "\
The model was fitted on these rows, so new rows may do worse than the intervals
say. Judge it by rows kept apart, or by fit --cv.";

fn text(further: &JudgedFurther, against: Option<&Against>) -> String {
    let mut text = evaluation_text(&further.judged);
    if further.of_training == Some(true) {
        text = text.replacen("\n\n", &format!("\n{ROWS_OF_THE_FIT}\n\n"), 1);
    }
    text.extend(further.details.as_ref().map(details_text));
    text.extend(further.losses.as_ref().map(losses_text));
    text.extend(further.thresholds.as_ref().map(thresholds_text));
    text.extend(against.map(against_text));
    text
}

/// `recall=0.9` and its like.
fn wanted(text: &str) -> Result<(WantedFigure, f64)> {
    let refuse = || {
        Error::usage(format!("`{text}` is not a figure that a threshold can be made to reach"))
            .help("--want recall=0.9, precision=0.8 or specificity=0.95")
    };
    let (name, share) = text.split_once('=').ok_or_else(refuse)?;
    let figure = match name.trim() {
        "recall" => WantedFigure::Recall,
        "precision" => WantedFigure::Precision,
        "specificity" => WantedFigure::Specificity,
        _ => return Err(refuse()),
    };
    Ok((figure, share.trim().parse().map_err(|_| refuse())?))
}

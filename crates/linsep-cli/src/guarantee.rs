//! `linsep guarantee`.

use crate::decision::DecisionArguments;
use crate::exit::Ending;
use crate::input::{InputArguments, load_model};
use crate::output::{print, print_json};
use crate::predict::UnknownName;
use crate::progress::Progress;
use clap::Args;
use linsep::Result;
use linsep::evaluate::MarginPremises;
use linsep::report::{guarantee_json, guarantee_text};
use linsep::workflow::{MarginQuestion, guarantee_table};
use std::path::{Path, PathBuf};

/// Bound the error on new rows by rows that were kept apart from the fit.
#[derive(Args)]
#[command(after_help = "\
FILE holds labelled rows that the fit never saw; the table of the fit is refused. Each limit is exceeded with probability
at most delta, whatever the distribution of the rows:
  Clopper-Pearson      of the error, by the binomial distribution itself; the one to take
  Hoeffding            of the error and of the Brier score, from their range alone
  empirical Bernstein  the same with their variance
  excess risk          error above the Bayes error, 2 sqrt(Brier) for two classes
  mistakes             of a perceptron that proved its plane: mean error of the planes of its first pass
  margin               with --train, --rho, --norm and --radius: from the training rows, if all of these and every setting
                       of the fit were fixed before the rows were seen

Examples:
  linsep simulate gaussian --rows 400 -o train.csv
  linsep simulate gaussian --rows 400 --seed 1 -o test.csv
  linsep fit train.csv --target class --standardize no --penalty ridge:1 -o plane.json
  linsep guarantee plane.json test.csv --delta 0.01
  linsep guarantee plane.json test.csv --train train.csv --rho 1 --norm 10 --radius 20")]
pub struct GuaranteeArguments {
    /// The model file; - is standard input
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    input: InputArguments,

    /// Probability with which a bound may fail
    #[arg(long, value_name = "P", default_value_t = 0.05, allow_negative_numbers = true)]
    delta: f64,

    /// The table that the model was fitted on, for the margin bound
    #[arg(long, value_name = "FILE", requires_all = ["rho", "norm", "radius"], help_heading = "Margin bound")]
    train: Option<String>,

    /// Score that a training row must exceed on its side to count as right
    #[arg(long, value_name = "X", requires = "train", allow_negative_numbers = true, help_heading = "Margin bound")]
    rho: Option<f64>,

    /// Limit on the length of the weights, the intercept among them
    #[arg(long, value_name = "X", requires = "train", allow_negative_numbers = true, help_heading = "Margin bound")]
    norm: Option<f64>,

    /// Limit on the length of every row that can occur, a one for the intercept among its entries
    #[arg(long, value_name = "X", requires = "train", allow_negative_numbers = true, help_heading = "Margin bound")]
    radius: Option<f64>,

    /// What to do with a level that was not seen in training (default: as the model was fitted)
    #[arg(long, value_enum, value_name = "POLICY")]
    unknown: Option<UnknownName>,

    #[command(flatten)]
    decision: DecisionArguments,

    /// Print one JSON object: every bound with its method, and the assumptions
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &GuaranteeArguments) -> Result<Ending> {
    let mut model = load_model(&arguments.model)?;
    arguments.decision.replace(&mut model)?;
    let progress = Progress::new(arguments.input.quiet, None);
    let table = arguments.input.read(Some(&model), &progress)?;
    let read =
        |file: &String| arguments.input.read_other(Path::new(file), model.expected(), model.reading.clone(), &progress);
    let training = arguments.train.as_ref().map(read).transpose()?;
    let terms = match (arguments.rho, arguments.norm, arguments.radius) {
        (Some(margin), Some(norm), Some(radius)) => Some(MarginPremises { margin, norm, radius }),
        _ => None,
    };
    let margin = training.as_ref().zip(terms).map(|(training, terms)| MarginQuestion { training, terms });
    let unknown = arguments.unknown.map(Into::into);
    let found = guarantee_table(&model, &table, arguments.delta, margin, unknown, &progress.watch())?;
    progress.finish();
    match arguments.json {
        true => print_json(&guarantee_json(&found)?, Ending::Done),
        false => print(&guarantee_text(&found), Ending::Done),
    }
}

//! `linsep predict`.

use crate::decision::DecisionArguments;
use crate::exit::Ending;
use crate::explain;
use crate::input::{InputArguments, load_saved};
use crate::labels;
use crate::output::check_directory;
use crate::progress::Progress;
use crate::sheet::{Sheet, SheetFormat};
use clap::{Args, ValueEnum};
use linsep::artifact::{Model, Saved};
use linsep::design::UnknownLevel;
use linsep::model::Method;
use linsep::numeric::logistic;
use linsep::report::filled_text;
use linsep::table::Table;
use linsep::workflow::{ExplainOptions, predict_table};
use linsep::{Error, Result};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Predict the class of every row of a table.
#[derive(Args)]
#[command(after_help = "\
One row is written per input row, with an empty prediction where a needed cell is missing. Under a
rule that rejects rows a column `rejected` says yes where the prediction is empty for that reason; under
two-class fits that may contradict each other a column `undetermined` does.

Examples:
  linsep predict model.json penguins.csv --proba -o predictions.csv
  linsep predict model.json penguins.csv --keep island,sex
  linsep predict model.json penguins.csv --reject 0.05
  linsep predict model.json penguins.csv --explain 3 --row 5
  linsep predict model.json penguins.csv --explain all -o explained.csv
  linsep predict sets.json penguins.csv --set --set-level 0.95")]
pub struct PredictArguments {
    /// The model file; - is standard input
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    input: InputArguments,

    /// Add a column p_<class> with the probability of each class
    #[arg(long)]
    proba: bool,

    /// Add a column score_<class> with each discriminant (for two classes that of the second: where it has any, its
    /// log-odds; for pairs of classes score_<b>_vs_<a>, positive for b), before calibration and true priors
    #[arg(long)]
    scores: bool,

    /// Of sigmoid-ls: add a column output_<class> with the output σ(z) of each sigmoid; of several classes they need not sum to one
    #[arg(long)]
    outputs: bool,

    /// Add the derivatives of the probabilities by the scores, p_i(δ_ij − p_j), in columns dp_<class>_dz_<class>
    #[arg(long)]
    jacobian: bool,

    /// Add the columns set, the classes that cannot be left out (separated by |), and set_size; of a model that was
    /// fitted with --conformal
    #[arg(long)]
    set: bool,

    /// Sets that hold the class with this probability, instead of that of the fit
    #[arg(long, value_name = "LEVEL", requires = "set")]
    set_level: Option<f64>,

    /// Instead of predictions write row,class,feature,value,contribution: what the N columns that matter most add to each
    /// score of a row (for kernels the support rows), or all; with (intercept) and (rest) they sum to the score
    #[arg(long, value_name = "N|all", conflicts_with_all = ["proba", "scores", "outputs", "jacobian", "set", "keep"])]
    explain: Option<String>,

    /// Explain this row alone, counted from 1 without the header; in words unless -o names a file
    #[arg(long, value_name = "ROW", requires = "explain")]
    row: Option<usize>,

    /// Copy these input columns in front; all is all of them
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    keep: Vec<String>,

    /// What to do with a level that was not seen in training (default: as the model was fitted)
    #[arg(long, value_enum, value_name = "POLICY")]
    unknown: Option<UnknownName>,

    #[command(flatten)]
    decision: DecisionArguments,

    /// Where to write: .csv, .tsv, .jsonl, .parquet or .arrow; - is standard output, as CSV
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: String,
}

/// Policies by name.
#[derive(Clone, Copy, ValueEnum)]
pub enum UnknownName {
    /// Refuse, naming the place
    Error,
    /// Treat the cell as missing
    Missing,
    /// Set all indicators of the column to zero
    Zero,
}

impl From<UnknownName> for UnknownLevel {
    fn from(name: UnknownName) -> UnknownLevel {
        match name {
            UnknownName::Error => UnknownLevel::Error,
            UnknownName::Missing => UnknownLevel::Missing,
            UnknownName::Zero => UnknownLevel::Zero,
        }
    }
}

impl PredictArguments {
    /// What to explain, where that is asked for.
    fn explanation(&self) -> Result<Option<ExplainOptions>> {
        let Some(text) = &self.explain else { return Ok(None) };
        let row = match self.row {
            Some(0) => return Err(Error::usage("--row 0: rows are counted from 1").help("for example --row 1")),
            row => row.map(|row| row - 1),
        };
        Ok(Some(ExplainOptions { most: explain::most(text)?, row, unknown: self.unknown.map(Into::into) }))
    }

    /// Puts the decision that the flags ask for in the place of the model's.
    fn prepare(&self, model: &mut Model) -> Result<()> {
        if (self.proba || self.jacobian) && !model.has_probabilities() {
            let fits = model.decision.scheme().map_or(String::new(), |s| format!("{} ", s.name()));
            let message = format!("the scores of a {fits}{} model are not probabilities", model.method.name());
            return Err(Error::usage(message)
                .help("use --scores")
                .help("fit --model logistic")
                .help("fit it with --calibrate platt"));
        }
        if self.outputs && !matches!(model.method, Method::Sigmoid(_)) {
            let message = format!("{} has no outputs of sigmoids", model.method.name());
            return Err(Error::usage(message).help("use --scores or --proba").help("fit --model sigmoid-ls"));
        }
        if let (true, Some(link)) = (self.jacobian, model.method.link()) {
            let message = format!("--jacobian is about log-odds, and the scores are those of the {} link", link.name());
            return Err(Error::usage(message).help("use --proba --scores"));
        }
        if self.set {
            // No rows yet, but whether there are sets, and of that level, is known.
            model.set_thresholds(self.set_level)?;
            if self.decision.has_true_priors() {
                return Err(Error::usage(
                    "sets of classes are promised for the scores of the fit, which --true-priors changes",
                )
                .help("leave one of --set and --true-priors out")
                .help("fit with --conformal-by class and --true-priors"));
            }
        }
        self.decision.replace(model)
    }
}

/// Runs the subcommand.
pub fn run(arguments: &PredictArguments) -> Result<Ending> {
    let explained = arguments.explanation()?;
    let mut saved = load_saved(&arguments.model)?;
    match &mut saved {
        Saved::One(model) => arguments.prepare(model)?,
        Saved::Several(models) => models.models.iter_mut().try_for_each(|m| arguments.prepare(m))?,
    }
    check_directory(Path::new(&arguments.output))?;
    let others = [Some(arguments.model.as_path()), arguments.decision.file()];
    arguments.input.refuse_as_output(Path::new(&arguments.output), &others)?;
    SheetFormat::of(&arguments.output)?;
    let progress = Progress::new(arguments.input.quiet, None);
    let model = match saved {
        Saved::One(model) => model,
        Saved::Several(models) => {
            let table = arguments.input.read_for(&models, &progress)?;
            let keep = kept(&arguments.keep, &table)?;
            if arguments.set {
                return Err(labels::refuse(&models, "--set"));
            }
            if explained.is_some() {
                return Err(labels::refuse(&models, "--explain"));
            }
            if arguments.outputs {
                return Err(labels::refuse(&models, "--outputs"));
            }
            if arguments.jacobian {
                return Err(labels::refuse(&models, "--jacobian"));
            }
            let extras = (arguments.proba, arguments.scores);
            let unknown = arguments.unknown.map(Into::into);
            let watch = progress.watch();
            let ending = labels::predict(&models, &table, &keep, extras, unknown, &arguments.output, &watch);
            progress.finish();
            return ending;
        }
    };
    let table = arguments.input.read(Some(&model), &progress)?;
    if let Some(options) = explained {
        let ending = explain::run(&model, &table, &options, &arguments.output, &progress.watch());
        progress.finish();
        return ending;
    }
    let keep = kept(&arguments.keep, &table)?;
    let predictions = predict_table(&model, &table, arguments.unknown.map(Into::into), &progress.watch())?;
    progress.finish();
    if !predictions.filled.is_empty() && !arguments.input.quiet {
        let _ = writeln!(std::io::stderr(), "note: {}", filled_text(&predictions.filled, model.recipe.missing));
    }
    let classes = &model.classes;
    let scores = model.discriminant.n_scores();
    let mut header = vec!["prediction".to_owned()];
    let rejects = model.decision.may_reject();
    let may_be_open = model.decision.may_leave_open();
    if may_be_open {
        header.push(if rejects { "rejected" } else { "undetermined" }.to_owned());
    }
    if arguments.proba {
        header.extend(classes.iter().map(|c| format!("p_{c}")));
    }
    if arguments.scores {
        // With two classes the one score is that of the second.
        header.extend(model.score_names().iter().map(|c| format!("score_{c}")));
    }
    if arguments.outputs {
        header.extend(model.score_names().iter().map(|c| format!("output_{c}")));
    }
    if arguments.jacobian {
        // Of two classes there is one score, that of the second.
        let scored = if classes.len() == 2 { &classes[1..] } else { &classes[..] };
        header.extend(classes.iter().flat_map(|p| scored.iter().map(move |z| format!("dp_{p}_dz_{z}"))));
    }
    if arguments.set {
        header.extend(["set".to_owned(), "set_size".to_owned()]);
    }
    let sets = match arguments.set {
        true => model.class_sets(&predictions.deciding, arguments.set_level)?,
        false => Vec::new(),
    };
    // Log-odds are those in force, true priors included; scores before a calibration or a link are what it maps.
    let mapped = model.calibration.is_some() || model.method.link().is_some();
    let shown = if mapped { &predictions.scores } else { &predictions.deciding };
    let probabilities = if arguments.proba || arguments.jacobian { predictions.probabilities() } else { Vec::new() };
    let sheet = Sheet { table: &table, keep: &keep, header, rows: &predictions.rows };
    sheet.write(&arguments.output, |i, line| {
        let class = predictions.classes[i];
        line.text(class.map_or("", |c| &classes[c.index()]));
        if may_be_open {
            line.text(if class.is_none() { "yes" } else { "no" });
        }
        if arguments.proba {
            probabilities[i * classes.len()..(i + 1) * classes.len()].iter().for_each(|p| line.number(*p));
        }
        if arguments.scores {
            shown[i * scores..(i + 1) * scores].iter().for_each(|z| line.number(*z));
        }
        if arguments.outputs {
            // What was fitted to 0 and 1, before any calibration and true priors.
            predictions.scores[i * scores..(i + 1) * scores].iter().for_each(|z| line.number(logistic(*z)));
        }
        if arguments.jacobian {
            jacobian(&probabilities[i * classes.len()..(i + 1) * classes.len()]).iter().for_each(|d| line.number(*d));
        }
        if arguments.set {
            let within = sets[i * classes.len()..(i + 1) * classes.len()].iter().zip(classes);
            let names: Vec<String> = within.filter(|(within, _)| **within).map(|(_, c)| separable(c)).collect();
            line.text(&names.join("|"));
            line.whole(names.len());
        }
    })
}

/// `∂p_i/∂z_j`, row by row; of two classes by the one score of the second. `1 − p` is the sum of the others, which does not cancel.
fn jacobian(p: &[f64]) -> Vec<f64> {
    if let [first, second] = p {
        return vec![-first * second, first * second];
    }
    let others = |i: usize| p.iter().enumerate().filter(|(k, _)| *k != i).map(|(_, p)| p).sum::<f64>();
    let entry = |i: usize, j: usize| if i == j { p[i] * others(i) } else { -p[i] * p[j] };
    (0..p.len()).flat_map(|i| (0..p.len()).map(move |j| entry(i, j))).collect()
}

/// The columns to copy: those that are named, or all.
pub fn kept(names: &[String], table: &Table) -> Result<Vec<usize>> {
    match names {
        [all] if all == "all" && !table.columns().iter().any(|c| c.name == "all") => {
            Ok((0..table.columns().len()).collect())
        }
        _ => names.iter().map(|name| table.column(name)).collect(),
    }
}

/// The name of a class so that names with | between them can be told apart again.
fn separable(class: &str) -> String {
    class.replace('\\', "\\\\").replace('|', "\\|")
}

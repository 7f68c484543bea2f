//! `linsep predict`.

use crate::decision::DecisionArguments;
use crate::exit::Ending;
use crate::input::{InputArguments, load_model};
use crate::output::{check_directory, ended};
use crate::progress::Progress;
use clap::{Args, ValueEnum};
use linsep::Result;
use linsep::artifact::{Model, write_atomic};
use linsep::design::UnknownLevel;
use linsep::table::Table;
use linsep::workflow::{Predictions, predict_table};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Predict the class of every row of a table.
#[derive(Args)]
#[command(after_help = "\
One row is written per input row, with an empty prediction where a needed cell is missing. Under a
rule that rejects rows a column `rejected` says yes where the prediction is empty for that reason.

Examples:
  linsep predict model.json penguins.csv --proba -o predictions.csv
  linsep predict model.json penguins.csv --keep island,sex
  linsep predict model.json penguins.csv --reject 0.05")]
pub struct PredictArguments {
    /// The model file; - is standard input
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    input: InputArguments,

    /// Add a column p_<class> with the probability of each class
    #[arg(long)]
    proba: bool,

    /// Add a column score_<class> with each discriminant (for two classes, the log-odds of the second)
    #[arg(long)]
    scores: bool,

    /// Copy these input columns in front
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    keep: Vec<String>,

    /// What to do with a level that was not seen in training (default: as the model was fitted)
    #[arg(long, value_enum, value_name = "POLICY")]
    unknown: Option<UnknownName>,

    #[command(flatten)]
    decision: DecisionArguments,

    /// Where to write; - is standard output
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

/// Runs the subcommand.
pub fn run(arguments: &PredictArguments) -> Result<Ending> {
    let mut model = load_model(&arguments.model)?;
    arguments.decision.replace(&mut model)?;
    check_directory(Path::new(&arguments.output))?;
    arguments.input.refuse_as_output(Path::new(&arguments.output))?;
    let progress = Progress::new(arguments.input.quiet, None);
    let table = arguments.input.read(Some(&model), &progress)?;
    let keep = arguments.keep.iter().map(|name| table.column(name)).collect::<Result<Vec<usize>>>()?;
    let predictions = predict_table(&model, &table, arguments.unknown.map(Into::into), &progress.watch())?;
    progress.finish();
    let sheet = Sheet { model: &model, table: &table, predictions: &predictions, keep: &keep, arguments };
    if arguments.output == "-" {
        let mut out = std::io::BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
        let result = sheet.write(&mut out).and_then(|()| out.flush());
        return ended(result, Ending::Done);
    }
    write_atomic(Path::new(&arguments.output), |mut out| sheet.write(&mut out))?;
    Ok(Ending::Done)
}

/// The CSV to be written.
struct Sheet<'a> {
    model: &'a Model,
    table: &'a Table,
    predictions: &'a Predictions,
    keep: &'a [usize],
    arguments: &'a PredictArguments,
}

impl Sheet<'_> {
    fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        let classes = &self.model.classes;
        let scores = self.model.discriminant.n_scores();
        // With two classes the one score is that of the second.
        let scored = &classes[classes.len() - scores..];
        let mut header: Vec<String> = self.keep.iter().map(|c| self.table.columns()[*c].name.clone()).collect();
        header.push("prediction".into());
        let rejects = self.model.decision.reject.is_some();
        if rejects {
            header.push("rejected".into());
        }
        if self.arguments.proba {
            header.extend(classes.iter().map(|c| format!("p_{c}")));
        }
        if self.arguments.scores {
            header.extend(scored.iter().map(|c| format!("score_{c}")));
        }
        let header: Vec<String> = header.iter().map(|h| quoted(h)).collect();
        writeln!(out, "{}", header.join(","))?;
        let probabilities = if self.arguments.proba { self.predictions.probabilities() } else { Vec::new() };
        let names: Vec<String> = classes.iter().map(|c| quoted(c)).collect();
        let mut next = 0;
        let mut line = String::new();
        for row in 0..self.table.n_rows() {
            line.clear();
            for column in self.keep {
                line.push_str(&quoted(&self.table.text(row, *column)));
                line.push(',');
            }
            let predicted = self.predictions.rows.get(next) == Some(&row);
            if predicted {
                let class = self.predictions.classes[next];
                line.push_str(class.map_or("", |c| &names[c.index()]));
                if rejects {
                    line.push_str(if class.is_none() { ",yes" } else { ",no" });
                }
            } else if rejects {
                line.push(',');
            }
            let mut numbers = |values: &[f64], width: usize| {
                for k in 0..width {
                    line.push(',');
                    if predicted {
                        // The debug form is the shortest that reads back the same, with an exponent where it is short.
                        line.push_str(&format!("{:?}", values[next * width + k]));
                    }
                }
            };
            if self.arguments.proba {
                numbers(&probabilities, classes.len());
            }
            if self.arguments.scores {
                numbers(&self.predictions.scores, scores);
            }
            next += usize::from(predicted);
            if line.is_empty() {
                // A blank line would be skipped by many readers, and every row after it would shift.
                line.push_str("\"\"");
            }
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

/// A CSV cell, quoted where it must be.
fn quoted(cell: &str) -> String {
    if cell.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}

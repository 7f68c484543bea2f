//! `linsep path`.

use crate::columns::{ColumnArguments, seconds};
use crate::exit::Ending;
use crate::input::InputArguments;
use crate::method::MethodArguments;
use crate::output::{check_directory, ended, print, print_json, quoted};
use crate::progress::Progress;
use crate::signals::patient;
use crate::voice;
use clap::Args;
use linsep::artifact::write_atomic;
use linsep::model::{Lambdas, Method, Outcome, RegularisationPath};
use linsep::numeric::bound_text;
use linsep::report::{fit_summary, inspect_json, refusal_text};
use linsep::workflow::{FitOptions, PathFit, TableFit, TablePath, fit_table, path_table};
use linsep::{Error, Result};
use serde_json::json;
use std::io::Write;
use std::path::Path;

/// Most coefficients of one row of CSV; beyond, only those that are not zero are of use.
const WIDEST: usize = 16_384;

/// Solve for every size of a penalty, from all weights zero down to almost none.
#[derive(Args)]
#[command(after_help = "\
Begins at the smallest λ with all penalised weights zero (for a ridge: that of a lasso with a thousandth of λ) and
goes down in even steps of the logarithm. One CSV row per λ:
  lambda           the size of the penalty
  nonzero          columns with a weight that is not zero
  objective, loss  what was minimised, and its mean loss alone
  deviance_ratio   the share of the loss of the null model that is explained
  relative_gap     proved bound on how far the objective is from its optimum, relative
  ...              intercept and weights in the units of the columns
With Ctrl-C or --time-limit the points reached are written (exit code 3).

Examples:
  linsep path penguins.csv --target sex --penalty lasso -o path.csv
  linsep path penguins.csv --target species --penalty elastic-net:0.5 --lambdas 20 --long
  linsep path penguins.csv --target sex --penalty ridge --lambda-values 1,0.1,0.01 --json
  linsep path penguins.csv --target sex --penalty lasso --at 0.01 -o model.json")]
pub struct PathArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Column to predict (for LIBSVM files: the label)
    #[arg(long, short, value_name = "COLUMN")]
    target: Option<String>,

    /// Where to write the path; - is standard output, where it goes unless told otherwise
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: String,

    /// Number of λ
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "Path")]
    lambdas: usize,

    /// The smallest λ over the largest (default: 1e-4 with more rows than columns, else 1e-2)
    #[arg(long, value_name = "R", help_heading = "Path")]
    lambda_ratio: Option<f64>,

    /// These λ instead
    #[arg(long, value_name = "L", value_delimiter = ',', conflicts_with_all = ["lambdas", "lambda_ratio"], help_heading = "Path")]
    lambda_values: Vec<f64>,

    /// Fit the one point of the path with this λ and write it as a model (-o model.json), certified like any fit
    #[arg(long, value_name = "L", conflicts_with_all = ["lambdas", "lambda_ratio", "lambda_values", "long"], help_heading = "Path")]
    at: Option<f64>,

    /// One CSV row per weight that is not zero
    #[arg(long, help_heading = "Path")]
    long: bool,

    /// One JSON object instead of CSV
    #[arg(long, conflicts_with = "long", help_heading = "Path")]
    json: bool,

    #[command(flatten)]
    columns: ColumnArguments,

    #[command(flatten)]
    method: MethodArguments,

    /// Stop after this many seconds with the points reached (exit code 3)
    #[arg(long, value_name = "SECONDS", help_heading = "Method")]
    time_limit: Option<f64>,
}

/// A path with the names of what it is about.
struct Named<'p> {
    path: &'p RegularisationPath,
    features: &'p [String],
    classes: &'p [String],
}

/// Runs the subcommand.
pub fn run(arguments: &PathArguments) -> Result<Ending> {
    let time_limit = arguments.time_limit.map(seconds).transpose()?;
    let method = arguments.method.path_method(!arguments.columns.offset.is_empty(), "lasso")?;
    let recipe = arguments.columns.recipe()?;
    if arguments.output != "-" {
        check_directory(Path::new(&arguments.output))?;
        arguments.input.refuse_as_output(Path::new(&arguments.output), &[])?;
    }
    if let Some(lambda) = arguments.at.filter(|l| !(*l > 0.0 && l.is_finite())) {
        return Err(Error::usage(format!("λ = {lambda} is not a positive number")).help("for example --at 0.01"));
    }
    let lambdas = match arguments.lambda_values.is_empty() {
        true => Lambdas::Spaced { count: arguments.lambdas, ratio: arguments.lambda_ratio },
        false => Lambdas::Given(arguments.lambda_values.clone()),
    };
    let progress = Progress::new(arguments.input.quiet, time_limit);
    let named = arguments.columns.named_target(arguments.target.as_deref())?;
    let table = arguments.input.read_labelled(named.as_deref(), &progress)?;
    let method = arguments.method.on_table(method, &table);
    let mut options = FitOptions::new(arguments.columns.target(arguments.target.as_deref(), &table)?, method);
    arguments.columns.roles(&mut options);
    options.recipe = recipe;
    let mut options = options.settled()?;
    if let (Method::Risk(method), Some(lambda)) = (&options.method, arguments.at) {
        options.method = Method::Risk(method.with_lambda(lambda));
        let fit = fit_table(table, &options, &progress.watch());
        progress.finish();
        let output = Path::new(&arguments.output);
        return model_of_point(fit?, (output != Path::new("-")).then_some(output), arguments.json);
    }
    let solved = patient(|| path_table(table, &options, &lambdas, &progress.watch()));
    progress.finish();
    match solved? {
        PathFit::Refused(refusal) => {
            let _ = write!(std::io::stderr(), "{}", refusal_text(&refusal, &voice::Command));
            Ok(Ending::No)
        }
        PathFit::Model(TablePath { path, features, classes, .. }) => {
            finish(arguments, &Named { path: &path, features: &features, classes: &classes })
        }
    }
}

/// The model of one point, written and summarised as by `fit`.
fn model_of_point(fit: TableFit, output: Option<&Path>, json: bool) -> Result<Ending> {
    let model = match fit {
        TableFit::Model(model) => model,
        TableFit::Refused(refusal) => {
            let _ = write!(std::io::stderr(), "{}", refusal_text(&refusal, &voice::Command));
            return Ok(Ending::No);
        }
    };
    let ending = if model.outcome == Outcome::Converged { Ending::Done } else { Ending::NotConverged };
    let Some(path) = output else { return print(&model.to_json()?, ending) };
    model.save(path)?;
    if json {
        return print_json(&inspect_json(&model, &voice::Command)?, ending);
    }
    let summary = fit_summary(&model, &voice::Command);
    print(&format!("{summary}\nmodel written to {}\n", path.display()), ending)
}

fn finish(arguments: &PathArguments, named: &Named<'_>) -> Result<Ending> {
    let ending = if named.path.outcome == Outcome::Converged { Ending::Done } else { Ending::NotConverged };
    if ending == Ending::NotConverged {
        let points = named.path.points.len();
        let why = match named.path.outcome {
            Outcome::TimeLimit | Outcome::Interrupted => format!("stopped after {points} points"),
            _ => "the tolerance was not reached at every point".to_owned(),
        };
        let _ = writeln!(std::io::stderr(), "{why}");
    }
    let coefficients = named.features.len() * named.scores();
    if !arguments.json && !arguments.long && coefficients > WIDEST {
        return Err(Error::usage(format!("{coefficients} coefficients are too many for one row of CSV"))
            .help("add --long for those that are not zero")
            .help("add --json"));
    }
    if arguments.output == "-" && arguments.json {
        return print_json(&named.json(), ending);
    }
    let write = |out: &mut dyn Write| match (arguments.json, arguments.long) {
        (true, _) => writeln!(out, "{:#}", named.json()),
        (false, true) => named.long(out),
        (false, false) => named.wide(out),
    };
    if arguments.output == "-" {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        return ended(write(&mut out).and_then(|()| out.flush()), ending);
    }
    write_atomic(Path::new(&arguments.output), |mut out| write(&mut out))?;
    print(&named.summary(&arguments.output), ending)
}

impl Named<'_> {
    fn scores(&self) -> usize {
        if self.classes.len() == 2 { 1 } else { self.classes.len() }
    }

    /// The class a score speaks for.
    fn class(&self, score: usize) -> &str {
        &self.classes[score + self.classes.len() - self.scores()]
    }

    fn wide(&self, out: &mut dyn Write) -> std::io::Result<()> {
        write!(out, "lambda,nonzero,objective,loss,deviance_ratio,relative_gap")?;
        let prefix = |score: usize| if self.scores() == 1 { String::new() } else { format!("{}:", self.class(score)) };
        for score in 0..self.scores() {
            write!(out, ",{}", quoted(&format!("{}(intercept)", prefix(score))))?;
            for feature in self.features {
                write!(out, ",{}", quoted(&format!("{}{feature}", prefix(score))))?;
            }
        }
        writeln!(out)?;
        for p in &self.path.points {
            let gap = p.certificate.relative_gap().map(|g| format!("{g:?}")).unwrap_or_default();
            let explained = p.deviance_ratio.map(|r| format!("{r:?}")).unwrap_or_default();
            write!(out, "{:?},{},{:?},{:?},{explained},{gap}", p.lambda, p.nonzero, p.objective, p.loss)?;
            for (score, b) in p.linear.intercept().iter().enumerate() {
                write!(out, ",{b:?}")?;
                for w in p.linear.weights_of(score) {
                    write!(out, ",{w:?}")?;
                }
            }
            writeln!(out)?;
        }
        Ok(())
    }

    fn long(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "lambda,class,feature,coefficient")?;
        for p in &self.path.points {
            for (score, b) in p.linear.intercept().iter().enumerate() {
                let class = quoted(self.class(score));
                writeln!(out, "{:?},{class},(intercept),{b:?}", p.lambda)?;
                for (j, w) in p.linear.weights_of(score).iter().enumerate().filter(|(_, w)| **w != 0.0) {
                    writeln!(out, "{:?},{class},{},{w:?}", p.lambda, quoted(&self.features[j]))?;
                }
            }
        }
        Ok(())
    }

    fn json(&self) -> serde_json::Value {
        let weights = |p: &linsep::model::PathPoint, score: usize| {
            let entries = p.linear.weights_of(score).iter().enumerate().filter(|(_, w)| **w != 0.0);
            let named: serde_json::Map<String, serde_json::Value> =
                entries.map(|(j, w)| (self.features[j].clone(), json!(w))).collect();
            json!({"class": self.class(score), "intercept": p.linear.intercept()[score], "weights": named})
        };
        let points: Vec<serde_json::Value> = self
            .path
            .points
            .iter()
            .map(|p| {
                json!({
                    "lambda": p.lambda,
                    "nonzero": p.nonzero,
                    "objective": p.objective,
                    "loss": p.loss,
                    "deviance_ratio": p.deviance_ratio,
                    "relative_gap": p.certificate.relative_gap(),
                    "outcome": p.outcome,
                    "scores": (0..self.scores()).map(|score| weights(p, score)).collect::<Vec<_>>(),
                })
            })
            .collect();
        json!({
            "minimised": self.path.formula,
            "lambda_max": self.path.lambda_max_error.map(|_| self.path.lambda_max),
            "lambda_max_error": self.path.lambda_max_error,
            "null_loss": self.path.null_gap.map(|_| self.path.null_loss),
            "null_gap": self.path.null_gap,
            "outcome": self.path.outcome,
            "classes": self.classes,
            "features": self.features.len(),
            "points": points,
        })
    }

    fn summary(&self, output: &str) -> String {
        let points = &self.path.points;
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return format!("no point was reached; {output} has the header alone\n");
        };
        let gaps: Vec<f64> = points.iter().filter_map(|p| p.certificate.relative_gap()).collect();
        let certificate = match (gaps.len(), points.len()) {
            (0, _) => "none: no point is proved".to_owned(),
            (proved, all) => {
                let worst = bound_text(gaps.iter().copied().fold(0.0, f64::max));
                let where_ = if proved == all {
                    "every point".to_owned()
                } else {
                    format!("{proved} points, no proof at the rest")
                };
                format!("relative gap at most {worst} at {where_}")
            }
        };
        let explained = match last.deviance_ratio {
            Some(ratio) => format!("{:.1} % of the null model's loss at the last", 100.0 * ratio),
            None => "not known: nothing is proved of the null model".to_owned(),
        };
        format!(
            "path of {} points\n  minimised    {}\n  λ            {:.4e} down to {:.4e}\n  nonzero      {} to {} of {} \
             features\n  explained    {explained}\n  certificate  {certificate}\n\n\
             path written to {output}\n",
            points.len(),
            self.path.formula,
            first.lambda,
            last.lambda,
            first.nonzero,
            last.nonzero,
            self.features.len(),
        )
    }
}

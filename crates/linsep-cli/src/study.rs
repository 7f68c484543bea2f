//! `linsep study`.

use crate::columns::seconds;
use crate::exit::Ending;
use crate::infer::IntervalName;
use crate::known_classes::{KnownClasses, generator_of_file};
use crate::method::MethodArguments;
use crate::multiclass::ApproachName;
use crate::output::{print, print_json};
use crate::progress::Progress;
use clap::{Args, Parser, ValueEnum};
use linsep::report::{study_json, study_text};
use linsep::sample::Generator;
use linsep::workflow::{FitOptions, StudiedMethod, StudyOptions, study};
use linsep::{Error, Result};
use std::path::PathBuf;

/// Fit methods to repeated samples of known classes: bias and variance, learning curves, coverage.
#[derive(Args)]
#[command(after_help = "\
Draws samples of known classes again and again and fits each method to the same rows: the error on fresh
rows for every size of a sample, beside the error of the best rule; mean, bias and standard deviation of
the estimates whose truth is known (shares, means, covariances, weights); and how often intervals cover
the truth (of logistic without a penalty, and of lda, qda and spherical). A method is its name and the
flags that fit has for it, in quotes. Answers are the same for any number of threads. Exit code 0.

Examples:
  linsep study gaussian --model lda --rows 10,100
  linsep study gaussian --model 'lda --covariance mle' --rows 10 --samples 500
  linsep study logistic --weights 1,-1 --model 'logistic --penalty none' --rows 50,500 --json
  linsep study gaussian --features 10 --model lda --model logistic --rows 20,200 --samples 50")]
pub struct StudyArguments {
    /// What to draw
    #[arg(value_enum, value_name = "KIND", required_unless_present = "parameters")]
    kind: Option<StudyKindName>,

    /// Draw from the classes of a file (means with covariance, covariances or variance, or marginals), or as the truth file
    /// of other rows says
    #[arg(long, value_name = "FILE", conflicts_with = "kind")]
    parameters: Option<PathBuf>,

    /// A method with the flags of fit: lda, or 'logistic --penalty none'; give several to compare them
    #[arg(long = "model", short = 'm', value_name = "METHOD", required = true)]
    models: Vec<String>,

    /// Sizes of the samples
    #[arg(long, short = 'n', value_name = "N", value_delimiter = ',', default_values_t = [20, 50, 100, 500])]
    rows: Vec<u64>,

    /// Samples of each size
    #[arg(long, value_name = "N", default_value_t = 200)]
    samples: usize,

    /// Fresh rows to test the fits of a sample on
    #[arg(long, value_name = "N", default_value_t = 1000)]
    test_rows: u64,

    /// How sure intervals are
    #[arg(long, value_name = "LEVEL", default_value_t = 0.95, allow_negative_numbers = true)]
    level: f64,

    /// How intervals of coefficients are made
    #[arg(long, value_enum, value_name = "KIND", default_value = "wald")]
    interval: IntervalName,

    /// Seed of everything random
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,

    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS")]
    time_limit: Option<f64>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    known: KnownClasses,
}

/// Kinds by name.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StudyKindName {
    /// Gaussian classes that share a covariance
    Gaussian,
    /// Independent Poisson counts
    Poisson,
    /// Independent zeros and ones
    Bernoulli,
    /// Gaussian features, labels from the logistic model
    Logistic,
}

use StudyKindName::{Bernoulli, Gaussian, Logistic, Poisson};

/// A method as one writes it after `fit`.
#[derive(Parser)]
#[command(name = "--model", disable_help_flag = true)]
struct MethodLine {
    #[command(flatten)]
    method: MethodArguments,

    #[arg(long, value_enum)]
    multiclass: Option<ApproachName>,
}

/// Runs the subcommand.
pub fn run(arguments: &StudyArguments) -> Result<Ending> {
    arguments.refuse_foreign_flags()?;
    let time_limit = arguments.time_limit.map(seconds).transpose()?;
    let generator = arguments.generator()?;
    let classes = generator.classes();
    let methods = arguments.models.iter().map(|m| arguments.studied(m, &classes)).collect::<Result<Vec<_>>>()?;
    let options = StudyOptions {
        rows: arguments.rows.clone(),
        samples: arguments.samples,
        test_rows: arguments.test_rows,
        level: arguments.level,
        interval: arguments.interval.into(),
        seed: arguments.seed,
    };
    let progress = Progress::new(true, time_limit);
    let found = study(&*generator, &methods, &options, &progress.watch())?;
    match arguments.json {
        true => print_json(&study_json(&found), Ending::Done),
        false => print(&study_text(&found), Ending::Done),
    }
}

impl StudyArguments {
    fn generator(&self) -> Result<Box<dyn Generator>> {
        if let Some(path) = &self.parameters {
            let generator = generator_of_file(path)?;
            if generator.classes().is_empty() {
                return Err(Error::usage("the file is of one population, and a study is of classes")
                    .help("linsep estimate compares the estimates of one population with its truth"));
            }
            return Ok(generator);
        }
        Ok(match self.kind {
            Some(Gaussian) => Box::new(self.known.gaussian(self.known.class_priors()?)?),
            Some(Poisson) => Box::new(self.known.poisson(self.known.class_priors()?)?),
            Some(Bernoulli) => Box::new(self.known.bernoulli(self.known.class_priors()?)?),
            Some(Logistic) => Box::new(self.known.logistic()?),
            None => return Err(Error::usage("what is to be drawn?").help("name a KIND")),
        })
    }

    /// A method by its name and flags.
    fn studied(&self, text: &str, classes: &[String]) -> Result<StudiedMethod> {
        let words = ["linsep", "--model"].into_iter().chain(text.split_whitespace());
        let line = MethodLine::try_parse_from(words).map_err(|e| {
            let said = e.to_string();
            let first = said.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Error::usage(format!("`{text}` is no method: {first}"))
                .help("write its name and the flags that fit has for it: --model 'logistic --penalty none'")
        })?;
        let method = line.method.with_class_names(line.method.method(false, self.seed)?, classes)?;
        let mut options = FitOptions::new("class", method);
        options.multiclass.approach = line.multiclass.map(Into::into);
        options.seed = self.seed;
        Ok(StudiedMethod { name: text.split_whitespace().collect::<Vec<&str>>().join(" "), options })
    }

    /// A flag of another kind would be ignored; say so instead.
    fn refuse_foreign_flags(&self) -> Result<()> {
        let known = &self.known;
        let given: [(&str, bool, &[StudyKindName]); 7] = [
            ("--classes", known.classes.is_some(), &[Gaussian, Poisson, Bernoulli]),
            ("--features", known.features.is_some(), &[Gaussian, Poisson, Bernoulli, Logistic]),
            ("--priors", known.priors.is_some(), &[Gaussian, Poisson, Bernoulli]),
            ("--distance", known.distance.is_some(), &[Gaussian, Poisson, Bernoulli]),
            ("--correlation", known.correlation.is_some(), &[Gaussian, Logistic]),
            ("--weights", known.weights.is_some(), &[Logistic]),
            ("--intercept", known.intercept.is_some(), &[Logistic]),
        ];
        let name = |kind: StudyKindName| kind.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned());
        let foreign = |(_, given, kinds): &&(&str, bool, &[StudyKindName])| {
            *given && self.kind.is_none_or(|kind| !kinds.contains(&kind))
        };
        let Some((flag, _, kinds)) = given.iter().find(foreign) else { return Ok(()) };
        let what = self.kind.map_or("--parameters".to_owned(), name);
        let others: Vec<String> = kinds.iter().map(|k| name(*k)).collect();
        Err(Error::usage(format!("{flag} does not belong to {what}"))
            .help(format!("leave it out, or draw {}", others.join(" or "))))
    }
}

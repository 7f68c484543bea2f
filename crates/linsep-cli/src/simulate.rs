//! `linsep simulate`.

use crate::exit::Ending;
use crate::feature_law::{Given, features_given};
use crate::input::load_model;
use crate::known_classes::KnownClasses;
use crate::output::{check_directory, ended, is_same_file, print, refuse_inputs};
use crate::progress::Progress;
use crate::simulated_sheet::SimulatedSheet;
use clap::{Args, ValueEnum};
use linsep::artifact::write_atomic;
use linsep::density::Covariance;
use linsep::design::Recipe;
use linsep::report::{bayes_error_text, ideal_losses_text, short_number};
use linsep::sample::{
    Boolean, BooleanRule, Classes, CurveShape, Curves, Generator, LogisticLabels, PlaneLabels, Population, Separable,
    Simulation, Truth, generator_at,
};
use linsep::workflow::model_classes;
use linsep::{Error, ErrorKind, Result};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Draw labelled rows from known classes.
#[derive(Args)]
#[command(after_help = "\
Neighbouring classes are --distance apart: for gaussian the Mahalanobis distance of their means, for
poisson and bernoulli the same on the scale on which their variance is nearly constant.

Examples:
  linsep simulate gaussian --rows 500 --classes 3 --features 4 --distance 1.5 -o gaussian.csv
  linsep simulate logistic --weights 1,-2 --intercept 0.5 --seed 7 -o logistic.csv
  linsep simulate logistic --weights 1 --intercept -5 --x uniform:0,10 --rows 200 -o line.csv
  linsep simulate logistic --weights 1,-1 --x 'mixture:-2,1;3,0.5' -o mixed.csv
  linsep simulate plane --weights 1.2,-3.2 --x points.csv -o labelled.csv
  linsep simulate population --features 3 --correlation 0.4 --rows 50 -o one.csv
  linsep simulate gaussian --counts 100,100 --distance 3 -o hundred.csv
  linsep simulate rings --rows 300 --noise 0.2 -o rings.csv
  linsep simulate separable --margin 0.25 --rows 200 -o separable.csv
  linsep simulate parity --features 3
  linsep simulate m-of-d --features 5 --m 2 --signs
  linsep simulate --parameters gaussian.truth.json --rows 10")]
pub struct SimulateArguments {
    /// What to draw
    #[arg(value_enum, value_name = "KIND", required_unless_present_any = ["from", "parameters"])]
    kind: Option<KindName>,

    /// Draw from a fitted model that says what the classes look like; - is standard input
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["kind", "parameters"])]
    from: Option<PathBuf>,

    /// Draw from the classes of a file (means with covariance, covariances or variance, or marginals), or as the truth file
    /// of other rows says
    #[arg(long, value_name = "FILE", conflicts_with = "kind")]
    parameters: Option<PathBuf>,

    /// Number of rows (default: 1000; for parity and m-of-d every row once)
    #[arg(long, short = 'n', value_name = "N")]
    rows: Option<u64>,

    /// Seed of everything random
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,

    /// Where to write the rows, as CSV; - is standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,

    /// Where to write the truth, as JSON (default: beside the rows, data.truth.json for data.csv)
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,

    #[command(flatten)]
    known: KnownClasses,

    /// Number of rows of each class, instead of --rows and --priors; the classes come one after the other
    #[arg(long, value_name = "N", value_delimiter = ',', conflicts_with_all = ["rows", "priors"], help_heading = "Classes")]
    counts: Option<Vec<u64>>,

    /// Standard deviation about the curves (default: 0.1)
    #[arg(long, value_name = "S", allow_negative_numbers = true, help_heading = "Classes")]
    noise: Option<f64>,

    /// Features that classes are drawn after: normal (default), normal:MEAN,SD, uniform:A,B, 'mixture:MEAN,SD;MEAN,SD' (a
    /// third number is the share of a part), or a table with a number in every cell, row by row
    #[arg(long, value_name = "LAW|FILE", help_heading = "Classes")]
    x: Option<String>,

    /// Distance of the nearest rows from the plane (default: 0.5)
    #[arg(long, value_name = "G", allow_negative_numbers = true, help_heading = "Classes")]
    margin: Option<f64>,

    /// How many features must be one (default: more than half)
    #[arg(long, value_name = "M", help_heading = "Classes")]
    m: Option<usize>,

    /// Features −1 and 1 instead of 0 and 1
    #[arg(long, help_heading = "Classes")]
    signs: bool,
}

/// Kinds by name.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KindName {
    /// Gaussian classes that share a covariance
    Gaussian,
    /// Independent Poisson counts
    Poisson,
    /// Independent zeros and ones
    Bernoulli,
    /// Features of any law or of a table, labels from the logistic model
    Logistic,
    /// Two classes on the sides of a plane, with an exact margin
    Separable,
    /// Labels without noise: the side of a plane that a row is on
    Plane,
    /// One Gaussian, without classes
    Population,
    /// Whether the number of ones is odd: exclusive or for two features
    Parity,
    /// Whether at least m of d features are one
    MOfD,
    /// Circles about a point, one for each class: not linear
    Rings,
    /// Two half circles that hold each other: not linear
    Moons,
}

use KindName::{
    Bernoulli, Gaussian, Logistic as LogisticName, MOfD, Moons, Parity, Plane as PlaneName, Poisson,
    Population as PopulationName, Rings, Separable as SeparableName,
};

/// Rows of kinds that do not say how many there are.
const ROWS: u64 = 1000;

/// Runs the subcommand.
pub fn run(arguments: &SimulateArguments) -> Result<Ending> {
    arguments.refuse_foreign_flags()?;
    let truth_path = arguments.truth_path()?;
    let progress = Progress::new(true, None);
    let (generator, listed, recipe, target) = arguments.generator()?;
    let names = recipe.as_ref().map_or_else(|| generator.features(), Recipe::cell_names);
    if names.contains(&target) && !generator.classes().is_empty() {
        return Err(Error::data(format!("`{target}` is the name of a feature and of the column of classes"))
            .help("give the feature another name"));
    }
    let simulation = Simulation::new(generator, arguments.rows.or(listed).unwrap_or(ROWS), arguments.seed)?;
    let truth = simulation.truth()?;
    let sheet = SimulatedSheet { simulation: &simulation, recipe: recipe.as_ref(), names, target };
    let watch = progress.watch();
    // Writing fails when it is interrupted; then that is what went wrong.
    let interrupted = |error: Error| match watch.halted() {
        Some(_) => Error::new(ErrorKind::Interrupted, "stopped before all rows were written"),
        None => error,
    };
    if arguments.output == Path::new("-") {
        if let Some(path) = &truth_path {
            write_truth(path, &truth)?;
        }
        let mut out = std::io::BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
        return ended(sheet.write(&mut out, &watch).and_then(|()| out.flush()), Ending::Done).map_err(interrupted);
    }
    write_atomic(&arguments.output, |out| sheet.write(out, &watch)).map_err(interrupted)?;
    match &truth_path {
        Some(path) if path == Path::new("-") => return print(&truth.to_json()?, Ending::Done),
        Some(path) => write_truth(path, &truth)?,
        None => {}
    }
    print(&summary(arguments, &truth, truth_path.as_deref()), Ending::Done)
}

fn write_truth(path: &Path, truth: &Truth) -> Result<()> {
    let text = truth.to_json()?;
    write_atomic(path, |out| out.write_all(text.as_bytes()))
}

/// What was written, in a few lines.
fn summary(arguments: &SimulateArguments, truth: &Truth, truth_path: Option<&Path>) -> String {
    let features = truth.parameters.features.len();
    let mut text = format!(
        "{}: {} row{} of {features} feature{}{}, seed {}\n",
        truth.kind,
        truth.rows,
        if truth.rows == 1 { "" } else { "s" },
        if features == 1 { "" } else { "s" },
        match truth.parameters.classes.len() {
            0 => String::new(),
            classes => format!(" in {classes} classes"),
        },
        truth.seed
    );
    if let Some(error) = &truth.bayes_error {
        text.push_str(&format!("  Bayes error  {}\n", bayes_error_text(error)));
    }
    if let (Some(squared), Some(entropy)) = (&truth.ideal_squared_error, &truth.ideal_cross_entropy) {
        text.push_str(&format!("  ideal loss   {}\n", ideal_losses_text(squared, entropy)));
    }
    if let Some(intercept) = truth.sample_intercept {
        text.push_str(&format!(
            "  intercept    {} among these rows, whose numbers per class are fixed\n",
            short_number(intercept)
        ));
    }
    text.push_str(&format!("rows written to {}\n", arguments.output.display()));
    if let Some(path) = truth_path {
        text.push_str(&format!("truth written to {}\n", path.display()));
    }
    text
}

/// What makes the rows; how many there are if all are listed; how a model turns them into cells; the column of classes.
type Made = (Box<dyn Generator>, Option<u64>, Option<Recipe>, String);

impl SimulateArguments {
    fn generator(&self) -> Result<Made> {
        let target = "class".to_owned();
        if let Some(path) = &self.from {
            let model = load_model(path)?;
            let classes = model_classes(&model)?;
            return Ok((Box::new(classes), None, Some(model.recipe), model.target));
        }
        if let Some(path) = &self.parameters {
            let name = path.display().to_string();
            let bytes = std::fs::read(path).map_err(|e| Error::io(&name, &e))?;
            let own = match self.x.as_deref().map(|x| features_given(Some(x), None)).transpose()? {
                Some(Given::Rows(own)) => Some(own),
                Some(Given::Law(_)) => {
                    return Err(
                        Error::usage("the file says what the features are").help("give --x a table, or leave it out")
                    );
                }
                None => None,
            };
            let again = generator_at(&bytes, &name, self.rows.is_some(), own)?;
            return Ok((again.generator, again.listed, None, target));
        }
        let Some(kind) = self.kind else { return Err(Error::usage("what is to be drawn?").help("name a KIND")) };
        let cols = self.known.cols()?;
        let generator: Box<dyn Generator> = match kind {
            Gaussian => self.counted(self.known.gaussian(self.class_priors()?)?)?,
            Poisson => self.counted(self.known.poisson(self.class_priors()?)?)?,
            Bernoulli => self.counted(self.known.bernoulli(self.class_priors()?)?)?,
            Rings | Moons => {
                let shape = if kind == Rings { CurveShape::Rings } else { CurveShape::Moons };
                let curves = Curves::new(shape, self.class_priors()?.len(), self.noise.unwrap_or(0.1))?;
                match &self.counts {
                    Some(counts) => Box::new(curves.with_counts(counts.clone())?),
                    None => Box::new(curves),
                }
            }
            LogisticName | PlaneName => return self.by_plane(kind),
            PopulationName => Box::new(self.population()?),
            SeparableName => {
                let (weights, intercept) = self.known.plane(1.0)?;
                let priors = self.known.class_priors()?;
                let [first, second] = priors[..] else {
                    return Err(Error::usage(format!("{} classes on the two sides of a plane", priors.len()))
                        .help("give two --priors"));
                };
                Box::new(Separable::new(weights, intercept, self.margin.unwrap_or(0.5), [first, second])?)
            }
            Parity | MOfD => {
                let rule = match kind {
                    MOfD => BooleanRule::AtLeast(self.m.unwrap_or(cols / 2 + 1)),
                    _ => BooleanRule::Parity,
                };
                let boolean = Boolean::new(cols, rule, self.signs, self.rows.is_none())?;
                let all = boolean.n_rows();
                return Ok((Box::new(boolean), all, None, target));
            }
        };
        let listed = self.counts.as_ref().map(|counts| counts.iter().sum());
        Ok((generator, listed, None, target))
    }

    /// Classes drawn after the features, by the logistic model or by the side of the plane.
    fn by_plane(&self, kind: KindName) -> Result<Made> {
        let given = features_given(self.x.as_deref(), self.known.correlation)?;
        let length = if kind == PlaneName { 1.0 } else { 2.0 };
        let (weights, intercept) = match &given {
            Given::Rows(own) => self.known.plane_of(length, own.features.len())?,
            Given::Law(_) => self.known.plane(length)?,
        };
        let mut listed = self.counts.as_ref().map(|counts| counts.iter().sum());
        let generator: Box<dyn Generator> = match (kind, given) {
            (PlaneName, Given::Law(law)) => Box::new(PlaneLabels::new(weights, intercept, law)?),
            (PlaneName, Given::Rows(own)) => {
                listed = Some(own.len() as u64);
                Box::new(PlaneLabels::at_rows(weights, intercept, own)?)
            }
            (_, given) => {
                let labels = match given {
                    Given::Law(law) => LogisticLabels::new(weights, intercept, law)?,
                    Given::Rows(own) => {
                        listed = Some(own.len() as u64);
                        LogisticLabels::at_rows(weights, intercept, own)?
                    }
                };
                match &self.counts {
                    Some(counts) => Box::new(labels.with_counts(counts.clone())?),
                    None => Box::new(labels),
                }
            }
        };
        Ok((generator, listed, None, "class".to_owned()))
    }

    /// One Gaussian about the origin.
    fn population(&self) -> Result<Population> {
        let (cols, correlation) = (self.known.cols()?, self.known.correlation.unwrap_or(0.0));
        let row = |i: usize| (0..cols).map(|j| if i == j { 1.0 } else { correlation }).collect();
        Population::new(vec![0.0; cols], Covariance::Shared((0..cols).map(row).collect()), Vec::new())
    }

    /// The classes, with as many rows of each as asked for.
    fn counted(&self, classes: Classes) -> Result<Box<dyn Generator>> {
        Ok(match &self.counts {
            Some(counts) => Box::new(classes.with_counts(counts.clone())?),
            None => Box::new(classes),
        })
    }

    /// The priors, equal where counts say how many classes there are.
    fn class_priors(&self) -> Result<Vec<f64>> {
        match (&self.counts, &self.known.priors, self.known.classes) {
            (Some(counts), None, None) => Ok(vec![1.0 / counts.len().max(2) as f64; counts.len().max(2)]),
            _ => self.known.class_priors(),
        }
    }

    /// Every flag of some kinds only: whether it was given, and the kinds it belongs to.
    fn given(&self) -> Vec<(&'static str, bool, &'static [KindName])> {
        vec![
            ("--classes", self.known.classes.is_some(), &[Gaussian, Poisson, Bernoulli, Rings]),
            ("--counts", self.counts.is_some(), &[Gaussian, Poisson, Bernoulli, LogisticName, Rings, Moons]),
            ("--noise", self.noise.is_some(), &[Rings, Moons]),
            (
                "--features",
                self.known.features.is_some(),
                &[Gaussian, Poisson, Bernoulli, LogisticName, SeparableName, PlaneName, PopulationName, Parity, MOfD],
            ),
            ("--priors", self.known.priors.is_some(), &[Gaussian, Poisson, Bernoulli, SeparableName]),
            ("--distance", self.known.distance.is_some(), &[Gaussian, Poisson, Bernoulli]),
            ("--correlation", self.known.correlation.is_some(), &[Gaussian, LogisticName, PlaneName, PopulationName]),
            ("--weights", self.known.weights.is_some(), &[LogisticName, SeparableName, PlaneName]),
            ("--intercept", self.known.intercept.is_some(), &[LogisticName, SeparableName, PlaneName]),
            ("--x", self.x.is_some() && self.parameters.is_none(), &[LogisticName, PlaneName]),
            ("--margin", self.margin.is_some(), &[SeparableName]),
            ("--m", self.m.is_some(), &[MOfD]),
            ("--signs", self.signs, &[Parity, MOfD]),
        ]
    }

    /// A flag of another kind would be ignored; say so instead.
    fn refuse_foreign_flags(&self) -> Result<()> {
        let foreign =
            |(_, given, kinds): &(_, bool, &[KindName])| *given && self.kind.is_none_or(|k| !kinds.contains(&k));
        let Some((flag, _, kinds)) = self.given().into_iter().find(foreign) else { return Ok(()) };
        let what = match (&self.from, self.kind) {
            (_, Some(kind)) => name(kind),
            (Some(_), None) => "--from".to_owned(),
            (None, None) => "--parameters".to_owned(),
        };
        let others: Vec<String> = kinds.iter().map(|k| name(*k)).collect();
        Err(Error::usage(format!("{flag} does not belong to {what}"))
            .help(format!("leave it out, or draw {}", others.join(" or "))))
    }

    /// Where the truth goes, with the outputs checked against each other and the inputs.
    fn truth_path(&self) -> Result<Option<PathBuf>> {
        let standard = Path::new("-");
        let truth = match &self.truth {
            Some(path) => Some(path.clone()),
            None => (self.output != standard).then(|| self.output.with_extension("truth.json")),
        };
        let outputs: Vec<&PathBuf> = std::iter::once(&self.output).chain(&truth).collect();
        if let [rows, truth] = outputs[..]
            && (rows == truth || is_same_file(rows, truth))
        {
            return Err(Error::usage(format!("rows and truth would both be written to `{}`", rows.display()))
                .help("give --truth another name"));
        }
        for output in outputs.into_iter().filter(|path| *path != standard) {
            check_directory(output)?;
            refuse_inputs(output, [&self.from, &self.parameters].into_iter().flatten().map(PathBuf::as_path))?;
        }
        Ok(truth)
    }
}

/// The name on the command line.
fn name(kind: KindName) -> String {
    kind.to_possible_value().map(|v| v.get_name().to_owned()).unwrap_or_default()
}

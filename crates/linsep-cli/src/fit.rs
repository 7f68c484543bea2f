//! `linsep fit`.

use crate::asked::Questions;
use crate::calibrate::CalibrateArguments;
use crate::columns::{ColumnArguments, seconds};
use crate::conformal::ConformalArguments;
use crate::decision::DecisionArguments;
use crate::exit::Ending;
use crate::given::GivenArguments;
use crate::input::InputArguments;
use crate::labels;
use crate::method::{MethodArguments, class_names};
use crate::multiclass::ApproachName;
use crate::output::{check_directory, print, print_json};
use crate::progress::Progress;
use crate::storage::Storage;
use crate::trace::Trace;
use crate::tune;
use crate::voice;
use clap::Args;
use linsep::artifact::{Model, MultiLabel};
use linsep::decide::ConformalOptions;
use linsep::design::RecipeOptions;
use linsep::model::{ClassWeights, Method, Outcome};
use linsep::report::{fit_summary, fit_summary_on_columns, inspect_json, refusal_json, refusal_text};
use linsep::table::Table;
use linsep::workflow::{CalibrationOptions, FitOptions, TableFit, TableRefusal, fit_labels, fit_table, given_model};
use linsep::{Error, Result};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Fit a classifier to a table and prove how good the fit is.
#[derive(Args)]
#[command(mut_arg("files", |files| files.required(false)), after_help = "\
Without further flags: logistic regression (softmax for more than two classes) on standardised
columns, or on sparse columns as they are, with the ridge penalty 1/Σs (Σs is the number of rows, or
their total weight), text columns as indicators, rows with missing cells dropped and counted.

Examples:
  linsep fit penguins.csv --target species -o model.json
  linsep fit penguins.csv --target species --model lda --cv 10
  linsep fit penguins.csv --target species --model naive-bayes --family gamma
  linsep fit penguins.csv --target species --model least-squares --penalty ridge:0.01
  linsep fit penguins.csv --target sex --drop year --penalty ridge:0.01 --positive female
  linsep fit penguins.csv --target sex --basis quadratic --basis-columns body_mass_g,bill_depth_mm
  linsep fit penguins.csv --formula 'sex ~ island * body_mass_g + ns(bill_depth_mm, 3)'
  linsep fit penguins.csv --target species --transform quantile-normal --model lda
  linsep fit penguins.csv --target sex --drop year --penalty lasso:cv
  linsep fit penguins.csv --target species --penalty none
  linsep fit penguins.csv --target sex --model pocket --max-iter 20
  linsep fit penguins.csv --target species --model svm --multiclass one-vs-one --vote unanimity
  linsep fit penguins.csv --target sex --costs female:male=5 --reject 0.3 -o careful.json
  linsep fit penguins.csv --target sex --model svm --calibrate platt -o svm.json
  linsep fit penguins.csv --target species --conformal 0.9 -o sets.json
  linsep fit --model given --plane 'x1=1,x2=-1,(intercept)=0.5' --classes no,yes -o plane.json")]
pub struct FitArguments {
    #[command(flatten)]
    pub input: InputArguments,

    /// Column to predict (for LIBSVM files: the label); several labels of two classes each as a,b,c
    #[arg(long, short, value_name = "COLUMN")]
    pub target: Option<String>,

    /// Where to write the model: .json or .json.zst; - is standard output, without the summary
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Cross-validate with K folds
    #[arg(long, value_name = "K")]
    cv: Option<usize>,

    /// Print one JSON object instead of the summary
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub columns: ColumnArguments,

    /// Weights of whole classes, multiplied into those of their rows: balanced, or CLASS=W pairs
    #[arg(long, value_name = "WEIGHTS", value_delimiter = ',', help_heading = "Columns")]
    class_weight: Vec<String>,

    #[command(flatten)]
    pub method: MethodArguments,

    /// Softmax with this class as reference, whose scores are zero (default of --softmax reference: the first); it comes first
    /// in the order of the classes
    #[arg(long, value_name = "CLASS", help_heading = "Method", conflicts_with = "positive")]
    reference_class: Option<String>,

    /// More than two classes: joint where the method can (the default), else a fit for every pair (the default of
    /// perceptrons) or for every class against the rest (svm, sigmoid-ls: linear-machine)
    #[arg(long, value_enum, value_name = "APPROACH", help_heading = "Method")]
    multiclass: Option<ApproachName>,

    #[command(flatten)]
    given: GivenArguments,

    #[command(flatten)]
    decision: DecisionArguments,

    #[command(flatten)]
    calibrate: CalibrateArguments,

    #[command(flatten)]
    conformal: ConformalArguments,

    /// Start at the coefficients of this model, which has the same columns and classes (a vector: of --model given); or at zero,
    /// or at random:R, weights per unit of the columns between −R and R by the seed
    #[arg(long, value_name = "MODEL|zero|random:R", help_heading = "Method")]
    init: Option<PathBuf>,

    /// Keep the sums over the rows in the model, so that update can add rows to it and take rows away (lda, qda, spherical,
    /// naive-bayes, least-squares)
    #[arg(long, help_heading = "Method")]
    keep_statistics: bool,

    /// Write every step of the solver to this CSV file: iteration, objective, gradient_norm, step and the coefficients (newton,
    /// lbfgs, gradient-descent, fixed-step, sgd, svrg); of --model perceptron every update: row, step, loss, the margin of the
    /// row before and after, ‖θ‖², θ·θ*/‖θ*‖ and the cosine with the widest plane θ*, θ
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    trace: Option<PathBuf>,

    /// Stop after this many seconds with what there is (exit code 3)
    #[arg(long, value_name = "SECONDS", help_heading = "Method")]
    pub time_limit: Option<f64>,

    /// Seed of everything random
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = "Method")]
    pub seed: u64,
}

/// What the flags ask for, as far as it is known before a table is read.
pub struct Asked {
    method: Method,
    recipe: RecipeOptions,
    class_weights: Option<ClassWeights>,
    calibration: Option<CalibrationOptions>,
    conformal: Option<ConformalOptions>,
    init: Option<Box<Model>>,
    random_start: Option<f64>,
}

impl FitArguments {
    /// What the flags ask for; wrong ones are refused here.
    pub fn asked(&self) -> Result<Asked> {
        self.asked_with(self.method.method(!self.columns.offset.is_empty(), self.seed)?)
    }

    /// The same of a method whose penalty has no size yet.
    pub fn asked_of_path(&self) -> Result<Asked> {
        self.asked_with(self.method.path_method(!self.columns.offset.is_empty(), "ridge")?)
    }

    fn asked_with(&self, method: Method) -> Result<Asked> {
        let asked = Asked {
            recipe: self.columns.recipe()?,
            class_weights: class_weights(&self.class_weight)?,
            calibration: self.calibrate.options()?,
            conformal: self.conformal.options()?,
            init: None,
            random_start: None,
            method,
        };
        self.decision.check()?;
        if self.reference_class.is_some() && !self.method.has_reference() {
            return Err(
                Error::usage("--reference-class is for softmax with a reference class").help("add --softmax reference")
            );
        }
        if self.decision.has_true_priors() && self.method.has_priors() {
            return Err(Error::usage("--priors and --true-priors both say how frequent the classes are")
                .help("give the true shares as --priors"));
        }
        if let Some(path) = &self.output {
            check_directory(path)?;
            self.input.refuse_as_output(path, &[self.init.as_deref(), self.decision.file(), self.method.file()])?;
            if self.json && path == Path::new("-") {
                return Err(
                    Error::usage("--json and -o - both want standard output").help("give the model a file name")
                );
            }
        }
        let (init, random_start) = match self.init.as_deref() {
            Some(path) => start(path, &asked.method)?,
            None => (None, None),
        };
        Ok(Asked { init, random_start, ..asked })
    }

    /// What is fitted to a table.
    pub fn options(&self, asked: &Asked, table: &Table, target: String) -> Result<FitOptions> {
        let mut options = options(self, asked.method.clone(), table, target)?;
        options.recipe = asked.recipe.clone();
        options.class_weights = asked.class_weights.clone();
        options.init = asked.init.clone();
        options.random_start = asked.random_start;
        options.calibration = asked.calibration;
        options.conformal = asked.conformal;
        options.settled()
    }
}

/// Runs the subcommand.
pub fn run(arguments: &FitArguments) -> Result<Ending> {
    let time_limit = arguments.time_limit.map(seconds).transpose()?;
    if arguments.method.is_given() {
        return given(arguments);
    }
    arguments.given.refuse()?;
    if arguments.input.files.is_empty() {
        return Err(Error::usage("no table is named").help("name a FILE, or - for standard input"));
    }
    if arguments.method.sized_by_folds() {
        if arguments.trace.is_some() {
            return Err(Error::usage("--trace is of one fit, and a size that folds choose has many")
                .help("give the size that they chose"));
        }
        return tune::fit_by_folds(arguments);
    }
    let asked = arguments.asked()?;
    let trace = arguments.trace.as_deref().map(Trace::new).transpose()?;
    if let Some(path) = &arguments.trace {
        arguments.input.refuse_as_output(path, &[arguments.init.as_deref(), arguments.output.as_deref()])?;
    }
    let progress = Progress::new(arguments.input.quiet, time_limit);
    let since = Instant::now();
    let table = arguments.input.read_labelled(arguments.target.as_deref(), &progress)?;
    let storage = arguments.input.reading.has_limit().then(|| Storage::of(&table, since));
    let options = |target: String| arguments.options(&asked, &table, target);
    if let Some(targets) = labels::targets(arguments.target.as_deref(), &table) {
        if trace.is_some() {
            return Err(
                Error::usage("--trace is of one fit, and several labels have several").help("name one --target")
            );
        }
        let options = targets.into_iter().map(options).collect::<Result<Vec<FitOptions>>>()?;
        let fits = fit_labels(&table, &options, &progress.watch());
        progress.finish();
        return finish_labels(arguments, fits?, &options);
    }
    let options = options(arguments.columns.target(arguments.target.as_deref(), &table)?)?;
    let questions = Questions::of(&table, &options.target, |column| arguments.columns.uses(column));
    let watch = match &trace {
        Some(trace) => trace.followed(progress.watch()),
        None => progress.watch(),
    };
    let fit = fit_table(table, &options, &watch);
    progress.finish();
    let fit = fit?;
    if let Some(trace) = &trace {
        trace.write(&fit)?;
    }
    finish_asking(arguments, fit, &questions, (progress.elapsed(), storage.as_ref()))
}

/// A rule that is stated: no table is read.
fn given(arguments: &FitArguments) -> Result<Ending> {
    if let Some(file) = arguments.input.files.first() {
        return Err(Error::usage(format!("--model given learns from no table, and `{file}` is named"))
            .help("leave it out; evaluate and geometry take the model and a table"));
    }
    if arguments.columns.formula()?.is_some() {
        return Err(Error::usage("--model given learns from no table, and --formula is given").help("leave it out"));
    }
    // What a flag of another method would do is nothing; say so instead.
    arguments.method.check_flags(!arguments.columns.offset.is_empty())?;
    let settings = arguments.given.settings(arguments.method.file())?;
    let decision = arguments.decision.decision(&settings.classes)?.unwrap_or_default();
    let model = given_model(settings, arguments.target.as_deref().unwrap_or("class"), decision)?;
    if let Some(path) = &arguments.output {
        check_directory(path)?;
        arguments.input.refuse_as_output(path, &[arguments.method.file(), arguments.decision.file()])?;
    }
    finish(arguments, TableFit::Model(Box::new(model)))
}

/// Writes what came of the fits of several labels; one without a model is the answer.
fn finish_labels(arguments: &FitArguments, fits: Vec<TableFit>, options: &[FitOptions]) -> Result<Ending> {
    let mut models = Vec::with_capacity(fits.len());
    for (fit, options) in fits.into_iter().zip(options) {
        match fit {
            TableFit::Model(model) => models.push(*model),
            other => {
                let _ = writeln!(std::io::stderr(), "label `{}`:", options.target);
                return finish(arguments, other);
            }
        }
    }
    labels::finish(MultiLabel { models }, arguments.output.as_deref(), arguments.json)
}

/// Writes the model, where there is one and a file to write it to, and says nothing.
pub fn write(arguments: &FitArguments, fit: &TableFit) -> Result<Ending> {
    let TableFit::Model(model) = fit else { return Ok(Ending::No) };
    arguments.output.as_ref().map_or(Ok(()), |path| model.save(path))?;
    Ok(if model.outcome == Outcome::Converged { Ending::Done } else { Ending::NotConverged })
}

/// Writes what came of the fit, and says it.
pub fn finish(arguments: &FitArguments, fit: TableFit) -> Result<Ending> {
    finish_asking(arguments, fit, &Questions::none(), (None, None))
}

/// The same, with questions about the columns, the time that it took, and where their cells were.
fn finish_asking(
    arguments: &FitArguments,
    fit: TableFit,
    questions: &Questions,
    (elapsed, storage): (Option<String>, Option<&Storage>),
) -> Result<Ending> {
    match fit {
        TableFit::Model(model) => {
            let ending = if model.outcome == Outcome::Converged { Ending::Done } else { Ending::NotConverged };
            match &arguments.output {
                Some(path) if path == Path::new("-") => return print(&model.to_json()?, ending),
                Some(path) => model.save(path)?,
                None => {}
            }
            if arguments.json {
                let mut said = inspect_json(&model, &voice::Command)?;
                if let (Some(questions), Some(object)) = (questions.json(), said.as_object_mut()) {
                    object.insert("questions".to_owned(), questions);
                }
                if let (Some(storage), Some(object)) = (storage, said.as_object_mut()) {
                    object.extend(storage.json(&model).into_iter().map(|(name, value)| (name.to_owned(), value)));
                }
                return print_json(&said, ending);
            }
            let after = elapsed.map(|time| format!(" after {time}")).unwrap_or_default();
            let stored = storage.map_or(String::new(), Storage::text);
            let written = match &arguments.output {
                Some(path) => format!("\nmodel written to {}{after}\n", path.display()),
                None => format!("\nno model was written{after}: add -o model.json to keep it\n"),
            };
            let summary = match arguments.method.says_of_columns(&model) {
                Some(columns) => fit_summary_on_columns(&model, columns, &voice::Command),
                None => fit_summary(&model, &voice::Command),
            };
            print(&format!("{summary}{}{stored}{written}", questions.text()), ending)
        }
        TableFit::Refused(refusal) => {
            if arguments.json {
                return print_json(&refusal_json(&refusal), Ending::No);
            }
            let part = refusal.part().map_or(String::new(), |part| format!("{part}:\n"));
            let mut text = format!("{part}{}", refusal_text(&refusal, &voice::Command));
            if arguments.method.has_penalty_factors() && matches!(refusal, TableRefusal::NoOptimum { .. }) {
                text.push_str("  Columns of penalty factor 0 have none: give those above a factor above 0.\n");
            }
            say_no(arguments, &text)
        }
    }
}

/// An answer instead of a model.
fn say_no(arguments: &FitArguments, text: &str) -> Result<Ending> {
    if arguments.output.as_deref() == Some(Path::new("-")) {
        // Standard output is for the model, and there is none.
        let _ = write!(std::io::stderr(), "{text}");
        return Ok(Ending::No);
    }
    print(text, Ending::No)
}

fn options(arguments: &FitArguments, method: Method, table: &Table, target: String) -> Result<FitOptions> {
    let positive = arguments.columns.positive.as_deref();
    let method = arguments.method.with_classes(method, table, &target, positive)?;
    let mut classes = class_names(table, &target, positive)?;
    if let Some(reference) = &arguments.reference_class {
        let Some(at) = classes.iter().position(|c| c == reference) else {
            return Err(Error::usage(format!("there is no class `{reference}`"))
                .help(format!("the classes are: {}", classes.join(", "))));
        };
        classes[..=at].rotate_right(1);
    }
    let decision = arguments.decision.decision(&classes)?;
    let mut options = FitOptions::new(target, method);
    arguments.columns.roles(&mut options);
    options.reference.clone_from(&arguments.reference_class);
    options.decision = decision.unwrap_or_default();
    options.multiclass = arguments.decision.multiclass(arguments.multiclass);
    options.true_priors = arguments.decision.true_priors(&classes)?;
    options.folds = arguments.cv;
    options.seed = arguments.seed;
    options.keep_statistics = arguments.keep_statistics;
    Ok(options)
}

/// `balanced`, or `class=weight` pairs.
pub fn class_weights(texts: &[String]) -> Result<Option<ClassWeights>> {
    if texts.is_empty() {
        return Ok(None);
    }
    if let [one] = texts
        && one == "balanced"
    {
        return Ok(Some(ClassWeights::Balanced));
    }
    let pair = |text: &String| {
        let parsed = text.rsplit_once('=').and_then(|(class, w)| Some((class.to_owned(), w.parse::<f64>().ok()?)));
        parsed.ok_or_else(|| {
            Error::usage(format!("`{text}` is not a class weight")).help("write --class-weight balanced, or a=1,b=5")
        })
    };
    Ok(Some(ClassWeights::Given(texts.iter().map(pair).collect::<Result<_>>()?)))
}

/// The model or the range to start from, refused before the table is read where the method has no use for it.
fn start(path: &Path, method: &Method) -> Result<(Option<Box<Model>>, Option<f64>)> {
    if !method.takes_start() {
        return Err(Error::usage(format!("--init does not belong to --model {}", method.name()))
            .help("leave it out")
            .help("choose --model logistic"));
    }
    let text = path.to_str().unwrap_or_default();
    match text.strip_prefix("random:").map(str::parse::<f64>) {
        Some(Ok(range)) => Ok((None, Some(range))),
        Some(Err(_)) => Err(Error::usage(format!("--init {text}: there is no number after random:"))
            .help("for example --init random:0.01")),
        None if text == "zero" => Ok((None, Some(0.0))),
        None => Ok((Some(Model::load(path).map(Box::new)?), None)),
    }
}

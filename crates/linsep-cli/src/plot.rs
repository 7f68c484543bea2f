//! `linsep plot`.

use crate::exit::Ending;
use crate::input::{InputArguments, load_model};
use crate::output::{check_directory, print, print_json};
use crate::progress::Progress;
use clap::{Args, ValueEnum};
use linsep::artifact::{Model, write_atomic};
use linsep::read::Expected;
use linsep::{Error, Result};
use linsep_plot::{Format, Kind, Look, PlaneChoice, Request, Theme};
use std::path::{Path, PathBuf};

/// Draw a picture of a table or a model.
#[derive(Args)]
#[command(mut_arg("files", |files| files.required(false).help(
    "Models (files that end in .json) and tables, in any order; a table is read as by fit, and may be several files")),
    after_help = "\
The ending of the output says what is written: .svg, .png or .pdf; --width is in pixels. With more than two columns a
model is drawn in a plane: of w and the direction across it in which rows vary the most (two classes, linear), of the two
leading discriminant directions (several classes, linear), or in a slice through two columns. The caption says which,
and what of it is exact.

Examples:
  linsep plot --list
  linsep plot scatter penguins.csv --target species -o rows.svg
  linsep fit penguins.csv --target species -o model.json
  linsep plot regions model.json penguins.csv -o regions.svg
  linsep plot boundary model.json penguins.csv --x bill_length_mm --y bill_depth_mm -o slice.png
  linsep plot losses -o losses.pdf --theme dark")]
pub struct PlotArguments {
    /// What to draw; --list has them all
    #[arg(value_name = "KIND", required_unless_present = "list")]
    kind: Option<String>,

    #[command(flatten)]
    input: InputArguments,

    /// Where to write; the ending is .svg, .png or .pdf
    #[arg(long, short, value_name = "FILE", required_unless_present_any = ["list", "json"])]
    output: Option<PathBuf>,

    /// Column of the classes, where no model says it
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,

    /// Column of the horizontal axis
    #[arg(long, value_name = "COLUMN")]
    x: Option<String>,

    /// Column of the vertical axis
    #[arg(long, value_name = "COLUMN")]
    y: Option<String>,

    /// The plane of a model of more than two columns (default: what suits the model)
    #[arg(long, value_enum, value_name = "PLANE")]
    plane: Option<PlaneName>,

    /// Hold other columns of a slice at these values instead of their means: COLUMN=VALUE
    #[arg(long, value_name = "COLUMN=VALUE", value_delimiter = ',')]
    at: Vec<String>,

    /// Add to a picture: levels or distances (boundary), distances or balls (margin), densities (curve), relu or probability
    /// (losses), seconds (convergence)
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    show: Vec<String>,

    /// Of boundary: project this row, counted from 1, and draw its distance
    #[arg(long, value_name = "N")]
    row: Option<usize>,

    /// Of estimates: what is believed of a mean before rows are seen, as its mean and standard deviation
    #[arg(long, value_name = "MEAN,SD", allow_hyphen_values = true)]
    prior: Option<String>,

    /// Draw several models in a panel each
    #[arg(long)]
    panels: bool,

    /// Colours of the page
    #[arg(long, value_enum, value_name = "THEME", default_value = "light")]
    theme: ThemeName,

    /// Width in pixels, 240 to 4000; the height follows
    #[arg(long, value_name = "PX", default_value_t = 720.0)]
    width: f64,

    /// List the kinds of pictures with what each is drawn from
    #[arg(long, exclusive = true)]
    list: bool,

    /// Print one JSON object: kind, marks with their points and labels, axes and caption
    #[arg(long)]
    json: bool,
}

/// Planes by name.
#[derive(Clone, Copy, ValueEnum)]
enum PlaneName {
    /// Through two columns, the others at their means
    Slice,
    /// Of the normal of two classes and the direction across it in which rows vary the most
    Normal,
    /// Of the two leading discriminant directions of several classes
    Discriminant,
}

/// Pages by name.
#[derive(Clone, Copy, ValueEnum)]
enum ThemeName {
    /// Dark on white
    Light,
    /// Light on black
    Dark,
}

/// Runs the subcommand.
pub fn run(arguments: &PlotArguments) -> Result<Ending> {
    let Some(kind) = arguments.kind.as_deref().filter(|_| !arguments.list) else {
        return print(&listed(), Ending::Done);
    };
    let kind = Kind::named(kind)?;
    let look = Look {
        width: arguments.width,
        theme: match arguments.theme {
            ThemeName::Light => Theme::Light,
            ThemeName::Dark => Theme::Dark,
        },
    };
    look.check()?;
    // Whatever is wrong with the output is said before anything is read.
    let format = arguments.output.as_deref().map(Format::of).transpose()?;
    let (models, tables): (Vec<&String>, Vec<&String>) = arguments.input.files.iter().partition(|f| is_model(f));
    let input = InputArguments { files: tables.into_iter().cloned().collect(), ..arguments.input.clone() };
    if let Some(output) = &arguments.output {
        check_directory(output)?;
        let others: Vec<Option<&Path>> = models.iter().map(|m| Some(Path::new(m.as_str()))).collect();
        input.refuse_as_output(output, &others)?;
    }
    let progress = Progress::new(arguments.input.quiet, None);
    let request = request(arguments, &models, &input, &progress)?;
    let picture = kind.picture(&request, &progress.watch())?;
    progress.finish();
    if let (Some(output), Some(format)) = (&arguments.output, format) {
        let bytes = picture.encoded(format, &look)?;
        write_atomic(output, |file| file.write_all(&bytes))?;
    }
    match arguments.json {
        true => print_json(&picture.json(), Ending::Done),
        false => Ok(Ending::Done),
    }
}

/// Models are told from tables by their name: `.json`, also behind a path.
fn is_model(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|e| e.eq_ignore_ascii_case("json"))
}

fn request(
    arguments: &PlotArguments,
    models: &[&String],
    input: &InputArguments,
    progress: &Progress,
) -> Result<Request> {
    let names: Vec<String> = models.iter().map(|m| stem(m)).collect();
    let models = models.iter().map(|m| load_model(Path::new(m.as_str()))).collect::<Result<Vec<Model>>>()?;
    if let (Some(model), Some(target)) = (models.first(), &arguments.target)
        && model.target != *target
    {
        return Err(Error::usage(format!("the model predicts `{}`, not `{target}`", model.target))
            .help("leave --target out: the model knows it"));
    }
    let mut expected: Vec<(String, Expected)> = Vec::new();
    for column in models.iter().flat_map(Model::expected) {
        if !expected.iter().any(|(name, _)| *name == column.0) {
            expected.push(column);
        }
    }
    let table = match input.files.is_empty() {
        true => None,
        false => {
            let reading = models.first().map(|m| m.reading.clone()).unwrap_or_default();
            Some(input.read_as(expected, reading, progress)?)
        }
    };
    let at = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Error::usage(format!("`{text}` does not hold a column at a value")).help("write --at COLUMN=VALUE")
        })?;
        Ok((name.to_owned(), value.to_owned()))
    };
    Ok(Request {
        model_names: names,
        models,
        table,
        target: arguments.target.clone(),
        x: arguments.x.clone(),
        y: arguments.y.clone(),
        plane: arguments.plane.map(|plane| match plane {
            PlaneName::Slice => PlaneChoice::Slice,
            PlaneName::Normal => PlaneChoice::Normal,
            PlaneName::Discriminant => PlaneChoice::Discriminant,
        }),
        at: arguments.at.iter().map(at).collect::<Result<_>>()?,
        show: arguments.show.clone(),
        row: arguments.row,
        prior: arguments.prior.as_deref().map(prior).transpose()?,
        panels: arguments.panels,
    })
}

/// `44,5`: mean and standard deviation.
fn prior(text: &str) -> Result<(f64, f64)> {
    let number = |part: &str| part.trim().parse::<f64>().ok().filter(|v| v.is_finite());
    text.split_once(',').and_then(|(mean, sd)| Some((number(mean)?, number(sd)?))).ok_or_else(|| {
        Error::usage(format!("`{text}` is not a mean and a standard deviation"))
            .help("write --prior MEAN,SD, as in 44,5")
    })
}

/// The name of a file without directory and ending.
fn stem(file: &str) -> String {
    Path::new(file).file_stem().map_or_else(|| file.to_owned(), |s| s.to_string_lossy().into_owned())
}

/// The kinds in two columns.
fn listed() -> String {
    let usage = |kind: &Kind| format!("{} {}", kind.name(), kind.takes()).trim_end().to_owned();
    let width = Kind::ALL.iter().map(|k| usage(k).chars().count()).max().unwrap_or(0);
    let line = |kind: &Kind| {
        let usage = usage(kind);
        let gap = " ".repeat(width - usage.chars().count() + 2);
        format!("  {usage}{gap}{}\n", kind.about())
    };
    Kind::ALL.iter().map(line).collect()
}

//! `linsep report`.

mod about;
mod groups;
mod page;
mod rows;

use crate::exit::Ending;
use crate::input::{InputArguments, load_model};
use crate::output::{check_directory, print};
use crate::progress::Progress;
use clap::Args;
use linsep::artifact::{Model, write_atomic};
use linsep::report::{guarantee_text, tuning_text};
use linsep::table::Table;
use linsep::watch::Watch;
use linsep::workflow::guarantee_table;
use linsep::{Error, Result};
use linsep_plot::{Kind, Look, Request, Theme};
use page::{Block, Page, Section};
use std::path::{Path, PathBuf};

/// Probability with which the bounds of a report may fail: that of `linsep guarantee` and of the intervals.
const DELTA: f64 = 0.05;
/// Width of the pictures in pixels: the text column of the page holds it.
const WIDTH: f64 = 720.0;

/// Tell the whole story of a model in one file to hand over.
#[derive(Args)]
#[command(after_help = "\
The ending of the output says what is written: .html, one file that asks nothing of the network and needs no scripts, or .md,
the same in words with the commands that draw the pictures. FILE is the table that the model was fitted on; with --test the
figures, pictures and rows are those of rows that the fit has not seen.

Examples:
  linsep fit penguins.csv --target sex --drop year -o model.json
  linsep report model.json penguins.csv --by island -o report.html
  linsep report model.json penguins.csv -o report.md")]
pub struct ReportArguments {
    /// The model file; - is standard input
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    input: InputArguments,

    /// Where to write: .html or .md
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,

    /// Rows that were kept apart from the fit
    #[arg(long, value_name = "FILE")]
    test: Option<String>,

    /// Figures by the groups of this column, with intervals
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
}

/// What the sections are made of.
struct Story<'s> {
    model: &'s Model,
    /// The table of the fit.
    training: &'s Table,
    /// The rows that figures and pictures are of.
    judged: &'s Table,
    /// Whether those were kept apart.
    apart: bool,
    /// Model, table and test table as words of a command.
    words: [String; 3],
    watch: &'s Watch,
}

/// Runs the subcommand.
pub fn run(arguments: &ReportArguments) -> Result<Ending> {
    let html = match arguments.output.extension().and_then(|e| e.to_str()) {
        Some(e) if e.eq_ignore_ascii_case("html") || e.eq_ignore_ascii_case("htm") => true,
        Some(e) if e.eq_ignore_ascii_case("md") => false,
        _ => {
            return Err(Error::usage(format!("`{}` ends neither in .html nor in .md", arguments.output.display()))
                .help("for example -o report.html"));
        }
    };
    check_directory(&arguments.output)?;
    let others = [Some(arguments.model.as_path()), arguments.test.as_deref().map(Path::new)];
    arguments.input.refuse_as_output(&arguments.output, &others)?;
    let model = load_model(&arguments.model)?;
    let progress = Progress::new(arguments.input.quiet, None);
    let training = arguments.input.read(Some(&model), &progress)?;
    let read =
        |file: &String| arguments.input.read_other(Path::new(file), model.expected(), model.reading.clone(), &progress);
    let test = arguments.test.as_ref().map(read).transpose()?;
    let watch = progress.watch();
    let quoted =
        |text: &str| match text.chars().all(|c| c.is_alphanumeric() || "._-/+=:,".contains(c)) && !text.is_empty() {
            true => text.to_owned(),
            false => format!("'{}'", text.replace('\'', "'\\''")),
        };
    let files: Vec<String> = arguments.input.files.iter().map(|f| quoted(f)).collect();
    let name = quoted(&arguments.model.display().to_string());
    let judged_files = arguments.test.as_deref().map_or_else(|| files.join(" "), quoted);
    let story = Story {
        model: &model,
        training: &training,
        judged: test.as_ref().unwrap_or(&training),
        apart: test.is_some(),
        words: [name, files.join(" "), judged_files],
        watch: &watch,
    };
    let page = page(&story, arguments.by.as_deref())?;
    progress.finish();
    let text = if html { page.html() } else { page.markdown() };
    write_atomic(&arguments.output, |file| file.write_all(text.as_bytes()))?;
    print(&format!("report written to {}\n", arguments.output.display()), Ending::Done)
}

fn page(story: &Story<'_>, by: Option<&str>) -> Result<Page> {
    let (headline, fitted) = about::fitted(story)?;
    let mut sections = vec![fitted, about::certificate(story)?, about::data(story), about::coefficients(story)?];
    sections.push(rows::performance(story)?);
    sections.push(pictures(story)?);
    sections.extend(search(story));
    sections.extend(rows::of_interest(story)?);
    sections.push(guarantees(story));
    sections.extend(by.map(|column| groups::fairness(story, column)).transpose()?);
    sections.push(about::provenance(story));
    Ok(Page { title: format!("Predicting {}", story.model.target), subtitle: headline, sections })
}

/// What can be drawn of the model, and why the rest cannot.
fn pictures(story: &Story<'_>) -> Result<Section> {
    let request = |table: bool| Request {
        models: vec![story.model.clone()],
        model_names: vec!["model".to_owned()],
        table: table.then(|| story.judged.clone()),
        ..Request::default()
    };
    let (with_rows, alone) = (request(true), request(false));
    let (mut blocks, mut missing) = (Vec::new(), Vec::new());
    let kinds = [Kind::Regions, Kind::Coefficients, Kind::Roc, Kind::Calibration, Kind::Confusion];
    for kind in kinds {
        let [model, _, rows] = &story.words;
        let mut command = format!("linsep plot {} {model} {rows} -o {}.svg", kind.name(), kind.name());
        let mut drawn = kind.picture(&with_rows, story.watch);
        if kind == Kind::Coefficients && drawn.is_err() {
            // Without rows there are weights, if no intervals.
            drawn = kind.picture(&alone, story.watch);
            command = format!("linsep plot {} {model} -o {}.svg", kind.name(), kind.name());
        }
        match drawn {
            Ok(picture) => {
                let svg = |theme: Theme| picture.svg(&Look { width: WIDTH, theme });
                let caption = caption(kind).to_owned();
                blocks.push(Block::Picture { light: svg(Theme::Light), dark: svg(Theme::Dark), caption, command });
            }
            Err(error) if error.kind() == linsep::ErrorKind::Interrupted => return Err(error),
            Err(error) => missing.push((kind.name().to_owned(), error.said(&crate::voice::Command).what)),
        }
    }
    if !missing.is_empty() {
        blocks.push(Block::Paragraph("Not drawn:".to_owned()));
        blocks.push(Block::Facts(missing));
    }
    Ok(Section { title: "Pictures".to_owned(), blocks })
}

fn caption(kind: Kind) -> &'static str {
    match kind {
        Kind::Regions => "The decision at every point, with the rows; mistakes are ringed.",
        Kind::Coefficients => {
            "Weights for a standard deviation of each column, with intervals where inference is valid."
        }
        Kind::Roc => "True against false positives over all thresholds.",
        Kind::Calibration => "Predicted probabilities against the shares that came.",
        Kind::Confusion => "True classes against decided ones.",
        _ => kind.about(),
    }
}

/// The search that chose the settings.
fn search(story: &Story<'_>) -> Option<Section> {
    let record = story.model.tuning.as_ref()?;
    let text = tuning_text(record, &[], &crate::voice::Command);
    Some(Section { title: "The search over settings".to_owned(), blocks: vec![Block::Aligned(text)] })
}

/// What is proved of rows to come.
fn guarantees(story: &Story<'_>) -> Section {
    let [model, _, rows] = &story.words;
    let blocks = match guarantee_table(story.model, story.judged, DELTA, None, None, story.watch) {
        Ok(found) if story.apart => vec![
            Block::Aligned(guarantee_text(&found)),
            Block::Commands(vec![format!("linsep guarantee {model} {rows}")]),
        ],
        Ok(_) => vec![Block::Paragraph(
            "These rows are not said to have been kept apart from the fit. A bound on the error of new rows needs some that were: \
             name them with --test."
                .to_owned(),
        )],
        Err(error) => {
            let said = error.said(&crate::voice::Command);
            vec![Block::Paragraph(format!("None: {}. A bound needs rows that were kept apart from the fit (--test).", said.what))]
        }
    };
    Section { title: "Guarantees".to_owned(), blocks }
}

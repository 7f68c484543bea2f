//! `linsep geometry`.

use crate::exit::Ending;
use crate::input::{InputArguments, load_model};
use crate::output::{check_directory, print, print_json};
use crate::predict::UnknownName;
use crate::predict::kept;
use crate::progress::Progress;
use crate::sheet::{Sheet, SheetFormat};
use crate::voice;
use clap::Args;
use linsep::artifact::Model;
use linsep::geometry::Geometry;
use linsep::report::{
    Window, decision_note, geometry_json, geometry_text, measured_text, regions_json, regions_text, window_json,
    window_text,
};
use linsep::table::Table;
use linsep::workflow::{GeometryOptions, TableGeometry, geometry_of, geometry_table};
use linsep::{Error, Result};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Show the boundaries of a model, or measure the rows of a table beside them.
#[derive(Args)]
#[command(mut_arg("files", |files| files.required(false)), after_help = "\
Without FILE: for every pair of classes the unit normal and a point of the boundary, or the type of its quadric. With
FILE, one CSV row per input row:
  prediction  the class, as predict has it; empty where the decision rejects the row
  boundary    the class across the nearest boundary
  distance    to that boundary; of two classes negative on the side of the first
  radius      no smaller change of the columns changes the prediction; inf where none does
  margin      signed distance to the boundaries of the true class, where the table has the target
Boundaries are where the decision of the model changes, a rejection left aside: a threshold or costs move that of two
classes. With costs of more classes they are those of the largest score. Of two-class fits that vote they are the planes
of the fits, and the radius is a lower bound.
All lengths are Euclidean, in the units of the matrix columns (the input columns; text as indicators).

Examples:
  linsep geometry model.json
  linsep geometry model.json --regions --json
  linsep geometry model.json penguins.csv --keep species -o distances.csv")]
pub struct GeometryArguments {
    /// The model file; - is standard input
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    #[command(flatten)]
    input: InputArguments,

    /// Add columns proj_<feature>: the nearest point of the nearest boundary
    #[arg(long, requires = "files")]
    projection: bool,

    /// Add a column functional_margin: y·g, with more classes the smallest g_y − g_j
    #[arg(long, requires = "files")]
    functional: bool,

    /// Add columns r2_<class>: the squared Mahalanobis distance to each class (lda, qda, spherical)
    #[arg(long, requires = "files")]
    mahalanobis: bool,

    /// Copy these input columns in front
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', requires = "files")]
    keep: Vec<String>,

    /// What to do with a level that was not seen in training (default: as the model was fitted)
    #[arg(long, value_enum, value_name = "POLICY", requires = "files")]
    unknown: Option<UnknownName>,

    /// Where to write the CSV; the margin of the table and its neighbouring classes are then printed. - is standard
    /// output, where the CSV goes unless told otherwise
    #[arg(long, short, value_name = "FILE", requires = "files")]
    output: Option<String>,

    /// Show the region of every class of a linear model as inequalities A x ≥ b
    #[arg(long, conflicts_with = "files")]
    regions: bool,

    /// Of a linear model of two columns: where boundaries enter and leave this window, as x1=0:10,x2=-5:5
    #[arg(long, value_name = "COLUMN=A:B,…", value_delimiter = ',', conflicts_with = "files")]
    window: Option<Vec<String>>,

    /// Print one JSON object: boundaries, regions and, with FILE, the margin of the table
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &GeometryArguments) -> Result<Ending> {
    let model = load_model(&arguments.model)?;
    let progress = Progress::new(arguments.input.quiet, None);
    if arguments.input.files.is_empty() {
        let geometry = geometry_of(&model, &progress.watch())?;
        let window = arguments.window.as_deref().map(window).transpose()?;
        if arguments.json {
            let mut value = geometry_json(&model, &geometry, None);
            if arguments.regions {
                value["inequalities"] = regions_json(&model)?;
            }
            if let Some(window) = &window {
                value["window"] = window_json(&model, window)?;
            }
            return print_json(&value, Ending::Done);
        }
        let mut text = geometry_text(&model, &geometry, &voice::Command);
        if arguments.regions {
            text.push_str(&regions_text(&model)?);
        }
        if let Some(window) = &window {
            text.push_str(&window_text(&model, window)?);
        }
        return print(&text, Ending::Done);
    }
    if arguments.json && arguments.output.as_deref() == Some("-") {
        return Err(Error::usage("--json and -o - both want standard output")
            .help("give -o a file")
            .help("leave one out"));
    }
    if let Some(output) = &arguments.output {
        check_directory(Path::new(output))?;
        arguments.input.refuse_as_output(Path::new(output), &[Some(&arguments.model)])?;
        SheetFormat::of(output)?;
    }
    let table = arguments.input.read(Some(&model), &progress)?;
    let keep = kept(&arguments.keep, &table)?;
    let geometry = geometry_of(&model, &progress.watch())?;
    let options = GeometryOptions {
        unknown: arguments.unknown.map(Into::into),
        projection: arguments.projection,
        mahalanobis: arguments.mahalanobis,
    };
    let data = geometry_table(&model, &geometry, &table, &options, &progress.watch())?;
    progress.finish();
    let to_file = arguments.output.as_deref().filter(|output| *output != "-");
    if to_file.is_some() || !arguments.json {
        if arguments.functional && !data.labelled {
            return Err(Error::usage("a functional margin needs the class of every row")
                .help(format!("the table has no column `{}`", model.target)));
        }
        let what = Written { keep: &keep, functional: arguments.functional };
        let ending = write(&model, &geometry, &table, &data, &what, to_file.unwrap_or("-"))?;
        if to_file.is_none() {
            if model.parts.is_empty() && model.cuts().is_none() && !arguments.input.quiet {
                // The table has no room for it, and it would be read wrongly without.
                decision_note(&model).into_iter().for_each(|note| drop(writeln!(std::io::stderr(), "note: {note}")));
            }
            return Ok(ending);
        }
    }
    match arguments.json {
        true => print_json(&geometry_json(&model, &geometry, Some((&table, &data))), Ending::Done),
        false => print(&measured_text(&model, &table, &data), Ending::Done),
    }
}

/// `x1=0:10` and `x2=-5:5`.
fn window(texts: &[String]) -> Result<Window> {
    let one = |text: &String| {
        let (name, ends) = text.rsplit_once('=')?;
        let (low, high) = ends.split_once(':')?;
        Some((name.to_owned(), low.trim().parse().ok()?, high.trim().parse().ok()?))
    };
    match texts.iter().map(one).collect::<Option<Vec<_>>>().and_then(|columns| columns.try_into().ok()) {
        Some(columns) => Ok(Window { columns }),
        None => Err(Error::usage(format!("`{}` is not a window", texts.join(",")))
            .help("name two columns with their ends: --window x1=0:10,x2=-5:5")),
    }
}

/// What is written of every row beside the usual.
struct Written<'a> {
    keep: &'a [usize],
    functional: bool,
}

fn write(
    model: &Model,
    geometry: &Geometry,
    table: &Table,
    data: &TableGeometry,
    what: &Written<'_>,
    output: &str,
) -> Result<Ending> {
    let classes = &model.classes;
    let columns = geometry.n_cols();
    let feature_space = geometry.is_of_feature_space();
    let mut header: Vec<String> = match feature_space {
        true => ["prediction", "boundary", "feature_distance"].map(str::to_owned).to_vec(),
        false => ["prediction", "boundary", "distance", "radius"].map(str::to_owned).to_vec(),
    };
    if data.labelled {
        header.push(if feature_space { "feature_margin".into() } else { "margin".into() });
    }
    if what.functional {
        header.push("functional_margin".into());
    }
    if data.mahalanobis.is_some() {
        header.extend(classes.iter().map(|c| format!("r2_{c}")));
    }
    if data.measured.projections.is_some() {
        let feature = model.recipe.namer();
        header.extend((0..columns).map(|j| format!("proj_{}", feature(j))));
    }
    let sheet = Sheet { table, keep: what.keep, header, rows: &data.rows };
    sheet.write(output, |i, line| {
        let row = &data.measured.rows[i];
        line.text(data.predictions[i].map_or("", |k| &classes[k.index()]));
        line.text(row.nearest.map_or("", |k| &classes[k.index()]));
        // What rounding leaves open is left empty.
        let known = |length: f64| Some(length).filter(|l| !l.is_nan());
        line.optional(known(row.distance));
        if !feature_space {
            line.optional(known(row.radius));
        }
        if data.labelled {
            line.optional(row.margin.and_then(known));
        }
        if what.functional {
            line.optional(row.functional_margin);
        }
        if let Some(distances) = &data.mahalanobis {
            distances[i * classes.len()..(i + 1) * classes.len()].iter().for_each(|r| line.number(*r));
        }
        if let Some(points) = &data.measured.projections {
            // Where there is no boundary there is no point of it.
            let point = points[i * columns..(i + 1) * columns].iter();
            point.for_each(|x| line.optional(Some(*x).filter(|x| !x.is_nan())));
        }
    })
}

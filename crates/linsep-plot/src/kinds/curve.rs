//! The probability, or the score, along one column.

use super::{Kind, Request};
use crate::caption::model_caption;
use crate::scene::{Axis, Colour, Key, Mark, Panel, Picture, Point, Symbol, number_text};
use crate::subject::{class_label, classes_of, number_column, thinned};
use linsep::artifact::Model;
use linsep::design::Encoding;
use linsep::infer::BandKind;
use linsep::read::{ReadOptions, read_bytes};
use linsep::table::Table;
use linsep::watch::Watch;
use linsep::workflow::{InferOptions, infer_table, inference_of_model, predict_table};
use linsep::{Error, Result};

/// Points along a curve.
const STEPS: usize = 240;
/// Room on either side of the rows, as a share of their range: the curve is seen to level off.
const ROOM: f64 = 0.12;

pub(super) fn picture(request: &Request, watch: &Watch) -> Result<Picture> {
    let model = request.model(Kind::Curve)?;
    let table = request.table(Kind::Curve)?;
    let column = only_column(model)?;
    let classes = classes_of(table, &model.target, &model.classes)?;
    let values = number_column(table, &column)?;
    let rows: Vec<(f64, Option<usize>)> = (0..table.n_rows())
        .map(|r| (table.number(r, values), classes.as_ref().and_then(|c| c[r])))
        .filter(|(v, _)| v.is_finite())
        .collect();
    let (low, high) = rows.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), (v, _)| (l.min(*v), h.max(*v)));
    if !(high > low) {
        return Err(Error::data(format!("`{column}` has one value only: there is no curve to draw")));
    }
    let (low, high) = (low - ROOM * (high - low), high + ROOM * (high - low));
    let grid = grid(&column, low, high)?;
    let found = predict_table(model, &grid, None, watch)?;
    let x = |k: usize| grid.number(k, 0);
    let sure = model.has_probabilities();
    let heights: Vec<f64> = match sure {
        true => found.probabilities().chunks_exact(2).map(|p| p[1]).collect(),
        false => found.scores.clone(),
    };
    let ends = if sure { [0.0, 1.0] } else { [-1.0, 1.0] };
    let label = match sure {
        true => format!("probability of {} = {}", model.target, model.classes[1]),
        false => format!("score of {} = {}", model.target, model.classes[1]),
    };
    let y = match sure {
        true => Axis::new(label, (-0.08, 1.08)),
        false => Axis::around(label, heights.iter().copied().chain(ends)),
    };
    let mut panel = Panel::new(Axis::new(&column, (low, high)), y);
    panel.aspect = 0.55;
    let mut picture = Picture::new(Kind::Curve.name(), format!("{} against {column}", model.target), panel);
    let band = add_band(&mut picture, model, table, &grid, watch);
    let curve: Vec<Point> = (0..grid.n_rows()).map(|k| [x(k), heights[k]]).collect();
    let mark = Mark::line(curve).width(1.9).label(if sure { "probability" } else { "score" });
    picture.keys.push(Key::new(if sure { "fitted probability" } else { "fitted score g(x)" }, mark.clone()));
    picture.panels[0].marks.push(mark);
    let changes: Vec<usize> = (1..grid.n_rows()).filter(|k| found.classes[*k] != found.classes[k - 1]).collect();
    for k in changes {
        let cut = between(model, &column, x(k - 1), x(k), watch)?;
        let range = picture.panels[0].y.range;
        let line = Mark::line(vec![[cut, range.0], [cut, range.1]]).width(0.9).dash(crate::scene::Dash::Dashed);
        picture.panels[0].marks.push(line.label("threshold"));
        let spot = [cut, range.0 + 0.72 * (range.1 - range.0)];
        picture.panels[0].marks.push(Mark::text(spot, format!("x = {}", number_text(cut))));
    }
    for (class, name) in model.classes.iter().map(|c| class_label(&model.target, c)).enumerate() {
        let shown = thinned(rows.len());
        let own = shown.iter().map(|i| rows[*i]).filter(|(_, c)| *c == Some(class));
        let at: Vec<Point> = own.map(|(v, _)| [v, ends[class]]).collect();
        if !at.is_empty() {
            let mark = Mark::points(at, Symbol::of_class(class)).colour(Colour::Class(class)).opacity(0.6).label(&name);
            picture.keys.push(Key::new(&name, mark.clone()));
            picture.panels[0].marks.push(mark);
        }
    }
    let said = "The dashed line is where the decision changes.";
    picture.caption = super::paragraph(&[&model_caption(model), said, &band]);
    Ok(picture)
}

/// The one column of numbers that a model has.
fn only_column(model: &Model) -> Result<String> {
    if model.classes.len() != 2 || model.discriminant.n_scores() != 1 {
        return Err(Error::usage("a curve is drawn of two classes").help("draw `regions` of several"));
    }
    match &model.recipe.columns[..] {
        [only] if !matches!(only.encoding, Encoding::Levels { .. }) && model.recipe.sparse_width == 0 => {
            Ok(only.name.clone())
        }
        columns => Err(Error::usage(format!(
            "a curve is drawn along the one column of a model, and this one has {}",
            columns.len() + model.recipe.sparse_width
        ))
        .help("fit one column of numbers, or draw `boundary` of this model")),
    }
}

/// Values of a column, evenly spaced.
fn grid(column: &str, low: f64, high: f64) -> Result<Table> {
    let values: Vec<f64> = (0..=STEPS).map(|k| low + (high - low) * k as f64 / STEPS as f64).collect();
    let empty = read_bytes(format!("x\n{}", "0\n".repeat(values.len())).as_bytes(), "curve", &ReadOptions::default())?;
    let kind = linsep::table::Kind::Number;
    let named = empty.with_column(column, kind, &values);
    Ok(only_last(named))
}

/// The table of the last column alone.
fn only_last(table: Table) -> Table {
    let columns = table.columns().last().cloned().into_iter().collect();
    let chunks = table
        .into_chunks()
        .into_iter()
        .map(|mut chunk| {
            chunk.cells = chunk.cells.pop().into_iter().collect();
            chunk
        })
        .collect();
    Table::new(columns, chunks, 0)
}

/// Where the decision changes between two values, to the last digit.
fn between(model: &Model, column: &str, mut from: f64, mut to: f64, watch: &Watch) -> Result<f64> {
    let decide = |x: f64| -> Result<Option<linsep::table::Class>> {
        Ok(predict_table(model, &grid(column, x, x)?, None, watch)?.classes[0])
    };
    let start = decide(from)?;
    // A step of the grid becomes one of the picture's last digit.
    for _ in 0..30 {
        let middle = 0.5 * (from + to);
        *(if decide(middle)? == start { &mut from } else { &mut to }) = middle;
    }
    Ok(0.5 * (from + to))
}

/// The band around the curve of an unpenalised logistic model; what is said of it.
fn add_band(picture: &mut Picture, model: &Model, table: &Table, grid: &Table, watch: &Watch) -> String {
    let Ok(options) = inference_of_model(model, InferOptions::new(&model.target)) else { return String::new() };
    let Ok(found) = infer_table(table.clone(), &options, watch) else { return String::new() };
    let Ok(intervals) = found.probabilities(grid, BandKind::Scheffe, watch) else { return String::new() };
    if intervals.is_empty() {
        return String::new();
    }
    let upper = intervals.iter().map(|i| [grid.number(i.row, 0), i.high[1]]);
    let lower = intervals.iter().rev().map(|i| [grid.number(i.row, 0), i.low[1]]);
    let mark = Mark::area(vec![upper.chain(lower).collect()]).colour(Colour::Class(0)).opacity(0.2).label("95 % band");
    picture.keys.push(Key::new("95 % band", mark.clone()));
    picture.panels[0].marks.push(mark);
    "The band holds the whole true curve with 95 % confidence (Scheffé).".to_owned()
}

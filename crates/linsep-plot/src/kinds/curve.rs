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
    let Some(model) = request.models.first() else { return Err(request.lacks(Kind::Curve, "a model file")) };
    let column = only_column(model)?;
    for other in &request.models[1..] {
        let own = only_column(other)?;
        if own != column {
            return Err(Error::usage(format!("the models are of `{column}` and of `{own}`"))
                .help("compare models of one column"));
        }
    }
    let rows = match &request.table {
        None => Vec::new(),
        Some(table) => {
            let classes = classes_of(table, &model.target, &model.classes)?;
            let values = number_column(table, &column)?;
            (0..table.n_rows())
                .map(|r| (table.number(r, values), classes.as_ref().and_then(|c| c[r])))
                .filter(|(v, _)| v.is_finite())
                .collect::<Vec<(f64, Option<usize>)>>()
        }
    };
    let (low, high) = match request.table.is_some() {
        true => rows.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), (v, _)| (l.min(*v), h.max(*v))),
        false => reach(&request.models)?,
    };
    if !(high > low) {
        return Err(Error::data(format!("`{column}` has one value only: there is no curve to draw")));
    }
    let room = if rows.is_empty() { 0.0 } else { ROOM };
    let (low, high) = (low - room * (high - low), high + room * (high - low));
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
    if request.shows("densities") {
        add_densities(&mut picture, &rows)?;
    }
    let band = match &request.table {
        Some(table) if request.models.len() == 1 => add_band(&mut picture, model, table, &grid, watch),
        _ => String::new(),
    };
    let curve: Vec<Point> = (0..grid.n_rows()).map(|k| [x(k), heights[k]]).collect();
    let mark = Mark::line(curve).width(1.9).label(if sure { "probability" } else { "score" });
    let name = match request.models.len() {
        1 if sure => "fitted probability".to_owned(),
        1 => "fitted score g(x)".to_owned(),
        _ => request.name_of(0),
    };
    picture.keys.push(Key::new(name, mark.clone()));
    picture.panels[0].marks.push(mark);
    let others = add_others(&mut picture, request, &grid, sure, watch)?;
    let changes: Vec<usize> = (1..grid.n_rows()).filter(|k| found.classes[*k] != found.classes[k - 1]).collect();
    for k in changes {
        let cut = between(model, &column, x(k - 1), x(k), watch)?;
        // What is nothing on the scale of the axis is zero.
        let cut = if cut.abs() < 1e-9 * (high - low) { 0.0 } else { cut };
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
    let name = if others.is_empty() { String::new() } else { format!("{}: ", request.name_of(0)) };
    picture.caption = super::paragraph(&[&format!("{name}{}", model_caption(model)), said, &others, &band]);
    Ok(picture)
}

/// Curves of further models; what is said of them.
fn add_others(picture: &mut Picture, request: &Request, grid: &Table, sure: bool, watch: &Watch) -> Result<String> {
    let mut said = Vec::new();
    for (at, model) in request.models.iter().enumerate().skip(1) {
        if model.has_probabilities() != sure {
            return Err(Error::usage("probabilities of one model and scores of another have no axis in common")
                .help("draw them in pictures of their own"));
        }
        let found = predict_table(model, grid, None, watch)?;
        let heights: Vec<f64> = match sure {
            true => found.probabilities().chunks_exact(2).map(|p| p[1]).collect(),
            false => found.scores.clone(),
        };
        let path = heights.iter().enumerate().map(|(k, h)| [grid.number(k, 0), *h]).collect();
        let name = request.name_of(at);
        // After the colours of the two classes.
        let mark = Mark::line(path).colour(Colour::Class(at + 1)).dash(crate::scene::Dash::of_series(at)).width(1.7);
        let mark = mark.label(&name);
        picture.keys.push(Key::new(&name, mark.clone()));
        picture.panels[0].marks.push(mark);
        said.push(format!("{name}: {}", model_caption(model)));
    }
    Ok(said.join(" "))
}

/// Where curves without rows are seen to rise: six units of the score on either side.
fn reach(models: &[Model]) -> Result<(f64, f64)> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for model in models {
        let linear = model.discriminant.as_linear().filter(|l| l.n_cols() == 1 && l.weights_of(0)[0] != 0.0);
        let Some(linear) = linear else {
            return Err(Error::usage("without rows only a curve of a linear score has an end").help("give a table"));
        };
        let w = linear.weights_of(0)[0];
        let middle = linear.centre()[0] - linear.intercept_at_centre()[0] / w;
        low = low.min(middle - 6.0 / w.abs());
        high = high.max(middle + 6.0 / w.abs());
    }
    Ok((low, high))
}

/// Gaussian densities of the classes, as high as the picture has room for.
fn add_densities(picture: &mut Picture, rows: &[(f64, Option<usize>)]) -> Result<()> {
    let (low, high) = picture.panels[0].x.range;
    let (floor, top) = picture.panels[0].y.range;
    let mut bells = Vec::new();
    for class in 0..2 {
        let own: Vec<f64> = rows.iter().filter(|(_, c)| *c == Some(class)).map(|(v, _)| *v).collect();
        let n = own.len().max(1) as f64;
        let mean = own.iter().sum::<f64>() / n;
        let variance = own.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        if !(variance > 0.0) {
            return Err(Error::data("a class is constant, or has no rows: it has no density"));
        }
        bells.push((n, mean, variance));
    }
    let total: f64 = bells.iter().map(|b| b.0).sum();
    let joint = |(n, mean, variance): (f64, f64, f64), x: f64| {
        n / total * (-0.5 * (x - mean).powi(2) / variance).exp() / variance.sqrt()
    };
    let highest = bells.iter().map(|b| joint(*b, b.1)).fold(0.0, f64::max);
    // Two fifths of the height, so that the curve above stays clear.
    let scale = 0.4 * (top - floor) / highest;
    for (class, bell) in bells.into_iter().enumerate() {
        let at = |k: usize| low + (high - low) * k as f64 / STEPS as f64;
        let curve = (0..=STEPS).map(|k| [at(k), floor + scale * joint(bell, at(k))]);
        let ring: Vec<Point> = curve.chain([[high, floor], [low, floor]]).collect();
        let mark = Mark::area(vec![ring]).colour(Colour::Class(class)).opacity(0.22).label("density");
        if class == 0 {
            picture.keys.push(Key::new("prior × density, not to scale", mark.clone()));
        }
        picture.panels[0].marks.push(mark);
    }
    Ok(())
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

//! Errors on rows of the fit and on others, as the fit has more rows.

use super::{Kind, Request};
use crate::caption::model_caption;
use crate::scene::{Axis, Colour, Dash, Key, Mark, Panel, Picture, Point, Symbol, number_text};
use crate::subject::classes_of;
use linsep::artifact::Model;
use linsep::resample::stratified_folds;
use linsep::table::{Cells, Chunk, Class, Kind as ColumnKind, Origin, RowPlaces, Table};
use linsep::watch::Watch;
use linsep::workflow::{TableFit, fit_table, options_of, predict_table};
use linsep::{Error, Result};

/// Parts of the rows; two of them are held out at a time, and a fit has one to eight of the others.
const PARTS: usize = 10;
/// Times that rows are held out: every part once.
const ROUNDS: usize = 5;

pub(super) fn picture(request: &Request, watch: &Watch) -> Result<Picture> {
    let model = request.model(Kind::LearningCurve)?;
    let table = request.table(Kind::LearningCurve)?;
    if matches!(model.method, linsep::model::Method::Given(_)) {
        return Err(Error::usage("this model is given, not fitted: it does not learn from rows"));
    }
    let Some(codes) = classes_of(table, &model.target, &model.classes)? else {
        return Err(Error::data(format!("the table has no column `{}`", model.target)));
    };
    let classes: Vec<Option<Class>> = codes.iter().map(|c| c.map(|c| Class(c as u32))).collect();
    let parts = stratified_folds(&classes, &model.classes, PARTS, 0)?;
    let of = |wanted: &dyn Fn(usize) -> bool| -> Vec<usize> {
        (0..table.n_rows()).filter(|r| parts[*r].is_some_and(wanted)).collect()
    };
    let mut options = options_of(model);
    (options.folds, options.conformal) = (None, None);
    let mut found: Vec<(f64, Vec<[f64; 2]>)> = Vec::new();
    let mut failed = 0usize;
    for size in 1..=PARTS - 2 {
        let (mut errors, mut counts) = (Vec::new(), 0usize);
        for round in 0..ROUNDS {
            let held = [2 * round, 2 * round + 1];
            // The parts behind those held out, around the end: with more of them the earlier ones stay.
            let used = |p: usize| (p + PARTS - held[1] - 1) % PARTS < size;
            let (train, test) = (of(&used), of(&|p| held.contains(&p)));
            let Ok(TableFit::Model(fitted)) = fit_table(subset(table, &train), &options, watch) else {
                failed += 1;
                continue;
            };
            counts += train.len();
            let wrong = |rows: &[usize]| error(&fitted, &subset(table, rows), watch);
            if let (Some(a), Some(b)) = (wrong(&train)?, wrong(&test)?) {
                errors.push([a, b]);
            }
            if watch.halted().is_some() {
                return Err(Error::usage("stopped"));
            }
        }
        if !errors.is_empty() {
            found.push((counts as f64 / errors.len() as f64, errors));
        }
    }
    if found.len() < 2 {
        return Err(Error::data("parts of the rows do not suffice for a fit: there is no curve to draw")
            .help("give a table of more rows"));
    }
    let mut picture = drawn(model, &found);
    if failed > 0 {
        let fits = ROUNDS * (PARTS - 2);
        picture
            .notes
            .push(format!("{failed} of {fits} fits are left out: their rows have no optimum, or not every class."));
    }
    Ok(picture)
}

fn drawn(model: &Model, found: &[(f64, Vec<[f64; 2]>)]) -> Picture {
    let x = Axis::around("rows of the fit", found.iter().map(|(n, _)| *n).chain([0.0]));
    let all = found.iter().flat_map(|(_, e)| e.iter().flatten().copied());
    let y = Axis::around("share misclassified", all.chain([0.0]));
    let mut picture =
        Picture::new(Kind::LearningCurve.name(), format!("Learning curve for {}", model.target), Panel::new(x, y));
    for (at, name) in ["rows of the fit", "rows held out"].into_iter().enumerate() {
        let colour = Colour::Class(at);
        let of = |errors: &[[f64; 2]]| {
            let n = errors.len() as f64;
            let mean = errors.iter().map(|e| e[at]).sum::<f64>() / n;
            let ends = errors.iter().map(|e| e[at]);
            (mean, ends.clone().fold(f64::INFINITY, f64::min), ends.fold(f64::NEG_INFINITY, f64::max))
        };
        let bars = found.iter().map(|(n, e)| vec![[*n, of(e).1], [*n, of(e).2]]).collect();
        let line: Vec<Point> = found.iter().map(|(n, e)| [*n, of(e).0]).collect();
        let marks = &mut picture.panels[0].marks;
        marks.push(Mark::lines(bars).colour(colour).width(0.7).opacity(0.7).label(format!("range, {name}")));
        marks.push(Mark::line(line.clone()).colour(colour).width(1.6).dash(Dash::of_series(at)).label(name));
        let dots = Mark::points(line, Symbol::of_class(at)).colour(colour).label(name);
        picture.keys.push(Key::new(name, dots.clone()));
        picture.panels[0].marks.push(dots);
    }
    let last = &found[found.len() - 1];
    let said = format!(
        "Each point is the mean over {} fits, bars from the smallest to the largest; with {} rows {} of those held out are \
         misclassified. Rows are held out a fifth at a time, every class in its share.",
        ROUNDS,
        number_text(last.0.round()),
        number_text(last.1.iter().map(|e| e[1]).sum::<f64>() / last.1.len() as f64)
    );
    picture.caption = super::paragraph(&[&model_caption(model), &said]);
    picture
}

/// The share of rows whose class is known and decided otherwise, or not decided.
fn error(model: &Model, table: &Table, watch: &Watch) -> Result<Option<f64>> {
    let found = predict_table(model, table, Some(linsep::design::UnknownLevel::Missing), watch)?;
    let Some(truth) = classes_of(table, &model.target, &model.classes)? else { return Ok(None) };
    let (mut wrong, mut all) = (0usize, 0usize);
    for (row, class) in found.rows.iter().zip(&found.classes) {
        all += 1;
        wrong += usize::from(truth[*row].is_none() || class.map(Class::index) != truth[*row]);
    }
    Ok((all > 0).then(|| wrong as f64 / all as f64))
}

/// Some rows of a table, as a table.
fn subset(table: &Table, rows: &[usize]) -> Table {
    let columns = table.columns();
    let cells = (0..columns.len()).map(|at| match &columns[at].kind {
        ColumnKind::Number => Cells::F64(rows.iter().map(|r| table.number(*r, at)).collect()),
        ColumnKind::Text { .. } => {
            let code = |row: &usize| {
                let (chunk, within) = table.locate(*row);
                match &table.chunks()[chunk].cells[at] {
                    Cells::Text(codes) => codes[within],
                    _ => linsep::table::MISSING_TEXT,
                }
            };
            Cells::Text(rows.iter().map(code).collect())
        }
    });
    let origin = Origin { file: "rows of the table".into(), rows: RowPlaces::Numbered { first: 1 } };
    Table::new(columns.to_vec(), vec![Chunk { n_rows: rows.len(), cells: cells.collect(), sparse: None, origin }], 0)
}

//! Rows by class.

use super::{Kind, Request, plane};
use crate::scene::{Picture, Point, number_text};
use crate::subject::{LabelledPoints, Viewed, best_columns, class_label, classes_of, number_column, numeric_columns};
use linsep::table::{Labels, Table};
use linsep::watch::Watch;
use linsep::{Error, Result};

pub(super) fn picture(request: &Request, watch: &Watch) -> Result<Picture> {
    let table = request.table(Kind::Scatter)?;
    if !request.models.is_empty() {
        let model = request.model(Kind::Scatter)?;
        let Viewed { view, rows } = Viewed::choose(model, table, request, watch)?;
        return Ok(drawn(&model.target, &view.labels, &rows, &view.said, view.same_units));
    }
    if request.plane.is_some() {
        return Err(
            Error::usage("without a model there are only the columns to choose a plane by").help("choose two columns")
        );
    }
    let (rows, said, labels) = of_table(table, request)?;
    Ok(drawn(request.target.as_deref().unwrap_or_default(), &labels, &rows, &said, false))
}

fn drawn(target: &str, labels: &[String; 2], rows: &LabelledPoints, said: &str, same_units: bool) -> Picture {
    let panel = plane::axes(labels, &rows.at, same_units);
    let title = if target.is_empty() { "Rows".to_owned() } else { format!("Rows by {target}") };
    let mut picture = Picture::new(Kind::Scatter.name(), title, panel);
    plane::add_rows(&mut picture, rows);
    let count = format!("{} rows.", number_text(rows.at.len() as f64));
    picture.caption = super::paragraph(&[&count, said]);
    picture
}

/// The rows of a table without a model: two columns, and classes where a target is named.
pub(super) fn of_table(table: &Table, request: &Request) -> Result<(LabelledPoints, String, [String; 2])> {
    let (classes, names) = match &request.target {
        None => (vec![None; table.n_rows()], Vec::new()),
        Some(target) => {
            let names = Labels::from_column(table, table.column(target)?).1;
            if names.len() > MOST_CLASSES {
                return Err(Error::usage(format!(
                    "`{target}` has {} values: too many to tell by symbols",
                    names.len()
                ))
                .help("choose a column of classes"));
            }
            let classes = classes_of(table, target, &names)?.unwrap_or_default();
            (classes, names.iter().map(|name| class_label(target, name)).collect())
        }
    };
    let without: Vec<&str> = request.target.iter().map(String::as_str).collect();
    let numeric = numeric_columns(table, &without);
    let mut rows = LabelledPoints {
        table_rows: (0..table.n_rows()).collect(),
        at: Vec::new(),
        predicted: vec![None; table.n_rows()],
        classes,
        names,
        left_out: 0,
    };
    let free: Vec<&str> = numeric.iter().map(String::as_str).collect();
    // Without classes the columns come in the order of the table.
    let ranked = match rows.names.is_empty() {
        true => (0..free.len()).collect(),
        false => best_columns(table, &free, &rows)?,
    };
    let taken = [request.x.as_deref(), request.y.as_deref()];
    let mut best = ranked.iter().map(|at| free[*at]).filter(|name| !taken.contains(&Some(*name)));
    let mut chosen = Vec::new();
    for name in taken {
        let name = name.or_else(|| best.next()).ok_or_else(|| {
            Error::usage("a scatter plot needs two columns of numbers, and the table has fewer")
                .help("draw `densities` of one")
        })?;
        chosen.push((name.to_owned(), number_column(table, name)?));
    }
    if taken == [None, None] {
        chosen.sort_by_key(|(_, at)| *at);
    }
    let (x, y) = (chosen[0].1, chosen[1].1);
    if x == y {
        return Err(Error::usage(format!("both axes are `{}`", chosen[0].0)).help("choose two different columns"));
    }
    let at = |row: usize| -> Point { [table.number(row, x), table.number(row, y)] };
    rows.table_rows.retain(|r| at(*r).iter().all(|v| v.is_finite()));
    if rows.table_rows.is_empty() {
        return Err(Error::data(format!(
            "no row has both `{}` and `{}`: there is nothing to draw",
            chosen[0].0, chosen[1].0
        )));
    }
    rows.left_out = table.n_rows() - rows.table_rows.len();
    rows.classes = rows.table_rows.iter().map(|r| rows.classes[*r]).collect();
    rows.predicted = vec![None; rows.table_rows.len()];
    let places = rows.table_rows.iter().map(|r| at(*r)).collect();
    let said = match (numeric.len() > 2, taken.contains(&None), rows.names.is_empty()) {
        (true, true, true) => "The axes are the first columns of numbers.",
        (true, true, false) => "The axes are the columns whose classes differ the most (largest F ratio).",
        _ => "",
    };
    Ok((rows.at(places), said.to_owned(), [chosen[0].0.clone(), chosen[1].0.clone()]))
}

/// More values are no classes: symbols and colours repeat after 56.
const MOST_CLASSES: usize = 200;

//! What a regression on ±1 leaves: along one column, or over two.

use super::isometric::{Box3, Point3};
use super::{Kind, Request, plane};
use crate::caption::model_caption;
use crate::scene::{Axis, Colour, Dash, Key, Mark, Panel, Picture, Point, number_text};
use crate::subject::{class_label, classes_of, number_column, thinned};
use linsep::artifact::Model;
use linsep::design::{DenseMatrix, Encoding};
use linsep::table::Table;
use linsep::watch::Watch;
use linsep::workflow::predict_design;
use linsep::{Error, Result};

/// Lines of the plane's mesh in either direction.
const MESH: usize = 12;
/// Residuals are drawn of at most so many rows: more lines are a grey area. Chosen by eye.
const MOST: usize = 150;

/// A row: its columns and its class.
struct Regressed {
    x: Vec<f64>,
    class: usize,
    score: f64,
}

impl Regressed {
    fn y(&self) -> f64 {
        if self.class == 1 { 1.0 } else { -1.0 }
    }
}

pub(super) fn picture(request: &Request, watch: &Watch) -> Result<Picture> {
    let model = request.model(Kind::Residuals)?;
    let plain = model.recipe.columns.iter().all(|c| matches!(c.encoding, Encoding::Number { .. }));
    let linear =
        model.discriminant.as_linear().filter(|l| l.n_scores() == 1 && l.n_cols() == model.recipe.columns.len());
    if !plain || linear.is_none() || model.classes.len() != 2 || !model.recipe.is_linear() {
        return Err(Error::usage(
            "residuals are drawn of two classes and a score that is linear in columns of numbers",
        )
        .help("fit least squares on one column or two"));
    }
    let table = request.table(Kind::Residuals)?;
    let rows = rows(model, table, watch)?;
    let mut picture = match model.recipe.columns.len() {
        1 => along(model, &rows, watch)?,
        2 => over(model, &rows, watch)?,
        n => {
            return Err(Error::usage(format!(
                "residuals are drawn along one column or over two, and this model has {n}"
            ))
            .help("fit one column or two"));
        }
    };
    let sum: f64 = rows.iter().map(|r| (r.y() - r.score).powi(2)).sum();
    let said = format!(
        "Residuals y − g(x) of rows at y = ±1: their squares sum to {}, {} on average.",
        number_text(sum),
        number_text(sum / rows.len() as f64)
    );
    picture.caption = super::paragraph(&[&model_caption(model), &said]);
    if rows.len() > MOST {
        picture.notes.push(format!("{MOST} of {} rows are drawn, evenly over the table; sums are of all.", rows.len()));
    }
    Ok(picture)
}

fn rows(model: &Model, table: &Table, watch: &Watch) -> Result<Vec<Regressed>> {
    let Some(classes) = classes_of(table, &model.target, &model.classes)? else {
        return Err(Error::data(format!("the table has no column `{}`: there are no residuals", model.target)));
    };
    let columns = model.recipe.columns.iter().map(|c| number_column(table, &c.name)).collect::<Result<Vec<usize>>>()?;
    let mut rows: Vec<Regressed> = (0..table.n_rows())
        .filter_map(|r| {
            let x: Vec<f64> = columns.iter().map(|c| table.number(r, *c)).collect();
            Some(Regressed { x, class: classes[r]?, score: 0.0 })
        })
        .filter(|r| r.x.iter().all(|v| v.is_finite()))
        .collect();
    if rows.is_empty() {
        return Err(Error::data("no row has a class and all columns: there are no residuals"));
    }
    let scores = scores(model, rows.iter().flat_map(|r| r.x.clone()).collect(), watch)?;
    rows.iter_mut().zip(scores).for_each(|(row, score)| row.score = score);
    Ok(rows)
}

fn scores(model: &Model, values: Vec<f64>, watch: &Watch) -> Result<Vec<f64>> {
    let matrix = DenseMatrix::new(values, model.recipe.columns.len())?;
    Ok(predict_design(model, &matrix, watch)?.scores)
}

fn some(rows: &[Regressed]) -> Vec<&Regressed> {
    let every = rows.len().div_ceil(MOST).max(1);
    match rows.len() > MOST {
        true => (0..MOST).map(|k| &rows[k * rows.len() / MOST]).collect(),
        false => thinned(rows.len()).into_iter().step_by(every).map(|i| &rows[i]).collect(),
    }
}

/// The line g(x), the step h(x) = sign g(x), rows at ±1 and their residuals.
fn along(model: &Model, rows: &[Regressed], watch: &Watch) -> Result<Picture> {
    let name = &model.recipe.columns[0].name;
    let x = Axis::around(name, rows.iter().map(|r| r.x[0]));
    let ends = scores(model, vec![x.range.0, x.range.1], watch)?;
    let y = Axis::around(format!("{} (±1) and g", model.target), ends.iter().copied().chain([-1.25, 1.25]));
    let (low, high) = x.range;
    let mut panel = Panel::new(x, y);
    panel.aspect = 0.55;
    let mut picture = Picture::new(Kind::Residuals.name(), format!("Residuals for {}", model.target), panel);
    let shown = some(rows);
    let lines = shown.iter().map(|r| vec![[r.x[0], r.y()], [r.x[0], r.score]]).collect();
    let mark = Mark::lines(lines).width(0.7).colour(Colour::Muted).label("residual");
    picture.keys.push(Key::new("residual", mark.clone()));
    picture.panels[0].marks.push(mark);
    let line = Mark::line(vec![[low, ends[0]], [high, ends[1]]]).width(1.8).label("g(x)");
    picture.keys.push(Key::new("g(x)", line.clone()));
    picture.panels[0].marks.push(line);
    let (u, v) = (ends[0], ends[1]);
    if (u < 0.0) != (v < 0.0) {
        let cut = low + (high - low) * u / (u - v);
        let side = if u < 0.0 { -1.0 } else { 1.0 };
        let step = Mark::lines(vec![vec![[low, side], [cut, side]], vec![[cut, -side], [high, -side]]]);
        let step = step.width(1.4).dash(Dash::Dashed).colour(Colour::Class(2)).label("h(x)");
        picture.keys.push(Key::new("h(x) = sign g(x)", step.clone()));
        picture.panels[0].marks.push(step);
    }
    add_rows(&mut picture, model, &shown, |r| [r.x[0], r.y()]);
    Ok(picture)
}

fn add_rows(picture: &mut Picture, model: &Model, shown: &[&Regressed], place: impl Fn(&Regressed) -> Point) {
    for (class, name) in model.classes.iter().map(|c| class_label(&model.target, c)).enumerate() {
        let own: Vec<Point> = shown.iter().filter(|r| r.class == class).map(|r| place(r)).collect();
        if !own.is_empty() {
            let mark = plane::class_points(class, own, &name);
            picture.keys.push(Key::new(&name, mark.clone()));
            picture.panels[0].marks.push(mark);
        }
    }
}

/// The plane g over two columns, and rows at ±1 above and below it.
fn over(model: &Model, rows: &[Regressed], watch: &Watch) -> Result<Picture> {
    let names: Vec<&String> = model.recipe.columns.iter().map(|c| &c.name).collect();
    let [x, y] = [0, 1].map(|k: usize| Axis::around(names[k], rows.iter().map(|r| r.x[k])));
    let node = |i: usize, j: usize| {
        let at = |axis: &Axis, k: usize| axis.range.0 + (axis.range.1 - axis.range.0) * k as f64 / MESH as f64;
        [at(&x, i), at(&y, j)]
    };
    let nodes: Vec<Point> = (0..=MESH).flat_map(|j| (0..=MESH).map(move |i| (i, j))).map(|(i, j)| node(i, j)).collect();
    let heights = scores(model, nodes.concat(), watch)?;
    let seen = rows.iter().map(|r| r.score);
    let z = Axis::around("y, g", seen.chain([-1.1, 1.1]));
    let (low, high) = z.range;
    let space = Box3 { axes: [x, y, z] };
    // Beyond the rows the plane is cut off where the box ends.
    let cut = |p: Point3, q: Point3| -> Option<(Point3, Point3)> {
        let (mut from, mut to) = (0.0f64, 1.0f64);
        for (at, more) in [(low, 1.0), (high, -1.0)] {
            let (u, v) = (more * (p[2] - at), more * (q[2] - at));
            match (u >= 0.0, v >= 0.0) {
                (true, true) => {}
                (false, false) => return None,
                (true, false) => to = to.min(u / (u - v)),
                (false, true) => from = from.max(u / (u - v)),
            }
        }
        let at = |t: f64| [0, 1, 2].map(|k: usize| p[k] + t * (q[k] - p[k]));
        (from < to).then(|| (at(from), at(to)))
    };
    let lift = |i: usize, j: usize| -> Point3 {
        let at = j * (MESH + 1) + i;
        [nodes[at][0], nodes[at][1], heights[at]]
    };
    let mut panel = space.panel("");
    panel.title = None;
    let mut picture = Picture::new(Kind::Residuals.name(), format!("Residuals for {}", model.target), panel);
    let shown = some(rows);
    let split = |above: bool| {
        let lines = shown.iter().filter(|r| (r.y() > r.score) == above);
        lines.map(|r| vec![space.project([r.x[0], r.x[1], r.y()]), space.project([r.x[0], r.x[1], r.score])]).collect()
    };
    let below = Mark::lines(split(false)).width(0.7).colour(Colour::Muted).dash(Dash::Dashed).label("residual");
    picture.panels[0].marks.push(below);
    let ring = [lift(0, 0), lift(MESH, 0), lift(MESH, MESH), lift(0, MESH)];
    let sides = (0..4).filter_map(|k| cut(ring[k], ring[(k + 1) % 4]));
    let mut corners: Vec<Point> = sides.flat_map(|(p, q)| [space.project(p), space.project(q)]).collect();
    corners.dedup();
    let sheet = Mark::area(vec![corners]).colour(Colour::Class(2)).opacity(0.3).label("plane g(x)");
    picture.keys.push(Key::new("plane g(x)", sheet.clone()));
    picture.panels[0].marks.push(sheet);
    let line = |(p, q): (Point3, Point3)| vec![space.project(p), space.project(q)];
    let across = (0..=MESH).filter_map(|k| cut(lift(0, k), lift(MESH, k))).map(line);
    let up = (0..=MESH).filter_map(|k| cut(lift(k, 0), lift(k, MESH))).map(line);
    let mesh = Mark::lines(across.chain(up).collect()).width(0.5).colour(Colour::Class(2)).label("mesh");
    picture.panels[0].marks.push(mesh);
    let above = Mark::lines(split(true)).width(0.7).colour(Colour::Muted).label("residual");
    picture.keys.push(Key::new("residual, dashed where it is below the plane", above.clone()));
    picture.panels[0].marks.push(above);
    add_rows(&mut picture, model, &shown, |r| space.project([r.x[0], r.x[1], r.y()]));
    Ok(picture)
}

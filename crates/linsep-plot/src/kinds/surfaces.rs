//! Scores and probabilities over two columns, as heat with contours and as surfaces; the boundary of three columns.

use super::isometric::{Box3, Point3};
use super::{Kind, Request, plane};
use crate::caption::model_caption;
use crate::field::{Tracing, decision_map, trace};
use crate::scene::{Axis, Colour, Key, Mark, Panel, Picture, Point, Symbol, number_text};
use crate::subject::{View, Viewed, class_label, classes_of, number_column, thinned};
use linsep::artifact::Model;
use linsep::design::{DenseMatrix, Encoding};
use linsep::watch::Watch;
use linsep::workflow::predict_design;
use linsep::{Error, Result};

/// Cells of a surface along either axis: every one is a shape of its own in the file. Chosen by eye.
const CELLS: usize = 14;
/// Levels of heat.
const LEVELS: usize = 9;
/// Cuts through the boundary of three columns, along each of two axes.
const CUTS: usize = 9;
/// More classes are surfaces that hide each other.
const MOST_CLASSES: usize = 8;

pub(super) fn picture(request: &Request, watch: &Watch) -> Result<Picture> {
    let model = request.model(Kind::Surfaces)?;
    let columns = &model.recipe.columns;
    let plain = columns.iter().all(|c| matches!(c.encoding, Encoding::Number { .. }));
    if columns.len() == 3 && plain && model.recipe.sparse_width == 0 && request.x.is_none() && request.y.is_none() {
        return of_three(request, model, watch);
    }
    if model.classes.len() > MOST_CLASSES {
        return Err(Error::usage(format!(
            "surfaces of {} classes would hide each other: at most {MOST_CLASSES}",
            model.classes.len()
        ))
        .help("draw `regions` of them"));
    }
    let Viewed { view, rows } = Viewed::choose(model, request.table(Kind::Surfaces)?, request, watch)?;
    let flat = plane::axes(&view.labels, &rows.at, view.same_units);
    let window = flat.window();
    let mut picture = Picture::new(Kind::Surfaces.name(), format!("Surfaces for {}", model.target), flat);
    picture.panels[0].x.grid = false;
    picture.panels[0].y.grid = false;
    let sure = model.has_probabilities();
    let what = add_heat(&mut picture, &view, window, watch)?;
    plane::add_rows(&mut picture, &rows);
    let names: Vec<String> = model.score_names().iter().map(|n| n.replace("_vs_", " against ")).collect();
    let scores = sampled(window, |points| Ok(view.predict(points, watch)?.scores))?;
    picture.panels.push(surface(&view, window, &scores, "g", "Discriminants", names.len()));
    if sure {
        let found = sampled(window, |points| Ok(view.predict(points, watch)?.probabilities()))?;
        picture.panels.push(surface(&view, window, &found, "P", "Posteriors", model.classes.len()));
    }
    let said = format!("{what} Surfaces are seen from above the corner in which both columns are largest.");
    picture.caption = super::paragraph(&[&model_caption(model), &said, &view.said]);
    Ok(picture)
}

/// Heat and contours: of the probability that a class has, or of the score of two classes.
fn add_heat(picture: &mut Picture, view: &View<'_>, window: [f64; 4], watch: &Watch) -> Result<String> {
    let model = view.model;
    let classes = model.classes.len();
    let sure = model.has_probabilities();
    let heights = |points: &[Point]| -> Result<Vec<f64>> {
        let found = view.predict(points, watch)?;
        let largest = |row: &[f64]| row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(match (sure, found.scores.len() / points.len().max(1)) {
            (true, _) if classes == 2 => found.probabilities().chunks_exact(2).map(|p| p[1]).collect(),
            (true, _) => found.probabilities().chunks_exact(classes).map(largest).collect(),
            (false, width) => found.scores.chunks_exact(width.max(1)).map(largest).collect(),
        })
    };
    let values = sampled(window, heights)?;
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    let axis = if sure { Axis::new("", (0.0, 1.0)) } else { Axis::new("", (low, high)) };
    let levels: Vec<f64> =
        axis.ticks(LEVELS + 2).into_iter().map(|(v, _)| v).filter(|v| *v > low && *v < high).collect();
    let decide = |points: &[Point]| {
        Ok(heights(points)?.iter().map(|v| levels.iter().filter(|l| v > *l).count() as u32).collect())
    };
    let Tracing { patches, edges } = trace(window, decide)?;
    for patch in patches {
        let share = (patch.decision as f64 + 0.5) / (levels.len() + 1) as f64;
        let mark = Mark::area(patch.rings).colour(Colour::Heat(0.65 * share)).label("heat");
        picture.panels[0].marks.push(mark);
    }
    // One number a level, on its longest piece; every second of many.
    let every = if levels.len() > 5 { 2 } else { 1 };
    for (k, level) in levels.iter().enumerate().filter(|(k, _)| k % every == 0) {
        let own = edges.iter().filter(|e| e.between[0] == k).max_by_key(|e| e.path.len());
        if let Some(edge) = own.filter(|e| e.path.len() > 2 || e.path[0] != e.path[e.path.len() - 1]) {
            let (p, q) =
                (edge.path[(edge.path.len() - 1) / 2], edge.path[edge.path.len().div_ceil(2).min(edge.path.len() - 1)]);
            let middle = [0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1])];
            picture.panels[0].marks.push(Mark::text(middle, number_text(*level)).width(0.85));
        }
    }
    let paths = edges.into_iter().map(|e| e.path).collect();
    picture.panels[0].marks.push(Mark::lines(paths).width(0.6).colour(Colour::Muted).label("contour"));
    let map = decision_map(view, window, watch)?;
    let mark = Mark::lines(map.edges.into_iter().map(|e| e.path).collect()).width(1.7).label("decision boundary");
    picture.keys.push(Key::new("decision boundary", mark.clone()));
    picture.panels[0].marks.push(mark);
    let what = match (sure, classes) {
        (true, 2) => format!("P({})", model.classes[1]),
        (true, _) => "the largest posterior".to_owned(),
        (false, 2) => format!("the score of {}", model.classes[1]),
        (false, _) => "the largest score".to_owned(),
    };
    picture.panels[0].title = Some(format!("Contours of {what}"));
    Ok(format!("Contours of {what}, exact at every corner."))
}

/// Values at the nodes of the mesh, row by row.
fn sampled(window: [f64; 4], heights: impl Fn(&[Point]) -> Result<Vec<f64>>) -> Result<Vec<f64>> {
    heights(&(0..=CELLS).flat_map(|j| (0..=CELLS).map(move |i| node(window, i, j))).collect::<Vec<Point>>())
}

fn node([left, bottom, right, top]: [f64; 4], i: usize, j: usize) -> Point {
    let share = |k: usize| k as f64 / CELLS as f64;
    [left + (right - left) * share(i), bottom + (top - bottom) * share(j)]
}

/// One surface for every score, the farthest cells first.
fn surface(view: &View<'_>, window: [f64; 4], values: &[f64], name: &str, title: &str, width: usize) -> Panel {
    let z = match name {
        "P" => Axis::new(name, (0.0, 1.0)),
        _ => Axis::around(name, values.iter().copied()),
    };
    let [left, bottom, right, top] = window;
    let axes = [Axis::new(&view.labels[0], (left, right)), Axis::new(&view.labels[1], (bottom, top)), z];
    let space = Box3 { axes };
    let mut panel = space.panel(title);
    let width = width.max(1);
    let at = |i: usize, j: usize, k: usize| -> Point3 {
        let [x, y] = node(window, i, j);
        [x, y, values[(j * (CELLS + 1) + i) * width + k]]
    };
    let mut cells: Vec<(f64, usize, Vec<Point>)> = Vec::new();
    for (i, j, k) in (0..CELLS).flat_map(|i| (0..CELLS).flat_map(move |j| (0..width).map(move |k| (i, j, k)))) {
        let corners = [at(i, j, k), at(i + 1, j, k), at(i + 1, j + 1, k), at(i, j + 1, k)];
        let near = corners.iter().map(|c| space.nearness(*c)).sum::<f64>();
        cells.push((near, k, corners.iter().map(|c| space.project(*c)).collect()));
    }
    cells.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (_, k, ring) in cells {
        // Of two classes there is one score, which is that of the second.
        let class = if width == 1 { 1 } else { k };
        let outline: Vec<Point> = ring.iter().chain(ring.first()).copied().collect();
        panel.marks.push(Mark::area(vec![ring]).colour(Colour::Class(class)).label(title));
        panel.marks.push(Mark::line(outline).colour(Colour::Paper).width(0.35).label("mesh"));
    }
    panel
}

/// Rows of three columns and the boundary between the classes.
fn of_three(request: &Request, model: &Model, watch: &Watch) -> Result<Picture> {
    let table = request.table(Kind::Surfaces)?;
    let names: Vec<String> = model.recipe.columns.iter().map(|c| c.name.clone()).collect();
    let at = names.iter().map(|n| number_column(table, n)).collect::<Result<Vec<usize>>>()?;
    let classes = classes_of(table, &model.target, &model.classes)?;
    let rows: Vec<(Point3, Option<usize>)> = (0..table.n_rows())
        .map(|r| ([0, 1, 2].map(|k: usize| table.number(r, at[k])), classes.as_ref().and_then(|c| c[r])))
        .filter(|(p, _)| p.iter().all(|v| v.is_finite()))
        .collect();
    if rows.is_empty() {
        return Err(Error::data("no row has all three columns: there is nothing to draw"));
    }
    let axes = [0, 1, 2].map(|k: usize| Axis::around(&names[k], rows.iter().map(|(p, _)| p[k])));
    let space = Box3 { axes };
    let mut panel = space.panel("");
    panel.title = None;
    let wire = cuts(model, &space, watch)?;
    let title = format!("Boundary for {} in three columns", model.target);
    let mut picture = Picture::new(Kind::Surfaces.name(), title, panel);
    let mut straight = String::new();
    if let Some(ring) = cut_plane(model, &space) {
        let flat: Vec<Point> = ring.iter().map(|p| space.project(*p)).collect();
        let mark = Mark::area(vec![flat]).colour(Colour::Muted).opacity(0.25).label("plane g = 0");
        picture.keys.push(Key::new("plane g = 0", mark.clone()));
        picture.panels[0].marks.push(mark);
        straight = "The plane is exact.".to_owned();
    }
    let mark = Mark::lines(wire).width(0.8).colour(Colour::Ink).label("boundary");
    picture.keys.push(Key::new("cuts through the boundary", mark.clone()));
    picture.panels[0].marks.push(mark);
    let shown: Vec<&(Point3, Option<usize>)> = thinned(rows.len()).into_iter().map(|i| &rows[i]).collect();
    // A row is in front of the plane where the score grows towards the reader on its side.
    let linear = model.discriminant.as_linear().filter(|l| l.n_scores() == 1 && l.n_cols() == 3);
    let behind = |p: &Point3| match (linear, model.cuts()) {
        (Some(linear), Some(cuts)) => {
            let (w, centre, d) = (linear.weights_of(0), linear.centre(), space.towards());
            let along: f64 = (0..3).map(|k| w[k] * d[k]).sum();
            let value: f64 = (0..3).map(|k| w[k] * (p[k] - centre[k])).sum::<f64>() + linear.intercept_at_centre()[0];
            (value - cuts[0]) * along < 0.0
        }
        _ => false,
    };
    let mut hidden = Vec::new();
    for (class, name) in model.classes.iter().map(|c| class_label(&model.target, c)).enumerate() {
        let of = |back: bool| -> Vec<Point> {
            let own = shown.iter().filter(|(p, c)| *c == Some(class) && behind(p) == back);
            own.map(|(p, _)| space.project(*p)).collect()
        };
        let front = plane::class_points(class, of(false), &name).width(0.9);
        let back = plane::class_points(class, of(true), &name).width(0.75).opacity(0.45);
        picture.keys.push(Key::new(&name, front.clone()));
        picture.panels[0].marks.push(front);
        hidden.push(back);
    }
    let unknown: Vec<Point> = shown.iter().filter(|(_, c)| c.is_none()).map(|(p, _)| space.project(*p)).collect();
    if !unknown.is_empty() {
        let mark = Mark::points(unknown, Symbol::Circle).colour(Colour::Muted).opacity(0.5).label("class not known");
        picture.panels[0].marks.push(mark);
    }
    // Behind the plane, in front of the box.
    hidden.retain(|m| !matches!(&m.shape, crate::scene::Shape::Points { at, .. } if at.is_empty()));
    if !hidden.is_empty() {
        straight.push_str(" Rows behind it are paler.");
    }
    for mark in hidden {
        picture.panels[0].marks.insert(1, mark);
    }
    let said = format!(
        "Seen from above the corner in which {} and {} are largest, by parallel projection; lines are cuts of the boundary \
         at fixed {} and fixed {}, exact at every corner.",
        names[0], names[1], names[2], names[0]
    );
    picture.caption = super::paragraph(&[&model_caption(model), &straight, &said]);
    Ok(picture)
}

/// The boundary in planes of fixed third and of fixed first column.
fn cuts(model: &Model, space: &Box3, watch: &Watch) -> Result<Vec<Vec<Point>>> {
    let mut lines = Vec::new();
    let ranges = [0, 1, 2].map(|k: usize| space.axes[k].range);
    for (fixed, others) in [(2usize, [0usize, 1]), (0, [1, 2])] {
        for cut in 0..=CUTS {
            let (low, high) = ranges[fixed];
            let value = low + (high - low) * cut as f64 / CUTS as f64;
            let lift = |p: &Point| {
                let mut full = [value; 3];
                full[others[0]] = p[0];
                full[others[1]] = p[1];
                full
            };
            let decide = |points: &[Point]| {
                let matrix = DenseMatrix::new(points.iter().flat_map(lift).collect::<Vec<f64>>(), 3)?;
                let none = model.classes.len() as u32;
                let found = predict_design(model, &matrix, watch)?;
                Ok(found.classes.iter().map(|c| c.map_or(none, |c| c.0)).collect())
            };
            let [x, y] = others.map(|k| ranges[k]);
            let found = trace([x.0, y.0, x.1, y.1], decide)?;
            lines.extend(found.edges.iter().map(|e| e.path.iter().map(|p| space.project(lift(p))).collect()));
        }
    }
    Ok(lines)
}

/// The polygon in which the plane between two classes cuts the box, of linear scores.
fn cut_plane(model: &Model, space: &Box3) -> Option<Vec<Point3>> {
    let linear = model.discriminant.as_linear().filter(|l| l.n_scores() == 1 && l.n_cols() == 3)?;
    let cut = model.cuts()?.first().copied()?;
    let (w, centre) = (linear.weights_of(0), linear.centre());
    let base = linear.intercept_at_centre()[0] - cut;
    let value = |p: Point3| base + (0..3).map(|k| w[k] * (p[k] - centre[k])).sum::<f64>();
    let ranges = [0, 1, 2].map(|k: usize| space.axes[k].range);
    let corner = |bits: usize| [0, 1, 2].map(|k: usize| if bits >> k & 1 == 1 { ranges[k].1 } else { ranges[k].0 });
    let mut found: Vec<Point3> = Vec::new();
    for from in 0..8usize {
        for k in (0..3).filter(|k| from >> k & 1 == 0) {
            let (p, q) = (corner(from), corner(from | 1 << k));
            let (u, v) = (value(p), value(q));
            if (u < 0.0) != (v < 0.0) {
                let t = u / (u - v);
                found.push([0, 1, 2].map(|m: usize| p[m] + t * (q[m] - p[m])));
            }
        }
    }
    if found.len() < 3 {
        return None;
    }
    // Around their middle, in the plane itself: in the order of the angle on the paper unless the plane is seen edge-on.
    let flat: Vec<Point> = found.iter().map(|p| space.project(*p)).collect();
    let n = flat.len() as f64;
    let middle = [flat.iter().map(|p| p[0]).sum::<f64>() / n, flat.iter().map(|p| p[1]).sum::<f64>() / n];
    let mut order: Vec<usize> = (0..found.len()).collect();
    let angle = |i: &usize| (flat[*i][1] - middle[1]).atan2(flat[*i][0] - middle[0]);
    order.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
    Some(order.into_iter().map(|i| found[i]).collect())
}

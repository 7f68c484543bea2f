//! Boundaries of one or several models in one plane.

use super::{Kind, Request, feet, plane};
use crate::caption::model_caption;
use crate::clip::{HalfPlane, line_in};
use crate::field::decision_map;
use crate::scene::{Colour, Dash, Key, Mark, Panel, Picture, Point, Symbol};
use crate::subject::{PlaneChoice, View, Viewed};
use linsep::watch::Watch;
use linsep::{Error, Result};

/// Most classes whose own lines `g = 0` are drawn: with more they hide the rows. Chosen by eye.
const MOST_OWN_LINES: usize = 5;
/// Length of a drawn normal, as a share of the width of the window.
const NORMAL: f64 = 0.14;

pub(super) fn picture(request: &Request, watch: &Watch) -> Result<Picture> {
    let table = request.table(Kind::Boundary)?;
    match &request.models[..] {
        [] => Err(request.lacks(Kind::Boundary, "a model file")),
        [model] => {
            let Viewed { view, rows } = Viewed::choose(model, table, request, watch)?;
            let panel = plane::axes(&view.labels, &rows.at, true);
            let mut picture = Picture::new(Kind::Boundary.name(), format!("Boundary for {}", model.target), panel);
            plane::add_rows(&mut picture, &rows);
            let window = picture.panels[0].window();
            let map = decision_map(&view, window, watch)?;
            add_own_lines(&mut picture, &view, watch)?;
            let paths = map.edges.iter().map(|e| e.path.clone()).collect();
            let mark = Mark::lines(paths).width(1.7).label("decision boundary");
            picture.keys.push(Key::new("decision boundary", mark.clone()));
            picture.panels[0].marks.push(mark);
            if request.shows("levels") {
                add_levels(&mut picture, &view, watch)?;
            }
            if request.shows("distances") {
                let line = one_line(&view, window, watch)?;
                feet::add_distances(&mut picture, &line, &rows)?;
            }
            match request.row {
                None => add_normal(&mut picture.panels[0], &view, watch)?,
                Some(row) => {
                    let line = one_line(&view, window, watch)?;
                    feet::add_projection(&mut picture, &line, &rows, row)?;
                }
            }
            let wrong = plane::add_mistakes(&mut picture, &rows);
            let how = match map.edges.is_empty() {
                true => "No boundary crosses the window: one decision is made everywhere.",
                false if map.straight => "",
                false => "The boundary is traced, and exact at every corner.",
            };
            picture.caption = super::paragraph(&[&model_caption(model), &wrong, how, &view.said]);
            picture.notes.extend(plane::angle_note(&picture.panels[0]));
            Ok(picture)
        }
        _ => several(request, watch),
    }
}

/// Several models of the same columns, each with its own line.
fn several(request: &Request, watch: &Watch) -> Result<Picture> {
    let table = request.table(Kind::Boundary)?;
    let first = &request.models[0];
    if let Some(other) = request.models.iter().find(|m| m.target != first.target) {
        return Err(Error::usage(format!("the models predict `{}` and `{}`", first.target, other.target))
            .help("compare models of one target"));
    }
    if request.plane.is_some_and(|p| p != PlaneChoice::Slice) {
        return Err(Error::usage("each model has its own normal: several are drawn in a slice through two columns")
            .help("choose the columns of the axes"));
    }
    let slice = |x: Option<String>, y: Option<String>| Request {
        x,
        y,
        plane: Some(PlaneChoice::Slice),
        at: request.at.clone(),
        ..Request::default()
    };
    let chosen = Viewed::choose(first, table, &slice(request.x.clone(), request.y.clone()), watch)?;
    let panel = plane::axes(&chosen.view.labels, &chosen.rows.at, true);
    let mut picture = Picture::new(Kind::Boundary.name(), format!("Boundaries for {}", first.target), panel);
    plane::add_rows(&mut picture, &chosen.rows);
    let window = picture.panels[0].window();
    let [x, y] = chosen.view.labels.clone();
    let mut sentences = Vec::new();
    for (at, model) in request.models.iter().enumerate() {
        let viewed = Viewed::choose(model, table, &slice(Some(x.clone()), Some(y.clone())), watch)?;
        let map = decision_map(&viewed.view, window, watch)?;
        let known = viewed.rows.classes.iter().filter(|c| c.is_some()).count();
        let name = request.name_of(at);
        let colour = if at == 0 { Colour::Ink } else { Colour::Class(first.classes.len() + at - 1) };
        let paths = map.edges.iter().map(|e| e.path.clone()).collect();
        let mark = Mark::lines(paths).width(1.5).colour(colour).dash(Dash::of_series(at)).label(&name);
        picture.keys.push(Key::new(&name, mark.clone()));
        picture.panels[0].marks.push(mark);
        let wrong = match known {
            0 => String::new(),
            _ => format!(" {} of {known} rows are misclassified.", viewed.rows.mistakes().len()),
        };
        sentences.push(format!("{name}: {}{wrong}", model_caption(model)));
    }
    sentences.push(chosen.view.said.clone());
    picture.caption = super::paragraph(&sentences.iter().map(String::as_str).collect::<Vec<&str>>());
    picture.notes.extend(plane::angle_note(&picture.panels[0]));
    Ok(picture)
}

/// Thin lines where the score of a single class is zero, of few classes with linear scores.
pub(super) fn add_own_lines(picture: &mut Picture, view: &View<'_>, watch: &Watch) -> Result<()> {
    let panel = &mut picture.panels[0];
    let window = panel.window();
    let Some(scores) = view.linear_scores(middle(window), watch)? else { return Ok(()) };
    let names = view.model.score_names();
    if scores.len() < 3 || scores.len() > MOST_OWN_LINES {
        return Ok(());
    }
    let pairs = view.model.split() == Some(linsep::model::Split::Pairs);
    for (k, (score, name)) in scores.iter().zip(&names).enumerate() {
        let Some((p, q)) = line_in(window, score) else { continue };
        let colour = if pairs { Colour::Muted } else { Colour::Class(k) };
        let mark =
            Mark::line(vec![p, q]).width(0.8).dash(Dash::Dashed).colour(colour).label(format!("g = 0 of {name}"));
        picture.keys.push(Key::new(format!("g = 0 of {}", name.replace("_vs_", " against ")), mark.clone()));
        panel.marks.push(mark);
    }
    Ok(())
}

/// The line between two classes, where it is one.
pub(super) fn one_line(view: &View<'_>, window: [f64; 4], watch: &Watch) -> Result<HalfPlane> {
    let (scores, cuts) = (view.linear_scores(middle(window), watch)?, view.arg_max_cuts());
    match (scores.as_deref(), cuts) {
        (Some([score]), Some(cuts)) => Ok(HalfPlane { c: score.c - cuts[0], ..*score }),
        _ => Err(Error::usage("distances and levels are drawn of the straight line between two classes")
            .help("fit two classes with a linear boundary")),
    }
}

/// Lines of equal score at whole numbers, and the same of twice the score: they are twice as dense, the boundary is the same.
fn add_levels(picture: &mut Picture, view: &View<'_>, watch: &Watch) -> Result<()> {
    let window = picture.panels[0].window();
    let line = one_line(view, window, watch)?;
    let corners = crate::clip::corners(window);
    let reach = corners.iter().map(|p| line.value(*p).abs()).fold(0.0, f64::max);
    let step = crate::scene::nice_step(reach, LEVELS);
    for (factor, dash, name) in [(1.0, Dash::Dashed, "levels of g"), (0.5, Dash::Dotted, "levels of 2g, between them")]
    {
        let mut paths = Vec::new();
        for k in (-LEVELS..=LEVELS).filter(|k| *k != 0) {
            // Every second level of 2g is one of g.
            if factor < 1.0 && k % 2 == 0 {
                continue;
            }
            let value = k as f64 * step * factor;
            if let Some((p, q)) = line_in(window, &HalfPlane { c: line.c - value, ..line }) {
                if factor == 1.0 {
                    let at = [p[0] + 0.04 * (q[0] - p[0]), p[1] + 0.04 * (q[1] - p[1])];
                    picture.panels[0]
                        .marks
                        .push(Mark::text(at, crate::scene::number_text(value)).colour(Colour::Muted));
                }
                paths.push(vec![p, q]);
            }
        }
        let mark = Mark::lines(paths).width(0.8).dash(dash).colour(Colour::Muted).label(name);
        picture.keys.push(Key::new(name, mark.clone()));
        picture.panels[0].marks.push(mark);
    }
    Ok(())
}

/// Levels on either side of the boundary.
const LEVELS: i32 = 5;

fn middle(window: [f64; 4]) -> Point {
    [0.5 * (window[0] + window[2]), 0.5 * (window[1] + window[3])]
}

/// The normal of the one line between two classes, from the point of it nearest to the middle, where angles are right.
pub(super) fn add_normal(panel: &mut Panel, view: &View<'_>, watch: &Watch) -> Result<()> {
    let window = panel.window();
    let (Some(scores), Some(cuts), true) =
        (view.linear_scores(middle(window), watch)?, view.arg_max_cuts(), panel.equal)
    else {
        return Ok(());
    };
    let [score] = scores[..] else { return Ok(()) };
    let line = HalfPlane { c: score.c - cuts[0], ..score };
    let Some((p, q)) = line_in(window, &line) else { return Ok(()) };
    let (norm, at) = (line.a.hypot(line.b), [0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1])]);
    if norm == 0.0 {
        return Ok(());
    }
    let length = NORMAL * (window[2] - window[0]);
    let tip = [at[0] + length * line.a / norm, at[1] + length * line.b / norm];
    panel.marks.push(Mark::arrow(at, tip).width(1.4).label("normal"));
    panel.marks.push(Mark::points(vec![at], Symbol::Circle).colour(Colour::Ink).label("x₀"));
    panel.marks.push(Mark::text(at, "x₀"));
    panel.marks.push(Mark::text(tip, "w"));
    Ok(())
}

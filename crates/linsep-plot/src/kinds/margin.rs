//! The slab around the boundary of two classes: support vectors, slacks, and how wide it is.

use super::{Kind, Request, feet, plane};
use crate::caption::model_caption;
use crate::clip::{HalfPlane, corners, line_in, polygon};
use crate::scene::{Colour, Dash, Key, Mark, Picture, Point, Symbol, number_text};
use crate::subject::{LabelledPoints, Viewed};
use linsep::watch::Watch;
use linsep::workflow::{SupportRow, support_tables};
use linsep::{Error, Result};

/// Slacks are drawn for at most so many rows: more lines are a grey area. Chosen by eye.
const MOST_SLACKS: usize = 80;

pub(super) fn picture(request: &Request, watch: &Watch) -> Result<Picture> {
    let model = request.model(Kind::Margin)?;
    let table = request.table(Kind::Margin)?;
    if model.discriminant.as_linear().is_none() || model.discriminant.n_scores() != 1 {
        return Err(Error::usage(
            "a margin is drawn of two classes with a linear boundary, and this model has another",
        )
        .help("draw `boundary` or `regions` of it"));
    }
    let Viewed { view, rows } = Viewed::choose(model, table, request, watch)?;
    let panel = plane::axes(&view.labels, &rows.at, true);
    let mut picture = Picture::new(Kind::Margin.name(), format!("Margin for {}", model.target), panel);
    let window = picture.panels[0].window();
    let middle = [0.5 * (window[0] + window[2]), 0.5 * (window[1] + window[3])];
    let scores = view.linear_scores(middle, watch)?;
    let Some([score]) = scores.as_deref() else {
        return Err(Error::usage("in this plane the boundary is curved: columns were multiplied or transformed")
            .help("draw `boundary` of it"));
    };
    let machine = model.support_vectors.is_some();
    let half = match machine {
        true => 1.0,
        false => nearest(score, &rows)?,
    };
    add_slab(&mut picture, score, half, machine);
    plane::add_rows(&mut picture, &rows);
    let norm = score.a.hypot(score.b);
    let supports = match machine {
        true => add_supports(&mut picture, request, &rows, score, watch)?,
        false => {
            let at = (0..rows.at.len()).filter(|i| (score.value(rows.at[*i]).abs() - half).abs() <= 1e-9 * half);
            ring(&mut picture, at.map(|i| rows.at[i]).collect(), "nearest rows", Colour::Ink);
            String::new()
        }
    };
    if request.shows("distances") {
        feet::add_distances(&mut picture, score, &rows)?;
    }
    if request.shows("balls") {
        feet::add_balls(&mut picture, score, &rows)?;
    }
    if picture.panels[0].equal {
        add_width(&mut picture, score, half, machine);
    }
    let said_width = format!(
        "The slab is {} wide{} {}.",
        number_text(2.0 * half / norm),
        if machine { " (2/‖w‖)" } else { ", twice the distance of the nearest row," },
        if view.same_units { "in the units of the axes" } else { "in the units of the columns" }
    );
    // Not ringed: every one of them is a support vector already, or there is none.
    let wrong = format!("{} rows are misclassified.", rows.mistakes().len());
    picture.caption = super::paragraph(&[&model_caption(model), &said_width, &supports, &wrong, &view.said]);
    picture.notes.extend(plane::angle_note(&picture.panels[0]));
    Ok(picture)
}

/// The smallest |g| of a row, of a model that decides all rows rightly.
fn nearest(score: &HalfPlane, rows: &LabelledPoints) -> Result<f64> {
    if !rows.mistakes().is_empty() {
        return Err(Error::usage(
            "a model that is no support vector machine has a margin where it decides all rows rightly",
        )
        .help("draw `boundary`, which rings the mistakes")
        .help("fit a support vector machine"));
    }
    let found = rows.at.iter().map(|p| score.value(*p).abs()).fold(f64::INFINITY, f64::min);
    match found > 0.0 && found.is_finite() {
        true => Ok(found),
        false => Err(Error::data("a row lies on the boundary: the margin is zero")),
    }
}

fn add_slab(picture: &mut Picture, score: &HalfPlane, half: f64, machine: bool) {
    let panel = &mut picture.panels[0];
    let window = panel.window();
    let side = |sign: f64| HalfPlane { a: sign * score.a, b: sign * score.b, c: sign * score.c + half };
    let slab = polygon(&polygon(&corners(window), &side(1.0)), &side(-1.0));
    if slab.len() >= 3 {
        panel.marks.push(Mark::area(vec![slab]).colour(Colour::Muted).opacity(0.13).label("slab"));
    }
    let at = |value: f64| line_in(window, &HalfPlane { c: score.c - value, ..*score });
    let edges: Vec<Vec<Point>> = [half, -half].into_iter().filter_map(at).map(|(p, q)| vec![p, q]).collect();
    let name = if machine { "g = ±1" } else { "nearest rows' distance" };
    let mark = Mark::lines(edges).dash(Dash::Dashed).label(name);
    let middle = at(0.0).map(|(p, q)| Mark::line(vec![p, q]).width(1.7).label("g = 0"));
    picture.keys.extend(middle.iter().map(|m| Key::new("g = 0", m.clone())));
    picture.keys.push(Key::new(name, mark.clone()));
    panel.marks.push(mark);
    panel.marks.extend(middle);
}

fn ring(picture: &mut Picture, at: Vec<Point>, name: &str, colour: Colour) {
    if at.is_empty() {
        return;
    }
    let mark = Mark::points(at, Symbol::Ring).width(1.9).colour(colour).label(name);
    picture.keys.push(Key::new(name, mark.clone()));
    picture.panels[0].marks.push(mark);
}

/// Rings around support vectors, and the slack of each that has one; a sentence that counts them.
fn add_supports(
    picture: &mut Picture,
    request: &Request,
    rows: &LabelledPoints,
    score: &HalfPlane,
    watch: &Watch,
) -> Result<String> {
    let (model, table) = (request.model(Kind::Margin)?, request.table(Kind::Margin)?);
    let Ok(tables) = support_tables(model, table, watch) else {
        picture.notes.push("This is not the table of the fit: its support vectors are not known.".to_owned());
        return Ok(String::new());
    };
    let supports: Vec<SupportRow> = tables.into_iter().flat_map(|t| t.rows).collect();
    let place = |s: &SupportRow| rows.table_rows.binary_search(&s.row).ok().map(|i| rows.at[i]);
    let (bounded, free): (Vec<&SupportRow>, Vec<&SupportRow>) = supports.iter().partition(|s| s.bounded);
    let mut slack: Vec<&&SupportRow> = bounded.iter().filter(|s| s.slack > 0.0).collect();
    slack.sort_by(|a, b| b.slack.total_cmp(&a.slack));
    let squared = score.a * score.a + score.b * score.b;
    let lines: Vec<Vec<Point>> = slack
        .iter()
        .take(MOST_SLACKS)
        .filter_map(|s| {
            let at = place(s)?;
            // To the line g = ±1 of its own class, along the normal.
            let wanted = if s.class.index() == 1 { 1.0 } else { -1.0 };
            let step = (wanted - score.value(at)) / squared;
            Some(vec![at, [at[0] + step * score.a, at[1] + step * score.b]])
        })
        .collect();
    if !lines.is_empty() {
        let mark = Mark::lines(lines).width(0.7).colour(Colour::Muted).label("slack ξ");
        picture.keys.push(Key::new("slack ξ/‖w‖", mark.clone()));
        // Under the rows.
        let first = picture.panels[0].marks.iter().position(|m| matches!(m.shape, crate::scene::Shape::Points { .. }));
        picture.panels[0].marks.insert(first.unwrap_or(0), mark);
    }
    ring(picture, free.iter().filter_map(|s| place(s)).collect(), "support vector, free", Colour::Ink);
    ring(picture, bounded.iter().filter_map(|s| place(s)).collect(), "support vector, at its bound", Colour::Muted);
    Ok(format!("{} support vectors, {} of them free.", supports.len(), free.len()))
}

/// The width as an arrow across the slab.
fn add_width(picture: &mut Picture, score: &HalfPlane, half: f64, machine: bool) {
    let panel = &mut picture.panels[0];
    let window = panel.window();
    let squared = score.a * score.a + score.b * score.b;
    let Some((p, q)) = line_in(window, score) else { return };
    // Near an end of the line, where rows are few.
    let at = [p[0] + 0.1 * (q[0] - p[0]), p[1] + 0.1 * (q[1] - p[1])];
    let tip = [at[0] + half / squared * score.a, at[1] + half / squared * score.b];
    panel.marks.push(Mark::arrow(at, tip).width(1.2).label("half the width"));
    let text = if machine { "1/‖w‖".to_owned() } else { number_text(half / squared.sqrt()) };
    panel.marks.push(Mark::text([0.5 * (at[0] + tip[0]), 0.5 * (at[1] + tip[1])], text));
}

//! Convex hulls of the classes: the nearest points of two, or one that they share.

use super::{Kind, Request, plane, scatter};
use crate::clip::doubled_area;
use crate::scene::{Colour, Key, Mark, Picture, Point, Symbol, number_text};
use crate::subject::LabelledPoints;
use linsep::design::RecipeOptions;
use linsep::separate::Verdict;
use linsep::watch::Watch;
use linsep::workflow::{SeparableOptions, separable_table};
use linsep::{Error, Result};

/// Half a unit of the third digit, the last that a caption shows of a small number: bounds that agree so far are one number.
const SHOWN_GAP: f64 = 5e-4;

pub(super) fn picture(request: &Request, watch: &Watch) -> Result<Picture> {
    let table = request.table(Kind::Hulls)?;
    let target = request.target.clone().or_else(|| request.models.first().map(|m| m.target.clone()));
    let Some(target) = target else {
        return Err(Error::usage("hulls are drawn of classes, and no column of classes is named")
            .help("name the column of the classes")
            .help("give a model, which knows it"));
    };
    let named =
        Request { target: Some(target.clone()), x: request.x.clone(), y: request.y.clone(), ..Request::default() };
    let (rows, said, labels) = scatter::of_table(table, &named)?;
    let panel = plane::axes(&labels, &rows.at, true);
    let mut picture = Picture::new(Kind::Hulls.name(), format!("Hulls of {target}"), panel);
    for (class, name) in rows.names.iter().enumerate() {
        let own = (0..rows.at.len()).filter(|i| rows.classes[*i] == Some(class)).map(|i| rows.at[i]).collect();
        let ring = hull(own);
        if ring.len() < 2 {
            continue;
        }
        let outline: Vec<Point> = ring.iter().chain(ring.first()).copied().collect();
        let marks = &mut picture.panels[0].marks;
        if ring.len() > 2 && doubled_area(&ring) > 0.0 {
            marks.push(
                Mark::area(vec![ring]).colour(Colour::Class(class)).opacity(0.14).label(format!("hull of {name}")),
            );
        }
        marks.push(Mark::line(outline).colour(Colour::Class(class)).width(1.1).label(format!("outline of {name}")));
    }
    plane::add_rows(&mut picture, &rows);
    let found = match rows.names.len() {
        2 => verdict(&mut picture, request, &rows, (&target, &labels), watch)?,
        k => format!("{k} classes: nearest points are those of two."),
    };
    picture.caption = super::paragraph(&[&found, &said]);
    picture.notes.extend(plane::angle_note(&picture.panels[0]));
    Ok(picture)
}

/// Whether a line separates the two classes, with its witness drawn.
fn verdict(
    picture: &mut Picture,
    request: &Request,
    rows: &LabelledPoints,
    (target, labels): (&str, &[String; 2]),
    watch: &Watch,
) -> Result<String> {
    let table = request.table(Kind::Hulls)?.clone();
    let mut options = SeparableOptions::new(target);
    options.recipe = RecipeOptions { features: Some(labels.to_vec()), ..RecipeOptions::default() };
    let found = separable_table(table, &options, watch)?;
    let Some((_, answer)) = found.answers.first() else { return Ok(String::new()) };
    let place = |row: usize| rows.table_rows.binary_search(&row).ok();
    let mix = |weights: &mut dyn Iterator<Item = (usize, f64)>, class: usize| {
        let (mut sum, mut total) = ([0.0, 0.0], 0.0);
        for (row, weight) in weights {
            if let Some(i) = place(row).filter(|i| rows.classes[*i] == Some(class)) {
                sum = [sum[0] + weight * rows.at[i][0], sum[1] + weight * rows.at[i][1]];
                total += weight;
            }
        }
        (total > 0.0).then(|| [sum[0] / total, sum[1] / total])
    };
    Ok(match &answer.verdict {
        Verdict::Complete(complete) => {
            if let Some(nearest) = &complete.hull {
                let point = |class| mix(&mut nearest.weights.iter().copied(), class);
                if let (Some(p), Some(q)) = (point(0), point(1)) {
                    add_nearest(picture, p, q);
                }
            }
            let width = number_text(complete.margin);
            match &complete.hull {
                Some(nearest) if nearest.gap <= SHOWN_GAP => format!(
                    "A line separates the classes. x* and y* are the nearest points of their hulls; the widest plane is the \
                     perpendicular bisector between them, with the margin ½‖x* − y*‖ = {width}. No point of a hull lies beyond \
                     its supporting line, so no angle there between w and the hull is acute."
                ),
                Some(nearest) => format!(
                    "A line separates the classes. x* and y* are near points of their hulls: the widest margin is between \
                     {width} and ½‖x* − y*‖ = {}.",
                    number_text(0.5 * nearest.distance)
                ),
                None => format!("A line separates the classes, with a margin of at least {width}."),
            }
        }
        Verdict::Overlap(overlap) => {
            let mut sentence = "No line separates the classes: their hulls overlap.".to_owned();
            if let Some(common) = &overlap.common {
                let weights: Vec<(usize, f64)> = common.constraints.iter().map(|c| (c.row, c.weight)).collect();
                if let Some(point) = mix(&mut weights.iter().copied(), 0) {
                    let used = weights.iter().filter_map(|(row, _)| place(*row)).map(|i| rows.at[i]).collect();
                    let ring = Mark::points(used, Symbol::Ring).width(1.9).label("rows of the common point");
                    picture.keys.push(Key::new("rows of the common point", ring.clone()));
                    let star =
                        Mark::points(vec![point], Symbol::Cross).colour(Colour::Ink).width(1.5).label("common point");
                    picture.keys.push(Key::new("common point", star.clone()));
                    picture.panels[0].marks.extend([ring, star]);
                    sentence.push_str(" The common point is a mixture of the ringed rows of either class");
                    sentence.push_str(if common.is_exact() { ", proved in whole numbers." } else { "." });
                }
            }
            sentence
        }
        Verdict::QuasiComplete(_) => {
            "No line has all rows strictly on their sides, but one has none on the wrong side: the hulls touch."
                .to_owned()
        }
        _ => "Whether a line separates the classes was not decided.".to_owned(),
    })
}

fn add_nearest(picture: &mut Picture, p: Point, q: Point) {
    let middle = [0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1])];
    let panel = &mut picture.panels[0];
    let window = panel.window();
    let (a, b) = (q[0] - p[0], q[1] - p[1]);
    let line = crate::clip::HalfPlane { a, b, c: -a * middle[0] - b * middle[1] };
    // The bisector is perpendicular only where a unit is a unit on both axes.
    if panel.equal
        && let Some((from, to)) = crate::clip::line_in(window, &line)
    {
        let mark = Mark::line(vec![from, to]).width(1.7).label("widest plane");
        picture.keys.push(Key::new("widest plane", mark.clone()));
        panel.marks.push(mark);
        // Beyond these lines there is nothing of a hull: no angle at x* or y* between w and the hull is acute.
        let through =
            |r: Point| crate::clip::line_in(window, &crate::clip::HalfPlane { a, b, c: -a * r[0] - b * r[1] });
        let paths: Vec<Vec<Point>> = [p, q].into_iter().filter_map(through).map(|(s, t)| vec![s, t]).collect();
        let mark = Mark::lines(paths).width(0.9).dash(crate::scene::Dash::Dashed).colour(Colour::Muted);
        let mark = mark.label("supporting lines");
        picture.keys.push(Key::new("supporting lines", mark.clone()));
        panel.marks.push(mark);
        let beyond = [q[0] + 0.6 * a, q[1] + 0.6 * b];
        panel.marks.push(Mark::arrow(q, beyond).width(1.3).label("w"));
        panel.marks.push(Mark::text(beyond, "w"));
    }
    panel.marks.push(Mark::line(vec![p, q]).width(1.1).dash(crate::scene::Dash::Dashed).label("‖x* − y*‖"));
    panel.marks.push(Mark::points(vec![p, q], Symbol::Diamond).colour(Colour::Ink).width(1.2).label("x*, y*"));
    panel.marks.push(Mark::points(vec![middle], Symbol::Circle).colour(Colour::Ink).width(0.8).label("x₀"));
    panel.marks.extend([Mark::text(p, "x*"), Mark::text(q, "y*"), Mark::text(middle, "x₀")]);
}

/// The corners of the hull, counter-clockwise (A. M. Andrew, Inf. Proc. Letters 9, 1979).
fn hull(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let turn = |a: Point, b: Point, c: Point| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let chain = |points: &mut dyn Iterator<Item = Point>| {
        let mut kept: Vec<Point> = Vec::new();
        for p in points {
            while let [.., a, b] = kept[..]
                && turn(a, b, p) <= 0.0
            {
                kept.pop();
            }
            kept.push(p);
        }
        kept.pop();
        kept
    };
    let lower = chain(&mut points.iter().copied());
    let upper = chain(&mut points.iter().rev().copied());
    [lower, upper].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hull_of_a_square_has_four_corners() {
        let mut points = vec![[0.5, 0.5], [1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.0], [0.2, 0.7]];
        assert_eq!(hull(points.clone()), [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
        points.truncate(1);
        assert_eq!(hull(points), [[0.5, 0.5]]);
        assert_eq!(hull(vec![[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]).len(), 2);
    }
}

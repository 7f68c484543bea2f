//! Rows and the feet of their perpendiculars on a line.

use crate::clip::HalfPlane;
use crate::scene::{Colour, Dash, Key, Mark, Picture, Point, Symbol, number_text};
use crate::subject::LabelledPoints;
use linsep::{Error, Result};

/// Perpendiculars are drawn of at most so many rows, balls and numbers of fewer: more of them hide each other. Chosen by eye.
const MOST_LINES: usize = 120;
/// See [`MOST_LINES`].
const MOST_BALLS: usize = 8;
/// See [`MOST_LINES`].
const MOST_NUMBERS: usize = 24;

/// Signed distance of a point, and its foot.
fn foot(line: &HalfPlane, p: Point) -> Result<(f64, Point)> {
    let squared = line.a * line.a + line.b * line.b;
    if !(squared > 0.0) {
        return Err(Error::data("the score does not change in this plane: there is no line to measure from"));
    }
    let step = line.value(p) / squared;
    Ok((line.value(p) / squared.sqrt(), [p[0] - step * line.a, p[1] - step * line.b]))
}

fn equal(picture: &Picture) -> Result<()> {
    match picture.panels[0].equal {
        true => Ok(()),
        false => {
            Err(Error::usage("distances are drawn where both axes are to one scale, and these ranges differ too much")
                .help("standardise the columns, or choose others"))
        }
    }
}

/// Lines from rows to their feet; of few rows with their signed distances.
pub(super) fn add_distances(picture: &mut Picture, line: &HalfPlane, rows: &LabelledPoints) -> Result<()> {
    equal(picture)?;
    let mut paths = Vec::new();
    let few = rows.at.len() <= MOST_NUMBERS;
    for p in rows.at.iter().take(MOST_LINES) {
        let (distance, at) = foot(line, *p)?;
        paths.push(vec![*p, at]);
        if few {
            let middle = [0.5 * (p[0] + at[0]), 0.5 * (p[1] + at[1])];
            picture.panels[0].marks.push(Mark::text(middle, number_text(distance)).colour(Colour::Muted));
        }
    }
    let mark = Mark::lines(paths).width(0.8).dash(Dash::Dashed).colour(Colour::Muted).label("distance g(x)/‖w‖");
    picture.keys.push(Key::new("distance g(x)/‖w‖", mark.clone()));
    picture.panels[0].marks.insert(0, mark);
    if rows.at.len() > MOST_LINES {
        picture.notes.push(format!("Distances of the first {MOST_LINES} rows are drawn."));
    }
    Ok(())
}

/// Around every row the ball that touches the line.
pub(super) fn add_balls(picture: &mut Picture, line: &HalfPlane, rows: &LabelledPoints) -> Result<()> {
    equal(picture)?;
    // Corners of a circle: at 72 a chord of 200 pixels' radius is off by a fifth of one.
    let circle = |centre: Point, r: f64| -> Vec<Point> {
        let at = |k: usize| (std::f64::consts::TAU * k as f64 / 72.0).sin_cos();
        (0..=72).map(|k| [centre[0] + r * at(k).1, centre[1] + r * at(k).0]).collect()
    };
    let mut order: Vec<(f64, usize)> = Vec::new();
    for (i, p) in rows.at.iter().enumerate() {
        order.push((foot(line, *p)?.0.abs(), i));
    }
    // The nearest rows say most.
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    for class in 0..rows.names.len() {
        let own = order.iter().take(MOST_BALLS).filter(|(_, i)| rows.classes[*i] == Some(class));
        let paths: Vec<Vec<Point>> = own.map(|(r, i)| circle(rows.at[*i], *r)).collect();
        if !paths.is_empty() {
            let mark = Mark::lines(paths).width(0.8).colour(Colour::Class(class)).label("ball δ");
            if !picture.keys.iter().any(|k| k.label == "ball of radius δ") {
                picture.keys.push(Key::new("ball of radius δ", mark.clone()));
            }
            picture.panels[0].marks.push(mark);
        }
    }
    if rows.at.len() > MOST_BALLS {
        picture.notes.push(format!("Balls of the {MOST_BALLS} rows nearest to the boundary are drawn."));
    }
    Ok(())
}

/// One row x, its projection on the line, and the normal from there.
pub(super) fn add_projection(picture: &mut Picture, line: &HalfPlane, rows: &LabelledPoints, row: usize) -> Result<()> {
    equal(picture)?;
    let missing = || {
        Error::usage(format!("row {row} is not among those drawn: it does not exist, or misses a cell"))
            .help("rows are counted from 1")
    };
    let at = row.checked_sub(1).and_then(|r| rows.table_rows.binary_search(&r).ok()).ok_or_else(missing)?;
    let x = rows.at[at];
    let (distance, at) = foot(line, x)?;
    let panel = &mut picture.panels[0];
    let window = panel.window();
    let norm = line.a.hypot(line.b);
    let length = 0.14 * (window[2] - window[0]);
    // The normal starts elsewhere on the line, where it covers neither the row nor its perpendicular.
    let along = [-line.b / norm, line.a / norm];
    let inside = |p: &Point| p[0] > window[0] && p[0] < window[2] && p[1] > window[1] && p[1] < window[3];
    let places = [1.6, -1.6, 1.0, -1.0, 0.6, -0.6];
    let origin = places
        .iter()
        .map(|s| [at[0] + s * length * along[0], at[1] + s * length * along[1]])
        .find(inside)
        .unwrap_or(at);
    let tip = [origin[0] + length * line.a / norm, origin[1] + length * line.b / norm];
    panel.marks.push(Mark::arrow(origin, tip).width(1.4).label("normal"));
    panel.marks.push(Mark::points(vec![origin], Symbol::Circle).colour(Colour::Ink).width(0.8).label("x₀"));
    panel.marks.push(Mark::line(vec![x, at]).width(1.4).dash(Dash::Dashed).label("r"));
    panel.marks.push(Mark::points(vec![x, at], Symbol::Diamond).colour(Colour::Ink).width(1.2).label("x, xₚ"));
    let middle = [0.5 * (x[0] + at[0]), 0.5 * (x[1] + at[1])];
    panel.marks.extend([
        Mark::text(x, "x"),
        Mark::text(at, "xₚ"),
        Mark::text(middle, format!("r = {}", number_text(distance))),
        Mark::text(tip, "w"),
        Mark::text(origin, "x₀"),
    ]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foot_lies_on_the_line_below_its_point() {
        let line = HalfPlane { a: 3.0, b: 4.0, c: -5.0 };
        let (distance, at) = foot(&line, [3.0, 4.0]).unwrap();
        assert!((distance - 4.0).abs() < 1e-15 && line.value(at).abs() < 1e-14);
        assert!((at[0] - 0.6).abs() < 1e-15 && (at[1] - 0.8).abs() < 1e-15);
        assert!(foot(&HalfPlane { a: 0.0, b: 0.0, c: 1.0 }, [0.0, 0.0]).is_err());
    }
}

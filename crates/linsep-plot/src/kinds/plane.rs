//! What pictures of rows in a plane have in common: axes, symbols by class, rings around mistakes, notes.

use crate::scene::{Axis, Colour, Key, Mark, Panel, Picture, Point, Symbol, number_text};
use crate::subject::{LabelledPoints, MOST_SHOWN, thinned};

/// Ranges that differ by more are not drawn to one scale: the picture would be a stripe. Chosen by eye.
const STRIPE: f64 = 4.0;
/// Height over width of a panel with equal axes, at least and at most.
const SHAPES: (f64, f64) = (0.6, 1.0);

/// Axes around points. Where equal ones are wanted and possible the ranges are widened to a shape that fits a page.
pub(super) fn axes(labels: &[String; 2], points: &[Point], wants_equal: bool) -> Panel {
    let mut x = Axis::around(&labels[0], points.iter().map(|p| p[0]));
    let mut y = Axis::around(&labels[1], points.iter().map(|p| p[1]));
    let span = |axis: &Axis| axis.range.1 - axis.range.0;
    let ratio = span(&y) / span(&x);
    let equal = wants_equal && (1.0 / STRIPE..=STRIPE).contains(&ratio);
    if equal {
        let widen = |axis: &mut Axis, by: f64| {
            let (low, high) = axis.range;
            let more = 0.5 * (by - 1.0) * (high - low);
            axis.range = (low - more, high + more);
        };
        if ratio < SHAPES.0 {
            widen(&mut y, SHAPES.0 / ratio);
        } else if ratio > SHAPES.1 {
            widen(&mut x, ratio / SHAPES.1);
        }
    }
    Panel { equal, ..Panel::new(x, y) }
}

/// Adds symbols and keys of the rows, class by class; rows without a class in grey.
pub(super) fn add_rows(picture: &mut Picture, rows: &LabelledPoints) {
    let shown = thinned(rows.at.len());
    let unknown: Vec<Point> = shown.iter().filter(|i| rows.classes[**i].is_none()).map(|i| rows.at[*i]).collect();
    let panel = &mut picture.panels[0];
    if !unknown.is_empty() {
        let mark = Mark::points(unknown, Symbol::Circle).colour(Colour::Muted).opacity(0.55).label("class not known");
        picture.keys.push(Key::new("class not known", mark.clone()));
        panel.marks.push(mark);
    }
    // Classes in turn, so that the last does not cover the others: by rows, in the order of the table.
    let mut marks: Vec<Mark> = Vec::new();
    for (class, name) in rows.names.iter().enumerate() {
        let at: Vec<Point> = shown.iter().filter(|i| rows.classes[**i] == Some(class)).map(|i| rows.at[*i]).collect();
        if at.is_empty() {
            continue;
        }
        marks.push(class_points(class, at, name));
    }
    picture.keys.extend(marks.iter().map(|m| Key::new(m.label.clone().unwrap_or_default(), m.clone())));
    panel.marks.extend(marks);
    picture.notes.extend(notes(rows));
}

/// Symbols in the style of a class.
pub(super) fn class_points(class: usize, at: Vec<Point>, name: &str) -> Mark {
    Mark::points(at, Symbol::of_class(class)).colour(Colour::Class(class)).opacity(0.9).label(name)
}

fn notes(rows: &LabelledPoints) -> Vec<String> {
    let mut notes = Vec::new();
    if rows.at.len() > MOST_SHOWN {
        let (shown, all) = (number_text(MOST_SHOWN as f64), number_text(rows.at.len() as f64));
        notes.push(format!("{shown} of {all} rows are drawn, evenly over the table; counts are of all."));
    }
    if rows.left_out > 0 {
        let what = if rows.left_out == 1 { "row misses a cell and is" } else { "rows miss a cell and are" };
        notes.push(format!("{} {what} not drawn.", number_text(rows.left_out as f64)));
    }
    notes
}

/// Adds rings around the rows that are decided wrongly; the sentence that counts them.
pub(super) fn add_mistakes(picture: &mut Picture, rows: &LabelledPoints) -> String {
    let known = rows.classes.iter().filter(|c| c.is_some()).count();
    if known == 0 {
        return String::new();
    }
    let wrong = rows.mistakes();
    let shown = thinned(rows.at.len());
    let at: Vec<Point> = wrong.iter().filter(|i| shown.binary_search(i).is_ok()).map(|i| rows.at[*i]).collect();
    if !at.is_empty() {
        let mark = Mark::points(at, Symbol::Ring).width(1.9).label("misclassified");
        picture.keys.push(Key::new("misclassified", mark.clone()));
        picture.panels[0].marks.push(mark);
    }
    format!("{} of {} rows are misclassified.", number_text(wrong.len() as f64), number_text(known as f64))
}

/// A note where angles are not right.
pub(super) fn angle_note(panel: &Panel) -> Option<String> {
    (!panel.equal).then(|| "The axes are not to one scale: right angles do not look right.".to_owned())
}

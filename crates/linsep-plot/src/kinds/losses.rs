//! Losses as functions of the margin y·g(x).

use super::{Kind, Request};
use crate::scene::{Axis, Colour, Dash, Key, Mark, Panel, Picture, Point};
use linsep::{Error, Result};

/// Ends of the axes: the corner of every loss is inside.
const MARGINS: (f64, f64) = (-2.5, 2.5);
/// See [`MARGINS`].
const VALUES: (f64, f64) = (-0.15, 4.0);
/// Steps along the axis; corners at whole numbers are among them.
const STEPS: usize = 200;

/// A loss of a margin.
type Loss = fn(f64) -> f64;

pub(super) fn picture(request: &Request) -> Result<Picture> {
    if !request.models.is_empty() || request.table.is_some() {
        return Err(Error::usage("losses are drawn of no model and no table").help("leave the files out"));
    }
    let x = Axis::new("margin y·g(x)", MARGINS);
    let mut panel = Panel::new(x, Axis::new("loss", VALUES));
    panel.marks.push(Mark::line(vec![[0.0, VALUES.0], [0.0, VALUES.1]]).width(0.6).colour(Colour::Muted));
    let mut picture = Picture::new(Kind::Losses.name(), "Losses of a margin", panel);
    let curves: [(&str, Loss); 6] = [
        ("perceptron max(0, −m)", |m| (-m).max(0.0)),
        ("hinge max(0, 1−m)", |m| (1.0 - m).max(0.0)),
        ("logistic log₂(1+exp(−m))", |m| linsep::numeric::softplus(-m) / std::f64::consts::LN_2),
        ("squared hinge max(0, 1−m)²", |m| (1.0 - m).max(0.0).powi(2)),
        ("squared (1−m)²", |m| (1.0 - m).powi(2)),
        ("0–1", |m| if m > 0.0 { 0.0 } else { 1.0 }),
    ];
    for (at, (name, loss)) in curves.into_iter().enumerate() {
        let paths = match name {
            "0–1" => vec![vec![[MARGINS.0, 1.0], [0.0, 1.0]], vec![[0.0, 0.0], [MARGINS.1, 0.0]]],
            _ => vec![curve(loss)],
        };
        let (colour, width) = if name == "0–1" { (Colour::Ink, 2.2) } else { (Colour::Class(at), 1.6) };
        let dash = if name == "0–1" { Dash::Solid } else { Dash::of_series(at) };
        let mark = Mark::lines(paths).colour(colour).width(width).dash(dash).label(name);
        picture.keys.push(Key::new(name, mark.clone()));
        picture.panels[0].marks.push(mark);
    }
    picture.caption =
        "The logistic loss is in bits, so that it passes through 1 at margin 0. Hinge, squared hinge, logistic \
                       and squared loss lie nowhere below the 0–1 loss; the perceptron's does."
            .to_owned();
    Ok(picture)
}

fn curve(loss: Loss) -> Vec<Point> {
    let margin = |k: usize| MARGINS.0 + (MARGINS.1 - MARGINS.0) * k as f64 / STEPS as f64;
    (0..=STEPS).map(|k| [margin(k), loss(margin(k))]).collect()
}

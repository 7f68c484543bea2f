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
    if request.shows("probability") {
        return Ok(of_a_probability());
    }
    let rectified: (&str, Loss) = ("ReLU max(0, m)", |m| m.max(0.0));
    let curves: [(&str, Loss); 6] = [
        ("perceptron max(0, −m)", |m| (-m).max(0.0)),
        ("hinge max(0, 1−m)", |m| (1.0 - m).max(0.0)),
        ("logistic log₂(1+exp(−m))", |m| linsep::numeric::softplus(-m) / std::f64::consts::LN_2),
        ("squared hinge max(0, 1−m)²", |m| (1.0 - m).max(0.0).powi(2)),
        ("squared (1−m)²", |m| (1.0 - m).powi(2)),
        ("0–1", |m| if m > 0.0 { 0.0 } else { 1.0 }),
    ];
    let chosen: Vec<(&str, Loss)> = match request.shows("relu") {
        true => vec![curves[0], rectified, curves[5]],
        false => curves.to_vec(),
    };
    for (at, (name, loss)) in chosen.into_iter().enumerate() {
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
    if request.shows("relu") {
        picture.caption = "The loss of the perceptron is the rectifier of −m: max(0, −m).".to_owned();
        return Ok(picture);
    }
    picture.caption =
        "The logistic loss is in bits, so that it passes through 1 at margin 0. Hinge, squared hinge, logistic \
                       and squared loss lie nowhere below the 0–1 loss; the perceptron's does."
            .to_owned();
    Ok(picture)
}

/// Two losses of the probability of one row, by its one weight.
fn of_a_probability() -> Picture {
    let ends = (-6.0, 6.0);
    let mut panel = Panel::new(Axis::new("θ", ends), Axis::new("J(θ)", (-0.15, 4.0)));
    let at = |k: usize| ends.0 + (ends.1 - ends.0) * k as f64 / STEPS as f64;
    let losses: [(&str, Loss); 2] = [
        ("logarithmic −log σ(θ)", |t| linsep::numeric::softplus(-t)),
        ("squared (1 − σ(θ))²", |t| linsep::numeric::logistic(-t).powi(2)),
    ];
    let mut keys = Vec::new();
    for (series, (name, loss)) in losses.into_iter().enumerate() {
        let path = (0..=STEPS).map(|k| [at(k), loss(at(k))]).collect();
        let mark = Mark::line(path).colour(Colour::Class(series)).dash(Dash::of_series(series)).width(1.7).label(name);
        keys.push(Key::new(name, mark.clone()));
        panel.marks.push(mark);
    }
    let mut picture = Picture::new(Kind::Losses.name(), "Losses of a probability, one row with x = 1 and y = 1", panel);
    picture.keys = keys;
    picture.caption =
        "σ(θ) is the probability that the row has. The logarithmic loss is convex; the squared one is not, and \
                       is flat where the row is badly wrong, so that descent hardly moves."
            .to_owned();
    picture
}

fn curve(loss: Loss) -> Vec<Point> {
    let margin = |k: usize| MARGINS.0 + (MARGINS.1 - MARGINS.0) * k as f64 / STEPS as f64;
    (0..=STEPS).map(|k| [margin(k), loss(margin(k))]).collect()
}

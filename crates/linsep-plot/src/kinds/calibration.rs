//! Predicted probabilities against what came.

use super::{Kind, Request};
use crate::caption::model_caption;
use crate::scene::{Axis, Colour, Key, Mark, Panel, Picture, Point, Symbol, number_text};
use linsep::evaluate::wilson;
use linsep::watch::Watch;
use linsep::workflow::{FurtherQuestions, judge_table};
use linsep::{Error, Result};

/// Half the width of the bar at the end of an interval.
const CAP: f64 = 0.008;
/// Height of the tallest bar of the counts, in the units of the axis, and where bars stand.
const BARS: (f64, f64) = (0.1, -0.14);

pub(super) fn picture(request: &Request, watch: &Watch) -> Result<Picture> {
    let model = request.model(Kind::Calibration)?;
    let table = request.table(Kind::Calibration)?;
    let asked = FurtherQuestions { details: true, ..FurtherQuestions::default() };
    let further = judge_table(model, table, &asked, watch)?;
    let details = further.details.ok_or_else(|| Error::model("the model was not judged"))?;
    let reliability = details.reliability.map_err(|left| {
        Error::usage(format!("probabilities are calibrated, and this model has none: {}", left.reason))
            .help("fit a logistic model, or calibrate this one")
    })?;
    let of = match &model.classes[..] {
        [_, class] => format!("probability of {} = {class}", model.target),
        _ => reliability.of.clone(),
    };
    let x = Axis::new(of, (-0.02, 1.02));
    let mut panel = Panel::new(x, Axis::new("observed share", (BARS.1 - 0.02, 1.02)));
    panel.aspect = 0.85;
    let most = reliability.bins.iter().map(|b| b.weight).fold(0.0, f64::max);
    let bar = |b: &linsep::evaluate::ReliabilityBin| {
        let top = BARS.1 + BARS.0 * b.weight / most;
        vec![[b.low + 0.01, BARS.1], [b.high - 0.01, BARS.1], [b.high - 0.01, top], [b.low + 0.01, top]]
    };
    panel.marks.push(Mark::line(vec![[0.0, 0.0], [1.0, 1.0]]).width(0.7).colour(Colour::Muted).label("calibrated"));
    let bars = reliability.bins.iter().map(bar).collect();
    let counts = Mark::area(bars).colour(Colour::Muted).opacity(0.35).label("rows in a bin");
    let mut whiskers: Vec<Vec<Point>> = Vec::new();
    for bin in &reliability.bins {
        let (low, high) = wilson(bin.came * bin.weight, bin.weight);
        let x = bin.promised;
        whiskers.push(vec![[x, low], [x, high]]);
        whiskers.extend([low, high].map(|y| vec![[x - CAP, y], [x + CAP, y]]));
    }
    let whiskers = Mark::lines(whiskers).colour(Colour::Class(0)).label("95 % interval");
    let points: Vec<Point> = reliability.bins.iter().map(|b| [b.promised, b.came]).collect();
    let line = Mark::line(points.clone()).colour(Colour::Class(0)).width(0.8).opacity(0.6).label("bins");
    let dots = Mark::points(points, Symbol::Circle).colour(Colour::Class(0)).width(1.3).label("bin");
    let mut picture = Picture::new(Kind::Calibration.name(), format!("Calibration for {}", model.target), panel);
    picture.keys = vec![
        Key::new("observed share, with its 95 % interval (Wilson)", dots.clone()),
        Key::new("rows in the bin", counts.clone()),
    ];
    picture.panels[0].marks.extend([counts, line, whiskers, dots]);
    let figures = format!(
        "Expected calibration error {}, Brier score {}.",
        number_text(reliability.expected_calibration_error),
        number_text(reliability.brier.brier)
    );
    let training = match further.of_training {
        Some(true) => "These are the rows of the fit: on others it is less well calibrated.",
        _ => "",
    };
    picture.caption = super::paragraph(&[&model_caption(model), &figures, training]);
    Ok(picture)
}

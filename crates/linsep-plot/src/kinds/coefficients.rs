//! Weights, and where inference holds their intervals: a forest.

use super::{Kind, Request};
use crate::caption::model_caption;
use crate::scene::{Axis, Colour, Key, Mark, Panel, Picture, Symbol, number_text};
use linsep::artifact::Model;
use linsep::model::Fit;
use linsep::watch::Watch;
use linsep::workflow::{InferOptions, infer_table, inference_of_model};
use linsep::{Error, Result};

/// Most columns that are drawn: those with the largest weights. Chosen by eye.
const MOST_COLUMNS: usize = 30;

/// A weight with its interval, per standard deviation of the column where the model has them.
struct Weight {
    name: String,
    series: usize,
    value: f64,
    interval: Option<(f64, f64)>,
}

pub(super) fn picture(request: &Request, watch: &Watch) -> Result<Picture> {
    let model = request.model(Kind::Coefficients)?;
    let linear = model.discriminant.as_linear().ok_or_else(|| {
        Error::usage("this model has no weights of columns: its boundaries are curved").help("draw `regions` of it")
    })?;
    let (weights, series, said, axis) = match inferred(request, model, watch)? {
        Some((weights, series, said)) => (weights, series, said, "log-odds for a unit of the column"),
        None => {
            let scale = model.units.scale();
            let standard = scale.len() == linear.n_cols() && scale.iter().any(|s| *s != 1.0);
            let names = model.recipe.features();
            let mut weights = Vec::new();
            for k in 0..linear.n_scores() {
                for (j, w) in linear.weights_of(k).iter().enumerate() {
                    let value = if standard { w * scale[j] } else { *w };
                    weights.push(Weight { name: names[j].clone(), series: k, value, interval: None });
                }
            }
            let axis = if standard { "weight for a standard deviation" } else { "weight for a unit of the column" };
            (weights, model.score_names(), String::new(), axis)
        }
    };
    if weights.iter().any(|w| !w.value.is_finite()) {
        return Err(Error::model("a weight is no number"));
    }
    Ok(forest(model, &weights, &series, &said, axis))
}

/// Weights, names of their series, and what is said of the intervals.
type Inferred = (Vec<Weight>, Vec<String>, String);

/// Intervals of an unpenalised logistic model, where its table is given and the maximum exists.
fn inferred(request: &Request, model: &Model, watch: &Watch) -> Result<Option<Inferred>> {
    let Some(table) = &request.table else { return Ok(None) };
    let options = inference_of_model(model, InferOptions::new(&model.target))
        .map_err(|e| e.help("leave the table out to draw the weights without intervals"))?;
    let found = infer_table(table.clone(), &options, watch)?;
    let Fit::Model(inference) = &found.answer else {
        return Err(Error::data("the maximum of the likelihood does not exist: coefficients have no intervals")
            .help("leave the table out to draw the weights alone"));
    };
    let weights = inference.coefficients.iter().filter_map(|c| {
        let name = inference.features[c.feature?].clone();
        Some(Weight { name, series: c.class - 1, value: c.estimate, interval: Some((c.low, c.high)) })
    });
    let series = inference.classes.iter().skip(1).map(|c| format!("{c} against {}", inference.classes[0])).collect();
    let said = format!("Bars are {} % intervals.", number_text(100.0 * inference.options.level));
    Ok(Some((weights.collect(), series, said)))
}

fn forest(model: &Model, weights: &[Weight], series: &[String], said: &str, axis: &str) -> Picture {
    // Columns by the size of their largest weight; intervals do not count, the widest say the least.
    let mut sizes: Vec<(String, f64)> = Vec::new();
    for weight in weights {
        match sizes.iter_mut().find(|(name, _)| *name == weight.name) {
            Some((_, size)) => *size = size.max(weight.value.abs()),
            None => sizes.push((weight.name.clone(), weight.value.abs())),
        }
    }
    let all = sizes.len();
    sizes.sort_by(|a, b| b.1.total_cmp(&a.1));
    sizes.truncate(MOST_COLUMNS);
    let rows = sizes.len();
    let place = |name: &str| sizes.iter().position(|(n, _)| n == name).map(|at| (rows - 1 - at) as f64);
    let shown: Vec<(&Weight, f64)> = weights.iter().filter_map(|w| Some((w, place(&w.name)?))).collect();
    let values =
        shown.iter().flat_map(|(w, _)| [w.value, w.interval.map_or(0.0, |i| i.0), w.interval.map_or(0.0, |i| i.1)]);
    let x = Axis::around(axis, values.chain([0.0]));
    let mut y = Axis::new("", (-0.6, rows as f64 - 0.4)).plain();
    y.names = Some(sizes.iter().enumerate().map(|(at, (n, _))| ((rows - 1 - at) as f64, n.clone())).collect());
    let mut panel = Panel::new(x, y);
    panel
        .marks
        .push(Mark::line(vec![[0.0, -0.6], [0.0, rows as f64 - 0.4]]).width(0.9).colour(Colour::Muted).label("zero"));
    let mut picture = Picture::new(Kind::Coefficients.name(), format!("Coefficients for {}", model.target), panel);
    let count = series.len() as f64;
    picture.panels[0].row_height = 1.75 + 0.55 * (count - 1.0).min(6.0);
    for (k, name) in series.iter().enumerate() {
        // Series of one column stand below each other.
        let shift = if series.len() > 1 { 0.56 * (0.5 - (k as f64 + 0.5) / count) } else { 0.0 };
        let own: Vec<&(&Weight, f64)> = shown.iter().filter(|(w, _)| w.series == k).collect();
        let class = if series.len() == 1 { 0 } else { k };
        let bars = own.iter().filter_map(|(w, y)| w.interval.map(|(l, h)| vec![[l, y + shift], [h, y + shift]]));
        let stems = own.iter().map(|(w, y)| vec![[0.0, y + shift], [w.value, y + shift]]);
        let lines: Vec<_> = if said.is_empty() { stems.collect() } else { bars.collect() };
        let width = if said.is_empty() { 0.8 } else { 1.4 };
        let dots = Mark::points(own.iter().map(|(w, y)| [w.value, y + shift]).collect(), Symbol::of_class(class));
        let dots = dots.colour(Colour::Class(class)).width(1.2).label(name);
        picture.panels[0].marks.push(Mark::lines(lines).colour(Colour::Class(class)).width(width).label("interval"));
        if series.len() > 1 || !said.is_empty() {
            picture.keys.push(Key::new(name, dots.clone()));
        }
        picture.panels[0].marks.push(dots);
    }
    if all > rows {
        picture.notes.push(format!("The {rows} columns of {all} with the largest weights."));
    }
    picture.caption = super::paragraph(&[&model_caption(model), said]);
    picture
}

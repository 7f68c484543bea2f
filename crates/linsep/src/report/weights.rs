//! The table of the largest weights.

use super::digits::{ProvedTo, explained_marks, proved_beside, weight_error};
use super::text::{clip, grid, thousands};
use crate::artifact::Model;
use crate::design::{Encoding, Recipe, Standardize};

/// Lines of the table.
const SHOWN: usize = 10;
/// Classes in it.
const SHOWN_CLASSES: usize = 6;
/// Characters of a name.
const NAME: usize = 40;

/// What stands above the weights of a score.
pub(super) fn score_heading(model: &Model) -> impl Fn(usize) -> String + use<> {
    let one = model.discriminant.n_scores() == 1;
    // Weights are those of the scores before any calibration.
    let logistic = model.has_probabilities() && model.calibration.is_none() && model.method.link().is_none();
    let what = if logistic { "log-odds of" } else { "score of" };
    let names = model.score_names();
    let pairs = model.parts.iter().any(|p| p.against.is_some());
    move |k| match (one, pairs) {
        (true, _) => format!("{what} {}", clip(&names[k], 20)),
        (false, true) => clip(&names[k].replacen("_vs_", " vs ", 1), 24),
        (false, false) => clip(&names[k], 14),
    }
}

/// A text column of two levels that have an indicator each. Scores depend on the difference of the two weights only: one
/// indicator is one minus the other.
struct MirroredColumn<'a> {
    name: &'a str,
    levels: &'a [String],
    /// The first of its two matrix columns.
    first: usize,
}

fn mirrored_columns(recipe: &Recipe) -> Vec<MirroredColumn<'_>> {
    if recipe.formula.is_some() || !recipe.basis.is_none() {
        return Vec::new();
    }
    let indicated = |name: &str| recipe.columns.iter().any(|c| c.is_missing_indicator() && c.name == name);
    let mut found = Vec::new();
    let mut first = 0;
    for column in &recipe.columns {
        if let Encoding::Levels { levels, reference: None, .. } = &column.encoding
            && levels.len() == 2
            && !indicated(&column.name)
        {
            found.push(MirroredColumn { name: &column.name, levels, first });
        }
        first += column.width();
    }
    found
}

/// The names of the columns whose two levels are one line of the table.
pub(super) fn contrasted_columns(model: &Model) -> Vec<&str> {
    let linear = model.discriminant.as_linear().is_some();
    if linear { mirrored_columns(&model.recipe).iter().map(|c| c.name).collect() } else { Vec::new() }
}

/// For the second of two mirrored indicators the first one, whose line it takes.
fn mirrors(recipe: &Recipe, cols: usize) -> Vec<Option<usize>> {
    let mut mirrored = vec![None; cols];
    for pair in mirrored_columns(recipe).iter().filter(|pair| pair.first + 1 < cols) {
        mirrored[pair.first + 1] = Some(pair.first);
    }
    mirrored
}

/// The name of a line.
fn line_name(recipe: &Recipe, feature: usize, mirrored: Option<usize>) -> String {
    let pair = mirrored.and_then(|first| mirrored_columns(recipe).into_iter().find(|pair| pair.first == first));
    match pair {
        Some(MirroredColumn { name, levels, .. }) => clip(&format!("{name}={} vs {}", levels[1], levels[0]), NAME),
        None => clip(&recipe.feature(feature), NAME),
    }
}

/// The features with the largest weights per standard deviation. Two levels of a column are one contrast: how much the score
/// changes from one to the other, per standard deviation of the indicator.
pub(super) fn largest_weights(model: &Model) -> String {
    let Some(linear) = model.discriminant.as_linear() else { return String::new() };
    let scale = model.units.scale();
    let scores = linear.n_scores();
    let mirrors = mirrors(&model.recipe, linear.n_cols());
    let standard = |k: usize, j: usize| {
        let of = |j: usize| linear.weights_of(k)[j];
        (of(j) - mirrors[j].map_or(0.0, of)) * scale[j]
    };
    let mut order: Vec<usize> = (0..linear.n_cols()).filter(|j| mirrors.get(j + 1) != Some(&Some(*j))).collect();
    // Six digits, so that weights that differ by rounding alone keep the order of their columns.
    let digits = |w: f64| format!("{w:.5e}").parse::<f64>().unwrap_or(w);
    let size = |j: usize| (0..scores).map(|k| standard(k, j).abs()).fold(0.0, f64::max);
    let raw: Vec<f64> = (0..linear.n_cols()).map(size).collect();
    // Of very many only the candidates for the table are worth the digits.
    let mut floor = 0.0;
    if raw.len() > 1000 {
        let mut sizes = raw.clone();
        floor = *sizes.select_nth_unstable_by(SHOWN, |a, b| b.total_cmp(a)).1 * 0.999;
    }
    let count = order.len();
    order.retain(|j| raw[*j] >= floor);
    order.sort_by_cached_key(|j| (std::cmp::Reverse(digits(raw[*j]).to_bits()), *j));
    let largest = order.first().map_or(0.0, |j| raw[*j]);
    let per = match (model.method.standardize(), model.recipe.is_linear()) {
        (Standardize::Yes, true) => "per standard deviation",
        (Standardize::Yes, false) => "per standard deviation of the feature",
        (Standardize::No, true) => "per unit of the column",
        (Standardize::No, false) => "per unit of the feature",
    };
    let shown = order.len().min(SHOWN);
    let of = thousands(count as f64);
    let what = if shown < count { format!("largest weights ({shown} of {of})") } else { "weights".into() };
    let heading = score_heading(model);
    let columns = scores.min(SHOWN_CLASSES);
    let mut rows = vec![std::iter::once(String::new()).chain((0..columns).map(heading)).collect::<Vec<String>>()];
    for j in order[..shown].iter().copied() {
        let error = |k: usize| match mirrors[j] {
            // The error of a difference is at most the sum of both.
            Some(other) => Some(weight_error(model, k, j)? + weight_error(model, k, other)?),
            None => weight_error(model, k, j),
        };
        let known = |k: usize| ProvedTo::of(model, k, error(k)).scaled(scale[j]);
        let shown = |k: usize| proved_beside(standard(k, j), largest, known(k));
        let name = line_name(&model.recipe, j, mirrors[j]);
        rows.push(std::iter::once(name).chain((0..columns).map(shown)).collect());
    }
    let more = if scores > columns {
        format!(", first {columns} of {scores} {}", if model.parts.is_empty() { "classes" } else { "scores" })
    } else {
        String::new()
    };
    let table = grid(&rows, 2);
    format!("\n  {what}, {per}{more}\n{table}{}", explained_marks(&table))
}

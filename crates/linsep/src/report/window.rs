//! Regions of linear scores as inequalities, and where their boundaries enter and leave a window of two columns.

use super::text::{clip, grid, short};
use crate::artifact::Model;
use crate::error::{Error, Result};
use serde_json::{Value, json};

/// Columns of which regions are shown: what a terminal has room for.
const MOST_COLUMNS: usize = 6;

/// Scores `g_k(x) = w_k·x + w_k0` of all classes that decide by the largest.
struct DecidingScores {
    weights: Vec<Vec<f64>>,
    intercept: Vec<f64>,
}

/// Two columns, and from where to where each is seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Name, low and high end of the two.
    pub columns: [(String, f64, f64); 2],
}

/// Two points.
type Segment = [[f64; 2]; 2];

fn deciding(model: &Model) -> Result<DecidingScores> {
    let classes = model.classes.len();
    let linear = model.discriminant.as_linear().filter(|_| model.parts.is_empty() && model.recipe.is_linear());
    let cut = model.decision.cut(classes).filter(|_| model.calibration.is_none());
    let (Some(linear), Some(cut)) = (linear, cut) else {
        return Err(Error::usage("the regions of this model are not those of linear scores of the columns").help(
            "inequalities and end points belong to linear models that decide by the largest score or a threshold",
        ));
    };
    let (at_zero, shifts) = (linear.intercept(), model.prior_shifts());
    let shift = |k: usize| shifts.get(k).copied().unwrap_or(0.0);
    if classes == 2 {
        let own = linear.weights_of(0).to_vec();
        let weights = vec![vec![0.0; own.len()], own];
        return Ok(DecidingScores { weights, intercept: vec![0.0, at_zero[0] + shift(0) - cut] });
    }
    let weights = (0..classes).map(|k| linear.weights_of(k).to_vec()).collect();
    Ok(DecidingScores { weights, intercept: (0..classes).map(|k| at_zero[k] + shift(k)).collect() })
}

impl DecidingScores {
    /// The rows of `A x ≥ b` that make class k the largest: `(w_k − w_j)·x ≥ w_j0 − w_k0`.
    fn inequalities(&self, k: usize) -> Vec<(usize, Vec<f64>, f64)> {
        let against = |j: usize| {
            let row = self.weights[k].iter().zip(&self.weights[j]).map(|(a, b)| a - b).collect();
            (j, row, self.intercept[j] - self.intercept[k])
        };
        (0..self.weights.len()).filter(|j| *j != k).map(against).collect()
    }
}

/// The regions as inequalities for people.
pub fn regions_text(model: &Model) -> Result<String> {
    let scores = deciding(model)?;
    let features = model.recipe.features();
    if features.len() > MOST_COLUMNS {
        return Err(Error::usage(format!("{} columns are too many for a page", features.len()))
            .help("ask for JSON, which has all of them"));
    }
    let mut out = String::new();
    for (k, class) in model.classes.iter().enumerate() {
        let heading = ["A".to_owned()].into_iter().chain(features.iter().map(|f| clip(f, 18))).chain(["b".to_owned()]);
        let mut rows: Vec<Vec<String>> = vec![heading.collect()];
        for (j, row, b) in scores.inequalities(k) {
            let name = format!("not {}", clip(&model.classes[j], 20));
            rows.push([name].into_iter().chain(row.iter().map(|a| short(*a))).chain([short(b)]).collect());
        }
        out.push_str(&format!("\n  region of {}: A x ≥ b\n{}", clip(class, 30), grid(&rows, 2)));
    }
    Ok(out)
}

/// The same for programs: `class`, `A` and `b`.
pub fn regions_json(model: &Model) -> Result<Value> {
    let scores = deciding(model)?;
    let one = |(k, class): (usize, &String)| {
        let rows = scores.inequalities(k);
        let a: Vec<&Vec<f64>> = rows.iter().map(|(_, row, _)| row).collect();
        let b: Vec<f64> = rows.iter().map(|(_, _, b)| *b).collect();
        json!({"class": class, "A": a, "b": b})
    };
    Ok(model.classes.iter().enumerate().map(one).collect())
}

/// What a window shows: boundaries of pairs where they decide, and of more than two classes the lines `g_k = 0`.
fn seen(model: &Model, window: &Window) -> Result<Vec<(String, Option<Segment>)>> {
    let scores = deciding(model)?;
    let features = model.recipe.features();
    let place = |(name, low, high): &(String, f64, f64)| {
        if !(low < high && (high - low).is_finite()) {
            return Err(Error::usage(format!("there is nothing between {low} and {high} of `{name}`"))
                .help("give the smaller end first"));
        }
        features.iter().position(|f| f == name).ok_or_else(|| {
            Error::usage(format!("the model has no column `{name}`"))
                .help(format!("its columns are: {}", features.join(", ")))
        })
    };
    let at = [place(&window.columns[0])?, place(&window.columns[1])?];
    if features.len() != 2 || at[0] == at[1] {
        return Err(Error::usage("a window is of the two columns of a model")
            .help(format!("the columns of this one are: {}", features.join(", "))));
    }
    let pick = |row: &[f64]| [row[at[0]], row[at[1]]];
    let [x, y] = &window.columns;
    let sides = [([1.0, 0.0], x.1), ([-1.0, 0.0], -x.2), ([0.0, 1.0], y.1), ([0.0, -1.0], -y.2)];
    let mut found = Vec::new();
    let names = &model.classes;
    for i in 0..names.len() {
        for (j, row, b) in scores.inequalities(i).into_iter().filter(|(j, _, _)| *j > i) {
            let others = scores.inequalities(i).into_iter().filter(|(k, _, _)| *k != j);
            let constraints: Vec<([f64; 2], f64)> =
                sides.iter().copied().chain(others.map(|(_, row, b)| (pick(&row), b))).collect();
            found.push((
                format!("{} | {}", clip(&names[i], 20), clip(&names[j], 20)),
                segment(pick(&row), b, &constraints),
            ));
        }
    }
    if names.len() > 2 {
        for (k, name) in names.iter().enumerate() {
            let line = segment(pick(&scores.weights[k]), -scores.intercept[k], &sides);
            found.push((format!("g = 0 of {}", clip(name, 20)), line));
        }
    }
    Ok(found)
}

/// The part of `n·x = c` where every `a·x ≥ b` holds.
fn segment(n: [f64; 2], c: f64, constraints: &[([f64; 2], f64)]) -> Option<Segment> {
    let length = f64::hypot(n[0], n[1]);
    if !(length > 0.0) {
        return None;
    }
    let unit = [n[0] / length, n[1] / length];
    let (start, along) = ([unit[0] * c / length, unit[1] * c / length], [-unit[1], unit[0]]);
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for (a, b) in constraints {
        let (slope, missing) = (a[0] * along[0] + a[1] * along[1], b - a[0] * start[0] - a[1] * start[1]);
        match slope {
            s if s > 0.0 => low = low.max(missing / s),
            s if s < 0.0 => high = high.min(missing / s),
            _ if missing > 0.0 => return None,
            _ => {}
        }
    }
    // Written so that NaN is no segment.
    let point = |t: f64| [start[0] + t * along[0], start[1] + t * along[1]];
    let mut ends = (low <= high).then(|| [point(low), point(high)])?;
    ends.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    Some(ends)
}

/// The end points of every boundary in a window for people.
pub fn window_text(model: &Model, window: &Window) -> Result<String> {
    let [(x, ..), (y, ..)] = &window.columns;
    let heading = ["", x, y, x, y].map(|name| clip(name, 14)).to_vec();
    let mut rows = vec![heading];
    for (name, segment) in seen(model, window)? {
        rows.push(match segment {
            Some([from, to]) => [name].into_iter().chain([from[0], from[1], to[0], to[1]].map(short)).collect(),
            None => vec![name, "not in the window".to_owned(), String::new(), String::new(), String::new()],
        });
    }
    Ok(format!("\n  ends of the boundaries in the window, from one to the other\n{}", grid(&rows, 2)))
}

/// The same for programs: `boundary`, `from` and `to`, null where it is not in the window.
pub fn window_json(model: &Model, window: &Window) -> Result<Value> {
    let one = |(name, segment): &(String, Option<Segment>)| json!({"boundary": name, "from": segment.map(|s| s[0]), "to": segment.map(|s| s[1])});
    Ok(seen(model, window)?.iter().map(one).collect())
}

//! The objective of two coefficients as contours, with the steps of gradient descent and of Newton's method on it.

use super::{Kind, Request};
use crate::caption::model_caption;
use crate::field::{Tracing, trace};
use crate::scene::{Axis, Colour, Dash, Key, Mark, Panel, Picture, Point, Symbol, number_text};
use crate::subject::{classes_of, number_column};
use linsep::artifact::Model;
use linsep::design::Encoding;
use linsep::model::{LossChoice, Method};
use linsep::numeric::{logistic, softplus};
use linsep::objective::Intercept;
use linsep::{Error, Result};

/// Steps of gradient descent that are drawn.
const STEPS: usize = 60;
/// Steps of Newton's method: it needs fewer than this.
const NEWTON: usize = 12;
/// Different rows at most: contours take some 200,000 sums over all of them, half a minute of these.
const MOST_ROWS: usize = 5000;
/// Contours.
const LEVELS: usize = 9;

/// `J(w, b) = Σ log(1 + exp(−y(w z + b)))/n + λ/2 w²`, z the column in standard units; or half the squared error.
struct Objective {
    /// z, y, and how many rows have both.
    rows: Vec<(f64, f64, f64)>,
    total: f64,
    lambda: f64,
    squared: bool,
    /// Whether b is free; it is zero otherwise.
    intercept: bool,
}

impl Objective {
    fn value(&self, [w, b]: Point) -> f64 {
        let loss = |(z, y, count): &(f64, f64, f64)| {
            count
                * match self.squared {
                    true => 0.5 * (y - w * z - b).powi(2),
                    false => softplus(-y * (w * z + b)),
                }
        };
        self.rows.iter().map(loss).sum::<f64>() / self.total + 0.5 * self.lambda * w * w
    }

    /// Gradient and Hessian: `[∂w, ∂b]`, `[ww, wb, bb]`.
    fn slopes(&self, [w, b]: Point) -> (Point, [f64; 3]) {
        let (mut g, mut h) = ([0.0, 0.0], [0.0; 3]);
        for (z, y, count) in &self.rows {
            let s = w * z + b;
            let (d, dd) = match self.squared {
                true => (s - y, 1.0),
                false => {
                    let p = logistic(-y * s);
                    (-y * p, p * (1.0 - p))
                }
            };
            let (d, dd) = (count * d, count * dd);
            g = [g[0] + d * z, g[1] + d];
            h = [h[0] + dd * z * z, h[1] + dd * z, h[2] + dd];
        }
        let n = self.total;
        ([g[0] / n + self.lambda * w, g[1] / n], [h[0] / n + self.lambda, h[1] / n, h[2] / n])
    }

    /// The largest curvature anywhere: of the logistic loss a quarter of the second moments.
    fn curvature(&self) -> f64 {
        let n = self.total;
        let factor = if self.squared { 1.0 } else { 0.25 };
        let sum =
            |f: &dyn Fn(f64) -> f64| factor * self.rows.iter().map(|(z, _, count)| count * f(*z)).sum::<f64>() / n;
        let (a, c, d) = (sum(&|z| z * z) + self.lambda, sum(&|z| z), sum(&|_| 1.0));
        0.5 * (a + d) + (0.25 * (a - d).powi(2) + c * c).sqrt()
    }
}

pub(super) fn picture(request: &Request) -> Result<Picture> {
    let model = request.model(Kind::Descent)?;
    let (objective, best, column) = of_model(model, request)?;
    if !objective.intercept {
        return Ok(along_a_line(model, &objective, best[0], &column));
    }
    let step = 1.0 / objective.curvature();
    // Somewhere off the optimum, so that the way is seen.
    let reach = (best[0].abs()).max(best[1].abs()).max(0.5);
    let start = [best[0] - 1.5 * reach, best[1] + reach];
    let gradient = iterates(start, STEPS, |p| {
        let g = objective.slopes(p).0;
        Some([p[0] - step * g[0], p[1] - step * g[1]])
    });
    let newton = iterates(start, NEWTON, |p| {
        let (g, [a, c, d]) = objective.slopes(p);
        let determinant = a * d - c * c;
        let next = [p[0] - (d * g[0] - c * g[1]) / determinant, p[1] - (a * g[1] - c * g[0]) / determinant];
        next.iter().all(|v| v.is_finite()).then_some(next)
    });
    // A window around the optimum and the start; iterates that leave it are cut.
    let near = |p: &&Point| (p[0] - best[0]).abs() < 2.0 * reach && (p[1] - best[1]).abs() < 2.0 * reach;
    let seen: Vec<Point> = gradient.iter().chain(&newton).filter(near).copied().chain([best, start]).collect();
    let pad = 0.35 * reach;
    let axis = |label: &str, at: usize| {
        let ends = seen.iter().flat_map(|p| [p[at] - pad, p[at] + pad]);
        Axis::around(label, ends)
    };
    let labels = [format!("w, for a standard deviation of {column}"), "b".to_owned()];
    let mut panel = Panel::new(axis(&labels[0], 0).plain(), axis(&labels[1], 1).plain());
    panel.aspect = 0.75;
    let window = panel.window();
    let mut picture = Picture::new(Kind::Descent.name(), format!("Descent for {}", model.target), panel);
    add_contours(&mut picture, &objective, best, window)?;
    for (at, (name, path, symbol)) in
        [("gradient descent", &gradient, Symbol::Circle), ("Newton's method", &newton, Symbol::Square)]
            .into_iter()
            .enumerate()
    {
        let colour = Colour::Class(at);
        let marks = &mut picture.panels[0].marks;
        marks.push(Mark::line(path.clone()).colour(colour).width(0.9).dash(Dash::of_series(at)).label(name));
        let dots = Mark::points(path.clone(), symbol).colour(colour).width(0.9).label(name);
        picture.keys.push(Key::new(name, dots.clone()));
        picture.panels[0].marks.push(dots);
    }
    let star = Mark::points(vec![best], Symbol::Cross).colour(Colour::Ink).width(1.4).label("the model");
    picture.keys.push(Key::new("the model", star.clone()));
    picture.panels[0].marks.push(star);
    picture.panels.push(fits(&objective, &gradient, &column));
    let said = format!(
        "Contours of J from its minimum {}, each twice as far above it as the one before. Gradient descent has the step 1/L = {}; {} \
         steps of it, and of Newton's method as many as move. Beside them the score of the iterates of gradient descent.",
        number_text(objective.value(best)),
        number_text(step),
        STEPS
    );
    picture.caption = super::paragraph(&[&model_caption(model), &said]);
    Ok(picture)
}

/// The score that iterates have along the column: the decision changes where it is zero.
fn fits(objective: &Objective, path: &[Point], column: &str) -> Panel {
    let x = Axis::around(format!("{column}, standard units"), objective.rows.iter().map(|r| r.0));
    let (low, high) = x.range;
    let chosen: Vec<usize> =
        [0, 1, 2, 4, 8, 16, 32].into_iter().filter(|k| *k + 1 < path.len()).chain([path.len() - 1]).collect();
    let value = |k: usize, z: f64| path[k][0] * z + path[k][1];
    let ends = chosen.iter().flat_map(|k| [value(*k, low), value(*k, high)]).chain([-1.2, 1.2]);
    let mut panel = Panel::new(x, Axis::around("score w z + b of step k", ends));
    panel.aspect = 0.75;
    panel.marks.push(Mark::line(vec![[low, 0.0], [high, 0.0]]).width(0.7).colour(Colour::Muted).label("zero"));
    for (class, y) in [(0usize, -1.0), (1, 1.0)] {
        let own = objective.rows.iter().filter(|r| r.1 == y).map(|r| [r.0, y]).collect();
        panel.marks.push(super::plane::class_points(class, own, "rows").opacity(0.5).width(0.8));
    }
    for (at, k) in chosen.iter().enumerate() {
        let last = at + 1 == chosen.len();
        let (colour, width) = if last { (Colour::Ink, 1.8) } else { (Colour::Muted, 0.9) };
        let mark = Mark::line(vec![[low, value(*k, low)], [high, value(*k, high)]]).colour(colour).width(width);
        panel.marks.push(mark.label(format!("step {k}")));
        let z = high - 0.06 * (high - low);
        panel.marks.push(Mark::text([z, value(*k, z)], k.to_string()).colour(colour));
    }
    panel
}

/// Steps that are drawn along a line.
const LINE_STEPS: usize = 12;

/// J of the one weight of a model without an intercept, with the steps of gradient descent on it.
fn along_a_line(model: &Model, objective: &Objective, best: f64, column: &str) -> Picture {
    let slope = |w: f64| objective.slopes([w, 0.0]).0[0];
    let curvature = {
        let factor = if objective.squared { 1.0 } else { 0.25 };
        factor * objective.rows.iter().map(|(z, _, n)| n * z * z).sum::<f64>() / objective.total + objective.lambda
    };
    // Two thirds of 1/L: the steps can be told apart.
    let step = 0.66 / curvature;
    let reach = best.abs().max(0.5);
    let mut path = vec![best - 2.0 * reach];
    for _ in 0..LINE_STEPS {
        let w = path[path.len() - 1];
        path.push(w - step * slope(w));
    }
    let x = Axis::new(format!("w, for a standard deviation of {column}"), (best - 2.3 * reach, best + 2.3 * reach));
    let (low, high) = x.range;
    let value = |w: f64| objective.value([w, 0.0]);
    let at = |k: usize| low + (high - low) * k as f64 / 300.0;
    let curve: Vec<Point> = (0..=300).map(|k| [at(k), value(at(k))]).collect();
    let panel = Panel::new(x, Axis::around("J(w)", curve.iter().map(|p| p[1])));
    let mut picture = Picture::new(Kind::Descent.name(), format!("Descent for {}", model.target), panel);
    let line = Mark::line(curve).width(1.7).label("J(w)");
    let on: Vec<Point> = path.iter().map(|w| [*w, value(*w)]).collect();
    let dots = Mark::points(on.clone(), Symbol::Circle).colour(Colour::Class(0)).label("gradient descent");
    let star = Mark::points(vec![[best, value(best)]], Symbol::Cross).colour(Colour::Ink).width(1.4).label("the model");
    picture.keys = vec![
        Key::new("J(w)", line.clone()),
        Key::new("gradient descent", dots.clone()),
        Key::new("the model", star.clone()),
    ];
    let marks = &mut picture.panels[0].marks;
    marks.push(line);
    for pair in on.windows(2).take(5) {
        marks.push(Mark::arrow(pair[0], pair[1]).colour(Colour::Class(0)).width(1.1).label("step"));
    }
    marks.extend([dots, star, Mark::text(on[0], "w₀"), Mark::text(on[1], "w₁"), Mark::text(on[2], "w₂")]);
    let said = format!(
        "w − η J′(w) with η = {}, two thirds of one over the largest curvature; {LINE_STEPS} steps from {}.",
        number_text(step),
        number_text(path[0])
    );
    picture.caption = super::paragraph(&[&model_caption(model), &said]);
    picture
}

fn iterates(start: Point, most: usize, next: impl Fn(Point) -> Option<Point>) -> Vec<Point> {
    let mut path = vec![start];
    for _ in 0..most {
        let here = path[path.len() - 1];
        match next(here) {
            // Steps that nobody can see end the path.
            Some(p) if (p[0] - here[0]).hypot(p[1] - here[1]) > 1e-6 => path.push(p),
            _ => break,
        }
    }
    path
}

/// Contours at levels that double their height above the minimum.
fn add_contours(picture: &mut Picture, objective: &Objective, best: Point, window: [f64; 4]) -> Result<()> {
    let bottom = objective.value(best);
    let top = crate::clip::corners(window).into_iter().map(|p| objective.value(p)).fold(bottom, f64::max);
    let level = |k: usize| bottom + (top - bottom) * 0.5f64.powi((LEVELS - k) as i32);
    let levels: Vec<f64> = (0..LEVELS).map(level).collect();
    let decide = |points: &[Point]| {
        let band = |p: &Point| {
            let value = objective.value(*p);
            levels.iter().filter(|l| value > **l).count() as u32
        };
        Ok(points.iter().map(band).collect())
    };
    let Tracing { edges, .. } = trace(window, decide)?;
    let paths = edges.into_iter().map(|e| e.path).collect();
    let mark = Mark::lines(paths).colour(Colour::Muted).width(0.7).label("contours of J");
    picture.keys.push(Key::new("contours of J", mark.clone()));
    picture.panels[0].marks.push(mark);
    Ok(())
}

/// Rows that are alike, together.
fn counted(mut rows: Vec<(f64, f64)>) -> Result<Vec<(f64, f64, f64)>> {
    rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let found: Vec<(f64, f64, f64)> = rows.chunk_by(|a, b| a == b).map(|r| (r[0].0, r[0].1, r.len() as f64)).collect();
    match found.len() > MOST_ROWS {
        true => Err(Error::usage(format!("contours of {} different rows would take too long", found.len()))
            .help(format!("draw at most {MOST_ROWS} of them"))),
        false => Ok(found),
    }
}

/// The objective that a model of one column minimises, and its solution in the same coordinates.
fn of_model(model: &Model, request: &Request) -> Result<(Objective, Point, String)> {
    let refuse = || {
        Error::usage(
            "a descent is drawn of two coefficients: logistic regression or least squares of two classes on one column",
        )
        .help("fit one column with a free intercept")
    };
    let ([column], Some(linear), 2) = (&model.recipe.columns[..], model.discriminant.as_linear(), model.classes.len())
    else {
        return Err(refuse());
    };
    let (squared, how) = match &model.method {
        Method::Risk(r) if r.loss == LossChoice::Logistic => (false, r.intercept),
        Method::Risk(r) if r.loss == LossChoice::Squared => (true, r.intercept),
        Method::LeastSquares(s) => (true, s.intercept),
        _ => return Err(refuse()),
    };
    let intercept = match how {
        Intercept::Free => true,
        Intercept::None => false,
        _ => return Err(refuse()),
    };
    let plain = matches!(column.encoding, Encoding::Number { .. }) && model.recipe.is_linear();
    if !plain || linear.n_cols() != 1 || model.class_weights.is_some() {
        return Err(refuse());
    }
    if model.weights.is_some() || !model.offsets.is_empty() {
        return Err(Error::usage("a descent is drawn of rows without weights and offsets"));
    }
    let table = request.table(Kind::Descent)?;
    let Some(classes) = classes_of(table, &model.target, &model.classes)? else {
        return Err(Error::data(format!("the table has no column `{}`", model.target)));
    };
    let at = number_column(table, &column.name)?;
    // Without an intercept nothing is centred.
    let centre = if intercept { model.units.centre()[0] } else { 0.0 };
    let scale = model.units.scale()[0];
    let row = |r: usize| Some(((table.number(r, at) - centre) / scale, if classes[r]? == 1 { 1.0 } else { -1.0 }));
    let rows: Vec<(f64, f64)> = (0..table.n_rows()).filter_map(row).filter(|(z, _)| z.is_finite()).collect();
    if rows.is_empty() {
        return Err(Error::data("no row has a class and a value"));
    }
    let w = linear.weights_of(0)[0];
    let best = [w * scale, linear.intercept_at_centre()[0] + w * (centre - linear.centre()[0])];
    let total = rows.len() as f64;
    Ok((
        Objective { rows: counted(rows)?, total, lambda: model.objective.lambda.unwrap_or(0.0), squared, intercept },
        best,
        column.name.clone(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_those_of_the_value() {
        for squared in [false, true] {
            let rows = vec![(0.3, 1.0, 1.0), (-1.2, -1.0, 2.0), (0.8, -1.0, 1.0), (2.0, 1.0, 1.0)];
            let objective = Objective { rows, total: 5.0, lambda: 0.1, squared, intercept: true };
            let (p, h) = ([0.4, -0.3], 1e-5);
            let (g, [a, c, d]) = objective.slopes(p);
            let along = |dx: f64, dy: f64| objective.value([p[0] + dx * h, p[1] + dy * h]);
            assert!((g[0] - (along(1.0, 0.0) - along(-1.0, 0.0)) / (2.0 * h)).abs() < 1e-8);
            assert!((g[1] - (along(0.0, 1.0) - along(0.0, -1.0)) / (2.0 * h)).abs() < 1e-8);
            let slope = |dx: f64, dy: f64| objective.slopes([p[0] + dx * h, p[1] + dy * h]).0;
            assert!((a - (slope(1.0, 0.0)[0] - slope(-1.0, 0.0)[0]) / (2.0 * h)).abs() < 1e-8);
            assert!((c - (slope(0.0, 1.0)[0] - slope(0.0, -1.0)[0]) / (2.0 * h)).abs() < 1e-8);
            assert!((d - (slope(0.0, 1.0)[1] - slope(0.0, -1.0)[1]) / (2.0 * h)).abs() < 1e-8);
            assert!(objective.curvature() >= a.max(d));
        }
    }
}

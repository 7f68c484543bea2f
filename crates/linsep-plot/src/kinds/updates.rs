//! The perceptron, step by step.

use super::{Kind, Request, plane, scatter};
use crate::clip::{HalfPlane, line_in};
use crate::scene::{Colour, Dash, Key, Mark, Panel, Picture, Point, Symbol, number_text};
use linsep::{Error, Result};

/// Steps that are drawn, two panels to a row.
const MOST_STEPS: usize = 6;

pub(super) fn picture(request: &Request) -> Result<Picture> {
    let table = request.table(Kind::Updates)?;
    let target = request.target.clone().or_else(|| request.models.first().map(|m| m.target.clone()));
    let Some(target) = target else {
        return Err(Error::usage("updates are drawn of two classes, and no column of classes is named")
            .help("name the column of the classes"));
    };
    let named =
        Request { target: Some(target.clone()), x: request.x.clone(), y: request.y.clone(), ..Request::default() };
    let (mut rows, said, labels) = scatter::of_table(table, &named)?;
    if rows.names.len() != 2 {
        return Err(Error::usage(format!("updates are drawn of two classes, and there are {}", rows.names.len())));
    }
    // In standard units, where a step is as long in either column.
    let known: Vec<usize> = (0..rows.at.len()).filter(|i| rows.classes[*i].is_some()).collect();
    let unit = [0, 1].map(|k: usize| {
        let n = known.len().max(1) as f64;
        let mean = known.iter().map(|i| rows.at[*i][k]).sum::<f64>() / n;
        let spread = (known.iter().map(|i| (rows.at[*i][k] - mean).powi(2)).sum::<f64>() / n).sqrt();
        (mean, if spread > 0.0 { spread } else { 1.0 })
    });
    rows.at.iter_mut().for_each(|p| *p = [0, 1].map(|k: usize| (p[k] - unit[k].0) / unit[k].1));
    let data: Vec<(Point, f64)> =
        known.iter().map(|i| (rows.at[*i], if rows.classes[*i] == Some(1) { 1.0 } else { -1.0 })).collect();
    let steps = batch(&data);
    let labels = labels.map(|l| format!("{l} (sd)"));
    let shape = plane::axes(&labels, &rows.at, true);
    let mut picture =
        Picture::new(Kind::Updates.name(), format!("Steps of the perceptron for {target}"), shape.clone());
    plane::add_rows(&mut picture, &rows);
    let marks = picture.panels[0].marks.clone();
    picture.panels = steps
        .windows(2)
        .take(MOST_STEPS)
        .enumerate()
        .map(|(k, pair)| Panel { marks: marks.clone(), ..step(&shape, k, &pair[0], &pair[1], &data) })
        .collect();
    // The rows come first, then what the step adds.
    for (k, pair) in steps.windows(2).take(MOST_STEPS).enumerate() {
        let added = step(&shape, k, &pair[0], &pair[1], &data).marks;
        for (name, label) in [("misclassified by w(k)", "wrong"), ("w(k)", "before"), ("w(k+1)", "after")] {
            let mark = added.iter().find(|m| m.label.as_deref() == Some(label));
            if let (Some(mark), false) = (mark, picture.keys.iter().any(|key| key.label == name)) {
                picture.keys.push(Key::new(name, mark.clone()));
            }
        }
        picture.panels[k].marks.extend(added);
    }
    let wrong = |w: &Weights| data.iter().filter(|(p, y)| y * w.value(*p) <= 0.0).count();
    let left = steps.last().map_or(0, wrong);
    let ended = match (left, steps.len() - 1) {
        (0, 1) => "After one step no row is misclassified.".to_owned(),
        (0, n) => format!("After {n} steps no row is misclassified."),
        (left, n) => format!("After {n} steps {left} rows are still misclassified."),
    };
    let how = "Every step adds y(x, 1) of all misclassified rows to (w, b), from zero; a row on the line counts as \
               misclassified. Arrows are the normals, of length one; columns are in standard units.";
    picture.caption = super::paragraph(&[how, &ended, &said]);
    if steps.len() - 1 > MOST_STEPS {
        picture.notes.push(format!("The first {MOST_STEPS} of {} steps.", number_text((steps.len() - 1) as f64)));
    }
    Ok(picture)
}

/// A line `w·x + b = 0`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Weights {
    w: Point,
    b: f64,
}

impl Weights {
    fn value(&self, p: Point) -> f64 {
        self.w[0] * p[0] + self.w[1] * p[1] + self.b
    }
}

/// Steps after which a search ends that has found no line; they are counted in the caption, not drawn.
const GIVE_UP: usize = 1000;

/// The batch perceptron from zero: every iterate.
fn batch(data: &[(Point, f64)]) -> Vec<Weights> {
    let mut found = vec![Weights { w: [0.0, 0.0], b: 0.0 }];
    for _ in 0..GIVE_UP {
        let mut now = found[found.len() - 1];
        let before = now;
        for (p, y) in data.iter().filter(|(p, y)| y * before.value(*p) <= 0.0) {
            now = Weights { w: [now.w[0] + y * p[0], now.w[1] + y * p[1]], b: now.b + y };
        }
        if now == before {
            break;
        }
        found.push(now);
    }
    found
}

/// One panel: the line before and behind a step, normals, and the rows that make it.
fn step(shape: &Panel, k: usize, before: &Weights, after: &Weights, data: &[(Point, f64)]) -> Panel {
    let mut panel = shape.clone();
    panel.marks.clear();
    let wrong: Vec<Point> = data.iter().filter(|(p, y)| y * before.value(*p) <= 0.0).map(|(p, _)| *p).collect();
    panel.title = Some(format!("step {}: {} wrong", k + 1, wrong.len()));
    // At zero every row is on the wrong side, and rings around all of them say nothing.
    if before.w != [0.0, 0.0] {
        panel.marks.push(Mark::points(wrong, Symbol::Ring).width(1.9).label("wrong"));
    }
    for (weights, label, colour, dash) in
        [(before, "before", Colour::Muted, Dash::Dashed), (after, "after", Colour::Ink, Dash::Solid)]
    {
        if weights.w == [0.0, 0.0] {
            continue;
        }
        let line = HalfPlane { a: weights.w[0], b: weights.w[1], c: weights.b };
        let Some((p, q)) = line_in(panel.window(), &line) else { continue };
        panel.marks.push(Mark::line(vec![p, q]).width(1.5).colour(colour).dash(dash).label(label));
        let (norm, at) = (line.a.hypot(line.b), [0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1])]);
        if panel.equal {
            let tip = [at[0] + line.a / norm, at[1] + line.b / norm];
            panel.marks.push(Mark::arrow(at, tip).width(1.3).colour(colour).label("normal"));
            let name = if label == "after" { format!("w({})", k + 1) } else { format!("w({k})") };
            panel.marks.push(Mark::text(tip, name).colour(colour));
        }
    }
    panel
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Axis;

    #[test]
    fn the_batch_perceptron_ends_where_every_row_is_right() {
        let data = [([0.0, 0.0], -1.0), ([2.0, 2.0], -1.0), ([2.0, 0.0], 1.0)];
        let found = batch(&data);
        let last = found[found.len() - 1];
        assert!(found.len() > 2 && data.iter().all(|(p, y)| y * last.value(*p) > 0.0));
        // Every step is the sum over the rows that the iterate before it has wrong.
        for pair in found.windows(2) {
            let wrong = data.iter().filter(|(p, y)| y * pair[0].value(*p) <= 0.0);
            assert_eq!(pair[1].b - pair[0].b, wrong.map(|(_, y)| y).sum::<f64>());
        }
        let axis = Axis::new("x", (0.0, 1.0));
        assert!(step(&Panel::new(axis.clone(), axis), 0, &found[0], &found[1], &data).title.is_some());
    }
}

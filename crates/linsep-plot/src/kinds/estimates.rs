//! What is known of Gaussian classes after few rows and after many.

use super::densities::{Ellipse, bells, ellipses, matrix_column};
use super::{Kind, Request, plane};
use crate::scene::{Axis, Colour, Dash, Key, Mark, Panel, Picture, Point, Symbol, number_text};
use crate::subject::{class_label, classes_of, number_column, numeric_columns};
use linsep::table::{Labels, Table};
use linsep::{Error, Result};

/// Rows of a class in the panels of two columns.
const PLANE_SIZES: [usize; 4] = [3, 10, 50, 100];
/// Rows of a class in the panels of one column.
const LINE_SIZES: [usize; 4] = [1, 2, 5, 20];
/// Points along a curve.
const STEPS: usize = 300;
/// The share of a class within its contours.
const SHARES: [f64; 2] = [0.5, 0.95];

/// The rows of the classes, in the order of the table, and what is taken as the truth.
struct Sample {
    names: Vec<String>,
    columns: Vec<String>,
    /// Values of the columns, class by class.
    rows: Vec<Vec<Vec<f64>>>,
    /// Mean and covariance of every class.
    truth: Vec<(Vec<f64>, Vec<Vec<f64>>)>,
    known: bool,
}

pub(super) fn picture(request: &Request) -> Result<Picture> {
    let sample = sample(request)?;
    match sample.columns.len() {
        1 => of_means(request, &sample),
        _ if request.prior.is_some() => Err(Error::usage("a prior is drawn of the mean of one column")
            .help("choose one column for the horizontal axis")),
        _ => in_a_plane(&sample),
    }
}

fn sample(request: &Request) -> Result<Sample> {
    let table = request.table(Kind::Estimates)?;
    if request.models.len() > 1 {
        return Err(Error::usage("estimates are compared with the densities of one model"));
    }
    let model = request.models.first();
    let target = request.target.clone().or_else(|| model.map(|m| m.target.clone()));
    let (codes, classes) = match (&target, model) {
        (Some(target), Some(model)) => (classes_of(table, target, &model.classes)?, model.classes.clone()),
        (Some(target), None) => {
            let names = Labels::from_column(table, table.column(target)?).1;
            (classes_of(table, target, &names)?, names)
        }
        (None, _) => (None, vec!["all rows".to_owned()]),
    };
    let label = |c: &String| target.as_deref().map_or_else(|| c.clone(), |t| class_label(t, c));
    // A table without classes is one sample; so is that of a model, where it has a single class to speak of.
    let codes = match (codes, target.is_some()) {
        (Some(codes), _) => codes,
        (None, false) => vec![Some(0); table.n_rows()],
        (None, true) => return Err(Error::data(format!("the table has no column `{}`", target.unwrap_or_default()))),
    };
    let columns = columns(request, table, target.as_deref())?;
    let at = columns.iter().map(|c| number_column(table, c)).collect::<Result<Vec<usize>>>()?;
    let mut rows: Vec<Vec<Vec<f64>>> = vec![Vec::new(); classes.len()];
    for (row, class) in codes.iter().enumerate() {
        let values: Vec<f64> = at.iter().map(|c| table.number(row, *c)).collect();
        if let (Some(class), true) = (class, values.iter().all(|v| v.is_finite())) {
            rows[*class].push(values);
        }
    }
    if rows.iter().all(Vec::is_empty) {
        return Err(Error::data("no row has all the columns: there is nothing to estimate"));
    }
    let given = match model.and_then(|m| m.density.as_ref().map(|d| (m, d))) {
        Some((model, density)) => {
            let at = columns.iter().map(|c| matrix_column(model, c)).collect::<Result<Vec<usize>>>()?;
            Some(match at[..] {
                [x] => bells(density, x)?.iter().map(|b| (vec![b.mean], vec![vec![b.variance]])).collect(),
                _ => {
                    let moment = |e: &Ellipse| {
                        let [a, b, c] = e.factor;
                        (e.mean.to_vec(), vec![vec![a * a, a * b], vec![a * b, b * b + c * c]])
                    };
                    ellipses(density, [at[0], at[1]])?.iter().map(moment).collect()
                }
            })
        }
        None if model.is_some() => {
            return Err(Error::usage("this model says nothing of what the rows of a class look like")
                .help("fit Gaussian classes, or give the true ones"));
        }
        None => None,
    };
    let known = given.is_some();
    let truth = given.unwrap_or_else(|| rows.iter().map(|r| moments(r, columns.len())).collect());
    Ok(Sample { names: classes.iter().map(label).collect(), columns, rows, truth, known })
}

/// One column where one is chosen or there is no other, else two.
fn columns(request: &Request, table: &Table, target: Option<&str>) -> Result<Vec<String>> {
    let free = match request.models.first() {
        Some(model) => model.recipe.columns.iter().map(|c| c.name.clone()).collect(),
        None => numeric_columns(table, &target.into_iter().collect::<Vec<&str>>()),
    };
    let chosen: Vec<String> = match (&request.x, &request.y) {
        (Some(x), Some(y)) if x == y => return Err(Error::usage(format!("both axes are `{x}`"))),
        (Some(x), Some(y)) => vec![x.clone(), y.clone()],
        (Some(one), None) | (None, Some(one)) => vec![one.clone()],
        (None, None) => free.into_iter().take(2).collect(),
    };
    match chosen.is_empty() {
        true => Err(Error::usage("estimates are drawn of columns of numbers, and the table has none")),
        false => Ok(chosen),
    }
}

/// Mean and covariance by maximum likelihood: divided by n.
fn moments(rows: &[Vec<f64>], columns: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = rows.len().max(1) as f64;
    let mean: Vec<f64> = (0..columns).map(|j| rows.iter().map(|r| r[j]).sum::<f64>() / n).collect();
    let product = |i: usize, j: usize| rows.iter().map(|r| (r[i] - mean[i]) * (r[j] - mean[j])).sum::<f64>() / n;
    let covariance = (0..columns).map(|i| (0..columns).map(|j| product(i, j)).collect()).collect();
    (mean, covariance)
}

fn ellipse((mean, covariance): &(Vec<f64>, Vec<Vec<f64>>)) -> Ellipse {
    let first = covariance[0][0].max(0.0).sqrt();
    let second = if first > 0.0 { covariance[0][1] / first } else { 0.0 };
    Ellipse { mean: [mean[0], mean[1]], factor: [first, second, (covariance[1][1] - second * second).max(0.0).sqrt()] }
}

/// Contours of the truth and of the estimate from growing numbers of rows.
fn in_a_plane(sample: &Sample) -> Result<Picture> {
    let most = sample.rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut sizes: Vec<usize> = PLANE_SIZES.into_iter().filter(|n| *n <= most).collect();
    if sizes.is_empty() {
        sizes.push(most);
    }
    let truth: Vec<Ellipse> = sample.truth.iter().map(ellipse).collect();
    let largest = *sizes.iter().max().unwrap_or(&most);
    let rows = sample.rows.iter().flat_map(|r| r.iter().take(largest).map(|v| [v[0], v[1]]));
    let reach: Vec<Point> = truth.iter().flat_map(|e| e.ring(SHARES[1])).chain(rows).collect();
    let labels = [sample.columns[0].clone(), sample.columns[1].clone()];
    let shape = plane::axes(&labels, &reach, true);
    let mut picture = Picture::new(Kind::Estimates.name(), "Estimates from growing samples", shape.clone());
    picture.panels.clear();
    for n in &sizes {
        let mut panel = shape.clone();
        panel.title = Some(format!("n = {n}"));
        for (class, name) in sample.names.iter().enumerate() {
            let own: Vec<Vec<f64>> = sample.rows[class].iter().take(*n).cloned().collect();
            let at = own.iter().map(|v| [v[0], v[1]]).collect();
            let points = plane::class_points(class, at, name).opacity(0.6);
            if panel.title.as_deref() == Some(&format!("n = {}", sizes[0])) && sample.names.len() > 1 {
                picture.keys.push(Key::new(name, points.clone()));
            }
            panel.marks.push(points);
            let rings = |e: &Ellipse| SHARES.map(|share| e.ring(share)).to_vec();
            panel.marks.push(Mark::lines(rings(&truth[class])).width(1.2).label("truth"));
            let estimate = ellipse(&moments(&own, 2));
            let mark = Mark::lines(rings(&estimate)).width(1.5).colour(Colour::Class(class)).dash(Dash::Dashed);
            panel.marks.push(mark.label("estimate"));
            panel
                .marks
                .push(Mark::points(vec![estimate.mean], Symbol::Plus).colour(Colour::Ink).width(1.3).label("mean"));
        }
        picture.panels.push(panel);
    }
    let word = if sample.known { "truth" } else { "estimate from all rows" };
    picture.keys.push(Key::new(word, Mark::line(Vec::new()).width(1.2)));
    let sample_mark = Mark::line(Vec::new()).width(1.5).colour(Colour::Class(0)).dash(Dash::Dashed);
    picture.keys.push(Key::new("estimate from the first n rows of a class", sample_mark));
    picture.caption = "Contours that hold half and 95 % of a class. Means and covariances by maximum likelihood, divided by n; + is the \
         estimated mean."
        .to_owned();
    picture.notes.extend(plane::angle_note(&picture.panels[0]));
    Ok(picture)
}

/// What rows say of the mean of one column: its likelihood, and with a prior the posterior.
fn of_means(request: &Request, sample: &Sample) -> Result<Picture> {
    let most = sample.rows.iter().map(Vec::len).max().unwrap_or(0);
    let sizes: Vec<usize> = LINE_SIZES.into_iter().filter(|n| *n <= most.max(1)).collect();
    if let Some((_, sd)) = request.prior
        && !(sd > 0.0 && sd.is_finite())
    {
        return Err(Error::usage("the standard deviation of a prior is positive"));
    }
    let variance = |k: usize| sample.truth[k].1[0][0];
    if let Some(k) = (0..sample.names.len()).find(|k| !(variance(*k) > 0.0) && !sample.rows[*k].is_empty()) {
        return Err(Error::data(format!(
            "`{}` is constant in {}: nothing has to be estimated",
            sample.columns[0], sample.names[k]
        )));
    }
    let bell = |x: f64, mean: f64, variance: f64| {
        (-0.5 * (x - mean).powi(2) / variance).exp() / (std::f64::consts::TAU * variance).sqrt()
    };
    let spread = |k: usize| 3.0 * variance(k).sqrt();
    let firsts = |k: usize| sample.rows[k].iter().take(*sizes.last().unwrap_or(&1)).map(|r| r[0]);
    let ends = (0..sample.names.len()).flat_map(|k| {
        let mean = sample.truth[k].0[0];
        [mean - spread(k), mean + spread(k)].into_iter().chain(firsts(k))
    });
    let prior_ends = request.prior.iter().flat_map(|(m, s)| [m - 2.5 * s, m + 2.5 * s]);
    let x = Axis::around(format!("mean of {}", sample.columns[0]), ends.chain(prior_ends));
    let (low, high) = x.range;
    let grid: Vec<f64> = (0..=STEPS).map(|k| low + (high - low) * k as f64 / STEPS as f64).collect();
    let mut picture = Picture::new(
        Kind::Estimates.name(),
        format!("What n rows say of the mean of {}", sample.columns[0]),
        Panel::new(x.clone(), x.clone()),
    );
    picture.panels.clear();
    for n in &sizes {
        let mut curves: Vec<Mark> = Vec::new();
        let mut floor: Vec<Mark> = Vec::new();
        for (class, name) in sample.names.iter().enumerate() {
            let own: Vec<f64> = sample.rows[class].iter().take(*n).map(|r| r[0]).collect();
            if own.is_empty() {
                continue;
            }
            let count = own.len() as f64;
            let (mean, of_mean) = (own.iter().sum::<f64>() / count, variance(class) / count);
            let colour = Colour::Class(class);
            let draw = |m: f64, v: f64| grid.iter().map(|x| [*x, bell(*x, m, v)]).collect::<Vec<Point>>();
            curves.push(
                Mark::line(draw(mean, of_mean))
                    .colour(colour)
                    .width(1.6)
                    .dash(Dash::Dashed)
                    .label(format!("likelihood, {name}")),
            );
            if let Some((m, s)) = request.prior {
                let weight = (1.0 / (s * s), 1.0 / of_mean);
                let v = 1.0 / (weight.0 + weight.1);
                let map = v * (weight.0 * m + weight.1 * mean);
                curves.push(Mark::line(draw(map, v)).colour(colour).width(1.9).label(format!("posterior, {name}")));
                curves.push(
                    Mark::line(vec![[map, 0.0], [map, bell(map, map, v)]]).colour(colour).width(0.9).label("MAP"),
                );
                curves.push(Mark::text([map, bell(map, map, v)], "MAP").colour(colour));
            }
            curves.push(
                Mark::line(vec![[mean, 0.0], [mean, bell(mean, mean, of_mean)]])
                    .colour(colour)
                    .width(0.9)
                    .dash(Dash::Dashed)
                    .label("ML"),
            );
            curves.push(Mark::text([mean, bell(mean, mean, of_mean)], "ML").colour(colour));
            floor.push(
                Mark::points(own.iter().map(|v| [*v, 0.0]).collect(), Symbol::of_class(class))
                    .colour(colour)
                    .label(format!("rows, {name}")),
            );
        }
        if let Some((m, s)) = request.prior {
            let curve = grid.iter().map(|x| [*x, bell(*x, m, s * s)]).collect();
            curves.insert(0, Mark::line(curve).colour(Colour::Muted).width(1.4).dash(Dash::DashDot).label("prior"));
        }
        let top = curves.iter().flat_map(|m| match &m.shape {
            crate::scene::Shape::Line { paths, .. } => paths.concat(),
            _ => Vec::new(),
        });
        let top = top.map(|p| p[1]).fold(0.0, f64::max);
        let mut panel = Panel::new(x.clone(), Axis::new("density", (-0.05 * top, 1.15 * top)));
        panel.aspect = 0.7;
        panel.title = Some(format!("n = {n}"));
        if picture.panels.is_empty() {
            let keyed =
                curves.iter().filter(|m| m.label.as_ref().is_some_and(|l| l.contains("prior") || l.contains(", ")));
            picture.keys.extend(keyed.chain(&floor).map(|m| Key::new(m.label.clone().unwrap_or_default(), m.clone())));
        }
        panel.marks = curves;
        panel.marks.extend(floor);
        picture.panels.push(panel);
    }
    let from = if sample.known { "the model's" } else { "that of all rows" };
    let said = match request.prior {
        None => String::new(),
        Some((m, s)) => format!(
            "The prior of every mean is Gaussian, {} ± {}; MAP is the mean of the posterior, between the prior's and ML.",
            number_text(m),
            number_text(s)
        ),
    };
    let how = format!(
        "Likelihood of the mean of the first n rows of a class, scaled to area one; its peak ML is their mean. The variance of a \
         row is taken as known: {from}."
    );
    picture.caption = super::paragraph(&[&how, &said]);
    Ok(picture)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_divided_by_n() {
        let (mean, covariance) = moments(&[vec![1.0, 2.0], vec![3.0, 6.0]], 2);
        assert_eq!((mean, covariance), (vec![2.0, 4.0], vec![vec![1.0, 2.0], vec![2.0, 4.0]]));
    }
}

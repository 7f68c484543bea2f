//! What a generative model takes the classes to look like.

use super::{Kind, Request, plane};
use crate::caption::model_caption;
use crate::field::decision_map;
use crate::scene::{Axis, Colour, Dash, Key, Mark, Panel, Picture, Point, Symbol, number_text};
use crate::subject::{LabelledPoints, PlaneChoice, Viewed, class_label, classes_of, number_column, thinned};
use linsep::artifact::Model;
use linsep::density::{Covariance, Densities, Density, Family};
use linsep::watch::Watch;
use linsep::{Error, Result};

/// Points along a curve.
const STEPS: usize = 400;
/// Standard deviations beyond the outermost means that are shown: the density there is a hundredth of its peak.
const REACH: f64 = 3.2;
/// Shares of a class within its ellipses.
const SHARES: [f64; 2] = [0.5, 0.95];

/// Mean and variance of a class in a column.
#[derive(Clone, Copy)]
pub(super) struct Bell {
    pub mean: f64,
    pub variance: f64,
}

impl Bell {
    fn density(&self, x: f64) -> f64 {
        (-0.5 * (x - self.mean).powi(2) / self.variance).exp() / (std::f64::consts::TAU * self.variance).sqrt()
    }
}

pub(super) fn picture(request: &Request, watch: &Watch) -> Result<Picture> {
    let model = request.model(Kind::Densities)?;
    let density = model.density.as_ref().ok_or_else(|| {
        Error::usage("this model says nothing of what the rows of a class look like")
            .help("fit Gaussian classes or naive Bayes to draw their densities")
    })?;
    if !model.recipe.is_linear() {
        return Err(Error::usage("the densities are those of products or transformed columns, which are no axes"));
    }
    let one = model.recipe.columns.len() == 1 || (request.x.is_some() && request.y.is_none());
    match one {
        true => along_a_line(request, model, density, watch),
        false => in_a_plane(request, model, density, watch),
    }
}

/// The matrix column of a table column of numbers.
pub(super) fn matrix_column(model: &Model, name: &str) -> Result<usize> {
    let found = model.recipe.origins().into_iter().find(|o| o.name == name && !o.levels).map(|o| o.columns.start);
    found.ok_or_else(|| {
        let known: Vec<String> = model.recipe.origins().into_iter().filter(|o| !o.levels).map(|o| o.name).collect();
        Error::usage(format!("the model has no column of numbers `{name}`"))
            .help(format!("choose among: {}", known.join(", ")))
    })
}

/// Mean and variance of every class in a column.
pub(super) fn bells(density: &Densities, column: usize) -> Result<Vec<Bell>> {
    match &density.density {
        Density::Gaussian(gaussian) => Ok(gaussian
            .means
            .iter()
            .enumerate()
            .map(|(k, mean)| {
                let variance = match &gaussian.covariance {
                    Covariance::Spherical(v) => *v,
                    Covariance::Shared(s) => s[column][column],
                    Covariance::Own(all) => all[k][column][column],
                };
                Bell { mean: mean[column], variance }
            })
            .collect()),
        Density::Independent { marginals } => {
            let found = marginals.iter().find(|m| m.columns == [column]).map(|m| &m.family);
            match found {
                Some(Family::Gaussian { mean, variance }) => Ok(mean
                    .iter()
                    .zip(variance)
                    .map(|(mean, variance)| Bell { mean: *mean, variance: *variance })
                    .collect()),
                _ => Err(Error::usage("densities are drawn of Gaussian columns, and this one is of another family")
                    .help("choose a column that is Gaussian")),
            }
        }
        _ => Err(Error::usage("densities of this family cannot be drawn")),
    }
}

/// π_k p(x|k) over one column; of a model of that column alone with its thresholds and errors.
fn along_a_line(request: &Request, model: &Model, density: &Densities, watch: &Watch) -> Result<Picture> {
    let name = request.x.clone().unwrap_or_else(|| model.recipe.columns[0].name.clone());
    let bells = bells(density, matrix_column(model, &name)?)?;
    let end = |sign: f64| bells.iter().map(move |b| b.mean + sign * REACH * b.variance.sqrt());
    let (mut low, mut high) = (end(-1.0).fold(f64::INFINITY, f64::min), end(1.0).fold(f64::NEG_INFINITY, f64::max));
    let rows = match &request.table {
        Some(table) => {
            let column = number_column(table, &name)?;
            let classes = classes_of(table, &model.target, &model.classes)?;
            let rows: Vec<(f64, Option<usize>)> = thinned(table.n_rows())
                .into_iter()
                .map(|r| (table.number(r, column), classes.as_ref().and_then(|c| c[r])))
                .filter(|(v, _)| v.is_finite())
                .collect();
            (low, high) = rows.iter().fold((low, high), |(l, h), (v, _)| (l.min(*v), h.max(*v)));
            rows
        }
        None => Vec::new(),
    };
    if !(high > low) {
        return Err(Error::data(format!("`{name}` is constant in every class: there is no density to draw")));
    }
    let x = |k: usize| low + (high - low) * k as f64 / STEPS as f64;
    let joint = |class: usize, x: f64| density.priors[class] * bells[class].density(x);
    let top = bells.iter().enumerate().map(|(k, b)| joint(k, b.mean)).fold(0.0, f64::max);
    let floor = if rows.is_empty() { 0.0 } else { -0.05 * top * (bells.len() as f64 + 0.4) };
    let mut panel = Panel::new(Axis::new(&name, (low, high)), Axis::new("prior × density", (floor, 1.06 * top)));
    panel.aspect = 0.55;
    let mut picture = Picture::new(Kind::Densities.name(), format!("Class densities for {}", model.target), panel);
    let alone = model.recipe.columns.len() == 1;
    let decided = if alone { decisions(model, low, high, watch)? } else { Vec::new() };
    if alone {
        add_errors(&mut picture, &decided, bells.len(), &joint);
    }
    for (class, name) in model.classes.iter().map(|c| class_label(&model.target, c)).enumerate() {
        let curve = (0..=STEPS).map(|k| [x(k), joint(class, x(k))]).collect();
        let mark = Mark::line(curve).colour(Colour::Class(class)).dash(Dash::of_series(class)).width(1.6).label(&name);
        picture.keys.push(Key::new(&name, mark.clone()));
        picture.panels[0].marks.push(mark);
        let own: Vec<Point> = rows
            .iter()
            .filter(|(_, c)| *c == Some(class))
            .map(|(v, _)| [*v, -0.05 * top * (class as f64 + 0.7)])
            .collect();
        if !own.is_empty() {
            let rug = Mark::points(own, Symbol::of_class(class)).colour(Colour::Class(class)).width(0.75).opacity(0.7);
            picture.panels[0].marks.push(rug.label(format!("rows of {name}")));
        }
    }
    let cuts: Vec<f64> = decided.windows(2).map(|w| w[1].0).collect();
    for cut in &cuts {
        picture.panels[0].marks.push(Mark::line(vec![[*cut, 0.0], [*cut, top]]).width(1.3).label("threshold"));
        picture.panels[0].marks.push(Mark::text([*cut, top], format!("τ = {}", number_text(*cut))));
    }
    let said = match (alone, cuts.len()) {
        (false, _) => {
            format!("Marginal densities of `{name}`; the model decides by {} columns.", model.recipe.columns.len())
        }
        (true, 0) => "One decision is made everywhere in the picture.".to_owned(),
        (true, _) => {
            "τ: where the decision changes, by bisection to the last digit. Shaded: the errors of the decision."
                .to_owned()
        }
    };
    if alone {
        let panel = posteriors(&picture, model, (low, high), watch)?;
        picture.panels.push(panel);
    }
    picture.caption = super::paragraph(&[&model_caption(model), &said]);
    Ok(picture)
}

/// The probabilities of the classes along the same column.
fn posteriors(picture: &Picture, model: &Model, (low, high): (f64, f64), watch: &Watch) -> Result<Panel> {
    let xs: Vec<f64> = (0..=STEPS).map(|k| low + (high - low) * k as f64 / STEPS as f64).collect();
    let matrix = linsep::design::DenseMatrix::new(xs.clone(), 1)?;
    let found = linsep::workflow::predict_design(model, &matrix, watch)?.probabilities();
    let classes = model.classes.len();
    let mut panel = Panel::new(picture.panels[0].x.clone(), Axis::new("posterior probability", (-0.03, 1.03)));
    panel.aspect = picture.panels[0].aspect;
    for (class, name) in model.classes.iter().enumerate() {
        let curve = xs.iter().enumerate().map(|(k, x)| [*x, found[k * classes + class]]).collect();
        let mark = Mark::line(curve).colour(Colour::Class(class)).dash(Dash::of_series(class)).width(1.6);
        panel.marks.push(mark.label(format!("posterior of {name}")));
    }
    let cuts = picture.panels[0].marks.iter().filter(|m| m.label.as_deref() == Some("threshold"));
    let lines = cuts.filter_map(|m| match &m.shape {
        crate::scene::Shape::Line { paths, .. } => paths.first().and_then(|p| p.first()).map(|p| p[0]),
        _ => None,
    });
    let lines: Vec<Vec<Point>> = lines.map(|x| vec![[x, 0.0], [x, 1.0]]).collect();
    panel.marks.push(Mark::lines(lines).width(1.0).label("threshold"));
    Ok(panel)
}

/// Where each decision begins, from left to right.
fn decisions(model: &Model, low: f64, high: f64, watch: &Watch) -> Result<Vec<(f64, Option<usize>)>> {
    let decide = |xs: &[f64]| -> Result<Vec<Option<usize>>> {
        let matrix = linsep::design::DenseMatrix::new(xs.to_vec(), 1)?;
        let found = linsep::workflow::predict_design(model, &matrix, watch)?;
        Ok(found.classes.iter().map(|c| c.map(linsep::table::Class::index)).collect())
    };
    let xs: Vec<f64> = (0..=2 * STEPS).map(|k| low + (high - low) * k as f64 / (2 * STEPS) as f64).collect();
    let found = decide(&xs)?;
    let mut begins = vec![(low, found[0])];
    for at in 1..xs.len() {
        if found[at] == found[at - 1] {
            continue;
        }
        let (mut from, mut to) = (xs[at - 1], xs[at]);
        // Halving stops where no double lies between the ends.
        loop {
            let middle = 0.5 * (from + to);
            if middle <= from || middle >= to {
                break;
            }
            *(if decide(&[middle])?[0] == found[at - 1] { &mut from } else { &mut to }) = middle;
        }
        begins.push((to, found[at]));
    }
    Ok(begins)
}

/// The areas of rows that are decided wrongly: under the curve of every class where another is decided.
fn add_errors(
    picture: &mut Picture,
    decided: &[(f64, Option<usize>)],
    classes: usize,
    joint: &dyn Fn(usize, f64) -> f64,
) {
    let end = picture.panels[0].x.range.1;
    for class in 0..classes {
        let mut rings = Vec::new();
        for (at, (from, decision)) in decided.iter().enumerate() {
            if *decision == Some(class) || decision.is_none() {
                continue;
            }
            let to = decided.get(at + 1).map_or(end, |next| next.0);
            let x = |k: usize| from + (to - from) * k as f64 / STEPS as f64;
            let curve = (0..=STEPS).map(|k| [x(k), joint(class, x(k))]);
            rings.push(curve.chain([[to, 0.0], [*from, 0.0]]).collect());
        }
        if !rings.is_empty() {
            let mark = Mark::area(rings).colour(Colour::Class(class)).opacity(0.28);
            picture.panels[0].marks.push(mark.label(format!("errors of class {class}")));
        }
    }
}

/// Ellipses of the classes in two columns, with the boundary where the model has no others.
fn in_a_plane(request: &Request, model: &Model, density: &Densities, watch: &Watch) -> Result<Picture> {
    let table = request.table(Kind::Densities)?;
    let sliced =
        Request { x: request.x.clone(), y: request.y.clone(), plane: Some(PlaneChoice::Slice), ..Request::default() };
    let Viewed { view, rows } = Viewed::choose(model, table, &sliced, watch)?;
    let columns = [matrix_column(model, &view.labels[0])?, matrix_column(model, &view.labels[1])?];
    let ellipses = ellipses(density, columns)?;
    let reach: Vec<Point> = ellipses.iter().flat_map(|e| e.ring(SHARES[1])).chain(rows.at.iter().copied()).collect();
    let panel = plane::axes(&view.labels, &reach, true);
    let mut picture = Picture::new(Kind::Densities.name(), format!("Class densities for {}", model.target), panel);
    add_ellipses(&mut picture, &ellipses, &rows);
    let alone = model.recipe.columns.len() == 2;
    if alone {
        let map = decision_map(&view, picture.panels[0].window(), watch)?;
        let paths = map.edges.iter().map(|e| e.path.clone()).collect();
        let mark = Mark::lines(paths).width(1.7).label("decision boundary");
        picture.keys.push(Key::new("decision boundary", mark.clone()));
        picture.panels[0].marks.push(mark);
        if let [a, b] = &ellipses[..] {
            let between = Mark::line(vec![a.mean, b.mean]).width(0.9).dash(Dash::Dashed).label("between the means");
            picture.panels[0].marks.push(between);
            super::boundary::add_normal(&mut picture.panels[0], &view, watch)?;
        }
    }
    let shares = "Ellipses hold half and 95 % of a class by its Gaussian density; + is its mean.";
    let of = if alone {
        String::new()
    } else {
        format!("Densities of these two columns alone; the model decides by {}.", model.recipe.columns.len())
    };
    picture.caption = super::paragraph(&[&model_caption(model), shares, &of]);
    picture.notes.extend(plane::angle_note(&picture.panels[0]));
    Ok(picture)
}

/// A Gaussian class in two columns.
pub(super) struct Ellipse {
    pub mean: Point,
    /// Lower triangle of the factor of its covariance.
    pub factor: [f64; 3],
}

impl Ellipse {
    /// The contour that holds a share of the class: the squared distance of two normals is exponential.
    pub fn ring(&self, share: f64) -> Vec<Point> {
        let radius = (-2.0 * (1.0 - share).ln()).sqrt();
        let point = |k: usize| {
            let angle = std::f64::consts::TAU * k as f64 / 180.0;
            let (u, v) = (radius * angle.cos(), radius * angle.sin());
            [self.mean[0] + self.factor[0] * u, self.mean[1] + self.factor[1] * u + self.factor[2] * v]
        };
        (0..=180).map(point).collect()
    }
}

pub(super) fn ellipses(density: &Densities, [x, y]: [usize; 2]) -> Result<Vec<Ellipse>> {
    let (a, b) = (bells(density, x)?, bells(density, y)?);
    let between = |k: usize| match &density.density {
        Density::Gaussian(gaussian) => match &gaussian.covariance {
            Covariance::Spherical(_) => 0.0,
            Covariance::Shared(s) => s[x][y],
            Covariance::Own(all) => all[k][x][y],
        },
        _ => 0.0,
    };
    let ellipse = |(k, (a, b)): (usize, (&Bell, &Bell))| {
        let first = a.variance.sqrt();
        let second = between(k) / first;
        Ellipse { mean: [a.mean, b.mean], factor: [first, second, (b.variance - second * second).max(0.0).sqrt()] }
    };
    Ok(a.iter().zip(&b).enumerate().map(ellipse).collect())
}

fn add_ellipses(picture: &mut Picture, ellipses: &[Ellipse], rows: &LabelledPoints) {
    plane::add_rows(picture, rows);
    for mark in &mut picture.panels[0].marks {
        mark.opacity = 0.45;
    }
    let marks = &mut picture.panels[0].marks;
    for (class, ellipse) in ellipses.iter().enumerate() {
        let rings = SHARES.map(|share| ellipse.ring(share)).to_vec();
        marks.push(
            Mark::lines(rings).colour(Colour::Class(class)).width(1.3).dash(Dash::of_series(class)).label("contours"),
        );
        marks.push(Mark::points(vec![ellipse.mean], Symbol::Plus).colour(Colour::Ink).width(1.5).label("mean"));
    }
}

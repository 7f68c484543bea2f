//! Weights as the penalty falls.

use super::{Kind, Request};
use crate::scene::{Axis, Colour, Dash, Key, Mark, Panel, Picture, Point, number_text};
use linsep::design::RecipeOptions;
use linsep::model::{Fit, Lambdas, Method, PenaltyChoice, RiskMinimizer};
use linsep::table::{Kind as ColumnKind, Table};
use linsep::watch::Watch;
use linsep::workflow::{FitOptions, TablePath, path_table};
use linsep::{Error, Result};

/// Columns that have a name and a colour of their own: those with the largest weights at the end. Chosen by eye.
const NAMED: usize = 10;

pub(super) fn picture(request: &Request, watch: &Watch) -> Result<Picture> {
    let table = request.table(Kind::Path)?;
    let (options, spread) = options(request, table)?;
    let found = path_table(table.clone(), &options, &Lambdas::default(), watch)?;
    let Fit::Model(found) = found else {
        return Err(Error::data("columns without a penalty separate the classes: there is no path"));
    };
    if found.classes.len() != 2 {
        return Err(Error::usage(format!("a path is drawn of two classes, and there are {}", found.classes.len()))
            .help("draw `coefficients` of a model of several"));
    }
    let points = &found.path.points;
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Err(Error::model("the path has no point"));
    };
    let scale = |j: usize| spread.iter().find(|(name, _)| *name == found.features[j]).map_or(1.0, |(_, s)| *s);
    let weight = |p: usize, j: usize| points[p].linear.weights_of(0)[j] * scale(j);
    let mut order: Vec<usize> = (0..found.features.len()).collect();
    order.sort_by(|a, b| weight(points.len() - 1, *b).abs().total_cmp(&weight(points.len() - 1, *a).abs()));
    let all = (0..points.len()).flat_map(|p| order.iter().map(move |j| (p, *j)));
    let y = Axis::around("weight for a standard deviation", all.map(|(p, j)| weight(p, j)).chain([0.0]));
    let x = Axis::new("penalty λ (stronger to the right)", (last.lambda * 0.9, first.lambda * 1.1)).log();
    let mut picture =
        Picture::new(Kind::Path.name(), format!("Path of the lasso for {}", options.target), Panel::new(x, y));
    let curve = |j: usize| -> Vec<Point> { (0..points.len()).map(|p| [points[p].lambda, weight(p, j)]).collect() };
    let rest: Vec<Vec<Point>> = order.iter().skip(NAMED).map(|j| curve(*j)).collect();
    if !rest.is_empty() {
        let mark = Mark::lines(rest).colour(Colour::Muted).width(0.6).opacity(0.6).label("other columns");
        picture.keys.push(Key::new(format!("{} other columns", order.len() - NAMED), mark.clone()));
        picture.panels[0].marks.push(mark);
    }
    for (at, j) in order.iter().take(NAMED).enumerate() {
        // Seven colours and five dashes, out of step.
        let mark = Mark::line(curve(*j)).colour(Colour::Class(at)).dash(Dash::of_series(at)).width(1.5);
        let mark = mark.label(&found.features[*j]);
        picture.keys.push(Key::new(&found.features[*j], mark.clone()));
        picture.panels[0].marks.push(mark);
    }
    picture.caption = caption(&found);
    Ok(picture)
}

/// The fit of the model that is given, with a lasso, or a logistic one of all columns.
fn options(request: &Request, table: &Table) -> Result<(FitOptions, Vec<(String, f64)>)> {
    let lasso = PenaltyChoice::ElasticNet { l1_ratio: 1.0, lambda: None, cost: None };
    let target = request.target.clone().or_else(|| request.models.first().map(|m| m.target.clone()));
    let target = target
        .ok_or_else(|| Error::usage("a path needs a column of classes").help("name the column of the classes"))?;
    table.column(&target)?;
    let mut options =
        FitOptions::new(&target, Method::Risk(RiskMinimizer { penalty: lasso, ..RiskMinimizer::default() }));
    if let Some(model) = request.models.first() {
        let names = model.recipe.columns.iter().map(|c| c.name.clone()).collect();
        options.recipe = match &model.recipe.formula {
            Some(_) => model.recipe.options(model.method.coding()),
            None => RecipeOptions { features: Some(names), ..RecipeOptions::default() },
        };
        if let Method::Risk(method) = &model.method {
            options.method = Method::Risk(RiskMinimizer { penalty: lasso, ..method.clone() });
        }
    }
    let mut spread = Vec::new();
    for (at, column) in table.columns().iter().enumerate().filter(|(_, c)| c.kind == ColumnKind::Number) {
        let values: Vec<f64> = (0..table.n_rows()).map(|r| table.number(r, at)).filter(|v| v.is_finite()).collect();
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len().max(1) as f64;
        spread.push((column.name.clone(), variance.sqrt()));
    }
    Ok((options, spread))
}

fn caption(found: &TablePath) -> String {
    let points = &found.path.points;
    let worst = points.iter().map(|p| p.nonzero).max().unwrap_or(0);
    let proved = points.iter().filter(|p| p.certificate.relative_gap().is_some()).count();
    let certificate = match proved == points.len() {
        true => "Every point has its own certificate.".to_owned(),
        false => format!("{proved} of the points have a certificate."),
    };
    let zero = match found.path.lambda_max_error {
        // Rounded up to three digits, so that it holds from the number that is shown.
        Some(error) => {
            let bound = found.path.lambda_max + error;
            let unit = 10f64.powi(bound.log10().floor() as i32 - 2);
            let shown = if bound > 0.0 { (bound / unit).ceil() * unit } else { 0.0 };
            format!("All penalised weights are zero from λ = {} on. ", number_text(shown))
        }
        None => String::new(),
    };
    format!(
        "Minimised at each of {} penalties: {}; {} rows, {} columns. {zero}At most \
         {worst} weights are not zero. {certificate}",
        points.len(),
        found.path.formula,
        number_text(found.rows as f64),
        found.features.len(),
    )
}

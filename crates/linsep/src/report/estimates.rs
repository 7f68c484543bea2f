//! What a generative model took from the rows, or was given: priors, means, covariances, rates; and its discriminants in the form
//! of the textbooks, with weights of x itself and not about a centre.

use super::text::{clip, grid, short};
use crate::artifact::Model;
use crate::density::{Covariance, Densities, Density, Family, Gaussian, Marginal, Parameters};
use crate::linalg::{Factor, Square, factor};
use crate::model::{MeanPrior, Method};
use serde_json::{Value, json};

/// Columns of which covariances are shown as matrices: what a terminal has room for.
const MOST_MATRIX: usize = 6;
/// Lines of a table of parameters; programs get all.
const MOST_LINES: usize = 40;
/// Classes beside each other.
const MOST_CLASSES: usize = 8;
/// Pivots below this share of their column are rounding, as in `density::check`.
const SINGULAR: f64 = 1e-12;

/// One discriminant `xᵀWx + w·x + w₀`; W is absent where all classes share it.
struct TextbookForm {
    quadratic: Option<Square>,
    weights: Vec<f64>,
    constant: f64,
}

/// Priors, means and the like for programs, and the discriminants in the textbooks' form; null without densities.
pub(super) fn estimates_json(model: &Model) -> (Value, Value) {
    let Some(densities) = &model.density else { return (Value::Null, Value::Null) };
    let parameters = Parameters::of(densities, &model.classes, &model.recipe.features());
    let mut estimates = serde_json::to_value(parameters).unwrap_or(Value::Null);
    if let Some(covariances) = posterior_covariances(model) {
        estimates["posterior_covariances"] = json!(covariances);
    }
    let Some(forms) = textbook_forms(densities) else { return (estimates, Value::Null) };
    let form = |(class, f): (&String, &TextbookForm)| {
        json!({
            "class": class,
            "W": f.quadratic.as_ref().map(Square::to_rows),
            "w": f.weights,
            "w0": f.constant,
        })
    };
    (estimates, model.classes.iter().zip(&forms).map(form).collect())
}

/// The same for people.
pub(super) fn estimates_text(model: &Model) -> String {
    let Some(densities) = &model.density else { return String::new() };
    if model.classes.len() > MOST_CLASSES {
        return String::new();
    }
    let features = model.recipe.features();
    let mut out = match &densities.density {
        Density::Gaussian(gaussian) => gaussian_text(model, densities, gaussian, &features),
        Density::Independent { marginals } => marginals_text(model, densities, marginals, &features),
    };
    if features.len() <= MOST_MATRIX {
        for (class, covariance) in model.classes.iter().zip(posterior_covariances(model).unwrap_or_default()) {
            let title = format!("covariance of the mean of {} after the rows (posterior Σ̃)", clip(class, 30));
            out.push_str(&matrix_text(&title, &features, &covariance));
        }
    }
    out.push_str(&forms_text(model, densities, &features));
    out
}

/// The covariance of the mean of each class after the rows, where the means have a prior.
pub(super) fn posterior_covariances(model: &Model) -> Option<Vec<Vec<Vec<f64>>>> {
    let Method::Gaussian(method) = &model.method else { return None };
    let known = method.known.as_ref()?;
    let prior = known.mean_prior.as_ref()?;
    let Density::Gaussian(gaussian) = &model.density.as_ref()?.density else { return None };
    let features = model.recipe.features();
    let order: Vec<usize> =
        features.iter().map(|f| known.features.iter().position(|k| k == f)).collect::<Option<Vec<usize>>>()?;
    let pick = |m: &[Vec<f64>]| order.iter().map(|i| order.iter().map(|j| m[*i][*j]).collect()).collect();
    let prior = MeanPrior { means: Vec::new(), covariance: pick(&prior.covariance) };
    let of = |k: usize, rows: f64| {
        let covariance = match &gaussian.covariance {
            Covariance::Spherical(v) => {
                Square::from_lower(features.len(), |i, j| if i == j { *v } else { 0.0 }).to_rows()
            }
            Covariance::Shared(shared) => shared.clone(),
            Covariance::Own(own) => own[k].clone(),
        };
        prior.posterior_covariance(&covariance, rows)
    };
    model.training.class_weights.iter().enumerate().map(|(k, rows)| of(k, *rows)).collect()
}

/// A matrix of columns by columns.
pub(super) fn matrix_text(title: &str, features: &[String], matrix: &[Vec<f64>]) -> String {
    let heading = std::iter::once(String::new()).chain(features.iter().map(|f| clip(f, 18))).collect();
    let lines = features.iter().zip(matrix).map(|(name, row)| class_line(name, row.iter().copied()));
    format!("\n  {title}\n{}", grid(&std::iter::once(heading).chain(lines).collect::<Vec<_>>(), 2))
}

fn class_heading(model: &Model) -> Vec<String> {
    std::iter::once(String::new()).chain(model.classes.iter().map(|c| clip(c, 14))).collect()
}

/// A line of a table: a name and a number of each class.
fn class_line(name: &str, numbers: impl IntoIterator<Item = f64>) -> Vec<String> {
    std::iter::once(clip(name, 40)).chain(numbers.into_iter().map(short)).collect()
}

/// The first lines of a table, and how many more there are.
fn shown(mut rows: Vec<Vec<String>>) -> String {
    let more = rows.len().saturating_sub(MOST_LINES + 1);
    rows.truncate(MOST_LINES + 1);
    let table = grid(&rows, 2);
    if more > 0 { format!("{table}  … {more} more\n") } else { table }
}

fn gaussian_text(model: &Model, densities: &Densities, gaussian: &Gaussian, features: &[String]) -> String {
    let mut rows = vec![class_heading(model), class_line("prior", densities.priors.iter().copied())];
    for (j, name) in features.iter().enumerate() {
        rows.push(class_line(name, gaussian.means.iter().map(|m| m[j])));
    }
    let mut out = format!("\n  priors and means of the classes\n{}", shown(rows));
    let matrix = |title: String, matrix: &[Vec<f64>]| matrix_text(&title, features, matrix);
    match &gaussian.covariance {
        Covariance::Spherical(variance) => {
            out.push_str(&format!("\n  variance σ² of every column: {}\n", short(*variance)))
        }
        _ if features.len() > MOST_MATRIX => {}
        Covariance::Shared(shared) => out.push_str(&matrix("covariance of all classes".into(), shared)),
        Covariance::Own(own) => {
            for (class, own) in model.classes.iter().zip(own) {
                out.push_str(&matrix(format!("covariance of {}", clip(class, 30)), own));
            }
        }
    }
    out
}

fn marginals_text(model: &Model, densities: &Densities, marginals: &[Marginal], features: &[String]) -> String {
    let mut rows = vec![class_heading(model), class_line("prior", densities.priors.iter().copied())];
    for marginal in marginals {
        for (parameter, numbers) in parameters_of(marginal, features) {
            rows.push(class_line(&parameter, numbers));
        }
    }
    format!("\n  priors, and parameters of the columns within a class\n{}", shown(rows))
}

/// The parameters of a column by name, each with its number in every class.
pub(super) fn parameters_of(marginal: &Marginal, features: &[String]) -> Vec<(String, Vec<f64>)> {
    let column = |place: usize| features.get(marginal.columns[place]).map_or("", String::as_str);
    let one = |what: &str, numbers: &[f64]| (format!("{}, {what}", column(0)), numbers.to_vec());
    match &marginal.family {
        Family::Constant { .. } => Vec::new(),
        Family::Gaussian { mean, variance } => vec![one("mean", mean), one("variance", variance)],
        Family::Bernoulli { p } => vec![one("p", p)],
        Family::Poisson { rate } => vec![one("mean λ", rate)],
        Family::Exponential { rate } => vec![one("rate", rate)],
        Family::Geometric { p } | Family::Binomial { p, .. } => vec![one("p", p)],
        Family::Gamma { shape, rate } => vec![one("shape", shape), one("rate", rate)],
        Family::Categorical { shares } | Family::Multinomial { shares, .. } => (0..marginal.columns.len())
            .map(|l| (format!("{}, share", column(l)), shares.iter().map(|of| of[l]).collect()))
            .collect(),
    }
}

/// `w_k = Σ⁻¹μ_k`, `w_k0 = log π_k − ½μ_kᵀΣ⁻¹μ_k`; with own covariances `W_k = −½Σ_k⁻¹` and `−½ log|Σ_k|` as well. `None` of other
/// distributions, and where a covariance is singular.
fn textbook_forms(densities: &Densities) -> Option<Vec<TextbookForm>> {
    let Density::Gaussian(gaussian) = &densities.density else { return None };
    let d = densities.n_features();
    let square = |rows: &[Vec<f64>]| Square::from_lower(d, |i, j| rows[i][j]);
    let factored = |rows: &[Vec<f64>]| Some(factor(&square(rows), SINGULAR)).filter(|f| f.rank() == d);
    let form = |k: usize, weights: Vec<f64>, own: Option<&Factor>| {
        let squared: f64 = gaussian.means[k].iter().zip(&weights).map(|(m, w)| m * w).sum();
        let determinant = own.map_or(0.0, Factor::log_determinant);
        let quadratic = own.map(|own| {
            let column = |j: usize| own.solve(&(0..d).map(|i| f64::from(u8::from(i == j))).collect::<Vec<f64>>());
            let inverse: Vec<Vec<f64>> = (0..d).map(column).collect();
            Square::from_lower(d, |i, j| -0.25 * (inverse[i][j] + inverse[j][i]))
        });
        TextbookForm { quadratic, weights, constant: densities.priors[k].ln() - 0.5 * squared - 0.5 * determinant }
    };
    let classes = 0..densities.n_classes();
    match &gaussian.covariance {
        Covariance::Spherical(variance) => {
            let weights = |k: usize| gaussian.means[k].iter().map(|m| m / variance).collect();
            Some(classes.map(|k| form(k, weights(k), None)).collect())
        }
        Covariance::Shared(shared) => {
            let shared = factored(shared)?;
            Some(classes.map(|k| form(k, shared.solve(&gaussian.means[k]), None)).collect())
        }
        Covariance::Own(own) => {
            let one = |k: usize| {
                let own = factored(&own[k])?;
                Some(form(k, own.solve(&gaussian.means[k]), Some(&own)))
            };
            classes.map(one).collect()
        }
    }
}

fn forms_text(model: &Model, densities: &Densities, features: &[String]) -> String {
    let Some(forms) = textbook_forms(densities) else { return String::new() };
    if forms.iter().all(|f| f.quadratic.is_none()) {
        let mut rows = vec![class_heading(model)];
        for (j, name) in features.iter().enumerate() {
            rows.push(class_line(name, forms.iter().map(|f| f.weights[j])));
        }
        rows.push(class_line("w_k0", forms.iter().map(|f| f.constant)));
        return format!("\n  discriminants w_k·x + w_k0 of the classes, w_k = Σ⁻¹μ_k\n{}", shown(rows));
    }
    if features.len() > MOST_MATRIX {
        return String::new();
    }
    let mut out = "\n  discriminants xᵀW_k x + w_k·x + w_k0 of the classes, W_k = −½Σ_k⁻¹\n".to_owned();
    for (class, form) in model.classes.iter().zip(&forms) {
        let Some(quadratic) = &form.quadratic else { continue };
        let names = features.iter().map(|f| clip(f, 18));
        let mut rows: Vec<Vec<String>> =
            vec![std::iter::once(clip(class, 30)).chain(names).chain(["w_k".into()]).collect()];
        for (i, name) in features.iter().enumerate() {
            let entries = (0..features.len()).map(|j| quadratic.get(i, j));
            rows.push(class_line(name, entries.chain([form.weights[i]])));
        }
        let blank = vec![String::new(); features.len()];
        rows.push(std::iter::once("w_k0".to_owned()).chain(blank).chain([short(form.constant)]).collect());
        out.push_str(&grid(&rows, 2));
    }
    out
}

//! `fit --trace`: every step of a solver, as CSV.

use crate::output::{check_directory, quoted};
use linsep::artifact::{Model, write_atomic};
use linsep::watch::{Progress, Watch};
use linsep::workflow::TableFit;
use linsep::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// One step as the solver told it.
struct Followed {
    iteration: usize,
    objective: f64,
    gradient: f64,
    step: f64,
    coefficients: Vec<f64>,
}

/// The steps of the last fit, and where they go.
pub struct Trace {
    path: PathBuf,
    steps: Arc<Mutex<Vec<Followed>>>,
}

/// Numbers kept at most: 800 MB.
const MOST_NUMBERS: usize = 100_000_000;

impl Trace {
    /// Refuses a place that cannot be written to, before the fit.
    pub fn new(path: &Path) -> Result<Trace> {
        check_directory(path)?;
        Ok(Trace { path: path.to_owned(), steps: Arc::default() })
    }

    /// A watch that keeps every step; a new start begins anew, so that the last fit remains of several.
    pub fn followed(&self, watch: Watch) -> Watch {
        let steps = self.steps.clone();
        watch.also(move |progress| {
            let Progress::Point { iteration, objective, gradient, step, coefficients, .. } = progress else { return };
            let mut steps = steps.lock().unwrap_or_else(PoisonError::into_inner);
            if iteration == 0 {
                steps.clear();
            }
            if steps.len().saturating_mul(coefficients.len() + 4) < MOST_NUMBERS {
                steps.push(Followed { iteration, objective, gradient, step, coefficients: coefficients.to_vec() });
            }
        })
    }

    /// Writes the steps, coefficients in the units of the columns.
    pub fn write(&self, fit: &TableFit) -> Result<()> {
        let TableFit::Model(model) = fit else { return Ok(()) };
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let unsaid = steps.is_empty() || !model.parts.is_empty();
        let Some(scores) = scores_of(model, &steps).filter(|_| !unsaid) else {
            return Err(Error::usage(format!(
                "--model {} with this solver has no steps to follow",
                model.method.name()
            ))
            .help("use --solver gradient-descent, fixed-step, newton, lbfgs, sgd or svrg")
            .help("leave --trace out"));
        };
        let header = header(model, scores);
        write_atomic(&self.path, |out| {
            writeln!(out, "{}", header.join(","))?;
            for followed in steps.iter() {
                let Followed { iteration, objective, gradient, step, .. } = followed;
                write!(out, "{iteration},{objective:?},{gradient:?},{step:?}")?;
                for number in in_columns(model, &followed.coefficients, scores) {
                    write!(out, ",{number:?}")?;
                }
                writeln!(out)?;
            }
            Ok(())
        })
    }
}

/// How many scores the steps are of: as many as the model has, or one fewer where the first class is the reference.
fn scores_of(model: &Model, steps: &[Followed]) -> Option<usize> {
    let width = model.units.scale().len() + 1;
    let numbers = steps.first()?.coefficients.len();
    let scores = numbers / width;
    let fits = numbers % width == 0 && steps.iter().all(|s| s.coefficients.len() == numbers);
    let all = model.discriminant.n_scores();
    (fits && (scores == all || scores + 1 == all)).then_some(scores)
}

fn header(model: &Model, scores: usize) -> Vec<String> {
    let names = model.score_names();
    let of = |k: usize| &names[names.len() - scores + k];
    let features: Vec<String> = model.recipe.features().into_iter().chain(["(intercept)".to_owned()]).collect();
    let mut header: Vec<String> = ["iteration", "objective", "gradient_norm", "step"].map(str::to_owned).to_vec();
    for k in 0..scores {
        let named = |feature: &String| if scores == 1 { feature.clone() } else { format!("{}:{feature}", of(k)) };
        header.extend(features.iter().map(|feature| quoted(&named(feature))));
    }
    header
}

/// `w/s` for every column and `b − Σ w c/s`, score by score.
fn in_columns(model: &Model, coefficients: &[f64], scores: usize) -> Vec<f64> {
    let (centre, scale) = (model.units.centre(), model.units.scale());
    let columns = scale.len();
    let mut numbers = Vec::with_capacity(coefficients.len());
    for k in 0..scores {
        let weights: Vec<f64> =
            coefficients[k * columns..(k + 1) * columns].iter().zip(scale).map(|(w, s)| w / s).collect();
        let moved: f64 = weights.iter().zip(centre).map(|(w, c)| w * c).sum();
        let intercept = coefficients[scores * columns + k] - moved;
        numbers.extend(weights);
        numbers.push(intercept);
    }
    numbers
}

//! `fit --trace`: every step of a solver, as CSV.

use crate::output::{check_directory, quoted};
use linsep::artifact::{Model, write_atomic};
use linsep::model::{Method, PerceptronVariant};
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

/// An update of a perceptron as it was told.
struct FollowedMove {
    update: usize,
    row: Option<usize>,
    step: f64,
    loss: f64,
    before: Option<f64>,
    after: Option<f64>,
    coefficients: Vec<f64>,
}

/// What has been told of the last fit.
#[derive(Default)]
struct Told {
    steps: Vec<Followed>,
    moves: Vec<FollowedMove>,
    /// The plane of the widest margin.
    widest: Option<Vec<f64>>,
}

/// The steps of the last fit, and where they go.
pub struct Trace {
    path: PathBuf,
    told: Arc<Mutex<Told>>,
}

/// Numbers kept at most: 800 MB.
const MOST_NUMBERS: usize = 100_000_000;

impl Trace {
    /// Refuses a place that cannot be written to, before the fit.
    pub fn new(path: &Path) -> Result<Trace> {
        check_directory(path)?;
        Ok(Trace { path: path.to_owned(), told: Arc::default() })
    }

    /// A watch that keeps every step; a new start begins anew, so that the last fit remains of several.
    pub fn followed(&self, watch: Watch) -> Watch {
        let told = self.told.clone();
        let follow = move |progress: Progress<'_>| {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            match progress {
                Progress::Point { iteration, objective, gradient, step, coefficients, .. } => {
                    if iteration == 0 {
                        told.steps.clear();
                    }
                    if told.steps.len().saturating_mul(coefficients.len() + 4) < MOST_NUMBERS {
                        let coefficients = coefficients.to_vec();
                        told.steps.push(Followed { iteration, objective, gradient, step, coefficients });
                    }
                }
                Progress::Update { update, row, step, loss, before, after, coefficients } => {
                    if update == 0 {
                        told.moves.clear();
                    }
                    if told.moves.len().saturating_mul(coefficients.len() + 6) < MOST_NUMBERS {
                        let coefficients = coefficients.to_vec();
                        told.moves.push(FollowedMove { update, row, step, loss, before, after, coefficients });
                    }
                }
                Progress::Widest { coefficients } => told.widest = Some(coefficients.to_vec()),
                _ => {}
            }
        };
        watch.also(follow).following()
    }

    /// Writes the steps, coefficients in the units of the columns.
    pub fn write(&self, fit: &TableFit) -> Result<()> {
        let TableFit::Model(model) = fit else { return Ok(()) };
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if !told.moves.is_empty() && model.parts.is_empty() {
            return self.write_moves(model, &told);
        }
        let steps = &told.steps;
        let unsaid = steps.is_empty() || !model.parts.is_empty();
        let Some(scores) = scores_of(model, steps).filter(|_| !unsaid) else {
            return Err(Error::usage(format!(
                "--model {} with this solver has no steps to follow",
                model.method.name()
            ))
            .help("use --solver gradient-descent, fixed-step, newton, lbfgs, sgd or svrg, or --model perceptron")
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

    /// The updates of a perceptron: products and lengths are of θ in the units of the fit, intercept included.
    fn write_moves(&self, model: &Model, told: &Told) -> Result<()> {
        // Steps that only scale θ are told of as 1.
        let scale = match &model.method {
            Method::Perceptron(m) if m.steps.is_constant() && !model.provenance.started => match m.variant {
                PerceptronVariant::BatchSum => 1.0,
                _ => m.step,
            },
            _ => 1.0,
        };
        let mut header = ["update", "row", "step", "loss", "margin_before", "margin_after", "squared_norm"].to_vec();
        if told.widest.is_some() {
            header.extend(["along_best", "cosine"]);
        }
        let mut header: Vec<String> = header.into_iter().map(str::to_owned).collect();
        header.extend(model.recipe.features().iter().map(|f| quoted(f)));
        header.push("(intercept)".to_owned());
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        write_atomic(&self.path, |out| {
            writeln!(out, "{}", header.join(","))?;
            for moved in &told.moves {
                let theta: Vec<f64> = moved.coefficients.iter().map(|c| scale * c).collect();
                let squared = product(&theta, &theta);
                let row = moved.row.map_or(String::new(), |row| (row + 1).to_string());
                let number = |n: Option<f64>| n.map_or(String::new(), |n| format!("{:?}", scale * n));
                write!(out, "{},{row},{:?},{:?}", moved.update, scale * moved.step, scale * moved.loss)?;
                write!(out, ",{},{},{squared:?}", number(moved.before), number(moved.after))?;
                if let Some(widest) = &told.widest {
                    let along = product(&theta, widest) / product(widest, widest).sqrt();
                    let cosine = if squared > 0.0 { along / squared.sqrt() } else { 0.0 };
                    write!(out, ",{along:?},{cosine:?}")?;
                }
                for number in in_columns(model, &theta, 1) {
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

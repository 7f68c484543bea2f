//! Repeated samples of known classes: how estimates scatter about the truth, how the error falls as rows are added, and how
//! often intervals cover what they are intervals of.

use super::options::FitOptions;
use super::plan::Plan;
use super::study_parameters::{NamedValue, StudyNames, StudyParameter};
use crate::decide::losses;
use crate::density::{BayesError, Draws};
use crate::design::{ColumnOrigin, DenseMatrix, Recipe, Training};
use crate::error::{Error, ErrorKind, Result};
use crate::infer::{InferenceOptions, IntervalKind, Subject, check_level, infer, infer_gaussian};
use crate::model::{Fit, Fitted, GaussianBayes, LossChoice, Method, Outcome, PenaltyChoice, Shrinkage};
use crate::numeric::{beta_quantile, sum};
use crate::objective::Intercept;
use crate::options::options;
use crate::sample::{Generator, draw_rows};
use crate::table::{Class, Labels};
use crate::watch::Watch;
use crate::words::{Setting, words};
use rayon::prelude::*;

/// How surely the true coverage is within the limits stated beside it.
const SURE: f64 = 0.95;

options! {
/// What to repeat.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyOptions {
    /// Sizes of the samples. The rows of a smaller one are the first of the larger.
    pub rows: Vec<u64>,
    /// Samples of each size.
    pub samples: usize,
    /// Fresh rows on which the fits of a sample are tested.
    pub test_rows: u64,
    /// The level of intervals.
    pub level: f64,
    /// How intervals of coefficients are made.
    pub interval: IntervalKind,
    /// Seed of everything random.
    pub seed: u64,
}
}

impl Default for StudyOptions {
    fn default() -> StudyOptions {
        StudyOptions {
            rows: vec![20, 50, 100, 500],
            samples: 200,
            test_rows: 1000,
            level: 0.95,
            interval: IntervalKind::Wald,
            seed: 0,
        }
    }
}

/// A method by the name it has in the study.
#[derive(Debug, Clone)]
pub struct StudiedMethod {
    /// Its name.
    pub name: String,
    /// The method, and what belongs to it; what is said there of tables is not used.
    pub options: FitOptions,
}

/// A mean over samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleMean {
    /// The mean.
    pub mean: f64,
    /// The standard deviation over samples; `None` of one sample.
    pub deviation: Option<f64>,
    /// The standard error of the mean.
    pub error: Option<f64>,
}

impl SampleMean {
    fn of(values: &[f64]) -> Option<SampleMean> {
        if values.is_empty() {
            return None;
        }
        let n = values.len() as f64;
        let mean = sum(values.iter().copied()) / n;
        let variance = sum(values.iter().map(|v| (v - mean) * (v - mean))) / (n - 1.0);
        let deviation = (values.len() > 1).then(|| variance.sqrt());
        Some(SampleMean { mean, deviation, error: deviation.map(|d| d / n.sqrt()) })
    }
}

/// A parameter over the samples that have an estimate of it.
#[derive(Debug, Clone, PartialEq)]
pub struct StudiedEstimate {
    /// Which parameter.
    pub parameter: StudyParameter,
    /// Its true value.
    pub truth: f64,
    /// Its estimates.
    pub estimates: SampleMean,
    /// The root of their mean squared distance from the truth.
    pub root_mean_square: f64,
    /// How often intervals cover the truth, where there are intervals.
    pub coverage: Option<Coverage>,
}

impl StudiedEstimate {
    /// How far the mean of the estimates is from the truth.
    pub fn bias(&self) -> f64 {
        self.estimates.mean - self.truth
    }
}

/// How many intervals hold the truth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coverage {
    /// Intervals that do.
    pub covered: usize,
    /// All of them.
    pub intervals: usize,
    /// The true share is not below this with 97.5 % confidence (Clopper and Pearson 1934).
    pub low: f64,
    /// The true share is not above this with 97.5 % confidence.
    pub high: f64,
}

impl Coverage {
    fn of(covered: usize, intervals: usize) -> Coverage {
        let (k, n) = (covered as f64, intervals as f64);
        let tail = 0.5 * (1.0 - SURE);
        Coverage {
            covered,
            intervals,
            low: if covered == 0 { 0.0 } else { beta_quantile(tail, k, n - k + 1.0) },
            high: if covered == intervals { 1.0 } else { beta_quantile(1.0 - tail, k + 1.0, n - k) },
        }
    }

    /// The share that covers.
    pub fn share(&self) -> f64 {
        self.covered as f64 / self.intervals as f64
    }
}

/// A method on samples of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct StudiedSize {
    /// The name of the method.
    pub method: String,
    /// Rows of a sample.
    pub rows: u64,
    /// Samples with a model.
    pub fitted: usize,
    /// Samples that lack a class.
    pub without_class: usize,
    /// Samples whose rows are separated, so that there is no optimum, or not, where the method needs that.
    pub without_optimum: usize,
    /// Fits that did not reach their tolerance.
    pub unconverged: usize,
    /// The error on fresh rows, over the samples with a model; `None` if there are none.
    pub error: Option<SampleMean>,
    /// The error on the rows of the sample itself.
    pub training_error: Option<SampleMean>,
    /// The mean of `−ln p(class)` on fresh rows, where there are probabilities.
    pub log_loss: Option<SampleMean>,
    /// The same on the rows of the sample itself.
    pub training_log_loss: Option<SampleMean>,
    /// The parameters whose truth is known.
    pub estimates: Vec<StudiedEstimate>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// What made the rows.
    pub kind: String,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Names of the columns.
    pub features: Vec<String>,
    /// What was asked.
    pub options: StudyOptions,
    /// The error of the best rule.
    pub bayes_error: Option<BayesError>,
    /// Method by method, and size by size.
    pub sizes: Vec<StudiedSize>,
}

/// Fits methods to repeated samples of known classes.
///
/// The samples of a seed do not depend on the methods, so that methods are compared on the same rows; nor does anything on the
/// number of threads.
///
/// ```
/// use linsep::model::{GaussianBayes, Method};
/// use linsep::sample::gaussian_classes;
/// use linsep::workflow::{FitOptions, StudiedMethod, StudyOptions, study};
/// let classes = gaussian_classes(vec![0.5, 0.5], 2, 2.0, 0.0)?;
/// let lda = FitOptions::new("class", Method::Gaussian(GaussianBayes::lda()));
/// let options = StudyOptions::default().rows(vec![20, 200]).samples(50);
/// let found = study(&classes, &[StudiedMethod { name: "lda".into(), options: lda }], &options, &Default::default())?;
/// let [few, many] = &found.sizes[..] else { panic!("two sizes were asked for") };
/// assert!(many.error.unwrap().mean < few.error.unwrap().mean);
/// # Ok::<(), linsep::Error>(())
/// ```
///
/// # Errors
/// No sizes, samples, test rows or methods; methods that these classes do not allow; fits that fail; a level that is none.
pub fn study(
    generator: &dyn Generator,
    methods: &[StudiedMethod],
    options: &StudyOptions,
    watch: &Watch,
) -> Result<Study> {
    check(generator, methods, options)?;
    let mut truth = generator.truth(options.seed)?;
    let (classes, features) = (generator.classes(), generator.features());
    (truth.parameters.classes, truth.parameters.features) = (classes.clone(), features.clone());
    let names = StudyNames { classes: &classes, features: &features };
    let recipe = Recipe::numbers(features.clone());
    let mut studied = Vec::with_capacity(methods.len());
    for method in methods {
        let plan = Plan::of(&method.options, &classes)?;
        let aligned = method.options.method.aligned(&recipe, &classes)?;
        studied.push((plan, aligned));
    }
    let run = StudyRun { generator, options, names, origins: recipe.origins(), methods: &studied, watch };
    let samples: Vec<Vec<SampleFit>> =
        (0..options.samples).into_par_iter().map(|at| run.sample(at as u64)).collect::<Result<_>>()?;
    let known = names.of_truth(&truth);
    let mut sizes = Vec::new();
    for (m, method) in methods.iter().enumerate() {
        for (s, rows) in options.rows.iter().enumerate() {
            let fits: Vec<&SampleFit> = samples.iter().map(|fits| &fits[s * methods.len() + m]).collect();
            sizes.push(summary(method.name.clone(), *rows, &fits, &known));
        }
    }
    Ok(Study {
        kind: generator.kind().to_owned(),
        classes,
        features,
        options: options.clone(),
        bayes_error: truth.bayes_error,
        sizes,
    })
}

fn check(generator: &dyn Generator, methods: &[StudiedMethod], options: &StudyOptions) -> Result<()> {
    let fewest = generator.fewest_rows().max(1);
    if let Some(rows) = options.rows.iter().find(|rows| **rows < fewest) {
        return Err(Error::usage(format!("a sample of {rows} rows cannot be drawn"))
            .help(words![format!("ask for at least {fewest} with "), Setting::Rows]));
    }
    let missing = [
        (options.rows.is_empty(), "no size of samples was given"),
        (options.samples == 0, "no samples were asked for"),
        (options.test_rows == 0, "there are no fresh rows to test on"),
        (methods.is_empty(), "no method was given"),
    ];
    if let Some((_, what)) = missing.iter().find(|(is_missing, _)| *is_missing) {
        return Err(Error::usage(*what));
    }
    for method in methods {
        let of_tables = &method.options;
        if of_tables.calibration.is_some() || of_tables.conformal.is_some() || of_tables.folds.is_some() {
            return Err(Error::usage("a study fits plain models, without folds, calibrations or rows held back"));
        }
    }
    check_level(options.level)
}

/// What stays the same from sample to sample.
struct StudyRun<'s> {
    generator: &'s dyn Generator,
    options: &'s StudyOptions,
    names: StudyNames<'s>,
    origins: Vec<ColumnOrigin>,
    methods: &'s [(Plan, Method)],
    watch: &'s Watch,
}

/// What became of a fit.
enum SampleFit {
    WithoutClass,
    WithoutOptimum,
    Fitted(Box<FittedSample>),
}

struct FittedSample {
    converged: bool,
    /// On fresh rows and on its own.
    errors: [f64; 2],
    log_losses: Option<[f64; 2]>,
    estimates: Vec<NamedValue>,
    intervals: Vec<(StudyParameter, (f64, f64))>,
}

/// Labelled rows in memory.
struct StudyRows<'r> {
    design: DenseMatrix<'r, f64>,
    labels: Labels,
}

impl StudyRun<'_> {
    /// All fits of a sample, size by size.
    fn sample(&self, at: u64) -> Result<Vec<SampleFit>> {
        if self.watch.halted().is_some() {
            return Err(Error::new(ErrorKind::Interrupted, "stopped before all samples were drawn"));
        }
        let mut seeds = Draws::new(self.options.seed, at);
        let (own, fresh) = (seeds.bits(), seeds.bits());
        let most = self.options.rows.iter().copied().max().unwrap_or(0);
        let (values, classes) = draw_rows(self.generator, most, own);
        let (test_values, test_classes) = draw_rows(self.generator, self.options.test_rows, fresh);
        let test = self.rows(&test_values, &test_classes)?;
        let mut found = Vec::with_capacity(self.options.rows.len() * self.methods.len());
        for rows in &self.options.rows {
            let rows = *rows as usize;
            let sample = self.rows(&values[..rows * self.generator.cols()], &classes[..rows])?;
            for method in self.methods {
                found.push(self.fit(method, &sample, &test)?);
            }
        }
        Ok(found)
    }

    fn rows<'r>(&self, values: &'r [f64], classes: &[Class]) -> Result<StudyRows<'r>> {
        let design = DenseMatrix::new(values, self.generator.cols())?;
        Ok(StudyRows { design, labels: Labels::new(classes.to_vec(), self.names.classes.to_vec()) })
    }

    fn fit(&self, (plan, method): &(Plan, Method), sample: &StudyRows<'_>, test: &StudyRows<'_>) -> Result<SampleFit> {
        if sample.labels.totals(None).contains(&0.0) {
            return Ok(SampleFit::WithoutClass);
        }
        let training = Training::new(&sample.design, &sample.labels).with_origins(&self.origins);
        let fitted = match plan.fit(method, &training, None, self.watch)? {
            Fit::Model(fit) => fit.whole,
            Fit::Refused(_) => return Ok(SampleFit::WithoutOptimum),
        };
        if self.watch.halted().is_some() {
            return Err(Error::new(ErrorKind::Interrupted, "stopped before all samples were fitted"));
        }
        let [fresh, own] = [self.judged(plan, &fitted, test)?, self.judged(plan, &fitted, sample)?];
        let mut estimates = fitted.density.as_ref().map_or(Vec::new(), |d| self.names.of_densities(d));
        if let Some(linear) = fitted.discriminant.as_linear().filter(|_| plan.sure) {
            estimates.extend(self.names.of_linear(linear));
        }
        Ok(SampleFit::Fitted(Box::new(FittedSample {
            converged: fitted.outcome == Outcome::Converged,
            errors: [fresh.0, own.0],
            log_losses: fresh.1.zip(own.1).map(|(fresh, own)| [fresh, own]),
            estimates,
            intervals: self.intervals(method, &training)?,
        })))
    }

    /// The share of wrong classes, and the mean of `−ln p(class)`.
    fn judged(&self, plan: &Plan, fitted: &Fitted, rows: &StudyRows<'_>) -> Result<(f64, Option<f64>)> {
        let (truth, n_classes) = (rows.labels.codes(), rows.labels.n_classes());
        let scores = fitted.discriminant.scores(&rows.design, self.watch)?;
        let decided = plan.decision.classes(&scores, n_classes)?;
        // A row without a class counts as wrong.
        let wrong = decided.iter().zip(truth).filter(|(decided, class)| **decided != Some(**class)).count();
        let n = truth.len() as f64;
        let loss = plan.sure.then(|| sum(losses(&scores, truth, n_classes)) / n);
        Ok((wrong as f64 / n, loss))
    }

    /// The intervals that inference about the method gives, where there is any.
    fn intervals(&self, method: &Method, training: &Training<'_>) -> Result<Vec<(StudyParameter, (f64, f64))>> {
        let features = self.names.features.to_vec();
        let found = match method {
            Method::Risk(risk) if risk.loss == LossChoice::Logistic && risk.penalty == PenaltyChoice::None => {
                let intercept = match risk.intercept {
                    Intercept::Penalised => return Ok(Vec::new()),
                    kind => kind == Intercept::Free,
                };
                let options = InferenceOptions {
                    level: self.options.level,
                    interval: self.options.interval,
                    intercept,
                    ..InferenceOptions::default()
                };
                infer(&Subject::of_columns(*training, features), &options, self.watch).map(|found| match found {
                    Fit::Model(inference) => self.names.intervals_of_coefficients(&inference),
                    Fit::Refused(_) => Vec::new(),
                })
            }
            Method::Gaussian(gaussian) if estimates_everything(gaussian) => {
                infer_gaussian(training, features, (gaussian.shape, self.options.level), self.watch)
                    .map(|inference| self.names.intervals_of_classes(&inference))
            }
            _ => Ok(Vec::new()),
        };
        match found {
            // Too few rows for an interval, or no information: the sample has an estimate and no interval.
            Err(error) if error.kind() == ErrorKind::Data => Ok(Vec::new()),
            found => found,
        }
    }
}

/// Whether inference about Gaussian classes is about the estimates of the method.
fn estimates_everything(method: &GaussianBayes) -> bool {
    method.known.is_none() && method.priors.is_none() && method.shrinkage == Shrinkage::None
}

/// A method on all samples of one size.
fn summary(method: String, rows: u64, fits: &[&SampleFit], known: &[NamedValue]) -> StudiedSize {
    let fitted: Vec<&FittedSample> = fits
        .iter()
        .filter_map(|fit| match fit {
            SampleFit::Fitted(fitted) => Some(&**fitted),
            _ => None,
        })
        .collect();
    let mean = |value: &dyn Fn(&FittedSample) -> Option<f64>| {
        SampleMean::of(&fitted.iter().filter_map(|f| value(f)).collect::<Vec<f64>>())
    };
    StudiedSize {
        method,
        rows,
        fitted: fitted.len(),
        without_class: fits.iter().filter(|f| matches!(f, SampleFit::WithoutClass)).count(),
        without_optimum: fits.iter().filter(|f| matches!(f, SampleFit::WithoutOptimum)).count(),
        unconverged: fitted.iter().filter(|f| !f.converged).count(),
        error: mean(&|f| Some(f.errors[0])),
        training_error: mean(&|f| Some(f.errors[1])),
        log_loss: mean(&|f| f.log_losses.map(|l| l[0])),
        training_log_loss: mean(&|f| f.log_losses.map(|l| l[1])),
        estimates: known.iter().filter_map(|(parameter, truth)| estimate(parameter, *truth, &fitted)).collect(),
    }
}

/// A parameter over the samples that have an estimate of it.
fn estimate(parameter: &StudyParameter, truth: f64, fitted: &[&FittedSample]) -> Option<StudiedEstimate> {
    let of = |f: &&FittedSample| f.estimates.iter().find(|(p, _)| p == parameter).map(|(_, value)| *value);
    let values: Vec<f64> = fitted.iter().filter_map(of).collect();
    let estimates = SampleMean::of(&values)?;
    let square = sum(values.iter().map(|v| (v - truth) * (v - truth))) / values.len() as f64;
    let ends = |f: &&FittedSample| f.intervals.iter().find(|(p, _)| p == parameter).map(|(_, ends)| *ends);
    let intervals: Vec<(f64, f64)> = fitted.iter().filter_map(ends).collect();
    let covered = intervals.iter().filter(|(low, high)| *low <= truth && truth <= *high).count();
    Some(StudiedEstimate {
        parameter: parameter.clone(),
        truth,
        estimates,
        root_mean_square: square.sqrt(),
        coverage: (!intervals.is_empty()).then(|| Coverage::of(covered, intervals.len())),
    })
}

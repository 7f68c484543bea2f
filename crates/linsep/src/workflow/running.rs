//! A fit that goes on: statistics of rows that arrive in parts, and the model of all of them so far.
//!
//! For methods whose model is a function of sums over the rows: naive Bayes, Gaussian classes and least squares. The model
//! is that of all rows at once, up to the rounding of the sums.

use super::options::FitOptions;
use super::places::with_array_names;
use super::plan::Plan;
use crate::artifact::{KeptSums, Model, Provenance, RowsRecord, TrainingSummary};
use crate::design::{Design, Encoding, Recipe, RecipeColumn};
use crate::error::{Error, Result};
use crate::model::{CovarianceShape, Fitted, Layout, Method};
use crate::stats::{ClassColumns, ClassMoments, Run, Scatter, Sums};
use crate::table::{Labels, Reading};
use crate::watch::Watch;

/// What is summed of the rows.
#[derive(Debug, Clone)]
enum RunningSums {
    /// Of single columns.
    Columns(ClassColumns),
    /// Of pairs of columns.
    Moments(ClassMoments),
}

/// Sums over rows that arrive in parts.
///
/// ```
/// use linsep::design::DenseMatrix;
/// use linsep::model::{GaussianBayes, Method};
/// use linsep::table::Labels;
/// use linsep::workflow::{FitOptions, RunningFit};
/// let options = FitOptions::new("kind", Method::Gaussian(GaussianBayes::lda()));
/// let classes = vec!["a".to_owned(), "b".to_owned()];
/// let mut running = RunningFit::new(&options, vec!["length".to_owned()], 1, classes, true)?;
/// let labels = Labels::from_names(["a", "a", "b", "b"]);
/// let watch = Default::default();
/// running.add(&DenseMatrix::new(vec![0.0, 2.0, 5.0, 7.0], 1)?, &labels, None, &watch)?;
/// running.add(&DenseMatrix::new(vec![0.0, 2.0, 5.0, 7.0], 1)?, &labels, None, &watch)?;
/// let model = running.model(&options, &watch)?;
/// assert_eq!(model.training.rows, 8);
/// assert!((model.discriminant.as_linear().unwrap().weights_of(0)[0] - 3.75).abs() < 1e-14); // Σ = 8/6, μ₁ − μ₀ = 5
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RunningFit {
    sums: RunningSums,
    recipe: Recipe,
    classes: Vec<String>,
    labels_are_text: bool,
    rows: usize,
    zero_weight: usize,
    /// Rows of each part that was summed elsewhere and merged.
    merged: Vec<usize>,
}

impl RunningFit {
    /// Of no rows yet; `cols` columns with these names, or without any.
    pub fn new(
        options: &FitOptions,
        names: Vec<String>,
        cols: usize,
        classes: Vec<String>,
        labels_are_text: bool,
    ) -> Result<RunningFit> {
        let recipe = match names.len() {
            0 => Recipe::unnamed(cols),
            n if n == cols => Recipe::numbers(names),
            n => return Err(Error::usage(format!("{n} names for {cols} columns"))),
        };
        RunningFit::of_recipe(options, recipe, classes, labels_are_text)
    }

    /// Of no rows yet, which a recipe makes matrix columns of.
    pub(super) fn of_recipe(
        options: &FitOptions,
        recipe: Recipe,
        classes: Vec<String>,
        labels_are_text: bool,
    ) -> Result<RunningFit> {
        let (k, cols) = (classes.len(), recipe.n_features());
        let sums = match &options.method {
            Method::NaiveBayes(method) => {
                let layout = method.layout(&recipe.origins(), cols)?;
                RunningSums::Columns(ClassColumns::empty(k, &layout.statistics())?)
            }
            Method::Gaussian(method) if method.shape == CovarianceShape::Own => {
                RunningSums::Moments(ClassMoments::empty(Scatter::Own, k, cols))
            }
            Method::Gaussian(_) | Method::LeastSquares(_) => {
                RunningSums::Moments(ClassMoments::empty(Scatter::Pooled, k, cols))
            }
            other => {
                return Err(Error::usage(format!("{} needs all rows at once", other.name()))
                    .help("naive Bayes, Gaussian classes and least squares take them in parts"));
            }
        };
        Ok(RunningFit { sums, recipe, classes, labels_are_text, rows: 0, zero_weight: 0, merged: Vec::new() })
    }

    /// Of sums over rows that a model has kept.
    pub(super) fn of_kept(
        options: &FitOptions,
        recipe: Recipe,
        classes: Vec<String>,
        labels_are_text: bool,
        kept: &KeptSums,
    ) -> Result<RunningFit> {
        let mut running = RunningFit::of_recipe(options, recipe, classes, labels_are_text)?;
        let cols = running.recipe.n_features();
        running.sums = match &running.sums {
            RunningSums::Columns(empty) => RunningSums::Columns(kept.to_columns(empty.runs())?),
            RunningSums::Moments(empty) => RunningSums::Moments(kept.to_moments(empty.kind(), cols)?),
        };
        Ok(running)
    }

    /// The sums, for a model to keep.
    pub(super) fn kept(&self) -> KeptSums {
        match &self.sums {
            RunningSums::Columns(seen) => KeptSums::of_columns(seen),
            RunningSums::Moments(seen) => KeptSums::of_moments(seen),
        }
    }

    /// What is summed of single columns, where that is all.
    pub(super) fn runs(&self) -> Option<&[Run]> {
        match &self.sums {
            RunningSums::Columns(seen) => Some(seen.runs()),
            RunningSums::Moments(_) => None,
        }
    }

    /// Adds rows that were summed elsewhere, by a fit of the same method, columns and classes. What comes out depends on the
    /// order of the parts, by rounding, and on nothing else.
    pub fn merge(&mut self, other: &RunningFit) -> Result<()> {
        match (&mut self.sums, &other.sums) {
            (RunningSums::Columns(all), RunningSums::Columns(part)) => all.merge(part)?,
            (RunningSums::Moments(all), RunningSums::Moments(part)) => all.merge(part)?,
            _ => return Err(Error::usage("these sums were made for another method")),
        }
        self.rows += other.rows;
        self.zero_weight += other.zero_weight;
        self.merged.push(other.rows);
        Ok(())
    }

    /// Takes the rows of another fit of the same columns and classes away.
    pub(super) fn remove(&mut self, other: &RunningFit) -> Result<()> {
        match (&mut self.sums, &other.sums) {
            (RunningSums::Columns(all), RunningSums::Columns(part)) => all.remove(part),
            (RunningSums::Moments(all), RunningSums::Moments(part)) => all.remove(part),
            _ => Err(Error::usage("these sums were made for another method")),
        }
    }

    /// Of counts of levels that were made elsewhere: the levels of each column in byte order, the weight of each class, and
    /// class by class the counts of all levels of all columns.
    pub fn of_levels(
        options: &FitOptions,
        columns: Vec<(String, Vec<String>)>,
        classes: Vec<String>,
        labels_are_text: bool,
        (weights, counts, rows): (Vec<f64>, Vec<f64>, usize),
    ) -> Result<RunningFit> {
        let Method::NaiveBayes(method) = &options.method else {
            return Err(Error::usage("counts of levels are for naive Bayes"));
        };
        let column = |(name, levels): (String, Vec<String>)| match levels.is_sorted() && !levels.is_empty() {
            true => Ok(RecipeColumn { name, encoding: Encoding::Levels { levels, reference: None, shares: None } }),
            false => Err(Error::usage(format!("the levels of `{name}` are not in byte order, or there are none"))),
        };
        let columns = columns.into_iter().map(column).collect::<Result<Vec<RecipeColumn>>>()?;
        let recipe = Recipe { columns, ..Recipe::numbers(Vec::new()) };
        let layout = method.layout(&recipe.origins(), recipe.n_features())?;
        let sums = RunningSums::Columns(ClassColumns::of_totals(&layout.statistics(), weights, counts)?);
        Ok(RunningFit { sums, recipe, classes, labels_are_text, rows, zero_weight: 0, merged: Vec::new() })
    }

    /// Adds rows; every label is one of the classes, not all of which need to occur.
    pub fn add(&mut self, design: &dyn Design, labels: &Labels, weights: Option<&[f64]>, watch: &Watch) -> Result<()> {
        self.add_rows(design, labels, weights, watch).map_err(|e| with_array_names(e, &self.recipe))
    }

    /// The same; errors speak of rows and columns by number.
    pub(super) fn add_rows(
        &mut self,
        design: &dyn Design,
        labels: &Labels,
        weights: Option<&[f64]>,
        watch: &Watch,
    ) -> Result<()> {
        let shape = design.shape();
        if shape.cols != self.recipe.n_features() {
            return Err(Error::data(format!("{} columns after rows of {}", shape.cols, self.recipe.n_features())));
        }
        if labels.names() != self.classes || labels.len() != shape.rows {
            return Err(Error::data("the labels are not those of the classes, one for each row"));
        }
        match &mut self.sums {
            RunningSums::Columns(seen) => seen.update(design, labels, weights, watch)?,
            RunningSums::Moments(seen) => seen.update(design, labels, weights, watch)?,
        }
        self.rows += shape.rows;
        self.zero_weight += weights.map_or(0, |w| w.iter().filter(|s| **s == 0.0).count());
        Ok(())
    }

    /// The weight of the rows of each class so far.
    pub fn weights(&self) -> &[f64] {
        match &self.sums {
            RunningSums::Columns(seen) => seen.weights(),
            RunningSums::Moments(seen) => seen.weights(),
        }
    }

    /// Rows so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// `Σ s·x` of all columns, class by class, where single columns are summed; of Gaussian ones the mean.
    pub fn totals(&self) -> Option<Vec<f64>> {
        match &self.sums {
            RunningSums::Columns(seen) => {
                Some((0..self.classes.len()).flat_map(|k| seen.totals(k).iter().copied()).collect())
            }
            RunningSums::Moments(_) => None,
        }
    }

    /// The variance of each column over all rows, of Gaussian columns of naive Bayes; zero of others.
    pub fn overall_variances(&self) -> Option<Vec<f64>> {
        let RunningSums::Columns(seen) = &self.sums else { return None };
        let total: f64 = seen.weights().iter().sum();
        let mut found = vec![0.0; seen.n_cols()];
        for j in seen.runs().iter().filter(|r| r.sums == Sums::Moments).flat_map(|r| r.columns.clone()) {
            let classes = || seen.weights().iter().enumerate();
            let base = seen.mean(0, j);
            let shift: f64 = classes().map(|(k, n)| n / total * (seen.mean(k, j) - base)).sum();
            let squares = classes().map(|(k, n)| seen.squares(k, j) + n * (seen.mean(k, j) - base - shift).powi(2));
            found[j] = squares.sum::<f64>() / total;
        }
        Some(found)
    }

    /// The sums and the numbers of rows as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = [self.rows as u64, self.zero_weight as u64].map(u64::to_le_bytes).concat();
        let sums = match &self.sums {
            RunningSums::Columns(seen) => seen.to_bytes(),
            RunningSums::Moments(seen) => seen.to_bytes(),
        };
        [head, sums].concat()
    }

    /// The same fit at the point that [`RunningFit::to_bytes`] has written.
    pub fn at(mut self, bytes: &[u8]) -> Result<RunningFit> {
        let bad = || Error::data("these bytes are not sums over the rows of this fit");
        let (rows, rest) = bytes.split_first_chunk::<8>().ok_or_else(bad)?;
        let (zero, sums) = rest.split_first_chunk::<8>().ok_or_else(bad)?;
        self.rows = u64::from_le_bytes(*rows) as usize;
        self.zero_weight = u64::from_le_bytes(*zero) as usize;
        match &mut self.sums {
            RunningSums::Columns(seen) => seen.merge(&ClassColumns::from_bytes(sums)?).map_err(|_| bad())?,
            RunningSums::Moments(seen) => seen.merge(&ClassMoments::from_bytes(sums)?).map_err(|_| bad())?,
        }
        Ok(self)
    }

    /// The model of all rows so far.
    ///
    /// # Errors
    /// Where a class has no rows yet, or the method finds no model of the sums.
    pub fn model(&self, options: &FitOptions, watch: &Watch) -> Result<Model> {
        let plan = Plan::of(options, &self.classes)?;
        if plan.split.is_some() || options.class_weights.is_some() {
            return Err(Error::usage("a fit in parts is of all classes together, without class weights"));
        }
        let fitted = self.fitted(options, watch).map_err(|e| with_array_names(e, &self.recipe))?;
        let weights = self.weights().to_vec();
        // Sums prove less than rows do: whoever verifies the model has to know that it was made of them.
        let part = |rows: &usize| RowsRecord { removed: false, rows: *rows, fingerprint: String::new() };
        Ok(Model {
            method: options.method.clone(),
            target: options.target.clone(),
            target_is_text: self.labels_are_text,
            weights: None,
            class_weights: None,
            offsets: Vec::new(),
            classes: self.classes.clone(),
            reading: Reading::default(),
            recipe: self.recipe.clone(),
            units: fitted.units,
            discriminant: fitted.discriminant,
            density: fitted.density,
            support_vectors: None,
            parts: Vec::new(),
            calibration: None,
            true_priors: None,
            decision: plan.decision,
            conformal: None,
            objective: fitted.objective,
            certificate: fitted.certificate,
            outcome: fitted.outcome,
            notes: fitted.notes,
            computation: fitted.computation,
            training: TrainingSummary {
                rows: self.rows,
                used: self.rows - self.zero_weight,
                total_weight: weights.iter().sum(),
                missing_target: 0,
                zero_weight: self.zero_weight,
                held_back: 0,
                missing: Vec::new(),
                filled: None,
                class_weights: weights,
                accuracy: None,
                rejected: None,
                undetermined: None,
            },
            cross_validation: None,
            label_types: Vec::new(),
            tuning: None,
            statistics: None,
            provenance: Provenance {
                version: env!("CARGO_PKG_VERSION").into(),
                certificates: Provenance::CERTIFICATES,
                fingerprint: String::new(),
                seed: options.seed,
                started: false,
                updates: self.merged.iter().map(part).collect(),
                partitions: Vec::new(),
            },
        })
    }

    fn fitted(&self, options: &FitOptions, watch: &Watch) -> Result<Fitted> {
        let other = || Error::usage("these sums were made for another method");
        match (&options.method, &self.sums) {
            (Method::NaiveBayes(method), RunningSums::Columns(seen)) => {
                let layout: Layout = method.layout(&self.recipe.origins(), self.recipe.n_features())?;
                method.fit_statistics(&layout, seen, &self.classes)
            }
            (Method::Gaussian(method), RunningSums::Moments(seen)) => {
                let own = method.shape == CovarianceShape::Own;
                if own != (seen.kind() == Scatter::Own) {
                    return Err(other());
                }
                method.fit_statistics(seen.clone(), &self.classes)
            }
            (Method::LeastSquares(method), RunningSums::Moments(seen)) if seen.kind() == Scatter::Pooled => {
                method.fit_statistics(seen, watch)
            }
            _ => Err(other()),
        }
    }
}

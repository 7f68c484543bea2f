//! Arrays in memory to models, predictions and verdicts: what the Python package calls. Nothing is copied.

use super::assemble::KnownOfRows;
use super::conformal::DividedSource;
use super::fit::{TableFit, fit_source};
use super::geometry::{geometry_of, measure};
use super::options::FitOptions;
use super::path::{PathFit, path_of};
use super::plan::Plan;
use super::predict::Predictions;
use super::rows::RowRoles;
use super::separable::{SeparableOptions, TableSeparability, separable};
use super::source::Source;
use super::support::{SupportTable, supports, tables_of};
use super::verify::{Verification, refit_source, verify_source};
use crate::artifact::Model;
use crate::design::{Design, Recipe};
use crate::error::{Error, Result};
use crate::geometry::Measured;
use crate::model::Lambdas;
use crate::table::{Labels, Reading};
use crate::watch::Watch;

/// A matrix with the classes of its rows, held by the caller.
///
/// ```
/// use linsep::design::DenseMatrix;
/// use linsep::model::{GaussianBayes, Method};
/// use linsep::table::Labels;
/// use linsep::workflow::{Arrays, FitOptions, TableFit, fit_arrays, predict_design};
/// let x = DenseMatrix::new(&[0.0, 1.0, 2.0, 5.0, 6.0, 7.0][..], 1)?;
/// let arrays = Arrays {
///     design: &x,
///     names: vec!["length".to_owned()],
///     labels: Labels::from_names(["a", "a", "a", "b", "b", "b"]),
///     labels_are_text: true,
///     weights: None,
/// };
/// let options = FitOptions::new("kind", Method::Gaussian(GaussianBayes::lda()));
/// let TableFit::Model(model) = fit_arrays(arrays, &options, &Default::default())? else { panic!("LDA has a solution") };
/// assert_eq!(predict_design(&model, &x, &Default::default())?.classes[5].unwrap().index(), 1);
/// # Ok::<(), linsep::Error>(())
/// ```
pub struct Arrays<'a> {
    /// The features.
    pub design: &'a dyn Design,
    /// Names of the columns; none for columns that are known by their number.
    pub names: Vec<String>,
    /// The class of every row.
    pub labels: Labels,
    /// Whether the names of the classes are text; numbers otherwise.
    pub labels_are_text: bool,
    /// Frequencies of the rows.
    pub weights: Option<&'a [f64]>,
}

impl<'a> Arrays<'a> {
    pub(super) fn source(mut self) -> Result<Source<'a>> {
        let cols = self.design.shape().cols;
        let recipe = match self.names.len() {
            0 => Recipe::unnamed(cols),
            n if n == cols => Recipe::numbers(std::mem::take(&mut self.names)),
            n => return Err(Error::usage(format!("{n} names for {cols} columns"))),
        };
        self.of_recipe(recipe)
    }

    fn of_recipe(self, recipe: Recipe) -> Result<Source<'a>> {
        Source::of_arrays(self.design, recipe, self.labels, self.weights)
    }

    /// The same rows as what `model` was fitted on.
    fn source_of(self, model: &Model) -> Result<Source<'a>> {
        let cols = self.design.shape().cols;
        if cols != model.recipe.n_features() {
            return Err(Error::data(format!("{cols} columns for a model of {}", model.recipe.n_features())));
        }
        if self.labels.names() != model.classes {
            return Err(Error::data("the classes are not those of the model"));
        }
        self.of_recipe(model.recipe.clone())
    }
}

/// Fits a method. The accuracy on the rows is left unknown, which would take a further pass over them; so is their
/// fingerprint.
pub fn fit_arrays(arrays: Arrays<'_>, options: &FitOptions, watch: &Watch) -> Result<TableFit> {
    let plan = Plan::of(options, arrays.labels.names())?;
    if options.folds.is_some() || options.calibration.is_some() {
        return Err(Error::usage("folds are made of tables, not of arrays"));
    }
    let known = KnownOfRows {
        fingerprint: String::new(),
        target_is_text: arrays.labels_are_text,
        reading: Reading::default(),
        cross_validation: None,
        calibration: None,
        accuracy: false,
    };
    let rows = DividedSource::of(arrays.source()?, options.conformal.as_ref(), options.seed)?;
    let mut fit = fit_source(&rows.source, options, &plan, known, watch)?;
    if let TableFit::Model(model) = &mut fit {
        model.conformal = rows.sets(model, watch)?;
    }
    Ok(fit)
}

/// Solves the path of a risk minimiser.
pub fn path_arrays(arrays: Arrays<'_>, options: &FitOptions, lambdas: &Lambdas, watch: &Watch) -> Result<PathFit> {
    path_of(&arrays.source()?, options, lambdas, watch)
}

/// Whether planes can separate the classes; rows of weight zero do not count.
pub fn separable_arrays(arrays: Arrays<'_>, options: &SeparableOptions, watch: &Watch) -> Result<TableSeparability> {
    separable(&arrays.source()?, options, watch)
}

/// The rows of a model, of which some may have been held back.
fn divided<'a>(model: &Model, arrays: Arrays<'a>) -> Result<DividedSource<'a>> {
    let options = model.conformal.as_ref().map(|c| c.options);
    DividedSource::of(arrays.source_of(model)?, options.as_ref(), model.provenance.seed)
}

/// Compares everything that a model states with the rows it was fitted on.
pub fn verify_arrays(model: &Model, arrays: Arrays<'_>, watch: &Watch) -> Result<Verification> {
    verify_source(model, &divided(model, arrays)?, watch)
}

/// The same, and a second fit, which must come to the same bits.
pub fn refit_arrays(model: &Model, arrays: Arrays<'_>, watch: &Watch) -> Result<Verification> {
    refit_source(model, &divided(model, arrays)?, watch)
}

/// The support vectors of a model, with what the rows it was fitted on say of them.
pub fn support_arrays(model: &Model, arrays: Arrays<'_>, watch: &Watch) -> Result<Vec<SupportTable>> {
    let found = supports(model)?;
    let source = arrays.source_of(model)?;
    if source.counts.rows != model.training.rows {
        let (given, fitted) = (source.counts.rows, model.training.rows);
        return Err(Error::data(format!("{given} rows for a model that was fitted on {fitted}"))
            .help("support vectors are known by their row: give the training rows"));
    }
    let scores = model.discriminant.scores(source.design(), watch).map_err(|e| source.name(e))?;
    // By row of the arrays, also where rows without weight are left out.
    let mut roles = RowRoles {
        classes: vec![None; source.counts.rows],
        names: model.classes.clone(),
        weights: source.weights.as_ref().map(|_| vec![0.0; source.counts.rows]),
        offsets: None,
        held_back: 0,
    };
    for (at, row) in source.rows.iter().enumerate() {
        roles.classes[*row] = Some(source.labels.codes()[at]);
        if let (Some(all), Some(own)) = (&mut roles.weights, &source.weights) {
            all[*row] = own[at];
        }
    }
    tables_of(model, &found, &roles, &source.rows, &scores)
}

/// Predicts every row of a matrix whose columns are those of the model.
pub fn predict_design(model: &Model, design: &dyn Design, watch: &Watch) -> Result<Predictions> {
    let scores = scores(model, design, watch)?;
    let n_classes = model.classes.len();
    let deciding = model.deciding_scores(scores.clone());
    let classes = model.decision.classes(&deciding, n_classes)?;
    let rows = design.shape().rows;
    Ok(Predictions {
        table_rows: rows,
        rows: (0..rows).collect(),
        scores,
        deciding,
        classes,
        n_classes,
        filled: Vec::new(),
    })
}

/// Distance and radius of every row of a matrix whose columns are those of the model.
pub fn measure_design(model: &Model, design: &dyn Design, watch: &Watch) -> Result<Measured> {
    let geometry = geometry_of(model, watch)?;
    let scores = scores(model, design, watch)?;
    measure(model, &geometry, design, scores, None, false, watch)
}

fn scores(model: &Model, design: &dyn Design, watch: &Watch) -> Result<Vec<f64>> {
    if !model.offsets.is_empty() {
        return Err(Error::usage("this model adds offset columns to its scores, which a matrix does not have")
            .help("predict from a table"));
    }
    let found = model.discriminant.scores(design, watch);
    found.map_err(|e| super::places::with_array_names(e, &model.recipe))
}

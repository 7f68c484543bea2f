//! Table to inference about Gaussian classes and least squares.

use super::infer::{InferOptions, terms};
use super::options::{FitOptions, recipe_options};
use super::rows::read_roles;
use super::source::Source;
use crate::error::{Error, Result};
use crate::infer::{GaussianInference, SquaresInference, Subject, infer_gaussian, infer_least_squares};
use crate::model::{CovarianceShape, GaussianBayes, LeastSquaresSettings, Method};
use crate::table::Table;
use crate::watch::Watch;
use crate::words::{Setting, words};

/// What is inferred about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassicalModel {
    /// Gaussian classes with covariances of this shape.
    Gaussian(CovarianceShape),
    /// Least squares on class targets, without a penalty.
    LeastSquares,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub enum ClassicalAnswer {
    /// About Gaussian classes.
    Gaussian(GaussianInference),
    /// About least squares.
    LeastSquares(SquaresInference),
}

/// Inference by the names of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassicalInference {
    /// Name of the column of the classes.
    pub target: String,
    /// The column of weights, where there is one.
    pub weights: Option<String>,
    /// Text columns with the level that the others are compared with.
    pub references: Vec<(String, String)>,
    /// Rows of the table.
    pub rows: usize,
    /// Rows used.
    pub used: usize,
    /// The answer.
    pub answer: ClassicalAnswer,
}

/// Infers from a table, which is used up on the way; of the options those of the table, the level and, for least squares, the
/// covariance count.
///
/// ```
/// use linsep::model::CovarianceShape;
/// use linsep::read::{ReadOptions, read_bytes};
/// use linsep::workflow::{ClassicalAnswer, ClassicalModel, InferOptions, infer_classical};
/// let csv = b"a,b,y\n1,5,no\n2,4,no\n3,6,no\n2,6,no\n4,7,yes\n6,5,yes\n5,8,yes\n7,7,yes\n";
/// let table = read_bytes(csv, "rows.csv", &ReadOptions::default())?;
/// let model = ClassicalModel::Gaussian(CovarianceShape::Shared);
/// let found = infer_classical(table, &InferOptions::new("y"), model, &Default::default())?;
/// let ClassicalAnswer::Gaussian(found) = found.answer else { panic!("Gaussian classes were asked about") };
/// assert!(found.equal_means[0].ln_p < 0.05_f64.ln());
/// # Ok::<(), linsep::Error>(())
/// ```
///
/// # Errors
/// As [`infer_gaussian`] and [`infer_least_squares`], offsets, and text columns of Gaussian classes.
pub fn infer_classical(
    table: Table,
    options: &InferOptions,
    model: ClassicalModel,
    watch: &Watch,
) -> Result<ClassicalInference> {
    let method = match model {
        ClassicalModel::Gaussian(shape) => Method::Gaussian(GaussianBayes { shape, ..GaussianBayes::lda() }),
        ClassicalModel::LeastSquares => Method::LeastSquares(LeastSquaresSettings::default()),
    };
    if !options.offsets.is_empty() {
        return Err(Error::usage(words!["offsets have no meaning for ", Setting::Model.is(method.name())])
            .help("leave them out"));
    }
    let mut as_fit = FitOptions::new(&options.target, method);
    as_fit.positive.clone_from(&options.positive);
    as_fit.weights.clone_from(&options.weights);
    as_fit.recipe = options.recipe.clone();
    let roles = read_roles(&table, &as_fit)?;
    let source = Source::of_table(table, &roles, &recipe_options(&as_fit))?;
    let training = source.training(source.weights.as_deref());
    let features = source.recipe.features();
    let level = options.inference.level;
    let answer = match model {
        ClassicalModel::Gaussian(shape) => {
            if let Some(text) = source.recipe.origins().iter().find(|o| o.levels) {
                return Err(Error::data(format!(
                    "the text column `{}` is not Gaussian within a class, and all of this rests on that",
                    text.name
                ))
                .help(words!["leave it out: ", Setting::Drop.is(&text.name)])
                .help(words!["choose ", Setting::Model.is("logistic"), ", which takes any column"]));
            }
            infer_gaussian(&training, features, (shape, level), watch).map(ClassicalAnswer::Gaussian)
        }
        ClassicalModel::LeastSquares => {
            let terms = terms(&source.recipe);
            let subject = Subject { training, features, terms, clusters: None };
            infer_least_squares(&subject, (options.inference.covariance, level), watch)
                .map(ClassicalAnswer::LeastSquares)
        }
    };
    Ok(ClassicalInference {
        target: options.target.clone(),
        weights: options.weights.clone(),
        references: source.recipe.reference_levels(),
        rows: source.counts.rows,
        used: source.rows.len(),
        answer: answer.map_err(|e| source.name(e))?,
    })
}

//! What to fit, and on what.

use super::multiclass::Multiclass;
use crate::artifact::Model;
use crate::decide::{CalibrationKind, ConformalOptions, Decision};
use crate::design::{Missing, RecipeOptions};
use crate::error::{Error, Result};
use crate::model::{ClassWeights, Method};
use crate::options::options;
use crate::words::{Setting, words};

options! {
/// What to fit, on which columns.
#[derive(Debug, Clone)]
pub struct FitOptions {
    /// Name of the column to predict.
    pub target: String,
    /// The class to put last: of two, the one whose log-odds are reported.
    pub positive: Option<String>,
    /// The class to put first: the one whose scores are zero where softmax has a reference class.
    pub reference: Option<String>,
    /// Name of a column of frequencies.
    pub weights: Option<String>,
    /// Weights of whole classes, multiplied into those of their rows.
    pub class_weights: Option<ClassWeights>,
    /// Names of offset columns.
    pub offsets: Vec<String>,
    /// Columns, coding, missing values. The method chooses the coding.
    pub recipe: RecipeOptions,
    /// The method.
    pub method: Method,
    /// How scores become a class; in the order of the classes.
    pub decision: Decision,
    /// How more than two classes are fitted and decided.
    pub multiclass: Multiclass,
    /// Make log-odds of the scores by a map that is cross-fitted.
    pub calibration: Option<CalibrationOptions>,
    /// Hold rows back from the fit, and learn sets of classes from them.
    pub conformal: Option<ConformalOptions>,
    /// The shares of the classes where the model will be used, in the order of the classes, if they are not those it
    /// learns from.
    pub true_priors: Option<Vec<f64>>,
    /// A model at whose coefficients a risk minimiser starts.
    pub init: Option<Box<Model>>,
    /// Start at weights drawn uniformly between minus this number and it, by the seed; at zero for 0. Not beside `init`.
    pub random_start: Option<f64>,
    /// Cross-validate with this many folds.
    pub folds: Option<usize>,
    /// Seed of everything random.
    pub seed: u64,
    /// Keep the sums over the rows in the model, so that rows can be added and taken away.
    pub keep_statistics: bool,
}
}

impl FitOptions {
    /// All other columns, nothing weighted, the largest score decides, no folds.
    pub fn new(target: impl Into<String>, method: Method) -> FitOptions {
        FitOptions {
            target: target.into(),
            positive: None,
            reference: None,
            weights: None,
            class_weights: None,
            offsets: Vec::new(),
            recipe: RecipeOptions::default(),
            method,
            decision: Decision::default(),
            multiclass: Multiclass::default(),
            calibration: None,
            conformal: None,
            true_priors: None,
            init: None,
            random_start: None,
            folds: None,
            seed: 0,
            keep_statistics: false,
        }
    }

    /// The same options with a method and a formula, if there is one, that agree: where either leaves the intercept out, so does
    /// the other. An error for methods that cannot, and for naive Bayes, whose columns are neither terms nor indicators.
    pub fn settled(mut self) -> Result<FitOptions> {
        if self.recipe.missing == Missing::Indicator && matches!(self.method, Method::NaiveBayes(_)) {
            return Err(Error::usage(words![
                "naive Bayes gives every column a distribution, and ",
                Setting::Missing.is("indicator"),
                " adds columns that have none"
            ])
            .help(words!["choose ", Setting::Missing.any(["drop", "mean"])]));
        }
        let Some(formula) = self.recipe.formula.take() else { return Ok(self) };
        if matches!(self.method, Method::NaiveBayes(_)) {
            return Err(Error::usage("naive Bayes takes each column by itself, not the terms of a formula")
                .help(words!["name the columns with ", Setting::Features])
                .help(words!["choose ", Setting::Model.is("logistic")]));
        }
        if !formula.has_intercept() {
            self.method = self.method.without_intercept()?;
        }
        self.recipe.formula = Some(if self.method.has_intercept() { formula } else { formula.without_intercept() });
        Ok(self)
    }
}

options! {
/// Which map, and from how many folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalibrationOptions {
    /// The map.
    pub kind: CalibrationKind,
    /// The folds.
    pub folds: usize,
}
}

impl CalibrationOptions {
    /// Folds where none are asked for: scikit-learn's default.
    pub const FOLDS: usize = 5;

    /// A map from five folds.
    pub fn new(kind: CalibrationKind) -> CalibrationOptions {
        CalibrationOptions { kind, folds: CalibrationOptions::FOLDS }
    }
}

/// The user's choices with the roles taken out of the features and the coding that the method wants.
pub(super) fn recipe_options(options: &FitOptions) -> RecipeOptions {
    let mut recipe = options.recipe.clone();
    let roles = std::iter::once(&options.target).chain(&options.weights).chain(&options.offsets);
    recipe.exclude.extend(roles.cloned());
    recipe.coding = options.method.coding();
    recipe
}

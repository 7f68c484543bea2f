//! A fitted classifier that speaks of classes as its caller does.

use super::label::encode;
use super::{Classifier, Features, Label, Matrix};
use crate::artifact::Model;
use crate::certify::Certificate;
use crate::decide::probabilities;
use crate::design::Design;
use crate::discriminant::Linear;
use crate::error::{Error, Result};
use crate::model::{Note, Outcome};
use crate::report::fit_summary;
use crate::table::{Class, Labels, Table};
use crate::watch::Watch;
use crate::words::{Plain, Setting, Span, words};
use crate::workflow::{Arrays, Predictions, Verification, predict_design, predict_table, verify_arrays};
use std::path::Path;

/// What every fit returns: the model with its certificate, and the classes as the caller named them.
///
/// ```
/// use linsep::prelude::*;
/// let x = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.5], [0.5, 2.0]];
/// let y = [-1, -1, 1, 1, -1];
/// let model = LogisticRegression::new().ridge(0.1).fit(&x, &y)?;
/// assert_eq!(model.predict(&[[3.0, 3.0]])?, [1]);
/// assert!(model.is_converged() && model.certificate().relative_gap().unwrap() <= 1e-8);
/// assert!(model.verify(&x, &y)?.passed());
/// # Ok::<(), FitError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Trained<C> {
    model: Box<Model>,
    classes: Vec<C>,
}

impl Trained<String> {
    /// A model with the names of its classes.
    pub fn of(model: Model) -> Trained<String> {
        let classes = model.classes.clone();
        Trained { model: Box::new(model), classes }
    }

    /// Reads a model file, also one of the command or of Python.
    ///
    /// # Errors
    /// Where it cannot be read, or is not a whole model.
    pub fn load(path: impl AsRef<Path>) -> Result<Trained<String>> {
        Ok(Trained::of(Model::load(path.as_ref())?))
    }
}

impl<C> Trained<C> {
    /// The same model with other things for its classes, in their order.
    ///
    /// # Errors
    /// Where there is not one for every class.
    pub fn with_classes<D>(self, classes: Vec<D>) -> Result<Trained<D>> {
        if classes.len() != self.model.classes.len() {
            return Err(Error::usage(format!("{} names for {} classes", classes.len(), self.model.classes.len())));
        }
        Ok(Trained { model: self.model, classes })
    }

    /// Everything that is known of the fit, as the model file has it.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The model, given away.
    pub fn into_model(self) -> Model {
        *self.model
    }

    /// How the fit ended.
    pub fn outcome(&self) -> Outcome {
        self.model.outcome
    }

    /// Whether the tolerance was reached. If it was not, the certificate says what is proved nevertheless.
    pub fn is_converged(&self) -> bool {
        self.model.outcome == Outcome::Converged
    }

    /// The value of what was minimised or solved.
    pub fn objective(&self) -> f64 {
        self.model.objective.value
    }

    /// What a user should know of the fit.
    pub fn notes(&self) -> &[Note] {
        &self.model.notes
    }

    /// Weights and intercepts in the units of the columns, where the scores are linear in these.
    pub fn linear(&self) -> Option<&Linear> {
        self.model.discriminant.as_linear()
    }

    /// The fit in words, as the command prints it.
    pub fn summary(&self) -> String {
        fit_summary(&self.model, &Plain)
    }

    /// Writes the model file, which the command and Python read; it appears complete or not at all.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.model.save(path.as_ref())
    }

    /// Compares everything that the model states with the rows it was fitted on.
    ///
    /// # Errors
    /// Where these cannot be the rows: other columns, labels that are no classes of the model, weights that are missing.
    pub fn verify<X: Features + ?Sized, L: Label>(&self, x: &X, y: &[L]) -> Result<Verification> {
        self.verify_rows(x, y, None)
    }

    /// The same of rows with frequencies.
    ///
    /// # Errors
    /// As [`verify`](Trained::verify).
    pub fn verify_weighted<X: Features + ?Sized, L: Label>(
        &self,
        x: &X,
        y: &[L],
        weights: &[f64],
    ) -> Result<Verification> {
        self.verify_rows(x, y, Some(weights))
    }

    fn verify_rows<X: Features + ?Sized, L: Label>(
        &self,
        x: &X,
        y: &[L],
        weights: Option<&[f64]>,
    ) -> Result<Verification> {
        let lent = x.lend()?;
        self.check_columns(lent.as_design())?;
        let labels = self.in_own_order(&encode(y)?.0)?;
        let arrays =
            Arrays { design: lent.as_design(), names: Vec::new(), labels, labels_are_text: L::IS_TEXT, weights };
        verify_arrays(&self.model, arrays, &Watch::default())
    }

    /// Labels by the codes that the classes have in this model.
    fn in_own_order(&self, labels: &Labels) -> Result<Labels> {
        let own = &self.model.classes;
        let place = |name: &String| {
            own.iter().position(|class| class == name).ok_or_else(|| {
                Error::data(format!("the label `{name}` is no class of the model"))
                    .help(format!("its classes are: {}", own.join(", ")))
            })
        };
        let places: Vec<usize> = labels.names().iter().map(place).collect::<Result<_>>()?;
        let codes = labels.codes().iter().map(|code| Class(places[code.index()] as u32)).collect();
        Ok(Labels::new(codes, own.clone()))
    }

    /// A matrix has the columns of the model, and only numbers.
    fn check_columns(&self, design: &dyn Design) -> Result<()> {
        let recipe = &self.model.recipe;
        let inputs = recipe.table_columns().count() + recipe.sparse_width;
        let plain = recipe.n_features() == inputs && recipe.is_linear() && recipe.origins().iter().all(|o| !o.levels);
        if !plain {
            return Err(Error::usage("this model makes its features of the columns of a table").help("give it a table"));
        }
        let columns = design.shape().cols;
        if columns != inputs {
            return Err(Error::data(format!("{columns} columns for a model of {inputs}")));
        }
        Ok(())
    }

    fn predictions<X: Features + ?Sized>(&self, x: &X) -> Result<Predictions> {
        let lent = x.lend()?;
        self.check_columns(lent.as_design())?;
        let found = predict_design(&self.model, lent.as_design(), &Watch::default())?;
        let width = self.model.discriminant.n_scores().max(1);
        match found.scores.chunks_exact(width).position(|row| row.iter().any(|z| !z.is_finite())) {
            None => Ok(found),
            Some(row) => Err(Error::data(words![
                Span::Row(row),
                " has no finite scores: one of its features is NaN, infinite or too large"
            ])
            .help("fill missing values in")
            .help("leave the row out")),
        }
    }
}

impl<C: Clone> Trained<C> {
    /// The classes that cannot be left out for every row: the set holds the class of a new row with the probability that was
    /// asked for, or with that of `level`, if the row is exchangeable with those held back from the fit.
    ///
    /// ```
    /// use linsep::decide::ConformalOptions;
    /// use linsep::prelude::*;
    /// let x: Vec<[f64; 1]> = (0..60).map(|i| [f64::from(i % 30) + if i % 2 == 0 { 0.0 } else { 9.5 }]).collect();
    /// let y: Vec<bool> = (0..60).map(|i| i % 2 == 1).collect();
    /// let model = LogisticRegression::new().ridge(0.1).conformal(ConformalOptions::new(0.8)).fit(&x, &y)?;
    /// let sets = model.predict_sets(&[[60.0], [19.0]], None)?;
    /// assert_eq!(sets, [vec![true], vec![false, true]]);
    /// assert!(model.verify(&x, &y)?.passed());
    /// # Ok::<(), FitError>(())
    /// ```
    ///
    /// # Errors
    /// Of a model without sets, and for a level that is not between 0 and 1.
    pub fn predict_sets<X: Features + ?Sized>(&self, x: &X, level: Option<f64>) -> Result<Vec<Vec<C>>> {
        let found = self.predictions(x)?;
        let within = self.model.class_sets(&found.deciding, level)?;
        let of_row = |row: &[bool]| {
            let classes = row.iter().zip(&self.classes).filter(|(within, _)| **within);
            classes.map(|(_, class)| class.clone()).collect()
        };
        Ok(within.chunks_exact(self.classes.len()).map(of_row).collect())
    }

    /// The class of every row of a table; `None` where a cell is missing, or nothing is decided.
    ///
    /// # Errors
    /// Where the table lacks a column of the model.
    pub fn predict_table(&self, table: &Table) -> Result<Vec<Option<C>>> {
        let found = predict_table(&self.model, table, None, &Watch::default())?;
        let mut classes = vec![None; found.table_rows];
        for (row, class) in found.rows.iter().zip(&found.classes) {
            classes[*row] = class.map(|class| self.classes[class.index()].clone());
        }
        Ok(classes)
    }
}

impl<C: Clone> Classifier for Trained<C> {
    type Class = C;

    fn classes(&self) -> &[C] {
        &self.classes
    }

    fn certificate(&self) -> &Certificate {
        &self.model.certificate
    }

    fn scores<X: Features + ?Sized>(&self, x: &X) -> Result<Matrix<'static, f64>> {
        Ok(Matrix::of_rows(self.predictions(x)?.scores, self.model.discriminant.n_scores()))
    }

    fn decide<X: Features + ?Sized>(&self, x: &X) -> Result<Vec<Option<C>>> {
        let found = self.predictions(x)?.classes.into_iter();
        Ok(found.map(|class| class.map(|class| self.classes[class.index()].clone())).collect())
    }

    fn predict_proba<X: Features + ?Sized>(&self, x: &X) -> Result<Matrix<'static, f64>> {
        if !self.model.has_probabilities() {
            let method = Setting::Model.is(self.model.method.name());
            return Err(Error::usage(words!["the scores of ", method, " have no probabilities"])
                .help("use a method that has them, such as logistic regression")
                .help("fit a table, whose scores can be calibrated"));
        }
        let found = self.predictions(x)?;
        Ok(Matrix::of_rows(probabilities(&found.deciding, found.n_classes), found.n_classes))
    }
}

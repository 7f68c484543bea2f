//! What an estimator says beside its method: how columns become features, and how scores become a class.

use crate::errors::{LinsepError, raise};
use crate::fit::word;
use linsep::decide::{CalibrationKind, Decision, Rule, Tie, check_priors};
use linsep::design::{Basis, DEFAULT_KNOTS, QuantileOutput, RecipeOptions, Transform, UnknownLevel};
use linsep::model::Method;
use linsep::workflow::{CalibrationOptions, FitOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Policies by their keywords; those that are not there are as the library has them.
pub(crate) struct Policies<'a, 'py>(pub(crate) &'a Bound<'py, PyDict>);

impl Policies<'_, '_> {
    fn said<T>(&self, name: &str) -> PyResult<Option<T>>
    where
        T: for<'b, 'q> FromPyObject<'b, 'q, Error: Into<PyErr>>,
    {
        match self.0.get_item(name)? {
            Some(value) if !value.is_none() => {
                let wrong = |e: PyErr| LinsepError::new_err(format!("{name} cannot be {value}: {e}"));
                value.extract::<T>().map(Some).map_err(|e| wrong(e.into()))
            }
            _ => Ok(None),
        }
    }

    fn named<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> PyResult<Option<T>> {
        word(name, self.said::<String>(name)?.as_deref(), words)
    }

    /// Puts them into the options of a fit to these classes.
    pub(crate) fn settle(&self, options: &mut FitOptions, classes: &[String]) -> PyResult<()> {
        self.columns(&mut options.recipe)?;
        if let Some(names) = self.said("offset")? {
            options.offsets = names;
        }
        if let Some(factors) = self.said::<Vec<(String, f64)>>("penalty_factors")? {
            let Method::Risk(risk) = &mut options.method else {
                return Err(LinsepError::new_err(
                    "penalty_factors are for estimators that minimise a loss and a penalty",
                ));
            };
            risk.named_factors = factors;
        }
        options.decision = self.decision()?;
        if let Some(shares) = self.said::<Vec<f64>>("true_priors")? {
            check_priors(&shares, classes).map_err(|e| raise(self.0.py(), &e))?;
            options.true_priors = Some(shares);
        }
        let maps = [
            ("platt", CalibrationKind::Platt),
            ("isotonic", CalibrationKind::Isotonic),
            ("temperature", CalibrationKind::Temperature),
        ];
        if let Some(kind) = self.named("calibration", &maps)? {
            let folds = self.said("calibration_folds")?.unwrap_or(CalibrationOptions::FOLDS);
            options.calibration = Some(CalibrationOptions { kind, folds });
        }
        Ok(())
    }

    fn columns(&self, recipe: &mut RecipeOptions) -> PyResult<()> {
        let fates = [("error", UnknownLevel::Error), ("missing", UnknownLevel::Missing), ("zero", UnknownLevel::Zero)];
        recipe.unknown = self.named("unknown", &fates)?.unwrap_or_default();
        recipe.max_levels = self.said("max_levels")?.unwrap_or(recipe.max_levels);
        recipe.references = self.said("reference")?.unwrap_or_default();
        recipe.basis = match self.said::<String>("basis")?.as_deref() {
            None => Basis::None,
            Some("products") => Basis::Products,
            Some("quadratic") => Basis::Quadratic,
            Some(text) => match text.strip_prefix("poly:").and_then(|degree| degree.parse().ok()) {
                Some(degree) => Basis::polynomial(degree).map_err(|e| raise(self.0.py(), &e))?,
                None => {
                    let known = "it may be \"products\", \"quadratic\" or \"poly:D\" with the most factors D";
                    return Err(LinsepError::new_err(format!("basis is {text:?}; {known}")));
                }
            },
        };
        recipe.basis_columns = self.said("basis_columns")?;
        let outputs = [("quantile", QuantileOutput::Uniform), ("quantile-normal", QuantileOutput::Normal)];
        let knots = self.said("quantiles")?.unwrap_or(DEFAULT_KNOTS);
        let output = self.named("transformation", &outputs)?;
        recipe.transform = output.map_or(Transform::None, |output| Transform::Quantile { output, knots });
        recipe.transform_columns = self.said("transformation_columns")?;
        Ok(())
    }

    fn decision(&self) -> PyResult<Decision> {
        let rules = [
            self.said("threshold")?.map(Rule::Threshold),
            self.said("score_threshold")?.map(Rule::Score),
            self.said("costs")?.map(Rule::Cost),
        ];
        let mut rules = rules.into_iter().flatten();
        let rule = rules.next().unwrap_or_default();
        if rules.next().is_some() {
            return Err(LinsepError::new_err(
                "threshold, score_threshold and costs exclude each other: give one of them",
            ));
        }
        let sides = [("first", Tie::First), ("last", Tie::Last), ("reject", Tie::Reject)];
        Ok(Decision { rule, reject: self.said("reject")?, tie: self.named("tie", &sides)?.unwrap_or_default() })
    }
}

//! What inference is about: rows with named columns, and the coefficients that they determine.

use super::bands::EstimatedCoefficients;
use super::covariance::EstimateCovariance;
use super::likelihood::LogLikelihood;
use super::maximum::Maximum;
use super::restricted::Restriction;
use crate::design::{Standardize, Training, Units};
use crate::error::{Error, Result};
use crate::model::{Fitted, Note, PenaltyChoice, RiskMinimizer};
use crate::objective::{Intercept, SoftmaxForm};
use std::ops::Range;

/// A column of the table, a text column with all its levels, or a product of columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelTerm {
    /// Its name.
    pub name: String,
    /// Its columns in the matrix.
    pub columns: Range<usize>,
    /// Whether they are the indicators of levels.
    pub levels: bool,
    /// The terms (by their place) that contain it: `age*bmi` and `age^2` contain `age`.
    pub containing: Vec<usize>,
}

/// Rows to infer from.
#[derive(Clone)]
pub struct Subject<'a> {
    /// The rows.
    pub training: Training<'a>,
    /// Names of the matrix columns.
    pub features: Vec<String>,
    /// The terms; every column belongs to one.
    pub terms: Vec<ModelTerm>,
    /// The cluster of every row, numbered from 0.
    pub clusters: Option<Vec<usize>>,
}

impl<'a> Subject<'a> {
    /// Rows whose columns are terms of their own.
    pub fn of_columns(training: Training<'a>, features: Vec<String>) -> Subject<'a> {
        let term = |(j, name): (usize, &String)| ModelTerm {
            name: name.clone(),
            columns: j..j + 1,
            levels: false,
            containing: Vec::new(),
        };
        let terms = features.iter().enumerate().map(term).collect();
        Subject { training, features, terms, clusters: None }
    }

    pub(super) fn has_products(&self) -> bool {
        self.terms.iter().any(|t| !t.containing.is_empty())
    }
}

/// The method whose estimates these are.
pub(super) fn maximum_likelihood(intercept: bool) -> RiskMinimizer {
    RiskMinimizer {
        penalty: PenaltyChoice::None,
        form: SoftmaxForm::Reference,
        intercept: if intercept { Intercept::Free } else { Intercept::None },
        // Centring would add an intercept in effect.
        standardize: if intercept { Standardize::Yes } else { Standardize::No },
        ..RiskMinimizer::default()
    }
}

/// The coefficients that the rows determine, and how those in the units of the columns follow from those in the units of
/// the likelihood.
pub(super) struct Frame {
    units: Units,
    columns: Vec<usize>,
    left_out: Vec<usize>,
    /// The place of every column among those that take part.
    places: Vec<Option<usize>>,
    intercept: bool,
    scores: usize,
}

impl Frame {
    /// The columns that a fit could use.
    pub fn of(subject: &Subject<'_>, fitted: &Fitted, intercept: bool) -> Result<Frame> {
        let cols = subject.training.design.shape().cols;
        let mut out = vec![false; cols];
        for note in &fitted.notes {
            match note {
                Note::Constant { columns } if intercept => columns.iter().for_each(|j| out[*j] = true),
                Note::Collinear { column, .. }
                | Note::LeftOut { column, .. }
                | Note::Shared { column, .. }
                | Note::NearlyCollinear { column, .. } => out[*column] = true,
                _ => {}
            }
        }
        let (left_out, columns): (Vec<usize>, Vec<usize>) = (0..cols).partition(|j| out[*j]);
        let mut places = vec![None; cols];
        columns.iter().enumerate().for_each(|(at, j)| places[*j] = Some(at));
        let scores = subject.training.labels.n_classes() - 1;
        if columns.is_empty() && !intercept {
            return Err(Error::data("there is no column to estimate a coefficient of"));
        }
        Ok(Frame { units: fitted.units.clone(), columns, left_out, places, intercept, scores })
    }

    /// The likelihood of the rows in these coefficients.
    pub fn likelihood<'a>(&self, subject: &Subject<'a>) -> LogLikelihood<'a> {
        LogLikelihood::new(subject.training, self.units.clone(), self.columns.clone(), self.intercept)
    }

    /// The estimates with their covariance.
    pub fn estimates(&self, maximum: &Maximum, covariance: EstimateCovariance) -> EstimatedCoefficients {
        EstimatedCoefficients {
            units: self.units.clone(),
            columns: self.columns.clone(),
            intercept: self.intercept,
            scores: self.scores,
            point: maximum.point.clone(),
            covariance,
        }
    }

    /// Free scores.
    pub fn scores(&self) -> usize {
        self.scores
    }

    /// Columns without a coefficient.
    pub fn left_out(&self) -> &[usize] {
        &self.left_out
    }

    /// Whether a column has coefficients.
    pub fn has(&self, column: usize) -> bool {
        self.places[column].is_some()
    }

    /// The place of a column among those that have coefficients.
    pub fn place(&self, column: usize) -> Option<usize> {
        self.places[column]
    }

    fn width(&self) -> usize {
        self.columns.len() + usize::from(self.intercept)
    }

    /// The estimates of a fit in the units of the likelihood.
    pub fn start(&self, fitted: &Fitted) -> Result<Vec<f64>> {
        let Some(linear) = fitted.discriminant.as_linear() else {
            return Err(Error::model("a logistic model is linear"));
        };
        // Of two classes there is one score; of several the first is the reference.
        let shift = linear.n_scores() - self.scores;
        let weight = |k: usize, j: usize| {
            linear.weights_of(k + shift)[j] - if shift == 1 { linear.weights_of(0)[j] } else { 0.0 }
        };
        let mut point = Vec::with_capacity(self.scores * self.width());
        for k in 0..self.scores {
            if self.intercept {
                let at_centre = linear.intercept_at_centre();
                let base = at_centre[k + shift] - if shift == 1 { at_centre[0] } else { 0.0 };
                let moved = (0..linear.n_cols()).map(|j| weight(k, j) * (self.units.centre()[j] - linear.centre()[j]));
                point.push(base + crate::numeric::sum(moved));
            }
            point.extend(self.columns.iter().map(|j| weight(k, *j) * self.units.scale()[*j]));
        }
        Ok(point)
    }

    /// Class and column of every line of the table; `None` is the intercept.
    pub fn lines(&self) -> Vec<(usize, Option<usize>)> {
        let of_class = |class: usize| {
            let intercept = self.intercept.then_some((class, None));
            intercept.into_iter().chain(self.columns.iter().map(move |j| (class, Some(*j))))
        };
        (1..=self.scores).flat_map(of_class).collect()
    }

    /// Class and column of every coefficient that is not an intercept.
    pub fn all_features(&self) -> Vec<(usize, usize)> {
        self.lines().into_iter().filter_map(|(class, j)| j.map(|j| (class, j))).collect()
    }

    /// Each line as a function of the coefficients of the likelihood.
    pub fn functionals(&self) -> Vec<Vec<f64>> {
        self.lines().into_iter().map(|(class, column)| self.functional(class, column)).collect()
    }

    /// A coefficient in the units of the columns as a function of those of the likelihood: `w = ŵ/scale`, and the
    /// intercept is that of all columns at zero.
    pub fn functional(&self, class: usize, column: Option<usize>) -> Vec<f64> {
        let (width, first) = (self.width(), usize::from(self.intercept));
        let mut row = vec![0.0; self.scores * width];
        let own = &mut row[(class - 1) * width..class * width];
        match column.map(|j| (j, self.places[j])) {
            None => {
                own[0] = 1.0;
                for (at, j) in self.columns.iter().enumerate() {
                    own[first + at] = -self.units.centre()[*j] / self.units.scale()[*j];
                }
            }
            Some((j, Some(at))) => own[first + at] = 1.0 / self.units.scale()[j],
            Some((_, None)) => {}
        }
        row
    }

    /// That some coefficients are zero.
    pub fn zero(&self, coefficients: &[(usize, usize)]) -> Restriction {
        let (width, first) = (self.width(), usize::from(self.intercept));
        let row = |(class, j): &(usize, usize)| {
            let mut row = vec![0.0; self.scores * width];
            if let Some(at) = self.places[*j] {
                row[(class - 1) * width + first + at] = 1.0;
            }
            row
        };
        Restriction { rows: coefficients.iter().map(row).collect(), values: vec![0.0; coefficients.len()] }
    }
}

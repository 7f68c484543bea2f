//! Validity of densities: sizes, priors, ranges of parameters, covariances.

use super::draw::LARGEST_COUNT;
use super::{Covariance, Densities, Density, Family, Gaussian, Marginal};
use crate::error::{Error, Result};
use crate::linalg::{Factor, Square, factor};
use crate::words::{Span, words};

/// Pivots of the correlation matrix below this make a column a combination of others, as in `model::gaussian::problem`.
const SINGULAR: f64 = 1e-12;
/// How far below zero rounding may carry such a pivot: given matrices are printed with eight digits or more.
const INDEFINITE: f64 = 1e-8;

impl Densities {
    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.priors.len()
    }

    /// Number of columns of a row.
    pub fn n_features(&self) -> usize {
        match &self.density {
            Density::Gaussian(gaussian) => gaussian.means.first().map_or(0, Vec::len),
            Density::Independent { marginals } => {
                marginals.iter().flat_map(|m| &m.columns).max().map_or(0, |last| last + 1)
            }
        }
    }

    /// Refuses what is no density, naming the class and the entry: sizes that differ, priors that are not positive or do
    /// not sum to one, parameters out of range, covariances that are not symmetric and positive definite.
    ///
    /// ```
    /// use linsep::density::{Covariance, Densities, Density, Gaussian};
    /// let gaussian = Gaussian { means: vec![vec![0.0], vec![1.0]], covariance: Covariance::Spherical(1.0) };
    /// let mut classes = Densities { priors: vec![0.5, 0.5], density: Density::Gaussian(gaussian) };
    /// assert!(classes.check(&["a".into(), "b".into()]).is_ok());
    /// classes.priors[1] = 0.6;
    /// assert!(classes.check(&["a".into(), "b".into()]).is_err());
    /// ```
    pub fn check(&self, classes: &[String]) -> Result<()> {
        self.check_parts(classes)?;
        let Density::Gaussian(gaussian) = &self.density else { return Ok(()) };
        for (k, factor) in gaussian.factors(classes)?.iter().enumerate() {
            if let Some(alias) = factor.aliased().first() {
                let whose = gaussian.whose(classes, k);
                return Err(Error::data(words![
                    format!("the covariance{whose} is singular: "),
                    Span::Column(alias.column),
                    " has no variance of its own",
                ])
                .help("a covariance must be positive definite; leave the column out"));
            }
        }
        Ok(())
    }

    /// All of [`Densities::check`] but the covariances as wholes.
    pub(super) fn check_parts(&self, classes: &[String]) -> Result<()> {
        if classes.len() != self.priors.len() {
            return Err(Error::data(format!("{} priors for {} classes", self.priors.len(), classes.len()))
                .help(format!("one for each of: {}", classes.join(", "))));
        }
        if classes.len() < 2 {
            return Err(Error::data("there must be at least two classes"));
        }
        let sum: f64 = self.priors.iter().sum();
        if !self.priors.iter().all(|p| *p > 0.0) || !((sum - 1.0).abs() <= PRINTED) {
            return Err(Error::data(format!("the priors must be positive and sum to one; they sum to {sum}"))
                .help("for example 0.2 and 0.8"));
        }
        match &self.density {
            Density::Gaussian(gaussian) => gaussian.check_parts(classes),
            Density::Independent { marginals } => check_marginals(marginals, classes),
        }
    }
}

/// Names for classes that have none: their numbers from 1.
pub(super) fn numbered(classes: usize) -> Vec<String> {
    (1..=classes).map(|k| k.to_string()).collect()
}

impl Gaussian {
    /// The covariance that a matrix is, in words.
    fn whose(&self, classes: &[String], k: usize) -> String {
        if matches!(self.covariance, Covariance::Own(_)) {
            format!(" of class `{}`", classes[k])
        } else {
            String::new()
        }
    }

    /// One factor, or one for each class; columns that depend on others are left out of it. A matrix with a negative
    /// direction is refused. None for spherical classes.
    pub(crate) fn factors(&self, classes: &[String]) -> Result<Vec<Factor>> {
        let matrices: &[Vec<Vec<f64>>] = match &self.covariance {
            Covariance::Spherical(_) => &[],
            Covariance::Shared(matrix) => std::slice::from_ref(matrix),
            Covariance::Own(matrices) => matrices,
        };
        let one = |(k, matrix): (usize, &Vec<Vec<f64>>)| {
            let square = Square::from_lower(matrix.len(), |i, j| matrix[i][j]);
            let factor = factor(&square, SINGULAR);
            match factor.aliased().iter().find(|alias| is_negative(&square, alias.column, &alias.combination)) {
                None => Ok(factor),
                Some(alias) => {
                    let what = format!("the covariance{} is not positive definite at ", self.whose(classes, k));
                    Err(Error::data(words![what, Span::Column(alias.column)])
                        .help("no rows have such variances and covariances; check the numbers of that column"))
                }
            }
        };
        matrices.iter().enumerate().map(one).collect()
    }

    fn check_parts(&self, classes: &[String]) -> Result<()> {
        let cols = self.means.first().map_or(0, Vec::len);
        if self.means.len() != classes.len() {
            return Err(Error::data(format!("{} means for {} classes", self.means.len(), classes.len()))
                .help(format!("one for each of: {}", classes.join(", "))));
        }
        if cols == 0 {
            return Err(Error::data("the means have no columns"));
        }
        for (mean, class) in self.means.iter().zip(classes) {
            if mean.len() != cols {
                let message =
                    format!("the mean of class `{class}` has {} numbers, that of `{}` {cols}", mean.len(), classes[0]);
                return Err(Error::data(message).help("every mean has one number for each column"));
            }
            if let Some(j) = mean.iter().position(|m| !m.is_finite()) {
                return Err(Error::data(words![
                    format!("the mean of class `{class}` is not a number in "),
                    Span::Column(j)
                ]));
            }
        }
        match &self.covariance {
            Covariance::Spherical(variance) if *variance > 0.0 && variance.is_finite() => Ok(()),
            Covariance::Spherical(variance) => {
                Err(Error::data(format!("the variance is {variance}")).help("it must be positive"))
            }
            Covariance::Shared(matrix) => check_matrix(matrix, cols, ""),
            Covariance::Own(matrices) if matrices.len() != classes.len() => {
                Err(Error::data(format!("{} covariances for {} classes", matrices.len(), classes.len()))
                    .help(format!("one for each of: {}", classes.join(", "))))
            }
            Covariance::Own(matrices) => {
                matrices.iter().enumerate().try_for_each(|(k, m)| check_matrix(m, cols, &self.whose(classes, k)))
            }
        }
    }
}

/// Whether a column left out has less variance than its combination of others, beyond rounding.
fn is_negative(a: &Square, column: usize, combination: &[(usize, f64)]) -> bool {
    let own = a.get(column, column);
    let explained: f64 = combination.iter().map(|(j, c)| c * a.get(column, *j)).sum();
    let others = || (0..a.n()).filter(|j| *j != column);
    match combination.is_empty() {
        true => own < 0.0 || others().any(|j| a.get(column, j) != 0.0),
        false => own - explained < -INDEFINITE * own,
    }
}

fn check_matrix(matrix: &[Vec<f64>], cols: usize, whose: &str) -> Result<()> {
    if matrix.len() != cols || matrix.iter().any(|row| row.len() != cols) {
        let width = matrix.iter().map(Vec::len).find(|w| *w != cols).unwrap_or(cols);
        return Err(Error::data(format!("the covariance{whose} is {} × {width}, not {cols} × {cols}", matrix.len()))
            .help("one row and one column for every column of the data"));
    }
    for i in 0..cols {
        for j in 0..=i {
            let (below, above) = (matrix[i][j], matrix[j][i]);
            if !below.is_finite() || !above.is_finite() {
                return Err(Error::data(format!(
                    "entry ({}, {}) of the covariance{whose} is not a number",
                    i + 1,
                    j + 1
                )));
            }
            let size = (matrix[i][i] * matrix[j][j]).abs().sqrt();
            if (below - above).abs() > PRINTED * size.max(below.abs()) {
                return Err(Error::data(format!(
                    "the covariance{whose} is not symmetric: entry ({}, {}) is {below}, entry ({}, {}) is {above}",
                    i + 1,
                    j + 1,
                    j + 1,
                    i + 1
                ))
                .help("write both triangles, with the same numbers"));
            }
        }
    }
    Ok(())
}

fn check_marginals(marginals: &[Marginal], classes: &[String]) -> Result<()> {
    let cols = marginals.iter().flat_map(|m| &m.columns).max().map_or(0, |last| last + 1);
    let total: usize = marginals.iter().map(|m| m.columns.len()).sum();
    if cols == 0 || cols > total {
        let message = if cols == 0 { "there are no columns".to_owned() } else { "a column has no distribution".into() };
        return Err(Error::data(message).help("every column belongs to one of the marginals, counted from 0"));
    }
    let mut seen = vec![false; cols];
    for column in marginals.iter().flat_map(|m| &m.columns) {
        if std::mem::replace(&mut seen[*column], true) {
            return Err(Error::data(words![Span::Column(*column), " has two distributions"])
                .help("every column belongs to one of the marginals, counted from 0"));
        }
    }
    if let Some(column) = seen.iter().position(|s| !s) {
        return Err(Error::data(words![Span::Column(column), " has no distribution"])
            .help("every column belongs to one of the marginals, counted from 0"));
    }
    marginals.iter().try_for_each(|marginal| check_family(marginal, classes))
}

/// A range with its name in words.
type Range = (&'static str, fn(f64) -> bool);

/// Any number.
const ANY: Range = ("a number", |_| true);
/// Numbers above zero.
const POSITIVE: Range = ("positive", |v| v > 0.0);
/// Probabilities.
const PROBABILITY: Range = ("from 0 to 1", |v| (0.0..=1.0).contains(&v));
/// Probabilities that are not zero: a geometric law has a mean.
const SUCCESS: Range = ("above 0, at most 1", |v| v > 0.0 && v <= 1.0);
/// Means of counts, up to [`LARGEST_COUNT`].
const COUNT: Range = ("from 0 to 1e9", |v| (0.0..=LARGEST_COUNT).contains(&v));
/// Probabilities may miss a sum of one by this, and entries of a covariance their mirror: decimals printed with ten
/// digits.
const PRINTED: f64 = 1e-9;

fn check_family(marginal: &Marginal, classes: &[String]) -> Result<()> {
    let columns: Vec<String> = marginal.columns.iter().map(|c| (c + 1).to_string()).collect();
    let place = match columns.as_slice() {
        [one] => format!("column {one}"),
        several => format!("columns {}", several.join(", ")),
    };
    let values =
        |name: &str, values: &[f64], (range, fits): Range| -> Result<()> {
            if values.len() != classes.len() {
                return Err(Error::data(format!(
                    "{place}: `{name}` has {} numbers for {} classes",
                    values.len(),
                    classes.len()
                ))
                .help(format!("one for each of: {}", classes.join(", "))));
            }
            match values.iter().zip(classes).find(|(v, _)| !v.is_finite() || !fits(**v)) {
                None => Ok(()),
                Some((v, class)) => Err(Error::data(format!("{place}: `{name}` of class `{class}` is {v}"))
                    .help(format!("it must be {range}"))),
            }
        };
    let shares = |shares: &[Vec<f64>]| -> Result<()> {
        if shares.len() != classes.len() {
            return Err(Error::data(format!("{place}: shares of {} classes, not {}", shares.len(), classes.len()))
                .help(format!("one row for each of: {}", classes.join(", "))));
        }
        for (row, class) in shares.iter().zip(classes) {
            let sum: f64 = row.iter().sum();
            if row.len() != columns.len() || !row.iter().all(|p| *p >= 0.0) || !((sum - 1.0).abs() <= PRINTED) {
                return Err(Error::data(format!("{place}: the shares of class `{class}` are no probabilities"))
                    .help(format!("{} numbers from 0 that sum to one", columns.len())));
            }
        }
        Ok(())
    };
    let single = !matches!(marginal.family, Family::Categorical { .. } | Family::Multinomial { .. });
    if columns.is_empty() || (single && columns.len() != 1) {
        return Err(Error::data(format!("{place}: this family is about one column, not {}", columns.len())));
    }
    match &marginal.family {
        Family::Constant { value } if value.is_finite() => Ok(()),
        Family::Constant { value } => {
            Err(Error::data(format!("{place}: `value` is {value}")).help("it must be a number"))
        }
        Family::Gaussian { mean, variance } => {
            values("mean", mean, ANY)?;
            values("variance", variance, POSITIVE)
        }
        Family::Bernoulli { p } => values("p", p, PROBABILITY),
        Family::Poisson { rate } => values("rate", rate, COUNT),
        Family::Exponential { rate } => values("rate", rate, POSITIVE),
        Family::Geometric { p } => values("p", p, SUCCESS),
        Family::Gamma { shape, rate } => {
            values("shape", shape, POSITIVE)?;
            values("rate", rate, POSITIVE)
        }
        Family::Binomial { trials, p } => {
            if *trials == 0 || *trials as f64 > LARGEST_COUNT {
                return Err(Error::data(format!("{place}: {trials} trials")).help("from 1 to 1e9"));
            }
            values("p", p, PROBABILITY)
        }
        Family::Categorical { shares: rows } => shares(rows),
        Family::Multinomial { shares: rows, mean_total } => {
            shares(rows)?;
            values("mean_total", mean_total, COUNT)
        }
    }
}

//! What least squares on class targets says: F tests that are exact for Gaussian classes with one covariance, and intervals that
//! need no such thing.
//!
//! Regression of the classes on the columns is dual to the comparison of the columns between the classes: its F is that of
//! Hotelling's T² (of several classes Wilks' Λ), and the partial F of some columns is Rao's test of additional information
//! beyond the others (Rao 1948; Mardia, Kent and Bibby 1979, 12.3). For classes `N(μ_k, Σ)` both are exact. The errors of
//! the coefficients are heteroscedastic, so their intervals are by White's covariance with MacKinnon and White's correction
//! (HC3), for many rows.

use super::mean_tests::{MeanTest, of_roots};
use super::options::{CovarianceKind, check_frequencies, check_level};
use super::subject::Subject;
use crate::design::{Pass, Rows, Training, Units};
use crate::error::{Error, Result};
use crate::linalg::{Eigen, Square, factor, gram_update, triangular_factor};
use crate::numeric::{student_quantile, student_two_sided_ln};
use crate::stats::ClassTriangle;
use crate::watch::Watch;
use crate::words::{Setting, Span, words};

/// Beside earlier columns, a column shorter than this share of its length is a combination of them, as in the fit.
const DEPENDENT: f64 = 1e-12;
/// A leverage of one, up to rounding: the row alone determines a coefficient, and its residual is zero.
const ALONE: f64 = 1.0 - 1e-10;
/// Residuals of this share of the targets' spread are rounding: the columns determine the classes.
const NO_RESIDUAL: f64 = 1e-20;

/// A coefficient of least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SquaresLine {
    /// The class whose target it fits; of two the second.
    pub class: usize,
    /// The column, `None` for the intercept.
    pub feature: Option<usize>,
    /// The coefficient, per unit of its column.
    pub estimate: f64,
    /// Its standard error: by the model where two classes of number columns are tested, robust otherwise.
    pub se: f64,
    /// Estimate over standard error.
    pub t: f64,
    /// Logarithm of the p value, by Student's t; of the intercept, which tests nothing, only where the error is robust.
    pub ln_p: Option<f64>,
    /// The robust standard error that the interval is made of.
    pub robust_se: f64,
    /// Low end of the interval.
    pub low: f64,
    /// High end.
    pub high: f64,
}

/// A test that some columns carry no information about the classes beyond the others.
#[derive(Debug, Clone, PartialEq)]
pub struct SquaresTest {
    /// The term.
    pub name: String,
    /// Its columns.
    pub columns: usize,
    /// F; of more than two classes that of Wilks' Λ.
    pub test: MeanTest,
}

/// What least squares says.
#[derive(Debug, Clone, PartialEq)]
pub struct SquaresInference {
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Names of the columns.
    pub features: Vec<String>,
    /// The level of the intervals.
    pub level: f64,
    /// Where standard errors and tests of coefficients come from.
    pub covariance: CovarianceKind,
    /// Where the intervals come from.
    pub interval_covariance: CovarianceKind,
    /// Whether all columns are numbers as they are, so that the classes may be Gaussian.
    pub may_be_gaussian: bool,
    /// Rows.
    pub n: f64,
    /// `n − d − 1`.
    pub freedom: f64,
    /// The coefficients.
    pub coefficients: Vec<SquaresLine>,
    /// Whether all columns together carry no information; `None` without columns.
    pub overall: Option<MeanTest>,
    /// Every term beside the others that do not contain it.
    pub terms: Vec<SquaresTest>,
    /// Share of the targets' scatter that is fitted, for two classes.
    pub r_squared: Option<f64>,
}

/// Infers from least squares without a penalty: targets −1 and 1, of several classes one for each, 0 or 1.
///
/// # Errors
/// A level that is none, weights that are not frequencies, dependent columns, no more rows than coefficients, a covariance that is
/// not of rows, columns that determine the classes.
pub fn infer_least_squares(
    subject: &Subject<'_>,
    (covariance, level): (CovarianceKind, f64),
    watch: &Watch,
) -> Result<SquaresInference> {
    check_level(level)?;
    let training = &subject.training;
    check_frequencies(training)?;
    if covariance == CovarianceKind::Cluster {
        return Err(Error::usage("least squares has robust covariances of rows, not of clusters")
            .help(words!["use ", Setting::Covariance.any(["hc0", "hc1", "hc2", "hc3"])]));
    }
    let sums = SquaresFactor::new(training, watch)?;
    let two = training.labels.n_classes() == 2;
    // Single coefficients of several classes have no exact test.
    let by_model = covariance == CovarianceKind::Model;
    // Indicators and products are not Gaussian, whatever the classes are.
    let may_be_gaussian = !subject.terms.iter().any(|t| t.levels || !t.containing.is_empty());
    let robust = if by_model { CovarianceKind::Hc3 } else { covariance };
    let classes: Vec<usize> = if two { vec![1] } else { (0..training.labels.n_classes()).collect() };
    let mut coefficients = Vec::new();
    for class in classes {
        let fit = sums.fit(class, two);
        let errors = sums.robust_errors(training, &fit, robust, watch)?;
        coefficients.extend(sums.lines(class, &fit, &errors, by_model && two && may_be_gaussian, level));
    }
    let all = 0..subject.features.len();
    let stated = |test: MeanTest| MeanTest { exact: test.exact && may_be_gaussian, ..test };
    Ok(SquaresInference {
        may_be_gaussian,
        classes: training.labels.names().to_vec(),
        features: subject.features.clone(),
        level,
        covariance,
        interval_covariance: robust,
        n: sums.n,
        freedom: sums.freedom,
        coefficients,
        overall: match all.is_empty() {
            true => None,
            false => sums.test(&sums.residuals(&[]), &sums.full, all.len()).map(stated),
        },
        terms: sums.terms(subject).into_iter().map(|t| SquaresTest { test: stated(t.test), ..t }).collect(),
        r_squared: two.then(|| 1.0 - sums.full.get(0, 0) / sums.residuals(&[]).get(0, 0)),
    })
}

/// The triangular factor of the centred rows, and the residual part of the class indicators.
struct SquaresFactor {
    n: f64,
    freedom: f64,
    mean: Vec<f64>,
    shares: Vec<f64>,
    triangle: ClassTriangle,
    /// The inverse of R of the columns, row by row.
    inverse: Vec<f64>,
    /// Residual products of the indicators of all classes but the first.
    full: Square,
}

/// Weights in the units of the columns, and the intercept about the mean.
struct SquaresFit {
    class: usize,
    /// What one and zero of the indicator are: factor and shift.
    scale: f64,
    weights: Vec<f64>,
    at_mean: f64,
}

/// Robust variances: of the intercept at zero, then of the weights.
struct RobustErrors {
    intercept: f64,
    weights: Vec<f64>,
}

impl SquaresFactor {
    fn new(training: &Training<'_>, watch: &Watch) -> Result<SquaresFactor> {
        let triangle = ClassTriangle::of(training.design, training.labels, training.weights, watch)?;
        let d = training.design.shape().cols;
        let n: f64 = triangle.weights().iter().sum();
        let freedom = n - d as f64 - 1.0;
        if freedom <= 0.0 {
            return Err(Error::data(format!(
                "{n} rows determine {} coefficients, and nothing is left to measure errors with",
                d + 1
            ))
            .help("give more rows")
            .help(words!["use fewer columns: ", Setting::Features]));
        }
        let mut r = vec![0.0; d * d];
        for j in 0..d {
            let column = &triangle.column(j)[1..=d];
            (0..d).for_each(|i| r[i * d + j] = column[i]);
            let length = column[..=j].iter().map(|v| v * v).sum::<f64>().sqrt();
            if column[j].abs() <= DEPENDENT * length || length == 0.0 {
                let fact =
                    if length == 0.0 { "does not vary" } else { "is up to rounding a combination of those before it" };
                return Err(Error::data(words!["the ", Span::Column(j), format!(" {fact}")])
                    .help(words!["leave it out: ", Setting::Drop]));
            }
        }
        let inverse = inverse_of_upper(&r, d);
        let shares = triangle.weights().iter().map(|w| w / n).collect();
        let mut sums =
            SquaresFactor { n, freedom, mean: triangle.mean(), shares, triangle, inverse, full: Square::zeros(0) };
        sums.full = sums.residuals(&(0..d).collect::<Vec<usize>>());
        let (empty, full) = (sums.residuals(&[]), &sums.full);
        if (0..full.n()).any(|k| full.get(k, k) <= NO_RESIDUAL * empty.get(k, k)) {
            return Err(Error::data(
                "the columns determine the classes: there are no residuals to measure errors with",
            )
            .help("leave the column out that repeats the classes"));
        }
        Ok(sums)
    }

    fn cols(&self) -> usize {
        self.mean.len()
    }

    /// The residual products of the indicators of all classes but the first, on some columns and the intercept.
    fn residuals(&self, columns: &[usize]) -> Square {
        let classes = self.triangle.weights().len() - 1;
        let width = self.triangle.indicator(0).len() - 1;
        let taken = columns.len();
        let total = taken + classes;
        // Column by column, without the component along the ones.
        let mut rows = vec![0.0; width * total];
        let own = columns.iter().map(|j| self.triangle.column(*j));
        let all = own.chain((1..=classes).map(|k| self.triangle.indicator(k)));
        for (place, column) in all.enumerate() {
            rows[place * width..(place + 1) * width].copy_from_slice(&column[1..]);
        }
        let r = triangular_factor(width, total, &mut rows);
        let at = |i: usize, j: usize| r[j * total + i];
        Square::from_lower(classes, |a, b| (taken..total).map(|i| at(i, taken + a) * at(i, taken + b)).sum())
    }

    /// The F (or Rao's F of Λ) of the residual that `smaller` leaves beyond `larger`, against that of all columns.
    fn test(&self, smaller: &Square, larger: &Square, df: usize) -> Option<MeanTest> {
        let p = self.full.n();
        let whitening = factor(&self.full, 0.0).whitening();
        let more = Square::from_lower(p, |i, j| smaller.get(i, j) - larger.get(i, j));
        let row = |i: usize| &whitening[i * p..(i + 1) * p];
        let turned: Vec<Vec<f64>> = (0..p).map(|i| more.multiply(row(i))).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let eigen = Eigen::of(&Square::from_lower(p, |i, j| dot(row(i), &turned[j])))?;
        let roots: Vec<f64> = eigen.values().iter().rev().take(p.min(df)).map(|l| l.max(0.0)).collect();
        of_roots(&roots, (p as f64, df as f64), self.freedom)[0]
    }

    /// Every term beside all that do not contain it (type II).
    fn terms(&self, subject: &Subject<'_>) -> Vec<SquaresTest> {
        let one = |at: usize| {
            let term = &subject.terms[at];
            let left_out = |j: &usize| term.containing.iter().any(|other| subject.terms[*other].columns.contains(j));
            let larger: Vec<usize> = (0..self.cols()).filter(|j| !left_out(j)).collect();
            let smaller: Vec<usize> = larger.iter().copied().filter(|j| !term.columns.contains(j)).collect();
            let columns = larger.len() - smaller.len();
            let test = self.test(&self.residuals(&smaller), &self.residuals(&larger), columns)?;
            Some(SquaresTest { name: term.name.clone(), columns, test })
        };
        (0..subject.terms.len()).filter_map(one).collect()
    }

    fn fit(&self, class: usize, two: bool) -> SquaresFit {
        let d = self.cols();
        // Targets −1 and 1 are twice the indicator less one.
        let scale = if two { 2.0 } else { 1.0 };
        let side = &self.triangle.indicator(class)[1..=d];
        let weight = |j: usize| scale * (j..d).map(|l| self.inverse[j * d + l] * side[l]).sum::<f64>();
        let at_mean = scale * self.shares[class] - if two { 1.0 } else { 0.0 };
        SquaresFit { class, scale, weights: (0..d).map(weight).collect(), at_mean }
    }

    /// `A (Σ s ω e² x̃x̃ᵀ) A` of one class, on the diagonal.
    fn robust_errors(
        &self,
        training: &Training<'_>,
        fit: &SquaresFit,
        kind: CovarianceKind,
        watch: &Watch,
    ) -> Result<RobustErrors> {
        let d = self.cols();
        let codes = training.labels.codes();
        let identity = Units::identity(d);
        let middle = Pass::new(training.design, &identity).partials_of((d + 1) * (d + 1)).reduce(
            watch,
            (0, &mut []),
            || Square::zeros(d + 1),
            |sum, range, rows, _| {
                let mut block: Vec<f64> = match rows {
                    Rows::Dense(values) => values.to_vec(),
                    Rows::Csr(rows) => {
                        let mut values = vec![0.0; rows.len() * d];
                        for i in 0..rows.len() {
                            let (columns, entries) = rows.row(i);
                            columns.iter().zip(entries).for_each(|(c, v)| values[i * d + *c as usize] = *v);
                        }
                        values
                    }
                };
                let mut scores = Vec::with_capacity(range.len() * (d + 1));
                for (at, i) in range.enumerate() {
                    let x = &mut block[at * d..(at + 1) * d];
                    x.iter_mut().zip(&self.mean).for_each(|(x, m)| *x -= m);
                    let s = training.weights.map_or(1.0, |w| w[i]);
                    let target = f64::from(u8::from(codes[i].index() == fit.class));
                    self.score(x, fit, target, s, kind, &mut scores);
                }
                gram_update(sum, &scores, &scores);
                Ok(())
            },
            |a, b| a.add(&b),
        )?;
        let correction = if kind == CovarianceKind::Hc1 { self.n / self.freedom } else { 1.0 };
        // The intercept at zero is that at the mean less m·w.
        let quadratic = |v: &[f64]| {
            let turned = middle.multiply(v);
            correction * v.iter().zip(&turned).map(|(a, b)| a * b).sum::<f64>()
        };
        let of_weight = |j: usize| {
            let mut v = vec![0.0; d + 1];
            v[1..].copy_from_slice(&self.inverse[j * d..(j + 1) * d]);
            v
        };
        let mut intercept = vec![0.0; d + 1];
        intercept[0] = 1.0 / self.n.sqrt();
        for j in 0..d {
            let v = of_weight(j);
            intercept.iter_mut().zip(&v).for_each(|(i, v)| *i -= self.mean[j] * v);
        }
        Ok(RobustErrors {
            intercept: quadratic(&intercept),
            weights: (0..d).map(|j| quadratic(&of_weight(j))).collect(),
        })
    }

    /// `√(s ω) e ũ` of a row about the mean, with `ũ = (1/√n, R⁻ᵀx)`.
    fn score(&self, x: &[f64], fit: &SquaresFit, target: f64, s: f64, kind: CovarianceKind, out: &mut Vec<f64>) {
        let d = x.len();
        let start = out.len();
        out.push(1.0 / self.n.sqrt());
        out.extend((0..d).map(|l| (0..=l).map(|j| self.inverse[j * d + l] * x[j]).sum::<f64>()));
        let u = &mut out[start..];
        let leverage: f64 = u.iter().map(|v| v * v).sum();
        let fitted = fit.at_mean + x.iter().zip(&fit.weights).map(|(x, w)| x * w).sum::<f64>();
        let mean = fit.at_mean - fit.scale * self.shares[fit.class];
        let residual = fit.scale * target + mean - fitted;
        let rest = 1.0 - leverage;
        let omega = match kind {
            CovarianceKind::Hc2 | CovarianceKind::Hc3 if leverage >= ALONE => 0.0,
            CovarianceKind::Hc2 => 1.0 / rest,
            CovarianceKind::Hc3 => 1.0 / (rest * rest),
            _ => 1.0,
        };
        let factor = (s * omega).sqrt() * residual;
        u.iter_mut().for_each(|v| *v *= factor);
    }

    fn lines(
        &self,
        class: usize,
        fit: &SquaresFit,
        errors: &RobustErrors,
        by_model: bool,
        level: f64,
    ) -> Vec<SquaresLine> {
        let d = self.cols();
        let variance = match by_model {
            true => fit.scale * fit.scale * self.full.get(0, 0) / self.freedom,
            false => 0.0,
        };
        let quantile = student_quantile(0.5 + level / 2.0, self.freedom);
        let line = |feature: Option<usize>, estimate: f64, plain: f64, robust: f64| {
            let robust_se = robust.sqrt();
            let se = if by_model { (variance * plain).sqrt() } else { robust_se };
            let t = estimate / se;
            let tested = feature.is_some() || !by_model;
            SquaresLine {
                class,
                feature,
                estimate,
                se,
                t,
                ln_p: tested.then(|| student_two_sided_ln(t, self.freedom)),
                robust_se,
                low: estimate - quantile * robust_se,
                high: estimate + quantile * robust_se,
            }
        };
        let row = |j: usize| &self.inverse[j * d..(j + 1) * d];
        let plain = |j: usize| row(j).iter().map(|v| v * v).sum::<f64>();
        let turned: f64 = (0..d).map(|l| (0..d).map(|j| self.mean[j] * row(j)[l]).sum::<f64>().powi(2)).sum();
        let shift: f64 = self.mean.iter().zip(&fit.weights).map(|(m, w)| m * w).sum();
        let intercept = line(None, fit.at_mean - shift, 1.0 / self.n + turned, errors.intercept);
        let weights = (0..d).map(|j| line(Some(j), fit.weights[j], plain(j), errors.weights[j]));
        std::iter::once(intercept).chain(weights).collect()
    }
}

/// The inverse of an upper triangular matrix, row by row.
fn inverse_of_upper(r: &[f64], d: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; d * d];
    for j in 0..d {
        inverse[j * d + j] = 1.0 / r[j * d + j];
        for i in (0..j).rev() {
            let sum: f64 = (i + 1..=j).map(|l| r[i * d + l] * inverse[l * d + j]).sum();
            inverse[i * d + j] = -sum / r[i * d + i];
        }
    }
    inverse
}

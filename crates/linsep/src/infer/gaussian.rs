//! Inference about Gaussian classes: their priors, means and covariances, and whether these differ.
//!
//! All of it is exact where the classes are Gaussian and, for one covariance, where they share it; what is an approximation says
//! so. `W` is the scatter within classes, `S = W/(n − K)`, `S_k` that of one class over `n_k − 1`, d the number of columns.

use super::hypothesis_tests::Ellipsoid;
use super::mean_tests::{BoxTest, MeanTest, box_test, hotelling, hotelling_unequal, spherical_test, wilks_and_pillai};
use super::options::{check_frequencies, check_level};
use crate::design::Training;
use crate::error::{Error, Result};
use crate::linalg::{Eigen, Factor, Square, factor};
use crate::model::CovarianceShape;
use crate::numeric::{beta_quantile, chi_square_quantile, f_ln_tail, f_quantile, student_quantile};
use crate::stats::{ClassMoments, Scatter};
use crate::watch::Watch;
use crate::words::{Setting, Span, words};

/// Share of a column's scatter that is left after the columns before it, below which it is a combination of them: the tolerance of
/// the Gaussian methods, which fit the same covariances.
const DEPENDENT: f64 = 1e-12;

/// An estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalEstimate {
    /// The estimate.
    pub estimate: f64,
    /// Low end.
    pub low: f64,
    /// High end.
    pub high: f64,
}

/// The mean of a column in a class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanLine {
    /// Mean of the rows, and its interval, which holds for this column alone.
    pub mean: IntervalEstimate,
    /// The root of its estimated variance.
    pub se: f64,
}

/// What is known of one class.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassInference {
    /// Its name.
    pub name: String,
    /// Its rows.
    pub n: f64,
    /// Its share (Clopper and Pearson 1934: exact, whatever the columns are).
    pub share: IntervalEstimate,
    /// The mean of every column.
    pub means: Vec<MeanLine>,
    /// All means at once: `n_k (x̄ − μ)ᵀ S⁻¹ (x̄ − μ)` at most Hotelling's quantile; `None` where there are too few rows.
    pub mean_set: Option<Ellipsoid>,
    /// Variances of the columns, of this class where it has its own.
    pub variances: Option<Vec<IntervalEstimate>>,
}

/// The test that a column has one mean in all classes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnTest {
    /// Mean square between over within.
    pub f: f64,
    /// Degrees of freedom.
    pub df: (f64, f64),
    /// Logarithm of the p value.
    pub ln_p: f64,
}

/// What rows say of Gaussian classes.
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianInference {
    /// The covariance that was assumed.
    pub shape: CovarianceShape,
    /// The level of intervals and sets.
    pub level: f64,
    /// Names of the columns.
    pub features: Vec<String>,
    /// Rows in all.
    pub n: f64,
    /// Class by class.
    pub classes: Vec<ClassInference>,
    /// Variances of the columns, or σ² alone where it is one, where the classes share them.
    pub variances: Option<Vec<IntervalEstimate>>,
    /// Whether the classes have the same means.
    pub equal_means: Vec<MeanTest>,
    /// The same column by column, by a pooled variance; not of own covariances.
    pub columns: Option<Vec<ColumnTest>>,
    /// Whether the classes have the same covariance; or why that is not tested.
    pub equal_covariances: std::result::Result<BoxTest, String>,
}

/// Infers from rows whose classes are taken to be Gaussian.
///
/// # Errors
/// A level that is none, weights that are not frequencies, dependent columns (they are named), too few rows.
pub fn infer_gaussian(
    training: &Training<'_>,
    features: Vec<String>,
    (shape, level): (CovarianceShape, f64),
    watch: &Watch,
) -> Result<GaussianInference> {
    check_level(level)?;
    check_frequencies(training)?;
    let moments = ClassMoments::with(Scatter::Own, training.design, training.labels, training.weights, watch)?;
    let names = training.labels.names();
    let sums = GaussianSums::new(&moments, shape, names)?;
    let all = 0..names.len();
    Ok(GaussianInference {
        shape,
        level,
        n: sums.n,
        classes: all.map(|k| sums.class(k, &names[k], level)).collect(),
        variances: sums.common_variances(level),
        equal_means: sums.equal_means(),
        columns: (shape != CovarianceShape::Own).then(|| sums.columns()),
        equal_covariances: sums.equal_covariances(names),
        features,
    })
}

/// Sums of the rows with their factors.
struct GaussianSums<'m> {
    moments: &'m ClassMoments,
    shape: CovarianceShape,
    /// Rows.
    n: f64,
    /// Classes.
    k: f64,
    /// Columns.
    d: f64,
    /// The scatter within classes and its factor.
    within: Square,
    pooled: Factor,
    /// Of each class with own covariances.
    own: Vec<Factor>,
}

impl<'m> GaussianSums<'m> {
    fn new(moments: &'m ClassMoments, shape: CovarianceShape, names: &[String]) -> Result<GaussianSums<'m>> {
        let within = moments.scatter().into_owned();
        let (n, k, d) = (moments.weights().iter().sum::<f64>(), names.len() as f64, within.n() as f64);
        if n <= k {
            return Err(Error::data(format!("{n} rows of {k} classes leave nothing to measure how rows scatter"))
                .help("give every class more rows"));
        }
        let pooled = factor(&within, DEPENDENT);
        if within.diagonal().iter().all(|s| *s == 0.0) {
            return Err(Error::data("within every class all columns are constant: nothing measures how rows scatter")
                .help("give every class rows that differ")
                .help("leave out columns that are constant"));
        }
        if shape != CovarianceShape::Spherical {
            check_rank(&pooled, n - k, None)?;
        }
        let mut own = Vec::new();
        if shape == CovarianceShape::Own {
            for (class, name) in names.iter().enumerate() {
                let factor = factor(moments.scatter_of(class), DEPENDENT);
                check_rank(&factor, moments.weight(class) - 1.0, Some(name))?;
                own.push(factor);
            }
        }
        Ok(GaussianSums { moments, shape, n, k, d, within, pooled, own })
    }

    /// Degrees of freedom of the scatter that belongs to a class, and of single variances.
    fn freedom(&self, class: usize) -> f64 {
        match self.shape {
            CovarianceShape::Shared => self.n - self.k,
            CovarianceShape::Own => self.moments.weight(class) - 1.0,
            CovarianceShape::Spherical => (self.n - self.k) * self.d,
        }
    }

    /// The estimated variance of a column in a class.
    fn variance(&self, class: usize, j: usize) -> f64 {
        match self.shape {
            CovarianceShape::Shared => self.within.get(j, j) / self.freedom(class),
            CovarianceShape::Own => self.moments.scatter_of(class).get(j, j) / self.freedom(class),
            CovarianceShape::Spherical => self.within.diagonal().iter().sum::<f64>() / self.freedom(class),
        }
    }

    fn columns_count(&self) -> usize {
        self.within.n()
    }

    fn class(&self, class: usize, name: &str, level: f64) -> ClassInference {
        let n = self.moments.weight(class);
        let t = student_quantile(0.5 + level / 2.0, self.freedom(class));
        let line = |j: usize| {
            let (estimate, se) = (self.moments.mean(class)[j], (self.variance(class, j) / n).sqrt());
            MeanLine { mean: IntervalEstimate { estimate, low: estimate - t * se, high: estimate + t * se }, se }
        };
        let variances = (self.shape == CovarianceShape::Own).then(|| self.variances_of(class, level));
        ClassInference {
            name: name.to_owned(),
            n,
            share: share(n, self.n, level),
            means: (0..self.columns_count()).map(line).collect(),
            mean_set: self.mean_set(class, level),
            variances,
        }
    }

    /// `(x̄ − μ)ᵀ (S/n_k)⁻¹ (x̄ − μ) ≤ dν/(ν − d + 1) F` of d and ν − d + 1 degrees of freedom; of `σ²I` by `d·F` of d and ν.
    fn mean_set(&self, class: usize, level: f64) -> Option<Ellipsoid> {
        let (n, d, nu) = (self.moments.weight(class), self.d, self.freedom(class));
        let radius_squared = match self.shape {
            CovarianceShape::Spherical => d * f_quantile(level, d, nu),
            _ if nu - d + 1.0 <= 0.0 => return None,
            _ => d * nu / (nu - d + 1.0) * f_quantile(level, d, nu - d + 1.0),
        };
        let size = self.columns_count();
        let covariance = match self.shape {
            CovarianceShape::Spherical => {
                let variance = self.variance(class, 0) / n;
                Square::from_lower(size, |i, j| if i == j { variance } else { 0.0 })
            }
            CovarianceShape::Shared => Square::from_lower(size, |i, j| self.within.get(i, j) / (nu * n)),
            CovarianceShape::Own => {
                Square::from_lower(size, |i, j| self.moments.scatter_of(class).get(i, j) / (nu * n))
            }
        };
        let eigen = Eigen::of(&covariance)?;
        Some(Ellipsoid::of_axes(self.moments.mean(class).to_vec(), radius_squared, &eigen))
    }

    /// `ν s² / χ²`: exact for each column alone.
    fn variances_of(&self, class: usize, level: f64) -> Vec<IntervalEstimate> {
        let nu = self.freedom(class);
        let ends = [0.5 + level / 2.0, 0.5 - level / 2.0].map(|p| nu / chi_square_quantile(p, nu));
        let one = |j: usize| {
            let estimate = self.variance(class, j);
            IntervalEstimate { estimate, low: estimate * ends[0], high: estimate * ends[1] }
        };
        let count = if self.shape == CovarianceShape::Spherical { 1 } else { self.columns_count() };
        (0..count).map(one).collect()
    }

    fn common_variances(&self, level: f64) -> Option<Vec<IntervalEstimate>> {
        (self.shape != CovarianceShape::Own).then(|| self.variances_of(0, level))
    }

    fn equal_means(&self) -> Vec<MeanTest> {
        let two = self.moments.weights().len() == 2;
        match self.shape {
            CovarianceShape::Spherical => vec![spherical_test(self.moments, &self.within)],
            CovarianceShape::Own if two => hotelling_unequal(self.moments).into_iter().collect(),
            // With their own covariances, several classes have no nearly exact test of means for few rows.
            CovarianceShape::Own => Vec::new(),
            CovarianceShape::Shared => {
                let mut tests: Vec<MeanTest> = match two {
                    true => hotelling(self.moments, &self.pooled).into_iter().collect(),
                    false => Vec::new(),
                };
                tests.extend(wilks_and_pillai(self.moments, &self.pooled));
                tests
            }
        }
    }

    fn columns(&self) -> Vec<ColumnTest> {
        let centred = self.moments.centred_means();
        let (d1, d2) = (self.k - 1.0, self.n - self.k);
        let one = |j: usize| {
            let class = |(k, mean): (usize, &Vec<f64>)| self.moments.weight(k) * mean[j].powi(2);
            let between: f64 = centred.iter().enumerate().map(class).sum();
            let f = between / d1 / (self.within.get(j, j) / d2);
            ColumnTest { f, df: (d1, d2), ln_p: f_ln_tail(f, d1, d2) }
        };
        (0..self.columns_count()).map(one).collect()
    }

    fn equal_covariances(&self, names: &[String]) -> std::result::Result<BoxTest, String> {
        let few = (0..names.len()).find(|k| self.moments.weight(*k) <= self.d);
        if let Some(class) = few {
            return Err(format!(
                "class `{}` has {} rows, and its covariance of {} columns takes {} at least",
                names[class],
                self.moments.weight(class),
                self.d,
                self.d + 1.0
            ));
        }
        let own: Vec<Factor> = match self.own.is_empty() {
            false => self.own.clone(),
            true => (0..names.len()).map(|k| factor(self.moments.scatter_of(k), DEPENDENT)).collect(),
        };
        if self.pooled.rank() < self.columns_count() {
            return Err("the columns are dependent".to_owned());
        }
        if let Some(class) = own.iter().position(|f| f.rank() < self.columns_count()) {
            return Err(format!("the columns are dependent in class `{}`", names[class]));
        }
        Ok(box_test(self.moments, &self.pooled, &own))
    }
}

/// Clopper and Pearson's interval of a share: both ends by the exact binomial.
fn share(n: f64, of: f64, level: f64) -> IntervalEstimate {
    let tail = 0.5 - level / 2.0;
    let low = if n == 0.0 { 0.0 } else { beta_quantile(tail, n, of - n + 1.0) };
    let high = if n == of { 1.0 } else { beta_quantile(1.0 - tail, n + 1.0, of - n) };
    IntervalEstimate { estimate: n / of, low, high }
}

/// The covariance must have an inverse; columns that prevent it are named.
fn check_rank(factor: &Factor, freedom: f64, class: Option<&str>) -> Result<()> {
    if factor.rank() == factor.n() {
        return Ok(());
    }
    let within = match class {
        Some(name) => format!("within class `{name}`"),
        None => "within the classes".to_owned(),
    };
    let alias = &factor.aliased()[0];
    let fact = if alias.combination.is_empty() { "does not vary" } else { "is up to rounding a combination of others" };
    let few = match freedom < factor.n() as f64 {
        true => format!(" ({} columns need that many degrees of freedom, and there are {freedom})", factor.n()),
        false => String::new(),
    };
    let what = words![
        "the ",
        Span::Column(alias.column),
        format!(" {fact} {within}: their covariance cannot be inverted{few}")
    ];
    let error = Error::data(what).help(words!["leave it out: ", Setting::Drop]).help("give more rows");
    Err(match class {
        Some(_) => error.help(words!["choose ", Setting::Model.is("lda"), ", with one covariance for all classes"]),
        None => error.help(words!["choose ", Setting::Model.is("spherical"), ", which needs no inverse"]),
    })
}

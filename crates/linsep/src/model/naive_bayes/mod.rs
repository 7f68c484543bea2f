//! Naive Bayes: columns that are independent within a class, each of a family of its own.
//!
//! `g_k(x) = log π_k + Σⱼ log p_j(xⱼ|k)` less what all classes have in common; two classes keep the log-odds `g₁ − g₀`.
//! The families are exponential, so each column adds its sufficient statistics times weights: `x` for most, `x` and `x²`
//! for Gaussian columns whose classes have their own variances, `x` and `ln x` for gamma columns.

mod densities;
mod estimate;
mod family;
mod layout;
mod likelihood;
mod residual;
mod score;
mod shares;

pub use family::FamilyChoice;
pub use layout::{FamilyRun, Layout};
pub(crate) use shares::column_constants;

use super::{Computation, Divisor, Fit, Fitted, Note, Objective, Outcome};
use crate::certify::Certificate;
use crate::design::Training;
use crate::design::{ColumnOrigin, Units};
use crate::discriminant::Discriminant;
use crate::error::{Error, Result};
use crate::stats::ClassColumns;
use crate::watch::Watch;
use crate::words::{Setting, words};
use estimate::Estimates;
use serde::{Deserialize, Serialize};

/// Naive Bayes.
///
/// Estimates within class k of weight n, with smoothing α (N counts, m̄ the mean of the column over all rows):
///
/// - Bernoulli `(N₁+α)/(n+2α)`; binomial of T trials `(Σx+α)/(nT+2α)`;
/// - categorical, of L levels, `(N_l+α)/(n+αL)`; multinomial, of d columns, `(N_j+α)/(ΣN+αd)`;
/// - mean of Poisson, exponential and geometric columns `(Σx+α·m̄)/(n+α)`: α rows of the average are added;
/// - Gaussian variance `Σ(x−μ)²/(n−1)` (or `/n`; shared: over all classes, `/(Σs−K)` or `/Σs`), plus
///   `variance_smoothing` times the variance of the column over all rows (divisor Σs), or times the largest such variance of
///   all Gaussian columns; means are not smoothed;
/// - gamma: maximum likelihood, not smoothed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NaiveBayes {
    /// Family of columns of numbers; text columns are categorical.
    pub numbers: FamilyChoice,
    /// Families of single columns by name; unnamed columns go by their number from 1.
    pub overrides: Vec<(String, FamilyChoice)>,
    /// α, in rows.
    pub smoothing: f64,
    /// Share of an overall variance that is added to Gaussian variances.
    pub variance_smoothing: f64,
    /// Whose overall variance that is.
    #[serde(skip_serializing_if = "SmoothedBy::is_own", default)]
    pub smoothed_by: SmoothedBy,
    /// Divisor of Gaussian variances.
    pub divisor: Divisor,
    /// Prior probabilities in the order of the classes; `None` is the observed shares.
    pub priors: Option<Vec<f64>>,
}

/// The overall variance of which Gaussian variances get a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SmoothedBy {
    /// That of the column itself, so that its units do not matter.
    #[default]
    Own,
    /// The largest of all Gaussian columns, as scikit-learn has it.
    Largest,
}

impl SmoothedBy {
    fn is_own(&self) -> bool {
        *self == SmoothedBy::Own
    }
}

impl Default for NaiveBayes {
    fn default() -> NaiveBayes {
        NaiveBayes {
            numbers: FamilyChoice::Gaussian,
            overrides: Vec::new(),
            smoothing: 1.0,
            variance_smoothing: 0.0,
            smoothed_by: SmoothedBy::Own,
            divisor: Divisor::Unbiased,
            priors: None,
        }
    }
}

impl NaiveBayes {
    /// The same family for all columns of numbers.
    pub fn of(numbers: FamilyChoice) -> NaiveBayes {
        NaiveBayes { numbers, ..NaiveBayes::default() }
    }

    /// Which of `cols` matrix columns has which family; `origins` says which columns are the indicators of a text
    /// column.
    pub fn layout(&self, origins: &[ColumnOrigin], cols: usize) -> Result<Layout> {
        let settings = [
            ("smoothing", Setting::Smoothing.is(1), self.smoothing),
            ("variance smoothing", Setting::VarianceSmoothing.is("1e-9"), self.variance_smoothing),
        ];
        for (name, example, value) in settings {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::usage(format!("the {name} {value} is not a number from 0"))
                    .help(words!["for example ", example]));
            }
        }
        Layout::new(self, origins, cols)
    }

    /// The model of given statistics: those of one pass, or merged, extended and reduced since.
    ///
    /// ```
    /// use linsep::design::DenseMatrix;
    /// use linsep::model::{FamilyChoice, NaiveBayes};
    /// use linsep::stats::ClassColumns;
    /// use linsep::table::Labels;
    /// let method = NaiveBayes::of(FamilyChoice::Poisson);
    /// let layout = method.layout(&[], 1)?;
    /// let y = Labels::from_names(["a", "a", "b", "b"]);
    /// let rows = |values: [f64; 4]| DenseMatrix::new(values.to_vec(), 1);
    /// let watch = Default::default();
    /// let mut seen = ClassColumns::of(&rows([0.0, 2.0, 5.0, 3.0])?, &y, None, &layout.statistics(), &watch)?;
    /// seen.update(&rows([1.0, 0.0, 6.0, 2.0])?, &y, None, &watch)?;
    /// let model = method.fit_statistics(&layout, &seen, y.names())?;
    /// let g = model.discriminant.as_linear().unwrap();
    /// let mean = |total: f64| (total + 19.0 / 8.0) / (4.0 + 1.0); // one row of the average is added
    /// assert!((g.weights_of(0)[0] - (mean(16.0) / mean(3.0)).ln()).abs() < 1e-15);
    /// # Ok::<(), linsep::Error>(())
    /// ```
    pub fn fit_statistics(&self, layout: &Layout, statistics: &ClassColumns, names: &[String]) -> Result<Fitted> {
        let estimates = self.estimates(layout, statistics, names)?;
        let discriminant = estimates.discriminant()?;
        let certificate = estimates.certificate(&discriminant)?;
        let constant = estimates.constant.clone();
        Ok(Fitted {
            multipliers: None,
            units: Units::identity(statistics.n_cols()),
            objective: Objective { formula: self.formula(layout), value: estimates.objective(), lambda: None },
            certificate,
            outcome: Outcome::Converged,
            notes: if constant.is_empty() { Vec::new() } else { vec![Note::Constant { columns: constant }] },
            computation: Computation { solver: "counting".into(), reason: None, iterations: 0, passes: 1 },
            density: estimates.densities(),
            discriminant,
        })
    }

    pub(super) fn fit(&self, training: &Training<'_>, watch: &Watch) -> Result<Fit> {
        let (layout, statistics) = self.statistics(training, watch)?;
        Ok(Fit::Model(Box::new(self.fit_statistics(&layout, &statistics, training.labels.names())?)))
    }

    /// The residual of the equations of given discriminants, with the statistics recomputed from the data.
    pub(super) fn certify(
        &self,
        training: &Training<'_>,
        discriminant: &Discriminant,
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        let (layout, statistics) = self.statistics(training, watch)?;
        let estimates = self.estimates(&layout, &statistics, training.labels.names())?;
        Ok((estimates.objective(), estimates.certificate(discriminant)?))
    }

    fn statistics(&self, training: &Training<'_>, watch: &Watch) -> Result<(Layout, ClassColumns)> {
        if training.offsets.is_some() {
            return Err(Error::usage("naive Bayes has no offsets")
                .help(words!["offsets belong to ", Setting::Model.is("logistic")]));
        }
        let layout = self.layout(training.origins, training.design.shape().cols)?;
        let Training { design, labels, weights, .. } = *training;
        let statistics = ClassColumns::of(design, labels, weights, &layout.statistics(), watch)?;
        Ok((layout, statistics))
    }

    fn estimates<'a>(
        &'a self,
        layout: &'a Layout,
        statistics: &'a ClassColumns,
        names: &'a [String],
    ) -> Result<Estimates<'a>> {
        if names.len() != statistics.weights().len() || layout.statistics() != statistics.runs() {
            return Err(Error::usage("the statistics do not have the columns and classes of the model"));
        }
        if names.len() < 2 {
            return Err(Error::data("a classifier needs at least two classes"));
        }
        if let Some(empty) = statistics.weights().iter().position(|w| *w == 0.0) {
            return Err(Error::data(format!("class `{}` has no rows", names[empty])).help("give it rows first"));
        }
        let priors = super::priors::priors(self.priors.as_deref(), statistics.weights(), names)?;
        Estimates::new(self, layout, statistics, names, priors)
    }

    fn formula(&self, layout: &Layout) -> String {
        let base = layout.runs().iter().any(|r| r.family.has_base_measure());
        let without = if base { ", without the factors of p that have no parameter, such as 1/x!" } else { "" };
        format!("−Σ s log[π_y Π_j p_j(x_j|y)]/Σs at the estimates{without}")
    }
}

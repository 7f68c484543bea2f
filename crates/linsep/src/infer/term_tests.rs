//! Tests of terms: a column, a text column as a whole, a product of columns.
//!
//! A term is tested against the model without it, both without the terms that contain it (type II): the effect of `age` is
//! asked of a model that has no `age*bmi`.

use super::covariance::EstimateCovariance;
use super::restricted::{Restrained, Restriction};
use super::run::InferenceRun;
use super::span::JointSpan;
use super::subject::ModelTerm;
use crate::error::{Error, Result};
use crate::numeric::chi_square_ln_tail;
use crate::words::{Setting, words};

/// Which test it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestKind {
    /// Twice the difference of two log-likelihoods.
    LikelihoodRatio,
    /// The estimates' distance from the hypothesis in their covariance.
    Wald,
}

impl TestKind {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            TestKind::LikelihoodRatio => "likelihood ratio",
            TestKind::Wald => "wald",
        }
    }
}

/// A test that some coefficients are zero.
#[derive(Debug, Clone, PartialEq)]
pub struct TermTest {
    /// The term.
    pub name: String,
    /// Which test.
    pub test: TestKind,
    /// Coefficients tested.
    pub df: usize,
    /// χ² under the hypothesis.
    pub statistic: f64,
    /// The natural logarithm of the p value.
    pub ln_p: f64,
}

impl TermTest {
    /// A test by the likelihood.
    pub(super) fn ratio(name: String, df: usize, statistic: f64) -> TermTest {
        TermTest::new(name, TestKind::LikelihoodRatio, df, statistic)
    }

    fn new(name: String, test: TestKind, df: usize, statistic: f64) -> TermTest {
        TermTest { name, test, df, statistic, ln_p: chi_square_ln_tail(statistic, df as f64) }
    }
}

/// The tests to make: for each term what is zero with it, and what is zero beside it.
pub(super) struct TermPlan {
    terms: Vec<PlannedTerm>,
}

struct PlannedTerm {
    name: String,
    /// Class and column of its coefficients.
    own: Vec<(usize, usize)>,
    /// Those that are zero without it: its own, and those of the terms that contain it.
    without: Vec<(usize, usize)>,
    /// Those of the terms that contain it.
    beside: Vec<(usize, usize)>,
}

impl TermPlan {
    /// The terms that have coefficients.
    pub fn of(run: &InferenceRun<'_, '_>) -> TermPlan {
        let frame = run.frame;
        let own_of = |term: &ModelTerm| -> Vec<(usize, usize)> {
            let kept = |class: usize| term.columns.clone().map(move |j| (class, j));
            (1..=frame.scores()).flat_map(kept).filter(|(_, j)| frame.has(*j)).collect()
        };
        let planned = |term: &ModelTerm| {
            let own = own_of(term);
            if own.is_empty() {
                return None;
            }
            let above: Vec<(usize, usize)> =
                term.containing.iter().flat_map(|t| own_of(&run.subject.terms[*t])).collect();
            let without = own.iter().chain(&above).copied().collect();
            Some(PlannedTerm { name: term.name.clone(), own, without, beside: above })
        };
        TermPlan { terms: run.subject.terms.iter().filter_map(planned).collect() }
    }

    /// The sets of coefficients that have to be zero.
    pub fn zeros(&self) -> Vec<Vec<(usize, usize)>> {
        self.terms.iter().flat_map(|t| [t.without.clone(), t.beside.clone()]).collect()
    }

    /// The tests, by the likelihood where a set of coefficients is zero.
    pub fn by_likelihood(&self, value: impl Fn(&[(usize, usize)]) -> f64) -> Vec<TermTest> {
        let test = |t: &PlannedTerm| {
            let fall = 2.0 * (value(&t.beside) - value(&t.without));
            TermTest::ratio(t.name.clone(), t.own.len(), fall.max(0.0))
        };
        self.terms.iter().map(test).collect()
    }

    /// Wald's tests, by the covariance that was asked for.
    pub fn by_wald(&self, run: &InferenceRun<'_, '_>, covariance: &EstimateCovariance) -> Result<Vec<TermTest>> {
        let test = |t: &PlannedTerm| {
            let restriction = run.frame.zero(&t.own);
            let statistic = wald_statistic(run, covariance, &restriction)
                .map_err(|e| e.in_context(format!("the test of `{}`", t.name)))?;
            Ok(TermTest::new(t.name.clone(), TestKind::Wald, t.own.len(), statistic))
        };
        self.terms.iter().map(test).collect()
    }

    /// Variance inflation of the terms, of two classes; of no term where the covariance is singular.
    pub fn inflation(&self, run: &InferenceRun<'_, '_>, covariance: &EstimateCovariance) -> Vec<TermInflation> {
        if run.frame.scores() > 1 || self.terms.len() < 2 {
            return Vec::new();
        }
        let (first, width) = (usize::from(run.likelihood.has_intercept()), run.likelihood.width());
        let rooted = |at: usize| {
            let mut unit = vec![0.0; width];
            unit[at] = 1.0;
            covariance.rooted(&unit)
        };
        // Of all coefficients but the intercept.
        let roots: Vec<Vec<f64>> = (first..width).map(rooted).collect();
        let Some(whole) = JointSpan::of(&roots) else { return Vec::new() };
        let inflation = |t: &PlannedTerm| {
            let places: Vec<usize> = t.own.iter().filter_map(|(_, j)| run.frame.place(*j)).collect();
            let own: Vec<Vec<f64>> = places.iter().map(|p| roots[*p].clone()).collect();
            // det R₁₁ det R₂₂ / det R = det C₁₁ det (C⁻¹)₁₁, the second of which is a Gram of coordinates.
            let inverse: Vec<Vec<f64>> = places
                .iter()
                .map(|p| {
                    let mut unit = vec![0.0; roots.len()];
                    unit[*p] = 1.0;
                    whole.coordinates(&unit)
                })
                .collect();
            let gvif = (JointSpan::of(&own)?.log_determinant() + JointSpan::of(&inverse)?.log_determinant()).exp();
            Some(TermInflation { name: t.name.clone(), df: t.own.len(), gvif })
        };
        self.terms.iter().map(inflation).collect::<Option<Vec<_>>>().unwrap_or_default()
    }
}

/// `(Rθ − r)ᵀ (R V Rᵀ)⁻¹ (Rθ − r)`.
pub(super) fn wald_statistic(
    run: &InferenceRun<'_, '_>,
    covariance: &EstimateCovariance,
    restriction: &Restriction,
) -> Result<f64> {
    if let Some(clusters) = &run.subject.clusters
        && run.options.covariance == super::options::CovarianceKind::Cluster
    {
        let count = clusters.iter().max().map_or(0, |m| m + 1);
        if restriction.len() >= count {
            return Err(Error::data(format!(
                "{} restrictions cannot be tested together by the covariance of {count} clusters, whose rank is below that",
                restriction.len()
            ))
            .help("test fewer of them together")
            .help(words!["use ", Setting::Covariance.is("hc1")]));
        }
    }
    if run.options.covariance == super::options::CovarianceKind::Model {
        return Ok(Restrained::new(restriction, run.maximum.metric.clone())?.distance(&run.maximum.point));
    }
    let roots: Vec<Vec<f64>> = restriction.rows.iter().map(|row| covariance.rooted(row)).collect();
    let span = JointSpan::of(&roots).ok_or_else(|| {
        Error::data("the covariance of these coefficients together is singular, so that they have no joint test")
            .help("test fewer of them together")
    })?;
    Ok(span.distance(&restriction.excess(&run.maximum.point)))
}

/// How far the other terms inflate the variance of a term (Fox and Monette, JASA 87, 1992).
#[derive(Debug, Clone, PartialEq)]
pub struct TermInflation {
    /// The term.
    pub name: String,
    /// Its coefficients.
    pub df: usize,
    /// The generalised variance inflation factor.
    pub gvif: f64,
}

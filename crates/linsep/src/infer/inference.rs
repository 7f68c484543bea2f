//! The whole table: estimates, standard errors, tests and intervals, where the theory holds.

use super::bands::{BandKind, EstimatedCoefficients, ProbabilityInterval};
use super::bias_reduced::{intercept_correction, mean_reduced, median_reduced};
use super::collinearity::{Collinearity, collinearity};
use super::covariance::{Counting, EstimateCovariance, covariance_of};
use super::firth::Penalised;
use super::hypothesis_tests::{HypothesisTest, hypothesis_tests};
use super::marginal::MarginalEffect;
use super::maximum::Maximum;
use super::options::{Adjustment, CovarianceKind, EstimatorKind, InferenceOptions, IntervalKind};
use super::profile::profile_limits;
use super::restricted::Restriction;
use super::rows::{RowInfluence, row_influences};
use super::run::InferenceRun;
use super::separated::{LimitingRows, one_sided_limit, supremum_of, supremum_tests};
use super::statistics::FitStatistics;
use super::subject::{Frame, Subject, maximum_likelihood};
use super::term_tests::{TermInflation, TermPlan, TermTest};
use crate::certify::Certificate;
use crate::error::{Error, Result};
use crate::linalg::{Square, dot};
use crate::model::{Fit, Fitted, Method, NoOptimum, Note, PenaltyChoice, Refusal, RiskMinimizer};
use crate::numeric::{chi_square_ln_tail, chi_square_quantile, normal_quantile, normal_two_sided_ln};
use crate::separate::{CoefficientLimit, CoefficientLimits, coefficient_limits};
use crate::watch::Watch;
use crate::words::{Setting, words};
use std::collections::BTreeMap;

/// Coefficients whose information is factored: 5,000 take 200 MB and some seconds.
const MOST_COEFFICIENTS: usize = 5000;

/// What inference came to: the table, or why there is none, with what still holds.
pub type InferenceFit = Fit<Box<Inference>, Box<SeparatedInference>>;

/// One line of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Coefficient {
    /// The class (by its number) whose log-odds against the first class it is part of.
    pub class: usize,
    /// The column of the matrix; `None` is the intercept.
    pub feature: Option<usize>,
    /// The estimate.
    pub estimate: f64,
    /// Its standard error.
    pub error: f64,
    /// Estimate over standard error.
    pub z: f64,
    /// The natural logarithm of the two-sided p value.
    pub ln_p: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The logarithm of the p value of the likelihood ratio test of the coefficient alone.
    pub ratio_ln_p: Option<f64>,
    /// The logarithm of the p value, corrected for the number of coefficients that are not intercepts.
    pub adjusted_ln_p: Option<f64>,
}

impl Coefficient {
    /// Whether the two tests of the coefficient disagree by a factor of two, so that Wald's interval is not to be trusted
    /// (Hauck and Donner, JASA 72, 1977).
    pub fn is_uneven(&self) -> bool {
        self.ratio_ln_p.is_some_and(|ratio| (ratio - self.ln_p).abs() > std::f64::consts::LN_2)
    }
}

/// The answer where coefficients are infinite.
#[derive(Debug, Clone, PartialEq)]
pub struct SeparatedInference {
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Names of the matrix columns.
    pub features: Vec<String>,
    /// The proof that there is no maximum.
    pub proof: Box<NoOptimum>,
    /// What becomes of every coefficient; `None` where that would take too long to prove.
    pub limits: Option<CoefficientLimits>,
    /// The supremum of the log-likelihood, of two classes.
    pub log_likelihood: Option<f64>,
    /// Likelihood ratio tests of the terms by suprema, of two classes.
    pub terms: Vec<TermTest>,
    /// Columns whose coefficient tends to infinity, to which (1 or −1), and the other end of its profile interval; not a number
    /// where it was not found.
    pub one_sided: Vec<(usize, f64, f64)>,
    /// The limiting conditional model: inference from the rows on the boundary, for the coefficients that have a limit.
    pub limiting: Option<Box<Inference>>,
}

/// Everything that was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Inference {
    /// Names of the classes; the first is the reference.
    pub classes: Vec<String>,
    /// Names of the matrix columns.
    pub features: Vec<String>,
    /// The options it answers.
    pub options: InferenceOptions,
    /// The lines of the table, class by class, the intercept first.
    pub coefficients: Vec<Coefficient>,
    /// Columns without a coefficient: constant, or combinations of others.
    pub left_out: Vec<usize>,
    /// The covariance of the estimates, in the order of the lines.
    pub covariance: Square,
    /// A test of every term.
    pub terms: Vec<TermTest>,
    /// The hypotheses that were asked about.
    pub tests: Vec<HypothesisTest>,
    /// The whole model.
    pub statistics: FitStatistics,
    /// Average marginal effects, where they were asked for.
    pub effects: Vec<MarginalEffect>,
    /// Variance inflation of terms, of two classes and at least two terms.
    pub inflation: Vec<TermInflation>,
    /// Condition indices, where they were asked for.
    pub collinearity: Option<Collinearity>,
    /// Of Firth's estimates the intercept with which the mean probability is the share of the second class.
    pub corrected_intercept: Option<f64>,
    /// Every row, where they were asked for.
    pub rows: Vec<RowInfluence>,
    /// Clusters of rows.
    pub clusters: Option<usize>,
    /// The proof that the maximum is one; `None` of estimates of reduced bias, Firth's among them, which are local.
    pub certificate: Option<Certificate>,
    /// What the user should know of the columns.
    pub notes: Vec<Note>,
    /// Whether weights are frequencies; otherwise only a robust covariance was given.
    pub whole_weights: bool,
    estimates: EstimatedCoefficients,
}

impl Inference {
    /// Intervals of the probabilities at the rows of a matrix with the same columns; offsets are differences to the first
    /// class.
    pub fn probabilities(
        &self,
        design: &dyn crate::design::Design,
        offsets: Option<&[f64]>,
        band: BandKind,
        watch: &Watch,
    ) -> Result<Vec<ProbabilityInterval>> {
        self.estimates.probabilities(design, offsets, (self.options.level, band), watch)
    }
}

/// EstimatedCoefficients and their uncertainty.
///
/// # Errors
/// Where an option does not make sense for these rows, the information is singular, or the time is out. That the maximum does
/// not exist is an answer.
pub fn infer(subject: &Subject<'_>, options: &InferenceOptions, watch: &Watch) -> Result<InferenceFit> {
    options.check()?;
    let training = &subject.training;
    training.check()?;
    let classes = training.labels.n_classes();
    let whole_weights = training.weights.is_none_or(|w| w.iter().all(|w| w.fract() == 0.0));
    check_options(subject, options, classes, whole_weights)?;
    let ridge = options.estimator != EstimatorKind::Likelihood;
    let method = maximum_likelihood(options.intercept);
    let fit = match ridge {
        // A ridge fit only to find the collinear columns: under a penalty the optimum always exists.
        true => Method::Risk(RiskMinimizer { penalty: PenaltyChoice::Ridge(1e-3), ..method }).fit(training, watch)?,
        false => Method::Risk(method).fit(training, watch)?,
    };
    let fitted = match fit {
        Fit::Model(fitted) => fitted,
        Fit::Refused(Refusal::NoOptimum(proof)) => {
            return Ok(Fit::Refused(Box::new(separated(subject, options, proof, watch)?)));
        }
        Fit::Refused(Refusal::NotSeparable(_)) => return Err(Error::model("maximum likelihood asks for no plane")),
    };
    let frame = Frame::of(subject, &fitted, options.intercept)?;
    let likelihood = frame.likelihood(subject);
    if likelihood.size() > MOST_COEFFICIENTS {
        return Err(Error::data(format!(
            "{} coefficients are more than inference factors ({MOST_COEFFICIENTS})",
            likelihood.size()
        ))
        .help(words!["choose columns by ", Setting::Features]));
    }
    let penalised = Penalised { likelihood: &likelihood };
    let maximum = match options.estimator {
        EstimatorKind::Likelihood => Maximum::near(&likelihood, frame.start(&fitted)?, watch)?,
        EstimatorKind::Firth => penalised.maximum(watch)?,
        EstimatorKind::MeanReduced => mean_reduced(&penalised, watch)?,
        EstimatorKind::MedianReduced => median_reduced(&penalised, &frame.functionals(), watch)?,
    };
    let counting = Counting { copies: whole_weights, clusters: subject.clusters.as_deref() };
    let covariance = covariance_of(&likelihood, &maximum, options.covariance, counting, watch)?;
    let run = InferenceRun { subject, options, frame: &frame, likelihood: &likelihood, maximum: &maximum, watch };
    run.finish(*fitted, covariance, whole_weights, &penalised)
}

/// What can be said of separated rows.
fn separated(
    subject: &Subject<'_>,
    options: &InferenceOptions,
    proof: Box<NoOptimum>,
    watch: &Watch,
) -> Result<SeparatedInference> {
    let training = &subject.training;
    let classes = training.labels.names().to_vec();
    // Without an intercept planes go through the origin.
    let origin = vec![0.0; training.design.shape().cols];
    let through = (!options.intercept).then_some(&origin[..]);
    let limits = coefficient_limits(training, &proof.pairs, through, watch)?;
    let mut found = SeparatedInference {
        features: subject.features.clone(),
        limits,
        log_likelihood: None,
        terms: Vec::new(),
        one_sided: Vec::new(),
        limiting: None,
        classes,
        proof,
    };
    let whole = training.weights.is_none_or(|w| w.iter().all(|w| w.fract() == 0.0));
    if found.classes.len() > 2 || !whole {
        return Ok(found);
    }
    let top = supremum_of(training, &found.proof, options.intercept, watch)?;
    found.log_likelihood = Some(top);
    found.terms = supremum_tests(subject, top, options.intercept, watch)?;
    let Some(limits) = &found.limits else { return Ok(found) };
    let quantile = chi_square_quantile(options.level, 1.0);
    for (j, limit) in limits.weights[0].iter().enumerate() {
        let side = match limit {
            CoefficientLimit::PlusInfinity => 1.0,
            CoefficientLimit::MinusInfinity => -1.0,
            _ => continue,
        };
        let end = one_sided_limit(training, (j, side), (top, quantile), options.intercept, watch)?;
        found.one_sided.push((j, side, end.unwrap_or(f64::NAN)));
    }
    if let Some(boundary) = LimitingRows::of(training, &found.proof)? {
        let rows = Subject {
            training: boundary.training(),
            features: subject.features.clone(),
            terms: subject.terms.clone(),
            clusters: subject.clusters.as_ref().map(|c| boundary.rows.iter().map(|i| c[*i]).collect()),
        };
        let plain =
            InferenceOptions { tests: Vec::new(), rows: false, effects: false, collinearity: false, ..options.clone() };
        if let Fit::Model(mut limiting) = infer(&rows, &plain, watch)? {
            let is_finite = |line: &Coefficient| {
                let limit = match line.feature {
                    Some(j) => limits.weights[0].get(j),
                    None => limits.intercepts.first(),
                };
                limit == Some(&CoefficientLimit::Finite)
            };
            limiting.coefficients.retain(is_finite);
            limiting.rows.clear();
            found.limiting = Some(limiting).filter(|l| !l.coefficients.is_empty());
        }
    }
    Ok(found)
}

fn check_options(subject: &Subject<'_>, options: &InferenceOptions, classes: usize, whole: bool) -> Result<()> {
    let reduced = options.estimator != EstimatorKind::Likelihood;
    if reduced && classes > 2 {
        return Err(Error::usage(format!(
            "estimates of reduced bias are made for two classes, and there are {classes}"
        ))
        .help("ask about two classes at a time"));
    }
    let has_penalised_likelihood = !reduced || options.estimator == EstimatorKind::Firth;
    if options.interval == IntervalKind::Profile && !has_penalised_likelihood {
        return Err(Error::usage(
            "estimates of reduced bias are roots of equations, and no likelihood has a profile at them",
        )
        .help(words!["use ", Setting::Firth])
        .help(words!["leave ", Setting::Interval.is("profile"), " out"]));
    }
    let robust = options.covariance != CovarianceKind::Model;
    if !whole && !robust {
        return Err(Error::data(
            "weights that are not whole numbers are not frequencies: the likelihood has no scale, so that there are no \
             standard errors by the model, no likelihood ratio tests and no AIC",
        )
        .help(words![
            "use ",
            Setting::Covariance.any(["hc0", "hc1"]),
            ", which asks only how the residuals scatter"
        ]));
    }
    if options.covariance == CovarianceKind::Cluster && subject.clusters.is_none() {
        return Err(Error::usage("a covariance of clusters needs to know the clusters of the rows"));
    }
    if options.effects && classes > 2 {
        return Err(Error::usage(format!("average marginal effects are for two classes, and there are {classes}")));
    }
    if options.effects && subject.has_products() {
        return Err(Error::usage("a column that is also part of products has no effect of its own").help(words![
            "leave ",
            Setting::Basis,
            " out"
        ]));
    }
    Ok(())
}

impl InferenceRun<'_, '_> {
    fn finish(
        &self,
        fitted: Fitted,
        covariance: EstimateCovariance,
        whole_weights: bool,
        penalised: &Penalised<'_, '_>,
    ) -> Result<InferenceFit> {
        let (options, frame) = (self.options, self.frame);
        let firth = (options.estimator == EstimatorKind::Firth).then_some(penalised);
        let reduced = options.estimator != EstimatorKind::Likelihood;
        let has_likelihood = !reduced || firth.is_some();
        let by_likelihood = options.covariance == CovarianceKind::Model && whole_weights && has_likelihood;
        let functionals = frame.functionals();
        let quantile = chi_square_quantile(options.level, 1.0);
        let limits = match options.interval {
            IntervalKind::Wald => None,
            IntervalKind::Profile => Some(match firth {
                Some(penalised) => functionals
                    .iter()
                    .map(|f| penalised.limits(self.maximum, f, quantile, self.watch))
                    .collect::<Result<Vec<_>>>()?,
                None => profile_limits(self.likelihood, self.maximum, &functionals, quantile, self.watch)?,
            }),
        };
        let plan = TermPlan::of(self);
        let lines = frame.lines();
        let mut values: BTreeMap<Vec<(usize, usize)>, f64> = BTreeMap::new();
        if by_likelihood {
            let of_lines = lines.iter().filter_map(|(class, feature)| feature.map(|j| vec![(*class, j)]));
            values = of_lines.chain(plan.zeros()).map(|zero| (zero, self.maximum.value)).collect();
            let asked: Vec<Vec<(usize, usize)>> = values.keys().filter(|zero| !zero.is_empty()).cloned().collect();
            let restrictions: Vec<Restriction> = asked.iter().map(|zero| frame.zero(zero)).collect();
            values.extend(asked.into_iter().zip(self.restricted_values(&restrictions, firth)?));
        }
        let value = |zero: &[(usize, usize)]| values.get(zero).copied().unwrap_or(f64::NAN);
        let z_quantile = normal_quantile(0.5 + 0.5 * options.level);
        let mut coefficients = Vec::with_capacity(functionals.len());
        for (at, ((class, feature), functional)) in lines.into_iter().zip(&functionals).enumerate() {
            let estimate = dot(functional, &self.maximum.point);
            let error = covariance.variance(functional).sqrt();
            let z = estimate / error;
            let (low, high) = match &limits {
                Some(limits) => limits[at],
                None => (estimate - z_quantile * error, estimate + z_quantile * error),
            };
            let tested = feature.filter(|_| by_likelihood);
            let ratio_ln_p = tested.map(|j| chi_square_ln_tail(self.fall(value(&[(class, j)])), 1.0));
            let ln_p = normal_two_sided_ln(z);
            coefficients.push(Coefficient {
                class,
                feature,
                estimate,
                error,
                z,
                ln_p,
                low,
                high,
                ratio_ln_p,
                adjusted_ln_p: None,
            });
        }
        if let Some(adjustment) = options.adjust {
            adjust(&mut coefficients, adjustment);
        }
        let terms = match by_likelihood {
            true => plan.by_likelihood(value),
            false => plan.by_wald(self, &covariance)?,
        };
        let tests = hypothesis_tests(self, &covariance, by_likelihood, firth)?;
        let statistics = self.statistics(by_likelihood, firth, whole_weights)?;
        let effects = if options.effects { self.effects(&covariance, z_quantile)? } else { Vec::new() };
        let rows = match options.rows {
            true => row_influences(self.likelihood, self.maximum, options.seed, self.watch)?,
            false => Vec::new(),
        };
        let collinearity = match options.collinearity {
            true => Some(collinearity(self.likelihood, self.watch)?),
            false => None,
        };
        let corrected_intercept = match (firth, self.likelihood.has_intercept()) {
            (Some(_), true) => {
                let shift = intercept_correction(self.likelihood, &self.maximum.point, self.watch)?;
                coefficients.first().map(|intercept| intercept.estimate + shift)
            }
            _ => None,
        };
        let certificate = (!reduced).then_some(fitted.certificate);
        let notes = fitted.notes.into_iter().filter(|n| !reduced || !matches!(n, Note::Shared { .. })).collect();
        Ok(Fit::Model(Box::new(Inference {
            classes: self.subject.training.labels.names().to_vec(),
            features: self.subject.features.clone(),
            options: options.clone(),
            covariance: covariance.between(&functionals),
            inflation: plan.inflation(self, &covariance),
            collinearity,
            corrected_intercept,
            coefficients,
            left_out: frame.left_out().to_vec(),
            terms,
            tests,
            statistics,
            effects,
            rows,
            clusters: self.subject.clusters.as_ref().map(|c| c.iter().max().map_or(0, |m| m + 1)),
            certificate,
            notes,
            whole_weights,
            estimates: frame.estimates(self.maximum, covariance),
        })))
    }
}

/// Corrects the p values of all coefficients but the intercepts.
fn adjust(coefficients: &mut [Coefficient], adjustment: Adjustment) {
    let mut order: Vec<usize> = (0..coefficients.len()).filter(|i| coefficients[*i].feature.is_some()).collect();
    order.sort_by(|a, b| coefficients[*a].ln_p.total_cmp(&coefficients[*b].ln_p).then(a.cmp(b)));
    let m = order.len() as f64;
    match adjustment {
        Adjustment::Holm => {
            let mut largest = f64::NEG_INFINITY;
            for (rank, i) in order.iter().enumerate() {
                largest = largest.max(coefficients[*i].ln_p + (m - rank as f64).ln()).min(0.0);
                coefficients[*i].adjusted_ln_p = Some(largest);
            }
        }
        Adjustment::Bh => {
            let mut least = 0.0f64;
            for (rank, i) in order.iter().enumerate().rev() {
                least = least.min(coefficients[*i].ln_p + (m / (rank + 1) as f64).ln());
                coefficients[*i].adjusted_ln_p = Some(least);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_adjusted_as_by_r() {
        // p.adjust(c(0.01, 0.04, 0.03, 0.005, 0.6)) in R, "holm" and "BH".
        let cases =
            [(Adjustment::Holm, [0.04, 0.09, 0.09, 0.025, 0.6]), (Adjustment::Bh, [0.025, 0.05, 0.05, 0.025, 0.6])];
        for (adjustment, wanted) in cases {
            let mut lines: Vec<Coefficient> = [0.01f64, 0.04, 0.03, 0.005, 0.6]
                .iter()
                .enumerate()
                .map(|(j, p)| Coefficient {
                    class: 1,
                    feature: Some(j),
                    estimate: 0.0,
                    error: 1.0,
                    z: 0.0,
                    ln_p: p.ln(),
                    low: 0.0,
                    high: 0.0,
                    ratio_ln_p: None,
                    adjusted_ln_p: None,
                })
                .collect();
            adjust(&mut lines, adjustment);
            for (line, wanted) in lines.iter().zip(wanted) {
                assert!((line.adjusted_ln_p.unwrap().exp() - wanted).abs() < 1e-12);
            }
        }
    }
}

//! Inference where the maximum likelihood estimate does not exist.
//!
//! The likelihood has a supremum: rows that a direction puts strictly on their side reach probability one in the limit, and
//! those that stay on its boundary have a maximum of their own (Geyer, Electronic Journal of Statistics 3, 2009). So a
//! likelihood ratio has a meaning, where a standard error has none.

use super::subject::{Subject, maximum_likelihood};
use super::term_tests::TermTest;
use crate::certify::SeparationKind;
use crate::design::{
    DenseMatrix, Design, Offsets, Pass, PreparedDesign, Standardize, Training, Units, gather, select, summarise,
};
use crate::error::Result;
use crate::linalg::{Square, factor, gram_update};
use crate::model::{Fit, Method, NoOptimum, Outcome, Refusal};
use crate::table::Labels;
use crate::watch::Watch;

/// Pivots of standardised columns below this are rounding.
const SINGULAR: f64 = 1e-12;
/// Doublings until a coefficient that tends to infinity has passed its limit: 2^40 standard deviations of a column are
/// beyond every likelihood.
const DOUBLINGS: usize = 40;
/// Steps of the search between two values, each of which at least halves it in two.
const STEPS: usize = 100;
/// Where between two values the search goes on if a fit at the point it wanted did not converge.
const ELSEWHERE: [f64; 5] = [0.5, 0.25, 0.75, 0.1, 0.9];
/// How near the likelihood at a limit is to what it should be.
const NEAR: f64 = 1e-9;

/// The rows that stay on the boundary of every direction.
pub(super) struct LimitingRows {
    /// Which they are.
    pub rows: Vec<usize>,
    design: PreparedDesign,
    labels: Labels,
    weights: Option<Vec<f64>>,
    offsets: Option<(usize, Vec<f64>)>,
}

impl LimitingRows {
    /// The boundary of a proof; `None` where it has no rows, or rows of one class only.
    pub fn of(training: &Training<'_>, proof: &NoOptimum) -> Result<Option<LimitingRows>> {
        if proof.kind == SeparationKind::Complete || proof.boundary.is_empty() {
            return Ok(None);
        }
        let rows = proof.boundary.clone();
        let labels = training.labels.select(&rows);
        let weights: Option<Vec<f64>> = training.weights.map(|w| rows.iter().map(|i| w[*i]).collect());
        if labels.totals(weights.as_deref()).iter().filter(|c| **c > 0.0).count() < training.labels.n_classes() {
            return Ok(None);
        }
        let offsets = training.offsets.map(|o| {
            (o.columns, rows.iter().flat_map(|i| o.values[i * o.columns..(i + 1) * o.columns].to_vec()).collect())
        });
        Ok(Some(LimitingRows { design: gather(training.design, &rows)?, rows, labels, weights, offsets }))
    }

    /// As rows to learn from.
    pub fn training(&self) -> Training<'_> {
        let mut part = Training::new(self.design.as_design(), &self.labels);
        part.weights = self.weights.as_deref();
        part.offsets = self.offsets.as_ref().map(|(columns, values)| Offsets { columns: *columns, values });
        part
    }
}

/// The supremum of the log-likelihood of two classes, whether it is reached or not.
pub(super) fn supremum(training: &Training<'_>, intercept: bool, watch: &Watch) -> Result<f64> {
    match Method::Risk(maximum_likelihood(intercept)).fit(training, watch)? {
        Fit::Refused(Refusal::NoOptimum(proof)) => supremum_of(training, &proof, intercept, watch),
        found => Ok(reached(&found, training)),
    }
}

/// The log-likelihood of a fit that reached its maximum; not a number otherwise.
fn reached(found: &Fit, training: &Training<'_>) -> f64 {
    match found {
        Fit::Model(fitted) if fitted.outcome == Outcome::Converged => -fitted.objective.value * training.total_weight(),
        _ => f64::NAN,
    }
}

/// The same of rows that are known to have no maximum: that of the rows on the boundary; the others reach probability one.
pub(super) fn supremum_of(training: &Training<'_>, proof: &NoOptimum, intercept: bool, watch: &Watch) -> Result<f64> {
    let Some(boundary) = LimitingRows::of(training, proof)? else { return Ok(0.0) };
    let found = Method::Risk(maximum_likelihood(intercept)).fit(&boundary.training(), watch)?;
    Ok(reached(&found, &boundary.training()))
}

/// Some columns of the same rows.
fn part<'t>(training: &Training<'t>, design: &'t dyn Design) -> Training<'t> {
    Training { design, origins: &[], printed: &[], columns: None, ..*training }
}

/// Likelihood ratio tests of the terms by suprema; `top` is that of all columns.
pub(super) fn supremum_tests(subject: &Subject<'_>, top: f64, intercept: bool, watch: &Watch) -> Result<Vec<TermTest>> {
    let training = &subject.training;
    let all: Vec<usize> = (0..training.design.shape().cols).collect();
    let of_columns = |columns: &[usize]| -> Result<(f64, usize)> {
        let some = some_columns(training.design, columns, watch)?;
        let some = part(training, some.as_design());
        Ok((supremum(&some, intercept, watch)?, rank(&some, intercept, watch)?))
    };
    let whole = rank(training, intercept, watch)?;
    let mut tests = Vec::new();
    for term in &subject.terms {
        let above: Vec<usize> = term.containing.iter().flat_map(|t| subject.terms[*t].columns.clone()).collect();
        let beside: Vec<usize> = all.iter().copied().filter(|j| !above.contains(j)).collect();
        let without: Vec<usize> = beside.iter().copied().filter(|j| !term.columns.contains(j)).collect();
        let high = if above.is_empty() { (top, whole) } else { of_columns(&beside)? };
        let low = of_columns(&without)?;
        if high.1 > low.1 {
            tests.push(TermTest::ratio(term.name.clone(), high.1 - low.1, (2.0 * (high.0 - low.0)).max(0.0)));
        }
    }
    Ok(tests)
}

/// Some columns; none are a column of zeros, which has no weight and keeps the number of rows.
fn some_columns(design: &dyn Design, columns: &[usize], watch: &Watch) -> Result<PreparedDesign> {
    match columns.is_empty() {
        true => Ok(PreparedDesign::Dense(DenseMatrix::new(vec![0.0; design.shape().rows], 1)?)),
        false => select(design, columns, watch),
    }
}

/// Independent columns, the intercept among them.
fn rank(training: &Training<'_>, intercept: bool, watch: &Watch) -> Result<usize> {
    let design = training.design;
    let units = match intercept {
        true => summarise(design, training.weights, watch)?.units(Standardize::Yes),
        false => Units::identity(design.shape().cols),
    };
    let width = design.shape().cols;
    let likelihood = super::likelihood::LogLikelihood::new(*training, units, (0..width).collect(), false);
    let gram = Pass::new(design, likelihood.units()).reduce(
        watch,
        (0, &mut []),
        || (Square::zeros(width), Vec::new()),
        |(gram, tile), range, rows, _| {
            likelihood.fill(rows, range.len(), tile);
            gram_update(gram, tile, tile);
            Ok(())
        },
        |(a, _), (b, _)| a.add(&b),
    )?;
    Ok(factor(&gram.0, SINGULAR).rank() + usize::from(intercept))
}

/// The finite end of the profile interval of a coefficient that tends to infinity: where the likelihood, maximised over
/// everything else, is within `quantile/2` of the supremum `top`. `side` is 1 for +∞. `None` where it is not found.
pub(super) fn one_sided_limit(
    training: &Training<'_>,
    (column, side): (usize, f64),
    (top, quantile): (f64, f64),
    intercept: bool,
    watch: &Watch,
) -> Result<Option<f64>> {
    let cols = training.design.shape().cols;
    let others: Vec<usize> = (0..cols).filter(|j| *j != column).collect();
    let some = some_columns(training.design, &others, watch)?;
    let summary = summarise(training.design, training.weights, watch)?;
    let mut own = column_values(training.design, column, watch)?;
    if intercept {
        // The intercept takes up the mean; offsets of the size of a year would leave Newton's method far from its start.
        own.iter_mut().for_each(|x| *x -= summary.mean[column]);
    }
    let unit = if summary.variance[column] > 0.0 { summary.variance[column].sqrt().recip() } else { 1.0 };
    let target = top - 0.5 * quantile;
    // How far the profile at a value, in standard deviations towards infinity, is above the target.
    let above = |value: f64| -> Result<f64> {
        let moved = side * value * unit;
        let given = training.offsets;
        let offsets: Vec<f64> = (0..own.len())
            .map(|i| {
                let known = given.map_or(0.0, |o| match o.columns {
                    1 => o.values[i],
                    _ => o.values[2 * i + 1] - o.values[2 * i],
                });
                known + moved * own[i]
            })
            .collect();
        let mut fixed = part(training, some.as_design());
        fixed.offsets = Some(Offsets { columns: 1, values: &offsets });
        Ok(supremum(&fixed, intercept, watch)? - target)
    };
    let start = above(0.0)?;
    let (mut low, mut high) = ((0.0, start), (0.0, start));
    let mut step = 1.0;
    for _ in 0..DOUBLINGS {
        if low.1 < 0.0 && high.1 >= 0.0 {
            break;
        }
        let reached = if start < 0.0 { step } else { -step };
        let there = above(reached)?;
        // Where a fit did not converge nothing is known, and the next value may do.
        match start < 0.0 {
            _ if there.is_nan() => {}
            true => (low, high) = (high, (reached, there)),
            false => (low, high) = ((reached, there), low),
        }
        step *= 2.0;
    }
    if !(low.1 < 0.0 && high.1 >= 0.0) {
        return Ok(None);
    }
    // Illinois (modified regula falsi): an end that stays twice is weighted by half.
    let (mut low_weight, mut high_weight) = (1.0, 1.0);
    for _ in 0..STEPS {
        let (a, b) = (low.1 * low_weight, high.1 * high_weight);
        let mut middle = high.0 - b * (high.0 - low.0) / (b - a);
        let mut there = above(middle)?;
        for share in ELSEWHERE {
            if there.is_nan() {
                middle = low.0 + share * (high.0 - low.0);
                there = above(middle)?;
            }
        }
        if there.is_nan() {
            return Ok(None);
        }
        if there.abs() <= NEAR {
            return Ok(Some(side * middle * unit));
        }
        match there < 0.0 {
            true => (low, low_weight, high_weight) = ((middle, there), 1.0, 0.5 * high_weight),
            false => (high, high_weight, low_weight) = ((middle, there), 1.0, 0.5 * low_weight),
        }
    }
    Ok(Some(side * 0.5 * (low.0 + high.0) * unit))
}

/// One column.
fn column_values(design: &dyn Design, column: usize, watch: &Watch) -> Result<Vec<f64>> {
    let some = select(design, &[column], watch)?;
    let units = Units::identity(1);
    let mut out = vec![0.0; design.shape().rows];
    Pass::new(some.as_design(), &units).partials_of(1).reduce(
        watch,
        (1, &mut out),
        || (),
        |(), range, rows, out| {
            match rows {
                crate::design::Rows::Dense(values) => out.copy_from_slice(values),
                crate::design::Rows::Csr(sparse) => {
                    (0..range.len()).for_each(|i| out[i] = sparse.row(i).1.first().copied().unwrap_or(0.0));
                }
            }
            Ok(())
        },
        |(), ()| (),
    )?;
    Ok(out)
}

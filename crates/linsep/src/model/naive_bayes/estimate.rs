//! Statistics to parameters, column by column; see [`NaiveBayes`] for the formulas.

use super::{FamilyChoice, FamilyRun, Layout, NaiveBayes, SmoothedBy};
use crate::error::{Error, Result};
use crate::model::Divisor;
use crate::numeric::{ln_minus_digamma, vectorised};
use crate::stats::ClassColumns;
use crate::words::{Setting, Span, words};
use rayon::prelude::*;
use std::ops::Range;

/// Columns that one task takes: estimates of a column do not depend on others, so results do not depend on it. Chosen
/// (bench/constants.md).
pub(super) const CHUNK: usize = 1 << 14;
/// Newton steps for the shape of a gamma law at most; it takes a few.
const SHAPE_STEPS: usize = 50;

/// The parameters of every class and column.
pub(super) struct Estimates<'a> {
    pub(super) settings: &'a NaiveBayes,
    pub(super) layout: &'a Layout,
    pub(super) statistics: &'a ClassColumns,
    pub(super) names: &'a [String],
    pub(super) priors: Vec<f64>,
    /// Class by class: means, probabilities of 1, shares or shapes.
    pub(super) first: Vec<f64>,
    /// Class by class: variances, probabilities of 0 or rates; empty where no family has one.
    pub(super) second: Vec<f64>,
    /// Columns that are the same for all classes and rows, rising: they have no weight.
    pub(super) constant: Vec<usize>,
    /// Of the multinomial: the total of each class with its smoothing.
    pub(super) multinomial_totals: Vec<f64>,
    /// The largest overall variance of a Gaussian column, where that smooths all of them.
    largest_variance: Option<f64>,
}

/// The slices of every class for some columns.
type Pieces<'a> = Vec<&'a mut [f64]>;

impl<'a> Estimates<'a> {
    pub(super) fn new(
        settings: &'a NaiveBayes,
        layout: &'a Layout,
        statistics: &'a ClassColumns,
        names: &'a [String],
        priors: Vec<f64>,
    ) -> Result<Estimates<'a>> {
        let (classes, cols) = (names.len(), statistics.n_cols());
        let second = if layout.runs().iter().any(|r| r.family.has_second()) { classes * cols } else { 0 };
        let mut estimates = Estimates {
            settings,
            layout,
            statistics,
            names,
            priors,
            first: vec![0.0; classes * cols],
            second: vec![0.0; second],
            constant: Vec::new(),
            multinomial_totals: multinomial_totals(settings.smoothing, layout, statistics),
            largest_variance: match settings.smoothed_by {
                SmoothedBy::Own => None,
                SmoothedBy::Largest => Some(largest_variance(layout, statistics)),
            },
        };
        let (mut first, mut second) = (std::mem::take(&mut estimates.first), std::mem::take(&mut estimates.second));
        let firsts = pieces(&mut first, cols);
        let mut seconds = pieces(&mut second, cols);
        seconds.resize_with(firsts.len(), Vec::new);
        let chunks = firsts.into_par_iter().zip(seconds).enumerate();
        let found: Vec<Result<Vec<usize>>> = chunks
            .map(|(c, (mut first, mut second))| {
                let range = c * CHUNK..((c + 1) * CHUNK).min(cols);
                estimates.columns(range, &mut first, &mut second)
            })
            .collect();
        for constant in found {
            estimates.constant.extend(constant?);
        }
        (estimates.first, estimates.second) = (first, second);
        Ok(estimates)
    }

    /// The parameters of some columns; returns those that are constant.
    fn columns(&self, range: Range<usize>, first: &mut Pieces<'_>, second: &mut Pieces<'_>) -> Result<Vec<usize>> {
        let mut constant = Vec::new();
        let classes = self.names.len();
        let (mut a, mut b) = (vec![0.0; classes], vec![0.0; classes]);
        for run in runs_within(self.layout, &range) {
            let part = run.columns.start - range.start..run.columns.end - range.start;
            if run.family == FamilyChoice::Multinomial {
                self.multinomial(&run, first, &part, &mut constant)?;
                continue;
            }
            for j in run.columns.clone() {
                if self.column(run.family, j, &mut a, &mut b)? {
                    constant.push(j);
                }
                for k in 0..classes {
                    first[k][j - range.start] = a[k];
                    if let Some(second) = second.get_mut(k) {
                        second[j - range.start] = b[k];
                    }
                }
            }
        }
        Ok(constant)
    }

    /// The parameters of one column in every class, into `a` and `b`; true where the column is constant.
    fn column(&self, family: FamilyChoice, j: usize, a: &mut [f64], b: &mut [f64]) -> Result<bool> {
        match family {
            FamilyChoice::Gaussian | FamilyChoice::GaussianShared => self.gaussian(family, j, a, b),
            FamilyChoice::Bernoulli => self.successes(1.0, j, a, b),
            FamilyChoice::Binomial(trials) => self.successes(f64::from(trials), j, a, b),
            FamilyChoice::Poisson | FamilyChoice::Exponential | FamilyChoice::Geometric => self.means(family, j, a),
            FamilyChoice::Categorical => self.level(j, a),
            FamilyChoice::Gamma => self.gamma(j, a, b).map(|()| false),
            // Taken run by run.
            FamilyChoice::Multinomial => Ok(false),
        }
    }

    fn gaussian(&self, family: FamilyChoice, j: usize, mean: &mut [f64], variance: &mut [f64]) -> Result<bool> {
        let (statistics, weights) = (self.statistics, self.statistics.weights());
        let spread = spread(statistics, j);
        (0..mean.len()).for_each(|k| mean[k] = statistics.mean(k, j));
        if spread.overall <= rounding(spread.mean) {
            variance.fill(0.0);
            return Ok(true);
        }
        let added = self.added_variance(&spread);
        let total: f64 = weights.iter().sum();
        if family == FamilyChoice::GaussianShared {
            let divisor = self.divisor(total, weights.len() as f64);
            let own = if divisor > 0.0 { spread.within / divisor } else { 0.0 };
            let pooled = own + added;
            if pooled <= rounding(spread.mean) || (divisor <= 0.0 && spread.within > 0.0) {
                return Err(Error::data(words![
                    Span::Column(j),
                    " has no spread within any class to estimate its shared variance from",
                ])
                .help(words!["add some with ", Setting::VarianceSmoothing.is("1e-9")])
                .help("drop the column"));
            }
            variance.fill(pooled);
            return Ok(false);
        }
        for k in 0..mean.len() {
            let squares = statistics.squares(k, j);
            let divisor = self.divisor(weights[k], 1.0);
            let own = if divisor > 0.0 { squares / divisor } else { 0.0 };
            variance[k] = own + added;
            if variance[k] <= rounding(mean[k]) || (divisor <= 0.0 && squares > 0.0) {
                let fact = match divisor > 0.0 {
                    true if squares == 0.0 => format!(" is {} in every row", mean[k]),
                    true => format!(" varies by no more than the rounding of {}", mean[k]),
                    false => format!(" has no variance: the class has the weight {}", weights[k]),
                };
                return Err(Error::data(words!["within ", self.class(k), " ", Span::Column(j), fact])
                    .help(words!["share the variance among the classes with ", Setting::Families.is("gaussian-shared")])
                    .help(words!["add some with ", Setting::VarianceSmoothing.is("1e-9")])
                    .help("drop the column"));
            }
        }
        Ok(false)
    }

    /// What smoothing adds to the variances of a column.
    pub(super) fn added_variance(&self, spread: &ColumnSpread) -> f64 {
        self.settings.variance_smoothing * self.largest_variance.unwrap_or(spread.overall)
    }

    pub(super) fn divisor(&self, weight: f64, means: f64) -> f64 {
        match self.settings.divisor {
            Divisor::Mle => weight,
            Divisor::Unbiased => weight - means,
        }
    }

    /// `(Σx+α)/(n·N+2α)` and what is missing to one.
    fn successes(&self, trials: f64, j: usize, p: &mut [f64], q: &mut [f64]) -> Result<bool> {
        let (weights, alpha) = (self.statistics.weights(), self.settings.smoothing);
        for k in 0..p.len() {
            let (hits, misses) = self.hits_and_misses(trials, k, j);
            let all = weights[k] * trials + 2.0 * alpha;
            (p[k], q[k]) = (hits / all, misses / all);
        }
        let constant = p.iter().all(|p| *p == 0.0) || q.iter().all(|q| *q == 0.0);
        if constant {
            return Ok(true);
        }
        for k in 0..p.len() {
            if p[k] == 0.0 {
                return Err(self.never(k, j, if trials == 1.0 { "1" } else { "a success" }));
            }
            if q[k] == 0.0 {
                return Err(self.never(k, j, if trials == 1.0 { "0" } else { "a failure" }));
            }
        }
        Ok(false)
    }

    /// Successes and failures of a class, each with its smoothing.
    pub(super) fn hits_and_misses(&self, trials: f64, k: usize, j: usize) -> (f64, f64) {
        let (hits, alpha) = (self.statistics.total(k, j), self.settings.smoothing);
        (hits + alpha, (self.statistics.weights()[k] * trials - hits).max(0.0) + alpha)
    }

    /// `(Σx+α·m̄)/(n+α)` with the mean m̄ of all rows.
    fn means(&self, family: FamilyChoice, j: usize, mean: &mut [f64]) -> Result<bool> {
        let all = self.overall_mean(j);
        (0..mean.len()).for_each(|k| mean[k] = self.smoothed_mean(k, j, all));
        if all == 0.0 {
            return Ok(true);
        }
        match mean.iter().position(|m| *m == 0.0) {
            Some(k) => Err(self.never(k, j, if family == FamilyChoice::Exponential { "a time" } else { "a count" })),
            None => Ok(false),
        }
    }

    pub(super) fn overall_mean(&self, j: usize) -> f64 {
        let weights = self.statistics.weights();
        (0..weights.len()).map(|k| self.statistics.total(k, j)).sum::<f64>() / weights.iter().sum::<f64>()
    }

    pub(super) fn smoothed_mean(&self, k: usize, j: usize, overall: f64) -> f64 {
        let alpha = self.settings.smoothing;
        (self.statistics.total(k, j) + alpha * overall) / (self.statistics.weights()[k] + alpha)
    }

    /// `(N_l+α)/(n+αL)`.
    fn level(&self, j: usize, share: &mut [f64]) -> Result<bool> {
        let levels = self.layout.runs().iter().find(|r| r.columns.contains(&j)).map_or(1, |r| r.columns.len());
        let alpha = self.settings.smoothing;
        for (k, share) in share.iter_mut().enumerate() {
            let all = self.statistics.weights()[k] + alpha * levels as f64;
            *share = (self.statistics.total(k, j) + alpha) / all;
        }
        if share.iter().all(|s| *s == 0.0) {
            return Ok(true);
        }
        match share.iter().position(|s| *s == 0.0) {
            Some(k) => Err(self.never(k, j, "a row")),
            None => Ok(false),
        }
    }

    /// `(N_j+α)/(N+αd)` for a part of a run.
    fn multinomial(
        &self,
        run: &FamilyRun,
        first: &mut Pieces<'_>,
        part: &Range<usize>,
        constant: &mut Vec<usize>,
    ) -> Result<()> {
        let alpha = self.settings.smoothing;
        for (k, first) in first.iter_mut().enumerate() {
            let total = self.multinomial_totals[k];
            if total == 0.0 {
                return Err(Error::data(words![self.class(k), " has no counts in the multinomial columns"])
                    .help(words!["smooth them with ", Setting::Smoothing.is("1")]));
            }
            shares(&self.statistics.totals(k)[run.columns.clone()], alpha, total, &mut first[part.clone()]);
        }
        if alpha > 0.0 {
            return Ok(());
        }
        for (at, j) in part.clone().zip(run.columns.clone()) {
            if first.iter().all(|f| f[at] == 0.0) {
                constant.push(j);
            } else if let Some(k) = first.iter().position(|f| f[at] == 0.0) {
                return Err(self.never(k, j, "a count"));
            }
        }
        Ok(())
    }

    /// Shape and rate of maximum likelihood: `ln a − ψ(a) = ln x̄ − mean of ln x`, by Newton's method in ln a.
    fn gamma(&self, j: usize, shape: &mut [f64], rate: &mut [f64]) -> Result<()> {
        for k in 0..shape.len() {
            let (mean, spread) = self.gamma_spread(k, j);
            // A difference of two means of logarithms, each with an error of some units: below this the shape, its inverse, has
            // fewer than six digits.
            if !(spread > 16e6 * f64::EPSILON * (1.0 + mean.ln().abs())) {
                let what = words![
                    "within ",
                    self.class(k),
                    " ",
                    Span::Column(j),
                    " has too little spread beside its size: its shape has no estimate of six digits"
                ];
                return Err(Error::data(what)
                    .help(words!["give the column another ", Setting::Families])
                    .help("drop it"));
            }
            shape[k] = gamma_shape(spread);
            rate[k] = shape[k] / mean;
        }
        Ok(())
    }

    /// The mean, and how far the mean logarithm is below its logarithm.
    pub(super) fn gamma_spread(&self, k: usize, j: usize) -> (f64, f64) {
        let weight = self.statistics.weights()[k];
        let mean = self.statistics.total(k, j) / weight;
        (mean, mean.ln() - self.statistics.logarithms(k, j) / weight)
    }

    /// A zero probability would outweigh all other columns.
    fn never(&self, k: usize, j: usize, what: &str) -> Error {
        let never = format!(" never has {what} in ");
        Error::data(words![self.class(k), never, Span::Column(j), ": its logarithm is −∞"])
            .help(words!["smooth the shares with ", Setting::Smoothing.is("1")])
            .help("drop the column")
    }

    fn class(&self, k: usize) -> Span {
        Span::Class(self.names[k].clone())
    }
}

/// The parts of some runs that lie in a range of columns.
pub(super) fn runs_within(layout: &Layout, range: &Range<usize>) -> Vec<FamilyRun> {
    let opening = layout.runs().partition_point(|r| r.columns.end <= range.start);
    let within = layout.runs()[opening..].iter().take_while(|r| r.columns.start < range.end);
    let cut = |r: &FamilyRun| r.columns.start.max(range.start)..r.columns.end.min(range.end);
    within.map(|r| FamilyRun { columns: cut(r), family: r.family }).collect()
}

/// Class-major values cut into chunks of columns: for each chunk the slices of all classes.
pub(super) fn pieces(values: &mut [f64], cols: usize) -> Vec<Pieces<'_>> {
    if values.is_empty() {
        return Vec::new();
    }
    let mut pieces: Vec<Pieces<'_>> = (0..cols.div_ceil(CHUNK)).map(|_| Vec::new()).collect();
    for class in values.chunks_exact_mut(cols) {
        class.chunks_mut(CHUNK).zip(&mut pieces).for_each(|(chunk, piece)| piece.push(chunk));
    }
    pieces
}

fn multinomial_totals(alpha: f64, layout: &Layout, statistics: &ClassColumns) -> Vec<f64> {
    let columns = layout.count(FamilyChoice::Multinomial) as f64;
    if columns == 0.0 {
        return Vec::new();
    }
    let of_class = |k: usize| {
        let mut counts = 0.0;
        for run in layout.runs().iter().filter(|r| r.family == FamilyChoice::Multinomial) {
            add_up(&statistics.totals(k)[run.columns.clone()], &mut counts);
        }
        counts + alpha * columns
    };
    (0..statistics.weights().len()).map(of_class).collect()
}

vectorised! {
    fn add_up(counts: &[f64], total: &mut f64) {
        let mut lanes = [0.0f64; 8];
        let (whole, rest) = counts.as_chunks::<8>();
        for chunk in whole {
            lanes.iter_mut().zip(chunk).for_each(|(lane, count)| *lane += count);
        }
        *total += lanes.iter().chain(rest).sum::<f64>();
    }

    fn shares(counts: &[f64], added: f64, total: f64, out: &mut [f64]) {
        for (count, out) in counts.iter().zip(out) {
            *out = (count + added) / total;
        }
    }
}

/// Spread of a Gaussian column over all rows.
pub(super) struct ColumnSpread {
    /// Mean of all rows.
    pub(super) mean: f64,
    /// Squares about the class means.
    pub(super) within: f64,
    /// Variance about the mean of all rows, divided by Σs.
    pub(super) overall: f64,
}

/// The largest overall variance of a Gaussian column.
fn largest_variance(layout: &Layout, statistics: &ClassColumns) -> f64 {
    let gaussian = layout.runs().iter().filter(|r| r.family.is_gaussian());
    gaussian.flat_map(|r| r.columns.clone()).map(|j| spread(statistics, j).overall).fold(0.0, f64::max)
}

pub(super) fn spread(statistics: &ClassColumns, j: usize) -> ColumnSpread {
    let weights = statistics.weights();
    let total: f64 = weights.iter().sum();
    // Through differences from the first class, so that a large common offset costs no digits.
    let base = statistics.mean(0, j);
    let classes = 0..weights.len();
    let mean = base + classes.clone().map(|k| weights[k] / total * (statistics.mean(k, j) - base)).sum::<f64>();
    let within: f64 = classes.clone().map(|k| statistics.squares(k, j)).sum();
    let between: f64 = classes.map(|k| weights[k] * (statistics.mean(k, j) - mean).powi(2)).sum();
    ColumnSpread { mean, within, overall: (within + between) / total }
}

/// The rounding error of the variance of a constant: the square of a few units in the last place of its value.
fn rounding(value: f64) -> f64 {
    (4.0 * f64::EPSILON * value).powi(2)
}

/// The shape a with `ln a − ψ(a) = spread`, to rounding.
///
/// Newton's method in ln a, from the approximation of Minka (2002): the function is convex and decreasing in ln a, so it
/// converges from there in a few steps.
fn gamma_shape(spread: f64) -> f64 {
    let mut shape = (3.0 - spread + ((spread - 3.0).powi(2) + 24.0 * spread).sqrt()) / (12.0 * spread);
    for _ in 0..SHAPE_STEPS {
        let (value, slope) = ln_minus_digamma(shape);
        let step = (value - spread) / (shape * slope);
        let next = shape * (-step).exp();
        if !((next - shape).abs() > f64::EPSILON * shape) {
            break;
        }
        shape = next;
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_solves_its_equation() {
        for shape in [1e-3, 0.05, 0.5, 1.0, 3.7, 40.0, 1e4, 1e8] {
            let found = gamma_shape(ln_minus_digamma(shape).0);
            assert!((found - shape).abs() <= 1e-13 * shape, "{shape}: {found}");
        }
    }
}

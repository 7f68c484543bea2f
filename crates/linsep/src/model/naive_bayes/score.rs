//! Parameters to discriminants: `log[π_k p(x|k)]` less the part that all classes share.
//!
//! Each column adds the logarithm of its density over a reference density of the same family: that of the first of two
//! classes, so that the one score is the log-odds, or that of the average class. The formulas are those of the ratio, so
//! nearly equal classes lose no digits.

use super::FamilyChoice;
use super::estimate::{CHUNK, Estimates, runs_within};
use crate::discriminant::{Discriminant, Generalised, Linear, LogTerm};
use crate::error::Result;
use crate::numeric::{CompensatedSum, ln, ln_gamma, vectorised};
use rayon::prelude::*;
use std::ops::Range;

/// What a column adds to a score: `linear·(x−c) + square·(x−c)² + logarithm·ln x + constant`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Contribution {
    pub(super) linear: f64,
    pub(super) square: f64,
    pub(super) logarithm: f64,
    pub(super) constant: f64,
}

/// The log-ratio of two densities of a family with parameters `(a, b)` and `(c, d)`, about a centre.
pub(super) fn log_ratio(family: FamilyChoice, (a, b): (f64, f64), (c, d): (f64, f64), centre: f64) -> Contribution {
    let linear = |linear: f64, constant: f64| Contribution { linear, constant, ..Contribution::default() };
    match family {
        FamilyChoice::Gaussian => {
            let (u, v) = (a - centre, c - centre);
            Contribution {
                linear: u / b - v / d,
                // Divided one after the other: a product of two variances may underflow.
                square: 0.5 * (b - d) / b / d,
                constant: -0.5 * ((b / d).ln() + u * u / b - v * v / d),
                logarithm: 0.0,
            }
        }
        FamilyChoice::GaussianShared => {
            let w = (a - c) / b;
            linear(w, -0.5 * w * ((a - centre) + (c - centre)))
        }
        FamilyChoice::Bernoulli => linear((a * d / (b * c)).ln(), (b / d).ln()),
        FamilyChoice::Binomial(trials) => {
            let failures = ln_quotient(b, d);
            linear(ln_quotient(a, c) - failures, f64::from(trials) * failures)
        }
        FamilyChoice::Poisson => linear(ln_quotient(a, c), c - a),
        FamilyChoice::Multinomial | FamilyChoice::Categorical => linear((a / c).ln(), 0.0),
        FamilyChoice::Exponential => linear((a - c) / a / c, (c / a).ln()),
        FamilyChoice::Geometric => {
            // a(1+c) / (c(1+a)) − 1, without the cancellation: it is small for large means, and large values multiply it.
            let excess = (a - c) / c / (1.0 + a);
            let weight = if excess.abs() < 0.5 { excess.ln_1p() } else { (a / c * ((1.0 + c) / (1.0 + a))).ln() };
            linear(weight, ((1.0 + c) / (1.0 + a)).ln())
        }
        FamilyChoice::Gamma => Contribution {
            linear: d - b,
            logarithm: a - c,
            constant: a * b.ln() - c * d.ln() - ln_gamma(a) + ln_gamma(c) - (b - d) * centre,
            square: 0.0,
        },
    }
}

/// `ln(a/c)` to full relative accuracy, also for nearly equal numbers: a count multiplies it.
fn ln_quotient(a: f64, c: f64) -> f64 {
    let excess = (a - c) / c;
    if excess.abs() < 0.5 { excess.ln_1p() } else { (a / c).ln() }
}

vectorised! {
    fn log_ratios(numerator: &[f64], denominator: &[f64], out: &mut [f64]) {
        for ((n, d), out) in numerator.iter().zip(denominator).zip(out) {
            *out = ln(n / d);
        }
    }
}

/// The parameters that a score is relative to.
struct Reference {
    first: Vec<f64>,
    second: Vec<f64>,
}

/// The contribution of a chunk of columns to a score besides its weights.
struct ChunkSum {
    constant: CompensatedSum,
    logarithms: Vec<(usize, f64)>,
}

impl Estimates<'_> {
    /// The discriminants: linear where every family is.
    pub(super) fn discriminant(&self) -> Result<Discriminant> {
        let (classes, cols) = (self.names.len(), self.statistics.n_cols());
        let scores = if classes == 2 { 1 } else { classes };
        let centre = self.centre();
        let average = (classes > 2).then(|| self.average(&centre));
        let quadratic = !self.layout.is_linear();
        let mut weights = vec![0.0; scores * cols];
        let mut square = vec![0.0; if quadratic { scores * cols } else { 0 }];
        let mut intercept = Vec::with_capacity(scores);
        let mut logarithms: Vec<LogTerm> = Vec::new();
        for score in 0..scores {
            let class = if classes == 2 { 1 } else { score };
            let reference = match &average {
                None => (&self.first[..cols], self.second.get(..cols).unwrap_or(&[])),
                Some(average) => (&average.first[..], &average.second[..]),
            };
            let of_score = score * cols..(score + 1) * cols;
            let lines = weights[of_score.clone()].par_chunks_mut(CHUNK);
            let mut squares: Vec<&mut [f64]> = match quadratic {
                true => square[of_score].chunks_mut(CHUNK).collect(),
                false => Vec::new(),
            };
            squares.resize_with(lines.len(), Default::default);
            let sums: Vec<ChunkSum> = lines
                .zip(squares)
                .enumerate()
                .map(|(c, (line, square))| {
                    let range = c * CHUNK..c * CHUNK + line.len();
                    self.score_chunk(class, reference, &centre, range, line, square)
                })
                .collect();
            let mut constant = CompensatedSum::default();
            constant.add(if classes == 2 { self.log_prior_odds(1) } else { self.priors[class].ln() });
            sums.iter().for_each(|s| constant.merge(s.constant));
            intercept.push(constant.value());
            for (at, (column, weight)) in sums.iter().flat_map(|s| &s.logarithms).enumerate() {
                if score == 0 {
                    logarithms.push(LogTerm { column: *column, weights: vec![0.0; scores] });
                }
                logarithms[at].weights[score] = *weight;
            }
        }
        Ok(match quadratic {
            false => Discriminant::Linear(Linear::new(weights, centre, intercept)?),
            true => Discriminant::Generalised(Generalised::new(centre, intercept, weights, square, logarithms)?),
        })
    }

    /// `ln(π_k/π₀)`, also where the quotient is too large for a number.
    pub(super) fn log_prior_odds(&self, k: usize) -> f64 {
        let (own, first) = (self.priors[k], self.priors[0]);
        let odds = own / first;
        if odds.is_normal() { odds.ln() } else { own.ln() - first.ln() }
    }

    fn score_chunk(
        &self,
        class: usize,
        (reference_first, reference_second): (&[f64], &[f64]),
        centre: &[f64],
        range: Range<usize>,
        line: &mut [f64],
        square: &mut [f64],
    ) -> ChunkSum {
        let cols = self.statistics.n_cols();
        let mut sum = ChunkSum { constant: CompensatedSum::default(), logarithms: Vec::new() };
        for run in runs_within(self.layout, &range) {
            let part = run.columns.start - range.start..run.columns.end - range.start;
            if run.family == FamilyChoice::Multinomial {
                let own = &self.first[class * cols..(class + 1) * cols][run.columns.clone()];
                log_ratios(own, &reference_first[run.columns.clone()], &mut line[part]);
            } else {
                for (at, j) in part.zip(run.columns.clone()) {
                    let reference = (reference_first[j], reference_second.get(j).copied().unwrap_or(0.0));
                    let own = (self.first[class * cols + j], self.second.get(class * cols + j).copied().unwrap_or(0.0));
                    if self.constant.binary_search(&j).is_ok() {
                        continue;
                    }
                    let added = log_ratio(run.family, own, reference, centre[j]);
                    line[at] = added.linear;
                    sum.constant.add(added.constant);
                    if !square.is_empty() {
                        square[at] = added.square;
                    }
                    if run.family == FamilyChoice::Gamma {
                        sum.logarithms.push((j, added.logarithm));
                    }
                }
            }
        }
        let from = self.constant.partition_point(|j| *j < range.start);
        let to = self.constant.partition_point(|j| *j < range.end);
        self.constant[from..to].iter().for_each(|j| line[j - range.start] = 0.0);
        sum
    }

    /// Between the class means for Gaussian columns, zero for all others.
    fn centre(&self) -> Vec<f64> {
        let mut centre = vec![0.0; self.statistics.n_cols()];
        for run in self.layout.runs().iter().filter(|r| r.family.is_gaussian()) {
            for j in run.columns.clone() {
                centre[j] = average_about_first(|k| self.statistics.mean(k, j), self.names.len());
            }
        }
        centre
    }

    /// The average class; Gaussian columns have their centre as its mean.
    fn average(&self, centre: &[f64]) -> Reference {
        let (classes, cols) = (self.names.len(), self.statistics.n_cols());
        let mut first = vec![0.0; cols];
        let mut second = vec![0.0; if self.second.is_empty() { 0 } else { cols }];
        for run in self.layout.runs() {
            for j in run.columns.clone() {
                first[j] = match run.family.is_gaussian() {
                    true => centre[j],
                    false => average_about_first(|k| self.first[k * cols + j], classes),
                };
                if run.family.has_second() {
                    second[j] = average_about_first(|k| self.second[k * cols + j], classes);
                }
            }
        }
        Reference { first, second }
    }
}

/// The mean of some numbers as the first plus the mean difference: equal numbers give their value, bit for bit.
fn average_about_first(value: impl Fn(usize) -> f64, n: usize) -> f64 {
    let first = value(0);
    first + (1..n).map(|k| value(k) - first).sum::<f64>() / n as f64
}

//! The area under the ROC curve: the chance that a row of the class gets a higher score than a row of another class,
//! ties counting half.
//!
//! Variance: DeLong, DeLong and Clarke-Pearson, Biometrics 44 (1988), through the placement of each row among the rows of
//! the other side, found by one sort (Sun and Xu, IEEE Signal Processing Letters 21, 2014).

use super::confusion::over_classes;
use super::interval::{IntervalPart, combine, is_rounding, logit, wilson};
use super::{Estimate, Metric, Scored};
use rayon::prelude::*;

/// AUC of the last class for two classes, mean of the one-vs-rest AUCs of the occurring classes for more.
pub(super) fn auc(scored: &Scored<'_>, probabilities: &[f64], class_weights: &[f64]) -> Metric {
    let n_classes = scored.classes.len();
    let total: f64 = scored.total_weight();
    let occurring: Vec<usize> = (0..n_classes).filter(|c| class_weights[*c] > 0.0).collect();
    if let [only] = occurring[..] {
        return Metric::undefined(format!("every row is of class `{}`; an AUC needs two", scored.classes[only]));
    }
    let judged = if n_classes == 2 { vec![1] } else { occurring };
    let mut mean = MacroMean::new(scored.truth.len());
    for class in &judged {
        // Not `total − own`: a sum of its own keeps integer and fractional weights alike free of cancellation.
        let rest = (0..n_classes).filter(|c| c != class).map(|c| class_weights[c]).sum();
        let ranked = |row: usize| rank(&probabilities[row * n_classes..(row + 1) * n_classes], *class);
        mean.add(&Ranking::new(scored, ranked, *class, class_weights[*class], rest));
    }
    let (value, interval, how) = mean.finish(scored);
    let what = match n_classes {
        2 => format!("score: probability of `{}`, ties count half", scored.classes[1]),
        _ => format!("mean one-vs-rest AUC over {}, ties count half", over_classes(judged.len(), n_classes)),
    };
    Metric::Estimated(Estimate::new(value, Some(interval), format!("{what}; {how}")).needs_two(total))
}

/// A number that grows with the probability of a class among all of a row, and as long as the others have digits: where a
/// class is nearly certain its probability is a one, and what is left for the others tells such rows apart.
pub(crate) fn rank(probabilities: &[f64], class: usize) -> f64 {
    /// Beyond this a probability keeps fewer than seven digits of what it leaves. Before, it is taken as it is, since a sum over the
    /// other classes rounds and would break ties.
    const NEARLY_CERTAIN: f64 = 1.0 - 1e-9;
    let own = probabilities[class];
    if own < NEARLY_CERTAIN {
        return own;
    }
    let others: f64 = probabilities.iter().enumerate().filter(|(k, _)| *k != class).map(|(_, p)| p).sum();
    // Beyond every probability that is taken as it is.
    others.min(0.5).recip()
}

/// The rows in order of one class's score, and what follows for its AUC.
pub(super) struct Ranking<'a> {
    scored: &'a Scored<'a>,
    class: usize,
    /// Weight of the rows of the class, and of all others.
    own: f64,
    rest: f64,
    /// A number that sorts like the score, and the row.
    order: Vec<(u64, usize)>,
    pub value: f64,
    /// The placements of neither side vary, or a side is too small for a variance: DeLong's variance is undefined.
    pub degenerate: bool,
}

/// Rows with one score, and the placements they share.
pub(super) struct TiedRows<'a> {
    pub rows: &'a [(u64, usize)],
    /// Share of the other rows below a row of the class here.
    own_placement: f64,
    /// Share of the rows of the class above another row here.
    rest_placement: f64,
    /// Weight here of the class and of the others.
    pub own: f64,
    pub rest: f64,
}

/// Whole numbers in the order of doubles; the two zeros are one.
fn in_order(score: f64) -> u64 {
    let bits = (score + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

impl<'a> Ranking<'a> {
    /// `own` and `rest` are the weights of the class and of the others.
    pub fn new(scored: &'a Scored<'a>, score: impl Fn(usize) -> f64, class: usize, own: f64, rest: f64) -> Ranking<'a> {
        // The row in the key makes the order unique, whatever the number of threads.
        let key = |row: usize| (in_order(score(row)), row);
        let mut order: Vec<(u64, usize)> =
            (0..scored.truth.len()).filter(|row| scored.weight(*row) > 0.0).map(key).collect();
        order.par_sort_unstable();
        let mut ranking = Ranking { scored, class, own, rest, order, value: 0.0, degenerate: true };
        let mut sum = 0.0;
        let (mut own_range, mut rest_range) = (Range::new(), Range::new());
        ranking.for_each_tie(|tie| {
            sum += tie.own * tie.own_placement;
            if tie.own > 0.0 {
                own_range.add(tie.own_placement);
            }
            if tie.rest > 0.0 {
                rest_range.add(tie.rest_placement);
            }
        });
        ranking.value = (sum / own).clamp(0.0, 1.0);
        ranking.degenerate = own < 2.0 || rest < 2.0 || (own_range.is_point() && rest_range.is_point());
        ranking
    }

    fn is_own(&self, row: usize) -> bool {
        self.scored.truth[row].index() == self.class
    }

    /// From the lowest score up.
    pub fn for_each_tie(&self, mut visit: impl FnMut(&TiedRows<'_>)) {
        let (mut own_below, mut rest_below) = (0.0, 0.0);
        for rows in self.order.chunk_by(|a, b| a.0 == b.0) {
            let (mut own, mut rest) = (0.0, 0.0);
            for (_, row) in rows {
                *(if self.is_own(*row) { &mut own } else { &mut rest }) += self.scored.weight(*row);
            }
            visit(&TiedRows {
                rows,
                own_placement: (rest_below + 0.5 * rest) / self.rest,
                rest_placement: (self.own - own_below - 0.5 * own) / self.own,
                own,
                rest,
            });
            own_below += own;
            rest_below += rest;
        }
    }

    /// Adds to each row its influence on the AUC: how far its placement is from the mean, over the weight of its side.
    /// The factors `√(n / (n − 1))` make the weighted sum of squares DeLong's variance exactly.
    pub fn add_influence(&self, influence: &mut [f64]) {
        let scale = |n: f64| (n / (n - 1.0)).sqrt() / n;
        let (own_scale, rest_scale) = (scale(self.own), scale(self.rest));
        self.for_each_tie(|tie| {
            for (_, row) in tie.rows {
                influence[*row] += match self.is_own(*row) {
                    true => (tie.own_placement - self.value) * own_scale,
                    false => (tie.rest_placement - self.value) * rest_scale,
                };
            }
        });
    }
}

/// The mean of several AUCs on the same rows. Summing influences row by row brings in all covariances.
struct MacroMean {
    influence: Vec<f64>,
    regular: Vec<f64>,
    degenerate: Vec<(f64, (f64, f64))>,
}

impl MacroMean {
    fn new(rows: usize) -> MacroMean {
        MacroMean { influence: vec![0.0; rows], regular: Vec::new(), degenerate: Vec::new() }
    }

    /// For a degenerate AUC, `Var ≤ A (1 − A) / min(n₁, n₂)` whatever the laws of the scores (the AUC is a mean over
    /// pairings of min(n₁, n₂) independent pairs each; Birnbaum and Klose, Ann. Math. Stat. 28, 1957), and solving
    /// `|Â − A| ≤ z √bound` for A is Wilson's interval with min(n₁, n₂) trials.
    fn add(&mut self, ranking: &Ranking<'_>) {
        if ranking.degenerate {
            let trials = ranking.own.min(ranking.rest);
            self.degenerate.push((ranking.value, wilson(ranking.value * trials, trials)));
        } else {
            ranking.add_influence(&mut self.influence);
            self.regular.push(ranking.value);
        }
    }

    /// Mean, interval, and how it was found. A degenerate AUC has no estimated covariance with the others, so it enters
    /// as a part of its own.
    fn finish(self, scored: &Scored<'_>) -> (f64, (f64, f64), String) {
        let judged = (self.regular.len() + self.degenerate.len()) as f64;
        let mut parts: Vec<IntervalPart> = Vec::new();
        let mut how: Vec<String> = Vec::new();
        if !self.regular.is_empty() {
            let count = self.regular.len() as f64;
            let variance: f64 = self.influence.iter().enumerate().map(|(row, x)| scored.weight(row) * x * x).sum();
            let value = self.regular.iter().sum::<f64>() / count;
            let interval = logit(value, variance.sqrt() / count);
            parts.push(IntervalPart { share: count / judged, value, interval });
            how.push("DeLong variance, logit scale".to_owned());
        }
        if !self.degenerate.is_empty() {
            let part = |(value, interval): &(f64, (f64, f64))| IntervalPart {
                share: 1.0 / judged,
                value: *value,
                interval: *interval,
            };
            parts.extend(self.degenerate.iter().map(part));
            let which = match self.degenerate.len() {
                _ if judged == 1.0 => String::new(),
                n => format!(" for {n} of {judged}"),
            };
            how.push(format!("DeLong's variance being 0 or undefined{which}, Wilson with the smaller side's size"));
        }
        let (value, (low, high)) = combine(&parts);
        (value, (low.max(0.0), high.min(1.0)), how.join("; "))
    }
}

/// Least and greatest of the placements seen.
struct Range(f64, f64);

impl Range {
    fn new() -> Range {
        Range(f64::INFINITY, f64::NEG_INFINITY)
    }

    fn add(&mut self, x: f64) {
        *self = Range(self.0.min(x), self.1.max(x));
    }

    fn is_point(&self) -> bool {
        is_rounding(self.0, self.1)
    }
}

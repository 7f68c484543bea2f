//! Calibration: the rows in bins of their probability, and figures that follow from the bins.

use super::{LeftOut, Scored};
use crate::numeric::chi_square_ln_tail;

/// Bins of equal width, and groups of about equal weight: the customary numbers.
const BINS: usize = 10;

/// A bin of probabilities, with the predicted and the observed frequency.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ReliabilityBin {
    /// Lower end; the bin does not contain it unless it is 0.
    pub low: f64,
    /// Upper end, contained.
    pub high: f64,
    /// Weight of the rows.
    pub weight: f64,
    /// Their mean probability.
    pub promised: f64,
    /// Share that came true.
    pub came: f64,
}

/// `Brier = reliability − resolution + uncertainty + within`, over the bins (A. H. Murphy, J. Applied Meteorology 12, 1973;
/// the last term is what bins hide, D. B. Stephenson and others, Weather and Forecasting 23, 2008).
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BrierParts {
    /// The score of the probabilities judged here.
    pub brier: f64,
    /// Mean squared difference of predicted and observed frequencies: 0 is calibrated.
    pub reliability: f64,
    /// Mean squared distance of the bins' shares from the overall one: more is better.
    pub resolution: f64,
    /// Variance of the outcome.
    pub uncertainty: f64,
    /// Variation of probabilities within bins.
    pub within: f64,
}

/// The test of Hosmer and Lemeshow: groups of rows by their probability, and Pearson's statistic over them.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct HosmerLemeshow {
    /// Number of groups; fewer than ten where probabilities are tied.
    pub groups: usize,
    /// `Σ (O − E)²/(E (1 − E/n))`.
    pub statistic: f64,
    /// Degrees of freedom: the groups on rows that the fit never saw, two fewer on its own rows.
    pub df: f64,
    /// Probability of such a statistic, if the probabilities are right.
    pub p: f64,
    /// Its natural logarithm.
    pub ln_p: f64,
}

/// How well probabilities are calibrated.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Reliability {
    /// What is judged: the last of two classes, or the predicted one of several.
    pub of: String,
    /// The bins that have rows.
    pub bins: Vec<ReliabilityBin>,
    /// `Σ (weight/total) |promised − came|`, the expected calibration error: a number without a test, and biased upwards
    /// where bins are small.
    pub expected_calibration_error: f64,
    /// The parts of the Brier score.
    pub brier: BrierParts,
    /// The test, or why there is none.
    pub hosmer_lemeshow: std::result::Result<HosmerLemeshow, LeftOut>,
}

/// A predicted probability, whether the event occurred, and the weight.
#[derive(Clone, Copy)]
struct Promise {
    p: f64,
    came: bool,
    weight: f64,
}

/// Sums over some promises.
#[derive(Clone, Copy, Default)]
struct PromiseSums {
    weight: f64,
    promised: f64,
    came: f64,
}

impl PromiseSums {
    fn add(&mut self, promise: &Promise) {
        self.weight += promise.weight;
        self.promised += promise.weight * promise.p;
        self.came += if promise.came { promise.weight } else { 0.0 };
    }
}

/// Judges the probabilities of rows that were checked before; `of_training` are rows that the fit saw.
pub(super) fn reliability(scored: &Scored<'_>, probabilities: &[f64], of_training: bool) -> Reliability {
    let n_classes = scored.classes.len();
    let of = match n_classes {
        2 => format!("probability of `{}`", scored.classes[1]),
        _ => "probability of the likeliest class".to_owned(),
    };
    let promise = |row: usize| {
        let p = &probabilities[row * n_classes..(row + 1) * n_classes];
        // The first of the largest.
        let likeliest = (0..n_classes).fold(0, |best, k| if p[k] > p[best] { k } else { best });
        let class = if n_classes == 2 { 1 } else { likeliest };
        Promise { p: p[class].min(1.0), came: scored.truth[row].index() == class, weight: scored.weight(row) }
    };
    let mut promises: Vec<Promise> =
        (0..scored.truth.len()).map(promise).filter(|promise| promise.weight > 0.0).collect();
    // Only sums over rows follow, and rows of one probability and outcome are alike.
    promises.sort_by(|a, b| a.p.total_cmp(&b.p).then(a.came.cmp(&b.came)));
    let mut sums = [PromiseSums::default(); BINS];
    let mut all = PromiseSums::default();
    let mut squares = 0.0;
    for promise in &promises {
        sums[bin_of(promise.p)].add(promise);
        all.add(promise);
        squares += promise.weight * (promise.p - f64::from(u8::from(promise.came))).powi(2);
    }
    let share = all.came / all.weight;
    let mut parts = BrierParts {
        brier: squares / all.weight,
        reliability: 0.0,
        resolution: 0.0,
        uncertainty: share * (1.0 - share),
        within: 0.0,
    };
    let mut bins = Vec::new();
    let mut error = 0.0;
    for (at, sum) in sums.iter().enumerate().filter(|(_, s)| s.weight > 0.0) {
        let (promised, came, part) = (sum.promised / sum.weight, sum.came / sum.weight, sum.weight / all.weight);
        parts.reliability += part * (promised - came).powi(2);
        parts.resolution += part * (came - share).powi(2);
        error += part * (promised - came).abs();
        let end = |k: usize| k as f64 / BINS as f64;
        bins.push(ReliabilityBin { low: end(at), high: end(at + 1), weight: sum.weight, promised, came });
    }
    parts.within = parts.brier - (parts.reliability - parts.resolution + parts.uncertainty);
    let hosmer_lemeshow = match n_classes {
        2 => hosmer_lemeshow(&promises, all.weight, of_training),
        _ => Err("it is for two classes".to_owned()),
    };
    Reliability {
        of,
        bins,
        expected_calibration_error: error,
        brier: parts,
        hosmer_lemeshow: hosmer_lemeshow.map_err(|reason| LeftOut { what: "Hosmer-Lemeshow test", reason }),
    }
}

/// Bins `(k/10, (k+1)/10]`, zero in the first.
fn bin_of(p: f64) -> usize {
    ((p * BINS as f64).ceil() as usize).clamp(1, BINS) - 1
}

/// Groups of a tenth of the weight each, rows of one probability together.
fn hosmer_lemeshow(sorted: &[Promise], total: f64, of_training: bool) -> std::result::Result<HosmerLemeshow, String> {
    let mut groups: Vec<PromiseSums> = vec![PromiseSums::default()];
    let mut before = 0.0;
    for tied in sorted.chunk_by(|a, b| a.p == b.p) {
        let full = groups.len() as f64 * total / BINS as f64;
        // Rounding of the share must not open an eleventh group.
        if before >= full * (1.0 - 1e-12) && groups.len() < BINS {
            groups.push(PromiseSums::default());
        }
        if let Some(group) = groups.last_mut() {
            tied.iter().for_each(|promise| group.add(promise));
        }
        before += tied.iter().map(|promise| promise.weight).sum::<f64>();
    }
    let fewest = if of_training { 3 } else { 2 };
    if groups.len() < fewest {
        return Err(format!("the probabilities make {} group of rows; it needs {fewest}", groups.len()));
    }
    let mut statistic = 0.0;
    for group in &groups {
        let variance = group.promised * (1.0 - group.promised / group.weight);
        let off = group.came - group.promised;
        if variance <= 0.0 && off != 0.0 {
            return Err("a group was promised certainty, and it did not come".to_owned());
        }
        statistic += if variance > 0.0 { off * off / variance } else { 0.0 };
    }
    let df = (groups.len() - if of_training { 2 } else { 0 }) as f64;
    let ln_p = chi_square_ln_tail(statistic, df);
    Ok(HosmerLemeshow { groups: groups.len(), statistic, df, p: ln_p.exp(), ln_p })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Class;

    fn judged(p: &[f64], truth: &[u32], weights: Option<&[f64]>, of_training: bool) -> Reliability {
        let classes = ["a".to_owned(), "b".to_owned()];
        let truth: Vec<Class> = truth.iter().map(|c| Class(*c)).collect();
        let pairs: Vec<f64> = p.iter().flat_map(|p| [1.0 - p, *p]).collect();
        let scored = Scored {
            classes: &classes,
            truth: &truth,
            predicted: &[],
            decision: None,
            probabilities: Some(&pairs),
            losses: None,
            weights,
            origin: None,
        };
        reliability(&scored, &pairs, of_training)
    }

    #[test]
    fn by_hand() {
        let found = judged(&[0.05, 0.1, 0.75, 0.8, 0.8], &[0, 1, 1, 1, 0], None, false);
        assert_eq!(found.bins.iter().map(|b| b.weight).collect::<Vec<_>>(), [2.0, 3.0]);
        assert!((found.bins[0].promised - 0.075).abs() < 1e-15 && found.bins[0].came == 0.5);
        let error = 0.4 * 0.425 + 0.6 * (2.35 / 3.0 - 2.0 / 3.0);
        assert!((found.expected_calibration_error - error).abs() < 1e-15);
        let b = &found.brier;
        assert!((b.brier - (0.0025 + 0.81 + 0.0625 + 0.04 + 0.64) / 5.0).abs() < 1e-15);
        assert!((b.uncertainty - 0.24).abs() < 1e-15);
        assert!((b.resolution - (0.4 * 0.01 + 0.6 * (2.0f64 / 3.0 - 0.6).powi(2))).abs() < 1e-15);
        assert!((b.reliability - b.resolution + b.uncertainty + b.within - b.brier).abs() < 1e-16);
        // Groups are a tenth each: 0.05, 0.1, 0.75, and the two of 0.8.
        let test = found.hosmer_lemeshow.unwrap();
        let term = |o: f64, e: f64, n: f64| (o - e).powi(2) / (e * (1.0 - e / n));
        let sum = term(0.0, 0.05, 1.0) + term(1.0, 0.1, 1.0) + term(1.0, 0.75, 1.0) + term(1.0, 1.6, 2.0);
        assert!((test.statistic - sum).abs() < 1e-13 && test.groups == 4 && test.df == 4.0);
        assert_eq!(judged(&[0.05, 0.1, 0.75, 0.8], &[0, 1, 1, 1], None, true).hosmer_lemeshow.unwrap().df, 2.0);
    }

    #[test]
    fn bins_without_spread_leave_nothing_within() {
        let found = judged(&[0.3, 0.3, 0.3, 0.9, 0.9], &[0, 1, 0, 1, 1], None, false);
        assert!(found.brier.within.abs() < 1e-16, "{:?}", found.brier);
    }

    #[test]
    fn copies_and_weights_agree() {
        let weighted = judged(&[0.2, 0.6, 0.9], &[0, 1, 1], Some(&[2.0, 1.0, 3.0]), false);
        let copies = judged(&[0.2, 0.2, 0.6, 0.9, 0.9, 0.9], &[0, 0, 1, 1, 1, 1], None, false);
        assert!((weighted.brier.reliability - copies.brier.reliability).abs() < 1e-15);
        let (a, b) = (weighted.hosmer_lemeshow.unwrap(), copies.hosmer_lemeshow.unwrap());
        assert!((a.statistic - b.statistic).abs() < 1e-14 && a.groups == b.groups);
    }

    #[test]
    fn right_probabilities_pass_and_wrong_ones_do_not() {
        // 1000 rows whose outcomes follow their probabilities exactly in every group of ten.
        let p: Vec<f64> = (0..1000).map(|i| 0.05 + 0.1 * f64::from(i / 100)).collect();
        let came: Vec<u32> = (0..1000).map(|i| u32::from(i % 100 < 5 + 10 * (i / 100))).collect();
        assert!(judged(&p, &came, None, false).hosmer_lemeshow.unwrap().statistic < 1e-12);
        let skewed: Vec<f64> = p.iter().map(|p| p * p).collect();
        assert!(judged(&skewed, &came, None, false).hosmer_lemeshow.unwrap().ln_p < -50.0);
        let sure = judged(&[0.0, 0.0, 1.0, 1.0], &[0, 1, 1, 1], None, false);
        assert!(sure.hosmer_lemeshow.unwrap_err().reason.contains("certainty"));
        assert!(judged(&[0.4, 0.4], &[0, 1], None, false).hosmer_lemeshow.is_err());
    }
}

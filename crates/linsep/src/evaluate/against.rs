//! Two classifiers on the same rows: whether their difference exceeds chance.
//!
//! The rows are paired, so only the rows on which the two differ are informative.

use super::auc::Ranking;
use super::{Estimate, LEVEL, Scored};
use crate::error::{Error, Result};
use crate::numeric::{beta_ln_cdf, normal_quantile, normal_two_sided_ln};
use crate::table::Class;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

/// The most copies of rows that a bootstrap draws from: 256 MB of row numbers.
const MOST_DRAWN: f64 = 67_108_864.0;

/// Two classifiers' answers to the same rows.
#[derive(Debug, Clone, Copy)]
pub struct Opponents<'a> {
    /// The first, with the truth and the weights.
    pub first: Scored<'a>,
    /// The second, of the same rows.
    pub second: Scored<'a>,
    /// A number per row for each, larger where the last of two classes is likelier: what the areas under the curves are of.
    pub scores: Option<(&'a [f64], &'a [f64])>,
}

/// How replicates are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bootstrap {
    /// Number of replicates.
    pub replicates: usize,
    /// The same seed gives the same draws, whatever the number of threads.
    pub seed: u64,
}

/// McNemar's exact test: of the rows on which only one of the two is right, does each have about half?
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct McNemar {
    /// Rows that only the first gives their class.
    pub only_first: f64,
    /// Rows that only the second gives their class.
    pub only_second: f64,
    /// `min(1, 2 P(Bin(n, ½) ≤ the smaller))`.
    pub p: f64,
    /// Its natural logarithm.
    pub ln_p: f64,
}

/// The test of DeLong for two areas under curves of the same rows.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AucDifference {
    /// Area of the first.
    pub first: f64,
    /// Area of the second.
    pub second: f64,
    /// First minus second, with its 95 % interval.
    pub difference: Estimate,
    /// Standard error of the difference.
    pub standard_error: f64,
    /// Difference over standard error.
    pub z: f64,
    /// Two-sided.
    pub p: f64,
    /// Its natural logarithm.
    pub ln_p: f64,
}

/// A comparison that these rows may leave undefined, and then the reason.
pub type Comparison<T> = std::result::Result<T, String>;

/// What two classifiers differ in.
#[derive(Debug, Clone, PartialEq)]
pub struct Against {
    /// Rows that both score.
    pub rows: usize,
    /// Sum of their weights.
    pub total_weight: f64,
    /// Rows that one of the two leaves open; McNemar and accuracy are of the others.
    pub open: f64,
    /// Of the decisions.
    pub mcnemar: Comparison<McNemar>,
    /// Accuracy of the first minus that of the second, by paired bootstrap.
    pub accuracy: Comparison<Estimate>,
    /// Log loss of the first minus that of the second, by paired bootstrap.
    pub log_loss: Comparison<Estimate>,
    /// Areas under the curves.
    pub auc: Comparison<AucDifference>,
    /// How the replicates were drawn.
    pub bootstrap: Bootstrap,
}

/// Compares two classifiers.
///
/// # Errors
/// Rows, classes, truth or weights that are not the same for both; whatever [`super::evaluate`] refuses; no replicates.
pub fn compare(opponents: &Opponents<'_>, bootstrap: Bootstrap) -> Result<Against> {
    let Opponents { first, second, .. } = opponents;
    first.check()?;
    second.check()?;
    if first.classes != second.classes || first.truth != second.truth || first.weights != second.weights {
        return Err(Error::usage("two classifiers are compared on the same rows, classes and weights"));
    }
    if bootstrap.replicates < 100 {
        return Err(Error::usage(format!("{} replicates are too few for an interval", bootstrap.replicates))
            .help("draw at least 100, better 2000"));
    }
    let whole = first.weights.is_none_or(|w| w.iter().all(|w| w.fract() == 0.0));
    let fraction = || "the weights are not numbers of copies".to_owned();
    let pairs = RowPairs::of(opponents);
    let drawn = if whole { pairs.copies(first) } else { Err(fraction()) };
    Ok(Against {
        rows: first.truth.len(),
        total_weight: first.total_weight(),
        open: (0..first.truth.len()).filter(|r| !pairs.decided[*r]).map(|r| first.weight(r)).sum(),
        mcnemar: if whole { pairs.mcnemar(first) } else { Err(fraction()) },
        accuracy: drawn.as_ref().map_err(Clone::clone).and_then(|copies| pairs.accuracy(copies, bootstrap)),
        log_loss: drawn.as_ref().map_err(Clone::clone).and_then(|copies| pairs.log_loss(copies, bootstrap)),
        auc: auc_difference(opponents),
        bootstrap,
    })
}

/// What the two say of each row.
struct RowPairs {
    decided: Vec<bool>,
    /// Whether each is right; false where it is not decided.
    right: Vec<(bool, bool)>,
    /// Loss of the first minus that of the second.
    excess_loss: Comparison<Vec<f64>>,
}

impl RowPairs {
    fn of(opponents: &Opponents<'_>) -> RowPairs {
        let Opponents { first, second, .. } = opponents;
        let rows = 0..first.truth.len();
        let is_right = |class: Option<Class>, row: usize| class == Some(first.truth[row]);
        let excess_loss = match (first.row_losses(), second.row_losses()) {
            (Some(a), Some(b)) => {
                let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
                match (0..differences.len()).find(|r| !differences[*r].is_finite() && first.weight(*r) > 0.0) {
                    None => Ok(differences),
                    Some(row) => Err(format!("infinite: probability 0 for the true class at {}", first.place(row))),
                }
            }
            _ => Err("only models with probabilities have a log loss".to_owned()),
        };
        RowPairs {
            decided: rows.clone().map(|r| first.predicted[r].is_some() && second.predicted[r].is_some()).collect(),
            right: rows.map(|r| (is_right(first.predicted[r], r), is_right(second.predicted[r], r))).collect(),
            excess_loss,
        }
    }

    /// Weights are whole numbers.
    fn mcnemar(&self, scored: &Scored<'_>) -> Comparison<McNemar> {
        let (mut only_first, mut only_second) = (0.0, 0.0);
        for (row, (a, b)) in self.right.iter().enumerate().filter(|(row, _)| self.decided[*row]) {
            match (a, b) {
                (true, false) => only_first += scored.weight(row),
                (false, true) => only_second += scored.weight(row),
                _ => {}
            }
        }
        if !self.decided.contains(&true) {
            return Err("no row was decided by both".to_owned());
        }
        let ln_p = mcnemar_ln_p(only_first, only_second);
        Ok(McNemar { only_first, only_second, p: ln_p.exp(), ln_p })
    }

    /// The rows, each as often as its weight says.
    fn copies(&self, scored: &Scored<'_>) -> Comparison<Vec<u32>> {
        if scored.total_weight() > MOST_DRAWN || scored.truth.len() > u32::MAX as usize {
            return Err(format!("{} rows are too many to draw from", scored.total_weight()));
        }
        let row = |r: usize| std::iter::repeat_n(r as u32, scored.weight(r) as usize);
        Ok((0..scored.truth.len()).flat_map(row).collect())
    }

    fn accuracy(&self, copies: &[u32], bootstrap: Bootstrap) -> Comparison<Estimate> {
        let gain = |row: u32| {
            let (a, b) = self.right[row as usize];
            let decided = self.decided[row as usize];
            (if decided { f64::from(i8::from(a) - i8::from(b)) } else { 0.0 }, if decided { 1.0 } else { 0.0 })
        };
        let what = "accuracy of the first minus that of the second";
        paired(copies, gain, what, bootstrap).ok_or_else(|| "too few rows were decided by both".to_owned())
    }

    fn log_loss(&self, copies: &[u32], bootstrap: Bootstrap) -> Comparison<Estimate> {
        let excess = self.excess_loss.as_ref().map_err(Clone::clone)?;
        let what = "log loss of the first minus that of the second";
        paired(copies, |row| (excess[row as usize], 1.0), what, bootstrap).ok_or_else(|| "no rows".to_owned())
    }
}

/// `ln min(1, 2 P(Bin(n, ½) ≤ k))` with n the sum and k the smaller; `P(Bin(n, ½) ≤ k) = I_½(n−k, k+1)`.
fn mcnemar_ln_p(only_first: f64, only_second: f64) -> f64 {
    let (few, many) = (only_first.min(only_second), only_first.max(only_second));
    match many == few {
        true => 0.0,
        false => (std::f64::consts::LN_2 + beta_ln_cdf(0.5, many, few + 1.0)).min(0.0),
    }
}

/// The mean of paired differences with its percentile interval: rows are drawn with both answers. `term` gives a row's
/// difference and whether it counts; `None` if no row counts in some replicate.
fn paired(
    copies: &[u32],
    term: impl Fn(u32) -> (f64, f64) + Sync,
    what: &str,
    bootstrap: Bootstrap,
) -> Option<Estimate> {
    let mean = |rows: &mut dyn Iterator<Item = u32>| {
        let (sum, count) = rows.fold((0.0, 0.0), |(sum, count), row| {
            let (difference, counts) = term(row);
            (sum + difference, count + counts)
        });
        (count > 0.0).then(|| sum / count)
    };
    let value = mean(&mut copies.iter().copied())?;
    let replicate = |number: usize| {
        // A random stream per replicate, so that results do not depend on the threads.
        let mut random = ChaCha8Rng::seed_from_u64(bootstrap.seed);
        random.set_stream(number as u64);
        mean(&mut (0..copies.len()).map(|_| copies[random.random_range(0..copies.len())]))
    };
    let mut drawn: Vec<f64> = (0..bootstrap.replicates).into_par_iter().map(replicate).collect::<Option<_>>()?;
    drawn.sort_by(f64::total_cmp);
    let at = |level: f64| {
        let place = level * (drawn.len() as f64 + 1.0);
        drawn[(place.round() as usize).clamp(1, drawn.len()) - 1]
    };
    let tail = 0.5 * (1.0 - LEVEL);
    let interval = (at(tail).min(value), at(1.0 - tail).max(value));
    let method = format!("{what}; paired bootstrap, {} replicates, percentiles", bootstrap.replicates);
    Some(Estimate::new(value, Some(interval), method))
}

/// The variance of a difference is that of the differences of the rows' influences, the covariance included.
fn auc_difference(opponents: &Opponents<'_>) -> Comparison<AucDifference> {
    let Opponents { first, second, scores } = opponents;
    if first.classes.len() != 2 {
        return Err("DeLong's test is for two classes".to_owned());
    }
    let Some((a, b)) = scores else { return Err("there are no scores to rank the rows by".to_owned()) };
    let weight_of = |class: usize| -> f64 {
        (0..first.truth.len()).filter(|r| first.truth[*r].index() == class).map(|r| first.weight(r)).sum()
    };
    let (rest, own) = (weight_of(0), weight_of(1));
    if own < 2.0 || rest < 2.0 {
        return Err("each class must have at least two rows".to_owned());
    }
    let rankings = [Ranking::new(first, |r| a[r], 1, own, rest), Ranking::new(second, |r| b[r], 1, own, rest)];
    let mut influences = [vec![0.0; first.truth.len()], vec![0.0; first.truth.len()]];
    rankings.iter().zip(&mut influences).for_each(|(ranking, influence)| ranking.add_influence(influence));
    let [of_first, of_second] = &influences;
    let square = |r: usize| first.weight(r) * (of_first[r] - of_second[r]).powi(2);
    let standard_error = (0..first.truth.len()).map(square).sum::<f64>().sqrt();
    let difference = rankings[0].value - rankings[1].value;
    // The areas are of size one: below a rounding of that there is no variance.
    if standard_error < 1e-14 {
        return match difference.abs() < 1e-14 {
            true => Err("both rank the rows alike".to_owned()),
            false => Err("the placements do not vary, so the difference has no estimated error".to_owned()),
        };
    }
    let z = difference / standard_error;
    let ln_p = normal_two_sided_ln(z);
    let half = normal_quantile(0.5 * (1.0 + LEVEL)) * standard_error;
    let interval = ((difference - half).max(-1.0), (difference + half).min(1.0));
    Ok(AucDifference {
        first: rankings[0].value,
        second: rankings[1].value,
        difference: Estimate::new(difference, Some(interval), "AUC of the first minus that of the second; DeLong"),
        standard_error,
        z,
        p: ln_p.exp(),
        ln_p,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mcnemar_is_a_binomial_sum() {
        for (b, c) in [(0u32, 0u32), (1, 0), (3, 3), (2, 9), (9, 2), (0, 12), (40, 55), (1, 60)] {
            let n = b + c;
            let mut term = 0.5f64.powi(n as i32);
            let mut sum = term;
            for k in 0..b.min(c) {
                term *= f64::from(n - k) / f64::from(k + 1);
                sum += term;
            }
            let exact = (2.0 * sum).min(1.0);
            let found = mcnemar_ln_p(f64::from(b), f64::from(c)).exp();
            assert!((found / exact - 1.0).abs() < 1e-12, "{b} {c}: {found} {exact}");
        }
        // Far below the least double: ln p ≈ 2·2⁻ⁿ.
        assert!((mcnemar_ln_p(0.0, 5000.0) + 4999.0 * std::f64::consts::LN_2).abs() < 1e-9);
    }

    fn names() -> Vec<String> {
        vec!["a".to_owned(), "b".to_owned()]
    }

    /// Rows with ties, of which the second score is a noisy copy of the first.
    fn rows(n: usize) -> (Vec<Class>, Vec<f64>, Vec<f64>) {
        let step = |i: usize, k: usize| ((i * k + 7) % 23) as f64 / 23.0;
        let truth: Vec<Class> = (0..n).map(|i| Class(u32::from(step(i, 5) + 0.4 * step(i, 11) > 0.7))).collect();
        let first = (0..n).map(|i| step(i, 5) - 0.5 * step(i, 3)).collect();
        let second = (0..n).map(|i| (10.0 * (step(i, 5) - 0.3 * step(i, 7))).round()).collect();
        (truth, first, second)
    }

    fn scored<'a>(classes: &'a [String], truth: &'a [Class], predicted: &'a [Option<Class>]) -> Scored<'a> {
        Scored {
            classes,
            truth,
            predicted,
            decision: None,
            probabilities: None,
            losses: None,
            weights: None,
            origin: None,
        }
    }

    #[test]
    fn delong_by_all_pairs() {
        let (truth, a, b) = rows(61);
        let classes = names();
        let predicted: Vec<Option<Class>> = truth.iter().map(|c| Some(*c)).collect();
        let one = scored(&classes, &truth, &predicted);
        let opponents = Opponents { first: one, second: one, scores: Some((&a, &b)) };
        let found = auc_difference(&opponents).unwrap();
        // The definition: kernels over all pairs, covariances of the two structural components.
        let own: Vec<usize> = (0..61).filter(|r| truth[*r].0 == 1).collect();
        let rest: Vec<usize> = (0..61).filter(|r| truth[*r].0 == 0).collect();
        let kernel = |s: &[f64], i: usize, j: usize| match s[i].total_cmp(&s[j]) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        };
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let variance = |v: &[f64]| {
            let m = mean(v);
            v.iter().map(|x| (x - m).powi(2)).sum::<f64>() / (v.len() as f64 - 1.0)
        };
        let of_own: Vec<f64> = own
            .iter()
            .map(|i| rest.iter().map(|j| kernel(&a, *i, *j) - kernel(&b, *i, *j)).sum::<f64>() / rest.len() as f64)
            .collect();
        let of_rest: Vec<f64> = rest
            .iter()
            .map(|j| own.iter().map(|i| kernel(&a, *i, *j) - kernel(&b, *i, *j)).sum::<f64>() / own.len() as f64)
            .collect();
        let error = (variance(&of_own) / own.len() as f64 + variance(&of_rest) / rest.len() as f64).sqrt();
        assert!((found.difference.value - mean(&of_own)).abs() < 1e-14, "{found:?}");
        assert!((found.standard_error / error - 1.0).abs() < 1e-12, "{found:?} {error}");
        assert!(found.standard_error > 0.01 && found.difference.value.abs() > 1e-3);
        // Exchanged, everything changes sign.
        let other = auc_difference(&Opponents { scores: Some((&b, &a)), ..opponents }).unwrap();
        assert_eq!((other.z, other.p), (-found.z, found.p));
        let same = auc_difference(&Opponents { scores: Some((&a, &a)), ..opponents });
        assert!(same.unwrap_err().contains("alike"));
    }

    #[test]
    fn weights_are_copies_in_every_comparison() {
        let (truth, a, b) = rows(40);
        let classes = names();
        let by = |s: &[f64]| -> Vec<Option<Class>> { s.iter().map(|x| Some(Class(u32::from(*x > 0.3)))).collect() };
        let (of_a, of_b) = (by(&a), by(&b));
        let weights: Vec<f64> = (0..40).map(|i| (i % 3) as f64).collect();
        let first = Scored { weights: Some(&weights), ..scored(&classes, &truth, &of_a) };
        let second = Scored { weights: Some(&weights), ..scored(&classes, &truth, &of_b) };
        let how = Bootstrap { replicates: 199, seed: 4 };
        let weighted = compare(&Opponents { first, second, scores: Some((&a, &b)) }, how).unwrap();
        let copies: Vec<usize> = (0..40).flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
        let truth2: Vec<Class> = copies.iter().map(|i| truth[*i]).collect();
        let take = |v: &[Option<Class>]| -> Vec<Option<Class>> { copies.iter().map(|i| v[*i]).collect() };
        let pick = |v: &[f64]| -> Vec<f64> { copies.iter().map(|i| v[*i]).collect() };
        let (p, q, s, t) = (take(&of_a), take(&of_b), pick(&a), pick(&b));
        let copied = compare(
            &Opponents {
                first: scored(&classes, &truth2, &p),
                second: scored(&classes, &truth2, &q),
                scores: Some((&s, &t)),
            },
            how,
        )
        .unwrap();
        assert_eq!((weighted.mcnemar, weighted.accuracy), (copied.mcnemar, copied.accuracy));
        let (x, y) = (weighted.auc.unwrap(), copied.auc.unwrap());
        assert!((x.z - y.z).abs() < 1e-11 && (x.first - y.first).abs() < 1e-14, "{x:?} {y:?}");
        let half = vec![0.5; 40];
        let fraction = |s: Scored<'_>| {
            compare(
                &Opponents {
                    first: Scored { weights: Some(&half), ..s },
                    second: Scored { weights: Some(&half), ..s },
                    scores: None,
                },
                how,
            )
        };
        let refused = fraction(scored(&classes, &truth, &of_a)).unwrap();
        assert!(refused.mcnemar.unwrap_err().contains("copies") && refused.accuracy.is_err() && refused.auc.is_err());
        assert!(compare(&Opponents { first, second: scored(&classes, &truth, &of_b), scores: None }, how).is_err());
    }

    #[test]
    fn the_bootstrap_is_seeded_and_as_wide_as_the_normal_interval() {
        let (truth, a, b) = rows(400);
        let classes = names();
        let by = |s: &[f64]| -> Vec<Option<Class>> { s.iter().map(|x| Some(Class(u32::from(*x > 0.4)))).collect() };
        let (of_a, of_b) = (by(&a), by(&b));
        let opponents =
            Opponents { first: scored(&classes, &truth, &of_a), second: scored(&classes, &truth, &of_b), scores: None };
        let of = |seed| compare(&opponents, Bootstrap { replicates: 1999, seed }).unwrap().accuracy.unwrap();
        let found = of(1);
        assert_eq!(found, of(1));
        assert_ne!(found.interval, of(2).interval);
        let gains: Vec<f64> = (0..400)
            .map(|r| f64::from(i8::from(of_a[r] == Some(truth[r])) - i8::from(of_b[r] == Some(truth[r]))))
            .collect();
        let mean = gains.iter().sum::<f64>() / 400.0;
        let half = 1.96 * (gains.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / 400.0 / 400.0).sqrt();
        let (low, high) = found.interval.unwrap();
        assert!((found.value - mean).abs() < 1e-15 && mean.abs() > 0.01);
        assert!(((high - low) / (2.0 * half) - 1.0).abs() < 0.1, "{low} {high} {half}");
    }
}

//! Split-conformal sets: the classes of a row whose nonconformity scores are no larger than those of held-out rows in their
//! own classes.

use crate::error::{Error, Result};
use crate::options::options;
use crate::role::{Role, Roles};
use crate::table::Class;
use crate::words::{Setting, words};
use serde::{Deserialize, Serialize};

options! {
/// The options of prediction sets: level, conditioning, and the share of calibration rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ConformalOptions {
    /// The coverage: how often the class of a new row must be in its set, at least.
    pub level: f64,
    /// Whether coverage must hold within every class (class-conditional, or Mondrian).
    pub by_class: bool,
    /// The share of the rows that the fit does not see.
    pub share: f64,
}
}

impl ConformalOptions {
    /// The share of the rows where none is said: a fifth, as many as a fold of five. Chosen, not measured.
    pub const SHARE: f64 = 0.2;

    /// Sets of this level, of all rows together.
    pub fn new(level: f64) -> ConformalOptions {
        ConformalOptions { level, by_class: false, share: ConformalOptions::SHARE }
    }

    /// Checks that level and share are between 0 and 1.
    pub fn check(&self) -> Result<()> {
        let within = |v: f64| v > 0.0 && v < 1.0;
        if !within(self.level) {
            return Err(Error::usage(words![
                Setting::Conformal,
                format!(" is {}", self.level),
                ", not between 0 and 1"
            ])
            .help("give the share of the rows whose set is to hold their class, for example 0.9"));
        }
        if !within(self.share) {
            return Err(Error::usage(words![
                Setting::ConformalShare,
                format!(" is {}", self.share),
                ", not between 0 and 1"
            ])
            .help("give the share of the rows that the fit does not see, for example 0.2"));
        }
        Ok(())
    }
}

/// Sets of classes, and the nonconformity scores of the held-out rows that they come from.
///
/// The score of a class in a row says how nonconforming the row would be as one of that class. If a new row is exchangeable
/// with the `n` rows held out, its rank among the `n + 1` scores is equally likely to be any, so that it is at most the
/// `k = ⌈(n + 1) level⌉`-th smallest of the `n` with probability `k/(n + 1) ≥ level` at least, ties included (Vovk,
/// Gammerman and Shafer 2005). With `k > n` no class can be excluded. Within one class the same holds of its own rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conformal {
    /// What was asked for.
    pub options: ConformalOptions,
    /// For every class, the scores of its rows that were held back, rising.
    pub scores: Vec<Vec<f64>>,
    /// The largest score with which each class is in a set; `None` where it always is.
    pub thresholds: Vec<Option<f64>>,
}

impl Conformal {
    /// The scores are computed again from the rows held back.
    #[doc(hidden)]
    pub const ROLES: Roles = Roles::Fields(&[
        (
            "options",
            Roles::Fields(&[
                ("level", Roles::All(Role::Setting)),
                ("by_class", Roles::All(Role::Setting)),
                ("share", Roles::All(Role::Setting)),
            ]),
        ),
        ("scores", Roles::All(Role::Claim)),
        ("thresholds", Roles::All(Role::Derived)),
    ]);

    /// From the scores of every class of the rows held back, row by row, and their classes.
    ///
    /// ```
    /// use linsep::decide::{Conformal, ConformalOptions};
    /// use linsep::table::Class;
    /// // Nine rows: k = ⌈10 · 0.8⌉ = 8.
    /// let scores: Vec<f64> = (0..9).flat_map(|i| [f64::from(i), 9.0]).collect();
    /// let sets = Conformal::of(ConformalOptions::new(0.8), &scores, &[Class(0); 9], 2);
    /// assert_eq!(sets.thresholds, [Some(7.0), Some(7.0)]);
    /// assert_eq!(sets.sets(&[7.0, 7.5], None), [true, false]);
    /// ```
    pub fn of(options: ConformalOptions, scores: &[f64], truth: &[Class], n_classes: usize) -> Conformal {
        let mut of_class: Vec<Vec<f64>> = vec![Vec::new(); n_classes];
        for (row, class) in scores.chunks_exact(n_classes).zip(truth) {
            of_class[class.index()].push(row[class.index()]);
        }
        of_class.iter_mut().for_each(|own| own.sort_by(f64::total_cmp));
        let mut found = Conformal { options, scores: of_class, thresholds: Vec::new() };
        found.thresholds = found.thresholds_at(options.level);
        found
    }

    /// How many rows were held back, complete, and scored.
    pub fn rows(&self) -> usize {
        self.scores.iter().map(Vec::len).sum()
    }

    /// The largest score with which each class is in a set of another level; `None` where it always is.
    pub fn thresholds_at(&self, level: f64) -> Vec<Option<f64>> {
        let at = |rising: &[f64]| rank(rising.len(), level).checked_sub(1).and_then(|k| rising.get(k).copied());
        if self.options.by_class {
            return self.scores.iter().map(|own| at(own)).collect();
        }
        let mut all: Vec<f64> = self.scores.iter().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        vec![at(&all); self.scores.len()]
    }

    /// Whether each class is in the set of each row, row by row, from the scores of all classes; at another level where one is
    /// given.
    pub fn sets(&self, scores: &[f64], level: Option<f64>) -> Vec<bool> {
        match level {
            Some(level) => sets_within(&self.thresholds_at(level), scores),
            None => sets_within(&self.thresholds, scores),
        }
    }

    /// Whether it can be used for so many classes, and its thresholds follow from its scores.
    pub fn is_whole(&self, n_classes: usize) -> bool {
        let rises = |own: &Vec<f64>| own.iter().all(|s| s.is_finite()) && own.windows(2).all(|w| w[0] <= w[1]);
        self.options.check().is_ok()
            && self.scores.len() == n_classes
            && self.scores.iter().all(rises)
            && self.thresholds == self.thresholds_at(self.options.level)
    }
}

/// Whether each class is in the set of each row: its score is at most its threshold, or it has none.
pub fn sets_within(thresholds: &[Option<f64>], scores: &[f64]) -> Vec<bool> {
    let within = |(s, t): (&f64, &Option<f64>)| t.is_none_or(|t| *s <= t);
    scores.chunks_exact(thresholds.len()).flat_map(|row| row.iter().zip(thresholds).map(within)).collect()
}

/// The fewest rows with which a class can be left out of a set of this level: the least `n ≥ 1/α − 1`.
///
/// ```
/// assert_eq!(linsep::decide::rows_needed(0.9), 9);
/// ```
pub fn rows_needed(level: f64) -> usize {
    // 1/α − 1 in doubles is within one of it, up to where doubles have no whole numbers.
    let near = (1.0 / (1.0 - level) - 1.0).clamp(1.0, 1e15).round() as usize;
    (near.saturating_sub(1)..near + 2).find(|n| rank(*n, level) <= *n).unwrap_or(near + 2)
}

/// `⌈(n + 1) level⌉`, exactly for the level as it is written in decimal digits: `0.07` of 99 rows is the 7th and not, as the
/// double nearest to 0.07 would have it, the 8th.
fn rank(n: usize, level: f64) -> usize {
    let written = format!("{level}");
    let digits = written.strip_prefix("0.").unwrap_or("");
    let whole = digits.parse::<u128>().ok().zip(10_u128.checked_pow(digits.len() as u32));
    let exact = whole.and_then(|(numerator, denominator)| {
        Some(numerator.checked_mul(n as u128 + 1)?.div_ceil(denominator) as usize)
    });
    // More digits than fit: the level is so close to 0 or 1 that its rounding decides nothing.
    exact.unwrap_or_else(|| ((n as f64 + 1.0) * level).ceil() as usize)
}

/// The nonconformity score of each class in each row, from the scores that decide.
///
/// For two classes with one score, log-odds or a distance in their place: their value against the class. For
/// log-probabilities up to a constant: the log-odds against the class, `log(1 − p) − log p`, a falling function of its
/// probability. For scores without probabilities: by how much the best other class leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strangeness {
    /// By log-odds.
    LogOdds,
    /// By the lead of the best other class.
    Lead,
    /// By the worst defeat: scores of pairs of classes `(i, j)`, `i < j`, in the order of `i` and then `j`, positive for `j`.
    WorstPair,
}

impl Strangeness {
    /// For every class in every row; infinite scores become the largest finite numbers, which a file can hold.
    pub fn of(self, deciding: &[f64], n_classes: usize) -> Vec<f64> {
        let mut out = match self {
            _ if n_classes == 2 => deciding.iter().flat_map(|z| [*z, -*z]).collect(),
            Strangeness::LogOdds => rows_of(deciding, n_classes, n_classes, log_odds_against),
            Strangeness::Lead => rows_of(deciding, n_classes, n_classes, lead_over),
            Strangeness::WorstPair => rows_of(deciding, n_classes * (n_classes - 1) / 2, n_classes, worst_defeat),
        };
        out.iter_mut().for_each(|s| *s = s.clamp(-f64::MAX, f64::MAX));
        out
    }
}

fn rows_of(scores: &[f64], width: usize, n_classes: usize, one: fn(&[f64], &mut [f64])) -> Vec<f64> {
    let mut out = vec![0.0; scores.len() / width * n_classes];
    scores.chunks_exact(width).zip(out.chunks_exact_mut(n_classes)).for_each(|(row, out)| one(row, out));
    out
}

/// The place of the largest score and the largest of the others.
fn two_largest(row: &[f64]) -> (usize, f64) {
    let first = (1..row.len()).fold(0, |best, k| if row[k] > row[best] { k } else { best });
    let others = row.iter().enumerate().filter(|(k, _)| *k != first).map(|(_, z)| *z);
    (first, others.fold(f64::NEG_INFINITY, f64::max))
}

fn log_odds_against(row: &[f64], out: &mut [f64]) {
    let (first, second) = two_largest(row);
    let largest = row[first];
    // Summed without the largest, so that the log-odds of an almost certain class do not cancel.
    let others = row.iter().enumerate().filter(|(k, _)| *k != first);
    let sum: f64 = others.map(|(_, z)| (z - second).exp()).sum();
    // Calibrated probabilities of all others may be zero.
    let rest = if second == f64::NEG_INFINITY { second } else { second + sum.ln() };
    let all = largest + (rest - largest).exp().ln_1p();
    for (k, (z, out)) in row.iter().zip(out).enumerate() {
        // p is at most one half for any other class.
        *out = if k == first { rest - largest } else { (-(z - all).exp()).ln_1p() - (z - all) };
    }
}

fn lead_over(row: &[f64], out: &mut [f64]) {
    let (first, second) = two_largest(row);
    for (k, (z, out)) in row.iter().zip(out).enumerate() {
        *out = if k == first { second - z } else { row[first] - z };
    }
}

fn worst_defeat(row: &[f64], out: &mut [f64]) {
    out.fill(f64::NEG_INFINITY);
    let mut pair = row.iter();
    for i in 0..out.len() {
        for (j, z) in (i + 1..out.len()).zip(pair.by_ref()) {
            out[i] = out[i].max(*z);
            out[j] = out[j].max(-*z);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_is_exact_for_the_level_as_it_is_written() {
        // In doubles 0.07 · 100 is 7.000000000000001, and 0.29 · 100 is 28.999999999999996.
        assert_eq!(rank(99, 0.07), 7);
        assert_eq!(rank(99, 0.29), 29);
        assert_eq!(rank(9, 0.9), 9);
        assert_eq!(rank(8, 0.9), 9);
        assert_eq!(rank(10, 0.9), 10);
        for thousandths in 1..1000_u32 {
            let level = f64::from(thousandths) / 1000.0;
            for n in [0_usize, 1, 7, 99, 999, 1000, 123_456] {
                let exact = (thousandths as usize * (n + 1)).div_ceil(1000);
                assert_eq!(rank(n, level), exact, "{n} at {level}");
            }
        }
        assert_eq!([0.5, 0.8, 0.9, 0.95, 0.99, 0.999].map(rows_needed), [1, 4, 9, 19, 99, 999]);
        assert_eq!(rank(5, 1e-300), 1);
        assert_eq!(rank(5, 1.0 - f64::EPSILON / 2.0), 6);
    }

    #[test]
    fn a_class_with_too_few_rows_is_always_in() {
        let options = ConformalOptions { by_class: true, ..ConformalOptions::new(0.9) };
        // n < 1/α − 1 = 9: eight rows of the first class, nine of the second.
        let truth: Vec<Class> = (0..17).map(|i| Class(u32::from(i >= 8))).collect();
        let scores: Vec<f64> = (0..17).flat_map(|i| [f64::from(i), f64::from(i)]).collect();
        let found = Conformal::of(options, &scores, &truth, 2);
        assert_eq!(found.thresholds, [None, Some(16.0)]);
        assert_eq!(found.sets(&[1e9, 1e9], None), [true, false]);
        // At a lower level both have a threshold: k = ⌈9 · 0.5⌉ = 5 and ⌈10 · 0.5⌉ = 5.
        assert_eq!(found.thresholds_at(0.5), [Some(4.0), Some(12.0)]);
        assert!(found.is_whole(2) && !found.is_whole(3));
    }

    #[test]
    fn without_rows_every_class_is_in() {
        let found = Conformal::of(ConformalOptions::new(0.9), &[], &[], 3);
        assert_eq!(found.sets(&[1.0, 2.0, 3.0], None), [true; 3]);
    }

    #[test]
    fn log_odds_are_those_of_the_probabilities_and_keep_their_digits() {
        let z = [0.3, -1.0, 2.0];
        let found = Strangeness::LogOdds.of(&z, 3);
        let total: f64 = z.iter().map(|z: &f64| z.exp()).sum();
        for (z, s) in z.iter().zip(&found) {
            let p = z.exp() / total;
            assert!((s - ((1.0 - p) / p).ln()).abs() < 1e-14);
        }
        let sure = Strangeness::LogOdds.of(&[700.0, 0.0, 0.0], 3);
        assert!((sure[0] - (2.0_f64.ln() - 700.0)).abs() < 1e-12, "{sure:?}");
        assert!((sure[1] - 700.0).abs() < 1e-12);
        assert_eq!(Strangeness::LogOdds.of(&[1.5], 2), [1.5, -1.5]);
    }

    #[test]
    fn leads_and_defeats_are_those_of_the_rivals() {
        assert_eq!(Strangeness::Lead.of(&[1.0, 3.0, 2.5], 3), [2.0, -0.5, 0.5]);
        // Pairs (0,1), (0,2), (1,2): class 1 beats 0 by 1, class 0 beats 2 by 2, class 1 beats 2 by 0.5.
        assert_eq!(Strangeness::WorstPair.of(&[1.0, -2.0, -0.5], 3), [1.0, -0.5, 2.0]);
        assert_eq!(Strangeness::Lead.of(&[f64::INFINITY], 2), [f64::MAX, -f64::MAX]);
    }
}

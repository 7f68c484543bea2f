//! From the scores of two-class fits to one of several classes, or to none.
//!
//! One-vs-one has a score `g_ij` for every pair `i < j`, in the order (0,1), (0,2) … (1,2) …: positive speaks for j, zero
//! and below for i. One-vs-rest and the linear machine have a score `g_k` for every class: positive speaks for it. Where
//! the fits are independent the answers may contradict each other; then the row is *undetermined*, or [`Ties`] says how
//! that is broken. With `g_ij = g_j − g_i` they cannot, and every vote is the arg max.

use crate::error::{Error, Result};
use crate::table::Class;
use crate::words::{Setting, words};
use serde::{Deserialize, Serialize};

/// How the pairs of classes decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vote {
    /// The class that wins the most pairs.
    #[default]
    Majority,
    /// The class that wins all of its pairs.
    Unanimity,
    /// The class with the largest sum of scores, `Σ_j g_kj` with `g_kj = −g_jk`.
    Scores,
}

/// What becomes of a row whose scores do not lead to one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// No class: that is the answer.
    #[default]
    Undetermined,
    /// Of the candidates the one with the largest (sum of) scores.
    Scores,
    /// The first candidate.
    First,
}

/// How the scores of two-class fits name one of several classes.
///
/// Candidates for [`Ties`] are the classes with the most votes, or those that are positive; all where none is.
///
/// ```
/// use linsep::decide::{Scheme, Ties, Vote};
/// use linsep::table::Class;
/// // 1 beats 0, 2 beats 1, 0 beats 2: nobody is the winner.
/// let circle = [1.0, -3.0, 1.0];
/// let by = |vote, ties| Scheme::OneVsOne { vote, ties }.class(&circle, 3);
/// assert_eq!(by(Vote::Majority, Ties::Undetermined), None);
/// assert_eq!(by(Vote::Majority, Ties::First), Some(Class(0)));
/// assert_eq!(by(Vote::Majority, Ties::Scores), Some(Class(0)));   // −1+3, 1−1, −3+1
/// assert_eq!(by(Vote::Scores, Ties::Undetermined), Some(Class(0)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "scheme", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Scheme {
    /// A score for every pair of classes.
    OneVsOne {
        /// How the pairs decide.
        vote: Vote,
        /// What becomes of contradictions.
        ties: Ties,
    },
    /// A score for every class against the rest: the class whose score is positive, if it is the only one.
    OneVsRest {
        /// What becomes of rows with no or several positive scores.
        ties: Ties,
    },
    /// The same scores: the class with the largest.
    LinearMachine {
        /// What becomes of scores that are equal.
        ties: Ties,
    },
}

impl Scheme {
    /// Number of scores for so many classes.
    pub fn n_scores(self, n_classes: usize) -> usize {
        match self {
            Scheme::OneVsOne { .. } => n_classes * n_classes.saturating_sub(1) / 2,
            Scheme::OneVsRest { .. } | Scheme::LinearMachine { .. } => n_classes,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::OneVsOne { .. } => "one-vs-one",
            Scheme::OneVsRest { .. } => "one-vs-rest",
            Scheme::LinearMachine { .. } => "linear-machine",
        }
    }

    /// What becomes of contradictions.
    pub fn ties(self) -> Ties {
        match self {
            Scheme::OneVsOne { ties, .. } | Scheme::OneVsRest { ties } | Scheme::LinearMachine { ties } => ties,
        }
    }

    /// The same scheme with other ties.
    pub fn with_ties(self, ties: Ties) -> Scheme {
        match self {
            Scheme::OneVsOne { vote, .. } => Scheme::OneVsOne { vote, ties },
            Scheme::OneVsRest { .. } => Scheme::OneVsRest { ties },
            Scheme::LinearMachine { .. } => Scheme::LinearMachine { ties },
        }
    }

    /// Whether only equal scores can tie, so that scores break nothing.
    pub fn compares_scores(self) -> bool {
        matches!(self, Scheme::LinearMachine { .. } | Scheme::OneVsOne { vote: Vote::Scores, .. })
    }

    /// Whether the scheme is the largest of one score per class (summed scores of pairs are such scores).
    pub fn is_arg_max(self) -> bool {
        self.compares_scores() || matches!(self, Scheme::OneVsRest { ties: Ties::Scores })
    }

    /// Whether the scheme makes sense for so many classes.
    pub fn check(self, n_classes: usize) -> Result<()> {
        if n_classes < 3 {
            return Err(Error::usage(format!("{} decides among several classes, and there are two", self.name()))
                .help(words![
                    "leave ",
                    Setting::Vote,
                    " and ",
                    Setting::Ties,
                    " out: the sign of the one score decides"
                ]));
        }
        if self.compares_scores() && self.ties() == Ties::Scores {
            let what =
                if let Scheme::OneVsOne { .. } = self { Setting::Vote.is("scores") } else { "a linear machine".into() };
            return Err(Error::usage(words![what, " ties only where scores are equal: they cannot break the tie"])
                .help(words!["use ", Setting::Ties.any(["undetermined", "first"])]));
        }
        Ok(())
    }

    /// The class of each row of scores; `None` where it is undetermined.
    pub fn classes(self, scores: &[f64], n_classes: usize) -> Vec<Option<Class>> {
        let mut tally = Tally::new(n_classes);
        scores.chunks_exact(self.n_scores(n_classes).max(1)).map(|row| tally.decide(self, row)).collect()
    }

    /// The class of one row of scores.
    pub fn class(self, scores: &[f64], n_classes: usize) -> Option<Class> {
        Tally::new(n_classes).decide(self, scores)
    }
}

/// Where the score of a pair `i < j` stands among those of all pairs of `n` classes.
pub fn pair_position(n: usize, i: usize, j: usize) -> usize {
    i * (2 * n - i - 1) / 2 + j - i - 1
}

/// Votes for and summed scores of every class, in one row after another.
pub(super) struct Tally {
    /// Pairs won; of one-vs-rest 1 for a positive score.
    pub(super) votes: Vec<u32>,
    /// Summed scores; of one-vs-rest the score.
    pub(super) sums: Vec<f64>,
}

impl Tally {
    pub(super) fn new(n_classes: usize) -> Tally {
        Tally { votes: vec![0; n_classes], sums: vec![0.0; n_classes] }
    }

    pub(super) fn count(&mut self, scheme: Scheme, scores: &[f64]) {
        let n = self.votes.len();
        if !matches!(scheme, Scheme::OneVsOne { .. }) {
            self.sums.copy_from_slice(scores);
            self.votes.iter_mut().zip(scores).for_each(|(vote, z)| *vote = u32::from(*z > 0.0));
            return;
        }
        self.votes.fill(0);
        self.sums.fill(0.0);
        let mut at = 0;
        for i in 0..n {
            for j in i + 1..n {
                let z = scores[at];
                at += 1;
                self.votes[if z > 0.0 { j } else { i }] += 1;
                self.sums[i] -= z;
                self.sums[j] += z;
            }
        }
    }

    fn decide(&mut self, scheme: Scheme, scores: &[f64]) -> Option<Class> {
        // A NaN score leaves the row undetermined.
        if scores.iter().any(|z| z.is_nan()) {
            return None;
        }
        self.count(scheme, scores);
        let n = self.votes.len();
        if scheme.compares_scores() {
            let largest = self.sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            return self.settle(scheme, |tally, k| tally.sums[k] == largest);
        }
        let most = self.votes.iter().copied().max().unwrap_or(0);
        match scheme {
            Scheme::OneVsOne { vote: Vote::Unanimity, ties: Ties::Undetermined } if (most as usize) < n - 1 => None,
            _ => self.settle(scheme, |tally, k| tally.votes[k] == most),
        }
    }

    /// The only candidate, or what the ties say.
    fn settle(&self, scheme: Scheme, is_candidate: impl Fn(&Tally, usize) -> bool) -> Option<Class> {
        let mut candidates = (0..self.votes.len()).filter(|k| is_candidate(self, *k));
        let first = candidates.next()?;
        let mut best = first;
        for k in candidates {
            match scheme.ties() {
                Ties::Undetermined => return None,
                Ties::First => break,
                Ties::Scores => best = if self.sums[k] > self.sums[best] { k } else { best },
            }
        }
        Some(Class(best as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL_TIES: [Ties; 3] = [Ties::Undetermined, Ties::Scores, Ties::First];

    #[test]
    fn pairs_stand_in_order() {
        for n in 2..7 {
            let mut at = 0;
            for i in 0..n {
                for j in i + 1..n {
                    assert_eq!(pair_position(n, i, j), at);
                    at += 1;
                }
            }
            assert_eq!(at, Scheme::OneVsOne { vote: Vote::Majority, ties: Ties::First }.n_scores(n));
        }
    }

    #[test]
    fn a_winner_of_all_pairs_wins_every_vote() {
        // 2 beats 0 and 1.
        for vote in [Vote::Majority, Vote::Unanimity, Vote::Scores] {
            for ties in ALL_TIES {
                assert_eq!(Scheme::OneVsOne { vote, ties }.class(&[-1.0, 2.0, 2.0], 3), Some(Class(2)));
            }
        }
    }

    #[test]
    fn unanimity_asks_for_more_than_majority() {
        // Of five classes 0 beats 1, 2 and 3, 4 beats 0, and nobody else wins more than two. With fewer classes a
        // majority that is not a tie is unanimous.
        let scores = [-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, -1.0, -1.0, -1.0, 1.0];
        let by = |vote, ties| Scheme::OneVsOne { vote, ties }.class(&scores, 5);
        assert_eq!(by(Vote::Majority, Ties::Undetermined), Some(Class(0)));
        assert_eq!(by(Vote::Unanimity, Ties::Undetermined), None);
        assert_eq!(by(Vote::Unanimity, Ties::First), Some(Class(0)));
        assert_eq!(by(Vote::Unanimity, Ties::Scores), Some(Class(0)));
    }

    #[test]
    fn one_positive_score_decides_and_none_or_two_do_not() {
        let rest = |ties| Scheme::OneVsRest { ties };
        for ties in ALL_TIES {
            assert_eq!(rest(ties).class(&[-1.0, 0.5, -2.0], 3), Some(Class(1)));
        }
        let (none, two) = ([-1.0, -0.5, 0.0], [-1.0, 0.5, 2.0]);
        assert_eq!((rest(Ties::Undetermined).class(&none, 3), rest(Ties::Undetermined).class(&two, 3)), (None, None));
        assert_eq!(rest(Ties::Scores).class(&none, 3), Some(Class(2)));
        assert_eq!(rest(Ties::Scores).class(&two, 3), Some(Class(2)));
        assert_eq!(rest(Ties::First).class(&none, 3), Some(Class(0)));
        assert_eq!(rest(Ties::First).class(&two, 3), Some(Class(1)));
    }

    #[test]
    fn a_linear_machine_takes_the_largest() {
        let machine = |ties| Scheme::LinearMachine { ties };
        assert_eq!(machine(Ties::First).class(&[-3.0, -1.0, -1.0], 3), Some(Class(1)));
        assert_eq!(machine(Ties::Undetermined).class(&[-3.0, -1.0, -1.0], 3), None);
        assert_eq!(machine(Ties::Undetermined).class(&[-3.0, -1.0, -1.5], 3), Some(Class(1)));
        assert!(machine(Ties::Scores).check(3).is_err());
        assert!(machine(Ties::First).check(2).is_err());
    }

    #[test]
    fn no_decision_on_what_is_not_a_number() {
        assert_eq!(Scheme::LinearMachine { ties: Ties::First }.class(&[f64::NAN, 1.0, 0.0], 3), None);
        assert_eq!(Scheme::OneVsRest { ties: Ties::First }.class(&[f64::NAN, 1.0, 0.0], 3), None);
    }
}

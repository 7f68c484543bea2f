//! How far a decision of two-class fits is from changing.
//!
//! Votes change only where a score changes its sign. So a decision holds at least as far as the nearest set of planes whose
//! crossing could change it: the least r such that crossing some of the planes within r gives another decision. A plane
//! within r need not be reachable on its own, which makes this a lower bound; it is exact where the nearest plane alone
//! decides, and where the region of the class is the intersection of half spaces (unanimity, the only positive score).

use super::scheme::Tally;
use super::{Scheme, Ties, Vote, pair_position};
use crate::table::Class;

impl Scheme {
    /// A distance by which a row can move in any direction without changing its decision, infinite where it never changes:
    /// from its scores, its distances to the planes where they are zero, and its distance to the plane where two classes
    /// have the same (sum of) scores.
    ///
    /// ```
    /// use linsep::decide::{Scheme, Ties};
    /// let rest = Scheme::OneVsRest { ties: Ties::Undetermined };
    /// // Class 0 is the only positive one until class 2 joins it.
    /// assert_eq!(rest.radius(&[2.0, -3.0, -1.0], &[2.0, 3.0, 1.0], 3, |_, _| 0.0), 1.0);
    /// ```
    pub fn radius(
        self,
        scores: &[f64],
        distances: &[f64],
        n_classes: usize,
        between: impl Fn(usize, usize) -> f64,
    ) -> f64 {
        let mut tally = Tally::new(n_classes);
        tally.count(self, scores);
        let nearest = distances.iter().copied().fold(f64::INFINITY, f64::min);
        let decided = self.class(scores, n_classes);
        if self.is_arg_max() {
            let class = decided.map(Class::index);
            let others = class.into_iter().flat_map(|c| (0..n_classes).filter(move |k| *k != c).map(move |k| (c, k)));
            return match class {
                Some(_) => others.map(|(c, k)| between(c, k)).fold(f64::INFINITY, f64::min),
                None => 0.0,
            };
        }
        match self {
            Scheme::OneVsOne { vote, ties } => {
                let pairs = PairWins { scores, distances, n_classes };
                let most = tally.votes.iter().copied().max().unwrap_or(0);
                let candidates: Vec<usize> = (0..n_classes).filter(|k| tally.votes[*k] == most).collect();
                match (&candidates[..], decided) {
                    (&[k], Some(_)) if most as usize == n_classes - 1 && vote == Vote::Unanimity => {
                        pairs.of(k).map(|(_, at)| distances[at]).fold(f64::INFINITY, f64::min)
                    }
                    (&[k], Some(_)) => pairs.until_outvoted(k, &tally),
                    (_, None) if vote == Vote::Unanimity => {
                        (0..n_classes).map(|k| pairs.to_win_all(k)).fold(f64::INFINITY, f64::min)
                    }
                    (tied, Some(class)) if ties == Ties::Scores => {
                        let others = tied.iter().filter(|k| **k != class.index());
                        others.map(|k| between(class.index(), *k)).fold(nearest, f64::min)
                    }
                    _ => nearest,
                }
            }
            _ => {
                let mut positive: Vec<f64> =
                    (0..n_classes).filter(|k| scores[*k] > 0.0).map(|k| distances[k]).collect();
                match (decided, positive.len()) {
                    // All but one must turn negative.
                    (None, n) if n > 1 => {
                        positive.sort_unstable_by(f64::total_cmp);
                        positive[n - 2]
                    }
                    _ => nearest,
                }
            }
        }
    }
}

/// The scores of all pairs of classes.
struct PairWins<'a> {
    scores: &'a [f64],
    distances: &'a [f64],
    n_classes: usize,
}

impl PairWins<'_> {
    /// The pairs of a class: the other one, and where the score stands.
    fn of(&self, k: usize) -> impl Iterator<Item = (usize, usize)> {
        let n = self.n_classes;
        (0..n).filter(move |j| *j != k).map(move |j| (j, pair_position(n, k.min(j), k.max(j))))
    }

    /// Whether k wins a pair against j.
    fn wins(&self, k: usize, j: usize, at: usize) -> bool {
        (self.scores[at] > 0.0) == (k > j)
    }

    /// The distance within which all lost pairs of k lie.
    fn to_win_all(&self, k: usize) -> f64 {
        let lost = self.of(k).filter(|(j, at)| !self.wins(k, *j, *at));
        lost.map(|(_, at)| self.distances[at]).fold(0.0, f64::max)
    }

    /// The least distance such that, if all pairs within it could be turned, another class might have as many votes as k.
    fn until_outvoted(&self, k: usize, tally: &Tally) -> f64 {
        let n = self.n_classes;
        let mut order: Vec<(usize, usize)> = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect();
        let distance = |(i, j): &(usize, usize)| self.distances[pair_position(n, *i, *j)];
        order.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        let (mut own, mut best) = (tally.votes[k], tally.votes.clone());
        for (i, j) in order {
            let at = pair_position(n, i, j);
            let (winner, loser) = if self.scores[at] > 0.0 { (j, i) } else { (i, j) };
            if winner == k {
                own -= 1;
            }
            best[loser] += 1;
            if (0..n).any(|c| c != k && best[c] >= own) {
                return self.distances[at];
            }
        }
        f64::INFINITY
    }
}

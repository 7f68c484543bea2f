//! The figures of every threshold between two classes: one sort, then counts from the top down.
//!
//! Kolmogorov–Smirnov, Gini, lift, and the threshold that meets a target all are read off the same curve.

use super::Scored;
use super::auc::rank;
use crate::error::{Error, Result};

/// Shares of the rows, from the top of the ranking, for which lift is given: the deciles that reports use.
const TOPS: [f64; 5] = [0.1, 0.2, 0.3, 0.4, 0.5];
/// Thresholds of the table: nine even steps.
const STEPS: usize = 10;

/// The figures of the decision "the last class where its probability exceeds the threshold".
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ThresholdFigures {
    /// The threshold.
    pub threshold: f64,
    /// Weight of the rows above it.
    pub above: f64,
    /// Share of the last class that is above.
    pub recall: Option<f64>,
    /// Share of the rows above that are of the last class.
    pub precision: Option<f64>,
    /// Share of the first class that is not above.
    pub specificity: Option<f64>,
    /// Harmonic mean of precision and recall.
    pub f1: Option<f64>,
    /// Share of all rows on their side.
    pub accuracy: f64,
}

/// Gains from going through the rows from the likeliest down.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Lift {
    /// Share of all rows that are taken.
    pub top: f64,
    /// Share of the last class that is among them.
    pub captured: f64,
    /// That over the share taken: how many times better than chance.
    pub lift: f64,
}

/// How well two classes are ranked.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct RankingReport {
    /// Largest distance between the distribution functions of the two classes.
    pub kolmogorov_smirnov: f64,
    /// The probability where it is reached: above it lies more of the last class.
    pub at: f64,
    /// `2 AUC − 1`.
    pub gini: f64,
    /// Lift of the first rows, ties taken in proportion.
    pub lift: Vec<Lift>,
}

/// A figure that a threshold can be made to reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WantedFigure {
    /// Of the last class.
    Recall,
    /// Of the last class.
    Precision,
    /// Of the first class.
    Specificity,
}

/// A target, and the threshold that meets it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ThresholdTarget {
    /// Which figure.
    pub wanted: WantedFigure,
    /// At least this.
    pub target: f64,
    /// The threshold that meets it and gives up least of the others: for a recall the highest, otherwise the lowest;
    /// `None` where none does.
    pub found: Option<ThresholdFigures>,
}

/// Rows of one rank, counted.
#[derive(Clone, Copy)]
struct Level {
    p: f64,
    /// Tells apart what p cannot.
    rank: f64,
    own: f64,
    rest: f64,
}

/// The probabilities of two classes as a curve.
pub(super) struct Curve {
    /// From the highest probability down.
    levels: Vec<Level>,
    own: f64,
    rest: f64,
}

impl Curve {
    /// Of rows that were checked before; `None` unless there are two classes and both occur.
    pub fn of(scored: &Scored<'_>, probabilities: &[f64]) -> Option<Curve> {
        if scored.classes.len() != 2 {
            return None;
        }
        let mut rows: Vec<Level> = (0..scored.truth.len())
            .filter(|r| scored.weight(*r) > 0.0)
            .map(|r| {
                let (weight, is_own) = (scored.weight(r), scored.truth[r].index() == 1);
                let p = probabilities[2 * r + 1].min(1.0) + 0.0;
                let rank = rank(&probabilities[2 * r..2 * r + 2], 1) + 0.0;
                Level { p, rank, own: if is_own { weight } else { 0.0 }, rest: if is_own { 0.0 } else { weight } }
            })
            .collect();
        rows.sort_by(|a, b| b.rank.total_cmp(&a.rank));
        let merge = |tied: &[Level]| {
            tied.iter().fold(Level { own: 0.0, rest: 0.0, ..tied[0] }, |sum, row| Level {
                own: sum.own + row.own,
                rest: sum.rest + row.rest,
                ..sum
            })
        };
        let levels: Vec<Level> = rows.chunk_by(|a, b| a.rank == b.rank).map(merge).collect();
        let (own, rest) = levels.iter().fold((0.0, 0.0), |(own, rest), l| (own + l.own, rest + l.rest));
        (own > 0.0 && rest > 0.0).then_some(Curve { levels, own, rest })
    }

    /// Kolmogorov–Smirnov, Gini and lift.
    pub fn ranking(&self) -> RankingReport {
        let (mut own, mut rest, mut area) = (0.0, 0.0, 0.0);
        let (mut distance, mut at) = (0.0, 1.0);
        for level in &self.levels {
            // Pairs of a row of the last class here with rows of the first below, ties half.
            area += level.own * (self.rest - rest - 0.5 * level.rest);
            own += level.own;
            rest += level.rest;
            let gap = own / self.own - rest / self.rest;
            if gap.abs() > distance {
                (distance, at) = (gap.abs(), level.p);
            }
        }
        let gini = 2.0 * area / (self.own * self.rest) - 1.0;
        RankingReport { kolmogorov_smirnov: distance, at, gini, lift: TOPS.map(|top| self.lift(top)).to_vec() }
    }

    fn lift(&self, top: f64) -> Lift {
        let mut left = top * (self.own + self.rest);
        let mut own = 0.0;
        for level in &self.levels {
            let weight = level.own + level.rest;
            let taken = left.min(weight);
            own += level.own * taken / weight;
            left -= taken;
            if left <= 0.0 {
                break;
            }
        }
        Lift { top, captured: own / self.own, lift: own / self.own / top }
    }

    /// The table at even steps.
    pub fn table(&self) -> Vec<ThresholdFigures> {
        let (mut own, mut rest) = (0.0, 0.0);
        let mut levels = self.levels.iter().peekable();
        let mut out = Vec::new();
        for step in (1..STEPS).rev() {
            let threshold = step as f64 / STEPS as f64;
            while let Some(level) = levels.next_if(|level| level.p > threshold) {
                own += level.own;
                rest += level.rest;
            }
            out.push(self.figures(threshold, own, rest));
        }
        out
    }

    fn figures(&self, threshold: f64, own: f64, rest: f64) -> ThresholdFigures {
        let share = |part: f64, of: f64| (of > 0.0).then(|| part / of);
        let missed = self.own - own;
        ThresholdFigures {
            threshold,
            above: own + rest,
            recall: share(own, self.own),
            precision: share(own, own + rest),
            specificity: share(self.rest - rest, self.rest),
            f1: share(2.0 * own, 2.0 * own + rest + missed),
            accuracy: (own + self.rest - rest) / (self.own + self.rest),
        }
    }

    /// The threshold that meets a target.
    ///
    /// # Errors
    /// A target that is not a share.
    pub fn meet(&self, wanted: WantedFigure, target: f64) -> Result<ThresholdTarget> {
        if !(target > 0.0 && target <= 1.0) {
            return Err(Error::usage(format!("{target} is not a share that can be wanted"))
                .help("a share is above 0 and at most 1, 0.9 for example"));
        }
        let (mut own, mut rest) = (0.0, 0.0);
        // Above all rows every row of the first class is on its side.
        let above = self.levels.first().and_then(|top| below(1.0, top.p));
        let mut found = above.filter(|_| wanted == WantedFigure::Specificity).map(|t| self.figures(t, 0.0, 0.0));
        for (at, level) in self.levels.iter().enumerate() {
            own += level.own;
            rest += level.rest;
            let Some(threshold) = below(level.p, self.levels.get(at + 1).map_or(0.0, |next| next.p)) else { continue };
            let figures = self.figures(threshold, own, rest);
            let value = match wanted {
                WantedFigure::Recall => figures.recall,
                WantedFigure::Precision => figures.precision,
                WantedFigure::Specificity => figures.specificity,
            };
            if value.is_some_and(|value| value >= target) {
                found = Some(figures);
                // From here on recall only grows and the other figures fall; for those the last threshold that meets the
                // target is sought.
                if wanted == WantedFigure::Recall {
                    break;
                }
            }
        }
        Ok(ThresholdTarget { wanted, target, found })
    }
}

/// A threshold strictly between 0 and 1 that p exceeds and the next lower probability does not; `None` for p = 0.
fn below(p: f64, next: f64) -> Option<f64> {
    let middle = 0.5 * (p + next);
    let threshold = if middle < p { middle } else { next };
    (threshold > 0.0 && threshold < p).then_some(threshold)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Class;

    /// The curve of rows given by probability and class.
    fn curve(rows: &[(f64, u32)], weights: Option<&[f64]>) -> Curve {
        let classes = ["a".to_owned(), "b".to_owned()];
        let truth: Vec<Class> = rows.iter().map(|(_, c)| Class(*c)).collect();
        let p: Vec<f64> = rows.iter().flat_map(|(p, _)| [1.0 - p, *p]).collect();
        let scored = Scored {
            classes: &classes,
            truth: &truth,
            predicted: &[],
            decision: None,
            probabilities: None,
            losses: None,
            weights,
            origin: None,
        };
        Curve::of(&scored, &p).unwrap()
    }

    const ROWS: [(f64, u32); 8] = [(0.9, 1), (0.8, 1), (0.8, 0), (0.6, 1), (0.4, 0), (0.3, 1), (0.2, 0), (0.1, 0)];

    #[test]
    fn ranking_by_hand() {
        let report = curve(&ROWS, None).ranking();
        // All 16 pairs: 0.9 beats 4, 0.8 beats 3½, 0.6 beats 3, 0.3 beats 2.
        assert!((report.gini - (2.0 * 12.5 / 16.0 - 1.0)).abs() < 1e-15);
        assert_eq!((report.kolmogorov_smirnov, report.at), (0.5, 0.6));
        // A quarter of all rows: 0.9 and one of the two tied at 0.8, half of it own.
        let lift = curve(&ROWS, None).lift(0.25);
        assert!((lift.captured - 1.5 / 4.0).abs() < 1e-15 && (lift.lift - 1.5).abs() < 1e-15);
    }

    #[test]
    fn the_table_is_what_a_count_says() {
        for figures in curve(&ROWS, None).table() {
            let t = figures.threshold;
            let above: Vec<u32> = ROWS.iter().filter(|(p, _)| *p > t).map(|(_, c)| *c).collect();
            let own = above.iter().filter(|c| **c == 1).count() as f64;
            assert_eq!((figures.above, figures.recall), (above.len() as f64, Some(own / 4.0)), "{t}");
            assert_eq!(figures.precision, (!above.is_empty()).then(|| own / above.len() as f64));
            let right = own + 4.0 - (above.len() as f64 - own);
            assert_eq!(figures.accuracy, right / 8.0);
        }
    }

    #[test]
    fn targets_are_met_by_the_best_threshold() {
        let curve = curve(&ROWS, None);
        let recall = curve.meet(WantedFigure::Recall, 0.75).unwrap().found.unwrap();
        assert!((recall.threshold - 0.5).abs() < 1e-15 && recall.precision == Some(0.75));
        assert_eq!(curve.meet(WantedFigure::Recall, 1.0).unwrap().found.unwrap().recall, Some(1.0));
        // 1, 2/3, 3/4, 3/5, 2/3, 4/7, 1/2 from the top: the lowest with three quarters is at 0.6.
        let precision = curve.meet(WantedFigure::Precision, 0.75).unwrap().found.unwrap();
        assert_eq!((precision.threshold, precision.recall), (0.5, Some(0.75)));
        let specificity = curve.meet(WantedFigure::Specificity, 0.75).unwrap().found.unwrap();
        assert_eq!((specificity.recall, specificity.specificity), (Some(0.75), Some(0.75)));
        assert!(curve.meet(WantedFigure::Recall, 1.5).is_err() && curve.meet(WantedFigure::Recall, f64::NAN).is_err());
        // Precision 1 without the top row is out of reach.
        let hard = super::tests::curve(&[(0.9, 0), (0.5, 1), (0.0, 1)], None);
        assert_eq!(hard.meet(WantedFigure::Precision, 0.9).unwrap().found, None);
        // With the top row of the first class, only a threshold above all rows has every one of that class on its side.
        let specific = hard.meet(WantedFigure::Specificity, 0.9).unwrap().found.unwrap();
        assert_eq!((specific.specificity, specific.recall, specific.above), (Some(1.0), Some(0.0), 0.0));
        assert!(specific.threshold >= 0.9 && specific.threshold < 1.0);
        // Of a row of probability 1 there is no threshold above.
        let certain = super::tests::curve(&[(1.0, 0), (0.5, 1)], None);
        assert_eq!(certain.meet(WantedFigure::Specificity, 0.9).unwrap().found, None);
        // A row of probability 0 is above no threshold.
        assert_eq!(hard.meet(WantedFigure::Recall, 1.0).unwrap().found, None);
    }

    #[test]
    fn weights_are_copies() {
        let weights = [2.0, 1.0, 3.0, 0.0, 1.0, 2.0, 1.0, 1.0];
        let copies: Vec<(f64, u32)> =
            ROWS.iter().zip(weights).flat_map(|(row, w)| std::iter::repeat_n(*row, w as usize)).collect();
        let (a, b) = (curve(&ROWS, Some(&weights)), curve(&copies, None));
        assert_eq!(a.table(), b.table());
        assert!((a.ranking().gini - b.ranking().gini).abs() < 1e-15);
    }
}

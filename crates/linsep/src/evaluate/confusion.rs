//! Which class was taken for which, and what follows from the counts alone: accuracy, balanced accuracy, F1.

use super::interval::{IntervalPart, combine, wilson};
use super::{Estimate, Metric, PerClass, Scored};
use serde::Serialize;

/// Total weight of the rows of each true class (first index) that were given each class (second index); rejected and
/// undetermined rows were given none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Confusion {
    /// Class names, of rows and columns alike.
    pub classes: Vec<String>,
    /// `counts[truth][predicted]`.
    pub counts: Vec<Vec<f64>>,
}

/// Why there is no accuracy.
const NOTHING_DECIDED: &str = "no row was decided";

impl Confusion {
    pub(super) fn new(scored: &Scored<'_>) -> Confusion {
        let n_classes = scored.classes.len();
        let mut counts = vec![vec![0.0; n_classes]; n_classes];
        for (row, (truth, predicted)) in scored.truth.iter().zip(scored.predicted).enumerate() {
            if let Some(predicted) = predicted {
                counts[truth.index()][predicted.index()] += scored.weight(row);
            }
        }
        Confusion { classes: scored.classes.to_vec(), counts }
    }

    /// Total weight of the rows of a true class.
    fn occurring(&self, class: usize) -> f64 {
        self.counts[class].iter().sum()
    }

    fn total(&self) -> f64 {
        self.counts.iter().flatten().sum()
    }

    /// Share of the decided rows that were given their own class.
    pub(super) fn accuracy(&self) -> Metric {
        let right: f64 = (0..self.classes.len()).map(|c| self.counts[c][c]).sum();
        let total = self.total();
        if total <= 0.0 {
            return Metric::undefined(NOTHING_DECIDED);
        }
        let estimate = Estimate::new(right / total, Some(wilson(right, total)), "Wilson score interval");
        Metric::Estimated(estimate.needs_two(total))
    }

    /// Mean over the occurring classes of the recall. Given how often each class occurs, the recalls are independent
    /// proportions.
    pub(super) fn balanced_accuracy(&self) -> Metric {
        let totals: Vec<f64> = (0..self.classes.len()).map(|c| self.occurring(c)).collect();
        let present = totals.iter().filter(|t| **t > 0.0).count();
        if present == 0 {
            return Metric::undefined(NOTHING_DECIDED);
        }
        let parts: Vec<IntervalPart> = (0..self.classes.len())
            .filter(|c| totals[*c] > 0.0)
            .map(|c| IntervalPart {
                share: 1.0 / present as f64,
                value: self.counts[c][c] / totals[c],
                interval: wilson(self.counts[c][c], totals[c]),
            })
            .collect();
        let (value, interval) = combine(&parts);
        let over = over_classes(present, self.classes.len());
        let method = format!("mean recall over {over}; Wilson intervals combined (MOVER)");
        Metric::Estimated(Estimate::new(value, Some(interval), method).needs_two(self.total()))
    }

    /// `F1 = 2 tp / (2 tp + fp + fn)` of every class.
    ///
    /// With `j = tp / (tp + fp + fn)`, `F1 = 2 j / (1 + j)` increases in `j`; and given `m = tp + fp + fn`, the
    /// multinomial cells make `tp` binomial with `m` trials and chance `j`. So Wilson's interval for `j`, carried through
    /// the formula, is one for F1 that has the variance of the delta method and positive width at 0 and 1
    /// (Lam, Gopal and Qian, arXiv:2309.14621).
    pub(super) fn f1(&self) -> PerClass {
        let total = self.total();
        let of = |class: usize| {
            let name = &self.classes[class];
            let hit = self.counts[class][class];
            let others = (0..self.classes.len()).filter(|o| *o != class);
            let missed_or_false: f64 = others.map(|o| self.counts[class][o] + self.counts[o][class]).sum();
            let trials = hit + missed_or_false;
            if trials <= 0.0 {
                return Metric::undefined(format!("class `{name}` neither occurs nor is predicted"));
            }
            let f1 = |j: f64| 2.0 * j / (1.0 + j);
            let (low, high) = wilson(hit, trials);
            let value = 2.0 * hit / (2.0 * hit + missed_or_false);
            let interval = (f1(low).min(value), f1(high).max(value));
            let method = "Wilson interval of tp/(tp+fp+fn), carried to F1";
            Metric::Estimated(Estimate::new(value, Some(interval), method).needs_two(total))
        };
        PerClass::new((0..self.classes.len()).map(|c| (self.classes[c].clone(), of(c))).collect())
    }
}

/// Words for the classes a mean runs over.
pub(super) fn over_classes(present: usize, all: usize) -> String {
    match present == all {
        true => format!("{all} classes"),
        false => format!("the {present} of {all} classes that occur"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confusion(counts: &[&[f64]]) -> Confusion {
        let classes = ["a", "b", "c"].iter().take(counts.len()).map(|c| c.to_string()).collect();
        Confusion { classes, counts: counts.iter().map(|r| r.to_vec()).collect() }
    }

    #[test]
    fn by_hand() {
        let c = confusion(&[&[3.0, 1.0], &[2.0, 4.0]]);
        assert_eq!(c.accuracy().value(), Some(0.7));
        assert_eq!(c.accuracy().interval(), Some(wilson(7.0, 10.0)));
        assert!((c.balanced_accuracy().value().unwrap() - (0.75 + 4.0 / 6.0) / 2.0).abs() < 1e-15);
        assert!((c.f1().get("a").unwrap().value().unwrap() - 6.0 / 9.0).abs() < 1e-15);
        assert!((c.f1().get("b").unwrap().value().unwrap() - 8.0 / 11.0).abs() < 1e-15);
    }

    #[test]
    fn f1_interval_agrees_with_the_delta_method_for_many_rows() {
        // dF/dtp = 2(fp+fn)/(2tp+fp+fn)², dF/dfp = dF/dfn = −2tp/(2tp+fp+fn)²; multinomial cells over n rows.
        let (tp, fp, miss, rest) = (4.0e6, 1.0e6, 2.0e6, 3.0e6);
        let n = tp + fp + miss + rest;
        let c = confusion(&[&[rest, fp], &[miss, tp]]);
        let d = 2.0 * tp + fp + miss;
        let gradient = [2.0 * (fp + miss) / d.powi(2), -2.0 * tp / d.powi(2), -2.0 * tp / d.powi(2)];
        let cells = [tp, fp, miss];
        let mean: f64 = gradient.iter().zip(cells).map(|(g, x)| g * x).sum();
        let second: f64 = gradient.iter().zip(cells).map(|(g, x)| g * g * x).sum();
        let half = 1.959963984540054 * (second - mean * mean / n).sqrt();
        let (low, high) = c.f1().get("b").unwrap().interval().unwrap();
        assert!(((high - low) / (2.0 * half) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn perfect_and_hopeless_have_width() {
        let c = confusion(&[&[5.0, 0.0, 0.0], &[0.0, 7.0, 0.0], &[0.0, 2.0, 0.0]]);
        let f1 = c.f1();
        assert!(f1.get("a").unwrap().interval().unwrap().0 < 0.8);
        let hopeless = f1.get("c").unwrap();
        assert_eq!(hopeless.value(), Some(0.0));
        assert!(hopeless.interval().unwrap().1 > 0.2);
        let perfect = confusion(&[&[5.0, 0.0], &[0.0, 7.0]]).balanced_accuracy();
        let (low, high) = perfect.interval().unwrap();
        assert!(low < 0.8 && high == 1.0);
    }

    #[test]
    fn absent_classes_are_said() {
        let c = confusion(&[&[5.0, 1.0, 0.0], &[0.0, 0.0, 0.0], &[0.0, 0.0, 0.0]]);
        let balanced = c.balanced_accuracy();
        let balanced = balanced.estimate().unwrap();
        assert!((balanced.value - 5.0 / 6.0).abs() < 1e-15);
        assert!(balanced.method.contains("the 1 of 3 classes that occur"), "{}", balanced.method);
        let (low, high) = balanced.interval.unwrap();
        let (l, h) = wilson(5.0, 6.0);
        assert!((low - l).abs() < 1e-15 && (high - h).abs() < 1e-15);
        assert_eq!(c.f1().get("b").unwrap().value(), Some(0.0));
        assert!(c.f1().get("c").unwrap().reason().unwrap().contains("neither occurs nor is predicted"));
    }
}

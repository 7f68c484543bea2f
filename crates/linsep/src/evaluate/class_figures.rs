//! Precision, recall and F1 of every class, and of all together.

use super::interval::wilson;
use super::{Confusion, Estimate, Metric};

/// What was decided for and about one class.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ClassFigures {
    /// Name of the class.
    pub class: String,
    /// Weight of its rows that were decided.
    pub weight: f64,
    /// Share of the rows given this class that are of it.
    pub precision: Metric,
    /// Share of its decided rows that were given it.
    pub recall: Metric,
    /// Their harmonic mean.
    pub f1: Metric,
}

/// Figures of the classes, and their means.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ClassReport {
    /// Every class.
    pub classes: Vec<ClassFigures>,
    /// Mean F1 of the classes that have one.
    pub macro_f1: Option<f64>,
    /// F1 of all decisions taken together: of rows that were decided it is the accuracy.
    pub micro_f1: Option<f64>,
}

/// From the counts.
pub(super) fn class_report(confusion: &Confusion) -> ClassReport {
    let k = confusion.classes.len();
    let f1 = confusion.f1();
    let share = |right: f64, of: f64, none: &str| match of > 0.0 {
        true => {
            Metric::Estimated(Estimate::new(right / of, Some(wilson(right, of)), "Wilson score interval").needs_two(of))
        }
        false => Metric::undefined(none),
    };
    let figures = |c: usize| {
        let (right, weight) = (confusion.counts[c][c], confusion.counts[c].iter().sum());
        let given: f64 = (0..k).map(|truth| confusion.counts[truth][c]).sum();
        ClassFigures {
            class: confusion.classes[c].clone(),
            weight,
            precision: share(right, given, "no row was given this class"),
            recall: share(right, weight, "no decided row is of this class"),
            f1: f1.get(&confusion.classes[c]).cloned().unwrap_or_else(|| Metric::undefined("no such class")),
        }
    };
    let classes: Vec<ClassFigures> = (0..k).map(figures).collect();
    let defined: Vec<f64> = classes.iter().filter_map(|c| c.f1.value()).collect();
    let total: f64 = confusion.counts.iter().flatten().sum();
    let right: f64 = (0..k).map(|c| confusion.counts[c][c]).sum();
    ClassReport {
        macro_f1: (!defined.is_empty()).then(|| defined.iter().sum::<f64>() / defined.len() as f64),
        micro_f1: (total > 0.0).then(|| right / total),
        classes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let classes = ["a", "b", "c"].map(str::to_owned).to_vec();
        let counts = vec![vec![3.0, 1.0, 0.0], vec![2.0, 4.0, 0.0], vec![0.0, 0.0, 0.0]];
        let report = class_report(&Confusion { classes, counts });
        let [a, b, c] = &report.classes[..] else { panic!("three classes") };
        assert_eq!((a.precision.value(), a.recall.value(), a.weight), (Some(0.6), Some(0.75), 4.0));
        assert_eq!(a.recall.interval(), Some(wilson(3.0, 4.0)));
        assert!((b.f1.value().unwrap() - 8.0 / 11.0).abs() < 1e-15);
        assert!(c.precision.reason().is_some() && c.recall.reason().is_some() && c.f1.value().is_none());
        assert!((report.macro_f1.unwrap() - 0.5 * (6.0 / 9.0 + 8.0 / 11.0)).abs() < 1e-15);
        assert_eq!(report.micro_f1, Some(0.7));
    }
}

//! How good the probabilities are: log loss and Brier score, both means over the rows.

use super::interval::Moments;
use super::{Estimate, Metric, Scored};

/// `−Σ w ln p(own class) / Σ w`, without clipping: probability 0 for what happened is an infinite loss, and said so.
/// From the losses where they are given, else from the probabilities; `None` without either.
pub(super) fn log_loss(scored: &Scored<'_>) -> Option<Metric> {
    let n_classes = scored.classes.len();
    match (scored.losses, scored.probabilities) {
        (Some(losses), _) => Some(mean_log_loss(scored, |row| losses[row])),
        // A probability a rounding above one would make the loss negative.
        (None, Some(p)) => {
            Some(mean_log_loss(scored, |row| -p[row * n_classes + scored.truth[row].index()].min(1.0).ln()))
        }
        (None, None) => None,
    }
}

fn mean_log_loss(scored: &Scored<'_>, loss: impl Fn(usize) -> f64) -> Metric {
    let mut moments = Moments::new();
    let mut impossible: Option<(usize, usize)> = None;
    for row in 0..scored.truth.len() {
        let (loss, weight) = (loss(row), scored.weight(row));
        if loss.is_finite() {
            // Minus the logarithm of one is minus zero.
            moments.add(loss + 0.0, weight);
        } else if weight > 0.0 {
            let (first, count) = impossible.unwrap_or((row, 0));
            impossible = Some((first, count + 1));
        }
    }
    if let Some((first, count)) = impossible {
        let class = &scored.classes[scored.truth[first].index()];
        let rows = if count == 1 { "1 row".to_owned() } else { format!("{count} rows") };
        return Metric::undefined(format!(
            "infinite: {rows} got probability 0 for the true class, first at {}, of class `{class}`",
            scored.place(first)
        ));
    }
    Metric::Estimated(mean_loss(&moments, (0.0, f64::INFINITY), "mean of −ln p(true class)", scored.total_weight()))
}

/// Mean squared error of the probabilities: `(p − y)²` of the last class for two classes, `Σ_k (p_k − y_k)²` for more.
pub(super) fn brier(scored: &Scored<'_>, probabilities: &[f64]) -> Estimate {
    let mut moments = Moments::new();
    squared_errors(scored, probabilities, |row, loss| moments.add(loss, scored.weight(row)));
    let (range, what) = match scored.classes.len() {
        2 => ((0.0, 1.0), format!("mean of (p − y)² for class `{}`, from 0 to 1", scored.classes[1])),
        _ => ((0.0, 2.0), "mean of the sum over classes of (p − y)², from 0 to 2".to_owned()),
    };
    mean_loss(&moments, range, &what, scored.total_weight())
}

/// Each row with its term of the Brier score.
pub(super) fn squared_errors(scored: &Scored<'_>, probabilities: &[f64], mut visit: impl FnMut(usize, f64)) {
    let n_classes = scored.classes.len();
    for (row, (truth, p)) in scored.truth.iter().zip(probabilities.chunks_exact(n_classes)).enumerate() {
        let error = |k: usize| (p[k] - if truth.index() == k { 1.0 } else { 0.0 }).powi(2);
        visit(row, if n_classes == 2 { error(1) } else { (0..n_classes).map(error).sum() });
    }
}

/// A mean of losses with its normal interval; none where the losses show no spread to estimate it from.
pub(super) fn mean_loss(moments: &Moments, range: (f64, f64), what: &str, total_weight: f64) -> Estimate {
    let estimate = match moments.is_constant() {
        true => Estimate::new(moments.mean(), None, format!("{what}; no interval: every row has the same loss")),
        false => {
            let interval = moments.interval(range);
            match interval.1.is_finite() {
                true => Estimate::new(moments.mean(), Some(interval), format!("{what}; normal interval of the mean")),
                false => {
                    let reason = format!("{what}; no interval: the spread of the losses exceeds the largest number");
                    Estimate::new(moments.mean(), None, reason)
                }
            }
        }
    };
    estimate.needs_two(total_weight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Class;

    fn names(n: usize) -> Vec<String> {
        ["a", "b", "c"].iter().take(n).map(|s| s.to_string()).collect()
    }

    fn scored<'a>(classes: &'a [String], truth: &'a [Class], p: &'a [f64]) -> Scored<'a> {
        // What was decided plays no part here.
        Scored {
            classes,
            truth,
            predicted: &[],
            decision: None,
            probabilities: Some(p),
            losses: None,
            weights: None,
            origin: None,
        }
    }

    #[test]
    fn by_hand() {
        let classes = names(2);
        let truth = [Class(0), Class(1), Class(1)];
        let p = [0.5, 0.5, 0.75, 0.25, 0.0, 1.0];
        let scored = scored(&classes, &truth, &p);
        let loss = log_loss(&scored).unwrap();
        // ln 2, ln 4, 0: mean ln 2, variance (ln 2)².
        let ln2 = std::f64::consts::LN_2;
        assert!((loss.value().unwrap() - ln2).abs() < 1e-15);
        let (low, high) = loss.interval().unwrap();
        assert_eq!(low, 0.0);
        assert!((high - ln2 * (1.0 + 1.959963984540054 / 3f64.sqrt())).abs() < 1e-14);
        assert!((brier(&scored, &p).value - (0.25 + 0.5625) / 3.0).abs() < 1e-15);
    }

    #[test]
    fn many_classes_sum_the_squares() {
        let classes = names(3);
        let (truth, p) = ([Class(2), Class(0)], [0.2, 0.3, 0.5, 1.0, 0.0, 0.0]);
        let scored = scored(&classes, &truth, &p);
        let score = brier(&scored, &p);
        assert!((score.value - (0.04 + 0.09 + 0.25) / 2.0).abs() < 1e-15);
        assert!(score.method.contains("sum over classes"));
    }

    #[test]
    fn impossible_events_are_named_unless_they_weigh_nothing() {
        let classes = names(2);
        let (truth, p) = ([Class(0), Class(1), Class(0)], [0.5, 0.5, 1.0, 0.0, 0.6, 0.4]);
        let scored = scored(&classes, &truth, &p);
        let reason = log_loss(&scored).unwrap().reason().unwrap().to_owned();
        assert_eq!(reason, "infinite: 1 row got probability 0 for the true class, first at row 2, of class `b`");
        let weighted = Scored { weights: Some(&[1.0, 0.0, 1.0]), ..scored };
        assert!(log_loss(&weighted).unwrap().value().is_some());
    }

    #[test]
    fn equal_losses_give_no_interval() {
        let classes = names(2);
        let (truth, p) = ([Class(0), Class(1), Class(0)], [0.5; 6]);
        let scored = scored(&classes, &truth, &p);
        let score = brier(&scored, &p);
        assert_eq!((score.value, score.interval), (0.25, None));
        assert!(score.method.contains("same loss"));
    }

    #[test]
    fn losses_come_before_probabilities() {
        let classes = names(2);
        // Of the first row the probability has underflowed; the second is as the probabilities say.
        let (truth, p) = ([Class(1), Class(0)], [1.0, 0.0, 0.5, 0.5]);
        let ln2 = std::f64::consts::LN_2;
        let scored = Scored { losses: Some(&[2000.0, ln2]), ..scored(&classes, &truth, &p) };
        let loss = log_loss(&scored).unwrap();
        let mean = (2000.0 + ln2) / 2.0;
        assert!((loss.value().unwrap() - mean).abs() < 1e-12 * mean);
        // Two values: s/√n is half their distance.
        let (low, high) = loss.interval().unwrap();
        assert_eq!(low, 0.0);
        assert!((high - (mean + 1.959963984540054 * (2000.0 - ln2) / 2.0)).abs() < 1e-9);
        let infinite = Scored { losses: Some(&[0.5, f64::INFINITY]), ..scored };
        assert!(log_loss(&infinite).unwrap().reason().unwrap().contains("first at row 2, of class `a`"));
        let huge = log_loss(&Scored { losses: Some(&[0.5, 1e300]), ..scored }).unwrap();
        assert_eq!((huge.value(), huge.interval()), (Some(5e299), None));
        assert!(huge.estimate().unwrap().method.contains("no interval: the spread"));
    }
}

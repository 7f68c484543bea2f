//! Temperature: `softmax(β z)`, β = 1/T (C. Guo et al., ICML 2017).
//!
//! `f(β) = Σ s [log Σ_k e^{β z_k} − β Σ_k t_k z_k]` is convex, `f′(β) = Σ s Σ_k (p_k − t_k) z_k` rises. With smoothed targets t
//! it is above 0 in the end, so there is a minimum; it is at a positive β exactly where f′(0) < 0: where the class of a row
//! has more than an average score. The root is found by Newton's method inside a bracket.

use super::{Calibration, CalibrationKind, HeldOut, not_rising};
use crate::error::{Error, Result};
use crate::numeric::{CompensatedSum, SoftmaxRow, softmax_rows};

/// Doublings until the bracket is found, at most the 1,024 powers of two of a double, then steps inside it.
const MOST_STEPS: usize = 1100;
/// The bracket is as small as rounding lets it be: four units in the last place.
const NARROW: f64 = 4.0 * f64::EPSILON;

struct TemperatureProblem<'a> {
    rows: &'a HeldOut<'a>,
    targets: Vec<(f64, f64)>,
    /// Scores, differences from the mean of their row, on a scale of one.
    centred: Vec<f64>,
}

impl TemperatureProblem<'_> {
    /// f′ and f″.
    fn slope(&self, beta: f64) -> (f64, f64) {
        let k = self.rows.n_classes;
        let mut p: Vec<f64> = self.centred.iter().map(|z| beta * z).collect();
        let mut sums = vec![SoftmaxRow { max: 0.0, log_sum: 0.0 }; self.rows.truth.len()];
        softmax_rows(k, &mut p, &mut sums);
        let (mut first, mut second) = (CompensatedSum::default(), CompensatedSum::default());
        for (i, (z, p)) in self.centred.chunks_exact(k).zip(p.chunks_exact(k)).enumerate() {
            let class = self.rows.truth[i].index();
            let (own, other) = self.targets[class];
            let s = self.rows.weight(i);
            // The scores of a row sum to zero, so Σ_k t_k z_k = (own − other) z_y.
            let mean: f64 = p.iter().zip(z).map(|(p, z)| p * z).sum();
            let square: f64 = p.iter().zip(z).map(|(p, z)| p * (z - mean) * (z - mean)).sum();
            first.add(s * (mean - (own - other) * z[class]));
            second.add(s * square);
        }
        (first.value(), second.value())
    }
}

pub(super) fn fit(rows: &HeldOut<'_>) -> Result<Calibration> {
    let k = rows.n_classes;
    let mut centred: Vec<f64> = match k {
        // Log-odds z are the scores −z/2 and z/2.
        2 => rows.scores.iter().flat_map(|z| [-0.5 * z, 0.5 * z]).collect(),
        _ => rows.scores.to_vec(),
    };
    for z in centred.chunks_exact_mut(k) {
        let mean = z.iter().map(|z| z / k as f64).sum::<f64>();
        z.iter_mut().for_each(|z| *z -= mean);
    }
    let scale = centred.iter().fold(0.0f64, |m, z| m.max(z.abs()));
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(not_rising(CalibrationKind::Temperature, "all scores are the same"));
    }
    centred.iter_mut().for_each(|z| *z /= scale);
    let problem = TemperatureProblem { rows, targets: rows.targets(), centred };
    if problem.slope(0.0).0 >= 0.0 {
        let found = "the class of a row has no more than an average score";
        return Err(not_rising(CalibrationKind::Temperature, found));
    }
    let temperature = scale / root(&problem);
    match temperature > 0.0 && temperature.is_finite() {
        true => Ok(Calibration::Temperature { temperature }),
        false => Err(Error::data("the scores are too far from 1 in size to be calibrated")),
    }
}

/// Where f′ vanishes; it is negative at 0.
fn root(problem: &TemperatureProblem<'_>) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    let mut steps = 0;
    while problem.slope(high).0 < 0.0 && steps < MOST_STEPS {
        (low, high) = (high, 2.0 * high);
        steps += 1;
    }
    let mut beta = 0.5 * (low + high);
    while high - low > NARROW * high && steps < MOST_STEPS {
        let (first, second) = problem.slope(beta);
        match first {
            0.0 => return beta,
            f if f < 0.0 => low = beta,
            _ => high = beta,
        }
        let newton = beta - first / second;
        // Newton's step where it stays inside; a step shorter than rounding ends the search.
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - beta).abs() <= NARROW * beta {
            return next;
        }
        beta = next;
        steps += 1;
    }
    beta
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Class;

    /// Rows that are of every class as often as their scores say, a million times each: nothing is to be changed but for the
    /// smoothing of the targets.
    #[test]
    fn log_probabilities_keep_their_temperature() {
        let shares = [[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.3, 0.4, 0.3], [0.05, 0.9, 0.05]];
        let (mut scores, mut truth, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for row in shares {
            for (k, share) in row.iter().enumerate() {
                scores.extend(row.map(|p: f64| 3.0 * p.ln() + 5.0));
                truth.push(Class(k as u32));
                weights.push(1e12 * share);
            }
        }
        let rows = HeldOut { scores: &scores, truth: &truth, weights: Some(&weights), n_classes: 3 };
        let Ok(Calibration::Temperature { temperature }) = fit(&rows) else { panic!("a map") };
        assert!((temperature - 3.0).abs() < 1e-10, "{temperature}");
    }

    #[test]
    fn scores_that_are_always_right_have_a_temperature() {
        let scores = [5.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 5.0];
        let truth = [0, 1, 2].map(Class);
        let rows = HeldOut { scores: &scores, truth: &truth, weights: None, n_classes: 3 };
        let Ok(Calibration::Temperature { temperature }) = fit(&rows) else { panic!("a map") };
        // Each row asks for 2/4 in its class and 1/4 in the others: e^{5/T} = 2.
        assert!((temperature - 5.0 / std::f64::consts::LN_2).abs() < 1e-12, "{temperature}");
        let wrong = [0.0, 5.0, 0.0, 0.0, 0.0, 5.0, 5.0, 0.0, 0.0];
        let rows = HeldOut { scores: &wrong, ..rows };
        assert!(fit(&rows).unwrap_err().message().contains("no more than an average"));
    }

    #[test]
    fn one_score_of_two_classes_is_its_log_odds() {
        let scores = [-2.0, -1.0, 1.0, 0.5, 3.0, -0.5];
        let truth = [0, 0, 1, 0, 1, 1].map(Class);
        let rows = HeldOut { scores: &scores, truth: &truth, weights: None, n_classes: 2 };
        let Ok(Calibration::Temperature { temperature }) = fit(&rows) else { panic!("a map") };
        let gradient: f64 = scores
            .iter()
            .zip(&truth)
            .map(|(z, c)| (crate::numeric::logistic(z / temperature) - [0.2, 0.8][c.index()]) * z)
            .sum();
        assert!(gradient.abs() < 1e-13, "{gradient}");
    }
}

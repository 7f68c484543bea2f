//! The smallest expected cost, found without underflow.

use super::Tie;
use crate::numeric::{SoftmaxRow, exp, softmax_rows};
use crate::table::Class;

/// Where the log-odds of the last of two classes decide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cut {
    /// For the last class above this, else for the first.
    Above(f64),
    /// For the last class below this, else for the first: costs that reward mistakes.
    Below(f64),
    /// Both are always equally good: costs that do not depend on the decision.
    Nowhere,
}

impl Cut {
    /// For the last class where its probability exceeds `p`: `z > ln(p / (1−p))`, at ½ exactly 0.
    pub(super) fn at_probability(p: f64) -> Cut {
        Cut::Above(log_ratio(p, 1.0 - p))
    }

    /// For the last class where `p₁ g₁ > p₀ g₀`; `g` is what the right decision saves for each truth (C. Elkan, IJCAI 2001).
    fn at_savings(first: f64, last: f64) -> Cut {
        match (first > 0.0, last > 0.0) {
            _ if first == 0.0 && last == 0.0 => Cut::Nowhere,
            (true, true) => Cut::Above(log_ratio(first, last)),
            (false, true) => Cut::Above(f64::NEG_INFINITY),
            (false, false) if first < 0.0 && last < 0.0 => Cut::Below(log_ratio(-first, -last)),
            (false, false) if first < 0.0 => Cut::Above(f64::NEG_INFINITY),
            (_, false) => Cut::Above(f64::INFINITY),
        }
    }

    /// The same from a 2 × 2 matrix of costs.
    pub(super) fn at_costs(costs: &[Vec<f64>]) -> Cut {
        // Halved, so that the difference of two huge numbers does not overflow.
        let saves = |truth: usize| 0.5 * costs[truth][1 - truth] - 0.5 * costs[truth][truth];
        Cut::at_savings(saves(0), saves(1))
    }

    pub(super) fn classes(self, scores: &[f64], tie: Tie) -> Vec<Option<Class>> {
        let class = |z: &f64| match self {
            // An infinite cut is never reached: one class is better at every score.
            Cut::Above(cut) => tie.side(*z > cut, *z == cut && cut.is_finite()),
            Cut::Below(cut) => tie.side(*z < cut, *z == cut && cut.is_finite()),
            Cut::Nowhere => tie.side(false, true),
        };
        scores.iter().map(class).collect()
    }
}

/// `ln(a/b)` of positive numbers, also where the ratio is too large or too small for a number.
fn log_ratio(a: f64, b: f64) -> f64 {
    let ratio = a / b;
    if ratio.is_normal() { ratio.ln() } else { a.ln() - b.ln() }
}

/// The class of the smallest expected cost of each row.
///
/// Costs that are 0 for the right class and all the same for the others decide as the largest score does, bit for bit.
pub(super) fn least_cost(costs: &[Vec<f64>], scores: &[f64], tie: Tie) -> Vec<Option<Class>> {
    let n_classes = costs.len();
    if n_classes == 2 {
        return Cut::at_costs(costs).classes(scores, tie);
    }
    let regrets = regrets(costs);
    if all_alike(&regrets) {
        return scores.chunks_exact(n_classes).map(|row| tie.largest(row)).collect();
    }
    let mut expected = vec![0.0; n_classes];
    let mut row_class = |z: &[f64]| {
        expected_regrets(&regrets, z, &mut expected);
        if expected.iter().any(|e| *e < NEGLIGIBLE) {
            expected.copy_from_slice(&log_expected_regrets(&regrets, z));
        }
        expected.iter_mut().for_each(|e| *e = -*e);
        tie.largest(&expected)
    };
    scores.chunks_exact(n_classes).map(&mut row_class).collect()
}

/// An expected regret above this is exact to rounding: terms that underflow, below 1e-308, are 10⁻²⁸ of it.
const NEGLIGIBLE: f64 = 1e-280;

/// Costs less those of the best decision for the same truth, on a scale of one: the same decisions, and nothing is negative.
fn regrets(costs: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let scale = costs.iter().flatten().fold(0.0, |m: f64, c| m.max(c.abs()));
    let scaled = |c: f64| if scale > 0.0 { c / scale } else { 0.0 };
    let row = |row: &Vec<f64>| {
        let least = row.iter().fold(f64::INFINITY, |m: f64, c| m.min(scaled(*c)));
        row.iter().map(|c| scaled(*c) - least).collect()
    };
    costs.iter().map(row).collect()
}

/// Whether all mistakes cost the same, so that the largest score decides.
pub(super) fn treats_mistakes_alike(costs: &[Vec<f64>]) -> bool {
    all_alike(&regrets(costs))
}

fn all_alike(regrets: &[Vec<f64>]) -> bool {
    let mistake = regrets[0][1];
    let as_mistake = |k: usize, j: usize, r: f64| if j == k { r == 0.0 } else { r == mistake };
    mistake > 0.0
        && regrets.iter().enumerate().all(|(k, row)| row.iter().enumerate().all(|(j, r)| as_mistake(k, j, *r)))
}

/// `Σ_k e^{z_k − max z} r[k][j]` for every decision j.
fn expected_regrets(regrets: &[Vec<f64>], z: &[f64], expected: &mut [f64]) {
    let max = z.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    expected.fill(0.0);
    for (row, z) in regrets.iter().zip(z) {
        let weight = exp(z - max);
        expected.iter_mut().zip(row).for_each(|(e, r)| *e += weight * r);
    }
}

/// Logarithms of the same sums, for rows so certain that the sums underflow.
fn log_expected_regrets(regrets: &[Vec<f64>], z: &[f64]) -> Vec<f64> {
    let log_sum = |j: usize| {
        let mut terms: Vec<f64> =
            regrets.iter().zip(z).filter(|(row, _)| row[j] > 0.0).map(|(row, z)| z + row[j].ln()).collect();
        if terms.is_empty() {
            return f64::NEG_INFINITY;
        }
        let mut sum = [SoftmaxRow { max: 0.0, log_sum: 0.0 }];
        softmax_rows(terms.len(), &mut terms, &mut sum);
        sum[0].max + sum[0].log_sum
    };
    (0..z.len()).map(log_sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_exact_at_one_half_and_reach_the_ends() {
        assert_eq!(Cut::at_probability(0.5), Cut::Above(0.0));
        let Cut::Above(low) = Cut::at_probability(5e-324) else { panic!("above") };
        let Cut::Above(high) = Cut::at_probability(1.0 - f64::EPSILON / 2.0) else { panic!("above") };
        assert!((low - 5e-324f64.ln()).abs() < 1e-10 && (high - 53.0 * std::f64::consts::LN_2).abs() < 1e-14);
    }

    #[test]
    fn a_ratio_beyond_the_range_of_numbers_keeps_its_logarithm() {
        assert!((log_ratio(1.0, 1e-310) - 310.0 * std::f64::consts::LN_10).abs() < 1e-9);
        assert!((log_ratio(1e-310, 1.0) + 310.0 * std::f64::consts::LN_10).abs() < 1e-9);
    }

    #[test]
    fn every_sign_of_savings_decides_as_the_definition_does() {
        for first in [-2.0, -1.0, 0.0, 1.0, 3.0] {
            for last in [-2.0, -0.5, 0.0, 1.0, 3.0] {
                for z in [-5.0, -0.7, 0.0, 0.3, 5.0f64] {
                    // p₁ : p₀ = e^z : 1.
                    let expected = z.exp() * last > first;
                    let tie = (z.exp() * last - first).abs() < 1e-12 && first != 0.0;
                    let found = Cut::at_savings(first, last).classes(&[z], Tie::First) == [Some(Class(1))];
                    assert!(found == expected || tie, "{first} {last} {z}");
                }
            }
        }
        for (first, last, z) in [(1.0, 1.0, 0.0), (-1.0, -1.0, 0.0), (0.0, 0.0, 3.0)] {
            let found = |tie| Cut::at_savings(first, last).classes(&[z], tie)[0];
            assert_eq!([Tie::First, Tie::Last, Tie::Reject].map(found), [Some(Class(0)), Some(Class(1)), None]);
        }
        // One side is better at every score, however far out.
        for (first, last, class) in [(1.0, 0.0, 0), (0.0, 1.0, 1), (-1.0, 0.0, 1), (1.0, -1.0, 0)] {
            for z in [-1e300, 0.0, 1e300] {
                assert_eq!(Cut::at_savings(first, last).classes(&[z], Tie::Reject), [Some(Class(class))]);
            }
        }
    }

    #[test]
    fn sums_and_their_logarithms_agree_where_both_can() {
        let costs = vec![vec![0.0, 2.0, 7.0], vec![1.0, 0.0, 0.5], vec![4.0, 3.0, 0.0]];
        let regrets = regrets(&costs);
        for z in [[0.0, 1.0, -1.0], [30.0, 0.0, 2.0], [-3.0, -3.5, 40.0]] {
            let mut expected = vec![0.0; 3];
            expected_regrets(&regrets, &z, &mut expected);
            let max = z.iter().fold(f64::NEG_INFINITY, |a: f64, b| a.max(*b));
            for (e, l) in expected.iter().zip(log_expected_regrets(&regrets, &z)) {
                assert!((e.ln() + max - l).abs() < 1e-12 * (1.0 + l.abs()), "{e} {l}");
            }
        }
    }
}

//! Decisions through their public face: identities between rules, textbook twins, far tails, and the model file.

use linsep::decide::{self, Decision, Rule, Scheme, Tie, Ties};
use linsep::table::Class;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Scores of all sizes, with ties, zeros of both signs and far tails among them.
fn scores(rng: &mut ChaCha8Rng, rows: usize, width: usize) -> Vec<f64> {
    let draw = |rng: &mut ChaCha8Rng| match rng.random_range(0..8) {
        0 => f64::from(rng.random_range(-2..3)),
        1 => rng.random_range(-900.0..900.0),
        2 => rng.random_range(-1e-15..1e-15),
        3 => -0.0,
        _ => rng.random_range(-5.0..5.0),
    };
    (0..rows * width).map(|_| draw(rng)).collect()
}

fn width(n_classes: usize) -> usize {
    if n_classes == 2 { 1 } else { n_classes }
}

fn decided(rule: Rule, scores: &[f64], n_classes: usize) -> Vec<Class> {
    let classes = Decision::from(rule).classes(scores, n_classes).expect("a good rule");
    classes.into_iter().map(|class| class.expect("nothing is rejected")).collect()
}

fn random_costs(rng: &mut ChaCha8Rng, n_classes: usize) -> Vec<Vec<f64>> {
    let row = |rng: &mut ChaCha8Rng, k: usize| {
        (0..n_classes).map(|j| if j == k { 0.0 } else { rng.random_range(0.1..5.0) }).collect()
    };
    (0..n_classes).map(|k| row(rng, k)).collect()
}

/// Expected costs by the definition.
fn expected_costs(p: &[f64], costs: &[Vec<f64>]) -> Vec<f64> {
    (0..p.len()).map(|j| (0..p.len()).map(|k| p[k] * costs[k][j]).sum()).collect()
}

#[test]
fn a_threshold_of_one_half_is_the_largest_score() {
    let z = scores(&mut ChaCha8Rng::seed_from_u64(1), 5000, 1);
    assert_eq!(decided(Rule::Threshold(0.5), &z, 2), decide::classes(&z, 2));
    // At a tie the first class, whatever the sign of zero.
    assert_eq!(decided(Rule::Threshold(0.5), &[0.0, -0.0], 2), [Class(0), Class(0)]);
}

#[test]
fn a_higher_threshold_never_adds_to_the_last_class() {
    let z = scores(&mut ChaCha8Rng::seed_from_u64(2), 10_000, 1);
    let thresholds = [5e-324, 1e-300, 1e-20, 0.01, 0.3, 0.5, 0.500000001, 0.9, 0.999999, 1.0 - f64::EPSILON / 2.0];
    let all: Vec<Vec<Class>> = thresholds.iter().map(|t| decided(Rule::Threshold(*t), &z, 2)).collect();
    for pair in all.windows(2) {
        assert!(pair[0].iter().zip(&pair[1]).all(|(low, high)| low >= high));
        assert_ne!(pair[0], pair[1]);
    }
    // Where probabilities can be told apart it is what it says.
    for (t, classes) in thresholds.iter().zip(&all) {
        for (z, class) in z.iter().zip(classes) {
            let p = decide::probabilities(&[*z], 2)[1];
            if (p - t).abs() > 1e-14 * t {
                assert_eq!(*class == Class(1), p > *t, "{z} at {t}");
            }
        }
    }
}

#[test]
fn thresholds_reach_where_probabilities_do_not() {
    // e⁻⁸⁰⁰ is no number, and 1 − e⁻⁸⁰⁰ is 1.
    let z = [-800.0, -700.0, 700.0, 800.0];
    assert_eq!(decided(Rule::Threshold(1e-310), &z, 2), [Class(0), Class(1), Class(1), Class(1)]);
    assert_eq!(decided(Rule::Threshold(5e-324), &z, 2), [Class(0), Class(1), Class(1), Class(1)]);
    assert_eq!(decided(Rule::Threshold(1.0 - 1e-16), &z, 2), [Class(0), Class(0), Class(1), Class(1)]);
    // A miss that costs 10⁴⁰⁰ false alarms moves the cut to −921.
    let costs = vec![vec![0.0, 1e-100], vec![1e300, 0.0]];
    assert_eq!(decided(Rule::Cost(costs), &[-930.0, -800.0], 2), [Class(0), Class(1)]);
}

#[test]
fn equal_costs_are_the_largest_score_bit_for_bit() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for n_classes in [2, 3, 5] {
        let z = scores(&mut rng, 3000, width(n_classes));
        for scale in [1.0, 0.3, 1e-300, 1e300] {
            let cost = |k: usize, j: usize| if k == j { 0.0 } else { scale };
            let costs = (0..n_classes).map(|k| (0..n_classes).map(|j| cost(k, j)).collect()).collect();
            assert_eq!(decided(Rule::Cost(costs), &z, n_classes), decide::classes(&z, n_classes), "{n_classes}");
        }
    }
}

#[test]
fn costs_follow_their_definition() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for round in 0..60 {
        let n_classes = 2 + round % 4;
        let z = scores(&mut rng, 200, width(n_classes));
        let mut costs = random_costs(&mut rng, n_classes);
        if round % 3 == 0 {
            // Also costs that reward, and right decisions that cost.
            costs.iter_mut().flatten().for_each(|c| *c -= rng.random_range(0.0..4.0));
        }
        let p = decide::probabilities(&z, n_classes);
        let classes = decided(Rule::Cost(costs.clone()), &z, n_classes);
        for (p, class) in p.chunks_exact(n_classes).zip(classes) {
            let expected = expected_costs(p, &costs);
            let least = expected.iter().fold(f64::INFINITY, |a: f64, b| a.min(*b));
            assert!(expected[class.index()] <= least + 1e-13, "{expected:?}, not {class:?}");
        }
    }
}

#[test]
fn costs_have_no_unit_and_no_origin() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for n_classes in [2, 3, 6] {
        let z = scores(&mut rng, 500, width(n_classes));
        let costs = random_costs(&mut rng, n_classes);
        let before = decided(Rule::Cost(costs.clone()), &z, n_classes);
        let scaled = |factor: f64| costs.iter().map(|row| row.iter().map(|c| c * factor).collect()).collect();
        for factor in [1024.0, 1e-3, 1e290, 1e-290] {
            assert_eq!(decided(Rule::Cost(scaled(factor)), &z, n_classes), before, "{factor}");
        }
        // What a truth costs under every decision changes none.
        let moved = costs.iter().enumerate().map(|(k, row)| row.iter().map(|c| c + k as f64 - 1.0).collect());
        assert_eq!(decided(Rule::Cost(moved.collect()), &z, n_classes), before);
    }
}

#[test]
fn costs_of_two_classes_are_elkans_threshold() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let z = scores(&mut rng, 2000, 1);
    for _ in 0..50 {
        let (false_alarm, miss) = (rng.random_range(0.01..10.0), rng.random_range(0.01..10.0));
        let costs = vec![vec![0.0, false_alarm], vec![miss, 0.0]];
        let threshold = false_alarm / (false_alarm + miss);
        assert_eq!(decided(Rule::Cost(costs), &z, 2), decided(Rule::Threshold(threshold), &z, 2));
    }
    // C. Elkan, The foundations of cost-sensitive learning, eq. 2: right decisions may cost, too.
    let costs = vec![vec![1.0, 4.0], vec![9.0, 2.0]];
    assert_eq!(decided(Rule::Cost(costs), &z, 2), decided(Rule::Threshold(3.0 / 10.0), &z, 2));
}

#[test]
fn squared_costs_of_ordered_classes_round_the_posterior_mean() {
    // S0 §2.1: the least expected squared error is at the mean; among the classes, at the class nearest to it.
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for n_classes in [3usize, 4, 7] {
        let square = |k: usize, j: usize| (k as f64 - j as f64).powi(2);
        let costs = (0..n_classes).map(|k| (0..n_classes).map(|j| square(k, j)).collect()).collect();
        let z: Vec<f64> = (0..500 * n_classes).map(|_| rng.random_range(-3.0..3.0)).collect();
        let p = decide::probabilities(&z, n_classes);
        let mut differs = 0;
        let classes = decided(Rule::Cost(costs), &z, n_classes);
        for ((p, class), most) in p.chunks_exact(n_classes).zip(classes).zip(decide::classes(&z, n_classes)) {
            let mean: f64 = p.iter().enumerate().map(|(k, p)| k as f64 * p).sum();
            assert!((mean - class.index() as f64).abs() <= 0.5 + 1e-12, "{mean} is not near {class:?}");
            differs += usize::from(class != most);
        }
        assert!(differs > 50, "it is another rule than the most probable class");
    }
}

#[test]
fn certain_rows_are_decided_by_what_is_left_of_the_doubt() {
    // The first class is certain and both others cost it nothing; between them the rarer truths decide, at any distance.
    let costs = vec![vec![1.0, 0.0, 0.0], vec![5.0, 0.0, 3.0], vec![5.0, 4.0, 0.0]];
    for far in [10.0, 300.0, 800.0, 5000.0] {
        let z = [0.0, -far, -far - 1.0, 0.0, -far, -far + 1.0];
        assert_eq!(decided(Rule::Cost(costs.clone()), &z, 3), [Class(1), Class(2)], "{far}");
    }
}

#[test]
fn the_plug_in_rule_takes_a_regression_estimate() {
    // S3 def. 0.1: the last class where the estimate of its probability exceeds one half.
    for estimate in [0.1f64, 0.4999, 0.5, 0.5001, 0.8] {
        let log_odds = (estimate / (1.0 - estimate)).ln();
        let class = decided(Rule::Threshold(0.5), &[log_odds], 2)[0];
        assert_eq!(class == Class(1), estimate > 0.5);
    }
}

#[test]
fn chows_rule_rejects_where_the_largest_probability_is_small() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    for n_classes in [2usize, 3, 5] {
        let z = scores(&mut rng, 1000, width(n_classes));
        let p = decide::probabilities(&z, n_classes);
        let mut before: Option<Vec<Option<Class>>> = None;
        for cost in [0.0, 1e-12, 0.05, 0.2, 0.4] {
            let decision = Decision { reject: Some(cost), ..Decision::default() };
            let classes = decision.classes(&z, n_classes).unwrap();
            for ((p, class), most) in p.chunks_exact(n_classes).zip(&classes).zip(decide::classes(&z, n_classes)) {
                let risk = 1.0 - p[most.index()];
                if (risk - cost).abs() > 1e-15 {
                    assert_eq!(*class, (risk <= cost).then_some(most), "risk {risk}, cost {cost}");
                }
            }
            // A dearer rejection is a rarer one.
            if let Some(before) = &before {
                assert!(before.iter().zip(&classes).all(|(a, b)| a.is_none() || a == b));
            }
            before = Some(classes);
        }
    }
}

#[test]
fn a_small_risk_keeps_its_digits() {
    // 1 − p would be 0 here, or 2.2e-16.
    let risk = decide::probabilities(&[-37.0], 2)[1];
    let at = |cost: f64| Decision { reject: Some(cost), ..Decision::default() }.classes(&[37.0], 2).unwrap()[0];
    assert_eq!((at(1.01 * risk), at(0.99 * risk)), (Some(Class(1)), None));
}

#[test]
fn rejection_dearer_than_a_guess_never_happens() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for n_classes in 2..12usize {
        let mut z = scores(&mut rng, 500, width(n_classes));
        // Total ignorance is the edge.
        z.extend(vec![0.3; width(n_classes)]);
        z.extend(vec![0.0; width(n_classes)]);
        for cost in [1.0 - 1.0 / n_classes as f64, 1.0, 7.0] {
            let classes = Decision { reject: Some(cost), ..Decision::default() }.classes(&z, n_classes).unwrap();
            assert!(classes.iter().all(Option::is_some), "{n_classes} classes at {cost}");
        }
    }
}

#[test]
fn rejection_under_costs_is_on_their_scale() {
    let costs = vec![vec![0.0, 1.0], vec![10.0, 0.0]];
    let decision = |reject| Decision { reject: Some(reject), ..Decision::from(Rule::Cost(costs.clone())) };
    // p = 0.2: deciding the last costs 0.8, the first 2.
    let z = [(0.2f64 / 0.8).ln()];
    assert_eq!(decision(0.81).classes(&z, 2).unwrap(), [Some(Class(1))]);
    assert_eq!(decision(0.79).classes(&z, 2).unwrap(), [None]);
    assert_eq!(decision(3.0).cost(Class(1), Some(Class(0))), Some(10.0));
    assert_eq!(decision(3.0).cost(Class(1), None), Some(3.0));
    // Under a threshold a mistake costs 1: here the decided class has the probability 0.2.
    let threshold = |reject| Decision { reject: Some(reject), ..Decision::from(Rule::Threshold(0.1)) };
    assert_eq!(threshold(0.81).classes(&z, 2).unwrap(), [Some(Class(1))]);
    assert_eq!(threshold(0.79).classes(&z, 2).unwrap(), [None]);
}

#[test]
fn a_score_that_is_no_number_is_rejected() {
    let decision = Decision { reject: Some(5.0), ..Decision::default() };
    assert_eq!(decision.classes(&[f64::NAN], 2).unwrap(), [None]);
}

/// The definition: all candidates of the smallest expected cost, and one of them.
fn by_definition(costs: &[Vec<f64>], p: &[f64], tie: Tie) -> Option<Class> {
    let expected = |j: usize| p.iter().zip(costs).map(|(p, row)| p * row[j]).sum::<f64>();
    let least = (0..costs.len()).map(expected).fold(f64::INFINITY, f64::min);
    let best: Vec<usize> = (0..costs.len()).filter(|j| expected(*j) == least).collect();
    match tie {
        Tie::First => Some(Class(best[0] as u32)),
        Tie::Last => Some(Class(*best.last().unwrap() as u32)),
        Tie::Reject => (best.len() == 1).then_some(Class(best[0] as u32)),
    }
}

#[test]
fn every_rule_has_the_side_of_a_tie_that_is_asked_for() {
    let mistakes =
        |n: usize| -> Vec<Vec<f64>> { (0..n).map(|k| (0..n).map(|j| f64::from(u8::from(k != j))).collect()).collect() };
    for tie in [Tie::First, Tie::Last, Tie::Reject] {
        let decide = |rule: Rule, z: &[f64], n: usize| Decision { tie, ..Decision::from(rule) }.classes(z, n).unwrap();
        // Scores of two values, so that probabilities are powers of two over a sum and ties are exact.
        for n in [2usize, 3, 4] {
            for pattern in 0..1u32 << width(n) {
                let z: Vec<f64> = (0..width(n)).map(|k| std::f64::consts::LN_2 * f64::from(pattern >> k & 1)).collect();
                let mut p: Vec<f64> = (0..width(n)).map(|k| f64::from(1 + (pattern >> k & 1))).collect();
                if n == 2 {
                    p.insert(0, 1.0);
                }
                let expected = [by_definition(&mistakes(n), &p, tie)];
                assert_eq!(decide(Rule::ArgMax, &z, n), expected, "{z:?}");
                assert_eq!(decide(Rule::Cost(mistakes(n)), &z, n), expected, "{z:?}");
            }
        }
        let cuts = [(0.5, 0.0), (0.2, 0.2f64.ln() - 0.8f64.ln())];
        let side = |z: f64, cut: f64| by_definition(&mistakes(2), &[0.0, z - cut], tie);
        for (threshold, cut) in cuts {
            // The cut as the rule computes it, and the numbers on either side of it.
            let cut = Decision::from(Rule::Threshold(threshold)).cut(2).filter(|c| (c - cut).abs() < 1e-15).unwrap();
            for z in [cut.next_down(), cut, cut.next_up()] {
                assert_eq!(decide(Rule::Threshold(threshold), &[z], 2), [side(z, cut)], "{threshold} {z}");
                assert_eq!(decide(Rule::Score(cut), &[z], 2), [side(z, cut)], "{threshold} {z}");
            }
        }
        // Truths 1 and 2 cost the same, whichever of 1 and 2 is decided.
        let costs = vec![vec![0.0, 1.0, 1.0], vec![2.0, 1.0, 1.0], vec![2.0, 1.0, 1.0]];
        let z = [0.0, 0.0, 0.0];
        assert_eq!(decide(Rule::Cost(costs.clone()), &z, 3), [by_definition(&costs, &[1.0; 3], tie)]);
        // Far out, where sums underflow.
        let far = [-5000.0, -5000.0, 0.0];
        let alike = vec![vec![0.0, 0.0, 1.0], vec![0.0, 0.0, 1.0], vec![3.0, 3.0, 0.0]];
        assert_eq!(decide(Rule::Cost(alike), &far, 3), [Some(Class(2))]);
    }
    // Rejected rows stay rejected, and cost what rejection costs.
    let both = Decision { reject: Some(0.9), tie: Tie::Reject, ..Decision::default() };
    assert_eq!(both.classes(&[0.0, 1.0], 2).unwrap(), [None, Some(Class(1))]);
    assert!(both.may_reject() && Decision { tie: Tie::Reject, ..Decision::default() }.may_leave_open());
    assert!(!Decision { tie: Tie::Last, ..Decision::default() }.may_leave_open());
}

#[test]
fn bad_decisions_are_refused() {
    let fails = |decision: Decision, classes: usize, words: &str| {
        let error = decision.classes(&[], classes).unwrap_err();
        assert!(error.message().contains(words), "{error}");
        assert!(error.help_text().is_some(), "{error}");
    };
    for threshold in [0.0, 1.0, -0.5, 1.5, f64::NAN, f64::INFINITY] {
        fails(Rule::Threshold(threshold).into(), 2, "is not between 0 and 1");
    }
    fails(Rule::Threshold(0.5).into(), 3, "two classes, and there are 3");
    fails(Rule::Cost(vec![vec![0.0, 1.0]]).into(), 2, "1×2, and there are 2 classes");
    fails(Rule::Cost(vec![vec![0.0, 1.0], vec![1.0]]).into(), 2, "2×1, and there are 2 classes");
    fails(Rule::Cost(vec![vec![0.0, 1.0], vec![1.0, 0.0]]).into(), 3, "2×2, and there are 3 classes");
    fails(Rule::Cost(vec![vec![0.0, f64::NAN], vec![1.0, 0.0]]).into(), 2, "NaN is not a cost");
    let scheme = Rule::Scheme(Scheme::LinearMachine { ties: Ties::First });
    fails(Decision { tie: Tie::Last, ..Decision::from(scheme) }, 3, "linear-machine decides by votes");
    for reject in [-0.1, f64::NAN, f64::INFINITY] {
        fails(Decision { reject: Some(reject), ..Decision::default() }, 2, "is not a cost of making no decision");
    }
}

#[test]
fn scores_without_probabilities_allow_what_their_sign_decides() {
    let ok = |decision: Decision| decision.check(2, false).is_ok();
    assert!(ok(Decision::default()) && ok(Rule::Threshold(0.5).into()));
    assert!(!ok(Rule::Threshold(0.4).into()));
    assert!(!ok(Rule::Cost(vec![vec![0.0, 1.0], vec![2.0, 0.0]]).into()));
    let rejecting = Decision { reject: Some(0.2), ..Decision::default() };
    assert!(rejecting.check(2, false).unwrap_err().message().contains("need probabilities"));
}

#[test]
fn decisions_read_back_what_they_write() {
    let costs = vec![vec![0.0, 0.1 + 0.2], vec![1e-300, -4.0]];
    let rules = [Rule::ArgMax, Rule::Threshold(0.1 + 0.2), Rule::Cost(costs)];
    let rejects = [None, Some(0.1 + 0.2)];
    let ties = [Tie::First, Tie::Last, Tie::Reject];
    let all = rules.iter().flat_map(|rule| rejects.map(|reject| Decision { reject, ..Decision::from(rule.clone()) }));
    for decision in all.flat_map(|decision| ties.map(|tie| Decision { tie, ..decision.clone() })) {
        let text = serde_json::to_string(&decision).unwrap();
        assert_eq!(serde_json::from_str::<Decision>(&text).unwrap(), decision, "{text}");
        // Files without another side of ties are what they were.
        assert_eq!(text.contains("tie"), decision.tie != Tie::First, "{text}");
    }
    // The form of the first model files.
    assert_eq!(serde_json::to_string(&Decision::default()).unwrap(), "\"arg_max\"");
    assert_eq!(serde_json::from_str::<Decision>("\"arg_max\"").unwrap(), Decision::default());
    for unknown in ["\"coin\"", "{\"threshold\":\"x\"}", "{\"rule\":\"arg_max\",\"reject\":null}", "{}", "3"] {
        assert!(serde_json::from_str::<Decision>(unknown).is_err(), "{unknown}");
    }
}

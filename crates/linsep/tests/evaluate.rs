//! `evaluate` through its public face: golden values, slow twins, copies, coverage, and what is undefined.

use linsep::decide::{self, Decision, Rule};
use linsep::evaluate::{Estimate, Evaluation, Metric, RowsOf, Scored, evaluate};
use linsep::read::{ReadOptions, read_bytes};
use linsep::table::Class;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

const Z: f64 = 1.959963984540054;

/// Owns what [`Scored`] borrows.
#[derive(Debug, Clone, Default)]
struct Data {
    classes: Vec<String>,
    truth: Vec<Class>,
    predicted: Vec<Option<Class>>,
    probabilities: Vec<f64>,
    weights: Option<Vec<f64>>,
}

impl Data {
    fn new(n_classes: usize) -> Data {
        Data { classes: (0..n_classes).map(|c| format!("c{c}")).collect(), ..Data::default() }
    }

    /// Two classes, from truth and the probability of the last class.
    fn binary(rows: &[(u32, f64)]) -> Data {
        let mut data = Data::new(2);
        rows.iter().for_each(|(truth, p)| data.push(*truth as usize, &[1.0 - p, *p]));
        data
    }

    /// Adds a row, predicted to be the most probable class.
    fn push(&mut self, truth: usize, p: &[f64]) {
        let best = (0..p.len()).max_by(|a, b| p[*a].total_cmp(&p[*b])).unwrap();
        self.truth.push(Class(truth as u32));
        self.predicted.push(Some(Class(best as u32)));
        self.probabilities.extend(p);
    }

    fn scored(&self) -> Scored<'_> {
        Scored {
            classes: &self.classes,
            truth: &self.truth,
            predicted: &self.predicted,
            decision: None,
            probabilities: Some(&self.probabilities),
            losses: None,
            weights: self.weights.as_deref(),
            origin: None,
        }
    }

    fn evaluate(&self) -> Evaluation {
        evaluate(&self.scored()).unwrap()
    }
}

/// Softmax of random scores, and a class drawn from other, sharper probabilities; `step` rounds scores into ties.
fn simulate(rng: &mut ChaCha8Rng, rows: usize, n_classes: usize, step: f64) -> Data {
    let softmax = |scores: &[f64]| {
        let e: Vec<f64> = scores.iter().map(|s| s.exp()).collect();
        let sum: f64 = e.iter().sum();
        e.iter().map(|x| x / sum).collect::<Vec<f64>>()
    };
    let mut data = Data::new(n_classes);
    for _ in 0..rows {
        // The sum of four uniforms is close enough to normal here.
        let mut score = || (0..4).map(|_| rng.random::<f64>() - 0.5).sum::<f64>() * 2.0;
        let scores: Vec<f64> =
            (0..n_classes).map(|_| if step > 0.0 { (score() / step).round() * step } else { score() }).collect();
        let mut left: f64 = rng.random();
        let sharper = softmax(&scores.iter().enumerate().map(|(k, s)| 1.5 * s + 0.3 * k as f64).collect::<Vec<_>>());
        let drawn = sharper.iter().position(|p| {
            left -= p;
            left < 0.0
        });
        data.push(drawn.unwrap_or(n_classes - 1), &softmax(&scores));
    }
    data
}

/// The estimates of an evaluation with their names; undefined ones are left out.
fn estimates(e: &Evaluation) -> Vec<(String, Estimate)> {
    let mut all = Vec::new();
    let optional = [
        ("accuracy", Some(&e.accuracy)),
        ("balanced_accuracy", Some(&e.balanced_accuracy)),
        ("log_loss", e.log_loss.as_ref()),
        ("auc", e.auc.as_ref()),
    ];
    let metrics = optional.iter().filter_map(|(name, m)| m.map(|m| (*name, m))).chain(e.f1.iter());
    all.extend(metrics.filter_map(|(name, m)| m.estimate().map(|e| (name.to_owned(), e.clone()))));
    all.extend(e.brier.iter().map(|b| ("brier".to_owned(), b.clone())));
    all
}

fn near(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{what}: {found} is not {expected}");
}

#[test]
fn golden_values() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden/evaluate.json");
    let document: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let numbers = |v: &Value| v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<f64>>();
    let classes = |v: &Value| numbers(v).iter().map(|c| Class(*c as u32)).collect::<Vec<Class>>();
    for case in document["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let data = Data {
            classes: case["classes"].as_array().unwrap().iter().map(|c| c.as_str().unwrap().to_owned()).collect(),
            truth: classes(&case["truth"]),
            predicted: classes(&case["predicted"]).into_iter().map(Some).collect(),
            probabilities: numbers(&case["probabilities"]),
            weights: case["weights"].as_array().map(|_| numbers(&case["weights"])),
        };
        let found = data.evaluate();
        let expected = &case["expected"];
        let check = |what: &str, value: f64| {
            near(&format!("{name}: {what}"), value, expected[what].as_f64().unwrap(), 1e-12);
        };
        check("accuracy", found.accuracy.value().unwrap());
        check("balanced_accuracy", found.balanced_accuracy.value().unwrap());
        check("log_loss", found.log_loss.as_ref().unwrap().value().unwrap());
        check("brier", found.brier.as_ref().unwrap().value);
        check("auc", found.auc.as_ref().unwrap().value().unwrap());
        let ends = numbers(&expected["accuracy_interval"]);
        near(name, found.accuracy.interval().unwrap().0, ends[0], 1e-12);
        near(name, found.accuracy.interval().unwrap().1, ends[1], 1e-12);
        for ((class, metric), f1) in found.f1.iter().zip(numbers(&expected["f1"])) {
            near(&format!("{name}: f1 of {class}"), metric.value().unwrap(), f1, 1e-12);
        }
        let counts: Vec<Vec<f64>> = expected["confusion"].as_array().unwrap().iter().map(numbers).collect();
        assert_eq!(found.confusion.counts, counts, "{name}");
    }
}

/// Weight of pairs won, ties half: the O(n²) definition.
fn slow_win(a: f64, b: f64) -> f64 {
    if a > b { 1.0 } else { f64::from(u8::from(a == b)) / 2.0 }
}

fn slow_mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn slow_covariance(x: &[f64], y: &[f64]) -> f64 {
    let (mx, my) = (slow_mean(x), slow_mean(y));
    x.iter().zip(y).map(|(a, b)| (a - mx) * (b - my)).sum::<f64>() / (x.len() as f64 - 1.0)
}

/// AUC and variance as DeLong et al. write them: structural components of every row on either side.
fn slow_delong(data: &Data) -> (f64, f64) {
    let side = |c: u32| -> Vec<f64> {
        let rows = data.truth.iter().enumerate().filter(|(_, t)| t.0 == c);
        rows.map(|(i, _)| data.probabilities[2 * i + 1]).collect()
    };
    let (negative, positive) = (side(0), side(1));
    let v10: Vec<f64> =
        positive.iter().map(|p| slow_mean(&negative.iter().map(|q| slow_win(*p, *q)).collect::<Vec<_>>())).collect();
    let v01: Vec<f64> =
        negative.iter().map(|q| slow_mean(&positive.iter().map(|p| slow_win(*p, *q)).collect::<Vec<_>>())).collect();
    let variance =
        slow_covariance(&v10, &v10) / positive.len() as f64 + slow_covariance(&v01, &v01) / negative.len() as f64;
    (slow_mean(&v10), variance)
}

#[test]
fn auc_and_its_variance_match_the_textbook() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for (rows, step) in [(30, 0.0), (80, 0.5), (200, 1.0), (150, 0.1)] {
        let data = simulate(&mut rng, rows, 2, step);
        let (value, variance) = slow_delong(&data);
        let found = data.evaluate().auc.unwrap();
        near("auc", found.value().unwrap(), value, 1e-13);
        let (low, high) = found.interval().unwrap();
        let logit = |p: f64| (p / (1.0 - p)).ln();
        let half = Z * variance.sqrt() / (value * (1.0 - value));
        near("low", logit(low), logit(value) - half, 1e-11);
        near("high", logit(high), logit(value) + half, 1e-11);
    }
}

#[test]
fn macro_auc_of_two_opposite_columns_is_the_binary_one() {
    // A third class that never occurs leaves two one-vs-rest problems that mirror each other: fully correlated.
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    // Probabilities in 64ths, so that 1 − p is exact and both columns have the same ties.
    let drawn = simulate(&mut rng, 120, 2, 0.0);
    let pairs = drawn.truth.iter().zip(drawn.probabilities.chunks(2));
    let two = Data::binary(&pairs.map(|(t, p)| (t.0, (p[1] * 64.0).round() / 64.0)).collect::<Vec<_>>());
    let mut three = Data::new(3);
    for (truth, p) in two.truth.iter().zip(two.probabilities.chunks(2)) {
        three.push(truth.index(), &[p[0], p[1], 0.0]);
    }
    let (expected, found) = (two.evaluate().auc.unwrap(), three.evaluate().auc.unwrap());
    near("value", found.value().unwrap(), expected.value().unwrap(), 1e-14);
    near("low", found.interval().unwrap().0, expected.interval().unwrap().0, 1e-13);
    near("high", found.interval().unwrap().1, expected.interval().unwrap().1, 1e-13);
    assert!(found.estimate().unwrap().method.contains("the 2 of 3 classes that occur"));
}

#[test]
fn degenerate_aucs_have_honest_intervals() {
    for (rows, value) in [
        (vec![(0, 0.1), (0, 0.2), (0, 0.3), (1, 0.8), (1, 0.9)], 1.0),
        (vec![(0, 0.9), (0, 0.8), (1, 0.1), (1, 0.2)], 0.0),
        (vec![(0, 0.5), (1, 0.5), (0, 0.5), (1, 0.5)], 0.5),
        (vec![(1, 0.6), (0, 0.5), (0, 0.7)], 0.5),
    ] {
        let auc = Data::binary(&rows).evaluate().auc.unwrap();
        assert_eq!(auc.value(), Some(value));
        let (low, high) = auc.interval().unwrap();
        assert!(low <= value && value <= high && high - low > 0.5, "{low} {high}");
        assert!(auc.estimate().unwrap().method.contains("smaller side"));
    }
}

#[test]
fn weight_k_is_k_copies() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for (n_classes, step) in [(2, 0.0), (2, 0.5), (3, 0.5), (5, 0.0)] {
        let mut weighted = simulate(&mut rng, 90, n_classes, step);
        let weights: Vec<f64> = (0..90).map(|_| f64::from(rng.random_range(0..4u32))).collect();
        let mut copied = Data::new(n_classes);
        for (row, weight) in weights.iter().enumerate() {
            for _ in 0..*weight as usize {
                let p = &weighted.probabilities[row * n_classes..(row + 1) * n_classes];
                copied.push(weighted.truth[row].index(), p);
            }
        }
        weighted.weights = Some(weights);
        let (a, b) = (weighted.evaluate(), copied.evaluate());
        assert_eq!(a.total_weight, b.total_weight);
        assert_eq!(a.confusion, b.confusion);
        for ((name, x), (_, y)) in estimates(&a).iter().zip(estimates(&b)) {
            near(name, x.value, y.value, 1e-13);
            near(name, x.interval.unwrap().0, y.interval.unwrap().0, 1e-12);
            near(name, x.interval.unwrap().1, y.interval.unwrap().1, 1e-12);
            assert_eq!(x.method, y.method);
        }
    }
}

#[test]
fn row_order_does_not_matter() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let data = simulate(&mut rng, 200, 3, 0.25);
    let mut backwards = Data::new(3);
    for row in (0..200).rev() {
        backwards.push(data.truth[row].index(), &data.probabilities[3 * row..3 * row + 3]);
    }
    for ((name, x), (_, y)) in estimates(&data.evaluate()).iter().zip(estimates(&backwards.evaluate())) {
        near(name, x.value, y.value, 1e-14);
        near(name, x.interval.unwrap().0, y.interval.unwrap().0, 1e-13);
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let data = simulate(&mut ChaCha8Rng::seed_from_u64(9), 50_000, 3, 0.1);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| serde_json::to_string(&data.evaluate()).unwrap())
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn intervals_cover_the_truth_as_often_as_they_say() {
    for (n_classes, seed) in [(2, 5), (3, 6)] {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let truth = estimates(&simulate(&mut rng, 1_000_000, n_classes, 0.0).evaluate());
        let repeats = 2000;
        let mut covered = vec![0; truth.len()];
        for _ in 0..repeats {
            let sample = estimates(&simulate(&mut rng, 200, n_classes, 0.0).evaluate());
            assert_eq!(sample.len(), truth.len());
            for (k, (_, estimate)) in sample.iter().enumerate() {
                let (low, high) = estimate.interval.unwrap();
                covered[k] += usize::from(low <= truth[k].1.value && truth[k].1.value <= high);
            }
        }
        for ((name, _), hits) in truth.iter().zip(covered) {
            let coverage = hits as f64 / repeats as f64;
            assert!((0.92..=0.98).contains(&coverage), "{name} of {n_classes} classes: {coverage}");
        }
    }
}

#[test]
fn every_interval_contains_its_value_and_stays_in_range() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for round in 0..500 {
        let (rows, n_classes) = (rng.random_range(1..12), 2 + round % 3);
        let mut data = simulate(&mut rng, rows, n_classes, 0.5);
        if round % 2 == 0 {
            data.weights = Some((0..rows).map(|_| 0.01 + rng.random::<f64>() * 3.0).collect());
        }
        let evaluation = data.evaluate();
        for (name, e) in estimates(&evaluation) {
            let (low, high) = e.interval.unwrap_or((e.value, e.value));
            assert!(0.0 <= low && low <= e.value && e.value <= high && high.is_finite(), "{name}: {e:?}");
            assert!(name == "log_loss" || high <= if name == "brier" && n_classes > 2 { 2.0 } else { 1.0 }, "{e:?}");
            assert!(e.interval.is_some() || e.method.contains("no interval"), "{name}: {e:?}");
        }
    }
}

#[test]
fn json_has_the_promised_shape() {
    let mut data = Data::new(3);
    data.push(2, &[0.1, 0.2, 0.7]);
    data.push(0, &[0.0, 0.3, 0.7]);
    data.push(2, &[0.3, 0.2, 0.5]);
    let text = serde_json::to_string(&data.evaluate()).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    for key in ["accuracy", "balanced_accuracy", "log_loss", "brier", "auc", "f1", "confusion"] {
        assert!(json.get(key).is_some(), "{key}");
    }
    near("accuracy", json["accuracy"]["value"].as_f64().unwrap(), 2.0 / 3.0, 1e-15);
    assert_eq!(json["accuracy"]["interval"].as_array().unwrap().len(), 2);
    assert_eq!(json["log_loss"]["value"], Value::Null);
    assert!(json["log_loss"]["reason"].as_str().unwrap().contains("first at row 2, of class `c0`"));
    assert!(json["f1"]["c1"]["reason"].is_string());
    assert_eq!(json["confusion"]["counts"][0][2], 1.0);
    let names: Vec<usize> = ["\"c0\":", "\"c1\":", "\"c2\":"].iter().map(|k| text.find(k).unwrap()).collect();
    assert!(names.is_sorted(), "f1 keeps the order of the classes");

    let without = evaluate(&Scored { probabilities: None, ..data.scored() }).unwrap();
    let json = serde_json::to_value(&without).unwrap();
    assert!(json["auc"].is_null() && json["brier"].is_null() && json["log_loss"].is_null());
}

#[test]
fn rejected_rows_count_in_costs_and_probabilities_but_not_in_accuracy() {
    let data = Data::binary(&[(0, 0.1), (0, 0.45), (1, 0.55), (1, 0.9), (1, 0.2), (0, 0.3)]);
    let all = data.evaluate();
    assert_eq!((all.rejected.as_ref(), all.mean_cost.as_ref()), (None, None));
    let reject = Decision { reject: Some(0.4), ..Decision::default() };
    let predicted = [Some(Class(0)), None, None, Some(Class(1)), Some(Class(0)), Some(Class(0))];
    let weights = [1.0, 2.0, 1.0, 3.0, 1.0, 1.0];
    let scored = Scored { decision: Some(&reject), predicted: &predicted, weights: Some(&weights), ..data.scored() };
    let some = evaluate(&scored).unwrap();
    let without = evaluate(&Scored { weights: Some(&weights), ..data.scored() }).unwrap();
    assert_eq!((&some.log_loss, &some.brier, &some.auc), (&without.log_loss, &without.brier, &without.auc));
    let rejected = some.rejected.unwrap();
    assert_eq!((rejected.value, rejected.interval), (3.0 / 9.0, Some(linsep::evaluate::wilson(3.0, 9.0))));
    assert_eq!(some.accuracy.value(), Some(5.0 / 6.0));
    assert_eq!(some.accuracy.interval(), Some(linsep::evaluate::wilson(5.0, 6.0)));
    assert_eq!(some.confusion.counts, [[2.0, 0.0], [1.0, 3.0]]);
    // One mistake at 1, weight 3 rejected at 0.4.
    let cost = some.mean_cost.unwrap();
    near("mean cost", cost.value, 2.2 / 9.0, 1e-15);
    let squares = (2.2f64 / 9.0).powi(2) * 5.0 + (1.0 - 2.2f64 / 9.0).powi(2) + 3.0 * (0.4 - 2.2f64 / 9.0).powi(2);
    near("its high end", cost.interval.unwrap().1, 2.2 / 9.0 + Z * (squares / 8.0 / 9.0).sqrt(), 1e-14);

    let costs = Decision { reject: Some(3.0), ..Decision::from(Rule::Cost(vec![vec![-1.0, 2.0], vec![10.0, 0.0]])) };
    let some = evaluate(&Scored { decision: Some(&costs), ..scored }).unwrap();
    near("mean of a matrix", some.mean_cost.unwrap().value, (-2.0 + 10.0 + 9.0) / 9.0, 1e-15);

    let none = evaluate(&Scored { predicted: &[None; 6], ..scored }).unwrap();
    assert_eq!(none.rejected.unwrap().value, 1.0);
    assert_eq!(none.accuracy.reason(), Some("no row was decided"));
    assert_eq!(none.balanced_accuracy.reason(), Some("no row was decided"));
    assert!(none.mean_cost.unwrap().method.contains("no interval"));
    assert!(none.auc.unwrap().value().is_some());
}

#[test]
fn one_row_or_one_class_is_said_not_guessed() {
    let one = Data::binary(&[(1, 0.8)]).evaluate();
    let accuracy = one.accuracy.estimate().unwrap();
    assert_eq!((accuracy.value, accuracy.interval), (1.0, None));
    assert!(accuracy.method.ends_with("no interval: total weight 1 is below 2"), "{}", accuracy.method);
    let Some(Metric::Undefined { reason }) = one.auc else { panic!("one class has no AUC") };
    assert_eq!(reason, "every row is of class `c1`; an AUC needs two");
}

#[test]
fn bad_input_is_an_error_with_its_row() {
    let good = Data::binary(&[(0, 0.2), (1, 0.6)]);
    let fails = |scored: Scored<'_>, words: &str| {
        let message = evaluate(&scored).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    };
    let scored = good.scored();
    fails(Scored { truth: &[], predicted: &[], ..scored }, "no rows");
    fails(Scored { predicted: &[Some(Class(0))], ..scored }, "1 predictions for 2 rows");
    fails(Scored { probabilities: Some(&[0.5; 3]), ..scored }, "3 probabilities for 2 rows; 4 expected");
    fails(Scored { probabilities: Some(&[0.5, 0.5, 0.5, 0.6]), ..scored }, "row 2: the probabilities sum to 1.1");
    fails(Scored { probabilities: Some(&[f64::NAN, 0.5, 0.5, 0.5]), ..scored }, "row 1: NaN is not a probability");
    fails(Scored { losses: Some(&[1.0]), ..scored }, "1 losses for 2 rows; 2 expected");
    fails(Scored { losses: Some(&[1.0, f64::NAN]), ..scored }, "row 2: NaN is not a loss");
    fails(Scored { losses: Some(&[-1.0, 1.0]), ..scored }, "row 1: -1 is not a loss");
    fails(Scored { weights: Some(&[1.0, -1.0]), ..scored }, "row 2: -1 is not a weight");
    fails(Scored { weights: Some(&[0.0, 0.0]), ..scored }, "all weights are zero");
    fails(Scored { weights: Some(&[f64::MAX, f64::MAX]), ..scored }, "infinite");
    fails(Scored { truth: &[Class(0), Class(2)], ..scored }, "row 2: class number 2 of 2 has no name");
    fails(Scored { predicted: &[Some(Class(0)), None], ..scored }, "row 2: there is no prediction");
    let wrong = Decision::from(Rule::Cost(vec![vec![0.0; 3]; 3]));
    fails(Scored { decision: Some(&wrong), ..scored }, "the cost matrix is 3×3, and there are 2 classes");
    let same = ["a".to_owned(), "a".to_owned()];
    fails(Scored { classes: &same, ..scored }, "two classes are named `a`");
    fails(Scored { classes: &same[..1], probabilities: None, ..scored }, "at least two classes");

    // The judged rows are the second and fourth of a table, on lines 3 and 5 of its file.
    let table = read_bytes(b"y\na\nb\na\nb\n", "d.csv", &ReadOptions::default()).unwrap();
    let origin = |rows| Some(RowsOf { table: &table, rows });
    fails(
        Scored { weights: Some(&[1.0, -1.0]), origin: origin(&[1, 3]), ..scored },
        "d.csv, line 5: -1 is not a weight",
    );
    fails(Scored { origin: origin(&[1]), ..scored }, "1 places for 2 rows");
    fails(Scored { origin: origin(&[1, 4]), ..scored }, "row 4 is outside a table of 4 rows");
    let infinite = Scored { losses: Some(&[f64::INFINITY, 1.0]), origin: origin(&[1, 3]), ..scored };
    let reason = evaluate(&infinite).unwrap().log_loss.unwrap().reason().unwrap().to_owned();
    assert!(reason.contains("first at d.csv, line 3, of class `c0`"), "{reason}");
}

#[test]
fn losses_from_scores_agree_with_probabilities_and_outlast_them() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    for n_classes in [2usize, 3, 7] {
        let width = if n_classes == 2 { 1 } else { n_classes };
        let scores: Vec<f64> = (0..200 * width).map(|_| rng.random_range(-30.0..30.0)).collect();
        let truth: Vec<Class> = (0..200).map(|_| Class(rng.random_range(0..n_classes as u32))).collect();
        let classes: Vec<String> = (0..n_classes).map(|c| format!("c{c}")).collect();
        let probabilities = decide::probabilities(&scores, n_classes);
        let losses = decide::losses(&scores, &truth, n_classes);
        for (row, (loss, class)) in losses.iter().zip(&truth).enumerate() {
            let slow = -probabilities[row * n_classes + class.index()].ln();
            near("a loss", *loss, slow, 1e-12 * slow.max(1.0));
        }
        let predicted: Vec<Option<Class>> = decide::classes(&scores, n_classes).into_iter().map(Some).collect();
        let from_probabilities = Scored {
            classes: &classes,
            truth: &truth,
            predicted: &predicted,
            decision: None,
            probabilities: Some(&probabilities),
            losses: None,
            weights: None,
            origin: None,
        };
        let from_losses = Scored { losses: Some(&losses), ..from_probabilities };
        let [one, other] = [from_probabilities, from_losses].map(|s| evaluate(&s).unwrap().log_loss.unwrap());
        near("log loss", one.value().unwrap(), other.value().unwrap(), 1e-12 * other.value().unwrap());
        near("high end", one.interval().unwrap().1, other.interval().unwrap().1, 1e-12 * other.value().unwrap());
    }
    assert_eq!(decide::losses(&[-2000.0, 2000.0, -2000.0], &[Class(1), Class(0), Class(0)], 2), [2000.0, 2000.0, 0.0]);
    assert_eq!(decide::losses(&[-2000.0, 0.0, -3.0, 1e4, 1e4, 0.0], &[Class(0), Class(2)], 3)[1], 1e4 + 2f64.ln());
    let softened = 2000.0 + (-3f64).exp().ln_1p();
    near("far", decide::losses(&[-2000.0, 0.0, -3.0], &[Class(0)], 3)[0], softened, 1e-12 * softened);
}

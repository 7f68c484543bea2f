//! Probabilities from scores: the maps against scikit-learn and scipy, cross-fitting against its definition, decisions by the
//! calibrated probability, and the correction of priors.

use linsep::artifact::Model;
use linsep::decide::{Calibration, CalibrationKind, Decision, HeldOut, Rule, pool_adjacent_violators, probabilities};
use linsep::error::ErrorKind;
use linsep::model::{
    ClassWeights, GaussianBayes, LeastSquaresSettings, Method, NaiveBayes, PenaltyChoice, PerceptronSettings,
    PerceptronVariant, RiskMinimizer,
};
use linsep::read::{ReadOptions, read_bytes};
use linsep::resample::stratified_folds;
use linsep::table::{Class, Labels, Table};
use linsep::watch::Watch;
use linsep::workflow::{
    CalibrationOptions, FitOptions, GeometryOptions, TableFit, TableRefusal, evaluate_table, fit_table, geometry_of,
    geometry_table, predict_table, verify_table,
};
use serde_json::Value;
use testkit::data::Source;
use testkit::golden::{self, number, numbers};
use testkit::{assert_all_near, assert_near};

const KINDS: [CalibrationKind; 3] = [CalibrationKind::Platt, CalibrationKind::Isotonic, CalibrationKind::Temperature];

fn classes(value: &Value) -> Vec<Class> {
    numbers(value).into_iter().map(|k| Class(k as u32)).collect()
}

#[test]
fn platt_is_that_of_scikit_learn() {
    let golden = golden::json("calibration_sklearn.json");
    for case in golden["cases"].as_array().expect("cases") {
        let (scores, truth, weights) = (numbers(&case["scores"]), classes(&case["labels"]), numbers(&case["weights"]));
        let rows = HeldOut { scores: &scores, truth: &truth, weights: Some(&weights), n_classes: 2 };
        let Calibration::Platt { slope, intercept } = CalibrationKind::Platt.fit(&rows).expect("a map") else {
            panic!("not Platt's")
        };
        let name = case["name"].as_str().unwrap_or_default();
        assert_near(slope, number(&case["platt"]["slope"]), 1e-11, 0.0, name);
        assert_near(intercept, number(&case["platt"]["intercept"]), 1e-11, 0.0, name);
        // The stopping rule of scikit-learn leaves six digits.
        assert_all_near(&[slope, intercept], &numbers(&case["platt"]["sklearn"]), 1e-6, 0.0, name);
    }
}

#[test]
fn isotonic_is_that_of_scikit_learn() {
    let golden = golden::json("calibration_sklearn.json");
    for case in golden["cases"].as_array().expect("cases") {
        let (scores, truth, weights) = (numbers(&case["scores"]), classes(&case["labels"]), numbers(&case["weights"]));
        let rows: Vec<(f64, f64, f64)> =
            scores.iter().zip(&truth).zip(&weights).map(|((z, c), s)| (*z, c.index() as f64, *s)).collect();
        let knots = pool_adjacent_violators(&rows);
        let expected = &case["isotonic"];
        let (at, values): (Vec<f64>, Vec<f64>) = knots.iter().copied().unzip();
        assert_all_near(&at, &numbers(&expected["scores"]), 1e-15, 0.0, "thresholds");
        assert_all_near(&values, &numbers(&expected["values"]), 1e-13, 0.0, "values");
        // The calibration is the same function of the score, but for the targets: an affine map of the values.
        let held_out = HeldOut { scores: &scores, truth: &truth, weights: Some(&weights), n_classes: 2 };
        let map = CalibrationKind::Isotonic.fit(&held_out).expect("a map");
        let of = |k: usize| -> f64 { truth.iter().zip(&weights).filter(|(c, _)| c.index() == k).map(|(_, s)| s).sum() };
        let (low, high) = (1.0 / (of(0) + 2.0), (of(1) + 1.0) / (of(1) + 2.0));
        let mut found = numbers(&expected["at"]);
        map.apply(&mut found);
        let p: Vec<f64> = probabilities(&found, 2).chunks_exact(2).map(|p| p[1]).collect();
        let scaled: Vec<f64> = numbers(&expected["predicted"]).iter().map(|p| low + (high - low) * p).collect();
        assert_all_near(&p, &scaled, 1e-13, 0.0, "between the thresholds");
    }
}

/// Blocks of equal value are the weighted means of their rows, and rise.
#[test]
fn pools_are_weighted_means_and_rise() {
    let mut source = Source::new(3);
    for round in 0..50 {
        let n = 1 + source.below(40);
        let rows: Vec<(f64, f64, f64)> =
            (0..n).map(|_| (source.below(12) as f64, source.uniform(-1.0, 1.0), source.uniform(0.0, 3.0))).collect();
        let knots = pool_adjacent_violators(&rows);
        assert!(knots.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 <= w[1].1), "round {round}: {knots:?}");
        let mut values: Vec<f64> = knots.iter().map(|k| k.1).collect();
        values.dedup();
        for value in values {
            let ends: Vec<f64> = knots.iter().filter(|k| k.1 == value).map(|k| k.0).collect();
            let inside = rows.iter().filter(|(z, _, _)| (ends[0]..=ends[ends.len() - 1]).contains(z));
            let (sum, weight) = inside.fold((0.0, 0.0), |(a, b), (_, y, s)| (a + s * y, b + s));
            assert_near(value, sum / weight, 1e-12, 1.0, &format!("round {round}"));
        }
    }
}

/// Weights so large that the smoothing of the targets is beyond the digits.
#[test]
fn temperature_is_that_of_scipy() {
    let golden = &golden::json("calibration_sklearn.json")["temperature"];
    let scores: Vec<f64> = golden["scores"].as_array().expect("rows").iter().flat_map(numbers).collect();
    let truth = classes(&golden["labels"]);
    let weights: Vec<f64> = numbers(&golden["weights"]).iter().map(|s| 1e13 * s).collect();
    let rows = HeldOut { scores: &scores, truth: &truth, weights: Some(&weights), n_classes: 4 };
    let Calibration::Temperature { temperature } = CalibrationKind::Temperature.fit(&rows).expect("a map") else {
        panic!("not a temperature")
    };
    assert_near(temperature, number(&golden["temperature"]), 1e-11, 0.0, "temperature");
}

/// Weight k is k copies, in every map.
#[test]
fn weights_are_copies() {
    let mut source = Source::new(8);
    let (mut scores, mut truth, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let (mut all_scores, mut all_truth) = (Vec::new(), Vec::new());
    for _ in 0..60 {
        let z = source.normal();
        let class = Class(u32::from(source.chance(linsep::numeric::logistic(2.0 * z + 0.3))));
        let copies = 1 + source.below(3);
        scores.push(z);
        truth.push(class);
        weights.push(copies as f64);
        all_scores.extend(std::iter::repeat_n(z, copies));
        all_truth.extend(std::iter::repeat_n(class, copies));
    }
    for kind in KINDS {
        let rows = HeldOut { scores: &scores, truth: &truth, weights: Some(&weights), n_classes: 2 };
        let copied = HeldOut { scores: &all_scores, truth: &all_truth, weights: None, n_classes: 2 };
        let (mut a, mut b) = (scores.clone(), scores.clone());
        kind.fit(&rows).expect("a map").apply(&mut a);
        kind.fit(&copied).expect("a map").apply(&mut b);
        assert_all_near(&a, &b, 1e-10, 1.0, kind.name());
    }
}

/// Rows of a logistic model in two columns, unevenly many of the two classes, and one column of text.
fn trial(rows: usize, seed: u64) -> String {
    let mut source = Source::new(seed);
    let mut csv = "x,z,kind,y\n".to_owned();
    for _ in 0..rows {
        let (x, z) = (source.normal(), source.normal());
        let kind = ["a", "b", "c"][source.below(3)];
        let log_odds = 1.6 * x - 0.9 * z - 1.2 + if kind == "b" { 0.8 } else { 0.0 };
        let y = if source.chance(linsep::numeric::logistic(log_odds)) { "yes" } else { "no" };
        csv.push_str(&format!("{x},{z},{kind},{y}\n"));
    }
    csv
}

fn table(csv: &str) -> Table {
    read_bytes(csv.as_bytes(), "trial.csv", &ReadOptions::default()).expect("a table")
}

fn fit(csv: &str, options: &FitOptions) -> Model {
    match fit_table(table(csv), options, &Watch::default()) {
        Ok(TableFit::Model(model)) => *model,
        other => panic!("no model: {other:?}"),
    }
}

fn svm() -> Method {
    Method::Risk(RiskMinimizer { loss: linsep::model::LossChoice::Hinge, ..RiskMinimizer::default() })
}

fn calibrated(method: Method, kind: CalibrationKind) -> FitOptions {
    FitOptions { calibration: Some(CalibrationOptions::new(kind)), ..FitOptions::new("y", method) }
}

/// The definition, with tables cut by hand: every row is scored by a fit without its fold.
#[test]
fn cross_fitting_is_what_it_says() {
    let csv = trial(150, 5);
    let whole = table(&csv);
    let (header, lines) = csv.split_once('\n').expect("a header");
    let lines: Vec<&str> = lines.lines().collect();
    let (classes, names) = Labels::from_column(&whole, whole.column("y").expect("a column"));
    for kind in KINDS {
        let options = FitOptions { seed: 3, ..calibrated(svm(), kind) };
        let model = fit(&csv, &options);
        let folds = stratified_folds(&classes, &names, 5, 3).expect("folds");
        let (mut scores, mut truth) = (Vec::new(), Vec::new());
        for fold in 0..5 {
            let part = |inside: bool| -> String {
                let kept =
                    lines.iter().zip(&folds).filter(|(_, f)| (**f == Some(fold)) == inside).map(|(line, _)| *line);
                format!("{header}\n{}\n", kept.collect::<Vec<&str>>().join("\n"))
            };
            let learned = fit(&part(false), &FitOptions::new("y", svm()));
            scores
                .extend(predict_table(&learned, &table(&part(true)), None, &Watch::default()).expect("scores").scores);
            truth.extend(folds.iter().zip(&classes).filter(|(f, _)| **f == Some(fold)).filter_map(|(_, c)| *c));
        }
        let rows = HeldOut { scores: &scores, truth: &truth, weights: None, n_classes: 2 };
        let by_hand = kind.fit(&rows).expect("a map");
        let (mut a, mut b) = (scores.clone(), scores.clone());
        model.calibration.as_ref().expect("calibrated").map.apply(&mut a);
        by_hand.apply(&mut b);
        assert_all_near(&a, &b, 1e-9, 1.0, kind.name());
    }
}

/// Once calibrated, the decision is the threshold of the probability: in predictions, in evaluations and in the geometry.
#[test]
fn the_calibrated_probability_decides() {
    let csv = trial(300, 9);
    let rows = table(&csv);
    for kind in KINDS {
        for rule in [Rule::ArgMax, Rule::Threshold(0.3), Rule::Cost(vec![vec![0.0, 1.0], vec![4.0, 0.0]])] {
            let threshold = match &rule {
                Rule::Threshold(p) => *p,
                Rule::Cost(_) => 0.2,
                _ => 0.5,
            };
            let options = FitOptions { decision: Decision::from(rule), ..calibrated(svm(), kind) };
            let model = fit(&csv, &options);
            let predictions = predict_table(&model, &rows, None, &Watch::default()).expect("predictions");
            let p = predictions.probabilities();
            let expected: Vec<Option<Class>> =
                p.chunks_exact(2).map(|p| Some(Class(u32::from(p[1] > threshold)))).collect();
            assert_eq!(predictions.classes, expected, "{kind:?}");
            let by_sign = linsep::decide::classes(&predictions.scores, 2);
            if kind != CalibrationKind::Temperature || threshold != 0.5 {
                let moved = by_sign.iter().zip(&expected).filter(|(a, b)| Some(**a) != **b).count();
                assert!(moved > 0, "{kind:?}: the cut is away from the score 0");
            }
            let geometry = geometry_of(&model, &Watch::default()).expect("geometry");
            let options = GeometryOptions::default();
            let measured = geometry_table(&model, &geometry, &rows, &options, &Watch::default()).expect("measures");
            assert_eq!(measured.predictions, expected);
            for (row, class) in measured.measured.rows.iter().zip(&expected) {
                // Rows within rounding of the boundary may be on either side of it.
                assert!(row.distance.abs() < 1e-9 || (row.distance > 0.0) == (*class == Some(Class(1))), "{kind:?}");
            }
            let judged = evaluate_table(&model, &rows, None, &Watch::default()).expect("metrics").evaluation;
            let right = expected.iter().zip(truth(&rows)).filter(|(e, t)| **e == Some(*t)).count();
            assert_near(judged.accuracy.value().expect("accuracy"), right as f64 / 300.0, 1e-15, 0.0, "accuracy");
            let log_loss = judged.log_loss.expect("losses").value().expect("finite");
            assert!(log_loss < 0.6 && judged.brier.expect("a Brier score").value < 0.21, "{kind:?}: {log_loss}");
            assert_near(model.training.accuracy.expect("decided"), right as f64 / 300.0, 1e-15, 0.0, "of the fit");
        }
    }
}

fn truth(rows: &Table) -> Vec<Class> {
    Labels::from_column(rows, rows.column("y").expect("a column")).0.into_iter().flatten().collect()
}

/// The probabilities mean what they say: on new rows the logistic model itself is hardly better.
#[test]
fn calibrated_scores_are_nearly_as_good_as_probabilities_fitted_as_such() {
    let (csv, fresh) = (trial(1500, 21), table(&trial(4000, 22)));
    let loss = |options: &FitOptions| {
        let judged = evaluate_table(&fit(&csv, options), &fresh, None, &Watch::default()).expect("metrics");
        judged.evaluation.log_loss.expect("losses").value().expect("finite")
    };
    let own = loss(&FitOptions::new("y", Method::Risk(RiskMinimizer::default())));
    let methods = [
        svm(),
        Method::LeastSquares(LeastSquaresSettings::default()),
        Method::Perceptron(PerceptronSettings::new(PerceptronVariant::Averaged)),
        Method::NaiveBayes(NaiveBayes::default()),
    ];
    for method in methods {
        for kind in [CalibrationKind::Platt, CalibrationKind::Isotonic] {
            let calibrated = loss(&calibrated(method.clone(), kind));
            assert!(calibrated < own + 0.02, "{} by {}: {calibrated}, logistic {own}", method.name(), kind.name());
        }
    }
}

#[test]
fn models_round_trip_and_are_verified() {
    let csv = trial(200, 13);
    for kind in KINDS {
        let model = fit(&csv, &FitOptions { seed: 4, ..calibrated(svm(), kind) });
        let json = model.to_json().expect("JSON");
        assert_eq!(Model::from_json(json.as_bytes(), "m.json").expect("a model"), model);
        let verified = verify_table(&model, &table(&csv), &Watch::default()).expect("a verdict");
        assert!(verified.passed(), "{:?}", verified.checks);
        assert!(verified.checks.iter().any(|c| c.claim == "calibration" && c.found.ends_with("differ by 0.0e0")));
        let mut changed = model.clone();
        match &mut changed.calibration.as_mut().expect("calibrated").map {
            Calibration::Platt { intercept, .. } => *intercept += 0.01,
            Calibration::Isotonic { knots } => knots[0].1 *= 0.5,
            Calibration::Temperature { temperature } => *temperature *= 1.01,
            other => panic!("two classes need no coupling: {other:?}"),
        }
        let verdict = verify_table(&changed, &table(&csv), &Watch::default()).expect("a verdict");
        assert!(verdict.checks.iter().all(|c| c.holds == (c.claim != "calibration")), "{:?}", verdict.checks);
    }
}

#[test]
fn broken_maps_are_refused() {
    let csv = trial(100, 14);
    let whole = fit(&csv, &calibrated(svm(), CalibrationKind::Platt));
    let maps = [
        Calibration::Platt { slope: 0.0, intercept: 1.0 },
        Calibration::Platt { slope: -1.0, intercept: 1.0 },
        Calibration::Isotonic { knots: vec![] },
        Calibration::Isotonic { knots: vec![(0.0, 0.5), (0.0, 0.6)] },
        Calibration::Isotonic { knots: vec![(0.0, 0.5), (1.0, 0.4)] },
        Calibration::Isotonic { knots: vec![(0.0, 0.5), (1.0, 1.0)] },
        Calibration::Temperature { temperature: 0.0 },
    ];
    for map in maps {
        let mut model = whole.clone();
        model.calibration.as_mut().expect("calibrated").map = map.clone();
        let json = model.to_json().expect("JSON");
        let error = Model::from_json(json.as_bytes(), "m.json").expect_err("broken");
        assert!(error.message().contains("from scores to probabilities"), "{map:?}: {error}");
    }
    let mut model = whole;
    model.true_priors = Some(vec![0.5, 0.6]);
    assert!(Model::from_json(model.to_json().expect("JSON").as_bytes(), "m.json").is_err());
}

#[test]
fn degenerate_folds_have_defined_answers() {
    // Three rows of one class in five folds: two folds hold none of them back.
    let mut csv = "x,y\n".to_owned();
    (0..20).for_each(|i| csv.push_str(&format!("{},no\n", f64::from(i) * 0.1)));
    (0..3).for_each(|i| csv.push_str(&format!("{},yes\n", 1.5 + f64::from(i))));
    for kind in KINDS {
        assert!(fit(&csv, &calibrated(svm(), kind)).calibration.is_some());
    }
    // Separable scores: probabilities short of 0 and 1.
    let apart = "x,y\n1,no\n2,no\n3,no\n4,no\n5,no\n11,yes\n12,yes\n13,yes\n14,yes\n15,yes\n";
    for kind in KINDS {
        let model = fit(apart, &calibrated(svm(), kind));
        let p = predict_table(&model, &table(apart), None, &Watch::default()).expect("predictions").probabilities();
        assert!(p.iter().all(|p| *p > 0.0 && *p < 1.0), "{kind:?}: {p:?}");
        assert_eq!(model.training.accuracy, Some(1.0));
    }
    let error = |csv: &str, options: &FitOptions| {
        let error = fit_table(table(csv), options, &Watch::default()).expect_err("no model");
        format!("{error}")
    };
    // One row of a class can be learned from or held out, not both.
    let lone = "x,y\n1,no\n2,no\n3,no\n4,yes\n";
    let halves = CalibrationOptions { kind: CalibrationKind::Platt, folds: 2 };
    let options = FitOptions { calibration: Some(halves), ..FitOptions::new("y", svm()) };
    assert!(error(lone, &options).contains("leave out calibration"));
    // More folds than rows.
    let many = CalibrationOptions { kind: CalibrationKind::Platt, folds: 50 };
    let options = FitOptions { calibration: Some(many), ..FitOptions::new("y", svm()) };
    assert!(error(apart, &options).contains("choose calibration folds from 2 to 10"));
    // A column that says nothing: held out, the scores have the wrong sign.
    let noise = "x,y\n1,no\n1,yes\n2,no\n2,yes\n3,no\n3,yes\n4,no\n4,yes\n5,no\n5,yes\n";
    for kind in KINDS {
        let said = error(noise, &calibrated(Method::LeastSquares(LeastSquaresSettings::default()), kind));
        assert!(said.contains("do not tell the classes apart"), "{kind:?}: {said}");
    }
    // Platt and isotonic are for two classes.
    let three = "x,y\n1,a\n2,a\n3,b\n4,b\n5,c\n6,c\n";
    let squares = Method::LeastSquares(LeastSquaresSettings::default());
    assert!(error(three, &calibrated(squares.clone(), CalibrationKind::Platt)).contains("calibration = temperature"));
    let two = CalibrationOptions { kind: CalibrationKind::Temperature, folds: 2 };
    let options = FitOptions { calibration: Some(two), ..FitOptions::new("y", squares) };
    let kept = fit_table(table(three), &options, &Watch::default());
    assert!(matches!(&kept, Ok(TableFit::Model(_))) || kept.is_err_and(|e| e.kind() == ErrorKind::Data));
}

/// A perceptron on classes that overlap: the answer is that, not an error of a fold.
#[test]
fn an_answer_of_the_whole_comes_before_an_error_of_a_fold() {
    let csv = trial(60, 2);
    let options = calibrated(Method::Perceptron(PerceptronSettings::default()), CalibrationKind::Platt);
    assert!(matches!(
        fit_table(table(&csv), &options, &Watch::default()),
        Ok(TableFit::Refused(TableRefusal::NotSeparable { .. }))
    ));
}

#[test]
fn threads_give_the_same_bits() {
    let csv = trial(400, 30);
    for kind in KINDS {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| fit(&csv, &calibrated(svm(), kind)).to_json().expect("JSON"))
        };
        assert_eq!(with(1), with(3), "{kind:?}");
    }
}

/// Cross-validation calibrates within each fold's own rows, and so judges probabilities.
#[test]
fn cross_validation_judges_calibrated_probabilities() {
    let csv = trial(200, 31);
    let options = FitOptions { folds: Some(4), ..calibrated(svm(), CalibrationKind::Platt) };
    let cv = fit(&csv, &options).cross_validation.expect("figures");
    assert!(cv.log_loss.expect("a log loss") < 0.65 && cv.accuracy.expect("accuracy") > 0.65, "{cv:?}");
    assert!(
        fit(&csv, &FitOptions { folds: Some(4), ..FitOptions::new("y", svm()) })
            .cross_validation
            .expect("figures")
            .log_loss
            .is_none()
    );
}

/// Counts in the cells of a saturated design: `cell,class` as often as given.
fn cells(counts: &[(&str, &str, usize)]) -> String {
    let mut csv = "cell,y\n".to_owned();
    for (cell, class, n) in counts {
        (0..*n).for_each(|_| csv.push_str(&format!("{cell},{class}\n")));
    }
    csv
}

fn likelihood() -> Method {
    Method::Risk(RiskMinimizer { penalty: PenaltyChoice::None, tolerance: 1e-12, ..RiskMinimizer::default() })
}

fn proba(model: &Model, csv: &str) -> Vec<f64> {
    predict_table(model, &table(csv), None, &Watch::default()).expect("predictions").probabilities()
}

/// Theorem: on a saturated design maximum likelihood returns frequencies, and class weights multiply the odds of every cell by
/// the same number. Priors put right give the frequencies back.
#[test]
fn corrected_priors_undo_class_weights_on_saturated_designs() {
    let two =
        cells(&[("a", "no", 9), ("a", "yes", 2), ("b", "no", 4), ("b", "yes", 7), ("c", "no", 6), ("c", "yes", 5)]);
    let three = cells(&[("a", "p", 3), ("a", "q", 5), ("a", "r", 2), ("b", "p", 6), ("b", "q", 1), ("b", "r", 4)]);
    let shares = |csv: &str| {
        let rows = table(csv);
        let (codes, names) = Labels::from_column(&rows, 1);
        let n = codes.len() as f64;
        (0..names.len()).map(|k| codes.iter().filter(|c| **c == Some(Class(k as u32))).count() as f64 / n).collect()
    };
    for (csv, weights) in [
        (&two, ClassWeights::Balanced),
        (&two, ClassWeights::Given(vec![("yes".into(), 7.5)])),
        (&three, ClassWeights::Balanced),
        (&three, ClassWeights::Given(vec![("q".into(), 0.2), ("r".into(), 3.0)])),
    ] {
        let plain = fit(csv, &FitOptions::new("y", likelihood()));
        let weighted = FitOptions { class_weights: Some(weights), ..FitOptions::new("y", likelihood()) };
        let unlike = proba(&fit(csv, &weighted), csv);
        let mut corrected = fit(csv, &FitOptions { true_priors: Some(shares(csv)), ..weighted });
        assert!(unlike.iter().zip(proba(&plain, csv)).any(|(a, b)| (a - b).abs() > 0.05));
        assert_all_near(&proba(&corrected, csv), &proba(&plain, csv), 1e-6, 0.0, "corrected");
        // The correction is not part of what was minimised, and the model is verified as it is.
        let verified = verify_table(&corrected, &table(csv), &Watch::default()).expect("a verdict");
        assert!(verified.passed(), "{:?}", verified.checks);
        corrected.true_priors = None;
        assert_all_near(&proba(&corrected, csv), &unlike, 1e-12, 0.0, "without the correction");
    }
}

/// Theorem: rows of one class drawn at another rate change its odds by that rate; so do true priors.
#[test]
fn corrected_priors_undo_resampling_on_saturated_designs() {
    let whole = cells(&[("a", "no", 60), ("a", "yes", 4), ("b", "no", 30), ("b", "yes", 6)]);
    let thinned = cells(&[("a", "no", 10), ("a", "yes", 4), ("b", "no", 5), ("b", "yes", 6)]);
    let expected = proba(&fit(&whole, &FitOptions::new("y", likelihood())), &whole);
    let options = FitOptions { true_priors: Some(vec![0.9, 0.1]), ..FitOptions::new("y", likelihood()) };
    let found = proba(&fit(&thinned, &options), &whole);
    assert_all_near(&found, &expected, 1e-6, 0.0, "thinned rows");
}

/// Of a generative model true priors are its priors.
#[test]
fn true_priors_of_a_generative_model_are_its_priors() {
    let csv = trial(120, 40).replace(",kind,", ",w,").replace(",a,", ",1,").replace(",b,", ",2,").replace(",c,", ",4,");
    let given = vec![0.35, 0.65];
    for (corrected, refitted) in [
        (
            Method::Gaussian(GaussianBayes::lda()),
            Method::Gaussian(GaussianBayes { priors: Some(given.clone()), ..GaussianBayes::lda() }),
        ),
        (
            Method::NaiveBayes(NaiveBayes::default()),
            Method::NaiveBayes(NaiveBayes { priors: Some(given.clone()), ..NaiveBayes::default() }),
        ),
    ] {
        let options = FitOptions { true_priors: Some(given.clone()), ..FitOptions::new("y", corrected) };
        let shifted = proba(&fit(&csv, &options), &csv);
        let again = proba(&fit(&csv, &FitOptions::new("y", refitted)), &csv);
        assert_all_near(&shifted, &again, 1e-11, 0.0, "posteriors");
    }
}

/// The geometry moves with the priors, also for several classes.
#[test]
fn boundaries_follow_the_true_priors() {
    let mut source = Source::new(50);
    let mut csv = "x,z,y\n".to_owned();
    for i in 0..150 {
        let k = i % 3;
        let (x, z) = (source.normal() + [0.0, 1.5, 0.0][k], source.normal() + [0.0, 0.0, 1.5][k]);
        csv.push_str(&format!("{x},{z},{}\n", ["p", "q", "r"][k]));
    }
    let rows = table(&csv);
    for method in [Method::Risk(RiskMinimizer::default()), Method::Gaussian(GaussianBayes::qda())] {
        let options = FitOptions { true_priors: Some(vec![0.8, 0.15, 0.05]), ..FitOptions::new("y", method) };
        let model = fit(&csv, &options);
        let geometry = geometry_of(&model, &Watch::default()).expect("geometry");
        let measured = geometry_table(&model, &geometry, &rows, &GeometryOptions::default(), &Watch::default());
        let measured = measured.expect("measures");
        let predicted = predict_table(&model, &rows, None, &Watch::default()).expect("predictions");
        assert_eq!(measured.predictions, predicted.classes);
        let by_measures: Vec<Option<Class>> = measured.measured.rows.iter().map(|r| Some(r.class)).collect();
        assert_eq!(by_measures, predicted.classes, "{}", model.method.name());
        let moved = linsep::decide::classes(&predicted.scores, 3);
        assert!(moved.iter().zip(&predicted.classes).any(|(a, b)| Some(*a) != *b));
    }
}

#[test]
fn priors_need_probabilities() {
    let csv = trial(50, 60);
    let options = FitOptions { true_priors: Some(vec![0.5, 0.5]), ..FitOptions::new("y", svm()) };
    let error = fit_table(table(&csv), &options, &Watch::default()).expect_err("no probabilities");
    assert!(format!("{error}").contains("calibration = platt"), "{error}");
    // Calibrated scores are about the rows as they are, whatever the weights of the classes.
    let weighted =
        FitOptions { class_weights: Some(ClassWeights::Balanced), ..calibrated(svm(), CalibrationKind::Platt) };
    let model = fit(&csv, &weighted);
    let n = &model.training.class_weights;
    assert_all_near(&model.learned_priors(), &[n[0] / 50.0, n[1] / 50.0], 1e-15, 0.0, "shares");
    let moved = fit(&csv, &FitOptions { true_priors: Some(vec![0.9, 0.1]), ..weighted });
    assert!(proba(&moved, &csv).chunks_exact(2).zip(proba(&model, &csv).chunks_exact(2)).all(|(a, b)| a[1] < b[1]));
}

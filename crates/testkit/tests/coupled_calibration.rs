//! Probabilities of several classes from two-class fits: cross-fitting against its definition, the most probable class decides,
//! models round-trip and are verified, priors are put right.

use linsep::artifact::Model;
use linsep::decide::{
    Calibration, CalibrationKind, Coupled, Coupling, Decision, HeldOut, Rule, TwoSides, Vote, probabilities,
};
use linsep::model::{
    ClassWeights, KernelChoice, KernelSvmSettings, LossChoice, Method, PerceptronSettings, PerceptronVariant,
    RiskMinimizer, Split,
};
use linsep::read::{ReadOptions, read_bytes};
use linsep::resample::stratified_folds;
use linsep::table::{Class, Labels, Table};
use linsep::watch::Watch;
use linsep::workflow::{
    Approach, CalibrationOptions, FitOptions, GeometryOptions, Multiclass, TableFit, evaluate_table, fit_table,
    geometry_of, geometry_table, predict_table, verify_table,
};
use testkit::data::Source;
use testkit::{assert_all_near, assert_near};

const KINDS: [CalibrationKind; 3] = [CalibrationKind::Platt, CalibrationKind::Isotonic, CalibrationKind::Temperature];
const APPROACHES: [Approach; 2] = [Approach::OneVsOne, Approach::OneVsRest];

/// Rows of a softmax model of three classes in two columns: its log-probabilities are known.
fn trial(rows: usize, seed: u64) -> String {
    let mut source = Source::new(seed);
    let mut csv = "x,z,y\n".to_owned();
    for _ in 0..rows {
        let (x, z) = (source.normal(), source.normal());
        let p = probabilities(&[1.5 * x, 1.5 * z - 0.3, -1.2 * x - 0.8 * z + 0.2], 3);
        let draw = source.uniform(0.0, 1.0);
        let y = if draw < p[0] {
            "a"
        } else if draw < p[0] + p[1] {
            "b"
        } else {
            "c"
        };
        csv.push_str(&format!("{x},{z},{y}\n"));
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
    Method::Risk(RiskMinimizer { loss: LossChoice::Hinge, ..RiskMinimizer::default() })
}

fn plain(method: Method, approach: Approach) -> FitOptions {
    let multiclass = Multiclass { approach: Some(approach), ..Multiclass::default() };
    FitOptions { multiclass, ..FitOptions::new("y", method) }
}

fn calibrated(method: Method, approach: Approach, kind: CalibrationKind) -> FitOptions {
    FitOptions { calibration: Some(CalibrationOptions::new(kind)), ..plain(method, approach) }
}

/// The definition, with tables cut by hand: every row is scored by fits without its fold, and every two-class fit learns its
/// map from the rows that it is about.
#[test]
fn cross_fitting_is_what_it_says() {
    let csv = trial(240, 5);
    let whole = table(&csv);
    let (header, lines) = csv.split_once('\n').expect("a header");
    let lines: Vec<&str> = lines.lines().collect();
    let (classes, names) = Labels::from_column(&whole, whole.column("y").expect("a column"));
    let folds = stratified_folds(&classes, &names, 5, 3).expect("folds");
    for approach in APPROACHES {
        let (mut scores, mut truth) = (Vec::new(), Vec::new());
        for fold in 0..5 {
            let part = |inside: bool| -> String {
                let kept = lines.iter().zip(&folds).filter(|(_, f)| (**f == Some(fold)) == inside).map(|(l, _)| *l);
                format!("{header}\n{}\n", kept.collect::<Vec<&str>>().join("\n"))
            };
            let learned = fit(&part(false), &plain(svm(), approach));
            let found = predict_table(&learned, &table(&part(true)), None, &Watch::default()).expect("scores");
            scores.extend(found.scores);
            truth.extend(folds.iter().zip(&classes).filter(|(f, _)| **f == Some(fold)).filter_map(|(_, c)| *c));
        }
        let rows = HeldOut { scores: &scores, truth: &truth, weights: None, n_classes: 3 };
        let (split, coupling) = match approach {
            Approach::OneVsOne => (Split::Pairs, Coupling::Pairs),
            _ => (Split::Rest, Coupling::Rest),
        };
        for kind in KINDS {
            let by_hand = match (kind, coupling) {
                (CalibrationKind::Temperature, Coupling::Rest) => kind.fit(&rows).expect("a map"),
                _ => {
                    let one = |(at, part): (usize, &linsep::model::Part)| {
                        let sides = TwoSides::of(&rows, (at, 3), part.class, part.against);
                        kind.fit(&sides.rows()).expect("a map")
                    };
                    Calibration::Coupled(Coupled {
                        coupling,
                        maps: split.parts(3).iter().enumerate().map(one).collect(),
                    })
                }
            };
            let model = fit(&csv, &FitOptions { seed: 3, ..calibrated(svm(), approach, kind) });
            let (mut a, mut b) = (scores.clone(), scores.clone());
            model.calibration.as_ref().expect("calibrated").map.apply(&mut a);
            by_hand.apply(&mut b);
            assert_all_near(&probabilities(&a, 3), &probabilities(&b, 3), 1e-9, 1.0, kind.name());
        }
    }
}

/// A pair learns from the rows of its classes alone, a class against the rest from all.
#[test]
fn the_sides_of_a_part_are_its_rows() {
    let truth = [0, 1, 2, 1, 0].map(Class);
    let scores: Vec<f64> = (0..15).map(f64::from).collect();
    let rows = HeldOut { scores: &scores, truth: &truth, weights: Some(&[1.0, 2.0, 3.0, 4.0, 5.0]), n_classes: 3 };
    let pair = TwoSides::of(&rows, (2, 3), Class(2), Some(Class(1)));
    assert_eq!(pair.rows().scores, [5.0, 8.0, 11.0]);
    assert_eq!(pair.rows().truth, [0, 1, 0].map(Class));
    assert_eq!(pair.rows().weights, Some(&[2.0, 3.0, 4.0][..]));
    let rest = TwoSides::of(&rows, (0, 3), Class(0), None);
    assert_eq!(rest.rows().scores, [0.0, 3.0, 6.0, 9.0, 12.0]);
    assert_eq!(rest.rows().truth, [1, 0, 0, 0, 1].map(Class));
}

/// Once calibrated, the decision is that of the probabilities, in predictions, evaluations and costs; no row is undetermined.
#[test]
fn the_calibrated_probability_decides() {
    let csv = trial(300, 9);
    let rows = table(&csv);
    let costs = vec![vec![0.0, 1.0, 1.0], vec![1.0, 0.0, 6.0], vec![1.0, 1.0, 0.0]];
    for approach in APPROACHES {
        for kind in KINDS {
            for rule in [Rule::ArgMax, Rule::Cost(costs.clone())] {
                let mistake = |k: usize, j: usize| match &rule {
                    Rule::Cost(costs) => costs[k][j],
                    _ => f64::from(u8::from(k != j)),
                };
                let decision = Decision::from(rule.clone());
                let model = fit(&csv, &FitOptions { decision, ..calibrated(svm(), approach, kind) });
                assert!(model.training.undetermined.is_none());
                let found = predict_table(&model, &rows, None, &Watch::default()).expect("predictions");
                let p = found.probabilities();
                for (class, p) in found.classes.iter().zip(p.chunks_exact(3)) {
                    assert_near(p.iter().sum(), 1.0, 1e-14, 0.0, "the sum");
                    let cost = |j: usize| (0..3).map(|k| p[k] * mistake(k, j)).sum::<f64>();
                    let least = (0..3).map(cost).fold(f64::INFINITY, f64::min);
                    let class = class.expect("a decision").index();
                    assert!(cost(class) <= least + 1e-12, "{approach:?} {kind:?}");
                }
                let judged = evaluate_table(&model, &rows, None, &Watch::default()).expect("metrics").evaluation;
                let loss = judged.log_loss.expect("losses").value().expect("finite");
                assert!(loss < 0.85 && judged.brier.is_some(), "{approach:?} {kind:?}: {loss}");
            }
        }
    }
}

/// The probabilities mean what they say: on new rows softmax, which is the truth here, is hardly better.
#[test]
fn calibrated_scores_are_nearly_as_good_as_probabilities_fitted_as_such() {
    let (csv, fresh) = (trial(1500, 21), table(&trial(4000, 22)));
    let loss = |options: &FitOptions| {
        let judged = evaluate_table(&fit(&csv, options), &fresh, None, &Watch::default()).expect("metrics");
        judged.evaluation.log_loss.expect("losses").value().expect("finite")
    };
    let own = loss(&FitOptions::new("y", Method::Risk(RiskMinimizer::default())));
    let averaged = Method::Perceptron(PerceptronSettings::new(PerceptronVariant::Averaged));
    let kernel = Method::KernelSvm(KernelSvmSettings {
        kernel: KernelChoice::Rbf { gamma: Some(0.1) },
        ..KernelSvmSettings::default()
    });
    for method in [svm(), averaged, kernel] {
        for approach in APPROACHES {
            for kind in [CalibrationKind::Platt, CalibrationKind::Isotonic] {
                let found = loss(&calibrated(method.clone(), approach, kind));
                let what = format!("{} {approach:?} by {}: {found}, softmax {own}", method.name(), kind.name());
                // Scores against the rest are normalised, which no model of the rows stands behind.
                let slack = if approach == Approach::OneVsOne { 0.02 } else { 0.06 };
                assert!(found < own + slack, "{what}");
            }
        }
    }
}

#[test]
fn models_round_trip_and_are_verified() {
    let csv = trial(200, 13);
    for approach in APPROACHES {
        for kind in KINDS {
            let model = fit(&csv, &FitOptions { seed: 4, ..calibrated(svm(), approach, kind) });
            let json = model.to_json().expect("JSON");
            assert_eq!(Model::from_json(json.as_bytes(), "m.json").expect("a model"), model);
            let verified = verify_table(&model, &table(&csv), &Watch::default()).expect("a verdict");
            assert!(verified.passed(), "{:?}", verified.checks);
            assert!(verified.checks.iter().any(|c| c.claim == "calibration" && c.found.ends_with("differ by 0.0e0")));
            let mut changed = model.clone();
            let shift = |map: &mut Calibration| match map {
                Calibration::Platt { intercept, .. } => *intercept += 0.01,
                Calibration::Isotonic { knots } => knots[0].1 *= 0.5,
                Calibration::Temperature { temperature } => *temperature *= 1.01,
                Calibration::Coupled(_) => panic!("coupled twice"),
            };
            match &mut changed.calibration.as_mut().expect("calibrated").map {
                Calibration::Coupled(coupled) => shift(&mut coupled.maps[1]),
                one => shift(one),
            }
            let verdict = verify_table(&changed, &table(&csv), &Watch::default()).expect("a verdict");
            assert!(verdict.checks.iter().all(|c| c.holds == (c.claim != "calibration")), "{:?}", verdict.checks);
        }
    }
}

/// Maps of other fits than the model's, and fits that nothing decides by, are no model.
#[test]
fn broken_couplings_are_refused() {
    let whole = fit(&trial(150, 14), &calibrated(svm(), Approach::OneVsOne, CalibrationKind::Platt));
    let refused = |change: &dyn Fn(&mut Model)| {
        let mut model = whole.clone();
        change(&mut model);
        let json = model.to_json().expect("JSON");
        assert!(Model::from_json(json.as_bytes(), "m.json").is_err());
    };
    let coupled = |model: &mut Model, change: &dyn Fn(&mut Coupled)| match &mut model
        .calibration
        .as_mut()
        .expect("calibrated")
        .map
    {
        Calibration::Coupled(coupled) => change(coupled),
        other => panic!("not coupled: {other:?}"),
    };
    refused(&|m| coupled(m, &|c| c.coupling = Coupling::Rest));
    refused(&|m| coupled(m, &|c| c.maps.truncate(2)));
    refused(&|m| coupled(m, &|c| c.maps[1] = Calibration::Temperature { temperature: 1.0 }));
    refused(&|m| coupled(m, &|c| c.maps[1] = Calibration::Platt { slope: -1.0, intercept: 0.0 }));
    refused(&|m| m.calibration = None);
    refused(&|m| m.parts.clear());
    refused(&|m| m.calibration.as_mut().expect("calibrated").map = Calibration::Temperature { temperature: 2.0 });
}

/// Where the largest a z + b decides, its planes are the boundaries; other probabilities have none.
#[test]
fn the_geometry_is_that_of_the_decision_or_refused() {
    let csv = trial(300, 15);
    let rows = table(&csv);
    for kind in [CalibrationKind::Platt, CalibrationKind::Temperature] {
        let model = fit(&csv, &calibrated(svm(), Approach::OneVsRest, kind));
        let geometry = geometry_of(&model, &Watch::default()).expect("geometry");
        let options = GeometryOptions { projection: true, ..GeometryOptions::default() };
        let measured = geometry_table(&model, &geometry, &rows, &options, &Watch::default()).expect("measures");
        for (row, class) in measured.measured.rows.iter().zip(&measured.predictions) {
            assert_eq!(Some(row.class), *class, "{kind:?}");
        }
        assert!(measured.measured.projections.is_some());
    }
    for (approach, kind) in
        [(Approach::OneVsOne, CalibrationKind::Platt), (Approach::OneVsRest, CalibrationKind::Isotonic)]
    {
        let model = fit(&csv, &calibrated(svm(), approach, kind));
        let refused = geometry_of(&model, &Watch::default()).expect_err("no planes");
        assert!(refused.message().contains("no planes"), "{}", refused.message());
    }
}

/// Class weights move the planes and not the probabilities; true priors move these.
#[test]
fn probabilities_are_about_the_rows_as_they_are_or_about_the_true_priors() {
    let (csv, fresh) = (trial(1200, 31), table(&trial(4000, 32)));
    let mean = |options: &FitOptions| {
        let model = fit(&csv, options);
        let p = predict_table(&model, &fresh, None, &Watch::default()).expect("predictions").probabilities();
        let n = p.len() as f64 / 3.0;
        [0, 1, 2].map(|k| p.iter().skip(k).step_by(3).sum::<f64>() / n)
    };
    let shares = {
        let (classes, _) = Labels::from_column(&fresh, fresh.column("y").expect("a column"));
        [0, 1, 2].map(|k| classes.iter().flatten().filter(|c| c.index() == k).count() as f64 / classes.len() as f64)
    };
    for approach in APPROACHES {
        let mut options = calibrated(svm(), approach, CalibrationKind::Platt);
        options.class_weights = Some(ClassWeights::Given(vec![("a".into(), 5.0)]));
        // Divided by their sum, probabilities against the rest no longer have the shares of the rows as their mean.
        let slack = if approach == Approach::OneVsOne { 0.03 } else { 0.06 };
        assert_all_near(&mean(&options), &shares, slack, 1.0, "shares");
        options.true_priors = Some(vec![0.02, 0.49, 0.49]);
        let moved = mean(&options);
        assert!(moved[0] < 0.1 && moved[1] > shares[1], "{moved:?}");
    }
}

/// The folds of a cross-validation have maps of their own.
#[test]
fn cross_validation_learns_the_maps_anew() {
    for approach in APPROACHES {
        let options = FitOptions { folds: Some(3), ..calibrated(svm(), approach, CalibrationKind::Platt) };
        let found = fit(&trial(300, 41), &options).cross_validation.expect("folds");
        assert!(found.log_loss.is_some_and(|loss| loss < 0.95) && found.undetermined.is_none(), "{found:?}");
    }
}

#[test]
fn votes_and_ties_are_not_for_probabilities() {
    let mut options = calibrated(svm(), Approach::OneVsOne, CalibrationKind::Platt);
    options.multiclass.vote = Some(Vote::Majority);
    let refused = fit_table(table(&trial(100, 3)), &options, &Watch::default()).expect_err("a vote");
    assert!(refused.message().contains("vote is about scores"), "{}", refused.message());
}

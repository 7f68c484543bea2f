//! The support vector machine of several classes at once, against a quadratic programming solver, scikit-learn and its own
//! optimality conditions.

use linsep::design::Standardize;
use linsep::model::{Fitted, LossChoice, Method, Outcome, PenaltyChoice, RiskMinimizer};
use linsep::objective::Intercept;
use linsep::read::{ReadOptions, read_bytes};
use linsep::watch::Watch;
use linsep::workflow::{Approach, FitOptions, Multiclass, TableFit, fit_table, verify_table};
use testkit::cone::least_joint_margin_objective;
use testkit::data::{Data, Source, expect_model, overlapping};
use testkit::golden::{Frame, json, number, strings};
use testkit::{assert_all_near, assert_near};

const INTERCEPTS: [Intercept; 3] = [Intercept::Free, Intercept::None, Intercept::Penalised];

fn machine(lambda: f64, intercept: Intercept) -> RiskMinimizer {
    RiskMinimizer {
        loss: LossChoice::Hinge,
        intercept,
        penalty: PenaltyChoice::Ridge(lambda),
        standardize: Standardize::No,
        ..RiskMinimizer::default()
    }
}

/// The objective written out, by the textbook.
fn objective(data: &Data, model: &Fitted, lambda: f64, intercept: Intercept) -> f64 {
    let linear = model.discriminant.as_linear().expect("linear");
    let k = linear.n_scores();
    let scores = data.scores(model);
    let total: f64 = (0..data.rows()).map(|i| data.weight(i)).sum();
    let loss = |i: usize| {
        let z: Vec<f64> =
            (0..k).map(|c| scores[i * k + c] + data.offsets.as_ref().map_or(0.0, |(_, o)| o[i * k + c])).collect();
        let y = data.class(i);
        (0..k).map(|c| z[c] - z[y] + if c == y { 0.0 } else { 1.0 }).fold(0.0, f64::max)
    };
    let mean = (0..data.rows()).map(|i| data.weight(i) * loss(i)).sum::<f64>() / total;
    let mut square: f64 = (0..k).flat_map(|c| linear.weights_of(c)).map(|w| w * w).sum();
    if intercept == Intercept::Penalised {
        square += linear.intercept().iter().map(|b| b * b).sum::<f64>();
    }
    mean + 0.5 * lambda * square
}

#[track_caller]
fn agrees(data: &Data, lambda: f64, what: &str) {
    for intercept in INTERCEPTS {
        let what = format!("{what}, intercept {intercept:?}, λ = {lambda}");
        let model = data.model(&Method::Risk(machine(lambda, intercept)));
        assert_eq!(model.outcome, Outcome::Converged, "{what}: {:?}", model.certificate);
        let value = model.objective.value;
        assert_near(value, objective(data, &model, lambda, intercept), 1e-12, 0.0, &what);
        let best = least_joint_margin_objective(data, lambda, intercept);
        // 1e-8 relative to the objective at zero weights, which is at most one without offsets, and the judge's own 1e-9.
        let scale = if data.offsets.is_some() { 5.0 } else { 1.0 };
        assert!((value - best).abs() <= 1.2e-8 * scale, "{what}: {value} against {best}");
        check_conditions(data, &model, lambda, intercept, &what);
    }
}

/// `α ≥ 0`, `Σ_k α_k ≤ C`, the weights are those of the multipliers, and with free intercepts every class is balanced.
#[track_caller]
fn check_conditions(data: &Data, model: &Fitted, lambda: f64, intercept: Intercept, what: &str) {
    let k = data.labels.n_classes();
    let alpha = &model.multipliers.as_ref().expect("multipliers").alpha;
    assert_eq!(alpha.len(), k * data.rows(), "{what}");
    let total: f64 = (0..data.rows()).map(|i| data.weight(i)).sum();
    let mut balance = vec![0.0; k];
    let mut weights = vec![0.0; k * data.cols];
    for (i, alpha) in alpha.chunks_exact(k).enumerate() {
        let sum: f64 = alpha.iter().sum();
        assert!(alpha.iter().all(|a| *a >= 0.0) && alpha[data.class(i)] == 0.0, "{what}: row {i}");
        assert!(sum <= data.weight(i) / (lambda * total) * (1.0 + 1e-12), "{what}: row {i} has {sum}");
        for c in 0..k {
            let beta = if c == data.class(i) { sum } else { -alpha[c] };
            balance[c] += beta;
            weights[c * data.cols..(c + 1) * data.cols].iter_mut().zip(data.row(i)).for_each(|(w, x)| *w += beta * x);
        }
    }
    let size: f64 = alpha.iter().sum();
    if intercept == Intercept::Free {
        assert!(balance.iter().all(|b| b.abs() <= 1e-11 * size), "{what}: {balance:?}");
    }
    let linear = model.discriminant.as_linear().expect("linear");
    let found: Vec<f64> = (0..k).flat_map(|c| linear.weights_of(c).to_vec()).collect();
    // Both are within √(2 gap/λ) of the optimum.
    let within = 2.0 * (2.0 * model.certificate.gap().expect("a gap") / lambda).sqrt() + 1e-9;
    let largest = found.iter().zip(&weights).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(largest <= within, "{what}: weights differ by {largest}, allowed {within}");
}

#[test]
fn agrees_with_a_quadratic_programming_solver() {
    for (rows, cols, classes, seed) in [(40, 2, 3, 1), (80, 3, 4, 2), (60, 5, 3, 3)] {
        let data = overlapping(rows, cols, classes, seed);
        for lambda in [1.0, 0.05, 0.002] {
            agrees(&data, lambda, &format!("{rows}×{cols}, {classes} classes"));
        }
    }
}

#[test]
fn agrees_with_weights_offsets_zero_rows_and_separable_classes() {
    let mut source = Source::new(5);
    let data = overlapping(60, 3, 3, 4);
    let weights: Vec<f64> = (0..60).map(|i| (i % 4) as f64).collect();
    agrees(&data.weighted(weights), 0.03, "weights");
    let offsets: Vec<f64> = (0..180).map(|_| source.normal()).collect();
    agrees(&data.offset(3, offsets), 0.03, "offsets");
    let zeros =
        Data { values: data.values.iter().enumerate().map(|(at, v)| if at < 9 { 0.0 } else { *v }).collect(), ..data };
    agrees(&zeros, 0.03, "rows of zeros");
    let angle = |i: usize| std::f64::consts::TAU * (i % 3) as f64 / 3.0 + 0.01 * i as f64;
    let far: Vec<f64> = (0..60).flat_map(|i| [3.0 * angle(i).cos(), 3.0 * angle(i).sin()]).collect();
    let apart = Data::new(far, 2, testkit::data::labels((0..60).map(|i| i % 3).collect(), 3));
    agrees(&apart, 0.01, "separable");
}

/// Many rows of few columns are fitted as the limit of softmax regressions: the objective of the other solver, and most rows have
/// no multiplier.
#[test]
fn many_rows_are_fitted_by_newtons_method() {
    let mut source = Source::new(31);
    let plain = overlapping(2_400, 3, 4, 32);
    let offsets: Vec<f64> = (0..2_400 * 4).map(|_| 0.3 * source.normal()).collect();
    let offset = plain.offset(4, offsets);
    let weighted = plain.weighted((0..2_400).map(|i| (i % 3) as f64).collect());
    for (what, data) in [("plain", plain), ("offsets", offset), ("weights", weighted)] {
        for intercept in INTERCEPTS {
            let what = format!("{what}, {intercept:?}");
            let lambda = 1e-3;
            let method = RiskMinimizer { tolerance: 1e-6, ..machine(lambda, intercept) };
            let model = data.model(&Method::Risk(method.clone()));
            assert_eq!((model.outcome, &model.computation.solver[..]), (Outcome::Converged, "newton"), "{what}");
            let other = RiskMinimizer { algorithm: linsep::model::Algorithm::DualCd, ..method };
            let twin = data.model(&Method::Risk(other));
            assert_eq!((twin.outcome, &twin.computation.solver[..]), (Outcome::Converged, "dual-cd"), "{what}");
            assert_near(model.objective.value, twin.objective.value, 5e-6, 1.0, &what);
            assert_near(model.objective.value, objective(&data, &model, lambda, intercept), 1e-12, 0.0, &what);
            check_conditions(&data, &model, lambda, intercept, &what);
            let rows = |m: &Fitted| {
                let alpha = &m.multipliers.as_ref().expect("multipliers").alpha;
                alpha.chunks_exact(4).filter(|a| a.iter().any(|a| *a > 0.0)).count()
            };
            // Both keep the rows within the margin; those that decide by rounding may differ.
            let (a, b) = (rows(&model), rows(&twin));
            assert!(a < 2_200 && a.abs_diff(b) <= 120, "{what}: {a} and {b} support vectors");
        }
    }
}

#[test]
fn dense_equals_sparse_and_copies_equal_weights() {
    let data = overlapping(80, 4, 3, 6).map(|j, v| if j == 1 && v < 0.5 { 0.0 } else { v });
    for intercept in INTERCEPTS {
        for standardize in [Standardize::Yes, Standardize::No] {
            let method = RiskMinimizer { standardize, tolerance: 1e-12, ..machine(0.05, intercept) };
            let method = Method::Risk(method);
            let what = format!("{intercept:?} {standardize:?}");
            let dense = data.model(&method);
            let sparse = expect_model(method.fit(&data.training(&data.csr()), &Watch::default()));
            assert_near(dense.objective.value, sparse.objective.value, 3e-12, 1.0, &what);
            // Weights are good to √(2·10⁻¹²/0.05) of a standard unit.
            assert_all_near(&data.scores(&dense), &data.scores(&sparse), 1e-4, 1.0, &what);
            let copies: Vec<usize> = (0..80).flat_map(|i| std::iter::repeat_n(i, 1 + i % 3)).collect();
            let weighted = data.weighted((0..80).map(|i| (1 + i % 3) as f64).collect());
            let (a, b) = (weighted.model(&method), data.select(&copies).model(&method));
            assert_near(a.objective.value, b.objective.value, 3e-12, 1.0, &what);
        }
    }
}

#[test]
fn tables_are_fitted_kept_and_verified() {
    let data = overlapping(120, 3, 3, 7);
    let mut csv = String::from("a,b,c,class\n");
    for i in 0..data.rows() {
        let cells: Vec<String> = data.row(i).iter().map(|v| format!("{v:?}")).collect();
        csv.push_str(&format!("{},class {}\n", cells.join(","), data.class(i)));
    }
    let watch = Watch::default();
    let table = read_bytes(csv.as_bytes(), "rows.csv", &ReadOptions::default()).expect("a table");
    for intercept in INTERCEPTS {
        let method = Method::Risk(RiskMinimizer { standardize: Standardize::Yes, ..machine(0.02, intercept) });
        let multiclass = Multiclass { approach: Some(Approach::Joint), ..Multiclass::default() };
        let options = FitOptions { multiclass, ..FitOptions::new("class", method) };
        let TableFit::Model(model) = fit_table(table.clone(), &options, &watch).expect("a fit") else {
            panic!("a penalty always has an optimum")
        };
        let text = model.to_json().expect("a file");
        let loaded = linsep::artifact::Model::from_json(text.as_bytes(), "model.json").expect("a model");
        assert_eq!(loaded, *model);
        let verdict = verify_table(&loaded, &table, &watch).expect("a verdict");
        assert!(verdict.passed(), "{intercept:?}: {:?}", verdict.checks);
        // Without its multipliers nothing is proved, and changed ones prove less.
        let mut edited = loaded.clone();
        let support = edited.support_vectors.as_mut().expect("support vectors");
        support.multipliers.iter_mut().for_each(|(_, alpha)| *alpha *= 0.9);
        let verdict = verify_table(&edited, &table, &watch).expect("a verdict");
        assert!(!verdict.passed(), "{intercept:?}");
    }
}

#[test]
fn what_it_cannot_do_is_refused() {
    let data = overlapping(40, 2, 3, 8);
    let refused = |method: RiskMinimizer| data.fit(&Method::Risk(method)).expect_err("refused").to_string();
    let squared = RiskMinimizer { loss: LossChoice::SquaredHinge, ..machine(0.1, Intercept::None) };
    assert!(refused(squared).contains("multiclass"));
    let interior = linsep::model::Algorithm::InteriorPoint;
    let text = refused(RiskMinimizer { algorithm: interior, ..machine(0.1, Intercept::None) });
    assert!(text.contains("two classes"), "{text}");
    let none = RiskMinimizer { penalty: PenaltyChoice::None, ..machine(0.1, Intercept::None) };
    assert!(refused(none).contains("needs a penalty"));
    let factors = RiskMinimizer { factors: vec![0.0, 1.0], ..machine(0.1, Intercept::None) };
    assert!(refused(factors).contains("factor 0"));
}

/// Upper bounds on the optimum by scikit-learn's LinearSVC, which uses LIBLINEAR, close to it.
#[test]
fn agrees_with_scikit_learn() {
    let golden = json("crammer_singer_sklearn.json");
    for case in golden["cases"].as_array().expect("cases") {
        let features = strings(&case["features"]);
        let name = format!("{}.csv", case["data"].as_str().expect("a name"));
        let frame = Frame::golden(&name).complete(&features);
        let data = frame.labelled(&features, case["target"].as_str().expect("a target"));
        let intercept = if case["intercept"] == "penalised" { Intercept::Penalised } else { Intercept::None };
        let lambda = 1.0 / (number(&case["C"]) * data.rows() as f64);
        let model = data.model(&Method::Risk(machine(lambda, intercept)));
        assert_eq!(model.outcome, Outcome::Converged, "{}: {:?}", case["name"], model.certificate);
        let (value, theirs) = (model.objective.value, number(&case["objective"]));
        assert!(value <= theirs * (1.0 + 1e-7), "{}: {value} against {theirs}", case["name"]);
        assert!(value >= theirs * (1.0 - number(&case["within"])), "{}: {value} against {theirs}", case["name"]);
    }
}

//! Support vector machines against a quadratic programming solver, scikit-learn, LIBLINEAR and their own optimality
//! conditions.

use linsep::artifact::Model;
use linsep::certify::Certificate;
use linsep::design::Standardize;
use linsep::discriminant::Discriminant;
use linsep::model::{Algorithm, Fitted, LossChoice, Method, Note, Outcome, PenaltyChoice, RiskMinimizer};
use linsep::objective::Intercept;
use linsep::read::{ReadOptions, read_bytes, read_files};
use linsep::watch::Watch;
use linsep::workflow::{FitOptions, TableFit, fit_table, verify_table};
use testkit::cone::least_margin_objective;
use testkit::data::{Data, Source, expect_model, labels, overlapping};
use testkit::golden::{self, Frame};
use testkit::{assert_all_near, assert_near};

const INTERCEPTS: [Intercept; 3] = [Intercept::Free, Intercept::None, Intercept::Penalised];
const SOLVERS: [(LossChoice, Algorithm); 4] = [
    (LossChoice::Hinge, Algorithm::InteriorPoint),
    (LossChoice::Hinge, Algorithm::DualCd),
    (LossChoice::SquaredHinge, Algorithm::Newton),
    (LossChoice::SquaredHinge, Algorithm::DualCd),
];

fn svm(loss: LossChoice, algorithm: Algorithm, lambda: f64, intercept: Intercept) -> RiskMinimizer {
    RiskMinimizer {
        loss,
        algorithm,
        intercept,
        penalty: PenaltyChoice::Ridge(lambda),
        standardize: Standardize::No,
        ..RiskMinimizer::default()
    }
}

fn hinge(lambda: f64, intercept: Intercept) -> RiskMinimizer {
    svm(LossChoice::Hinge, Algorithm::InteriorPoint, lambda, intercept)
}

/// The objective proved and the one of an independent solver are the same to the tolerance of both.
#[track_caller]
fn agrees(data: &Data, lambda: f64, what: &str) {
    for (loss, algorithm) in SOLVERS {
        for intercept in INTERCEPTS {
            let method = svm(loss, algorithm, lambda, intercept);
            let model = data.model(&Method::Risk(method));
            let what = format!("{what}: {} by {}, intercept {intercept:?}", loss.name(), algorithm.name());
            assert_eq!(model.outcome, Outcome::Converged, "{what}: {:?}", model.certificate);
            let best = least_margin_objective(data, lambda, loss == LossChoice::SquaredHinge, intercept);
            // 1e-8 relative to the objective at zero weights, which is at most one, and the judge's own 1e-9.
            assert!((model.objective.value - best).abs() <= 1.2e-8, "{what}: {} against {best}", model.objective.value);
            check_conditions(data, &model, loss, lambda, intercept, &what);
        }
    }
}

/// `0 ≤ α ≤ C`, `Σαy = 0` and complementary slackness as far as the gap allows.
#[track_caller]
fn check_conditions(data: &Data, model: &Fitted, loss: LossChoice, lambda: f64, intercept: Intercept, what: &str) {
    let alpha = &model.multipliers.as_ref().expect("multipliers").alpha;
    let total: f64 = (0..data.rows()).map(|i| data.weight(i)).sum();
    let capacity = |i: usize| data.weight(i) / (lambda * total);
    let sign = |i: usize| if data.class(i) == 1 { 1.0 } else { -1.0 };
    let largest = if loss == LossChoice::Hinge { 1.0 + 1e-12 } else { f64::INFINITY };
    for (i, a) in alpha.iter().enumerate() {
        assert!(*a >= 0.0 && (*a <= largest * capacity(i) || capacity(i) == 0.0), "{what}: α of row {i} is {a}");
        assert!(data.weight(i) > 0.0 || *a == 0.0, "{what}: row {i} has no weight");
    }
    let sum: f64 = alpha.iter().sum();
    if intercept == Intercept::Free {
        let balance: f64 = alpha.iter().enumerate().map(|(i, a)| a * sign(i)).sum();
        assert!(balance.abs() <= 1e-12 * sum.max(1.0), "{what}: Σαy = {balance}");
    }
    // The rows' parts of the gap are not negative and sum to at most the gap.
    let scores = data.scores(model);
    let parts = |i: usize| {
        let margin = sign(i) * (scores[i] + data.offsets.as_ref().map_or(0.0, |(_, o)| o[i]));
        let (slack, c, a) = ((1.0 - margin).max(0.0), capacity(i), alpha[i]);
        match loss {
            _ if c == 0.0 => 0.0,
            LossChoice::Hinge => c * slack + a * (margin - 1.0),
            _ => c * slack * slack + a * (margin - 1.0) + 0.25 * a * a / c,
        }
    };
    let gap = model.certificate.gap().expect("a gap") / lambda;
    let slackness: f64 = (0..alpha.len()).map(parts).sum();
    assert!((0..alpha.len()).all(|i| parts(i) >= -1e-9 * (1.0 + alpha[i])), "{what}: a row gains by its multiplier");
    assert!(slackness <= gap + 1e-9 * (1.0 + sum), "{what}: slackness {slackness}, gap {gap}");
}

#[test]
fn random_rows() {
    for seed in 0..6 {
        let data = overlapping(60, 4, 2, seed);
        for lambda in [1.0, 1.0 / 60.0, 1e-3] {
            agrees(&data, lambda, &format!("seed {seed}, λ = {lambda}"));
        }
    }
}

#[test]
fn weights_offsets_and_rows_without_weight() {
    let data = overlapping(50, 3, 2, 11);
    let mut source = Source::new(4);
    let weights: Vec<f64> = (0..50).map(|i| if i % 7 == 2 { 0.0 } else { source.uniform(0.1, 4.0) }).collect();
    let offsets: Vec<f64> = (0..50).map(|_| source.uniform(-2.0, 2.0)).collect();
    agrees(&data.weighted(weights.clone()), 0.02, "weights");
    agrees(&data.offset(1, offsets.clone()), 0.02, "offsets");
    agrees(&data.weighted(weights).offset(1, offsets), 0.02, "weights and offsets");
}

#[test]
fn twins_with_opposite_labels() {
    let data = overlapping(30, 3, 2, 12);
    let both: Vec<usize> = (0..30).chain(0..30).collect();
    let flipped = (0..60).map(|i| if i < 30 { data.class(i) } else { 1 - data.class(i - 30) }).collect();
    let twins = Data { labels: labels(flipped, 2), ..data.select(&both) };
    agrees(&twins, 0.05, "every row twice, with either label");
}

#[test]
fn separable_rows_and_more_columns_than_rows() {
    let data = overlapping(40, 2, 2, 13).with_column(|_, _| 0.0);
    let apart = Data {
        values: (0..120)
            .map(|at| if at % 3 == 2 { 6.0 * data.class(at / 3) as f64 - 3.0 } else { data.values[at] })
            .collect(),
        ..data
    };
    agrees(&apart, 1e-3, "separable");
    agrees(&overlapping(15, 40, 2, 14), 0.05, "15 rows of 40 columns");
}

#[test]
fn one_in_a_thousand_and_a_class_of_one_row() {
    let mut data = overlapping(400, 2, 2, 15);
    data.labels = labels((0..400).map(|i| usize::from(i == 17)).collect(), 2);
    agrees(&data, 1.0 / 400.0, "a class of one row");
    let weights = (0..400).map(|i| if i == 17 { 0.4 } else { 1.0 }).collect();
    agrees(&data.weighted(weights), 1e-4, "one in a thousand");
}

/// The hinge is not differentiable, so two solvers may differ in b, but not in the objective; in wildly different units
/// standardised columns give the same fit.
#[test]
fn units_do_not_matter_when_standardised() {
    let data = overlapping(80, 3, 2, 16);
    let scaled = data.map(|j, v| [1e-12, 1.0, 1e12][j] * v + [0.0, 5.0, 1e13][j]);
    for (loss, algorithm) in SOLVERS {
        let method = RiskMinimizer { standardize: Standardize::Yes, ..svm(loss, algorithm, 0.01, Intercept::Free) };
        let method = Method::Risk(method);
        let (plain, other) = (data.model(&method), scaled.model(&method));
        assert_near(plain.objective.value, other.objective.value, 3e-8, 0.0, loss.name());
        assert_eq!(other.outcome, Outcome::Converged);
    }
}

/// Sparse rows are scaled and centred on the fly.
#[test]
fn sparse_rows_in_units() {
    let data = overlapping(70, 5, 2, 17).map(|j, v| if j > 1 && v < 0.4 { 0.0 } else { v });
    let csr = data.csr();
    for (loss, algorithm) in SOLVERS {
        for intercept in INTERCEPTS {
            for standardize in [Standardize::Yes, Standardize::No] {
                let method = RiskMinimizer { standardize, ..svm(loss, algorithm, 0.01, intercept) };
                let factors = vec![1.0, 0.5, 2.0, 1.0, 3.0];
                for factors in [Vec::new(), factors] {
                    let method = Method::Risk(RiskMinimizer { factors, ..method.clone() });
                    let sparse = expect_model(method.fit(&data.training(&csr), &Watch::default()));
                    let dense = data.model(&method);
                    let what = format!("{} by {}, {intercept:?}, {standardize:?}", loss.name(), algorithm.name());
                    assert_eq!(sparse.outcome, Outcome::Converged, "{what}");
                    assert_near(sparse.objective.value, dense.objective.value, 3e-8, 0.0, &what);
                }
            }
        }
    }
}

#[test]
fn two_points_by_hand() {
    // Points at ±1: w = 1 for λ ≤ 1/2, every intercept in an interval of none; beyond, w = 1/(2λ).
    let data = Data::new(vec![-1.0, 1.0], 1, labels(vec![0, 1], 2));
    let model = data.model(&Method::Risk(hinge(0.125, Intercept::Free)));
    let linear = model.discriminant.as_linear().expect("linear");
    assert_near(linear.weights_of(0)[0], 1.0, 1e-4, 1.0, "w");
    assert_near(model.objective.value, 0.0625, 1e-8, 1.0, "objective");
    // α = w/2 each, C = 1/(2λ) = 4: both are free.
    let multipliers = model.multipliers.as_ref().expect("multipliers");
    assert_eq!((multipliers.free, multipliers.bounded), (2, 0));
    assert_all_near(&multipliers.alpha, &[0.5, 0.5], 1e-4, 1.0, "α");
    // With λ = 2 both are at their bound C = 1/4, w = 1/2·… and any b with margins below one is as good.
    for algorithm in [Algorithm::InteriorPoint, Algorithm::DualCd] {
        let model = data.model(&Method::Risk(svm(LossChoice::Hinge, algorithm, 2.0, Intercept::Free)));
        let multipliers = model.multipliers.as_ref().expect("multipliers");
        assert_eq!((multipliers.free, multipliers.bounded), (0, 2));
        assert_all_near(&multipliers.alpha, &[0.25, 0.25], 1e-9, 1.0, "α");
        let [Note::Intercepts { low, high }] = &model.notes[..] else { panic!("{:?}", model.notes) };
        // w = 1/2: the margins are 1/2 ± b, both below one for |b| < 1/2.
        assert_all_near(&[*low, *high], &[-0.5, 0.5], 1e-6, 1.0, "interval");
        assert!(model.discriminant.as_linear().expect("linear").intercept()[0].abs() < 1e-6, "the middle");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let data = overlapping(3000, 6, 2, 18);
    for (loss, algorithm) in SOLVERS {
        let method = Method::Risk(svm(loss, algorithm, 1e-3, Intercept::Free));
        let of_threads = |n: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("a pool");
            let model = pool.install(|| data.model(&method));
            (model.discriminant, model.multipliers)
        };
        assert!(of_threads(1) == of_threads(3), "{} by {}", loss.name(), algorithm.name());
    }
}

#[test]
fn a_proof_is_worth_what_its_multipliers_are() {
    let data = overlapping(60, 3, 2, 19);
    let method = Method::Risk(hinge(0.01, Intercept::Free));
    let model = data.model(&method);
    let x = data.dense();
    let gap = |alpha: &[f64], discriminant: &Discriminant| {
        let training = data.training(&x);
        let (_, certificate) =
            method.certify_multipliers(&training, discriminant, &model.units, alpha, &Watch::default()).expect("a gap");
        match certificate {
            Certificate::DualityGap { relative_gap, .. } => relative_gap,
            other => panic!("{other:?}"),
        }
    };
    let alpha = model.multipliers.as_ref().expect("multipliers").alpha.clone();
    assert!(gap(&alpha, &model.discriminant) <= 1e-8);
    // Whatever is done to the multipliers, the bound stays a bound: it can only get weaker.
    let mut source = Source::new(8);
    for i in 0..60 {
        let mut other = alpha.clone();
        other[i] = source.uniform(-1.0, 3.0);
        let loose = gap(&other, &model.discriminant);
        assert!(loose >= gap(&alpha, &model.discriminant) - 1e-9, "row {i}: {loose}");
    }
    assert!(gap(&vec![0.0; 60], &model.discriminant) > 1e-3);
    assert!(method.certify(&data.training(&x), &model.discriminant, &model.units, &Watch::default()).is_err());
}

#[test]
fn columns_without_a_penalty_are_refused_by_name_of_the_remedy() {
    let data = overlapping(30, 2, 2, 20);
    for (loss, algorithm) in SOLVERS {
        let method = RiskMinimizer { factors: vec![1.0, 0.0], ..svm(loss, algorithm, 0.1, Intercept::Free) };
        let fit = data.fit(&Method::Risk(method));
        match algorithm {
            Algorithm::Newton => assert_eq!(expect_model(fit).multipliers, None),
            _ => {
                let error = fit.expect_err("no proof");
                assert!(error.message().contains("column 2"), "{error}");
                assert!(error.help_text().is_some_and(|h| h.contains("squared-hinge")), "{error}");
            }
        }
    }
}

#[test]
fn scikit_learn() {
    for case in golden::json("svm_sklearn.json")["cases"].as_array().expect("cases") {
        let columns = golden::strings(&case["features"]);
        let frame = Frame::golden(&format!("{}.csv", case["data"].as_str().expect("a name")));
        let classes = golden::strings(&case["classes"]);
        let target = case["target"].as_str().expect("a target");
        let at = frame.column(target);
        let data = frame.complete(&columns).filter(|r| classes.contains(&r[at])).labelled(&columns, target);
        let squared = case["loss"] == "squared_hinge";
        let intercept = match case["intercept"].as_str() {
            Some("free") => Intercept::Free,
            Some("none") => Intercept::None,
            _ => Intercept::Penalised,
        };
        let lambda = 1.0 / (golden::number(&case["C"]) * data.rows() as f64);
        for (loss, algorithm) in SOLVERS {
            if (loss == LossChoice::SquaredHinge) != squared {
                continue;
            }
            let model = data.model(&Method::Risk(svm(loss, algorithm, lambda, intercept)));
            let (found, theirs) = (model.objective.value, golden::number(&case["objective"]));
            let what = format!("{} by {}", case["name"], algorithm.name());
            assert_eq!(model.outcome, Outcome::Converged, "{what}");
            // Theirs is an objective at their weights: an upper bound on the optimum, within its stated distance.
            assert!(found <= theirs + 1e-8, "{what}: {found} against {theirs}");
            assert!(theirs - found <= golden::number(&case["within"]) * theirs + 1e-8, "{what}: {found}, {theirs}");
        }
    }
}

/// LIBLINEAR (`-s 3 -c 1 -e 0.001`, without and with `-B 1`) stops about 1e-4 short of the optimum: its objectives, on its
/// scale `½‖w‖² + Σξ`, are bounds from above. Verifying reads the multipliers back.
#[test]
#[ignore = "reads ../shared/data; ./test runs it where that is there"]
fn liblinear_on_its_benchmarks() {
    let theirs = [("a9a", 11435.058151, 11434.890813), ("w8a", 6604.998143, 1488.105083)];
    for (name, none, penalised) in theirs {
        let path = golden::shared_file(&format!("sparse/{name}.svm.zst"));
        for (intercept, theirs) in [(Intercept::None, none), (Intercept::Penalised, penalised)] {
            let watch = Watch::default();
            let read = || read_files(&[&path], &ReadOptions::default(), &watch).expect("readable");
            let rows = read().n_rows() as f64;
            let method = Method::Risk(RiskMinimizer { tolerance: 1e-7, ..hinge(1.0 / rows, intercept) });
            let fit = fit_table(read(), &FitOptions::new("label", method), &watch).expect("a fit");
            let TableFit::Model(model) = fit else { panic!("a penalised fit has an optimum") };
            assert_eq!(model.outcome, Outcome::Converged);
            let objective = model.objective.value * rows;
            assert!(objective <= theirs && objective >= theirs * (1.0 - 2e-3), "{name}: {objective}, {theirs}");
            let verified = verify_table(&model, &read(), &watch).expect("a verdict");
            assert!(verified.passed(), "{:?}", verified.checks);
        }
    }
}

/// Rows that were dropped do not shift the support vectors; changed multipliers prove less.
#[test]
fn verify_finds_the_rows_again() {
    let data = overlapping(60, 2, 2, 21);
    let mut text = "a,b,s,y\n".to_owned();
    for i in 0..60 {
        let cell = |j: usize| if i % 9 == 4 { String::new() } else { data.row(i)[j].to_string() };
        text.push_str(&format!(
            "{},{},{},{}\n",
            cell(0),
            cell(1),
            if i % 11 == 3 { 0 } else { 1 + i % 2 },
            data.class(i)
        ));
    }
    let table = || read_bytes(text.as_bytes(), "t.csv", &ReadOptions::default()).expect("readable");
    let watch = Watch::default();
    for (loss, algorithm) in SOLVERS {
        let method = RiskMinimizer { standardize: Standardize::Yes, ..svm(loss, algorithm, 0.02, Intercept::Free) };
        let options = FitOptions { weights: Some("s".into()), ..FitOptions::new("y", Method::Risk(method)) };
        let TableFit::Model(model) = fit_table(table(), &options, &watch).expect("a fit") else { panic!("an optimum") };
        let text = model.to_json().expect("written");
        let read = Model::from_json(text.as_bytes(), "m.json").expect("read");
        assert_eq!(*model, read);
        assert!(verify_table(&read, &table(), &watch).expect("a verdict").passed());
        let support = read.support_vectors.as_ref().expect("support vectors");
        assert_eq!(support.free + support.bounded, support.multipliers.len());
        assert!(support.multipliers.iter().all(|(row, _)| (row - 1) % 9 != 4 && (row - 1) % 11 != 3));
        let mut other = read.clone();
        other.support_vectors.as_mut().expect("support vectors").multipliers[0].1 *= 0.5;
        let verdict = verify_table(&other, &table(), &watch).expect("a verdict");
        assert!(!verdict.passed(), "{} by {}: {:?}", loss.name(), algorithm.name(), verdict.checks);
        let mut absent = read.clone();
        absent.support_vectors.as_mut().expect("support vectors").multipliers[0].0 = 5;
        assert!(verify_table(&absent, &table(), &watch).is_err());
    }
}

/// A start is where the solver begins, or is refused: never taken and forgotten.
#[test]
fn a_start_is_used_or_refused() {
    let data = overlapping(300, 2, 2, 8);
    let far = data.model(&Method::Risk(svm(LossChoice::SquaredHinge, Algorithm::Newton, 1e-3, Intercept::Free)));
    let linear = far.discriminant.as_linear().expect("a plane");
    let design = data.dense();
    for (loss, algorithm) in SOLVERS {
        let method = Method::Risk(svm(loss, algorithm, 1e-3, Intercept::Free));
        let fit = method.fit_from(&data.training(&design), Some(linear), &Watch::default());
        match algorithm {
            // At the optimum already.
            Algorithm::Newton => assert!(expect_model(fit).computation.iterations <= 1),
            _ => assert!(fit.is_err_and(|e| e.to_string().contains("no use for a start")), "{}", algorithm.name()),
        }
    }
}

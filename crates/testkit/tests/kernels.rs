//! Kernel machines against explicit features, a quadratic programming solver, LIBSVM, and their own conditions.

use linsep::artifact::Model;
use linsep::certify::Certificate;
use linsep::design::Training;
use linsep::design::{DenseMatrix, LabelledRows, Standardize, Tile, Units};
use linsep::discriminant::{Discriminant, KernelExpansion};
use linsep::kernel::{Kernel, KernelRows};
use linsep::model::{
    Algorithm, Fit, Fitted, HardMarginSettings, KernelChoice, KernelPerceptronSettings, KernelSvmSettings, LossChoice,
    Method, Note, Outcome, PenaltyChoice, Refusal, RiskMinimizer,
};
use linsep::objective::Intercept;
use linsep::read::{ReadOptions, read_bytes, read_files};
use linsep::solve::{KernelPerceptronRun, MistakeDriven, OnlinePerceptron, Order, SignedRows};
use linsep::watch::Watch;
use linsep::workflow::{Approach, Arrays, FitOptions, TableFit, fit_arrays, fit_table, predict_table, verify_table};
use testkit::cone::least_margin_objective;
use testkit::data::{Arrangement, Data, Source, arranged, labels, overlapping};
use testkit::golden;

fn machine(kernel: KernelChoice, lambda: f64, tolerance: f64) -> KernelSvmSettings {
    KernelSvmSettings {
        kernel,
        penalty: PenaltyChoice::Ridge(lambda),
        standardize: Standardize::No,
        tolerance,
        ..KernelSvmSettings::default()
    }
}

fn rbf(gamma: f64) -> KernelChoice {
    KernelChoice::Rbf { gamma: Some(gamma) }
}

fn linear_hinge(lambda: f64) -> Method {
    Method::Risk(RiskMinimizer {
        loss: LossChoice::Hinge,
        algorithm: Algorithm::InteriorPoint,
        penalty: PenaltyChoice::Ridge(lambda),
        standardize: Standardize::No,
        ..RiskMinimizer::default()
    })
}

/// K by the definition, one pair at a time: the slow twin.
fn value(kernel: &Kernel, x: &[f64], y: &[f64]) -> f64 {
    let product: f64 = x.iter().zip(y).map(|(a, b)| a * b).sum();
    let distance: f64 = x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum();
    match kernel {
        Kernel::Linear => product,
        Kernel::Polynomial { gamma, coef0, degree } => (gamma * product + coef0).powi(*degree as i32),
        Kernel::Rbf { gamma } => (-gamma * distance).exp(),
        Kernel::Sigmoid { gamma, coef0 } => (gamma * product + coef0).tanh(),
        other => panic!("{other:?} has no formula"),
    }
}

/// The objective of a fitted machine and its dual value by plain sums over pairs of rows.
fn by_hand(data: &Data, fitted: &Fitted, kernel: &Kernel, lambda: f64) -> (f64, f64) {
    let alpha = &fitted.multipliers.as_ref().expect("multipliers").alpha;
    let sign = |i: usize| if data.class(i) == 1 { 1.0 } else { -1.0 };
    let beta: Vec<f64> = (0..data.rows()).map(|i| alpha[i] * sign(i)).collect();
    let g = |i: usize| (0..data.rows()).map(|j| beta[j] * value(kernel, data.row(i), data.row(j))).sum::<f64>();
    let squared: f64 = (0..data.rows()).map(|i| beta[i] * g(i)).sum();
    let scores = data.scores(fitted);
    let total: f64 = (0..data.rows()).map(|i| data.weight(i)).sum();
    let loss: f64 = (0..data.rows()).map(|i| data.weight(i) * (1.0 - sign(i) * scores[i]).max(0.0)).sum();
    (loss / total + 0.5 * lambda * squared, lambda * (alpha.iter().sum::<f64>() - 0.5 * squared))
}

#[test]
fn objective_and_dual_are_those_of_the_definition() {
    let data = overlapping(120, 3, 2, 7);
    let weights: Vec<f64> = (0..120).map(|i| [1.0, 2.5, 0.0, 0.3][i % 4]).collect();
    for data in [data.clone(), data.weighted(weights)] {
        for (choice, kernel) in [
            (rbf(0.7), Kernel::Rbf { gamma: 0.7 }),
            (
                KernelChoice::Polynomial { gamma: Some(0.5), coef0: 1.0, degree: 3 },
                Kernel::Polynomial { gamma: 0.5, coef0: 1.0, degree: 3 },
            ),
        ] {
            let fitted = data.model(&Method::KernelSvm(machine(choice, 0.01, 1e-9)));
            assert_eq!(fitted.outcome, Outcome::Converged, "{kernel:?}: {:?}", fitted.certificate);
            let (objective, dual) = by_hand(&data, &fitted, &kernel, 0.01);
            let Certificate::DualityGap { dual: stated, .. } = fitted.certificate else { panic!("a gap") };
            assert!((fitted.objective.value - objective).abs() < 1e-11, "{kernel:?}: {objective}");
            assert!((stated - dual).abs() < 1e-11, "{kernel:?}: {stated} against {dual}");
            assert!(objective - dual < 1.1e-9, "{kernel:?}: {objective} − {dual}");
        }
    }
}

#[test]
fn a_polynomial_kernel_is_its_explicit_features() {
    // (x·y + 1)² = φ(x)·φ(y) with √2 on the linear and mixed terms; the constant is the intercept's.
    let data = overlapping(150, 2, 2, 3);
    let root = std::f64::consts::SQRT_2;
    let phi = |x: &[f64]| vec![root * x[0], root * x[1], x[0] * x[0], root * x[0] * x[1], x[1] * x[1]];
    let explicit = Data { values: (0..data.rows()).flat_map(|i| phi(data.row(i))).collect(), cols: 5, ..data.clone() };
    for lambda in [0.1, 1e-3] {
        let choice = KernelChoice::Polynomial { gamma: Some(1.0), coef0: 1.0, degree: 2 };
        let kernel = data.model(&Method::KernelSvm(machine(choice, lambda, 1e-9)));
        let linear = explicit.model(&linear_hinge(lambda));
        let (a, b) = (kernel.objective.value, linear.objective.value);
        assert!((a - b).abs() < 2e-8, "λ = {lambda}: {a} against {b}");
        // Both within √(2 gap/λ) of the optimum in the feature space, so scores differ by at most that times ‖φ‖.
        let longest = (0..data.rows()).map(|i| phi(data.row(i)).iter().map(|v| v * v).sum::<f64>()).fold(1.0, f64::max);
        let reach = |f: &Fitted| (2.0 * f.certificate.gap().expect("a gap") / lambda).sqrt() * longest.sqrt();
        let allowed = 2.0 * (reach(&kernel) + reach(&linear)) + 1e-6;
        for (x, y) in data.scores(&kernel).iter().zip(explicit.scores(&linear)) {
            assert!((x - y).abs() <= allowed, "λ = {lambda}: {x} against {y}, allowed {allowed}");
        }
    }
}

#[test]
fn a_linear_kernel_the_linear_solver_and_a_cone_solver_agree() {
    for seed in 0..4 {
        let data = overlapping(60, 4, 2, seed);
        for lambda in [1.0, 1.0 / 60.0, 1e-3] {
            let smo = data.model(&Method::KernelSvm(machine(KernelChoice::Linear, lambda, 1e-8)));
            let linear = data.model(&linear_hinge(lambda));
            let cone = least_margin_objective(&data, lambda, false, Intercept::Free);
            assert_eq!(smo.outcome, Outcome::Converged, "seed {seed}, λ = {lambda}: {:?}", smo.certificate);
            assert!(smo.discriminant.as_linear().is_some(), "a linear kernel has weights");
            assert!((smo.objective.value - cone).abs() <= 1.2e-8, "{} against {cone}", smo.objective.value);
            assert!((smo.objective.value - linear.objective.value).abs() <= 1.2e-8);
        }
    }
}

#[test]
fn libsvm_has_the_same_dual_objectives() {
    let golden = golden::json("kernel_svm.json");
    for case in golden["cases"].as_array().expect("cases") {
        let name = case["name"].as_str().expect("a name");
        let cols = case["cols"].as_u64().expect("columns") as usize;
        let mut values = Vec::new();
        for row in case["entries"].as_array().expect("rows") {
            let at = values.len();
            values.resize(at + cols, 0.0);
            for entry in golden::matrix(row) {
                if let [j, v] = entry[..] {
                    values[at + j as usize] = v;
                }
            }
        }
        let codes: Vec<usize> = golden::numbers(&case["y"]).iter().map(|y| *y as usize).collect();
        let data = Data::new(values, cols, labels(codes, 2));
        let gamma = Some(golden::number(&case["gamma"]));
        let kernel = match case["kernel"].as_str() {
            Some("poly") => KernelChoice::Polynomial { gamma, coef0: 1.0, degree: 3 },
            _ => KernelChoice::Rbf { gamma },
        };
        let c = golden::number(&case["c"]);
        let method = KernelSvmSettings { penalty: PenaltyChoice::RidgeCost(c), ..machine(kernel, 1.0, 1e-8) };
        for (what, fitted) in [
            ("dense", data.model(&Method::KernelSvm(method.clone()))),
            ("sparse", {
                let design = data.csr();
                testkit::data::expect_model(
                    Method::KernelSvm(method.clone()).fit(&Training::new(&design, &data.labels), &Watch::default()),
                )
            }),
        ] {
            let Certificate::DualityGap { dual, relative_gap, .. } = fitted.certificate else {
                panic!("{name}: no gap")
            };
            let theirs = golden::number(&case["dual"]);
            assert!(relative_gap <= 1e-8, "{name}, {what}: {relative_gap}");
            assert!((dual - theirs).abs() <= 2e-8 * theirs, "{name}, {what}: {dual} against LIBSVM's {theirs}");
        }
    }
}

/// Whole data sets, which stay outside of the repository: a9a, ijcnn1, and every pair of letter and USPS.
#[track_caller]
fn libsvm_has_the_same_dual_objectives_on_all_of(file: &str) {
    let golden = golden::json("kernel_svm_full.json");
    let case = golden["cases"].as_array().expect("cases").iter().find(|case| case["file"] == file);
    let case = case.unwrap_or_else(|| panic!("no golden values of {file}"));
    let path = golden::shared_file(file);
    let table = read_files(&[&path], &ReadOptions::default(), &Watch::default()).expect("a table");
    let method = KernelSvmSettings {
        penalty: PenaltyChoice::RidgeCost(golden::number(&case["c"])),
        ..machine(KernelChoice::Rbf { gamma: Some(golden::number(&case["gamma"])) }, 1.0, 1e-6)
    };
    let options = FitOptions::new(case["target"].as_str().expect("a target"), Method::KernelSvm(method));
    let TableFit::Model(model) = fit_table(table, &options, &Watch::default()).expect("a fit") else {
        panic!("{file}: no model")
    };
    let theirs = golden::numbers(&case["duals"]);
    let mut found: Vec<&Certificate> = model.parts.iter().map(|part| &part.certificate).collect();
    if found.is_empty() {
        found.push(&model.certificate);
    }
    assert_eq!(found.len(), theirs.len(), "{file}");
    for (at, (certificate, theirs)) in found.into_iter().zip(theirs).enumerate() {
        let Certificate::DualityGap { dual, relative_gap, .. } = certificate else { panic!("{file}: no gap") };
        assert!(*relative_gap <= 1e-6, "{file}: {relative_gap}");
        // Both are below the optimum: ours by 1e-6 of the objective at zero, which is 1, theirs by their tolerance of 1e-6.
        assert!((dual - theirs).abs() <= 2e-6, "{file}, fit {at}: {dual} against LIBSVM's {theirs}");
    }
}

#[test]
#[ignore = "reads ../shared/data; ./test runs it where that is there"]
fn all_of_letter_against_libsvm() {
    libsvm_has_the_same_dual_objectives_on_all_of("dense/letterrecognition.csv.zst");
}

#[test]
#[ignore = "reads ../shared/data; ./test runs it where that is there"]
fn all_of_usps_against_libsvm() {
    libsvm_has_the_same_dual_objectives_on_all_of("dense/usps_zip_train.csv.zst");
}

#[test]
#[ignore = "reads ../shared/data; ./test runs it where that is there"]
fn all_of_ijcnn1_against_libsvm() {
    libsvm_has_the_same_dual_objectives_on_all_of("sparse/ijcnn1.train.svm.zst");
}

#[test]
#[ignore = "reads ../shared/data; ./test runs it where that is there"]
fn all_of_a9a_against_libsvm() {
    libsvm_has_the_same_dual_objectives_on_all_of("sparse/a9a.svm.zst");
}

#[test]
fn the_perceptron_is_the_kernel_perceptron_of_x_y_plus_one() {
    // Whole numbers on both sides of a plane, some next to it.
    let mut source = Source::new(5);
    let side = |x: &[f64]| 2.0 * x[0] - 3.0 * x[1] + x[2] + 1.0;
    let mut points: Vec<Vec<f64>> =
        (0..80).map(|_| (0..3).map(|_| source.uniform(-6.0, 6.0).round()).collect()).collect();
    points.retain(|x| side(x) != 0.0);
    let codes = points.iter().map(|x| usize::from(side(x) > 0.0)).collect();
    let data = Data::new(points.concat(), 3, labels(codes, 2));
    let signs: Vec<f64> = (0..data.rows()).map(|i| if data.class(i) == 1 { 1.0 } else { -1.0 }).collect();
    let (units, watch, design) = (Units::identity(3), Watch::default(), data.dense());
    for (order, seed) in [(Order::Given, 0), (Order::Shuffled, 3), (Order::Shuffled, 4)] {
        let mut tile = Tile::default();
        let labelled = LabelledRows::new(&design, data.labels.codes());
        let rows = SignedRows::new(labelled, &units, true, &mut tile, &watch).expect("rows");
        let mut plain = OnlinePerceptron::new(&rows, order, seed);
        let ended = plain.run(200, &watch).expect("a run");
        let kernel = Kernel::Polynomial { gamma: 1.0, coef0: 1.0, degree: 1 };
        let kernel_rows = KernelRows::new(&design, &units, &watch).expect("rows");
        let visits = (0..data.rows()).collect();
        let mut counted = KernelPerceptronRun::new(&kernel, &kernel_rows, &signs, visits, order, seed);
        assert_eq!(counted.run(200, &watch), ended);
        assert_eq!((counted.mistakes(), counted.epochs()), (plain.mistakes(), plain.epochs()));
        assert!(counted.mistakes() > 3, "a run with mistakes");
        assert_eq!(counted.counts().iter().sum::<u64>() as usize, counted.mistakes());
        // w = Σ α y x and b = Σ α y, whole numbers and so exact.
        let coef = plain.coef();
        for j in 0..3 {
            let w: f64 = (0..data.rows()).map(|i| counted.counts()[i] as f64 * signs[i] * data.row(i)[j]).sum();
            assert_eq!(coef.weights()[j], w);
        }
        let b: f64 = (0..data.rows()).map(|i| counted.counts()[i] as f64 * signs[i]).sum();
        assert_eq!(coef.intercept()[0], b);
        for i in 0..data.rows() {
            let z: f64 = data.row(i).iter().zip(coef.weights()).map(|(x, w)| x * w).sum::<f64>() + b;
            assert_eq!(counted.scores()[i], z, "row {i}");
        }
    }
}

#[test]
fn a_kernel_perceptron_separates_what_no_plane_does_and_says_where_it_cannot() {
    let ring = ring(60);
    let method = KernelPerceptronSettings {
        kernel: rbf(2.0),
        standardize: Standardize::No,
        ..KernelPerceptronSettings::default()
    };
    let fitted = ring.model(&Method::KernelPerceptron(method.clone()));
    assert_eq!(fitted.outcome, Outcome::Converged);
    let Certificate::Separates { bound, mistakes: Some(mistakes), .. } = fitted.certificate else {
        panic!("separates")
    };
    assert!(mistakes as f64 <= bound, "{mistakes} mistakes, bound {bound}");
    // Identical rows with different labels are never separated.
    let twins = Data { labels: labels((0..10).map(|i| i % 2).collect(), 2), ..ring.select(&[0; 10]) };
    let fitted = twins.model(&Method::KernelPerceptron(KernelPerceptronSettings { max_epochs: 20, ..method }));
    assert_eq!(fitted.outcome, Outcome::IterationLimit);
    assert!(matches!(fitted.certificate, Certificate::Errors { errors, .. } if errors > 0.0));
}

/// A disc of one class within a ring of the other.
fn ring(rows: usize) -> Data {
    let mut source = Source::new(9);
    let point = |i: usize, source: &mut Source| {
        let (angle, radius) = (source.uniform(0.0, 6.0), if i.is_multiple_of(2) { 0.5 } else { 1.5 });
        [radius * angle.cos(), radius * angle.sin()]
    };
    let values = (0..rows).flat_map(|i| point(i, &mut source)).collect();
    Data::new(values, 2, labels((0..rows).map(|i| i % 2).collect(), 2))
}

#[test]
fn a_sigmoid_kernel_that_is_not_definite_is_shown_to_be_so() {
    let data = overlapping(80, 3, 2, 6);
    let kernel = Kernel::Sigmoid { gamma: 1.0, coef0: -1.0 };
    let choice = KernelChoice::Sigmoid { gamma: Some(1.0), coef0: -1.0 };
    let fitted = data.model(&Method::KernelSvm(machine(choice, 0.02, 1e-3)));
    let evidence = fitted.notes.iter().find_map(|n| match n {
        Note::Indefinite { evidence } => evidence.clone(),
        _ => None,
    });
    let evidence = evidence.expect("evidence");
    // The rows named do show it: a vector of negative curvature, by the definition.
    let k = |i: usize, j: usize| value(&kernel, data.row(evidence.rows[i]), data.row(evidence.rows[j]));
    match evidence.rows.len() {
        1 => assert!(k(0, 0) < 0.0),
        2 => assert!(k(0, 0) * k(1, 1) < k(0, 1) * k(1, 0)),
        _ => panic!("a row or a pair is enough here"),
    }
    assert!(matches!(fitted.certificate, Certificate::Stationary { .. }), "{:?}", fitted.certificate);
    assert!(fitted.certificate.gap().is_none(), "no gap is claimed");
}

#[test]
fn threads_and_caches() {
    let data = overlapping(5000, 6, 2, 4);
    let fit = |cache: usize, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let method = KernelSvmSettings { cache, ..machine(rbf(0.2), 1.0 / 5000.0, 1e-4) };
        pool.install(|| data.model(&Method::KernelSvm(method)))
    };
    let plain = fit(200 << 20, 2);
    assert_eq!(plain.outcome, Outcome::Converged);
    assert!(plain == fit(200 << 20, 1), "one thread or two");
    // Fewer rows fit, but still a whole working set: the same rows are computed again, to the same bits.
    let small = fit(12 << 20, 2);
    assert!(plain.discriminant == small.discriminant, "a smaller cache");
    // A working set of few rows takes another way to the same optimum.
    let tiny = fit(400_000, 2);
    assert_eq!(tiny.outcome, Outcome::Converged);
    assert!((tiny.objective.value - plain.objective.value).abs() <= 2e-4 * plain.objective.value);
}

#[test]
fn too_little_cache_says_how_much_it_takes() {
    let data = overlapping(500, 3, 2, 4);
    let method = KernelSvmSettings { cache: 1000, ..machine(rbf(0.2), 0.01, 1e-4) };
    let error = data.fit(&Method::KernelSvm(method)).expect_err("no two rows");
    assert!(error.to_string().contains("two kernel rows"), "{error}");
    // Two rows are enough.
    let method = KernelSvmSettings { cache: 2 * 512 * 4, ..machine(rbf(0.2), 0.01, 1e-4) };
    assert_eq!(data.model(&Method::KernelSvm(method)).outcome, Outcome::Converged);
}

#[test]
fn odd_rows_and_parameters_have_answers() {
    let data = overlapping(60, 3, 2, 8);
    // A huge C is the hard margin in the feature space: every row on its side.
    let hard = KernelSvmSettings { penalty: PenaltyChoice::RidgeCost(1e8), ..machine(rbf(5.0), 1.0, 1e-6) };
    let fitted = data.model(&Method::KernelSvm(hard));
    let right = |(i, z): (usize, &f64)| (data.class(i) == 1) == (*z > 0.0);
    assert!(data.scores(&fitted).iter().enumerate().all(right));
    assert_eq!(fitted.multipliers.expect("multipliers").bounded, 0);
    // All rows equal, with different labels: nothing to learn, and the objective is that of no weights.
    let equal = Data { values: vec![1.0; 180], ..data.clone() };
    for kernel in [KernelChoice::default(), KernelChoice::Linear] {
        let fitted = equal.model(&Method::KernelSvm(KernelSvmSettings { kernel, ..KernelSvmSettings::default() }));
        let ones =
            (0..60).filter(|i| equal.class(*i) == 1).count().min((0..60).filter(|i| equal.class(*i) == 0).count());
        assert!((fitted.objective.value - 2.0 * ones as f64 / 60.0).abs() < 1e-9, "{}", fitted.objective.value);
    }
    // Identical rows with different labels.
    let both: Vec<usize> = (0..60).chain(0..60).collect();
    let flipped = (0..120).map(|i| if i < 60 { data.class(i) } else { 1 - data.class(i - 60) }).collect();
    let twins = Data { labels: labels(flipped, 2), ..data.select(&both) };
    let fitted = twins.model(&Method::KernelSvm(machine(rbf(1.0), 0.01, 1e-8)));
    assert!((fitted.objective.value - 1.0).abs() < 1e-8, "no better than a guess: {}", fitted.objective.value);
    for (kernel, said) in [
        (rbf(0.0), "γ = 0"),
        (rbf(f64::INFINITY), "γ = inf"),
        (rbf(-1.0), "γ = -1"),
        (KernelChoice::Polynomial { gamma: Some(1e200), coef0: 1.0, degree: 3 }, "overflows"),
        (KernelChoice::Polynomial { gamma: Some(1.0), coef0: 1.0, degree: 0 }, "degree 0"),
        (KernelChoice::Polynomial { gamma: Some(1.0), coef0: f64::NAN, degree: 2 }, "NaN"),
    ] {
        let error = data.fit(&Method::KernelSvm(machine(kernel, 0.1, 1e-6))).expect_err(said);
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn rows_far_from_the_origin_keep_their_distances() {
    let data = overlapping(80, 3, 2, 5).map(|_, v| (v * 1_048_576.0).round() / 1_048_576.0);
    let moved = data.map(|j, v| v + [1e9, 0.0, -1e9][j]);
    let fit = |data: &Data| data.model(&Method::KernelSvm(machine(rbf(0.5), 0.02, 1e-9)));
    let (near, far) = (fit(&data), fit(&moved));
    assert!((near.objective.value - far.objective.value).abs() < 1e-6);
}

#[test]
fn a_precomputed_kernel_is_the_kernel() {
    let data = overlapping(90, 3, 2, 2);
    let kernel = Kernel::Rbf { gamma: 0.4 };
    let table: Vec<f64> =
        (0..90).flat_map(|i| (0..90).map(|j| value(&kernel, data.row(i), data.row(j))).collect::<Vec<_>>()).collect();
    let given = Data { values: table, cols: 90, ..data.clone() };
    let computed = data.model(&Method::KernelSvm(machine(rbf(0.4), 0.01, 1e-9)));
    let taken = given.model(&Method::KernelSvm(machine(KernelChoice::Precomputed, 0.01, 1e-9)));
    assert!((computed.objective.value - taken.objective.value).abs() < 1e-8);
    for (a, b) in data.scores(&computed).iter().zip(given.scores(&taken)) {
        assert!((a - b).abs() < 1e-3, "{a} against {b}");
    }
    let mut crooked = given.clone();
    crooked.values[5 * 90 + 2] += 0.1;
    let error = crooked.fit(&Method::KernelSvm(machine(KernelChoice::Precomputed, 0.01, 1e-9))).expect_err("crooked");
    assert!(error.to_string().contains("not symmetric: row 3") && error.to_string().contains("column 6"), "{error}");
    let narrow = data.fit(&Method::KernelSvm(machine(KernelChoice::Precomputed, 0.01, 1e-9))).expect_err("not square");
    assert!(narrow.to_string().contains("not square"), "{narrow}");
}

/// Classes of one size have pairs of one size, whose tables have as many columns as each other but not as the whole.
#[test]
fn a_precomputed_kernel_of_three_classes_of_one_size() {
    let data = Data { labels: labels((0..90).map(|i| i % 3).collect(), 3), ..overlapping(90, 3, 3, 2) };
    let kernel = Kernel::Rbf { gamma: 0.4 };
    let table: Vec<f64> =
        (0..90).flat_map(|i| (0..90).map(|j| value(&kernel, data.row(i), data.row(j))).collect::<Vec<_>>()).collect();
    let given = Data { values: table, cols: 90, ..data.clone() };
    let scores = |data: &Data, kernel: KernelChoice| {
        let mut options = FitOptions::new("y", Method::KernelSvm(machine(kernel, 0.01, 1e-9)));
        options.multiclass.approach = Some(Approach::OneVsOne);
        let design = data.dense();
        let names = (0..data.cols).map(|j| format!("x{j}")).collect();
        let arrays =
            Arrays { design: &design, names, labels: data.labels.clone(), labels_are_text: true, weights: None };
        let TableFit::Model(model) = fit_arrays(arrays, &options, &Watch::default()).expect("a fit") else {
            panic!("no model")
        };
        model.discriminant.scores(&design, &Watch::default()).expect("scores")
    };
    for (a, b) in scores(&data, rbf(0.4)).iter().zip(scores(&given, KernelChoice::Precomputed)) {
        assert!((a - b).abs() < 1e-3, "{a} against {b}");
    }
}

#[test]
fn stacked_expansions_share_their_support_rows() {
    let data = overlapping(60, 3, 2, 1);
    let fit = |data: &Data| data.model(&Method::KernelSvm(machine(rbf(0.4), 0.05, 1e-6)));
    let flipped =
        Data { labels: labels((0..60).map(|i| usize::from(data.row(i)[0] > 0.0)).collect(), 2), ..data.clone() };
    let (a, b) = (fit(&data), fit(&flipped));
    let (Discriminant::Kernel(first), Discriminant::Kernel(second)) = (&a.discriminant, &b.discriminant) else {
        panic!("expansions")
    };
    let both = KernelExpansion::stack(&[first, second]).expect("the same kernel");
    assert!(both.support_rows().len() < first.support_rows().len() + second.support_rows().len());
    let design: DenseMatrix<'_, f64> = data.dense();
    let scores = both.scores(&design, &Watch::default()).expect("scores");
    for (i, (x, y)) in data.scores(&a).iter().zip(data.scores(&b)).enumerate() {
        assert!((scores[2 * i] - x).abs() < 1e-12 && (scores[2 * i + 1] - y).abs() < 1e-12, "row {i}");
    }
}

#[test]
fn a_model_file_keeps_the_bits_and_is_verified() {
    let data = overlapping(150, 3, 2, 10);
    let mut csv = String::from("a,b,c,class\n");
    for i in 0..data.rows() {
        let x = data.row(i);
        csv.push_str(&format!("{:?},{:?},{:?},{}\n", x[0], x[1], x[2], ["no", "yes"][data.class(i)]));
    }
    let table = read_bytes(csv.as_bytes(), "rows.csv", &ReadOptions::default()).expect("a table");
    let watch = Watch::default();
    for method in [
        Method::KernelSvm(KernelSvmSettings::default()),
        Method::KernelSvm(KernelSvmSettings { kernel: KernelChoice::Linear, ..KernelSvmSettings::default() }),
        Method::KernelSvm(KernelSvmSettings {
            kernel: KernelChoice::Sigmoid { gamma: None, coef0: -1.0 },
            tolerance: 1e-3,
            ..KernelSvmSettings::default()
        }),
        Method::KernelPerceptron(KernelPerceptronSettings { max_epochs: 50, ..KernelPerceptronSettings::default() }),
    ] {
        let fit = fit_table(table.clone(), &FitOptions::new("class", method), &watch).expect("a fit");
        let TableFit::Model(model) = fit else { panic!("a model") };
        let loaded = Model::from_json(model.to_json().expect("a file").as_bytes(), "m.json").expect("a model");
        assert_eq!(*model, loaded);
        let scores = |m: &Model| predict_table(m, &table, None, &watch).expect("predictions").scores;
        assert_eq!(scores(&model), scores(&loaded));
        let verdict = verify_table(&loaded, &table, &watch).expect("a verdict");
        assert!(verdict.passed(), "{}: {:?}", loaded.method.name(), verdict.checks);
    }
    // Multipliers that are not those of the model are found out.
    let fit =
        fit_table(table.clone(), &FitOptions::new("class", Method::KernelSvm(KernelSvmSettings::default())), &watch);
    let TableFit::Model(mut model) = fit.expect("a fit") else { panic!("a model") };
    let support = model.support_vectors.as_mut().expect("support vectors");
    support.multipliers.iter_mut().for_each(|(_, a)| *a *= 0.9);
    assert!(!verify_table(&model, &table, &watch).expect("a verdict").passed());
}

#[test]
fn limits_end_a_fit_with_what_there_is() {
    let data = overlapping(400, 3, 2, 3);
    let method = KernelSvmSettings { max_iterations: Some(5), ..machine(rbf(0.5), 1e-4, 1e-8) };
    let fitted = data.model(&Method::KernelSvm(method));
    assert_eq!(fitted.outcome, Outcome::IterationLimit);
    assert!(fitted.certificate.relative_gap().expect("a gap") > 1e-8);
    let watch = Watch::default().deadline(std::time::Instant::now());
    let design = data.dense();
    let late = Method::KernelSvm(machine(rbf(0.5), 1e-4, 1e-8)).fit(&data.training(&design), &watch);
    assert!(late.is_err() || testkit::data::expect_model(late).outcome == Outcome::TimeLimit);
}

/// `max Σα − ½ΣΣ ααyy K` over `0 ≤ α ≤ C` by single coordinates, in plain loops: the slow twin of a machine without an intercept.
fn dual_without_intercept(data: &Data, kernel: &Kernel, cost: f64) -> (Vec<f64>, f64) {
    let n = data.rows();
    let sign = |i: usize| if data.labels.codes()[i].0 == 1 { 1.0 } else { -1.0 };
    let table: Vec<f64> = (0..n * n).map(|at| value(kernel, data.row(at / n), data.row(at % n))).collect();
    let k = |i: usize, j: usize| table[i * n + j];
    let mut alpha = vec![0.0; n];
    for _ in 0..20_000 {
        for i in 0..n {
            let score: f64 = (0..n).map(|j| alpha[j] * sign(j) * k(i, j)).sum();
            alpha[i] = (alpha[i] + (1.0 - sign(i) * score) / k(i, i)).clamp(0.0, cost);
        }
    }
    let square: f64 = (0..n)
        .flat_map(|i| (0..n).map(move |j| (i, j)))
        .map(|(i, j)| alpha[i] * alpha[j] * sign(i) * sign(j) * k(i, j))
        .sum();
    let value = alpha.iter().sum::<f64>() - 0.5 * square;
    (alpha, value)
}

#[test]
fn a_machine_without_an_intercept_is_the_dual_without_its_constraint() {
    let data = overlapping(24, 2, 2, 31);
    for choice in [rbf(0.7), KernelChoice::Polynomial { gamma: Some(0.5), coef0: 1.0, degree: 2 }] {
        let kernel = choice.with_gamma(1.0).expect("a kernel");
        let cost = 2.0;
        let method = KernelSvmSettings {
            penalty: PenaltyChoice::RidgeCost(cost),
            intercept: Intercept::None,
            ..machine(choice, 1.0, 1e-10)
        };
        let fitted = data.model(&Method::KernelSvm(method));
        let (_, dual) = dual_without_intercept(&data, &kernel, cost);
        let lambda = 1.0 / (cost * data.rows() as f64);
        let objective = fitted.objective.value;
        assert!((objective - lambda * dual).abs() < 1e-8 * objective, "{objective} against {}", lambda * dual);
        let expansion = fitted.discriminant.as_kernel().expect("a kernel");
        assert_eq!(expansion.intercept(), [0.0]);
        assert_eq!(fitted.outcome, Outcome::Converged);
    }
}

#[test]
fn a_linear_kernel_without_an_intercept_is_the_linear_machine_without_one() {
    let data = overlapping(60, 3, 2, 32);
    for standardize in [Standardize::No, Standardize::Yes] {
        let kernel =
            KernelSvmSettings { intercept: Intercept::None, standardize, ..machine(KernelChoice::Linear, 0.02, 1e-10) };
        let plain = Method::Risk(RiskMinimizer {
            loss: LossChoice::Hinge,
            penalty: PenaltyChoice::Ridge(0.02),
            intercept: Intercept::None,
            standardize,
            tolerance: 1e-10,
            ..RiskMinimizer::default()
        });
        let (kernel, plain) = (data.model(&Method::KernelSvm(kernel)), data.model(&plain));
        for (a, b) in data.scores(&kernel).iter().zip(data.scores(&plain)) {
            assert!((a - b).abs() < 1e-4, "{a} against {b}");
        }
        let linear = kernel.discriminant.as_linear().expect("a linear kernel");
        assert_eq!(linear.intercept(), [0.0], "the plane passes through the origin of the columns");
    }
}

/// The hard margin of a linear kernel is the hard margin; with another kernel it is the soft one for C ≥ max α.
#[test]
fn hard_margins_with_kernels() {
    let data = arranged(Arrangement::Complete, 40, 2, false, 33);
    let hard = |choice: KernelChoice| KernelSvmSettings { penalty: PenaltyChoice::None, ..machine(choice, 1.0, 1e-8) };
    let by_kernel = data.model(&Method::KernelSvm(hard(KernelChoice::Linear)));
    let plane = data.model(&Method::HardMargin(HardMarginSettings::default()));
    let margin = |fitted: &Fitted| match fitted.certificate {
        Certificate::Margin { margin, hull_distance, .. } => {
            assert!(2.0 * margin <= hull_distance);
            margin
        }
        ref other => panic!("{other:?}"),
    };
    assert!((margin(&by_kernel) / margin(&plane) - 1.0).abs() < 1e-7);
    let wide = data.model(&Method::KernelSvm(hard(rbf(0.6))));
    let alpha = &wide.multipliers.as_ref().expect("multipliers").alpha;
    let most = alpha.iter().copied().fold(0.0, f64::max);
    let soft = KernelSvmSettings { penalty: PenaltyChoice::RidgeCost(1.01 * most), ..machine(rbf(0.6), 1.0, 1e-12) };
    let soft = data.model(&Method::KernelSvm(soft));
    for (a, b) in data.scores(&wide).iter().zip(data.scores(&soft)) {
        assert!((a - b).abs() < 1e-4, "{a} against {b}");
    }
    // Σα = ‖w‖² = 1/γ².
    let sum: f64 = alpha.iter().sum();
    assert!((sum * margin(&wide).powi(2) - 1.0).abs() < 1e-6);
}

#[test]
fn classes_that_no_plane_of_the_feature_space_separates_are_refused_with_a_bound() {
    let hard = |choice: KernelChoice| {
        Method::KernelSvm(KernelSvmSettings { penalty: PenaltyChoice::None, ..machine(choice, 1.0, 1e-6) })
    };
    let refused = |data: &Data, choice: KernelChoice| match data.fit(&hard(choice)) {
        Ok(Fit::Refused(Refusal::NotSeparable(proof))) => proof.margin_at_most.expect("a bound"),
        other => panic!("{other:?}"),
    };
    // Five points in a row, of classes in turn: a polynomial of degree 4 has enough roots, one of degree 2 has not.
    let points = Data::new(vec![0.0, 1.0, 2.0, 3.0, 4.0], 1, labels(vec![0, 1, 0, 1, 0], 2));
    let polynomial = |degree: u32| KernelChoice::Polynomial { gamma: Some(1.0), coef0: 1.0, degree };
    assert!(refused(&points, polynomial(2)) < 1e-4);
    assert!(matches!(points.fit(&hard(polynomial(4))), Ok(Fit::Model(_))));
    // The same row in both classes.
    let twice = Data::new(vec![0.0, 1.0, 1.0], 1, labels(vec![0, 1, 0], 2));
    assert_eq!(refused(&twice, rbf(1.0)), 0.0);
    // Not known to be positive semidefinite.
    let error = points.fit(&hard(KernelChoice::Sigmoid { gamma: Some(1.0), coef0: 0.0 })).expect_err("no proof");
    assert!(error.to_string().contains("positive semidefinite"), "{error}");
}

//! Lasso and elastic net of sparse rows with thousands of columns, which are solved by a copy of the columns: against the
//! same rows as dense ones, which are not.

use linsep::design::{CsrMatrix, LabelledRows, Standardize, Units};
use linsep::model::{Fit, Fitted, Lambdas, LossChoice, Method, Outcome, PenaltyChoice, RiskMinimizer};
use linsep::objective::{Coef, ElasticNet, Intercept, Logistic, Risk, Sample};
use linsep::solve::{ProximalNewton, Solver, Stop};
use linsep::table::Labels;
use linsep::watch::{Progress, Watch};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use testkit::assert_near;
use testkit::data::{Data, Source, expect_model, labels};

const ROWS: usize = 240;
const COLS: usize = 5000;

/// Texts: some words in many rows, most in one or two, some in none, and a row without any. The first words tell classes.
fn texts(classes: usize, alike: bool, seed: u64) -> Data {
    let mut source = Source::new(seed);
    let mut values = vec![0.0; ROWS * COLS];
    let codes: Vec<usize> = (0..ROWS).map(|i| if i < classes { i } else { source.below(classes) }).collect();
    for i in (0..ROWS).filter(|i| *i != 17) {
        let mut words: Vec<usize> = (0..80).filter(|_| source.chance(0.3)).collect();
        words.retain(|w| *w >= 30 || source.chance(if w % classes == codes[i] { 0.9 } else { 0.4 }));
        words.extend((0..8).map(|_| 100 + source.below(COLS - 200)));
        for w in &words {
            let value = if alike { 1.0 / (words.len() as f64).sqrt() } else { source.uniform(-0.2, 1.0) };
            values[i * COLS + w] = value;
        }
    }
    Data::new(values, COLS, labels(codes, classes))
}

fn net(l1_ratio: f64, lambda: f64) -> PenaltyChoice {
    PenaltyChoice::ElasticNet { l1_ratio, lambda: Some(lambda), cost: None }
}

fn raw(penalty: PenaltyChoice) -> RiskMinimizer {
    RiskMinimizer { penalty, standardize: Standardize::No, tolerance: 1e-10, ..RiskMinimizer::default() }
}

fn by_columns(data: &Data, method: &Method) -> Fitted {
    expect_model(method.fit(&data.training(&data.csr()), &Watch::default()))
}

/// Both find the optimum, by the objective, and the one by columns is proved from rows alone.
fn agree(data: &Data, method: RiskMinimizer, case: &str) -> Fitted {
    let method = Method::Risk(method);
    let (dense, sparse) = (data.model(&method), by_columns(data, &method));
    assert_eq!((dense.outcome, sparse.outcome), (Outcome::Converged, Outcome::Converged), "{case}");
    assert_near(dense.objective.value, sparse.objective.value, 2e-10, 1.0, case);
    let csr = data.csr();
    let (_, proof) = method
        .certify(&data.training(&csr), &sparse.discriminant, &sparse.units, &Watch::default())
        .expect("a certificate");
    assert!(proof.relative_gap().expect("a gap") <= 1.1e-10, "{case}");
    sparse
}

fn support(model: &Fitted) -> usize {
    let linear = model.discriminant.as_linear().expect("linear");
    (0..linear.n_cols()).filter(|j| (0..linear.n_scores()).any(|c| linear.weights_of(c)[*j] != 0.0)).count()
}

#[test]
fn every_loss_gives_the_dense_solution() {
    for alike in [true, false] {
        for (loss, classes) in [
            (LossChoice::Logistic, 2),
            (LossChoice::Logistic, 3),
            (LossChoice::Squared, 2),
            (LossChoice::SquaredHinge, 2),
        ] {
            let data = texts(classes, alike, 3);
            for penalty in [net(1.0, 0.003), net(0.5, 0.004)] {
                let case = format!("{loss:?}, {classes} classes, {penalty:?}, alike {alike}");
                let found = support(&agree(&data, RiskMinimizer { loss, ..raw(penalty) }, &case));
                assert!(found > 5 && found < COLS / 4, "{case}: {found} columns");
            }
        }
    }
}

#[test]
fn weights_offsets_factors_intercepts_and_units_count() {
    let plain = texts(2, true, 5);
    let mut source = Source::new(8);
    let weighted = plain.weighted((0..ROWS).map(|i| (i % 4) as f64).collect());
    let offset = plain.offset(1, source.normals(ROWS));
    // Rare words may have a weight where the penalty is small for them; two columns have none at all.
    let factors: Vec<f64> = (0..COLS).map(|j| if j % 9 == 0 { 0.2 } else { 1.0 + (j % 3) as f64 }).collect();
    let mut free = factors.clone();
    (free[40], free[41]) = (0.0, 0.0);
    for penalty in [net(1.0, 0.003), net(0.7, 0.003)] {
        let case = |name: &str| format!("{name} {penalty:?}");
        agree(&weighted, raw(penalty), &case("weights"));
        agree(&offset, raw(penalty), &case("offsets"));
        agree(&plain, RiskMinimizer { factors: factors.clone(), ..raw(penalty) }, &case("factors"));
        agree(&plain, RiskMinimizer { factors: free.clone(), ..raw(penalty) }, &case("free columns"));
        for intercept in [Intercept::None, Intercept::Penalised] {
            agree(&plain, RiskMinimizer { intercept, ..raw(penalty) }, &case("intercept"));
        }
    }
    let standardize = Standardize::Yes;
    agree(&plain, RiskMinimizer { standardize, ..raw(net(1.0, 0.03)) }, "standardised");
}

#[test]
fn columns_that_cannot_have_a_weight_are_left_out_safely() {
    // A column of two entries can have a gradient of 2/n at most: at λ just below it, it may have a weight.
    let mut data = texts(2, true, 9);
    for i in [0, 2] {
        data.values[i * COLS + 4990] = 1.0;
    }
    let codes: Vec<usize> = (0..ROWS).map(|i| if i == 0 || i == 2 { 0 } else { data.class(i) }).collect();
    data.labels = labels(codes, 2);
    for factor in [0.05, 0.9, 1.1] {
        let lambda = factor * 2.0 / ROWS as f64;
        let model = agree(&data, raw(net(1.0, lambda)), &format!("λ = {lambda}"));
        let weight = model.discriminant.as_linear().expect("linear").weights_of(0)[4990];
        assert_eq!(weight != 0.0, factor < 0.1, "λ = {lambda}: {weight}");
    }
    // So large a penalty leaves no column in question.
    for intercept in [Intercept::Free, Intercept::None] {
        let model = agree(&data, RiskMinimizer { intercept, ..raw(net(1.0, 10.0)) }, "λ = 10");
        assert_eq!(support(&model), 0);
    }
}

#[test]
fn any_start_ends_at_the_optimum() {
    let data = texts(2, false, 4);
    let (csr, units) = (data.csr(), Units::identity(COLS));
    let sample = Sample::new(LabelledRows::new(&csr, data.labels.codes()), &units);
    let risk = Risk::new(sample, Logistic, ElasticNet::lasso(0.003), Intercept::Free);
    let solver = ProximalNewton { tolerance: 1e-10, ..ProximalNewton::default() };
    let plain = solver.solve(&risk, None, &Watch::default()).expect("solved");
    // Also in columns that cannot have a weight.
    let mut start = Coef::zeros(1, COLS);
    let mut source = Source::new(2);
    start.weights_mut().iter_mut().for_each(|w| *w = if source.chance(0.01) { source.normal() } else { 0.0 });
    let warm = solver.solve(&risk, Some(&start), &Watch::default()).expect("solved");
    assert_eq!((plain.stop == Stop::Converged, warm.stop == Stop::Converged), (true, true));
    assert_near(plain.point.objective, warm.point.objective, 2e-10, 1.0, "objective");
    let again = solver.solve(&risk, Some(&plain.point.coef), &Watch::default()).expect("solved");
    assert!(again.trace.len() <= 2, "{} steps from the optimum", again.trace.len());
}

#[test]
fn a_path_gives_the_dense_path() {
    let data = texts(2, true, 6);
    let csr = data.csr();
    let method = RiskMinimizer { tolerance: 1e-9, ..raw(net(1.0, 1.0)) };
    let lambdas = Lambdas::Spaced { count: 7, ratio: Some(0.03) };
    let of = |training| match method.path(&training, &lambdas, &Watch::default()) {
        Ok(Fit::Model(path)) => *path,
        other => panic!("{other:?}"),
    };
    let dense = data.dense();
    let (dense, sparse) = (of(data.training(&dense)), of(data.training(&csr)));
    assert_near(dense.lambda_max, sparse.lambda_max, 1e-9, 1.0, "λ_max");
    assert_eq!((dense.points.len(), sparse.points.len()), (7, 7));
    for (a, b) in dense.points.iter().zip(&sparse.points) {
        assert_eq!(b.outcome, Outcome::Converged);
        assert_near(a.objective, b.objective, 2e-9, dense.null_loss, "objective");
    }
    assert!(sparse.points[6].nonzero > 10);
}

#[test]
fn whoever_is_interrupted_keeps_what_there_is() {
    let data = texts(2, true, 3);
    for after in [1, 2, 4] {
        let flag = Arc::new(AtomicBool::new(false));
        let (seen, steps) = (Arc::clone(&flag), Arc::new(std::sync::Mutex::new(0)));
        let watch = Watch::with_flag(flag).observer(move |event| {
            let mut steps = steps.lock().expect("one thread");
            *steps += u32::from(matches!(event, Progress::Iteration { .. }));
            seen.store(*steps >= after, Ordering::Relaxed);
        });
        let csr = data.csr();
        let halted = expect_model(Method::Risk(raw(net(1.0, 0.003))).fit(&data.training(&csr), &watch));
        assert_eq!(halted.outcome, Outcome::Interrupted, "after {after}");
        assert!(halted.certificate.relative_gap().expect("a gap") > 1e-10);
    }
}

#[test]
fn few_iterations_are_an_answer() {
    let data = texts(2, true, 3);
    for limit in [1, 2, 3] {
        let method = RiskMinimizer { max_iterations: Some(limit), ..raw(net(1.0, 0.003)) };
        let model = by_columns(&data, &Method::Risk(method));
        assert_eq!(model.outcome, Outcome::IterationLimit);
        assert!(model.computation.iterations <= limit);
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    for (classes, alike, l1_ratio) in [(2, true, 1.0), (2, false, 1.0), (2, true, 0.5), (3, true, 1.0)] {
        let data = texts(classes, alike, 12);
        let method = Method::Risk(raw(net(l1_ratio, 0.002)));
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                let model = by_columns(&data, &method);
                let linear = model.discriminant.as_linear().expect("linear").clone();
                (linear, model.objective.value.to_bits(), model.certificate)
            })
        };
        let one = on(1);
        for threads in [2, 5] {
            assert!(one == on(threads), "{classes} classes, alike {alike}, {l1_ratio}: {threads} threads");
        }
    }
}

/// A tolerance above the tolerance of the first rounds once had its bounds in the wrong order, which was a panic.
#[test]
fn loose_tolerances_are_reached() {
    for tolerance in [0.9, 0.3, 0.1, 0.03, 0.01] {
        for (classes, lambda) in [(2, 0.02), (2, 1e-4), (3, 0.003)] {
            let data = texts(classes, false, 11);
            let method = Method::Risk(RiskMinimizer { tolerance, ..raw(net(1.0, lambda)) });
            let fitted = by_columns(&data, &method);
            assert_eq!(fitted.outcome, Outcome::Converged, "{tolerance} {lambda}");
            assert!(fitted.certificate.relative_gap().expect("a gap") <= tolerance, "{tolerance} {lambda}");
        }
    }
}

/// Rows of words by Zipf's law with two classes that differ in how often they use them: thousands of columns get a weight.
fn many_words(rows: usize, cols: usize, seed: u64) -> (CsrMatrix<'static>, Labels) {
    let mut source = Source::new(seed);
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut codes = Vec::new();
    for i in 0..rows {
        let class = if i < 2 { i } else { source.below(2) };
        let mut words: Vec<usize> = Vec::new();
        while words.len() < 60 {
            // The word of rank r comes up with a probability of about 1/r, and half of all words are twice as likely in a class.
            let word = (cols as f64).powf(source.uniform(0.0, 1.0)) as usize - 1;
            if word < cols && ((word * 7919) % 13 % 2 == class || source.chance(0.5)) {
                words.push(word);
            }
        }
        words.sort_unstable();
        words.dedup();
        for word in words {
            indices.push(word as u32);
            values.push(source.uniform(0.05, 0.3));
        }
        starts.push(indices.len());
        codes.push(if source.chance(0.05) { 1 - class } else { class });
    }
    (CsrMatrix::new(starts, indices, values, cols).expect("a matrix"), labels(codes, 2))
}

/// A matrix of so many columns is not formed; coordinate descent alone stopped with a gap of a fifth on such rows.
#[test]
fn thousands_of_columns_with_a_weight_converge() {
    let (x, labels) = many_words(4000, 9000, 5);
    let units = Units::identity(9000);
    let net = ElasticNet::new(2e-4, 0.05).expect("a penalty");
    for (penalty, least) in [(ElasticNet::lasso(1e-5), 1000), (net, 1500)] {
        let sample = Sample::new(LabelledRows::new(&x, labels.codes()), &units);
        let risk = Risk::new(sample, Logistic, penalty, Intercept::Free);
        for tolerance in [1e-2, 1e-8] {
            let solver = ProximalNewton { tolerance, max_iterations: 100 };
            let solved = solver.solve(&risk, None, &Watch::default()).expect("a solution");
            assert_eq!(solved.stop, Stop::Converged, "{tolerance}: {:?}", solved.certificate.relative_gap());
            assert!(solved.certificate.relative_gap().expect("a gap") <= tolerance);
            let used = solved.point.coef.weights().iter().filter(|w| **w != 0.0).count();
            assert!(used > least, "{used} columns");
        }
    }
}

//! The solvers that draw rows: they must end where Newton's method ends, by their seed alone.

use linsep::design::{Design, LabelledRows, Standardize, Units, summarise};
use linsep::objective::{
    Conjugate, Intercept, Logistic, Ridge, Risk, Sample, Softmax, SoftmaxForm, Squared, SquaredHinge,
};
use linsep::solve::{Newton, Solved, Solver, StochasticGradient, Stop, Svrg};
use linsep::watch::Watch;
use testkit::data::{Data, Source, overlapping};

const INTERCEPTS: [Intercept; 3] = [Intercept::Free, Intercept::None, Intercept::Penalised];

fn units(data: &Data) -> Units {
    let summary = summarise(&data.dense(), data.weights.as_deref(), &Watch::default()).expect("finite features");
    summary.units(Standardize::Yes)
}

fn sample<'a>(data: &'a Data, design: &'a dyn Design, units: &'a Units) -> Sample<'a> {
    let rows = LabelledRows::new(design, data.labels.codes()).weighted(data.weights.as_deref());
    Sample::new(rows, units).with_offsets(data.offsets.as_ref().map(|(_, o)| &o[..]))
}

/// Weights with zeros, a heavy row, a long row and a column far from zero.
fn uneven(rows: usize, cols: usize, classes: usize, seed: u64) -> Data {
    let mut source = Source::new(seed);
    let data = overlapping(rows, cols, classes, seed).map(|j, v| if j == 0 { 3.0 * v + 5.0 } else { v });
    let weight = |i: usize, source: &mut Source| match i {
        5 => 20.0,
        _ if i >= classes && source.chance(0.2) => 0.0,
        _ => source.uniform(0.2, 2.0),
    };
    let weights = (0..rows).map(|i| weight(i, &mut source)).collect();
    data.weighted(weights)
}

fn newton<L: Conjugate + Clone>(risk: &Risk<'_, L>) -> Solved {
    Newton { tolerance: 1e-12, max_iterations: 100 }.solve(risk, None, &Watch::default()).expect("a solution")
}

/// Both solvers on one problem, dense and sparse.
fn check<L: Conjugate + Clone>(data: &Data, loss: L, lambda: f64, intercept: Intercept, what: &str) {
    let (dense, sparse, units) = (data.dense(), data.csr(), units(data));
    let watch = Watch::default();
    for (kind, design) in [("dense", &dense as &dyn Design), ("sparse", &sparse)] {
        let what = format!("{what}, {kind}, {intercept:?}");
        let risk = Risk::new(sample(data, design, &units), loss.clone(), Ridge::new(lambda), intercept);
        let best = newton(&risk).point.objective;
        let scale = best.max(risk.null_objective());
        let svrg = Svrg { seed: 3, ..Svrg::default() }.solve(&risk, None, &watch).expect("a solution");
        let gap = svrg.certificate.gap().expect("a gap");
        assert_eq!(svrg.stop, Stop::Converged, "{what}: svrg at {gap:e} after {} epochs", svrg.trace.len());
        let above = svrg.point.objective - best;
        assert!(above <= gap && above >= -1e-11 * scale, "{what}: svrg is {above:e} above, its gap {gap:e}");
        let sgd = StochasticGradient { seed: 3, ..StochasticGradient::default() };
        let sgd = sgd.solve(&risk, None, &watch).expect("a solution");
        // The gap of a noisy point is far above its distance, by about 1/λ: it may not be proved, but it is there.
        let gap = sgd.certificate.relative_gap().expect("a gap");
        let proved = if gap <= 1e-3 { Stop::Converged } else { Stop::IterationLimit };
        assert_eq!(sgd.stop, proved, "{what}: sgd at {gap:e} after {} epochs", sgd.trace.len());
        let above = (sgd.point.objective - best) / scale;
        assert!(above <= 1e-3 && above <= gap, "{what}: sgd is {above:e} above");
        if intercept == Intercept::None {
            assert!(svrg.point.coef.intercept().iter().chain(sgd.point.coef.intercept()).all(|b| *b == 0.0), "{what}");
        }
    }
}

#[test]
fn both_end_where_newton_ends() {
    for intercept in INTERCEPTS {
        let two = uneven(400, 4, 2, 11);
        let mut source = Source::new(8);
        let offset = two.offset(1, (0..400).map(|_| source.normal()).collect());
        check(&two, Logistic, 0.01, intercept, "logistic");
        check(&offset, Logistic, 0.02, intercept, "logistic with offsets");
        check(&two, SquaredHinge, 0.05, intercept, "squared hinge");
        check(&two, Squared::two_classes([-1.0, 1.0]), 0.05, intercept, "squared");
        let three = uneven(400, 3, 3, 12);
        check(&three, Softmax::new(3, SoftmaxForm::Symmetric), 0.02, intercept, "softmax");
        check(&three, Softmax::new(3, SoftmaxForm::Reference), 0.02, intercept, "softmax by reference");
    }
}

#[test]
fn any_size_of_the_penalty_will_do() {
    let data = overlapping(300, 3, 2, 4);
    for lambda in [1.0 / 300.0, 1.0, 100.0] {
        check(&data, Logistic, lambda, Intercept::Free, &format!("λ = {lambda}"));
    }
}

#[test]
fn penalty_factors_are_metrics() {
    let data = uneven(300, 3, 2, 5);
    let (dense, sparse, units) = (data.dense(), data.csr(), units(&data));
    for design in [&dense as &dyn Design, &sparse] {
        let penalty = Ridge::new(0.02).with_factors(&[0.2, 1.0, 7.0]).expect("factors");
        let risk = Risk::new(sample(&data, design, &units), Logistic, penalty, Intercept::Free);
        let svrg = Svrg::default().solve(&risk, None, &Watch::default()).expect("a solution");
        let above = svrg.point.objective - newton(&risk).point.objective;
        assert!(svrg.stop == Stop::Converged && above <= svrg.certificate.gap().expect("a gap"), "{above:e}");
        let free = Ridge::new(0.02).with_factors(&[0.0, 1.0, 1.0]).expect("factors");
        let risk = Risk::new(sample(&data, design, &units), Logistic, free, Intercept::Free);
        let refused = Svrg::default().solve(&risk, None, &Watch::default()).expect_err("a free column");
        assert!(refused.to_string().contains("a penalty on every column"), "{refused}");
    }
}

#[test]
fn batches_and_steps_end_there_too() {
    let data = uneven(400, 4, 2, 21);
    let (design, units) = (data.dense(), units(&data));
    let risk = Risk::new(sample(&data, &design, &units), Logistic, Ridge::new(0.02), Intercept::Free);
    for (batch, step) in [(8, None), (1000, None), (1, Some(0.05)), (4, Some(0.5))] {
        let solver = StochasticGradient { batch, step, max_epochs: 2000, tolerance: 2e-3, ..Default::default() };
        let solved = solver.solve(&risk, None, &Watch::default()).expect("a solution");
        let gap = solved.certificate.relative_gap();
        assert_eq!(solved.stop, Stop::Converged, "batch {batch}, step {step:?}: {gap:?}");
    }
    // A limit is an answer with the gap reached, and an endless step is an error.
    let short = StochasticGradient { tolerance: 1e-12, max_epochs: 3, ..Default::default() };
    let solved = short.solve(&risk, None, &Watch::default()).expect("an answer");
    assert!(solved.stop == Stop::IterationLimit && solved.trace.len() == 3);
    assert!(solved.certificate.relative_gap().is_some_and(|gap| gap > 1e-12 && gap < 1.0));
    let risk =
        Risk::new(sample(&data, &design, &units), Squared::two_classes([-1.0, 1.0]), Ridge::new(1e-9), Intercept::Free);
    let long = StochasticGradient { step: Some(1e9), ..Default::default() };
    let error = long.solve(&risk, None, &Watch::default()).expect_err("no coefficients");
    assert!(error.to_string().contains("too long"), "{error}");
}

#[test]
fn the_seed_decides_and_the_threads_do_not() {
    let data = uneven(20_000, 3, 2, 31);
    let run = |threads: usize, seed: u64, sparse: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let (dense, csr, units) = (data.dense(), data.csr(), units(&data));
            let design: &dyn Design = if sparse { &csr } else { &dense };
            let risk = Risk::new(sample(&data, design, &units), Logistic, Ridge::new(0.01), Intercept::Free);
            let sgd = StochasticGradient { seed, max_epochs: 2, tolerance: 1e-12, ..Default::default() };
            let svrg = Svrg { seed, max_epochs: 2, tolerance: 1e-12, ..Default::default() };
            let watch = Watch::default();
            let sgd = sgd.solve(&risk, None, &watch).expect("an answer").point.coef;
            (sgd, svrg.solve(&risk, None, &watch).expect("an answer").point.coef)
        })
    };
    for sparse in [false, true] {
        let one = run(1, 7, sparse);
        assert!(one == run(3, 7, sparse), "threads change the result");
        let other = run(1, 8, sparse);
        assert!(one.0 != other.0 && one.1 != other.1, "another seed draws the same rows");
    }
}

#[test]
fn a_start_at_the_optimum_is_the_end() {
    let data = overlapping(300, 3, 2, 41);
    let (design, units) = (data.dense(), units(&data));
    let risk = Risk::new(sample(&data, &design, &units), Logistic, Ridge::new(0.01), Intercept::Free);
    let best = newton(&risk).point.coef;
    let solved = Svrg::default().solve(&risk, Some(&best), &Watch::default()).expect("a solution");
    assert!(solved.stop == Stop::Converged && solved.trace.is_empty());
}

//! All solvers of one problem reach the same optimum, and each proves it.

use linsep::certify::duality_gap;
use linsep::design::{Design, LabelledRows, Standardize, Units};
use linsep::model::{Algorithm, Method, Outcome, PenaltyChoice, RiskMinimizer};
use linsep::objective::{
    Coef, Conjugate, Detail, Intercept, Logistic, Ridge, Risk, Sample, Softmax, SoftmaxForm, Squared, SquaredHinge,
};
use linsep::solve::{GradientDescent, Lbfgs, Newton, NewtonCg, RowNewton, Solved, Solver, StepRule, Stop};
use linsep::watch::Watch;
use testkit::data::{Data, Source, labels, overlapping};

const TOLERANCE: f64 = 1e-8;

fn sample<'a>(data: &'a Data, design: &'a dyn Design, units: &'a Units) -> Sample<'a> {
    let rows = LabelledRows::new(design, data.labels.codes()).weighted(data.weights.as_deref());
    Sample::new(rows, units).with_offsets(data.offsets.as_ref().map(|(_, o)| &o[..]))
}

/// Every solver that takes this risk.
fn solved_by_all<L: Conjugate + Clone>(risk: &Risk<'_, L>) -> Vec<(&'static str, Solved)> {
    let (tolerance, watch) = (TOLERANCE, Watch::default());
    let descent = |rule: StepRule| GradientDescent { tolerance, max_iterations: 50_000, rule };
    let mut all = vec![
        ("newton", Newton { tolerance, max_iterations: 100 }.solve(risk, None, &watch)),
        ("newton-cg", NewtonCg { tolerance, max_iterations: 200 }.solve(risk, None, &watch)),
        ("lbfgs", Lbfgs { tolerance, max_iterations: 10_000, memory: 10 }.solve(risk, None, &watch)),
        ("gradient-descent", descent(StepRule::LineSearch).solve(risk, None, &watch)),
        ("fixed-step", descent(StepRule::Fixed).solve(risk, None, &watch)),
    ];
    if RowNewton::takes(risk) {
        all.push(("row-newton", RowNewton { tolerance, max_iterations: 100 }.solve(risk, None, &watch)));
    }
    all.into_iter().map(|(name, solved)| (name, solved.expect("a solution"))).collect()
}

fn check<L: Conjugate + Clone>(risk: &Risk<'_, L>, what: &str) -> usize {
    let watch = Watch::default();
    let reference = risk.null_objective();
    let all = solved_by_all(risk);
    let lowest = all.iter().map(|(_, s)| s.point.objective).fold(f64::INFINITY, f64::min);
    for (name, solved) in &all {
        let what = format!("{what}, {name}");
        let gap = solved.certificate.gap().unwrap_or_else(|| panic!("{what}: {:?}", solved.certificate));
        // With few rows of one class, steepest descent takes millions of steps.
        let slow = name.contains("-descent") || *name == "fixed-step";
        if !(slow && risk.sample().labels.len() < risk.n_cols()) {
            assert_eq!(solved.stop, Stop::Converged, "{what}: gap {gap:e}");
            let scale = reference.max(solved.point.objective);
            assert!(gap <= TOLERANCE * scale * (1.0 + 1e-12), "{what}: gap {gap:e}");
        }
        // The proof holds against the best that anyone found ...
        assert!(solved.point.objective - lowest <= gap, "{what}: {} above {lowest}", solved.point.objective - lowest);
        // ... and code that does not know the solver finds it again from the coefficients.
        let again = risk.at(&solved.point.coef, Detail::Gradient, &watch).expect("a point");
        let certificate = duality_gap(risk, &again, &watch).expect("a gap");
        let found = certificate.gap().unwrap_or(f64::INFINITY);
        assert!((found - gap).abs() <= 1e-3 * gap + 1e-14, "{what}: {found:e} instead of {gap:e}");
    }
    all.len()
}

fn cases() -> Vec<(&'static str, Data)> {
    let plain = overlapping(120, 4, 2, 5);
    let n = plain.rows();
    let weights = (0..n).map(|i| [0.0, 1.0, 2.5][i % 3]).collect();
    let mut offset = plain.weighted(weights);
    offset.offsets = Some((1, (0..n).map(|i| 0.3 * (i % 7) as f64 - 0.9).collect()));
    let sparse = plain.map(|j, v| if (v * (j + 3) as f64).sin() > 0.2 { v } else { 0.0 });
    let wide = overlapping(15, 40, 2, 9);
    // Words present in a text, rows of length one: the entries of a row are alike.
    let mut present = overlapping(60, 12, 2, 10).map(|_, v| f64::from(v > 0.7));
    let cols = present.cols;
    for row in present.values.chunks_exact_mut(cols) {
        let length = row.iter().sum::<f64>().sqrt().max(1.0);
        row.iter_mut().for_each(|v| *v /= length);
    }
    vec![
        ("presence", present),
        ("plain", plain),
        ("weights and offsets", offset),
        ("many zeros", sparse),
        ("more columns than rows", wide),
    ]
}

#[test]
fn all_solvers_agree_for_two_classes() {
    let mut compared = 0;
    for (name, data) in cases() {
        let (dense, csr) = (data.dense(), data.csr());
        let identity = Units::identity(data.cols);
        let designs: [(&str, &dyn Design); 2] = [("dense", &dense), ("sparse", &csr)];
        for (kind, design) in designs {
            for intercept in [Intercept::Free, Intercept::None, Intercept::Penalised] {
                for lambda in [1.0, 0.02] {
                    let rows = || sample(&data, design, &identity);
                    let what = format!("{name}, {kind}, {intercept:?}, λ = {lambda}");
                    let ridge = Ridge::new(lambda);
                    compared +=
                        check(&Risk::new(rows(), Logistic, ridge.clone(), intercept), &format!("logistic, {what}"));
                    let hinge = Risk::new(rows(), SquaredHinge, ridge.clone(), intercept);
                    compared += check(&hinge, &format!("squared hinge, {what}"));
                    let squared = Risk::new(rows(), Squared::two_classes([-1.0, 1.0]), ridge, intercept);
                    compared += check(&squared, &format!("squared, {what}"));
                }
            }
        }
    }
    // Dense rows are solved in their space where they are few.
    assert_eq!(compared, 5 * 3 * 2 * 3 * (5 + 6) + 3 * 2 * 3);
}

#[test]
fn all_solvers_agree_for_several_classes() {
    let data = overlapping(150, 3, 4, 8);
    let (dense, csr) = (data.dense(), data.csr());
    let identity = Units::identity(data.cols);
    for design in [&dense as &dyn Design, &csr] {
        for intercept in [Intercept::Free, Intercept::Penalised] {
            for form in [SoftmaxForm::Symmetric, SoftmaxForm::Reference] {
                let loss = Softmax::new(4, form);
                let risk = Risk::new(sample(&data, design, &identity), loss, Ridge::new(0.05), intercept);
                check(&risk, &format!("softmax {form:?}, {intercept:?}"));
            }
            let risk = Risk::new(sample(&data, design, &identity), Squared::one_hot(4), Ridge::new(0.05), intercept);
            check(&risk, &format!("one-hot, {intercept:?}"));
        }
    }
}

/// Few dense rows are solved in the space that they span, of any rank, in any units.
#[test]
fn few_dense_rows_are_solved_in_their_space() {
    let mut data = overlapping(40, 260, 3, 21);
    // Copies and zeros: the rows span less than there are of them.
    let cols = data.cols;
    data.values.copy_within(0..cols, cols);
    data.values[2 * cols..3 * cols].fill(0.0);
    let design = data.dense();
    let centre = (0..cols).map(|j| 0.1 * j as f64).collect();
    let scale = (0..cols).map(|j| 1.0 + (j % 5) as f64).collect();
    for units in [Units::identity(cols), Units::new(centre, scale)] {
        for intercept in [Intercept::Free, Intercept::None, Intercept::Penalised] {
            let rows = || sample(&data, &design, &units);
            let softmax = Risk::new(rows(), Softmax::new(3, SoftmaxForm::Symmetric), Ridge::new(0.05), intercept);
            let squared = Risk::new(rows(), Squared::one_hot(3), Ridge::new(0.05), intercept);
            assert!(RowNewton::spans(&softmax) && RowNewton::spans(&squared));
            let limits = RowNewton { tolerance: TOLERANCE, max_iterations: 100 };
            let newton = Newton { tolerance: TOLERANCE, max_iterations: 100 };
            let both = |by_rows: Solved, by_columns: Solved, what: &str| {
                let [a, b] = [by_rows, by_columns].map(|s| {
                    assert_eq!(s.stop, Stop::Converged, "{what}");
                    (s.point.objective, s.certificate.gap().expect("a gap"))
                });
                assert!((a.0 - b.0).abs() <= a.1 + b.1, "{what}: {a:?} and {b:?}");
            };
            let watch = Watch::default();
            let solved = |s: linsep::Result<Solved>| s.expect("a solution");
            both(
                solved(limits.solve(&softmax, None, &watch)),
                solved(newton.solve(&softmax, None, &watch)),
                &format!("softmax, {intercept:?}"),
            );
            both(
                solved(limits.solve(&squared, None, &watch)),
                solved(newton.solve(&squared, None, &watch)),
                &format!("squared, {intercept:?}"),
            );
        }
    }
}

/// A factor is a change of units: `f w² = (√f w)²`.
#[test]
fn factors_are_a_change_of_units() {
    let data = overlapping(100, 3, 2, 3);
    let factors: [f64; 3] = [4.0, 1.0, 0.25];
    let scaled = data.map(|j, v| v / factors[j].sqrt());
    let (a, b) = (data.dense(), scaled.dense());
    let identity = Units::identity(3);
    let penalty = Ridge::new(0.1).with_factors(&factors).expect("factors");
    let with = Risk::new(sample(&data, &a, &identity), Logistic, penalty, Intercept::Free);
    let without = Risk::new(sample(&scaled, &b, &identity), Logistic, Ridge::new(0.1), Intercept::Free);
    check(&with, "factors");
    let newton = Newton { tolerance: 1e-13, max_iterations: 100 };
    let (x, y) = (newton.solve(&with, None, &Watch::default()), newton.solve(&without, None, &Watch::default()));
    let (x, y) = (x.expect("a solution").point, y.expect("a solution").point);
    assert!((x.objective - y.objective).abs() < 1e-12);
    for j in 0..3 {
        assert!((x.coef.weights()[j] * factors[j].sqrt() - y.coef.weights()[j]).abs() < 1e-6);
    }
}

/// Columns of factor zero are as free as an intercept: the gap must hold for them, too.
#[test]
fn columns_without_a_penalty_have_a_gap() {
    let mut source = Source::new(4);
    for case in 0..60 {
        let classes = 2 + case % 2;
        let data = overlapping(80 + case, 3, classes, case as u64);
        let factors = [[0.0, 1.0, 1.0], [0.0, 2.0, 0.0]][case / 2 % 2];
        let (design, identity) = (data.dense(), Units::identity(3));
        let penalty = Ridge::new(0.05).with_factors(&factors).expect("factors");
        if classes == 2 {
            free_columns(
                &Risk::new(sample(&data, &design, &identity), Logistic, penalty, Intercept::Free),
                &mut source,
            );
        } else {
            let loss = Softmax::new(3, SoftmaxForm::Symmetric);
            free_columns(&Risk::new(sample(&data, &design, &identity), loss, penalty, Intercept::Free), &mut source);
        }
    }
}

fn free_columns<L: Conjugate + Clone>(risk: &Risk<'_, L>, source: &mut Source) {
    let watch = Watch::default();
    let best = Newton { tolerance: 1e-12, max_iterations: 200 }.solve(risk, None, &watch).expect("a solution");
    let reached = best.certificate.relative_gap().unwrap_or_else(|| panic!("{:?}", best.certificate));
    assert!(reached < 1e-11, "{reached:e}");
    let (k, cols) = (risk.loss().n_scores(), risk.n_cols());
    for scale in [1e-5, 1e-3, 1e-2] {
        let away: Vec<f64> = (0..k * (cols + 1)).map(|_| scale * (source.uniform(0.0, 1.0) - 0.5)).collect();
        let near = best.point.coef.moved(1.0, &Coef::from_vec(away, k, cols));
        let point = risk.at(&near, Detail::Gradient, &watch).expect("a point");
        let certificate = duality_gap(risk, &point, &watch).expect("a certificate");
        // Far away there may be none, but never a wrong one.
        match certificate.gap() {
            Some(gap) => assert!(point.objective - best.point.objective <= gap + 1e-13),
            None => assert!(scale > 1e-4, "no gap close to the optimum: {certificate:?}"),
        }
    }
}

/// Sums by ranges of columns, which wide rows take, against the usual pass on the same rows.
#[test]
fn wide_rows_are_summed_like_others() {
    let (rows, cols) = (60, 5000);
    let mut source = Source::new(12);
    let small = overlapping(rows, 6, 2, 2);
    // The six columns lie far apart, with a handful of others that occur once.
    let mut values = vec![0.0; rows * cols];
    for i in 0..rows {
        (0..6).for_each(|j| values[i * cols + 813 * j + 7] = small.row(i)[j]);
        values[i * cols + 80 * i + 3] = source.uniform(0.0, 1.0) + 0.5;
    }
    let data = Data { values, cols, ..small };
    let (dense, csr) = (data.dense(), data.csr());
    let identity = Units::identity(cols);
    for intercept in [Intercept::Free, Intercept::None, Intercept::Penalised] {
        let by_rows = Risk::new(sample(&data, &dense, &identity), Logistic, Ridge::new(0.02), intercept);
        let by_columns = Risk::new(sample(&data, &csr, &identity), Logistic, Ridge::new(0.02), intercept);
        let mut coef: Vec<f64> = (0..cols).map(|_| source.uniform(0.0, 1.0) - 0.5).collect();
        coef.push(if intercept == Intercept::None { 0.0 } else { 0.3 });
        let coef = Coef::from_vec(coef, 1, cols);
        let at = |risk: &Risk<'_, Logistic>| risk.at(&coef, Detail::Gradient, &Watch::default()).expect("a point");
        let (a, b) = (at(&by_rows), at(&by_columns));
        assert!((a.objective - b.objective).abs() < 1e-14 * a.objective);
        let off = a.gradient.as_slice().iter().zip(b.gradient.as_slice()).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f64::max) < 1e-14);
        // Far from balanced: the classes' own sums are needed, which wide rows do not keep.
        let gap = |risk: &Risk<'_, Logistic>, point| {
            duality_gap(risk, point, &Watch::default()).expect("a certificate").gap().expect("a gap")
        };
        let (by_rows_gap, by_columns_gap) = (gap(&by_rows, &a), gap(&by_columns, &b));
        assert!((by_rows_gap - by_columns_gap).abs() < 1e-12 * by_rows_gap, "{intercept:?}");
        let solver = RowNewton { tolerance: 1e-10, max_iterations: 50 };
        let row = solver.solve(&by_columns, None, &Watch::default()).expect("a solution");
        let cg = NewtonCg { tolerance: 1e-10, max_iterations: 50 };
        let cg = cg.solve(&by_rows, None, &Watch::default()).expect("a solution");
        assert_eq!((row.stop, cg.stop), (Stop::Converged, Stop::Converged), "{intercept:?}");
        assert!((row.point.objective - cg.point.objective).abs() < 2e-10);
    }
}

/// Centred and scaled sparse rows: with a free intercept the rows' space does not notice the centres.
#[test]
fn the_space_of_the_rows_takes_units() {
    let data = overlapping(90, 5, 2, 6).map(|j, v| if j % 2 == 0 { v.max(0.0) } else { v });
    let units = Units::new(vec![0.4, -0.2, 0.0, 1.0, 0.3], vec![2.0, 0.5, 1.0, 3.0, 0.1]);
    let (dense, csr) = (data.dense(), data.csr());
    let sparse = Risk::new(sample(&data, &csr, &units), Logistic, Ridge::new(0.01), Intercept::Free);
    let plain = Risk::new(sample(&data, &dense, &units), Logistic, Ridge::new(0.01), Intercept::Free);
    assert!(RowNewton::takes(&sparse) && !RowNewton::takes(&plain));
    let a = RowNewton { tolerance: 1e-12, max_iterations: 50 }.solve(&sparse, None, &Watch::default()).expect("a");
    let b = Newton { tolerance: 1e-12, max_iterations: 50 }.solve(&plain, None, &Watch::default()).expect("b");
    assert_eq!(a.stop, Stop::Converged);
    assert!((a.point.objective - b.point.objective).abs() < 1e-12);
    for (a, b) in a.point.coef.as_slice().iter().zip(b.point.coef.as_slice()) {
        assert!((a - b).abs() < 1e-5, "{a} {b}");
    }
    // Without an intercept to absorb them, centres are another problem.
    assert!(!RowNewton::takes(&Risk::new(sample(&data, &csr, &units), Logistic, Ridge::new(0.01), Intercept::None)));
}

/// The same bits for any number of threads.
#[test]
fn solvers_give_the_same_bits_on_any_number_of_threads() {
    let data = overlapping(3000, 12, 2, 77);
    let (dense, csr) = (data.dense(), data.csr());
    let identity = Units::identity(12);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let mut bits = Vec::new();
            for design in [&dense as &dyn Design, &csr] {
                let risk = Risk::new(sample(&data, design, &identity), Logistic, Ridge::new(1e-3), Intercept::Free);
                for (_, solved) in solved_by_all(&risk) {
                    bits.extend(solved.point.coef.as_slice().iter().map(|v| v.to_bits()));
                }
            }
            bits
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}

/// Iterations run out: an answer with the gap reached, not an error.
#[test]
fn a_limit_is_an_answer() {
    let data = overlapping(200, 5, 2, 21);
    let (design, identity) = (data.dense(), Units::identity(5));
    let risk = Risk::new(sample(&data, &design, &identity), Logistic, Ridge::new(1e-4), Intercept::Free);
    let watch = Watch::default();
    for solved in [
        Lbfgs { tolerance: 1e-12, max_iterations: 2, memory: 5 }.solve(&risk, None, &watch),
        NewtonCg { tolerance: 1e-12, max_iterations: 1 }.solve(&risk, None, &watch),
        GradientDescent { tolerance: 1e-12, max_iterations: 3, rule: StepRule::Fixed }.solve(&risk, None, &watch),
    ] {
        let solved = solved.expect("an answer");
        assert_eq!(solved.stop, Stop::IterationLimit);
        let gap = solved.certificate.relative_gap().expect("a gap");
        assert!(gap > 1e-12 && gap.is_finite());
        assert!(solved.point.objective < risk.null_objective());
    }
}

/// Rows whose sizes differ by many orders of magnitude leave truncated Newton little to trust. Where nobody chose the solver, the
/// fit ends no worse than limited memory does.
#[test]
fn what_auto_takes_never_ends_worse_than_lbfgs() {
    let (rows, cols, classes) = (600, 40, 8);
    let mut source = Source::new(3);
    let (mut values, mut codes) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let size = (3.0 * source.normal()).exp();
        let row: Vec<f64> = source.normals(cols).iter().map(|v| v * size).collect();
        let noisy: Vec<f64> = row[..classes].iter().map(|v| v + 0.5 * size * source.normal()).collect();
        codes.push((0..classes).fold(0, |best, k| if noisy[k] > noisy[best] { k } else { best }));
        values.extend(row);
    }
    let data = Data::new(values, cols, labels(codes, classes));
    let fit = |algorithm| {
        let penalty = PenaltyChoice::Ridge(1e-4);
        let method = RiskMinimizer { algorithm, penalty, standardize: Standardize::No, ..RiskMinimizer::default() };
        data.model(&Method::Risk(method))
    };
    let (auto, alone, lbfgs) = (fit(Algorithm::Auto), fit(Algorithm::NewtonCg), fit(Algorithm::Lbfgs));
    assert_ne!(alone.outcome, Outcome::Converged, "newton-cg has learned it: take a harder table");
    assert!(auto.objective.value <= alone.objective.value);
    assert!(
        auto.objective.value <= lbfgs.objective.value * (1.0 + 1e-12),
        "{} {}",
        auto.objective.value,
        lbfgs.objective.value
    );
    assert_eq!(auto.computation.reason.as_deref(), Some("newton-cg made too little progress"));
}

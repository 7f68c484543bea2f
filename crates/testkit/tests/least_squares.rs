//! Least squares: its theorems, slow twins, digits, rank, statistics, certificates and goldens.

// Textbook loops keep their indices.
#![allow(clippy::needless_range_loop)]

use linsep::certify::Certificate;
use linsep::design::Standardize;
use linsep::discriminant::{Discriminant, Linear};
use linsep::model::{
    Divisor, Fitted, GaussianBayes, LeastSquaresSettings, LeastSquaresSolver, Method, Note, Outcome, PenaltyChoice,
    Targets,
};
use linsep::objective::Intercept;
use linsep::stats::ClassTriangle;
use linsep::table::Class;
use linsep::watch::Watch;
use testkit::data::{Data, Source, gaussian, labels, overlapping};
use testkit::double_double::{self, DoubleDouble};
use testkit::golden::{Frame, json, matrix, number, numbers, strings};
use testkit::{assert_all_near, assert_near, twin};

const SOLVERS: [LeastSquaresSolver; 4] = [
    LeastSquaresSolver::Auto,
    LeastSquaresSolver::Cholesky,
    LeastSquaresSolver::Qr,
    LeastSquaresSolver::GradientDescent,
];

fn method(change: impl FnOnce(&mut LeastSquaresSettings)) -> Method {
    let mut method = LeastSquaresSettings::default();
    change(&mut method);
    Method::LeastSquares(method)
}

fn linear(model: &Fitted) -> &Linear {
    model.discriminant.as_linear().expect("a linear model")
}

/// The proved relative gap.
fn proved(certificate: &Certificate) -> f64 {
    let Certificate::Quadratic { relative_gap, errors: Some(_), .. } = certificate else { panic!("{certificate:?}") };
    *relative_gap
}

/// Targets of a row: ±1, 0/1 or one-hot.
fn targets(data: &Data, kind: Targets, row: usize) -> Vec<f64> {
    let k = data.labels.n_classes();
    match (k, kind) {
        (2, Targets::ZeroOne) => vec![data.class(row) as f64],
        (2, _) => vec![2.0 * data.class(row) as f64 - 1.0],
        _ => (0..k).map(|c| if c == data.class(row) { 1.0 } else { 0.0 }).collect(),
    }
}

/// The textbook: normal equations of `[x, 1]` by plain loops and elimination; weights, then the intercept, per score.
fn twin(data: &Data, kind: Targets, lambda: f64, intercept: Intercept) -> Vec<Vec<f64>> {
    let (n, d) = (data.rows(), data.cols);
    let p = d + usize::from(intercept != Intercept::None);
    let total: f64 = (0..n).map(|i| data.weight(i)).sum();
    let scores = targets(data, kind, 0).len();
    let mut a = vec![vec![0.0; p]; p];
    let mut b = vec![vec![0.0; p]; scores];
    for i in 0..n {
        let x: Vec<f64> = data.row(i).iter().copied().chain([1.0]).collect();
        let t = targets(data, kind, i);
        for j in 0..p {
            (0..p).for_each(|l| a[j][l] += data.weight(i) * x[j] * x[l]);
            (0..scores).for_each(|s| b[s][j] += data.weight(i) * x[j] * t[s]);
        }
    }
    for j in 0..p {
        if j < d || intercept == Intercept::Penalised {
            a[j][j] += lambda * total;
        }
    }
    let solve = |b: &Vec<f64>| {
        let mut v = twin::solve(&a, b).expect("full rank");
        v.resize(d + 1, 0.0);
        v
    };
    b.iter().map(solve).collect()
}

/// F by its definition, of weights and intercept per score.
fn objective(data: &Data, kind: Targets, lambda: f64, intercept: Intercept, v: &[Vec<f64>]) -> f64 {
    let d = data.cols;
    let (mut loss, mut total) = (0.0, 0.0);
    for i in 0..data.rows() {
        for (v, t) in v.iter().zip(targets(data, kind, i)) {
            let z: f64 = v[d] + data.row(i).iter().zip(v).map(|(x, w)| x * w).sum::<f64>();
            loss += 0.5 * data.weight(i) * (t - z).powi(2);
        }
        total += data.weight(i);
    }
    let penalised = if intercept == Intercept::Penalised { d + 1 } else { d };
    loss / total + 0.5 * lambda * v.iter().flat_map(|v| &v[..penalised]).map(|w| w * w).sum::<f64>()
}

fn coefficients(model: &Fitted, shift: f64) -> Vec<Vec<f64>> {
    let linear = linear(model);
    let of = |k: usize| linear.weights_of(k).iter().copied().chain([linear.intercept()[k] + shift]).collect();
    (0..linear.n_scores()).map(of).collect()
}

// ---------------------------------------------------------------- theorems

/// `w_LS = 2π₁π₀ S_n⁻¹Δ/(1 + π₁π₀ ΔᵀS_n⁻¹Δ)` at any counts and weights; the same hyperplane iff the totals are equal.
#[test]
fn two_classes_have_the_direction_of_lda() {
    for (counts, weighted) in [([50, 50], false), ([20, 130], false), ([7, 90], false), ([40, 60], true)] {
        let data = gaussian(&counts, &[vec![0.0, 0.0, 0.0], vec![1.0, 0.3, -0.7]], 3);
        let data = match weighted {
            // Weights that make up for the counts: 60 rows of 1 and 40 of 1.5.
            true => {
                let weights = (0..100).map(|i| if data.class(i) == 0 { 1.5 } else { 1.0 }).collect();
                data.weighted(weights)
            }
            false => data,
        };
        let lda = data.model(&Method::Gaussian(GaussianBayes { divisor: Divisor::Mle, ..GaussianBayes::lda() }));
        let totals = data.labels.totals(data.weights.as_deref());
        let pi = totals[0] * totals[1] / (totals[0] + totals[1]).powi(2);
        let w = linear(&lda).weights_of(0);
        let moments = twin::Gaussians::of(&data, |total, _| total);
        let delta = moments.means[1].iter().zip(&moments.means[0]).map(|(a, b)| a - b);
        let squared: f64 = delta.zip(w).map(|(a, b)| a * b).sum();
        let factor = 2.0 * pi / (1.0 + pi * squared);
        let expected: Vec<f64> = w.iter().map(|w| w * factor).collect();
        for solver in [LeastSquaresSolver::Cholesky, LeastSquaresSolver::Qr] {
            let model = data.model(&method(|m| m.solver = solver));
            assert_all_near(linear(&model).weights_of(0), &expected, 1e-12, 0.0, "least squares and LDA");
            let off = linear(&model).intercept()[0] - factor * linear(&lda).intercept()[0];
            assert_eq!(off.abs() < 1e-12, totals[0] == totals[1], "counts {counts:?}: intercepts differ by {off:e}");
        }
    }
}

/// ±1, 0/1 and one-hot targets have the same hyperplane, with or without a ridge: `z₀₁ − ½ = z±/2`, `z₁ − z₀ = z±`.
#[test]
fn codings_of_two_classes_have_one_hyperplane() {
    let data = overlapping(120, 3, 2, 9).weighted((0..120).map(|i| 1.0 + (i % 3) as f64).collect());
    for penalty in [PenaltyChoice::None, PenaltyChoice::Ridge(0.1)] {
        let plus_minus = data.model(&method(|m| m.penalty = penalty));
        let zero_one = data.model(&method(|m| (m.penalty, m.targets) = (penalty, Targets::ZeroOne)));
        let half: Vec<f64> = data.scores(&plus_minus).iter().map(|z| 0.5 * z).collect();
        assert_all_near(&data.scores(&zero_one), &half, 1e-13, 0.0, "0/1 and ±1");
        assert_near(zero_one.objective.value, 0.25 * plus_minus.objective.value, 1e-12, 0.0, "objective");
    }
    // The library keeps one score for two classes, so the one-hot scores come from the twin.
    let indicator = |class: usize| {
        let coded =
            Data { labels: labels((0..120).map(|i| usize::from(data.class(i) == class)).collect(), 2), ..data.clone() };
        twin(&coded, Targets::ZeroOne, 0.0, Intercept::Free).remove(0)
    };
    let difference: Vec<f64> = indicator(1).iter().zip(indicator(0)).map(|(a, b)| a - b).collect();
    let found = coefficients(&data.model(&method(|_| {})), 0.0).remove(0);
    assert_all_near(&found, &difference, 1e-12, 0.0, "one-hot and ±1");
}

#[test]
fn one_hot_scores_sum_to_one() {
    let data = overlapping(200, 4, 4, 10);
    for penalty in [PenaltyChoice::None, PenaltyChoice::Ridge(0.3)] {
        let scores = data.scores(&data.model(&method(|m| m.penalty = penalty)));
        for z in scores.chunks_exact(4) {
            assert_near(z.iter().sum::<f64>(), 1.0, 1e-13, 0.0, "sum of scores");
        }
    }
}

/// Three classes in a row, each a mirror image: the score of the middle one is ⅓ everywhere and never the largest. LDA
/// finds it, and so does least squares with a quadratic column.
#[test]
fn the_middle_of_three_classes_is_masked() {
    let spread = (1..=50).flat_map(|i| [f64::from(i) / 25.0, -f64::from(i) / 25.0]);
    let (values, codes) = (0..3).flat_map(|k| spread.clone().map(move |e| (5.0 * k as f64 - 5.0 + e, k))).unzip();
    let data = Data::new(values, 1, labels(codes, 3));
    let middle = |data: &Data, m: &Method| {
        let scores = data.scores(&data.model(m));
        linsep::decide::classes(&scores, 3).iter().filter(|c| **c == Class(1)).count()
    };
    let scores = data.scores(&data.model(&method(|_| {})));
    let constant: Vec<f64> = scores.chunks_exact(3).map(|z| z[1]).collect();
    assert_all_near(&constant, &vec![1.0 / 3.0; 300], 1e-13, 0.0, "the score of the middle");
    assert_eq!(middle(&data, &method(|_| {})), 0, "masked");
    assert!(middle(&data, &Method::Gaussian(GaussianBayes::lda())) > 98);
    assert!(middle(&data.with_column(|_, x| x[0] * x[0]), &method(|_| {})) > 90);
}

// ---------------------------------------------------------------- solvers and twins

#[test]
fn every_solver_finds_what_the_textbook_finds() {
    let mut cases = 0;
    for classes in [2, 3] {
        let data =
            overlapping(150, 3, classes, 20 + classes as u64).map(|j, v| v * [1.0, 3.0, 0.5][j] + [0.3, -1.0, 2.0][j]);
        let data = data.weighted((0..150).map(|i| (i % 4) as f64 * 0.5).collect());
        for (kind, shift) in [(Targets::Auto, 0.0), (Targets::ZeroOne, 0.5)] {
            for intercept in [Intercept::Free, Intercept::None, Intercept::Penalised] {
                for penalty in [PenaltyChoice::None, PenaltyChoice::RidgeOne, PenaltyChoice::Ridge(0.2)] {
                    if penalty == PenaltyChoice::None && intercept == Intercept::Penalised {
                        continue;
                    }
                    let total: f64 = (0..150).map(|i| data.weight(i)).sum();
                    let lambda = penalty.lambda(total);
                    let expected = twin(&data, kind, lambda, intercept);
                    let value = objective(&data, kind, lambda, intercept, &expected);
                    for solver in SOLVERS {
                        let settings = method(|m| {
                            (m.targets, m.intercept, m.penalty, m.solver) = (kind, intercept, penalty, solver);
                            m.standardize = Standardize::No;
                            // Coefficients are as good as the root of the gap.
                            m.tolerance = 1e-26;
                        });
                        let model = data.model(&settings);
                        let what = format!("{settings:?}");
                        let shift = if classes == 2 { shift } else { 0.0 };
                        let found = coefficients(&model, shift).concat();
                        assert_all_near(&found, &expected.concat(), 1e-10, 0.0, &what);
                        assert_near(model.objective.value, value, 1e-13, 0.0, &what);
                        let again = settings.certify(
                            &data.training(&data.dense()),
                            &model.discriminant,
                            &model.units,
                            &Watch::default(),
                        );
                        let (again, certificate) = again.expect("a certificate");
                        assert_near(again, value, 1e-13, 0.0, &what);
                        match certificate {
                            Certificate::Quadratic { gap, .. } => assert!(gap < 1e-20, "{what}: {gap:e}"),
                            other => panic!("{other:?}"),
                        }
                        cases += 1;
                    }
                }
            }
        }
    }
    assert_eq!(cases, 128);
}

#[test]
fn standardising_is_a_ridge_in_other_units() {
    let data = overlapping(100, 3, 2, 30).map(|j, v| v * [100.0, 1.0, 0.01][j] + 5.0);
    let mean: Vec<f64> = (0..3).map(|j| (0..100).map(|i| data.row(i)[j]).sum::<f64>() / 100.0).collect();
    let sd: Vec<f64> =
        (0..3).map(|j| ((0..100).map(|i| (data.row(i)[j] - mean[j]).powi(2)).sum::<f64>() / 100.0).sqrt()).collect();
    let scaled = data.map(|j, v| (v - mean[j]) / sd[j]);
    for intercept in [Intercept::Free, Intercept::None, Intercept::Penalised] {
        // Without an intercept planes pass through the origin, so nothing is centred.
        let scaled = if intercept == Intercept::None { data.map(|j, v| v / sd[j]) } else { scaled.clone() };
        let expected = twin(&scaled, Targets::Auto, 0.1, intercept).remove(0);
        for solver in [LeastSquaresSolver::Cholesky, LeastSquaresSolver::Qr] {
            let model = data.model(&method(|m| {
                (m.penalty, m.intercept, m.solver) = (PenaltyChoice::Ridge(0.1), intercept, solver);
            }));
            let expected: Vec<f64> = (0..100)
                .map(|i| expected[3] + scaled.row(i).iter().zip(&expected).map(|(x, w)| x * w).sum::<f64>())
                .collect();
            assert_all_near(&data.scores(&model), &expected, 1e-12, 0.0, "scores");
        }
    }
}

/// Powers of one column: κ ≈ 1e8 and more. QR keeps its digits, and so do refined normal equations; a twin with 32 digits is the
/// judge.
#[test]
fn powers_of_a_column_keep_their_digits() {
    for (degree, qr_digits) in [(7, 1e-8), (9, 1e-6)] {
        let n = 200;
        let rows = (0..n).map(|i| f64::from(i) / f64::from(n));
        let values: Vec<f64> = rows.flat_map(|x| (1..=degree).map(move |p| x.powi(p))).collect();
        let mut source = Source::new(40);
        let codes = (0..n).map(|i| usize::from(source.chance(0.2 + 0.6 * f64::from(i) / f64::from(n)))).collect();
        let data = Data::new(values, degree as usize, labels(codes, 2));
        let p = degree as usize + 1;
        let mut a = vec![vec![DoubleDouble::from(0.0); p]; p];
        let mut b = vec![DoubleDouble::from(0.0); p];
        for i in 0..data.rows() {
            let x: Vec<DoubleDouble> = data.row(i).iter().copied().chain([1.0]).map(DoubleDouble::from).collect();
            let t = DoubleDouble::from(2.0 * data.class(i) as f64 - 1.0);
            for j in 0..p {
                (0..p).for_each(|l| a[j][l] = a[j][l] + x[j] * x[l]);
                b[j] = b[j] + x[j] * t;
            }
        }
        let exact = double_double::solve(&a, &b);
        let error = |solver: LeastSquaresSolver| {
            let model = data.model(&method(|m| m.solver = solver));
            let size = exact[..p - 1].iter().fold(0.0f64, |m, w| m.max(w.abs()));
            let off = linear(&model).weights_of(0).iter().zip(&exact).map(|(a, b)| (a - b).abs() / size);
            (off.fold(0.0, f64::max), model)
        };
        let (by_qr, model) = error(LeastSquaresSolver::Qr);
        let (by_cholesky, _) = error(LeastSquaresSolver::Cholesky);
        let (by_auto, auto) = error(LeastSquaresSolver::Auto);
        assert!(by_qr < qr_digits, "degree {degree}: qr is off by {by_qr:e}");
        // Refinement brings the normal equations back, too: differences of class means are exact.
        assert!(by_cholesky < qr_digits, "degree {degree}: cholesky is off by {by_cholesky:e}");
        assert_eq!(by_auto, by_qr, "auto takes qr");
        assert!(auto.computation.solver.starts_with(&format!("qr, rank {degree} of {degree} (auto:")));
        assert_eq!((auto.computation.passes, model.computation.passes), (3, 2));
        // κu = 1e-8 squared is what rounding leaves of the gradient in the norm of the inverse.
        assert!(proved(&model.certificate) < 1e-15, "{:?}", model.certificate);
    }
}

// ---------------------------------------------------------------- rank

#[test]
fn dependent_columns_are_named_and_counted() {
    let data = overlapping(80, 2, 3, 50)
        .with_column(|_, x| x[0] - 2.0 * x[1])
        .with_column(|_, _| 7.5)
        .with_column(|i, _| (i % 5) as f64);
    let plain = overlapping(80, 2, 3, 50).with_column(|i, _| (i % 5) as f64);
    for solver in SOLVERS {
        let settings = |m: &mut LeastSquaresSettings| (m.solver, m.tolerance) = (solver, 1e-20);
        let model = data.model(&method(|m| settings(m)));
        assert_all_near(
            &data.scores(&model),
            &plain.scores(&plain.model(&method(|m| settings(m)))),
            1e-9,
            0.0,
            "scores",
        );
        assert_eq!(model.notes[0], Note::Constant { columns: vec![3] });
        assert_eq!(model.notes[1], Note::Rank { rank: 3, columns: 4 }, "{solver:?}");
        // The difference of two doubles is rounded: a combination it is, but not exactly.
        let Note::LeftOut { column: 2, combination, printed: false } = &model.notes[2] else {
            panic!("{solver:?}: {:?}", model.notes)
        };
        assert_eq!(combination.iter().map(|c| c.0).collect::<Vec<_>>(), [0, 1]);
        assert_near(combination[0].1, 1.0, 1e-9, 0.0, "combination");
        assert_near(combination[1].1, -2.0, 1e-9, 0.0, "combination");
        let ridge = data.model(&method(|m| {
            settings(m);
            m.penalty = PenaltyChoice::Ridge(0.1);
        }));
        let named = ridge.notes.iter().any(|n| matches!(n, Note::Shared { column: 2, .. }));
        assert!(named, "{solver:?}: {:?}", ridge.notes);
    }
}

/// More columns than rows, down to one row a class: an exact fit, every target met.
#[test]
fn more_columns_than_rows_fit_exactly() {
    let mut source = Source::new(60);
    for (rows, cols, classes) in [(2, 1, 2), (2, 5, 2), (3, 4, 3), (12, 30, 3), (6, 5, 2)] {
        let data =
            Data::new(source.normals(rows * cols), cols, labels((0..rows).map(|i| i % classes).collect(), classes));
        for solver in [LeastSquaresSolver::Auto, LeastSquaresSolver::Cholesky, LeastSquaresSolver::Qr] {
            let settings = method(|m| m.solver = solver);
            let model = data.model(&settings);
            let scores = data.scores(&model);
            let expected: Vec<f64> = (0..rows).flat_map(|i| targets(&data, Targets::Auto, i)).collect();
            let tolerance = if solver == LeastSquaresSolver::Cholesky { 1e-6 } else { 1e-9 };
            assert_all_near(&scores, &expected, tolerance, 1.0, "targets");
            let rank = rows.min(cols + 1) - 1;
            let note = model.notes.iter().find(|n| matches!(n, Note::Rank { .. }));
            assert_eq!(note.is_some(), rank < cols, "{solver:?}");
            if let Some(note) = note {
                assert_eq!(*note, Note::Rank { rank, columns: cols });
            }
            let weighted = (0..cols).filter(|j| linear(&model).weights_of(0)[*j] != 0.0).count();
            assert_eq!(weighted, rank, "a basic solution");
            let (_, certificate) = settings
                .certify(&data.training(&data.dense()), &model.discriminant, &model.units, &Watch::default())
                .expect("a certificate");
            assert!(proved(&certificate) < 1e-12, "{solver:?}: {certificate:?}");
        }
    }
}

/// A nearly constant column at 1e9 and its tenth, which rounding makes only nearly dependent.
#[test]
fn columns_far_from_zero_keep_their_digits() {
    let data = overlapping(300, 3, 2, 70).map(|_, v| (v * 1_048_576.0).round() / 1_048_576.0);
    let far = data.map(|_, v| v + 1e9);
    for solver in [LeastSquaresSolver::Cholesky, LeastSquaresSolver::Qr] {
        let settings = method(|m| m.solver = solver);
        let (near, moved) = (data.model(&settings), far.model(&settings));
        assert_all_near(linear(&moved).weights_of(0), linear(&near).weights_of(0), 1e-7, 0.0, "weights");
        assert_all_near(&far.scores(&moved), &data.scores(&near), 1e-6, 0.0, "scores");
    }
    let tenth = far.with_column(|_, x| 0.1 * x[0]);
    let model = tenth.model(&method(|m| m.solver = LeastSquaresSolver::Qr));
    assert!(
        model.notes.iter().any(|n| matches!(n, Note::LeftOut { column: 3, printed: false, .. })),
        "{:?}",
        model.notes
    );
}

// ---------------------------------------------------------------- statistics

fn triangle(data: &Data) -> ClassTriangle {
    ClassTriangle::of(&data.dense(), &data.labels, data.weights.as_deref(), &Watch::default()).expect("finite features")
}

/// All of R about the centre of `like`, column by column.
fn entries(r: &ClassTriangle, like: &ClassTriangle) -> Vec<f64> {
    let r = r.about(like.centre());
    (0..r.centre().len() + r.weights().len()).flat_map(|j| r.column(j).to_vec()).collect()
}

#[test]
fn triangles_merge_as_if_the_rows_were_one_table() {
    let data = overlapping(3000, 4, 3, 80).map(|j, v| v + [0.0, 1e3, -50.0, 3.0][j]);
    let data = data.weighted((0..3000).map(|i| (i % 4) as f64 * 0.5).collect());
    let whole = triangle(&data);
    let all: Vec<usize> = (0..3000).collect();
    for cut in [1, 17, 1500, 2999] {
        let mut merged = triangle(&data.select(&all[..cut]));
        merged.merge(&triangle(&data.select(&all[cut..]))).expect("the same columns and classes");
        assert_all_near(merged.weights(), whole.weights(), 1e-14, 0.0, "weights");
        assert_all_near(&merged.mean(), &whole.mean(), 1e-13, 0.0, "mean");
        assert_all_near(&entries(&merged, &whole), &entries(&whole, &whole), 1e-12, 0.0, "triangle");
        assert_all_near(&gram(&merged, &whole), &gram(&whole, &whole), 1e-12, 0.0, "Gram");
    }
    let mut streamed = ClassTriangle::empty(3, whole.centre().to_vec());
    for part in all.chunks(700) {
        let part = data.select(part);
        streamed.update(&part.values, part.labels.codes(), part.weights.as_deref()).expect("rows that fit");
    }
    assert_all_near(&entries(&streamed, &whole), &entries(&whole, &whole), 1e-12, 0.0, "block by block");
    let mut from_nothing = ClassTriangle::empty(3, vec![0.0; 4]);
    from_nothing.merge(&whole).expect("the same shape");
    assert_eq!(from_nothing, whole);
    assert!(from_nothing.merge(&ClassTriangle::empty(2, vec![0.0; 4])).is_err(), "other classes");
    assert!(from_nothing.merge(&ClassTriangle::empty(3, vec![0.0; 5])).is_err(), "other columns");
    assert!(streamed.update(&[1.0; 4], &[Class(3)], None).is_err(), "a class without a place");
    assert!(streamed.update(&[1.0; 3], &[Class(0)], None).is_err(), "a row too short");
    assert!(streamed.update(&[1.0, f64::NAN, 0.0, 0.0], &[Class(0)], None).is_err(), "not finite");
    assert!(streamed.update(&[1.0; 4], &[Class(0)], Some(&[-1.0])).is_err(), "a negative weight");
}

/// Rounding of a downdate is ε times the rows that were there before, amplified by the condition of what is left. Half of
/// the rows stay and the columns are of unit size, so both are small: 1e-10 leaves five digits for them.
#[test]
fn rows_taken_out_were_never_there() {
    let data = overlapping(3000, 4, 3, 82).map(|j, v| v + [0.0, 10.0, -5.0, 3.0][j]);
    let data = data.weighted((0..3000).map(|i| (i % 4) as f64 * 0.5).collect());
    let all: Vec<usize> = (0..3000).collect();
    let (front, back) = (data.select(&all[..1500]), data.select(&all[1500..]));
    let (whole, a, b) = (triangle(&data), triangle(&front), triangle(&back));
    let mut removed = whole.clone();
    removed.remove(&b).expect("they were added");
    assert_all_near(removed.weights(), a.weights(), 1e-14, 0.0, "weights");
    assert_all_near(&removed.mean(), &a.mean(), 1e-12, 0.0, "mean");
    assert_all_near(&entries(&removed, &a), &entries(&a, &a), 1e-10, 1.0, "triangle");
    removed.merge(&b).expect("the same shape");
    assert_all_near(&entries(&removed, &whole), &entries(&whole, &whole), 1e-10, 1.0, "out and in again");
    removed.remove(&whole).expect("all of them");
    assert_eq!(removed, ClassTriangle::empty(3, whole.centre().to_vec()), "nothing is left");
    removed.merge(&a).expect("the same shape");
    assert_eq!(removed, a, "from nothing");
    // A whole class goes: as if it had room but no rows.
    let of_class = |last: bool| {
        let rows: Vec<usize> = (0..3000).filter(|i| (data.class(*i) == 2) == last).collect();
        triangle(&data.select(&rows))
    };
    let mut without = whole.clone();
    without.remove(&of_class(true)).expect("they were added");
    assert_eq!(without.weights()[2], 0.0);
    assert!(without.indicator(2).iter().all(|v| *v == 0.0), "a class without rows");
    let rest = of_class(false);
    assert_all_near(&gram(&without, &whole), &gram(&rest, &whole), 1e-10, 1.0, "the other classes");
}

/// `RᵀR` about the centre of `like`.
fn gram(r: &ClassTriangle, like: &ClassTriangle) -> Vec<f64> {
    let r = r.about(like.centre());
    let all = r.centre().len() + r.weights().len();
    let dot = |i: usize, j: usize| r.column(i).iter().zip(r.column(j)).map(|(a, b)| a * b).sum::<f64>();
    (0..all).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| dot(i, j)).collect()
}

/// Any data, dependent and constant columns, more columns than rows, levels that vanish: the Gram of what is left is that
/// of its rows, to rounding in units of the rows that were there before.
#[test]
fn random_rows_come_out_as_they_went_in() {
    let mut source = Source::new(83);
    for case in 0..300 {
        let (rows, cols, classes) = (2 + source.below(40), 1 + source.below(6), 2 + source.below(3));
        let kinds: Vec<(usize, f64, f64)> = (0..cols)
            .map(|_| (source.below(5), 10f64.powf(source.uniform(-6.0, 6.0)), source.normal() * 3.0))
            .collect();
        let mut values = Vec::new();
        for _ in 0..rows {
            let from = values.len();
            for (j, (kind, scale, shift)) in kinds.iter().enumerate() {
                values.push(match kind {
                    0 => 0.1 * shift,
                    1 => f64::from(u8::from(source.chance(0.2))),
                    2 if j > 0 => values[from] * shift,
                    _ => scale * (source.normal() + shift),
                });
            }
        }
        let codes = (0..rows).map(|_| source.below(classes)).collect();
        let weights = (0..rows).map(|_| [0.0, 0.3, 1.0, 2.0][source.below(4)]).collect();
        let data = Data::new(values, cols, labels(codes, classes)).weighted(weights);
        let cut = source.below(rows);
        let all: Vec<usize> = (0..rows).collect();
        let (whole, b) = (triangle(&data), triangle(&data.select(&all[cut..])));
        let left = triangle(&data.select(&all[..cut]));
        let mut removed = whole.clone();
        removed.remove(&b).unwrap_or_else(|e| panic!("case {case}: {e}"));
        assert_all_near(removed.weights(), left.weights(), 1e-12, 1.0, "weights");
        let length = |j: usize| whole.column(j).iter().map(|v| v * v).sum::<f64>().sqrt();
        let lengths: Vec<f64> = (0..cols + classes).map(length).collect();
        // A column of one value is as long as the rounding of that value.
        let total: f64 = whole.weights().iter().sum();
        let rounding = |j: usize| whole.centre().get(j).map_or(0.0, |c| 8.0 * f64::EPSILON * c.abs() * total.sqrt());
        let allowed = |i: usize, j: usize| {
            let (a, b) = (lengths[i] + rounding(i), lengths[j] + rounding(j));
            1e-12 * a * b + rounding(i) * b + rounding(j) * a
        };
        let pairs = (0..cols + classes).flat_map(|i| (0..=i).map(move |j| (i, j)));
        for (((i, j), found), expected) in pairs.zip(gram(&removed, &whole)).zip(gram(&left, &whole)) {
            let off = (found - expected).abs();
            assert!(off <= allowed(i, j), "case {case}, entry {i}, {j}: off by {off:e}");
        }
        removed.merge(&b).expect("the same shape");
        let pairs = (0..cols + classes).flat_map(|i| (0..=i).map(move |j| (i, j)));
        for (((i, j), found), expected) in pairs.zip(gram(&removed, &whole)).zip(gram(&whole, &whole)) {
            assert!((found - expected).abs() <= allowed(i, j), "case {case}, entry {i}, {j}: in again");
        }
    }
}

#[test]
fn rows_that_were_never_added_cannot_be_taken_out() {
    let data = overlapping(60, 3, 2, 84);
    let whole = triangle(&data);
    let mut kept = whole.clone();
    let mut refused = |rows: &[f64], class: u32, weight: f64, said: &str| {
        let mut other = ClassTriangle::empty(2, whole.centre().to_vec());
        other.update(rows, &[Class(class)], Some(&[weight])).expect("rows that fit");
        let error = kept.remove(&other).expect_err(said);
        assert!(
            error.to_string().contains(said) && error.to_string().contains("compute the statistics anew"),
            "{error}"
        );
        assert_eq!(kept, whole, "nothing changed");
    };
    refused(&[100.0, 0.0, 0.0], 0, 1.0, "would be negative");
    refused(data.row(5), data.class(5) as u32, 40.0, "cannot be taken out");
    // Of a column with one value no other can be taken out.
    let flat = triangle(&data.with_column(|_, _| 2.5));
    let mut other = ClassTriangle::empty(2, flat.centre().to_vec());
    other.update(&[0.0, 0.0, 0.0, 2.6], &[Class(0)], None).expect("rows that fit");
    assert!(flat.clone().remove(&other).is_err());
    assert!(flat.clone().remove(&whole).is_err(), "other columns");
    assert!(flat.clone().remove(&ClassTriangle::empty(3, vec![0.0; 4])).is_err(), "other classes");
}

#[test]
fn a_new_class_is_as_if_always_there() {
    let data = overlapping(300, 3, 4, 85);
    let part = |new: bool| (0..300).filter(|i| (data.class(*i) == 3) == new).collect::<Vec<usize>>();
    let old = part(false);
    let three = Data { labels: labels(old.iter().map(|i| data.class(*i)).collect(), 3), ..data.select(&old) };
    let mut grown = triangle(&three).with_classes(4).expect("one more");
    assert_eq!(grown, ClassTriangle::from_bytes(&grown.to_bytes()).expect("our own bytes"));
    let new = data.select(&part(true));
    grown.update(&new.values, new.labels.codes(), None).expect("rows that fit");
    let whole = triangle(&data);
    assert_eq!(grown.weights(), whole.weights());
    assert_all_near(&entries(&grown, &whole), &entries(&whole, &whole), 1e-12, 1.0, "all at once");
    grown.remove(&triangle(&new)).expect("they were added");
    let mut before = triangle(&three);
    assert!(before.merge(&whole).expect_err("other classes").to_string().contains("with_classes"));
    assert!(whole.with_classes(3).is_err(), "classes cannot be cut");
    before = before.with_classes(4).expect("one more");
    assert_all_near(&gram(&grown, &before), &gram(&before, &before), 1e-10, 1.0, "and gone again");
}

#[test]
fn triangles_survive_bytes_and_refuse_garbage() {
    let whole = triangle(&overlapping(50, 3, 2, 81));
    let bytes = whole.to_bytes();
    assert_eq!(ClassTriangle::from_bytes(&bytes).expect("our own bytes"), whole);
    for cut in [0, 1, 7, 8, 15, 16, bytes.len() - 8, bytes.len() - 1] {
        assert!(ClassTriangle::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    assert!(ClassTriangle::from_bytes(&[&bytes[..], &[0; 8]].concat()).is_err(), "too long");
    let huge = [u64::MAX.to_le_bytes(), u64::MAX.to_le_bytes()].concat();
    assert!(ClassTriangle::from_bytes(&huge).is_err(), "huge sizes");
    for (word, bad) in [(2, f64::NAN), (2, -1.0), (5, f64::INFINITY), (bytes.len() / 8 - 1, f64::NAN)] {
        let mut spoilt = bytes.clone();
        spoilt[word * 8..word * 8 + 8].copy_from_slice(&bad.to_le_bytes());
        assert!(ClassTriangle::from_bytes(&spoilt).is_err(), "{bad} in word {word}");
    }
}

// ---------------------------------------------------------------- certificates

/// Gradient descent cut short: its gap is the exact distance from the minimum, and it says that it did not converge.
#[test]
fn the_gap_of_gradient_descent_is_the_distance_from_the_minimum() {
    for (classes, penalty) in [(2, PenaltyChoice::None), (3, PenaltyChoice::Ridge(0.05))] {
        let data = overlapping(200, 4, classes, 90);
        let best = data.model(&method(|m| m.penalty = penalty)).objective.value;
        for steps in [0, 1, 3, 10] {
            let model = data.model(&method(|m| {
                (m.penalty, m.solver, m.max_iterations) = (penalty, LeastSquaresSolver::GradientDescent, steps);
                m.tolerance = 1e-14;
            }));
            assert_eq!((model.outcome, model.computation.iterations), (Outcome::IterationLimit, steps));
            let gap = model.certificate.gap().expect("a gap");
            assert!(gap > 1e-9, "{steps} steps: {gap:e}");
            assert_near(model.objective.value - best, gap, 1e-6, 0.0, "gap");
        }
        let model = data.model(&method(|m| (m.penalty, m.solver) = (penalty, LeastSquaresSolver::GradientDescent)));
        assert_eq!(model.outcome, Outcome::Converged);
        assert!(model.certificate.relative_gap().expect("a gap") <= 1e-8);
        assert!(model.computation.iterations > 3 && model.objective.value - best < 1e-8);
    }
}

/// A weight or an intercept changed in the sixth digit shows in the residual, whatever the units of its column.
#[test]
fn a_changed_model_does_not_hold() {
    let data = overlapping(200, 3, 3, 95).map(|j, v| v * [1e6, 1.0, 1e-5][j]);
    for standardize in [Standardize::Yes, Standardize::No] {
        let settings = method(|m| m.standardize = standardize);
        let model = data.model(&settings);
        let check = |discriminant: &Discriminant| {
            let (_, certificate) = settings
                .certify(&data.training(&data.dense()), discriminant, &model.units, &Watch::default())
                .expect("a certificate");
            proved(&certificate)
        };
        assert!(check(&model.discriminant) < 1e-24);
        let l = linear(&model);
        let weights: Vec<f64> = (0..3).flat_map(|k| l.weights_of(k).to_vec()).collect();
        for at in 0..12 {
            let (mut w, mut b) = (weights.clone(), l.intercept_at_centre().to_vec());
            match at < 9 {
                true => w[at] *= 1.0 + 1e-5,
                false => b[at - 9] *= 1.0 + 1e-5,
            }
            let changed = Linear::new(w, l.centre().to_vec(), b).expect("the same shape");
            // The gap is the square of what a residual would be.
            assert!(check(&Discriminant::Linear(changed)) > 1e-16, "{standardize:?}, number {at}");
        }
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let (two, three) = (overlapping(60, 2, 2, 97), overlapping(60, 2, 3, 97));
    let refused = |data: &Data, change: fn(&mut LeastSquaresSettings), said: &str| {
        let error = data.fit(&method(change)).expect_err(said);
        assert!(error.to_string().contains(said), "{error}");
    };
    refused(&three, |m| m.targets = Targets::PlusMinus, "two classes");
    refused(&two, |m| m.penalty = PenaltyChoice::Ridge(-1.0), "not positive");
    refused(&two, |m| m.penalty = PenaltyChoice::Ridge(f64::NAN), "not positive");
    refused(&two, |m| m.intercept = Intercept::Penalised, "needs a penalty");
    refused(&two, |m| m.tolerance = 0.0, "tolerance");
    refused(&two, |m| m.max_columns = 1, "2 columns");
    refused(&two.offset(1, vec![0.5; 60]), |_| {}, "no offsets");
}

// ---------------------------------------------------------------- goldens

fn golden_data(case: &serde_json::Value) -> Data {
    let (features, classes) = (strings(&case["features"]), strings(&case["classes"]));
    let target = case["target"].as_str().expect("a target");
    let frame = Frame::golden(case["data"].as_str().expect("a file")).complete(&features);
    let at = frame.column(target);
    let data = frame.filter(|row| classes.contains(&row[at])).labelled(&features, target);
    assert_eq!((data.rows(), data.labels.names()), (number(&case["n"]) as usize, &classes[..]));
    let n = data.rows();
    if case["weighted"] == true { data.weighted((0..n).map(|i| (1 + i % 3) as f64).collect()) } else { data }
}

/// The golden values were solved again in extended precision, so the tolerance is ours alone.
#[test]
fn ridge_of_scikit_learn() {
    let golden = json("least_squares_sklearn.json");
    let cases = golden["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 8);
    for case in cases {
        let data = golden_data(case);
        let total: f64 = (0..data.rows()).map(|i| data.weight(i)).sum();
        for solver in [LeastSquaresSolver::Auto, LeastSquaresSolver::Qr] {
            let model = data.model(&method(|m| {
                m.penalty = PenaltyChoice::Ridge(number(&case["alpha"]) / total);
                m.standardize = Standardize::No;
                m.intercept = if case["intercept"] == true { Intercept::Free } else { Intercept::None };
                m.solver = solver;
            }));
            // One-hot scores z are (1 + score of ±1)/2; without an intercept the targets themselves differ.
            let one_hot = data.labels.n_classes() > 2;
            if one_hot && case["intercept"] == false {
                continue;
            }
            let scale = if one_hot { 0.5 } else { 1.0 };
            for (k, (w, b)) in matrix(&case["coef"]).iter().zip(numbers(&case["offset"])).enumerate() {
                let w: Vec<f64> = w.iter().map(|w| w * scale).collect();
                assert_all_near(linear(&model).weights_of(k), &w, 1e-11, 0.0, "weights");
                let b = b * scale + if one_hot { 0.5 } else { 0.0 };
                assert_near(linear(&model).intercept()[k], b, 1e-11, 0.0, "intercept");
            }
            let classes = linsep::decide::classes(&data.scores(&model), data.labels.n_classes());
            let correct = classes.iter().zip(data.labels.codes()).filter(|(a, b)| a == b).count();
            assert_eq!(correct, number(&case["correct"]) as usize);
        }
    }
}

#[test]
fn lm_of_r() {
    let golden = json("least_squares_r.json");
    let cases = golden["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 5);
    for case in cases {
        let mut data = golden_data(case);
        if case["sum_column"] == true {
            data = data.with_column(|_, x| x[0] + x[1]);
        }
        for solver in [LeastSquaresSolver::Auto, LeastSquaresSolver::Cholesky, LeastSquaresSolver::Qr] {
            let model = data.model(&method(|m| m.solver = solver));
            for (k, (w, b)) in matrix(&case["coef"]).iter().zip(numbers(&case["intercept"])).enumerate() {
                // R's QR is on columns as they are, whose condition is about 1e4.
                for (found, expected) in linear(&model).weights_of(k).iter().zip(w) {
                    assert_near(*found, *expected, 1e-9, 1e-6, "weights");
                }
                assert_near(linear(&model).intercept()[k], b, 1e-10, 1.0, "intercept");
            }
            assert_near(model.objective.value, number(&case["objective"]), 1e-11, 0.0, "objective");
            let rank = number(&case["rank"]) as usize;
            let deficient = model.notes.contains(&Note::Rank { rank, columns: data.cols });
            assert_eq!(deficient, rank < data.cols, "{solver:?}: {:?}", model.notes);
        }
    }
}

//! Split-conformal sets: coverage by simulation, and that the fit never sees the rows that the sets are learned from.

use linsep::artifact::Model;
use linsep::decide::{CalibrationKind, ConformalOptions};
use linsep::design::DenseMatrix;
use linsep::model::{GaussianBayes, LossChoice, Method, RiskMinimizer};
use linsep::read::{ReadOptions, read_bytes};
use linsep::table::{Class, Labels, Table};
use linsep::watch::Watch;
use linsep::workflow::{
    Approach, Arrays, CalibrationOptions, FitOptions, TableFit, fit_arrays, fit_table, predict_design, refit_arrays,
    refit_table, verify_arrays, verify_table,
};
use rayon::prelude::*;
use testkit::data::Source;

/// Classes `N(k·1.2, 1)` with unequal shares and a column of noise; the shares are those given.
fn draw(source: &mut Source, rows: usize, shares: &[f64]) -> (Vec<f64>, Vec<Class>) {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let mut left = source.uniform(0.0, 1.0);
        let k = shares.iter().position(|s| {
            left -= s;
            left < 0.0
        });
        let k = k.unwrap_or(shares.len() - 1);
        x.extend([source.normal() + 1.2 * k as f64, source.normal()]);
        y.push(Class(k as u32));
    }
    (x, y)
}

fn names(classes: usize) -> Vec<String> {
    (0..classes).map(|k| format!("c{k}")).collect()
}

fn svm() -> Method {
    Method::Risk(RiskMinimizer { loss: LossChoice::Hinge, ..RiskMinimizer::default() })
}

fn fit(x: &[f64], y: &[Class], classes: usize, options: &FitOptions) -> Model {
    let design = DenseMatrix::new(x, 2).expect("a matrix");
    let labels = Labels::new(y.to_vec(), names(classes));
    let arrays = Arrays { design: &design, names: Vec::new(), labels, labels_are_text: true, weights: None };
    match fit_arrays(arrays, options, &Watch::default()).expect("a fit") {
        TableFit::Model(model) => *model,
        other => panic!("{other:?}"),
    }
}

/// How many of some new rows have their class in their set, of all and of each class; and how many there are.
fn covered(model: &Model, x: &[f64], y: &[Class]) -> (f64, Vec<(f64, f64)>) {
    let design = DenseMatrix::new(x, 2).expect("a matrix");
    let found = predict_design(model, &design, &Watch::default()).expect("predictions");
    let sets = model.class_sets(&found.deciding, None).expect("sets");
    let k = model.classes.len();
    let mut of_class = vec![(0.0, 0.0); k];
    for (set, class) in sets.chunks_exact(k).zip(y) {
        of_class[class.index()].0 += f64::from(u8::from(set[class.index()]));
        of_class[class.index()].1 += 1.0;
    }
    (of_class.iter().map(|c| c.0).sum::<f64>() / y.len() as f64, of_class)
}

/// The coverage over many fits lies between the level and `k/(n + 1)`, the exact value without ties. With few rows held back the
/// rank matters: a quantile without the `+ 1`, or the plain percentile, falls outside.
#[test]
fn coverage_is_what_is_promised_of_all_rows() {
    for (level, rows, held) in [(0.9, 95, 19.0_f64), (0.75, 50, 10.0), (0.5, 60, 12.0)] {
        let exact = ((held + 1.0) * level).ceil() / (held + 1.0);
        let repetitions = 2000;
        let one = |seed: u64| {
            let mut source = Source::new(1000 + seed);
            let shares = [0.55, 0.45];
            let (x, y) = draw(&mut source, rows, &shares);
            let mut options = FitOptions::new("y", Method::Gaussian(GaussianBayes::lda()));
            options.conformal = Some(ConformalOptions::new(level));
            options.seed = seed;
            let model = fit(&x, &y, 2, &options);
            assert_eq!(model.conformal.as_ref().map(|c| c.rows()), Some(held as usize));
            let (x, y) = draw(&mut source, 200, &shares);
            covered(&model, &x, &y).0
        };
        let all: Vec<f64> = (0..repetitions).into_par_iter().map(one).collect();
        let mean = all.iter().sum::<f64>() / repetitions as f64;
        let spread = (all.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / repetitions as f64).sqrt();
        let error = spread / (repetitions as f64).sqrt();
        assert!((mean - exact).abs() < 4.0 * error, "level {level}: {mean} against {exact}, error {error}");
        // The test can tell one rank from the next.
        assert!(4.0 * error < 0.7 / (held + 1.0));
    }
}

/// Of every class, also where the new rows have other shares of the classes, and where two classes are hard to tell.
#[test]
fn coverage_is_what_is_promised_of_every_class() {
    let repetitions = 600;
    let one = |seed: u64| {
        let mut source = Source::new(77 + seed);
        let (x, y) = draw(&mut source, 200, &[0.5, 0.3, 0.2]);
        let mut options = FitOptions::new("y", svm());
        options.multiclass.approach = Some(Approach::OneVsOne);
        options.conformal = Some(ConformalOptions { by_class: true, share: 0.4, ..ConformalOptions::new(0.8) });
        options.seed = seed;
        let model = fit(&x, &y, 3, &options);
        let held: Vec<usize> = model.conformal.iter().flat_map(|c| c.scores.iter().map(Vec::len)).collect();
        let exact = held.iter().map(|n| ((*n as f64 + 1.0) * 0.8).ceil() / (*n as f64 + 1.0));
        let (x, y) = draw(&mut source, 300, &[0.1, 0.1, 0.8]);
        let found = covered(&model, &x, &y).1;
        // Observed less expected, and rows, per class.
        found.iter().zip(exact).map(|((hit, n), p)| (hit - p * n, *n)).collect::<Vec<(f64, f64)>>()
    };
    let all: Vec<Vec<(f64, f64)>> = (0..repetitions).into_par_iter().map(one).collect();
    for class in 0..3 {
        let excess: Vec<f64> = all.iter().map(|c| c[class].0).collect();
        let mean = excess.iter().sum::<f64>() / repetitions as f64;
        let spread = (excess.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / repetitions as f64).sqrt();
        let error = spread / (repetitions as f64).sqrt();
        assert!(mean.abs() < 4.0 * error, "class {class}: {mean} rows more than expected, error {error}");
    }
}

fn table(rows: usize, classes: usize, seed: u64) -> Table {
    let mut source = Source::new(seed);
    let shares = vec![1.0 / classes as f64; classes];
    let (x, y) = draw(&mut source, rows, &shares);
    let mut csv = String::from("a,b,y\n");
    for (x, y) in x.chunks_exact(2).zip(&y) {
        csv.push_str(&format!("{},{},c{}\n", x[0], x[1], y.0));
    }
    read_bytes(csv.as_bytes(), "rows.csv", &ReadOptions::default()).expect("a table")
}

fn fit_of(table: &Table, options: &FitOptions) -> Model {
    match fit_table(table.clone(), options, &Watch::default()).expect("a fit") {
        TableFit::Model(model) => *model,
        other => panic!("{other:?}"),
    }
}

/// Everything that is learned is learned from the other rows alone: their labels may be anything.
#[test]
fn the_fit_never_sees_the_rows_held_back() {
    for by_class in [false, true] {
        let mut options = FitOptions::new("y", svm());
        options.conformal = Some(ConformalOptions { by_class, ..ConformalOptions::new(0.9) });
        options.calibration = Some(CalibrationOptions { kind: CalibrationKind::Platt, folds: 3 });
        options.folds = Some(3);
        options.seed = 5;
        let mut source = Source::new(11);
        let (x, y) = draw(&mut source, 120, &[0.5, 0.5]);
        let classes: Vec<Option<Class>> = y.iter().map(|c| Some(*c)).collect();
        let of = if by_class { linsep::resample::PartOf::EachClass } else { linsep::resample::PartOf::AllRows };
        let part = linsep::resample::random_part(&classes, 2, 0.2, of, 5);
        let csv = |moved: f64| {
            let mut csv = String::from("a,b,y\n");
            for (i, (x, y)) in x.chunks_exact(2).zip(&y).enumerate() {
                let by = if part[i] { moved } else { 0.0 };
                csv.push_str(&format!("{},{},c{}\n", x[0] + by, x[1] - by, y.0));
            }
            read_bytes(csv.as_bytes(), "rows.csv", &ReadOptions::default()).expect("a table")
        };
        let (one, other) = (fit_of(&csv(0.0), &options), fit_of(&csv(3.0), &options));
        assert_eq!(one.discriminant, other.discriminant);
        assert_eq!(one.calibration, other.calibration);
        assert_eq!(one.cross_validation, other.cross_validation);
        assert_eq!(one.certificate, other.certificate);
        assert_ne!(one.conformal, other.conformal);
        assert_eq!(one.training.held_back, part.iter().filter(|held| **held).count());
        assert_eq!(one.training.used + one.training.held_back, 120);
        assert_eq!((one.training.missing_target, one.training.zero_weight), (0, 0));
    }
}

/// Tables and arrays of the same rows hold the same rows back, and each verifies what the other fitted.
#[test]
fn arrays_and_tables_agree_and_verify() {
    let table = table(90, 3, 3);
    let methods = [Method::Gaussian(GaussianBayes::lda()), Method::Risk(RiskMinimizer::default()), svm()];
    for (method, by_class) in methods.into_iter().zip([false, true, false]) {
        let mut options = FitOptions::new("y", method);
        options.conformal = Some(ConformalOptions { by_class, share: 0.3, ..ConformalOptions::new(0.8) });
        options.seed = 9;
        let by_table = fit_of(&table, &options);
        for verdict in [verify_table, refit_table] {
            let verdict = verdict(&by_table, &table, &Watch::default()).expect("a verdict");
            assert!(verdict.passed(), "{:?}", verdict.checks);
            assert!(verdict.checks.iter().any(|c| c.claim == "conformal"));
        }
        let column = |j: usize| {
            let mut values = Vec::new();
            table.chunks().iter().for_each(|c| c.cells[j].for_each(|_, v| values.push(v)));
            values
        };
        let x: Vec<f64> = column(0).into_iter().zip(column(1)).flat_map(|(a, b)| [a, b]).collect();
        let y: Vec<Class> = Labels::from_column(&table, 2).0.into_iter().flatten().collect();
        let by_arrays = fit(&x, &y, 3, &options);
        assert_eq!(by_arrays.conformal, by_table.conformal);
        assert_eq!(by_arrays.training.held_back, by_table.training.held_back);
        let design = DenseMatrix::new(&x[..], 2).expect("a matrix");
        for verify in [verify_arrays, refit_arrays] {
            let labels = Labels::new(y.clone(), names(3));
            let arrays = Arrays { design: &design, names: Vec::new(), labels, labels_are_text: true, weights: None };
            let verdict = verify(&by_arrays, arrays, &Watch::default()).expect("a verdict");
            assert!(verdict.passed(), "{:?}", verdict.checks);
        }
    }
}

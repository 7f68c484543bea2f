//! Arrays in memory come to the same models as tables of the same numbers, bit for bit.

use linsep::design::{CsrMatrix, DenseMatrix, Design, Encoding};
use linsep::model::{
    GaussianBayes, KernelChoice, KernelSvmSettings, LeastSquaresSettings, LossChoice, Method, RiskMinimizer,
};
use linsep::read::{ReadOptions, read_bytes};
use linsep::table::Labels;
use linsep::workflow::{
    Arrays, FitOptions, SeparableOptions, TableFit, fit_arrays, fit_table, measure_design, predict_design,
    predict_table, separable_arrays, separable_table, support_arrays, support_tables, verify_arrays, verify_table,
};

/// Two columns, three classes that overlap a little; weights of which some are zero.
fn numbers() -> (Vec<f64>, Vec<&'static str>, Vec<f64>) {
    let (mut x, mut y, mut w) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..60u32 {
        let k = i % 3;
        let wobble = |a: u32| f64::from((i * a) % 17) / 4.0;
        x.extend([f64::from(k) * 2.0 + wobble(5), f64::from(k * k) + wobble(7)]);
        y.push(["a", "b", "c"][k as usize]);
        w.push(f64::from(i % 4));
    }
    (x, y, w)
}

fn csv(x: &[f64], y: &[&str], w: &[f64]) -> String {
    let row = |i: usize| format!("{},{},{},{}\n", x[2 * i], x[2 * i + 1], y[i], w[i]);
    "p,q,kind,w\n".to_owned() + &(0..y.len()).map(row).collect::<String>()
}

fn options(method: Method, weighted: bool) -> FitOptions {
    let mut options = FitOptions::new("kind", method);
    match weighted {
        true => options.weights = Some("w".to_owned()),
        false => options.recipe.exclude.push("w".to_owned()),
    }
    options
}

fn arrays<'a>(design: &'a dyn Design, y: &[&str], weights: Option<&'a [f64]>) -> Arrays<'a> {
    let names = vec!["p".to_owned(), "q".to_owned()];
    Arrays { design, names, labels: Labels::from_names(y.iter().copied()), labels_are_text: true, weights }
}

fn methods() -> Vec<Method> {
    let hinge = RiskMinimizer { loss: LossChoice::Hinge, ..RiskMinimizer::default() };
    let rbf = KernelSvmSettings { kernel: KernelChoice::Rbf { gamma: Some(0.5) }, ..KernelSvmSettings::default() };
    vec![Method::Risk(RiskMinimizer::default()), Method::Risk(hinge), Method::KernelSvm(rbf)]
}

#[test]
fn arrays_are_fitted_as_tables_are() {
    let (x, y, w) = numbers();
    let text = csv(&x, &y, &w);
    let matrix = DenseMatrix::new(&x[..], 2).unwrap();
    for method in methods() {
        for weighted in [false, true] {
            let read = || read_bytes(text.as_bytes(), "t.csv", &ReadOptions::default()).unwrap();
            let options = options(method.clone(), weighted);
            let TableFit::Model(by_table) = fit_table(read(), &options, &Default::default()).unwrap() else { panic!() };
            let weights = weighted.then_some(&w[..]);
            let fitted = fit_arrays(arrays(&matrix, &y, weights), &options, &Default::default()).unwrap();
            let TableFit::Model(by_arrays) = fitted else { panic!() };
            assert_eq!(by_arrays.discriminant, by_table.discriminant);
            assert_eq!(by_arrays.certificate, by_table.certificate);
            assert_eq!(by_arrays.support_vectors, by_table.support_vectors);
            assert_eq!(by_arrays.parts, by_table.parts);
            // But for how finely a column was printed, which arrays do not tell.
            let mut unprinted = by_table.recipe.clone();
            for column in &mut unprinted.columns {
                if let Encoding::Number { printed, .. } = &mut column.encoding {
                    assert!(printed.take().is_some());
                }
            }
            assert_eq!(by_arrays.recipe, unprinted);
            assert_eq!(by_arrays.training.zero_weight, if weighted { 15 } else { 0 });
            // Each proves the other's rows, the file of one the table of the other.
            assert!(verify_arrays(&by_table, arrays(&matrix, &y, weights), &Default::default()).unwrap().passed());
            let found = verify_table(&by_arrays, &read(), &Default::default()).unwrap();
            assert!(found.passed(), "{:?}", found.checks);
            let predicted = predict_design(&by_arrays, &matrix, &Default::default()).unwrap();
            assert_eq!(predicted, predict_table(&by_table, &read(), None, &Default::default()).unwrap());
            if method != methods()[0] {
                let of_table = support_tables(&by_table, &read(), &Default::default()).unwrap();
                let of_arrays = support_arrays(&by_arrays, arrays(&matrix, &y, weights), &Default::default()).unwrap();
                assert_eq!(of_arrays, of_table);
            }
        }
    }
}

#[test]
fn another_label_is_noticed() {
    let (x, mut y, _) = numbers();
    let matrix = DenseMatrix::new(&x[..], 2).unwrap();
    let options = options(methods()[0].clone(), false);
    let TableFit::Model(model) = fit_arrays(arrays(&matrix, &y, None), &options, &Default::default()).unwrap() else {
        panic!()
    };
    y.swap(0, 1);
    assert!(!verify_arrays(&model, arrays(&matrix, &y, None), &Default::default()).unwrap().passed());
}

#[test]
fn sparse_rows_are_borrowed_and_measured() {
    let (x, y, _) = numbers();
    let starts: Vec<usize> = (0..=60).map(|i| 2 * i).collect();
    let columns: Vec<u32> = (0..120).map(|i| i % 2).collect();
    let sparse = CsrMatrix::new(&starts[..], &columns[..], &x[..], 2).unwrap();
    let dense = DenseMatrix::new(&x[..], 2).unwrap();
    let options = options(methods()[0].clone(), false);
    let TableFit::Model(model) = fit_arrays(arrays(&sparse, &y, None), &options, &Default::default()).unwrap() else {
        panic!()
    };
    let by_dense = measure_design(&model, &dense, &Default::default()).unwrap();
    let by_sparse = measure_design(&model, &sparse, &Default::default()).unwrap();
    for (a, b) in by_dense.rows.iter().zip(&by_sparse.rows) {
        assert_eq!(a.class, b.class);
        assert!((a.distance - b.distance).abs() <= 1e-12 * a.distance.abs().max(1.0));
    }
}

#[test]
fn rows_without_weight_do_not_overlap() {
    let x = DenseMatrix::new(vec![-2.0, -1.0, 1.0, 2.0, 2.0], 1).unwrap();
    let y = ["a", "a", "b", "b", "a"];
    let weights = [1.0, 1.0, 1.0, 1.0, 0.0];
    let given = |weights| Arrays {
        design: &x,
        names: vec!["x".to_owned()],
        labels: Labels::from_names(y),
        labels_are_text: true,
        weights,
    };
    let asked = SeparableOptions::new("y");
    assert!(separable_arrays(given(Some(&weights[..])), &asked, &Default::default()).unwrap().is_complete());
    assert!(!separable_arrays(given(None), &asked, &Default::default()).unwrap().is_complete());
    let csv = b"x,y\n-2,a\n-1,a\n1,b\n2,b\n2,a\n";
    let table = read_bytes(csv, "t.csv", &ReadOptions::default()).unwrap();
    assert!(!separable_table(table, &asked, &Default::default()).unwrap().is_complete());
}

#[test]
fn what_does_not_fit_is_refused() {
    let (x, y, w) = numbers();
    let matrix = DenseMatrix::new(&x[..], 2).unwrap();
    let options = options(methods()[0].clone(), false);
    let refused = |arrays: Arrays<'_>, words: &str| {
        let error = fit_arrays(arrays, &options, &Default::default()).unwrap_err();
        assert!(error.message().contains(words), "{}", error.message());
    };
    refused(arrays(&matrix, &y[1..], None), "59 labels for 60 rows");
    refused(arrays(&matrix, &y, Some(&w[1..])), "59 weights for 60 rows");
    refused(Arrays { names: vec!["p".to_owned()], ..arrays(&matrix, &y, None) }, "1 names for 2 columns");
    let missing = DenseMatrix::new(vec![f64::NAN; 120], 2).unwrap();
    refused(arrays(&missing, &y, None), "NaN");
}

#[test]
fn a_sparse_column_of_one_value_has_no_spread() {
    let (x, y, _) = numbers();
    // Seven tenths in every row: its square is rounded, and so would be the difference of sums of squares.
    let values: Vec<f64> = x.chunks_exact(2).flat_map(|row| [0.7, row[0], row[1]]).collect();
    let starts: Vec<usize> = (0..=60).map(|i| 3 * i).collect();
    let columns: Vec<u32> = (0..180).map(|i| i % 3).collect();
    let sparse = CsrMatrix::new(&starts[..], &columns[..], &values[..], 3).unwrap();
    let dense = DenseMatrix::new(&values[..], 3).unwrap();
    let names = || ["c", "p", "q"].map(str::to_owned).to_vec();
    for method in [Method::LeastSquares(LeastSquaresSettings::default()), Method::Gaussian(GaussianBayes::lda())] {
        let fitted = |design: &dyn Design| {
            let given = Arrays { names: names(), ..arrays(design, &y, None) };
            let fit = fit_arrays(given, &options(method.clone(), false), &Default::default()).unwrap();
            let TableFit::Model(model) = fit else { panic!() };
            model
        };
        let (of_sparse, of_dense) = (fitted(&sparse), fitted(&dense));
        let found =
            verify_arrays(&of_sparse, Arrays { names: names(), ..arrays(&sparse, &y, None) }, &Default::default());
        assert!(found.as_ref().unwrap().passed(), "{:?}", found.unwrap().checks);
        let weights = |model: &linsep::artifact::Model| model.discriminant.as_linear().unwrap().weights_of(0).to_vec();
        assert_eq!(weights(&of_sparse)[0], 0.0);
        for (a, b) in weights(&of_sparse).iter().zip(&weights(&of_dense)) {
            assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{a} and {b}");
        }
    }
}

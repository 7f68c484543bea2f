//! Inference about Gaussian classes and least squares: against statsmodels and 50 digits, and by the theorems that tie them together.

use linsep::design::{DenseMatrix, Training};
use linsep::infer::{
    CovarianceKind, GaussianInference, MeanStatistic, MeanTest, SquaresInference, Subject, infer_gaussian,
    infer_least_squares,
};
use linsep::model::CovarianceShape;
use linsep::read::{ReadOptions, read_bytes};
use linsep::table::{Labels, Table};
use linsep::watch::Watch;
use linsep::workflow::{ClassicalAnswer, ClassicalModel, InferOptions, infer_classical};
use rayon::prelude::*;
use serde_json::Value;
use testkit::data::Source;
use testkit::golden::{json, number, numbers, root};

/// The rows of a golden table that have all cells, with its dots in names as underscores.
fn complete(name: &str) -> Table {
    let path = root().join("golden/data").join(format!("{name}.csv"));
    let text = std::fs::read_to_string(path).expect("a golden table");
    let mut lines = text.lines();
    let header = lines.next().expect("a header").replace('.', "_");
    let whole = |line: &&str| line.split(',').all(|cell| !cell.is_empty() && cell != "NA");
    let rows: Vec<&str> = lines.filter(whole).collect();
    let csv = format!("{header}\n{}\n", rows.join("\n"));
    read_bytes(csv.as_bytes(), "rows.csv", &ReadOptions::default()).expect("a table")
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().expect("a list").iter().map(|v| v.as_str().expect("a text").to_owned()).collect()
}

#[track_caller]
fn close(found: f64, golden: f64, relative: f64) {
    assert!((found - golden).abs() <= relative * golden.abs(), "{found} against {golden}");
}

/// p values agree relative to themselves, however small.
#[track_caller]
fn same_test(found: &MeanTest, golden: &Value) {
    close(found.value, golden.get("value").map_or(found.value, number), 1e-10);
    close(found.f, number(&golden["f"]), 1e-9);
    if let Some(df) = golden.get("df") {
        close(found.df.0, numbers(df)[0], 1e-12);
        close(found.df.1, numbers(df)[1], 1e-10);
    }
    let log10_p = found.ln_p / std::f64::consts::LN_10;
    assert!((log10_p - number(&golden["log10_p"])).abs() < 1e-6, "{log10_p} against {}", golden["log10_p"]);
}

fn gaussian(case: &Value, shape: CovarianceShape) -> GaussianInference {
    let mut options = InferOptions::new(case["target"].as_str().expect("a target"));
    options.recipe.features = Some(texts(&case["features"]));
    let table = complete(case["data"].as_str().expect("a table"));
    match infer_classical(table, &options, ClassicalModel::Gaussian(shape), &Watch::default())
        .expect("an answer")
        .answer
    {
        ClassicalAnswer::Gaussian(found) => found,
        other => panic!("{other:?}"),
    }
}

fn test_of(found: &GaussianInference, statistic: MeanStatistic) -> &MeanTest {
    found.equal_means.iter().find(|t| t.statistic == statistic).expect("a test")
}

#[test]
fn gaussian_classes_are_those_of_statsmodels() {
    let all = json("classical.json");
    for case in all["gaussian"].as_array().expect("cases") {
        let shared = gaussian(case, CovarianceShape::Shared);
        let own = gaussian(case, CovarianceShape::Own);
        let spherical = gaussian(case, CovarianceShape::Spherical);
        for (found, golden) in [(&shared, &case["shared"]), (&own, &case["own"])] {
            for (k, class) in found.classes.iter().enumerate() {
                assert_eq!(class.n, numbers(&case["counts"])[k]);
                close(class.share.low, numbers(&case["share_low"])[k], 1e-10);
                close(class.share.high, numbers(&case["share_high"])[k], 1e-10);
                let lines = &golden["means"][k];
                for (j, line) in class.means.iter().enumerate() {
                    close(line.mean.estimate, numbers(&lines["mean"])[j], 1e-13);
                    close(line.se, numbers(&lines["se"])[j], 1e-11);
                    close(line.mean.low, numbers(&lines["low"])[j], 1e-10);
                }
                let set = class.mean_set.as_ref().expect("a set");
                close(set.radius_squared, numbers(&golden["radius_squared"])[k], 1e-9);
                let variances = class.variances.as_ref().or(found.variances.as_ref()).expect("variances");
                for (j, variance) in variances.iter().enumerate() {
                    close(variance.low, numbers(&golden["variances"][k]["low"])[j], 1e-9);
                    close(variance.high, numbers(&golden["variances"][k]["high"])[j], 1e-9);
                }
            }
        }
        same_test(test_of(&shared, MeanStatistic::Wilks), &case["wilks"]);
        same_test(test_of(&shared, MeanStatistic::Pillai), &case["pillai"]);
        same_test(test_of(&spherical, MeanStatistic::Spherical), &case["spherical"]);
        for (found, golden) in shared.columns.as_ref().expect("columns").iter().zip(numbers(&case["columns"])) {
            close(found.f, golden, 1e-9);
        }
        if case.get("hotelling").is_some() {
            same_test(test_of(&shared, MeanStatistic::Hotelling), &case["hotelling"]);
            same_test(test_of(&own, MeanStatistic::HotellingUnequal), &case["unequal"]);
        }
        let found = shared.equal_covariances.as_ref().expect("Box's M");
        close(found.m, number(&case["box"]["m"]), 1e-9);
        close(found.chi_squared, number(&case["box"]["chi_squared"]), 1e-9);
        close(found.df, number(&case["box"]["df"]), 1e-12);
        close(found.f, number(&case["box"]["f"]), 1e-9);
        close(found.f_df.1, number(&case["box"]["f_df"][1]), 1e-9);
        let log10_p = found.ln_p / std::f64::consts::LN_10;
        assert!((log10_p - number(&case["box"]["log10_p"])).abs() < 1e-6);
    }
}

fn squares(case: &Value, covariance: CovarianceKind) -> SquaresInference {
    let mut options = InferOptions::new(case["target"].as_str().expect("a target"));
    let features = texts(&case["numbers"]).into_iter().chain(texts(&case["text"])).collect();
    options.recipe.features = Some(features);
    options.inference.covariance = covariance;
    let table = complete(case["data"].as_str().expect("a table"));
    match infer_classical(table, &options, ClassicalModel::LeastSquares, &Watch::default()).expect("an answer").answer {
        ClassicalAnswer::LeastSquares(found) => found,
        other => panic!("{other:?}"),
    }
}

/// The golden columns are numbers first, then levels; linsep has them in the order of the table.
fn place(found: &SquaresInference, case: &Value, feature: Option<usize>) -> usize {
    let Some(feature) = feature else { return 0 };
    let name = &found.features[feature];
    let numbers = texts(&case["numbers"]);
    match numbers.iter().position(|n| n == name) {
        Some(at) => 1 + at,
        None => {
            let levels: Vec<&String> = found.features.iter().filter(|f| f.contains('=')).collect();
            1 + numbers.len() + levels.iter().position(|f| *f == name).expect("a level")
        }
    }
}

#[test]
fn least_squares_is_that_of_statsmodels() {
    let all = json("classical.json");
    for case in all["least_squares"].as_array().expect("cases") {
        let two = case["classes"].as_array().map(Vec::len) == Some(2);
        let kinds =
            [CovarianceKind::Model, CovarianceKind::Hc0, CovarianceKind::Hc1, CovarianceKind::Hc2, CovarianceKind::Hc3];
        for kind in kinds {
            let found = squares(case, kind);
            for line in &found.coefficients {
                let golden = &case["classes_lines"][if two { 0 } else { line.class }];
                let at = place(&found, case, line.feature);
                close(line.estimate, numbers(&golden["estimate"])[at], 1e-9);
                let robust = if kind == CovarianceKind::Model { "hc3" } else { kind.name() };
                close(line.robust_se, numbers(&golden[robust])[at], 1e-9);
                // Text columns are not Gaussian: their errors are robust.
                let plain = case["text"].as_array().is_some_and(Vec::is_empty);
                assert!(found.may_be_gaussian == plain);
                if kind == CovarianceKind::Model && !(two && plain) {
                    assert_eq!(line.se, line.robust_se);
                }
                if kind == CovarianceKind::Model && two && plain {
                    close(line.se, numbers(&golden["se"])[at], 1e-9);
                    close(line.t, numbers(&golden["t"])[at], 1e-8);
                    assert_eq!(line.ln_p.is_some(), line.feature.is_some());
                }
            }
            for golden in case["terms"].as_array().expect("terms") {
                match golden["name"].as_str() {
                    Some("(all)") => same_test(found.overall.as_ref().expect("a test"), golden),
                    name => {
                        let term = found.terms.iter().find(|t| Some(t.name.as_str()) == name).expect("a term");
                        same_test(&term.test, golden);
                    }
                }
            }
            if two {
                close(found.r_squared.expect("R²"), number(&case["r_squared"]), 1e-10);
            }
        }
    }
}

fn rows(source: &mut Source, n: usize, d: usize, delta: f64) -> (Vec<f64>, Vec<&'static str>) {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for i in 0..n {
        let second = i % 3 == 0;
        let common = source.normal();
        for j in 0..d {
            // Correlated columns; only the first has another mean.
            x.push(source.normal() + 0.7 * common + if j == 0 && second { delta } else { 0.0 });
        }
        y.push(if second { "b" } else { "a" });
    }
    (x, y)
}

fn asked(x: &[f64], d: usize, y: &[&str], weights: Option<&[f64]>) -> (GaussianInference, SquaresInference) {
    let design = DenseMatrix::new(x, d).expect("a matrix");
    let labels = Labels::from_names(y.iter().copied());
    let training = Training { weights, ..Training::new(&design, &labels) };
    let names: Vec<String> = (0..d).map(|j| format!("x{j}")).collect();
    let gaussian = infer_gaussian(&training, names.clone(), (CovarianceShape::Shared, 0.95), &Watch::default())
        .expect("an answer");
    let subject = Subject::of_columns(training, names);
    let squares = infer_least_squares(&subject, (CovarianceKind::Model, 0.95), &Watch::default()).expect("an answer");
    (gaussian, squares)
}

/// Regression of the classes on the columns is comparison of the columns between the classes: the same F.
#[test]
fn the_f_of_least_squares_is_that_of_hotelling() {
    let mut source = Source::new(3);
    for (n, d) in [(12, 2), (40, 5), (31, 1)] {
        let (x, y) = rows(&mut source, n, d, 0.8);
        let (gaussian, squares) = asked(&x, d, &y, None);
        let (hotelling, overall) = (gaussian.equal_means[0], squares.overall.expect("a test"));
        assert_eq!(hotelling.statistic, MeanStatistic::Hotelling);
        close(overall.f, hotelling.f, 1e-10);
        assert_eq!(overall.df, hotelling.df);
        // Two classes: Wilks and Pillai are the same test.
        gaussian.equal_means.iter().for_each(|t| close(t.f, hotelling.f, 1e-9));
        // And t² is the F of a term.
        for (line, term) in squares.coefficients[1..].iter().zip(&squares.terms) {
            close(line.t * line.t, term.test.f, 1e-8);
        }
    }
}

/// A row of weight k is k rows, in everything.
#[test]
fn weights_are_copies() {
    let mut source = Source::new(8);
    let (x, y) = rows(&mut source, 30, 3, 1.0);
    let weights: Vec<f64> = (0..30).map(|i| f64::from(1 + i % 3)).collect();
    let (mut many_x, mut many_y) = (Vec::new(), Vec::new());
    for i in 0..30 {
        for _ in 0..weights[i] as usize {
            many_x.extend_from_slice(&x[3 * i..3 * i + 3]);
            many_y.push(y[i]);
        }
    }
    let (weighted, copies) = (asked(&x, 3, &y, Some(&weights)), asked(&many_x, 3, &many_y, None));
    for (a, b) in weighted.0.equal_means.iter().zip(&copies.0.equal_means) {
        close(a.f, b.f, 1e-10);
        assert_eq!(a.df, b.df);
    }
    for (a, b) in weighted.0.classes.iter().zip(&copies.0.classes) {
        close(a.means[1].mean.low, b.means[1].mean.low, 1e-10);
        assert_eq!(a.share, b.share);
    }
    for (a, b) in weighted.1.coefficients.iter().zip(&copies.1.coefficients) {
        close(a.se, b.se, 1e-10);
        close(a.robust_se, b.robust_se, 1e-10);
    }
}

/// Intervals and sets of means cover with their level, with twelve rows.
#[test]
fn intervals_and_sets_of_means_are_exact_for_gaussian_classes() {
    let repetitions = 2000;
    let one = |seed: u64| {
        let (x, y) = rows(&mut Source::new(500 + seed), 12, 3, 1.5);
        let (gaussian, _) = asked(&x, 3, &y, None);
        let covers = |k: usize, truth: f64| {
            let line = &gaussian.classes[k].means[0].mean;
            line.low <= truth && truth <= line.high
        };
        let set = gaussian.classes[0].mean_set.as_ref().expect("a set");
        // Along the axes: z = (truth − centre) in units of the half-lengths lies in the unit ball.
        let off: Vec<f64> = set.centre.iter().map(|c| -c).collect();
        let inside: f64 = set
            .directions
            .iter()
            .zip(&set.half_lengths)
            .map(|(u, h)| (u.iter().zip(&off).map(|(u, o)| u * o).sum::<f64>() / h).powi(2))
            .sum();
        (covers(0, 0.0), covers(1, 1.5), inside <= 1.0)
    };
    let all: Vec<(bool, bool, bool)> = (0..repetitions).into_par_iter().map(one).collect();
    let share =
        |hit: &dyn Fn(&(bool, bool, bool)) -> bool| all.iter().filter(|c| hit(c)).count() as f64 / repetitions as f64;
    // 0.95 with a standard error of 0.0049.
    for found in [share(&|c| c.0), share(&|c| c.1), share(&|c| c.2)] {
        assert!((found - 0.95).abs() < 0.02, "{found}");
    }
}

/// The partial F is uniform under its hypothesis for classes that differ in another column, with as few rows as there can be.
#[test]
fn the_partial_f_is_exact_for_gaussian_classes() {
    let repetitions = 2000;
    let one = |seed: u64| {
        let mut source = Source::new(90_000 + seed);
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for i in 0..9 {
            let second = i < 4;
            let first = source.normal() + if second { 2.0 } else { 0.0 };
            // Given the first column, the second does not depend on the class.
            x.extend([first, 0.5 * first + source.normal()]);
            y.push(if second { "b" } else { "a" });
        }
        let (_, squares) = asked(&x, 2, &y, None);
        squares.terms[1].test.ln_p.exp()
    };
    let p: Vec<f64> = (0..repetitions).into_par_iter().map(one).collect();
    for level in [0.05, 0.2, 0.5] {
        let found = p.iter().filter(|p| **p < level).count() as f64 / repetitions as f64;
        let error = (level * (1.0 - level) / repetitions as f64).sqrt();
        assert!((found - level).abs() < 4.0 * error, "{found} at {level}");
    }
}

/// Box's M and the test with own covariances keep their level about.
#[test]
fn approximate_tests_are_near_their_level() {
    let repetitions = 2000;
    let one = |seed: u64| {
        let mut source = Source::new(40_000 + seed);
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for i in 0..40 {
            let second = i % 3 == 0;
            let scale = if second { 3.0 } else { 1.0 };
            x.extend([scale * source.normal(), scale * source.normal()]);
            y.push(if second { "b" } else { "a" });
        }
        let design = DenseMatrix::new(&x[..], 2).expect("a matrix");
        let labels = Labels::from_names(y.iter().copied());
        let training = Training::new(&design, &labels);
        let names = vec!["x".to_owned(), "z".to_owned()];
        let own = infer_gaussian(&training, names.clone(), (CovarianceShape::Own, 0.95), &Watch::default())
            .expect("an answer");
        let (equal_x, equal_y) = rows(&mut source, 40, 2, 1.0);
        let (shared, _) = asked(&equal_x, 2, &equal_y, None);
        (own.equal_means[0].ln_p < 0.05_f64.ln(), shared.equal_covariances.expect("a test").f_ln_p < 0.05_f64.ln())
    };
    let all: Vec<(bool, bool)> = (0..repetitions).into_par_iter().map(one).collect();
    let share = |hit: &dyn Fn(&(bool, bool)) -> bool| all.iter().filter(|c| hit(c)).count() as f64 / repetitions as f64;
    for found in [share(&|c| c.0), share(&|c| c.1)] {
        assert!((0.035..0.067).contains(&found), "{found}");
    }
}

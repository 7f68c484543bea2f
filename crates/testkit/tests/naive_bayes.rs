//! Naive Bayes: the identities of its weights, a textbook twin, statistics that merge and shrink, golden values.

use linsep::certify::Certificate;
use linsep::density::{Density, Family};
use linsep::design::{Basis, ColumnOrigin, CsrMatrix};
use linsep::discriminant::{Discriminant, Linear};
use linsep::model::{Divisor, FamilyChoice, Fitted, Method, NaiveBayes, Note, SmoothedBy};
use linsep::read::{ReadOptions, read_bytes};
use linsep::stats::{ClassColumns, Run, Sums, Support};
use linsep::table::Class;
use linsep::watch::Watch;
use linsep::workflow::{FitOptions, TableFit, fit_table, predict_table, verify_table};
use serde_json::Value;
use testkit::data::{Data, Source, expect_model, labels, posterior};
use testkit::golden::{json, matrix, number, numbers, root};
use testkit::{assert_all_near, assert_near};

use FamilyChoice::{
    Bernoulli, Binomial, Categorical, Exponential, Gamma, Gaussian, GaussianShared, Geometric, Multinomial, Poisson,
};

fn watch() -> Watch {
    Watch::default()
}

fn method(numbers: FamilyChoice) -> NaiveBayes {
    NaiveBayes { divisor: Divisor::Mle, ..NaiveBayes::of(numbers) }
}

/// Random rows in the support of a family, with classes that differ and overlap.
fn rows_of(family: FamilyChoice, rows: usize, cols: usize, classes: usize, seed: u64) -> Data {
    let mut source = Source::new(seed);
    let codes: Vec<usize> = (0..rows).map(|i| if i < classes { i } else { source.below(classes) }).collect();
    let mut values = Vec::with_capacity(rows * cols);
    for (i, class) in codes.iter().enumerate() {
        for j in 0..cols {
            let v = source.normal() + 0.4 * (class * (j + 1)) as f64;
            values.push(match family {
                // Both values in every class, whatever the smoothing.
                Bernoulli => f64::from(u8::from(if i < 2 * classes { i < classes } else { v > 0.5 })),
                Binomial(n) => (v.abs() * 1.5).floor().min(f64::from(n)),
                Poisson | Geometric | Multinomial => (v.abs() * 2.0).floor() + if i < classes { 1.0 } else { 0.0 },
                Exponential | Gamma => v.abs() + 0.01,
                Gaussian | GaussianShared => v,
                _ => panic!("no rows for {family}"),
            });
        }
    }
    Data::new(values, cols, labels(codes, classes))
}

fn linear(model: &Fitted) -> &Linear {
    model.discriminant.as_linear().expect("a linear model")
}

fn residual(certificate: &Certificate) -> f64 {
    let Certificate::ClosedForm { relative_residual, .. } = certificate else { panic!("no closed form") };
    *relative_residual
}

const COUNTED: [FamilyChoice; 6] = [Bernoulli, Binomial(4), Poisson, Geometric, Exponential, Multinomial];
const ALL: [FamilyChoice; 9] =
    [Bernoulli, Binomial(4), Poisson, Geometric, Exponential, Multinomial, Gaussian, GaussianShared, Gamma];

/// Sums of one column within one class: n, Σsx, Σs(x−mean)².
fn sums(data: &Data, class: usize, j: usize) -> (f64, f64, f64) {
    let rows = || (0..data.rows()).filter(|i| data.class(*i) == class);
    let n: f64 = rows().map(|i| data.weight(i)).sum();
    let total: f64 = rows().map(|i| data.weight(i) * data.row(i)[j]).sum();
    (n, total, rows().map(|i| data.weight(i) * (data.row(i)[j] - total / n).powi(2)).sum())
}

/// `w` and `w₀` of naive Bayes for two classes, from sums over the rows.
fn textbook_weights(data: &Data, family: FamilyChoice, alpha: f64) -> (Vec<f64>, f64) {
    let n: Vec<f64> = (0..2).map(|k| sums(data, k, 0).0).collect();
    let mut intercept = (n[1] / n[0]).ln();
    let mut weights = Vec::new();
    for j in 0..data.cols {
        let t: Vec<f64> = (0..2).map(|k| sums(data, k, j).1).collect();
        let overall = (t[0] + t[1]) / (n[0] + n[1]);
        match family {
            Bernoulli => {
                let p: Vec<f64> = (0..2).map(|k| (t[k] + alpha) / (n[k] + 2.0 * alpha)).collect();
                weights.push((p[1] * (1.0 - p[0]) / ((1.0 - p[1]) * p[0])).ln());
                intercept += ((1.0 - p[1]) / (1.0 - p[0])).ln();
            }
            Poisson => {
                let l: Vec<f64> = (0..2).map(|k| (t[k] + alpha * overall) / (n[k] + alpha)).collect();
                weights.push((l[1] / l[0]).ln());
                intercept += l[0] - l[1];
            }
            GaussianShared => {
                let variance = (sums(data, 0, j).2 + sums(data, 1, j).2) / (n[0] + n[1]);
                let (a, b) = (t[1] / n[1], t[0] / n[0]);
                weights.push((a - b) / variance);
                intercept -= (a * a - b * b) / (2.0 * variance);
            }
            Multinomial => {
                let all = |k: usize| (0..data.cols).map(|j| sums(data, k, j).1).sum::<f64>() + alpha * data.cols as f64;
                weights.push(((t[1] + alpha) / all(1) / ((t[0] + alpha) / all(0))).ln());
            }
            _ => panic!("no formula in C6 for {family}"),
        }
    }
    (weights, intercept)
}

#[test]
fn two_classes_have_the_weights_of_the_formulas() {
    for family in [Bernoulli, Poisson, GaussianShared, Multinomial] {
        for alpha in [0.0, 1.0, 0.3] {
            let data = rows_of(family, 120, 4, 2, 3).weighted((0..120).map(|i| 1.0 + (i % 3) as f64).collect());
            let model = data.model(&Method::NaiveBayes(NaiveBayes { smoothing: alpha, ..method(family) }));
            let (weights, intercept) = textbook_weights(&data, family, alpha);
            assert_all_near(linear(&model).weights_of(0), &weights, 1e-12, 0.0, &format!("{family}: w"));
            assert_near(linear(&model).intercept()[0], intercept, 1e-12, 1.0, &format!("{family}: w₀"));
        }
    }
}

/// One rule adds to each variance a share of the column's own overall variance, the other of the largest one: where all columns
/// have the same overall variance they are one rule, elsewhere they are not.
#[test]
fn smoothing_by_the_largest_variance_depends_on_units() {
    let scores = |by: SmoothedBy, data: &Data| {
        let method = NaiveBayes { variance_smoothing: 0.1, smoothed_by: by, ..method(Gaussian) };
        let model = data.model(&Method::NaiveBayes(method));
        assert!(residual(&model.certificate) < 1e-12);
        data.scores(&model)
    };
    let data = rows_of(Gaussian, 60, 3, 3, 8).map(|j, v| v * 10f64.powi(j as i32));
    let spread: Vec<f64> = (0..3)
        .map(|j| {
            let column: Vec<f64> = (0..60).map(|i| data.row(i)[j]).collect();
            let mean = column.iter().sum::<f64>() / 60.0;
            (column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 60.0).sqrt()
        })
        .collect();
    let alike = data.map(|j, v| v / spread[j]);
    let own = scores(SmoothedBy::Own, &alike);
    assert_all_near(&scores(SmoothedBy::Largest, &alike), &own, 1e-10, 1e-10, "columns alike");
    // The units of a column do not matter to the first rule, and do to the second.
    assert_all_near(&scores(SmoothedBy::Own, &data), &own, 1e-10, 1e-10, "own");
    let moved = scores(SmoothedBy::Largest, &data).iter().zip(&own).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(moved > 0.1, "{moved}");
}

fn factorial_ln(n: f64) -> f64 {
    (1..=n as u64).map(|i| (i as f64).ln()).sum()
}

/// `ln p(x|class)` of one column with its mass function or density written out.
fn log_density(data: &Data, family: FamilyChoice, alpha: f64, class: usize, j: usize, x: f64) -> f64 {
    let classes = data.labels.n_classes();
    let (n, total, squares) = sums(data, class, j);
    let all: Vec<(f64, f64, f64)> = (0..classes).map(|k| sums(data, k, j)).collect();
    let weight: f64 = all.iter().map(|s| s.0).sum();
    let overall = all.iter().map(|s| s.1).sum::<f64>() / weight;
    let mean = (total + alpha * overall) / (n + alpha);
    let normal = |mean: f64, v: f64| -(x - mean).powi(2) / (2.0 * v) - (2.0 * std::f64::consts::PI * v).sqrt().ln();
    match family {
        Bernoulli => {
            let p = (total + alpha) / (n + 2.0 * alpha);
            if x == 1.0 { p.ln() } else { (1.0 - p).ln() }
        }
        Binomial(trials) => {
            let t = f64::from(trials);
            let p = (total + alpha) / (n * t + 2.0 * alpha);
            factorial_ln(t) - factorial_ln(x) - factorial_ln(t - x) + x * p.ln() + (t - x) * (1.0 - p).ln()
        }
        Poisson => x * mean.ln() - mean - factorial_ln(x),
        Exponential => -(x / mean) - mean.ln(),
        Geometric => (1.0 / (1.0 + mean)).ln() + x * (1.0 - 1.0 / (1.0 + mean)).ln(),
        Gaussian => normal(total / n, squares / n),
        GaussianShared => normal(total / n, all.iter().map(|s| s.2).sum::<f64>() / weight),
        Multinomial => {
            let every: f64 = (0..data.cols).map(|j| sums(data, class, j).1).sum();
            x * ((total + alpha) / (every + alpha * data.cols as f64)).ln() - factorial_ln(x)
        }
        _ => panic!("no twin for {family}"),
    }
}

#[test]
fn posteriors_and_objective_are_those_of_bayes_rule() {
    for family in ALL.into_iter().filter(|f| *f != Gamma) {
        for (classes, alpha) in [(2, 1.0), (3, 0.5), (4, 2.0)] {
            let data = rows_of(family, 90, 3, classes, 11).weighted((0..90).map(|i| 0.5 + (i % 4) as f64).collect());
            let model = data.model(&Method::NaiveBayes(NaiveBayes { smoothing: alpha, ..method(family) }));
            let totals: Vec<f64> = (0..classes).map(|k| sums(&data, k, 0).0).collect();
            let weight: f64 = totals.iter().sum();
            let k = model.discriminant.n_scores();
            let scores = data.scores(&model);
            let mut objective = 0.0;
            for i in 0..data.rows() {
                let joint: Vec<f64> = (0..classes)
                    .map(|c| {
                        let columns = (0..3).map(|j| log_density(&data, family, alpha, c, j, data.row(i)[j]));
                        (totals[c] / weight).ln() + columns.sum::<f64>()
                    })
                    .collect();
                objective -= data.weight(i) / weight * joint[data.class(i)];
                assert_all_near(&posterior(&scores[i * k..(i + 1) * k]), &posterior(&joint), 1e-11, 1.0, "posterior");
            }
            assert!(residual(&model.certificate) < 1e-13, "{family}: {:e}", residual(&model.certificate));
            // Without the factors that have no parameter.
            let base = |i: usize| -> f64 {
                let term = |x: f64| match family {
                    Poisson | Multinomial => factorial_ln(x),
                    Binomial(n) => factorial_ln(x) + factorial_ln(f64::from(n) - x) - factorial_ln(f64::from(n)),
                    _ => 0.0,
                };
                data.row(i).iter().map(|x| term(*x)).sum()
            };
            objective -= (0..data.rows()).map(|i| data.weight(i) / weight * base(i)).sum::<f64>();
            assert_near(model.objective.value, objective, 1e-12, 1.0, &format!("{family}: objective"));
        }
    }
}

/// The rows of a golden case, with the origins of its columns.
fn golden_rows(case: &Value) -> (Data, Vec<ColumnOrigin>) {
    let cols = number(&case["cols"]) as usize;
    let codes: Vec<usize> = numbers(&case["y"]).iter().map(|y| *y as usize).collect();
    let data = Data::new(numbers(&case["x"]), cols, labels(codes, number(&case["classes"]) as usize));
    let data = match &case["weights"] {
        Value::Null => data,
        weights => data.weighted(numbers(weights)),
    };
    let mut start = 0;
    let levels = case.get("levels").map(numbers).unwrap_or_default();
    let origin = |n: &f64| {
        let columns = start..start + *n as usize;
        start = columns.end;
        ColumnOrigin { name: format!("text {start}"), columns, levels: true }
    };
    (data, levels.iter().map(origin).collect())
}

#[test]
fn posteriors_of_scikit_learn_and_scipy() {
    let golden = json("naive_bayes.json");
    let cases = golden["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 14);
    for case in cases {
        let family: FamilyChoice = case["family"].as_str().expect("a family").parse().expect("a family");
        let (data, origins) = golden_rows(case);
        let priors = case.get("priors").filter(|p| !p.is_null()).map(numbers);
        let numbers_are = if family == Categorical { Gaussian } else { family };
        let settings = NaiveBayes { smoothing: number(&case["alpha"]), priors, ..method(numbers_are) };
        let design = data.dense();
        let training = data.training(&design).with_origins(&origins);
        let model = expect_model(Method::NaiveBayes(settings).fit(&training, &watch()));
        let k = model.discriminant.n_scores();
        let found: Vec<f64> = data.scores(&model).chunks_exact(k).flat_map(posterior).collect();
        let expected = numbers(&case["posterior"]);
        assert_all_near(&found, &expected, 1e-10, 1.0, &format!("{family}"));
        for (p, q) in found.iter().zip(&expected).filter(|(_, q)| **q > 1e-280) {
            assert_near(p.ln(), q.ln(), 1e-9, 1.0, &format!("{family}: log posterior"));
        }
        assert!(residual(&model.certificate) < 1e-12, "{family}: {:e}", residual(&model.certificate));
    }
}

#[test]
fn poisson_classes_of_r() {
    let golden = json("naive_bayes_r.json");
    let cases = golden["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 4);
    for case in cases {
        let (data, _) = golden_rows(case);
        let priors = case.get("priors").filter(|p| !p.is_null()).map(numbers);
        let settings = NaiveBayes { smoothing: number(&case["alpha"]), priors, ..method(Poisson) };
        let model = data.model(&Method::NaiveBayes(settings));
        let k = model.discriminant.n_scores();
        let odds = |z: &[f64]| if k == 1 { z.to_vec() } else { z[1..].iter().map(|v| v - z[0]).collect() };
        let found: Vec<f64> = data.scores(&model).chunks_exact(k).flat_map(odds).collect();
        // R sums logarithms of densities of about 300: its own rounding is that of such sums.
        assert_all_near(&found, &matrix(&case["log_odds"]).concat(), 1e-12, 300.0, "log-odds");
        assert_near(model.objective.value, number(&case["objective"]), 1e-12, 300.0, "objective");
        let Some(Density::Independent { marginals }) = model.density.map(|d| d.density) else { panic!("densities") };
        for (j, marginal) in marginals.iter().enumerate() {
            let Family::Poisson { rate } = &marginal.family else { panic!("{marginal:?}") };
            let expected: Vec<f64> = matrix(&case["rates"]).iter().map(|rates| rates[j]).collect();
            assert_all_near(rate, &expected, 1e-14, 0.0, "rates");
        }
    }
}

/// A basis makes more columns, and they are columns like any: the same model as of a table that has them.
#[test]
fn products_of_a_basis_are_columns_of_their_own() {
    let mut source = Source::new(71);
    let (mut plain, mut wide) = ("x,z,a,b,y\n".to_owned(), "x,z,a,b,xx,xz,zz,ab,y\n".to_owned());
    for i in 0..120 {
        let class = i % 3;
        let (x, z) = (source.normal() + class as f64, 2.0 + source.normal() * (1.0 + class as f64));
        // Every pair of levels occurs.
        let (a, b) = (["p", "q"][i % 2], ["r", "s", "t"][(i / 2 + usize::from(source.chance(0.3)) * class) % 3]);
        plain.push_str(&format!("{x},{z},{a},{b},c{class}\n"));
        wide.push_str(&format!("{x},{z},{a},{b},{},{},{},{a}{b},c{class}\n", x * x, x * z, z * z));
    }
    let read = |text: &str| read_bytes(text.as_bytes(), "t.csv", &ReadOptions::default()).expect("a table");
    let (plain, wide) = (read(&plain), read(&wide));
    for family in [Gaussian, GaussianShared] {
        let settings = Method::NaiveBayes(NaiveBayes { overrides: vec![], ..method(family) });
        let fit = |table: &linsep::table::Table, basis: Basis, drop: &[&str]| {
            let mut options = FitOptions::new("y", settings.clone());
            options.recipe.basis = basis;
            options.recipe.exclude = drop.iter().map(|d| (*d).to_owned()).collect();
            match fit_table(table.clone(), &options, &watch()).expect("a fit") {
                TableFit::Model(model) => model,
                TableFit::Refused(_) => panic!("closed forms have optima"),
            }
        };
        // Numbers alone, then text alone: a product of text and numbers has no column in a table of its own.
        for (drop, basis) in
            [(vec!["a", "b", "ab"], Basis::Quadratic), (vec!["x", "z", "xx", "xz", "zz"], Basis::Products)]
        {
            let missing: Vec<&str> = drop.iter().copied().filter(|c| c.len() == 1).collect();
            let by_basis = fit(&plain, basis, &missing);
            let by_table = fit(&wide, Basis::None, &drop);
            let scores = |model: &linsep::artifact::Model, table| {
                predict_table(model, table, None, &watch()).expect("predictions").scores
            };
            let (a, b) = (scores(&by_basis, &plain), scores(&by_table, &wide));
            assert_all_near(&a, &b, 1e-11, 1.0, &format!("{family}"));
            assert_near(by_basis.objective.value, by_table.objective.value, 1e-12, 1.0, "objective");
            let verdict = verify_table(&by_basis, &plain, &watch()).expect("a verdict");
            assert!(verdict.passed(), "{family}: {verdict:?}");
        }
    }
}

fn statistics_of(data: &Data, layout: &linsep::model::Layout) -> ClassColumns {
    ClassColumns::of(&data.dense(), &data.labels, data.weights.as_deref(), &layout.statistics(), &watch())
        .expect("statistics")
}

fn same_statistics(a: &ClassColumns, b: &ClassColumns, tolerance: f64, what: &str) {
    assert_all_near(a.weights(), b.weights(), tolerance, 0.0, what);
    for k in 0..a.weights().len() {
        assert_all_near(a.totals(k), b.totals(k), tolerance, 1.0, what);
        if a.runs().iter().any(|r| r.sums != Sums::Total) {
            let second = |s: &ClassColumns| (0..s.n_cols()).map(|j| s.squares(k, j)).collect::<Vec<f64>>();
            assert_all_near(&second(a), &second(b), tolerance, 1.0, what);
        }
    }
}

/// Three columns of a family and the indicators of two text columns, one of two levels and one of three.
fn with_levels(data: &Data, seed: u64) -> (Data, Vec<ColumnOrigin>) {
    let mut source = Source::new(seed);
    let mut values = Vec::new();
    for i in 0..data.rows() {
        values.extend_from_slice(data.row(i));
        for levels in [2, 3] {
            let level = (source.below(levels) + usize::from(source.chance(0.3)) * data.class(i)) % levels;
            values.extend((0..levels).map(|l| f64::from(u8::from(l == level))));
        }
    }
    let number = |j: usize| ColumnOrigin { name: format!("x{j}"), columns: j..j + 1, levels: false };
    let text = |name: &str, columns| ColumnOrigin { name: name.into(), columns, levels: true };
    let origins = (0..data.cols).map(number).chain([text("two", 3..5), text("three", 5..8)]).collect();
    (Data { values, cols: data.cols + 5, ..data.clone() }, origins)
}

#[test]
fn statistics_merge_shrink_and_grow() {
    for (family, text) in ALL.into_iter().flat_map(|f| [(f, false), (f, true)]) {
        let settings = method(family);
        let data = rows_of(family, 400, 3, 3, 21).weighted((0..400).map(|i| 1.0 + (i % 2) as f64).collect());
        let (data, origins) = if text { with_levels(&data, 22) } else { (data, Vec::new()) };
        let layout = settings.layout(&origins, data.cols).expect("a layout");
        assert_eq!(layout.runs().iter().filter(|r| r.family == Categorical).count(), if text { 2 } else { 0 });
        let part = |range: std::ops::Range<usize>| data.select(&range.collect::<Vec<usize>>());
        let (all, front) = (statistics_of(&data, &layout), statistics_of(&part(0..150), &layout));
        let back = statistics_of(&part(150..400), &layout);
        let mut merged = front.clone();
        merged.merge(&back).expect("the same columns");
        same_statistics(&merged, &all, 1e-12, &format!("{family}: merged"));
        let mut updated = ClassColumns::empty(3, &layout.statistics()).expect("runs");
        for range in [0..150, 150..151, 151..400] {
            let part = part(range);
            updated.update(&part.dense(), &part.labels, part.weights.as_deref(), &watch()).expect("rows");
        }
        same_statistics(&updated, &all, 1e-12, &format!("{family}: updated"));
        let mut removed = all.clone();
        removed.remove(&back).expect("they were there");
        same_statistics(&removed, &front, 1e-10, &format!("{family}: removed"));
        removed.remove(&front).expect("they were there");
        assert_eq!(removed, ClassColumns::empty(3, &layout.statistics()).expect("runs"), "{family}: all removed");
        let refused = removed.remove(&back).expect_err("nothing is left to remove");
        assert!(refused.to_string().contains("cannot be taken out"), "{refused}");
        assert_eq!(ClassColumns::from_bytes(&merged.to_bytes()).expect("bytes"), merged, "{family}: bytes");
        let bytes = merged.to_bytes();
        for cut in [0, 7, 8, 24, bytes.len() - 8, bytes.len() - 1] {
            assert!(ClassColumns::from_bytes(&bytes[..cut]).is_err(), "{family}: {cut} bytes");
        }
        let models =
            [&merged, &all].map(|s| settings.fit_statistics(&layout, s, data.labels.names()).expect("a model"));
        assert_all_near(&data.scores(&models[0]), &data.scores(&models[1]), 1e-10, 1.0, &format!("{family}: models"));
        let design = data.dense();
        let training = data.training(&design).with_origins(&origins);
        let direct = expect_model(Method::NaiveBayes(settings.clone()).fit(&training, &watch()));
        assert_eq!(direct, models[1], "{family}: one pass or given statistics");
    }
}

/// A product of two variances or means would be too small or too large for a number long before they are.
#[test]
fn units_of_columns_do_not_matter() {
    for family in [Gaussian, GaussianShared, Exponential, Gamma] {
        for classes in [2, 3] {
            let data = rows_of(family, 60, 2, classes, 91);
            let settings = Method::NaiveBayes(method(family));
            let plain = data.model(&settings);
            for scale in [1e-120, 1e-60, 1e60, 1e120] {
                let moved = data.map(|j, v| if j == 0 { v * scale } else { v / scale });
                let model = moved.model(&settings);
                let k = plain.discriminant.n_scores();
                let odds = |model: &Fitted, data: &Data| {
                    let scores = data.scores(model);
                    scores.chunks_exact(k).flat_map(|z| z.iter().map(|v| v - if k == 1 { 0.0 } else { z[0] })).collect()
                };
                let (a, b): (Vec<f64>, Vec<f64>) = (odds(&plain, &data), odds(&model, &moved));
                // Logarithms of 1e120 are 276 with as many rounding errors.
                let tolerance = if family == Gamma { 1e-10 } else { 1e-12 };
                assert_all_near(&a, &b, tolerance, 10.0, &format!("{family}, {classes} classes, {scale:e}"));
                assert!(residual(&model.certificate) < 1e-12, "{family}: {:e}", residual(&model.certificate));
            }
        }
    }
}

#[test]
fn priors_may_be_as_small_as_numbers_are() {
    let data = rows_of(Gaussian, 40, 2, 2, 94);
    for first in [1e-310, 5e-324] {
        let with =
            |priors: Vec<f64>| data.model(&Method::NaiveBayes(NaiveBayes { priors: Some(priors), ..method(Gaussian) }));
        let (tiny, even) = (with(vec![first, 1.0]), with(vec![0.5, 0.5]));
        let expected: Vec<f64> = data.scores(&even).iter().map(|z| z - f64::ln(first)).collect();
        assert_all_near(&data.scores(&tiny), &expected, 1e-13, 0.0, "log-odds");
        assert!(residual(&tiny.certificate) < 1e-13);
    }
}

/// Counts of 10¹² whose classes differ by 10⁶: the log-odds are of size one, what they are the difference of is not.
#[test]
fn large_counts_lose_no_digits() {
    let (low, high) = (1e12, 1e12 + 1e6);
    let rows = vec![low - 2.0, low + 2.0, high - 5.0, high + 5.0];
    let data = Data::new(rows.clone(), 1, labels(vec![0, 0, 1, 1], 2));
    for family in [Poisson, Binomial(u32::MAX), Geometric] {
        let scale = if let Binomial(_) = family { 2f64.powi(-9) } else { 1.0 };
        let scaled = data.map(|_, v| (v * scale).round());
        let model = scaled.model(&Method::NaiveBayes(NaiveBayes { smoothing: 0.0, ..method(family) }));
        let means: Vec<f64> = [0, 2].map(|i| 0.5 * (scaled.values[i] + scaled.values[i + 1])).to_vec();
        let (a, b) = (means[0], means[1]);
        let w = (b - a) / a;
        for (x, z) in scaled.values.iter().zip(scaled.scores(&model)) {
            // Series in w about x = a: ln(1+w) = w − w²/2 + w³/3 − …
            let t = f64::from(u32::MAX);
            let ln = |w: f64| w - w * w / 2.0 + w * w * w / 3.0;
            let expected = match family {
                // x ln(b/a) − (b − a) = (x − a) w − a(w − ln(1+w)) − (x − a)(w − ln(1+w))
                Poisson => (x - a) * w - x * (w * w / 2.0 - w * w * w / 3.0),
                // The same with what is left to the trials.
                Binomial(_) => {
                    let q = (a - b) / (t - a);
                    (x - a) * w - x * (w - ln(w)) - (x - a) * q - (t - x) * (q - ln(q))
                }
                // −x(ln(1+1/b) − ln(1+1/a)) − ln((1+b)/(1+a)), ln(1+1/b) = 1/b to 24 digits
                _ => x * ((b - a) / a / b - 0.5 * (b - a) / a / b * (1.0 / a + 1.0 / b)) - ln((b - a) / (1.0 + a)),
            };
            assert_near(z, expected, 1e-8, 1.0, &format!("{family} at {x}"));
        }
    }
}

/// A word that no document has, without smoothing: no weight and nothing in the likelihood.
#[test]
fn a_word_that_never_occurs_adds_nothing() {
    for family in [Multinomial, Bernoulli, Poisson, Geometric] {
        let data = rows_of(family, 40, 9, 2, 92);
        let settings = NaiveBayes { smoothing: 0.0, ..method(family) };
        let with = data.with_column(|_, _| 0.0);
        let (plain, model) =
            (data.model(&Method::NaiveBayes(settings.clone())), with.model(&Method::NaiveBayes(settings)));
        assert_eq!(model.notes, [Note::Constant { columns: vec![9] }], "{family}");
        assert_near(model.objective.value, plain.objective.value, 1e-14, 1.0, &format!("{family}: objective"));
        assert_all_near(&with.scores(&model), &data.scores(&plain), 1e-13, 1.0, &format!("{family}: scores"));
        assert!(residual(&model.certificate) < 1e-13, "{family}");
    }
}

/// Sparse columns are summed about a point near their class, zeros that are not stored included: a large common value costs no
/// digits of the spread, also beside gamma columns, for which rows are widened.
#[test]
fn sparse_columns_far_from_zero_keep_their_spread() {
    let data = rows_of(Gaussian, 50, 2, 2, 93).map(|j, v| if j == 0 { v.abs() + 0.1 } else { v + 1e9 });
    for numbers in [Gaussian, Gamma] {
        let origin = |j: usize| ColumnOrigin { name: format!("x{j}"), columns: j..j + 1, levels: false };
        let origins = [origin(0), origin(1)];
        let overrides = vec![("x0".to_owned(), numbers)];
        let settings = Method::NaiveBayes(NaiveBayes { overrides, ..method(Gaussian) });
        let (csr, dense) = (data.csr(), data.dense());
        let sparse = expect_model(settings.fit(&data.training(&csr).with_origins(&origins), &watch()));
        let model = expect_model(settings.fit(&data.training(&dense).with_origins(&origins), &watch()));
        assert_all_near(&data.scores(&sparse), &data.scores(&model), 1e-9, 1.0, &format!("{numbers}"));
    }
}

/// A stored column that has one value within a class has no spread there at all, whatever the weights are.
#[test]
fn sparse_columns_of_one_value_have_no_spread() {
    let y = labels((0..90).map(|i| i % 2).collect(), 2);
    let values: Vec<f64> = (0..90).flat_map(|i| [0.1 + 0.3 * (i % 2) as f64, (i % 7) as f64]).collect();
    let data = Data::new(values, 2, y);
    let weights: Vec<f64> = (0..90).map(|i| 0.1 + 0.7 * (i % 5) as f64).collect();
    let runs = [Run { columns: 0..2, sums: Sums::Moments, support: Support::REAL }];
    let of = |design: &dyn linsep::design::Design| {
        ClassColumns::of(design, &data.labels, Some(&weights), &runs, &watch()).expect("sums")
    };
    let (sparse, dense) = (of(&data.csr()), of(&data.dense()));
    for class in 0..2 {
        assert_eq!((sparse.mean(class, 0), sparse.squares(class, 0)), (0.1 + 0.3 * class as f64, 0.0));
        assert_near(sparse.mean(class, 1), dense.mean(class, 1), 1e-13, 1.0, "mean");
        assert_near(sparse.squares(class, 1), dense.squares(class, 1), 1e-13, 1.0, "spread");
    }
}

#[test]
fn a_new_class_is_as_if_always_there() {
    let settings = method(Gaussian);
    let layout = settings.layout(&[], 2).expect("a layout");
    let data = rows_of(Gaussian, 200, 2, 3, 5);
    let old: Vec<usize> = (0..200).filter(|i| data.class(*i) < 2).collect();
    let new: Vec<usize> = (0..200).filter(|i| data.class(*i) == 2).collect();
    let two = Data { labels: labels(old.iter().map(|i| data.class(*i)).collect(), 2), ..data.select(&old) };
    let seen = statistics_of(&two, &layout);
    let error = seen.clone().with_classes(1).expect_err("classes are not forgotten");
    assert!(error.to_string().contains("cannot be cut"), "{error}");
    let mut grown = seen.with_classes(3).expect("room");
    let empty = settings.fit_statistics(&layout, &grown, data.labels.names()).expect_err("a class without rows");
    assert!(empty.to_string().contains("class `class 2` has no rows"), "{empty}");
    let later = data.select(&new);
    grown.update(&later.dense(), &later.labels, None, &watch()).expect("rows");
    same_statistics(&grown, &statistics_of(&data, &layout), 1e-12, "a new class");
}

#[test]
fn sparse_and_dense_rows_agree() {
    for family in ALL.into_iter().filter(|f| *f != Gamma) {
        let data = rows_of(family, 300, 5, 3, 31).map(|j, v| if j == 2 && v < 1.2 { 0.0 } else { v });
        let settings = Method::NaiveBayes(method(family));
        let csr = data.csr();
        let (dense, sparse) = (data.model(&settings), expect_model(settings.fit(&data.training(&csr), &watch())));
        assert_all_near(&data.scores(&dense), &data.scores(&sparse), 1e-11, 1.0, &format!("{family}: fits"));
        let scores = dense.discriminant.scores(&csr, &watch()).expect("scores");
        assert_all_near(&data.scores(&dense), &scores, 1e-12, 1.0, &format!("{family}: scores"));
    }
    let data = rows_of(Gamma, 100, 2, 2, 32);
    let settings = Method::NaiveBayes(method(Gamma));
    let csr = data.csr();
    let sparse = expect_model(settings.fit(&data.training(&csr), &watch()));
    assert_eq!(data.model(&settings), sparse, "gamma columns have no zeros to leave out");
    let zero = data.map(|j, v| if j == 1 && v < 0.3 { 0.0 } else { v });
    let csr = zero.csr();
    let error = settings.fit(&zero.training(&csr), &watch()).expect_err("a zero that is not stored");
    assert!(error.to_string().contains("column 2 is 0") && error.to_string().contains("above 0"), "{error}");
}

/// So many columns that they are summed by ranges; the same sums as row by row.
#[test]
fn very_wide_sparse_rows_are_summed_by_columns() {
    let (rows, cols, classes) = (300, 700_000, 2);
    let mut source = Source::new(77);
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..rows {
        let mut own: Vec<u32> = (0..40).map(|_| source.below(cols) as u32).chain([3, cols as u32 - 1]).collect();
        own.sort_unstable();
        own.dedup();
        values.extend(own.iter().map(|_| 1.0 + source.below(4) as f64));
        indices.extend(own);
        starts.push(indices.len());
    }
    let y = labels((0..rows).map(|i| i % classes).collect(), classes);
    let weights: Vec<f64> = (0..rows).map(|i| (i % 3) as f64).collect();
    let mut expected = vec![vec![0.0; cols]; classes];
    for i in 0..rows {
        for e in starts[i]..starts[i + 1] {
            expected[i % classes][indices[e] as usize] += weights[i] * values[e];
        }
    }
    let design = CsrMatrix::new(starts, indices, values, cols).expect("rows");
    let settings = method(Multinomial);
    let layout = settings.layout(&[], cols).expect("a layout");
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let sums = ClassColumns::of(&design, &y, Some(&weights), &layout.statistics(), &watch()).expect("sums");
            let model = settings.fit_statistics(&layout, &sums, y.names()).expect("a model");
            let scores = model.discriminant.scores(&design, &watch()).expect("scores");
            (sums, model, scores)
        })
    };
    let one = with(1);
    for k in 0..classes {
        assert!(one.0.totals(k) == expected[k], "class {k}");
    }
    assert!(residual(&one.1.certificate) < 1e-13);
    assert!(one == with(3), "threads change the result");
    // Two scores and the squares by ranges, too.
    let squares = [Run { columns: 0..cols, sums: Sums::Moments, support: Support::REAL }];
    let moments = ClassColumns::of(&design, &y, Some(&weights), &squares, &watch()).expect("moments");
    let n = moments.weights()[1];
    assert_near(moments.mean(1, 3), expected[1][3] / n, 1e-14, 0.0, "mean");
    assert!(moments.squares(1, 3) > 0.0);
}

#[test]
fn shared_variances_give_what_lda_gives_for_uncorrelated_columns() {
    // A full factorial within each class has a diagonal covariance.
    let mut values = Vec::new();
    let mut codes = Vec::new();
    for (class, centre) in [(0, [0.0, 1.0]), (1, [1.5, 0.5]), (2, [0.5, 2.0])] {
        for a in [-1.0, 1.0] {
            for b in [-2.0, 2.0] {
                values.extend([centre[0] + a, centre[1] + b]);
                codes.push(class);
            }
        }
    }
    let data = Data::new(values, 2, labels(codes, 3));
    let bayes = data.model(&Method::NaiveBayes(NaiveBayes::of(GaussianShared)));
    let lda = data.model(&Method::Gaussian(linsep::model::GaussianBayes::lda()));
    for i in 0..data.rows() {
        let of = |model: &Fitted| posterior(&data.scores(model)[i * 3..(i + 1) * 3]);
        assert_all_near(&of(&bayes), &of(&lda), 1e-12, 1.0, "posterior");
    }
}

#[test]
fn certificates_notice_a_changed_number() {
    for family in COUNTED.into_iter().chain([GaussianShared]) {
        let data = rows_of(family, 80, 3, 2, 41);
        let settings = Method::NaiveBayes(method(family));
        let model = data.model(&settings);
        let design = data.dense();
        let training = data.training(&design);
        let judge = |weights: Vec<f64>, intercept: f64| {
            let changed = Linear::new(weights, linear(&model).centre().to_vec(), vec![intercept]).expect("whole");
            let units = &model.units;
            let found = settings.certify(&training, &Discriminant::Linear(changed), units, &watch());
            residual(&found.expect("a certificate").1)
        };
        let (weights, intercept) = (linear(&model).weights_of(0).to_vec(), linear(&model).intercept_at_centre()[0]);
        assert!(judge(weights.clone(), intercept) < 1e-13, "{family}");
        let mut changed = weights.clone();
        changed[1] += 1e-5;
        assert!(judge(changed, intercept) > 1e-7, "{family}: a weight");
        assert!(judge(weights, intercept + 1e-4) > 1e-7, "{family}: the intercept");
    }
    for family in [Gaussian, Gamma] {
        let data = rows_of(family, 80, 3, 3, 42);
        let settings = Method::NaiveBayes(method(family));
        let (model, other) = (data.model(&settings), data.select(&(1..80).collect::<Vec<_>>()).model(&settings));
        let design = data.dense();
        let judge = |g: &Discriminant| {
            residual(&settings.certify(&data.training(&design), g, &model.units, &watch()).expect("a certificate").1)
        };
        assert!(judge(&model.discriminant) < 1e-12, "{family}");
        assert!(judge(&other.discriminant) > 1e-6, "{family}: without the first row");
    }
}

#[test]
fn penguins_of_mixed_columns() {
    let bytes = std::fs::read(root().join("examples/penguins.csv")).expect("the example");
    let table = read_bytes(&bytes, "penguins.csv", &ReadOptions::default()).expect("a table");
    let mut settings = NaiveBayes::default();
    settings.overrides.push(("body_mass_g".into(), Gamma));
    settings.overrides.push(("year".into(), GaussianShared));
    let options = FitOptions::new("species", Method::NaiveBayes(settings));
    let TableFit::Model(model) = fit_table(table.clone(), &options, &watch()).expect("a fit") else {
        panic!("a model")
    };
    assert!(model.training.accuracy.is_some_and(|a| a > 0.96), "{:?}", model.training.accuracy);
    let verification = verify_table(&model, &table, &watch()).expect("a verdict");
    assert!(verification.passed(), "{verification:?}");
    let predictions = predict_table(&model, &table, None, &watch()).expect("predictions");
    assert_eq!(predictions.rows.len(), 333);
    // By hand for one row: each column by its own formula, from the parameters in the file.
    let text = model.to_json().expect("a file");
    let again = linsep::artifact::Model::from_json(text.as_bytes(), "model.json").expect("a model");
    assert_eq!(*model, again);
    let density = model.density.as_ref().expect("a density");
    let value = serde_json::to_value(density).expect("JSON");
    let families: Vec<&str> = value["density"]["marginals"]
        .as_array()
        .expect("marginals")
        .iter()
        .map(|m| m["family"].as_str().unwrap_or(""))
        .collect();
    assert_eq!(families, ["categorical", "gaussian", "gaussian", "gaussian", "gamma", "categorical", "gaussian"]);
    let normal = |x: f64, m: f64, v: f64| -0.5 * ((x - m).powi(2) / v + (2.0 * std::f64::consts::PI * v).ln());
    let first = ["island", "bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "sex", "year"];
    let cells: Vec<usize> = first.iter().map(|c| table.column(c).expect("a column")).collect();
    let features = model.recipe.features();
    let joint: Vec<f64> = (0..3)
        .map(|k| {
            let mut sum = density.priors[k].ln();
            for (m, cell) in value["density"]["marginals"].as_array().expect("marginals").iter().zip(&cells) {
                let x = table.number(0, *cell);
                let at = |key: &str| number(&m[key][k]);
                sum += match m["family"].as_str().expect("a family") {
                    "gaussian" => normal(x, at("mean"), at("variance")),
                    "gamma" => {
                        let (a, b) = (at("shape"), at("rate"));
                        a * b.ln() + (a - 1.0) * x.ln() - b * x - linsep::numeric::ln_gamma(a)
                    }
                    _ => {
                        let level = format!("={}", table.text(0, *cell));
                        let columns = numbers(&m["columns"]);
                        let at = columns.iter().position(|c| features[*c as usize].ends_with(&level)).expect("a level");
                        number(&m["shares"][k][at]).ln()
                    }
                };
            }
            sum
        })
        .collect();
    assert_all_near(&predictions.probabilities()[..3], &posterior(&joint), 1e-10, 1.0, "posterior of the first row");
}

/// An error with its text, for a fit that must fail.
fn refused(data: &Data, settings: &NaiveBayes) -> String {
    Method::NaiveBayes(settings.clone()).fit(&data.training(&data.dense()), &watch()).expect_err("refused").to_string()
}

fn contains(text: &str, parts: &[&str]) {
    parts.iter().for_each(|p| assert!(text.contains(p), "`{p}` is not said in: {text}"));
}

#[test]
fn values_outside_the_support_are_named() {
    let spoilt = |family: FamilyChoice, value: f64| {
        let mut data = rows_of(family, 60, 3, 2, 51);
        data.values[3 * 17 + 1] = value;
        // A later fault does not hide the first.
        data.values[3 * 40] = value;
        refused(&data, &method(family))
    };
    for (family, value, may) in [
        (Poisson, 1.5, "counts: 0, 1, 2"),
        (Poisson, -1.0, "counts: 0, 1, 2"),
        (Multinomial, -0.25, "numbers from 0"),
        (Bernoulli, 2.0, "0 or 1"),
        (Binomial(4), 5.0, "counts from 0 to 4"),
        (Exponential, -0.1, "numbers from 0"),
        (Geometric, 0.5, "counts"),
        (Gamma, 0.0, "numbers above 0"),
    ] {
        let text = spoilt(family, value);
        contains(&text, &["row 18", "column 2", &format!("is {value}"), may, "family"]);
    }
}

/// Frequencies instead of counts: with the smoothing in the same units only the intercept's part of the rows changes.
#[test]
fn a_multinomial_takes_fractions() {
    let data = rows_of(Multinomial, 60, 4, 2, 55);
    let shares = data.map(|_, v| v / 8.0);
    let model =
        |data: &Data, smoothing: f64| data.model(&Method::NaiveBayes(NaiveBayes { smoothing, ..method(Multinomial) }));
    let (whole, parts) = (model(&data, 2.0), model(&shares, 0.25));
    assert_all_near(linear(&whole).weights_of(0), linear(&parts).weights_of(0), 1e-14, 0.0, "weights");
    assert_eq!(linear(&whole).intercept(), linear(&parts).intercept());
}

#[test]
fn what_has_no_logarithm_or_spread_is_named() {
    let zero = |family: FamilyChoice| {
        let data = rows_of(family, 60, 3, 2, 61);
        let labels = data.labels.clone();
        Data {
            values: (0..data.values.len())
                .map(|at| if at % 3 == 1 && labels.codes()[at / 3] == Class(1) { 0.0 } else { data.values[at] })
                .collect(),
            ..data
        }
    };
    for family in COUNTED {
        let without = NaiveBayes { smoothing: 0.0, ..method(family) };
        contains(&refused(&zero(family), &without), &["class `class 1`", "column 2", "smoothing"]);
        // With smoothing it is fine.
        zero(family).model(&Method::NaiveBayes(method(family)));
    }
    let constant = zero(Gaussian);
    contains(
        &refused(&constant, &method(Gaussian)),
        &["class `class 1`", "column 2", "variance smoothing", "gaussian-shared"],
    );
    constant.model(&Method::NaiveBayes(method(GaussianShared)));
    let smoothed = NaiveBayes { variance_smoothing: 1e-3, ..method(Gaussian) };
    constant.model(&Method::NaiveBayes(smoothed));
    // A class of one row.
    let one =
        Data { labels: labels((0..60).map(|i| usize::from(i == 7)).collect(), 2), ..rows_of(Gaussian, 60, 3, 2, 62) };
    for divisor in [Divisor::Mle, Divisor::Unbiased] {
        let settings = NaiveBayes { divisor, ..method(Gaussian) };
        contains(&refused(&one, &settings), &["class `class 1`", "column 1", "variance smoothing"]);
        let smoothed = NaiveBayes { variance_smoothing: 1e-6, ..settings };
        let model = one.model(&Method::NaiveBayes(smoothed));
        assert!(residual(&model.certificate) < 1e-12);
        one.model(&Method::NaiveBayes(NaiveBayes { divisor, ..method(GaussianShared) }));
    }
    let gamma = zero(Gamma).map(|_, v| v + 1.0);
    contains(&refused(&gamma, &method(Gamma)), &["class `class 1`", "column 2", "too little spread", "family"]);
}

#[test]
fn columns_of_zeros_have_no_weight() {
    for family in [Poisson, Exponential, Geometric] {
        let data = rows_of(family, 60, 2, 3, 71).with_column(|_, _| 0.0);
        let model = data.model(&Method::NaiveBayes(method(family)));
        assert_eq!(model.notes, [Note::Constant { columns: vec![2] }], "{family}");
        assert!((0..3).all(|k| linear(&model).weights_of(k)[2] == 0.0), "{family}");
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let data = rows_of(Gaussian, 30, 2, 2, 81);
    for settings in [
        NaiveBayes { smoothing: -1.0, ..method(Gaussian) },
        NaiveBayes { smoothing: f64::NAN, ..method(Gaussian) },
        NaiveBayes { variance_smoothing: f64::INFINITY, ..method(Gaussian) },
    ] {
        contains(&refused(&data, &settings), &["smoothing", "not a number from 0"]);
    }
    let named = |overrides: &[(&str, FamilyChoice)]| NaiveBayes {
        overrides: overrides.iter().map(|(n, f)| ((*n).to_owned(), *f)).collect(),
        ..method(Gaussian)
    };
    contains(&refused(&data, &named(&[("7", GaussianShared)])), &["no column `7`", "by their number"]);
    contains(&refused(&data, &named(&[("1", Gaussian), ("1", Gamma)])), &["`1`", "two families"]);
    contains(&refused(&data, &method(Categorical)), &["no levels"]);
    let priors = NaiveBayes { priors: Some(vec![0.5, 0.6]), ..method(Gaussian) };
    contains(&refused(&data, &priors), &["sum to one", "1.1"]);
    // Unnamed columns by number: the second only.
    let model = data.model(&Method::NaiveBayes(named(&[("2", GaussianShared)])));
    let g = model.discriminant.as_generalised().expect("squares");
    assert!(g.square_of(0)[0] != 0.0 && g.square_of(0)[1] == 0.0);
}

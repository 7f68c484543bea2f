//! Gaussian Bayes: the formulas of its three shapes, given parameters, priors of means, and statistics that come and go.

use linsep::certify::Certificate;
use linsep::density::{Covariance, Density};
use linsep::design::Standardize;
use linsep::discriminant::{Discriminant, Quadratic};
use linsep::error::ErrorKind;
use linsep::model::{CovarianceShape, Divisor, Fitted, GaussianBayes, Known, MeanPrior, Method, Shrinkage};
use linsep::stats::{ClassMoments, Scatter};
use linsep::watch::Watch;
use testkit::data::{Data, Source, class_names, gaussian, labels, overlapping, posterior};
use testkit::double_double::{self, DoubleDouble};
use testkit::golden::{Frame, json, matrix, number, numbers, strings};
use testkit::twin::solve;
use testkit::{assert_all_near, assert_near};

fn method(settings: GaussianBayes) -> Method {
    Method::Gaussian(settings)
}

/// Classes whose covariances differ in every entry.
fn unequal(counts: &[usize], cols: usize, seed: u64) -> Data {
    let mut source = Source::new(seed);
    let (mut values, mut codes) = (Vec::new(), Vec::new());
    for (k, count) in counts.iter().enumerate() {
        let mix: Vec<f64> = (0..cols * cols).map(|_| source.normal()).collect();
        for _ in 0..*count {
            let z = source.normals(cols);
            let noise = |i: usize| z[i] + (0..cols).map(|j| 0.6 * mix[i * cols + j] * z[j]).sum::<f64>();
            values.extend((0..cols).map(|i| 0.7 * (k * (i + 1)) as f64 + noise(i)));
            codes.push(k);
        }
    }
    Data::new(values, cols, labels(codes, counts.len()))
}

/// Mean and covariance of one class by plain loops.
fn moments(data: &Data, class: usize, divisor: impl Fn(f64) -> f64) -> (f64, Vec<f64>, Vec<Vec<f64>>) {
    let d = data.cols;
    let rows: Vec<usize> = (0..data.rows()).filter(|i| data.class(*i) == class).collect();
    let n: f64 = rows.iter().map(|i| data.weight(*i)).sum();
    let mean: Vec<f64> =
        (0..d).map(|j| rows.iter().map(|i| data.weight(*i) * data.row(*i)[j]).sum::<f64>() / n).collect();
    let entry = |a: usize, b: usize| {
        let product = |i: &usize| data.weight(*i) * (data.row(*i)[a] - mean[a]) * (data.row(*i)[b] - mean[b]);
        rows.iter().map(product).sum::<f64>() / divisor(n)
    };
    let covariance = (0..d).map(|a| (0..d).map(|b| entry(a, b)).collect()).collect();
    (n, mean, covariance)
}

/// Determinant by Gaussian elimination.
fn log_determinant(matrix: &[Vec<f64>]) -> f64 {
    let mut m = matrix.to_vec();
    let n = m.len();
    let mut sum = 0.0;
    for j in 0..n {
        sum += m[j][j].ln();
        for i in j + 1..n {
            let factor = m[i][j] / m[j][j];
            for c in j..n {
                m[i][c] -= factor * m[j][c];
            }
        }
    }
    sum
}

/// `log N(x; μ, Σ)`.
fn log_normal(x: &[f64], mean: &[f64], covariance: &[Vec<f64>]) -> f64 {
    let delta: Vec<f64> = x.iter().zip(mean).map(|(x, m)| x - m).collect();
    let solved = solve(covariance, &delta).expect("a regular covariance");
    let squared: f64 = delta.iter().zip(&solved).map(|(a, b)| a * b).sum();
    -0.5 * (x.len() as f64 * (2.0 * std::f64::consts::PI).ln() + log_determinant(covariance) + squared)
}

type Matrix = Vec<Vec<f64>>;

/// Priors, means and covariances a model states, class by class.
fn stated(model: &Fitted) -> (Vec<f64>, Matrix, Vec<Matrix>) {
    let densities = model.density.as_ref().expect("a generative model");
    let Density::Gaussian(gaussian) = &densities.density else { panic!("Gaussian classes") };
    let d = gaussian.means[0].len();
    let covariances = match &gaussian.covariance {
        Covariance::Spherical(v) => {
            let sphere = |i: usize| (0..d).map(|j| if i == j { *v } else { 0.0 }).collect();
            vec![(0..d).map(sphere).collect(); gaussian.means.len()]
        }
        Covariance::Shared(m) => vec![m.clone(); gaussian.means.len()],
        Covariance::Own(m) => m.clone(),
    };
    (densities.priors.clone(), gaussian.means.clone(), covariances)
}

/// Scores are the log-odds of the stated densities, and the objective is their mean negative log-likelihood.
#[track_caller]
fn scores_follow_from_the_density(data: &Data, model: &Fitted, what: &str) {
    let (priors, means, covariances) = stated(model);
    let k = model.discriminant.n_scores();
    let (mut loss, mut total) = (0.0, 0.0);
    for (i, z) in data.scores(model).chunks_exact(k).enumerate() {
        let joint: Vec<f64> =
            (0..priors.len()).map(|c| priors[c].ln() + log_normal(data.row(i), &means[c], &covariances[c])).collect();
        let full: Vec<f64> = if k == 1 { vec![0.0, z[0]] } else { z.to_vec() };
        for c in 1..priors.len() {
            assert_near(full[c] - full[0], joint[c] - joint[0], 1e-10, 1.0, &format!("{what}: log-odds of row {i}"));
        }
        loss -= data.weight(i) * joint[data.class(i)];
        total += data.weight(i);
    }
    assert_near(model.objective.value, loss / total, 1e-12, 1.0, &format!("{what}: objective"));
}

fn shapes() -> Vec<GaussianBayes> {
    let mut all = Vec::new();
    for shape in [CovarianceShape::Spherical, CovarianceShape::Shared, CovarianceShape::Own] {
        for divisor in [Divisor::Unbiased, Divisor::Mle] {
            for shrinkage in [Shrinkage::None, Shrinkage::Fixed(0.3), Shrinkage::LedoitWolf] {
                for standardize in [Standardize::Yes, Standardize::No] {
                    all.push(GaussianBayes { divisor, shrinkage, standardize, ..GaussianBayes::new(shape) });
                }
            }
        }
    }
    all
}

#[test]
fn scores_and_objective_follow_from_the_stated_density() {
    for counts in [&[60, 90][..], &[50, 70, 40]] {
        let data = unequal(counts, 3, 1);
        let data = data.weighted((0..data.rows()).map(|i| [1.0, 2.0, 0.5][i % 3]).collect());
        for settings in shapes() {
            let what = format!("{settings:?}");
            scores_follow_from_the_density(&data, &data.model(&method(settings)), &what);
        }
    }
}

#[test]
fn own_covariances_are_those_of_the_textbook() {
    for (divisor, by) in [(Divisor::Unbiased, 1.0), (Divisor::Mle, 0.0)] {
        let data = unequal(&[40, 60, 50], 4, 2);
        let model = data.model(&method(GaussianBayes { divisor, ..GaussianBayes::qda() }));
        let (priors, means, covariances) = stated(&model);
        for k in 0..3 {
            let (n, mean, covariance) = moments(&data, k, |n| n - by);
            assert_near(priors[k], n / 150.0, 1e-15, 0.0, "prior");
            assert_all_near(&means[k], &mean, 1e-13, 1.0, "mean");
            for i in 0..4 {
                assert_all_near(&covariances[k][i], &covariance[i], 1e-12, 1.0, "covariance");
            }
        }
    }
}

/// `w_k = μ_k/σ²`, `w_k0 = −‖μ_k‖²/2σ² + log π_k`, `σ̂² = tr S_W/((n−K)d)`.
#[test]
fn spheres_have_the_weights_of_the_nearest_mean() {
    let data = overlapping(200, 3, 3, 3);
    for (divisor, by) in [(Divisor::Unbiased, 197.0), (Divisor::Mle, 200.0)] {
        let settings =
            GaussianBayes { divisor, standardize: Standardize::No, ..GaussianBayes::new(CovarianceShape::Spherical) };
        let model = data.model(&method(settings));
        let parts: Vec<_> = (0..3).map(|k| moments(&data, k, |_| by)).collect();
        let variance: f64 = parts.iter().map(|(_, _, c)| (0..3).map(|j| c[j][j]).sum::<f64>()).sum::<f64>() / 3.0;
        let linear = model.discriminant.as_linear().expect("one covariance gives linear discriminants");
        let intercept = linear.intercept();
        let w = |k: usize, j: usize| parts[k].1[j] / variance;
        let b = |k: usize| (parts[k].0 / 200.0).ln() - parts[k].1.iter().map(|m| m * m).sum::<f64>() / (2.0 * variance);
        for k in 1..3 {
            for j in 0..3 {
                let found = linear.weights_of(k)[j] - linear.weights_of(0)[j];
                assert_near(found, w(k, j) - w(0, j), 1e-11, 1.0, "weight");
            }
            assert_near(intercept[k] - intercept[0], b(k) - b(0), 1e-11, 1.0, "intercept");
        }
        assert!(matches!(&model.density.as_ref().expect("a density").density,
            Density::Gaussian(g) if matches!(g.covariance, Covariance::Spherical(v) if (v / variance - 1.0).abs() < 1e-12)));
    }
}

/// The discriminant in its expanded form: `½xᵀWx + w·x + w₀` with `W = −Σ⁻¹`.
#[test]
fn the_quadratic_form_is_minus_the_inverse_covariance() {
    let data = unequal(&[40, 60], 3, 4);
    let model = data.model(&method(GaussianBayes::qda()));
    let Discriminant::Quadratic(g) = &model.discriminant else { panic!("a quadratic model") };
    let (_, _, covariances) = stated(&model);
    for k in 0..2 {
        for (i, row) in g.form(k).iter().enumerate() {
            let unit: Vec<f64> = (0..3).map(|j| if i == j { -1.0 } else { 0.0 }).collect();
            assert_all_near(row, &solve(&covariances[k], &unit).expect("regular"), 1e-11, 1.0, "row of W");
        }
    }
}

#[test]
fn qda_of_mass() {
    let golden = json("qda_r.json");
    for case in golden["cases"].as_array().expect("cases") {
        let features = strings(&case["features"]);
        let frame = Frame::golden(case["data"].as_str().expect("a file")).complete(&features);
        let data = frame.labelled(&features, case["target"].as_str().expect("a target"));
        assert_eq!(data.rows(), number(&case["n"]) as usize);
        let divisor = if case["divisor"] == "n" { Divisor::Mle } else { Divisor::Unbiased };
        let model = data.model(&method(GaussianBayes { divisor, ..GaussianBayes::qda() }));
        let scores = data.scores(&model);
        let k = data.labels.n_classes();
        let rows = numbers(&case["rows"]);
        for ((row, p), z) in rows.iter().zip(matrix(&case["posterior"])).zip(matrix(&case["differences"])) {
            let found = &scores[*row as usize * k..][..k];
            assert_all_near(&posterior(found), &p, 1e-10, 1.0, "posterior");
            let differences: Vec<f64> = found[1..].iter().map(|v| v - found[0]).collect();
            assert_all_near(&differences, &z, 1e-10, 1.0, "log-odds");
        }
        let predicted = linsep::decide::classes(&scores, k);
        let errors = (0..data.rows()).filter(|i| predicted[*i].index() != data.class(*i)).count();
        assert_eq!(errors, number(&case["errors"]) as usize);
    }
}

/// The literature's test errors on the vowel data: LDA 0.56, QDA 0.53 (Hastie, Tibshirani and Friedman, table 4.1).
#[test]
#[ignore = "reads ../shared/data; ./test runs it where that is there"]
fn vowels_are_missed_as_often_as_the_literature_says() {
    let [train, test] = ["train", "test"].map(|part| Frame::shared(&format!("ElemStatLearn_vowel.{part}.csv")));
    let features: Vec<String> = (1..=10).map(|j| format!("x.{j}")).collect();
    let (train, test) = (train.labelled(&features, "y"), test.labelled(&features, "y"));
    for (settings, expected) in [(GaussianBayes::lda(), 0.56), (GaussianBayes::qda(), 0.53)] {
        let model = train.model(&method(settings));
        let predicted = linsep::decide::classes(&test.scores(&model), 11);
        let wrong = (0..test.rows()).filter(|i| predicted[*i].index() != test.class(*i)).count();
        assert_near((100.0 * wrong as f64 / test.rows() as f64).round() / 100.0, expected, 0.0, 1.0, "test error");
    }
}

fn known(classes: usize, cols: usize) -> Known {
    Known {
        features: (1..=cols).map(|j| j.to_string()).collect(),
        classes: class_names(classes),
        priors: None,
        means: None,
        covariance: None,
        mean_prior: None,
    }
}

/// `μ̃ − x̄ = (Σ₀/n)(Σ_θ + Σ₀/n)⁻¹(μ_θ − x̄)`, and the two limits of the prior.
#[test]
fn posterior_means_obey_the_identity() {
    let data = unequal(&[12, 30], 3, 5);
    let spread = vec![vec![2.0, 0.5, 0.0], vec![0.5, 1.0, -0.3], vec![0.0, -0.3, 0.7]];
    let towards = [vec![3.0, -2.0, 1.0], vec![0.0, 5.0, 2.0]];
    for settings in [GaussianBayes::qda(), GaussianBayes::lda(), GaussianBayes::new(CovarianceShape::Spherical)] {
        let prior = MeanPrior { means: towards.to_vec(), covariance: spread.clone() };
        let given = Known { mean_prior: Some(prior), ..known(2, 3) };
        let model = data.model(&method(GaussianBayes { known: Some(given), ..settings.clone() }));
        let (_, means, covariances) = stated(&model);
        for k in 0..2 {
            let (n, mean, _) = moments(&data, k, |n| n);
            let sum: Vec<Vec<f64>> =
                (0..3).map(|i| (0..3).map(|j| spread[i][j] + covariances[k][i][j] / n).collect()).collect();
            let delta: Vec<f64> = (0..3).map(|j| towards[k][j] - mean[j]).collect();
            let v = solve(&sum, &delta).expect("regular");
            let expected: Vec<f64> =
                (0..3).map(|i| mean[i] + (0..3).map(|j| covariances[k][i][j] * v[j]).sum::<f64>() / n).collect();
            assert_all_near(&means[k], &expected, 1e-12, 1.0, "posterior mean");
        }
        scores_follow_from_the_density(&data, &model, "posterior means");
        for (size, limit) in [(1e15, None), (1e-15, Some(&towards))] {
            let covariance = (0..3).map(|i| (0..3).map(|j| if i == j { size } else { 0.0 }).collect()).collect();
            let prior = MeanPrior { means: towards.to_vec(), covariance };
            let given = Known { mean_prior: Some(prior), ..known(2, 3) };
            let model = data.model(&method(GaussianBayes { known: Some(given), ..settings.clone() }));
            for k in 0..2 {
                let expected = limit.map_or_else(|| moments(&data, k, |n| n).1, |t| t[k].clone());
                assert_all_near(&stated(&model).1[k], &expected, 1e-9, 1.0, "limit of the prior");
            }
        }
    }
}

#[test]
fn given_parameters_are_used_as_they_are() {
    let data = unequal(&[20, 30], 2, 6);
    let means = vec![vec![0.0, 1.0], vec![2.0, -1.0]];
    let matrix = vec![vec![2.0, 0.3], vec![0.3, 1.0]];
    let cases = [
        (GaussianBayes::new(CovarianceShape::Spherical), Covariance::Spherical(1.7)),
        (GaussianBayes::lda(), Covariance::Shared(matrix.clone())),
        (GaussianBayes::qda(), Covariance::Own(vec![matrix, vec![vec![1.0, -0.2], vec![-0.2, 3.0]]])),
    ];
    for (settings, covariance) in cases {
        // Σ alone: the means are estimated.
        let partly = Known { covariance: Some(covariance.clone()), ..known(2, 2) };
        let model = data.model(&method(GaussianBayes { known: Some(partly), ..settings.clone() }));
        assert_all_near(&stated(&model).1[1], &moments(&data, 1, |n| n).1, 1e-13, 1.0, "estimated mean");
        scores_follow_from_the_density(&data, &model, "given covariance");
        let all = Known {
            priors: Some(vec![0.25, 0.75]),
            means: Some(means.clone()),
            covariance: Some(covariance.clone()),
            ..known(2, 2)
        };
        let model = data.model(&method(GaussianBayes { known: Some(all.clone()), ..settings.clone() }));
        assert_eq!((stated(&model).0, stated(&model).1), (vec![0.25, 0.75], means.clone()));
        scores_follow_from_the_density(&data, &model, "all given");
        // Other rows make no difference.
        let other = unequal(&[25, 15], 2, 7);
        let again = other.model(&method(GaussianBayes { known: Some(all), ..settings }));
        assert_all_near(&data.scores(&model), &data.scores(&again), 1e-12, 1.0, "scores from given parameters");
    }
}

#[test]
fn parameter_files_say_what_is_wrong() {
    let file = |rest: &str| format!(r#"{{"features": ["x", "y"], "classes": ["a", "b"]{rest}}}"#);
    let faults = [
        (r#", "covarance": 1"#, "`covarance` is not a parameter"),
        (r#", "covariance": [[1, 0], [0, -1]]"#, "not positive definite, see `y`"),
        (r#", "covariance": [[1, 0.5], [0.4, 1]]"#, "`x`, `y` are 0.5 and 0.4"),
        (r#", "covariance": [[1, 1], [1, 1]]"#, "not positive definite"),
        (r#", "covariance": [[1]]"#, "not 2 × 2"),
        (r#", "covariances": [[[1, 0], [0, 1]]]"#, "covariances: 1 where 2 are expected"),
        (r#", "variance": 0"#, "variance: 0 is not positive"),
        (r#", "variance": 1, "covariance": [[1, 0], [0, 1]]"#, "exclude each other"),
        (r#", "means": [[1, 2]]"#, "means: 1 where 2 are expected"),
        (r#", "means": [[1, 2], [3]]"#, "means, entry 2: 1 where 2 are expected"),
        (
            r#", "mean_prior": {"mean": [0, 0], "covariance": [[1, 2], [2, 1]]}"#,
            "covariance of mean_prior: the matrix is not positive definite",
        ),
        (r#", "mean_prior": {"covariance": [[1, 0], [0, 1]]}"#, "either mean or means"),
        (r#", "priors": [1]"#, "priors: 1 where 2 are expected"),
    ];
    for (rest, expected) in faults {
        let error = Known::from_json(file(rest).as_bytes(), "p.json").expect_err(rest);
        assert!(error.to_string().contains(expected) && error.to_string().contains("p.json"), "{rest}: {error}");
    }
    assert!(Known::from_json(b"[1]", "p.json").is_err());
    assert!(
        Known::from_json(file(r#", "mean_prior": {"mean": [0, 0], "covariance": [[1, 0], [0, 1]]}"#).as_bytes(), "p")
            .is_ok()
    );
}

#[test]
fn singular_classes_are_named() {
    let data = unequal(&[40, 3], 3, 8);
    let error = data.fit(&method(GaussianBayes::qda())).expect_err("three rows in three columns");
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.message().contains("class 1") && error.message().contains("3 rows for 3 columns"), "{error}");
    assert!(error.help_text().expect("help").contains("shrinkage"), "{error}");
    let shrunk = GaussianBayes { shrinkage: Shrinkage::LedoitWolf, ..GaussianBayes::qda() };
    scores_follow_from_the_density(&data, &data.model(&method(shrunk.clone())), "three rows, shrunk");
    let one = unequal(&[40, 1], 3, 8);
    for settings in [GaussianBayes::qda(), shrunk, GaussianBayes { divisor: Divisor::Mle, ..GaussianBayes::qda() }] {
        let error = one.fit(&method(settings)).expect_err("one row");
        assert!(error.message().contains("class 1") && error.message().contains("1 row:"), "{error}");
    }
    // A column that is constant, or a combination, within one class only.
    let data = unequal(&[40, 40], 3, 9);
    let flat = Data {
        values: (0..data.values.len()).map(|at| if at % 3 == 1 && at >= 120 { 7.0 } else { data.values[at] }).collect(),
        ..data.clone()
    };
    let error = flat.fit(&method(GaussianBayes::qda())).expect_err("a flat column");
    assert!(error.message().contains("within class `class 1` column 2 is constant"), "{error}");
    let bound = Data {
        values: (0..data.values.len())
            .map(|at| {
                if at % 3 == 2 && at >= 120 { 2.0 * data.values[at - 1] - data.values[at - 2] } else { data.values[at] }
            })
            .collect(),
        ..data
    };
    let error = bound.fit(&method(GaussianBayes::qda())).expect_err("a combination");
    assert!(error.message().contains("column 3 is a combination of column 1, column 2"), "{error}");
}

#[test]
fn certificates_notice_every_part_of_a_quadratic_model() {
    let data = unequal(&[60, 80, 50], 3, 10);
    let settings = method(GaussianBayes::qda());
    let model = data.model(&settings);
    let Discriminant::Quadratic(g) = &model.discriminant else { panic!("a quadratic model") };
    let residual = |discriminant: &Discriminant| {
        let dense = data.dense();
        let checked = settings.certify(&data.training(&dense), discriminant, &model.units, &Watch::default());
        match checked.expect("the same sizes").1 {
            Certificate::ClosedForm { relative_residual, .. } => relative_residual,
            other => panic!("{other:?}"),
        }
    };
    assert!(residual(&model.discriminant) < 1e-12);
    let parts = |centre: f64, matrix: f64, constant: f64| {
        let mut centres: Vec<f64> = (0..3).flat_map(|k| g.centre(k).to_vec()).collect();
        let mut triangles: Vec<f64> = (0..3).flat_map(|k| g.whitening(k).to_vec()).collect();
        let mut constants = g.constants().to_vec();
        centres[4] += centre;
        triangles[10] += matrix;
        constants[2] += constant;
        Discriminant::Quadratic(Quadratic::new(centres, triangles, constants).expect("the same sizes"))
    };
    for changed in [parts(1e-5, 0.0, 0.0), parts(0.0, 1e-5, 0.0), parts(0.0, 0.0, 1e-5)] {
        assert!(residual(&changed) > 1e-7, "{changed:?}");
    }
}

#[test]
fn own_scatter_merges_and_is_removed_as_if_never_added() {
    let data = unequal(&[300, 200, 250], 4, 11);
    let order = Source::new(12).order(750);
    let data = data.select(&order);
    let data = data.weighted((0..750).map(|i| (1 + i % 3) as f64).collect());
    for kind in [Scatter::Pooled, Scatter::Own] {
        let of = |rows: &[usize]| {
            let part = data.select(rows);
            ClassMoments::with(kind, &part.dense(), &part.labels, part.weights.as_deref(), &Watch::default())
                .expect("finite features")
        };
        let same = |a: &ClassMoments, b: &ClassMoments, tolerance: f64, what: &str| {
            for k in 0..3 {
                assert_near(a.weight(k), b.weight(k), 1e-13, 1.0, what);
                assert_all_near(a.mean(k), b.mean(k), tolerance, 1.0, what);
                let scale = b.scatter_of(k).diagonal().iter().copied().fold(1.0, f64::max);
                for (x, y) in a.scatter_of(k).as_slice().iter().zip(b.scatter_of(k).as_slice()) {
                    assert_near(x / scale, y / scale, tolerance, 1.0, what);
                }
            }
        };
        let all: Vec<usize> = (0..750).collect();
        let whole = of(&all);
        let mut merged = of(&all[..320]);
        let part = data.select(&all[320..]);
        merged
            .update(&part.dense(), &part.labels, part.weights.as_deref(), &Watch::default())
            .expect("the same columns");
        same(&merged, &whole, 1e-12, "merged");
        merged.remove(&of(&all[320..])).expect("rows that are there");
        same(&merged, &of(&all[..320]), 1e-12, "removed");
        assert!(merged.clone().remove(&whole).is_err(), "more than is there");
        assert_eq!(ClassMoments::from_bytes(&merged.to_bytes()).expect("our own bytes"), merged);
        // A new class: statistics of two classes meet rows of three.
        let of_class = |wanted: &dyn Fn(usize) -> bool| -> Vec<usize> {
            all.iter().copied().filter(|i| wanted(data.class(*i))).collect()
        };
        let two = data.select(&of_class(&|k| k < 2));
        let two = Data { labels: labels((0..two.rows()).map(|i| two.class(i)).collect(), 2), ..two };
        let mut grown = ClassMoments::with(kind, &two.dense(), &two.labels, two.weights.as_deref(), &Watch::default())
            .expect("finite");
        grown.merge(&of(&of_class(&|k| k == 2))).expect("the same columns");
        same(&grown, &whole, 1e-12, "a new class");
        // And gone again.
        grown.remove(&of(&of_class(&|k| k == 2))).expect("rows that are there");
        assert_eq!(grown.weight(2), 0.0);
    }
}

/// Fitting statistics that were merged and reduced is fitting the rows that are left.
#[test]
fn fits_from_statistics_are_fits_of_their_rows() {
    let data = unequal(&[90, 70, 60], 3, 14);
    let data = data.select(&Source::new(15).order(220));
    for settings in [GaussianBayes::lda(), GaussianBayes::qda(), GaussianBayes::new(CovarianceShape::Spherical)] {
        let kind = if settings.shape == CovarianceShape::Own { Scatter::Own } else { Scatter::Pooled };
        let of = |rows: std::ops::Range<usize>| {
            let part = data.select(&rows.collect::<Vec<_>>());
            ClassMoments::with(kind, &part.dense(), &part.labels, None, &Watch::default()).expect("finite features")
        };
        let mut moments = of(0..100);
        moments.merge(&of(100..220)).expect("the same columns");
        moments.remove(&of(180..220)).expect("rows that are there");
        let left = data.select(&(0..180).collect::<Vec<_>>());
        let direct = left.model(&method(settings.clone()));
        let model = settings.fit_statistics(moments.clone(), data.labels.names()).expect("three classes");
        assert_all_near(&data.scores(&model), &data.scores(&direct), 1e-10, 1.0, "scores");
        assert_near(model.objective.value, direct.objective.value, 1e-11, 1.0, "objective");
        let shrunk = GaussianBayes { shrinkage: Shrinkage::LedoitWolf, ..settings };
        assert!(shrunk.fit_statistics(moments, data.labels.names()).is_err(), "the rows are gone");
    }
}

#[test]
fn equal_covariances_make_qda_agree_with_lda() {
    let data = gaussian(&[4000, 6000], &[vec![0.0, 0.0, 0.0], vec![1.0, -0.5, 0.3]], 13);
    let (lda, qda) = (data.model(&method(GaussianBayes::lda())), data.model(&method(GaussianBayes::qda())));
    let (a, b) = (data.scores(&lda), data.scores(&qda));
    let disagree = a.iter().zip(&b).filter(|(a, b)| (**a > 0.0) != (**b > 0.0)).count();
    assert!(disagree < 150, "{disagree} of 10,000 decisions differ");
    // With one given covariance for both, they are the same function.
    let matrix = vec![vec![1.0, 0.2, 0.0], vec![0.2, 1.5, 0.1], vec![0.0, 0.1, 0.8]];
    let shared = Known { covariance: Some(Covariance::Shared(matrix.clone())), ..known(2, 3) };
    let own = Known { covariance: Some(Covariance::Own(vec![matrix.clone(), matrix])), ..known(2, 3) };
    let a = data.model(&method(GaussianBayes { known: Some(shared), ..GaussianBayes::lda() }));
    let b = data.model(&method(GaussianBayes { known: Some(own), ..GaussianBayes::qda() }));
    assert_all_near(&data.scores(&a), &data.scores(&b), 1e-11, 1.0, "scores");
}

/// `Σ⁻¹(μ₁ − μ₀)` of two classes with twice the digits.
fn exact_lda(data: &Data) -> Vec<f64> {
    let (d, zero) = (data.cols, DoubleDouble::from(0.0));
    let rows = |class: usize| (0..data.rows()).filter(move |i| data.class(*i) == class);
    let mean = |class: usize, j: usize| {
        let sum = rows(class).fold(zero, |sum, i| sum + DoubleDouble::from(data.row(i)[j]));
        sum / DoubleDouble::from(rows(class).count() as f64)
    };
    let means: Vec<Vec<DoubleDouble>> = (0..2).map(|k| (0..d).map(|j| mean(k, j)).collect()).collect();
    let away = |i: usize, j: usize| DoubleDouble::from(data.row(i)[j]) - means[data.class(i)][j];
    let freedom = DoubleDouble::from(data.rows() as f64 - 2.0);
    let entry = |a: usize, b: usize| (0..data.rows()).fold(zero, |s, i| s + away(i, a) * away(i, b)) / freedom;
    let covariance: Vec<Vec<DoubleDouble>> = (0..d).map(|a| (0..d).map(|b| entry(a, b)).collect()).collect();
    let contrast: Vec<DoubleDouble> = (0..d).map(|j| means[1][j] - means[0][j]).collect();
    double_double::solve(&covariance, &contrast)
}

/// The digits of discriminant analysis are within their bounds, also of columns that are nearly combinations of others and
/// far from zero; powers of two in the columns change nothing but the units.
#[test]
fn errors_of_lda_bound_the_truth() {
    let errors_of = |fitted: &Fitted| match &fitted.certificate {
        Certificate::ClosedForm { errors, .. } => errors.clone(),
        other => panic!("{other:?}"),
    };
    for seed in 0..12 {
        let near = 10f64.powi(-(seed as i32 % 6));
        let shift = [0.0, 1e3, 1e7][seed % 3];
        let mut source = Source::new(90 + seed as u64);
        let data = overlapping(120, 3, 2, 40 + seed as u64).with_column(|_, row| row[0] + near * source_normal(row));
        let data = data.map(|_, v| v + shift);
        for standardize in [Standardize::Yes, Standardize::No] {
            let lda = method(GaussianBayes { standardize, ..GaussianBayes::lda() });
            let fitted = data.model(&lda);
            let Some(errors) = errors_of(&fitted) else { panic!("seed {seed}: nothing is proved") };
            let exact = exact_lda(&data);
            let linear = fitted.discriminant.as_linear().expect("linear");
            for (j, exact) in exact.iter().enumerate() {
                let off = (linear.weights_of(0)[j] - exact).abs();
                // The twin's last digit is a double's.
                let own = 4.0 * f64::EPSILON * exact.abs();
                let claimed = errors.weights[j];
                assert!(off <= claimed + own, "seed {seed}, column {j}: off by {off:e}, claimed {claimed:e}");
                // Rounding of means about 1e7 counts once for each of the two factors of an inverse covariance of 1/near².
                let most = 1e-9 * (1.0 + shift) / (near * near);
                assert!(claimed > 0.0 && claimed <= most, "seed {seed}: {claimed:e}, at most {most:e}");
            }
            let powers = [2f64.powi(300), 2f64.powi(-300), 1.0, 2f64.powi(-20 + source.below(40) as i32)];
            let scaled = data.map(|j, v| powers[j] * v).model(&lda);
            let found = errors_of(&scaled).expect("proved in any units");
            if standardize == Standardize::Yes {
                for j in 0..4 {
                    assert_eq!(found.weights[j] * powers[j], errors.weights[j], "seed {seed}, column {j}");
                }
            }
        }
    }
}

/// Something like a normal number that the row determines.
fn source_normal(row: &[f64]) -> f64 {
    Source::new(row[1].to_bits() ^ row[2].to_bits()).normal()
}

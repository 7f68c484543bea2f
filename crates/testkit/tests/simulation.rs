//! Densities against mpmath, and fits of simulated rows against the truth they were made from.

use linsep::density::{Covariance, Densities, Density, ErrorMethod, Family, Gaussian, Likelihood, Marginal};
use linsep::design::Standardize;
use linsep::model::{Fitted, GaussianBayes, Method, PenaltyChoice, RiskMinimizer};
use linsep::numeric::{ln_gamma, normal_cdf};
use linsep::sample::{
    FeatureLaw, Generator, LogisticLabels, Separable, Simulation, Truth, gaussian_classes, poisson_classes,
};
use linsep::table::Labels;
use serde_json::{Value, json};
use testkit::data::Data;
use testkit::golden::{json as golden, number, numbers};

fn items(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

#[test]
fn normal_distribution_function_of_mpmath() {
    let golden = golden("density.json");
    let (x, value) = (numbers(&golden["normal_cdf"]["x"]), numbers(&golden["normal_cdf"]["value"]));
    assert!(x.len() > 50);
    for (x, value) in x.iter().zip(&value) {
        let found = normal_cdf(*x);
        assert!((found - value).abs() <= 8.0 * f64::EPSILON * value, "Φ({x}) = {found:e}, not {value:e}");
    }
}

#[test]
fn log_gamma_of_mpmath() {
    let golden = golden("density.json");
    let (x, value) = (numbers(&golden["ln_gamma"]["x"]), numbers(&golden["ln_gamma"]["value"]));
    for (x, value) in x.iter().zip(&value) {
        let allowed = if *x >= 10.0 { 4.0 * f64::EPSILON * value } else { 1e-14_f64.max(4.0 * f64::EPSILON * value) };
        assert!((ln_gamma(*x) - value).abs() <= allowed, "log Γ({x}) = {}, not {value}", ln_gamma(*x));
    }
}

#[test]
fn log_densities_of_mpmath() {
    let golden = golden("density.json");
    for case in items(&golden["families"]) {
        // The golden has one class; a density has at least two.
        let mut family = serde_json::Map::new();
        family.insert("family".into(), case["family"].clone());
        for (name, value) in case["parameters"].as_object().expect("parameters") {
            let twice = if name == "trials" { value.clone() } else { json!([value, value]) };
            family.insert(name.clone(), twice);
        }
        let family: Family = serde_json::from_value(Value::Object(family)).expect("a family");
        let density = Density::Independent { marginals: vec![Marginal { columns: vec![0], family }] };
        let likelihood = Likelihood::new(&Densities { priors: vec![0.5; 2], density }).expect("densities");
        for (x, value) in numbers(&case["x"]).iter().zip(numbers(&case["value"])) {
            let found = likelihood.log_densities(&[*x])[0];
            assert!((found - value).abs() <= 4e-14 * (1.0 + value.abs()), "{case} at {x}: {found}, not {value}");
        }
    }
}

#[test]
fn bayes_errors_of_numerical_integration() {
    let golden = golden("density.json");
    for case in items(&golden["closed"]) {
        let (prior, distance) = (number(&case["prior"]), number(&case["distance"]));
        let means = vec![vec![0.0], vec![distance]];
        let density = Density::Gaussian(Gaussian { means, covariance: Covariance::Spherical(1.0) });
        let error = Densities { priors: vec![1.0 - prior, prior], density }.bayes_error(0).expect("an error");
        assert_eq!(error.method, ErrorMethod::ClosedForm);
        let value = number(&case["value"]);
        assert!((error.value - value).abs() <= 1e-13 * value, "{case}: {}", error.value);
    }
    for case in items(&golden["own"]) {
        let (prior, sd) = (number(&case["prior"]), number(&case["sd"]));
        let means = vec![vec![0.0], vec![number(&case["mean"])]];
        let covariance = Covariance::Own(vec![vec![vec![1.0]], vec![vec![sd * sd]]]);
        let density = Density::Gaussian(Gaussian { means, covariance });
        let error = Densities { priors: vec![1.0 - prior, prior], density }.bayes_error(5).expect("an error");
        let ErrorMethod::MonteCarlo { standard_error, .. } = error.method else { panic!("drawn rows") };
        assert!((error.value - number(&case["value"])).abs() < 4.0 * standard_error, "{case}: {error:?}");
        assert!(standard_error < 1e-3);
    }
}

/// Drawn rows as data, and their truth.
fn drawn(generator: impl Generator + 'static, rows: u64, seed: u64) -> (Data, Truth) {
    let cols = generator.cols();
    let simulation = Simulation::new(Box::new(generator), rows, seed).expect("rows");
    let (values, classes) = simulation.draw();
    let labels = Labels::new(classes, simulation.generator().classes());
    (Data::new(values, cols, labels), simulation.truth().expect("a truth"))
}

fn weights(model: &Fitted) -> (Vec<f64>, f64) {
    let linear = model.discriminant.as_linear().expect("linear");
    (linear.weights_of(0).to_vec(), linear.intercept()[0])
}

fn maximum_likelihood() -> Method {
    Method::Risk(RiskMinimizer {
        penalty: PenaltyChoice::None,
        standardize: Standardize::No,
        ..RiskMinimizer::default()
    })
}

/// z-scores of weights and intercept by the inverse of the information at the truth.
fn check_logistic(data: &Data, truth: &Truth) {
    let (w, b) = weights(&data.model(&maximum_likelihood()));
    let true_w = &truth.weights.as_ref().expect("weights")[0];
    let true_b = truth.intercept.as_ref().expect("an intercept")[0];
    let d = data.cols;
    let mut information = linsep::linalg::Square::zeros(d + 1);
    for i in 0..data.rows() {
        let z: f64 = true_b + data.row(i).iter().zip(true_w).map(|(x, w)| x * w).sum::<f64>();
        let p = 1.0 / (1.0 + (-z).exp());
        let with_one: Vec<f64> = data.row(i).iter().copied().chain([1.0]).collect();
        information.add_outer(p * (1.0 - p), &with_one);
    }
    let factor = linsep::linalg::factor(&information, 1e-14);
    let found = w.iter().chain([&b]);
    for (j, (found, expected)) in found.zip(true_w.iter().chain([&true_b])).enumerate() {
        let unit: Vec<f64> = (0..=d).map(|i| f64::from(u8::from(i == j))).collect();
        let z = (found - expected) / factor.solve(&unit)[j].sqrt();
        assert!(z.abs() < 4.0, "coefficient {j}: {found}, not {expected} (z = {z})");
    }
}

#[test]
fn logistic_regression_finds_the_truth() {
    let (data, truth) =
        drawn(LogisticLabels::new(vec![1.0, -2.0, 0.0], 0.5, FeatureLaw::Normal(0.3)).expect("a model"), 20_000, 1);
    check_logistic(&data, &truth);
}

#[test]
fn logistic_regression_finds_the_log_odds_of_poisson_classes() {
    // Poisson classes have linear log-odds, w = log λ₁/λ₀ and w₀ = log π₁/π₀ − Σ(λ₁ − λ₀).
    let classes = poisson_classes(vec![0.4, 0.6], 3, 1.5).expect("classes");
    let (data, truth) = drawn(classes, 20_000, 2);
    check_logistic(&data, &truth);
}

#[test]
fn lda_finds_the_truth_and_errs_as_bayes_does() {
    let classes = gaussian_classes(vec![0.3, 0.7], 4, 1.8, 0.4).expect("classes");
    let (data, truth) = drawn(classes, 40_000, 3);
    let model = data.model(&Method::Gaussian(GaussianBayes::lda()));
    let (w, b) = weights(&model);
    // LDA is at least as precise as logistic regression, whose standard errors are near 0.02 here.
    let true_w = &truth.weights.as_ref().expect("weights")[0];
    for (found, expected) in w.iter().zip(true_w) {
        assert!((found - expected).abs() < 0.08, "{w:?} {true_w:?}");
    }
    assert!((b - truth.intercept.as_ref().expect("one")[0]).abs() < 0.08);
    let scores = data.scores(&model);
    let wrong = (0..data.rows()).filter(|i| (scores[*i] > 0.0) != (data.class(*i) == 1)).count() as f64;
    let (n, error) = (data.rows() as f64, truth.bayes_error.expect("an error").value);
    assert!(((wrong / n - error) / (error * (1.0 - error) / n).sqrt()).abs() < 4.0, "{} {error}", wrong / n);
}

#[test]
fn three_gaussian_classes_give_lda_its_scores() {
    let classes = gaussian_classes(vec![0.2, 0.5, 0.3], 2, 2.0, -0.2).expect("classes");
    let (data, truth) = drawn(classes, 40_000, 4);
    let model = data.model(&Method::Gaussian(GaussianBayes::lda()));
    let linear = model.discriminant.as_linear().expect("linear");
    for k in 0..3 {
        let expected = &truth.weights.as_ref().expect("weights")[k];
        for (found, expected) in linear.weights_of(k).iter().zip(expected) {
            assert!((found - expected).abs() < 0.08, "class {k}: {found} {expected}");
        }
        assert!((linear.intercept()[k] - truth.intercept.as_ref().expect("three")[k]).abs() < 0.1, "class {k}");
    }
}

#[test]
fn separable_rows_are_separable() {
    let (data, _) = drawn(Separable::new(vec![1.0, 2.0], -0.5, 0.1, [0.5, 0.5]).expect("a plane"), 300, 5);
    let fit = data.fit(&maximum_likelihood()).expect("an answer");
    assert!(matches!(fit, linsep::model::Fit::Refused(linsep::model::Refusal::NoOptimum(_))));
}

//! Reference values of R, scikit-learn and mpmath; their generators lie beside them in `golden/`.

use linsep::certify::Certificate;
use linsep::design::Standardize;
use linsep::discriminant::Linear;
use linsep::model::{Divisor, Fitted, GaussianBayes, Method, Note, Outcome, PenaltyChoice, RiskMinimizer, Shrinkage};
use linsep::numeric::{SoftmaxRow, exp, logistic, logistic_terms, normal_quantile, softmax_rows, softplus};
use linsep::objective::{Intercept, SoftmaxForm};
use serde_json::Value;
use testkit::data::{Data, posterior};
use testkit::golden::{Frame, json, matrix, number, numbers, strings};
use testkit::{assert_all_near, assert_near};

fn items(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn linear(model: &Fitted) -> &Linear {
    model.discriminant.as_linear().expect("a linear model")
}

/// The rows a golden case was computed from.
fn data_of(case: &Value) -> Data {
    let features = strings(&case["features"]);
    let classes = strings(&case["classes"]);
    let target = case["target"].as_str().expect("a target");
    let frame = Frame::golden(case["data"].as_str().expect("a file")).complete(&features);
    let at = frame.column(target);
    let data = frame.filter(|row| classes.contains(&row[at])).labelled(&features, target);
    assert_eq!(data.labels.names(), classes, "classes in sorted order");
    if let Some(n) = case["n"].as_u64() {
        assert_eq!(data.rows() as u64, n, "rows used");
    }
    data
}

/// Weights `1 + i mod 3` and offsets `0.1 (i mod 5)`, where the case has them.
fn with_weights_and_offsets(case: &Value, data: Data) -> Data {
    let n = data.rows();
    let data = match case["weighted"] == true {
        true => data.weighted((0..n).map(|i| (1 + i % 3) as f64).collect()),
        false => data,
    };
    match case["offset"] == true {
        true => data.offset(1, (0..n).map(|i| 0.1 * (i % 5) as f64).collect()),
        false => data,
    }
}

/// Weights and intercepts of all classes less those of the first, which no form of the model can change.
fn differences(coef: &[Vec<f64>], intercept: &[f64]) -> Vec<f64> {
    let mut out = Vec::new();
    for (w, b) in coef.iter().zip(intercept).skip(1) {
        out.extend(w.iter().zip(&coef[0]).map(|(w, first)| w - first));
        out.push(b - intercept[0]);
    }
    out
}

fn model_differences(model: &Fitted) -> Vec<f64> {
    let linear = linear(model);
    let coef: Vec<Vec<f64>> = (0..linear.n_scores()).map(|k| linear.weights_of(k).to_vec()).collect();
    if coef.len() == 1 {
        return coef[0].iter().copied().chain(linear.intercept()).collect();
    }
    differences(&coef, &linear.intercept())
}

fn lda(divisor: &str, shrinkage: Shrinkage, standardize: Standardize, priors: Option<Vec<f64>>) -> Method {
    let divisor = match divisor {
        "n" => Divisor::Mle,
        "n-K" => Divisor::Unbiased,
        other => panic!("no divisor {other}"),
    };
    Method::Gaussian(GaussianBayes { divisor, shrinkage, priors, standardize, ..GaussianBayes::lda() })
}

/// Posterior at the stored rows, coefficient differences, and the confusion matrix where it is stored.
///
/// The covariance of penguins has condition 1e7 (grams against millimetres); two ways of solving then agree to about
/// 1e-16·1e7, and R inverts by way of an SVD: hence 1e-8 for coefficients, and 1e-9 absolute for posteriors.
fn check_lda(set: &Value, case: &Value, method: &Method, tolerance: f64) {
    let data = data_of(set);
    let model = data.model(method);
    let expected = differences(&matrix(&case["coef"]), &numbers(&case["intercept"]));
    let mut found = model_differences(&model);
    if let Some(center) = case.get("center").filter(|_| case["standardize"] == true) {
        // Stored in standard units: w·(x−c)/s + b.
        let (center, scale) = (numbers(center), numbers(&case["scale"]));
        for score in found.chunks_exact_mut(data.cols + 1) {
            for j in 0..data.cols {
                score[data.cols] += score[j] * center[j];
                score[j] *= scale[j];
            }
        }
    }
    for (found, expected) in found.chunks_exact(data.cols + 1).zip(expected.chunks_exact(data.cols + 1)) {
        for (a, b) in found.iter().zip(expected) {
            assert_near(*a, *b, tolerance, 1e-3, "coefficient difference");
        }
    }
    let scores = data.scores(&model);
    let k = linear(&model).n_scores();
    let all: Vec<Vec<f64>> = scores.chunks_exact(k).map(posterior).collect();
    for (row, expected) in numbers(&set["rows"]).iter().zip(matrix(&case["posterior"])) {
        assert_all_near(&all[*row as usize], &expected, 1e-9, 1.0, "posterior");
        for (p, q) in all[*row as usize].iter().zip(&expected).filter(|(_, q)| **q > 1e-280) {
            // The tails too, as logarithms: a score of −100 is a statement.
            assert_near(p.ln(), q.ln(), 1e-7, 1.0, "log posterior");
        }
    }
    if let Some(confusion) = case.get("confusion") {
        let mut counts = vec![vec![0.0; data.labels.n_classes()]; data.labels.n_classes()];
        for (i, p) in all.iter().enumerate() {
            let best = (0..p.len()).max_by(|a, b| p[*a].total_cmp(&p[*b])).expect("classes");
            counts[data.class(i)][best] += 1.0;
        }
        assert_eq!(counts, matrix(confusion), "confusion matrix");
    }
    let Certificate::ClosedForm { relative_residual, .. } = &model.certificate else { panic!("no closed form") };
    assert!(*relative_residual < 1e-13, "residual {relative_residual:e}");
}

#[test]
fn lda_of_r() {
    let golden = json("lda_r.json");
    let mut cases = 0;
    for set in items(&golden["sets"]) {
        for case in items(&set["cases"]) {
            let priors = (case["prior_given"] == true).then(|| numbers(&case["priors"]));
            let divisor = case["divisor"].as_str().expect("a divisor");
            for standardize in [Standardize::No, Standardize::Yes] {
                check_lda(set, case, &lda(divisor, Shrinkage::None, standardize, priors.clone()), 1e-8);
            }
            cases += 1;
        }
    }
    assert_eq!(cases, 8);
}

#[test]
fn lda_of_scikit_learn() {
    let golden = json("lda_sklearn.json");
    let sets = items(&golden["sets"]);
    assert_eq!(sets.len(), 2);
    for set in sets {
        for name in ["lsqr", "svd"] {
            let divisor = set[name]["divisor"].as_str().expect("a divisor");
            check_lda(set, &set[name], &lda(divisor, Shrinkage::None, Standardize::No, None), 1e-8);
        }
        let fixed = Shrinkage::Fixed(number(&set["lsqr_shrunk"]["shrinkage"]));
        check_lda(set, &set["lsqr_shrunk"], &lda("n", fixed, Standardize::No, None), 1e-9);
        for (name, standardize) in [("ledoit_wolf", Standardize::No), ("ledoit_wolf_standardized", Standardize::Yes)] {
            let method = lda("n", Shrinkage::LedoitWolf, standardize, None);
            check_lda(set, &set[name], &method, 1e-8);
            let model = data_of(set).model(&method);
            let found = model.notes.iter().find_map(|n| match n {
                Note::Shrinkage { intensity } => Some(*intensity),
                _ => None,
            });
            assert_near(found.expect("a note"), number(&set[name]["shrinkage"]), 1e-10, 0.0, "intensity");
        }
    }
}

/// A relative gap near the end of double precision: coefficients are only as good as the square root of the gap.
const TIGHT: f64 = 1e-14;
/// A gap that cannot be reached, so that the solver goes on to the limit of precision, where coefficients have all
/// the digits they can have.
const UNREACHABLE: f64 = 1e-300;

fn ridge(penalty: PenaltyChoice, standardize: Standardize, intercept: Intercept) -> Method {
    let tolerance = TIGHT;
    Method::Risk(RiskMinimizer { penalty, standardize, intercept, tolerance, ..RiskMinimizer::default() })
}

fn likelihood(standardize: Standardize, form: SoftmaxForm, tolerance: f64) -> Method {
    let penalty = PenaltyChoice::None;
    Method::Risk(RiskMinimizer { penalty, standardize, form, tolerance, ..RiskMinimizer::default() })
}

/// `|β − β̂|ⱼ ≤ seⱼ √S ‖β − β̂‖_H`, and `‖β − β̂‖_H ≤ ν/(1−ρν)` (Bach 2010): what the certificate promises of a
/// coefficient.
fn certified_distance(model: &Fitted, total_weight: f64) -> f64 {
    let Certificate::SelfConcordance { decrement, radius, .. } = &model.certificate else { panic!("no bound") };
    assert!(decrement * radius < 0.1, "ρν = {}", decrement * radius);
    // Rounding of the gradient itself, about 1e-15 in its natural units, is beyond what the bound knows.
    total_weight.sqrt() * decrement / (1.0 - decrement * radius) + 1e-12
}

#[test]
fn maximum_likelihood_of_r_glm() {
    let golden = json("logistic_r.json");
    let cases = items(&golden["glm"]);
    assert_eq!(cases.len(), 4);
    for case in cases {
        let data = with_weights_and_offsets(case, data_of(case));
        let both = |coef: &str, intercept: &str| -> Vec<f64> {
            numbers(&case[coef]).into_iter().chain(numbers(&case[intercept])).collect()
        };
        let (expected, se) = (both("coef", "intercept"), both("se_coef", "se_intercept"));
        for standardize in [Standardize::Yes, Standardize::No] {
            for tolerance in [1e-8, 1e-12, TIGHT] {
                let model = data.model(&likelihood(standardize, SoftmaxForm::Symmetric, tolerance));
                assert_eq!(model.outcome, Outcome::Converged, "at {tolerance:e}");
                let distance = certified_distance(&model, number(&case["S"]));
                for ((a, b), se) in model_differences(&model).iter().zip(&expected).zip(&se) {
                    assert!((a - b).abs() <= se * distance, "{a} and {b} differ by more than {distance:e} · {se}");
                }
            }
            let model = data.model(&likelihood(standardize, SoftmaxForm::Symmetric, UNREACHABLE));
            assert_eq!(model.outcome, Outcome::PrecisionLimit);
            for (a, b) in model_differences(&model).iter().zip(&expected) {
                assert_near(*a, *b, 1e-8, 0.0, "coefficient");
            }
            assert_near(-model.objective.value, number(&case["mean_log_likelihood"]), 1e-12, 0.0, "log-likelihood");
        }
    }
}

#[test]
fn maximum_likelihood_of_r_multinom() {
    let golden = json("logistic_r.json");
    let cases = items(&golden["multinom"]);
    assert_eq!(cases.len(), 2);
    for case in cases {
        let data = with_weights_and_offsets(case, data_of(case));
        let se: Vec<f64> = matrix(&case["reference_se_coef"]).concat();
        let expected: Vec<f64> = matrix(&case["reference_coef"]).concat();
        for tolerance in [1e-8, 1e-12, TIGHT] {
            let model = data.model(&likelihood(Standardize::Yes, SoftmaxForm::Reference, tolerance));
            assert_eq!(model.outcome, Outcome::Converged, "at {tolerance:e}");
            let distance = certified_distance(&model, number(&case["S"]));
            let found = [linear(&model).weights_of(1), linear(&model).weights_of(2)].concat();
            for ((a, b), se) in found.iter().zip(&expected).zip(&se) {
                assert!((a - b).abs() <= se * distance, "{a} and {b} differ by more than {distance:e} · {se}");
            }
        }
        for (form, name, skip) in [(SoftmaxForm::Symmetric, "symmetric", 0), (SoftmaxForm::Reference, "reference", 1)] {
            let model = data.model(&likelihood(Standardize::Yes, form, UNREACHABLE));
            assert_eq!(model.outcome, Outcome::PrecisionLimit);
            let (coef, intercept) = (&case[format!("{name}_coef")], &case[format!("{name}_intercept")]);
            let found = linear(&model);
            for (k, (w, b)) in matrix(coef).iter().zip(numbers(intercept)).enumerate() {
                assert_all_near(found.weights_of(k + skip), w, 1e-8, 0.0, "weights");
                assert_near(found.intercept()[k + skip], b, 1e-8, 0.0, "intercept");
            }
            assert!(skip == 0 || found.weights_of(0).iter().all(|w| *w == 0.0), "the reference has zeros");
            assert_near(-model.objective.value, number(&case["mean_log_likelihood"]), 1e-12, 0.0, "log-likelihood");
        }
    }
}

#[test]
fn maximum_likelihood_of_statsmodels() {
    let golden = json("logistic_statsmodels.json");
    assert_eq!(items(&golden["cases"]).len(), 3);
    for case in items(&golden["cases"]) {
        let data = data_of(case);
        let model = data.model(&likelihood(Standardize::Yes, SoftmaxForm::Reference, UNREACHABLE));
        let mut expected = Vec::new();
        for (w, b) in matrix(&case["coef"]).into_iter().zip(numbers(&case["intercept"])) {
            expected.extend(w);
            expected.push(b);
        }
        assert_all_near(&model_differences(&model), &expected, 1e-8, 0.0, "coefficients");
        let rows = data.rows() as f64;
        assert_near(-model.objective.value * rows, number(&case["log_likelihood"]), 1e-12, 0.0, "log-likelihood");
    }
}

#[test]
fn ridge_of_scikit_learn() {
    let golden = json("logistic_sklearn.json");
    let cases = items(&golden["cases"]);
    assert_eq!(cases.len(), 36);
    for (at, case) in cases.iter().enumerate() {
        let data = with_weights_and_offsets(case, data_of(case));
        let standardize = if case["standardize"] == true { Standardize::Yes } else { Standardize::No };
        let intercept = if case["intercept"] == "free" { Intercept::Free } else { Intercept::None };
        // λ = 1/(C·S); C = 1 is the default, and asked for as such.
        let lambda = 1.0 / (number(&case["C"]) * number(&case["S"]));
        assert_near(lambda, number(&case["lambda"]), 1e-15, 0.0, "λ");
        let penalty = if number(&case["C"]) == 1.0 { PenaltyChoice::RidgeOne } else { PenaltyChoice::Ridge(lambda) };
        let model = data.model(&ridge(penalty, standardize, intercept));
        assert_eq!(model.outcome, Outcome::Converged, "case {at}");
        assert_near(model.objective.value, number(&case["objective"]), 1e-12, 0.0, &format!("objective of case {at}"));
        assert_near(model.objective.lambda.expect("λ"), lambda, 1e-15, 0.0, "λ of the model");
        let (center, scale) = (numbers(&case["center"]), numbers(&case["scale"]));
        let (coef, intercepts) = (matrix(&case["coef"]), numbers(&case["intercepts"]));
        let found = linear(&model);
        let Certificate::DualityGap { weight_distance, .. } = &model.certificate else { panic!("no gap") };
        let mut distance = 0.0;
        for k in 0..found.n_scores() {
            // In the golden's units: w·(x−c)/s + b.
            let w: Vec<f64> = found.weights_of(k).iter().zip(&scale).map(|(w, s)| w * s).collect();
            let b = found.intercept()[k] + w.iter().zip(&scale).zip(&center).map(|((w, s), c)| w / s * c).sum::<f64>();
            assert_all_near(&w, &coef[k], 1e-6, 0.0, &format!("weights of case {at}"));
            assert_near(b, intercepts[k], 1e-6, 1.0, &format!("intercept of case {at}"));
            distance += w.iter().zip(&coef[k]).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        }
        let bound = weight_distance.expect("a ridge bounds the distance");
        assert!(distance.sqrt() <= bound, "case {at}: the weights are {:e} away, not {bound:e}", distance.sqrt());
    }
}

#[test]
fn exponential_of_mpmath() {
    let golden = json("special.json");
    let (x, value) = (numbers(&golden["exp"]["x"]), numbers(&golden["exp"]["value"]));
    assert!(x.len() > 60);
    for (x, value) in x.iter().zip(&value) {
        // Subnormal results are rounded once more: one unit of 4.9e-324.
        let allowed = 2.0 * f64::EPSILON * value + 4.95e-324;
        assert!((exp(*x) - value).abs() <= allowed, "exp({x}) = {:e}, not {value:e}", exp(*x));
    }
}

#[test]
fn logistic_function_of_mpmath() {
    let golden = json("special.json");
    let golden = &golden["logistic"];
    let columns = ["softplus", "sigma", "one_minus_sigma"].map(|name| numbers(&golden[name]));
    for (i, z) in numbers(&golden["z"]).iter().enumerate() {
        let t = logistic_terms(*z);
        for (found, column) in [t.softplus, t.p, t.q].iter().zip(&columns) {
            let allowed = 4.0 * f64::EPSILON * column[i] + 4.95e-324;
            assert!((found - column[i]).abs() <= allowed, "at {z}: {found:e}, not {:e}", column[i]);
        }
        assert_eq!((logistic(*z), softplus(*z)), (t.p, t.softplus));
    }
}

#[test]
fn normal_quantiles_of_mpmath() {
    let golden = json("special.json");
    let (p, value) = (numbers(&golden["normal_quantile"]["p"]), numbers(&golden["normal_quantile"]["value"]));
    assert!(p.len() > 30);
    for (p, value) in p.iter().zip(&value) {
        let found = normal_quantile(*p);
        assert!((found - value).abs() <= 4.0 * f64::EPSILON * value.abs(), "at {p:e}: {found:e}, not {value:e}");
    }
}

#[test]
fn log_sum_exp_of_mpmath() {
    let golden = json("special.json");
    for case in items(&golden["log_sum_exp"]) {
        let (mut x, value) = (numbers(&case["x"]), number(&case["value"]));
        let mut rows = [SoftmaxRow { max: 0.0, log_sum: 0.0 }];
        let k = x.len();
        softmax_rows(k, &mut x, &mut rows);
        // Of the sum of the two parts; where they cancel, of the larger.
        let scale = rows[0].max.abs().max(rows[0].log_sum);
        assert_near(rows[0].max + rows[0].log_sum, value, 1e-15, scale, &format!("{case}"));
        assert_near(x.iter().sum(), 1.0, 1e-15, 0.0, "probabilities");
    }
    // The part that `max + log_sum` rounds away is what the loss of a certain row is made of.
    for z in [36.0, 40.0, 100.0, 700.0] {
        let mut x = [0.0, -z];
        let mut rows = [SoftmaxRow { max: 0.0, log_sum: 0.0 }];
        softmax_rows(2, &mut x, &mut rows);
        assert_near(rows[0].log_sum, softplus(-z), 1e-14, 0.0, "log(1+e⁻ᶻ)");
    }
}

//! Statements that hold exactly, each with the conditions under which it does.

use linsep::design::{CsrMatrix, Design, LabelledRows, Standardize, Units};
use linsep::linalg::factor;
use linsep::model::{Divisor, Fitted, GaussianBayes, Method, PenaltyChoice, RiskMinimizer};
use linsep::numeric::{logistic, softplus};
use linsep::objective::{
    Coef, Conjugate, CurvedLoss, Detail, Intercept, Logistic, Loss, Penalty, Point, Ridge, Risk, Sample, ScoredBlock,
    Softmax, SoftmaxForm, dual_point_of,
};
use linsep::solve::{Newton, Solver};
use linsep::stats::{ClassMoments, Scatter};
use linsep::table::Class;
use linsep::watch::Watch;
use testkit::data::{Data, Source, gaussian, overlapping, posterior};
use testkit::golden::{json, numbers};
use testkit::twin::{Form, Gaussians, Twin, solve};
use testkit::{assert_all_near, assert_near};

/// A gap that cannot be reached: the solver goes on to the limit of precision.
const PRECISE: f64 = 1e-300;

fn lda(divisor: Divisor, priors: Option<Vec<f64>>) -> Method {
    Method::Gaussian(GaussianBayes { divisor, priors, ..GaussianBayes::lda() })
}

fn ridge(lambda: f64) -> Method {
    Method::Risk(RiskMinimizer {
        penalty: PenaltyChoice::Ridge(lambda),
        standardize: Standardize::No,
        tolerance: PRECISE,
        ..RiskMinimizer::default()
    })
}

fn weights(model: &Fitted, score: usize) -> Vec<f64> {
    model.discriminant.as_linear().expect("a linear model").weights_of(score).to_vec()
}

fn watch() -> Watch {
    Watch::default()
}

fn sample<'a>(data: &'a Data, design: &'a dyn Design, units: &'a Units) -> Sample<'a> {
    let rows = LabelledRows::new(design, data.labels.codes()).weighted(data.weights.as_deref());
    Sample::new(rows, units).with_offsets(data.offsets.as_ref().map(|(_, o)| &o[..]))
}

// ---------------------------------------------------------------- LDA

/// S0 theorem 12: with a shared covariance the posterior of the second of two classes is σ(w·x + w₀).
#[test]
fn the_posterior_of_two_gaussian_classes_is_logistic() {
    let data = gaussian(&[70, 110], &[vec![0.0, 0.0, 1.0], vec![1.0, -0.5, 0.0]], 1);
    let model = data.model(&lda(Divisor::Unbiased, None));
    let linear = model.discriminant.as_linear().expect("a linear model");
    let twin = Gaussians::of(&data, |total, k| total - k as f64);
    for i in 0..data.rows() {
        let joint = twin.log_joint(data.row(i), None);
        let z = linear.intercept()[0] + data.row(i).iter().zip(linear.weights_of(0)).map(|(x, w)| x * w).sum::<f64>();
        assert_near(logistic(z), logistic(joint[1] - joint[0]), 1e-11, 0.0, "posterior");
    }
}

#[test]
fn the_posterior_of_lda_is_bayes_formula() {
    for (divisor, priors) in [(Divisor::Unbiased, None), (Divisor::Mle, Some(vec![0.2, 0.5, 0.3]))] {
        let means = [vec![0.0, 0.0, 0.0], vec![1.5, -0.5, 0.0], vec![0.0, 1.0, 2.0]];
        let data = gaussian(&[40, 60, 50], &means, 2);
        let data = data.weighted((0..150).map(|i| 0.5 + (i % 4) as f64).collect());
        let model = data.model(&lda(divisor, priors.clone()));
        let twin = Gaussians::of(&data, |total, k| if divisor == Divisor::Mle { total } else { total - k as f64 });
        for (i, z) in data.scores(&model).chunks_exact(3).enumerate() {
            let bayes = posterior(&twin.log_joint(data.row(i), priors.as_deref()));
            for (p, q) in posterior(z).iter().zip(&bayes) {
                assert_near(*p, *q, 1e-10, 0.0, "posterior");
            }
        }
    }
}

/// Two classes, no ridge, full rank: `w_LS = 2π₁π₀ S_n⁻¹Δ/(1 + π₁π₀ ΔᵀS_n⁻¹Δ)`, at any counts, for targets ±1.
#[test]
fn least_squares_is_parallel_to_lda_at_any_counts() {
    for counts in [[50, 50], [20, 130], [7, 90]] {
        let data = gaussian(&counts, &[vec![0.0, 0.0, 0.0], vec![1.0, 0.3, -0.7]], 3);
        let (n, d) = (data.rows(), data.cols);
        let mut normal = vec![vec![0.0; d + 1]; d + 1];
        let mut right = vec![0.0; d + 1];
        for i in 0..n {
            let x: Vec<f64> = data.row(i).iter().copied().chain([1.0]).collect();
            let y = if data.class(i) == 1 { 1.0 } else { -1.0 };
            for a in 0..=d {
                right[a] += x[a] * y;
                (0..=d).for_each(|b| normal[a][b] += x[a] * x[b]);
            }
        }
        let least_squares = solve(&normal, &right).expect("full rank");
        let w = weights(&data.model(&lda(Divisor::Mle, None)), 0);
        let twin = Gaussians::of(&data, |total, _| total);
        let pi = [counts[0] as f64 / n as f64, counts[1] as f64 / n as f64];
        let delta: Vec<f64> = twin.means[1].iter().zip(&twin.means[0]).map(|(a, b)| a - b).collect();
        let squared: f64 = delta.iter().zip(&w).map(|(a, b)| a * b).sum();
        let factor = 2.0 * pi[0] * pi[1] / (1.0 + pi[0] * pi[1] * squared);
        let scaled: Vec<f64> = w.iter().map(|w| w * factor).collect();
        assert_all_near(&least_squares[..d], &scaled, 1e-11, 0.0, "least squares and LDA");
    }
}

#[test]
fn statistics_merge_as_if_the_rows_were_one_table() {
    let data = overlapping(3000, 4, 3, 4).map(|j, v| v + [0.0, 1e7, -50.0, 3.0][j]);
    let data = data.weighted((0..3000).map(|i| (i % 4) as f64 * 0.5).collect());
    let of = |rows: &[usize]| {
        let part = data.select(rows);
        ClassMoments::of(&part.dense(), &part.labels, part.weights.as_deref(), &watch()).expect("finite features")
    };
    let all: Vec<usize> = (0..3000).collect();
    let whole = of(&all);
    for cut in [1, 17, 1500, 2999] {
        let mut merged = of(&all[..cut]);
        merged.merge(&of(&all[cut..])).expect("the same columns and classes");
        for k in 0..3 {
            assert_near(merged.weight(k), whole.weight(k), 1e-14, 0.0, "weight");
            assert_all_near(merged.mean(k), whole.mean(k), 1e-13, 0.0, "mean");
        }
        let scale: Vec<f64> = whole.scatter().diagonal().iter().map(|d| d.sqrt()).collect();
        for j in 0..4 {
            for i in j..4 {
                // Relative to the scale of the two columns. The column at 1e7 is itself rounded at 1e-9 of its
                // standard deviation, and the mean of a part with it: 1e-9 squared is harmless, 1e-9 once is not.
                let tolerance = if i == 1 || j == 1 { 1e-9 } else { 1e-12 };
                let (a, b) = (merged.scatter().get(i, j), whole.scatter().get(i, j));
                assert_near(a / (scale[i] * scale[j]), b / (scale[i] * scale[j]), tolerance, 1.0, "scatter");
            }
        }
    }
    let mut with_nothing = whole.clone();
    with_nothing.merge(&ClassMoments::empty(Scatter::Pooled, 3, 4)).expect("the same shape");
    assert_eq!(with_nothing, whole);
    let mut from_nothing = ClassMoments::empty(Scatter::Pooled, 3, 4);
    from_nothing.merge(&whole).expect("the same shape");
    assert_eq!(from_nothing, whole);
    assert!(from_nothing.merge(&ClassMoments::empty(Scatter::Own, 3, 4)).is_err(), "another kind");
    assert!(from_nothing.merge(&ClassMoments::empty(Scatter::Pooled, 3, 5)).is_err(), "other columns");
}

#[test]
fn statistics_survive_bytes_and_refuse_garbage() {
    let data = overlapping(50, 3, 2, 5);
    let moments = ClassMoments::of(&data.dense(), &data.labels, None, &watch()).expect("finite features");
    let bytes = moments.to_bytes();
    assert_eq!(ClassMoments::from_bytes(&bytes).expect("our own bytes"), moments);
    for cut in [0, 1, 7, 8, 15, 16, bytes.len() - 8, bytes.len() - 1] {
        assert!(ClassMoments::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    let longer = [&bytes[..], &[0; 8]].concat();
    assert!(ClassMoments::from_bytes(&longer).is_err(), "too long");
    let mut source = Source::new(6);
    for _ in 0..200 {
        let garbage: Vec<u8> = (0..8 * source.below(40)).map(|_| source.below(256) as u8).collect();
        assert!(ClassMoments::from_bytes(&garbage).is_err(), "garbage");
    }
    // Sizes that overflow when multiplied.
    let huge = [u64::MAX.to_le_bytes(), u64::MAX.to_le_bytes()].concat();
    assert!(ClassMoments::from_bytes(&huge).is_err(), "huge sizes");
    // Values that no rows have.
    for (word, bad) in [(2, f64::NAN), (2, -1.0), (5, f64::INFINITY), (bytes.len() / 8 - 1, f64::NAN)] {
        let mut spoilt = bytes.clone();
        spoilt[word * 8..word * 8 + 8].copy_from_slice(&bad.to_le_bytes());
        assert!(ClassMoments::from_bytes(&spoilt).is_err(), "{bad} in word {word}");
    }
}

// ---------------------------------------------------------------- logistic and softmax

/// Slow and fast: the library against plain Newton and plain gradient descent with naive loops.
#[test]
fn the_solution_is_that_of_the_slow_twins() {
    for classes in [2, 3] {
        let data = overlapping(120, 2, classes, 7 + classes as u64);
        let data = data.weighted((0..120).map(|i| 1.0 + (i % 3) as f64).collect());
        let form = if classes == 2 { Form::Reference } else { Form::Symmetric };
        let twin = Twin { data: &data, form, lambda: 0.05 };
        let model = data.model(&ridge(0.05));
        let linear = model.discriminant.as_linear().expect("a linear model");
        let found: Vec<f64> = (0..linear.n_scores())
            .flat_map(|k| linear.weights_of(k).iter().copied().chain([linear.intercept()[k]]).collect::<Vec<f64>>())
            .collect();
        let newton = twin.newton();
        assert_all_near(&found, &newton, 1e-10, 0.0, "plain Newton");
        assert_near(model.objective.value, twin.objective(&newton), 1e-13, 0.0, "objective");
        assert_all_near(&found, &twin.descend(5000), 1e-6, 0.0, "gradient descent");
    }
}

/// The two-class softmax in reference form is the logistic model, for every penalty.
#[test]
fn two_class_softmax_in_reference_form_is_logistic() {
    let data = overlapping(150, 3, 2, 9);
    let (design, units) = (data.dense(), Units::identity(3));
    let newton = Newton { tolerance: PRECISE, max_iterations: 100 };
    for penalty in [Ridge::none(), Ridge::new(0.03)] {
        for intercept in [Intercept::Free, Intercept::None] {
            let softmax = Softmax::new(2, SoftmaxForm::Reference);
            let a = Risk::new(sample(&data, &design, &units), softmax, penalty.clone(), intercept);
            let b = Risk::new(sample(&data, &design, &units), Logistic, penalty.clone(), intercept);
            let (a, b) = (newton.solve(&a, None, &watch()).unwrap(), newton.solve(&b, None, &watch()).unwrap());
            assert_all_near(a.point.coef.as_slice(), b.point.coef.as_slice(), 1e-11, 0.0, "coefficients");
            assert_near(a.point.objective, b.point.objective, 1e-14, 0.0, "objective");
            if !penalty.is_none() {
                let (a, b) = (a.certificate.gap().unwrap(), b.certificate.gap().unwrap());
                assert!(a < 1e-13 && b < 1e-13, "gaps {a:e} and {b:e}");
            }
        }
    }
}

/// The symmetric two-class form with ridge λ_sym = 2 λ_log is the logistic model with w = w₁ − w₀.
#[test]
fn symmetric_two_class_softmax_needs_twice_the_ridge() {
    let data = overlapping(150, 3, 2, 10);
    let (design, units) = (data.dense(), Units::identity(3));
    let newton = Newton { tolerance: PRECISE, max_iterations: 100 };
    let lambda = 0.02;
    let logistic = Risk::new(sample(&data, &design, &units), Logistic, Ridge::new(lambda), Intercept::Free);
    let symmetric = |lambda: f64| {
        let loss = Softmax::new(2, SoftmaxForm::Symmetric);
        let risk = Risk::new(sample(&data, &design, &units), loss, Ridge::new(lambda), Intercept::Free);
        let coef = newton.solve(&risk, None, &watch()).unwrap().point.coef;
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<f64>>();
        let mut all = difference(coef.weights_of(1), coef.weights_of(0));
        all.push(coef.intercept()[1] - coef.intercept()[0]);
        all
    };
    let one = newton.solve(&logistic, None, &watch()).unwrap().point.coef;
    assert_all_near(&symmetric(2.0 * lambda), one.as_slice(), 1e-10, 0.0, "2λ");
    let same = symmetric(lambda);
    assert!((same[0] - one.as_slice()[0]).abs() > 1e-3, "with the same λ it is another model");
}

/// `λ = 1/(C·S)`: the same model whether the weights are doubled or C is, and λ = 1/S is C = 1.
#[test]
fn lambda_and_c_convert() {
    let data = overlapping(100, 2, 3, 11);
    let one = Method::Risk(RiskMinimizer { tolerance: PRECISE, ..RiskMinimizer::default() });
    let given = |lambda: f64| {
        let penalty = PenaltyChoice::Ridge(lambda);
        Method::Risk(RiskMinimizer { penalty, tolerance: PRECISE, ..RiskMinimizer::default() })
    };
    let a = data.model(&one);
    assert_near(a.objective.lambda.unwrap(), 0.01, 1e-15, 0.0, "λ = 1/S");
    assert_eq!(a.discriminant, data.model(&given(0.01)).discriminant);
    // Weights 2 and C = 1 is weights 1 and C = 2.
    let doubled = data.weighted(vec![2.0; 100]).model(&one);
    assert_near(doubled.objective.lambda.unwrap(), 0.005, 1e-15, 0.0, "λ = 1/S");
    assert_all_near(&data.scores(&doubled), &data.scores(&data.model(&given(0.005))), 1e-10, 1.0, "scores");
}

/// The undamped Newton step is the iteratively reweighted least squares step: `X̃ᵀWX̃ β⁺ = X̃ᵀW z`, `z = η − o + W⁻¹(y−p)`.
#[test]
fn the_newton_step_is_the_irls_step() {
    let mut source = Source::new(12);
    let data = overlapping(80, 3, 2, 12);
    let offsets: Vec<f64> = source.normals(80);
    let data = data.weighted((0..80).map(|i| 0.5 + (i % 3) as f64).collect()).offset(1, offsets.clone());
    let (design, units) = (data.dense(), Units::identity(3));
    let risk = Risk::new(sample(&data, &design, &units), Logistic, Ridge::none(), Intercept::Free);
    let start = Coef::from_vec(vec![0.3, -0.2, 0.1, 0.4], 1, 3);
    let point = risk.at(&start, Detail::Hessian, &watch()).expect("a point");
    let step = factor(point.hessian.as_ref().expect("a Hessian"), 1e-14).solve(point.gradient.as_slice());
    let newton: Vec<f64> = start.as_slice().iter().zip(&step).map(|(b, s)| b - s).collect();
    let (mut normal, mut right) = (vec![vec![0.0; 4]; 4], vec![0.0; 4]);
    for (i, offset) in offsets.iter().enumerate() {
        let x: Vec<f64> = data.row(i).iter().copied().chain([1.0]).collect();
        let eta = offset + x.iter().zip(start.as_slice()).map(|(x, b)| x * b).sum::<f64>();
        let p = 1.0 / (1.0 + (-eta).exp());
        let y = if data.class(i) == 1 { 1.0 } else { 0.0 };
        let z = eta - offset + (y - p) / (p * (1.0 - p));
        let w = data.weight(i) * p * (1.0 - p);
        for a in 0..4 {
            right[a] += w * x[a] * z;
            (0..4).for_each(|b| normal[a][b] += w * x[a] * x[b]);
        }
    }
    assert_all_near(&newton, &solve(&normal, &right).expect("full rank"), 1e-11, 0.0, "IRLS");
}

// ---------------------------------------------------------------- derivatives of the risk

/// Objective, gradient, Hessian, its diagonal and its products, by central differences of each other.
fn check_derivatives<L: CurvedLoss>(risk: &Risk<'_, L>, coef: &Coef, what: &str) {
    let at = |coef: &Coef| -> Point { risk.at(coef, Detail::Hessian, &watch()).expect("a point") };
    let point = at(coef);
    let hessian = point.hessian.as_ref().expect("a Hessian");
    let diagonal = risk.hessian_diagonal(&point, &watch()).expect("a diagonal");
    let weights = coef.weights().len();
    let none = risk.intercept() == Intercept::None;
    let h = 1e-5;
    for j in 0..coef.as_slice().len() {
        if none && j >= weights {
            assert_eq!(point.gradient.as_slice()[j], 0.0, "{what}: no intercept");
            continue;
        }
        let mut unit = Coef::zeros(coef.n_scores(), coef.n_cols());
        unit.as_mut_slice()[j] = 1.0;
        let (above, below) = (at(&coef.moved(h, &unit)), at(&coef.moved(-h, &unit)));
        let slope = (above.objective - below.objective) / (2.0 * h);
        assert_near(slope, point.gradient.as_slice()[j], 1e-8, 1.0, &format!("{what}: gradient {j}"));
        let product = risk.hess_vec(&point, &unit, &watch()).expect("a product");
        assert_near(diagonal.as_slice()[j], product.as_slice()[j], 1e-12, 1.0, &format!("{what}: diagonal {j}"));
        for i in 0..coef.as_slice().len() {
            if none && i >= weights {
                continue;
            }
            let slope = (above.gradient.as_slice()[i] - below.gradient.as_slice()[i]) / (2.0 * h);
            let name = format!("{what}: Hessian {i}, {j}");
            assert_near(slope, product.as_slice()[i], 1e-7, 1.0, &name);
            // A free symmetric form has one flat direction, which the matrix fills and the product does not.
            let filled = risk.loss().shift_invariant() && risk.intercept() == Intercept::Free;
            if !(filled && i >= weights && j >= weights) {
                assert_near(hessian.get(i, j), product.as_slice()[i], 1e-12, 1.0, &name);
            }
        }
        // Along a line, from cached scores.
        let line = risk.along(&unit, &watch()).expect("a line");
        assert_near(risk.on_line(&point, &line, h), above.objective, 1e-13, 0.0, &format!("{what}: line {j}"));
    }
}

fn check_risks(data: &Data, design: &dyn Design, units: &Units, source: &mut Source, what: &str) {
    let classes = data.labels.n_classes();
    for penalty in [Ridge::none(), Ridge::new(0.3)] {
        for intercept in [Intercept::Free, Intercept::None, Intercept::Penalised] {
            let mut forms = vec![];
            if classes == 2 {
                let risk = Risk::new(sample(data, design, units), Logistic, penalty.clone(), intercept);
                check_derivatives(&risk, &random(1, data.cols, source), &format!("{what}, logistic, {intercept:?}"));
                forms.push(SoftmaxForm::Reference);
            } else if data.offsets.as_ref().is_none_or(|(k, _)| *k == classes) {
                forms.push(SoftmaxForm::Symmetric);
            }
            for form in forms {
                let loss = Softmax::new(classes, form);
                let risk = Risk::new(sample(data, design, units), loss, penalty.clone(), intercept);
                let coef = random(loss.n_scores(), data.cols, source);
                check_derivatives(&risk, &coef, &format!("{what}, {form:?} {classes}, {penalty:?} {intercept:?}"));
            }
        }
    }
}

fn random(scores: usize, cols: usize, source: &mut Source) -> Coef {
    Coef::from_vec(source.normals(scores * (cols + 1)), scores, cols)
}

#[test]
fn derivatives_of_the_risk_by_differences() {
    let mut source = Source::new(13);
    for classes in [2, 3, 4] {
        let scores = if classes == 2 { 1 } else { classes };
        let plain = overlapping(30, 3, classes, 14).map(|j, v| if j == 0 && v < 0.3 { 0.0 } else { v });
        let offsets: Vec<f64> = source.normals(30 * scores);
        let weights: Vec<f64> = (0..30).map(|i| [1.0, 0.0, 2.5][i % 3]).collect();
        let full = plain.weighted(weights).offset(scores, offsets);
        let units = Units::new(vec![0.5, -1.0, 0.0], vec![2.0, 0.5, 1.0]);
        for (data, name) in [(&plain, "plain"), (&full, "weights and offsets")] {
            for (units, kind) in [(&Units::identity(3), "raw"), (&units, "in units")] {
                let (dense, sparse): (_, CsrMatrix<'_>) = (data.dense(), data.csr());
                check_risks(data, &dense, units, &mut source, &format!("{name}, {kind}, dense"));
                check_risks(data, &sparse, units, &mut source, &format!("{name}, {kind}, sparse"));
                check_risks(data, &data.singles(), units, &mut source, &format!("{name}, {kind}, singles"));
            }
        }
    }
}

/// Objective and gradient against the naive formula, on more rows than one block holds.
#[test]
fn the_risk_is_that_of_the_slow_twin() {
    let mut source = Source::new(15);
    for classes in [2, 5] {
        let data = overlapping(2500, 3, classes, 16);
        let data = data.weighted((0..2500).map(|i| (i % 3) as f64).collect());
        let form = if classes == 2 { Form::Reference } else { Form::Symmetric };
        let twin = Twin { data: &data, form, lambda: 0.1 };
        let k = if classes == 2 { 1 } else { classes };
        let coef = random(k, 3, &mut source);
        let beta: Vec<f64> = (0..k)
            .flat_map(|c| coef.weights_of(c).iter().copied().chain([coef.intercept()[c]]).collect::<Vec<f64>>())
            .collect();
        let (design, units) = (data.dense(), Units::identity(3));
        let penalty = Ridge::new(0.1);
        let point = if classes == 2 {
            let risk = Risk::new(sample(&data, &design, &units), Logistic, penalty, Intercept::Free);
            risk.at(&coef, Detail::Gradient, &watch()).unwrap()
        } else {
            let loss = Softmax::new(classes, SoftmaxForm::Symmetric);
            let risk = Risk::new(sample(&data, &design, &units), loss, penalty, Intercept::Free);
            risk.at(&coef, Detail::Gradient, &watch()).unwrap()
        };
        assert_near(point.objective, twin.objective(&beta), 1e-13, 0.0, "objective");
        let (gradient, _) = twin.derivatives(&beta);
        let found: Vec<f64> = (0..k)
            .flat_map(|c| {
                let g = &point.gradient;
                g.weights_of(c).iter().copied().chain([g.intercept()[c]]).collect::<Vec<f64>>()
            })
            .collect();
        assert_all_near(&found, &gradient, 1e-13, 0.0, "gradient");
    }
}

// ---------------------------------------------------------------- the loss registry

/// What every loss must do; a new loss is added to `losses` and inherits it.
struct RegisteredLoss {
    name: &'static str,
    loss: Box<dyn Conjugate>,
}

fn losses() -> Vec<RegisteredLoss> {
    let softmax = |k: usize, form: SoftmaxForm| Box::new(Softmax::new(k, form)) as Box<dyn Conjugate>;
    vec![
        RegisteredLoss { name: "logistic", loss: Box::new(Logistic) },
        RegisteredLoss { name: "softmax 2, reference", loss: softmax(2, SoftmaxForm::Reference) },
        RegisteredLoss { name: "softmax 2, symmetric", loss: softmax(2, SoftmaxForm::Symmetric) },
        RegisteredLoss { name: "softmax 3, symmetric", loss: softmax(3, SoftmaxForm::Symmetric) },
        RegisteredLoss { name: "softmax 5, reference", loss: softmax(5, SoftmaxForm::Reference) },
    ]
}

/// Value, first and packed second derivatives of one row.
fn one_row(loss: &dyn Conjugate, y: usize, z: &[f64]) -> (f64, Vec<f64>, Vec<f64>) {
    let k = loss.n_scores();
    let (mut first, mut second) = (vec![0.0; k], vec![0.0; k * (k + 1) / 2]);
    let value = loss.block(&[Class(y as u32)], z, None, &mut first, Some(&mut second));
    (value, first, second)
}

#[test]
fn losses_have_the_derivatives_they_say() {
    let mut source = Source::new(17);
    for RegisteredLoss { name, loss } in losses() {
        let k = loss.n_scores();
        for _ in 0..200 {
            let z: Vec<f64> = source.normals(k).iter().map(|z| 3.0 * z).collect();
            for y in 0..loss.n_classes() {
                let (_, first, second) = one_row(&*loss, y, &z);
                let h = 1e-5;
                for j in 0..k {
                    let moved = |t: f64| -> Vec<f64> { (0..k).map(|c| z[c] + if c == j { t } else { 0.0 }).collect() };
                    let (above, below) = (one_row(&*loss, y, &moved(h)), one_row(&*loss, y, &moved(-h)));
                    assert_near((above.0 - below.0) / (2.0 * h), first[j], 1e-8, 1.0, &format!("{name}: first"));
                    for i in 0..k {
                        let packed = second[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
                        let slope = (above.1[i] - below.1[i]) / (2.0 * h);
                        assert_near(slope, packed, 1e-8, 1.0, &format!("{name}: second"));
                    }
                }
                // Weighted rows: s times everything; weight zero: nothing, whatever the score.
                let (mut r, mut c) = (vec![0.0; k], vec![0.0; second.len()]);
                let value = loss.block(&[Class(y as u32)], &z, Some(&[2.5]), &mut r, Some(&mut c));
                let plain = one_row(&*loss, y, &z);
                assert_near(value, 2.5 * plain.0, 1e-15, 0.0, name);
                assert_all_near(&r, &plain.1.iter().map(|v| 2.5 * v).collect::<Vec<f64>>(), 1e-15, 0.0, name);
                assert_all_near(&c, &plain.2.iter().map(|v| 2.5 * v).collect::<Vec<f64>>(), 1e-15, 0.0, name);
                assert_eq!(loss.block(&[Class(y as u32)], &z, Some(&[0.0]), &mut r, None), 0.0, "{name}");
            }
        }
    }
}

#[test]
fn losses_are_convex_and_shift_as_they_say() {
    let mut source = Source::new(18);
    for RegisteredLoss { name, loss } in losses() {
        let k = loss.n_scores();
        for _ in 0..500 {
            let scale = 10f64.powf(source.uniform(-2.0, 2.5));
            let a: Vec<f64> = source.normals(k).iter().map(|z| scale * z).collect();
            let b: Vec<f64> = source.normals(k).iter().map(|z| scale * z).collect();
            let middle: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 0.5 * (a + b)).collect();
            let y = source.below(loss.n_classes());
            let (fa, fb, fm) = (one_row(&*loss, y, &a).0, one_row(&*loss, y, &b).0, one_row(&*loss, y, &middle).0);
            assert!(fm <= 0.5 * (fa + fb) + 1e-14 * (fa + fb), "{name}: {fm} above the chord of {fa} and {fb}");
            // The tangent lies below.
            let (_, slope, _) = one_row(&*loss, y, &a);
            let tangent = fa + slope.iter().zip(a.iter().zip(&b)).map(|(s, (a, b))| s * (b - a)).sum::<f64>();
            assert!(tangent <= fb + 1e-13 * (fa + fb + scale), "{name}: tangent {tangent} above {fb}");
            let shifted: Vec<f64> = a.iter().map(|z| z + 3.5).collect();
            let change = (one_row(&*loss, y, &shifted).0 - fa).abs();
            if loss.shift_invariant() {
                assert!(change <= 1e-13 * (1.0 + fa + scale), "{name}: a shift of all scores changes the loss");
            } else if scale < 1.0 {
                assert!(change > 1e-3, "{name}: a shift of all scores changes nothing");
            }
        }
    }
}

/// Fenchel and Young: `ℓ(z) + ℓ*(θ) ≥ θ·z` for all z, with equality at `θ = ∂ℓ(z)`. The dual point reports −Σsℓ*(θ), and
/// with `z` as offsets Σsθ·z, so both sides come from it.
#[test]
fn dual_points_satisfy_fenchel_and_young() {
    let mut source = Source::new(19);
    for RegisteredLoss { name, loss } in losses() {
        let (k, classes) = (loss.n_scores(), loss.n_classes());
        for case in 0..300 {
            let n = classes + source.below(10);
            let y: Vec<Class> = (0..n).map(|i| Class((i % classes) as u32)).collect();
            let scale = 10f64.powf(source.uniform(-1.0, 1.5));
            let mut draw = || -> Vec<f64> { (0..n * k).map(|_| scale * source.normal()).collect() };
            let (z, other) = (draw(), draw());
            let s: Vec<f64> = (0..n).map(|i| [1.0, 0.5, 3.0][(i + case) % 3]).collect();
            let value = |z: &[f64]| loss.block(&y, z, Some(&s), &mut vec![0.0; n * k], None);
            for balanced in [false, true] {
                // θ is made at z in both calls; the offsets only say where θ· is to be evaluated.
                let rows = |offsets| ScoredBlock { labels: &y, scores: &z, weights: Some(&s), offsets: Some(offsets) };
                let at_z = dual_point_of(&*loss, rows(&z[..]), balanced, 1.0);
                let at_other = dual_point_of(&*loss, rows(&other[..]), balanced, 1.0);
                let slack = |f: f64, dual: &linsep::objective::DualPoint| f - dual.entropy - dual.offset_term;
                let size = value(&z) + value(&other) + scale;
                assert!(slack(value(&z), &at_z) >= -1e-12 * size, "{name}: below at its own scores");
                assert!(slack(value(&other), &at_other) >= -1e-12 * size, "{name}: below at other scores");
                if balanced {
                    let worst = at_z.total.iter().fold(0.0f64, |m, t| m.max(t.abs()));
                    assert!(worst <= 1e-12 * n as f64, "{name}: Σsθ = {worst:e}");
                } else {
                    assert_near(slack(value(&z), &at_z), 0.0, 1e-12, size, &format!("{name}: equality at ∂ℓ"));
                }
            }
        }
    }
}

#[test]
fn losses_keep_their_digits_in_the_tails() {
    let golden = json("special.json");
    let golden = &golden["logistic"];
    let (z, softplus_of, sigma) = (numbers(&golden["z"]), numbers(&golden["softplus"]), numbers(&golden["sigma"]));
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-14 * b.abs() + 5e-324;
    for (i, z) in z.iter().enumerate() {
        // log(1+eᶻ) is the loss at −z of the second class, and of the other class at z; its slope is σ(z).
        let (value, first, _) = one_row(&Logistic, 0, &[*z]);
        assert!(near(value, softplus_of[i]) && near(first[0], sigma[i]), "logistic at {z}");
        let (value, first, _) = one_row(&Logistic, 1, &[-z]);
        assert!(near(value, softplus_of[i]) && near(-first[0], sigma[i]), "logistic at {z}, second class");
        for form in [SoftmaxForm::Reference, SoftmaxForm::Symmetric] {
            let loss = Softmax::new(2, form);
            let scores = |z: f64| if form == SoftmaxForm::Reference { vec![z] } else { vec![0.0, z] };
            let (value, first, second) = one_row(&loss, 0, &scores(*z));
            let last = first[first.len() - 1];
            assert!(near(value, softplus_of[i]), "softmax at {z}: {value:e}, not {:e}", softplus_of[i]);
            assert!(near(last, sigma[i]), "softmax slope at {z}: {last:e}, not {:e}", sigma[i]);
            // The own class's residual is a difference that must not be taken as one; so is the curvature.
            let (_, own, _) = one_row(&loss, 1, &scores(-z));
            assert!(near(-own[own.len() - 1], sigma[i]), "softmax residual at {z}: {own:?}");
            let complement = numbers(&golden["one_minus_sigma"])[i];
            let curvature = second[second.len() - 1];
            assert!(near(curvature, sigma[i] * complement), "softmax curvature at {z}: {curvature:e}");
        }
    }
    assert_eq!(softplus(-800.0), 0.0);
}

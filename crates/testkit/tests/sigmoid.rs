//! Least squares on sigmoid outputs: a risk with several local minima, or none.

use linsep::certify::{Certificate, LocalScale, exact_hessian, gauss_newton_hessian};
use linsep::design::{Design, LabelledRows, Standardize, Units};
use linsep::model::{
    Fit, LeastSquaresSettings, Method, Outcome, PenaltyChoice, Refusal, RiskMinimizer, SigmoidLeastSquares, Targets,
};
use linsep::objective::{Coef, Detail, Intercept, Ridge, Risk, Sample, SquaredSigmoid};
use linsep::solve::{PerceptronSteps, SigmoidAlgorithm, SigmoidDescent, Stop};
use linsep::watch::Watch;
use testkit::data::{Data, Source, labels, overlapping};
use testkit::{assert_all_near, assert_near};

const ALGORITHMS: [SigmoidAlgorithm; 3] =
    [SigmoidAlgorithm::Newton, SigmoidAlgorithm::GaussNewton, SigmoidAlgorithm::GradientDescent];

fn method(change: impl FnOnce(&mut SigmoidLeastSquares)) -> Method {
    let mut method = SigmoidLeastSquares::default();
    change(&mut method);
    Method::Sigmoid(method)
}

fn sigma(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

fn risk_of<'a>(data: &'a Data, design: &'a dyn Design, units: &'a Units, lambda: f64) -> Risk<'a, SquaredSigmoid> {
    let sample = Sample::new(LabelledRows::new(design, data.labels.codes()).weighted(data.weights.as_deref()), units);
    Risk::new(sample, SquaredSigmoid { gauss_newton: false }, Ridge::new(lambda), Intercept::Free)
}

/// F by the textbook.
fn objective(data: &Data, w: &[f64], lambda: f64) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for i in 0..data.rows() {
        let z = w[data.cols] + data.row(i).iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
        sum += data.weight(i) * 0.5 * (sigma(z) - data.class(i) as f64).powi(2);
        total += data.weight(i);
    }
    sum / total + 0.5 * lambda * w[..data.cols].iter().map(|w| w * w).sum::<f64>()
}

#[test]
fn derivatives_are_those_of_differences() {
    let mut source = Source::new(2);
    let data = overlapping(60, 3, 2, 9).weighted((0..60).map(|i| (i % 4) as f64).collect());
    let (dense, sparse, units) = (data.dense(), data.csr(), Units::identity(3));
    for design in [&dense as &dyn Design, &sparse] {
        let risk = risk_of(&data, design, &units, 0.1);
        let w: Vec<f64> = (0..4).map(|_| 1.5 * source.normal()).collect();
        let watch = Watch::default();
        let point = risk.at(&Coef::from_vec(w.clone(), 1, 3), Detail::Gradient, &watch).expect("a point");
        assert_near(point.objective, objective(&data, &w, 0.1), 1e-14, 1.0, "objective");
        let hessian = exact_hessian(&risk, &point, &watch).expect("a Hessian");
        let part = gauss_newton_hessian(&risk, &point, &watch).expect("a Hessian");
        let mut differs = false;
        for j in 0..4 {
            let h = 1e-5;
            let shifted = |sign: f64| {
                let mut w = w.clone();
                w[j] += sign * h;
                risk.at(&Coef::from_vec(w, 1, 3), Detail::Gradient, &watch).expect("a point")
            };
            let (up, down) = (shifted(1.0), shifted(-1.0));
            let slope = (up.objective - down.objective) / (2.0 * h);
            assert_near(point.gradient.as_slice()[j], slope, 1e-9, 1.0, "gradient");
            for i in j..4 {
                let second = (up.gradient.as_slice()[i] - down.gradient.as_slice()[i]) / (2.0 * h);
                assert_near(hessian.get(i, j), second, 1e-9, 1.0, "Hessian");
                differs |= (part.get(i, j) - second).abs() > 1e-4;
            }
        }
        assert!(differs, "the second part of the Hessian is not there");
    }
}

/// Rows in cells: one indicator per cell but the first, and a share of the second class in each.
fn cells() -> (Data, Vec<f64>) {
    let counts = [(3, 7), (6, 2), (5, 5), (1, 9)];
    let (mut values, mut codes) = (Vec::new(), Vec::new());
    for (cell, (no, yes)) in counts.iter().enumerate() {
        for at in 0..no + yes {
            values.extend((1..4).map(|j| f64::from(u8::from(j == cell))));
            codes.push(usize::from(at >= *no));
        }
    }
    let shares = counts.iter().map(|(no, yes)| f64::from(*yes as u32) / f64::from((no + yes) as u32)).collect();
    (Data::new(values, 3, labels(codes, 2)), shares)
}

#[test]
fn a_saturated_design_returns_the_shares_of_its_cells() {
    let (data, shares) = cells();
    let rows = [0, 10, 18, 28];
    let logistic = RiskMinimizer { penalty: PenaltyChoice::None, tolerance: 1e-14, ..RiskMinimizer::default() };
    let scores = data.scores(&data.model(&Method::Risk(logistic)));
    assert_all_near(&rows.map(|i| sigma(scores[i])), &shares, 1e-9, 1.0, "logistic");
    let squares = LeastSquaresSettings { targets: Targets::ZeroOne, ..LeastSquaresSettings::default() };
    let scores = data.scores(&data.model(&Method::LeastSquares(squares)));
    assert_all_near(&rows.map(|i| scores[i] + 0.5), &shares, 1e-9, 1.0, "least squares");
    for algorithm in ALGORITHMS {
        let model = data.model(&method(|m| {
            m.penalty = PenaltyChoice::None;
            m.algorithm = algorithm;
        }));
        let scores = data.scores(&model);
        assert_all_near(&rows.map(|i| sigma(scores[i])), &shares, 1e-6, 1.0, &format!("{algorithm:?}"));
        assert_eq!(model.outcome, Outcome::Converged, "{algorithm:?}: {:?}", model.certificate);
        let Certificate::Local { gradient, smallest_eigenvalue } = model.certificate else { panic!("no minimum") };
        assert!(gradient <= 1e-8 && smallest_eigenvalue > 1e-3, "{algorithm:?}: {gradient} {smallest_eigenvalue}");
    }
}

#[test]
fn algorithms_agree_and_certify_again() {
    let data = overlapping(200, 3, 2, 17).weighted((0..200).map(|i| (i % 3) as f64).collect());
    for (penalty, intercept) in [
        (PenaltyChoice::RidgeOne, Intercept::Free),
        (PenaltyChoice::Ridge(0.02), Intercept::None),
        (PenaltyChoice::Ridge(0.05), Intercept::Penalised),
        (PenaltyChoice::None, Intercept::Free),
    ] {
        let of = |algorithm| method(|m| (m.penalty, m.intercept, m.algorithm) = (penalty, intercept, algorithm));
        let best = data.model(&of(SigmoidAlgorithm::Newton));
        for algorithm in ALGORITHMS {
            let what = format!("{algorithm:?}, {penalty:?}, {intercept:?}");
            let model = data.model(&of(algorithm));
            assert_eq!(model.outcome, Outcome::Converged, "{what}: {:?}", model.certificate);
            assert_near(model.objective.value, best.objective.value, 1e-12, 1.0, &what);
            let dense = data.dense();
            let (value, certificate) = of(algorithm)
                .certify(&data.training(&dense), &model.discriminant, &model.units, &Watch::default())
                .expect("a certificate");
            assert_near(value, model.objective.value, 1e-13, 1.0, &what);
            let Certificate::Local { gradient, smallest_eigenvalue } = certificate else { panic!("{what}") };
            assert!(gradient < 1.1e-8 && smallest_eigenvalue > 0.0, "{what}: {gradient} {smallest_eigenvalue}");
        }
        // By drawn rows it comes near, and claims nothing.
        let drawn = data.model(&of(SigmoidAlgorithm::Sgd));
        assert_eq!(drawn.outcome, Outcome::IterationLimit);
        let above = drawn.objective.value / best.objective.value - 1.0;
        assert!((-1e-12..2e-3).contains(&above), "{penalty:?}: sgd is {above:e} above");
        assert_eq!(drawn, data.model(&of(SigmoidAlgorithm::Sgd)), "the seed decides");
    }
}

/// One column without intercept: many rows near zero say w > 0, and a few far ones w < 0. The far rows are settled by the
/// slightest w, so each side has its minimum.
fn two_valleys() -> Data {
    let (mut values, mut codes) = (Vec::new(), Vec::new());
    for i in 0..40 {
        values.push(1.0);
        codes.push(usize::from(i % 5 != 0));
    }
    for _ in 0..20 {
        values.push(-40.0);
        codes.push(1);
    }
    Data::new(values, 1, labels(codes, 2))
}

#[test]
fn restarts_find_the_lower_of_two_minima() {
    let data = two_valleys();
    let at = |w: f64| objective(&data, &[w, 0.0], 1e-3);
    // The valleys, by looking.
    let grid = |from: f64, to: f64| (0..=4000).map(move |i| from + (to - from) * f64::from(i) / 4000.0);
    let lowest = |from: f64, to: f64| grid(from, to).map(at).fold(f64::INFINITY, f64::min);
    let (left, right) = (lowest(-6.0, 0.0), lowest(0.2, 6.0));
    let between = at(0.1).min(at(0.2));
    assert!((left - right).abs() > 1e-3 && between > left.max(right), "{left} {between} {right}");
    // Each is the end of a descent from its side, and nothing near says which is lower.
    let (design, units, watch) = (data.dense(), Units::identity(1), Watch::default());
    let sample = Sample::new(LabelledRows::new(&design, data.labels.codes()), &units);
    let loss = SquaredSigmoid { gauss_newton: false };
    let risk = Risk::new(sample, loss, Ridge::new(1e-3), Intercept::None);
    let scale = LocalScale::new(&risk, &watch).expect("scales");
    for algorithm in ALGORITHMS {
        let descent = SigmoidDescent {
            tolerance: 1e-8,
            max_iterations: 100_000,
            algorithm,
            seed: 0,
            batch: 1,
            step: None,
            steps: PerceptronSteps::Constant,
        };
        for (from, valley) in [(-0.1, left), (1.0, right)] {
            let start = Coef::from_vec(vec![from, 0.0], 1, 1);
            let end = descent.run(&risk, &scale, &start, &watch).expect("an end");
            assert_eq!(end.stop, Stop::Converged, "{algorithm:?} from {from}");
            assert_near(end.point.objective, valley, 1e-6, 1.0, "the valley on this side");
        }
    }
    let of = |restarts: usize| {
        method(|m| {
            m.penalty = PenaltyChoice::Ridge(1e-3);
            (m.intercept, m.standardize, m.restarts) = (Intercept::None, Standardize::No, restarts);
        })
    };
    let model = data.model(&of(8));
    assert_near(model.objective.value, left.min(right), 1e-6, 1.0, "the lower valley");
    assert!(model.objective.value <= data.model(&of(0)).objective.value + 1e-15);
}

#[test]
fn separable_classes_have_no_minimum() {
    let apart = Data::new(vec![-2.0, -1.0, 1.0, 3.0], 1, labels(vec![0, 0, 1, 1], 2));
    let touching = Data::new(vec![-2.0, 0.0, 0.0, 3.0], 1, labels(vec![0, 0, 1, 1], 2));
    for data in [&apart, &touching] {
        let Fit::Refused(Refusal::NoOptimum(proof)) =
            data.fit(&method(|m| m.penalty = PenaltyChoice::None)).expect("an answer")
        else {
            panic!("a minimum of separable classes")
        };
        assert!(!proof.of_likelihood && proof.direction[0][0] > 0.0);
        // A penalty has one.
        let model = data.model(&method(|m| m.penalty = PenaltyChoice::Ridge(0.01)));
        assert_eq!(model.outcome, Outcome::Converged, "{:?}", model.certificate);
    }
}

/// Ten rows at 1 say w > 0 and one at 3 says w < 0: no plane separates them, and yet the risk falls for all w, towards
/// half a row.
#[test]
fn a_minimum_at_infinity_is_not_called_one() {
    let mut values = vec![1.0; 10];
    values.push(3.0);
    let mut codes = vec![1; 10];
    codes.push(0);
    let data = Data::new(values, 1, labels(codes, 2));
    for w in -50..50 {
        let at = |w: f64| objective(&data, &[w, 0.0], 0.0);
        assert!(at(0.1 * f64::from(w) + 0.1) < at(0.1 * f64::from(w)), "the risk rises at {w}");
    }
    for algorithm in &ALGORITHMS[..2] {
        let model = data.model(&method(|m| {
            (m.penalty, m.algorithm) = (PenaltyChoice::None, *algorithm);
            (m.intercept, m.standardize) = (Intercept::None, Standardize::No);
        }));
        assert_ne!(model.outcome, Outcome::Converged, "{algorithm:?}: {:?}", model.certificate);
        let Certificate::Absent { reason } = &model.certificate else { panic!("{:?}", model.certificate) };
        assert!(reason.contains("no finite minimiser"), "{reason}");
    }
}

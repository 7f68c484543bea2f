//! Fits without a penalty on columns that are nearly collinear: nothing is dropped that is not proved to be a combination,
//! and every claim holds against the 400-bit twin, without a tolerance.

use linsep::certify::{Certificate, StoredScores, self_concordance_bound};
use linsep::design::{LabelledRows, Standardize, summarise};
use linsep::discriminant::Linear;
use linsep::model::{Fit, Fitted, Method, Note, Outcome, PenaltyChoice, RiskMinimizer};
use linsep::objective::{Coef, Intercept, Logistic, Ridge, Risk, Sample};
use linsep::watch::Watch;
use rayon::prelude::*;
use testkit::data::{Data, Source, labels, overlapping};
use testkit::multiprecision::{Claim, Problem, Refuted, minimise, refute};

fn unpenalised() -> RiskMinimizer {
    RiskMinimizer { penalty: PenaltyChoice::None, ..RiskMinimizer::default() }
}

fn linear(model: &Fitted) -> &Linear {
    model.discriminant.as_linear().expect("linear scores")
}

/// The stated objective is no bound: it is as good as its scores, which weights on small differences of columns make worse
/// than nine digits. The gap allows for that.
fn is_bound(refuted: &Refuted) -> bool {
    refuted.claim != Claim::Objective
}

/// Every claim of a fit against the twin on the columns that it uses; its gap and the twin's F*.
#[track_caller]
fn hold(data: &Data, method: &RiskMinimizer, model: &Fitted, what: &str) -> f64 {
    let problem = Problem::new(data, method, &model.units, model.objective.lambda.unwrap_or(0.0));
    let optimum = minimise(&problem, &problem.stated(linear(model)), 60);
    // Of columns that are combinations of others the twin may take any; where one is left out weights are not compared.
    let unique = !model.notes.iter().any(|note| matches!(note, Note::Collinear { .. }));
    for refuted in refute(&problem, linear(model), &model.certificate, &optimum) {
        if is_bound(&refuted) && (unique || refuted.claim != Claim::CoefficientError) {
            panic!("{what}: {refuted}");
        }
    }
    optimum.objective.to_f64()
}

/// What verify does: the same numbers.
#[track_caller]
fn recomputed(data: &Data, method: &RiskMinimizer, model: &Fitted, what: &str) {
    let design = data.dense();
    let again = Method::Risk(method.clone()).certify(
        &data.training(&design),
        &model.discriminant,
        &model.units,
        &Watch::default(),
    );
    let (objective, certificate) = again.expect("a certificate");
    assert_eq!((objective, &certificate), (model.objective.value, &model.certificate), "{what}");
}

/// Fits, checks every claim and the recomputation, and returns the model; `None` where there is no optimum.
#[track_caller]
fn checked(data: &Data, method: &RiskMinimizer, what: &str) -> Option<Fitted> {
    let Fit::Model(model) = data.fit(&Method::Risk(method.clone())).expect("a fit") else { return None };
    if !model.notes.iter().any(|note| matches!(note, Note::NearlyCollinear { left_out: true, .. })) {
        hold(data, method, &model, what);
    }
    recomputed(data, method, &model, what);
    Some(*model)
}

fn dropped(model: &Fitted) -> Vec<usize> {
    let of = |note: &Note| match note {
        Note::Collinear { column, .. } | Note::NearlyCollinear { column, left_out: true, .. } => Some(*column),
        _ => None,
    };
    model.notes.iter().filter_map(of).collect()
}

/// Years with their powers up to the fourth, and classes that follow a quartic.
fn years(from: f64) -> Data {
    let mut source = Source::new(15);
    let (mut values, mut codes) = (Vec::new(), Vec::new());
    for i in 0..30 {
        let t = (f64::from(i) - 14.5) / 8.0;
        let year = from + f64::from(i);
        values.extend((1..=4).map(|p| year.powi(p)));
        let z = 3.0 * t * t - t.powi(4) + 0.5 * t - 1.0;
        codes.push(usize::from(source.uniform(0.0, 1.0) < 1.0 / (1.0 + (-z).exp())));
    }
    Data::new(values, 4, labels(codes, 2))
}

#[test]
fn powers_of_years_are_the_same_functions_as_powers_about_their_middle() {
    let (far, near) = (years(1995.0), years(-15.0));
    let (a, b) = (checked(&far, &unpenalised(), "far").unwrap(), checked(&near, &unpenalised(), "near").unwrap());
    assert_eq!((dropped(&a), dropped(&b)), (vec![], vec![]));
    assert_eq!((a.outcome, b.outcome), (Outcome::Converged, Outcome::Converged));
    let Some(gap) = a.certificate.gap() else { panic!("{:?}", a.certificate) };
    // The computed objective is as good as its scores, of which weights on powers of years leave nine digits.
    assert!((a.objective.value - b.objective.value).abs() <= gap + 1e-8, "{} {}", a.objective.value, b.objective.value);
    assert!(gap < 1e-9, "{gap:e}");
}

#[test]
fn columns_of_ten_million_give_or_take_one_are_all_kept() {
    let data = overlapping(200, 8, 2, 3).map(|j, v| 1e7 + (j + 1) as f64 + 0.3 * v);
    let model = checked(&data, &unpenalised(), "1e7").unwrap();
    assert!(dropped(&model).is_empty() && model.outcome == Outcome::Converged, "{:?}", model.notes);
}

#[test]
fn claims_hold_as_columns_come_together() {
    for k in (4..=52).step_by(4) {
        for classes in [2, 3] {
            let e = 2f64.powi(-k);
            let data = overlapping(50, 2, classes, k as u64).with_column(|i, x| x[0] + e * ((i * 7 % 11) as f64 - 5.0));
            let what = format!("2^-{k}, {classes} classes");
            let Some(model) = checked(&data, &unpenalised(), &what) else { panic!("{what}: no optimum") };
            if k <= 28 {
                assert_eq!(
                    (dropped(&model), model.outcome),
                    (vec![], Outcome::Converged),
                    "{what}: {:?}",
                    model.certificate
                );
            }
            // Never called a combination: it is none.
            assert!(!model.notes.iter().any(|n| matches!(n, Note::Collinear { .. })), "{what}");
        }
    }
}

#[test]
fn combinations_are_proved_before_they_are_called_so() {
    let base = overlapping(60, 2, 2, 9).map(|_, v| (v * 8.0).round());
    let sum = base.with_column(|_, x| 3.0 * x[0] - 2.0 * x[1] + 5.0);
    let model = checked(&sum, &unpenalised(), "a sum").unwrap();
    assert!(model.notes.iter().any(|n| matches!(n, Note::Collinear { column: 2, .. })), "{:?}", model.notes);
    assert_eq!(model.outcome, Outcome::Converged);
    // One row is off by a unit of its last place.
    let off = base.with_column(|i, x| (3.0 * x[0] - 2.0 * x[1] + 5.0) * if i == 7 { 1.0 + 1e-15 } else { 1.0 });
    let model = checked(&off, &unpenalised(), "nearly a sum").unwrap();
    let said = |n: &Note| matches!(n, Note::NearlyCollinear { column: 2, left_out: true, .. });
    assert!(model.notes.iter().any(said), "{:?}", model.notes);
    let words: Vec<String> =
        model.notes.iter().map(|n| n.describe(&|j| format!("x{j}"), &linsep::words::Plain)).collect();
    assert!(words.iter().any(|w| w.contains("nothing is claimed about weights on the difference")), "{words:?}");
    assert!(!words.iter().any(|w| w.contains("is a linear combination")), "{words:?}");
}

#[test]
fn a_difference_that_separates_leaves_no_proof_of_an_optimum() {
    for k in [10, 20, 24, 30, 36, 40, 44, 48, 50] {
        for seed in 0..8 {
            let mut source = Source::new(seed);
            let e = 2f64.powi(-k);
            let codes: Vec<usize> = (0..40).map(|i| i % 2).collect();
            let a: Vec<f64> = source.normals(40);
            let values: Vec<f64> =
                (0..40).flat_map(|i| [a[i], a[i] + e * if codes[i] == 1 { 1.0 } else { -1.0 }]).collect();
            let data = Data::new(values, 2, labels(codes, 2));
            let fit = data.fit(&Method::Risk(unpenalised())).expect("a fit");
            if let Fit::Model(model) = fit
                && dropped(&model).is_empty()
            {
                assert_eq!(model.certificate.gap(), None, "2^-{k}, seed {seed}: {:?}", model.certificate);
                assert_ne!(model.outcome, Outcome::Converged);
            }
        }
    }
}

#[test]
fn claims_hold_with_weights_offsets_shifts_and_scales() {
    let mut source = Source::new(77);
    let mut cases = Vec::new();
    for case in 0..80 {
        let classes = 2 + case % 2;
        let mut data = overlapping(40, 3, classes, 1000 + case as u64);
        let scores = if classes == 2 { 1 } else { classes };
        if case % 3 == 0 {
            data = data.weighted((0..40).map(|_| 10f64.powf(source.uniform(-3.0, 3.0))).collect());
        }
        if case % 5 == 0 {
            let size = 10f64.powf(source.uniform(0.0, 14.0));
            data = data.offset(scores, (0..40 * scores).map(|_| size * source.normal()).collect());
        }
        let (shift, scale) = (10f64.powf(source.uniform(0.0, 14.0)), 10f64.powf(source.uniform(-100.0, 100.0)));
        data = match case % 4 {
            0 => data.map(|_, v| v + shift),
            1 => data.map(|j, v| if j == 1 { v * scale } else { v }),
            2 => data.map(|j, v| if j == 1 { shift + v } else { v }),
            _ => data,
        };
        let standardize = if case % 7 == 0 { Standardize::No } else { Standardize::Yes };
        let method = RiskMinimizer {
            standardize,
            intercept: if case % 11 == 0 { Intercept::None } else { Intercept::Free },
            ..unpenalised()
        };
        cases.push((case, data, method));
    }
    // Offsets of 1e14 take the twin a while.
    let is_proved = |(case, data, method): &(usize, Data, RiskMinimizer)| {
        checked(data, method, &format!("case {case}")).is_some_and(|model| model.certificate.gap().is_some())
    };
    let proved = cases.par_iter().filter(|case| is_proved(case)).count();
    assert!(proved > 50, "only {proved} were proved");
}

#[test]
fn the_bound_holds_on_a_ladder_away_from_the_optimum() {
    let data = years(1995.0);
    let method = unpenalised();
    let model = data.model(&Method::Risk(method.clone()));
    let (design, units) = (data.dense(), &model.units);
    let problem = Problem::new(&data, &method, units, 0.0);
    let optimum = minimise(&problem, &problem.stated(linear(&model)), 60);
    assert!(optimum.converged);
    let at = linear(&model);
    let mut spoke = 0;
    for k in 0..=40 {
        let weights: Vec<f64> = at.weights_of(0).iter().map(|w| w + w * f64::EPSILON * 2f64.powi(k)).collect();
        let moved = Linear::new(weights, at.centre().to_vec(), at.intercept_at_centre().to_vec()).unwrap();
        let mut coef = Coef::zeros(1, data.cols);
        for j in 0..data.cols {
            coef.weights_mut()[j] = moved.weights_of(0)[j] * units.scale()[j];
        }
        coef.intercept_mut()[0] = moved.intercept_at_centre()[0];
        let rows = Sample::new(LabelledRows::new(&design, data.labels.codes()), units);
        let risk = Risk::new(rows, Logistic, Ridge::none(), Intercept::Free);
        let bound = self_concordance_bound(&risk, &coef, StoredScores::AsFitted, &Watch::default()).unwrap();
        for refuted in refute(&problem, &moved, &bound.certificate, &optimum) {
            assert!(!is_bound(&refuted), "2^{k} ulp: {refuted}");
        }
        spoke += usize::from(bound.certificate.gap().is_some());
    }
    assert!(spoke > 10, "{spoke}");
}

#[test]
fn the_bound_holds_with_columns_that_a_ridge_leaves_out() {
    let mut spoke = 0;
    for case in 0..40 {
        let e = 2f64.powi(-(case / 2));
        let data = overlapping(60, 3, 2, 500 + case as u64).with_column(|i, x| x[0] + e * ((i * 5 % 7) as f64 - 3.0));
        let factors = vec![0.0, 1.0, 1.0, 0.0];
        let method = RiskMinimizer { penalty: PenaltyChoice::Ridge(0.1), factors: factors.clone(), ..unpenalised() };
        let design = data.dense();
        let units = summarise(&design, None, &Watch::default()).unwrap().units(Standardize::Yes);
        let rows = Sample::new(LabelledRows::new(&design, data.labels.codes()), &units);
        let ridge = Ridge::new(0.1).with_factors(&factors).unwrap();
        let risk = Risk::new(rows, Logistic, ridge, Intercept::Free);
        let problem = Problem::new(&data, &method, &units, 0.1);
        let mut coef = Coef::zeros(1, 4);
        let mut best = None;
        // Newton's method by the step of the bound itself.
        for _ in 0..12 {
            let bound = self_concordance_bound(&risk, &coef, StoredScores::AsFitted, &Watch::default()).unwrap();
            let weights: Vec<f64> = coef.weights().iter().zip(units.scale()).map(|(w, s)| w / s).collect();
            let model = Linear::new(weights, units.centre().to_vec(), coef.intercept().to_vec()).unwrap();
            let optimum = best.get_or_insert_with(|| minimise(&problem, &problem.zero(), 80));
            // The stored point differs by a rounding or two, which the bound allows for.
            let refuted = refute(&problem, &model, &bound.certificate, optimum);
            assert!(refuted.is_empty(), "case {case}: {}", refuted[0]);
            spoke += usize::from(bound.certificate.gap().is_some());
            let Some(step) = bound.step else { break };
            coef = coef.moved(1.0, &step);
        }
    }
    assert!(spoke > 150, "{spoke}");
}

#[test]
fn a_rare_row_among_a_million_after_one_iteration() {
    let mut source = Source::new(4);
    let n = 1_000_000;
    let mut values = source.normals(n);
    let codes: Vec<usize> = (0..n).map(|i| usize::from(i == 7)).collect();
    values[7] = 0.5;
    let data = Data::new(values, 1, labels(codes, 2));
    for shift in [0.0, 1e14] {
        let moved = data.map(|_, v| v + shift);
        let method = RiskMinimizer { max_iterations: Some(1), ..unpenalised() };
        let Fit::Model(model) = moved.fit(&Method::Risk(method)).expect("a fit") else { continue };
        let full = moved.fit(&Method::Risk(unpenalised())).expect("a fit");
        let Fit::Model(full) = full else { continue };
        if let Some(gap) = model.certificate.gap() {
            let least = full.objective.value - full.certificate.gap().unwrap_or(0.0);
            assert!(model.objective.value - least <= gap + 1e-18, "{gap:e}");
        }
    }
}

#[test]
fn coefficients_are_within_a_ten_thousandth_of_a_standard_error() {
    for (rows, cols, classes) in [(40, 2, 2), (300, 4, 3), (5000, 5, 2), (2000, 3, 4)] {
        let data = overlapping(rows, cols, classes, rows as u64);
        let model = data.model(&Method::Risk(unpenalised()));
        let Certificate::SelfConcordance { decrement, errors: Some(errors), .. } = &model.certificate else {
            panic!("{:?}", model.certificate)
        };
        assert!(decrement * (rows as f64).sqrt() <= 1e-4, "{rows}×{cols}: {decrement:e}");
        assert!(errors.weights.iter().all(|e| *e < 1e-4), "{errors:?}");
    }
}

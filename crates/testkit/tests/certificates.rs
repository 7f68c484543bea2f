//! Bounds must bound: at arbitrary points, on thousands of small problems, and against a solver that shares no code.

use linsep::certify::{Certificate, StoredScores, duality_gap, self_concordance_bound};
use linsep::design::{LabelledRows, Standardize, Units, summarise};
use linsep::model::{Fit, Method, Outcome, PenaltyChoice, RiskMinimizer};
use linsep::objective::{Coef, Conjugate, Detail, Intercept, Logistic, Ridge, Risk, Sample, Softmax, SoftmaxForm};
use linsep::solve::{Newton, NewtonCg, Solved, Solver, Stop};
use linsep::watch::Watch;
use testkit::assert_near;
use testkit::cone::least_ridge_objective;
use testkit::data::{Arrangement, Data, Source, arranged, overlapping};

const INTERCEPTS: [Intercept; 3] = [Intercept::Free, Intercept::None, Intercept::Penalised];

/// What rounding may do to a difference of objectives of this size.
fn rounding(objective: f64) -> f64 {
    1e-13 * objective.abs()
}

fn units(data: &Data, standardize: bool) -> Units {
    if !standardize {
        return Units::identity(data.cols);
    }
    let summary = summarise(&data.dense(), data.weights.as_deref(), &Watch::default()).expect("finite features");
    summary.units(Standardize::Yes)
}

/// Small random rows: weights with zeros, offsets and large columns among them; every class has weight.
fn problem(classes: usize, scores: usize, source: &mut Source) -> Data {
    let (rows, cols) = (classes + 2 + source.below(30), 1 + source.below(4));
    let mut data = overlapping(rows, cols, classes, source.below(1 << 30) as u64);
    if source.chance(0.3) {
        let column = source.below(cols);
        let (scale, shift) = (10f64.powf(source.uniform(-2.0, 2.0)), source.uniform(-5.0, 5.0));
        data = data.map(|j, v| if j == column { scale * v + shift } else { v });
    }
    if source.chance(0.5) {
        let weight = |i: usize, source: &mut Source| match i >= classes && source.chance(0.2) {
            true => 0.0,
            false => source.uniform(0.1, 3.0),
        };
        data = data.weighted((0..rows).map(|i| weight(i, source)).collect());
    }
    if source.chance(0.5) {
        let spread = source.uniform(0.1, 4.0);
        data = data.offset(scores, (0..rows * scores).map(|_| spread * source.normal()).collect());
    }
    data
}

fn sample<'a>(data: &'a Data, design: &'a dyn linsep::design::Design, units: &'a Units) -> Sample<'a> {
    let rows = LabelledRows::new(design, data.labels.codes()).weighted(data.weights.as_deref());
    Sample::new(rows, units).with_offsets(data.offsets.as_ref().map(|(_, o)| &o[..]))
}

fn random_coef(scores: usize, cols: usize, intercept: Intercept, scale: f64, source: &mut Source) -> Coef {
    let mut coef = Coef::zeros(scores, cols);
    coef.as_mut_slice().iter_mut().for_each(|c| *c = scale * source.normal());
    if intercept == Intercept::None {
        coef.intercept_mut().fill(0.0);
    }
    coef
}

fn distance(a: &Coef, b: &Coef) -> f64 {
    a.weights().iter().zip(b.weights()).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// The gap at some point against the best objective known.
fn check_gap<L: Conjugate + Clone>(risk: &Risk<'_, L>, coef: &Coef, best: &Solved, what: &str) {
    let watch = Watch::default();
    let point = risk.at(coef, Detail::Gradient, &watch).expect("a finite objective");
    let Certificate::DualityGap { objective, dual, gap, weight_distance, .. } =
        duality_gap(risk, &point, &watch).expect("a gap")
    else {
        panic!("{what}: no gap")
    };
    let least = best.point.objective;
    assert_eq!(objective, point.objective);
    // What the gap allows for rounding beyond F − D: the dual value itself is rounded as well.
    let allowance = gap - (objective - dual).max(0.0);
    assert!(allowance <= 1e-12 * (objective + dual.abs()).max(1e-3), "{what}: {allowance:e} allowed for rounding");
    assert!(dual <= least + allowance + rounding(least), "{what}: the dual {dual} exceeds the optimum {least}");
    let above = objective - least;
    assert!(gap >= above - rounding(objective), "{what}: {above:e} above the optimum, the gap says {gap:e}");
    let Some(Certificate::DualityGap { weight_distance: Some(slack), .. }) = Some(&best.certificate) else {
        panic!("{what}: the reference has no gap")
    };
    let bound = weight_distance.expect("a ridge bounds the distance") + slack;
    let away = distance(coef, &best.point.coef);
    assert!(away <= bound * (1.0 + 1e-9), "{what}: the weights are {away:e} away, the bound says {bound:e}");
}

/// One problem: gaps at arbitrary points, at points near the optimum, and at the answers of both solvers.
fn check_ridge<L: Conjugate + Clone>(
    data: &Data,
    loss: L,
    (lambda, intercept, standardize): (f64, Intercept, bool),
    source: &mut Source,
    what: &str,
) {
    let watch = Watch::default();
    let (design, units) = (data.dense(), units(data, standardize));
    let penalty = Ridge::new(lambda);
    let risk = Risk::new(sample(data, &design, &units), loss, penalty, intercept);
    // As far as doubles go.
    let best = Newton { tolerance: 1e-300, max_iterations: 200 }.solve(&risk, None, &watch).expect("a solution");
    let reached = best.certificate.relative_gap().expect("a gap");
    assert!(best.stop == Stop::PrecisionLimit && reached < 1e-11, "{what}: {:?} at {reached:e}", best.stop);
    let (k, cols) = (risk.loss().n_scores(), risk.n_cols());
    for scale in [0.0, 0.1, 1.0, 10.0] {
        check_gap(&risk, &random_coef(k, cols, intercept, scale, source), &best, what);
    }
    for scale in [1e-6, 1e-3, 1e-1] {
        let near = best.point.coef.moved(1.0, &random_coef(k, cols, intercept, scale, source));
        check_gap(&risk, &near, &best, what);
    }
    for tolerance in [1e-4, 1e-8, 1e-12] {
        let newton = Newton { tolerance, max_iterations: 200 }.solve(&risk, None, &watch).expect("a solution");
        let cg = NewtonCg { tolerance, max_iterations: 500 }.solve(&risk, None, &watch).expect("a solution");
        for (name, solved) in [("newton", newton), ("newton-cg", cg)] {
            let what = format!("{what}, {name} at {tolerance:e}");
            let gap = solved.certificate.relative_gap().expect("a gap");
            assert_eq!(solved.stop, Stop::Converged, "{what}: relative gap {gap:e}");
            assert!(gap <= tolerance, "{what}: converged with a relative gap of {gap:e}");
            check_gap(&risk, &solved.point.coef, &best, &what);
        }
    }
}

#[test]
fn the_duality_gap_bounds_at_arbitrary_points_two_classes() {
    let mut source = Source::new(11);
    for case in 0..1500 {
        let data = problem(2, 1, &mut source);
        let setting = (10f64.powf(source.uniform(-8.0, 1.0)), INTERCEPTS[case % 3], source.chance(0.5));
        check_ridge(&data, Logistic, setting, &mut source, &format!("case {case}, {setting:?}"));
    }
}

#[test]
fn the_duality_gap_bounds_at_arbitrary_points_several_classes() {
    let mut source = Source::new(12);
    for case in 0..1000 {
        let classes = 2 + case % 3;
        let form = if source.chance(0.5) { SoftmaxForm::Symmetric } else { SoftmaxForm::Reference };
        let loss = Softmax::new(classes, form);
        let scores = if form == SoftmaxForm::Symmetric { classes } else { classes - 1 };
        let data = problem(classes, scores, &mut source);
        let setting = (10f64.powf(source.uniform(-8.0, 1.0)), INTERCEPTS[(case / 3) % 3], source.chance(0.5));
        check_ridge(&data, loss, setting, &mut source, &format!("case {case}, {classes} {form:?}, {setting:?}"));
    }
}

/// The bound without a penalty at a point.
fn bound_at<L: Conjugate + Clone>(risk: &Risk<'_, L>, coef: &Coef) -> (f64, Certificate) {
    let bound = self_concordance_bound(risk, coef, StoredScores::AsFitted, &Watch::default()).expect("a bound");
    (bound.objective, bound.certificate)
}

#[test]
fn the_self_concordance_bound_bounds_where_it_speaks() {
    let mut source = Source::new(13);
    let (mut spoke, mut silent) = (0, 0);
    for case in 0..600 {
        let classes = 2 + case % 3;
        let data = overlapping(40 + source.below(60), 1 + source.below(3), classes, case as u64);
        let (design, units) = (data.dense(), units(&data, true));
        let loss = Softmax::new(classes, SoftmaxForm::Reference);
        let risk = Risk::new(sample(&data, &design, &units), loss, Ridge::none(), Intercept::Free);
        let best = Newton { tolerance: 1e-300, max_iterations: 200 };
        let best = best.solve(&risk, None, &Watch::default()).expect("a solution");
        if let Stop::Separated(_) = best.stop {
            continue;
        }
        for scale in [0.0, 1e-6, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0] {
            let away = random_coef(classes - 1, data.cols, Intercept::Free, scale, &mut source);
            let (objective, certificate) = bound_at(&risk, &best.point.coef.moved(1.0, &away));
            let above = objective - best.point.objective;
            match certificate.gap() {
                Some(gap) => {
                    spoke += 1;
                    let allowed = above - rounding(objective);
                    assert!(gap >= allowed, "case {case}: {above:e} above, the bound says {gap:e}");
                }
                None => silent += 1,
            }
        }
    }
    // It must speak near the optimum and may be silent far away; both happen.
    assert!(spoke > 2000 && silent > 100, "spoke {spoke}, silent {silent}");
}

#[test]
fn the_self_concordance_bound_is_silent_where_there_is_no_optimum() {
    let mut source = Source::new(14);
    for case in 0..400 {
        let kind = if case % 2 == 0 { Arrangement::Complete } else { Arrangement::Quasi };
        let (rows, cols) = (8 + source.below(30), 1 + source.below(4));
        let data = arranged(kind, rows, cols, source.chance(0.5), case);
        let (design, units) = (data.dense(), units(&data, true));
        let risk = Risk::new(sample(&data, &design, &units), Logistic, Ridge::none(), Intercept::Free);
        let Stop::Separated(found) = Newton::default().solve(&risk, None, &Watch::default()).expect("an answer").stop
        else {
            panic!("case {case}: no verdict")
        };
        // Out along the direction, where gradient and curvature vanish, and beside it.
        for length in [0.0, 1.0, 3.0, 10.0, 20.0, 40.0, 100.0, 400.0] {
            for beside in [0.0, 0.5] {
                let size = found.direction.dot(&found.direction).sqrt();
                let start = random_coef(1, data.cols, Intercept::Free, beside, &mut source);
                let (_, certificate) = bound_at(&risk, &start.moved(length / size, &found.direction));
                assert_eq!(certificate.gap(), None, "case {case}, {kind:?}, {length} along: {certificate:?}");
            }
        }
    }
}

#[test]
fn a_conic_solver_finds_the_same_optimum() {
    let mut source = Source::new(15);
    for case in 0..60 {
        let classes = 2 + case % 2;
        let scores = if classes == 2 { 1 } else { classes };
        let mut data = overlapping(10 + source.below(25), 1 + source.below(3), classes, case as u64);
        if case % 4 >= 2 {
            let n = data.rows();
            data = data.weighted((0..n).map(|_| source.uniform(0.2, 2.0)).collect());
            data = data.offset(scores, (0..n * scores).map(|_| source.normal()).collect());
        }
        let lambda = 10f64.powf(source.uniform(-3.0, 0.0));
        let method = Method::Risk(RiskMinimizer {
            penalty: PenaltyChoice::Ridge(lambda),
            standardize: Standardize::No,
            tolerance: 1e-12,
            ..RiskMinimizer::default()
        });
        let model = data.model(&method);
        assert_eq!(model.outcome, Outcome::Converged);
        let judged = least_ridge_objective(&data, lambda);
        assert_near(model.objective.value, judged, 1e-7, 0.0, &format!("case {case}, {classes} classes, λ = {lambda}"));
    }
}

#[test]
fn a_certificate_can_be_recomputed_from_the_model_alone() {
    let mut source = Source::new(16);
    for case in 0..200 {
        let classes = 2 + case % 3;
        let data = problem(classes, if classes == 2 { 1 } else { classes }, &mut source);
        let penalty = [PenaltyChoice::RidgeOne, PenaltyChoice::Ridge(0.01), PenaltyChoice::None][(case / 3) % 3];
        let standardize = if source.chance(0.5) { Standardize::Yes } else { Standardize::No };
        let method = Method::Risk(RiskMinimizer { penalty, standardize, ..RiskMinimizer::default() });
        let Ok(Fit::Model(model)) = data.fit(&method) else { continue };
        if model.outcome != Outcome::Converged {
            continue;
        }
        let design = data.dense();
        let (objective, certificate) = method
            .certify(&data.training(&design), &model.discriminant, &model.units, &Watch::default())
            .expect("a certificate");
        assert_near(objective, model.objective.value, 1e-12, 0.0, &format!("case {case}: objective"));
        let (again, stored) = (certificate.relative_gap(), model.certificate.relative_gap().expect("a gap"));
        let again = again.unwrap_or_else(|| panic!("case {case}: {certificate:?}"));
        // The same point up to the rounding of a change of units.
        assert!((again - stored).abs() <= 1e-6 * stored + 1e-12, "case {case}: {again:e}, stored {stored:e}");
    }
}

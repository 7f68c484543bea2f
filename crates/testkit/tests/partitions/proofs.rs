//! The proofs of what the solvers find, also against a twin in 400 bits.

use crate::partitioned::Partitioned;
use crate::places::{COLS, Place, SCALES, SEVEN, places, together};
use linsep::certify::{Certificate, Enclosed, SelfConcordance, StoredScores, proved_gap, self_concordance_bound};
use linsep::design::Units;
use linsep::discriminant::Linear;
use linsep::model::{LossChoice, PenaltyChoice, RiskMinimizer};
use linsep::objective::{
    Coef, Conjugate, Detail, Intercept, Logistic, Ridge, Risk, Softmax, SoftmaxForm, Squared, SquaredHinge,
};
use linsep::solve::{Newton, Solver, Stop};
use linsep::watch::Watch;
use testkit::data::{Data, Source, labels};
use testkit::multiprecision::{Problem, minimise, refute};

/// The same answer by one worker up to more than there are places.
fn by_workers<'a, L: Conjugate + Clone + Send, T: PartialEq + std::fmt::Debug>(
    name: &str,
    (places, units): (&'a [Place], &'a Units),
    (loss, penalty, intercept): (&L, &Ridge, Intercept),
    answer: impl Fn(&Partitioned<'a, L>) -> T,
) -> T {
    let of = |workers: usize| answer(&Partitioned::new(places, units, loss, penalty, intercept, workers));
    let first = of(1);
    for workers in [2, 3, 9] {
        assert_eq!(of(workers), first, "{name}: {workers} workers");
    }
    first
}

/// Two bounds on the same number.
fn alike(name: &str, there: Option<f64>, here: Option<f64>, within: f64) {
    match (there, here) {
        (Some(a), Some(b)) => assert!(a <= within * b && b <= within * a, "{name}: {a:e} there, {b:e} here"),
        (a, b) => assert_eq!(a, b, "{name}"),
    }
}

/// Every number of two certificates of one point, which differ by their rounding. Distances of intercepts are tried by
/// factors of four; rows held as sparse ones have larger bounds on their lengths.
fn same_claims(name: &str, there: &Certificate, here: &Certificate, steps: f64) {
    assert_eq!(std::mem::discriminant(there), std::mem::discriminant(here), "{name}: {there:?} {here:?}");
    alike(&format!("{name}: gap"), there.gap(), here.gap(), 2.0);
    alike(&format!("{name}: relative gap"), there.relative_gap(), here.relative_gap(), 2.0);
    let distances = |certificate: &Certificate| match certificate {
        Certificate::DualityGap { weight_distance, intercept_distance, .. } => [*weight_distance, *intercept_distance],
        Certificate::SelfConcordance { decrement, radius, .. } => [Some(*decrement), Some(*radius)],
        other => panic!("{name}: {other:?}"),
    };
    for (a, b) in distances(there).into_iter().zip(distances(here)) {
        alike(&format!("{name}: distances"), a, b, steps);
    }
}

/// Points at the optimum for the rows in one place, and on the way to it.
fn points<L: Conjugate + Clone>(risk: &Risk<'_, L>) -> (f64, Vec<Coef>) {
    let watch = Watch::default();
    let best = Newton { tolerance: 1e-13, max_iterations: 100 }.solve(risk, None, &watch).unwrap().point;
    let start = risk.start();
    let shares = [1e-12, 1e-6, 1e-2, 1.0];
    let between = |share: &f64| {
        let part = |(b, s): (&f64, &f64)| b + share * (s - b);
        let values = best.coef.as_slice().iter().zip(start.as_slice()).map(part).collect();
        Coef::from_vec(values, start.n_scores(), start.n_cols())
    };
    let all = std::iter::once(best.coef.clone()).chain(shares.iter().map(between)).collect();
    (risk.at(&best.coef, Detail::Gradient, &watch).unwrap().objective, all)
}

fn gaps_agree<L: Conjugate + Enclosed + Clone + Send>(
    name: &str,
    loss: &L,
    penalty: &Ridge,
    intercept: Intercept,
    weighted: bool,
    offsets: bool,
) {
    let width = if offsets { loss.n_scores() } else { 0 };
    let (mut places, units) = places(&SEVEN, loss.n_classes(), width, weighted, &SCALES);
    let one = together(&places);
    if offsets {
        places = places.into_iter().enumerate().map(|(p, place)| if p == 3 { place.sparse() } else { place }).collect();
    }
    let whole = Risk::new(one.sample(&units), loss.clone(), penalty.clone(), intercept);
    let (least, points) = points(&whole);
    for (at, coef) in points.iter().enumerate() {
        let name = format!("{name}, weights {weighted}, offsets {offsets}, point {at}");
        let (objective, here) = proved_gap(&whole, coef, &Watch::default()).unwrap();
        let prove = |problem: &Partitioned<'_, L>| proved_gap(problem, coef, &Watch::default()).unwrap();
        let (there_objective, there) = by_workers(&name, (&places, &units), (loss, penalty, intercept), prove);
        assert!((objective - there_objective).abs() <= 1e-13 * objective, "{name}: {objective} {there_objective}");
        let gap = there.gap().unwrap_or_else(|| panic!("{name}: {there:?}"));
        assert!(gap >= objective - least - 1e-14 * objective, "{name}: {gap:e} below {:e}", objective - least);
        // Rows held as sparse ones have larger bounds on their errors, which is all that is left of a gap at the optimum.
        if !offsets || at > 1 {
            same_claims(&name, &there, &here, if offsets { 20.0 } else { 5.0 });
        }
    }
}

#[test]
fn gaps_are_proved_wherever_the_rows_are() {
    let (free, none, penalised) = (Intercept::Free, Intercept::None, Intercept::Penalised);
    let symmetric = Softmax::new(4, SoftmaxForm::Symmetric);
    let reference = Softmax::new(3, SoftmaxForm::Reference);
    let ridge = Ridge::new(1e-3);
    // Factors make the proof ask for the size of every column.
    let factors = Ridge::new(1e-2).with_factors(&[1.0, 2.0, 0.5, 1.0, 4.0]).unwrap();
    for weighted in [false, true] {
        for offsets in [false, true] {
            gaps_agree("logistic", &Logistic, &ridge, free, weighted, offsets);
            gaps_agree("logistic with factors", &Logistic, &factors, none, weighted, offsets);
            gaps_agree("softmax", &symmetric, &ridge, free, weighted, offsets);
            gaps_agree("softmax with a reference", &reference, &factors, penalised, weighted, offsets);
            gaps_agree("squared hinge", &SquaredHinge, &ridge, free, weighted, offsets);
            gaps_agree("squared", &Squared::one_hot(3), &factors, free, weighted, offsets);
        }
    }
}

/// A certificate and what else a bound by curvature says, where it is comparable.
fn curvature_of(bound: SelfConcordance) -> (f64, Certificate, Vec<(usize, bool)>) {
    let aliased = bound.aliased.iter().map(|alias| (alias.column, alias.exact)).collect();
    (bound.objective, bound.certificate, aliased)
}

fn curvature_agrees<L: Conjugate + Clone + Send>(name: &str, loss: &L, intercept: Intercept, weighted: bool) {
    let (places, units) = places(&SEVEN, loss.n_classes(), 0, weighted, &SCALES);
    let one = together(&places);
    let whole = Risk::new(one.sample(&units), loss.clone(), Ridge::none(), intercept);
    let (least, points) = points(&whole);
    for (at, coef) in points.iter().take(4).enumerate() {
        let name = format!("{name}, weights {weighted}, point {at}");
        let here = self_concordance_bound(&whole, coef, StoredScores::AsFitted, &Watch::default()).unwrap();
        let prove = |problem: &Partitioned<'_, L>| {
            curvature_of(self_concordance_bound(problem, coef, StoredScores::AsFitted, &Watch::default()).unwrap())
        };
        let frame = (loss, &Ridge::none(), intercept);
        let (objective, there, aliased) = by_workers(&name, (&places, &units), frame, prove);
        assert!(aliased.is_empty(), "{name}: {aliased:?}");
        same_claims(&name, &there, &here.certificate, 2.0);
        let gap = there.gap().unwrap_or_else(|| panic!("{name}: {there:?}"));
        assert!(gap >= objective - least - 1e-14 * objective, "{name}: {gap:e} below {:e}", objective - least);
    }
}

#[test]
fn maximum_likelihood_is_proved_wherever_the_rows_are() {
    for weighted in [false, true] {
        curvature_agrees("logistic", &Logistic, Intercept::Free, weighted);
        curvature_agrees("logistic without intercept", &Logistic, Intercept::None, weighted);
        let reference = Softmax::new(3, SoftmaxForm::Reference);
        curvature_agrees("softmax", &reference, Intercept::Free, weighted);
        curvature_agrees("squared", &Squared::two_classes([-1.0, 1.0]), Intercept::Free, weighted);
    }
}

/// Newton's method states the proof itself.
#[test]
fn newton_proves_what_it_finds_without_a_penalty() {
    let (places, units) = places(&SEVEN, 2, 0, true, &SCALES);
    let frame = (&Logistic, &Ridge::none(), Intercept::Free);
    let (coef, certificate) = by_workers("newton", (&places, &units), frame, |problem| {
        let solved = Newton::default().solve(problem, None, &Watch::default()).unwrap();
        assert_eq!(solved.stop, Stop::Converged);
        (solved.point.coef, solved.certificate)
    });
    let one = together(&places);
    let whole = Risk::new(one.sample(&units), Logistic, Ridge::none(), Intercept::Free);
    let here = self_concordance_bound(&whole, &coef, StoredScores::AsFitted, &Watch::default()).unwrap();
    same_claims("newton", &certificate, &here.certificate, 2.0);
}

/// Columns that nearly coincide are proved in orthonormal combinations of them, whose factor is merged from those of the
/// places; sparse rows with a centre always are.
#[test]
fn orthonormal_combinations_are_merged() {
    let (plain, units) = places(&SEVEN, 2, 0, true, &SCALES);
    let close: Vec<Place> = plain.into_iter().map(|p| p.with_column(4, |x| x[0] + 1e-7 * x[4])).collect();
    let one = together(&close);
    let whole = Risk::new(one.sample(&units), Logistic, Ridge::none(), Intercept::Free);
    let coef = Newton::default().solve(&whole, None, &Watch::default()).unwrap().point.coef;
    let here = self_concordance_bound(&whole, &coef, StoredScores::AsFitted, &Watch::default()).unwrap();
    let prove = |problem: &Partitioned<'_, Logistic>| {
        curvature_of(self_concordance_bound(problem, &coef, StoredScores::AsFitted, &Watch::default()).unwrap())
    };
    let frame = (&Logistic, &Ridge::none(), Intercept::Free);
    let (_, there, _) = by_workers("nearly collinear", (&close, &units), frame, prove);
    same_claims("nearly collinear", &there, &here.certificate, 2.0);
    assert!(there.gap().is_some(), "{there:?}");

    let sparse: Vec<Place> = close.into_iter().map(Place::sparse).collect();
    let (_, there, _) = by_workers("sparse", (&sparse, &units), frame, prove);
    same_claims("sparse", &there, &here.certificate, 2.0);

    // A column that is a combination of others is left out there as here, but only here is that proved.
    let dependent: Vec<Place> = sparse.into_iter().map(|p| p.with_column(4, |x| x[0])).collect();
    let one = together(&dependent);
    let whole = Risk::new(one.sample(&units), Logistic, Ridge::none(), Intercept::Free);
    let solved = Newton::default().solve(&whole, None, &Watch::default()).unwrap();
    let coef = solved.point.coef;
    let here = self_concordance_bound(&whole, &coef, StoredScores::AsFitted, &Watch::default()).unwrap();
    let (_, there, aliased) = by_workers("dependent", (&dependent, &units), frame, |problem| {
        curvature_of(self_concordance_bound(problem, &coef, StoredScores::AsFitted, &Watch::default()).unwrap())
    });
    assert_eq!((aliased, curvature_of(here.clone()).2), (vec![(4, false)], vec![(4, true)]));
    same_claims("dependent", &there, &here.certificate, 2.0);
}

/// A point as the model that states it; units are powers of two, so that nothing is rounded.
fn stated(coef: &Coef, units: &Units, classes: usize) -> Linear {
    let all = if classes == 2 { 1 } else { classes };
    let first = all - coef.n_scores();
    let (mut weights, mut intercept) = (vec![0.0; first * COLS], vec![0.0; first]);
    for c in 0..coef.n_scores() {
        weights.extend(coef.weights_of(c).iter().zip(units.scale()).map(|(w, scale)| w / scale));
        intercept.push(coef.intercept()[c]);
    }
    Linear::new(weights, units.centre().to_vec(), intercept).unwrap()
}

/// No certificate of few rows in several places says less than the truth, at the optimum or beside it.
fn never_refuted<L: Conjugate + Enclosed + Clone + Send>(
    loss: &L,
    method: &RiskMinimizer,
    prove: impl Fn(&Partitioned<'_, L>, &Coef) -> Certificate,
) {
    let (classes, intercept) = (loss.n_classes(), method.intercept);
    let (places, units) = places(&[11, 1, 0, 24, 6, 14], classes, 0, true, &[1.0, 2.0, 4.0, 4.0, 8.0]);
    let penalty = match method.penalty {
        PenaltyChoice::Ridge(lambda) => Ridge::new(lambda),
        _ => Ridge::none(),
    };
    let one = together(&places);
    let codes = one.labels.iter().map(|class| class.index()).collect();
    let data = Data::new(one.values.clone(), COLS, labels(codes, classes)).weighted(one.weights.clone().unwrap());
    let whole = Risk::new(one.sample(&units), loss.clone(), penalty.clone(), intercept);
    let best = Newton { tolerance: 1e-13, max_iterations: 100 }.solve(&whole, None, &Watch::default()).unwrap();
    let problem = Problem::new(&data, method, &units, penalty_of(method));
    let optimum = minimise(&problem, &problem.stated(&stated(&best.point.coef, &units, classes)), 250);
    assert!(optimum.converged, "{method:?}");
    let mut random = Source::new(7);
    let mut claims = 0;
    for rung in 0..22 {
        let mut coef = best.point.coef.clone();
        if rung > 0 {
            let by = 2f64.powi(2 * rung - 54);
            coef.as_mut_slice().iter_mut().for_each(|w| *w += *w * by * random.uniform(-1.0, 1.0));
        }
        let frame = (loss, &penalty, intercept);
        let certificate = by_workers("twin", (&places, &units), frame, |there| prove(there, &coef));
        claims += usize::from(certificate.gap().is_some());
        let refuted = refute(&problem, &stated(&coef, &units, classes), &certificate, &optimum);
        assert!(refuted.is_empty(), "{method:?}, rung {rung}: {refuted:?} of {certificate:?}");
    }
    assert!(claims > 15, "{method:?}: {claims} claims");
}

fn penalty_of(method: &RiskMinimizer) -> f64 {
    match method.penalty {
        PenaltyChoice::Ridge(lambda) => lambda,
        _ => 0.0,
    }
}

#[test]
fn no_proof_says_less_than_the_truth() {
    let gap = |intercept: Intercept, loss: LossChoice, form: SoftmaxForm| RiskMinimizer {
        loss,
        penalty: PenaltyChoice::Ridge(1e-2),
        intercept,
        form,
        ..RiskMinimizer::default()
    };
    let (symmetric, reference) = (SoftmaxForm::Symmetric, SoftmaxForm::Reference);
    for intercept in [Intercept::Free, Intercept::None, Intercept::Penalised] {
        let method = gap(intercept, LossChoice::Logistic, reference);
        never_refuted(&Logistic, &method, |p, coef| proved_gap(p, coef, &Watch::default()).unwrap().1);
        let three = Softmax::new(3, reference);
        never_refuted(&three, &method, |p, coef| proved_gap(p, coef, &Watch::default()).unwrap().1);
        let method = gap(intercept, LossChoice::SquaredHinge, symmetric);
        never_refuted(&SquaredHinge, &method, |p, coef| proved_gap(p, coef, &Watch::default()).unwrap().1);
    }
    let likelihood = |loss: LossChoice| RiskMinimizer {
        loss,
        penalty: PenaltyChoice::None,
        form: reference,
        ..RiskMinimizer::default()
    };
    never_refuted(&Logistic, &likelihood(LossChoice::Logistic), |p, coef| {
        self_concordance_bound(p, coef, StoredScores::AsFitted, &Watch::default()).unwrap().certificate
    });
    never_refuted(&Softmax::new(3, reference), &likelihood(LossChoice::Logistic), |p, coef| {
        self_concordance_bound(p, coef, StoredScores::Reference, &Watch::default()).unwrap().certificate
    });
}

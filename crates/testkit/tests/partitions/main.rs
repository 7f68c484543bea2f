//! Solvers and proofs of smooth risks on rows that lie in several places: each place adds up its own rows, the sums are
//! merged in the order of the places, and neither how many workers share them nor which of them is first changes a bit.

mod messages;
mod partitioned;
mod places;
mod proofs;

use linsep::certify::duality_gap;
use linsep::objective::{
    Coef, Conjugate, Detail, Intercept, Logistic, Ridge, Risk, Softmax, SoftmaxForm, Squared, SquaredHinge,
};
use linsep::solve::{Lbfgs, Newton, NewtonCg, Solved, Solver, Stop};
use linsep::watch::Watch;
use partitioned::{Partitioned, PointsOfPlaces};
use places::{SCALES, SEVEN, places, together};

/// One solver on rows in one place and in many, by one worker up to more than there are places.
fn agree<L: Conjugate + Clone + Send, S>(
    name: &str,
    solver: &S,
    loss: &L,
    lambda: f64,
    intercept: Intercept,
    weighted: bool,
    offsets: bool,
) where
    S: for<'a> Solver<Risk<'a, L>, Scores = Vec<f64>> + for<'a> Solver<Partitioned<'a, L>, Scores = PointsOfPlaces>,
{
    let width = if offsets { loss.n_scores() } else { 0 };
    let (places, units) = places(&SEVEN, loss.n_classes(), width, weighted, &SCALES);
    let penalty = Ridge::new(lambda);
    let one = together(&places);
    let whole = Risk::new(one.sample(&units), loss.clone(), penalty.clone(), intercept);
    let here: Solved = solver.solve(&whole, None, &Watch::default()).unwrap();
    let mut first: Option<(Coef, Option<f64>, usize)> = None;
    for workers in [1, 2, 3, 9] {
        let problem = Partitioned::new(&places, &units, loss, &penalty, intercept, workers);
        let there = solver.solve(&problem, None, &Watch::default()).unwrap();
        assert_eq!(there.stop, Stop::Converged, "{name}: {workers} workers");
        let found = (there.point.coef.clone(), there.certificate.gap(), there.passes);
        assert_eq!(&found, first.get_or_insert(found.clone()), "{name}: {workers} workers");
        // Both gaps are bounds, so the objectives differ by no more than them.
        let (a, b) = (here.certificate.gap().unwrap(), there.certificate.gap().unwrap());
        let apart = (here.point.objective - there.point.objective).abs();
        assert!(apart <= a.max(b) + 1e-13, "{name}: {apart:e} against {a:e} and {b:e}");
        // The gap of the same point is the same but for rounding.
        let at = whole.at(&there.point.coef, Detail::Gradient, &Watch::default()).unwrap();
        let again = duality_gap(&whole, &at, &Watch::default()).unwrap();
        assert!((again.gap().unwrap() - b).abs() <= 1e-13, "{name}: {again:?} against {b:e}");
    }
}

#[test]
fn solvers_agree_wherever_the_rows_are() {
    let (free, none, penalised) = (Intercept::Free, Intercept::None, Intercept::Penalised);
    let symmetric = Softmax::new(4, SoftmaxForm::Symmetric);
    let reference = Softmax::new(3, SoftmaxForm::Reference);
    for weighted in [false, true] {
        for offsets in [false, true] {
            agree("newton logistic", &Newton::default(), &Logistic, 1e-3, free, weighted, offsets);
            agree("newton softmax", &Newton::default(), &symmetric, 1e-3, free, weighted, offsets);
            agree(
                "newton-cg softmax",
                &NewtonCg { tolerance: 1e-9, max_iterations: 200 },
                &symmetric,
                1e-2,
                free,
                weighted,
                offsets,
            );
            agree("lbfgs reference", &Lbfgs::default(), &reference, 1e-2, penalised, weighted, offsets);
            agree("newton squared hinge", &Newton::default(), &SquaredHinge, 1e-2, none, weighted, offsets);
            agree("lbfgs squared hinge", &Lbfgs::default(), &SquaredHinge, 1e-2, free, weighted, offsets);
            agree(
                "newton-cg squared",
                &NewtonCg { tolerance: 1e-9, max_iterations: 200 },
                &Squared::one_hot(3),
                1e-2,
                free,
                weighted,
                offsets,
            );
        }
    }
}

/// A step that is too long is shortened by several values of a line at once, and by the same amount.
#[test]
fn lines_are_searched_alike() {
    let (places, units) = places(&SEVEN, 2, 0, false, &SCALES);
    let far = Coef::from_vec(vec![40.0, -30.0, 20.0, 10.0, -40.0, 3.0], 1, 5);
    let one = together(&places);
    let whole = Risk::new(one.sample(&units), Logistic, Ridge::new(1e-6), Intercept::Free);
    let problem = Partitioned::new(&places, &units, &Logistic, &Ridge::new(1e-6), Intercept::Free, 2);
    let solver = NewtonCg { tolerance: 1e-9, max_iterations: 400 };
    let here = solver.solve(&whole, Some(&far), &Watch::default()).unwrap();
    let there = solver.solve(&problem, Some(&far), &Watch::default()).unwrap();
    assert!(there.trace.iter().any(|step| step.step < 1.0), "no step was shortened");
    assert!((here.point.objective - there.point.objective).abs() <= 1e-9);
}

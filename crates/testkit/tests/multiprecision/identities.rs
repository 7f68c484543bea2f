//! The twin itself: closed forms, stationarity and duality, in 400 bits.

use linsep::design::{Standardize, Units};
use linsep::model::{LossChoice, PenaltyChoice, RiskMinimizer};
use linsep::objective::Intercept;
use testkit::data::{Data, labels, overlapping};
use testkit::multiprecision::{Problem, Real, minimise};

fn method(loss: LossChoice, penalty: PenaltyChoice) -> RiskMinimizer {
    RiskMinimizer { loss, penalty, standardize: Standardize::No, ..RiskMinimizer::default() }
}

fn near(a: &Real, b: &Real, what: &str) {
    let size = a.abs().max(b.abs()).max(Real::power_of_ten(-20));
    assert!((a - b).abs() <= size * Real::power_of_ten(-40), "{what}: {a:?} and {b:?}");
}

fn solve(data: &Data, method: &RiskMinimizer, lambda: f64) -> (Problem, Vec<Real>, Real) {
    let problem = Problem::new(data, method, &Units::identity(data.cols), lambda);
    let found = minimise(&problem, &problem.zero(), 200);
    assert!(found.converged, "{method:?}: residual {:?} after {}", found.residual, found.iterations);
    (problem, found.point, found.objective)
}

#[test]
fn least_squares_on_one_column_is_its_closed_form() {
    let x = [1.0, 2.5, 3.0, 7.25, -1.0];
    let codes = vec![0, 1, 0, 1, 1];
    let data = Data::new(x.to_vec(), 1, labels(codes.clone(), 2));
    let (_, point, _) = solve(&data, &method(LossChoice::Squared, PenaltyChoice::None), 0.0);
    let n = Real::from(5.0);
    let y: Vec<Real> = codes.iter().map(|c| Real::from(2.0 * *c as f64 - 1.0)).collect();
    let x: Vec<Real> = x.iter().map(|x| Real::from(*x)).collect();
    let mean = |v: &[Real]| v.iter().cloned().sum::<Real>() / &n;
    let (mx, my) = (mean(&x), mean(&y));
    let sxy: Real = x.iter().zip(&y).map(|(x, y)| (x - &mx) * (y - &my)).sum();
    let sxx: Real = x.iter().map(|x| (x - &mx) * (x - &mx)).sum();
    let slope = sxy / sxx;
    near(&point[0], &slope, "slope");
    near(&point[1], &(my - slope * mx), "intercept");
}

#[test]
fn a_saturated_table_has_the_frequencies_of_its_cells() {
    // A dummy: log-odds of the cells are ln(3/1) and ln(1/2).
    let x = vec![0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    let data = Data::new(x, 1, labels(vec![1, 1, 1, 0, 1, 0, 0], 2));
    let (_, point, _) = solve(&data, &method(LossChoice::Logistic, PenaltyChoice::None), 0.0);
    let (ln2, ln3) = (Real::from(2.0).ln(), Real::from(3.0).ln());
    near(&point[1], &ln3, "the first cell");
    near(&(&point[0] + &point[1]), &-ln2, "the second cell");
}

/// Central differences of F along every unknown vanish at a solution of a smooth problem.
#[test]
fn solutions_are_stationary() {
    for seed in 0..6 {
        let classes = 2 + seed as usize % 3;
        let data = overlapping(20, 2, classes, seed);
        for loss in [LossChoice::Logistic, LossChoice::Squared] {
            for penalty in [PenaltyChoice::Ridge(0.1), PenaltyChoice::None] {
                let lambda = if penalty == PenaltyChoice::None { 0.0 } else { 0.1 };
                let (problem, point, objective) = solve(&data, &method(loss, penalty), lambda);
                let step = Real::power_of_ten(-30);
                for u in 0..point.len() {
                    let moved = |by: Real| {
                        let mut point = point.clone();
                        point[u] += by;
                        problem.objective(&point)
                    };
                    let (up, down) = (moved(step.clone()), moved(-&step));
                    assert!(up >= objective && down >= objective, "{loss:?} {penalty:?} {u}");
                    let slope = (up - down) / (Real::from(2.0) * &step);
                    assert!(slope.abs() < Real::power_of_ten(-40), "{loss:?} {penalty:?} {u}: {slope:?}");
                }
            }
        }
    }
}

/// No point nearby is lower, at any of several distances: what holds for kinks as well.
#[test]
fn no_neighbour_of_a_solution_is_lower() {
    let mut source = testkit::data::Source::new(5);
    for seed in 0..8 {
        let several = seed % 2 == 1;
        let data = overlapping(18, 2, if several { 3 } else { 2 }, seed);
        let lasso = PenaltyChoice::ElasticNet { l1_ratio: 1.0, lambda: Some(0.05), cost: None };
        let mut methods = vec![
            (method(LossChoice::Hinge, PenaltyChoice::Ridge(0.05)), 0.05),
            (method(LossChoice::Logistic, lasso), 0.05),
            (method(LossChoice::Squared, lasso), 0.05),
        ];
        if !several {
            methods.push((method(LossChoice::SquaredHinge, PenaltyChoice::Ridge(1e-3)), 1e-3));
            methods.push((method(LossChoice::SquaredHinge, lasso), 0.05));
        }
        for (mut method, lambda) in methods {
            method.intercept = [Intercept::Free, Intercept::None, Intercept::Penalised][seed as usize % 3];
            let (problem, point, objective) = solve(&data, &method, lambda);
            for exponent in [0, -2, -5, -10, -20, -30] {
                for _ in 0..6 {
                    let size = Real::power_of_ten(exponent);
                    let single = source.chance(0.5).then(|| source.below(point.len()));
                    let moved: Vec<Real> = (0..point.len())
                        .map(|u| {
                            let fixed = method.intercept == Intercept::None && problem.is_intercept(u);
                            match !fixed && single.is_none_or(|s| s == u) {
                                true => &point[u] + &size * Real::from(source.normal()),
                                false => point[u].clone(),
                            }
                        })
                        .collect();
                    let there = problem.objective(&moved);
                    // The interior point method ends 1e-70 of F above the optimum.
                    let slack = &objective * Real::power_of_ten(-65);
                    assert!(there + slack >= objective, "{method:?}, seed {seed}, 1e{exponent}");
                }
            }
        }
    }
}

/// Ridge logistic: the dual objective at θ = ℓ′(z*) equals F* (Fenchel duality with no gap).
#[test]
fn duality_is_tight_at_the_solution() {
    let data = overlapping(15, 2, 2, 3);
    let lambda = 0.25;
    let mut method = method(LossChoice::Logistic, PenaltyChoice::Ridge(lambda));
    method.intercept = Intercept::None;
    let (_, point, objective) = solve(&data, &method, lambda);
    let n = Real::from(data.rows() as f64);
    let (mut entropy, mut v) = (Real::zero(), vec![Real::zero(); 2]);
    for i in 0..data.rows() {
        let x: Vec<Real> = data.row(i).iter().map(|x| Real::from(*x)).collect();
        let y = Real::from(2.0 * data.class(i) as f64 - 1.0);
        let margin = &y * (&x[0] * &point[0] + &x[1] * &point[1]);
        let q = Real::one() / (Real::one() + margin.exp());
        let rest = Real::one() - &q;
        // −q ln q − (1−q) ln(1−q), by logarithms of numbers above one.
        entropy += &q * (Real::one() / &q).ln() + &rest * (Real::one() / &rest).ln();
        for j in 0..2 {
            v[j] -= &q * &y * &x[j] / &n;
        }
    }
    let squared: Real = v.iter().map(|v| v * v).sum();
    let dual = entropy / &n - squared / (Real::from(2.0) * Real::from(lambda));
    near(&dual, &objective, "primal and dual");
}

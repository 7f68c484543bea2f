//! "There is no optimum" is refuted by a twin that converges to one.

use crate::cases::{Columns, hostile};
use linsep::model::{Fit, Method, PenaltyChoice, Refusal};
use linsep::objective::Intercept;
use linsep::watch::Watch;
use testkit::multiprecision::{Problem, minimise};

/// Verdicts of unpenalised fits: a twin that converges in the logistic loss has found the optimum that is said not to be.
#[test]
fn a_missing_optimum_is_not_found_by_the_twin() {
    let (mut refuted, mut verdicts) = (Vec::new(), 0);
    for seed in 0..4000u64 {
        let mut case = hostile(seed);
        if case.method.penalty != PenaltyChoice::None || case.columns == Columns::Scaled || case.data.rows() > 25 {
            continue;
        }
        case.method.intercept = Intercept::Free;
        let method = Method::Risk(case.method.clone());
        let Ok(Fit::Refused(Refusal::NoOptimum(_))) =
            method.fit(&case.data.training(&case.data.dense()), &Watch::default())
        else {
            continue;
        };
        verdicts += 1;
        let units = linsep::design::Units::identity(case.data.cols);
        let problem = Problem::new(&case.data, &case.method, &units, 0.0);
        let found = minimise(&problem, &problem.zero(), 60);
        if found.converged && found.undetermined.is_empty() {
            refuted.push((seed, found.objective));
        }
        if verdicts == 25 {
            break;
        }
    }
    assert!(verdicts >= 20, "only {verdicts} verdicts");
    assert!(refuted.is_empty(), "{} of {verdicts} verdicts are wrong: {refuted:?}", refuted.len());
}

//! The claims of fits, of certificates recomputed from the model alone, and of points beside the solution.

use crate::cases::{Case, hostile};
use linsep::certify::Certificate;
use linsep::design::Design;
use linsep::discriminant::{Discriminant, Linear};
use linsep::model::{Fit, Fitted, Method, Note, PenaltyChoice, Refusal};
use linsep::watch::Watch;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;
use testkit::data::Source;
use testkit::multiprecision::{Claim, Optimum, Problem, Real, Refuted, minimise, refute};

/// Steps of Newton's or of the interior point method.
const STEPS: usize = 250;
/// Twins that may fail to converge where the library claims something; they still challenge.
const MAY_FAIL: f64 = 0.02;

/// How often more than by default.
fn factor() -> f64 {
    std::env::var("LINSEP_TWIN").ok().and_then(|v| v.parse().ok()).unwrap_or(1.0)
}

/// The one case that was asked for.
fn only(kind: &str) -> Option<u64> {
    let asked = std::env::var("LINSEP_TWIN_CASE").ok()?;
    let (of, seed) = asked.split_once(':')?;
    Some(if of == kind { seed.parse().expect("a number") } else { u64::MAX })
}

/// What became of a case.
#[derive(Default)]
struct Outcome {
    /// Line and column of the table.
    place: (String, String),
    /// Certificates with a bound.
    claims: usize,
    /// Whether the twin converged, where there was a claim.
    converged: Option<bool>,
    /// What is false, with where it was claimed.
    refuted: Vec<(String, Refuted)>,
    /// What happened instead of a model.
    other: Option<String>,
}

fn with_design<T>(case: &Case, look: impl FnOnce(&dyn Design) -> T) -> T {
    match case.sparse {
        true => look(&case.data.csr()),
        false => look(&case.data.dense()),
    }
}

fn fit(case: &Case) -> Result<Fit, String> {
    let method = Method::Risk(case.method.clone());
    let fitted = std::panic::catch_unwind(|| {
        with_design(case, |design| method.fit(&case.data.training(design), &Watch::default()))
    });
    match fitted {
        Err(_) => Err("PANIC".into()),
        Ok(Err(error)) => Err(format!("error: {error}")),
        Ok(Ok(fit)) => Ok(fit),
    }
}

/// The certificate of coefficients, knowing nothing of how they were found.
fn certify(case: &Case, fitted: &Fitted, linear: &Linear) -> Result<Certificate, String> {
    let method = Method::Risk(case.method.clone());
    let discriminant = Discriminant::Linear(linear.clone());
    let of_multipliers = method_has_multipliers(case);
    let again = std::panic::catch_unwind(|| {
        with_design(case, |design| {
            let (training, watch) = (case.data.training(design), Watch::default());
            match (&fitted.multipliers, of_multipliers) {
                (Some(m), true) => {
                    method.certify_multipliers(&training, &discriminant, &fitted.units, &m.alpha, &watch)
                }
                _ => method.certify(&training, &discriminant, &fitted.units, &watch),
            }
        })
    });
    match again {
        Err(_) => Err("PANIC in certify".into()),
        Ok(Err(error)) => Err(format!("certify: {error}")),
        Ok(Ok((_, certificate))) => Ok(certificate),
    }
}

fn method_has_multipliers(case: &Case) -> bool {
    case.method.loss == linsep::model::LossChoice::Hinge
}

/// A fit and its twin: what the library found, the problem it states, and the best point that the twin knows.
struct Twin {
    fitted: Box<Fitted>,
    problem: Problem,
    optimum: Optimum,
}

fn twin(case: &Case, fitted: Box<Fitted>) -> Twin {
    let lambda = fitted.objective.lambda.unwrap_or(0.0);
    let problem = Problem::new(&case.data, &case.method, &fitted.units, lambda);
    let linear = fitted.discriminant.as_linear().expect("risk minimisers are linear");
    let mut optimum = minimise(&problem, &problem.stated(linear), STEPS);
    if !optimum.converged {
        // From a start that owes nothing to the library.
        let again = minimise(&problem, &problem.zero(), STEPS);
        if again.converged || again.objective < optimum.objective {
            optimum = again;
        }
    }
    Twin { fitted, problem, optimum }
}

fn run(case: &Case, ladder: bool, source: &mut Source) -> Outcome {
    let place = (case.family(), format!("{:?}", case.columns));
    let mut outcome = Outcome { place, ..Outcome::default() };
    let fitted = match fit(case) {
        Ok(Fit::Model(fitted)) => fitted,
        Ok(Fit::Refused(Refusal::NoOptimum(_))) => {
            outcome.other = Some("no optimum".into());
            return outcome;
        }
        Ok(Fit::Refused(Refusal::NotSeparable(_))) => unreachable!("a risk minimiser asks for no separation"),
        Err(what) => {
            outcome.other = Some(what);
            return outcome;
        }
    };
    let linear = fitted.discriminant.as_linear().expect("risk minimisers are linear").clone();
    let left_out = |note: &Note| matches!(note, Note::NearlyCollinear { left_out: true, .. });
    if fitted.notes.iter().any(left_out) {
        // It says that nothing is claimed about weights on the difference; the twin's problem has them.
        outcome.other = Some("a model without a column".into());
        return outcome;
    }
    // Where columns are combinations of others the twin may take any of them.
    let unique = !fitted.notes.iter().any(|note| matches!(note, Note::Collinear { .. }));
    // The stated objective is as good as its scores; without a penalty, weights on small differences make them worse than
    // nine digits.
    let penalised = case.method.penalty != PenaltyChoice::None;
    let counts = |r: &Refuted| match r.claim {
        Claim::CoefficientError => unique,
        Claim::Objective => penalised,
        _ => true,
    };
    if fitted.certificate.gap().is_none() && !ladder {
        outcome.other = Some("no bound".into());
        return outcome;
    }
    let Twin { fitted, problem, optimum } = twin(case, fitted);
    outcome.converged = Some(optimum.converged);
    let mut check = |at: &str, linear: &Linear, certificate: Result<Certificate, String>| match certificate {
        Err(what) if what.starts_with("PANIC") => outcome.other = Some(what),
        Err(_) => {}
        Ok(certificate) => {
            outcome.claims += usize::from(certificate.gap().is_some());
            let found = refute(&problem, linear, &certificate, &optimum);
            outcome.refuted.extend(found.into_iter().filter(counts).map(|r| (at.to_string(), r)));
        }
    };
    check("fit", &linear, Ok(fitted.certificate.clone()));
    check("certify", &linear, certify(case, &fitted, &linear));
    if ladder {
        for (k, rung) in rungs(&linear, case, source) {
            check(&format!("2^{k} ulp"), &rung, certify(case, &fitted, &rung));
        }
    }
    outcome
}

/// ŵ with every coefficient, or a single one, moved by 2^k ulp of itself.
fn rungs(linear: &Linear, case: &Case, source: &mut Source) -> Vec<(u32, Linear)> {
    let (scores, cols) = (linear.n_scores(), linear.n_cols());
    let mut all = Vec::new();
    for k in (0..=40u32).step_by(2) {
        let single = source.chance(0.5).then(|| source.below(scores * (cols + 1)));
        let mut moved = |at: usize, value: f64| {
            let sign = if source.chance(0.5) { 1.0 } else { -1.0 };
            match single.is_none_or(|only| only == at) {
                true => value + sign * value.abs() * 2f64.powi(k as i32 - 52),
                false => value,
            }
        };
        let mut weights = Vec::new();
        for c in 0..scores {
            let of = linear.weights_of(c);
            weights.extend((0..cols).map(|j| moved(c * cols + j, of[j])));
        }
        let intercept: Vec<f64> = match case.method.intercept {
            linsep::objective::Intercept::None => linear.intercept_at_centre().to_vec(),
            _ => {
                let at = linear.intercept_at_centre();
                (0..scores).map(|c| moved(scores * cols + c, at[c])).collect()
            }
        };
        all.push((k, Linear::new(weights, linear.centre().to_vec(), intercept).expect("the same shape")));
    }
    all
}

/// The column of the table that counts a claim.
fn kind_of(claim: Claim) -> usize {
    match claim {
        Claim::Gap | Claim::GapOfZero | Claim::NoNumber => 0,
        Claim::Dual => 1,
        Claim::WeightDistance | Claim::InterceptDistance | Claim::CoefficientError => 2,
        Claim::RelativeGap | Claim::Objective => 3,
    }
}

/// Counts by family and columns.
#[derive(Default)]
struct Tally {
    cases: usize,
    claims: usize,
    /// Cases with a false gap, dual value, distance of coefficients, and anything else.
    refuted: [usize; 4],
    unconverged: usize,
    other: usize,
    worst: f64,
}

fn table(outcomes: &[(u64, Outcome)]) -> String {
    let mut lines: BTreeMap<&(String, String), Tally> = BTreeMap::new();
    for (_, outcome) in outcomes {
        let line = lines.entry(&outcome.place).or_default();
        line.cases += 1;
        line.claims += outcome.claims;
        for kind in 0..4 {
            line.refuted[kind] += usize::from(outcome.refuted.iter().any(|(_, r)| kind_of(r.claim) == kind));
        }
        line.unconverged += usize::from(outcome.converged == Some(false));
        line.other += usize::from(outcome.other.is_some());
        line.worst = outcome.refuted.iter().map(|(_, r)| r.factor()).fold(line.worst, f64::max);
    }
    let mut text = format!(
        "{:<34} {:<16} {:>6} {:>7} {:>5} {:>5} {:>5} {:>5} {:>9} {:>6}  worst truth/claim\n",
        "family", "columns", "cases", "claims", "gap", "dual", "coef", "other", "unsolved", "silent"
    );
    for ((family, columns), t) in lines {
        let worst = if t.worst > 0.0 { format!("{:.2e}", t.worst) } else { String::new() };
        let [gap, dual, coef, other] = t.refuted;
        let _ = writeln!(
            text,
            "{family:<34} {columns:<16} {:>6} {:>7} {gap:>5} {dual:>5} {coef:>5} {other:>5} {:>9} {:>6}  {worst}",
            t.cases, t.claims, t.unconverged, t.other
        );
    }
    text
}

/// A case in full, so that it can be taken elsewhere.
fn describe(case: &Case) -> String {
    let mut text = format!("{:?}\nsparse {}, columns {:?}\n", case.method, case.sparse, case.columns);
    for i in 0..case.data.rows() {
        let offsets = case.data.offsets.as_ref().map(|(k, o)| &o[i * k..(i + 1) * k]);
        let _ = writeln!(
            text,
            "class {} weight {:?} offsets {:?} x {:?}",
            case.data.class(i),
            case.data.weight(i),
            offsets.unwrap_or(&[]),
            case.data.row(i)
        );
    }
    text
}

/// The smallest case of every kind of failure.
fn smallest(outcomes: &[(u64, Outcome)], kind: &str, make: fn(u64) -> Case) -> String {
    let mut seen: BTreeMap<(String, String, Claim), (usize, String)> = BTreeMap::new();
    for (seed, outcome) in outcomes {
        for (at, refuted) in &outcome.refuted {
            let case = make(*seed);
            let size = case.data.rows() * case.data.cols;
            let key = (outcome.place.0.clone(), outcome.place.1.clone(), refuted.claim);
            let text = format!("{kind}:{seed} ({}×{}) at {at}: {refuted}", case.data.rows(), case.data.cols);
            let best = seen.entry(key).or_insert((usize::MAX, String::new()));
            if size < best.0 {
                *best = (size, text);
            }
        }
    }
    seen.iter().map(|((family, columns, _), (_, text))| format!("{family}, {columns}: {text}\n")).collect()
}

fn suite(kind: &str, count: usize, make: fn(u64) -> Case, ladder: bool) {
    if let Some(seed) = only(kind) {
        if seed == u64::MAX {
            return;
        }
        return one(&make(seed), seed, ladder);
    }
    let count = (count as f64 * factor()) as u64;
    let outcomes: Vec<(u64, Outcome)> =
        (0..count).into_par_iter().map(|seed| (seed, run(&make(seed), ladder, &mut Source::new(seed)))).collect();
    let false_ones = outcomes.iter().filter(|(_, o)| !o.refuted.is_empty()).count();
    let panics: Vec<u64> = outcomes
        .iter()
        .filter(|(_, o)| o.other.as_ref().is_some_and(|w| w.starts_with("PANIC")))
        .map(|(seed, _)| *seed)
        .collect();
    let solved = outcomes.iter().filter(|(_, o)| o.converged == Some(true)).count();
    let unsolved: Vec<u64> =
        outcomes.iter().filter(|(_, o)| o.converged == Some(false)).map(|(seed, _)| *seed).collect();
    let mut others: BTreeMap<&str, usize> = BTreeMap::new();
    outcomes.iter().filter_map(|(_, o)| o.other.as_deref()).for_each(|what| *others.entry(what).or_default() += 1);
    let report = format!(
        "{kind}: {count} cases, {solved} twins solved, unsolved {unsolved:?}, panics {panics:?}\n{}\nno claim: {others:#?}\n{}",
        table(&outcomes),
        smallest(&outcomes, kind, make)
    );
    if let Ok(path) = std::env::var("LINSEP_TWIN_REPORT") {
        std::fs::write(format!("{path}.{kind}"), &report).expect("a place for the report");
    }
    assert!(false_ones == 0 && panics.is_empty(), "{false_ones} cases with a false claim\n{report}");
    let most = MAY_FAIL * (solved + unsolved.len()) as f64;
    assert!(unsolved.len() as f64 <= most, "{} twins did not converge\n{report}", unsolved.len());
    // Nothing is proved by a suite whose fits claim nothing.
    assert!(solved as f64 > 0.5 * count as f64, "only {solved} of {count} cases were compared\n{report}");
}

/// One case with everything about it; it fails with what it found.
fn one(case: &Case, seed: u64, ladder: bool) {
    let mut text = describe(case);
    match fit(case) {
        Ok(Fit::Model(fitted)) => {
            let _ = writeln!(text, "{:?}\n{:?}\n{:?}", fitted.certificate, fitted.outcome, fitted.discriminant);
            let _ = writeln!(text, "{:?}\n{:?}", fitted.units, fitted.notes);
            let Twin { fitted, problem, optimum } = twin(case, fitted);
            let linear = fitted.discriminant.as_linear().expect("linear");
            let stated = problem.objective(&problem.stated(linear));
            let zero: Real = problem.objective(&problem.zero());
            let _ = writeln!(
                text,
                "F(ŵ) = {stated:?}, F(0) = {zero:?}, gap {:?}\n{optimum:?}",
                &stated - &optimum.objective
            );
            let _ = writeln!(text, "optimum in columns {:?}", problem.as_stated(&optimum.point, linear.n_scores()));
        }
        Ok(other) => {
            let _ = writeln!(text, "{other:?}");
        }
        Err(what) => text.push_str(&what),
    }
    let outcome = run(case, ladder, &mut Source::new(seed));
    let refuted: String = outcome.refuted.iter().map(|(at, r)| format!("{at}: {r}\n")).collect();
    assert!(refuted.is_empty(), "{text}\n{refuted}");
    panic!("{text}\nnothing is false here: {:?} {:?}", outcome.converged, outcome.other);
}

#[test]
fn no_bound_is_below_the_truth() {
    suite("hostile", 1000, hostile, false);
}

#[test]
fn no_bound_is_below_the_truth_beside_the_solution() {
    suite("ladder", 60, hostile, true);
}

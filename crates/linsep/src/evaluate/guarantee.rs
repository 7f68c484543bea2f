//! Bounds on the error on new rows, from rows that the fit never saw.

use super::Scored;
use super::bounds::{
    clopper_pearson, clopper_pearson_upper, empirical_bernstein_upper, excess_risk_bound, hoeffding_upper,
};
use super::interval::Moments;
use super::probability::squared_errors;
use crate::decide::{Decision, Rule};
use crate::error::{Error, Result};

/// The most copies that doubles count one by one.
const MOST_COPIES: f64 = 9_007_199_254_740_992.0;

/// What a bound is derived from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BoundKind {
    /// The binomial distribution itself.
    ClopperPearson,
    /// Means of bounded numbers.
    Hoeffding,
    /// The same, with their variance.
    EmpiricalBernstein,
    /// The squared error of probabilities.
    ExcessRisk,
    /// Margins of the training rows.
    Margin,
    /// Mistakes of an online method.
    OnlineMistakes,
}

/// A limit that the truth exceeds with probability at most δ.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ErrorBound {
    /// How it is derived.
    pub kind: BoundKind,
    /// What is bounded.
    pub of: &'static str,
    /// What was seen.
    pub observed: f64,
    /// The limit; at most the largest value that is possible.
    pub limit: f64,
    /// Both ends at 1 − δ, where there is such an interval.
    pub interval: Option<(f64, f64)>,
    /// The formula and its source.
    pub method: &'static str,
    /// Why it is wider than it need be; `None` where it is the one to take.
    pub loose: Option<String>,
}

/// A figure that does not apply.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct LeftOut {
    /// Which.
    pub what: &'static str,
    /// Why.
    pub reason: String,
}

/// Bounds on the error on new rows.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Guarantee {
    /// δ of every bound.
    pub delta: f64,
    /// Test rows that were decided, copies counted.
    pub rows: f64,
    /// Those given a wrong class.
    pub mistakes: f64,
    /// Test rows that the decision left open.
    pub open: f64,
    /// The bounds, the one to take first.
    pub bounds: Vec<ErrorBound>,
    /// Bounds that do not apply, and why.
    pub left_out: Vec<LeftOut>,
    /// What all of it rests on.
    pub assumptions: Vec<String>,
}

/// What losses of one kind on the test rows prove of their mean.
struct BoundedLoss {
    of: &'static str,
    range: f64,
    rows: f64,
    mean: f64,
    variance: f64,
}

/// Bounds from rows that were not used in fitting.
///
/// # Errors
/// Whatever [`super::evaluate`] refuses; δ outside (0, 1); weights that do not count copies; no row that was decided.
pub fn guarantee(scored: &Scored<'_>, delta: f64) -> Result<Guarantee> {
    if !(delta > 0.0 && delta < 1.0) {
        return Err(Error::usage(format!("δ = {delta} is not a probability of failure"))
            .help("it lies strictly between 0 and 1, 0.05 for example"));
    }
    scored.check()?;
    check_copies(scored)?;
    let mut decided = Moments::new();
    let (mut mistakes, mut rows, mut open) = (0u64, 0u64, 0.0);
    for (row, (truth, class)) in scored.truth.iter().zip(scored.predicted).enumerate() {
        let copies = scored.weight(row);
        match class {
            None => open += copies,
            Some(class) => {
                let wrong = class != truth;
                rows += copies as u64;
                mistakes += if wrong { copies as u64 } else { 0 };
                decided.add(f64::from(u8::from(wrong)), copies);
            }
        }
    }
    if rows == 0 {
        return Err(Error::data("no test row was decided, so nothing is known of the decisions"));
    }
    let error = BoundedLoss {
        of: "error",
        range: 1.0,
        rows: rows as f64,
        mean: mistakes as f64 / rows as f64,
        variance: decided.variance(),
    };
    let exact = ErrorBound {
        kind: BoundKind::ClopperPearson,
        of: "error",
        observed: error.mean,
        limit: clopper_pearson_upper(mistakes, rows, delta),
        interval: Some(clopper_pearson(mistakes, rows, delta)),
        method: "exact binomial limit (Clopper and Pearson 1934)",
        loose: None,
    };
    let mut bounds = error.bounds(delta, Some(exact.limit));
    bounds.insert(0, exact);
    let mut left_out = Vec::new();
    match excess_risk(scored, delta) {
        Ok(more) => bounds.extend(more),
        Err(reason) => left_out.push(LeftOut { what: "excess risk", reason }),
    }
    let assumptions = assumptions(scored, open);
    Ok(Guarantee { delta, rows: rows as f64, mistakes: mistakes as f64, open, bounds, left_out, assumptions })
}

fn assumptions(scored: &Scored<'_>, open: f64) -> Vec<String> {
    let mut all = vec![
        "the test rows are independent draws from where the model will be used".to_owned(),
        "none of them was used to fit, tune or choose the model".to_owned(),
        "each bound holds by itself with probability 1 − δ: the one to quote is chosen before looking".to_owned(),
    ];
    if scored.weights.is_some() {
        all.push("weights count rows that were drawn one by one and happen to agree".to_owned());
    }
    if open > 0.0 {
        all.push("the error is that of decided rows; the rows left open are not among them".to_owned());
    }
    all
}

/// A bound on a mean counts draws: fractional weights are refused.
fn check_copies(scored: &Scored<'_>) -> Result<()> {
    let weights = scored.weights.unwrap_or(&[]);
    match weights.iter().position(|w| w.fract() != 0.0 || *w > MOST_COPIES) {
        None => Ok(()),
        Some(row) => Err(Error::data(format!("weight {} is not a number of copies", weights[row]))
            .at(scored.place(row))
            .help("finite-sample bounds count independent rows: give a test table without the weight column, or with whole frequencies")),
    }
}

impl BoundedLoss {
    /// Hoeffding and empirical Bernstein, the narrower first; `exact` is a limit that is known to be better.
    fn bounds(&self, delta: f64, exact: Option<f64>) -> Vec<ErrorBound> {
        let bound = |kind, limit: f64, method| ErrorBound {
            kind,
            of: self.of,
            observed: self.mean,
            limit: limit.min(self.range),
            interval: None,
            method,
            loose: None,
        };
        let mut both = vec![
            bound(
                BoundKind::Hoeffding,
                hoeffding_upper(self.mean, self.range, self.rows, delta),
                "mean + range·√(ln(1/δ)/2m) (Hoeffding 1963)",
            ),
            bound(
                BoundKind::EmpiricalBernstein,
                empirical_bernstein_upper(self.mean, self.variance, self.range, self.rows, delta),
                "mean + √(2V ln(2/δ)/m) + 7·range·ln(2/δ)/3(m−1) (Maurer and Pontil 2009)",
            ),
        ];
        both.sort_by(|a, b| a.limit.total_cmp(&b.limit));
        let best = exact.unwrap_or(both[0].limit);
        for (at, bound) in both.iter_mut().enumerate() {
            if bound.limit >= self.range {
                bound.loose = Some("says nothing at this number of rows".to_owned());
            } else if exact.is_some() || at > 0 {
                let factor = (bound.limit - self.mean) / (best - self.mean);
                bound.loose = Some(format!("loose: {factor:.1} times as far above what was seen as the first"));
            }
        }
        both
    }
}

/// The Brier score's limits, and what they say of the error above the Bayes error; or why not.
fn excess_risk(scored: &Scored<'_>, delta: f64) -> std::result::Result<Vec<ErrorBound>, String> {
    let probabilities = scored.probabilities.ok_or("the model has no probabilities")?;
    let decides_largest = |d: &Decision| !d.may_reject() && (d.rule == Rule::ArgMax || d.rule == Rule::Threshold(0.5));
    if !scored.decision.is_none_or(decides_largest) {
        return Err("it is of decisions by the largest probability, and this model decides otherwise".to_owned());
    }
    let n_classes = scored.classes.len();
    let mut moments = Moments::new();
    squared_errors(scored, probabilities, |row, loss| moments.add(loss, scored.weight(row)));
    let range = if n_classes == 2 { 1.0 } else { 2.0 };
    let loss = BoundedLoss {
        of: "Brier score",
        range,
        rows: scored.total_weight(),
        mean: moments.mean(),
        variance: moments.variance(),
    };
    let mut bounds = loss.bounds(delta, None);
    let limit = bounds.iter().find(|b| b.kind == BoundKind::EmpiricalBernstein).map_or(range, |b| b.limit);
    let excess = excess_risk_bound(limit, n_classes).min(1.0);
    bounds.push(ErrorBound {
        kind: BoundKind::ExcessRisk,
        of: "error above the Bayes error",
        observed: excess_risk_bound(loss.mean, n_classes).min(1.0),
        limit: excess,
        interval: None,
        method: match n_classes {
            2 => "2√Brier, at the empirical Bernstein limit of the Brier score",
            _ => "√(2 Brier), at the empirical Bernstein limit of the Brier score",
        },
        loose: Some(match excess < 1.0 {
            true => "loose: the Brier score holds the noise of the labels, too".to_owned(),
            false => "says nothing at this Brier score".to_owned(),
        }),
    });
    Ok(bounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Class;

    fn names() -> Vec<String> {
        vec!["a".to_owned(), "b".to_owned()]
    }

    #[test]
    fn weights_are_copies_or_refused() {
        let (classes, truth) = (names(), [Class(0), Class(1), Class(1), Class(0)]);
        let predicted = [Class(0), Class(1), Class(0), Class(0)].map(Some);
        let p = [0.9, 0.1, 0.2, 0.8, 0.6, 0.4, 0.7, 0.3];
        let scored = Scored {
            classes: &classes,
            truth: &truth,
            predicted: &predicted,
            decision: None,
            probabilities: Some(&p),
            losses: None,
            weights: Some(&[3.0, 1.0, 2.0, 0.0]),
            origin: None,
        };
        let weighted = guarantee(&scored, 0.1).unwrap();
        assert_eq!((weighted.rows, weighted.mistakes), (6.0, 2.0));
        let take = |rows: &[usize]| {
            let truth: Vec<Class> = rows.iter().map(|r| truth[*r]).collect();
            let predicted: Vec<Option<Class>> = rows.iter().map(|r| predicted[*r]).collect();
            let p: Vec<f64> = rows.iter().flat_map(|r| [p[2 * r], p[2 * r + 1]]).collect();
            let copies =
                Scored { truth: &truth, predicted: &predicted, probabilities: Some(&p), weights: None, ..scored };
            guarantee(&copies, 0.1).unwrap()
        };
        let copies = take(&[0, 0, 0, 1, 2, 2]);
        for (a, b) in weighted.bounds.iter().zip(&copies.bounds) {
            assert_eq!((a.kind, a.of), (b.kind, b.of));
            assert!((a.limit - b.limit).abs() < 1e-14 && (a.observed - b.observed).abs() < 1e-15, "{a:?} {b:?}");
        }
        let refused = guarantee(&Scored { weights: Some(&[1.0, 0.5, 1.0, 1.0]), ..scored }, 0.1).unwrap_err();
        assert!(refused.to_string().contains("0.5 is not a number of copies"), "{refused}");
        for delta in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(guarantee(&scored, delta).is_err());
        }
    }

    #[test]
    fn the_brier_limit_is_of_other_decisions_left_out() {
        let (classes, truth) = (names(), [Class(0), Class(1)]);
        let predicted = [Class(0), Class(1)].map(Some);
        let threshold = Decision::from(Rule::Threshold(0.3));
        let scored = Scored {
            classes: &classes,
            truth: &truth,
            predicted: &predicted,
            decision: Some(&threshold),
            probabilities: Some(&[0.9, 0.1, 0.2, 0.8]),
            losses: None,
            weights: None,
            origin: None,
        };
        let found = guarantee(&scored, 0.05).unwrap();
        assert!(found.left_out[0].reason.contains("decides otherwise"), "{found:?}");
        assert!(found.bounds.iter().all(|b| b.of == "error"));
        // Two rows prove next to nothing, and it is said.
        let [_, hoeffding, bernstein] = &found.bounds[..] else { panic!("three bounds: {found:?}") };
        assert!((hoeffding.limit - (20f64.ln() / 4.0).sqrt()).abs() < 1e-15);
        assert!(hoeffding.loose.as_ref().is_some_and(|l| l.starts_with("loose: 1.1 times")), "{hoeffding:?}");
        assert!(bernstein.limit == 1.0 && bernstein.loose.as_ref().is_some_and(|l| l.contains("nothing")));
        assert!((found.bounds[0].limit - (1.0 - 0.05f64.sqrt())).abs() < 1e-13);
        let half = Decision::from(Rule::Threshold(0.5));
        assert!(guarantee(&Scored { decision: Some(&half), ..scored }, 0.05).unwrap().left_out.is_empty());
    }
}

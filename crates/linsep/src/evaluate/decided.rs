//! What decisions come to: how many rows had none, and what they cost.

use super::interval::{Moments, wilson};
use super::probability::mean_loss;
use super::{Estimate, Scored};
use crate::decide::Rule;

/// Share of the rows without a class; `None` where there can be none.
pub(super) fn rejected(scored: &Scored<'_>) -> Option<Estimate> {
    scored.decision.filter(|d| d.may_reject())?;
    Some(share(scored, "share of all rows", |row| scored.predicted[row].is_none()))
}

/// Share of the rows that two-class fits leave undetermined; `None` where they cannot.
pub(super) fn undetermined(scored: &Scored<'_>) -> Option<Estimate> {
    scored.decision.filter(|d| d.may_be_undetermined())?;
    Some(share(scored, "share of all rows", |row| scored.predicted[row].is_none()))
}

/// Accuracy with undetermined rows as mistakes; `None` where there can be none.
pub(super) fn right_of_all(scored: &Scored<'_>) -> Option<Estimate> {
    scored.decision.filter(|d| d.may_be_undetermined())?;
    let what = "share of all rows, an undetermined one counted as a mistake";
    Some(share(scored, what, |row| scored.predicted[row] == Some(scored.truth[row])))
}

fn share(scored: &Scored<'_>, what: &str, counts: impl Fn(usize) -> bool) -> Estimate {
    let total = scored.total_weight();
    // From 0, because a sum of nothing is −0, which is not what a share of nothing looks like.
    let counted =
        (0..scored.truth.len()).filter(|row| counts(*row)).map(|row| scored.weight(row)).fold(0.0, |a, b| a + b);
    let method = format!("{what}; Wilson score interval");
    Estimate::new(counted / total, Some(wilson(counted, total)), method).needs_two(total)
}

/// Mean cost of the decisions, the figure that costs and rejection are there to make small; `None` without either.
pub(super) fn mean_cost(scored: &Scored<'_>) -> Option<Estimate> {
    let decision = scored.decision?;
    let (mut range, what) = match (&decision.rule, decision.reject) {
        (Rule::Cost(costs), reject) => {
            let all = || costs.iter().flatten().copied();
            let range = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
            let rejected = reject.map_or(String::new(), |cost| format!(", a rejected row at {cost}"));
            (range, format!("mean cost of the decisions{rejected}"))
        }
        (_, Some(cost)) => ((0.0, 1.0), format!("mean cost, a mistake at 1 and a rejected row at {cost}")),
        (_, None) => return None,
    };
    if let Some(cost) = decision.reject {
        range = (range.0.min(cost), range.1.max(cost));
    }
    let mut moments = Moments::new();
    for (row, (truth, class)) in scored.truth.iter().zip(scored.predicted).enumerate() {
        moments.add(decision.cost(*truth, *class)?, scored.weight(row));
    }
    Some(mean_loss(&moments, range, &what, scored.total_weight()))
}

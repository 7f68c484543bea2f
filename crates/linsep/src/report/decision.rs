//! How a model decides, in words and for machines.

use super::text::{clip, short};
use crate::artifact::Model;
use crate::decide::{Rule, Scheme, Tie, Ties, Vote};
use serde_json::{Value, json};

/// Costs named in the words of a decision; a large matrix is for machines.
const SHOWN: usize = 6;

/// The decision in words.
pub(super) fn decision_text(model: &Model) -> String {
    let (decision, classes) = (&model.decision, &model.classes);
    let moved = model.calibration.is_some() || model.true_priors.is_some();
    let name = |k: usize| format!("`{}`", clip(&classes[k], 24));
    let at_a_tie = match decision.tie {
        Tie::First => "at a tie the first",
        Tie::Last => "at a tie the last",
        Tie::Reject => "none at a tie",
    };
    let above = |quantity: &str, cut: &str| {
        let (last, first) = (name(1), name(0));
        match decision.tie {
            Tie::First => format!("{last} where its {quantity} exceeds {cut}, else {first}"),
            Tie::Last => format!("{last} where its {quantity} is at least {cut}, else {first}"),
            Tie::Reject => format!("{last} where its {quantity} exceeds {cut}, none where it is {cut}, else {first}"),
        }
    };
    let rule = match &decision.rule {
        Rule::ArgMax if moved => format!("the most probable class, {at_a_tie}"),
        Rule::ArgMax => format!("the class with the largest score, {at_a_tie}"),
        // The only threshold that scores without probabilities have.
        Rule::Threshold(_) if !model.has_probabilities() && decision.tie == Tie::First => {
            format!("{} where its score is above zero, else {}", name(1), name(0))
        }
        Rule::Threshold(_) if !model.has_probabilities() => above("score", "zero"),
        Rule::Threshold(p) => above("probability", &p.to_string()),
        Rule::Score(z) => above("score", &z.to_string()),
        Rule::Cost(costs) if decision.tie == Tie::First => {
            format!("the smallest expected cost: {}", costs_text(costs, &name))
        }
        Rule::Cost(costs) => format!("the smallest expected cost: {}; {at_a_tie}", costs_text(costs, &name)),
        Rule::Scheme(scheme) => scheme_text(*scheme),
    };
    match (decision.reject, &decision.rule) {
        (None, _) => rule,
        (Some(cost), Rule::Cost(_)) => format!("{rule}; none where that exceeds {cost}"),
        (Some(cost), _) => format!("{rule}; none where it is wrong with a probability above {cost}"),
    }
}

/// How two-class fits decide, in words.
fn scheme_text(scheme: Scheme) -> String {
    let rule = match scheme {
        Scheme::OneVsOne { vote: Vote::Majority, .. } => "of the pairs of classes the class that wins the most",
        Scheme::OneVsOne { vote: Vote::Unanimity, .. } => "of the pairs of classes the class that wins all of its own",
        Scheme::OneVsOne { vote: Vote::Scores, .. } => {
            "the class with the largest sum of its scores against the others"
        }
        Scheme::OneVsRest { .. } => "the class that is positive against the rest, if it is the only one",
        Scheme::LinearMachine { .. } => "the class with the largest score against the rest",
    };
    let otherwise = match (scheme.ties(), scheme.compares_scores()) {
        (Ties::Undetermined, true) => "undetermined at a tie",
        (Ties::Undetermined, false) => "otherwise undetermined",
        (Ties::Scores, _) => "otherwise the candidate with the largest scores",
        (Ties::First, true) => "at a tie the first",
        (Ties::First, false) => "otherwise the first candidate",
    };
    format!("{rule}, {otherwise}")
}

fn costs_text(costs: &[Vec<f64>], name: &impl Fn(usize) -> String) -> String {
    let cells = || (0..costs.len()).flat_map(|k| (0..costs.len()).map(move |j| (k, j)));
    let named: Vec<(usize, usize)> = cells().filter(|(k, j)| k != j || costs[*k][*j] != 0.0).collect();
    let words = named.iter().take(SHOWN).map(|(k, j)| format!("{} taken for {} {}", name(*k), name(*j), costs[*k][*j]));
    let mut text = words.collect::<Vec<String>>().join(", ");
    if named.len() > SHOWN {
        text.push_str(&format!(", and {} more", named.len() - SHOWN));
    }
    // Two classes whose mistakes cost more than the right class come down to a threshold.
    if let [[a, b], [c, d]] = [costs[0].as_slice(), costs[1].as_slice()]
        && b > a
        && c > d
    {
        let threshold = 1.0 / (1.0 + (c - d) / (b - a));
        text.push_str(&format!(" ({} where its probability exceeds {})", name(1), short(threshold)));
    }
    text
}

/// The decision for programs: `words`, `rule` (`arg_max`, `threshold`, `cost` or `scheme`), and what belongs to it or null.
pub(super) fn decision_json(model: &Model) -> Value {
    let decision = &model.decision;
    let (rule, threshold, costs) = match &decision.rule {
        Rule::ArgMax => ("arg_max", None, None),
        Rule::Threshold(p) => ("threshold", Some(p), None),
        Rule::Score(z) => ("score", Some(z), None),
        Rule::Cost(costs) => ("cost", None, Some(costs)),
        Rule::Scheme(_) => ("scheme", None, None),
    };
    json!({
        "words": decision_text(model),
        "rule": rule,
        "threshold": threshold,
        "costs": costs,
        "scheme": decision.scheme(),
        "reject": decision.reject,
        "tie": decision.tie,
    })
}

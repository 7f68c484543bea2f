//! One row explained, for people.

use super::text::{beside, clip, count, grid, short, wrap};
use super::weights::score_heading;
use crate::artifact::Model;
use crate::workflow::{ExplainedBy, ExplainedRow, ExplainedScore, ExplainedTerm, ExplainedValue, ExplanationBase};

/// Scores that are all shown; of more, the two that are largest.
const FEW_SCORES: usize = 3;
/// Characters of a line of text.
const WIDTH: usize = 78;

/// The name of a term, as a table of explanations has it.
pub fn explained_name(by: &ExplainedBy) -> String {
    match by {
        ExplainedBy::Intercept => "(intercept)".to_owned(),
        ExplainedBy::Offset => "(offset)".to_owned(),
        ExplainedBy::TruePriors => "(true priors)".to_owned(),
        ExplainedBy::Column { name, .. } => name.clone(),
        ExplainedBy::SupportRow { row, .. } => format!("(support row {})", row + 1),
        ExplainedBy::Rest(_) => "(rest)".to_owned(),
    }
}

/// A row, its class, and the sums that its scores are.
pub fn explanation_text(model: &Model, row: &ExplainedRow, base: ExplanationBase, place: &str) -> String {
    let class = match row.class {
        Some(class) => {
            let probability = row.probabilities.as_ref().map(|p| format!(", probability {}", short(p[class.index()])));
            format!("{}{}", model.classes[class.index()], probability.unwrap_or_default())
        }
        None if model.decision.may_reject() => "rejected".to_owned(),
        None => "undetermined".to_owned(),
    };
    let mut out = format!("{place}: {class}\n");
    let heading = score_heading(model);
    let mut order: Vec<usize> = (0..row.scores.len()).collect();
    order.sort_by(|a, b| row.scores[*b].score.total_cmp(&row.scores[*a].score));
    let shown = if order.len() > FEW_SCORES { 2 } else { order.len() };
    for score in &order[..shown] {
        let explained = &row.scores[*score];
        out.push_str(&format!("\n  {}: score {}\n", heading(*score), short(explained.score)));
        out.push_str(&terms_text(explained));
    }
    if shown < order.len() {
        out.push_str(&format!(
            "\n  … {}: written to a file they are all there\n",
            count(order.len() - shown, "lower score")
        ));
    }
    out.push('\n');
    for line in wrap(base_text(model, base), WIDTH) {
        out.push_str(&format!("  {line}\n"));
    }
    out
}

fn terms_text(explained: &ExplainedScore) -> String {
    let largest = explained.terms.iter().map(|t| t.contribution.abs()).fold(0.0, f64::max);
    let line = |term: &ExplainedTerm| {
        let value = match &term.by {
            ExplainedBy::Column { value: ExplainedValue::Number(number), .. } => short(*number),
            ExplainedBy::Column { value: ExplainedValue::Text(text), .. } => clip(text, 20),
            ExplainedBy::SupportRow { kernel, .. } => format!("K = {}", short(*kernel)),
            ExplainedBy::Rest(n) => format!("{n} more"),
            _ => String::new(),
        };
        let sign = if term.contribution > 0.0 { "+" } else { "" };
        vec![clip(&explained_name(&term.by), 36), value, format!("{sign}{}", beside(term.contribution, largest))]
    };
    let mut rows = vec![["", "value", "adds"].map(str::to_owned).to_vec()];
    rows.extend(explained.terms.iter().map(line));
    grid(&rows, 4)
}

fn base_text(model: &Model, base: ExplanationBase) -> &'static str {
    match base {
        ExplanationBase::Centre => {
            "What is added sums to the score. The intercept is the score of a row in the centre (as a rule the mean of the \
             training rows), and a column adds what its distance from there changes."
        }
        ExplanationBase::Zero => {
            "What is added sums to the score. The intercept is the score of a row of zeros, and a column adds its weight \
             times its value."
        }
        ExplanationBase::Priors if model.classes.len() == 2 => {
            "What is added sums to the score. The intercept is the log-odds of the priors, and a column adds the logarithm \
             of how much likelier its value is in the second class than in the first."
        }
        ExplanationBase::Priors => {
            "What is added sums to the score. The intercept is the logarithm of the prior, and a column adds the logarithm \
             of how much likelier its value is in this class than in the average of all."
        }
        ExplanationBase::Kernel => {
            "What is added sums to the score. A support row of the training table adds its coefficient times the kernel \
             K of the two rows."
        }
    }
}

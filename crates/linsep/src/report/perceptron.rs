//! The perceptron family in words.

use super::text::{count, short, thousands, wrap};
use crate::artifact::Model;
use crate::certify::Certificate;
use crate::design::Standardize;
use crate::model::{Method, NotSeparable, PerceptronSettings, PerceptronVariant};
use crate::objective::Intercept;
use crate::words::{Setting, Voice, words};

/// Width of a line of text.
const LINE: usize = 86;

pub(super) fn headline(method: &PerceptronSettings) -> String {
    let name = match method.variant {
        PerceptronVariant::Online => "Perceptron",
        PerceptronVariant::Batch => "Batch perceptron",
        PerceptronVariant::BatchSum => "Batch perceptron by sums",
        PerceptronVariant::PocketRun => "Pocket perceptron by longest run",
        PerceptronVariant::PocketErrors => "Pocket perceptron by training errors",
        PerceptronVariant::Averaged => "Averaged perceptron",
    };
    let columns = match method.standardize {
        Standardize::Yes => "standardised columns",
        Standardize::No => "columns as they are",
    };
    let intercept = if method.intercept == Intercept::None { "no intercept" } else { "free intercept" };
    format!("{name}: {columns}, {intercept}")
}

/// Rows on the wrong side, and what their weights have meant.
pub(super) fn errors_text(model: &Model) -> String {
    let total = model.training.total_weight;
    let errors = match &model.certificate {
        Certificate::Errors { errors, .. } => *errors,
        _ => 0.0,
    };
    let unit = if model.weights.is_some() { "by weight" } else { "rows" };
    format!("{} of {} {unit} not strictly on their side", thousands(errors), thousands(total))
}

/// What a plane proves.
pub(super) fn plane_text(certificate: &Certificate) -> String {
    match certificate {
        Certificate::Separates { margin, norm, radius, bound, widest, mistakes } => {
            let (limit, by) = match widest {
                Some(margin) => ("R²/γ*²", format!(" by a plane of margin γ* = min y θ*·x̃/‖θ*‖ = {}", short(*margin))),
                None => ("R²‖θ‖²/γ²", String::new()),
            };
            let mistakes = match mistakes {
                Some(m) => format!("{} ≤ {limit} = {}{by}", count(*m, "update"), short(*bound)),
                None => format!(
                    "from θ = 0, with one step, by single rows or their mean no perceptron makes more than {limit} = {} \
                     updates{by}",
                    short(*bound)
                ),
            };
            format!(
                "θ separates the classes: every row has y θ·x̃ ≥ γ = {} (‖θ‖ = {}, R = max ‖x̃‖ = {}); {mistakes}",
                short(*margin),
                short(*norm),
                short(*radius)
            )
        }
        _ => "none: the errors are counted from the rows; no bound says that fewer are impossible".into(),
    }
}

pub(super) fn computation_text(model: &Model) -> String {
    let c = &model.computation;
    let by_all = |m: &PerceptronSettings| matches!(m.variant, PerceptronVariant::Batch | PerceptronVariant::BatchSum);
    let batch = matches!(&model.method, Method::Perceptron(m) if by_all(m));
    let moves = if batch { "update" } else { "mistake" };
    format!("{}, {}, {}", c.solver, count(c.iterations, moves), count(c.passes, "epoch"))
}

/// Why there is no separating plane; `used` rows were learned from.
pub(super) fn not_separable_text(proof: &NotSeparable, used: usize, voice: &dyn Voice) -> String {
    let mut out = "No plane separates the classes: the perceptron would make mistakes forever.\n".to_owned();
    let rows = match proof.rows.len() {
        n if n == used => format!("these {}", count(n, "row")),
        n => format!("{} of these {}", thousands(n as f64), count(used, "row")),
    };
    let why = match &proof.rows[..] {
        [row] => {
            let row = row + voice.first();
            format!("Proof: row {row} has only zeros, so without an intercept it is on no side of any plane.")
        }
        _ => format!(
            "Proof: {rows} have positive weights α with Σ αyx̃ = 0, exactly and not only up to rounding: a plane that favours \
             one of them fails another."
        ),
    };
    let made =
        format!("Until then it had made {} in {}.", count(proof.mistakes, "update"), count(proof.epochs, "epoch"));
    let method = |name: &str| Setting::Model.is(name);
    let remedy = words![
        method("pocket"),
        " keeps the best plane that it meets, ",
        method("averaged-perceptron"),
        " averages over all, ",
        method("logistic"),
        " minimises a loss.",
    ];
    let nothing = voice.nothing_written().map(str::to_owned);
    let ending: Vec<String> = nothing.into_iter().chain(remedy.said(voice)).collect();
    for text in [why, made, ending.join(" ")] {
        for line in wrap(&text, voice.width().min(LINE) - 2) {
            out.push_str(&format!("  {line}\n"));
        }
    }
    out
}

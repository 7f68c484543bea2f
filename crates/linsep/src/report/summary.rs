//! What was fitted, in one screen.

use super::conformal::conformal_text;
use super::decision::decision_text;
use super::digits::{proved_objective, six_digits};
use super::features::{
    all_levels_text, basis_text, coding_text, filled_text, formula_text, reading_text, transform_text,
};
use super::headline::headline;
use super::parts::{multiclass_text, part_notes, parts_table};
use super::probability::{calibration_text, priors_text};
use super::text::{clip, count, grid, percent, short, thousands, wrap};
use super::warnings::warnings;
use super::weights::largest_weights;
use super::{given, hard_margin, perceptron};
use crate::artifact::{Model, SupportVectors};
use crate::certify::{Certificate, SeparationKind};
use crate::decide::Decision;
use crate::model::{ClassWeighting, Method, NoOptimum, Note, Outcome};
use crate::numeric::{bound_text, printed_below};
use crate::words::{Setting, Voice, words};
use std::fmt::Write;

/// Notes that are shown.
const SHOWN: usize = 10;
/// Width of the labels, with the spaces around them.
const LABEL: usize = 15;

/// Width of a page from which on a headline is not broken.
const WIDE: usize = 99;
/// Width of a narrow page.
const NARROW: usize = 80;

/// The summary of a fit.
pub fn fit_summary(model: &Model, voice: &dyn Voice) -> String {
    // Arg max is what everyone expects; any other decision must be seen.
    summary(model, None, (model.decision != Decision::default(), false), voice)
}

/// The same with a line on the columns, such as why they were taken as they are.
pub fn fit_summary_on_columns(model: &Model, columns: &str, voice: &dyn Voice) -> String {
    summary(model, Some(columns), (model.decision != Decision::default(), false), voice)
}

/// With a line on the columns, with the decision in words, and with all parts.
pub(super) fn summary(
    model: &Model,
    columns: Option<&str>,
    (with_decision, all): (bool, bool),
    voice: &dyn Voice,
) -> String {
    let mut out = String::new();
    // On a wide page it is one line.
    let page = if voice.width() < WIDE { voice.width() - 2 } else { usize::MAX };
    for (i, piece) in wrap(&headline(model), page).iter().enumerate() {
        let _ = writeln!(out, "{}{piece}", if i == 0 { "" } else { "  " });
    }
    let mut line = |label: &str, text: String| {
        for (i, piece) in wrap(&text, voice.width().saturating_sub(LABEL)).iter().enumerate() {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "  {:<12} {piece}", if i == 0 { label } else { "" });
        }
    };
    if let Some(columns) = columns {
        line("columns", columns.to_owned());
    }
    if let Method::Given(_) = model.method {
        given::lines(model).into_iter().for_each(|(label, text)| line(label, text));
        return out;
    }
    let generative = matches!(model.method, Method::Gaussian(_) | Method::NaiveBayes(_));
    let searches = matches!(model.method, Method::Perceptron(_) | Method::KernelPerceptron(_));
    let verb = if generative { "likelihood" } else { "minimised" };
    line(if searches { "algorithm" } else { verb }, model.objective.formula.clone());
    match (searches, model.parts.len()) {
        (true, 0) => line("errors", perceptron::errors_text(model)),
        (true, _) => {}
        (false, 0) => line("objective", proved_objective(model)),
        (false, n) => {
            line("objective", format!("{}, summed over {n} two-class fits", six_digits(model.objective.value)))
        }
    }
    if let Some(margin) = hard_margin::margin_text(model) {
        line("margin", margin);
    }
    let of_worst = if model.parts.is_empty() { "" } else { "; of the worst two-class fit" };
    let mut certificate = certificate_text(&model.certificate, model.outcome);
    if model.notes.iter().any(Note::leaves_out) {
        certificate = certificate.replacen("of the optimum", "of the optimum without the columns left out", 1);
    }
    line("certificate", format!("{certificate}{of_worst}"));
    line("data", data_text(model));
    for dropped in dropped_text(model) {
        line("", dropped);
    }
    for read in reading_text(model) {
        line("read", read);
    }
    if let Some(transform) = transform_text(model) {
        line("transform", transform);
    }
    if let Some(formula) = formula_text(model) {
        line("formula", formula);
    }
    if let Some(coding) = coding_text(model) {
        line("coding", coding.to_owned());
    }
    if let Some(basis) = basis_text(model) {
        line("basis", basis);
    }
    let classes = model.classes.iter().zip(&model.training.class_weights);
    let shown: Vec<String> = classes.take(12).map(|(c, n)| format!("{c} {}", thousands(*n))).collect();
    let more =
        if model.classes.len() > 12 { format!(", and {} more", model.classes.len() - 12) } else { String::new() };
    line("classes", format!("{}{more}", shown.join(", ")));
    if let Some(weighting) = &model.class_weights {
        line("", class_weights_text(weighting, &model.classes));
    }
    if let Some(calibration) = &model.calibration {
        line("calibration", calibration_text(calibration));
    }
    if let Some(priors) = &model.true_priors {
        line("true priors", priors_text(model, priors));
    }
    if let Some(text) = multiclass_text(model) {
        line("multiclass", text);
    } else if with_decision {
        line("decision", decision_text(model));
    }
    if let Some(conformal) = &model.conformal {
        line("sets", conformal_text(model, conformal));
    }
    line("accuracy", accuracy_text(model));
    line("solver", if searches { perceptron::computation_text(model) } else { computation_text(model) });
    if let Some(support) = &model.support_vectors {
        line("support", support_text(support));
    }
    let references = model.recipe.references();
    if !references.is_empty() {
        line("reference", format!("{} (levels without a column of their own)", references.join(", ")));
    }
    if let Some(coding) = all_levels_text(model) {
        line("coding", coding);
    }
    let constant = model.recipe.constant_columns();
    if !constant.is_empty() {
        line("note", format!("constant, left out: {}", constant.join(", ")));
    }
    warnings(model).iter().filter_map(|w| w.said(voice)).for_each(|warning| line("note", warning));
    let feature = model.recipe.namer();
    for note in model.notes.iter().take(SHOWN) {
        line("note", note.describe(&feature, voice));
    }
    if model.notes.len() > SHOWN {
        line("note", unshown(model.notes.len() - SHOWN, "", voice));
    }
    let of_parts = part_notes(model, voice);
    of_parts.iter().take(SHOWN).for_each(|note| line("note", note.clone()));
    if of_parts.len() > SHOWN {
        line("note", unshown(of_parts.len() - SHOWN, " of single fits", voice));
    }
    out.push_str(&parts_table(model, all));
    out.push_str(&largest_weights(model));
    out
}

/// How many notes are not shown, and where they are.
fn unshown(notes: usize, of: &str, voice: &dyn Voice) -> String {
    let count = format!("{notes} more{of}");
    words![count.clone(), ", see ", Setting::Inspect].said(voice).unwrap_or(count)
}

fn computation_text(model: &Model) -> String {
    let c = &model.computation;
    let iterations = if c.iterations == 0 { String::new() } else { format!(", {}", count(c.iterations, "iteration")) };
    let passes = match c.passes {
        0 => String::new(),
        1 => ", 1 pass over the data".to_owned(),
        n => format!(", {n} passes over the data"),
    };
    let reason = c.reason.as_ref().map(|r| format!(" (auto: {r})")).unwrap_or_default();
    format!("{}{reason}{iterations}{passes}", c.solver)
}

fn certificate_text(certificate: &Certificate, outcome: Outcome) -> String {
    let proof = match certificate {
        Certificate::DualityGap { gap, relative_gap, ridge_added, .. } => {
            let of = match ridge_added {
                Some(ridge) => format!(", for the kernel table with {} added to its diagonal", bound_text(*ridge)),
                None => String::new(),
            };
            let (gap, relative) = (bound_text(*gap), bound_text(*relative_gap));
            format!("objective within {gap} of the optimum (relative gap {relative}, by a dual point{of})")
        }
        Certificate::SelfConcordance { gap, relative_gap, .. } => format!(
            "the optimum exists and the objective is within {} of it (relative {}, by self-concordance)",
            bound_text(*gap),
            bound_text(*relative_gap)
        ),
        Certificate::CurvatureBall { gap, relative_gap, curvature, .. } => format!(
            "the optimum exists and the objective is within {} of it (relative {}, by curvature of at least {} of itself in \
             a ball)",
            bound_text(*gap),
            bound_text(*relative_gap),
            printed_below(*curvature, |x| format!("{x:.2}"))
        ),
        Certificate::Quadratic { gap, relative_gap, .. } => format!(
            "objective within {} of the optimum (relative gap {}, ½ rᵀH⁻¹r of its gradient)",
            bound_text(*gap),
            bound_text(*relative_gap)
        ),
        Certificate::ClosedForm { equations, relative_residual, errors } => {
            let digits = match errors {
                Some(_) => "the digits of the weights are proved apart, by bounds on the rounding of the moments",
                None => "that proves no digit of the solution",
            };
            format!("{equations} holds with relative residual {relative_residual:.1e}; {digits}")
        }
        Certificate::Local { gradient, smallest_eigenvalue } => local_text(*gradient, *smallest_eigenvalue, outcome),
        Certificate::Margin { margin, hull_distance, relative_gap } => {
            hard_margin::certificate_text(*margin, *hull_distance, *relative_gap)
        }
        Certificate::Stationary { violation } => format!(
            "a stationary point within {} (the kernel is not known to be positive semidefinite, so nothing is proved about \
             other points)",
            bound_text(*violation)
        ),
        Certificate::Absent { reason } => format!("none: {reason}"),
        plane => perceptron::plane_text(plane),
    };
    match outcome {
        Outcome::Converged => proof,
        Outcome::IterationLimit => format!("NOT CONVERGED (iteration limit): {proof}"),
        Outcome::TimeLimit => format!("NOT CONVERGED (time limit): {proof}"),
        Outcome::Interrupted => format!("NOT CONVERGED (interrupted): {proof}"),
        Outcome::PrecisionLimit => format!("NOT CONVERGED (limit of double precision): {proof}"),
    }
}

/// A local minimum is called one only where it was reached.
fn local_text(gradient: f64, smallest: f64, outcome: Outcome) -> String {
    let found = format!("gradient {gradient:.1e}, smallest eigenvalue of the Hessian {}", short(smallest));
    match outcome {
        Outcome::Converged => format!("a local minimum: {found}; there may be a lower one"),
        _ => found,
    }
}

fn data_text(model: &Model) -> String {
    let t = &model.training;
    let rows = if t.used == t.rows {
        count(t.rows, "row")
    } else {
        format!("{} of {}", thousands(t.used as f64), count(t.rows, "row"))
    };
    let weighted = match &model.weights {
        Some(column) => format!(" (weight {} by `{column}`)", thousands(t.total_weight)),
        None => String::new(),
    };
    let features = model.recipe.n_features();
    let sources = model.recipe.table_columns().count() + usize::from(model.recipe.sparse_width > 0);
    let expanded = if model.recipe.sparse_width == 0 && sources != features {
        format!(" from {}", count(sources, "column"))
    } else {
        String::new()
    };
    format!("{rows}{weighted}, {}{expanded}, target `{}`", count(features, "feature"), model.target)
}

fn dropped_text(model: &Model) -> Vec<String> {
    let t = &model.training;
    let mut lines = Vec::new();
    if t.missing_target > 0 {
        lines.push(format!("{} dropped: the target is missing", count(t.missing_target, "row")));
    }
    if t.zero_weight > 0 {
        lines.push(format!("{} left out: weight zero", count(t.zero_weight, "row")));
    }
    if t.held_back > 0 {
        lines.push(format!("{} held back from the fit for sets of classes", count(t.held_back, "row")));
    }
    let incomplete = t.rows - t.used - t.missing_target - t.zero_weight - t.held_back;
    if incomplete > 0 {
        let cells: Vec<String> =
            t.missing.iter().take(6).map(|(name, n)| format!("{name} {}", thousands(*n as f64))).collect();
        let more = if t.missing.len() > 6 { format!(", {} more columns", t.missing.len() - 6) } else { String::new() };
        lines.push(format!("{} dropped with missing cells: {}{more}", count(incomplete, "row"), cells.join(", ")));
    }
    if let Some(filled) = &t.filled {
        lines.push(filled_text(filled, model.recipe.missing));
    }
    lines
}

fn class_weights_text(weighting: &ClassWeighting, classes: &[String]) -> String {
    let factors: Vec<String> =
        classes.iter().zip(&weighting.factors).take(12).map(|(c, f)| format!("{c} {}", short(*f))).collect();
    let more = if classes.len() > 12 { format!(", and {} more", classes.len() - 12) } else { String::new() };
    let rule = if weighting.balanced { "balanced: " } else { "" };
    format!("weighted {rule}{}{more}", factors.join(", "))
}

fn support_text(support: &SupportVectors) -> String {
    let all = count(support.n_rows(), "support vector");
    let of = |n: usize| thousands(n as f64);
    match support.bounded {
        0 => all,
        bounded => {
            format!("{all}: {} on the margin, {} within it or beyond (α at its bound)", of(support.free), of(bounded))
        }
    }
}

fn accuracy_text(model: &Model) -> String {
    let t = &model.training;
    let mut text = format!("{} on the rows it was fitted on", share_right(t.accuracy, t.rejected.or(t.undetermined)));
    if let Some(cv) = &model.cross_validation {
        let _ = write!(
            text,
            "; {} in {}-fold cross-validation",
            share_right(cv.accuracy, cv.rejected.or(cv.undetermined)),
            cv.folds
        );
        if let Some((low, high)) = cv.interval {
            let _ = write!(text, " (95 % interval {:.1} to {:.1})", 100.0 * low, 100.0 * high);
        }
    }
    text
}

/// Accuracy in words, and of how many rows.
fn share_right(accuracy: Option<f64>, rejected: Option<f64>) -> String {
    match (accuracy, rejected) {
        (Some(accuracy), None) => percent(accuracy),
        (Some(accuracy), Some(rejected)) => format!("{} of the {} decided", percent(accuracy), percent(1.0 - rejected)),
        (None, Some(_)) => "nothing decided".to_owned(),
        // Whatever is measured of a decision without a way out is decided.
        (None, None) => "not measured".to_owned(),
    }
}

/// Why there is no model, with the direction.
pub(super) fn no_optimum_proof(proof: &NoOptimum, features: &[String], classes: &[String]) -> String {
    let kind = match proof.kind {
        SeparationKind::Complete => "completely separable",
        SeparationKind::Quasi => "quasi-completely separable",
    };
    let rows = match proof.boundary.len() {
        0 => format!("all {} lie strictly on their side", count(proof.strict_rows, "row")),
        boundary => format!(
            "{} lie strictly on their side, {} on the boundary, none beyond",
            count(proof.strict_rows, "row"),
            thousands(boundary as f64)
        ),
    };
    let columns = proof.columns.as_deref().unwrap_or_default();
    let mut names: Vec<&str> = columns.iter().take(8).map(|j| features[*j].as_str()).collect();
    names.extend(proof.intercept_diverges.then_some("the intercept").filter(|_| columns.len() <= 8));
    let more = if columns.len() > 8 { format!(" and {} more", columns.len() - 8) } else { String::new() };
    let diverging = match names.is_empty() {
        true => String::new(),
        false => format!(" and these coefficients diverge: {}{more}", names.join(", ")),
    };
    let (missing, falls) = match proof.of_likelihood {
        true => ("Maximum likelihood does not exist", "the likelihood rises"),
        false => ("There is no minimum, not even a local one", "the squared error falls"),
    };
    let mut out = format!("{missing}: the classes are {kind}.\n");
    let why = format!(
        "Along the direction below {rows}, so {falls} forever{diverging}. Found by {}.",
        proof.route.describe()
    );
    for line in wrap(&why, NARROW - 2) {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "  {line}");
    }
    out.push('\n');
    let scores = proof.direction.len();
    let heading = |k: usize| match scores {
        1 => format!("towards {}", clip(&classes[1], 20)),
        _ => clip(&classes[k + classes.len() - scores], 14),
    };
    let mut table =
        vec![std::iter::once("direction".to_owned()).chain((0..scores).map(heading)).collect::<Vec<String>>()];
    for j in proof.largest.iter().take(12) {
        let weights = proof.direction.iter().map(|d| short(d[*j]));
        table.push(std::iter::once(clip(&features[*j], 40)).chain(weights).collect());
    }
    table.push(std::iter::once("(intercept)".to_owned()).chain(proof.intercept.iter().map(|b| short(*b))).collect());
    out.push_str(&grid(&table, 2));
    out
}

/// The proof, that nothing was written, and the way out.
pub(super) fn no_optimum_text(proof: &NoOptimum, features: &[String], classes: &[String], voice: &dyn Voice) -> String {
    let mut out = no_optimum_proof(proof, features, classes);
    let remedy = words!["A penalty always has an optimum: ", Setting::Penalty.is("ridge:0.01")].said(voice);
    let ending: Vec<String> = voice.nothing_written().map(str::to_owned).into_iter().chain(remedy).collect();
    if !ending.is_empty() {
        let _ = writeln!(out, "\n  {}", ending.join(" "));
    }
    out
}

//! The words of a verdict: one line for every claim, and one for what all of it proves.

use super::compare::Difference;
use crate::artifact::{Model, Provenance};
use crate::certify::Certificate;
use crate::decide::Conformal;
use crate::design::{Encoding, Transform};
use crate::model::{Note, Outcome};
use crate::numeric::bound_text;

/// Relative residual allowed to the equations of a closed form: rounding times a condition of up to 1e8.
const RESIDUAL: f64 = 1e-8;
/// Residuals that are computed in another way differ by this factor at most. Chosen, out of reach of
/// bench/constants.md.
const RESIDUALS: f64 = 16.0;
/// Differences that are shown: what a reader looks at.
const SHOWN: usize = 3;
/// A bound above this share of the objective is said to prove little. A matter of words, not of truth.
const LITTLE: f64 = 1e-2;

/// One claim of a model, compared with the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What the claim is about: `data`, `rows`, `class weight`, `recipe`, `units`, `discriminant`, `support`, `objective`,
    /// `certificate`, `notes`, `calibration`, `conformal` or `refit`.
    pub claim: &'static str,
    /// Whether it holds.
    pub holds: bool,
    /// What was found.
    pub found: String,
}

/// What the comparison came to.
pub(super) struct Evidence<'a> {
    /// What the data make of the model.
    pub(super) found: &'a Model,
    /// Whether the point was fitted again.
    pub(super) repeated: bool,
    pub(super) of_table: bool,
    /// Difference of calibrated probabilities, and the folds.
    pub(super) calibrated: Option<(f64, usize)>,
    /// Residual of a closed form, computed independently of its solver, and its rounding error bound.
    pub(super) independent: Option<(f64, f64)>,
    pub(super) different: &'a [Difference],
}

/// The claim that a leaf belongs to.
fn claim_of(path: &str) -> &'static str {
    let mut fields = path.split('.').map(|field| field.split('[').next().unwrap_or(field));
    let first = fields.next().unwrap_or("");
    let field = if first == "parts" { fields.next().unwrap_or("parts") } else { first };
    match field {
        "provenance" => "data",
        "class_weights" => "class weight",
        "recipe" => "recipe",
        "units" => "units",
        "discriminant" | "density" => "discriminant",
        "support_vectors" => "support",
        "objective" => "objective",
        "certificate" | "outcome" => "certificate",
        "notes" => "notes",
        "calibration" => "calibration",
        "conformal" => "conformal",
        // Counts, classes, and what ought to be alike but is not.
        _ => "rows",
    }
}

/// A line for every claim that the model makes.
pub(super) fn checks(model: &Model, evidence: &Evidence<'_>, found: (&Certificate, f64)) -> Vec<Check> {
    let line = |claim: &'static str, good: String| {
        let different: Vec<&Difference> = evidence.different.iter().filter(|d| claim_of(&d.path) == claim).collect();
        let holds = different.is_empty();
        Check { claim, holds, found: if holds { good } else { listed(model, &different) } }
    };
    let follow = |what: &str| format!("{what} follow from the data");
    let mut checks = Vec::new();
    if evidence.of_table {
        checks.push(data_check(model, evidence.found));
    }
    checks.push(line("rows", follow("counts, classes and accuracy")));
    if model.class_weights.is_some() || evidence.found.class_weights.is_some() {
        checks.push(line("class weight", follow("factors of the classes")));
    }
    if evidence.of_table {
        checks.push(line("recipe", follow(recipe_parts(model))));
    }
    checks.push(line("units", follow("means and scales")));
    let again = match (evidence.repeated, model.density.is_some()) {
        (true, true) => "fitted again: discriminant and densities are the same",
        (true, false) => "fitted again: the same",
        (false, _) => "the certified point; no weight where the data do not look",
    };
    checks.push(line("discriminant", again.to_owned()));
    let supported = model.support_vectors.is_some() || model.parts.iter().any(|p| p.support_vectors.is_some());
    if supported || evidence.different.iter().any(|d| claim_of(&d.path) == "support") {
        checks.push(line("support", "the support vectors are rows of the data, as many as stated".to_owned()));
    }
    checks.push(line("objective", objective_words(model, found.1)));
    checks.push(with_edition(
        model,
        residual_check(line("certificate", certificate_words(model, found.0)), model, evidence),
    ));
    if !model.notes.is_empty() || evidence.different.iter().any(|d| claim_of(&d.path) == "notes") {
        checks.push(line("notes", "what is said of the columns and rows holds".to_owned()));
    }
    if let Some((difference, folds)) = evidence.calibrated {
        let good = format!("cross-fitted again in {folds} folds: probabilities differ by {difference:.1e}");
        checks.push(match line("calibration", good.clone()) {
            holds if holds.holds => holds,
            fails => Check { found: format!("{good}; {}", fails.found), ..fails },
        });
    } else if evidence.different.iter().any(|d| claim_of(&d.path) == "calibration") {
        checks.push(line("calibration", String::new()));
    }
    if model.conformal.is_some() || evidence.different.iter().any(|d| claim_of(&d.path) == "conformal") {
        let rows = model.conformal.as_ref().map_or(0, Conformal::rows);
        checks.push(line("conformal", format!("scored again: {rows} rows that the fit did not see")));
    }
    checks
}

/// The first differences, those of two-class fits before those of the whole, which follow from them.
fn listed(model: &Model, different: &[&Difference]) -> String {
    let of_part = |d: &&&Difference| d.path.starts_with("parts[");
    let parts = different.iter().filter(of_part);
    let order = parts.chain(different.iter().filter(|d| !of_part(d)));
    let one = |d: &&Difference| format!("{}: {}, stated {}", place(model, &d.path), d.found, d.stated);
    let mut words = order.take(SHOWN).map(one).collect::<Vec<String>>().join("; ");
    if different.len() > SHOWN {
        words.push_str(&format!("; and {} more", different.len() - SHOWN));
    }
    words
}

/// A place in the file, a two-class fit by the classes it is about.
fn place(model: &Model, path: &str) -> String {
    let inside = path.strip_prefix("parts[").and_then(|rest| rest.split_once(']'));
    let named = inside.and_then(|(index, rest)| {
        let part = *model.score_parts().get(index.parse::<usize>().ok()?)?;
        Some(format!("{}: {}", part.describe(&model.classes), rest.trim_start_matches('.')))
    });
    named.unwrap_or_else(|| path.to_owned())
}

fn data_check(model: &Model, found: &Model) -> Check {
    let (stated, found) = (&model.provenance.fingerprint, &found.provenance.fingerprint);
    let words = match (stated == found, stated.is_empty()) {
        (true, true) if model.provenance.updates.iter().any(|u| u.removed) => {
            "no fingerprint: rows were taken away; that these are the ones left, only the numbers say".into()
        }
        (true, true) => {
            "no fingerprint: fitted on arrays in memory; that it was these rows, only the numbers say".into()
        }
        (true, false) => format!("the table it was fitted on (fingerprint {found})"),
        (false, true) => format!("a model of a table without its fingerprint (this table has {found})"),
        (false, false) => format!("not the table it was fitted on (fingerprint {found}, stated {stated})"),
    };
    Check { claim: "data", holds: stated == found, found: words }
}

/// What a recipe has learned, in words.
fn recipe_parts(model: &Model) -> &'static str {
    match model.recipe.transform() {
        Transform::None => "columns, levels and fill-in values",
        Transform::Quantile { .. } => "columns, levels, fill-in values and quantiles",
    }
}

/// A number to compare by eye.
fn number(value: f64) -> String {
    if value == 0.0 || (1e-4..1e7).contains(&value.abs()) { format!("{value:.12}") } else { format!("{value:.12e}") }
}

fn objective_words(model: &Model, found: f64) -> String {
    let both = format!("{}, stated {}", number(found), number(model.objective.value));
    match model.parts.len() {
        0 => both,
        parts => format!("{both}, summed over {parts} parts that all agree"),
    }
}

fn certificate_words(model: &Model, found: &Certificate) -> String {
    let words = match (found, &model.certificate) {
        (Certificate::ClosedForm { relative_residual, .. }, _) => format!("relative residual {relative_residual:.1e}"),
        (Certificate::Local { gradient, smallest_eigenvalue }, stated) => {
            let stated = if let Certificate::Local { gradient, .. } = stated { *gradient } else { f64::NAN };
            format!("gradient {gradient:.1e}, stated {stated:.1e}; smallest eigenvalue {smallest_eigenvalue:.1e}")
        }
        (Certificate::Stationary { violation }, stated) => {
            let stated = if let Certificate::Stationary { violation } = stated { *violation } else { f64::NAN };
            format!("violation {violation:.1e}, stated {stated:.1e}; no gap is claimed")
        }
        (Certificate::Absent { reason }, _) => format!("nothing is proved, as stated: {reason}"),
        (Certificate::Separates { margin, mistakes, bound, .. }, Certificate::Separates { margin: stated, .. }) => {
            let updates = mistakes.map_or(String::new(), |n| format!("; {n} updates of at most {:.0}", bound.floor()));
            format!("separates with margin {margin:.6e}, stated {stated:.6e}{updates}")
        }
        (Certificate::Errors { errors, total }, Certificate::Errors { errors: e, total: t }) => {
            format!("{errors} of {total} on the wrong side, stated {e} of {t}")
        }
        (bound, stated) => {
            let gap = |c: &Certificate| c.relative_gap().unwrap_or(f64::INFINITY);
            format!("relative gap {}, stated {}", bound_text(gap(bound)), bound_text(gap(stated)))
        }
    };
    match model.parts.len() {
        0 => words,
        parts => format!("{words} (the worst of {parts} parts)"),
    }
}

/// A closed form satisfies its equations also by code that does not know how it was found.
fn residual_check(check: Check, model: &Model, evidence: &Evidence<'_>) -> Check {
    let Some((residual, rounding)) = evidence.independent else { return check };
    let stated = match &model.certificate {
        Certificate::ClosedForm { relative_residual, .. } => *relative_residual,
        _ => 0.0,
    };
    match residual <= RESIDUAL.max(RESIDUALS * stated).max(rounding) {
        true => check,
        false => Check { claim: check.claim, holds: false, found: format!("relative residual {residual:.1e}") },
    }
}

/// Where an earlier version computed certificates in another way, that is said: the file may have been right.
fn with_edition(model: &Model, check: Check) -> Check {
    let Provenance { version, certificates, .. } = &model.provenance;
    if check.holds || *certificates == Provenance::CERTIFICATES {
        return check;
    }
    let found = format!(
        "{}; the file was written by an earlier version ({version}), which computed certificates otherwise: fit it again",
        check.found
    );
    Check { found, ..check }
}

/// The second fit.
pub(super) fn refit_check(model: &Model, different: Option<&[Difference]>) -> Check {
    let claim = "refit";
    match different {
        Some([]) => Check { claim, holds: true, found: "fitted again: every bit is the same".into() },
        Some(some) => {
            let listed = listed(model, &some.iter().collect::<Vec<&Difference>>());
            let found = format!("{listed} (the same bits are promised on the machine and by the build that fitted it)");
            Check { claim, holds: false, found }
        }
        None => Check { claim, holds: false, found: "fitted again, the method has no model for these rows".into() },
    }
}

/// What is in the file and was compared with nothing.
pub(super) fn unchecked(model: &Model, repeated: bool, of_table: bool) -> Vec<String> {
    let mut list = Vec::new();
    if let Some(accuracy) = model.cross_validation.as_ref().and_then(|c| c.accuracy) {
        list.push(format!("cross-validated accuracy {accuracy:.4}"));
    }
    list.extend(unrepeated(model));
    list.push("solver, iterations and passes".to_owned());
    if !repeated && model.outcome != Outcome::Converged {
        list.push("why it stopped short of the tolerance".to_owned());
    }
    if !repeated {
        list.push("that no note is left out".to_owned());
    }
    if !of_table {
        let arrays = [
            (model.calibration.is_some(), "calibration"),
            (!model.provenance.fingerprint.is_empty(), "fingerprint of the table"),
            (!is_plain(&model.recipe), "how the columns of the table become these"),
        ];
        list.extend(arrays.iter().filter(|(there, _)| *there).map(|(_, what)| (*what).to_owned()));
    }
    list
}

/// What not even a second fit repeats.
pub(super) fn unrepeated(model: &Model) -> Vec<String> {
    let told = [
        (model.tuning.is_some(), "the search over settings"),
        (model.provenance.is_updated(), "which rows were added and taken away when"),
    ];
    told.iter().filter(|(there, _)| *there).map(|(_, what)| (*what).to_owned()).collect()
}

/// Whether a matrix needs no table to be made from.
fn is_plain(recipe: &crate::design::Recipe) -> bool {
    let is_number = |c: &crate::design::RecipeColumn| matches!(c.encoding, Encoding::Number { .. });
    recipe.is_linear() && recipe.columns.iter().all(is_number)
}

/// What is proved, in one sentence.
pub(super) fn proved(checks: &[Check], certificate: &Certificate, notes: &[Note]) -> String {
    let failing: Vec<&str> = checks.iter().filter(|c| !c.holds).map(|c| c.claim).collect();
    if !failing.is_empty() {
        return format!("nothing is proved: {} not what the data say", failing.join(", "));
    }
    match certificate {
        Certificate::ClosedForm { .. } => "the closed form of these rows, computed again, gives these numbers".into(),
        Certificate::Local { gradient, .. } => {
            format!("the point is verified: gradient {gradient:.1e}; whether there is a lower minimum is not known")
        }
        Certificate::Stationary { violation } => {
            let violation = bound_text(*violation);
            format!("the point is verified: stationary to {violation}; whether there is a better one is not known")
        }
        Certificate::Absent { .. } => "the point is verified; nothing is proved of how good it is".into(),
        Certificate::Separates { .. } => "the function is on the right side of every row".into(),
        Certificate::Errors { .. } => "the errors are counted; whether fewer are possible is not known".into(),
        Certificate::Margin { relative_gap, .. } if *relative_gap <= LITTLE => {
            format!("no plane has a margin that is wider by more than {} of it", bound_text(*relative_gap))
        }
        bound => {
            let relative = bound.relative_gap().unwrap_or(f64::INFINITY);
            let text = bound_text(relative);
            match bound.gap() {
                Some(gap) if relative <= LITTLE => {
                    let of = if notes.iter().any(Note::leaves_out) { " without the columns left out" } else { "" };
                    format!("the objective is within {} of the optimum{of}, relative {text}", bound_text(gap))
                }
                _ => format!("the point is verified; its gap proves little: relative {text}"),
            }
        }
    }
}

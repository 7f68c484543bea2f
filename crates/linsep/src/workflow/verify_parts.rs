//! Every two-class fit of a model, recomputed.

use super::verify::{Check, Stated, Verification, floor, follows, multipliers, objective_check, units_agree};
use crate::artifact::{Model, ModelPart};
use crate::certify::Certificate;
use crate::error::Result;
use crate::model::{Part, Training, of_part};
use crate::watch::Watch;
use rayon::prelude::*;

/// What was found of one part.
struct Found {
    units: bool,
    objective: f64,
    certificate: Certificate,
    checks: [Check; 2],
}

/// The claims about units, objective and certificate of a model in parts; `rows` holds the table row of each matrix row,
/// `units` says whether those of the whole follow from the data.
pub(super) fn verify_parts(
    model: &Model,
    training: &Training<'_>,
    rows: &[usize],
    units: bool,
    watch: &Watch,
) -> Result<Verification> {
    let parts = model.score_parts();
    let columns = match model.method.has_kernel() {
        true => Some(crate::design::summarise(training.design, training.weights, watch)?),
        false => None,
    };
    let training = &Training { columns: columns.as_ref(), ..*training };
    let one = |(score, part): (usize, &Part)| {
        verify_part(model, (score, part), &model.parts[score], training, rows, watch)
            .map_err(|e| of_part(e, part, &model.classes))
    };
    let found = parts.par_iter().enumerate().map(one).collect::<Result<Vec<Found>>>()?;
    let objective = crate::numeric::sum(found.iter().map(|f| f.objective));
    let names = |p: usize| parts[p].describe(&model.classes);
    let failing = |at: usize| -> Vec<String> {
        let bad = (0..found.len()).filter(|p| !found[*p].checks[at].holds);
        bad.map(|p| format!("{}: {}", names(p), found[p].checks[at].found)).collect()
    };
    let whole = objective_check(objective, model.objective.value, found.len() as f64);
    let mut checks = vec![follows("units", "means and scales", units && found.iter().all(|f| f.units))];
    for (at, claim) in ["objective", "certificate"].into_iter().enumerate() {
        let bad = failing(at);
        let holds = bad.is_empty() && if at == 0 { whole.holds } else { is_of_a_part(model) };
        let good = match at {
            0 => format!("{}, summed over {} parts that all agree", whole.found, found.len()),
            _ => format!("{} (the worst of {} parts)", found[worst(&found)].checks[1].found, found.len()),
        };
        let shown = match (bad.len(), holds) {
            (0, true) => good,
            (0, false) if at == 0 => whole.found.clone(),
            (0, false) => "what is stated of the whole is of none of its parts".to_owned(),
            (n, _) if n > 3 => format!("{}; and {} more", bad[..3].join("; "), n - 3),
            _ => bad.join("; "),
        };
        checks.push(Check { claim, holds, found: shown });
    }
    let certificate = found[worst(&found)].certificate.clone();
    Ok(Verification { checks, certificate, objective })
}

/// The whole states what a part states, and claims to have converged only if every part does.
fn is_of_a_part(model: &Model) -> bool {
    let states = |p: &ModelPart| p.certificate == model.certificate;
    let outcome = |p: &ModelPart| p.outcome == model.outcome;
    model.parts.iter().any(states) && model.parts.iter().any(outcome) && {
        use crate::model::Outcome::Converged;
        model.outcome != Converged || model.parts.iter().all(|p| p.outcome == Converged)
    }
}

/// The part with the largest gap or residual, the first of several.
fn worst(found: &[Found]) -> usize {
    let size = |f: &Found| match &f.certificate {
        Certificate::ClosedForm { relative_residual, .. } => *relative_residual,
        Certificate::Separates { bound, .. } => *bound,
        Certificate::Errors { errors, total } => errors / total,
        Certificate::Local { gradient, .. } => *gradient,
        other => other.relative_gap().unwrap_or(0.0),
    };
    (0..found.len()).fold(0, |best, p| if size(&found[p]) > size(&found[best]) { p } else { best })
}

fn verify_part(
    model: &Model,
    (score, part): (usize, &Part),
    stored: &ModelPart,
    whole: &Training<'_>,
    table_rows: &[usize],
    watch: &Watch,
) -> Result<Found> {
    let rows = part.rows_for(&model.method, whole)?;
    let training = rows.training(whole);
    let mut discriminant = model.discriminant.part(score)?;
    if let Some(own) = &rows.rows {
        discriminant = discriminant.within(own)?;
    }
    let (objective, certificate) = match &stored.support_vectors {
        Some(support) => {
            let own: Option<Vec<usize>> = rows.rows.as_ref().map(|r| r.iter().map(|i| table_rows[*i]).collect());
            let alpha = multipliers(support, own.as_deref().unwrap_or(table_rows), 2)?;
            model.method.certify_multipliers(&training, &discriminant, &stored.units, &alpha, watch)?
        }
        None => model.method.certify(&training, &discriminant, &stored.units, watch)?,
    };
    let stated = Stated { method: &model.method, certificate: &stored.certificate, outcome: stored.outcome };
    let at_zero = floor(&model.method, &training)?;
    Ok(Found {
        units: units_agree(&model.method, &stored.units, &training, watch)?,
        objective,
        checks: [objective_check(objective, stored.objective.value, at_zero), stated.check(&certificate)],
        certificate,
    })
}

//! A fit and its rows to a model: what the file says of both besides the fit itself.

use super::calibrate::CrossFit;
use super::options::FitOptions;
use super::plan::{Plan, model_part};
use super::source::Source;
use crate::artifact::{CrossValidation, Model, ModelPart, Provenance, SupportVectors, TrainingSummary};
use crate::design::{CodingRelations, Missing, Recipe};
use crate::discriminant::Discriminant;
use crate::error::Result;
use crate::model::{ClassWeighting, Fitted, FittedPart, Method, Note, UNSTEADY, last_digit};
use crate::table::{Class, Reading};
use crate::watch::Watch;

/// What is known of the rows before the method is fitted to them.
pub(super) struct KnownOfRows {
    pub(super) fingerprint: String,
    pub(super) target_is_text: bool,
    pub(super) reading: Reading,
    pub(super) cross_validation: Option<CrossValidation>,
    pub(super) calibration: Option<Result<CrossFit>>,
    /// Whether the accuracy on these rows is to be known, too.
    pub(super) accuracy: bool,
}

impl KnownOfRows {
    /// What a model says of its rows, where there is no table to ask.
    pub(super) fn stated_by(model: &Model) -> KnownOfRows {
        KnownOfRows {
            fingerprint: model.provenance.fingerprint.clone(),
            target_is_text: model.target_is_text,
            reading: model.reading.clone(),
            cross_validation: model.cross_validation.clone(),
            calibration: None,
            accuracy: model.training.accuracy.is_some(),
        }
    }
}

/// What the weights of classes came to.
pub(super) struct Weighted {
    pub(super) classes: Option<ClassWeighting>,
    /// Σs, class weights included.
    pub(super) total: f64,
}

/// The model of a fit, and of its parts where it has some.
pub(super) fn model_of(
    source: &Source<'_>,
    options: &FitOptions,
    (method, plan): (Method, &Plan),
    known: KnownOfRows,
    weighted: Weighted,
    (fitted, parts): (Fitted, Vec<FittedPart>),
) -> Result<Model> {
    let classes = source.labels.names().to_vec();
    let plain = source.weights.as_deref();
    let mut parts: Vec<ModelPart> = parts.into_iter().map(|p| model_part(p, &classes, &source.rows)).collect();
    parts.iter_mut().for_each(|p| p.notes = without_coding(std::mem::take(&mut p.notes), &source.recipe));
    let calibration = known.calibration.transpose()?;
    let mut notes = without_coding(fitted.notes, &source.recipe);
    notes.extend(calibration.as_ref().and_then(|c| c.note.clone()));
    notes.extend(last_digit_note(&fitted.discriminant, source.printed_units(), &notes));
    let scores = match known.accuracy {
        true => {
            let mut scores = fitted.discriminant.scores(source.design(), &Watch::default())?;
            super::predict::add_offsets(&mut scores, source.offsets.as_ref(), classes.len());
            Some(scores)
        }
        false => None,
    };
    let summary = TrainingSummary {
        rows: source.counts.rows,
        used: source.rows.len(),
        total_weight: weighted.total,
        missing_target: source.counts.missing_target,
        zero_weight: source.counts.zero_weight,
        held_back: source.counts.held_back,
        missing: source.counts.missing.clone(),
        filled: source.counts.filled_cells(),
        class_weights: source.labels.totals(plain),
        accuracy: None,
        rejected: None,
        undetermined: None,
    };
    let support_vectors = fitted.multipliers.map(|m| SupportVectors::of(&m, &source.rows));
    let mut model = Model {
        method,
        target: options.target.clone(),
        target_is_text: known.target_is_text,
        weights: options.weights.clone(),
        class_weights: weighted.classes,
        offsets: options.offsets.clone(),
        classes,
        reading: known.reading,
        recipe: source.recipe.clone(),
        units: fitted.units,
        discriminant: fitted.discriminant,
        density: fitted.density,
        support_vectors,
        parts,
        calibration: calibration.map(|CrossFit { calibration, .. }| calibration),
        true_priors: options.true_priors.clone(),
        decision: plan.decision.clone(),
        conformal: None,
        objective: fitted.objective,
        certificate: fitted.certificate,
        outcome: fitted.outcome,
        notes,
        computation: fitted.computation,
        training: summary,
        cross_validation: known.cross_validation,
        label_types: Vec::new(),
        tuning: None,
        statistics: None,
        provenance: Provenance {
            version: env!("CARGO_PKG_VERSION").into(),
            certificates: Provenance::CERTIFICATES,
            fingerprint: known.fingerprint,
            seed: options.seed,
            started: options.init.is_some() || options.random_start.is_some(),
            updates: Vec::new(),
            partitions: Vec::new(),
        },
    };
    if let Some(scores) = scores {
        let decided = model.decision.classes(&model.deciding_scores(scores), model.classes.len())?;
        let (accuracy, open) = weighted_accuracy(&decided, source.labels.codes(), plain);
        model.training.accuracy = accuracy;
        model.training.rejected = model.decision.may_reject().then_some(open);
        model.training.undetermined = model.decision.may_be_undetermined().then_some(open);
    }
    Ok(model)
}

/// The notes without relations that the coding implies (the indicators of all levels of a column add up to one): they say
/// nothing about the data.
pub(super) fn without_coding(notes: Vec<Note>, recipe: &Recipe) -> Vec<Note> {
    let is_relation = |note: &Note| matches!(note, Note::Shared { .. } | Note::NearlyCollinear { left_out: false, .. });
    // Without products and indicators of missing cells such a relation stays within a column; else it has to be tested.
    let across = !recipe.basis.is_none() || recipe.formula.is_some() || recipe.missing == Missing::Indicator;
    let relations = (across && notes.iter().any(is_relation)).then(|| CodingRelations::new(recipe));
    let follows = |note: &Note| {
        let (Note::Shared { column, combination } | Note::NearlyCollinear { column, combination, left_out: false }) =
            note
        else {
            return false;
        };
        if let Some(relations) = &relations {
            return relations.explain(*column, combination);
        }
        let source = recipe.source(*column);
        combination.iter().all(|(other, _)| recipe.source(*other) == source) && !combination.is_empty()
    };
    notes.into_iter().filter(|note| !follows(note)).collect()
}

/// How far rounding within the printed digits moves the scores, where that matters or was asked for by leaving columns out.
fn last_digit_note(discriminant: &Discriminant, printed: &[f64], notes: &[Note]) -> Option<Note> {
    let dropped = notes.iter().any(|note| matches!(note, Note::LeftOut { printed: true, .. }));
    let score = last_digit(discriminant, printed)?;
    (score > UNSTEADY || (dropped && score > 0.0)).then_some(Note::LastDigit { score })
}

/// Accuracy on the decided rows, `None` if there are none, and the share of the others.
pub(super) fn weighted_accuracy(
    predicted: &[Option<Class>],
    truth: &[Class],
    weights: Option<&[f64]>,
) -> (Option<f64>, f64) {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let sum = |counts: &dyn Fn(usize) -> bool| (0..truth.len()).filter(|i| counts(*i)).map(weight).sum::<f64>();
    let (total, decided) = (sum(&|_| true), sum(&|i| predicted[i].is_some()));
    let right = sum(&|i| predicted[i] == Some(truth[i]));
    ((decided > 0.0).then(|| right / decided), 1.0 - decided / total)
}

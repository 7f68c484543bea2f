//! Model and data to a verdict: what the model states, compared with what the data make of its settings and its point.
//!
//! From the settings of a model, its point and the rows a second model is made, by the code that makes models: closed forms
//! and perceptrons are fitted again, other points are only evaluated. Every leaf of the file must agree with the second
//! model, so a new field needs no code here.

use super::again::{fit_again, fit_source_again, options_of, plan_of, why_not_again};
use super::agree::{
    calibrations_agree, certificates_agree, conformal_agree, discriminants_agree, objectives_agree, size_of_objective,
    sums_agree, units_agree,
};
use super::assemble::{KnownOfRows, Weighted, model_of};
use super::at_point::fit_at_point;
use super::calibrate::{CrossFit, cross_fit};
use super::compare::{Closeness, NUMBERS, differences, shown};
use super::conformal::{DividedSource, HeldBack, hold_back, sets_of_table};
use super::fit::{TableFit, fit_source};
use super::places::Places;
use super::rows::RowRoles;
use super::source::Source;
use super::statistics::source_by_sums;
use super::verdict::{Check, Evidence, checks, proved, refit_check, unchecked, unrepeated};
use crate::artifact::{Model, ModelPart, Provenance};
use crate::certify::Certificate;
use crate::decide::Conformal;
use crate::design::Training;
use crate::design::{ColumnSummary, fit_recipe, summarise_any};
use crate::error::{Error, Result};
use crate::model::{Method, Outcome, SoftmaxForm, worst_certificate};
use crate::role::{Role, each_leaf};
use crate::table::{Kind, NameIndex, Table};
use crate::watch::Watch;

/// The verdict on a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    /// The claims in order.
    pub checks: Vec<Check>,
    /// The certificate recomputed from the data.
    pub certificate: Certificate,
    /// The objective recomputed from the data.
    pub objective: f64,
    /// What all of it proves, in one sentence.
    pub proved: String,
    /// What the file states but was not compared: that takes a second fit, or other data.
    pub unchecked: Vec<String>,
    /// What was taken as given: the place in the file, and the value.
    pub settings: Vec<(String, String)>,
}

impl Verification {
    /// Whether every claim holds.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|c| c.holds)
    }
}

/// Compares everything that a model states with the table it was fitted on; what takes a second fit of an iterative method
/// is listed as unchecked.
pub fn verify_table(model: &Model, table: &Table, watch: &Watch) -> Result<Verification> {
    if let Method::Given(_) = model.method {
        return Err(Error::usage("a given rule claims nothing about any rows, so there is nothing to verify")
            .help("evaluate it on rows with known classes"));
    }
    let (roles, held, order) = roles_of(model, table)?;
    let mut prepared = PreparedRows::of_table(model, table, &roles, order, watch)?;
    if let (Some(stated), Some(held)) = (&model.conformal, &held) {
        prepared.conformal = Some(sets_of_table(model, stated.options, table, held, watch)?);
    }
    prepared.verify(model, watch)
}

/// The same, and a second fit with all its folds, which must come to the same bits.
pub fn refit_table(model: &Model, table: &Table, watch: &Watch) -> Result<Verification> {
    let mut found = verify_table(model, table, watch)?;
    let again = match why_not_again(model) {
        None => {
            let (roles, held, _) = roles_of(model, table)?;
            fit_again(model, table, (&roles, held.as_ref()), watch)?
        }
        Some(why) => return Ok(not_again(found, why)),
    };
    found.judge_bits(model, again)?;
    Ok(found)
}

/// The comparison with rows of arrays; the fingerprint of a table is not among them.
pub(super) fn verify_source(model: &Model, rows: &DividedSource<'_>, watch: &Watch) -> Result<Verification> {
    let known = KnownOfRows::stated_by(model);
    let prepared = PreparedRows {
        source: SourceRows::Lent(&rows.source),
        known,
        learned: None,
        order: None,
        of_table: false,
        calibrated: None,
        conformal: rows.sets(model, watch)?,
    };
    prepared.verify(model, watch)
}

/// The same, and a second fit.
pub(super) fn refit_source(model: &Model, rows: &DividedSource<'_>, watch: &Watch) -> Result<Verification> {
    let again = match why_not_again(model) {
        None => Ok(fit_source_again(model, rows, watch)?),
        Some(why) => Err(why),
    };
    let mut found = verify_source(model, rows, watch)?;
    match again {
        Err(why) => return Ok(not_again(found, why)),
        Ok(again) => found.judge_bits(model, again)?,
    }
    Ok(found)
}

impl Verification {
    fn judge_bits(&mut self, model: &Model, again: Option<Model>) -> Result<()> {
        let different = match again {
            None => None,
            Some(mut again) => {
                again.provenance.version.clone_from(&model.provenance.version);
                again.provenance.certificates = model.provenance.certificates;
                Some(differences(model, &again, Closeness::Bits)?)
            }
        };
        let check = refit_check(model, different.as_deref());
        if check.holds {
            self.unchecked = unrepeated(model);
        }
        self.checks.push(check);
        self.proved = proved(&self.checks, &self.certificate, &model.notes);
        Ok(())
    }
}

fn not_again(mut found: Verification, why: &str) -> Verification {
    found.unchecked.push(format!("the bits of a second fit: {why}"));
    found
}

/// Labels, weights and offsets in the order of the model's classes, the rows that were held back apart; and that order as the
/// table and the last class make it, or the reference class where softmax has one.
fn roles_of(model: &Model, table: &Table) -> Result<(RowRoles, Option<HeldBack>, Vec<String>)> {
    let roles = RowRoles::of(table, &model.target, model.weights.as_deref(), &model.offsets)?;
    let mut order = roles.names.clone();
    let has_reference = matches!(&model.method, Method::Risk(m) if m.form == SoftmaxForm::Reference);
    let first = model.classes.first().and_then(|first| order.iter().position(|name| name == first));
    let mut referred = order.clone();
    if let Some(first) = first {
        referred[..=first].rotate_right(1);
    }
    if has_reference && referred == model.classes {
        order = referred;
    } else if let Some(last) = model.classes.last().and_then(|last| order.iter().position(|name| name == last)) {
        let name = order.remove(last);
        order.push(name);
    }
    let roles = roles.in_terms_of(table, &model.target, &model.classes)?;
    let conformal = model.conformal.as_ref().map(|c| c.options);
    let (roles, held) = hold_back(roles, conformal.as_ref(), model.provenance.seed, &|row| table.place(row))?;
    Ok((roles, held, order))
}

/// Rows made from a table, or those of a caller.
enum SourceRows<'a> {
    Own(Box<Source<'static>>),
    Lent(&'a Source<'a>),
}

impl SourceRows<'_> {
    fn rows(&self) -> &Source<'_> {
        match self {
            SourceRows::Own(source) => source,
            SourceRows::Lent(source) => source,
        }
    }
}

/// The rows, and what is known of them before the model is looked at.
struct PreparedRows<'a> {
    source: SourceRows<'a>,
    known: KnownOfRows,
    /// The recipe as it is learned anew, where it can be.
    learned: Option<crate::design::Recipe>,
    /// The classes in their order, where a table says it.
    order: Option<Vec<String>>,
    of_table: bool,
    /// By how much the probabilities of a calibration differ from those of the stored one, in so many folds.
    calibrated: Option<(f64, usize)>,
    /// The sets of classes that the rows held back make of the stated discriminant.
    conformal: Option<Conformal>,
}

impl PreparedRows<'_> {
    fn of_table(
        model: &Model,
        table: &Table,
        roles: &RowRoles,
        order: Vec<String>,
        watch: &Watch,
    ) -> Result<PreparedRows<'static>> {
        let frequencies = roles.frequencies(|_| true);
        let usable: Vec<bool> = frequencies.iter().map(|f| *f > 0.0).collect();
        let prepared = model.recipe.apply(table, &usable)?;
        let source = Source::of_prepared(prepared, roles, model.recipe.clone(), Places::of(table))?;
        let options = options_of(model);
        let calibration: Option<CrossFit> =
            options.calibration.as_ref().map(|c| cross_fit(table, roles, &options, c, watch)).transpose()?;
        let calibrated = match (&calibration, &model.calibration) {
            (Some(found), Some(stored)) => Some((found.differs_from(&stored.map, model.classes.len()), stored.folds)),
            _ => None,
        };
        // Arrays in memory leave no fingerprint, and their accuracy was not asked for.
        let updated = model.provenance.is_updated();
        let of_arrays = model.provenance.fingerprint.is_empty() && model.training.accuracy.is_none();
        let known = KnownOfRows {
            fingerprint: if of_arrays { String::new() } else { format!("{:016x}", table.fingerprint()) },
            target_is_text: match of_arrays {
                true => model.target_is_text,
                false => table.columns()[table.column(&model.target)?].kind != Kind::Number,
            },
            reading: if of_arrays { model.reading.clone() } else { table.reading().clone() },
            cross_validation: model.cross_validation.clone(),
            calibration: calibration.map(Ok),
            accuracy: !of_arrays && !updated,
        };
        let learned = learned_recipe(model, table, &frequencies);
        Ok(PreparedRows {
            source: SourceRows::Own(Box::new(source)),
            known,
            learned,
            order: Some(order),
            of_table: true,
            calibrated,
            conformal: None,
        })
    }

    fn verify(self, model: &Model, watch: &Watch) -> Result<Verification> {
        let PreparedRows { source, known, learned, order, of_table, calibrated, conformal } = self;
        let source = source.rows();
        let plain = source.weights.as_deref();
        let class_weights = model.class_weights.as_ref().map(|w| w.for_rows(&source.labels, plain)).transpose()?;
        let factored = class_weights.as_ref().and_then(|f| f.weighted(&source.labels, plain));
        let mut training = source.training(factored.as_deref().or(plain));
        training.partitions = &model.provenance.partitions;
        let (summary, _) = summarise_any(training.design, training.weights, watch)?;
        let repeated = model.method.is_repeated() && !is_halted(model);
        let independent = if repeated { residual(model, &training, &summary, watch)? } else { None };
        let mut found = match repeated {
            true if model.provenance.is_updated() => {
                source_by_sums(source, &options_of(model), &known, &model.provenance.updates, watch)?
            }
            true => match fit_source(source, &options_of(model), &plan_of(model), known, watch)? {
                TableFit::Model(found) => *found,
                _ => return Ok(no_model(model)),
            },
            false => {
                let fit = fit_at_point(model, source, &training, watch).map_err(|e| source.name(e))?;
                let weighted = Weighted { classes: class_weights, total: training.total_weight() };
                let (method, plan) = (model.method.clone(), plan_of(model));
                model_of(source, &options_of(model), (method, &plan), known, weighted, fit)?
            }
        };
        let (certificate, objective) = (found.certificate.clone(), found.objective.value);
        found.recipe = learned.unwrap_or_else(|| model.recipe.clone());
        found.classes = order.unwrap_or_else(|| model.classes.clone());
        if !of_table {
            found.calibration.clone_from(&model.calibration);
            found.notes.extend(model.notes.iter().filter(|n| is_of_folds(n)).cloned());
            if let (Some(found), Some(stated)) = (&mut found.statistics, &model.statistics) {
                found.columns.clone_from(&stated.columns);
            }
        }
        found.conformal = conformal;
        keep_settings(&mut found, model);
        settle(&mut found, model, &summary, calibrated.map(|(difference, _)| difference));
        let different = differences(model, &found, Closeness::Within(NUMBERS))?;
        let evidence = Evidence { found: &found, repeated, of_table, calibrated, independent, different: &different };
        let checks = checks(model, &evidence, (&certificate, objective));
        Ok(Verification {
            proved: proved(&checks, &certificate, &found.notes),
            unchecked: unchecked(model, repeated, of_table),
            settings: settings(model)?,
            checks,
            certificate,
            objective,
        })
    }
}

/// An algorithm stopped by the clock cannot be repeated to the same point.
fn is_halted(model: &Model) -> bool {
    let stopped = |outcome: Outcome| matches!(outcome, Outcome::TimeLimit | Outcome::Interrupted);
    let watches = !matches!(model.method, Method::Gaussian(_) | Method::NaiveBayes(_));
    watches && (stopped(model.outcome) || model.parts.iter().any(|p| stopped(p.outcome)))
}

/// The residual of the equations of a closed form at the stated discriminant, from the data alone; and how large moments of
/// columns far from zero, which keep fewer digits, may make it.
fn residual(
    model: &Model,
    training: &Training<'_>,
    summary: &ColumnSummary,
    watch: &Watch,
) -> Result<Option<(f64, f64)>> {
    if !model.parts.is_empty() || !matches!(model.certificate, Certificate::ClosedForm { .. }) {
        return Ok(None);
    }
    let far = |j: usize| summary.mean[j].abs() / summary.variance[j].sqrt();
    let farthest = (0..summary.mean.len()).map(far).filter(|f| f.is_finite()).fold(1.0, f64::max);
    Ok(match model.method.certify(training, &model.discriminant, &model.units, watch)?.1 {
        Certificate::ClosedForm { relative_residual, .. } => Some((relative_residual, 64.0 * f64::EPSILON * farthest)),
        _ => None,
    })
}

fn no_model(model: &Model) -> Verification {
    let found = "fitted again, the method has no model for these rows".to_owned();
    let checks = vec![Check { claim: "discriminant", holds: false, found }];
    Verification {
        proved: proved(&checks, &model.certificate, &model.notes),
        checks,
        certificate: Certificate::Absent { reason: "the method has no model for these rows".into() },
        objective: f64::NAN,
        unchecked: Vec::new(),
        settings: Vec::new(),
    }
}

fn learned_recipe(model: &Model, table: &Table, frequencies: &[f64]) -> Option<crate::design::Recipe> {
    let options = model.recipe.options(model.method.coding());
    match fit_recipe(table, frequencies, &options) {
        Ok(mut learned) => {
            // Features were named, so the order is the table's; the model's may come from a reordered file.
            let order = NameIndex::new(model.recipe.table_columns().map(|c| c.name.as_str()));
            learned.columns.sort_by_cached_key(|c| (c.is_missing_indicator(), order.place(&c.name)));
            if model.provenance.fingerprint.is_empty() || model.provenance.is_updated() {
                // Neither arrays nor sums over rows tell how finely a column was printed.
                learned.columns.iter_mut().for_each(|c| c.forget_printed());
            }
            Some(learned)
        }
        // Unnamed sparse columns have nothing to learn but their number; a recipe that cannot be learned is no recipe.
        Err(_) => Some(crate::design::Recipe {
            sparse_width: table.sparse_width(),
            columns: Vec::new(),
            ..model.recipe.clone()
        }),
    }
}

/// A calibration that was not made again leaves its note as it was.
fn is_of_folds(note: &crate::model::Note) -> bool {
    matches!(note, crate::model::Note::UnconvergedFolds { .. })
}

/// What was chosen is the same in both.
fn keep_settings(found: &mut Model, model: &Model) {
    found.provenance = Provenance { fingerprint: found.provenance.fingerprint.clone(), ..model.provenance.clone() };
    found.cross_validation.clone_from(&model.cross_validation);
    found.tuning.clone_from(&model.tuning);
    found.label_types.clone_from(&model.label_types);
    found.method.clone_from(&model.method);
    found.decision.clone_from(&model.decision);
    if model.training.filled.is_none() {
        // A file from before they were counted.
        found.training.filled = None;
    }
}

/// Numbers that agree by their own tolerance are replaced by the stated ones, so that only real differences remain.
fn settle(found: &mut Model, model: &Model, summary: &ColumnSummary, calibrated: Option<f64>) {
    if units_agree(&model.units, &found.units, summary) {
        found.units = model.units.clone();
    }
    if discriminants_agree(&model.discriminant, &found.discriminant, summary) {
        found.discriminant = model.discriminant.clone();
    }
    if let (Some(stated), Some(again)) = (&model.statistics, &mut found.statistics)
        && sums_agree(&stated.sums, &again.sums)
    {
        again.sums.clone_from(&stated.sums);
    }
    let size = size_of_objective(&found.certificate).max(at_zero(found));
    let parts = found.parts.len() as f64;
    if objectives_agree(model.objective.value, found.objective.value, size.max(parts)) {
        found.objective.value = model.objective.value;
    }
    if certificates_agree(&model.certificate, &found.certificate) {
        found.certificate = model.certificate.clone();
    }
    for (found, stored) in found.parts.iter_mut().zip(&model.parts) {
        settle_part(found, stored, summary);
    }
    // The worst of several parts is decided by the stated numbers once each of them is confirmed: where all are within
    // rounding, recomputed numbers may rank them differently.
    let confirmed = found.parts.iter().zip(&model.parts).all(|(a, b)| a.certificate == b.certificate);
    if let (true, Some(worst)) = (confirmed, worst_certificate(model.parts.iter().map(|p| (p.outcome, &p.certificate))))
    {
        found.certificate = worst.clone();
    }
    if let (Some(stored), Some(again)) = (&model.conformal, &found.conformal)
        && conformal_agree(stored, again)
    {
        found.conformal = Some(stored.clone());
    }
    if let (Some(stored), Some(learned), Some(difference)) = (&model.calibration, &found.calibration, calibrated) {
        let value = |c: &crate::artifact::CrossFitted| serde_json::to_value(c).unwrap_or_default();
        if calibrations_agree(&value(stored), &value(learned), difference) {
            found.calibration = Some(stored.clone());
        }
    }
}

/// Of least squares, whose closed form states no gap: F at zero weights and the best intercept.
fn at_zero(found: &Model) -> f64 {
    let Method::LeastSquares(method) = &found.method else { return 0.0 };
    let factor = |k: usize| found.class_weights.as_ref().map_or(1.0, |w| w.factors[k]);
    let weights = found.training.class_weights.iter().enumerate().map(|(k, n)| n * factor(k));
    method.objective_at_zero(&weights.collect::<Vec<f64>>()).unwrap_or(0.0)
}

fn settle_part(found: &mut ModelPart, stored: &ModelPart, summary: &ColumnSummary) {
    if units_agree(&stored.units, &found.units, summary) {
        found.units = stored.units.clone();
    }
    if objectives_agree(stored.objective.value, found.objective.value, size_of_objective(&found.certificate).max(1.0)) {
        found.objective.value = stored.objective.value;
    }
    if certificates_agree(&stored.certificate, &found.certificate) {
        found.certificate = stored.certificate.clone();
    }
}

/// Every leaf that is a setting.
fn settings(model: &Model) -> Result<Vec<(String, String)>> {
    let value = serde_json::to_value(model)
        .map_err(|e| crate::error::Error::model(format!("the model cannot be written: {e}")))?;
    let mut list = Vec::new();
    each_leaf(&value, Some(Model::ROLES), &mut |path, role, leaf| {
        if role == Some(Role::Setting) && !leaf.is_null() {
            list.push((path.to_owned(), shown(Some(leaf))));
        }
    });
    Ok(list)
}

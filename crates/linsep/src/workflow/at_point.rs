//! What a fit would have stated for the point of a model: the point is evaluated, not searched for.

use super::agree::units_agree;
use super::source::Source;
use crate::artifact::{Model, SupportVectors};
use crate::design::Training;
use crate::design::{Units, summarise_any};
use crate::discriminant::Discriminant;
use crate::error::{Error, Result};
use crate::model::{Fitted, FittedPart, Method, Part, SplitFit, Stated, of_part};
use crate::watch::Watch;
use rayon::prelude::*;

/// The fit at the point of a model, and its parts.
pub(super) fn fit_at_point(
    model: &Model,
    source: &Source<'_>,
    training: &Training<'_>,
    watch: &Watch,
) -> Result<(Fitted, Vec<FittedPart>)> {
    let Some(split) = model.split() else {
        let support = model.support_vectors.as_ref();
        let stated = Stated {
            discriminant: &model.discriminant,
            units: &model.units,
            alpha: support.map(|s| multipliers(s, &source.rows, model.classes.len())).transpose()?,
            certificate: &model.certificate,
            outcome: model.outcome,
            notes: model.notes.clone(),
            computation: model.computation.clone(),
            is_part: false,
        };
        return Ok((restated(&model.method, training, stated, watch)?, Vec::new()));
    };
    let columns = match model.method.has_kernel() {
        true => Some(summarise_any(training.design, training.weights, watch)?.0),
        false => None,
    };
    let whole = &Training { columns: columns.as_ref(), ..*training };
    let one = |(score, part): (usize, &Part)| {
        let found = restated_part(model, (score, part), whole, &source.rows, watch);
        found.map_err(|e| of_part(e, part, &model.classes))
    };
    let found = model.score_parts().par_iter().enumerate().map(one).collect::<Result<Vec<_>>>()?;
    let SplitFit { whole, parts } = split.assemble(&model.method, whole, found, watch)?;
    Ok((*whole, parts))
}

fn restated_part(
    model: &Model,
    (score, part): (usize, &Part),
    whole: &Training<'_>,
    table_rows: &[usize],
    watch: &Watch,
) -> Result<(Part, Option<Vec<usize>>, Fitted)> {
    let stored = &model.parts[score];
    let rows = part.rows_for(&model.method, whole)?;
    let training = rows.view(whole);
    let mut discriminant = model.discriminant.part(score)?;
    // Parts have a common centre in the model; each was fitted about its own. A margin is proved where the plane is stated.
    let moves = !matches!(model.method, Method::HardMargin(_));
    if let Some(linear) = discriminant.as_linear().filter(|linear| moves && linear.centre() != stored.units.centre()) {
        discriminant = Discriminant::Linear(linear.about(stored.units.centre())?);
    }
    if let Some(own) = rows.rows() {
        discriminant = discriminant.within(own)?;
    }
    let own: Option<Vec<usize>> = rows.rows().map(|r| r.iter().map(|i| table_rows[*i]).collect());
    let support = stored.support_vectors.as_ref();
    let stated = Stated {
        discriminant: &discriminant,
        units: &stored.units,
        alpha: support.map(|s| multipliers(s, own.as_deref().unwrap_or(table_rows), 2)).transpose()?,
        certificate: &stored.certificate,
        outcome: stored.outcome,
        notes: model.notes.iter().chain(&stored.notes).cloned().collect(),
        computation: stored.computation.clone(),
        is_part: true,
    };
    let fitted = restated(&model.method, &training, stated, watch)?;
    Ok((*part, rows.into_rows(), fitted))
}

fn restated(method: &Method, training: &Training<'_>, stated: Stated<'_>, watch: &Watch) -> Result<Fitted> {
    let (own, _) = summarise_any(training.design, training.weights, watch)?;
    let of_units = training.columns.unwrap_or(&own);
    let learned = of_units.units(method.standardize());
    // Where the method does not centre, the columns are about the origin.
    let about_zero = stated.units.centre().iter().all(|c| *c == 0.0);
    let learned = match about_zero {
        true => Units::new(vec![0.0; learned.centre().len()], learned.scale().to_vec()),
        false => learned,
    };
    let units = match units_agree(stated.units, &learned, of_units) {
        true => stated.units.clone(),
        false => learned,
    };
    method.restate(training, stated, units, &own, watch)
}

/// α of every row used, from the pairs of a model.
pub(super) fn multipliers(support: &SupportVectors, rows: &[usize], n_classes: usize) -> Result<Vec<f64>> {
    let per_row = if n_classes > 2 { n_classes } else { 1 };
    let mut alpha = vec![0.0; rows.len() * per_row];
    let alien = (per_row > 1) == support.against.is_empty() && !support.multipliers.is_empty();
    if alien || support.against.iter().any(|k| *k as usize >= n_classes) {
        return Err(Error::model("the multipliers of the support vectors are not those of the classes"));
    }
    for (i, (row, value)) in support.multipliers.iter().enumerate() {
        match rows.binary_search(&(row - 1)) {
            Ok(at) => alpha[at * per_row + support.against.get(i).map_or(0, |k| *k as usize)] = *value,
            Err(_) => return Err(Error::model(format!("the support vector in row {row} is not a row that was used"))),
        }
    }
    Ok(alpha)
}

//! Notes that say that a column is a combination of others, or close to one, beside the rows.

use super::Note;
use crate::certify::exactly_dependent;
use crate::design::{ColumnSummary, Training, summarise_any};
use crate::discriminant::Linear;
use crate::error::Result;
use crate::watch::Watch;

/// A column is close to a combination of others if the residual has at most this share of its standard deviation: ten
/// times what the tolerance 1e-12 of a pivot, a square, resolves.
const RELATION: f64 = 1e-5;
/// Relations tried in one pass over the rows. Chosen (bench/constants.md): only the time depends on it.
const RELATIONS: usize = 16;

/// A column and the combination that a note says it is, or is close to.
pub(super) fn relation_of(note: &Note) -> Option<(usize, &[(usize, f64)])> {
    match note {
        Note::Collinear { column, combination }
        | Note::Shared { column, combination }
        | Note::LeftOut { column, combination, .. }
        | Note::NearlyCollinear { column, combination, .. } => Some((*column, combination)),
        _ => None,
    }
}

/// Leaves out notes about combinations of columns that the rows do not bear out: a Hessian of few curved rows suggests some.
pub(super) fn keep_relations(notes: &mut Vec<Note>, training: &Training<'_>, watch: &Watch) -> Result<()> {
    let relations: Vec<&Note> = notes.iter().filter(|n| relation_of(n).is_some()).collect();
    if relations.is_empty() {
        return Ok(());
    }
    let (summary, _) = summarise_any(training.design, training.weights, watch)?;
    let mut hold = relations_hold(training, &summary, &relations, watch)?.into_iter();
    notes.retain(|note| relation_of(note).is_none() || hold.next() == Some(true));
    Ok(())
}

/// Says of columns that are called combinations of others without a proof in whole numbers that they are so up to rounding;
/// `origin` where no intercept absorbs a constant.
pub(super) fn only_proved_relations(notes: &mut [Note], training: &Training<'_>, origin: Option<&[f64]>) -> Result<()> {
    let Training { design, weights, .. } = *training;
    for note in notes {
        let (column, combination, left_out) = match note {
            Note::Collinear { column, combination } => (*column, combination, true),
            Note::Shared { column, combination } => (*column, combination, false),
            _ => continue,
        };
        if !exactly_dependent(design, weights, column, combination, origin, &Watch::default())? {
            *note = Note::NearlyCollinear { column, combination: std::mem::take(combination), left_out };
        }
    }
    Ok(())
}

/// Which of some relations between columns hold on the rows, as far as their spread shows.
pub(super) fn relations_hold(
    training: &Training<'_>,
    summary: &ColumnSummary,
    relations: &[&Note],
    watch: &Watch,
) -> Result<Vec<bool>> {
    let cols = summary.mean.len();
    let mut hold = Vec::with_capacity(relations.len());
    for some in relations.chunks(RELATIONS) {
        let mut weights = vec![0.0; some.len() * cols];
        let mut whole = vec![true; some.len()];
        for ((note, row), whole) in some.iter().zip(weights.chunks_exact_mut(cols.max(1))).zip(&mut whole) {
            let Some((column, combination)) = relation_of(note) else { continue };
            *whole = column < cols && combination.iter().all(|(j, _)| *j < cols && *j != column);
            if *whole {
                row[column] = 1.0;
                combination.iter().for_each(|(j, a)| row[*j] -= a);
            }
        }
        let left = Linear::new(weights, summary.mean.clone(), vec![0.0; some.len()])?.scores(training.design, watch)?;
        for (k, note) in some.iter().enumerate() {
            let Some((column, _)) = relation_of(note).filter(|_| whole[k]) else {
                hold.push(false);
                continue;
            };
            let weight = |i: usize| training.weights.map_or(1.0, |w| w[i]);
            let square = left.chunks_exact(some.len()).enumerate().map(|(i, r)| weight(i) * r[k] * r[k]);
            let spread = (crate::numeric::sum(square) / training.total_weight()).sqrt();
            hold.push(spread <= RELATION * summary.variance[column].sqrt());
        }
    }
    Ok(hold)
}

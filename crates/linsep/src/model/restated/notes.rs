//! Notes on the rows, recomputed; of the stated notes only those that hold.

use super::Stated;
use crate::certify::{Certificate, exactly_dependent};
use crate::design::ColumnSummary;
use crate::design::Training;
use crate::discriminant::Discriminant;
use crate::error::Result;
use crate::kernel::{Definiteness, definiteness};
use crate::model::kernel_choice::PreparedKernel;
use crate::model::relations::{relation_of, relations_hold};
use crate::model::{KernelSvmSettings, LossChoice, Method, Note, Outcome, PenaltyChoice};
use crate::objective::{Intercept, least_hinge_shifts};
use crate::table::Class;
use crate::watch::Watch;

/// Best intercepts further apart than this are an interval, as where the model was made (`risk::margin`, `kernel_svm`).
const INTERVAL: f64 = 1e-6;
/// The loss must rise beyond the ends of the interval, by this share of its width further out.
const BEYOND: f64 = 1e-3;
/// Differences of the loss below this are rounding or the tolerance of the fit, as [`INTERVAL`].
const LEVEL: f64 = 1e-6;

impl Method {
    /// The notes on the rows, recomputed; of the stated notes only those that hold.
    pub(super) fn restated_notes(
        &self,
        training: &Training<'_>,
        stated: &Stated<'_>,
        summary: &ColumnSummary,
        proved: &Certificate,
        watch: &Watch,
    ) -> Result<Vec<Note>> {
        let mut notes = Vec::new();
        let mut constant = summary.constant();
        if matches!(self, Method::Sigmoid(_) | Method::Link(_)) {
            // Of columns that are not centred a constant one may have a weight.
            constant.retain(|j| stated.units.centre()[*j] == summary.min[*j]);
        }
        let names_constant = match self {
            Method::Risk(m) => m.intercept != Intercept::None,
            Method::Sigmoid(m) => m.intercept != Intercept::None,
            Method::Link(m) => m.intercept != Intercept::None,
            Method::HardMargin(_) | Method::LeastSquares(_) => true,
            _ => false,
        };
        if names_constant && !constant.is_empty() {
            notes.push(Note::Constant { columns: constant.clone() });
        }
        if let Method::KernelSvm(method) = self {
            notes.extend(method.definiteness_note(training, watch)?);
        }
        let relations: Vec<&Note> = stated.notes.iter().filter(|n| relation_of(n).is_some()).collect();
        let mut hold = relations_hold(training, summary, &relations, watch)?.into_iter();
        let about_zero = match self {
            Method::Risk(m) => m.intercept == Intercept::None,
            Method::Link(m) => m.intercept == Intercept::None,
            _ => false,
        };
        let origin = about_zero.then(|| stated.units.centre());
        for note in &stated.notes {
            let kept = match note {
                // Recomputed here, or where the printed digits and the folds are known.
                Note::Constant { .. } | Note::LastDigit { .. } | Note::UnconvergedFolds { .. } => continue,
                Note::Indefinite { .. } if matches!(self, Method::KernelSvm(_)) => continue,
                Note::Collinear { column, combination } | Note::Shared { column, combination } => {
                    let Training { design, weights, .. } = *training;
                    hold.next() == Some(true)
                        && exactly_dependent(design, weights, *column, combination, origin, watch)?
                }
                Note::NearlyCollinear { .. } => hold.next() == Some(true),
                Note::LeftOut { .. } => hold.next() == Some(true) && self.is_repeated(),
                Note::Intercepts { .. } if self.is_linear_hinge(training) => continue,
                Note::Intercepts { low, high } if matches!(self, Method::KernelSvm(_)) => {
                    self.is_flat(training, stated, *low, *high, watch)?
                }
                // Algorithms that the clock stopped are not repeated.
                _ => self.is_repeated(),
            };
            if kept && !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        notes.extend(self.unnamed_zeros(stated, &constant, proved));
        notes.extend(self.intercepts(training, stated, watch)?);
        Ok(notes)
    }

    /// Without a penalty a weight is exactly zero where its column was left out, which must be named, or where symmetric
    /// rows make it so. Only of the latter does the recomputed proof bound the distance to the optimum.
    fn unnamed_zeros(&self, stated: &Stated<'_>, constant: &[usize], proved: &Certificate) -> Vec<Note> {
        let (Method::Risk(method), Some(linear)) = (self, stated.discriminant.as_linear()) else { return Vec::new() };
        if method.penalty != PenaltyChoice::None || stated.outcome != Outcome::Converged {
            return Vec::new();
        }
        let is_named = |j: &usize| {
            constant.contains(j)
                || stated.notes.iter().any(|n| match n {
                    Note::Constant { columns } => columns.contains(j),
                    other => left_out(other) == Some(*j),
                })
        };
        let is_zero = |j: &usize| (0..linear.n_scores()).all(|k| linear.weights_of(k)[*j] == 0.0);
        let errors = proved.errors();
        let is_proved =
            |j: &usize| errors.is_some_and(|e| e.weights.iter().skip(*j).step_by(linear.n_cols()).any(|e| *e > 0.0));
        let unnamed = (0..linear.n_cols()).filter(|j| is_zero(j) && !is_named(j) && !is_proved(j));
        unnamed.map(|column| Note::Collinear { column, combination: Vec::new() }).collect()
    }

    fn is_linear_hinge(&self, training: &Training<'_>) -> bool {
        matches!(self, Method::Risk(m) if m.loss == LossChoice::Hinge && m.intercept == Intercept::Free)
            && training.labels.n_classes() == 2
    }

    /// The interval of optimal intercepts for the weights of a hinge, where they are not unique.
    fn intercepts(&self, training: &Training<'_>, stated: &Stated<'_>, watch: &Watch) -> Result<Option<Note>> {
        let Some(linear) = stated.discriminant.as_linear().filter(|_| self.is_linear_hinge(training)) else {
            return Ok(None);
        };
        let (low, high) = least_hinge_shifts(signed_scores(training, stated.discriminant, watch)?.into_iter());
        let taken = linear.about(stated.units.centre())?.intercept_at_centre()[0];
        let intercept = linear.intercept()[0];
        let wide = high - low > INTERVAL * (1.0 + taken.abs());
        Ok(wide.then_some(Note::Intercepts { low: intercept + low, high: intercept + high }))
    }

    /// Whether the hinge loss of a kernel machine is constant between two intercepts.
    fn is_flat(
        &self,
        training: &Training<'_>,
        stated: &Stated<'_>,
        low: f64,
        high: f64,
        watch: &Watch,
    ) -> Result<bool> {
        let rows = signed_scores(training, stated.discriminant, watch)?;
        let taken = match stated.discriminant {
            Discriminant::Linear(linear) => linear.intercept_at_centre()[0],
            other => other.as_kernel().map_or(0.0, |k| k.intercept()[0]),
        };
        let loss = |b: f64| -> f64 {
            let total: f64 = rows.iter().map(|(_, _, s)| s).sum();
            rows.iter().map(|(y, z, s)| s * (1.0 - y * (z - taken + b)).max(0.0)).sum::<f64>() / total
        };
        let (here, beyond) = (loss(taken), BEYOND * (high - low));
        let level = LEVEL * (1.0 + here);
        let rises = |b: f64| loss(b) > here + LEVEL * beyond.abs();
        let flat = (loss(low) - here).abs() <= level && (loss(high) - here).abs() <= level;
        Ok(low < high && flat && rises(low - beyond) && rises(high + beyond))
    }
}

impl KernelSvmSettings {
    fn definiteness_note(&self, training: &Training<'_>, watch: &Watch) -> Result<Option<Note>> {
        let PreparedKernel { kernel, rows, .. } = self.prepared(training, watch)?;
        Ok(match definiteness(&kernel, &rows) {
            Definiteness::Definite | Definiteness::WithRidge(_) => None,
            Definiteness::Indefinite(evidence) => Some(Note::Indefinite { evidence: Some(evidence) }),
            Definiteness::Unknown => Some(Note::Indefinite { evidence: None }),
        })
    }
}

/// Sign, score (offset included) and weight of every row of two classes.
fn signed_scores(training: &Training<'_>, discriminant: &Discriminant, watch: &Watch) -> Result<Vec<(f64, f64, f64)>> {
    let scores = discriminant.scores(training.design, watch)?;
    let offsets = crate::model::risk::columns::score_offsets(training, 1);
    let row = |(i, z): (usize, &f64)| {
        let sign = if training.labels.codes()[i] == Class(1) { 1.0 } else { -1.0 };
        (sign, z + offsets.as_ref().map_or(0.0, |o| o[i]), training.weights.map_or(1.0, |w| w[i]))
    };
    Ok(scores.iter().enumerate().map(row).collect())
}

/// The column that a note leaves out.
pub(super) fn left_out(note: &Note) -> Option<usize> {
    match note {
        Note::Collinear { column, .. }
        | Note::LeftOut { column, .. }
        | Note::NearlyCollinear { column, left_out: true, .. } => Some(*column),
        _ => None,
    }
}

//! Novikoff's bound by the plane with the widest margin of the extended rows.
//!
//! The theorem holds for every plane that separates: the mistakes are at most `R²/γ²` with `γ = min y θ·x̃ / ‖θ‖`, so the best
//! bound is that of the largest γ. Of the plane that the algorithm ends at, γ may be as small as one likes.

use super::PerceptronSettings;
use crate::certify::{Certificate, margins};
use crate::design::{Block, DenseMatrix, LabelledRows, Tile, Training, Units};
use crate::error::Result;
use crate::objective::{Coef, Intercept};
use crate::separate::hard_margin;
use crate::table::Class;
use crate::watch::{Progress, Watch};

/// Numbers of the extended rows up to which the widest plane is looked for: some hundredths of a second. Chosen, not measured;
/// only how sharp the bound is depends on it.
const MOST_NUMBERS: usize = 400_000;
/// The margin is wanted to this share of the widest, so that rows in another order or storage have the same bound.
const TOLERANCE: f64 = 1e-8;

impl PerceptronSettings {
    /// The certificate with the best bound on the mistakes that is known.
    pub(super) fn bounded(
        &self,
        certificate: Certificate,
        training: &Training<'_>,
        working: &Units,
        watch: &Watch,
    ) -> Result<Certificate> {
        let Certificate::Separates { margin, norm, radius, bound, mistakes, .. } = certificate else {
            return Ok(certificate);
        };
        let Some(theta) = self.widest_plane(training, working, watch)? else { return Ok(certificate) };
        watch.report(Progress::Widest { coefficients: theta.as_slice() });
        let found = margins(training.rows(), working, &theta, self.intercept == Intercept::Free, watch)?;
        Ok(match found.bound() {
            Some(better) if better < bound => {
                // The quotient rounds once more.
                let widest = Some(found.margin / found.norm * (1.0 - 2.0 * f64::EPSILON));
                Certificate::Separates { margin, norm, radius, bound: better, widest, mistakes }
            }
            _ => certificate,
        })
    }

    /// The θ of the largest `min y θ·x̃ / ‖θ‖`, nearly. The rows `y x̃` and their mirror images `−y x̃` are two classes whose
    /// widest plane passes through the origin, since mirrored it is the widest plane again and there is only one.
    pub(super) fn widest_plane(&self, training: &Training<'_>, working: &Units, watch: &Watch) -> Result<Option<Coef>> {
        let cols = training.design.shape().cols;
        let extended = cols + usize::from(self.intercept == Intercept::Free);
        let counted = training.rows().counted();
        if counted.len().saturating_mul(2 * extended) > MOST_NUMBERS {
            return Ok(None);
        }
        let (mut tile, mut row) = (Tile::default(), Vec::new());
        let (mut values, mut classes) = (Vec::new(), Vec::new());
        for i in &counted {
            match training.design.block(*i..i + 1, &mut tile)? {
                Block::F64(dense) => dense.load(working, &mut row),
                Block::F32(dense) => dense.load(working, &mut row),
                Block::Csr(sparse) => {
                    row = working.centre().iter().zip(working.inverse_scale()).map(|(c, s)| -c * s).collect();
                    let (columns, entries) = sparse.row(0);
                    columns
                        .iter()
                        .zip(entries)
                        .for_each(|(c, v)| row[*c as usize] += v * working.inverse_scale()[*c as usize]);
                }
            }
            let sign = if training.labels.codes()[*i].0 == 1 { 1.0 } else { -1.0 };
            for (class, mirror) in [(1, sign), (0, -sign)] {
                values.extend(row.iter().map(|x| mirror * x));
                values.extend((extended > cols).then_some(mirror));
                classes.push(Class(class));
            }
        }
        let mirrored = DenseMatrix::new(values, extended)?;
        let Some(found) = hard_margin(LabelledRows::new(&mirrored, &classes), None, TOLERANCE, watch)? else {
            return Ok(None);
        };
        let mut theta = Coef::zeros(1, cols);
        theta.weights_mut().copy_from_slice(&found.weights[..cols]);
        theta.intercept_mut()[0] = found.weights.get(cols).copied().unwrap_or(0.0);
        Ok(Some(theta))
    }
}

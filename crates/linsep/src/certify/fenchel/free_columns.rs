//! Columns that a penalty leaves out, such as those of factor zero beside a lasso.
//!
//! Their weights are as free as an intercept, so the dual asks for `X_Uᵀ(sθ) = 0`. As for the intercept, θ are the
//! derivatives at the best weights of these columns *for the other weights as they are*: that they exist near the stored
//! ones is a statement about an unpenalised risk of few columns whose offsets are the scores, and is proved as such
//! ([`crate::certify::self_concordance_bound`]).
//!
//! The squared hinge is not smooth enough for that. Its rows with a slack above [`CUT`] are least squares as long as they
//! stay on their side of the margin; the others, whose slopes are next to nothing, get θ = 0.

use super::EVALUATION;
use crate::certify::{Certificate, StoredScores, self_concordance_bound};
use crate::design::{Units, select};
use crate::error::Result;
use crate::objective::{Coef, CurvedLoss, Intercept, Loss, Penalty, Ridge, Risk, Sample, Squared};
use crate::watch::Watch;

/// Slacks `1 − yz` of a squared hinge up to this have no part in the balance; the proof checks that no row crosses it.
/// Chosen, out of reach of bench/constants.md: a larger value loosens the bound by its square, a smaller one lets more
/// proofs fail.
pub(super) const CUT: f64 = 1e-7;
/// Far more than the few roundings of a logarithm and a product.
const LOGARITHM: f64 = 1.0 + 1e-12;

/// What is known of the best weights of the free columns, intercept included, for the other weights as they are.
#[derive(Debug, Clone, Copy)]
pub struct PartlyBest {
    /// No row's log-odds move by more.
    pub(super) omega: f64,
    /// What they gain at most: the mean of the Fenchel–Young terms.
    pub(super) gain: f64,
}

/// A loss that can be minimised over some columns with a proof.
pub trait PartlyMinimised: CurvedLoss + Clone {
    /// How near the best weights of the free columns are, at given scores; the reason where that is not known.
    fn partly_best<P: Penalty>(
        &self,
        risk: &Risk<'_, Self, P>,
        scores: &[f64],
        watch: &Watch,
    ) -> Result<std::result::Result<PartlyBest, String>>
    where
        Self: Sized,
    {
        let free = FreeRows::of(risk, watch)?;
        let rows = Sample { offsets: Some(scores), ..free.sample(risk) };
        best(&Risk::new(rows, self.clone(), Ridge::none(), free.intercept), watch)
    }
}

impl PartlyMinimised for crate::objective::Logistic {}
impl PartlyMinimised for crate::objective::Softmax {}
impl PartlyMinimised for Squared {}

impl PartlyMinimised for crate::objective::SquaredHinge {
    fn partly_best<P: Penalty>(
        &self,
        risk: &Risk<'_, Self, P>,
        scores: &[f64],
        watch: &Watch,
    ) -> Result<std::result::Result<PartlyBest, String>> {
        let (sample, target) = (risk.sample(), [-1.0, 1.0]);
        // Residuals `o − t` that are the slopes −2y(1 − yz).
        let (mut weights, mut offsets) = (Vec::with_capacity(scores.len()), Vec::with_capacity(scores.len()));
        for (i, z) in scores.iter().enumerate() {
            let y = target[sample.labels[i].index()];
            let slack = 1.0 - y * z;
            weights.push(if slack > CUT { sample.weights.map_or(1.0, |w| w[i]) } else { 0.0 });
            offsets.push(y - 2.0 * y * slack);
        }
        let total: f64 = weights.iter().sum();
        let lightest = weights.iter().filter(|w| **w > 0.0).fold(f64::INFINITY, |m, w| m.min(*w));
        if !(total > 0.0) {
            return Ok(Ok(PartlyBest { omega: 0.0, gain: 0.0 }));
        }
        let free = FreeRows::of(risk, watch)?;
        let rows = free.sample(risk);
        let rows = Sample { rows: rows.weighted(Some(&weights)), offsets: Some(&offsets), ..rows };
        let found = best(&Risk::new(rows, Squared::two_classes(target), Ridge::none(), free.intercept), watch)?;
        Ok(found.and_then(|best| {
            // Σ s Δ² = 2 gain Σ s over the rows that take part: none moves by more than this.
            let most = (2.0 * best.gain * total / lightest).sqrt() * EVALUATION;
            match most < CUT {
                true => Ok(PartlyBest { gain: best.gain * total / risk.total_weight() * EVALUATION, ..best }),
                false => Err("the weights of the columns without a penalty are too far from their best".into()),
            }
        }))
    }
}

/// The free columns as a design of their own.
struct FreeRows {
    design: crate::design::PreparedDesign,
    units: Units,
    intercept: Intercept,
}

impl FreeRows {
    fn of<L: Loss, P: Penalty>(risk: &Risk<'_, L, P>, watch: &Watch) -> Result<FreeRows> {
        let (free, units) = (risk.penalty().free_columns(), risk.sample().units);
        let some = |values: &[f64]| free.iter().map(|j| values[*j]).collect();
        let intercept = if risk.intercept() == Intercept::Free { Intercept::Free } else { Intercept::None };
        let design = select(risk.sample().design, &free, watch)?;
        Ok(FreeRows { design, units: Units::new(some(units.centre()), some(units.scale())), intercept })
    }

    fn sample<'s, L: Loss, P: Penalty>(&'s self, risk: &'s Risk<'_, L, P>) -> Sample<'s> {
        Sample { units: &self.units, offsets: None, ..risk.sample().with_design(self.design.as_design()) }
    }
}

/// How far zero weights are from the best of an unpenalised risk.
fn best<L: CurvedLoss>(risk: &Risk<'_, L, Ridge>, watch: &Watch) -> Result<std::result::Result<PartlyBest, String>> {
    let zero = Coef::zeros(risk.loss().n_scores(), risk.n_cols());
    let bound = self_concordance_bound(risk, &zero, StoredScores::AsFitted, watch)?;
    if let Some(reason) = bound.unproved_alias() {
        return Ok(Err(reason));
    }
    Ok(match bound.certificate {
        Certificate::SelfConcordance { decrement, radius, gap, .. } => {
            Ok(PartlyBest { omega: -(-radius * decrement).ln_1p() * LOGARITHM, gain: gap })
        }
        Certificate::Absent { reason } => Err(format!("columns without a penalty: {reason}")),
        _ => Err("columns without a penalty have no bound".into()),
    })
}

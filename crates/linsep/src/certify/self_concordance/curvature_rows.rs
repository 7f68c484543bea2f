//! Rows as the bound by curvature reads them, wherever they are.

use super::frame::WhitenedFrame;
use crate::certify::{OrthonormalBasis, RowTriangle};
use crate::design::Units;
use crate::error::Result;
use crate::linalg::Square;
use crate::numeric::{CompensatedSum, Merge};
use crate::objective::{Coef, CurvedLoss, RiskFrame};
use crate::watch::Watch;

/// What [`crate::certify::self_concordance_bound`] asks of the rows of a risk: sums and maxima over them, which parts of the
/// rows can find by themselves and [`Merge`] in the order of the parts.
///
/// Numbers of single rows (scores, their errors, rows in another basis) stay with the rows, behind
/// [`CurvatureRows::EnclosedRows`]. [`crate::objective::Risk`] is the implementation with all rows in memory. It also serves as
/// one part of rows that lie in several places: every answer is a sum that is not divided by the weight of the rows, or is
/// told `total`, Σs of all of them, and knows nothing of the penalty.
///
/// Only rows in memory prove that a column is exactly a combination of others: elsewhere a column that has to be left out is
/// called close to one, and what is proved is the risk without it.
pub trait CurvatureRows: RiskFrame<Loss: CurvedLoss> {
    /// The scores of all rows with their errors, and the rows in another basis where they were turned into one.
    type EnclosedRows;

    /// The units of the columns.
    fn units(&self) -> &Units;
    /// Scores and losses.
    fn enclosed(&self, coef: &Coef, watch: &Watch) -> Result<(Self::EnclosedRows, LossSum)>;
    /// The Hessian of the loss, over `total`; `None` where its sums cancel by more than rounding counts.
    fn curvature(&self, rows: &Self::EnclosedRows, total: f64, watch: &Watch) -> Result<Option<HessianSum>>;
    /// The triangular factor of the rows; `None` where there is no bound for columns that are nearly collinear.
    fn triangle(&self, _watch: &Watch) -> Result<Option<RowTriangle>> {
        Ok(None)
    }
    /// The Hessian of the loss in a basis of the columns, over `total`; the rows are in this basis from now on.
    fn turned_curvature(
        &self,
        rows: &mut Self::EnclosedRows,
        basis: &OrthonormalBasis,
        total: f64,
        watch: &Watch,
    ) -> Result<HessianSum>;
    /// What the rows add up to in a frame.
    fn frame_sums(&self, rows: &Self::EnclosedRows, frame: &WhitenedFrame, watch: &Watch) -> Result<FrameSums>;
    /// Whether a column is proved to be the combination of others that a factor suggests, in the units of the fit, where so
    /// many columns (and the intercept) are independent.
    fn is_combination(
        &self,
        _column: usize,
        _combination: &[(usize, f64)],
        _independent: usize,
        _watch: &Watch,
    ) -> Result<bool> {
        Ok(false)
    }
}

/// The losses of some rows.
#[derive(Debug, Clone, Copy)]
pub struct LossSum {
    /// `Σ s ℓ`.
    pub losses: CompensatedSum,
    /// Number of rows.
    pub rows: usize,
}

impl Merge for LossSum {
    fn merge(&mut self, other: LossSum) {
        self.losses.merge(other.losses);
        self.rows += other.rows;
    }
}

/// A Hessian of some rows.
#[derive(Debug, Clone)]
pub struct HessianSum {
    /// Ordered as [`Coef`].
    pub hessian: Square,
    /// Number of rows. No entry takes more additions in sequence: a part of at least one row is merged by one addition, and a
    /// part without rows adds zeros.
    pub rows: usize,
}

impl Merge for HessianSum {
    fn merge(&mut self, other: HessianSum) {
        self.hessian.add(&other.hessian);
        self.rows += other.rows;
    }
}

/// Sums over the rows, not divided by Σs. `t = Tᵀx̃` is a row in the frame, r its slope `∂ℓ/∂z`, C its curvature.
#[derive(Debug, Clone)]
pub struct FrameSums {
    /// `Σ s r t`.
    pub gradient: Vec<CompensatedSum>,
    /// `Σ s|r|‖t‖`.
    pub sizes: f64,
    /// The same with the rounding of t for t.
    pub errors: f64,
    /// `Σ s ΔᵀCΔ` for errors Δ of the scores of a row.
    pub score_errors: f64,
    /// `Σ s tr C η²`, η the error of a row of the basis.
    pub basis_errors: f64,
    /// `Σ s e`, e the range of the errors of the scores of the row.
    pub loss_errors: f64,
    /// The largest range over the classes of the scores of a row along a direction of unit length in the frame.
    pub largest: f64,
    /// The largest range of the errors of the scores of a row.
    pub range: f64,
    /// The most rows that were summed one after the other.
    pub block: usize,
}

impl Merge for FrameSums {
    fn merge(&mut self, other: FrameSums) {
        self.gradient.merge(other.gradient);
        self.sizes += other.sizes;
        self.errors += other.errors;
        self.score_errors += other.score_errors;
        self.basis_errors += other.basis_errors;
        self.loss_errors += other.loss_errors;
        self.largest = self.largest.max(other.largest);
        self.range = self.range.max(other.range);
        self.block = self.block.max(other.block);
    }
}

//! What conjugate gradients are preconditioned with.
//!
//! With few enough columns, the Hessian of each score on some of the rows, factored: a good approximation of the blocks on
//! the diagonal of H, and with one score of H itself. Otherwise the diagonal of H.

use crate::error::Result;
use crate::linalg::{Factor, factor};
use crate::objective::{Coef, Intercept, Loss, Penalty, Point, Ridge, Smooth};
use crate::solve::smooth::part::RowPart;
use crate::watch::Watch;
use rayon::prelude::*;

/// With more columns the factor of a block, of the third power of this, costs more than it saves. Chosen
/// (bench/constants.md).
const MOST_COLUMNS: usize = 3_000;
/// Rows per column from which the blocks are made: enough to estimate the curvature in every direction. Chosen
/// (bench/constants.md).
const ROWS_PER_COLUMN: usize = 4;
/// Pivots on the unit-diagonal scale below this are rounding: about 5 units.
const ROUNDING_PIVOT: f64 = 1e-15;
/// The least curvature relative to the largest, which keeps steps along flat directions finite. Chosen
/// (bench/constants.md).
const FLAT: f64 = 1e-12;
/// Numbers of all blocks at most: half a gigabyte.
const MOST_NUMBERS: usize = 1 << 26;
/// Rows from which blocks are made, at least. Chosen (bench/constants.md).
const FEWEST_ROWS: usize = 2048;

pub(super) enum Preconditioner {
    /// One factor per score.
    Blocks(Vec<Factor>),
    /// The inverse diagonal.
    Diagonal(Coef),
}

impl Preconditioner {
    pub(super) fn at<P: Smooth<Penalty = Ridge>>(
        risk: &P,
        point: &Point<P::Scores>,
        watch: &Watch,
    ) -> Result<Preconditioner> {
        let (k, cols) = (risk.loss().n_scores(), risk.n_cols());
        let fits = cols <= MOST_COLUMNS && k * cols * cols <= MOST_NUMBERS;
        let here = risk.rows_here().zip(risk.point_here(point)).filter(|(rows, _)| fits && !rows.is_sparse());
        let Some((risk, point)) = here else {
            let mut inverse = risk.hessian_diagonal(point, watch)?;
            // Where the loss is flat for a free intercept, its step must stay finite.
            let floor = inverse.as_slice().iter().fold(risk.penalty().lambda(), |m, d| m.max(*d)) * FLAT;
            inverse.as_mut_slice().iter_mut().for_each(|d| *d = d.max(floor).recip());
            return Ok(Preconditioner::Diagonal(inverse));
        };
        let n = risk.sample().labels.len();
        let wanted = (ROWS_PER_COLUMN * (cols + 1)).max(FEWEST_ROWS).min(n);
        let rows: Vec<usize> = (0..wanted).map(|i| i * n / wanted).collect();
        let part = RowPart::of(risk.sample(), k, &rows)?;
        let some = part.risk(risk.sample(), risk.loss().clone(), risk.penalty().clone(), risk.intercept());
        let scores: Vec<f64> = rows.iter().flat_map(|r| point.scores[r * k..(r + 1) * k].iter().copied()).collect();
        let mut blocks = some.hessian_blocks(&scores, watch)?;
        for block in &mut blocks {
            // What has no curvature must not have infinite steps either.
            if risk.intercept() == Intercept::None {
                *block.at(cols, cols) = 1.0;
            }
            let floor = FLAT * block.diagonal().iter().fold(risk.penalty().lambda(), |m, d| m.max(*d));
            (0..=cols).for_each(|j| *block.at(j, j) += floor);
        }
        Ok(Preconditioner::Blocks(blocks.par_iter().map(|b| factor(b, ROUNDING_PIVOT)).collect()))
    }

    /// Whether making it was much work.
    pub(super) fn is_factored(&self) -> bool {
        matches!(self, Preconditioner::Blocks(_))
    }

    /// `M⁻¹ r`.
    pub(super) fn solve(&self, residual: &Coef) -> Coef {
        let (k, cols) = (residual.n_scores(), residual.n_cols());
        match self {
            Preconditioner::Diagonal(inverse) => {
                let values = residual.as_slice().iter().zip(inverse.as_slice()).map(|(r, d)| r * d);
                Coef::from_vec(values.collect(), k, cols)
            }
            Preconditioner::Blocks(factors) => {
                let solved: Vec<Vec<f64>> = factors
                    .par_iter()
                    .enumerate()
                    .map(|(score, factor)| {
                        let mut right = residual.weights_of(score).to_vec();
                        right.push(residual.intercept()[score]);
                        factor.solve(&right)
                    })
                    .collect();
                let mut out = Coef::zeros(k, cols);
                for (score, values) in solved.iter().enumerate() {
                    out.weights_mut()[score * cols..(score + 1) * cols].copy_from_slice(&values[..cols]);
                    out.intercept_mut()[score] = values[cols];
                }
                out
            }
        }
    }
}

//! The discriminants of several two-class fits, one score each.

use super::blocks::{BLOCK_ROWS, check_columns};
use super::{Discriminant, KernelExpansion, Linear};
use crate::design::Design;
use crate::error::{Error, Result};
use crate::watch::Watch;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Discriminants of two classes side by side: score p is that of part p.
///
/// Linear ones are not kept like this: [`Discriminant::stack`] makes them one matrix, and kernel ones share support rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    parts: Vec<Discriminant>,
}

impl Stack {
    /// The discriminants of the parts.
    pub fn parts(&self) -> &[Discriminant] {
        &self.parts
    }

    pub(super) fn n_scores(&self) -> usize {
        self.parts.len()
    }

    pub(super) fn n_cols(&self) -> usize {
        self.parts.first().map_or(0, Discriminant::n_cols)
    }

    pub(super) fn scores(&self, design: &dyn Design, watch: &Watch) -> Result<Vec<f64>> {
        check_columns(design, self.n_cols())?;
        let k = self.parts.len();
        let mut scores = vec![0.0; design.shape().rows * k];
        for (p, part) in self.parts.iter().enumerate() {
            let column = part.scores(design, watch)?;
            scores.chunks_exact_mut(k).zip(column).for_each(|(row, z)| row[p] = z);
        }
        Ok(scores)
    }

    pub(super) fn each_block<T: Send>(
        &self,
        design: &dyn Design,
        watch: &Watch,
        width: usize,
        out: &mut [T],
        finish: impl Fn(&[f64], &mut [T]) + Sync,
    ) -> Result<()> {
        let scores = self.scores(design, watch)?;
        let blocks = scores.par_chunks(BLOCK_ROWS * self.parts.len());
        blocks.zip(out.par_chunks_mut(BLOCK_ROWS * width)).for_each(|(scores, out)| finish(scores, out));
        Ok(())
    }

    pub(super) fn is_whole(&self) -> bool {
        let fits = |part: &Discriminant| {
            !matches!(part, Discriminant::Stack(_))
                && part.is_whole()
                && part.n_scores() == 1
                && part.n_cols() == self.n_cols()
        };
        !self.parts.is_empty() && self.parts.iter().all(fits)
    }
}

impl Discriminant {
    /// Discriminants of two classes side by side, score p that of part p: linear ones as one matrix about `centre`.
    ///
    /// ```
    /// use linsep::design::DenseMatrix;
    /// use linsep::discriminant::{Discriminant, Linear};
    /// let part = |w: f64, centre: f64| Linear::new(vec![w], vec![centre], vec![0.0]).map(Discriminant::Linear);
    /// let both = Discriminant::stack(vec![part(2.0, 1.0)?, part(-1.0, 3.0)?], &[0.0])?;
    /// assert_eq!(both.scores(&DenseMatrix::new(vec![4.0], 1)?, &Default::default())?, [6.0, -1.0]);
    /// # Ok::<(), linsep::Error>(())
    /// ```
    ///
    /// # Errors
    /// Where there is no part, or one has more scores than one or other columns than the first.
    pub fn stack(parts: Vec<Discriminant>, centre: &[f64]) -> Result<Discriminant> {
        let stack = Stack { parts };
        if !stack.is_whole() || stack.n_cols() != centre.len() {
            return Err(Error::model("only discriminants of two classes and of the same columns can be stacked"));
        }
        let kernels: Option<Vec<&KernelExpansion>> = stack.parts.iter().map(Discriminant::as_kernel).collect();
        if let Some(kernels) = kernels.filter(|k| k.iter().all(|e| e.is_alike(k[0]))) {
            return Ok(Discriminant::Kernel(KernelExpansion::stack(&kernels)?));
        }
        let linear: Option<Vec<&Linear>> = stack.parts.iter().map(Discriminant::as_linear).collect();
        let Some(linear) = linear else { return Ok(Discriminant::Stack(stack)) };
        let mut weights = Vec::with_capacity(linear.len() * centre.len());
        let mut values = Vec::with_capacity(linear.len());
        for part in linear {
            let moved = part.about(centre)?;
            weights.extend_from_slice(moved.weights_of(0));
            values.extend_from_slice(moved.intercept_at_centre());
        }
        Ok(Discriminant::Linear(Linear::new(weights, centre.to_vec(), values)?))
    }

    /// The same discriminants with row `i`, where they keep training rows, called `rows[i]`: for a fit on some rows of a
    /// larger table.
    ///
    /// # Errors
    /// Where a row that is kept has no number.
    pub fn renumbered(&self, rows: &[usize], all: usize) -> Result<Discriminant> {
        match self {
            Discriminant::Kernel(kernel) => Ok(Discriminant::Kernel(kernel.clone().renumbered(rows, all)?)),
            other => Ok(other.clone()),
        }
    }

    /// The way back: training rows that are kept are called by their place in `rows`, which rise.
    ///
    /// # Errors
    /// Where a row that is kept is not among them.
    pub fn within(&self, rows: &[usize]) -> Result<Discriminant> {
        match self {
            Discriminant::Kernel(kernel) => Ok(Discriminant::Kernel(kernel.clone().within(rows)?)),
            other => Ok(other.clone()),
        }
    }

    /// One score of a stack as the discriminant of two classes.
    ///
    /// # Errors
    /// Where there is no such score, or the scores are not those of parts.
    pub fn part(&self, score: usize) -> Result<Discriminant> {
        let none = || Error::model(format!("the discriminants have no part {}", score + 1));
        match self {
            Discriminant::Linear(linear) if score < linear.n_scores() => {
                let value = vec![linear.intercept_at_centre()[score]];
                let weights = linear.weights_of(score).to_vec();
                Ok(Discriminant::Linear(Linear::new(weights, linear.centre().to_vec(), value)?))
            }
            Discriminant::Kernel(kernel) if score < kernel.n_scores() => Ok(Discriminant::Kernel(kernel.part(score)?)),
            Discriminant::Stack(stack) => stack.parts.get(score).cloned().ok_or_else(none),
            _ => Err(none()),
        }
    }
}

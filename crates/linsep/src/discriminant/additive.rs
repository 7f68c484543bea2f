//! Scores as sums: what each column of a row, or each support row of a kernel, adds to them.
//!
//! `g_k(x) = b_k + Σⱼ γ_kj(x)`. About a centre c (dense rows) a linear score has `γ_kj = w_kj(xⱼ − cⱼ)` and `b_k` is its value
//! at the centre; sparse rows are taken about zero, `γ_kj = w_kj xⱼ`, so that a column that a row does not have adds nothing.

use super::{Discriminant, Generalised, KernelExpansion, Linear, Quadratic, stored_block};
use crate::design::Block;
use crate::error::{Error, Result};
use crate::kernel::{Kernel, KernelRows, TargetRows, kernel_rows};
use crate::numeric::sum;

/// What one column, or one support row, adds to a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreShare {
    /// The matrix column; for kernels the number of the support row among the training rows, from 0.
    pub index: usize,
    /// The value in the column; for kernels that of the kernel.
    pub value: f64,
    /// What is added.
    pub contribution: f64,
}

/// Discriminants written as sums over columns or support rows.
pub struct Additive<'a> {
    discriminant: &'a Discriminant,
    /// Moved from the intercept to the columns, score by score; empty for nothing.
    constants: Vec<f64>,
    about_zero: bool,
    intercept: Vec<f64>,
    /// The support rows of each kernel part, made ready once; `None` for a part that has none.
    support: Vec<Option<KernelRows>>,
}

impl<'a> Additive<'a> {
    /// Of rows that are dense, or sparse and then about zero. `constants` are parts of the intercept that belong to
    /// columns, score by score, and may be empty; sparse rows leave them in the intercept.
    ///
    /// # Errors
    /// Where there are not as many constants as columns and scores.
    pub fn new(discriminant: &'a Discriminant, sparse: bool, constants: Vec<f64>) -> Result<Additive<'a>> {
        let (scores, cols) = (discriminant.n_scores(), discriminant.n_cols());
        if !constants.is_empty() && constants.len() != scores * cols {
            return Err(Error::model("the constants do not fit the columns and scores"));
        }
        let constants = if sparse { Vec::new() } else { constants };
        let moved = |k: usize| constants.get(k * cols..(k + 1) * cols).map_or(0.0, |c| sum(c.iter().copied()));
        let intercept = (0..scores).map(|k| intercept_of(discriminant, k, sparse) - moved(k)).collect();
        let support = match discriminant {
            Discriminant::Stack(stack) => stack.parts().iter().map(support_rows).collect(),
            other => vec![support_rows(other)],
        };
        Ok(Additive { discriminant, constants, about_zero: sparse, intercept, support })
    }

    /// The part of each score that no column adds.
    pub fn intercept(&self) -> &[f64] {
        &self.intercept
    }

    /// Whether columns are taken about zero and not about the centre of the discriminants.
    pub fn is_about_zero(&self) -> bool {
        self.about_zero
    }

    /// The shares in every score of a row, a block of its own; sparse rows list the columns that they have.
    pub fn shares(&self, row: Block<'_>) -> Vec<Vec<ScoreShare>> {
        let mut shares: Vec<Vec<ScoreShare>> = match self.discriminant {
            Discriminant::Stack(stack) => {
                let parts = stack.parts().iter().zip(&self.support);
                parts.flat_map(|(part, support)| shares_of(part, support.as_ref(), row, self.about_zero)).collect()
            }
            other => shares_of(other, self.support[0].as_ref(), row, self.about_zero),
        };
        for (of_score, constants) in
            shares.iter_mut().zip(self.constants.chunks_exact(self.discriminant.n_cols().max(1)))
        {
            of_score.iter_mut().for_each(|s| s.contribution += constants[s.index]);
        }
        shares
    }
}

fn intercept_of(discriminant: &Discriminant, score: usize, about_zero: bool) -> f64 {
    match discriminant {
        Discriminant::Linear(linear) if about_zero => linear.intercept()[score],
        Discriminant::Linear(linear) => linear.intercept_at_centre()[score],
        Discriminant::Generalised(general) if about_zero => general.at_origin()[score],
        Discriminant::Generalised(general) => general.intercept_at_centre()[score],
        Discriminant::Quadratic(quadratic) => match quadratic.constants() {
            [first, second] => second - first,
            constants => constants[score],
        },
        Discriminant::Kernel(kernel) => kernel.intercept()[score],
        Discriminant::Stack(stack) => intercept_of(&stack.parts()[score], 0, about_zero),
    }
}

/// The support rows of a kernel that is a function of columns.
fn support_rows(discriminant: &Discriminant) -> Option<KernelRows> {
    let kernel = discriminant.as_kernel().filter(|k| *k.kernel() != Kernel::Precomputed)?;
    Some(KernelRows::of_stored(kernel.support(), kernel.support_rows().len(), kernel.units()))
}

/// The shares in every score; of a part of a stack, in its one score.
fn shares_of(
    discriminant: &Discriminant,
    support: Option<&KernelRows>,
    row: Block<'_>,
    about_zero: bool,
) -> Vec<Vec<ScoreShare>> {
    let scores = 0..discriminant.n_scores();
    match discriminant {
        Discriminant::Linear(linear) => {
            scores.map(|k| cells(row).map(|(j, x)| linear_share(linear, k, j, x, about_zero)).collect()).collect()
        }
        Discriminant::Generalised(general) => {
            scores.map(|k| cells(row).map(|(j, x)| generalised_share(general, k, j, x, about_zero)).collect()).collect()
        }
        Discriminant::Quadratic(quadratic) => quadratic_shares(quadratic, row),
        Discriminant::Kernel(kernel) => kernel_shares(kernel, support, row),
        // Parts of a stack are no stacks.
        Discriminant::Stack(_) => Vec::new(),
    }
}

/// The columns of a row with their values: all of a dense one, those stored of a sparse one.
fn cells(row: Block<'_>) -> Box<dyn Iterator<Item = (usize, f64)> + '_> {
    match row {
        Block::F64(dense) => Box::new(dense.values.iter().copied().enumerate()),
        Block::F32(dense) => Box::new(dense.values.iter().map(|v| f64::from(*v)).enumerate()),
        Block::Csr(rows) => {
            let (columns, values) = rows.row(0);
            Box::new(columns.iter().map(|c| *c as usize).zip(values.iter().copied()))
        }
    }
}

fn linear_share(linear: &Linear, score: usize, index: usize, value: f64, about_zero: bool) -> ScoreShare {
    let centre = if about_zero { 0.0 } else { linear.centre()[index] };
    ScoreShare { index, value, contribution: linear.weights_of(score)[index] * (value - centre) }
}

fn generalised_share(general: &Generalised, score: usize, index: usize, value: f64, about_zero: bool) -> ScoreShare {
    let (a, b, c) = (general.linear_of(score)[index], general.square_of(score)[index], general.centre()[index]);
    let polynomial = match about_zero {
        // The change from zero, as scores of sparse rows have it.
        true => value * (a + b * (value - 2.0 * c)),
        false => (value - c) * (a + b * (value - c)),
    };
    let logarithms = general.logarithms().iter().filter(|t| t.column == index).map(|t| t.weights[score] * value.ln());
    ScoreShare { index, value, contribution: logarithms.fold(polynomial, |sum, term| sum + term) }
}

/// `−½‖A d‖² = Σᵢ −½ dᵢ (AᵀA d)ᵢ` with d = x − μ: a product of two columns is shared evenly between them.
fn quadratic_shares(quadratic: &Quadratic, row: Block<'_>) -> Vec<Vec<ScoreShare>> {
    let cols = quadratic.n_cols();
    let mut x = vec![0.0; cols];
    cells(row).for_each(|(j, value)| x[j] = value);
    let of_class = |k: usize| -> Vec<f64> {
        let d: Vec<f64> = x.iter().zip(quadratic.centre(k)).map(|(x, m)| x - m).collect();
        let white: Vec<f64> =
            (0..cols).map(|i| (0..=i).map(|j| quadratic.whitening_at(k, i, j) * d[j]).sum()).collect();
        let back = |j: usize| (j..cols).map(|i| quadratic.whitening_at(k, i, j) * white[i]).sum::<f64>();
        (0..cols).map(|j| -0.5 * d[j] * back(j)).collect()
    };
    let contributions: Vec<Vec<f64>> = match quadratic.n_classes() {
        2 => vec![of_class(1).iter().zip(of_class(0)).map(|(second, first)| second - first).collect()],
        classes => (0..classes).map(of_class).collect(),
    };
    let shares = |of_score: Vec<f64>| {
        let with = x.iter().zip(of_score).enumerate();
        with.map(|(index, (value, contribution))| ScoreShare { index, value: *value, contribution }).collect()
    };
    contributions.into_iter().map(shares).collect()
}

/// `c_i K(x_i, x)` of every support row that has a coefficient.
fn kernel_shares(kernel: &KernelExpansion, support: Option<&KernelRows>, row: Block<'_>) -> Vec<Vec<ScoreShare>> {
    let k = kernel.n_scores();
    let values = kernel.values_with(support, row);
    let of_score = |score: usize| {
        let coefficients = kernel.coefficients().iter().skip(score).step_by(k);
        let all = kernel.support_rows().iter().zip(&values).zip(coefficients).filter(|(_, c)| **c != 0.0);
        all.map(|((index, value), c)| ScoreShare { index: *index, value: *value, contribution: c * value }).collect()
    };
    (0..k).map(of_score).collect()
}

impl KernelExpansion {
    /// The kernel of every support row with one row, a block of its own; without support rows its values are the columns.
    fn values_with(&self, support: Option<&KernelRows>, row: Block<'_>) -> Vec<f64> {
        let m = self.support_rows().len();
        let Some(support) = support else {
            let mut table = vec![0.0; self.n_cols()];
            cells(row).for_each(|(j, value)| table[j] = value);
            return self.support_rows().iter().map(|r| table[*r]).collect();
        };
        let own = support.and(&stored_block(row), 1, self.units());
        let targets = TargetRows::<f64>::new(self.kernel(), &own, &[0]);
        let mut values = vec![0.0; m * targets.padded()];
        let mut rows: Vec<&mut [f64]> = values.chunks_exact_mut(targets.padded()).collect();
        kernel_rows(self.kernel(), support, &(0..m).collect::<Vec<usize>>(), &targets, &mut rows);
        rows.iter().map(|row| row[0]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{CsrMatrix, DenseMatrix, Design, Tile, Units};
    use crate::discriminant::LogTerm;
    use crate::kernel::StoredRows;
    use crate::watch::Watch;

    /// Sums of shares against scores, on dense and sparse rows.
    fn check(discriminant: &Discriminant, rows: &[f64]) {
        let cols = discriminant.n_cols();
        let dense = DenseMatrix::new(rows, cols).expect("rows");
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in rows.chunks_exact(cols) {
            for (j, v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                indices.push(j as u32);
                values.push(*v);
            }
            starts.push(values.len());
        }
        let csr = CsrMatrix::new(starts, indices, values, cols).expect("rows");
        for (sparse, design) in [(false, &dense as &dyn Design), (true, &csr)] {
            let additive = Additive::new(discriminant, sparse, Vec::new()).expect("fits");
            let scores = discriminant.scores(design, &Watch::default()).expect("scores");
            let k = discriminant.n_scores();
            for i in 0..rows.len() / cols {
                let mut tile = Tile::default();
                let all = additive.shares(design.block(i..i + 1, &mut tile).expect("a row"));
                assert_eq!(all.len(), k);
                for (score, shares) in all.iter().enumerate() {
                    let total = additive.intercept()[score] + shares.iter().map(|s| s.contribution).sum::<f64>();
                    let size = 1.0 + shares.iter().map(|s| s.contribution.abs()).sum::<f64>();
                    assert!((total - scores[i * k + score]).abs() <= 1e-12 * size, "{total} {}", scores[i * k + score]);
                }
            }
        }
    }

    const ROWS: [f64; 8] = [0.5, 3.0, -1.0, 2.5, 4.0, 1.0, 0.25, 0.125];

    #[test]
    fn shares_and_intercept_are_the_score() {
        let linear = Linear::new(vec![2.0, -1.0, 0.5, 3.0, 0.0, 1.0], vec![10.0, -3.0], vec![0.5, 1.0, -2.0]);
        check(&Discriminant::Linear(linear.expect("whole")), &ROWS);
        let logs = vec![LogTerm { column: 1, weights: vec![0.5, -1.0] }];
        let (a, b) = (vec![2.0, -1.0, 0.25, 3.0], vec![1.5, 0.0, -2.0, 0.5]);
        let general = Generalised::new(vec![10.0, 0.0], vec![1.0, -1.0], a, b, logs).expect("whole");
        check(&Discriminant::Generalised(general), &ROWS);
        let two = Quadratic::new(vec![0.0, 1.0, 2.0, -1.0], vec![1.0, 0.5, 2.0, 0.7, -0.2, 0.3], vec![0.1, -0.4]);
        check(&Discriminant::Quadratic(two.expect("whole")), &ROWS);
        let whitening = vec![1.0, 0.5, 2.0, 0.7, -0.2, 0.3, 2.0, 0.0, 1.0];
        let three = Quadratic::new(vec![0.0, 1.0, 2.0, -1.0, 5.0, 5.0], whitening, vec![0.1, -0.4, 0.0]);
        check(&Discriminant::Quadratic(three.expect("whole")), &ROWS);
        for kernel in [Kernel::Rbf { gamma: 0.3 }, Kernel::Polynomial { degree: 2, gamma: 1.0, coef0: 1.0 }] {
            let support = StoredRows::Dense { cols: 2, values: vec![0.0, 1.0, 2.0, 3.0, -1.0, 0.5] };
            let coefficients = vec![1.0, -1.0, 0.5, 0.0, -2.0, 0.25];
            let units = Units::new(vec![1.0, 0.0], vec![2.0, 1.0]);
            let g = KernelExpansion::new(kernel, units, vec![1, 4, 6], support, coefficients, vec![0.5, -0.5]);
            check(&Discriminant::Kernel(g.expect("whole")), &ROWS);
        }
    }

    #[test]
    fn a_far_centre_loses_no_digits() {
        let linear = Linear::new(vec![2.0], vec![1e9], vec![1.0]).expect("whole");
        let discriminant = Discriminant::Linear(linear);
        let additive = Additive::new(&discriminant, false, Vec::new()).expect("fits");
        let rows = DenseMatrix::new(vec![1e9 + 0.5], 1).expect("rows");
        let mut tile = Tile::default();
        let shares = additive.shares(rows.block(0..1, &mut tile).expect("a row"));
        assert_eq!((shares[0][0].contribution, additive.intercept()[0]), (1.0, 1.0));
    }

    #[test]
    fn constants_move_from_the_intercept_to_the_columns() {
        let linear = Linear::new(vec![2.0, 1.0], vec![0.0, 0.0], vec![1.0]).expect("whole");
        let discriminant = Discriminant::Linear(linear);
        let additive = Additive::new(&discriminant, false, vec![0.25, 0.5]).expect("fits");
        assert_eq!(additive.intercept(), [0.25]);
        assert!(Additive::new(&discriminant, false, vec![0.25]).is_err());
        assert_eq!(Additive::new(&discriminant, true, vec![0.25, 0.5]).expect("fits").intercept(), [1.0]);
    }
}

//! Rows removed from a triangular factor (downdating).

use super::dot::dot;
use super::qr::PivotedQr;
use super::{Eigen, Square, triangular_factor};

/// Beside the columns before it, a column shorter than this share of its length is a combination of them: about 5,000
/// units, as the rank tolerance of least squares.
const DEPENDENT: f64 = 1e-12;

/// The upper-triangular `R′` with `R′ᵀR′ = RᵀR − BᵀB` and no negative diagonal entry; `None` where no matrix has that Gram
/// matrix, because the rows of B are not among those that R is the factor of. Both are column-major, R square.
///
/// With `RᵀQ = Bᵀ` it is `Rᵀ(I − QQᵀ)R`: the eigenvalues of `I − QQᵀ` are the fractions of R that remain in each
/// eigendirection, and their square roots times the eigenvectors turn R into R′ (Stewart 1979, for many rows at once).
/// Neither Gram matrix is ever formed, so digits of R are lost only in directions of which little remains. R may be
/// singular: the equation is solved on independent columns, and the others are transformed along with them. Directions of
/// which nothing remains become exactly zero.
///
/// Columns of R no longer than `negligible` count as zero.
pub fn downdate(width: usize, r: &[f64], b: &[f64], negligible: &[f64]) -> Option<Vec<f64>> {
    let rows = b.len() / width.max(1);
    let mut r = r.to_vec();
    for (j, column) in r.chunks_exact_mut(width.max(1)).enumerate() {
        if length(column) <= negligible[j] {
            // The rows of B have their own rounding.
            if length(&b[j * rows..(j + 1) * rows]) > 4.0 * negligible[j] {
                return None;
            }
            column.fill(0.0);
        }
    }
    let qr = PivotedQr::factor(width, width, r, &vec![DEPENDENT; width], false);
    let rank = qr.rank();
    let (order, unit) = (qr.order(), qr.inverse_length());
    let pivots: Vec<f64> = (0..rank).map(|k| qr.turned(order[k])[k].abs()).collect();
    let q = solve_rows(&qr, b, rows);
    // Columns that are combinations of others in R must be the same combinations in B.
    let tolerance = 10.0 * DEPENDENT + (width * width) as f64 * f64::EPSILON;
    for j in order[rank..].iter().filter(|j| unit[**j] > 0.0) {
        let turned = &qr.turned(*j)[..rank];
        let off = |i: usize| b[j * rows + i] * unit[*j] - dot(&q[i * rank..(i + 1) * rank], turned);
        if length(&(0..rows).map(off).collect::<Vec<f64>>()) > tolerance {
            return None;
        }
    }
    let mut left = Square::from_lower(rank, |i, j| f64::from(u8::from(i == j)));
    q.chunks_exact(rank.max(1)).for_each(|row| left.add_outer(-1.0, row));
    let eigen = Eigen::of(&left)?;
    let mut turned = vec![0.0; rank * width];
    for (k, share) in eigen.values().iter().enumerate() {
        let vector = eigen.vector(k);
        // Rounding of R and B, over the pivots: pivoting bounds the rest of a row by its pivot, so errors do not grow.
        let rounding = 4.0
            * f64::EPSILON
            * width as f64
            * (1.0 + vector.iter().zip(&pivots).map(|(v, pivot)| v.abs() / pivot).sum::<f64>());
        if *share < -rounding {
            return None;
        }
        if *share > rounding {
            for j in (0..width).filter(|j| unit[*j] > 0.0) {
                turned[j * rank + k] = share.sqrt() * dot(vector, &qr.turned(j)[..rank]) / unit[j];
            }
        }
    }
    Some(triangular_factor(rank, width, &mut turned))
}

/// Q of `RᵀQ = Bᵀ` on the independent columns of unit length, row of B by row.
fn solve_rows(qr: &PivotedQr, b: &[f64], rows: usize) -> Vec<f64> {
    let rank = qr.rank();
    let mut q = vec![0.0; rows * rank];
    for (i, q) in q.chunks_exact_mut(rank.max(1)).enumerate() {
        for (k, column) in qr.order()[..rank].iter().enumerate() {
            let turned = qr.turned(*column);
            q[k] = (b[column * rows + i] * qr.inverse_length()[*column] - dot(&q[..k], &turned[..k])) / turned[k];
        }
    }
    q
}

fn length(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |l: f64, v| l.hypot(*v))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::gram_of_columns;

    /// Rows × columns of numbers in (−½, ½), column-major; the last column is the sum of the first two.
    fn matrix(rows: usize, cols: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let mut a: Vec<f64> = (0..rows * (cols - 1)).map(|_| next()).collect();
        (0..rows).for_each(|i| a.push(a[i] + a[rows + i]));
        a
    }

    fn part(a: &[f64], rows: usize, range: std::ops::Range<usize>) -> Vec<f64> {
        a.chunks_exact(rows).flat_map(|column| column[range.clone()].to_vec()).collect()
    }

    #[test]
    fn the_gram_is_that_of_the_rows_left() {
        for (rows, cols) in [(40, 3), (40, 9), (6, 9), (200, 33)] {
            for kept in [rows - 1, rows / 2, cols / 2 + 1, 1] {
                let a = matrix(rows, cols, (rows * cols + kept) as u64);
                let r = triangular_factor(rows, cols, &mut a.clone());
                let left = downdate(cols, &r, &part(&a, rows, kept..rows), &vec![0.0; cols]).expect("rows of it");
                let expected = gram_of_columns(kept, cols, &part(&a, rows, 0..kept));
                let found = gram_of_columns(cols, cols, &left);
                for j in 0..cols {
                    for i in 0..=j {
                        let off = (found.get(j, i) - expected.get(j, i)).abs();
                        assert!(off < 1e-13 * rows as f64, "{rows}×{cols}, {kept} kept: {off:e}");
                    }
                }
                // Removing all rows leaves exactly nothing.
                let nothing = downdate(cols, &r, &a, &vec![0.0; cols]).expect("rows of it");
                assert!(nothing.iter().all(|v| *v == 0.0), "{rows}×{cols}: {nothing:?}");
            }
        }
    }

    #[test]
    fn rows_that_are_not_there_are_refused() {
        let a = matrix(50, 4, 7);
        let r = triangular_factor(50, 4, &mut a.clone());
        let row = part(&a, 50, 3..4);
        let twice: Vec<f64> = row.iter().map(|v| 8.0 * v).collect();
        assert!(downdate(4, &r, &row, &[0.0; 4]).is_some());
        assert!(downdate(4, &r, &twice, &[0.0; 4]).is_none(), "too long");
        let mut other = row;
        other[3] += 0.1;
        assert!(downdate(4, &r, &other, &[0.0; 4]).is_none(), "not the sum of the first two");
    }
}

//! Cholesky in column order that names the columns it cannot use.
//!
//! The matrix is first scaled to unit diagonal. The j-th pivot is then `1 − R²` of column j on the columns before it;
//! where it is below a tolerance the column is a linear combination of those, is left out, and the combination is
//! reported. Earlier columns are kept, as R does.

use super::Square;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{MatMut, MatRef, Par, Side};

/// Coefficients of a relation below this share of the largest, in units of the columns' lengths, are rounding: the
/// pivot that shows the relation is a square, resolved to 1e-12.
const NAMED: f64 = 1e-6;

/// A column that is a linear combination of earlier ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Alias {
    /// The column left out.
    pub column: usize,
    /// `column ≈ Σ coefficient · earlier`; empty for a column that is zero itself.
    pub combination: Vec<(usize, f64)>,
    /// Whether that is proved in whole numbers; otherwise it is so up to rounding only.
    pub exact: bool,
}

/// `A ≈ S L Lᵀ S` on the kept columns, S the square roots of the diagonal.
#[derive(Debug, Clone, PartialEq)]
pub struct Factor {
    n: usize,
    kept: Vec<usize>,
    /// Reciprocal square roots of the kept diagonal.
    inverse_scale: Vec<f64>,
    /// Lower factor of the kept part, column-major.
    lower: Vec<f64>,
    aliased: Vec<Alias>,
    smallest_pivot: f64,
}

/// Factors a positive semidefinite matrix, leaving out columns whose pivot on the unit-diagonal scale is at most `tolerance`.
pub fn factor(a: &Square, tolerance: f64) -> Factor {
    let n = a.n();
    // A zero (or, by rounding, negative) diagonal is a column without content: it is left out before scaling.
    let (mut kept, empty): (Vec<usize>, Vec<usize>) =
        (0..n).partition(|j| a.get(*j, *j) > 0.0 && a.get(*j, *j).is_finite());
    let mut aliased: Vec<Alias> =
        empty.into_iter().map(|column| Alias { column, combination: Vec::new(), exact: false }).collect();
    let scale_of = |kept: &[usize]| -> Vec<f64> { kept.iter().map(|j| a.get(*j, *j).sqrt().recip()).collect() };
    let mut inverse_scale = scale_of(&kept);
    let (mut lower, mut smallest_pivot) = match full_rank(a, &kept, &inverse_scale) {
        Some(found) if found.1 > tolerance => found,
        _ => {
            let (independent, rows, dependent) = independent_columns(a, &kept, &inverse_scale, tolerance);
            aliased.extend(dependent);
            kept = independent;
            inverse_scale = scale_of(&kept);
            packed(&rows)
        }
    };
    aliased.sort_by_key(|alias| alias.column);
    if kept.is_empty() {
        (lower, smallest_pivot) = (Vec::new(), 1.0);
    }
    Factor { n, kept, inverse_scale, lower, aliased, smallest_pivot }
}

/// faer's blocked factorisation of the scaled matrix with its smallest pivot; `None` if it breaks down.
fn full_rank(a: &Square, kept: &[usize], inverse_scale: &[f64]) -> Option<(Vec<f64>, f64)> {
    let m = kept.len();
    let scaled = faer::Mat::from_fn(m, m, |i, j| {
        if i >= j { a.get(kept[i], kept[j]) * inverse_scale[i] * inverse_scale[j] } else { 0.0 }
    });
    let llt = scaled.llt(Side::Lower).ok()?;
    let l = llt.L();
    let mut lower = vec![0.0; m * m];
    let mut smallest = 1.0f64;
    for j in 0..m {
        smallest = smallest.min(l[(j, j)] * l[(j, j)]);
        for i in j..m {
            lower[j * m + i] = l[(i, j)];
        }
    }
    // A NaN pivot fails the comparison of the caller.
    Some((lower, smallest))
}

/// Rows of a lower factor in column-major order, with its smallest pivot.
fn packed(rows: &[Vec<f64>]) -> (Vec<f64>, f64) {
    let m = rows.len();
    let mut lower = vec![0.0; m * m];
    let mut smallest = 1.0f64;
    for (i, row) in rows.iter().enumerate() {
        smallest = smallest.min(row[i] * row[i]);
        row.iter().enumerate().for_each(|(j, v)| lower[j * m + i] = *v);
    }
    (lower, smallest)
}

/// The textbook loop, one column at a time, setting aside each column whose remaining pivot is too small.
///
/// Returns the columns chosen, their rows of L and the others. The factor is this one, not a second by other code: a
/// column that is barely above the tolerance here may be below it there.
fn independent_columns(
    a: &Square,
    kept: &[usize],
    inverse_scale: &[f64],
    tolerance: f64,
) -> (Vec<usize>, Vec<Vec<f64>>, Vec<Alias>) {
    let mut chosen: Vec<usize> = Vec::new(); // positions in `kept`
    let mut rows: Vec<Vec<f64>> = Vec::new(); // rows of L for the chosen columns
    let mut aliased = Vec::new();
    for position in 0..kept.len() {
        let entry = |other: usize| a.get(kept[position], kept[other]) * inverse_scale[position] * inverse_scale[other];
        let mut row: Vec<f64> = Vec::with_capacity(chosen.len() + 1);
        for (j, other) in chosen.iter().enumerate() {
            let partial: f64 = row.iter().zip(&rows[j]).map(|(x, y)| x * y).sum();
            row.push((entry(*other) - partial) / rows[j][j]);
        }
        let pivot = entry(position) - row.iter().map(|x| x * x).sum::<f64>();
        if pivot > tolerance {
            row.push(pivot.sqrt());
            rows.push(row);
            chosen.push(position);
        } else {
            let mut combination = back_substitute(&rows, row);
            let largest = combination.iter().fold(0.0f64, |m, c| m.max(c.abs()));
            let named = chosen.iter().zip(combination.iter_mut()).filter(|(_, c)| c.abs() > NAMED * largest);
            let unscaled = named.map(|(other, c)| (kept[*other], *c * inverse_scale[*other] / inverse_scale[position]));
            aliased.push(Alias { column: kept[position], combination: unscaled.collect(), exact: false });
        }
    }
    (chosen.into_iter().map(|position| kept[position]).collect(), rows, aliased)
}

/// Solves `Lᵀ c = row`.
fn back_substitute(rows: &[Vec<f64>], mut row: Vec<f64>) -> Vec<f64> {
    for j in (0..rows.len()).rev() {
        row[j] /= rows[j][j];
        for i in 0..j {
            row[i] -= rows[j][i] * row[j];
        }
    }
    row
}

impl Factor {
    /// The factor of `RᵀR` for an upper-triangular R, column-major, all of whose columns are kept; `None` where a diagonal
    /// entry is zero or not finite.
    pub fn of_root(n: usize, r: &[f64]) -> Option<Factor> {
        // By the largest entry, because squares of tiny numbers are zero.
        let length = |j: usize| {
            let column = &r[j * n..j * n + j + 1];
            let largest = column.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            largest * column.iter().map(|v| (v / largest) * (v / largest)).sum::<f64>().sqrt()
        };
        let lengths: Vec<f64> = (0..n).map(length).collect();
        if !(0..n).all(|j| r[j * n + j] != 0.0 && lengths[j].is_finite()) {
            return None;
        }
        let mut lower = vec![0.0; n * n];
        let mut smallest_pivot = 1.0f64;
        for i in 0..n {
            for j in 0..=i {
                lower[j * n + i] = r[i * n + j] / lengths[i];
            }
            smallest_pivot = smallest_pivot.min(lower[i * n + i] * lower[i * n + i]);
        }
        let inverse_scale = lengths.iter().map(|l| l.recip()).collect();
        Some(Factor { n, kept: (0..n).collect(), inverse_scale, lower, aliased: Vec::new(), smallest_pivot })
    }

    /// `L⁻¹ S⁻¹ b` of the kept columns: its square is `b·A⁻¹b`, by sums of squares alone.
    pub fn whiten(&self, b: &[f64]) -> Vec<f64> {
        let m = self.kept.len();
        let mut x: Vec<f64> = self.kept.iter().zip(&self.inverse_scale).map(|(j, s)| b[*j] * s).collect();
        let l = MatRef::from_column_major_slice(&self.lower, m, m);
        solve_lower_triangular_in_place(l, MatMut::from_column_major_slice_mut(&mut x, m, 1), Par::Seq);
        x
    }

    /// `S⁻¹ L⁻ᵀ h`, which with [`Factor::whiten`] makes `A⁻¹`.
    pub fn unwhiten(&self, h: &[f64]) -> Vec<f64> {
        let m = self.kept.len();
        let mut x = h.to_vec();
        let l = MatRef::from_column_major_slice(&self.lower, m, m);
        solve_upper_triangular_in_place(l.transpose(), MatMut::from_column_major_slice_mut(&mut x, m, 1), Par::Seq);
        let mut out = vec![0.0; self.n];
        for ((j, s), x) in self.kept.iter().zip(&self.inverse_scale).zip(&x) {
            out[*j] = x * s;
        }
        out
    }

    /// The largest length of a column of `L⁻¹`, the root of the largest variance inflation: relative errors of what the factor
    /// solves are some units of rounding times this.
    pub fn inflation_root(&self) -> f64 {
        let whitening = self.whitening();
        let mut squares = vec![0.0f64; self.n];
        for row in whitening.chunks_exact(self.n.max(1)) {
            squares.iter_mut().zip(row).for_each(|(sum, v)| *sum += v * v);
        }
        let scaled = self.kept.iter().zip(&self.inverse_scale).map(|(j, s)| squares[*j].sqrt() / s);
        scaled.fold(1.0, f64::max)
    }

    /// Columns left out, with the combinations they are.
    pub fn aliased(&self) -> &[Alias] {
        &self.aliased
    }

    /// Number of columns of the matrix.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of columns kept.
    pub fn rank(&self) -> usize {
        self.kept.len()
    }

    /// The columns kept.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// The smallest pivot on the unit-diagonal scale: near zero means nearly collinear.
    pub fn smallest_pivot(&self) -> f64 {
        self.smallest_pivot
    }

    /// `log det A` on the kept columns.
    pub fn log_determinant(&self) -> f64 {
        let m = self.kept.len();
        (0..m).map(|j| 2.0 * (self.lower[j * m + j].ln() - self.inverse_scale[j].ln())).sum()
    }

    /// `A⁻¹ b` on the kept columns, zero on the others.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        self.unwhiten(&self.whiten(b))
    }

    /// The lower triangular A with `A Σ Aᵀ = I` on the kept columns, row by row with all `n` columns; rows of columns
    /// that were left out are zero.
    pub fn whitening(&self) -> Vec<f64> {
        let m = self.kept.len();
        let mut inverse = vec![0.0; m * m];
        (0..m).for_each(|j| inverse[j * m + j] = 1.0);
        let l = MatRef::from_column_major_slice(&self.lower, m, m);
        solve_lower_triangular_in_place(l, MatMut::from_column_major_slice_mut(&mut inverse, m, m), Par::Seq);
        let mut out = vec![0.0; self.n * self.n];
        for (a, i) in self.kept.iter().enumerate() {
            for (b, j) in self.kept[..=a].iter().enumerate() {
                out[i * self.n + j] = inverse[b * m + a] * self.inverse_scale[b];
            }
        }
        out
    }

    /// `S L z` for z of [`Factor::rank`] numbers, the columns left out by their combinations: a row with covariance A if
    /// z is standard normal.
    pub fn multiply_lower(&self, z: &[f64], out: &mut [f64]) {
        let m = self.kept.len();
        out.fill(0.0);
        for (j, z) in z.iter().enumerate().filter(|(_, z)| **z != 0.0) {
            let column = &self.lower[j * m..(j + 1) * m];
            self.kept[j..].iter().zip(&column[j..]).for_each(|(i, l)| out[*i] += l * z);
        }
        self.kept.iter().zip(&self.inverse_scale).for_each(|(i, s)| out[*i] /= s);
        for alias in &self.aliased {
            out[alias.column] = alias.combination.iter().map(|(j, c)| c * out[*j]).sum();
        }
    }

    /// `‖x‖²_{A⁻¹}` of each row of a row-major tile of `n` columns; the rows are overwritten.
    pub fn inverse_norms(&self, rows: &mut [f64], out: &mut Vec<f64>) {
        let m = self.kept.len();
        let count = rows.len().checked_div(self.n).unwrap_or(0);
        let mut packed = Vec::with_capacity(count * m);
        for row in rows.chunks_exact(self.n.max(1)) {
            packed.extend(self.kept.iter().zip(&self.inverse_scale).map(|(j, s)| row[*j] * s));
        }
        let l = MatRef::from_column_major_slice(&self.lower, m, m);
        solve_lower_triangular_in_place(l, MatMut::from_column_major_slice_mut(&mut packed, m, count), Par::Seq);
        out.clear();
        out.extend(packed.chunks_exact(m.max(1)).map(|x| x.iter().map(|v| v * v).sum::<f64>()));
        out.resize(count, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_solves_what_its_square_does() {
        // Upper triangular, column-major: columns (2), (1, 3), (−1, 0.5, 0.25).
        let r = [2.0, 0.0, 0.0, 1.0, 3.0, 0.0, -1.0, 0.5, 0.25];
        let a = Square::from_lower(3, |i, j| (0..3).map(|k| r[i * 3 + k] * r[j * 3 + k]).sum());
        let f = Factor::of_root(3, &r).unwrap();
        let solved = f.solve(&a.multiply(&[1.0, -2.0, 3.0]));
        for (s, x) in solved.iter().zip([1.0, -2.0, 3.0]) {
            assert!((s - x).abs() < 1e-13, "{solved:?}");
        }
        // det R = 6/4. The first row of R⁻¹ is (1/2, −1/6, 7/3), and its column has the largest inflation, `A₁₁ (A⁻¹)₁₁`.
        assert!((f.log_determinant() - 2.0 * 1.5f64.ln()).abs() < 1e-14);
        let inflation = 4.0 * (1.0 / 4.0 + 1.0 / 36.0 + 49.0 / 9.0);
        assert!((f.inflation_root() - f64::sqrt(inflation)).abs() < 1e-13, "{}", f.inflation_root());
        assert!(Factor::of_root(2, &[1.0, 0.0, 1.0, 0.0]).is_none());
    }

    #[test]
    fn names_a_sum_and_a_zero_column() {
        // Columns a, b, a+2b, 0, c.
        let x = [
            [1.0, 2.0, 5.0, 0.0, 1.0],
            [3.0, -1.0, 1.0, 0.0, 2.0],
            [0.5, 4.0, 8.5, 0.0, -1.0],
            [2.0, 2.0, 6.0, 0.0, 7.0],
        ];
        let a = Square::from_lower(5, |i, j| x.iter().map(|r| r[i] * r[j]).sum());
        let f = factor(&a, 1e-12);
        assert_eq!(f.kept(), [0, 1, 4]);
        assert_eq!(f.aliased()[1], Alias { column: 3, combination: vec![], exact: false });
        let combination = &f.aliased()[0].combination;
        assert_eq!(combination.iter().map(|c| c.0).collect::<Vec<_>>(), [0, 1]);
        assert!((combination[0].1 - 1.0).abs() < 1e-9 && (combination[1].1 - 2.0).abs() < 1e-9);
    }

    #[test]
    fn the_lower_factor_gives_the_matrix_back() {
        // Column 2 is 3·(column 0) − (column 1), column 3 is empty.
        let base = [[4.0, 1.0], [1.0, 3.0]];
        let map = [[1.0, 0.0], [0.0, 1.0], [3.0, -1.0], [0.0, 0.0]];
        let a = Square::from_lower(4, |i, j| {
            (0..2).map(|p| (0..2).map(|q| map[i][p] * base[p][q] * map[j][q]).sum::<f64>()).sum()
        });
        let f = factor(&a, 1e-12);
        assert_eq!(f.rank(), 2);
        let mut columns = [[0.0; 4]; 2];
        f.multiply_lower(&[1.0, 0.0], &mut columns[0]);
        f.multiply_lower(&[0.0, 1.0], &mut columns[1]);
        for i in 0..4 {
            for j in 0..4 {
                let product = columns.iter().map(|c| c[i] * c[j]).sum::<f64>();
                assert!((product - a.get(i, j)).abs() < 1e-13, "({i}, {j})");
            }
        }
    }

    #[test]
    fn a_column_barely_independent_is_factored_not_replaced() {
        // Once the factor of such a matrix could be the identity, its pivot zero: a second factorisation, by faer, of the
        // columns chosen here had failed.
        let mut state = 1u64;
        let mut uniform = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let n = 8;
        for case in 0..3000 {
            let tiny = 10f64.powf(-7.6 + uniform());
            let x: Vec<Vec<f64>> = (0..12)
                .map(|_| {
                    let mut row: Vec<f64> = (0..n).map(|_| uniform()).collect();
                    row[n - 2] = row[..n - 3].iter().sum::<f64>() + tiny * row[n - 2];
                    row
                })
                .collect();
            let a = Square::from_lower(n, |i, j| x.iter().map(|r| r[i] * r[j]).sum());
            let f = factor(&a, 1e-15);
            assert!(f.smallest_pivot() > 1e-15, "case {case}: pivot {:e}", f.smallest_pivot());
            let mut kept = a.clone();
            kept.keep_only(f.kept());
            let b = kept.multiply(&[1.0; 8]);
            let residual = kept.multiply(&f.solve(&b)).iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(residual < 1e-12, "case {case}: residual {residual:e}");
        }
    }

    #[test]
    fn solves_badly_scaled_systems() {
        let scale = [1e-12, 1.0, 1e12];
        let base = [[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]];
        let a = Square::from_lower(3, |i, j| base[i][j] * scale[i] * scale[j]);
        let x = [1e12, -2.0, 3e-12];
        let f = factor(&a, 1e-14);
        let solved = f.solve(&a.multiply(&x));
        for (s, x) in solved.iter().zip(&x) {
            assert!((s / x - 1.0).abs() < 1e-12);
        }
        let norm: f64 = x.iter().zip(a.multiply(&x)).map(|(x, y)| x * y).sum();
        let mut rows = a.multiply(&x);
        let mut out = Vec::new();
        f.inverse_norms(&mut rows, &mut out);
        assert!((out[0] / norm - 1.0).abs() < 1e-12);
    }
}

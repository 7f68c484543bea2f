//! Householder QR: a triangular factor by panels, and a rank-revealing factor that names the columns it leaves out.
//!
//! `R` of `A = QR` has the condition of A; the Gram `AᵀA = RᵀR` has its square. Matrices are column-major.

use super::dot::fused_dot;
use super::{Alias, Square};
use crate::numeric::vectorised;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// Columns reflected one by one before the rest is updated by matrix products. Chosen (bench/constants.md): only the
/// time and last bits depend on it.
const PANEL: usize = 32;
/// Coefficients of a relation below this share of the largest are left out, as in `cholesky`.
const NAMED: f64 = 1e-6;

/// The upper-triangular `R` with `RᵀR = AᵀA` and no negative diagonal entry, `cols × cols`, of a matrix with any number
/// of rows, which is overwritten.
///
/// Panels by Householder reflections, the rest by their compact product `I − V T Vᵀ` (Schreiber and Van Loan 1989).
pub fn triangular_factor(rows: usize, cols: usize, a: &mut [f64]) -> Vec<f64> {
    let steps = rows.min(cols);
    let mut taus = [0.0; PANEL];
    let mut from = 0;
    while from < steps {
        let to = (from + PANEL).min(steps);
        reflect_panel(a, rows, from, to, &mut taus);
        if to < cols {
            update_rest(a, rows, (from, to, cols), &taus);
        }
        from = to;
    }
    let mut r = vec![0.0; cols * cols];
    for j in 0..cols {
        let filled = (j + 1).min(steps);
        r[j * cols..j * cols + filled].copy_from_slice(&a[j * rows..j * rows + filled]);
    }
    for i in (0..steps).filter(|i| r[i * cols + i] < 0.0).collect::<Vec<usize>>() {
        (i..cols).for_each(|j| r[j * cols + i] = -r[j * cols + i]);
    }
    r
}

/// Orthonormal columns Q and the upper-triangular R of `A = QR`, for a matrix with at least as many rows as columns, which is
/// overwritten; both column-major. Q is orthonormal to rounding whatever the rank of A.
///
/// ```
/// use linsep::linalg::orthonormal_factor;
/// let mut a = vec![3.0, 4.0, 0.0, 6.0, 8.0, 0.0];
/// let (q, r) = orthonormal_factor(3, 2, &mut a);
/// let entry = |i: usize, j: usize| q[i] * r[2 * j] + q[3 + i] * r[2 * j + 1];
/// assert!((entry(0, 1) - 6.0).abs() < 1e-14 && (entry(1, 0) - 4.0).abs() < 1e-14 && r[3].abs() < 1e-14);
/// assert!((q[3..].iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-14);
/// ```
pub fn orthonormal_factor(rows: usize, cols: usize, a: &mut [f64]) -> (Vec<f64>, Vec<f64>) {
    let mut taus = vec![0.0; cols];
    for from in (0..cols).step_by(PANEL) {
        let to = (from + PANEL).min(cols);
        reflect_panel(a, rows, from, to, &mut taus[from..to]);
        if to < cols {
            update_rest(a, rows, (from, to, cols), &taus[from..to]);
        }
    }
    let mut r = vec![0.0; cols * cols];
    let mut q = vec![0.0; rows * cols];
    for j in 0..cols {
        r[j * cols..j * cols + j + 1].copy_from_slice(&a[j * rows..j * rows + j + 1]);
        q[j * rows + j] = 1.0;
    }
    // The reflections of a panel leave unit vectors before it alone.
    for from in (0..cols).step_by(PANEL).rev() {
        let to = (from + PANEL).min(cols);
        let rest = MatMut::from_column_major_slice_mut(&mut q[from * rows..], rows, cols - from);
        ReflectedPanel::of(a, rows, (from, to), &taus[from..to]).apply(rest.subrows_mut(from, rows - from), false);
    }
    (q, r)
}

/// `C ← (I − V Tᵀ Vᵀ) C` on the columns after a panel.
fn update_rest(a: &mut [f64], rows: usize, (from, to, cols): (usize, usize, usize), taus: &[f64]) {
    let panel = ReflectedPanel::of(a, rows, (from, to), taus);
    let rest = MatMut::from_column_major_slice_mut(&mut a[to * rows..cols * rows], rows, cols - to);
    panel.apply(rest.subrows_mut(from, rows - from), true);
}

/// The product `I − V T Vᵀ` of the reflections of a panel.
struct ReflectedPanel {
    v: Vec<f64>,
    t: Vec<f64>,
    width: usize,
}

impl ReflectedPanel {
    fn of(a: &[f64], rows: usize, (from, to): (usize, usize), taus: &[f64]) -> ReflectedPanel {
        let (height, width) = (rows - from, to - from);
        let mut v = vec![0.0; height * width];
        for k in 0..width {
            v[k * height + k] = 1.0;
            v[k * height + k + 1..(k + 1) * height]
                .copy_from_slice(&a[(from + k) * rows + from + k + 1..(from + k + 1) * rows]);
        }
        let by_columns = MatRef::from_column_major_slice(&v, height, width);
        let mut products = vec![0.0; width * width];
        matmul(
            MatMut::from_column_major_slice_mut(&mut products, width, width),
            Accum::Replace,
            by_columns.transpose(),
            by_columns,
            1.0,
            Par::Seq,
        );
        // T by columns: t_k = −τ_k T (Vᵀ v_k) above the diagonal, τ_k on it.
        let mut t = vec![0.0; width * width];
        for k in 0..width {
            for i in 0..k {
                let sum: f64 = (i..k).map(|l| t[l * width + i] * products[k * width + l]).sum();
                t[k * width + i] = -taus[k] * sum;
            }
            t[k * width + k] = taus[k];
        }
        ReflectedPanel { v, t, width }
    }

    /// `C ← (I − V T Vᵀ) C`, or with T transposed, which undoes it.
    fn apply(&self, c: MatMut<'_, f64>, transposed: bool) {
        let (width, rest) = (self.width, c.ncols());
        let v = MatRef::from_column_major_slice(&self.v, c.nrows(), width);
        let t = MatRef::from_column_major_slice(&self.t, width, width);
        let t = if transposed { t.transpose() } else { t };
        let (mut inner, mut turned) = (vec![0.0; width * rest], vec![0.0; width * rest]);
        let mut inner = MatMut::from_column_major_slice_mut(&mut inner, width, rest);
        let mut turned = MatMut::from_column_major_slice_mut(&mut turned, width, rest);
        matmul(inner.as_mut(), Accum::Replace, v.transpose(), c.as_ref(), 1.0, Par::Seq);
        matmul(turned.as_mut(), Accum::Replace, t, inner.as_ref(), 1.0, Par::Seq);
        matmul(c, Accum::Add, v, turned.as_ref(), -1.0, Par::Seq);
    }
}

vectorised! {
    fn reflect_panel(a: &mut [f64], rows: usize, from: usize, to: usize, taus: &mut [f64]) {
        for j in from..to {
            let (head, tail) = a.split_at_mut((j + 1) * rows);
            let column = &mut head[j * rows + j..];
            taus[j - from] = make_reflector(column);
            for other in tail[..(to - j - 1) * rows].chunks_exact_mut(rows) {
                reflect(&column[1..], taus[j - from], &mut other[j..]);
            }
        }
    }

    /// One reflection that clears `column[at + 1..]`, applied to the other columns named.
    pub(super) fn reflect_others(a: &mut [f64], rows: usize, at: usize, column: usize, others: &[usize], v: &mut Vec<f64>) {
        v.clear();
        v.extend_from_slice(&a[column * rows + at..(column + 1) * rows]);
        let tau = make_reflector(v);
        a[column * rows + at] = v[0];
        a[column * rows + at + 1..(column + 1) * rows].fill(0.0);
        for other in others {
            reflect(&v[1..], tau, &mut a[other * rows + at..(other + 1) * rows]);
        }
    }

    /// The lengths of columns below row `at`.
    pub(super) fn lengths_below(a: &[f64], rows: usize, at: usize, columns: &[usize], out: &mut Vec<f64>) {
        out.clear();
        for c in columns {
            let x = &a[c * rows + at..(c + 1) * rows];
            out.push(fused_dot(x, x).sqrt());
        }
    }
}

/// Turns x into `(β, v)` with `(I − τ(1,v)(1,v)ᵀ) x = (β, 0)` and returns τ; 0 where there is nothing to clear.
#[inline(always)]
fn make_reflector(x: &mut [f64]) -> f64 {
    let (alpha, tail) = (x[0], &mut x[1..]);
    let below = fused_dot(tail, tail).sqrt();
    if below == 0.0 {
        return 0.0;
    }
    let beta = -alpha.signum() * alpha.hypot(below);
    let scale = (alpha - beta).recip();
    tail.iter_mut().for_each(|t| *t *= scale);
    x[0] = beta;
    (beta - alpha) / beta
}

#[inline(always)]
fn reflect(v: &[f64], tau: f64, x: &mut [f64]) {
    let (head, tail) = x.split_at_mut(1);
    let step = -tau * (head[0] + fused_dot(tail, v));
    head[0] += step;
    for (x, v) in tail.iter_mut().zip(v) {
        *x = step.mul_add(*v, *x);
    }
}

/// `A ≈ Q R` on a set of independent columns of A, with right-hand sides turned by Qᵀ.
///
/// Columns are scaled to length one; one whose length beside the columns before it is at most its tolerance is a
/// linear combination of them.
#[derive(Debug, Clone)]
pub struct PivotedQr {
    rows: usize,
    cols: usize,
    /// Factored columns in the order they were taken, then the others.
    order: Vec<usize>,
    rank: usize,
    /// Reciprocal lengths of the columns of A; 0 for a zero column.
    inverse_length: Vec<f64>,
    /// The turned columns and right-hand sides.
    values: Vec<f64>,
}

/// Factors `cols` columns of a matrix whose remaining columns are right-hand sides.
///
/// The rank comes from pivoting on the longest remaining column (Businger and Golub 1965). Where it is not full, the
/// columns are taken in their own order, as R does, so that `a, b, a+b` leaves out the last; should that find another
/// rank, the pivoted choice stands.
pub fn pivoted_qr(rows: usize, cols: usize, values: Vec<f64>, tolerance: &[f64]) -> PivotedQr {
    let longest = PivotedQr::factor(rows, cols, values.clone(), tolerance, false);
    if longest.rank == cols {
        return longest;
    }
    let in_order = PivotedQr::factor(rows, cols, values, tolerance, true);
    if in_order.rank == longest.rank { in_order } else { longest }
}

impl PivotedQr {
    pub(super) fn factor(
        rows: usize,
        cols: usize,
        mut values: Vec<f64>,
        tolerance: &[f64],
        in_order: bool,
    ) -> PivotedQr {
        let sides: Vec<usize> = (cols..values.len().checked_div(rows).unwrap_or(cols)).collect();
        let mut rest: Vec<usize> = (0..cols).collect();
        let (mut order, mut lengths, mut v) = (Vec::new(), Vec::new(), Vec::new());
        lengths_below(&values, rows, 0, &rest, &mut lengths);
        let inverse_length: Vec<f64> = lengths.iter().map(|l| if *l > 0.0 { l.recip() } else { 0.0 }).collect();
        for (column, scale) in values.chunks_exact_mut(rows.max(1)).zip(&inverse_length) {
            column.iter_mut().for_each(|x| *x *= scale);
        }
        while order.len() < rows.min(cols) {
            lengths_below(&values, rows, order.len(), &rest, &mut lengths);
            let open = (0..rest.len()).filter(|i| lengths[*i] > tolerance[rest[*i]]);
            let chosen = match in_order {
                true => { open }.next(),
                // Of equal lengths the first.
                false => open.reduce(|best, i| if lengths[i] > lengths[best] { i } else { best }),
            };
            let Some(chosen) = chosen else { break };
            let column = rest.remove(chosen);
            let others: Vec<usize> = rest.iter().chain(&sides).copied().collect();
            reflect_others(&mut values, rows, order.len(), column, &others, &mut v);
            order.push(column);
        }
        let rank = order.len();
        order.extend(rest);
        PivotedQr { rows, cols, order, rank, inverse_length, values }
    }

    /// Number of independent columns.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The independent columns as they were taken, then the others.
    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    /// Reciprocal lengths of the columns; 0 for a zero column.
    pub(super) fn inverse_length(&self) -> &[f64] {
        &self.inverse_length
    }

    /// `Qᵀ` of a column scaled to length one.
    pub(super) fn turned(&self, column: usize) -> &[f64] {
        &self.values[column * self.rows..(column + 1) * self.rows]
    }

    /// The independent columns, rising.
    pub fn kept(&self) -> Vec<usize> {
        let mut kept = self.order[..self.rank].to_vec();
        kept.sort_unstable();
        kept
    }

    /// The solution of `min ‖A x − b‖` for a right-hand side that is zero on the columns left out.
    pub fn solve(&self, side: usize) -> Vec<f64> {
        let x = self.back_substitute(self.cols + side);
        let mut out = vec![0.0; self.cols];
        for (x, column) in x.iter().zip(&self.order) {
            out[*column] = x * self.inverse_length[*column];
        }
        out
    }

    /// The columns left out with the combinations they are, at most `limit` of them.
    pub fn aliased(&self, limit: usize) -> Vec<Alias> {
        let mut left_out = self.order[self.rank..].to_vec();
        left_out.sort_unstable();
        let alias = |column: usize| {
            let x = self.back_substitute(column);
            let largest = x.iter().fold(0.0f64, |m, c| m.max(c.abs()));
            let named = x.iter().zip(&self.order).filter(|(c, _)| c.abs() > NAMED * largest);
            let in_units =
                |(c, other): (&f64, &usize)| (*other, c * self.inverse_length[*other] / self.inverse_length[column]);
            let mut combination: Vec<(usize, f64)> = match self.inverse_length[column] {
                0.0 => Vec::new(),
                _ => named.map(in_units).collect(),
            };
            combination.sort_by_key(|(other, _)| *other);
            Alias { column, combination, exact: false }
        };
        left_out.into_iter().take(limit).map(alias).collect()
    }

    fn back_substitute(&self, column: usize) -> Vec<f64> {
        let at = |i: usize, column: usize| self.values[column * self.rows + i];
        let mut x: Vec<f64> = (0..self.rank).map(|i| at(i, column)).collect();
        for k in (0..self.rank).rev() {
            x[k] /= at(k, self.order[k]);
            for i in 0..k {
                x[i] -= at(i, self.order[k]) * x[k];
            }
        }
        x
    }
}

/// The Gram `AᵀA` of a column-major matrix.
pub fn gram_of_columns(rows: usize, cols: usize, values: &[f64]) -> Square {
    let mut gram = Square::zeros(cols);
    if rows > 0 && cols > 0 {
        let a = MatRef::from_column_major_slice(&values[..rows * cols], rows, cols);
        let out = MatMut::from_column_major_slice_mut(gram.as_mut_slice(), cols, cols);
        matmul(out, Accum::Replace, a.transpose(), a, 1.0, Par::Seq);
    }
    gram
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn the_triangle_has_the_gram_of_the_matrix() {
        for (rows, cols) in [(1, 1), (5, 3), (3, 5), (100, 31), (100, 32), (130, 97), (40, 80), (300, 64)] {
            let a = numbers(rows * cols, (rows * cols) as u64);
            let expected = gram_of_columns(rows, cols, &a);
            let r = triangular_factor(rows, cols, &mut a.clone());
            let found = gram_of_columns(cols, cols, &r);
            for j in 0..cols {
                assert!(r[j * cols + j] >= 0.0);
                for i in 0..cols {
                    assert!(i <= j || r[j * cols + i] == 0.0);
                    assert!(
                        (found.get(i, j) - expected.get(i, j)).abs() < 1e-13 * rows.max(cols) as f64,
                        "{rows}×{cols}"
                    );
                }
            }
        }
    }

    #[test]
    fn solves_and_names_what_it_leaves_out() {
        // a, b, a − 2b, 0, c and the right-hand side a + b + 3c.
        let (rows, mut values) = (6, numbers(18, 3));
        let c = values.split_off(12);
        let combine = |f: &dyn Fn(usize) -> f64| (0..6).map(f).collect::<Vec<f64>>();
        let (a, b) = (values[..6].to_vec(), values[6..].to_vec());
        values.extend(combine(&|i| a[i] - 2.0 * b[i]));
        values.extend([0.0; 6]);
        values.extend(&c);
        values.extend(combine(&|i| a[i] + b[i] + 3.0 * c[i]));
        let qr = pivoted_qr(rows, 5, values, &[1e-12; 5]);
        assert_eq!((qr.rank(), qr.kept()), (3, vec![0, 1, 4]));
        let x = qr.solve(0);
        for (x, expected) in x.iter().zip([1.0, 1.0, 0.0, 0.0, 3.0]) {
            assert!((x - expected).abs() < 1e-13);
        }
        let aliased = qr.aliased(9);
        assert_eq!(aliased[1], Alias { column: 3, combination: vec![], exact: false });
        let combination = &aliased[0].combination;
        assert!((combination[0].1 - 1.0).abs() < 1e-13 && (combination[1].1 + 2.0).abs() < 1e-13);
    }

    #[test]
    fn pivoting_sees_a_dependence_that_no_single_column_shows() {
        // Kahan's matrix: in the given order no diagonal entry is small, yet the matrix is nearly singular.
        let n = 60;
        let (s, c) = (0.6f64.sin(), 0.6f64.cos());
        let mut values = vec![0.0; n * n];
        for j in 0..n {
            for i in 0..=j {
                values[j * n + i] = s.powi(i as i32) * if i == j { 1.0 } else { -c };
            }
        }
        let smallest = |in_order| {
            let qr = PivotedQr::factor(n, n, values.clone(), &vec![0.0; n], in_order);
            (0..qr.rank).map(|k| qr.values[qr.order[k] * n + k].abs()).fold(1.0, f64::min)
        };
        assert!(smallest(false) < 1e-6 * smallest(true));
    }
}

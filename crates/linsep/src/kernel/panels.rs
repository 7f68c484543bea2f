//! Products of packed rows: four on the left against a panel of sixteen singles or eight doubles on the right, whose sums
//! stay in registers.

use super::Kernel;
use crate::numeric::vectorised;

/// Rows in a strip of the left side: with two vectors of a panel, eight sums stay in the sixteen registers.
pub(super) const STRIP: usize = 4;
/// Rows in a panel of the right side: two vectors of eight singles (AVX2).
const LANES_F32: usize = 16;
/// Two vectors of four doubles.
const LANES_F64: usize = 8;

/// Single or double precision.
pub trait Real: Copy + Send + Sync + PartialEq + std::fmt::Debug + 'static {
    /// Rows in a panel of the right side.
    const LANES: usize;
    /// Zero.
    const ZERO: Self;

    /// The nearest number.
    fn narrow(value: f64) -> Self;

    /// The same number.
    fn widen(self) -> f64;

    /// `self·b + c` with one rounding.
    fn fused(self, b: Self, c: Self) -> Self;

    /// Puts a row into a packed place, one value every `stride`, and adds up its squares as products do.
    fn pack(row: &[f64], place: &mut [Self], stride: usize, square: &mut Self);

    /// `out[s·STRIP + r][p·LANES + l] = Σ_k strips[s][k][r]·panels[p][k][l]` for strips and panels of `width` columns; `out`
    /// may have fewer rows than the strips.
    fn multiply(strips: &[Self], panels: &[Self], width: usize, out: &mut [&mut [Self]]);

    /// Products to kernel values; see [`Kernel`].
    fn finish(kernel: &Kernel, values: &mut [Self], own: Self, squares: &[Self]);

    /// `sums += Σ factor·row` over four rows of the same length.
    fn add_rows(sums: &mut [f64], factors: [f64; 4], rows: [&[Self]; 4]);
}

#[inline(always)]
fn pack<T: Real>(row: &[f64], place: &mut [T], stride: usize, square: &mut T) {
    for (v, place) in row.iter().zip(place.iter_mut().step_by(stride)) {
        let v = T::narrow(*v);
        *place = v;
        *square = v.fused(v, *square);
    }
}

#[inline(always)]
fn add_rows<T: Real>(sums: &mut [f64], [a, b, c, d]: [f64; 4], rows: [&[T]; 4]) {
    let n = sums.len();
    let [p, q, r, s] = rows.map(|row| &row[..n]);
    for k in 0..n {
        let low = p[k].widen().mul_add(a, q[k].widen() * b);
        let high = r[k].widen().mul_add(c, s[k].widen() * d);
        sums[k] += low + high;
    }
}

#[inline(always)]
fn multiply<T: Real, const L: usize>(strips: &[T], panels: &[T], width: usize, out: &mut [&mut [T]]) {
    for (p, panel) in panels.chunks_exact(width * L).enumerate() {
        for (strip, rows) in strips.chunks_exact(width * STRIP).zip(out.chunks_mut(STRIP)) {
            let mut sums = [[T::ZERO; L]; STRIP];
            for (x, w) in panel.chunks_exact(L).zip(strip.chunks_exact(STRIP)) {
                for r in 0..STRIP {
                    for l in 0..L {
                        sums[r][l] = x[l].fused(w[r], sums[r][l]);
                    }
                }
            }
            for (row, sums) in rows.iter_mut().zip(&sums) {
                row[p * L..(p + 1) * L].copy_from_slice(sums);
            }
        }
    }
}

vectorised! {
    /// `out[s·STRIP + r][p·8 + l] = Σ_k ((panels[p][k][l] − strips[s][k][r])·inverse[k])²`: distances by differences of the
    /// unscaled rows, where cancellation is exact.
    pub(super) fn distances(strips: &[f64], panels: &[f64], inverse: &[f64], out: &mut [&mut [f64]]) {
        const L: usize = LANES_F64; // The panels are packed for products.
        let width = inverse.len();
        for (p, panel) in panels.chunks_exact(width * L).enumerate() {
            for (strip, rows) in strips.chunks_exact(width * STRIP).zip(out.chunks_mut(STRIP)) {
                let mut sums = [[0.0; L]; STRIP];
                for ((x, w), s) in panel.chunks_exact(L).zip(strip.chunks_exact(STRIP)).zip(inverse) {
                    for r in 0..STRIP {
                        for l in 0..L {
                            let difference = (x[l] - w[r]) * s;
                            sums[r][l] = difference.mul_add(difference, sums[r][l]);
                        }
                    }
                }
                for (row, sums) in rows.iter_mut().zip(&sums) {
                    row[p * L..(p + 1) * L].copy_from_slice(sums);
                }
            }
        }
    }

    fn pack_f32(row: &[f64], place: &mut [f32], stride: usize, square: &mut f32) {
        pack(row, place, stride, square);
    }

    fn pack_f64(row: &[f64], place: &mut [f64], stride: usize, square: &mut f64) {
        pack(row, place, stride, square);
    }

    /// The sum of squares, added up as products do.
    pub(super) fn add_squares(row: &[f64], square: &mut f64) {
        row.iter().for_each(|v| *square = v.mul_add(*v, *square));
    }

    fn multiply_f32(strips: &[f32], panels: &[f32], width: usize, out: &mut [&mut [f32]]) {
        multiply::<f32, LANES_F32>(strips, panels, width, out);
    }

    fn multiply_f64(strips: &[f64], panels: &[f64], width: usize, out: &mut [&mut [f64]]) {
        multiply::<f64, LANES_F64>(strips, panels, width, out);
    }

    fn add_rows_f32(sums: &mut [f64], factors: [f64; 4], rows: [&[f32]; 4]) {
        add_rows(sums, factors, rows);
    }

    fn add_rows_f64(sums: &mut [f64], factors: [f64; 4], rows: [&[f64]; 4]) {
        add_rows(sums, factors, rows);
    }
}

impl Real for f32 {
    const LANES: usize = LANES_F32; // Two vectors.
    const ZERO: f32 = 0.0; // As a single.

    #[inline(always)]
    fn narrow(value: f64) -> f32 {
        value as f32
    }

    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn fused(self, b: f32, c: f32) -> f32 {
        self.mul_add(b, c)
    }

    fn pack(row: &[f64], place: &mut [f32], stride: usize, square: &mut f32) {
        pack_f32(row, place, stride, square);
    }

    fn multiply(strips: &[f32], panels: &[f32], width: usize, out: &mut [&mut [f32]]) {
        multiply_f32(strips, panels, width, out);
    }

    fn finish(kernel: &Kernel, values: &mut [f32], own: f32, squares: &[f32]) {
        kernel.finish_f32(values, own, squares);
    }

    fn add_rows(sums: &mut [f64], factors: [f64; 4], rows: [&[f32]; 4]) {
        add_rows_f32(sums, factors, rows);
    }
}

impl Real for f64 {
    const LANES: usize = LANES_F64; // Two vectors.
    const ZERO: f64 = 0.0; // As a double.

    #[inline(always)]
    fn narrow(value: f64) -> f64 {
        value
    }

    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }

    #[inline(always)]
    fn fused(self, b: f64, c: f64) -> f64 {
        self.mul_add(b, c)
    }

    fn pack(row: &[f64], place: &mut [f64], stride: usize, square: &mut f64) {
        pack_f64(row, place, stride, square);
    }

    fn multiply(strips: &[f64], panels: &[f64], width: usize, out: &mut [&mut [f64]]) {
        multiply_f64(strips, panels, width, out);
    }

    fn finish(kernel: &Kernel, values: &mut [f64], own: f64, squares: &[f64]) {
        kernel.finish_f64(values, own, squares);
    }

    fn add_rows(sums: &mut [f64], factors: [f64; 4], rows: [&[f64]; 4]) {
        add_rows_f64(sums, factors, rows);
    }
}

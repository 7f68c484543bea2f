//! Rows through a few separable quadratics: `Σⱼ (xⱼ−cⱼ)(aⱼ + bⱼ(xⱼ−cⱼ))`.
//!
//! As in `narrow`, two rows and a few scores at a time: each pair of weights is loaded once for both rows, the sums stay
//! in registers, and a row is read once whatever the number of scores. The portable version is the definition.

/// `out[i, k] = Σⱼ zⱼ(a_kj + b_kj zⱼ)` with `z = xᵢ − c`, for row-major rows of `centre.len()` columns; `linear` holds the
/// a and `square` the b, score by score.
///
/// # Panics
/// If the shapes do not agree.
pub fn quadratic_rows(rows: &[f64], centre: &[f64], linear: &[f64], square: &[f64], out: &mut [f64]) {
    let d = centre.len();
    if d == 0 {
        return out.fill(0.0);
    }
    let k = linear.len() / d;
    assert!(linear.len() == k * d && square.len() == linear.len(), "whole weight vectors");
    assert!(rows.len() / d * k == out.len() && rows.len().is_multiple_of(d), "shapes agree");
    #[cfg(target_arch = "x86_64")]
    if crate::numeric::has_wide_units() {
        // SAFETY: the two features were found on this machine, and the shapes agree.
        return unsafe { avx2::quadratics(rows, centre, linear, square, out) };
    }
    for (x, out) in rows.chunks_exact(d).zip(out.chunks_exact_mut(k)) {
        for ((a, b), out) in linear.chunks_exact(d).zip(square.chunks_exact(d)).zip(out) {
            *out = (0..d).map(|j| (x[j] - centre[j]) * (a[j] + b[j] * (x[j] - centre[j]))).sum();
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    /// Scores at a time: two sums each, and the values and weights, fill the sixteen registers.
    const SCORES: usize = 5;

    /// # Safety
    /// The machine has AVX2 and FMA; the weights are whole vectors of as many values as the centre, as are the rows.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn quadratics(rows: &[f64], centre: &[f64], linear: &[f64], square: &[f64], out: &mut [f64]) {
        let d = centre.len();
        let k = linear.len() / d;
        let mut unused = vec![0.0; k];
        let mut rows = rows.chunks_exact(d);
        let mut outs = out.chunks_exact_mut(k);
        while let (Some(a), Some(za)) = (rows.next(), outs.next()) {
            let (b, zb) = match (rows.next(), outs.next()) {
                (Some(b), Some(zb)) => (b, zb),
                _ => (a, &mut unused[..]),
            };
            let weights = linear.chunks(SCORES * d).zip(square.chunks(SCORES * d));
            for (weights, (za, zb)) in weights.zip(za.chunks_mut(SCORES).zip(zb.chunks_mut(SCORES))) {
                // SAFETY: a, b and the centre have d values, the weights d for each entry of za.
                unsafe {
                    match za.len() {
                        5 => sums::<5>([a, b], centre, weights, za, zb),
                        4 => sums::<4>([a, b], centre, weights, za, zb),
                        3 => sums::<3>([a, b], centre, weights, za, zb),
                        2 => sums::<2>([a, b], centre, weights, za, zb),
                        _ => sums::<1>([a, b], centre, weights, za, zb),
                    }
                }
            }
        }
    }

    /// # Safety
    /// Both rows and the centre have the same length d, both weights K·d values, the outputs K.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn sums<const K: usize>(
        [a, b]: [&[f64]; 2],
        centre: &[f64],
        (linear, square): (&[f64], &[f64]),
        za: &mut [f64],
        zb: &mut [f64],
    ) {
        let d = centre.len();
        let (mut sa, mut sb) = ([_mm256_setzero_pd(); K], [_mm256_setzero_pd(); K]);
        let whole = d / 4 * 4;
        for j in (0..whole).step_by(4) {
            // SAFETY: j + 4 ≤ d, and the slices have the lengths promised above.
            unsafe {
                let c = _mm256_loadu_pd(centre.as_ptr().add(j));
                let xa = _mm256_sub_pd(_mm256_loadu_pd(a.as_ptr().add(j)), c);
                let xb = _mm256_sub_pd(_mm256_loadu_pd(b.as_ptr().add(j)), c);
                for k in 0..K {
                    let w = _mm256_loadu_pd(linear.as_ptr().add(k * d + j));
                    let q = _mm256_loadu_pd(square.as_ptr().add(k * d + j));
                    sa[k] = _mm256_fmadd_pd(xa, _mm256_fmadd_pd(xa, q, w), sa[k]);
                    sb[k] = _mm256_fmadd_pd(xb, _mm256_fmadd_pd(xb, q, w), sb[k]);
                }
            }
        }
        let total = |s: __m256d| {
            let halves = _mm_add_pd(_mm256_castpd256_pd128(s), _mm256_extractf128_pd(s, 1));
            _mm_cvtsd_f64(_mm_add_sd(halves, _mm_unpackhi_pd(halves, halves)))
        };
        for k in 0..K {
            (za[k], zb[k]) = (total(sa[k]), total(sb[k]));
            for j in whole..d {
                let (w, q) = (linear[k * d + j], square[k * d + j]);
                let (xa, xb) = (a[j] - centre[j], b[j] - centre[j]);
                za[k] = xa.mul_add(xa.mul_add(q, w), za[k]);
                zb[k] = xb.mul_add(xb.mul_add(q, w), zb[k]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_definition_for_all_small_shapes() {
        // Small whole numbers: every order of summing gives the same bits.
        let number = |i: usize| ((i * 7919) % 101) as f64 - 50.0;
        for d in 1..=11 {
            for k in 1..=12 {
                for n in [1, 2, 5] {
                    let rows: Vec<f64> = (0..n * d).map(number).collect();
                    let linear: Vec<f64> = (0..k * d).map(|i| number(i + 13)).collect();
                    let square: Vec<f64> = (0..k * d).map(|i| number(i + 47)).collect();
                    let centre: Vec<f64> = (0..d).map(|i| number(i + 29)).collect();
                    let mut out = vec![f64::NAN; n * k];
                    quadratic_rows(&rows, &centre, &linear, &square, &mut out);
                    for i in 0..n {
                        for s in 0..k {
                            let term = |j: usize| {
                                let z = rows[i * d + j] - centre[j];
                                linear[s * d + j] * z + square[s * d + j] * z * z
                            };
                            assert_eq!(out[i * k + s], (0..d).map(term).sum::<f64>(), "{d} {k} {n}");
                        }
                    }
                }
            }
        }
    }
}

//! Rows times a few weight vectors.
//!
//! Two rows and up to four scores at a time: each weight is loaded once for both rows and all sums stay in registers.
//! The compiler does not find this form by itself, so the AVX2 version is spelled out; the portable one is the
//! definition.

/// Up to so many scores a row this is used instead of a general matrix product, which would pack its operands first. It
/// made narrow products faster; where the two break even was not recorded.
pub(super) const NARROW: usize = 16;

/// `out[i] = W(xᵢ − c)` for row-major rows of `d ≥ 1` columns and at most [`NARROW`] scores; no centre is a zero one.
pub(super) fn multiply_narrow(rows: &[f64], centre: Option<&[f64]>, weights: &[f64], d: usize, out: &mut [f64]) {
    let k = weights.len() / d;
    assert!(k <= NARROW && weights.len() == k * d, "whole weight vectors");
    assert!(rows.len() / d * k == out.len() && centre.is_none_or(|c| c.len() == d), "shapes agree");
    #[cfg(target_arch = "x86_64")]
    if crate::numeric::has_wide_units() {
        // SAFETY: the two features were found on this machine, and the shapes agree.
        return unsafe { avx2::multiply(rows, centre, weights, d, out) };
    }
    for (x, z) in rows.chunks_exact(d).zip(out.chunks_exact_mut(k)) {
        for (w, z) in weights.chunks_exact(d).zip(z) {
            *z = (0..d).map(|j| (x[j] - centre.map_or(0.0, |c| c[j])) * w[j]).sum();
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::NARROW;
    use std::arch::x86_64::*;

    /// # Safety
    /// The machine has AVX2 and FMA; the centre has `d` values, the weights a whole number of vectors of `d`.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn multiply(rows: &[f64], centre: Option<&[f64]>, weights: &[f64], d: usize, out: &mut [f64]) {
        let k = weights.len() / d;
        let mut unused = [0.0; NARROW];
        let mut rows = rows.chunks_exact(d);
        let mut outs = out.chunks_exact_mut(k);
        while let (Some(a), Some(za)) = (rows.next(), outs.next()) {
            let (b, zb) = match (rows.next(), outs.next()) {
                (Some(b), Some(zb)) => (b, zb),
                _ => (a, &mut unused[..k]),
            };
            for ((w, za), zb) in weights.chunks(4 * d).zip(za.chunks_mut(4)).zip(zb.chunks_mut(4)) {
                // SAFETY: a, b and the centre have d values, w has d for each entry of za.
                unsafe {
                    match za.len() {
                        4 => dots::<4>([a, b], centre, w, za, zb),
                        3 => dots::<3>([a, b], centre, w, za, zb),
                        2 => dots::<2>([a, b], centre, w, za, zb),
                        _ => dots::<1>([a, b], centre, w, za, zb),
                    }
                }
            }
        }
    }

    /// # Safety
    /// Both rows and the centre have the same length d, `w` has K·d values.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn dots<const K: usize>(
        [a, b]: [&[f64]; 2],
        centre: Option<&[f64]>,
        w: &[f64],
        za: &mut [f64],
        zb: &mut [f64],
    ) {
        let d = a.len();
        let (mut sa, mut sb) = ([_mm256_setzero_pd(); K], [_mm256_setzero_pd(); K]);
        let whole = d / 4 * 4;
        for j in (0..whole).step_by(4) {
            // SAFETY: j + 4 ≤ d, and the slices have the lengths promised above.
            unsafe {
                let (mut xa, mut xb) = (_mm256_loadu_pd(a.as_ptr().add(j)), _mm256_loadu_pd(b.as_ptr().add(j)));
                if let Some(centre) = centre {
                    let c = _mm256_loadu_pd(centre.as_ptr().add(j));
                    (xa, xb) = (_mm256_sub_pd(xa, c), _mm256_sub_pd(xb, c));
                }
                for k in 0..K {
                    let w = _mm256_loadu_pd(w.as_ptr().add(k * d + j));
                    sa[k] = _mm256_fmadd_pd(xa, w, sa[k]);
                    sb[k] = _mm256_fmadd_pd(xb, w, sb[k]);
                }
            }
        }
        let total = |s: __m256d| {
            let halves = _mm_add_pd(_mm256_castpd256_pd128(s), _mm256_extractf128_pd(s, 1));
            _mm_cvtsd_f64(_mm_add_sd(halves, _mm_unpackhi_pd(halves, halves)))
        };
        let about = |x: &[f64], j: usize| centre.map_or(x[j], |c| x[j] - c[j]);
        for k in 0..K {
            (za[k], zb[k]) = (total(sa[k]), total(sb[k]));
            for j in whole..d {
                za[k] = about(a, j).mul_add(w[k * d + j], za[k]);
                zb[k] = about(b, j).mul_add(w[k * d + j], zb[k]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_definition_for_all_small_shapes() {
        let number = |i: usize| ((i * 7919) % 101) as f64 - 50.0;
        for d in 1..=11 {
            for k in 1..=NARROW {
                for n in [1, 2, 5] {
                    let rows: Vec<f64> = (0..n * d).map(number).collect();
                    let weights: Vec<f64> = (0..k * d).map(|i| number(i + 13)).collect();
                    let centre: Vec<f64> = (0..d).map(|i| number(i + 29)).collect();
                    for about in [None, Some(&centre[..])] {
                        let mut out = vec![f64::NAN; n * k];
                        multiply_narrow(&rows, about, &weights, d, &mut out);
                        for i in 0..n {
                            for c in 0..k {
                                let x = |j: usize| rows[i * d + j] - about.map_or(0.0, |c| c[j]);
                                let expected: f64 = (0..d).map(|j| x(j) * weights[c * d + j]).sum();
                                assert_eq!(out[i * k + c], expected, "whole numbers are exact");
                            }
                        }
                    }
                }
            }
        }
    }
}

//! Sums of a few rows of a table of narrow rows: what a product of sparse rows or columns with several scores is made of.

use crate::numeric::vectorised;

/// Scores summed at a time: four registers of four sums, each of which waits for its own last addition only.
const TOGETHER: usize = 16;
/// The same of what is left: one register.
const FEW: usize = 4;

vectorised! {
    /// `out += Σₑ vₑ·table[iₑ]` over rows of `out.len()` numbers; without values all of them are one.
    pub(crate) fn add_gathered(indices: &[u32], values: &[f64], table: &[f64], out: &mut [f64]) {
        let k = out.len();
        let mut at = 0;
        while at + TOGETHER <= k {
            lanes::<TOGETHER>(indices, values, table, k, at, out);
            at += TOGETHER;
        }
        while at + FEW <= k {
            lanes::<FEW>(indices, values, table, k, at, out);
            at += FEW;
        }
        while at < k {
            lanes::<1>(indices, values, table, k, at, out);
            at += 1;
        }
    }
}

#[inline(always)]
fn lanes<const N: usize>(indices: &[u32], values: &[f64], table: &[f64], k: usize, at: usize, out: &mut [f64]) {
    let mut sums = [0.0f64; N];
    sums.copy_from_slice(&out[at..at + N]);
    // Plain loops: a closure may be compiled on its own, and then without the units of its caller.
    if values.is_empty() {
        for i in indices {
            let row = &table[*i as usize * k + at..][..N];
            for c in 0..N {
                sums[c] += row[c];
            }
        }
    } else {
        for (i, v) in indices.iter().zip(values) {
            let row = &table[*i as usize * k + at..][..N];
            for c in 0..N {
                sums[c] = v.mul_add(row[c], sums[c]);
            }
        }
    }
    out[at..at + N].copy_from_slice(&sums);
}

#[cfg(test)]
mod tests {
    use super::add_gathered;

    #[test]
    fn it_is_the_sum_of_the_rows() {
        // Whole numbers: every order of a sum gives the same bits.
        for k in (1..=25).chain([52]) {
            let table: Vec<f64> = (0..9 * k).map(|i| ((i * 37) % 23) as f64 - 11.0).collect();
            let (indices, values) = ([8u32, 0, 3, 3], [2.0, -5.0, 0.0, 7.0]);
            for values in [&values[..], &[]] {
                let mut out: Vec<f64> = (0..k).map(|c| c as f64).collect();
                add_gathered(&indices, values, &table, &mut out);
                for (c, out) in out.iter().enumerate() {
                    let term = |e: usize| values.get(e).unwrap_or(&1.0) * table[indices[e] as usize * k + c];
                    assert_eq!(*out, c as f64 + (0..4).map(term).sum::<f64>(), "{k} {c}");
                }
            }
        }
    }
}

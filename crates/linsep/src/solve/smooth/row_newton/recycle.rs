//! What the conjugate gradients of one Newton step learnt, used as a preconditioner of the next (Morales and Nocedal 2000).
//!
//! The Newton matrix A changes little from step to step. Directions s and what A made of them, `y = As`, give an approximate
//! inverse: that of L-BFGS, here in the inner product `⟨u,v⟩ = u·Kv` of the weights `X̂ᵀu`, and in the compact form of Byrd,
//! Nocedal and Schnabel (1994). With `Rᵢⱼ = ⟨sᵢ,yⱼ⟩` for i ≤ j and D its diagonal,
//! `Hr = γr + S R⁻ᵀ((D + γY*Y)u − γY*r) − γYu`, `u = R⁻¹S*r`. Products of K with s and y are known from the iteration that
//! found them, so a preconditioned step costs no product more, and one look at the pairs to measure and one to add.

use crate::linalg::dot;
use rayon::prelude::*;

/// Pairs kept as a preconditioner. On 20news with C = 10 it takes 33 products instead of 46 (bench/README.md); other
/// numbers of pairs were not recorded.
const MOST: usize = 10;
/// Rows summed in one block: fixed, so that sums do not depend on the threads. Chosen (bench/constants.md).
const PART: usize = 4096;
/// One pair is kept for so many entries of a row: a pair is four numbers a row, so they take less memory than the data.
const ENTRIES_PER_PAIR: usize = 8;

struct RecycledPair {
    s: WithProduct,
    y: WithProduct,
}

/// A vector and its product with K.
#[derive(Clone)]
pub(super) struct WithProduct {
    pub(super) v: Vec<f64>,
    pub(super) kv: Vec<f64>,
}

/// The pairs of earlier steps, oldest first, and those of this one: a preconditioner must not change under way.
pub(super) struct Recycled {
    pairs: Vec<RecycledPair>,
    fresh: Vec<RecycledPair>,
    /// `⟨sᵢ,yⱼ⟩` and `⟨yᵢ,yⱼ⟩` of the pairs, row by row.
    sy: Vec<f64>,
    yy: Vec<f64>,
    most: usize,
}

impl Recycled {
    /// For rows with so many entries each.
    pub(super) fn new(entries_per_row: usize) -> Recycled {
        let most = (entries_per_row / ENTRIES_PER_PAIR).min(MOST);
        Recycled { pairs: Vec::new(), fresh: Vec::new(), sy: Vec::new(), yy: Vec::new(), most }
    }

    /// Keeps a pair for the next step.
    pub(super) fn add(&mut self, s: &WithProduct, y: WithProduct) {
        if self.fresh.len() < self.most {
            self.fresh.push(RecycledPair { s: s.clone(), y });
        }
    }

    /// A step is done.
    pub(super) fn renew(&mut self) {
        let surplus = (self.pairs.len() + self.fresh.len()).saturating_sub(self.most);
        self.pairs.drain(..surplus);
        self.pairs.append(&mut self.fresh);
        let pairs = &self.pairs;
        let m = pairs.len();
        let all = || (0..m * m).into_par_iter().map(|at| (at / m, &pairs[at % m].y.v));
        self.sy = all().map(|(i, y)| dot(&pairs[i].s.kv, y)).collect();
        self.yy = all().map(|(i, y)| dot(&pairs[i].y.kv, y)).collect();
        // Rounding can leave no curvature at all; what follows such a pair is not to be trusted either.
        if let Some(bad) = (0..m).find(|i| !(self.sy[i * m + i] > 0.0 && self.yy[i * m + i] > 0.0)) {
            self.pairs.truncate(bad);
            let keep = |all: &[f64]| all.chunks(m).take(bad).flat_map(|row| row[..bad].to_vec()).collect();
            (self.sy, self.yy) = (keep(&self.sy), keep(&self.yy));
        }
    }

    /// Goes on without what earlier steps found.
    pub(super) fn forget(&mut self) {
        self.pairs.clear();
        (self.sy, self.yy) = (Vec::new(), Vec::new());
    }

    /// About `A⁻¹ r`, up to a factor.
    pub(super) fn apply(&self, r: &WithProduct) -> WithProduct {
        let m = self.pairs.len();
        if m == 0 {
            return r.clone();
        }
        let parts = r.v.len().div_ceil(PART);
        let of_part = |part: usize| part * PART..((part + 1) * PART).min(r.v.len());
        let measured: Vec<Vec<f64>> = (0..parts)
            .into_par_iter()
            .map(|part| {
                let v = &r.v[of_part(part)];
                let ends = self.pairs.iter().flat_map(|p| [&p.s.kv, &p.y.kv]);
                ends.map(|k| dot(&k[of_part(part)], v)).collect()
            })
            .collect();
        let total = |at: usize| measured.iter().map(|part| part[at]).sum::<f64>();
        let (of_s, of_y): (Vec<f64>, Vec<f64>) = (0..m).map(|i| (total(2 * i), total(2 * i + 1))).unzip();
        let gamma = self.sy[m * m - 1] / self.yy[m * m - 1];
        // u = R⁻¹S*r, from the last.
        let mut u = of_s;
        for i in (0..m).rev() {
            let known: f64 = (i + 1..m).map(|j| self.sy[i * m + j] * u[j]).sum();
            u[i] = (u[i] - known) / self.sy[i * m + i];
        }
        let mut of_pairs: Vec<f64> = (0..m)
            .map(|i| {
                let yy: f64 = (0..m).map(|j| self.yy[i * m + j] * u[j]).sum();
                self.sy[i * m + i] * u[i] + gamma * (yy - of_y[i])
            })
            .collect();
        for i in 0..m {
            let known: f64 = (0..i).map(|j| self.sy[j * m + i] * of_pairs[j]).sum();
            of_pairs[i] = (of_pairs[i] - known) / self.sy[i * m + i];
        }
        let mut out = WithProduct { v: vec![0.0; r.v.len()], kv: vec![0.0; r.v.len()] };
        out.v.par_chunks_mut(PART).zip(out.kv.par_chunks_mut(PART)).enumerate().for_each(|(part, (v, kv))| {
            let here = of_part(part);
            v.iter_mut().zip(&r.v[here.clone()]).for_each(|(v, r)| *v = gamma * r);
            kv.iter_mut().zip(&r.kv[here.clone()]).for_each(|(v, r)| *v = gamma * r);
            for ((pair, a), u) in self.pairs.iter().zip(&of_pairs).zip(&u) {
                combine(v, (*a, &pair.s.v[here.clone()]), (-gamma * u, &pair.y.v[here.clone()]));
                combine(kv, (*a, &pair.s.kv[here.clone()]), (-gamma * u, &pair.y.kv[here.clone()]));
            }
        });
        out
    }
}

fn combine(out: &mut [f64], (a, x): (f64, &[f64]), (b, y): (f64, &[f64])) {
    out.iter_mut().zip(x).zip(y).for_each(|((o, x), y)| *o += a * x + b * y);
}

#[cfg(test)]
mod tests {
    use super::{Recycled, WithProduct};
    use crate::linalg::dot;

    /// The last pair satisfies `Hy = s`, whatever came before; in exact arithmetic all do where the directions are conjugate.
    #[test]
    fn what_was_learnt_is_known() {
        let n = 60;
        let entry = |i: usize, j: usize| if i == j { 2.0 + (i % 7) as f64 } else { 1.0 / (1.0 + (i + j) as f64) };
        let product = |v: &[f64]| -> Vec<f64> { (0..n).map(|i| (0..n).map(|j| entry(i, j) * v[j]).sum()).collect() };
        // K by `entry`, and A = DK + λ, which is symmetric in the inner product of K.
        let with_product = |v: Vec<f64>| WithProduct { kv: product(&v), v };
        let a = |v: &WithProduct| -> Vec<f64> {
            (0..n).map(|i| 0.3 * (1 + i % 5) as f64 * v.kv[i] + 0.7 * v.v[i]).collect()
        };
        let mut recycled = Recycled::new(1_000);
        let direction = |k: usize| with_product((0..n).map(|i| ((i * (k + 3) + k) as f64).sin()).collect());
        for k in 0..6 {
            let s = direction(k);
            recycled.add(&s, with_product(a(&s)));
        }
        recycled.renew();
        let last = direction(5);
        let found = recycled.apply(&with_product(a(&last)));
        let size = dot(&last.v, &last.v).sqrt();
        let off = found.v.iter().zip(&last.v).map(|(f, s)| (f - s).powi(2)).sum::<f64>().sqrt();
        assert!(off < 1e-10 * size, "{off} of {size}");
        // What it returns beside is K times what it returns.
        let again = product(&found.v);
        let off = again.iter().zip(&found.kv).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-9, "{off}");
        // It is symmetric: ⟨u, Hv⟩ = ⟨v, Hu⟩.
        let (u, v) = (direction(20), direction(31));
        let (one, other) = (dot(&u.kv, &recycled.apply(&v).v), dot(&v.kv, &recycled.apply(&u).v));
        assert!((one - other).abs() < 1e-9 * one.abs().max(other.abs()), "{one} {other}");
    }
}

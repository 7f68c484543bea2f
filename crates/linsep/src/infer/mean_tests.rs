//! Whether Gaussian classes have the same means, or the same covariance.

use crate::linalg::{Eigen, Factor, Square, factor};
use crate::numeric::{chi_square_ln_tail, f_ln_tail};
use crate::stats::ClassMoments;

/// What a test of means is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeanStatistic {
    /// Hotelling's T² of two classes with one covariance.
    Hotelling,
    /// The same of two classes with their own, with the degrees of freedom of Krishnamoorthy and Yu (2004).
    HotellingUnequal,
    /// Wilks' Λ, with Rao's F (1951).
    Wilks,
    /// Pillai's trace.
    Pillai,
    /// The mean square between classes over that within, over all columns: for covariances σ²I.
    Spherical,
}

impl MeanStatistic {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            MeanStatistic::Hotelling => "Hotelling T²",
            MeanStatistic::HotellingUnequal => "Hotelling T², own covariances",
            MeanStatistic::Wilks => "Wilks Λ",
            MeanStatistic::Pillai => "Pillai trace",
            MeanStatistic::Spherical => "F of all columns",
        }
    }

    /// Its name for programs.
    pub fn key(self) -> &'static str {
        match self {
            MeanStatistic::Hotelling => "hotelling",
            MeanStatistic::HotellingUnequal => "hotelling_unequal",
            MeanStatistic::Wilks => "wilks",
            MeanStatistic::Pillai => "pillai",
            MeanStatistic::Spherical => "spherical",
        }
    }
}

/// A test that all classes have the same means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanTest {
    /// Which.
    pub statistic: MeanStatistic,
    /// Its value.
    pub value: f64,
    /// The F that is compared.
    pub f: f64,
    /// Its degrees of freedom.
    pub df: (f64, f64),
    /// Logarithm of the p value.
    pub ln_p: f64,
    /// Whether F has exactly that distribution for Gaussian classes.
    pub exact: bool,
}

impl MeanTest {
    fn new(statistic: MeanStatistic, value: f64, f: f64, df: (f64, f64), exact: bool) -> Option<MeanTest> {
        let defined = df.1 > 0.0 && f.is_finite();
        defined.then(|| MeanTest { statistic, value, f, df, ln_p: f_ln_tail(f, df.0, df.1), exact })
    }
}

/// Box's M: whether all classes have the same covariance (Box 1949). It rejects also because of tails that are not Gaussian.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxTest {
    /// `(n − K) log|S| − Σ (n_k − 1) log|S_k|`.
    pub m: f64,
    /// `(1 − c) M`, compared with χ².
    pub chi_squared: f64,
    /// Its degrees of freedom, `d(d + 1)(K − 1)/2`.
    pub df: f64,
    /// Logarithm of its p value.
    pub ln_p: f64,
    /// Box's F, which is nearer for few rows.
    pub f: f64,
    /// Its degrees of freedom.
    pub f_df: (f64, f64),
    /// Logarithm of its p value.
    pub f_ln_p: f64,
}

fn difference(moments: &ClassMoments) -> Vec<f64> {
    let base = moments.mean(0);
    let beyond = |k: usize, j: usize| moments.mean_beyond(k, j, base[j]);
    (0..base.len()).map(|j| beyond(1, j) - beyond(0, j)).collect()
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `T² = n₁n₂/(n₁+n₂) ΔᵀS⁻¹Δ`; `T² (n−d−1)/((n−2)d)` is F of d and n−d−1, exactly. `pooled` is the factor of W.
pub(super) fn hotelling(moments: &ClassMoments, pooled: &Factor) -> Option<MeanTest> {
    let delta = difference(moments);
    let (a, b, d) = (moments.weight(0), moments.weight(1), delta.len() as f64);
    let n = a + b;
    let value = a * b / n * (n - 2.0) * product(&delta, &pooled.solve(&delta));
    MeanTest::new(MeanStatistic::Hotelling, value, value * (n - d - 1.0) / ((n - 2.0) * d), (d, n - d - 1.0), true)
}

/// `T² = Δᵀ(S₁/n₁ + S₂/n₂)⁻¹Δ`, compared with `νd/(ν−d+1) F` where
/// `ν = (d + d²) / Σ (tr (A_k²) + (tr A_k)²)/(n_k − 1)` and `A_k = (S_k/n_k)(S₁/n₁ + S₂/n₂)⁻¹`
/// (Krishnamoorthy and Yu, Statistics and Probability Letters 66, 2004): invariant, and near its level for few rows.
pub(super) fn hotelling_unequal(moments: &ClassMoments) -> Option<MeanTest> {
    let delta = difference(moments);
    let size = delta.len();
    let d = size as f64;
    let part = |k: usize| {
        let n = moments.weight(k);
        let own = moments.scatter_of(k);
        Square::from_lower(size, |i, j| own.get(i, j) / ((n - 1.0) * n))
    };
    let parts = [part(0), part(1)];
    let mut sum = parts[0].clone();
    sum.add(&parts[1]);
    // Each has an inverse, so the sum has one.
    let whole = factor(&sum, 0.0);
    if whole.rank() < size {
        return None;
    }
    let value = product(&delta, &whole.solve(&delta));
    let mut weight = 0.0;
    for (k, part) in parts.iter().enumerate() {
        // Columns of (sum)⁻¹ S_k/n_k: the same traces as the other order.
        let columns: Vec<Vec<f64>> = (0..size)
            .map(|j| whole.solve(&(0..size).map(|i| part.get(i.max(j), i.min(j))).collect::<Vec<f64>>()))
            .collect();
        let trace: f64 = (0..size).map(|j| columns[j][j]).sum();
        let squares: f64 = (0..size).map(|i| (0..size).map(|j| columns[j][i] * columns[i][j]).sum::<f64>()).sum();
        weight += (squares + trace * trace) / (moments.weight(k) - 1.0);
    }
    let nu = (d + d * d) / weight;
    let f = value * (nu - d + 1.0) / (nu * d);
    MeanTest::new(MeanStatistic::HotellingUnequal, value, f, (d, nu - d + 1.0), false)
}

/// Wilks' Λ with Rao's F, and Pillai's trace, of p dimensions, q degrees of freedom between and `freedom` within; from the
/// eigenvalues of the scatter between in the metric of that within.
pub(super) fn of_roots(roots: &[f64], (p, q): (f64, f64), freedom: f64) -> [Option<MeanTest>; 2] {
    let ln_wilks = -roots.iter().map(|l| l.ln_1p()).sum::<f64>();
    // t = 1 where the formula is 0/0, and F is exact with one or two on either side.
    let t = if p * p + q * q > 5.0 { ((p * p * q * q - 4.0) / (p * p + q * q - 5.0)).sqrt() } else { 1.0 };
    let df2 = (freedom + q - (p + q + 1.0) / 2.0) * t - (p * q - 2.0) / 2.0;
    // (1 − Λ^{1/t})/Λ^{1/t} without cancellation.
    let f = (-ln_wilks / t).exp_m1() * df2 / (p * q);
    let wilks = MeanTest::new(MeanStatistic::Wilks, ln_wilks.exp(), f, (p * q, df2), p.min(q) <= 2.0);
    let s = p.min(q);
    let trace: f64 = roots.iter().map(|l| l / (1.0 + l)).sum();
    let (m, n) = (((p - q).abs() - 1.0) / 2.0, (freedom - p - 1.0) / 2.0);
    let (one, other) = (2.0 * m + s + 1.0, 2.0 * n + s + 1.0);
    let pillai =
        MeanTest::new(MeanStatistic::Pillai, trace, other / one * trace / (s - trace), (s * one, s * other), s == 1.0);
    [wilks, pillai]
}

/// Of all classes with one covariance; `pooled` is the factor of W. The roots are those of the small matrix
/// `√n_k √n_l (x̄_k − x̄)ᵀ W⁻¹ (x̄_l − x̄)`.
pub(super) fn wilks_and_pillai(moments: &ClassMoments, pooled: &Factor) -> Vec<MeanTest> {
    let classes = moments.weights().len();
    let mut centred = moments.centred_means();
    for (k, class) in centred.iter_mut().enumerate() {
        class.iter_mut().for_each(|c| *c *= moments.weight(k).sqrt());
    }
    let cols = moments.mean(0).len();
    let solved: Vec<Vec<f64>> = centred.iter().map(|c| pooled.solve(c)).collect();
    let small = Square::from_lower(classes, |k, l| product(&centred[k], &solved[l]));
    let Some(eigen) = Eigen::of(&small) else { return Vec::new() };
    let (p, q) = (cols as f64, classes as f64 - 1.0);
    let count = cols.min(classes - 1);
    let roots: Vec<f64> = eigen.values().iter().rev().take(count).map(|l| l.max(0.0)).collect();
    let freedom = moments.weights().iter().sum::<f64>() - classes as f64;
    of_roots(&roots, (p, q), freedom).into_iter().flatten().collect()
}

/// `[Σ n_k ‖x̄_k − x̄‖² / (d(K−1))] / [tr W / (d(n−K))]` is F of d(K−1) and d(n−K), exactly, for covariances σ²I.
pub(super) fn spherical_test(moments: &ClassMoments, within: &Square) -> MeanTest {
    let classes = moments.weights().len();
    let (d, k) = (moments.mean(0).len() as f64, classes as f64);
    let n: f64 = moments.weights().iter().sum();
    let class = |(c, mean): (usize, &Vec<f64>)| moments.weight(c) * product(mean, mean);
    let between: f64 = moments.centred_means().iter().enumerate().map(class).sum();
    let df = (d * (k - 1.0), d * (n - k));
    let f = between / df.0 / (within.diagonal().iter().sum::<f64>() / df.1);
    let ln_p = f_ln_tail(f, df.0, df.1);
    MeanTest { statistic: MeanStatistic::Spherical, value: f, f, df, ln_p, exact: true }
}

/// Box's M with both of his approximations; every class has more rows than columns.
pub(super) fn box_test(moments: &ClassMoments, pooled: &Factor, own: &[Factor]) -> BoxTest {
    let d = pooled.n() as f64;
    let nu: Vec<f64> = moments.weights().iter().map(|n| n - 1.0).collect();
    let k = nu.len() as f64;
    let total: f64 = nu.iter().sum();
    // log|S| of a scatter over its degrees of freedom.
    let log_det = |factor: &Factor, nu: f64| factor.log_determinant() - d * nu.ln();
    let m =
        total * log_det(pooled, total) - nu.iter().zip(own).map(|(nu, factor)| nu * log_det(factor, *nu)).sum::<f64>();
    let inverse: f64 = nu.iter().map(|v| 1.0 / v).sum::<f64>() - 1.0 / total;
    let squares: f64 = nu.iter().map(|v| 1.0 / (v * v)).sum::<f64>() - 1.0 / (total * total);
    let c = inverse * (2.0 * d * d + 3.0 * d - 1.0) / (6.0 * (d + 1.0) * (k - 1.0));
    let c2 = squares * (d - 1.0) * (d + 2.0) / (6.0 * (k - 1.0));
    let df = d * (d + 1.0) * (k - 1.0) / 2.0;
    let df2 = (df + 2.0) / (c2 - c * c).abs();
    let f = if c2 > c * c {
        m * (1.0 - c - df / df2) / df
    } else {
        let b = df2 / (1.0 - c + 2.0 / df2);
        df2 * m / (df * (b - m))
    };
    let chi_squared = (1.0 - c) * m;
    BoxTest {
        m,
        chi_squared,
        df,
        ln_p: chi_square_ln_tail(chi_squared, df),
        f,
        f_df: (df, df2),
        f_ln_p: f_ln_tail(f, df, df2),
    }
}

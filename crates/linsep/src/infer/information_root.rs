//! The triangular root of the information, by the rows themselves.
//!
//! The information is a sum of squares: of the row `√s x` times a root of `diag(p) − p pᵀ` each. Where columns nearly coincide
//! where it matters, which heavy tails and certain rows make of columns that look unlike, its entries have lost what tells
//! them apart, and the root still has it.

use super::likelihood::LogLikelihood;
use crate::design::Pass;
use crate::error::Result;
use crate::linalg::RowRoot;
use crate::watch::Watch;

/// The upper-triangular R with `RᵀR` the information at a point, column-major.
pub(super) fn information_root(likelihood: &LogLikelihood<'_>, point: &[f64], watch: &Watch) -> Result<Vec<f64>> {
    let (width, scores, size) = (likelihood.width(), likelihood.scores(), likelihood.size());
    let found =
        Pass::new(likelihood.training().design, likelihood.units()).partials_of(RowRoot::doubles(size)).reduce(
            watch,
            (0, &mut []),
            || (RowRoot::new(size), Vec::new()),
            |(root, tile), range, rows, _| {
                likelihood.fill(rows, range.len(), tile);
                let mut p = vec![0.0; scores + 1];
                for (i, x) in tile.chunks_exact(width.max(1)).enumerate() {
                    let row = range.start + i;
                    likelihood.row_probabilities(&likelihood.row_scores(point, row, x), row, &mut p);
                    for (k, factors) in curvature_root(&p).into_iter().enumerate() {
                        let scale = likelihood.weight(row).sqrt();
                        if factors[0] == 0.0 {
                            continue;
                        }
                        let own = factors.iter().flat_map(|f| x.iter().map(move |x| scale * f * x));
                        root.add(std::iter::repeat_n(0.0, k * width).chain(own));
                    }
                }
                Ok(())
            },
            |(root, _), (other, _)| root.merge(other),
        )?;
    Ok(found.0.finish())
}

/// The upper-triangular C with `CᵀC = diag(p) − p pᵀ` of the classes but the first, row by row from the diagonal on: with
/// `t_k` what the first class and those after k have together, row k is `√(p_k t_k/t_{k−1})` times
/// `e_k − Σ_{l>k} (p_l/t_k) e_l`. No difference is taken.
fn curvature_root(p: &[f64]) -> Vec<Vec<f64>> {
    let classes = p.len();
    // What is left after class k; at first all.
    let mut left = vec![p[0]; classes];
    for k in (1..classes).rev() {
        left[k - 1] = left[k] + p[k];
    }
    let row = |k: usize| {
        let own = (p[k] / left[k - 1]).sqrt() * left[k].sqrt();
        let rest = p[k + 1..].iter().map(|p| if *p == 0.0 { 0.0 } else { -own * (p / left[k]) });
        std::iter::once(own).chain(rest).collect::<Vec<f64>>()
    };
    (1..classes).map(|k| if p[k] == 0.0 || left[k] == 0.0 { vec![0.0; classes - k] } else { row(k) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_the_curvature_squares_to_it() {
        for p in [vec![0.2, 0.3, 0.4, 0.1], vec![1e-30, 1.0, 2e-30, 3e-40], vec![0.0, 0.25, 0.75], vec![0.7, 0.3]] {
            let root = curvature_root(&p);
            let entry = |k: usize, l: usize| if l < k { 0.0 } else { root[k][l - k] };
            for i in 0..root.len() {
                for j in 0..root.len() {
                    let found: f64 = (0..root.len()).map(|k| entry(k, i) * entry(k, j)).sum();
                    let variance = |i: usize| {
                        let others = p.iter().enumerate().filter(|(at, _)| *at != i + 1).map(|(_, p)| p);
                        p[i + 1] * others.sum::<f64>()
                    };
                    let expected = if i == j { variance(i) } else { -p[i + 1] * p[j + 1] };
                    let size = (variance(i) * variance(j)).sqrt();
                    assert!((found - expected).abs() <= 1e-14 * size, "{p:?}: {found} for {expected}");
                }
            }
        }
    }
}

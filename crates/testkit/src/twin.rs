//! Slow textbook versions: plain loops over rows, one formula a function, nothing shared with the library but data.

// Textbook loops keep their indices: they are to be compared with the formulas, not with idiom.
#![allow(clippy::needless_range_loop)]

use crate::data::Data;

/// Solves `A x = b` by Gaussian elimination with partial pivoting; `None` where a pivot vanishes.
pub fn solve(a: &[Vec<f64>], b: &[f64]) -> Option<Vec<f64>> {
    let n = b.len();
    let mut m: Vec<Vec<f64>> = a.iter().zip(b).map(|(row, b)| [&row[..], &[*b]].concat()).collect();
    for j in 0..n {
        let pivot = (j..n).max_by(|p, q| m[*p][j].abs().total_cmp(&m[*q][j].abs()))?;
        m.swap(j, pivot);
        if m[j][j] == 0.0 {
            return None;
        }
        for i in j + 1..n {
            let factor = m[i][j] / m[j][j];
            for c in j..=n {
                m[i][c] -= factor * m[j][c];
            }
        }
    }
    for j in (0..n).rev() {
        m[j][n] = (m[j][n] - (j + 1..n).map(|c| m[j][c] * m[c][n]).sum::<f64>()) / m[j][j];
    }
    Some(m.iter().map(|row| row[n]).collect())
}

/// Means by class, total weights by class, and the pooled within-class covariance with the given divisor.
pub struct Gaussians {
    /// `means[class][column]`.
    pub means: Vec<Vec<f64>>,
    /// Total weight of each class.
    pub totals: Vec<f64>,
    /// `covariance[i][j]`.
    pub covariance: Vec<Vec<f64>>,
}

impl Gaussians {
    /// The estimates; `divisor` maps `(Σs, K)` to the divisor of the covariance.
    pub fn of(data: &Data, divisor: impl Fn(f64, usize) -> f64) -> Gaussians {
        let (k, d) = (data.labels.n_classes(), data.cols);
        let (mut means, mut totals) = (vec![vec![0.0; d]; k], vec![0.0; k]);
        for i in 0..data.rows() {
            totals[data.class(i)] += data.weight(i);
            for j in 0..d {
                means[data.class(i)][j] += data.weight(i) * data.row(i)[j];
            }
        }
        for (mean, total) in means.iter_mut().zip(&totals) {
            mean.iter_mut().for_each(|m| *m /= total);
        }
        let by = divisor(totals.iter().sum(), k);
        let mut covariance = vec![vec![0.0; d]; d];
        for i in 0..data.rows() {
            let mean = &means[data.class(i)];
            for a in 0..d {
                for b in 0..d {
                    covariance[a][b] += data.weight(i) * (data.row(i)[a] - mean[a]) * (data.row(i)[b] - mean[b]) / by;
                }
            }
        }
        Gaussians { means, totals, covariance }
    }

    /// `log π_k − ½ (x−μ_k)ᵀ Σ⁻¹ (x−μ_k)` for every class: the logarithm of π_k N(x; μ_k, Σ) less what all share.
    pub fn log_joint(&self, x: &[f64], priors: Option<&[f64]>) -> Vec<f64> {
        let total: f64 = self.totals.iter().sum();
        (0..self.means.len())
            .map(|k| {
                let delta: Vec<f64> = x.iter().zip(&self.means[k]).map(|(x, m)| x - m).collect();
                let solved = solve(&self.covariance, &delta).expect("a regular covariance");
                let squared: f64 = delta.iter().zip(&solved).map(|(a, b)| a * b).sum();
                priors.map_or(self.totals[k] / total, |p| p[k]).ln() - 0.5 * squared
            })
            .collect()
    }
}

/// Which form of the logistic model a twin has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One vector for the second of two classes, or for every class but the first.
    Reference,
    /// One vector for every class.
    Symmetric,
}

/// A ridge-penalised logistic or softmax objective on rows as they are, with a free intercept last in every vector.
pub struct Twin<'a> {
    /// The rows, with weights and (one per vector) offsets.
    pub data: &'a Data,
    /// The form.
    pub form: Form,
    /// λ; 0 for none.
    pub lambda: f64,
}

impl Twin<'_> {
    fn vectors(&self) -> usize {
        self.data.labels.n_classes() - usize::from(self.form == Form::Reference)
    }

    /// Number of coefficients: per vector, the weights and then the intercept.
    pub fn unknowns(&self) -> usize {
        self.vectors() * (self.data.cols + 1)
    }

    /// Class probabilities of row i by the naive formula.
    fn probabilities(&self, beta: &[f64], i: usize) -> Vec<f64> {
        let (d, vectors) = (self.data.cols, self.vectors());
        let mut z = vec![0.0; self.data.labels.n_classes() - vectors];
        for v in 0..vectors {
            let w = &beta[v * (d + 1)..(v + 1) * (d + 1)];
            let offset = self.data.offsets.as_ref().map_or(0.0, |(k, o)| o[i * k + v]);
            z.push(w[d] + offset + self.data.row(i).iter().zip(w).map(|(x, w)| x * w).sum::<f64>());
        }
        let total: f64 = z.iter().map(|z| z.exp()).sum();
        z.iter().map(|z| z.exp() / total).collect()
    }

    /// F by its definition.
    pub fn objective(&self, beta: &[f64]) -> f64 {
        let (mut loss, mut total) = (0.0, 0.0);
        for i in 0..self.data.rows() {
            loss -= self.data.weight(i) * self.probabilities(beta, i)[self.data.class(i)].ln();
            total += self.data.weight(i);
        }
        let weights = beta.chunks_exact(self.data.cols + 1).flat_map(|v| &v[..self.data.cols]);
        loss / total + 0.5 * self.lambda * weights.map(|w| w * w).sum::<f64>()
    }

    /// Gradient and Hessian by their definitions.
    pub fn derivatives(&self, beta: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let (d, vectors, p) = (self.data.cols, self.vectors(), self.unknowns());
        let fixed = self.data.labels.n_classes() - vectors;
        let (mut gradient, mut hessian) = (vec![0.0; p], vec![vec![0.0; p]; p]);
        let total: f64 = (0..self.data.rows()).map(|i| self.data.weight(i)).sum();
        for i in 0..self.data.rows() {
            let prob = self.probabilities(beta, i);
            let x: Vec<f64> = self.data.row(i).iter().copied().chain([1.0]).collect();
            let s = self.data.weight(i) / total;
            for a in 0..vectors {
                let pa = prob[a + fixed];
                let hit = if self.data.class(i) == a + fixed { 1.0 } else { 0.0 };
                for j in 0..=d {
                    gradient[a * (d + 1) + j] += s * (pa - hit) * x[j];
                    for b in 0..vectors {
                        let h = pa * (if a == b { 1.0 } else { 0.0 } - prob[b + fixed]);
                        for l in 0..=d {
                            hessian[a * (d + 1) + j][b * (d + 1) + l] += s * h * x[j] * x[l];
                        }
                    }
                }
            }
        }
        for at in (0..p).filter(|at| at % (d + 1) != d) {
            gradient[at] += self.lambda * beta[at];
            hessian[at][at] += self.lambda;
        }
        (gradient, hessian)
    }

    /// Plain gradient descent with the step `1/L`, L an upper bound on the curvature; slow and hard to get wrong.
    pub fn descend(&self, steps: usize) -> Vec<f64> {
        let mut beta = vec![0.0; self.unknowns()];
        let largest = (0..self.data.rows())
            .filter(|i| self.data.weight(*i) > 0.0)
            .map(|i| 1.0 + self.data.row(i).iter().map(|x| x * x).sum::<f64>())
            .fold(0.0, f64::max);
        // ∇²ℓ ≼ ½ I in the scores.
        let step = 1.0 / (0.5 * largest + self.lambda);
        for _ in 0..steps {
            let (gradient, _) = self.derivatives(&beta);
            beta.iter_mut().zip(&gradient).for_each(|(b, g)| *b -= step * g);
        }
        beta
    }

    /// Newton's method with halved steps until it no longer moves. The symmetric form's free direction, a common shift
    /// of all intercepts, is held by adding `11ᵀ` to its block.
    pub fn newton(&self) -> Vec<f64> {
        let (d, p) = (self.data.cols, self.unknowns());
        let mut beta = vec![0.0; p];
        for _ in 0..100 {
            let (gradient, mut hessian) = self.derivatives(&beta);
            if self.form == Form::Symmetric {
                for a in (0..p).filter(|a| a % (d + 1) == d) {
                    (0..p).filter(|b| b % (d + 1) == d).for_each(|b| hessian[a][b] += 1.0);
                }
            }
            let step = solve(&hessian, &gradient).expect("a regular Hessian");
            let before = self.objective(&beta);
            let mut t = 1.0;
            loop {
                let next: Vec<f64> = beta.iter().zip(&step).map(|(b, s)| b - t * s).collect();
                // At the end the objective no longer tells: take the full step.
                if self.objective(&next) <= before + 1e-15 || t < 1e-8 {
                    beta = next;
                    break;
                }
                t *= 0.5;
            }
            if step.iter().all(|s| s.abs() < 1e-13) {
                break;
            }
        }
        beta
    }
}

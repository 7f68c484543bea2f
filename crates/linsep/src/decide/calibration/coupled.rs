//! Probabilities of several classes from those of two-class fits.
//!
//! Against the rest every class has a probability `r_k = σ(v_k)`; they are divided by their sum (B. Zadrozny and C. Elkan,
//! KDD 2002). Pairs have `r_ij`, the probability of i given that it is i or j; pairwise coupling finds the p that
//! contradicts them least, `min Σ_i Σ_{j≠i} (r_ji p_i − r_ij p_j)²`, Σp = 1 (T.-F. Wu, C.-J. Lin and R. C. Weng, JMLR 5,
//! 2004, their second method). It is unique and positive, and exact where the pairs are consistent.

use super::{Calibration, HeldOut};
use crate::numeric::logistic_terms;
use crate::table::Class;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Log-odds beyond these count as these: e⁻³⁰⁰ is 5e-131, whose square is a normal double.
const FARTHEST: f64 = 300.0;
/// Rounds of the fixed point after the direct solution, which leaves small probabilities with an absolute error only.
/// Chosen, out of reach of bench/constants.md.
const ROUNDS: usize = 3;

/// Which two-class fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coupling {
    /// Of every pair of classes, in the order (0,1), (0,2) … (1,2) …; a score speaks for the second where it is positive.
    Pairs,
    /// Of every class against all others; a score speaks for the class where it is positive.
    Rest,
}

/// A map for each of the two-class fits of several classes.
///
/// ```
/// use linsep::decide::{Calibration, Coupled, Coupling, probabilities};
/// // Pairs that agree: the odds of 1 to 0 are 2, of 2 to 0 are 5, so of 2 to 1 they are 5/2.
/// let maps = vec![Calibration::Temperature { temperature: 1.0 }; 3];
/// let coupled = Coupled { coupling: Coupling::Pairs, maps };
/// let log_odds = [2f64.ln(), 5f64.ln(), 2.5f64.ln()];
/// let p = probabilities(&coupled.log_probabilities(&log_odds), 3);
/// assert!((p[0] - 0.125).abs() < 1e-15 && (p[1] - 0.25).abs() < 1e-15 && (p[2] - 0.625).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Coupled {
    /// Which fits.
    pub coupling: Coupling,
    /// From the score of each to its log-odds, in the order of the scores.
    pub maps: Vec<Calibration>,
}

/// Rows of two sides: what one two-class fit has to say about them.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoSides {
    scores: Vec<f64>,
    truth: Vec<Class>,
    weights: Option<Vec<f64>>,
}

impl TwoSides {
    /// The rows for the maps of one score.
    pub fn rows(&self) -> HeldOut<'_> {
        HeldOut { scores: &self.scores, truth: &self.truth, weights: self.weights.as_deref(), n_classes: 2 }
    }

    /// Of rows with so many scores each: the score at a place, of the rows of `class` and of `against` (`None`: all others).
    pub fn of(rows: &HeldOut<'_>, (place, n_scores): (usize, usize), class: Class, against: Option<Class>) -> TwoSides {
        let counts = |c: Class| c == class || against.is_none_or(|other| c == other);
        let kept: Vec<usize> = (0..rows.truth.len()).filter(|i| counts(rows.truth[*i])).collect();
        TwoSides {
            scores: kept.iter().map(|i| rows.scores[i * n_scores + place]).collect(),
            truth: kept.iter().map(|i| Class(u32::from(rows.truth[*i] == class))).collect(),
            weights: rows.weights.map(|w| kept.iter().map(|i| w[*i]).collect()),
        }
    }
}

impl Coupled {
    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        match self.coupling {
            Coupling::Rest => self.maps.len(),
            // K(K−1)/2 maps.
            Coupling::Pairs => (1..).find(|k| k * (k - 1) / 2 >= self.maps.len()).unwrap_or(0),
        }
    }

    /// Scores of the two-class fits, row by row, to log-probabilities of the classes up to a constant.
    pub fn log_probabilities(&self, scores: &[f64]) -> Vec<f64> {
        let (classes, fits) = (self.n_classes(), self.maps.len().max(1));
        let mut out = vec![0.0; scores.len() / fits * classes];
        let rows = out.par_chunks_exact_mut(classes.max(1)).zip(scores.par_chunks_exact(fits));
        rows.for_each_init(
            || (vec![0.0; fits], Pairwise::new(classes)),
            |(log_odds, pairwise), (out, scores)| {
                for ((v, z), map) in log_odds.iter_mut().zip(scores).zip(&self.maps) {
                    *v = map.log_odds(*z);
                }
                match self.coupling {
                    // ln σ(v) = −ln(1+e^−v); normalisation is left to the caller.
                    Coupling::Rest => {
                        out.iter_mut().zip(&*log_odds).for_each(|(o, v)| *o = -logistic_terms(*v).softplus_negative);
                    }
                    Coupling::Pairs => pairwise.couple(log_odds, out),
                }
            },
        );
        out
    }

    pub(super) fn is_whole(&self) -> bool {
        let classes = self.n_classes();
        let fits = match self.coupling {
            Coupling::Rest => classes,
            Coupling::Pairs => classes * classes.saturating_sub(1) / 2,
        };
        let of_one_score = |map: &Calibration| !matches!(map, Calibration::Coupled(_)) && map.is_whole();
        let same_kind = self.maps.windows(2).all(|pair| pair[0].kind() == pair[1].kind());
        classes > 2 && fits == self.maps.len() && same_kind && self.maps.iter().all(of_one_score)
    }
}

/// `min pᵀQp/2`, Σp = 1, with `Q_tt = Σ_{s≠t} r_st²` and `Q_ts = −r_st r_ts`.
struct Pairwise {
    n: usize,
    /// `r[i][j]`, the probability of i given that it is i or j.
    r: Vec<f64>,
    /// Q + eeᵀ, then its Cholesky factor.
    factor: Vec<f64>,
    p: Vec<f64>,
}

impl Pairwise {
    fn new(n: usize) -> Pairwise {
        Pairwise { n, r: vec![0.0; n * n], factor: vec![0.0; n * n], p: vec![0.0; n] }
    }

    fn couple(&mut self, log_odds: &[f64], out: &mut [f64]) {
        let n = self.n;
        if log_odds.iter().any(|v| v.is_nan()) {
            out.fill(f64::NAN);
            return;
        }
        let mut at = 0;
        for i in 0..n {
            for j in i + 1..n {
                let terms = logistic_terms(log_odds[at].clamp(-FARTHEST, FARTHEST));
                (self.r[j * n + i], self.r[i * n + j]) = (terms.p, terms.q);
                at += 1;
            }
        }
        self.solve();
        (0..ROUNDS).for_each(|_| self.refine());
        out.iter_mut().zip(&self.p).for_each(|(o, p)| *o = p.max(f64::MIN_POSITIVE).ln());
    }

    fn diagonal(&self, t: usize) -> f64 {
        (0..self.n).filter(|s| *s != t).map(|s| self.r[s * self.n + t] * self.r[s * self.n + t]).sum()
    }

    /// At the minimum Qp = βe, so (Q+eeᵀ)p = (β+1)e, and Q+eeᵀ is positive definite (their theorem 3): p is in the
    /// direction of its solution for e.
    fn solve(&mut self) {
        let n = self.n;
        for t in 0..n {
            for s in 0..t {
                self.factor[t * n + s] = 1.0 - self.r[s * n + t] * self.r[t * n + s];
            }
            self.factor[t * n + t] = 1.0 + self.diagonal(t);
        }
        let l = &mut self.factor;
        for t in 0..n {
            for s in 0..=t {
                let dot: f64 = (0..s).map(|k| l[t * n + k] * l[s * n + k]).sum();
                let left = l[t * n + s] - dot;
                // Rounding may push a pivot below its lower bound, which is 0 because Q is positive semidefinite.
                l[t * n + s] = if s == t { left.max(f64::EPSILON).sqrt() } else { left / l[s * n + s] };
            }
        }
        for t in 0..n {
            let dot: f64 = (0..t).map(|k| l[t * n + k] * self.p[k]).sum();
            self.p[t] = (1.0 - dot) / l[t * n + t];
        }
        for t in (0..n).rev() {
            let dot: f64 = (t + 1..n).map(|k| l[k * n + t] * self.p[k]).sum();
            self.p[t] = (self.p[t] - dot) / l[t * n + t];
        }
        self.p.iter_mut().for_each(|p| *p = p.max(0.0));
        self.normalise();
    }

    /// One round of their algorithm 2, `p_t ← (β − Σ_{s≠t} Q_ts p_s)/Q_tt` with β = pᵀQp: all terms are positive, so that
    /// small probabilities become accurate relative to their own size.
    fn refine(&mut self) {
        let n = self.n;
        let contradiction = |i: usize, j: usize| self.r[j * n + i] * self.p[i] - self.r[i * n + j] * self.p[j];
        let beta: f64 =
            (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| contradiction(i, j).powi(2)).sum();
        for t in 0..n {
            let others = (0..n).filter(|s| *s != t).map(|s| self.r[s * n + t] * self.r[t * n + s] * self.p[s]);
            self.p[t] = (beta + others.sum::<f64>()) / self.diagonal(t);
        }
        self.normalise();
    }

    fn normalise(&mut self) {
        let total: f64 = self.p.iter().sum();
        self.p.iter_mut().for_each(|p| *p /= total);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::probabilities;

    fn of(coupling: Coupling, fits: usize) -> Coupled {
        Coupled { coupling, maps: vec![Calibration::Temperature { temperature: 1.0 }; fits] }
    }

    /// Their algorithm 2 from equal probabilities, until nothing moves.
    fn slow_twin(log_odds: &[f64], n: usize) -> Vec<f64> {
        let mut r = vec![vec![0.0; n]; n];
        let mut at = 0;
        for i in 0..n {
            for j in i + 1..n {
                r[j][i] = 1.0 / (1.0 + (-log_odds[at]).exp());
                r[i][j] = 1.0 / (1.0 + log_odds[at].exp());
                at += 1;
            }
        }
        let q = |t: usize, s: usize| match t == s {
            true => (0..n).filter(|k| *k != t).map(|k| r[k][t] * r[k][t]).sum::<f64>(),
            false => -r[s][t] * r[t][s],
        };
        let mut p = vec![1.0 / n as f64; n];
        for _ in 0..200_000 {
            for t in 0..n {
                let beta: f64 = (0..n).map(|i| (0..n).map(|j| p[i] * q(i, j) * p[j]).sum::<f64>()).sum();
                let others: f64 = (0..n).filter(|s| *s != t).map(|s| q(t, s) * p[s]).sum();
                p[t] = (beta - others) / q(t, t);
                let total: f64 = p.iter().sum();
                p.iter_mut().for_each(|p| *p /= total);
            }
        }
        p
    }

    #[test]
    fn pairs_that_contradict_each_other_are_coupled_as_by_the_paper() {
        let cases: [(&[f64], usize); 3] =
            [(&[1.0, -3.0, 0.4], 3), (&[0.1, 2.0, -1.0, 0.7, 0.2, -2.5], 4), (&[4.0, 6.0, -5.0], 3)];
        for (log_odds, n) in cases {
            let p = probabilities(&of(Coupling::Pairs, log_odds.len()).log_probabilities(log_odds), n);
            for (p, twin) in p.iter().zip(slow_twin(log_odds, n)) {
                assert!((p - twin).abs() <= 1e-12, "{p} {twin}");
            }
        }
    }

    #[test]
    fn pairs_that_agree_give_what_they_agree_on() {
        let truth: [f64; 5] = [1e-9, 0.3, 2e-4, 0.4998 - 1e-9, 0.2];
        let pairs = (0..5).flat_map(|i| (i + 1..5).map(move |j| (truth[j] / truth[i]).ln()));
        let p = probabilities(&of(Coupling::Pairs, 10).log_probabilities(&pairs.collect::<Vec<f64>>()), 5);
        for (p, truth) in p.iter().zip(truth) {
            assert!((p - truth).abs() <= 1e-12 * truth, "{p} {truth}");
        }
    }

    #[test]
    fn no_score_is_too_far_out() {
        let p = of(Coupling::Pairs, 3).log_probabilities(&[1e9, -1e300, f64::MAX]);
        assert!(p.iter().all(|p| p.is_finite()), "{p:?}");
        let p = of(Coupling::Rest, 3).log_probabilities(&[-1e9, -1e9, -2e9]);
        assert_eq!(probabilities(&p, 3), [0.5, 0.5, 0.0]);
        assert!(of(Coupling::Pairs, 3).log_probabilities(&[f64::NAN, 0.0, 0.0]).iter().all(|p| p.is_nan()));
    }

    #[test]
    fn what_is_against_the_rest_is_divided_by_the_sum() {
        let p = probabilities(&of(Coupling::Rest, 3).log_probabilities(&[0.0, 3f64.ln(), -(3f64.ln())]), 3);
        for (p, expected) in p.iter().zip([0.5 / 1.5, 0.75 / 1.5, 0.25 / 1.5]) {
            assert!((p - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn maps_of_other_fits_are_no_coupling() {
        assert!(of(Coupling::Pairs, 6).is_whole() && of(Coupling::Rest, 5).is_whole());
        assert!(!of(Coupling::Pairs, 5).is_whole() && !of(Coupling::Rest, 2).is_whole());
        let nested = Calibration::Coupled(of(Coupling::Rest, 3));
        assert!(!Coupled { coupling: Coupling::Rest, maps: vec![nested; 3] }.is_whole());
    }
}

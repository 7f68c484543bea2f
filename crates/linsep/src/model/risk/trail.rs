//! Predictor of a path: its last solutions, extrapolated.

use crate::objective::Coef;

/// Solutions that are extrapolated: four determine a cubic. Chosen (bench/constants.md): only the time of a path
/// depends on it.
const LENGTH: usize = 4;

/// The last solutions of a path, with the logarithms of their λ.
#[derive(Default)]
pub(super) struct Trail {
    points: Vec<(f64, Coef)>,
}

impl Trail {
    pub(super) fn add(&mut self, lambda: f64, coef: &Coef) {
        let at = lambda.ln();
        // Two solutions at one λ cannot be extrapolated.
        if self.points.last().is_some_and(|(last, _)| *last == at) {
            self.points.pop();
        }
        if self.points.len() == LENGTH {
            self.points.remove(0);
        }
        self.points.push((at, coef.clone()));
    }

    /// A predictor of the solution for another λ: every coefficient is a polynomial in log λ through those of its last
    /// values that have the same sign. Zeros stay zero, and a coefficient that would change its sign becomes zero.
    pub(super) fn ahead(&self, lambda: f64) -> Option<Coef> {
        let at = lambda.ln();
        let (_, last) = self.points.last()?;
        if self.points.len() < 2 {
            return None;
        }
        // weights[m] are those of the last m + 1 solutions, the very last first.
        let weights: Vec<Vec<f64>> = (1..=self.points.len()).map(|m| self.lagrange(m, at)).collect();
        let guess = |j: usize, now: f64| {
            let same_sign = |(_, coef): &&(f64, Coef)| coef.as_slice()[j] * now > 0.0;
            let run = self.points.iter().rev().take_while(same_sign).count();
            if run == 0 {
                return now;
            }
            let history = self.points.iter().rev().map(|(_, coef)| coef.as_slice()[j]);
            let value: f64 = history.zip(&weights[run - 1]).map(|(v, w)| v * w).sum();
            if value * now > 0.0 { value } else { 0.0 }
        };
        let values = last.as_slice().iter().enumerate().map(|(j, now)| guess(j, *now)).collect();
        Some(Coef::from_vec(values, last.n_scores(), last.n_cols()))
    }

    fn lagrange(&self, m: usize, at: f64) -> Vec<f64> {
        let places: Vec<f64> = self.points.iter().rev().take(m).map(|(place, _)| *place).collect();
        let weight = |i: usize| -> f64 {
            let others = places.iter().enumerate().filter(|(j, _)| *j != i);
            others.map(|(_, place)| (at - place) / (places[i] - place)).product()
        };
        (0..m).map(weight).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cubic in log λ is continued exactly, from solutions at any distances.
    #[test]
    fn cubics_are_continued() {
        let cubic = |t: f64| 2.0 + t * (0.5 + t * (0.25 - 0.03 * t));
        let mut trail = Trail::default();
        for t in [-0.3f64, 0.0, 0.1, 0.5, 0.7] {
            trail.add(t.exp(), &Coef::from_vec(vec![cubic(t), 0.0, if t < 0.6 { 1.0 } else { -1.0 }, 5.0], 1, 3));
        }
        let ahead = trail.ahead(1.1f64.exp()).expect("a guess");
        assert!((ahead.as_slice()[0] - cubic(1.1)).abs() < 1e-12);
        // Zero stays zero; a value that has just changed its sign has no history.
        assert_eq!(ahead.as_slice()[1..3], [0.0, -1.0]);
        assert!((ahead.as_slice()[3] - 5.0).abs() < 1e-12);
    }

    #[test]
    fn a_sign_does_not_change_ahead() {
        let mut trail = Trail::default();
        assert!(trail.ahead(1.0).is_none());
        for t in [0.0f64, 1.0] {
            trail.add(t.exp(), &Coef::from_vec(vec![1.5 - t, 0.0], 1, 1));
        }
        assert_eq!(trail.ahead(2f64.exp()).expect("a guess").as_slice(), [0.0, 0.0]);
        assert!((trail.ahead(0.5f64.exp()).expect("a guess").as_slice()[0] - 1.0).abs() < 1e-12);
    }
}

//! Mean losses of two-class scores under the losses that methods minimise, whichever of them was minimised.

use super::interval::Moments;
use super::probability::mean_loss;
use super::{Estimate, Scored};
use serde::Serialize;

/// Mean losses of the score z of the second class, y = ±1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreLosses {
    /// `max(0, 1 − yz)`, of a support vector machine.
    pub hinge: Estimate,
    /// `max(0, 1 − yz)²`.
    pub squared_hinge: Estimate,
    /// `½(z − y)²`, of least squares.
    pub squared: Estimate,
    /// `max(0, −yz)`, of a perceptron.
    pub perceptron: Estimate,
}

/// The losses of rows with one score each; `None` for other scores.
pub fn score_losses(scored: &Scored<'_>, scores: &[f64]) -> Option<ScoreLosses> {
    if scored.classes.len() != 2 || scores.len() != scored.truth.len() || scores.is_empty() {
        return None;
    }
    let mean = |what: &str, loss: &dyn Fn(f64) -> f64| {
        let mut moments = Moments::new();
        for (row, (class, z)) in scored.truth.iter().zip(scores).enumerate() {
            moments.add(loss(if class.index() == 1 { *z } else { -z }), scored.weight(row));
        }
        mean_loss(&moments, (0.0, f64::INFINITY), what, scored.total_weight())
    };
    Some(ScoreLosses {
        hinge: mean("mean of max(0, 1 − y·z)", &|m| (1.0 - m).max(0.0)),
        squared_hinge: mean("mean of max(0, 1 − y·z)²", &|m| (1.0 - m).max(0.0).powi(2)),
        // (z − y)² = (yz − 1)² for y = ±1.
        squared: mean("mean of ½(z − y)²", &|m| 0.5 * (m - 1.0).powi(2)),
        perceptron: mean("mean of max(0, −y·z)", &|m| (-m).max(0.0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Class;

    #[test]
    fn by_hand() {
        let classes = ["no".to_owned(), "yes".to_owned()];
        let truth = [Class(1), Class(0), Class(1)];
        let predicted = [Class(1), Class(0), Class(0)].map(Some);
        let scored = Scored {
            classes: &classes,
            truth: &truth,
            predicted: &predicted,
            decision: None,
            probabilities: None,
            losses: None,
            weights: Some(&[1.0, 2.0, 1.0]),
            origin: None,
        };
        // Margins 0.5, 2 (twice) and −1.
        let found = score_losses(&scored, &[0.5, -2.0, -1.0]).expect("two classes");
        assert_eq!(found.hinge.value, (0.5 + 0.0 + 2.0) / 4.0);
        assert_eq!(found.squared_hinge.value, (0.25 + 4.0) / 4.0);
        assert_eq!(found.squared.value, (0.125 + 2.0 * 0.5 + 2.0) / 4.0);
        assert_eq!(found.perceptron.value, 0.25);
        assert_eq!(score_losses(&scored, &[0.5; 6]), None);
    }
}

//! What each score of a model speaks for.

use super::{Model, ModelPart};
use crate::decide::Scheme;
use crate::model::{Part, Split};

impl Model {
    /// How the classes were split into two-class fits, if they were.
    pub fn split(&self) -> Option<Split> {
        Some(if self.parts.first()?.against.is_some() { Split::Pairs } else { Split::Rest })
    }

    /// Number of scores that the decision, or the calibration before it, asks for.
    pub(super) fn n_scores(&self) -> usize {
        match self.split() {
            Some(_) => self.score_parts().len(),
            None => self.decision.n_scores(self.classes.len()),
        }
    }

    /// What each score speaks for where it is positive.
    pub fn score_parts(&self) -> Vec<Part> {
        self.split().map_or(Vec::new(), |split| split.parts(self.classes.len()))
    }

    /// A name for every score: its class, with the class it is against where that is one.
    pub fn score_names(&self) -> Vec<String> {
        let pair = |part: &ModelPart| match &part.against {
            Some(other) => format!("{}_vs_{other}", part.class),
            None => part.class.clone(),
        };
        match self.parts.is_empty() {
            true => self.classes[self.classes.len() - self.discriminant.n_scores()..].to_vec(),
            false => self.parts.iter().map(pair).collect(),
        }
    }
}

/// Whether a model has the two-class fits that its decision speaks of, each of two classes that it has; only their
/// probabilities decide otherwise.
pub(super) fn fit_together(model: &Model, features: usize) -> bool {
    let decided = model.decision.scheme().map(|scheme| match scheme {
        Scheme::OneVsOne { .. } => Split::Pairs,
        Scheme::OneVsRest { .. } | Scheme::LinearMachine { .. } => Split::Rest,
    });
    if decided != model.split() && (decided.is_some() || model.calibration.is_none()) {
        return false;
    }
    let expected = model.score_parts();
    let name = |class: crate::table::Class| &model.classes[class.index()];
    let same = |(part, expected): (&ModelPart, &Part)| {
        part.class == *name(expected.class)
            && part.against.as_ref() == expected.against.map(name)
            && part.units.centre().len() == features
            && part.units.scale().len() == features
            && part.units.scale().iter().all(|s| *s > 0.0 && s.is_finite())
    };
    model.parts.len() == expected.len() && model.parts.iter().zip(&expected).all(same)
}

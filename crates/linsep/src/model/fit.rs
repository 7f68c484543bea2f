//! The result of a fit: a model, or the proof that there is none.

use super::{Fitted, NoOptimum, NotSeparable, Outcome};
use crate::solve::Stop;

/// A model, or why there is none. Both are answers; errors are something else.
#[must_use]
#[derive(Debug)]
pub enum Fit<M = Box<Fitted>, R = Refusal> {
    /// The model.
    Model(M),
    /// There is none, and this proves it.
    Refused(R),
}

/// Why a method has no model.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// The optimum does not exist.
    NoOptimum(Box<NoOptimum>),
    /// No plane separates the classes, which the method asked for.
    NotSeparable(Box<NotSeparable>),
}

impl<M, R> Fit<M, R> {
    /// Another model of the same fit.
    pub fn map<N>(self, change: impl FnOnce(M) -> N) -> Fit<N, R> {
        match self {
            Fit::Model(model) => Fit::Model(change(model)),
            Fit::Refused(refusal) => Fit::Refused(refusal),
        }
    }

    /// The same refusal in other words.
    pub fn map_refusal<S>(self, change: impl FnOnce(R) -> S) -> Fit<M, S> {
        match self {
            Fit::Model(model) => Fit::Model(model),
            Fit::Refused(refusal) => Fit::Refused(change(refusal)),
        }
    }

    /// The model, if there is one.
    pub fn model(self) -> Option<M> {
        match self {
            Fit::Model(model) => Some(model),
            Fit::Refused(_) => None,
        }
    }
}

impl Refusal {
    /// Rows by the numbers that they have elsewhere.
    pub(crate) fn rename_rows(&mut self, names: &[usize]) {
        match self {
            Refusal::NoOptimum(proof) => proof.rename_rows(names),
            Refusal::NotSeparable(proof) => proof.rename_rows(names),
        }
    }
}

impl<M> From<NoOptimum> for Fit<M> {
    fn from(proof: NoOptimum) -> Fit<M> {
        Fit::Refused(Refusal::NoOptimum(Box::new(proof)))
    }
}

impl<M> From<NotSeparable> for Fit<M> {
    fn from(proof: NotSeparable) -> Fit<M> {
        Fit::Refused(Refusal::NotSeparable(Box::new(proof)))
    }
}

/// The outcome of a fit is the stop of its solver, unless the proof says otherwise.
impl From<&Stop> for Outcome {
    fn from(stop: &Stop) -> Outcome {
        match stop {
            Stop::Converged => Outcome::Converged,
            Stop::IterationLimit => Outcome::IterationLimit,
            Stop::TimeLimit => Outcome::TimeLimit,
            Stop::Interrupted => Outcome::Interrupted,
            // `Separated`: the direction of recession did not stand the proof.
            Stop::PrecisionLimit | Stop::Separated(_) => Outcome::PrecisionLimit,
        }
    }
}

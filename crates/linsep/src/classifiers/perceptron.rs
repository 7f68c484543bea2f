//! The perceptron and its kin.

use super::estimator::builder;
use super::setters::{intercept_setters, seed_setter, standardize_setter};
use crate::model::{Method, PerceptronSettings, PerceptronVariant};
use crate::solve::Order;

builder! {
    /// The perceptron: moves a plane by the rows on its wrong side until there are none. Where no plane separates two classes
    /// the answer is [`NoModel`](super::FitError::NoModel), with the proof; [`pocket`](Perceptron::pocket) and
    /// [`averaged`](Perceptron::averaged) give a plane for these, too. More than two classes are fits of pairs.
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let x = [[0.0, 0.0], [1.0, 0.0], [4.0, 1.0], [5.0, 1.0]];
    /// let model = Perceptron::new().fit(&x, &[-1, -1, 1, 1])?;
    /// assert!(matches!(model.certificate(), Certificate::Separates { margin, .. } if *margin > 0.0));
    /// let overlapping = [1, -1, -1, 1];
    /// assert!(matches!(Perceptron::new().fit(&x, &overlapping), Err(FitError::NoModel(_))));
    /// assert!(Perceptron::new().averaged().fit(&x, &overlapping).is_ok());
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct Perceptron(PerceptronSettings);
    PerceptronSettings::default(), |settings| (Method::Perceptron(settings.clone()), settings.seed)
}

standardize_setter!(Perceptron);
intercept_setters!(Perceptron);
seed_setter!(Perceptron);

impl Perceptron {
    fn variant(mut self, variant: PerceptronVariant) -> Perceptron {
        self.settings.variant = variant;
        self.settings.max_epochs = PerceptronSettings::new(variant).max_epochs;
        self
    }

    /// Moves by all rows on the wrong side at once.
    pub fn batch(self) -> Perceptron {
        self.variant(PerceptronVariant::Batch)
    }

    /// Keeps the plane with the fewest training errors of those it comes by.
    pub fn pocket(self) -> Perceptron {
        self.variant(PerceptronVariant::PocketErrors)
    }

    /// Keeps the plane with the longest run of rows on their side.
    pub fn pocket_by_runs(self) -> Perceptron {
        self.variant(PerceptronVariant::PocketRun)
    }

    /// Takes the average of all planes it comes by.
    pub fn averaged(self) -> Perceptron {
        self.variant(PerceptronVariant::Averaged)
    }

    /// Visits the rows as they come, and not in a random order.
    pub fn given_order(mut self) -> Perceptron {
        self.settings.order = Order::Given;
        self
    }

    /// Stop after so many epochs. Say so after the variant, which has a limit of its own.
    pub fn max_epochs(mut self, most: usize) -> Perceptron {
        self.settings.max_epochs = most;
        self
    }

    /// The step, which scales the scores and decides nothing.
    pub fn step(mut self, step: f64) -> Perceptron {
        self.settings.step = step;
        self
    }
}

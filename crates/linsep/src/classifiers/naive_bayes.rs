//! Naive Bayes: columns that are independent within a class.

use super::estimator::builder;
use super::setters::priors_setter;
use crate::model::{Divisor, FamilyChoice, Method, NaiveBayes};

builder! {
    /// Naive Bayes with Gaussian columns, each class with variances of its own.
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let x = [[1.0, 0.1], [2.0, 0.2], [3.0, 0.1], [7.0, 0.9], [8.0, 0.7], [9.0, 0.8]];
    /// let model = GaussianNb::new().fit(&x, &["low", "low", "low", "high", "high", "high"])?;
    /// assert_eq!(model.predict(&[[2.5, 0.15], [8.0, 0.8]])?, ["low", "high"]);
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct GaussianNb(NaiveBayes);
    NaiveBayes::of(FamilyChoice::Gaussian), |settings| (Method::NaiveBayes(settings.clone()), 0)
}

impl GaussianNb {
    /// One variance of each column for all classes, which makes the scores linear.
    pub fn shared_variances(mut self) -> GaussianNb {
        self.settings.numbers = FamilyChoice::GaussianShared;
        self
    }

    /// Adds this share of a column's overall variance to its variances.
    pub fn variance_smoothing(mut self, share: f64) -> GaussianNb {
        self.settings.variance_smoothing = share;
        self
    }

    /// Variances of maximum likelihood, which divide by the number of rows; they are unbiased otherwise.
    pub fn maximum_likelihood(mut self) -> GaussianNb {
        self.settings.divisor = Divisor::Mle;
        self
    }
}

builder! {
    /// Naive Bayes with columns of 0 and 1.
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let model = BernoulliNb::new().fit(&[[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]], &[1, 1, 2, 2])?;
    /// assert_eq!(model.predict(&[[1.0, 0.0]])?, [1]);
    /// assert!(BernoulliNb::new().fit(&[[0.5], [1.0]], &[1, 2]).is_err());
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct BernoulliNb(NaiveBayes);
    NaiveBayes::of(FamilyChoice::Bernoulli), |settings| (Method::NaiveBayes(settings.clone()), 0)
}

builder! {
    /// Naive Bayes with counts of several kinds of thing, such as words: all columns together share a total.
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let words = [[3.0, 0.0, 1.0], [2.0, 1.0, 0.0], [0.0, 4.0, 2.0], [1.0, 3.0, 3.0]];
    /// let model = MultinomialNb::new().smoothing(0.5).fit(&words, &["sport", "sport", "art", "art"])?;
    /// assert_eq!(model.predict(&[[4.0, 1.0, 0.0]])?, ["sport"]);
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct MultinomialNb(NaiveBayes);
    NaiveBayes::of(FamilyChoice::Multinomial), |settings| (Method::NaiveBayes(settings.clone()), 0)
}

builder! {
    /// Naive Bayes with counts of events.
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let model = PoissonNb::new().fit(&[[0.0], [1.0], [5.0], [7.0]], &[false, false, true, true])?;
    /// assert_eq!(model.predict(&[[6.0]])?, [true]);
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct PoissonNb(NaiveBayes);
    NaiveBayes::of(FamilyChoice::Poisson), |settings| (Method::NaiveBayes(settings.clone()), 0)
}

builder! {
    /// Naive Bayes with waiting times.
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let model = ExponentialNb::new().fit(&[[0.5], [1.0], [9.0], [20.0]], &["fast", "fast", "slow", "slow"])?;
    /// assert_eq!(model.predict(&[[12.0]])?, ["slow"]);
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct ExponentialNb(NaiveBayes);
    NaiveBayes::of(FamilyChoice::Exponential), |settings| (Method::NaiveBayes(settings.clone()), 0)
}

builder! {
    /// Naive Bayes with numbers of failures before the first success.
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let model = GeometricNb::new().fit(&[[0.0], [1.0], [9.0], [20.0]], &["easy", "easy", "hard", "hard"])?;
    /// assert_eq!(model.predict(&[[0.0]])?, ["easy"]);
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct GeometricNb(NaiveBayes);
    NaiveBayes::of(FamilyChoice::Geometric), |settings| (Method::NaiveBayes(settings.clone()), 0)
}

builder! {
    /// Naive Bayes with positive numbers, each class and column with a shape and a rate.
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let model = GammaNb::new().fit(&[[1.0], [1.3], [0.8], [5.0], [9.0], [6.5]], &[0, 0, 0, 1, 1, 1])?;
    /// assert_eq!(model.predict(&[[1.1], [7.0]])?, [0, 1]);
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct GammaNb(NaiveBayes);
    NaiveBayes::of(FamilyChoice::Gamma), |settings| (Method::NaiveBayes(settings.clone()), 0)
}

builder! {
    /// Naive Bayes with successes in a number of trials: one unless [`trials`](BinomialNb::trials) says otherwise.
    ///
    /// ```
    /// use linsep::prelude::*;
    /// let model = BinomialNb::new().trials(10).fit(&[[1.0], [2.0], [9.0], [10.0]], &["few", "few", "many", "many"])?;
    /// assert_eq!(model.predict(&[[8.0]])?, ["many"]);
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct BinomialNb(NaiveBayes);
    NaiveBayes::of(FamilyChoice::Binomial(1)), |settings| (Method::NaiveBayes(settings.clone()), 0)
}

impl BinomialNb {
    /// The number of trials in every cell.
    pub fn trials(mut self, trials: u32) -> BinomialNb {
        self.settings.numbers = FamilyChoice::Binomial(trials);
        self
    }
}

builder! {
    /// Naive Bayes with columns of several families: Gaussian, but for those that [`family`](MixedNb::family) names.
    ///
    /// ```
    /// use linsep::model::FamilyChoice;
    /// use linsep::prelude::*;
    /// let x = [[36.5, 0.0], [36.9, 1.0], [36.6, 0.0], [39.0, 1.0], [38.2, 1.0], [38.8, 0.0]];
    /// let model = MixedNb::new()
    ///     .feature_names(["temperature", "cough"])
    ///     .family("cough", FamilyChoice::Bernoulli)
    ///     .fit(&x, &["well", "well", "well", "ill", "ill", "ill"])?;
    /// assert_eq!(model.predict(&[[38.5, 1.0]])?, ["ill"]);
    /// # Ok::<(), FitError>(())
    /// ```
    pub struct MixedNb(NaiveBayes);
    NaiveBayes::default(), |settings| (Method::NaiveBayes(settings.clone()), 0)
}

impl MixedNb {
    /// The family of a column, by its name, or by its number from 1 where columns have no names.
    pub fn family(mut self, column: impl Into<String>, family: FamilyChoice) -> MixedNb {
        self.settings.overrides.push((column.into(), family));
        self
    }

    /// The family of all other columns.
    pub fn others(mut self, family: FamilyChoice) -> MixedNb {
        self.settings.numbers = family;
        self
    }

    /// Adds this share of a column's overall variance to its Gaussian variances.
    pub fn variance_smoothing(mut self, share: f64) -> MixedNb {
        self.settings.variance_smoothing = share;
        self
    }
}

macro_rules! smoothing_setter {
    ($($name:ident),+) => {
        $(impl $name {
            /// So many rows are added to the counts of every class: 1 unless this says otherwise.
            pub fn smoothing(mut self, rows: f64) -> $name {
                self.settings.smoothing = rows;
                self
            }
        })+
    };
}
smoothing_setter!(BernoulliNb, MultinomialNb, PoissonNb, ExponentialNb, GeometricNb, BinomialNb, MixedNb);

priors_setter!(GaussianNb);
priors_setter!(BernoulliNb);
priors_setter!(MultinomialNb);
priors_setter!(PoissonNb);
priors_setter!(ExponentialNb);
priors_setter!(GeometricNb);
priors_setter!(GammaNb);
priors_setter!(BinomialNb);
priors_setter!(MixedNb);

//! What every builder can do, and what it may be told.

use super::label::encode;
use super::{Features, FitError, Label, Trained};
use crate::decide::{ConformalOptions, Decision, Ties, Vote};
use crate::design::is_sparse;
use crate::error::Result;
use crate::model::{ClassWeights, Fit, Method};
use crate::table::Table;
use crate::watch::Watch;
use crate::workflow::{Approach, Arrays, FitOptions, Multiclass, fit_arrays, fit_table};
use std::time::Duration;

/// A method with its settings, ready to be fitted: what every builder of [`crate::classifiers`] is.
///
/// ```
/// use linsep::prelude::*;
/// fn scores_of(method: &impl Estimator) -> Result<usize, FitError> {
///     let x = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.5], [0.5, 2.0]];
///     Ok(method.fit(&x, &["a", "a", "b", "b", "a"])?.scores(&x)?.rows())
/// }
/// assert_eq!(scores_of(&Lda::new())?, scores_of(&LinearSvm::new())?);
/// # Ok::<(), FitError>(())
/// ```
pub trait Estimator {
    /// What to fit; the name of the target is that of the caller's arrays in model files and reports.
    fn options(&self) -> FitOptions;

    /// Names of the columns; none for columns that are known by their number.
    fn names(&self) -> &[String];

    /// What may cancel a fit or follow it.
    fn watch(&self) -> Watch;

    /// Whether sparse columns are taken as they are although the options would standardise them, because nobody asked.
    fn leaves_sparse_columns(&self) -> bool {
        false
    }

    /// Fits the method to rows and their labels.
    ///
    /// The model is the one that the command fits to a table of the same numbers, to the last bit.
    ///
    /// # Errors
    /// [`FitError::Invalid`] for lengths that differ, values that are not finite, a single class, or settings that cannot
    /// be; [`FitError::NoModel`] with its proof where there is no model. A fit that stops before its tolerance is a model
    /// whose [`outcome`](Trained::outcome) says so.
    fn fit<X: Features + ?Sized, L: Label>(&self, x: &X, y: &[L]) -> Result<Trained<L::Class>, FitError> {
        fit_rows(self, x, (y, None))
    }

    /// The same with a frequency for every row: a weight of 2 counts a row twice, 0 leaves it out.
    ///
    /// # Errors
    /// As [`fit`](Estimator::fit), and for weights that are negative or not finite.
    fn fit_weighted<X: Features + ?Sized, L: Label>(
        &self,
        x: &X,
        y: &[L],
        weights: &[f64],
    ) -> Result<Trained<L::Class>, FitError> {
        fit_rows(self, x, (y, Some(weights)))
    }

    /// Fits the method to a table; all columns but the target are features, text among them. Everything else that a table
    /// may be asked is in [`crate::workflow`].
    ///
    /// ```
    /// use linsep::prelude::*;
    /// use linsep::read::read_bytes;
    /// let csv = b"dose,kind,died\n1,a,no\n2,b,no\n3,a,yes\n2,a,no\n4,b,yes\n3,b,no\n5,a,yes\n2,a,yes\n";
    /// let table = read_bytes(csv, "trial.csv", &Default::default())?;
    /// let model = LogisticRegression::new().ridge(0.1).fit_table(table.clone(), "died")?;
    /// assert_eq!(model.predict_table(&table)?[4].as_deref(), Some("yes"));
    /// # Ok::<(), FitError>(())
    /// ```
    ///
    /// # Errors
    /// As [`fit`](Estimator::fit), and where there is no such column.
    fn fit_table(&self, table: Table, target: &str) -> Result<Trained<String>, FitError> {
        let mut options = self.options();
        options.target = target.to_owned();
        if self.leaves_sparse_columns() && table.sparse_width() > 0 {
            options.method = options.method.on_columns_as_they_are();
        }
        match fit_table(table, &options, &self.watch())? {
            Fit::Model(model) => Ok(Trained::of(*model)),
            Fit::Refused(proof) => Err(FitError::NoModel(Box::new(proof))),
        }
    }
}

fn fit_rows<E: Estimator + ?Sized, X: Features + ?Sized, L: Label>(
    estimator: &E,
    x: &X,
    (y, weights): (&[L], Option<&[f64]>),
) -> Result<Trained<L::Class>, FitError> {
    let (mut options, lent) = (estimator.options(), x.lend()?);
    if estimator.leaves_sparse_columns() && is_sparse(lent.as_design()) {
        options.method = options.method.on_columns_as_they_are();
    }
    let (mut labels, mut classes) = encode(y)?;
    if let Some(positive) = options.positive.take() {
        let from = labels.names().iter().position(|name| *name == positive);
        labels = labels.with_last(&positive)?;
        if let Some(from) = from {
            let class = classes.remove(from);
            classes.push(class);
        }
    }
    if options.multiclass.ties.is_none() && contradicts(&options, classes.len()) {
        options.multiclass.ties = Some(Ties::Scores);
    }
    let names = estimator.names().to_vec();
    let arrays = Arrays { design: lent.as_design(), names, labels, labels_are_text: L::IS_TEXT, weights };
    match fit_arrays(arrays, &options, &estimator.watch())? {
        Fit::Model(model) => Ok(Trained::of(*model).with_classes(classes)?),
        Fit::Refused(proof) => Err(FitError::NoModel(Box::new(proof))),
    }
}

/// Whether two-class fits may leave a row without a class unless something else decides.
fn contradicts(options: &FitOptions, classes: usize) -> bool {
    let approach = options.multiclass.approach.unwrap_or(Approach::default_of(&options.method));
    match approach {
        Approach::OneVsOne => classes > 2 && options.multiclass.vote != Some(Vote::Scores),
        Approach::OneVsRest => classes > 2,
        Approach::Joint | Approach::LinearMachine => false,
    }
}

/// What every builder may be told beside the settings of its method.
#[derive(Debug, Clone, Default)]
pub(super) struct Request {
    pub(super) names: Vec<String>,
    pub(super) positive: Option<String>,
    pub(super) class_weights: Option<ClassWeights>,
    pub(super) multiclass: Multiclass,
    pub(super) decision: Decision,
    pub(super) true_priors: Option<Vec<f64>>,
    pub(super) conformal: Option<ConformalOptions>,
    pub(super) watch: Watch,
    pub(super) time_limit: Option<Duration>,
    /// Whether the builder was told to standardise, or not to.
    pub(super) standardize_given: bool,
}

impl Request {
    pub(super) fn options(&self, method: Method, seed: u64) -> FitOptions {
        let mut options = FitOptions::new("y", method);
        options.positive.clone_from(&self.positive);
        options.class_weights.clone_from(&self.class_weights);
        options.multiclass = self.multiclass;
        options.decision = self.decision.clone();
        options.true_priors.clone_from(&self.true_priors);
        options.conformal = self.conformal;
        options.seed = seed;
        options
    }

    pub(super) fn watch(&self) -> Watch {
        match self.time_limit {
            Some(limit) => self.watch.clone().within(limit),
            None => self.watch.clone(),
        }
    }

    pub(super) fn weigh(&mut self, name: String, weight: f64) {
        match &mut self.class_weights {
            Some(ClassWeights::Given(all)) => all.push((name, weight)),
            other => *other = Some(ClassWeights::Given(vec![(name, weight)])),
        }
    }
}

/// A builder: a struct of settings and a request, what all builders may be told, and how it becomes a method.
macro_rules! builder {
    (
        $(#[$doc:meta])*
        pub struct $name:ident($settings:ty);
        $new:expr, |$own:ident| ($method:expr, $seed:expr)
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        #[must_use = "a builder does nothing before it is fitted"]
        pub struct $name {
            settings: $settings,
            request: $crate::classifiers::estimator::Request,
        }

        impl Default for $name {
            fn default() -> $name {
                $name { settings: $new, request: Default::default() }
            }
        }

        impl $name {
            /// The method with its usual settings.
            pub fn new() -> $name {
                $name::default()
            }

            /// Names of the columns, in their order.
            pub fn feature_names<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> $name {
                self.request.names = names.into_iter().map(Into::into).collect();
                self
            }

            /// The class to put last, by its name: of two, the one that positive scores speak for.
            pub fn positive(mut self, class: impl Into<String>) -> $name {
                self.request.positive = Some(class.into());
                self
            }

            /// How much the rows of a class count, by its name; 1 where nothing is said.
            pub fn class_weight(mut self, class: impl Into<String>, weight: f64) -> $name {
                self.request.weigh(class.into(), weight);
                self
            }

            /// All classes count the same, however many rows they have.
            pub fn balanced(mut self) -> $name {
                self.request.class_weights = Some($crate::model::ClassWeights::Balanced);
                self
            }

            /// How more than two classes are fitted, where that is not to be the method's own way.
            pub fn multiclass(mut self, approach: $crate::workflow::Approach) -> $name {
                self.request.multiclass.approach = Some(approach);
                self
            }

            /// How the fits of pairs of classes decide.
            pub fn vote(mut self, vote: $crate::decide::Vote) -> $name {
                self.request.multiclass.vote = Some(vote);
                self
            }

            /// What becomes of rows for which two-class fits contradict each other; the scores decide unless this says
            /// otherwise.
            pub fn ties(mut self, ties: $crate::decide::Ties) -> $name {
                self.request.multiclass.ties = Some(ties);
                self
            }

            /// How scores become a class: by a threshold, by costs, or not at all where every class is too uncertain.
            pub fn decision(mut self, decision: $crate::decide::Decision) -> $name {
                self.request.decision = decision;
                self
            }

            /// The shares of the classes where the model will be used, in their order, if they are not those of the rows.
            pub fn true_priors(mut self, shares: impl Into<Vec<f64>>) -> $name {
                self.request.true_priors = Some(shares.into());
                self
            }

            /// Hold rows back from the fit and learn from them [sets of classes](crate::classifiers::Trained::predict_sets) that
            /// hold the class of a new row as often as is asked for, at least.
            pub fn conformal(mut self, options: $crate::decide::ConformalOptions) -> $name {
                self.request.conformal = Some(options);
                self
            }

            /// Stop a fit after so long; what it found until then is the model, and its certificate says how good it is.
            pub fn time_limit(mut self, limit: std::time::Duration) -> $name {
                self.request.time_limit = Some(limit);
                self
            }

            /// What may cancel a fit, and who is told of its progress.
            pub fn watched_by(mut self, watch: $crate::watch::Watch) -> $name {
                self.request.watch = watch;
                self
            }
        }

        impl $crate::classifiers::Estimator for $name {
            fn options(&self) -> $crate::workflow::FitOptions {
                let $own = &self.settings;
                self.request.options($method, $seed)
            }

            fn names(&self) -> &[String] {
                &self.request.names
            }

            fn watch(&self) -> $crate::watch::Watch {
                self.request.watch()
            }

            fn leaves_sparse_columns(&self) -> bool {
                !self.request.standardize_given
            }
        }
    };
}
pub(super) use builder;

//! What every model must do. A model is registered once in [`models`] and inherits every check of [`CHECKS`]; what
//! cannot hold for it is exempted there by name, with the reason.

use crate::data::{Arrangement, Data, Source, arranged, expect_model, gaussian, labels, overlapping, posterior};
use crate::{assert_all_near, assert_near};
use linsep::artifact::Model;
use linsep::design::Training;
use linsep::design::{Design, Standardize};
use linsep::discriminant::Discriminant;
use linsep::error::{Error, ErrorKind};
use linsep::model::{
    Algorithm, CovarianceShape, Divisor, FamilyChoice, Fit, Fitted, GaussianBayes, HardMarginSettings,
    KernelPerceptronSettings, KernelSvmSettings, LeastSquaresSettings, LeastSquaresSolver, LinkRegression, LossChoice,
    Method, NaiveBayes, Note, PenaltyChoice, PerceptronSettings, PerceptronVariant, Refusal, RiskMinimizer, Shrinkage,
    SigmoidLeastSquares, Split,
};
use linsep::objective::{Intercept, Link, SoftmaxForm};
use linsep::read::{ReadOptions, read_bytes};
use linsep::table::{Labels, Table};
use linsep::watch::Watch;
use linsep::workflow::{Approach, FitOptions, TableFit, fit_table, predict_table, refit_table};

/// A model under contract.
pub struct Registered {
    /// A name for messages.
    pub name: &'static str,
    /// The method with its settings.
    pub method: Method,
    /// Checks that cannot hold, each with the reason.
    pub exempt: &'static [(&'static str, &'static str)],
}

/// Two-class fits of several classes are registered by the end of their name.
const SPLITS: [(&str, Split); 2] = [(", one-vs-one", Split::Pairs), (", one-vs-rest", Split::Rest)];

impl Registered {
    /// How several classes are split, where the method is not fitted to all at once.
    fn split(&self) -> Option<Split> {
        SPLITS.iter().find(|(end, _)| self.name.ends_with(end)).map(|(_, split)| *split)
    }

    /// As a fit of a table is asked for it.
    pub fn options(&self) -> FitOptions {
        let mut options = FitOptions::new("class", self.method.clone());
        options.multiclass.approach = self.split().map(|split| match split {
            Split::Pairs => Approach::OneVsOne,
            Split::Rest => Approach::OneVsRest,
        });
        options
    }

    fn fit_on(&self, training: &Training<'_>) -> Result<Fit, Error> {
        let Some(split) = self.split() else { return self.method.fit(training, &Watch::default()) };
        Ok(match split.fit(&self.method, training, &Watch::default())? {
            Fit::Model(fit) => Fit::Model(fit.whole),
            Fit::Refused(refused) => Fit::Refused(refused.refusal),
        })
    }

    fn fit(&self, data: &Data) -> Result<Fit, Error> {
        self.fit_on(&data.training(&data.dense()))
    }

    /// The model of rows that have one.
    #[track_caller]
    fn of(&self, data: &Data) -> Fitted {
        expect_model(self.fit(data))
    }
}

/// A check: its name and what it does for a model.
pub type Check = (&'static str, fn(&Registered));

/// Coefficients are as good as the square root of the gap, and near the end of double precision the gap is all
/// rounding: so the logistic models are fitted to the limit of precision, which gives them every digit there is.
const PRECISE: f64 = 1e-300;

const NO_OFFSETS: (&str, &str) = ("offsets_shift_scores", "generative models have no offsets");
const NO_OFFSETS_K: (&str, &str) = ("offsets_of_all_classes", "generative models have no offsets");
const PENALTY_HAS_UNITS: (&str, &str) =
    ("column_scaling", "the penalty is in the units of the columns: that is what not standardising means");
const SPHERE_HAS_UNITS: (&str, &str) =
    ("column_scaling", "σ²I is about the units of the columns: that is what not standardising means");
const NOT_LINEAR: (&str, &str) =
    ("duplicate_column_is_shared", "no weights to share: duplicates enter the shrunk covariances");
const SHARES_WEIGHT: (&str, &str) =
    ("duplicate_column_is_named", "a penalty shares the weight between duplicates; see duplicate_column_is_shared");
const NAMES_DUPLICATE: (&str, &str) =
    ("duplicate_column_is_shared", "without a penalty the weight is not determined; see duplicate_column_is_named");

const INDEPENDENT: (&str, &str) =
    ("duplicate_column_is_named", "naive Bayes takes all columns to be independent, duplicates too");
const COUNTS: [(&str, &str); 5] = [
    ("column_scaling", "counts have no other units"),
    ("constant_column_has_weight_zero", "a constant of 3.7 is no count"),
    ("large_common_offset", "counts are not negative"),
    ("classes_far_apart", "the rows of the check are no counts"),
    ("drift_in_later_blocks", "the rows of the check are no counts"),
];

const fn counts_exempt() -> [(&'static str, &'static str); 8] {
    let [a, b, c, d, e] = COUNTS;
    [NO_OFFSETS, NO_OFFSETS_K, INDEPENDENT, a, b, c, d, e]
}

const COUNTS_EXEMPT: &[(&str, &str)] = &counts_exempt();

fn naive_bayes(numbers: FamilyChoice) -> Method {
    Method::NaiveBayes(NaiveBayes::of(numbers))
}

const NO_OFFSETS_LS: (&str, &str) = ("offsets_shift_scores", "least squares has no offsets");
const NO_OFFSETS_LS_K: (&str, &str) = ("offsets_of_all_classes", "least squares has no offsets");
const MASKED: (&str, &str) = ("classes_far_apart", "of three classes in a row least squares masks the middle one");

fn least_squares(change: impl FnOnce(&mut LeastSquaresSettings)) -> Method {
    let mut method = LeastSquaresSettings { tolerance: PRECISE, ..LeastSquaresSettings::default() };
    change(&mut method);
    Method::LeastSquares(method)
}

const NO_OFFSETS_PERCEPTRON: (&str, &str) = ("offsets_shift_scores", "the perceptron has no offsets");
const NO_OFFSETS_PERCEPTRON_K: (&str, &str) = ("offsets_of_all_classes", "the perceptron has no offsets");
const VISITS_IN_ORDER: (&str, &str) = ("row_order", "where an online rule ends depends on the order of its visits");
const VISITS_IN_ORDER_TOO: (&str, &str) = (
    "drift_in_later_blocks",
    "the check compares two orders of rows, and an online rule follows the order of its visits",
);
const VISITED_ONCE: (&str, &str) = ("weights_are_copies", "a row is visited once an epoch whatever its weight");
const DRAWN: (&str, &str) =
    ("weights_are_copies", "copies are drawn as often as their weights say, but not at the same time");
const MISTAKES_SHARE: (&str, &str) =
    ("duplicate_column_is_named", "a mistake moves all its columns: duplicates get the same weight");
const CONSTANT_IS_INTERCEPT: (&str, &str) =
    ("constant_column_has_weight_zero", "as it is, a constant column is another intercept to the textbook's rule");
const MISTAKES_HAVE_UNITS: (&str, &str) =
    ("column_scaling", "mistakes move by rows in the units of the columns: that is what not standardising means");
const MISTAKES_HAVE_ORIGIN: (&str, &str) =
    ("large_common_offset", "columns as they are have an origin: that is what not standardising means");

const MARGIN_IS_FAR: (&str, &str) =
    ("classes_far_apart", "R is a million margins and nothing standardised: 10¹² mistakes are possible");
const JUMP_OVERLAPS: (&str, &str) =
    ("drift_in_later_blocks", "a jump of one column by a million makes separable rows overlap");

const NO_OFFSETS_PARTS: (&str, &str) = ("offsets_shift_scores", "offsets are for all classes together");
const NO_OFFSETS_PARTS_K: (&str, &str) = ("offsets_of_all_classes", "offsets are for all classes together");
const OTHER_PAIRS: (&str, &str) =
    ("label_renaming", "classes in another order have their pairs, not their scores, in that order");
const MIDDLE_CLASS: (&str, &str) =
    ("classes_far_apart", "of three classes in a row no plane tells the middle one from the rest");
const PAIRS_VOTE: (&str, &str) = ("classes_far_apart", "the check takes the largest score; pairs vote");
const NOT_SYMMETRIC: (&str, &str) =
    ("label_renaming", "the complementary log-log link does not treat the two classes alike");
const NO_OFFSETS_MARGIN: (&str, &str) = ("offsets_shift_scores", "the hard margin has no offsets");
const NO_OFFSETS_MARGIN_K: (&str, &str) = ("offsets_of_all_classes", "the hard margin has no offsets");
const MARGIN_HAS_UNITS: (&str, &str) =
    ("column_scaling", "distances are in the units of the columns: that is what not standardising means");
const MARGIN_SHARES: (&str, &str) =
    ("duplicate_column_is_named", "the widest margin shares the weight between duplicates");

fn perceptron(variant: PerceptronVariant, change: impl FnOnce(&mut PerceptronSettings)) -> Method {
    let mut method = PerceptronSettings::new(variant);
    change(&mut method);
    Method::Perceptron(method)
}

const NO_WEIGHTS: &str = "a sum over support rows has no weights of columns";
const WITHIN_GAP: &str = "a gap leaves scores free by its root, and only few rows are solved to the last digit";

/// What a kernel machine cannot promise.
const KERNEL_EXEMPT: &[(&str, &str)] = &[
    ("offsets_shift_scores", "a kernel machine has no offsets"),
    ("offsets_of_all_classes", "a kernel machine has no offsets"),
    ("constant_column_has_weight_zero", NO_WEIGHTS),
    ("duplicate_column_is_named", NO_WEIGHTS),
    ("duplicate_column_is_shared", NO_WEIGHTS),
    ("drift_in_later_blocks", WITHIN_GAP),
];

/// What a kernel perceptron cannot promise.
const KERNEL_PERCEPTRON_EXEMPT: &[(&str, &str)] = &[
    ("offsets_shift_scores", "a kernel machine has no offsets"),
    ("offsets_of_all_classes", "a kernel machine has no offsets"),
    ("constant_column_has_weight_zero", NO_WEIGHTS),
    ("duplicate_column_is_named", NO_WEIGHTS),
    ("duplicate_column_is_shared", NO_WEIGHTS),
    VISITS_IN_ORDER,
    VISITS_IN_ORDER_TOO,
    VISITED_ONCE,
];

fn logistic(change: impl FnOnce(&mut RiskMinimizer)) -> Method {
    let mut method = RiskMinimizer { tolerance: PRECISE, ..RiskMinimizer::default() };
    change(&mut method);
    Method::Risk(method)
}

/// Every model of the library.
pub fn models() -> Vec<Registered> {
    vec![
        Registered {
            name: "lda",
            method: Method::Gaussian(GaussianBayes::lda()),
            exempt: &[NO_OFFSETS, NO_OFFSETS_K, NAMES_DUPLICATE],
        },
        Registered {
            name: "lda, shrunk",
            method: Method::Gaussian(GaussianBayes { shrinkage: Shrinkage::Fixed(0.2), ..GaussianBayes::lda() }),
            exempt: &[NO_OFFSETS, NO_OFFSETS_K, SHARES_WEIGHT],
        },
        Registered {
            name: "lda, Ledoit–Wolf",
            method: Method::Gaussian(GaussianBayes { shrinkage: Shrinkage::LedoitWolf, ..GaussianBayes::lda() }),
            exempt: &[NO_OFFSETS, NO_OFFSETS_K, SHARES_WEIGHT],
        },
        Registered {
            name: "qda",
            method: Method::Gaussian(GaussianBayes::qda()),
            exempt: &[NO_OFFSETS, NO_OFFSETS_K, NAMES_DUPLICATE],
        },
        Registered {
            name: "qda, Ledoit–Wolf",
            method: Method::Gaussian(GaussianBayes {
                shrinkage: Shrinkage::LedoitWolf,
                divisor: Divisor::Mle,
                ..GaussianBayes::qda()
            }),
            exempt: &[NO_OFFSETS, NO_OFFSETS_K, SHARES_WEIGHT, NOT_LINEAR],
        },
        Registered {
            name: "spherical, standardised",
            method: Method::Gaussian(GaussianBayes {
                standardize: Standardize::Yes,
                ..GaussianBayes::new(CovarianceShape::Spherical)
            }),
            exempt: &[
                NO_OFFSETS,
                NO_OFFSETS_K,
                SHARES_WEIGHT,
                (
                    "classes_far_apart",
                    "a million standard deviations make a standardised column one of tiny variance within classes; one σ² cannot follow",
                ),
            ],
        },
        Registered {
            name: "spherical",
            method: Method::Gaussian(GaussianBayes::new(CovarianceShape::Spherical)),
            exempt: &[NO_OFFSETS, NO_OFFSETS_K, SHARES_WEIGHT, SPHERE_HAS_UNITS],
        },
        Registered {
            name: "logistic, lasso",
            method: logistic(|m| {
                m.penalty = PenaltyChoice::ElasticNet { l1_ratio: 1.0, lambda: Some(0.01), cost: None }
            }),
            exempt: &[
                SHARES_WEIGHT,
                (
                    "duplicate_column_is_shared",
                    "a lasso does not say how duplicates share: only their sum is determined",
                ),
            ],
        },
        Registered {
            name: "logistic, raw elastic net",
            method: logistic(|m| {
                m.penalty = PenaltyChoice::ElasticNet { l1_ratio: 0.5, lambda: Some(0.01), cost: None };
                m.standardize = Standardize::No;
            }),
            exempt: &[
                SHARES_WEIGHT,
                PENALTY_HAS_UNITS,
                (
                    "dense_equals_sparse",
                    "scores of several classes are determined up to a common shift, and a lasso's weights do not add up \
                     to zero: the shift follows the centre of the units, which raw sparse columns do not have",
                ),
                (
                    "duplicate_column_is_shared",
                    "shared they are, but proximal Newton does not look for collinear columns",
                ),
            ],
        },
        Registered {
            name: "least squares",
            method: least_squares(|_| {}),
            exempt: &[NO_OFFSETS_LS, NO_OFFSETS_LS_K, NAMES_DUPLICATE, MASKED],
        },
        Registered {
            name: "least squares, qr",
            method: least_squares(|m| m.solver = LeastSquaresSolver::Qr),
            exempt: &[NO_OFFSETS_LS, NO_OFFSETS_LS_K, NAMES_DUPLICATE, MASKED],
        },
        Registered {
            name: "least squares, ridge by qr",
            method: least_squares(|m| {
                m.solver = LeastSquaresSolver::Qr;
                m.penalty = PenaltyChoice::RidgeOne;
                m.intercept = Intercept::Penalised;
            }),
            exempt: &[NO_OFFSETS_LS, NO_OFFSETS_LS_K, SHARES_WEIGHT, MASKED],
        },
        Registered {
            name: "least squares, raw ridge",
            method: least_squares(|m| {
                m.standardize = Standardize::No;
                m.penalty = PenaltyChoice::Ridge(0.02);
            }),
            exempt: &[NO_OFFSETS_LS, NO_OFFSETS_LS_K, PENALTY_HAS_UNITS, SHARES_WEIGHT, MASKED],
        },
        Registered {
            name: "least squares, ridge by gradient descent",
            method: least_squares(|m| {
                m.solver = LeastSquaresSolver::GradientDescent;
                m.penalty = PenaltyChoice::Ridge(0.02);
            }),
            exempt: &[NO_OFFSETS_LS, NO_OFFSETS_LS_K, SHARES_WEIGHT, MASKED],
        },
        Registered { name: "logistic, default", method: logistic(|_| {}), exempt: &[SHARES_WEIGHT] },
        Registered {
            name: "logistic, raw ridge",
            method: logistic(|m| {
                m.standardize = Standardize::No;
                m.penalty = PenaltyChoice::Ridge(0.02);
            }),
            exempt: &[PENALTY_HAS_UNITS, SHARES_WEIGHT],
        },
        Registered {
            name: "logistic, maximum likelihood",
            method: logistic(|m| m.penalty = PenaltyChoice::None),
            exempt: &[NAMES_DUPLICATE],
        },
        Registered {
            name: "logistic, reference form",
            method: logistic(|m| m.form = SoftmaxForm::Reference),
            exempt: &[
                SHARES_WEIGHT,
                ("label_renaming", "a penalised reference form depends on which class is the reference"),
            ],
        },
        Registered {
            name: "logistic, penalised intercept",
            method: logistic(|m| m.intercept = Intercept::Penalised),
            exempt: &[SHARES_WEIGHT],
        },
        Registered {
            name: "hinge",
            method: logistic(|m| (m.loss, m.algorithm) = (LossChoice::Hinge, Algorithm::InteriorPoint)),
            exempt: &[SHARES_WEIGHT],
        },
        Registered {
            name: "squared hinge",
            method: logistic(|m| m.loss = LossChoice::SquaredHinge),
            exempt: &[SHARES_WEIGHT],
        },
        Registered {
            name: "logistic, one-vs-one",
            method: logistic(|_| {}),
            exempt: &[SHARES_WEIGHT, NO_OFFSETS_PARTS, NO_OFFSETS_PARTS_K, OTHER_PAIRS, PAIRS_VOTE],
        },
        Registered {
            name: "squared hinge, one-vs-rest",
            method: logistic(|m| m.loss = LossChoice::SquaredHinge),
            exempt: &[SHARES_WEIGHT, NO_OFFSETS_PARTS, NO_OFFSETS_PARTS_K, MIDDLE_CLASS],
        },
        Registered { name: "svm, rbf", method: Method::KernelSvm(KernelSvmSettings::default()), exempt: KERNEL_EXEMPT },
        Registered {
            name: "svm, rbf, no intercept",
            method: Method::KernelSvm(KernelSvmSettings { intercept: Intercept::None, ..KernelSvmSettings::default() }),
            exempt: KERNEL_EXEMPT,
        },
        Registered {
            name: "hard margin, rbf",
            method: Method::KernelSvm(KernelSvmSettings {
                kernel: linsep::model::KernelChoice::Rbf { gamma: Some(100.0) },
                penalty: PenaltyChoice::None,
                ..KernelSvmSettings::default()
            }),
            exempt: KERNEL_EXEMPT,
        },
        Registered {
            name: "kernel perceptron, rbf",
            method: Method::KernelPerceptron(KernelPerceptronSettings {
                max_epochs: 20,
                ..KernelPerceptronSettings::default()
            }),
            exempt: KERNEL_PERCEPTRON_EXEMPT,
        },
        Registered {
            name: "naive Bayes, Gaussian",
            method: naive_bayes(FamilyChoice::Gaussian),
            exempt: &[NO_OFFSETS, NO_OFFSETS_K, INDEPENDENT],
        },
        Registered {
            name: "naive Bayes, Gaussian with a shared variance",
            method: naive_bayes(FamilyChoice::GaussianShared),
            exempt: &[NO_OFFSETS, NO_OFFSETS_K, INDEPENDENT],
        },
        Registered { name: "naive Bayes, Poisson", method: naive_bayes(FamilyChoice::Poisson), exempt: COUNTS_EXEMPT },
        Registered {
            name: "naive Bayes, multinomial",
            method: naive_bayes(FamilyChoice::Multinomial),
            exempt: COUNTS_EXEMPT,
        },
        Registered {
            name: "naive Bayes, Bernoulli",
            method: naive_bayes(FamilyChoice::Bernoulli),
            exempt: COUNTS_EXEMPT,
        },
        Registered {
            name: "probit",
            method: Method::Link(LinkRegression { tolerance: 1e-13, ..LinkRegression::new(Link::Probit) }),
            exempt: &[SHARES_WEIGHT],
        },
        Registered {
            name: "cloglog, no penalty",
            method: Method::Link(LinkRegression {
                tolerance: 1e-13,
                penalty: PenaltyChoice::None,
                ..LinkRegression::new(Link::Cloglog)
            }),
            exempt: &[NAMES_DUPLICATE, NOT_SYMMETRIC],
        },
        Registered {
            name: "cauchit",
            method: Method::Link(LinkRegression { tolerance: 1e-12, ..LinkRegression::new(Link::Cauchit) }),
            exempt: &[SHARES_WEIGHT],
        },
        Registered {
            name: "sigmoid least squares",
            method: Method::Sigmoid(SigmoidLeastSquares { tolerance: 1e-13, ..SigmoidLeastSquares::default() }),
            exempt: &[SHARES_WEIGHT],
        },
        Registered {
            name: "perceptron",
            method: perceptron(PerceptronVariant::Online, |_| {}),
            exempt: &[
                NO_OFFSETS_PERCEPTRON,
                NO_OFFSETS_PERCEPTRON_K,
                VISITS_IN_ORDER,
                VISITS_IN_ORDER_TOO,
                VISITED_ONCE,
                MISTAKES_SHARE,
            ],
        },
        Registered {
            name: "perceptron, raw",
            method: perceptron(PerceptronVariant::Online, |m| {
                m.standardize = Standardize::No;
                m.step = 0.3;
            }),
            exempt: &[
                NO_OFFSETS_PERCEPTRON,
                NO_OFFSETS_PERCEPTRON_K,
                VISITS_IN_ORDER,
                VISITS_IN_ORDER_TOO,
                VISITED_ONCE,
                MISTAKES_SHARE,
                CONSTANT_IS_INTERCEPT,
                MISTAKES_HAVE_UNITS,
                MISTAKES_HAVE_ORIGIN,
                MARGIN_IS_FAR,
            ],
        },
        Registered {
            name: "perceptron, batch",
            method: perceptron(PerceptronVariant::Batch, |_| {}),
            exempt: &[NO_OFFSETS_PERCEPTRON, NO_OFFSETS_PERCEPTRON_K, MISTAKES_SHARE, JUMP_OVERLAPS],
        },
        Registered {
            name: "hard margin",
            method: Method::HardMargin(HardMarginSettings { tolerance: PRECISE, ..HardMarginSettings::default() }),
            exempt: &[NO_OFFSETS_MARGIN, NO_OFFSETS_MARGIN_K, MARGIN_HAS_UNITS, MARGIN_SHARES, JUMP_OVERLAPS],
        },
        Registered {
            name: "hard margin, standardised",
            method: Method::HardMargin(HardMarginSettings { tolerance: PRECISE, standardize: Standardize::Yes }),
            exempt: &[NO_OFFSETS_MARGIN, NO_OFFSETS_MARGIN_K, MARGIN_SHARES, JUMP_OVERLAPS],
        },
        Registered {
            name: "pocket by errors",
            method: perceptron(PerceptronVariant::PocketErrors, |_| {}),
            exempt: &[
                NO_OFFSETS_PERCEPTRON,
                NO_OFFSETS_PERCEPTRON_K,
                VISITS_IN_ORDER,
                VISITS_IN_ORDER_TOO,
                DRAWN,
                MISTAKES_SHARE,
            ],
        },
        Registered {
            name: "pocket by runs",
            method: perceptron(PerceptronVariant::PocketRun, |_| {}),
            exempt: &[
                NO_OFFSETS_PERCEPTRON,
                NO_OFFSETS_PERCEPTRON_K,
                VISITS_IN_ORDER,
                VISITS_IN_ORDER_TOO,
                DRAWN,
                MISTAKES_SHARE,
            ],
        },
        Registered {
            name: "averaged perceptron",
            method: perceptron(PerceptronVariant::Averaged, |_| {}),
            exempt: &[
                NO_OFFSETS_PERCEPTRON,
                NO_OFFSETS_PERCEPTRON_K,
                VISITS_IN_ORDER,
                VISITS_IN_ORDER_TOO,
                VISITED_ONCE,
                MISTAKES_SHARE,
            ],
        },
    ]
}

/// Every check.
pub const CHECKS: &[Check] = &[
    ("row_order", row_order),
    ("weights_are_copies", weights_are_copies),
    ("zero_weight_rows_are_absent", zero_weight_rows_are_absent),
    ("singles_equal_doubles", singles_equal_doubles),
    ("dense_equals_sparse", dense_equals_sparse),
    ("offsets_shift_scores", offsets_shift_scores),
    ("offsets_of_all_classes", offsets_of_all_classes),
    ("label_renaming", label_renaming),
    ("column_scaling", column_scaling),
    ("one_class_is_an_error", one_class_is_an_error),
    ("one_row_is_an_error", one_row_is_an_error),
    ("constant_column_has_weight_zero", constant_column_has_weight_zero),
    ("duplicate_column_is_named", duplicate_column_is_named),
    ("duplicate_column_is_shared", duplicate_column_is_shared),
    ("refit_gives_the_same_bits", refit_gives_the_same_bits),
    ("threads_give_the_same_bits", threads_give_the_same_bits),
    ("large_common_offset", large_common_offset),
    ("classes_far_apart", classes_far_apart),
    ("drift_in_later_blocks", drift_in_later_blocks),
    ("bad_features_are_named", bad_features_are_named),
    ("bad_weights_are_errors", bad_weights_are_errors),
    ("save_and_load_keep_the_bits", save_and_load_keep_the_bits),
    ("fresh_fits_verify", fresh_fits_verify),
];

/// The numbers of classes that the model can tell apart.
fn classes_of(model: &Registered) -> &'static [usize] {
    match model.method {
        _ if model.split().is_some() => &[3],
        Method::HardMargin(_) | Method::Perceptron(_) | Method::Sigmoid(_) | Method::Link(_) => &[2],
        Method::KernelSvm(_) | Method::KernelPerceptron(_) => &[2],
        Method::Risk(RiskMinimizer { loss: LossChoice::Hinge | LossChoice::SquaredHinge, .. }) => &[2],
        _ => &[2, 3],
    }
}

/// Overlapping rows, or separable ones for a model that asks for them.
fn usual(model: &Registered, rows: usize, cols: usize, classes: usize, seed: u64) -> Data {
    match &model.method {
        Method::HardMargin(_) => arranged(Arrangement::Complete, rows, cols, false, seed),
        Method::Perceptron(m) if matches!(m.variant, PerceptronVariant::Online | PerceptronVariant::Batch) => {
            arranged(Arrangement::Complete, rows, cols, false, seed)
        }
        _ => overlapping(rows, cols, classes, seed),
    }
}

/// Rows that the model can be fitted on: with zeros, exactly representable as singles.
fn rows(model: &Registered, classes: usize) -> Data {
    let data = usual(model, 300, 3, classes, 40 + classes as u64);
    in_support(model, &data.map(|j, v| if j == 1 && v.abs() < 0.7 { 0.0 } else { f64::from(v as f32) }))
}

/// The rows with values that the model can take, counts for models of counts.
fn in_support(model: &Registered, data: &Data) -> Data {
    let Method::NaiveBayes(settings) = &model.method else { return data.clone() };
    match settings.numbers {
        FamilyChoice::Bernoulli => data.map(|_, v| f64::from(u8::from(v > 0.0))),
        FamilyChoice::Poisson | FamilyChoice::Multinomial => data.map(|_, v| (2.0 * v.abs()).floor()),
        _ => data.clone(),
    }
}

#[track_caller]
fn same_scores(model: &Registered, a: &[f64], b: &[f64], tolerance: f64, what: &str) {
    // A hinge is flat but for its kinks, so its weights are only as good as the root of the gap.
    let tolerance = if model.name == "hinge" { tolerance.sqrt() } else { tolerance };
    assert_all_near(a, b, tolerance, 1.0, &format!("{}: {what}", model.name));
}

fn row_order(model: &Registered) {
    for &classes in classes_of(model) {
        let data = rows(model, classes);
        let order = Source::new(5).order(data.rows());
        let (plain, permuted) = (model.of(&data), model.of(&data.select(&order)));
        same_scores(model, &data.scores(&plain), &data.scores(&permuted), 1e-9, "rows in another order");
        assert_near(plain.objective.value, permuted.objective.value, 1e-12, 0.0, "objective");
    }
}

fn weights_are_copies(model: &Registered) {
    for &classes in classes_of(model) {
        let data = rows(model, classes);
        let copies = |i: usize| 1 + (i * 7) % 4;
        let weighted = data.weighted((0..data.rows()).map(|i| copies(i) as f64).collect());
        let repeated: Vec<usize> = (0..data.rows()).flat_map(|i| std::iter::repeat_n(i, copies(i))).collect();
        let (a, b) = (model.of(&weighted), model.of(&data.select(&repeated)));
        same_scores(model, &data.scores(&a), &data.scores(&b), 1e-10, "weight k or k copies");
        assert_near(a.objective.value, b.objective.value, 1e-12, 0.0, "objective");
        assert_eq!(a.objective.lambda.is_some(), b.objective.lambda.is_some());
    }
}

fn zero_weight_rows_are_absent(model: &Registered) {
    for &classes in classes_of(model) {
        let data = rows(model, classes);
        let present = |i: &usize| i % 5 != 3;
        // What is not there may even be out of range.
        let wild = Data {
            values: (0..data.values.len())
                .map(|at| if present(&(at / data.cols)) { data.values[at] } else { 1e6 * data.values[at] - 3e5 })
                .collect(),
            ..data.clone()
        };
        let weight = |i: usize| if present(&i) { 1.5 } else { 0.0 };
        let weighted = wild.weighted((0..data.rows()).map(weight).collect());
        let kept: Vec<usize> = (0..data.rows()).filter(present).collect();
        let absent = data.select(&kept).weighted(vec![1.5; kept.len()]);
        let (a, b) = (model.of(&weighted), model.of(&absent));
        same_scores(model, &data.scores(&a), &data.scores(&b), 1e-9, "rows of weight zero");
    }
}

fn fitted_on(model: &Registered, data: &Data, design: &dyn Design) -> Fitted {
    expect_model(model.fit_on(&data.training(design)))
}

fn singles_equal_doubles(model: &Registered) {
    for &classes in classes_of(model) {
        let data = rows(model, classes);
        let (doubles, singles) = (model.of(&data), fitted_on(model, &data, &data.singles()));
        assert_eq!(doubles.discriminant, singles.discriminant, "{}: singles and doubles, bit for bit", model.name);
        let scores = singles.discriminant.scores(&data.singles(), &Watch::default()).expect("the same columns");
        assert_eq!(scores, data.scores(&doubles), "{}: scores of singles", model.name);
    }
}

fn dense_equals_sparse(model: &Registered) {
    for &classes in classes_of(model) {
        let data = rows(model, classes);
        let (dense, sparse) = (model.of(&data), fitted_on(model, &data, &data.csr()));
        same_scores(model, &data.scores(&dense), &data.scores(&sparse), 1e-9, "dense or sparse");
        let scores = dense.discriminant.scores(&data.csr(), &Watch::default()).expect("the same columns");
        same_scores(model, &data.scores(&dense), &scores, 1e-12, "scores of sparse rows");
        assert_near(dense.objective.value, sparse.objective.value, 1e-12, 0.0, "objective");
    }
}

/// An offset that is the same linear function of the features for all rows only shifts the coefficients, where they
/// are not penalised; a constant only shifts a free intercept, penalty or not.
fn offsets_shift_scores(model: &Registered) {
    let data = rows(model, 2);
    let constant = data.offset(1, vec![0.75; data.rows()]);
    let (plain, shifted) = (model.of(&data), model.of(&constant));
    let (intercept, penalty) = match &model.method {
        Method::Risk(settings) => (settings.intercept, settings.penalty),
        Method::Sigmoid(settings) => (settings.intercept, settings.penalty),
        Method::Link(settings) => (settings.intercept, settings.penalty),
        _ => panic!("only risk minimisers take offsets"),
    };
    let with_offset: Vec<f64> = data.scores(&shifted).iter().map(|z| z + 0.75).collect();
    if intercept == Intercept::Free {
        same_scores(model, &data.scores(&plain), &with_offset, 1e-9, "a constant offset");
    } else {
        // A penalised intercept resists: the scores move towards the offset, not all the way back.
        let moved = data.scores(&plain)[0] - with_offset[0];
        assert!(moved < -1e-4 && moved > -0.75, "{}: moved by {moved}", model.name);
    }
    if penalty == PenaltyChoice::None {
        let line = |i: usize| 0.5 * data.row(i)[0] - 0.25 * data.row(i)[2] + 0.1;
        let linear = model.of(&data.offset(1, (0..data.rows()).map(line).collect()));
        let total: Vec<f64> = data.scores(&linear).iter().enumerate().map(|(i, z)| z + line(i)).collect();
        same_scores(model, &data.scores(&plain), &total, 1e-9, "a linear offset");
    }
}

fn offsets_of_all_classes(model: &Registered) {
    let mut source = Source::new(6);
    for &classes in classes_of(model) {
        let data = rows(model, classes);
        let n = data.rows();
        let offsets: Vec<f64> = (0..n * classes).map(|_| source.normal()).collect();
        let plain = model.of(&data.offset(classes, offsets.clone()));
        let common: Vec<f64> = (0..n).map(|_| 3.0 * source.normal()).collect();
        let moved: Vec<f64> = offsets.iter().enumerate().map(|(at, o)| o + common[at / classes]).collect();
        let shifted = model.of(&data.offset(classes, moved));
        same_scores(
            model,
            &data.scores(&plain),
            &data.scores(&shifted),
            1e-9,
            "a number added to all offsets of a row",
        );
        if classes == 2 {
            let difference: Vec<f64> = offsets.chunks_exact(2).map(|o| o[1] - o[0]).collect();
            let one = model.of(&data.offset(1, difference));
            assert_eq!(one.discriminant, plain.discriminant, "{}: one column or the difference of two", model.name);
        }
        // And they are not without effect.
        let without = model.of(&data);
        let change =
            data.scores(&plain).iter().zip(data.scores(&without)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(change > 1e-3, "{}: offsets have no effect", model.name);
    }
}

/// Names do not matter, and classes in another order have their scores in that order (two classes: the other sign).
fn label_renaming(model: &Registered) {
    for &classes in classes_of(model) {
        let data = rows(model, classes);
        let plain = model.of(&data);
        let renamed = Data {
            labels: Labels::new(data.labels.codes().to_vec(), (0..classes).map(|k| format!("{}", 7 - k)).collect()),
            ..data.clone()
        };
        assert_eq!(model.of(&renamed).discriminant, plain.discriminant, "{}: other names", model.name);
        let to: Vec<usize> = (0..classes).map(|k| (k + 1) % classes).collect();
        let permuted = Data { labels: labels((0..data.rows()).map(|i| to[data.class(i)]).collect(), classes), ..data };
        let scores = permuted.scores(&model.of(&permuted));
        let k = plain.discriminant.n_scores();
        let back: Vec<f64> = match classes {
            2 => scores.iter().map(|z| -z).collect(),
            _ => scores.chunks_exact(k).flat_map(|z| to.iter().map(|t| z[*t])).collect(),
        };
        same_scores(model, &permuted.scores(&plain), &back, 1e-9, "classes in another order");
    }
}

fn column_scaling(model: &Registered) {
    for &classes in classes_of(model) {
        let data = rows(model, classes);
        // Not powers of two, so that every digit changes.
        let scaled = data.map(|j, v| v * [1e4, -0.003, 7.0][j]);
        let (a, b) = (model.of(&data), model.of(&scaled));
        same_scores(model, &data.scores(&a), &scaled.scores(&b), 1e-9, "columns in other units");
    }
}

#[track_caller]
fn refused(model: &Registered, data: &Data, what: &str) -> Error {
    match model.fit(data) {
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Data, "{}: {what}: {error}", model.name);
            error
        }
        Ok(Fit::Model(_)) => panic!("{}: {what} gave a model", model.name),
        Ok(_) => panic!("{}: {what} gave a verdict on separation", model.name),
    }
}

fn one_class_is_an_error(model: &Registered) {
    let data = rows(model, 2);
    let single = Data { labels: Labels::from_names(vec!["only"; data.rows()]), ..data.clone() };
    let error = refused(model, &single, "one class");
    assert!(error.message().contains("only"), "{}: {error}", model.name);
    // A class without rows of positive weight is as absent, and is named.
    let weights = (0..data.rows()).map(|i| if data.class(i) == 1 { 0.0 } else { 1.0 }).collect();
    let error = refused(model, &data.weighted(weights), "a class of weight zero");
    assert!(error.message().contains("class 1"), "{}: {error}", model.name);
}

fn one_row_is_an_error(model: &Registered) {
    let data = rows(model, 2);
    refused(model, &data.select(&[0]), "one row");
    refused(model, &data.select(&[]), "no row");
}

fn weights_of_column(fitted: &Fitted, column: usize) -> Vec<f64> {
    match &fitted.discriminant {
        Discriminant::Linear(linear) => (0..linear.n_scores()).map(|k| linear.weights_of(k)[column]).collect(),
        // The column's part in the quadratic form and its own row of the whitening matrix.
        Discriminant::Quadratic(g) => (0..g.n_classes())
            .flat_map(|k| {
                (0..g.n_cols()).flat_map(move |i| [g.whitening_at(k, i, column), g.whitening_at(k, column, i)])
            })
            .collect(),
        Discriminant::Generalised(g) => {
            (0..g.n_scores()).flat_map(|k| [g.linear_of(k)[column], g.square_of(k)[column]]).collect()
        }
        other => panic!("no weights known of {other:?}"),
    }
}

fn constant_column_has_weight_zero(model: &Registered) {
    for &classes in classes_of(model) {
        let data = rows(model, classes);
        let plain = model.of(&data);
        for value in [3.7, 0.0, 1e9 + 0.1] {
            let more = data.with_column(|_, _| value);
            let fitted = model.of(&more);
            let weights = weights_of_column(&fitted, 3);
            assert!(weights.iter().all(|w| *w == 0.0), "{}: {value} has weights {weights:?}", model.name);
            let named = fitted.notes.iter().any(|n| matches!(n, Note::Constant { columns } if columns == &[3]));
            assert!(named, "{}: {value} is not named: {:?}", model.name, fitted.notes);
            same_scores(model, &data.scores(&plain), &more.scores(&fitted), 1e-9, "without the constant column");
        }
    }
}

fn duplicate_column_is_named(model: &Registered) {
    for &classes in classes_of(model) {
        let data = rows(model, classes);
        let plain = model.of(&data);
        let more = data.with_column(|_, x| -2.0 * x[1]);
        let fitted = model.of(&more);
        assert!(weights_of_column(&fitted, 3).iter().all(|w| *w == 0.0), "{}: not left out", model.name);
        let combination = fitted.notes.iter().find_map(|n| match n {
            Note::Collinear { column: 3, combination } => Some(combination.clone()),
            _ => None,
        });
        let combination = combination.unwrap_or_else(|| panic!("{}: {:?}", model.name, fitted.notes));
        assert_eq!(combination.len(), 1, "{}: {combination:?}", model.name);
        assert_eq!(combination[0].0, 1);
        assert_near(combination[0].1, -2.0, 1e-9, 0.0, model.name);
        same_scores(model, &data.scores(&plain), &more.scores(&fitted), 1e-9, "without the duplicate");
    }
}

fn duplicate_column_is_shared(model: &Registered) {
    for &classes in classes_of(model) {
        let more = rows(model, classes).with_column(|_, x| x[1]);
        let fitted = model.of(&more);
        let (a, b) = (weights_of_column(&fitted, 1), weights_of_column(&fitted, 3));
        assert_all_near(&a, &b, 1e-9, 1e-3, &format!("{}: weights of a column and its duplicate", model.name));
        assert!(a.iter().any(|w| w.abs() > 1e-3), "{}: no weight to share", model.name);
        // Truncated Newton and gradient descent take no factor to tell it from, that of an interior point weighs the rows
        // so unevenly that it would not tell, and shrunk LDA no longer has a singular covariance.
        let told = match &model.method {
            Method::Risk(method) => !matches!(method.algorithm, Algorithm::NewtonCg | Algorithm::InteriorPoint),
            Method::LeastSquares(method) => method.solver != LeastSquaresSolver::GradientDescent,
            _ => false,
        };
        if told {
            let named = |n: &Note| matches!(n, Note::Shared { column: 3, combination } if combination[0].0 == 1);
            assert!(fitted.notes.iter().any(named), "{}: {:?}", model.name, fitted.notes);
        }
    }
}

fn refit_gives_the_same_bits(model: &Registered) {
    for &classes in classes_of(model) {
        let data = rows(model, classes);
        assert_eq!(model.of(&data), model.of(&data), "{}", model.name);
    }
}

/// Through a table and a model file and back: the same model, and the same scores to the last bit.
/// The rows as a file would have them.
pub fn table_of(data: &Data) -> Table {
    let mut csv = String::from("a,b,c,class\n");
    for i in 0..data.rows() {
        let cells: Vec<String> = data.row(i).iter().map(|v| format!("{v:?}")).collect();
        csv.push_str(&format!("{},class {}\n", cells.join(","), data.class(i)));
    }
    read_bytes(csv.as_bytes(), "rows.csv", &ReadOptions::default()).expect("a table")
}

/// Some rows for every number of classes that the model can tell apart.
pub fn tables(model: &Registered, rows: usize) -> Vec<Table> {
    let one = |classes: &usize| table_of(&in_support(model, &usual(model, rows, 3, *classes, 60 + *classes as u64)));
    classes_of(model).iter().map(one).collect()
}

/// Columns far from zero, huge, tiny and all of these: where a fit has a model, `verify` holds it to be one, and a second
/// fit comes to the same bits.
fn fresh_fits_verify(model: &Registered) {
    type Scale = (&'static str, fn(usize, f64) -> f64);
    const SCALES: [Scale; 6] = [
        ("as they are", |_, v| v),
        ("shifted by 1e9", |j, v| if j == 0 { 1.7e9 + v } else { v + 1e9 * j as f64 }),
        ("times 1e100", |_, v| 1e100 * v),
        ("times 1e-100", |_, v| 1e-100 * v),
        ("of all sizes", |j, v| [1e-100, 1.0, 1e100][j] * v),
        ("shifted and small", |j, v| [1e-9, 1.0, 1e6][j] * (1e9 + v)),
    ];
    let counts = model.exempt.iter().any(|(name, _)| *name == "large_common_offset");
    let mut faults = Vec::new();
    for &classes in classes_of(model) {
        for (what, scale) in SCALES {
            if counts && what.starts_with("shifted") {
                continue;
            }
            let table = table_of(&rows(model, classes).map(scale));
            let watch = Watch::default();
            let fit = fit_table(table.clone(), &model.options(), &watch);
            // Numbers may be refused, as too far from one, or leave no model: that is said by the fit.
            let Ok(TableFit::Model(fitted)) = fit else {
                assert_ne!(what, "as they are", "{}: {fit:?}", model.name);
                continue;
            };
            let text = fitted.to_json().expect("a file");
            let verdict = Model::from_json(text.as_bytes(), "model.json").and_then(|m| refit_table(&m, &table, &watch));
            match verdict {
                Ok(verdict) if verdict.passed() => {}
                Ok(verdict) => {
                    let failing = verdict.checks.iter().filter(|c| !c.holds);
                    let words: Vec<String> = failing.map(|c| format!("{}: {}", c.claim, c.found)).collect();
                    faults.push(format!("{}, {classes} classes, {what}: {}", model.name, words.join(" | ")));
                }
                Err(error) => faults.push(format!("{}, {classes} classes, {what}: {error}", model.name)),
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

fn save_and_load_keep_the_bits(model: &Registered) {
    for &classes in classes_of(model) {
        let data = rows(model, classes);
        let watch = Watch::default();
        let table = table_of(&data);
        let fit = fit_table(table.clone(), &model.options(), &watch).expect("a fit");
        let TableFit::Model(fitted) = fit else { panic!("{}: no optimum", model.name) };
        let text = fitted.to_json().expect("a file");
        let loaded = Model::from_json(text.as_bytes(), "model.json").expect("a model");
        assert_eq!(*fitted, loaded, "{}", model.name);
        assert_eq!(text, loaded.to_json().expect("a file"), "{}", model.name);
        let predict = |m: &Model| predict_table(m, &table, None, &watch).expect("predictions").scores;
        let bits = |scores: Vec<f64>| scores.into_iter().map(f64::to_bits).collect::<Vec<u64>>();
        assert_eq!(bits(predict(&fitted)), bits(predict(&loaded)), "{}", model.name);
    }
}

fn threads_give_the_same_bits(model: &Registered) {
    for &classes in classes_of(model) {
        // Enough rows for many blocks, and for the solver's start on a part of them. A multiply-add that no unit fuses is a
        // call of a library function: fewer rows then, which are still several blocks.
        let n = if linsep::numeric::wide_units_in_use() { 20_000 } else { 5_000 };
        let data = in_support(model, &usual(model, n, 3, classes, 50));
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
            pool.install(|| {
                let fitted = model.of(&data);
                let scores = data.scores(&fitted);
                (fitted, scores)
            })
        };
        let one = with(1);
        for threads in [2, 5] {
            assert!(one == with(threads), "{}: {threads} threads change the result", model.name);
        }
    }
}

/// The same rows moved far from the origin by amounts that the columns can represent exactly.
fn large_common_offset(model: &Registered) {
    for &classes in classes_of(model) {
        // Whole multiples of 2⁻²⁰ up to 16 stay exact when 10⁹ is added.
        let data = rows(model, classes).map(|_, v| (v * 1_048_576.0).round() / 1_048_576.0);
        let moved = data.map(|j, v| v + [1e9, 0.0, -1e9][j]);
        let (a, b) = (model.of(&data), model.of(&moved));
        // The discriminant is evaluated about its centre, so nothing is lost there either; 1e-6 is for the columns'
        // own 1e-16·1e9.
        same_scores(model, &data.scores(&a), &moved.scores(&b), 1e-6, "columns like 1e9 + N(0,1)");
    }
}

/// Classes a million standard deviations apart along one column must not spoil the covariance of the others.
fn classes_far_apart(model: &Registered) {
    let means = [vec![0.0, 0.0], vec![1e6, 0.5], vec![-1e6, 1.0]];
    for &classes in classes_of(model) {
        let data = gaussian(&vec![400; classes], &means[..classes], 60);
        match model.fit(&data) {
            Ok(Fit::Refused(Refusal::NoOptimum(_))) => {
                let unpenalised = match &model.method {
                    Method::Risk(m) => m.penalty == PenaltyChoice::None,
                    Method::Link(m) => m.penalty == PenaltyChoice::None,
                    _ => false,
                };
                assert!(unpenalised, "{}: separation is an answer without a penalty only", model.name);
            }
            fit => {
                let fitted = expect_model(fit);
                let k = fitted.discriminant.n_scores();
                for (i, z) in data.scores(&fitted).chunks_exact(k).enumerate() {
                    let p = posterior(z);
                    let best = (0..classes).max_by(|a, b| p[*a].total_cmp(&p[*b])).expect("classes");
                    assert_eq!(best, data.class(i), "{}: row {i}", model.name);
                }
                if let Method::Gaussian(settings) = &model.method
                    && settings.shrinkage == Shrinkage::None
                    && settings.shape == CovarianceShape::Shared
                {
                    lda_weight_is_exact(model, &data, &fitted);
                }
            }
        }
    }
}

/// Against the same data with the distance taken out of the means: Σ is the same, so `Σ(w_k − w_0) = μ_k − μ_0`.
fn lda_weight_is_exact(model: &Registered, data: &Data, fitted: &Fitted) {
    let near = Data {
        values: (0..data.values.len())
            .map(|at| match (at % 2, data.class(at / 2)) {
                (0, 1) => data.values[at] - 1e6,
                (0, 2) => data.values[at] + 1e6,
                _ => data.values[at],
            })
            .collect(),
        ..data.clone()
    };
    let twin = crate::twin::Gaussians::of(&near, |total, k| total - k as f64);
    let far = crate::twin::Gaussians::of(data, |total, k| total - k as f64);
    let linear = fitted.discriminant.as_linear().expect("a linear model");
    for k in 1..data.labels.n_classes() {
        let delta: Vec<f64> = far.means[k].iter().zip(&far.means[0]).map(|(a, b)| a - b).collect();
        let expected = crate::twin::solve(&twin.covariance, &delta).expect("a regular covariance");
        let found: Vec<f64> = match linear.n_scores() {
            1 => linear.weights_of(0).to_vec(),
            _ => linear.weights_of(k).iter().zip(linear.weights_of(0)).map(|(a, b)| a - b).collect(),
        };
        // The rows themselves are rounded at 1e6·1e-16 of a standard deviation.
        assert_all_near(&found, &expected, 1e-8, 0.0, &format!("{}: weights", model.name));
    }
}

/// A column that is near zero in the first blocks and far away in the later ones.
fn drift_in_later_blocks(model: &Registered) {
    for &classes in classes_of(model) {
        let data = usual(model, 6_000, 2, classes, 70);
        let jump = |i: usize| if i < 3_000 { 0.0 } else { 1e6 };
        let drifting = Data {
            values: (0..data.values.len())
                .map(|at| if at % 2 == 0 { data.values[at] + jump(at / 2) } else { data.values[at] })
                .collect(),
            ..data.clone()
        };
        // The same rows in an order in which both levels occur from the start.
        let order = Source::new(8).order(data.rows());
        let (a, b) = (model.of(&drifting), model.of(&drifting.select(&order)));
        same_scores(model, &drifting.scores(&a), &drifting.scores(&b), 1e-6, "a jump in the second half");
    }
}

fn bad_features_are_named(model: &Registered) {
    let data = rows(model, 2);
    for (row, column, bad) in [(0, 0, f64::NAN), (123, 2, f64::INFINITY), (299, 1, f64::NEG_INFINITY)] {
        let mut values = data.values.clone();
        values[row * data.cols + column] = bad;
        let spoilt = Data { values, ..data.clone() };
        let expected = [format!("row {}", row + 1), format!("column {}", column + 1)];
        for error in [
            refused(model, &spoilt, "a feature that is not finite"),
            model.fit_on(&spoilt.training(&spoilt.csr())).expect_err("sparse features that are not finite"),
        ] {
            let text = error.to_string();
            assert!(expected.iter().all(|part| text.contains(part)), "{}: {bad} at {row}: {text}", model.name);
        }
        // A row of weight zero may be ignored or refused, but not with another reason.
        let weights = (0..data.rows()).map(|i| if i == row { 0.0 } else { 1.0 }).collect();
        if let Err(error) = model.fit(&spoilt.weighted(weights)) {
            let text = error.to_string();
            assert!(expected.iter().all(|part| text.contains(part)), "{}: weight zero: {text}", model.name);
        }
    }
}

fn bad_weights_are_errors(model: &Registered) {
    let data = rows(model, 2);
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let mut weights = vec![1.0; data.rows()];
        weights[17] = bad;
        let error = refused(model, &data.weighted(weights), "a bad weight");
        assert!(error.message().contains("row 18"), "{}: {error}", model.name);
    }
    refused(model, &data.weighted(vec![0.0; data.rows()]), "all weights zero");
    refused(model, &data.weighted(vec![1.0; data.rows() - 1]), "too few weights");
}

/// Runs one check for every model that is not exempt, and collects all that fail.
///
/// # Panics
/// If the check fails for a model, or if there is no such check.
pub fn hold(name: &str) {
    let check = CHECKS.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no check {name}")).1;
    let mut failed = Vec::new();
    for model in models().iter().filter(|m| m.exempt.iter().all(|(exempt, _)| *exempt != name)) {
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(model))).is_err() {
            failed.push(model.name);
        }
    }
    assert!(failed.is_empty(), "{name} fails for {failed:?}");
}

/// A test for every check, which calls a function with its name.
#[macro_export]
macro_rules! contract_tests {
    ($hold:path) => {
        $crate::contract_tests! { $hold:
            row_order
            weights_are_copies
            zero_weight_rows_are_absent
            singles_equal_doubles
            dense_equals_sparse
            offsets_shift_scores
            offsets_of_all_classes
            label_renaming
            column_scaling
            one_class_is_an_error
            one_row_is_an_error
            constant_column_has_weight_zero
            duplicate_column_is_named
            duplicate_column_is_shared
            refit_gives_the_same_bits
            threads_give_the_same_bits
            large_common_offset
            classes_far_apart
            drift_in_later_blocks
            bad_features_are_named
            bad_weights_are_errors
            save_and_load_keep_the_bits
            fresh_fits_verify
        }
    };
    ($hold:path: $($name:ident)*) => {
        $(#[test]
        fn $name() {
            $hold(stringify!($name));
        })*

        #[test]
        fn every_check_is_run() {
            let run: Vec<&str> = vec![$(stringify!($name)),*];
            let listed: Vec<&str> = $crate::contract::CHECKS.iter().map(|(name, _)| *name).collect();
            assert_eq!(run, listed);
        }
    };
}

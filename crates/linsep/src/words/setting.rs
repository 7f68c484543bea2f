//! What a user can choose, whatever a face calls it.

use super::Span;

/// A setting that some message names. The list is closed, so that the compiler asks every face for its word when one is
/// added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// Products of columns.
    Basis,
    /// Which columns they are products of.
    BasisColumns,
    /// Rows in a step of stochastic descent.
    Batch,
    /// What a penalty is divided by.
    C,
    /// Memory for kernel rows.
    Cache,
    /// A map from scores to probabilities.
    Calibrate,
    /// Folds that it is learned on.
    CalibrateFolds,
    /// The constant of a kernel.
    Coef0,
    /// Lines to leave out of a file.
    Comment,
    /// How sure sets of classes are.
    Conformal,
    /// Of all rows together, or of each class.
    ConformalBy,
    /// Rows that are held back for them.
    ConformalShare,
    /// Where standard errors come from.
    Covariance,
    /// Folds of an estimate of the error.
    CrossValidation,
    /// Columns of dates.
    Date,
    /// The decimal sign.
    Decimal,
    /// The degree of a kernel.
    Degree,
    /// How far simulated classes are apart.
    Distance,
    /// Columns to leave out.
    Drop,
    /// The encoding of a text file.
    Encoding,
    /// Verdicts in whole numbers.
    Exact,
    /// Distributions of columns within a class.
    Families,
    /// Columns to use.
    Features,
    /// Estimates that are finite also where rows are separated.
    Firth,
    /// The model written down.
    Formula,
    /// The width of a kernel.
    Gamma,
    /// Whether the first line has the names.
    Header,
    /// What sparse indices count from.
    IndexFrom,
    /// A model to start from.
    Init,
    /// Where all that a model holds is shown.
    Inspect,
    /// Whether there is one, and whether it is penalised.
    Intercept,
    /// How intervals of coefficients are made.
    Interval,
    /// Where a whole answer is given, however long.
    Json,
    /// Whether sums over the rows stay in the model.
    KeepStatistics,
    /// The kernel of a machine.
    Kernel,
    /// The penalties of a path.
    LambdaValues,
    /// How sure an interval is.
    Level,
    /// Most levels of a text column.
    Levels,
    /// What is minimised.
    Loss,
    /// The margin of simulated classes.
    Margin,
    /// The memory that the cells of a table may take.
    Memory,
    /// What becomes of missing cells.
    Missing,
    /// The method.
    Model,
    /// How several classes are fitted.
    Multiclass,
    /// Words that stand for missing cells.
    NaValues,
    /// Columns to read as numbers.
    Number,
    /// What weights cost.
    Penalty,
    /// Probabilities of the classes.
    Priors,
    /// Nearest points of the boundary.
    Projection,
    /// Levels without an indicator.
    Reference,
    /// Rows to show or to draw.
    Rows,
    /// The number that the score of the last of two classes must exceed.
    ScoreThreshold,
    /// The directory of scratch files.
    Scratch,
    /// How covariances are mixed with the identity.
    Shrinkage,
    /// The sheet of a workbook.
    Sheet,
    /// Lines before the table.
    Skip,
    /// What is added to counts.
    Smoothing,
    /// The algorithm.
    Solver,
    /// Whether columns get a common scale.
    Standardize,
    /// The length of a step.
    Step,
    /// The numbers that least squares fits.
    Targets,
    /// Columns to read as text.
    TextColumns,
    /// The sign between groups of digits.
    Thousands,
    /// The side of an exact tie.
    Tie,
    /// What becomes of ties.
    Ties,
    /// When a fit is good enough.
    Tolerance,
    /// What is done to columns of numbers.
    Transform,
    /// To which of them.
    TransformColumns,
    /// How many features of a Boolean rule must be true.
    TrueOf,
    /// Shares of the classes where predictions are made.
    TruePriors,
    /// What becomes of unknown levels.
    Unknown,
    /// What is added to variances.
    VarianceSmoothing,
    /// What pairs of classes vote with.
    Vote,
    /// Rows that a model was fitted on, given once more.
    With,
}

impl Setting {
    /// Every setting, for tests of a face's words.
    pub const ALL: [Setting; 74] = [
        Setting::Basis,
        Setting::BasisColumns,
        Setting::Batch,
        Setting::C,
        Setting::Cache,
        Setting::Calibrate,
        Setting::CalibrateFolds,
        Setting::Coef0,
        Setting::Comment,
        Setting::Conformal,
        Setting::ConformalBy,
        Setting::ConformalShare,
        Setting::Covariance,
        Setting::CrossValidation,
        Setting::Date,
        Setting::Decimal,
        Setting::Degree,
        Setting::Distance,
        Setting::Drop,
        Setting::Encoding,
        Setting::Exact,
        Setting::Families,
        Setting::Features,
        Setting::Firth,
        Setting::Formula,
        Setting::Gamma,
        Setting::Header,
        Setting::IndexFrom,
        Setting::Init,
        Setting::Inspect,
        Setting::Intercept,
        Setting::Interval,
        Setting::Json,
        Setting::KeepStatistics,
        Setting::Kernel,
        Setting::LambdaValues,
        Setting::Level,
        Setting::Levels,
        Setting::Loss,
        Setting::Margin,
        Setting::Memory,
        Setting::Missing,
        Setting::Model,
        Setting::Multiclass,
        Setting::NaValues,
        Setting::Number,
        Setting::Penalty,
        Setting::Priors,
        Setting::Projection,
        Setting::Reference,
        Setting::Rows,
        Setting::ScoreThreshold,
        Setting::Scratch,
        Setting::Sheet,
        Setting::Shrinkage,
        Setting::Skip,
        Setting::Smoothing,
        Setting::Solver,
        Setting::Standardize,
        Setting::Step,
        Setting::Targets,
        Setting::TextColumns,
        Setting::Thousands,
        Setting::Tie,
        Setting::Ties,
        Setting::Tolerance,
        Setting::Transform,
        Setting::TransformColumns,
        Setting::TrueOf,
        Setting::TruePriors,
        Setting::Unknown,
        Setting::VarianceSmoothing,
        Setting::Vote,
        Setting::With,
    ];

    /// The setting with a value.
    pub fn is(self, value: impl ToString) -> Span {
        Span::Setting(self, vec![value.to_string()])
    }

    /// The setting with any of some values.
    pub fn any<V: ToString>(self, values: impl IntoIterator<Item = V>) -> Span {
        Span::Setting(self, values.into_iter().map(|v| v.to_string()).collect())
    }

    /// What the library calls it.
    pub fn name(self) -> &'static str {
        match self {
            Setting::Basis => "basis",
            Setting::BasisColumns => "basis columns",
            Setting::Batch => "batch",
            Setting::C => "C",
            Setting::Cache => "cache",
            Setting::Calibrate => "calibration",
            Setting::CalibrateFolds => "calibration folds",
            Setting::Coef0 => "coef0",
            Setting::Comment => "comment",
            Setting::Conformal => "conformal",
            Setting::ConformalBy => "conformal by",
            Setting::ConformalShare => "conformal share",
            Setting::Covariance => "covariance",
            Setting::CrossValidation => "cross-validation",
            Setting::Date => "date columns",
            Setting::Decimal => "decimal sign",
            Setting::Degree => "degree",
            Setting::Distance => "distance",
            Setting::Drop => "drop",
            Setting::Encoding => "encoding",
            Setting::Exact => "exact arithmetic",
            Setting::Families => "family",
            Setting::Features => "features",
            Setting::Firth => "Firth's estimates",
            Setting::Formula => "formula",
            Setting::Gamma => "gamma",
            Setting::Header => "no header",
            Setting::IndexFrom => "index from",
            Setting::Init => "start",
            Setting::Inspect => "the whole model",
            Setting::Intercept => "intercept",
            Setting::Interval => "interval",
            Setting::Json => "the full answer",
            Setting::KeepStatistics => "keep statistics",
            Setting::Kernel => "kernel",
            Setting::LambdaValues => "lambdas",
            Setting::Level => "level",
            Setting::Levels => "max levels",
            Setting::Loss => "loss",
            Setting::Margin => "margin",
            Setting::Missing => "missing",
            Setting::Model => "method",
            Setting::Multiclass => "multiclass",
            Setting::NaValues => "words of missing cells",
            Setting::Number => "number columns",
            Setting::Penalty => "penalty",
            Setting::Priors => "priors",
            Setting::Projection => "projection",
            Setting::Reference => "reference levels",
            Setting::Rows => "rows",
            Setting::ScoreThreshold => "score threshold",
            Setting::Shrinkage => "shrinkage",
            Setting::Sheet => "sheet",
            Setting::Memory => "memory",
            Setting::Scratch => "scratch",
            Setting::Skip => "lines to skip",
            Setting::Smoothing => "smoothing",
            Setting::Solver => "solver",
            Setting::Standardize => "standardize",
            Setting::Step => "step",
            Setting::Targets => "targets",
            Setting::TextColumns => "text columns",
            Setting::Thousands => "thousands sign",
            Setting::Tie => "side of a tie",
            Setting::Ties => "ties",
            Setting::Tolerance => "tolerance",
            Setting::Transform => "transform",
            Setting::TransformColumns => "transformed columns",
            Setting::TrueOf => "m",
            Setting::TruePriors => "true priors",
            Setting::Unknown => "unknown",
            Setting::VarianceSmoothing => "variance smoothing",
            Setting::Vote => "vote",
            Setting::With => "with",
        }
    }
}

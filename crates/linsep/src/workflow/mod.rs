//! The whole pipeline for tables: what the command and the Python package call.

mod again;
mod agree;
mod arrays;
mod assemble;
mod at_point;
mod bootstrap;
mod calibrate;
mod classical;
mod compare;
mod conformal;
mod contest;
mod cross_validate;
mod describe;
mod explain;
mod fit;
mod folds;
mod geometry;
mod given;
mod guarantee;
mod infer;
mod infer_split;
mod judge;
mod known_risk;
mod left_out;
mod multi_label;
mod multiclass;
mod options;
mod partitions;
mod path;
mod permutation;
mod places;
mod plan;
mod population;
mod predict;
mod replicates;
mod rows;
mod running;
mod scheme_geometry;
mod scratch_rows;
mod separable;
mod simulate;
mod source;
mod start;
mod statistics;
mod study;
mod study_parameters;
mod support;
mod tune;
mod update;
mod updated_rows;
mod verdict;
mod verify;

pub use bootstrap::{BootstrapCoefficient, BootstrapFit, BootstrapOptions, TableBootstrap, bootstrap_table};
pub use classical::{ClassicalAnswer, ClassicalInference, ClassicalModel, infer_classical};
pub use contest::{Contest, ContestEntry, ContestMethod, ContestOptions, compare_methods};
pub use describe::{
    Becomes, CorrelatedColumns, DescribedColumn, Description, NumberFigures, RepeatedRows, describe_table,
};
pub use explain::{
    ExplainOptions, ExplainedBy, ExplainedRow, ExplainedScore, ExplainedTerm, ExplainedValue, ExplanationBase,
    explain_table,
};
pub use fit::{TableFit, TableRefusal, fit_table};
pub use geometry::{GeometryOptions, TableGeometry, geometry_table};
#[doc(hidden)]
pub use given::given_from_json;
pub use given::given_model;
pub use guarantee::{Guaranteed, MarginQuestion, guarantee_table};
pub use infer::{InferOptions, TableInference, infer_table, inference_of_model};
pub use infer_split::{SplitInference, SplitOptions, infer_after_choice};
pub use judge::{FurtherQuestions, JudgedFurther, compare_models, judge_table};
pub use known_risk::{KnownRisk, risk_under_truth};
pub use multi_label::{JudgedLabels, evaluate_label_table, fit_labels};
pub use multiclass::{Approach, Multiclass};
pub use options::{CalibrationOptions, FitOptions};
pub use path::{PathFit, TablePath, path_table};
pub use permutation::{PermutationStatistic, PermutationTest, permutation_test};
pub use population::{PopulationEstimate, PopulationKnown, estimate_population};
pub use predict::{Judged, Predictions, evaluate_table, predict_table};
pub use running::RunningFit;
pub(crate) use separable::SHOWN_BOUNDARY;
pub use separable::{Question, Scope, SeparableOptions, TableSeparability, separable_table};
pub use study::{Coverage, SampleMean, StudiedEstimate, StudiedMethod, StudiedSize, Study, StudyOptions, study};
pub use study_parameters::StudyParameter;
pub use support::{SupportRow, SupportTable, support_tables};
pub use tune::{Candidate, FoldKind, TuneMetric, TuneOptions, TuneRule, Tuning, tune_table};
pub use update::{RowChange, UpdateRestart, update_statistics, update_with_rows};
pub use verdict::Check;
pub use verify::{Verification, verify_table};

// For the other stages, the command, the extension and the tests: nothing is promised about these.
#[doc(hidden)]
pub use self::{
    again::options_of,
    arrays::{
        Arrays, fit_arrays, measure_design, path_arrays, predict_design, refit_arrays, separable_arrays,
        support_arrays, verify_arrays,
    },
    explain::{ContributionMatrix, explain_design},
    geometry::geometry_of,
    infer::infer_arrays,
    left_out::left_out_arrays,
    partitions::{PartitionedModel, PartitionedRows, fit_partitions},
    simulate::model_classes,
    tune::{TrialJournal, TrialPlace, tune_table_kept},
    verify::refit_table,
};

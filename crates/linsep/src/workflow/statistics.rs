//! The sums over the rows that a model keeps, and the model that such sums make.

use super::assemble::{KnownOfRows, without_coding};
use super::options::FitOptions;
use super::plan::Plan;
use super::running::RunningFit;
use super::source::Source;
use crate::artifact::{KeptStatistics, Model, RowsRecord, TrainingSummary};
use crate::design::{Design, Encoding, Recipe, Tile, Transform, Units};
use crate::error::{Error, Result};
use crate::model::{LeastSquaresSolver, Method, Shrinkage};
use crate::stats::whole_row;
use crate::watch::Watch;
use crate::words::{Setting, words};

/// Refuses to keep the statistics of a fit that is more than a function of them, before any work is done for it.
pub(super) fn check_keepable(options: &FitOptions, plan: &Plan) -> Result<()> {
    if !options.keep_statistics {
        return Ok(());
    }
    let keep = Setting::KeepStatistics;
    let refuse = |setting: Setting, why: &str| {
        let fact = words![keep, " keeps sums over the rows, and ", setting, why.to_owned()];
        Err(Error::usage(fact).help("leave one of the two out"))
    };
    match &options.method {
        Method::Gaussian(m) if m.shrinkage == Shrinkage::LedoitWolf => {
            return refuse(Setting::Shrinkage, " by Ledoit and Wolf needs the rows");
        }
        Method::LeastSquares(m) if m.solver == LeastSquaresSolver::Qr => {
            return refuse(Setting::Solver, " by QR needs the rows");
        }
        Method::Gaussian(_) | Method::NaiveBayes(_) | Method::LeastSquares(_) => {}
        other => {
            return Err(Error::usage(words![
                keep,
                " is for methods that are functions of sums over the rows, and ",
                Setting::Model.is(other.name()),
                " is not"
            ])
            .help(words!["choose ", Setting::Model.any(["lda", "qda", "naive-bayes", "least-squares"])])
            .help("leave it out: such a model is updated by giving all rows again"));
        }
    }
    let asked = [
        (options.recipe.missing.fills_in(), Setting::Missing, " fills in means that change with every row"),
        (options.recipe.transform != Transform::None, Setting::Transform, " needs the ranks of all rows"),
        (options.calibration.is_some(), Setting::Calibrate, " needs the rows"),
        (options.conformal.is_some(), Setting::Conformal, " needs the rows"),
        (options.recipe.formula.is_some(), Setting::Formula, " may learn knots and polynomials from the rows"),
        (plan.split.is_some(), Setting::Multiclass, " makes a fit of each pair or class"),
    ];
    if let Some((_, setting, why)) = asked.into_iter().find(|(asked, ..)| *asked) {
        return refuse(setting, why);
    }
    match options.class_weights.is_some() {
        true => Err(Error::usage(words![keep, " keeps sums over the rows, and weights of classes change with them"])
            .help("leave one of the two out")),
        false => Ok(()),
    }
}

/// The sums over the rows of a fit.
pub(super) fn statistics_of(source: &Source<'_>, options: &FitOptions) -> Result<KeptStatistics> {
    let running = running_of(source, options, true)?;
    counted(source, &running)
}

/// The rows of a source as sums.
fn running_of(source: &Source<'_>, options: &FitOptions, text: bool) -> Result<RunningFit> {
    let classes = source.labels.names().to_vec();
    let mut running = RunningFit::of_recipe(options, source.recipe.clone(), classes, text)?;
    let weights = source.weights.as_deref();
    running.add_rows(source.design(), &source.labels, weights, &Watch::default()).map_err(|e| source.name(e))?;
    Ok(running)
}

fn counted(source: &Source<'_>, running: &RunningFit) -> Result<KeptStatistics> {
    let totals = source.labels.totals(None);
    Ok(KeptStatistics {
        columns: source.table_columns().to_vec(),
        class_rows: totals.into_iter().map(|n| n as usize).collect(),
        level_rows: level_rows(source.design(), &source.recipe)?,
        sums: running.kept(),
    })
}

/// How many rows have each level of each text column.
pub(super) fn level_rows(design: &dyn Design, recipe: &Recipe) -> Result<Vec<Vec<usize>>> {
    let mut at = 0;
    let mut text = Vec::new();
    for column in &recipe.columns {
        if let Encoding::Levels { levels, reference, .. } = &column.encoding {
            let hidden = reference.as_ref().and_then(|r| levels.iter().position(|l| l == r));
            text.push((at, levels.len(), hidden));
        }
        at += column.width();
    }
    let mut found: Vec<Vec<usize>> = text.iter().map(|(_, levels, _)| vec![0; *levels]).collect();
    if text.is_empty() {
        return Ok(found);
    }
    let (rows, identity) = (design.shape().rows, Units::identity(design.shape().cols));
    let (mut tile, mut values) = (Tile::default(), Vec::new());
    for row in 0..rows {
        let values = whole_row(design.block(row..row + 1, &mut tile)?, &identity, &mut values);
        for ((start, levels, hidden), counts) in text.iter().zip(&mut found) {
            // Without an indicator of its own, the reference level is where no other is.
            let place = |l: usize| start + l - usize::from(hidden.is_some_and(|h| l > h));
            let level = (0..*levels).filter(|l| Some(*l) != *hidden).find(|l| values[place(*l)] != 0.0);
            counts[level.or(*hidden).unwrap_or(0)] += 1;
        }
    }
    Ok(found)
}

/// What a model of sums states of its rows, besides the sums.
pub(super) struct RowsOfSums {
    pub(super) training: TrainingSummary,
    pub(super) statistics: Option<KeptStatistics>,
    pub(super) fingerprint: String,
    pub(super) updates: Vec<RowsRecord>,
}

/// The model of sums over rows: what the rows alone could tell (accuracy, printed digits) it does not state.
pub(super) fn model_of_sums(
    running: &RunningFit,
    options: &FitOptions,
    rows: RowsOfSums,
    watch: &Watch,
) -> Result<Model> {
    let mut model = running.model(options, watch)?;
    model.recipe.columns.iter_mut().for_each(|c| c.forget_printed());
    model.notes = without_coding(std::mem::take(&mut model.notes), &model.recipe);
    model.weights.clone_from(&options.weights);
    model.true_priors.clone_from(&options.true_priors);
    model.training = TrainingSummary {
        total_weight: running.weights().iter().sum(),
        class_weights: running.weights().to_vec(),
        ..rows.training
    };
    model.statistics = rows.statistics;
    model.provenance.fingerprint = rows.fingerprint;
    model.provenance.updates = rows.updates;
    Ok(model)
}

/// The model that the sums over these rows make, as an update of a model makes it.
pub(super) fn source_by_sums(
    source: &Source<'_>,
    options: &FitOptions,
    known: &KnownOfRows,
    updates: &[RowsRecord],
    watch: &Watch,
) -> Result<Model> {
    let running = running_of(source, options, known.target_is_text)?;
    let training = TrainingSummary {
        rows: source.counts.rows,
        used: source.rows.len(),
        total_weight: 0.0,
        missing_target: source.counts.missing_target,
        zero_weight: source.counts.zero_weight,
        held_back: 0,
        missing: source.counts.missing.clone(),
        filled: source.counts.filled_cells(),
        class_weights: Vec::new(),
        accuracy: None,
        rejected: None,
        undetermined: None,
    };
    let statistics = options.keep_statistics.then(|| counted(source, &running)).transpose()?;
    let (fingerprint, updates) = (known.fingerprint.clone(), updates.to_vec());
    let rows = RowsOfSums { training, statistics, fingerprint, updates };
    let model = model_of_sums(&running, options, rows, watch)?;
    Ok(Model { reading: known.reading.clone(), ..model })
}

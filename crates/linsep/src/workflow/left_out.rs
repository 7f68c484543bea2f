//! Every row of a matrix scored by the fit to all the others.

use super::arrays::Arrays;
use super::options::FitOptions;
use super::plan::Plan;
use super::source::Source;
use crate::design::gather;
use crate::error::{Error, Result};
use crate::model::{ClassWeights, Fit, Method, RowsLeftOut};
use crate::watch::{Progress, Watch};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Scores of every row by the fit without it, row by row: by a formula for least squares in closed form and LDA, otherwise by as
/// many fits.
///
/// ```
/// use linsep::design::DenseMatrix;
/// use linsep::model::{LeastSquaresSettings, Method};
/// use linsep::table::Labels;
/// use linsep::workflow::{Arrays, FitOptions, left_out_arrays};
/// let x = DenseMatrix::new(&[0.0, 1.0, 2.0, 4.0][..], 1)?;
/// let labels = Labels::from_names(["a", "a", "b", "b"]);
/// let arrays = Arrays { design: &x, names: vec!["x".into()], labels, labels_are_text: true, weights: None };
/// let options = FitOptions::new("y", Method::LeastSquares(LeastSquaresSettings::default()));
/// let scores = left_out_arrays(arrays, &options, &Default::default())?;
/// // The line of (1, −1), (2, 1) and (4, 1) is 1/3 + 4/7·(x − 7/3): at 0 it is −1.
/// assert!((scores[0] + 1.0).abs() < 1e-12, "{scores:?}");
/// # Ok::<(), linsep::Error>(())
/// ```
///
/// # Errors
/// A class with one row, weights of zero, and whatever is wrong with a fit.
pub fn left_out_arrays(arrays: Arrays<'_>, options: &FitOptions, watch: &Watch) -> Result<Vec<f64>> {
    let plan = Plan::of(options, arrays.labels.names())?;
    if options.calibration.is_some() {
        return Err(Error::usage("folds are made of tables, not of arrays"));
    }
    let source = arrays.source()?;
    if source.rows.len() < source.counts.rows {
        return Err(Error::data("a row of weight 0 is not there to be left out").help("leave it out of the rows"));
    }
    for (class, name) in source.labels.names().iter().enumerate() {
        if source.labels.codes().iter().filter(|c| c.index() == class).count() == 1 {
            return Err(Error::data(format!(
                "class `{name}` has one row: it cannot be left out and the class still be learned"
            ))
            .help("give the class more rows, or leave it out"));
        }
    }
    let method = options.method.aligned(&source.recipe, source.labels.names())?;
    let balanced = matches!(options.class_weights, Some(ClassWeights::Balanced));
    let by_formula = match plan.split.is_none() && !balanced {
        true => {
            let weights = super::folds::with_class_weights(&source, options)?;
            let training = source.training(weights.as_deref().or(source.weights.as_deref()));
            method.left_out(&training, watch).map_err(|e| source.name(e))?
        }
        false => None,
    };
    let n_scores = if source.labels.n_classes() == 2 { 1 } else { source.labels.n_classes() };
    let rows = source.rows.len();
    let RowsLeftOut { mut scores, open } = by_formula
        .unwrap_or_else(|| RowsLeftOut { scores: vec![f64::NAN; rows * n_scores], open: (0..rows).collect() });
    let done = AtomicUsize::new(0);
    let one = |row: &usize| {
        let found = by_fit(&source, options, (&plan, &method), *row, watch);
        watch.report(Progress::Fold { done: done.fetch_add(1, Ordering::Relaxed) + 1, total: open.len() });
        found
    };
    let fitted: Vec<Result<Vec<f64>>> = open.par_iter().map(one).collect();
    for (row, found) in open.iter().zip(fitted) {
        scores[row * n_scores..(row + 1) * n_scores].copy_from_slice(&found?);
    }
    Ok(scores)
}

/// Scores of one row by a fit to the others.
fn by_fit(
    source: &Source<'_>,
    options: &FitOptions,
    (plan, method): (&Plan, &Method),
    row: usize,
    watch: &Watch,
) -> Result<Vec<f64>> {
    let kept: Vec<usize> = (0..source.rows.len()).filter(|other| *other != row).collect();
    let (design, labels) = (gather(source.design(), &kept)?, source.labels.select(&kept));
    let plain: Option<Vec<f64>> = source.weights.as_ref().map(|w| kept.iter().map(|i| w[*i]).collect());
    let factored = match &options.class_weights {
        Some(weights) => weights.for_rows(&labels, plain.as_deref())?.weighted(&labels, plain.as_deref()),
        None => None,
    };
    let weights = factored.as_deref().or(plain.as_deref());
    let training = source.training_of(design.as_design(), &labels, weights, None);
    let name = |e: Error| source.name_columns(e).in_context(format!("without row {}", row + 1));
    match plan.fit(method, &training, None, watch).map_err(name)? {
        Fit::Model(fit) => fit.whole.discriminant.scores(gather(source.design(), &[row])?.as_design(), watch),
        Fit::Refused(_) => Err(Error::data(format!("without row {} the fit has no solution", row + 1))
            .help("use a penalty, or fewer columns")),
    }
}

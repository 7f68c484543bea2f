//! Model and table to distances, margins and radii.

use super::predict::scored_rows;
use super::rows::RowRoles;
use super::scheme_geometry::{self, Votes};
use crate::artifact::Model;
use crate::design::{Design, UnknownLevel, leading_columns};
use crate::error::{Error, Result};
use crate::geometry::{Geometry, Measured, Scores, Sum, mahalanobis};
use crate::options::options;
use crate::table::{Class, Table};
use crate::watch::Watch;
use crate::words::{Setting, words};

options! {
/// What to measure beside distance, margin and radius.
#[derive(Debug, Clone, Copy, Default)]
pub struct GeometryOptions {
    /// Instead of the model's policy for new levels.
    pub unknown: Option<UnknownLevel>,
    /// The nearest point of the nearest boundary.
    pub projection: bool,
    /// Squared Mahalanobis distances to every class.
    pub mahalanobis: bool,
}
}

/// Where the rows of a table lie beside the boundaries of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct TableGeometry {
    /// Rows in the table.
    pub table_rows: usize,
    /// The table row of each measured row.
    pub rows: Vec<usize>,
    /// Whether the table has the target, and so rows have margins.
    pub labelled: bool,
    /// The class of each measured row by the model's decision, as [`super::predict_table`] has it: `None` where it rejects
    /// the row. Where the model has no [`Model::cuts`] it may differ from the class of the measures.
    pub predictions: Vec<Option<Class>>,
    /// The measures.
    pub measured: Measured,
    /// Squared Mahalanobis distances, row by row and class by class, where asked for.
    pub mahalanobis: Option<Vec<f64>>,
}

/// Numbers of projected rows at most: 2 GB as doubles.
const MOST_PROJECTED: usize = 1 << 28;

/// Most columns of which the eigenvectors of a quadric are found: each boundary takes some seconds there.
const MOST_CURVED: usize = 1_000;

/// The boundaries of a model: where its decision changes, rejection left aside, if that is where two scores differ by a
/// constant ([`Model::cuts`]); otherwise where the largest score does.
/// Of two-class fits the surfaces where their scores are zero, unless their largest (sum of) scores decides.
///
/// # Errors
/// Where probabilities of two-class fits decide and no such boundaries bound their regions.
pub fn geometry_of(model: &Model, watch: &Watch) -> Result<Geometry> {
    let n_classes = model.classes.len();
    if let Some(scheme) = model.decision.scheme() {
        if scheme_geometry::sums_pairs(scheme) {
            return scheme_geometry::of_sums(&scores_of(model)?, n_classes);
        }
        if !scheme.is_arg_max() {
            let sides: Vec<(Option<Class>, Class)> = model.score_parts().iter().map(|p| (p.against, p.class)).collect();
            return scores_of(model)?.zeros(&sides, n_classes);
        }
    }
    if let Some(machine) = scheme_geometry::TwoClassMachine::of(model)? {
        return machine.geometry(&scores_of(model)?);
    }
    let cuts = cuts(model);
    if !model.recipe.is_linear() {
        let moved = |(k, cut): (usize, &f64)| Sum { terms: vec![(k, 1.0)], constant: 0.0 - cut };
        let scores = scores_of(model)?.summed(&cuts.iter().enumerate().map(moved).collect::<Vec<Sum>>())?;
        return match n_classes {
            2 => scores.zeros(&[(Some(Class(0)), Class(1))], 2),
            _ => scores.largest(),
        };
    }
    let moved = match cuts.iter().all(|c| *c == 0.0) {
        true => None,
        false => Some(model.discriminant.plus(&cuts.iter().map(|c| -c).collect::<Vec<f64>>())?),
    };
    Geometry::of(moved.as_ref().unwrap_or(&model.discriminant), model.density.as_ref(), watch)
}

/// The scores as functions of the columns where these were multiplied or transformed: quadratic in them, or planes in the space
/// of the features that were made of them.
fn scores_of(model: &Model) -> Result<Scores<'_>> {
    if model.recipe.is_linear() || model.discriminant.as_kernel().is_some() {
        return Scores::of(&model.discriminant);
    }
    let Some(linear) = model.discriminant.as_linear() else {
        return Err(Error::model(
            "distance, margin and radius are not defined for curved scores of columns that were multiplied or transformed",
        )
        .help(words!["fit it without ", Setting::Basis, " and ", Setting::Transform])
        .help("fit a model that is linear in its features"));
    };
    match model.recipe.column_products() {
        Some(products) if linear.n_cols() - products.len() <= MOST_CURVED => Scores::of_products(linear, &products),
        _ => Ok(Scores::of_features(linear)),
    }
}

/// The constants subtracted from the scores so that the sign of one, or the largest of several, decides.
fn cuts(model: &Model) -> Vec<f64> {
    model.cuts().unwrap_or_else(|| vec![0.0; model.discriminant.n_scores()])
}

/// Measures every row of a table that has all the cells the model needs; columns are matched by name.
pub fn geometry_table(
    model: &Model,
    geometry: &Geometry,
    table: &Table,
    options: &GeometryOptions,
    watch: &Watch,
) -> Result<TableGeometry> {
    let labels = labels(model, table)?;
    if options.projection && table.n_rows().saturating_mul(geometry.n_cols()) > MOST_PROJECTED {
        return Err(Error::usage(format!(
            "the projections of {} rows on {} columns are too many numbers",
            table.n_rows(),
            geometry.n_cols()
        ))
        .help("project fewer rows at a time")
        .help(words!["leave ", Setting::Projection, " out"]));
    }
    if options.projection && geometry.is_of_feature_space() {
        return Err(Error::usage("a boundary in a feature space has no nearest point among the rows").help(words![
            "leave ",
            Setting::Projection,
            " out"
        ]));
    }
    let (prepared, scores) = scored_rows(model, table, &vec![true; table.n_rows()], options.unknown, watch)?;
    let predictions = model.decision.classes(&model.deciding_scores(scores.clone()), model.classes.len())?;
    let design = prepared.design.as_design();
    let of_rows = labels.as_ref().map(|l| prepared.rows.iter().map(|r| l[*r]).collect::<Vec<Option<Class>>>());
    let measured = measure(model, geometry, design, scores, of_rows.as_deref(), options.projection, watch)?;
    let distances =
        options.mahalanobis.then(|| mahalanobis(&model.discriminant, model.density.as_ref(), design, watch));
    let mahalanobis = distances.transpose()?;
    Ok(TableGeometry {
        table_rows: table.n_rows(),
        labelled: labels.is_some(),
        predictions,
        rows: prepared.rows,
        measured,
        mahalanobis,
    })
}

/// Measures the rows of a design by their scores.
pub(super) fn measure(
    model: &Model,
    geometry: &Geometry,
    design: &dyn Design,
    mut scores: Vec<f64>,
    labels: Option<&[Option<Class>]>,
    projection: bool,
    watch: &Watch,
) -> Result<Measured> {
    let leading;
    let design = match geometry.n_cols() < design.shape().cols {
        true => {
            leading = leading_columns(design, geometry.n_cols())?;
            &leading
        }
        false => design,
    };
    if let Some(machine) = scheme_geometry::TwoClassMachine::of(model)? {
        machine.apply(&mut scores);
    }
    let cuts = cuts(model);
    for row in scores.chunks_exact_mut(cuts.len()) {
        row.iter_mut().zip(&cuts).for_each(|(z, cut)| *z -= cut);
    }
    let n_classes = model.classes.len();
    match model.decision.scheme() {
        Some(scheme) if !scheme.is_arg_max() => {
            if projection {
                return Err(Error::usage(words![
                    Setting::Projection,
                    " is for boundaries of the decision, not of two-class fits"
                ])
                .help("leave it out")
                .help(words!["choose ", Setting::Multiclass.any(["linear-machine", "joint"])]));
            }
            let votes = Votes::new(scheme, &scores_of(model)?, geometry)?;
            votes.measure(design, &scores, labels, watch)
        }
        scheme => {
            if scheme.is_some_and(scheme_geometry::sums_pairs) {
                scores = scheme_geometry::summed_scores(&scores, n_classes);
            }
            geometry.measure(design, &scores, labels, projection, watch)
        }
    }
}

/// The labels, where the table has the target.
fn labels(model: &Model, table: &Table) -> Result<Option<Vec<Option<Class>>>> {
    if !table.columns().iter().any(|c| c.name == model.target) {
        return Ok(None);
    }
    let roles = RowRoles::of(table, &model.target, None, &[])?;
    Ok(Some(roles.in_terms_of(table, &model.target, &model.classes)?.classes))
}

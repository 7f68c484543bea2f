//! How good a model is on rows, and where its boundaries are.

use crate::errors::{LinsepError, raise};
use crate::fit::word;
use crate::input::{Features, doubles};
use crate::labels::labels;
use crate::model::Model;
use crate::pool::{Manner, run};
use crate::table::{free_name, with_labels, with_weights};
use crate::voice;
use linsep::artifact;
use linsep::design::UnknownLevel;
use linsep::evaluate::{Bootstrap, WantedFigure};
use linsep::report::{
    Window, against_json, against_text, details_json, details_text, evaluation_json, evaluation_text, geometry_json,
    geometry_text, losses_json, losses_text, measured_text, regions_json, thresholds_json, thresholds_text,
    window_json,
};
use linsep::table::Table;
use linsep::workflow::{
    FurtherQuestions, GeometryOptions, TableGeometry, compare_models, geometry_of, geometry_table, judge_table,
};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What becomes of levels that the model does not know; `None` for what it was fitted with.
fn unknown_level(said: Option<&str>) -> PyResult<Option<UnknownLevel>> {
    word(
        "unknown",
        said,
        &[("error", UnknownLevel::Error), ("missing", UnknownLevel::Missing), ("zero", UnknownLevel::Zero)],
    )
}

fn table_of(x: &Bound<'_, PyAny>) -> PyResult<Table> {
    match Features::of(x)? {
        Features::Table(table) => Ok(*table),
        _ => Err(LinsepError::new_err("features must be a table")),
    }
}

/// The rows with their labels as the column that the model predicts; a column of that name must be the labels themselves.
fn labelled(model: &artifact::Model, table: Table, y_codes: Option<&Bound<'_, PyAny>>) -> PyResult<Table> {
    let there = table.columns().iter().any(|c| c.name == model.target);
    match (y_codes, there) {
        (None, _) => Ok(table),
        (Some(_), true) => Err(LinsepError::new_err(format!(
            "X has the column {:?}, which is what the model predicts: leave it out of X, or y",
            model.target
        ))),
        (Some(codes), false) => {
            let labels = labels(codes, model.classes.clone())?;
            with_labels(table, &model.target, &labels, model.target_is_text)
        }
    }
}

/// How good a model is: in words, and as JSON.
#[pyfunction]
#[pyo3(signature = (model, x, y_codes=None, *, sample_weight=None, details=false, wanted=vec![], against=None,
    replicates=1999, seed=0, unknown=None, n_threads=0))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn evaluate(
    py: Python<'_>,
    model: &Model,
    x: &Bound<'_, PyAny>,
    y_codes: Option<&Bound<'_, PyAny>>,
    sample_weight: Option<&Bound<'_, PyAny>>,
    details: bool,
    wanted: Vec<(String, f64)>,
    against: Option<&Model>,
    replicates: usize,
    seed: u64,
    unknown: Option<&str>,
    n_threads: usize,
) -> PyResult<(String, String)> {
    let figures = [
        ("recall", WantedFigure::Recall),
        ("precision", WantedFigure::Precision),
        ("specificity", WantedFigure::Specificity),
    ];
    let figure = |(name, share): &(String, f64)| Ok(word("want", Some(name), &figures)?.map(|figure| (figure, *share)));
    let wanted = wanted.iter().map(figure).collect::<PyResult<Vec<_>>>()?.into_iter().flatten().collect();
    let asked = FurtherQuestions { unknown: unknown_level(unknown)?, details, wanted };
    let mut own = model.inner().clone();
    let mut table = labelled(&own, table_of(x)?, y_codes)?;
    if let Some(weights) = doubles(sample_weight)? {
        let name = free_name(&table, "sample_weight");
        table = with_weights(table, &name, &weights)?;
        own.weights = Some(name);
    } else if own.weights.as_ref().is_some_and(|name| !table.columns().iter().any(|c| c.name == *name)) {
        // Weights of the fit are those of its rows.
        own.weights = None;
    }
    let other = against.map(|other| artifact::Model { weights: own.weights.clone(), ..other.inner().clone() });
    let manner = Manner::threads(n_threads);
    let (further, against) = run(py, &manner, |watch| {
        let further = judge_table(&own, &table, &asked, watch)?;
        let bootstrap = Bootstrap { replicates, seed };
        let compared = other.map(|o| compare_models(&own, &o, &table, asked.unknown, bootstrap, watch)).transpose()?;
        Ok((further, compared))
    })?;
    let mut text = evaluation_text(&further.judged);
    text.extend(further.details.as_ref().map(details_text));
    text.extend(further.losses.as_ref().map(losses_text));
    text.extend(further.thresholds.as_ref().map(thresholds_text));
    text.extend(against.as_ref().map(against_text));
    let json = || -> linsep::Result<serde_json::Value> {
        let mut value = evaluation_json(&further.judged)?;
        value["of_training"] = further.of_training.into();
        if let Some(details) = &further.details {
            value["details"] = details_json(details)?;
        }
        if let (Some(losses), Some(_)) = (&further.losses, &further.details) {
            value["details"]["losses"] = losses_json(losses)?;
        }
        if let Some(thresholds) = &further.thresholds {
            value["thresholds"] = thresholds_json(thresholds)?;
        }
        if let Some(against) = &against {
            value["against"] = against_json(against)?;
        }
        Ok(value)
    };
    Ok((text, json().map_err(|e| raise(py, &e))?.to_string()))
}

/// Text, JSON and, of rows, arrays by name.
type Shown<'py> = (String, String, Option<Bound<'py, PyDict>>);

/// The boundaries of a model, and rows measured beside them.
#[pyfunction]
#[pyo3(signature = (model, x=None, y_codes=None, *, projection=false, mahalanobis=false, regions=false, window=None,
    unknown=None, n_threads=0))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn geometry<'py>(
    py: Python<'py>,
    model: &Model,
    x: Option<&Bound<'py, PyAny>>,
    y_codes: Option<&Bound<'py, PyAny>>,
    projection: bool,
    mahalanobis: bool,
    regions: bool,
    window: Option<Vec<(String, f64, f64)>>,
    unknown: Option<&str>,
    n_threads: usize,
) -> PyResult<Shown<'py>> {
    let own = model.inner();
    let manner = Manner::threads(n_threads);
    let boundaries = run(py, &manner, |watch| geometry_of(own, watch))?;
    let options = GeometryOptions { unknown: unknown_level(unknown)?, projection, mahalanobis };
    let measured = match x {
        None => None,
        Some(x) => {
            let table = labelled(own, table_of(x)?, y_codes)?;
            let data = run(py, &manner, |watch| geometry_table(own, &boundaries, &table, &options, watch))?;
            Some((table, data))
        }
    };
    let mut value = geometry_json(own, &boundaries, measured.as_ref().map(|(table, data)| (table, data)));
    if regions {
        value["inequalities"] = regions_json(own).map_err(|e| raise(py, &e))?;
    }
    if let Some(columns) = window {
        let columns = columns.try_into().map_err(|_| LinsepError::new_err("a window is of two columns"))?;
        value["window"] = window_json(own, &Window { columns }).map_err(|e| raise(py, &e))?;
    }
    let (text, rows) = match &measured {
        None => (geometry_text(own, &boundaries, &voice::Python), None),
        Some((table, data)) => (measured_text(own, table, data), Some(arrays_of(py, own, data, boundaries.n_cols())?)),
    };
    Ok((text, value.to_string(), rows))
}

/// What was measured of every row.
fn arrays_of<'py>(
    py: Python<'py>,
    model: &artifact::Model,
    data: &TableGeometry,
    columns: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let rows = &data.measured.rows;
    let found = PyDict::new(py);
    let code = |class: Option<linsep::table::Class>| class.map_or(-1, |c| c.index() as i64);
    let numbers = |number: &dyn Fn(&linsep::geometry::RowGeometry) -> f64| {
        PyArray1::from_vec(py, rows.iter().map(number).collect::<Vec<f64>>())
    };
    found.set_item("row", PyArray1::from_vec(py, data.rows.iter().map(|row| *row as i64).collect::<Vec<i64>>()))?;
    found.set_item(
        "prediction",
        PyArray1::from_vec(py, data.predictions.iter().map(|c| code(*c)).collect::<Vec<i64>>()),
    )?;
    found.set_item("boundary", PyArray1::from_vec(py, rows.iter().map(|r| code(r.nearest)).collect::<Vec<i64>>()))?;
    found.set_item("distance", numbers(&|r| r.distance))?;
    found.set_item("radius", numbers(&|r| r.radius))?;
    if data.labelled {
        found.set_item("margin", numbers(&|r| r.margin.unwrap_or(f64::NAN)))?;
        found.set_item("functional_margin", numbers(&|r| r.functional_margin.unwrap_or(f64::NAN)))?;
    }
    if let Some(distances) = &data.mahalanobis {
        let shape = [rows.len(), model.classes.len()];
        found.set_item("mahalanobis", PyArray1::from_vec(py, distances.clone()).reshape(shape)?)?;
    }
    if let Some(points) = &data.measured.projections {
        found.set_item("projection", PyArray1::from_vec(py, points.clone()).reshape([rows.len(), columns])?)?;
    }
    Ok(found)
}

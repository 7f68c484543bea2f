//! Searches over settings, comparisons of methods, and rows left out one by one.

use crate::errors::LinsepError;
use crate::fit::{class_weights, column_names, multiclass, word};
use crate::input::{Features, doubles};
use crate::labels::labels;
use crate::pool::{Manner, run};
use crate::settings::method;
use crate::table::{free_name, with_labels, with_weights};
use crate::voice;
use linsep::design::{Block, Design, Missing, Tile, Units};
use linsep::model::{Lambdas, Method, RiskMinimizer};
use linsep::report::{contest_json, contest_text, tuning_json, tuning_text};
use linsep::table::{Cells, Chunk, Column, Kind, Origin, RowPlaces, SparseRows, Table};
use linsep::workflow::{
    Arrays, Candidate, ContestMethod, ContestOptions, FitOptions, FoldKind, TuneMetric, TuneOptions, TuneRule,
    compare_methods, left_out_arrays, tune_table,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Rows of a matrix that are copied at once.
const ROWS: usize = 1024;

/// A copy of a matrix as a table: folds are made of tables.
fn table_of(design: &dyn Design, names: Vec<String>) -> PyResult<Table> {
    let shape = design.shape();
    let broken = |e: linsep::Error| LinsepError::new_err(e.to_string());
    let (mut tile, mut columns) = (Tile::default(), vec![Vec::with_capacity(shape.rows); names.len()]);
    let (units, mut values) = (Units::identity(shape.cols), Vec::new());
    let mut sparse = SparseRows { starts: vec![0], ..SparseRows::default() };
    for start in (0..shape.rows).step_by(ROWS) {
        let range = start..(start + ROWS).min(shape.rows);
        match design.block(range.clone(), &mut tile).map_err(broken)? {
            Block::F64(rows) => rows.load(&units, &mut values),
            Block::F32(rows) => rows.load(&units, &mut values),
            Block::Csr(rows) => {
                values.clear();
                for i in 0..range.len() {
                    let (at, values) = rows.row(i);
                    sparse.indices.extend_from_slice(at);
                    sparse.values.extend_from_slice(values);
                    sparse.starts.push(sparse.indices.len());
                }
            }
        }
        for row in values.chunks_exact(shape.cols.max(1)) {
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(*value));
        }
    }
    let origin = Origin { file: "X".into(), rows: RowPlaces::Numbered { first: 1 } };
    let is_sparse = names.is_empty();
    let cells = columns.into_iter().map(|column| Cells::F64(column.into())).collect();
    let chunk = Chunk { n_rows: shape.rows, cells, sparse: is_sparse.then_some(sparse), origin };
    let columns = names.into_iter().map(|name| Column { name, kind: Kind::Number }).collect();
    Ok(Table::new(columns, vec![chunk], if is_sparse { shape.cols } else { 0 }))
}

/// What is divided, and how.
struct Divided {
    table: Table,
    target: String,
    weights: Option<String>,
    kind: FoldKind,
    classes: Vec<String>,
}

/// The rows with labels, weights and the column that divides them.
#[expect(clippy::too_many_arguments, reason = "what Python says")]
fn divided(
    x: &Bound<'_, PyAny>,
    y_codes: &Bound<'_, PyAny>,
    classes: Vec<String>,
    target_is_text: bool,
    input_names: Option<Vec<String>>,
    sample_weight: Option<&Bound<'_, PyAny>>,
    kind: &str,
    by: Option<&Bound<'_, PyAny>>,
) -> PyResult<Divided> {
    let labels = labels(y_codes, classes.clone())?;
    let mut table = match Features::of(x)? {
        Features::Table(table) => *table,
        features => {
            // SAFETY: copied before anything else runs.
            let lent = unsafe { features.lend() }?;
            let names = column_names(input_names, &features, lent.as_design().shape().cols);
            table_of(lent.as_design(), names)?
        }
    };
    let target = free_name(&table, "y");
    table = with_labels(table, &target, &labels, target_is_text)?;
    let mut weights = None;
    if let Some(given) = doubles(sample_weight)? {
        let name = free_name(&table, "sample_weight");
        table = with_weights(table, &name, &given)?;
        weights = Some(name);
    }
    let mut column = String::new();
    if let Some(by) = doubles(by)? {
        column = free_name(&table, kind);
        table = with_weights(table, &column, &by)?;
    }
    let kind = match kind {
        "stratified" => FoldKind::Stratified,
        "groups" => FoldKind::Groups(column),
        "time" => FoldKind::Time(column),
        "folds" => FoldKind::Given(column),
        "loo" => FoldKind::LeaveOneOut,
        other => return Err(LinsepError::new_err(format!("there are no folds called {other:?}"))),
    };
    Ok(Divided { table, target, weights, kind, classes })
}

fn metric(name: Option<&str>) -> PyResult<Option<TuneMetric>> {
    word("metric", name, &TuneMetric::ALL.map(|m| (m.name(), m)))
}

/// Settings to try, as Python says them: names and values, a method and its settings, how classes are decided and weighted.
fn candidate(said: &Bound<'_, PyDict>, divided: &Divided, missing: Missing, seed: u64) -> PyResult<Candidate> {
    let text = |name: &str| -> PyResult<Option<String>> {
        said.get_item(name)?.filter(|v| !v.is_none()).map(|v| v.extract()).transpose()
    };
    let needed = |name: &str| text(name)?.ok_or_else(|| LinsepError::new_err(format!("a candidate has no {name}")));
    let settings: Vec<(String, String)> = match said.get_item("said")? {
        Some(pairs) => pairs.extract()?,
        None => Vec::new(),
    };
    let mut options = FitOptions::new(divided.target.clone(), method(&needed("method")?, &needed("settings")?)?);
    let scheme = (text("multiclass")?, text("vote")?, text("ties")?);
    options.multiclass = multiclass(scheme.0.as_deref(), scheme.1.as_deref(), scheme.2.as_deref())?;
    let weights = said.get_item("class_weight")?.filter(|v| !v.is_none());
    options.class_weights = class_weights(weights.as_ref(), &divided.classes)?;
    options.weights = divided.weights.clone();
    options.seed = seed;
    options.recipe.missing = missing;
    options.recipe.exclude.extend(divided.kind.column().map(str::to_owned));
    let path: Option<Vec<f64>> = said.get_item("costs")?.filter(|v| !v.is_none()).map(|v| v.extract()).transpose()?;
    Ok(Candidate { settings, options, path: path.map(Lambdas::Costs) })
}

fn missing_policy(name: &str) -> PyResult<Missing> {
    let policies = [("error", Missing::Error), ("drop", Missing::Drop), ("mean", Missing::Mean)];
    Ok(word("missing", Some(name), &policies)?.unwrap_or(Missing::Error))
}

/// Tries settings on folds: what was tried in words, as JSON, the place of the best, and whether time ran out.
#[pyfunction]
#[pyo3(signature = (x, y_codes, classes, candidates, *, target_is_text, input_names=None, sample_weight=None, folds=5,
    kind="stratified", by=None, repeats=1, metric=None, rule="least", nested=None, missing="error", n_threads=0,
    time_limit=None, seed=0, callback=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn tune(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    y_codes: &Bound<'_, PyAny>,
    classes: Vec<String>,
    candidates: Vec<Bound<'_, PyDict>>,
    target_is_text: bool,
    input_names: Option<Vec<String>>,
    sample_weight: Option<&Bound<'_, PyAny>>,
    folds: usize,
    kind: &str,
    by: Option<&Bound<'_, PyAny>>,
    repeats: usize,
    metric: Option<&str>,
    rule: &str,
    nested: Option<usize>,
    missing: &str,
    n_threads: usize,
    time_limit: Option<f64>,
    seed: u64,
    callback: Option<Py<PyAny>>,
) -> PyResult<(String, String, usize, bool)> {
    let divided = divided(x, y_codes, classes, target_is_text, input_names, sample_weight, kind, by)?;
    let missing = missing_policy(missing)?;
    let all = candidates.iter().map(|c| candidate(c, &divided, missing, seed)).collect::<PyResult<Vec<Candidate>>>()?;
    let rules = [("least", TuneRule::Least), ("one_standard_error", TuneRule::OneStandardError)];
    let options = TuneOptions {
        folds,
        kind: divided.kind.clone(),
        repeats,
        metric: self::metric(metric)?,
        rule: word("rule", Some(rule), &rules)?.unwrap_or(TuneRule::Least),
        nested,
        seed,
    };
    let manner = Manner { threads: n_threads, time_limit, callback, waits: false };
    let table = divided.table;
    let found = run(py, &manner, |watch| tune_table(&table, &all, &options, watch))?;
    let text = tuning_text(&found.record, &found.failures, &voice::Python);
    Ok((text, tuning_json(&found.record).to_string(), found.record.best, found.incomplete))
}

/// All methods on the same folds: in words and as JSON.
#[pyfunction]
#[pyo3(signature = (x, y_codes, classes, *, target_is_text, input_names=None, sample_weight=None, class_weight=None, methods=None,
    folds=10, kind="stratified", by=None, repeats=1, metric="error", missing="error", n_threads=0, time_limit=None, seed=0,
    callback=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn compare(
    py: Python<'_>,
    x: &Bound<'_, PyAny>,
    y_codes: &Bound<'_, PyAny>,
    classes: Vec<String>,
    target_is_text: bool,
    input_names: Option<Vec<String>>,
    sample_weight: Option<&Bound<'_, PyAny>>,
    class_weight: Option<&Bound<'_, PyAny>>,
    methods: Option<Vec<String>>,
    folds: usize,
    kind: &str,
    by: Option<&Bound<'_, PyAny>>,
    repeats: usize,
    metric: &str,
    missing: &str,
    n_threads: usize,
    time_limit: Option<f64>,
    seed: u64,
    callback: Option<Py<PyAny>>,
) -> PyResult<(String, String)> {
    let divided = divided(x, y_codes, classes, target_is_text, input_names, sample_weight, kind, by)?;
    let mut base = FitOptions::new(divided.target.clone(), Method::Risk(RiskMinimizer::default()));
    base.class_weights = class_weights(class_weight, &divided.classes)?;
    base.weights = divided.weights.clone();
    base.seed = seed;
    base.recipe.missing = missing_policy(missing)?;
    base.recipe.exclude.extend(divided.kind.column().map(str::to_owned));
    let known = ContestMethod::ALL.map(|m| (m.name(), m));
    let named = |name: &String| word("methods", Some(name), &known);
    let chosen = methods.as_ref().map(|names| names.iter().filter_map(|n| named(n).transpose()).collect());
    let options = ContestOptions {
        folds,
        repeats,
        kind: divided.kind.clone(),
        metric: self::metric(Some(metric))?.unwrap_or(TuneMetric::Error),
        methods: chosen.transpose()?,
        seed,
    };
    let manner = Manner { threads: n_threads, time_limit, callback, waits: false };
    let table = divided.table;
    let found = run(py, &manner, |watch| compare_methods(&table, &base, &options, watch))?;
    Ok((contest_text(&found, &voice::Python), contest_json(&found, &voice::Python).to_string()))
}

/// Scores of every row by the fit to all others.
#[pyfunction]
#[pyo3(signature = (x, y_codes, classes, method, settings, *, sample_weight=None, class_weight=None, multiclass=None, n_threads=0,
    time_limit=None, callback=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn left_out<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    y_codes: &Bound<'py, PyAny>,
    classes: Vec<String>,
    method: &str,
    settings: &str,
    sample_weight: Option<&Bound<'py, PyAny>>,
    class_weight: Option<&Bound<'py, PyAny>>,
    multiclass: Option<&str>,
    n_threads: usize,
    time_limit: Option<f64>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let mut options = FitOptions::new("y", crate::settings::method(method, settings)?);
    options.class_weights = class_weights(class_weight, &classes)?;
    options.multiclass = self::multiclass(multiclass, None, None)?;
    let labels = labels(y_codes, classes)?;
    let rows = labels.len();
    let weights = doubles(sample_weight)?;
    let features = Features::of(x)?;
    // SAFETY: whoever writes to the array during the work changes what is fitted, as with any array library.
    let lent = unsafe { features.lend() }?;
    let names = column_names(None, &features, lent.as_design().shape().cols);
    let arrays = Arrays { design: lent.as_design(), names, labels, labels_are_text: true, weights: weights.as_deref() };
    let manner = Manner { threads: n_threads, time_limit, callback, waits: false };
    let scores = run(py, &manner, |watch| left_out_arrays(arrays, &options, watch))?;
    let width = scores.len().checked_div(rows).unwrap_or(0);
    PyArray1::from_vec(py, scores).reshape([rows, width])
}

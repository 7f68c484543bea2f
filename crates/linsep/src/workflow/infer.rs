//! Table to inference.

use super::arrays::Arrays;
use super::options::{FitOptions, recipe_options};
use super::places::Places;
use super::rows::{RowRoles, offset_columns, read_roles};
use super::source::Source;
use crate::artifact::Model;
use crate::design::{Recipe, RecipeOptions};
use crate::error::{Error, Result};
use crate::infer::{BandKind, InferenceFit, InferenceOptions, ModelTerm, ProbabilityInterval, Subject, infer};
use crate::model::{Fit, Method, PenaltyChoice, RiskMinimizer};
use crate::objective::Intercept;
use crate::options::options;
use crate::table::{Kind, Table};
use crate::watch::Watch;
use crate::words::{Setting, words};
use std::collections::BTreeMap;

options! {
/// What to infer, and from which columns.
#[derive(Debug, Clone)]
pub struct InferOptions {
    /// Name of the column of the classes.
    pub target: String,
    /// The class to put last: of two, the one whose log-odds are reported.
    pub positive: Option<String>,
    /// Name of a column of frequencies.
    pub weights: Option<String>,
    /// Names of offset columns.
    pub offsets: Vec<String>,
    /// Columns, coding, missing values.
    pub recipe: RecipeOptions,
    /// Name of the column whose values are clusters.
    pub cluster: Option<String>,
    /// The cluster of every row, where no column tells it.
    pub clusters: Option<Vec<usize>>,
    /// A model of fewer columns of the same table, against which all the others are tested.
    pub against: Option<Box<Model>>,
    /// What is asked.
    pub inference: InferenceOptions,
}
}

impl InferOptions {
    /// All other columns, nothing weighted.
    pub fn new(target: impl Into<String>) -> InferOptions {
        InferOptions {
            target: target.into(),
            positive: None,
            weights: None,
            offsets: Vec::new(),
            recipe: RecipeOptions::default(),
            cluster: None,
            clusters: None,
            against: None,
            inference: InferenceOptions::default(),
        }
    }
}

/// Inference by the names of a table.
#[derive(Debug)]
pub struct TableInference {
    /// Name of the column of the classes.
    pub target: String,
    /// The column of weights, where there is one.
    pub weights: Option<String>,
    /// The column of clusters, where there is one.
    pub cluster: Option<String>,
    /// Text columns with the level that the others are compared with.
    pub references: Vec<(String, String)>,
    /// Rows of the table.
    pub rows: usize,
    /// Rows used.
    pub used: usize,
    /// Rows left out for want of a target, and for cells by column.
    pub missing_target: usize,
    /// See `missing_target`.
    pub missing: Vec<(String, usize)>,
    /// How the columns became a matrix.
    pub recipe: Recipe,
    /// Names of offset columns.
    pub offsets: Vec<String>,
    /// The answer.
    pub answer: InferenceFit,
}

impl TableInference {
    /// Intervals of the probabilities at the rows of another table that have all cells; none where the maximum does not
    /// exist.
    pub fn probabilities(&self, table: &Table, band: BandKind, watch: &Watch) -> Result<Vec<ProbabilityInterval>> {
        let Fit::Model(inference) = &self.answer else { return Ok(Vec::new()) };
        let prepared = self.recipe.apply(table, &vec![true; table.n_rows()])?;
        let mut used = vec![false; table.n_rows()];
        prepared.rows.iter().for_each(|r| used[*r] = true);
        let offsets = offset_columns(table, &self.offsets, |row| used[row])?.map(|(width, values)| {
            let of_row = |r: &usize| {
                let own = &values[r * width..(r + 1) * width];
                match width {
                    1 => own.to_vec(),
                    _ => own[1..].iter().map(|v| v - own[0]).collect(),
                }
            };
            prepared.rows.iter().flat_map(of_row).collect::<Vec<f64>>()
        });
        let found = inference.probabilities(prepared.design.as_design(), offsets.as_deref(), band, watch);
        let mut found = found.map_err(|e| Places::of(table).name(e, &prepared.rows, &self.recipe))?;
        found.iter_mut().for_each(|interval| interval.row = prepared.rows[interval.row]);
        Ok(found)
    }
}

/// Infers from a table, which is used up on the way.
///
/// ```
/// use linsep::model::Fit;
/// use linsep::read::{ReadOptions, read_bytes};
/// use linsep::workflow::{InferOptions, infer_table};
/// let csv = b"dose,died\n1,no\n2,no\n3,yes\n2,yes\n4,yes\n3,no\n5,yes\n1,no\n";
/// let table = read_bytes(csv, "trial.csv", &ReadOptions::default())?;
/// let found = infer_table(table, &InferOptions::new("died"), &Default::default())?;
/// let Fit::Model(inference) = found.answer else { panic!("the doses overlap") };
/// let dose = &inference.coefficients[1];
/// assert!(dose.low < dose.estimate && dose.estimate < dose.high && dose.ln_p < 0.0);
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn infer_table(table: Table, options: &InferOptions, watch: &Watch) -> Result<TableInference> {
    let mut as_fit = FitOptions::new(&options.target, likelihood(options.inference.intercept));
    as_fit.positive = options.positive.clone();
    as_fit.weights = options.weights.clone();
    as_fit.offsets = options.offsets.clone();
    as_fit.recipe = options.recipe.clone();
    // A column of clusters is no feature unless somebody says so.
    let is_feature = |name: &String| options.recipe.features.as_ref().is_some_and(|f| f.contains(name));
    as_fit.recipe.exclude.extend(options.cluster.clone().filter(|name| !is_feature(name)));
    let roles = read_roles(&table, &as_fit)?;
    let clusters = match &options.cluster {
        Some(name) => Some(cluster_column(&table, name, &roles)?),
        None => options.clusters.clone(),
    };
    let fingerprint = format!("{:016x}", table.fingerprint());
    let source = Source::of_table(table, &roles, &recipe_options(&as_fit))?;
    let Some(smaller) = &options.against else { return of_source(&source, options, clusters, watch) };
    let mut options = options.clone();
    options.inference.tests.insert(0, beyond(smaller, &source, &fingerprint, &options)?);
    of_source(&source, &options, clusters, watch)
}

/// The hypothesis that all columns which a smaller model does not have are zero.
///
/// The columns of the smaller model must be columns of this one by their names, on the same rows of the same table: then its
/// span is within this one's.
fn beyond(smaller: &Model, source: &Source<'_>, fingerprint: &str, options: &InferOptions) -> Result<String> {
    let not = |why: String| Err(Error::usage(format!("the smaller model cannot be tested against: {why}")));
    let theirs = inference_of_model(smaller, InferOptions::new(""))?;
    if smaller.provenance.fingerprint != fingerprint {
        return not("it was fitted on another table".into());
    }
    if smaller.classes != source.labels.names() || theirs.target != options.target {
        return not("its classes are not these".into());
    }
    let (weights, offsets) = (&options.weights, &options.offsets);
    if (&theirs.weights, &theirs.offsets) != (weights, offsets) {
        return not("its weights or offsets are not these".into());
    }
    if smaller.class_weights.is_some() {
        return not("its classes were weighted, which is another likelihood".into());
    }
    let their_columns = theirs.recipe.features.unwrap_or_default();
    let mut turned = source.recipe.transformed_columns();
    turned.retain(|c| their_columns.iter().any(|own| own == c));
    let as_theirs = turned.is_empty() || source.recipe.transform() == smaller.recipe.transform();
    if turned != smaller.recipe.transformed_columns() || !as_theirs {
        return not("its columns are transformed otherwise, so that its span may not be within this one's".into());
    }
    if theirs.inference.intercept != options.inference.intercept {
        return not("only one of them has an intercept".into());
    }
    if smaller.training.used != source.rows.len() {
        let (own, all) = (smaller.training.used, source.rows.len());
        return not(format!("it used {own} rows, and these columns leave {all}"))
            .map_err(|e: Error| e.help("fit it on the rows that have all cells: leave the others out of the table"));
    }
    let (ours, own) = (&source.recipe.formula, &smaller.recipe.formula);
    if ours.as_ref().map(|f| &f.learned) != own.as_ref().map(|f| &f.learned) {
        return not("the knots or polynomials of its formula are not these".into());
    }
    let features = source.recipe.features();
    let known = smaller.recipe.features();
    if let Some(other) = known.iter().find(|f| !features.contains(f)) {
        return not(format!("its column `{other}` is not among these, so that its span may not be within this one's"));
    }
    let rest: Vec<String> = features.iter().filter(|f| !known.contains(f)).map(|f| format!("`{f}`")).collect();
    if rest.is_empty() {
        return not("it has all columns of this one".into());
    }
    if smaller.outcome != crate::model::Outcome::Converged {
        return not("its fit did not converge".into());
    }
    Ok(rest.join(", "))
}

/// Infers from arrays.
pub fn infer_arrays(arrays: Arrays<'_>, options: &InferOptions, watch: &Watch) -> Result<TableInference> {
    of_source(&arrays.source()?, options, options.clusters.clone(), watch)
}

/// The options under which the inference of an unpenalised logistic model is that of a table.
///
/// # Errors
/// Where the model is of another kind, with the reason.
pub fn inference_of_model(model: &Model, mut options: InferOptions) -> Result<InferOptions> {
    let Method::Risk(method) = &model.method else {
        return Err(no_inference(model.method.name()));
    };
    if method.name() != "logistic" {
        return Err(no_inference(method.name()));
    }
    if method.penalty != PenaltyChoice::None {
        return Err(Error::usage(
            "standard errors are those of maximum likelihood, and this model has a penalty, which moves its coefficients \
             by an unknown bias",
        )
        .help(words!["fit it with ", Setting::Penalty.is("none")]));
    }
    options.target = model.target.clone();
    options.positive = model.classes.last().cloned().filter(|_| model.classes.len() == 2);
    options.weights = model.weights.clone();
    options.offsets = model.offsets.clone();
    options.recipe = model.recipe.options(model.method.coding());
    options.inference.intercept = method.intercept != Intercept::None;
    Ok(options)
}

fn no_inference(method: &str) -> Error {
    Error::usage(format!("inference is made for logistic models, and this is one by {method}"))
        .help(words!["fit ", Setting::Model.is("logistic")])
}

pub(super) fn likelihood(intercept: bool) -> Method {
    let intercept = if intercept { Intercept::Free } else { Intercept::None };
    Method::Risk(RiskMinimizer { penalty: PenaltyChoice::None, intercept, ..RiskMinimizer::default() })
}

pub(super) fn of_source(
    source: &Source<'_>,
    options: &InferOptions,
    clusters: Option<Vec<usize>>,
    watch: &Watch,
) -> Result<TableInference> {
    if let Some(clusters) = clusters.as_ref().filter(|c| c.len() != source.counts.rows) {
        return Err(Error::usage(format!("{} clusters for {} rows", clusters.len(), source.counts.rows)));
    }
    if options.inference.effects && !source.recipe.moves_apart() {
        return Err(Error::usage(
            "average marginal effects move one column and keep the others, which terms of a formula share",
        )
        .help("leave them out")
        .help("write a formula of columns as they are, each in one term"));
    }
    // Of the rows in use, numbered anew.
    let clusters = clusters.map(|all| numbered(source.rows.iter().map(|r| all[*r])));
    let subject = Subject {
        training: source.training(source.weights.as_deref()),
        features: source.recipe.features(),
        terms: terms(&source.recipe),
        clusters,
    };
    let mut answer = infer(&subject, &options.inference, watch).map_err(|e| source.name(e))?;
    match &mut answer {
        Fit::Model(found) => found.rows.iter_mut().for_each(|row| row.row = source.rows[row.row]),
        Fit::Refused(found) => found.proof.rename_rows(&source.rows),
    }
    Ok(TableInference {
        target: options.target.clone(),
        weights: options.weights.clone(),
        cluster: options.cluster.clone(),
        references: source.recipe.reference_levels(),
        rows: source.counts.rows,
        used: source.rows.len(),
        missing_target: source.counts.missing_target,
        missing: source.counts.missing.clone(),
        recipe: source.recipe.clone(),
        offsets: options.offsets.clone(),
        answer,
    })
}

/// The terms of a recipe, with those that contain them.
pub(super) fn terms(recipe: &Recipe) -> Vec<ModelTerm> {
    let origins = recipe.origins();
    let factors = recipe.origin_factors();
    let contains = |outer: &[(usize, u32)], inner: &[(usize, u32)]| {
        outer != inner && inner.iter().all(|(c, power)| outer.iter().any(|(d, p)| c == d && p >= power))
    };
    let mut terms: Vec<ModelTerm> = origins
        .into_iter()
        .enumerate()
        .map(|(at, origin)| ModelTerm {
            name: origin.name,
            columns: origin.columns,
            levels: origin.levels,
            containing: (0..factors.len()).filter(|other| contains(&factors[*other], &factors[at])).collect(),
        })
        .collect();
    let named = terms.last().map_or(0, |t| t.columns.end);
    terms.extend((0..recipe.sparse_width).map(|j| ModelTerm {
        name: (j + 1).to_string(),
        columns: named + j..named + j + 1,
        levels: false,
        containing: Vec::new(),
    }));
    terms
}

/// The cluster of every row: rows with a class must have one.
fn cluster_column(table: &Table, name: &str, roles: &RowRoles) -> Result<Vec<usize>> {
    let column = table.column(name)?;
    let mut values = Vec::with_capacity(table.n_rows());
    for chunk in table.chunks() {
        chunk.cells[column].for_each(|_, v| values.push(v));
    }
    if let Some(row) = (0..values.len()).find(|r| roles.classes[*r].is_some() && values[*r].is_nan()) {
        let kind = if table.columns()[column].kind == Kind::Number { "number" } else { "text" };
        return Err(Error::data(format!("the cluster is missing (a {kind} is needed)"))
            .at(table.place(row).column(name))
            .help("fill it in")
            .help("remove the row"));
    }
    Ok(numbered(values.iter().map(|v| v.to_bits())))
}

/// Numbers from 0 for distinct values, in their order.
fn numbered<V: Ord + Copy>(values: impl Iterator<Item = V>) -> Vec<usize> {
    let values: Vec<V> = values.collect();
    let mut numbers: BTreeMap<V, usize> = values.iter().map(|v| (*v, 0)).collect();
    numbers.values_mut().enumerate().for_each(|(at, number)| *number = at);
    values.iter().map(|v| numbers[v]).collect()
}

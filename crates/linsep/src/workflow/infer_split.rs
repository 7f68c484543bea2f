//! Inference after a choice of columns: a lasso chooses them on one half of the rows, and the other half is inferred from.
//!
//! Rows that chose the columns make them look better than they are. Given independent rows, a half that had no part in the
//! choice does not, and everything that holds of columns fixed beforehand holds of the chosen ones (Cox 1975).

use super::infer::{InferOptions, TableInference, of_source};
use super::options::{FitOptions, recipe_options};
use super::rows::read_roles;
use super::source::Source;
use crate::design::{Basis, ColumnOrigin};
use crate::error::{Error, Result};
use crate::model::{Fit, Method, PenaltyChoice, RiskMinimizer};
use crate::options::options;
use crate::resample::{PartOf, random_part};
use crate::table::Table;
use crate::watch::Watch;
use crate::words::{Setting, words};

/// The share of the rows that choose.
const HALF: f64 = 0.5;

options! {
/// How columns are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SplitOptions {
    /// A lasso or an elastic net.
    pub penalty: PenaltyChoice,
    /// The seed of the halves.
    pub seed: u64,
}
}

impl SplitOptions {
    /// The columns that this penalty keeps, in halves by the seed 0.
    pub fn new(penalty: PenaltyChoice) -> SplitOptions {
        SplitOptions { penalty, seed: 0 }
    }
}

/// What was chosen, and what the other rows say of it.
#[derive(Debug)]
pub struct SplitInference {
    /// λ.
    pub lambda: f64,
    /// Rows that chose.
    pub choosing_rows: usize,
    /// Columns of the table that have a weight.
    pub chosen: Vec<String>,
    /// Those that have none.
    pub left_out: Vec<String>,
    /// Inference from the other rows, about the chosen columns alone.
    pub inference: TableInference,
}

/// Chooses columns on a random half of the rows of a table, and infers about them from the others.
///
/// ```
/// use linsep::model::PenaltyChoice;
/// use linsep::read::{ReadOptions, read_bytes};
/// use linsep::workflow::{InferOptions, SplitOptions, infer_after_choice};
/// let mut csv = String::from("a,b,y\n");
/// for i in 0..200 {
///     let (a, b) = (i * 7 % 20, i * 11 % 13);
///     csv.push_str(&format!("{a},{b},{}\n", if a + i * 5 % 17 > 15 { "yes" } else { "no" }));
/// }
/// let table = read_bytes(csv.as_bytes(), "rows.csv", &ReadOptions::default())?;
/// let split = SplitOptions::new(PenaltyChoice::ElasticNet { l1_ratio: 1.0, lambda: Some(0.1), cost: None }).seed(7);
/// let found = infer_after_choice(table, &InferOptions::new("y"), &split, &Default::default())?;
/// assert_eq!((found.chosen, found.choosing_rows, found.inference.used), (vec!["a".to_owned()], 100, 100));
/// # Ok::<(), linsep::Error>(())
/// ```
///
/// # Errors
/// A penalty that chooses nothing, products of columns, weights, clusters or a smaller model; no column that is chosen; and as
/// [`super::infer_table`].
pub fn infer_after_choice(
    table: Table,
    options: &InferOptions,
    split: &SplitOptions,
    watch: &Watch,
) -> Result<SplitInference> {
    check(options, split, &table)?;
    let method = RiskMinimizer { penalty: split.penalty, ..RiskMinimizer::default() };
    let mut as_fit = FitOptions::new(&options.target, Method::Risk(method));
    as_fit.positive.clone_from(&options.positive);
    as_fit.offsets.clone_from(&options.offsets);
    as_fit.recipe = options.recipe.clone();
    let mut roles = read_roles(&table, &as_fit)?;
    let choosing = random_part(&roles.classes, roles.names.len(), HALF, PartOf::AllRows, split.seed);
    let source = Source::of_some_rows(&table, &roles, |row| choosing[row], &recipe_options(&as_fit))?;
    let (chosen, left_out) = choice(&source, &as_fit.method, watch)?;
    let (choosing_rows, total) = (source.rows.len(), source.training(None).total_weight());
    if chosen.is_empty() {
        return Err(Error::data(format!(
            "the penalty leaves no column a weight on the {choosing_rows} rows that choose"
        ))
        .help("make it smaller"));
    }
    for (class, held) in roles.classes.iter_mut().zip(&choosing) {
        if *held && class.take().is_some() {
            roles.held_back += 1;
        }
    }
    let mut of_others = FitOptions { method: super::infer::likelihood(options.inference.intercept), ..as_fit };
    of_others.recipe.features = Some(chosen.clone());
    let source = Source::of_table(table, &roles, &recipe_options(&of_others))?;
    let inference = of_source(&source, options, None, watch)?;
    Ok(SplitInference { lambda: split.penalty.lambda(total), choosing_rows, chosen, left_out, inference })
}

fn check(options: &InferOptions, split: &SplitOptions, table: &Table) -> Result<()> {
    if !split.penalty.is_sparse() {
        return Err(Error::usage("columns are chosen by a lasso or an elastic net: a ridge leaves none out")
            .help("choose a lasso"));
    }
    if options.weights.is_some() {
        return Err(Error::usage("rows with weights cannot be divided: the copies of a row would all be in one half")
            .help("write a row of weight k as k rows"));
    }
    if options.cluster.is_some() || options.clusters.is_some() {
        return Err(Error::usage(
            "rows of a cluster would be in both halves, so that one half tells something of the other",
        )
        .help("choose the columns on other clusters than those that you infer from"));
    }
    if options.against.is_some() {
        return Err(Error::usage("a smaller model has seen the rows that are held back from the choice")
            .help("test the columns by their names"));
    }
    if options.recipe.basis != Basis::None {
        return Err(Error::usage("columns are chosen, and products of them are not columns").help(words![
            "leave ",
            Setting::Basis,
            " out"
        ]));
    }
    if options.recipe.formula.is_some() {
        return Err(Error::usage("columns are chosen, and the terms of a formula are not columns").help(words![
            "leave ",
            Setting::Formula,
            " out"
        ]));
    }
    if table.sparse_width() > 0 {
        return Err(Error::usage("columns are chosen by their names, and these have none"));
    }
    Ok(())
}

/// The names of the columns with a weight, and of those without.
fn choice(source: &Source<'_>, method: &Method, watch: &Watch) -> Result<(Vec<String>, Vec<String>)> {
    let fitted = match method.fit(&source.training(None), watch).map_err(|e| source.name(e))? {
        Fit::Model(fitted) => fitted,
        Fit::Refused(_) => return Err(Error::model("under a penalty the optimum exists")),
    };
    let Some(linear) = fitted.discriminant.as_linear() else {
        return Err(Error::model("a logistic model is linear"));
    };
    let has_weight = |origin: &ColumnOrigin| {
        (0..linear.n_scores()).any(|k| linear.weights_of(k)[origin.columns.clone()].iter().any(|w| *w != 0.0))
    };
    let (chosen, left_out): (Vec<_>, Vec<_>) = source.recipe.origins().into_iter().partition(has_weight);
    let names = |origins: Vec<ColumnOrigin>| origins.into_iter().map(|o| o.name).collect();
    Ok((names(chosen), names(left_out)))
}

//! Table to a regularisation path.

use super::fit::{FitOptions, labels_of, name_columns, read_roles, recipe_options, training};
use super::places::Places;
use crate::design::fit_recipe;
use crate::error::{Error, Result};
use crate::model::{Lambdas, Method, NoOptimum, PathFit, RegularisationPath};
use crate::table::Table;
use crate::watch::Watch;

/// What a path over a table came to.
#[must_use]
#[derive(Debug)]
pub enum TablePath {
    /// A path.
    Path {
        /// Its points.
        path: Box<RegularisationPath>,
        /// Names of the matrix columns.
        features: Vec<String>,
        /// Class names.
        classes: Vec<String>,
        /// Rows used.
        rows: usize,
    },
    /// The columns without a penalty separate the classes.
    NoOptimum {
        /// The proof.
        proof: Box<NoOptimum>,
        /// Names of the matrix columns.
        features: Vec<String>,
        /// Class names.
        classes: Vec<String>,
    },
}

/// Solves the path of a risk minimiser on a table, which is used up on the way.
///
/// ```
/// use linsep::model::{Lambdas, Method, PenaltyChoice, RiskMinimizer};
/// use linsep::read::{ReadOptions, read_bytes};
/// use linsep::workflow::{FitOptions, TablePath, path_table};
/// let csv = b"dose,kind,died\n1,a,no\n2,b,no\n3,a,yes\n2,a,no\n4,b,yes\n3,b,no\n5,a,yes\n2,a,yes\n";
/// let table = read_bytes(csv, "trial.csv", &ReadOptions::default())?;
/// let penalty = PenaltyChoice::ElasticNet { l1_ratio: 1.0, lambda: None };
/// let method = Method::Risk(RiskMinimizer { penalty, ..RiskMinimizer::default() });
/// let options = FitOptions::new("died", method);
/// let TablePath::Path { path, features, .. } = path_table(table, &options, &Lambdas::default(), &Default::default())?
/// else { panic!("all columns are penalised") };
/// assert_eq!((path.points.len(), features.len()), (100, 3));
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn path_table(table: Table, options: &FitOptions, lambdas: &Lambdas, watch: &Watch) -> Result<TablePath> {
    let Method::Risk(_) = &options.method else {
        return Err(Error::usage(format!("--model {} has no path", options.method.name()))
            .help("a path is for logistic, svm and least-squares"));
    };
    let roles = read_roles(&table, options)?;
    let frequencies = roles.frequencies(|_| true);
    let recipe = fit_recipe(&table, &frequencies, &recipe_options(options))?;
    let counted: Vec<bool> = frequencies.iter().map(|f| *f > 0.0).collect();
    let places = Places::of(&table);
    let prepared = recipe.apply_owned(table, &counted)?;
    let labels = labels_of(&prepared.rows, &roles, &recipe)?;
    let (weights, offsets) = (roles.weights_of(&prepared.rows), roles.offsets_of(&prepared.rows));
    let origins = recipe.origins();
    let training = training(&prepared, &labels, weights.as_deref(), offsets.as_ref(), &origins);
    let Method::Risk(method) = options.method.aligned(&recipe, &roles.names)? else {
        return Err(Error::usage("only a risk minimiser has a path"));
    };
    let named = |e: Error| name_columns(places.locate(e, &prepared.rows), &recipe);
    let (features, classes) = (recipe.features(), roles.names.clone());
    Ok(match method.path(&training, lambdas, watch).map_err(named)? {
        PathFit::Path(path) => TablePath::Path { path, features, classes, rows: prepared.rows.len() },
        PathFit::NoOptimum(proof) => TablePath::NoOptimum { proof, features, classes },
    })
}

//! Table to a regularisation path.

use super::fit::{FitOptions, read_roles, recipe_options};
use super::source::Source;
use crate::error::{Error, Result};
use crate::model::{Lambdas, Method, NoOptimum, PathFit, RegularisationPath};
use crate::table::Table;
use crate::watch::Watch;
use crate::words::{Setting, words};

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
/// let penalty = PenaltyChoice::ElasticNet { l1_ratio: 1.0, lambda: None, cost: None };
/// let method = Method::Risk(RiskMinimizer { penalty, ..RiskMinimizer::default() });
/// let options = FitOptions::new("died", method);
/// let TablePath::Path { path, features, .. } = path_table(table, &options, &Lambdas::default(), &Default::default())?
/// else { panic!("all columns are penalised") };
/// assert_eq!((path.points.len(), features.len()), (100, 3));
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn path_table(table: Table, options: &FitOptions, lambdas: &Lambdas, watch: &Watch) -> Result<TablePath> {
    let roles = read_roles(&table, options)?;
    path_of(&Source::of_table(table, &roles, &recipe_options(options))?, options, lambdas, watch)
}

pub(super) fn path_of(
    source: &Source<'_>,
    options: &FitOptions,
    lambdas: &Lambdas,
    watch: &Watch,
) -> Result<TablePath> {
    let training = source.training(source.weights.as_deref());
    let (features, classes) = (source.recipe.features(), source.labels.names().to_vec());
    let Method::Risk(method) = options.method.aligned(&source.recipe, &classes)? else {
        return Err(Error::usage(words![Setting::Model.is(options.method.name()), " has no path"])
            .help("a path is for logistic, svm and least-squares"));
    };
    Ok(match method.path(&training, lambdas, watch).map_err(|e| source.name(e))? {
        PathFit::Path(path) => TablePath::Path { path, features, classes, rows: source.rows.len() },
        PathFit::NoOptimum(proof) => TablePath::NoOptimum { proof, features, classes },
    })
}

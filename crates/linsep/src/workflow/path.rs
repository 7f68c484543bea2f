//! Table to a regularisation path.

use super::fit::{TableRefusal, named_refusal};
use super::options::{FitOptions, recipe_options};
use super::rows::read_roles;
use super::source::Source;
use crate::error::{Error, Result};
use crate::model::{Fit, Lambdas, Method, RefusedPart, RegularisationPath};
use crate::table::Table;
use crate::watch::Watch;
use crate::words::{Setting, words};

/// A path over a table.
#[derive(Debug)]
pub struct TablePath {
    /// Its points.
    pub path: Box<RegularisationPath>,
    /// Names of the matrix columns.
    pub features: Vec<String>,
    /// Class names.
    pub classes: Vec<String>,
    /// Rows used.
    pub rows: usize,
}

/// What a path over a table came to: none where columns without a penalty separate the classes.
pub type PathFit = Fit<TablePath, TableRefusal>;

/// Solves the path of a risk minimiser on a table, which is used up on the way.
///
/// ```
/// use linsep::model::{Lambdas, Method, PenaltyChoice, RiskMinimizer};
/// use linsep::read::{ReadOptions, read_bytes};
/// use linsep::workflow::{FitOptions, PathFit, path_table};
/// let csv = b"dose,kind,died\n1,a,no\n2,b,no\n3,a,yes\n2,a,no\n4,b,yes\n3,b,no\n5,a,yes\n2,a,yes\n";
/// let table = read_bytes(csv, "trial.csv", &ReadOptions::default())?;
/// let penalty = PenaltyChoice::ElasticNet { l1_ratio: 1.0, lambda: None, cost: None };
/// let method = Method::Risk(RiskMinimizer { penalty, ..RiskMinimizer::default() });
/// let options = FitOptions::new("died", method);
/// let PathFit::Model(found) = path_table(table, &options, &Lambdas::default(), &Default::default())?
/// else { panic!("all columns are penalised") };
/// assert_eq!((found.path.points.len(), found.features.len()), (100, 3));
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn path_table(table: Table, options: &FitOptions, lambdas: &Lambdas, watch: &Watch) -> Result<PathFit> {
    let roles = read_roles(&table, options)?;
    path_of(&Source::of_table(table, &roles, &recipe_options(options))?, options, lambdas, watch)
}

pub(super) fn path_of(source: &Source<'_>, options: &FitOptions, lambdas: &Lambdas, watch: &Watch) -> Result<PathFit> {
    let training = source.training(source.weights.as_deref());
    let (features, classes) = (source.recipe.features(), source.labels.names().to_vec());
    let Method::Risk(method) = options.method.aligned(&source.recipe, &classes)? else {
        return Err(Error::usage(words![Setting::Model.is(options.method.name()), " has no path"])
            .help("a path is for logistic, svm and least-squares"));
    };
    let used = source.rows.len();
    let fit = method.path(&training, lambdas, watch).map_err(|e| source.name(e))?;
    let refused = |refusal| named_refusal(RefusedPart { part: None, used, refusal }, &options.target, source);
    Ok(fit.map(|path| TablePath { path, features, classes, rows: used }).map_refusal(refused))
}

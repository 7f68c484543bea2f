//! How far the weights of a lasso are from the optimum's.
//!
//! Without a ridge a gap bounds no weight. But the dual problem is strongly concave, so the gap bounds the distance of the
//! best θ, and with it every `v_j = Σsθx̂_j/S`: where that stays below λαf_j, every optimum has weight zero (gap-safe
//! screening; Ndiaye, Fercoq, Gramfort and Salmon 2017). In the remaining columns the objective is as smooth as its loss
//! while no weight changes its sign, and curvature bounds the errors, as without a penalty.

use super::fenchel::{GapProof, gap_with_open_columns};
use super::self_concordance::bound_in_columns;
use super::{Certificate, CoefficientErrors, Enclosed, PartlyMinimised};
use crate::design::{Design, stored_values};
use crate::error::Result;
use crate::objective::{Coef, Conjugate, ElasticNet, Penalty, Restricted, Risk};
use crate::watch::Watch;

/// Columns in use up to which curvature is computed: their Hessian has the square of this. Chosen (bench/constants.md).
const MOST_COLUMNS: usize = 1_000;
/// Products of a Hessian at most, rows times the square of columns: a small part of a second at about 80 GF/s
/// (bench/README.md).
const MOST_PRODUCTS: f64 = 2e9;
/// Products for each stored value, which every pass of the fit reads: without this limit the proof made the lasso of
/// a9a five times slower, with it it takes 0.04 of the rest of the fit (e9d2a3f, bench/proof.py).
const PRODUCTS_PER_VALUE: f64 = 200.0;
/// Products that are always allowed: less than a millisecond.
const FEW_PRODUCTS: f64 = 1e7;

/// F and the proved gap at some coefficients under a lasso or an elastic net, with bounds on every coefficient where the
/// zeros and the curvature are proved.
///
/// ```
/// use linsep::certify::{Certificate, proved_lasso};
/// use linsep::design::{LabelledRows, DenseMatrix, Units};
/// use linsep::objective::{Coef, ElasticNet, Intercept, Risk, Sample, Squared};
/// use linsep::table::Class;
/// // ½ mean (±1 − wx)² + ½|w| with x = ±2: w = (2 − ½)/4. The other column is orthogonal to the classes.
/// let (x, units) = (DenseMatrix::new(vec![-2.0, 1.0, -2.0, -1.0, 2.0, 1.0, 2.0, -1.0], 2)?, Units::identity(2));
/// let labels = [Class(0), Class(0), Class(1), Class(1)];
/// let rows = Sample::new(LabelledRows::new(&x, &labels), &units);
/// let risk = Risk::new(rows, Squared::two_classes([-1.0, 1.0]), ElasticNet::lasso(0.5), Intercept::Free);
/// let coef = Coef::from_vec(vec![0.375, 0.0, 0.0], 1, 2);
/// let (_, certificate) = proved_lasso(&risk, &coef, &Default::default())?;
/// let Certificate::DualityGap { errors: Some(errors), .. } = certificate else { panic!("no errors") };
/// assert!(errors.weights[0] < 1e-13 && errors.weights[1] == 0.0);
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn proved_lasso<L: Conjugate + Enclosed + PartlyMinimised + Clone>(
    risk: &Risk<'_, L, ElasticNet>,
    coef: &Coef,
    watch: &Watch,
) -> Result<(f64, Certificate)> {
    let GapProof { objective, mut certificate, open_columns } = gap_with_open_columns(risk, coef, watch)?;
    if let Certificate::DualityGap { errors, .. } = &mut certificate
        && risk.penalty().ridge() == 0.0
    {
        *errors = coefficient_errors(risk, coef, open_columns, watch)?;
    }
    Ok((objective, certificate))
}

/// Whether a Hessian in so many columns is affordable for the error bounds that it gives.
pub fn is_worth_curvature(design: &dyn Design, columns: usize) -> Result<bool> {
    let products = design.shape().rows as f64 * (columns as f64).powi(2);
    let most = (PRODUCTS_PER_VALUE * stored_values(design)? as f64).clamp(FEW_PRODUCTS, MOST_PRODUCTS);
    Ok(columns > 0 && columns <= MOST_COLUMNS && products <= most)
}

fn coefficient_errors<L: Conjugate + Clone>(
    risk: &Risk<'_, L, ElasticNet>,
    coef: &Coef,
    open: Vec<usize>,
    watch: &Watch,
) -> Result<Option<CoefficientErrors>> {
    let curved = risk.loss().self_concordant() || risk.loss().is_quadratic();
    if !curved || !is_worth_curvature(risk.sample().design, open.len())? || risk.loss().n_scores() != 1 {
        return Ok(None);
    }
    let weights = coef.weights_of(0);
    let (mut inside, cols) = (vec![false; weights.len()], weights.len());
    open.iter().for_each(|j| inside[*j] = true);
    // The active set must be settled: no open column at the kink of |w|, no weight where every optimum has none.
    let is_settled = |j: usize| inside[j] == (weights[j] != 0.0) || (inside[j] && risk.penalty().lasso_of(j) == 0.0);
    if !(0..cols).all(is_settled) {
        return Ok(None);
    }
    let restricted = Restricted::dense(risk.sample(), open, watch)?;
    let some = restricted.risk(risk)?;
    let bound = bound_in_columns(&some, &restricted.gather(coef), watch)?;
    if !bound.aliased.is_empty() {
        return Ok(None);
    }
    Ok(match bound.certificate {
        Certificate::SelfConcordance { errors: Some(found), .. } => {
            let mut errors = CoefficientErrors { weights: vec![0.0; cols], intercept: found.intercept };
            restricted.columns.iter().zip(found.weights).for_each(|(j, error)| errors.weights[*j] = error);
            Some(errors)
        }
        _ => None,
    })
}

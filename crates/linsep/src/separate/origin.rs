//! The same question without an intercept: planes through a given centre.
//!
//! Newton's method on the columns finds a plane, whose margin is measured, or positive weights α of all rows with
//! `Σ αa ≈ 0`, near which a verified solve proves exact ones. What that leaves open is decided in integer arithmetic.

use super::plan::{MOST_BITS, QuestionSize, Route};
use super::verdict::TOLERANCE;
use super::{solve_cone, solve_whole_cone, strictly_apart};
use crate::certify::{Effort, WholeRows, others, prove_balance};
use crate::design::{Training, Units};
use crate::error::Result;
use crate::objective::{Coef, Intercept, Logistic, Loss, Ridge, Risk, Sample, Softmax, SoftmaxForm};
use crate::watch::Watch;

/// What planes through the centre can do for the rows of positive weight.
pub(crate) struct ThroughCentre {
    /// A direction that leaves no row on the wrong side, those of the boundary aside strictly; `None` where all rows are on
    /// the boundary of every direction.
    pub(crate) direction: Option<CentredDirection>,
    /// Rows that no direction has strictly on their side, rising.
    pub(crate) boundary: Vec<usize>,
    /// The same with the class against which they are not.
    pub(crate) pairs: Vec<(usize, usize)>,
    /// Rows that count.
    pub(crate) rows: usize,
    pub(crate) route: Route,
}

/// Scores `w·(x − centre) + b` in the units of the columns, where b is zero up to the rounding of the weights.
pub(crate) struct CentredDirection {
    pub(crate) weights: Vec<Vec<f64>>,
    pub(crate) intercept: Vec<f64>,
    pub(crate) centre: Vec<f64>,
    /// The same in the units given, where doubles are a proof.
    pub(crate) plane: Option<Coef>,
}

/// Decides for the rows of positive weight; the reason where nothing is proved.
pub(crate) fn through_centre(
    training: &Training<'_>,
    units: &Units,
    watch: &Watch,
) -> Result<std::result::Result<ThroughCentre, &'static str>> {
    let counted = training.counted()?;
    let rows = counted.view(training);
    let (labels, classes) = (rows.labels.codes(), rows.labels.n_classes());
    let found = |direction, open: &[bool], route| {
        let name = |at: usize| counted.rows().map_or(at, |rows| rows[at]);
        let pair = |c: usize| {
            let own = labels[c / (classes - 1)].index();
            (name(c / (classes - 1)), others(classes, own).nth(c % (classes - 1)).unwrap_or(own))
        };
        let pairs: Vec<(usize, usize)> = (0..open.len()).filter(|c| open[*c]).map(pair).collect();
        let mut boundary: Vec<usize> = pairs.iter().map(|(row, _)| *row).collect();
        boundary.dedup();
        Ok(ThroughCentre { direction, boundary, pairs, rows: labels.len(), route })
    };
    let in_doubles = match classes {
        2 => by_columns(&rows, units, Logistic, watch)?,
        // The scores of the first class may be taken as zero.
        _ => by_columns(&rows, units, Softmax::new(classes, SoftmaxForm::Reference), watch)?,
    };
    match in_doubles {
        Some(None) => return Ok(found(None, &vec![true; labels.len() * (classes - 1)], Route::Columns)),
        Some(direction) => return Ok(found(direction, &[], Route::Columns)),
        None => {}
    }
    let Some(numbers) = WholeRows::new(rows.rows(), classes, Some(units.centre()), MOST_BITS)? else {
        return Ok(Err("rounding hides it, and there are too many numbers for rational arithmetic"));
    };
    let asked = vec![true; numbers.constraints()];
    let solved = solve_whole_cone(&numbers, &asked, Effort::seconds(watch)).filter(|s| numbers.holds(s, &asked));
    let Some(solved) = solved else {
        return Ok(Err("rounding hides it, and rational arithmetic would take too long"));
    };
    let direction = solved.direction.as_ref().map(|direction| {
        let (weights, intercept, centre) = numbers.in_columns(direction);
        CentredDirection { weights, intercept, centre, plane: None }
    });
    Ok(found(direction, &solved.open, Route::WholeNumbers))
}

/// A direction with every row strictly on its side, or none because positive weights of all rows balance; `None` where
/// doubles do not decide.
fn by_columns<L: Loss>(
    rows: &Training<'_>,
    units: &Units,
    loss: L,
    watch: &Watch,
) -> Result<Option<Option<CentredDirection>>> {
    let shape = rows.design.shape();
    let size = QuestionSize { rows: shape.rows, columns: shape.cols, classes: rows.labels.n_classes() };
    let sample = Sample::new(rows.rows().weighted(None), units);
    let risk = Risk::new(sample, loss, Ridge::none(), Intercept::None);
    let is_centred = units.centre().iter().any(|c| *c != 0.0);
    if size.routes().len() != 1 || (risk.is_sparse() && is_centred) {
        return Ok(None);
    }
    let solved = solve_cone(&risk, None, TOLERANCE, watch)?;
    match (&solved.direction, &solved.alpha) {
        (Some(found), _) if !solved.open.contains(&true) => {
            let scaled = |c: usize| found.weights_of(c).iter().zip(units.inverse_scale()).map(|(w, s)| w * s).collect();
            let weights: Vec<Vec<f64>> = (0..found.n_scores()).map(scaled).collect();
            let (intercept, centre) = (vec![0.0; weights.len()], units.centre().to_vec());
            let holds = strictly_apart(rows, &weights, (&intercept, &centre))?;
            let plane = Some(found.clone());
            Ok(holds.then_some(Some(CentredDirection { weights, intercept, centre, plane })))
        }
        // A row without a positive weight could be strict.
        (None, Some(alpha)) if alpha.iter().all(|a| *a > 0.0) => {
            Ok(prove_balance(&risk, alpha, &[], watch)?.map(|_| None))
        }
        _ => Ok(None),
    }
}

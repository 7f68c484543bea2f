//! How near a separating plane is to the widest margin there is.

use super::Certificate;
use super::hulls::{hull_points, sides};
use crate::design::{LabelledRows, Units};
use crate::error::{Error, Result};
use crate::watch::Watch;

/// Half of `‖w‖²` for the plane of functional margin 1, and the margin of the plane `w·x̂ + b = 0` on the rows of positive
/// weight against half the distance of the two hull points that multipliers `(row, α)` stand for: no plane has more.
///
/// ```
/// use linsep::certify::{Certificate, widest_margin};
/// use linsep::design::{DenseMatrix, LabelledRows, Units};
/// use linsep::table::Class;
/// let x = DenseMatrix::new(vec![0.0, 3.0, 5.0], 1)?;
/// let rows = LabelledRows::new(&x, &[Class(0), Class(1), Class(1)]);
/// let plane = (&[2.0 / 3.0][..], -1.0);
/// let alpha = [(0, 2.0 / 9.0), (1, 2.0 / 9.0)];
/// let (objective, certificate) = widest_margin(rows, &Units::identity(1), plane, &alpha, &Default::default())?;
/// let Certificate::Margin { margin, hull_distance, .. } = certificate else { panic!("it separates") };
/// // Rounding is allowed for: the margin is a lower bound, the distance an upper one.
/// assert!(margin <= 1.5 && 1.5 - margin < 1e-13 && hull_distance >= 3.0 && hull_distance - 3.0 < 1e-13);
/// assert!((objective - 2.0 / 9.0).abs() < 1e-14);
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn widest_margin(
    rows: LabelledRows<'_>,
    units: &Units,
    (normal, intercept): (&[f64], f64),
    alpha: &[(usize, f64)],
    watch: &Watch,
) -> Result<(f64, Certificate)> {
    let found = sides(rows, units, normal, watch)?;
    // The sum rounds once more.
    let rounded = |score: f64| 4.0 * f64::EPSILON * (score.abs() + intercept.abs());
    let functional = (found.low + intercept - rounded(found.low)).min(-(found.high + intercept) - rounded(found.high));
    let objective = 0.5 * found.norm * found.norm;
    if !(functional > 0.0) {
        let reason = "the plane does not put every row on its side".to_owned();
        return Ok((objective, Certificate::Absent { reason }));
    }
    let margin = functional / found.norm * (1.0 - 4.0 * f64::EPSILON);
    let Some(points) = hull_points(rows, units, alpha)? else {
        return Err(Error::model("the multipliers leave out a class, or some are negative"));
    };
    let hull_distance = points.distance_bound();
    let relative_gap = (1.0 - 2.0 * margin / hull_distance).max(0.0);
    Ok((objective, Certificate::Margin { margin, hull_distance, relative_gap }))
}

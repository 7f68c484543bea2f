//! Rows from a file of parameters, or from the truth beside rows that were made before.

use super::{
    Boolean, BooleanRule, Classes, CurveShape, Curves, FeatureLaw, Generator, LogisticLabels, Separable, Truth,
};
use crate::density::Parameters;
use crate::error::{Error, Place, Result};
use serde_json::Value;

/// What a file says is to be drawn.
pub struct Again {
    /// What makes the rows.
    pub generator: Box<dyn Generator>,
    /// How many there are, where all of them are listed.
    pub listed: Option<u64>,
}

/// What makes rows by a file: the parameters of classes, or the truth beside other rows of any kind. `rows` says whether so many
/// are to be drawn, and not all rows of zeros and ones listed.
///
/// ```
/// use linsep::sample::{FeatureLaw, LogisticLabels, Simulation, generator_of};
/// let labels = LogisticLabels::new(vec![1.0, -2.0], 0.5, FeatureLaw::Normal(0.0))?;
/// let first = Simulation::new(Box::new(labels), 10, 7)?;
/// let again = generator_of(first.truth()?.to_json()?.as_bytes(), "truth.json", true)?;
/// assert_eq!(Simulation::new(again.generator, 10, 7)?.draw(), first.draw());
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn generator_of(bytes: &[u8], name: &str, rows: bool) -> Result<Again> {
    let kind = serde_json::from_slice::<Value>(bytes).ok().and_then(|v| Some(v.get("kind")?.as_str()?.to_owned()));
    let made = match kind.as_deref() {
        Some("logistic" | "separable") => of_plane(&truth(bytes, name)?),
        Some(shape @ ("rings" | "moons")) => {
            let truth = truth(bytes, name)?;
            return of_curves(shape, truth).map_err(|e| e.at(Place::file(name)));
        }
        Some("parity" | "m-of-d") => return of_bits(&truth(bytes, name)?, rows).map_err(|e| e.at(Place::file(name))),
        _ => {
            let parameters = Parameters::from_json(bytes, name)?;
            let kind = if parameters.means.is_some() { "gaussian" } else { "independent" };
            let densities = parameters.densities()?;
            let classes = Classes::new(kind, densities, parameters.classes, parameters.features)?;
            let counts = serde_json::from_slice::<Value>(bytes).ok().and_then(|v| {
                let counts = v.get("counts")?.as_array()?;
                counts.iter().map(Value::as_u64).collect::<Option<Vec<u64>>>()
            });
            let Some(counts) = counts else { return Ok(Again { generator: Box::new(classes), listed: None }) };
            let listed = Some(counts.iter().sum());
            return Ok(Again { generator: Box::new(classes.with_counts(counts)?), listed });
        }
    };
    Ok(Again { generator: made.map_err(|e| e.at(Place::file(name)))?, listed: None })
}

fn truth(bytes: &[u8], name: &str) -> Result<Truth> {
    serde_json::from_slice(bytes)
        .map_err(|e| Error::format(format!("this is no truth of simulated rows: {e}")).at(Place::file(name)))
}

/// Labels by a plane: drawn with the probability that it gives, or by the side.
fn of_plane(truth: &Truth) -> Result<Box<dyn Generator>> {
    let (Some([weights]), Some([intercept])) = (truth.weights.as_deref(), truth.intercept.as_deref()) else {
        return Err(Error::data("there is no plane: `weights` with one row, and one `intercept`"));
    };
    if truth.kind == "logistic" {
        let law = truth.feature_law.unwrap_or(FeatureLaw::Normal(truth.feature_correlation.unwrap_or(0.0)));
        return Ok(Box::new(LogisticLabels::new(weights.clone(), *intercept, law)?));
    }
    let Some(margin) = truth.margin else { return Err(Error::data("there is no `margin`")) };
    let priors = match truth.parameters.priors.as_deref() {
        Some([first, second]) => [*first, *second],
        Some(other) => return Err(Error::data(format!("{} priors for two classes", other.len()))),
        None => [0.5, 0.5],
    };
    Ok(Box::new(Separable::new(weights.clone(), *intercept, margin, priors)?))
}

/// Classes along curves.
fn of_curves(shape: &str, truth: Truth) -> Result<Again> {
    let shape = if shape == "rings" { CurveShape::Rings } else { CurveShape::Moons };
    let Some(noise) = truth.noise else { return Err(Error::data("there is no `noise`")) };
    let curves = Curves::new(shape, truth.parameters.classes.len(), noise)?;
    let listed = truth.counts.as_ref().map(|counts| counts.iter().sum());
    let curves = match truth.counts {
        Some(counts) => curves.with_counts(counts)?,
        None => curves,
    };
    Ok(Again { generator: Box::new(curves), listed })
}

/// Functions of zeros and ones.
fn of_bits(truth: &Truth, rows: bool) -> Result<Again> {
    let rule = match (truth.kind.as_str(), truth.m) {
        ("parity", _) => BooleanRule::Parity,
        (_, Some(m)) => BooleanRule::AtLeast(m),
        (_, None) => return Err(Error::data("there is no `m`")),
    };
    let columns = truth.parameters.features.len();
    let boolean = Boolean::new(columns, rule, truth.signs.unwrap_or(false), !rows)?;
    let listed = boolean.n_rows();
    Ok(Again { generator: Box::new(boolean), listed })
}

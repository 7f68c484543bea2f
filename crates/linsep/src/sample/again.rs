//! Rows from a file of parameters, or from the truth beside rows that were made before.

use super::{
    Boolean, BooleanRule, Classes, CurveShape, Curves, FeatureLaw, Generator, LogisticLabels, Mixtures, OwnRows,
    PlaneLabels, Population, Separable, Truth,
};
use crate::density::{Covariance, Parameters};
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
    generator_at(bytes, name, rows, None)
}

/// The same with the features of a table, where classes are drawn after the features.
pub fn generator_at(bytes: &[u8], name: &str, rows: bool, own: Option<OwnRows>) -> Result<Again> {
    let value = serde_json::from_slice::<Value>(bytes).ok();
    let field = |name: &str| value.as_ref().and_then(|v| v.get(name));
    let kind = field("kind").and_then(|kind| Some(kind.as_str()?.to_owned()));
    if own.is_some() && !matches!(kind.as_deref(), Some("logistic" | "plane")) {
        return Err(Error::usage("the classes of this file are not drawn after the features").at(Place::file(name)));
    }
    if field("components").is_some() {
        return of_mixtures(bytes, name).map_err(|e| e.at(Place::file(name)));
    }
    if field("means").and_then(Value::as_array).is_some_and(|means| means.len() == 1) {
        return of_population(bytes, name).map_err(|e| e.at(Place::file(name)));
    }
    let at = |e: Error| e.at(Place::file(name));
    match kind.as_deref() {
        Some("logistic" | "separable" | "plane") => of_plane(truth(bytes, name)?, own).map_err(at),
        Some(shape @ ("rings" | "moons")) => of_curves(shape, truth(bytes, name)?).map_err(at),
        Some("parity" | "m-of-d") => of_bits(&truth(bytes, name)?, rows).map_err(at),
        _ => {
            let parameters = Parameters::from_json(bytes, name)?;
            let kind = if parameters.means.is_some() { "gaussian" } else { "independent" };
            let densities = parameters.densities()?;
            let classes = Classes::new(kind, densities, parameters.classes, parameters.features)?;
            let counts = field("counts")
                .and_then(|counts| counts.as_array()?.iter().map(Value::as_u64).collect::<Option<Vec<u64>>>());
            let Some(counts) = counts else { return Ok(Again { generator: Box::new(classes), listed: None }) };
            let listed = Some(counts.iter().sum());
            Ok(Again { generator: Box::new(classes.with_counts(counts)?), listed })
        }
    }
}

fn truth(bytes: &[u8], name: &str) -> Result<Truth> {
    serde_json::from_slice(bytes)
        .map_err(|e| Error::format(format!("this is no truth of simulated rows: {e}")).at(Place::file(name)))
}

/// Labels by a plane: drawn with the probability that it gives, or by the side.
fn of_plane(truth: Truth, own: Option<OwnRows>) -> Result<Again> {
    let (Some([weights]), Some([intercept])) = (truth.weights.as_deref(), truth.intercept.as_deref()) else {
        return Err(Error::data("there is no plane: `weights` with one row, and one `intercept`"));
    };
    let (weights, intercept) = (weights.clone(), *intercept);
    let law = || truth.feature_law.clone().unwrap_or(FeatureLaw::Normal(truth.feature_correlation.unwrap_or(0.0)));
    let mut listed = own.as_ref().map(|own| own.len() as u64);
    let generator: Box<dyn Generator> = match (truth.kind.as_str(), own) {
        ("logistic", Some(own)) => Box::new(LogisticLabels::at_rows(weights, intercept, own)?),
        ("plane", Some(own)) => Box::new(PlaneLabels::at_rows(weights, intercept, own)?),
        ("plane", None) => Box::new(PlaneLabels::new(weights, intercept, law())?),
        ("logistic", None) => {
            let labels = LogisticLabels::new(weights, intercept, law())?;
            match &truth.counts {
                Some(counts) => {
                    listed = Some(counts.iter().sum());
                    Box::new(labels.with_counts(counts.clone())?)
                }
                None => Box::new(labels),
            }
        }
        _ => {
            let Some(margin) = truth.margin else { return Err(Error::data("there is no `margin`")) };
            let priors = match truth.parameters.priors.as_deref() {
                Some([first, second]) => [*first, *second],
                Some(other) => return Err(Error::data(format!("{} priors for two classes", other.len()))),
                None => [0.5, 0.5],
            };
            Box::new(Separable::new(weights, intercept, margin, priors)?)
        }
    };
    Ok(Again { generator, listed })
}

/// Classes of several parts: `components` names the class of each, and priors, means and covariances are of the parts.
fn of_mixtures(bytes: &[u8], name: &str) -> Result<Again> {
    let mut file: Value = serde_json::from_slice(bytes).map_err(|e| Error::format(format!("this is no JSON: {e}")))?;
    let components: Vec<String> = serde_json::from_value(file["components"].take())
        .map_err(|_| Error::data("`components` is a list of the classes of the parts"))?;
    // The parts are the classes of the parameters, whatever the classes are called.
    if let Some(object) = file.as_object_mut() {
        object.remove("components");
        object.remove("classes");
    }
    let parameters = Parameters::from_json(file.to_string().as_bytes(), name)?;
    let mixtures = Mixtures::new(parameters.densities()?, &components, parameters.features)?;
    Ok(Again { generator: Box::new(mixtures), listed: None })
}

/// One Gaussian, without classes.
fn of_population(bytes: &[u8], name: &str) -> Result<Again> {
    let parameters: Parameters = serde_json::from_slice(bytes)
        .map_err(|e| Error::format(format!("this is no file of parameters: {e}")).at(Place::file(name)))?;
    let mean = parameters.means.and_then(|means| means.into_iter().next()).unwrap_or_default();
    let covariance = match (parameters.covariance, parameters.covariances, parameters.variance) {
        (Some(matrix), None, None) => Covariance::Shared(matrix),
        (None, Some(matrices), None) => Covariance::Own(matrices),
        (None, None, Some(variance)) => Covariance::Spherical(variance),
        _ => {
            return Err(Error::data("the law of one population has a mean and one covariance")
                .help("give `means` with one row, and `covariance` or `variance`"));
        }
    };
    let population = Population::new(mean, covariance, parameters.features)?;
    Ok(Again { generator: Box::new(population), listed: None })
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

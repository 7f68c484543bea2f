//! Discriminants that are stated, not fitted: a plane with known weights, or classes whose distributions are known.
//!
//! Nothing is learned, so there is nothing to prove and no row is needed: the textbook's `(w, w₀)`, or the best rule of known
//! classes, as a model like any other.

use super::{Computation, Fit, Fitted, Objective, Outcome};
use crate::certify::Certificate;
use crate::density::{Covariance, Densities, Density, Family, Gaussian, Marginal};
use crate::design::{Training, Units};
use crate::discriminant::{Discriminant, Generalised, Linear, Quadratic};
use crate::error::{Error, Result};
use crate::linalg::Factor;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A rule that is given, with the names that it speaks of.
///
/// ```
/// use linsep::model::{GivenRule, GivenSettings};
/// let plane = GivenRule::Planes { weights: vec![vec![3.0, 4.0]], intercept: vec![-10.0], log_odds: false };
/// let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
/// let given = GivenSettings { features: names(["x1", "x2"]), classes: names(["no", "yes"]), rule: plane };
/// let (discriminant, _) = given.discriminant()?;
/// assert_eq!(discriminant.as_linear().unwrap().weights_of(0), [3.0, 4.0]);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GivenSettings {
    /// Names of the columns, in the order of the weights.
    pub features: Vec<String>,
    /// Names of the classes, in the order of the scores.
    pub classes: Vec<String>,
    /// The rule.
    pub rule: GivenRule,
}

/// What is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GivenRule {
    /// Scores `w·x + w₀`: one for two classes, that of the second, else one for each class.
    Planes {
        /// Weights, score by score.
        weights: Vec<Vec<f64>>,
        /// Intercepts.
        intercept: Vec<f64>,
        /// Whether the scores are log-odds (log-probabilities up to a constant), so that there are probabilities.
        log_odds: bool,
    },
    /// The distributions of the classes, whose best rule decides.
    Classes(Densities),
}

impl GivenSettings {
    /// Whether the scores have probabilities.
    pub fn has_probabilities(&self) -> bool {
        !matches!(self.rule, GivenRule::Planes { log_odds: false, .. })
    }

    /// The prior probabilities, where they are known.
    pub(super) fn priors(&self) -> Vec<f64> {
        match &self.rule {
            GivenRule::Classes(densities) => densities.priors.clone(),
            GivenRule::Planes { .. } => vec![1.0 / self.classes.len() as f64; self.classes.len()],
        }
    }

    /// The discriminants, and the distributions where they are known.
    ///
    /// # Errors
    /// Weights that do not fit the names, numbers that are not finite, fewer than two classes, names that occur twice,
    /// distributions that are none.
    pub fn discriminant(&self) -> Result<(Discriminant, Option<Densities>)> {
        self.check_names()?;
        match &self.rule {
            GivenRule::Planes { weights, intercept, .. } => Ok((self.planes(weights, intercept)?, None)),
            GivenRule::Classes(densities) => {
                densities.check(&self.classes)?;
                if densities.n_features() != self.features.len() {
                    let (named, columns) = (self.features.len(), densities.n_features());
                    return Err(Error::usage(format!("{named} names of columns for distributions of {columns}")));
                }
                Ok((best_rule(densities, &self.classes)?, Some(densities.clone())))
            }
        }
    }

    fn check_names(&self) -> Result<()> {
        if self.classes.len() < 2 {
            return Err(Error::usage(format!(
                "{} classes are given; a rule decides between two or more",
                self.classes.len()
            )));
        }
        for (what, names) in [("class", &self.classes), ("column", &self.features)] {
            let mut seen = BTreeSet::new();
            if let Some(name) = names.iter().find(|name| !seen.insert(name.as_str())) {
                return Err(Error::usage(format!("the {what} `{name}` is named twice")).help("name it once"));
            }
        }
        match self.features.is_empty() {
            true => Err(Error::usage("a rule without columns decides the same for every row").help("name a column")),
            false => Ok(()),
        }
    }

    fn planes(&self, weights: &[Vec<f64>], intercept: &[f64]) -> Result<Discriminant> {
        let scores = if self.classes.len() == 2 { 1 } else { self.classes.len() };
        if weights.len() != scores || intercept.len() != scores {
            return Err(Error::usage(format!(
                "{} planes for {} classes: there is one for two classes, and else one for each",
                weights.len(),
                self.classes.len()
            )));
        }
        if let Some(wrong) = weights.iter().find(|w| w.len() != self.features.len()) {
            return Err(Error::usage(format!("{} weights for {} columns", wrong.len(), self.features.len())));
        }
        let columns = self.features.len();
        let linear = Linear::new(weights.concat(), vec![0.0; columns], intercept.to_vec());
        Ok(Discriminant::Linear(linear.map_err(|_| Error::usage("weights and intercepts must be finite numbers"))?))
    }

    pub(super) fn fit(&self, training: &Training<'_>) -> Result<Fit> {
        if training.design.shape().cols != self.features.len() || training.labels.n_classes() != self.classes.len() {
            return Err(Error::usage("the rows do not have the columns and classes of the given rule"));
        }
        self.fitted().map(|fitted| Fit::Model(Box::new(fitted)))
    }

    /// The model, of no rows.
    pub(crate) fn fitted(&self) -> Result<Fitted> {
        let (discriminant, density) = self.discriminant()?;
        let reason = "the rule was given, and nothing was fitted".to_owned();
        Ok(Fitted {
            discriminant,
            units: Units::identity(self.features.len()),
            objective: Objective { formula: self.formula(), value: 0.0, lambda: None },
            certificate: Certificate::Absent { reason },
            outcome: Outcome::Converged,
            notes: Vec::new(),
            computation: Computation { solver: "none".into(), reason: None, iterations: 0, passes: 0 },
            density,
            multipliers: None,
        })
    }

    /// What decides, in symbols.
    pub(super) fn formula(&self) -> String {
        match (&self.rule, self.classes.len()) {
            (GivenRule::Planes { .. }, 2) => "g(x) = w·x + w₀ with given w, w₀".into(),
            (GivenRule::Planes { .. }, _) => "g_k(x) = w_k·x + w_k0 with given w_k, w_k0".into(),
            (GivenRule::Classes(_), _) => "g_k(x) = log π_k + log p(x|k) with given π and p".into(),
        }
    }
}

/// The discriminants `log π_k + log p(x|k)`, less what all classes share: linear where they can be.
fn best_rule(densities: &Densities, classes: &[String]) -> Result<Discriminant> {
    let columns = densities.n_features();
    if let Some(form) = densities.linear_form()? {
        return Ok(Discriminant::Linear(Linear::new(form.weights.concat(), vec![0.0; columns], form.intercept)?));
    }
    match &densities.density {
        Density::Gaussian(gaussian) => own_covariances(gaussian, &densities.priors, classes),
        Density::Independent { marginals } => own_variances(marginals, &densities.priors, columns),
    }
}

/// `log π_k − ½ log|Σ_k| − ½(x−μ_k)ᵀΣ_k⁻¹(x−μ_k)`.
fn own_covariances(gaussian: &Gaussian, priors: &[f64], classes: &[String]) -> Result<Discriminant> {
    let Covariance::Own(_) = &gaussian.covariance else {
        return Err(Error::usage("a weight of the best rule is not finite: the shared covariance is singular"));
    };
    let factors = gaussian.factors(classes)?;
    if let Some(k) = factors.iter().position(|f| f.rank() < f.n()) {
        return Err(Error::usage(format!("the covariance of `{}` is singular", classes[k]))
            .help("a class without spread in some direction has no density"));
    }
    // Row i of a triangle holds its first i + 1 entries.
    let triangle = |f: &Factor| {
        let (whole, n) = (f.whitening(), f.n());
        (0..n).flat_map(|i| whole[i * n..i * n + i + 1].to_vec()).collect::<Vec<f64>>()
    };
    let whitening: Vec<f64> = factors.iter().flat_map(triangle).collect();
    let constants = priors.iter().zip(&factors).map(|(p, f)| p.ln() - 0.5 * f.log_determinant()).collect();
    Ok(Discriminant::Quadratic(Quadratic::new(gaussian.means.concat(), whitening, constants)?))
}

/// Independent columns, some of them Gaussian with a variance for each class: linear in x and x².
fn own_variances(marginals: &[Marginal], priors: &[f64], columns: usize) -> Result<Discriminant> {
    let curved = |m: &Marginal| matches!(&m.family, Family::Gaussian { variance, .. } if variance.iter().any(|v| *v != variance[0]));
    let (own, others): (Vec<&Marginal>, Vec<&Marginal>) = marginals.iter().partition(|m| curved(m));
    let rest = Densities {
        priors: priors.to_vec(),
        density: Density::Independent { marginals: others.into_iter().cloned().collect() },
    };
    let Some((mut weights, mut intercept)) = rest.class_forms(columns) else {
        return Err(Error::usage("the best rule of these classes has terms other than x and x²")
            .help("give gamma columns one shape for all classes")
            .help("no probability or rate may be zero"));
    };
    let mut squares = vec![vec![0.0; columns]; priors.len()];
    for marginal in own {
        let Family::Gaussian { mean, variance } = &marginal.family else { continue };
        let column = marginal.columns[0];
        for k in 0..priors.len() {
            // −½ log v − ½(x−m)²/v.
            squares[k][column] = -0.5 / variance[k];
            weights[k][column] = mean[k] / variance[k];
            intercept[k] -= 0.5 * (mean[k] * mean[k] / variance[k] + variance[k].ln());
        }
    }
    let numbers = match priors.len() {
        2 => {
            let less = |v: &[Vec<f64>]| v[0].iter().zip(&v[1]).map(|(a, b)| b - a).collect::<Vec<f64>>();
            (vec![intercept[1] - intercept[0]], less(&weights), less(&squares))
        }
        _ => (intercept, weights.concat(), squares.concat()),
    };
    Ok(Discriminant::Generalised(Generalised::new(vec![0.0; columns], numbers.0, numbers.1, numbers.2, Vec::new())?))
}

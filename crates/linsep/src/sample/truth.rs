//! What simulated rows were made from, as a file beside them.

use super::FeatureLaw;
use crate::density::{BayesError, Densities, ErrorMethod, LinearForm, Parameters};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The truth about simulated rows. Its parameters are those of known classes, so the file can be given back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// What made the rows.
    pub kind: String,
    /// How many rows.
    pub rows: u64,
    /// The seed.
    pub seed: u64,
    /// Names, and the densities where there are any.
    #[serde(flatten)]
    pub parameters: Parameters,
    /// Weights of the best rule where it is linear: two classes, one row, the log-odds of the second (where the rule is
    /// certain, any multiple); more classes, one row each.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub weights: Option<Vec<Vec<f64>>>,
    /// Intercepts of the best rule.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub intercept: Option<Vec<f64>>,
    /// The correlation of every two features, where they are standard normal whatever the class.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub feature_correlation: Option<f64>,
    /// How the features of a row come about whatever its class, where they are not normal.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub feature_law: Option<FeatureLaw>,
    /// How many rows of each class come first, where that was fixed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub counts: Option<Vec<u64>>,
    /// The intercept of the log-odds among rows whose numbers per class were fixed, where the classes are drawn after the
    /// features: `w₀ + log n₁/n₀ − log P(1)/P(0)`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sample_intercept: Option<f64>,
    /// The class of each part, where classes are mixtures: priors, means and covariances are then those of the parts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub components: Option<Vec<String>>,
    /// The standard deviation about a curve.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub noise: Option<f64>,
    /// Smallest distance of a row from the plane, which no other plane betters.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub margin: Option<f64>,
    /// How many ones make the second class.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub m: Option<usize>,
    /// Whether features are −1 and 1 instead of 0 and 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signs: Option<bool>,
    /// The error of the best rule.
    pub bayes_error: Option<BayesError>,
    /// The smallest expected squared error of probabilities: `E p(1−p)`, of more than two classes summed over them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ideal_squared_error: Option<BayesError>,
    /// The smallest expected cross entropy: `E H(p)`, in nats.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ideal_cross_entropy: Option<BayesError>,
}

impl Truth {
    /// The truth of classes with densities.
    pub(super) fn of(densities: &Densities, seed: u64) -> Result<Truth> {
        let parameters = Parameters::of(densities, &[], &[]);
        let ideal = densities.ideal_losses(seed)?;
        let truth = Truth {
            parameters,
            bayes_error: Some(densities.bayes_error(seed)?),
            ideal_squared_error: Some(ideal.squared_error),
            ideal_cross_entropy: Some(ideal.cross_entropy),
            ..Truth::default()
        };
        Ok(truth.with_rule(densities.linear_form()?))
    }

    /// The truth of labels that follow from the row.
    pub(super) fn certain(rule: Option<LinearForm>) -> Truth {
        let bayes_error = Some(BayesError { value: 0.0, method: ErrorMethod::ClosedForm });
        let (ideal_squared_error, ideal_cross_entropy) = (bayes_error, bayes_error);
        Truth { bayes_error, ideal_squared_error, ideal_cross_entropy, ..Truth::default() }.with_rule(rule)
    }

    /// The same with the best rule.
    pub(super) fn with_rule(mut self, rule: Option<LinearForm>) -> Truth {
        if let Some(LinearForm { weights, intercept }) = rule {
            (self.weights, self.intercept) = (Some(weights), Some(intercept));
        }
        self
    }

    /// The file's text.
    pub fn to_json(&self) -> Result<String> {
        let mut text =
            serde_json::to_string_pretty(self).map_err(|e| Error::data(format!("the truth cannot be written: {e}")))?;
        text.push('\n');
        Ok(text)
    }
}

//! What every part of the inference needs.

use super::firth::Penalised;
use super::likelihood::LogLikelihood;
use super::maximum::Maximum;
use super::options::InferenceOptions;
use super::restricted::{RestrictedGoal, Restriction, restricted_maxima};
use super::subject::{Frame, Subject};
use crate::error::Result;
use crate::watch::Watch;

/// Rows, options and the maximum.
pub(super) struct InferenceRun<'r, 's> {
    pub subject: &'r Subject<'s>,
    pub options: &'r InferenceOptions,
    pub frame: &'r Frame,
    pub likelihood: &'r LogLikelihood<'s>,
    pub maximum: &'r Maximum,
    pub watch: &'r Watch,
}

impl InferenceRun<'_, '_> {
    /// Twice the fall of the likelihood.
    pub fn fall(&self, value: f64) -> f64 {
        (2.0 * (self.maximum.value - value)).max(0.0)
    }

    /// The likelihood under each restriction.
    pub fn restricted_values(
        &self,
        restrictions: &[Restriction],
        firth: Option<&Penalised<'_, '_>>,
    ) -> Result<Vec<f64>> {
        match firth {
            Some(penalised) => {
                restrictions.iter().map(|r| Ok(penalised.restricted(self.maximum, r, self.watch)?.value)).collect()
            }
            None => {
                // Of terms within others a statistic is the difference of two falls, which may be far larger than it is.
                let wanted = if self.subject.has_products() { RestrictedGoal::Points } else { RestrictedGoal::Values };
                let found = restricted_maxima(self.likelihood, self.maximum, restrictions, wanted, self.watch)?;
                Ok(found.into_iter().map(|m| m.value).collect())
            }
        }
    }
}

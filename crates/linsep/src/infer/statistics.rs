//! How well the model as a whole fits.

use super::firth::Penalised;
use super::maximum::Maximum;
use super::run::InferenceRun;
use super::term_tests::TermTest;
use crate::error::Result;

/// How well the model as a whole fits.
#[derive(Debug, Clone, PartialEq)]
pub struct FitStatistics {
    /// Rows, counted as often as they weigh.
    pub n: f64,
    /// Free coefficients.
    pub parameters: usize,
    /// `Σ s log p(y)`; of Firth's estimates with the penalty.
    pub log_likelihood: f64,
    /// The same without columns.
    pub null_log_likelihood: f64,
    /// `−2ℓ`.
    pub deviance: f64,
    /// Of the model without columns.
    pub null_deviance: f64,
    /// Akaike's criterion, where there is a likelihood.
    pub aic: Option<f64>,
    /// Schwarz's.
    pub bic: Option<f64>,
    /// `1 − ℓ/ℓ₀`.
    pub mcfadden: Option<f64>,
    /// Cox and Snell's share of its largest value.
    pub nagelkerke: Option<f64>,
    /// The difference of the mean probability between the two classes.
    pub tjur: Option<f64>,
    /// All columns together.
    pub overall: Option<TermTest>,
}

impl InferenceRun<'_, '_> {
    pub(super) fn statistics(
        &self,
        by_likelihood: bool,
        firth: Option<&Penalised<'_, '_>>,
        whole_weights: bool,
    ) -> Result<FitStatistics> {
        let (likelihood, training) = (self.likelihood, self.likelihood.training());
        let n = match whole_weights {
            true => training.total_weight(),
            false => training.labels.len() as f64,
        };
        let plain = match firth {
            Some(_) => likelihood.at(&[&self.maximum.point], self.watch)?[0].value,
            None => self.maximum.value,
        };
        let null = self.null_value()?;
        let parameters = likelihood.size();
        let trusted = by_likelihood && firth.is_none();
        let restriction = self.frame.zero(&self.frame.all_features());
        let df = restriction.len();
        let overall = match (df > 0 && by_likelihood, firth) {
            (false, _) => None,
            (true, Some(_)) => {
                let value = self.restricted_values(&[restriction], firth)?[0];
                Some(TermTest::ratio("(all)".into(), df, self.fall(value)))
            }
            (true, None) => Some(TermTest::ratio("(all)".into(), df, (2.0 * (plain - null)).max(0.0))),
        };
        let cox_snell = -(2.0 * (null - plain) / n).exp_m1();
        let largest = -(2.0 * null / n).exp_m1();
        Ok(FitStatistics {
            n,
            parameters,
            log_likelihood: plain,
            null_log_likelihood: null,
            deviance: -2.0 * plain,
            null_deviance: -2.0 * null,
            aic: trusted.then_some(2.0 * parameters as f64 - 2.0 * plain),
            bic: trusted.then_some(parameters as f64 * n.ln() - 2.0 * plain),
            mcfadden: trusted.then_some(1.0 - plain / null),
            nagelkerke: trusted.then_some(cox_snell / largest),
            tjur: if likelihood.scores() == 1 { Some(self.tjur()?) } else { None },
            overall,
        })
    }

    /// The likelihood of the null model: of shares alone, unless there are offsets or no intercept.
    fn null_value(&self) -> Result<f64> {
        let training = self.likelihood.training();
        if self.likelihood.has_intercept() && training.offsets.is_none() {
            let totals = training.labels.totals(training.weights);
            let all = crate::numeric::sum(totals.iter().copied());
            return Ok(crate::numeric::sum(totals.iter().map(|n| n * (n / all).ln())));
        }
        let empty = self.likelihood.of_columns(Vec::new());
        Ok(Maximum::near(&empty, vec![0.0; empty.size()], self.watch)?.value)
    }

    fn tjur(&self) -> Result<f64> {
        let likelihood = self.likelihood;
        let p = likelihood.class_probabilities(&self.maximum.point, self.watch)?;
        let codes = likelihood.training().labels.codes();
        let mean = |class: usize| {
            let of_class = || (0..codes.len()).filter(|i| codes[*i].index() == class);
            crate::numeric::sum(of_class().map(|i| likelihood.weight(i) * p[2 * i + 1]))
                / crate::numeric::sum(of_class().map(|i| likelihood.weight(i)))
        };
        Ok(mean(1) - mean(0))
    }
}

//! Fits of resampled or relabelled rows of a source: what a bootstrap and a permutation test repeat.

use super::options::FitOptions;
use super::plan::Plan;
use super::predict::add_offsets;
use super::source::Source;
use crate::design::{PreparedDesign, Training, gather};
use crate::discriminant::Linear;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Fit, Fitted, Method, Refusal};
use crate::table::Labels;
use crate::watch::Watch;

/// Some rows of a source, with frequencies and classes of their own.
pub(super) struct SomeRows {
    design: PreparedDesign,
    labels: Labels,
    weights: Option<Vec<f64>>,
    offsets: Option<(usize, Vec<f64>)>,
}

/// What became of a fit of some rows.
pub(super) enum Repeated {
    Fitted(Box<Fitted>),
    /// A class has no row among these.
    WithoutClass,
    /// The optimum does not exist: rows are separated.
    Separated,
    /// No plane separates the classes, which the method asks for.
    Overlapping,
}

/// Everything that stays the same from fit to fit.
pub(super) struct Repetition<'s> {
    pub(super) source: &'s Source<'s>,
    pub(super) options: &'s FitOptions,
    pub(super) plan: &'s Plan,
    pub(super) method: Method,
    pub(super) watch: &'s Watch,
}

impl SomeRows {
    /// Rows by their places in the source; `labels` are those of all its rows.
    pub(super) fn of(
        source: &Source<'_>,
        rows: &[usize],
        labels: &Labels,
        weights: Option<Vec<f64>>,
    ) -> Result<SomeRows> {
        let offsets = source.offsets.as_ref().map(|(width, values)| {
            (*width, rows.iter().flat_map(|r| values[r * width..(r + 1) * width].iter().copied()).collect())
        });
        Ok(SomeRows { design: gather(source.design(), rows)?, labels: labels.select(rows), weights, offsets })
    }

    /// The classes.
    pub(super) fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Scores by a fit, offsets included.
    pub(super) fn scores(&self, fitted: &Fitted, watch: &Watch) -> Result<Vec<f64>> {
        let mut scores = fitted.discriminant.scores(self.design.as_design(), watch)?;
        add_offsets(&mut scores, self.offsets.as_ref(), self.labels.n_classes());
        Ok(scores)
    }
}

impl Repetition<'_> {
    /// Fits some rows.
    pub(super) fn fit(&self, rows: &SomeRows, start: Option<&Linear>) -> Result<Repeated> {
        self.check_time()?;
        if rows.labels.totals(None).contains(&0.0) {
            return Ok(Repeated::WithoutClass);
        }
        let plain = rows.weights.as_deref();
        let factored = match &self.options.class_weights {
            Some(weights) => weights.for_rows(&rows.labels, plain)?.weighted(&rows.labels, plain),
            None => None,
        };
        let training: Training<'_> = self.source.training_of(
            rows.design.as_design(),
            &rows.labels,
            factored.as_deref().or(plain),
            rows.offsets.as_ref(),
        );
        let found = self.plan.fit(&self.method, &training, start, self.watch);
        let found = found.map_err(|e| self.source.name_columns(e))?;
        self.check_time()?;
        Ok(match found {
            Fit::Model(fit) => Repeated::Fitted(fit.whole),
            Fit::Refused(refused) => match refused.refusal {
                Refusal::NoOptimum(_) => Repeated::Separated,
                Refusal::NotSeparable(_) => Repeated::Overlapping,
            },
        })
    }

    /// A fit stopped by the clock is not a replicate.
    fn check_time(&self) -> Result<()> {
        match self.watch.halted() {
            None => Ok(()),
            Some(_) => Err(Error::new(ErrorKind::Interrupted, "stopped before all replicates were fitted")),
        }
    }
}

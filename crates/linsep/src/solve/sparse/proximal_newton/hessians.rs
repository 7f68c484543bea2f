//! The same method where the rows are elsewhere: a Hessian of all columns is all that it asks of them.

use super::ProximalNewton;
use super::run::{ModelCurvature, ProximalRun};
use crate::certify::duality_gap;
use crate::error::{ErrorKind, Result};
use crate::objective::{Coef, Detail, ElasticNet, Smooth};
use crate::solve::{Solved, Stop};
use crate::watch::Watch;

impl ProximalNewton {
    /// Solves by Hessians of all columns, wherever the rows are: their number bounds the columns, not that of the rows.
    pub(crate) fn solve_by_hessians<P: Smooth<Penalty = ElasticNet>>(
        &self,
        risk: &P,
        start: Option<&Coef>,
        watch: &Watch,
    ) -> Result<Solved<P::Scores>> {
        let start = start.cloned().unwrap_or_else(|| risk.start());
        let point = risk.at(&start, Detail::Hessian, watch)?;
        let mut run = ProximalRun::new(risk, point, None, ModelCurvature::Gram, watch);
        run.take_hessian();
        let stop = match run.iterate(self) {
            Ok(stop) => stop,
            Err(error) if error.kind() == ErrorKind::Interrupted => Stop::halted(watch.halted()),
            Err(error) => return Err(error),
        };
        let (point, _, certificate, trace, passes) = run.into_parts();
        let certificate = match certificate {
            Some(certificate) => certificate,
            None => duality_gap(risk, &point, &Watch::default())?,
        };
        Ok(Solved { point, stop, certificate, trace, passes: passes + 1, aliased: Vec::new() })
    }
}

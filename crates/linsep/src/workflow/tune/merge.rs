//! Candidates that differ in the price of the loss alone are points of one path.

use super::super::plan::Plan;
use super::Candidate;
use super::trial::COST;
use crate::error::Result;
use crate::model::{Algorithm, Lambdas, LossChoice, Method, PenaltyChoice};

/// The candidates with those of one path as one, at the place of the first of them. Each fold then solves for the least C and goes
/// on from there, where the fits alone would begin anew.
pub(super) fn merged(candidates: &[Candidate], classes: &[String]) -> Result<Vec<Candidate>> {
    let mut found: Vec<(Candidate, Option<String>)> = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let Some((cost, key)) = on_a_path(candidate, classes)? else {
            found.push((candidate.clone(), None));
            continue;
        };
        let before = found.iter_mut().find(|(_, other)| other.as_ref() == Some(&key));
        match before.map(|(candidate, _)| &mut candidate.path) {
            Some(Some(Lambdas::Costs(costs))) if !costs.contains(&cost) => costs.push(cost),
            Some(_) => {}
            None => {
                let settings = candidate.settings.iter().filter(|(name, _)| name != COST).cloned().collect();
                let path = Some(Lambdas::Costs(vec![cost]));
                found.push((Candidate { settings, options: candidate.options.clone(), path }, Some(key)));
            }
        }
    }
    Ok(found.into_iter().map(|(candidate, _)| candidate).collect())
}

/// The price that a candidate was given as one of several, and what else is special about it; `None` where it is not a point of a
/// path.
fn on_a_path(candidate: &Candidate, classes: &[String]) -> Result<Option<(f64, String)>> {
    let Method::Risk(risk) = &candidate.options.method else { return Ok(None) };
    let cost = match risk.penalty {
        PenaltyChoice::RidgeCost(cost) | PenaltyChoice::ElasticNet { cost: Some(cost), .. } => cost,
        PenaltyChoice::RidgeOne | PenaltyChoice::ElasticNet { lambda: None, .. } => 1.0,
        _ => return Ok(None),
    };
    let named = candidate.settings.iter().any(|(name, _)| name == COST);
    let solved = risk.loss != LossChoice::Hinge && risk.algorithm == Algorithm::Auto;
    let whole = candidate.options.calibration.is_none() && Plan::of(&candidate.options, classes)?.split.is_none();
    let valid = cost > 0.0 && cost.is_finite();
    if !(named && solved && whole && valid && candidate.path.is_none()) {
        return Ok(None);
    }
    let mut rest = candidate.options.clone();
    rest.method = Method::Risk(risk.with_cost(1.0));
    let settings: Vec<&(String, String)> = candidate.settings.iter().filter(|(name, _)| name != COST).collect();
    Ok(Some((cost, format!("{settings:?} {rest:?}"))))
}

//! How scores become probabilities, in words and for machines.

use super::text::{clip, count, short};
use crate::artifact::{CrossFitted, Model};
use crate::decide::{Calibration, CalibrationKind, Coupled, Coupling};
use serde_json::{Value, json};

/// The calibration in words.
pub(super) fn calibration_text(calibration: &CrossFitted) -> String {
    let map_kind = calibration.map.kind();
    let map = match &calibration.map {
        Calibration::Platt { slope, intercept } => {
            let sign = if *intercept < 0.0 { "−" } else { "+" };
            format!("Platt, p = σ({}·z {sign} {})", short(*slope), short(intercept.abs()))
        }
        Calibration::Isotonic { knots } => {
            let (low, high) = (knots.first().map_or(0.0, |k| k.1), knots.last().map_or(1.0, |k| k.1));
            format!("isotonic, {} from p = {} to {}", count(knots.len(), "knot"), short(low), short(high))
        }
        Calibration::Temperature { temperature } => format!("temperature, scores divided by {}", short(*temperature)),
        Calibration::Coupled(coupled) => {
            let kind = match map_kind {
                CalibrationKind::Platt => "Platt",
                CalibrationKind::Isotonic => "isotonic",
                CalibrationKind::Temperature => "temperature",
            };
            let together = match coupled.coupling {
                Coupling::Pairs => "the p that contradicts them least",
                Coupling::Rest => "divided by their sum",
            };
            format!("{kind}, a map for each two-class fit; of their probabilities {together}")
        }
    };
    let half = match &calibration.map {
        Calibration::Temperature { .. } => String::new(),
        map => map.score_at(0.0).map_or(String::new(), |z| format!("; p = ½ at the score {}", short(z))),
    };
    format!("{map}{half}; learned from rows held out in {} folds", calibration.folds)
}

/// The priors that were put in the place of those learned.
pub(super) fn priors_text(model: &Model, priors: &[f64]) -> String {
    let learned = model.learned_priors();
    let one = |(k, class): (usize, &String)| {
        format!("{} {} (learned {})", clip(class, 24), short(priors[k]), short(learned[k]))
    };
    let shown: Vec<String> = model.classes.iter().enumerate().take(8).map(one).collect();
    let more = if model.classes.len() > 8 { format!(", and {} more", model.classes.len() - 8) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// The calibration for programs, null without.
pub(super) fn calibration_json(model: &Model) -> Value {
    let Some(calibration) = &model.calibration else { return Value::Null };
    let mut value = map_json(&calibration.map);
    value["words"] = json!(calibration_text(calibration));
    value["folds"] = json!(calibration.folds);
    let one_half = (model.classes.len() == 2).then(|| calibration.map.score_at(0.0)).flatten();
    value["score_at_one_half"] = json!(one_half);
    value
}

fn map_json(map: &Calibration) -> Value {
    let kind = map.kind().name();
    match map {
        Calibration::Platt { slope, intercept } => json!({"kind": kind, "slope": slope, "intercept": intercept}),
        Calibration::Isotonic { knots } => json!({"kind": kind, "knots": knots}),
        Calibration::Temperature { temperature } => json!({"kind": kind, "temperature": temperature}),
        Calibration::Coupled(Coupled { coupling, maps }) => {
            json!({"kind": kind, "coupling": coupling, "maps": maps.iter().map(map_json).collect::<Vec<Value>>()})
        }
    }
}

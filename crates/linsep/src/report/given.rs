//! Rules that were given, in words.

use super::decision::decision_text;
use crate::artifact::Model;
use crate::model::{GivenRule, GivenSettings};

/// Names shown at most.
const SHOWN: usize = 8;

pub(super) fn headline(given: &GivenSettings) -> String {
    let classes = given.classes.len();
    match &given.rule {
        GivenRule::Planes { log_odds, .. } => {
            let what = if classes == 2 { "plane" } else { "planes" };
            let scores = if *log_odds { ", scores are log-odds" } else { "" };
            format!("Given {what}, {classes} classes: nothing was fitted{scores}")
        }
        GivenRule::Classes(_) => format!("Best rule of {classes} given classes: nothing was fitted"),
    }
}

/// What there is to say of a model that nothing was fitted for.
pub(super) fn lines(model: &Model) -> Vec<(&'static str, String)> {
    vec![
        ("rule", model.objective.formula.clone()),
        ("columns", some(&model.recipe.features())),
        ("classes", some(&model.classes)),
        ("decision", decision_text(model)),
    ]
}

fn some(names: &[String]) -> String {
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    format!("{}{more}", names[..names.len().min(SHOWN)].join(", "))
}

//! Several yes/no labels by separate two-class predictors.

use super::fit::{TableFit, fit_table};
use super::options::FitOptions;
use super::predict::{Judged, evaluate_table, predict_table};
use super::rows::RowRoles;
use crate::artifact::MultiLabel;
use crate::design::UnknownLevel;
use crate::error::{Error, Result};
use crate::evaluate::{LabelFigures, evaluate_labels};
use crate::table::{Labels, Table};
use crate::watch::Watch;

/// Fits a predictor to every label; none is a feature of another. The options of each are those given with its target.
/// A row without one label still counts for the others. Stops at the first label that has no model.
pub fn fit_labels(table: &Table, options: &[FitOptions], watch: &Watch) -> Result<Vec<TableFit>> {
    let targets: Vec<&String> = options.iter().map(|o| &o.target).collect();
    for (at, target) in targets.iter().enumerate() {
        if targets[..at].contains(target) {
            return Err(Error::usage(format!("the label `{target}` is named twice")).help("name it once"));
        }
        let (_, names) = Labels::from_column(table, table.column(target)?);
        if names.len() != 2 {
            let shown = names.iter().take(5).map(|n| format!("`{n}`")).collect::<Vec<String>>().join(", ");
            return Err(Error::data(format!("the label `{target}` has {} classes: {shown}", names.len()))
                .at(table.place(0).column(target.as_str()))
                .help("several targets are labels of two classes each; fit other targets one by one"));
        }
    }
    let mut fits = Vec::with_capacity(options.len());
    for own in options {
        let mut own = own.clone();
        own.recipe.exclude.extend(targets.iter().filter(|t| ***t != own.target).map(|t| (*t).clone()));
        let fit = fit_table(table.clone(), &own, watch)?;
        let ended = !matches!(fit, TableFit::Model(_));
        fits.push(fit);
        if ended {
            break;
        }
    }
    Ok(fits)
}

/// An evaluation of several labels.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedLabels {
    /// Each label by itself, on the rows that have it.
    pub labels: Vec<(String, Judged)>,
    /// All labels together, on the rows that have them all and are predicted.
    pub together: LabelFigures,
}

/// Predicts the labels of a table and compares with those that are known.
pub fn evaluate_label_table(
    models: &MultiLabel,
    table: &Table,
    unknown: Option<UnknownLevel>,
    watch: &Watch,
) -> Result<JudgedLabels> {
    let rows = table.n_rows();
    let mut labels = Vec::with_capacity(models.models.len());
    let (mut wrong, mut known): (Vec<Vec<Option<bool>>>, Vec<bool>) = (Vec::new(), vec![true; rows]);
    let mut weights = None;
    for model in &models.models {
        let judged = evaluate_table(model, table, unknown, watch)?;
        let roles = RowRoles::of(table, &model.target, judged.weights.as_deref(), &[])?.in_terms_of(
            table,
            &model.target,
            &model.classes,
        )?;
        let predictions = predict_table(model, table, unknown, watch)?;
        let mut of_label = vec![None; rows];
        for (row, class) in predictions.rows.iter().zip(&predictions.classes) {
            of_label[*row] = roles.classes[*row].and_then(|truth| class.map(|class| class != truth));
        }
        known.iter_mut().zip(&of_label).for_each(|(known, wrong)| *known &= wrong.is_some());
        wrong.push(of_label);
        weights = roles.weights;
        labels.push((model.target.clone(), judged));
    }
    let complete = |values: &Vec<Option<bool>>| -> Vec<bool> {
        values.iter().zip(&known).filter(|(_, known)| **known).map(|(w, _)| w.unwrap_or(true)).collect()
    };
    let wrong: Vec<Vec<bool>> = wrong.iter().map(complete).collect();
    let weights: Option<Vec<f64>> =
        weights.map(|w| w.iter().zip(&known).filter(|(_, known)| **known).map(|(w, _)| *w).collect());
    Ok(JudgedLabels { labels, together: evaluate_labels(&wrong, weights.as_deref())? })
}

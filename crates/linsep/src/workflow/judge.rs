//! Predictions judged further than the usual figures: in detail, by thresholds, and against another model.

use super::predict::{Judged, PredictedRows, Predictions};
use crate::artifact::Model;
use crate::decide::Decision;
use crate::design::UnknownLevel;
use crate::error::{Error, Result};
use crate::evaluate::auc::rank;
use crate::evaluate::{
    Against, Bootstrap, Details, Opponents, RowsOf, ScoreLosses, Scored, Thresholds, WantedFigure, compare, details,
    evaluate, score_losses, thresholds,
};
use crate::table::{Class, Table};
use crate::watch::Watch;

/// What is asked beyond the usual figures.
#[derive(Debug, Clone, Default)]
pub struct FurtherQuestions {
    /// Instead of the model's policy for new levels.
    pub unknown: Option<UnknownLevel>,
    /// Calibration, classes and ranking.
    pub details: bool,
    /// Targets for a threshold.
    pub wanted: Vec<(WantedFigure, f64)>,
}

/// The usual figures, and what else was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedFurther {
    /// The usual figures.
    pub judged: Judged,
    /// Calibration, classes and ranking.
    pub details: Option<Details>,
    /// Losses of the score of two classes, where details were asked for.
    pub losses: Option<ScoreLosses>,
    /// What thresholds come to.
    pub thresholds: Option<Thresholds>,
    /// Whether the table is the one of the fit, which makes every figure too good; `None` where the model does not say.
    pub of_training: Option<bool>,
}

/// Predicts the labelled rows of a table once and answers all questions about them.
pub fn judge_table(model: &Model, table: &Table, asked: &FurtherQuestions, watch: &Watch) -> Result<JudgedFurther> {
    let rows = PredictedRows::of(model, table, asked.unknown, watch)?;
    let scored = rows.scored(model, table);
    let stated = &model.provenance.fingerprint;
    let of_training = (!stated.is_empty()).then(|| *stated == format!("{:016x}", table.fingerprint()));
    let further = asked.details.then(|| details(&scored, of_training == Some(true))).transpose()?;
    let met = (!asked.wanted.is_empty()).then(|| thresholds(&scored, &asked.wanted)).transpose()?;
    let losses = asked.details.then(|| score_losses(&scored, &rows.predictions.scores)).flatten();
    let evaluation = evaluate(&scored)?;
    Ok(JudgedFurther {
        losses,
        judged: Judged {
            evaluation,
            missing_target: table.n_rows() - rows.labelled,
            incomplete: rows.incomplete(),
            sets: rows.sets(model)?,
            weights: rows.weights,
        },
        details: further,
        thresholds: met,
        of_training,
    })
}

/// Two models on the rows that both can score, weighted as the first says.
///
/// # Errors
/// Targets or classes that differ; no row that both can score; whatever [`compare`] refuses.
pub fn compare_models(
    first: &Model,
    second: &Model,
    table: &Table,
    unknown: Option<UnknownLevel>,
    bootstrap: Bootstrap,
    watch: &Watch,
) -> Result<Against> {
    if first.target != second.target {
        return Err(Error::data(format!(
            "the models are of other targets, `{}` and `{}`: nothing can be compared",
            first.target, second.target
        )));
    }
    let order = class_order(first, second)?;
    let (a, b) = (PredictedRows::of(first, table, unknown, watch)?, PredictedRows::of(second, table, unknown, watch)?);
    let common = common_rows(&a.predictions, &b.predictions);
    if common.is_empty() {
        return Err(Error::data("no row has a label and all the cells that both models need"));
    }
    let identity: Vec<usize> = (0..first.classes.len()).collect();
    let of_first = Answers::of(&a, &common.iter().map(|(i, _)| *i).collect::<Vec<_>>(), &identity);
    let of_second = Answers::of(&b, &common.iter().map(|(_, j)| *j).collect::<Vec<_>>(), &order);
    let truth: Vec<Class> = common.iter().map(|(i, _)| a.truth[*i]).collect();
    let weights: Option<Vec<f64>> = a.row_weights.as_ref().map(|w| common.iter().map(|(i, _)| w[*i]).collect());
    let table_rows: Vec<usize> = common.iter().map(|(i, _)| a.predictions.rows[*i]).collect();
    let both = of_first.probabilities.is_some() && of_second.probabilities.is_some();
    let scores = (first.classes.len() == 2).then(|| (of_first.last_class(both), of_second.last_class(both)));
    // The second decision speaks of its own order of classes; whether rows may be open is all that counts here.
    let open = Decision { reject: Some(0.0), ..Decision::default() };
    let known =
        KnownRows { classes: &first.classes, truth: &truth, weights: weights.as_deref(), table, rows: &table_rows };
    let opponents = Opponents {
        first: of_first.scored(&known, &open),
        second: of_second.scored(&known, &open),
        scores: scores.as_ref().map(|(a, b)| (&a[..], &b[..])),
    };
    compare(&opponents, bootstrap)
}

/// The place among the first model's classes of each class of the second.
fn class_order(first: &Model, second: &Model) -> Result<Vec<usize>> {
    let place = |name: &String| first.classes.iter().position(|c| c == name);
    let order: Option<Vec<usize>> = second.classes.iter().map(place).collect();
    order.filter(|order| order.len() == first.classes.len()).ok_or_else(|| {
        Error::data(format!(
            "the models have other classes: {} against {}",
            first.classes.join(", "),
            second.classes.join(", ")
        ))
    })
}

/// Places in both lists of the table rows that are in both; both lists rise.
fn common_rows(a: &Predictions, b: &Predictions) -> Vec<(usize, usize)> {
    let place = |(i, row): (usize, &usize)| b.rows.binary_search(row).ok().map(|j| (i, j));
    a.rows.iter().enumerate().filter_map(place).collect()
}

/// What a model says of some rows, in the order of the first model's classes.
struct Answers {
    predicted: Vec<Option<Class>>,
    probabilities: Option<Vec<f64>>,
    losses: Option<Vec<f64>>,
    /// Of two classes: what decides, larger for the last.
    log_odds: Vec<f64>,
}

impl Answers {
    fn of(rows: &PredictedRows, at: &[usize], order: &[usize]) -> Answers {
        let n_classes = order.len();
        let reordered = |p: &Vec<f64>| {
            let mut out = vec![0.0; at.len() * n_classes];
            for (i, row) in at.iter().enumerate() {
                (0..n_classes).for_each(|k| out[i * n_classes + order[k]] = p[row * n_classes + k]);
            }
            out
        };
        let sign = if order.first() == Some(&0) { 1.0 } else { -1.0 };
        let log_odds =
            if n_classes == 2 { at.iter().map(|r| sign * rows.predictions.deciding[*r]).collect() } else { Vec::new() };
        Answers {
            predicted: at
                .iter()
                .map(|r| rows.predictions.classes[*r].map(|c| Class(order[c.index()] as u32)))
                .collect(),
            probabilities: rows.probabilities.as_ref().map(reordered),
            losses: rows.losses.as_ref().map(|l| at.iter().map(|r| l[*r]).collect()),
            log_odds,
        }
    }

    /// A number per row that ranks them: by the probability of the last class, or the score.
    fn last_class(&self, as_probability: bool) -> Vec<f64> {
        match &self.probabilities {
            Some(p) if as_probability => p.chunks_exact(2).map(|p| rank(p, 1)).collect(),
            _ => self.log_odds.clone(),
        }
    }

    fn scored<'a>(&'a self, known: &KnownRows<'a>, decision: &'a Decision) -> Scored<'a> {
        Scored {
            classes: known.classes,
            truth: known.truth,
            predicted: &self.predicted,
            decision: Some(decision),
            probabilities: self.probabilities.as_deref(),
            losses: self.losses.as_deref(),
            weights: known.weights,
            origin: Some(RowsOf { table: known.table, rows: known.rows }),
        }
    }
}

/// What is known of the rows that both models score.
struct KnownRows<'a> {
    classes: &'a [String],
    truth: &'a [Class],
    weights: Option<&'a [f64]>,
    table: &'a Table,
    rows: &'a [usize],
}

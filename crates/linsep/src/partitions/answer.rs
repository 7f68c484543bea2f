//! What a place does with a message.

use super::outline::PartsOutline;
use super::point_sums::{PointSums, lower_triangle};
use super::question::{Message, PartLoss, PartQuestion, PartTerms, read, written};
use crate::certify::{Enclosed, GapRows};
use crate::design::{LabelledRows, Units};
use crate::error::{Error, Result};
use crate::numeric::CompensatedSum;
use crate::objective::{
    Coef, Conjugate, Detail, Logistic, Loss, Point, Ridge, Risk, Sample, ScoredBlock, Smooth, Softmax, Squared,
    SquaredHinge,
};
use crate::table::Class;
use crate::watch::Watch;

/// The answer of some rows to a message of a [`super::PartitionedRisk`]: sums over these rows.
///
/// # Errors
/// Where the message is not about these rows, or a value of them is not a number.
pub fn answer(rows: LabelledRows<'_>, message: &[u8], watch: &Watch) -> Result<Vec<u8>> {
    let (terms, coef, question) = match read(message)? {
        Message::Outline { classes } => return written(&PartsOutline::of(rows, classes, watch)?),
        Message::At { terms, coef, question } => (terms, coef, question),
    };
    let classes = terms.loss.n_classes();
    let (cols, scales) = (rows.design.shape().cols, terms.scale.len());
    if terms.centre.len() != scales || scales != cols {
        return Err(Error::data(format!("{cols} columns, where {scales} are asked about")));
    }
    let told: Option<Vec<Class>> =
        terms.against_rest.map(|class| rows.labels.iter().map(|label| Class(u32::from(label.0 == class))).collect());
    let rows = LabelledRows { labels: told.as_deref().unwrap_or(rows.labels), ..rows };
    if rows.labels.iter().any(|class| class.index() >= classes) {
        return Err(Error::data(format!("a class beyond the {classes} that are asked about")));
    }
    match terms.loss {
        PartLoss::Logistic => RowsAsked::new(rows, &terms).answer(Logistic, &coef, question, watch),
        PartLoss::Softmax { classes, form } => {
            RowsAsked::new(rows, &terms).answer(Softmax::new(classes, form), &coef, question, watch)
        }
        PartLoss::SquaredHinge => RowsAsked::new(rows, &terms).answer(SquaredHinge, &coef, question, watch),
        PartLoss::Squared { classes: 2 } => {
            RowsAsked::new(rows, &terms).answer(Squared::two_classes([-1.0, 1.0]), &coef, question, watch)
        }
        PartLoss::Squared { classes } => {
            RowsAsked::new(rows, &terms).answer(Squared::one_hot(classes), &coef, question, watch)
        }
    }
}

/// Rows in the units of a question.
struct RowsAsked<'a> {
    rows: LabelledRows<'a>,
    terms: &'a PartTerms,
    units: Units,
}

impl<'a> RowsAsked<'a> {
    fn new(rows: LabelledRows<'a>, terms: &'a PartTerms) -> RowsAsked<'a> {
        RowsAsked { rows, terms, units: Units::new(terms.centre.clone(), terms.scale.clone()) }
    }

    fn answer<L: Conjugate + Enclosed + Clone>(
        &self,
        loss: L,
        coef: &[f64],
        question: PartQuestion,
        watch: &Watch,
    ) -> Result<Vec<u8>> {
        let sample = Sample::new(self.rows, &self.units);
        let risk = Risk::new(sample, loss, Ridge::none(), self.terms.intercept);
        let coef = coefficients(&risk, coef)?;
        match question {
            PartQuestion::Point { .. }
            | PartQuestion::Range
            | PartQuestion::OnLine { .. }
            | PartQuestion::HessVec { .. }
            | PartQuestion::HessianDiagonal
            | PartQuestion::Dual { .. }
            | PartQuestion::ClassScaled { .. }
            | PartQuestion::ClassSums => answer_solver(&risk, coef, question, watch),
            PartQuestion::Sized { by_column, total } => written(&risk.sized(&coef, by_column, total, watch)?.1),
            PartQuestion::Imbalance { total, shift } => {
                let (mut rows, _) = risk.sized(&coef, false, total, watch)?;
                written(&risk.imbalance(&mut rows, &shift)?)
            }
            PartQuestion::Theta { total, dual } => {
                let (mut rows, _) = risk.sized(&coef, false, total, watch)?;
                written(&risk.theta_sums(&mut rows, &read(&dual)?, watch)?)
            }
            PartQuestion::TermSums { total, dual, shrink } => {
                let (mut rows, _) = risk.sized(&coef, false, total, watch)?;
                let dual = read(&dual)?;
                // The rows keep their numbers for the shift of the dual point.
                risk.imbalance(&mut rows, risk.loss().shift(&dual))?;
                written(&risk.term_sums(&rows, &dual, shrink)?)
            }
            PartQuestion::Slopes { total, shifts } => {
                let (rows, _) = risk.sized(&coef, false, total, watch)?;
                written(&risk.slopes(&rows, &shifts)?)
            }
        }
    }
}

/// What solvers ask.
fn answer_solver<L: Conjugate + Clone>(
    risk: &Risk<'_, L>,
    coef: Coef,
    question: PartQuestion,
    watch: &Watch,
) -> Result<Vec<u8>> {
    let weight = risk.total_weight();
    let sums = |mean: &Coef| mean.as_slice().iter().map(|v| weight * v).collect::<Vec<f64>>();
    match question {
        PartQuestion::Point { hessian } => {
            let detail = if hessian { Detail::Hessian } else { Detail::Gradient };
            let point = risk.at(&coef, detail, watch)?;
            let mut loss = CompensatedSum::default();
            loss.add(weight * point.objective);
            let mut balance = vec![CompensatedSum::default(); risk.loss().n_balance_sums()];
            risk.loss().add_balance(scored(risk, &point), &mut balance);
            written(&PointSums {
                loss,
                gradient: sums(&point.gradient),
                hessian: point.hessian.as_ref().map(|h| lower_triangle(h, weight)),
                gradient_sums: point.gradient_sums,
                balance,
            })
        }
        PartQuestion::Range => written(&risk.range_of(&risk.along(&coef, watch)?)),
        PartQuestion::OnLine { direction, steps } => {
            let point = unsummed(risk, coef, watch)?;
            let line = risk.along(&coefficients(risk, &direction)?, watch)?;
            let at = |step: &f64| {
                let moved = point.scores.iter().zip(line.scores()).map(|(z, d)| z + step * d);
                risk.loss_sum(&moved.collect::<Vec<f64>>())
            };
            written(&steps.iter().map(at).collect::<Vec<CompensatedSum>>())
        }
        PartQuestion::HessVec { direction } => {
            let point = unsummed(risk, coef, watch)?;
            written(&sums(&risk.hess_vec(&point, &coefficients(risk, &direction)?, watch)?))
        }
        PartQuestion::HessianDiagonal => written(&sums(&risk.hessian_diagonal(&unsummed(risk, coef, watch)?, watch)?)),
        PartQuestion::Dual { recipe, shrink } => {
            let point = unsummed(risk, coef, watch)?;
            let mut dual = vec![CompensatedSum::default(); risk.loss().n_dual_sums()];
            risk.loss().add_dual(scored(risk, &point), &recipe, shrink, &mut dual);
            written(&dual)
        }
        PartQuestion::ClassScaled { scale } => {
            written(&Smooth::class_scaled_sums(risk, &unsummed(risk, coef, watch)?, scale, watch)?)
        }
        PartQuestion::ClassSums => written(&risk.class_sums(watch)?),
        _ => Err(Error::data("a question of a proof, where one of a solver was expected")),
    }
}

/// Coefficients of a message.
fn coefficients<L: Loss>(risk: &Risk<'_, L>, values: &[f64]) -> Result<Coef> {
    let (scores, cols) = (risk.loss().n_scores(), risk.n_cols());
    match values.len() == scores * (cols + 1) {
        true => Ok(Coef::from_vec(values.to_vec(), scores, cols)),
        false => Err(Error::data(format!("{} coefficients for {scores} scores of {cols} columns", values.len()))),
    }
}

/// The scores of a point, whose sums nobody asks for.
fn unsummed<L: Conjugate + Clone>(risk: &Risk<'_, L>, coef: Coef, watch: &Watch) -> Result<Point> {
    let scores = risk.along(&coef, watch)?.into_scores();
    let gradient = Coef::zeros(coef.n_scores(), coef.n_cols());
    Ok(Point { coef, objective: f64::NAN, gradient, hessian: None, scores, gradient_sums: Vec::new() })
}

fn scored<'s, L: Loss>(risk: &'s Risk<'_, L>, point: &'s Point) -> ScoredBlock<'s> {
    let sample = risk.sample();
    ScoredBlock { labels: sample.labels, scores: &point.scores, weights: sample.weights, offsets: None }
}

//! Model and test rows to bounds on the error on new rows.

use super::conformal::hold_back;
use super::predict::{PredictedRows, scored_rows};
use super::rows::RowRoles;
use crate::artifact::Model;
use crate::certify::{Certificate, margins};
use crate::design::{Encoding, LabelledRows, Units, UnknownLevel};
use crate::error::{Error, Result};
use crate::evaluate::{
    BoundKind, ErrorBound, Guarantee, LeftOut, MarginPremises, guarantee, hoeffding_upper, margin_upper, online_upper,
};
use crate::model::{Method, PerceptronVariant};
use crate::objective::Coef;
use crate::table::Table;
use crate::watch::Watch;
use crate::words::{Setting, words};

/// Where the margin bound is asked for: the training table, and what was fixed before it was seen.
#[derive(Debug, Clone, Copy)]
pub struct MarginQuestion<'a> {
    /// The table that the model was fitted on.
    pub training: &'a Table,
    /// ρ, Λ and R.
    pub terms: MarginPremises,
}

/// A guarantee and the rows it left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Guaranteed {
    /// The bounds.
    pub guarantee: Guarantee,
    /// Rows without a label.
    pub missing_target: usize,
    /// Rows with a label that miss a cell the model needs.
    pub incomplete: usize,
    /// The weight column used, where the table has the model's.
    pub weights: Option<String>,
}

/// Bounds on the error of a model on new rows, from a table that it was not fitted on.
///
/// # Errors
/// The training table as test table; whatever [`guarantee`] refuses; a margin bound of a model that it does not hold for.
pub fn guarantee_table(
    model: &Model,
    table: &Table,
    delta: f64,
    margin: Option<MarginQuestion<'_>>,
    unknown: Option<UnknownLevel>,
    watch: &Watch,
) -> Result<Guaranteed> {
    let fingerprint = format!("{:016x}", table.fingerprint());
    if model.provenance.fingerprint == fingerprint {
        return Err(Error::data(format!(
            "this is the table that the model was fitted on (fingerprint {fingerprint}): the fit has seen every answer, \
             and bounds for rows that it has not seen do not hold"
        ))
        .help("give rows that were kept apart from the fit")
        .help(words!["for the rows of the fit use ", Setting::CrossValidation, " of fit, an estimate without a guarantee"]));
    }
    let rows = PredictedRows::of(model, table, unknown, watch)?;
    let mut found = guarantee(&rows.scored(model, table), delta)?;
    found.assumptions.push(match model.provenance.fingerprint.is_empty() {
        true => "the model keeps no fingerprint of its rows, so that they are others is your word".to_owned(),
        false => format!(
            "the table is not the one of the fit (fingerprints {fingerprint} and {}); that no row is in both is your word",
            model.provenance.fingerprint
        ),
    });
    match online_bound(model, delta) {
        Ok(bound) => found.bounds.push(bound),
        Err(Some(reason)) => found.left_out.push(LeftOut { what: "mistake bound", reason }),
        Err(None) => {}
    }
    if let Some(question) = margin {
        found.bounds.push(margin_bound(model, &question, delta, watch)?);
        found.assumptions.push(
            "the margin bound rests on the training rows: ρ, Λ, R and every setting of the fit (a penalty among them) were \
             fixed before these were seen; if one was tuned on them, it is void"
                .to_owned(),
        );
    }
    Ok(Guaranteed {
        guarantee: found,
        missing_target: table.n_rows() - rows.labelled,
        incomplete: rows.incomplete(),
        weights: rows.weights,
    })
}

/// What the mistakes of a perceptron say; `Err(None)` of a model that is none.
fn online_bound(model: &Model, delta: f64) -> std::result::Result<ErrorBound, Option<String>> {
    let Method::Perceptron(perceptron) = &model.method else { return Err(None) };
    if !matches!(perceptron.variant, PerceptronVariant::Online | PerceptronVariant::Averaged) {
        return Err(Some("it is of a perceptron that goes through the rows one by one".to_owned()));
    }
    let Certificate::Separates { mistakes: Some(mistakes), .. } = model.certificate else {
        return Err(Some(
            "no count of mistakes: the model does not prove that its plane separates the rows".to_owned(),
        ));
    };
    if model.weights.is_some() || model.class_weights.is_some() {
        return Err(Some("the rows are weighted, and it counts rows".to_owned()));
    }
    let rows = model.training.used as f64;
    let limit = online_upper(mistakes as f64, rows, delta);
    Ok(ErrorBound {
        kind: BoundKind::OnlineMistakes,
        of: "mean error of the planes of the first pass",
        observed: (mistakes as f64 / rows).min(1.0),
        limit: limit.min(1.0),
        interval: None,
        method: "mistakes of the fit over its rows + √(2 ln(1/δ)/n) (Cesa-Bianchi, Conconi and Gentile 2004)",
        loose: Some(match limit < 1.0 {
            true => "loose, and not of the final plane: mistakes of all passes are counted".to_owned(),
            false => "says nothing at this number of rows".to_owned(),
        }),
    })
}

/// The margin bound on the training rows.
fn margin_bound(model: &Model, question: &MarginQuestion<'_>, delta: f64, watch: &Watch) -> Result<ErrorBound> {
    let MarginQuestion { training, terms } = *question;
    let parts = [("margin ρ", terms.margin), ("norm Λ", terms.norm), ("radius R", terms.radius)];
    if let Some((name, value)) = parts.into_iter().find(|(_, v)| !(*v > 0.0 && v.is_finite())) {
        return Err(Error::usage(format!("{name} = {value} is not a positive number")));
    }
    if let Some(reason) = why_void(model) {
        return Err(Error::data(format!("the margin bound does not hold here: {reason}"))
            .help("leave the margin bound out; those from the test rows hold for any model"));
    }
    let Some(linear) = model.discriminant.as_linear().filter(|l| l.n_scores() == 1) else {
        return Err(Error::data("the margin bound is of a plane between two classes, and this model is none"));
    };
    let fingerprint = format!("{:016x}", training.fingerprint());
    if !model.provenance.is_of(&fingerprint) {
        return Err(Error::data(format!(
            "the margin bound needs the table that the model was fitted on (fingerprint {fingerprint}, stated {})",
            model.provenance.fingerprint
        )));
    }
    let roles =
        RowRoles::of(training, &model.target, None, &[])?.in_terms_of(training, &model.target, &model.classes)?;
    let conformal = model.conformal.as_ref().map(|c| c.options);
    let (roles, _) = hold_back(roles, conformal.as_ref(), model.provenance.seed, &|row| training.place(row))?;
    let (prepared, scores) = scored_rows(model, training, &roles.usable(), None, watch)?;
    let truth = roles.codes(&prepared.rows);
    let theta: Vec<f64> = linear.weights_of(0).iter().copied().chain(linear.intercept()).collect();
    let theta = Coef::from_vec(theta, 1, linear.n_cols());
    let design = prepared.design.as_design();
    // Weights and rows as they are in the table, wherever the fit had its origin.
    let units = Units::identity(linear.n_cols());
    let measured = margins(LabelledRows::new(design, &truth), &units, &theta, true, watch)?;
    for (name, found, given) in
        [("‖(w, b)‖", measured.norm, terms.norm), ("the largest ‖(x, 1)‖", measured.radius, terms.radius)]
    {
        if found > given * (1.0 + 1e-12) {
            return Err(Error::data(format!(
                "{name} is {found} on the training rows, more than the {given} that was given"
            ))
            .help("a limit that the data refute cannot have been known before: the bound is void"));
        }
    }
    let below = truth.iter().zip(&scores).filter(|(c, z)| if c.0 == 1 { **z } else { -**z } < terms.margin).count();
    let n = truth.len() as f64;
    let share = below as f64 / n;
    let limit = margin_upper(share, &terms, n, delta);
    Ok(ErrorBound {
        kind: BoundKind::Margin,
        of: "error",
        observed: share,
        limit: limit.min(1.0),
        interval: None,
        method: "share of training rows with a margin below ρ + 2ΛR/(ρ√n) + √(ln(1/δ)/2n)",
        loose: Some(match limit < 1.0 {
            true => {
                let complexity = limit - hoeffding_upper(share, 1.0, n, delta);
                format!("loose: {complexity:.3} of it is for the choice among all planes")
            }
            false => "says nothing at this number of rows".to_owned(),
        }),
    })
}

/// Why a margin bound on the training rows is void for this model.
fn why_void(model: &Model) -> Option<&'static str> {
    let learned = |e: &Encoding| !matches!(e, Encoding::Number { mean: None, .. });
    match () {
        // A centre moves the intercept only, which the bound measures at the origin of the table.
        () if model.units.scale().iter().any(|s| *s != 1.0) => {
            Some("the scale of the columns was learned from the rows")
        }
        () if model.recipe.formula.as_ref().is_some_and(|f| !f.learned.is_empty()) => {
            Some("the knots or polynomials of the formula were learned from the rows")
        }
        () if model.recipe.columns.iter().any(|c| learned(&c.encoding)) => {
            Some("levels, fill-in values or quantiles of columns were learned from the rows")
        }
        () if model.weights.is_some() || model.class_weights.is_some() => Some("the rows are weighted"),
        () if !model.offsets.is_empty() => Some("scores have known parts beside the plane"),
        () if model.decision.may_reject() || model.decision.cut(model.classes.len()) != Some(0.0) => {
            Some("the decision is not by the sign of the score")
        }
        () => None,
    }
}

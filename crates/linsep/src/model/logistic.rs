//! Logistic regression, and softmax for more than two classes: a loss, a penalty and a solver.

use super::{Computation, Fit, Fitted, NoOptimum, Note, Objective, Outcome, Training};
use crate::certify::{
    Certificate, Independent, Separation, duality_gap, independent_coefficients, self_concordance_bound,
};
use crate::design::{Standardize, Units, summarise};
use crate::discriminant::{Discriminant, Linear};
use crate::error::{Error, Result};
use crate::linalg::{Alias, factor};
use crate::objective::{Coef, Conjugate, Detail, Intercept, Logistic, Penalty, Risk, Sample, Softmax, SoftmaxForm};
use crate::solve::{Newton, NewtonCg, Solved, Solver, Stop};
use crate::watch::Watch;
use serde::{Deserialize, Serialize};

/// The penalty as the user asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PenaltyChoice {
    /// Maximum likelihood.
    None,
    /// Ridge with λ = 1/Σs, the `C = 1` of other tools.
    RidgeOne,
    /// Ridge with this λ.
    Ridge(f64),
}

/// Which algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Newton while a Hessian of all coefficients is affordable, else truncated Newton.
    #[default]
    Auto,
    /// Newton with a Cholesky factor.
    Newton,
    /// Truncated Newton by conjugate gradients.
    NewtonCg,
}

/// Logistic and softmax regression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogisticRegression {
    /// The penalty.
    pub penalty: PenaltyChoice,
    /// What becomes of the intercept.
    pub intercept: Intercept,
    /// For more than two classes: which scores are free.
    pub form: SoftmaxForm,
    /// Whether the penalty acts on standardised columns.
    pub standardize: Standardize,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Stop when the relative gap is at most this.
    pub tolerance: f64,
    /// Stop after this many iterations.
    pub max_iterations: usize,
}

impl Default for LogisticRegression {
    fn default() -> LogisticRegression {
        LogisticRegression {
            penalty: PenaltyChoice::RidgeOne,
            intercept: Intercept::Free,
            form: SoftmaxForm::Symmetric,
            standardize: Standardize::Yes,
            algorithm: Algorithm::Auto,
            tolerance: 1e-8,
            max_iterations: 100,
        }
    }
}

/// More coefficients than this, and forming and factoring their Hessian costs more than products with it.
const NEWTON_LIMIT: usize = 2_000;
/// On the unit-diagonal scale, as in [`Newton`].
const ROUNDING_PIVOT: f64 = 1e-15;

impl LogisticRegression {
    pub(super) fn fit(&self, training: &Training<'_>, watch: &Watch) -> Result<Fit> {
        self.check()?;
        let summary = summarise(training.design, training.weights, watch)?;
        let units = self.units(&summary.units(self.standardize));
        let mut notes = Vec::new();
        let constant = summary.constant();
        if !constant.is_empty() && self.intercept != Intercept::None {
            notes.push(Note::Constant { columns: constant });
        }
        if training.labels.n_classes() == 2 {
            self.fit_loss(training, units, Logistic, notes, watch)
        } else {
            self.fit_loss(training, units, Softmax::new(training.labels.n_classes(), self.form()), notes, watch)
        }
    }

    /// The gap (or bound) of given discriminants, recomputed from the data.
    pub(super) fn certify(
        &self,
        training: &Training<'_>,
        discriminant: &Discriminant,
        units: &Units,
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        self.check()?;
        let linear = discriminant.as_linear().ok_or_else(|| Error::model("a logistic model must be linear"))?;
        let classes = training.labels.n_classes();
        if linear.n_scores() != if classes == 2 { 1 } else { classes } {
            return Err(Error::model("the model does not have the classes of the data"));
        }
        if linear.n_cols() != training.design.shape().cols || linear.n_cols() != units.scale().len() {
            return Err(Error::model("the model does not have the columns of the data"));
        }
        if training.labels.n_classes() == 2 {
            self.certify_loss(training, linear, units, Logistic, watch)
        } else {
            let loss = Softmax::new(training.labels.n_classes(), self.form());
            self.certify_loss(training, linear, units, loss, watch)
        }
    }

    fn check(&self) -> Result<()> {
        if let PenaltyChoice::Ridge(lambda) = self.penalty
            && !(lambda > 0.0 && lambda.is_finite())
        {
            return Err(Error::usage(format!("the ridge penalty {lambda} is not positive"))
                .help("use --penalty none for no penalty"));
        }
        if self.tolerance.is_nan() || self.tolerance <= 0.0 {
            return Err(Error::usage(format!("the tolerance {} is not positive", self.tolerance)));
        }
        if self.penalty == PenaltyChoice::None && self.intercept == Intercept::Penalised {
            return Err(Error::usage("a penalised intercept needs a penalty"));
        }
        Ok(())
    }

    /// Without a penalty the reference form is solved: its solution is unique.
    fn form(&self) -> SoftmaxForm {
        if self.penalty == PenaltyChoice::None { SoftmaxForm::Reference } else { self.form }
    }

    /// Centring without standardising is for conditioning only, so it needs a free intercept to absorb it.
    fn units(&self, learned: &Units) -> Units {
        match (self.standardize, self.intercept) {
            (Standardize::Yes, _) | (_, Intercept::Free) => learned.clone(),
            _ => Units::identity(learned.scale().len()),
        }
    }

    fn penalty(&self, total_weight: f64) -> Penalty {
        match self.penalty {
            PenaltyChoice::None => Penalty::None,
            PenaltyChoice::RidgeOne => Penalty::Ridge { lambda: total_weight.recip() },
            PenaltyChoice::Ridge(lambda) => Penalty::Ridge { lambda },
        }
    }

    fn fit_loss<L: Conjugate + Clone>(
        &self,
        training: &Training<'_>,
        units: Units,
        loss: L,
        mut notes: Vec<Note>,
        watch: &Watch,
    ) -> Result<Fit> {
        let offsets = score_offsets(training, loss.n_scores());
        let penalty = self.penalty(training.total_weight());
        let risk = Risk::new(sample(training, &units, offsets.as_deref()), loss, penalty, self.intercept);
        let (solver, solved) = self.solve(&risk, watch)?;
        let Solved { point, stop, certificate, trace, passes, aliased } = solved;
        let outcome = match stop {
            Stop::Converged => Outcome::Converged,
            Stop::IterationLimit => Outcome::IterationLimit,
            Stop::TimeLimit => Outcome::TimeLimit,
            Stop::Interrupted => Outcome::Interrupted,
            Stop::PrecisionLimit => Outcome::PrecisionLimit,
            Stop::Separated(separation) => return Ok(Fit::NoOptimum(Box::new(no_optimum(&separation, &units)))),
        };
        let constant: Vec<usize> = notes
            .iter()
            .flat_map(|n| if let Note::Constant { columns } = n { columns.clone() } else { Vec::new() })
            .collect();
        // Under an overwhelming penalty the Hessian has no digits left for the data: an empty relation says nothing.
        let said = |a: &Alias| penalty == Penalty::None || !a.combination.is_empty();
        notes.extend(aliased.into_iter().filter(|a| said(a) && !constant.contains(&a.column)).map(|a| {
            let column = a.column;
            let in_columns = |(c, v): &(usize, f64)| (*c, v * units.scale()[column] / units.scale()[*c]);
            let combination = a.combination.iter().map(in_columns).collect();
            match penalty {
                Penalty::None => Note::Collinear { column, combination },
                Penalty::Ridge { .. } => Note::Shared { column, combination },
            }
        }));
        let coef = self.canonical(&point.coef, training.labels.n_classes());
        // The canonical form leaves the loss alone and can only lower the penalty.
        let value = match coef.n_scores() == point.coef.n_scores() {
            true => point.objective - risk.penalty_at(&point.coef) + risk.penalty_at(&coef),
            false => point.objective,
        };
        Ok(Fit::Model(Box::new(Fitted {
            discriminant: Discriminant::Linear(to_columns(&coef, &units)?),
            objective: Objective {
                formula: self.formula(training.labels.n_classes()),
                value,
                lambda: (penalty != Penalty::None).then(|| penalty.ridge()),
            },
            units,
            certificate,
            outcome,
            notes,
            computation: Computation { solver: solver.into(), iterations: trace.len(), passes },
            density: None,
        })))
    }

    fn solve<L: Conjugate + Clone>(&self, risk: &Risk<'_, L>, watch: &Watch) -> Result<(&'static str, Solved)> {
        let unknowns = risk.loss().n_scores() * (risk.n_cols() + 1);
        let newton = match self.algorithm {
            Algorithm::Newton => true,
            Algorithm::NewtonCg => false,
            Algorithm::Auto => unknowns <= NEWTON_LIMIT || (risk.penalty() == Penalty::None && unknowns <= 20_000),
        };
        if newton {
            let solver = Newton { tolerance: self.tolerance, max_iterations: self.max_iterations };
            Ok(("newton", solver.solve(risk, None, watch)?))
        } else {
            let solver = NewtonCg { tolerance: self.tolerance, max_iterations: self.max_iterations };
            Ok(("newton-cg", solver.solve(risk, None, watch)?))
        }
    }

    /// All K scores of a K-class model: the reference class has zeros; the symmetric form sums to zero over classes,
    /// which a ridge prefers and no loss notices.
    fn canonical(&self, coef: &Coef, classes: usize) -> Coef {
        if classes == 2 {
            return coef.clone();
        }
        let cols = coef.n_cols();
        let fixed = classes - coef.n_scores();
        let mut full = Coef::zeros(classes, cols);
        full.weights_mut()[fixed * cols..].copy_from_slice(coef.weights());
        full.intercept_mut()[fixed..].copy_from_slice(coef.intercept());
        if self.form == SoftmaxForm::Symmetric {
            for j in 0..cols {
                let mean = (0..classes).map(|k| full.weights_of(k)[j]).sum::<f64>() / classes as f64;
                (0..classes).for_each(|k| full.weights_mut()[k * cols + j] -= mean);
            }
            // A penalised intercept has its own optimum; only a free one may be shifted.
            if self.intercept == Intercept::Free {
                let mean = full.intercept().iter().sum::<f64>() / classes as f64;
                full.intercept_mut().iter_mut().for_each(|b| *b -= mean);
            }
        }
        full
    }

    fn certify_loss<L: Conjugate + Clone>(
        &self,
        training: &Training<'_>,
        linear: &Linear,
        units: &Units,
        loss: L,
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        let offsets = score_offsets(training, loss.n_scores());
        let penalty = self.penalty(training.total_weight());
        let (k, cols) = (loss.n_scores(), linear.n_cols());
        let coef = from_columns(linear, units, k);
        if self.intercept == Intercept::None && coef.intercept().iter().any(|b| b.abs() > 1e-9) {
            return Err(Error::model("the model states that it has no intercept, but it has one"));
        }
        let risk = Risk::new(sample(training, units, offsets.as_deref()), loss, penalty, self.intercept);
        if penalty != Penalty::None {
            let point = risk.at(&coef, Detail::Gradient, watch)?;
            return Ok((point.objective, duality_gap(&risk, &point, watch)?));
        }
        let mut point = risk.at(&coef, Detail::Hessian, watch)?;
        let mut hessian = point.hessian.take().unwrap_or_else(|| crate::linalg::Square::zeros(k * (cols + 1)));
        let Independent { unknowns, .. } = independent_coefficients(&risk, watch)?;
        hessian.keep_only(&unknowns);
        let factor = factor(&hessian, ROUNDING_PIVOT);
        let certificate = self_concordance_bound(&risk, &point, &factor, &unknowns, watch)?;
        Ok((point.objective, certificate))
    }

    fn formula(&self, classes: usize) -> String {
        let loss = if classes == 2 { "log(1+exp(−y·z))" } else { "[log Σ exp(z_k) − z_y]" };
        let penalty = match (self.penalty, self.intercept) {
            (PenaltyChoice::None, _) => "",
            (_, Intercept::Penalised) => " + λ/2·(‖W‖² + ‖b‖²)",
            _ => " + λ/2·‖W‖²",
        };
        let scores = match (self.standardize, self.intercept) {
            (Standardize::Yes, Intercept::None) => "z = W·(x−mean)/sd",
            (Standardize::Yes, _) => "z = W·(x−mean)/sd + b",
            (Standardize::No, Intercept::None) => "z = W·x",
            (Standardize::No, _) => "z = W·x + b",
        };
        format!("Σ s·{loss} / Σs{penalty}, {scores}")
    }
}

fn sample<'a>(training: &Training<'a>, units: &'a Units, offsets: Option<&'a [f64]>) -> Sample<'a> {
    Sample { design: training.design, units, labels: training.labels.codes(), weights: training.weights, offsets }
}

/// Offsets per free score: differences to the first class where that class has no score of its own.
fn score_offsets(training: &Training<'_>, scores: usize) -> Option<Vec<f64>> {
    let offsets = training.offsets?;
    if offsets.columns == scores {
        return Some(offsets.values.to_vec());
    }
    let differences = offsets.values.chunks_exact(offsets.columns).flat_map(|o| o[1..].iter().map(|v| v - o[0]));
    Some(differences.collect())
}

/// Coefficients of the fit's units to discriminants of the columns.
fn to_columns(coef: &Coef, units: &Units) -> Result<Linear> {
    let cols = coef.n_cols();
    let weights = coef.weights().iter().enumerate().map(|(i, w)| w / units.scale()[i % cols.max(1)]).collect();
    Linear::new(weights, units.centre().to_vec(), coef.intercept().to_vec())
}

/// The reverse of [`to_columns`], in the parametrisation with `scores` free scores.
fn from_columns(linear: &Linear, units: &Units, scores: usize) -> Coef {
    let cols = linear.n_cols();
    let all = linear.n_scores();
    let mut coef = Coef::zeros(scores, cols);
    let moved = |k: usize| {
        let terms = linear.weights_of(k).iter().zip(units.centre().iter().zip(linear.centre()));
        linear.intercept_at_centre()[k] + crate::numeric::sum(terms.map(|(w, (to, from))| w * (to - from)))
    };
    for c in 0..scores {
        // With one score fewer than classes, scores are differences to the first.
        let k = c + all - scores;
        let base = (all > scores).then_some(0);
        for j in 0..cols {
            let w = linear.weights_of(k)[j] - base.map_or(0.0, |b| linear.weights_of(b)[j]);
            coef.weights_mut()[c * cols + j] = w * units.scale()[j];
        }
        coef.intercept_mut()[c] = moved(k) - base.map_or(0.0, &moved);
    }
    coef
}

/// The separating direction in the units of the columns, with the columns that take part in it.
fn no_optimum(separation: &Separation, units: &Units) -> NoOptimum {
    let v = &separation.direction;
    let (k, cols) = (v.n_scores(), v.n_cols());
    let size = |j: usize| (0..k).map(|c| v.weights_of(c)[j].abs()).fold(0.0, f64::max);
    let largest = (0..cols).map(size).fold(0.0, f64::max);
    let mut columns: Vec<usize> = (0..cols).filter(|j| size(*j) > 1e-6 * largest).collect();
    columns.sort_by(|a, b| size(*b).total_cmp(&size(*a)).then(a.cmp(b)));
    let direction: Vec<Vec<f64>> = (0..k)
        .map(|c| {
            v.weights_of(c)
                .iter()
                .zip(units.scale())
                .map(|(w, s)| if w.abs() > 1e-9 * largest { w / s } else { 0.0 })
                .collect()
        })
        .collect();
    let intercept = (0..k)
        .map(|c| {
            let moved: f64 = direction[c].iter().zip(units.centre()).map(|(w, m)| w * m).sum();
            let at_origin = v.intercept()[c] - moved;
            // What is left of two numbers that cancel is rounding.
            if at_origin.abs() > 1e-12 * moved.abs() { at_origin } else { 0.0 }
        })
        .collect();
    NoOptimum {
        kind: separation.kind,
        direction,
        intercept,
        columns,
        strict_rows: separation.strict_rows,
        boundary_rows: separation.boundary_rows,
        tolerance: separation.tolerance,
    }
}

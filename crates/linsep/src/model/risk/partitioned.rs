//! Fits of rows in several places, which are asked for sums and never brought together.

use super::choose::{Choice, ProblemSize};
use super::columns::{start, to_columns};
use super::{Algorithm, LossChoice, NEARLY, PenaltyChoice, RiskFound, RiskMinimizer, notes_of_aliases, squared};
use crate::certify::{Certificate, Enclosed, proved_gap};
use crate::design::{Standardize, Units};
use crate::discriminant::{Discriminant, Linear};
use crate::error::{Error, Result};
use crate::model::{Computation, Fitted, Note, Objective, Outcome};
use crate::objective::{Coef, Conjugate, Intercept, Logistic, Penalty, Ridge, RiskFrame, Softmax, SquaredHinge};
use crate::partitions::{AskParts, BalanceOfParts, PartLoss, PartTerms, PartitionedRisk, PartsOutline, outline_of};
use crate::solve::{Lbfgs, Newton, NewtonCg, ProximalNewton, Solved, Solver, Stop};
use crate::table::Class;
use crate::watch::Watch;
use crate::words::{Setting, words};

/// Columns up to which a lasso is solved by Hessians of all of them: of 5,000 one takes 100 MB in every place.
const MOST_LASSO_COLUMNS: usize = 5_000;

impl RiskMinimizer {
    /// Fits the rows of all places, of a class against the rest where one is given; the certificate is computed by them as well.
    /// Returns also how often all of them were asked.
    pub(crate) fn fit_partitions(
        &self,
        parts: &dyn AskParts,
        outline: &PartsOutline,
        (from, class): (Option<&Linear>, Option<Class>),
        watch: &Watch,
    ) -> Result<(Fitted, usize)> {
        let rest = class.map(|class| outline.against_rest(class));
        let outline = rest.as_ref().unwrap_or(outline);
        let classes = outline.totals.len();
        self.check_settings(classes, outline.summary.mean.len())?;
        self.check_reach(outline)?;
        let constant = outline.summary.constant();
        let mut notes = Vec::new();
        if !constant.is_empty() && self.intercept != Intercept::None {
            notes.push(Note::Constant { columns: constant });
        }
        let fit = PartsFit { method: self, parts, outline, units: self.units_of(outline), from, class, notes, watch };
        match self.loss {
            LossChoice::Logistic if classes == 2 => fit.run(PartLoss::Logistic, Logistic),
            LossChoice::Logistic => {
                let form = self.form();
                fit.run(PartLoss::Softmax { classes, form }, Softmax::new(classes, form))
            }
            LossChoice::SquaredHinge => fit.run(PartLoss::SquaredHinge, SquaredHinge),
            LossChoice::Squared => fit.run(PartLoss::Squared { classes }, squared(classes)),
            LossChoice::Hinge => {
                Err(Error::usage("the hinge loss is solved and proved row by row, so its rows must be here")
                    .help(words!["use ", Setting::Loss.is("squared-hinge")]))
            }
        }
    }

    /// The gap of given discriminants, computed by the places as [`RiskMinimizer::fit_partitions`] does.
    pub(super) fn certify_partitions(
        &self,
        parts: &dyn AskParts,
        classes: usize,
        linear: &Linear,
        units: &Units,
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        let outline = outline_of(parts, classes)?;
        let stated = StatedInParts { method: self, parts, outline: &outline, linear, units, watch };
        match self.loss {
            LossChoice::Logistic if classes == 2 => stated.prove(PartLoss::Logistic, Logistic),
            LossChoice::Logistic => {
                let form = self.form();
                stated.prove(PartLoss::Softmax { classes, form }, Softmax::new(classes, form))
            }
            LossChoice::SquaredHinge => stated.prove(PartLoss::SquaredHinge, SquaredHinge),
            LossChoice::Squared => stated.prove(PartLoss::Squared { classes }, squared(classes)),
            LossChoice::Hinge => Err(Error::model("the hinge loss is not proved by partitions")),
        }
    }

    /// As where all rows are in memory: columns are centred where an intercept absorbs it and it costs nothing.
    fn units_of(&self, outline: &PartsOutline) -> Units {
        let summary = &outline.summary;
        match (self.standardize, self.intercept) {
            (Standardize::No, _) if outline.sparse => Units::identity(summary.mean.len()),
            (_, Intercept::None) => summary.units(self.standardize).about_zero(),
            (Standardize::Yes, _) | (_, Intercept::Free) => summary.units(self.standardize),
            _ => Units::identity(summary.mean.len()),
        }
    }

    /// What can be proved where rows are elsewhere.
    fn check_reach(&self, outline: &PartsOutline) -> Result<()> {
        if self.penalty == PenaltyChoice::None {
            return Err(Error::usage(
                "without a penalty it must be proved that the optimum exists, for which all rows must be in one place",
            )
            .help("use a ridge penalty, however small")
            .help("fit a sample of the rows without a penalty"));
        }
        if self.factors.contains(&0.0) {
            return Err(Error::usage("columns without a penalty are proved with all rows in one place")
                .help("give them a small penalty factor"));
        }
        let cols = outline.summary.mean.len();
        if self.penalty.is_sparse() && cols > MOST_LASSO_COLUMNS {
            return Err(Error::usage(format!(
                "a lasso of {cols} columns: in several places it is solved by Hessians, of {MOST_LASSO_COLUMNS} columns at most"
            ))
            .help("use a ridge penalty")
            .help("leave columns out"));
        }
        Ok(())
    }
}

/// Discriminants to be proved.
struct StatedInParts<'s> {
    method: &'s RiskMinimizer,
    parts: &'s dyn AskParts,
    outline: &'s PartsOutline,
    linear: &'s Linear,
    units: &'s Units,
    watch: &'s Watch,
}

impl StatedInParts<'_> {
    fn prove<L: Conjugate + Enclosed + Clone>(&self, kind: PartLoss, loss: L) -> Result<(f64, Certificate)> {
        let (method, outline) = (self.method, self.outline);
        let total = outline.total_weight();
        let coef = method.stated_coef(self.linear, self.units, loss.n_scores())?;
        let terms = PartTerms::new(kind, None, method.intercept, self.units);
        if let Some(penalty) = method.penalty.elastic_net(total, &method.factors)? {
            return proved_gap(&PartitionedRisk::new(self.parts, outline, &terms, loss, penalty), &coef, self.watch);
        }
        let penalty = method.penalty.ridge(total, &method.factors)?;
        proved_gap(&PartitionedRisk::new(self.parts, outline, &terms, loss, penalty), &coef, self.watch)
    }
}

/// A fit under way.
struct PartsFit<'f> {
    method: &'f RiskMinimizer,
    parts: &'f dyn AskParts,
    outline: &'f PartsOutline,
    units: Units,
    from: Option<&'f Linear>,
    class: Option<Class>,
    notes: Vec<Note>,
    watch: &'f Watch,
}

impl PartsFit<'_> {
    fn run<L: Conjugate + Enclosed + Clone>(self, kind: PartLoss, loss: L) -> Result<(Fitted, usize)> {
        let (method, outline) = (self.method, self.outline);
        let total = outline.total_weight();
        let from = self.from.map(|linear| start(linear, &self.units, loss.n_scores(), method.intercept));
        let choice = self.choice(loss.n_scores())?;
        let terms = PartTerms::new(kind, self.class, method.intercept, &self.units);
        let (tolerance, max_iterations) = (method.aim(), method.iterations(choice.algorithm));
        if let Some(penalty) = method.penalty.elastic_net(total, &method.factors)? {
            let risk = PartitionedRisk::new(self.parts, outline, &terms, loss, penalty);
            let solver = ProximalNewton { tolerance, max_iterations };
            let solved = solver.solve_by_hessians(&risk, from.as_ref(), self.watch)?;
            return self.finish(&risk, solved.into(), choice);
        }
        let penalty = method.penalty.ridge(total, &method.factors)?;
        let risk = PartitionedRisk::new(self.parts, outline, &terms, loss, penalty);
        let solved = self.solve(&risk, choice.algorithm, from.as_ref())?;
        let (solved, choice) = self.carried_on(&risk, (solved, choice), from.as_ref())?;
        self.finish(&risk, solved.into(), choice)
    }

    /// The solver is chosen by the shape, as where all rows are in memory; what visits single rows is not among them.
    fn choice(&self, scores: usize) -> Result<Choice> {
        let (rows, cols) = (self.outline.rows, self.outline.summary.mean.len());
        let entries = (self.outline.stored < rows * cols).then_some(self.outline.stored);
        let size = ProblemSize { rows, unknowns: scores * (cols + 1), scores, by_rows: false, entries };
        let choice = self.method.choose(size)?;
        match choice.algorithm {
            Algorithm::Newton | Algorithm::NewtonCg | Algorithm::Lbfgs | Algorithm::ProximalNewton => Ok(choice),
            Algorithm::DualCd if self.method.algorithm == Algorithm::Auto => {
                Ok(Choice { algorithm: Algorithm::NewtonCg, ..choice })
            }
            other => Err(Error::usage(words![
                Setting::Solver.is(other.name()),
                " visits single rows, and rows in several places are only summed"
            ])
            .help(words!["use ", Setting::Solver.any(["auto", "newton", "newton-cg", "lbfgs"])])),
        }
    }

    fn solve<L: Conjugate + Enclosed + Clone>(
        &self,
        risk: &PartitionedRisk<'_, L, Ridge>,
        algorithm: Algorithm,
        start: Option<&Coef>,
    ) -> Result<Solved<BalanceOfParts>> {
        let (tolerance, max_iterations) = (self.method.aim(), self.method.iterations(algorithm));
        match algorithm {
            Algorithm::NewtonCg => NewtonCg { tolerance, max_iterations }.solve(risk, start, self.watch),
            Algorithm::Lbfgs => Lbfgs { tolerance, max_iterations, ..Lbfgs::default() }.solve(risk, start, self.watch),
            // Under a penalty there is nothing more to prove.
            _ => Newton { tolerance, max_iterations }.solve_unproved(risk, start, self.watch),
        }
    }

    /// Where nobody chose the solver and newton-cg gave up, lbfgs goes on, as where all rows are in memory.
    fn carried_on<L: Conjugate + Enclosed + Clone>(
        &self,
        risk: &PartitionedRisk<'_, L, Ridge>,
        (solved, choice): (Solved<BalanceOfParts>, Choice),
        start: Option<&Coef>,
    ) -> Result<(Solved<BalanceOfParts>, Choice)> {
        let method = self.method;
        let gave_up = matches!(solved.stop, Stop::IterationLimit | Stop::PrecisionLimit)
            && solved.certificate.relative_gap().is_none_or(|gap| gap > method.tolerance);
        let free = method.algorithm == Algorithm::Auto && method.max_iterations.is_none();
        if !(gave_up && free && choice.algorithm == Algorithm::NewtonCg && self.watch.halted().is_none()) {
            return Ok((solved, choice));
        }
        let near = solved.certificate.relative_gap().is_some_and(|gap| gap <= NEARLY);
        let start = if near { Some(&solved.point.coef) } else { start };
        let further = self.solve(risk, Algorithm::Lbfgs, start)?;
        if !(further.point.objective < solved.point.objective) {
            return Ok((solved, choice));
        }
        let passes = solved.passes + further.passes;
        let reason = Some("newton-cg made too little progress".to_owned());
        Ok((Solved { passes, ..further }, Choice { algorithm: Algorithm::Lbfgs, reason }))
    }

    /// What a solver found, in the units of the columns, with the proof at the numbers that the model stores.
    fn finish<L: Conjugate + Enclosed + Clone, P: Penalty>(
        self,
        risk: &PartitionedRisk<'_, L, P>,
        found: RiskFound,
        choice: Choice,
    ) -> Result<(Fitted, usize)> {
        let RiskFound { coef, stop, iterations, passes, aliased, .. } = found;
        let (method, classes, units) = (self.method, self.outline.totals.len(), self.units);
        let mut notes = self.notes;
        notes_of_aliases(&mut notes, aliased, &units, risk.penalty(), &coef);
        // Only rows in one place prove a relation between columns, so that none is stated as exact.
        for note in &mut notes {
            if let Note::Shared { column, combination } | Note::Collinear { column, combination } = note {
                let (column, combination) = (*column, std::mem::take(combination));
                *note = Note::NearlyCollinear { column, combination, left_out: false };
            }
        }
        let linear = to_columns(method.canonical(coef, classes), &units)?;
        let stated = method.stated_coef(&linear, &units, risk.loss().n_scores())?;
        // The proof is part of the answer, even after the time limit.
        let (value, certificate) = proved_gap(risk, &stated, &Watch::default())?;
        let fitted = Fitted {
            discriminant: Discriminant::Linear(linear),
            objective: Objective { formula: method.formula(classes), value, lambda: Some(risk.penalty().lambda()) },
            units,
            outcome: Outcome::from(&stop).proved(&certificate, method.tolerance),
            certificate,
            notes,
            computation: Computation {
                solver: choice.algorithm.name().into(),
                reason: choice.reason,
                iterations,
                passes,
            },
            density: None,
            multipliers: None,
        };
        Ok((fitted, risk.round_trips()))
    }
}

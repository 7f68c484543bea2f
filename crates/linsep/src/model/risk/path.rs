//! The whole path of a penalty: from the λ at which all penalised weights are zero down to almost none.

use super::choose::NEWTON_LIMIT;
use super::columns::{sample, score_offsets, to_columns};
use super::null_model::{critical_error, null_model};
use super::trail::Trail;
use super::{Algorithm, LossChoice, PenaltyChoice, RiskMinimizer, squared};
use crate::certify::{Certificate, Enclosed, PartlyMinimised};
use crate::design::Training;
use crate::design::Units;
use crate::discriminant::Linear;
use crate::error::{Error, Result};
use crate::model::{Fit, Outcome};
use crate::objective::{
    Coef, Conjugate, ElasticNet, Logistic, Penalty, Point, Ridge, Risk, Sample, Softmax, SquaredHinge,
};
use crate::solve::{Newton, NewtonCg, Previous, ProximalNewton, RowNewton, Solved, Solver, SpannedRows};
use crate::watch::{Progress, Watch};
use crate::words::{Setting, words};

/// Up to so many coefficients a ridge path keeps its Hessian from one λ to the next, as `proximal_newton::WHOLE`.
/// Chosen (bench/constants.md): only the time depends on it.
const SMALL: usize = 300;
/// Share of a lasso by which λ_max of a ridge is computed, since its weights never vanish: glmnet's 1e-3.
const RIDGE_SHARE: f64 = 1e-3;
/// Default number of λ: glmnet's.
const COUNT: usize = 100;
/// Default ratio of the least to the largest λ with more rows than columns, and else: glmnet's.
const RATIOS: (f64, f64) = (1e-4, 1e-2);
/// Which sizes of the penalty.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Lambdas {
    /// So many from λ_max down, evenly spaced in the logarithm.
    Spaced {
        /// How many.
        count: usize,
        /// The smallest over the largest; `None` is 1e-4 with more rows than columns, else 1e-2.
        ratio: Option<f64>,
    },
    /// These; the largest is solved first.
    Given(Vec<f64>),
    /// Those of these prices `C` of a unit of loss: λ = 1/(CΣs) for the rows that are fitted.
    Costs(Vec<f64>),
}

impl Default for Lambdas {
    fn default() -> Lambdas {
        Lambdas::Spaced { count: COUNT, ratio: None }
    }
}

/// The solution at one λ.
#[derive(Debug, Clone, PartialEq)]
pub struct PathPoint {
    /// λ.
    pub lambda: f64,
    /// Columns with a weight that is not zero.
    pub nonzero: usize,
    /// F.
    pub objective: f64,
    /// The mean loss, without the penalty.
    pub loss: f64,
    /// The share of the null model's mean loss that the weights explain; `None` where nothing is proved of that model.
    pub deviance_ratio: Option<f64>,
    /// The discriminants, in the units of the columns.
    pub linear: Linear,
    /// The proof.
    pub certificate: Certificate,
    /// Whether the tolerance was reached.
    pub outcome: Outcome,
}

/// Solutions for falling λ.
#[derive(Debug, Clone, PartialEq)]
pub struct RegularisationPath {
    /// The smallest λ at which all penalised weights are zero (for a ridge: of a lasso with a thousandth of it).
    pub lambda_max: f64,
    /// How far `lambda_max` may be from that of the best null model; `None` where nothing is proved of the one found.
    pub lambda_max_error: Option<f64>,
    /// Mean loss of the null model: the intercept, and columns without a penalty.
    pub null_loss: f64,
    /// How far `null_loss` may be above that of the best null model, where that is proved.
    pub null_gap: Option<f64>,
    /// What is minimised at each.
    pub formula: String,
    /// One per λ, the largest first; fewer where time ran out.
    pub points: Vec<PathPoint>,
    /// How it ended.
    pub outcome: Outcome,
}

impl RiskMinimizer {
    /// A point of the path as a method of its own: the same kind of penalty of this size; without one it stays as it is.
    pub fn with_lambda(&self, lambda: f64) -> RiskMinimizer {
        let penalty = match self.penalty {
            PenaltyChoice::None => PenaltyChoice::None,
            PenaltyChoice::ElasticNet { l1_ratio, .. } => {
                PenaltyChoice::ElasticNet { l1_ratio, lambda: Some(lambda), cost: None }
            }
            PenaltyChoice::RidgeOne | PenaltyChoice::Ridge(_) | PenaltyChoice::RidgeCost(_) => {
                PenaltyChoice::Ridge(lambda)
            }
        };
        RiskMinimizer { penalty, ..self.clone() }
    }

    /// The same with a price of the loss in place of λ.
    pub fn with_cost(&self, cost: f64) -> RiskMinimizer {
        let penalty = match self.penalty {
            PenaltyChoice::None => PenaltyChoice::None,
            PenaltyChoice::ElasticNet { l1_ratio, .. } => {
                PenaltyChoice::ElasticNet { l1_ratio, lambda: None, cost: Some(cost) }
            }
            PenaltyChoice::RidgeOne | PenaltyChoice::Ridge(_) | PenaltyChoice::RidgeCost(_) => {
                PenaltyChoice::RidgeCost(cost)
            }
        };
        RiskMinimizer { penalty, ..self.clone() }
    }

    /// Solves for every λ, each warm-started from the one before; the size of `penalty` itself is ignored.
    ///
    /// ```
    /// use linsep::design::DenseMatrix;
    /// use linsep::model::{Fit, Lambdas, PenaltyChoice, RiskMinimizer};
    /// use linsep::design::{Training};
    /// use linsep::table::Labels;
    /// let x = DenseMatrix::new(vec![1.0, 0.3, 2.0, -0.5, 3.0, 0.1, 2.0, 0.4, 4.0, -0.2, 3.0, 0.0], 2)?;
    /// let y = Labels::from_names(["no", "no", "yes", "no", "yes", "no"]);
    /// let lasso = PenaltyChoice::ElasticNet { l1_ratio: 1.0, lambda: None, cost: None };
    /// let method = RiskMinimizer { penalty: lasso, ..RiskMinimizer::default() };
    /// let lambdas = Lambdas::Spaced { count: 5, ratio: Some(0.01) };
    /// let Fit::Model(path) = method.path(&Training::new(&x, &y), &lambdas, &Default::default())? else {
    ///     panic!("every column is penalised")
    /// };
    /// assert_eq!(path.points[0].nonzero, 0);
    /// assert_eq!(path.points[4].nonzero, 2);
    /// assert!(path.points.iter().all(|p| p.certificate.relative_gap().unwrap() <= 1e-8));
    /// # Ok::<(), linsep::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn path(
        &self,
        training: &Training<'_>,
        lambdas: &Lambdas,
        watch: &Watch,
    ) -> Result<Fit<Box<RegularisationPath>>> {
        training.check()?;
        self.check(training)?;
        check_lambdas(lambdas)?;
        let total = training.weights.map_or(training.labels.len() as f64, |w| w.iter().sum());
        let lambdas = &of_rows(lambdas, total);
        if self.penalty == PenaltyChoice::None {
            return Err(Error::usage("a path needs a penalty").help("use lasso, elastic-net:α or ridge"));
        }
        if !self.factors.is_empty() && self.factors.iter().all(|f| *f == 0.0) {
            return Err(Error::usage("no column is penalised: there is no path")
                .help("give at least one column a penalty factor above 0"));
        }
        let (units, _) = self.look_at(training, watch)?;
        if let Some(separated) = self.free_columns_separate(training, &units, watch)? {
            return Ok(separated.into());
        }
        let classes = training.labels.n_classes();
        let path = match self.loss {
            LossChoice::Logistic if classes == 2 => self.path_of(training, &units, Logistic, lambdas, watch),
            LossChoice::Logistic => self.path_of(training, &units, Softmax::new(classes, self.form()), lambdas, watch),
            LossChoice::SquaredHinge => self.path_of(training, &units, SquaredHinge, lambdas, watch),
            LossChoice::Squared => self.path_of(training, &units, squared(classes), lambdas, watch),
            LossChoice::Hinge => {
                Err(Error::usage("the hinge loss has no path").help(words!["use ", Setting::Loss.is("squared-hinge")]))
            }
        };
        Ok(Fit::Model(Box::new(path?)))
    }

    /// The sizes of a path over these rows, from the largest down; `None` where there is no path, because columns without a
    /// penalty separate the classes.
    pub(crate) fn path_sizes(
        &self,
        training: &Training<'_>,
        lambdas: &Lambdas,
        watch: &Watch,
    ) -> Result<Option<Vec<f64>>> {
        check_lambdas(lambdas)?;
        // The first point of a path alone: all penalised weights are zero there.
        let first = match lambdas {
            Lambdas::Given(_) | Lambdas::Costs(_) => return sizes(lambdas, 0.0, true).map(Some),
            Lambdas::Spaced { .. } => self.path(training, &Lambdas::Spaced { count: 1, ratio: None }, watch)?,
        };
        let Fit::Model(path) = first else { return Ok(None) };
        let shape = training.design.shape();
        let tall = shape.rows > shape.cols;
        // The largest size of a ridge is that of a net with a small lasso part, far above all that predict well: down from
        // there it takes as many decades more to where the path of a lasso ends.
        let has_lasso = matches!(self.penalty, PenaltyChoice::ElasticNet { l1_ratio, .. } if l1_ratio > 0.0);
        match lambdas {
            Lambdas::Spaced { count, ratio: None } if !has_lasso => {
                let ratio = RIDGE_SHARE * if tall { RATIOS.0 } else { RATIOS.1 };
                sizes(&Lambdas::Spaced { count: *count, ratio: Some(ratio) }, path.lambda_max, tall).map(Some)
            }
            _ => sizes(lambdas, path.lambda_max, tall).map(Some),
        }
    }

    fn path_of<L: Conjugate + Enclosed + PartlyMinimised>(
        &self,
        training: &Training<'_>,
        units: &Units,
        loss: L,
        lambdas: &Lambdas,
        watch: &Watch,
    ) -> Result<RegularisationPath> {
        let offsets = score_offsets(training, loss.n_scores());
        let rows = sample(training, units, offsets.as_deref());
        let share = match self.penalty {
            PenaltyChoice::ElasticNet { l1_ratio, .. } => l1_ratio,
            _ => 0.0,
        };
        let penalty = |lambda: f64, share: f64| -> Result<ElasticNet> {
            let net = ElasticNet::new(lambda, share)?;
            if self.factors.is_empty() { Ok(net) } else { net.with_factors(&self.factors) }
        };
        let risk = |penalty: ElasticNet| Risk::new(rows, loss.clone(), penalty, self.intercept);
        let null = null_model(&|lambda| Ok(risk(penalty(lambda, share.max(RIDGE_SHARE))?)), watch)?;
        let shape = training.design.shape();
        let at_null = risk(penalty(null.lambda, share.max(RIDGE_SHARE))?);
        let null_gap = self.certify_penalised(&at_null, &null.point.coef, watch)?.1.gap();
        let lambda_max_error = match null_gap {
            Some(gap) => Some(critical_error(&at_null, &null, gap, watch)?),
            None => None,
        };
        let known_null = null_gap.map(|_| null.loss);
        let mut path = RegularisationPath {
            lambda_max: null.lambda_max,
            lambda_max_error,
            null_loss: null.loss,
            null_gap,
            formula: self.formula(training.labels.n_classes()),
            points: Vec::new(),
            outcome: Outcome::Converged,
        };
        let sizes = sizes(lambdas, null.lambda_max, shape.rows > shape.cols)?;
        let unknowns = loss.n_scores() * (shape.cols + 1);
        let is_small = |unknowns: usize| share > 0.0 || unknowns <= SMALL;
        // A ridge of few dense rows is solved by their coordinates in the space that they span, found once for all λ.
        let spanned = match !is_small(unknowns) && RowNewton::spans(&self.of_ridge(rows, &loss, null.lambda_max)?) {
            true => Some(SpannedRows::of(&rows)?),
            false => None,
        };
        let (inside, start) = match &spanned {
            Some(spanned) => (spanned.sample(&rows), (spanned.coordinates(&null.point.coef), None)),
            None => (rows, (null.point.coef.clone(), Some((null.point, null.previous)))),
        };
        let unknowns = loss.n_scores() * (inside.design.shape().cols + 1);
        let mut tracer = Tracer { method: self, unknowns, last: start, trail: Trail::default() };
        for (done, lambda) in sizes.iter().enumerate() {
            let mut solved = match is_small(unknowns) {
                true => {
                    tracer.next(&Risk::new(inside, loss.clone(), penalty(*lambda, share)?, self.intercept), watch)?
                }
                false => tracer.next_ridge(&self.of_ridge(inside, &loss, *lambda)?, watch)?,
            };
            if let Some(spanned) = &spanned {
                let max_iterations = self.iterations(Algorithm::NewtonCg);
                let limits = RowNewton { tolerance: self.aim(), max_iterations };
                solved = spanned.in_columns(&self.of_ridge(rows, &loss, *lambda)?, solved, &limits, watch)?;
            }
            let risk = risk(penalty(*lambda, share)?);
            let point = self.path_point(&risk, solved, known_null, training, units)?;
            let outcome = point.outcome;
            if outcome != Outcome::Converged {
                path.outcome = outcome;
            }
            if matches!(outcome, Outcome::TimeLimit | Outcome::Interrupted) {
                return Ok(path);
            }
            path.points.push(point);
            watch.report(Progress::Path { done: done + 1, total: sizes.len() });
        }
        Ok(path)
    }

    fn of_ridge<'a, L: Conjugate + Clone>(&self, rows: Sample<'a>, loss: &L, lambda: f64) -> Result<Risk<'a, L>> {
        let ridge = Ridge::new(lambda);
        let ridge = if self.factors.is_empty() { ridge } else { ridge.with_factors(&self.factors)? };
        Ok(Risk::new(rows, loss.clone(), ridge, self.intercept))
    }

    fn path_point<L: Conjugate + Enclosed + PartlyMinimised>(
        &self,
        risk: &Risk<'_, L, ElasticNet>,
        solved: Solved,
        null_loss: Option<f64>,
        training: &Training<'_>,
        units: &Units,
    ) -> Result<PathPoint> {
        let Solved { point, stop, .. } = solved;
        let loss = point.objective - risk.penalty_at(&point.coef);
        let coef = self.canonical(point.coef, training.labels.n_classes());
        let in_use = |j: &usize| (0..coef.n_scores()).any(|c| coef.weights_of(c)[*j] != 0.0);
        let nonzero = (0..coef.n_cols()).filter(in_use).count();
        let linear = to_columns(coef, units)?;
        // As for a single fit, the proof is about the stored numbers.
        let stored = self.stated_coef(&linear, units, risk.loss().n_scores())?;
        let (objective, certificate) = self.certify_penalised(risk, &stored, &Watch::default())?;
        Ok(PathPoint {
            lambda: risk.penalty().lambda(),
            nonzero,
            objective,
            loss,
            deviance_ratio: null_loss.map(|null| if null > 0.0 { 1.0 - loss / null } else { 0.0 }),
            linear,
            outcome: Outcome::from(&stop).proved(&certificate, self.tolerance),
            certificate,
        })
    }
}

/// The last solution, its solver state, and the extrapolation of the path.
struct Tracer<'m> {
    method: &'m RiskMinimizer,
    unknowns: usize,
    last: (Coef, Option<(Point, Previous)>),
    trail: Trail,
}

impl Tracer<'_> {
    /// The next λ of an elastic net, or of a ridge with few columns as one without a lasso.
    fn next<L: Conjugate + Clone>(&mut self, risk: &Risk<'_, L, ElasticNet>, watch: &Watch) -> Result<Solved> {
        let iterations = self.method.max_iterations.unwrap_or(ProximalNewton::default().max_iterations);
        let solver = ProximalNewton { tolerance: self.method.aim(), max_iterations: iterations };
        let ahead = self.trail.ahead(risk.penalty().lambda());
        let (solved, previous) = match self.last.1.take() {
            Some((point, previous)) => solver.solve_next(risk, &point, ahead, previous, watch)?,
            None => solver.solve_first(risk, watch)?,
        };
        self.last.1 = Some((solved.point.clone(), previous));
        self.trail.add(risk.penalty().lambda(), &solved.point.coef);
        Ok(solved)
    }

    /// The next λ of a ridge.
    fn next_ridge<L: Conjugate + Clone>(&mut self, risk: &Risk<'_, L>, watch: &Watch) -> Result<Solved> {
        let (tolerance, iterations) = (self.method.aim(), self.method.max_iterations);
        let max_iterations = iterations.unwrap_or(Newton::default().max_iterations);
        let ahead = self.trail.ahead(risk.penalty().lambda());
        let start = Some(ahead.as_ref().unwrap_or(&self.last.0));
        let solved = match self.unknowns <= NEWTON_LIMIT {
            true => Newton { tolerance, max_iterations }.solve(risk, start, watch)?,
            false => NewtonCg { tolerance, max_iterations }.solve(risk, start, watch)?,
        };
        self.last.0 = solved.point.coef.clone();
        self.trail.add(risk.penalty().lambda(), &solved.point.coef);
        Ok(solved)
    }
}

fn check_lambdas(lambdas: &Lambdas) -> Result<()> {
    match lambdas {
        Lambdas::Spaced { count: 0, .. } => Err(Error::usage("a path has at least one λ")),
        Lambdas::Spaced { ratio: Some(ratio), .. } if !(*ratio > 0.0 && *ratio < 1.0) => {
            Err(Error::usage(format!("the ratio {ratio} of the smallest to the largest λ is not between 0 and 1")))
        }
        Lambdas::Given(values) | Lambdas::Costs(values) if values.is_empty() => {
            Err(Error::usage("a path has at least one λ"))
        }
        Lambdas::Costs(costs) => match costs.iter().find(|c| !(**c > 0.0 && c.is_finite())) {
            Some(bad) => Err(Error::usage(format!("C = {bad} is not a positive number"))),
            None => Ok(()),
        },
        Lambdas::Given(values) => match values.iter().find(|l| !(**l > 0.0 && l.is_finite())) {
            Some(bad) => Err(Error::usage(format!("λ = {bad} is not positive")).help("0 would be no penalty at all")),
            None => Ok(()),
        },
        Lambdas::Spaced { .. } => Ok(()),
    }
}

/// The same sizes for rows of this total weight.
fn of_rows(lambdas: &Lambdas, total: f64) -> Lambdas {
    match lambdas {
        Lambdas::Costs(costs) => Lambdas::Given(costs.iter().map(|c| (c * total).recip()).collect()),
        _ => lambdas.clone(),
    }
}

fn sizes(lambdas: &Lambdas, largest: f64, tall: bool) -> Result<Vec<f64>> {
    Ok(match lambdas {
        Lambdas::Given(values) => {
            let mut values = values.clone();
            values.sort_by(|a, b| b.total_cmp(a));
            values
        }
        // The largest λ is that of the least C.
        Lambdas::Costs(costs) => {
            let mut costs = costs.clone();
            costs.sort_by(f64::total_cmp);
            costs
        }
        Lambdas::Spaced { count, ratio } => {
            if largest == 0.0 {
                return Err(Error::data("no column tells anything about the classes: λ_max is 0")
                    .help(words!["give the values with ", Setting::LambdaValues]));
            }
            let ratio = ratio.unwrap_or(if tall { RATIOS.0 } else { RATIOS.1 });
            let steps = (*count - 1).max(1) as f64;
            (0..*count).map(|i| largest * (ratio.ln() * i as f64 / steps).exp()).collect()
        }
    })
}

//! One table of (loss, penalty, solver): which combinations exist, and which one `auto` takes.

use super::{Algorithm, LossChoice, PenaltyChoice, RiskMinimizer};
use crate::design::{Design, stored_values};
use crate::error::{Error, Result};
use crate::words::{Setting, words};

/// With more coefficients, forming and factoring their Hessian (2,000² doubles are 32 MB) costs more than products with
/// it. Chosen (bench/constants.md).
pub(super) const NEWTON_LIMIT: usize = 2_000;
/// The same of several classes, whose Hessian has a block for each pair: with newton-cg in place of newton letter (20,000 rows,
/// 16 columns, 26 classes) takes 0.5 s instead of 2.5 s, 4,500 x 256 of 5 classes 0.16 s instead of 1.2 s, and up to 200
/// coefficients (satellite, vowel) neither is faster.
const SOFTMAX_NEWTON_LIMIT: usize = 200;
/// Sparse rows are not made into a dense Hessian where its factors, six of d³/3 at 10 billion operations a second, take longer
/// than sixty products with the rows, of 4 operations an entry at a billion: `2d³ > 2400·entries`. A squared hinge on 2,551 x
/// 1,336 rows of some twenty entries took 1.4 s by newton and 0.01 s by newton-cg or dual-cd.
const ENTRIES_A_FACTOR: f64 = 1_200.0;
/// Up to so many coefficients Newton's method is taken however sparse the rows are: a factor takes less than a millisecond, and it
/// alone ends at the last digits.
const FEW_UNKNOWNS: usize = 200;
/// Without a penalty only Newton's method proves that the optimum exists; a Hessian of 20,000 coefficients takes 3.2
/// GB.
const PROOF_LIMIT: usize = 20_000;

/// The selected solver, and why.
pub(super) struct Choice {
    pub(super) algorithm: Algorithm,
    /// `None` where the user asked for it.
    pub(super) reason: Option<String>,
}

/// What the choice depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProblemSize {
    pub(super) rows: usize,
    /// Coefficients of all scores.
    pub(super) unknowns: usize,
    pub(super) scores: usize,
    /// Whether it can be solved in the space of the rows.
    pub(super) by_rows: bool,
    /// Stored values of rows that are sparse.
    pub(super) entries: Option<usize>,
}

impl ProblemSize {
    pub(super) fn of(design: &dyn Design, scores: usize, by_rows: bool) -> Result<ProblemSize> {
        let shape = design.shape();
        let (unknowns, stored) = (scores * (shape.cols + 1), stored_values(design)?);
        let entries = (stored < shape.rows * shape.cols).then_some(stored);
        Ok(ProblemSize { rows: shape.rows, unknowns, scores, by_rows, entries })
    }
}

impl RiskMinimizer {
    /// Solvers that can minimise this loss with this penalty, the best known first.
    pub fn solvers(&self) -> &'static [Algorithm] {
        use Algorithm::{
            DualCd, FixedStep, GradientDescent, InteriorPoint, Lbfgs, Newton, NewtonCg, ProximalNewton, RowNewton, Sgd,
            Svrg,
        };
        match (self.loss, self.penalty) {
            (LossChoice::Hinge, PenaltyChoice::None | PenaltyChoice::ElasticNet { .. }) => &[],
            (LossChoice::Hinge, _) => &[InteriorPoint, DualCd],
            (_, PenaltyChoice::ElasticNet { .. }) => &[ProximalNewton],
            (LossChoice::Logistic | LossChoice::Squared, PenaltyChoice::None) => {
                &[Newton, GradientDescent, FixedStep, Sgd]
            }
            (_, PenaltyChoice::None) => &[Newton],
            (LossChoice::SquaredHinge, _) => {
                &[Newton, NewtonCg, RowNewton, Lbfgs, GradientDescent, FixedStep, DualCd, Svrg, Sgd]
            }
            _ => &[Newton, NewtonCg, RowNewton, Lbfgs, GradientDescent, FixedStep, Svrg, Sgd],
        }
    }

    /// Refuses an algorithm that cannot minimise this loss with this penalty.
    pub fn check_solver(&self) -> Result<()> {
        let able = self.solvers();
        if able.is_empty() && self.penalty.is_sparse() {
            let (loss, penalty) = (self.loss.name(), self.penalty_in_words());
            return Err(Error::usage(format!("no solver minimises the {loss} loss {penalty}"))
                .help(words!["use ", Setting::Loss.is("squared-hinge")])
                .help(words!["use ", Setting::Penalty.is("ridge")]));
        }
        if self.algorithm == Algorithm::Auto || able.contains(&self.algorithm) {
            return Ok(());
        }
        let (solver, loss) = (self.algorithm.name(), self.loss.name());
        let names = std::iter::once("auto").chain(able.iter().map(|a| a.name()));
        let what = format!(" cannot minimise the {loss} loss {}", self.penalty_in_words());
        Err(Error::usage(words![Setting::Solver.is(solver), what]).help(words!["use ", Setting::Solver.any(names)]))
    }

    /// The solver for a problem of this size.
    pub(super) fn choose(&self, size: ProblemSize) -> Result<Choice> {
        let ProblemSize { rows, unknowns, scores, by_rows, entries } = size;
        self.check_solver()?;
        if self.algorithm != Algorithm::Auto {
            return Ok(Choice { algorithm: self.algorithm, reason: None });
        }
        let newton_limit = if scores > 1 { SOFTMAX_NEWTON_LIMIT } else { NEWTON_LIMIT };
        // Of few coefficients a factor takes no time at all.
        let sparser =
            unknowns > FEW_UNKNOWNS && entries.is_some_and(|n| (unknowns as f64).powi(3) > ENTRIES_A_FACTOR * n as f64);
        let what = if sparser { " of sparse rows" } else { "" };
        let (algorithm, reason) = match self.penalty {
            PenaltyChoice::None if unknowns > PROOF_LIMIT => {
                return Err(Error::usage(format!(
                    "without a penalty {unknowns} coefficients are too many for the proof that the optimum exists"
                ))
                .help("use a ridge penalty")
                .help("use fewer columns"));
            }
            PenaltyChoice::ElasticNet { .. } => (Algorithm::ProximalNewton, "a lasso has a kink".into()),
            _ if self.loss == LossChoice::Hinge && unknowns <= NEWTON_LIMIT && !sparser => {
                (Algorithm::InteriorPoint, format!("only {unknowns} coefficients"))
            }
            _ if self.loss == LossChoice::Hinge => (Algorithm::DualCd, format!("{unknowns} coefficients{what}")),
            PenaltyChoice::None => {
                (Algorithm::Newton, "without a penalty only it proves that the optimum exists".into())
            }
            // Of few dense rows the space has fewer coordinates than there are columns.
            _ if by_rows && entries.is_none() && unknowns > FEW_UNKNOWNS && rows < unknowns => {
                (Algorithm::RowNewton, format!("{unknowns} coefficients, but only {rows} rows"))
            }
            _ if unknowns <= newton_limit && !sparser => (Algorithm::Newton, format!("only {unknowns} coefficients")),
            _ if by_rows && rows < unknowns => {
                (Algorithm::RowNewton, format!("{unknowns} coefficients, but only {rows} rows"))
            }
            // Columns without a penalty add equality constraints to the dual problem, which its solver does not handle.
            _ if self.loss == LossChoice::SquaredHinge && !self.factors.contains(&0.0) => {
                (Algorithm::DualCd, format!("{unknowns} coefficients{what}"))
            }
            _ => (Algorithm::NewtonCg, format!("{unknowns} coefficients{what}")),
        };
        Ok(Choice { algorithm, reason: Some(reason) })
    }

    fn penalty_in_words(&self) -> &'static str {
        match self.penalty {
            PenaltyChoice::None => "without a penalty",
            PenaltyChoice::RidgeOne | PenaltyChoice::Ridge(_) | PenaltyChoice::RidgeCost(_) => "with a ridge penalty",
            PenaltyChoice::ElasticNet { l1_ratio: 1.0, .. } => "with a lasso penalty",
            PenaltyChoice::ElasticNet { .. } => "with an elastic net penalty",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Algorithm::{DualCd, InteriorPoint, Newton, NewtonCg, ProximalNewton, RowNewton};
    use super::{Algorithm, LossChoice, PenaltyChoice, ProblemSize, RiskMinimizer};

    /// What `auto` takes, by loss, penalty, rows, coefficients, scores and whether the rows allow their own space.
    #[test]
    fn the_table_of_choices() {
        let lasso = PenaltyChoice::ElasticNet { l1_ratio: 1.0, lambda: Some(0.1), cost: None };
        let (none, ridge) = (PenaltyChoice::None, PenaltyChoice::Ridge(0.1));
        let (logistic, squared_hinge, hinge) = (LossChoice::Logistic, LossChoice::SquaredHinge, LossChoice::Hinge);
        let table: [(LossChoice, PenaltyChoice, usize, usize, usize, bool, Algorithm); 18] = [
            (logistic, ridge, 252, 752, 1, true, RowNewton),
            (squared_hinge, ridge, 252, 752, 1, true, RowNewton),
            (logistic, ridge, 72, 3 * 7_130, 3, true, RowNewton),
            (logistic, ridge, 15, 41, 1, true, Newton),
            (logistic, ridge, 100, 5, 1, false, Newton),
            (logistic, ridge, 100_000, 2_000, 1, false, Newton),
            (logistic, ridge, 100_000, 2_001, 1, false, NewtonCg),
            (logistic, ridge, 1_000, 50_000, 1, true, RowNewton),
            (logistic, ridge, 100_000, 50_000, 1, true, NewtonCg),
            (logistic, ridge, 528, 121, 11, false, Newton),
            (logistic, ridge, 4_500, 1_285, 5, false, NewtonCg),
            (logistic, ridge, 20_000, 442, 26, false, NewtonCg),
            (logistic, none, 4_500, 1_285, 5, false, Newton),
            (logistic, lasso, 100, 5, 1, false, ProximalNewton),
            (hinge, ridge, 100, 5, 1, false, InteriorPoint),
            (hinge, ridge, 100, 50_000, 1, false, DualCd),
            (squared_hinge, ridge, 100, 5, 1, false, Newton),
            (squared_hinge, ridge, 100_000, 50_000, 1, false, DualCd),
        ];
        for (loss, penalty, rows, unknowns, scores, by_rows, expected) in table {
            let method = RiskMinimizer { loss, penalty, ..RiskMinimizer::default() };
            let choice = method.choose(ProblemSize { rows, unknowns, scores, by_rows, entries: None }).unwrap();
            assert_eq!(choice.algorithm, expected, "{loss:?} {penalty:?}, {rows} rows, {unknowns} coefficients");
        }
        // Sparse rows: a9a and w8a have few columns, parts of texts do not.
        for (loss, rows, unknowns, entries, expected) in [
            (logistic, 32_561, 124, 451_592, Newton),
            (squared_hinge, 49_749, 301, 579_586, Newton),
            (squared_hinge, 2_551, 1_337, 50_000, DualCd),
            (logistic, 2_551, 1_337, 50_000, NewtonCg),
            (logistic, 800, 1_337, 16_000, RowNewton),
            (hinge, 2_551, 1_337, 50_000, DualCd),
            (hinge, 32_561, 124, 451_592, InteriorPoint),
            (logistic, 15, 33, 30, Newton),
        ] {
            let method = RiskMinimizer { loss, penalty: ridge, ..RiskMinimizer::default() };
            let size = ProblemSize { rows, unknowns, scores: 1, by_rows: true, entries: Some(entries) };
            assert_eq!(
                method.choose(size).unwrap().algorithm,
                expected,
                "{loss:?}, {rows} rows, {unknowns} coefficients"
            );
        }
    }
}

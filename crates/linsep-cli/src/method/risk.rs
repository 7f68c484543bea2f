//! Loss, penalty and solver of a risk minimiser.

use super::parse::{BY_FOLDS, factors, path_penalty, penalty};
use super::{LossName, MethodArguments, MethodName, SoftmaxName, SolverName, TargetsName, foreign_solver, name};
use linsep::model::{
    Algorithm, LeastSquaresSettings, LeastSquaresSolver, LossChoice, Method, PenaltyChoice, RiskMinimizer, Stochastic,
    Targets,
};
use linsep::objective::{Intercept, SoftmaxForm};
use linsep::solve::PerceptronSteps;
use linsep::{Error, Result};

impl MethodArguments {
    /// Whether least squares has a closed form with this penalty.
    pub(super) fn has_closed_form(&self) -> Result<bool> {
        let penalty = self.penalty.as_deref().map_or(Ok(LeastSquaresSettings::default().penalty), penalty)?;
        Ok(LeastSquaresSettings::has_closed_form(&penalty, self.has_penalty_factors()))
    }

    /// Whether the penalty of single columns was changed.
    pub fn has_penalty_factors(&self) -> bool {
        !self.penalty_factors.is_empty()
    }

    pub(super) fn least_squares(&self) -> Result<Method> {
        let defaults = LeastSquaresSettings::default();
        let solver = match self.solver {
            None | Some(SolverName::Auto) => LeastSquaresSolver::Auto,
            Some(SolverName::Cholesky) => LeastSquaresSolver::Cholesky,
            Some(SolverName::Qr) => LeastSquaresSolver::Qr,
            Some(SolverName::GradientDescent) => LeastSquaresSolver::GradientDescent,
            Some(other) => {
                return Err(foreign_solver(other, "least-squares", "auto, cholesky, qr or gradient-descent"));
            }
        };
        for (flag, given) in [
            ("--step", self.perceptron.step.is_some()),
            ("--batch", self.batch.is_some()),
            ("--order", self.perceptron.order.is_some()),
        ] {
            if given {
                return Err(Error::usage(format!("{flag} is for steps along a gradient"))
                    .help("choose --solver gradient-descent or sgd"));
            }
        }
        for (flag, given) in [("--tol", self.tol.is_some()), ("--max-iter", self.max_iter.is_some())] {
            if given && solver != LeastSquaresSolver::GradientDescent {
                return Err(Error::usage(format!("{flag} is for iterations, and least squares has a closed form"))
                    .help("leave it out")
                    .help("choose --solver gradient-descent"));
            }
        }
        Ok(Method::LeastSquares(LeastSquaresSettings {
            targets: match self.targets {
                None => Targets::Auto,
                Some(TargetsName::PlusMinus) => Targets::PlusMinus,
                Some(TargetsName::ZeroOne) => Targets::ZeroOne,
            },
            penalty: self.penalty.as_deref().map_or(Ok(defaults.penalty), penalty)?,
            intercept: self.intercept.map_or(defaults.intercept, Intercept::from),
            standardize: self.standardize(),
            solver,
            tolerance: self.tol.unwrap_or(defaults.tolerance),
            max_iterations: self.max_iter.unwrap_or(defaults.max_iterations),
            ..defaults
        }))
    }

    pub(super) fn risk(&self, seed: u64) -> Result<Method> {
        self.risk_with(self.ridge_or(RiskMinimizer::default().penalty)?, seed)
    }

    /// Whether least squares is to go down step by step as a textbook does, and not by its equations.
    pub(super) fn takes_steps(&self) -> bool {
        let descends = matches!(self.solver, Some(SolverName::GradientDescent)) && self.perceptron.step.is_some();
        descends || matches!(self.solver, Some(SolverName::Sgd))
    }

    /// Least squares by such steps; without a penalty unless one is given.
    pub(super) fn risk_by_steps(&self, seed: u64) -> Result<Method> {
        self.risk_with(self.ridge_or(PenaltyChoice::None)?, seed)
    }

    /// The penalty, given as such or by C.
    pub(super) fn ridge_or(&self, default: PenaltyChoice) -> Result<PenaltyChoice> {
        match (self.kernel.cost, self.penalty.as_deref()) {
            (None, None) => Ok(default),
            (None, Some(text)) => penalty(text),
            (Some(cost), None) if cost > 0.0 && cost.is_finite() => Ok(PenaltyChoice::RidgeCost(cost)),
            (Some(cost), None) => {
                Err(Error::usage(format!("C = {cost} is not a positive number")).help("for example --C 10"))
            }
            (Some(_), Some(_)) => Err(Error::usage("--C and --penalty both say how large the penalty is")
                .help("C is a ridge with λ = 1/(C·Σs): leave one of them out")),
        }
    }

    /// The method of a path: the kind of its penalty is given, or the usual one, the size is not.
    pub fn path_method(&self, offset: bool, usual: &str) -> Result<Method> {
        self.refuse_foreign_flags(offset)?;
        if !matches!(
            self.model,
            MethodName::Logistic | MethodName::Softmax | MethodName::Svm | MethodName::LeastSquares
        ) {
            return Err(Error::usage(format!("--model {} has no path", name(self.model)))
                .help("a path is for logistic, svm and least-squares"));
        }
        if let Some(link) = self.other_link() {
            return Err(Error::usage(format!("--link {} has no path", link.name())).help("leave --link out"));
        }
        if self.kernel.cost.is_some() {
            return Err(Error::usage("a path chooses the size of the penalty itself").help("leave --C out"));
        }
        if self.solver.is_some() {
            return Err(Error::usage("a path chooses its solver itself").help("leave --solver out"));
        }
        if self.model == MethodName::Svm && !matches!(self.loss, Some(LossName::SquaredHinge)) {
            return Err(Error::usage("the hinge loss has no path").help("add --loss squared-hinge"));
        }
        self.risk_with(self.penalty.as_deref().map_or(path_penalty(usual), path_penalty)?, 0)
    }

    /// Whether the penalty asks for a size that folds choose: `lasso:cv` and its like.
    pub fn sized_by_folds(&self) -> bool {
        self.penalty.as_deref().is_some_and(|text| text.ends_with(BY_FOLDS))
    }

    /// Whether the kind of a penalty is given, or usual, and its size is not: a path can choose that.
    pub fn leaves_size_open(&self) -> bool {
        let smooth = match self.model {
            MethodName::Logistic | MethodName::Softmax => self.other_link().is_none(),
            MethodName::Svm => matches!(self.loss, Some(LossName::SquaredHinge)) && !self.kernel.is_given(),
            // Without a penalty least squares has nothing to choose.
            MethodName::LeastSquares => self.penalty.is_some(),
            _ => false,
        };
        let open = self.penalty.as_deref().is_none_or(|text| path_penalty(text).is_ok());
        smooth && open && self.kernel.cost.is_none() && self.solver.is_none()
    }

    fn risk_with(&self, penalty: PenaltyChoice, seed: u64) -> Result<Method> {
        let defaults = RiskMinimizer::default();
        let method = RiskMinimizer {
            loss: match (self.model, self.loss) {
                (MethodName::Svm, None | Some(LossName::Hinge)) => LossChoice::Hinge,
                (MethodName::Svm, Some(LossName::SquaredHinge)) => LossChoice::SquaredHinge,
                (MethodName::LeastSquares, _) => LossChoice::Squared,
                _ => LossChoice::Logistic,
            },
            penalty,
            factors: Vec::new(),
            named_factors: factors(&self.penalty_factors)?,
            intercept: self.intercept.map_or(defaults.intercept, Intercept::from),
            form: match self.softmax {
                None | Some(SoftmaxName::Symmetric) => SoftmaxForm::Symmetric,
                Some(SoftmaxName::Reference) => SoftmaxForm::Reference,
            },
            standardize: self.standardize(),
            algorithm: self.algorithm()?,
            stochastic: self.stochastic(seed)?,
            tolerance: self.tol.unwrap_or(defaults.tolerance),
            max_iterations: self.max_iter,
        };
        if self.targets.is_some() {
            return Err(Error::usage("--targets is for least squares without a lasso").help("leave it out"));
        }
        method.check_solver()?;
        Ok(Method::Risk(method))
    }

    /// Batch, step and seed, which only the stochastic solvers have; gradient descent has a step, too.
    fn stochastic(&self, seed: u64) -> Result<Stochastic> {
        let drawn = matches!(self.solver, Some(SolverName::Svrg | SolverName::Sgd));
        let descends = matches!(self.solver, Some(SolverName::GradientDescent | SolverName::FixedStep));
        if self.perceptron.step.is_some() && !(drawn || descends) {
            return Err(Error::usage("--step is for steps along a gradient")
                .help("choose --solver sgd, svrg or gradient-descent"));
        }
        if self.batch.is_some() && !matches!(self.solver, Some(SolverName::Sgd)) {
            return Err(Error::usage("--batch is for --solver sgd").help("leave it out").help("choose --solver sgd"));
        }
        let sgd = matches!(self.solver, Some(SolverName::Sgd));
        if self.perceptron.order.is_some() && !sgd {
            return Err(Error::usage("--order is for rows one at a time").help("choose --solver sgd"));
        }
        let in_order = matches!(self.perceptron.order, Some(crate::perceptron::OrderName::Given));
        let (step, steps) = match self.perceptron.gradient_steps()? {
            Some((step, steps)) => (Some(step), steps),
            None => (None, PerceptronSteps::Constant),
        };
        let defaults = Stochastic::default();
        Ok(match drawn {
            true if sgd => Stochastic { batch: self.batch.unwrap_or(defaults.batch), step, steps, in_order, seed },
            true => Stochastic { step: self.perceptron.one_step()?, seed, ..defaults },
            false if descends => Stochastic { step, steps, ..defaults },
            false => defaults,
        })
    }

    fn algorithm(&self) -> Result<Algorithm> {
        Ok(match self.solver {
            None | Some(SolverName::Auto) => Algorithm::Auto,
            Some(SolverName::Newton) => Algorithm::Newton,
            Some(SolverName::NewtonCg) => Algorithm::NewtonCg,
            Some(SolverName::RowNewton) => Algorithm::RowNewton,
            Some(SolverName::Lbfgs) => Algorithm::Lbfgs,
            Some(SolverName::GradientDescent) => Algorithm::GradientDescent,
            Some(SolverName::FixedStep) => Algorithm::FixedStep,
            Some(SolverName::Svrg) => Algorithm::Svrg,
            Some(SolverName::Sgd) => Algorithm::Sgd,
            Some(SolverName::ProximalNewton) => Algorithm::ProximalNewton,
            Some(SolverName::InteriorPoint) => Algorithm::InteriorPoint,
            Some(SolverName::DualCd) => Algorithm::DualCd,
            Some(other) => {
                let own = match self.model {
                    MethodName::Svm => "auto, interior-point, dual-cd, or for the squared hinge newton and its kin",
                    MethodName::LeastSquares => "auto or proximal-newton",
                    _ => {
                        "auto, newton, newton-cg, row-newton, lbfgs, gradient-descent, fixed-step, proximal-newton, svrg or sgd"
                    }
                };
                return Err(foreign_solver(other, &name(self.model), own));
            }
        })
    }
}

//! Least squares on sigmoid outputs.

use super::parse::penalty;
use super::{MethodArguments, SolverName, foreign_solver};
use linsep::model::{Method, SigmoidLeastSquares};
use linsep::objective::Intercept;
use linsep::solve::{PerceptronSteps, SigmoidAlgorithm};
use linsep::{Error, Result};

impl MethodArguments {
    pub(super) fn sigmoid(&self, seed: u64) -> Result<Method> {
        let defaults = SigmoidLeastSquares::default();
        let sgd = matches!(self.solver, Some(SolverName::Sgd));
        if self.batch.is_some() && !sgd {
            return Err(Error::usage("--batch is for --solver sgd").help("leave it out").help("choose --solver sgd"));
        }
        if self.perceptron.step.is_some() && !(sgd || matches!(self.solver, Some(SolverName::GradientDescent))) {
            return Err(
                Error::usage("--step is for steps along a gradient").help("choose --solver gradient-descent or sgd")
            );
        }
        let (step, steps) = match self.perceptron.gradient_steps()? {
            Some((step, steps)) => (Some(step), steps),
            None => (None, PerceptronSteps::Constant),
        };
        Ok(Method::Sigmoid(SigmoidLeastSquares {
            penalty: self.penalty.as_deref().map_or(Ok(defaults.penalty), penalty)?,
            intercept: self.intercept.map_or(defaults.intercept, Intercept::from),
            standardize: self.standardize(),
            algorithm: match self.solver {
                None | Some(SolverName::Auto | SolverName::Newton) => SigmoidAlgorithm::Newton,
                Some(SolverName::GaussNewton) => SigmoidAlgorithm::GaussNewton,
                Some(SolverName::GradientDescent) => SigmoidAlgorithm::GradientDescent,
                Some(SolverName::Sgd) => SigmoidAlgorithm::Sgd,
                Some(other) => {
                    return Err(foreign_solver(
                        other,
                        "sigmoid-ls",
                        "auto, newton, gauss-newton, gradient-descent or sgd",
                    ));
                }
            },
            tolerance: self.tol.unwrap_or(defaults.tolerance),
            max_iterations: self.max_iter,
            restarts: self.restarts.unwrap_or(defaults.restarts),
            seed,
            batch: self.batch.unwrap_or(defaults.batch),
            step,
            steps,
        }))
    }
}

//! Least squares on sigmoid outputs.

use super::parse::penalty;
use super::{MethodArguments, SolverName, foreign_solver};
use linsep::Result;
use linsep::model::{Method, SigmoidLeastSquares};
use linsep::objective::Intercept;
use linsep::solve::SigmoidAlgorithm;

impl MethodArguments {
    pub(super) fn sigmoid(&self, seed: u64) -> Result<Method> {
        let defaults = SigmoidLeastSquares::default();
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
        }))
    }
}

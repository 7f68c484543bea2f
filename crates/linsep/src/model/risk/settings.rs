//! What a user may ask of a risk minimiser.

use crate::error::{Error, Result};
use crate::objective::{ElasticNet, Ridge};
use crate::solve::PerceptronSteps;
use crate::words::{Setting, words};
use serde::{Deserialize, Serialize};

/// Default limit of Newton's methods, which converge quadratically; the longest fits of bench/README.md take 103
/// passes, and several of them make a step. Chosen (bench/constants.md), as all limits here: reaching one is an answer
/// (`IterationLimit`).
const NEWTON_STEPS: usize = 100;
/// Default limit of proximal Newton and interior point steps.
const PROXIMAL_STEPS: usize = 200;
/// Default limit of steps of one pass each.
const LBFGS_STEPS: usize = 10_000;
/// Default limit of first-order steps and rounds of coordinate descent.
const FIRST_ORDER_STEPS: usize = 100_000;
/// Default epochs of SVRG, three passes each.
const SVRG_EPOCHS: usize = 1_000;
/// Default epochs of stochastic gradients, which do not converge to a small gap anyway.
const SGD_EPOCHS: usize = 100;

/// The loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossChoice {
    /// Logistic; softmax for more than two classes.
    #[default]
    Logistic,
    /// The hinge of the support vector machine.
    Hinge,
    /// Its square.
    SquaredHinge,
    /// Squared error on targets −1 and 1, one-hot for more than two classes.
    Squared,
}

impl LossChoice {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            LossChoice::Logistic => "logistic",
            LossChoice::Hinge => "hinge",
            LossChoice::SquaredHinge => "squared-hinge",
            LossChoice::Squared => "squared",
        }
    }
}

/// The penalty as the user asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PenaltyChoice {
    /// Maximum likelihood.
    None,
    /// Ridge with λ = 1/Σs, the `C = 1` of other tools.
    RidgeOne,
    /// Ridge with this λ.
    Ridge(f64),
    /// Ridge with λ = 1/(CΣs) for this C, the price of a unit of loss in other tools.
    RidgeCost(f64),
    /// `λ[(1−α)/2 ‖W‖² + α‖W‖₁]`.
    ElasticNet {
        /// α, the share of the lasso; 1 is the lasso itself.
        l1_ratio: f64,
        /// λ; `None` is 1/Σs, or what the cost says.
        lambda: Option<f64>,
        /// C instead of λ, which is then 1/(CΣs).
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cost: Option<f64>,
    },
}

impl PenaltyChoice {
    /// Whether the penalty has a kink at zero, which makes coefficients vanish.
    pub fn is_sparse(self) -> bool {
        matches!(self, PenaltyChoice::ElasticNet { .. })
    }

    /// λ for rows of this total weight; 0 without a penalty.
    pub fn lambda(self, total_weight: f64) -> f64 {
        match self {
            PenaltyChoice::None => 0.0,
            PenaltyChoice::RidgeOne => total_weight.recip(),
            PenaltyChoice::ElasticNet { lambda: None, cost, .. } => (cost.unwrap_or(1.0) * total_weight).recip(),
            PenaltyChoice::RidgeCost(cost) => (cost * total_weight).recip(),
            PenaltyChoice::Ridge(lambda) | PenaltyChoice::ElasticNet { lambda: Some(lambda), .. } => lambda,
        }
    }

    /// Sizes and shares that make sense.
    pub(crate) fn check(self) -> Result<()> {
        match self {
            PenaltyChoice::Ridge(lambda) if !(lambda > 0.0 && lambda.is_finite()) => {
                Err(Error::usage(format!("the ridge penalty {lambda} is not positive")).help(words![
                    "use ",
                    Setting::Penalty.is("none"),
                    " for no penalty"
                ]))
            }
            PenaltyChoice::ElasticNet { lambda: Some(_), cost: Some(_), .. } => {
                Err(Error::usage("a penalty has λ or C, not both").help("leave one of them out"))
            }
            PenaltyChoice::RidgeCost(cost) | PenaltyChoice::ElasticNet { cost: Some(cost), .. }
                if !(cost > 0.0 && cost.is_finite()) =>
            {
                Err(Error::usage(format!("C = {cost} is not a positive number"))
                    .help(words!["for example ", Setting::C.is("10")]))
            }
            PenaltyChoice::ElasticNet { l1_ratio, .. } if !(l1_ratio > 0.0 && l1_ratio <= 1.0) => {
                Err(Error::usage(format!("the share {l1_ratio} of the lasso is not above 0 and at most 1"))
                    .help(words!["use ", Setting::Penalty.is("ridge"), " for a penalty without a lasso"]))
            }
            PenaltyChoice::ElasticNet { lambda: Some(lambda), .. } if !(lambda > 0.0 && lambda.is_finite()) => {
                Err(Error::usage(format!("the penalty {lambda} is not positive")).help(words![
                    "use ",
                    Setting::Penalty.is("none"),
                    " for no penalty"
                ]))
            }
            _ => Ok(()),
        }
    }

    /// The smooth penalty this is; what has a lasso part counts as none.
    pub(in crate::model) fn ridge(self, total_weight: f64, factors: &[f64]) -> Result<Ridge> {
        let lambda = if self.is_sparse() { 0.0 } else { self.lambda(total_weight) };
        match factors.is_empty() {
            true => Ok(Ridge::new(lambda)),
            false => Ridge::new(lambda).with_factors(factors),
        }
    }

    /// The penalty with a lasso part this is, where it is one.
    pub(super) fn elastic_net(self, total_weight: f64, factors: &[f64]) -> Result<Option<ElasticNet>> {
        let PenaltyChoice::ElasticNet { l1_ratio, .. } = self else { return Ok(None) };
        let penalty = ElasticNet::new(self.lambda(total_weight), l1_ratio)?;
        Ok(Some(if factors.is_empty() { penalty } else { penalty.with_factors(factors)? }))
    }
}

/// Which algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Algorithm {
    /// By loss, penalty and the number of coefficients.
    #[default]
    Auto,
    /// Newton with a Cholesky factor.
    Newton,
    /// Truncated Newton by conjugate gradients in a trust region.
    NewtonCg,
    /// Newton in the space of the rows.
    RowNewton,
    /// Limited-memory BFGS.
    Lbfgs,
    /// Gradient descent, every step as long as a line search finds it.
    GradientDescent,
    /// Gradient descent with one fixed step.
    FixedStep,
    /// Proximal Newton: coordinate descent on quadratic models, for penalties with a kink.
    ProximalNewton,
    /// Interior point method.
    InteriorPoint,
    /// Dual coordinate descent.
    DualCd,
    /// Stochastic gradients with reduced variance.
    Svrg,
    /// Stochastic gradient descent with averaging.
    Sgd,
}

impl Algorithm {
    /// Iterations after which to give up: cheap ones may be many.
    pub fn default_iterations(self) -> usize {
        match self {
            Algorithm::Auto | Algorithm::Newton | Algorithm::NewtonCg | Algorithm::RowNewton => NEWTON_STEPS,
            Algorithm::ProximalNewton => PROXIMAL_STEPS,
            Algorithm::InteriorPoint => PROXIMAL_STEPS,
            Algorithm::Lbfgs => LBFGS_STEPS,
            Algorithm::GradientDescent | Algorithm::FixedStep | Algorithm::DualCd => FIRST_ORDER_STEPS,
            Algorithm::Svrg => SVRG_EPOCHS,
            Algorithm::Sgd => SGD_EPOCHS,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Auto => "auto",
            Algorithm::Newton => "newton",
            Algorithm::NewtonCg => "newton-cg",
            Algorithm::RowNewton => "row-newton",
            Algorithm::Lbfgs => "lbfgs",
            Algorithm::GradientDescent => "gradient-descent",
            Algorithm::FixedStep => "fixed-step",
            Algorithm::ProximalNewton => "proximal-newton",
            Algorithm::InteriorPoint => "interior-point",
            Algorithm::DualCd => "dual-cd",
            Algorithm::Svrg => "svrg",
            Algorithm::Sgd => "sgd",
        }
    }
}

/// Settings of the stochastic solvers, and the steps of gradient descent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stochastic {
    /// Rows of a step (stochastic gradient descent).
    pub batch: usize,
    /// The first step (stochastic gradient descent), or the longest (reduced variance); `None` is by the curvature.
    pub step: Option<f64>,
    /// How the steps of gradient descent, or of stochastic gradient descent, change.
    #[serde(skip_serializing_if = "PerceptronSteps::is_constant", default)]
    pub steps: PerceptronSteps,
    /// Whether the rows of stochastic gradient descent come in their order, each once an epoch, and not drawn.
    #[serde(skip_serializing_if = "is_drawn", default)]
    pub in_order: bool,
    /// Seed of the draws.
    pub seed: u64,
}

fn is_drawn(in_order: &bool) -> bool {
    !in_order
}

impl Default for Stochastic {
    fn default() -> Stochastic {
        Stochastic { batch: 1, step: None, steps: PerceptronSteps::Constant, in_order: false, seed: 0 }
    }
}

impl Stochastic {
    /// Whether nothing was chosen.
    pub(super) fn is_default(&self) -> bool {
        *self == Stochastic::default()
    }

    /// Sizes that make sense.
    pub(in crate::model) fn check(&self) -> Result<()> {
        if self.batch == 0 {
            return Err(
                Error::usage("a step by 0 rows goes nowhere").help(words!["for example ", Setting::Batch.is("32")])
            );
        }
        if let PerceptronSteps::Listed(steps) = &self.steps
            && let Some(step) = steps.iter().find(|step| !(**step > 0.0 && step.is_finite()))
        {
            return Err(Error::usage(format!("the step {step} is not positive")));
        }
        if self.steps == PerceptronSteps::Best {
            return Err(Error::usage("the best step is that of a perceptron")
                .help(words!["for example ", Setting::Step.is("0.1")]));
        }
        match self.step {
            Some(step) if !(step > 0.0 && step.is_finite()) => {
                Err(Error::usage(format!("the step {step} is not positive"))
                    .help(words!["for example ", Setting::Step.is("0.1")]))
            }
            _ => Ok(()),
        }
    }
}

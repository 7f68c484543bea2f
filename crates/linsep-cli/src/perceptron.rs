//! The flags of the perceptron family, and the method they choose.

use clap::{Args, ValueEnum};
use linsep::design::Standardize;
use linsep::model::{Method, PerceptronSettings, PerceptronVariant};
use linsep::objective::Intercept;
use linsep::solve::{Order, PerceptronSteps};
use linsep::{Error, Result};

/// Flags that belong to the perceptron family only.
#[derive(Args)]
pub struct PerceptronArguments {
    /// Perceptron: move by one row at a time (default), or by all rows on the wrong side at once
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Method")]
    pub update: Option<UpdateName>,

    /// Pocket: keep the plane with the fewest training errors (default), or with the longest run of right rows
    #[arg(long, value_enum, value_name = "RULE", help_heading = "Method")]
    pub pocket: Option<PocketName>,

    /// Perceptron and its kin: the step η, which alone scales the scores and decides nothing (default: 1); of --model perceptron also
    /// 1/t, 1/sqrt(t), a list 1,0.5,0.25 (then the last), or best (by the widest plane). --solver gradient-descent: the step η
    /// along the gradient of the mean loss, also 0.1/t, 0.1/sqrt(t) or a list (default: by a line search); sgd: the same, a single
    /// number being the first of steps that become shorter, and svrg: the longest step (default: by the curvature)
    #[arg(long, value_name = "ETA", help_heading = "Method")]
    pub step: Option<String>,

    /// Perceptron, averaged-perceptron: rows in a new random order every epoch (default), or as they come; pocket and --solver sgd:
    /// drawn with replacement (default), or as they come
    #[arg(long, value_enum, value_name = "ORDER", help_heading = "Method")]
    pub order: Option<OrderName>,
}

/// How a perceptron moves.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UpdateName {
    /// Row by row
    Online,
    /// By the mean of all rows on the wrong side
    Batch,
    /// By their sum
    Sum,
}

/// What a pocket keeps.
#[derive(Clone, Copy, ValueEnum)]
pub enum PocketName {
    /// The fewest training errors
    Errors,
    /// The longest run of right rows
    Run,
}

/// In which order rows are visited.
#[derive(Clone, Copy, ValueEnum)]
pub enum OrderName {
    /// By the seed, anew every epoch
    Shuffled,
    /// As they come
    Given,
}

impl PerceptronArguments {
    /// The online or the batch rule.
    pub fn plain(&self) -> PerceptronVariant {
        match self.update {
            None | Some(UpdateName::Online) => PerceptronVariant::Online,
            Some(UpdateName::Batch) => PerceptronVariant::Batch,
            Some(UpdateName::Sum) => PerceptronVariant::BatchSum,
        }
    }

    /// Whether the update is by batches.
    pub fn is_batch(&self) -> bool {
        matches!(self.update, Some(UpdateName::Batch | UpdateName::Sum))
    }

    /// A pocket by errors or by runs.
    pub fn pocket(&self) -> PerceptronVariant {
        match self.pocket {
            None | Some(PocketName::Errors) => PerceptronVariant::PocketErrors,
            Some(PocketName::Run) => PerceptronVariant::PocketRun,
        }
    }

    /// The method with these settings.
    pub fn method(
        &self,
        variant: PerceptronVariant,
        standardize: Standardize,
        intercept: Option<Intercept>,
        max_epochs: Option<usize>,
        seed: u64,
    ) -> Result<Method> {
        let defaults = PerceptronSettings::new(variant);
        let (step, steps) = self.steps()?;
        Ok(Method::Perceptron(PerceptronSettings {
            step,
            steps,
            order: match self.order {
                None | Some(OrderName::Shuffled) => Order::Shuffled,
                Some(OrderName::Given) => Order::Given,
            },
            seed,
            max_epochs: max_epochs.unwrap_or(defaults.max_epochs),
            intercept: intercept.unwrap_or(defaults.intercept),
            standardize,
            ..defaults
        }))
    }

    /// One step for methods that have no other.
    pub fn one_step(&self) -> Result<Option<f64>> {
        match (&self.step, self.steps()?) {
            (None, _) => Ok(None),
            (Some(_), (step, PerceptronSteps::Constant)) => Ok(Some(step)),
            (Some(text), _) => {
                Err(Error::usage(format!("--step {text} is not for this solver")).help("give one number"))
            }
        }
    }

    /// The first step along a gradient and how it changes, where any was given.
    pub fn gradient_steps(&self) -> Result<Option<(f64, PerceptronSteps)>> {
        match (&self.step, self.steps()?) {
            (None, _) => Ok(None),
            (Some(_), (_, PerceptronSteps::Best)) => {
                Err(Error::usage("--step best belongs to --model perceptron").help("write --step 0.1, 0.1/t or a list"))
            }
            (Some(_), steps) => Ok(Some(steps)),
        }
    }

    /// η and how it changes: `0.5`, `1/t`, `1/sqrt(t)`, `1,0.5,0.25` or `best`.
    fn steps(&self) -> Result<(f64, PerceptronSteps)> {
        let Some(text) = self.step.as_deref() else { return Ok((1.0, PerceptronSteps::Constant)) };
        let wrong = || {
            Error::usage(format!("`{text}` is not a step"))
                .help("write --step 0.1, 1/t, 1/sqrt(t), a list as 1,0.5,0.25, or best")
        };
        let number = |text: &str| text.trim().parse::<f64>().map_err(|_| wrong());
        if text == "best" {
            return Ok((1.0, PerceptronSteps::Best));
        }
        if let Some(first) = text.strip_suffix("/sqrt(t)") {
            return Ok((number(first)?, PerceptronSteps::Root));
        }
        if let Some(first) = text.strip_suffix("/t") {
            return Ok((number(first)?, PerceptronSteps::Harmonic));
        }
        if text.contains(',') {
            return Ok((1.0, PerceptronSteps::Listed(text.split(',').map(number).collect::<Result<_>>()?)));
        }
        Ok((number(text)?, PerceptronSteps::Constant))
    }
}

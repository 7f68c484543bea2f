//! The flags of kernels, and the methods they choose.

use super::MethodArguments;
use clap::{Args, ValueEnum};
use linsep::design::Standardize;
use linsep::model::{KernelChoice, KernelPerceptronSettings, KernelSvmSettings, Method, PenaltyChoice};
use linsep::objective::Intercept;
use linsep::solve::Order;
use linsep::{Error, Result};

/// Flags that belong to kernels only, and C.
#[derive(Args)]
pub struct KernelArguments {
    /// Kernel of a support vector machine or of a hard margin (default: none, which is linear by its weights), or of a kernel
    /// perceptron (default: rbf)
    #[arg(long, value_enum, value_name = "KERNEL", help_heading = "Method")]
    kernel: Option<KernelName>,

    /// γ of the kernel (default: 1/(columns · variance of all entries))
    #[arg(long, value_name = "G", help_heading = "Method", allow_negative_numbers = true)]
    gamma: Option<f64>,

    /// Degree of a polynomial kernel (default: 3)
    #[arg(long, value_name = "Q", help_heading = "Method")]
    degree: Option<u32>,

    /// Constant of a polynomial (default: 1) or sigmoid kernel (default: 0)
    #[arg(long, value_name = "C0", help_heading = "Method", allow_negative_numbers = true)]
    coef0: Option<f64>,

    /// Memory for kernel rows during a fit, as 64MB or 2GB (default: 200MB)
    #[arg(long, value_name = "SIZE", help_heading = "Method")]
    cache: Option<String>,

    /// Price of a unit of loss against ½‖w‖²: a ridge with λ = 1/(C·Σs)
    #[arg(long = "C", value_name = "C", help_heading = "Method", allow_negative_numbers = true)]
    pub cost: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KernelName {
    /// x·y
    Linear,
    /// (γ x·y + c)^q
    Polynomial,
    /// exp(−γ‖x−y‖²)
    Rbf,
    /// tanh(γ x·y + c)
    Sigmoid,
    /// Column j is the kernel value with training row j
    Precomputed,
}

impl KernelArguments {
    /// Whether a kernel was chosen.
    pub fn is_given(&self) -> bool {
        self.kernel.is_some()
    }

    /// A parameter without its kernel would be ignored; say so instead.
    pub fn refuse_strays(&self, has_default: bool) -> Result<()> {
        use KernelName::{Polynomial, Rbf, Sigmoid};
        let kernel = self.kernel.or(has_default.then_some(Rbf));
        let flags: [(&str, bool, &[KernelName]); 3] = [
            ("--gamma", self.gamma.is_some(), &[Polynomial, Rbf, Sigmoid]),
            ("--degree", self.degree.is_some(), &[Polynomial]),
            ("--coef0", self.coef0.is_some(), &[Polynomial, Sigmoid]),
        ];
        for (flag, given, kernels) in flags {
            if given && !kernel.is_some_and(|k| kernels.contains(&k)) {
                let names: Vec<String> = kernels.iter().map(|k| format!("--kernel {}", name(*k))).collect();
                let to = kernel.map_or("a method without a kernel".to_owned(), |k| format!("--kernel {}", name(k)));
                return Err(Error::usage(format!("{flag} does not belong to {to}"))
                    .help(format!("leave it out, or choose {}", names.join(" or "))));
            }
        }
        if self.cache.is_some() && (self.kernel.is_none() || has_default) {
            return Err(Error::usage("--cache is for the kernel rows of a support vector machine")
                .help("leave it out")
                .help("choose --model svm --kernel rbf"));
        }
        Ok(())
    }

    fn choice(&self) -> Result<KernelChoice> {
        let choice = match self.kernel.unwrap_or(KernelName::Rbf) {
            KernelName::Linear => KernelChoice::Linear,
            KernelName::Polynomial => KernelChoice::Polynomial {
                gamma: self.gamma,
                coef0: self.coef0.unwrap_or(1.0),
                degree: self.degree.unwrap_or(3),
            },
            KernelName::Rbf => KernelChoice::Rbf { gamma: self.gamma },
            KernelName::Sigmoid => KernelChoice::Sigmoid { gamma: self.gamma, coef0: self.coef0.unwrap_or(0.0) },
            KernelName::Precomputed => KernelChoice::Precomputed,
        };
        choice.check()?;
        Ok(choice)
    }
}

impl MethodArguments {
    pub(super) fn kernel_svm(&self) -> Result<Method> {
        let strays = [
            ("--loss squared-hinge", matches!(self.loss, Some(super::LossName::SquaredHinge))),
            ("--solver", self.solver.is_some()),
            ("--penalty-factors", !self.penalty_factors.is_empty()),
            ("--batch", self.batch.is_some()),
            ("--step", self.perceptron.step.is_some()),
            ("--order", self.perceptron.order.is_some()),
        ];
        if let Some((flag, _)) = strays.iter().find(|(_, given)| *given) {
            return Err(Error::usage(format!("{flag} does not belong to --kernel"))
                .help("a kernel machine has the hinge loss and one solver; leave one of them out"));
        }
        let intercept = self.intercept.map_or(Intercept::Free, Intercept::from);
        if intercept == Intercept::Penalised {
            return Err(Error::usage("the intercept of a kernel machine is free, or there is none")
                .help("use --intercept none; a constant in the kernel, as --coef0 1, is a penalised intercept"));
        }
        let defaults = KernelSvmSettings::default();
        let hard = self.model == super::MethodName::HardMargin;
        let method = KernelSvmSettings {
            kernel: self.kernel.choice()?,
            penalty: if hard { PenaltyChoice::None } else { self.ridge_or(defaults.penalty)? },
            intercept,
            // The hard margin is that of the columns as they are unless asked otherwise, with a kernel as without.
            standardize: if hard && self.standardize.is_none() { Standardize::No } else { self.kernel_columns()? },
            tolerance: self.tol.unwrap_or(defaults.tolerance),
            max_iterations: self.max_iter,
            cache: self.kernel.cache.as_deref().map_or(Ok(defaults.cache), bytes)?,
        };
        if !hard && (method.penalty == PenaltyChoice::None || method.penalty.is_sparse()) {
            return Err(Error::usage("a kernel machine needs a ridge penalty")
                .help("use --penalty ridge:λ or --C")
                .help("choose --model hard-margin, which has none"));
        }
        Ok(Method::KernelSvm(method))
    }

    pub(super) fn kernel_perceptron(&self, seed: u64) -> Result<Method> {
        let defaults = KernelPerceptronSettings::default();
        Ok(Method::KernelPerceptron(KernelPerceptronSettings {
            kernel: self.kernel.choice()?,
            order: match self.perceptron.order {
                None => defaults.order,
                Some(crate::perceptron::OrderName::Shuffled) => Order::Shuffled,
                Some(crate::perceptron::OrderName::Given) => Order::Given,
            },
            seed,
            max_epochs: self.max_iter.unwrap_or(defaults.max_epochs),
            standardize: self.kernel_columns()?,
        }))
    }

    /// The columns of a precomputed kernel are values of the kernel.
    fn kernel_columns(&self) -> Result<Standardize> {
        if self.kernel.kernel != Some(KernelName::Precomputed) {
            return Ok(self.standardize());
        }
        match self.standardize {
            Some(super::YesNo::Yes) => Err(Error::usage("the columns of a precomputed kernel cannot be standardised")
                .help("leave --standardize out")),
            _ => Ok(Standardize::No),
        }
    }
}

fn name(kernel: KernelName) -> String {
    kernel.to_possible_value().map(|v| v.get_name().to_owned()).unwrap_or_default()
}

/// A size in bytes: a number with KB, MB or GB (thousands), KiB, MiB or GiB (powers of two), or B.
fn bytes(text: &str) -> Result<usize> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => Some(1.0),
        "kb" | "k" => Some(1e3),
        "mb" | "m" => Some(1e6),
        "gb" | "g" => Some(1e9),
        "kib" => Some(1024.0),
        "mib" => Some(1_048_576.0),
        "gib" => Some(1_073_741_824.0),
        _ => None,
    };
    match (number.parse::<f64>(), factor) {
        (Ok(number), Some(factor)) if number > 0.0 && number * factor < 1e15 => Ok((number * factor) as usize),
        _ => Err(Error::usage(format!("`{text}` is not a size")).help("for example --cache 200MB or --cache 2GB")),
    }
}

//! The families a column may be given.

use crate::error::{Error, Result};
use crate::stats::{Run, Sums, Support};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// The distribution of a column within a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
pub enum FamilyChoice {
    /// Normal, each class with its own variance.
    Gaussian,
    /// Normal, one variance for all classes.
    GaussianShared,
    /// 0 or 1.
    Bernoulli,
    /// Counts.
    Poisson,
    /// Counts of several kinds of thing, or other numbers from 0 taken as fractions of a count: all such columns together
    /// share a total.
    Multinomial,
    /// The levels of a text column.
    Categorical,
    /// Waiting times.
    Exponential,
    /// Failures before the first success.
    Geometric,
    /// Positive numbers, with shape and rate.
    Gamma,
    /// Successes in so many trials.
    Binomial(u32),
}

/// Names in the order of the documents.
const NAMES: [(&str, FamilyChoice); 9] = [
    ("gaussian", FamilyChoice::Gaussian),
    ("gaussian-shared", FamilyChoice::GaussianShared),
    ("bernoulli", FamilyChoice::Bernoulli),
    ("poisson", FamilyChoice::Poisson),
    ("multinomial", FamilyChoice::Multinomial),
    ("categorical", FamilyChoice::Categorical),
    ("exponential", FamilyChoice::Exponential),
    ("geometric", FamilyChoice::Geometric),
    ("gamma", FamilyChoice::Gamma),
];

impl FamilyChoice {
    /// Whether the log-odds are linear in the column.
    pub fn is_linear(self) -> bool {
        !matches!(self, FamilyChoice::Gaussian | FamilyChoice::Gamma)
    }

    /// Whether one of the Gaussian families.
    pub(super) fn is_gaussian(self) -> bool {
        matches!(self, FamilyChoice::Gaussian | FamilyChoice::GaussianShared)
    }

    /// Whether the density has a factor without parameters, such as 1/x!.
    pub(super) fn has_base_measure(self) -> bool {
        matches!(self, FamilyChoice::Poisson | FamilyChoice::Multinomial | FamilyChoice::Binomial(_))
    }

    /// Whether a second parameter is kept: a variance, a shape, or the probability of 0.
    pub(super) fn has_second(self) -> bool {
        use FamilyChoice::{Bernoulli, Binomial, Gamma, Gaussian, GaussianShared};
        matches!(self, Gaussian | GaussianShared | Gamma | Bernoulli | Binomial(_))
    }

    /// What the statistics of some columns of the family must hold.
    pub(super) fn run(self, columns: Range<usize>) -> Run {
        let (sums, support) = match self {
            FamilyChoice::Gaussian | FamilyChoice::GaussianShared => (Sums::Moments, Support::REAL),
            FamilyChoice::Bernoulli => (Sums::Total, Support::counts_to(1.0)),
            FamilyChoice::Poisson | FamilyChoice::Geometric => (Sums::Total, Support::counts()),
            // Also shares and weights of words: the formulas take them as fractions of an occurrence.
            FamilyChoice::Multinomial => (Sums::Total, Support::NOT_NEGATIVE),
            // Under --missing mean a missing cell is its share of every level.
            FamilyChoice::Categorical => (Sums::Total, Support::UNIT),
            FamilyChoice::Exponential => (Sums::Total, Support::NOT_NEGATIVE),
            FamilyChoice::Gamma => (Sums::Logarithms, Support::POSITIVE),
            FamilyChoice::Binomial(trials) => (Sums::Total, Support::counts_to(f64::from(trials))),
        };
        Run { columns, sums, support }
    }
}

impl fmt::Display for FamilyChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FamilyChoice::Binomial(trials) => write!(f, "binomial:{trials}"),
            other => f.write_str(NAMES.iter().find(|(_, family)| family == other).map_or("", |(name, _)| name)),
        }
    }
}

impl FromStr for FamilyChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<FamilyChoice> {
        if let Some((_, family)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(*family);
        }
        if let Some(trials) = text.strip_prefix("binomial:").and_then(|n| n.parse::<u32>().ok()).filter(|n| *n > 0) {
            return Ok(FamilyChoice::Binomial(trials));
        }
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        Err(Error::usage(format!("`{text}` is not a family"))
            .help(format!("use one of {}, or binomial:N with the number of trials", names.join(", "))))
    }
}

impl From<FamilyChoice> for String {
    fn from(family: FamilyChoice) -> String {
        family.to_string()
    }
}

impl TryFrom<String> for FamilyChoice {
    type Error = Error;

    fn try_from(text: String) -> Result<FamilyChoice> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for family in NAMES.map(|(_, family)| family).into_iter().chain([FamilyChoice::Binomial(7)]) {
            assert_eq!(family.to_string().parse::<FamilyChoice>(), Ok(family));
        }
        for bad in ["binomial", "binomial:0", "binomial:x", "normal", ""] {
            assert!(bad.parse::<FamilyChoice>().is_err(), "{bad}");
        }
    }
}

//! Flags of the methods that model the classes: Gaussian classes and naive Bayes; and of rules that are given.

use super::parse::{parameters, shrinkage};
use super::{DivisorName, MethodArguments, MethodName};
use linsep::model::{CovarianceShape, Divisor, FamilyChoice, GaussianBayes, Method, NaiveBayes, Shrinkage};
use linsep::{Error, Result};

impl MethodArguments {
    /// Whether the rule is stated, not fitted.
    pub fn is_given(&self) -> bool {
        self.model == MethodName::Given
    }

    /// Refuses flags of other methods.
    pub fn check_flags(&self, offset: bool) -> Result<()> {
        self.refuse_foreign_flags(offset)
    }

    fn divisor(&self) -> Divisor {
        match self.covariance {
            Some(DivisorName::Mle) => Divisor::Mle,
            _ => Divisor::Unbiased,
        }
    }

    pub(super) fn naive_bayes(&self) -> Result<Method> {
        let mut method = NaiveBayes { divisor: self.divisor(), ..NaiveBayes::default() };
        let mut given = false;
        for choice in &self.family {
            match choice.rsplit_once('=') {
                Some((column, family)) => method.overrides.push((column.to_owned(), family.parse::<FamilyChoice>()?)),
                None if given => {
                    return Err(Error::usage("--family names two families for all columns of numbers")
                        .help("give single columns their own as column=FAMILY"));
                }
                None => {
                    method.numbers = choice.parse::<FamilyChoice>()?;
                    given = true;
                }
            }
        }
        method.smoothing = self.smoothing.unwrap_or(method.smoothing);
        method.variance_smoothing = self.variance_smoothing.unwrap_or(method.variance_smoothing);
        Ok(Method::NaiveBayes(method))
    }

    pub(super) fn gaussian(&self, shape: CovarianceShape) -> Result<Method> {
        let defaults = GaussianBayes::new(shape);
        let known = self.parameters.as_deref().map(parameters).transpose()?;
        Ok(Method::Gaussian(GaussianBayes {
            divisor: self.divisor(),
            shrinkage: self.shrinkage.as_deref().map_or(Ok(Shrinkage::None), shrinkage)?,
            priors: None,
            known,
            standardize: if self.standardize.is_some() { self.standardize() } else { defaults.standardize },
            ..defaults
        }))
    }
}

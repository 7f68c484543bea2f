//! Weights of whole classes, multiplied into the weights of their rows before a method sees them.

use crate::error::{Error, Result};
use crate::role::{Role, Roles};
use crate::table::Labels;
use serde::{Deserialize, Serialize};

/// How much the rows of each class count, as asked for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ClassWeights {
    /// `Σs/(K n_k)`, n_k the weight of a class: all classes count the same, and Σs stays what it was.
    Balanced,
    /// By class name; a class that is not named counts as it does.
    Given(Vec<(String, f64)>),
}

/// The factor of every class, and whether it follows from the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassWeighting {
    /// Whether the factors are those that balance the classes.
    pub balanced: bool,
    /// One per class, in their order.
    pub factors: Vec<f64>,
}

impl ClassWeights {
    /// The factors for rows with these labels and weights.
    ///
    /// ```
    /// use linsep::model::ClassWeights;
    /// use linsep::table::Labels;
    /// let labels = Labels::from_names(["a", "a", "a", "b"]);
    /// let balanced = ClassWeights::Balanced.for_rows(&labels, None)?;
    /// assert_eq!(balanced.factors, [4.0 / 6.0, 2.0]);
    /// # Ok::<(), linsep::Error>(())
    /// ```
    pub fn for_rows(&self, labels: &Labels, weights: Option<&[f64]>) -> Result<ClassWeighting> {
        match self {
            ClassWeights::Balanced => {
                let totals = labels.totals(weights);
                let sum = crate::numeric::sum(totals.iter().copied());
                let factors = totals.iter().map(|t| sum / (totals.len() as f64 * t)).collect();
                Ok(ClassWeighting { balanced: true, factors })
            }
            ClassWeights::Given(named) => {
                Ok(ClassWeighting { balanced: false, factors: in_order(named, labels.names())? })
            }
        }
    }
}

impl ClassWeighting {
    /// Factors that balance follow from the rows; given ones are in everything that was fitted.
    #[doc(hidden)]
    pub const ROLES: Roles =
        Roles::Fields(&[("balanced", Roles::All(Role::Setting)), ("factors", Roles::All(Role::Claim))]);

    /// The same rule for other rows.
    pub fn for_rows(&self, labels: &Labels, weights: Option<&[f64]>) -> Result<ClassWeighting> {
        match self.balanced {
            true => ClassWeights::Balanced.for_rows(labels, weights),
            false => Ok(self.clone()),
        }
    }

    /// The weights of rows times the factors of their classes. Where all factors are one nothing changes: rows without
    /// weights stay without.
    pub fn weighted(&self, labels: &Labels, weights: Option<&[f64]>) -> Option<Vec<f64>> {
        if self.factors.iter().all(|f| *f == 1.0) {
            return weights.map(<[f64]>::to_vec);
        }
        let product =
            |(i, class): (usize, &crate::table::Class)| weights.map_or(1.0, |w| w[i]) * self.factors[class.index()];
        Some(labels.codes().iter().enumerate().map(product).collect())
    }
}

fn in_order(named: &[(String, f64)], classes: &[String]) -> Result<Vec<f64>> {
    let mut factors = vec![None; classes.len()];
    for (name, factor) in named {
        let Some(k) = classes.iter().position(|c| c == name) else {
            return Err(Error::usage(format!("there is no class `{name}` for the class weight {factor}"))
                .help(format!("the classes are: {}", classes.join(", "))));
        };
        if *factor == 0.0 {
            return Err(Error::usage(format!("the class weight 0 leaves no rows of class `{name}`"))
                .help("remove its rows from the table to leave a class out"));
        }
        if !(*factor > 0.0 && factor.is_finite()) {
            return Err(Error::usage(format!("the weight {factor} of class `{name}` is not a positive number"))
                .help("a weight of 2 counts every row of the class twice"));
        }
        if factors[k].replace(*factor).is_some() {
            return Err(Error::usage(format!("class `{name}` is given two weights")).help("give it one"));
        }
    }
    Ok(factors.into_iter().map(|f| f.unwrap_or(1.0)).collect())
}

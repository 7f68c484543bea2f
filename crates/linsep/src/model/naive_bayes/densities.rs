//! The parameters as class-conditional distributions.

use super::FamilyChoice;
use super::estimate::Estimates;
use crate::density::{Densities, Density, Family, Marginal};

/// Wider models keep their weights only: a distribution per column would make the file several times as large. Chosen
/// (bench/constants.md): they lack `density`, nothing else.
const MOST_COLUMNS: usize = 100_000;

impl Estimates<'_> {
    /// What the model takes the classes to look like; `None` for very wide models.
    pub(super) fn densities(&self) -> Option<Densities> {
        let (classes, cols) = (self.names.len(), self.statistics.n_cols());
        if cols > MOST_COLUMNS {
            return None;
        }
        let first = |j: usize| (0..classes).map(|k| self.first[k * cols + j]).collect::<Vec<f64>>();
        let second = |j: usize| (0..classes).map(|k| self.second[k * cols + j]).collect::<Vec<f64>>();
        let is_constant = |j: &usize| self.constant.binary_search(j).is_ok();
        let shares = |columns: &[usize]| -> Vec<Vec<f64>> {
            (0..classes).map(|k| columns.iter().map(|j| self.first[k * cols + j]).collect()).collect()
        };
        let mut marginals = Vec::new();
        let mut counted = Vec::new();
        for run in self.layout.runs() {
            match run.family {
                FamilyChoice::Multinomial => counted.extend(run.columns.clone()),
                FamilyChoice::Categorical => {
                    let columns: Vec<usize> = run.columns.clone().collect();
                    let family = Family::Categorical { shares: shares(&columns) };
                    marginals.push(Marginal { columns, family });
                }
                family => marginals.extend(run.columns.clone().map(|j| {
                    let family = match is_constant(&j) {
                        true => Family::Constant { value: self.constant_value(family, j) },
                        false => single(family, first(j), second_of(family, j, &second)),
                    };
                    Marginal { columns: vec![j], family }
                })),
            }
        }
        if !counted.is_empty() {
            let total = |k: usize| counted.iter().map(|j| self.statistics.total(k, *j)).sum::<f64>();
            let mean_total = (0..classes).map(|k| total(k) / self.statistics.weights()[k]).collect();
            let family = Family::Multinomial { shares: shares(&counted), mean_total };
            marginals.push(Marginal { columns: counted, family });
        }
        Some(Densities { priors: self.priors.clone(), density: Density::Independent { marginals } })
    }

    /// The one value of a constant column.
    fn constant_value(&self, family: FamilyChoice, j: usize) -> f64 {
        match family {
            FamilyChoice::Binomial(trials) => f64::from(trials) * self.first[j].round(),
            _ => self.first[j],
        }
    }
}

fn second_of(family: FamilyChoice, j: usize, second: &dyn Fn(usize) -> Vec<f64>) -> Vec<f64> {
    if family.has_second() { second(j) } else { Vec::new() }
}

/// The distribution of one column from its parameters in every class.
fn single(family: FamilyChoice, first: Vec<f64>, second: Vec<f64>) -> Family {
    match family {
        FamilyChoice::Gaussian | FamilyChoice::GaussianShared => Family::Gaussian { mean: first, variance: second },
        FamilyChoice::Bernoulli => Family::Bernoulli { p: first },
        FamilyChoice::Binomial(trials) => Family::Binomial { trials: u64::from(trials), p: first },
        FamilyChoice::Exponential => Family::Exponential { rate: first.iter().map(|m| m.recip()).collect() },
        FamilyChoice::Geometric => Family::Geometric { p: first.iter().map(|m| (1.0 + m).recip()).collect() },
        FamilyChoice::Gamma => Family::Gamma { shape: first, rate: second },
        FamilyChoice::Poisson | FamilyChoice::Multinomial | FamilyChoice::Categorical => {
            Family::Poisson { rate: first }
        }
    }
}

//! What a study compares with the truth: the parameters of classes and of log-odds, by their names.

use crate::density::{Covariance, Densities, Density, Family, Gaussian};
use crate::discriminant::Linear;
use crate::infer::{ClassInference, GaussianInference, Inference, IntervalEstimate};
use crate::sample::Truth;

/// A number that classes have, whether true or estimated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyParameter {
    /// `share`, `mean`, `variance`, `covariance`, `weight`, `intercept`, or a parameter of a family of distributions.
    pub quantity: &'static str,
    /// The class it belongs to, where it is not that of all; of weights and intercepts of more than two classes the one
    /// whose log-odds against the first class they are.
    pub class: Option<String>,
    /// Its columns: two of a covariance, none of a share.
    pub features: Vec<String>,
}

impl StudyParameter {
    /// In words.
    pub fn name(&self) -> String {
        let of = match &self.features[..] {
            [] => String::new(),
            features => format!(" of {}", features.join(", ")),
        };
        let within = match self.quantity {
            "share" => "of",
            "weight" | "intercept" => "for",
            _ => "in",
        };
        let class = self.class.as_ref().map_or(String::new(), |class| format!(" {within} {class}"));
        format!("{}{of}{class}", self.quantity)
    }
}

/// A parameter with its value.
pub(super) type NamedValue = (StudyParameter, f64);

/// The names of classes and columns.
#[derive(Clone, Copy)]
pub(super) struct StudyNames<'n> {
    pub classes: &'n [String],
    pub features: &'n [String],
}

impl StudyNames<'_> {
    fn of(&self, quantity: &'static str, class: Option<usize>, columns: &[usize]) -> StudyParameter {
        StudyParameter {
            quantity,
            class: class.map(|k| self.classes[k].clone()),
            features: columns.iter().map(|j| self.features[*j].clone()).collect(),
        }
    }

    /// Everything that is known of the classes: also as fits of other shapes would name it.
    pub fn of_truth(&self, truth: &Truth) -> Vec<NamedValue> {
        let mut found = truth.parameters.densities().map_or(Vec::new(), |densities| {
            let mut found = self.of_densities(&densities);
            if let Density::Gaussian(gaussian) = &densities.density {
                found.extend(self.other_shapes(gaussian));
            }
            found
        });
        if let (Some(weights), Some(intercept)) = (&truth.weights, &truth.intercept) {
            found.extend(self.of_log_odds(weights, intercept));
        }
        found
    }

    /// Priors and what the classes look like.
    pub fn of_densities(&self, densities: &Densities) -> Vec<NamedValue> {
        let shares = densities.priors.iter().enumerate();
        let mut found: Vec<NamedValue> = shares.map(|(k, p)| (self.of("share", Some(k), &[]), *p)).collect();
        match &densities.density {
            Density::Gaussian(gaussian) => {
                for (k, mean) in gaussian.means.iter().enumerate() {
                    found.extend(mean.iter().enumerate().map(|(j, m)| (self.of("mean", Some(k), &[j]), *m)));
                }
                match &gaussian.covariance {
                    Covariance::Spherical(variance) => found.push((self.of("variance", None, &[]), *variance)),
                    Covariance::Shared(matrix) => found.extend(self.of_matrix(None, matrix)),
                    Covariance::Own(matrices) => {
                        found.extend(matrices.iter().enumerate().flat_map(|(k, m)| self.of_matrix(Some(k), m)));
                    }
                }
            }
            Density::Independent { marginals } => {
                for marginal in marginals {
                    let [column] = marginal.columns[..] else { continue };
                    for (quantity, values) in of_family(&marginal.family) {
                        let values = values.iter().enumerate();
                        found.extend(values.map(|(k, v)| (self.of(quantity, Some(k), &[column]), *v)));
                    }
                }
            }
        }
        found
    }

    fn of_matrix(&self, class: Option<usize>, matrix: &[Vec<f64>]) -> Vec<NamedValue> {
        let mut found = Vec::new();
        for (i, row) in matrix.iter().enumerate() {
            found.push((self.of("variance", class, &[i]), row[i]));
            found.extend((0..i).map(|j| (self.of("covariance", class, &[j, i]), row[j])));
        }
        found
    }

    /// Covariances as a fit with a covariance for each class, for all classes, or for all columns has them, where that is
    /// true.
    fn other_shapes(&self, gaussian: &Gaussian) -> Vec<NamedValue> {
        let cols = self.features.len();
        let scaled = |variance: f64| -> Vec<Vec<f64>> {
            (0..cols).map(|i| (0..cols).map(|j| if i == j { variance } else { 0.0 }).collect()).collect()
        };
        let of_all =
            |matrix: &[Vec<f64>]| (0..self.classes.len()).flat_map(|k| self.of_matrix(Some(k), matrix)).collect();
        match &gaussian.covariance {
            Covariance::Own(_) => Vec::new(),
            Covariance::Spherical(variance) => {
                let matrix = scaled(*variance);
                let own: Vec<NamedValue> = of_all(&matrix);
                self.of_matrix(None, &matrix).into_iter().chain(own).collect()
            }
            Covariance::Shared(matrix) => {
                let mut found: Vec<NamedValue> = of_all(matrix);
                if cols > 0 && *matrix == scaled(matrix[0][0]) {
                    found.push((self.of("variance", None, &[]), matrix[0][0]));
                }
                found
            }
        }
    }

    /// Log-odds that are linear in the columns: of two classes one row, of more a row each, against the first class.
    fn of_log_odds(&self, weights: &[Vec<f64>], intercept: &[f64]) -> Vec<NamedValue> {
        let mut found = Vec::new();
        let two = weights.len() == 1;
        for (k, (row, b)) in weights.iter().zip(intercept).enumerate() {
            if !two && k == 0 {
                continue;
            }
            let (class, base) = if two { (None, None) } else { (Some(k), Some((&weights[0], intercept[0]))) };
            found.push((self.of("intercept", class, &[]), b - base.map_or(0.0, |(_, b)| b)));
            for (j, w) in row.iter().enumerate() {
                found.push((self.of("weight", class, &[j]), w - base.map_or(0.0, |(row, _)| row[j])));
            }
        }
        found
    }

    /// The log-odds of a fit.
    pub fn of_linear(&self, linear: &Linear) -> Vec<NamedValue> {
        let weights: Vec<Vec<f64>> = (0..linear.n_scores()).map(|k| linear.weights_of(k).to_vec()).collect();
        self.of_log_odds(&weights, &linear.intercept())
    }

    /// The intervals of a table of coefficients.
    pub fn intervals_of_coefficients(&self, inference: &Inference) -> Vec<(StudyParameter, (f64, f64))> {
        let several = self.classes.len() > 2;
        let line = |c: &crate::infer::Coefficient| {
            let class = several.then_some(c.class);
            let parameter = match c.feature {
                Some(j) => self.of("weight", class, &[j]),
                None => self.of("intercept", class, &[]),
            };
            (parameter, (c.low, c.high))
        };
        inference.coefficients.iter().map(line).collect()
    }

    /// The intervals of shares, means and variances of Gaussian classes.
    pub fn intervals_of_classes(&self, inference: &GaussianInference) -> Vec<(StudyParameter, (f64, f64))> {
        let ends = |estimate: &IntervalEstimate| (estimate.low, estimate.high);
        let variances = |class: Option<usize>, all: &[IntervalEstimate]| -> Vec<(StudyParameter, (f64, f64))> {
            match all {
                // σ² of all columns and classes is one number.
                [one] if self.features.len() > 1 => vec![(self.of("variance", class, &[]), ends(one))],
                all => all.iter().enumerate().map(|(j, v)| (self.of("variance", class, &[j]), ends(v))).collect(),
            }
        };
        let of_class = |(k, class): (usize, &ClassInference)| {
            let means = class.means.iter().enumerate().map(|(j, m)| (self.of("mean", Some(k), &[j]), ends(&m.mean)));
            let own = class.variances.as_deref().map_or(Vec::new(), |v| variances(Some(k), v));
            std::iter::once((self.of("share", Some(k), &[]), ends(&class.share)))
                .chain(means)
                .chain(own)
                .collect::<Vec<_>>()
        };
        let mut found: Vec<(StudyParameter, (f64, f64))> =
            inference.classes.iter().enumerate().flat_map(of_class).collect();
        found.extend(inference.variances.as_deref().map_or(Vec::new(), |v| variances(None, v)));
        found
    }
}

/// The parameters of a family of one column, each in the order of the classes.
fn of_family(family: &Family) -> Vec<(&'static str, &[f64])> {
    match family {
        Family::Gaussian { mean, variance } => vec![("mean", mean), ("variance", variance)],
        Family::Bernoulli { p } => vec![("probability", p)],
        Family::Geometric { p } | Family::Binomial { p, .. } => vec![("probability", p)],
        Family::Poisson { rate } | Family::Exponential { rate } => vec![("rate", rate)],
        Family::Gamma { shape, rate } => vec![("shape", shape), ("rate", rate)],
        Family::Constant { .. } | Family::Categorical { .. } | Family::Multinomial { .. } => Vec::new(),
    }
}

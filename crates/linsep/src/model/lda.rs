//! Linear discriminant analysis: Gaussian classes that share one covariance.
//!
//! `g_k(x) = (μ_k−μ̄)ᵀΣ⁻¹(x−μ̄) − ½(μ_k−μ̄)ᵀΣ⁻¹(μ_k−μ̄) + log π_k`: the usual `w_k = Σ⁻¹μ_k` less what all classes have in
//! common, so that a large offset of a column costs no digits. Two classes keep the difference `g₁ − g₀`, the log-odds.

use super::{Computation, Fit, Fitted, Note, Objective, Outcome, Training};
use crate::certify::{Certificate, linear_system_residual};
use crate::design::{Standardize, Units};
use crate::discriminant::{Discriminant, Linear};
use crate::error::{Error, Result};
use crate::linalg::{Alias, Factor, Square, factor};
use crate::stats::{ClassMoments, fourth_moment};
use crate::watch::Watch;
use serde::{Deserialize, Serialize};

/// Divisor of the pooled covariance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Divisor {
    /// Σs − K.
    #[default]
    Unbiased,
    /// Σs: maximum likelihood.
    Mle,
}

/// Shrinkage of the covariance towards a multiple of the identity, in the units of the fit.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shrinkage {
    /// None.
    #[default]
    None,
    /// `(1−a)Σ + a·tr(Σ)/d·I` with this a.
    Fixed(f64),
    /// The a of Ledoit and Wolf (2004) for the residuals about the class means.
    LedoitWolf,
}

/// Linear discriminant analysis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lda {
    /// Divisor of the covariance.
    pub divisor: Divisor,
    /// Shrinkage of the covariance.
    pub shrinkage: Shrinkage,
    /// Prior probabilities in the order of the classes; `None` is the observed shares.
    pub priors: Option<Vec<f64>>,
    /// Whether shrinkage acts on standardised columns; without shrinkage it makes no difference.
    pub standardize: Standardize,
    /// Largest covariance that may be formed, in columns.
    pub max_columns: usize,
}

impl Default for Lda {
    fn default() -> Lda {
        Lda {
            divisor: Divisor::Unbiased,
            shrinkage: Shrinkage::None,
            priors: None,
            standardize: Standardize::Yes,
            max_columns: 10_000,
        }
    }
}

/// Pivots of the correlation matrix below this make a column a combination of earlier ones.
const ALIAS_TOLERANCE: f64 = 1e-12;

/// The statistics in the units of the fit.
struct Problem {
    moments: ClassMoments,
    priors: Vec<f64>,
    centre: Vec<f64>,
    scale: Vec<f64>,
    /// The covariance, divided, scaled and shrunk.
    covariance: Square,
    constant: Vec<usize>,
    intensity: Option<f64>,
}

impl Lda {
    /// Statistics in one pass (two for Ledoit–Wolf), then one factor.
    pub(super) fn fit(&self, training: &Training<'_>, watch: &Watch) -> Result<Fit> {
        let problem = self.problem(training, watch)?;
        let cols = training.design.shape().cols;
        let used = cols - problem.constant.len();
        let freedom = training.total_weight() - problem.priors.len() as f64;
        if self.shrinkage == Shrinkage::None && used as f64 > freedom {
            return Err(Error::data(format!(
                "{used} columns and {} rows of {} classes: the covariance is singular",
                training.labels.len(),
                problem.priors.len()
            ))
            .help("use --shrinkage auto, or fewer columns"));
        }
        let factor = factor(&problem.covariance, ALIAS_TOLERANCE);
        let aliased: Vec<&Alias> = factor.aliased().iter().filter(|a| !problem.constant.contains(&a.column)).collect();
        aliased.iter().try_for_each(|alias| problem.check_alias(alias))?;
        let directions: Vec<Vec<f64>> = (0..problem.priors.len()).map(|k| factor.solve(&problem.contrast(k))).collect();
        let discriminant = problem.discriminant(&directions)?;
        let certificate = problem.residual(factor.kept(), &directions);
        let mut notes = Vec::new();
        if !problem.constant.is_empty() {
            notes.push(Note::Constant { columns: problem.constant.clone() });
        }
        notes.extend(aliased.iter().map(|a| Note::Collinear {
            column: a.column,
            combination:
                a.combination.iter().map(|(c, v)| (*c, v * problem.scale[a.column] / problem.scale[*c])).collect(),
        }));
        notes.extend(problem.intensity.map(|intensity| Note::Shrinkage { intensity }));
        let objective = Objective {
            formula: self.formula(),
            value: problem.objective(&factor, self.trace(&problem, training)),
            lambda: None,
        };
        let passes = 1 + usize::from(self.shrinkage == Shrinkage::LedoitWolf);
        Ok(Fit::Model(Box::new(Fitted {
            discriminant,
            units: Units::new(problem.centre.clone(), problem.scale.clone()),
            objective,
            certificate,
            outcome: Outcome::Converged,
            notes,
            computation: Computation { solver: "cholesky".into(), iterations: 0, passes },
            density: None,
        })))
    }

    /// The residual of `Σ w_k = μ_k − μ̄` at given discriminants, with Σ and μ recomputed from the data.
    pub(super) fn certify(
        &self,
        training: &Training<'_>,
        discriminant: &Discriminant,
        watch: &Watch,
    ) -> Result<(f64, Certificate)> {
        let problem = self.problem(training, watch)?;
        let linear = discriminant.as_linear().ok_or_else(|| Error::model("an LDA model must be linear"))?;
        let scores = if problem.priors.len() == 2 { 1 } else { problem.priors.len() };
        if linear.n_cols() != problem.scale.len() || linear.n_scores() != scores {
            return Err(Error::model("the model does not have the columns and classes of the data"));
        }
        let factor = factor(&problem.covariance, ALIAS_TOLERANCE);
        let scaled =
            |k: usize| linear.weights_of(k).iter().zip(&problem.scale).map(|(w, s)| w * s).collect::<Vec<f64>>();
        let pairs: Vec<(Vec<f64>, Vec<f64>)> = match problem.priors.len() {
            2 => {
                let difference = problem.contrast(1).iter().zip(problem.contrast(0)).map(|(a, b)| a - b).collect();
                vec![(scaled(0), difference)]
            }
            classes => (0..classes).map(|k| (scaled(k), problem.contrast(k))).collect(),
        };
        let mut certificate = linear_system_residual(&problem.covariance, factor.kept(), &pairs, EQUATIONS);
        if let Certificate::ClosedForm { relative_residual, .. } = &mut certificate {
            *relative_residual = relative_residual.max(problem.intercept_residual(linear, &pairs, factor.kept()));
        }
        Ok((problem.objective(&factor, self.trace(&problem, training)), certificate))
    }

    fn problem(&self, training: &Training<'_>, watch: &Watch) -> Result<Problem> {
        let cols = training.design.shape().cols;
        if training.offsets.is_some() {
            return Err(Error::usage("LDA has no offsets").help("offsets belong to --model logistic"));
        }
        if cols > self.max_columns {
            let gigabytes = (cols as f64).powi(2) * 8e-9;
            return Err(Error::data(format!("LDA on {cols} columns needs a covariance of {gigabytes:.0} GB"))
                .help("use --model logistic, or fewer columns"));
        }
        let classes = training.labels.n_classes();
        let moments = ClassMoments::of(training.design, training.labels, training.weights, watch)?;
        let total: f64 = moments.weights().iter().sum();
        let divisor = match self.divisor {
            Divisor::Mle => total,
            Divisor::Unbiased => total - classes as f64,
        };
        if divisor <= 0.0 {
            return Err(Error::data(format!(
                "{total} rows of {classes} classes leave nothing to estimate a covariance from"
            ))
            .help("LDA needs more rows than classes"));
        }
        let priors = self.priors(&moments, training)?;
        let centre = moments.grand_mean();
        let (scale, constant) = self.scale(&moments, &centre, total);
        let mut covariance = moments.scatter().clone();
        for j in 0..cols {
            for i in j..cols {
                *covariance.at(i, j) /= divisor * scale[i] * scale[j];
            }
        }
        let mut problem = Problem { moments, priors, centre, scale, covariance, constant, intensity: None };
        problem.intensity = self.shrink(&mut problem, training, total / divisor, watch)?;
        Ok(problem)
    }

    fn priors(&self, moments: &ClassMoments, training: &Training<'_>) -> Result<Vec<f64>> {
        let Some(priors) = &self.priors else {
            let total: f64 = moments.weights().iter().sum();
            return Ok(moments.weights().iter().map(|w| w / total).collect());
        };
        let sum: f64 = priors.iter().sum();
        if priors.len() != moments.weights().len() {
            let classes = training.labels.names().join(", ");
            return Err(Error::usage(format!("{} priors for {} classes", priors.len(), moments.weights().len()))
                .help(format!("one for each of: {classes}")));
        }
        if priors.iter().any(|p| p.is_nan() || *p <= 0.0) || (sum - 1.0).abs() > 1e-9 {
            return Err(Error::usage(format!("the priors must be positive and sum to one; they sum to {sum}"))
                .help("for example --priors a=0.2,b=0.8"));
        }
        Ok(priors.clone())
    }

    /// Standard deviations about the grand mean (1 where not wanted), and the constant columns.
    fn scale(&self, moments: &ClassMoments, centre: &[f64], total: f64) -> (Vec<f64>, Vec<usize>) {
        let between = |j: usize| -> f64 {
            (0..moments.weights().len()).map(|k| moments.weight(k) * (moments.mean(k)[j] - centre[j]).powi(2)).sum()
        };
        let variance: Vec<f64> =
            (0..centre.len()).map(|j| (moments.scatter().get(j, j) + between(j)) / total).collect();
        // What rounding leaves of a constant column: the square of a few units in the last place of its value.
        let negligible = |j: usize| variance[j] <= (4.0 * f64::EPSILON * centre[j]).powi(2);
        let constant: Vec<usize> = (0..centre.len()).filter(|j| negligible(*j)).collect();
        let scale = (0..centre.len()).map(|j| match self.standardize {
            Standardize::Yes if !negligible(j) => variance[j].sqrt(),
            _ => 1.0,
        });
        (scale.collect(), constant)
    }

    /// Shrinks the covariance in place; returns the intensity.
    fn shrink(
        &self,
        problem: &mut Problem,
        training: &Training<'_>,
        over_mle: f64,
        watch: &Watch,
    ) -> Result<Option<f64>> {
        let used: Vec<usize> = (0..problem.scale.len()).filter(|j| !problem.constant.contains(j)).collect();
        let d = used.len() as f64;
        let trace: f64 = used.iter().map(|j| problem.covariance.get(*j, *j)).sum();
        let intensity = match self.shrinkage {
            Shrinkage::None => return Ok(None),
            Shrinkage::Fixed(a) if (0.0..=1.0).contains(&a) => a,
            Shrinkage::Fixed(a) => {
                return Err(Error::usage(format!("shrinkage {a} is not between 0 and 1")));
            }
            Shrinkage::LedoitWolf => {
                let Training { design, labels, weights, .. } = *training;
                let fourth = fourth_moment(design, labels, weights, &problem.moments, &problem.scale, watch)?;
                let total = training.total_weight();
                // The formula is in terms of the maximum likelihood covariance.
                let squares: f64 = used
                    .iter()
                    .flat_map(|i| used.iter().map(move |j| (*i, *j)))
                    .map(|(i, j)| (problem.covariance.get(i, j) / over_mle).powi(2))
                    .sum();
                let mean = trace / over_mle / d;
                let distance = squares / d - mean * mean;
                let noise = (fourth / total - squares) / (total * d);
                if distance > 0.0 { (noise / distance).clamp(0.0, 1.0) } else { 1.0 }
            }
        };
        let keep: Vec<usize> = problem.constant.clone();
        problem.covariance.scale(1.0 - intensity);
        for j in (0..problem.scale.len()).filter(|j| !keep.contains(j)) {
            *problem.covariance.at(j, j) += intensity * trace / d;
        }
        Ok(Some(intensity))
    }

    /// `tr(Σ⁻¹S_W)/Σs` per column in use where nothing was shrunk: the divisor over the total.
    fn trace(&self, problem: &Problem, training: &Training<'_>) -> Option<f64> {
        let total = training.total_weight();
        match (self.shrinkage, self.divisor) {
            (Shrinkage::None, Divisor::Mle) => Some(1.0),
            (Shrinkage::None, Divisor::Unbiased) => Some((total - problem.priors.len() as f64) / total),
            _ => None,
        }
    }

    fn formula(&self) -> String {
        let divisor = match self.divisor {
            Divisor::Unbiased => "Σs−K",
            Divisor::Mle => "Σs",
        };
        let shrunk = match self.shrinkage {
            Shrinkage::None => String::new(),
            Shrinkage::Fixed(a) => format!(", shrunk by {a}"),
            Shrinkage::LedoitWolf => ", shrunk (Ledoit–Wolf)".into(),
        };
        format!("−Σ s log[π_y N(x; μ_y, Σ)]/Σs at the estimates; Σ pooled with divisor {divisor}{shrunk}")
    }
}

const EQUATIONS: &str = "Σ w_k = μ_k − μ̄";

impl Problem {
    /// `(μ_k − μ̄)` in the units of the fit.
    fn contrast(&self, k: usize) -> Vec<f64> {
        let mean = self.moments.mean(k);
        (0..self.scale.len()).map(|j| (mean[j] - self.centre[j]) / self.scale[j]).collect()
    }

    /// A column may be left out only if it adds nothing between the classes either.
    fn check_alias(&self, alias: &Alias) -> Result<()> {
        let contrasts: Vec<Vec<f64>> = (0..self.priors.len()).map(|k| self.contrast(k)).collect();
        let left_over = contrasts.iter().map(|c| {
            let explained: f64 = alias.combination.iter().map(|(j, v)| v * c[*j]).sum();
            (c[alias.column] - explained).abs()
        });
        let spread: f64 = contrasts.iter().map(|c| c[alias.column].abs()).fold(0.0, f64::max);
        let size: f64 = alias
            .combination
            .iter()
            .map(|(j, v)| v.abs() * contrasts.iter().map(|c| c[*j].abs()).fold(0.0, f64::max))
            .fold(spread, f64::max);
        if left_over.fold(0.0, f64::max) > 1e-5 * size && size > 0.0 {
            let column = alias.column + 1;
            return Err(Error::data(format!(
                "within every class column {column} is constant or a combination of other columns, yet it differs between classes: the classes are separable along it and the covariance is singular"
            ))
            .help("use --shrinkage auto, or drop the column"));
        }
        Ok(())
    }

    fn discriminant(&self, directions: &[Vec<f64>]) -> Result<Discriminant> {
        let value = |k: usize| {
            let half: f64 = directions[k].iter().zip(self.contrast(k)).map(|(w, m)| w * m).sum::<f64>() * 0.5;
            self.priors[k].ln() - half
        };
        let in_columns = |w: f64, j: usize| w / self.scale[j];
        let linear = if directions.len() == 2 {
            let weights = (0..self.scale.len()).map(|j| in_columns(directions[1][j] - directions[0][j], j)).collect();
            Linear::new(weights, self.centre.clone(), vec![value(1) - value(0)])?
        } else {
            let weights =
                directions.iter().flat_map(|w| w.iter().enumerate().map(|(j, w)| in_columns(*w, j))).collect();
            Linear::new(weights, self.centre.clone(), (0..directions.len()).map(value).collect())?
        };
        Ok(Discriminant::Linear(linear))
    }

    fn residual(&self, used: &[usize], directions: &[Vec<f64>]) -> Certificate {
        let pairs: Vec<(Vec<f64>, Vec<f64>)> =
            directions.iter().enumerate().map(|(k, w)| (w.clone(), self.contrast(k))).collect();
        linear_system_residual(&self.covariance, used, &pairs, EQUATIONS)
    }

    /// How far the intercepts of given discriminants are from `log π_k − ½ w_k·(μ_k−μ̄)`; one where a column that is
    /// not in use has a weight.
    fn intercept_residual(&self, linear: &Linear, pairs: &[(Vec<f64>, Vec<f64>)], used: &[usize]) -> f64 {
        let unused = |w: &Vec<f64>| w.iter().enumerate().any(|(j, w)| *w != 0.0 && used.binary_search(&j).is_err());
        if pairs.iter().any(|(w, _)| unused(w)) {
            return 1.0;
        }
        let dot = |w: &[f64], m: &[f64]| w.iter().zip(m).map(|(w, m)| w * m).sum::<f64>();
        let mut worst = 0.0f64;
        for (k, (w, contrast)) in pairs.iter().enumerate() {
            let expected = if self.priors.len() == 2 {
                // w₁·m₁ − w₀·m₀ = w·(m₁ + m₀) for w = Σ⁻¹(m₁ − m₀).
                let sum: Vec<f64> = self.contrast(1).iter().zip(self.contrast(0)).map(|(a, b)| a + b).collect();
                self.priors[1].ln() - self.priors[0].ln() - 0.5 * dot(w, &sum)
            } else {
                self.priors[k].ln() - 0.5 * dot(w, contrast)
            };
            let moves = linear.weights_of(k).iter().zip(self.centre.iter().zip(linear.centre()));
            let found = linear.intercept_at_centre()[k] + moves.map(|(w, (to, from))| w * (to - from)).sum::<f64>();
            worst = worst.max((found - expected).abs() / (1.0 + expected.abs()));
        }
        worst
    }

    /// The mean negative log-likelihood of rows and labels, on the columns in use. `trace` is the mean of
    /// `diag(Σ⁻¹S_W)/Σs` where it is known without work.
    fn objective(&self, factor: &Factor, trace: Option<f64>) -> f64 {
        let total: f64 = self.moments.weights().iter().sum();
        let labels: f64 = self.moments.weights().iter().zip(&self.priors).map(|(n, p)| -n / total * p.ln()).sum();
        let used = factor.kept();
        let log_scales: f64 = used.iter().map(|j| 2.0 * self.scale[*j].ln()).sum();
        let solved = |j: &usize| {
            let entry = |i: usize| self.moments.scatter().get(i, *j) / (total * self.scale[i] * self.scale[*j]);
            factor.solve(&(0..self.scale.len()).map(entry).collect::<Vec<f64>>())[*j]
        };
        let trace = match trace {
            Some(mean) => mean * used.len() as f64,
            None => used.iter().map(solved).sum::<f64>(),
        };
        let constant = used.len() as f64 * (2.0 * std::f64::consts::PI).ln();
        labels + 0.5 * (constant + factor.log_determinant() + log_scales + trace)
    }
}

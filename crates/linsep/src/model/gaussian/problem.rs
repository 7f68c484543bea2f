//! Statistics to parameters: priors, means and covariances, estimated or given, in the units of the fit.

use super::known::Known;
use super::{CovarianceShape, Divisor, GaussianBayes, Shrinkage};
use crate::design::Standardize;
use crate::design::Training;
use crate::error::{Error, Result};
use crate::linalg::{Alias, Factor, Square, factor};
use crate::model::Note;
use crate::model::printed::{agreeing, named, rounding};
use crate::stats::{ClassMoments, MomentRounding, Scatter, fourth_moments};
use crate::watch::Watch;
use crate::words::{Setting, Span, words};

/// Pivots of the correlation matrix below this make a column a combination of earlier ones: a residual of 1e-6 of its
/// standard deviation, about what a matrix of products of doubles resolves.
pub(super) const ALIAS_TOLERANCE: f64 = 1e-12;
/// A difference of class means along a column without variance, relative to its terms, that is not rounding: ten times
/// the 1e-6 to which [`ALIAS_TOLERANCE`] resolves the relation.
const DIFFERS: f64 = 1e-5;
/// Far more than the few roundings of a bound's last operations.
const ROUNDED_UP: f64 = 1.0 + 1e-9;

/// Parameters of the classes.
pub(super) struct GaussianProblem {
    pub(super) moments: ClassMoments,
    pub(super) priors: Vec<f64>,
    /// In the units of the columns.
    pub(super) means: Vec<Vec<f64>>,
    /// Mean of all rows.
    pub(super) centre: Vec<f64>,
    pub(super) scale: Vec<f64>,
    /// One, or one for each class: divided, scaled and shrunk.
    pub(super) covariances: Vec<Square>,
    /// Columns with one value only.
    pub(super) constant: Vec<usize>,
    /// How strongly each covariance was shrunk.
    pub(super) intensities: Vec<f64>,
    /// The divisor of each estimated covariance, where it is the scatter over that and nothing else.
    pub(super) plain_divisors: Option<Vec<f64>>,
    /// Rounding error bounds of the moments, where covariance and means follow from them alone.
    pub(super) rounding: Option<MomentRounding>,
    /// The divisor of each scatter matrix before shrinkage.
    pub(super) divisors: Vec<f64>,
    /// Columns that agree with others up to their printed digits, in the units of the fit.
    pub(super) agreeing: Vec<Alias>,
    class_names: Vec<String>,
    shape: CovarianceShape,
}

impl GaussianProblem {
    pub(super) fn of(method: &GaussianBayes, training: &Training<'_>, watch: &Watch) -> Result<GaussianProblem> {
        let cols = training.design.shape().cols;
        let name = method.name();
        if training.offsets.is_some() {
            return Err(Error::usage(words![Setting::Model.is(name), " has no offsets"])
                .help(words!["offsets belong to ", Setting::Model.is("logistic")]));
        }
        if cols > method.max_columns {
            let gigabytes = (cols as f64).powi(2) * 8e-9;
            return Err(Error::data(words![
                Setting::Model.is(name),
                format!(" on {cols} columns needs a covariance of {gigabytes:.0} GB"),
            ])
            .help(words!["use ", Setting::Model.is("logistic")])
            .help("use fewer columns"));
        }
        let kind = if method.shape == CovarianceShape::Own { Scatter::Own } else { Scatter::Pooled };
        let Training { design, labels, weights, .. } = *training;
        let (moments, rounding) = ClassMoments::with_rounding(kind, design, labels, weights, watch)?;
        let mut problem = GaussianProblem::from_moments(method, moments, labels.names())?;
        problem.rounding = method.known.is_none().then_some(rounding);
        if method.shrinkage == Shrinkage::LedoitWolf && method.known.as_ref().is_none_or(|k| k.covariance.is_none()) {
            let fourth = fourth_moments(design, labels, weights, &problem.moments, &problem.scale, watch)?;
            problem.shrink_by(&problem.ledoit_wolf(method, &fourth));
        }
        if let Some(known) = &method.known {
            problem.move_means(known)?;
        }
        problem.leave_out_agreeing(training.printed);
        Ok(problem)
    }

    /// Finds the columns to leave out because they agree with others up to their printed digits, within the classes (of
    /// covariances that differ, on average) and between them. A covariance that is given or shrunk needs no such rule.
    fn leave_out_agreeing(&mut self, printed: &[f64]) {
        if printed.len() != self.scale.len() || self.plain_divisors.is_none() {
            return;
        }
        let units: Vec<f64> = printed.iter().zip(&self.scale).map(|(unit, scale)| unit / scale).collect();
        let mut average = self.pooled();
        average.scale(1.0 / self.covariances.len() as f64);
        average.keep_only(&self.used());
        let contrasts: Vec<Vec<f64>> = (0..self.priors.len()).map(|k| self.contrast(k)).collect();
        let mut found = agreeing(&average, &units);
        found.retain(|alias| {
            let width = (3.0 * rounding(alias.column, &alias.combination, &units)).sqrt();
            let left_over =
                |c: &Vec<f64>| (c[alias.column] - alias.combination.iter().map(|(j, a)| a * c[*j]).sum::<f64>()).abs();
            contrasts.iter().all(|c| left_over(c) <= width)
        });
        self.agreeing = found;
    }

    /// The sum of the covariances.
    pub(super) fn pooled(&self) -> Square {
        let mut pooled = Square::zeros(self.scale.len());
        self.covariances.iter().for_each(|c| pooled.add(c));
        pooled
    }

    /// A covariance without the columns that agree with others.
    pub(super) fn distinct(&self, covariance: &Square) -> Square {
        let mut kept = covariance.clone();
        if !self.agreeing.is_empty() {
            let left_out = |j: &usize| self.agreeing.iter().any(|a| a.column == *j);
            kept.keep_only(&(0..self.scale.len()).filter(|j| !left_out(j)).collect::<Vec<usize>>());
        }
        kept
    }

    /// The parameters from statistics alone.
    pub(super) fn of_statistics(
        method: &GaussianBayes,
        moments: ClassMoments,
        names: &[String],
    ) -> Result<GaussianProblem> {
        if moments.weights().len() != names.len() {
            return Err(Error::usage(format!("{} names for {} classes", names.len(), moments.weights().len())));
        }
        if let Some(empty) = moments.weights().iter().position(|n| *n <= 0.0) {
            return Err(Error::data(format!("class `{}` has no rows", names[empty])).help("leave the class out"));
        }
        if (moments.kind() == Scatter::Own) != (method.shape == CovarianceShape::Own) {
            return Err(Error::usage("the statistics do not have the scatter that the method needs")
                .help("own scatter for own covariances, pooled for one"));
        }
        if method.shrinkage == Shrinkage::LedoitWolf {
            return Err(Error::usage("Ledoit–Wolf shrinkage needs the rows, not their statistics")
                .help("give a fixed amount of shrinkage"));
        }
        let mut problem = GaussianProblem::from_moments(method, moments, names)?;
        if let Some(known) = &method.known {
            problem.move_means(known)?;
        }
        Ok(problem)
    }

    /// Everything but Ledoit–Wolf shrinkage, which needs a second pass, and the prior of the means, which needs the
    /// final covariance.
    fn from_moments(method: &GaussianBayes, moments: ClassMoments, class_names: &[String]) -> Result<GaussianProblem> {
        let classes = moments.weights().len();
        let total: f64 = moments.weights().iter().sum();
        let centre = moments.grand_mean();
        let (scale, constant) = scales(method.standardize, &moments, &centre, total);
        let cols = centre.len();
        let given = method.known.as_ref().and_then(|k| k.covariance.as_ref());
        let mut problem = GaussianProblem {
            priors: priors(method, &moments, class_names)?,
            means: (0..classes).map(|k| moments.mean(k).to_vec()).collect(),
            moments,
            centre,
            scale,
            covariances: Vec::new(),
            constant,
            intensities: Vec::new(),
            plain_divisors: None,
            rounding: None,
            divisors: Vec::new(),
            agreeing: Vec::new(),
            class_names: class_names.to_vec(),
            shape: method.shape,
        };
        if let Some(means) = method.known.as_ref().and_then(|k| k.means.as_ref()) {
            problem.means.clone_from(means);
        }
        if let Some(covariance) = given {
            let matrices = Known::matrices(covariance, method.shape, cols, classes)?;
            let scaled =
                |m: &Square| Square::from_lower(cols, |i, j| m.get(i, j) / (problem.scale[i] * problem.scale[j]));
            problem.covariances = matrices.iter().map(scaled).collect();
            return Ok(problem);
        }
        let divisors = problem.divisors(method, total)?;
        let scatters: Vec<&Square> = (0..divisors.len()).map(|k| problem.moments.scatter_of(k)).collect();
        let covariance = |(k, s): (usize, &&Square)| {
            let divisor = divisors[k];
            Square::from_lower(cols, |i, j| s.get(i, j) / (divisor * problem.scale[i] * problem.scale[j]))
        };
        problem.covariances = scatters.iter().enumerate().map(covariance).collect();
        problem.divisors.clone_from(&divisors);
        problem.check_freedom(method, total)?;
        match (method.shape, method.shrinkage) {
            (CovarianceShape::Spherical, _) => problem.shrink_by(&[1.0]),
            (_, Shrinkage::Fixed(a)) if (0.0..=1.0).contains(&a) => {
                problem.shrink_by(&vec![a; problem.covariances.len()]);
            }
            (_, Shrinkage::Fixed(a)) => return Err(Error::usage(format!("shrinkage {a} is not between 0 and 1"))),
            (_, Shrinkage::None) => problem.plain_divisors = Some(divisors),
            (_, Shrinkage::LedoitWolf) => {}
        }
        Ok(problem)
    }

    fn divisors(&self, method: &GaussianBayes, total: f64) -> Result<Vec<f64>> {
        let classes = self.priors.len();
        if method.shape == CovarianceShape::Own {
            let divisor = |(k, n): (usize, &f64)| {
                let divisor = if method.divisor == Divisor::Mle { *n } else { n - 1.0 };
                match divisor > 0.0 && *n > 1.0 {
                    true => Ok(divisor),
                    false => Err(Error::data(format!(
                        "class `{}` has {n} row{}: no covariance can be estimated from that",
                        self.class_names[k],
                        if *n == 1.0 { "" } else { "s" }
                    ))
                    .help(words!["use ", Setting::Model.is("lda"), ", which pools the classes"])
                    .help("leave the class out")),
                }
            };
            return self.moments.weights().iter().enumerate().map(divisor).collect();
        }
        let divisor = match method.divisor {
            Divisor::Mle => total,
            Divisor::Unbiased => total - classes as f64,
        };
        if divisor <= 0.0 {
            return Err(Error::data(format!(
                "{total} rows of {classes} classes leave nothing to estimate a covariance from"
            ))
            .help(words![Setting::Model.is(method.name()), " needs more rows than classes"]));
        }
        Ok(vec![divisor])
    }

    /// A covariance of d columns needs more than d rows, unless it is shrunk.
    fn check_freedom(&self, method: &GaussianBayes, total: f64) -> Result<()> {
        if method.shrinkage != Shrinkage::None || method.shape == CovarianceShape::Spherical {
            return Ok(());
        }
        let used = self.scale.len() - self.constant.len();
        if method.shape == CovarianceShape::Own {
            let few = self.moments.weights().iter().position(|n| used as f64 > n - 1.0);
            return few.map_or(Ok(()), |k| {
                let (name, n) = (&self.class_names[k], self.moments.weight(k));
                Err(Error::data(format!("class `{name}` has {n} rows for {used} columns: its covariance is singular"))
                    .help(words!["use ", Setting::Shrinkage.is("auto")])
                    .help(words!["use ", Setting::Model.is("lda")])
                    .help("use fewer columns"))
            });
        }
        let classes = self.priors.len();
        if used as f64 > total - classes as f64 {
            let message = format!("{used} columns and {total} rows of {classes} classes: the covariance is singular");
            return Err(Error::data(message)
                .help(words!["use ", Setting::Shrinkage.is("auto")])
                .help("use fewer columns"));
        }
        Ok(())
    }

    fn used(&self) -> Vec<usize> {
        (0..self.scale.len()).filter(|j| self.constant.binary_search(j).is_err()).collect()
    }

    /// Shrinks each covariance towards `tr(Σ)/d·I` on the columns that vary.
    fn shrink_by(&mut self, intensities: &[f64]) {
        let used = self.used();
        for (covariance, intensity) in self.covariances.iter_mut().zip(intensities) {
            let mean = used.iter().map(|j| covariance.get(*j, *j)).sum::<f64>() / used.len() as f64;
            covariance.scale(1.0 - intensity);
            used.iter().for_each(|j| *covariance.at(*j, *j) += intensity * mean);
        }
        self.intensities = intensities.to_vec();
    }

    /// The intensity of Ledoit and Wolf (2004) for each covariance.
    fn ledoit_wolf(&self, method: &GaussianBayes, fourth: &[f64]) -> Vec<f64> {
        let used = self.used();
        let d = used.len() as f64;
        let intensity = |(k, covariance): (usize, &Square)| {
            let (total, fourth, freedom) = match self.shape {
                CovarianceShape::Own => (self.moments.weight(k), fourth[k], 1.0),
                _ => (self.moments.weights().iter().sum(), fourth.iter().sum::<f64>(), self.priors.len() as f64),
            };
            // The formula is in terms of the maximum likelihood covariance.
            let over_mle = if method.divisor == Divisor::Mle { 1.0 } else { total / (total - freedom) };
            let pairs = used.iter().flat_map(|i| used.iter().map(move |j| (*i, *j)));
            let squares: f64 = pairs.map(|(i, j)| (covariance.get(i, j) / over_mle).powi(2)).sum();
            let mean = used.iter().map(|j| covariance.get(*j, *j)).sum::<f64>() / over_mle / d;
            let distance = squares / d - mean * mean;
            let noise = (fourth / total - squares) / (total * d);
            if distance > 0.0 { (noise / distance).clamp(0.0, 1.0) } else { 1.0 }
        };
        self.covariances.iter().enumerate().map(intensity).collect()
    }

    /// Posterior means where the means have a prior.
    fn move_means(&mut self, known: &Known) -> Result<()> {
        let Some(prior) = &known.mean_prior else { return Ok(()) };
        let cols = self.scale.len();
        let spread = Square::from_lower(cols, |i, j| prior.covariance[i][j] / (self.scale[i] * self.scale[j]));
        for k in 0..self.priors.len() {
            let n = self.moments.weight(k);
            let noise = self.covariance_of(k);
            let mut sum = spread.clone();
            sum.add_scaled(1.0 / n, Some(noise));
            let sum = factor(&sum, 0.0);
            let towards = prior.mean_of(k);
            let delta: Vec<f64> = (0..cols).map(|j| (towards[j] - self.moments.mean(k)[j]) / self.scale[j]).collect();
            let moved = noise.multiply(&sum.solve(&delta));
            self.means[k] = (0..cols).map(|j| self.moments.mean(k)[j] + moved[j] / n * self.scale[j]).collect();
        }
        Ok(())
    }

    pub(super) fn covariance_of(&self, class: usize) -> &Square {
        &self.covariances[class.min(self.covariances.len() - 1)]
    }

    /// A bound on how far an entry of the one covariance may be from that of the rows, shrunk as stated; in the units of
    /// the fit. `None` where it is not made from the rows alone.
    pub(super) fn covariance_error(&self) -> Option<impl Fn(usize, usize) -> f64 + '_> {
        let rounding = self.rounding.as_ref()?;
        let (divisor, kept) = (*self.divisors.first()?, 1.0 - self.intensities.first().copied().unwrap_or(0.0));
        let entry = move |i: usize, j: usize| {
            rounding.of_scatter(i, j) / (divisor * self.scale[i] * self.scale[j]) * ROUNDED_UP
        };
        let used = self.used();
        if !used.iter().all(|j| rounding.is_whole(*j)) {
            return None;
        }
        let mean = used.iter().map(|j| entry(*j, *j)).sum::<f64>() / used.len().max(1) as f64;
        Some(move |i: usize, j: usize| {
            // Mixing with the mean of the diagonal rounds a few times more.
            let mixed = 8.0 * f64::EPSILON * self.covariance_of(0).get(i, j).abs();
            kept * entry(i, j) + mixed + if i == j { (1.0 - kept) * mean } else { 0.0 }
        })
    }

    /// A bound on how far `μ_k − μ̄` of a column may be from that of the rows, in the units of the fit.
    pub(super) fn contrast_error(&self, column: usize) -> Option<f64> {
        let rounding = self.rounding.as_ref()?;
        let of = |k: usize| rounding.of_mean(column, self.moments.weight(k), self.moments.mean(k)[column]);
        let worst = (0..self.priors.len()).map(of).fold(0.0, f64::max);
        Some((4.0 * worst + 8.0 * f64::EPSILON * self.centre[column].abs()) / self.scale[column] * ROUNDED_UP)
    }

    /// `(μ_k − μ̄)` in the units of the fit.
    pub(super) fn contrast(&self, class: usize) -> Vec<f64> {
        let mean = &self.means[class];
        (0..mean.len()).map(|j| (mean[j] - self.centre[j]) / self.scale[j]).collect()
    }

    /// `(x̄_k − μ_k)` in the units of the fit: zero unless the mean is given or has a prior.
    pub(super) fn offset(&self, class: usize) -> Vec<f64> {
        let (observed, mean) = (self.moments.mean(class), &self.means[class]);
        (0..mean.len()).map(|j| (observed[j] - mean[j]) / self.scale[j]).collect()
    }

    /// Whether the one covariance is a multiple of the identity in the units of the columns.
    pub(super) fn is_sphere(&self) -> bool {
        self.scale.iter().all(|s| *s == 1.0) && self.constant.is_empty() && !self.scale.is_empty()
    }

    /// Columns that are, as far as doubles tell, combinations of others within every class, as notes; refused where they
    /// differ between classes. Then those that agree with others up to their printed digits.
    pub(super) fn collinear(&self, factor: &Factor) -> Result<Vec<Note>> {
        let agrees = |a: &Alias| self.agreeing.iter().any(|other| other.column == a.column);
        let aliased = factor.aliased().iter().filter(|a| self.constant.binary_search(&a.column).is_err() && !agrees(a));
        let note = |a: &Alias, printed: bool| {
            let in_columns = |(c, v): (usize, f64)| (c, v * self.scale[a.column] / self.scale[c]);
            let combination = named(a.combination.clone(), |j| self.covariance_of(0).get(j, j).sqrt());
            Note::LeftOut { column: a.column, combination: combination.into_iter().map(in_columns).collect(), printed }
        };
        let mut notes = Vec::new();
        for alias in aliased {
            self.check_alias(alias)?;
            notes.push(note(alias, false));
        }
        notes.extend(self.agreeing.iter().map(|alias| note(alias, true)));
        Ok(notes)
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
        if left_over.fold(0.0, f64::max) > DIFFERS * size && size > 0.0 {
            return Err(Error::data(words![
                "within every class ",
                Span::Column(alias.column),
                " is constant or a combination of other columns, yet it differs between classes: the classes are separable \
                 along it and the covariance is singular",
            ])
            .help(words!["use ", Setting::Shrinkage.is("auto")]).help("drop the column"));
        }
        Ok(())
    }

    /// `−Σ s log π_y/Σs`.
    pub(super) fn label_loss(&self) -> f64 {
        let total: f64 = self.moments.weights().iter().sum();
        self.moments.weights().iter().zip(&self.priors).map(|(n, p)| -n / total * p.ln()).sum()
    }

    pub(super) fn class_name(&self, class: usize) -> &str {
        &self.class_names[class]
    }
}

fn priors(method: &GaussianBayes, moments: &ClassMoments, names: &[String]) -> Result<Vec<f64>> {
    let known = method.known.as_ref().and_then(|k| k.priors.as_ref());
    let given = method.priors.as_ref().or(known).map(Vec::as_slice);
    crate::model::priors::priors(given, moments.weights(), names)
}

/// Standard deviations about the grand mean (1 where not wanted), and the constant columns.
fn scales(standardize: Standardize, moments: &ClassMoments, centre: &[f64], total: f64) -> (Vec<f64>, Vec<usize>) {
    let between = |j: usize| -> f64 {
        (0..moments.weights().len()).map(|k| moments.weight(k) * (moments.mean(k)[j] - centre[j]).powi(2)).sum()
    };
    let within = moments.scatter();
    let variance: Vec<f64> = (0..centre.len()).map(|j| (within.get(j, j) + between(j)) / total).collect();
    // The rounding error of the variance of a constant column: the square of a few units in the last place of its value.
    let negligible = |j: usize| variance[j] <= (4.0 * f64::EPSILON * centre[j]).powi(2);
    let constant: Vec<usize> = (0..centre.len()).filter(|j| negligible(*j)).collect();
    let scale = (0..centre.len()).map(|j| match standardize {
        Standardize::Yes if !negligible(j) => variance[j].sqrt(),
        _ => 1.0,
    });
    (scale.collect(), constant)
}

//! Studies of repeated samples, against what theory says of the estimators, and against a plain repetition.

use linsep::density::Draws;
use linsep::design::DenseMatrix;
use linsep::infer::IntervalKind;
use linsep::model::{
    CovarianceShape, Divisor, FamilyChoice, GaussianBayes, Method, NaiveBayes, PenaltyChoice, RiskMinimizer,
};
use linsep::sample::{Generator, LogisticLabels, Simulation, bernoulli_classes, gaussian_classes, poisson_classes};
use linsep::table::Labels;
use linsep::workflow::{
    Arrays, FitOptions, StudiedEstimate, StudiedMethod, StudiedSize, Study, StudyOptions, TableFit, fit_arrays,
    predict_design, study,
};

fn named(name: &str, method: Method) -> StudiedMethod {
    StudiedMethod { name: name.into(), options: FitOptions::new("class", method) }
}

fn lda(divisor: Divisor) -> Method {
    Method::Gaussian(GaussianBayes { divisor, ..GaussianBayes::lda() })
}

fn likelihood() -> Method {
    Method::Risk(RiskMinimizer { penalty: PenaltyChoice::None, ..RiskMinimizer::default() })
}

fn options(rows: &[u64], samples: usize) -> StudyOptions {
    StudyOptions { rows: rows.to_vec(), samples, test_rows: 100, seed: 3, ..StudyOptions::default() }
}

fn run(generator: &dyn Generator, methods: &[StudiedMethod], options: &StudyOptions) -> Study {
    study(generator, methods, options, &Default::default()).unwrap()
}

fn line<'s>(size: &'s StudiedSize, name: &str) -> &'s StudiedEstimate {
    let found = size.estimates.iter().find(|e| e.parameter.name() == name);
    found.unwrap_or_else(|| {
        panic!("no {name} among {:?}", size.estimates.iter().map(|e| e.parameter.name()).collect::<Vec<_>>())
    })
}

/// In standard errors of the mean over samples.
fn errors_off(line: &StudiedEstimate, expected: f64) -> f64 {
    (line.estimates.mean - expected) / line.estimates.error.unwrap()
}

#[test]
fn divisors_have_the_bias_of_theory() {
    let classes = gaussian_classes(vec![0.5, 0.5], 2, 1.0, 0.5).unwrap();
    let methods = [named("mle", lda(Divisor::Mle)), named("unbiased", lda(Divisor::Unbiased))];
    let found = run(&classes, &methods, &options(&[12], 1000));
    // Of n rows of K classes the scatter has n − K degrees of freedom: E Σ̂ = (n − K)/n Σ with the divisor n.
    for (name, truth) in [("variance of x1", 1.0), ("variance of x2", 1.0), ("covariance of x1, x2", 0.5)] {
        let (mle, unbiased) = (line(&found.sizes[0], name), line(&found.sizes[1], name));
        assert!((mle.truth - truth).abs() < 1e-12 && (unbiased.truth - truth).abs() < 1e-12);
        assert!(errors_off(mle, truth * 10.0 / 12.0).abs() < 4.0, "{name}: {mle:?}");
        assert!(errors_off(mle, truth) < -4.0, "{name}: {mle:?}");
        assert!(errors_off(unbiased, truth).abs() < 4.0, "{name}: {unbiased:?}");
        // The biased estimate is the nearer one.
        assert!(mle.root_mean_square < unbiased.root_mean_square, "{name}");
        let deviation = mle.estimates.deviation.unwrap();
        let n = found.sizes[0].fitted as f64;
        let square = deviation * deviation * (n - 1.0) / n + mle.bias() * mle.bias();
        assert!((square.sqrt() - mle.root_mean_square).abs() < 1e-9, "mean square = variance + bias²");
    }
}

#[test]
fn means_scatter_as_theory_says() {
    let classes = gaussian_classes(vec![0.25, 0.75], 1, 2.0, 0.0).unwrap();
    let n = 24;
    let found = run(&classes, &[named("lda", lda(Divisor::Unbiased))], &options(&[n], 1500));
    let size = &found.sizes[0];
    // Given that both classes have rows: E 1/n_k of a binomial count.
    let mut weights = (0.0, 0.0);
    let mut probability = 0.75f64.powi(n as i32);
    for k in 1..n {
        probability *= (n - k + 1) as f64 / k as f64 * (0.25 / 0.75);
        weights = (weights.0 + probability, weights.1 + probability / k as f64);
    }
    let wanted = (weights.1 / weights.0).sqrt();
    let mean = line(size, "mean of x1 in 0");
    assert!(errors_off(mean, mean.truth).abs() < 4.0, "{mean:?}");
    // The standard error of a standard deviation is some 2 % here.
    assert!((mean.estimates.deviation.unwrap() / wanted - 1.0).abs() < 0.09, "{mean:?} {wanted}");
    assert_eq!(size.fitted + size.without_class, 1500);
}

#[test]
fn intervals_cover_as_often_as_they_say() {
    let classes = gaussian_classes(vec![0.5, 0.5], 2, 1.5, 0.3).unwrap();
    let shapes = [CovarianceShape::Shared, CovarianceShape::Own];
    let methods: Vec<StudiedMethod> =
        shapes.iter().map(|s| named("gaussian", Method::Gaussian(GaussianBayes::new(*s)))).collect();
    for level in [0.5, 0.9] {
        let found = run(&classes, &methods, &StudyOptions { level, ..options(&[25], 800) });
        let spread = 4.0 * (level * (1.0 - level) / 800.0).sqrt();
        let mut counted = 0;
        for estimate in found.sizes.iter().flat_map(|s| &s.estimates) {
            let Some(coverage) = estimate.coverage else { continue };
            counted += 1;
            let share = coverage.share();
            assert!(share > level - spread, "{} at {level}: {share}", estimate.parameter.name());
            // Clopper and Pearson's intervals of shares cover more often; the others are exact.
            assert!(
                estimate.parameter.quantity == "share" || share < level + spread,
                "{} at {level}: {share}",
                estimate.parameter.name()
            );
            assert!(coverage.low < share && share < coverage.high);
        }
        // Of each shape two shares and four means; two common variances, and four own ones.
        assert_eq!(counted, 8 + 10);
    }
}

#[test]
fn wald_and_profile_intervals_cover_weights() {
    let rows = LogisticLabels::new(vec![0.5, -0.25], 0.2, 0.0).unwrap();
    for interval in [IntervalKind::Wald, IntervalKind::Profile] {
        let asked = StudyOptions { interval, level: 0.9, ..options(&[300], 300) };
        let found = run(&rows, &[named("likelihood", likelihood())], &asked);
        let names: Vec<String> = found.sizes[0].estimates.iter().map(|e| e.parameter.name()).collect();
        assert_eq!(names, ["intercept", "weight of x1", "weight of x2"]);
        for estimate in &found.sizes[0].estimates {
            let coverage = estimate.coverage.unwrap();
            assert_eq!(coverage.intervals, 300);
            assert!((coverage.share() - 0.9).abs() < 4.0 * (0.09f64 / 300.0).sqrt() + 0.01, "{estimate:?}");
        }
        // Maximum likelihood exaggerates weights by a share of the order of 1/n.
        let weight = line(&found.sizes[0], "weight of x1");
        assert!(weight.bias().abs() < 0.05 && weight.truth == 0.5, "{weight:?}");
    }
}

#[test]
fn few_rows_favour_what_assumes_more() {
    let classes = gaussian_classes(vec![0.5, 0.5], 6, 2.0, 0.0).unwrap();
    let spherical = Method::Gaussian(GaussianBayes::new(CovarianceShape::Spherical));
    let methods = [named("spherical", spherical), named("likelihood", likelihood())];
    let found = run(&classes, &methods, &options(&[20, 500], 150));
    let [few, many, few_likely, many_likely] = &found.sizes[..] else { panic!("two methods, two sizes") };
    let bayes = found.bayes_error.unwrap().value;
    let error = |size: &StudiedSize| size.error.unwrap();
    assert!(error(few).mean + 5.0 * error(few).error.unwrap() < error(few_likely).mean);
    for size in [many, many_likely] {
        assert!((error(size).mean - bayes).abs() < 0.02, "{:?} {bayes}", error(size));
    }
    // On their own rows fits look better than they are, the less so the more rows there are.
    let gap = |size: &StudiedSize| error(size).mean - size.training_error.unwrap().mean;
    assert!(gap(few_likely) > 5.0 * gap(many_likely).abs(), "{} {}", gap(few_likely), gap(many_likely));
    let loss = |size: &StudiedSize| size.log_loss.unwrap().mean - size.training_log_loss.unwrap().mean;
    assert!(loss(few_likely) > loss(many_likely));
    assert_eq!(few_likely.fitted + few_likely.without_class + few_likely.without_optimum, 150);
    assert!(few_likely.without_optimum > 10, "20 rows of 6 columns are often separated");
}

#[test]
fn a_plain_repetition_finds_the_same() {
    let generator = || gaussian_classes(vec![0.4, 0.6], 2, 1.0, 0.2).unwrap();
    let asked = options(&[40], 5);
    let found = run(&generator(), &[named("lda", lda(Divisor::Unbiased))], &asked);
    let (mut means, mut errors) = (Vec::new(), Vec::new());
    for sample in 0..5 {
        let mut seeds = Draws::new(asked.seed, sample);
        let (own, fresh) = (seeds.bits(), seeds.bits());
        let (values, classes) = Simulation::new(Box::new(generator()), 40, own).unwrap().draw();
        let (test, truth) = Simulation::new(Box::new(generator()), asked.test_rows, fresh).unwrap().draw();
        let of_class = || (0..40).filter(|i| classes[*i].index() == 1);
        means.push(of_class().map(|i| values[2 * i + 1]).sum::<f64>() / of_class().count() as f64);
        let x = DenseMatrix::new(&values[..], 2).unwrap();
        let labels = Labels::new(classes.clone(), vec!["0".into(), "1".into()]);
        let arrays = Arrays { design: &x, names: Vec::new(), labels, labels_are_text: true, weights: None };
        let options = FitOptions::new("class", lda(Divisor::Unbiased));
        let TableFit::Model(model) = fit_arrays(arrays, &options, &Default::default()).unwrap() else { panic!() };
        let x = DenseMatrix::new(&test[..], 2).unwrap();
        let predicted = predict_design(&model, &x, &Default::default()).unwrap();
        let wrong = predicted.classes.iter().zip(&truth).filter(|(p, t)| **p != Some(**t)).count();
        errors.push(wrong as f64 / truth.len() as f64);
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let size = &found.sizes[0];
    assert!((line(size, "mean of x2 in 1").estimates.mean - mean(&means)).abs() < 1e-12);
    assert!((size.error.unwrap().mean - mean(&errors)).abs() < 1e-12);
}

#[test]
fn other_families_have_a_truth() {
    let poisson =
        Method::NaiveBayes(NaiveBayes { numbers: FamilyChoice::Poisson, smoothing: 0.0, ..NaiveBayes::default() });
    let classes = poisson_classes(vec![0.5, 0.5], 2, 1.0).unwrap();
    let found = run(&classes, &[named("naive-bayes", poisson)], &options(&[60], 400));
    for name in ["rate of x1 in 0", "rate of x2 in 1"] {
        assert!(errors_off(line(&found.sizes[0], name), line(&found.sizes[0], name).truth).abs() < 4.0, "{name}");
    }
    let bernoulli =
        Method::NaiveBayes(NaiveBayes { numbers: FamilyChoice::Bernoulli, smoothing: 0.0, ..NaiveBayes::default() });
    let classes = bernoulli_classes(vec![0.5, 0.5], 2, 1.0).unwrap();
    let found = run(&classes, &[named("naive-bayes", bernoulli)], &options(&[60], 400));
    let p = line(&found.sizes[0], "probability of x1 in 1");
    assert!(errors_off(p, p.truth).abs() < 4.0, "{p:?}");
    // Three Gaussian classes have linear log-odds against the first.
    let classes = gaussian_classes(vec![0.3, 0.3, 0.4], 1, 1.0, 0.0).unwrap();
    let found = run(&classes, &[named("lda", lda(Divisor::Unbiased))], &options(&[2000], 20));
    let weight = line(&found.sizes[0], "weight of x1 for 2");
    assert!((weight.truth - 2.0).abs() < 1e-12 && (weight.estimates.mean - 2.0).abs() < 0.1, "{weight:?}");
}

#[test]
fn threads_do_not_matter() {
    let classes = gaussian_classes(vec![0.5, 0.5], 3, 1.0, 0.0).unwrap();
    let methods = [named("lda", lda(Divisor::Unbiased)), named("likelihood", likelihood())];
    let by = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&classes, &methods, &options(&[15, 40], 12)))
    };
    assert_eq!(by(1), by(3));
    // Nor do the other sizes: the rows of a sample are the first of a larger one.
    let alone = run(&classes, &methods[..1], &options(&[15], 12));
    assert_eq!(alone.sizes[0], by(1).sizes[0]);
}

#[test]
fn what_cannot_be_studied_is_refused() {
    let classes = gaussian_classes(vec![0.5, 0.5], 1, 1.0, 0.0).unwrap();
    let method = || [named("lda", lda(Divisor::Unbiased))];
    let cases: Vec<(Vec<StudiedMethod>, StudyOptions)> = vec![
        (method().to_vec(), options(&[], 5)),
        (method().to_vec(), options(&[0], 5)),
        (method().to_vec(), options(&[10], 0)),
        (method().to_vec(), StudyOptions { test_rows: 0, ..options(&[10], 5) }),
        (method().to_vec(), StudyOptions { level: 1.0, ..options(&[10], 5) }),
        (Vec::new(), options(&[10], 5)),
    ];
    for (methods, asked) in cases {
        assert!(study(&classes, &methods, &asked, &Default::default()).is_err(), "{asked:?}");
    }
}

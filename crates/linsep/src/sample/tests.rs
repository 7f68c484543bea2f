//! Moments within sampling error, exact margins, truth tables, and the same rows whoever draws them.

use super::*;
use crate::density::{Covariance, Densities, Density, ErrorMethod, Family, Gaussian, Marginal, Sampler};

/// Rows of one class.
fn rows_of(values: &[f64], classes: &[Class], cols: usize, class: u32) -> Vec<Vec<f64>> {
    let rows = values.chunks_exact(cols).zip(classes);
    rows.filter(|(_, c)| c.0 == class).map(|(row, _)| row.to_vec()).collect()
}

/// z-scores of counts, means and covariances of Gaussian classes.
fn check_gaussian(densities: &Densities, rows: u64, seed: u64) {
    let Density::Gaussian(gaussian) = &densities.density else { panic!("Gaussian classes") };
    let (k, d) = (densities.n_classes(), densities.n_features());
    let names = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<String>>();
    let classes = Classes::new("gaussian", densities.clone(), names(k), names(d)).expect("densities");
    let simulation = Simulation::new(Box::new(classes), rows, seed).expect("rows");
    let (values, drawn) = simulation.draw();
    for class in 0..k {
        let members = rows_of(&values, &drawn, d, class as u32);
        let (n, p) = (members.len() as f64, densities.priors[class]);
        let count = (n - rows as f64 * p) / (rows as f64 * p * (1.0 - p)).sqrt();
        assert!(count.abs() < 4.0, "class {class}: {n} rows");
        let covariance = |i: usize, j: usize| match &gaussian.covariance {
            Covariance::Spherical(v) => v * f64::from(u8::from(i == j)),
            Covariance::Shared(m) => m[i][j],
            Covariance::Own(m) => m[class][i][j],
        };
        let mean = &gaussian.means[class];
        for i in 0..d {
            let average = members.iter().map(|r| r[i]).sum::<f64>() / n;
            let z = (average - mean[i]) / (covariance(i, i) / n).sqrt();
            assert!(z.abs() < 4.0, "class {class}, mean {i}: z = {z}");
            for j in 0..=i {
                let found = members.iter().map(|r| (r[i] - mean[i]) * (r[j] - mean[j])).sum::<f64>() / n;
                // Isserlis: the variance of a product of two normal numbers.
                let variance = covariance(i, i) * covariance(j, j) + covariance(i, j).powi(2);
                let z = (found - covariance(i, j)) / (variance / n).sqrt();
                assert!(z.abs() < 4.0, "class {class}, covariance ({i}, {j}): z = {z}");
            }
        }
    }
}

#[test]
fn gaussian_moments_are_within_sampling_error() {
    let shared = vec![vec![2.0, 0.6, -0.3], vec![0.6, 1.0, 0.2], vec![-0.3, 0.2, 0.5]];
    let other = vec![vec![1.0, -0.9, 0.0], vec![-0.9, 1.0, 0.0], vec![0.0, 0.0, 1e-4]];
    let means = vec![vec![0.0, 1.0, -2.0], vec![5.0, 1.0, 0.0], vec![1e3, -1e3, 0.0]];
    let priors = vec![0.2, 0.5, 0.3];
    for (seed, covariance) in [
        Covariance::Spherical(0.25),
        Covariance::Shared(shared.clone()),
        Covariance::Own(vec![shared.clone(), other, shared]),
    ]
    .into_iter()
    .enumerate()
    {
        let density = Density::Gaussian(Gaussian { means: means.clone(), covariance });
        check_gaussian(&Densities { priors: priors.clone(), density }, 60_000, seed as u64);
    }
    let line = gaussian_classes(vec![0.3, 0.7], 4, 1.5, 0.6).expect("classes");
    check_gaussian(line.densities(), 40_000, 9);
}

#[test]
fn a_singular_covariance_draws_within_its_subspace() {
    // Column 2 is the sum of the others; column 3 is constant.
    let covariance = Covariance::Shared(vec![
        vec![1.0, 0.5, 1.5, 0.0],
        vec![0.5, 2.0, 2.5, 0.0],
        vec![1.5, 2.5, 4.0, 0.0],
        vec![0.0; 4],
    ]);
    let means = vec![vec![0.0, 0.0, 0.0, 7.0], vec![1.0, 1.0, 2.0, 7.0]];
    let density = Density::Gaussian(Gaussian { means, covariance });
    let sampler = Sampler::new(&Densities { priors: vec![0.5, 0.5], density }).expect("a sampler");
    let mut rows = vec![0.0; 4000];
    sampler.draw_rows(&mut Draws::new(3, 0), &mut rows, |_| ());
    for row in rows.chunks_exact(4) {
        assert!((row[0] + row[1] - row[2]).abs() < 1e-12 && row[3] == 7.0, "{row:?}");
    }
}

#[test]
fn independent_columns_have_their_means_and_no_correlation() {
    let family = |family| Marginal { columns: vec![0], family };
    let mut marginals = vec![
        family(Family::Gaussian { mean: vec![1.0, -1.0], variance: vec![0.5, 4.0] }),
        family(Family::Bernoulli { p: vec![0.2, 0.9] }),
        family(Family::Poisson { rate: vec![0.7, 30.0] }),
        family(Family::Exponential { rate: vec![2.0, 0.1] }),
        family(Family::Geometric { p: vec![0.3, 0.8] }),
        family(Family::Gamma { shape: vec![0.5, 6.0], rate: vec![1.0, 3.0] }),
        family(Family::Binomial { trials: 20, p: vec![0.1, 0.7] }),
    ];
    marginals.iter_mut().enumerate().for_each(|(j, m)| m.columns = vec![j]);
    let shares = vec![vec![0.2, 0.5, 0.3], vec![0.6, 0.1, 0.3]];
    marginals.push(Marginal { columns: vec![7, 8, 9], family: Family::Categorical { shares: shares.clone() } });
    let mean_total = vec![8.0, 30.0];
    let counts = Family::Multinomial { shares: shares.clone(), mean_total: mean_total.clone() };
    marginals.push(Marginal { columns: vec![10, 11, 12], family: counts });
    let densities = Densities { priors: vec![0.4, 0.6], density: Density::Independent { marginals } };
    let names: Vec<String> = (0..13).map(|j| j.to_string()).collect();
    let classes = Classes::new("independent", densities, vec!["a".into(), "b".into()], names).expect("densities");
    let (values, drawn) = Simulation::new(Box::new(classes), 80_000, 4).expect("rows").draw();
    for k in 0..2 {
        let rows = rows_of(&values, &drawn, 13, k as u32);
        let n = rows.len() as f64;
        let bernoulli = |p: f64| (p, p * (1.0 - p));
        let mut moments = vec![
            [(1.0, 0.5), (-1.0, 4.0)][k],
            bernoulli([0.2, 0.9][k]),
            [(0.7, 0.7), (30.0, 30.0)][k],
            [(0.5, 0.25), (10.0, 100.0)][k],
            [(0.7 / 0.3, 0.7 / 0.09), (0.25, 0.2 / 0.64)][k],
            [(0.5, 0.5), (2.0, 2.0 / 3.0)][k],
            [(2.0, 1.8), (14.0, 4.2)][k],
        ];
        moments.extend(shares[k].iter().map(|p| bernoulli(*p)));
        moments.extend(shares[k].iter().map(|p| (mean_total[k] * p, mean_total[k] * p)));
        for (j, (mean, variance)) in moments.iter().enumerate() {
            let average = rows.iter().map(|r| r[j]).sum::<f64>() / n;
            let z = (average - mean) / (variance / n).sqrt();
            assert!(z.abs() < 4.0, "class {k}, column {j}: z = {z}");
            for i in (0..j).filter(|i| !(*i >= 7 && j < 10)) {
                let (mean_i, variance_i) = moments[i];
                let cross = rows.iter().map(|r| (r[i] - mean_i) * (r[j] - mean)).sum::<f64>() / n;
                let z = cross / (variance_i * variance / n).sqrt();
                assert!(z.abs() < 4.5, "class {k}, columns {i} and {j}: z = {z}");
            }
        }
        assert!(rows.iter().all(|r| r[7] + r[8] + r[9] == 1.0), "one level a row");
    }
}

#[test]
fn logistic_labels_follow_their_probabilities() {
    let logistic = LogisticLabels::new(vec![1.0, -0.5, 0.3], 0.4, FeatureLaw::Normal(-0.3)).expect("a model");
    let truth = logistic.truth(1).expect("a truth");
    let (values, classes) = Simulation::new(Box::new(logistic), 50_000, 8).expect("rows").draw();
    let n = classes.len() as f64;
    let (mut residual, mut information, mut wrong) = ([0.0; 4], [0.0; 4], 0.0);
    for (row, class) in values.chunks_exact(3).zip(&classes) {
        let z: f64 = 0.4 + row[0] - 0.5 * row[1] + 0.3 * row[2];
        let p = 1.0 / (1.0 + (-z).exp());
        // The score of the likelihood at the truth has mean zero and the information as its variance.
        for (j, x) in [1.0, row[0], row[1], row[2]].iter().enumerate() {
            residual[j] += (f64::from(class.0) - p) * x;
            information[j] += p * (1.0 - p) * x * x;
        }
        wrong += f64::from(u8::from((z > 0.0) != (class.0 == 1)));
    }
    for j in 0..4 {
        assert!((residual[j] / information[j].sqrt()).abs() < 4.0, "score {j}");
    }
    for i in 0..3 {
        for j in 0..=i {
            let cross = values.chunks_exact(3).map(|r| r[i] * r[j]).sum::<f64>() / n;
            let rho: f64 = if i == j { 1.0 } else { -0.3 };
            assert!(((cross - rho) / ((1.0 + rho * rho) / n).sqrt()).abs() < 4.0, "({i}, {j}): {cross}");
        }
    }
    let error = truth.bayes_error.expect("an error").value;
    assert!(((wrong / n - error) / (error * (1.0 - error) / n).sqrt()).abs() < 4.0, "{} {error}", wrong / n);
}

#[test]
fn the_logistic_bayes_error_is_its_integral() {
    let logistic = LogisticLabels::new(vec![1.5, 1.0], -0.7, FeatureLaw::Normal(0.2)).expect("a model");
    let error = logistic.truth(3).expect("a truth").bayes_error.expect("an error");
    let ErrorMethod::MonteCarlo { standard_error, .. } = error.method else { panic!("drawn rows") };
    // z ~ N(−0.7, 1.5² + 1 + 2·0.2·1.5), by the midpoint rule.
    let sd = (1.5f64 * 1.5 + 1.0 + 2.0 * 0.2 * 1.5).sqrt();
    let step = 1e-4;
    let integrand = |i: i32| {
        let t = -9.0 + (f64::from(i) + 0.5) * step;
        let z: f64 = -0.7 + sd * t;
        (-0.5 * t * t).exp() / (2.0 * std::f64::consts::PI).sqrt() / (1.0 + z.abs().exp()) * step
    };
    let exact: f64 = (0..180_000).map(integrand).sum();
    assert!((error.value - exact).abs() < 4.0 * standard_error, "{} {exact} ± {standard_error}", error.value);
    assert!(standard_error < 5e-4);
}

#[test]
fn the_margin_is_exact_and_no_separator_betters_it() {
    for (weights, intercept, margin) in [
        (vec![1.0, 1.0], 0.0, 0.5),
        (vec![3.0, -4.0, 0.1], 7.0, 1e-3),
        (vec![-2.0], 1e3, 0.25),
        (vec![0.2; 30], -1.0, 12.0),
    ] {
        let cols = weights.len();
        let separable = Separable::new(weights.clone(), intercept, margin, [0.3, 0.7]).expect("a plane");
        let (values, classes) = Simulation::new(Box::new(separable), 5000, 2).expect("rows").draw();
        let length = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        let (mut nearest, mut rows) = ([f64::INFINITY; 2], [0; 2]);
        for (i, (row, class)) in values.chunks_exact(cols).zip(&classes).enumerate() {
            let g = (intercept + row.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>()) / length;
            let side = if class.0 == 1 { g } else { -g };
            if side < nearest[class.index()] {
                (nearest[class.index()], rows[class.index()]) = (side, i);
            }
        }
        let rounding = 1e-14 * (1.0 + intercept.abs() / length + margin) * cols as f64;
        for found in nearest {
            assert!((found - margin).abs() <= rounding, "{found} is not {margin} ± {rounding:e}");
        }
        // The nearest rows of the classes are 2γ apart: that is the most any separator can leave between them.
        let facing: f64 =
            (0..cols).map(|j| (values[rows[0] * cols + j] - values[rows[1] * cols + j]).powi(2)).sum::<f64>().sqrt();
        assert!((facing - 2.0 * margin).abs() <= 2.0 * rounding);
    }
}

#[test]
fn truth_tables() {
    let table = |cols, rule, signs| {
        let boolean = Boolean::new(cols, rule, signs, true).expect("a rule");
        let rows = boolean.n_rows().expect("few rows");
        let truth = boolean.truth(0).expect("a truth");
        (Simulation::new(Box::new(boolean), rows, 0).expect("rows").draw(), truth)
    };
    let ((values, classes), truth) = table(3, BooleanRule::Parity, true);
    assert_eq!(classes.iter().map(|c| c.0).collect::<Vec<_>>(), [0, 1, 1, 0, 1, 0, 0, 1]);
    assert_eq!(values[..6], [-1.0, -1.0, -1.0, -1.0, -1.0, 1.0]);
    assert_eq!(truth.weights, None);
    for signs in [false, true] {
        for cols in 1..=6 {
            for m in 1..=cols {
                let ((values, classes), truth) = table(cols, BooleanRule::AtLeast(m), signs);
                let (weights, intercept) = (&truth.weights.expect("a plane")[0], truth.intercept.expect("one")[0]);
                // The strict separators of the rule: half a one (or one sign) on either side.
                let expected = if signs { cols as f64 - 2.0 * m as f64 + 1.0 } else { 0.5 - m as f64 };
                assert_eq!(intercept, expected);
                assert_eq!(classes.len(), 1 << cols);
                for (row, class) in values.chunks_exact(cols).zip(&classes) {
                    let ones = row.iter().filter(|x| **x == 1.0).count();
                    let g: f64 = intercept + row.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>();
                    assert_eq!(class.0 == 1, ones >= m);
                    assert_eq!(class.0 == 1, g > 0.0);
                    assert!(g.abs() >= if signs { 1.0 } else { 0.5 });
                }
            }
        }
    }
}

#[test]
fn drawn_boolean_rows_are_fair() {
    let boolean = Boolean::new(70, BooleanRule::Parity, false, false).expect("a rule");
    let (values, classes) = Simulation::new(Box::new(boolean), 20_000, 6).expect("rows").draw();
    let z = |count: f64| (count - 10_000.0) / 5000f64.sqrt();
    for j in 0..70 {
        assert!(z(values.iter().skip(j).step_by(70).sum()).abs() < 4.0, "column {j}");
    }
    assert!(z(classes.iter().map(|c| f64::from(c.0)).sum()).abs() < 4.0);
    let odd = |row: &[f64]| row.iter().sum::<f64>() % 2.0 == 1.0;
    assert!(values.chunks_exact(70).zip(&classes).all(|(row, class)| odd(row) == (class.0 == 1)));
}

#[test]
fn rows_depend_on_the_seed_and_nothing_else() {
    let simulation = |seed| {
        let classes = gaussian_classes(vec![0.5, 0.5], 3, 1.0, 0.2).expect("classes");
        Simulation::new(Box::new(classes), 5000, seed).expect("rows")
    };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| (simulation(5).draw(), simulation(5).truth().expect("a truth")))
    };
    assert_eq!(on(1), on(4));
    assert_ne!(simulation(5).draw(), simulation(6).draw());
    // More rows begin with the same rows.
    let (few, many) = (simulation(5).draw().0, simulation(5).block(0).0);
    assert_eq!(few[..many.len()], many);
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let half = || vec![0.5, 0.5];
    assert!(gaussian_classes(vec![0.5, 0.6], 2, 1.0, 0.0).is_err());
    assert!(gaussian_classes(vec![1.0], 2, 1.0, 0.0).is_err());
    assert!(gaussian_classes(half(), 0, 1.0, 0.0).is_err());
    assert!(gaussian_classes(half(), 3, 1.0, -0.5).is_err());
    assert!(gaussian_classes(half(), 3, -1.0, 0.0).is_err());
    assert!(gaussian_classes(half(), 3, f64::NAN, 0.0).is_err());
    assert!(bernoulli_classes(half(), 1, 4.0).is_err());
    assert!(Separable::new(vec![1.0], 0.0, 0.0, [0.5, 0.5]).is_err());
    assert!(Separable::new(vec![0.0], 0.0, 1.0, [0.5, 0.5]).is_err());
    assert!(Boolean::new(3, BooleanRule::AtLeast(4), false, true).is_err());
    assert!(Boolean::new(3, BooleanRule::AtLeast(0), false, true).is_err());
    assert!(Boolean::new(40, BooleanRule::Parity, false, true).is_err());
    let separable = Separable::new(vec![1.0], 0.0, 1.0, [0.5, 0.5]).expect("a plane");
    assert!(Simulation::new(Box::new(separable), 1, 0).is_err());
}

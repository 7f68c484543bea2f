//! Densities against sums and integrals, the Bayes error against its formula, and what is refused.

use super::*;

fn names(classes: usize) -> Vec<String> {
    (0..classes).map(|k| format!("c{k}")).collect()
}

fn gaussian(priors: &[f64], means: Vec<Vec<f64>>, covariance: Covariance) -> Densities {
    Densities { priors: priors.to_vec(), density: Density::Gaussian(Gaussian { means, covariance }) }
}

fn columns(priors: &[f64], families: Vec<Family>) -> Densities {
    let marginals = families.into_iter().enumerate().map(|(j, family)| Marginal { columns: vec![j], family }).collect();
    Densities { priors: priors.to_vec(), density: Density::Independent { marginals } }
}

fn standard_error(error: &BayesError) -> f64 {
    match error.method {
        ErrorMethod::MonteCarlo { standard_error, .. } => standard_error,
        ErrorMethod::ClosedForm => panic!("a formula"),
    }
}

#[test]
fn gaussian_densities_by_hand() {
    let own = Covariance::Own(vec![vec![vec![2.0, 1.0], vec![1.0, 3.0]], vec![vec![1.0, 0.0], vec![0.0, 4.0]]]);
    let classes = gaussian(&[0.25, 0.75], vec![vec![1.0, 0.0], vec![0.0, -1.0]], own);
    let row = [2.0, 1.0];
    // Σ₀⁻¹ = [[3, −1], [−1, 2]]/5, so (1,1)Σ₀⁻¹(1,1) = 3/5; r₁² = 4 + 4/4.
    let squares = classes.mahalanobis(&row).expect("Gaussian").expect("distances");
    assert!((squares[0] - 0.6).abs() < 1e-14 && (squares[1] - 5.0).abs() < 1e-14, "{squares:?}");
    let log = classes.log_densities(&row).expect("densities");
    let two_pi = (2.0 * std::f64::consts::PI).ln();
    assert!((log[0] + two_pi + 0.5 * 5f64.ln() + 0.3).abs() < 1e-14);
    assert!((log[1] + two_pi + 0.5 * 4f64.ln() + 2.5).abs() < 1e-14);
    let posterior = classes.posterior(&row).expect("a posterior");
    let odds = 0.25 * log[0].exp() / (0.75 * log[1].exp());
    assert!((posterior[0] / posterior[1] - odds).abs() < 1e-13 * odds);
    let distances = classes.mean_distances().expect("Gaussian").expect("distances");
    // The means differ by (1, 1).
    assert!((distances[0][1] - 0.6f64.sqrt()).abs() < 1e-14 && (distances[1][0] - 1.25f64.sqrt()).abs() < 1e-14);
    assert!(classes.posterior(&[1.0]).is_err());
}

#[test]
fn the_posterior_of_one_covariance_is_a_logistic_function() {
    let shared = vec![vec![2.0, -0.7, 0.1], vec![-0.7, 1.0, 0.3], vec![0.1, 0.3, 0.9]];
    let means = vec![vec![1e3, 0.0, 1.0], vec![1e3 + 1.0, 2.0, 1.0]];
    let classes = gaussian(&[0.3, 0.7], means, Covariance::Shared(shared));
    let form = classes.linear_form().expect("densities").expect("linear");
    let likelihood = Likelihood::new(&classes).expect("densities");
    let (mut draws, mut row) = (Draws::new(1, 0), [0.0; 3]);
    let sampler = Sampler::new(&classes).expect("densities");
    for _ in 0..200 {
        sampler.draw(&mut draws, &mut row);
        let z = form.intercept[0] + row.iter().zip(&form.weights[0]).map(|(x, w)| x * w).sum::<f64>();
        assert!((likelihood.log_odds(&row, 1, 0) - z).abs() < 1e-9, "{z}");
        let p = likelihood.posterior(&row)[1];
        assert!((p - crate::numeric::logistic(z)).abs() < 1e-10);
    }
}

#[test]
fn linear_forms_are_log_odds() {
    let families = vec![
        Family::Gaussian { mean: vec![1.0, -1.0, 0.5], variance: vec![0.5; 3] },
        Family::Bernoulli { p: vec![0.2, 0.9, 0.5] },
        Family::Poisson { rate: vec![0.7, 3.0, 1.0] },
        Family::Exponential { rate: vec![2.0, 0.1, 1.0] },
        Family::Geometric { p: vec![0.3, 0.8, 0.5] },
        Family::Gamma { shape: vec![2.5; 3], rate: vec![1.0, 3.0, 2.0] },
        Family::Binomial { trials: 20, p: vec![0.1, 0.7, 0.4] },
    ];
    let mut classes = columns(&[0.2, 0.5, 0.3], families);
    let Density::Independent { marginals } = &mut classes.density else { panic!("independent") };
    let shares = vec![vec![0.2, 0.8], vec![0.6, 0.4], vec![0.5, 0.5]];
    marginals.push(Marginal { columns: vec![7, 8], family: Family::Categorical { shares: shares.clone() } });
    let counts = Family::Multinomial { shares, mean_total: vec![5.0, 6.0, 7.0] };
    marginals.push(Marginal { columns: vec![9, 10], family: counts });
    let form = classes.linear_form().expect("densities").expect("linear");
    let likelihood = Likelihood::new(&classes).expect("densities");
    let sampler = Sampler::new(&classes).expect("densities");
    let (mut draws, mut row) = (Draws::new(2, 0), [0.0; 11]);
    for _ in 0..100 {
        sampler.draw(&mut draws, &mut row);
        let g = |k: usize| form.intercept[k] + row.iter().zip(&form.weights[k]).map(|(x, w)| x * w).sum::<f64>();
        for k in 1..3 {
            let odds = likelihood.log_odds(&row, k, 0);
            assert!((g(k) - g(0) - odds).abs() < 1e-10 * (1.0 + odds.abs()), "{odds} {}", g(k) - g(0));
        }
    }
    let unequal = columns(&[0.5, 0.5], vec![Family::Gamma { shape: vec![1.0, 2.0], rate: vec![1.0, 1.0] }]);
    assert_eq!(unequal.linear_form().expect("densities"), None);
    let certain = columns(&[0.5, 0.5], vec![Family::Bernoulli { p: vec![0.0, 0.5] }]);
    assert_eq!(certain.linear_form().expect("densities"), None);
}

#[test]
fn constant_columns_tell_nothing() {
    let with = |constant: Vec<Family>| {
        let mut families = vec![Family::Gaussian { mean: vec![0.0, 1.0], variance: vec![2.0; 2] }];
        families.extend(constant);
        columns(&[0.4, 0.6], families)
    };
    let (plain, beside) = (with(vec![]), with(vec![Family::Constant { value: 5.0 }]));
    assert_eq!(plain.bayes_error(0).expect("an error"), beside.bayes_error(0).expect("an error"));
    assert_eq!(plain.posterior(&[0.3]).expect("one"), beside.posterior(&[0.3, 5.0]).expect("one"));
    assert_eq!(beside.linear_form().expect("densities").expect("linear").weights[0][1], 0.0);
    refused(&with(vec![Family::Constant { value: f64::NAN }]), &["column 2", "`value`"]);
    // The same of Gaussian classes with covariances of their own.
    let own = |means: [f64; 2]| {
        let covariance = |v: f64| vec![vec![v, 0.0], vec![0.0, 0.0]];
        let means = means.iter().map(|m| vec![1.0, *m]).collect();
        gaussian(&[0.5, 0.5], means, Covariance::Own(vec![covariance(1.0), covariance(4.0)]))
    };
    let mut row = [0.0; 2];
    Sampler::new(&own([5.0, 5.0])).expect("a constant column").draw(&mut Draws::new(0, 0), &mut row);
    assert_eq!(row[1], 5.0);
    assert!(Sampler::new(&own([5.0, 6.0])).is_err());
}

#[test]
fn probabilities_sum_to_one() {
    let whole = |family: Family, last: u32| {
        let classes = columns(&[0.5, 0.5], vec![family]);
        let likelihood = Likelihood::new(&classes).expect("densities");
        for k in 0..2 {
            let total: f64 = (0..=last).map(|x| likelihood.log_densities(&[f64::from(x)])[k].exp()).sum();
            assert!((total - 1.0).abs() < 1e-12, "{total}");
        }
        assert_eq!(likelihood.log_densities(&[0.5]), [f64::NEG_INFINITY; 2]);
        assert_eq!(likelihood.log_densities(&[-1.0]), [f64::NEG_INFINITY; 2]);
        assert!(likelihood.posterior(&[0.5])[0].is_nan());
    };
    whole(Family::Bernoulli { p: vec![0.2, 1.0] }, 1);
    whole(Family::Poisson { rate: vec![3.5, 20.0] }, 120);
    whole(Family::Geometric { p: vec![0.2, 1.0] }, 400);
    whole(Family::Binomial { trials: 9, p: vec![0.3, 0.0] }, 9);
    // A multinomial given its total of 3.
    let shares = vec![vec![0.2, 0.5, 0.3], vec![1.0, 0.0, 0.0]];
    let family = Family::Multinomial { shares, mean_total: vec![3.0; 2] };
    let marginals = vec![Marginal { columns: vec![0, 1, 2], family }];
    let classes = Densities { priors: vec![0.5, 0.5], density: Density::Independent { marginals } };
    let likelihood = Likelihood::new(&classes).expect("densities");
    let mut totals = [0.0; 2];
    for a in 0..=3 {
        for b in 0..=3 - a {
            let row = [f64::from(a), f64::from(b), f64::from(3 - a - b)];
            likelihood.log_densities(&row).iter().zip(&mut totals).for_each(|(l, t)| *t += l.exp());
        }
    }
    assert!(totals.iter().all(|t| (t - 1.0).abs() < 1e-13), "{totals:?}");
}

#[test]
fn the_closed_bayes_error_agrees_with_drawn_rows() {
    let shared = vec![vec![2.0, -0.7], vec![-0.7, 1.0]];
    for (priors, distance) in [([0.5, 0.5], 1.0), ([0.2, 0.8], 2.0), ([0.9, 0.1], 0.5)] {
        let classes = gaussian(&priors, vec![vec![0.0, 0.0], vec![distance, 0.3]], Covariance::Shared(shared.clone()));
        let exact = classes.bayes_error(0).expect("densities");
        assert_eq!(exact.method, ErrorMethod::ClosedForm);
        let drawn = classes.bayes_error_by_draws(100_000, 7).expect("densities");
        let error = standard_error(&drawn);
        assert!((drawn.value - exact.value).abs() < 4.0 * error, "{drawn:?} {}", exact.value);
        assert!(error > 0.0 && error < 2e-3);
    }
    let same = gaussian(&[0.3, 0.7], vec![vec![1.0]; 2], Covariance::Spherical(2.0));
    assert_eq!(same.bayes_error(0).expect("densities").value, 0.3);
    let independent = columns(
        &[0.4, 0.6],
        vec![
            Family::Gaussian { mean: vec![0.0, 1.0], variance: vec![2.0; 2] },
            Family::Gaussian { mean: vec![3.0, 1.0], variance: vec![0.5; 2] },
        ],
    );
    let matrix = vec![vec![2.0, 0.0], vec![0.0, 0.5]];
    let twin = gaussian(&[0.4, 0.6], vec![vec![0.0, 3.0], vec![1.0, 1.0]], Covariance::Shared(matrix));
    let (a, b) = (independent.bayes_error(0).expect("densities"), twin.bayes_error(0).expect("densities"));
    assert_eq!(a.method, ErrorMethod::ClosedForm);
    assert!((a.value - b.value).abs() < 1e-15);
}

#[test]
fn means_of_many_columns_are_reduced_without_changing_the_error() {
    let shared =
        vec![vec![2.0, -0.7, 0.0, 0.1], vec![-0.7, 1.0, 0.2, 0.0], vec![0.0, 0.2, 1.5, 0.0], vec![0.1, 0.0, 0.0, 3.0]];
    let means = vec![vec![0.0; 4], vec![1.0, 0.5, 0.0, 1.0], vec![2.0, 1.0, 0.0, 2.0]];
    // The three means lie on a line, so that the Gram matrix is singular.
    let classes = gaussian(&[0.3, 0.3, 0.4], means, Covariance::Shared(shared));
    let reduced = classes.bayes_error(1).expect("densities");
    let full = classes.bayes_error_by_draws(200_000, 2).expect("densities");
    let spread = standard_error(&reduced).hypot(standard_error(&full));
    assert!((reduced.value - full.value).abs() < 4.0 * spread, "{reduced:?} {full:?}");
}

#[test]
fn discrete_bayes_errors_are_sums() {
    let classes =
        columns(&[0.35, 0.65], vec![Family::Poisson { rate: vec![2.0, 5.0] }, Family::Bernoulli { p: vec![0.3, 0.6] }]);
    let likelihood = Likelihood::new(&classes).expect("densities");
    let mut exact = 0.0;
    for count in 0..60 {
        for bit in 0..2 {
            let log = likelihood.log_densities(&[f64::from(count), f64::from(bit)]);
            exact += f64::min(0.35 * log[0].exp(), 0.65 * log[1].exp());
        }
    }
    let drawn = classes.bayes_error(3).expect("densities");
    assert!((drawn.value - exact).abs() < 4.0 * standard_error(&drawn), "{drawn:?} {exact}");
}

#[test]
fn totals_do_not_count_in_the_error_of_multinomials() {
    // One kind of thing only: the rule ignores totals and can but guess, however different they are.
    let family = Family::Multinomial { shares: vec![vec![1.0]; 2], mean_total: vec![1.0, 100.0] };
    let marginals = vec![Marginal { columns: vec![0], family }];
    let classes = Densities { priors: vec![0.3, 0.7], density: Density::Independent { marginals } };
    let error = classes.bayes_error(0).expect("densities");
    assert!((error.value - 0.3).abs() < 1e-12);
}

#[test]
fn drawn_errors_depend_on_the_seed_and_nothing_else() {
    let own = Covariance::Own(vec![vec![vec![1.0]], vec![vec![3.0]]]);
    let classes = gaussian(&[0.5, 0.5], vec![vec![0.0], vec![1.0]], own);
    let on = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| classes.bayes_error(seed).expect("densities"))
    };
    assert_eq!(on(1, 4), on(3, 4));
    assert_ne!(on(1, 4).value, on(1, 5).value);
}

#[track_caller]
fn refused(classes: &Densities, said: &[&str]) {
    let error = classes.check(&names(2)).expect_err("no density").to_string();
    said.iter().for_each(|word| assert!(error.contains(word), "{error} lacks `{word}`"));
}

#[test]
fn what_is_no_density_is_named() {
    let means = || vec![vec![0.0, 0.0], vec![1.0, 1.0]];
    let identity = || vec![vec![1.0, 0.0], vec![0.0, 1.0]];
    let good = gaussian(&[0.5, 0.5], means(), Covariance::Shared(identity()));
    assert!(good.check(&names(2)).is_ok());
    assert!(good.check(&names(3)).is_err());
    refused(&gaussian(&[0.5, 0.4], means(), Covariance::Spherical(1.0)), &["sum to 0.9"]);
    refused(&gaussian(&[1.5, -0.5], means(), Covariance::Spherical(1.0)), &["positive"]);
    refused(&gaussian(&[0.5, f64::NAN], means(), Covariance::Spherical(1.0)), &["positive"]);
    refused(&gaussian(&[0.5, 0.5], means(), Covariance::Spherical(0.0)), &["variance is 0"]);
    refused(
        &gaussian(&[0.5, 0.5], vec![vec![0.0, 0.0], vec![1.0]], Covariance::Spherical(1.0)),
        &["`c1` has 1 numbers"],
    );
    refused(&gaussian(&[0.5, 0.5], vec![vec![0.0]; 3], Covariance::Spherical(1.0)), &["3 means for 2"]);
    let infinite = vec![vec![0.0, f64::INFINITY], vec![1.0, 1.0]];
    refused(&gaussian(&[0.5, 0.5], infinite, Covariance::Spherical(1.0)), &["`c0`", "column 2"]);
    let crooked = Covariance::Shared(vec![vec![1.0, 0.5], vec![0.4, 1.0]]);
    refused(&gaussian(&[0.5, 0.5], means(), crooked), &["not symmetric", "(2, 1) is 0.4", "(1, 2) is 0.5"]);
    let wide = Covariance::Shared(vec![vec![1.0, 0.0, 0.0]; 2]);
    refused(&gaussian(&[0.5, 0.5], means(), wide), &["2 × 3, not 2 × 2"]);
    let negative = Covariance::Own(vec![identity(), vec![vec![1.0, 2.0], vec![2.0, 1.0]]]);
    refused(&gaussian(&[0.5, 0.5], means(), negative.clone()), &["class `c1`", "not positive definite at column 2"]);
    assert!(Sampler::new(&gaussian(&[0.5, 0.5], means(), negative)).is_err());
    let below = Covariance::Shared(vec![vec![1.0, 0.0], vec![0.0, -1.0]]);
    refused(&gaussian(&[0.5, 0.5], means(), below), &["not positive definite at column 2"]);
    let flat = Covariance::Shared(vec![vec![1.0, 1.0], vec![1.0, 1.0]]);
    refused(&gaussian(&[0.5, 0.5], means(), flat.clone()), &["singular", "column 2"]);
    assert!(Sampler::new(&gaussian(&[0.5, 0.5], means(), flat.clone())).is_ok());
    let own_flat = Covariance::Own(vec![identity(), vec![vec![1.0, 1.0], vec![1.0, 1.0]]]);
    assert!(Sampler::new(&gaussian(&[0.5, 0.5], means(), own_flat)).is_err());
}

#[test]
fn parameters_out_of_range_are_named() {
    let one = |family: Family| columns(&[0.5, 0.5], vec![family]);
    refused(&one(Family::Poisson { rate: vec![1.0, -1.0] }), &["column 1", "`rate` of class `c1` is -1"]);
    refused(&one(Family::Poisson { rate: vec![1.0] }), &["1 numbers for 2 classes"]);
    refused(&one(Family::Bernoulli { p: vec![1.2, 0.5] }), &["`p` of class `c0` is 1.2", "from 0 to 1"]);
    refused(&one(Family::Geometric { p: vec![0.0, 0.5] }), &["above 0"]);
    refused(&one(Family::Gamma { shape: vec![1.0, 1.0], rate: vec![0.0, 1.0] }), &["`rate`", "positive"]);
    refused(&one(Family::Gaussian { mean: vec![0.0, f64::NAN], variance: vec![1.0; 2] }), &["`mean` of class `c1`"]);
    refused(&one(Family::Binomial { trials: 0, p: vec![0.5; 2] }), &["0 trials"]);
    refused(&one(Family::Categorical { shares: vec![vec![1.0], vec![0.9]] }), &["class `c1` are no probabilities"]);
    let twice = Density::Independent {
        marginals: vec![Marginal { columns: vec![0], family: Family::Poisson { rate: vec![1.0; 2] } }; 2],
    };
    refused(&Densities { priors: vec![0.5, 0.5], density: twice }, &["column 1 has two distributions"]);
    let gap = Density::Independent {
        marginals: vec![Marginal { columns: vec![3], family: Family::Poisson { rate: vec![1.0; 2] } }],
    };
    refused(&Densities { priors: vec![0.5, 0.5], density: gap }, &["no distribution"]);
}

#[test]
fn parameters_come_back_from_their_file() {
    let families = vec![Family::Poisson { rate: vec![0.1, 3.0] }, Family::Binomial { trials: 4, p: vec![0.25, 0.5] }];
    for densities in [
        columns(&[0.3, 0.7], families),
        gaussian(&[0.5, 0.5], vec![vec![0.1], vec![1.0 / 3.0]], Covariance::Spherical(0.7)),
        gaussian(
            &[0.5, 0.5],
            vec![vec![0.1], vec![1.0 / 3.0]],
            Covariance::Own(vec![vec![vec![2.0]], vec![vec![0.3]]]),
        ),
    ] {
        let features = default_features(densities.n_features());
        let written = Parameters::of(&densities, &names(2), &features);
        let text = serde_json::to_string(&written).expect("text");
        let read = Parameters::from_json(text.as_bytes(), "p.json").expect("the same");
        assert_eq!((read.densities().expect("densities"), &read.classes), (densities, &names(2)));
    }
    for (text, said) in [
        ("{}", "no means"),
        ("[1", "no file of parameters"),
        (r#"{"means": [[0], [1]]}"#, "besides the means there is nothing"),
        (r#"{"means": [[0], [1]], "variance": 1, "covariance": [[1]]}"#, "covariance and variance"),
        (r#"{"means": [[0], [1]], "variance": 1, "features": ["a", "b"]}"#, "2 names of features for 1"),
        (r#"{"means": [[0], [1]], "variance": 1, "classes": ["a", "a"]}"#, "two times the class `a`"),
        (r#"{"means": [[0], [1]], "variance": 1, "priors": [0.5, 0.2]}"#, "sum to 0.7"),
        (r#"{"marginals": [{"columns": [0], "family": "poisson", "rate": [1, 2]}]}"#, "how many classes"),
    ] {
        let error = Parameters::from_json(text.as_bytes(), "p.json").expect_err("refused").to_string();
        assert!(error.contains(said) && error.contains("p.json"), "{error} lacks `{said}`");
    }
}

//! Bootstraps and permutation tests: their level by simulation, what they refuse, and the same bits for any number of threads.

use linsep::design::Standardize;
use linsep::infer::CovarianceKind;
use linsep::model::{
    Algorithm, Fit, GaussianBayes, HardMarginSettings, LeastSquaresSettings, LossChoice, Method, PenaltyChoice,
    RiskMinimizer,
};
use linsep::read::{ReadOptions, read_bytes};
use linsep::table::Table;
use linsep::watch::Watch;
use linsep::workflow::{
    BootstrapOptions, FitOptions, InferOptions, PermutationStatistic, TableBootstrap, bootstrap_table, infer_table,
    permutation_test,
};
use rayon::prelude::*;
use testkit::data::Source;

/// Two overlapping classes of two columns, `delta` apart in the first.
fn table(source: &mut Source, rows: usize, delta: f64) -> Table {
    let mut csv = String::from("a,b,y\n");
    for i in 0..rows {
        let second = i % 2 == 0;
        let x = source.normal() + if second { delta } else { 0.0 };
        csv.push_str(&format!("{x},{},{}\n", source.normal(), if second { "yes" } else { "no" }));
    }
    read_bytes(csv.as_bytes(), "rows.csv", &ReadOptions::default()).expect("a table")
}

fn risk(change: impl FnOnce(&mut RiskMinimizer)) -> Method {
    let mut method = RiskMinimizer::default();
    change(&mut method);
    Method::Risk(method)
}

fn bootstrap(table: Table, options: &FitOptions, asked: &BootstrapOptions) -> TableBootstrap {
    match bootstrap_table(table, options, asked, &Watch::default()).expect("a bootstrap") {
        Fit::Model(found) => *found,
        Fit::Refused(refusal) => panic!("{refusal:?}"),
    }
}

/// With many rows and no penalty, the spread of the replicates is that of the sandwich.
#[test]
fn standard_errors_tend_to_those_of_the_sandwich() {
    let table = table(&mut Source::new(1), 1500, 1.0);
    let mut asked = InferOptions::new("y");
    asked.inference.covariance = CovarianceKind::Hc0;
    let Fit::Model(robust) = infer_table(table.clone(), &asked, &Watch::default()).expect("an answer").answer else {
        panic!("the rows overlap")
    };
    let options = FitOptions::new("y", risk(|m| m.penalty = PenaltyChoice::None));
    let found = bootstrap(table, &options, &BootstrapOptions { replicates: 1999, level: 0.95 });
    assert_eq!((found.separated, found.without_class, found.unconverged), (0, 0, 0));
    for (name, golden) in [("(intercept)", &robust.coefficients[0]), ("a", &robust.coefficients[1])] {
        let own = found.coefficients.iter().find(|c| c.name == name).expect("a coefficient");
        let line = own.line.as_ref().expect("intervals");
        assert!((own.estimate - golden.estimate).abs() < 1e-6);
        // 1,999 replicates give the spread to about 1.6 %.
        let ratio = line.se.expect("a spread") / golden.error;
        assert!((ratio - 1.0).abs() < 0.08, "{name}: {ratio}");
        let bca = line.bca.expect("an interval");
        assert!((bca.0 - golden.low).abs() < 0.35 * golden.error && (bca.1 - golden.high).abs() < 0.35 * golden.error);
    }
}

/// The intervals of a ridge fit cover what the same penalty gives on the whole population, and not the unpenalised coefficient.
#[test]
fn intervals_cover_the_penalised_target() {
    let ridge =
        || Method::LeastSquares(LeastSquaresSettings { penalty: PenaltyChoice::Ridge(1.0), ..Default::default() });
    let options = |seed: u64| FitOptions { seed, ..FitOptions::new("y", ridge()) };
    let population = bootstrap(
        table(&mut Source::new(9), 60_000, 1.5),
        &options(0),
        &BootstrapOptions { replicates: 19, level: 0.9 },
    );
    let target = population.coefficients[0].estimate;
    let repetitions = 300;
    let one = |seed: u64| {
        let rows = table(&mut Source::new(7000 + seed), 60, 1.5);
        let found = bootstrap(rows, &options(seed), &BootstrapOptions { replicates: 199, level: 0.9 });
        let line = found.coefficients[0].line.clone().expect("intervals");
        let bca = line.bca.expect("an interval");
        let within = |(low, high): (f64, f64), truth: f64| low <= truth && truth <= high;
        (within(line.percentile, target), within(bca, target), within(line.percentile, 2.0 * target))
    };
    let all: Vec<(bool, bool, bool)> = (0..repetitions).into_par_iter().map(one).collect();
    let share =
        |hit: &dyn Fn(&(bool, bool, bool)) -> bool| all.iter().filter(|c| hit(c)).count() as f64 / repetitions as f64;
    // 0.9 with a standard error of 0.017, and a little less for few rows.
    for found in [share(&|c| c.0), share(&|c| c.1)] {
        assert!((0.82..0.96).contains(&found), "{found}");
    }
    assert!(share(&|c| c.2) < 0.2, "twice the penalised coefficient is something else");
}

/// Fits of a ridge are made many at a time; with a named solver one by one. Both are the same optima.
#[test]
fn replicates_made_together_are_those_made_one_by_one() {
    let mut source = Source::new(11);
    let mut csv = String::from("a,b,c,s,y\n");
    for i in 0..150 {
        let a = 100.0 + 3.0 * source.normal();
        let numbers = (source.normal() * 1e-3, source.below(4), 1 + source.below(3));
        let yes = a - 100.0 + 2.0 * source.normal() > 0.3 * f64::from(i % 3 == 0);
        csv.push_str(&format!("{a},{},{},{},{}\n", numbers.0, numbers.1, numbers.2, if yes { "yes" } else { "no" }));
    }
    let table = read_bytes(csv.as_bytes(), "rows.csv", &ReadOptions::default()).expect("a table");
    let asked = BootstrapOptions { replicates: 99, level: 0.9 };
    for (penalty, standardize, weighted) in [
        (PenaltyChoice::RidgeOne, Standardize::Yes, false),
        (PenaltyChoice::Ridge(0.02), Standardize::Yes, true),
        (PenaltyChoice::RidgeCost(0.5), Standardize::No, false),
    ] {
        let with = |algorithm: Algorithm| {
            // As far as the solver goes: at its default it leaves the sixth digit open.
            let method = risk(|m| {
                (m.penalty, m.standardize, m.algorithm, m.tolerance) = (penalty, standardize, algorithm, 1e-13);
            });
            let mut options = FitOptions { seed: 4, ..FitOptions::new("y", method) };
            match weighted {
                true => options.weights = Some("s".into()),
                false => options.recipe.exclude.push("s".into()),
            }
            bootstrap(table.clone(), &options, &asked)
        };
        let (together, apart) = (with(Algorithm::Auto), with(Algorithm::Newton));
        assert_eq!(together.replicates, apart.replicates);
        for (one, other) in together.coefficients.iter().zip(&apart.coefficients) {
            let lines = (one.line.as_ref().expect("a line"), other.line.as_ref().expect("a line"));
            let unit = lines.1.se.expect("a spread");
            let (p, q) = (lines.0.percentile, lines.1.percentile);
            let (b, c) = (lines.0.bca.expect("bca"), lines.1.bca.expect("bca"));
            for (found, expected) in [(p.0, q.0), (p.1, q.1), (b.0, c.0), (b.1, c.1)] {
                // Ends beyond all replicates are infinite.
                assert!(
                    found == expected || (found - expected).abs() <= 1e-4 * unit,
                    "{}: {found} and {expected}",
                    one.name
                );
            }
        }
    }
}

#[test]
fn the_answer_does_not_depend_on_the_threads() {
    let rows = table(&mut Source::new(5), 80, 1.0);
    let methods = [
        risk(|_| {}),
        risk(|m| m.loss = LossChoice::Hinge),
        Method::Gaussian(GaussianBayes::lda()),
        risk(|m| m.penalty = PenaltyChoice::ElasticNet { l1_ratio: 1.0, lambda: Some(0.05), cost: None }),
    ];
    for method in methods {
        let options = FitOptions { seed: 3, ..FitOptions::new("y", method) };
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                let found = bootstrap(rows.clone(), &options, &BootstrapOptions { replicates: 39, level: 0.9 });
                let statistic = PermutationStatistic::HeldOutError { folds: 3 };
                let test =
                    permutation_test(rows.clone(), &options, (statistic, 19), &Watch::default()).expect("a test");
                (found.coefficients, test.permuted)
            })
        };
        assert_eq!(with(1), with(4));
    }
}

/// Replicates whose rows are separated have no estimate; they widen both ends.
#[test]
fn separated_replicates_are_counted() {
    let csv = "x,y\n1,no\n2,no\n3,no\n4,yes\n5,no\n6,yes\n7,yes\n8,yes\n9,yes\n2.5,no\n";
    let rows = read_bytes(csv.as_bytes(), "rows.csv", &ReadOptions::default()).expect("a table");
    let options = FitOptions::new("y", risk(|m| m.penalty = PenaltyChoice::None));
    let found = bootstrap(rows.clone(), &options, &BootstrapOptions { replicates: 199, level: 0.9 });
    // One of the two rows that overlap is missing in more than half of the replicates.
    assert!(found.separated > 60, "{}", found.separated);
    let line = found.coefficients[0].line.as_ref().expect("intervals");
    assert_eq!(line.percentile, (f64::NEG_INFINITY, f64::INFINITY));
    assert_eq!((line.se, line.bias), (None, None));
    let ridge = FitOptions::new("y", risk(|_| {}));
    let found = bootstrap(rows, &ridge, &BootstrapOptions { replicates: 199, level: 0.9 });
    assert_eq!(found.separated, 0);
    assert!(found.coefficients[0].line.as_ref().is_some_and(|l| l.percentile.0 > 0.0 && l.percentile.1.is_finite()));
}

#[test]
fn a_lasso_has_shares_of_selection_and_no_intervals() {
    let rows = table(&mut Source::new(2), 120, 2.0);
    let lasso = risk(|m| m.penalty = PenaltyChoice::ElasticNet { l1_ratio: 1.0, lambda: Some(0.1), cost: None });
    let found = bootstrap(rows, &FitOptions::new("y", lasso), &BootstrapOptions { replicates: 99, level: 0.9 });
    assert!(found.coefficients.iter().all(|c| c.line.is_none()));
    let of = |name: &str| found.coefficients.iter().find(|c| c.name == name).expect("a coefficient").clone();
    assert_eq!((of("a").selected, of("a").same_sign), (Some(1.0), Some(1.0)));
    assert!(of("b").selected.is_some_and(|s| s < 0.5));
    assert_eq!(of("(intercept)").selected, None);
}

/// Where columns and classes are independent, `P(p ≤ α) = α` at the levels that the permutations have, for a method with folds.
#[test]
fn permutation_tests_keep_their_level() {
    let repetitions = 600;
    let one = |seed: u64| {
        let rows = table(&mut Source::new(3000 + seed), 16, 0.0);
        let options = FitOptions { seed, ..FitOptions::new("y", Method::Gaussian(GaussianBayes::lda())) };
        let statistic = PermutationStatistic::HeldOutError { folds: 4 };
        permutation_test(rows, &options, (statistic, 19), &Watch::default()).expect("a test").p
    };
    let p: Vec<f64> = (0..repetitions).into_par_iter().map(one).collect();
    for level in [0.05, 0.2, 0.5] {
        let found = p.iter().filter(|p| **p <= level + 1e-12).count() as f64 / repetitions as f64;
        let error = (level * (1.0 - level) / repetitions as f64).sqrt();
        // The error of 16 rows has ties, which make it conservative.
        assert!(found < level + 4.0 * error && found > 0.3 * level, "{found} at {level}");
    }
}

#[test]
fn separable_rows_have_the_smallest_p_value() {
    let rows = table(&mut Source::new(4), 40, 8.0);
    let options = FitOptions::new("y", risk(|_| {}));
    let statistic = PermutationStatistic::HeldOutError { folds: 5 };
    let found = permutation_test(rows.clone(), &options, (statistic, 99), &Watch::default()).expect("a test");
    assert_eq!((found.observed, found.as_good, found.p), (0.0, 0, 0.01));
    let hard = FitOptions::new("y", Method::HardMargin(HardMarginSettings::default()));
    let found = permutation_test(rows, &hard, (PermutationStatistic::Margin, 99), &Watch::default()).expect("a test");
    assert!(found.observed > 0.5 && found.p == 0.01, "{found:?}");
    assert!(found.permuted.iter().all(|m| *m == 0.0));
}

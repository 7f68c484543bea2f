//! Which coefficients diverge, and which way, against the twin that lists every extreme direction in whole numbers: no disagreement,
//! whatever the units of the columns and how near they are to each other.

use linsep::design::Training;
use linsep::model::{Fit, Method, PenaltyChoice, Refusal, RiskMinimizer};
use linsep::separate::{
    CoefficientLimit, CoefficientLimits, SeparabilityOptions, Verdict, coefficient_limits, separability,
};
use std::collections::BTreeMap;
use testkit::data::{Data, Source, labels};
use testkit::exact::coefficient_moves;

/// What the twin says of a coefficient.
fn expected(moved: Option<(bool, bool)>) -> CoefficientLimit {
    match moved {
        None => CoefficientLimit::Collinear,
        Some((false, false)) => CoefficientLimit::Finite,
        Some((true, false)) => CoefficientLimit::PlusInfinity,
        Some((false, true)) => CoefficientLimit::MinusInfinity,
        Some((true, true)) => CoefficientLimit::EitherInfinity,
    }
}

fn same_limits(found: &CoefficientLimits, moves: &[Vec<Option<(bool, bool)>>], what: &str) {
    for (score, moves) in moves.iter().enumerate() {
        let all: Vec<CoefficientLimit> = moves[1..].iter().copied().map(expected).collect();
        assert_eq!(found.weights[score], all, "{what}: score {score}");
        if let Some(intercept) = found.intercepts.get(score) {
            assert_eq!(*intercept, expected(moves[0]), "{what}: intercept {score}");
        }
    }
}

/// Compares everything that is said of a table; the name of its verdict.
fn agrees(data: &Data, what: &str) -> &'static str {
    let design = data.dense();
    let mut training = Training::new(&design, &data.labels);
    training.weights = data.weights.as_deref();
    let watch = Default::default();
    let found = separability(&training, &SeparabilityOptions::default(), &watch).expect("good data");
    let moves = coefficient_moves(data, true);
    let some = |j: usize, test: &dyn Fn((bool, bool)) -> bool| moves.iter().any(|m| m[j].is_some_and(test));
    let diverging: Vec<usize> = (0..data.cols).filter(|j| some(j + 1, &|(up, down)| up || down)).collect();
    let collinear: Vec<usize> = (0..data.cols).filter(|j| moves[0][j + 1].is_none()).collect();
    match &found.verdict {
        Verdict::QuasiComplete(v) => {
            assert_eq!(v.collinear.as_ref(), Some(&collinear), "{what}: collinear");
            assert_eq!(v.columns.as_ref(), Some(&diverging), "{what}: diverging");
            assert_eq!(v.intercept_diverges, some(0, &|(up, down)| up || down), "{what}: intercept");
            let limits = coefficient_limits(&training, &v.pairs, None, &watch).expect("good data").expect("small");
            same_limits(&limits, &moves, what);
        }
        Verdict::Complete(_) => {
            let limits = coefficient_limits(&training, &[], None, &watch).expect("good data").expect("small");
            same_limits(&limits, &moves, what);
            // Without a boundary nothing has a limit.
            assert_eq!(diverging.len() + collinear.len(), data.cols, "{what}");
        }
        Verdict::Overlap(_) => assert!(diverging.is_empty(), "{what}"),
        Verdict::Undecided(v) => panic!("{what}: {}", v.reason),
    }
    found.verdict.name()
}

/// Columns of many kinds, few at a time, beside what makes them dependent; labels that some column tells apart where it is large.
fn drawn(source: &mut Source) -> Data {
    let classes = if source.chance(0.25) { 3 } else { 2 };
    let most = if classes == 3 { 1 } else { 3 };
    let cols = 1 + source.below(most);
    let rows = classes + 3 + source.below(7);
    let kinds: Vec<usize> = (0..cols).map(|_| source.below(3)).collect();
    let (mut values, mut codes) = (Vec::new(), Vec::new());
    for i in 0..rows {
        for kind in &kinds {
            values.push(match kind {
                0 => source.below(5) as f64 - 2.0,
                1 => f64::from(u8::from(source.chance(0.3))),
                _ => source.below(3) as f64,
            });
        }
        let last = values[i * cols];
        let code = if source.chance(0.5) && last > 0.0 { classes - 1 } else { source.below(classes) };
        codes.push(if i < classes { i } else { code });
    }
    let mut data = Data::new(values, cols, labels(codes, classes));
    match source.below(5) {
        0 => data = data.with_column(|_, x| 3.0 * x[0] - 1.0),
        1 => data = data.with_column(|_, _| 7.0),
        2 => data = data.with_column(|_, x| x.iter().sum()).with_column(|_, x| x[0]),
        _ => {}
    }
    data
}

#[test]
fn small_whole_tables() {
    let mut source = Source::new(61);
    let mut seen = BTreeMap::new();
    for case in 0..900 {
        let data = drawn(&mut source);
        *seen.entry(agrees(&data, &format!("case {case}"))).or_insert(0) += 1;
    }
    assert!(seen["quasi-complete"] > 200 && seen["complete"] > 100, "{seen:?}");
}

#[test]
fn units_far_apart_and_rows_without_weight() {
    let mut source = Source::new(62);
    let mut seen = BTreeMap::new();
    for case in 0..240 {
        let plain = drawn(&mut source);
        // Rounded once; the twin reads the doubles that come out.
        let mut data = plain.map(|j, x| x * [1e100, 1e-100, 0.1, 1.0][(j + case) % 4] + [0.0, 0.0, 1e3, 0.0][case % 4]);
        if case % 3 == 0 {
            let classes = data.labels.n_classes();
            let weight = |i: usize, source: &mut Source| f64::from(u8::from(i < classes || source.chance(0.8)));
            data = data.weighted((0..data.rows()).map(|i| weight(i, &mut source)).collect());
        }
        *seen.entry(agrees(&data, &format!("case {case}"))).or_insert(0) += 1;
    }
    assert!(seen["quasi-complete"] > 40, "{seen:?}");
}

#[test]
fn columns_that_are_nearly_equal() {
    let mut source = Source::new(63);
    let mut seen = BTreeMap::new();
    for case in 0..120 {
        let plain = drawn(&mut source);
        let small = 2f64.powi(-10 - 4 * (case % 10));
        // a and a + ε·(something of few rows), exact: they are different columns, however little.
        let (at, rows) = (source.below(plain.rows()), plain.rows());
        let data = match plain.labels.n_classes() {
            2 => plain.with_column(|i, x| x[0] + if i == at || i == (at + 3) % rows { small } else { 0.0 }),
            _ => plain,
        };
        if data.cols <= 5 {
            *seen.entry(agrees(&data, &format!("case {case}, {small:e}"))).or_insert(0) += 1;
        }
    }
    assert!(seen["quasi-complete"] > 20, "{seen:?}");
}

/// Without an intercept: planes through a centre.
#[test]
fn planes_through_a_centre() {
    let mut source = Source::new(64);
    let mut seen = BTreeMap::new();
    for case in 0..300 {
        let data = drawn(&mut source);
        let centre: Vec<f64> = (0..data.cols).map(|j| [0.0, 1.0, -0.5][(case + j) % 3]).collect();
        let about = data.map(|j, x| x - centre[j]);
        let moves = coefficient_moves(&about, false);
        let strict = testkit::exact::strict_constraints_of(&about, false);
        let per_row = data.labels.n_classes() - 1;
        let pairs: Vec<(usize, usize)> = (0..strict.len())
            .filter(|c| !strict[*c])
            .map(|c| {
                let own = data.class(c / per_row);
                (c / per_row, (0..=per_row).filter(|k| *k != own).nth(c % per_row).expect("a class"))
            })
            .collect();
        let design = data.dense();
        let limits =
            coefficient_limits(&Training::new(&design, &data.labels), &pairs, Some(&centre), &Default::default())
                .expect("good data")
                .expect("small");
        assert!(limits.intercepts.is_empty());
        same_limits(&limits, &moves, &format!("case {case}"));
        *seen.entry(strict.contains(&false) && strict.contains(&true)).or_insert(0) += 1;
    }
    assert!(seen[&true] > 30, "{seen:?}");
}

/// A fit without a penalty names the same columns.
#[test]
fn what_a_fit_names() {
    let mut source = Source::new(65);
    let mut named = 0;
    for case in 0..120 {
        let data = drawn(&mut source);
        let design = data.dense();
        let method = Method::Risk(RiskMinimizer { penalty: PenaltyChoice::None, ..RiskMinimizer::default() });
        let fit = method.fit(&Training::new(&design, &data.labels), &Default::default());
        let Ok(Fit::Refused(Refusal::NoOptimum(found))) = fit else { continue };
        let moves = coefficient_moves(&data, true);
        let diverges = |j: usize| moves.iter().any(|m| m[j].is_some_and(|(up, down)| up || down));
        let mut columns = found.columns.clone().expect("small");
        columns.sort_unstable();
        assert_eq!(columns, (0..data.cols).filter(|j| diverges(j + 1)).collect::<Vec<usize>>(), "case {case}");
        assert_eq!(found.intercept_diverges, diverges(0), "case {case}");
        named += 1;
    }
    assert!(named > 50, "{named}");
}

/// A table of some hundred rows and dozens of columns that are real numbers: the answer is known by construction.
#[test]
fn a_larger_table_of_real_numbers() {
    let mut source = Source::new(66);
    for (rows, cols) in [(300, 12), (400, 30)] {
        // The first column is 1 for some rows of the second class alone; the last one is the sum of two whole ones.
        let (mut values, mut codes) = (Vec::new(), Vec::new());
        for i in 0..rows {
            let rare = i % 10 == 0;
            let x: Vec<f64> = (1..cols).map(|_| source.normal()).collect();
            let class = if rare { 1 } else { source.below(2) };
            values.push(f64::from(u8::from(rare)));
            values.extend(x);
            codes.push(class);
        }
        let data = Data::new(values, cols, labels(codes, 2)).with_column(|_, x| 1.0 - x[0]);
        let design = data.dense();
        let training = Training::new(&design, &data.labels);
        let found = separability(&training, &SeparabilityOptions::default(), &Default::default()).expect("good data");
        let Verdict::QuasiComplete(v) = &found.verdict else { panic!("{rows}×{cols}: {:?}", found.verdict) };
        assert_eq!((v.columns.as_deref(), v.collinear.as_deref()), (Some(&[0][..]), Some(&[cols][..])));
        assert!(!v.intercept_diverges);
        let limits =
            coefficient_limits(&training, &v.pairs, None, &Default::default()).expect("good data").expect("small");
        assert_eq!(limits.weights[0][0], CoefficientLimit::PlusInfinity);
        assert!(limits.weights[0][1..cols].iter().all(|l| *l == CoefficientLimit::Finite));
    }
}

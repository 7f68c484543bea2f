//! Verdicts of separability against the twin that lists every direction in whole numbers: whatever the margins, the outliers and
//! how near columns are to each other, no verdict may be wrong; and none of these small tables may be left undecided.

use linsep::design::Training;
use linsep::model::{Fit, HardMarginSettings, Method, Refusal};
use linsep::separate::{SeparabilityOptions, Verdict, separability};
use linsep::table::Labels;
use testkit::data::{Data, Source, labels};
use testkit::exact::{strict_constraints, true_verdict};

/// The verdict, which must be that of the twin, row by row on the boundary.
fn agrees(data: &Data, what: &str) -> &'static str {
    let design = data.dense();
    let found =
        separability(&Training::new(&design, &data.labels), &SeparabilityOptions::default(), &Default::default())
            .expect("good data");
    assert_eq!(found.verdict.name(), true_verdict(data), "{what}: {:?}", found.verdict);
    match &found.verdict {
        Verdict::Complete(v) => assert!(v.margin > 0.0 && v.exact == Some(true), "{what}: {}", v.margin),
        Verdict::QuasiComplete(v) => {
            let strict = strict_constraints(data);
            let per_row = data.labels.n_classes() - 1;
            let on_it = |i: &usize| strict[i * per_row..(i + 1) * per_row].contains(&false);
            assert_eq!(v.boundary, (0..data.rows()).filter(on_it).collect::<Vec<usize>>(), "{what}");
        }
        _ => {}
    }
    found.verdict.name()
}

/// Forty rows that b − a separates, and that nothing else does.
fn hidden(relative: f64, seed: u64) -> Data {
    let mut source = Source::new(seed);
    let (mut values, mut codes) = (Vec::new(), Vec::new());
    for i in 0..40 {
        let (a, class) = (source.normal(), i % 2);
        let side = if class == 1 { 1.0 } else { -1.0 };
        values.extend([a, a + relative * side * source.uniform(0.5, 1.5)]);
        codes.push(class);
    }
    Data::new(values, 2, labels(codes, 2))
}

#[test]
fn columns_that_are_nearly_equal() {
    let mut seen = std::collections::BTreeMap::new();
    for seed in 0..8 {
        for exponent in 1..=17 {
            let data = hidden(10f64.powi(-exponent), seed);
            let verdict = agrees(&data, &format!("1e-{exponent}, seed {seed}"));
            *seen.entry(verdict).or_insert(0) += 1;
            assert!(exponent > 14 || verdict == "complete", "1e-{exponent}, seed {seed}: {verdict}");
        }
    }
    assert!(seen["complete"] >= 112, "{seen:?}");
}

#[test]
fn a_column_and_a_little_of_a_separating_one() {
    let mut source = Source::new(4);
    for k in 0..=50 {
        let (mut values, mut codes) = (Vec::new(), Vec::new());
        for i in 0..30 {
            // Whole numbers so small that a + 2⁻ᵏe is exact.
            let (a, class) = (source.below(8) as f64 / 4.0, i % 2);
            values.extend([a, a + 2f64.powi(-k) * class as f64, source.normal()]);
            codes.push(class);
        }
        let data = Data::new(values, 3, labels(codes, 2));
        assert_eq!(agrees(&data, &format!("2^-{k}")), "complete");
    }
}

#[test]
fn margins_down_to_rounding() {
    let mut source = Source::new(5);
    let mut seen = std::collections::BTreeMap::new();
    for case in 0..220 {
        let margin = 10f64.powi(-6 - case % 11);
        let normal = [source.normal(), source.normal()];
        let far = [0.0, 1.0, 1e3][case as usize % 3];
        let (mut values, mut codes) = (Vec::new(), Vec::new());
        for i in 0..24 {
            let (t, class) = (source.normal(), i % 2);
            let side = if class == 1 { margin } else { -margin };
            let side = side * (1.0 + source.uniform(0.0, 1.0));
            let length = (normal[0] * normal[0] + normal[1] * normal[1]).sqrt();
            values.extend([
                far + t * normal[1] / length + side * normal[0] / length,
                -t * normal[0] / length + side * normal[1] / length,
            ]);
            codes.push(class);
        }
        let data = Data::new(values, 2, labels(codes, 2));
        *seen.entry(agrees(&data, &format!("case {case}, margin {margin:e}"))).or_insert(0) += 1;
    }
    assert!(seen["complete"] > 100 && seen["overlap"] > 5, "{seen:?}");
}

#[test]
fn outliers() {
    let mut source = Source::new(6);
    let mut seen = std::collections::BTreeMap::new();
    for case in 0..150 {
        let size = 10f64.powi(5 + case % 10);
        let (mut values, mut codes) = (Vec::new(), Vec::new());
        let shift = if case % 2 == 0 { 0.0 } else { 2.5 };
        for i in 0..30 {
            let class = i % 2;
            values.extend([source.normal() + shift * class as f64, source.normal()]);
            codes.push(class);
        }
        for at in [0, 3][..1 + case as usize % 2].iter() {
            values[2 * at + case as usize % 2] = size * if source.chance(0.5) { 1.0 } else { -1.0 };
        }
        let data = Data::new(values, 2, labels(codes, 2));
        *seen.entry(agrees(&data, &format!("case {case}, {size:e}"))).or_insert(0) += 1;
    }
    assert!(seen["overlap"] > 50, "{seen:?}");
}

#[test]
fn tiny_whole_tables() {
    let mut source = Source::new(7);
    let mut seen = std::collections::BTreeMap::new();
    for case in 0..4_000 {
        let classes = if case % 4 == 3 { 3 } else { 2 };
        let cols = if classes == 3 { 1 + source.below(2) } else { 1 + source.below(3) };
        let rows = classes + source.below(8);
        let range = 2 + source.below(4);
        let scale = [1.0, 0.1, 1e9][case % 3];
        let shift = [0.0, 0.0, 1e9, 1e5][case % 4];
        let values = (0..rows * cols).map(|_| (source.below(range) as f64 - 1.0) * scale + shift).collect();
        let codes = (0..rows).map(|i| if i < classes { i } else { source.below(classes) }).collect();
        let data = Data::new(values, cols, labels(codes, classes));
        *seen.entry(agrees(&data, &format!("case {case}"))).or_insert(0) += 1;
    }
    assert!(seen.values().all(|n| *n > 200) && seen.len() == 3, "{seen:?}");
}

#[test]
fn constant_repeated_and_dependent_columns() {
    let mut source = Source::new(8);
    for case in 0..300 {
        let rows = 6 + source.below(10);
        let values = (0..rows * 2).map(|_| source.below(4) as f64).collect();
        let codes = (0..rows).map(|i| i % 2).collect();
        let data = Data::new(values, 2, labels(codes, 2));
        let plain = true_verdict(&data);
        let wide = data.with_column(|_, x| 3.0 * x[0] - x[1]).with_column(|_, _| 7.0).with_column(|_, x| x[1]);
        assert_eq!(agrees(&wide, &format!("case {case}")), plain, "case {case}");
    }
}

/// No hard margin is denied to rows that have one, however small.
#[test]
fn the_hard_margin_of_columns_that_are_nearly_equal() {
    for exponent in [5, 7, 9, 11, 13] {
        let data = hidden(10f64.powi(-exponent), 3);
        let design = data.dense();
        let names = Labels::from_names((0..data.rows()).map(|i| if data.class(i) == 1 { "b" } else { "a" }));
        let fit =
            Method::HardMargin(HardMarginSettings::default()).fit(&Training::new(&design, &names), &Default::default());
        assert!(!matches!(fit, Ok(Fit::Refused(Refusal::NotSeparable(_)))), "1e-{exponent}");
    }
}

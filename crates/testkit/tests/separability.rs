//! Whether planes separate the classes: verdicts against arrangements known by construction, against a linear program and on
//! data sets whose verdict is published; witnesses are checked here by arithmetic of their own.

use linsep::design::Training;
use linsep::design::{CsrMatrix, Design};
use linsep::separate::{
    CommonPoint, Complete, QuasiComplete, SeparabilityOptions, SeparabilityVerdict, Verdict, separability,
};
use linsep::table::Labels;
use testkit::cone::separating_slack;
use testkit::data::{Arrangement, Data, Source, arranged, labels};
use testkit::golden::Frame;
use testkit::{assert_all_near, assert_near};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Complete,
    Quasi,
    Overlap,
    Undecided,
}

const EXACT: SeparabilityOptions = SeparabilityOptions { tolerance: 1e-9, margin_tolerance: Some(1e-6), exact: true };

fn decide_on(design: &dyn Design, data: &Data, options: &SeparabilityOptions) -> SeparabilityVerdict {
    let mut training = Training::new(design, &data.labels);
    training.weights = data.weights.as_deref();
    separability(&training, options, &Default::default()).expect("good data")
}

fn decide(data: &Data, options: &SeparabilityOptions) -> SeparabilityVerdict {
    decide_on(&data.dense(), data, options)
}

/// The rows that count.
fn counted(data: &Data) -> Vec<usize> {
    (0..data.rows()).filter(|i| data.weight(*i) > 0.0).collect()
}

/// `w·(x − c) + b` of every class, and the size of the terms.
fn scores(data: &Data, weights: &[Vec<f64>], intercept: &[f64], centre: &[f64], i: usize) -> (Vec<f64>, f64) {
    let mut size = 0.0f64;
    let mut all = if weights.len() == 1 { vec![0.0] } else { Vec::new() };
    for (w, b) in weights.iter().zip(intercept) {
        let mut z = *b;
        for ((w, x), c) in w.iter().zip(data.row(i)).zip(centre) {
            z += w * (x - c);
            size = size.max((w * x).abs()).max((w * c).abs());
        }
        size = size.max(b.abs());
        all.push(z);
    }
    (all, size)
}

/// The slack of every row against every other class.
fn slacks(data: &Data, weights: &[Vec<f64>], intercept: &[f64], centre: &[f64]) -> (Vec<(usize, f64)>, f64) {
    let (mut out, mut size) = (Vec::new(), 0.0f64);
    for i in counted(data) {
        let (z, terms) = scores(data, weights, intercept, centre, i);
        let own = data.class(i);
        size = size.max(terms);
        out.extend((0..z.len()).filter(|k| *k != own).map(|k| (i, z[own] - z[k])));
    }
    (out, size)
}

fn check_complete(data: &Data, v: &Complete, what: &str) {
    let (slacks, _) = slacks(data, &v.weights, &v.intercept, &v.centre);
    assert!(slacks.iter().all(|(_, s)| *s > 0.0), "{what}: a row is not strictly on its side");
    if data.labels.n_classes() > 2 {
        return;
    }
    let norm = v.weights[0].iter().map(|w| w * w).sum::<f64>().sqrt();
    let least = slacks.iter().map(|(_, s)| *s).fold(f64::INFINITY, f64::min) / norm;
    assert_near(least, v.margin, 1e-6, 0.0, &format!("{what}: margin"));
    let hull = v.hull.as_ref().unwrap_or_else(|| panic!("{what}: no hull points"));
    let mut difference = vec![0.0; data.cols];
    let mut totals = [0.0, 0.0];
    for (row, w) in &hull.weights {
        assert!(*w > 0.0 && data.weight(*row) > 0.0, "{what}: hull weight");
        totals[data.class(*row)] += w;
        let sign = if data.class(*row) == 1 { 1.0 } else { -1.0 };
        let reference = data.row(hull.weights[0].0);
        difference.iter_mut().zip(data.row(*row)).zip(reference).for_each(|((d, x), r)| *d += sign * w * (x - r));
    }
    assert!(hull.weights.len() <= data.cols.max(60) + 2, "{what}: {} hull rows", hull.weights.len());
    totals.iter().for_each(|t| assert_near(*t, 1.0, 1e-9, 1.0, &format!("{what}: hull weights")));
    let distance = difference.iter().map(|d| d * d).sum::<f64>().sqrt();
    assert_near(distance, hull.distance, 1e-6, 0.0, &format!("{what}: hull distance"));
    assert!(v.margin <= 0.5 * hull.distance * (1.0 + 1e-12), "{what}: margin beyond the hulls");
    assert!(hull.gap <= 1e-6, "{what}: margin {} of {}, gap {:e}", v.margin, 0.5 * hull.distance, hull.gap);
    assert_near(2.0 * v.margin, hull.distance, 2e-6, 0.0, &format!("{what}: widest"));
}

/// `Σ λ (e_y − e_k)⊗x̃ = 0`, every column relative to the size of its terms about a row.
fn check_balance(data: &Data, terms: &[(usize, usize, usize, f64)], what: &str) {
    let (d, k) = (data.cols, data.labels.n_classes());
    let reference = data.row(terms[0].0).to_vec();
    let (mut sums, mut sizes) = (vec![0.0; k * (d + 1)], vec![0.0; d + 1]);
    let mut range = vec![(f64::INFINITY, f64::NEG_INFINITY); d];
    for (row, own, other, w) in terms {
        assert!(*w > 0.0, "{what}: weight {w}");
        assert_eq!(data.class(*row), *own, "{what}: class");
        for (class, sign) in [(own, 1.0), (other, -1.0)] {
            for j in 0..=d {
                let x = if j < d { data.row(*row)[j] - reference[j] } else { 1.0 };
                sums[class * (d + 1) + j] += sign * w * x;
            }
        }
        for j in 0..d {
            let x = data.row(*row)[j];
            range[j] = (range[j].0.min(x), range[j].1.max(x));
            sizes[j] += w * (x - reference[j]).abs();
        }
        sizes[d] += w;
    }
    for (at, sum) in sums.iter().enumerate() {
        let j = at % (d + 1);
        // What the reader of a double may have lost of a column far from zero.
        let lost = if j < d { 1e-15 * range[j].0.abs().max(range[j].1.abs()) * sizes[d] } else { 0.0 };
        assert!(sum.abs() <= 1e-9 * sizes[j] + lost, "{what}: column {j} leaves {sum:e} of {:e}", sizes[j]);
    }
}

fn check_common(data: &Data, common: &CommonPoint, what: &str) {
    let width = (data.labels.n_classes() - 1) * (data.cols + 1);
    assert!(common.constraints.len() <= width + 1, "{what}: {} rows", common.constraints.len());
    let terms: Vec<_> = common.constraints.iter().map(|c| (c.row, c.own, c.other, c.weight)).collect();
    check_balance(data, &terms, &format!("{what}: common point"));
}

fn check_quasi(data: &Data, v: &QuasiComplete, what: &str) {
    let (slacks, size) = slacks(data, &v.weights, &v.intercept, &v.centre);
    let largest = slacks.iter().map(|(_, s)| *s).fold(0.0, f64::max);
    let zero = 2e-9 * largest + 1e-13 * size;
    assert!(largest > 100.0 * zero, "{what}: nothing is strict");
    assert!(slacks.iter().all(|(_, s)| *s >= -zero), "{what}: a row is on the wrong side");
    for row in &v.boundary {
        assert!(slacks.iter().any(|(i, s)| i == row && s.abs() <= zero), "{what}: not on the boundary");
    }
    assert_eq!(v.boundary.len() + v.strict_rows, counted(data).len(), "{what}: rows");
    check_common(data, &v.common, what);
    // Constraints of the common point are met with equality by every direction.
    let open = |c: &linsep::separate::Constraint| slacks.iter().any(|(i, s)| *i == c.row && s.abs() <= zero);
    assert!(v.common.constraints.iter().all(open), "{what}: the common point is off the boundary");
}

/// Checks the witness and says what it proves.
fn checked(data: &Data, found: &SeparabilityVerdict, what: &str) -> Kind {
    match &found.verdict {
        Verdict::Complete(v) => {
            check_complete(data, v, what);
            Kind::Complete
        }
        Verdict::QuasiComplete(v) => {
            check_quasi(data, v, what);
            Kind::Quasi
        }
        Verdict::Overlap(v) => {
            let classes = data.labels.n_classes();
            let mut terms = Vec::new();
            for (at, row) in counted(data).into_iter().enumerate() {
                let own = data.class(row);
                for (place, other) in (0..classes).filter(|k| *k != own).enumerate() {
                    terms.push((row, own, other, v.weights[at * (classes - 1) + place]));
                }
            }
            check_balance(data, &terms, what);
            let common = v.common.as_ref().unwrap_or_else(|| panic!("{what}: no common point"));
            check_common(data, common, what);
            Kind::Overlap
        }
        Verdict::Undecided(_) => Kind::Undecided,
    }
}

#[test]
fn arrangements_known_by_construction() {
    let mut source = Source::new(21);
    for seed in 0..150 {
        let (rows, cols) = (10 + source.below(51), 1 + source.below(4));
        let integers = source.chance(0.5);
        for (arrangement, expected) in [
            (Arrangement::Complete, Kind::Complete),
            (Arrangement::Quasi, Kind::Quasi),
            (Arrangement::Overlap, Kind::Overlap),
        ] {
            let data = arranged(arrangement, rows, cols, integers, seed);
            let what = format!("{arrangement:?}, {rows}×{cols}, whole numbers: {integers}, seed {seed}");
            let found = decide(&data, &EXACT);
            assert_eq!(checked(&data, &found, &what), expected, "{what}: {:?}", found.verdict);
            // On whole numbers the witness is exact; complete ones always are.
            if integers || expected == Kind::Complete {
                assert_eq!(found.verdict.exact(), Some(true), "{what}");
            }
        }
    }
}

#[test]
fn the_margin_is_the_one_chosen() {
    let mut source = Source::new(5);
    for case in 0..60 {
        let (rows, cols) = (20 + source.below(600), 1 + source.below(6));
        let scale = [1.0, 1e-12, 1e12][case % 3];
        let far = [0.0, 1e6][case / 3 % 2];
        let mut normal = source.normals(cols);
        let length = normal.iter().map(|n| n * n).sum::<f64>().sqrt();
        normal.iter_mut().for_each(|n| *n /= length);
        let margin = source.uniform(0.01, 2.0);
        let mut values = Vec::new();
        let codes: Vec<usize> = (0..rows).map(|i| i % 2).collect();
        for (i, class) in codes.iter().enumerate() {
            let x = source.normals(cols);
            let along: f64 = x.iter().zip(&normal).map(|(x, n)| x * n).sum();
            let side = if *class == 1 { 1.0 } else { -1.0 };
            // The first two rows are the nearest points, straight across.
            let wanted = if i < 2 { side * margin } else { side * (margin + source.uniform(0.0, 3.0)) };
            let inside = |x: f64| if i < 2 { 0.0 } else { x };
            values.extend(x.iter().zip(&normal).map(|(x, n)| scale * (inside(x - along * n) + wanted * n + far)));
        }
        let data = Data::new(values, cols, labels(codes, 2));
        let what = format!("case {case}: {rows}×{cols}, scale {scale:e}, about {far:e}");
        let found = decide(&data, &SeparabilityOptions { margin_tolerance: Some(1e-8), ..EXACT });
        let Verdict::Complete(v) = &found.verdict else { panic!("{what}: {:?}", found.verdict) };
        let tolerance = if far == 0.0 { 2e-8 } else { 1e-6 };
        assert_near(v.margin / scale, margin, tolerance, 0.0, &what);
        assert_eq!(v.exact, Some(true), "{what}");
    }
}

#[test]
fn the_common_point_is_the_one_chosen() {
    // 1 = ¾·0 + ¼·4, and no other way.
    let data = Data::new(vec![0.0, 4.0, 1.0], 1, labels(vec![0, 0, 1], 2));
    let found = decide(&data, &EXACT);
    assert_eq!(checked(&data, &found, "a point between two"), Kind::Overlap);
    let Verdict::Overlap(v) = &found.verdict else { unreachable!() };
    let common = v.common.as_ref().expect("a common point");
    let digits: Vec<&str> = common.constraints.iter().filter_map(|c| c.exact.as_deref()).collect();
    assert_eq!(digits, ["3", "1", "4"]);
    assert_eq!(v.exact, Some(true));
    // A point inside a tetrahedron with whole weights 1, 2, 3, 4.
    let corners = [[0.0, 0.0, 0.0], [10.0, 0.0, 0.0], [0.0, 10.0, 0.0], [0.0, 0.0, 10.0]];
    let mut values: Vec<f64> = corners.concat();
    values.extend([2.0, 3.0, 4.0]);
    let data = Data::new(values, 3, labels(vec![1, 1, 1, 1, 0], 2));
    let found = decide(&data, &EXACT);
    assert_eq!(checked(&data, &found, "tetrahedron"), Kind::Overlap);
    let Verdict::Overlap(v) = &found.verdict else { unreachable!() };
    let common = v.common.as_ref().expect("a common point");
    let digits: Vec<&str> = common.constraints.iter().filter_map(|c| c.exact.as_deref()).collect();
    assert_eq!(digits, ["1", "2", "3", "4", "10"]);
}

/// Rows whose labels come from a random linear machine with a share of wrong labels: all three verdicts occur.
fn noisy_machine(classes: usize, integers: bool, source: &mut Source) -> Data {
    let (rows, cols) = (10 + source.below(51), 1 + source.below(4));
    let noise = if source.chance(0.5) { 0.0 } else { 1.5 / rows as f64 };
    // Few digits, so that what disguises them does not round: verdicts are about the numbers that are stored.
    let number = |source: &mut Source| match integers {
        true => source.below(5) as f64 - 2.0,
        false => (source.normal() * 1024.0).round() / 1024.0,
    };
    let machine: Vec<Vec<f64>> = (0..classes).map(|_| (0..=cols).map(|_| number(source)).collect()).collect();
    let (mut values, mut codes) = (Vec::new(), Vec::new());
    for i in 0..rows {
        let x: Vec<f64> = (0..cols).map(|_| number(source)).collect();
        let score = |w: &Vec<f64>| w[cols] + x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
        let scores: Vec<f64> = machine.iter().map(score).collect();
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let tied: Vec<usize> = (0..classes).filter(|k| scores[*k] == best).collect();
        let class = if source.chance(noise) { source.below(classes) } else { tied[source.below(tied.len())] };
        codes.push(if i < classes { i } else { class });
        values.extend(x);
    }
    Data::new(values, cols, labels(codes, classes))
}

/// Changes neither the verdict nor the labels.
fn disguise(data: &Data, kind: usize, source: &mut Source) -> Data {
    match kind {
        0 => data.clone(),
        1 => {
            let classes = data.labels.n_classes();
            let weight = |i: usize, source: &mut Source| f64::from(u8::from(i < classes || !source.chance(0.2)));
            data.weighted((0..data.rows()).map(|i| weight(i, source)).collect())
        }
        2 => data.with_column(|_, x| x[0]).with_column(|_, x| x.iter().sum()).with_column(|_, _| 3.0),
        3 => data.map(|j, v| v * [2f64.powi(40), 2f64.powi(-40), 1.0, 1e2][j % 4]),
        _ => data.map(|j, v| v + [1e4, -300.0, 0.0, 1e5][j % 4]),
    }
}

#[test]
fn the_linear_program_agrees() {
    let mut source = Source::new(22);
    let mut seen = [0; 3];
    for case in 0..900 {
        let (classes, integers) = (2 + case % 3, (case / 3) % 2 == 0);
        let plain = noisy_machine(classes, integers, &mut source);
        let kind = (case / 6) % 5;
        let data = disguise(&plain, kind, &mut source);
        let judged = Data { weights: data.weights.clone(), ..plain.clone() };
        let all = (counted(&judged).len() * (classes - 1)) as f64;
        let expected = match separating_slack(&judged, true) {
            slack if slack < 0.5 => Kind::Overlap,
            slack if slack > all - 0.5 => Kind::Complete,
            _ => Kind::Quasi,
        };
        let what = format!("case {case}: {classes} classes, {}×{}, disguise {kind}", data.rows(), data.cols);
        // In units far apart the margin is that of the largest column, and may be out of reach for it alone.
        let options = if kind == 3 { SeparabilityOptions { exact: false, ..EXACT } } else { EXACT };
        let found = decide(&data, &options);
        let found_kind = match (&found.verdict, kind) {
            (Verdict::Complete(_), 3) => Kind::Complete,
            _ => checked(&data, &found, &what),
        };
        assert_eq!(found_kind, expected, "{what}: {:?}", found.verdict);
        if integers && kind < 3 {
            assert_eq!(found.verdict.exact(), Some(true), "{what}");
        }
        seen[expected as usize] += 1;
    }
    assert!(seen.iter().all(|n| *n >= 100), "complete, quasi, overlap: {seen:?}");
}

#[test]
fn sparse_rows_and_singles_give_the_same_verdict() {
    let mut source = Source::new(23);
    for case in 0..60 {
        let data = noisy_machine(2 + case % 2, true, &mut source);
        let what = format!("case {case}");
        let dense = checked(&data, &decide(&data, &EXACT), &what);
        assert_eq!(checked(&data, &decide_on(&data.csr(), &data, &EXACT), &what), dense, "{what}, sparse");
        assert_eq!(checked(&data, &decide_on(&data.singles(), &data, &EXACT), &what), dense, "{what}, singles");
    }
}

#[test]
fn threads_do_not_matter() {
    let mut source = Source::new(24);
    let mut cases: Vec<Data> = (0..6).map(|case| noisy_machine(2 + case % 3, false, &mut source)).collect();
    cases.extend(
        [Arrangement::Complete, Arrangement::Quasi, Arrangement::Overlap].map(|a| arranged(a, 30_000, 6, false, 3)),
    );
    for (case, data) in cases.iter().enumerate() {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| decide(data, &SeparabilityOptions::default()))
        };
        assert_eq!(run(1), run(3), "case {case}");
    }
}

#[test]
fn one_pair_may_be_separable_while_likelihood_exists() {
    // a is left of b, but c lies on both sides of either: no linear machine favours a over b for free.
    let x = vec![0.0, 1.0, 2.0, 3.0, -1.0, 0.5, 1.5, 2.5, 4.0];
    let data = Data::new(x, 1, labels(vec![0, 0, 1, 1, 2, 2, 2, 2, 2], 3));
    let found = decide(&data, &EXACT);
    assert_eq!(checked(&data, &found, "joint"), Kind::Overlap);
    assert_eq!(found.verdict.exact(), Some(true));
    let pair = Data::new(vec![0.0, 1.0, 2.0, 3.0], 1, labels(vec![0, 0, 1, 1], 2));
    assert_eq!(checked(&pair, &decide(&pair, &EXACT), "pair"), Kind::Complete);
}

#[test]
fn small_and_odd_tables() {
    let all = |x: &[f64], cols: usize, codes: &[usize]| {
        let classes = codes.iter().max().map_or(0, |m| m + 1);
        let data = Data::new(x.to_vec(), cols, labels(codes.to_vec(), classes));
        let found = decide(&data, &EXACT);
        (checked(&data, &found, &format!("{x:?} {codes:?}")), found)
    };
    // One row a class.
    assert_eq!(all(&[1.0, 2.0], 1, &[0, 1]).0, Kind::Complete);
    // The same row with both labels, alone and beside others.
    let (kind, found) = all(&[1.0, 1.0], 1, &[0, 1]);
    assert_eq!(kind, Kind::Overlap);
    assert_eq!(found.verdict.exact(), Some(true));
    assert_eq!(all(&[1.0, 1.0, 5.0], 1, &[0, 1, 1]).0, Kind::Quasi);
    assert_eq!(all(&[1.0, 1.0, 5.0, -5.0], 1, &[0, 1, 1, 0]).0, Kind::Quasi);
    assert_eq!(all(&[1.0, 1.0, 5.0, -5.0], 1, &[0, 1, 1, 1]).0, Kind::Overlap);
    // All rows equal.
    assert_eq!(all(&[3.0; 12], 2, &[0, 1, 0, 1, 1, 1]).0, Kind::Overlap);
    // A class with one row, between the others and outside.
    assert_eq!(all(&[0.0, 2.0, 1.0, 4.0], 1, &[0, 0, 1, 0]).0, Kind::Overlap);
    assert_eq!(all(&[0.0, 2.0, 9.0, 4.0], 1, &[0, 0, 1, 0]).0, Kind::Complete);
    // More columns than rows.
    assert_eq!(all(&[1.0, 2.0, 3.0, 4.0, 5.0, 7.0], 3, &[0, 1]).0, Kind::Complete);
    // Constant columns do nothing.
    assert_eq!(all(&[1.0, 7.0, 2.0, 7.0, 3.0, 7.0, 4.0, 7.0], 2, &[0, 0, 1, 1]).0, Kind::Complete);
    // XOR.
    assert_eq!(all(&[0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0], 2, &[0, 1, 1, 0]).0, Kind::Overlap);
}

#[test]
fn one_class_is_an_error() {
    let data = Data::new(vec![1.0, 2.0], 1, Labels::from_names(["a", "a"]));
    let design = data.dense();
    let training = Training::new(&design, &data.labels);
    let error = separability(&training, &EXACT, &Default::default()).expect_err("one class");
    assert!(error.to_string().contains("only one class"), "{error}");
}

#[test]
fn rows_of_many_columns() {
    let mut source = Source::new(25);
    let (rows, cols) = (60, 3_000);
    // Sparse whole numbers; some columns of every row.
    let mut values = vec![0.0; rows * cols];
    for row in values.chunks_exact_mut(cols) {
        for _ in 0..40 {
            row[source.below(cols)] = 1.0 + source.below(3) as f64;
        }
    }
    let codes: Vec<usize> = (0..rows).map(|i| i % 2).collect();
    let data = Data::new(values.clone(), cols, labels(codes.clone(), 2));
    for (what, found) in [("dense", decide(&data, &EXACT)), ("sparse", decide_on(&data.csr(), &data, &EXACT))] {
        assert_eq!(checked(&data, &found, what), Kind::Complete, "{what}");
        assert_eq!(found.verdict.exact(), Some(true), "{what}");
    }
    // Without a tolerance the margin of so few entries is the widest, too.
    let found = decide_on(&data.csr(), &data, &SeparabilityOptions { margin_tolerance: None, ..EXACT });
    assert_eq!(checked(&data, &found, "default"), Kind::Complete);
    // Two documents that are the same and have different labels stay on the boundary; the others can leave it.
    let first: Vec<f64> = values[..cols].to_vec();
    values[cols..2 * cols].copy_from_slice(&first);
    let data = Data::new(values, cols, labels(codes, 2));
    let found = decide_on(&data.csr(), &data, &SeparabilityOptions::default());
    let Verdict::QuasiComplete(v) = &found.verdict else { panic!("{:?}", found.verdict.name()) };
    assert_eq!(v.boundary, [0, 1]);
    let (slacks, _) = slacks(&data, &v.weights, &v.intercept, &v.centre);
    let largest = slacks.iter().map(|(_, s)| *s).fold(0.0, f64::max);
    assert!(slacks.iter().all(|(i, s)| if *i < 2 { s.abs() < 1e-9 * largest } else { *s > 1e-9 * largest }));
}

/// Two rows that are the same under both labels are all that is on the boundary, however the direction was found: the others are
/// independent, so that each of them can be on its side by as much as any.
#[test]
fn the_boundary_is_no_larger_than_it_must_be() {
    for seed in 0..30 {
        let mut source = Source::new(100 + seed);
        let (rows, cols) = (60, 3_000);
        let mut values = vec![0.0; rows * cols];
        for row in values.chunks_exact_mut(cols) {
            for _ in 0..40 {
                row[source.below(cols)] = 1.0 + source.below(3) as f64;
            }
        }
        let first: Vec<f64> = values[..cols].to_vec();
        values[cols..2 * cols].copy_from_slice(&first);
        let data = Data::new(values, cols, labels((0..rows).map(|i| i % 2).collect(), 2));
        let found = decide_on(&data.csr(), &data, &SeparabilityOptions::default());
        let Verdict::QuasiComplete(v) = &found.verdict else { panic!("seed {seed}: {:?}", found.verdict) };
        assert_eq!(v.boundary, [0, 1], "seed {seed}");
        let (slacks, _) = slacks(&data, &v.weights, &v.intercept, &v.centre);
        let largest = slacks.iter().map(|(_, s)| *s).fold(0.0, f64::max);
        let stays = |(i, s): &(usize, f64)| if *i < 2 { s.abs() < 1e-9 * largest } else { *s > 1e-9 * largest };
        assert!(slacks.iter().all(stays), "seed {seed}: the direction");
    }
}

/// A table and the names of its columns, all but the target.
fn labelled(frame: &Frame, target: &str) -> (Data, Vec<String>) {
    let features: Vec<String> = frame.names().iter().filter(|n| *n != target).cloned().collect();
    (frame.complete(&features).labelled(&features, target), features)
}

fn named<'f>(columns: &[usize], features: &'f [String]) -> Vec<&'f str> {
    columns.iter().map(|j| features[*j].as_str()).collect()
}

#[test]
#[ignore = "reads ../shared/data; ./test runs it where that is there"]
fn published_verdicts() {
    let shared = |name: &str, target: &str| labelled(&Frame::shared(name), target);
    {
        let (data, _) = shared("mlbench_Sonar.csv", "Class");
        let found = decide(&data, &EXACT);
        assert_eq!(checked(&data, &found, "sonar"), Kind::Complete);
        assert_eq!(found.verdict.exact(), Some(true));
    }
    {
        let (data, features) = shared("mlbench_Ionosphere.csv", "Class");
        let found = decide(&data, &EXACT);
        assert_eq!(checked(&data, &found, "ionosphere"), Kind::Quasi);
        let Verdict::QuasiComplete(v) = &found.verdict else { unreachable!() };
        assert_eq!(named(v.columns.as_ref().expect("named"), &features), ["V1"]);
        assert!(v.intercept_diverges);
        assert_eq!(named(v.collinear.as_ref().expect("small"), &features), ["V2"], "constant");
        assert!(v.common.constraints.iter().all(|c| c.exact.is_some()), "exact common point");
    }
    {
        let (data, _) = shared("detectseparation_silvapulle1981.csv", "y");
        let found = decide(&data, &EXACT);
        assert_eq!(checked(&data, &found, "silvapulle"), Kind::Quasi);
        assert_eq!(found.verdict.exact(), Some(true), "silvapulle");
    }
    {
        let (data, features) = shared("brglm2_endometrial.csv", "HG");
        let found = decide(&data, &EXACT);
        assert_eq!(checked(&data, &found, "endometrial"), Kind::Quasi);
        let Verdict::QuasiComplete(v) = &found.verdict else { unreachable!() };
        assert_eq!(named(v.columns.as_ref().expect("named"), &features), ["NV"]);
        let with_nv = (0..data.rows()).filter(|i| data.row(*i)[0] == 1.0).count();
        assert_eq!(v.strict_rows, with_nv);
        assert_eq!(v.exact, Some(true), "endometrial");
    }
    for (name, target) in [("banknote.csv", "class"), ("keel_wdbc.csv", "class")] {
        {
            let (data, _) = shared(name, target);
            let found = decide(&data, &EXACT);
            assert_eq!(checked(&data, &found, name), Kind::Overlap, "{name}");
            assert_eq!(found.verdict.exact(), Some(true), "{name}");
            let Verdict::Overlap(v) = &found.verdict else { unreachable!() };
            let common = v.common.as_ref().expect("few rows");
            assert!(common.constraints.iter().all(|c| c.exact.is_some()), "{name}: exact common point");
        }
    }
}

#[test]
fn iris() {
    let (data, _) = labelled(&Frame::golden("iris.csv"), "Species");
    let setosa = |i: usize| if data.class(i) == 0 { "setosa" } else { "rest" };
    let against_rest = Data { labels: Labels::from_names((0..data.rows()).map(setosa)), ..data.clone() };
    let found = decide(&against_rest, &EXACT);
    assert_eq!(checked(&against_rest, &found, "setosa"), Kind::Complete);
    assert_eq!(found.verdict.exact(), Some(true));
    // All three: setosa can be told apart, the others cannot from each other.
    assert_eq!(checked(&data, &decide(&data, &EXACT), "iris"), Kind::Quasi);
    let others: Vec<usize> = (0..data.rows()).filter(|i| data.class(*i) > 0).collect();
    let pair = data.select(&others);
    let pair = Data { labels: labels((0..pair.rows()).map(|i| pair.class(i) - 1).collect(), 2), ..pair };
    let found = decide(&pair, &EXACT);
    assert_eq!(checked(&pair, &found, "versicolor and virginica"), Kind::Overlap);
    assert_eq!(found.verdict.exact(), Some(true));
}

/// Sparse rows like those of texts: so many of the columns each, by frequencies that fall like 1/rank.
struct Texts {
    rows: Vec<Vec<(u32, f64)>>,
    cols: usize,
    labels: Vec<usize>,
}

impl Texts {
    fn new(rows: usize, cols: usize, words: usize, seed: u64) -> Texts {
        let mut source = Source::new(seed);
        let labels: Vec<usize> = (0..rows).map(|_| source.below(2)).collect();
        let mut draw = |_: usize| {
            let mut row: Vec<(u32, f64)> = (0..words)
                .map(|_| {
                    let rank = (cols as f64).powf(source.uniform(0.0, 1.0)) as usize - 1;
                    (rank.min(cols - 1) as u32, 1.0 + source.below(3) as f64)
                })
                .collect();
            row.sort_unstable_by_key(|(c, _)| *c);
            row.dedup_by_key(|(c, _)| *c);
            row
        };
        Texts { rows: (0..rows).map(&mut draw).collect(), cols, labels }
    }

    fn decide(&self, options: &SeparabilityOptions) -> SeparabilityVerdict {
        let mut starts = vec![0];
        self.rows.iter().for_each(|row| starts.push(starts[starts.len() - 1] + row.len()));
        let (indices, values): (Vec<u32>, Vec<f64>) = self.rows.iter().flatten().copied().unzip();
        let design = CsrMatrix::new(starts, indices, values, self.cols).expect("rows");
        let classes = self.labels.iter().max().expect("rows") + 1;
        let labels = labels(self.labels.clone(), classes);
        separability(&Training::new(&design, &labels), options, &Default::default()).expect("good data")
    }

    fn slack(&self, weights: &[f64], intercept: f64, i: usize) -> f64 {
        let score: f64 = self.rows[i].iter().map(|(c, x)| x * weights[*c as usize]).sum();
        (2.0 * self.labels[i] as f64 - 1.0) * (score + intercept)
    }

    /// Slacks of a plane by arithmetic of its own, and that they are zero on these rows only; then that the common point is.
    fn is_quasi(&self, found: &SeparabilityVerdict, boundary: &[usize], tolerance: f64) {
        let Verdict::QuasiComplete(v) = &found.verdict else { panic!("{:?}", found.verdict) };
        assert_eq!(v.boundary, boundary);
        assert_eq!(
            (found.rows, found.columns, v.strict_rows),
            (self.rows.len(), self.cols, self.rows.len() - boundary.len())
        );
        assert!(v.centre.iter().all(|c| *c == 0.0));
        let slacks: Vec<f64> = (0..self.rows.len()).map(|i| self.slack(&v.weights[0], v.intercept[0], i)).collect();
        let largest = slacks.iter().fold(0.0f64, |m, s| m.max(*s));
        for (i, s) in slacks.iter().enumerate() {
            match boundary.contains(&i) {
                true => assert!(s.abs() <= 1e-9 * largest, "row {i}: {s} of {largest}"),
                false => assert!(*s > 1e-9 * largest, "row {i}: {s} of {largest}"),
            }
        }
        let mut point = vec![0.0; self.cols];
        let (mut sum, mut size) = ([0.0; 2], 0.0f64);
        for c in &v.common.constraints {
            assert!(c.weight > 0.0 && boundary.contains(&c.row) && self.labels[c.row] == c.own);
            let sign = if c.own == 1 { 1.0 } else { -1.0 };
            sum[c.own] += c.weight;
            self.rows[c.row].iter().for_each(|(j, x)| {
                point[*j as usize] += sign * c.weight * x;
                size = size.max(c.weight * x);
            });
        }
        assert_near(sum[0], sum[1], 1e-9, 1.0, "weights of the classes");
        let worst = point.iter().fold(0.0f64, |m, p| m.max(p.abs()));
        assert!(worst <= tolerance * size, "the hulls are {worst} apart");
    }
}

/// Thousands of rows of ten thousands of columns that no plane separates, known by construction: two that are the same, and
/// one that is a mixture of rows of the other class.
#[test]
fn many_sparse_rows_that_no_plane_separates() {
    // More than a million entries; where 1 is asked any plane will do.
    let plain = Texts::new(16_000, 200_000, 90, 3);
    for (asked, least, most) in [(None, 0.0, 1e-6), (Some(1.0), 1e-3, 1.0)] {
        let options = SeparabilityOptions { margin_tolerance: asked, ..SeparabilityOptions::default() };
        let found = plain.decide(&options);
        let Verdict::Complete(v) = &found.verdict else { panic!("{:?}", found.verdict.name()) };
        let hull = v.hull.as_ref().expect("a bound");
        assert!((0..16_000).all(|i| plain.slack(&v.weights[0], v.intercept[0], i) > 0.0), "{asked:?}: the plane");
        assert!(hull.gap > least && hull.gap <= most && 2.0 * v.margin < hull.distance, "{asked:?}: {}", hull.gap);
    }
    // (a) The same text under both labels.
    let mut twins = Texts::new(5_000, 50_000, 80, 3);
    twins.rows[1_234] = twins.rows[77].clone();
    (twins.labels[77], twins.labels[1_234]) = (0, 1);
    for options in
        [SeparabilityOptions::default(), SeparabilityOptions { exact: true, ..SeparabilityOptions::default() }]
    {
        twins.is_quasi(&twins.decide(&options), &[77, 1_234], 0.0);
    }
    // (b) A convex combination, with weights whose sums are exact.
    let mut mixed = Texts::new(5_000, 50_000, 80, 4);
    let parts = [(11, 0.5), (401, 0.25), (2_600, 0.125), (4_999, 0.125)];
    let mut mixture = std::collections::BTreeMap::new();
    for (row, share) in parts {
        mixed.labels[row] = 1;
        mixed.rows[row].iter().for_each(|(c, x)| *mixture.entry(*c).or_insert(0.0) += share * x);
    }
    mixed.rows[300] = mixture.into_iter().collect();
    mixed.labels[300] = 0;
    mixed.is_quasi(&mixed.decide(&SeparabilityOptions::default()), &[11, 300, 401, 2_600, 4_999], 1e-12);
    // Empty texts of both classes fix the intercept alone.
    let mut empty = Texts::new(5_000, 50_000, 80, 5);
    for row in [3, 4, 5] {
        empty.rows[row].clear();
        empty.labels[row] = row % 2;
    }
    let found = empty.decide(&SeparabilityOptions::default());
    empty.is_quasi(&found, &[3, 4, 5], 0.0);
    let Verdict::QuasiComplete(v) = &found.verdict else { unreachable!() };
    // Columns without an entry are determined by no labels whatever.
    let used = |texts: &Texts| -> Vec<usize> {
        let all: std::collections::BTreeSet<usize> = texts.rows.iter().flatten().map(|(c, _)| *c as usize).collect();
        all.into_iter().collect()
    };
    let unused = |v: &QuasiComplete, texts: &Texts| {
        let mut columns = [used(texts), v.collinear.clone().expect("many columns")].concat();
        columns.sort_unstable();
        assert_eq!(columns, (0..texts.cols).collect::<Vec<usize>>(), "used or not");
    };
    unused(v, &empty);
    assert!(!v.intercept_diverges && v.columns == Some(used(&empty)), "the intercept alone has a limit");
    // One word alone, under both labels, fixes its coefficient as well.
    for row in [6, 7] {
        empty.rows[row] = vec![(9, 2.0)];
        empty.labels[row] = row % 2;
    }
    let found = empty.decide(&SeparabilityOptions::default());
    empty.is_quasi(&found, &[3, 4, 5, 6, 7], 0.0);
    let Verdict::QuasiComplete(v) = &found.verdict else { unreachable!() };
    unused(v, &empty);
    let named: Vec<usize> = used(&empty).into_iter().filter(|c| *c != 9).collect();
    assert!(!v.intercept_diverges && v.columns == Some(named), "and so has its coefficient");
}

impl Texts {
    /// The slack of every row against every other class, by arithmetic of its own.
    fn slacks(&self, v: &QuasiComplete) -> Vec<(usize, usize, f64)> {
        let mut slacks = Vec::new();
        for (i, row) in self.rows.iter().enumerate() {
            let score = |k: usize| v.intercept[k] + row.iter().map(|(c, x)| x * v.weights[k][*c as usize]).sum::<f64>();
            let own = self.labels[i];
            slacks.extend((0..v.weights.len()).filter(|k| *k != own).map(|k| (i, k, score(own) - score(k))));
        }
        slacks
    }

    /// That exactly these constraints are on the boundary of several classes, and that the common point is one.
    fn is_joint_quasi(&self, found: &SeparabilityVerdict, boundary: &[(usize, usize)]) {
        let Verdict::QuasiComplete(v) = &found.verdict else { panic!("{:?}", found.verdict) };
        assert_eq!(v.weights.len(), found.classes);
        let mut rows: Vec<usize> = boundary.iter().map(|(row, _)| *row).collect();
        rows.dedup();
        assert_eq!(v.boundary, rows);
        let slacks = self.slacks(v);
        let largest = slacks.iter().fold(0.0f64, |m, (.., s)| m.max(*s));
        for (row, other, slack) in slacks {
            match boundary.contains(&(row, other)) {
                true => assert!(slack.abs() <= 1e-9 * largest, "row {row} against {other}: {slack} of {largest}"),
                false => assert!(slack > 1e-9 * largest, "row {row} against {other}: {slack} of {largest}"),
            }
        }
        let mut sums = vec![std::collections::BTreeMap::new(); found.classes];
        for c in &v.common.constraints {
            assert!(c.weight > 0.0 && self.labels[c.row] == c.own && boundary.contains(&(c.row, c.other)));
            for (j, x) in self.rows[c.row].iter().copied().chain([(self.cols as u32, 1.0)]) {
                *sums[c.own].entry(j).or_insert(0.0) += c.weight * x;
                *sums[c.other].entry(j).or_insert(0.0) -= c.weight * x;
            }
        }
        assert!(sums.iter().flat_map(|sum| sum.values()).all(|s| s.abs() <= 1e-9), "the point is not common");
    }
}

/// Texts of several classes in which rows are the same, or mixtures of others, under different labels: known by construction,
/// few and many rows, three classes and twenty.
#[test]
fn many_sparse_rows_of_several_classes_that_no_machine_separates() {
    for (rows, classes, seed) in [(1_500, 3, 21), (5_000, 3, 22), (3_000, 20, 23)] {
        let mut texts = Texts::new(rows, 50_000, 80, seed);
        texts.labels = (0..rows).map(|i| i % classes).collect();
        // Rows 0 and 301 are the same, of classes 0 and 301 % K; each has the class of the other on its boundary.
        texts.rows[301] = texts.rows[0].clone();
        let (a, b) = (texts.labels[0], texts.labels[301]);
        let found = texts.decide(&SeparabilityOptions::default());
        texts.is_joint_quasi(&found, &[(0, b), (301, a)]);
        let Verdict::QuasiComplete(v) = &found.verdict else { unreachable!() };
        // One equation for two intercepts and many words leaves none of them determined.
        let named = v.columns.as_ref().expect("few rows on the boundary");
        assert!(v.intercept_diverges && texts.rows[0].iter().all(|(c, _)| named.contains(&(*c as usize))));
        // Row 500 is half of each of two rows of another class: the three are on the boundary between the two classes.
        let mut texts = Texts::new(rows, 50_000, 80, seed + 50);
        texts.labels = (0..rows).map(|i| i % classes).collect();
        let (a, b) = (texts.labels[500], (texts.labels[500] + 1) % classes);
        (texts.labels[10], texts.labels[11]) = (b, b);
        let mut mixture = std::collections::BTreeMap::new();
        for row in [10, 11] {
            texts.rows[row].iter().for_each(|(c, x)| *mixture.entry(*c).or_insert(0.0) += 0.5 * x);
        }
        texts.rows[500] = mixture.into_iter().collect();
        let found = texts.decide(&SeparabilityOptions::default());
        texts.is_joint_quasi(&found, &[(10, a), (11, a), (500, b)]);
    }
}

/// Few rows of many columns: nothing but empty texts; classes that no plane tells from the rest but a machine does; rows that differ
/// by less than products of rows can tell.
#[test]
fn few_sparse_rows_that_are_odd() {
    let texts = |rows: Vec<Vec<(u32, f64)>>, labels: Vec<usize>| Texts { rows, cols: 3_000, labels };
    let empty = texts(vec![Vec::new(), Vec::new()], vec![0, 1]);
    let found = empty.decide(&SeparabilityOptions::default());
    assert!(matches!(found.verdict, Verdict::Overlap(_)), "{:?}", found.verdict);
    // 1, 2 and 3 in one column: the middle class has no plane against the others.
    let line = texts((0..9).map(|i| vec![(7, 1.0 + (i % 3) as f64)]).collect(), (0..9).map(|i| i % 3).collect());
    let found = line.decide(&SeparabilityOptions::default());
    let Verdict::Complete(v) = &found.verdict else { panic!("{:?}", found.verdict) };
    for i in 0..9 {
        let score = |k: usize| v.intercept[k] + v.weights[k][7] * (1.0 + (i % 3) as f64);
        assert!((0..3).all(|k| k == i % 3 || score(k) < score(i % 3)), "row {i}");
    }
    // Nearly the same text under both labels: separable, though hardly.
    let mut near = Texts::new(100, 3_000, 40, 77);
    near.rows[1] = near.rows[0].clone();
    near.rows[1].retain(|(c, _)| *c != 2_999);
    near.rows[0].retain(|(c, _)| *c != 2_999);
    near.rows[1].push((2_999, 1e-8));
    (near.labels[0], near.labels[1]) = (0, 1);
    let found = near.decide(&SeparabilityOptions::default());
    assert!(matches!(found.verdict, Verdict::Complete(_)), "{:?}", found.verdict);
}

/// Three classes whose empty texts, and texts of one word, are on every boundary: then intercepts and the word are determined.
#[test]
fn coefficients_of_several_classes_that_have_a_limit() {
    let mut texts = Texts::new(3_000, 30_000, 60, 31);
    texts.labels = (0..3_000).map(|i| i % 3).collect();
    for row in 0..6 {
        texts.rows[row] = if row < 3 { Vec::new() } else { vec![(9, 2.0)] };
    }
    let found = texts.decide(&SeparabilityOptions::default());
    let all: Vec<(usize, usize)> =
        (0..6).flat_map(|row| (0..3).filter(move |k| *k != row % 3).map(move |k| (row, k))).collect();
    let Verdict::QuasiComplete(v) = &found.verdict else { panic!("{:?}", found.verdict) };
    assert!(
        !v.intercept_diverges && v.columns.as_ref().is_some_and(|named| !named.contains(&9) && named.contains(&10))
    );
    texts.is_joint_quasi(&found, &all);
    // Two of the classes only: what the third does there is open.
    texts.rows.swap(2, 100);
    texts.rows.swap(5, 101);
    (texts.labels[100], texts.labels[101]) = (0, 1);
    let found = texts.decide(&SeparabilityOptions::default());
    let Verdict::QuasiComplete(v) = &found.verdict else { panic!("{:?}", found.verdict) };
    assert_eq!(v.boundary, [0, 1, 3, 4, 100, 101]);
    assert!(v.intercept_diverges && v.columns.as_ref().is_some_and(|named| named.contains(&9)));
}

/// The widest plane of thousands of texts: the rows nearest to it and the hull points agree on its margin, by arithmetic of
/// its own. Also where texts are nearly the same under different labels (their multipliers are huge), the same under one
/// (then the face has no unique weights), or empty.
#[test]
fn the_widest_plane_of_many_sparse_rows() {
    let plain = Texts::new(3_000, 20_000, 40, 7);
    let mut odd = Texts::new(4_000, 30_000, 40, 9);
    for row in 0..40 {
        // Twins but for a little of a word that no other text has.
        odd.rows[1_000 + row] = odd.rows[row].clone();
        odd.rows[1_000 + row].push((29_990, 0.05));
        odd.rows[1_000 + row].sort_unstable_by_key(|(c, _)| *c);
        odd.rows[1_000 + row].dedup_by_key(|(c, _)| *c);
        (odd.labels[row], odd.labels[1_000 + row]) = (row % 2, 1 - row % 2);
        if row % 2 == 0 {
            odd.rows[1_000 + row].retain(|(c, _)| *c != 29_990);
            odd.rows[row].retain(|(c, _)| *c != 29_990);
            odd.rows[row].push((29_990, 0.05));
            odd.rows[row].sort_unstable_by_key(|(c, _)| *c);
        } else {
            odd.rows[row].retain(|(c, _)| *c != 29_990);
        }
        odd.rows[2_000 + row] = odd.rows[2_100 + row].clone();
        odd.labels[2_000 + row] = odd.labels[2_100 + row];
    }
    (odd.rows[3_000], odd.rows[3_001]) = (Vec::new(), Vec::new());
    (odd.labels[3_000], odd.labels[3_001]) = (1, 1);
    for (name, texts) in [("plain", &plain), ("odd", &odd)] {
        let options = SeparabilityOptions { margin_tolerance: Some(1e-6), ..SeparabilityOptions::default() };
        let found = texts.decide(&options);
        let Verdict::Complete(v) = &found.verdict else { panic!("{name}: {:?}", found.verdict.name()) };
        let length = |u: &[f64]| u.iter().map(|u| u * u).sum::<f64>().sqrt();
        let slacks = (0..texts.rows.len()).map(|i| texts.slack(&v.weights[0], v.intercept[0], i));
        let margin = slacks.fold(f64::INFINITY, f64::min) / length(&v.weights[0]);
        assert_near(margin, v.margin, 1e-9, 0.0, &format!("{name}: the nearest row"));
        let hull = v.hull.as_ref().expect("hull points");
        let (mut difference, mut sums) = (vec![0.0; texts.cols], [0.0; 2]);
        for (row, weight) in &hull.weights {
            assert!(*weight >= 0.0);
            sums[texts.labels[*row]] += weight;
            let signed = if texts.labels[*row] == 1 { *weight } else { -weight };
            texts.rows[*row].iter().for_each(|(c, x)| difference[*c as usize] += signed * x);
        }
        assert_all_near(&sums, &[1.0, 1.0], 1e-9, 1.0, name);
        let distance = length(&difference);
        assert!(2.0 * margin <= distance * (1.0 + 1e-9), "{name}: {margin} {distance}");
        assert!(2.0 * margin >= distance * (1.0 - 2e-6), "{name}: {margin} {distance}");
    }
}

/// Classes that each have a plane against the rest have a linear machine.
#[test]
fn a_machine_of_many_sparse_rows() {
    let mut texts = Texts::new(3_000, 20_000, 40, 8);
    texts.labels = (0..3_000).map(|i| i % 3).collect();
    let found = texts.decide(&SeparabilityOptions::default());
    let Verdict::Complete(v) = &found.verdict else { panic!("{:?}", found.verdict.name()) };
    for (i, row) in texts.rows.iter().enumerate() {
        let score = |k: usize| v.intercept[k] + row.iter().map(|(c, x)| x * v.weights[k][*c as usize]).sum::<f64>();
        let own = score(texts.labels[i]);
        assert!((0..3).all(|k| k == texts.labels[i] || score(k) < own), "row {i}");
    }
}

/// Ten thousand rows that mix everywhere: all of them have a weight.
#[test]
fn many_sparse_rows_that_overlap() {
    // Two thousand and a half columns of both signs, five times as many rows, labels drawn.
    let (n, cols) = (9_000, 2_100);
    let mut source = Source::new(12);
    let mut texts = Texts::new(n, cols, 30, 6);
    texts.rows.iter_mut().flatten().for_each(|(_, x)| *x *= if source.chance(0.5) { 1.0 } else { -1.0 });
    let found = texts.decide(&SeparabilityOptions::default());
    let Verdict::Overlap(v) = &found.verdict else { panic!("{:?}", found.verdict) };
    assert!(v.weights.len() == n && v.smallest > 0.0);
    let (mut sums, mut sizes) = (vec![0.0; cols + 1], vec![0.0; cols + 1]);
    for (i, row) in texts.rows.iter().enumerate() {
        let weight = (2.0 * texts.labels[i] as f64 - 1.0) * v.weights[i];
        for (c, x) in row.iter().map(|(c, x)| (*c as usize, *x)).chain([(cols, 1.0)]) {
            sums[c] += weight * x;
            sizes[c] += (weight * x).abs();
        }
    }
    assert!(sums.iter().zip(&sizes).all(|(sum, size)| sum.abs() <= 1e-9 * size), "Σ α y x̃ is not zero");
}

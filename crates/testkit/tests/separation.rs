//! Whether maximum likelihood exists: against arrangements known by construction, against a linear program, and on
//! data sets whose verdict is published.

use linsep::certify::{Certificate, SeparationKind};
use linsep::design::Standardize;
use linsep::model::{Fit, Fitted, Method, NoOptimum, Outcome, PenaltyChoice, Refusal, RiskMinimizer};
use linsep::objective::Intercept;
use linsep::table::Labels;
use testkit::cone::separating_slack;
use testkit::data::{Arrangement, Data, Source, arranged, labels};
use testkit::golden::Frame;

fn likelihood(standardize: Standardize) -> Method {
    let penalty = PenaltyChoice::None;
    Method::Risk(RiskMinimizer { penalty, standardize, ..RiskMinimizer::default() })
}

fn through_the_origin() -> Method {
    let (penalty, intercept, standardize) = (PenaltyChoice::None, Intercept::None, Standardize::No);
    Method::Risk(RiskMinimizer { penalty, intercept, standardize, ..RiskMinimizer::default() })
}

/// The verdict on some rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Complete,
    Quasi,
    Overlap,
    /// No proof either way, and the fit says so.
    Undecided,
}

/// `v·x̃` of a row for every class, by plain arithmetic, with the size of the terms.
fn direction_scores(data: &Data, found: &NoOptimum, i: usize) -> (Vec<f64>, f64) {
    let mut size = 0.0f64;
    let mut scores: Vec<f64> = vec![0.0; data.labels.n_classes() - found.direction.len()];
    for (v, b) in found.direction.iter().zip(&found.intercept) {
        let mut z = *b;
        size = size.max(b.abs());
        for (v, x) in v.iter().zip(data.row(i)) {
            z += v * x;
            size = size.max((v * x).abs());
        }
        scores.push(z);
    }
    (scores, size)
}

/// Checks the witness: nothing on the wrong side, something strictly on its own, the counts as reported.
fn check_witness(data: &Data, found: &NoOptimum, what: &str) {
    let mut rows = Vec::new();
    let mut size = 0.0f64;
    for i in (0..data.rows()).filter(|i| data.weight(*i) > 0.0) {
        let (z, terms) = direction_scores(data, found, i);
        let own = data.class(i);
        let others = (0..z.len()).filter(|k| *k != own).map(|k| z[own] - z[k]);
        let (least, most) = others.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), s| (l.min(s), m.max(s)));
        rows.push((least, most));
        size = size.max(terms);
    }
    let largest = rows.iter().map(|r| r.1).fold(0.0, f64::max);
    // The direction is in doubles near those of the proof: on the boundary it vanishes up to rounding only.
    let zero = 2e-9 * largest + 1e-14 * size;
    assert!(largest > 1e-6 * size.min(1e300), "{what}: nothing is strictly separated");
    for (least, _) in &rows {
        assert!(*least >= -zero, "{what}: a row is {least:e} on the wrong side, the largest slack is {largest:e}");
    }
    // Theirs are exact, ours are not quite: counts on either side of what may be rounding enclose them. A row is strict if it is
    // so against every other class.
    let strict = |zero: f64| rows.iter().filter(|(least, _)| *least > zero).count();
    assert!((strict(zero)..=strict(-zero)).contains(&found.strict_rows), "{what}: strict rows");
    assert_eq!(found.strict_rows + found.boundary.len(), rows.len(), "{what}: rows");
    let complete = |zero: f64| rows.iter().all(|(least, _)| *least > zero);
    let claimed = found.kind == SeparationKind::Complete;
    assert!(claimed == complete(zero) || claimed == complete(-zero), "{what}: kind");
}

/// Overlap must be proved as well: `ρν < 1`.
fn check_overlap(model: &Fitted, what: &str) {
    assert_eq!(model.outcome, Outcome::Converged, "{what}: {:?}", model.certificate);
    let Certificate::SelfConcordance { decrement, radius, .. } = &model.certificate else {
        panic!("{what}: {:?}", model.certificate);
    };
    assert!(decrement * radius < 1.0, "{what}: ρν = {}", decrement * radius);
}

fn verdict(data: &Data, method: &Method, what: &str) -> Verdict {
    match data.fit(method) {
        Ok(Fit::Refused(Refusal::NoOptimum(found))) => {
            check_witness(data, &found, what);
            match found.kind {
                SeparationKind::Complete => Verdict::Complete,
                SeparationKind::Quasi => Verdict::Quasi,
            }
        }
        Ok(Fit::Model(model)) if matches!(model.certificate, Certificate::Absent { .. }) => {
            assert!(model.outcome != Outcome::Converged, "{what}: converged without a certificate");
            Verdict::Undecided
        }
        Ok(Fit::Model(model)) => {
            check_overlap(&model, what);
            Verdict::Overlap
        }
        Ok(Fit::Refused(Refusal::NotSeparable(_))) => panic!("{what}: a perceptron's answer"),
        Err(error) => panic!("{what}: {error}"),
    }
}

/// The linear program's verdict: no slack at all, all of it, or some.
fn judge(data: &Data, intercept: bool) -> Verdict {
    let used = (0..data.rows()).filter(|i| data.weight(*i) > 0.0).count();
    let all = (used * (data.labels.n_classes() - 1)) as f64;
    match separating_slack(data, intercept) {
        // Slacks scale with v, so the optimum is 0 or at least 1.
        slack if slack < 0.5 => Verdict::Overlap,
        slack if slack > all - 0.5 => Verdict::Complete,
        _ => Verdict::Quasi,
    }
}

#[test]
fn arrangements_known_by_construction() {
    let mut source = Source::new(1);
    for seed in 0..300 {
        let (rows, cols) = (10 + source.below(51), 1 + source.below(4));
        let integers = source.chance(0.5);
        for arrangement in [Arrangement::Complete, Arrangement::Quasi, Arrangement::Overlap] {
            let data = arranged(arrangement, rows, cols, integers, seed);
            let what = format!("{arrangement:?}, {rows}×{cols}, whole numbers: {integers}, seed {seed}");
            let expected = match arrangement {
                Arrangement::Complete => Verdict::Complete,
                Arrangement::Quasi => Verdict::Quasi,
                Arrangement::Overlap => Verdict::Overlap,
            };
            let standardize = if source.chance(0.5) { Standardize::Yes } else { Standardize::No };
            assert_eq!(verdict(&data, &likelihood(standardize), &what), expected, "{what}");
        }
    }
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
        // Ties are broken at random: rows on the boundary with either label.
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let tied: Vec<usize> = (0..classes).filter(|k| scores[*k] == best).collect();
        let class = if source.chance(noise) { source.below(classes) } else { tied[source.below(tied.len())] };
        codes.push(if i < classes { i } else { class });
        values.extend(x);
    }
    Data::new(values, cols, labels(codes, classes))
}

/// Makes the same verdict harder to reach; what is added changes neither the column space nor the labels.
fn disguise(data: &Data, kind: usize, source: &mut Source) -> Data {
    match kind {
        0 => data.clone(),
        // Rows of weight zero do not count, wherever they lie; other weights range over six decades.
        1 => {
            let classes = data.labels.n_classes();
            let weight = |i: usize, source: &mut Source| match i >= classes && source.chance(0.2) {
                true => 0.0,
                false => 10f64.powi(source.below(7) as i32 - 3),
            };
            data.weighted((0..data.rows()).map(|i| weight(i, source)).collect())
        }
        // A duplicate, a sum and a constant: collinearity is not separation.
        2 => data.with_column(|_, x| x[0]).with_column(|_, x| x.iter().sum()).with_column(|_, _| 3.0),
        // Units far apart.
        3 => data.map(|j, v| v * [1e5, 2f64.powi(-13), 1.0, 1e2][j % 4]),
        // Far from the origin.
        4 => data.map(|j, v| v + [1e4, -300.0, 0.0, 1e5][j % 4]),
        // Offsets move the optimum, not its existence.
        _ => {
            let (k, n) = (data.labels.n_classes(), data.rows());
            data.offset(k, (0..n * k).map(|_| 2.0 * source.normal()).collect())
        }
    }
}

#[test]
fn the_linear_program_agrees() {
    let mut source = Source::new(2);
    let (mut seen, mut undecided) = ([0; 3], 0);
    for case in 0..3000 {
        let (classes, integers) = (2 + case % 3, (case / 3) % 2 == 0);
        let plain = noisy_machine(classes, integers, &mut source);
        let kind = (case / 6) % 6;
        let data = disguise(&plain, kind, &mut source);
        // The judge sees the undisguised rows, except for those that do not count.
        let judged = Data { weights: data.weights.clone(), ..plain.clone() };
        let expected = judge(&judged, true);
        let shape = format!("{}×{}", data.rows(), plain.cols);
        let what = format!("case {case}: {classes} classes, {shape}, whole numbers: {integers}, disguise {kind}");
        match verdict(&data, &likelihood(Standardize::Yes), &what) {
            // Weights over six decades can put an optimum that exists beyond what doubles can prove.
            Verdict::Undecided if kind == 1 => undecided += 1,
            found => assert_eq!(found, expected, "{what}"),
        }
        seen[match expected {
            Verdict::Complete => 0,
            Verdict::Quasi => 1,
            Verdict::Overlap | Verdict::Undecided => 2,
        }] += 1;
    }
    assert!(undecided <= 10, "{undecided} undecided");
    assert!(seen.iter().all(|n| *n >= 300), "complete, quasi, overlap: {seen:?}");
}

#[test]
fn the_linear_program_agrees_through_the_origin() {
    let mut source = Source::new(3);
    for case in 0..300 {
        let data = noisy_machine(2 + case % 2, case % 4 < 2, &mut source);
        let what = format!("case {case}: {}×{}", data.rows(), data.cols);
        assert_eq!(verdict(&data, &through_the_origin(), &what), judge(&data, false), "{what}");
    }
}

/// A table of the shared data, all columns but the target.
fn shared(name: &str, target: &str) -> Data {
    labelled(&Frame::shared(name), target)
}

fn labelled(frame: &Frame, target: &str) -> Data {
    let features: Vec<String> = frame.names().iter().filter(|n| *n != target).cloned().collect();
    frame.complete(&features).labelled(&features, target)
}

fn no_optimum(data: &Data, what: &str) -> NoOptimum {
    match data.fit(&likelihood(Standardize::Yes)) {
        Ok(Fit::Refused(Refusal::NoOptimum(found))) => {
            check_witness(data, &found, what);
            *found
        }
        Ok(Fit::Model(model)) => panic!("{what}: {:?} {:?}", model.outcome, model.certificate),
        Ok(Fit::Refused(Refusal::NotSeparable(_))) => panic!("{what}: a perceptron's answer"),
        Err(error) => panic!("{what}: {error}"),
    }
}

#[test]
#[ignore = "reads ../shared/data; ./test runs it where that is there"]
fn sonar_is_separable() {
    let data = shared("mlbench_Sonar.csv", "Class");
    assert_eq!(no_optimum(&data, "sonar").kind, SeparationKind::Complete);
}

#[test]
#[ignore = "reads ../shared/data; ./test runs it where that is there"]
fn ionosphere_is_quasi_separable_by_its_first_column() {
    // V1 = 0 occurs in one class only; V2 is constant.
    let data = shared("mlbench_Ionosphere.csv", "Class");
    let found = no_optimum(&data, "ionosphere");
    assert_eq!(found.kind, SeparationKind::Quasi);
    assert_eq!(found.columns, Some(vec![0]), "V1 alone diverges");
    assert!(found.direction[0][1] == 0.0, "a constant column takes no part");
}

#[test]
#[ignore = "reads ../shared/data; ./test runs it where that is there"]
fn silvapulle_is_quasi_separable() {
    let data = shared("detectseparation_silvapulle1981.csv", "y");
    assert_eq!(no_optimum(&data, "silvapulle").kind, SeparationKind::Quasi);
}

#[test]
#[ignore = "reads ../shared/data; ./test runs it where that is there"]
fn endometrial_is_quasi_separable_in_nv_only() {
    let data = shared("brglm2_endometrial.csv", "HG");
    let found = no_optimum(&data, "endometrial");
    assert_eq!(found.kind, SeparationKind::Quasi);
    assert_eq!(found.columns, Some(vec![0]), "NV alone");
    // Rows with NV = 1 are strict, those with NV = 0 lie on the boundary.
    let with_nv = (0..data.rows()).filter(|i| data.row(*i)[0] == 1.0).count();
    assert_eq!(found.strict_rows, with_nv);
}

#[test]
fn iris() {
    let data = labelled(&Frame::golden("iris.csv"), "Species");
    let setosa = |i: usize| if data.class(i) == 0 { "setosa" } else { "rest" };
    let against_rest = Data { labels: Labels::from_names((0..data.rows()).map(setosa)), ..data.clone() };
    assert_eq!(no_optimum(&against_rest, "setosa").kind, SeparationKind::Complete);
    // All three: setosa can be told apart, the others cannot from each other.
    assert_eq!(no_optimum(&data, "iris").kind, SeparationKind::Quasi);
    let others: Vec<usize> = (0..data.rows()).filter(|i| data.class(*i) > 0).collect();
    let pair = data.select(&others);
    let pair = Data { labels: labels((0..pair.rows()).map(|i| pair.class(i) - 1).collect(), 2), ..pair };
    assert_eq!(verdict(&pair, &likelihood(Standardize::Yes), "versicolor and virginica"), Verdict::Overlap);
}

#[test]
#[ignore = "reads ../shared/data; ./test runs it where that is there"]
fn banknotes_and_wdbc_overlap() {
    for name in ["banknote.csv", "keel_wdbc.csv"] {
        assert_eq!(verdict(&shared(name, "class"), &likelihood(Standardize::Yes), name), Verdict::Overlap);
    }
}

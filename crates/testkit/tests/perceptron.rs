//! The perceptron family: Novikoff's bound on sets with a chosen margin, textbook twins, answers where no plane exists, and
//! the claims of a model file.

use linsep::artifact::Model;
use linsep::certify::Certificate;
use linsep::design::{Design, LabelledRows, Standardize, Tile, Units};
use linsep::error::ErrorKind;
use linsep::model::{Fit, Fitted, Method, Note, Outcome, PerceptronSettings, PerceptronVariant, Refusal, Separability};
use linsep::objective::Intercept;
use linsep::read::{ReadOptions, read_bytes};
use linsep::solve::{MistakeDriven, OnlinePerceptron, Order, PocketPerceptron, PocketRule, SignedRows, Stop};
use linsep::table::Table;
use linsep::watch::Watch;
use linsep::workflow::{FitOptions, TableFit, TableRefusal, fit_table, verify_table};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use testkit::data::{Arrangement, Data, Source, arranged, expect_model, labels, overlapping};
use testkit::golden::{Frame, json, number, numbers, strings};
use testkit::{assert_all_near, assert_near};

const VARIANTS: [PerceptronVariant; 5] = [
    PerceptronVariant::Online,
    PerceptronVariant::Batch,
    PerceptronVariant::PocketRun,
    PerceptronVariant::PocketErrors,
    PerceptronVariant::Averaged,
];

fn settings(variant: PerceptronVariant, change: impl FnOnce(&mut PerceptronSettings)) -> Method {
    let mut method = PerceptronSettings { standardize: Standardize::No, ..PerceptronSettings::new(variant) };
    change(&mut method);
    Method::Perceptron(method)
}

/// Weights in the units of the columns, then the intercept.
fn theta(model: &Fitted) -> Vec<f64> {
    let linear = model.discriminant.as_linear().expect("a linear model");
    linear.weights_of(0).iter().copied().chain(linear.intercept()).collect()
}

fn side(data: &Data, i: usize) -> f64 {
    if data.class(i) == 1 { 1.0 } else { -1.0 }
}

/// A row with a one, or a zero where there is no intercept.
fn extended(data: &Data, i: usize, intercept: bool) -> Vec<f64> {
    data.row(i).iter().copied().chain([f64::from(u8::from(intercept))]).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn errors(data: &Data, theta: &[f64]) -> usize {
    (0..data.rows()).filter(|i| side(data, *i) * dot(theta, &extended(data, *i, true)) <= 0.0).count()
}

/// Rows on the two sides of a random plane, at least `margin` from it in the sense `y θ·x̃ ≥ margin`; with θ.
fn with_margin(source: &mut Source, rows: usize, cols: usize, margin: f64) -> (Data, Vec<f64>) {
    let theta = source.normals(cols + 1);
    let length = dot(&theta[..cols], &theta[..cols]);
    let (mut values, mut codes) = (Vec::new(), Vec::new());
    for i in 0..rows {
        let class = if i < 2 { i } else { source.below(2) };
        let y = if class == 1 { 1.0 } else { -1.0 };
        let mut x = source.normals(cols);
        let short = margin - y * (dot(&theta[..cols], &x) + theta[cols]);
        if short > 0.0 {
            // To the margin and a little further, so that rounding does not undo it.
            let by = y * (short * (1.0 + 1e-9) + 1e-12) / length;
            x.iter_mut().zip(&theta).for_each(|(x, w)| *x += by * w);
        }
        values.extend(x);
        codes.push(class);
    }
    (Data::new(values, cols, labels(codes, 2)), theta)
}

#[test]
fn mistakes_never_exceed_the_bound_of_a_known_plane() {
    let mut source = Source::new(1);
    let (mut close, mut converged) = (0.0f64, 0);
    for round in 0..2_500 {
        let (rows, cols) = (2 + source.below(60), 1 + source.below(8));
        let margin = [1.0, 0.3, 0.1, 0.03][round % 4];
        let (data, plane) = with_margin(&mut source, rows, cols, margin);
        let radius = (0..rows).map(|i| dot(&extended(&data, i, true), &extended(&data, i, true))).fold(0.0, f64::max);
        let bound = radius * dot(&plane, &plane) / (margin * margin);
        for variant in VARIANTS {
            for order in [Order::Given, Order::Shuffled] {
                let method = settings(variant, |m| {
                    m.order = order;
                    m.seed = round as u64;
                    m.max_epochs = 200_000;
                });
                let model = data.model(&method);
                let mistakes = model.computation.iterations;
                let what = format!("round {round}, {variant:?}: {mistakes} mistakes, bound {bound}");
                assert!(mistakes as f64 <= bound, "{what}");
                close = close.max(mistakes as f64 / bound);
                assert_eq!(model.outcome, Outcome::Converged, "{what}");
                match model.certificate {
                    Certificate::Separates {
                        bound: proved,
                        mistakes: Some(stated),
                        margin,
                        norm,
                        radius: r,
                        widest,
                    } => {
                        converged += 1;
                        // The widest plane is at least as good as the one that the rows were made with.
                        assert!(proved <= bound * (1.0 + 1e-6), "{what}: {proved} is proved");
                        let by_widest = widest.map_or(proved, |margin| (r / margin).powi(2));
                        assert_near(by_widest, proved, 1e-12, 0.0, &what);
                        assert!(stated == mistakes && mistakes as f64 <= proved, "{what}");
                        let found = theta(&model);
                        let exact = |i| side(&data, i) * dot(&found, &extended(&data, i, true));
                        let least = (0..rows).map(exact).fold(f64::INFINITY, f64::min);
                        assert_near(margin, least, 1e-9, norm * r * 1e-3, &what);
                        assert!(margin <= least + 1e-15 * norm * r, "{what}: the margin is a lower bound");
                        assert_near(r * r, radius, 1e-12, 0.0, &what);
                        assert_near(norm * norm, dot(&found, &found), 1e-12, 0.0, &what);
                    }
                    // The average need not separate, even where the last θ does.
                    Certificate::Errors { errors: stated, .. } if variant == PerceptronVariant::Averaged => {
                        assert_eq!(stated, errors(&data, &theta(&model)) as f64, "{what}");
                    }
                    other => panic!("{what}: {other:?}"),
                }
                if variant == PerceptronVariant::Batch {
                    break;
                }
            }
        }
    }
    // The bound is not so loose that the test could not fail, and most sets are separated by all.
    assert!(close > 0.2, "no set comes near its bound: {close}");
    assert!(converged > 18_000, "{converged}");
}

/// The textbook's loop: every θ after every step, and the number of mistakes; stops after an epoch without any.
fn textbook(data: &Data, epochs: usize, intercept: bool) -> (Vec<Vec<f64>>, usize) {
    let (mut theta, mut all, mut mistakes) = (vec![0.0; data.cols + 1], Vec::new(), 0);
    for _ in 0..epochs {
        let before = mistakes;
        for i in (0..data.rows()).filter(|i| data.weight(*i) > 0.0) {
            let x = extended(data, i, intercept);
            if side(data, i) * dot(&theta, &x) <= 0.0 {
                theta.iter_mut().zip(&x).for_each(|(t, x)| *t += side(data, i) * x);
                mistakes += 1;
            }
            all.push(theta.clone());
        }
        if mistakes == before {
            break;
        }
    }
    (all, mistakes)
}

/// Runs the online rule itself, which does not mind classes that overlap.
fn online(data: &Data, design: &dyn Design, epochs: usize, intercept: bool, averaged: bool) -> (Vec<f64>, usize, Stop) {
    let (units, mut tile, watch) = (Units::identity(data.cols), Tile::default(), Watch::default());
    let labelled = LabelledRows::new(design, data.labels.codes()).weighted(data.weights.as_deref());
    let rows = SignedRows::new(labelled, &units, intercept, &mut tile, &watch).expect("rows");
    let run = OnlinePerceptron::new(&rows, Order::Given, 0);
    let mut run = if averaged { run.averaged() } else { run };
    let stop = run.run(epochs, &watch).expect("a run");
    (run.coef().as_slice().to_vec(), run.mistakes(), stop)
}

#[test]
fn the_online_rule_is_the_textbooks_loop_bit_for_bit() {
    let mut source = Source::new(2);
    for round in 0..300 {
        let kind = [Arrangement::Complete, Arrangement::Overlap, Arrangement::Quasi][round % 3];
        let whole = round % 2 == 0;
        let mut data = arranged(kind, 5 + source.below(60), 1 + source.below(7), whole, round as u64);
        if round % 5 == 0 {
            data = data.weighted((0..data.rows()).map(|i| [1.0, 0.0, 2.5][i % 3]).collect());
        }
        let (epochs, intercept) = (1 + source.below(12), round % 7 != 0);
        let (all, mistakes) = textbook(&data, epochs, intercept);
        let what = format!("round {round}");
        let last = all.last().expect("steps");
        for design in [&data.dense() as &dyn Design, &data.csr()] {
            let (found, made, _) = online(&data, design, epochs, intercept, false);
            assert_eq!((&found, made), (last, mistakes), "{what}");
            let (average, made, _) = online(&data, design, epochs, intercept, true);
            let mean = |j: usize| all.iter().map(|t| t[j]).sum::<f64>() / all.len() as f64;
            let expected: Vec<f64> = (0..=data.cols).map(mean).collect();
            assert_all_near(&average, &expected, 1e-12, 1.0, &what);
            assert_eq!(made, mistakes, "{what}");
        }
    }
}

#[test]
fn the_batch_rule_is_the_textbooks_loop() {
    for seed in 0..100 {
        let data = arranged(Arrangement::Complete, 40, 1 + seed as usize % 5, false, seed);
        let data = data.weighted((0..data.rows()).map(|i| [1.0, 0.0, 2.5][i % 3]).collect());
        let model = data.model(&settings(PerceptronVariant::Batch, |m| m.max_epochs = 100_000));
        let (mut expected, mut updates) = (vec![0.0; data.cols + 1], 0);
        loop {
            let is_wrong = |i: &usize| side(&data, *i) * dot(&expected, &extended(&data, *i, true)) <= 0.0;
            let wrong: Vec<usize> = (0..data.rows()).filter(|i| data.weight(*i) > 0.0 && is_wrong(i)).collect();
            if wrong.is_empty() {
                break;
            }
            let total: f64 = wrong.iter().map(|i| data.weight(*i)).sum();
            for i in wrong {
                let by = data.weight(i) * side(&data, i) / total;
                expected.iter_mut().zip(extended(&data, i, true)).for_each(|(t, x)| *t += by * x);
            }
            updates += 1;
        }
        let what = format!("seed {seed}");
        assert_eq!(model.computation.iterations, updates, "{what}");
        assert_all_near(&theta(&model), &expected, 1e-11, 0.0, &what);
    }
}

#[test]
fn scikit_learn_agrees() {
    let golden = json("perceptron_sklearn.json");
    for case in golden["cases"].as_array().expect("cases") {
        let features = strings(&case["features"]);
        let classes = strings(&case["classes"]);
        let target = case["target"].as_str().expect("a target");
        let frame = Frame::golden(case["data"].as_str().expect("a file")).complete(&features);
        let at = frame.column(target);
        let data = frame.filter(|row| classes.contains(&row[at])).labelled(&features, target);
        let order: Vec<usize> = numbers(&case["order"]).iter().map(|v| *v as usize).collect();
        let data = data.select(&order);
        let (epochs, intercept) = (number(&case["epochs"]) as usize, case["intercept"] == true);
        let what = format!("{classes:?}, {epochs} epochs");
        let (found, mistakes, stop) = online(&data, &data.dense(), epochs, intercept, false);
        assert_all_near(&found, &numbers(&case["theta"]), 1e-12, 0.0, &what);
        assert_all_near(&found, &numbers(&case["exact"]), 1e-12, 0.0, &what);
        assert_eq!(mistakes, number(&case["mistakes"]) as usize, "{what}");
        // Ours stops where there are no more mistakes; the average of theirs goes on to the last epoch.
        if stop == Stop::IterationLimit {
            let (average, ..) = online(&data, &data.dense(), epochs, intercept, true);
            assert_all_near(&average, &numbers(&case["averaged"]), 1e-10, 0.0, &what);
            assert_all_near(&average, &numbers(&case["exact_average"]), 1e-12, 0.0, &what);
        }
    }
}

/// What the pocket algorithms of the literature do with the same draws.
struct PocketTwin {
    /// The longest run, considered when it ends only: never a θ that makes no more mistakes.
    at_mistakes: Vec<f64>,
    /// Also at the end.
    also_at_end: Vec<f64>,
    /// θ at the end.
    last: Vec<f64>,
}

fn pocket_twin(data: &Data, draws: usize, seed: u64) -> PocketTwin {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut theta, mut pocket) = (vec![0.0; data.cols + 1], vec![0.0; data.cols + 1]);
    let (mut run, mut longest) = (0, 0);
    for _ in 0..draws {
        let i = random.random_range(0..data.rows());
        let x = extended(data, i, true);
        if side(data, i) * dot(&theta, &x) > 0.0 {
            run += 1;
            continue;
        }
        if run > longest {
            (pocket, longest) = (theta.clone(), run);
        }
        theta.iter_mut().zip(&x).for_each(|(t, x)| *t += side(data, i) * x);
        run = 0;
    }
    let at_end = if run > longest || longest == 0 { theta.clone() } else { pocket.clone() };
    PocketTwin { at_mistakes: pocket, also_at_end: at_end, last: theta }
}

fn pocket(data: &Data, rule: PocketRule, epochs: usize, seed: u64) -> (Vec<f64>, Stop) {
    let (design, units, mut tile, watch) =
        (data.dense(), Units::identity(data.cols), Tile::default(), Watch::default());
    let rows = SignedRows::new(LabelledRows::new(&design, data.labels.codes()), &units, true, &mut tile, &watch)
        .expect("rows");
    let mut run = PocketPerceptron::new(&rows, rule, seed);
    let stop = run.run(epochs, &watch).expect("a run");
    (run.coef().as_slice().to_vec(), stop)
}

#[test]
fn a_pocket_keeps_a_perfect_plane_found_at_the_last_step() {
    let (mut lost_by_others, mut short_runs) = (0, 0);
    for seed in 0..600 {
        let data = arranged(Arrangement::Complete, 12, 2, true, seed);
        // One epoch: as many draws as rows, so that the run of the last θ is short.
        let epochs = 1 + seed as usize % 3;
        let twin = pocket_twin(&data, epochs * data.rows(), seed);
        let perfect = errors(&data, &twin.last) == 0;
        for rule in [PocketRule::Run, PocketRule::Errors] {
            let (found, stop) = pocket(&data, rule, epochs, seed);
            if perfect {
                assert_eq!(errors(&data, &found), 0, "seed {seed}, {rule:?}: a perfect plane is lost");
                assert_eq!(stop, Stop::Converged, "seed {seed}, {rule:?}");
            }
        }
        lost_by_others += usize::from(perfect && errors(&data, &twin.at_mistakes) > 0);
        short_runs += usize::from(perfect && errors(&data, &twin.also_at_end) > 0);
    }
    // The cases that tell the rules apart do occur.
    assert!(lost_by_others > 100 && short_runs > 5, "{lost_by_others}, {short_runs}");
}

#[test]
fn a_pocket_by_runs_is_its_textbook_twin() {
    for seed in 0..200 {
        let data = overlapping(40, 3, 2, seed);
        let twin = pocket_twin(&data, 5 * data.rows(), seed);
        let (found, stop) = pocket(&data, PocketRule::Run, 5, seed);
        if stop == Stop::IterationLimit {
            assert_eq!(found, twin.also_at_end, "seed {seed}");
        } else {
            assert_eq!(errors(&data, &found), 0, "seed {seed}");
        }
    }
}

#[test]
fn a_pocket_by_errors_beats_the_last_plane_and_the_longest_run() {
    let (mut by_errors, mut by_run, mut last) = (0, 0, 0);
    for seed in 0..100 {
        let data = overlapping(80, 3, 2, seed);
        by_errors += errors(&data, &pocket(&data, PocketRule::Errors, 20, seed).0);
        by_run += errors(&data, &pocket(&data, PocketRule::Run, 20, seed).0);
        last += errors(&data, &pocket_twin(&data, 20 * data.rows(), seed).last);
    }
    assert!(by_errors < by_run && by_run < last, "{by_errors}, {by_run}, {last}");
}

#[test]
fn heavy_rows_weigh_in_pockets_and_batches() {
    // On a line the four rows cannot all be right; whoever is heavy is.
    for heavy in 0..4 {
        let data = Data::new(vec![0.0, 1.0, 2.0, 3.0], 1, labels(vec![0, 1, 0, 1], 2));
        let weights: Vec<f64> = (0..4).map(|i| if i == heavy { 100.0 } else { 1.0 }).collect();
        let data = data.weighted(weights);
        for variant in [PerceptronVariant::PocketErrors, PerceptronVariant::PocketRun] {
            let model = data.model(&settings(variant, |m| m.max_epochs = 50));
            let Certificate::Errors { errors, total } = model.certificate else { panic!("{:?}", model.certificate) };
            assert!(errors < 3.0 && total == 103.0, "{variant:?}, heavy row {heavy}: {errors} of {total}");
        }
    }
}

fn answer(data: &Data, method: &Method) -> Fit {
    data.fit(method).expect("an answer")
}

#[test]
fn classes_without_a_strict_plane_are_told_and_others_never() {
    let mut told = [0, 0, 0];
    for seed in 0..150 {
        for (at, kind) in [Arrangement::Complete, Arrangement::Quasi, Arrangement::Overlap].into_iter().enumerate() {
            let cols = 1 + seed as usize % 5;
            let data = arranged(kind, 10 + seed as usize % 30, cols, seed % 2 == 0, seed);
            for standardize in [Standardize::Yes, Standardize::No] {
                for variant in [PerceptronVariant::Online, PerceptronVariant::Batch] {
                    let what = format!("{kind:?}, seed {seed}, {variant:?}, {standardize:?}");
                    let method = settings(variant, |m| (m.standardize, m.max_epochs) = (standardize, 3_000));
                    match answer(&data, &method) {
                        Fit::Refused(Refusal::NotSeparable(proof)) => {
                            assert!(kind != Arrangement::Complete, "{what}");
                            assert!(!proof.rows.is_empty() && proof.epochs <= 10, "{what}: {} rows", proof.rows.len());
                            assert!(proof.witness.is_some(), "{what}");
                            told[at] += 1;
                        }
                        Fit::Model(model) => match kind {
                            Arrangement::Complete if model.outcome == Outcome::Converged => {
                                assert!(matches!(model.certificate, Certificate::Separates { .. }), "{what}");
                            }
                            Arrangement::Complete => {
                                let separable = |n: &Note| {
                                    matches!(n, Note::Separability { verdict: Separability::Separable { .. } })
                                };
                                assert!(model.notes.iter().any(separable), "{what}: {:?}", model.notes);
                            }
                            _ => assert_ne!(model.outcome, Outcome::Converged, "{what}"),
                        },
                        Fit::Refused(Refusal::NoOptimum(_)) => panic!("{what}: not a question of likelihood"),
                    }
                }
            }
        }
    }
    // Every overlapping set and every set with rows of both classes in one plane is told.
    assert_eq!(told, [0, 600, 600]);
}

/// Sets whose separability is known (README of the shared data): the rows that prove overlap are all, or those that a
/// quasi-complete separation leaves on its boundary.
#[test]
#[ignore = "reads ../shared/data; ./test runs it where that is there"]
fn known_sets_are_answered() {
    for (file, target, overlap) in [
        ("banknote.csv", "class", Some(1372)),
        ("keel_wdbc.csv", "class", Some(569)),
        ("detectseparation_silvapulle1981.csv", "y", Some(2)),
        ("mlbench_Ionosphere.csv", "Class", Some(313)),
        ("mlbench_Sonar.csv", "Class", None),
    ] {
        let path = testkit::golden::shared_file(&format!("small/{file}"));
        let table = linsep::read::read_files(&[&path], &ReadOptions::default(), &Watch::default()).expect("a table");
        let fit = |epochs| {
            let method = PerceptronSettings { max_epochs: epochs, ..PerceptronSettings::default() };
            let options = FitOptions::new(target, Method::Perceptron(method));
            fit_table(table.clone(), &options, &Watch::default()).expect("an answer")
        };
        match (fit(100_000), overlap) {
            (TableFit::Refused(TableRefusal::NotSeparable { proof, .. }), Some(rows)) => {
                assert_eq!(proof.rows.len(), rows, "{file}")
            }
            (TableFit::Model(model), None) => {
                assert_eq!(model.outcome, Outcome::Converged, "{file}");
                assert!(matches!(model.certificate, Certificate::Separates { .. }), "{file}");
            }
            (other, _) => panic!("{file}: {other:?}"),
        }
    }
}

#[test]
fn pockets_and_averages_say_that_classes_overlap() {
    let data = overlapping(200, 3, 2, 5);
    for variant in &VARIANTS[2..] {
        let model = data.model(&settings(*variant, |m| m.max_epochs = 20));
        assert_eq!(model.outcome, Outcome::Converged, "{variant:?}");
        let overlap = |n: &Note| matches!(n, Note::Separability { verdict: Separability::Overlap { rows: 200 } });
        assert!(model.notes.iter().any(overlap), "{variant:?}: {:?}", model.notes);
        let stated = errors(&data, &theta(&model)) as f64;
        assert_eq!(model.certificate, Certificate::Errors { errors: stated, total: 200.0 });
        assert_eq!(model.objective.value, stated / 200.0);
    }
}

#[test]
fn a_plane_that_is_out_of_reach_is_promised_with_a_bound() {
    // Nearly touching classes: a plane exists, and takes more than ten epochs to find.
    let mut source = Source::new(9);
    let (data, plane) = with_margin(&mut source, 200, 3, 0.002);
    let known = (0..200).map(|i| dot(&extended(&data, i, true), &extended(&data, i, true))).fold(0.0, f64::max)
        * dot(&plane, &plane)
        / 0.002f64.powi(2);
    let method = |epochs| settings(PerceptronVariant::Online, |m| m.max_epochs = epochs);
    let early = data.model(&method(11));
    assert_eq!(early.outcome, Outcome::IterationLimit);
    let verdict = early.notes.iter().find_map(|n| match n {
        Note::Separability { verdict } => Some(verdict.clone()),
        _ => None,
    });
    let Some(Separability::Separable { bound: Some(bound) }) = verdict else { panic!("{:?}", early.notes) };
    let late = data.model(&method(1_000_000));
    assert_eq!(late.outcome, Outcome::Converged);
    let mistakes = late.computation.iterations as f64;
    assert!(mistakes <= bound && mistakes <= known, "{mistakes} mistakes, bounds {bound} and {known}");
}

#[test]
fn a_constant_step_scales_the_weights_and_decides_nothing() {
    for seed in 0..40 {
        let data = arranged(Arrangement::Complete, 50, 4, false, seed);
        for variant in VARIANTS {
            let fit = |step| data.model(&settings(variant, |m| m.step = step));
            let one = fit(1.0);
            for step in [0.1, 3.0, 1e-6, 7e8] {
                let other = fit(step);
                let scaled: Vec<f64> = theta(&one).iter().map(|t| t * step).collect();
                assert_all_near(&theta(&other), &scaled, 1e-14, 0.0, &format!("{variant:?}, step {step}"));
                assert_eq!(other.computation, one.computation, "{variant:?}, step {step}");
                assert_eq!(other.objective.value, one.objective.value);
            }
        }
    }
}

#[test]
fn small_sets_are_answered() {
    let watch = Watch::default();
    for variant in VARIANTS {
        let raw = settings(variant, |_| {});
        // One row of each class.
        let data = Data::new(vec![0.5, 2.0], 1, labels(vec![0, 1], 2));
        let model = data.model(&raw);
        // Of so few steps the average is still on the way, and says so.
        let passed = |n: &Note| matches!(n, Note::Separability { verdict: Separability::Passed });
        let averaged = variant == PerceptronVariant::Averaged && model.notes.iter().any(passed);
        assert_eq!(model.outcome, Outcome::Converged, "{variant:?}");
        assert_eq!(model.objective.value, if averaged { 0.5 } else { 0.0 }, "{variant:?}");
        // The same row with both labels.
        let twice = Data::new(vec![1.0, 2.0, 1.0, 2.0], 2, labels(vec![0, 1], 2));
        let wants = matches!(variant, PerceptronVariant::Online | PerceptronVariant::Batch);
        for method in [raw.clone(), Method::Perceptron(PerceptronSettings::new(variant))] {
            match twice.fit(&method).expect("an answer") {
                Fit::Refused(Refusal::NotSeparable(proof)) => assert!(wants && proof.rows == [0, 1], "{variant:?}"),
                Fit::Model(model) => {
                    assert!(!wants && model.objective.value > 0.0, "{variant:?}");
                    let linear = model.discriminant.as_linear().expect("a linear model");
                    assert!(linear.weights_of(0).iter().all(|w| w.is_finite()));
                }
                Fit::Refused(Refusal::NoOptimum(_)) => panic!("{variant:?}"),
            }
        }
        // Rows that forbid a plane are not there if their weight is zero.
        let four = Data::new(vec![0.0, 1.0, 0.5, 0.5], 1, labels(vec![0, 1, 0, 1], 2));
        let (with, without) = (four.weighted(vec![1.0, 2.0, 0.0, 0.0]), four.select(&[0, 1]).weighted(vec![1.0, 2.0]));
        let (with, without) = (with.model(&raw), without.model(&raw));
        assert_eq!((theta(&with), &with.computation), (theta(&without), &without.computation), "{variant:?}");
        // Without an intercept a row of zeros is on no side.
        let through_origin = settings(variant, |m| m.intercept = Intercept::None);
        let zero = Data::new(vec![1.0, 0.0, -1.0], 1, labels(vec![1, 1, 0], 2));
        for design in [&zero.dense() as &dyn Design, &zero.csr()] {
            match through_origin.fit(&zero.training(design), &watch).expect("an answer") {
                Fit::Refused(Refusal::NotSeparable(proof)) => {
                    assert!(wants && proof.rows == [1] && proof.witness.is_none(), "{variant:?}: {proof:?}");
                }
                Fit::Model(model) => assert!(!wants && model.objective.value == 1.0 / 3.0, "{variant:?}"),
                Fit::Refused(Refusal::NoOptimum(_)) => panic!("{variant:?}"),
            }
        }
        let apart = Data::new(vec![1.0, 2.0, -1.0], 1, labels(vec![1, 1, 0], 2)).model(&through_origin);
        assert_eq!((apart.objective.value, theta(&apart)[1]), (0.0, 0.0), "{variant:?}");
    }
}

#[test]
fn what_the_perceptron_does_not_do_is_refused() {
    let data = overlapping(30, 2, 3, 1);
    let pair = overlapping(30, 2, 2, 1);
    for variant in VARIANTS {
        let error = data.fit(&settings(variant, |_| {})).expect_err("three classes");
        assert!(error.message().contains("3 classes") && error.kind() == ErrorKind::Data, "{error}");
        let error = pair.offset(1, vec![0.1; 30]).fit(&settings(variant, |_| {})).expect_err("offsets");
        assert!(error.message().contains("no offsets"), "{error}");
        for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = pair.fit(&settings(variant, |m| m.step = step)).expect_err("a bad step");
            assert!(error.message().contains("not positive"), "{error}");
        }
        let error = pair.fit(&settings(variant, |m| m.max_epochs = 0)).expect_err("no epochs");
        assert!(error.message().contains("0 epochs"), "{error}");
        let error = pair.fit(&settings(variant, |m| m.intercept = Intercept::Penalised)).expect_err("a penalty");
        assert!(error.message().contains("no penalty"), "{error}");
    }
}

/// Mostly zeros, standardised: the sums over entries and the scalars of the centre give what dense rows give.
#[test]
fn sparse_rows_equal_dense_ones() {
    let mut source = Source::new(6);
    for round in 0..60 {
        let cols = 3 + source.below(20);
        let (dense, plane) = with_margin(&mut source, 60, cols, 0.2);
        // Zeros move rows off their side: the classes are those of the plane again.
        let sparse =
            dense.map(|j, v| if (j + (v * 1e3) as usize).is_multiple_of(3) { v + [0.0, 4.0][j % 2] } else { 0.0 });
        let codes = (0..60).map(|i| usize::from(dot(&plane, &extended(&sparse, i, true)) > 0.0)).collect();
        let data = Data { labels: labels(codes, 2), ..sparse };
        if data.labels.totals(None).contains(&0.0) {
            continue;
        }
        for variant in VARIANTS {
            for standardize in [Standardize::Yes, Standardize::No] {
                let method = settings(variant, |m| (m.standardize, m.max_epochs) = (standardize, 30));
                let what = format!("round {round}, {variant:?}, {standardize:?}");
                let watch = Watch::default();
                let fit = |design: &dyn Design| expect_model(method.fit(&data.training(design), &watch));
                let (a, b) = (fit(&data.dense()), fit(&data.csr()));
                assert_eq!((&a.computation, a.outcome), (&b.computation, b.outcome), "{what}");
                assert_all_near(&theta(&a), &theta(&b), 1e-10, 0.0, &what);
                assert_eq!(a.objective.value, b.objective.value, "{what}");
                if let (Certificate::Separates { bound: x, .. }, Certificate::Separates { bound: y, .. }) =
                    (&a.certificate, &b.certificate)
                {
                    assert_near(*x, *y, 1e-7, 0.0, &what);
                }
            }
        }
    }
}

#[test]
fn threads_change_no_bit() {
    let data = overlapping(9_000, 5, 2, 3).map(|_, v| if v.abs() < 0.5 { 0.0 } else { v });
    for variant in VARIANTS {
        let method = settings(variant, |m| (m.standardize, m.max_epochs) = (Standardize::Yes, 8));
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            let fit = |design: &dyn Design| match method.fit(&data.training(design), &Watch::default()) {
                Ok(Fit::Model(model)) => format!("{model:?}"),
                Ok(other) => format!("{other:?}"),
                Err(error) => panic!("{error}"),
            };
            pool.install(|| (fit(&data.dense()), fit(&data.csr())))
        };
        let one = with(1);
        assert!(one == with(2) && one == with(7), "{variant:?}");
    }
}

#[test]
fn a_cancelled_run_stops_with_what_there_is() {
    let data = overlapping(20_000, 3, 2, 4);
    for variant in VARIANTS {
        let flag = Arc::new(AtomicBool::new(false));
        let raised = Arc::clone(&flag);
        // Raised when the second epoch is reported, the verdict on separability not yet asked for.
        let watch = Watch::with_flag(flag).observer(move |event| {
            if matches!(event, linsep::watch::Progress::Iteration { iteration: 2, .. }) {
                raised.store(true, Ordering::Relaxed);
            }
        });
        let method = settings(variant, |m| m.max_epochs = 1_000_000);
        let model = expect_model(method.fit(&data.training(&data.dense()), &watch));
        assert_eq!(model.outcome, Outcome::Interrupted, "{variant:?}");
        assert!(model.computation.passes <= 3, "{variant:?}: {} epochs", model.computation.passes);
    }
}

fn table(data: &Data) -> Table {
    let mut csv = (0..data.cols).map(|j| format!("x{j}")).collect::<Vec<_>>().join(",") + ",class\n";
    for i in 0..data.rows() {
        let cells: Vec<String> = data.row(i).iter().map(|v| format!("{v:?}")).collect();
        csv.push_str(&format!("{},class {}\n", cells.join(","), data.class(i)));
    }
    read_bytes(csv.as_bytes(), "rows.csv", &ReadOptions::default()).expect("a table")
}

fn model_of(table: &Table, method: Method) -> Model {
    match fit_table(table.clone(), &FitOptions::new("class", method), &Watch::default()).expect("a fit") {
        TableFit::Model(model) => *model,
        other => panic!("{other:?}"),
    }
}

#[test]
fn models_verify_and_tampered_ones_do_not() {
    let sets = [table(&arranged(Arrangement::Complete, 80, 3, false, 2)), table(&overlapping(80, 3, 2, 2))];
    for (at, table) in sets.iter().enumerate() {
        for variant in VARIANTS {
            if at == 1 && matches!(variant, PerceptronVariant::Online | PerceptronVariant::Batch) {
                continue;
            }
            for standardize in [Standardize::Yes, Standardize::No] {
                let what = format!("{variant:?}, {standardize:?}, set {at}");
                let model = model_of(table, settings(variant, |m| (m.standardize, m.step) = (standardize, 0.25)));
                let failed = |model: &Model| {
                    let verdict = verify_table(model, table, &Watch::default()).expect("a verdict");
                    verdict.checks.iter().filter(|c| !c.holds).map(|c| c.claim).collect::<Vec<_>>()
                };
                assert!(failed(&model).is_empty(), "{what}: {:?}", verify_table(&model, table, &Watch::default()));
                let scaled = |by: f64| {
                    let linear = model.discriminant.as_linear().expect("linear");
                    let weights = linear.weights_of(0).iter().map(|w| w * by).collect();
                    let intercept = linear.intercept_at_centre().iter().map(|b| b * by).collect();
                    let centre = linear.centre().to_vec();
                    linsep::discriminant::Linear::new(weights, centre, intercept).expect("linear")
                };
                let with = |linear| Model {
                    discriminant: linsep::discriminant::Discriminant::Linear(linear),
                    ..model.clone()
                };
                assert!(!failed(&with(scaled(-1.0))).is_empty(), "{what}: other signs");
                if let Certificate::Separates { margin, norm, radius, bound, widest, mistakes: Some(mistakes) } =
                    model.certificate.clone()
                {
                    assert_eq!(failed(&with(scaled(100.0))), ["discriminant"], "{what}: a longer θ");
                    let stating = |margin, norm, mistakes| {
                        let certificate =
                            Certificate::Separates { margin, norm, radius, bound, widest, mistakes: Some(mistakes) };
                        Model { certificate, ..model.clone() }
                    };
                    assert!(failed(&stating(margin, norm, mistakes)).is_empty(), "{what}");
                    assert_eq!(failed(&stating(1.01 * margin, norm, mistakes)), ["certificate"], "{what}: margin");
                    assert_eq!(failed(&stating(margin, 0.99 * norm, mistakes)), ["certificate"], "{what}: norm");
                    let more = bound.ceil() as usize + 1;
                    assert_eq!(failed(&stating(margin, norm, more)), ["certificate"], "{what}: too many mistakes");
                    assert_eq!(failed(&stating(margin, norm, 0)), ["certificate"], "{what}: no mistakes at all");
                    // A longer θ that says so needs more mistakes than it states.
                    let long = with(scaled(100.0));
                    let certificate = Certificate::Separates {
                        margin: 100.0 * margin,
                        norm: 100.0 * norm,
                        radius,
                        bound,
                        widest,
                        mistakes: Some(mistakes),
                    };
                    let claims = failed(&Model { certificate, ..long });
                    assert_eq!(claims, ["discriminant", "certificate"], "{what}: too few mistakes");
                } else {
                    let Certificate::Errors { errors, total } = model.certificate else { panic!("{what}") };
                    let fewer = Certificate::Errors { errors: errors - 1.0, total };
                    assert_eq!(failed(&Model { certificate: fewer, ..model.clone() }), ["certificate"], "{what}");
                    let separates = Certificate::Separates {
                        margin: 1.0,
                        norm: 1.0,
                        radius: 1.0,
                        bound: 1.0,
                        widest: None,
                        mistakes: Some(1),
                    };
                    assert_eq!(failed(&Model { certificate: separates, ..model.clone() }), ["certificate"], "{what}");
                }
            }
        }
    }
}

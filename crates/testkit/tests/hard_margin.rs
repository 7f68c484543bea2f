//! The hard margin against margins that were chosen, a quadratic programming solver, the soft margin and its own theorems.

use linsep::artifact::Model;
use linsep::certify::Certificate;
use linsep::design::Training;
use linsep::design::{DenseMatrix, Standardize};
use linsep::model::{
    Fit, Fitted, HardMarginSettings, KernelSvmSettings, LossChoice, Method, NotSeparable, Note, Outcome, PenaltyChoice,
    Refusal, RiskMinimizer,
};
use linsep::read::{ReadOptions, read_bytes};
use linsep::separate::Verdict;
use linsep::watch::Watch;
use linsep::workflow::{Approach, FitOptions, SupportRow, TableFit, fit_table, support_tables, verify_table};
use testkit::cone::least_hard_margin;
use testkit::data::{Data, Source, labels};
use testkit::{assert_all_near, assert_near};

fn hard() -> Method {
    Method::HardMargin(HardMarginSettings::default())
}

fn margin(model: &Fitted) -> f64 {
    match &model.certificate {
        Certificate::Margin { margin, .. } => *margin,
        other => panic!("no margin: {other:?}"),
    }
}

#[track_caller]
fn not_separable(data: &Data) -> NotSeparable {
    match data.fit(&hard()) {
        Ok(Fit::Refused(Refusal::NotSeparable(proof))) => *proof,
        other => panic!("not an answer: {other:?}"),
    }
}

/// Rows of two classes with exactly this margin along a random direction: two rows face each other across it, and no other row
/// is nearer to the plane. Rows are moved by a constant.
fn built(rows: usize, cols: usize, margin: f64, seed: u64) -> (Data, Vec<f64>) {
    let mut source = Source::new(seed);
    let direction = source.normals(cols);
    let length = direction.iter().map(|v| v * v).sum::<f64>().sqrt();
    let unit: Vec<f64> = direction.iter().map(|v| v / length).collect();
    let shift = source.normals(cols);
    let across = |source: &mut Source| -> Vec<f64> {
        let x = source.normals(cols);
        let along: f64 = x.iter().zip(&unit).map(|(x, u)| x * u).sum();
        x.iter().zip(&unit).map(|(x, u)| 3.0 * (x - along * u)).collect()
    };
    let facing = across(&mut source);
    let (mut values, mut codes) = (Vec::new(), Vec::new());
    for i in 0..rows {
        let class = i % 2;
        let sign = if class == 1 { 1.0 } else { -1.0 };
        let (base, distance) = match i {
            0 | 1 => (facing.clone(), margin),
            _ => (across(&mut source), margin * (1.0 + 4.0 * source.uniform(0.0, 1.0))),
        };
        values.extend((0..cols).map(|j| base[j] + sign * distance * unit[j] + shift[j]));
        codes.push(class);
    }
    (Data::new(values, cols, labels(codes, 2)), unit)
}

/// `w = Σαyx`, `Σαy = 0`, `α(y z − 1) = 0`, `y z ≥ 1` and `Σα = ‖w‖² = 1/γ²`, as far as the gap allows.
#[track_caller]
fn check_conditions(data: &Data, model: &Fitted, what: &str) {
    let alpha = &model.multipliers.as_ref().expect("multipliers").alpha;
    let linear = model.discriminant.as_linear().expect("linear");
    let w = linear.weights_of(0);
    let square: f64 = w.iter().map(|w| w * w).sum();
    let sign = |i: usize| if data.class(i) == 1 { 1.0 } else { -1.0 };
    let total: f64 = alpha.iter().sum();
    let balance: f64 = alpha.iter().enumerate().map(|(i, a)| a * sign(i)).sum();
    assert!(balance.abs() <= 1e-12 * total, "{what}: Σαy = {balance}");
    assert_near(total, square, 1e-7, 0.0, &format!("{what}: Σα and ‖w‖²"));
    assert_near(square, margin(model).powi(-2), 1e-9, 0.0, &format!("{what}: ‖w‖² and 1/γ²"));
    assert_near(model.objective.value, 0.5 * square, 1e-12, 0.0, &format!("{what}: the objective"));
    let mut sum = vec![0.0; data.cols];
    for (i, a) in alpha.iter().enumerate() {
        sum.iter_mut().zip(data.row(i)).for_each(|(s, x)| *s += a * sign(i) * x);
    }
    let size = data.values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    assert_all_near(&sum, w, 1e-7, 1e-7 * total * size, &format!("{what}: Σαyx"));
    for (i, z) in data.scores(model).iter().enumerate().filter(|(i, _)| data.weight(*i) > 0.0) {
        assert!(sign(i) * z >= 1.0 - 1e-9, "{what}: row {i} has y z = {}", sign(i) * z);
        assert!(
            alpha[i] == 0.0 || alpha[i] * (sign(i) * z - 1.0) <= 1e-6 * total,
            "{what}: row {i} is far from the margin"
        );
    }
}

#[test]
fn the_margin_is_the_one_that_was_chosen() {
    for (rows, cols, chosen) in
        [(2, 1, 0.25), (2, 3, 4.0), (40, 2, 1.0), (300, 5, 1e-3), (2000, 8, 7.5), (1200, 3, 0.5)]
    {
        let (data, unit) = built(rows, cols, chosen, 100 + rows as u64);
        let model = data.model(&hard());
        let what = format!("{rows} rows, {cols} columns");
        assert_eq!(model.outcome, Outcome::Converged, "{what}: {:?}", model.certificate);
        assert_near(margin(&model), chosen, 1e-8, 0.0, &what);
        let w = model.discriminant.as_linear().expect("linear").weights_of(0).to_vec();
        let norm = w.iter().map(|w| w * w).sum::<f64>().sqrt();
        let cosine: f64 = w.iter().zip(&unit).map(|(w, u)| w * u / norm).sum();
        assert!(cosine > 1.0 - 1e-7, "{what}: {cosine}");
        check_conditions(&data, &model, &what);
    }
}

/// Random rows that happen to be separable, narrow, square and wide.
#[test]
fn agrees_with_a_quadratic_programming_solver() {
    for (rows, cols, seed) in [(30, 2, 1), (60, 3, 2), (25, 25, 3), (20, 60, 4), (40, 120, 5), (500, 4, 6)] {
        let mut source = Source::new(seed);
        let direction = source.normals(cols);
        let mut data = Data::new(source.normals(rows * cols), cols, labels((0..rows).map(|i| i % 2).collect(), 2));
        if cols < rows {
            // Pushed apart, so that a plane exists.
            let codes: Vec<usize> = (0..rows).map(|i| data.class(i)).collect();
            for i in 0..rows {
                let along: f64 = data.row(i).iter().zip(&direction).map(|(x, u)| x * u).sum();
                let side = if codes[i] == 1 { 1.0 } else { -1.0 };
                let push = side * (along.abs() + 0.2) - along;
                let length: f64 = direction.iter().map(|u| u * u).sum();
                (0..cols).for_each(|j| data.values[i * cols + j] += push * direction[j] / length);
            }
        }
        let what = format!("{rows}×{cols}");
        let model = data.model(&hard());
        assert_eq!(model.outcome, Outcome::Converged, "{what}: {:?}", model.certificate);
        assert_near(model.objective.value, least_hard_margin(&data), 3e-8, 0.0, &what);
        check_conditions(&data, &model, &what);
    }
}

/// For C ≥ max α* the soft margin is the hard one; below, it is not.
#[test]
fn a_soft_margin_with_a_high_price_is_hard() {
    let (data, _) = built(120, 3, 0.6, 11);
    // A few rows on the margin besides, so that the multipliers are several.
    let model = data.model(&hard());
    let largest = model.multipliers.as_ref().expect("multipliers").alpha.iter().fold(0.0f64, |m, a| m.max(*a));
    let soft = |c: f64| {
        let lambda = 1.0 / (c * data.rows() as f64);
        let method = RiskMinimizer {
            loss: LossChoice::Hinge,
            penalty: PenaltyChoice::Ridge(lambda),
            standardize: Standardize::No,
            tolerance: 1e-12,
            ..RiskMinimizer::default()
        };
        let fitted = data.model(&Method::Risk(method));
        (fitted.objective.value / lambda, data.scores(&fitted))
    };
    let scores = data.scores(&model);
    for factor in [1.001, 2.0, 100.0] {
        let (objective, soft_scores) = soft(factor * largest);
        assert_near(objective, model.objective.value, 1e-6, 0.0, &format!("C = {factor} max α"));
        assert_all_near(&soft_scores, &scores, 1e-3, 1.0, &format!("C = {factor} max α"));
    }
    let (objective, _) = soft(0.5 * largest);
    assert!(objective < 0.99 * model.objective.value, "{objective} against {}", model.objective.value);
}

#[test]
fn no_plane_is_an_answer() {
    // Twins of different classes.
    let data = Data::new(vec![0.0, 1.0, 4.0, 4.0, 2.0, 2.5, 4.0, 4.0], 2, labels(vec![0, 1, 0, 0], 2));
    let proof = not_separable(&data);
    assert_eq!(proof.rows, [1, 3]);
    let witness = |proof: &NotSeparable| -> Verdict { proof.witness.as_ref().expect("a witness").verdict.clone() };
    let Verdict::QuasiComplete(v) = witness(&proof) else { panic!("{:?}", witness(&proof)) };
    assert_eq!(v.common.constraints.iter().map(|c| c.row).collect::<Vec<_>>(), [1, 3]);
    assert!(v.common.constraints.iter().all(|c| (c.weight - 1.0).abs() < 1e-12), "{:?}", v.common);
    // Exclusive or.
    let xor = Data::new(vec![0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0], 2, labels(vec![0, 0, 1, 1], 2));
    let Verdict::Overlap(v) = witness(&not_separable(&xor)) else { panic!("all four rows are in the way") };
    // The diagonals meet in the middle.
    let common = v.common.expect("a point");
    assert!(common.constraints.len() == 4 && common.constraints.iter().all(|c| (c.weight - 0.5).abs() < 1e-12));
    // Hulls that touch in one point, as the row 2 of a class between two of the other.
    let touching = Data::new(vec![1.0, 2.0, 2.0, 3.0], 1, labels(vec![0, 0, 1, 1], 2));
    assert_eq!(not_separable(&touching).rows, [1, 2]);
    let between = Data::new(vec![1.0, 3.0, 2.0], 1, labels(vec![0, 0, 1], 2));
    assert!(matches!(witness(&not_separable(&between)), Verdict::Overlap(_)));
    // Wide twins, where logistic regression would not be asked.
    let cols = 2500;
    let row: Vec<f64> = (0..cols).map(|j| (j % 7) as f64).collect();
    let wide = Data::new([row.clone(), row].concat(), cols, labels(vec![0, 1], 2));
    assert_eq!(not_separable(&wide).rows, [0, 1]);
    // All rows equal.
    let same = Data::new(vec![3.0; 6], 1, labels(vec![0, 1, 0, 1, 1, 0], 2));
    assert_eq!(not_separable(&same).rows, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn collinear_and_constant_columns() {
    let (data, _) = built(50, 3, 0.8, 21);
    let plain = data.model(&hard());
    let copied = data.with_column(|_, x| x[1]).with_column(|_, _| 5.0);
    let model = copied.model(&hard());
    assert_eq!(model.outcome, Outcome::Converged);
    let w = model.discriminant.as_linear().expect("linear").weights_of(0);
    // Duplicates share, and a constant has no part in it.
    assert_near(w[1], w[3], 1e-6, 1e-3, "duplicates");
    assert_eq!(w[4], 0.0);
    assert!(model.notes.contains(&Note::Constant { columns: vec![4] }));
    assert!(margin(&model) >= margin(&plain) * (1.0 - 1e-8), "another column cannot narrow the margin");
    check_conditions(&copied, &model, "collinear");
}

#[test]
fn sparse_single_weighted_and_shifted_rows_are_the_same() {
    let (data, _) = built(90, 4, 0.5, 31);
    let data = data.map(|j, v| if j == 1 && v.abs() < 0.4 { 0.0 } else { f64::from(v as f32) });
    let Ok(Fit::Model(dense)) = data.fit(&hard()) else { panic!("the rounding left no plane") };
    let expected = data.scores(&dense);
    let of = |design: &dyn linsep::design::Design| match hard().fit(&data.training(design), &Watch::default()) {
        Ok(Fit::Model(model)) => *model,
        other => panic!("{other:?}"),
    };
    assert_all_near(&data.scores(&of(&data.csr())), &expected, 1e-6, 1.0, "sparse");
    assert_all_near(&data.scores(&of(&data.singles())), &expected, 1e-12, 1.0, "singles");
    // Weights only say which rows count.
    let weighted = data.weighted((0..90).map(|i| 0.5 + f64::from(i as u32)).collect());
    assert_eq!(weighted.scores(&weighted.model(&hard())), expected);
    let mut extra = data.select(&(0..90).chain([0]).collect::<Vec<usize>>());
    extra.labels = labels((0..91).map(|i| if i == 90 { 1 - data.class(0) } else { data.class(i) }).collect(), 2);
    extra.weights = Some((0..91).map(|i| if i == 90 { 0.0 } else { 1.0 }).collect());
    assert_all_near(&extra.scores(&extra.model(&hard()))[..90], &expected, 1e-6, 1.0, "a row without weight");
    // A common offset, as large as it may be, moves the plane and not the margin.
    let far = data.map(|j, v| v + [1e9, -3e8, 0.0, 7e7][j]);
    assert_near(margin(&far.model(&hard())), margin(&dense), 1e-6, 0.0, "far away");
}

#[test]
fn standardised_distances_are_those_of_standardised_columns() {
    let (data, _) = built(80, 3, 0.5, 41);
    let data = data.map(|j, v| v * [1.0, 1e4, 1e-5][j]);
    let moments = |j: usize| {
        let n = data.rows() as f64;
        let mean = (0..data.rows()).map(|i| data.row(i)[j]).sum::<f64>() / n;
        let variance = (0..data.rows()).map(|i| (data.row(i)[j] - mean).powi(2)).sum::<f64>() / n;
        (mean, variance.sqrt())
    };
    let scales: Vec<(f64, f64)> = (0..3).map(moments).collect();
    let by_hand = data.map(|j, v| (v - scales[j].0) / scales[j].1);
    let method =
        Method::HardMargin(HardMarginSettings { standardize: Standardize::Yes, ..HardMarginSettings::default() });
    let (a, b) = (data.model(&method), by_hand.model(&hard()));
    assert_near(margin(&a), margin(&b), 1e-8, 0.0, "margin");
    assert_all_near(&data.scores(&a), &by_hand.scores(&b), 1e-5, 1.0, "scores");
    assert_eq!(method.standardize(), Standardize::Yes);
}

/// Two rows are their own answer, to the last digit.
#[test]
fn two_rows() {
    let x = DenseMatrix::new(vec![1.0, 2.0, 4.0, 6.0], 2).expect("rows");
    let y = labels(vec![0, 1], 2);
    let Ok(Fit::Model(model)) = hard().fit(&Training::new(&x, &y), &Watch::default()) else { panic!("separable") };
    // The way from one to the other is (3, 4), five long: w = 2(3, 4)/25.
    let linear = model.discriminant.as_linear().expect("linear");
    assert_all_near(linear.weights_of(0), &[0.24, 0.32], 1e-12, 0.0, "w");
    assert_near(linear.intercept()[0], -(0.24 * 2.5 + 0.32 * 4.0), 1e-12, 0.0, "w₀");
    assert_near(margin(&model), 2.5, 1e-12, 0.0, "γ");
    assert_all_near(&model.multipliers.as_ref().expect("multipliers").alpha, &[0.08, 0.08], 1e-12, 0.0, "α");
}

#[test]
fn large_tables_by_row_generation() {
    let (data, _) = built(200_000, 10, 0.25, 51);
    let model = data.model(&hard());
    assert_eq!(model.outcome, Outcome::Converged, "{:?}", model.certificate);
    assert_near(margin(&model), 0.25, 1e-8, 0.0, "margin");
}

#[test]
fn threads_give_the_same_bits() {
    let (data, _) = built(5000, 6, 0.5, 61);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let model = data.model(&hard());
            (data.scores(&model), model.multipliers.expect("multipliers").alpha)
        })
    };
    assert_eq!(with(1), with(3));
}

/// A table in, a model out, verified, kept and laid open.
#[test]
fn tables_to_support_vectors() {
    let csv = "x,z,kind,y\n0,0,a,no\n1,0,b,no\n0,,a,no\n4,4,a,yes\n5,4,b,yes\n0.5,-1,a,no\n5,6,b,yes\n";
    let table = || read_bytes(csv.as_bytes(), "t.csv", &ReadOptions::default()).expect("a table");
    let options = FitOptions::new("y", hard());
    let Ok(TableFit::Model(model)) = fit_table(table(), &options, &Watch::default()) else { panic!("separable") };
    let verified = verify_table(&model, &table(), &Watch::default()).expect("a verdict");
    assert!(verified.passed(), "{:?}", verified.checks);
    let json = model.to_json().expect("JSON");
    assert_eq!(Model::from_json(json.as_bytes(), "m.json").expect("a model"), *model);
    let tables = support_tables(&model, &table(), &Watch::default()).expect("support vectors");
    let rows = &tables[0].rows;
    assert!(rows.len() >= 2 && rows.iter().all(|r| !r.bounded && r.slack < 1e-8), "{rows:?}");
    let half = margin_of(&model);
    assert!(rows.iter().all(|r| (r.distance.expect("a length").abs() - half).abs() < 1e-8 * half), "{rows:?}");
    // Another plane or other multipliers are found out.
    let mut moved = model.clone();
    moved.discriminant = model.discriminant.plus(&[0.1]).expect("a plane");
    assert!(!verify_table(&moved, &table(), &Watch::default()).expect("a verdict").passed());
    let mut other = model.clone();
    let support = other.support_vectors.as_mut().expect("support vectors");
    support.multipliers = vec![(1, 1.0), (7, 1.0)];
    assert!(!verify_table(&other, &table(), &Watch::default()).expect("a verdict").passed());
}

fn margin_of(model: &Model) -> f64 {
    match &model.certificate {
        Certificate::Margin { margin, .. } => *margin,
        other => panic!("no margin: {other:?}"),
    }
}

/// Slack and distance of a soft margin, against their definitions; bounded exactly where α is C.
#[test]
fn support_tables_of_soft_margins() {
    let mut source = Source::new(71);
    let mut csv = "x,z,w,y\n".to_owned();
    for i in 0..120 {
        let k = i % 2;
        let (x, z) = (source.normal() + 1.2 * k as f64, source.normal());
        csv.push_str(&format!("{x},{z},{},{}\n", 1 + i % 3, ["no", "yes"][k]));
    }
    let table = || read_bytes(csv.as_bytes(), "t.csv", &ReadOptions::default()).expect("a table");
    for loss in [LossChoice::Hinge, LossChoice::SquaredHinge] {
        let method = Method::Risk(RiskMinimizer { loss, tolerance: 1e-10, ..RiskMinimizer::default() });
        let options = FitOptions { weights: Some("w".into()), ..FitOptions::new("y", method) };
        let Ok(TableFit::Model(model)) = fit_table(table(), &options, &Watch::default()) else { panic!("a model") };
        let tables = support_tables(&model, &table(), &Watch::default()).expect("support vectors");
        let rows = &tables[0].rows;
        let support = model.support_vectors.as_ref().expect("support vectors");
        assert_eq!(rows.len(), support.multipliers.len());
        assert_eq!(rows.iter().filter(|r| r.bounded).count(), support.bounded);
        let linear = model.discriminant.as_linear().expect("linear");
        let norm = linear.weights_of(0).iter().map(|w| w * w).sum::<f64>().sqrt();
        for row in rows {
            let sign = if row.class.index() == 1 { 1.0 } else { -1.0 };
            assert_near(row.slack, (1.0 - sign * row.distance.expect("a length") * norm).max(0.0), 1e-12, 1.0, "slack");
            if loss == LossChoice::Hinge && !row.bounded {
                assert!(row.slack < 1e-3, "a free row is on the margin: {row:?}");
            }
        }
    }
    let logistic = FitOptions::new("y", Method::Risk(RiskMinimizer::default()));
    let Ok(TableFit::Model(model)) = fit_table(table(), &logistic, &Watch::default()) else { panic!("a model") };
    assert!(support_tables(&model, &table(), &Watch::default()).is_err());
}

/// Several classes have a table for every fit, or one with the class that each row holds off; a kernel has distances in its
/// feature space. Slack follows from distance in all of them.
#[test]
fn support_tables_of_every_machine() {
    let mut source = Source::new(72);
    let mut csv = "x,z,y\n".to_owned();
    for i in 0..150 {
        let k = i % 3;
        let (x, z) = (source.normal() + 2.0 * (k == 1) as u8 as f64, source.normal() + 2.0 * (k == 2) as u8 as f64);
        csv.push_str(&format!("{x},{z},{}\n", ["a", "b", "c"][k]));
    }
    let table = || read_bytes(csv.as_bytes(), "t.csv", &ReadOptions::default()).expect("a table");
    let svm = || Method::Risk(RiskMinimizer { loss: LossChoice::Hinge, ..RiskMinimizer::default() });
    let kernel = || Method::KernelSvm(KernelSvmSettings::default());
    for (method, approach, tables) in [
        (svm(), Approach::OneVsOne, 3),
        (svm(), Approach::LinearMachine, 3),
        (svm(), Approach::Joint, 1),
        (kernel(), Approach::OneVsOne, 3),
    ] {
        let mut options = FitOptions::new("y", method);
        options.multiclass.approach = Some(approach);
        let Ok(TableFit::Model(model)) = fit_table(table(), &options, &Watch::default()) else { panic!("a model") };
        let found = support_tables(&model, &table(), &Watch::default()).expect("support vectors");
        assert_eq!(found.len(), tables, "{}", approach.name());
        for (score, one) in found.iter().enumerate() {
            assert_eq!(one.part.is_some(), tables == 3);
            let stored = model.parts.get(score).map_or(&model.support_vectors, |p| &p.support_vectors);
            assert_eq!(one.rows.len(), stored.as_ref().expect("support vectors").multipliers.len());
            assert!(one.rows.iter().all(|r| r.against.is_some() == (tables == 1) && r.alpha > 0.0));
            // A row strictly within the margin is at its bound, and there are such rows.
            let within = |r: &&SupportRow| r.slack > 1e-2;
            assert!(one.rows.iter().filter(within).count() > 0);
            if tables == 3 {
                assert!(one.rows.iter().filter(within).all(|r| r.bounded), "{}", approach.name());
            }
            // The distance has the sign of the side, and so tells a slack above one.
            for r in &one.rows {
                let side = match one.part {
                    Some(part) if r.class != part.class => -1.0,
                    _ => 1.0,
                };
                assert_eq!(r.slack > 1.0, side * r.distance.expect("a length") < 0.0, "{r:?}");
            }
        }
    }
}

/// Rows that are hard to tell apart: random walks with random labels, whose columns are nearly collinear, so that the hulls nearly
/// touch. An interior point alone leaves a gap of 1e-8 to 1e-6 there, and weights on all rows.
#[test]
fn nearly_touching_hulls_are_solved_by_their_active_rows() {
    let (rows, cols) = (110, 60);
    let mut solved = 0;
    for seed in 0..12 {
        let mut source = Source::new(100 + seed);
        let mut values = Vec::with_capacity(rows * cols);
        for _ in 0..rows {
            let mut at = 0.5;
            values.extend(source.normals(cols).iter().map(|step| {
                at += 0.05 * step;
                at
            }));
        }
        let codes: Vec<usize> = (0..rows).map(|_| usize::from(source.uniform(0.0, 1.0) < 0.5)).collect();
        let data = Data::new(values, cols, labels(codes, 2));
        let Ok(Fit::Model(model)) = data.fit(&hard()) else { continue };
        solved += 1;
        assert_eq!(model.outcome, Outcome::Converged, "seed {seed}: {:?}", model.certificate);
        let support = model.multipliers.as_ref().map_or(0, |m| m.alpha.iter().filter(|a| **a > 0.0).count());
        assert!((2..=cols + 1).contains(&support), "seed {seed}: {support} support vectors");
    }
    assert!(solved >= 4, "{solved} tables were separable");
}

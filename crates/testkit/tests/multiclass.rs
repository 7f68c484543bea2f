//! Several classes by two-class fits: what the fits are, how they decide, what is undetermined, how far decisions hold.

use linsep::artifact::Model;
use linsep::certify::Certificate;
use linsep::decide::{self, Scheme, Ties, Vote, pair_position};
use linsep::design::Standardize;
use linsep::error::ErrorKind;
use linsep::evaluate::Evaluation;
use linsep::model::{
    Fit, GaussianBayes, KernelChoice, KernelPerceptronSettings, KernelSvmSettings, LeastSquaresSettings, LossChoice,
    Method, NaiveBayes, Outcome, PenaltyChoice, PerceptronSettings, PerceptronVariant, RiskMinimizer,
    SigmoidLeastSquares, Split, SplitFit,
};
use linsep::objective::Intercept;
use linsep::read::{ReadOptions, read_bytes, read_files};
use linsep::table::{Class, Table};
use linsep::watch::Watch;
use linsep::workflow::{
    Approach, FitOptions, GeometryOptions, Multiclass, TableFit, TableRefusal, evaluate_table, fit_table, geometry_of,
    geometry_table, predict_table, verify_table,
};
use testkit::data::{Data, Source, labels, overlapping};
use testkit::{assert_all_near, assert_near};

const SCHEMES: [Approach; 3] = [Approach::OneVsOne, Approach::OneVsRest, Approach::LinearMachine];
const VOTES: [Vote; 3] = [Vote::Majority, Vote::Unanimity, Vote::Scores];

fn svm(change: impl FnOnce(&mut RiskMinimizer)) -> Method {
    let mut method = RiskMinimizer { loss: LossChoice::Hinge, ..RiskMinimizer::default() };
    change(&mut method);
    Method::Risk(method)
}

fn example(name: &str) -> Table {
    let path = format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"));
    read_files(&[std::path::PathBuf::from(path)], &ReadOptions::default(), &Watch::default()).expect("an example")
}

fn table_of(data: &Data) -> Table {
    let mut csv = (0..data.cols).map(|j| format!("x{j},")).collect::<String>() + "class\n";
    for i in 0..data.rows() {
        data.row(i).iter().for_each(|v| csv.push_str(&format!("{v:?},")));
        csv.push_str(&format!("class {}\n", data.class(i)));
    }
    read_bytes(csv.as_bytes(), "rows.csv", &ReadOptions::default()).expect("a table")
}

fn options(target: &str, method: &Method, multiclass: Multiclass) -> FitOptions {
    FitOptions { multiclass, ..FitOptions::new(target, method.clone()) }
}

fn by(approach: Approach) -> Multiclass {
    Multiclass { approach: Some(approach), ..Multiclass::default() }
}

#[track_caller]
fn model_of(table: &Table, target: &str, method: &Method, multiclass: Multiclass) -> Model {
    match fit_table(table.clone(), &options(target, method, multiclass), &Watch::default()) {
        Ok(TableFit::Model(model)) => *model,
        Ok(other) => panic!("no model: {other:?}"),
        Err(error) => panic!("{error}"),
    }
}

#[track_caller]
fn split_model(split: Split, method: &Method, data: &Data) -> (linsep::model::Fitted, Vec<linsep::model::FittedPart>) {
    match split.fit(method, &data.training(&data.dense()), &Watch::default()) {
        Ok(Fit::Model(SplitFit { whole, parts })) => (*whole, parts),
        Ok(other) => panic!("no model: {other:?}"),
        Err(error) => panic!("{error}"),
    }
}

/// Three classes as the arms of a pinwheel: rotated by a third of a circle the picture is the same, and no mirror is.
fn pinwheel() -> Data {
    let (mut values, mut codes) = (Vec::new(), Vec::new());
    for class in 0..3 {
        let (sin, cos) = (std::f64::consts::TAU * class as f64 / 3.0).sin_cos();
        for step in 0..8 {
            let (x, y) = (1.0, 0.5 * f64::from(step));
            values.extend([cos * x - sin * y, sin * x + cos * y]);
            codes.push(class);
        }
    }
    Data::new(values, 2, labels(codes, 3))
}

/// Every fit of a pair sees the centre of the pinwheel on the same side of the turn, so that 0 beats 1, 1 beats 2 and 2
/// beats 0, or the other way round: nobody wins.
#[test]
fn independent_pairs_leave_the_centre_of_a_pinwheel_undetermined() {
    let data = pinwheel();
    let method = svm(|m| {
        m.standardize = Standardize::No;
        m.penalty = PenaltyChoice::Ridge(1e-3);
    });
    let (whole, _) = split_model(Split::Pairs, &method, &data);
    let centre = linsep::design::DenseMatrix::new(vec![0.0, 0.0], 2).expect("a row");
    let z = whole.discriminant.scores(&centre, &Watch::default()).expect("scores");
    // In the turn's order: 0 → 1, 1 → 2, 2 → 0.
    let turn = [z[0], z[2], -z[1]];
    assert!(turn.iter().all(|g| (g - turn[0]).abs() < 1e-3 * turn[0].abs()), "the same three times: {turn:?}");
    assert!(turn[0].abs() > 0.05, "the planes miss the centre: {turn:?}");
    let decided = |vote, ties| Scheme::OneVsOne { vote, ties }.class(&z, 3);
    assert_eq!(decided(Vote::Majority, Ties::Undetermined), None);
    assert_eq!(decided(Vote::Unanimity, Ties::Undetermined), None);
    assert_eq!(decided(Vote::Majority, Ties::First), Some(Class(0)));
    // The rows themselves are all decided, and rightly.
    let scores = data.scores(&whole);
    for vote in VOTES {
        let classes = Scheme::OneVsOne { vote, ties: Ties::First }.classes(&scores, 3);
        assert!(classes.iter().enumerate().all(|(i, c)| c.map(Class::index) == Some(data.class(i))), "{vote:?}");
    }
}

/// With `g_ij = g_j − g_i` nothing contradicts: every vote is the arg max.
#[test]
fn votes_on_differences_of_scores_are_the_arg_max() {
    let mut source = Source::new(1);
    for classes in 3..8 {
        for _ in 0..300 {
            let g = source.normals(classes);
            let mut pairs = vec![0.0; classes * (classes - 1) / 2];
            for i in 0..classes {
                for j in i + 1..classes {
                    pairs[pair_position(classes, i, j)] = g[j] - g[i];
                }
            }
            let best = decide::classes(&g, classes)[0];
            for vote in VOTES {
                let ties = if vote == Vote::Scores { Ties::First } else { Ties::Undetermined };
                assert_eq!(Scheme::OneVsOne { vote, ties }.class(&pairs, classes), Some(best), "{vote:?} of {g:?}");
            }
            assert_eq!(Scheme::LinearMachine { ties: Ties::Undetermined }.class(&g, classes), Some(best));
        }
    }
}

/// Who wins all pairs wins the most, and with five classes the reverse fails.
#[test]
fn unanimity_is_stricter_than_majority() {
    let mut source = Source::new(2);
    let mut only_majority = 0;
    for _ in 0..2_000 {
        let z = source.normals(10);
        let decided = |vote| Scheme::OneVsOne { vote, ties: Ties::Undetermined }.class(&z, 5);
        let (majority, unanimity) = (decided(Vote::Majority), decided(Vote::Unanimity));
        assert!(unanimity.is_none() || unanimity == majority, "{z:?}");
        only_majority += usize::from(unanimity.is_none() && majority.is_some());
    }
    assert!(only_majority > 100, "{only_majority}");
}

/// Three classes on a line: no threshold has the middle one on one side, so its score is about constant. Where the outer
/// classes weigh more it is negative everywhere, and between them no score is positive; where the middle class does, two are.
#[test]
fn one_vs_rest_finds_none_or_several_where_they_are_built() {
    let values: Vec<f64> = (0..30).map(|i| 10.0 * (i / 10) as f64 + 0.1 * (i % 10) as f64).collect();
    let data = Data::new(values, 1, labels((0..30).map(|i| i / 10).collect(), 3));
    let at = |fitted: &linsep::model::Fitted, x: f64| {
        let row = linsep::design::DenseMatrix::new(vec![x], 1).expect("a row");
        fitted.discriminant.scores(&row, &Watch::default()).expect("scores")
    };
    for method in [svm(|_| {}), Method::Risk(RiskMinimizer::default())] {
        let (plain, _) = split_model(Split::Rest, &method, &data);
        let z = at(&plain, 10.45);
        assert!(z.iter().all(|z| *z < 0.0), "{z:?}");
        let rest = |ties| Scheme::OneVsRest { ties };
        assert_eq!(rest(Ties::Undetermined).class(&z, 3), None);
        assert_eq!(rest(Ties::First).class(&z, 3), Some(Class(0)));
        let heavy = data.weighted((0..30).map(|i| if i / 10 == 1 { 5.0 } else { 1.0 }).collect());
        let (heavy, _) = split_model(Split::Rest, &method, &heavy);
        let z = at(&heavy, 0.0);
        assert!(z[0] > 0.0 && z[1] > 0.0 && z[2] < 0.0, "{z:?}");
        assert_eq!(rest(Ties::Undetermined).class(&z, 3), None);
        let larger = if z[0] > z[1] { 0 } else { 1 };
        assert_eq!(rest(Ties::Scores).class(&z, 3), Some(Class(larger)));
        assert_eq!(Scheme::LinearMachine { ties: Ties::First }.class(&z, 3), Some(Class(larger)));
    }
}

/// Whatever lies between two rows of one class of a linear machine is of that class.
#[test]
fn regions_of_a_linear_machine_are_convex() {
    let data = overlapping(300, 2, 4, 11);
    let (whole, _) = split_model(Split::Rest, &svm(|_| {}), &data);
    let mut source = Source::new(3);
    let scheme = Scheme::LinearMachine { ties: Ties::First };
    let decide = |x: &[f64]| {
        let row = linsep::design::DenseMatrix::new(x.to_vec(), 2).expect("a row");
        scheme.class(&whole.discriminant.scores(&row, &Watch::default()).expect("scores"), 4).expect("a class")
    };
    let points: Vec<Vec<f64>> = (0..200).map(|_| (0..2).map(|_| source.uniform(-4.0, 4.0)).collect()).collect();
    let mut compared = 0;
    for (a, b) in points.iter().zip(points.iter().skip(1)) {
        if decide(a) != decide(b) {
            continue;
        }
        compared += 1;
        for share in [0.25, 0.5, 0.9] {
            let between: Vec<f64> = a.iter().zip(b).map(|(a, b)| a + share * (b - a)).collect();
            assert_eq!(decide(&between), decide(a));
        }
    }
    assert!(compared > 30);
}

/// A part is the fit of its two classes: to the last bit where no units are moved, to rounding where they are.
#[test]
fn parts_are_fits_done_by_hand() {
    let data = overlapping(240, 3, 4, 12);
    let raw = svm(|m| (m.standardize, m.intercept) = (Standardize::No, Intercept::None));
    for (method, exact) in [(raw, true), (svm(|_| {}), false)] {
        let (whole, parts) = split_model(Split::Pairs, &method, &data);
        let scores = data.scores(&whole);
        for (p, part) in parts.iter().enumerate() {
            let (i, j) = (part.part.against.expect("a pair").index(), part.part.class.index());
            assert_eq!(p, pair_position(4, i, j));
            let rows: Vec<usize> = (0..data.rows()).filter(|r| [i, j].contains(&data.class(*r))).collect();
            let codes = rows.iter().map(|r| usize::from(data.class(*r) == j)).collect();
            let by_hand = Data { labels: labels(codes, 2), ..data.select(&rows) };
            let fitted = by_hand.model(&method);
            let own: Vec<f64> = scores.chunks_exact(6).map(|z| z[p]).collect();
            match exact {
                true => assert_eq!(own, data.scores(&fitted), "pair {i}, {j}"),
                false => assert_all_near(&own, &data.scores(&fitted), 1e-12, 1.0, "pair"),
            }
            match exact {
                true => assert_eq!((&part.objective, &part.certificate), (&fitted.objective, &fitted.certificate)),
                // Proved about the common centre, to which the intercept was moved.
                false => {
                    assert_near(part.objective.value, fitted.objective.value, 1e-14, 0.0, "objective");
                    let gap = |c: &Certificate| c.gap().expect("a gap");
                    let (here, there) = (gap(&part.certificate), gap(&fitted.certificate));
                    assert!((here - there).abs() <= 1e-14, "{here:e} {there:e}");
                }
            }
            assert_eq!(part.multipliers, fitted.multipliers);
        }
        let sum: f64 = parts.iter().map(|p| p.objective.value).sum();
        assert_near(whole.objective.value, sum, 1e-14, 0.0, "objectives summed");
        let (whole, parts) = split_model(Split::Rest, &method, &data);
        for (k, part) in parts.iter().enumerate() {
            let codes = (0..data.rows()).map(|r| usize::from(data.class(r) == k)).collect();
            let fitted = Data { labels: labels(codes, 2), ..data.clone() }.model(&method);
            let own: Vec<f64> = data.scores(&whole).chunks_exact(4).map(|z| z[k]).collect();
            assert_eq!(own, data.scores(&fitted), "class {k} against the rest");
            assert_eq!(part.certificate, fitted.certificate);
        }
    }
}

#[test]
fn two_classes_are_the_binary_fit_to_the_last_bit() {
    let table = table_of(&overlapping(120, 3, 2, 13));
    for method in [svm(|_| {}), Method::Risk(RiskMinimizer::default()), Method::Gaussian(GaussianBayes::lda())] {
        let plain = model_of(&table, "class", &method, Multiclass::default());
        for approach in SCHEMES {
            assert_eq!(model_of(&table, "class", &method, by(approach)), plain, "{approach:?}");
        }
        for multiclass in [
            Multiclass { ties: Some(Ties::First), ..Multiclass::default() },
            Multiclass { vote: Some(Vote::Majority), approach: Some(Approach::OneVsOne), ties: None },
        ] {
            let error = fit_table(table.clone(), &options("class", &method, multiclass), &Watch::default());
            let error = error.expect_err("nothing to vote on");
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(error.message().contains("more than two classes"), "{error}");
        }
    }
}

/// Every method that can fit two classes fits several in every scheme, is kept, read back and proved.
#[test]
fn every_method_in_every_scheme_is_fitted_kept_and_verified() {
    let table = table_of(&overlapping(150, 3, 3, 14));
    let watch = Watch::default();
    let methods = [
        svm(|_| {}),
        svm(|m| m.loss = LossChoice::SquaredHinge),
        Method::Risk(RiskMinimizer::default()),
        Method::Risk(RiskMinimizer {
            penalty: PenaltyChoice::ElasticNet { l1_ratio: 0.5, lambda: Some(0.01), cost: None },
            ..RiskMinimizer::default()
        }),
        Method::LeastSquares(LeastSquaresSettings::default()),
        Method::Sigmoid(SigmoidLeastSquares { restarts: 1, ..SigmoidLeastSquares::default() }),
        Method::Perceptron(PerceptronSettings::new(PerceptronVariant::PocketErrors)),
        Method::Perceptron(PerceptronSettings {
            max_epochs: 20,
            ..PerceptronSettings::new(PerceptronVariant::Averaged)
        }),
        Method::Gaussian(GaussianBayes::lda()),
        Method::Gaussian(GaussianBayes::qda()),
        Method::NaiveBayes(NaiveBayes::default()),
        Method::KernelSvm(KernelSvmSettings::default()),
        Method::KernelPerceptron(KernelPerceptronSettings { max_epochs: 20, ..KernelPerceptronSettings::default() }),
    ];
    for method in &methods {
        for approach in SCHEMES {
            let what = format!("{} by {}", method.name(), approach.name());
            let model = model_of(&table, "class", method, by(approach));
            assert_eq!(model.parts.len(), 3, "{what}");
            let text = model.to_json().expect("a file");
            let loaded = Model::from_json(text.as_bytes(), "model.json").expect("a model");
            assert_eq!(loaded, model, "{what}");
            let predict = |m: &Model| predict_table(m, &table, None, &watch).expect("predictions");
            let (a, b) = (predict(&model), predict(&loaded));
            let bits = |z: &[f64]| z.iter().map(|z| z.to_bits()).collect::<Vec<u64>>();
            assert_eq!((bits(&a.scores), &a.classes), (bits(&b.scores), &b.classes), "{what}");
            let verdict = verify_table(&loaded, &table, &watch).expect("a verdict");
            assert!(verdict.passed(), "{what}: {:?}", verdict.checks);
            // What is said of one part is held against that part.
            let mut edited = model.clone();
            edited.parts[1].objective.value += 1e-3;
            let verdict = verify_table(&edited, &table, &watch).expect("a verdict");
            let failed: Vec<&str> = verdict.checks.iter().filter(|c| !c.holds).map(|c| c.claim).collect();
            assert_eq!(failed, ["objective"], "{what}");
        }
    }
}

/// Pairs of a kernel machine have the kernel and the units of all rows, so they share support rows; each is the fit of its
/// two classes with that kernel.
#[test]
fn pairs_of_kernels_share_their_support() {
    let data = overlapping(90, 2, 3, 19);
    let given = |gamma: Option<f64>, standardize: Standardize| {
        Method::KernelSvm(KernelSvmSettings {
            kernel: KernelChoice::Rbf { gamma },
            standardize,
            ..KernelSvmSettings::default()
        })
    };
    for standardize in [Standardize::Yes, Standardize::No] {
        let (whole, parts) = split_model(Split::Pairs, &given(None, standardize), &data);
        let expansion = whole.discriminant.as_kernel().expect("one expansion for all pairs");
        assert_eq!((expansion.n_scores(), parts.len()), (3, 3));
        let largest = *expansion.support_rows().iter().max().expect("support rows");
        assert!(expansion.support_rows().len() <= data.rows() && largest < data.rows());
        let gamma = expansion.kernel().gamma();
        let scores = data.scores(&whole);
        for (p, (i, j)) in [(0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
            let rows: Vec<usize> = (0..data.rows()).filter(|r| [i, j].contains(&data.class(*r))).collect();
            let mut pair = data.select(&rows);
            pair.labels = labels(rows.iter().map(|r| usize::from(data.class(*r) == j)).collect(), 2);
            // A radial kernel does not depend on the centre; the scale of the columns does matter.
            if standardize == Standardize::No {
                let alone = pair.model(&given(gamma, standardize));
                let by_hand = pair.scores(&alone);
                for (at, row) in rows.iter().enumerate() {
                    assert_near(scores[row * 3 + p], by_hand[at], 1e-3, 1.0, "a pair by hand");
                }
                assert_near(parts[p].objective.value, alone.objective.value, 1e-6, 0.0, "objective");
            }
        }
        let table = table_of(&data);
        let model = model_of(&table, "class", &given(None, standardize), Multiclass::default());
        assert_eq!(model.parts.len(), 3, "pairs are what a kernel machine does by itself");
        let verdict = verify_table(&model, &table, &Watch::default()).expect("a verdict");
        assert!(verdict.passed(), "{:?}", verdict.checks);
        let text = model.to_json().expect("a file");
        let back = Model::from_json(text.as_bytes(), "model.json").expect("the same model");
        let predicted = |m: &Model| predict_table(m, &table, None, &Watch::default()).expect("predictions").scores;
        assert_eq!(predicted(&model), predicted(&back));
    }
    let precomputed = KernelSvmSettings { kernel: KernelChoice::Precomputed, ..KernelSvmSettings::default() };
    let refused = Split::Pairs.fit(&Method::KernelSvm(precomputed), &data.training(&data.dense()), &Watch::default());
    assert!(refused.is_err_and(|e| e.message().contains("not square")));
}

/// The table of all kernel values is as good as the columns it was made of: pairs take their rows and columns of it.
#[test]
fn a_precomputed_kernel_of_three_classes_is_the_kernel() {
    let data = overlapping(90, 3, 3, 19);
    let value = |i: usize, j: usize| {
        let square: f64 = data.row(i).iter().zip(data.row(j)).map(|(a, b)| (a - b) * (a - b)).sum();
        (-0.4 * square).exp()
    };
    let table = (0..90).flat_map(|i| (0..90).map(move |j| (i, j))).map(|(i, j)| value(i, j)).collect();
    let given = Data::new(table, 90, data.labels.clone());
    let machine = |kernel| KernelSvmSettings {
        kernel,
        standardize: Standardize::No,
        tolerance: 1e-10,
        ..KernelSvmSettings::default()
    };
    for approach in [Approach::OneVsOne, Approach::LinearMachine] {
        let (rows, values) = (table_of(&data), table_of(&given));
        let rbf = Method::KernelSvm(machine(KernelChoice::Rbf { gamma: Some(0.4) }));
        let taken = Method::KernelSvm(machine(KernelChoice::Precomputed));
        let known = model_of(&rows, "class", &rbf, by(approach));
        let model = model_of(&values, "class", &taken, by(approach));
        let scores = |m: &Model, t: &Table| predict_table(m, t, None, &Watch::default()).expect("predictions").scores;
        assert_all_near(&scores(&model, &values), &scores(&known, &rows), 1e-4, 1.0, "scores");
        assert_near(model.objective.value, known.objective.value, 1e-9, 0.0, "objectives");
        let verdict = verify_table(&model, &values, &Watch::default()).expect("a verdict");
        assert!(verdict.passed(), "{:?}", verdict.checks);
        let text = model.to_json().expect("a file");
        let back = Model::from_json(text.as_bytes(), "model.json").expect("the same model");
        assert_eq!(scores(&model, &values), scores(&back, &values));
        let counts = Method::KernelPerceptron(KernelPerceptronSettings {
            kernel: KernelChoice::Precomputed,
            max_epochs: 5,
            ..KernelPerceptronSettings::default()
        });
        let counted = model_of(&values, "class", &counts, by(approach));
        assert!(verify_table(&counted, &values, &Watch::default()).expect("a verdict").passed());
    }
}

#[test]
fn an_edited_weight_of_a_part_is_found() {
    let table = table_of(&overlapping(150, 3, 3, 15));
    for approach in SCHEMES {
        let model = model_of(&table, "class", &svm(|_| {}), by(approach));
        let text = model.to_json().expect("a file");
        let linear = model.discriminant.as_linear().expect("linear");
        let mut weights: Vec<f64> = (0..3).flat_map(|p| linear.weights_of(p).to_vec()).collect();
        weights[4] += 0.5;
        let edited =
            linsep::discriminant::Linear::new(weights, linear.centre().to_vec(), linear.intercept_at_centre().to_vec());
        let edited = Model {
            discriminant: linsep::discriminant::Discriminant::Linear(edited.expect("sizes fit")),
            ..Model::from_json(text.as_bytes(), "model.json").expect("a model")
        };
        let verdict = verify_table(&edited, &table, &Watch::default()).expect("a verdict");
        let found: String = verdict.checks.iter().filter(|c| !c.holds).map(|c| c.found.clone()).collect();
        let name = if approach == Approach::OneVsOne { "`class 0` against `class 2`" } else { "`class 1` against" };
        assert!(found.contains(name), "{approach:?}: {:?}", verdict.checks);
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let data = overlapping(3_000, 3, 4, 16);
    let method = svm(|m| m.loss = LossChoice::SquaredHinge);
    let pocket = Method::Perceptron(PerceptronSettings::new(PerceptronVariant::PocketErrors));
    let several = svm(|m| m.tolerance = 1e-5);
    for split in [Split::Pairs, Split::Rest] {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
            pool.install(|| (split_model(split, &method, &data), split_model(split, &pocket, &data)))
        };
        let one = with(1);
        for threads in [2, 5] {
            assert!(with(threads) == one, "{split:?}, {threads} threads");
        }
    }
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
        pool.install(|| data.model(&several))
    };
    assert!(with(1) == with(3));
}

/// Setosa is separable from both others: without a penalty its pairs have no maximum of the likelihood, and of the
/// perceptron's pairs it is the other one that has no plane.
#[test]
fn a_pair_without_an_answer_is_named() {
    let iris = example("iris.csv");
    let fit = |method: Method, approach| {
        fit_table(iris.clone(), &options("Species", &method, by(approach)), &Watch::default()).expect("an answer")
    };
    let likelihood = Method::Risk(RiskMinimizer { penalty: PenaltyChoice::None, ..RiskMinimizer::default() });
    match fit(likelihood, Approach::OneVsOne) {
        TableFit::Refused(TableRefusal::NoOptimum { part: Some(part), classes, .. }) => {
            assert!(part.contains("setosa"), "{part}");
            assert_eq!(classes.len(), 2);
        }
        other => panic!("{other:?}"),
    }
    match fit(Method::Perceptron(PerceptronSettings::default()), Approach::OneVsOne) {
        TableFit::Refused(TableRefusal::NotSeparable { part: Some(part), used, proof, .. }) => {
            assert!(part.contains("versicolor") && part.contains("virginica"), "{part}");
            assert_eq!(used, 100);
            assert!(proof.rows.iter().all(|row| (50..150).contains(row)), "rows of the table");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_class_of_one_row_is_fitted_or_named() {
    let mut data = overlapping(60, 2, 3, 17);
    let first = (0..60).find(|i| data.class(*i) == 2).expect("a row");
    let keep: Vec<usize> = (0..60).filter(|i| data.class(*i) != 2 || *i == first).collect();
    data = data.select(&keep);
    for split in [Split::Pairs, Split::Rest] {
        let (whole, parts) = split_model(split, &svm(|_| {}), &data);
        assert_eq!((whole.outcome, parts.len()), (Outcome::Converged, 3));
    }
    // A covariance of its own needs more rows, and the error says of which fit.
    let error = Split::Pairs
        .fit(&Method::Gaussian(GaussianBayes::qda()), &data.training(&data.dense()), &Watch::default())
        .expect_err("one row has no covariance");
    assert!(error.message().contains("class 2"), "{error}");
    // One class alone is no question at all.
    let single = Data { labels: labels(vec![0; data.rows()], 1), ..data.clone() };
    let error = Split::Rest.fit(&svm(|_| {}), &single.training(&single.dense()), &Watch::default());
    assert!(error.expect_err("one class").message().contains("only one class"));
}

#[test]
fn what_belongs_to_all_classes_is_refused() {
    let data = overlapping(60, 2, 3, 18);
    let offset = data.offset(3, vec![0.1; 180]);
    let error = Split::Rest.fit(&svm(|_| {}), &offset.training(&offset.dense()), &Watch::default());
    assert!(error.expect_err("offsets").message().contains("offsets"));
    let priors = GaussianBayes { priors: Some(vec![0.2, 0.3, 0.5]), ..GaussianBayes::lda() };
    let error = Split::Pairs.fit(&Method::Gaussian(priors), &data.training(&data.dense()), &Watch::default());
    assert!(error.expect_err("priors").message().contains("priors"));
    let scheme = |method: &Method, multiclass: Multiclass| multiclass.scheme(method, 3);
    let logistic = Method::Risk(RiskMinimizer::default());
    assert_eq!(scheme(&logistic, Multiclass::default()).expect("joint"), None);
    assert!(scheme(&logistic, Multiclass { ties: Some(Ties::First), ..Multiclass::default() }).is_err());
    assert!(scheme(&svm(|_| {}), Multiclass { vote: Some(Vote::Majority), ..Multiclass::default() }).is_err());
    let machine = Multiclass { ties: Some(Ties::Scores), ..by(Approach::LinearMachine) };
    assert!(scheme(&svm(|_| {}), machine).is_err());
}

/// The share of undetermined rows, and accuracies with and without them, counted by hand.
#[test]
fn evaluations_say_what_is_undetermined() {
    let data = overlapping(400, 2, 4, 19);
    let table = table_of(&data);
    let method = svm(|_| {});
    let mut seen = 0;
    for approach in [Approach::OneVsOne, Approach::OneVsRest] {
        let model = model_of(&table, "class", &method, by(approach));
        let predictions = predict_table(&model, &table, None, &Watch::default()).expect("predictions");
        let open = predictions.classes.iter().filter(|c| c.is_none()).count();
        let right = predictions.classes.iter().enumerate().filter(|(i, c)| c.map(Class::index) == Some(data.class(*i)));
        let right = right.count() as f64;
        let judged = evaluate_table(&model, &table, None, &Watch::default()).expect("an evaluation");
        let Evaluation { undetermined, right_of_all, accuracy, rejected, .. } = &judged.evaluation;
        assert_eq!(undetermined.as_ref().expect("a share").value, open as f64 / 400.0);
        assert_eq!(right_of_all.as_ref().expect("a share").value, right / 400.0);
        assert_near(accuracy.value().expect("decided rows"), right / (400.0 - open as f64), 1e-15, 0.0, "accuracy");
        assert!(rejected.is_none());
        assert_eq!(model.training.undetermined, Some(open as f64 / 400.0));
        seen += open;
        // Broken ties leave nothing open.
        let ties = Multiclass { ties: Some(Ties::Scores), ..by(approach) };
        let model = model_of(&table, "class", &method, ties);
        let judged = evaluate_table(&model, &table, None, &Watch::default()).expect("an evaluation");
        assert!(judged.evaluation.undetermined.is_none());
        assert!(
            predict_table(&model, &table, None, &Watch::default()).expect("rows").classes.iter().all(Option::is_some)
        );
    }
    assert!(seen > 10, "overlapping classes contradict each other somewhere: {seen}");
}

/// No move shorter than the radius changes a decision; and where the region is an intersection of half spaces, one a
/// little longer does.
#[test]
fn decisions_hold_as_far_as_their_radius() {
    hold_as_far_as_their_radius(&svm(|_| {}), true);
}

/// The same beside quadrics, full and along the columns.
#[test]
fn decisions_of_curved_fits_hold_as_far_as_their_radius() {
    hold_as_far_as_their_radius(&Method::Gaussian(GaussianBayes::qda()), false);
    hold_as_far_as_their_radius(&Method::NaiveBayes(NaiveBayes::default()), false);
}

fn hold_as_far_as_their_radius(method: &Method, planes: bool) {
    let data = overlapping(150, 2, 5, 20);
    let table = table_of(&data);
    let mut source = Source::new(21);
    for (approach, vote, ties) in [
        (Approach::OneVsOne, Some(Vote::Majority), Ties::Undetermined),
        (Approach::OneVsOne, Some(Vote::Majority), Ties::Scores),
        (Approach::OneVsOne, Some(Vote::Majority), Ties::First),
        (Approach::OneVsOne, Some(Vote::Unanimity), Ties::Undetermined),
        (Approach::OneVsOne, Some(Vote::Unanimity), Ties::First),
        (Approach::OneVsOne, Some(Vote::Scores), Ties::First),
        (Approach::OneVsRest, None, Ties::Undetermined),
        (Approach::OneVsRest, None, Ties::First),
        (Approach::OneVsRest, None, Ties::Scores),
        (Approach::LinearMachine, None, Ties::First),
    ] {
        let what = format!("{approach:?} {vote:?} {ties:?}");
        let multiclass = Multiclass { approach: Some(approach), vote, ties: Some(ties) };
        let model = model_of(&table, "class", method, multiclass);
        let geometry = geometry_of(&model, &Watch::default()).expect("surfaces");
        let found = geometry_table(&model, &geometry, &table, &GeometryOptions::default(), &Watch::default());
        let found = found.expect("measures");
        let scheme = model.decision.scheme().expect("a scheme");
        let decide = |x: &[f64]| {
            let row = linsep::design::DenseMatrix::new(x.to_vec(), 2).expect("a row");
            scheme.class(&model.discriminant.scores(&row, &Watch::default()).expect("scores"), 5)
        };
        let exact = |decided: bool| match (approach, vote, ties) {
            (Approach::LinearMachine, ..) | (_, Some(Vote::Scores), _) | (Approach::OneVsRest, _, Ties::Scores) => true,
            (_, Some(Vote::Unanimity), Ties::Undetermined) | (Approach::OneVsRest, _, Ties::Undetermined) => decided,
            _ => false,
        };
        let mut positive = 0;
        for (i, row) in found.measured.rows.iter().enumerate() {
            let x = data.row(i);
            assert_eq!(decide(x), found.predictions[i], "{what}");
            positive += usize::from(row.radius > 0.0);
            let mut changed = false;
            for turn in 0..72 {
                let (sin, cos) =
                    (std::f64::consts::TAU * (f64::from(turn) + source.uniform(0.0, 1.0)) / 72.0).sin_cos();
                let moved = |by: f64| [x[0] + by * cos, x[1] + by * sin];
                let length = source.uniform(0.0, 0.999) * row.radius;
                assert_eq!(decide(&moved(length)), decide(x), "{what}: row {i} moved by {length} of {}", row.radius);
                changed |= decide(&moved(1.05 * row.radius + 1e-9)) != decide(x);
            }
            // Directions are a few degrees apart, so that some is within a percent of the way to a plane.
            let exact = planes && exact(found.predictions[i].is_some());
            assert!(changed || !exact, "{what}: row {i} holds beyond {}", row.radius);
        }
        assert!(positive > 140, "{what}");
    }
}

/// A polynomial kernel of degree one is the dot product: its feature space is that of the columns, and what is measured there
/// is what is measured beside the planes of the same weights.
#[test]
fn a_feature_space_that_is_the_columns_has_their_lengths() {
    // Stretched, so that no two planes are equally near.
    let data = pinwheel().map(|j, v| if j == 1 { 1.3 * v + 0.1 } else { v });
    let table = table_of(&data);
    let kernel = KernelChoice::Polynomial { gamma: Some(1.0), coef0: 0.0, degree: 1 };
    let method =
        Method::KernelSvm(KernelSvmSettings { kernel, standardize: Standardize::No, ..KernelSvmSettings::default() });
    for (approach, vote, ties) in [
        (Approach::OneVsOne, Some(Vote::Majority), Ties::Scores),
        (Approach::OneVsOne, Some(Vote::Scores), Ties::First),
        (Approach::OneVsRest, None, Ties::Undetermined),
        (Approach::LinearMachine, None, Ties::First),
    ] {
        let what = format!("{approach:?} {vote:?} {ties:?}");
        let multiclass = Multiclass { approach: Some(approach), vote, ties: Some(ties) };
        let model = model_of(&table, "class", &method, multiclass);
        // The weights of the columns, from the scores of the unit vectors.
        let rows = linsep::design::DenseMatrix::new(vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0], 2).expect("rows");
        let z = model.discriminant.scores(&rows, &Watch::default()).expect("scores");
        let k = z.len() / 3;
        let weights =
            (0..k).flat_map(|p| (0..2).map(move |j| (p, j))).map(|(p, j)| z[(j + 1) * k + p] - z[p]).collect();
        let linear = linsep::discriminant::Linear::new(weights, vec![0.0; 2], z[..k].to_vec()).expect("planes");
        let mut plain = model.clone();
        plain.discriminant = linsep::discriminant::Discriminant::Linear(linear);
        let measured = |m: &Model| {
            let geometry = geometry_of(m, &Watch::default()).expect("surfaces");
            let found = geometry_table(m, &geometry, &table, &GeometryOptions::default(), &Watch::default());
            found.expect("measures").measured.rows
        };
        for (a, b) in measured(&model).iter().zip(&measured(&plain)) {
            assert_eq!((a.class, a.nearest), (b.class, b.nearest), "{what}");
            assert_near(a.distance, b.distance, 1e-8, 1.0, "distance");
            assert_near(a.margin.expect("a margin"), b.margin.expect("a margin"), 1e-8, 1.0, "margin");
            assert!(a.radius.is_nan() && b.radius > 0.0, "a feature space knows no radius: {what}");
        }
    }
}

/// A class in the middle of the others has no plane against them: all its multipliers are at their bound and cancel.
#[test]
fn a_length_that_is_rounding_is_no_boundary() {
    let mut values = Vec::new();
    let mut codes = Vec::new();
    for step in 0..12 {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(step) / 12.0).sin_cos();
        values.extend([0.1 * cos, 0.1 * sin, 2.0 * cos, 2.0 * sin]);
        codes.extend([0, 1 + usize::from(step >= 6)]);
    }
    let data = Data::new(values, 2, labels(codes, 3));
    let kernel = KernelChoice::Polynomial { gamma: Some(1.0), coef0: 0.0, degree: 1 };
    let method =
        Method::KernelSvm(KernelSvmSettings { kernel, standardize: Standardize::No, ..KernelSvmSettings::default() });
    let model = model_of(&table_of(&data), "class", &method, by(Approach::OneVsRest));
    let geometry = geometry_of(&model, &Watch::default()).expect("surfaces");
    let kinds: Vec<bool> = geometry
        .boundaries()
        .iter()
        .map(|b| matches!(b.surface, linsep::geometry::Surface::FeatureSpace { .. }))
        .collect();
    assert_eq!(kinds, [false, true, true], "{:?}", geometry.boundaries());
}

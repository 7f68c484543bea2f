//! Every builder gives the model of the engine and of a table, bit for bit; what cannot be is refused in words.

use linsep::decide::{Decision, Rule, Ties, Vote};
use linsep::design::{CsrMatrix, DenseMatrix, Encoding, Standardize};
use linsep::model::{
    Algorithm, ClassWeights, CovarianceShape, FamilyChoice, Fit, GaussianBayes, HardMarginSettings, KernelChoice,
    KernelPerceptronSettings, KernelSvmSettings, LeastSquaresSettings, LossChoice, Method, NaiveBayes, PenaltyChoice,
    PerceptronSettings, PerceptronVariant, RiskMinimizer, Shrinkage, SigmoidLeastSquares,
};
use linsep::prelude::*;
use linsep::read::{ReadOptions, read_bytes};
use linsep::table::Labels;
use linsep::workflow::{Approach, Arrays, FitOptions, fit_arrays, fit_table};
use linsep::{Error, ErrorKind};

const ROWS: usize = 60;

/// Two columns of counts. `apart` moves the classes far enough that planes separate them.
fn rows(classes: u32, apart: f64) -> (Vec<[f64; 2]>, Vec<&'static str>) {
    let row = |i: u32| {
        let k = i % classes;
        let wobble = |a: u32| f64::from((i * a) % 17);
        (
            [f64::from(k) * apart + wobble(5) + 1.0, f64::from(k * k) * apart + wobble(7) + 1.0],
            ["a", "b", "c"][k as usize],
        )
    };
    (0..ROWS as u32).map(row).unzip()
}

fn csv(x: &[[f64; 2]], y: &[&str]) -> String {
    "p,q,y\n".to_owned() + &x.iter().zip(y).map(|(x, y)| format!("{},{},{y}\n", x[0], x[1])).collect::<String>()
}

fn risk(change: impl FnOnce(&mut RiskMinimizer)) -> Method {
    let mut settings = RiskMinimizer::default();
    change(&mut settings);
    Method::Risk(settings)
}

fn naive(family: FamilyChoice) -> Method {
    Method::NaiveBayes(NaiveBayes::of(family))
}

/// The builder's model is that of the engine, called by hand, and that of a table.
fn same(name: &str, builder: &impl Estimator, method: &Method, classes: u32, apart: f64) {
    let (x, y) = rows(classes, apart);
    let own = builder.fit(&x, &y).unwrap_or_else(|e| panic!("{name}: {e}"));

    let design = DenseMatrix::new(x.as_flattened(), 2).unwrap();
    let labels = Labels::from_names(y.iter().copied());
    let arrays = Arrays { design: &design, names: vec![], labels, labels_are_text: true, weights: None };
    let mut options = FitOptions::new("y", method.clone());
    options.multiclass = builder.options().multiclass;
    options.seed = builder.options().seed;
    let Fit::Model(engine) = fit_arrays(arrays, &options, &Default::default()).unwrap() else { panic!("{name}") };
    // But for ties, which a builder lets the scores decide.
    let mut expected = (*engine).clone();
    expected.decision = own.model().decision.clone();
    assert_eq!(*own.model(), expected, "{name}");
    assert_eq!(own.model().discriminant, engine.discriminant, "{name}");

    let table = read_bytes(csv(&x, &y).as_bytes(), "t.csv", &ReadOptions::default()).unwrap();
    let Fit::Model(by_table) = fit_table(table.clone(), &options, &Default::default()).unwrap() else {
        panic!("{name}")
    };
    // Printed digits, which only a table has, may leave columns out; here they do not.
    assert_eq!(own.model().discriminant, by_table.discriminant, "{name}");
    assert_eq!(own.model().certificate, by_table.certificate, "{name}");
    assert_eq!(own.model().objective, by_table.objective, "{name}");
    let again = builder.fit_table(table, "y").unwrap();
    assert_eq!(again.model().discriminant, by_table.discriminant, "{name}");
    let found = own.verify(&x, &y).unwrap();
    assert!(found.passed(), "{name}: {:?}", found.checks);
}

#[test]
fn builders_give_the_bits_of_the_engine() {
    use FamilyChoice::*;
    for classes in [2, 3] {
        same("logistic", &LogisticRegression::new(), &risk(|_| ()), classes, 2.0);
        same(
            "logistic, ridge",
            &LogisticRegression::new().ridge(0.1).tolerance(1e-10).solver(Algorithm::Lbfgs).standardize(false),
            &Method::Risk(RiskMinimizer {
                penalty: PenaltyChoice::Ridge(0.1),
                tolerance: 1e-10,
                algorithm: Algorithm::Lbfgs,
                standardize: linsep::design::Standardize::No,
                ..RiskMinimizer::default()
            }),
            classes,
            2.0,
        );
        let net = |l1_ratio, lambda| PenaltyChoice::ElasticNet { l1_ratio, lambda: Some(lambda), cost: None };
        same("lasso", &LogisticRegression::new().lasso(0.05), &risk(|r| r.penalty = net(1.0, 0.05)), classes, 2.0);
        let builder = LogisticRegression::new().elastic_net(0.05, 0.5);
        same("elastic net", &builder, &risk(|r| r.penalty = net(0.5, 0.05)), classes, 2.0);
        let none = LogisticRegression::new().no_penalty();
        same("no penalty", &none, &risk(|r| r.penalty = PenaltyChoice::None), classes, 1.0);
        let factors = LogisticRegression::new().cost(3.0).penalty_factors([1.0, 0.0]).max_iterations(50);
        let method = risk(|r| {
            r.penalty = PenaltyChoice::RidgeCost(3.0);
            r.factors = vec![1.0, 0.0];
            r.max_iterations = Some(50);
        });
        same("factors", &factors, &method, classes, 2.0);
        let sgd = LogisticRegression::new().ridge(0.1).solver(Algorithm::Sgd).seed(7).batch(4).max_iterations(5);
        let method = risk(|r| {
            r.penalty = PenaltyChoice::Ridge(0.1);
            r.algorithm = Algorithm::Sgd;
            r.stochastic.seed = 7;
            r.stochastic.batch = 4;
            r.max_iterations = Some(5);
        });
        same("sgd", &sgd, &method, classes, 2.0);
        same("svm", &LinearSvm::new(), &risk(|r| r.loss = LossChoice::Hinge), classes, 2.0);
        let squared = LinearSvm::new().squared_hinge().ridge(0.2).no_intercept();
        let method = risk(|r| {
            r.loss = LossChoice::SquaredHinge;
            r.penalty = PenaltyChoice::Ridge(0.2);
            r.intercept = linsep::objective::Intercept::None;
        });
        same("squared hinge", &squared, &method, classes, 2.0);
        same("hard margin", &HardMargin::new(), &Method::HardMargin(HardMarginSettings::default()), classes, 40.0);
        same("lda", &Lda::new(), &Method::Gaussian(GaussianBayes::lda()), classes, 2.0);
        let shrunk = GaussianBayes { shrinkage: Shrinkage::LedoitWolf, ..GaussianBayes::qda() };
        same("qda", &Qda::new().ledoit_wolf(), &Method::Gaussian(shrunk), classes, 2.0);
        let spherical = Method::Gaussian(GaussianBayes::new(CovarianceShape::Spherical));
        same("spherical", &SphericalGaussian::new(), &spherical, classes, 2.0);
        let squares = Method::LeastSquares(LeastSquaresSettings::default());
        same("least squares", &LeastSquares::new(), &squares, classes, 2.0);
        let method = risk(|r| {
            r.loss = LossChoice::Squared;
            r.penalty = net(1.0, 0.02);
        });
        same("least squares, lasso", &LeastSquares::new().lasso(0.02), &method, classes, 2.0);
        let sigmoid = Method::Sigmoid(SigmoidLeastSquares { seed: 3, ..SigmoidLeastSquares::default() });
        same("sigmoid", &SigmoidRegression::new().seed(3), &sigmoid, classes, 2.0);
        same("gaussian nb", &GaussianNb::new(), &naive(Gaussian), classes, 2.0);
        same("shared", &GaussianNb::new().shared_variances(), &naive(GaussianShared), classes, 2.0);
        same("poisson nb", &PoissonNb::new(), &naive(Poisson), classes, 2.0);
        same("multinomial nb", &MultinomialNb::new(), &naive(Multinomial), classes, 2.0);
        same("exponential nb", &ExponentialNb::new(), &naive(Exponential), classes, 2.0);
        same("geometric nb", &GeometricNb::new(), &naive(Geometric), classes, 2.0);
        same("gamma nb", &GammaNb::new(), &naive(Gamma), classes, 2.0);
        same("binomial nb", &BinomialNb::new().trials(40), &naive(Binomial(40)), classes, 2.0);
        let averaged = Method::Perceptron(PerceptronSettings::new(PerceptronVariant::Averaged));
        same("averaged perceptron", &Perceptron::new().averaged(), &averaged, classes, 2.0);
        let online = Method::Perceptron(PerceptronSettings { seed: 5, ..PerceptronSettings::default() });
        same("perceptron", &Perceptron::new().seed(5), &online, classes, 40.0);
        let rbf = KernelSvmSettings { kernel: KernelChoice::Rbf { gamma: Some(0.5) }, ..KernelSvmSettings::default() };
        same("kernel svm", &KernelSvm::new().rbf(0.5), &Method::KernelSvm(rbf), classes, 2.0);
        let kernel = KernelPerceptronSettings { max_epochs: 9, ..KernelPerceptronSettings::default() };
        let builder = KernelPerceptron::new().max_epochs(9);
        same("kernel perceptron", &builder, &Method::KernelPerceptron(kernel), classes, 2.0);
    }
}

#[test]
fn columns_of_zero_and_one_and_of_several_families() {
    let (x, y) = rows(3, 2.0);
    let x: Vec<[f64; 2]> = x.iter().map(|r| [f64::from(u8::from(r[0] > 8.0)), r[1]]).collect();
    let own = MixedNb::new().feature_names(["p", "q"]).family("p", FamilyChoice::Bernoulli).fit(&x, &y).unwrap();
    let table = read_bytes(csv(&x, &y).as_bytes(), "t.csv", &ReadOptions::default()).unwrap();
    let method = NaiveBayes { overrides: vec![("p".into(), FamilyChoice::Bernoulli)], ..NaiveBayes::default() };
    let options = FitOptions::new("y", Method::NaiveBayes(method));
    let Fit::Model(by_table) = fit_table(table, &options, &Default::default()).unwrap() else { panic!() };
    assert_eq!(own.model().discriminant, by_table.discriminant);
    // A recipe of arrays knows the names, but not how finely the numbers were printed.
    let mut recipe = by_table.recipe.clone();
    for column in &mut recipe.columns {
        if let Encoding::Number { printed, .. } = &mut column.encoding {
            *printed = None;
        }
    }
    assert_eq!(own.model().recipe, recipe);
    let binary: Vec<[f64; 1]> = x.iter().map(|r| [r[0]]).collect();
    assert!(BernoulliNb::new().smoothing(0.5).fit(&binary, &y).is_ok());
}

#[test]
fn what_all_builders_may_be_told_reaches_the_engine() {
    let (x, y) = rows(3, 2.0);
    let design = DenseMatrix::new(x.as_flattened(), 2).unwrap();
    let weights: Vec<f64> = (0..ROWS).map(|i| (i % 4) as f64).collect();
    let builder = LinearSvm::new()
        .feature_names(["p", "q"])
        .positive("a")
        .class_weight("b", 2.0)
        .multiclass(Approach::OneVsOne)
        .vote(Vote::Majority)
        .ties(Ties::Undetermined);
    let own = builder.fit_weighted(&x, &y, &weights).unwrap();
    let mut options = FitOptions::new("y", risk(|r| r.loss = LossChoice::Hinge));
    options.class_weights = Some(ClassWeights::Given(vec![("b".into(), 2.0)]));
    options.multiclass.approach = Some(Approach::OneVsOne);
    let arrays = Arrays {
        design: &design,
        names: vec!["p".into(), "q".into()],
        labels: Labels::from_names(y.iter().copied()).with_last("a").unwrap(),
        labels_are_text: true,
        weights: Some(&weights),
    };
    let Fit::Model(engine) = fit_arrays(arrays, &options, &Default::default()).unwrap() else { panic!() };
    assert_eq!(own.model(), &*engine);
    assert_eq!(own.classes(), ["b", "c", "a"]);
    assert!(own.verify_weighted(&x, &y, &weights).unwrap().passed());

    let costs = Decision::from(Rule::Cost(vec![vec![0.0, 1.0, 1.0], vec![9.0, 0.0, 9.0], vec![1.0, 1.0, 0.0]]));
    let careful = Lda::new().balanced().decision(costs.clone()).true_priors([0.2, 0.3, 0.5]).fit(&x, &y).unwrap();
    assert_eq!(careful.model().decision, costs);
    assert_eq!(careful.model().true_priors.as_deref(), Some(&[0.2, 0.3, 0.5][..]));
    let rejecting = Decision { reject: Some(0.05), ..Decision::default() };
    let rejecting = Lda::new().decision(rejecting).fit(&x, &y).unwrap();
    assert!(rejecting.decide(&x).unwrap().contains(&None));
    assert!(rejecting.predict(&x).unwrap_err().message().contains("has no class"));
}

/// Sparse columns are taken as they are unless somebody asks, dense ones are standardised.
#[test]
fn sparse_columns_are_left_alone_unless_asked() {
    let (x, y) = rows(2, 2.0);
    let starts: Vec<usize> = (0..=ROWS).map(|i| 2 * i).collect();
    let columns: Vec<u32> = (0..2 * ROWS as u32).map(|at| at % 2).collect();
    let sparse = CsrMatrix::new(starts, columns, x.as_flattened(), 2).unwrap();
    let method = LogisticRegression::new().ridge(0.1);
    let standardize = |model: &Trained<String>| model.model().method.standardize();
    assert_eq!(standardize(&method.fit(&sparse, &y).unwrap()), Standardize::No);
    assert_eq!(standardize(&method.clone().standardize(true).fit(&sparse, &y).unwrap()), Standardize::Yes);
    assert_eq!(standardize(&method.fit(&x, &y).unwrap()), Standardize::Yes);
}

#[test]
fn predictions_are_of_the_type_of_the_labels() {
    let (x, y) = rows(2, 2.0);
    let code: Vec<u32> = y.iter().map(|y| if *y == "a" { 7 } else { 11 }).collect();
    let truth: Vec<bool> = code.iter().map(|c| *c == 11).collect();
    let owned: Vec<String> = y.iter().map(|y| (*y).to_owned()).collect();
    let lda = Lda::new();
    let (by_code, by_truth) = (lda.fit(&x, &code).unwrap(), lda.fit(&x, &truth).unwrap());
    let (by_name, by_str) = (lda.fit(&x, &owned).unwrap(), lda.fit(&x, &y).unwrap());
    assert_eq!(by_name, by_str);
    assert_eq!(by_code.classes(), [7, 11]);
    let code: Vec<u32> = by_code.predict(&x).unwrap();
    assert_eq!(code.iter().map(|c| *c == 11).collect::<Vec<bool>>(), by_truth.predict(&x).unwrap());
    assert_eq!(by_code.scores(&x).unwrap(), by_name.scores(&x).unwrap());
    assert!(!by_code.model().target_is_text && by_name.model().target_is_text);
    let p = by_name.predict_proba(&x).unwrap();
    assert_eq!((p.rows(), p.columns()), (ROWS, 2));
    assert!(p.iter().all(|row| (row[0] + row[1] - 1.0).abs() < 1e-15));
}

#[test]
fn features_may_come_in_many_forms() {
    let (x, y) = rows(3, 2.0);
    let model = |found: Result<Trained<String>, FitError>| found.unwrap().into_model();
    let builder = LogisticRegression::new().ridge(0.1);
    let expected = model(builder.fit(&x, &y));
    let flat: Vec<f64> = x.iter().flatten().copied().collect();
    assert_eq!(model(builder.fit(&Matrix::new(&flat, ROWS, 2).unwrap(), &y)), expected);
    assert_eq!(model(builder.fit(&x[..], &y)), expected);
    assert_eq!(model(builder.fit(&x.iter().map(|r| r.to_vec()).collect::<Vec<_>>(), &y)), expected);
    let narrow: Vec<f32> = flat.iter().map(|v| *v as f32).collect();
    // Small whole numbers are the same in both.
    assert_eq!(model(builder.fit(&Matrix::new(narrow, ROWS, 2).unwrap(), &y)).classes, expected.classes);
    let starts: Vec<usize> = (0..=ROWS).map(|i| 2 * i).collect();
    let columns: Vec<u32> = (0..2 * ROWS as u32).map(|i| i % 2).collect();
    let sparse = CsrMatrix::new(&starts[..], &columns[..], &flat[..], 2).unwrap();
    // Sparse columns are standardised only where that is asked for.
    let by_rows = builder.standardize(true).fit(&sparse, &y).unwrap();
    let gap = by_rows.objective() - expected.objective.value;
    assert!(gap.abs() <= 2.0 * by_rows.certificate().gap().unwrap() + 1e-12);
}

#[test]
fn a_model_file_is_read_by_all_faces() {
    let (x, y) = rows(3, 2.0);
    let path = std::env::temp_dir().join(format!("linsep-classifiers-{}.json", std::process::id()));
    let model = KernelSvm::new().fit(&x, &y).unwrap();
    model.save(&path).unwrap();
    let loaded = Trained::load(&path);
    std::fs::remove_file(&path).unwrap();
    let loaded = loaded.unwrap();
    assert_eq!(loaded, model);
    assert_eq!(loaded.clone().with_classes(vec![1, 2, 3]).unwrap().predict(&x).unwrap().len(), ROWS);
    assert!(loaded.with_classes(vec![1, 2]).is_err());
    assert!(model.summary().contains("certificate"));
}

/// The message of a refused fit.
fn refused<C: std::fmt::Debug>(found: Result<Trained<C>, FitError>) -> String {
    match found {
        Err(FitError::Invalid(error)) => error.message(),
        other => panic!("expected an error, not {other:?}"),
    }
}

#[test]
fn what_cannot_be_is_an_error() {
    let (x, y) = rows(2, 2.0);
    let builder = LogisticRegression::new();
    assert!(refused(builder.fit(&x, &y[1..])).contains("59 labels for 60 rows"));
    assert!(refused(builder.fit(&x, &[0; ROWS])).contains("only one class, `0`"));
    assert!(refused(builder.fit_weighted(&x, &y, &[1.0; 3])).contains("3 weights for 60 rows"));
    assert!(refused(builder.fit_weighted(&x, &y, &[-1.0; ROWS])).contains("weight"));
    assert!(refused(builder.fit_weighted(&x, &y, &[0.0; ROWS])).contains("zero"));
    assert!(refused(builder.fit::<Vec<[f64; 2]>, &str>(&vec![], &[])).contains("no rows"));
    assert!(refused(builder.fit(&vec![vec![1.0], vec![1.0, 2.0]], &[0, 1])).contains("row 2 has 2 columns"));
    assert!(refused(builder.clone().feature_names(["p"]).fit(&x, &y)).contains("1 names for 2 columns"));
    assert!(refused(builder.clone().ridge(-1.0).fit(&x, &y)).contains("not positive"));
    assert!(refused(builder.clone().ridge(f64::NAN).fit(&x, &y)).contains("not positive"));
    assert!(refused(builder.clone().tolerance(f64::NAN).fit(&x, &y)).contains("tolerance"));
    assert!(refused(builder.clone().positive("z").fit(&x, &y)).contains("no class `z`"));
    assert!(refused(builder.clone().penalty_factors([1.0]).fit(&x, &y)).contains("1 penalty factors for 2"));
    assert!(refused(Lda::new().priors([0.5]).fit(&x, &y)).contains("prior"));
    assert!(refused(KernelSvm::new().rbf(-1.0).fit(&x, &y)).contains("γ"), "γ is checked");
    for bad in [f64::NAN, f64::INFINITY] {
        let mut broken = x.clone();
        broken[3][1] = bad;
        assert!(matches!(builder.fit(&broken, &y), Err(FitError::Invalid(_))));
        assert!(matches!(Lda::new().fit(&broken, &y), Err(FitError::Invalid(_))));
        assert!(matches!(KernelSvm::new().fit(&broken, &y), Err(FitError::Invalid(_))));
        let model = builder.fit(&x, &y).unwrap();
        assert!(model.predict(&broken).unwrap_err().message().contains("row 4"));
        assert!(model.predict_proba(&broken).is_err());
        assert!(model.decide(&broken).is_err());
    }
    let model = builder.fit(&x, &y).unwrap();
    assert!(model.predict(&[[1.0]]).unwrap_err().message().contains("1 columns for a model of 2"));
    assert!(model.verify(&x, &[9; ROWS]).unwrap_err().message().contains("no class of the model"));
    let mut other = y.clone();
    other.swap(0, 1);
    assert!(!model.verify(&x, &other).unwrap().passed());
    assert!(LinearSvm::new().fit(&x, &y).unwrap().predict_proba(&x).is_err());
    assert!(Matrix::<f64>::new(vec![], 3, 0).is_err());
    assert!(Matrix::<f64>::new(vec![], usize::MAX, 2).is_err());
}

#[test]
fn no_model_is_an_answer_with_its_proof() {
    let (x, y) = rows(2, 40.0);
    let Err(FitError::NoModel(proof)) = LogisticRegression::new().no_penalty().fit(&x, &y) else { panic!() };
    assert!(proof.to_string().contains("completely separable"), "{proof}");
    let error = Error::from(FitError::NoModel(proof));
    assert_eq!(error.kind(), ErrorKind::NoModel);
    let (x, y) = rows(2, 0.0);
    let Err(FitError::NoModel(proof)) = HardMargin::new().fit(&x, &y) else { panic!() };
    assert!(!proof.to_string().is_empty());
}

#[test]
fn a_fit_that_stops_early_says_so() {
    let (x, y) = rows(2, 2.0);
    let model = LogisticRegression::new().ridge(1e-3).solver(Algorithm::GradientDescent).max_iterations(2);
    let model = model.fit(&x, &y).unwrap();
    assert_eq!(model.outcome(), Outcome::IterationLimit);
    assert!(!model.is_converged());
    assert!(model.certificate().gap().unwrap() > 0.0);
    let late = LogisticRegression::new().time_limit(std::time::Duration::ZERO).fit(&x, &y);
    assert!(late.is_err() || late.unwrap().outcome() == Outcome::TimeLimit);
}

#[test]
fn a_table_model_asks_for_a_table() {
    let csv = b"kind,size,y\nred,1,a\nblue,2,b\nred,3,a\nblue,1,b\nred,2,b\n";
    let table = read_bytes(csv, "t.csv", &ReadOptions::default()).unwrap();
    let model = LogisticRegression::new().fit_table(table.clone(), "y").unwrap();
    assert_eq!(model.predict_table(&table).unwrap().len(), 5);
    assert!(model.predict(&[[1.0, 2.0, 3.0]]).unwrap_err().message().contains("columns of a table"));
    assert!(matches!(Lda::new().fit_table(table, "z"), Err(FitError::Invalid(_))));
}

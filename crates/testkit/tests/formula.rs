//! Formulas: design matrices against R's model.matrix, identities of splines and polynomials, the parser on any text, and models
//! that are fitted, stored, verified and tested.

use linsep::artifact::Model;
use linsep::design::{Block, Design, Formula, Prepared, Recipe, RecipeOptions, Tile, Units, UnknownLevel, fit_recipe};
use linsep::infer::Inference;
use linsep::model::{Fit, Method, PenaltyChoice, RiskMinimizer};
use linsep::read::{ReadOptions, read_bytes};
use linsep::table::Table;
use linsep::watch::Watch;
use linsep::workflow::{FitOptions, InferOptions, TableFit, fit_table, infer_table, predict_table, verify_table};
use proptest::prelude::*;
use testkit::golden::{json, matrix, numbers, root};
use testkit::{assert_all_near, assert_near};

fn table(csv: &str) -> Table {
    read_bytes(csv.as_bytes(), "t.csv", &ReadOptions::default()).expect("a table")
}

fn example(name: &str) -> Table {
    table(&std::fs::read_to_string(root().join("examples").join(format!("{name}.csv"))).expect("a table"))
}

/// Rows without a missing cell, as R's `na.omit` leaves them.
fn complete(table: &Table) -> Vec<f64> {
    let whole = |row: usize| (0..table.columns().len()).all(|c| !table.number(row, c).is_nan());
    (0..table.n_rows()).map(|row| f64::from(u8::from(whole(row)))).collect()
}

fn options(formula: &str) -> RecipeOptions {
    RecipeOptions { formula: Some(Formula::parse(formula).expect("a formula")), ..RecipeOptions::default() }
}

fn rows(prepared: &Prepared) -> Vec<Vec<f64>> {
    let design: &dyn Design = prepared.design.as_design();
    let shape = design.shape();
    let (mut tile, mut values) = (Tile::default(), Vec::new());
    match design.block(0..shape.rows, &mut tile).expect("a block") {
        Block::F64(dense) => dense.load(&Units::identity(shape.cols), &mut values),
        other => panic!("{other:?}"),
    }
    values.chunks_exact(shape.cols.max(1)).map(<[f64]>::to_vec).collect()
}

fn matrix_of(recipe: &Recipe, table: &Table, frequency: &[f64]) -> Vec<Vec<f64>> {
    let wanted: Vec<bool> = frequency.iter().map(|f| *f > 0.0).collect();
    rows(&recipe.apply(table, &wanted).expect("a matrix"))
}

#[test]
fn design_matrices_are_those_of_r() {
    let golden = json("formula_r.json");
    let cases = golden["cases"].as_array().expect("cases");
    assert!(cases.len() >= 40);
    for case in cases {
        let name = case["table"].as_str().expect("a table");
        let text = case["formula"].as_str().expect("a formula");
        let target = if name == "iris" { "Species" } else { "species" };
        let table = example(name);
        let frequency = complete(&table);
        let mut options = options(&format!("{target} ~ {text}"));
        options.exclude = vec![target.to_owned()];
        let recipe = fit_recipe(&table, &frequency, &options).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(
            recipe.n_features() as u64,
            case["columns"].as_u64().expect("a number"),
            "{text}: {:?}",
            recipe.features()
        );
        let found = matrix_of(&recipe, &table, &frequency);
        for (found, expected) in found.iter().step_by(9).zip(matrix(&case["values"])) {
            assert_all_near(found, &expected, 1e-10, 1e-3, text);
        }
        // The names are as many, and all different.
        let mut names = recipe.features();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), recipe.n_features(), "{text}: {:?}", recipe.features());
    }
}

/// Another program, whose columns stand in another order within a term.
#[test]
fn design_matrices_are_those_of_formulaic() {
    let golden = json("formula_formulaic.json");
    let cases = golden["cases"].as_array().expect("cases");
    assert!(cases.len() >= 40);
    for case in cases {
        let name = case["table"].as_str().expect("a table");
        let text = case["formula"].as_str().expect("a formula");
        let target = if name == "iris" { "Species" } else { "species" };
        let table = example(name);
        let frequency = complete(&table);
        let mut options = options(&format!("{target} ~ {text}"));
        options.exclude = vec![target.to_owned()];
        let recipe = fit_recipe(&table, &frequency, &options).unwrap_or_else(|e| panic!("{text}: {e}"));
        let expected = matrix(&case["values"]);
        assert_eq!(recipe.n_features(), expected[0].len(), "{text}: {:?}", recipe.features());
        let found: Vec<Vec<f64>> = matrix_of(&recipe, &table, &frequency).into_iter().step_by(9).collect();
        let column = |rows: &[Vec<f64>], j: usize| rows.iter().map(|row| row[j]).collect::<Vec<f64>>();
        let mut left: Vec<usize> = (0..recipe.n_features()).collect();
        for j in 0..recipe.n_features() {
            let wanted = column(&expected, j);
            let size = wanted.iter().fold(1e-3f64, |m, v| m.max(v.abs()));
            let same = |k: &usize| column(&found, *k).iter().zip(&wanted).all(|(f, w)| (f - w).abs() <= 1e-10 * size);
            let at = left.iter().position(same).unwrap_or_else(|| panic!("{text}: no column is theirs {j}"));
            left.remove(at);
        }
    }
}

#[test]
fn bases_beyond_their_rows_are_those_of_r() {
    let golden = json("formula_r.json");
    let penguins = example("penguins");
    let frequency = complete(&penguins);
    let at = numbers(&golden["beyond"]["at"]);
    let lines: String = at.iter().map(|x| format!("{x}\n")).collect();
    let others = table(&format!("body_mass_g\n{lines}"));
    for case in golden["beyond"]["bases"].as_array().expect("bases") {
        let text = case["formula"].as_str().expect("a formula");
        let recipe = fit_recipe(&penguins, &frequency, &options(&format!("~ {text}"))).expect("a recipe");
        let found = matrix_of(&recipe, &others, &vec![1.0; at.len()]);
        for (found, expected) in found.iter().zip(matrix(&case["values"])) {
            assert_all_near(found, &expected, 1e-10, 1.0, text);
        }
    }
}

#[test]
fn splines_and_polynomials_keep_their_identities() {
    let penguins = example("penguins");
    let frequency = complete(&penguins);
    let of = |text: &str| {
        let recipe = fit_recipe(&penguins, &frequency, &options(text)).expect("a recipe");
        matrix_of(&recipe, &penguins, &frequency)
    };
    // B-splines with their first column sum to one.
    for row in of("~ 0 + bs(body_mass_g, 7, intercept = TRUE)") {
        assert_near(row.iter().sum(), 1.0, 1e-14, 1.0, "a partition of unity");
        assert!(row.iter().all(|v| (0.0..=1.0 + 1e-15).contains(v)));
    }
    // Polynomials are orthonormal, and orthogonal to the constant.
    let columns = of("~ poly(bill_length_mm, 5)");
    for j in 0..5 {
        assert_near(columns.iter().map(|r| r[j]).sum(), 0.0, 1e-12, 1.0, "the constant");
        for k in 0..=j {
            let inner: f64 = columns.iter().map(|r| r[j] * r[k]).sum();
            assert_near(inner, f64::from(u8::from(j == k)), 1e-12, 1.0, "orthonormal");
        }
    }
    // Natural splines are straight beyond the outer knots: second differences vanish there.
    let recipe = fit_recipe(&penguins, &frequency, &options("~ ns(body_mass_g, 5)")).expect("a recipe");
    let beyond = matrix_of(&recipe, &table("body_mass_g\n7000\n8000\n9000\n100\n200\n300\n"), &[1.0; 6]);
    for side in beyond.chunks_exact(3) {
        for ((a, b), c) in side[0].iter().zip(&side[1]).zip(&side[2]) {
            assert_near(a + c, 2.0 * b, 1e-12, 1.0, "a straight line");
        }
    }
}

/// The unit of a column does not matter to orthonormal polynomials and splines, however large or small it is.
#[test]
fn units_do_not_matter_to_bases() {
    let cells: Vec<f64> = (0..40).map(|i| f64::from((i * 17) % 41) + 0.25).collect();
    let of = |scale: f64, text: &str| {
        let lines: String = cells.iter().map(|x| format!("{:e}\n", x * scale)).collect();
        let table = table(&format!("x\n{lines}"));
        let recipe = fit_recipe(&table, &[1.0; 40], &options(text)).expect("a recipe");
        matrix_of(&recipe, &table, &[1.0; 40])
    };
    for text in ["~ poly(x, 4)", "~ ns(x, 4)", "~ bs(x, 6)"] {
        let plain = of(1.0, text);
        for scale in [1e100, 1e-100, 1e-140] {
            for (a, b) in of(scale, text).iter().zip(&plain) {
                assert_all_near(a, b, 1e-11, 1.0, text);
            }
        }
    }
}

fn model(table: &Table, formula: &str, method: RiskMinimizer, then: impl Fn(&mut FitOptions)) -> Model {
    let formula = Formula::parse(formula).expect("a formula");
    let mut options = FitOptions::new(formula.target().expect("a target"), Method::Risk(method));
    options.recipe.formula = Some(formula);
    then(&mut options);
    let options = options.settled().expect("options that agree");
    match fit_table(table.clone(), &options, &Watch::default()).expect("a fit") {
        TableFit::Model(model) => *model,
        TableFit::Refused(_) => panic!("no model"),
    }
}

fn likelihood() -> RiskMinimizer {
    RiskMinimizer { penalty: PenaltyChoice::None, ..RiskMinimizer::default() }
}

#[test]
fn columns_that_span_the_same_space_give_the_same_probabilities() {
    let penguins = example("penguins");
    let probabilities = |formula: &str| {
        let model = model(&penguins, formula, likelihood(), |_| {});
        let found = predict_table(&model, &penguins, None, &Watch::default()).expect("predictions");
        found.probabilities()
    };
    let pairs = [
        ("sex ~ poly(body_mass_g, 3) + island", "sex ~ poly(body_mass_g, 3, raw = TRUE) + C(island, sum)"),
        ("sex ~ island * bill_depth_mm", "sex ~ 0 + island + island:bill_depth_mm"),
        ("sex ~ bs(bill_depth_mm, 3)", "sex ~ poly(bill_depth_mm, 3)"),
        ("sex ~ C(year)", "sex ~ poly(year, 2)"),
    ];
    for (one, other) in pairs {
        assert_all_near(&probabilities(one), &probabilities(other), 1e-6, 1.0, one);
    }
}

#[test]
fn models_of_formulas_are_stored_and_verified() {
    let penguins = example("penguins");
    let formulas = [
        "species ~ ns(body_mass_g, 3) * sex + poly(bill_length_mm, 2) + C(year, ref = 2008)",
        "sex ~ . - year - species",
        "sex ~ 0 + C(island, sum) + log(body_mass_g) + bs(bill_depth_mm, 4)",
        "sex ~ bill_depth_mm + body_mass_g",
    ];
    for formula in formulas {
        let fitted = model(&penguins, formula, RiskMinimizer::default(), |o| o.folds = Some(3));
        let text = fitted.to_json().expect("a file");
        let again = Model::from_json(text.as_bytes(), "m.json").expect("the same model");
        assert_eq!(again.recipe, fitted.recipe, "{formula}");
        assert_eq!(again.recipe.features(), fitted.recipe.features());
        let verified = verify_table(&again, &penguins, &Watch::default()).expect("a verdict");
        assert!(verified.passed(), "{formula}: {:?}", verified.checks);
        let one = predict_table(&fitted, &penguins, None, &Watch::default()).expect("predictions");
        let other = predict_table(&again, &penguins, None, &Watch::default()).expect("predictions");
        assert_eq!(one.probabilities(), other.probabilities());
    }
}

#[test]
fn an_edited_knot_does_not_pass() {
    let penguins = example("penguins");
    let mut fitted = model(&penguins, "sex ~ ns(body_mass_g, 3)", RiskMinimizer::default(), |_| {});
    let text = serde_json::to_string(&fitted.recipe).expect("a recipe");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("a value");
    let knot = &mut value["formula"]["learned"][0]["spline"]["knots"][0];
    *knot = serde_json::json!(knot.as_f64().expect("a knot") + 1.0);
    fitted.recipe = serde_json::from_value(value).expect("a recipe");
    let verified = verify_table(&fitted, &penguins, &Watch::default()).expect("a verdict");
    assert!(!verified.passed());
}

fn inference(table: &Table, formula: &str) -> Inference {
    let formula = Formula::parse(formula).expect("a formula");
    let mut options = InferOptions::new(formula.target().expect("a target"));
    options.recipe.formula = Some(formula);
    match infer_table(table.clone(), &options, &Watch::default()).expect("an answer").answer {
        Fit::Model(found) => *found,
        Fit::Refused(_) => panic!("no maximum"),
    }
}

/// Type II: a main effect is tested without the interaction that contains it, so that its statistic does not depend on the
/// coding of the other factor.
#[test]
fn terms_are_tested_by_marginality() {
    let penguins = example("penguins");
    let plain = inference(&penguins, "sex ~ island * bill_depth_mm");
    let other = inference(&penguins, "sex ~ C(island, sum) * I(bill_depth_mm - 17)");
    let statistics = |found: &Inference| found.terms.iter().map(|t| t.statistic).collect::<Vec<f64>>();
    assert_eq!(plain.terms.len(), 3);
    assert_all_near(&statistics(&plain), &statistics(&other), 1e-6, 1.0, "statistics of the terms");
}

#[test]
fn functions_outside_their_domain_name_the_row() {
    let training = table("x,y\n1,a\n2,b\n3,a\n4,b\n");
    let recipe =
        fit_recipe(&training, &[1.0; 4], &RecipeOptions { exclude: vec!["y".into()], ..options("y ~ log(x)") })
            .expect("a recipe");
    let others = table("x\n5\n-1\n0\n7\n");
    let error = recipe.apply(&others, &[true; 4]).expect_err("a logarithm");
    assert_eq!((error.place().line, error.place().column.as_deref()), (Some(3), Some("x")), "{error}");
    let lenient = Recipe { unknown: UnknownLevel::Missing, ..recipe };
    assert_eq!(lenient.apply(&others, &[true; 4]).expect("rows").rows, [0, 3]);
    for text in ["y ~ log(x)", "y ~ ns(log(x), 2)", "y ~ I(1 / x)", "y ~ exp(1000 * x)", "y ~ I(x^400)"] {
        let bad = table("x,y\n1,a\n2,b\n0,a\n4,b\n");
        let found = fit_recipe(&bad, &[1.0; 4], &RecipeOptions { exclude: vec!["y".into()], ..options(text) })
            .and_then(|recipe| recipe.apply(&bad, &[true; 4]).map(|_| ()));
        let error = found.expect_err(text);
        assert!(error.place().line.is_some() && error.place().column.as_deref() == Some("x"), "{text}: {error}");
    }
}

/// Weights are frequencies: a row of weight two gives the knots and polynomials of two rows.
#[test]
fn weights_count_as_copies() {
    let once = table("x\n1\n2\n4\n8\n9\n");
    let copied = table("x\n1\n2\n2\n4\n8\n8\n8\n9\n");
    for text in ["~ ns(x, 3)", "~ bs(x, 5)", "~ poly(x, 2)"] {
        let a = fit_recipe(&once, &[1.0, 2.0, 1.0, 3.0, 1.0], &options(text)).expect("a recipe");
        let b = fit_recipe(&copied, &[1.0; 8], &options(text)).expect("a recipe");
        let (a, b) = (matrix_of(&a, &once, &[1.0; 5]), matrix_of(&b, &once, &[1.0; 5]));
        for (a, b) in a.iter().zip(&b) {
            assert_all_near(a, b, 1e-13, 1.0, text);
        }
    }
}

/// Random right sides.
fn right_side() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("a".to_owned()),
        Just("`b c`".to_owned()),
        Just("ä.1".to_owned()),
        Just("log(a)".to_owned()),
        Just("poly(a,2,raw=T)".to_owned()),
        Just("ns( a , knots = c(1,-2.5e-3) )".to_owned()),
        Just("C(`x\\`y`, sum, ref='q\"')".to_owned()),
        Just("I(-a^2*3/(b-1)^-a)".to_owned()),
        Just(".".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            (inner.clone(), prop_oneof![Just("+"), Just("-"), Just(":"), Just(" * ")], inner.clone())
                .prop_map(|(a, sign, b)| format!("{a}{sign}{b}")),
            inner.clone().prop_map(|a| format!("({a})")),
            inner.prop_map(|a| format!("({a})^2")),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_printed_is_read_as_the_same(right in right_side()) {
        let Ok(formula) = Formula::parse(&format!("y ~ {right}")) else { return Ok(()) };
        let printed = formula.to_string();
        let again = Formula::parse(&printed).expect(&printed);
        prop_assert_eq!(&again, &formula);
        prop_assert_eq!(again.to_string(), printed);
        let without = formula.clone().without_intercept();
        prop_assert!(!without.has_intercept());
        prop_assert_eq!(Formula::parse(&without.to_string()).expect("a formula"), without);
    }

    #[test]
    fn no_text_is_too_odd(text in "\\PC{0,60}", signs in "[a-c~+*:^()., 0-9\"`'=\\\\-]{0,60}") {
        let _ = Formula::parse(&text);
        let _ = Formula::parse(&format!("y ~ {signs}"));
    }
}

#[test]
fn deep_and_long_formulas_are_answered() {
    let deep = format!("y ~ {}a{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(Formula::parse(&deep).is_err());
    assert!(Formula::parse(&format!("y ~ {}a", "-".repeat(100_000))).is_err());
    let long = vec!["a"; 50_000].join(" + ");
    assert_eq!(Formula::parse(&format!("y ~ {long}")).expect("a formula").target(), Some("y"));
    let many: Vec<String> = (0..300).map(|j| format!("x{j}")).collect();
    let error = Formula::parse(&format!("y ~ ({})^3", many.join("+"))).expect_err("too many terms");
    assert!(error.message().contains("20000 terms"), "{error}");
}

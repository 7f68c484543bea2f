//! Transforms and bases: against scikit-learn, against a slow twin that reads the names of the features, and on data
//! that no linear classifier can tell apart.

use linsep::design::{
    Basis, Block, Coding, Design, Encoding, Missing, Prepared, PreparedDesign, QuantileOutput, Recipe, RecipeOptions,
    Tile, Transform, Units, fit_recipe,
};
use linsep::model::{Method, PenaltyChoice, RiskMinimizer};
use linsep::read::{ReadOptions, read_bytes};
use linsep::table::{Kind, Table};
use linsep::watch::Watch;
use linsep::workflow::{FitOptions, TableFit, TableRefusal, fit_table, predict_table, verify_table};
use testkit::data::Source;
use testkit::golden::{json, matrix, number, root, strings};
use testkit::{assert_all_near, assert_near};

fn table(csv: &str) -> Table {
    read_bytes(csv.as_bytes(), "t.csv", &ReadOptions::default()).expect("a table")
}

fn penguins() -> Table {
    table(&std::fs::read_to_string(root().join("golden/data/penguins.csv")).expect("penguins"))
}

/// All rows of a prepared design.
fn rows(prepared: &Prepared) -> Vec<Vec<f64>> {
    let design: &dyn Design = prepared.design.as_design();
    let shape = design.shape();
    let mut tile = Tile::default();
    let mut out = Vec::new();
    // Blocks of an odd size, so that they do not agree with groups and chunks.
    for start in (0..shape.rows).step_by(37) {
        let range = start..(start + 37).min(shape.rows);
        let mut values = Vec::new();
        match design.block(range, &mut tile).expect("a block") {
            Block::F64(dense) => dense.load(&Units::identity(shape.cols), &mut values),
            other => panic!("{other:?}"),
        }
        out.extend(values.chunks_exact(shape.cols).map(<[f64]>::to_vec));
    }
    out
}

fn quantile(output: QuantileOutput, knots: usize) -> Transform {
    Transform::Quantile { output, knots }
}

#[test]
fn quantile_transform_of_sklearn() {
    let golden = json("recipe_sklearn.json");
    let table = penguins();
    let features = strings(&golden["features"]);
    let complete =
        |row: usize| features.iter().all(|f| !table.number(row, table.column(f).expect("a column")).is_nan());
    let used: Vec<usize> = (0..table.n_rows()).filter(|r| complete(*r)).collect();
    assert_eq!(used.len(), number(&golden["rows"]) as usize);
    let mut frequency = vec![0.0; table.n_rows()];
    used.iter().step_by(2).for_each(|r| frequency[*r] = 1.0);
    let mut ends = 0;
    for case in golden["quantile"].as_array().expect("cases") {
        let output = match case["output"].as_str() {
            Some("normal") => QuantileOutput::Normal,
            _ => QuantileOutput::Uniform,
        };
        let options = RecipeOptions {
            features: Some(features.clone()),
            transform: quantile(output, number(&case["n_quantiles"]) as usize),
            ..RecipeOptions::default()
        };
        let recipe = fit_recipe(&table, &frequency, &options).expect("a recipe");
        let found = rows(&recipe.apply(&table, &vec![true; table.n_rows()]).expect("a matrix"));
        assert_eq!(found.len(), used.len());
        for (found, expected) in found.iter().step_by(5).zip(matrix(&case["values"])) {
            for (a, b) in found.iter().zip(&expected) {
                // scikit-learn moves the ends of the normal output 2e-16 less far from 0 and 1, worth 4e-10 there.
                let end = output == QuantileOutput::Normal && b.abs() > 5.1;
                ends += usize::from(end);
                assert_near(*a, *b, if end { 5e-10 } else { 1e-12 }, 1.0, &format!("{}: {a} or {b}", case["output"]));
            }
        }
    }
    assert!(ends > 0, "no value at an end");
}

#[test]
fn polynomial_features_of_sklearn() {
    let golden = json("recipe_sklearn.json");
    let table = penguins();
    for case in golden["polynomial"].as_array().expect("cases") {
        let basis = match (number(&case["degree"]) as u32, case["products_only"] == true) {
            (2, true) => Basis::Products,
            (2, false) => Basis::Quadratic,
            (degree, _) => Basis::polynomial(degree).expect("a degree"),
        };
        let options = RecipeOptions { features: Some(strings(&golden["features"])), basis, ..RecipeOptions::default() };
        let recipe = fit_recipe(&table, &vec![1.0; table.n_rows()], &options).expect("a recipe");
        assert_eq!(recipe.features(), strings(&case["names"]));
        let found = rows(&recipe.apply(&table, &vec![true; table.n_rows()]).expect("a matrix"));
        for (found, expected) in found.iter().step_by(40).zip(matrix(&case["values"])) {
            assert_all_near(found, &expected, 1e-15, 0.0, "products");
        }
    }
}

/// A random table: whole and other numbers, two text columns, missing cells, several chunks.
fn random_table(n: usize, seed: u64) -> Table {
    let mut source = Source::new(seed);
    let mut csv = String::from("count,size,kind,place,late\n");
    for _ in 0..n {
        let mut draw = || source.uniform(0.0, 1.0);
        let count = (draw() * 90.0).floor();
        let size = draw() * 3.0 - 1.0;
        let kind = ["a", "b", "c"][(draw() * 3.0) as usize];
        let place = ["x", "y"][(draw() * 2.0) as usize];
        let late = (draw() * 5.0).exp();
        let mut missing = |text: String| if draw() < 0.05 { "NA".to_owned() } else { text };
        let cells = [
            missing(count.to_string()),
            missing(size.to_string()),
            missing(kind.to_owned()),
            missing(place.to_owned()),
            missing(late.to_string()),
        ];
        csv.push_str(&cells.join(","));
        csv.push('\n');
    }
    table(&csv)
}

/// The value of an encoded column in a row, worked out from the table cell by cell; `None` where the row is left out.
fn slow_plain(recipe: &Recipe, table: &Table, counted: &[f64], row: usize, name: &str) -> Option<f64> {
    let (column, level) = name.split_once('=').map_or((name, None), |(c, l)| (c, Some(l)));
    let at = table.column(column).expect("a column");
    let learned: Vec<usize> =
        (0..table.n_rows()).filter(|r| counted[*r] > 0.0 && !table.number(*r, at).is_nan()).collect();
    let total: f64 = learned.iter().map(|r| counted[*r]).sum();
    let cell = table.number(row, at);
    let value = |r: usize| match level {
        Some(level) => f64::from(u8::from(table.text(r, at) == level)),
        None => table.number(r, at),
    };
    let mean = || learned.iter().map(|r| counted[*r] * value(*r)).sum::<f64>() / total;
    let filled = match (cell.is_nan(), recipe.missing) {
        (false, _) => value(row),
        (true, Missing::Mean) => mean(),
        (true, _) => return None,
    };
    let encoding = &recipe.columns.iter().find(|c| c.name == column).expect("a recipe column").encoding;
    let Encoding::Quantile { .. } = encoding else { return Some(filled) };
    // Fewer cells than knots and whole weights: the level of a training cell is the middle of its places.
    let copies = |r: &usize| std::iter::repeat_n(table.number(*r, at), counted[*r] as usize);
    let mut all: Vec<f64> = learned.iter().flat_map(copies).collect();
    all.sort_by(f64::total_cmp);
    let last = all.len() - 1;
    let equal: Vec<usize> = (0..=last).filter(|i| all[*i] == filled).collect();
    let place = match (equal.first(), equal.last()) {
        _ if filled <= all[0] => 0.0,
        _ if filled >= all[last] => last as f64,
        (Some(a), Some(b)) => 0.5 * (a + b) as f64,
        _ => {
            let above = all.iter().position(|v| *v > filled).expect("within the range");
            above as f64 - 1.0 + (filled - all[above - 1]) / (all[above] - all[above - 1])
        }
    };
    Some(place / last as f64)
}

/// The value of a feature by its name: `a^2*b=c` is the product of its parts.
fn slow_feature(recipe: &Recipe, table: &Table, counted: &[f64], row: usize, name: &str) -> Option<f64> {
    let mut product = 1.0;
    for part in name.split('*') {
        let (base, power) = part.split_once('^').map_or((part, 1), |(b, p)| (b, p.parse().expect("a power")));
        product *= slow_plain(recipe, table, counted, row, base)?.powi(power);
    }
    Some(product)
}

#[test]
fn blocks_agree_with_the_names_of_the_features() {
    let bases = [
        (Basis::Products, None),
        (Basis::Quadratic, Some(vec!["size".to_owned(), "kind".to_owned()])),
        (Basis::Polynomial(3), None),
    ];
    let (mut dense, mut packed) = (0, 0);
    for (case, (basis, basis_columns)) in bases.into_iter().enumerate() {
        for missing in [Missing::Drop, Missing::Mean] {
            let table = random_table(150, 7 + case as u64);
            let frequency: Vec<f64> = (0..150).map(|r| f64::from([1u8, 0, 2][r % 3])).collect();
            let options = RecipeOptions {
                missing,
                coding: if case == 0 { Coding::AllLevels } else { Coding::DropReference },
                transform: quantile(QuantileOutput::Uniform, 1000),
                transform_columns: Some(vec!["late".to_owned()]),
                basis,
                basis_columns: basis_columns.clone(),
                ..RecipeOptions::default()
            };
            let recipe = fit_recipe(&table, &frequency, &options).expect("a recipe");
            let counted: Vec<f64> = (0..150)
                .map(|r| {
                    let whole = (0..5).all(|c| !table.number(r, c).is_nan()) || missing == Missing::Mean;
                    if whole { frequency[r] } else { 0.0 }
                })
                .collect();
            let wanted: Vec<bool> = (0..150).map(|r| r % 4 != 1).collect();
            let names = recipe.features();
            assert_eq!(names.len(), recipe.n_features());
            let prepared = recipe.apply(&table, &wanted).expect("a matrix");
            let found = rows(&prepared);
            let mut kept = 0;
            for row in (0..150).filter(|r| wanted[*r]) {
                let expected: Option<Vec<f64>> =
                    names.iter().map(|n| slow_feature(&recipe, &table, &counted, row, n)).collect();
                let Some(expected) = expected else {
                    assert!(!prepared.rows.contains(&row));
                    continue;
                };
                assert_eq!(prepared.rows[kept], row);
                assert_all_near(&found[kept], &expected, 1e-12, 1.0, &format!("row {row}, {basis:?}"));
                kept += 1;
            }
            assert!(kept == prepared.rows.len() && kept > 60);
            let owned = recipe.apply_owned(table.clone(), &wanted).expect("a matrix");
            assert_eq!(rows(&owned), found, "a table used up gives the same bits");
            for design in [&prepared.design, &owned.design] {
                match design {
                    PreparedDesign::Dense(_) => dense += 1,
                    PreparedDesign::Packed(_) => packed += 1,
                    PreparedDesign::Sparse(_) => panic!("a sparse matrix"),
                }
            }
        }
    }
    assert!(dense > 0 && packed > 0, "{dense} dense, {packed} packed");
}

#[test]
fn packed_equals_dense() {
    // Small counts and many products are packed; the same numbers beside a half are not, and a basis of one column that
    // is zero keeps the matrix narrow.
    let table = random_table(400, 3);
    let frequency = vec![1.0; 400];
    let options = |basis| RecipeOptions {
        features: Some(["count", "size", "late"].map(str::to_owned).to_vec()),
        transform: quantile(QuantileOutput::Normal, 50),
        transform_columns: Some(vec!["late".to_owned()]),
        missing: Missing::Mean,
        basis,
        ..RecipeOptions::default()
    };
    let wide = fit_recipe(&table, &frequency, &options(Basis::Polynomial(4))).expect("a recipe");
    let narrow = fit_recipe(&table, &frequency, &options(Basis::Products)).expect("a recipe");
    let wanted = vec![true; 400];
    let (wide_rows, narrow_rows) = (
        wide.apply_owned(table.clone(), &wanted).expect("a matrix"),
        narrow.apply_owned(table, &wanted).expect("a matrix"),
    );
    assert!(matches!(wide_rows.design, PreparedDesign::Packed(_)));
    assert!(matches!(narrow_rows.design, PreparedDesign::Dense(_)));
    let names = wide.features();
    for (a, b) in rows(&wide_rows).iter().zip(rows(&narrow_rows)) {
        for (name, value) in narrow.features().iter().zip(&b) {
            assert_eq!(a[names.iter().position(|n| n == name).expect("a shared feature")], *value, "{name}");
        }
    }
}

#[test]
fn names_sources_and_origins_agree() {
    let table = random_table(60, 5);
    let options = RecipeOptions { basis: Basis::Polynomial(3), ..RecipeOptions::default() };
    let recipe = fit_recipe(&table, &[1.0; 60], &options).expect("a recipe");
    let (names, origins) = (recipe.features(), recipe.origins());
    assert!(!recipe.is_linear());
    let mut end = 0;
    for (at, origin) in origins.iter().enumerate() {
        assert_eq!(origin.columns.start, end);
        end = origin.columns.end;
        for j in origin.columns.clone() {
            assert_eq!((recipe.source(j), recipe.feature(j)), (at, names[j].clone()));
            // `kind=a*place=x` comes from `kind*place`.
            let bare: Vec<&str> = names[j].split('*').map(|p| p.split('=').next().expect("a part")).collect();
            assert_eq!(bare.join("*"), origin.name);
        }
        let text = |part: &str| table.columns().iter().any(|c| c.name == part && c.kind != Kind::Number);
        assert_eq!(origin.levels, origin.name.split('*').all(text), "{}", origin.name);
    }
    assert_eq!((end, names.len()), (recipe.n_features(), recipe.n_features()));
    assert!(origins.iter().any(|o| o.name == "kind*place" && o.levels && o.columns.len() == 6));
    assert!(origins.iter().any(|o| o.name == "count^2*kind" && !o.levels && o.columns.len() == 3));
}

#[test]
fn learned_from_training_rows_with_their_weights() {
    let table = random_table(200, 11);
    let options = RecipeOptions {
        missing: Missing::Mean,
        transform: quantile(QuantileOutput::Uniform, 30),
        basis: Basis::Quadratic,
        ..RecipeOptions::default()
    };
    let weight = |r: usize| (r * 7) % 4;
    let weighted: Vec<f64> = (0..200).map(|r| weight(r) as f64).collect();
    let recipe = fit_recipe(&table, &weighted, &options).expect("a recipe");
    let line = |r: usize| {
        let cell = |c: usize| match (table.number(r, c).is_nan(), &table.columns()[c].kind) {
            (true, _) => "NA".to_owned(),
            (_, Kind::Number) => table.number(r, c).to_string(),
            (_, Kind::Text { .. }) => table.text(r, c).to_owned(),
        };
        format!("{}\n", (0..5).map(cell).collect::<Vec<_>>().join(","))
    };
    let copied: String = (0..200).flat_map(|r| std::iter::repeat_n(line(r), weight(r))).collect();
    let copies = self::table(&format!("count,size,kind,place,late\n{copied}"));
    let repeated = fit_recipe(&copies, &vec![1.0; copies.n_rows()], &options).expect("a recipe");
    let knots = |recipe: &Recipe| -> Vec<Vec<f64>> {
        let of = |e: &Encoding| if let Encoding::Quantile { knots, .. } = e { Some(knots.clone()) } else { None };
        recipe.columns.iter().filter_map(|c| of(&c.encoding)).collect()
    };
    assert_eq!(knots(&recipe).len(), 3);
    assert_eq!(knots(&recipe), knots(&repeated), "weight k is k copies");
    let again = rayon::ThreadPoolBuilder::new().num_threads(4).build().expect("threads");
    assert_eq!(again.install(|| fit_recipe(&table, &weighted, &options)).expect("a recipe"), recipe);
    // What the recipe says of itself is enough to learn it again.
    assert_eq!(fit_recipe(&table, &weighted, &recipe.options(Coding::AllLevels)).expect("a recipe"), recipe);
}

#[test]
fn recipes_without_a_basis_are_as_they_were() {
    let old =
        r#"{"columns":[{"name":"x","encoding":{"number":{}}}],"sparse_width":0,"missing":"drop","unknown":"error"}"#;
    let recipe: Recipe = serde_json::from_str(old).expect("an old recipe");
    assert!(recipe.is_linear() && recipe.is_whole() && recipe.basis == Basis::None);
    assert_eq!(serde_json::to_string(&recipe).expect("JSON"), old);
    let new = Recipe { basis: Basis::Polynomial(3), basis_columns: Some(vec!["x".into()]), ..recipe };
    let text = serde_json::to_string(&new).expect("JSON");
    assert_eq!(serde_json::from_str::<Recipe>(&text).expect("a recipe"), new);
    let broken = text.replace(r#""number":{}"#, r#""quantile":{"knots":[],"output":"normal"}"#);
    assert!(!serde_json::from_str::<Recipe>(&broken).expect("a recipe").is_whole());
}

fn circle(n: usize) -> Table {
    let mut source = Source::new(1);
    let mut csv = String::from("u,v,y\n");
    let mut made = 0;
    while made < n {
        let (u, v) = (2.0 * source.uniform(0.0, 1.0) - 1.0, 2.0 * source.uniform(0.0, 1.0) - 1.0);
        let radius = u * u + v * v;
        // A gap between the classes.
        if (radius - 0.5).abs() > 0.05 {
            csv.push_str(&format!("{u},{v},{}\n", if radius < 0.5 { "in" } else { "out" }));
            made += 1;
        }
    }
    table(&csv)
}

fn exclusive_or(n: usize) -> Table {
    let mut source = Source::new(2);
    let mut cell = || {
        let x = 2.0 * source.uniform(0.0, 1.0) - 1.0;
        x + 0.2 * x.signum()
    };
    let line = |u: f64, v: f64| format!("{u},{v},{}\n", if u * v > 0.0 { "same" } else { "other" });
    let lines: String = (0..n).map(|_| (cell(), cell())).map(|(u, v)| line(u, v)).collect();
    table(&format!("u,v,y\n{lines}"))
}

#[test]
fn products_tell_apart_what_no_line_can() {
    let fit = |table: &Table, basis: Basis, penalty: PenaltyChoice| {
        let method = RiskMinimizer { penalty, ..RiskMinimizer::default() };
        let mut options = FitOptions::new("y", Method::Risk(method));
        options.recipe.basis = basis;
        fit_table(table.clone(), &options, &Watch::default()).expect("a fit")
    };
    for (table, basis) in [(circle(300), Basis::Quadratic), (exclusive_or(300), Basis::Products)] {
        let TableFit::Model(line) = fit(&table, Basis::None, PenaltyChoice::None) else {
            panic!("a line separates them")
        };
        assert!(
            line.training.accuracy.expect("decided rows") < 0.75,
            "{}",
            line.training.accuracy.expect("decided rows")
        );
        // With products they are separable, and that is proved.
        let TableFit::Refused(TableRefusal::NoOptimum { features, .. }) = fit(&table, basis, PenaltyChoice::None)
        else {
            panic!("products do not separate them")
        };
        assert!(features.contains(&"u*v".to_owned()));
        let TableFit::Model(curve) = fit(&table, basis, PenaltyChoice::Ridge(1e-4)) else { panic!("no model") };
        assert!(
            curve.training.accuracy.expect("decided rows") > 0.99,
            "{}",
            curve.training.accuracy.expect("decided rows")
        );
        let verified = verify_table(&curve, &table, &Watch::default()).expect("a verdict");
        assert!(verified.passed(), "{:?}", verified.checks);
        let predictions = predict_table(&curve, &table, None, &Watch::default()).expect("predictions");
        assert_eq!(predictions.rows.len(), 300);
    }
}

#[test]
fn relations_of_the_coding_are_no_news() {
    let table = penguins();
    let method = Method::Risk(RiskMinimizer::default());
    let mut options = FitOptions::new("species", method);
    options.recipe.features = Some(["sex", "body_mass_g", "bill_length_mm"].map(str::to_owned).to_vec());
    options.recipe.basis = Basis::Quadratic;
    let TableFit::Model(model) = fit_table(table, &options, &Watch::default()).expect("a fit") else {
        panic!("no model")
    };
    assert_eq!(model.notes, [], "{:?}", model.recipe.features());
}

#[test]
fn the_transform_does_not_see_monotone_maps() {
    let mut source = Source::new(4);
    let cells: Vec<f64> = (0..120).map(|_| source.uniform(0.0, 1.0) * 6.0).collect();
    let lines: String = cells.iter().map(|x| format!("{x},{}\n", x.exp())).collect();
    let table = table(&format!("x,e\n{lines}"));
    for output in [QuantileOutput::Uniform, QuantileOutput::Normal] {
        let options = RecipeOptions { transform: quantile(output, 1000), ..RecipeOptions::default() };
        let recipe = fit_recipe(&table, &[1.0; 120], &options).expect("a recipe");
        for row in rows(&recipe.apply(&table, &[true; 120]).expect("a matrix")) {
            assert_eq!(row[0], row[1]);
        }
    }
}

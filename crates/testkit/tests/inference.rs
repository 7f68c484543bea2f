//! Inference against R (glm, car, sandwich, brglm2, nnet; every value polished) and against its own theorems.

use linsep::design::{Basis, DenseMatrix, Training};
use linsep::infer::{
    Adjustment, BandKind, CovarianceKind, EstimatorKind, Inference, InferenceOptions, IntervalKind, Subject, TermTest,
    TestKind, infer,
};
use linsep::model::Fit;
use linsep::numeric::chi_square_quantile;
use linsep::read::{ReadOptions, read_bytes, read_files};
use linsep::table::Labels;
use linsep::workflow::{InferOptions, TableInference, infer_table};
use serde_json::Value;
use std::path::PathBuf;
use testkit::golden::{json, root, shared_file};

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|v| v.as_f64().unwrap_or(f64::NAN)).collect()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().expect("a list").iter().map(|v| v.as_str().expect("text").to_owned()).collect()
}

#[track_caller]
fn close(found: f64, wanted: f64, relative: f64, what: &str) {
    let error = (found - wanted).abs();
    assert!(error <= relative * wanted.abs().max(1e-6), "{what}: {found} for {wanted} ({error:e})");
}

/// A case of the golden file as the options that ask for it: the formula is `y ~ a + b`, with products as a basis.
fn asked(case: &Value) -> InferOptions {
    let mut options = InferOptions::new(case["target"].as_str().expect("a target"));
    let formula = case["formula"].as_str().expect("a formula");
    let right = formula.split_once('~').expect("two sides").1;
    let mut products = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        let name = name.trim().to_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    };
    if let Some(inside) = right.trim().strip_prefix('(') {
        let inside = inside.split_once(')').expect("closed").0;
        products = inside.split('+').map(|n| n.trim().to_owned()).collect();
        products.iter().for_each(|n| add(n));
    } else {
        for part in right.split('+') {
            if part.contains('*') {
                products = part.split('*').map(|n| n.trim().to_owned()).collect();
            }
            part.split('*').for_each(&mut add);
        }
    }
    if !products.is_empty() {
        options.recipe.basis = Basis::Products;
        options.recipe.basis_columns = Some(products);
    }
    options.recipe.features = Some(names);
    if case["weights"].is_string() || case["weights_column"].is_string() {
        options.weights = Some(case["weights_column"].as_str().unwrap_or("count").to_owned());
    }
    options
}

/// A shipped table, or one of the shared ones.
fn file(case: &Value) -> PathBuf {
    let name = case["data"].as_str().expect("a file");
    let shipped = root().join("golden/data").join(name);
    if shipped.exists() { shipped } else { shared_file(&format!("small/{name}")) }
}

/// The rows of a case: of three classes in a file some cases use two, and two columns of counts become two rows.
fn rows(case: &Value) -> String {
    let text = std::fs::read_to_string(file(case)).expect("a table");
    let mut lines = text.lines().map(str::to_owned);
    let head = lines.next().expect("a header");
    let columns: Vec<String> = head.split(',').map(|c| c.trim_matches('"').to_owned()).collect();
    let column = |name: &str| columns.iter().position(|c| c == name);
    let classes = texts(&case["classes"]);
    let Some(target) = column(case["target"].as_str().expect("a target")) else {
        let counts: Vec<usize> = classes.iter().map(|c| column(c).expect("a column of counts")).collect();
        let mut all = format!("{head},{},count\n", case["target"].as_str().unwrap());
        for line in lines {
            let cells: Vec<&str> = line.split(',').collect();
            for (class, at) in classes.iter().zip(&counts) {
                all.push_str(&format!("{line},{class},{}\n", cells[*at]));
            }
        }
        return all;
    };
    let used = lines.filter(|l| classes.iter().any(|c| l.split(',').nth(target).unwrap().trim_matches('"') == c));
    format!("{head}\n{}\n", used.collect::<Vec<_>>().join("\n"))
}

fn run(case: &Value, options: &InferOptions) -> TableInference {
    attempt(case, options).expect("inference")
}

fn attempt(case: &Value, options: &InferOptions) -> linsep::Result<TableInference> {
    // Columns whose levels have names of their own are text, whatever their cells look like.
    let names = [&case["names"], &case["coefficients"]["names"]].into_iter().find(|n| n.is_array());
    let changes =
        case["discrete_change"].as_array().into_iter().flatten().map(|e| e["name"].as_str().unwrap().to_owned());
    let factors = names.map(texts).unwrap_or_default().into_iter().chain(changes).collect::<Vec<_>>().join("*");
    let text = factors.split('*').filter_map(|f| f.split_once('=').map(|(column, _)| column.to_owned())).collect();
    let reading = ReadOptions { text, ..ReadOptions::default() };
    let table = read_bytes(rows(case).as_bytes(), "case.csv", &reading).expect("a table");
    infer_table(table, options, &Default::default())
}

fn model(found: TableInference) -> Box<Inference> {
    match found.answer {
        Fit::Model(inference) => inference,
        Fit::Refused(_) => panic!("the maximum exists"),
    }
}

fn name_of(inference: &Inference, line: usize) -> String {
    inference.coefficients[line].feature.map_or("(intercept)".into(), |j| inference.features[j].clone())
}

/// The line of each golden name.
fn lines(inference: &Inference, case: &Value) -> Vec<usize> {
    let names = texts(&case["coefficients"]["names"]);
    let classes = case["coefficients"]["class"].as_array();
    names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let class = classes.map(|c| c[at].as_str().expect("a class"));
            (0..inference.coefficients.len())
                .find(|i| {
                    let same = name_of(inference, *i) == *name || same_product(&name_of(inference, *i), name);
                    same && class.is_none_or(|c| inference.classes[inference.coefficients[*i].class] == *c)
                })
                .unwrap_or_else(|| panic!("no line {name} in {:?}", inference.features))
        })
        .collect()
}

/// Whether two products have the same factors.
fn same_product(a: &str, b: &str) -> bool {
    let sorted = |text: &str| {
        let mut parts: Vec<String> = text.split('*').map(str::to_owned).collect();
        parts.sort();
        parts
    };
    sorted(a) == sorted(b)
}

/// Cases of a kind on shipped tables.
fn cases(kind: &str) -> Vec<Value> {
    json("inference_r.json")[kind].as_array().expect("cases").clone()
}

/// Cases of a kind on the shared tables.
fn shared_cases(kind: &str) -> Vec<Value> {
    json("inference_shared_r.json")[kind].as_array().expect("cases").clone()
}

fn check_tests(found: &[TermTest], wanted: &Value, what: &str) {
    for term in wanted.as_array().expect("terms") {
        let name = term["name"].as_str().expect("a name");
        let test = found.iter().find(|t| t.name == name || same_product(&t.name, name));
        let test = test.unwrap_or_else(|| panic!("{what}: no term {name}"));
        assert_eq!(test.df as f64, term["df"].as_f64().unwrap(), "{what} {name}");
        close(test.statistic, term["statistic"].as_f64().unwrap(), 1e-8, &format!("{what} {name}"));
        let log10 = term["log10_p"].as_f64().unwrap();
        close(test.ln_p / std::f64::consts::LN_10, log10, 1e-8, &format!("{what} {name} p"));
    }
}

#[test]
fn tables_of_r() {
    check_tables(&cases("binary"));
    check_tables(&cases("multinomial"));
}

fn check_tables(cases: &[Value]) {
    for case in cases {
        let what = case["name"].as_str().unwrap();
        let mut options = asked(case);
        options.inference.interval = IntervalKind::Wald;
        options.inference.collinearity = true;
        let inference = model(run(case, &options));
        let wanted = &case["coefficients"];
        for (at, line) in lines(&inference, case).into_iter().enumerate() {
            let c = &inference.coefficients[line];
            let label = |field: &str| format!("{what} {} {field}", name_of(&inference, line));
            let number = |field: &str| numbers(&wanted[field])[at];
            close(c.estimate, number("estimate"), 1e-8, &label("estimate"));
            close(c.error, number("se"), 1e-8, &label("se"));
            close(c.z, number("z"), 1e-8, &label("z"));
            close(c.low, number("low"), 1e-8, &label("low"));
            close(c.high, number("high"), 1e-8, &label("high"));
            close(c.ln_p / std::f64::consts::LN_10, number("log10_p"), 1e-8, &label("log10 p"));
            if let Some(ratio) = c.ratio_ln_p {
                close(ratio / std::f64::consts::LN_10, number("lr_log10_p"), 1e-6, &label("lr p"));
            }
        }
        let order = lines(&inference, case);
        for (i, row) in case["vcov"].as_array().unwrap().iter().enumerate() {
            for (j, v) in numbers(row).into_iter().enumerate() {
                let found = inference.covariance.get(order[i], order[j]);
                let size = (inference.covariance.get(order[i], order[i])
                    * inference.covariance.get(order[j], order[j]))
                .sqrt();
                assert!((found - v).abs() <= 1e-8 * size, "{what} vcov {i} {j}: {found} {v}");
            }
        }
        check_tests(&inference.terms, &case["terms"], what);
        let (s, fit) = (&inference.statistics, &case["fit"]);
        for (name, found) in [
            ("n", Some(s.n)),
            ("log_likelihood", Some(s.log_likelihood)),
            ("deviance", Some(s.deviance)),
            ("null_deviance", Some(s.null_deviance)),
            ("aic", s.aic),
            ("bic", s.bic),
            ("mcfadden", s.mcfadden),
            ("nagelkerke", s.nagelkerke),
            ("tjur", s.tjur),
        ] {
            match fit[name].as_f64() {
                Some(wanted) => close(found.expect(name), wanted, 1e-9, &format!("{what} {name}")),
                None => assert!(name == "tjur", "{what} {name}"),
            }
        }
        assert_eq!(s.parameters as f64, fit["parameters"].as_f64().unwrap());
        let condition = &case["condition"];
        if condition.is_object() {
            let found = inference.collinearity.as_ref().unwrap();
            let names: Vec<String> = found
                .columns
                .iter()
                .map(|c| c.map_or("(intercept)".into(), |j| inference.features[j].clone()))
                .collect();
            let places: Vec<usize> = texts(&case["coefficients"]["names"])
                .iter()
                .map(|name| names.iter().position(|n| n == name || same_product(n, name)).expect(name))
                .collect();
            for (k, index) in found.indices.iter().enumerate() {
                close(index.index, numbers(&condition["indices"])[k], 1e-9, &format!("{what} index {k}"));
                close(index.singular_value, numbers(&condition["singular_values"])[k], 1e-9, what);
                let golden = numbers(&condition["variance_proportions"][k]);
                for (share, place) in golden.iter().zip(&places) {
                    assert!(
                        (index.shares[*place] - share).abs() < 1e-8,
                        "{what} {k}: {} {share}",
                        index.shares[*place]
                    );
                }
            }
        }
        if let Some(gvif) = case["gvif"].as_array() {
            for term in gvif {
                let name = term["name"].as_str().unwrap();
                let found =
                    inference.inflation.iter().find(|t| t.name == name || same_product(&t.name, name)).expect(name);
                close(found.gvif, term["gvif"].as_f64().unwrap(), 1e-7, &format!("{what} gvif {name}"));
            }
        }
    }
}

#[test]
fn profile_limits_of_r() {
    check_profiles(&cases("binary"));
    check_profiles(&cases("multinomial"));
}

fn check_profiles(cases: &[Value]) {
    for case in cases {
        let what = case["name"].as_str().unwrap();
        let mut options = asked(case);
        options.inference.interval = IntervalKind::Profile;
        let inference = model(run(case, &options));
        for (at, line) in lines(&inference, case).into_iter().enumerate() {
            let c = &inference.coefficients[line];
            for (found, field) in [(c.low, "profile_low"), (c.high, "profile_high")] {
                let wanted = numbers(&case["coefficients"][field])[at];
                let label = format!("{what} {} {field}", name_of(&inference, line));
                assert!((found - wanted).abs() <= 1e-7 * c.error + 1e-8 * wanted.abs(), "{label}: {found} {wanted}");
            }
        }
    }
}

#[test]
fn robust_covariances_of_r() {
    check_robust(&cases("binary"));
    check_robust(&cases("multinomial"));
}

fn check_robust(cases: &[Value]) {
    for case in cases {
        let what = case["name"].as_str().unwrap();
        for kind in [
            CovarianceKind::Hc0,
            CovarianceKind::Hc1,
            CovarianceKind::Hc2,
            CovarianceKind::Hc3,
            CovarianceKind::Cluster,
        ] {
            let wanted = &case["robust"][kind.name()];
            if wanted.is_null() {
                continue;
            }
            let mut options = asked(case);
            options.inference.covariance = kind;
            if kind == CovarianceKind::Cluster {
                options.cluster = case["robust"]["cluster_column"].as_str().map(str::to_owned);
            }
            let inference = model(run(case, &options));
            let order = lines(&inference, case);
            for (i, row) in wanted.as_array().unwrap().iter().enumerate() {
                for (j, v) in numbers(row).into_iter().enumerate() {
                    let found = inference.covariance.get(order[i], order[j]);
                    let size = (inference.covariance.get(order[i], order[i])
                        * inference.covariance.get(order[j], order[j]))
                    .sqrt();
                    assert!((found - v).abs() <= 1e-8 * size, "{what} {} {i} {j}: {found} {v}", kind.name());
                }
            }
            assert!(
                inference.statistics.aic.is_none() && inference.coefficients.iter().all(|c| c.ratio_ln_p.is_none())
            );
        }
    }
}

#[test]
fn weights_that_are_no_frequencies() {
    let case = json("inference_r.json")["fractions"].clone();
    let mut options = asked(&case);
    let table = || read_files(&[file(&case)], &ReadOptions::default(), &Default::default()).unwrap();
    let refused = infer_table(table(), &options, &Default::default()).unwrap_err();
    assert!(refused.to_string().contains("not frequencies"), "{refused}");
    for (kind, field) in [(CovarianceKind::Hc0, "se"), (CovarianceKind::Cluster, "se_cluster")] {
        options.inference.covariance = kind;
        options.cluster =
            (kind == CovarianceKind::Cluster).then(|| case["cluster_column"].as_str().unwrap().to_owned());
        let inference = model(infer_table(table(), &options, &Default::default()).unwrap());
        let names = texts(&case["names"]);
        for (at, name) in names.iter().enumerate() {
            let line = (0..names.len()).find(|i| name_of(&inference, *i) == *name).expect(name);
            close(inference.coefficients[line].estimate, numbers(&case["estimate"])[at], 1e-8, name);
            close(inference.coefficients[line].error, numbers(&case[field])[at], 1e-8, name);
        }
    }
}

#[test]
fn firth_of_brglm2() {
    check_firth(&cases("firth"));
}

fn check_firth(cases: &[Value]) {
    for case in cases {
        let what = case["name"].as_str().unwrap();
        let mut options = asked(case);
        options.inference.estimator = EstimatorKind::Firth;
        options.inference.interval = IntervalKind::Profile;
        let inference = model(run(case, &options));
        let firth = &case["firth"];
        for (at, name) in texts(&case["names"]).iter().enumerate() {
            let line = (0..inference.coefficients.len()).find(|i| name_of(&inference, *i) == *name).expect(name);
            let c = &inference.coefficients[line];
            let number = |field: &str| numbers(&firth[field])[at];
            close(c.estimate, number("estimate"), 1e-7, &format!("{what} {name}"));
            close(c.error, number("se"), 1e-7, &format!("{what} {name} se"));
            close(c.low, number("profile_low"), 1e-6, &format!("{what} {name} low"));
            close(c.high, number("profile_high"), 1e-6, &format!("{what} {name} high"));
            if let Some(ratio) = c.ratio_ln_p {
                close(ratio / std::f64::consts::LN_10, number("lr_log10_p"), 1e-6, &format!("{what} {name} lr"));
            }
        }
        check_penalised(&inference, firth, what);
        close(inference.corrected_intercept.unwrap(), firth["flic_intercept"].as_f64().unwrap(), 1e-7, what);
        check_reduced(case);
    }
}

/// brglm2's AS_mean and AS_median: estimates, standard errors and Wald's p values.
fn check_reduced(case: &Value) {
    let what = case["name"].as_str().unwrap();
    let kinds = [(EstimatorKind::MeanReduced, &case["firth"]), (EstimatorKind::MedianReduced, &case["median"])];
    for (kind, golden) in kinds {
        let mut options = asked(case);
        options.inference.estimator = kind;
        let inference = model(run(case, &options));
        for (at, name) in texts(&case["names"]).iter().enumerate() {
            let line = (0..inference.coefficients.len()).find(|i| name_of(&inference, *i) == *name).expect(name);
            let c = &inference.coefficients[line];
            let number = |field: &str| numbers(&golden[field])[at];
            close(c.estimate, number("estimate"), 1e-7, &format!("{what} {name} {kind:?}"));
            close(c.error, number("se"), 1e-7, &format!("{what} {name} {kind:?} se"));
            close(c.ln_p.exp(), number("p"), 1e-6, &format!("{what} {name} {kind:?} p"));
            assert!(c.ratio_ln_p.is_none());
        }
        let statistics = &inference.statistics;
        assert!(statistics.aic.is_none() && inference.certificate.is_none());
        assert!(inference.terms.iter().all(|t| t.test == TestKind::Wald));
        options.inference.interval = IntervalKind::Profile;
        assert!(attempt(case, &options).is_err(), "no likelihood has a profile there");
    }
}

fn check_penalised(inference: &Inference, firth: &Value, what: &str) {
    for term in firth["terms"].as_array().expect("terms") {
        let name = term["name"].as_str().unwrap();
        let test = inference.terms.iter().find(|t| t.name == name).expect(name);
        close(test.statistic, term["statistic"].as_f64().unwrap(), 1e-7, &format!("{what} {name}"));
    }
    let overall = inference.statistics.overall.as_ref().expect("columns");
    close(overall.statistic, firth["global"]["statistic"].as_f64().unwrap(), 1e-7, what);
    assert!(inference.statistics.aic.is_none() && inference.certificate.is_none());
}

#[test]
fn separated_rows_are_refused_with_what_still_holds() {
    check_separated(&cases("firth"));
}

fn check_separated(cases: &[Value]) {
    for case in cases.iter().filter(|c| !c["maximum_likelihood"]["infinite"].is_null()) {
        let options = asked(case);
        let found = run(case, &options);
        let Fit::Refused(separated) = found.answer else { panic!("the maximum does not exist") };
        let infinite = case["maximum_likelihood"]["infinite"].as_str().unwrap();
        let named: Vec<&str> =
            separated.proof.columns.iter().flatten().map(|j| separated.features[*j].as_str()).collect();
        assert_eq!(named, [infinite]);
        let supremum = case["maximum_likelihood"]["supremum_log_likelihood"].as_f64().unwrap();
        close(separated.log_likelihood.expect("two classes"), supremum, 1e-9, "supremum");
        for (name, wanted) in texts(&case["names"]).iter().zip(numbers(&case["maximum_likelihood"]["lr"])).skip(1) {
            let test = separated.terms.iter().find(|t| t.name == *name).expect(name);
            close(test.statistic, wanted, 1e-8, name);
        }
        let golden = &case["maximum_likelihood"];
        let (column, side, end) = separated.one_sided[0];
        assert_eq!((separated.features[column].as_str(), side), (infinite, golden["direction"].as_f64().unwrap()));
        close(end, golden["profile_limit_of_infinite"].as_f64().unwrap(), 1e-6, "the end of the profile interval");
        let limiting = separated.limiting.expect("the other coefficients have limits");
        let names = texts(&golden["limiting_model"]["names"]);
        assert_eq!(limiting.coefficients.len(), names.len());
        for (at, name) in names.iter().enumerate() {
            let line = (0..names.len()).find(|i| name_of(&limiting, *i) == *name).expect(name);
            close(limiting.coefficients[line].estimate, numbers(&golden["limiting_model"]["estimate"])[at], 1e-8, name);
            close(limiting.coefficients[line].error, numbers(&golden["limiting_model"]["se"])[at], 1e-8, name);
        }
    }
}

#[test]
fn hypotheses_by_three_tests() {
    check_hypotheses(&cases("binary"));
}

fn check_hypotheses(cases: &[Value]) {
    for case in cases {
        let Some(tests) = case["tests"].as_array() else { continue };
        let what = case["name"].as_str().unwrap();
        let names = texts(&case["coefficients"]["names"]);
        for test in tests {
            let matrix: Vec<Vec<f64>> = test["matrix"].as_array().unwrap().iter().map(numbers).collect();
            let value = numbers(&test["value"]);
            let side = |row: &Vec<f64>| -> String {
                let parts = names.iter().zip(row).filter(|(_, f)| **f != 0.0);
                parts.map(|(name, f)| format!("{f}*`{name}`")).collect::<Vec<_>>().join(" + ")
            };
            let equations: Vec<String> =
                matrix.iter().zip(&value).map(|(row, v)| format!("{} = {v}", side(row))).collect();
            let mut options = asked(case);
            options.inference.tests = vec![equations.join(", ").replace("+ -", "- ")];
            let inference = model(run(case, &options));
            let found = &inference.tests[0];
            for (name, tested) in [("lr", found.ratio), ("score", found.score), ("wald", Some(found.wald))] {
                let tested = tested.expect(name);
                close(
                    tested.statistic,
                    test[name]["statistic"].as_f64().unwrap(),
                    1e-7,
                    &format!("{what} {name} {equations:?}"),
                );
                close(tested.ln_p / std::f64::consts::LN_10, test[name]["log10_p"].as_f64().unwrap(), 1e-6, name);
            }
            assert_eq!(found.df, matrix.len());
        }
    }
}

#[test]
fn rows_of_r() {
    check_rows(&cases("binary"));
}

fn check_rows(cases: &[Value]) {
    for case in cases {
        let what = case["name"].as_str().unwrap();
        let mut options = asked(case);
        options.inference.rows = true;
        let inference = model(run(case, &options));
        // The golden rows are the first of the file; those left out have no value.
        if inference.rows.iter().take(10).enumerate().any(|(i, r)| r.row != i) {
            continue;
        }
        for (i, row) in inference.rows.iter().take(10).enumerate() {
            for (field, found) in [
                ("hat", row.leverage),
                ("cook", row.cook),
                ("deviance_residual", Some(row.deviance)),
                ("pearson_residual", row.pearson),
            ] {
                close(found.unwrap(), numbers(&case["rows"][field])[i], 1e-7, &format!("{what} {field} {i}"));
            }
        }
        let weight = |_: usize| 1.0;
        let hats: f64 = inference.rows.iter().map(|r| weight(r.row) * r.leverage.unwrap()).sum();
        if case["weights_column"].is_null() {
            close(hats, inference.statistics.parameters as f64, 1e-9, "leverages add up to the coefficients");
        }
    }
}

#[test]
#[ignore = "reads ../shared/data"]
fn the_same_of_the_shared_tables() {
    let binary = shared_cases("binary");
    check_tables(&binary);
    check_profiles(&binary);
    check_robust(&binary);
    check_hypotheses(&binary);
    check_rows(&binary);
    check_firth(&shared_cases("firth"));
    check_separated(&shared_cases("firth"));
    check_effects(json("inference_shared_statsmodels.json")["cases"].as_array().unwrap());
}

#[test]
fn probabilities_and_ellipsoids_of_r() {
    for case in cases("binary").iter().filter(|c| c["name"] != "penguins_sex") {
        let what = case["name"].as_str().unwrap();
        let mut options = asked(case);
        let ellipsoid = &case["ellipsoid"];
        if !ellipsoid.is_null() {
            options.inference.tests = vec![texts(&ellipsoid["columns"]).join(", ")];
        }
        let found = run(case, &options);
        let table = read_bytes(rows(case).as_bytes(), "case.csv", &ReadOptions::default()).unwrap();
        for (band, low, high) in
            [(BandKind::Pointwise, "low", "high"), (BandKind::Scheffe, "scheffe_low", "scheffe_high")]
        {
            let at = found.probabilities(&table, band, &Default::default()).unwrap();
            for (i, row) in numbers(&case["probability"]["rows"]).into_iter().enumerate() {
                let interval = at.iter().find(|a| a.row == row as usize).expect("a row with all cells");
                let wanted = |field: &str| numbers(&case["probability"][field])[i];
                close(interval.probabilities[1], wanted("p"), 1e-8, &format!("{what} p"));
                close(interval.low[1], wanted(low), 1e-7, &format!("{what} {low}"));
                close(interval.high[1], wanted(high), 1e-7, &format!("{what} {high}"));
                close(interval.low[0], 1.0 - wanted(high), 1e-7, "the first class mirrors the second");
            }
        }
        if !ellipsoid.is_null() {
            let inference = model(found);
            let e = inference.tests[0].ellipsoid.as_ref().expect("two columns");
            close(e.radius_squared, ellipsoid["radius_squared"].as_f64().unwrap(), 1e-12, "radius");
            for (a, b) in e
                .centre
                .iter()
                .chain(&e.half_lengths)
                .zip(numbers(&ellipsoid["centre"]).iter().chain(&numbers(&ellipsoid["half_lengths"])))
            {
                close(*a, *b, 1e-8, &format!("{what} ellipsoid"));
            }
            for (a, b) in e.directions.iter().zip(ellipsoid["directions"].as_array().unwrap()) {
                a.iter().zip(numbers(b)).for_each(|(a, b)| assert!((a - b).abs() < 1e-7, "{what} {a} {b}"));
            }
        }
    }
}

#[test]
fn average_effects_of_statsmodels() {
    check_effects(json("inference_statsmodels.json")["cases"].as_array().unwrap());
}

fn check_effects(cases: &[Value]) {
    for case in cases {
        if case["classes"].as_array().unwrap().len() > 2 {
            continue;
        }
        let what = case["name"].as_str().unwrap();
        let mut options = asked(case);
        options.inference.effects = true;
        let inference = model(run(case, &options));
        // Of an indicator the change from 0 to 1 (or from the reference) is what is given.
        let wanted: Vec<&Value> = case["average_derivative"]
            .as_array()
            .unwrap()
            .iter()
            .chain(case["discrete_change"].as_array().unwrap())
            .collect();
        let mut compared = 0;
        for effect in &inference.effects {
            let name = &inference.features[effect.feature];
            let discrete = case["discrete_change"].as_array().unwrap().iter().any(|e| e["name"] == *name);
            assert_eq!(effect.discrete, discrete, "{what} {name}");
            let golden = wanted.iter().rev().find(|e| e["name"] == *name).unwrap_or_else(|| panic!("{what} {name}"));
            close(effect.effect, golden["effect"].as_f64().unwrap(), 1e-7, &format!("{what} {name}"));
            close(effect.error, golden["se"].as_f64().unwrap(), 1e-6, &format!("{what} {name} se"));
            compared += 1;
        }
        assert_eq!(compared, inference.effects.len());
    }
}

/// A simulated table.
fn simulated(rows: usize, cols: usize, seed: u64, slope: f64) -> (Vec<f64>, Vec<usize>) {
    let mut state = seed;
    let mut uniform = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut normal = move || {
        let (u, v) = (uniform().max(1e-300), uniform());
        ((-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos(), uniform())
    };
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let row: Vec<(f64, f64)> = (0..cols).map(|_| normal()).collect();
        let z = 0.3 + slope * row[0].0;
        y.push(usize::from(row[0].1 < 1.0 / (1.0 + (-z).exp())));
        x.extend(row.iter().map(|r| r.0));
    }
    (x, y)
}

fn of_arrays(
    x: &[f64],
    y: &[usize],
    cols: usize,
    weights: Option<&[f64]>,
    options: &InferenceOptions,
) -> Box<Inference> {
    let matrix = DenseMatrix::new(x, cols).unwrap();
    let labels = Labels::from_names(y.iter().map(|y| if *y == 1 { "yes" } else { "no" }));
    let mut training = Training::new(&matrix, &labels);
    training.weights = weights;
    let subject = Subject::of_columns(training, (0..cols).map(|j| format!("x{j}")).collect());
    match infer(&subject, options, &Default::default()).unwrap() {
        Fit::Model(found) => found,
        Fit::Refused(_) => panic!("the rows overlap"),
    }
}

#[test]
fn intervals_cover_and_tests_keep_their_level() {
    // 600 samples: a share of 0.95 is off by more than 0.035 once in ten thousand.
    let (mut wald, mut profile, mut rejected) = (0, 0, 0);
    for seed in 0..600 {
        let (x, y) = simulated(150, 2, 17 + 7919 * seed, 0.8);
        let options = InferenceOptions { interval: IntervalKind::Profile, ..InferenceOptions::default() };
        let found = of_arrays(&x, &y, 2, None, &options);
        let line = &found.coefficients[1];
        profile += usize::from(line.low <= 0.8 && 0.8 <= line.high);
        wald += usize::from((line.estimate - 0.8).abs() <= 1.959963984540054 * line.error);
        rejected += usize::from(found.coefficients[2].ratio_ln_p.unwrap() < 0.05f64.ln());
    }
    for (share, what) in [(wald, "wald"), (profile, "profile"), (600 - rejected, "ratio test")] {
        let share = share as f64 / 600.0;
        assert!((share - 0.95).abs() < 0.035, "{what}: {share}");
    }
}

#[test]
fn a_weight_of_k_is_k_copies() {
    let (x, y) = simulated(60, 3, 5, 1.0);
    let counts: Vec<usize> = (0..60).map(|i| 1 + i % 3).collect();
    let weights: Vec<f64> = counts.iter().map(|c| *c as f64).collect();
    let (mut copies, mut labels) = (Vec::new(), Vec::new());
    for (i, count) in counts.iter().enumerate() {
        for _ in 0..*count {
            copies.extend_from_slice(&x[3 * i..3 * i + 3]);
            labels.push(y[i]);
        }
    }
    for covariance in [CovarianceKind::Model, CovarianceKind::Hc1, CovarianceKind::Hc3] {
        let options = InferenceOptions {
            covariance,
            tests: vec!["x0, x2".into(), "x0 - 2*x1 = 0.5".into()],
            effects: true,
            adjust: Some(Adjustment::Holm),
            ..InferenceOptions::default()
        };
        let (a, b) = (of_arrays(&x, &y, 3, Some(&weights), &options), of_arrays(&copies, &labels, 3, None, &options));
        for (a, b) in a.coefficients.iter().zip(&b.coefficients) {
            close(a.estimate, b.estimate, 1e-9, "estimate");
            close(a.error, b.error, 1e-9, "error");
            close(a.adjusted_ln_p.unwrap_or(0.0), b.adjusted_ln_p.unwrap_or(0.0), 1e-8, "adjusted");
        }
        for (a, b) in a.tests.iter().zip(&b.tests) {
            close(a.wald.statistic, b.wald.statistic, 1e-9, "wald");
            close(a.score.map_or(0.0, |t| t.statistic), b.score.map_or(0.0, |t| t.statistic), 1e-9, "score");
            close(a.ratio.map_or(0.0, |t| t.statistic), b.ratio.map_or(0.0, |t| t.statistic), 1e-9, "ratio");
        }
        for (a, b) in a.effects.iter().zip(&b.effects) {
            close(a.effect, b.effect, 1e-9, "effect");
            close(a.error, b.error, 1e-9, "effect's error");
        }
        for (a, b) in a.terms.iter().zip(&b.terms) {
            close(a.statistic, b.statistic, 1e-9, "term");
        }
        assert_eq!(a.statistics.n, b.statistics.n);
        assert_eq!(a.statistics.bic.is_some(), covariance == CovarianceKind::Model);
    }
}

#[test]
fn a_profile_limit_is_where_the_ratio_test_turns() {
    let (x, y) = simulated(80, 2, 3, 1.2);
    let options = InferenceOptions { interval: IntervalKind::Profile, level: 0.9, ..InferenceOptions::default() };
    let found = of_arrays(&x, &y, 2, None, &options);
    let quantile = chi_square_quantile(0.9, 1.0);
    for (line, name) in [(1, "x0"), (2, "x1")] {
        for limit in [found.coefficients[line].low, found.coefficients[line].high] {
            let options =
                InferenceOptions { tests: vec![format!("{name} = {limit:e}")], ..InferenceOptions::default() };
            let at = of_arrays(&x, &y, 2, None, &options);
            close(at.tests[0].ratio.unwrap().statistic, quantile, 1e-7, name);
        }
    }
}

#[test]
fn columns_of_any_size_have_the_same_tests() {
    let (x, y) = simulated(120, 3, 11, 0.9);
    let plain = of_arrays(&x, &y, 3, None, &InferenceOptions { interval: IntervalKind::Profile, ..Default::default() });
    for (scale, shift) in [(1e100, 0.0), (1e-100, 0.0), (1.0, 1e6), (1e-6, 1e3)] {
        let moved: Vec<f64> =
            x.iter().enumerate().map(|(i, v)| if i % 3 == 1 { v * scale + shift } else { *v }).collect();
        let options = InferenceOptions { interval: IntervalKind::Profile, ..Default::default() };
        let found = of_arrays(&moved, &y, 3, None, &options);
        let tolerance = if shift == 0.0 { 1e-8 } else { 1e-4 };
        for (a, b) in plain.coefficients.iter().zip(&found.coefficients).skip(1) {
            close(b.z, a.z, tolerance, &format!("z at {scale:e} {shift:e}"));
            close((b.low - b.estimate) / b.error, (a.low - a.estimate) / a.error, tolerance, "low");
        }
    }
}

#[test]
fn three_tests_agree_on_many_rows() {
    let (x, y) = simulated(200_000, 2, 23, 0.02);
    let options = InferenceOptions { tests: vec!["x0, x1".into()], ..InferenceOptions::default() };
    let test = of_arrays(&x, &y, 2, None, &options).tests.swap_remove(0);
    let (ratio, score) = (test.ratio.unwrap().statistic, test.score.unwrap().statistic);
    close(ratio, test.wald.statistic, 1e-3, "ratio and wald");
    close(score, test.wald.statistic, 1e-3, "score and wald");
}

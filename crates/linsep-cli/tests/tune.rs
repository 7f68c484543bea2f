//! Searches over settings, by flag.

mod common;

use common::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in {text}"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number")).collect()
}

const ROWS: &str = "tune penguins.csv --target sex --drop year";

#[test]
fn a_path_in_every_fold_is_what_separate_fits_give() {
    let scratch = Scratch::with_examples();
    let along = json(&scratch.done(&format!("{ROWS} --penalty lasso --lambda-values 0.1,0.01,0.001 --json")));
    let apart = json(&scratch.done(&format!("{ROWS} --grid penalty=lasso:0.1,lasso:0.01,lasso:0.001 --json")));
    assert_eq!((along["metric"].as_str(), along["trials"].as_array().map(Vec::len)), (Some("log_loss"), Some(3)));
    for place in 0..3 {
        let (one, two) = (&along["trials"][place], &apart["trials"][place]);
        for (a, b) in numbers(&one["folds"]).iter().zip(numbers(&two["folds"])) {
            assert!((a - b).abs() <= 1e-6 * b, "{a} and {b} at {one}");
        }
    }
    assert_eq!(along["best"]["folds"].as_array().map(Vec::len), Some(5));
}

#[test]
fn what_is_chosen_is_fitted_kept_and_verified() {
    let scratch = Scratch::with_examples();
    let shown = scratch.done(&format!("{ROWS} --penalty lasso --lambdas 8 --rule one-se -o m.json"));
    assert!(shown.contains("chosen") && shown.contains("model written to m.json"), "{shown}");
    assert!(shown.lines().all(|l| l.chars().count() <= 110), "{shown}");
    let model = json(&String::from_utf8(scratch.read("m.json")).expect("a model is text"));
    let tuning = &model["model"]["tuning"];
    let tuning = if tuning.is_null() { &model["tuning"] } else { tuning };
    assert_eq!(tuning["rule"].as_str(), Some("one_standard_error"), "{tuning}");
    let best = tuning["best"].as_u64().expect("a place") as usize;
    let trials = tuning["trials"].as_array().expect("trials");
    let mean = |t: &Value| t["mean"].as_f64().expect("a mean");
    let least = trials.iter().min_by(|a, b| mean(a).total_cmp(&mean(b))).expect("some");
    let limit = mean(least) + least["standard_error"].as_f64().expect("an error");
    // The largest penalty within the limit, and sizes fall.
    assert!(mean(&trials[best]) <= limit && trials[..best].iter().all(|t| mean(t) > limit), "{tuning}");
    assert!(best > 0);
    let verified = scratch.done("verify m.json penguins.csv");
    assert!(verified.contains("the search over settings"), "{verified}");
    scratch.done("verify m.json penguins.csv --refit");
    scratch.done("predict m.json penguins.csv -o p.csv");
    // The same search whatever the threads.
    let of = |threads: usize| scratch.done(&format!("{ROWS} --penalty lasso --lambdas 8 --json --threads {threads}"));
    assert_eq!(of(1), of(3));
}

#[test]
fn every_combination_is_tried_and_some_can_be_drawn() {
    let scratch = Scratch::with_examples();
    let line = format!("{ROWS} --model svm --kernel rbf --grid C=1,10 --grid gamma=log:0.01:1:3 --folds 3 --json");
    let all = json(&scratch.done(&line));
    let settings = |found: &Value| -> Vec<(f64, f64)> {
        let of = |t: &Value| (t["settings"]["C"].as_f64().unwrap(), t["settings"]["gamma"].as_f64().unwrap());
        found["trials"].as_array().unwrap().iter().map(of).collect()
    };
    assert_eq!(settings(&all), [(1.0, 0.01), (1.0, 0.1), (1.0, 1.0), (10.0, 0.01), (10.0, 0.1), (10.0, 1.0)]);
    assert_eq!(all["metric"].as_str(), Some("error"));
    let some = json(&scratch.done(&format!("{line} --trials 2 --seed 5")));
    assert_eq!(settings(&some).len(), 2);
    assert!(settings(&some).iter().all(|s| settings(&all).contains(s)));
    // Settings that cannot be fitted lose, and it is said.
    let shown = scratch.done("tune penguins.csv -t species --drop year --grid penalty=none,ridge:0.01 --folds 3");
    assert!(shown.contains("failed") && shown.contains("could not be fitted in every fold"), "{shown}");
}

#[test]
fn folds_around_a_search_do_not_flatter_noise() {
    let scratch = Scratch::new();
    // Columns that know nothing of the class: a generator of its own, so that nothing else is tested.
    let mut state = 7_u64;
    let mut draw = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    };
    let mut csv = (0..30).map(|j| format!("x{j},")).collect::<String>() + "y\n";
    for row in 0..120 {
        (0..30).for_each(|_| csv.push_str(&format!("{:.4},", draw())));
        csv.push_str(if row % 2 == 0 { "a\n" } else { "b\n" });
    }
    scratch.write("noise.csv", csv);
    let grid = (0..30).map(|j| format!("x{j}")).collect::<Vec<String>>().join(";");
    let line = format!("tune noise.csv -t y --model lda --metric error --grid features={grid} --nested 5 --json");
    let found = json(&scratch.done(&line));
    let (best, nested) = (found["best"]["mean"].as_f64().unwrap(), found["nested"]["mean"].as_f64().unwrap());
    // The best of thirty coin-tossing columns looks good, and is not: 0.5 within four standard deviations of 120 tosses.
    assert!(best < 0.45 && nested > best, "{best} {nested}");
    assert!((nested - 0.5).abs() < 4.0 * (0.25_f64 / 120.0).sqrt(), "{nested}");
}

#[test]
fn groups_and_time_divide_the_rows() {
    let scratch = Scratch::with_examples();
    let groups = json(&scratch.done(&format!("{ROWS} --groups island --folds 3 --lambdas 4 --json")));
    assert_eq!(
        (groups["dealt_by"].as_str(), groups["best"]["folds"].as_array().map(Vec::len)),
        (Some("island"), Some(3))
    );
    let time = json(&scratch.done("tune penguins.csv --target sex --time year --folds 2 --lambdas 4 --json"));
    assert_eq!((time["dealt_by"].as_str(), time["best"]["folds"].as_array().map(Vec::len)), (Some("year"), Some(2)));
}

#[test]
fn a_size_chosen_by_folds_is_the_short_form_of_a_search() {
    let scratch = Scratch::with_examples();
    let shown =
        scratch.done("fit penguins.csv --target sex --features body_mass_g,bill_depth_mm --penalty lasso:cv -o f.json");
    assert!(
        shown.contains("search over 100 trials in 5 folds") && shown.contains("model written to f.json"),
        "{shown}"
    );
    scratch.done("tune penguins.csv --target sex --features body_mass_g,bill_depth_mm --penalty lasso -o t.json");
    assert_eq!(scratch.read("f.json"), scratch.read("t.json"));
    // In JSON it is the model that is shown, as by any fit.
    let squares =
        "fit penguins.csv --target sex --features body_mass_g --model least-squares --penalty ridge:cv --json";
    assert!(json(&scratch.done(squares))["weights"].is_array());
}

#[test]
fn a_point_of_a_path_is_a_model() {
    let scratch = Scratch::with_examples();
    let rows = "penguins.csv --target sex --drop year";
    scratch.done(&format!("path {rows} --penalty lasso --at 0.02 -o point.json"));
    scratch.done(&format!("fit {rows} --penalty lasso:0.02 -o fit.json"));
    assert_eq!(scratch.read("point.json"), scratch.read("fit.json"));
    scratch.done("verify point.json penguins.csv");
    // Its objective is that of the path within the gaps that both prove.
    let path = json(&scratch.done(&format!("path {rows} --penalty lasso --lambda-values 0.1,0.02 --json")));
    let model = json(&scratch.done("inspect point.json --json"));
    let (on, alone) = (path["points"][1]["objective"].as_f64().unwrap(), model["objective"].as_f64().unwrap());
    assert!((on - alone).abs() <= 2e-8 * alone, "{on} and {alone}");
    let ridge = scratch.done(&format!("path {rows} --penalty ridge --at 0.5 -o -"));
    assert!(json(&ridge).is_object());
}

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

const KEPT: &str =
    "tune penguins.csv --target species --drop year --model lda --grid shrinkage=lin:0.1:0.9:7 --nested 3 --repeats 2";

/// The output and the model of a search.
fn outcome(scratch: &Scratch, journal: &str) -> (String, Vec<u8>) {
    let shown = scratch.done(&format!("{KEPT} {journal} --json -o m.json"));
    (shown, scratch.read("m.json"))
}

#[test]
fn a_search_goes_on_from_wherever_its_journal_ends() {
    let scratch = Scratch::with_examples();
    let alone = outcome(&scratch, "");
    assert_eq!(outcome(&scratch, "--journal j.jsonl"), alone);
    let whole = scratch.read("j.jsonl");
    // A header; 7 candidates in 10 folds, in the search and without each of 3 outer folds.
    assert_eq!(whole.iter().filter(|b| **b == b'\n').count(), 1 + 7 * 10 * 4);
    for moment in 0..10 {
        // Wherever a process may be killed: in the header, between lines, within one.
        let end = whole.len() * moment / 10 + 3 * moment;
        scratch.write("j.jsonl", &whole[..end]);
        assert_eq!(outcome(&scratch, "--journal j.jsonl"), alone, "after {end} bytes");
        assert_eq!(scratch.read("j.jsonl").len(), whole.len());
    }
    // A journal that is complete is believed: another loss is another answer.
    let text = String::from_utf8(whole).expect("text");
    let line = text.lines().nth(1).expect("a line");
    let mut value = json(line);
    value["losses"] = serde_json::json!([[0.0, 1e9]]);
    scratch.write("j.jsonl", text.replace(line, &value.to_string()));
    assert_ne!(outcome(&scratch, "--journal j.jsonl").0, alone.0);
}

#[test]
fn a_search_that_is_killed_goes_on() {
    let scratch = Scratch::with_examples();
    let alone = outcome(&scratch, "");
    for moment in 1..=10 {
        let _ = std::fs::remove_file(scratch.file("j.jsonl"));
        let words = format!("{KEPT} --journal j.jsonl -o m.json");
        let mut command = scratch.command();
        command.args(words.split(' ')).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().expect("the command starts");
        std::thread::sleep(std::time::Duration::from_millis(15 * moment));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        assert_eq!(outcome(&scratch, "--journal j.jsonl"), alone, "killed after {} ms", 15 * moment);
    }
}

#[test]
fn a_journal_is_that_of_its_own_search() {
    let scratch = Scratch::with_examples();
    let line = "tune penguins.csv --target sex --features body_mass_g --model lda --grid shrinkage=0.1,0.5 --journal j.jsonl --json";
    scratch.done(line);
    for other in ["--seed 1", "--folds 4", "--metric error", "--class-weight balanced"] {
        let ran = scratch.run(&format!("{line} {other}"));
        assert_eq!(ran.code, 2, "{other}");
        assert!(
            ran.stdout.contains("journal of another search") || ran.stderr.contains("journal of another search"),
            "{ran:?}"
        );
    }
    let kept = String::from_utf8(scratch.read("j.jsonl")).expect("text");
    scratch.write("j.jsonl", kept.replacen("\"fold\":2", "\"fold\":x", 1));
    let ran = scratch.run(&line.replace(" --json", ""));
    assert!(ran.code == 2 && ran.stderr.contains("this line of the journal is damaged"), "{ran:?}");
    // An input is never taken for a journal, nor written to.
    let before = scratch.read("iris.csv");
    let ran = scratch.run(&line.replace("j.jsonl --json", "iris.csv"));
    assert!(ran.code == 2 && ran.stderr.contains("not the journal of a search"), "{ran:?}");
    assert_eq!(scratch.read("iris.csv"), before);
    // Time that is long enough changes nothing.
    let plain = scratch.done(&line.replace(" --journal j.jsonl", ""));
    assert_eq!(scratch.done(&line.replace("--journal j.jsonl", "--budget 2h")), plain);
}

/// The sizes of a ridge reach down to where a lasso's end: the best is among them, not the last.
#[test]
fn the_sizes_of_a_ridge_surround_the_best() {
    let scratch = Scratch::with_examples();
    let found = json(&scratch.done("tune penguins.csv -t sex --drop year --penalty ridge --lambdas 30 --json"));
    let trials = found["trials"].as_array().expect("trials");
    let mean = |t: &Value| t["mean"].as_f64().expect("a mean");
    let least = trials.iter().map(mean).fold(f64::INFINITY, f64::min);
    let at = trials.iter().position(|t| mean(t) == least).expect("the best");
    assert!(at > 0 && at + 1 < trials.len(), "{at} of {}", trials.len());
}

/// A row each, left out by the formula, is what as many folds of one row give by fits.
#[test]
fn rows_left_out_by_a_formula_are_rows_left_out_by_fits() {
    let scratch = Scratch::with_examples();
    // Sixty rows, with a weight, text, a level that one row alone has, and a row so far off that it decides about a column.
    let text = String::from_utf8(scratch.read("penguins.csv")).expect("text");
    let mut lines = text.lines().filter(|line| !line.contains(",,"));
    let header = lines.next().expect("a header");
    let mut csv = format!("{header},row,times,alone\n");
    for (row, line) in lines.step_by(5).take(60).enumerate() {
        let line = if row == 7 {
            line.replacen("Torgersen", "Elsewhere", 1).replacen("Biscoe", "Elsewhere", 1)
        } else {
            line.to_owned()
        };
        csv.push_str(&format!("{line},{row},{},{}\n", 1 + row % 3, if row == 11 { 5.0 } else { 1.0 }));
    }
    scratch.write("rows.csv", csv);
    let cases = [
        "--model lda --grid shrinkage=none,0.3",
        "--model lda --grid shrinkage=0.2 --grid standardize=yes,no --weights times",
        "--model lda --grid shrinkage=none,0.1 --weights times --metric brier",
        "--model lda --grid shrinkage=none,0.1 --class-weight balanced",
        "--model least-squares --grid penalty=none,ridge:1 --metric squared-error",
        "--model least-squares --grid penalty=none,ridge:0.1,ridge:10 --metric squared-error --weights times",
        "--model least-squares --grid penalty=ridge:0.01 --grid standardize=yes,no --metric squared-error",
        "--model least-squares --grid penalty=ridge:0.01 --grid intercept=free,none,penalised --metric squared-error",
        "--model least-squares --penalty ridge --lambdas 4 --metric squared-error",
        "--model least-squares --grid penalty=ridge:1,ridge:0.1 --basis products --metric error",
    ];
    let chosen = ["bill_length_mm,bill_depth_mm,flipper_length_mm,island", "bill_length_mm,alone,island"];
    let places = |place: usize| (["species", "sex"][place % 2], chosen[place / 2 % 2], cases[place / 4]);
    for (target, features, case) in (0..4 * cases.len()).map(places) {
        let line = format!("tune rows.csv --target {target} --features {features} {case} --json");
        let formula = json(&scratch.done(&format!("{line} --folds loo")));
        let fits = json(&scratch.done(&format!("{line} --fold-column row")));
        assert_eq!((formula["leave_one_out"].as_bool(), formula["folds"].as_u64()), (Some(true), Some(60)));
        let (trials, others) =
            (formula["trials"].as_array().expect("trials"), fits["trials"].as_array().expect("trials"));
        assert_eq!(trials.len(), others.len());
        for (one, other) in trials.iter().zip(others) {
            assert_eq!(one["settings"], other["settings"]);
            for figure in ["mean", "se"] {
                let near = match (one[figure].as_f64(), other[figure].as_f64()) {
                    (Some(a), Some(b)) => (a - b).abs() <= 1e-8 * b.abs().max(1e-3),
                    // Settings that cannot be fitted without some row cannot be in either way.
                    (a, b) => a == b,
                };
                assert!(near, "{figure} of {line}: {one} {other}");
            }
        }
    }
}

#[test]
fn folds_that_cannot_be_are_refused() {
    let scratch = Scratch::with_examples();
    let cases = [
        ("--folds loo --groups island", "neither groups nor an order"),
        ("--folds loo --repeats 2", "the same every time"),
        ("--folds loo --metric auc", "not of one row"),
        ("--folds loo --metric squared-error", "targets of least squares"),
        ("--fold-column nope", "no column `nope`"),
        ("--folds many", "a number of folds, or loo"),
    ];
    for (flags, said) in cases {
        let ran = scratch.run(&format!("{ROWS} --lambdas 3 {flags}"));
        assert!(ran.code == 2 && ran.stderr.contains(said), "{flags}: {ran:?}");
    }
}

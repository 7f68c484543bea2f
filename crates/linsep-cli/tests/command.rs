//! How the command behaves: exit codes, the interface for programs, formats that agree, files that are there in full or
//! not at all.

mod common;

#[cfg(unix)]
use common::running::send;
#[cfg(target_os = "linux")]
use common::running::wait_until_computing;
use common::{Ran, Scratch};
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in {text}"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("an array").iter().map(|v| v.as_f64().expect("a number")).collect()
}

/// The rows of a CSV without quoted cells.
fn rows(csv: &str) -> Vec<Vec<&str>> {
    csv.lines().map(|line| line.split(',').collect()).collect()
}

fn penguins() -> Scratch {
    let scratch = Scratch::with_examples();
    scratch.done("fit penguins.csv --target species -o model.json");
    scratch
}

/// A two-class table that is not separable, with a third class on demand.
fn overlapping(rows: usize, classes: usize) -> String {
    let mut text = "x,kind,y\n".to_owned();
    for i in 0..rows {
        let class = (i * 7 / 3) % classes;
        let x = class as f64 + ((i * 37) % 101) as f64 / 25.0;
        text.push_str(&format!("{x},{},c{class}\n", ["u", "v", "w"][i % 3]));
    }
    text
}

// Exit codes.

#[test]
fn done_is_zero_and_says_nothing_on_standard_error() {
    let scratch = penguins();
    let ran = scratch.run("fit iris.csv --target Species -o iris.json");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(scratch.new_names(), ["iris.json", "model.json"]);
}

#[test]
fn no_maximum_likelihood_is_one_and_writes_nothing() {
    let scratch = Scratch::with_examples();
    let ran = scratch.run("fit penguins.csv --target species --penalty none -o ml.json");
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert!(ran.stdout.starts_with("Maximum likelihood does not exist"));
    assert!(scratch.new_names().is_empty());
}

#[test]
fn the_direction_of_separation_can_be_checked_by_hand() {
    let scratch = Scratch::with_examples();
    let ran = scratch.run("fit iris.csv --target Species --penalty none --json");
    assert_eq!(ran.code, 1);
    let proof = json(&ran.stdout);
    assert!(proof["model"].is_null());
    assert_eq!(proof["outcome"], "maximum_likelihood_does_not_exist");
    let direction: Vec<Vec<f64>> = proof["direction"].as_array().expect("rows").iter().map(numbers).collect();
    let intercept = numbers(&proof["intercept"]);
    let classes: Vec<&str> = proof["classes"].as_array().expect("classes").iter().filter_map(Value::as_str).collect();
    let text = String::from_utf8(scratch.read("iris.csv")).expect("text");
    let (mut worst, mut best) = (f64::INFINITY, 0.0f64);
    for row in &rows(&text)[1..] {
        let x: Vec<f64> = row[..4].iter().map(|c| c.parse().expect("a number")).collect();
        let score = |k: usize| match (k + direction.len()).checked_sub(classes.len()) {
            Some(k) => intercept[k] + direction[k].iter().zip(&x).map(|(w, x)| w * x).sum::<f64>(),
            None => 0.0,
        };
        let own = classes.iter().position(|c| *c == row[4]).expect("a known class");
        for k in (0..classes.len()).filter(|k| *k != own) {
            worst = worst.min(score(own) - score(k));
            best = best.max(score(own) - score(k));
        }
    }
    assert!(best > 0.0 && worst >= -1e-8 * best, "worst {worst}, best {best}");
}

#[test]
fn maximum_likelihood_that_exists_is_proved_to_exist() {
    let scratch = Scratch::new();
    scratch.write("o.csv", overlapping(200, 2));
    scratch.done("fit o.csv --target y --penalty none -o ml.json");
    let shown = json(&scratch.done("inspect ml.json --json"));
    assert_eq!(shown["certificate"]["kind"], "self_concordance");
    assert!(shown["certificate"]["relative_gap"].as_f64().expect("a bound") <= 1e-8);
    scratch.done("verify ml.json o.csv");
}

#[test]
fn stopping_early_is_three_and_says_so() {
    let scratch = Scratch::with_examples();
    let ran = scratch.run("fit penguins.csv --target species --max-iter 1 -o early.json");
    assert_eq!((ran.code, ran.stderr.as_str()), (3, ""));
    assert!(ran.stdout.contains("NOT CONVERGED (iteration limit)"));
    assert_eq!(json(&scratch.done("inspect early.json --json"))["outcome"], "iteration_limit");
    // It claims no more than the gap it states, and that holds.
    scratch.done("verify early.json penguins.csv");
}

#[test]
fn least_squares_goes_through_every_subcommand() {
    let scratch = Scratch::with_examples();
    let early = "--model least-squares --solver gradient-descent --max-iter 2";
    let ran = scratch.run(&format!("fit penguins.csv --target species {early} -o early.json"));
    assert_eq!(ran.code, 3);
    assert!(ran.stdout.contains("NOT CONVERGED (iteration limit)"), "{}", ran.stdout);
    scratch.done("verify early.json penguins.csv");
    for (targets, factor) in [("plus-minus", 1.0), ("zero-one", 0.5)] {
        let fit = "fit penguins.csv --target sex --drop island,species --model least-squares";
        let text = scratch.done(&format!("{fit} --targets {targets} -o {targets}.json"));
        assert!(text.contains("cholesky (auto: smallest pivot") && text.contains("score of male"), "{text}");
        scratch.done(&format!("verify {targets}.json penguins.csv"));
        let evaluated = scratch.done(&format!("evaluate {targets}.json penguins.csv"));
        assert!(evaluated.contains("accuracy") && !evaluated.contains("log loss"), "{evaluated}");
        let shown = json(&scratch.done(&format!("evaluate {targets}.json penguins.csv --json")));
        assert!(["log_loss", "brier", "auc"].iter().all(|key| shown[*key].is_null()), "{shown}");
        let scores = scratch.done(&format!("predict {targets}.json penguins.csv --scores"));
        let plain = scratch.done("predict plus-minus.json penguins.csv --scores");
        for (a, b) in rows(&scores).iter().zip(rows(&plain)).skip(1).filter(|(a, _)| !a[0].is_empty()) {
            // The sign decides, and both codings draw the same line.
            let (z, base) = (a[1].parse::<f64>().expect("a score"), b[1].parse::<f64>().expect("a score"));
            assert_eq!(a[0], if z > 0.0 { "male" } else { "female" });
            assert!((z - factor * base).abs() < 1e-12);
        }
    }
    let ran = scratch.run("predict zero-one.json penguins.csv --proba");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
}

#[test]
fn a_support_vector_machine_keeps_what_proves_it() {
    let scratch = Scratch::with_examples();
    for flags in ["", "--solver dual-cd", "--loss squared-hinge", "--loss squared-hinge --solver dual-cd"] {
        let summary = scratch.done(&format!("fit penguins.csv --target sex --model svm {flags} -o m.json"));
        assert!(summary.contains("support vectors"), "{summary}");
        let shown = json(&scratch.done("inspect m.json --json"));
        let support = &shown["support_vectors"];
        let pairs = support["multipliers"].as_array().expect("pairs");
        let counts = support["free"].as_u64().zip(support["bounded"].as_u64()).expect("counts");
        assert_eq!(pairs.len() as u64, counts.0 + counts.1);
        // Rows of the table, in which those that were dropped keep their number.
        assert!(pairs.iter().all(|p| p[0].as_u64().is_some_and(|row| (1..=344).contains(&row) && row != 4)));
        scratch.done("verify m.json penguins.csv");
        assert_eq!(scratch.done("predict m.json penguins.csv --scores").lines().count(), 345);
        scratch.done("evaluate m.json penguins.csv");
        scratch.done("geometry m.json penguins.csv");
        let ran = scratch.run("predict m.json penguins.csv --proba");
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    }
}

#[test]
fn a_support_vector_machine_that_stops_early_states_its_gap() {
    let scratch = Scratch::with_examples();
    for solver in ["interior-point", "dual-cd"] {
        let flags = format!("--model svm --solver {solver} --max-iter 2 -o m.json");
        let ran = scratch.run(&format!("fit penguins.csv --target sex {flags}"));
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        assert!(ran.stdout.contains("NOT CONVERGED (iteration limit)"), "{}", ran.stdout);
        let gap = json(&scratch.done("inspect m.json --json"))["certificate"]["relative_gap"].as_f64();
        assert!(gap.is_some_and(|gap| gap > 1e-8 && gap < 10.0), "{gap:?}");
        scratch.done("verify m.json penguins.csv");
    }
}

#[test]
fn no_time_at_all_is_three_without_a_model() {
    let scratch = Scratch::with_examples();
    for model in ["logistic", "lda", "least-squares"] {
        let ran = scratch.run(&format!("fit penguins.csv --target species --time-limit 0 --model {model} -o m.json"));
        assert_eq!((ran.code, ran.stdout.as_str()), (3, ""));
        assert!(ran.stderr.contains("time limit") && ran.stderr.contains("nothing was written"), "{}", ran.stderr);
    }
    for flags in ["svm", "svm --loss squared-hinge", "logistic --penalty lasso:0.01", "sigmoid-ls"] {
        let ran = scratch.run(&format!("fit penguins.csv --target sex --time-limit 0 --model {flags} -o m.json"));
        assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{flags}: {}", ran.stderr);
        assert!(ran.stderr.contains("time limit") && ran.stderr.contains("nothing was written"), "{}", ran.stderr);
    }
    assert!(scratch.new_names().is_empty());
}

#[test]
fn bad_usage_is_two() {
    let scratch = Scratch::new();
    assert_eq!(scratch.run("").code, 2);
    assert_eq!(scratch.run("fir").code, 2);
    assert_eq!(scratch.run("fit").code, 2);
    assert_eq!(scratch.run("--help").code, 0);
    assert!(scratch.done("--version").starts_with("linsep "));
}

// Transforms and bases.

#[test]
fn a_transform_and_a_basis_are_part_of_the_model() {
    for flags in [
        "--basis products --missing mean",
        "--basis quadratic --model lda --drop island,year",
        "--basis poly:3 --basis-columns bill_length_mm,sex --transform quantile",
        "--transform quantile-normal --transform-columns body_mass_g --missing mean",
    ] {
        let scratch = Scratch::with_examples();
        let summary = scratch.done(&format!("fit penguins.csv --target species {flags} --cv 4 -o m.json"));
        assert!(summary.contains("4-fold cross-validation"), "{summary}");
        assert_eq!(summary.contains("\n  basis "), flags.contains("--basis"), "{summary}");
        assert_eq!(summary.contains("\n  transform "), flags.contains("--transform"), "{summary}");
        assert!(summary.contains("per standard deviation of the feature"), "{summary}");
        assert!(scratch.done("inspect m.json").contains("all weights, per unit of the features"));
        assert_eq!(json(&scratch.done("inspect m.json --json"))["linear_in_columns"], false);
        assert!(scratch.done("verify m.json penguins.csv").starts_with("verified"));
        let accuracy = json(&scratch.done("evaluate m.json penguins.csv --json"))["accuracy"]["value"].as_f64();
        assert!(accuracy.expect("a number") > 0.97, "{flags}: {accuracy:?}");
        // Columns are matched by name, and rows stand for themselves.
        let whole = scratch.done("predict m.json penguins.csv --proba --quiet");
        let text = String::from_utf8(scratch.read("penguins.csv")).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        let turned = |line: &str| line.split(',').rev().collect::<Vec<_>>().join(",");
        scratch.write("some.csv", format!("{}\n{}\n{}\n", turned(lines[0]), turned(lines[200]), turned(lines[7])));
        let some = scratch.done("predict m.json some.csv --proba --quiet");
        let (whole, some): (Vec<&str>, Vec<&str>) = (whole.lines().collect(), some.lines().collect());
        assert_eq!(some, [whole[0], whole[200], whole[7]], "{flags}");
    }
}

#[test]
fn a_changed_cell_changes_the_quantiles_and_verify_says_so() {
    let scratch = Scratch::with_examples();
    scratch.done("fit penguins.csv --target species --transform quantile -o m.json");
    let text = String::from_utf8(scratch.read("penguins.csv")).expect("text");
    scratch.write("changed.csv", text.replacen("39.1", "39.2", 1));
    let ran = scratch.run("verify m.json changed.csv");
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("FAILS  recipe"), "{}", ran.stdout);
    assert!(ran.stdout.contains("quantile.knots[78]: 39.2,"), "{}", ran.stdout);
}

// The interface for programs.

#[test]
fn weights_in_input_units_give_the_scores_of_predict() {
    let basis = "--basis quadratic --basis-columns sex,bill_depth_mm,body_mass_g";
    for flags in ["", "--model lda", "--standardize no --penalty ridge:0.5", "--softmax reference", basis] {
        let scratch = Scratch::with_examples();
        scratch.done(&format!("fit penguins.csv --target species {flags} -o m.json"));
        let shown = json(&scratch.done("inspect m.json --json"));
        for key in ["model", "classes", "features", "weights", "intercept", "objective", "certificate"] {
            assert!(!shown[key].is_null(), "{key} is absent");
        }
        check_scores(&scratch, &shown);
    }
}

/// Recomputes every score of the penguins from what `inspect` shows.
fn check_scores(scratch: &Scratch, shown: &Value) {
    let weights: Vec<Vec<f64>> = shown["weights"].as_array().expect("rows").iter().map(numbers).collect();
    let intercept = numbers(&shown["intercept"]);
    let features: Vec<&str> = shown["features"].as_array().expect("names").iter().filter_map(Value::as_str).collect();
    let predicted = scratch.done("predict m.json penguins.csv --scores");
    let predicted = rows(&predicted);
    let text = String::from_utf8(scratch.read("penguins.csv")).expect("text");
    let table = rows(&text);
    assert_eq!(predicted.len(), table.len());
    assert_eq!(weights.len(), predicted[0].len() - 1);
    let mut checked = 0;
    for (row, scores) in table.iter().zip(&predicted).skip(1).filter(|(_, p)| !p[0].is_empty()) {
        let x: Vec<f64> = features.iter().map(|f| feature(&table[0], row, f)).collect();
        for (k, w) in weights.iter().enumerate() {
            let by_hand = intercept[k] + w.iter().zip(&x).map(|(w, x)| w * x).sum::<f64>();
            let score: f64 = scores[k + 1].parse().expect("a score");
            // The terms are large and cancel: what is left has lost that many digits.
            let size = w.iter().zip(&x).map(|(w, x)| (w * x).abs()).fold(intercept[k].abs(), f64::max);
            assert!((by_hand - score).abs() <= 1e-12 * (1.0 + size) * 10.0, "{by_hand} is not {score}");
        }
        checked += 1;
    }
    assert_eq!(checked, 333);
}

/// A feature of a row by its name: a column, `column=level`, or a product such as `a^2*b`.
fn feature(header: &[&str], row: &[&str], name: &str) -> f64 {
    let power = |part: &str| match part.split_once('^') {
        Some((base, power)) => plain_feature(header, row, base).powi(power.parse().expect("a power")),
        None => plain_feature(header, row, part),
    };
    name.split('*').map(power).product()
}

fn plain_feature(header: &[&str], row: &[&str], name: &str) -> f64 {
    let cell = |column: &str| row[header.iter().position(|h| *h == column).expect("a known column")];
    match name.split_once('=') {
        Some((column, level)) => f64::from(u8::from(cell(column) == level)),
        None => cell(name).parse().expect("a number"),
    }
}

#[test]
fn probabilities_have_their_columns_and_missing_rows_are_empty() {
    let scratch = penguins();
    scratch.done("predict model.json penguins.csv --proba -o out.csv");
    let text = String::from_utf8(scratch.read("out.csv")).expect("text");
    let table = rows(&text);
    assert_eq!(table[0], ["prediction", "p_Adelie", "p_Chinstrap", "p_Gentoo"]);
    assert_eq!(table.len(), 345);
    let input = String::from_utf8(scratch.read("penguins.csv")).expect("text");
    for (row, given) in table.iter().zip(rows(&input)).skip(1) {
        let incomplete = given.iter().any(|c| c.is_empty());
        assert_eq!(row[0].is_empty(), incomplete);
        if incomplete {
            assert!(row.iter().all(|c| c.is_empty()));
            continue;
        }
        let p: Vec<f64> = row[1..].iter().map(|c| c.parse().expect("a probability")).collect();
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let largest = (0..3).max_by(|a, b| p[*a].total_cmp(&p[*b])).expect("three classes");
        assert_eq!(row[0], ["Adelie", "Chinstrap", "Gentoo"][largest]);
    }
}

#[test]
fn an_unknown_level_treated_as_missing_is_filled_in_like_a_missing_cell() {
    let scratch = Scratch::new();
    scratch.write("d.csv", overlapping(61, 2));
    scratch.done("fit d.csv --target y --missing mean -o m.json");
    scratch.write("new.csv", "x,kind\n1,other\n3,other\n");
    scratch.write("gone.csv", "x,kind\n1,\n3,\n");
    let filled = scratch.done("predict m.json new.csv --unknown missing --proba --quiet");
    assert_eq!(filled, scratch.done("predict m.json gone.csv --proba --quiet"));
    assert_ne!(filled, scratch.done("predict m.json new.csv --unknown zero --proba --quiet"));
}

#[test]
fn two_classes_have_one_score_and_two_probabilities() {
    let scratch = Scratch::with_examples();
    scratch.done("fit penguins.csv --target sex --positive female -o m.json");
    let out = scratch.done("predict m.json penguins.csv --proba --scores --keep sex");
    let table = rows(&out);
    assert_eq!(table[0], ["sex", "prediction", "p_male", "p_female", "score_female"]);
    for row in table[1..].iter().filter(|r| !r[1].is_empty()) {
        let (p, score): (f64, f64) = (row[3].parse().expect("p"), row[4].parse().expect("score"));
        assert!((p - 1.0 / (1.0 + (-score).exp())).abs() < 1e-14);
    }
    let shown = json(&scratch.done("inspect m.json --json"));
    assert_eq!(shown["weights"].as_array().map(Vec::len), Some(1));
    assert_eq!(shown["classes"], serde_json::json!(["male", "female"]));
}

#[test]
fn evaluations_carry_value_interval_and_method() {
    let scratch = penguins();
    let shown = json(&scratch.done("evaluate model.json penguins.csv --json"));
    let estimates = ["accuracy", "balanced_accuracy", "log_loss", "brier", "auc"].map(|key| (key, &shown[key]));
    let f1 = shown["f1"].as_object().expect("one per class");
    assert_eq!(f1.keys().collect::<Vec<_>>(), ["Adelie", "Chinstrap", "Gentoo"]);
    let f1 = f1.iter().map(|(name, metric)| (name.as_str(), metric));
    for (name, metric) in estimates.into_iter().chain(f1) {
        let (value, interval) = (metric["value"].as_f64().expect(name), numbers(&metric["interval"]));
        assert!(interval.len() == 2 && interval[0] <= value && value <= interval[1], "{name}: {metric}");
        assert!(metric["method"].as_str().is_some_and(|m| !m.is_empty()), "{name}");
    }
    let counts = shown["confusion"]["counts"].as_array().expect("rows");
    let total: f64 = counts.iter().flat_map(numbers).sum();
    assert_eq!((total, &shown["rows"], &shown["incomplete_rows"]), (333.0, &Value::from(333), &Value::from(11)));
}

#[test]
fn a_loss_beyond_the_smallest_probability_is_finite() {
    let scratch = Scratch::new();
    scratch.write("d.csv", "x,y\n1,a\n2,a\n3,b\n4,b\n");
    scratch.done("fit d.csv --target y -o m.json");
    scratch.write("far.csv", "x,y\n1,a\n9,\n1000000,a\n4,b\n");
    let scores = scratch.done("predict m.json far.csv --scores");
    let far: f64 = rows(&scores)[3][1].parse().expect("a score");
    assert!(far > 800.0, "the probability of `a` is zero in floating point");
    let loss = &json(&scratch.done("evaluate m.json far.csv --json"))["log_loss"];
    let mean = loss["value"].as_f64().expect("finite");
    assert!((mean - far / 3.0).abs() < 1.0, "{mean} for the score {far}");
    assert!(numbers(&loss["interval"])[1] > mean);
}

#[test]
fn cross_validation_adds_accuracy() {
    let scratch = Scratch::with_examples();
    for (model, least) in [("logistic", 0.9), ("lda", 0.9), ("least-squares", 0.8)] {
        let shown = json(&scratch.done(&format!("fit iris.csv --target Species --model {model} --cv 5 --json")));
        let cv = &shown["cross_validation"];
        assert_eq!(cv["log_loss"].is_null(), model == "least-squares", "scores of least squares are no log-odds");
        assert_eq!((cv["folds"].as_u64(), numbers(&cv["per_fold"]).len()), (Some(5), 5));
        let (accuracy, interval) = (cv["accuracy"].as_f64().expect("a number"), numbers(&cv["interval"]));
        assert!(accuracy > least && interval[0] < accuracy && accuracy < interval[1]);
    }
    let again = |seed: u32| json(&scratch.done(&format!("fit iris.csv --target Species --cv 5 --seed {seed} --json")));
    assert_eq!(again(3)["cross_validation"], again(3)["cross_validation"]);
    assert!(json(&scratch.done("fit iris.csv --target Species --json"))["cross_validation"].is_null());
}

#[test]
fn a_saved_model_predicts_the_same_bits() {
    let scratch = penguins();
    scratch.done("fit penguins.csv --target species -o model.json.zst");
    let first = scratch.done("predict model.json penguins.csv --proba --scores");
    assert_eq!(first, scratch.done("predict model.json.zst penguins.csv --proba --scores"));
    assert!(scratch.read("model.json.zst").starts_with(&[0x28, 0xb5, 0x2f, 0xfd]));
    // Reading and writing the model again changes nothing.
    let model = linsep::artifact::Model::load(&scratch.file("model.json")).expect("the model loads");
    model.save(&scratch.file("copy.json")).expect("the model saves");
    assert_eq!(scratch.read("model.json"), scratch.read("copy.json"));
}

#[test]
fn weights_count_as_copies() {
    let scratch = Scratch::new();
    // Every seventh row misses its first cell: what is filled in must count weights too.
    let hole = |(i, line): (usize, &str)| match line.split_once(',') {
        Some((_, rest)) if i % 7 == 3 => format!(",{rest}\n"),
        _ => format!("{line}\n"),
    };
    let table: String = overlapping(60, 3).lines().enumerate().map(hole).collect();
    let weighted: String = table
        .lines()
        .enumerate()
        .map(|(i, l)| if i == 0 { format!("{l},w\n") } else { format!("{l},{}\n", i % 3) })
        .collect();
    let copied: String =
        table.lines().enumerate().map(|(i, l)| format!("{l}\n").repeat(if i == 0 { 1 } else { i % 3 })).collect();
    scratch.write("w.csv", weighted);
    scratch.write("c.csv", copied);
    for model in ["logistic", "lda", "logistic --missing mean", "lda --missing mean"] {
        let a = json(&scratch.done(&format!("fit w.csv -t y --weights w --json --model {model}")));
        let b = json(&scratch.done(&format!("fit c.csv -t y --json --model {model}")));
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5 * (1.0 + a.abs()));
        for k in 0..3 {
            assert!(close(&numbers(&a["weights"][k]), &numbers(&b["weights"][k])), "{model}");
        }
    }
}

// Inputs that mean the same.

#[test]
fn every_way_in_gives_the_same_model() {
    let scratch = penguins();
    let plain = scratch.read("model.json");
    let text = String::from_utf8(scratch.read("penguins.csv")).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    let part = |range: std::ops::Range<usize>| format!("{}\n{}\n", lines[0], lines[range].join("\n"));
    scratch.write("penguins.tsv", text.replace(',', "\t"));
    scratch.write("semicolon.csv", text.replace(',', ";"));
    scratch.write("crlf.csv", format!("\u{feff}{}", text.replace('\n', "\r\n")));
    scratch.write("part-1.csv", part(1..100));
    scratch.write("part-2.csv", part(100..lines.len()));
    scratch.write("packed.csv.zst", zstd::encode_all(text.as_bytes(), 1).expect("zstd"));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).expect("gzip");
    scratch.write("packed.csv.gz", gzip.finish().expect("gzip"));
    let ways = [
        "penguins.tsv",
        "semicolon.csv",
        "crlf.csv",
        "part-1.csv part-2.csv",
        "'part-?.csv'",
        "packed.csv.zst",
        "packed.csv.gz",
        "penguins.csv --format csv --delimiter , --quiet",
        "penguins.csv --threads 1",
        "penguins.csv --threads 2",
        "penguins.csv --threads 5",
    ];
    for way in ways {
        scratch.done(&format!("fit {way} --target species -o other.json"));
        assert_eq!(scratch.read("other.json"), plain, "{way}");
    }
    let ran = scratch.run_with("fit - --target species -o other.json", text.as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(scratch.read("other.json"), plain, "standard input");
    let straight = scratch.done("predict model.json penguins.csv");
    assert_eq!(scratch.run_with("predict model.json -", text.as_bytes()).stdout, straight);
}

#[test]
fn threads_do_not_change_a_bit_of_a_larger_fit() {
    let scratch = Scratch::new();
    scratch.write("big.csv", overlapping(20_000, 3));
    for flags in ["", "--model lda --shrinkage auto", "--penalty none", "--solver newton-cg"] {
        let models = [1, 2, 5].map(|threads| {
            scratch.done(&format!("fit big.csv --target y {flags} --threads {threads} -o m.json"));
            scratch.read("m.json")
        });
        assert!(models[0] == models[1] && models[1] == models[2], "`{flags}` depends on the threads");
    }
}

#[test]
fn libsvm_goes_through_every_subcommand() {
    let scratch = Scratch::new();
    let rows: String =
        (0..80).map(|i| format!("{} 1:{} {}:1\n", if i % 3 == 0 { 1 } else { -1 }, (i * 13) % 7, 2 + i % 5)).collect();
    scratch.write("d.svm", rows);
    for model in ["logistic", "lda", "svm", "svm --solver dual-cd", "svm --loss squared-hinge"] {
        scratch.done(&format!("fit d.svm --model {model} -o m.json"));
        let shown = json(&scratch.done("inspect m.json --json"));
        assert_eq!(shown["classes"], serde_json::json!(["-1", "1"]));
        assert_eq!(shown["features"].as_array().map(Vec::len), Some(6));
        assert_eq!(scratch.done("predict m.json d.svm").lines().count(), 81);
        scratch.done("evaluate m.json d.svm");
        scratch.done("verify m.json d.svm");
    }
}

/// Sparse columns are taken as they are unless somebody asks, and the summary says why.
#[test]
fn sparse_columns_are_standardised_only_on_request() {
    let scratch = Scratch::new();
    let rows: String =
        (0..80).map(|i| format!("{} 1:{} {}:1\n", if i % 3 == 0 { 1 } else { -1 }, (i * 13) % 7, 2 + i % 5)).collect();
    scratch.write("d.svm", rows);
    for model in ["logistic", "svm", "least-squares --penalty ridge", "averaged-perceptron"] {
        let run = |flags: &str| scratch.run(&format!("fit d.svm --model {model} {flags} -o m.json"));
        let (plain, no, yes) = (run(""), run("--standardize no"), run("--standardize yes"));
        let first: Vec<&str> = plain.stdout.lines().take(2).collect();
        assert!(first[0].contains("columns as they are"), "{first:?}");
        assert!(first[1].starts_with("  columns      as they are, because they are sparse"), "{first:?}");
        let said = |line: &&str| !line.starts_with("  columns ");
        let (without, asked) = (plain.stdout.lines().filter(said), no.stdout.lines());
        assert!(without.eq(asked), "{}\n{}", plain.stdout, no.stdout);
        assert!(yes.stdout.lines().next().is_some_and(|l| l.contains("standardised columns")), "{}", yes.stdout);
    }
    let path = |flags: &str| scratch.done(&format!("path d.svm --lambdas 4 {flags}"));
    assert_eq!(path(""), path("--standardize no"));
    assert_ne!(path(""), path("--standardize yes"));
}

#[test]
fn every_format_gives_the_model_of_the_same_csv() {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
    use std::sync::Arc;
    let scratch = Scratch::new();
    let csv = overlapping(300, 3);
    scratch.write("d.csv", &csv);
    let cells = rows(&csv);
    let number: Float64Array = cells[1..].iter().map(|r| r[0].parse::<f64>().ok()).collect();
    let text = |c: usize| Arc::new(cells[1..].iter().map(|r| Some(r[c])).collect::<StringArray>()) as ArrayRef;
    let columns = [("x", Arc::new(number) as ArrayRef), ("kind", text(1)), ("y", text(2))];
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let file = std::fs::File::create(scratch.file("d.parquet")).expect("a scratch file can be made");
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("rows are written");
    writer.close().expect("the file is closed");
    let file = std::fs::File::create(scratch.file("d.feather")).expect("a scratch file can be made");
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).expect("a writer");
    writer.write(&batch).expect("rows are written");
    writer.finish().expect("the file is closed");
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    writer.write(&batch).expect("rows are written");
    let stream = writer.into_inner().expect("the stream is closed");
    let line = |r: &Vec<&str>| format!("{{\"x\":{},\"kind\":\"{}\",\"y\":\"{}\"}}\n", r[0], r[1], r[2]);
    let lines: String = cells[1..].iter().map(line).collect();
    scratch.write("d.jsonl", &lines);
    let weights = |file: &str| json(&scratch.done(&format!("fit {file} --target y --json")))["weights"].clone();
    let expected = weights("d.csv");
    for file in ["d.parquet", "d.feather", "d.jsonl"] {
        assert_eq!(weights(file), expected, "{file}");
    }
    for (input, flags) in [(&stream[..], ""), (lines.as_bytes(), ""), (lines.as_bytes(), "--format ndjson")] {
        let ran = scratch.run_with(&format!("fit - --target y --json {flags}"), input);
        assert_eq!(json(&ran.stdout)["weights"], expected);
    }
}

// Verification.

#[test]
fn verification_fails_on_other_data() {
    let scratch = penguins();
    let text = String::from_utf8(scratch.read("penguins.csv")).expect("text");
    scratch.done("verify model.json penguins.csv");
    scratch.write("changed.csv", text.replacen("39.1", "39.2", 1));
    let ran = scratch.run("verify model.json changed.csv");
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert!(ran.stdout.contains("NOT verified") && ran.stdout.contains("FAILS  data"), "{}", ran.stdout);
    // A model fitted on other rows is not optimal on these.
    let fewer: String = text.lines().enumerate().filter(|(i, _)| i % 3 != 1).map(|(_, l)| format!("{l}\n")).collect();
    scratch.write("fewer.csv", fewer);
    for model in ["logistic", "lda"] {
        scratch.done(&format!("fit fewer.csv --target species --model {model} -o fewer.json"));
        scratch.done("verify fewer.json fewer.csv");
        let ran = scratch.run("verify fewer.json penguins.csv --json");
        assert_eq!(ran.code, 1);
        let shown = json(&ran.stdout);
        assert_eq!(shown["verified"], false);
        let fails = |claim: &str| {
            let checks = shown["checks"].as_array().expect("checks");
            checks.iter().any(|c| c["claim"] == claim && c["holds"] == false)
        };
        assert!(fails("data") && fails("objective") && fails("certificate"), "{model}: {shown}");
    }
}

#[test]
fn every_kind_of_fit_verifies() {
    let scratch = Scratch::with_examples();
    let kinds = [
        "--missing mean",
        "--standardize no",
        "--intercept none --penalty ridge:0.2",
        "--intercept penalised",
        "--softmax reference",
        "--solver newton-cg",
        "--features island,sex",
        "--model lda --shrinkage auto",
        "--model lda --shrinkage 0.3 --standardize no",
        "--model lda --covariance mle --priors Adelie=0.2,Chinstrap=0.3,Gentoo=0.5",
        "--model lda --missing mean",
        "--weights year",
        "--model least-squares",
        "--model least-squares --missing mean --standardize no",
        "--model least-squares --penalty ridge --intercept penalised",
        "--model least-squares --penalty ridge:3 --intercept none --standardize no",
        "--model least-squares --solver qr --weights year",
        "--model least-squares --solver cholesky --targets zero-one",
        "--model least-squares --solver gradient-descent --penalty ridge:0.1",
    ];
    for kind in kinds {
        scratch.done(&format!("fit penguins.csv --target species {kind} -o m.json"));
        let ran = scratch.run("verify m.json penguins.csv");
        assert_eq!(ran.code, 0, "{kind}\n{}{}", ran.stdout, ran.stderr);
    }
}

// Output.

#[test]
fn output_replaces_a_file_in_one_step_and_keeps_links() {
    let scratch = penguins();
    scratch.write("out.csv", "old\n");
    scratch.done("predict model.json penguins.csv -o out.csv");
    assert!(scratch.read("out.csv").starts_with(b"prediction\n"));
    #[cfg(unix)]
    {
        scratch.write("real.csv", "old\n");
        std::os::unix::fs::symlink("real.csv", scratch.file("link.csv")).expect("a link can be made");
        scratch.done("predict model.json penguins.csv -o link.csv");
        assert!(std::fs::symlink_metadata(scratch.file("link.csv")).expect("the link").is_symlink());
        assert!(scratch.read("real.csv").starts_with(b"prediction\n"));
        // What is no ordinary file is written to, never replaced.
        scratch.done("predict model.json penguins.csv -o /dev/null");
        assert!(!std::fs::metadata("/dev/null").expect("the device").is_file());
    }
    assert!(scratch.names().iter().all(|n| !n.contains(".part")), "{:?}", scratch.names());
}

#[test]
fn a_model_goes_through_a_pipe() {
    let scratch = penguins();
    let piped = scratch.done("fit penguins.csv --target species -o -");
    assert_eq!(piped.as_bytes(), scratch.read("model.json"));
    let ran = scratch.run_with("predict - penguins.csv", piped.as_bytes());
    assert_eq!((ran.code, ran.stdout), (0, scratch.done("predict model.json penguins.csv")));
    assert_eq!(scratch.run("fit penguins.csv --target species -o - --json").code, 2);
}

#[test]
fn quiet_and_json_leave_only_the_result() {
    let scratch = Scratch::with_examples();
    for line in [
        "fit penguins.csv -t species --json --quiet -o m.json",
        "inspect m.json --json",
        "evaluate m.json penguins.csv --json -q",
    ] {
        assert!(json(&scratch.done(line)).is_object());
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let scratch = Scratch::new();
    // More output than a pipe holds.
    scratch.write("big.csv", overlapping(50_000, 2));
    scratch.done("fit big.csv --target y -o m.json");
    for command in ["predict m.json big.csv --proba", "inspect m.json", "evaluate m.json big.csv"] {
        let line = format!("set -o pipefail; '{}' {command} | head -1", env!("CARGO_BIN_EXE_linsep"));
        let mut shell = std::process::Command::new("bash");
        let ran = Ran::of(shell.args(["-c", &line]).current_dir(scratch.path()).output().expect("a shell"));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{command}");
        assert_eq!(ran.stdout.lines().count(), 1);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_is_130_and_writes_nothing() {
    let scratch = Scratch::new();
    let mut command = scratch.command();
    command.args(["fit", "-", "--target", "y", "-o", "m.json"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut pipe = child.stdin.take().expect("its input is a pipe");
    // The pipe stays open: the command waits for more. Once it has taken more than a pipe holds, it is reading.
    pipe.write_all(overlapping(200_000, 2).as_bytes()).expect("the command reads");
    send("-INT", &child);
    let ran = Ran::of(child.wait_with_output().expect("the command ends"));
    drop(pipe);
    assert_eq!((ran.code, ran.stdout.as_str()), (130, ""));
    assert!(ran.stderr.contains("interrupted"), "{}", ran.stderr);
    assert!(scratch.names().is_empty(), "{:?}", scratch.names());
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_in_the_middle_of_the_work_is_130_too() {
    let scratch = Scratch::new();
    scratch.write("big.csv", overlapping(20_000, 3));
    let mut command = scratch.command();
    // Far more folds than the test has patience for.
    command.args(["fit", "big.csv", "--target", "y", "--cv", "5000", "-o", "m.json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    wait_until_computing(&child, 30);
    send("-INT", &child);
    let ran = Ran::of(child.wait_with_output().expect("the command ends"));
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (130, "", "interrupted: nothing was written\n"));
    assert_eq!(scratch.names(), ["big.csv"]);
}

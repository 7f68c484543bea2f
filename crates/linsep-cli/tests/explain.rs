//! `predict --explain`: contributions and intercept sum to the score, whatever the model.

mod common;

use common::Scratch;
use std::collections::BTreeMap;

/// One line of an explanation.
struct Line {
    feature: String,
    value: String,
    contribution: f64,
}

/// Lines by row and class; no name here has a comma.
fn lines(csv: &str) -> BTreeMap<(usize, String), Vec<Line>> {
    let mut all: BTreeMap<(usize, String), Vec<Line>> = BTreeMap::new();
    let mut rows = csv.lines();
    assert_eq!(rows.next(), Some("row,class,feature,value,contribution"));
    for row in rows {
        let cells: Vec<&str> = row.split(',').collect();
        let [number, class, feature, value, contribution] = cells[..] else { panic!("{row}") };
        let line = Line {
            feature: feature.to_owned(),
            value: value.to_owned(),
            contribution: contribution.parse().expect("a number"),
        };
        all.entry((number.parse().expect("a row"), class.to_owned())).or_default().push(line);
    }
    all
}

/// The scores that `predict --scores` writes, by row and class.
fn scores(csv: &str) -> BTreeMap<(usize, String), f64> {
    let mut rows = csv.lines();
    let header: Vec<&str> = rows.next().expect("a header").split(',').collect();
    let mut all = BTreeMap::new();
    for (i, row) in rows.enumerate() {
        for (name, cell) in header.iter().zip(row.split(',')) {
            if let (Some(class), Ok(score)) = (name.strip_prefix("score_"), cell.parse::<f64>()) {
                all.insert((i + 1, class.to_owned()), score);
            }
        }
    }
    all
}

fn table() -> String {
    let mut text = String::from("x,w,kind,count,o,two,three\n");
    for i in 0..40u32 {
        // Numbers without order, the same in every run.
        let drawn = |most: u32, turn: u32| ((i + 1).wrapping_mul(2_654_435_761).rotate_left(turn) >> 7) % most;
        let (x, w) = (f64::from(i % 7) + 0.25 * f64::from(i % 3), 1e6 + f64::from(i * i % 11));
        let kind = ["a", "b", "c"][drawn(3, 3) as usize];
        let two = if drawn(7, 11) < 4 { "no" } else { "yes" };
        let three = ["p", "q", "r"][drawn(3, 17) as usize];
        // The fifth row misses a cell.
        let x = if i == 4 { String::new() } else { x.to_string() };
        text.push_str(&format!("{x},{w},{kind},{},{},{two},{three}\n", i % 5, f64::from(i % 4) * 0.25));
    }
    text
}

#[test]
fn contributions_sum_to_the_score() {
    let scratch = Scratch::with_examples();
    scratch.write("t.csv", table());
    let mut svm = String::new();
    for i in 0..30 {
        svm.push_str(&format!("{} {}:1.5 {}:-0.5\n", i % 2, 1 + i % 4, 6 + i % 3));
    }
    scratch.write("t.svm", svm);
    let fits = [
        "--target two",
        "--target three",
        "--target two --standardize no",
        "--target two --penalty lasso:0.05 --basis quadratic",
        "--target two --features x,w --transform quantile",
        "--target two --offset o",
        "--target two --true-priors no=0.9,yes=0.1",
        "--target three --true-priors p=0.5,q=0.3,r=0.2",
        "--target two --features x,w,kind --model lda",
        "--target three --features x,w --model lda",
        "--target two --features x,w --model qda",
        "--target three --features x,w --model qda",
        "--target two --model naive-bayes",
        "--target three --model naive-bayes",
        "--target three --features x,count,kind --model naive-bayes --family x=gaussian-shared,count=poisson",
        "--target two --features count,kind --model naive-bayes --family count=geometric",
        "--target two --model least-squares --features x,w",
        "--target two --model svm",
        "--target three --model svm --multiclass one-vs-one",
        "--target three --model logistic --multiclass one-vs-rest",
        "--target two --model svm --kernel rbf",
        "--target three --model svm --kernel polynomial --multiclass one-vs-one",
    ];
    let check = |fit: &str, file: &str| {
        let ran = scratch.run(&format!("fit {file} {fit} -q -o m.json"));
        assert!(ran.code == 0 || ran.code == 3, "{fit}\n{}", ran.stderr);
        let expected = scores(&scratch.done(&format!("predict m.json {file} --scores -q")));
        assert!(!expected.is_empty(), "{fit}");
        for most in ["1", "3", "all"] {
            let found = lines(&scratch.done(&format!("predict m.json {file} --explain {most} -q")));
            assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{fit}");
            for (key, terms) in &found {
                let total: f64 = terms.iter().map(|t| t.contribution).sum();
                let size: f64 = 1.0 + terms.iter().map(|t| t.contribution.abs()).sum::<f64>();
                let error = (total - expected[key]).abs();
                assert!(error <= 1e-12 * size, "{fit}, {key:?}: {total} and {}", expected[key]);
                assert_eq!(terms[0].feature, "(intercept)", "{fit}");
                if let Ok(most) = most.parse::<usize>() {
                    assert!(terms.iter().filter(|t| !t.feature.starts_with('(')).count() <= most, "{fit}");
                }
            }
        }
    };
    fits.iter().for_each(|fit| check(fit, "t.csv"));
    check("--target sex --model svm --calibrate platt", "penguins.csv");
    check("--target label", "t.svm");
    check("--target label --model naive-bayes --family gaussian --variance-smoothing 0.1", "t.svm");
}

#[test]
fn columns_come_by_what_they_add_and_text_columns_as_one() {
    let scratch = Scratch::new();
    scratch.write("t.csv", table());
    scratch.done("fit t.csv --target two --drop three,o -q -o m.json");
    let all = lines(&scratch.done("predict m.json t.csv --explain all -q"));
    assert!(!all.keys().any(|(row, _)| *row == 5), "the fifth row misses a cell");
    for terms in all.values() {
        let mut names: Vec<&str> = terms.iter().map(|t| t.feature.as_str()).collect();
        let sizes: Vec<f64> = terms[1..].iter().map(|t| t.contribution.abs()).collect();
        assert!(sizes.windows(2).all(|w| w[0] >= w[1]), "{sizes:?}");
        names.sort_unstable();
        assert_eq!(names, ["(intercept)", "count", "kind", "w", "x"]);
        let kind = terms.iter().find(|t| t.feature == "kind").expect("the text column");
        assert!(["a", "b", "c"].contains(&kind.value.as_str()));
    }
    // The one that adds most is the first of all.
    let one = lines(&scratch.done("predict m.json t.csv --explain 1 -q"));
    for (key, terms) in &one {
        assert_eq!(terms[1].feature, all[key][1].feature);
        assert_eq!(terms.last().map(|t| t.feature.as_str()), Some("(rest)"));
    }
}

#[test]
fn the_intercept_of_naive_bayes_is_its_prior() {
    let scratch = Scratch::new();
    scratch.write("t.csv", table());
    for (target, families) in [
        ("two", "--family x=gaussian,count=poisson"),
        ("two", "--family x=exponential,count=binomial:4"),
        ("two", "--family x=gaussian-shared,count=geometric"),
        ("three", "--family x=gaussian,count=poisson"),
        ("three", "--family x=gaussian-shared,count=geometric"),
        ("three", "--family x=exponential,count=binomial:4"),
    ] {
        let line = format!("fit t.csv --target {target} --features x,count,kind --model naive-bayes {families}");
        scratch.done(&format!("{line} -q -o m.json"));
        let shown = scratch.done("inspect m.json --json");
        let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
        let priors: Vec<f64> =
            shown["learned_priors"].as_array().expect("priors").iter().filter_map(|p| p.as_f64()).collect();
        let classes: Vec<&str> =
            shown["classes"].as_array().expect("names").iter().filter_map(|c| c.as_str()).collect();
        for ((_, class), terms) in lines(&scratch.done("predict m.json t.csv --explain all -q")) {
            let k = classes.iter().position(|c| *c == class).expect("a class");
            let prior = if classes.len() == 2 { (priors[1] / priors[0]).ln() } else { priors[k].ln() };
            assert!((terms[0].contribution - prior).abs() < 1e-12, "{line}: {} {prior}", terms[0].contribution);
        }
    }
}

/// log p(x|yes)/p(x|no) of a Poisson column and of a text column, by the textbook.
#[test]
fn columns_of_naive_bayes_add_their_log_ratios() {
    let scratch = Scratch::new();
    scratch.write("t.csv", "n,kind,y\n1,a,no\n2,b,no\n0,a,no\n5,b,yes\n3,b,yes\n4,a,yes\n");
    let line = "fit t.csv --target y --model naive-bayes --family n=poisson --smoothing 0 -q -o m.json";
    scratch.done(line);
    let found = lines(&scratch.done("predict m.json t.csv --explain all -q"));
    // Means 1 and 4; levels b with shares 1/3 and 2/3. The fourth row has 5 and b.
    let terms = &found[&(4, "yes".to_owned())];
    let of = |name: &str| terms.iter().find(|t| t.feature == name).expect("a column").contribution;
    assert!((of("n") - (5.0 * 4f64.ln() - 3.0)).abs() < 1e-12, "{}", of("n"));
    assert!((of("kind") - 2f64.ln()).abs() < 1e-12, "{}", of("kind"));
    assert!(of("(intercept)").abs() < 1e-15);
}

#[test]
fn kernels_name_the_rows_that_matter_by_their_place_in_the_table() {
    let scratch = Scratch::new();
    // The first row misses a cell, so numbers among the rows used and rows of the table differ.
    scratch.write("t.csv", "x,y\n,a\n0,a\n1,a\n2,b\n3,b\n");
    scratch.done("fit t.csv --target y --model svm --kernel rbf --gamma 1 --standardize no -q -o m.json");
    let shown = scratch.done("inspect m.json t.csv --json");
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    let support: Vec<u64> =
        shown["support_table"].as_array().expect("rows").iter().filter_map(|r| r["row"].as_u64()).collect();
    let xs = [f64::NAN, 0.0, 1.0, 2.0, 3.0];
    for ((row, _), terms) in lines(&scratch.done("predict m.json t.csv --explain all -q")) {
        for term in &terms[1..] {
            let number = term.feature.trim_start_matches("(support row ").trim_end_matches(')');
            let number: u64 = number.parse().expect("a row");
            assert!(support.contains(&number), "{number} of {support:?}");
            let expected = (-(xs[row - 1] - xs[number as usize - 1]).powi(2)).exp();
            let kernel: f64 = term.value.parse().expect("a number");
            assert!((kernel - expected).abs() < 1e-12, "{kernel} {expected}");
        }
    }
}

#[test]
fn one_row_is_explained_in_words() {
    let scratch = Scratch::with_examples();
    scratch.done("fit penguins.csv --target species -q -o m.json");
    let text = scratch.done("predict m.json penguins.csv --explain 2 --row 1 -q");
    for said in
        ["row 1 (line 2): Adelie, probability 0.9", "Adelie: score", "(rest)", "bill_length_mm", "sums to the score"]
    {
        assert!(text.contains(said), "{said}\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    // With a file it is CSV of that row.
    scratch.done("predict m.json penguins.csv --explain 2 --row 1 -q -o one.csv");
    let csv = String::from_utf8(scratch.read("one.csv")).expect("text");
    assert!(lines(&csv).keys().all(|(row, _)| *row == 1));
    // A file that cannot be explained leaves nothing behind.
    let ran = scratch.run("predict m.json penguins.csv --explain 2 --row 4 -q -o none.csv");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("line 5") && !scratch.file("none.csv").exists(), "{}", ran.stderr);
}

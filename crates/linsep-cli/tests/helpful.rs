//! Warnings, tips, completions, manual pages, and tables that stay readable.

mod common;

use common::Scratch;

fn pair() -> Scratch {
    let scratch = Scratch::new();
    let mut csv = String::from("x,z,y\n");
    for i in 0..60 {
        // Every tenth row lies on the other side.
        let y = if (i % 3 == 0) != (i % 10 == 0) { "yes" } else { "no" };
        csv.push_str(&format!("{},{},{y}\n", if i % 3 == 0 { 2 + i % 4 } else { i % 3 }, i % 7));
    }
    scratch.write("t.csv", csv);
    scratch
}

#[test]
fn weighted_probabilities_with_a_threshold_are_said() {
    let scratch = pair();
    let warns = |flags: &str| {
        scratch.done(&format!("fit t.csv --target y --positive yes -q {flags}")).replace("\n               ", " ")
    };
    let said = "the probabilities are about weighted classes";
    for decision in ["--threshold 0.3", "--costs yes:no=5", "--reject 0.2"] {
        let text = warns(&format!("--class-weight balanced {decision}"));
        assert!(text.contains(said) && text.contains("--true-priors no=0."), "{text}");
        assert!(!warns(decision).contains(said), "{decision} without weights");
        let told = warns(&format!("--class-weight balanced {decision} --true-priors no=0.6,yes=0.4"));
        assert!(!told.contains(said), "{told}");
    }
    assert!(!warns("--class-weight balanced").contains(said));
    assert!(!warns("--class-weight balanced --model svm --score-threshold 0.1").contains(said));
}

#[test]
fn many_undetermined_rows_name_the_way_out() {
    let scratch = Scratch::with_examples();
    let fit = "fit iris.csv --target Species --model logistic --multiclass one-vs-rest -q";
    let text = scratch.done(&format!("{fit} --ties undetermined --features Sepal.Width"));
    assert!(text.contains("undetermined: with --ties scores"), "{text}");
    let decided = scratch.done(&format!("{fit} --ties scores --features Sepal.Width"));
    assert!(!decided.contains("are undetermined"), "{decided}");
}

#[test]
fn an_evaluation_says_that_the_fit_saw_the_rows() {
    let scratch = pair();
    scratch.done("fit t.csv --target y -q -o m.json");
    let said = "The model was fitted on these rows";
    assert!(scratch.done("evaluate m.json t.csv -q").contains(said));
    let value: serde_json::Value =
        serde_json::from_str(&scratch.done("evaluate m.json t.csv -q --json")).expect("JSON");
    assert_eq!(value["of_training"], true);
    let other = String::from_utf8(scratch.read("t.csv")).expect("text").replacen("2,0,", "3,0,", 1);
    scratch.write("other.csv", other);
    assert!(!scratch.done("evaluate m.json other.csv -q").contains(said));
    let value: serde_json::Value =
        serde_json::from_str(&scratch.done("evaluate m.json other.csv -q --json")).expect("JSON");
    assert_eq!(value["of_training"], false);
}

#[test]
fn words_of_other_tools_get_the_flag() {
    let scratch = pair();
    for (line, said) in [
        ("fit t.csv --target y --lambda 0.1", "--penalty ridge:LAMBDA"),
        ("fit t.csv --target y --alpha=0.1", "elastic-net:SHARE:LAMBDA"),
        ("fit t.csv --target y --aic", "linsep infer prints AIC"),
        ("fit t.csv --label y", "--target COLUMN"),
        ("fit t.csv --target y --random_state 3", "--seed N"),
        ("fit t.csv --target y --n-jobs 2", "--threads N"),
    ] {
        let ran = scratch.run(line);
        assert_eq!(ran.code, 2, "{line}");
        assert!(ran.stderr.contains(said), "{line}\n{}", ran.stderr);
        // For programs, too.
        let ran = scratch.run(&format!("{line} --json"));
        let value: serde_json::Value = serde_json::from_str(ran.stderr.trim()).expect("JSON");
        assert!(value["error"]["remedy"].to_string().contains(said), "{}", ran.stderr);
    }
}

#[test]
fn swapped_files_are_recognised() {
    let scratch = pair();
    scratch.done("fit t.csv --target y -q -o m.json");
    for command in ["predict", "evaluate", "verify", "geometry"] {
        let ran = scratch.run(&format!("{command} t.csv m.json -q"));
        assert_eq!(ran.code, 2, "{command}");
        assert!(ran.stderr.contains("t.csv: this is a table, not a model"), "{command}\n{}", ran.stderr);
        assert!(ran.stderr.contains("swap the two"), "{}", ran.stderr);
    }
    let ran = scratch.run("fit m.json --target y -q");
    assert!(ran.code == 2 && ran.stderr.contains("m.json: this is a model, not a table"), "{}", ran.stderr);
}

#[test]
fn shells_and_man_learn_every_command() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = scratch.done(&format!("completions {shell}"));
        assert!(["describe", "predict", "explain", "penalty"].iter().all(|w| script.contains(w)), "{shell}");
    }
    assert!(scratch.done("man").contains("linsep"));
    assert!(scratch.done("man fit").contains("penalty"));
    std::fs::create_dir(scratch.file("pages")).expect("a directory");
    scratch.done("man -o pages");
    for page in ["linsep.1", "linsep-fit.1", "linsep-predict.1", "linsep-describe.1"] {
        let text = String::from_utf8(scratch.read(&format!("pages/{page}"))).expect("text");
        assert!(text.contains(".TH"), "{page}");
    }
}

#[test]
fn wide_models_show_the_weights_that_matter() {
    let scratch = Scratch::new();
    let mut rows = String::new();
    for i in 0..40 {
        let features: String =
            (1..=300).filter(|j| (i * j) % 7 == 1 || *j == 1 + i % 2).map(|j| format!(" {j}:1")).collect();
        rows.push_str(&format!("{}{features}\n", i % 2));
    }
    scratch.write("t.svm", rows);
    scratch.done("fit t.svm --target label --standardize no -q -o m.json");
    let usual = scratch.done("inspect m.json");
    assert!(usual.lines().count() < 60, "{}", usual.lines().count());
    assert!(usual.contains("20 of "), "{usual}");
    let three = scratch.done("inspect m.json --top 3");
    assert!(three.contains("3 of "), "{three}");
    // The two columns that tell the classes apart come first.
    let after = three.split("3 of ").nth(1).expect("the table");
    let first: Vec<&str> = after.lines().skip(1).take(2).filter_map(|l| l.split_whitespace().next()).collect();
    assert!(first.contains(&"1") && first.contains(&"2"), "{after}");
    assert!(scratch.done("inspect m.json --top all").lines().count() > 300);
    let ran = scratch.run("inspect m.json --top none");
    assert!(ran.code == 2 && ran.stderr.contains("--top none is not a number of weights"), "{}", ran.stderr);
}

#[test]
fn a_confusion_of_many_classes_fits_the_page() {
    let scratch = Scratch::new();
    let mut csv = String::from("x,z,y\n");
    for class in 0..52u32 {
        for i in 0..6u32 {
            let x = f64::from(class % 8) + 0.2 * f64::from((i * 7 + class) % 5);
            let z = f64::from(class / 8) + 0.2 * f64::from((i * 3 + class) % 5);
            csv.push_str(&format!("{x},{z},class{class:02}\n"));
        }
    }
    scratch.write("t.csv", csv);
    scratch.done("fit t.csv --target y --model lda -q -o m.json");
    let text = scratch.done("evaluate m.json t.csv -q");
    let confusion = text.split("confusion:").nth(1).expect("a confusion");
    assert!(confusion.contains("most often taken for"), "{confusion}");
    assert_eq!(confusion.lines().filter(|l| l.trim_start().starts_with("class")).count(), 52);
    assert!(confusion.lines().skip(1).all(|l| l.chars().count() <= 80), "{confusion}");
}

/// Text is as wide as the terminal, and 80 columns where there is none.
#[test]
fn text_fits_the_page() {
    let scratch = Scratch::with_examples();
    scratch.done("fit penguins.csv -t sex -q -o sex.json");
    let lines = [
        "fit penguins.csv -t sex --class-weight balanced --costs male:female=5 --cv 5",
        "fit penguins.csv -t species --missing mean -m svm --multiclass one-vs-rest",
        "fit penguins.csv -t sex --missing indicator",
        "fit penguins.csv -t sex -m perceptron",
        "inspect sex.json",
        "separable penguins.csv -t sex",
        "describe penguins.csv -t species",
        "evaluate sex.json penguins.csv",
        "verify sex.json penguins.csv",
    ];
    for line in lines {
        for (columns, width) in [(None, 80), (Some("64"), 64), (Some("100"), 100)] {
            let mut command = scratch.command();
            match columns {
                Some(columns) => command.env("COLUMNS", columns),
                None => command.env_remove("COLUMNS"),
            };
            let ran = common::Ran::of(command.args(common::words(line)).output().unwrap());
            let labelled =
                |l: &&str| l.starts_with("  ") && l.len() > 15 && l[2..].starts_with(|c: char| c.is_ascii_lowercase());
            let prose = ran.stdout.lines().filter(|l| columns.is_none() || (line.starts_with("fit") && labelled(l)));
            for text in prose.filter(|l| !l.contains(" to the optimum ")) {
                // A word that is longer than the line stays whole.
                let longest = text.split(' ').map(|w| w.chars().count()).max().unwrap_or(0);
                assert!(text.chars().count() <= width.max(longest + 15), "{line}, {columns:?}: {text}");
            }
        }
    }
}

/// Two levels with an indicator each are one number: how much the score changes from one to the other.
#[test]
fn two_levels_are_one_contrast() {
    let scratch = Scratch::with_examples();
    let said = scratch.done("fit penguins.csv -t species --features sex,bill_length_mm --standardize no -q -o m.json");
    let line =
        said.lines().find(|l| l.trim_start().starts_with("sex=male vs female")).unwrap_or_else(|| panic!("{said}"));
    assert!(!said.contains("  sex=male  ") && !said.contains("  sex=female "), "{said}");
    assert!(said.contains("coding       an indicator for every level"), "{said}");
    let model: serde_json::Value = serde_json::from_slice(&scratch.read("m.json")).unwrap();
    let weights: Vec<f64> = serde_json::from_value(model["model"]["discriminant"]["weights"].clone()).unwrap();
    let shown: Vec<f64> = line.split_whitespace().skip(3).map(|n| n.parse().unwrap()).collect();
    for (k, shown) in shown.iter().enumerate() {
        let own = &weights[k * weights.len() / 3..];
        let names = ["sex=female", "sex=male"];
        assert!((own[2] - own[1] - shown).abs() < 0.01, "{names:?}: {own:?} and {shown}");
    }
    // With a reference, or as a contrast of a formula, there is nothing to join.
    let lda = scratch.done("fit penguins.csv -t species --features sex,bill_length_mm -m lda -q");
    assert!(lda.contains("  sex=male ") && !lda.contains(" vs female"), "{lda}");
}

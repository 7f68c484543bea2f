//! `linsep simulate`: rows and truth that fit together, whatever the kind, the threads and the place they go.

mod common;

use common::Scratch;
use linsep::artifact::Model;
use linsep::density::{Covariance, Densities, Density, Family, Gaussian, Marginal};
use serde_json::Value;

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap_or_else(|e| panic!("{e} in {}", String::from_utf8_lossy(text)))
}

fn text(scratch: &Scratch, name: &str) -> String {
    String::from_utf8(scratch.read(name)).expect("text")
}

/// Cells below the header.
fn cells(csv: &str) -> Vec<Vec<&str>> {
    csv.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

#[test]
fn rows_and_truth_are_written_together() {
    let scratch = Scratch::new();
    let line = "simulate gaussian --rows 300 --classes 3 --features 4 --priors 0.2,0.3,0.5 --distance 1.5 --correlation 0.25 --seed 9";
    let said = scratch.done(&format!("{line} -o data.csv"));
    assert!(said.contains("300 rows of 4 features in 3 classes, seed 9"), "{said}");
    assert!(said.contains("truth written to data.truth.json"), "{said}");
    assert_eq!(scratch.names(), ["data.csv", "data.truth.json"]);
    let data = text(&scratch, "data.csv");
    assert!(data.starts_with("x1,x2,x3,x4,class\n"));
    assert_eq!(cells(&data).len(), 300);
    let truth = json(&scratch.read("data.truth.json"));
    for (key, value) in [
        ("kind", serde_json::json!("gaussian")),
        ("rows", serde_json::json!(300)),
        ("seed", serde_json::json!(9)),
        ("classes", serde_json::json!(["0", "1", "2"])),
        ("features", serde_json::json!(["x1", "x2", "x3", "x4"])),
        ("priors", serde_json::json!([0.2, 0.3, 0.5])),
    ] {
        assert_eq!(truth[key], value, "{key}");
    }
    assert_eq!(truth["covariance"][0], serde_json::json!([1.0, 0.25, 0.25, 0.25]));
    assert_eq!(truth["means"].as_array().expect("means").len(), 3);
    assert_eq!(
        (truth["weights"].as_array().map(Vec::len), truth["intercept"].as_array().map(Vec::len)),
        (Some(3), Some(3))
    );
    assert_eq!(truth["bayes_error"]["method"], "monte_carlo");
    assert!(truth["bayes_error"]["standard_error"].as_f64().expect("a number") < 1e-3);
    // To standard output the same rows, and a truth only where it is asked for.
    assert_eq!(scratch.done(line), data);
    assert_eq!(scratch.done(&format!("{line} --truth t.json")), data);
    assert_eq!(json(&scratch.read("t.json")), truth);
    // The truth to standard output instead of the summary.
    assert_eq!(json(scratch.done(&format!("{line} -o again.csv --truth -")).as_bytes()), truth);
    assert_eq!(scratch.names(), ["again.csv", "data.csv", "data.truth.json", "t.json"]);
}

#[test]
fn threads_and_kinds_of_output_change_nothing() {
    let scratch = Scratch::new();
    for kind in ["gaussian", "poisson", "bernoulli", "logistic", "separable", "parity", "m-of-d"] {
        let one = scratch.done(&format!("simulate {kind} --rows 5000 --features 3 --threads 1"));
        scratch.done(&format!("simulate {kind} --rows 5000 --features 3 --threads 4 -o data.csv"));
        assert!(one == text(&scratch, "data.csv"), "{kind} depends on threads");
        assert_eq!(one.lines().count(), 5001);
        let other = scratch.done(&format!("simulate {kind} --rows 5000 --features 3 --seed 1"));
        assert!(one != other, "{kind} does not depend on the seed");
        assert!(other.lines().skip(1).all(|l| l.split(',').count() == 4));
    }
}

#[test]
fn truth_tables_are_listed() {
    let scratch = Scratch::new();
    assert_eq!(scratch.done("simulate parity"), "x1,x2,class\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n");
    assert_eq!(scratch.done("simulate m-of-d --m 1 --signs --dim 2"), "x1,x2,class\n-1,-1,0\n-1,1,1\n1,-1,1\n1,1,1\n");
    scratch.done("simulate m-of-d --features 5 -o m.csv");
    let truth = json(&scratch.read("m.truth.json"));
    assert_eq!((truth["m"].as_u64(), truth["rows"].as_u64()), (Some(3), Some(32)));
    assert_eq!(truth["intercept"], serde_json::json!([-2.5]));
    assert_eq!(truth["bayes_error"], serde_json::json!({"method": "closed_form", "value": 0.0}));
}

#[test]
fn a_truth_can_be_drawn_from() {
    let scratch = Scratch::new();
    for kind in ["gaussian", "poisson", "bernoulli"] {
        scratch.done(&format!("simulate {kind} --rows 2000 --seed 3 --classes 3 -o a.csv"));
        scratch.done("simulate --parameters a.truth.json --rows 2000 --seed 3 -o b.csv");
        assert!(scratch.read("a.csv") == scratch.read("b.csv"), "{kind}: the same classes and seed");
        let (mut a, mut b) = (json(&scratch.read("a.truth.json")), json(&scratch.read("b.truth.json")));
        a["kind"].take();
        b["kind"].take();
        assert_eq!(a, b);
    }
    scratch.write("k.json", r#"{"classes": ["no, never", "yes"], "features": ["size"], "means": [[0], [3]], "covariances": [[[1]], [[4]]]}"#);
    let rows = scratch.done("simulate --parameters k.json --rows 50");
    assert!(rows.starts_with("size,class\n") && rows.contains("\"no, never\""), "{rows}");
}

#[test]
fn a_fit_comes_near_the_truth() {
    let scratch = Scratch::new();
    scratch.done("simulate logistic --weights 1,-2 --intercept 0.5 --rows 20000 --seed 4 -o data.csv");
    let found = json(scratch.done("fit data.csv --target class --penalty none --json").as_bytes());
    let truth = json(&scratch.read("data.truth.json"));
    let number = |v: &Value| v.as_f64().expect("a number");
    for j in 0..2 {
        // Standard errors are near 0.03.
        assert!((number(&found["weights"][0][j]) - number(&truth["weights"][0][j])).abs() < 0.12);
    }
    assert!((number(&found["intercept"][0]) - number(&truth["intercept"][0])).abs() < 0.1);
}

/// A model file with densities of the test's choice.
fn with_density(scratch: &Scratch, fit: &str, density: impl FnOnce(&Model) -> Densities) {
    scratch.done(&format!("{fit} -o m.json"));
    let mut model = Model::load(&scratch.file("m.json")).expect("a model");
    model.density = Some(density(&model));
    model.save(&scratch.file("m.json")).expect("saved");
}

fn iris(model: &Model) -> Densities {
    let means = (0..model.classes.len()).map(|k| vec![k as f64, 10.0]).collect();
    let covariance = Covariance::Shared(vec![vec![1.0, 0.2], vec![0.2, 1.0]]);
    Densities { priors: vec![0.25, 0.25, 0.5], density: Density::Gaussian(Gaussian { means, covariance }) }
}

#[test]
fn rows_of_a_model_have_its_columns() {
    let scratch = Scratch::with_examples();
    with_density(&scratch, "fit iris.csv --target Species --features Sepal.Length,Petal.Width --model lda", iris);
    scratch.done("simulate --from m.json --rows 400 --seed 2 -o new.csv");
    let data = text(&scratch, "new.csv");
    assert!(data.starts_with("Sepal.Length,Petal.Width,Species\n"), "{}", &data[..60]);
    let virginica = cells(&data).iter().filter(|row| row[2] == "virginica").count();
    assert!((160..240).contains(&virginica), "{virginica} of 400 where half are expected");
    // The rows are good for the model they came from.
    assert!(scratch.done("evaluate m.json new.csv").contains("400 rows"));
    let truth = json(&scratch.read("new.truth.json"));
    assert_eq!(truth["features"], serde_json::json!(["Sepal.Length", "Petal.Width"]));
    // A model is never overwritten by the rows drawn from it.
    assert_eq!(scratch.run("simulate --from m.json -o m.json").code, 2);
}

#[test]
fn inspect_tells_what_is_known_of_the_classes() {
    let scratch = Scratch::with_examples();
    with_density(&scratch, "fit iris.csv --target Species --features Sepal.Length,Petal.Width --model lda", iris);
    let found = json(scratch.done("inspect m.json --json").as_bytes());
    let distance = found["mahalanobis"][0][2].as_f64().expect("a distance");
    // Means differ by 2 in the first column: 2·√(Σ⁻¹)₁₁ with (Σ⁻¹)₁₁ = 1/(1 − 0.2²).
    assert!((distance - 2.0 / 0.96f64.sqrt()).abs() < 1e-12, "{distance}");
    assert_eq!(found["bayes_error"]["method"], "monte_carlo");
    let said = scratch.done("inspect m.json");
    for words in
        ["Bayes error if the classes are as fitted: 0.", "standard error", "Mahalanobis distances", "virginica"]
    {
        assert!(said.contains(words), "`{words}` is not said in {said}");
    }
    // A model without densities has neither.
    scratch.done("fit iris.csv --target Species -o plain.json");
    let plain = json(scratch.done("inspect plain.json --json").as_bytes());
    assert!(plain["bayes_error"].is_null() && plain["mahalanobis"].is_null());
}

#[test]
fn text_columns_come_back_as_their_levels() {
    let scratch = Scratch::new();
    let table: String =
        (0..60).map(|i| format!("{},{},{}\n", i % 7, ["red", "blue, dark", "green"][i % 3], i % 2)).collect();
    scratch.write("t.csv", format!("x,kind,y\n{}", table.replace("blue, dark", "\"blue, dark\"")));
    // Logistic regression has an indicator for every level.
    with_density(&scratch, "fit t.csv --target y", |_| {
        let shares = vec![vec![0.1, 0.6, 0.3], vec![0.5, 0.25, 0.25]];
        let marginals = vec![
            Marginal { columns: vec![0], family: Family::Poisson { rate: vec![2.0, 5.0] } },
            Marginal { columns: vec![1, 2, 3], family: Family::Categorical { shares } },
        ];
        Densities { priors: vec![0.5, 0.5], density: Density::Independent { marginals } }
    });
    let rows = scratch.done("simulate --from m.json --rows 2000");
    assert!(rows.starts_with("x,kind,y\n"));
    // In byte order the levels are blue, green, red.
    let count = |level: &str| rows.lines().filter(|l| l.contains(level)).count();
    assert!(
        (520..680).contains(&count(",\"blue, dark\",")) && (770..930).contains(&count(",green,")),
        "{}",
        &rows[..200]
    );
    assert!((475..625).contains(&count(",red,")));
    // Gaussian indicators are no levels.
    with_density(&scratch, "fit t.csv --target y", |_| {
        let gaussian = Gaussian { means: vec![vec![0.0; 4], vec![1.0; 4]], covariance: Covariance::Spherical(1.0) };
        Densities { priors: vec![0.5, 0.5], density: Density::Gaussian(gaussian) }
    });
    let refused = scratch.run("simulate --from m.json");
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    assert!(
        refused.stderr.contains("text column `kind`") && refused.stderr.contains("--drop kind"),
        "{}",
        refused.stderr
    );
}

#[test]
fn every_generative_method_can_be_drawn_from_and_found_again() {
    let scratch = Scratch::with_examples();
    for method in ["lda", "qda", "spherical", "naive-bayes"] {
        scratch.done(&format!("fit iris.csv --target Species --model {method} -o m.json"));
        scratch.done("simulate --from m.json --rows 20000 --seed 1 -o new.csv");
        assert!(text(&scratch, "new.csv").starts_with("Sepal.Length,Sepal.Width,Petal.Length,Petal.Width,Species\n"));
        // The error of the model on its own rows is the Bayes error, within sampling error.
        let truth = json(&scratch.read("new.truth.json"))["bayes_error"].clone();
        let error = truth["value"].as_f64().expect("an error");
        let judged = json(scratch.done("evaluate m.json new.csv --json").as_bytes());
        let wrong = 1.0 - judged["accuracy"]["value"].as_f64().expect("a share");
        let deviation = (error * (1.0 - error) / 20_000.0).sqrt();
        assert!(
            (wrong - error).abs() < 4.0 * deviation + 4.0 * truth["standard_error"].as_f64().unwrap_or(0.0),
            "{method}: {wrong} {error}"
        );
        let inspected = json(scratch.done("inspect m.json --json").as_bytes());
        assert_eq!(
            inspected["bayes_error"]["value"].as_f64().map(|v| (v - error).abs() < 0.01),
            Some(true),
            "{method}"
        );
    }
    // Text columns are levels to naive Bayes, and missing cells are no more.
    scratch.done("fit penguins.csv --target species --drop year --model naive-bayes -o m.json");
    let rows = scratch.done("simulate --from m.json --rows 500");
    assert!(rows.starts_with("island,") && rows.lines().next().expect("a header").ends_with(",sex,species"), "{rows}");
    assert!(cells(&rows).iter().all(|r| ["Biscoe", "Dream", "Torgersen"].contains(&r[0])));
    assert!(cells(&rows).iter().all(|r| ["male", "female"].contains(&r[5])), "{rows}");
    // Products of columns cannot be undone.
    scratch.done("fit iris.csv --target Species --model lda --basis quadratic -o m.json");
    let refused = scratch.run("simulate --from m.json");
    assert!(refused.code == 2 && refused.stderr.contains("--basis"), "{}", refused.stderr);
}

#[test]
fn a_truth_is_known_to_a_fit() {
    let scratch = Scratch::new();
    scratch.done("simulate gaussian --rows 200 --classes 3 --seed 2 -o data.csv");
    scratch.done("fit data.csv --target class --model lda --parameters data.truth.json -o m.json");
    let (found, truth) =
        (json(scratch.done("inspect m.json --json").as_bytes()), json(&scratch.read("data.truth.json")));
    // Scores are the same up to what is common to all classes.
    let number = |v: &Value| v.as_f64().expect("a number");
    for k in 1..3 {
        for j in 0..2 {
            let [a, b] = [&found, &truth].map(|v| number(&v["weights"][k][j]) - number(&v["weights"][0][j]));
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
        let [a, b] = [&found, &truth].map(|v| number(&v["intercept"][k]) - number(&v["intercept"][0]));
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let scratch = Scratch::new();
    let mut command = scratch.command();
    command.args(["simulate", "gaussian", "--rows", "200000"]);
    let mut child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().expect("starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ends");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

//! What the sources of the course say, by their own numbers: each test failed, or could not be asked, before the item worked.

mod common;

use common::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in {text}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

fn near(found: f64, expected: f64, relative: f64, what: &str) {
    assert!((found - expected).abs() <= relative * expected.abs().max(1e-12), "{what}: {found}, expected {expected}");
}

/// The cells of a CSV below its header, by column name.
fn column(csv: &str, name: &str) -> Vec<String> {
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let at = header.iter().position(|h| *h == name).unwrap_or_else(|| panic!("no column {name} in {header:?}"));
    lines.map(|line| line.split(',').nth(at).expect("a cell").to_owned()).collect()
}

fn numbers(csv: &str, name: &str) -> Vec<f64> {
    column(csv, name).iter().map(|cell| cell.parse().expect("a number")).collect()
}

#[test]
fn spherical_classes_are_spherical_in_the_columns_as_they_are() {
    let scratch = Scratch::new();
    scratch.write("g.json", r#"{"means":[[0,0],[3.7,-1.3]],"variance":1}"#);
    scratch.done("simulate --parameters g.json --rows 4000 --seed 1 -o g.csv");
    scratch.done("fit g.csv -t class -m spherical -o m.json");
    let model = json(&scratch.done("inspect m.json --json"));
    let w: Vec<f64> = model["weights"][0].as_array().expect("weights").iter().map(number).collect();
    let means = &model["estimates"]["means"];
    let variance = number(&model["estimates"]["variance"]);
    // w = (μ₁ − μ₀)/σ²: parallel to the difference of the means, which σ²·diag(sd²) is not.
    for j in 0..2 {
        near(w[j] * variance, number(&means[1][j]) - number(&means[0][j]), 1e-10, "w σ²");
    }
    near(w[1] / w[0], -1.3 / 3.7, 0.05, "direction");
    // Asked for, standardising is said.
    let said = scratch.done("fit g.csv -t class -m spherical --standardize yes");
    assert!(said.starts_with("Gaussian classes with covariance σ²I of standardised columns"), "{said}");
}

#[test]
fn the_radius_of_a_squared_column_is_in_its_units() {
    let scratch = Scratch::new();
    let rows: String =
        (-300..=300).map(|i| format!("{},{}\n", f64::from(i) / 10.0, u8::from(i32::abs(i) > 120))).collect();
    scratch.write("b.csv", format!("x,c\n{rows}"));
    scratch.done("fit b.csv -t c --basis quadratic -o b.json");
    let boundary = json(&scratch.done("geometry b.json --json"));
    let points = boundary["boundaries"][0]["points"].as_array().expect("two points").clone();
    assert_eq!((boundary["features"].clone(), points.len()), (serde_json::json!(["x"]), 2));
    assert!(boundary["regions"].is_null(), "the region of |x| > 12 is not convex");
    let (low, high) = (number(&points[0]), number(&points[1]));
    near(low, -high, 1e-6, "symmetric");
    scratch.write("q.csv", "x\n11\n0\n-20\n");
    let csv = scratch.done("geometry b.json q.csv --projection");
    for ((x, radius), projection) in [11.0, 0.0, -20.0].iter().zip(numbers(&csv, "radius")).zip(numbers(&csv, "proj_x"))
    {
        let to = f64::min(f64::abs(x - low), f64::abs(x - high));
        near(radius, to, 1e-9, "radius");
        near(f64::abs(projection - x), to, 1e-9, "projection");
    }
    // No row within the radius is predicted otherwise, and one just beyond is.
    let radius = numbers(&csv, "radius")[0];
    scratch.write("r.csv", format!("x\n11\n{}\n{}\n", 11.0 + 0.999_999 * radius, 11.0 + 1.000_001 * radius));
    let predicted = column(&scratch.done("predict b.json r.csv"), "prediction");
    assert_eq!(predicted, ["0", "0", "1"]);
}

#[test]
fn several_columns_and_their_products_are_a_quadric() {
    let scratch = Scratch::with_examples();
    let columns = "--features bill_length_mm,bill_depth_mm";
    scratch.done(&format!("fit penguins.csv -t species {columns} --basis quadratic -o q.json"));
    let csv = scratch.done("geometry q.json penguins.csv --projection");
    let radius = numbers(&csv.replace(",,", ",nan,").replace(",,", ",nan,"), "radius");
    let (a, b) = (column(&csv, "proj_bill_length_mm"), column(&csv, "proj_bill_depth_mm"));
    assert!(!csv.contains("proj_bill_length_mm^2"), "a point has two coordinates");
    // Moved 0.99 of the way to the projection a row keeps its class, and 1.01 of it loses it.
    let table = String::from_utf8(scratch.read("penguins.csv")).expect("text");
    let (x, y) = (column(&table, "bill_length_mm"), column(&table, "bill_depth_mm"));
    let prediction = column(&csv, "prediction");
    let (mut moved, mut kept) = ("bill_length_mm,bill_depth_mm\n".to_owned(), Vec::new());
    for i in 0..x.len() {
        let cells = [&x[i], &y[i], &a[i], &b[i]].map(|c| c.parse::<f64>().ok());
        let [Some(x), Some(y), Some(a), Some(b)] = cells else { continue };
        near(f64::hypot(a - x, b - y), radius[i], 1e-9, "length of the way");
        for share in [0.99, 1.01] {
            moved.push_str(&format!("{},{}\n", x + share * (a - x), y + share * (b - y)));
        }
        kept.push(prediction[i].clone());
    }
    scratch.write("moved.csv", moved);
    let after = column(&scratch.done("predict q.json moved.csv"), "prediction");
    assert!(kept.len() > 300);
    for (i, class) in kept.iter().enumerate() {
        assert_eq!(&after[2 * i], class, "row {i} within its radius");
        assert_ne!(&after[2 * i + 1], class, "row {i} beyond it");
    }
}

#[test]
fn transformed_columns_have_no_radius() {
    let scratch = Scratch::with_examples();
    for flags in ["--transform quantile", "--basis poly:3"] {
        scratch.done(&format!("fit penguins.csv -t sex --features bill_length_mm,body_mass_g {flags} -o t.json"));
        let csv = scratch.done("geometry t.json penguins.csv");
        let header = csv.lines().next().expect("a header");
        assert!(header.contains("feature_distance") && !header.contains("radius"), "{flags}: {header}");
        assert!(!scratch.done("geometry t.json").contains("convex"), "{flags}");
        assert_eq!(scratch.run("geometry t.json penguins.csv --projection").code, 2, "{flags}");
    }
}

#[test]
fn true_priors_move_scores_and_the_intercept_shown() {
    let scratch = Scratch::new();
    scratch.done("simulate gaussian --rows 600 --priors 0.6,0.4 --distance 1.5 --seed 3 -o g.csv");
    for model in ["logistic", "lda", "naive-bayes --family gaussian-shared"] {
        scratch.done(&format!("fit g.csv -t class -m {model} -o plain.json"));
        scratch.done(&format!("fit g.csv -t class -m {model} --true-priors 0=0.9,1=0.1 -o moved.json"));
        let (plain, moved) =
            (json(&scratch.done("inspect plain.json --json")), json(&scratch.done("inspect moved.json --json")));
        let learned = plain["learned_priors"].as_array().expect("priors");
        let shift = (0.1 / number(&learned[1])).ln() - (0.9 / number(&learned[0])).ln();
        near(number(&moved["intercept"][0]) - number(&plain["intercept"][0]), shift, 1e-10, model);
        let csv = scratch.done("predict moved.json g.csv --scores --proba");
        let (score, p) = (numbers(&csv, "score_1"), numbers(&csv, "p_1"));
        for ((z, p), class) in score.iter().zip(&p).zip(column(&csv, "prediction")) {
            near(1.0 / (1.0 + (-z).exp()), *p, 1e-12, "σ(score)");
            assert_eq!(class == "1", *z > 0.0, "{model}: {z}");
        }
    }
}

#[test]
fn no_intercept_is_a_plane_through_the_origin() {
    let scratch = Scratch::new();
    scratch.done("simulate gaussian --rows 300 --distance 1 --seed 5 -o g.csv");
    let zero = "x1,x2\n0,0\n";
    scratch.write("zero.csv", zero);
    for model in [
        "logistic",
        "logistic --penalty none",
        "svm",
        "svm --loss squared-hinge",
        "least-squares",
        "sigmoid-ls",
        "pocket",
    ] {
        scratch.done(&format!("fit g.csv -t class -m {model} --intercept none -o m.json"));
        let score = numbers(&scratch.done("predict m.json zero.csv --scores"), "score_1");
        assert_eq!(score, [0.0], "{model}");
        assert_eq!(json(&scratch.done("inspect m.json --json"))["intercept"], serde_json::json!([0.0]), "{model}");
        scratch.done("verify m.json g.csv");
    }
    // Without a penalty units change nothing: scaled or not, the plane is the same.
    scratch.done("fit g.csv -t class --penalty none --intercept none -o a.json");
    scratch.done("fit g.csv -t class --penalty none --intercept none --standardize no -o b.json");
    let weights = |name: &str| json(&scratch.done(&format!("inspect {name} --json")))["weights"][0].clone();
    for j in 0..2 {
        near(number(&weights("a.json")[j]), number(&weights("b.json")[j]), 1e-6, "weight");
    }
}

#[test]
fn every_truth_is_read_back() {
    let scratch = Scratch::new();
    let kinds = [
        "gaussian --classes 3",
        "poisson",
        "bernoulli --distance 1",
        "logistic --weights 1,-2 --intercept 0.5 --correlation 0.3",
        "logistic --weights 1 --intercept -5 --x uniform:0,10",
        "separable --margin 0.25 --priors 0.3,0.7",
        "parity --features 3",
        "m-of-d --features 4 --m 2 --signs",
        "rings --classes 3 --noise 0.2",
        "moons",
        "gaussian --counts 30,10",
        "rings --counts 5,35",
    ];
    for kind in kinds {
        let rows = if kind.contains("--counts") { "" } else { " --rows 40" };
        scratch.done(&format!("simulate {kind}{rows} --seed 8 -o a.csv"));
        scratch.done(&format!("simulate --parameters a.truth.json{rows} --seed 8 -o b.csv"));
        assert_eq!(scratch.read("a.csv"), scratch.read("b.csv"), "{kind}");
        let (a, mut b) = (json(&text(&scratch, "a.truth.json")), json(&text(&scratch, "b.truth.json")));
        // Independent columns have no further name.
        b["kind"] = a["kind"].clone();
        assert_eq!(a, b, "{kind}");
    }
    // S0 §4.3: x ~ U(0,10), y ~ Bernoulli(σ(x − 5)).
    scratch.done("simulate logistic --weights 1 --intercept -5 --x uniform:0,10 --rows 20000 -o line.csv");
    let x = numbers(&text(&scratch, "line.csv"), "x1");
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64;
    assert!(x.iter().all(|x| (0.0..10.0).contains(x)));
    near(mean, 5.0, 0.02, "mean");
    near(variance, 100.0 / 12.0, 0.03, "variance");
    scratch.done("fit line.csv -t class --penalty none -o line.json");
    let beside = json(&scratch.done("inspect line.json --truth line.truth.json --json"));
    let found = |k: usize| (number(&beside["truth"][k]["truth"]), number(&beside["truth"][k]["estimate"]));
    assert_eq!(beside["truth"].as_array().map(Vec::len), Some(2));
    near(found(0).1, 1.0, 0.05, "weight");
    near(found(1).1, -5.0, 0.05, "intercept");
    scratch.done("simulate gaussian --classes 3 --rows 5 -o other.csv");
    scratch.done("simulate rings --rows 5 -o rings.csv");
    for (line, said) in [
        ("simulate logistic --x uniform:3,1", "there are no numbers between 3 and 1"),
        ("simulate logistic --x triangular:0,1", "is not a law of features"),
        ("simulate logistic --x uniform:0,1 --correlation 0.5", "standard normal"),
        ("simulate gaussian --x uniform:0,1", "--x does not belong to gaussian"),
        ("inspect line.json --truth other.truth.json", "of model and truth differ"),
    ] {
        let ran = scratch.run(line);
        assert!(ran.code == 2 && ran.stderr.contains(said), "{line}: {}", ran.stderr);
    }
}

fn text(scratch: &Scratch, name: &str) -> String {
    String::from_utf8(scratch.read(name)).expect("text")
}

#[test]
fn the_bound_of_a_perceptron_is_that_of_the_widest_plane() {
    let scratch = Scratch::new();
    let rows = "1,1\n".repeat(1000);
    scratch.write("p.csv", format!("x,c\n{rows}0,0\n"));
    // The planes θ = (2, −1)/√5 have y θ·x̃ = 1/√5 on both rows, R² = 2: no perceptron makes more than 10 mistakes.
    for flags in ["--update batch", "--order given"] {
        scratch.done(&format!("fit p.csv -t c -m perceptron {flags} --standardize no -o p.json"));
        let certificate = json(&scratch.done("inspect p.json --json"))["certificate"].clone();
        let bound = number(&certificate["bound"]);
        assert!((10.0..10.001).contains(&bound), "{flags}: {bound}");
        assert!(number(&certificate["mistakes"]) <= bound);
        scratch.done("verify p.json p.csv");
    }
}

#[test]
fn scores_without_probabilities_have_thresholds_of_their_own() {
    let scratch = Scratch::with_examples();
    let fit = "fit penguins.csv -t sex --features bill_length_mm,body_mass_g -m least-squares";
    let said = scratch.done(&format!("{fit} --threshold 0.5"));
    assert!(
        said.contains("`male` where its score is above zero, else `female`") && !said.contains("probability"),
        "{said}"
    );
    for model in ["least-squares", "svm", "perceptron --multiclass joint", "logistic", "lda"] {
        let model = if model.starts_with("perceptron") { "pocket" } else { model };
        scratch.done(&format!("fit penguins.csv -t sex --features bill_length_mm,body_mass_g -m {model} -o m.json"));
        let csv = scratch.done("predict m.json penguins.csv --scores --score-threshold 0.3");
        for (class, score) in column(&csv, "prediction").iter().zip(column(&csv, "score_male")) {
            let Ok(score) = score.parse::<f64>() else { continue };
            assert_eq!(class == "male", score > 0.3, "{model}: {score}");
        }
    }
    // The boundary moves with it.
    scratch.done(&format!("{fit} --score-threshold 0.3 -o m.json"));
    let csv = scratch.done("geometry m.json penguins.csv");
    let scores = numbers(&scratch.done("predict m.json penguins.csv --scores").replace(",\n", ",nan\n"), "score_male");
    let distances: Vec<f64> = column(&csv, "distance").iter().map(|d| d.parse().unwrap_or(f64::NAN)).collect();
    let ratio = (scores[0] - 0.3) / distances[0];
    for (z, d) in scores.iter().zip(&distances).filter(|(z, _)| !z.is_nan()) {
        near((z - 0.3) / d, ratio, 1e-9, "‖w‖");
    }
    for (flags, said) in [
        ("--score-threshold 1 --threshold 0.3", "exclude each other"),
        ("--score-threshold inf", "not a threshold of scores"),
        ("-m lda --score-threshold 1 -t species", "decides between two classes"),
    ] {
        let ran = scratch.run(
            &format!("fit penguins.csv --features bill_length_mm,body_mass_g -t sex {flags}")
                .replace("-t sex -m", "-m"),
        );
        assert!(ran.code == 2 && ran.stderr.contains(said), "{flags}: {}", ran.stderr);
    }
}

#[test]
fn separable_shows_the_plane_and_the_nearest_points() {
    let scratch = Scratch::new();
    scratch.write("s.csv", "x1,x2,c\n0,0,a\n1,0,a\n0,1,a\n3,3,b\n4,3,b\n3,5,b\n");
    let said = scratch.done("separable s.csv -t c");
    for part in ["y* (of a)", "x* (of b)", "x₀ midway", "(intercept)     -1.400"] {
        assert!(said.contains(part), "{part} is not in\n{said}");
    }
    let found = json(&scratch.done("separable s.csv -t c --json"));
    let points = &found["witness"]["points"];
    for (name, expected) in [("y", [0.5, 0.5]), ("x", [3.0, 3.0]), ("x0", [1.75, 1.75])] {
        for j in 0..2 {
            near(number(&points[name][j]), expected[j], 1e-6, name);
        }
    }
    // w = 2(x* − y*)/‖x* − y*‖² and w·x₀ + w₀ = 0.
    near(number(&found["plane"]["weights"][0][0]), 0.4, 1e-6, "w");
    near(number(&found["plane"]["intercept"]), -1.4, 1e-6, "w₀");
}

#[test]
fn a_given_plane_is_a_model() {
    let scratch = Scratch::new();
    // S0 exercise 14.
    scratch.write("e14.csv", "x1,x2,y\n0,0,-1\n2,2,-1\n2,0,1\n");
    let said = scratch.done("fit -m given --plane x1=1.2,x2=-3.2,(intercept)=-0.5 --classes -1,1 -t y -o plane.json");
    assert!(said.contains("Given plane, 2 classes: nothing was fitted"), "{said}");
    let csv = scratch.done("geometry plane.json e14.csv --functional");
    assert_eq!(column(&csv, "prediction"), ["-1", "-1", "1"]);
    for (found, expected) in numbers(&csv, "functional_margin").iter().zip([0.5, 4.5, 1.9]) {
        near(*found, expected, 1e-14, "y g(x)");
    }
    for (found, expected) in numbers(&csv, "margin").iter().zip([0.5, 4.5, 1.9]) {
        near(*found, expected / f64::hypot(1.2, 3.2), 1e-14, "y g(x)/‖w‖");
    }
    let data = json(&scratch.done("geometry plane.json e14.csv --json"))["data"]["margin"].clone();
    near(number(&data["functional"]), 0.5, 1e-14, "γ̃");
    let canonical = &data["canonical"];
    for (found, expected) in
        [(&canonical["factor"], 2.0), (&canonical["weights"][0][1], -6.4), (&canonical["intercept"][0], -1.0)]
    {
        near(number(found), expected, 1e-14, "(αw, αw₀)");
    }
    assert!(scratch.done("geometry plane.json e14.csv -o -").starts_with("prediction"));
    let evaluated = json(&scratch.done("evaluate plane.json e14.csv --json"));
    near(number(&evaluated["accuracy"]["value"]), 1.0, 1e-15, "accuracy");
    assert!(scratch.done("inspect plane.json").contains("(intercept)"));
    // It claims nothing, and has probabilities only where it is told so.
    assert!(scratch.run("verify plane.json e14.csv").stderr.contains("nothing to verify"));
    assert_eq!(scratch.run("predict plane.json e14.csv --proba").code, 2);
    scratch.done("fit -m given --plane x1=1.2,x2=-3.2,(intercept)=-0.5 --classes -1,1 --log-odds -o log.json");
    let p = numbers(&scratch.done("predict log.json e14.csv --proba"), "p_1");
    near(p[0], 1.0 / (1.0 + 0.5f64.exp()), 1e-14, "σ(−0.5)");
}

#[test]
fn a_plane_that_was_fitted_can_be_given() {
    let scratch = Scratch::new();
    scratch.done("simulate logistic --weights 1,-2 --intercept 0.5 --rows 500 --seed 4 -o data.csv");
    scratch.done("fit -m given --plane data.truth.json -o true.json");
    let error = json(&scratch.done("evaluate true.json data.csv --json"));
    assert!(number(&error["accuracy"]["value"]) > 0.7 && !error["log_loss"].is_null(), "{error}");
    // Several classes, one plane each, in any order.
    scratch.done("simulate gaussian --classes 3 --rows 400 --seed 4 -o three.csv");
    scratch.done("fit three.csv -t class -m lda -o lda.json");
    let model = json(&scratch.done("inspect lda.json --json"));
    let mut planes = String::new();
    for k in [2, 0, 1] {
        let (w, b) = (&model["weights"][k], &model["intercept"][k]);
        planes.push_str(&format!(" --plane '{k}: x1={},x2={},(intercept)={b}'", w[0], w[1]));
    }
    scratch.done(&format!("fit -m given{planes} --classes 0,1,2 -o given.json"));
    let predictions = |name: &str| column(&scratch.done(&format!("predict {name} three.csv")), "prediction");
    assert_eq!(predictions("given.json"), predictions("lda.json"));
    assert_eq!(
        numbers(&scratch.done("geometry given.json three.csv"), "radius").len(),
        numbers(&scratch.done("geometry lda.json three.csv"), "radius").len()
    );
    // A truth of classes is their best rule, also where it is curved, and also of counts.
    for (kind, model) in [("poisson --distance 1", "poisson"), ("bernoulli --distance 1", "bernoulli")] {
        scratch.done(&format!("simulate {kind} --rows 300 --seed 2 -o c.csv"));
        scratch.done("fit -m given --parameters c.truth.json -o best.json");
        let truth = json(&text(&scratch, "c.truth.json"));
        let shown = json(&scratch.done("inspect best.json --json"));
        near(number(&shown["weights"][0][0]), number(&truth["weights"][0][0]), 1e-12, model);
        assert!(
            numbers(&scratch.done("predict best.json c.csv --proba"), "p_1").iter().all(|p| (0.0..=1.0).contains(p))
        );
    }
}

#[test]
fn curved_given_classes_have_the_posteriors_of_their_densities() {
    let scratch = Scratch::new();
    scratch.write("one.json", r#"{"priors":[0.3,0.7],"means":[[1],[-2]],"covariances":[[[4]],[[1]]]}"#);
    let marginal = r#"{"classes":["0","1"],"priors":[0.3,0.7],"marginals":[{"columns":[0],"family":"gaussian","mean":[1,-2],"variance":[4,1]}]}"#;
    scratch.write("two.json", marginal);
    scratch.write("x.csv", "x1\n-5\n-2\n0\n1.5\n40\n");
    for file in ["one.json", "two.json"] {
        scratch.done(&format!("fit -m given --parameters {file} -o m.json"));
        let p = numbers(&scratch.done("predict m.json x.csv --proba"), "p_1");
        for (x, p) in [-5.0f64, -2.0, 0.0, 1.5, 40.0].iter().zip(p) {
            let odds = (0.7f64 / 0.3).ln() - 0.5 * (x + 2.0).powi(2) + 0.5 * (x - 1.0).powi(2) / 4.0 + 2.0f64.ln();
            near(p, 1.0 / (1.0 + (-odds).exp()), 1e-12, file);
        }
        // Two cut-offs where the variances differ: 0.7 N(x; −2, 1) = 0.3 N(x; 1, 4).
        let found = json(&scratch.done("geometry m.json --json"))["boundaries"][0]["points"].clone();
        for point in found.as_array().expect("two points") {
            let x = number(point);
            let densities = 0.7 * (-0.5 * (x + 2.0).powi(2)).exp() - 0.3 * (-(x - 1.0).powi(2) / 8.0).exp() / 2.0;
            assert!(densities.abs() < 1e-12, "{file}: {x}");
        }
    }
}

#[test]
fn bad_rules_are_refused() {
    let scratch = Scratch::new();
    scratch.write("d.csv", "x1,y\n0,a\n1,b\n");
    scratch.write("bad.json", r#"{"weights": [[1]]}"#);
    scratch.write("two.json", r#"{"weights": [[1], [2]], "intercept": [0, 1]}"#);
    for (line, said) in [
        ("fit -m given", "needs a rule"),
        ("fit -m given --plane x1", "there is no such file"),
        ("fit -m given --plane x1=one", "is not a weight of a column"),
        ("fit -m given --plane x1=1,x1=2", "is given twice"),
        ("fit -m given --plane (intercept)=1", "names no column"),
        ("fit -m given --plane x1=1 --classes a,b,c", "1 planes for 3 classes"),
        ("fit -m given --plane x1=1 --classes a,a", "is named twice"),
        ("fit -m given --plane a:x1=1 --plane b:x1=2", "two classes have one plane"),
        ("fit -m given --plane x1=1 --plane x1=2 --plane x1=3", "each needs its class"),
        ("fit -m given --plane a:x1=1 --plane b:x1=2 --plane c:x1=3 --classes a,b,d", "no plane for class `d`"),
        ("fit -m given --plane bad.json", "states no rule"),
        ("fit -m given --plane two.json", "2 planes for 2 classes"),
        ("fit -m given --plane x1=1 --parameters bad.json", "both state the rule"),
        ("fit d.csv -m given --plane x1=1", "learns from no table"),
        ("fit -m given --plane x1=1 --penalty none", "does not belong to --model given"),
        ("fit d.csv -t y --plane x1=1", "belongs to --model given"),
        ("fit -t y", "no table is named"),
        ("fit -m given --plane x1=1 --threshold 0.2", "need probabilities"),
    ] {
        let ran = scratch.run(line);
        assert!(ran.code == 2 || ran.code == 1, "{line}: {}", ran.code);
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
    }
    // A plane for columns that a table does not have.
    scratch.done("fit -m given --plane z=1 -o z.json");
    let ran = scratch.run("predict z.json d.csv");
    assert!(ran.code != 0 && ran.stderr.contains('z'), "{}", ran.stderr);
}

#[test]
fn what_was_estimated_is_shown() {
    let scratch = Scratch::with_examples();
    let columns = "--features Petal.Length,Petal.Width";
    // S4: w_i = Σ⁻¹μ_i, with the numbers of the table itself.
    scratch.done(&format!("fit iris.csv -t Species {columns} -m lda -o lda.json"));
    let lda = json(&scratch.done("inspect lda.json --json"));
    let (means, sigma) = (&lda["estimates"]["means"], &lda["estimates"]["covariance"]);
    for k in 0..3 {
        let form = &lda["discriminants"][k];
        let mut squared = 0.0;
        for i in 0..2 {
            let product: f64 = (0..2).map(|j| number(&sigma[i][j]) * number(&form["w"][j])).sum();
            near(product, number(&means[k][i]), 1e-9, "Σ w = μ");
            squared += number(&means[k][i]) * number(&form["w"][i]);
        }
        near(number(&form["w0"]), (1.0f64 / 3.0).ln() - 0.5 * squared, 1e-9, "w₀");
        // Differences are those of the centred scores, which decide.
        let difference = number(&form["w"][0]) - number(&lda["discriminants"][0]["w"][0]);
        near(difference + 1.0, number(&lda["weights"][k][0]) - number(&lda["weights"][0][0]) + 1.0, 1e-9, "w_k − w_0");
    }
    let said = scratch.done("inspect lda.json");
    for part in ["priors and means of the classes", "prior", "covariance of all classes", "w_k = Σ⁻¹μ_k", "w_k0"] {
        assert!(said.contains(part), "{part}");
    }
    // S0 thm 6: W_i = −½Σ_i⁻¹.
    scratch.done(&format!("fit iris.csv -t Species {columns} -m qda -o qda.json"));
    let qda = json(&scratch.done("inspect qda.json --json"));
    for k in 0..3 {
        let (form, sigma) = (&qda["discriminants"][k]["W"], &qda["estimates"]["covariances"][k]);
        for i in 0..2 {
            for j in 0..2 {
                let product: f64 = (0..2).map(|l| -2.0 * number(&form[i][l]) * number(&sigma[l][j])).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-9, "−2WΣ = I");
            }
        }
    }
    assert!(scratch.done("inspect qda.json").contains("W_k = −½Σ_k⁻¹"));
    // Naive Bayes: the estimated probabilities and rates.
    scratch.done("simulate bernoulli --distance 1 --rows 200 -o b.csv");
    scratch.done("fit b.csv -t class -m naive-bayes --family bernoulli --smoothing 0 -o nb.json");
    let table = text(&scratch, "b.csv");
    let (x, y) = (numbers(&table, "x1"), column(&table, "class"));
    let of = |class: &str| {
        let own: Vec<f64> = x.iter().zip(&y).filter(|(_, y)| *y == class).map(|(x, _)| *x).collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    let nb = json(&scratch.done("inspect nb.json --json"));
    for (k, class) in ["0", "1"].iter().enumerate() {
        near(number(&nb["estimates"]["marginals"][0]["p"][k]), of(class), 1e-12, "p");
    }
    assert!(scratch.done("inspect nb.json").contains("x1, p"));
    let beside = scratch.done("inspect nb.json --truth b.truth.json");
    assert!(
        beside.contains("x1, p in 0") && beside.contains("prior of 1") && beside.contains("weight of x1"),
        "{beside}"
    );
}

#[test]
fn quadrics_have_axes_and_circles_their_name() {
    let scratch = Scratch::new();
    // S0 exercise 7: inverse covariances whose difference has the eigenvalues ±√2.
    let inverse = |a: f64, b: f64, d: f64| {
        let determinant = a * d - b * b;
        format!("[[{},{}],[{},{}]]", d / determinant, -b / determinant, -b / determinant, a / determinant)
    };
    let file =
        format!(r#"{{"means":[[0,0],[1,0]],"covariances":[{},{}]}}"#, inverse(4.0, 2.0, 3.0), inverse(5.0, 1.0, 2.0));
    scratch.write("e7.json", file);
    scratch.done("fit -m given --parameters e7.json -o e7-model.json");
    let boundary = json(&scratch.done("geometry e7-model.json --json"))["boundaries"][0].clone();
    let mut values: Vec<f64> = boundary["eigenvalues"].as_array().expect("two").iter().map(number).collect();
    values.sort_by(f64::total_cmp);
    near(values[0], -2.0f64.sqrt(), 1e-12, "−√2");
    near(values[1], 2.0f64.sqrt(), 1e-12, "√2");
    assert_eq!(boundary["type"], "hyperbola");
    assert!(scratch.done("geometry e7-model.json").contains("eigenvalue of W"));
    // Concentric classes of variances 1 and 4: r² = 2·ln 4/(1 − 1/4) about their mean.
    scratch.write("ring.json", r#"{"means":[[3,-1],[3,-1]],"covariances":[[[1,0],[0,1]],[[4,0],[0,4]]]}"#);
    scratch.done("fit -m given --parameters ring.json -o ring-model.json");
    let boundary = json(&scratch.done("geometry ring-model.json --json"))["boundaries"][0].clone();
    assert_eq!(boundary["type"], "circle");
    for j in 0..2 {
        near(number(&boundary["half_axes"][j]), (2.0 * 4.0f64.ln() / 0.75).sqrt(), 1e-12, "radius");
        near(number(&boundary["middle"][j]), [3.0, -1.0][j], 1e-12, "centre");
    }
}

/// The rows of a trace: objective, gradient norm, step, and the coefficients.
fn trace(scratch: &Scratch, name: &str) -> Vec<Vec<f64>> {
    let csv = text(scratch, name);
    csv.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().expect("a number")).collect()).collect()
}

#[test]
fn gradient_descent_takes_the_steps_it_is_told() {
    let scratch = Scratch::new();
    scratch.done("simulate logistic --weights 1 --intercept -5 --x uniform:0,10 --rows 200 --seed 2 -o line.csv");
    let table = text(&scratch, "line.csv");
    let (x, y) = (numbers(&table, "x1"), numbers(&table, "class"));
    // S0 (80) in a loop of its own: θ ← θ − η/n Σ (σ(θ·x̃) − y) x̃, from a given start.
    scratch.done("fit -m given --plane x1=0.1,(intercept)=-0.2 -o start.json");
    let ran = scratch.run("fit line.csv -t class --penalty none --standardize no --solver gradient-descent --step 0.05 --init start.json --max-iter 50 --trace t.csv");
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stdout.contains("NOT CONVERGED (iteration limit)"), "{}", ran.stdout);
    let steps = trace(&scratch, "t.csv");
    assert_eq!(steps.len(), 51);
    let (mut w, mut b) = (0.1, -0.2);
    for (i, step) in steps.iter().enumerate() {
        near(step[4], w, 1e-9, "w");
        near(step[5], b, 1e-9, "w₀");
        let error = |j: usize| 1.0 / (1.0 + (-(w * x[j] + b)).exp()) - y[j];
        let n = x.len() as f64;
        let gradient = (0..x.len()).map(|j| error(j) * x[j]).sum::<f64>() / n;
        let intercept = (0..x.len()).map(error).sum::<f64>() / n;
        near(step[2], f64::hypot(gradient, intercept), 1e-8, "‖∇F‖");
        let loss = |j: usize| -> f64 { ((1.0 - 2.0 * y[j]) * (w * x[j] + b)).exp().ln_1p() };
        near(step[1], (0..x.len()).map(loss).sum::<f64>() / n, 1e-9, "F");
        near(step[3], if i == 0 { 0.0 } else { 0.05 }, 1e-15, "η");
        (w, b) = (w - 0.05 * gradient, b - 0.05 * intercept);
    }
    // Left to itself it reaches the maximum of the likelihood, and says so with a proof.
    scratch.done("fit line.csv -t class --penalty none --solver gradient-descent -o gd.json");
    scratch.done("fit line.csv -t class --penalty none -o newton.json --trace n.csv");
    let weights = |name: &str| number(&json(&scratch.done(&format!("inspect {name} --json")))["weights"][0][0]);
    near(weights("gd.json"), weights("newton.json"), 1e-5, "the same maximum");
    let proof = json(&scratch.done("inspect gd.json --json"))["certificate"]["kind"].clone();
    assert_eq!(proof, "self_concordance");
    scratch.done("verify gd.json line.csv");
    // Newton's iterates are those of reweighted least squares: few, and the last is the model's.
    let steps = trace(&scratch, "n.csv");
    assert!((3..20).contains(&steps.len()), "{}", steps.len());
    near(steps[steps.len() - 1][4], weights("newton.json"), 1e-6, "the last iterate");
    // Steps that are too long are not hidden.
    let ran = scratch.run(
        "fit line.csv -t class --penalty none --standardize no --solver gradient-descent --step 1e6 --max-iter 30",
    );
    assert!(ran.code == 3 && ran.stdout.contains("NOT CONVERGED"), "{}", ran.stdout);
}

#[test]
fn softmax_descends_and_separated_rows_have_no_end() {
    let scratch = Scratch::new();
    scratch.done("simulate gaussian --classes 3 --distance 1 --rows 300 --seed 6 -o three.csv");
    scratch.done("fit three.csv -t class --penalty none --solver gradient-descent -o gd.json --trace t.csv");
    scratch.done("fit three.csv -t class --penalty none -o newton.json");
    let objective = |name: &str| number(&json(&scratch.done(&format!("inspect {name} --json")))["objective"]);
    near(objective("gd.json"), objective("newton.json"), 1e-7, "the same maximum");
    assert!(text(&scratch, "t.csv").starts_with("iteration,objective,gradient_norm,step,1:x1,1:x2,1:(intercept),2:x1"));
    let steps = trace(&scratch, "t.csv");
    assert!(steps.windows(2).all(|w| w[1][1] <= w[0][1] + 1e-12), "the objective falls");
    scratch.done("simulate separable --rows 50 -o apart.csv");
    let ran = scratch.run("fit apart.csv -t class --penalty none --solver gradient-descent --max-iter 100");
    assert!(ran.code == 1 && ran.stdout.contains("Maximum likelihood does not exist"), "{}", ran.stdout);
    for (line, said) in [
        ("fit apart.csv -t class --solver newton --step 0.1", "steps along a gradient"),
        ("fit apart.csv -t class --solver gradient-descent --step 0", "is not positive"),
        ("fit apart.csv -t class -m lda --trace x.csv", "has no steps to follow"),
        ("fit apart.csv -t class --trace apart.csv", "apart.csv"),
        ("fit apart.csv -t class --trace no/such/t.csv", "no/such"),
    ] {
        let ran = scratch.run(line);
        assert!(ran.code != 0 && ran.stderr.contains(said), "{line}: {} {}", ran.code, ran.stderr);
    }
}

#[test]
fn classes_have_the_rows_that_are_asked_for() {
    let scratch = Scratch::new();
    // S0 §2.3: 100 and 100 rows.
    scratch.done("simulate gaussian --counts 100,100 --distance 3 --seed 1 -o g.csv");
    let class = column(&text(&scratch, "g.csv"), "class");
    assert!(class.len() == 200 && class[..100].iter().all(|c| c == "0") && class[100..].iter().all(|c| c == "1"));
    let truth = json(&text(&scratch, "g.truth.json"));
    assert_eq!((&truth["counts"], &truth["priors"]), (&serde_json::json!([100, 100]), &serde_json::json!([0.5, 0.5])));
    // Across blocks of random numbers, too.
    scratch.done("simulate poisson --counts 1500,700,3 --seed 1 -o p.csv");
    let class = column(&text(&scratch, "p.csv"), "class");
    assert_eq!(["0", "1", "2"].map(|k| class.iter().filter(|c| *c == k).count()), [1500, 700, 3]);
    // Rings have their radii, and no plane; with squares nearly all are right.
    scratch.done("simulate rings --rows 400 --noise 0.05 --seed 2 -o r.csv");
    let table = text(&scratch, "r.csv");
    let (x, y, class) = (numbers(&table, "x1"), numbers(&table, "x2"), column(&table, "class"));
    for i in 0..x.len() {
        let radius = f64::hypot(x[i], y[i]);
        assert!((radius - if class[i] == "0" { 1.0 } else { 2.0 }).abs() < 0.4, "{radius}");
    }
    let accuracy = |flags: &str| {
        scratch.done(&format!("fit r.csv -t class {flags} -o m.json"));
        number(&json(&scratch.done("inspect m.json --json"))["training"]["accuracy"])
    };
    assert!(accuracy("") < 0.7 && accuracy("--basis quadratic") > 0.99);
    let boundary = json(&scratch.done("geometry m.json --json"))["boundaries"][0].clone();
    for j in 0..2 {
        near(number(&boundary["half_axes"][j]), 1.5, 0.1, "between the rings");
    }
    for (line, said) in [
        ("simulate gaussian --counts 3,0", "a class without rows"),
        ("simulate gaussian --counts 3,4 --classes 3", "2 counts for 3 classes"),
        ("simulate gaussian --counts 3,4 --rows 7", "cannot be used with"),
        ("simulate moons --counts 3,4,5", "there are two"),
        ("simulate rings --noise -1", "standard deviation"),
        ("simulate gaussian --noise 1", "--noise does not belong to gaussian"),
    ] {
        let ran = scratch.run(line);
        assert!(ran.code == 2 && ran.stderr.contains(said), "{line}: {}", ran.stderr);
    }
}

/// S0 exercise 14: the points and the plane have these sides (A7), drawn again from the truth with the same table.
#[test]
fn labels_without_noise_are_the_sides_of_the_given_plane() {
    let scratch = Scratch::with_examples();
    let drawn = scratch.done("simulate plane --weights 1.2,-3.2 --intercept -0.5 --x points.csv -o labelled.csv");
    assert!(drawn.contains("Bayes error  0 (closed form)"), "{drawn}");
    let rows = String::from_utf8(scratch.read("labelled.csv")).expect("text");
    assert_eq!(rows, "x1,x2,class\n0,0,0\n2,2,0\n2,0,1\n");
    let again = scratch.done("simulate --parameters labelled.truth.json --x points.csv");
    assert_eq!(again, rows);
    let refused = scratch.run("simulate --parameters labelled.truth.json");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("points.csv"), "{}", refused.stderr);
    // The plane of the truth is a model that makes no mistake on them.
    scratch.done("fit --model given --parameters labelled.truth.json -o plane.json");
    let judged = json(&scratch.done("evaluate plane.json labelled.csv --json"));
    near(number(&judged["accuracy"]["value"]), 1.0, 0.0, "accuracy");
}

/// A4: the law of x is the one asked for, and every law is read back from its truth (the same rows).
#[test]
fn laws_of_features_are_drawn_and_read_back() {
    let scratch = Scratch::new();
    for (law, mean, variance) in [
        ("normal", 0.0, 1.0),
        ("normal:3,2", 3.0, 4.0),
        ("uniform:0,6", 3.0, 3.0),
        // ¼·(−2) + ¾·4 and ¼(1 + 4.5²) + ¾(¼ + 1.5²).
        ("mixture:-2,1,0.25;4,0.5,0.75", 2.5, 7.1875),
    ] {
        for kind in ["logistic", "plane"] {
            let line = format!("simulate {kind} --weights 1,-1 --x '{law}' --rows 4000 --seed 3");
            scratch.done(&format!("{line} -o s.csv"));
            let rows = String::from_utf8(scratch.read("s.csv")).expect("text");
            for column in ["x1", "x2"] {
                let x = numbers(&rows, column);
                let n = x.len() as f64;
                let m = x.iter().sum::<f64>() / n;
                let v = x.iter().map(|x| (x - m) * (x - m)).sum::<f64>() / n;
                assert!((m - mean).abs() < 5.0 * (variance / n).sqrt(), "{law}: mean {m}");
                assert!((v / variance - 1.0).abs() < 0.12, "{law}: variance {v}");
            }
            assert_eq!(scratch.done("simulate --parameters s.truth.json --rows 4000 --seed 3"), rows, "{law}");
            scratch.done("study --parameters s.truth.json --model lda --rows 60 --samples 2");
        }
    }
}

/// Fixed counts of the logistic law move the intercept as the truth says: the fit on many rows is near it, the weight as before.
#[test]
fn fixed_counts_of_the_logistic_law_shift_the_intercept() {
    let scratch = Scratch::new();
    scratch.done("simulate logistic --weights 1.5 --intercept 1 --counts 15000,5000 --seed 2 -o c.csv");
    let truth = json(&String::from_utf8(scratch.read("c.truth.json")).expect("text"));
    scratch.done("fit c.csv -t class --penalty none -o m.json");
    let fit = json(&scratch.done("inspect m.json --json"));
    near(number(&fit["weights"][0][0]), 1.5, 0.04, "weight");
    near(number(&fit["intercept"][0]), number(&truth["sample_intercept"]), 0.06, "intercept");
    assert!((number(&fit["intercept"][0]) - 1.0).abs() > 0.5, "the intercept is not that of the law");
}

/// O7, O8 (S2 §8.1.5): identities of the smallest losses, and that the true model attains them on many rows.
#[test]
fn ideal_losses_are_those_of_the_true_probabilities() {
    let scratch = Scratch::new();
    for line in
        ["gaussian --distance 1.5 --priors 0.3,0.7", "logistic --weights 2,-1 --intercept 0.5", "poisson --distance 1"]
    {
        scratch.done(&format!("simulate {line} --rows 40000 --seed 5 -o s.csv"));
        let truth = json(&String::from_utf8(scratch.read("s.truth.json")).expect("text"));
        scratch.done("fit --model given --parameters s.truth.json -o true.json");
        let judged = json(&scratch.done("evaluate true.json s.csv --json"));
        let entropy = number(&truth["ideal_cross_entropy"]["value"]);
        near(number(&judged["log_loss"]["value"]), entropy, 0.03, line);
        // E p(1−p) ≤ E min(p, 1−p) ≤ 2 E p(1−p), row by row.
        let (squared, error) = (number(&truth["ideal_squared_error"]["value"]), number(&truth["bayes_error"]["value"]));
        assert!(squared <= error * 1.01 && error <= 2.0 * squared * 1.01, "{line}: {squared} {error}");
    }
    // Classes at one place: p is the prior everywhere.
    scratch.write("same.json", r#"{"means":[[0],[0]],"variance":1,"priors":[0.2,0.8]}"#);
    scratch.done("simulate --parameters same.json -o same.csv --rows 10");
    let truth = json(&String::from_utf8(scratch.read("same.truth.json")).expect("text"));
    near(number(&truth["ideal_squared_error"]["value"]), 0.16, 1e-15, "p(1−p)");
    near(number(&truth["ideal_cross_entropy"]["value"]), -(0.2 * 0.2f64.ln() + 0.8 * 0.8f64.ln()), 1e-15, "H(p)");
}

/// A11: a class on both sides of another is separated by no plane, and its best rule errs as the integral says.
#[test]
fn classes_of_several_parts_have_the_error_of_their_mixtures() {
    let scratch = Scratch::with_examples();
    scratch.done("simulate --parameters clusters.json --rows 2000 --seed 1 -o c.csv");
    let truth = json(&String::from_utf8(scratch.read("c.truth.json")).expect("text"));
    // ½ min(φ(x), ½φ(x+4) + ½φ(x−4)) integrated: by the trapezoidal rule.
    let phi = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let error: f64 = (-12000..=12000)
        .map(|i| f64::from(i) / 1000.0)
        .map(|x| 0.001 * (0.5 * phi(x)).min(0.25 * (phi(x + 4.0) + phi(x - 4.0))))
        .sum();
    let stated = &truth["bayes_error"];
    assert!((number(&stated["value"]) - error).abs() < 5.0 * number(&stated["standard_error"]), "{error} {stated}");
    assert_eq!(scratch.run("separable c.csv -t class").code, 1);
    let rows = scratch.done("simulate --parameters c.truth.json --rows 2000 --seed 1");
    assert_eq!(rows.into_bytes(), scratch.read("c.csv"));
    let outside: Vec<f64> = numbers(&String::from_utf8(scratch.read("c.csv")).expect("text"), "x1");
    assert!(outside.iter().any(|x| *x > 3.0) && outside.iter().any(|x| *x < -3.0));
}

/// F6, F7, F10 (S0 thm 7, fig. 22, (46)–(47)): one population by hand, and the identity μ̃ − x̄ = (Σ/n)(Σ_θ + Σ/n)⁻¹(μ_θ − x̄).
#[test]
fn one_population_is_estimated_without_classes() {
    let scratch = Scratch::with_examples();
    scratch.write("three.csv", "x\n1\n2\n6\nNA\n");
    let found = json(&scratch.done("estimate three.csv --json"));
    assert_eq!((found["mean"][0].as_f64(), found["covariance"][0][0].as_f64()), (Some(3.0), Some(7.0)));
    assert_eq!((found["rows"].as_u64(), found["used"].as_u64()), (Some(4), Some(3)));
    let mle = json(&scratch.done("estimate three.csv --json --covariance mle"));
    near(number(&mle["covariance"][0][0]), 14.0 / 3.0, 1e-15, "÷n");
    // Known variance 3, prior N(0, 1): three rows weigh as much as the prior, so the mean is halfway and its variance ½.
    scratch.write("k.json", r#"{"features":["x"],"covariance":[[3]],"mean_prior":{"mean":[0],"covariance":[[1]]}}"#);
    let after = json(&scratch.done("estimate three.csv --parameters k.json --json"));
    near(number(&after["posterior_mean"][0]), 1.5, 1e-15, "posterior mean");
    near(number(&after["posterior_covariance"][0][0]), 0.5, 1e-15, "posterior variance");
    // Fig. 22: the estimates approach the truth as rows are added.
    let mut distances = Vec::new();
    for n in [10, 100, 10000] {
        scratch.done(&format!("simulate --parameters population.json --rows {n} --seed 4 -o one.csv"));
        let found = json(&scratch.done("estimate one.csv --truth one.truth.json --json"));
        let beside = found["truth"].as_array().expect("a list");
        assert_eq!(beside.len(), 5);
        let far = |c: &Value| (number(&c["truth"]) - number(&c["estimate"])).powi(2);
        distances.push(beside.iter().map(far).sum::<f64>());
    }
    assert!(distances[2] < 1e-3 && distances[2] < distances[0], "{distances:?}");
}

/// F10: the posterior covariance of the mean of a class is `inspect`'s, and by hand for one column.
#[test]
fn the_posterior_covariance_of_a_class_mean_is_shown() {
    let scratch = Scratch::new();
    scratch.write("d.csv", "x,y\n0,a\n2,a\n4,a\n10,b\n13,b\n");
    scratch.write("k.json", r#"{"features":["x"],"classes":["a","b"],"mean_prior":{"mean":[5],"covariance":[[2]]}}"#);
    scratch.done("fit d.csv -t y -m qda --parameters k.json -o m.json");
    let covariances = json(&scratch.done("inspect m.json --json"))["estimates"]["posterior_covariances"].clone();
    // Σ_a/n = 4/3 and Σ_b/n = 9/4; Σ̃ = 2s/(2 + s).
    for (k, s) in [(0, 4.0 / 3.0), (1, 4.5 / 2.0)] {
        near(number(&covariances[k][0][0]), 2.0 * s / (2.0 + s), 1e-14, "Σ̃");
    }
    assert!(scratch.done("inspect m.json").contains("covariance of the mean of a after the rows"));
}

/// The widest plane of separable rows is not given away by the first two of them.
#[test]
fn separable_rows_do_not_begin_with_their_answer() {
    let scratch = Scratch::new();
    let mut first = 0;
    for seed in 0..12 {
        scratch.done(&format!("simulate separable --rows 40 --margin 0.3 --seed {seed} -o s.csv"));
        let found = json(&scratch.done("separable s.csv -t class --json"));
        near(number(&found["margin"]), 0.3, 1e-9, "margin");
        let head: String =
            String::from_utf8(scratch.read("s.csv")).expect("text").lines().take(3).collect::<Vec<_>>().join("\n");
        scratch.write("two.csv", head + "\n");
        let two = scratch.run("separable two.csv -t class --json");
        let planted = two.code == 0 && (number(&json(&two.stdout)["margin"]) - 0.3).abs() < 1e-9;
        first += u32::from(planted);
    }
    assert!(first <= 2, "{first} of 12 begin with the two rows that face each other");
}

/// A17: so many quantiles as asked for; verify learns them again.
#[test]
fn the_number_of_quantiles_is_chosen() {
    let scratch = Scratch::with_examples();
    let line = "fit penguins.csv -t sex --features body_mass_g,bill_length_mm --transform quantile --quantiles 100";
    let said = scratch.done(&format!("{line} -o m.json"));
    assert!(said.contains("(100 quantiles)"), "{said}");
    scratch.done("verify m.json penguins.csv");
}

/// L2, L3, L8 (S0 def. 5 (91), (95), (98)): 1000 rows at x = 1 and one at x = 0. The bound is R²/γ*² = 10; the mean needs 2 updates,
/// the sum of all rows on the wrong side with a constant step 1001, and with the step (98) the bound holds again.
#[test]
fn sums_of_rows_are_not_bounded_by_the_theorem_but_means_are() {
    let scratch = Scratch::new();
    scratch.write("many.csv", format!("x,y\n{}0,m\n", "1,p\n".repeat(1000)));
    let fit = "fit many.csv -t y -m perceptron --standardize no";
    for (flags, updates, claimed) in [
        ("--update batch", 2, true),
        ("--update sum", 1001, false),
        ("--update sum --step best", 10, false),
        ("--update batch --step best", 10, false),
        ("--order given", 10, true),
    ] {
        let said = scratch.done(&format!("{fit} {flags} -o m.json --trace t.csv"));
        let trace = text(&scratch, "t.csv");
        let made = trace.lines().count() - 2;
        match updates {
            10 => assert!(made <= 10, "{flags}: {made}"),
            exact => assert_eq!(made, exact, "{flags}"),
        }
        assert_eq!(said.contains(" updates ≤ R²"), claimed, "{flags}: {said}");
        scratch.done("verify m.json many.csv");
        scratch.done("verify m.json many.csv --refit");
    }
}

/// L9, L18 (S0 ex. 12, 13, S2 (8.14)–(8.16)): along the run θ·θ* grows by at least γ* and ‖θ‖² by at most R² at every update, and
/// the margin of the row that made it by ‖x̃‖².
#[test]
fn a_trace_of_a_perceptron_shows_what_the_theorem_is_about() {
    let scratch = Scratch::new();
    scratch.done("simulate separable --rows 80 --margin 0.15 --seed 5 -o s.csv");
    scratch.done("fit s.csv -t class -m perceptron --order given --standardize no -o m.json --trace t.csv");
    let (rows, trace) = (text(&scratch, "s.csv"), text(&scratch, "t.csv"));
    let squares: Vec<f64> =
        numbers(&rows, "x1").iter().zip(numbers(&rows, "x2")).map(|(a, b)| a * a + b * b + 1.0).collect();
    let radius = squares.iter().copied().fold(0.0, f64::max);
    let (along, squared, cosine) =
        (numbers(&trace, "along_best"), numbers(&trace, "squared_norm"), numbers(&trace, "cosine"));
    assert!(along.len() > 3, "{trace}");
    let best = {
        let model = json(&scratch.done("inspect m.json --json"));
        number(&model["certificate"]["widest"])
    };
    for k in 1..along.len() {
        assert!(along[k] - along[k - 1] >= best * (1.0 - 1e-9), "update {k}");
        assert!(squared[k] - squared[k - 1] <= radius * (1.0 + 1e-12), "update {k}");
        near(cosine[k], along[k] / squared[k].sqrt(), 1e-12, "cosine");
    }
    let moved = trace.lines().skip(2);
    for line in moved {
        let cells: Vec<&str> = line.split(',').collect();
        let row: usize = cells[1].parse().expect("a row");
        let (before, after): (f64, f64) = (cells[4].parse().expect("a number"), cells[5].parse().expect("a number"));
        assert!(before <= 0.0, "{line}");
        near(after - before, squares[row - 1], 1e-9, "‖x̃‖²");
    }
    // The last line is the model, and its loss is zero.
    assert_eq!(numbers(&trace, "loss").last(), Some(&0.0));
    let model = json(&scratch.done("inspect m.json --json"));
    near(*numbers(&trace, "x1").last().expect("a line"), number(&model["weights"][0][0]), 1e-12, "weight");
    near(*numbers(&trace, "(intercept)").last().expect("a line"), number(&model["intercept"][0]), 1e-12, "intercept");
}

/// L4 (S1): the plane found depends on the start; a start that separates is left where it is.
#[test]
fn a_perceptron_starts_where_it_is_told() {
    let scratch = Scratch::new();
    scratch.write("d.csv", "x,z,y\n1,0,b\n2,1,b\n-1,0,a\n-2,1,a\n");
    scratch.done("fit --model given --plane 'x=3,z=0.5,(intercept)=0.25' --classes a,b --target y -o start.json");
    for update in ["online", "batch", "sum"] {
        let line = format!("fit d.csv -t y -m perceptron --update {update} --standardize no --init start.json");
        let said = scratch.done(&format!("{line} -o m.json --trace t.csv"));
        let words = said.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(words.contains("from a given start"), "{said}");
        let model = json(&scratch.done("inspect m.json --json"));
        assert_eq!(model["weights"][0], serde_json::json!([3.0, 0.5]), "{update}");
        assert_eq!(number(&model["intercept"][0]), 0.25);
        assert_eq!(text(&scratch, "t.csv").lines().count(), 2, "{update}: no update");
        scratch.done("verify m.json d.csv");
    }
    // Steps count from another start, and a list is used one after the other.
    scratch.done("fit --model given --plane 'x=-3,z=0' --classes a,b --target y -o wrong.json");
    for (step, first) in [("0.5", 0.5), ("2/t", 2.0), ("4,1", 4.0)] {
        let line =
            format!("fit d.csv -t y -m perceptron --order given --standardize no --init wrong.json --step {step}");
        scratch.done(&format!("{line} -o m.json --trace t.csv"));
        assert_eq!(numbers(&text(&scratch, "t.csv"), "step")[1], first);
    }
    // H7 (S4 fig. 10.6): zero, or at random within a range, by the seed.
    let line = "fit d.csv -t y --penalty ridge:0.1 --solver gradient-descent --step 0.1 --standardize no --max-iter 1";
    for (init, range) in [("zero", 0.0), ("random:0.01", 0.01)] {
        scratch.run(&format!("{line} --init {init} --seed 3 -o m.json --trace t.csv"));
        let at: Vec<f64> = ["x", "z", "(intercept)"].iter().map(|c| numbers(&text(&scratch, "t.csv"), c)[0]).collect();
        assert!(at.iter().all(|w| w.abs() <= range), "{init}: {at:?}");
        assert!(range == 0.0 || at.iter().all(|w| *w != 0.0), "{init}: {at:?}");
    }
}

/// L13 (S2 alg. 6): the pocket with rows in their order is the same for every seed; drawn rows are not.
#[test]
fn a_pocket_may_take_rows_in_their_order() {
    let scratch = Scratch::with_examples();
    let line = "fit penguins.csv -t sex --features body_mass_g,bill_depth_mm -m pocket --max-iter 20 --order given";
    let said = scratch.done(&format!("{line} --seed 1 -o a.json"));
    assert!(said.contains("pocket, rows in their order"), "{said}");
    scratch.done(&format!("{line} --seed 2 -o b.json"));
    let of = |file: &str| json(&scratch.done(&format!("inspect {file} --json")))["weights"].clone();
    assert_eq!(of("a.json"), of("b.json"));
    scratch.done("verify a.json penguins.csv --refit");
}

/// L15 (S2 §8.2.3): the counts α of a kernel perceptron are its mistakes, row by row; g = Σ α y K.
#[test]
fn a_kernel_perceptron_shows_its_mistakes() {
    let scratch = Scratch::new();
    scratch.write("xor.csv", "a,b,y\n,1,no\n0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n");
    let fit =
        "fit xor.csv -t y -m kernel-perceptron --kernel polynomial --degree 2 --gamma 1 --coef0 1 --standardize no";
    let said = scratch.done(&format!("{fit} --order given -o k.json"));
    let shown = json(&scratch.done("inspect k.json xor.csv --json"));
    let table = shown["support_table"].as_array().expect("a table");
    let counted: f64 = table.iter().map(|row| number(&row["alpha"])).sum();
    assert!(said.contains(&format!("{counted} mistakes")), "{counted}: {said}");
    // The row that misses a cell is counted in the numbering: the first mistake is row 2.
    assert_eq!(table[0]["row"], serde_json::json!(2));
    let (x, y) = ([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [-1.0, 1.0, 1.0, -1.0]);
    let predicted = scratch.done("predict k.json xor.csv --scores");
    let scores: Vec<f64> =
        column(&predicted, "score_yes").iter().skip(1).map(|cell| cell.parse().expect("a number")).collect();
    for (i, at) in x.iter().enumerate() {
        let g: f64 = table
            .iter()
            .map(|row| {
                let j = row["row"].as_u64().expect("a row") as usize - 2;
                number(&row["alpha"]) * y[j] * (at[0] * x[j][0] + at[1] * x[j][1] + 1.0f64).powi(2)
            })
            .sum();
        near(scores[i], g, 1e-12, "g");
    }
    assert!(scratch.done("inspect k.json xor.csv").contains("a mistake, α times"));
}

/// I2 (S2, S4): the last class as reference. Without a penalty the probabilities do not depend on the reference, and its score is
/// zero; with one they do.
#[test]
fn the_reference_class_of_softmax_is_chosen() {
    let scratch = Scratch::new();
    scratch.done("simulate gaussian --classes 3 --distance 1 --rows 300 --seed 6 -o three.csv");
    let mut probabilities = Vec::new();
    for (reference, penalty) in [("0", "none"), ("2", "none"), ("1", "none"), ("0", "ridge:0.1"), ("2", "ridge:0.1")] {
        let line =
            format!("fit three.csv -t class --penalty {penalty} --softmax reference --reference-class {reference}");
        let said = scratch.done(&format!("{line} --tol 1e-12 -o m.json"));
        assert!(said.contains(&format!("reference `{reference}`")), "{said}");
        let model = json(&scratch.done("inspect m.json --json"));
        assert_eq!(model["classes"][0], serde_json::json!(reference));
        let weights = model["weights"].as_array().expect("weights");
        if weights.len() == 3 {
            assert!(weights[0].as_array().expect("a row").iter().all(|w| number(w) == 0.0), "{weights:?}");
        }
        probabilities.push(numbers(&scratch.done("predict m.json three.csv --proba"), "p_1"));
        scratch.done("verify m.json three.csv");
    }
    let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart(&probabilities[0], &probabilities[1]) < 1e-6);
    assert!(apart(&probabilities[0], &probabilities[2]) < 1e-6);
    assert!(apart(&probabilities[3], &probabilities[4]) > 1e-4);
}

/// B22, B23, I9: the ends of a boundary lie on it and on the frame of the window; A x ≥ b is the region that predict decides.
#[test]
fn regions_are_inequalities_and_boundaries_have_ends() {
    let scratch = Scratch::with_examples();
    // S0 exercise 14: 1.2 x₁ − 3.2 x₂ = 0.5 crosses x₁ = 0 at −0.15625 and x₁ = 2 at 0.59375.
    scratch.done("fit --model given --plane 'x1=1.2,x2=-3.2,(intercept)=-0.5' --classes -1,1 --target y -o plane.json");
    let found = json(&scratch.done("geometry plane.json --window x1=0:2,x2=-5:5 --json"));
    let ends = &found["window"][0];
    let mut points =
        [[number(&ends["from"][0]), number(&ends["from"][1])], [number(&ends["to"][0]), number(&ends["to"][1])]];
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    for (point, expected) in points.iter().zip([[0.0, -0.15625], [2.0, 0.59375]]) {
        assert!((point[0] - expected[0]).abs() < 1e-14 && (point[1] - expected[1]).abs() < 1e-14, "{point:?}");
    }
    let missed = json(&scratch.done("geometry plane.json --window x1=0:2,x2=3:5 --json"));
    assert!(missed["window"][0]["from"].is_null());
    assert!(scratch.done("geometry plane.json --window x1=0:2,x2=3:5").contains("not in the window"));
    // A threshold moves the region of two classes.
    scratch.done("fit penguins.csv -t sex --features body_mass_g,bill_depth_mm --threshold 0.8 -o two.json");
    scratch.done("fit iris.csv -t Species --features Petal.Length,Petal.Width -m lda -o three.json");
    for (model, table, columns) in [
        ("two.json", "penguins.csv", ["bill_depth_mm", "body_mass_g"]),
        ("three.json", "iris.csv", ["Petal.Length", "Petal.Width"]),
    ] {
        let regions = json(&scratch.done(&format!("geometry {model} --regions --json")))["inequalities"].clone();
        let keep = columns.join(",");
        let predicted = scratch.done(&format!("predict {model} {table} --keep {keep}"));
        let classes = column(&predicted, "prediction");
        let cells = [column(&predicted, columns[0]), column(&predicted, columns[1])];
        let mut inside = 0;
        for (i, class) in classes.iter().enumerate().filter(|(_, class)| !class.is_empty()) {
            let x = [&cells[0], &cells[1]].map(|c| c[i].parse::<f64>().expect("a number"));
            for region in regions.as_array().expect("regions") {
                let rows = region["A"].as_array().expect("A").iter().zip(region["b"].as_array().expect("b"));
                let mut holds = rows.map(|(a, b)| number(&a[0]) * x[0] + number(&a[1]) * x[1] >= number(b));
                assert_eq!(holds.all(|holds| holds), region["class"] == serde_json::json!(class), "{x:?}");
            }
            inside += 1;
        }
        assert!(inside > 100);
    }
    // Ends of the boundaries of three classes are on the line of their pair, within the window.
    let seen =
        json(&scratch.done("geometry three.json --window Petal.Length=0:8,Petal.Width=0:3 --json"))["window"].clone();
    let seen = seen.as_array().expect("a list");
    assert_eq!(seen.len(), 6, "three pairs and three lines");
    let model = json(&scratch.done("inspect three.json --json"));
    let score = |k: usize, p: &Value| {
        number(&model["weights"][k][0]) * number(&p[0])
            + number(&model["weights"][k][1]) * number(&p[1])
            + number(&model["intercept"][k])
    };
    for (at, (i, j)) in [(0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
        for end in ["from", "to"].map(|end| &seen[at][end]).into_iter().filter(|end| !end.is_null()) {
            assert!((score(i, end) - score(j, end)).abs() < 1e-9, "{end}");
            assert!(
                (-1e-12..=8.0 + 1e-12).contains(&number(&end[0])) && (-1e-12..=3.0 + 1e-12).contains(&number(&end[1]))
            );
        }
    }
    for (at, line) in seen[3..].iter().enumerate().filter(|(_, line)| !line["from"].is_null()) {
        assert!(score(at, &line["from"]).abs() < 1e-9 && score(at, &line["to"]).abs() < 1e-9, "{line}");
    }
}

/// `Φ(x)` by the trapezoidal rule on 40,000 pieces: a slow twin.
fn normal_below(x: f64) -> f64 {
    let (pieces, low) = (40_000, -12.0);
    let step = (x - low) / f64::from(pieces);
    let density = |i: i32| (-0.5 * (low + step * f64::from(i)).powi(2)).exp();
    let inner: f64 = (1..pieces).map(density).sum();
    step * (inner + 0.5 * (density(0) + density(pieces))) / std::f64::consts::TAU.sqrt()
}

#[test]
fn the_risk_of_a_model_under_a_truth_is_its_expectation() {
    let scratch = Scratch::with_examples();
    scratch.write("g.json", r#"{"means":[[0,0],[2,1]],"variance":1,"priors":[0.6,0.4]}"#);
    // A plane that is not the best: z = x1 − x2 − 0.5 is normal in each class, with variance 2.
    scratch.done("fit --model given --plane x1=1,x2=-1,(intercept)=-0.5 --classes 0,1 -o plane.json");
    let risk = json(&scratch.done("inspect plane.json --truth g.json --json"))["risk"].clone();
    let root = 2f64.sqrt();
    let error = 0.6 * normal_below(-0.5 / root) + 0.4 * (1.0 - normal_below(0.5 / root));
    let found = number(&risk["error"]["value"]);
    // The standard error of 100,000 rows.
    let rows = number(&risk["rows"]);
    assert!((found - error).abs() < 4.0 * (error * (1.0 - error) / rows).sqrt(), "{found} for {error}");
    // E max(0, 1 − yz) of a normal score of mean m: s φ(a) + (1−ym) Φ(a), a = (1−ym)/s.
    let hinge = |mean: f64| {
        let a = (1.0 - mean) / root;
        root * (-0.5 * a * a).exp() / std::f64::consts::TAU.sqrt() + (1.0 - mean) * normal_below(a)
    };
    let expected = 0.6 * hinge(0.5) + 0.4 * hinge(0.5);
    let found = number(&risk["hinge"]["value"]);
    assert!((found - expected).abs() < 0.02, "{found} for {expected}");
    assert!(number(&risk["error"]["least"]) < error);
    // The true rule reaches what is least possible, and no rule is better.
    scratch.done("fit --model given --parameters g.json -o best.json");
    let best = json(&scratch.done("inspect best.json --truth g.json --json"))["risk"].clone();
    for (loss, tolerance) in [("error", 0.005), ("squared_error", 0.003), ("cross_entropy", 0.006)] {
        let (found, least) = (number(&best[loss]["value"]), number(&best[loss]["least"]));
        assert!((found - least).abs() < tolerance, "{loss}: {found}, least {least}");
    }
    assert!(number(&best["error"]["value"]) < number(&risk["error"]["value"]));
    let shown = scratch.done("inspect best.json --truth g.json");
    assert!(shown.contains("losses under that truth, means over 100,000 rows drawn from it"), "{shown}");
}

#[test]
fn a_truth_that_lists_its_rows_has_an_exact_risk() {
    let scratch = Scratch::with_examples();
    scratch.done("simulate parity --features 3 -o parity.csv");
    // One plane of exclusive or of three: x1 + x2 + x3 > 2.5 is right on the row of three ones and those of none or two.
    scratch.done("fit --model given --plane x1=1,x2=1,x3=1,(intercept)=-2.5 -o ones.json");
    let risk = json(&scratch.done("inspect ones.json --truth parity.truth.json --json"))["risk"].clone();
    assert_eq!((&risk["exact"], &risk["rows"]), (&true.into(), &8.into()));
    let exact = serde_json::json!({"value": 0.375, "interval": null, "least": 0.0, "least_standard_error": null});
    assert_eq!(risk["error"], exact);
    // Kernel models share no parameter with it, and have a risk all the same.
    scratch.done("fit parity.csv -t class -m svm --kernel rbf --C 1e3 -o rbf.json");
    let risk = json(&scratch.done("inspect rbf.json --truth parity.truth.json --json"))["risk"].clone();
    assert_eq!(risk["error"]["value"], 0.0);
    // Other columns and other classes are refused, and so are truths without classes.
    scratch.done("fit penguins.csv -t sex --features body_mass_g -o sex.json");
    for (truth, said) in
        [("parity.truth.json", "states no rule"), ("population.json", "population.json"), ("iris.csv", "iris.csv")]
    {
        let ran = scratch.run(&format!("inspect sex.json --truth {truth}"));
        assert!(ran.code == 2 && ran.stderr.contains(said), "{truth}: {} {}", ran.code, ran.stderr);
    }
}

#[test]
fn the_jacobian_of_softmax_is_that_of_the_source() {
    let scratch = Scratch::with_examples();
    scratch.done("fit iris.csv -t Species -o soft.json");
    let csv = scratch.done("predict soft.json iris.csv --proba --scores --jacobian");
    let names = ["setosa", "versicolor", "virginica"];
    let read = |prefix: &str| names.map(|n| numbers(&csv, &format!("{prefix}{n}")));
    let (p, z) = (read("p_"), read("score_"));
    let soft = |z: [f64; 3]| {
        let total: f64 = z.iter().map(|z| z.exp()).sum();
        z.map(|z| z.exp() / total)
    };
    for (i, of) in names.iter().enumerate() {
        for (j, by) in names.iter().enumerate() {
            let entries = numbers(&csv, &format!("dp_{of}_dz_{by}"));
            for row in 0..entries.len() {
                // S3 (35)–(36): p_i(δ_ij − p_j); and by differences.
                let delta = f64::from(u8::from(i == j));
                assert!((entries[row] - p[i][row] * (delta - p[j][row])).abs() < 1e-15);
                let at = |h: f64| {
                    let mut shifted = [z[0][row], z[1][row], z[2][row]];
                    shifted[j] += h;
                    soft(shifted)[i]
                };
                assert!((entries[row] - (at(1e-5) - at(-1e-5)) / 2e-5).abs() < 1e-9, "{of} {by} {row}");
                assert!(i == j || entries[row] <= 0.0, "off the diagonal all are negative, (3,2) too");
            }
        }
    }
    scratch.done("fit penguins.csv -t sex --features body_mass_g -o sex.json");
    let csv = scratch.done("predict sex.json penguins.csv --proba --jacobian").replace(",,,,\n", ",0,0,0,0\n");
    let (p, d) = (numbers(&csv, "p_male"), numbers(&csv, "dp_male_dz_male"));
    assert!(p.iter().zip(d).all(|(p, d)| (d - p * (1.0 - p)).abs() < 1e-15));
    scratch.done("fit penguins.csv -t sex --features body_mass_g -m svm -o svm.json");
    let ran = scratch.run("predict svm.json penguins.csv --jacobian");
    assert!(ran.code == 2 && ran.stderr.contains("are not probabilities"), "{}", ran.stderr);
}

/// W4: digits at the default tolerance are right: maximum likelihood of iris by one column, a saturated table.
#[test]
fn printed_digits_are_those_of_the_optimum() {
    let scratch = Scratch::with_examples();
    scratch.write("t.csv", "x,y\n0,a\n0,a\n0,a\n0,b\n1,a\n1,b\n1,b\n1,b\n");
    scratch.done("fit t.csv -t y --penalty none -o t.json");
    // Log-odds of −log 3 and log 3: .25 and .75, where .2500137 was once said.
    for p in
        numbers(&scratch.done("predict t.json t.csv --proba"), "p_b").iter().zip([0.25; 4].iter().chain(&[0.75; 4]))
    {
        near(*p.0, *p.1, 1e-6, "a share of the table");
    }
    // Fitted with a tolerance a thousand times tighter, no printed weight changes.
    let line = "fit iris.csv -t Species --features Sepal.Width --penalty none";
    let tail = |text: String| text.split("all weights").nth(1).expect("weights").to_owned();
    scratch.done(&format!("{line} -o loose.json"));
    scratch.done(&format!("{line} --tol 1e-13 -o tight.json"));
    assert_eq!(tail(scratch.done("inspect loose.json")), tail(scratch.done("inspect tight.json")));
}

/// H9: the weighted least squares of the last working response give the coefficients again.
#[test]
fn working_responses_solve_the_likelihood() {
    let scratch = Scratch::new();
    scratch.done("simulate logistic --weights 1 --intercept -5 --x uniform:0,10 --rows 200 --seed 2 -o line.csv");
    let found = json(&scratch.done("infer line.csv -t class --rows rows.csv --json"));
    let (rows, line) = (text(&scratch, "rows.csv"), text(&scratch, "line.csv"));
    let (w, z, x) = (numbers(&rows, "working_weight"), numbers(&rows, "working_response"), numbers(&line, "x1"));
    let sum = |f: &dyn Fn(usize) -> f64| (0..w.len()).map(f).sum::<f64>();
    let total = sum(&|i| w[i]);
    let (mx, mz) = (sum(&|i| w[i] * x[i]) / total, sum(&|i| w[i] * z[i]) / total);
    let slope = sum(&|i| w[i] * (x[i] - mx) * (z[i] - mz)) / sum(&|i| w[i] * (x[i] - mx) * (x[i] - mx));
    let estimate = |name: &str| {
        let all = found["coefficients"].as_array().expect("coefficients");
        number(&all.iter().find(|c| c["name"] == name).expect("the coefficient")["estimate"])
    };
    near(slope, estimate("x1"), 1e-7, "slope");
    near(mz - slope * mx, estimate("(intercept)"), 1e-7, "intercept");
}

/// D10: the outputs are σ of the scores.
#[test]
fn sigmoids_of_several_classes_have_outputs() {
    let scratch = Scratch::with_examples();
    scratch.done("fit iris.csv -t Species --features Petal.Length,Petal.Width -m sigmoid-ls -o m.json");
    let rows = scratch.done("predict m.json iris.csv --scores --outputs");
    for class in ["setosa", "versicolor", "virginica"] {
        let (z, p) = (numbers(&rows, &format!("score_{class}")), numbers(&rows, &format!("output_{class}")));
        z.iter().zip(&p).for_each(|(z, p)| near(*p, 1.0 / (1.0 + (-z).exp()), 1e-12, "σ(z)"));
    }
    let refused = scratch.run("predict m.json iris.csv --proba");
    assert_eq!(refused.code, 2, "σ(z_i) of several sigmoids are no probabilities");
    scratch.done("fit iris.csv -t Species -o logistic.json");
    assert!(scratch.run("predict logistic.json iris.csv --outputs").stderr.contains("no outputs of sigmoids"));
}

/// H13, I6, K4, K5: the steps are those of the textbook, and what is claimed is what is proved.
#[test]
fn steps_of_one_row_are_those_of_the_textbook() {
    let scratch = Scratch::new();
    scratch.write("t.csv", "x,y\n1,0\n2,1\n-1,1\n0.5,0\n");
    let sigmoid = |z: f64| 1.0 / (1.0 + (-z).exp());
    let rows = [(1.0, 0.0), (2.0, 1.0), (-1.0, 1.0), (0.5, 0.0)];
    // One epoch in order with η/t; the answer is the average with weights t².
    let run = scratch.run(
        "fit t.csv -t y --penalty none --standardize no --solver sgd --order given --step 0.5/t --max-iter 1 --trace s.csv",
    );
    assert_eq!(run.code, 3, "{}", run.stdout);
    let (mut w, mut b, mut sum, mut total) = (0.0, 0.0, [0.0; 2], 0.0);
    for (t, (x, y)) in rows.iter().enumerate() {
        let (eta, e) = (0.5 / (t + 1) as f64, sigmoid(w * x + b) - y);
        (w, b) = (w - eta * e * x, b - eta * e);
        let share = ((t + 1) * (t + 1)) as f64;
        (sum, total) = ([sum[0] + share * w, sum[1] + share * b], total + share);
    }
    let steps = trace(&scratch, "s.csv");
    let last = steps.last().expect("a step");
    near(last[last.len() - 2], sum[0] / total, 1e-12, "average weight");
    near(last[last.len() - 1], sum[1] / total, 1e-12, "average intercept");
    // Squared error of sigmoids: w ← w − η mean[(p−y)p(1−p)x], with steps of a list.
    let run = scratch.run(
        "fit t.csv -t y -m sigmoid-ls --penalty none --standardize no --solver gradient-descent --step 1,0.25 --max-iter 3 --trace k.csv",
    );
    assert_eq!(run.code, 3, "{}", run.stdout);
    let (mut w, mut b) = (0.0, 0.0);
    for (k, step) in trace(&scratch, "k.csv").iter().enumerate().skip(1) {
        let eta = if k == 1 { 1.0 } else { 0.25 };
        let slope = |(x, y): &(f64, f64)| {
            let p = sigmoid(w * x + b);
            ((p - y) * p * (1.0 - p) * x / 4.0, (p - y) * p * (1.0 - p) / 4.0)
        };
        let (gw, gb) = rows.iter().map(slope).fold((0.0, 0.0), |a, g| (a.0 + g.0, a.1 + g.1));
        (w, b) = (w - eta * gw, b - eta * gb);
        near(step[step.len() - 2], w, 1e-12, "weight");
        near(step[step.len() - 1], b, 1e-12, "intercept");
    }
    // Steps that are too long are said to be.
    scratch.done("simulate logistic --weights 1 --intercept -5 --x uniform:0,10 --rows 100 --seed 2 -o line.csv");
    let run =
        scratch.run("fit line.csv -t class --penalty none --standardize no --solver gradient-descent --step 1e306");
    assert!(run.code == 3 && run.stdout.contains("NOT CONVERGED"), "{} {}", run.code, run.stdout);
    for bad in ["--step best", "--step -1", "--step 1,0", "--step x"] {
        let line = format!("fit line.csv -t class --penalty none --solver gradient-descent {bad}");
        assert_eq!(scratch.run(&line).code, 2, "{bad}");
    }
}

/// G5: θ ← θ − η∇ of the mean of ½(t − z)², which is the source's step times 2n.
#[test]
fn least_squares_goes_down_by_the_steps_it_is_told() {
    let scratch = Scratch::new();
    scratch.write("t.csv", "x,y\n1,0\n2,1\n-1,1\n0.5,0\n");
    let rows = [(1.0, -1.0), (2.0, 1.0), (-1.0, 1.0), (0.5, -1.0)];
    let run = scratch
        .run("fit t.csv -t y -m least-squares --standardize no --solver gradient-descent --step 0.3 --max-iter 4 --trace g.csv");
    assert_eq!(run.code, 3, "{}", run.stdout);
    let (mut w, mut b) = (0.0, 0.0);
    let steps = trace(&scratch, "g.csv");
    assert_eq!(steps.len(), 5);
    (w, b) = (w + steps[0][steps[0].len() - 2], b + steps[0][steps[0].len() - 1]);
    for step in &steps[1..] {
        let slope = |(x, t): &(f64, f64)| ((w * x + b - t) * x / 4.0, (w * x + b - t) / 4.0);
        let (gw, gb) = rows.iter().map(slope).fold((0.0, 0.0), |a, g| (a.0 + g.0, a.1 + g.1));
        (w, b) = (w - 0.3 * gw, b - 0.3 * gb);
        near(step[step.len() - 2], w, 1e-12, "weight");
        near(step[step.len() - 1], b, 1e-12, "intercept");
    }
    // To the end it is the closed form.
    scratch.done("fit t.csv -t y -m least-squares --standardize no --solver gradient-descent --step 0.3 --tol 1e-12 -o steps.json");
    scratch.done("fit t.csv -t y -m least-squares --standardize no -o closed.json");
    let weights = |name: &str| json(&scratch.done(&format!("inspect {name} --json")))["weights"][0][0].clone();
    near(number(&weights("steps.json")), number(&weights("closed.json")), 1e-5, "weight");
    assert!(scratch.done("verify steps.json t.csv").starts_with("verified"));
}

/// H21: thresholds and priors are of probabilities, whatever the link; a model without a proof is not called one.
#[test]
fn links_decide_by_their_probabilities() {
    let scratch = Scratch::new();
    scratch.done("simulate logistic --weights 1 --intercept -5 --x uniform:0,10 --rows 300 --seed 3 -o line.csv");
    for link in ["probit", "cloglog", "cauchit"] {
        scratch.done(&format!("fit line.csv -t class --link {link} --penalty none -o m.json"));
        let rows = scratch.done("predict m.json line.csv --proba --scores");
        let (p, z, said) = (numbers(&rows, "p_1"), numbers(&rows, "score_1"), column(&rows, "prediction"));
        for i in 0..p.len() {
            assert_eq!(said[i] == "1", p[i] > 0.5, "{link}: {} {}", p[i], said[i]);
            let expected = match link {
                "probit" => normal_below(z[i]),
                "cloglog" => 1.0 - (-z[i].exp()).exp(),
                _ => 0.5 + z[i].atan() / std::f64::consts::PI,
            };
            assert!((p[i] - expected).abs() < 1e-6, "{link}: {} for {expected}", p[i]);
        }
        // The boundary of the geometry is where p = ½.
        let found = json(&scratch.done("geometry m.json --json"));
        let x0 = number(&found["boundaries"][0]["point"][0]);
        scratch.write("cut.csv", format!("x1\n{x0}\n"));
        near(numbers(&scratch.done("predict m.json cut.csv --proba"), "p_1")[0], 0.5, 1e-9, "p on the boundary");
        assert!(scratch.done("verify m.json line.csv").starts_with("verified"), "{link}");
    }
    for (bad, said) in [
        ("--link probit --solver lbfgs", "--solver does not belong to --link probit"),
        ("--link probit --penalty lasso:0.1", "has no lasso"),
        ("--link probit -m svm", "--link does not belong to --model svm"),
        ("--link probit --penalty none --intercept penalised", "needs a penalty"),
    ] {
        let run = scratch.run(&format!("fit line.csv -t class {bad}"));
        assert!(run.code == 2 && run.stderr.contains(said), "{bad}: {}", run.stderr);
    }
    scratch.write("apart.csv", "x,y\n1,a\n2,a\n3,b\n4,b\n");
    let run = scratch.run("fit apart.csv -t y --link cloglog --penalty none");
    assert!(run.code == 1 && run.stdout.contains("does not exist"), "{}", run.stdout);
}

/// M15, M16: exclusive or has α = 1/8 on every row; a hard margin that there is not is refused with a bound.
#[test]
fn kernel_machines_of_the_source() {
    let scratch = Scratch::new();
    scratch.done("simulate parity --signs -o xor.csv");
    let kernel = "--kernel polynomial --degree 2 --gamma 1 --coef0 1";
    for (model, intercept) in
        [("hard-margin", "none"), ("hard-margin", "free"), ("svm --C 10 --standardize no", "none")]
    {
        scratch.done(&format!("fit xor.csv -t class -m {model} {kernel} --intercept {intercept} -o m.json"));
        let found = json(&text(&scratch, "m.json"));
        let pairs = found["model"]["support_vectors"]["multipliers"].as_array().expect("pairs").clone();
        assert_eq!(pairs.len(), 4);
        pairs.iter().for_each(|pair| near(number(&pair[1]), 0.125, 1e-9, "α"));
        if intercept == "none" {
            assert_eq!(found["model"]["discriminant"]["intercept"][0], 0.0);
        }
        assert!(scratch.done("verify m.json xor.csv").starts_with("verified"));
    }
    let run = scratch.run("fit xor.csv -t class -m hard-margin --kernel linear -o none.json --json");
    assert_eq!(run.code, 1);
    assert!(number(&json(&run.stdout)["margin_at_most"]) < 1e-9);
    scratch.write("twice.csv", "x,y\n1,a\n2,b\n2,a\n");
    let run = scratch.run("fit twice.csv -t y -m hard-margin --kernel rbf");
    assert!(run.code == 1 && run.stdout.contains("rows 2 and 3 are the same"), "{}", run.stdout);
    for bad in [
        "-m hard-margin --intercept none",
        "-m svm --kernel rbf --intercept penalised",
        "-m svm --kernel rbf --penalty none",
    ] {
        assert_eq!(scratch.run(&format!("fit xor.csv -t class {bad}")).code, 2, "{bad}");
    }
}

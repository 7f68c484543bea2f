//! `linsep geometry`: what it prints agrees with what the model predicts.

mod common;

use common::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number")).collect()
}

/// The cells of a CSV without quotes, by column name.
struct Csv(Vec<Vec<String>>);

impl Csv {
    fn new(text: &str) -> Csv {
        Csv(text.lines().map(|l| l.split(',').map(str::to_owned).collect()).collect())
    }

    fn column(&self, name: &str) -> Vec<&str> {
        let at =
            self.0[0].iter().position(|h| h == name).unwrap_or_else(|| panic!("no column {name}: {:?}", self.0[0]));
        self.0[1..].iter().map(|row| row[at].as_str()).collect()
    }
}

/// Text without its line breaks.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

const MEASURES: &str = "bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g";

fn fitted(flags: &str) -> Scratch {
    let scratch = Scratch::with_examples();
    scratch.done(&format!("fit penguins.csv --features {MEASURES} {flags} -o m.json"));
    scratch
}

#[test]
fn distances_are_scores_over_norms_and_projections_score_alike() {
    for (flags, linear) in [
        ("--target species --model lda", true),
        ("--target species", true),
        ("--target sex", true),
        ("--target species --model qda", false),
        ("--target sex --model qda", false),
        ("--target species --model naive-bayes --family gaussian", false),
        ("--target sex --model naive-bayes --family gaussian", false),
        ("--target species --model naive-bayes --family gaussian-shared", true),
    ] {
        let scratch = fitted(flags);
        let out = scratch.done("geometry m.json penguins.csv --keep island --projection");
        let measured = Csv::new(&out);
        let predicted = scratch.done("predict m.json penguins.csv --scores");
        let predicted = Csv::new(&predicted);
        let input = Csv::new(&String::from_utf8(scratch.read("penguins.csv")).expect("text"));
        assert_eq!(measured.0.len(), 345, "one row per input row");
        assert_eq!(measured.column("prediction"), predicted.column("prediction"));
        let empty = measured.column("radius").iter().filter(|c| c.is_empty()).count();
        assert_eq!(empty, 2, "two penguins were not measured");
        // The projections as a table of their own: there the two classes have the same score.
        let names: Vec<&str> = MEASURES.split(',').collect();
        let points: Vec<Vec<&str>> = names.iter().map(|n| measured.column(&format!("proj_{n}"))).collect();
        let mut table = format!("{MEASURES}\n");
        for i in 0..344 {
            table.push_str(&points.iter().map(|p| p[i]).collect::<Vec<_>>().join(","));
            table.push('\n');
        }
        scratch.write("points.csv", &table);
        let scores = scratch.done("predict m.json points.csv --scores");
        let scores = Csv::new(&scores);
        let shown = json(&scratch.done("geometry m.json --json"));
        let classes: Vec<&str> = shown["classes"].as_array().expect("names").iter().filter_map(Value::as_str).collect();
        let score = |csv: &Csv, class: &str, i: usize| -> f64 {
            match (classes.len(), class == classes[0]) {
                (2, true) => 0.0,
                _ => csv.column(&format!("score_{class}"))[i].parse().expect("a score"),
            }
        };
        for i in (0..344).filter(|i| !measured.column("radius")[*i].is_empty()).step_by(7) {
            let (class, other) = (measured.column("prediction")[i], measured.column("boundary")[i]);
            let radius: f64 = measured.column("radius")[i].parse().expect("a radius");
            let gap = score(&scores, class, i) - score(&scores, other, i);
            assert!(gap.abs() < 1e-9, "{flags}: a projection has a gap of {gap:e}");
            let x = |j: usize| input.column(names[j])[i].parse::<f64>().expect("a number");
            let moved: f64 = (0..4).map(|j| (points[j][i].parse::<f64>().expect("a number") - x(j)).powi(2)).sum();
            assert!((moved.sqrt() - radius).abs() < 1e-9 * (1.0 + radius), "{flags}: row {i}");
            if linear {
                let boundaries = shown["boundaries"].as_array().expect("a list").iter();
                let mut found = boundaries.filter(|b| {
                    let pair = [b["from"].as_str().unwrap_or(""), b["to"].as_str().unwrap_or("")];
                    pair.contains(&class) && pair.contains(&other)
                });
                let norm = found.next().expect("a pair")["norm"].as_f64().expect("a number");
                let own = score(&predicted, class, i) - score(&predicted, other, i);
                assert!((own / norm - radius).abs() < 1e-11 * (1.0 + radius), "{flags}: row {i}");
            }
        }
    }
}

#[test]
fn margins_need_labels_and_have_their_sign() {
    let scratch = fitted("--target species --model lda");
    let out = scratch.done("geometry m.json penguins.csv --keep species --mahalanobis");
    let measured = Csv::new(&out);
    let (truth, predicted) = (measured.column("species"), measured.column("prediction"));
    let (margin, radius) = (measured.column("margin"), measured.column("radius"));
    let mut wrong = 0;
    for i in (0..truth.len()).filter(|i| !margin[*i].is_empty()) {
        let m: f64 = margin[i].parse().expect("a margin");
        if truth[i] == predicted[i] {
            assert_eq!(margin[i], radius[i]);
        } else {
            wrong += 1;
            assert!(m < 0.0);
        }
        // Equal covariances, nearly equal priors: the predicted class is among the near ones.
        let r2 = |k: &str| measured.column(&format!("r2_{k}"))[i].parse::<f64>().expect("a square");
        let least = ["Adelie", "Chinstrap", "Gentoo"].map(r2).into_iter().fold(f64::INFINITY, f64::min);
        assert!(r2(predicted[i]) <= least + 2.0);
    }
    assert!(wrong > 0);
    let shown = json(&scratch.done("geometry m.json penguins.csv --json"));
    let smallest = margin.iter().filter_map(|m| m.parse::<f64>().ok()).fold(f64::INFINITY, f64::min);
    assert_eq!(shown["data"]["margin"]["margin"].as_f64(), Some(smallest));
    let at = margin.iter().position(|m| m.parse::<f64>().is_ok_and(|m| m == smallest)).expect("that row");
    assert_eq!(shown["data"]["margin"]["place"], format!("penguins.csv, line {}", at + 2));
    assert_eq!(shown["data"]["rows"], 342);
    let neighbours = shown["data"]["neighbours"].as_array().expect("pairs");
    assert_eq!(neighbours.iter().map(|n| n["rows"].as_u64().unwrap_or(0)).sum::<u64>(), 342);
    // Without the target there is no margin.
    scratch.write("new.csv", format!("{MEASURES}\n39.1,18.7,181,3750\n"));
    assert!(scratch.done("geometry m.json new.csv").starts_with("prediction,boundary,distance,radius\nAdelie,"));
}

#[test]
fn boundaries_and_types_are_shown() {
    let scratch = fitted("--target species --model lda");
    let shown = json(&scratch.done("geometry m.json --json"));
    let inspected = json(&scratch.done("inspect m.json --json"));
    let boundaries = shown["boundaries"].as_array().expect("a list");
    assert_eq!(boundaries.len(), 3);
    for boundary in boundaries {
        let (n, x0) = (numbers(&boundary["normal"]), numbers(&boundary["point"]));
        assert!((n.iter().map(|n| n * n).sum::<f64>() - 1.0).abs() < 1e-14);
        let product: f64 = n.iter().zip(&x0).map(|(n, x)| n * x).sum();
        assert!((product - boundary["offset"].as_f64().expect("a number")).abs() < 1e-9);
        assert!(boundary["mahalanobis"].as_f64().is_some_and(|d| d > 3.0));
        let at = |name: &Value| inspected["classes"].as_array().and_then(|c| c.iter().position(|c| c == name));
        let (from, to) = (at(&boundary["from"]).expect("a class"), at(&boundary["to"]).expect("a class"));
        let weights = |k: usize| numbers(&inspected["weights"][k]);
        let norm = boundary["norm"].as_f64().expect("a number");
        for ((a, b), n) in weights(to).iter().zip(weights(from)).zip(&n) {
            assert!((a - b - norm * n).abs() < 1e-12 * norm);
        }
    }
    assert!(shown["regions"].as_array().is_some_and(|r| r.iter().all(|r| r["decided"] == "somewhere")));
    let text = scratch.done("geometry m.json");
    assert!(
        text.contains("Adelie | Gentoo: hyperplane") && text.contains("every class is decided somewhere"),
        "{text}"
    );
    let scratch = fitted("--target species --model qda");
    let shown = json(&scratch.done("geometry m.json --json"));
    assert!(shown["regions"].is_null());
    let first = &shown["boundaries"][0];
    assert_eq!(first["kind"], "quadric");
    let signature = ["positive", "negative", "zero"].map(|k| first["signature"][k].as_u64().unwrap_or(99));
    assert_eq!(signature.iter().sum::<u64>(), 4);
}

#[test]
fn a_file_gets_the_rows_and_the_terminal_the_summary() {
    let scratch = fitted("--target species --model lda");
    let plain = scratch.done("geometry m.json penguins.csv");
    let said = scratch.done("geometry m.json penguins.csv -o out.csv");
    assert_eq!(String::from_utf8(scratch.read("out.csv")).expect("text"), plain);
    for word in ["342 rows; 2 with missing cells left empty", "margin", "radius", "next to", "penguins.csv, line"] {
        assert!(said.contains(word), "{word} is not in {said}");
    }
    assert_eq!(scratch.done("geometry m.json penguins.csv --threads 1"), plain);
    let model = scratch.read("m.json");
    assert_eq!(scratch.run_with("geometry - penguins.csv", &model).stdout, plain);
}

#[test]
fn offsets_move_the_boundary_of_their_row() {
    let scratch = Scratch::new();
    scratch.write("t.csv", "x,o,y\n1,0,a\n2,0.5,a\n3,0,b\n2.5,1,b\n1.5,0,b\n2.2,0,a\n");
    scratch.done("fit t.csv --target y --offset o -o m.json");
    let scores = scratch.done("predict m.json t.csv --scores");
    let norm = json(&scratch.done("geometry m.json --json"))["boundaries"][0]["norm"].as_f64().expect("a number");
    let out = scratch.done("geometry m.json t.csv");
    for (distance, score) in Csv::new(&out).column("distance").iter().zip(Csv::new(&scores).column("score_b")) {
        let (distance, score): (f64, f64) = (distance.parse().expect("a number"), score.parse().expect("a number"));
        assert!((distance * norm - score).abs() < 1e-12);
    }
}

/// Thresholds and costs of two classes move the boundary; predictions are those of `predict` whatever the decision.
#[test]
fn measures_belong_to_the_decision_of_the_model() {
    for (flags, cut) in [
        ("--target sex --threshold 0.8", 4f64.ln()),
        ("--target sex --model lda --costs female:male=5,male:female=1", 5f64.ln()),
        ("--target sex --model lda --threshold 0.2 --reject 0.1", 0.25f64.ln()),
        ("--target sex --model qda --threshold 0.9", 9f64.ln()),
        ("--target sex --model naive-bayes --family gaussian --threshold 0.9", 9f64.ln()),
    ] {
        let scratch = fitted(flags);
        let shown = json(&scratch.done("geometry m.json --json"));
        assert!((shown["cut"].as_f64().expect("a cut") - cut).abs() < 1e-14, "{flags}");
        let out = scratch.done("geometry m.json penguins.csv --keep sex --projection");
        let measured = Csv::new(&out);
        let predicted = scratch.done("predict m.json penguins.csv --scores");
        let predicted = Csv::new(&predicted);
        assert_eq!(measured.column("prediction"), predicted.column("prediction"), "{flags}");
        let positive = shown["boundaries"][0]["to"].as_str().expect("a class");
        let mut rejected = 0;
        for i in 0..344 {
            let (class, distance) = (measured.column("prediction")[i], measured.column("distance")[i]);
            let Ok(distance) = distance.parse::<f64>() else { continue };
            let z: f64 = predicted.column(&format!("score_{positive}"))[i].parse().expect("a score");
            assert_eq!(distance > 0.0, z > cut, "{flags}: row {i}");
            match class {
                "" => rejected += 1,
                class => assert_eq!(class == positive, z > cut, "{flags}: row {i}"),
            }
            if let Some(norm) = shown["boundaries"][0]["norm"].as_f64() {
                assert!((distance * norm - (z - cut)).abs() < 1e-11, "{flags}: row {i}");
            }
            if let Ok(margin) = measured.column("margin")[i].parse::<f64>() {
                let sign = if measured.column("sex")[i] == positive { 1.0 } else { -1.0 };
                assert_eq!(margin, sign * distance, "{flags}: row {i}");
            }
        }
        assert_eq!(rejected > 0, flags.contains("--reject"), "{flags}");
        // The projections have the log-odds at which the decision changes.
        let names: Vec<&str> = MEASURES.split(',').collect();
        let points: Vec<Vec<&str>> = names.iter().map(|n| measured.column(&format!("proj_{n}"))).collect();
        let rows = (0..344).map(|i| points.iter().map(|p| p[i]).collect::<Vec<_>>().join(","));
        scratch.write("points.csv", format!("{MEASURES}\n{}\n", rows.collect::<Vec<_>>().join("\n")));
        let scores = scratch.done("predict m.json points.csv --scores");
        for z in Csv::new(&scores).column(&format!("score_{positive}")).iter().filter(|z| !z.is_empty()) {
            assert!((z.parse::<f64>().expect("a score") - cut).abs() < 1e-9, "{flags}: {z}");
        }
        let text = in_one_line(&scratch.done("geometry m.json"));
        assert!(text.contains("decision: ") && text.contains("of this decision"), "{text}");
        if shown["boundaries"][0]["kind"] == "hyperplane" {
            for (region, own) in shown["regions"].as_array().expect("two").iter().zip([-1.0, 1.0]) {
                let (n, x) = (numbers(&shown["boundaries"][0]["normal"]), numbers(&region["witness"]));
                let side: f64 = n.iter().zip(&x).map(|(n, x)| n * x).sum();
                let offset = shown["boundaries"][0]["offset"].as_f64().expect("a number");
                assert!(own * (side - offset) > 0.0, "{flags}: a witness on its side");
            }
        }
    }
}

#[test]
fn decisions_without_such_a_boundary_say_so() {
    let costs = "--costs Adelie:Gentoo=9,Chinstrap:Adelie=7";
    let scratch = fitted(&format!("--target species --model lda {costs}"));
    let out = scratch.run("geometry m.json penguins.csv");
    assert!(out.stderr.contains("those of the largest score"), "{}", out.stderr);
    let predicted = scratch.done("predict m.json penguins.csv --keep species");
    assert_eq!(Csv::new(&out.stdout).column("prediction"), Csv::new(&predicted).column("prediction"));
    let plain = fitted("--target species --model lda");
    let largest = plain.done("geometry m.json penguins.csv");
    assert_eq!(plain.run("geometry m.json penguins.csv").stderr, "");
    assert_eq!(Csv::new(&out.stdout).column("radius"), Csv::new(&largest).column("radius"));
    assert_ne!(Csv::new(&out.stdout).column("prediction"), Csv::new(&largest).column("prediction"));
    let said = in_one_line(&scratch.done("geometry m.json penguins.csv -o out.csv"));
    assert!(said.contains("those of the largest score"), "{said}");
    assert!(json(&scratch.done("geometry m.json --json"))["cut"].is_null());
    // Whatever the row, the same class costs less.
    let scratch = fitted("--target sex --costs female:male=0,male:female=1");
    assert!(in_one_line(&scratch.done("geometry m.json")).contains("those of the largest score"));
    // Rejected rows are counted, and not as of a class.
    let scratch = fitted("--target sex --reject 0.2");
    let said = in_one_line(&scratch.done("geometry m.json penguins.csv -o out.csv"));
    assert!(said.contains("rejected") && said.contains("without the rejection"), "{said}");
}

#[test]
fn scores_with_logarithms_have_no_geometry() {
    let scratch = fitted("--target species --model naive-bayes --family gamma");
    let out = scratch.run("geometry m.json");
    assert_eq!(out.code, 2);
    assert!(out.stderr.contains("neither hyperplanes nor quadrics") && out.stderr.contains("gamma"), "{}", out.stderr);
}

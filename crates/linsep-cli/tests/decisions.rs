//! Decisions by flag and by model: thresholds, costs and rejection at predict time.

mod common;

use common::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e} in {text}"))
}

/// One column of a CSV without quoted cells.
fn column<'a>(csv: &'a str, name: &str) -> Vec<&'a str> {
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    let header = lines.next().expect("a header");
    let at = header.iter().position(|cell| *cell == name).unwrap_or_else(|| panic!("no column {name}"));
    lines.map(|cells| cells[at]).collect()
}

fn numbers(csv: &str, name: &str) -> Vec<Option<f64>> {
    column(csv, name).into_iter().map(|cell| cell.parse().ok()).collect()
}

/// Sex of penguins (11 rows have no label, 2 miss cells), the last class `male`.
fn sexes() -> Scratch {
    let scratch = Scratch::with_examples();
    scratch.done("fit penguins.csv --target sex --drop year -o sex.json");
    scratch
}

#[test]
fn a_threshold_moves_the_cut() {
    let scratch = sexes();
    let shown = scratch.done("predict sex.json penguins.csv --proba --threshold 0.2");
    assert!(shown.starts_with("prediction,p_female,p_male\n"));
    for (class, p) in column(&shown, "prediction").iter().zip(numbers(&shown, "p_male")) {
        assert_eq!(*class, p.map_or("", |p| if p > 0.2 { "male" } else { "female" }));
    }
    let plain = scratch.done("predict sex.json penguins.csv --proba");
    assert_ne!(shown, plain);
    assert_eq!(scratch.done("predict sex.json penguins.csv --proba --threshold 0.5"), plain);
    // A false alarm that costs 1 and a miss that costs 4 are the threshold 1/5.
    let costs = "predict sex.json penguins.csv --proba --costs male:female=4,female:male=1";
    assert_eq!(scratch.done(costs), shown);
    assert_eq!(scratch.done("predict sex.json penguins.csv --proba --costs male:female=4"), shown);
}

#[test]
fn a_tie_goes_to_the_side_that_is_asked_for() {
    let scratch = Scratch::new();
    scratch.write("rows.csv", "x1,x2,class\n2,1,yes\n1,1,no\n1,1,yes\n0,1,no\n");
    let given = "fit --model given --plane x1=1,x2=-1 --classes no,yes";
    let sides = [("first", "no"), ("last", "yes"), ("positive", "yes"), ("reject", "")];
    for (side, class) in sides {
        scratch.done(&format!("{given} --tie {side} -o {side}.json"));
        scratch.done(&format!("{given} -o plain.json"));
        let stored = scratch.done(&format!("predict {side}.json rows.csv"));
        assert_eq!(column(&stored, "prediction"), ["yes", class, class, "no"], "{side}");
        assert_eq!(scratch.done(&format!("predict plain.json rows.csv --tie {side}")), stored);
        // Other decisions keep the side of the model, and a side keeps the decision.
        let moved = scratch.done(&format!("predict {side}.json rows.csv --score-threshold 1"));
        assert_eq!(column(&moved, "prediction"), [class, "no", "no", "no"], "{side}");
        scratch.done(&format!("{given} --score-threshold 1 -o cut.json"));
        assert_eq!(scratch.done(&format!("predict cut.json rows.csv --tie {side}")), moved);
    }
    assert_eq!(column(&scratch.done("predict reject.json rows.csv"), "rejected"), ["no", "yes", "yes", "no"]);
    let judged = json(&scratch.done("evaluate reject.json rows.csv --json"));
    assert_eq!(judged["rejected"]["value"], 0.5);
    assert_eq!(judged["accuracy"]["value"], 1.0);
    let words = |flags: &str| {
        let shown = json(&scratch.done(&format!("{given} {flags} --json")));
        shown["decision"]["words"].as_str().expect("words").to_owned()
    };
    assert_eq!(words("--tie last"), "the class with the largest score, at a tie the last");
    assert_eq!(words("--tie reject"), "the class with the largest score, none at a tie");
    assert_eq!(words("--tie last --score-threshold 1"), "`yes` where its score is at least 1, else `no`");
    assert!(words("--tie reject --score-threshold 1").contains("exceeds 1, none where it is 1, else"));
    // A fit: training accuracy counts the decided rows. The least squares plane of these rows ties on the doubled one.
    let fitted = json(&scratch.done("fit rows.csv -t class -m least-squares --standardize no --tie reject --json"));
    assert_eq!(fitted["decision"]["tie"], "reject");
}

#[test]
fn a_side_of_ties_that_means_nothing_is_refused() {
    let scratch = Scratch::with_examples();
    for (flags, said) in [
        ("--tie positive", "the positive one of two classes, and there are 3"),
        ("--tie last --multiclass one-vs-one -m least-squares", "--tie is about scores that are equal, and one-vs-one"),
        ("--tie last --multiclass linear-machine -m least-squares", "use --ties undetermined, scores or first"),
        ("--tie middle", "invalid value 'middle'"),
    ] {
        let ran = scratch.run(&format!("fit penguins.csv -t species --drop year {flags}"));
        assert!(ran.code == 2 && ran.stderr.contains(said), "{flags}: {}", ran.stderr);
    }
    scratch.done("fit penguins.csv -t species --drop year --multiclass one-vs-one -m least-squares -o pairs.json");
    let ran = scratch.run("predict pairs.json penguins.csv --tie last");
    assert!(ran.code == 2 && ran.stderr.contains("--tie is about scores"), "{}", ran.stderr);
}

#[test]
fn a_stored_decision_is_used_and_replaced() {
    let scratch = sexes();
    scratch.done("fit penguins.csv --target sex --drop year --threshold 0.2 -o low.json");
    let by_flag = scratch.done("predict sex.json penguins.csv --threshold 0.2");
    assert_eq!(scratch.done("predict low.json penguins.csv"), by_flag);
    assert_eq!(
        scratch.done("predict low.json penguins.csv --threshold 0.5"),
        scratch.done("predict sex.json penguins.csv")
    );
    assert_eq!(
        scratch.done("evaluate low.json penguins.csv --json"),
        scratch.done("evaluate sex.json penguins.csv --threshold 0.2 --json")
    );
    // The flags are the whole decision: no threshold is left beside a rejection.
    assert_eq!(
        scratch.done("predict low.json penguins.csv --reject 0.1"),
        scratch.done("predict sex.json penguins.csv --reject 0.1")
    );
    assert!(scratch.done("verify low.json penguins.csv").starts_with("verified"));
    let model = linsep::artifact::Model::load(&scratch.file("low.json")).expect("the model loads");
    model.save(&scratch.file("copy.json")).expect("the model saves");
    assert_eq!(scratch.read("low.json"), scratch.read("copy.json"));
}

#[test]
fn the_sign_of_a_score_without_probabilities_decides() {
    let scratch = Scratch::with_examples();
    scratch.done("fit penguins.csv --target sex --drop year --model least-squares -o m.json");
    scratch.done("fit penguins.csv --target sex --drop year --model least-squares --threshold 0.5 -o half.json");
    let plain = scratch.done("predict m.json penguins.csv");
    assert_eq!(scratch.done("predict half.json penguins.csv"), plain);
    assert_eq!(scratch.done("predict m.json penguins.csv --threshold 0.5"), plain);
}

#[test]
fn the_positive_class_is_the_one_a_threshold_is_for() {
    let scratch = sexes();
    scratch.done("fit penguins.csv --target sex --drop year --positive female --threshold 0.8 -o f.json");
    let shown = scratch.done("predict f.json penguins.csv --proba");
    for (class, p) in column(&shown, "prediction").iter().zip(numbers(&shown, "p_female")) {
        assert_eq!(*class, p.map_or("", |p| if p > 0.8 { "female" } else { "male" }));
    }
    let words = json(&scratch.done("inspect f.json --json"));
    assert_eq!(words["decision"]["words"], "`female` where its probability exceeds 0.8, else `male`");
}

#[test]
fn costs_of_three_classes_come_from_a_file_in_any_order() {
    let scratch = Scratch::with_examples();
    scratch.done("fit penguins.csv --target species --features bill_length_mm,sex -o s.json");
    scratch.write("costs.csv", "truth,Gentoo,Adelie,Chinstrap\nChinstrap,9,9,0\nAdelie,1,0,1\nGentoo,0,1,2\n");
    let shown = scratch.done("predict s.json penguins.csv --proba --costs costs.csv");
    let p: Vec<Vec<Option<f64>>> = ["p_Adelie", "p_Chinstrap", "p_Gentoo"].iter().map(|n| numbers(&shown, n)).collect();
    for (row, class) in column(&shown, "prediction").iter().enumerate() {
        let [Some(a), Some(c), Some(g)] = [p[0][row], p[1][row], p[2][row]] else {
            assert_eq!(*class, "");
            continue;
        };
        let costs = [(9.0 * c + g, "Adelie"), (a + 2.0 * g, "Chinstrap"), (a + 9.0 * c, "Gentoo")];
        let least = costs.iter().min_by(|x, y| x.0.total_cmp(&y.0)).expect("three");
        assert_eq!(*class, least.1, "row {row}");
    }
    let inline = "Adelie:Gentoo=1,Chinstrap:Adelie=9,Chinstrap:Gentoo=9,Gentoo:Chinstrap=2";
    assert_eq!(scratch.done(&format!("predict s.json penguins.csv --proba --costs {inline}")), shown);
    // Naming a mistake at the price of the others changes nothing.
    let plain = scratch.done("predict s.json penguins.csv");
    assert_eq!(scratch.done("predict s.json penguins.csv --costs Adelie:Gentoo=1"), plain);
    assert_ne!(scratch.done(&format!("predict s.json penguins.csv --costs {inline}")), plain);
}

#[test]
fn classes_that_look_like_numbers_or_have_colons_can_have_costs() {
    let scratch = Scratch::new();
    scratch.write("d.csv", "x,y\n1,01\n2,01\n3,a:b\n2,a:b\n4,a:b\n1,a:b\n");
    scratch.done("fit d.csv --target y -o m.json");
    scratch.write("costs.csv", "truth,01,a:b\n01,0,5\na:b,1,0\n");
    let shown = json(&scratch.done("fit d.csv --target y --costs costs.csv --json"));
    assert_eq!(shown["decision"]["costs"], serde_json::json!([[0.0, 5.0], [1.0, 0.0]]));
    let shown = json(&scratch.done("fit d.csv --target y --costs 01:a:b=5 --json"));
    assert_eq!(shown["decision"]["costs"], serde_json::json!([[0.0, 5.0], [1.0, 0.0]]));
}

#[test]
fn rejected_rows_are_told_from_incomplete_ones() {
    let scratch = sexes();
    let shown = scratch.done("predict sex.json penguins.csv --proba --reject 0.1 --keep species");
    assert!(shown.starts_with("species,prediction,rejected,p_female,p_male\n"));
    let (mut rejected, mut incomplete) = (0, 0);
    for ((class, says), p) in
        column(&shown, "prediction").iter().zip(column(&shown, "rejected")).zip(numbers(&shown, "p_male"))
    {
        match p {
            None => {
                assert_eq!((*class, says), ("", ""));
                incomplete += 1;
            }
            Some(p) if p.min(1.0 - p) > 0.1 => {
                assert_eq!((*class, says), ("", "yes"));
                rejected += 1;
            }
            Some(p) => assert_eq!((*class, says), (if p > 0.5 { "male" } else { "female" }, "no")),
        }
    }
    assert!(rejected > 20 && incomplete == 2, "{rejected} {incomplete}");
    assert!(!scratch.done("predict sex.json penguins.csv").contains("rejected"));
}

#[test]
fn evaluations_tell_what_was_rejected_and_what_it_costs() {
    let scratch = sexes();
    let plain = json(&scratch.done("evaluate sex.json penguins.csv --json"));
    assert!(plain["rejected"].is_null() && plain["mean_cost"].is_null());
    let shown = json(&scratch.done("evaluate sex.json penguins.csv --reject 0.1 --json"));
    let value = |shown: &Value, key: &str| shown[key]["value"].as_f64().unwrap_or_else(|| panic!("{key}"));
    let (rejected, accuracy) = (value(&shown, "rejected"), value(&shown, "accuracy"));
    assert!(rejected > 0.05 && accuracy > value(&plain, "accuracy"));
    for key in ["log_loss", "brier", "auc"] {
        assert_eq!(shown[key], plain[key]);
    }
    // What Chow's rule makes small: mistakes at 1, rejections at 0.1.
    let cost = (1.0 - rejected) * (1.0 - accuracy) + 0.1 * rejected;
    assert!((value(&shown, "mean_cost") - cost).abs() < 1e-12);
    let text = scratch.done("evaluate sex.json penguins.csv --reject 0.1");
    assert!(text.contains("rejected, and accuracy, F1 and the confusion are of the rest"), "{text}");
    // With costs alone the mean follows from the confusion.
    let shown = json(&scratch.done("evaluate sex.json penguins.csv --costs male:female=4 --json"));
    let counts = &shown["confusion"]["counts"];
    let count = |k: usize, j: usize| counts[k][j].as_f64().expect("a count");
    assert!((value(&shown, "mean_cost") - (count(0, 1) + 4.0 * count(1, 0)) / 333.0).abs() < 1e-12);
    assert!(shown["rejected"].is_null());
    // Nothing is decided: said, and no number made up.
    let none = json(&scratch.done("evaluate sex.json penguins.csv --reject 0 --json"));
    assert_eq!(none["rejected"]["value"], 1.0);
    assert_eq!(none["accuracy"]["reason"], "no row was decided");
}

#[test]
fn a_fit_under_a_decision_is_judged_by_it() {
    let scratch = sexes();
    let fit =
        |flags: &str| json(&scratch.done(&format!("fit penguins.csv --target sex --drop year --cv 5 {flags} --json")));
    let (plain, careful) = (fit(""), fit("--reject 0.1"));
    let (training, folds) = (&careful["training"], &careful["cross_validation"]);
    assert!(training["accuracy"].as_f64() > plain["training"]["accuracy"].as_f64());
    assert!(folds["accuracy"].as_f64() > plain["cross_validation"]["accuracy"].as_f64());
    assert!(training["rejected"].as_f64() > Some(0.05) && folds["rejected"].as_f64() > Some(0.05));
    assert!(plain["training"]["rejected"].is_null() && plain["cross_validation"]["rejected"].is_null());
    assert_eq!((&careful["weights"], &careful["objective"]), (&plain["weights"], &plain["objective"]));
    // A model that decides nothing on its own rows can be kept and read.
    scratch.done("fit penguins.csv --target sex --drop year --reject 0 --cv 5 -o never.json");
    let never = scratch.done("inspect never.json");
    assert!(never.contains("nothing decided on the rows it was fitted on; nothing decided in 5-fold"), "{never}");
}

#[test]
fn inspect_says_how_a_model_decides() {
    let scratch = sexes();
    assert!(
        scratch.done("inspect sex.json").contains("decision     the class with the largest score, at a tie the first")
    );
    let decision = &json(&scratch.done("inspect sex.json --json"))["decision"];
    assert_eq!((&decision["rule"], &decision["reject"]), (&Value::from("arg_max"), &Value::Null));
    let fitted = scratch.done("fit penguins.csv --target sex --drop year --costs male:female=4 --reject 0.3 -o c.json");
    let words = "the smallest expected cost: `female` taken for `male` 1, `male` taken for `female` 4";
    let flat = |text: String| text.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(flat(fitted.clone()).contains(words), "{fitted}");
    assert!(flat(fitted).contains("(`male` where its probability exceeds 0.2000); none where that exceeds 0.3"));
    let decision = &json(&scratch.done("inspect c.json --json"))["decision"];
    assert_eq!(decision["costs"], serde_json::json!([[0.0, 1.0], [4.0, 0.0]]));
    assert_eq!((&decision["rule"], &decision["reject"]), (&Value::from("cost"), &Value::from(0.3)));
}

#[test]
fn the_first_form_of_the_model_file_is_still_written_and_read() {
    let scratch = sexes();
    let text = String::from_utf8(scratch.read("sex.json")).expect("text");
    assert!(text.contains("\"decision\":\"arg_max\""));
    assert!(text.contains("\"version\":1"));
}

//! Tables as other programs write them: read, fitted, verified, predicted, written again.

mod common;

use common::Scratch;
use serde_json::Value;

/// Sixty rows as a spreadsheet in German writes them: decimal commas, percent signs, dates, a spare column and spare rows.
fn spreadsheet(rows: std::ops::Range<usize>) -> String {
    let mut text = "sep=;\r\nPreis;Anteil;Tag;Art;y;;\r\n".to_owned();
    for i in rows {
        let price = format!("{}.{:03},{}", 1 + i % 3, i * 37 % 1000, i % 10);
        let day = format!("{:02}.{:02}.2024", 1 + i * 7 % 28, 1 + i % 12);
        let label = if (i * 37 % 1000) + 40 * (i % 7) > 600 { "ja" } else { "nein" };
        text += &format!("{price};{} %;{day}; {} ;{label};;\r\n", i * 13 % 100, ["rot", "blau"][i / 3 % 2]);
    }
    text + ";;;;;;\r\n;;;;;;\r\n"
}

/// The same as a program writes it, dates as days since the first of the table above.
fn program(rows: std::ops::Range<usize>) -> String {
    let mut text = "Preis,Anteil,Tag,Art,y\n".to_owned();
    let before = [0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335];
    for i in rows {
        let price = format!("{}{:03}.{}", 1 + i % 3, i * 37 % 1000, i % 10);
        let label = if (i * 37 % 1000) + 40 * (i % 7) > 600 { "ja" } else { "nein" };
        let day = before[i % 12] + i * 7 % 28;
        text += &format!("{price},{},{day},{},{label}\n", i * 13 % 100, ["rot", "blau"][i / 3 % 2]);
    }
    text
}

const STYLE: &str = "--decimal , --thousands . -q";

#[test]
fn a_spreadsheet_gives_the_model_of_a_program() {
    let scratch = Scratch::new();
    scratch.write("s.csv", spreadsheet(0..60));
    scratch.write("p.csv", program(0..60));
    let said = scratch.done(&format!("fit s.csv -t y {STYLE} -o s.json"));
    scratch.done("fit p.csv -t y -o p.json");
    for line in [
        "Anteil in percent: 12 % is 12",
        "Tag in days since 2024-01-01 (dates as day, month, year)",
        "decimal sign `,`",
    ] {
        assert!(said.contains(line), "{said}");
    }
    let model = |name: &str| -> Value { serde_json::from_slice(&scratch.read(name)).unwrap() };
    let (styled, plain) = (model("s.json"), model("p.json"));
    for part in ["discriminant", "recipe", "provenance", "training", "certificate"] {
        assert_eq!(styled["model"][part], plain["model"][part], "{part}");
    }
    assert!(plain["model"].get("reading").is_none(), "a plain model is what it was");
    // Read by the model alone: the flags are in it.
    scratch.done("verify s.json s.csv -q");
    // Later rows, none of which is on the first day.
    scratch.write("new.csv", spreadsheet(61..70));
    scratch.write("newp.csv", program(61..70));
    assert_eq!(scratch.done("predict s.json new.csv --scores -q"), scratch.done("predict p.json newp.csv --scores"));
    // Dates that are kept are dates.
    let kept = scratch.done("predict s.json new.csv --keep Tag,Preis -q");
    assert!(kept.contains("\n2024-02-08,"), "{kept}");
    scratch.write("t.csv", "when,y\n2024-01-02T10:30:00,a\n2023-12-31T23:59:59.25,b\n2024-02-29,a\n,b\n2024-01-01,b\n");
    scratch.done("fit t.csv -t y -q -o t.json");
    scratch.done("predict t.json t.csv --keep when -q -o t.jsonl");
    let text = String::from_utf8(scratch.read("t.jsonl")).unwrap();
    let when: Vec<Value> =
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["when"].clone()).collect();
    let wanted =
        serde_json::json!(["2024-01-02T10:30:00", "2023-12-31T23:59:59.250", "2024-02-29", null, "2024-01-01"]);
    assert_eq!(Value::from(when), wanted);
    // Another first day is another table.
    let text = String::from_utf8(scratch.read("s.csv")).unwrap();
    scratch.write("moved.csv", text.replacen("01.01.2024", "02.01.2024", 1));
    assert_eq!(scratch.run("verify s.json moved.csv").code, 1);
    let plain_cell = scratch.run("predict s.json newp.csv");
    assert_eq!(plain_cell.code, 2, "{}", plain_cell.stdout);
}

/// What `write.csv` of R and `to_csv` of pandas write of the same frame.
#[test]
fn row_names_are_no_feature() {
    let scratch = Scratch::new();
    type Cells = (usize, &'static str, &'static str);
    let cells: Vec<Cells> =
        (0..40).map(|i| (i * 7 % 11, ["a", "b"][i % 2], ["no", "yes"][usize::from(i * 7 % 11 + i % 3 > 6)])).collect();
    let body = |row: &dyn Fn(usize, &Cells) -> String| -> String {
        cells.iter().enumerate().map(|(i, cell)| row(i, cell)).collect()
    };
    scratch.write("plain.csv", format!("x,k,y\n{}", body(&|_, (x, k, y)| format!("{x},{k},{y}\n"))));
    let r = body(&|i, (x, k, y)| format!("\"{}\",{x},\"{k}\",\"{y}\"\n", i + 1));
    scratch.write("r.csv", format!("\"\",\"x\",\"k\",\"y\"\n{r}"));
    scratch.write("table.csv", format!("\"x\",\"k\",\"y\"\n{r}"));
    scratch.write("pandas.csv", format!(",x,k,y\n{}", body(&|i, (x, k, y)| format!("{i},{x},{k},{y}\n"))));
    scratch.done("fit plain.csv -t y -o plain.json");
    let plain = scratch.read("plain.json");
    for name in ["r", "table", "pandas"] {
        let ran = scratch.run(&format!("fit {name}.csv -t y -o {name}.json"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stderr.contains("row names, left out"), "{}", ran.stderr);
        assert_eq!(scratch.read(&format!("{name}.json")), plain, "{name}");
    }
}

#[test]
fn every_ending_holds_the_same() {
    let scratch = Scratch::with_examples();
    scratch.done("fit penguins.csv -t species -o m.json");
    let straight = scratch.done("predict m.json penguins.csv --proba --keep all");
    assert!(straight.starts_with("species,island,"), "{straight:.80}");
    let again = scratch.done("predict m.json penguins.csv --proba");
    for ending in ["csv", "tsv", "jsonl", "parquet", "arrow"] {
        scratch.done(&format!("predict m.json penguins.csv --proba --keep all -o out.{ending}"));
        // The columns of the input are among those written.
        assert_eq!(scratch.done(&format!("predict m.json out.{ending} --proba")), again, "{ending}");
        assert_eq!(scratch.done(&format!("predict m.json out.{ending} --keep p_Adelie")).lines().count(), 345);
    }
    assert_eq!(String::from_utf8(scratch.read("out.csv")).unwrap(), straight);
    let first: Value =
        serde_json::from_slice(scratch.read("out.jsonl").split(|b| *b == b'\n').next().unwrap()).unwrap();
    assert!(first["p_Adelie"].as_f64().is_some_and(|p| p > 0.9) && first["species"] == "Adelie", "{first}");
}

#[test]
fn unseen_indices_fall_under_the_policy() {
    let scratch = Scratch::new();
    scratch.write("a.svm", "1 1:1 3:1\n0 2:1\n1 1:2\n0 2:3 3:1\n");
    scratch.write("b.svm", "1 1:1\n0 2:1 7:1\n");
    scratch.done("fit a.svm -o m.json");
    let ran = scratch.run("predict m.json b.svm");
    assert!(ran.code == 2 && ran.stderr.contains("b.svm, line 2: index 7 was not seen"), "{}", ran.stderr);
    assert!(ran.stderr.contains("the largest was 3") && ran.stderr.contains("--unknown zero"), "{}", ran.stderr);
    assert_eq!(scratch.done("predict m.json b.svm --unknown zero"), "prediction\n1\n0\n");
    assert_eq!(scratch.done("predict m.json b.svm --unknown missing"), "prediction\n1\n\"\"\n");
    // Counted from zero: the model remembers it for files that have no index 0.
    scratch.write("z.svm", "1 0:1 2:1\n0 1:1\n1 0:2\n0 1:3 2:1\n");
    let ran = scratch.run("fit z.svm -o z.json");
    assert!(ran.stderr.contains("count from 0") && ran.stdout.contains("index 0 is column 1"), "{}", ran.stderr);
    scratch.write("later.svm", "0 1:1\n");
    scratch.write("b2.svm", "0 2:1\n");
    assert_eq!(scratch.done("predict z.json later.svm --scores"), scratch.done("predict m.json b2.svm --scores"));
}

#[test]
fn cells_that_are_filled_in_are_counted() {
    let scratch = Scratch::new();
    scratch.write("f.csv", "x,z,y\n1,a,no\n2,,yes\n,b,no\n4,a,yes\n,a,\n5,b,no\n");
    let said = scratch.done("fit f.csv -t y --missing mean -o m.json");
    assert!(said.contains("2 cells filled in with training means: x 1, z 1"), "{said}");
    scratch.done("verify m.json f.csv");
    let model: Value = serde_json::from_slice(&scratch.read("m.json")).unwrap();
    assert_eq!(model["model"]["training"]["filled"], serde_json::json!([["x", 1], ["z", 1]]));
    let ran = scratch.run("predict m.json f.csv");
    assert!(ran.stderr.contains("note: 3 cells filled in with training means: x 2, z 1"), "{}", ran.stderr);
    let json: Value = serde_json::from_str(&scratch.done("fit f.csv -t y --missing mean --json")).unwrap();
    assert!(json.to_string().contains("\"filled\":[[\"x\",1],[\"z\",1]]"), "{json}");
}

#[test]
fn questions_are_asked_in_text_and_json() {
    let scratch = Scratch::new();
    let row = |i: usize| {
        let label = ["no", "yes"][usize::from(i * 7 % 13 > 5)];
        format!("{},{:05},{},{},{label}\n", i + 1, i * 7 % 90, i * 7 % 13, ["M", "m", "F"][i % 3])
    };
    scratch.write("f.csv", format!("id,zip,x,sex,y\n{}", (0..60).map(row).collect::<String>()));
    let said = scratch.done("fit f.csv -t y");
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["leave it out with --drop id", "keep the text with --text zip", "`M` and `m`"] {
        assert!(flat.contains(part), "{said}");
    }
    assert!(
        said.lines().filter(|l| l.contains("question") || l.starts_with("      ")).all(|l| l.chars().count() <= 80)
    );
    let json: Value = serde_json::from_str(&scratch.done("fit f.csv -t y --json")).unwrap();
    let codes: Vec<&str> = json["questions"].as_array().unwrap().iter().filter_map(|q| q["code"].as_str()).collect();
    assert_eq!(codes, ["identifier", "leading_zeros", "leakage", "variants"], "{json}");
    let quiet = scratch.done("fit f.csv -t y --features sex --text zip --json");
    let json: Value = serde_json::from_str(&quiet).unwrap();
    assert_eq!(json["questions"].as_array().map(Vec::len), Some(1));
}

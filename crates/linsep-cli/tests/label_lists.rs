//! LIBSVM rows with several labels: the same models as of columns of yes and no.

mod common;

use common::Scratch;

/// Rows with up to three labels, as LIBSVM and as CSV.
fn rows(n: usize) -> (String, String) {
    let (mut svm, mut csv) = (String::new(), "p,q,r,a,b,c\n".to_owned());
    for i in 0..n {
        let (a, b, c) = ((i * 37 % 101) as f64 / 50.0 - 1.0, (i * 53 % 97) as f64 / 48.0 - 1.0, (i * 7 % 5) as f64);
        let has = [a + 0.3 * c > 0.4, b + 0.2 * a > 0.0, a - b + 0.1 * c > 0.2];
        let names = ["1", "2", "10"];
        let labels: Vec<&str> = names.iter().zip(has).filter(|(_, has)| *has).map(|(name, _)| *name).collect();
        svm += &format!("{} 1:{a} 2:{b} 3:{c}\n", labels.join(","));
        let flags: Vec<String> = has.iter().map(|has| u8::from(*has).to_string()).collect();
        csv += &format!("{},{a},{b},{c}\n", flags.join(","));
    }
    (svm, csv)
}

#[test]
fn several_labels_are_columns() {
    let scratch = Scratch::new();
    let (svm, csv) = rows(80);
    assert!(svm.lines().any(|line| line.starts_with(' ')), "some row has no label");
    scratch.write("s.svm", &svm);
    scratch.write("c.csv", &csv);
    let ran = scratch.run("fit s.svm -o s.json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("are several: 3 columns of 1 and 0, among them `label="), "{}", ran.stderr);
    for line in ["label `label=1`", "label `label=2`", "label `label=10`", "3 features", "models of 3 labels"] {
        assert!(ran.stdout.contains(line), "{}", ran.stdout);
    }
    scratch.done("verify s.json s.svm -q");
    let predicted = scratch.done("predict s.json s.svm -q");
    assert!(predicted.starts_with("prediction_label=1,prediction_label=2,prediction_label=10\n"), "{predicted}");
    // One of them, and the others are no features.
    let one = scratch.done("fit s.svm -t label=2 -q -o one.json");
    assert!(one.contains("3 features, target `label=2`"), "{one}");
    let alone: Vec<String> = scratch.done("predict one.json s.svm -q").lines().skip(1).map(str::to_owned).collect();
    let among = |line: &str| line.split(',').nth(1).unwrap().to_owned();
    assert_eq!(alone, predicted.lines().skip(1).map(among).collect::<Vec<String>>());
    // Rows with one label each, or with others, are read as the model's were.
    scratch.write("few.svm", "1 1:0.5 2:0.1\n10 1:-0.2 2:0.9 3:2\n");
    let judged = scratch.done("evaluate s.json few.svm -q");
    assert!(judged.contains("3 labels together, on the 2 rows that have them all"), "{judged}");
    scratch.write("other.svm", "77,1 1:0.5 2:0.1\n10 1:-0.2 2:0.9 3:2\n");
    scratch.done("evaluate s.json other.svm -q");
    // As classes, where that is meant and every row has some.
    let all: String = svm.lines().filter(|l| !l.starts_with(' ')).map(|l| format!("{l}\n")).collect();
    scratch.write("all.svm", &all);
    assert!(scratch.done("fit all.svm --text label -q").contains("1,2 "), "combinations as classes");
    // The same models as of columns of yes and no.
    scratch.done("fit c.csv -t p,q,r --standardize no -q -o c.json");
    let rest = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<String>>();
    assert_eq!(rest(&predicted), rest(&scratch.done("predict c.json c.csv -q")));
}

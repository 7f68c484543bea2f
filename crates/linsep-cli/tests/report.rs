//! Reports of models.

mod common;

use common::Scratch;

fn text(scratch: &Scratch, name: &str) -> String {
    String::from_utf8(scratch.read(name)).expect("a report is text")
}

/// The examples with a model of sex.
fn fitted(more: &str) -> Scratch {
    let scratch = Scratch::with_examples();
    scratch.done(&format!("fit penguins.csv --target sex --drop year {more} -o m.json"));
    scratch
}

#[test]
fn one_file_tells_everything_and_asks_for_nothing() {
    let scratch = fitted("");
    let said = scratch.done("report m.json penguins.csv --by island -o r.html");
    assert_eq!(said, "report written to r.html\n");
    let page = text(&scratch, "r.html");
    for title in
        ["What was fitted", "Certificate", "Data", "Coefficients", "How good it is", "Pictures", "Rows to look at"]
    {
        assert!(page.contains(&format!(">{title}</h2>")), "{title}");
    }
    assert!(page.contains(">By island</h2>") && page.contains("log(1+exp(−y·z))"));
    assert!(page.contains("was recomputed from the table when this report was written, and holds"));
    // Five pictures, light and dark.
    assert_eq!(page.matches("<svg").count(), 10);
    // The one address is the name of the language of pictures, which nobody asks for.
    let addresses = page.matches("://").count();
    assert_eq!(addresses, page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count());
    assert!(!page.contains("<script") && !page.contains("@import") && !page.contains("url("));
    assert!(page.contains("prefers-color-scheme:dark") && page.contains("@media print"));
    // Elements that open also close.
    for tag in ["section", "table", "figure", "pre", "div", "dl", "svg", "main"] {
        assert_eq!(page.matches(&format!("<{tag}")).count(), page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    // The same bytes again.
    scratch.done("report m.json penguins.csv --by island -o again.html");
    assert_eq!(page, text(&scratch, "again.html"));
}

#[test]
fn the_lists_are_of_the_rows_that_they_name() {
    let scratch = fitted("");
    scratch.done("report m.json penguins.csv -o r.md");
    let page = text(&scratch, "r.md");
    let predicted = scratch.done("predict m.json penguins.csv --proba --keep sex -o -");
    let mistakes = page.split("mistakes. Is the label right").nth(1).expect("mistakes");
    let listed = mistakes.lines().filter(|l| l.starts_with("| penguins.csv"));
    let mut last = 0.0;
    for line in listed.clone() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        assert_ne!(cells[1], cells[2], "{line}");
        // The line of the file is that of the prediction: both have a header.
        let number: usize = cells[0].rsplit(' ').next().and_then(|n| n.parse().ok()).expect("a line");
        let row = predicted.lines().nth(number - 1).expect("a row");
        assert!(row.contains(cells[1]) && row.contains(cells[2]), "{line} and {row}");
        let sure: f64 = cells[4].parse().expect("a probability");
        assert!(sure >= last && sure < 0.5, "{line}");
        last = sure;
    }
    assert_eq!(listed.count(), 8);
}

#[test]
fn rows_of_the_fit_in_the_test_are_counted() {
    let scratch = Scratch::with_examples();
    let all = String::from_utf8(scratch.read("penguins.csv")).expect("text");
    let lines: Vec<&str> = all.lines().collect();
    let some = |wanted: &dyn Fn(usize) -> bool| -> String {
        let rows = lines[1..].iter().enumerate().filter(|(i, _)| wanted(*i)).map(|(_, line)| format!("{line}\n"));
        format!("{}\n{}", lines[0], rows.collect::<String>())
    };
    scratch.write("train.csv", some(&|i| !i.is_multiple_of(3)));
    scratch.write("test.csv", some(&|i| i.is_multiple_of(3)));
    // Seven rows more that the fit has seen: 1, 4, … 19.
    scratch.write("leaky.csv", some(&|i| i.is_multiple_of(3) || (i % 3 == 1 && i < 21)));
    scratch.done("fit train.csv --target sex --drop year -o m.json");
    scratch.done("report m.json train.csv --test test.csv -o r.md");
    let page = text(&scratch, "r.md");
    assert!(page.contains("None of the 115 test rows is also a row of the fit"), "{page}");
    assert!(page.contains("Of the test table") && page.contains("linsep guarantee m.json test.csv"));
    scratch.done("report m.json train.csv --test leaky.csv -o leaky.md");
    assert!(text(&scratch, "leaky.md").contains("7 of the 122 test rows are also in the table of the fit"));
    scratch.done("report m.json train.csv --test train.csv -o same.md");
    assert!(text(&scratch, "same.md").contains("The test table is the table of the fit: every figure is too good"));
}

#[test]
fn names_that_are_markup_stay_names() {
    let scratch = Scratch::new();
    let rows =
        (0..40).map(|i: usize| format!("{},{}\n", i % 10, ["<b>no</b>", "</pre><script>yes"][usize::from(i % 10 > 4)]));
    scratch.write("t.csv", format!("<i>x|`,<u>y\n{}", rows.collect::<String>()));
    scratch.done("fit t.csv --target <u>y -o m.json");
    scratch.done("report m.json t.csv -o r.html");
    let page = text(&scratch, "r.html");
    assert!(
        !page.contains("<script>yes") && !page.contains("<b>no") && !page.contains("<u>y") && !page.contains("<i>x")
    );
    assert!(page.contains("&lt;script&gt;yes"));
    scratch.done("report m.json t.csv -o r.md");
    assert!(text(&scratch, "r.md").contains("\\<i>x\\|\\`"));
}

#[test]
fn models_of_every_kind_have_a_report() {
    let scratch = Scratch::with_examples();
    let models = [
        "--model lda",
        "--model qda",
        "--model naive-bayes",
        "--model svm --kernel rbf",
        "--model perceptron",
        "--model svm --multiclass one-vs-one",
        "--penalty none --features body_mass_g",
        "--reject 0.3",
    ];
    for model in models {
        let ran = scratch.run(&format!("fit penguins.csv --target species --drop year {model} -o m.json"));
        if ran.code == 1 {
            continue;
        }
        scratch.done("report m.json penguins.csv --by sex -o r.html");
        assert!(text(&scratch, "r.html").contains("Provenance"), "{model}");
    }
    scratch.done("fit penguins.csv --target sex --features body_mass_g,bill_depth_mm --penalty none -o i.json");
    scratch.done("report i.json penguins.csv -o i.md");
    let page = text(&scratch, "i.md");
    assert!(page.contains("std.error") || page.contains("std. error") || page.contains("standard error"), "{page}");
    scratch.done("tune penguins.csv --target sex --features body_mass_g --lambdas 5 -o t.json");
    scratch.done("report t.json penguins.csv -o t.md");
    assert!(text(&scratch, "t.md").contains("## The search over settings"));
}

//! What bad input gets: a clear error with its place and a remedy, exit code 2, and nothing written.
//!
//! To add a case, add a row to [`cases`]. The files `p.csv` (two classes, a text column), `t.csv` (three classes) and
//! the models `p.json`, `filled.json` (fitted on `p.csv`, missing cells dropped or filled in), `lda.json`,
//! `squares.json` (least squares on `p.csv`), `pocket.json` (a pocket perceptron on it), `svm.json` (a support vector machine on it) and `gamma.json` (a naive Bayes model of positive numbers) are there for every
//! row.

mod common;

use common::Scratch;
use common::book::{archive, book, rows};
use serde_json::{Value, json};

/// One row of the table.
struct Case {
    /// What is wrong.
    name: &'static str,
    /// Files to write before.
    files: Vec<(&'static str, Vec<u8>)>,
    /// The command line without `linsep`.
    line: &'static str,
    /// Expected exit code.
    code: i32,
    /// What standard error (exit code 2) or standard output (other codes) must contain.
    said: &'static [&'static str],
}

/// A case with one file.
fn bad(
    name: &'static str,
    file: (&'static str, impl Into<Vec<u8>>),
    line: &'static str,
    said: &'static [&'static str],
) -> Case {
    Case { name, files: vec![(file.0, file.1.into())], line, code: 2, said }
}

/// A case on the files that are always there.
fn usage(name: &'static str, line: &'static str, said: &'static [&'static str]) -> Case {
    Case { name, files: Vec::new(), line, code: 2, said }
}

/// A case that is no error, but must be said.
fn fine(
    name: &'static str,
    file: (&'static str, impl Into<Vec<u8>>),
    line: &'static str,
    said: &'static [&'static str],
) -> Case {
    Case { name, files: vec![(file.0, file.1.into())], line, code: 0, said }
}

const PAIR: &str = "x,kind,w,o,y\n1,a,1,0,no\n2,b,1,0,no\n3,a,2,0.5,yes\n2,a,1,0,no\n4,b,1,0,yes\n3,b,1,0,no\n\
                    5,a,1,0,yes\n2,a,1,0,yes\n";
const THREE: &str = "x,z,o,y\n1,1,0,a\n2,1,0,a\n3,2,0,b\n4,1,0,b\n5,3,0,c\n6,5,0,c\n2,3,0,b\n4,4,0,c\n";

/// The pair table with one cell replaced, given as the whole first line.
fn pair(first: &str) -> Vec<u8> {
    PAIR.replacen("1,a,1,0,no", first, 1).into_bytes()
}

fn cases() -> Vec<Case> {
    let mut all = columns_and_classes();
    all.extend(indicators_and_label_lists());
    all.extend(values());
    all.extend(weights());
    all.extend(formats());
    all.extend(cells());
    all.extend(lines_and_endings());
    all.extend(prediction());
    all.extend(geometry());
    all.extend(model_files());
    all.extend(settings());
    all.extend(transforms_and_bases());
    all.extend(formulas());
    all.extend(naive_bayes());
    all.extend(perceptrons());
    all.extend(multiclass());
    all.extend(class_weights_and_starts());
    all.extend(stochastic());
    all.extend(sigmoid());
    all.extend(separability());
    all.extend(decisions());
    all.extend(conformal_sets());
    all.extend(other_inference());
    all.extend(resampling());
    all.extend(studies());
    all.extend(simulation());
    all.extend(pictures());
    all.extend(workbooks());
    all
}

fn indicators_and_label_lists() -> Vec<Case> {
    vec![
        usage("no such policy", "fit p.csv -t y --missing indicators", &["indicators", "indicator"]),
        usage(
            "indicators beside a formula",
            "fit p.csv --formula 'y ~ x' --missing indicator",
            &["a formula says which columns", "--missing mean"],
        ),
        usage(
            "indicators for naive Bayes",
            "fit p.csv -t y -m naive-bayes --missing indicator",
            &["naive Bayes", "--missing drop or mean"],
        ),
        usage(
            "indicators in replicates",
            "resample p.csv -t y --features x --missing indicator",
            &["--missing indicator learns values from all rows"],
        ),
        usage(
            "indicators in kept sums",
            "fit p.csv -t y -m lda --features x --missing indicator --keep-statistics",
            &["--missing", "means that change"],
        ),
        bad(
            "a column that is missing in every row",
            ("f.csv", "x,z,y\n1,,a\n2,,b\n3,,a\n"),
            "fit f.csv -t y --missing indicator --number z",
            &["column `z` is missing in every row", "--drop z"],
        ),
        bad("an empty label", ("f.svm", "1,,2 1:1\n2 1:2\n"), "fit f.svm", &["line 1", "`1,,2`", "empty label"]),
        bad("a comma behind a label", ("f.svm", "1 1:1\n1,2 1:3\n2, 1:2\n"), "fit f.svm", &["line 3", "`2,`"]),
        bad("a row without a label", ("f.svm", "1 1:1\n3:2\n2 1:3\n"), "fit f.svm", &["f.svm, line 2", "no label"]),
        bad(
            "several labels where one is predicted",
            ("f.svm", "1,2 1:1\n2 1:2\n1 1:3\n"),
            "infer f.svm",
            &["several labels", "--target label=1"],
        ),
        bad(
            "a label that no row has",
            ("f.svm", "1,2 1:1\n2 1:2\n1 1:3\n"),
            "fit f.svm -t label=7",
            &["no column `label=7`", "label=1"],
        ),
        bad(
            "a dash for a minus",
            ("f.csv", "x,y\n\u{2212}5,a\n3,b\n\u{2212}2,a\n4,b\n"),
            "fit f.csv -t y",
            &["f.csv, line 2, column `x`", "minus sign is a dash", "--text x"],
        ),
        bad(
            "spaces between thousands and a point",
            ("f.csv", "x,y\n1 000,a\n2 000,b\n3 500,a\n"),
            "fit f.csv -t y",
            &["line 2", "`1 000`", "--thousands space"],
        ),
        bad(
            "a comment above the header",
            ("f.csv", "# made by hand\nx,y\n1,a\n2,b\n"),
            "fit f.csv -t y",
            &["line 2", "the header has 1", "--comment #"],
        ),
        bad(
            "a title above the header",
            ("f.csv", "Report\nx,y\n1,a\n2,b\n"),
            "fit f.csv -t y",
            &["line 2", "the header has 1", "--skip 1"],
        ),
        usage("R's factor", "fit p.csv --formula 'y ~ factor(kind)'", &["no function `factor`", "C(column)"]),
        usage(
            "R's offset",
            "fit p.csv --formula 'y ~ x + offset(o)'",
            &["no function `offset`", "outside the formula"],
        ),
    ]
}

/// A workbook of one sheet.
fn sheet(cells: &str) -> Vec<u8> {
    book(&[("data", &rows(cells), "")])
}

/// The same with merged cells.
fn merged(cells: &str, range: &str) -> Vec<u8> {
    let merged = format!("<mergeCells count=\"1\"><mergeCell ref=\"{range}\"/></mergeCells>");
    book(&[("data", &rows(cells), &merged)])
}

fn workbooks() -> Vec<Case> {
    let fit = "fit a.xlsx -t y";
    vec![
        bad("a workbook without sheets", ("a.xlsx", book(&[])), fit, &["a.xlsx", "no sheet of cells"]),
        bad("an empty sheet", ("a.xlsx", book(&[("data", "", "")])), fit, &["a.xlsx", "is empty (`data`)"]),
        bad(
            "empty sheets",
            ("a.xlsx", book(&[("data", "", ""), ("more", "<row r=\"3\"/>", "")])),
            fit,
            &["every sheet", "(`data`, `more`)"],
        ),
        bad("a header alone", ("a.xlsx", sheet("x|y\n")), fit, &["sheet `data` has a header but no row"]),
        bad(
            "a merged header",
            ("a.xlsx", merged("x||y\n1|2|a\n", "A1:B1")),
            fit,
            &["line 1", "A1:B1 of sheet `data` are merged", "--skip"],
        ),
        bad(
            "a header of two rows",
            ("a.xlsx", merged("x|y\n|\n1|a\n", "A1:A2")),
            fit,
            &["A1:A2 of sheet `data` are merged"],
        ),
        bad(
            "merged cells among the rows",
            ("a.xlsx", merged("x|y\n1|a\n|b\n", "A2:A3")),
            fit,
            &["line 2", "A2:A3", "only the first of them"],
        ),
        bad("a name in the middle that is empty", ("a.xlsx", sheet("x||y\n1|2|a\n")), fit, &["cell B1", "is empty"]),
        bad(
            "a date beyond all days",
            ("a.xlsx", sheet("d|y\n[s=\"1\"><v>45657</v>]|a\n[s=\"1\"><v>1e9</v>]|b\n")),
            fit,
            &["line 3", "cell A3 of sheet `data` has the format of a date and holds 1e9"],
        ),
        bad("a name twice", ("a.xlsx", sheet("x|x|y\n1|2|a\n")), fit, &["sheet `data`", "same name: 1 and 2"]),
        bad(
            "an error in a cell",
            ("a.xlsx", sheet("x|y\n1|a\n[t=\"e\"><v>#DIV/0!</v>]|b\n")),
            fit,
            &["line 3", "cell A3 of sheet `data` holds the error #DIV/0!", "--na-values"],
        ),
        bad(
            "a formula without a value",
            ("a.xlsx", sheet("x|y\n1|a\n[><f>A2+1</f>]|b\n")),
            fit,
            &["cell A3", "never computed", "save it"],
        ),
        bad(
            "text among numbers of a sheet",
            ("a.xlsx", sheet(&format!("x|y\n{}oops|a\n", "1|a\n2|b\n".repeat(60)))),
            fit,
            &["a.xlsx, line 122", "column `x`", "sheet `data`: `oops` is not a number"],
        ),
        bad(
            "a sheet that is not there",
            ("a.xlsx", book(&[("data", &rows("x|y\n1|a\n"), ""), ("more", "", "")])),
            "fit a.xlsx -t y --sheet dat",
            &["no sheet `dat`", "did you mean `data`?"],
        ),
        bad(
            "a sheet that is nothing like the others",
            ("a.xlsx", sheet("x|y\n1|a\n")),
            "fit a.xlsx -t y --sheet Q3",
            &["no sheet `Q3`", "the sheets are `data`"],
        ),
        bad(
            "the empty one of two sheets",
            ("a.xlsx", book(&[("data", &rows("x|y\n1|a\n"), ""), ("more", "", "")])),
            "fit a.xlsx -t y --sheet more",
            &["sheet `more` has no cells"],
        ),
        usage("a sheet of a text file", "fit p.csv -t y --sheet data", &["no workbook", "leave --sheet out"]),
        bad("all rows left out", ("a.xlsx", sheet("x|y\n1|a\n")), "fit a.xlsx -t y --skip 9", &["below the rows"]),
        bad("a cut workbook", ("a.xlsx", sheet("x|y\n1|a\n")[..400].to_vec()), fit, &["not a readable workbook"]),
        bad("text named as a workbook", ("a.xlsx", "x,y\n1,a\n"), fit, &["a.xlsx", "what is in it is none", ".csv"]),
        bad(
            "a workbook of Excel 97",
            ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest".to_vec()),
            "fit a.xls -t y",
            &["Excel 97 to 2003", "save it as .xlsx"],
        ),
        bad(
            "an OpenDocument sheet",
            ("a.ods", archive(&[("mimetype".into(), "application/vnd.oasis.opendocument.spreadsheet".into())])),
            "fit a.ods -t y",
            &["OpenDocument"],
        ),
        bad(
            "several arrays in one file",
            ("a.npz", archive(&[("x.npy".into(), "1".into())])),
            "fit a.npz -t y",
            &["several NumPy arrays", "numpy.save"],
        ),
        bad(
            "an archive of tables",
            ("a.zip", archive(&[("x.csv".into(), "x,y\n1,a\n".into())])),
            "fit a.zip -t y",
            &["ZIP archive", "unpack it"],
        ),
        bad(
            "a workbook for a model",
            ("a.xlsx", sheet("x|y\n1|a\n")),
            "predict a.xlsx p.csv",
            &["a table, not a model"],
        ),
        bad(
            "dates in two forms in a sheet",
            ("a.xlsx", sheet("d|y\n[s=\"1\"><v>45657</v>]|a\n31.12.2024|b\n")),
            "fit a.xlsx -t y --date d",
            &["column `d`", "is not a date"],
        ),
    ]
}

fn pictures() -> Vec<Case> {
    vec![
        usage("a kind that does not exist", "plot region lda.json t.csv -o m.svg", &["no picture `region`", "regions"]),
        usage("a picture without a model", "plot regions t.csv -o m.svg", &["needs a model file", "MODEL DATA"]),
        usage("a picture without a table", "plot regions lda.json -o m.svg", &["needs a table of rows"]),
        usage("an ending that says nothing", "plot scatter t.csv -o m.gif", &["m.gif", ".svg, .png or .pdf"]),
        usage("no ending", "plot scatter t.csv -o m", &[".svg, .png or .pdf"]),
        usage("a width beyond reason", "plot losses --width 90000 -o m.svg", &["90000 pixels", "240 to 4000"]),
        usage("a width that is no number", "plot losses --width NaN -o m.svg", &["NaN pixels"]),
        usage("an axis that does not exist", "plot scatter t.csv --x nope -o m.svg", &["no column `nope`"]),
        usage("an axis of text", "plot scatter p.csv --x kind -o m.svg", &["`kind` holds text"]),
        usage("one axis twice", "plot scatter t.csv --x x --y x -o m.svg", &["both axes are `x`"]),
        usage("another target than the model's", "plot regions lda.json t.csv --target z -o m.svg", &["predicts `y`"]),
        usage("a model that does not fit the table", "plot regions lda.json p.csv -o m.svg", &["`z`"]),
        usage("something that a kind does not show", "plot roc p.json p.csv --show balls -o m.svg", &["no `balls`"]),
        usage("something that this one shows", "plot losses --show balls -o m.svg", &["relu, probability"]),
        usage("a row to project that is not there", "plot regions lda.json t.csv --row 3 -o m.svg", &["no row"]),
        usage("a prior in words", "plot estimates t.csv --x x --prior much -o m.svg", &["`much`", "MEAN,SD"]),
        usage("a prior without a spread", "plot estimates t.csv --x x --prior 1,0 -o m.svg", &["is positive"]),
        usage("a prior of something else", "plot losses --prior 1,1 -o m.svg", &["has no prior", "estimates"]),
        usage("a column held at no value", "plot regions lda.json t.csv --at x -o m.svg", &["--at COLUMN=VALUE"]),
        usage("updates of three classes", "plot updates t.csv --target y -o m.svg", &["there are 3"]),
        usage("residuals of three classes", "plot residuals lda.json t.csv -o m.svg", &["two classes"]),
        usage("convergence without a risk", "plot convergence lda.json t.csv -o m.svg", &["minimises a risk"]),
        usage("a folder that is not there", "plot losses -o nowhere/m.svg", &["nowhere"]),
        bad("one column", ("one.csv", "x\n1\n2\n"), "plot scatter one.csv -o m.svg", &["two columns of numbers"]),
        bad("no rows", ("none.csv", "x,z,y\n"), "plot scatter none.csv -o m.svg", &["none.csv"]),
        bad(
            "no row with both columns",
            ("gaps.csv", "x,z,y\n1,,a\n,2,b\n"),
            "plot scatter gaps.csv --x x --y z -o m.svg",
            &["no row has both `x` and `z`"],
        ),
        bad(
            "no row that a model can use",
            ("gaps.csv", "x,z,o,y\n1,,0,a\n,2,0,b\n"),
            "plot regions lda.json gaps.csv -o m.svg",
            &["nothing to draw"],
        ),
        bad(
            "classes too few for a curve of learning",
            ("tiny.csv", "x,z,o,y\n1,1,0,a\n2,1,0,b\n3,2,0,c\n"),
            "plot learning-curve lda.json tiny.csv -o m.svg",
            &["folds"],
        ),
    ]
}

fn class_weights_and_starts() -> Vec<Case> {
    vec![
        usage(
            "a weight of an unknown class",
            "fit p.csv -t y --class-weight maybe=2 -o m.json",
            &["there is no class `maybe`", "the classes are: no, yes"],
        ),
        usage(
            "a negative class weight",
            "fit p.csv -t y --class-weight yes=-1 -o m.json",
            &["the weight -1 of class `yes` is not a positive number"],
        ),
        usage(
            "a class weight that is no number",
            "fit p.csv -t y --class-weight yes=NaN -o m.json",
            &["the weight NaN of class `yes`"],
        ),
        usage(
            "a class without weight",
            "fit p.csv -t y --class-weight yes=0 -o m.json",
            &["leaves no rows of class `yes`", "remove its rows"],
        ),
        usage(
            "two weights of a class",
            "fit p.csv -t y --class-weight yes=1,yes=2 -o m.json",
            &["class `yes` is given two weights"],
        ),
        usage(
            "a class weight without a class",
            "fit p.csv -t y --class-weight 3 -o m.json",
            &["`3` is not a class weight", "--class-weight balanced"],
        ),
        usage(
            "a start for a closed form",
            "fit p.csv -t y --model lda --init p.json -o m.json",
            &["--init does not belong to --model lda", "--model logistic"],
        ),
        usage("a start that is not there", "fit p.csv -t y --init none.json -o m.json", &["none.json"]),
        usage(
            "a start with other columns",
            "fit p.csv -t y --features x --init p.json -o m.json",
            &["the model to start from has the column `kind=a`, which the fit has not", "same columns"],
        ),
        usage(
            "a start with fewer columns",
            "fit t.csv -t y --init lda.json -o m.json",
            &["the model to start from has no column `o`"],
        ),
        usage(
            "a start that is not linear",
            "fit p.csv -t y --features x --init gamma.json -o m.json",
            &["the naive-bayes model to start from is not linear"],
        ),
        usage(
            "statistics of a method without sums",
            "fit p.csv -t y --keep-statistics -o m.json",
            &["--keep-statistics is for methods", "--model logistic is not", "--model lda"],
        ),
        usage("an update without rows", "update lda.json -o m.json", &["no rows are named", "--remove"]),
        usage(
            "an update of a model without sums",
            "update lda.json p.csv -o m.json",
            &["does not keep the sums over its rows", "--keep-statistics", "--with"],
        ),
        bad(
            "a start with other classes",
            ("f.csv", "x,z,y\n1,2,a\n2,1,b\n3,1,a\n1,1,b\n"),
            "fit f.csv -t y --init lda.json -o m.json",
            &["the model to start from has the class `c`, which the fit has not"],
        ),
    ]
}

fn stochastic() -> Vec<Case> {
    vec![
        usage("a step of Newton's", "fit p.csv -t y --step 0.1 -o m.json", &["--step is for", "--solver sgd"]),
        usage("a batch of Newton's", "fit p.csv -t y --batch 8 -o m.json", &["--batch is for --solver sgd"]),
        usage(
            "a batch of one row at a time",
            "fit p.csv -t y --solver svrg --batch 8 -o m.json",
            &["--batch is for --solver sgd"],
        ),
        usage("no rows in a batch", "fit p.csv -t y --solver sgd --batch 0 -o m.json", &["0 rows"]),
        usage("a step back", "fit p.csv -t y --solver svrg --step=-1 -o m.json", &["the step -1 is not positive"]),
        usage(
            "stochastic maximum likelihood",
            "fit p.csv -t y --solver svrg --penalty none -o m.json",
            &["--solver svrg cannot minimise the logistic loss without a penalty", "newton"],
        ),
        usage(
            "a column without a penalty, by drawn rows",
            "fit p.csv -t y --solver sgd --penalty-factors x=0 -o m.json",
            &["a penalty on every column"],
        ),
        usage("a batch of LDA's", "fit p.csv -t y --model lda --batch 8", &["--batch does not belong to --model lda"]),
    ]
}

fn separability() -> Vec<Case> {
    let answer = |name, table: &str, said| Case {
        name,
        files: vec![("d.csv", table.as_bytes().to_vec())],
        line: "separable d.csv -t y",
        code: 1,
        said,
    };
    vec![
        bad("one class to separate", ("d.csv", "x,y\n1,a\n2,a\n"), "separable d.csv -t y", &["only one class, `a`"]),
        usage(
            "offsets of a separability",
            "separable p.csv -t y --offset o",
            &["--offset has no part", "leave it out"],
        ),
        usage(
            "a tolerance of separability above one",
            "separable p.csv -t y --tol 2",
            &["--tol 2 is not between 0 and 1"],
        ),
        usage("a margin tolerance of zero", "separable p.csv -t y --margin-tol 0", &["--margin-tol 0 is not between"]),
        usage("no such scope", "separable t.csv -t y --scope both", &["both", "joint"]),
        usage("no such target to separate", "separable p.csv -t nope", &["nope"]),
        answer("identical rows with different labels", "x,z,y\n1,2,a\n1,2,b\n", &["the classes overlap", "line 2"]),
        answer("all rows equal", "x,y\n1,a\n1,a\n1,b\n", &["the classes overlap"]),
        fine(
            "a class with one row",
            ("d.csv", "x,y\n1,a\n2,a\n3,b\n"),
            "separable d.csv -t y",
            &["Completely separable"],
        ),
    ]
}

fn sigmoid() -> Vec<Case> {
    vec![
        usage(
            "one sigmoid for three classes",
            "fit t.csv -t y --drop o --model sigmoid-ls --multiclass joint -o m.json",
            &["the target has 3 classes; one sigmoid tells two apart", "--model logistic"],
        ),
        usage(
            "a lasso of sigmoid outputs",
            "fit p.csv -t y --model sigmoid-ls --penalty lasso:0.1 -o m.json",
            &["sigmoid-ls has no lasso"],
        ),
        usage(
            "a solver that sigmoid-ls has not",
            "fit p.csv -t y --model sigmoid-ls --solver lbfgs -o m.json",
            &["--solver lbfgs does not belong to --model sigmoid-ls", "gauss-newton"],
        ),
        usage(
            "Gauss–Newton for a convex risk",
            "fit p.csv -t y --solver gauss-newton -o m.json",
            &["--solver gauss-newton does not belong to --model logistic"],
        ),
        usage(
            "restarts of a convex risk",
            "fit p.csv -t y --restarts 3 -o m.json",
            &["--restarts does not belong to --model logistic", "--model sigmoid-ls"],
        ),
        usage(
            "a penalised intercept without a penalty, sigmoid-ls",
            "fit p.csv -t y --model sigmoid-ls --penalty none --intercept penalised -o m.json",
            &["a penalised intercept needs a penalty"],
        ),
        usage(
            "a tolerance of nothing, sigmoid-ls",
            "fit p.csv -t y --model sigmoid-ls --tol 0 -o m.json",
            &["the tolerance 0 is not positive"],
        ),
    ]
}

fn columns_and_classes() -> Vec<Case> {
    let distinct: String = (0..200).map(|i| format!("{i},{}.5\n", i * 7 % 199)).collect();
    let levels: String = (0..101).map(|i| format!("level{i},{}\n", i % 2)).collect();
    vec![
        usage("missing target", "fit p.csv --target ya -o m.json", &["p.csv", "no column `ya`", "did you mean `y`"]),
        usage(
            "target far from every name",
            "fit p.csv -t outcome -o m.json",
            &["`outcome`", "the columns are: x, kind"],
        ),
        usage(
            "standardising independent columns",
            "fit p.csv --target kind --model naive-bayes --standardize no",
            &["--standardize does not belong to --model naive-bayes", "--model logistic"],
        ),
        usage(
            "targets of another method",
            "fit p.csv -t y --model lda --targets zero-one -o m.json",
            &["--targets does not belong to --model lda", "--model least-squares"],
        ),
        usage(
            "solver of another method",
            "fit p.csv -t y --model least-squares --solver newton -o m.json",
            &["--solver newton does not belong to --model least-squares", "cholesky, qr or gradient-descent"],
        ),
        usage(
            "solver of least squares for logistic",
            "fit p.csv -t y --solver qr -o m.json",
            &["--solver qr does not belong to --model logistic", "newton"],
        ),
        usage(
            "newton for the hinge",
            "fit p.csv -t y --model svm --solver newton -o m.json",
            &["--solver newton cannot minimise the hinge loss", "interior-point", "dual-cd"],
        ),
        usage(
            "dual coordinate descent for logistic",
            "fit p.csv -t y --solver dual-cd -o m.json",
            &["--solver dual-cd cannot minimise the logistic loss", "newton"],
        ),
        usage(
            "interior points for the squared hinge",
            "fit p.csv -t y --model svm --loss squared-hinge --solver interior-point -o m.json",
            &["--solver interior-point cannot minimise the squared-hinge loss", "dual-cd"],
        ),
        usage(
            "hinge without a penalty on a column",
            "fit p.csv -t y --model svm --penalty-factors x=0 -o m.json",
            &["column `x` has the factor 0", "--loss squared-hinge with --solver newton"],
        ),
        usage(
            "γ = 0",
            "fit p.csv -t y --model svm --kernel rbf --gamma 0 -o m.json",
            &["γ = 0 is not a positive number", "--gamma 0.1"],
        ),
        usage("C = 0", "fit p.csv -t y --model svm --kernel rbf --C 0 -o m.json", &["C = 0 is not a positive number"]),
        usage(
            "C and a penalty",
            "fit p.csv -t y --model svm --C 1 --penalty ridge:1 -o m.json",
            &["--C and --penalty both"],
        ),
        usage(
            "C that leaves no penalty",
            "fit p.csv -t y --model svm --kernel rbf --C 1e308 -o m.json",
            &["too small for numbers"],
        ),
        usage(
            "a kernel that overflows",
            "fit p.csv -t y --model svm --kernel polynomial --gamma 1e300 --degree 3 -o m.json",
            &["the polynomial kernel overflows", "row 1", "--gamma"],
        ),
        usage(
            "γ without a kernel",
            "fit p.csv -t y --model svm --gamma 1 -o m.json",
            &["--gamma does not belong to a method without a kernel", "--kernel rbf"],
        ),
        usage(
            "degree of another kernel",
            "fit p.csv -t y --model svm --kernel rbf --degree 2 -o m.json",
            &["--degree does not belong to --kernel rbf", "--kernel polynomial"],
        ),
        usage(
            "a solver with a kernel",
            "fit p.csv -t y --model svm --kernel rbf --solver dual-cd -o m.json",
            &["--solver does not belong to --kernel"],
        ),
        usage(
            "a kernel without a penalty",
            "fit p.csv -t y --model svm --kernel rbf --penalty none -o m.json",
            &["a kernel machine needs a ridge penalty", "--C"],
        ),
        usage(
            "a cache of no size",
            "fit p.csv -t y --model svm --kernel rbf --cache lots -o m.json",
            &["`lots` is not a size"],
        ),
        usage(
            "too little cache",
            "fit p.csv -t y --model svm --kernel rbf --cache 8 -o m.json",
            &["does not hold two kernel rows", "--cache at least"],
        ),
        usage(
            "kernel of three classes at once",
            "fit t.csv -t y --model svm --kernel rbf --multiclass joint -o m.json",
            &["separates two classes, and there are 3", "one-vs-one"],
        ),
        bad(
            "a precomputed kernel that is not square",
            ("k.csv", "a,b,y\n1,0,u\n0,1,v\n1,1,u\n"),
            "fit k.csv -t y --model svm --kernel precomputed -o m.json",
            &["3 rows has 2 columns", "not square"],
        ),
        bad(
            "a precomputed kernel that is not symmetric",
            ("k.csv", "a,b,y\n1,0.5,u\n0.25,1,v\n"),
            "fit k.csv -t y --model svm --kernel precomputed -o m.json",
            &["not symmetric", "row 1 has 0.5", "row 2 has 0.25"],
        ),
        usage(
            "hinge without a penalty",
            "fit p.csv -t y --model svm --penalty none -o m.json",
            &["a support vector machine needs a penalty", "--penalty ridge"],
        ),
        usage(
            "tolerance of a closed form",
            "fit p.csv -t y --model least-squares --tol 1e-3 -o m.json",
            &["--tol is for iterations", "--solver gradient-descent"],
        ),
        usage(
            "±1 for three classes",
            "fit t.csv -t y --model least-squares --targets plus-minus --drop o -o m.json",
            &["targets ±1 are for two classes, not 3", "leave --targets out"],
        ),
        usage(
            "least squares with offsets",
            "fit p.csv -t y --model least-squares --offset o -o m.json",
            &["--offset does not belong to --model least-squares", "--model logistic"],
        ),
        usage(
            "a penalised intercept without a penalty, least squares",
            "fit p.csv -t y --model least-squares --intercept penalised -o m.json",
            &["a penalised intercept needs a penalty", "--penalty ridge:0.1"],
        ),
        usage(
            "a ridge that is not positive, least squares",
            "fit p.csv -t y --model least-squares --penalty ridge:0 -o m.json",
            &["`0` is not a positive ridge penalty"],
        ),
        usage(
            "probabilities of least squares",
            "predict squares.json p.csv --proba -o out.csv",
            &["the scores of a least-squares model are not probabilities", "--scores"],
        ),
        usage("no target", "fit p.csv -o m.json", &["which column", "--target", "x, kind, w, o, y"]),
        bad(
            "one class",
            ("f.csv", "x,y\n1,a\n2,a\n"),
            "fit f.csv -t y -o m.json",
            &["`y`", "only one class, `a`", "two"],
        ),
        bad(
            "no label at all",
            ("f.csv", "x,y\n1,\n2,NA\n"),
            "fit f.csv -t y -o m.json",
            &["`y` is missing in every row"],
        ),
        bad(
            "a measurement as target",
            ("f.csv", format!("x,y\n{distinct}")),
            "fit f.csv -t y -o m.json",
            &[
                "f.csv",
                "column `y`",
                "distinct values in 200 rows",
                "this looks like regression",
                "choose another column",
            ],
        ),
        bad(
            "a class emptied by dropping rows",
            ("f.csv", "x,y\n1,a\n2,a\n,b\n,b\n4,c\n"),
            "fit f.csv -t y -o m.json",
            &["class `b` has no rows left", "--missing mean", "x"],
        ),
        bad(
            "no complete row",
            ("f.csv", "x,z,y\n1,,a\n,2,b\n"),
            "fit f.csv -t y -o m.json",
            &["no row has all the cells", "--missing mean"],
        ),
        bad(
            "missing cells refused",
            ("f.csv", pair(",a,1,0,no")),
            "fit f.csv -t y --missing error -o m.json",
            &["f.csv, line 2, column `x`", "missing", "--missing drop"],
        ),
        bad(
            "too many levels",
            ("f.csv", format!("city,y\n{levels}")),
            "fit f.csv -t y -o m.json",
            &["`city` has 101 levels", "--drop city", "--max-levels 101"],
        ),
        fine(
            "target with missing cells",
            ("f.csv", format!("{PAIR}9,a,1,0,\n9,b,1,0,NA\n")),
            "fit f.csv -t y",
            &["8 of 10 rows", "2 rows dropped: the target is missing"],
        ),
        fine(
            "a level that only a dropped row has",
            ("f.csv", format!("{PAIR},zebra,1,0,yes\n")),
            "fit f.csv -t y",
            &["8 of 9 rows", "x 1"],
        ),
        usage(
            "features name the target",
            "fit p.csv -t y --features x,y -o m.json",
            &["`y` cannot be a feature", "--features"],
        ),
        usage("unknown feature", "fit p.csv -t y --features x,kinf -o m.json", &["`kinf`", "did you mean `kind`"]),
        usage("unknown column to drop", "fit p.csv -t y --drop kid -o m.json", &["`kid`", "did you mean `kind`"]),
        usage("nothing left", "fit p.csv -t y --drop x,kind,w,o -o m.json", &["no column is left", "drop fewer"]),
        usage("unknown positive class", "fit p.csv -t y --positive maybe -o m.json", &["`maybe`", "no, yes"]),
    ]
}

fn values() -> Vec<Case> {
    let mostly: String =
        (0..200).map(|i| if i == 120 { "oops,a\n".into() } else { format!("{i},{}\n", i % 2) }).collect();
    vec![
        bad(
            "infinite feature",
            ("f.csv", pair("inf,a,1,0,no")),
            "fit f.csv -t y -o m.json",
            &["f.csv, line 2, column `x`", "infinite", "missing"],
        ),
        bad(
            "a column of 1e300",
            ("f.csv", pair("1e300,a,1,0,no")),
            "fit f.csv -t y -o m.json",
            &["f.csv, line 2, column `x`", "1e300", "rescale", "--drop"],
        ),
        bad(
            "1e300 for LDA",
            ("f.csv", pair("1e300,a,1,0,no")),
            "fit f.csv -t y -m lda -o m.json",
            &["line 2, column `x`"],
        ),
        bad(
            "bad number in a numeric column",
            ("f.csv", format!("x,y\n{mostly}")),
            "fit f.csv -t y -o m.json",
            &["f.csv, line 122, column `x`", "`oops` is not a number", "--text x"],
        ),
        bad(
            "bad number in a forced column",
            ("f.csv", pair("abc,a,1,0,no")),
            "fit f.csv -t y --number x -o m.json",
            &["f.csv, line 2, column `x`", "`abc`"],
        ),
        bad(
            "singular within classes",
            ("f.csv", "x,z,y\n1,0,a\n2,0,a\n4,0,a\n1,1,b\n3,1,b\n4,1,b\n"),
            "fit f.csv -t y -m lda -o m.json",
            &["column `z`", "within every class", "differs between classes", "--shrinkage auto"],
        ),
        usage(
            "offset count",
            "fit t.csv -t y --offset o -o m.json",
            &["1 offset column for 3 classes", "one offset per class"],
        ),
        bad(
            "offset missing",
            ("f.csv", pair("1,a,1,,no")),
            "fit f.csv -t y --offset o -o m.json",
            &["f.csv, line 2, column `o`", "offset is missing"],
        ),
        usage(
            "offset of text",
            "fit p.csv -t y --offset kind -o m.json",
            &["offset column `kind` holds text", "numbers"],
        ),
    ]
}

fn weights() -> Vec<Case> {
    let zero = PAIR.replace(",1,0,", ",0,0,").replace(",2,0.5,", ",0,0.5,");
    let line = "fit f.csv -t y --weights w -o m.json";
    vec![
        bad(
            "infinite weight",
            ("f.csv", pair("1,a,inf,0,no")),
            line,
            &["f.csv, line 2, column `w`", "weight is inf", "row"],
        ),
        bad(
            "NaN weight",
            ("f.csv", pair("1,a,NaN,0,no")),
            line,
            &["f.csv, line 2, column `w`", "weight is missing", "fill it in"],
        ),
        bad(
            "missing weight",
            ("f.csv", pair("1,a,,0,no")),
            line,
            &["f.csv, line 2, column `w`", "weight is missing", "fill it in"],
        ),
        bad(
            "negative weight",
            ("f.csv", pair("1,a,-1,0,no")),
            line,
            &["f.csv, line 2, column `w`", "-1 is negative", "zero or more"],
        ),
        bad("all weights zero", ("f.csv", zero.clone()), line, &["all weights in column `w` are zero", "positive"]),
        bad(
            "a class without weight",
            ("f.csv", PAIR.replace(",1,0,no", ",0,0,no")),
            line,
            &["class `no`", "positive weight"],
        ),
        usage(
            "weights of text",
            "fit p.csv -t y --weights kind -o m.json",
            &["weight column `kind` holds text", "numbers"],
        ),
        usage("no such weights", "fit p.csv -t y --weights ww -o m.json", &["`ww`", "did you mean `w`"]),
    ]
}

fn formats() -> Vec<Case> {
    let line = "fit f.csv -t y -o m.json";
    vec![
        bad("ragged row", ("f.csv", "x,y\n1,a\n2\n3,b\n"), line, &["f.csv, line 3", "1 cell", "the header has 2"]),
        bad("duplicated column", ("f.csv", "x,x,y\n1,2,a\n3,4,b\n"), line, &["f.csv, line 1", "column `x`", "1 and 2"]),
        bad(
            "unnamed column",
            ("f.csv", ",x,y\n0,1,a\n0,3,b\n"),
            line,
            &["f.csv, line 1", "column 1 has no name", "name"],
        ),
        bad("invalid UTF-8", ("f.csv", b"x,y\n1,a\n2,\xff\xfe\n".to_vec()), line, &["f.csv, line 3", "UTF-8"]),
        bad("empty file", ("f.csv", ""), line, &["f.csv", "empty"]),
        bad("header only", ("f.csv", "x,y\n"), line, &["f.csv", "header", "row"]),
        bad("quote left open", ("f.csv", "x,y\n1,\"a\n2,b\n"), line, &["f.csv, line 2", "quote"]),
        usage("file not found", "fit nowhere.csv -t y -o m.json", &["nowhere.csv", "no such file", "check"]),
        usage("glob without match", "fit part-*.csv -t y -o m.json", &["`part-*.csv`", "no file matches"]),
        usage("a directory", "fit . -t y -o m.json", &["directory", "name its files"]),
        bad(
            "LIBSVM index out of order",
            ("f.svm", "1 1:1 3:1\n2 4:1 2:1\n"),
            "fit f.svm -o m.json",
            &["f.svm, line 2", "2"],
        ),
        bad(
            "different columns",
            ("f.csv", "x,q,y\n1,2,a\n"),
            "fit p.csv f.csv -t y -o m.json",
            &["f.csv", "column `q`", "`p.csv`"],
        ),
        bad(
            "JSON of two types",
            ("f.jsonl", "{\"x\":1,\"y\":\"a\"}\n{\"x\":\"2\",\"y\":\"b\"}\n"),
            "fit f.jsonl -t y -o m.json",
            &["f.jsonl, line 2, column `x`", "a string", "began with a number", "--number x"],
        ),
        bad(
            "JSON inside JSON",
            ("f.jsonl", "{\"x\":1,\"y\":\"a\"}\n\n{\"x\":[2],\"y\":\"b\"}\n"),
            "fit f.jsonl -t y -o m.json",
            &["f.jsonl, line 3, column `x`", "cannot be an array", "columns of their own"],
        ),
        bad(
            "JSON key twice",
            ("f.ndjson", "{\"x\":1,\"x\":1,\"y\":\"a\"}\n"),
            "fit f.ndjson -t y -o m.json",
            &["f.ndjson, line 1, column `x`", "occurs twice", "once"],
        ),
        bad(
            "JSON that is none",
            ("f.json", "{\"x\":1,\"y\":\"a\"}\n{\"x\":NaN,\"y\":\"b\"}\n"),
            "fit f.json -t y -o m.json",
            &["f.json, line 2", "invalid JSON at byte 6", "write null"],
        ),
        bad(
            "one JSON document",
            ("f.json", "[\n{\"x\":1,\"y\":\"a\"}\n]\n"),
            "fit f.json -t y -o m.json",
            &["f.json, line 1", "array", "one JSON object per line"],
        ),
        bad("no JSON at all", ("f.jsonl", "\n"), "fit f.jsonl -t y -o m.json", &["f.jsonl", "no row", "per line"]),
        bad(
            "Arrow file cut short",
            ("f.arrow", b"ARROW1\0\0\xff\xff\xff\xff rubbish".to_vec()),
            "fit f.arrow -t y -o m.json",
            &["f.arrow", "not a readable Arrow file", "make it again"],
        ),
        bad(
            "Feather version 1",
            ("f.feather", b"FEA1 and more".to_vec()),
            "fit f.feather -t y -o m.json",
            &["f.feather", "Feather version 1", "version 2"],
        ),
        usage("odd delimiter", "fit p.csv -t y --delimiter abc -o m.json", &["`abc`", "use one of"]),
        bad(
            "damaged gzip",
            ("f.csv.gz", b"\x1f\x8b\x08\x00rubbish".to_vec()),
            "fit f.csv.gz -t y -o m.json",
            &["f.csv.gz", "damaged"],
        ),
        usage(
            "text and number at once",
            "fit p.csv -t y --text x --number x -o m.json",
            &["`x`", "two of text, numbers and dates"],
        ),
    ]
}

/// How cells are written.
fn cells() -> Vec<Case> {
    let line = "fit f.csv -t y -o m.json";
    vec![
        usage("a decimal sign of two characters", "fit p.csv -t y --decimal ,, -o m.json", &["--decimal", "`,,`"]),
        usage("a decimal sign that is none", "fit p.csv -t y --decimal ; -o m.json", &["`;` is no --decimal", "comma"]),
        usage("no thousands sign", "fit p.csv -t y --thousands x -o m.json", &["`x` is no --thousands", "space"]),
        usage(
            "one sign for both",
            "fit p.csv -t y --thousands . -o m.json",
            &["`.` cannot be both --decimal and --thousands", "--decimal , --thousands ."],
        ),
        usage("an order that is none", "fit p.csv -t y --date x=ydm -o m.json", &["`ydm`", "x=dmy"]),
        usage("dates of no column", "fit p.csv -t y --date when -o m.json", &["there is no column `when`"]),
        usage(
            "dates that are numbers",
            "fit p.csv -t y --date x -o m.json",
            &["line 2, column `x`", "`1` is not a date"],
        ),
        usage("dates and numbers at once", "fit p.csv -t y --date x --number x -o m.json", &["`x`", "two of text"]),
        bad(
            "decimal commas",
            ("f.csv", "x;y\n1,5;a\n2,5;b\n3;a\n"),
            line,
            &["f.csv, line 2, column `x`", "`1,5`", "--decimal ,", "--text x"],
        ),
        bad(
            "decimal commas and thousands",
            ("f.csv", "x;y\n1.001,5;a\n2,5;b\n3;a\n"),
            line,
            &["f.csv, line 2", "`1.001,5`", "--decimal , --thousands ."],
        ),
        bad(
            "thousands",
            ("f.csv", "x,y\n\"1,001\",a\n\"2,500\",b\n3,a\n"),
            line,
            &["f.csv, line 2", "`1,001`", "--thousands ,"],
        ),
        bad(
            "spaces between thousands",
            ("f.csv", "x;y\n1 001,5;a\n2,5;b\n3;a\n"),
            line,
            &["f.csv, line 2", "`1 001,5`", "--decimal , --thousands space"],
        ),
        bad(
            "a point where the comma is the sign",
            ("f.csv", "x;y\n1,5;a\n2.5;b\n3,5;a\n4,5;b\n"),
            "fit f.csv -t y --decimal , --number x -o m.json",
            &["f.csv, line 3, column `x`", "`2.5` is not a number"],
        ),
        bad(
            "dates of two orders",
            ("f.csv", "d,y\n2024-01-02,a\n31.12.2024,b\n2024-05-05,a\n"),
            line,
            &["f.csv, line 3, column `d`", "several ways", "`31.12.2024`", "--text d"],
        ),
        bad(
            "dates of an open order",
            ("f.csv", "d,y\n01/02/2024,a\n03/04/2024,b\n05/06/2024,a\n"),
            line,
            &["f.csv, line 2, column `d`", "`01/02/2024`", "--date d=dmy or d=mdy"],
        ),
        bad(
            "years of two digits",
            ("f.csv", "d,y\n31.12.24,a\n30.12.24,b\n"),
            line,
            &["f.csv, line 2", "`31.12.24`", "--date d=dmy"],
        ),
        bad(
            "a day that does not exist",
            ("f.csv", "d,y\n2024-02-28,a\n2023-02-29,b\n"),
            "fit f.csv -t y --date d -o m.json",
            &["f.csv, line 3, column `d`", "`2023-02-29` is not a date (year, month, day)"],
        ),
        bad(
            "signs on some numbers",
            ("f.csv", "p,y\n5%,a\n7,b\n9%,a\n"),
            line,
            &["f.csv, line 3, column `p`", "percent or currency sign", "`7`"],
        ),
        bad(
            "two currencies",
            ("f.csv", "p,y\n$5,a\n€7,b\n$9,a\n"),
            "fit f.csv -t y --number p -o m.json",
            &["column `p`", "differ in their percent or currency sign"],
        ),
        bad(
            "neither yes nor no",
            ("f.csv", "p,y\nyes,a\nperhaps,b\nno,a\n"),
            "fit f.csv -t y --number p -o m.json",
            &["f.csv, line 2, column `p`", "is not a number"],
        ),
    ]
}

/// Lines, encodings, indices and the endings of names.
fn lines_and_endings() -> Vec<Case> {
    let line = "fit f.csv -t y -o m.json";
    vec![
        usage("a comment sign of two characters", "fit p.csv -t y --comment // -o m.json", &["`//`", "comments"]),
        usage("a letter for comments", "fit p.csv -t y --comment x -o m.json", &["`x` cannot begin comments"]),
        usage(
            "more lines skipped than there are",
            "fit p.csv -t y --skip 99 -o m.json",
            &["the file has 9 lines", "--skip"],
        ),
        usage("lines that are no number", "fit p.csv -t y --skip some -o m.json", &["--skip", "some"]),
        usage("an unknown encoding", "fit p.csv -t y --encoding ebcdic -o m.json", &["`ebcdic`", "windows-1252"]),
        usage("UTF-16 without its order", "fit p.csv -t y --encoding utf-16 -o m.json", &["utf-16le or utf-16be"]),
        usage("the wrong encoding", "fit p.csv -t y --encoding utf-16le -o m.json", &["p.csv", "UTF-16"]),
        bad(
            "another encoding",
            ("f.csv", b"x,y\n1,caf\xe9\n2,b\n".to_vec()),
            line,
            &["f.csv, line 2", "not UTF-8: byte 0xe9", "--encoding windows-1252 or latin1"],
        ),
        bad(
            "a byte that windows-1252 does not have",
            ("f.csv", b"x,y\n1,caf\x81\n2,b\n".to_vec()),
            "fit f.csv -t y --encoding windows-1252 -o m.json",
            &["f.csv", "0x81", "--encoding"],
        ),
        bad(
            "UTF-16 without a mark",
            ("f.csv", b"x\0,\0y\0\n\x001\0,\0a\0\n\0".to_vec()),
            line,
            &["f.csv, line 1", "UTF-16 without a byte order mark", "--encoding utf-16le or utf-16be"],
        ),
        bad(
            "a cell behind the header",
            ("f.csv", "x,y,\n1,a,\n2,b,7\n"),
            line,
            &["f.csv, line 3", "column 3 has no name", "`7`"],
        ),
        bad(
            "no header, and the target by name",
            ("f.csv", "1,a\n2,b\n"),
            "fit f.csv -t y --no-header -o m.json",
            &["no column `y`", "column1"],
        ),
        usage("indices from two", "fit p.csv -t y --index-from 2 -o m.json", &["count from 2", "0 or 1"]),
        bad(
            "index 0 where they count from 1",
            ("f.svm", "1 0:1\n0 1:1\n"),
            "fit f.svm --index-from 1 -o m.json",
            &["f.svm, line 1", "index 0"],
        ),
        usage("an ending that is no format", "predict p.json p.csv -o out.xls", &["`.xls`", ".parquet"]),
        usage("JSON that is no lines", "predict p.json p.csv -o out.json", &["`.json`", ".jsonl"]),
        usage("an ending for distances", "geometry lda.json t.csv -o out.txt", &["`.txt`", ".csv"]),
    ]
}

fn prediction() -> Vec<Case> {
    let new_level = PAIR.replacen("1,a,1,0,no", "1,zebra,1,0,no", 1);
    vec![
        usage(
            "a table in the place of a model",
            "predict p.csv p.json",
            &["p.csv", "this is a table, not a model", "swap"],
        ),
        usage("a model in the place of a table", "predict p.json p.json", &["p.json", "this is a model, not a table"]),
        usage("a model as training rows", "fit p.json --target y -o out.json", &["this is a model, not a table"]),
        usage("a flag of another tool", "fit p.csv --target y --lambda 1 -o out.json", &["--penalty ridge:LAMBDA"]),
        usage("a shell that is not known", "completions basic", &["basic", "bash"]),
        usage("a manual page that is not there", "man fitt", &["there is no command `fitt`", "did you mean `fit`?"]),
        usage("manual pages into nowhere", "man -o nowhere", &["there is no directory `nowhere`"]),
        usage("no weights to show", "inspect p.json --top 0", &["--top 0 is not a number of weights", "--top all"]),
        usage(
            "an explanation of no columns",
            "predict p.json p.csv --explain 0 -o out.csv",
            &["--explain 0 is not a number of columns", "--explain 5, or --explain all"],
        ),
        usage(
            "an explanation of some columns",
            "predict p.json p.csv --explain most -o out.csv",
            &["--explain most is not a number of columns"],
        ),
        usage(
            "explanations beside probabilities",
            "predict p.json p.csv --explain 3 --proba -o out.csv",
            &["--explain", "--proba", "cannot be used with"],
        ),
        usage("a row before the first", "predict p.json p.csv --explain 3 --row 0", &["rows are counted from 1"]),
        usage(
            "a row behind the last",
            "predict p.json p.csv --explain 3 --row 9",
            &["there is no row 9: the table has 8"],
        ),
        usage("a row without an explanation", "predict p.json p.csv --row 2", &["--explain"]),
        bad(
            "a row that misses a cell cannot be explained",
            ("f.csv", "x,kind,w,o\n1,a,1,0\n,a,1,0\n"),
            "predict p.json f.csv --explain 3 --row 2 -o out.csv",
            &["f.csv, line 3", "misses a cell"],
        ),
        usage("describing a target that is not there", "describe p.csv --target z", &["there is no column `z`"]),
        usage("describing nothing", "describe none.csv", &["none.csv", "there is no such file"]),
        bad(
            "prediction without columns",
            ("f.csv", "w,q\n1,2\n"),
            "predict p.json f.csv -o out.csv",
            &["f.csv", "`x`, `kind`", "by name"],
        ),
        bad(
            "text where the model expects numbers",
            ("f.csv", pair("abc,a,1,0,no")),
            "predict p.json f.csv -o out.csv",
            &["f.csv, line 2, column `x`", "`abc`"],
        ),
        bad(
            "unknown level refused",
            ("f.csv", new_level.clone()),
            "predict p.json f.csv -o out.csv",
            &["f.csv, line 2, column `kind`", "`zebra`", "--unknown missing", "--unknown zero"],
        ),
        bad(
            "unknown level refused when asked",
            ("f.csv", new_level.clone()),
            "predict p.json f.csv --unknown error -o out.csv",
            &["`zebra`"],
        ),
        fine(
            "unknown level filled in",
            ("f.csv", new_level.clone()),
            "predict filled.json f.csv --unknown missing",
            &["prediction\nno\n"],
        ),
        fine(
            "unknown level as missing",
            ("f.csv", new_level.clone()),
            "predict p.json f.csv --unknown missing",
            &["prediction\n\"\"\n"],
        ),
        fine(
            "unknown level as zero",
            ("f.csv", new_level),
            "predict p.json f.csv --unknown zero",
            &["prediction\nno\n"],
        ),
        bad(
            "infinite value at prediction",
            ("f.csv", pair("-inf,a,1,0,no")),
            "predict p.json f.csv -o out.csv",
            &["f.csv, line 2, column `x`", "infinite"],
        ),
        usage(
            "column to keep is not there",
            "predict p.json p.csv --keep kin -o out.csv",
            &["`kin`", "did you mean `kind`"],
        ),
        usage("output into no directory", "predict p.json p.csv -o no/such/out.csv", &["no/such", "no directory"]),
        bad(
            "unknown class",
            ("f.csv", pair("1,a,1,0,perhaps")),
            "evaluate p.json f.csv",
            &["f.csv, line 2, column `y`", "does not know the class `perhaps`", "no, yes"],
        ),
        bad(
            "evaluation without target",
            ("f.csv", "x,kind,w,o\n1,a,1,0\n"),
            "evaluate p.json f.csv",
            &["f.csv", "no column `y`"],
        ),
        bad(
            "LIBSVM for a CSV model",
            ("f.svm", "1 1:1 3:1\n2 2:1\n"),
            "predict p.json f.svm -o out.csv",
            &["f.svm", "absent", "`x`"],
        ),
        usage("output over input", "predict p.json p.csv -o p.csv", &["`p.csv` is the input", "another name"]),
    ]
}

fn geometry() -> Vec<Case> {
    vec![
        bad(
            "geometry of other columns",
            ("f.csv", "x,z\n1,2\n"),
            "geometry p.json f.csv -o out.csv",
            &["f.csv", "absent", "`kind`"],
        ),
        bad(
            "geometry with an unknown class",
            ("f.csv", pair("1,a,1,0,perhaps")),
            "geometry p.json f.csv -o out.csv",
            &["f.csv, line 2, column `y`", "does not know the class `perhaps`", "no, yes"],
        ),
        usage(
            "Mahalanobis distances of logistic regression",
            "geometry p.json p.csv --mahalanobis -o out.csv",
            &["Mahalanobis distances are not defined", "no Gaussian classes", "lda, qda"],
        ),
        usage("projection without a table", "geometry p.json --projection", &["--projection", "FILE"]),
        usage("distances without a table", "geometry p.json -o out.csv", &["--output", "FILE"]),
        usage("geometry over the input", "geometry p.json p.csv -o p.csv", &["`p.csv` is the input", "another name"]),
        usage("geometry into no directory", "geometry p.json p.csv -o no/out.csv", &["no directory"]),
        usage(
            "two things for standard output",
            "geometry p.json p.csv --json -o -",
            &["both want standard output", "give -o a file"],
        ),
        usage("geometry keeps no such column", "geometry p.json p.csv --keep kin", &["`kin`", "did you mean `kind`"]),
    ]
}

fn model_files() -> Vec<Case> {
    vec![
        usage(
            "truncated model",
            "predict truncated.json p.csv -o out.csv",
            &["truncated.json", "not a complete model", "fit the model again"],
        ),
        usage(
            "edited model",
            "predict edited.json p.csv -o out.csv",
            &["edited.json", "checksum", "edited or damaged", "fit the model again"],
        ),
        usage(
            "model of an unknown version",
            "inspect version.json",
            &["version.json", "version 99 is not known", "reads version 1"],
        ),
        usage("a table as model", "predict p.csv p.csv -o out.csv", &["p.csv", "not a", "model"]),
        bad("other JSON as model", ("f.json", "{\"a\": 1}"), "inspect f.json", &["f.json", "not a linsep model"]),
        bad(
            "damaged compressed model",
            ("f.json.zst", b"\x28\xb5\x2f\xfdrubbish".to_vec()),
            "inspect f.json.zst",
            &["f.json.zst", "not a complete model"],
        ),
        usage("model not found", "verify nowhere.json p.csv", &["nowhere.json", "no such file"]),
    ]
}

fn settings() -> Vec<Case> {
    vec![
        usage("lasso of zero", "fit p.csv -t y --penalty lasso:0 -o m.json", &["`0` is not a positive lasso penalty"]),
        usage(
            "lasso by Newton",
            "fit p.csv -t y --penalty lasso:0.1 --solver newton -o m.json",
            &["--solver newton cannot minimise the logistic loss with a lasso penalty", "proximal-newton"],
        ),
        usage(
            "ridge by proximal Newton",
            "fit p.csv -t y --solver proximal-newton -o m.json",
            &["--solver proximal-newton cannot minimise", "newton"],
        ),
        usage(
            "hinge with a lasso",
            "fit p.csv -t y -m svm --penalty lasso:0.1 -o m.json",
            &["no solver minimises the hinge loss with a lasso penalty", "squared-hinge"],
        ),
        usage(
            "path of no penalty",
            "path p.csv -t y --penalty none",
            &["`none` is not the penalty of a path", "lasso"],
        ),
        usage("path with a size", "path p.csv -t y --penalty lasso:0.1", &["`lasso:0.1`", "--lambda-values"]),
        usage("path of lda", "path p.csv -t y -m lda", &["--model lda has no path", "logistic"]),
        usage("path of the hinge", "path p.csv -t y -m svm", &["hinge loss has no path", "--loss squared-hinge"]),
        usage("path by a solver", "path p.csv -t y --solver newton", &["chooses its solver itself"]),
        usage("no λ", "path p.csv -t y --lambdas 0", &["at least one λ"]),
        usage("negative λ", "path p.csv -t y --lambda-values=0.1,-1", &["λ = -1 is not positive"]),
        usage("ratio of two", "path p.csv -t y --lambda-ratio 2", &["ratio 2", "between 0 and 1"]),
        usage("no column penalised", "path p.csv -t y --features x --penalty-factors x=0", &["no column is penalised"]),
        usage("path over itself", "path p.csv -t y -o p.csv", &["is the input"]),
        usage("path into nowhere", "path p.csv -t y -o no/where.csv", &["no directory"]),
        usage("negative ridge", "fit p.csv -t y --penalty ridge:-1 -o m.json", &["`-1`", "positive", "ridge:0.1"]),
        usage("ridge in words", "fit p.csv -t y --penalty ridge:lots -o m.json", &["`lots`", "positive"]),
        usage(
            "shrinkage of two",
            "fit p.csv -t y -m lda --shrinkage 2 -o m.json",
            &["`2` is not a shrinkage", "0 to 1"],
        ),
        usage(
            "priors that do not sum to one",
            "fit p.csv -t y -m lda --drop kind --priors no=0.5,yes=0.6 -o m.json",
            &["sum to one", "1.1"],
        ),
        usage(
            "prior of an unknown class",
            "fit p.csv -t y -m lda --priors no=0.5,maybe=0.5 -o m.json",
            &["no class `maybe`", "no, yes"],
        ),
        usage(
            "prior of a class missing",
            "fit p.csv -t y -m lda --priors no=0.5 -o m.json",
            &["no prior for class `yes`", "every class"],
        ),
        usage(
            "prior without number",
            "fit p.csv -t y -m lda --priors no,yes -o m.json",
            &["`no` is not a prior", "a=0.2,b=0.8"],
        ),
        usage(
            "LDA with offset",
            "fit p.csv -t y -m lda --offset o -o m.json",
            &["--offset", "--model lda", "logistic"],
        ),
        usage(
            "LDA with penalty",
            "fit p.csv -t y -m lda --penalty none -o m.json",
            &["--penalty", "--model lda", "logistic"],
        ),
        usage(
            "logistic with shrinkage",
            "fit p.csv -t y --shrinkage auto -o m.json",
            &["--shrinkage", "--model logistic", "lda"],
        ),
        usage("one fold", "fit p.csv -t y --cv 1 -o m.json", &["1 fold", "8 rows", "from 2 to 8"]),
        usage("a thousand folds", "fit p.csv -t y --cv 1000 -o m.json", &["1000 folds", "8 rows", "from 2 to 8"]),
        bad(
            "class with one row and folds",
            ("f.csv", format!("{PAIR}9,a,1,0,maybe\n")),
            "fit f.csv -t y --cv 3 -o m.json",
            &["class `maybe` has one row", "--cv"],
        ),
        usage("model into no directory", "fit p.csv -t y -o no/such/m.json", &["no/such", "no directory", "make it"]),
        usage("tolerance of zero", "fit p.csv -t y --tol 0 -o m.json", &["tolerance 0 is not positive"]),
        usage("time limit of minus one", "fit p.csv -t y --time-limit=-1 -o m.json", &["`-1`", "seconds"]),
        usage("unknown flag", "fit p.csv -t y --targets y -o m.json", &["--targets", "--target"]),
        usage("unknown method", "fit p.csv -t y -m lad -o m.json", &["lad", "lda"]),
    ]
}

/// Formulas that cannot be read, that no column answers, or whose functions are not defined.
fn formulas() -> Vec<Case> {
    vec![
        usage("no tilde", "fit p.csv --formula 'x + kind' -o m.json", &["has no `~`", "target ~ terms"]),
        usage(
            "a formula names no column",
            "fit p.csv --formula 'y ~ x + knd' -o m.json",
            &["there is no column `knd`", "(character 9)", "did you mean `kind`"],
        ),
        usage("a formula predicts no column", "fit p.csv --formula 'z ~ x' -o m.json", &["no column `z`"]),
        usage(
            "an open parenthesis",
            "fit p.csv --formula 'y ~ log(x + kind' -o m.json",
            &["`(` is not closed", "(character 8)"],
        ),
        usage(
            "a closed one too many",
            "fit p.csv --formula 'y ~ x)' -o m.json",
            &["no `(` for this `)`", "(character 6)"],
        ),
        usage(
            "nothing after a sign",
            "fit p.csv --formula 'y ~ x +' -o m.json",
            &["missing at the end", "(character 8)"],
        ),
        usage("two signs", "fit p.csv --formula 'y ~ x * : kind' -o m.json", &["before `:`", "(character 9)"]),
        usage(
            "two names",
            "fit p.csv --formula 'y ~ x kind' -o m.json",
            &["`kind` does not continue", "(character 7)"],
        ),
        usage(
            "an odd sign",
            "fit p.csv --formula 'y ~ x & w' -o m.json",
            &["`&` has no meaning", "(character 7)", "backquotes"],
        ),
        usage(
            "an open backquote",
            "fit p.csv --formula 'y ~ `x' -o m.json",
            &["backquote is not closed", "(character 5)"],
        ),
        usage(
            "two targets",
            "fit p.csv --formula 'y + w ~ x' -o m.json",
            &["more than the name of a column", "(character 3)"],
        ),
        usage(
            "another target",
            "fit p.csv -t kind --formula 'y ~ x' -o m.json",
            &["predicts `y`", "--target says `kind`"],
        ),
        usage(
            "unknown function",
            "fit p.csv --formula 'y ~ lgo(x)' -o m.json",
            &["no function `lgo`", "(character 5)", "did you mean `log`"],
        ),
        usage("two arguments of a logarithm", "fit p.csv --formula 'y ~ log(x, 2)' -o m.json", &["takes one argument"]),
        usage("a spline inside a function", "fit p.csv --formula 'y ~ log(ns(x, 2))' -o m.json", &["take `ns` out"]),
        usage(
            "a colon inside a function",
            "fit p.csv --formula 'y ~ I(x:w)' -o m.json",
            &["`:` combines terms", "write *"],
        ),
        usage(
            "a function of text",
            "fit p.csv --formula 'y ~ log(kind)' -o m.json",
            &["`kind` holds text", "(character 9)", "--number kind"],
        ),
        usage(
            "df too small",
            "fit p.csv --formula 'y ~ bs(x, 2)' -o m.json",
            &["df = 2 is too small", "(character 11)", "df = 3"],
        ),
        usage("df of zero", "fit p.csv --formula 'y ~ ns(x, 0)' -o m.json", &["whole number from 1 to 1000"]),
        usage(
            "df and knots",
            "fit p.csv --formula 'y ~ ns(x, df = 3, knots = c(2, 3))' -o m.json",
            &["both df and knots"],
        ),
        usage(
            "a knot outside",
            "fit p.csv --formula 'y ~ ns(x, knots = 9)' -o m.json",
            &["inner knot 9", "between the outer knots 1 and 5"],
        ),
        usage(
            "an argument of no function",
            "fit p.csv --formula 'y ~ ns(x, dg = 3)' -o m.json",
            &["no argument `dg`", "df, knots"],
        ),
        usage(
            "degree too large",
            "fit p.csv --formula 'y ~ poly(x, 5)' -o m.json",
            &["degree 5", "6 different values", "at most 4"],
        ),
        usage("degree beyond", "fit p.csv --formula 'y ~ poly(x, 99)' -o m.json", &["from 1 to 10", "(character 13)"]),
        usage(
            "neither true nor false",
            "fit p.csv --formula 'y ~ poly(x, 2, raw = 7)' -o m.json",
            &["neither TRUE nor FALSE"],
        ),
        usage(
            "a level that is not there",
            "fit p.csv --formula 'y ~ C(kind, ref = \"aa\")' -o m.json",
            &["has no level `aa`"],
        ),
        usage(
            "an unknown coding",
            "fit p.csv --formula 'y ~ C(kind, helmert)' -o m.json",
            &["`helmert` is not a coding", "treatment and sum"],
        ),
        usage(
            "a number as a term",
            "fit p.csv --formula 'y ~ x + 2' -o m.json",
            &["the number 2 is no term", "I(2 * age)"],
        ),
        usage(
            "a power that is none",
            "fit p.csv --formula 'y ~ (x + w)^0.5' -o m.json",
            &["whole number from 1 to 64", "(character 13)"],
        ),
        usage(
            "a quotient of terms",
            "fit p.csv --formula 'y ~ x / w' -o m.json",
            &["`/` is no operator of terms", "I(a / b)"],
        ),
        usage("nothing but an intercept", "fit p.csv --formula 'y ~ 1' -o m.json", &["no term besides the intercept"]),
        usage("all terms taken away", "fit p.csv --formula 'y ~ x - x' -o m.json", &["no term besides the intercept"]),
        usage(
            "the target as a term",
            "fit p.csv --formula 'y ~ x + y' -o m.json",
            &["`y` cannot be a feature", "(character 9)"],
        ),
        usage(
            "a dropped column as a term",
            "fit p.csv --formula 'y ~ x + w' --drop w -o m.json",
            &["`w` cannot be a feature"],
        ),
        usage(
            "features beside a formula",
            "fit p.csv --formula 'y ~ x' --features w -o m.json",
            &["--features is given as well"],
        ),
        usage(
            "a basis beside a formula",
            "fit p.csv --formula 'y ~ x' --basis products -o m.json",
            &["--basis is given as well"],
        ),
        usage(
            "a transform beside a formula",
            "fit p.csv --formula 'y ~ x' --transform quantile -o m.json",
            &["--transform is given as well"],
        ),
        usage(
            "a reference beside a formula",
            "fit p.csv --formula 'y ~ x' --reference kind=a -o m.json",
            &["--reference is given as well"],
        ),
        usage(
            "naive Bayes of a formula",
            "fit p.csv --formula 'y ~ x' --model naive-bayes -o m.json",
            &["takes each column by itself"],
        ),
        usage(
            "lda without an intercept",
            "fit p.csv --formula 'y ~ 0 + x' --model lda -o m.json",
            &["leaves the intercept out", "method lda"],
        ),
        usage("planes without an intercept", "separable p.csv --formula 'y ~ x - 1'", &["have an intercept"]),
        usage(
            "columns chosen of a formula",
            "infer p.csv --formula 'y ~ x' --split lasso:0.1",
            &["terms of a formula are not columns"],
        ),
        usage(
            "effects of a polynomial",
            "infer p.csv --formula 'y ~ poly(x, 2)' --effects",
            &["average marginal effects"],
        ),
        bad(
            "a logarithm of a negative cell",
            ("f.csv", "x,y\n1,a\n-2,b\n3,a\n4,b\n"),
            "fit f.csv --formula 'y ~ log(x)' -o m.json",
            &["f.csv, line 3, column `x`", "`log(x)`", "not defined"],
        ),
        bad(
            "a spline of a logarithm of zero",
            ("f.csv", "x,y\n1,a\n2,b\n3,a\n0,b\n"),
            "fit f.csv --formula 'y ~ ns(log(x), 2)' -o m.json",
            &["f.csv, line 5, column `x`", "not defined", "character 5"],
        ),
        bad(
            "a function that overflows",
            ("f.csv", "x,y\n1,a\n2,b\n3,a\n900,b\n"),
            "fit f.csv --formula 'y ~ exp(x)' -o m.json",
            &["f.csv, line 5, column `x`", "`exp(x)`"],
        ),
        bad(
            "a formula of LIBSVM data",
            ("f.svm", "1 1:1 3:1\n2 2:1\n"),
            "fit f.svm --formula '~ x' -o m.json",
            &["a formula needs named columns", "CSV or Parquet"],
        ),
        bad(
            "a spline of a constant",
            ("f.csv", "x,z,y\n1,1,a\n1,2,b\n1,1,a\n1,3,b\n"),
            "fit f.csv --formula 'y ~ z + bs(x)' -o m.json",
            &["`bs(x)` (character 9 of the formula)", "two different outer knots"],
        ),
        usage(
            "a reference without a level",
            "fit p.csv -t y --reference kind -o m.json",
            &["`kind` is not a reference level", "region=west"],
        ),
        usage("a reference of no level", "fit p.csv -t y --reference kind=c -o m.json", &["`kind` has no level `c`"]),
        usage("a reference of numbers", "fit p.csv -t y --reference x=1 -o m.json", &["`x` holds numbers", "--text x"]),
        usage(
            "a reference of no column",
            "fit p.csv -t y --reference kid=a -o m.json",
            &["no column `kid`", "did you mean `kind`"],
        ),
        usage("two references", "fit p.csv -t y --reference kind=a,kind=b -o m.json", &["two reference levels"]),
        usage(
            "a reference that is no feature",
            "fit p.csv -t y --drop kind --reference kind=a -o m.json",
            &["`kind` of --reference is not among the features"],
        ),
    ]
}

fn transforms_and_bases() -> Vec<Case> {
    let header: String = (0..300).map(|j| format!("x{j},")).collect();
    let line = |i: usize| (0..300).map(|j| format!("{},", (i * 31 + j * 17) % 97)).collect::<String>();
    let wide: String = (0..8).map(|i| format!("{}{}\n", line(i), i % 2)).collect();
    let wide = format!("{header}y\n{wide}");
    vec![
        bad(
            "basis too large",
            ("f.csv", wide.clone()),
            "fit f.csv -t y --basis quadratic -o m.json",
            &["45450 features of 300", "2.8 MiB for 8 rows", "20000 features", "--basis-columns"],
        ),
        bad(
            "basis far too large",
            ("f.csv", wide),
            "fit f.csv -t y --basis poly:10 -o m.json",
            &["features of 300", "EiB", "lower degree"],
        ),
        usage("unknown basis", "fit p.csv -t y --basis cubic -o m.json", &["`cubic` is not a basis", "poly:3"]),
        usage("degree of one", "fit p.csv -t y --basis poly:1 -o m.json", &["degree 1", "from 2 to 10"]),
        usage("degree in words", "fit p.csv -t y --basis poly:two -o m.json", &["`poly:two` is not a basis", "poly:3"]),
        usage(
            "basis of an unknown column",
            "fit p.csv -t y --basis products --basis-columns x,kinds -o m.json",
            &["no column `kinds`", "did you mean `kind`"],
        ),
        usage(
            "basis of the target",
            "fit p.csv -t y --basis products --basis-columns x,y -o m.json",
            &["`y` of --basis-columns is not among the features"],
        ),
        usage("columns without a basis", "fit p.csv -t y --basis-columns x -o m.json", &["--basis <BASIS>"]),
        bad(
            "basis of LIBSVM data",
            ("f.svm", "1 1:1 3:1\n2 2:1\n"),
            "fit f.svm --basis products -o m.json",
            &["named columns", "LIBSVM", "CSV"],
        ),
        bad(
            "transform of LIBSVM data",
            ("f.svm", "1 1:1 3:1\n2 2:1\n"),
            "fit f.svm --transform quantile -o m.json",
            &["no named number column to transform", "leave --transform out"],
        ),
        usage("unknown transform", "fit p.csv -t y --transform log -o m.json", &["log", "quantile-normal"]),
        usage(
            "transform of text",
            "fit p.csv -t y --transform quantile --transform-columns kind -o m.json",
            &["`kind` holds text", "--transform-columns"],
        ),
        usage(
            "transform of a dropped column",
            "fit p.csv -t y --drop w --transform quantile --transform-columns w -o m.json",
            &["`w` of --transform-columns is not among the features"],
        ),
        bad(
            "a column to transform without cells",
            ("f.csv", "x,z,y\n1,,a\n2,NA,b\n3,,a\n"),
            "fit f.csv -t y --number z --transform quantile --missing mean -o m.json",
            &["column `z` is missing in every row", "--drop z"],
        ),
        bad(
            "a transform without a complete row",
            ("f.csv", "x,z,y\n1,,a\n,2,b\n"),
            "fit f.csv -t y --transform quantile -o m.json",
            &["no row has all the cells", "--missing mean"],
        ),
        bad(
            "a product that overflows",
            ("f.csv", "x,y\n1e100,a\n2e100,b\n-1e100,a\n3e100,b\n"),
            "fit f.csv -t y --basis quadratic -o m.json",
            &["`x^2`", "squares overflow", "rescale"],
        ),
    ]
}

fn naive_bayes() -> Vec<Case> {
    let bayes = "fit f.csv -t y -m naive-bayes --features x --family poisson -o m.json";
    let flags = |x: &str| format!("x,y\n1,a\n0,a\n{x},b\n1,b\n").into_bytes();
    vec![
        bad(
            "a count that is not whole",
            ("f.csv", pair("1.5,a,1,0,no")),
            bayes,
            &["f.csv, line 2", "column `x` is 1.5", "counts: 0, 1, 2", "--family"],
        ),
        bad(
            "a negative count",
            ("f.csv", pair("-1,a,1,0,no")),
            bayes,
            &["f.csv, line 2", "column `x` is -1", "counts"],
        ),
        bad(
            "a fault after a dropped row",
            ("f.csv", "x,y\n1,a\n,a\n2,b\n\n-3,b\n"),
            "fit f.csv -t y -m naive-bayes --family multinomial -o m.json",
            &["f.csv, line 6", "column `x` is -3"],
        ),
        bad(
            "a fault in a fold",
            ("f.csv", "x,y\n1,a\n2,a\n2,b\n2.5,b\n"),
            "fit f.csv -t y -m naive-bayes --family poisson --cv 2 -o m.json",
            &["f.csv, line 5", "without fold", "column `x` is 2.5"],
        ),
        bad(
            "neither 0 nor 1",
            ("f.csv", flags("2")),
            "fit f.csv -t y -m naive-bayes --family bernoulli -o m.json",
            &["f.csv, line 4", "column `x` is 2", "0 or 1"],
        ),
        bad(
            "more successes than trials",
            ("f.csv", flags("4")),
            "fit f.csv -t y -m naive-bayes --family binomial:3 -o m.json",
            &["f.csv, line 4", "column `x` is 4", "counts from 0 to 3"],
        ),
        bad(
            "a LIBSVM count that is not whole",
            ("f.svm", "1 1:1 3:1\n2 2:0.5\n"),
            "fit f.svm -m naive-bayes --family poisson -o m.json",
            &["f.svm, line 2", "column `2` is 0.5", "counts"],
        ),
        bad(
            "a negative LIBSVM count",
            ("f.svm", "1 1:1 3:1\n2 2:-0.5\n"),
            "fit f.svm -m naive-bayes --family multinomial -o m.json",
            &["f.svm, line 2", "column `2` is -0.5", "numbers from 0"],
        ),
        fine(
            "a multinomial of frequencies",
            ("f.svm", "1 1:1 3:1\n2 2:0.5\n"),
            "fit f.svm -m naive-bayes --family multinomial",
            &["multinomial (3)", "smoothing 1"],
        ),
        bad(
            "a class of one row",
            ("f.csv", "x,y\n1,a\n2,a\n4,b\n"),
            "fit f.csv -t y -m naive-bayes -o m.json",
            &["class `b`", "column `x`", "--variance-smoothing", "gaussian-shared"],
        ),
        fine(
            "a class of one row with a shared variance",
            ("f.csv", "x,y\n1,a\n2,a\n4,b\n"),
            "fit f.csv -t y -m naive-bayes --family gaussian-shared",
            &["gaussian-shared (1)", "unbiased variances"],
        ),
        bad(
            "a column that is constant within a class",
            ("f.csv", "x,y\n1,a\n2,a\n4,b\n4,b\n"),
            "fit f.csv -t y -m naive-bayes -o m.json",
            &["within class `b` column `x` is 4 in every row", "--variance-smoothing"],
        ),
        bad(
            "a share of zero without smoothing",
            ("f.csv", "x,y\nu,a\nv,a\nu,b\nu,b\n"),
            "fit f.csv -t y -m naive-bayes --smoothing 0 -o m.json",
            &["class `b` never has a row in column `x=v`", "--smoothing 1"],
        ),
        bad(
            "a gamma column at prediction",
            ("f.csv", "x\n3\n0\n"),
            "predict gamma.json f.csv -o out.csv",
            &["f.csv, line 3", "column `x` is 0", "no logarithm", "positive"],
        ),
        usage("unknown family", "fit p.csv -t y -m naive-bayes --family normal -o m.json", &["`normal`", "gaussian"]),
        usage(
            "family of an unknown column",
            "fit p.csv -t y -m naive-bayes --family zebra=poisson -o m.json",
            &["no column `zebra`", "x, kind, w, o"],
        ),
        usage(
            "family of a text column",
            "fit p.csv -t y -m naive-bayes --family kind=poisson -o m.json",
            &["`kind` is text", "categorical", "--number kind"],
        ),
        usage(
            "categorical numbers",
            "fit p.csv -t y -m naive-bayes --family x=categorical -o m.json",
            &["`x` holds numbers", "--text x"],
        ),
        usage(
            "two families for all",
            "fit p.csv -t y -m naive-bayes --family poisson,gamma -o m.json",
            &["two families", "column=FAMILY"],
        ),
        usage(
            "negative smoothing",
            "fit p.csv -t y -m naive-bayes --smoothing=-1 -o m.json",
            &["smoothing -1 is not a number from 0"],
        ),
        usage(
            "naive Bayes priors that do not sum to one",
            "fit p.csv -t y -m naive-bayes --features x --priors no=0.5,yes=0.6 -o m.json",
            &["sum to one", "1.1"],
        ),
        usage(
            "family for logistic regression",
            "fit p.csv -t y --family poisson -o m.json",
            &["--family", "--model logistic", "naive-bayes"],
        ),
        usage(
            "penalty for naive Bayes",
            "fit p.csv -t y -m naive-bayes --penalty none -o m.json",
            &["--penalty", "--model naive-bayes", "logistic"],
        ),
    ]
}

fn resampling() -> Vec<Case> {
    vec![
        usage("a comparison of no method", "compare p.csv -t y --methods foo", &["no method is called `foo`", "qda"]),
        usage("a comparison without a target", "compare p.csv", &["which column is to be predicted"]),
        usage(
            "a comparison by probabilities of a method without",
            "compare p.csv -t y --methods svm --metric log-loss --folds 3",
            &["log_loss needs probabilities, and svm has none"],
        ),
        usage("a comparison in more folds than rows", "compare p.csv -t y --folds 9", &["9 folds cannot be made of 8"]),
        usage("a comparison in one fold", "compare p.csv -t y --folds 1", &["1 fold cannot be made"]),
        usage(
            "a comparison in more folds than groups",
            "compare p.csv -t y --groups kind --folds 3",
            &["of the 2 groups"],
        ),
        usage(
            "a comparison by times that are text",
            "compare p.csv -t y --time kind",
            &["the time column `kind` holds text"],
        ),
        bad(
            "a comparison of one class",
            ("one.csv", "x,y\n1,a\n2,a\n3,a\n"),
            "compare one.csv -t y --folds 2",
            &["class"],
        ),
        usage("a report of no kind", "report p.json p.csv -o r.txt", &["ends neither in .html nor in .md"]),
        usage("a report over its model", "report p.json p.csv -o p.json", &["ends neither in .html nor in .md"]),
        usage("a report by no column", "report p.json p.csv --by foo -o r.html", &["foo"]),
        usage("a report of no test", "report p.json p.csv --test foo.csv -o r.html", &["foo.csv"]),
        usage("a report in no directory", "report p.json p.csv -o no/r.html", &["make it first"]),
        usage("a point of a path at no size", "path p.csv -t y --at 0", &["λ = 0 is not a positive number"]),
        usage("a point beside a path", "path p.csv -t y --at 1 --lambdas 3", &["cannot be used with"]),
        usage("folds for a hinge", "fit p.csv -t y --model svm --penalty ridge:cv", &["the hinge loss has no path"]),
        usage("folds for no penalty", "fit p.csv -t y --penalty none:cv", &["`none:cv` is not the penalty of a path"]),
        usage("folds for a method without", "fit p.csv -t y --model lda --penalty lasso:cv", &["does not belong"]),
        usage(
            "folds and a solver",
            "fit p.csv -t y --penalty lasso:cv --solver newton",
            &["chooses its solver itself"],
        ),
        usage("folds and steps", "fit p.csv -t y --penalty lasso:cv --trace s.csv", &["--trace is of one fit"]),
        usage("a budget without a unit", "tune p.csv -t y --budget 10", &["`10` is not a time"]),
        usage("a budget of nothing", "tune p.csv -t y --budget min", &["`min` is not a time"]),
        usage("a journal over the table", "tune p.csv -t y --journal p.csv", &["it would be overwritten"]),
        usage("a journal that is a table", "tune p.csv -t y --journal t.csv", &["not the journal of a search"]),
        bad(
            "a search by groups that are classes",
            ("g.csv", "x,g,y\n1,a,no\n2,a,no\n3,b,yes\n2,b,yes\n"),
            "tune g.csv -t y --groups g --folds 2",
            &["no row of class", "is left to learn from", "another column that divides the rows"],
        ),
        bad(
            "a comparison by times that are classes",
            ("g.csv", "x,t,y\n1,1,no\n2,2,no\n3,3,yes\n2,4,yes\n"),
            "compare g.csv -t y --time t --folds 2",
            &["without fold 1 no row of class `yes` is left to learn from"],
        ),
        usage("a search of no flag", "tune p.csv -t y --grid foo=1,2", &["no flag of `linsep fit` is called foo"]),
        usage("a search of a flag that is given", "tune p.csv -t y --C 2 --grid C=1,2", &["both given and searched"]),
        usage("a search over no number", "tune p.csv -t y --grid C=a,b", &["invalid value 'a'"]),
        usage("a search without values", "tune p.csv -t y --grid C", &["`C` names no values"]),
        usage("a search with an empty value", "tune p.csv -t y --grid C=1,,2", &["has an empty value"]),
        usage("a search with a value twice", "tune p.csv -t y --grid C=1,1", &["has the value 1 twice"]),
        usage("a search with a flag twice", "tune p.csv -t y --grid C=1 --grid C=2", &["--grid C is given 2 times"]),
        usage("a search of the target", "tune p.csv -t y --grid target=x", &["`target` is not a setting"]),
        usage(
            "a range that does not rise from zero",
            "tune p.csv -t y --grid C=log:0:1:3",
            &["needs two ends above 0"],
        ),
        usage("a range of one value", "tune p.csv -t y --grid C=lin:0:1:1", &["from 2 to"]),
        usage("a search with nothing to choose", "tune p.csv -t y --model svm", &["there is nothing to choose"]),
        usage(
            "a search by probabilities that are not there",
            "tune p.csv -t y --model svm --grid C=1,2 --metric brier",
            &["brier needs probabilities"],
        ),
        usage(
            "more groups than there are",
            "tune p.csv -t y --groups kind --folds 5",
            &["5 folds cannot be made of the 2 groups"],
        ),
        usage("more times than there are", "tune p.csv -t y --time w --folds 5", &["need 6 different times"]),
        usage("times that are text", "tune p.csv -t y --time kind", &["the time column `kind` holds text"]),
        usage("repetitions of time", "tune p.csv -t y --time x --folds 2 --repeats 2", &["the same every time"]),
        usage("no repetition", "tune p.csv -t y --repeats 0", &["0 repetitions"]),
        usage("no trial", "tune p.csv -t y --grid C=1,2 --trials 0", &["0 trials"]),
        usage("folds of one row", "tune p.csv -t y --folds 1", &["1 fold cannot be made"]),
        usage("a path of calibrated scores", "tune p.csv -t y --calibrate platt", &["no path along the penalty"]),
        usage(
            "a bootstrap of a hard margin",
            "resample p.csv -t y --features x --model hard-margin",
            &["rests on few rows", "choose --model logistic, svm, least-squares or lda"],
        ),
        usage(
            "a bootstrap of a perceptron",
            "resample p.csv -t y --features x --model perceptron",
            &["depends on the order of the rows and minimises nothing"],
        ),
        usage(
            "a bootstrap of a kernel machine",
            "resample p.csv -t y --features x --model svm --kernel rbf",
            &["a kernel machine has no coefficients of columns"],
        ),
        usage(
            "replicates that do not reach the ends",
            "resample p.csv -t y --features x --bootstrap 20",
            &["20 replicates do not reach the ends of an interval of level 0.95: 39 are needed"],
        ),
        usage(
            "replicates that are taken for known",
            "resample p.csv -t y --features x --missing mean",
            &["--missing mean learns values from all rows", "--missing drop"],
        ),
        usage(
            "quantiles that are taken for known",
            "resample p.csv -t y --features x --transform quantile-normal",
            &["--transform learns quantiles from all rows", "leave --transform out"],
        ),
        usage(
            "folds without permutations",
            "resample p.csv -t y --features x --folds 3",
            &["--folds is for --permutations", "add --permutations 999"],
        ),
        usage(
            "no permutations",
            "resample p.csv -t y --features x --permutations 0",
            &["no permutations were asked for"],
        ),
        usage(
            "permutations of weighted rows",
            "resample p.csv -t y --features x --weights w --permutations 9",
            &["rows with weights cannot change their classes", "k rows"],
        ),
    ]
}

fn studies() -> Vec<Case> {
    vec![
        usage(
            "a profile of estimates that maximise nothing",
            "infer p.csv -t y --features x --bias-reduced median --interval profile",
            &["no likelihood has a profile at them", "use --firth", "leave --interval profile out"],
        ),
        usage("two kinds of reduced bias", "infer p.csv -t y --features x --bias-reduced mean --firth", &["--firth"]),
        usage(
            "columns chosen by a ridge",
            "infer p.csv -t y --features x --split ridge:1",
            &["a ridge leaves none out", "choose a lasso"],
        ),
        usage(
            "halves of weighted rows",
            "infer p.csv -t y --features x --weights w --split lasso:0.01",
            &["cannot be divided", "k rows"],
        ),
        usage("a study of no method", "study gaussian", &["--model"]),
        usage(
            "a study of a method that does not exist",
            "study gaussian --model lada",
            &["`lada` is no method", "write its name and the flags that fit has for it"],
        ),
        usage(
            "a study of samples without rows",
            "study gaussian --model lda --rows 0",
            &["a sample of 0 rows cannot be drawn", "at least 1"],
        ),
        usage("a study of no samples", "study gaussian --model lda --samples 0", &["no samples were asked for"]),
        usage("a study on no fresh rows", "study gaussian --model lda --test-rows 0", &["no fresh rows"]),
        usage("a level that is none", "study gaussian --model lda --level 1.5", &["is not between 0 and 1"]),
        usage(
            "a study with a flag of another kind",
            "study gaussian --model lda --weights 1,2",
            &["--weights does not belong to gaussian", "logistic"],
        ),
        usage(
            "a flag of the method outside its quotes",
            "study gaussian --classes 3 --model hard-margin --multiclass joint",
            &["--multiclass"],
        ),
    ]
}

fn other_inference() -> Vec<Case> {
    vec![
        usage(
            "a level of Gaussian classes",
            "infer t.csv -t y --model lda --level 2",
            &["--level 2 is not between 0 and 1"],
        ),
        usage(
            "Firth of Gaussian classes",
            "infer t.csv -t y --model lda --firth",
            &["--firth does not belong to --model lda", "choose --model logistic"],
        ),
        usage(
            "robust covariances of Gaussian classes",
            "infer t.csv -t y --model qda --covariance hc3",
            &["--covariance does not belong to --model qda"],
        ),
        usage(
            "text in Gaussian classes",
            "infer p.csv -t y --model lda --drop w,o",
            &["the text column `kind` is not Gaussian", "--drop kind"],
        ),
        usage(
            "columns of Gaussian classes that do not vary",
            "infer t.csv -t y --model lda",
            &["the column `o` does not vary within the classes", "leave it out: --drop"],
        ),
        usage(
            "too few rows for own covariances",
            "infer t.csv -t y --drop o --model qda",
            &[
                "within class `a`: their covariance cannot be inverted",
                "2 columns need that many degrees of freedom",
                "--model lda",
            ],
        ),
        usage(
            "clusters of least squares",
            "infer p.csv -t y --drop w,o --model least-squares --covariance cluster:kind",
            &["not of clusters", "--covariance hc0, hc1, hc2 or hc3"],
        ),
        usage(
            "a constant column of least squares",
            "infer t.csv -t y --model least-squares",
            &["the column `o` does not vary", "--drop"],
        ),
        usage(
            "an offset of least squares",
            "infer p.csv -t y --model least-squares --offset o",
            &["offsets have no meaning for --model least-squares"],
        ),
    ]
}

fn conformal_sets() -> Vec<Case> {
    vec![
        usage(
            "sets that are always right",
            "fit p.csv -t y --conformal 1 -o m.json",
            &["--conformal is 1, not between 0 and 1", "for example 0.9"],
        ),
        usage(
            "no rows held back",
            "fit p.csv -t y --conformal 0.9 --conformal-share 0 -o m.json",
            &["--conformal-share is 0, not between 0 and 1", "for example 0.2"],
        ),
        usage(
            "a share of sets that are not asked for",
            "fit p.csv -t y --conformal-share 0.3 -o m.json",
            &["--conformal-share is for --conformal", "add --conformal 0.9"],
        ),
        usage(
            "sets of weighted rows",
            "fit p.csv -t y --conformal 0.9 --weights w -o m.json",
            &["p.csv", "line 4", "the weight 2 of a row: conformal sets count rows", "k rows"],
        ),
        usage(
            "sets of all rows under other priors",
            "fit p.csv -t y --conformal 0.9 --true-priors no=0.9,yes=0.1 -o m.json",
            &["--true-priors says that the rows to come have others", "--conformal-by class"],
        ),
        usage(
            "a class held back as a whole",
            "fit t.csv -t y --drop o --conformal 0.9 --conformal-share 0.9 -o m.json",
            &["would all be held back for conformal sets", "--conformal-by class", "--conformal-share below 0.9"],
        ),
        usage(
            "sets of a model without",
            "predict p.json p.csv --set",
            &["the model has no sets of classes", "fit it with --conformal 0.9"],
        ),
    ]
}

fn decisions() -> Vec<Case> {
    vec![
        usage("threshold of zero", "fit p.csv -t y --threshold 0 -o m.json", &["threshold 0 is not between", "0.2"]),
        usage("threshold of one", "predict p.json p.csv --threshold 1", &["threshold 1 is not between 0 and 1"]),
        usage(
            "a guarantee on the rows of the fit",
            "guarantee p.json p.csv",
            &["the table that the model was fitted on", "kept apart from the fit", "--cv"],
        ),
        bad("a guarantee without labels", ("bare.csv", "x,kind,w,o\n1,a,1,0\n"), "guarantee p.json bare.csv", &["y"]),
        bad(
            "a failure probability of one",
            ("test.csv", "x,kind,y\n1,a,no\n"),
            "guarantee p.json test.csv --delta 1",
            &["δ = 1 is not a probability of failure"],
        ),
        bad(
            "a failure probability below zero",
            ("test.csv", "x,kind,y\n1,a,no\n"),
            "guarantee p.json test.csv --delta -0.1",
            &["δ = -0.1 is not a probability of failure"],
        ),
        bad(
            "a margin bound of a learned scale",
            ("test.csv", "x,kind,y\n1,a,no\n"),
            "guarantee p.json test.csv --train p.csv --rho 1 --norm 9 --radius 9",
            &["the margin bound does not hold here", "learned from the rows"],
        ),
        bad(
            "a margin bound without its terms",
            ("test.csv", "x,kind,y\n1,a,no\n"),
            "guarantee p.json test.csv --train p.csv --rho 1",
            &["--norm", "--radius"],
        ),
        usage(
            "a figure that nobody can want",
            "evaluate p.json p.csv --want speed=0.9",
            &["`speed=0.9` is not a figure"],
        ),
        usage("a share above one", "evaluate p.json p.csv --want recall=1.5", &["1.5 is not a share"]),
        usage("a threshold of three classes", "evaluate lda.json t.csv --want recall=0.9", &["between two classes"]),
        usage("a rival of another target", "evaluate p.json p.csv --against lda.json", &["classes"]),
        usage("a rival that is not there", "evaluate p.json p.csv --against none.json", &["none.json"]),
        usage(
            "too few replicates",
            "evaluate p.json p.csv --against p.json --replicates 9",
            &["9 replicates are too few"],
        ),
        usage("negative threshold", "evaluate p.json p.csv --threshold -0.5", &["threshold -0.5 is not between"]),
        usage("threshold that is no number", "predict p.json p.csv --threshold nan", &["threshold NaN is not between"]),
        usage("threshold in words", "predict p.json p.csv --threshold low", &["low", "--threshold"]),
        usage(
            "threshold for three classes, fitting",
            "fit t.csv -t y --threshold 0.3 -o m.json",
            &["two classes, and there are 3", "costs"],
        ),
        usage(
            "threshold for three classes, predicting",
            "predict lda.json t.csv --threshold 0.3",
            &["two classes, and there are 3", "costs"],
        ),
        usage("negative reject", "predict p.json p.csv --reject -1", &["-1 is not a cost of making no", "0.1"]),
        usage("reject that is no number", "fit p.csv -t y --reject nan -o m.json", &["NaN is not a cost of making no"]),
        usage(
            "costs and threshold",
            "fit p.csv -t y --threshold 0.3 --costs no:yes=2 -o m.json",
            &["--threshold and --costs exclude each other", "a/(a+b)"],
        ),
        usage(
            "costs of an unknown class",
            "predict p.json p.csv --costs yess:no=2",
            &["no class `yess`", "mean `yes`"],
        ),
        usage(
            "costs of a class far from every name",
            "fit p.csv -t y --costs yes:perhaps=2 -o m.json",
            &["no class `perhaps`", "the classes are: no, yes"],
        ),
        usage("a cost in words", "predict p.json p.csv --costs yes:no=much", &["`yes:no=much` is not a cost", "=10"]),
        usage("a cost without classes", "predict p.json p.csv --costs yes=1", &["`yes` does not name truth and"]),
        usage("an infinite cost", "predict p.json p.csv --costs yes:no=inf", &["inf is not a cost", "finite"]),
        usage("a cost given twice", "predict p.json p.csv --costs yes:no=1,yes:no=2", &["`yes:no` is given twice"]),
        usage(
            "no such costs",
            "predict p.json p.csv --costs c.csv",
            &["c.csv", "no such file", "truth:prediction=cost"],
        ),
        bad(
            "costs of the wrong size",
            ("c.csv", "truth,no,yes\nno,0,1\nyes,2,0\n"),
            "predict lda.json t.csv --costs c.csv",
            &["c.csv, line 1", "no class `no`", "a, b, c"],
        ),
        bad(
            "costs that leave out a prediction",
            ("c.csv", "truth,a,b\na,0,1\nb,2,0\nc,1,1\n"),
            "predict lda.json t.csv --costs c.csv",
            &["c.csv, line 1", "leave out class `c`", "a column for every prediction"],
        ),
        bad(
            "costs that leave out a truth",
            ("c.csv", "truth,a,b,c\na,0,1,1\nb,2,0,1\n"),
            "predict lda.json t.csv --costs c.csv",
            &["c.csv, column `truth`", "leave out class `c`", "a row for every truth"],
        ),
        bad(
            "costs with a truth twice",
            ("c.csv", "truth,no,yes\nno,0,1\nno,0,1\nyes,2,0\n"),
            "fit p.csv -t y --costs c.csv -o m.json",
            &["c.csv, column `truth`", "`no` is there twice"],
        ),
        bad(
            "costs with a hole",
            ("c.csv", "truth,no,yes\nno,0,\nyes,2,0\n"),
            "fit p.csv -t y --costs c.csv -o m.json",
            &["c.csv, line 2, column `yes`", "a cost is missing", "0"],
        ),
        bad(
            "costs that are no numbers",
            ("c.csv", "truth,no,yes\nno,0,1\nyes,dear,0\n"),
            "predict p.json p.csv --costs c.csv",
            &["c.csv, line 3, column `no`", "dear"],
        ),
        bad(
            "costs without a column",
            ("c.csv", "truth\nno\nyes\n"),
            "predict p.json p.csv --costs c.csv",
            &["c.csv, line 1", "leave out class `no`"],
        ),
        usage(
            "costs without probabilities",
            "fit p.csv -t y -m least-squares --costs no:yes=2 -o m.json",
            &["need probabilities", "logistic"],
        ),
        usage(
            "rejection without probabilities",
            "predict squares.json p.csv --reject 0.1",
            &["need probabilities", "logistic"],
        ),
        usage(
            "a threshold without probabilities",
            "evaluate squares.json p.csv --threshold 0.3",
            &["need probabilities", "0.5"],
        ),
    ]
}

fn multiclass() -> Vec<Case> {
    vec![
        usage(
            "ties of two classes",
            "fit p.csv -t y --model svm --ties first -o m.json",
            &["--ties is for more than two classes, and there are two", "leave it out"],
        ),
        usage(
            "a vote of two classes",
            "fit p.csv -t y --multiclass one-vs-one --vote majority -o m.json",
            &["--vote is for more than two classes"],
        ),
        usage(
            "ties of a model of two classes",
            "predict p.json p.csv --ties first -o out.csv",
            &["--ties is for more than two classes, and this model has two"],
        ),
        usage(
            "a vote of a joint model",
            "predict lda.json t.csv --vote majority -o out.csv",
            &["--vote is for two-class fits", "all classes at once", "--multiclass one-vs-one"],
        ),
        usage(
            "a vote without pairs",
            "fit t.csv -t y --drop o --model svm --vote majority -o m.json",
            &["--vote does not belong to linear-machine fits", "--multiclass one-vs-one"],
        ),
        usage(
            "ties of a joint fit",
            "fit t.csv -t y --drop o --ties first -o m.json",
            &["--ties does not belong to joint fits", "one-vs-rest"],
        ),
        usage(
            "scores that break ties of scores",
            "fit t.csv -t y --drop o --model svm --ties scores -o m.json",
            &["ties only where scores are equal", "--ties undetermined or first"],
        ),
        usage(
            "a vote of calibrated pairs",
            "fit t.csv -t y --drop o --multiclass one-vs-one --vote majority --calibrate platt -o m.json",
            &["--vote is about scores, and once calibrated the probabilities decide", "leave it out"],
        ),
        bad(
            "a class that no score against the rest speaks for",
            ("f.csv", "x,y\n1,a\n2,a\n3,a\n4,a\n5,b\n6,b\n7,b\n8,b\n9,c\n10,c\n11,c\n12,c\n"),
            "fit f.csv -t y --model least-squares --multiclass one-vs-rest --calibrate platt -o m.json",
            &["`b` against the rest: platt calibration fails", "--multiclass one-vs-one"],
        ),
        usage(
            "an approach that is none",
            "fit t.csv -t y --drop o --multiclass all-vs-all -o m.json",
            &["all-vs-all", "one-vs-one"],
        ),
        usage(
            "the squared hinge of three classes at once",
            "fit t.csv -t y --drop o --model svm --loss squared-hinge --multiclass joint -o m.json",
            &["the squared hinge separates two classes, and there are 3", "--loss hinge"],
        ),
        usage(
            "an interior point of three classes at once",
            "fit t.csv -t y --drop o --model svm --multiclass joint --solver interior-point -o m.json",
            &["--solver interior-point is for two classes", "dual-cd"],
        ),
        usage(
            "offsets of two-class fits",
            "fit t.csv -t y --model svm --offset o,o,o -o m.json",
            &["offsets are for all classes together", "--multiclass joint"],
        ),
        usage(
            "priors of two-class fits",
            "fit t.csv -t y --drop o --model lda --multiclass one-vs-rest --priors a=0.2,b=0.3,c=0.5 -o m.json",
            &["priors are for all classes together"],
        ),
        usage(
            "costs of two-class fits",
            "fit t.csv -t y --drop o --multiclass one-vs-rest --costs a:b=2 -o m.json",
            &["need probabilities"],
        ),
        usage(
            "rejection by two-class fits",
            "fit t.csv -t y --drop o --multiclass one-vs-one --reject 0.1 -o m.json",
            &["need probabilities"],
        ),
        usage(
            "a start of two-class fits",
            "fit t.csv -t y --drop o --multiclass one-vs-one --init lda.json -o m.json",
            &["start"],
        ),
        bad(
            "one class of several",
            ("f.csv", "x,y\n1,a\n2,a\n3,a\n"),
            "fit f.csv -t y --model svm --multiclass one-vs-one -o m.json",
            &["has only one class, `a`"],
        ),
        bad(
            "a class of one row in a fit that needs two",
            ("f.csv", "x,y\n1,a\n2,a\n3,b\n4.5,b\n9,c\n"),
            "fit f.csv -t y --model qda --multiclass one-vs-one -o m.json",
            &["against `c`"],
        ),
        fine(
            "a class of one row",
            ("f.csv", "x,y\n1,a\n2,a\n3,b\n4.5,b\n9,c\n"),
            "fit f.csv -t y --model svm --multiclass one-vs-one",
            &["b | c", "undetermined"],
        ),
    ]
}

fn perceptrons() -> Vec<Case> {
    vec![
        usage(
            "a perceptron of three classes",
            "fit t.csv -t y --model perceptron --multiclass joint --drop o -o m.json",
            &["3 classes; the perceptron separates two", "--model logistic"],
        ),
        usage(
            "a pocket of three classes",
            "fit t.csv -t y --model pocket --multiclass joint --drop o -o m.json",
            &["3 classes; the perceptron separates two"],
        ),
        usage(
            "offsets of a perceptron",
            "fit p.csv -t y --model perceptron --offset o -o m.json",
            &["--offset does not belong to --model perceptron", "--model logistic"],
        ),
        usage(
            "a penalty for an algorithm",
            "fit p.csv -t y --model pocket --penalty ridge -o m.json",
            &["--penalty does not belong to --model pocket", "--model logistic"],
        ),
        usage(
            "a tolerance for an algorithm",
            "fit p.csv -t y --model averaged-perceptron --tol 1e-3 -o m.json",
            &["--tol does not belong to --model averaged-perceptron"],
        ),
        usage(
            "a pocket without one",
            "fit p.csv -t y --model perceptron --pocket run -o m.json",
            &["--pocket does not belong to --model perceptron", "--model pocket"],
        ),
        usage(
            "batches of a pocket",
            "fit p.csv -t y --model pocket --update batch -o m.json",
            &["--update does not belong to --model pocket", "--model perceptron"],
        ),
        usage(
            "an order of nothing",
            "fit p.csv -t y --model lda --order given -o m.json",
            &["--order does not belong to --model lda", "--model averaged-perceptron"],
        ),
        usage(
            "an order of batches",
            "fit p.csv -t y --model perceptron --update batch --order given -o m.json",
            &["--order is for rows one at a time", "leave one of them out"],
        ),
        usage(
            "a step of zero",
            "fit p.csv -t y --model pocket --step 0 -o m.json",
            &["the step 0 is not positive", "--step 1"],
        ),
        usage(
            "a step back",
            "fit p.csv -t y --model pocket --step=-1 -o m.json",
            &["the step -1 is not positive", "--step 1"],
        ),
        usage(
            "no epochs",
            "fit p.csv -t y --model perceptron --max-iter 0 -o m.json",
            &["0 epochs leave θ where it starts", "at least one"],
        ),
        usage(
            "a penalised intercept of a perceptron",
            "fit p.csv -t y --model perceptron --intercept penalised -o m.json",
            &["has no penalty", "--intercept free or none"],
        ),
        usage(
            "probabilities of a pocket",
            "predict pocket.json p.csv --proba -o out.csv",
            &["the scores of a pocket model are not probabilities", "--scores"],
        ),
        usage(
            "one temperature is all that three classes have",
            "fit t.csv -t y --drop o --model least-squares --calibrate platt -o m.json",
            &["platt calibration is for the one score of two classes, and there are 3", "--calibrate temperature"],
        ),
        usage(
            "folds of no calibration",
            "fit p.csv -t y --calibrate-folds 3 -o m.json",
            &["--calibrate-folds is for --calibrate", "add --calibrate platt"],
        ),
        usage(
            "more folds than rows",
            "fit p.csv -t y --features x,kind --model svm --calibrate platt --calibrate-folds 9 -o m.json",
            &["calibration: 9 folds cannot be made of 8 rows", "--calibrate-folds from 2 to 8"],
        ),
        usage(
            "one fold",
            "fit p.csv -t y --features x,kind --model svm --calibrate isotonic --calibrate-folds 1 -o m.json",
            &["calibration: 1 fold cannot be made"],
        ),
        bad(
            "a class of one row cannot be held out",
            ("f.csv", "x,y\n1,no\n2,no\n3,no\n4,yes\n"),
            "fit f.csv -t y --model svm --calibrate platt --calibrate-folds 2 -o m.json",
            &["class `yes` has one row", "leave out --calibrate"],
        ),
        bad(
            "scores that say nothing",
            ("f.csv", "x,y\n1,no\n1,yes\n2,no\n2,yes\n3,no\n3,yes\n4,no\n4,yes\n5,no\n5,yes\n"),
            "fit f.csv -t y --model least-squares --calibrate platt -o m.json",
            &["platt calibration fails", "do not tell the classes apart", "leave out --calibrate"],
        ),
        usage(
            "true priors without probabilities",
            "fit p.csv -t y --features x,kind --model svm --true-priors no=0.5,yes=0.5 -o m.json",
            &["true priors correct probabilities, and --model svm has none", "add --calibrate platt"],
        ),
        usage(
            "true priors of a model without probabilities",
            "predict squares.json p.csv --true-priors no=0.5,yes=0.5 -o out.csv",
            &["a least-squares model has none", "--calibrate platt"],
        ),
        usage(
            "true priors that do not sum to one",
            "fit p.csv -t y --features x,kind --true-priors no=0.5,yes=0.6 -o m.json",
            &["the true priors must be positive and sum to one; they sum to 1.1"],
        ),
        usage(
            "a true prior of zero",
            "evaluate p.json p.csv --true-priors no=1,yes=0",
            &["the true priors must be positive"],
        ),
        usage(
            "a class without a true prior",
            "fit p.csv -t y --features x,kind --true-priors no=1 -o m.json",
            &["no prior for class `yes`"],
        ),
        usage(
            "a true prior of no class",
            "fit p.csv -t y --features x,kind --true-priors no=0.5,maybe=0.5 -o m.json",
            &["there is no class `maybe`", "no, yes"],
        ),
        usage(
            "a class with two true priors",
            "fit p.csv -t y --features x,kind --true-priors no=0.5,no=0.5 -o m.json",
            &["class `no` has two priors"],
        ),
        usage(
            "a true prior that is no number",
            "fit p.csv -t y --features x,kind --true-priors no=half,yes=0.5 -o m.json",
            &["`no=half` is not a prior", "--true-priors a=0.2,b=0.8"],
        ),
        usage(
            "priors and true priors",
            "fit p.csv -t y --features x --model lda --priors no=0.5,yes=0.5 --true-priors no=0.4,yes=0.6 -o m.json",
            &["--priors and --true-priors", "as --priors"],
        ),
        usage(
            "a hard margin between three classes at once",
            "fit t.csv -t y --drop o --model hard-margin --multiclass joint -o m.json",
            &["the target has 3 classes; a hard margin is between two"],
        ),
        usage(
            "a hard margin with a penalty",
            "fit p.csv -t y --model hard-margin --penalty ridge -o m.json",
            &["--penalty does not belong to --model hard-margin"],
        ),
        usage(
            "a hard margin with offsets",
            "fit p.csv -t y --model hard-margin --offset o -o m.json",
            &["--offset does not belong to --model hard-margin"],
        ),
        usage(
            "a tolerance of no hard margin",
            "fit p.csv -t y --features x --model hard-margin --tol 2 -o m.json",
            &["the tolerance 2 is not between 0 and 1"],
        ),
        usage(
            "support vectors of a logistic model",
            "inspect p.json p.csv",
            &["a logistic model has no support vectors", "--model svm"],
        ),
        usage(
            "support vectors of another table",
            "inspect svm.json t.csv",
            &["this is not the table that the model was fitted on", "give the training table"],
        ),
        usage(
            "no number of support vectors",
            "inspect svm.json p.csv --rows some",
            &["--rows some is not a number of support vectors", "--rows all"],
        ),
        usage(
            "costs of a pocket",
            "fit p.csv -t y --features x,kind --model pocket --threshold 0.3 -o m.json",
            &["need probabilities", "logistic or lda"],
        ),
    ]
}

fn simulation() -> Vec<Case> {
    let parameters = |rest: &str| format!("{{\"means\": [[0, 0], [1, 1]], {rest}}}");
    vec![
        usage("nothing to draw", "simulate -o s.csv", &["KIND"]),
        usage("unknown kind", "simulate gausian -o s.csv", &["gausian", "gaussian"]),
        usage("no rows", "simulate gaussian --rows 0 -o s.csv", &["0 rows", "--rows"]),
        usage("rows below zero", "simulate gaussian --rows=-5 -o s.csv", &["--rows"]),
        usage(
            "priors that do not sum to one",
            "simulate gaussian --priors 0.5,0.6 -o s.csv",
            &["sum to one", "1.1", "--priors 0.2,0.8"],
        ),
        usage("a negative prior", "simulate poisson --priors=-0.5,1.5 -o s.csv", &["positive"]),
        usage(
            "priors of other classes",
            "simulate gaussian --classes 3 --priors 0.5,0.5 -o s.csv",
            &["2 priors for 3 classes", "--classes"],
        ),
        usage("one class drawn", "simulate gaussian --classes 1 -o s.csv", &["--classes 1", "from 2"]),
        usage("no law", "simulate logistic --x triangle:1,2 -o s.csv", &["`triangle:1,2`", "uniform:0,10"]),
        usage("half a law", "simulate logistic --x uniform:1 -o s.csv", &["`uniform:1`", "uniform:0,10"]),
        usage("a law in words", "simulate logistic --x normal:a,b -o s.csv", &["`a`", "not a number"]),
        usage("an empty interval", "simulate plane --x uniform:3,3 -o s.csv", &["between 3 and 3"]),
        usage("no spread", "simulate plane --x normal:0,0 -o s.csv", &["positive standard deviation"]),
        usage("shares of a mixture", "simulate plane --x 'mixture:0,1,0.5;1,1,0.6' -o s.csv", &["sum to 1.1"]),
        usage(
            "a law and a correlation",
            "simulate logistic --x normal:0,1 --correlation 0.5 -o s.csv",
            &["--correlation"],
        ),
        usage("text as features", "simulate plane --x p.csv -o s.csv", &["`kind`", "not of numbers"]),
        bad(
            "features with a gap",
            ("gap.csv", "a,b\n1,2\n3,NA\n"),
            "simulate plane --x gap.csv -o s.csv",
            &["gap.csv, line 3", "`b`", "missing"],
        ),
        bad(
            "weights for another table",
            ("ab.csv", "a,b\n1,2\n"),
            "simulate logistic --weights 1,2,3 --x ab.csv -o s.csv",
            &["3 weights for 2", "one for every feature"],
        ),
        usage("weights of no plane", "simulate plane --weights 0,0 -o s.csv", &["plane", "zero"]),
        usage(
            "counts of a class that hardly occurs",
            "simulate logistic --weights 1 --intercept -40 --counts 5,5 -o s.csv",
            &["too rare", "intercept"],
        ),
        usage("three counts", "simulate logistic --counts 5,5,5 -o s.csv", &["two classes", "two counts"]),
        bad(
            "features for classes that come first",
            ("means.json", r#"{"means":[[0],[1]],"variance":1}"#),
            "simulate --parameters means.json --x t.csv -o s.csv",
            &["`y`", "not of numbers"],
        ),
        bad(
            "components without parts",
            ("parts.json", r#"{"components":["a","b"],"means":[[0],[1],[2]],"variance":1}"#),
            "simulate --parameters parts.json -o s.csv",
            &["parts.json", "2 components for 3 parts"],
        ),
        bad(
            "components of one class",
            ("parts.json", r#"{"components":["a","a"],"means":[[0],[1]],"variance":1}"#),
            "simulate --parameters parts.json -o s.csv",
            &["parts.json", "one class"],
        ),
        bad(
            "a population without spread",
            ("one.json", r#"{"means":[[0,1]]}"#),
            "simulate --parameters one.json -o s.csv",
            &["one.json", "`covariance` or `variance`"],
        ),
        bad(
            "a population that is singular",
            ("one.json", r#"{"means":[[0,1]],"covariance":[[1,1],[1,1]]}"#),
            "simulate --parameters one.json -o s.csv",
            &["one.json", "singular"],
        ),
        bad(
            "a study of one population",
            ("one.json", r#"{"means":[[0,1]],"variance":1}"#),
            "study --parameters one.json --model lda",
            &["one population", "linsep estimate"],
        ),
        usage("estimates of text", "estimate p.csv", &["`kind`", "not a column of numbers"]),
        usage("an estimate of no column", "estimate p.csv --features z", &["`z`"]),
        bad("an estimate of nothing", ("gaps.csv", "a,b\n1,NA\nNA,2\n"), "estimate gaps.csv", &["no row"]),
        bad(
            "a prior of other columns",
            ("k.json", r#"{"features":["q"],"covariance":[[1]]}"#),
            "estimate p.csv --features x --parameters k.json",
            &["feature `x`", "q"],
        ),
        bad(
            "a prior that is no covariance",
            ("k.json", r#"{"features":["x"],"covariance":[[-1]]}"#),
            "estimate p.csv --features x --parameters k.json",
            &["k.json", "positive definite"],
        ),
        bad(
            "a truth of other columns beside one population",
            ("k.json", r#"{"features":["q"],"means":[[1]],"variance":1}"#),
            "estimate p.csv --features x --truth k.json",
            &["k.json", "truth is of q"],
        ),
        usage(
            "one quantile",
            "fit p.csv -t y --drop kind --transform quantile --quantiles 1",
            &["--quantiles 1", "at least 2"],
        ),
        usage("no features", "simulate gaussian --features 0 -o s.csv", &["at least one column", "--features"]),
        usage(
            "a correlation that is not possible",
            "simulate gaussian --features 3 --correlation -0.5 -o s.csv",
            &["-0.5 between 3 columns", "above -0.5"],
        ),
        usage("a negative distance", "simulate gaussian --distance -1 -o s.csv", &["-1 apart", "--distance"]),
        usage(
            "zeros and ones too far apart",
            "simulate bernoulli --features 1 --distance 5 -o s.csv",
            &["5 apart", "--distance below", "more columns"],
        ),
        usage("no margin", "simulate separable --margin 0 -o s.csv", &["margin of 0", "--margin"]),
        usage("a margin below zero", "simulate separable --margin -1 -o s.csv", &["margin of -1", "positive"]),
        usage("a plane without weights", "simulate separable --weights 0,0 -o s.csv", &["plane", "zero"]),
        usage("one row to separate", "simulate separable --rows 1 -o s.csv", &["1 rows", "at least 2"]),
        usage(
            "three sides of a plane",
            "simulate separable --priors 0.2,0.3,0.5 -o s.csv",
            &["3 classes", "two --priors"],
        ),
        usage(
            "weights of other features",
            "simulate logistic --features 3 --weights 1,2 -o s.csv",
            &["2 weights for 3 features"],
        ),
        usage("m above d", "simulate m-of-d --features 3 --m 4 -o s.csv", &["4 of 3", "--m from 1 to 3"]),
        usage("m of zero", "simulate m-of-d --features 3 --m 0 -o s.csv", &["0 of 3", "--m from 1 to 3"]),
        usage("too many rows to list", "simulate parity --features 60 -o s.csv", &["60 features", "--rows"]),
        usage(
            "a flag of another kind",
            "simulate parity --distance 2 -o s.csv",
            &["--distance does not belong to parity", "gaussian"],
        ),
        usage(
            "a flag beside a model",
            "simulate --from lda.json --classes 3 -o s.csv",
            &["--classes does not belong to --from"],
        ),
        usage("a kind beside a model", "simulate gaussian --from lda.json -o s.csv", &["--from"]),
        usage(
            "a model without densities",
            "simulate --from p.json -o s.csv",
            &["logistic model", "what the classes look like", "lda"],
        ),
        usage("no model there", "simulate --from no.json -o s.csv", &["no.json", "no such file"]),
        usage("rows into no directory", "simulate gaussian -o no/such/s.csv", &["no/such", "make it"]),
        usage("truth into no directory", "simulate gaussian --truth no/such/t.json", &["no/such", "make it"]),
        usage("rows and truth in one", "simulate gaussian -o s.csv --truth s.csv", &["both", "s.csv", "--truth"]),
        usage("rows and truth to one pipe", "simulate gaussian --truth -", &["both", "`-`"]),
        bad(
            "rows over their parameters",
            ("k.json", parameters("\"variance\": 1")),
            "simulate --parameters k.json -o k.json",
            &["`k.json` is the input"],
        ),
        bad(
            "truth over its parameters",
            ("k.json", parameters("\"variance\": 1")),
            "simulate --parameters k.json -o s.csv --truth k.json",
            &["`k.json` is the input"],
        ),
        bad(
            "a covariance that is not positive definite",
            (
                "k.json",
                parameters("\"classes\": [\"a\", \"b\"], \"covariances\": [[[1, 0], [0, 1]], [[1, 2], [2, 1]]]"),
            ),
            "simulate --parameters k.json -o s.csv",
            &["k.json", "class `b`", "not positive definite at column 2"],
        ),
        bad(
            "a covariance that is not symmetric",
            ("k.json", parameters("\"covariance\": [[1, 0.5], [0.4, 1]]")),
            "simulate --parameters k.json -o s.csv",
            &["k.json", "not symmetric", "(2, 1) is 0.4"],
        ),
        bad(
            "means without a covariance",
            ("k.json", "{\"means\": [[0], [1]]}"),
            "simulate --parameters k.json -o s.csv",
            &["k.json", "covariance"],
        ),
        bad(
            "parameters that are no object",
            ("k.json", "[1, 2"),
            "simulate --parameters k.json -o s.csv",
            &["k.json", "no file of parameters"],
        ),
        bad(
            "a rate below zero",
            (
                "k.json",
                "{\"priors\": [0.5, 0.5], \"marginals\": [{\"columns\": [0], \"family\": \"poisson\", \"rate\": [1, -1]}]}",
            ),
            "simulate --parameters k.json -o s.csv",
            &["k.json", "column 1", "`rate` of class `1` is -1"],
        ),
        bad(
            "a feature called like the classes",
            ("k.json", parameters("\"features\": [\"class\", \"x\"], \"variance\": 1")),
            "simulate --parameters k.json -o s.csv",
            &["`class` is the name of a feature"],
        ),
    ]
}

fn prepare() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("p.csv", PAIR);
    scratch.write("t.csv", THREE);
    scratch.done("fit p.csv --target y --features x,kind -o p.json");
    scratch.done("fit p.csv --target y --features x,kind --missing mean -o filled.json");
    scratch.done("fit t.csv --target y --drop o --model lda -o lda.json");
    scratch.done("fit p.csv --target y --features x,kind --model least-squares -o squares.json");
    scratch.done("fit p.csv --target y --features x,kind --model pocket -o pocket.json");
    scratch.done("fit p.csv --target y --features x --model naive-bayes --family gamma -o gamma.json");
    scratch.done("fit p.csv --target y --features x,kind --model least-squares -o squares.json");
    scratch.done("fit p.csv --target y --features x,kind --model svm -o svm.json");
    let model = String::from_utf8(scratch.read("p.json")).expect("a model is text");
    scratch.write("truncated.json", &model[..model.len() * 2 / 3]);
    let at = model.find("\"intercept_at_centre\":[").map_or(0, |i| i + model[i..].find('.').unwrap_or(0) + 1);
    let digit = if model.as_bytes()[at] == b'7' { "8" } else { "7" };
    scratch.write("edited.json", format!("{}{digit}{}", &model[..at], &model[at + 1..]));
    scratch.write("version.json", model.replacen("\"version\":1", "\"version\":99", 1));
    scratch
}

#[test]
fn every_case_is_refused_or_said() {
    let scratch = prepare();
    let before = scratch.names();
    let mut faults = Vec::new();
    for case in cases() {
        for (name, bytes) in &case.files {
            scratch.write(name, bytes);
        }
        let ran = scratch.run(case.line);
        let said = if case.code == 2 { &ran.stderr } else { &ran.stdout };
        for fragment in case.said.iter().filter(|f| !said.contains(**f)) {
            faults.push(format!("{}: `{fragment}` is not said in:\n{said}", case.name));
        }
        if ran.code != case.code {
            faults.push(format!("{}: exit code {}, not {}\n{}", case.name, ran.code, case.code, ran.stderr));
        }
        if case.code == 2 && !ran.stdout.is_empty() {
            faults.push(format!("{}: standard output is not empty:\n{}", case.name, ran.stdout));
        }
        if ran.stderr.contains("panicked") {
            faults.push(format!("{}: a panic:\n{}", case.name, ran.stderr));
        }
        for (name, _) in &case.files {
            std::fs::remove_file(scratch.file(name)).expect("the case's file is still there");
        }
        if scratch.names() != before {
            faults.push(format!("{}: files were left: {:?}", case.name, scratch.names()));
        }
    }
    assert!(faults.is_empty(), "{} faults\n\n{}", faults.len(), faults.join("\n\n"));
}

/// The subcommands with `--json`.
const WITH_JSON: [&str; 8] = ["evaluate", "fit", "geometry", "guarantee", "inspect", "path", "separable", "verify"];

/// What a program finds on standard error: one line, an object of this shape, and nothing on standard output.
fn error_of(line: &str, ran: &common::Ran) -> Value {
    let found: Value = serde_json::from_str(&ran.stderr).unwrap_or_else(|e| panic!("{line}: {e}:\n{}", ran.stderr));
    let error = &found["error"];
    let keys = |value: &Value| value.as_object().map(|o| o.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    assert_eq!(ran.code, 2, "{line}");
    assert_eq!((ran.stderr.trim_end().lines().count(), &ran.stdout[..]), (1, ""), "{line}");
    assert_eq!(keys(&found), ["error"], "{line}");
    assert_eq!(keys(error), ["kind", "place", "remedy", "what"], "{line}");
    assert_eq!(keys(&error["place"]), ["column", "file", "line", "row"], "{line}");
    let kind = error["kind"].as_str().unwrap_or_default();
    assert!(["usage", "not_found", "io", "format", "data", "model"].contains(&kind), "{line}: {kind}");
    assert!(error["what"].as_str().is_some_and(|what| !what.is_empty()), "{line}");
    assert!(error["remedy"].as_array().is_some_and(|all| all.iter().all(Value::is_string)), "{line}");
    error.clone()
}

#[test]
fn under_json_every_case_is_refused_in_json() {
    let scratch = prepare();
    let mut refused: Vec<&str> = Vec::new();
    for case in cases().iter().filter(|case| case.code == 2) {
        let subcommand = case.line.split(' ').next().unwrap_or_default();
        // Two outputs on standard output are another mistake.
        if !WITH_JSON.contains(&subcommand) || case.line.ends_with("-o -") {
            continue;
        }
        refused.push(subcommand);
        case.files.iter().for_each(|(name, bytes)| scratch.write(name, bytes));
        let json = if case.line.contains("--json") { "" } else { " --json" };
        let plain = scratch.run(case.line).stderr;
        let error = error_of(case.name, &scratch.run(&format!("{}{json}", case.line)));
        // The same words, and the place in parts.
        let words = error["remedy"].as_array().into_iter().flatten().chain([&error["what"], &error["place"]["column"]]);
        for fragment in words.filter_map(Value::as_str) {
            let verbs = ["use ", "choose ", "take ", "add "];
            let said = verbs.iter().find_map(|verb| fragment.strip_prefix(verb)).unwrap_or(fragment);
            let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(folded(&plain).contains(&folded(said)), "{}: `{said}` is not in:\n{plain}", case.name);
        }
    }
    for subcommand in WITH_JSON {
        assert!(refused.contains(&subcommand), "no case of {subcommand}");
    }
}

#[test]
fn a_program_is_told_the_place_and_each_remedy() {
    let scratch = prepare();
    let missing = error_of("inspect", &scratch.run("inspect none.json --json"));
    assert_eq!((&missing["kind"], &missing["place"]["file"]), (&json!("not_found"), &json!("none.json")));
    let unseen = scratch.run("geometry p.json none.csv --json");
    assert_eq!(error_of("geometry", &unseen)["kind"], "not_found");
    scratch.write("f.csv", [&b"x,y\n"[..], &b"1,a\n2,b\n".repeat(60), b"zzz,a\n"].concat());
    let cell = error_of("fit", &scratch.run("fit f.csv -t y --json"));
    assert_eq!(cell["kind"], "format");
    assert_eq!(cell["place"], json!({"file": "f.csv", "line": 122, "row": null, "column": "x"}));
    assert_eq!(cell["remedy"], json!(["fix the cell", "read the column as text with `--text x`"]));
    let solver = error_of("fit", &scratch.run("fit p.csv -t y --model svm --penalty lasso:1 --loss hinge --json"));
    assert_eq!(solver["kind"], "usage");
    assert_eq!(solver["remedy"], json!(["use --loss squared-hinge", "use --penalty ridge"]));
}

#[test]
fn arguments_that_are_refused_are_refused_in_json() {
    let scratch = prepare();
    for subcommand in WITH_JSON {
        let error = error_of(subcommand, &scratch.run(&format!("{subcommand} p.json --nonsense --json")));
        assert_eq!(error["kind"], "usage", "{subcommand}");
        assert!(error["what"].as_str().is_some_and(|w| w.contains("--nonsense") && !w.contains("Usage")), "{error}");
    }
    // These have none, and a program is told so.
    for line in ["predict p.json p.csv --json", "simulate gaussian --rows 5 -o s.csv --json"] {
        let error = error_of(line, &scratch.run(line));
        assert!(error["what"].as_str().is_some_and(|what| what.contains("--json")), "{error}");
    }
    let help = scratch.run("fit --help --json");
    assert_eq!((help.code, help.stderr.is_empty()), (0, true));
}

#[test]
fn an_older_output_survives_a_failed_run() {
    let scratch = prepare();
    scratch.write("out.csv", "precious\n");
    scratch.write("m.json", "precious\n");
    assert_eq!(scratch.run("predict edited.json p.csv -o out.csv").code, 2);
    assert_eq!(scratch.run("fit p.csv --target ya -o m.json").code, 2);
    assert_eq!(scratch.read("out.csv"), b"precious\n");
    assert_eq!(scratch.read("m.json"), b"precious\n");
}

#[test]
fn extra_and_reordered_columns_change_nothing() {
    let scratch = prepare();
    let straight = scratch.done("predict p.json p.csv --proba --scores");
    let reordered: String = PAIR
        .lines()
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("extra{0},{1},{2}\n", cells[0], cells[1], cells[0])
        })
        .collect();
    scratch.write("r.csv", reordered.replacen("extrax", "extra", 1));
    assert_eq!(scratch.done("predict p.json r.csv --proba --scores"), straight);
}

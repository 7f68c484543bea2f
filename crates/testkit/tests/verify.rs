//! `verify` overlooks nothing: every leaf of every kind of model has a role, and no single edit of a claim is accepted.

use linsep::artifact::Model;
use linsep::decide::{CalibrationKind, ConformalOptions, Decision, Rule};
use linsep::design::{Basis, Missing, QuantileOutput, Transform};
use linsep::model::{
    ClassWeights, GaussianBayes, KernelChoice, KernelPerceptronSettings, KernelSvmSettings, LossChoice, Method,
    PenaltyChoice, RiskMinimizer,
};
use linsep::read::{ReadOptions, read_bytes};
use linsep::role::{Role, Roles, each_leaf};
use linsep::table::Table;
use linsep::watch::Watch;
use linsep::workflow::{
    Approach, CalibrationOptions, FitOptions, TableFit, Verification, fit_table, refit_table, verify_table,
};
use rayon::prelude::*;
use serde_json::{Value, json};
use testkit::contract::{models, tables};
use testkit::data::Source;

/// A model with the table it was fitted on.
struct Case {
    name: String,
    table: Table,
    model: Model,
}

fn fitted(name: &str, table: Table, options: &FitOptions) -> Case {
    match fit_table(table.clone(), options, &Watch::default()) {
        Ok(TableFit::Model(model)) => Case { name: name.to_owned(), table, model: *model },
        other => panic!("{name}: {other:?}"),
    }
}

fn read(csv: &str) -> Table {
    read_bytes(csv.as_bytes(), "rows.csv", &ReadOptions::default()).expect("a table")
}

/// Numbers, levels, a constant, a copy, missing cells, weights and an offset; classes that overlap.
fn mixed(rows: usize, classes: usize) -> Table {
    let mut source = Source::new(17);
    let mut csv = String::from("x,y,kind,same,copy,s,o,class\n");
    for i in 0..rows {
        let k = i % classes;
        // In quarters, so that twice a number is the same number in the file.
        let x = (4.0 * (source.normal() + 0.8 * k as f64)).round() / 4.0;
        let y = 3.0 * source.normal() - k as f64;
        let cell = if i % 19 == 7 { String::new() } else { format!("{y:.3}") };
        let kind = ["low", "middle", "high"][source.below(3)];
        let (s, o) = (1 + i % 3, source.uniform(-0.3, 0.3));
        csv.push_str(&format!("{x},{cell},{kind},4.5,{},{s},{o:.2},c{k}\n", 2.0 * x));
    }
    read(&csv)
}

fn risk(change: impl FnOnce(&mut RiskMinimizer)) -> Method {
    let mut method = RiskMinimizer::default();
    change(&mut method);
    Method::Risk(method)
}

fn options(method: Method, change: impl FnOnce(&mut FitOptions)) -> FitOptions {
    let mut options = FitOptions::new("class", method);
    options.recipe.exclude = ["s", "o", "copy", "same"].map(str::to_owned).to_vec();
    change(&mut options);
    options
}

/// What the contract models leave out: recipes, weights, offsets, calibration, costs, votes and folds.
fn more_cases() -> Vec<Case> {
    let lasso = |m: &mut RiskMinimizer| {
        m.penalty = PenaltyChoice::ElasticNet { l1_ratio: 1.0, lambda: Some(0.02), cost: None };
        m.named_factors = vec![("y".to_owned(), 2.0)];
    };
    let hinge = |m: &mut RiskMinimizer| m.loss = LossChoice::Hinge;
    let kernel = |kernel: KernelChoice| Method::KernelSvm(KernelSvmSettings { kernel, ..KernelSvmSettings::default() });
    let calibrated = |kind: CalibrationKind| Some(CalibrationOptions { kind, folds: 2 });
    let two = || mixed(60, 2);
    let three = || mixed(75, 3);
    vec![
        fitted(
            "weights, offset, mean",
            two(),
            &options(risk(|_| {}), |o| {
                o.weights = Some("s".into());
                o.offsets = vec!["o".into()];
                o.recipe.missing = Missing::Mean;
            }),
        ),
        fitted("indicators of missing cells", two(), &options(risk(|_| {}), |o| o.recipe.missing = Missing::Indicator)),
        fitted(
            "ranks, folds, threshold",
            two(),
            &options(risk(|_| {}), |o| {
                o.recipe.transform = Transform::Quantile { output: QuantileOutput::Normal, knots: 20 };
                o.folds = Some(3);
                o.decision = Decision::from(Rule::Threshold(0.3));
            }),
        ),
        fitted(
            "class weights, true priors, rejection",
            three(),
            &options(risk(|_| {}), |o| {
                o.class_weights = Some(ClassWeights::Balanced);
                o.true_priors = Some(vec![0.2, 0.3, 0.5]);
                o.decision = Decision { reject: Some(0.3), ..Decision::default() };
            }),
        ),
        fitted(
            "lasso with a factor and products",
            two(),
            &options(risk(lasso), |o| {
                o.recipe.basis = Basis::Polynomial(2);
            }),
        ),
        fitted(
            "maximum likelihood, constant and copy",
            two(),
            &options(risk(|m| m.penalty = PenaltyChoice::None), |o| {
                o.recipe.exclude = vec!["s".into(), "o".into()];
            }),
        ),
        fitted(
            "ridge, constant and copy",
            two(),
            &options(risk(|_| {}), |o| {
                o.recipe.exclude = vec!["s".into(), "o".into()];
            }),
        ),
        fitted("hinge, platt", two(), &options(risk(hinge), |o| o.calibration = calibrated(CalibrationKind::Platt))),
        fitted(
            "hinge, isotonic",
            two(),
            &options(risk(hinge), |o| {
                o.calibration = calibrated(CalibrationKind::Isotonic);
            }),
        ),
        fitted(
            "conformal sets of all rows, temperature",
            mixed(120, 2),
            &options(risk(hinge), |o| {
                o.calibration = calibrated(CalibrationKind::Temperature);
                o.conformal = Some(ConformalOptions::new(0.8));
            }),
        ),
        fitted(
            "conformal sets of Gaussian classes",
            three(),
            &options(Method::Gaussian(GaussianBayes::lda()), |o| {
                o.conformal = Some(ConformalOptions { share: 0.3, ..ConformalOptions::new(0.95) });
            }),
        ),
        fitted(
            "conformal sets of each class by pairs",
            three(),
            &options(risk(hinge), |o| {
                o.multiclass.approach = Some(Approach::OneVsOne);
                o.conformal = Some(ConformalOptions { by_class: true, share: 0.3, ..ConformalOptions::new(0.9) });
            }),
        ),
        fitted("Crammer and Singer", three(), &options(risk(hinge), |o| o.multiclass.approach = Some(Approach::Joint))),
        fitted("hinge by pairs", three(), &options(risk(hinge), |o| o.multiclass.approach = Some(Approach::OneVsOne))),
        fitted("rbf by pairs", three(), &options(kernel(KernelChoice::default()), |_| {})),
        fitted(
            "polynomial kernel",
            two(),
            &options(kernel(KernelChoice::Polynomial { gamma: None, coef0: 1.0, degree: 2 }), |_| {}),
        ),
        fitted(
            "sigmoid kernel",
            two(),
            &options(kernel(KernelChoice::Sigmoid { gamma: Some(0.4), coef0: -1.0 }), |_| {}),
        ),
        fitted("linear kernel", two(), &options(kernel(KernelChoice::Linear), |_| {})),
        fitted(
            "kernel perceptron by pairs",
            three(),
            &options(
                Method::KernelPerceptron(KernelPerceptronSettings {
                    max_epochs: 3,
                    ..KernelPerceptronSettings::default()
                }),
                |_| {},
            ),
        ),
    ]
}

fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for model in models() {
        for table in tables(&model, 90) {
            all.push(fitted(model.name, table, &model.options()));
        }
    }
    all.extend(more_cases());
    all
}

#[test]
fn every_leaf_has_a_role() {
    let mut faults = Vec::new();
    for case in cases() {
        let value = serde_json::to_value(&case.model).expect("a value");
        each_leaf(&value, Some(Model::ROLES), &mut |path, role, _| {
            if role.is_none() {
                faults.push(format!("{}: {path}", case.name));
            }
        });
    }
    assert!(faults.is_empty(), "leaves without a role:\n{}", faults.join("\n"));
}

#[test]
fn fresh_models_are_verified_and_fitted_again() {
    for case in cases() {
        let verdict = refit_table(&case.model, &case.table, &Watch::default()).expect("a verdict");
        assert!(verdict.passed(), "{}: {:#?}", case.name, verdict.checks);
        assert!(verdict.unchecked.is_empty(), "{}: {:?}", case.name, verdict.unchecked);
    }
}

/// A place in a value: fields and entries from the root.
type Path = Vec<Step>;

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    Entry(usize),
}

fn at<'v>(value: &'v mut Value, path: &[Step]) -> &'v mut Value {
    path.iter().fold(value, |value, step| match step {
        Step::Field(name) => &mut value[name.as_str()],
        Step::Entry(i) => &mut value[*i],
    })
}

fn shown(path: &[Step]) -> String {
    let step = |s: &Step| match s {
        Step::Field(name) => format!(".{name}"),
        Step::Entry(i) => format!("[{i}]"),
    };
    path.iter().map(step).collect()
}

/// Entries of a long array that stand for all.
fn some_of(length: usize) -> Vec<usize> {
    if length <= 6 { (0..length).collect() } else { vec![0, 1, length / 3, length / 2, length - 2, length - 1] }
}

/// Every edit of a value: its leaves changed, its arrays shortened, lengthened and put in another order.
fn edits(value: &Value, path: &mut Path, roles: Option<Roles>, out: &mut Vec<(Path, Role, Value)>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                path.push(Step::Field(name.clone()));
                edits(value, path, roles.and_then(|r| r.of(name)), out);
                path.pop();
            }
        }
        Value::Array(entries) => {
            let role = roles.map_or(Role::Claim, Roles::here);
            if !entries.is_empty() {
                out.push((path.clone(), role, json!(entries[..entries.len() - 1])));
                let mut longer = entries.clone();
                longer.extend(entries.last().cloned());
                out.push((path.clone(), role, json!(longer)));
            }
            if let Some(i) = (1..entries.len()).find(|i| entries[*i] != entries[0]) {
                let mut swapped = entries.clone();
                swapped.swap(0, i);
                out.push((path.clone(), role, json!(swapped)));
            }
            for i in some_of(entries.len()) {
                path.push(Step::Entry(i));
                edits(&entries[i], path, roles, out);
                path.pop();
            }
        }
        leaf => {
            let role = roles.map_or(Role::Claim, Roles::here);
            out.extend(changed(leaf).into_iter().map(|new| (path.clone(), role, new)));
        }
    }
}

fn changed(leaf: &Value) -> Vec<Value> {
    match leaf {
        Value::Bool(b) => vec![json!(!b)],
        Value::String(text) => {
            let mut all = vec![json!(format!("{text}x")), json!("")];
            all.extend(
                ["converged", "iteration_limit"]
                    .iter()
                    .filter(|w| text.contains('_') || *text == "converged" || **w == text)
                    .map(|w| json!(w)),
            );
            all.retain(|new| new != leaf);
            all
        }
        Value::Number(n) if n.is_f64() => {
            let v = n.as_f64().expect("a double");
            let all = if v == 0.0 { vec![1e-3, 1.0, -1.0] } else { vec![2.0 * v, -v, 0.0, v * 1.001, -3.0 * v] };
            all.into_iter().filter(|new| *new != v).map(|new| json!(new)).collect()
        }
        Value::Number(n) => {
            let v = n.as_i64().expect("an integer");
            [v + 1, v - 1, 2 * v, 0].into_iter().filter(|new| *new != v && *new >= 0).map(|new| json!(new)).collect()
        }
        Value::Null => vec![json!(0.5), json!("x")],
        _ => Vec::new(),
    }
}

/// The verdict on a file with this body and a mended checksum; `None` where the file is refused.
fn judged(
    body: &Value,
    table: &Table,
    verify: fn(&Model, &Table, &Watch) -> linsep::Result<Verification>,
) -> Option<Verification> {
    let model: Model = serde_json::from_value(body.clone()).ok()?;
    let text = model.to_json().ok()?;
    let model = Model::from_json(text.as_bytes(), "edited.json").ok()?;
    verify(&model, table, &Watch::default()).ok()
}

/// Numbers of a certificate that move by no more than the rounding of the objective makes them: another machine has others, so
/// nobody can hold a file to them.
fn is_rounding(body: &Value, path: &[Step], old: &Value, new: &Value) -> bool {
    let Some(end) = path.iter().position(|s| *s == Step::Field("certificate".into())) else { return false };
    let certificate = at(&mut body.clone(), &path[..=end]).clone();
    let bounds = ["relative_gap", "relative_residual", "gradient", "violation"];
    let Some(bound) = bounds.iter().find_map(|name| certificate.get(name)?.as_f64()) else { return false };
    // Bounds of coefficients in another order are bounds that moved.
    if let (Value::Array(old), Value::Array(new)) = (old, new) {
        let pairs = || old.iter().zip(new).filter(|(a, b)| a != b);
        return old.len() == new.len() && pairs().all(|(a, b)| is_rounding(body, path, a, b));
    }
    let (Some(old), Some(new)) = (old.as_f64(), new.as_f64()) else { return false };
    if *path.last().expect("a leaf") == Step::Field("objective".into()) {
        return false;
    }
    let within = 1e-6 + if bound > 1e-14 { 64.0 * f64::EPSILON / bound } else { 0.0 };
    let factor = if bound <= 4e-13 { 4.0 } else { 1.0 + within };
    let alike = new > 0.0 && new <= factor * old && old <= factor * new;
    alike || (new >= 0.0 && bound.max(old.max(new)) <= 4.0 * f64::EPSILON)
}

/// What a point cannot tell, and the verdict says so: why a fit stopped short, and notes that are not there.
fn is_said_unchecked(verdict: &Verification, path: &[Step], old: &Value, new: &Value) -> bool {
    let said = |what: &str| verdict.unchecked.iter().any(|u| u.contains(what));
    match path.last() {
        Some(Step::Field(name)) if name == "outcome" => {
            ![old, new].contains(&&json!("converged")) && said("why it stopped short")
        }
        Some(Step::Field(name)) if name == "notes" => {
            let last = old.as_array().and_then(|notes| notes.last());
            last.is_some_and(|note| note["note"] == "shared") && said("no note is left out")
        }
        _ => false,
    }
}

/// Every single edit of every kind, with a mended checksum: only a setting that changes no claim is accepted, and history
/// only as long as nobody fits again.
#[test]
fn no_single_edit_of_a_claim_is_accepted() {
    let check = |case: &Case| -> (usize, usize, Vec<String>) {
        let body = serde_json::to_value(&case.model).expect("a value");
        let mut all = Vec::new();
        edits(&body, &mut Path::new(), Some(Model::ROLES), &mut all);
        let (mut accepted, mut faults) = (0, Vec::new());
        for (path, role, new) in &all {
            let mut edited = body.clone();
            let old = std::mem::replace(at(&mut edited, path), new.clone());
            // What a setting leaves out of the file is its default.
            let Some(verdict) = judged(&edited, &case.table, verify_table) else { continue };
            if !verdict.passed() {
                continue;
            }
            accepted += 1;
            let allowed = match role {
                Role::Setting => true,
                Role::History => !verdict.unchecked.is_empty(),
                Role::Claim | Role::Derived => {
                    is_rounding(&body, path, &old, new) || is_said_unchecked(&verdict, path, &old, new)
                }
            };
            if !allowed {
                faults.push(format!("{}{}: {role:?} {} for {}", case.name, shown(path), new, old));
            }
        }
        (all.len(), accepted, faults)
    };
    let found: Vec<(usize, usize, Vec<String>)> = cases().par_iter().map(check).collect();
    let edits: usize = found.iter().map(|(n, ..)| n).sum();
    let accepted: usize = found.iter().map(|(_, n, _)| n).sum();
    let faults: Vec<&String> = found.iter().flat_map(|(.., f)| f).collect();
    assert!(accepted > 500, "only {accepted} edits of settings and history were accepted: are they edits at all?");
    assert!(edits > 5_000, "only {edits} edits were tried");
    let words: Vec<&str> = faults.iter().map(|f| f.as_str()).collect();
    assert!(faults.is_empty(), "{} of {edits} edits accepted:\n{}", faults.len(), words.join("\n"));
}

#[test]
fn a_second_fit_finds_edits_of_history() {
    for case in more_cases().iter().filter(|c| c.name.contains("folds") || c.name.contains("pairs")) {
        let body = serde_json::to_value(&case.model).expect("a value");
        let mut all = Vec::new();
        edits(&body, &mut Path::new(), Some(Model::ROLES), &mut all);
        let history: Vec<_> = all.iter().filter(|(_, role, _)| *role == Role::History).collect();
        assert!(!history.is_empty(), "{}", case.name);
        for (path, _, new) in history {
            let mut edited = body.clone();
            *at(&mut edited, path) = new.clone();
            let verdict = judged(&edited, &case.table, refit_table);
            assert!(!verdict.is_some_and(|v| v.passed()), "{}{}: {new}", case.name, shown(path));
        }
    }
}

/// Weights negated, a tolerance that anything meets, and a bound that nothing has.
#[test]
fn a_stated_gap_is_compared() {
    for case in cases() {
        let mut body = serde_json::to_value(&case.model).expect("a value");
        if body["method"].get("tolerance").is_none() || body["discriminant"].get("weights").is_none() {
            continue;
        }
        body["method"]["tolerance"] = json!(1e12);
        for weight in body["discriminant"]["weights"].as_array_mut().expect("weights") {
            *weight = json!(-weight.as_f64().expect("a number"));
        }
        for name in ["gap", "relative_gap"] {
            if body["certificate"].get(name).is_some() {
                body["certificate"][name] = json!(1e-15);
            }
        }
        let verdict = judged(&body, &case.table, verify_table);
        assert!(!verdict.is_some_and(|v| v.passed()), "{}", case.name);
    }
}

/// Words that the method never has, or that the rows do not bear out, are not to be put into its mouth.
#[test]
fn no_note_can_be_added() {
    let notes = [
        json!({"note": "constant", "columns": [0]}),
        json!({"note": "collinear", "column": 0, "combination": [[1, 1.0]]}),
        json!({"note": "shared", "column": 0, "combination": [[1, 1.0]]}),
        json!({"note": "nearly_collinear", "column": 1, "combination": [[0, 2.0]], "left_out": true}),
        json!({"note": "left_out", "column": 1, "combination": [[0, 2.0]], "printed": true}),
        json!({"note": "last_digit", "score": 0.5}),
        json!({"note": "rank", "rank": 1, "columns": 3}),
        json!({"note": "shrinkage", "intensity": 0.5}),
        json!({"note": "given", "what": ["priors"]}),
        json!({"note": "intercepts", "low": -1.0, "high": 1.0}),
        json!({"note": "posterior_means", "plugged_in": "given"}),
        json!({"note": "unconverged_folds", "folds": [1]}),
        json!({"note": "indefinite", "evidence": null}),
        json!({"note": "separability", "verdict": {"answer": "overlap", "rows": 3}}),
    ];
    let faults: Vec<String> = cases()
        .par_iter()
        .flat_map_iter(|case| {
            let body = serde_json::to_value(&case.model).expect("a value");
            let stated = body["notes"].as_array().expect("notes").clone();
            let with = |note: &Value| {
                let mut edited = body.clone();
                edited["notes"] = json!([stated.clone(), vec![note.clone()]].concat());
                judged(&edited, &case.table, verify_table)
            };
            let new = notes.iter().filter(|note| !stated.contains(note));
            let accepted = new.filter(|note| with(note).is_some_and(|v| v.passed()));
            accepted.map(|note| format!("{}: {note}", case.name)).collect::<Vec<_>>()
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A weight where the training rows cannot see it would decide about others.
#[test]
fn constant_and_left_out_columns_hide_no_weight() {
    let all = more_cases();
    let case = all.iter().find(|c| c.name.starts_with("maximum likelihood")).expect("a case");
    let names = case.model.recipe.features();
    for name in ["same", "copy"] {
        let j = names.iter().position(|n| n == name).expect("a column");
        let x = names.iter().position(|n| n == "x").expect("a column");
        let mut body = serde_json::to_value(&case.model).expect("a value");
        assert_eq!(body["discriminant"]["weights"][j], json!(0.0), "{name}");
        body["discriminant"]["weights"][j] = json!(50.0);
        if name == "copy" {
            // Taken off the column that it copies, so that no training score changes; and the note goes, too.
            let w = body["discriminant"]["weights"][x].as_f64().expect("a weight");
            body["discriminant"]["weights"][x] = json!(w - 100.0);
        }
        let verdict = judged(&body, &case.table, verify_table).expect("a verdict");
        assert!(!verdict.passed(), "{name}: {:#?}", verdict.checks);
    }
}

#[test]
fn without_a_fingerprint_another_table_is_another() {
    let case = fitted("logistic", mixed(60, 2), &options(risk(|_| {}), |_| {}));
    let mut model = case.model.clone();
    model.provenance.fingerprint = String::new();
    assert!(!verify_table(&model, &case.table, &Watch::default()).expect("a verdict").passed());
    // Also where it is made to look like a model of arrays.
    model.training.accuracy = None;
    let other = mixed(80, 2);
    assert!(!verify_table(&model, &other, &Watch::default()).expect("a verdict").passed());
    let own = verify_table(&model, &case.table, &Watch::default()).expect("a verdict");
    assert!(own.checks[0].found.contains("no fingerprint"), "{:?}", own.checks);
}

#[test]
fn the_last_line_says_what_is_proved_and_what_is_not() {
    let early = risk(|m| {
        m.max_iterations = Some(1);
        m.algorithm = linsep::model::Algorithm::FixedStep;
        m.penalty = PenaltyChoice::Ridge(1e-6);
    });
    let case = fitted("early", mixed(60, 2), &options(early, |o| o.folds = Some(2)));
    let verdict = verify_table(&case.model, &case.table, &Watch::default()).expect("a verdict");
    assert!(verdict.passed(), "{:#?}", verdict.checks);
    assert!(verdict.proved.contains("proves little"), "{}", verdict.proved);
    assert!(verdict.unchecked.iter().any(|u| u.contains("cross-validated")), "{:?}", verdict.unchecked);
    assert!(verdict.settings.iter().any(|(path, _)| path == "method.tolerance"), "{:?}", verdict.settings);
}

#[test]
fn files_of_an_earlier_edition_are_read_and_named() {
    let case = fitted("logistic", mixed(60, 2), &options(risk(|_| {}), |_| {}));
    let mut body = serde_json::to_value(&case.model).expect("a value");
    body["provenance"].as_object_mut().expect("fields").remove("certificates");
    let gap = body["certificate"]["gap"].as_f64().expect("a gap");
    body["certificate"]["gap"] = json!(1e-6 + 3.0 * gap);
    let verdict = judged(&body, &case.table, verify_table).expect("a verdict");
    assert!(!verdict.passed());
    assert!(verdict.checks.iter().any(|c| c.found.contains("earlier version")), "{:#?}", verdict.checks);
}

//! Inference about Gaussian classes and least squares, in words and for machines.

use super::text::{clip, count, grid, level_text, p_text, short, thousands, wrap};
use crate::infer::{
    BoxTest, ClassInference, ColumnTest, CovarianceKind, Ellipsoid, GaussianInference, IntervalEstimate, MeanTest,
    SquaresInference, SquaresLine,
};
use crate::model::CovarianceShape;
use crate::words::{Setting, Voice, words};
use crate::workflow::{ClassicalAnswer, ClassicalInference};
use serde_json::{Value, json};

/// Width of the page.
const PAGE: usize = 80;
/// Width of names in a page.
const NAME: usize = 24;

/// The whole answer in words.
pub fn classical_text(found: &ClassicalInference, voice: &dyn Voice) -> String {
    let left = found.rows - found.used;
    let left = match left {
        0 => String::new(),
        _ => format!(" of {} ({} left out)", thousands(found.rows as f64), thousands(left as f64)),
    };
    let rows = format!("{}{left}", count(found.used, "row"));
    let (mut out, notes) = match &found.answer {
        ClassicalAnswer::Gaussian(inference) => gaussian_text(found, &rows, inference, voice),
        ClassicalAnswer::LeastSquares(inference) => squares_text(found, &rows, inference, voice),
    };
    out.push('\n');
    for note in notes {
        for (i, line) in wrap(&note, PAGE - 2).iter().enumerate() {
            out.push_str(if i == 0 { "" } else { "  " });
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// Degrees of freedom, which are whole numbers but for approximations.
fn df_text(df: f64) -> String {
    if df.fract() == 0.0 { thousands(df) } else { short(df) }
}

fn cells<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

fn interval_cells(value: &IntervalEstimate) -> [String; 3] {
    [value.estimate, value.low, value.high].map(short)
}

fn gaussian_text(
    found: &ClassicalInference,
    rows: &str,
    inference: &GaussianInference,
    voice: &dyn Voice,
) -> (String, Vec<String>) {
    let what = match inference.shape {
        CovarianceShape::Shared => "Gaussian classes with one covariance",
        CovarianceShape::Own => "Gaussian classes with own covariances",
        CovarianceShape::Spherical => "Gaussian classes with covariance σ²I",
    };
    let level = level_text(inference.level);
    let mut out = format!("{what}\n  {}: {rows}; {level} % intervals, each for itself\n", found.target);
    let mut shares = vec![cells(["share of the class", "rows", "estimate", "low", "high"])];
    for class in &inference.classes {
        let own = [clip(&class.name, NAME), thousands(class.n)];
        shares.push(own.into_iter().chain(interval_cells(&class.share)).collect());
    }
    out.push_str(&format!("\n{}", grid(&shares, 0)));
    for class in &inference.classes {
        out.push_str(&format!("\n{}", means_grid(class, &inference.features)));
    }
    if let Some(variances) = &inference.variances {
        let names = match inference.shape {
            CovarianceShape::Spherical => vec!["all columns".to_owned()],
            _ => inference.features.clone(),
        };
        out.push_str(&format!("\n{}", variances_grid("variance within classes", &names, variances)));
    }
    for class in &inference.classes {
        if let Some(variances) = &class.variances {
            let title = format!("variance in {}", clip(&class.name, NAME));
            out.push_str(&format!("\n{}", variances_grid(&title, &inference.features, variances)));
        }
    }
    if !inference.equal_means.is_empty() {
        out.push_str(&format!("\n{}", tests_grid(&inference.equal_means)));
    }
    if let Some(columns) = &inference.columns {
        out.push_str(&format!("\n{}", columns_grid(&inference.features, columns)));
    }
    if let Ok(test) = &inference.equal_covariances {
        out.push_str(&format!("\n{}", box_grid(test)));
    }
    (out, gaussian_notes(inference, voice))
}

fn means_grid(class: &ClassInference, features: &[String]) -> String {
    let title = format!("mean in {}", clip(&class.name, NAME));
    let mut rows = vec![cells([&title, "estimate", "std.error", "low", "high"])];
    for (name, line) in features.iter().zip(&class.means) {
        let [estimate, low, high] = interval_cells(&line.mean);
        rows.push(vec![clip(name, NAME), estimate, short(line.se), low, high]);
    }
    grid(&rows, 0)
}

fn variances_grid(title: &str, names: &[String], variances: &[IntervalEstimate]) -> String {
    let mut rows = vec![cells([title, "estimate", "low", "high"])];
    for (name, variance) in names.iter().zip(variances) {
        rows.push(std::iter::once(clip(name, NAME)).chain(interval_cells(variance)).collect());
    }
    grid(&rows, 0)
}

fn test_cells(test: &MeanTest) -> Vec<String> {
    vec![
        short(test.value),
        short(test.f),
        df_text(test.df.0),
        df_text(test.df.1),
        p_text(test.ln_p),
        if test.exact { "exact" } else { "approximate" }.to_owned(),
    ]
}

fn tests_grid(tests: &[MeanTest]) -> String {
    let mut rows = vec![cells(["the same means in all classes", "value", "F", "df1", "df2", "p", ""])];
    for test in tests {
        rows.push(std::iter::once(test.statistic.name().to_owned()).chain(test_cells(test)).collect());
    }
    grid(&rows, 0)
}

fn columns_grid(features: &[String], columns: &[ColumnTest]) -> String {
    let mut rows = vec![cells(["the same mean of one column", "F", "df1", "df2", "p"])];
    for (name, test) in features.iter().zip(columns) {
        // A constant column has no variance to measure its means by.
        let f = if test.f.is_nan() { "-".to_owned() } else { short(test.f) };
        rows.push(vec![clip(name, NAME), f, df_text(test.df.0), df_text(test.df.1), p_text(test.ln_p)]);
    }
    grid(&rows, 0)
}

fn box_grid(test: &BoxTest) -> String {
    let rows = vec![
        cells(["the same covariance", "value", "df1", "df2", "p"]),
        vec!["Box M, chi-squared".into(), short(test.chi_squared), df_text(test.df), String::new(), p_text(test.ln_p)],
        vec!["Box M, F".into(), short(test.f), df_text(test.f_df.0), df_text(test.f_df.1), p_text(test.f_ln_p)],
    ];
    grid(&rows, 0)
}

/// A p value of Box's test below which own covariances are suggested: the usual one for it, as it rejects easily.
const UNEQUAL: f64 = 0.001;

fn gaussian_notes(inference: &GaussianInference, voice: &dyn Voice) -> Vec<String> {
    let mut notes = Vec::new();
    let exact = match inference.shape {
        CovarianceShape::Shared => "Exact if every class is Gaussian and all have the same covariance.",
        CovarianceShape::Own => "Means and variances are exact if every class is Gaussian.",
        CovarianceShape::Spherical => {
            "Exact if every class is Gaussian and all columns have one variance and no correlation."
        }
    };
    notes.push(exact.to_owned());
    notes.push(
        "Shares by the exact binomial (Clopper and Pearson): exact if rows were drawn, whatever they are.".into(),
    );
    if inference.classes.iter().any(|c| c.mean_set.is_some()) && inference.features.len() > 1 {
        let json = words!["The set of all means of a class at once (Hotelling) is an ellipsoid: see ", Setting::Json];
        notes.extend(json.said(voice).map(|said| format!("{said}.")));
    }
    match &inference.equal_covariances {
        Err(reason) => notes.push(format!("Whether the covariances are the same is not tested: {reason}.")),
        Ok(test) if inference.shape == CovarianceShape::Shared && test.f_ln_p < UNEQUAL.ln() => {
            let other = words![
                "Box's M says that the classes do not share a covariance, or are not Gaussian: the tests above need both. ",
                Setting::Model.is("qda"),
                " compares classes with their own"
            ];
            notes.extend(other.said(voice).map(|said| format!("{said}.")));
        }
        Ok(_) => {}
    }
    if inference.shape == CovarianceShape::Own && inference.classes.len() > 2 {
        notes.push("Means of more than two classes with their own covariances are not compared.".into());
    }
    notes
}

fn squares_text(
    found: &ClassicalInference,
    rows: &str,
    inference: &SquaresInference,
    voice: &dyn Voice,
) -> (String, Vec<String>) {
    let by_model = inference.covariance == CovarianceKind::Model && inference.may_be_gaussian;
    let two = inference.classes.len() == 2;
    let targets = match &inference.classes[..] {
        [first, second] => format!("{first} −1, {second} 1"),
        _ => "1 for the class, 0 for the others".to_owned(),
    };
    let errors = match (by_model, two) {
        (true, true) => "standard errors, t and p by equal variances".to_owned(),
        _ => format!("standard errors robust ({})", inference.interval_covariance.name()),
    };
    let level = level_text(inference.level);
    let robust = inference.interval_covariance.name();
    let mut out = format!(
        "Least squares on class targets\n  {}: {targets}; {rows}\n  {errors}; {level} % intervals by {robust}\n",
        found.target
    );
    for (class, name) in inference.classes.iter().enumerate() {
        let lines: Vec<&SquaresLine> = inference.coefficients.iter().filter(|l| l.class == class).collect();
        if lines.is_empty() {
            continue;
        }
        let title = if two { String::new() } else { clip(name, NAME) };
        let mut table = vec![cells([&title, "estimate", "std.error", "t", "p", "low", "high"])];
        for line in lines {
            let name = line.feature.map_or("(intercept)".to_owned(), |j| clip(&inference.features[j], NAME));
            let (t, p) = match line.ln_p {
                Some(ln_p) => (format!("{:.2}", line.t), p_text(ln_p)),
                None => ("-".into(), "-".into()),
            };
            table.push(vec![name, short(line.estimate), short(line.se), t, p, short(line.low), short(line.high)]);
        }
        out.push_str(&format!("\n{}", grid(&table, 0)));
    }
    let value = if two { "" } else { "Wilks Λ" };
    let mut table = vec![cells(["the term tells nothing beside the others", value, "F", "df1", "df2", "p", ""])];
    let all = inference.overall.iter().map(|test| ("(all columns)".to_owned(), test));
    for (name, test) in inference.terms.iter().map(|t| (clip(&t.name, NAME), &t.test)).chain(all) {
        let mut own = test_cells(test);
        if two {
            own[0].clear();
        }
        table.push(std::iter::once(name).chain(own).collect());
    }
    out.push_str(&format!("\n{}", grid(&table, 0)));
    if let Some(r) = inference.r_squared {
        out.push_str(&format!("\nR² {}   residual degrees of freedom {}\n", short(r), thousands(inference.freedom)));
    }
    let tested = "F (and t of two classes) test that a column tells nothing about the classes which the others do not";
    let mut notes = vec![
        match inference.may_be_gaussian {
            true => format!("{tested}: exact if the classes are Gaussian with one covariance."),
            false => format!(
                "{tested}. Text columns and products are not Gaussian: F is a guide, and t and p are by {robust}, for many \
                 rows."
            ),
        },
        format!(
            "The residuals of class targets do not have one variance, so that intervals are by {robust}, for many rows; they \
             are about the best linear score."
        ),
    ];
    for (column, level) in &found.references {
        notes.push(format!("{column} is compared with its level {level}."));
    }
    if by_model && two {
        let other = words!["t and p without Gaussian classes: ", Setting::Covariance.is("hc3")];
        notes.extend(other.said(voice).map(|said| format!("{said}.")));
    }
    (out, notes)
}

fn interval_json(value: &IntervalEstimate) -> Value {
    json!({"estimate": value.estimate, "low": value.low, "high": value.high})
}

fn p_json(ln_p: f64) -> (Value, Value) {
    (json!(ln_p.exp()), json!(ln_p / std::f64::consts::LN_10))
}

fn test_json(test: &MeanTest) -> Value {
    let (p, log10_p) = p_json(test.ln_p);
    json!({
        "test": test.statistic.key(), "value": test.value, "f": test.f, "df": [test.df.0, test.df.1],
        "p": p, "log10_p": log10_p, "exact": test.exact,
    })
}

fn set_json(set: &Ellipsoid) -> Value {
    json!({
        "centre": set.centre, "radius_squared": set.radius_squared,
        "half_lengths": set.half_lengths, "directions": set.directions,
    })
}

/// The machine interface.
pub fn classical_json(found: &ClassicalInference) -> Value {
    let mut value = match &found.answer {
        ClassicalAnswer::Gaussian(inference) => gaussian_json(inference),
        ClassicalAnswer::LeastSquares(inference) => squares_json(inference),
    };
    value["target"] = json!(found.target);
    value["weights"] = json!(found.weights);
    value["rows"] = json!(found.rows);
    value["used"] = json!(found.used);
    value
}

fn gaussian_json(inference: &GaussianInference) -> Value {
    let variances = |list: &Option<Vec<IntervalEstimate>>| {
        list.as_ref().map(|v| v.iter().map(interval_json).collect::<Vec<Value>>())
    };
    let class = |c: &ClassInference| {
        let mean = |(name, line): (&String, &crate::infer::MeanLine)| {
            let mut value = interval_json(&line.mean);
            value["name"] = json!(name);
            value["se"] = json!(line.se);
            value
        };
        json!({
            "class": c.name, "n": c.n, "share": interval_json(&c.share),
            "means": inference.features.iter().zip(&c.means).map(mean).collect::<Vec<Value>>(),
            "mean_set": c.mean_set.as_ref().map(set_json),
            "variances": variances(&c.variances),
        })
    };
    let column = |(name, test): (&String, &ColumnTest)| {
        let (p, log10_p) = p_json(test.ln_p);
        json!({"name": name, "f": test.f, "df": [test.df.0, test.df.1], "p": p, "log10_p": log10_p})
    };
    let columns = inference.columns.as_ref();
    json!({
        "model": match inference.shape {
            CovarianceShape::Shared => "lda",
            CovarianceShape::Own => "qda",
            CovarianceShape::Spherical => "spherical",
        },
        "level": inference.level,
        "n": inference.n,
        "classes": inference.classes.iter().map(class).collect::<Vec<Value>>(),
        "variances": variances(&inference.variances),
        "equal_means": inference.equal_means.iter().map(test_json).collect::<Vec<Value>>(),
        "columns": columns.map(|c| inference.features.iter().zip(c).map(column).collect::<Vec<Value>>()),
        "equal_covariances": match &inference.equal_covariances {
            Ok(test) => {
                let ((p, log10_p), (f_p, f_log10_p)) = (p_json(test.ln_p), p_json(test.f_ln_p));
                json!({
                    "m": test.m, "chi_squared": test.chi_squared, "df": test.df, "p": p, "log10_p": log10_p,
                    "f": test.f, "f_df": [test.f_df.0, test.f_df.1], "f_p": f_p, "f_log10_p": f_log10_p,
                })
            }
            Err(reason) => json!({"not_tested": reason}),
        },
    })
}

fn squares_json(inference: &SquaresInference) -> Value {
    let two = inference.classes.len() == 2;
    let line = |l: &SquaresLine| {
        json!({
            "class": if two { Value::Null } else { json!(inference.classes[l.class]) },
            "name": l.feature.map_or("(intercept)", |j| inference.features[j].as_str()),
            "estimate": l.estimate, "se": l.se, "t": l.t, "p": l.ln_p.map(f64::exp),
            "log10_p": l.ln_p.map(|p| p / std::f64::consts::LN_10),
            "robust_se": l.robust_se, "low": l.low, "high": l.high,
        })
    };
    let term = |t: &crate::infer::SquaresTest| {
        let mut value = test_json(&t.test);
        value["name"] = json!(t.name);
        value
    };
    json!({
        "model": "least-squares",
        "level": inference.level,
        "covariance": inference.covariance.name(),
        "interval_covariance": inference.interval_covariance.name(),
        "n": inference.n,
        "df": inference.freedom,
        "classes": inference.classes,
        "coefficients": inference.coefficients.iter().map(line).collect::<Vec<Value>>(),
        "terms": inference.terms.iter().map(term).collect::<Vec<Value>>(),
        "overall": inference.overall.as_ref().map(test_json),
        "r_squared": inference.r_squared,
    })
}

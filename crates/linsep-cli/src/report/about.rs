//! What the model is, how it is proved, what it was fitted on and where it came from.

use super::Story;
use super::page::{Block, Section};
use crate::voice;
use linsep::model::Outcome;
use linsep::report::{fit_summary, inference_text, verification_text};
use linsep::table::{Kind, Table};
use linsep::workflow::{InferOptions, infer_table, inference_of_model, verify_table};
use linsep::{ErrorKind, Result};

/// Classes side by side in a table of coefficients: as many as a printed page has room for. More go into further tables.
const ACROSS: usize = 6;
/// Most coefficients in a table; the largest are shown.
const MOST_WEIGHTS: usize = 40;
/// Most columns in the summary of a table.
const MOST_COLUMNS: usize = 100;
/// Characters of a value in a line of the summary, by its own rule.
const WIDTH: usize = 84;
/// Levels of a text column that are listed.
const LEVELS: usize = 5;
/// Levels of a text column beyond which a reader should ask whether it is a name.
const MANY_LEVELS: usize = 30;

/// The headline of the summary, and its facts.
pub fn fitted(story: &Story<'_>) -> Result<(String, Section)> {
    let summary = fit_summary(story.model, &voice::Command);
    let mut lines = summary.lines();
    let headline = lines.next().unwrap_or_default().to_owned();
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut length = 0;
    for line in lines.take_while(|line| !line.trim().is_empty()) {
        // A name of at most eleven letters, or blanks where a value goes on.
        let name: String = line.chars().take(15).collect();
        let value: String = line.chars().skip(15).collect();
        match (name.trim(), facts.last_mut()) {
            ("", Some((_, last))) => {
                // A line that had no room for the next word goes on, any other ends a statement.
                let word = value.split_whitespace().next().unwrap_or_default().chars().count();
                last.extend([if length + 1 + word > WIDTH { " " } else { "; " }, value.trim()]);
            }
            (name, _) => facts.push((name.to_owned(), value.trim().to_owned())),
        }
        length = value.trim().chars().count();
    }
    let mut blocks = vec![Block::Facts(facts)];
    if story.model.outcome != Outcome::Converged {
        blocks.push(Block::Paragraph("The fit stopped before its tolerance was reached.".to_owned()));
    }
    Ok((headline, Section { title: "What was fitted".to_owned(), blocks }))
}

/// The proof, checked while the report was written.
pub fn certificate(story: &Story<'_>) -> Result<Section> {
    let [model, table, _] = &story.words;
    let mut blocks = Vec::new();
    match verify_table(story.model, story.training, story.watch) {
        Ok(found) => {
            blocks.push(Block::Paragraph(match found.passed() {
                true => "Every claim of the model file was recomputed from the table when this report was written, and holds."
                    .to_owned(),
                false => "The model does NOT follow from this table: a claim below fails.".to_owned(),
            }));
            blocks.push(Block::Aligned(verification_text(&found, "verify --refit fits again")));
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
        Err(error) => blocks.push(Block::Paragraph(format!("Not checked: {}.", error.said(&voice::Command).what))),
    }
    blocks.push(Block::Paragraph("To check it again, and to fit it again bit for bit:".to_owned()));
    blocks.push(Block::Commands(vec![
        format!("linsep verify {model} {table}"),
        format!("linsep verify {model} {table} --refit"),
    ]));
    Ok(Section { title: "Certificate".to_owned(), blocks })
}

/// A number for a reader: whole numbers as they are, others with four digits.
pub fn number(value: f64) -> String {
    let size = value.abs();
    match value {
        v if !v.is_finite() => "–".to_owned(),
        v if v.fract() == 0.0 && size < 1e9 => format!("{v}"),
        v if !(1e-4..1e6).contains(&size) => format!("{v:.3e}"),
        v => {
            let decimals = (3 - size.log10().floor() as i32).max(1) as usize;
            let text = format!("{v:.decimals$}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

/// The columns that the model uses, and the questions that they raise.
pub fn data(story: &Story<'_>) -> Section {
    let used = story.model.expected();
    let table = story.training;
    let (mut rows, mut questions, mut gaps) = (Vec::new(), Vec::new(), Vec::new());
    for (place, column) in table.columns().iter().enumerate().take(MOST_COLUMNS) {
        let role = match () {
            () if column.name == story.model.target => "target",
            () if used.iter().any(|(name, _)| *name == column.name) => "feature",
            () => "not used",
        };
        let figures = Figures::of(table, place);
        let values = match &column.kind {
            Kind::Number => format!(
                "mean {}, standard deviation {}, {} to {}",
                number(figures.mean),
                number(figures.deviation),
                number(figures.least),
                number(figures.most)
            ),
            Kind::Text { levels } => frequent(table, place, levels),
        };
        rows.push(vec![column.name.clone(), role.to_owned(), figures.missing.to_string(), values]);
        if role == "not used" {
            continue;
        }
        if figures.missing > 0 {
            gaps.push(format!("`{}` {}", column.name, figures.missing));
        }
        match &column.kind {
            Kind::Number if figures.least == figures.most => questions.push(format!("`{}` is constant.", column.name)),
            Kind::Text { levels } if levels.len() > MANY_LEVELS && role == "feature" => questions.push(format!(
                "`{}` has {} levels. Is it a name rather than a property?",
                column.name,
                levels.len()
            )),
            _ => {}
        }
    }
    let head = ["column", "role", "missing", "values"].map(str::to_owned).to_vec();
    let mut blocks = vec![Block::Paragraph(format!("{} rows, {} columns.", table.n_rows(), table.columns().len()))];
    if table.sparse_width() > 0 {
        blocks.push(Block::Paragraph(format!("Beside them {} sparse columns.", table.sparse_width())));
    }
    blocks.push(Block::Cells { head, rows, numbers: false });
    if table.columns().len() > MOST_COLUMNS {
        blocks.push(Block::Paragraph(format!("The first {MOST_COLUMNS} columns are shown.")));
    }
    if !gaps.is_empty() {
        questions.insert(0, format!("Cells are missing: {}. Why, and would they be missing in use?", gaps.join(", ")));
    }
    blocks.extend(questions.into_iter().map(Block::Paragraph));
    Section { title: "Data".to_owned(), blocks }
}

/// The most frequent levels of a text column with their counts.
fn frequent(table: &Table, column: usize, levels: &[String]) -> String {
    let mut counts = vec![0_usize; levels.len()];
    for chunk in table.chunks() {
        chunk.cells[column].for_each(|_, code| {
            if let Some(count) = (code >= 0.0).then(|| counts.get_mut(code as usize)).flatten() {
                *count += 1;
            }
        });
    }
    let mut order: Vec<usize> = (0..levels.len()).collect();
    order.sort_by_key(|k| (std::cmp::Reverse(counts[*k]), *k));
    let shown = order.iter().take(LEVELS).map(|k| format!("{} {}", levels[*k], counts[*k])).collect::<Vec<String>>();
    let more = if levels.len() > LEVELS { format!(" and {} more", levels.len() - LEVELS) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// What a column comes to.
struct Figures {
    missing: usize,
    mean: f64,
    deviation: f64,
    least: f64,
    most: f64,
}

impl Figures {
    fn of(table: &Table, column: usize) -> Figures {
        // By the update of Welford, which does not cancel.
        let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
        let (mut missing, mut least, mut most) = (0, f64::INFINITY, f64::NEG_INFINITY);
        for chunk in table.chunks() {
            chunk.cells[column].for_each(|_, value| match value.is_nan() {
                true => missing += 1,
                false => {
                    n += 1.0;
                    let away = value - mean;
                    mean += away / n;
                    squares += away * (value - mean);
                    (least, most) = (f64::min(least, value), f64::max(most, value));
                }
            });
        }
        Figures {
            missing,
            mean: if n > 0.0 { mean } else { f64::NAN },
            deviation: (squares / (n - 1.0)).sqrt(),
            least,
            most,
        }
    }
}

/// Weights, and their inference where it is valid.
pub fn coefficients(story: &Story<'_>) -> Result<Section> {
    let model = story.model;
    let mut blocks = Vec::new();
    match model.discriminant.as_linear() {
        Some(linear) => {
            let one = model.classes.len() == 2 && linear.n_scores() == 1;
            let largest = |j: usize| (0..linear.n_scores()).map(|k| linear.weights_of(k)[j].abs()).fold(0.0, f64::max);
            let mut order: Vec<usize> = (0..linear.n_cols()).filter(|j| largest(*j) != 0.0).collect();
            let nonzero = order.len();
            order.sort_by(|a, b| largest(*b).total_cmp(&largest(*a)).then(a.cmp(b)));
            order.truncate(MOST_WEIGHTS);
            let score = |k: usize| match (one, linear.n_scores() == model.classes.len()) {
                (true, _) => format!("towards {}", model.classes[1]),
                (false, true) => model.classes[k].clone(),
                (false, false) => format!("score {}", k + 1),
            };
            let (intercepts, scores) = (linear.intercept(), (0..linear.n_scores()).collect::<Vec<usize>>());
            let part = |some: &[usize]| {
                let line = |name: String, value: &dyn Fn(usize) -> f64| {
                    std::iter::once(name).chain(some.iter().map(|k| number(value(*k)))).collect::<Vec<String>>()
                };
                let mut rows = vec![line("(intercept)".to_owned(), &|k| intercepts[k])];
                rows.extend(order.iter().map(|j| line(model.recipe.feature(*j), &|k| linear.weights_of(k)[*j])));
                let head = std::iter::once("column".to_owned()).chain(some.iter().map(|k| score(*k))).collect();
                Block::Cells { head, rows, numbers: true }
            };
            blocks.push(Block::Paragraph(format!(
                "{nonzero} of {} columns have a weight: those that the model holds, in the units of the columns, the largest \
                 first{}. How many of their digits are the optimum's, inspect shows.",
                linear.n_cols(),
                if nonzero > MOST_WEIGHTS { format!(", {MOST_WEIGHTS} are shown") } else { String::new() }
            )));
            blocks.extend(scores.chunks(ACROSS).map(part));
        }
        None => blocks.push(Block::Paragraph(
            "The scores are not linear in the columns, so that there is no one weight of a column.".to_owned(),
        )),
    }
    let inferred = inference_of_model(model, InferOptions::new(model.target.clone()))
        .and_then(|options| infer_table(story.training.clone(), &options, story.watch));
    match inferred {
        Ok(found) => blocks.push(Block::Aligned(inference_text(&found, &voice::Command))),
        Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
        Err(error) => {
            let why = error.said(&voice::Command).what;
            blocks.push(Block::Paragraph(format!("No standard errors or tests: {why}.")));
        }
    }
    Ok(Section { title: "Coefficients".to_owned(), blocks })
}

/// Where all this came from, and how to make it again.
pub fn provenance(story: &Story<'_>) -> Section {
    let (of, [model, table, rows]) = (&story.model.provenance, &story.words);
    let fingerprint = format!("{:016x}", story.training.fingerprint());
    let mut facts = vec![
        ("linsep".to_owned(), format!("{} (report by {})", of.version, env!("CARGO_PKG_VERSION"))),
        ("seed".to_owned(), of.seed.to_string()),
        ("fingerprint of the table".to_owned(), fingerprint.clone()),
    ];
    facts.push((
        "the table of the fit".to_owned(),
        match of.fingerprint.is_empty() {
            true => "unknown: the model was fitted to arrays in memory".to_owned(),
            false if of.fingerprint == fingerprint => "this one, cell by cell".to_owned(),
            false => format!("NOT this one: its fingerprint is {}", of.fingerprint),
        },
    ));
    let commands = vec![
        format!("linsep inspect {model}"),
        format!("linsep verify {model} {table} --refit"),
        format!("linsep evaluate {model} {rows} --details"),
        format!("linsep predict {model} {rows} -o predictions.csv"),
    ];
    Section {
        title: "Provenance, and the commands that reproduce it".to_owned(),
        blocks: vec![Block::Facts(facts), Block::Commands(commands)],
    }
}

//! How good the model is, the rows that it is least sure of, and those that it gets most wrong.

use super::Story;
use super::about::number;
use super::page::{Block, Section};
use linsep::decide::Decision;
use linsep::design::PreparedDesign;
use linsep::report::{details_text, evaluation_text};
use linsep::table::{Class, Kind, Labels, Table};
use linsep::workflow::{FurtherQuestions, judge_table, predict_table};
use linsep::{Error, Result};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Rows in a list.
const LISTED: usize = 8;
/// Columns that explain a row.
const REASONS: usize = 3;

/// Rows with their true class and what the model makes of them.
pub struct JudgedRows {
    /// Rows of the table.
    pub rows: Vec<usize>,
    pub truth: Vec<Class>,
    pub predicted: Vec<Option<Class>>,
    /// The score of the true class less the largest other; of schemes that vote, `None`.
    margins: Option<Vec<f64>>,
    /// Probability of the true class, where there is one.
    sure: Option<Vec<f64>>,
}

impl JudgedRows {
    /// The rows of a table whose class the model knows.
    pub fn of(story: &Story<'_>) -> Result<JudgedRows> {
        let (model, table) = (story.model, story.judged);
        let found = predict_table(model, table, None, story.watch)?;
        let (codes, names) = Labels::from_column(table, table.column(&model.target)?);
        let of_model: Vec<Option<usize>> = names.iter().map(|n| model.classes.iter().position(|c| c == n)).collect();
        let classes = model.classes.len();
        let truth_of = |row: usize| codes[row].and_then(|class| of_model[class.index()]);
        let kept: Vec<(usize, usize)> =
            found.rows.iter().enumerate().filter_map(|(at, row)| Some((at, truth_of(*row)?))).collect();
        if kept.is_empty() {
            return Err(Error::data("no row has a label and all the cells the model needs"));
        }
        let scores = found.deciding.len() / found.rows.len();
        let margin = |&(at, truth): &(usize, usize)| {
            let own = &found.deciding[at * scores..(at + 1) * scores];
            match scores {
                1 if truth == 1 => own[0],
                1 => -own[0],
                _ => {
                    let other = own.iter().enumerate().filter(|(k, _)| *k != truth).map(|(_, s)| *s);
                    own[truth] - other.fold(f64::NEG_INFINITY, f64::max)
                }
            }
        };
        let plain = (scores == 1 && classes == 2) || (scores == classes && model.decision.scheme().is_none());
        let probabilities = model.has_probabilities().then(|| found.probabilities());
        Ok(JudgedRows {
            rows: kept.iter().map(|(at, _)| found.rows[*at]).collect(),
            truth: kept.iter().map(|(_, truth)| Class(*truth as u32)).collect(),
            predicted: kept.iter().map(|(at, _)| found.classes[*at]).collect(),
            margins: plain.then(|| kept.iter().map(margin).collect()),
            sure: probabilities.map(|p| kept.iter().map(|(at, truth)| p[at * classes + truth]).collect()),
        })
    }
}

/// The usual figures.
pub fn performance(story: &Story<'_>) -> Result<Section> {
    let asked = FurtherQuestions { details: true, ..FurtherQuestions::default() };
    let found = judge_table(story.model, story.judged, &asked, story.watch)?;
    let [model, _, rows] = &story.words;
    let mut blocks = vec![Block::Paragraph(
        match (story.apart, found.of_training) {
            (true, Some(true)) => "The test table is the table of the fit: every figure is too good.",
            (true, _) => "Of the test table. Intervals are at 95 %.",
            (false, _) => {
                "Of the rows that the model was fitted on: every figure is too good. Rows that were kept apart (--test), or \
                 folds (linsep fit --cv, linsep tune --nested), give fair ones."
            }
        }
        .to_owned(),
    )];
    if story.apart {
        blocks.push(Block::Paragraph(shared(story)));
    }
    blocks.push(Block::Aligned(evaluation_text(&found.judged)));
    blocks.extend(found.details.as_ref().map(|details| Block::Aligned(details_text(details))));
    if let Some(folds) = &story.model.cross_validation {
        blocks.push(Block::Paragraph(format!(
            "The model was cross-validated in {} folds when it was fitted.",
            folds.folds
        )));
    }
    blocks.push(Block::Commands(vec![format!("linsep evaluate {model} {rows} --details")]));
    Ok(Section { title: "How good it is".to_owned(), blocks })
}

/// How many test rows are also rows of the fit, by the cells of the columns that the model uses and the target.
fn shared(story: &Story<'_>) -> String {
    let mut names: Vec<String> = story.model.expected().into_iter().map(|(name, _)| name).collect();
    names.push(story.model.target.clone());
    names.sort();
    names.dedup();
    let Some(training) = fingerprints(story.training, &names) else {
        return "Whether test rows were also fitted on is not known: the tables have different columns.".to_owned();
    };
    let seen: BTreeSet<u64> = training.into_iter().collect();
    let Some(test) = fingerprints(story.judged, &names) else {
        return "Whether test rows were also fitted on is not known: the tables have different columns.".to_owned();
    };
    let (total, count) = (test.len(), test.iter().filter(|row| seen.contains(row)).count());
    match count {
        0 => format!("None of the {total} test rows is also a row of the fit."),
        n => format!(
            "{n} of the {total} test rows {} also in the table of the fit, with the same cells in every column that the model \
             uses: figures of such rows are too good.",
            if n == 1 { "is" } else { "are" }
        ),
    }
}

/// One number for the cells of each row in these columns; `None` where a column is missing.
fn fingerprints(table: &Table, names: &[String]) -> Option<Vec<u64>> {
    if table.sparse_width() > 0 {
        return None;
    }
    let columns = names.iter().map(|name| table.column(name).ok()).collect::<Option<Vec<usize>>>()?;
    let row = |row: usize| {
        let mut hasher = DefaultHasher::new();
        for column in &columns {
            match (&table.columns()[*column].kind, table.number(row, *column)) {
                (_, value) if value.is_nan() => u8::MAX.hash(&mut hasher),
                // Zero has two signs and is one number.
                (Kind::Number, value) => (value + 0.0).to_bits().hash(&mut hasher),
                (Kind::Text { .. }, _) => table.text(row, *column).hash(&mut hasher),
            }
        }
        hasher.finish()
    };
    Some((0..table.n_rows()).map(row).collect())
}

/// The rows nearest the boundary, and the mistakes that the model is surest of.
pub fn of_interest(story: &Story<'_>) -> Result<Option<Section>> {
    let judged = JudgedRows::of(story)?;
    let Some(margins) = &judged.margins else { return Ok(None) };
    let mut near: Vec<usize> = (0..margins.len()).collect();
    near.sort_by(|a, b| margins[*a].abs().total_cmp(&margins[*b].abs()).then(a.cmp(b)));
    near.truncate(LISTED);
    let mut wrong: Vec<usize> =
        (0..margins.len()).filter(|at| judged.predicted[*at].is_some_and(|class| class != judged.truth[*at])).collect();
    let mistakes = wrong.len();
    wrong.sort_by(|a, b| margins[*a].total_cmp(&margins[*b]).then(a.cmp(b)));
    wrong.truncate(LISTED);
    let mut blocks = vec![Block::Paragraph(near_text(story)), listed(story, &judged, margins, &near)?];
    match mistakes {
        0 => blocks.push(Block::Paragraph("No row is decided wrongly.".to_owned())),
        _ => {
            blocks.push(Block::Paragraph(format!(
                "The worst of {mistakes} mistakes. Is the label right, and what does the model not know of these rows?"
            )));
            blocks.push(listed(story, &judged, margins, &wrong)?);
        }
    }
    if story.model.discriminant.as_linear().is_some() {
        blocks.push(Block::Paragraph(
            "The reasons are the largest terms w·(x − centre) of the score of the decision less that of the true class, or of \
             the runner-up where the decision is right; the centre is that of the model file."
                .to_owned(),
        ));
    }
    Ok(Some(Section { title: "Rows to look at".to_owned(), blocks }))
}

/// What the first list is; where something else than the largest score decides, its boundary is elsewhere.
fn near_text(story: &Story<'_>) -> String {
    let by = "by the score of the true class less the largest other";
    match story.model.decision == Decision::default() {
        true => format!("Nearest the boundary, {by}: small changes of their cells change the decision."),
        false => {
            format!("Nearest to equal scores, {by}; the decision of this model is not that of the largest score alone.")
        }
    }
}

fn listed(story: &Story<'_>, judged: &JudgedRows, margins: &[f64], which: &[usize]) -> Result<Block> {
    let reasons = reasons(story, judged, which)?;
    let mut head: Vec<String> = ["row", "truth", "decision", "margin"].map(str::to_owned).into();
    head.extend(judged.sure.is_some().then(|| "p(truth)".to_owned()));
    head.extend(reasons.is_some().then(|| "reasons".to_owned()));
    let line = |(place, at): (usize, &usize)| {
        let name = |class: Class| story.model.classes[class.index()].clone();
        let mut row = vec![
            story.judged.place(judged.rows[*at]).to_string(),
            name(judged.truth[*at]),
            judged.predicted[*at].map_or("none".to_owned(), name),
            number(margins[*at]),
        ];
        row.extend(judged.sure.as_ref().map(|p| number(p[*at])));
        row.extend(reasons.as_ref().map(|r| r[place].clone()));
        row
    };
    Ok(Block::Cells { head, rows: which.iter().enumerate().map(line).collect(), numbers: false })
}

/// The largest terms of the scores of some rows; `None` of scores that are not linear.
fn reasons(story: &Story<'_>, judged: &JudgedRows, which: &[usize]) -> Result<Option<Vec<String>>> {
    let model = story.model;
    let Some(linear) = model.discriminant.as_linear() else { return Ok(None) };
    let mut wanted = vec![false; story.judged.n_rows()];
    which.iter().for_each(|at| wanted[judged.rows[*at]] = true);
    let prepared = model.recipe.apply(story.judged, &wanted)?;
    let PreparedDesign::Dense(matrix) = &prepared.design else { return Ok(None) };
    let (cols, classes) = (linear.n_cols(), model.classes.len());
    let weight = |class: usize, j: usize| match linear.n_scores() {
        // One score is that of the last class, less that of the first.
        1 => [0.0, linear.weights_of(0)[j]][class.min(1)],
        _ => linear.weights_of(class)[j],
    };
    if linear.n_scores() != 1 && linear.n_scores() != classes {
        return Ok(None);
    }
    let reason = |at: &usize| {
        let place = prepared.rows.iter().position(|row| *row == judged.rows[*at])?;
        let x = &matrix.values()[place * cols..(place + 1) * cols];
        let truth = judged.truth[*at].index();
        let decided = judged.predicted[*at]?.index();
        let score = |class: usize| -> f64 {
            let b = if linear.n_scores() == 1 { 0.0 } else { linear.intercept_at_centre()[class] };
            b + (0..cols).map(|j| weight(class, j) * (x[j] - linear.centre()[j])).sum::<f64>()
        };
        let runner_up = (0..classes).filter(|k| *k != decided).max_by(|a, b| score(*a).total_cmp(&score(*b)))?;
        let other = if decided == truth { runner_up } else { truth };
        let term = |j: usize| (weight(decided, j) - weight(other, j)) * (x[j] - linear.centre()[j]);
        let mut order: Vec<usize> = (0..cols).filter(|j| term(*j) != 0.0).collect();
        order.sort_by(|a, b| term(*b).abs().total_cmp(&term(*a).abs()).then(a.cmp(b)));
        let parts = order.iter().take(REASONS).map(|j| {
            let sign = if term(*j) > 0.0 { "+" } else { "−" };
            format!("{} {sign}{}", model.recipe.feature(*j), number(term(*j).abs()))
        });
        Some(parts.collect::<Vec<String>>().join(", "))
    };
    Ok(Some(which.iter().map(|at| reason(at).unwrap_or_default()).collect()))
}

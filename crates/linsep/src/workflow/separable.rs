//! Table to a verdict: can planes separate its classes?

use super::options::{FitOptions, recipe_options};
use super::rows::read_roles;
use super::source::Source;
use crate::design::Training;
use crate::design::{Design, RecipeOptions, gather};
use crate::error::{Place, Result};
use crate::model::{Method, Part, PenaltyChoice, RiskMinimizer};
use crate::options::options;
use crate::separate::{CommonPoint, SeparabilityOptions, SeparabilityVerdict, Verdict, separability};
use crate::table::{Class, Labels, Table};
use crate::watch::Watch;

/// Which classes are to be told from which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All from each other by one linear machine.
    Joint,
    /// Every two.
    Pairs,
    /// Each from all the others together.
    Rest,
    /// All three.
    All,
}

options! {
/// What to ask of a table.
#[derive(Debug, Clone)]
pub struct SeparableOptions {
    /// Name of the column of classes.
    pub target: String,
    /// The class to put last.
    pub positive: Option<String>,
    /// Name of a column of frequencies: rows of weight zero do not count.
    pub weights: Option<String>,
    /// Columns, missing values. Text columns are coded as for maximum likelihood, without their reference level.
    pub recipe: RecipeOptions,
    /// Which questions, with more than two classes; `None` chooses by their number.
    pub scope: Option<Scope>,
    /// Tolerances.
    pub options: SeparabilityOptions,
}
}

impl SeparableOptions {
    /// All other columns, the usual tolerances.
    pub fn new(target: impl Into<String>) -> SeparableOptions {
        SeparableOptions {
            target: target.into(),
            positive: None,
            weights: None,
            recipe: RecipeOptions::default(),
            scope: None,
            options: SeparabilityOptions::default(),
        }
    }
}

/// One question about the classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// All classes at once.
    Joint,
    /// Two classes; the second is the positive one.
    Pair(usize, usize),
    /// One class, the positive one, against all others.
    Rest(usize),
}

/// The answers.
#[derive(Debug, Clone, PartialEq)]
pub struct TableSeparability {
    /// The column of classes.
    pub target: String,
    /// Class names.
    pub classes: Vec<String>,
    /// Rows of each class that were used.
    pub counts: Vec<usize>,
    /// Names of the matrix columns.
    pub features: Vec<String>,
    /// Rows of the table.
    pub rows: usize,
    /// Rows used.
    pub used: usize,
    /// Each question with its answer; rows are those of the table, from 0.
    pub answers: Vec<(Question, SeparabilityVerdict)>,
    /// Where the rows of the witnesses stand, rows rising; of a long boundary only the first.
    pub places: Vec<(usize, Place)>,
    /// The tolerance of the boundary.
    pub tolerance: f64,
}

impl TableSeparability {
    /// The answer that came of a fit: about all classes, or the two sides of a part. Its rows are rows of the table already.
    pub(super) fn of(
        verdict: SeparabilityVerdict,
        (target, part): (&str, Option<Part>),
        source: &Source<'_>,
        used: usize,
    ) -> TableSeparability {
        let labels = &source.labels;
        let counts: Vec<usize> = labels.totals(None).iter().map(|c| *c as usize).collect();
        let (classes, counts) = match part {
            None => (labels.names().to_vec(), counts),
            Some(part) => {
                let own = counts[part.class.index()];
                let other = part.against.map_or(labels.len() - own, |c| counts[c.index()]);
                (part.sides(labels.names()).to_vec(), vec![other, own])
            }
        };
        let tolerance = verdict.tolerance;
        let answers = vec![(Question::Joint, verdict)];
        let places = placed(&answers, source);
        TableSeparability {
            target: target.to_owned(),
            classes,
            counts,
            features: source.recipe.features(),
            rows: source.counts.rows,
            used,
            answers,
            places,
            tolerance,
        }
    }

    /// Whether the answer is yes: the joint one where it was asked, else all of them.
    pub fn is_complete(&self) -> bool {
        let complete = |found: &SeparabilityVerdict| matches!(found.verdict, Verdict::Complete(_));
        match self.answers.iter().find(|(question, _)| *question == Question::Joint) {
            Some((_, found)) => complete(found),
            None => self.answers.iter().all(|(_, found)| complete(found)),
        }
    }

    /// The place of a witness row.
    pub fn place(&self, row: usize) -> Option<&Place> {
        self.places.binary_search_by_key(&row, |(row, _)| *row).ok().map(|at| &self.places[at].1)
    }
}

/// With more classes only the joint question is asked unless told otherwise: eight have 28 pairs. Chosen
/// (bench/constants.md).
const MANY_CLASSES: usize = 8;
/// Rows of a boundary that are named: what a reader looks at.
pub(crate) const SHOWN_BOUNDARY: usize = 10;

/// Answers for a table, which is used up on the way.
///
/// ```
/// use linsep::separate::Verdict;
/// use linsep::read::{ReadOptions, read_bytes};
/// use linsep::workflow::{SeparableOptions, separable_table};
/// let csv = b"x,y\n1,no\n2,no\n4,yes\n5,yes\n";
/// let table = read_bytes(csv, "small.csv", &ReadOptions::default())?;
/// let found = separable_table(table, &SeparableOptions::new("y"), &Default::default())?;
/// assert!(found.is_complete());
/// let Verdict::Complete(plane) = &found.answers[0].1.verdict else { panic!("3 is between them") };
/// assert!((plane.margin - 1.0).abs() < 1e-9);
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn separable_table(table: Table, options: &SeparableOptions, watch: &Watch) -> Result<TableSeparability> {
    let likelihood = Method::Risk(RiskMinimizer { penalty: PenaltyChoice::None, ..RiskMinimizer::default() });
    let mut as_fit = FitOptions::new(&options.target, likelihood);
    as_fit.positive = options.positive.clone();
    as_fit.weights = options.weights.clone();
    as_fit.recipe = options.recipe.clone();
    let roles = read_roles(&table, &as_fit)?;
    let source = Source::of_table(table, &roles, &recipe_options(&as_fit))?;
    separable(&source, options, watch)
}

pub(super) fn separable(source: &Source<'_>, options: &SeparableOptions, watch: &Watch) -> Result<TableSeparability> {
    let labels = &source.labels;
    let mut answers = Vec::new();
    for question in questions(options.scope, labels.n_classes()) {
        let found = answer(source.design(), labels, question, &options.options, watch);
        let mut found = found.map_err(|e| source.name(e))?;
        found.rename_rows(&source.rows);
        answers.push((question, found));
    }
    Ok(TableSeparability {
        places: placed(&answers, source),
        target: options.target.clone(),
        counts: labels.totals(None).iter().map(|c| *c as usize).collect(),
        classes: labels.names().to_vec(),
        features: source.recipe.features(),
        rows: source.counts.rows,
        used: source.rows.len(),
        answers,
        tolerance: options.options.tolerance,
    })
}

fn questions(scope: Option<Scope>, classes: usize) -> Vec<Question> {
    if classes == 2 {
        return vec![Question::Joint];
    }
    let scope = scope.unwrap_or(if classes > MANY_CLASSES { Scope::Joint } else { Scope::All });
    let mut all = Vec::new();
    if matches!(scope, Scope::Joint | Scope::All) {
        all.push(Question::Joint);
    }
    if matches!(scope, Scope::Pairs | Scope::All) {
        all.extend((0..classes).flat_map(|a| (a + 1..classes).map(move |b| Question::Pair(a, b))));
    }
    if matches!(scope, Scope::Rest | Scope::All) {
        all.extend((0..classes).map(Question::Rest));
    }
    all
}

fn answer(
    design: &dyn Design,
    labels: &Labels,
    question: Question,
    options: &SeparabilityOptions,
    watch: &Watch,
) -> Result<SeparabilityVerdict> {
    match question {
        Question::Joint => separability(&Training::new(design, labels), options, watch),
        Question::Rest(class) => {
            let is_class = |y: &Class| Class(u32::from(y.index() == class));
            let names = vec!["the rest".to_owned(), labels.names()[class].clone()];
            let labels = Labels::new(labels.codes().iter().map(is_class).collect(), names);
            separability(&Training::new(design, &labels), options, watch)
        }
        Question::Pair(a, b) => {
            let of_pair = |row: &usize| [a, b].contains(&labels.codes()[*row].index());
            let rows: Vec<usize> = (0..labels.len()).filter(of_pair).collect();
            let codes = rows.iter().map(|row| Class(u32::from(labels.codes()[*row].index() == b))).collect();
            let part = gather(design, &rows)?;
            let names = vec![labels.names()[a].clone(), labels.names()[b].clone()];
            let pair = Labels::new(codes, names);
            let mut found = separability(&Training::new(part.as_design(), &pair), options, watch)?;
            found.rename_rows(&rows);
            Ok(found)
        }
    }
}

/// The places of the rows that answers rest on.
fn placed(answers: &[(Question, SeparabilityVerdict)], source: &Source<'_>) -> Vec<(usize, Place)> {
    let mut witness: Vec<usize> = answers.iter().flat_map(|(_, found)| witness_rows(&found.verdict)).collect();
    witness.sort_unstable();
    witness.dedup();
    witness.into_iter().map(|row| (row, source.place(row))).collect()
}

/// The rows that a verdict rests on and that are few.
fn witness_rows(verdict: &Verdict) -> Vec<usize> {
    let of_point = |common: &CommonPoint| common.constraints.iter().map(|c| c.row).collect::<Vec<usize>>();
    match verdict {
        Verdict::Complete(v) => v.hull.iter().flat_map(|h| h.weights.iter().map(|(row, _)| *row)).collect(),
        Verdict::QuasiComplete(v) => {
            let mut rows = of_point(&v.common);
            rows.extend(v.boundary.iter().take(SHOWN_BOUNDARY));
            rows
        }
        Verdict::Overlap(v) => v.common.iter().flat_map(of_point).collect(),
        Verdict::Undecided(v) => v.common.iter().flat_map(of_point).collect(),
    }
}

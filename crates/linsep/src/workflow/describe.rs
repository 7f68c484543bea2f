//! What a table holds, and what would become of it, before anything is fitted.

use super::rows::looks_like_measurement;
use crate::design::RecipeOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::numeric::sum;
use crate::table::{Kind, Question, Table, questions};
use crate::watch::Watch;
use rayon::prelude::*;

/// Correlations of at least this size are reported. Chosen: beyond it the variance of a coefficient is fifty times that of
/// columns that are not correlated, 1/(1 − r²).
const NEAR_ONE: f64 = 0.99;
/// Products of two cells that a search for correlations may take: a second or two. Chosen; with more cells it looks at the
/// first rows only, and says so.
const MOST_PRODUCTS: usize = 2_000_000_000;
/// Fewest rows that a correlation says anything about. Chosen.
const FEWEST_ROWS: usize = 10;

/// What would become of a column in a fit with the usual settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Becomes {
    /// The column to predict.
    Target,
    /// One column of the matrix.
    Number,
    /// An indicator for each level; one fewer where nothing is penalised.
    Indicators(usize),
    /// It is refused as it is: more levels than are taken without being asked for.
    TooManyLevels,
    /// It has at most one value, so it tells nothing.
    Constant,
    /// It has no cell at all.
    Empty,
}

impl Becomes {
    /// A word for programs.
    pub fn name(self) -> &'static str {
        match self {
            Becomes::Target => "target",
            Becomes::Number => "number",
            Becomes::Indicators(_) => "indicators",
            Becomes::TooManyLevels => "refused",
            Becomes::Constant => "constant",
            Becomes::Empty => "empty",
        }
    }
}

/// A column of numbers, its missing cells left aside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NumberFigures {
    /// The smallest.
    pub min: f64,
    /// The middle one, or the mean of the two in the middle.
    pub median: f64,
    /// The largest.
    pub max: f64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, by n − 1; `None` of fewer than two.
    pub deviation: Option<f64>,
    /// `m₃/m₂^{3/2}`, zero for symmetric columns; `None` where they do not vary.
    pub skew: Option<f64>,
}

/// One column of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribedColumn {
    /// Its name.
    pub name: String,
    /// Whether it is text.
    pub is_text: bool,
    /// Cells that are missing.
    pub missing: usize,
    /// Different values or levels among the others.
    pub levels: usize,
    /// What would become of it.
    pub becomes: Becomes,
    /// Of numbers.
    pub figures: Option<NumberFigures>,
    /// Of text, and of the target: levels with their number of rows, the most frequent first.
    pub frequent: Vec<(String, usize)>,
    /// What may be wrong with it.
    pub questions: Vec<Question>,
}

/// Two columns of numbers that are nearly linear functions of each other.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrelatedColumns {
    /// The earlier column.
    pub first: String,
    /// The later one.
    pub second: String,
    /// Their correlation, in the rows that have both.
    pub correlation: f64,
}

/// Rows that occur more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepeatedRows {
    /// Rows that repeat an earlier one.
    pub rows: usize,
    /// The first pair, from 0.
    pub example: (usize, usize),
}

/// What a table holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Rows.
    pub rows: usize,
    /// Rows in which no cell is missing.
    pub complete: usize,
    /// Named columns in their order.
    pub columns: Vec<DescribedColumn>,
    /// Unnamed columns of a sparse file, and the entries stored for them.
    pub sparse: Option<(usize, usize)>,
    /// Rows that repeat another in every cell; not looked for in sparse files.
    pub repeated: Option<RepeatedRows>,
    /// With a target: rows that repeat another in every other cell and contradict its label.
    pub contradictory: Option<RepeatedRows>,
    /// Columns that are nearly linear functions of each other.
    pub correlated: Vec<CorrelatedColumns>,
    /// Rows that correlations were looked for in.
    pub correlated_rows: usize,
    /// The number of the target among the columns.
    pub target: Option<usize>,
    /// Whether the target has so many values that it looks like a measurement, not like classes.
    pub is_regression: bool,
}

/// Describes a table; `target` is the column to predict, where that is known.
///
/// # Errors
/// Where there is no such column, or the user interrupts.
pub fn describe_table(table: &Table, target: Option<&str>, watch: &Watch) -> Result<Description> {
    let label = target.map(|name| table.column(name)).transpose()?;
    let mut asked = questions(table, target);
    let columns = (0..table.columns().len()).into_par_iter().map(|c| column(table, c, label == Some(c)));
    let mut columns: Vec<DescribedColumn> = columns.collect();
    for column in &mut columns {
        let (own, rest) = asked.into_iter().partition(|q| q.column == column.name);
        (column.questions, asked) = (own, rest);
    }
    if watch.halted().is_some() {
        return Err(Error::new(ErrorKind::Interrupted, "stopped before the table was described"));
    }
    let rows = table.n_rows();
    let all: Vec<usize> = (0..columns.len()).collect();
    let others: Vec<usize> = all.iter().copied().filter(|c| Some(*c) != label).collect();
    let is_sparse = table.sparse_width() > 0;
    let repeated = if is_sparse || all.is_empty() { None } else { repeated(table, &all, None) };
    let contradictory = match label {
        Some(label) if !is_sparse && !others.is_empty() => self::repeated(table, &others, Some(label)),
        _ => None,
    };
    let (correlated, correlated_rows) = correlated(table, &columns, label, watch)?;
    let is_regression = label.is_some_and(|c| {
        let (classes, labelled) = (columns[c].levels, rows - columns[c].missing);
        !columns[c].is_text && looks_like_measurement(classes, labelled)
    });
    let stored = || table.chunks().iter().filter_map(|c| c.sparse.as_ref()).map(|s| s.indices.len()).sum();
    Ok(Description {
        rows,
        complete: (0..rows).filter(|r| !all.iter().any(|c| table.number(*r, *c).is_nan())).count(),
        sparse: is_sparse.then(|| (table.sparse_width(), stored())),
        columns,
        repeated,
        contradictory,
        correlated,
        correlated_rows,
        target: label,
        is_regression,
    })
}

/// The cells of a column as numbers, text as codes; NaN where missing.
fn cells(table: &Table, column: usize) -> Vec<f64> {
    let mut values = Vec::with_capacity(table.n_rows());
    table.chunks().iter().for_each(|chunk| chunk.cells[column].for_each(|_, value| values.push(value)));
    values
}

fn column(table: &Table, c: usize, is_target: bool) -> DescribedColumn {
    let column = &table.columns()[c];
    let mut values = cells(table, c);
    let all = values.len();
    values.retain(|v| !v.is_nan());
    let missing = all - values.len();
    values.sort_unstable_by(f64::total_cmp);
    let mut runs: Vec<(f64, usize)> = Vec::new();
    for value in &values {
        match runs.last_mut() {
            // −0 is 0.
            Some((last, n)) if last == value => *n += 1,
            _ => runs.push((*value, 1)),
        }
    }
    let is_text = matches!(column.kind, Kind::Text { .. });
    let name = |value: f64| match &column.kind {
        Kind::Text { levels } => levels.get(value as usize).cloned().unwrap_or_default(),
        _ => format!("{value}"),
    };
    let levels = runs.len();
    let mut frequent = Vec::new();
    if is_text || is_target {
        let mut named: Vec<(String, usize)> = runs.iter().map(|(v, n)| (name(*v), *n)).collect();
        if is_text {
            named.sort_by(|a, b| a.0.cmp(&b.0));
        }
        // Stable: levels of the same number of rows stay in their order.
        named.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        frequent = named;
    }
    let becomes = match levels {
        _ if is_target => Becomes::Target,
        0 => Becomes::Empty,
        1 => Becomes::Constant,
        _ if !is_text => Becomes::Number,
        n if n > RecipeOptions::default().max_levels => Becomes::TooManyLevels,
        n => Becomes::Indicators(n),
    };
    let figures = if is_text { None } else { figures(&values) };
    DescribedColumn {
        name: column.name.clone(),
        is_text,
        missing,
        levels,
        becomes,
        figures,
        frequent,
        questions: Vec::new(),
    }
}

/// Of numbers that rise. Sums are taken of the numbers over the largest, so that none overflows.
fn figures(values: &[f64]) -> Option<NumberFigures> {
    let (min, max) = (*values.first()?, *values.last()?);
    let n = values.len();
    let size = min.abs().max(max.abs());
    // A column of zeros has no size; a factor that is a power of two changes no digit.
    let unit = if size > 0.0 { size.log2().ceil().clamp(-1000.0, 1000.0).exp2() } else { 1.0 };
    let scaled = |v: f64| v / unit;
    let mean = sum(values.iter().map(|v| scaled(*v))) / n as f64;
    let moment = |power: i32| sum(values.iter().map(|v| (scaled(*v) - mean).powi(power))) / n as f64;
    let (second, third) = (moment(2), moment(3));
    let middle = |at: usize| scaled(values[at]);
    let median = if n % 2 == 1 { values[n / 2] } else { 0.5 * (middle(n / 2 - 1) + middle(n / 2)) * unit };
    let varies = min < max;
    Some(NumberFigures {
        min,
        median,
        max,
        mean: mean * unit,
        deviation: (n > 1).then(|| (second * n as f64 / (n - 1) as f64).sqrt() * unit),
        skew: (varies && second > 0.0).then(|| third / second.powf(1.5)).filter(|s| s.is_finite()),
    })
}

/// Rows that repeat an earlier one in these columns; with a label, only those whose own is another.
fn repeated(table: &Table, columns: &[usize], label: Option<usize>) -> Option<RepeatedRows> {
    let bits = |row: usize, c: usize| {
        let value = table.number(row, c);
        // One zero and one NaN.
        if value.is_nan() { u64::MAX } else { (value + 0.0).to_bits() }
    };
    // A multiplier of odd bits without structure, the golden ratio's; equal sums are compared cell by cell.
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let hash = |row: usize| {
        columns.iter().fold(0u64, |h, c| (h.rotate_left(5) ^ bits(row, *c)).wrapping_mul(MIX).rotate_left(29))
    };
    let mut order: Vec<(u64, usize)> = (0..table.n_rows()).into_par_iter().map(|row| (hash(row), row)).collect();
    order.par_sort_unstable();
    let same = |a: usize, b: usize| columns.iter().all(|c| bits(a, *c) == bits(b, *c));
    let mut found: Vec<(usize, usize)> = Vec::new();
    for equal in order.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
        // Rows of one hash are almost always the same row; the first of each kind stands for it.
        let mut kinds: Vec<usize> = Vec::new();
        for (_, row) in equal {
            match kinds.iter().find(|kind| same(**kind, *row)) {
                None => kinds.push(*row),
                Some(kind) => {
                    let is_other = |label: usize| {
                        let (a, b) = (table.number(*kind, label), table.number(*row, label));
                        !a.is_nan() && !b.is_nan() && a != b
                    };
                    if label.is_none_or(is_other) {
                        found.push((*kind, *row));
                    }
                }
            }
        }
    }
    let example = found.iter().copied().min_by_key(|(_, second)| *second)?;
    Some(RepeatedRows { rows: found.len(), example })
}

/// Pairs of columns of numbers with a correlation near one or minus one, and the rows that were looked at.
fn correlated(
    table: &Table,
    columns: &[DescribedColumn],
    label: Option<usize>,
    watch: &Watch,
) -> Result<(Vec<CorrelatedColumns>, usize)> {
    let numbers: Vec<usize> =
        (0..columns.len()).filter(|c| Some(*c) != label && columns[*c].becomes == Becomes::Number).collect();
    let pairs = numbers.len() * numbers.len().saturating_sub(1) / 2;
    let rows = table.n_rows().min(MOST_PRODUCTS.checked_div(pairs).unwrap_or(usize::MAX));
    if pairs == 0 || rows < FEWEST_ROWS {
        return Ok((Vec::new(), 0));
    }
    let values: Vec<Vec<f64>> = numbers
        .par_iter()
        .map(|c| {
            let mut own = cells(table, *c);
            own.truncate(rows);
            let size = columns[*c].figures.map_or(1.0, |f| f.min.abs().max(f.max.abs()));
            own.iter_mut().for_each(|v| *v /= size);
            own
        })
        .collect();
    let found: Vec<Result<Vec<CorrelatedColumns>>> = (0..numbers.len())
        .into_par_iter()
        .map(|a| {
            if watch.halted().is_some() {
                return Err(Error::new(ErrorKind::Interrupted, "stopped before the table was described"));
            }
            let near = |b: usize| {
                let correlation = correlation(&values[a], &values[b]).filter(|r| r.abs() >= NEAR_ONE)?;
                let (first, second) = (columns[numbers[a]].name.clone(), columns[numbers[b]].name.clone());
                Some(CorrelatedColumns { first, second, correlation })
            };
            Ok((a + 1..numbers.len()).filter_map(near).collect())
        })
        .collect();
    let mut all = Vec::new();
    for pairs in found {
        all.extend(pairs?);
    }
    Ok((all, rows))
}

/// The correlation of two columns in the rows that have both.
fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let both = || a.iter().zip(b).filter(|(a, b)| !a.is_nan() && !b.is_nan());
    let n = both().count();
    if n < FEWEST_ROWS {
        return None;
    }
    let (mean_a, mean_b) = (both().map(|p| p.0).sum::<f64>() / n as f64, both().map(|p| p.1).sum::<f64>() / n as f64);
    let (mut aa, mut bb, mut ab) = (0.0, 0.0, 0.0);
    for (a, b) in both() {
        let (u, v) = (a - mean_a, b - mean_b);
        (aa, bb, ab) = (aa + u * u, bb + v * v, ab + u * v);
    }
    let r = ab / (aa.sqrt() * bb.sqrt());
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

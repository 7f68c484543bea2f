//! The expected losses of a model where it is known what rows look like.

use super::judge::{FurtherQuestions, JudgedFurther, judge_table};
use crate::artifact::Model;
use crate::error::{Error, Place, Result};
use crate::sample::{Simulation, Truth, draw_rows, generator_of};
use crate::table::{Cells, Chunk, Column, Kind, Origin, RowPlaces, Table};
use crate::watch::Watch;
use serde_json::Value;

/// Rows drawn: the standard error of an error of one half is then 0.0016. Chosen.
const DRAWN: u64 = 100_000;
/// Fewer of wide tables: the numbers drawn are at most this many, 160 MB. Chosen.
const NUMBERS: u64 = 20_000_000;
/// The fewest rows, however wide. Chosen.
const FEWEST: u64 = 1000;
/// Not the seed of the rows that a model was fitted on, unless somebody wants it to be: the golden ratio's bits.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// The expected losses of a model under a truth, and the smallest possible ones.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownRisk {
    /// Rows that the losses are means over.
    pub rows: u64,
    /// Whether these are all rows that there are, so that the means are the expectations.
    pub exact: bool,
    /// The losses.
    pub judged: JudgedFurther,
    /// What no rule can do better than.
    pub truth: Truth,
}

/// The losses of a model expected on rows of a truth file: means over rows drawn from it, or over all rows where it lists them.
///
/// # Errors
/// A file that says nothing of rows with classes, and columns or classes that are not the model's.
pub fn risk_under_truth(model: &Model, bytes: &[u8], name: &str, watch: &Watch) -> Result<KnownRisk> {
    let population = without_counts(bytes);
    let mut again = generator_of(&population, name, false)?;
    let too_many = |n: u64| n.saturating_mul(again.generator.cols() as u64) > NUMBERS;
    if again.listed.is_some_and(too_many) {
        again = generator_of(&population, name, true)?;
    }
    let generator = again.generator;
    let (classes, features, cols) = (generator.classes(), generator.features(), generator.cols());
    let at = |e: Error| e.at(Place::file(name));
    if classes.len() < 2 {
        return Err(at(Error::usage("the truth is that of one population, and losses are about classes")));
    }
    if let Some(class) = classes.iter().find(|class| !model.classes.contains(class)) {
        return Err(at(Error::usage(format!("the truth has the class `{class}`, and the model does not"))));
    }
    let rows = again.listed.unwrap_or_else(|| DRAWN.min(NUMBERS / cols.max(1) as u64).max(FEWEST));
    let (values, drawn) = draw_rows(&*generator, rows, SEED);
    let mut levels = classes.clone();
    levels.sort_unstable();
    let code = |k: usize| levels.binary_search(&classes[k]).unwrap_or(0) as u32;
    let codes: Vec<u32> = (0..classes.len()).map(code).collect();
    let mut cells: Vec<Cells> =
        (0..cols).map(|j| Cells::F64(values.iter().skip(j).step_by(cols).copied().collect())).collect();
    cells.push(Cells::Text(drawn.iter().map(|class| codes[class.index()]).collect()));
    let number = |name: &String| Column { name: name.clone(), kind: Kind::Number };
    let mut columns: Vec<Column> = features.iter().map(number).collect();
    columns.push(Column { name: model.target.clone(), kind: Kind::Text { levels } });
    let origin = Origin { file: name.into(), rows: RowPlaces::Consecutive { first: 1 } };
    let table = Table::new(columns, vec![Chunk { n_rows: rows as usize, cells, sparse: None, origin }], 0);
    let asked = FurtherQuestions { details: true, ..FurtherQuestions::default() };
    let judged = judge_table(model, &table, &asked, watch).map_err(at)?;
    let truth = Simulation::new(generator, rows, SEED)?.truth()?;
    Ok(KnownRisk { rows, exact: again.listed.is_some(), judged, truth })
}

/// The population behind rows whose numbers per class were fixed.
fn without_counts(bytes: &[u8]) -> Vec<u8> {
    let Ok(Value::Object(mut truth)) = serde_json::from_slice::<Value>(bytes) else { return bytes.to_vec() };
    let fixed = ["counts", "sample_intercept"].map(|field| truth.remove(field).is_some());
    if fixed == [false, false] { bytes.to_vec() } else { Value::Object(truth).to_string().into_bytes() }
}

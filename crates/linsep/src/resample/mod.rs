//! Ways of holding rows back.

mod draws;
mod jackknife;
mod part;

pub use draws::{bootstrap_counts, permutation};
pub(crate) use jackknife::LeaveOut;
pub use part::{PartOf, random_part};

use crate::error::{Error, Result};
use crate::table::Class;
use crate::words::{Setting, words};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The fold of each row, or `None` where the row has no class: classes are shuffled by the seed and dealt out in turn,
/// so every fold has its share of each.
///
/// ```
/// use linsep::{resample::stratified_folds, table::Class};
/// let rows: Vec<_> = (0..10).map(|i| Some(Class(i % 2))).collect();
/// let folds = stratified_folds(&rows, &["a".into(), "b".into()], 5, 1)?;
/// assert_eq!(folds.iter().filter(|f| **f == Some(0)).count(), 2);
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn stratified_folds(
    classes: &[Option<Class>],
    names: &[String],
    folds: usize,
    seed: u64,
) -> Result<Vec<Option<usize>>> {
    let n = classes.iter().flatten().count();
    if folds < 2 || folds > n {
        let folds = if folds == 1 { "1 fold".to_owned() } else { format!("{folds} folds") };
        return Err(Error::usage(format!("{folds} cannot be made of {n} rows with a label")).help(if n > 2 {
            format!("choose from 2 to {n}")
        } else {
            "folds take two rows at least".to_owned()
        }));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut assigned = vec![None; classes.len()];
    let mut next = 0;
    let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); names.len()];
    for (row, class) in classes.iter().enumerate() {
        if let Some(class) = class {
            rows_of[class.index()].push(row);
        }
    }
    for (mut members, name) in rows_of.into_iter().zip(names) {
        if members.len() == 1 {
            return Err(Error::data(format!(
                "class `{name}` has one row: a fold cannot be held back and the class still be learned"
            ))
            .help(words!["leave out ", Setting::CrossValidation])
            .help("give the class more rows"));
        }
        members.shuffle(&mut rng);
        for row in members {
            assigned[row] = Some(next % folds);
            next += 1;
        }
    }
    Ok(assigned)
}
